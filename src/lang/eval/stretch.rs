//! Elements of which it is soon told what comes of them.
//!
//! At most elements of a loop nothing is done, and most that a condition is asked of do not satisfy it, or all do. Each of them is soon
//! told ([`super::quiet`], [`super::alike`]), and all together they are what a run takes that has little else to do. To know of each
//! what that rests on would be as much; so it is kept of a few neighbours together, a stretch. Promise: what came of an element is
//! taken over from an earlier run only if all that was read for its stretch is the same, as for a round ([`super::again`]). What else
//! was read than nodes, their edges and cells is not kept, and no more than there is room for beside the rounds.

use super::again::{TRIED, Turn, WORTH};
use super::code::Code;
use super::in_order::InOrder;
use super::rounds::{Kept, PASSED_BY, Place};
use super::touched::Moment;
use super::trace::ReadLog;
use super::{Machine, Value};
use crate::graph::{Input, NodeId, Output};
use crate::lang::hir::{ExprId, Local};

/// A stretch has no more elements than this. Where one thing that was read is another one, all are asked again.
const MOST_ELEMENTS: u32 = 16;

/// So many stretches are recorded at once, each of elements that rest on other cells.
const MOST_OPEN: usize = 8;

/// When so many have not been found there, each is looked for among all.
const MOST_MISSED: u32 = 64;

/// Who has a list of more elements than this around is not recorded: it would be gone through each time.
const MOST_AROUND: usize = 64;

/// A node, or a port of one.
pub(super) type Element = (NodeId, u32);

/// The element that a value is.
#[inline]
pub(super) fn element(value: &Value) -> Option<Element> {
    let port = |index: u32, side: u32| index.checked_mul(2)?.checked_add(side);
    Some(match *value {
        Value::Node(node) => (node, 0),
        Value::Input(Input { node, index }) => (node, port(index, 1)?),
        Value::Output(Output { node, index }) => (node, port(index, 2)?),
        _ => return None,
    })
}

/// Of an element of which nothing is known.
const UNKNOWN: u32 = u32::MAX;

/// What is known of the elements of a loop or a list, in order.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    /// With the number of the stretch, and in the last bit what came of the element.
    elements: InOrder<Element, u32>,
    all: Vec<Kept>,
}

impl Stretches {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn set_elements(&mut self, elements: Vec<(Element, u32)>) {
        self.elements = elements.into();
    }

    /// Another stretch; gives its number.
    pub fn begin(&mut self) -> Option<u32> {
        let number = u32::try_from(self.all.len()).ok().filter(|&number| number < UNKNOWN >> 1)?;
        self.all.push(PASSED_BY);
        Some(number)
    }

    pub fn end(&mut self, number: u32, kept: Kept) {
        if let Some(stretch) = self.all.get_mut(number as usize) {
            *stretch = kept;
        }
    }

    /// What is known of an element. `cursor`: behind the one before; `missed`: how many have not been found.
    #[inline]
    fn find(&self, cursor: &mut usize, missed: &mut u32, element: Element) -> Option<u32> {
        let (at, known) = match self.elements.all().get(*cursor) {
            Some(&(here, known)) if here == element => (*cursor, known),
            _ => self.find_elsewhere(*cursor, missed, element)?,
        };
        *cursor = at + 1;
        Some(known)
    }

    #[cold]
    fn find_elsewhere(&self, from: usize, missed: &mut u32, element: Element) -> Option<(usize, u32)> {
        let at = match self.elements.near(from, element) {
            Some(at) => at,
            // Some are new: the others are found as before.
            None if *missed < MOST_MISSED => {
                *missed += 1;
                return None;
            }
            None => self.elements.anywhere(element)?,
        };
        Some((at, self.elements.all().get(at)?.1))
    }
}

/// A loop or a list that is gone through.
pub(super) struct Stretching<'a> {
    now: usize,
    elements: Vec<(Element, u32)>,
    earlier: Option<&'a Stretches>,
    /// Where in the earlier one.
    cursor: usize,
    missed: u32,
    /// Of stretches of the earlier one, when they were looked at last, and what their numbers are now if they were the same.
    checked: Vec<Option<(Moment, Option<u32>)>>,
    /// What is recorded: elements that rest on the same cells.
    open: Vec<Open>,
    /// When.
    at: Moment,
    asked: u32,
    kept: u32,
    taken_over: usize,
}

/// A stretch that has not ended.
struct Open {
    number: u32,
    elements: u32,
    steps: u32,
    log: ReadLog,
}

/// Where it began to be told what comes of an element.
pub(super) struct Begun {
    element: Element,
    epoch: u64,
    steps: u64,
}

