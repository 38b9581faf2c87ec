//! Loops over those elements of a list that have something in a list of their own.
//!
//! `for x in xs where k in f(x)` is mostly gone through for one `k` after the other. Promise: the elements are those that asking
//! each of them would give, in the same order; each `f(x)` is made once as long as all that it rests on is the same, and for a `k`
//! only the elements are looked at that have it. So all loops together cost about what one costs, and what they find.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::code::{Code, Op};
use super::machine::STORED;
use super::sieve::Question;
use super::simplify::rests_on_more;
use super::{List, Machine, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::{ExprId, Local};

/// Of fewer elements each is asked.
const FEW: usize = 4;

/// Longer lists that many hold are asked, and not gone through for each of them.
const LONG: usize = 64;

/// What is known of such a loop.
#[derive(Default)]
pub(super) struct Join {
    /// Where the code is that it is about.
    code: usize,
    /// `None`: the loop is not such a one.
    parts: Option<Parts>,
    lists: Lists,
    /// What they rest on beside the code: the values of locals, the state.
    held: Vec<Value>,
    epoch: u64,
    /// What was read is in this record.
    record: Option<u64>,
}

/// Which elements have a value in their lists.
#[derive(Default)]
struct Lists {
    places: FxHashMap<Value, Vec<u32>>,
    /// Elements whose list is a long one of many holders, by where that is.
    whole: FxHashMap<usize, (Arc<List>, Vec<u32>)>,
}

impl Lists {
    /// The places of the elements that have a value in their lists, in order.
    fn find(&self, value: &Value) -> Cow<'_, [u32]> {
        // None is in no list.
        let places = self.places.get(value).filter(|_| !value.is_none()).map_or(&[][..], Vec::as_slice);
        let with = |(list, _): &&(Arc<List>, Vec<u32>)| !value.is_none() && list.position(value).is_some();
        let mut found = Cow::Borrowed(places);
        for (_, places) in self.whole.values().filter(with) {
            found.to_mut().extend(places);
        }
        if let Cow::Owned(found) = &mut found {
            found.sort_unstable();
        }
        found
    }
}

/// The parts of `xs where k in f(x)`.
struct Parts {
    condition: ExprId,
    /// Holds the element.
    local: Local,
    value: ExprId,
    own: ExprId,
    /// What is read to make the lists: the elements, and what else.
    held: Vec<Local>,
}

impl<'a> Machine<'a> {
    /// Finds the elements of list `id`, if it is one of those. False: it is to be gone through.
    pub(super) fn joined(&mut self, code: &Code, id: ExprId, base: usize, found: &mut Vec<Value>) -> bool {
        let Op::Where { list, .. } = code.ops[id as usize] else { return false };
        let Op::Local(elements) = code.ops[list as usize] else { return false };
        let list = self.stack[base + elements as usize].clone();
        if list.len() < Some(FEW) {
            return false;
        }
        let question = Question::body(code.entry, id);
        let mut join = self.joins.remove(&question).unwrap_or_default();
        let place = std::ptr::from_ref(code).addr();
        if join.code != place {
            join = Join { code: place, parts: self.join_parts(code, id), ..Join::default() };
        }
        let is_found = join.parts.is_some() && self.look_up_joined(&mut join, code, &list, base, found);
        if self.pending.is_none() {
            self.joins.insert(question, join);
        }
        is_found
    }

