//! What an evaluation can write down beside its result: the nodes it read, and the steps that decided it.

use rustc_hash::FxHashSet;

use super::regroup::Step;
use super::{EntryId, Machine, Subject, Value};
use crate::graph::{Anchor, Apart, GraphId, NodeId, Sym};
use crate::lang::hir::ExprId;

/// The nodes whose edges, attributes or tensors were read. A result stays valid while none of them changes and
/// `everything` is false or nothing changes at all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reads {
    pub nodes: FxHashSet<NodeId>,
    /// A list of nodes, a name, reachability or a whole table was asked for.
    pub everything: bool,
}

/// Reads as they are recorded: in order, with repetitions.
#[derive(Default)]
pub(super) struct ReadLog {
    pub nodes: Vec<NodeId>,
    /// Nodes whose edges were not read.
    pub own: Vec<NodeId>,
    pub told: Vec<Told>,
    /// What was done to the groups of a table, and asked of them ([`super::regroup`]).
    pub grouped: Vec<Step>,
    pub noted: Vec<Noted>,
    /// Cells of matrices that were asked: see [`super::cells::Said`].
    pub cells: u64,
    pub everything: bool,
    /// A round of a loop is recorded: edges count apart, what no node stands for is told, and graphs are vouched for
    /// ([`super::again`]).
    pub of_round: bool,
}

/// What was read that no node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The topological id of a node.
    Id(NodeId),
    /// Which of two nodes has the lower topological id.
    Order(NodeId, NodeId),
    /// The nodes of a graph; `all`: and those of subgraphs.
    List { graph: GraphId, all: bool },
    /// Whether there is a path.
    Reaches { from: NodeId, to: NodeId, holds: bool },
    /// Marks of an anchor.
    Mark(Anchor),
    /// What a note said: the number of a [`Noted`].
    Note(u32),
}

/// What a note said; none: there was none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Noted {
    pub note: Sym,
    pub subject: Subject,
    pub value: Value,
}

/// Where the reads of a result begin in a log.
pub(super) struct Mark {
    nodes: usize,
    own: usize,
    told: usize,
    noted: usize,
    cells: u64,
    everything: bool,
}

/// The reads of a result.
#[derive(Debug, PartialEq)]
pub struct Seen {
    nodes: Box<[NodeId]>,
    own: Box<[NodeId]>,
    told: Box<[Told]>,
    noted: Box<[Noted]>,
    cells: u64,
    everything: bool,
}

impl ReadLog {
    pub fn of_round() -> ReadLog {
        ReadLog { of_round: true, ..ReadLog::default() }
    }

    /// Is empty again, and keeps its room.
    pub fn clear(&mut self) {
        let ReadLog { nodes, own, told, noted, cells, everything, of_round: _, grouped } = self;
        grouped.clear();
        nodes.clear();
        own.clear();
        told.clear();
        noted.clear();
        (*cells, *everything) = (0, false);
    }

    /// Holds each node once. Who read the edges of a node is in the first list.
    pub fn tidy(&mut self) {
        let ReadLog { nodes, own, .. } = self;
        for nodes in [&mut *nodes, &mut *own] {
            nodes.sort_unstable();
            nodes.dedup();
        }
        own.retain(|node| nodes.binary_search(node).is_err());
    }

    #[inline]
    pub fn see(&mut self, node: NodeId) {
        if self.nodes.last() != Some(&node) {
            self.nodes.push(node);
        }
    }

    /// Records a node whose edges were not read.
    #[inline]
    pub fn see_own(&mut self, node: NodeId) {
        let nodes = if self.of_round { &mut self.own } else { &mut self.nodes };
        if nodes.last() != Some(&node) {
            nodes.push(node);
        }
    }

    /// Records what no node stands for.
    pub fn tell(&mut self, told: Told) {
        match self.of_round {
            true => self.told.push(told),
            false => self.everything = true,
        }
    }

    /// Records what a note said.
    pub fn note(&mut self, noted: impl FnOnce() -> Noted) {
        match self.of_round {
            true => self.noted.push(noted()),
            false => self.everything = true,
        }
    }

