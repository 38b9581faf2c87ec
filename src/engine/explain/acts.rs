//! Statements that decided: the conditions and lists on the way to an `isolate`, or to nothing.
//!
//! Promise: no statement is done. The walk ends where the first one would change the graph.

use super::why::{Frame, Why};
use crate::graph::Anchor;
use crate::lang::eval::Value;
use crate::lang::hir::{Block, Entry, Statement};
use crate::lang::syntax::ast::Kind;

/// Rounds of a loop that are gone through.
const ROUNDS: usize = 1024;

/// The rounds of loops that are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// The first, if none isolates anything.
    Any,
    /// The first that isolates something, or changes the graph.
    Isolating,
    /// The first that isolates the anchor asked about.
    IsolatingSubject,
}

/// What a walk over statements met.
#[derive(Clone, Debug, Default)]
pub struct Met {
    pub isolated: Vec<Anchor>,
    /// A statement would have changed the graph.
    pub changes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Stop,
}

impl Why<'_, '_, '_> {
    /// Tells the way through a block. Of a loop one round is told: the best of those that are wanted. A loop without
    /// any is left out.
    pub fn acts(&mut self, frame: &mut Frame, block: &Block, subject: (Anchor, Wanted), depth: u32) -> Met {
        let mut met = Met::default();
        self.block(frame, block, subject, depth, &mut met);
        met
    }

    fn block(
        &mut self,
        frame: &mut Frame,
        block: &Block,
        subject: (Anchor, Wanted),
        depth: u32,
        met: &mut Met,
    ) -> Flow {
        for statement in block {
            if self.act(frame, statement, subject, depth, met) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Next
    }

    fn act(
        &mut self,
        frame: &mut Frame,
        statement: &Statement,
        subject: (Anchor, Wanted),
        depth: u32,
        met: &mut Met,
    ) -> Flow {
        match statement {
            Statement::Let { local, value: part } => {
                let value = self.value(frame, *part);
                frame.bind_let(*local, value, *part);
                Flow::Next
            }
            Statement::If { arms, otherwise } => {
                for (condition, block) in arms {
                    self.why(frame, *condition, depth);
                    if self.truth(frame, *condition) {
                        return self.block(frame, block, subject, depth + 1, met);
                    }
                }
                self.block(frame, otherwise, subject, depth, met)
            }
            Statement::For { local, list, body } => {
                let elements = self.value(frame, *list);
                let start = self.steps.len();
                self.leaf(frame, *list, depth);
                let (flow, best) = self.rounds(frame, *local, &elements, body, subject, depth + 1, met);
                if best < subject.1 {
                    self.steps.truncate(start);
                    self.shape.truncate(start);
                }
                flow
            }
            Statement::Do { action, args, .. } => {
                let slots: Vec<_> = args.iter().map(|&arg| self.value(frame, arg)).collect();
                let program = self.machine.program();
                let callee = program.entry(Kind::Action, *action);
                let block = callee.and_then(|id| program.hir(id)).and_then(|hir| match &**hir {
                    Entry::Action { block, .. } => Some(block),
                    _ => None,
                });
                let (Some(entry), Some(block)) = (callee, block) else { return Flow::Next };
                // Actions cannot call each other in a circle, so this ends.
                self.block(&mut Frame::new(entry, &slots), block, subject, depth, met);
                if met.changes { Flow::Stop } else { Flow::Next }
            }
            Statement::Isolate { target, .. } => {
                if let Some(anchor) = self.value(frame, *target).as_anchor() {
                    let (source, _) = self.words.expression(self.machine.program(), frame.entry, *target);
                    let text = self.show(&anchor.into());
                    self.step(frame, *target, depth, format!("isolate {source}"), text);
                    met.isolated.push(anchor);
                }
                Flow::Next
            }
            Statement::Stop | Statement::Give(_) => Flow::Stop,
            _ => {
                met.changes = true;
                Flow::Stop
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one loop of the walk, with all that the walk carries")]
    fn rounds(
        &mut self,
        frame: &mut Frame,
        local: u32,
        elements: &Value,
        body: &Block,
        subject: (Anchor, Wanted),
        depth: u32,
        met: &mut Met,
    ) -> (Flow, Wanted) {
        let start = self.steps.len();
        let mut best: Option<(Wanted, Vec<_>, Vec<_>)> = None;
        let mut flow = Flow::Next;
        for element in elements.elements().take(ROUNDS) {
            frame.bind(local, element);
            let before = met.isolated.len();
            flow = self.block(frame, body, subject, depth, met);
            let new = &met.isolated[before..];
            let rank = match () {
                () if new.contains(&subject.0) => Wanted::IsolatingSubject,
                () if !new.is_empty() || met.changes => Wanted::Isolating,
                () => Wanted::Any,
            };
            let told = (rank, self.steps.split_off(start), self.shape.split_off(start));
            if best.as_ref().is_none_or(|(known, ..)| rank > *known) {
                best = Some(told);
            }
            if flow == Flow::Stop {
                break;
            }
        }
        let (rank, steps, shape) = best.unwrap_or((Wanted::Any, Vec::new(), Vec::new()));
        self.steps.extend(steps);
        self.shape.extend(shape);
        (flow, rank)
    }
}