impl<'a> Stretching<'a> {
    pub fn of(turn: &Turn<'a>) -> Stretching<'a> {
        let (now, earlier) = turn.places();
        let earlier = earlier.map(|one| &one.stretches).filter(|stretches| !stretches.is_empty());
        let elements = Vec::with_capacity(earlier.map_or(0, |stretches| stretches.elements.all().len()));
        let checked = vec![None; earlier.map_or(0, |stretches| stretches.all.len())];
        let (cursor, missed, open) = (0, 0, Vec::new());
        let (asked, kept, taken_over) = (0, 0, 0);
        Stretching { now, elements, earlier, cursor, missed, checked, at: 0, open, asked, kept, taken_over }
    }

    fn is_worth_it(&self) -> bool {
        self.asked < TRIED || self.kept >= self.asked / WORTH
    }

    fn add(&mut self, element: Element, known: Option<(u32, bool)>) {
        let known = known.map_or(UNKNOWN, |(stretch, came)| stretch << 1 | u32::from(came));
        self.elements.push((element, known));
    }
}

impl<'a> Machine<'a> {
    /// Whether somebody keeps what is told of elements.
    #[inline]
    pub(super) fn may_stretch(&self) -> bool {
        self.again.is_some() && self.reads.is_none()
    }

    /// Begins a list whose elements are asked something: `asked`, which finds the element in `local`.
    pub(super) fn list_stretching(
        &mut self,
        code: &Code,
        asked: ExprId,
        (local, base): (Local, usize),
    ) -> Option<Stretching<'a>> {
        if !self.may_stretch() || !self.can_sift(code) {
            return None;
        }
        let around = self.stack.get(base..base + local as usize)?;
        let is_short = |value: &Value| value.len().is_none_or(|len| len <= MOST_AROUND);
        let around = around.iter().all(is_short).then(|| around.to_vec())?;
        let turn = self.turn(|| Place { entry: code.entry, list: asked, around })?;
        Some(Stretching::of(&turn))
    }

    /// What comes of an element, if an earlier run tells.
    #[inline]
    pub(super) fn known(&mut self, list: &mut Stretching<'a>, element: Option<Element>) -> Option<bool> {
        let (earlier, element) = (list.earlier?, element?);
        let known = earlier.find(&mut list.cursor, &mut list.missed, element)?;
        if known == UNKNOWN {
            return None;
        }
        let (stretch, came) = (known >> 1, known & 1 == 1);
        let number = match *list.checked.get(stretch as usize)? {
            Some((at, number)) if number.is_none() || at == self.moment() => number,
            _ => {
                let number = self.take_stretch(list.now, earlier.all.get(stretch as usize)?);
                list.checked[stretch as usize] = Some((self.moment(), number));
                number
            }
        };
        list.add(element, Some((number?, came)));
        list.taken_over += 1;
        Some(came)
    }

    /// Begins to record what an element is told by. `None`: that is not worth it.
    pub(super) fn begin_element(&mut self, list: &Stretching<'a>, element: Option<Element>) -> Option<Begun> {
        let element = element.filter(|_| list.is_worth_it())?;
        self.read_round(element.0)?;
        Some(Begun { element, epoch: self.epoch(), steps: self.steps })
    }

    /// Ends what [`Machine::begin_element`] began. `came`: what came of it, if that would do the next time.
    pub(super) fn end_element(&mut self, list: &mut Stretching<'a>, begun: &Begun, came: Option<bool>) {
        let Some(log) = self.reads.take() else { return };
        list.asked = list.asked.saturating_add(1);
        let is_plain = !log.everything && log.told.is_empty() && log.noted.is_empty();
        let is_still = self.epoch() == begun.epoch && self.pending.is_none() && self.tracked.is_none();
        let came = came.filter(|_| is_plain && is_still);
        let steps = u32::try_from(begun.steps.saturating_sub(self.steps)).unwrap_or(u32::MAX);
        let known = came.and_then(|came| Some((self.extend_stretch(list, &log, steps)?, came)));
        list.kept = list.kept.saturating_add(known.is_some().into());
        list.add(begun.element, known);
        self.keep_log(log);
    }

    /// One more element of a stretch; gives its number.
    fn extend_stretch(&mut self, list: &mut Stretching<'a>, log: &ReadLog, steps: u32) -> Option<u32> {
        let now = self.moment();
        if list.at != now || list.open.len() > MOST_OPEN {
            self.end_stretches(list);
            list.at = now;
        }
        let at = match list.open.iter().position(|open| open.log.cells == log.cells) {
            Some(at) => at,
            None => {
                let number = self.begin_stretch(list.now)?;
                let cells = log.cells;
                let log = ReadLog { cells, ..ReadLog::of_round() };
                list.open.push(Open { number, elements: 0, steps: 0, log });
                list.open.len() - 1
            }
        };
        let open = &mut list.open[at];
        open.elements += 1;
        open.steps = open.steps.saturating_add(steps);
        open.log.nodes.extend_from_slice(&log.nodes);
        open.log.own.extend_from_slice(&log.own);
        let number = open.number;
        if open.elements >= MOST_ELEMENTS {
            let open = list.open.swap_remove(at);
            self.keep_stretch((list.now, number), list.at, open.log, open.steps);
        }
        Some(number)
    }

    /// Keeps what is recorded.
    fn end_stretches(&mut self, list: &mut Stretching<'a>) {
        for Open { number, steps, log, .. } in list.open.drain(..) {
            self.keep_stretch((list.now, number), list.at, log, steps);
        }
    }

    /// Keeps what is known of the elements: no more come.
    pub(super) fn end_stretching(&mut self, mut list: Stretching<'a>) {
        self.end_stretches(&mut list);
        self.keep_elements(list.now, list.elements, list.taken_over);
    }
}
