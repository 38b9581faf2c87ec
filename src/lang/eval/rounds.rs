//! What is kept of the rounds of a run for runs after it.
//!
//! Promise: no more than a bounded amount. What a round read lies beside what the others read; a run that takes a round over shares
//! that with the run before, and no longer than a few times.

use std::cell::Cell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::cells::Said;
use super::exec::Report;
use super::in_order::InOrder;
use super::stretch::{Element, Stretches};
use super::touched::{Moment, Touched};
use super::trace::{Noted, ReadLog, Told};
use super::{EntryId, Value};
use crate::graph::NodeId;
use crate::lang::hir::ExprId;

/// No more than so much is kept of one run, counted in nodes: 32 MB.
const MOST_KEPT: usize = 1 << 23;

/// And so much is recorded for it, repetitions included.
const MOST_RECORDED: usize = 4 * MOST_KEPT;

/// What is kept lies in no more parts than so many: what nobody needs any more goes when they are put together.
const MOST_SHELVES: usize = 4;

// What else is kept, beside a node.
const ROUND: usize = size_of::<(NodeId, Kept)>() / size_of::<NodeId>();
const ELEMENT: usize = size_of::<(Element, u32)>() / size_of::<NodeId>();
const TOLD: usize = size_of::<Told>() / size_of::<NodeId>();
const NOTED: usize = size_of::<Noted>() / size_of::<NodeId>();
const REPORT: usize = size_of::<Report>() / size_of::<NodeId>();

/// Stands for the list of a subject.
pub(super) const SUBJECT: ExprId = ExprId::MAX;

/// A loop, with what was around it when it began: all that its rounds find in their frame, but the element.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    pub entry: EntryId,
    pub list: ExprId,
    pub around: Vec<Value>,
}

/// A part of one of the lists of a [`Shelf`].
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    from: u32,
    to: u32,
}

impl Part {
    fn of<T>(self, list: &[T]) -> &[T] {
        list.get(self.from as usize..self.to as usize).unwrap_or_default()
    }

    /// Copies more on to a list.
    fn push<T: Clone>(more: &[T], list: &mut Vec<T>) -> Part {
        let from = list.len() as u32;
        list.extend_from_slice(more);
        Part { from, to: list.len() as u32 }
    }
}

/// What a loop did at one node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// When, among the edits of its run.
    pub at: Moment,
    pub steps: u32,
    pub cells: u64,
    /// [`NOWHERE`]: it is to be run again.
    shelf: u32,
    nodes: Part,
    /// The end of those whose edges were not read: they stand behind the others.
    own: u32,
    told: Part,
    reports: Part,
}

const NOWHERE: u32 = u32::MAX;

/// To be run again.
pub(super) const PASSED_BY: Kept = {
    let nothing = Part { from: 0, to: 0 };
    let (nodes, told, reports) = (nothing, nothing, nothing);
    Kept { at: 0, steps: 0, cells: 0, shelf: NOWHERE, nodes, own: 0, told, reports }
};

impl Kept {
    /// Whether it can be taken over.
    pub fn is_known(&self) -> bool {
        self.shelf != NOWHERE
    }
}

/// What rounds read and reported.
#[derive(Debug, Default)]
struct Shelf {
    nodes: Vec<NodeId>,
    told: Vec<Told>,
    noted: Vec<Noted>,
    reports: Vec<Report>,
}

impl Shelf {
    fn size(&self) -> usize {
        let Shelf { nodes, told, noted, reports } = self;
        nodes.len() + TOLD * told.len() + NOTED * noted.len() + REPORT * reports.len()
    }
}

/// What a round read, each node once.
pub(super) struct Reads<'a> {
    pub nodes: &'a [NodeId],
    pub own: &'a [NodeId],
    pub told: &'a [Told],
}

/// The rounds of a loop, in order.
#[derive(Debug, Default)]
pub(super) struct Loop {
    rounds: InOrder<NodeId, Kept>,
    /// What is known of its elements, those without a round too.
    pub(super) stretches: Stretches,
}

impl Loop {
    /// The round at a node, if there is one that can be taken over. `cursor`: behind the one before.
    #[inline]
    pub fn at(&self, cursor: &Cell<usize>, node: NodeId) -> Option<&Kept> {
        let place = self.rounds.near(cursor.get(), node).or_else(|| self.rounds.anywhere(node))?;
        cursor.set(place + 1);
        self.rounds.all().get(place).map(|(_, round)| round).filter(|round| round.is_known())
    }
}

