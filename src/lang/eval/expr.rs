//! Evaluation of expressions.

use std::cmp::Ordering;
use std::sync::Arc;

use super::arith::{arith, compare};
use super::attrs::Place;
use super::code::{Code, ConstSet, NONE, Op, Span, condition};
use super::machine::STORED;
use super::memo::Key;
use super::program::Data;
use super::stream::End;
use super::trace::{EventKind, Mark, Noted};
use super::value::total_order;
use super::{EntryId, Machine, Subject, Value};
use crate::graph::{GraphId, Sym, Symbols};
use crate::lang::facts::Fact;
use crate::lang::hir::{Arith, Each, ExprId, Local};
use crate::lang::syntax::ast::Quantifier;

impl<'a> Machine<'a> {
    /// The value of expression `id` in the frame at `base`.
    pub(super) fn expr(&mut self, code: &Code, id: ExprId, base: usize) -> Value {
        match &code.ops[id as usize] {
            Op::Const(value) => value.clone(),
            Op::Local(local) => self.stack[base + *local as usize].clone(),
            &Op::Fact { fact, base: of, a, b } => self.fact(code, id, fact, [of, a, b], base),
            &Op::Attr { base: of, keys, ty } => self.attr(code, of, keys, ty, base),
            &Op::HasAttr { base: of, keys } => self.has_attr(code, of, keys, base),
            &Op::HasMark { base: of, mark } => self.has_mark(code, of, mark, base),
            &Op::Note { base: of, note } => self.noted(code, of, note, base),
            &Op::Call { callee, args, lift } => self.invoke(code, id, callee, code.args(args), lift, base),
            &Op::Inline { args, lift, at, body } => {
                if self.bind(code, args, lift, base + at as usize, base) {
                    self.expr(code, body, base)
                } else {
                    Value::None
                }
            }
            &Op::Alike { local, cell, body } => self.alike(code, (local, cell), body, base),
            &Op::Coalesce(a, b) => match self.expr(code, a, base) {
                Value::None => self.expr(code, b, base),
                value => value,
            },
            &Op::If { condition, then, otherwise } => {
                let chosen = if self.traced_condition(code, condition, base) { then } else { otherwise };
                self.expr(code, chosen, base)
            }
            &Op::First { cases, otherwise } => match self.case(code, id, cases, otherwise, base) {
                NONE => Value::None,
                taken => self.expr(code, taken, base),
            },
            &Op::Let { local, value, body } => {
                let value = self.expr(code, value, base);
                self.stack[base + local as usize] = value;
                self.expr(code, body, base)
            }
            condition!() => Value::Bool(self.condition(code, id, base)),
            _ => self.rare(code, id, base),
        }
    }

