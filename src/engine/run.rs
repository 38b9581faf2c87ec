//! Running passes: the host that a pass body works with, and the query that remembers what came of it.
//!
//! Promise: a pass is a function of its snapshot, its program and the verdicts it asks for. Reasons are not part
//! of the result: it keeps what is needed to render them ([`Draft`]).

mod ask;
mod groups;

use std::cell::{OnceCell, RefCell};

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::again::Memory;
use super::asked::{self, conditions};
use super::cells::Cells;
use super::dirty::{Dirty, nodes_of};
use super::order::sorted;
use super::pairs::Class;
use super::queries::{At, Layer, QueryFailure, symbols, symbols_seen};
use super::reach::ReachIndex;
use super::search::Verdict;
use super::trial::Judge;
use crate::db::{Db, Linked, Roots, RuleSet, program};
use crate::graph::{Anchor, GraphId, NodeId, Snapshot, Sym, Symbols, compare_labels};
use crate::lang::Level;
use crate::lang::eval::{
    ChainEnd, EditKind, EditRecord, EntryId, Failure, Host, HostMark, Machine, Program, Report, Seen,
    Subject, Value, Watch,
};
use crate::lang::hir::{Block, Entry, Line, StepEnd, Subject as Over, TextId};
use crate::lang::syntax::ast::{Kind, Refusal};

pub use ask::ask;

/// A finding before its texts are rendered.
#[derive(Clone, Debug, PartialEq)]
pub enum Draft {
    /// An anchor of the conflict set, with every rule that put it there; `edits`: what answered it.
    Conflict { anchor: Anchor, by: Vec<(Class, Verdict)>, edits: std::ops::Range<usize> },
    /// A `report` statement.
    Report {
        entry: (Kind, Sym),
        places: Arc<[Value]>,
        message: TextId,
        level: Option<Level>,
        help: Option<TextId>,
        answer: Option<NodeId>,
        frame: Arc<[Value]>,
    },
    /// A chain that stopped on a node, or ran to its end (`step` is none).
    Chain { chain: Sym, node: NodeId, step: Option<ChainStop>, edits: std::ops::Range<usize> },
}

/// Where a chain stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainStop {
    /// Whose step it is: the chain's, or that of `steps` that it uses.
    pub entry: (Kind, Sym),
    pub name: Sym,
    pub otherwise: Option<TextId>,
    pub help: Option<TextId>,
    /// The frame of the requirement.
    pub frame: Arc<[Value]>,
}

/// One `resolve` of a pass: what the layer looked at, so that it can be looked at again.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    pub symbols: Sym,
    pub target: GraphId,
    /// The graph before the first copy of this `resolve`.
    pub snapshot: Snapshot,
    /// Its conflicts among the pass's drafts.
    pub drafts: std::ops::Range<usize>,
}

/// What a pass leaves.
#[derive(Debug, PartialEq)]
pub struct PassResult {
    pub after: Snapshot,
    pub edits: Vec<EditRecord>,
    pub drafts: Vec<Draft>,
    pub resolved: Vec<Resolved>,
    pub failure: Option<QueryFailure>,
    /// Counters as the pass left them, for the passes of one pipeline that belong together.
    pub counters: Vec<(Sym, i64)>,
    /// The program whose entry numbers `edits` use.
    pub program: Linked,
}

/// One run of a pass.
#[salsa::interned(debug)]
pub struct PassRun<'db> {
    #[returns(copy)]
    pub at: At<'db>,
    /// A `pass`, `chain`, `lint` or `order`.
    #[returns(copy)]
    pub kind: Kind,
    #[returns(copy)]
    pub name: Sym,
    /// The graph it is run on.
    #[returns(copy)]
    pub root: GraphId,
    /// Run on this node alone.
    #[returns(copy)]
    pub node: Option<NodeId>,
    #[returns(ref)]
    pub counters: Vec<(Sym, i64)>,
}

/// Runs a pass.
#[salsa::tracked(returns(ref))]
pub fn run_pass<'db>(db: &'db dyn Db, rules: RuleSet, run: PassRun<'db>) -> PassResult {
    run_watched(db, rules, run, None)
}

