//! Rounds of loops that an earlier run has gone through already.
//!
//! Rules go through all nodes of a graph, and at most of them there is nothing to do: they look, and perhaps report. After an edit
//! of other rules they do so again, on a graph that differs in a handful of nodes. Promise: a round is taken over only if what it
//! came to rests on nothing that is another thing now, so that it would come to the same; it then costs a look at what it read.
//! What a round read is recorded while it runs: the nodes ([`Machine::see`]), and what no node stands for ([`Told`]). Who read more
//! than that can name, changed anything, failed, or ended its loop runs again each time. Recording changes no result.
//!
//! A thing is the same at a moment of this run as at one of the earlier run if it was when both began ([`Apart`]) and neither has
//! touched it by then ([`super::touched`]). Notes, paths and cells of matrices are asked again instead.
//!
//! INVARIANT same-graphs: runs are compared only while all that is said of graphs is the same in both, so that need not be recorded
//! ([`Apart`] tells; it also counts what is around a node as its own, and so kinds of nodes may be used).

use std::cell::Cell;

use super::cells::Said;
use super::code::{Code, Op};
use super::exec::{Flow, Report};
use super::rounds::{Kept, Place, Rounds, SUBJECT};
use super::stretch::Element;
use super::touched::Moment;
use super::trace::{ReadLog, Told};
use super::{EntryId, Failure, Machine, Value};
use crate::graph::{Apart, GraphId, NodeId};
use crate::lang::hir::{ExprId, Local};

/// So many rounds of a loop, or elements, tell whether it is worth it to record the others.
pub(super) const TRIED: u32 = 64;

/// It is if one in so many did nothing, or what came of it could be kept.
pub(super) const WORTH: u32 = 4;

/// What a machine that takes rounds over works with.
pub struct Again<'a> {
    earlier: Option<(&'a Rounds, &'a Apart)>,
    now: Rounds,
    /// What the cells say on which the earlier run rests: which of them have been asked, and which of these say something else.
    checked: u64,
    changed: u64,
    /// A matrix has been asked in this run.
    has_asked: bool,
    /// Cells that were asked outside of rounds, since somebody wanted to know.
    cells: u64,
    /// By node, the last round that has seen it.
    seen: Vec<u32>,
    round: u32,
    /// Used again.
    log: Option<Box<ReadLog>>,
}

/// A loop that is under way.
pub struct Turn<'a> {
    now: usize,
    earlier: Option<&'a super::rounds::Loop>,
    /// Where in the earlier one.
    cursor: Cell<usize>,
    run: Cell<u32>,
    silent: Cell<u32>,
}

impl<'a> Turn<'a> {
    /// Its number in this run, and what it was in the earlier one.
    pub(super) fn places(&self) -> (usize, Option<&'a super::rounds::Loop>) {
        (self.now, self.earlier)
    }

    /// Whether rounds of this loop mostly do something.
    fn is_busy(&self) -> bool {
        self.run.get() >= TRIED && self.silent.get() < self.run.get() / WORTH
    }
}

/// Where a round began.
struct Begun {
    epoch: u64,
    steps: u64,
    reports: usize,
    isolated: usize,
}

