//! Looking on while a pass runs: what it decided about the nodes asked about, and what it did to them.
//!
//! Promise: which rules there are is not known in here. A condition is *about* a node if a local in it holds the node
//! or an anchor of it, or was bound by a `let` that is about the node. What decided is told at the moment of the
//! decision, on the graph as it was then; the run itself is not changed.
//!
//! A run is watched twice. The *survey* finds which decisions matter: those about a node, and those on the way to an
//! edit of one. Then they are *told*. For a table of many nodes one run is enough: reasons are short there.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::TraceStep;
use super::changes::{Change, changes, touched};
use super::scan::{Layers, asks_type, mentions, node_of};
use super::why::{Frame, Origin, Why};
use super::words::Words;
use super::would::{Stake, after, body, only_stops, stake};
use crate::graph::{Anchor, NodeId, Snapshot, Sym};
use crate::lang::eval::{EntryId, Machine, Spot, Value, Watch};
use crate::lang::hir::{ChainStep, ExprId, Local, Statement};
use crate::lang::syntax::ast::Kind;

/// How deep functions are opened.
const DEEP: u32 = 10;
/// The same where one reason is wanted.
const SHALLOW: u32 = 2;
/// Decisions on the way to a change that are told in full, and of which the first lines are.
const IN_FULL: usize = 2;
const IN_SHORT: usize = 3;
/// Nodes that one decision is about.
const FOCUS: usize = 4;
/// Elements that one loop passed over and that are told.
const PASSED: usize = 3;

/// The nodes asked about.
pub struct Asked {
    pub nodes: FxHashSet<NodeId>,
    /// Only this anchor of the one node, and the node as a whole.
    pub anchor: Option<Anchor>,
}

impl Asked {
    fn fits(&self, value: &Value) -> bool {
        match (value.as_anchor(), self.anchor) {
            (Some(anchor), Some(asked)) => anchor == asked,
            _ => node_of(value).is_some_and(|node| self.nodes.contains(&node)),
        }
    }
}

/// A decision: the number of the statement, and of the round of a loop.
type Key = (u32, u32);

/// The decisions to tell, and the nodes that each is about.
pub type Wanted = FxHashMap<Key, Vec<NodeId>>;

pub enum Mode {
    Survey,
    Tell(Wanted),
    /// Without steps.
    Brief,
}

/// Something that happened to a node, or did not.
#[derive(Clone, Debug)]
pub struct Act {
    pub node: NodeId,
    /// The anchor that the decision was about.
    pub anchor: Option<Anchor>,
    /// The item whose statement it was.
    pub entry: EntryId,
    pub what: What,
    /// What decided, the last decision first.
    pub steps: Vec<TraceStep>,
    /// What was being looked at, if it is of another node.
    pub during: Option<Value>,
    /// Further elements of the same loop that were passed over.
    pub more: usize,
}

#[derive(Clone, Debug)]
pub enum What {
    Done(Vec<Change>),
    /// `foreign`: by the operator type, so the rule is for other nodes.
    Refused { stake: Stake, foreign: bool },
    Reported { message: String, help: Option<String>, places: Vec<Value> },
}

/// A chain that looked at a node.
#[derive(Clone, Debug)]
pub struct ChainAct {
    pub node: NodeId,
    pub chain: Sym,
    pub requirements: Vec<(Sym, bool, Vec<TraceStep>)>,
    /// The reason and the advice of the requirement that failed.
    pub kept: Option<(String, Option<String>)>,
}

enum At<'f> {
    Spot(Spot),
    Slots(&'f [Value]),
    /// A frame in which other elements are tried.
    Both(Spot, &'f [Value]),
}

impl At<'_> {
    fn get(&self, machine: &Machine<'_>, local: Local) -> Value {
        match self {
            At::Spot(spot) => machine.local_at(*spot, local).clone(),
            At::Slots(slots) | At::Both(_, slots) => slots.get(local as usize).cloned().unwrap_or_default(),
        }
    }

    fn spot(&self) -> Option<Spot> {
        match self {
            At::Spot(spot) | At::Both(spot, _) => Some(*spot),
            At::Slots(_) => None,
        }
    }
}

