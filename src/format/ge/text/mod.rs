//! The `ge_proto` text dump (`graph_formats.md` 4): an own reader, for speed, line numbers and unknown fields, and
//! a printer in GE's own style, so that a change shows as a small diff.
//!
//! Promise: reading and printing an untouched dump of GE gives the same bytes.

mod memo;
mod print;
mod read;
mod scan;

pub use print::{float, print, quote};
pub use read::read;
pub use scan::Scan;