/// The rounds of a run, with what each of them read and reported.
#[derive(Debug, Default)]
pub struct Rounds {
    size: usize,
    recorded: usize,
    taken_over: usize,
    elements: usize,
    places: FxHashMap<Place, usize>,
    loops: Vec<Loop>,
    /// Those of runs before.
    shelves: Vec<Arc<Shelf>>,
    /// Behind them.
    own: Shelf,
    pub(super) said: Said,
    pub(super) touched: Touched,
}

impl Rounds {
    /// Those of a run that may take over from another one.
    pub(super) fn after(earlier: &Rounds) -> Rounds {
        let shelves = if earlier.shelves.len() < MOST_SHELVES { earlier.shelves.clone() } else { Vec::new() };
        let size = shelves.iter().map(|shelf| shelf.size()).sum();
        Rounds { size, shelves, said: earlier.said.clone(), ..Rounds::default() }
    }

    /// About how much is kept.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How often it was asked whether a path leads from one node to another.
    pub fn asked_paths(&self) -> usize {
        let told = self.shelves.iter().flat_map(|shelf| &shelf.told);
        told.filter(|told| matches!(told, Told::Reaches { .. })).count()
    }

    /// How many rounds there are, and how many of them are those of an earlier run.
    pub fn count(&self) -> (usize, usize) {
        let rounds = self.loops.iter().flat_map(|one| one.rounds.all());
        (rounds.filter(|(_, round)| round.is_known()).count(), self.taken_over)
    }

    /// Of how many elements it was told by an earlier run what comes of them.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// `None`: there is nothing, or too much.
    pub(super) fn finish(mut self) -> Option<Rounds> {
        if self.is_full() {
            return None;
        }
        self.size += self.touched.size();
        self.shelves.push(Arc::new(std::mem::take(&mut self.own)));
        self.loops.iter().any(|one| !one.rounds.all().is_empty() || !one.stretches.is_empty()).then_some(self)
    }

    fn is_full(&self) -> bool {
        self.recorded > MOST_RECORDED || self.size > MOST_KEPT
    }

    /// The loop of an earlier run at a place.
    pub(super) fn find(&self, place: &Place) -> Option<&Loop> {
        self.loops.get(*self.places.get(place)?)
    }

    /// A loop begins; gives its number. `None`: it has begun before.
    pub(super) fn begin(&mut self, place: Place) -> Option<usize> {
        let number = self.loops.len();
        if self.places.contains_key(&place) {
            return None;
        }
        self.places.insert(place, number);
        self.loops.push(Loop::default());
        Some(number)
    }

    fn shelf(&self, round: &Kept) -> Option<&Shelf> {
        self.shelves.get(round.shelf as usize).map(|shelf| &**shelf)
    }

