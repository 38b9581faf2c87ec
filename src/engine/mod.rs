//! Passes and verdicts: what the rules say of a graph.
//!
//! Promise: the engine knows marks, pairs, groups, passes and pipelines; which ones there are, and what they do, is
//! read from the rule set. It prints nothing. The way through: `queries` (symbols, marks, verdicts, remembered per
//! snapshot and entry), `run` (one pass), `session` (a pipeline, tests; the door for front ends), `counts` (how much a condition matches), `explain` (why).

pub mod explain;
pub mod outcome;

mod again;
mod asked;
mod cells;
mod conflicts;
mod counts;
mod dirty;
mod layers;
#[cfg(test)]
mod layers_tests;
mod marks;
mod measure;
mod order;
mod pairs;
mod queries;
mod reach;
mod remarks;
mod render;
mod run;
mod search;
#[cfg(test)]
mod search_tests;
mod session;
mod sides;
mod testing;
mod trial;

pub use counts::{Matched, RunCounts};
pub use measure::{Amount, Measured};
pub use pairs::{Class, PairTable, RulePairs};
pub use queries::pair_table;
pub use session::{EntryInfo, Request, RuleDiagnostic, RuleSources, RunError, Session};
pub use sides::children;
pub use testing::{Case, CaseEnd, CoverageRow, ReadyTest, TestGraph, TestOutcome};