impl<'a> Again<'a> {
    /// Takes rounds of an earlier run over, if one is given; how far its graph and this one are apart.
    pub fn new(earlier: Option<(&'a Rounds, &'a Apart)>) -> Again<'a> {
        let now = earlier.map_or_else(Rounds::default, |(rounds, _)| Rounds::after(rounds));
        let (seen, log) = (Vec::new(), None);
        Again { earlier, now, checked: 0, changed: 0, has_asked: false, cells: 0, seen, round: 0, log }
    }

    /// `None`: the loop has been gone through before in this run, and its rounds are those of that time.
    fn turn(&mut self, place: Place) -> Option<Turn<'a>> {
        let earlier = self.earlier.and_then(|(rounds, _)| rounds.find(&place));
        let now = self.now.begin(place)?;
        Some(Turn { now, earlier, cursor: Cell::new(0), run: Cell::new(0), silent: Cell::new(0) })
    }

    /// Whether all that a round read is the same.
    fn holds(&mut self, machine: &mut Machine<'a>, round: &Kept) -> bool {
        let Some((rounds, apart)) = self.earlier else { return false };
        let (then, now) = (&rounds.touched, &self.now.touched);
        let (by, here): (Moment, Moment) = (round.at, now.now());
        if then.has_graphs(by) || now.has_graphs(here) {
            return false;
        }
        let reads = rounds.reads(round);
        let same =
            |&node: &NodeId| apart.is_same(node) && !then.has_node(node, by) && !now.has_node(node, here);
        let same_own = |&node: &NodeId| {
            apart.is_same_in_itself(node) && !then.has_own(node, by) && !now.has_own(node, here)
        };
        if !reads.nodes.iter().all(same) || !reads.own.iter().all(same_own) {
            return false;
        }
        let has_ids = || then.has_ids(by) || now.has_ids(here);
        let told = reads.told.iter().all(|told| match *told {
            Told::Id(_) | Told::Order(..) => !has_ids() && told.is_same(apart),
            Told::List { graph, all: false } => {
                !then.has_list(graph, by) && !now.has_list(graph, here) && told.is_same(apart)
            }
            Told::List { all: true, .. } => {
                !then.has_any_list(by) && !now.has_any_list(here) && told.is_same(apart)
            }
            Told::Reaches { from, to, holds } => machine.host.reaches(machine, from, to) == holds,
            Told::Mark(_) => false,
            Told::Note(at) => rounds.noted(round, at).is_some_and(|noted| {
                let value = machine.notes.get(&(noted.note, noted.subject));
                value.unwrap_or(&Value::None) == &noted.value
            }),
        });
        told && self.cells_stand(machine, &rounds.said, round.cells)
    }

    /// Whether cells say what they said to the earlier run.
    fn cells_stand(&mut self, machine: &mut Machine<'a>, said: &Said, cells: u64) -> bool {
        let new = cells & !self.checked;
        if new != 0 {
            for (bit, question, answer) in said.of(new) {
                if machine.ask_cell(question) != Some(answer) {
                    self.changed |= bit;
                }
            }
            self.checked |= new;
        }
        cells & self.changed == 0
    }

    /// Keeps what a round read, each node once.
    fn keep(&mut self, turn: &Turn<'_>, node: NodeId, log: &mut ReadLog, found: (&[Report], u64)) {
        self.tidy(log);
        self.now.keep(turn.now, node, log, found);
    }

    /// Leaves each node once.
    fn tidy(&mut self, log: &mut ReadLog) {
        self.round = self.round.wrapping_add(1);
        let (seen, round) = (&mut self.seen, self.round);
        // Who read the edges of a node is in the first.
        for nodes in [&mut log.nodes, &mut log.own] {
            nodes.retain(|node| {
                let at = node.0 as usize;
                if seen.len() <= at {
                    seen.resize(at + 1, 0);
                }
                std::mem::replace(&mut seen[at], round) != round
            });
        }
    }
}

impl<'a> Machine<'a> {
    /// Records rounds from now on, and takes over what is the same.
    pub fn set_again(&mut self, again: Again<'a>) {
        self.again = Some(Box::new(again));
    }

    /// What was recorded. `None`: nothing, or too much.
    pub fn take_rounds(&mut self) -> Option<Rounds> {
        self.again.take()?.now.finish()
    }