/// Runs a pass under the eyes of someone; what comes of it is not remembered.
pub fn run_watched<'db>(
    db: &'db dyn Db,
    rules: RuleSet,
    run: PassRun<'db>,
    watch: Option<&dyn Watch>,
) -> PassResult {
    let linked = program(db, rules, Roots::of(db, [(run.kind(db), run.name(db))]));
    let before = run.at(db).snapshot(db);
    let cells = Cells { db, rules };
    let host = Engine::new(&cells, before);
    // Who looks on, or counts, wants to see the whole.
    let is_alone = watch.is_none() && db.tally().is_none() && run.node(db).is_none();
    let entry = (run.kind(db), run.name(db));
    let memory = if is_alone { Memory::of(&cells, (entry, run.root(db)), linked, before) } else { None };
    let mut machine = Machine::over(&linked.0, &host, before, run.root(db));
    machine.set_tally(db.tally());
    if let Some(memory) = &memory {
        memory.lend(&mut machine);
        host.reach.borrow_mut().expect(memory.asked_paths());
    }
    machine.set_counters(run.counters(db));
    machine.set_only(run.node(db));
    machine.set_watch(watch);
    machine.share_alike();
    let outcome = host.run(&mut machine, run.kind(db), run.name(db), run.node(db));
    let mut counters = machine.counters();
    counters.sort_by_key(|(name, _)| name.as_str());
    if let Some(memory) = memory.as_ref().filter(|_| outcome.is_ok()) {
        memory.keep(&mut machine);
    }
    machine.keep_kinds();
    let (edit, log) = machine.finish();
    let (drafts, resolved) = (host.drafts.take(), host.resolved.take());
    let failed = host.failed.take();
    // What somebody looks on is not remembered.
    if let Some(judge) = host.judge.into_inner().filter(|_| watch.is_none()) {
        asked::rest_on(db, rules, (before, run.root(db)), judge.into_log());
    }
    let (after, edits, failure) = match outcome {
        Ok(()) => {
            let sorted = host.sorted.take().filter(|_| log.is_empty());
            (sorted.unwrap_or_else(|| edit.finish(before)), log, None)
        }
        // `halt`: what was done so far stands.
        Err(failure) if failure.stands => {
            let sorted = host.sorted.take().filter(|_| log.is_empty());
            let after = sorted.unwrap_or_else(|| edit.finish(before));
            (after, log, Some(QueryFailure(Arc::new(failure), linked.clone())))
        }
        Err(failure) => {
            let failure = failed.unwrap_or_else(|| QueryFailure(Arc::new(failure), linked.clone()));
            (before.clone(), Vec::new(), Some(failure))
        }
    };
    PassResult { after, edits, drafts, resolved, failure, counters, program: linked.clone() }
}

/// The engine's side of a running pass.
struct Engine<'a> {
    db: &'a dyn Db,
    rules: RuleSet,
    cells: &'a Cells<'a>,
    before: &'a Snapshot,
    drafts: RefCell<Vec<Draft>>,
    resolved: RefCell<Vec<Resolved>>,
    /// The sorted snapshot, while nothing else has changed the state.
    sorted: RefCell<Option<Snapshot>>,
    /// Graphs in which something has changed, with all that contain them, and how much of the log that covers.
    touched: RefCell<(usize, FxHashSet<GraphId>)>,
    /// Of the machine that runs the pass.
    reach: RefCell<ReachIndex>,
    /// A failure of another program than that of the pass.
    failed: RefCell<Option<QueryFailure>>,
    /// Answers questions about groups that the pass tracks.
    judge: OnceCell<Judge<'a>>,
}

