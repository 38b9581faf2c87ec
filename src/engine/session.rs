//! A rule set with its database: the door for front ends.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::Cells;
use super::measure::{Amount, Measured, amount};
use super::outcome::{Outcome, PassFailure, RuleRef, StepOutcome};
use super::queries::{At, Layer, mark_table, symbols};
use super::render::{Renderer, tell};
use super::run::{PassResult, PassRun, run_pass};
use crate::db::{self, Database, Db, EntryName, Roots, RuleFile, RuleSet};
use crate::format::onnx::TYPE_FUNCTION;
use crate::format::{FormatError, LoadContext, Loaded, OnnxMapping, load};
use crate::graph::{GraphId, NodeId, Snapshot, Sym, Symbols};
use crate::lang::check::ItemKey;
use crate::lang::eval::{Machine, Value};
use crate::lang::hir::Entry;
use crate::lang::syntax::SourceItem;
use crate::lang::syntax::ast::{ItemData, Kind, PipelineRole};
use crate::lang::{Diagnostic, Level};

/// The shipped rule set, so that the program works with no files beside it.
static SHIPPED: include_dir::Dir<'_> = include_dir::include_dir!("$CARGO_MANIFEST_DIR/rules");

/// Rule files as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleSources {
    /// Path, text, whether it is an overlay.
    pub files: Vec<(String, String, bool)>,
}

impl RuleSources {
    /// The rule set that is part of the program.
    pub fn shipped() -> RuleSources {
        let mut files: Vec<(String, String, bool)> = SHIPPED
            .files()
            .filter_map(|file| {
                let name = file.path().file_name()?.to_str()?;
                Some((format!("rules/{name}"), file.contents_utf8()?.to_owned(), false))
            })
            .collect();
        files.sort();
        RuleSources { files }
    }
}

/// A complaint about rules or options.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleDiagnostic {
    pub diagnostic: Diagnostic,
    /// Path and bytes of each label, parallel to the labels.
    pub places: Vec<(String, Range<usize>)>,
}

/// Why nothing could be run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunError {
    /// The rule set has errors.
    Rules,
    /// A pass or pipeline that no rule declares; with the names that there are.
    UnknownPass { name: Sym, known: Vec<Sym> },
    /// A pipeline inside more others than is allowed (one that contains itself is an error of the rules).
    Recursive(Sym),
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunError::Rules => f.write_str("the rules have errors"),
            RunError::UnknownPass { name, .. } => write!(f, "there is no pass `{name}`"),
            RunError::Recursive(name) => write!(f, "pipelines are nested too deep at `{name}`"),
        }
    }
}

/// One entry, for lists.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryInfo {
    pub kind: Kind,
    pub name: Sym,
    pub path: String,
    /// Counted from 1.
    pub line: u32,
    pub doc: Option<String>,
    pub overlay: bool,
    /// It holds: it is no `remove`, and no overlay replaces or removes it.
    pub live: bool,
    /// Its text, documentation included.
    pub source: String,
}

/// What to run and on what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The graph that plays the root.
    pub graph: GraphId,
    /// Run node passes on this node alone.
    pub node: Option<NodeId>,
    /// Passes, chains, lints, orders or pipelines; empty: the default pipeline.
    pub steps: Vec<Sym>,
    /// Sort first, by the first `order` entry.
    pub sort: bool,
}

/// A rule set with its database.
pub struct Session {
    pub(super) db: Database,
    pub(super) rules: RuleSet,
    /// The same files under other options, for tests: each kept, since inputs of the database are never freed.
    benches: RefCell<BTreeMap<Options, RuleSet>>,
    /// Every file that there ever was, by path: inputs of the database are never freed.
    known: BTreeMap<String, RuleFile>,
    settled: Settled,
}

/// What each step has left, the newest first, each with the snapshot that held the same last. Shared by all hands.
type Settled = Arc<Mutex<FxHashMap<(Kind, Sym), Vec<(Snapshot, Snapshot)>>>>;

