//! Chains on one of the nodes: their steps, and the walks that they go by.

use super::super::why::Why;
use super::super::{Answer, StepKind, TraceStep};
use super::decide::DEEP;
use super::state::{At, Form, State};
use super::{Key, Mode, Observer};
use crate::graph::{NodeId, Sym};
use crate::lang::eval::{Machine, Spot, Value};
use crate::lang::hir::{ChainStep, Expr, ExprId, StepEnd};

impl Observer<'_> {
    /// A requirement of a chain on one of the nodes.
    pub(super) fn require(&self, state: &mut State, machine: &mut Machine<'_>, spot: Spot, step: &ChainStep) {
        let ChainStep::Require { name, condition, end: StepEnd { otherwise, help, .. } } = step else {
            return;
        };
        let Some(outer) = state.open.iter().rposition(|open| open.chain.is_some()) else { return };
        let Some(chain) = state.open[outer].chain else { return };
        let rounds: Vec<Value> = state.open[outer..].iter().filter_map(|open| open.element.clone()).collect();
        let mut frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
        let holds = self.value(machine, &frame, *condition).is_true();
        let in_rounds: Vec<Key> =
            state.open[outer..].iter().filter(|open| open.form == Form::Round).map(|open| open.key).collect();
        if let (true, Some(&round)) = (holds, in_rounds.last()) {
            // Every element has values of its own; that it held for all is told once.
            if let Some(chain) = state.chains.get_mut(chain) {
                chain.asked.retain(|(known, _)| known != name);
                chain.asked.push((*name, round));
                if chain.requirements.iter().all(|(known, ..)| known != name) {
                    chain.requirements.push((*name, Answer::Holds, Vec::new()));
                }
            }
            return;
        }
        let focus: Vec<NodeId> = state.chains.get(chain).map(|chain| chain.node).into_iter().collect();
        let mut steps = Vec::new();
        if !matches!(self.mode, Mode::Brief) {
            for element in rounds {
                let value = machine.aside(|machine| Why::new(machine, self.words, DEEP).show(&element));
                let (source, kind) = ("for one element".to_owned(), StepKind::Element);
                steps.push(TraceStep { depth: 0, source, value, at: String::new(), kind });
            }
            steps.extend(self.steps(machine, &mut frame, &[*condition], &focus).0);
        }
        let kept = (!holds).then(|| {
            let reason = self.words.text(machine, spot.entry, *otherwise, &frame.slots);
            let help = self.words.text(machine, spot.entry, *help, &frame.slots);
            (reason.unwrap_or_default(), help)
        });
        if let Some(chain) = state.chains.get_mut(chain) {
            // What held for elements before is no news of the one that failed.
            let asked = std::mem::take(&mut chain.asked);
            let stands =
                |known: &Sym| asked.iter().all(|(name, round)| name != known || in_rounds.contains(round));
            chain.requirements.retain(|(known, ..)| holds || known != name && stands(known));
            chain.asked = asked;
            let answer = if holds { Answer::Holds } else { Answer::Fails };
            chain.requirements.push((*name, answer, steps));
            chain.kept = kept;
        }
    }

    /// Steps that a chain on one of the nodes does not go through.
    pub(super) fn left_out(
        &self,
        state: &mut State,
        machine: &mut Machine<'_>,
        spot: Spot,
        step: &ChainStep,
    ) {
        let ChainStep::Use { group, when: Some(when), .. } = step else { return };
        let Some(outer) = state.open.iter().rposition(|open| open.chain.is_some()) else { return };
        let Some(chain) = state.open[outer].chain else { return };
        let mut frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
        if self.value(machine, &frame, *when).is_true() {
            return;
        }
        let steps = match self.mode {
            Mode::Brief => Vec::new(),
            _ => self.steps(machine, &mut frame, &[*when], &[]).0,
        };
        if let Some(chain) = state.chains.get_mut(chain)
            && chain.requirements.iter().all(|(known, ..)| known != group)
        {
            chain.requirements.push((*group, Answer::NotAsked, steps));
        }
    }

    /// A walk whose end a chain on one of the nodes goes by.
    pub(super) fn walked(&self, state: &mut State, machine: &mut Machine<'_>, spot: Spot, value: ExprId) {
        let body = machine.program().hir(spot.entry).and_then(|hir| hir.body());
        let is_walk = matches!(body.and_then(|all| all.exprs.get(value as usize)), Some(Expr::Walk { .. }));
        let chain = state.open.iter().rev().find_map(|open| open.chain);
        let (true, true, Some(chain)) = (is_walk, matches!(self.mode, Mode::Tell(_)), chain) else { return };
        let mut frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
        let steps = machine.aside(|machine| {
            let mut why = Why::new(machine, self.words, DEEP);
            why.leaf_and_operands(&mut frame, value, 0);
            why.steps
        });
        if let Some(chain) = state.chains.get_mut(chain) {
            chain.walks.extend(steps);
        }
    }
}