    /// Begins a loop over the nodes that the body of an entry is for; `None`: it is run as it is.
    pub fn subject_turn(&mut self, entry: EntryId, around: &[Value]) -> Option<Turn<'a>> {
        self.turn(|| Place { entry, list: SUBJECT, around: around.to_vec() })
    }

    /// Begins a loop of a body, likewise. What only expressions have left in the frame is not around it.
    pub(super) fn loop_turn(
        &mut self,
        code: &Code,
        list: ExprId,
        (local, base): (Local, usize),
    ) -> Option<Turn<'a>> {
        self.again.as_ref()?;
        let around = self.around(code, (local, base));
        self.turn(|| Place { entry: code.entry, list, around })
    }

    /// What is in a frame before the element of a loop, but for what only expressions have left there.
    pub(super) fn around(&self, code: &Code, (local, base): (Local, usize)) -> Vec<Value> {
        let mut around = self.stack.get(base..base + local as usize).unwrap_or_default().to_vec();
        for op in &code.ops {
            if let Op::Let { local, .. }
            | Op::Quantifier { local, .. }
            | Op::Where { local, .. }
            | Op::Each { local, .. } = op
                && let Some(left) = around.get_mut(*local as usize)
            {
                *left = Value::None;
            }
        }
        around
    }

    pub(super) fn turn(&mut self, place: impl FnOnce() -> Place) -> Option<Turn<'a>> {
        let is_inner = self.reads.is_some() || self.is_observed();
        // What these hold is not recorded.
        let is_beside = self.tracked.is_some() || self.builder.is_some() || self.lasting.is_some();
        let again = self.again.as_mut().filter(|_| !is_inner && !is_beside)?;
        again.turn(place())
    }

    /// Takes a round over, if all that it read is the same.
    fn take_over(&mut self, turn: &Turn<'a>, node: NodeId) -> bool {
        let Some(round) = turn.earlier.and_then(|rounds| rounds.at(&turn.cursor, node)) else { return false };
        let Some(mut again) = self.again.take() else { return false };
        let rounds = again.earlier.map(|(rounds, _)| rounds).filter(|_| again.holds(self, round));
        if let Some(rounds) = rounds {
            self.reports.extend_from_slice(rounds.reports(round));
            // A run that is too long is too long again.
            self.spend(round.steps.into());
            again.now.take_over(turn.now, (node, round), rounds);
        }
        self.again = Some(again);
        rounds.is_some()
    }

    /// Begins to record a round.
    fn begin_again(&mut self, node: NodeId) -> Begun {
        self.read_round(node);
        let (reports, isolated) = (self.reports.len(), self.isolated.len());
        Begun { epoch: self.epoch(), steps: self.steps, reports, isolated }
    }

    /// Ends what [`Machine::begin_again`] began; `goes_on`: nothing has failed, and the loop goes on.
    fn end_again(&mut self, turn: &Turn<'a>, node: NodeId, begun: &Begun, goes_on: bool) {
        let Some(mut log) = self.reads.take() else { return };
        let is_silent = goes_on
            && !log.everything
            && self.epoch() == begun.epoch
            && self.isolated.len() == begun.isolated
            && self.tracked.is_none();
        let Some(again) = self.again.as_mut() else { return };
        turn.run.set(turn.run.get().saturating_add(1));
        if is_silent {
            turn.silent.set(turn.silent.get().saturating_add(1));
            let found = self.reports.get(begun.reports..).unwrap_or_default();
            again.keep(turn, node, &mut log, (found, begun.steps.saturating_sub(self.steps)));
        } else {
            again.now.pass_by(turn.now, node);
        }
        again.log = Some(log);
    }

    /// The round of a subject at a node.
    pub fn again(
        &mut self,
        turn: &Turn<'a>,
        node: NodeId,
        body: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.round(turn, node, |machine| body(machine).map(|()| Flow::Next)).map(|_| ())
    }

    /// The round of a loop at a node.
    pub(super) fn round(
        &mut self,
        turn: &Turn<'a>,
        node: NodeId,
        body: impl FnOnce(&mut Self) -> Result<Flow, Failure>,
    ) -> Result<Flow, Failure> {
        if self.take_over(turn, node) {
            return self.settle(Flow::Next);
        }
        if turn.is_busy() {
            if let Some(again) = &mut self.again {
                again.now.pass_by(turn.now, node);
            }
            return body(self);
        }
        let begun = self.begin_again(node);
        let result = body(self);
        self.end_again(turn, node, &begun, matches!(result, Ok(Flow::Next)));
        result
    }
}

// What stretches are kept by.
impl<'a> Machine<'a> {
    /// Records what is read from now on, of which a node is the first. `None`: nobody keeps it.
    pub(super) fn read_round(&mut self, node: NodeId) -> Option<()> {
        let again = self.again.as_mut()?;
        let mut log = again.log.take().unwrap_or_default();
        log.clear();
        log.of_round = true;
        // Who is for a node looks whether it is there.
        log.see_own(node);
        self.begin_record(log);
        Some(())
    }

    /// Keeps the room of what was recorded.
    pub(super) fn keep_log(&mut self, log: Box<ReadLog>) {
        if let Some(again) = &mut self.again {
            again.log = Some(log);
        }
    }

    /// So many edits into the run.
    pub(super) fn moment(&self) -> Moment {
        self.again.as_ref().map_or(0, |again| again.now.touched.now())
    }

