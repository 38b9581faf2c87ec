//! The shape of linked expressions: what an expression is made of, and how it is taken over into other code.

use std::sync::Arc;

use super::Value;
use super::code::{Code, NONE, Op, Span};
use crate::lang::hir::{ExprId, Local};

impl Code {
    /// Calls `f` with each expression that `id` is made of.
    pub fn children(&self, id: ExprId, f: &mut dyn FnMut(ExprId)) {
        let mut all = |ids: &[ExprId]| ids.iter().filter(|&&id| id != NONE).for_each(|&id| f(id));
        match &self.ops[id as usize] {
            Op::Const(_) | Op::Local(_) | Op::Counter(_) => {}
            &Op::Fact { base, a, b, .. } => all(&[base, a, b]),
            &(Op::Attr { base: x, .. }
            | Op::HasAttr { base: x, .. }
            | Op::HasMark { base: x, .. }
            | Op::Note { base: x, .. }
            | Op::Walk { from: x, .. }
            | Op::Table { key: x, .. }
            | Op::Not(x)
            | Op::Negate(x)
            | Op::InSet { value: x, .. }
            | Op::InConsts { value: x, .. }
            | Op::IsNone { value: x, .. }
            | Op::Symbols { graph: x, .. }) => all(&[x]),
            &(Op::Matrix { row: x, column: y, .. }
            | Op::And(x, y)
            | Op::Or(x, y)
            | Op::Coalesce(x, y)
            | Op::Compare { left: x, right: y, .. }
            | Op::Arith { left: x, right: y, .. }
            | Op::Concat(x, y)
            | Op::Range(x, y)
            | Op::InList { value: x, list: y, .. }
            | Op::Let { value: x, body: y, .. }
            | Op::Index { list: x, index: y }
            | Op::Quantifier { list: x, condition: y, .. }
            | Op::Where { list: x, condition: y, .. }
            | Op::Each { list: x, value: y, .. }
            | Op::Conflicts { graph: x, table: y }) => all(&[x, y]),
            &(Op::If { condition: x, then: y, otherwise: z }
            | Op::WouldConflict { graph: x, first: y, second: z }) => all(&[x, y, z]),
            &Op::Alike { body, .. } => all(&[body]),
            &(Op::Call { args, .. } | Op::List(args)) => all(self.args(args)),
            &(Op::Inline { args, body: x, .. }
            | Op::Match { value: x, arms: args }
            | Op::First { cases: args, otherwise: x }) => {
                all(&[x]);
                all(self.args(args));
            }
        }
    }
}