    /// The value of an expression of a kind that few are of, or that has much to do. Set apart so that the others need
    /// little of the native stack.
    #[inline(never)]
    fn rare(&mut self, code: &Code, id: ExprId, base: usize) -> Value {
        match &code.ops[id as usize] {
            &Op::Walk { walk, mode, from } => {
                let from = self.expr(code, from, base);
                self.walk(code.entry, id, walk, mode, from)
            }
            &Op::Table { table, key } => {
                let key = self.expr(code, key, base);
                match self.program.linked(table).map(|linked| &linked.data) {
                    Some(Data::Table(rows)) if !key.is_none() => rows.get(&key).cloned().unwrap_or_default(),
                    _ => Value::None,
                }
            }
            &Op::Matrix { matrix, row, column } => {
                let (row, column) = (self.expr(code, row, base), self.expr(code, column, base));
                self.cell(matrix, &row, &column)
            }
            &Op::Negate(x) => match self.expr(code, x, base) {
                Value::Int(i) => Value::Int(i.saturating_neg()),
                Value::Float(f) => Value::Float(-f),
                _ => Value::None,
            },
            &Op::Arith { op, left, right } => {
                let (left, right) = (self.expr(code, left, base), self.expr(code, right, base));
                arith(op, &left, &right)
            }
            &Op::Concat(left, right) => self.concat(code, id, left, right, base),
            Op::Range(..) => self.range(code, id, base),
            &Op::Match { value, arms } => match self.expr(code, value, base) {
                Value::Enum { variant, .. } => match code.args(arms).get(variant as usize) {
                    Some(&arm) => {
                        self.decide(code.entry, arm, true);
                        self.expr(code, arm, base)
                    }
                    None => Value::None,
                },
                _ => Value::None,
            },
            Op::List(items) => {
                let items = code.args(*items);
                Value::list(items.iter().map(|&item| self.expr(code, item, base)).collect())
            }
            &Op::Index { list, index } => {
                // A list that a local holds is not handed around for one element.
                if let Op::Local(local) = code.ops[list as usize] {
                    let index = self.expr(code, index, base);
                    return self.stack[base + local as usize].element(&index);
                }
                let list = self.expr(code, list, base);
                list.element(&self.expr(code, index, base))
            }
            &Op::Quantifier { kind, local, list, condition } => {
                self.quantifier(code, kind, local, [list, condition], base)
            }
            Op::Where { .. } => self.collect(code, id, base),
            &Op::Each { kind, local, list, value } => {
                self.each_kind(code, id, kind, base + local as usize, [list, value], base)
            }
            &Op::Symbols { symbols, graph } => {
                let Value::Graph(target) = self.expr(code, graph, base) else { return Value::None };
                self.spend(self.edit.node_count() as u64);
                let table = self.symbols(symbols, target);
                table.map_or_else(|failure| self.postpone(failure), Value::Symbols)
            }
            &Op::Conflicts { graph, table } => {
                let (graph, table) = (self.expr(code, graph, base), self.expr(code, table, base));
                let (Value::Graph(target), Value::Symbols(table)) = (graph, table) else {
                    return Value::None;
                };
                self.see_everything();
                self.spend(self.edit.node_count() as u64);
                let host = self.host;
                let answer = host.conflicts(self, target, &table);
                answer.map_or_else(|failure| self.postpone(failure), Value::Bool)
            }
            &Op::WouldConflict { graph, first, second } => {
                let target = self.expr(code, graph, base);
                let first = self.expr(code, first, base).as_anchor();
                let second = self.expr(code, second, base).as_anchor();
                let (Value::Graph(target), Some(first), Some(second)) = (target, first, second) else {
                    return Value::None;
                };
                self.see_everything();
                let host = self.host;
                match host.would_conflict(self, target, (first, second)) {
                    Ok(answer) => answer.map_or(Value::None, Value::Bool),
                    // Unknown is an answer, unless nothing can be evaluated any more.
                    Err(failure) if self.is_exhausted() => self.postpone(failure),
                    Err(_) => Value::None,
                }
            }
            &Op::Counter(name) => {
                self.see_everything();
                let counter = self.counters.entry(name).or_insert(0);
                *counter += 1;
                Value::Int(*counter - 1)
            }
            // All others are in `expr`.
            _ => Value::None,
        }
    }

    fn symbols(&mut self, symbols: Sym, target: GraphId) -> Result<Arc<Symbols>, super::Failure> {
        let host = self.host;
        if !self.reads.as_ref().is_some_and(|reads| reads.of_round) {
            self.see_everything();
            return host.symbols(self, symbols, target);
        }
        let (table, seen) = host.symbols_seen(self, symbols, target)?;
        match (&mut self.reads, seen) {
            (Some(reads), Some(seen)) => reads.see_again(&seen),
            _ => self.see_everything(),
        }
        Ok(table)
    }

    #[inline(never)]
    fn has_mark(&mut self, code: &Code, of: ExprId, mark: Sym, base: usize) -> Value {
        match self.expr(code, of, base).as_anchor() {
            Some(anchor) => {
                self.see_marks(anchor);
                Value::Bool(self.marks.as_ref().is_some_and(|m| m.has(anchor, mark)))
            }
            None => Value::None,
        }
    }

    #[inline(never)]
    fn noted(&mut self, code: &Code, of: ExprId, note: Sym, base: usize) -> Value {
        let Some(subject) = Subject::of(&self.expr(code, of, base)) else { return Value::None };
        let value = self.notes.get(&(note, subject)).cloned().unwrap_or_default();
        if let Some(reads) = &mut self.reads {
            reads.note(|| Noted { note, subject, value: value.clone() });
        }
        value
    }

