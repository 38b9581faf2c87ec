//! Work behind the editor's back: lints, and what the rules do to the pinned graphs.
//!
//! Promise: nothing here makes an edit wait. The linter holds texts alone; the counter holds a hand on the database, and the next
//! edit ends its work by unwinding it. Of several jobs only the newest is done.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::SystemTime;

use rustc_hash::FxHashMap;

use super::wire::In;
use crate::engine::{Matched, Request, RuleSources, Session};
use crate::format::LoadContext;
use crate::graph::{GraphId, Snapshot, Sym};
use crate::lang::lint::{Finding, Memory, Settings, Source, lint_again};
use crate::lang::syntax::ast::Kind;

/// Threads get the stack that a main thread has.
const STACK: usize = 8 << 20;

/// What comes back.
#[derive(Debug)]
pub enum Work {
    /// Findings of the linter, with the files that they are about.
    Lints { files: Vec<(String, Arc<str>)>, found: Vec<Finding> },
    /// What the rules do to each pinned graph.
    Counts { edit: u64, graphs: Vec<GraphCounts> },
    /// A pinned graph that cannot be read.
    Unreadable(String),
}

/// What the rules do to a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphCounts {
    /// What a person calls it.
    pub name: String,
    /// Whether the rules could be run.
    pub ran: bool,
    pub matched: Vec<Matched>,
    /// Findings of each rule.
    pub fires: BTreeMap<(Kind, &'static str), usize>,
    /// Edits of each pass, chain or action.
    pub edits: BTreeMap<&'static str, usize>,
    /// Operator types with the number of their nodes.
    pub operators: BTreeMap<&'static str, usize>,
    pub attributes: Vec<String>,
}

/// Rule files to be linted: key, text, settings (none: only there for what it declares).
pub type LintJob = Vec<(String, Arc<str>, Option<Settings>)>;

/// Graphs to be counted on.
pub struct CountJob {
    pub edit: u64,
    pub session: Session,
    pub graphs: Vec<PathBuf>,
    pub passes: Vec<Sym>,
    /// To read graphs with, which must not make an edit wait.
    pub sources: RuleSources,
}

/// Where jobs go.
pub struct Workers {
    pub lint: Sender<LintJob>,
    pub count: Sender<CountJob>,
}

impl Workers {
    /// Starts the threads; they end when nobody can give them a job.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(to: &Sender<In>) -> std::io::Result<Workers> {
        let (lint, lints) = channel();
        let (count, counts) = channel();
        let (linter, counter) = (to.clone(), to.clone());
        let thread = || std::thread::Builder::new().stack_size(STACK);
        thread().spawn(move || run_linter(&lints, &linter))?;
        thread().spawn(move || Counter::default().run(&counts, &counter))?;
        Ok(Workers { lint, count })
    }
}

/// The newest of the jobs that wait.
fn newest<T>(jobs: &Receiver<T>) -> Option<T> {
    let first = jobs.recv().ok()?;
    Some(jobs.try_iter().last().unwrap_or(first))
}

fn run_linter(jobs: &Receiver<LintJob>, to: &Sender<In>) {
    let default = Settings::default();
    let mut memory = Memory::default();
    while let Some(job) = newest(jobs) {
        let sources: Vec<Source> = job
            .iter()
            .map(|(_, text, settings)| Source {
                text,
                settings: settings.as_ref().unwrap_or(&default),
                wanted: settings.is_some(),
            })
            .collect();
        let found = lint_again(&sources, &mut memory);
        let files = job.into_iter().map(|(key, text, _)| (key, text)).collect();
        if to.send(In::Worked(Work::Lints { files, found })).is_err() {
            return;
        }
    }
}

/// Pinned graphs that were read, with the time of their files.
#[derive(Default)]
struct Counter {
    graphs: FxHashMap<PathBuf, (Option<SystemTime>, Option<Pinned>)>,
}

