//! Passes, pipelines and verdicts: what runs a rule set over a graph.
//!
//! Promise: values in, values out; nothing in here reads a file or prints.

pub mod explain;
pub mod outcome;