    #[inline]
    pub(super) fn reads(&self, round: &Kept) -> Reads<'_> {
        let Some(shelf) = self.shelf(round) else { return Reads { nodes: &[], own: &[], told: &[] } };
        let own = Part { from: round.nodes.to, to: round.own };
        Reads {
            nodes: round.nodes.of(&shelf.nodes),
            own: own.of(&shelf.nodes),
            told: round.told.of(&shelf.told),
        }
    }

    pub(super) fn noted(&self, round: &Kept, at: u32) -> Option<&Noted> {
        self.shelf(round)?.noted.get(at as usize)
    }

    pub(super) fn reports(&self, round: &Kept) -> &[Report] {
        self.shelf(round).map_or(&[], |shelf| round.reports.of(&shelf.reports))
    }

    /// Keeps a round that has ended.
    pub(super) fn keep(
        &mut self,
        turn: usize,
        node: NodeId,
        log: &ReadLog,
        (reports, steps): (&[Report], u64),
    ) {
        let Ok(steps) = u32::try_from(steps) else { return self.pass_by(turn, node) };
        let reads = Reads { nodes: &log.nodes, own: &log.own, told: &log.told };
        if let Some(round) = self.put(reads, &log.noted, (reports, steps, log.cells)) {
            self.add(turn, node, round);
        }
    }

    /// Puts away what was read and reported. `None`: there is too much of it.
    fn put(
        &mut self,
        reads: Reads<'_>,
        noted: &[Noted],
        (reports, steps, cells): (&[Report], u32, u64),
    ) -> Option<Kept> {
        let size = reads.nodes.len() + reads.own.len() + TOLD * reads.told.len();
        self.recorded += size;
        self.size += size + (NOTED + TOLD) * noted.len() + REPORT * reports.len();
        if self.is_full() {
            self.forget();
            return None;
        }
        let shelf = &mut self.own;
        let nodes = Part::push(reads.nodes, &mut shelf.nodes);
        let own = Part::push(reads.own, &mut shelf.nodes).to;
        let mut told = Part::push(reads.told, &mut shelf.told);
        for noted in noted {
            shelf.told.push(Told::Note(shelf.noted.len() as u32));
            shelf.noted.push(noted.clone());
            told.to += 1;
        }
        let reports = Part::push(reports, &mut shelf.reports);
        let (at, shelf) = (self.touched.now(), self.shelves.len() as u32);
        Some(Kept { at, steps, cells, shelf, nodes, own, told, reports })
    }

    /// Keeps a round of an earlier run.
    pub(super) fn take_over(&mut self, turn: usize, (node, round): (NodeId, &Kept), from: &Rounds) {
        self.taken_over += 1;
        if let Some(round) = self.carry(round, from) {
            self.add(turn, node, round);
        }
    }

    /// What was put away in an earlier run. `None`: there is too much of it.
    fn carry(&mut self, round: &Kept, from: &Rounds) -> Option<Kept> {
        if (round.shelf as usize) < self.shelves.len() {
            let at = self.touched.now();
            return Some(Kept { at, ..*round });
        }
        let Reads { nodes, own, told } = from.reads(round);
        let mut noted = Vec::new();
        let mut others = Vec::new();
        for told in told {
            match *told {
                Told::Note(at) => noted.extend(from.noted(round, at).cloned()),
                other => others.push(other),
            }
        }
        let reads = Reads { nodes, own, told: &others };
        self.put(reads, &noted, (from.reports(round), round.steps, round.cells))
    }

    /// Keeps in mind that the round at a node is to be run again.
    pub(super) fn pass_by(&mut self, turn: usize, node: NodeId) {
        self.add(turn, node, PASSED_BY);
    }

    fn add(&mut self, turn: usize, node: NodeId, round: Kept) {
        let is_full = self.is_full();
        if let Some(one) = self.loops.get_mut(turn).filter(|_| !is_full) {
            self.size += ROUND;
            one.rounds.push(node, round);
        }
    }

    /// Whether there is room for more of what can as well be found again.
    pub(super) fn has_room(&self) -> bool {
        self.size < MOST_KEPT / 2
    }

    /// Keeps the elements of a loop, of which so many have been taken over.
    pub(super) fn keep_elements(&mut self, turn: usize, elements: Vec<(Element, u32)>, taken_over: usize) {
        self.elements += taken_over;
        if let Some(one) = self.loops.get_mut(turn).filter(|one| !one.stretches.is_empty()) {
            self.size += ELEMENT * elements.len();
            one.stretches.set_elements(elements);
        }
    }

    /// A stretch begins. Gives its number, if there is room.
    pub(super) fn begin_stretch(&mut self, turn: usize) -> Option<u32> {
        self.size += ROUND;
        self.loops.get_mut(turn)?.stretches.begin()
    }

    /// Keeps a stretch that has ended.
    pub(super) fn end_stretch(
        &mut self,
        (turn, number): (usize, u32),
        at: Moment,
        log: &ReadLog,
        steps: u32,
    ) {
        let reads = Reads { nodes: &log.nodes, own: &log.own, told: &[] };
        let kept = self.put(reads, &[], (&[], steps, log.cells));
        if let Some((one, kept)) = self.loops.get_mut(turn).zip(kept) {
            one.stretches.end(number, Kept { at, ..kept });
        }
    }

    /// Keeps a stretch of an earlier run. Gives its number.
    pub(super) fn take_stretch(&mut self, turn: usize, stretch: &Kept, from: &Rounds) -> Option<u32> {
        let kept = self.carry(stretch, from)?;
        self.size += ROUND;
        let stretches = &mut self.loops.get_mut(turn)?.stretches;
        let number = stretches.begin()?;
        stretches.end(number, kept);
        Some(number)
    }

    /// There is too much of it.
    fn forget(&mut self) {
        let touched = std::mem::take(&mut self.touched);
        let said = std::mem::take(&mut self.said);
        *self =
            Rounds { size: usize::MAX / 2, recorded: MOST_RECORDED + 1, touched, said, ..Rounds::default() };
    }
}