/// What a decision is about.
#[derive(Clone, Default)]
struct About {
    value: Option<Value>,
    /// The `let`s that it rests on.
    uses: Vec<u32>,
    focus: Vec<NodeId>,
}

struct Bound {
    seq: u32,
    about: About,
    told: Option<Rc<[TraceStep]>>,
}

/// A decision that has been told.
#[derive(Clone)]
struct Told {
    steps: Vec<TraceStep>,
    /// The last word was about the operator type.
    foreign: bool,
    /// The condition kept something from being done.
    refuses: Option<Stake>,
}

/// A decision that could have ended the body, and did not.
struct Gate {
    key: Key,
    about: About,
    told: Option<Told>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Round,
    /// The layer tells what happens in here.
    Resolve,
}

/// Something that is under way.
struct Open {
    key: Key,
    form: Form,
    entry: EntryId,
    about: About,
    layers: Option<Rc<Layers>>,
    told: Option<Told>,
    rounds: FxHashMap<u32, Told>,
    round: u32,
    touches: usize,
    acts: usize,
    /// Edits that no inner decision has taken.
    done: Vec<usize>,
    item: Option<Value>,
    chain: Option<usize>,
    /// All that the statement can do is to end the body.
    is_gate: bool,
    gates: Vec<Gate>,
}

#[derive(Default)]
struct State {
    seq: u32,
    /// Edits that have been looked at.
    seen: usize,
    touches: usize,
    lets: FxHashMap<(Spot, Local), Bound>,
    open: Vec<Open>,
    mentions: FxHashMap<(EntryId, ExprId), Rc<[Local]>>,
    layers: FxHashMap<(EntryId, ExprId), Option<Rc<Layers>>>,
    wanted: Wanted,
    /// Gates of a body that is for no certain node.
    gates: Vec<Gate>,
    acts: Vec<Act>,
    chains: Vec<ChainAct>,
}

pub struct Observer<'s> {
    words: Words<'s>,
    before: &'s Snapshot,
    asked: &'s Asked,
    mode: Mode,
    state: RefCell<State>,
}

impl Open {
    /// It, or a gate in its body, has been told.
    fn decides(&self) -> bool {
        self.told.is_some() || self.gates.iter().any(|gate| gate.told.is_some())
    }
}

