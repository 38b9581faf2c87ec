//! What an evaluation can write down beside its result: the nodes it read, and the steps that decided it.

use rustc_hash::FxHashSet;

use super::{EntryId, Value};
use crate::graph::NodeId;
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
    pub everything: bool,
}

impl ReadLog {
    pub fn see(&mut self, node: NodeId) {
        if self.nodes.last() != Some(&node) {
            self.nodes.push(node);
        }
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