    /// The value of the first case that holds, or the other; [`NONE`] if there is none.
    fn case(&mut self, code: &Code, id: ExprId, cases: Span, otherwise: ExprId, base: usize) -> ExprId {
        let mut taken = otherwise;
        let mut number = None;
        for (at, case) in (0u32..).zip(code.args(cases).chunks_exact(2)) {
            if self.traced_condition(code, case[0], base) {
                (taken, number) = (case[1], Some(at));
                break;
            }
        }
        self.note(code.entry, id, || (EventKind::Case(number), Value::None));
        taken
    }

    /// Whether expression `id` is true.
    pub(super) fn condition(&mut self, code: &Code, id: ExprId, base: usize) -> bool {
        match code.ops[id as usize] {
            Op::Not(x) => !self.condition(code, x, base),
            Op::And(a, b) => self.condition(code, a, base) && self.condition(code, b, base),
            Op::Or(a, b) => self.condition(code, a, base) || self.condition(code, b, base),
            Op::Compare { op, left, right } => {
                if let Some(holds) = self.compare_cell(code, op, left, right, base) {
                    return holds;
                }
                let (left, right) = (self.expr(code, left, base), self.expr(code, right, base));
                let holds = compare(op, &left, &right);
                self.note(code.entry, id, || (EventKind::Compare { left, right }, Value::Bool(holds)));
                holds
            }
            Op::InList { value, list, negated } => {
                let value = self.expr(code, value, base);
                self.is_in(code, &value, list, base) != negated
            }
            Op::InSet { value, set, negated } => {
                let program = self.program;
                match program.linked(set).map(|linked| &linked.data) {
                    Some(Data::Set(set)) => self.is_in_set(code, value, set, base) != negated,
                    _ => negated,
                }
            }
            Op::InConsts { value, set, negated } => {
                self.is_in_set(code, value, code.set(set), base) != negated
            }
            Op::IsNone { value, negated } => self.expr(code, value, base).is_none() != negated,
            Op::If { condition, then, otherwise } => {
                let chosen = if self.traced_condition(code, condition, base) { then } else { otherwise };
                self.condition(code, chosen, base)
            }
            Op::Inline { args, lift, at, body } => {
                self.bind(code, args, lift, base + at as usize, base) && self.condition(code, body, base)
            }
            Op::Alike { local, cell, body } => self.alike_condition(code, (local, cell), body, base),
            Op::First { cases, otherwise } => match self.case(code, id, cases, otherwise, base) {
                NONE => false,
                taken => self.condition(code, taken, base),
            },
            _ => self.expr(code, id, base).is_true(),
        }
    }

    /// Whether a set has the value of `id`, which mostly is the type of a node at hand.
    #[inline]
    fn is_in_set(&mut self, code: &Code, id: ExprId, set: &ConstSet, base: usize) -> bool {
        if let Op::Fact { fact: Fact::NodeType, base: of, .. } = code.ops[id as usize]
            && let Some(Place::Node(node)) = self.at_hand(code, of, base)
        {
            self.see_own(node);
            return self.ty(node).is_some_and(|ty| set.has(ty));
        }
        let value = self.expr(code, id, base);
        set.contains(&value)
    }

    /// Puts arguments where the function that stands there looks for them; false if the result is none.
    #[inline]
    fn bind(&mut self, code: &Code, args: Span, lift: u32, slot: usize, base: usize) -> bool {
        let mut absent = false;
        for (at, &arg) in code.args(args).iter().enumerate() {
            let value = self.expr(code, arg, base);
            absent |= lift >> at & 1 == 1 && value.is_none();
            self.stack[slot + at] = value;
        }
        !absent
    }

    /// A condition that decides what is evaluated next: `explain` shows it.
    #[inline]
    pub(super) fn traced_condition(&mut self, code: &Code, id: ExprId, base: usize) -> bool {
        let holds = self.condition(code, id, base);
        self.decide(code.entry, id, holds);
        self.note(code.entry, id, || (EventKind::Condition, Value::Bool(holds)));
        holds
    }

    #[inline]
    pub(super) fn note(
        &mut self,
        entry: EntryId,
        id: ExprId,
        event: impl FnOnce() -> (EventKind, Value),
    ) -> Option<usize> {
        let trace = self.trace.as_mut()?;
        let (kind, value) = event();
        trace.push(entry, id, kind, value)
    }

    /// Keeps a failure for the statement that asked.
    fn postpone(&mut self, failure: super::Failure) -> Value {
        self.pending.get_or_insert(failure);
        Value::None
    }

