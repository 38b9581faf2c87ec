//! anchorwatch: a declarative rule engine for memory conflicts in computation graphs.
//!
//! The rooms, from the ground up; a room imports only from those before it:
//! `graph` (persistent snapshots and their analyses), `format` (files in and out),
//! `lang` (the rule language), `db` (incremental queries), `engine` (passes and
//! verdicts), `audit` (what a rule set says, read by no graph), `report` (what a person reads), `workspace` (the settings
//! beside rule files), `lsp` (the language server), `cli`.

pub mod audit;
pub mod cli;
pub mod db;
pub mod engine;
pub mod format;
pub mod graph;
pub mod lang;
pub mod lsp;
pub mod report;
pub mod workspace;