/// Results that are kept of each step.
const SETTLED: usize = 4;

/// Values of options, and environment variables, as text by name.
type Options = (BTreeMap<String, String>, BTreeMap<String, String>);

impl OnnxMapping for Session {
    fn ge_type(&self, domain: &str, op: &str, opset: i64, inputs: usize) -> Option<String> {
        let inputs = i64::try_from(inputs).unwrap_or(i64::MAX);
        let args = [Value::text(domain), Value::text(op), Value::Int(opset), Value::Int(inputs)];
        self.call(TYPE_FUNCTION, &args)?.as_str().map(str::to_owned)
    }
}

/// One step of a flattened pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub kind: Kind,
    pub name: Sym,
    /// The name under which the step's results are told: that of the pass it is part of, or its own.
    pub told: Sym,
    /// The number of the step that is next if this one fails; `None`: the run ends.
    pub resume: Option<usize>,
}

impl Step {
    /// What its results are told as.
    pub fn pass(self) -> RuleRef {
        let kind = if self.told == self.name { self.kind } else { Kind::Pass };
        RuleRef { kind, name: self.told }
    }
}

/// Where the keyword of an item stands in its file: behind the documentation.
pub(super) fn keyword(source: &SourceItem) -> usize {
    // With their ends, which are two bytes in files of some systems.
    let documentation = source.text.split_inclusive('\n').take_while(|line| line.starts_with("///"));
    source.start as usize + documentation.map(str::len).sum::<usize>()
}

/// The line of a byte, counted from 1.
pub(super) fn line(text: &str, at: usize) -> u32 {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() as u32 + 1
}

/// How deep pipelines may contain pipelines.
const NESTED_PIPELINES: usize = 16;

impl Session {
    pub fn new(sources: RuleSources) -> Session {
        Session::over(Database::default(), sources)
    }

    /// A session whose database can tell what it executes ([`Database::start_log`]).
    pub fn logging(sources: RuleSources) -> Session {
        Session::over(Database::logging(), sources)
    }

    fn over(db: Database, sources: RuleSources) -> Session {
        let file = |(path, text, overlay): (_, String, _)| RuleFile::new(&db, path, text.into(), overlay);
        let files: Vec<RuleFile> = sources.files.into_iter().map(file).collect();
        let known = files.iter().map(|file| (file.path(&db).clone(), *file)).collect();
        let rules = RuleSet::new(&db, files, BTreeMap::new(), BTreeMap::new());
        Session { db, rules, benches: RefCell::default(), known, settled: Settled::default() }
    }

    /// A session over the same files with these options and this environment, and with no others.
    pub(crate) fn bench(
        &self,
        given: BTreeMap<String, String>,
        environment: BTreeMap<String, String>,
    ) -> Session {
        let mut benches = self.benches.borrow_mut();
        let key = (given, environment);
        let rules = *benches.entry(key).or_insert_with_key(|(given, environment)| {
            RuleSet::new(&self.db, self.rules.files(&self.db).clone(), given.clone(), environment.clone())
        });
        Session {
            db: self.db.clone(),
            rules,
            benches: RefCell::default(),
            known: BTreeMap::new(),
            settled: self.settled.clone(),
        }
    }

    /// Lets runs go by what runs before them have found, which takes memory and spares time after an edit of the rules. Holds for hands
    /// that are made later.
    pub fn expect_edits(&mut self) {
        self.db.expect_edits();
    }