impl<'s> Observer<'s> {
    /// `before`: the graph as it is when the pass begins.
    pub fn new(words: Words<'s>, before: &'s Snapshot, asked: &'s Asked, mode: Mode) -> Observer<'s> {
        Observer { words, before, asked, mode, state: RefCell::default() }
    }

    /// What a survey found.
    pub fn wanted(self) -> Wanted {
        self.state.into_inner().wanted
    }

    /// What was done to the nodes or decided about them, and what chains made of them, in the order of the run.
    pub fn told(self) -> (Vec<Act>, Vec<ChainAct>) {
        let state = self.state.into_inner();
        (state.acts, state.chains)
    }

    fn wants(&self, key: Key) -> Option<&[NodeId]> {
        match &self.mode {
            Mode::Tell(wanted) => wanted.get(&key).map(Vec::as_slice),
            _ => None,
        }
    }

    /// What some conditions are about.
    fn about(
        &self,
        state: &mut State,
        machine: &Machine<'_>,
        entry: EntryId,
        at: &At<'_>,
        exprs: &[ExprId],
    ) -> About {
        let mut about = About::default();
        for &expr in exprs {
            let locals = state.mentions.entry((entry, expr)).or_insert_with(|| mentions(machine, entry, expr));
            for &local in locals.iter() {
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
    fn frame(&self, state: &State, machine: &Machine<'_>, entry: EntryId, at: &At<'_>) -> Frame {
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
    fn steps(
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

    fn value(&self, machine: &mut Machine<'_>, frame: &Frame, expr: ExprId) -> Value {
        machine.aside(|machine| machine.eval(frame.entry, expr, &frame.slots).unwrap_or_default())
    }

    fn open(&self, state: &mut State, entry: EntryId, form: Form) -> Open {
        if form != Form::Round {
            state.seq += 1;
        }
        Open {
            key: (state.seq, 0),
            form,
            entry,
            about: About::default(),
            layers: None,
            told: None,
            rounds: FxHashMap::default(),
            round: 0,
            touches: state.touches,
            acts: state.acts.len(),
            done: Vec::new(),
            item: None,
            chain: None,
            is_gate: false,
            gates: Vec::new(),
        }
    }

    /// Looks at the edits made since the last look.
    fn catch_up(&self, state: &mut State, machine: &Machine<'_>) {
        let edits = machine.edits();
        for (at, record) in edits.iter().enumerate().skip(state.seen) {
            let nodes = touched(&record.kind);
            let mut own = nodes.into_iter().flatten().filter(|node| self.asked.nodes.contains(node)).peekable();
            if own.peek().is_none() {
                continue;
            }
            state.touches += 1;
            match self.mode {
                _ if resolving(&state.open) => {}
                Mode::Survey => {}
                Mode::Brief => {
                    for node in own {
                        let (entry, what) = (record.entry, What::Done(Vec::new()));
                        let steps = Vec::new();
                        state.acts.push(Act { node, anchor: None, entry, what, steps, during: None, more: 0 });
                    }
                }
                Mode::Tell(_) => match state.open.iter_mut().rev().find(|open| open.decides()) {
                    Some(open) => open.done.push(at),
                    // No decision led here.
                    None => self.emit_done(state, machine, &[at], None),
                },
            }
        }
        state.seen = edits.len();
    }

    /// Writes down what edits did to each node that they touched.
    fn emit_done(&self, state: &mut State, machine: &Machine<'_>, done: &[usize], open: Option<&Open>) {
        let records: Vec<_> = done.iter().filter_map(|&at| machine.edits().get(at)).collect();
        let mut nodes: Vec<NodeId> = Vec::new();
        for record in &records {
            for node in touched(&record.kind).into_iter().flatten() {
                if self.asked.nodes.contains(&node) && !nodes.contains(&node) {
                    nodes.push(node);
                }
            }
        }
        let Some(first) = records.first() else { return };
        let entry = open.map_or(first.entry, |open| open.entry);
        for node in nodes {
            let told = changes(records.iter().copied(), node, self.before, machine.state());
            if told.is_empty() {
                continue;
            }
            let steps = self.way(state, open);
            let inner = open.and_then(|open| open.item.clone()).filter(|item| node_of(item) != Some(node));
            let during = inner.or_else(|| during(&state.open, node));
            let what = What::Done(told);
            // Edits that nothing decided are told together.
            if open.is_none()
                && let Some(Act { what: What::Done(last), steps, node: same, entry: by, .. }) = state.acts.last_mut()
                && (*same, *by, steps.is_empty()) == (node, entry, true)
            {
                if let What::Done(new) = what {
                    last.extend(new.into_iter().filter(|change| !last.contains(change)).collect::<Vec<_>>());
                }
                continue;
            }
            state.acts.push(Act { node, anchor: None, entry, what, steps, during, more: 0 });
        }
    }

    /// The decisions on the way to what is under way: the last ones in full, of those before them the first lines.
    fn way(&self, state: &State, open: Option<&Open>) -> Vec<TraceStep> {
        let levels = open.into_iter().chain(state.open.iter().rev());
        let root = state.gates.iter().rev().filter_map(|gate| gate.told.as_ref());
        let decisions = levels
            .flat_map(|open| {
                open.gates.iter().rev().filter_map(|gate| gate.told.as_ref()).chain(open.told.as_ref())
            })
            .chain(root);
        let mut steps = Vec::new();
        for (number, told) in decisions.take(IN_FULL + IN_SHORT).enumerate() {
            let short = number >= IN_FULL;
            steps.extend(told.steps.iter().filter(|step| !short || step.depth == 0).cloned());
        }
        steps
    }

    fn close(&self, state: &mut State, machine: &mut Machine<'_>, open: Open) {
        match &self.mode {
            Mode::Survey => {
                let is_about = open.about.value.is_some();
                let is_touched = state.touches > open.touches;
                if is_about || is_touched {
                    want(&mut state.wanted, open.key, &open.about);
                }
                if is_touched {
                    let root = if state.open.is_empty() { state.gates.as_slice() } else { &[] };
                    for gate in open.gates.iter().chain(root) {
                        want(&mut state.wanted, gate.key, &gate.about);
                    }
                }
            }
            Mode::Tell(_) => {
                if !open.done.is_empty() {
                    let done = open.done.clone();
                    self.emit_done(state, machine, &done, Some(&open));
                } else if state.acts.len() == open.acts {
                    self.emit_refusal(state, &open);
                }
            }
            Mode::Brief => {
                if state.touches == open.touches && state.acts.len() == open.acts {
                    self.emit_refusal(state, &open);
                }
            }
        }
    }

    /// Ends what is under way. A gate that let the body go on is kept for what comes after it.
    fn end(&self, state: &mut State, machine: &mut Machine<'_>, mut open: Open) {
        let gate = (open.is_gate && open.told.as_ref().is_none_or(|told| told.refuses.is_none()))
            .then(|| Gate { key: open.key, about: open.about.clone(), told: open.told.clone() });
        if matches!(self.mode, Mode::Brief) {
            open.gates.clear();
        }
        self.close(state, machine, open);
        if let Some(gate) = gate {
            match state.open.last_mut() {
                Some(outer) => outer.gates.push(gate),
                None => state.gates.push(gate),
            }
        }
    }

    fn emit_refusal(&self, state: &mut State, open: &Open) {
        let Some(Told { steps, refuses: Some(stake), foreign }) = &open.told else { return };
        let Some(value) = &open.about.value else { return };
        if stake.is_nothing() {
            return;
        }
        let what = What::Refused { stake: stake.clone(), foreign: *foreign };
        self.emit_refused(state, open.entry, (value, None), what, steps.clone());
    }

    fn emit_refused(
        &self,
        state: &mut State,
        entry: EntryId,
        (about, item): (&Value, Option<Value>),
        what: What,
        steps: Vec<TraceStep>,
    ) {
        let Some(node) = node_of(about).filter(|_| !resolving(&state.open)) else { return };
        let item = item.filter(|item| node_of(item) != Some(node));
        let during = item.or_else(|| during(&state.open, node));
        state.acts.push(Act { node, anchor: about.as_anchor(), entry, what, steps, during, more: 0 });
    }

    /// The locals of a frame that hold a node or an anchor of it.
    fn own(&self, frame: &Frame, about: &About) -> Vec<Local> {
        let Some(node) = about.value.as_ref().and_then(node_of) else { return Vec::new() };
        let holds = |value: &Value| node_of(value) == Some(node);
        (0..).zip(&frame.slots).filter(|(_, value)| holds(value)).map(|(local, _)| local).collect()
    }

    fn branch(
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
        let (steps, foreign) = self.steps(machine, &mut frame, decided, &focus);
        let program = machine.program();
        let own = self.own(&frame, &open.about);
        let refuses = program.hir(spot.entry).and_then(|entry| match taken {
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
    fn elements(
        &self,
        state: &mut State,
        machine: &mut Machine<'_>,
        (spot, statement): (Spot, &Statement),
        open: &mut Open,
    ) {
        let Statement::For { local, list, body } = statement else { return };
        let layers = state.layers.entry((spot.entry, *list)).or_insert_with(|| Layers::new(machine, spot.entry, *list));
        let Some(layers) = layers.clone() else { return };
        open.layers = Some(layers.clone());
        let conditions: Vec<ExprId> = layers.filters.iter().map(|(_, condition)| *condition).collect();
        let bound: Vec<Local> = layers.filters.iter().map(|(local, _)| *local).collect();
        // What the locals of the elements hold yet is of no account.
        let mut frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
        bound.iter().chain([local]).for_each(|&local| frame.bind(local, Value::None));
        let around = self.about(state, machine, spot.entry, &At::Both(spot, &frame.slots), &conditions);
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
            let failed = conditions.iter().find(|&&condition| !self.value(machine, &frame, condition).is_true());
            match failed {
                None => {
                    accepted += 1;
                    let wanted = self.wants((open.key.0, accepted)).map(<[NodeId]>::to_vec);
                    if let Some(mut focus) = wanted {
                        focus.extend(&about.focus);
                        let (steps, foreign) = self.steps(machine, &mut frame.clone(), &conditions, &focus);
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
                    let at_stake =
                        program.hir(spot.entry).map_or_else(Stake::default, |e| stake(program, e, body, &own));
                    if at_stake.is_nothing() {
                        passed -= 1;
                        continue;
                    }
                    let (steps, foreign) = self.steps(machine, &mut frame.clone(), &[condition], &about.focus);
                    let value = about.value.clone().unwrap_or_default();
                    let what = What::Refused { stake: at_stake, foreign };
                    self.emit_refused(state, spot.entry, (&value, Some(element)), what, steps);
                }
            }
        }
    }

    /// A `let`: told now, because what it rests on may change.
    fn bound(&self, state: &mut State, machine: &mut Machine<'_>, spot: Spot, local: Local, value: ExprId, key: Key) {
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
    fn report(&self, state: &mut State, machine: &mut Machine<'_>, spot: Spot, statement: &Statement) {
        let Statement::Report { places, message, help } = statement else { return };
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
    fn require(&self, state: &mut State, machine: &mut Machine<'_>, spot: Spot, step: &ChainStep) {
        let ChainStep::Require { name, condition, otherwise, help } = step else { return };
        let Some(chain) = state.open.iter().rev().find_map(|open| open.chain) else { return };
        let mut frame = self.frame(state, machine, spot.entry, &At::Spot(spot));
        let holds = self.value(machine, &frame, *condition).is_true();
        let focus: Vec<NodeId> = state.chains.get(chain).map(|chain| chain.node).into_iter().collect();
        let brief = matches!(self.mode, Mode::Brief);
        let steps =
            if brief { Vec::new() } else { self.steps(machine, &mut frame, &[*condition], &focus).0 };
        let kept = (!holds).then(|| {
            let reason = self.words.text(machine, spot.entry, *otherwise, &frame.slots);
            let help = self.words.text(machine, spot.entry, *help, &frame.slots);
            (reason.unwrap_or_default(), help)
        });
        if let Some(chain) = state.chains.get_mut(chain) {
            chain.requirements.push((*name, holds, steps));
            chain.kept = kept;
        }
    }
}

fn resolving(open: &[Open]) -> bool {
    open.iter().any(|open| open.form == Form::Resolve)
}

/// The node that is being looked at, if it is another one.
fn during(open: &[Open], node: NodeId) -> Option<Value> {
    open.iter().rev().find_map(|open| open.item.clone()).filter(|item| node_of(item) != Some(node))
}

/// Marks a decision to be told, with the `let`s that it rests on.
fn want(wanted: &mut Wanted, key: Key, about: &About) {
    // The loop of a round tells it.
    let keys = [key, (key.0, 0)].into_iter().chain(about.uses.iter().map(|&seq| (seq, 0)));
    for key in keys {
        let focus = wanted.entry(key).or_default();
        for &node in &about.focus {
            if focus.len() < FOCUS && !focus.contains(&node) {
                focus.push(node);
            }
        }
    }
}

impl Watch for Observer<'_> {
    fn enter(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        condition: Option<ExprId>,
        frame: &[Value],
        holds: bool,
    ) {
        let state = &mut *self.state.borrow_mut();
        let mut open = self.open(state, entry, Form::Plain);
        open.item = frame.get(1).filter(|item| item.as_node().is_some()).cloned();
        let conditions: Vec<ExprId> = condition.into_iter().collect();
        open.about = self.about(state, machine, entry, &At::Slots(frame), &conditions);
        let own = frame.get(1).filter(|node| self.asked.fits(node));
        if own.is_some() {
            open.about.value = own.cloned();
        }
        let told = match &self.mode {
            Mode::Survey => false,
            Mode::Tell(_) => self.wants(open.key).is_some(),
            Mode::Brief => open.about.value.is_some(),
        };
        let program = machine.program();
        let key = program.key(entry);
        if told {
            let mut slots = Frame::new(entry, frame);
            let (steps, foreign) = self.steps(machine, &mut slots, &conditions, &[]);
            let refuses = program.hir(entry).filter(|_| !holds).map(|hir| {
                let own = self.own(&slots, &open.about);
                body(hir).map_or_else(Stake::default, |block| stake(program, hir, block, &own))
            });
            open.told = Some(Told { steps, foreign, refuses });
        }
        if let (true, Some(node), Some((Kind::Chain, chain)), true) =
            (holds, own.and_then(Value::as_node), key, told)
        {
            open.chain = Some(state.chains.len());
            state.chains.push(ChainAct { node, chain, requirements: Vec::new(), kept: None });
        }
        state.open.push(open);
    }

    fn before(&self, machine: &mut Machine<'_>, spot: Spot, statement: &Statement) {
        let state = &mut *self.state.borrow_mut();
        self.catch_up(state, machine);
        let form = if matches!(statement, Statement::Resolve { .. }) { Form::Resolve } else { Form::Plain };
        let mut open = self.open(state, spot.entry, form);
        match statement {
            Statement::If { .. } => self.branch(state, machine, (spot, statement), &mut open),
            Statement::For { .. } => self.elements(state, machine, (spot, statement), &mut open),
            Statement::Let { local, value } => self.bound(state, machine, spot, *local, *value, open.key),
            Statement::Report { .. } => self.report(state, machine, spot, statement),
            Statement::Do { bind: Some(local), .. } => {
                state.lets.remove(&(spot, *local));
            }
            Statement::Insert(insert) => {
                if let Some(local) = insert.bind {
                    state.lets.remove(&(spot, local));
                }
            }
            _ => {}
        }
        state.open.push(open);
    }

    fn step(&self, machine: &mut Machine<'_>, spot: Spot, step: &ChainStep) {
        let state = &mut *self.state.borrow_mut();
        let open = self.open(state, spot.entry, Form::Plain);
        match step {
            ChainStep::Let { local, value } => self.bound(state, machine, spot, *local, *value, open.key),
            ChainStep::Require { condition, .. } => {
                // Of a chain on one of the nodes each requirement is told.
                let own = state.open.iter().rev().find(|open| open.item.is_some()).and_then(|open| open.about.value.as_ref());
                if matches!(self.mode, Mode::Survey) && own.is_some() {
                    let about = self.about(state, machine, spot.entry, &At::Spot(spot), &[*condition]);
                    want(&mut state.wanted, open.key, &about);
                }
                self.require(state, machine, spot, step);
            }
        }
        state.open.push(open);
    }

    fn round(&self, machine: &mut Machine<'_>, spot: Spot, local: Local) {
        let state = &mut *self.state.borrow_mut();
        self.end_round(state, machine);
        state.lets.remove(&(spot, local));
        let mut open = self.open(state, spot.entry, Form::Round);
        let Some(outer) = state.open.last_mut() else { return };
        outer.round += 1;
        open.key = (outer.key.0, outer.round);
        open.told = outer.rounds.remove(&outer.round);
        let value = machine.local_at(spot, local).clone();
        open.item = node_of(&value).is_some().then(|| value.clone());
        if let Some(layers) = outer.layers.clone() {
            let conditions: Vec<ExprId> = layers.filters.iter().map(|(_, condition)| *condition).collect();
            open.about = self.about(state, machine, spot.entry, &At::Spot(spot), &conditions);
        }
        if self.asked.fits(&value) {
            open.about.value = Some(value);
        }
        state.open.push(open);
    }

    fn leave(&self, machine: &mut Machine<'_>) {
        let state = &mut *self.state.borrow_mut();
        self.end_round(state, machine);
        self.catch_up(state, machine);
        if let Some(open) = state.open.pop() {
            self.end(state, machine, open);
        }
    }
}

impl Observer<'_> {
    /// Ends the round of a loop that is under way.
    fn end_round(&self, state: &mut State, machine: &mut Machine<'_>) {
        self.catch_up(state, machine);
        if state.open.last().is_some_and(|open| open.form == Form::Round)
            && let Some(open) = state.open.pop()
        {
            self.end(state, machine, open);
        }
    }
}

