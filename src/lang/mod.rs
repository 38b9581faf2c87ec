//! The rule language: text to syntax trees, to typed bodies, to values.
//!
//! Promise: this room reads no file, prints nothing and knows no rule. Each stage returns what it could make
//! *and* its complaints ([`Diagnostic`]s); one bad item costs one item.

pub mod check;
pub mod diagnostic;
pub mod eval;
pub mod facts;
pub mod fmt;
pub mod hir;
pub mod lint;
pub mod syntax;

pub use diagnostic::{Diagnostic, Label, Level, Place};
