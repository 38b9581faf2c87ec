//! Someone who looks on while statements are done.
//!
//! Promise: watching changes no result, and costs a look at an `Option` a statement while nobody watches. What is
//! asked of a machine on the side ([`Machine::aside`]) leaves no trace in the run.

use super::code::Code;
use super::program::Linked;
use super::{EntryId, Failure, Machine, Value};
use crate::graph::NodeId;
use crate::lang::hir::{ChainStep, ExprId, Local, Statement};

/// A frame on the stack of a machine: the item whose body it belongs to, and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    pub entry: EntryId,
    base: usize,
    locals: u32,
}

/// Is told of statements before and after they are done. Each `enter`, `before` and `step` is followed by its `leave`.
pub trait Watch {
    /// The nodes that a rule with a list of its own is going to look at, with that list and the rule's condition.
    fn listed(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        rule: (ExprId, Option<ExprId>),
        nodes: &[NodeId],
    );

    /// A body that is for certain nodes comes to the one in `frame`. If its condition does not hold, nothing follows
    /// but the `leave`.
    fn enter(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        condition: Option<ExprId>,
        frame: &[Value],
        holds: bool,
    );

    /// A statement is about to be done.
    fn before(&self, machine: &mut Machine<'_>, spot: Spot, statement: &Statement);

    /// A step of a chain is about to be done.
    fn step(&self, machine: &mut Machine<'_>, spot: Spot, step: &ChainStep);

    /// The loop that was begun last has its next element in its local.
    fn round(&self, machine: &mut Machine<'_>, spot: Spot, local: Local);

    /// What was begun last is over.
    fn leave(&self, machine: &mut Machine<'_>);
}

impl<'a> Machine<'a> {
    /// Lets someone look on from now on.
    pub fn set_watch(&mut self, watch: Option<&'a dyn Watch>) {
        self.watch = watch;
    }

    pub fn watch(&self) -> Option<&'a dyn Watch> {
        self.watch
    }

    /// The code of an item: as it was written if somebody looks on, else simplified.
    #[inline]
    pub(super) fn code(&self, linked: &'a Linked) -> &'a Code {
        if self.is_observed() { &linked.code } else { &linked.plain }
    }

    /// Whether somebody wants to know how results come about.
    #[inline]
    pub(super) fn is_observed(&self) -> bool {
        self.trace.is_some() || self.tally.is_some() || self.watch.is_some()
    }

    /// The locals of a frame as they are now.
    pub fn frame_at(&self, spot: Spot) -> Vec<Value> {
        let end = (spot.base + spot.locals as usize).min(self.stack.len());
        self.stack.get(spot.base..end).unwrap_or_default().to_vec()
    }

    /// A local of a frame.
    pub fn local_at(&self, spot: Spot, local: Local) -> &Value {
        self.stack.get(spot.base + local as usize).unwrap_or(&Value::None)
    }

    /// Asks something beside the run: counters, steps and tallies are as before afterwards.
    pub fn aside<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let (counters, steps) = (self.counters.clone(), self.steps);
        let (watch, tally) = (self.watch.take(), self.tally.take());
        let pending = self.pending.take();
        let answer = ask(self);
        (self.counters, self.steps) = (counters, steps);
        (self.watch, self.tally) = (watch, tally);
        self.pending = pending;
        answer
    }

    pub(super) fn spot(code: &Code, base: usize) -> Spot {
        Spot { entry: code.entry, base, locals: code.declared }
    }

    /// Does something under the eyes of whoever watches.
    pub(super) fn watched<T>(
        &mut self,
        watch: &dyn Watch,
        act: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let result = act(self);
        watch.leave(self);
        result
    }
}