#[derive(Clone)]
struct Pinned {
    snapshot: Snapshot,
    operators: BTreeMap<&'static str, usize>,
    attributes: Vec<String>,
}

impl Counter {
    fn run(mut self, jobs: &Receiver<CountJob>, to: &Sender<In>) {
        while let Some(CountJob { edit, session, graphs, passes, sources }) = newest(jobs) {
            let mut pinned = Vec::new();
            for path in &graphs {
                match self.pinned(path, &sources) {
                    Ok(found) => pinned.extend(found.map(|graph| (path, graph))),
                    Err(why) => {
                        let told = In::Worked(Work::Unreadable(format!("{}: {why}", path.display())));
                        if to.send(told).is_err() {
                            return;
                        }
                    }
                }
            }
            let counts = salsa::Cancelled::catch(std::panic::AssertUnwindSafe(|| {
                pinned.iter().map(|(path, graph)| counts(&session, path, graph, &passes)).collect()
            }));
            // Before anybody is told: what is told may bring the next edit.
            drop(session);
            if let Ok(graphs) = counts
                && to.send(In::Worked(Work::Counts { edit, graphs })).is_err()
            {
                return;
            }
        }
    }

    /// The graph of a file, read again if the file has changed. A mistake is told once.
    fn pinned(&mut self, path: &PathBuf, sources: &RuleSources) -> Result<Option<Pinned>, String> {
        let changed = std::fs::metadata(path).and_then(|file| file.modified()).ok();
        if let Some((known, graph)) = self.graphs.get(path)
            && *known == changed
        {
            return Ok(graph.clone());
        }
        self.graphs.insert(path.clone(), (changed, None));
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        let mapping = Session::new(sources.clone());
        let name = path.to_string_lossy();
        let context = LoadContext { onnx: Some(&mapping), ..LoadContext::default() };
        let loaded = crate::format::load(&bytes, &name, &context).map_err(|error| error.to_string())?;
        let snapshot = loaded.snapshot;
        let dense = snapshot.dense();
        let mut operators = BTreeMap::new();
        let mut attributes = std::collections::BTreeSet::new();
        for node in dense.order().iter().filter_map(|node| dense.node(*node)) {
            *operators.entry(node.ty.as_str()).or_insert(0) += 1;
            attributes.extend(node.attrs.entries().iter().map(|(name, _)| name.as_str()));
        }
        let attributes = attributes.into_iter().map(str::to_owned).collect();
        let graph = Pinned { snapshot: snapshot.clone(), operators, attributes };
        self.graphs.insert(path.clone(), (changed, Some(graph.clone())));
        Ok(Some(graph))
    }
}

fn counts(session: &Session, path: &Path, graph: &Pinned, passes: &[Sym]) -> GraphCounts {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut counts = GraphCounts {
        name,
        operators: graph.operators.clone(),
        attributes: graph.attributes.clone(),
        ..GraphCounts::default()
    };
    let request = Request { graph: GraphId::ROOT, node: None, steps: passes.to_vec(), sort: false };
    if session.has_errors() {
        return counts;
    }
    // Conditions are asked of the graph as it was read, so they need not wait for the run.
    let hand = session.handle();
    let (run, matched) =
        beside(|| session.count(&graph.snapshot, &request), move || hand.matches(&graph.snapshot));
    if let Ok(run) = run {
        (counts.fires, counts.edits) = (run.fires, run.edits);
        counts.ran = true;
        counts.matched = matched.unwrap_or_else(|_| session.matches(&graph.snapshot));
    }
    counts
}

/// Does two things at once; an error if there is no thread for the other. If one ends by unwinding, so does the whole.
fn beside<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, std::io::Result<B>) {
    std::thread::scope(|scope| {
        let other = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, other);
        let one = one();
        let unwind = |why| std::panic::resume_unwind(why);
        (one, other.map(|other| other.join().unwrap_or_else(unwind)))
    })
}
