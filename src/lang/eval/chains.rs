//! Chains: requirements one after the other, until one fails.
//!
//! Promise: steps run in the order in which they are written, a loop all its steps for one element before the next; the
//! first requirement that fails ends the chain, and nothing is changed unless all hold.

use std::sync::Arc;

use super::code::Code;
use super::exec::Flow;
use super::{EntryId, Failure, Machine, Value};
use crate::graph::{NodeId, Sym};
use crate::lang::hir::{ChainStep, Entry, StepEnd};
use crate::lang::syntax::ast::{Kind, Refusal};

/// How a chain ended.
#[derive(Clone, Debug)]
pub enum ChainEnd {
    /// The chain is not for this node.
    Elsewhere,
    Kept(Box<Kept>),
    Done,
}

/// A requirement that failed.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The chain, or the `steps` that it uses.
    pub entry: EntryId,
    pub name: Sym,
    pub end: StepEnd,
    /// The frame of the requirement, to render the texts with.
    pub frame: Arc<[Value]>,
}

impl Machine<'_> {
    /// Runs `chain NAME` on a node.
    pub fn run_chain(&mut self, chain: Sym, node: NodeId) -> Result<ChainEnd, Failure> {
        let program = self.program;
        let linked = program.entry(Kind::Chain, chain).and_then(|id| program.linked(id));
        let Some((linked, Entry::Chain(chain))) = linked.map(|linked| (linked, &*linked.entry)) else {
            return Err(Failure::mechanism("unknown", format!("there is no chain `{chain}`")));
        };
        self.inside(self.code(linked), |m, code| {
            let frame = [Value::Graph(m.root()), Value::Node(node)];
            if let Some(condition) = chain.subject.condition
                && m.settled_in_frame(code, condition, &frame) == Some(false)
            {
                return Ok(ChainEnd::Elsewhere);
            }
            let base = m.enter(&frame, code.locals);
            let result = m.whole_chain(code, chain, base);
            m.leave(base);
            result
        })
    }

    fn whole_chain(
        &mut self,
        code: &Code,
        chain: &crate::lang::hir::Chain,
        base: usize,
    ) -> Result<ChainEnd, Failure> {
        let holds = match chain.subject.condition {
            Some(condition) => self.holds(code, condition, base)?,
            None => true,
        };
        match self.watch() {
            None if holds => self.fitting_chain(code, chain, base),
            None => Ok(ChainEnd::Elsewhere),
            Some(watch) => {
                let frame = self.frame(code, base);
                watch.enter(self, code.entry, chain.subject.condition, &frame, holds);
                self.watched(watch, |m| {
                    if holds { m.fitting_chain(code, chain, base) } else { Ok(ChainEnd::Elsewhere) }
                })
            }
        }
    }

    /// A chain that is for its node.
    fn fitting_chain(
        &mut self,
        code: &Code,
        chain: &crate::lang::hir::Chain,
        base: usize,
    ) -> Result<ChainEnd, Failure> {
        if let Some(kept) = self.chain_steps(code, &chain.steps, base)? {
            return Ok(ChainEnd::Kept(kept));
        }
        self.block(code, &chain.then, base)?;
        Ok(ChainEnd::Done)
    }

    /// The requirement that failed.
    fn chain_steps(
        &mut self,
        code: &Code,
        steps: &[ChainStep],
        base: usize,
    ) -> Result<Option<Box<Kept>>, Failure> {
        for step in steps {
            let kept = match self.watch() {
                None => self.chain_step(code, step, base)?,
                Some(watch) => {
                    watch.step(self, Self::spot(code, base), step);
                    self.watched(watch, |m| m.chain_step(code, step, base))?
                }
            };
            if kept.is_some() {
                return Ok(kept);
            }
        }
        Ok(None)
    }

    fn chain_step(
        &mut self,
        code: &Code,
        step: &ChainStep,
        base: usize,
    ) -> Result<Option<Box<Kept>>, Failure> {
        match step {
            ChainStep::Let { local, value } => {
                let value = self.value(code, *value, base)?;
                self.stack[base + *local as usize] = value;
            }
            ChainStep::Attempt { name, body, end } => {
                if self.attempt(code, body, base)?.is_none() {
                    return self.kept(code, base, *name, *end).map(Some);
                }
            }
            ChainStep::Require { name, condition, end } => {
                if !self.holds(code, *condition, base)? {
                    return self.kept(code, base, *name, *end).map(Some);
                }
            }
            ChainStep::For { local, list, steps } => {
                let mut kept = None;
                self.for_loop(code, (*local, *list), None, base, &mut |m| {
                    kept = m.chain_steps(code, steps, base)?;
                    Ok(if kept.is_none() { Flow::Next } else { Flow::Stop })
                })?;
                return Ok(kept);
            }
            ChainStep::Use { group, args, when } => {
                if let Some(when) = when
                    && !self.holds(code, *when, base)?
                {
                    return Ok(None);
                }
                let mut values = Vec::with_capacity(args.len());
                for &arg in args {
                    values.push(self.value(code, arg, base)?);
                }
                if let Some(kept) = self.use_steps(*group, &values)? {
                    return Ok(Some(kept));
                }
            }
        }
        Ok(None)
    }

    /// The chain ends at a step that does not hold.
    fn kept(&self, code: &Code, base: usize, name: Sym, end: StepEnd) -> Result<Box<Kept>, Failure> {
        let frame = self.frame(code, base);
        if let (Refusal::Fail, Some(text)) = (end.refusal, end.otherwise) {
            let cause = super::Cause::Text { text, frame };
            return Err(Failure { cause, entry: Some(code.entry), places: Vec::new(), stands: false });
        }
        Ok(Box::new(Kept { entry: code.entry, name, end, frame }))
    }

    fn use_steps(&mut self, group: Sym, args: &[Value]) -> Result<Option<Box<Kept>>, Failure> {
        let program = self.program;
        let linked = program.entry(Kind::Steps, group).and_then(|id| program.linked(id));
        let Some((linked, Entry::Steps { steps, .. })) = linked.map(|linked| (linked, &*linked.entry)) else {
            return Err(Failure::mechanism("unknown", format!("there are no steps `{group}`")));
        };
        if !self.descend() {
            return self.settle(None);
        }
        let result = self.inside(self.code(linked), |m, code| {
            let base = m.enter(args, code.locals);
            let result = m.chain_steps(code, steps, base);
            m.leave(base);
            result
        });
        self.calls -= 1;
        result
    }
}
