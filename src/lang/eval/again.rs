//! Rounds of loops that an earlier run has gone through already.
//!
//! Rules that only look go through all nodes of a graph and report what they find. After an edit of other rules they do so again,
//! on a graph that differs in a handful of nodes. Promise: a round is taken over only if what it found rests on nothing that is
//! another thing now, so that it would find it again; it then costs a look at what it read. What a round read is recorded while it
//! runs: the nodes ([`Machine::see`]), and what no node stands for ([`Told`]). Who read more than that can name, changed anything,
//! failed, or ended its loop runs again each time. Recording changes no result.
//!
//! INVARIANT same-graphs: runs are compared only if all that is said of graphs is the same in both, so that need not be recorded
//! ([`Apart`] tells; it also counts what is around a node as its own, and so kinds of nodes may be used).

use rustc_hash::FxHashMap;

use super::code::{Code, Op};
use super::exec::{Flow, Report};
use super::trace::{ReadLog, Told};
use super::{EntryId, Failure, Machine, Value};
use crate::graph::{Apart, NodeId};
use crate::lang::facts::Fact;
use crate::lang::hir::{ExprId, Local};

/// No more than so much is kept of one run, counted in nodes: 32 MB.
const MOST_KEPT: usize = 1 << 23;

/// And so much is recorded for it, repetitions included.
const MOST_RECORDED: usize = 4 * MOST_KEPT;

/// What else is kept, beside a node.
const ROUND: usize = size_of::<Round>() / size_of::<NodeId>() + 2;
const TOLD: usize = size_of::<Told>() / size_of::<NodeId>();
const REPORT: usize = size_of::<Report>() / size_of::<NodeId>();

/// Stands for the list of a subject.
const SUBJECT: ExprId = ExprId::MAX;

/// A loop, with what was around it when it began: all that its rounds find in their frame, but the element.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Place {
    entry: EntryId,
    list: ExprId,
    around: Vec<Value>,
}

/// A part of one of the lists of [`Rounds`].
#[derive(Clone, Copy, Debug)]
struct Part {
    from: u32,
    to: u32,
}

impl Part {
    fn of<T>(self, list: &[T]) -> &[T] {
        list.get(self.from as usize..self.to as usize).unwrap_or_default()
    }

    /// Copies what is behind `from` on to a list.
    fn push<T: Clone>(more: &[T], list: &mut Vec<T>) -> Part {
        let from = list.len() as u32;
        list.extend_from_slice(more);
        Part { from, to: list.len() as u32 }
    }
}

/// What a loop did at one node.
#[derive(Clone, Copy, Debug)]
struct Round {
    nodes: Part,
    own: Part,
    told: Part,
    reports: Part,
    steps: u64,
}

/// The rounds of a run, with what each of them read and reported.
#[derive(Debug, Default)]
pub struct Rounds {
    size: usize,
    taken_over: usize,
    places: FxHashMap<Place, usize>,
    /// By node.
    loops: Vec<FxHashMap<NodeId, Round>>,
    nodes: Vec<NodeId>,
    told: Vec<Told>,
    reports: Vec<Report>,
}

impl Rounds {
    /// About how much is kept.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many rounds there are, and how many of them are those of an earlier run.
    pub fn count(&self) -> (usize, usize) {
        (self.loops.iter().map(FxHashMap::len).sum(), self.taken_over)
    }

    fn push(
        &mut self,
        turn: usize,
        node: NodeId,
        Reads { nodes, own, told }: Reads<'_>,
        found: (&[Report], u64),
    ) {
        let Some(rounds) = self.loops.get_mut(turn) else { return };
        self.size += ROUND + nodes.len() + own.len() + TOLD * told.len() + REPORT * found.0.len();
        let [nodes, own] = [nodes, own].map(|nodes| Part::push(nodes, &mut self.nodes));
        let told = Part::push(told, &mut self.told);
        let reports = Part::push(found.0, &mut self.reports);
        rounds.insert(node, Round { nodes, own, told, reports, steps: found.1 });
    }
}

/// What a round read, each node once.
struct Reads<'a> {
    nodes: &'a [NodeId],
    own: &'a [NodeId],
    told: &'a [Told],
}

/// What a machine that takes rounds over works with.
pub struct Again<'a> {
    earlier: Option<(&'a Rounds, &'a Apart)>,
    now: Rounds,
    /// How much may still be recorded.
    left: usize,
    /// By node, the last round that has seen it.
    seen: Vec<u32>,
    round: u32,
}

/// A loop that is under way.
pub struct Turn<'a> {
    now: usize,
    earlier: Option<&'a FxHashMap<NodeId, Round>>,
}

/// Where a round began.
struct Begun {
    epoch: u64,
    steps: u64,
    reports: usize,
}