    /// The cells of its matrices.
    pub(super) fn cells(&self) -> Cells<'_> {
        Cells { db: &self.db, rules: self.rules }
    }

    /// A second hand on the same database, for another thread. While it is at work a change of the first waits, and
    /// ends the work by unwinding it (`salsa::Cancelled`).
    pub fn handle(&self) -> Session {
        Session {
            db: self.db.clone(),
            rules: self.rules,
            benches: self.benches.clone(),
            known: BTreeMap::new(),
            settled: self.settled.clone(),
        }
    }

    /// Puts other files in the place of all that there are. A file that stays keeps what is known of it.
    pub fn set_files(&mut self, sources: RuleSources) {
        use salsa::Setter;
        for (path, text, overlay) in &sources.files {
            let Some(&file) = self.known.get(path) else { continue };
            if **file.text(&self.db) != **text {
                file.set_text(&mut self.db).to(text.as_str().into());
            }
            if file.overlay(&self.db) != *overlay {
                file.set_overlay(&mut self.db).to(*overlay);
            }
        }
        let files: Vec<RuleFile> = sources
            .files
            .into_iter()
            .map(|(path, text, overlay)| {
                let db = &self.db;
                *self
                    .known
                    .entry(path)
                    .or_insert_with_key(|path| RuleFile::new(db, path.clone(), text.into(), overlay))
            })
            .collect();
        if *self.rules.files(&self.db) != files {
            self.rules.set_files(&mut self.db).to(files.clone());
        }
        let benches: Vec<RuleSet> = self.benches.borrow().values().copied().collect();
        for bench in benches {
            if *bench.files(&self.db) != files {
                bench.set_files(&mut self.db).to(files.clone());
            }
        }
    }

    pub fn database(&self) -> &Database {
        &self.db
    }

    /// The rule set as the queries know it.
    pub fn rule_set(&self) -> RuleSet {
        self.rules
    }

    /// Replaces the text of a file. An equal text changes nothing.
    pub fn set_text(&mut self, path: &str, text: &str) {
        use salsa::Setter;
        let file = self.rules.files(&self.db).iter().copied().find(|file| file.path(&self.db) == path);
        if let Some(file) = file
            && **file.text(&self.db) != *text
        {
            file.set_text(&mut self.db).to(text.into());
        }
    }

    /// Gives options (as text, by name) and the environment, and says what is wrong with them.
    pub fn set_options(
        &mut self,
        given: BTreeMap<String, String>,
        environment: BTreeMap<String, String>,
    ) -> Vec<RuleDiagnostic> {
        use salsa::Setter;
        if *self.rules.given(&self.db) != given {
            self.rules.set_given(&mut self.db).to(given);
        }
        if *self.rules.environment(&self.db) != environment {
            self.rules.set_environment(&mut self.db).to(environment);
        }
        let complaints = db::settings(&self.db, self.rules);
        complaints.iter().map(|d| RuleDiagnostic { diagnostic: d.clone(), places: Vec::new() }).collect()
    }

    /// Everything that is wrong, or doubtful, with the rule set.
    pub fn diagnostics(&self) -> Vec<RuleDiagnostic> {
        db::diagnostics(&self.db, self.rules)
            .iter()
            .map(|d| RuleDiagnostic { diagnostic: d.diagnostic.clone(), places: d.places.clone() })
            .collect()
    }

    /// Whether something is so wrong that nothing can be run.
    pub fn has_errors(&self) -> bool {
        db::complaints(&self.db, self.rules).iter().any(|c| c.diagnostic.level == Level::Error)
    }

    /// All entries in order of file and place.
    pub fn entries(&self) -> Vec<EntryInfo> {
        let mut entries = Vec::new();
        let live: FxHashSet<ItemKey> =
            db::live(&self.db, self.rules).items.iter().map(|(_, _, key)| *key).collect();
        for (number, &file) in (0u32..).zip(self.rules.files(&self.db)) {
            let text = file.text(&self.db);
            let parsed = db::parsed(&self.db, file);
            // Items stand in order, so lines are counted from one to the next.
            let (mut at, mut line) = (0, 1u32);
            for (index, item) in (0u32..).zip(&parsed.items) {
                let Some(tree) = &item.item else { continue };
                let start = keyword(&item.source).clamp(at, text.len().max(at));
                line += memchr::memchr_iter(b'\n', &text.as_bytes()[at..start]).count() as u32;
                at = start;
                entries.push(EntryInfo {
                    kind: tree.kind,
                    name: crate::lang::check::title(tree),
                    path: file.path(&self.db).clone(),
                    line,
                    doc: tree.doc.clone(),
                    overlay: file.overlay(&self.db),
                    live: live.contains(&ItemKey { file: number, index }),
                    source: item.source.text.clone(),
                });
            }
        }
        entries
    }

    /// The text of a rule file.
    pub fn file_text(&self, path: &str) -> Option<Arc<str>> {
        let file = self.rules.files(&self.db).iter().find(|file| file.path(&self.db) == path)?;
        Some(file.text(&self.db).clone())
    }

    /// The value of a rule function; `None` if there is no such function or it fails.
    pub fn call(&self, function: &str, args: &[Value]) -> Option<Value> {
        let name = Sym::lookup(function)?;
        let linked = db::program(&self.db, self.rules, Roots::of(&self.db, [(Kind::Fn, name)]));
        linked.0.entry(Kind::Fn, name)?;
        let empty = crate::graph::Builder::default().finish();
        let host = self.cells();
        Machine::over(&linked.0, &host, &empty, GraphId::ROOT).call(name, args).ok()
    }

    /// Reads a graph; names of ONNX operators are mapped as the rules say.
    ///
    /// # Errors
    /// The bytes are no graph, or one that cannot be used.
    pub fn load(&self, bytes: &[u8], name: &str) -> Result<Loaded, FormatError> {
        load(bytes, name, &LoadContext { onnx: Some(self), ..LoadContext::default() })
    }

    /// Names that can be run, in declaration order.
    pub fn runnable(&self) -> Vec<Sym> {
        let live = db::live(&self.db, self.rules);
        [Kind::Pipeline, Kind::Pass, Kind::Chain, Kind::Lint, Kind::Order]
            .into_iter()
            .flat_map(|kind| live.names(kind))
            .collect()
    }

    /// The symbol table of a graph as target, by the first `symbols` entry.
    ///
    /// # Errors
    /// The graph cannot be grouped.
    pub fn symbols(&self, snapshot: &Snapshot, graph: GraphId) -> Result<Arc<Symbols>, PassFailure> {
        let name = db::live(&self.db, self.rules).names(Kind::Symbols).next().unwrap_or_default();
        let layer = Layer::new(&self.db, At::new(&self.db, snapshot.clone()), name, graph);
        symbols(&self.db, self.rules, layer)
            .map_err(|failure| Renderer::new(&self.db, self.rules, snapshot).failure(name, &failure))
    }

    /// How many anchors carry each mark, in declaration order, with a graph as target and the first `symbols` entry.
    ///
    /// # Errors
    /// The graph cannot be grouped or marked.
    pub fn marks(&self, snapshot: &Snapshot, graph: GraphId) -> Result<Vec<(Sym, usize)>, PassFailure> {
        let name = db::live(&self.db, self.rules).names(Kind::Symbols).next().unwrap_or_default();
        let layer = Layer::new(&self.db, At::new(&self.db, snapshot.clone()), name, graph);
        let table = mark_table(&self.db, self.rules, layer, |_| true)
            .map_err(|failure| Renderer::new(&self.db, self.rules, snapshot).failure(name, &failure))?;
        Ok(table.lists.iter().map(|list| (list.mark, list.places.len())).collect())
    }

    /// What the rules measure, before a run and after it, in order of declaration.
    pub fn measures(&self, before: &Snapshot, after: &Snapshot) -> Vec<Measured> {
        let [at, then] = [before, after].map(|snapshot| At::new(&self.db, snapshot.clone()));
        let measured = |(name, title, unit)| {
            let of = |at| -> Amount {
                amount(&self.db, self.rules, at, EntryName::new(&self.db, Kind::Measure, name))
            };
            Measured { name, title, unit, before: of(at), after: of(then) }
        };
        self.declared_measures().map(measured).collect()
    }

    /// Names, titles and units of measures, in order of declaration.
    pub(super) fn declared_measures(&self) -> impl Iterator<Item = (Sym, String, Option<Sym>)> {
        db::live(&self.db, self.rules).items.iter().filter_map(|&(_, name, key)| {
            let item = db::find(&self.db, self.rules, key).and_then(|id| db::item(&self.db, id))?;
            let ItemData::Measure { title, unit, .. } = &item.0.data else { return None };
            Some((name, title.clone(), unit.map(|unit| unit.text)))
        })
    }

    /// Runs passes one after the other. A pass that fails leaves the graph as it was, and ends the run.
    ///
    /// # Errors
    /// The rule set has errors, or a name is unknown.
    pub fn run(&self, snapshot: &Snapshot, request: &Request) -> Result<Outcome, RunError> {
        self.run_seen(snapshot, request, |_, _, _| ())
    }

    /// [`Session::run`]; `see` gets each step with the snapshot before it and what it left, before that is told.
    pub(super) fn run_seen(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        mut see: impl FnMut(Step, &Snapshot, &PassResult),
    ) -> Result<Outcome, RunError> {
        let mut outcome = Outcome { before: snapshot.clone(), after: snapshot.clone(), steps: Vec::new() };
        self.each_step(snapshot, request, |step, run| {
            let told = tell(&self.db, self.rules, run, step.told);
            let before = std::mem::replace(&mut outcome.after, told.after.clone());
            see(step, &before, run_pass(&self.db, self.rules, run));
            outcome.push(StepOutcome { tolerated: step.resume.is_some(), ..told.clone() });
        })?;
        Ok(outcome)
    }

    /// Runs passes one after the other, each on what the one before has left. `each` is called when a step has been run.
    pub(super) fn each_step<'s>(
        &'s self,
        snapshot: &Snapshot,
        request: &Request,
        mut each: impl FnMut(Step, PassRun<'s>),
    ) -> Result<(), RunError> {
        if self.has_errors() {
            return Err(RunError::Rules);
        }
        let mut at = At::new(&self.db, snapshot.clone());
        let mut counters = Vec::new();
        let steps = self.steps(request)?;
        let mut number = 0;
        while let Some(&step) = steps.get(number) {
            number += 1;
            let (graph, node) = (request.graph, request.node);
            let run = PassRun::new(&self.db, at, step.kind, step.name, graph, node, counters);
            let result = run_pass(&self.db, self.rules, run);
            each(step, run);
            counters = result.counters.clone();
            if result.after != *at.snapshot(&self.db) {
                // Who counts what is reached wants nothing to be remembered of other runs.
                let is_counting = self.db.tally().is_some();
                let after =
                    if is_counting { result.after.clone() } else { self.settled(step, &result.after) };
                at = At::new(&self.db, after);
            }
            if result.failure.is_some() {
                number = step.resume.unwrap_or(steps.len());
            }
        }
        Ok(())
    }

    /// The snapshot for what a step has left. What a run before this one has left is taken again if it holds the same, so that
    /// what is known of it is known still.
    fn settled(&self, step: Step, after: &Snapshot) -> Snapshot {
        let mut settled = self.settled.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let known = settled.entry((step.kind, step.name)).or_default();
        let at = known.iter().position(|(settled, last)| settled == after || last == after);
        match at.or_else(|| known.iter().position(|(settled, _)| settled.holds_the_same(after))) {
            Some(at) => known[..=at].rotate_right(1),
            None => {
                known.truncate(SETTLED - 1);
                known.insert(0, (after.clone(), after.clone()));
            }
        }
        known[0].1 = after.clone();
        known[0].0.clone()
    }

    /// What a request runs, in order.
    pub(super) fn steps(&self, request: &Request) -> Result<Vec<Step>, RunError> {
        let order =
            if request.sort { db::live(&self.db, self.rules).names(Kind::Order).next() } else { None };
        let sort = order.map(|name| Step { kind: Kind::Order, name, told: name, resume: None });
        self.flatten(sort, &request.steps)
    }

    /// Passes in order, pipelines taken apart, steps left out whose condition does not hold.
    fn flatten(&self, sort: Option<Step>, names: &[Sym]) -> Result<Vec<Step>, RunError> {
        let names: Vec<Sym> =
            if names.is_empty() { self.default_pipeline().into_iter().collect() } else { names.to_vec() };
        let mut steps: Vec<Step> = sort.into_iter().collect();
        for name in names {
            self.expand(name, None, &mut steps, 0)?;
        }
        Ok(steps)
    }

    fn expand(
        &self,
        name: Sym,
        told: Option<Sym>,
        steps: &mut Vec<Step>,
        depth: usize,
    ) -> Result<(), RunError> {
        if depth > NESTED_PIPELINES {
            return Err(RunError::Recursive(name));
        }
        let live = db::live(&self.db, self.rules);
        let has = |kind| !live.keys(kind, name).is_empty();
        if let Some(kind) =
            [Kind::Pass, Kind::Chain, Kind::Lint, Kind::Order].into_iter().find(|&kind| has(kind))
        {
            steps.push(Step { kind, name, told: told.unwrap_or(name), resume: None });
            return Ok(());
        }
        // The keyword stands for all lints.
        if !has(Kind::Pipeline) && name == crate::lang::syntax::print::keyword(Kind::Lint) {
            let lints = live.names(Kind::Lint);
            let step = |name| Step { kind: Kind::Lint, name, told: told.unwrap_or(name), resume: None };
            steps.extend(lints.map(step));
            return Ok(());
        }
        if !has(Kind::Pipeline) {
            return Err(RunError::UnknownPass { name, known: self.runnable() });
        }
        let (as_pass, inside) = self.pipeline(name);
        let told = told.or(as_pass.then_some(name));
        for (inner, tolerant) in inside {
            let start = steps.len();
            self.expand(inner, told, steps, depth + 1)?;
            let end = steps.len();
            for step in steps.iter_mut().skip(start).filter(|_| tolerant) {
                step.resume.get_or_insert(end);
            }
        }
        Ok(())
    }

    /// The pipeline that says it is the default, or else the first that is no step of another one.
    pub fn default_pipeline(&self) -> Option<Sym> {
        let live = db::live(&self.db, self.rules);
        let entry = |name| db::entry(&self.db, self.rules, EntryName::new(&self.db, Kind::Pipeline, name));
        let mut inner = std::collections::HashSet::new();
        for name in live.names(Kind::Pipeline) {
            if let Some(Entry::Pipeline { steps, role, .. }) = entry(name).as_deref() {
                if *role == PipelineRole::Default {
                    return Some(name);
                }
                inner.extend(steps.iter().map(|step| step.name));
            }
        }
        live.names(Kind::Pipeline).find(|name| !inner.contains(name))
    }

    /// Whether a pipeline is told as one pass; its steps whose conditions hold, and whether each may fail.
    fn pipeline(&self, name: Sym) -> (bool, Vec<(Sym, bool)>) {
        let nothing = (false, Vec::new());
        let linked = db::program(&self.db, self.rules, Roots::of(&self.db, [(Kind::Pipeline, name)]));
        let Some(id) = linked.0.entry(Kind::Pipeline, name) else { return nothing };
        let Some(hir) = db::entry(&self.db, self.rules, EntryName::new(&self.db, Kind::Pipeline, name))
        else {
            return nothing;
        };
        let Entry::Pipeline { steps, role, .. } = &*hir else { return nothing };
        let empty = crate::graph::Builder::default().finish();
        let host = self.cells();
        let mut machine = Machine::over(&linked.0, &host, &empty, GraphId::ROOT);
        machine.set_tally(self.db.tally());
        if let Some(tally) = self.db.tally() {
            tally.reach((Kind::Pipeline, name));
        }
        let runs = steps
            .iter()
            .filter(|step| step.when.is_none_or(|c| machine.test(id, c, &[]).unwrap_or(false)))
            .map(|step| (step.name, step.tolerant));
        (*role == PipelineRole::Pass, runs.collect())
    }
}
