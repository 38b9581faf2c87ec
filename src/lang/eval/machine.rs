//! The machine: a private copy of the state, the stack of frames, and what the engine gives as context.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::again::Again;
use super::alike::Alike;
use super::cells::Grid;
use super::edits::EditRecord;
use super::exec::{Isolated, Report};
use super::host::{Failure, Host, Marks};
use super::join::Join;
use super::lasting::Lasting;
use super::memo::{Memo, Worth};
use super::names::Names;
use super::program::{Data, Program};
use super::quiet::{Quiet, Suppositions};
use super::regroup::Regroup;
use super::sieve::{Question, Sieve};
use super::tally::Tally;
use super::trace::{ReadLog, Trace};
use super::value::List;
use super::watch::Watch;
use super::{EntryId, Subject, Value};
use crate::graph::{
    Anchor, Dense, Edit, Edited, GraphId, Input, Node, NodeId, Output, Snapshot, State, Sym, SymbolsBuilder,
    TensorDesc, Tracked,
};
use crate::lang::hir::ExprId;
use crate::lang::syntax::ast::Kind;

/// More nested calls than this, or more bytes of native stack, end the evaluation with a failure. Calls are
/// acyclic and expressions are as deep as the parser lets them be, so only a rule set made for it gets here.
const MAX_CALLS: u32 = 200;
const MAX_STACK: usize = 1 << 20;

/// Steps that one machine may take: so many, and so many more for each node of the graph. A step is a call, or an
/// element gone through; what takes memory counts more. Rules are near-linear, and take some hundred steps a
/// node. Iteration over finite lists always ends, but a range is as long as a rule says, so without a limit the
/// end may be centuries away.
const STEPS: u64 = 1 << 26;
const STEPS_A_NODE: u64 = 1 << 14;

/// Steps that a call costs.
const CALL: u64 = 4;

/// Steps that an element costs which is stored.
pub(super) const STORED: u64 = 8;

/// Evaluates a program over a private copy of a state.
pub struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) host: &'a dyn Host,
    pub(super) edit: Edit,
    pub(super) dense: Option<&'a Dense>,
    /// The state as it was at first.
    pub(super) origin: Option<&'a Snapshot>,
    /// Nodes about which `dense` is out of date.
    pub(super) edited: Edited,
    /// How many readers outputs have about which `dense` is out of date, where that has been asked.
    pub(super) counts: FxHashMap<Output, usize>,
    /// Node lists are as in `dense`.
    pub(super) lists_clean: bool,
    pub(super) root: GraphId,
    pub(super) marks: Option<Rc<dyn Marks>>,
    pub(super) builder: Option<SymbolsBuilder>,
    /// The table that `track` keeps.
    pub(super) tracked: Option<Box<Tracked>>,
    /// Results of walks that outlive edits; kept while a sweep runs.
    pub(super) lasting: Option<Box<Lasting>>,
    /// What nodes that are alike have in common; where that is kept in mind.
    pub(super) alike: Option<Box<Alike>>,
    /// What types of nodes settle.
    pub(super) sieves: FxHashMap<Question, Sieve>,
    /// What kinds of nodes and of their readers settle.
    pub(super) quiets: FxHashMap<Question, Quiet>,
    pub(super) suppositions: Suppositions,
    /// Which elements have what in lists of their own.
    pub(super) joins: FxHashMap<Question, Join>,
    /// Cells of matrices, as far as they have been asked.
    pub(super) grids: Vec<Grid>,
    /// A sweep visits this node alone.
    pub(super) only: Option<NodeId>,
    pub(super) counters: FxHashMap<Sym, i64>,
    /// What `set x.note(NAME)` left. Never part of the state.
    pub(super) notes: FxHashMap<(Sym, Subject), Value>,
    /// Locals of all frames. A frame is addressed by its base.
    pub(super) stack: Vec<Value>,
    /// Readers that are being gone through, outside of `dense`.
    pub(super) readers: Vec<Input>,
    /// Places of the walks that are under way.
    pub(super) places: Vec<Value>,
    pub(super) loops: Vec<Vec<Value>>,
    pub(super) calls: u32,
    /// Steps that are left.
    pub(super) steps: u64,
    /// Where the native stack was at the outermost call.
    stack_start: usize,
    pub(super) epoch: u64,
    /// See [`Machine::facts`].
    pub(super) facts: u64,
    pub(super) memo: Memo,
    /// By entry.
    pub(super) worth: Vec<Worth>,
    pub(super) lists: FxHashMap<(GraphId, bool), Arc<List>>,
    pub(super) names: Option<Names>,
    /// A failure inside an expression; statements look at it.
    pub(super) pending: Option<Failure>,
    pub(super) reads: Option<Box<ReadLog>>,
    /// How many records of what is read have been begun.
    pub(super) records: u64,
    pub(super) again: Option<Box<Again<'a>>>,
    pub(super) regroup: Option<Box<Regroup<'a>>>,
    pub(super) trace: Option<Box<Trace>>,
    pub(super) tally: Option<Arc<Tally>>,
    pub(super) watch: Option<&'a dyn Watch>,
    pub(super) log: Vec<EditRecord>,
    pub(super) isolated: Vec<Isolated>,
    pub(super) reports: Vec<Report>,
    pub(super) given: Value,
    /// The item whose statements are run.
    pub(super) current: EntryId,
}