impl<'a> Again<'a> {
    /// Takes rounds of an earlier run over, if one is given; how far its graph and this one are apart.
    pub fn new(earlier: Option<(&'a Rounds, &'a Apart)>) -> Again<'a> {
        Again { earlier, now: Rounds::default(), left: MOST_RECORDED, seen: Vec::new(), round: 0 }
    }

    fn turn(&mut self, place: Place) -> Turn<'a> {
        let earlier = self.earlier.and_then(|(rounds, _)| rounds.loops.get(*rounds.places.get(&place)?));
        let loops = &mut self.now.loops;
        let now = *self.now.places.entry(place).or_insert_with(|| {
            loops.push(FxHashMap::default());
            loops.len() - 1
        });
        Turn { now, earlier }
    }

    /// Whether all that a round read is the same.
    fn holds(&self, machine: &mut Machine<'a>, round: &Round) -> bool {
        let Some((rounds, apart)) = self.earlier else { return false };
        let host = machine.host;
        round.nodes.of(&rounds.nodes).iter().all(|&node| apart.is_same(node))
            && round.own.of(&rounds.nodes).iter().all(|&node| apart.is_same_in_itself(node))
            && round.told.of(&rounds.told).iter().all(|told| match *told {
                Told::Id(node) => apart.has_same_id(node),
                Told::Order(node, to) => apart.are_in_same_order(node, to),
                Told::List { graph, all } => apart.is_same_list(graph, all),
                Told::Reaches { from, to, holds } => host.reaches(machine, from, to) == holds,
                Told::Mark(_) => false,
            })
    }

    /// Keeps what a round read, each node once.
    fn keep(&mut self, turn: usize, node: NodeId, log: &mut ReadLog, found: (&[Report], u64)) {
        let ReadLog { nodes, own, told, .. } = log;
        self.left = self.left.saturating_sub(nodes.len() + own.len() + TOLD * told.len());
        self.round += 1;
        let (seen, round) = (&mut self.seen, self.round);
        // Who read the edges of a node is in the first.
        for nodes in [&mut *nodes, &mut *own] {
            nodes.retain(|node| {
                let at = node.0 as usize;
                if seen.len() <= at {
                    seen.resize(at + 1, 0);
                }
                std::mem::replace(&mut seen[at], round) != round
            });
        }
        self.put(turn, node, Reads { nodes, own, told }, found);
    }

    fn put(&mut self, turn: usize, node: NodeId, reads: Reads<'_>, found: (&[Report], u64)) {
        if self.left > 0 && self.now.size < MOST_KEPT {
            self.now.push(turn, node, reads, found);
        } else {
            self.left = 0;
            self.now = Rounds::default();
        }
    }
}

impl<'a> Machine<'a> {
    /// Records rounds from now on, and takes over what is the same.
    pub fn set_again(&mut self, again: Again<'a>) {
        self.again = Some(Box::new(again));
    }

    /// What was recorded. `None`: nothing, too much, or the state is no longer the one that the run began with.
    pub fn take_rounds(&mut self) -> Option<Rounds> {
        let again = self.again.take().filter(|again| again.left > 0)?;
        self.log.is_empty().then_some(again.now)
    }

