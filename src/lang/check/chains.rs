//! Chains and the steps that they share.
//!
//! Promise: what a requirement tells of a name is known to the steps behind it, and inside a loop to no step after
//! the loop; a step's name is there once in an item.

use super::lower::Cx;
use super::narrow::known_some;
use super::sights::Meaning;
use crate::lang::hir::{Chain, ChainStep, Entry, StepEnd, Ty};
use crate::lang::syntax::ast::{self, Kind, Name};

impl Cx<'_> {
    pub fn chain(
        &mut self,
        subject: &ast::Subject,
        steps: &[ast::ChainStep],
        then: Option<&ast::Block>,
    ) -> Entry {
        let subject = self.subject(subject);
        let mut names = Vec::new();
        let (steps, _) = self.chain_steps(steps, &mut names);
        self.unique(&names, "step");
        let then = then.map(|block| self.block(block)).unwrap_or_default();
        Entry::Chain(Box::new(Chain { subject, body: self.take_body(), steps, then }))
    }

    pub fn steps_item(&mut self, params: &[ast::Param], steps: &[ast::ChainStep]) -> Entry {
        self.params(params);
        let mut names = Vec::new();
        let (steps, _) = self.chain_steps(steps, &mut names);
        self.unique(&names, "step");
        self.leave(0);
        Entry::Steps { body: self.take_body(), params: params.len() as u32, steps }
    }

    /// Lowers steps, collects the names of their requirements, and gives what has become known of names in sight.
    fn chain_steps(
        &mut self,
        steps: &[ast::ChainStep],
        names: &mut Vec<Name>,
    ) -> (Vec<ChainStep>, Vec<(usize, Ty)>) {
        let mut known = Vec::new();
        let mut lowered = Vec::with_capacity(steps.len());
        for step in steps {
            lowered.extend(match step {
                ast::ChainStep::Let { name, value } => {
                    let (value, ty) = self.expr(value, None);
                    Some(ChainStep::Let { local: self.declare(*name, ty, "local"), value })
                }
                ast::ChainStep::Require { name, condition, end } => {
                    names.push(*name);
                    self.see_declared(name.span, || Meaning::Step(name.text));
                    let test = self.check(condition, &Ty::Bool);
                    let end = self.step_end(end);
                    known.extend(self.narrow(&known_some(condition, true)));
                    Some(ChainStep::Require { name: name.text, condition: test, end })
                }
                ast::ChainStep::Attempt { name, body, end } => {
                    names.push(*name);
                    self.see_declared(name.span, || Meaning::Step(name.text));
                    let body = self.block(body);
                    Some(ChainStep::Attempt { name: name.text, body, end: self.step_end(end) })
                }
                ast::ChainStep::For { binder, list, condition, steps } => {
                    let (local, list, steps) = self.loop_over(*binder, list, condition.as_ref(), |cx| {
                        let (steps, known) = cx.chain_steps(steps, names);
                        cx.widen(known);
                        steps
                    });
                    Some(ChainStep::For { local, list, steps })
                }
                ast::ChainStep::Use { group, args, when } => self.use_step(*group, args, when.as_ref()),
            });
        }
        (lowered, known)
    }

    fn step_end(&mut self, end: &ast::StepEnd) -> StepEnd {
        let otherwise = end.otherwise.as_ref().map(|text| self.text(text));
        let help = end.help.as_ref().map(|text| self.text(text));
        StepEnd { refusal: end.refusal, otherwise, help }
    }

    fn use_step(&mut self, group: Name, args: &[ast::Expr], when: Option<&ast::Expr>) -> Option<ChainStep> {
        let when_id = when.map(|when| self.check(when, &Ty::Bool));
        let saved = when.map(|when| self.narrow(&known_some(when, true))).unwrap_or_default();
        let known = self.item_name(group, Kind::Steps);
        let params = self.scope.groups.get(&group.text).map(|sig| sig.params.clone());
        let ids = match &params {
            Some(params) => {
                if params.len() != args.len() {
                    self.wrong_count(group.text.as_str(), params.len(), args.len(), group.span);
                }
                args.iter().zip(params).map(|(arg, param)| self.check(arg, param)).collect()
            }
            None => args.iter().map(|arg| self.expr(arg, None).0).collect(),
        };
        self.widen(saved);
        known.then_some(ChainStep::Use { group: group.text, args: ids, when: when_id })
    }
}