    /// The reads of a result begin here.
    pub fn begin(&mut self) -> Mark {
        let everything = std::mem::take(&mut self.everything);
        let cells = std::mem::take(&mut self.cells);
        let [nodes, own] = [&self.nodes, &self.own].map(Vec::len);
        Mark { nodes, own, told: self.told.len(), noted: self.noted.len(), cells, everything }
    }

    /// The reads of a result end here.
    pub fn end(&mut self, mark: &Mark) {
        self.everything |= mark.everything;
        self.cells |= mark.cells;
    }

    /// What was read since the mark; before [`ReadLog::end`].
    pub fn since(&self, mark: &Mark) -> Seen {
        let [nodes, own] = [(&self.nodes, mark.nodes), (&self.own, mark.own)].map(|(nodes, from)| {
            let mut nodes = nodes.get(from..).unwrap_or_default().to_vec();
            nodes.sort_unstable();
            nodes.dedup();
            nodes.into()
        });
        let told = self.told.get(mark.told..).unwrap_or_default().into();
        let noted = self.noted.get(mark.noted..).unwrap_or_default().into();
        Seen { nodes, own, told, noted, cells: self.cells, everything: self.everything }
    }

    /// A result is used again.
    pub fn see_again(&mut self, seen: &Seen) {
        self.nodes.extend_from_slice(&seen.nodes);
        self.own.extend_from_slice(&seen.own);
        self.told.extend_from_slice(&seen.told);
        self.noted.extend_from_slice(&seen.noted);
        self.cells |= seen.cells;
        self.everything |= seen.everything;
    }
}

impl Machine<'_> {
    /// Starts a trace.
    pub fn record_trace(&mut self) {
        self.trace = Some(Box::default());
    }

    /// Stops tracing and gives the events.
    pub fn take_trace(&mut self) -> Vec<Event> {
        self.trace.take().map(|trace| trace.events).unwrap_or_default()
    }

    /// Starts recording what is read.
    pub fn record_reads(&mut self) {
        self.begin_record(Box::default());
    }

    pub(super) fn begin_record(&mut self, log: Box<ReadLog>) {
        self.records += 1;
        self.reads = Some(log);
    }

    /// Which record what is read goes to.
    pub(super) fn record_number(&self) -> Option<u64> {
        self.reads.as_ref().map(|_| self.records)
    }

    /// Stops recording and gives what was read.
    pub fn take_reads(&mut self) -> Reads {
        let log = self.reads.take().unwrap_or_default();
        Reads { nodes: log.nodes.into_iter().collect(), everything: log.everything }
    }

    /// Starts recording what is read, as for a round of a loop.
    pub fn record_round(&mut self) {
        self.begin_record(Box::new(ReadLog::of_round()));
    }

    /// Stops recording and gives what was read of the graph, if that is all that was looked at. Paths count as more. `named`: nodes
    /// whose names were read beside.
    pub fn take_seen(&mut self, named: impl Iterator<Item = NodeId>) -> Option<Seen> {
        let mut log = self.reads.take()?;
        named.for_each(|node| log.see_own(node));
        let mark = ReadLog::default().begin();
        let seen = log.since(&mark);
        let of_graph = |told: &Told| !matches!(told, Told::Reaches { .. } | Told::Note(_));
        let is_all = !log.everything && self.grids.is_empty() && seen.told.iter().all(of_graph);
        (is_all && seen.noted.is_empty()).then_some(seen)
    }

    /// Records that the node was looked at.
    #[inline]
    pub(super) fn see(&mut self, node: NodeId) {
        if let Some(reads) = &mut self.reads {
            reads.see(node);
        }
    }

    /// Records that the node was looked at, but not its edges.
    #[inline]
    pub(super) fn see_own(&mut self, node: NodeId) {
        if let Some(reads) = &mut self.reads {
            reads.see_own(node);
        }
    }

    /// Records that more was looked at than can be named.
    #[inline]
    pub(super) fn see_everything(&mut self) {
        if let Some(reads) = &mut self.reads {
            reads.everything = true;
        }
    }

    /// Records that something was looked at which is said of a graph.
    pub(super) fn see_graph(&mut self) {
        if let Some(reads) = &mut self.reads {
            reads.everything |= !reads.of_round;
        }
    }

    /// Records what no node stands for.
    pub(super) fn tell(&mut self, told: Told) {
        if let Some(reads) = &mut self.reads {
            reads.tell(told);
        }
    }

    /// Records that marks of an anchor were looked at. They change with no edit of a node, and where that matters somebody records
    /// a round.
    pub(super) fn see_marks(&mut self, anchor: Anchor) {
        if let Some(reads) = self.reads.as_mut().filter(|reads| reads.of_round) {
            reads.tell(Told::Mark(anchor));
        }
    }

    /// Records that more was done than the log of edits tells.
    pub fn has_acted(&mut self) {
        self.see_everything();
    }

    /// Records that the nodes of a graph were looked at; `all`: and those of subgraphs.
    pub(super) fn see_list(&mut self, graph: GraphId, all: bool) {
        self.tell(Told::List { graph, all });
    }
}