    /// Begins a loop over the nodes that the body of an entry is for; `None`: it is run as it is.
    pub fn subject_turn(&mut self, entry: EntryId, around: &[Value]) -> Option<Turn<'a>> {
        self.turn(|| Place { entry, list: SUBJECT, around: around.to_vec() })
    }

    /// Begins a loop of a body, likewise. What only expressions have left in the frame is not around it.
    pub(super) fn loop_turn(
        &mut self,
        code: &Code,
        list: ExprId,
        (local, base): (Local, usize),
    ) -> Option<Turn<'a>> {
        self.again.as_ref()?;
        let around = self.around(code, (local, base));
        self.turn(|| Place { entry: code.entry, list, around })
    }

    /// What is in a frame before the element of a loop, but for what only expressions have left there.
    pub(super) fn around(&self, code: &Code, (local, base): (Local, usize)) -> Vec<Value> {
        let mut around = self.stack.get(base..base + local as usize).unwrap_or_default().to_vec();
        for op in &code.ops {
            if let Op::Let { local, .. }
            | Op::Quantifier { local, .. }
            | Op::Where { local, .. }
            | Op::Each { local, .. } = op
                && let Some(left) = around.get_mut(*local as usize)
            {
                *left = Value::None;
            }
        }
        around
    }

    fn turn(&mut self, place: impl FnOnce() -> Place) -> Option<Turn<'a>> {
        let is_inner = self.reads.is_some() || self.is_observed() || !self.log.is_empty();
        let again = self.again.as_mut().filter(|_| !is_inner)?;
        Some(again.turn(place()))
    }

    /// Takes a round over, if all that it read is the same.
    fn take_over(&mut self, turn: &Turn<'a>, node: NodeId) -> bool {
        let Some(round) = turn.earlier.and_then(|rounds| rounds.get(&node)) else { return false };
        let Some(mut again) = self.again.take() else { return false };
        let rounds = again.earlier.map(|(rounds, _)| rounds).filter(|_| again.holds(self, round));
        if let Some(rounds) = rounds.filter(|_| self.log.is_empty()) {
            let found = round.reports.of(&rounds.reports);
            self.reports.extend_from_slice(found);
            // A run that is too long is too long again.
            self.spend(round.steps);
            let [nodes, own] = [round.nodes, round.own].map(|part| part.of(&rounds.nodes));
            let reads = Reads { nodes, own, told: round.told.of(&rounds.told) };
            again.put(turn.now, node, reads, (found, round.steps));
            again.now.taken_over += 1;
        }
        self.again = Some(again);
        rounds.is_some()
    }

    /// Begins to record a round.
    fn begin_again(&mut self) -> Begun {
        self.reads = Some(ReadLog::of_round());
        Begun { epoch: self.epoch(), steps: self.steps, reports: self.reports.len() }
    }

    /// Ends what [`Machine::begin_again`] began; `goes_on`: nothing has failed, and the loop goes on.
    fn end_again(&mut self, turn: &Turn<'a>, node: NodeId, begun: &Begun, goes_on: bool) {
        let Some(mut log) = self.reads.take() else { return };
        let is_looking = goes_on && !log.everything && self.epoch() == begun.epoch && self.log.is_empty();
        if let Some(again) = self.again.as_mut().filter(|again| is_looking && again.left > 0) {
            let found = self.reports.get(begun.reports..).unwrap_or_default();
            again.keep(turn.now, node, &mut log, (found, begun.steps.saturating_sub(self.steps)));
        }
    }

    /// The round of a subject at a node.
    pub fn again(
        &mut self,
        turn: &Turn<'a>,
        node: NodeId,
        body: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.round(turn, node, |machine| body(machine).map(|()| Flow::Next)).map(|_| ())
    }

    /// The round of a loop at a node.
    pub(super) fn round(
        &mut self,
        turn: &Turn<'a>,
        node: NodeId,
        body: impl FnOnce(&mut Self) -> Result<Flow, Failure>,
    ) -> Result<Flow, Failure> {
        if self.take_over(turn, node) {
            return self.settle(Flow::Next);
        }
        let begun = self.begin_again();
        let result = body(self);
        self.end_again(turn, node, &begun, matches!(result, Ok(Flow::Next)));
        result
    }
}

/// Topological ids that a sort goes by. Each edit may shift them all, and the order of most nodes stays.
pub(super) struct Ranks {
    of: ExprId,
    otherwise: Option<ExprId>,
    nodes: Vec<NodeId>,
    /// Each key is one.
    only: bool,
}

impl Machine<'_> {
    /// Records the topological id of a node. It changes with no edit of the node, and where that matters somebody records a round.
    pub(super) fn see_id(&mut self, node: NodeId) {
        if let Some(reads) = self.reads.as_mut().filter(|reads| reads.of_round) {
            reads.tell(Told::Id(node));
        }
    }

    /// How the keys of a sort are found if they are topological ids, or something else where there is none, and a round is recorded.
    pub(super) fn ranks(&self, code: &Code, key: ExprId) -> Option<Ranks> {
        self.reads.as_ref().filter(|reads| reads.of_round)?;
        let (id, otherwise) = match code.ops[key as usize] {
            Op::Coalesce(id, otherwise) => (id, Some(otherwise)),
            _ => (key, None),
        };
        let Op::Fact { fact: Fact::NodeId, base: of, .. } = code.ops[id as usize] else { return None };
        Some(Ranks { of, otherwise, nodes: Vec::new(), only: true })
    }

    /// The next key of such a sort.
    pub(super) fn rank(&mut self, code: &Code, ranks: &mut Ranks, base: usize) -> Value {
        match self.expr(code, ranks.of, base) {
            Value::Node(node) if self.has_node(node) => {
                self.see_own(node);
                ranks.nodes.push(node);
                Value::Int(self.edit.topo_id(node))
            }
            of => {
                of.as_node().into_iter().for_each(|node| self.see_own(node));
                ranks.only = false;
                ranks.otherwise.map_or(Value::None, |otherwise| self.expr(code, otherwise, base))
            }
        }
    }

    /// Records what the sort went by: the order of the nodes, or if there are other keys the ids themselves.
    pub(super) fn see_ranks(&mut self, ranks: Option<Ranks>) {
        let Some(Ranks { mut nodes, only, .. }) = ranks else { return };
        nodes.sort_by_key(|&node| (self.edit.topo_id(node), node));
        nodes.dedup();
        let Some(reads) = &mut self.reads else { return };
        match only {
            true => reads.told.extend(nodes.windows(2).map(|pair| Told::Order(pair[0], pair[1]))),
            false => reads.told.extend(nodes.into_iter().map(Told::Id)),
        }
    }
}
