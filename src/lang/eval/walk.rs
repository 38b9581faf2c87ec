//! Walks: a traversal that visits a place at most once.

use rustc_hash::FxHashSet;

use super::code::Code;
use super::memo::{Key, pack};
use super::stream::{End, Sink};
use super::trace::{EventKind, ReadLog};
use super::{EntryId, Machine, Value};
use crate::lang::hir::{Entry, ExprId, WalkMode};

/// Places of a walk, in order: the machine's `places` from `start`. Most walks are short.
struct Visited {
    start: usize,
    set: FxHashSet<(u8, u64)>,
}

const SHORT: usize = 12;

impl Visited {
    /// Adds a place; false if it has been visited.
    fn add(&mut self, places: &mut Vec<Value>, place: Value) -> bool {
        let visited = &places[self.start..];
        if visited.len() < SHORT {
            if visited.contains(&place) {
                return false;
            }
        } else {
            if self.set.is_empty() {
                self.set.extend(visited.iter().filter_map(pack));
            }
            if !pack(&place).is_some_and(|key| self.set.insert(key)) {
                return false;
            }
        }
        places.push(place);
        true
    }
}

type Steps = [(Option<ExprId>, Option<ExprId>)];

impl<'a> Machine<'a> {
    /// The walk `walk` from a place. A start that is none gives none.
    pub(super) fn walk(
        &mut self,
        entry: EntryId,
        id: ExprId,
        walk: EntryId,
        mode: WalkMode,
        from: Value,
    ) -> Value {
        let program = self.program;
        let Some(linked) = program.linked(walk) else { return Value::None };
        let Entry::Walk { steps, lists, .. } = &*linked.entry else { return Value::None };
        if from.is_none() || !self.descend() {
            return Value::None;
        }
        if linked.memo && mode == WalkMode::Last && !*lists && self.may_last() {
            let last = self.lasting_walk(self.code(linked), steps, walk, from);
            self.calls -= 1;
            return last;
        }
        if linked.cheap()
            && !*lists
            && let Some(result) = self.walk_of_one(self.code(linked), steps, mode, &from)
        {
            self.calls -= 1;
            return result;
        }
        let key = if linked.memo { Key::new(walk.0, mode as u8, std::slice::from_ref(&from)) } else { None };
        let result = match key.and_then(|key| self.recall(&key)) {
            Some(value) => value,
            None => {
                let mark = key.and_then(|_| self.reads.as_mut().map(|log| log.begin()));
                let code = self.code(linked);
                let frame = self.enter(std::slice::from_ref(&from), code.locals);
                self.reach(walk);
                let event = self.begin_call(entry, id, walk, frame);
                let start = self.places.len();
                let (result, keep) = if *lists {
                    (self.breadth_first(code, steps, from, frame), true)
                } else {
                    self.chain(code, steps, mode, from, frame, key)
                };
                self.places.truncate(start);
                self.end_call(event, &result);
                self.leave(frame);
                self.remember(key.filter(|_| keep), &result, mark.as_ref());
                result
            }
        };
        self.calls -= 1;
        result
    }

    /// The result of a walk that ends where it begins, as most walks of most rules do: sooner seen than remembered.
    /// `None`: it goes on, or somebody wants to see each step.
    fn walk_of_one(&mut self, code: &Code, steps: &Steps, mode: WalkMode, from: &Value) -> Option<Value> {
        let result = match mode {
            _ if self.is_observed() => return None,
            WalkMode::Last => from.clone(),
            WalkMode::Lost | WalkMode::Cycle => Value::Bool(false),
            WalkMode::Path | WalkMode::All => return None,
        };
        let frame = self.enter(std::slice::from_ref(from), code.locals);
        let next = self.step(code, steps, from, frame);
        self.leave(frame);
        next.is_none().then_some(result)
    }

    /// Goes through the places of a walk of single steps, the start first, no further than the sink wants.
    pub(super) fn each_place(&mut self, walk: EntryId, from: Value, sink: &mut Sink<'_, 'a>) -> End {
        let program = self.program;
        let Some(linked) = program.linked(walk) else { return End::Absent };
        let Entry::Walk { steps, .. } = &*linked.entry else { return End::Absent };
        if from.is_none() || !self.descend() {
            return End::Absent;
        }
        let code = self.code(linked);
        let frame = self.enter(std::slice::from_ref(&from), code.locals);
        self.reach(walk);
        let start = self.places.len();
        let mut visited = Visited { start, set: FxHashSet::default() };
        visited.add(&mut self.places, from.clone());
        let mut place = from;
        let ended = loop {
            if !self.spend(1) || !sink(self, place.clone()) {
                break End::Stopped;
            }
            match self.step(code, steps, &place, frame) {
                Some((next, _)) if !next.is_none() && visited.add(&mut self.places, next.clone()) => {
                    place = next
                }
                _ => break End::All,
            }
        };
        self.places.truncate(start);
        self.leave(frame);
        self.calls -= 1;
        ended
    }