/// What an answer about a node rests on beside the node itself, its edges, and the graphs around it.
#[derive(Clone, Debug)]
pub struct Beyond {
    nodes: Vec<NodeId>,
    told: Vec<Told>,
    everything: bool,
}

impl Beyond {
    /// Whether it is the same in two graphs; also false where that is not known.
    pub fn is_same(&self, apart: &Apart) -> bool {
        !self.everything
            && self.nodes.iter().all(|&node| apart.is_same(node))
            && self.told.iter().all(|told| told.is_same(apart))
    }

    /// Another answer about the node rests on more.
    pub fn extend(&mut self, more: Beyond) {
        self.everything |= more.everything;
        self.nodes.extend(more.nodes);
        self.nodes.sort_unstable();
        self.nodes.dedup();
        self.told.extend(more.told);
    }

    /// About how many bytes are kept.
    pub fn size(&self) -> usize {
        size_of::<Beyond>() + size_of_val(&self.nodes[..]) + size_of_val(&self.told[..])
    }
}

impl Machine<'_> {
    /// What was looked at since the last call beside a node; marks of this anchor do not count.
    pub fn look_beyond(&mut self, node: NodeId, anchor: Option<Anchor>) -> Option<Beyond> {
        let log = self.reads.as_mut()?;
        log.everything |= !log.noted.is_empty();
        let is_within = !log.everything
            && log.nodes.iter().chain(&log.own).all(|&seen| seen == node)
            && log.told.iter().all(|told| matches!(told, Told::Mark(of) if Some(*of) == anchor));
        let beyond = (!is_within).then(|| {
            let nodes = log.nodes.iter().chain(&log.own).copied().filter(|&seen| seen != node);
            let is_known = |told: &Told| !matches!(told, Told::Mark(of) if Some(*of) == anchor);
            let told = log.told.iter().copied().filter(is_known).collect();
            let mut beyond = Beyond { nodes: nodes.collect(), told, everything: log.everything };
            beyond.nodes.sort_unstable();
            beyond.nodes.dedup();
            beyond
        });
        log.clear();
        beyond
    }
}

/// One step of an evaluation.
#[derive(Clone, Debug)]
pub struct Event {
    pub depth: u32,
    /// The item whose expression this is.
    pub entry: EntryId,
    pub expr: ExprId,
    pub kind: EventKind,
    /// The result of the step.
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum EventKind {
    /// A condition of `if`, `where`, a quantifier, a walk step or `require`.
    Condition,
    Compare {
        left: Value,
        right: Value,
    },
    /// A function or a walk.
    Call {
        callee: EntryId,
        args: Vec<Value>,
    },
    /// The case of a `first` that was taken; none: the `else`.
    Case(Option<u32>),
    /// The walk went on to `value`; the expression is the step's.
    Hop {
        from: Value,
    },
}

/// Events in evaluation order. A call stands before what it evaluates.
#[derive(Default)]
pub(super) struct Trace {
    pub events: Vec<Event>,
    pub depth: u32,
}

/// A trace is read by a person; what goes beyond is dropped, and memoized results may be used again.
pub(super) const TRACE_LIMIT: usize = 100_000;

impl Trace {
    /// Adds an event and gives its place, so that the result can be filled in later.
    pub fn push(&mut self, entry: EntryId, expr: ExprId, kind: EventKind, value: Value) -> Option<usize> {
        let place = self.events.len();
        (place < TRACE_LIMIT).then(|| {
            self.events.push(Event { depth: self.depth, entry, expr, kind, value });
            place
        })
    }
}
