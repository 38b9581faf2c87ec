//! What the commands ask of the engine.
//!
//! Promise: this is the one file of `cli` that knows how rules are run; every command goes through [`Engine`].

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::audit::diff::Difference;
use crate::audit::mutate::Bench;
pub use crate::audit::mutate::{Tests, Tried};
use crate::audit::witness::{Found, GraphChange, Trial};
use crate::audit::{self, Audit, Coverage, Ref};
pub use crate::engine::EntryInfo;
pub use crate::engine::explain::ExplainTarget;
use crate::engine::explain::{Explanation, Table};
use crate::engine::outcome::{Outcome, PassFailure};
use crate::engine::{self, Case, CoverageRow, Measured};
pub use crate::format::save_with_warnings as save;
use crate::format::{FormatError, Loaded};
use crate::graph::{GraphId, NodeId, Snapshot, Sym, Symbols};
use crate::lang::diagnostic::did_you_mean;

/// Rule files in order: path for people, text, and whether it is an overlay.
#[derive(Clone, Debug, Default)]
pub struct RuleSources {
    pub files: Vec<(String, String, bool)>,
}

impl RuleSources {
    /// The rules inside the program.
    pub fn shipped() -> RuleSources {
        RuleSources { files: engine::RuleSources::shipped().files }
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
    /// Empty: it passed.
    pub failures: Vec<RuleDiagnostic>,
}

/// A rule set, ready to run.
pub trait Engine {
    /// Values for options by name; complaints about those that cannot be.
    fn set_options(
        &mut self,
        given: BTreeMap<String, String>,
        environment: BTreeMap<String, String>,
    ) -> Vec<RuleDiagnostic>;
    /// Another text for a rule file; an equal one changes nothing.
    fn set_text(&mut self, path: &str, text: &str);
    /// Lets runs leave something for runs after edits of the rules.
    fn expect_edits(&mut self);
    fn diagnostics(&self) -> Vec<RuleDiagnostic>;
    /// In the order of files and lines.
    fn entries(&self) -> Vec<EntryInfo>;
    fn load(&self, bytes: &[u8], name: &str) -> Result<Loaded, FormatError>;
    fn run(&self, snapshot: &Snapshot, request: &Request) -> Result<Outcome, RunError>;
    /// What the rules measure, before a run and after it.
    fn measures(&self, outcome: &Outcome) -> Vec<Measured>;
    fn symbols(&self, snapshot: &Snapshot, graph: GraphId) -> Result<Arc<Symbols>, PassFailure>;
    fn explain(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        target: ExplainTarget,
    ) -> Result<Explanation, RunError>;
    /// What became of all nodes of an operator type.
    fn table(&self, snapshot: &Snapshot, request: &Request, op: Sym) -> Result<Table, RunError>;
    /// Runs the tests of the files that `wanted` accepts, in their order.
    fn tests(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<TestResult>;
    /// Runs a case; what differs, a sentence each.
    fn case(&self, case: &Case) -> Result<(), Vec<String>>;
    /// Counts from now on what runs reach.
    fn start_coverage(&mut self);
    /// What runs have reached since [`Engine::start_coverage`].
    fn coverage(&self) -> Vec<CoverageRow>;
    /// What the rules say, with what was reached if that was counted.
    fn audit(&self, coverage: Option<Coverage>) -> Audit;
}

/// Makes an engine from rules. Each thread makes its own.
pub type Connect = dyn Fn(RuleSources) -> Box<dyn Engine> + Sync;

/// Option by which rules learn of `--kernel-lib`: names, separated by commas.
pub const KERNEL_LIBS: &str = "kernel_libs";
/// Option by which rules learn of `--op-info`: `TYPE=LIBRARY:0` or `:1`, separated by commas.
pub const OP_INFO: &str = "op_info";
/// Option by which rules learn of `--no-prepare`.
pub const PREPARE: &str = "prepare";

/// The engine of the program.
pub fn connect(sources: RuleSources) -> Box<dyn Engine> {
    let sources = engine::RuleSources { files: sources.files };
    Box::new(Connected(engine::Session::new(sources)))
}

/// Compares two rule sets without errors.
pub fn compare(old: &RuleSources, new: &RuleSources) -> Difference {
    audit::diff::compare(&session(old), &session(new))
}

fn session(sources: &RuleSources) -> engine::Session {
    engine::Session::new(engine::RuleSources { files: sources.files.clone() })
}

/// The graphs of all tests of a rule set, each with the test's title.
pub fn test_graphs(sources: &RuleSources) -> Vec<(String, Trial)> {
    let graphs = session(sources).test_graphs().into_iter();
    let trial = |graph: engine::TestGraph| {
        let engine::TestGraph { name, before, root, steps, options } = graph;
        (name.as_str().to_owned(), Trial { snapshot: before, root, steps, options })
    };
    graphs.map(trial).collect()
}

/// Runs both rule sets on graphs and tells of those that come out otherwise.
pub fn on_graphs(old: &RuleSources, new: &RuleSources, trials: &[(String, Trial)]) -> Vec<GraphChange> {
    let of = |sources: &RuleSources| engine::RuleSources { files: sources.files.clone() };
    audit::witness::on_graphs(&of(old), &of(new), trials)
}

/// Searches for a graph on which two rule sets disagree.
pub fn witness(
    old: &RuleSources,
    new: &RuleSources,
    difference: &Difference,
    (seeds, seed): (Vec<Trial>, u64),
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Found {
    let of = |sources: &RuleSources| engine::RuleSources { files: sources.files.clone() };
    let (old, new) = (&of(old), &of(new));
    audit::witness::search(&audit::witness::Search { old, new, difference, seeds, seed }, go_on)
}

/// Which mutants are measured, and how.
pub struct MutantChoice<'a> {
    /// Rule files that may be changed.
    pub files: &'a [String],
    /// Patterns of which the entry's name, its kind and name, or the path match one; none: all.
    pub only: &'a [String],
    pub sample: Option<usize>,
    pub seed: u64,
    pub jobs: usize,
}

/// What becomes of mutants. `start` gets their number, `told` is called for each.
///
/// # Errors
/// The tests that fail without any mutant.
pub fn mutate(
    tests: &Tests,
    choice: &MutantChoice<'_>,
    start: &dyn Fn(usize),
    told: &(dyn Fn() + Sync),
) -> Result<Vec<Tried>, Vec<String>> {
    let bench = Bench::new(tests);
    let named = |text: &str| choice.only.iter().any(|pattern| matches(pattern, text));
    let wanted = |path: &str, entry: Ref| {
        choice.files.iter().any(|file| file == path)
            && (choice.only.is_empty() || named(path) || named(entry.name) || named(&entry.to_string()))
    };
    let mut mutants = audit::mutate::mutants(bench.session(), &wanted);
    if let Some(count) = choice.sample {
        mutants = audit::mutate::sample(mutants, count, choice.seed);
    }
    start(mutants.len());
    let reach = bench.reach();
    if !reach.failing.is_empty() {
        return Err(reach.failing.iter().map(|name| name.to_string()).collect());
    }
    Ok(audit::mutate::measure(tests, &reach, mutants, choice.jobs, told))
}

/// Whether a text is what a pattern says; `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').map_or(("", rest), |(middle, last)| (middle, last));
    for piece in middle.split('*') {
        let Some(at) = left.find(piece) else { return false };
        left = &left[at + piece.len()..];
    }
    left.ends_with(last)
}

/// The tests of these files, or of all, and these cases.
pub fn tests(rules: &RuleSources, files: Option<Vec<String>>, cases: Vec<(String, Case)>) -> Tests {
    Tests { rules: engine::RuleSources { files: rules.files.clone() }, files, cases }
}

/// The engine behind the seam.
struct Connected(engine::Session);

fn complaint(diagnostic: engine::RuleDiagnostic) -> RuleDiagnostic {
    RuleDiagnostic {
        path: diagnostic.places.first().map_or_else(String::new, |(path, _)| path.clone()),
        diagnostic: diagnostic.diagnostic,
        spans: diagnostic.places,
    }
}

impl Engine for Connected {
    fn set_options(
        &mut self,
        given: BTreeMap<String, String>,
        environment: BTreeMap<String, String>,
    ) -> Vec<RuleDiagnostic> {
        self.0.set_options(given, environment).into_iter().map(complaint).collect()
    }

