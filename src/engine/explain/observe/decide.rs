//! Decisions: what they are about, how they came out, and what was at stake.

use super::super::scan::{Layers, asks_existence, asks_type, mentions, node_of};
use super::super::why::{Frame, Origin, Why};
use super::super::would::{NOTHING, Stake, after, body, only_stops, stake};
use super::super::{StepKind, TraceStep};
use super::state::{About, At, Bound, Form, Open, State, Told, append, append_new, during, want};
use super::{Act, FOCUS, Key, Mode, Observer, What};
use crate::graph::{NodeId, Sym};
use crate::lang::eval::{EntryId, Machine, Spot, Value};
use crate::lang::hir::{ChainStep, ExprId, Local, Statement, StepEnd};

/// How deep functions are opened.
const DEEP: u32 = 14;
/// The same where one reason is wanted.
const SHALLOW: u32 = 4;
/// Elements that one loop passed over and that are told.
const PASSED: usize = 3;

impl Observer<'_> {
    pub(super) fn wants(&self, key: Key) -> Option<&[NodeId]> {
        match &self.mode {
            Mode::Tell(wanted) => wanted.get(&key).map(Vec::as_slice),
            _ => None,
        }
    }

    /// What some conditions are about.
    pub(super) fn about(
        &self,
        state: &mut State,
        machine: &Machine<'_>,
        entry: EntryId,
        at: &At<'_>,
        exprs: &[ExprId],
    ) -> About {
        let mut about = About::default();
        for &expr in exprs {
            let locals =
                state.mentions.entry((entry, expr)).or_insert_with(|| mentions(machine, entry, expr));
            for &(local, _) in locals.iter() {
                let value = at.get(machine, local);
                if let Some(node) = node_of(&value)
                    && about.focus.len() < FOCUS
                    && !about.focus.contains(&node)
                {
                    about.focus.push(node);
                }
                let bound = at.spot().and_then(|spot| state.lets.get(&(spot, local)));
                if let Some(bound) = bound {
                    about.uses.push(bound.seq);
                    about.uses.extend(&bound.about.uses);
                    if about.value.is_none() {
                        about.value.clone_from(&bound.about.value);
                    }
                }
                if about.value.is_none() && self.asked.fits(&value) {
                    about.value = Some(value);
                }
            }
        }
        about
    }

    /// A frame in which expressions can be told.
    pub(super) fn frame(&self, state: &State, machine: &Machine<'_>, entry: EntryId, at: &At<'_>) -> Frame {
        let At::Spot(spot) = at else {
            let (At::Slots(slots) | At::Both(_, slots)) = at else { return Frame::new(entry, &[]) };
            return Frame::new(entry, slots);
        };
        let mut frame = Frame::new(entry, &machine.frame_at(*spot));
        for ((of, local), bound) in &state.lets {
            if of == spot
                && let Some(told) = &bound.told
            {
                frame.lets.insert(*local, Origin::Told(told.clone()));
            }
        }
        frame
    }

    /// How conditions came out. In a short run only what tells the reason.
    pub(super) fn steps(
        &self,
        machine: &mut Machine<'_>,
        frame: &mut Frame,
        exprs: &[ExprId],
        focus: &[NodeId],
    ) -> (Vec<TraceStep>, bool) {
        machine.aside(|machine| {
            let deepest = if matches!(self.mode, Mode::Brief) { SHALLOW } else { DEEP };
            let mut why = Why::new(machine, self.words, deepest);
            why.focus = focus.to_vec();
            exprs.iter().for_each(|&expr| why.why(frame, expr, 0));
            let (steps, shape) = (why.steps, why.shape);
            let last = steps.iter().zip(&shape).rfind(|(step, _)| step.value.starts_with("false"));
            let foreign = last.is_some_and(|(_, (entry, expr, _))| asks_type(machine, *entry, *expr));
            (steps, foreign)
        })
    }

    /// Where an element of a list comes from, and what conditions on it rest on.
    pub(super) fn origin(
        &self,
        machine: &mut Machine<'_>,
        frame: &mut Frame,
        layers: &Layers,
        (element, focus): (&Value, &[NodeId]),
    ) -> Vec<TraceStep> {
        let conditions = layers.filters.iter();
        let locals =
            conditions.flat_map(|(_, condition)| mentions(machine, frame.entry, *condition).to_vec());
        let locals: Vec<_> = locals.filter(|(local, _)| frame.lets.contains_key(local)).collect();
        machine.aside(|machine| {
            let mut why = Why::new(machine, self.words, DEEP);
            why.focus = focus.to_vec();
            why.element = Some(element.clone());
            why.operand(frame, layers.list, 0);
            locals.iter().for_each(|(_, expr)| why.operand(frame, *expr, 0));
            why.steps
        })
    }

    fn unreached(&self, machine: &mut Machine<'_>, frame: &mut Frame, condition: ExprId) -> Vec<TraceStep> {
        machine.aside(|machine| {
            let mut why = Why::new(machine, self.words, DEEP);
            why.unreached(frame, condition);
            for step in why.steps.iter_mut().filter(|step| step.depth == 0) {
                step.source = format!("but for this, {}", step.source);
            }
            why.steps
        })
    }

    pub(super) fn value(&self, machine: &mut Machine<'_>, frame: &Frame, expr: ExprId) -> Value {
        machine.aside(|machine| machine.eval(frame.entry, expr, &frame.slots).unwrap_or_default())
    }

    /// The locals of a frame that hold a node or an anchor of it.
    pub(super) fn own(&self, frame: &Frame, about: &About) -> Vec<Local> {
        let Some(node) = about.value.as_ref().and_then(node_of) else { return Vec::new() };
        let holds = |value: &Value| node_of(value) == Some(node);
        (0..).zip(&frame.slots).filter(|(_, value)| holds(value)).map(|(local, _)| local).collect()
    }

    pub(super) fn branch(
        &self,
        state: &mut State,
        machine: &mut Machine<'_>,
        (spot, statement): (Spot, &Statement),
        open: &mut Open,
    ) {
        let Statement::If { arms, otherwise } = statement else { return };
        let conditions: Vec<ExprId> = arms.iter().map(|(condition, _)| *condition).collect();
        open.about = self.about(state, machine, spot.entry, &At::Spot(spot), &conditions);
        open.is_gate = otherwise.is_empty() && arms.iter().all(|(_, arm)| only_stops(arm));
        let focus = match (&self.mode, self.wants(open.key)) {
            (Mode::Tell(_), Some(focus)) => focus.to_vec(),
            (Mode::Brief, _) if open.about.value.is_some() => Vec::new(),
            _ => return,
        };
        let mut frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
        let taken = conditions.iter().position(|&condition| self.value(machine, &frame, condition).is_true());
        let decided = taken.map_or(conditions.as_slice(), |taken| &conditions[..=taken]);
        let refusing = taken.is_none_or(|taken| only_stops(&arms[taken].1));
        if (taken.is_some() || open.is_gate)
            && !(refusing && taken.is_some())
            && decided.iter().all(|&condition| asks_existence(machine, spot.entry, condition))
        {
            return;
        }
        let (steps, foreign) = self.steps(machine, &mut frame, decided, &focus);
        let program = machine.program();
        let own = self.own(&frame, &open.about);
        let hir = program.hir(spot.entry);
        // Whatever comes out, the same is done: this only chooses how.
        if let Some(entry) = hir
            && !otherwise.is_empty()
        {
            let rank = |block| stake(program, entry, block, &own).rank();
            let last = rank(otherwise);
            if last < NOTHING && arms.iter().all(|(_, arm)| rank(arm) == last) {
                return;
            }
        }
        let refuses = hir.and_then(|entry| match taken {
            Some(taken) if only_stops(&arms[taken].1) => {
                let rest = after(body(entry)?, statement)?;
                Some(stake(program, entry, rest, &own))
            }
            None if otherwise.is_empty() && !open.is_gate => {
                Some(stake(program, entry, arms.iter().flat_map(|(_, arm)| arm), &own))
            }
            _ => None,
        });
        open.told = Some(Told { steps, foreign, refuses });
    }

    /// The elements that a loop is for, and those that it passes over.
    pub(super) fn elements(
        &self,
        state: &mut State,
        machine: &mut Machine<'_>,
        (spot, statement): (Spot, &Statement),
        open: &mut Open,
    ) {
        let Statement::For { local, list, body } = statement else { return };
        let layers = state
            .layers
            .entry((spot.entry, *list))
            .or_insert_with(|| Layers::new(machine, spot.entry, *list));
        let Some(layers) = layers.clone() else { return };
        open.layers = Some(layers.clone());
        let conditions: Vec<ExprId> = layers.filters.iter().map(|(_, condition)| *condition).collect();
        let bound: Vec<Local> = layers.filters.iter().map(|(local, _)| *local).collect();
        // What the locals of the elements hold yet is of no account.
        let mut frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
        bound.iter().chain([local]).for_each(|&local| frame.bind(local, Value::None));
        let mut around = self.about(state, machine, spot.entry, &At::Both(spot, &frame.slots), &conditions);
        let base = self.about(state, machine, spot.entry, &At::Both(spot, &frame.slots), &[layers.list]);
        around.uses.extend(base.uses);
        if matches!(self.mode, Mode::Tell(_)) && self.wants(open.key).is_none() {
            return;
        }
        let telling = matches!(self.mode, Mode::Tell(_));
        let elements = self.value(machine, &frame, layers.list);
        let mut accepted = 0;
        let mut passed = 0;
        for element in elements.elements() {
            let fits = self.asked.fits(&element);
            if !telling && !fits && around.value.is_none() {
                continue;
            }
            let about = About {
                value: if fits { Some(element.clone()) } else { around.value.clone() },
                uses: around.uses.clone(),
                focus: around.focus.iter().copied().chain(node_of(&element)).collect(),
            };
            if matches!(self.mode, Mode::Survey) {
                want(&mut state.wanted, open.key, &about);
                continue;
            }
            bound.iter().chain([local]).for_each(|&local| frame.bind(local, element.clone()));
            let failed =
                conditions.iter().find(|&&condition| !self.value(machine, &frame, condition).is_true());
            match failed {
                None => {
                    accepted += 1;
                    let wanted = self.wants((open.key.0, accepted)).map(<[NodeId]>::to_vec);
                    if let Some(mut focus) = wanted {
                        focus.extend(&about.focus);
                        let (mut steps, foreign) =
                            self.steps(machine, &mut frame.clone(), &conditions, &focus);
                        append_new(&mut steps, self.origin(machine, &mut frame, &layers, (&element, &focus)));
                        open.rounds.insert(accepted, Told { steps, foreign, refuses: None });
                    }
                }
                Some(_) if about.value.is_none() => {}
                Some(_) if passed >= PASSED && telling => {
                    passed += 1;
                    if let Some(act) = state.acts.last_mut() {
                        act.more += 1;
                    }
                }
                Some(&condition) => {
                    passed += 1;
                    let own = self.own(&frame, &about);
                    let program = machine.program();
                    let at_stake = program
                        .hir(spot.entry)
                        .map_or_else(Stake::default, |e| stake(program, e, body, &own));
                    if at_stake.is_nothing() {
                        passed -= 1;
                        continue;
                    }
                    let (mut steps, foreign) =
                        self.steps(machine, &mut frame.clone(), &[condition], &about.focus);
                    if telling {
                        append(&mut steps, self.unreached(machine, &mut frame, condition));
                        let origin = self.origin(machine, &mut frame, &layers, (&element, &about.focus));
                        append_new(&mut steps, origin);
                    }
                    let value = about.value.clone().unwrap_or_default();
                    // Of two nodes of one decision the other one is of interest.
                    let own = node_of(&value);
                    let other = about.focus.iter().copied().find(|node| Some(*node) != own).map(Value::Node);
                    let item = if node_of(&element) == own { other } else { Some(element) };
                    let what = What::Refused { stake: at_stake, foreign, whole: false };
                    self.emit_refused(state, spot.entry, (&value, item), what, steps);
                }
            }
        }
    }

    /// A `let`: told now, because what it rests on may change.
    pub(super) fn bound(
        &self,
        state: &mut State,
        machine: &mut Machine<'_>,
        spot: Spot,
        local: Local,
        value: ExprId,
        key: Key,
    ) {
        let about = self.about(state, machine, spot.entry, &At::Spot(spot), &[value]);
        let mut told = None;
        if let Some(focus) = self.wants(key) {
            let mut frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
            let steps = machine.aside(|machine| {
                let mut why = Why::new(machine, self.words, DEEP);
                why.focus = focus.to_vec();
                match why.value(&frame, value) {
                    Value::Bool(_) => why.why(&mut frame, value, 0),
                    _ => why.how_inside(&mut frame, value, 0),
                }
                why.steps
            });
            told = Some(steps.into());
        }
        state.lets.insert((spot, local), Bound { seq: key.0, about, told });
    }

    /// A finding about one of the nodes.
    pub(super) fn report(
        &self,
        state: &mut State,
        machine: &mut Machine<'_>,
        spot: Spot,
        statement: &Statement,
    ) {
        let Statement::Report { places, message, help, .. } = statement else { return };
        let frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
        let places: Vec<Value> = places.iter().map(|&place| self.value(machine, &frame, place)).collect();
        let Some(own) = places.iter().find(|place| self.asked.fits(place)).cloned() else { return };
        state.touches += 1;
        let nodes: Vec<NodeId> = places.iter().filter_map(node_of).collect();
        for open in &mut state.open {
            open.about.focus.extend(&nodes);
        }
        if matches!(self.mode, Mode::Survey) {
            return;
        }
        let message = self.words.text(machine, spot.entry, Some(*message), &frame.slots).unwrap_or_default();
        let help = self.words.text(machine, spot.entry, *help, &frame.slots);
        let steps = self.way(state, None);
        let Some(node) = node_of(&own) else { return };
        let (anchor, during) = (own.as_anchor(), during(&state.open, node));
        let what = What::Reported { message, help, places };
        state.acts.push(Act { node, anchor, entry: spot.entry, what, steps, during, more: 0 });
    }

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
                    chain.requirements.push((*name, true, Vec::new()));
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
            chain.requirements.push((*name, holds, steps));
            chain.kept = kept;
        }
    }
}