    /// Where the first fitting step leads from `place`, and its expression; `None`: it stops here.
    fn step(&mut self, code: &Code, steps: &Steps, place: &Value, frame: usize) -> Option<(Value, ExprId)> {
        self.stack[frame] = place.clone();
        for &(condition, next) in steps {
            if condition.is_none_or(|condition| self.traced_condition(code, condition, frame)) {
                let next = next?;
                return Some((self.expr(code, next, frame), next));
            }
        }
        None
    }

    /// A walk of single steps, and whether its result is to be remembered.
    fn chain(
        &mut self,
        code: &Code,
        steps: &Steps,
        mode: WalkMode,
        from: Value,
        frame: usize,
        key: Option<Key>,
    ) -> (Value, bool) {
        let start = self.places.len();
        let mut visited = Visited { start, set: FxHashSet::default() };
        let mut place = from.clone();
        visited.add(&mut self.places, from);
        let (mut lost, mut cycle) = (false, false);
        // INVARIANT acyclic-ends: in mode `Last` only walks without a cycle are remembered. So a walk that runs
        // into a remembered one ends where that ended: nothing of it can lead back.
        let key = key.filter(|_| mode == WalkMode::Last && self.reads.is_none());
        while self.spend(1)
            && let Some((next, expr)) = self.step(code, steps, &place, frame)
        {
            if next.is_none() {
                lost = true;
                break;
            }
            if !visited.add(&mut self.places, next.clone()) {
                cycle = true;
                break;
            }
            let from = std::mem::replace(&mut place, next);
            self.note(code.entry, expr, || (EventKind::Hop { from }, place.clone()));
            let known = key.and_then(|key| key.with(&place)).and_then(|key| self.recall(&key));
            if let Some(last) = known {
                place = last;
                break;
            }
        }
        if let Some(key) = key.filter(|_| !cycle) {
            // The start is remembered by the caller.
            for at in start + 1..self.places.len() {
                self.remember(key.with(&self.places[at]), &place, None);
            }
        }
        match mode {
            WalkMode::Last => (place, !cycle),
            WalkMode::Lost => (Value::Bool(lost), true),
            WalkMode::Cycle => (Value::Bool(cycle), true),
            WalkMode::Path | WalkMode::All => (Value::list(self.places[start..].to_vec()), true),
        }
    }

    /// Walks can be remembered across edits, and nobody watches how they come about.
    fn may_last(&self) -> bool {
        self.lasting.is_some() && self.reads.is_none() && self.trace.is_none()
    }

    /// A walk whose last place is remembered until something that it read changes.
    fn lasting_walk(&mut self, code: &Code, steps: &Steps, walk: EntryId, from: Value) -> Value {
        let mode = WalkMode::Last as u8;
        let Some(mut key) = Key::new(walk.0, mode, std::slice::from_ref(&from)) else { return Value::None };
        if let Some(last) = self.lasting.as_ref().and_then(|lasting| lasting.get(&key)).cloned() {
            self.see_unknown_cells();
            return last;
        }
        let frame = self.enter(std::slice::from_ref(&from), code.locals);
        self.reach(walk);
        let start = self.places.len();
        let mut visited = Visited { start, set: FxHashSet::default() };
        let mut place = from.clone();
        visited.add(&mut self.places, from);
        // A place, what its step read, whether that can be named.
        let mut passed: Vec<(Key, Box<ReadLog>)> = Vec::new();
        let mut known = None;
        let mut cycle = false;
        while self.spend(1) {
            self.begin_record(Box::default());
            let step = self.step(code, steps, &place, frame);
            let log = self.reads.take().unwrap_or_default();
            self.see_cells(log.cells);
            passed.push((key, log));
            let Some((next, _)) = step else { break };
            let Some(there) = key.with(&next) else { break };
            if !visited.add(&mut self.places, next.clone()) {
                cycle = true;
                break;
            }
            (place, key) = (next, there);
            if let Some(last) = self.lasting.as_ref().and_then(|lasting| lasting.get(&key)) {
                known = Some(key);
                place = last.clone();
                self.see_unknown_cells();
                break;
            }
        }
        self.places.truncate(start);
        self.leave(frame);
        if cycle || self.pending.is_some() {
            return place;
        }
        if let Some(lasting) = &mut self.lasting {
            for (key, log) in passed.into_iter().rev() {
                // What leads to a place that is not remembered cannot be forgotten with it.
                if log.everything {
                    break;
                }
                lasting.put(key, place.clone(), &log.nodes, known);
                known = Some(key);
            }
        }
        place
    }

    fn breadth_first(&mut self, code: &Code, steps: &Steps, from: Value, frame: usize) -> Value {
        let start = self.places.len();
        let mut visited = Visited { start, set: FxHashSet::default() };
        visited.add(&mut self.places, from);
        let mut at = start;
        while let Some(place) = self.places.get(at).cloned() {
            at += 1;
            if let Some((next, expr)) = self.step(code, steps, &place, frame) {
                for next in next.elements() {
                    if !self.spend(1) {
                        break;
                    }
                    if visited.add(&mut self.places, next.clone()) {
                        self.note(code.entry, expr, || (EventKind::Hop { from: place.clone() }, next));
                    }
                }
            }
        }
        Value::list(self.places[start..].to_vec())
    }
}
