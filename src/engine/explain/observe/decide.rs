//! Decisions: what they are about, how they came out, and what was at stake.

use super::super::TraceStep;
use super::super::scan::{Layers, asks_existence, asks_type, mentions, node_of};
use super::super::why::{Frame, Origin, Why};
use super::super::would::{NOTHING, Stake, after, body, loops_over, only_stops, stake};
use super::state::{About, At, Bound, Open, State, Told, append, append_new, during, told_once, want};
use super::{Act, FOCUS, Key, Mode, Observer, What};
use crate::graph::NodeId;
use crate::lang::eval::{EntryId, Machine, Spot, Value};
use crate::lang::hir::{ExprId, Local, Statement};
use crate::lang::syntax::ast::Kind;

/// How deep functions are opened.
pub(super) const DEEP: u32 = 14;
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
            (told_once(&steps), foreign)
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
                    self.pass_over(
                        state,
                        machine,
                        &mut frame,
                        &layers,
                        (element, &about, condition),
                        at_stake,
                    );
                }
            }
        }
    }

    /// An element that a filter kept from something.
    fn pass_over(
        &self,
        state: &mut State,
        machine: &mut Machine<'_>,
        frame: &mut Frame,
        layers: &Layers,
        (element, about, condition): (Value, &About, ExprId),
        stake: Stake,
    ) {
        let (mut steps, foreign) = self.steps(machine, &mut frame.clone(), &[condition], &about.focus);
        if matches!(self.mode, Mode::Tell(_)) {
            append(&mut steps, self.unreached(machine, frame, condition));
            append_new(&mut steps, self.origin(machine, frame, layers, (&element, &about.focus)));
        }
        let value = about.value.clone().unwrap_or_default();
        // Of two nodes of one decision the other one is of interest.
        let own = node_of(&value);
        let other = about.focus.iter().copied().find(|node| Some(*node) != own).map(Value::Node);
        let item = if node_of(&element) == own { other } else { Some(element) };
        let what = What::Refused { stake, foreign, whole: false };
        self.emit_refused(state, frame.entry, (&value, item), what, steps);
    }

    /// A list that a `let` filters, and that loops go through later: the elements that they will not see.
    pub(super) fn filtered(
        &self,
        state: &mut State,
        machine: &mut Machine<'_>,
        spot: Spot,
        (local, list): (Local, ExprId),
        key: Key,
    ) {
        let program = machine.program();
        let Some(hir) = program.hir(spot.entry) else { return };
        let loops = body(hir).map_or_else(Vec::new, |block| loops_over(hir, block, local));
        let layers =
            state.layers.entry((spot.entry, list)).or_insert_with(|| Layers::new(machine, spot.entry, list));
        let Some(layers) = layers.clone().filter(|_| !loops.is_empty()) else { return };
        if matches!(self.mode, Mode::Tell(_)) && self.wants(key).is_none() {
            return;
        }
        let conditions: Vec<ExprId> = layers.filters.iter().map(|(_, condition)| *condition).collect();
        let mut bound: Vec<Local> = layers.filters.iter().map(|(local, _)| *local).collect();
        bound.extend(loops.iter().map(|(local, _)| *local));
        let mut frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
        bound.iter().for_each(|&local| frame.bind(local, Value::None));
        let around = self.about(state, machine, spot.entry, &At::Both(spot, &frame.slots), &conditions);
        let base = self.about(state, machine, spot.entry, &At::Both(spot, &frame.slots), &[layers.list]);
        let elements = self.value(machine, &frame, layers.list);
        for element in elements.elements().filter(|element| self.asked.fits(element)) {
            let about = About {
                value: Some(element.clone()),
                uses: around.uses.iter().chain(&base.uses).copied().collect(),
                focus: around.focus.iter().copied().chain(node_of(&element)).collect(),
            };
            if matches!(self.mode, Mode::Survey) {
                want(&mut state.wanted, key, &about);
                continue;
            }
            bound.iter().for_each(|&local| frame.bind(local, element.clone()));
            let failed =
                conditions.iter().find(|&&condition| !self.value(machine, &frame, condition).is_true());
            let own = self.own(&frame, &about);
            let stake = stake(program, hir, loops.iter().flat_map(|(_, body)| *body), &own);
            if let (Some(&condition), false) = (failed, stake.is_nothing()) {
                self.pass_over(state, machine, &mut frame, &layers, (element, &about, condition), stake);
            }
        }
    }

    /// A node that a rule would be for, if the list that the rule goes through had it.
    pub(super) fn unlisted(
        &self,
        state: &mut State,
        machine: &mut Machine<'_>,
        (entry, list, condition): (EntryId, ExprId, Option<ExprId>),
        node: NodeId,
        key: Key,
    ) {
        let value = Value::Node(node);
        let frame = Frame::new(entry, &[Value::Graph(machine.root()), value.clone()]);
        if condition.is_some_and(|condition| !self.value(machine, &frame, condition).is_true()) {
            return;
        }
        if matches!(self.mode, Mode::Survey) {
            let about = About { value: Some(value), uses: Vec::new(), focus: vec![node] };
            want(&mut state.wanted, key, &about);
            return;
        }
        let steps = machine.aside(|machine| {
            let mut why = Why::new(machine, self.words, DEEP);
            why.operand(&mut Frame::new(entry, &frame.slots[..1]), list, 0);
            why.steps
        });
        let chain = match machine.program().key(entry) {
            Some((Kind::Chain, chain)) => Some(chain),
            _ => None,
        };
        let stake = match (chain, machine.program().hir(entry)) {
            (Some(chain), _) => Stake { chains: vec![chain], ..Stake::default() },
            (None, Some(hir)) => {
                body(hir).map_or_else(Stake::default, |block| stake(machine.program(), hir, block, &[1]))
            }
            (None, None) => Stake::default(),
        };
        if !stake.is_nothing() {
            let what = What::Refused { stake, foreign: false, whole: true };
            self.emit_refused(state, entry, (&value, None), what, steps);
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
}
