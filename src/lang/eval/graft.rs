//! The shape of linked expressions: what an expression is made of, and how it is taken over into other code.

use std::sync::Arc;

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
            &(Op::Call { args, .. } | Op::List(args) | Op::Which { conditions: args }) => {
                all(self.args(args))
            }
            &(Op::Inline { args, body: x, .. }
            | Op::Match { value: x, arms: args }
            | Op::Choose { which: x, values: args }
            | Op::First { cases: args, otherwise: x }) => {
                all(&[x]);
                all(self.args(args));
            }
        }
    }
}

/// Takes expressions over from other code.
pub(super) struct Graft<'a> {
    pub from: &'a Code,
    /// What stands for the first locals: constants, or locals of the code that they go to.
    pub params: &'a [Op],
    /// Where the other locals go.
    pub locals: Local,
    pub to: &'a mut Code,
    /// Is told of each expression that has been taken over, after those that it is made of.
    pub done: &'a mut dyn FnMut(&mut Code, ExprId),
}

impl Graft<'_> {
    /// Takes over `id` and all that it is made of, and gives its number there.
    pub fn expr(&mut self, id: ExprId) -> ExprId {
        if id == NONE {
            return NONE;
        }
        let from = self.from;
        let op = match &from.ops[id as usize] {
            Op::Const(value) => Op::Const(value.clone()),
            &Op::Local(local) => match self.params.get(local as usize) {
                Some(param) => param.clone(),
                None => Op::Local(self.local(local)),
            },
            &Op::Fact { fact, base, a, b } => {
                Op::Fact { fact, base: self.expr(base), a: self.expr(a), b: self.expr(b) }
            }
            &Op::Attr { base, keys, ty } => Op::Attr { base: self.expr(base), keys: self.keys(keys), ty },
            &Op::HasAttr { base, keys } => Op::HasAttr { base: self.expr(base), keys: self.keys(keys) },
            &Op::HasMark { base, mark } => Op::HasMark { base: self.expr(base), mark },
            &Op::Note { base, note } => Op::Note { base: self.expr(base), note },
            &Op::Call { callee, args, lift } => Op::Call { callee, args: self.args(args), lift },
            &Op::Inline { args, lift, at, body } => {
                Op::Inline { args: self.args(args), lift, at: self.local(at), body: self.expr(body) }
            }
            &Op::Walk { walk, mode, from } => Op::Walk { walk, mode, from: self.expr(from) },
            &Op::Table { table, key } => Op::Table { table, key: self.expr(key) },
            &Op::Matrix { matrix, row, column } => {
                Op::Matrix { matrix, row: self.expr(row), column: self.expr(column) }
            }
            &Op::Not(x) => Op::Not(self.expr(x)),
            &Op::Negate(x) => Op::Negate(self.expr(x)),
            &Op::And(a, b) => Op::And(self.expr(a), self.expr(b)),
            &Op::Or(a, b) => Op::Or(self.expr(a), self.expr(b)),
            &Op::Coalesce(a, b) => Op::Coalesce(self.expr(a), self.expr(b)),
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
                let set = self.to.add_set(Arc::clone(from.shared_set(set)));
                Op::InConsts { value: self.expr(value), set, negated }
            }
            &Op::IsNone { value, negated } => Op::IsNone { value: self.expr(value), negated },
            &Op::If { condition, then, otherwise } => Op::If {
                condition: self.expr(condition),
                then: self.expr(then),
                otherwise: self.expr(otherwise),
            },
            &Op::Match { value, arms } => Op::Match { value: self.expr(value), arms: self.args(arms) },
            &Op::First { cases, otherwise } => {
                Op::First { cases: self.args(cases), otherwise: self.expr(otherwise) }
            }
            &Op::Let { local, value, body } => {
                Op::Let { local: self.local(local), value: self.expr(value), body: self.expr(body) }
            }
            &Op::List(items) => Op::List(self.args(items)),
            &Op::Index { list, index } => Op::Index { list: self.expr(list), index: self.expr(index) },
            &Op::Quantifier { kind, local, list, condition } => Op::Quantifier {
                kind,
                local: self.local(local),
                list: self.expr(list),
                condition: self.expr(condition),
            },
            &Op::Where { local, list, condition } => {
                Op::Where { local: self.local(local), list: self.expr(list), condition: self.expr(condition) }
            }
            &Op::Each { kind, local, list, value } => {
                Op::Each { kind, local: self.local(local), list: self.expr(list), value: self.expr(value) }
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
            &Op::Which { conditions } => Op::Which { conditions: self.args(conditions) },
            &Op::Choose { which, values } => {
                Op::Choose { which: self.expr(which), values: self.args(values) }
            }
            // What is shared there need not be shared here.
            &Op::Alike { body, .. } => return self.expr(body),
        };
        let id = self.to.add_op(op);
        (self.done)(self.to, id);
        id
    }

    /// A local that is no parameter.
    fn local(&self, local: Local) -> Local {
        local.saturating_sub(self.params.len() as Local) + self.locals
    }

    fn args(&mut self, args: Span) -> Span {
        let from = self.from;
        let ids: Vec<ExprId> = from.args(args).iter().map(|&id| self.expr(id)).collect();
        self.to.add_args(ids)
    }

    fn keys(&mut self, keys: Span) -> Span {
        self.to.add_keys(self.from.keys(keys))
    }
}