    #[inline(never)]
    fn invoke(
        &mut self,
        code: &Code,
        id: ExprId,
        callee: EntryId,
        args: &[ExprId],
        lift: u32,
        base: usize,
    ) -> Value {
        let program = self.program;
        let Some(linked) = program.linked(callee) else { return Value::None };
        let Data::Fn { value } = linked.data else { return Value::None };
        // The arguments go straight to where the new frame will be.
        let frame = self.stack.len();
        for &arg in args {
            let value = self.expr(code, arg, base);
            self.stack.push(value);
        }
        let lifted = |(at, value): (u32, &Value)| at < u32::BITS && lift >> at & 1 == 1 && value.is_none();
        if (lift != 0 && (0..).zip(&self.stack[frame..]).any(lifted)) || !self.descend() {
            self.leave(frame);
            return Value::None;
        }
        if let Some(result) = self.alike_call(self.code(linked), value, frame) {
            self.calls -= 1;
            self.leave(frame);
            return result;
        }
        let tried = linked.memo && self.worth[callee.0 as usize].is_tried();
        let key = if tried { Key::new(callee.0, 0, &self.stack[frame..]) } else { None };
        let result = match key.and_then(|key| self.recall(&key)) {
            Some(value) => {
                self.worth[callee.0 as usize].hit();
                value
            }
            None => {
                let mark = key.and_then(|_| self.reads.as_mut().map(|log| log.begin()));
                self.reach(callee);
                let event = self.begin_call(code.entry, id, callee, frame);
                let code = self.code(linked);
                self.grow(frame + code.locals as usize);
                let before = self.steps;
                let result = self.expr(code, value, frame);
                self.end_call(event, &result);
                if linked.memo {
                    self.worth[callee.0 as usize].found(before.saturating_sub(self.steps));
                }
                self.remember(key, &result, mark.as_ref());
                result
            }
        };
        self.calls -= 1;
        self.leave(frame);
        result
    }

    /// A memoized result. None while a trace wants to see how it comes about.
    pub(super) fn recall(&mut self, key: &Key) -> Option<Value> {
        if self.trace.as_ref().is_some_and(|trace| trace.events.len() < super::trace::TRACE_LIMIT) {
            return None;
        }
        let (value, reads) = self.memo.get(key, self.epoch())?;
        let value = value.clone();
        match &mut self.reads {
            Some(log) => log.see_again(reads?),
            None => self.see_unknown_cells(),
        }
        Some(value)
    }

    /// Memoizes a result, which need not be worth it; `mark` is where its reads begin in the log.
    pub(super) fn remember(&mut self, key: Option<Key>, value: &Value, mark: Option<&Mark>) {
        let mut reads = None;
        if let Some((log, mark)) = self.reads.as_mut().zip(mark) {
            reads = key.map(|_| Arc::new(log.since(mark)));
            log.end(mark);
        }
        if let Some(key) = key.filter(|_| self.pending.is_none()) {
            self.memo.put(key, self.epoch(), value.clone(), reads);
        }
    }

    pub(super) fn begin_call(
        &mut self,
        entry: EntryId,
        id: ExprId,
        callee: EntryId,
        frame: usize,
    ) -> Option<usize> {
        let args = match &self.trace {
            Some(_) => self.stack[frame..].to_vec(),
            None => return None,
        };
        let event = self.note(entry, id, || (EventKind::Call { callee, args }, Value::None));
        if let Some(trace) = &mut self.trace {
            trace.depth += 1;
        }
        event
    }

    pub(super) fn end_call(&mut self, event: Option<usize>, value: &Value) {
        if let Some(trace) = &mut self.trace {
            trace.depth = trace.depth.saturating_sub(1);
            if let Some(event) = event.and_then(|at| trace.events.get_mut(at)) {
                event.value = value.clone();
            }
        }
    }

