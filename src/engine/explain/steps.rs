//! The requirements of a chain, told in the order in which they were asked.
//!
//! Promise: of a loop that ended the chain the element that did is told, step by step; of a loop that held for all, each
//! requirement once and without values, since every element has its own.

use super::RequirementStory;
use super::tell::DEEP;
use super::why::{Frame, Why};
use super::words::Words;
use crate::engine::run::ChainStop;
use crate::lang::eval::{EntryId, Machine, NO_CONDITION, Value};
use crate::lang::hir::{ChainStep, Entry};
use crate::lang::syntax::ast::Kind;

pub(super) struct Steps<'p, 's> {
    pub machine: Machine<'p>,
    pub words: Words<'s>,
    pub stop: Option<&'s ChainStop>,
    /// What is left of the elements of the loops around the stop.
    pub elements: &'s [Value],
    pub stories: Vec<RequirementStory>,
}

impl<'p, 's> Steps<'p, 's> {
    /// Tells the steps of one level; true: the chain ended there.
    pub fn tell(&mut self, frame: &mut Frame, steps: &[ChainStep]) -> bool {
        steps.iter().any(|step| self.step(frame, step))
    }

    fn why(&mut self) -> Why<'_, 'p, 's> {
        Why::new(&mut self.machine, self.words, DEEP)
    }

    fn step(&mut self, frame: &mut Frame, step: &ChainStep) -> bool {
        match step {
            ChainStep::Let { local, value } => {
                let value = self.why().value(frame, *value);
                frame.bind(*local, value);
                false
            }
            ChainStep::Require { name, condition, .. } => {
                let holds = !self.stops_at(frame.entry, step);
                let mut why = self.why();
                why.why(frame, *condition, 0);
                let steps = why.steps;
                self.stories.push(RequirementStory { name: *name, holds, steps });
                !holds
            }
            ChainStep::Attempt { name, .. } => {
                let holds = !self.stops_at(frame.entry, step);
                self.stories.push(RequirementStory { name: *name, holds, steps: Vec::new() });
                !holds
            }
            ChainStep::For { local, steps, .. } => match self.elements.split_first() {
                Some((element, rest)) if self.contains(frame.entry, steps) => {
                    self.elements = rest;
                    frame.bind(*local, element.clone());
                    self.tell(frame, steps)
                }
                _ => {
                    self.held(frame.entry, steps);
                    false
                }
            },
            ChainStep::Use { group, args, when } => {
                let Some((entry, steps)) = self.group(*group) else { return false };
                if when.is_some_and(|when| !self.why().truth(frame, when)) {
                    return false;
                }
                let args: Vec<Value> = args.iter().map(|&arg| self.why().value(frame, arg)).collect();
                self.tell(&mut Frame::new(entry, &args), steps)
            }
        }
    }

    /// The steps of a group that held for every element of a loop.
    fn held(&mut self, entry: EntryId, steps: &[ChainStep]) {
        for step in steps {
            match step {
                ChainStep::Let { .. } => {}
                ChainStep::Require { name, .. } | ChainStep::Attempt { name, .. } => {
                    self.stories.push(RequirementStory { name: *name, holds: true, steps: Vec::new() });
                }
                ChainStep::For { steps, .. } => self.held(entry, steps),
                ChainStep::Use { group, .. } => {
                    if let Some((entry, steps)) = self.group(*group) {
                        self.held(entry, steps);
                    }
                }
            }
        }
    }

    fn group(&self, group: crate::graph::Sym) -> Option<(EntryId, &'p [ChainStep])> {
        let program = self.machine.program();
        let entry = program.entry(Kind::Steps, group)?;
        match &**program.hir(entry)? {
            Entry::Steps { steps, .. } => Some((entry, steps)),
            _ => None,
        }
    }

    fn stops_at(&self, entry: EntryId, step: &ChainStep) -> bool {
        match (step, self.stop) {
            (ChainStep::Require { condition, .. }, Some(stop)) => {
                *condition == stop.condition && self.machine.program().key(entry) == Some(stop.entry)
            }
            (ChainStep::Attempt { name, .. }, Some(stop)) => {
                (stop.condition, stop.name) == (NO_CONDITION, *name)
                    && self.machine.program().key(entry) == Some(stop.entry)
            }
            _ => false,
        }
    }

    /// Whether the chain ended in these steps. Steps that use each other in a circle are an error of the rules.
    fn contains(&self, entry: EntryId, steps: &[ChainStep]) -> bool {
        steps.iter().any(|step| match step {
            ChainStep::Let { .. } => false,
            ChainStep::Require { .. } | ChainStep::Attempt { .. } => self.stops_at(entry, step),
            ChainStep::For { steps, .. } => self.contains(entry, steps),
            ChainStep::Use { group, .. } => {
                self.group(*group).is_some_and(|(entry, steps)| self.contains(entry, steps))
            }
        })
    }
}