impl<'a> Engine<'a> {
    fn new(cells: &'a Cells<'a>, before: &'a Snapshot) -> Engine<'a> {
        Engine {
            db: cells.db,
            rules: cells.rules,
            cells,
            before,
            drafts: RefCell::default(),
            resolved: RefCell::default(),
            sorted: RefCell::default(),
            touched: RefCell::default(),
            reach: RefCell::default(),
            failed: RefCell::default(),
            judge: OnceCell::new(),
        }
    }

    fn run(
        &self,
        machine: &mut Machine<'_>,
        kind: Kind,
        name: Sym,
        only: Option<NodeId>,
    ) -> Result<(), Failure> {
        let ended = self.run_entry(machine, kind, name, only);
        if ended.as_ref().err().is_none_or(|failure| failure.stands) {
            let reports = machine.take_reports();
            self.drafts.borrow_mut().reserve(reports.len());
            for report in reports {
                self.report(machine.program(), report);
            }
        }
        ended
    }

    fn run_entry(
        &self,
        machine: &mut Machine<'_>,
        kind: Kind,
        name: Sym,
        only: Option<NodeId>,
    ) -> Result<(), Failure> {
        let program = machine.program();
        let Some(entry) = program.entry(kind, name) else {
            return Err(Failure::mechanism("unknown-pass", format!("there is no pass `{name}`")));
        };
        let Some(hir) = program.hir(entry).cloned() else { return Ok(()) };
        match &*hir {
            Entry::Pass { subject, repeats, block, .. } => loop {
                let found = machine.state().node_count();
                self.visit(machine, entry, (subject.as_ref(), block), only)?;
                // Ends: there are fewer nodes each time.
                if !repeats || only.is_some() || machine.state().node_count() >= found {
                    break Ok(());
                }
            },
            Entry::Lint { subject, block, .. } => self.visit(machine, entry, (subject.as_ref(), block), only),
            Entry::Chain(chain) => {
                for node in self.nodes(machine, entry, &chain.subject, only)? {
                    self.apply(machine, name, node)?;
                }
                Ok(())
            }
            Entry::Order { .. } => self.sort(machine, name),
            _ => Err(Failure::mechanism("unknown-pass", format!("`{name}` cannot be run as a pass"))),
        }
    }

    /// Runs a body once, or once for each node that it is for.
    fn visit(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        (subject, block): (Option<&Over>, &Block),
        only: Option<NodeId>,
    ) -> Result<(), Failure> {
        let Some(subject) = subject else {
            return machine.run(entry, block, &[Value::Graph(machine.root())]).map(|_| ());
        };
        let nodes = self.nodes(machine, entry, subject, only)?;
        let turn = machine.subject_turn(entry, &[Value::Graph(machine.root())]);
        for node in nodes {
            // A pass over a large graph must not make an edit of the rules wait.
            self.db.unwind_if_revision_cancelled();
            match &turn {
                Some(turn) => machine
                    .again(turn, node, |machine| self.visit_one(machine, entry, (subject, block), node))?,
                None => self.visit_one(machine, entry, (subject, block), node)?,
            }
        }
        Ok(())
    }

    /// Runs a body for a node, if it is for that.
    fn visit_one(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        (subject, block): (&Over, &Block),
        node: NodeId,
    ) -> Result<(), Failure> {
        let frame = [Value::Graph(machine.root()), Value::Node(node)];
        let holds = self.applies(machine, entry, subject, &frame)?;
        if let Some(watch) = machine.watch() {
            watch.enter(machine, entry, subject.condition, &frame, holds);
        }
        if holds {
            machine.run(entry, block, &frame)?;
        }
        if let Some(watch) = machine.watch() {
            watch.leave(machine);
        }
        Ok(())
    }

    /// The nodes that a pass over nodes visits: a list taken before anything changes.
    fn nodes(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        over: &Over,
        only: Option<NodeId>,
    ) -> Result<Vec<NodeId>, Failure> {
        if let Some(node) = only {
            return Ok(vec![node]);
        }
        match over.list {
            None => Ok(machine.all_nodes(machine.root())),
            Some(list) => {
                let value = machine.eval(entry, list, &[Value::Graph(machine.root())])?;
                let nodes: Vec<NodeId> = value.elements().filter_map(|value| value.as_node()).collect();
                if let Some(watch) = machine.watch() {
                    watch.listed(machine, entry, (list, over.condition), &nodes);
                }
                Ok(nodes)
            }
        }
    }

    fn applies(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        over: &Over,
        frame: &[Value],
    ) -> Result<bool, Failure> {
        let there =
            frame.get(1).and_then(Value::as_node).is_some_and(|node| machine.near().node(node).is_some());
        match over.condition {
            _ if !there => Ok(false),
            None => Ok(true),
            Some(condition) => machine.test(entry, condition, frame),
        }
    }

    fn report(&self, program: &Program, report: Report) {
        let Some(entry) = program.key(report.entry) else { return };
        let Report { places, message, level, help, answer, frame, .. } = report;
        self.drafts.borrow_mut().push(Draft::Report { entry, places, message, level, help, answer, frame });
    }

    /// Hands a query's failure to the pass: its program is another one, so it is kept aside.
    fn fail(&self, failure: QueryFailure) -> Failure {
        let inner = (*failure.0).clone();
        *self.failed.borrow_mut() = Some(failure);
        inner
    }

    /// Whether anything inside `graph` has changed since the pass began.
    fn is_touched(&self, machine: &Machine<'_>, graph: GraphId) -> bool {
        let mut touched = self.touched.borrow_mut();
        let (seen, graphs) = &mut *touched;
        for record in &machine.edits()[*seen..] {
            for node in nodes_of(&record.kind) {
                let mut at = machine.state().get_node(node).map(|n| n.graph);
                while let Some(graph) = at {
                    if !graphs.insert(graph) {
                        break;
                    }
                    at = machine.state().get_graph(graph).and_then(|_| machine.state().parent_graph(graph));
                }
            }
            if let EditKind::Delete { graph, .. } | EditKind::SetAttr { subject: Subject::Graph(graph), .. } =
                record.kind
            {
                graphs.insert(graph);
            }
        }
        *seen = machine.edits().len();
        graphs.contains(&graph)
    }

    /// The snapshot to ask queries of about `graph`: the pass's own while nothing in the graph has changed.
    fn snapshot(&self, machine: &Machine<'_>, graph: GraphId) -> Snapshot {
        let sorted = self.sorted.borrow();
        let base = sorted.as_ref().unwrap_or(self.before);
        if self.is_touched(machine, graph) { machine.snapshot(base) } else { base.clone() }
    }

    fn layer(&self, machine: &Machine<'_>, symbols: Sym, target: GraphId) -> Layer<'_> {
        let at = At::new(self.db, self.snapshot(machine, target));
        Layer::new(self.db, at, symbols, target)
    }
}

impl Host for Engine<'_> {
    fn cell(&self, matrix: Sym, row: u16, column: u16) -> Option<u16> {
        self.cells.cell(matrix, row, column)
    }

    fn stands_in(&self, matrix: Sym, line: Line, variant: u16) -> bool {
        self.cells.stands_in(matrix, line, variant)
    }

    fn symbols(
        &self,
        machine: &mut Machine<'_>,
        name: Sym,
        target: GraphId,
    ) -> Result<Arc<Symbols>, Failure> {
        let layer = self.layer(machine, name, target);
        symbols(self.db, self.rules, layer).map_err(|failure| self.fail(failure))
    }

    fn symbols_seen(
        &self,
        machine: &mut Machine<'_>,
        name: Sym,
        target: GraphId,
    ) -> Result<(Arc<Symbols>, Option<Arc<Seen>>), Failure> {
        let layer = self.layer(machine, name, target);
        symbols_seen(self.db, self.rules, layer).map_err(|failure| self.fail(failure))
    }

    fn conflicts(
        &self,
        machine: &mut Machine<'_>,
        target: GraphId,
        table: &Arc<Symbols>,
    ) -> Result<bool, Failure> {
        let snapshot = self.snapshot(machine, target);
        super::conflicts::conflicts(self.db, self.rules, &snapshot, target, table)
            .map_err(|failure| self.fail(failure))
    }

    fn would_conflict(
        &self,
        machine: &mut Machine<'_>,
        target: GraphId,
        pair: (Anchor, Anchor),
    ) -> Result<Option<bool>, Failure> {
        let judge = || Judge::new(self.cells, self.before, &conditions(self.db, self.rules).0);
        let answer = self.judge.get_or_init(judge).ask(machine, target, pair);
        answer.map_err(|failure| self.fail(failure))
    }

    fn mark(&self) -> HostMark {
        HostMark {
            sorted: self.sorted.borrow().clone(),
            counts: (self.drafts.borrow().len(), self.resolved.borrow().len()),
        }
    }

    fn undone(&self, machine: &Machine<'_>, mark: HostMark) {
        *self.sorted.borrow_mut() = mark.sorted;
        self.drafts.borrow_mut().truncate(mark.counts.0);
        self.resolved.borrow_mut().truncate(mark.counts.1);
        // What was touched is still counted as such: that costs time, not truth.
        let mut touched = self.touched.borrow_mut();
        touched.0 = touched.0.min(machine.edits().len());
        self.reach.take();
    }

    fn sort(&self, machine: &mut Machine<'_>, order: Sym) -> Result<(), Failure> {
        let base = if machine.edits().is_empty() {
            self.sorted.borrow().clone().unwrap_or_else(|| self.before.clone())
        } else {
            machine.snapshot(self.before)
        };
        let sorted = sorted(machine, &base, order)?;
        if sorted != base {
            machine.reorder(|edit| edit.take_order(&sorted));
        }
        *self.sorted.borrow_mut() = Some(sorted);
        *self.touched.borrow_mut() = (machine.edits().len(), FxHashSet::default());
        Ok(())
    }

    fn reaches(&self, machine: &mut Machine<'_>, from: NodeId, to: NodeId) -> bool {
        self.reach.borrow_mut().ask(machine, from, to)
    }

    fn apply(&self, machine: &mut Machine<'_>, chain: Sym, node: NodeId) -> Result<(), Failure> {
        let start = machine.edits().len();
        let step = match machine.run_chain(chain, node)? {
            ChainEnd::Elsewhere => return Ok(()),
            ChainEnd::Done => None,
            ChainEnd::Kept(kept) => {
                let StepEnd { refusal, otherwise, help } = kept.end;
                let entry = machine.program().key(kept.entry).unwrap_or((Kind::Chain, chain));
                if let (Refusal::Warn, Some(message)) = (refusal, otherwise) {
                    let (places, frame) = (Arc::from([Value::Node(node)]), kept.frame.clone());
                    let (entry, level, answer) = (kept.entry, None, None);
                    let report = Report { entry, places, message, level, help, answer, frame };
                    self.report(machine.program(), report);
                }
                Some(ChainStop { entry, name: kept.name, otherwise, help, frame: kept.frame })
            }
        };
        let edits = start..machine.edits().len();
        machine.has_acted();
        self.drafts.borrow_mut().push(Draft::Chain { chain, node, step, edits });
        Ok(())
    }

    fn resolve(
        &self,
        machine: &mut Machine<'_>,
        name: Sym,
        target: GraphId,
        body: &mut dyn FnMut(&mut Machine<'_>, Anchor) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let layer = self.layer(machine, name, target);
        let groups = self.conflicts_by_group(layer).map_err(|failure| self.fail(failure))?;
        let first = self.drafts.borrow().len();
        let mut dirty = Dirty::since(machine.edits().len());
        for (group, found) in groups {
            dirty.update(machine);
            let mut conflicts: FxHashMap<Anchor, Vec<(Class, Verdict)>> = FxHashMap::default();
            for (class, verdict) in found {
                let fresh;
                let verdict = if dirty.spoils(&verdict) {
                    fresh = self.again(machine, layer, class, group).map_err(|failure| self.fail(failure))?;
                    &fresh
                } else {
                    &verdict
                };
                for one in &verdict.isolated {
                    conflicts.entry(one.anchor).or_default().push((class, one.clone()));
                }
            }
            let mut conflicts: Vec<_> = conflicts.into_iter().collect();
            conflicts.sort_by(|(a, _), (b, _)| compare_labels(machine.state(), *a, *b));
            for (anchor, by) in conflicts {
                let start = machine.edits().len();
                body(machine, anchor)?;
                let edits = start..machine.edits().len();
                self.drafts.borrow_mut().push(Draft::Conflict { anchor, by, edits });
            }
        }
        let drafts = first..self.drafts.borrow().len();
        let snapshot = layer.at(self.db).snapshot(self.db).clone();
        self.resolved.borrow_mut().push(Resolved { symbols: name, target, snapshot, drafts });
        Ok(())
    }
}