    fn set_text(&mut self, path: &str, text: &str) {
        self.0.set_text(path, text);
    }

    fn expect_edits(&mut self) {
        self.0.expect_edits();
    }

    fn diagnostics(&self) -> Vec<RuleDiagnostic> {
        self.0.diagnostics().into_iter().map(complaint).collect()
    }

    fn entries(&self) -> Vec<EntryInfo> {
        self.0.entries()
    }

    fn load(&self, bytes: &[u8], name: &str) -> Result<Loaded, FormatError> {
        self.0.load(bytes, name)
    }

    fn run(&self, snapshot: &Snapshot, request: &Request) -> Result<Outcome, RunError> {
        self.0.run(snapshot, &plain(request)).map_err(refusal)
    }

    fn measures(&self, outcome: &Outcome) -> Vec<Measured> {
        self.0.measures(&outcome.before, &outcome.after)
    }

    fn symbols(&self, snapshot: &Snapshot, graph: GraphId) -> Result<Arc<Symbols>, PassFailure> {
        self.0.symbols(snapshot, graph)
    }

    fn explain(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        target: ExplainTarget,
    ) -> Result<Explanation, RunError> {
        self.0.explain(snapshot, &plain(request), target).map_err(refusal)
    }

    fn table(&self, snapshot: &Snapshot, request: &Request, op: Sym) -> Result<Table, RunError> {
        self.0.table(snapshot, &plain(request), op).map_err(refusal)
    }

    fn tests(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<TestResult> {
        let outcomes = self.0.run_tests(wanted).into_iter().map(|outcome| TestResult {
            name: outcome.name.as_str().to_owned(),
            path: outcome.path,
            line: outcome.line,
            failures: outcome.failures.into_iter().map(complaint).collect(),
        });
        outcomes.collect()
    }

    fn case(&self, case: &Case) -> Result<(), Vec<String>> {
        self.0.run_case(case)
    }

    fn start_coverage(&mut self) {
        self.0.start_coverage();
    }

    fn coverage(&self) -> Vec<CoverageRow> {
        self.0.coverage()
    }

    fn audit(&self, coverage: Option<Coverage>) -> Audit {
        Audit::of(&self.0, coverage)
    }
}

/// Why nothing ran, for a person.
fn refusal(error: engine::RunError) -> RunError {
    match error {
        engine::RunError::Rules => RunError { message: "the rules have errors".to_owned(), help: None },
        engine::RunError::UnknownPass { name, known } => {
            let near = did_you_mean(name.as_str(), known.iter().map(|name| name.as_str()));
            let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            RunError { message: format!("there is no pass `{name}`"), help: Some(help) }
        }
        engine::RunError::Recursive(name) => {
            RunError { message: format!("pipelines are nested too deep around `{name}`"), help: None }
        }
    }
}

fn plain(request: &Request) -> engine::Request {
    engine::Request {
        graph: request.graph,
        node: request.node,
        steps: request.steps.clone(),
        sort: request.sort_first,
    }
}
