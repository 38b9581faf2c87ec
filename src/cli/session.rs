//! What the commands ask of the engine.
//!
//! Promise: this is the one file of `cli` that knows how rules are run; every command goes through [`Engine`].

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::engine::explain::Explanation;
use crate::engine::outcome::{Outcome, PassFailure};
use crate::format::{Format, FormatError, LoadContext, Loaded, notation};
use crate::graph::{Anchor, GraphId, NodeId, Snapshot, Sym, Symbols};
use crate::lang::syntax::ast::Kind;

/// Rule files in order: path for people, text, and whether it is an overlay.
#[derive(Clone, Debug, Default)]
pub struct RuleSources {
    pub files: Vec<(String, String, bool)>,
}

impl RuleSources {
    /// The rules inside the program.
    pub fn shipped() -> RuleSources {
        RuleSources::default()
    }
}

/// A complaint about rules, and where its labels are.
#[derive(Clone, Debug)]
pub struct RuleDiagnostic {
    pub path: String,
    pub diagnostic: crate::lang::Diagnostic,
    /// File and bytes of each label.
    pub spans: Vec<(String, Range<usize>)>,
}

/// One entry of the rules.
#[derive(Clone, Debug)]
pub struct EntryInfo {
    pub kind: Kind,
    pub name: Sym,
    pub path: String,
    pub line: u32,
    pub doc: Option<String>,
    pub overlay: bool,
    pub source: String,
}

/// What `explain` is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainTarget {
    pub node: NodeId,
    pub anchor: Option<Anchor>,
}

/// Why a run could not start or go on.
#[derive(Clone, Debug)]
pub struct RunError {
    pub message: String,
    pub help: Option<String>,
}

/// What is to run, and on what.
#[derive(Clone, Debug)]
pub struct Request {
    pub graph: GraphId,
    /// Node passes run on this node alone.
    pub node: Option<NodeId>,
    /// Empty: the whole pipeline.
    pub steps: Vec<Sym>,
    pub sort_first: bool,
}

/// One `test` that ran.
#[derive(Clone, Debug)]
pub struct TestResult {
    pub name: String,
    pub path: String,
    pub line: u32,
    /// `None`: it passed.
    pub failure: Option<RuleDiagnostic>,
}

/// An entry, or a branch of one, and how often tests reached it.
#[derive(Clone, Debug)]
pub struct CoverageRow {
    pub kind: Kind,
    pub name: Sym,
    pub path: String,
    pub line: u32,
    /// The branch's words in the rule; `None` for the entry itself.
    pub branch: Option<String>,
    pub reached: usize,
}

/// A rule set, ready to run.
pub trait Engine {
    /// Values for options by name; complaints about those that cannot be.
    fn set_options(
        &mut self,
        given: BTreeMap<String, String>,
        environment: BTreeMap<String, String>,
    ) -> Vec<RuleDiagnostic>;
    fn diagnostics(&self) -> Vec<RuleDiagnostic>;
    /// In the order of files and lines.
    fn entries(&self) -> Vec<EntryInfo>;
    fn load(&self, bytes: &[u8], name: &str) -> Result<Loaded, FormatError>;
    fn run(&self, snapshot: &Snapshot, request: &Request) -> Result<Outcome, RunError>;
    fn symbols(&self, snapshot: &Snapshot, graph: GraphId) -> Result<Arc<Symbols>, PassFailure>;
    fn explain(&self, snapshot: &Snapshot, request: &Request, target: ExplainTarget) -> Explanation;
    /// Runs the tests of the files that `wanted` accepts, in their order.
    fn tests(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<TestResult>;
    /// What the tests of [`Engine::tests`] reach.
    fn coverage(&self) -> Vec<CoverageRow>;
}

/// Makes an engine from rules. Each thread makes its own.
pub type Connect = dyn Fn(RuleSources) -> Box<dyn Engine> + Sync;

/// Option by which rules learn of `--kernel-lib`: names, separated by commas.
pub const KERNEL_LIBS: &str = "kernel_libs";
/// Option by which rules learn of `--op-info`: `TYPE=LIBRARY:0` or `:1`, separated by commas.
pub const OP_INFO: &str = "op_info";
/// Option by which rules learn of `--no-prepare`.
pub const PREPARE: &str = "prepare";

/// A rule set without entries: it finds nothing and changes nothing.
struct Session;

impl Engine for Session {
    fn set_options(
        &mut self,
        _: BTreeMap<String, String>,
        _: BTreeMap<String, String>,
    ) -> Vec<RuleDiagnostic> {
        Vec::new()
    }

    fn diagnostics(&self) -> Vec<RuleDiagnostic> {
        Vec::new()
    }

    fn entries(&self) -> Vec<EntryInfo> {
        Vec::new()
    }

    fn load(&self, bytes: &[u8], name: &str) -> Result<Loaded, FormatError> {
        load(bytes, name, &LoadContext::default())
    }

    fn run(&self, snapshot: &Snapshot, _: &Request) -> Result<Outcome, RunError> {
        Ok(Outcome { before: snapshot.clone(), after: snapshot.clone(), steps: Vec::new() })
    }

    fn symbols(&self, _: &Snapshot, _: GraphId) -> Result<Arc<Symbols>, PassFailure> {
        Ok(Arc::new(Symbols::default()))
    }

    fn explain(&self, _: &Snapshot, _: &Request, _: ExplainTarget) -> Explanation {
        Explanation::default()
    }

    fn tests(&self, _: &dyn Fn(&str) -> bool) -> Vec<TestResult> {
        Vec::new()
    }

    fn coverage(&self) -> Vec<CoverageRow> {
        Vec::new()
    }
}

/// The engine of the program.
pub fn connect(_: RuleSources) -> Box<dyn Engine> {
    Box::new(Session)
}

fn load(bytes: &[u8], _: &str, _: &LoadContext<'_>) -> Result<Loaded, FormatError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| FormatError::at_byte("format::utf8", "the file is not UTF-8 text", e.valid_up_to()))?;
    let (snapshot, errors) = notation::parse(text);
    match (errors.into_iter().next(), snapshot) {
        (None, Some(snapshot)) => {
            Ok(Loaded { snapshot, format: Format::Notation, warnings: Vec::new(), origin: None })
        }
        (Some(error), _) => Err(error),
        (None, None) => Err(FormatError::new("format::empty", "the file holds no graph")),
    }
}

/// Writes `now`, a descendant of what `origin` holds.
///
/// # Errors
/// The format cannot be written, or cannot hold the graph.
pub fn save(_origin: &Loaded, now: &Snapshot, format: Format) -> Result<Vec<u8>, FormatError> {
    match format {
        Format::Notation => Ok(notation::print(now).into_bytes()),
        other => Err(FormatError::new("format::unsupported", format!("{other:?} cannot be written"))),
    }
}