    fn look_up_joined(
        &mut self,
        join: &mut Join,
        code: &Code,
        list: &Value,
        base: usize,
        found: &mut Vec<Value>,
    ) -> bool {
        let Some(parts) = &join.parts else { return false };
        let state = (self.epoch(), self.record_number());
        let is_same =
            |(then, &local): (&Value, &Local)| then.is_identical(&self.stack[base + local as usize]);
        if (join.epoch, join.record) != state
            || join.held.len() != parts.held.len()
            || !join.held.iter().zip(&parts.held).all(is_same)
        {
            join.held = parts.held.iter().map(|&local| self.stack[base + local as usize].clone()).collect();
            (join.epoch, join.record) = state;
            join.lists = Lists::default();
            if !self.join(code, (parts, &mut join.lists), list, base) {
                join.parts = None;
                return false;
            }
        }
        let condition = parts.condition;
        let value = self.expr(code, parts.value, base);
        let places = join.lists.find(&value);
        for &place in &*places {
            if !self.spend(STORED) {
                break;
            }
            found.push(list.at(place as usize).unwrap_or_default());
        }
        if !places.is_empty() {
            self.decide(code.entry, condition, true);
        }
        if list.len() > Some(places.len()) {
            self.decide(code.entry, condition, false);
        }
        true
    }

    /// Makes the lists. False: a group knows its members.
    fn join(&mut self, code: &Code, (parts, lists): (&Parts, &mut Lists), list: &Value, base: usize) -> bool {
        let Lists { places, whole } = lists;
        for (place, element) in (0u32..).zip(list.elements()) {
            if !self.spend(1) {
                break;
            }
            self.stack[base + parts.local as usize] = element;
            let mut put = |machine: &mut Self, value| {
                let with = places.entry(value).or_default();
                if with.last() != Some(&place) {
                    with.push(place);
                }
                machine.spend(STORED)
            };
            if Self::is_lazy(code, parts.own) {
                self.each(code, parts.own, base, &mut put);
                continue;
            }
            match self.expr(code, parts.own, base) {
                Value::List(own) if own.len() > LONG && Arc::strong_count(&own) > 1 => {
                    let at = Arc::as_ptr(&own).addr();
                    whole.entry(at).or_insert_with(|| (own, Vec::new())).1.push(place);
                }
                Value::Group(_) => return false,
                own => _ = self.each_value(&own, &mut put),
            }
        }
        true
    }

    /// `None`: the list is another one, or it is as soon gone through.
    fn join_parts(&self, code: &Code, id: ExprId) -> Option<Parts> {
        let Op::Where { local, list, condition } = code.ops[id as usize] else { return None };
        let condition = match code.ops[condition as usize] {
            Op::Alike { body, .. } => body,
            _ => condition,
        };
        let Op::InList { value, list: own, negated: false } = code.ops[condition as usize] else {
            return None;
        };
        let Op::Local(elements) = code.ops[list as usize] else { return None };
        // These are asked, not searched.
        if let Op::Fact {
            fact: Fact::OutputReaders | Fact::GroupAnchors | Fact::GroupInputs | Fact::GroupOutputs,
            ..
        } = code.ops[own as usize]
        {
            return None;
        }
        let (of_value, mut held) = (self.read_by(code, value)?, self.read_by(code, own)?);
        let is_apart = !of_value.iter().any(|read| *read == local || held.contains(read));
        let is_own = held.contains(&local);
        held.retain(|read| *read != local);
        held.push(elements);
        (is_apart && is_own).then_some(Parts { condition, local, value, own, held })
    }

    /// The locals around an expression that it reads. `None`: it rests on more than locals and the state.
    fn read_by(&self, code: &Code, id: ExprId) -> Option<Vec<Local>> {
        let (mut read, mut bound, mut open) = (Vec::new(), Vec::new(), vec![id]);
        while let Some(id) = open.pop() {
            match code.ops[id as usize] {
                ref op if rests_on_more(op) => return None,
                Op::Call { callee, .. } | Op::Walk { walk: callee, .. } => {
                    self.program.linked(callee)?.cost?;
                }
                Op::Local(local) if !read.contains(&local) => read.push(local),
                Op::Quantifier { local, .. }
                | Op::Where { local, .. }
                | Op::Each { local, .. }
                | Op::Let { local, .. } => bound.push(local),
                Op::Inline { args, at, .. } => bound.extend(at..at + code.args(args).len() as Local),
                _ => {}
            }
            code.children(id, &mut |child| open.push(child));
        }
        // What is bound inside lies behind all that is around.
        read.retain(|local| !bound.contains(local));
        Some(read)
    }
}
