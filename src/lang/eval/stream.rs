//! Going through lists without building them.
//!
//! A consumer (a quantifier, `where`, `count` …) hands a sink to the expression that makes the list. The source
//! calls it with one element after the other and stops when it says so.
//!
//! INVARIANT no-held-slots: a source may not rely on a local of the frame after it has called the sink, because
//! the consumer's locals may share its slot. Sources that would (`flat_map`, blocks) build their inner list first.

use std::ops::Range;

use super::Machine;
use super::Value;
use super::code::{Code, NONE, Op};
use super::machine::STORED;
use super::quiet::What;
use super::sieve::{FEW, Question, Sieve};
use super::stretch::element;
use crate::graph::{Anchor, Output};
use crate::lang::facts::Fact;
use crate::lang::hir::{Each, ExprId, Local, WalkMode};

/// Takes an element; false: enough.
pub(super) type Sink<'s, 'a> = dyn FnMut(&mut Machine<'a>, Value) -> bool + 's;

/// How many readers are taken from the state at first, and at most.
const FIRST_READERS: usize = 8;
const MOST_READERS: usize = 1 << 12;

/// How going through a list ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    All,
    /// The sink had enough.
    Stopped,
    /// There is no list: the receiver is none.
    Absent,
}

fn end(go_on: bool) -> End {
    if go_on { End::All } else { End::Stopped }
}

impl<'a> Machine<'a> {
    /// Whether the list of `id` is cheaper to go through than to build.
    pub(super) fn is_lazy(code: &Code, id: ExprId) -> bool {
        match &code.ops[id as usize] {
            Op::Where { .. } | Op::Range(..) | Op::List(_) => true,
            // Texts are joined as well, and are not gone through.
            Op::Concat(left, right) => Self::is_lazy(code, *left) || Self::is_lazy(code, *right),
            Op::Each { kind, .. } => matches!(kind, Each::Map | Each::FlatMap),
            Op::Fact { fact, .. } => matches!(
                fact,
                Fact::OutputReaders
                    | Fact::GroupAnchors
                    | Fact::GroupInputs
                    | Fact::GroupOutputs
                    | Fact::GroupInputsOf
                    | Fact::GroupOutputsOf
                    | Fact::NodeControlIn
                    | Fact::NodeControlOut
                    | Fact::ListSkip
                    | Fact::ListTake
            ),
            _ => false,
        }
    }

    /// Whether who takes the first elements of `id` spares the work for the others. The places of a whole walk are
    /// better built, since they are remembered.
    pub(super) fn can_end_early(code: &Code, id: ExprId) -> bool {
        matches!(code.ops[id as usize], Op::Walk { mode: WalkMode::Path, .. }) || Self::is_lazy(code, id)
    }

    /// Whether `id` is what `skip` and `take` leave of a list that is there as a whole.
    pub(super) fn is_part(code: &Code, id: ExprId) -> bool {
        match &code.ops[id as usize] {
            Op::Fact { fact: Fact::ListSkip, base: of, .. } => {
                Self::is_part(code, *of) || !Self::is_lazy(code, *of)
            }
            Op::Fact { fact: Fact::ListTake, base: of, .. } => {
                Self::is_part(code, *of) || !Self::can_end_early(code, *of)
            }
            _ => false,
        }
    }

    /// The list that `id` is a part of, and which part. No list is none of any.
    fn bounds(&mut self, code: &Code, id: ExprId, base: usize) -> (Value, Range<usize>) {
        match &code.ops[id as usize] {
            &Op::Fact { fact: fact @ (Fact::ListSkip | Fact::ListTake), base: of, a, .. }
                if Self::is_part(code, id) =>
            {
                let (list, Range { start, end }) = self.bounds(code, of, base);
                let Some(n) = self.expr(code, a, base).as_int() else { return (Value::None, 0..0) };
                let middle = start + usize::try_from(n.max(0)).unwrap_or(usize::MAX).min(end - start);
                (list, if fact == Fact::ListSkip { middle..end } else { start..middle })
            }
            _ => {
                let list = self.expr(code, id, base);
                let len = list.len().unwrap_or(0);
                (list, 0..len)
            }
        }
    }