/// Takes expressions over from other code.
pub(super) trait Graft<'c> {
    fn from(&self) -> &'c Code;

    fn to(&mut self) -> &mut Code;

    /// What stands for a local there.
    fn local(&self, local: Local) -> Op;

    /// Where the locals from `local` on go that an expression binds.
    fn bound(&self, local: Local) -> Local;

    /// Is told of each expression that has been taken over, after those that it is made of.
    fn done(&mut self, id: ExprId);

    /// Takes over `id` and all that it is made of, and gives its number there.
    fn expr(&mut self, id: ExprId) -> ExprId {
        self.copy(id)
    }

    /// What `id` is there, if it is a constant.
    fn constant(&mut self, id: ExprId) -> Option<&Value> {
        match self.to().ops.get(id as usize) {
            Some(Op::Const(value)) => Some(value),
            _ => None,
        }
    }

    fn truth(&mut self, id: ExprId) -> Option<bool> {
        self.constant(id).map(Value::is_true)
    }

    /// Takes over `id`, and of what it is made of that which may matter.
    fn copy(&mut self, id: ExprId) -> ExprId {
        if id == NONE {
            return NONE;
        }
        let from = self.from();
        let op = match &from.ops[id as usize] {
            Op::Const(value) => Op::Const(value.clone()),
            &Op::Local(local) => self.local(local),
            &Op::Fact { fact, base, a, b } => {
                Op::Fact { fact, base: self.expr(base), a: self.expr(a), b: self.expr(b) }
            }
            &Op::Attr { base, keys, ty } => Op::Attr { base: self.expr(base), keys: self.keys(keys), ty },
            &Op::HasAttr { base, keys } => Op::HasAttr { base: self.expr(base), keys: self.keys(keys) },
            &Op::HasMark { base, mark } => Op::HasMark { base: self.expr(base), mark },
            &Op::Note { base, note } => Op::Note { base: self.expr(base), note },
            &Op::Call { callee, args, lift } => Op::Call { callee, args: self.args(args), lift },
            &Op::Inline { args, lift, at, body } => {
                Op::Inline { args: self.args(args), lift, at: self.bound(at), body: self.expr(body) }
            }
            &Op::Walk { walk, mode, from } => Op::Walk { walk, mode, from: self.expr(from) },
            &Op::Table { table, key } => Op::Table { table, key: self.expr(key) },
            &Op::Matrix { matrix, row, column } => {
                Op::Matrix { matrix, row: self.expr(row), column: self.expr(column) }
            }
            &Op::Not(x) => Op::Not(self.expr(x)),
            &Op::Negate(x) => Op::Negate(self.expr(x)),
            &(Op::And(a, b) | Op::Or(a, b)) => {
                let is_and = matches!(from.ops[id as usize], Op::And(..));
                let a = self.expr(a);
                match self.truth(a) {
                    Some(holds) if holds != is_and => Op::Const(Value::Bool(holds)),
                    _ if is_and => Op::And(a, self.expr(b)),
                    _ => Op::Or(a, self.expr(b)),
                }
            }
            &Op::Coalesce(a, b) => {
                let a = self.expr(a);
                if self.constant(a).is_some_and(|value| !value.is_none()) {
                    return a;
                }
                Op::Coalesce(a, self.expr(b))
            }
            &Op::Compare { op, left, right } => {
                Op::Compare { op, left: self.expr(left), right: self.expr(right) }
            }
            &Op::Arith { op, left, right } => {
                Op::Arith { op, left: self.expr(left), right: self.expr(right) }
            }
            &Op::Concat(a, b) => Op::Concat(self.expr(a), self.expr(b)),
            &Op::Range(a, b) => Op::Range(self.expr(a), self.expr(b)),
            &Op::InList { value, list, negated } => {
                Op::InList { value: self.expr(value), list: self.expr(list), negated }
            }
            &Op::InSet { value, set, negated } => Op::InSet { value: self.expr(value), set, negated },
            &Op::InConsts { value, set, negated } => {
                let set = self.to().add_set(Arc::clone(from.shared_set(set)));
                Op::InConsts { value: self.expr(value), set, negated }
            }
            &Op::IsNone { value, negated } => Op::IsNone { value: self.expr(value), negated },
            &Op::If { condition, then, otherwise } => {
                let condition = self.expr(condition);
                match self.truth(condition) {
                    Some(true) => return self.expr(then),
                    Some(false) => return self.expr(otherwise),
                    None => Op::If { condition, then: self.expr(then), otherwise: self.expr(otherwise) },
                }
            }
            &Op::Match { value, arms } => Op::Match { value: self.expr(value), arms: self.args(arms) },
            &Op::First { cases, otherwise } => self.first(cases, otherwise),
            &Op::Let { local, value, body } => {
                Op::Let { local: self.bound(local), value: self.expr(value), body: self.expr(body) }
            }
            &Op::List(items) => Op::List(self.args(items)),
            &Op::Index { list, index } => Op::Index { list: self.expr(list), index: self.expr(index) },
            &Op::Quantifier { kind, local, list, condition } => Op::Quantifier {
                kind,
                local: self.bound(local),
                list: self.expr(list),
                condition: self.expr(condition),
            },
            &Op::Where { local, list, condition } => {
                Op::Where { local: self.bound(local), list: self.expr(list), condition: self.expr(condition) }
            }
            &Op::Each { kind, local, list, value } => {
                Op::Each { kind, local: self.bound(local), list: self.expr(list), value: self.expr(value) }
            }
            &Op::Symbols { symbols, graph } => Op::Symbols { symbols, graph: self.expr(graph) },
            &Op::Conflicts { graph, table } => {
                Op::Conflicts { graph: self.expr(graph), table: self.expr(table) }
            }
            &Op::WouldConflict { graph, first, second } => Op::WouldConflict {
                graph: self.expr(graph),
                first: self.expr(first),
                second: self.expr(second),
            },
            &Op::Counter(name) => Op::Counter(name),
            &Op::Alike { local, cell, body } => {
                Op::Alike { local: self.bound(local), cell, body: self.expr(body) }
            }
        };
        let id = self.to().add_op(op);
        self.done(id);
        id
    }

    /// Without the cases that never come, and those behind one that always does.
    fn first(&mut self, cases: Span, otherwise: ExprId) -> Op {
        let (mut left, mut last) = (Vec::new(), otherwise);
        for case in self.from().args(cases).chunks_exact(2) {
            let condition = self.expr(case[0]);
            match self.truth(condition) {
                Some(false) => {}
                Some(true) => {
                    last = case[1];
                    break;
                }
                None => left.extend([condition, self.expr(case[1])]),
            }
        }
        let otherwise = self.expr(last);
        Op::First { cases: self.to().add_args(left), otherwise }
    }

    fn args(&mut self, args: Span) -> Span {
        let ids: Vec<ExprId> = self.from().args(args).iter().map(|&id| self.expr(id)).collect();
        self.to().add_args(ids)
    }

    fn keys(&mut self, keys: Span) -> Span {
        let keys = self.from().keys(keys);
        self.to().add_keys(keys)
    }
}