    /// Takes a stretch of the earlier run over, if all that was read there is the same. Gives its number.
    pub(super) fn take_stretch(&mut self, turn: usize, stretch: &Kept) -> Option<u32> {
        let mut again = self.again.take()?;
        let rounds = again.earlier.map(|(rounds, _)| rounds);
        let rounds = rounds.filter(|_| stretch.is_known() && again.holds(self, stretch));
        let number = rounds.and_then(|rounds| again.now.take_stretch(turn, stretch, rounds));
        self.again = Some(again);
        number.filter(|_| self.spend(stretch.steps.into()))
    }

    pub(super) fn keep_elements(&mut self, turn: usize, elements: Vec<(Element, u32)>, taken_over: usize) {
        if let Some(again) = &mut self.again {
            again.now.keep_elements(turn, elements, taken_over);
        }
    }

    /// Begins a stretch, if there is room. Gives its number.
    pub(super) fn begin_stretch(&mut self, turn: usize) -> Option<u32> {
        let again = self.again.as_mut().filter(|again| again.now.has_room())?;
        again.now.begin_stretch(turn)
    }

    pub(super) fn keep_stretch(&mut self, place: (usize, u32), at: Moment, mut log: ReadLog, steps: u32) {
        if let Some(again) = &mut self.again {
            again.tidy(&mut log);
            again.now.end_stretch(place, at, &log, steps);
        }
    }
}

// What edits touch.
impl Machine<'_> {
    /// A node has changed, with what is said of the nodes inside.
    pub(super) fn touch(&mut self, node: NodeId) {
        let Some(mut again) = self.again.take() else { return };
        let touched = &mut again.now.touched;
        touched.step();
        touched.node(node);
        let graphs = self.edit.get_node(node).map(|node| node.subgraphs.clone());
        for &graph in graphs.iter().flat_map(|graphs| graphs.iter()) {
            self.near().all_nodes(graph).into_iter().for_each(|inner| touched.node(inner));
        }
        self.again = Some(again);
    }

    pub(super) fn touch_edges(&mut self, node: NodeId) {
        if let Some(again) = &mut self.again {
            again.now.touched.step();
            again.now.touched.edges(node);
        }
    }

    pub(super) fn touch_list(&mut self, graph: GraphId) {
        if let Some(again) = &mut self.again {
            again.now.touched.list(graph);
        }
    }

    pub(super) fn touch_order(&mut self) {
        if let Some(again) = &mut self.again {
            again.now.touched.step();
            again.now.touched.order();
        }
    }

    pub(super) fn touch_ids(&mut self) {
        if let Some(again) = &mut self.again {
            again.now.touched.ids();
        }
    }

    pub(super) fn touch_graphs(&mut self) {
        if let Some(again) = &mut self.again {
            again.now.touched.step();
            again.now.touched.graphs();
        }
    }
}

// What is found once and used by many rounds rests on the cells that were asked for it.
impl Machine<'_> {
    /// What matrices said; `None`: nobody takes note.
    pub(super) fn said(&mut self) -> Option<&mut Said> {
        let again = self.again.as_mut()?;
        again.has_asked = true;
        Some(&mut again.now.said)
    }

    /// Where cells are noted that are asked now.
    fn cells(&mut self) -> Option<&mut u64> {
        match &mut self.reads {
            Some(reads) => Some(&mut reads.cells),
            None => self.again.as_mut().map(|again| &mut again.cells),
        }
    }

    pub(super) fn see_cells(&mut self, cells: u64) {
        if let Some(seen) = self.cells() {
            *seen |= cells;
        }
    }

    /// Something that was remembered is used again, and nobody told what it rests on.
    pub(super) fn see_unknown_cells(&mut self) {
        if let Some(again) = self.again.as_mut().filter(|again| again.has_asked) {
            again.cells = super::cells::ANY_CELL;
        }
    }

    /// What is found from here on is used again. Gives what is to be handed to [`Machine::end_shared`].
    pub(super) fn begin_shared(&mut self) -> u64 {
        self.cells().map_or(0, std::mem::take)
    }

    /// The cells that it rests on.
    pub(super) fn end_shared(&mut self, outer: u64) -> u64 {
        let Some(cells) = self.cells() else { return 0 };
        let found = *cells;
        *cells |= outer;
        found
    }
}