    /// A part of a list, built.
    pub(super) fn part(&mut self, code: &Code, id: ExprId, base: usize) -> Value {
        let (list, range) = self.bounds(code, id, base);
        match list.len() {
            None => Value::None,
            Some(len) if len == range.len() => list,
            Some(_) if !self.store(range.len()) => Value::None,
            Some(_) => Value::list(range.map(|i| list.at(i).unwrap_or_default()).collect()),
        }
    }

    /// Whether going through `id` reads the frame only before the first element.
    fn reads_first(code: &Code, id: ExprId) -> bool {
        match &code.ops[id as usize] {
            Op::Where { .. } | Op::Each { .. } | Op::Concat(..) | Op::List(_) | Op::Let { .. } => false,
            Op::If { then, otherwise, .. } => {
                Self::reads_first(code, *then) && Self::reads_first(code, *otherwise)
            }
            Op::Fact { fact: Fact::ListSkip | Fact::ListTake, base, .. } => Self::reads_first(code, *base),
            _ => true,
        }
    }

    /// Goes through the list of `id`.
    pub(super) fn each(&mut self, code: &Code, id: ExprId, base: usize, sink: &mut Sink<'_, 'a>) -> End {
        match &code.ops[id as usize] {
            &Op::Where { local, list, condition } => {
                self.each_tried(code, list, (local, condition), base, &mut |m, holds| {
                    !holds || {
                        let value = m.stack[base + local as usize].clone();
                        sink(m, value)
                    }
                })
            }
            &Op::Each { kind: Each::Map, local, list, value } => {
                self.each(code, list, base, &mut |m, element| {
                    m.stack[base + local as usize] = element;
                    let value = m.expr(code, value, base);
                    sink(m, value)
                })
            }
            &Op::Each { kind: Each::FlatMap, local, list, value } => {
                let direct = Self::reads_first(code, value);
                let question = Question::condition(code.entry, value);
                let (mut count, mut quiet, mut stretching) = (0, None, None);
                let ended = self.each(code, list, base, &mut |m, place| {
                    count += 1;
                    let element = stretching.as_ref().and_then(|_| element(&place));
                    m.stack[base + local as usize] = place;
                    if count == FEW && m.can_be_quiet(code, value) {
                        quiet = Some(m.take_quiet(question));
                        stretching = m.list_stretching(code, value, (local, base));
                    }
                    // Whether nothing comes of it.
                    if let Some(list) = &mut stretching
                        && m.known(list, element) == Some(true)
                    {
                        return true;
                    }
                    let begun = stretching.as_ref().and_then(|list| m.begin_element(list, element));
                    let is_quiet = quiet
                        .as_mut()
                        .is_some_and(|quiet| m.is_quiet(quiet, code, What::List(value), (local, base)));
                    if direct && !is_quiet && begun.is_none() {
                        return m.each(code, value, base, sink) != End::Stopped;
                    }
                    let inner = if is_quiet { Value::None } else { m.expr(code, value, base) };
                    if let Some((list, begun)) = stretching.as_mut().zip(begun) {
                        let is_nothing = inner.len().is_none_or(|len| len == 0);
                        m.end_element(list, &begun, is_nothing.then_some(true));
                    }
                    m.each_value(&inner, sink) != End::Stopped
                });
                if let Some(quiet) = quiet {
                    self.keep_quiet(question, quiet);
                }
                if let Some(list) = stretching {
                    self.end_stretching(list);
                }
                ended
            }
            &Op::Range(from, to) => {
                let (from, to) = (self.expr(code, from, base), self.expr(code, to, base));
                let (Some(from), Some(to)) = (from.as_int(), to.as_int()) else { return End::Absent };
                end((from..to).all(|i| self.spend(1) && sink(self, Value::Int(i))))
            }
            Op::List(items) => end(code.args(*items).iter().all(|&item| {
                let value = self.expr(code, item, base);
                sink(self, value)
            })),
            &Op::Concat(left, right) => match self.each(code, left, base, sink) {
                End::All => self.each(code, right, base, sink),
                other => other,
            },
            &Op::If { condition, then, otherwise } => {
                let chosen = if self.traced_condition(code, condition, base) { then } else { otherwise };
                self.each(code, chosen, base, sink)
            }
            &Op::Fact { fact: Fact::OutputReaders, base: of, .. } => match self.expr(code, of, base) {
                Value::Output(output) => self.each_reader(output, sink),
                _ => End::Absent,
            },
            &Op::Fact { fact: fact @ (Fact::NodeControlIn | Fact::NodeControlOut), base: of, .. } => {
                let list = self.expr(code, of, base);
                let list = self.control_list(fact, &list);
                self.each_value(&list, sink)
            }
            &Op::Fact {
                fact: fact @ (Fact::GroupAnchors | Fact::GroupInputs | Fact::GroupOutputs),
                base: of,
                ..
            } => {
                let Value::Group(group) = self.expr(code, of, base) else { return End::Absent };
                let wanted = |anchor: &Anchor| match fact {
                    Fact::GroupInputs => anchor.is_in(),
                    Fact::GroupOutputs => !anchor.is_in(),
                    _ => true,
                };
                end(group
                    .members()
                    .iter()
                    .filter(|a| wanted(a))
                    .all(|&a| self.spend(1) && sink(self, a.into())))
            }
            &Op::Fact { fact: fact @ (Fact::GroupInputsOf | Fact::GroupOutputsOf), base: of, a, .. } => {
                let (of, node) = (self.expr(code, of, base), self.expr(code, a, base));
                let (Value::Group(group), Value::Node(node)) = (of, node) else { return End::Absent };
                let inputs = fact == Fact::GroupInputsOf;
                end(group
                    .of_node(node)
                    .filter(|a| a.is_in() == inputs)
                    .all(|a| self.spend(1) && sink(self, a.into())))
            }
            Op::Fact { fact: Fact::ListSkip | Fact::ListTake, .. } if Self::is_part(code, id) => {
                let (list, range) = self.bounds(code, id, base);
                if list.len().is_none() {
                    return End::Absent;
                }
                end(range.filter_map(|i| list.at(i)).all(|value| self.spend(1) && sink(self, value)))
            }
            &Op::Fact { fact: Fact::ListSkip, base: of, a, .. } if Self::is_lazy(code, of) => {
                let mut left = self.expr(code, a, base).as_int().unwrap_or(0);
                self.each(code, of, base, &mut |m, value| {
                    left = left.saturating_sub(1);
                    left >= 0 || sink(m, value)
                })
            }
            &Op::Fact { fact: Fact::ListTake, base: of, a, .. } if Self::can_end_early(code, of) => {
                let mut left = self.expr(code, a, base).as_int().unwrap_or(0);
                let mut stopped = false;
                let mut take = |m: &mut Machine<'a>, value| {
                    left = left.saturating_sub(1);
                    if left < 0 {
                        return false;
                    }
                    stopped = !sink(m, value);
                    !stopped && left > 0
                };
                let ended = match code.ops[of as usize] {
                    Op::Walk { walk, from, .. } => {
                        let from = self.expr(code, from, base);
                        self.each_place(walk, from, &mut take)
                    }
                    _ => self.each(code, of, base, &mut take),
                };
                if ended == End::Stopped && !stopped { End::All } else { ended }
            }
            _ => {
                let value = self.expr(code, id, base);
                self.each_value(&value, sink)
            }
        }
    }

    /// Goes through a list whose elements `local` holds in turn, and tells of each whether a condition holds.
    pub(super) fn each_tried(
        &mut self,
        code: &Code,
        list: ExprId,
        (local, condition): (Local, ExprId),
        base: usize,
        sink: &mut dyn FnMut(&mut Machine<'a>, bool) -> bool,
    ) -> End {
        let question = Question::condition(code.entry, condition);
        let is_sifted = Self::is_of_nodes(code, list) && self.can_sift(code);
        let mut sieve = is_sifted.then(|| self.take_sieve(question));
        let ask = |m: &mut Machine<'a>, sieve: &mut Option<Sieve>| {
            let settled = sieve.as_mut().and_then(|sieve| m.settled(sieve, code, condition, (local, base)));
            settled.unwrap_or_else(|| m.traced_condition(code, condition, base))
        };
        let (mut count, mut stretching) = (0, None);
        let ended = match self.may_stretch() {
            false => self.each(code, list, base, &mut |m, value| {
                m.stack[base + local as usize] = value;
                let holds = ask(m, &mut sieve);
                sink(m, holds)
            }),
            true => self.each(code, list, base, &mut |m, value| {
                count += 1;
                if count == FEW {
                    stretching = m.list_stretching(code, condition, (local, base));
                }
                let element = element(&value);
                m.stack[base + local as usize] = value;
                let mut begun = None;
                if let Some(list) = &mut stretching {
                    if let Some(holds) = m.known(list, element) {
                        return sink(m, holds);
                    }
                    begun = m.begin_element(list, element);
                }
                let holds = ask(m, &mut sieve);
                if let Some((list, begun)) = stretching.as_mut().zip(begun) {
                    m.end_element(list, &begun, Some(holds));
                }
                sink(m, holds)
            }),
        };
        if let Some(sieve) = sieve {
            self.keep_sieve(question, sieve);
        }
        if let Some(list) = stretching {
            self.end_stretching(list);
        }
        ended
    }

    /// Goes through a list that is a value.
    pub(super) fn each_value(&mut self, list: &Value, sink: &mut Sink<'_, 'a>) -> End {
        let Some(len) = list.len() else { return End::Absent };
        end((0..len).filter_map(|i| list.at(i)).all(|value| self.spend(1) && sink(self, value)))
    }

    /// Goes through the readers of an output.
    pub(super) fn each_reader(&mut self, output: Output, sink: &mut Sink<'_, 'a>) -> End {
        self.see(output.node);
        if let Some(readers) = self.flat_readers(output) {
            return end(readers.iter().all(|&r| self.spend(1) && sink(self, Value::Input(r))));
        }
        if !self.has_node(output.node) {
            return End::Absent;
        }
        // Taken in parts, since the sink often has enough soon. Nothing is edited while an expression is evaluated.
        let (from, mut next, mut part) = (self.readers.len(), 0, FIRST_READERS);
        loop {
            for (seq, reader) in self.edit.consumers_from(output, next).take(part) {
                self.readers.push(reader);
                next = seq + 1;
            }
            let to = self.readers.len();
            let go_on = (from..to).all(|i| {
                let reader = self.readers[i];
                self.spend(1) && sink(self, Value::Input(reader))
            });
            self.readers.truncate(from);
            if !go_on || to - from < part {
                return end(go_on);
            }
            part = (part * 4).min(MOST_READERS);
        }
    }

    /// The list of `id`, built; none if there is none.
    pub(super) fn collect(&mut self, code: &Code, id: ExprId, base: usize) -> Value {
        let mut values = Vec::new();
        match self.each(code, id, base, &mut |m, value| {
            values.push(value);
            m.spend(STORED)
        }) {
            End::Absent => Value::None,
            _ => Value::list(values),
        }
    }

    /// Whether `value` is in the list of `list`. Adjacency is asked, not searched.
    pub(super) fn is_in(&mut self, code: &Code, value: &Value, list: ExprId, base: usize) -> bool {
        if value.is_none() {
            return false;
        }
        match (&code.ops[list as usize], value) {
            (&Op::Fact { fact: Fact::OutputReaders, base: of, .. }, &Value::Input(input)) => {
                self.see(input.node);
                let from = self.producer(input);
                matches!(self.expr(code, of, base), Value::Output(output) if from == Some(output))
            }
            (&Op::Fact { fact: Fact::GroupAnchors, base: of, .. }, _) => {
                self.expr(code, of, base).contains(value)
            }
            (&Op::Fact { fact, base: of, a, .. }, Value::Input(_) | Value::Output(_))
                if matches!(fact, Fact::GroupInputs | Fact::GroupOutputs) =>
            {
                debug_assert_eq!(a, NONE);
                let side = (fact == Fact::GroupInputs) == matches!(value, Value::Input(_));
                side && self.expr(code, of, base).contains(value)
            }
            _ if Self::is_lazy(code, list) => {
                self.each(code, list, base, &mut |_, element| element != *value) == End::Stopped
            }
            _ => self.expr(code, list, base).contains(value),
        }
    }
}
