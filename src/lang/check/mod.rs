//! From syntax trees to typed bodies: which items hold, what each name means, whether the types fit.
//!
//! Promise: three pure functions and no state. [`scope`] sees all items but keeps only signatures, so that editing a body leaves
//! its value equal; [`lower`] sees one item and the scope; [`rules`] sees what only the whole rule set can tell. Each gives what
//! it could make and its complaints. Nothing here knows a rule: every name comes from the items or from [`super::facts`].

mod calls;
mod chains;
pub mod codes;
mod data;
mod exprs;
mod items;
mod literals;
mod lower;
mod members;
mod narrow;
mod operators;
mod rules;
mod scope;
mod sights;
mod statements;
mod types;
mod usage;

pub use lower::{lower, sights};
pub use rules::{RuleItem, rules};
pub use scope::{ItemKey, MarkSig, Scope, Scoped, scope, title};
pub use sights::{HERE, Here, Meaning, Sight, Sights, fact_signature, facts_of};
pub use types::show;