impl<'a> Machine<'a> {
    /// A machine over `edit`, which nothing has changed yet when `dense` is given: the flat view of its snapshot.
    pub fn new(
        program: &'a Program,
        host: &'a dyn Host,
        edit: Edit,
        dense: Option<&'a Dense>,
        root: GraphId,
    ) -> Machine<'a> {
        let steps = STEPS.saturating_add(STEPS_A_NODE.saturating_mul(edit.node_count() as u64));
        Machine {
            program,
            host,
            edit,
            dense,
            origin: None,
            edited: Edited::default(),
            counts: FxHashMap::default(),
            lists_clean: true,
            root,
            marks: None,
            builder: None,
            tracked: None,
            lasting: None,
            alike: None,
            sieves: FxHashMap::default(),
            quiets: FxHashMap::default(),
            suppositions: Suppositions::default(),
            joins: FxHashMap::default(),
            grids: Vec::new(),
            only: None,
            counters: FxHashMap::default(),
            notes: FxHashMap::default(),
            stack: Vec::new(),
            readers: Vec::new(),
            places: Vec::new(),
            loops: Vec::new(),
            calls: 0,
            steps,
            stack_start: 0,
            epoch: 0,
            facts: 0,
            memo: Memo::default(),
            worth: vec![Worth::default(); program.len()],
            lists: FxHashMap::default(),
            names: None,
            pending: None,
            reads: None,
            records: 0,
            again: None,
            regroup: None,
            trace: None,
            tally: None,
            watch: None,
            log: Vec::new(),
            isolated: Vec::new(),
            reports: Vec::new(),
            given: Value::None,
            current: EntryId::default(),
        }
    }

    /// A machine over a snapshot, with its flat view.
    pub fn over(
        program: &'a Program,
        host: &'a dyn Host,
        snapshot: &'a Snapshot,
        root: GraphId,
    ) -> Machine<'a> {
        let flat = Some(snapshot.dense());
        Machine { origin: Some(snapshot), ..Machine::new(program, host, snapshot.edit(), flat, root) }
    }

    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// Changes when nodes come or take another order, and when what nodes and tensors say of themselves may have changed. With
    /// the number of edits it tells states apart.
    pub fn facts(&self) -> u64 {
        self.facts
    }

    /// The state as edited so far.
    pub fn state(&self) -> &State {
        &self.edit
    }

    /// The graph that the body is run on.
    pub fn root(&self) -> GraphId {
        self.root
    }

    /// The state as edited so far, as a snapshot; `before` itself if nothing has changed since.
    pub fn snapshot(&self, before: &Snapshot) -> Snapshot {
        self.edit.clone().finish(before)
    }

    /// A copy of the edited state, for another machine.
    pub fn copy(&self) -> Edit {
        self.edit.clone()
    }

    /// Lets counters go on from where another run left them.
    pub fn set_counters(&mut self, counters: &[(Sym, i64)]) {
        self.counters = counters.iter().copied().collect();
    }

    /// How often each counter has been used, in no order.
    pub fn counters(&self) -> Vec<(Sym, i64)> {
        self.counters.iter().map(|(name, count)| (*name, *count)).collect()
    }

    /// Ends the run: the edited state and what was done to it.
    pub fn finish(self) -> (Edit, Vec<EditRecord>) {
        (self.edit, self.log)
    }

    /// Edits made so far, in order.
    pub fn edits(&self) -> &[EditRecord] {
        &self.log
    }

    /// Sets the marks that `has` and `marks` show, and gives those before. Nothing that depends on marks is
    /// memoized, so marks may also change behind the trait.
    pub fn set_marks(&mut self, marks: Option<Rc<dyn Marks>>) -> Option<Rc<dyn Marks>> {
        std::mem::replace(&mut self.marks, marks)
    }

    /// Anchors isolated since the last call, in order, repetitions included.
    pub fn take_isolated(&mut self) -> Vec<Isolated> {
        std::mem::take(&mut self.isolated)
    }

    /// Findings reported since the last call, in order.
    pub fn take_reports(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }

    /// The table that the pass tracks.
    pub fn tracked(&mut self) -> Option<&mut Tracked> {
        self.tracked.as_deref_mut()
    }

    /// Lets sweeps visit one node alone.
    pub fn set_only(&mut self, only: Option<NodeId>) {
        self.only = only;
    }

    /// The value of an expression of an item, in a frame that starts with `frame`.
    pub fn eval(&mut self, entry: EntryId, expr: ExprId, frame: &[Value]) -> Result<Value, Failure> {
        let program = self.program;
        let Some(linked) = program.linked(entry) else { return Ok(Value::None) };
        let code = self.code(linked);
        let base = self.enter(frame, code.locals);
        let value = self.expr(code, expr, base);
        self.reach(entry);
        self.leave(base);
        self.settle(value)
    }

    /// Whether a condition of an item holds. Cheaper than [`Machine::eval`].
    pub fn test(&mut self, entry: EntryId, expr: ExprId, frame: &[Value]) -> Result<bool, Failure> {
        let program = self.program;
        let Some(linked) = program.linked(entry) else { return Ok(false) };
        let code = self.code(linked);
        let known = self.settled_in_frame(code, expr, frame);
        if let Some(holds) = known.or_else(|| self.alike_in_frame(code, expr, frame)) {
            return Ok(holds);
        }
        let base = self.enter(frame, code.locals);
        let value = self.condition(code, expr, base);
        self.reach(entry);
        self.decide(entry, expr, value);
        self.leave(base);
        self.settle(value)
    }

    /// The value of a function.
    pub fn call(&mut self, function: Sym, args: &[Value]) -> Result<Value, Failure> {
        match self.program.entry(Kind::Fn, function).and_then(|id| self.program.linked(id)) {
            Some(linked) => match linked.data {
                Data::Fn { value } => self.eval(linked.code.entry, value, args),
                _ => Ok(Value::None),
            },
            None => Ok(Value::None),
        }
    }

    /// Hands out the failure that evaluation met, if any.
    pub(super) fn settle<T>(&mut self, value: T) -> Result<T, Failure> {
        match self.pending.take() {
            Some(failure) => Err(failure),
            None => Ok(value),
        }
    }

    /// Opens a frame: `args`, then none. Gives its base.
    pub(super) fn enter(&mut self, args: &[Value], locals: u32) -> usize {
        let base = self.stack.len();
        self.stack.extend_from_slice(args);
        self.grow(base + locals as usize);
        base
    }

    /// Gives the frame on top all its locals.
    #[inline]
    pub(super) fn grow(&mut self, end: usize) {
        while self.stack.len() < end {
            self.stack.push(Value::None);
        }
    }

    pub(super) fn leave(&mut self, base: usize) {
        self.stack.truncate(base);
    }

    /// Counts a call in; false when calls are nested too deeply.
    pub(super) fn descend(&mut self) -> bool {
        let marker = 0u8;
        let here = std::ptr::from_ref(&marker).addr();
        if self.calls == 0 {
            self.stack_start = here;
        }
        if self.calls >= MAX_CALLS || self.stack_start.abs_diff(here) > MAX_STACK {
            self.pending.get_or_insert_with(|| {
                Failure::mechanism("too-deep", "functions call each other too deeply")
            });
            return false;
        }
        if !self.spend(CALL) {
            return false;
        }
        self.calls += 1;
        true
    }

    /// Takes steps; false when there are not so many left, and from then on.
    #[inline]
    pub(super) fn spend(&mut self, steps: u64) -> bool {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                true
            }
            None => self.exhausted(),
        }
    }

    #[cold]
    fn exhausted(&mut self) -> bool {
        self.steps = 0;
        self.pending.get_or_insert_with(|| {
            let message = "the rule does not come to an end: it has gone through too many elements";
            Failure::mechanism("too-long", message)
        });
        false
    }

    /// No steps are left: nothing can be evaluated any more.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps == 0
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    // Reads. Each goes to the flat view while that is true of the node.

    /// The flat view, if that is true of the edges of the node.
    #[inline]
    fn flat_edges(&self, node: NodeId) -> Option<&'a Dense> {
        let dense = self.dense?;
        ((node.0 as usize) < dense.slots() && !self.edited.is_rewired(node)).then_some(dense)
    }

    /// The flat view, if that is true of the node itself.
    #[inline]
    pub(super) fn clean(&self, node: NodeId) -> Option<&'a Dense> {
        let dense = self.dense?;
        ((node.0 as usize) < dense.slots() && !self.edited.is_rewritten(node)).then_some(dense)
    }

    #[inline]
    pub(super) fn node(&self, node: NodeId) -> Option<&Arc<Node>> {
        match self.clean(node) {
            Some(dense) => dense.node(node),
            None => self.edit.get_node(node),
        }
    }

    /// The type of a node, which lies beside those of the nodes around it in the flat view.
    #[inline]
    pub(super) fn ty(&self, node: NodeId) -> Option<Sym> {
        match self.clean(node) {
            Some(dense) => dense.ty(node),
            None => self.edit.get_node(node).map(|node| node.ty),
        }
    }

    pub(super) fn has_node(&self, node: NodeId) -> bool {
        self.node(node).is_some()
    }

    pub(super) fn desc(&self, anchor: Anchor) -> Option<&Arc<TensorDesc>> {
        let node = self.node(anchor.node())?;
        let ports = if anchor.is_in() { &node.inputs } else { &node.outputs };
        ports.get(anchor.index() as usize).map(|port| &port.desc)
    }

    #[inline]
    pub(super) fn producer(&self, input: Input) -> Option<Output> {
        match self.flat_edges(input.node) {
            Some(dense) => {
                let number = dense.input(input);
                if !dense.inputs(input.node).contains(&number) {
                    return None;
                }
                dense.producer(number)
            }
            None => self.edit.producer(input),
        }
    }

    /// The readers of `output` in the flat view, if that is true of it.
    #[inline]
    pub(super) fn flat_readers(&self, output: Output) -> Option<&'a [Input]> {
        let dense = self.flat_edges(output.node)?;
        let number = dense.output(output);
        let known = dense.outputs(output.node).contains(&number);
        Some(if known { dense.consumers(number) } else { &[] })
    }

    pub(super) fn sole_reader(&self, output: Output) -> Option<Input> {
        match self.flat_readers(output) {
            Some(&[reader]) => Some(reader),
            Some(_) => None,
            None => self.edit.sole_consumer(output),
        }
    }

    /// All nodes of a graph, each followed by those of its subgraphs, in list order.
    pub fn all_nodes(&self, graph: GraphId) -> Vec<NodeId> {
        match self.dense {
            Some(dense) if graph == GraphId::ROOT && self.lists_clean => dense.order().to_vec(),
            _ => self.near().all_nodes(graph),
        }
    }

    /// The nodes of a graph, or all nodes with those of subgraphs, as one shared list.
    pub(super) fn node_list(&mut self, graph: GraphId, all: bool) -> Option<Arc<List>> {
        self.see_list(graph, all);
        if let Some(list) = self.lists.get(&(graph, all)) {
            return Some(list.clone());
        }
        self.edit.get_graph(graph)?;
        let nodes: Arc<[NodeId]> = match self.dense {
            Some(dense) if all && graph == GraphId::ROOT && self.lists_clean => dense.shared_order(),
            _ if all => self.near().all_nodes(graph).into(),
            _ => match self.edit.whole_list(graph) {
                Some(list) => list.clone(),
                None => self.near().nodes(graph).collect(),
            },
        };
        self.spend(nodes.len() as u64);
        let list = Arc::new(List::new(super::Items::Nodes(nodes)));
        self.lists.insert((graph, all), list.clone());
        Some(list)
    }
}
