//! Evaluation of typed bodies over the state of a graph.
//!
//! Promise: evaluation ends, never panics on any rule or graph, and gives the same values for the same rules,
//! graph, options and context. It knows no rule: what a pass, a resolution or a symbol table *means* is the
//! engine's, which a machine reaches through [`Host`].
//!
//! A [`Program`] is the linked closure of items. A [`Machine`] evaluates it over a private copy of a state, which
//! statements edit. None flows: asking something of none gives none, and nothing is a condition but true.

// A value is a key in indexes of lists. What can change inside of it are caches, and neither equality nor the hash
// looks at them.
#![allow(clippy::mutable_key_type)]

mod again;
mod alike;
mod arith;
mod attempt;
mod attrs;
mod beside;
mod cells;
mod chains;
mod changes;
mod code;
mod counts;
mod course;
mod edits;
mod exec;
mod expr;
mod fact;
mod foresee;
mod graft;
mod host;
mod in_order;
mod join;
mod known;
mod lasting;
mod locals;
mod machine;
mod memo;
mod names;
mod neighbours;
mod own;
mod program;
mod quiet;
mod ranks;
mod reach;
mod regroup;
mod render;
mod residual;
mod rounds;
mod sieve;
mod simplify;
mod stream;
mod stretch;
mod sweep;
mod tally;
mod touched;
mod trace;
mod value;
mod walk;
mod watch;

#[cfg(test)]
mod tests;

pub use again::{Again, Turn};
pub use chains::{ChainEnd, Kept};
pub use edits::{Beside, EditKind, EditRecord, Subject};
pub use exec::{Isolated, Report};
pub use host::{Cause, Failure, Host, HostMark, Marks, NoHost};
pub use machine::Machine;
pub use program::Program;
pub use reach::reaches;
pub use regroup::{Grouping, Regroup};
pub use rounds::Rounds;
pub use tally::{Outcomes, Reached, Tally, VERDICT, cell};
pub use trace::{Beyond, Event, EventKind, Reads, Seen};
pub use value::{GroupRef, Items, List, Value};
pub use watch::{Spot, Watch};

/// The number of an item in its [`Program`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EntryId(pub u32);

impl Default for EntryId {
    /// No item: the place of texts.
    fn default() -> Self {
        EntryId(u32::MAX)
    }
}
