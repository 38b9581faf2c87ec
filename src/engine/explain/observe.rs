//! Looking on while a pass runs: what it decided about the nodes asked about, and what it did to them.
//!
//! Promise: which rules there are is not known in here. A condition is *about* a node if a local in it holds the node
//! or an anchor of it, or was bound by a `let` that is about the node. What decided is told at the moment of the
//! decision, on the graph as it was then; the run itself is not changed.
//!
//! A run is watched twice. The *survey* finds which decisions matter: those about a node, and those on the way to an
//! edit of one. Then they are *told*. For a table of many nodes one run is enough: reasons are short there.

mod chains;
mod decide;
mod emit;
mod state;

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::changes::Change;
use super::scan::node_of;
use super::why::Frame;
use super::words::Words;
use super::would::{Stake, body, stake};
use super::{Answer, TraceStep};
use crate::graph::{Anchor, NodeId, Snapshot, Sym};
use crate::lang::eval::{EntryId, Machine, Spot, Value, Watch};
use crate::lang::hir::{ChainStep, ExprId, Local, Statement};
use crate::lang::syntax::ast::Kind;

use state::{At, Form, State, Told, want};

/// Nodes that one decision is about.
const FOCUS: usize = 4;

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
    /// `foreign`: by the operator type, so the rule is for other nodes. `whole`: its body was not begun.
    Refused {
        stake: Stake,
        foreign: bool,
        whole: bool,
    },
    Reported {
        message: String,
        help: Option<String>,
        places: Vec<Value>,
    },
}

/// A chain that looked at a node.
#[derive(Clone, Debug)]
pub struct ChainAct {
    pub node: NodeId,
    pub chain: Sym,
    pub requirements: Vec<(Sym, Answer, Vec<TraceStep>)>,
    /// The ways of the walks that its `let`s went.
    pub walks: Vec<TraceStep>,
    /// Those of loops that held, with the round in which they were asked last.
    asked: Vec<(Sym, Key)>,
    /// The reason and the advice of the requirement that failed.
    pub kept: Option<(String, Option<String>)>,
}

pub struct Observer<'s> {
    words: Words<'s>,
    before: &'s Snapshot,
    asked: &'s Asked,
    mode: Mode,
    state: RefCell<State>,
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
}

impl Watch for Observer<'_> {
    fn listed(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        (list, condition): (ExprId, Option<ExprId>),
        nodes: &[NodeId],
    ) {
        let state = &mut *self.state.borrow_mut();
        let listed: FxHashSet<NodeId> = nodes.iter().copied().collect();
        let mut others: Vec<NodeId> = self.asked.nodes.difference(&listed).copied().collect();
        others.sort_unstable();
        for node in others.into_iter().filter(|&node| machine.state().contains(node)).collect::<Vec<_>>() {
            let key = self.open(state, entry, Form::Plain).key;
            self.unlisted(state, machine, (entry, list, condition), node, key);
        }
    }

    fn enter(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        condition: Option<ExprId>,
        frame: &[Value],
        holds: bool,
    ) {
        let state = &mut *self.state.borrow_mut();
        let mut open = self.open(state, entry, Form::Body);
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
            state.chains.push(ChainAct {
                node,
                chain,
                requirements: Vec::new(),
                walks: Vec::new(),
                asked: Vec::new(),
                kept: None,
            });
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
            Statement::Let { local, value } => {
                self.filtered(state, machine, spot, (*local, *value), open.key);
                self.bound(state, machine, spot, *local, *value, open.key);
            }
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
            ChainStep::Let { local, value } => {
                self.walked(state, machine, spot, *value);
                self.bound(state, machine, spot, *local, *value, open.key);
            }
            ChainStep::Require { condition, .. } => {
                // Of a chain on one of the nodes each requirement is told.
                let own = state
                    .open
                    .iter()
                    .rev()
                    .find(|open| open.form == Form::Body)
                    .and_then(|open| open.about.value.as_ref());
                if matches!(self.mode, Mode::Survey) && own.is_some() {
                    let about = self.about(state, machine, spot.entry, &At::Spot(spot), &[*condition]);
                    want(&mut state.wanted, open.key, &about);
                }
                self.require(state, machine, spot, step);
            }
            ChainStep::Use { .. } => self.left_out(state, machine, spot, step),
            ChainStep::Attempt { .. } | ChainStep::For { .. } => {}
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
        open.element = Some(value.clone());
        if let Some(layers) = outer.layers.clone() {
            let conditions: Vec<ExprId> = layers.filters.iter().map(|(_, condition)| *condition).collect();
            open.about = self.about(state, machine, spot.entry, &At::Spot(spot), &conditions);
            let base = self.about(state, machine, spot.entry, &At::Spot(spot), &[layers.list]);
            open.about.uses.extend(base.uses);
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
