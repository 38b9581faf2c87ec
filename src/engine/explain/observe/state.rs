//! What an observer keeps while a pass runs.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::super::scan::{Layers, node_of};
use super::super::would::Stake;
use super::super::{StepKind, TraceStep};
use super::{Act, ChainAct, FOCUS, Key, Wanted};
use crate::graph::NodeId;
use crate::lang::eval::{EntryId, Machine, Spot, Value};
use crate::lang::hir::{ExprId, Local};

pub enum At<'f> {
    Spot(Spot),
    Slots(&'f [Value]),
    /// A frame in which other elements are tried.
    Both(Spot, &'f [Value]),
}

impl At<'_> {
    pub fn get(&self, machine: &Machine<'_>, local: Local) -> Value {
        match self {
            At::Spot(spot) => machine.local_at(*spot, local).clone(),
            At::Slots(slots) | At::Both(_, slots) => slots.get(local as usize).cloned().unwrap_or_default(),
        }
    }

    pub fn spot(&self) -> Option<Spot> {
        match self {
            At::Spot(spot) | At::Both(spot, _) => Some(*spot),
            At::Slots(_) => None,
        }
    }
}

/// What a decision is about.
#[derive(Clone, Default)]
pub struct About {
    pub value: Option<Value>,
    /// The `let`s that it rests on.
    pub uses: Vec<u32>,
    pub focus: Vec<NodeId>,
}

pub struct Bound {
    pub seq: u32,
    pub about: About,
    pub told: Option<Rc<[TraceStep]>>,
}

/// A decision that has been told.
#[derive(Clone)]
pub struct Told {
    pub steps: Vec<TraceStep>,
    /// The last word was about the operator type.
    pub foreign: bool,
    /// The condition kept something from being done.
    pub refuses: Option<Stake>,
}

/// A decision that could have ended the body, and did not.
pub struct Gate {
    pub key: Key,
    pub about: About,
    pub told: Option<Told>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Plain,
    /// Of a rule that is for certain nodes.
    Body,
    Round,
    /// The layer tells what happens in here.
    Resolve,
}

/// The locals that an expression reads, and where.
type Mentions = Rc<[(Local, ExprId)]>;

/// Something that is under way.
pub struct Open {
    pub key: Key,
    pub form: Form,
    pub entry: EntryId,
    pub about: About,
    pub layers: Option<Rc<Layers>>,
    pub told: Option<Told>,
    pub rounds: FxHashMap<u32, Told>,
    pub round: u32,
    pub touches: usize,
    pub acts: usize,
    /// Edits that no inner decision has taken.
    pub done: Vec<usize>,
    /// The node or the anchor that is being looked at.
    pub item: Option<Value>,
    /// The element of a loop.
    pub element: Option<Value>,
    pub chain: Option<usize>,
    /// All that the statement can do is to end the body.
    pub is_gate: bool,
    pub gates: Vec<Gate>,
}

#[derive(Default)]
pub struct State {
    pub seq: u32,
    /// Edits that have been looked at.
    pub seen: usize,
    pub touches: usize,
    pub lets: FxHashMap<(Spot, Local), Bound>,
    pub open: Vec<Open>,
    pub mentions: FxHashMap<(EntryId, ExprId), Mentions>,
    pub layers: FxHashMap<(EntryId, ExprId), Option<Rc<Layers>>>,
    pub wanted: Wanted,
    /// Gates of a body that is for no certain node.
    pub gates: Vec<Gate>,
    pub acts: Vec<Act>,
    pub chains: Vec<ChainAct>,
}

impl Open {
    /// It, or a gate in its body, has been told.
    pub fn decides(&self) -> bool {
        self.told.is_some() || self.gates.iter().any(|gate| gate.told.is_some())
    }
}

/// A step and those that explain it.
pub fn tree(steps: &[TraceStep], at: usize) -> &[TraceStep] {
    let inner = steps[at + 1..].iter().take_while(|step| step.depth > steps[at].depth).count();
    &steps[at..=at + inner]
}

/// What has been opened once is not opened again.
pub fn told_once(steps: &[TraceStep]) -> Vec<TraceStep> {
    let mut out: Vec<TraceStep> = Vec::with_capacity(steps.len());
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        let new = tree(steps, at);
        let text = |step: &TraceStep| (step.source.clone(), step.value.clone());
        let same = |known: usize| {
            let known = tree(&out, known);
            known.len() == new.len() && known.iter().map(text).eq(new.iter().map(text))
        };
        let is_known = new.len() > 1 && step.depth > 0 && (0..out.len()).any(same);
        at += if is_known { new.len() } else { 1 };
        out.push(step.clone());
    }
    out
}

/// Adds those steps that have not been told anywhere; of a list that has been, the elements that have not.
pub fn append_new(steps: &mut Vec<TraceStep>, more: Vec<TraceStep>) {
    let mut at = 0;
    while at < more.len() {
        let (step, new) = (&more[at], tree(&more, at));
        let known = |step: &TraceStep| {
            steps.iter().any(|known| (&known.source, &known.value) == (&step.source, &step.value))
        };
        let is_element = step.kind == StepKind::Element;
        let mut elements = new.iter().filter(|step| step.kind == StepKind::Element);
        if known(step) && elements.all(known) {
            if step.depth > 0 && !is_element {
                steps.push(step.clone());
            }
            at += new.len();
        } else if is_element {
            steps.extend(new.iter().cloned());
            at += new.len();
        } else {
            steps.push(step.clone());
            at += 1;
        }
    }
}

/// Adds steps; what has been told is not opened again.
pub fn append(steps: &mut Vec<TraceStep>, more: Vec<TraceStep>) {
    let told = steps.len();
    let mut at = 0;
    while at < more.len() {
        let new = tree(&more, at);
        let same = |known: usize| {
            let known = tree(&steps[..told], known);
            let texts = |step: &TraceStep| (step.source.clone(), step.value.clone(), step.at.clone());
            known.len() == new.len() && known.iter().map(texts).eq(new.iter().map(texts))
        };
        let size = new.len();
        if size > 1 && (0..told).any(same) {
            // On its own level it would be said twice.
            if new[0].depth > 0 {
                steps.push(more[at].clone());
            }
            at += size;
        } else {
            steps.push(more[at].clone());
            at += 1;
        }
    }
}

pub fn resolving(open: &[Open]) -> bool {
    open.iter().any(|open| open.form == Form::Resolve)
}

/// The node that is being looked at, if it is another one.
pub fn during(open: &[Open], node: NodeId) -> Option<Value> {
    open.iter().rev().find_map(|open| open.item.clone()).filter(|item| node_of(item) != Some(node))
}

/// Marks a decision to be told, with the `let`s that it rests on.
pub fn want(wanted: &mut Wanted, key: Key, about: &About) {
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