    fn concat(&mut self, code: &Code, id: ExprId, left: ExprId, right: ExprId, base: usize) -> Value {
        if Self::is_lazy(code, left) {
            return self.collect(code, id, base);
        }
        let (left, right) = (self.expr(code, left, base), self.expr(code, right, base));
        if let (Some(a), Some(b)) = (left.as_str(), right.as_str()) {
            let text = self.spend((a.len() + b.len()) as u64).then(|| [a, b].concat());
            return text.map_or(Value::None, |text| Value::text(&text));
        }
        let (Some(a), Some(b)) = (left.len(), right.len()) else { return Value::None };
        if !self.spend(STORED.saturating_mul(a as u64).saturating_add(STORED.saturating_mul(b as u64))) {
            return Value::None;
        }
        Value::list(left.elements().chain(right.elements()).collect())
    }

    fn range(&mut self, code: &Code, id: ExprId, base: usize) -> Value {
        let &Op::Range(from, to) = &code.ops[id as usize] else { return Value::None };
        let (from, to) = (self.expr(code, from, base), self.expr(code, to, base));
        match (from.as_int(), to.as_int()) {
            (Some(from), Some(to)) => Value::List(Arc::new(super::List::new(super::Items::Range(from, to)))),
            _ => Value::None,
        }
    }

    fn quantifier(
        &mut self,
        code: &Code,
        kind: Quantifier,
        local: Local,
        [list, condition]: [ExprId; 2],
        base: usize,
    ) -> Value {
        let mut count = 0;
        let mut found = Value::None;
        let slot = base + local as usize;
        let ended = self.each_tried(code, list, (local, condition), base, &mut |m, holds| match kind {
            Quantifier::All => holds,
            Quantifier::Any => !holds,
            Quantifier::Count => {
                count += i64::from(holds);
                true
            }
            Quantifier::Find => {
                if holds {
                    found = m.stack[slot].clone();
                }
                !holds
            }
        });
        match kind {
            Quantifier::All => Value::Bool(ended != End::Stopped),
            Quantifier::Any => Value::Bool(ended == End::Stopped),
            Quantifier::Count => Value::Int(count),
            Quantifier::Find => found,
        }
    }

    fn each_kind(
        &mut self,
        code: &Code,
        id: ExprId,
        kind: Each,
        slot: usize,
        [list, value]: [ExprId; 2],
        base: usize,
    ) -> Value {
        match kind {
            Each::Map | Each::FlatMap => self.collect(code, id, base),
            Each::Sum => {
                let mut sum = Value::Int(0);
                let ended = self.each(code, list, base, &mut |m, element| {
                    m.stack[slot] = element;
                    let value = m.expr(code, value, base);
                    sum = arith(Arith::Add, &sum, &value);
                    true
                });
                if ended == End::Absent { Value::None } else { sum }
            }
            Each::MinBy | Each::MaxBy => {
                let wanted = if kind == Each::MinBy { Ordering::Less } else { Ordering::Greater };
                let mut best: Option<(Value, Value)> = None;
                self.each(code, list, base, &mut |m, element| {
                    m.stack[slot] = element.clone();
                    let key = m.expr(code, value, base);
                    if best.as_ref().is_none_or(|(least, _)| key.order(least) == Some(wanted)) {
                        best = Some((key, element));
                    }
                    true
                });
                best.map_or(Value::None, |(_, element)| element)
            }
            Each::Bisect => {
                let list = self.expr(code, list, base);
                let Some(mut end) = list.len() else { return Value::None };
                let mut start = 0;
                while start < end && self.spend(1) {
                    let middle = start.midpoint(end);
                    self.stack[slot] = list.at(middle).unwrap_or_default();
                    if self.traced_condition(code, value, base) {
                        start = middle + 1;
                    } else {
                        end = middle;
                    }
                }
                Value::Int(i64::try_from(start).unwrap_or(i64::MAX))
            }
            Each::SortBy => {
                let mut keyed: Vec<(Value, Value)> = Vec::new();
                let mut ranks = self.ranks(code, value);
                let ended = self.each(code, list, base, &mut |m, element| {
                    m.stack[slot] = element.clone();
                    let key = match &mut ranks {
                        None => m.expr(code, value, base),
                        Some(ranks) => m.rank(code, ranks, base),
                    };
                    keyed.push((key, element));
                    m.spend(2 * STORED)
                });
                self.see_ranks(ranks);
                if ended == End::Absent {
                    return Value::None;
                }
                keyed.sort_by(|(a, _), (b, _)| total_order(a, b));
                Value::list(keyed.into_iter().map(|(_, element)| element).collect())
            }
        }
    }
}
