//! The incremental query database: inputs, and the queries from rule text up to linked programs.
//!
//! Promise: every query is a pure function of its inputs; diagnostics are part of what a query returns. Spans
//! and reason texts are kept out of the values that evaluation depends on (`design.md` 6), so editing a comment
//! runs the parse of its file and no more.

mod answers;
mod rules;
mod runs;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

pub use answers::{PastAnswer, PastAnswers, Question};
pub use rules::{
    Complaint, EntryName, FileDiagnostic, Item, ItemId, Linked, Live, Roots, cell, complaints, diagnostics,
    entry, find, first_param, item, live, lowered, names, parsed, program, scope, scoped, settings, sights,
    sights_of, spans, stands_in, text_spans, texts,
};

pub use runs::{PastRun, PastRuns};

use crate::graph::Snapshot;
use crate::lang::eval::Tally;

/// One rule file. The path is for people and for the order of files; nothing is read from it.
#[salsa::input(debug)]
pub struct RuleFile {
    #[returns(ref)]
    pub path: String,
    #[returns(ref)]
    pub text: Arc<str>,
    #[returns(copy)]
    pub overlay: bool,
}

/// The rule set: its files in order, overlays last.
#[salsa::input(debug)]
pub struct RuleSet {
    #[returns(ref)]
    pub files: Vec<RuleFile>,
    /// Values given for options, as text, by option name.
    #[returns(ref)]
    pub given: BTreeMap<String, String>,
    /// The environment variables that an option may read.
    #[returns(ref)]
    pub environment: BTreeMap<String, String>,
}

/// The graph under test. Its snapshot is set, never the handle replaced (inputs are not freed).
#[salsa::input(debug)]
pub struct Model {
    #[returns(ref)]
    pub snapshot: Snapshot,
}

/// What every query runs on.
#[salsa::db]
pub trait Db: salsa::Database {
    /// Where to count what evaluation reaches; usually nowhere. Only counts depend on it, never a result.
    fn tally(&self) -> Option<Arc<Tally>>;

    /// What runs leave for runs after them; usually nothing. Only time depends on it, never a result.
    fn past_runs(&self) -> Option<Arc<PastRuns>>;

    /// Likewise what answers leave.
    fn past_answers(&self) -> Option<Arc<PastAnswers>>;
}

/// The database. `log` collects the names of executed queries while it is on, for tests of incrementality ([`Database::logging`]).
#[salsa::db]
#[derive(Clone, Default)]
pub struct Database {
    storage: salsa::Storage<Self>,
    log: Arc<Mutex<Option<Vec<String>>>>,
    tally: Option<Arc<Tally>>,
    past_runs: Option<Arc<PastRuns>>,
    past_answers: Option<Arc<PastAnswers>>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn tally(&self) -> Option<Arc<Tally>> {
        self.tally.clone()
    }

    fn past_runs(&self) -> Option<Arc<PastRuns>> {
        self.past_runs.clone()
    }

    fn past_answers(&self) -> Option<Arc<PastAnswers>> {
        self.past_answers.clone()
    }
}

impl Database {
    /// A database that can tell what is executed. Others are not asked to: an edit verifies thousands of queries, and each would
    /// be an event.
    pub fn logging() -> Self {
        let log: Arc<Mutex<Option<Vec<String>>>> = Arc::default();
        let sink = log.clone();
        let storage = salsa::Storage::new(Some(Box::new(move |event: salsa::Event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind
                && let Some(log) = &mut *sink.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
            {
                let key = format!("{database_key:?}");
                log.push(key.split('(').next().unwrap_or(&key).to_owned());
            }
        })));
        Database { storage, log, ..Database::default() }
    }

    /// Starts, or restarts, the log of executed queries.
    pub fn start_log(&self) {
        *self.log.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(Vec::new());
    }

    /// Starts to count what evaluation reaches, and from then on in clones made later. What is remembered is not
    /// evaluated, so not counted.
    pub fn start_tally(&mut self) {
        self.tally = Some(Arc::default());
    }

    /// Lets runs leave something for runs after them: rules are going to be edited. Holds for clones made later.
    pub fn expect_edits(&mut self) {
        self.past_runs.get_or_insert_default();
        self.past_answers.get_or_insert_default();
    }

    /// Names of the queries that ran since the log was started, in order.
    pub fn take_log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take().unwrap_or_default()
    }
}
