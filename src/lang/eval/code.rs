//! Linked bodies: the expressions of a [`Body`] under the same ids, with every name resolved.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

use super::locals::Locals;
use super::program::Program;
use super::{EntryId, Value};
use crate::graph::Sym;
use crate::lang::facts::Fact;
use crate::lang::hir::{Arith, Body, Compare, Const, Each, Expr, ExprId, Local, WalkMode};
use crate::lang::syntax::ast::{AttrType, Kind, Quantifier};

/// No expression.
pub(super) const NONE: ExprId = u32::MAX;

/// Part of a side table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: u32,
    len: u32,
}

/// One expression. Ids are those of the body it was made from.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Const(Value),
    Local(Local),
    /// `a`, `b`: arguments or [`NONE`].
    Fact {
        fact: Fact,
        base: ExprId,
        a: ExprId,
        b: ExprId,
    },
    Attr {
        base: ExprId,
        keys: Span,
        ty: AttrType,
    },
    HasAttr {
        base: ExprId,
        keys: Span,
    },
    HasMark {
        base: ExprId,
        mark: Sym,
    },
    Note {
        base: ExprId,
        note: Sym,
    },
    Call {
        callee: EntryId,
        args: Span,
        lift: u32,
    },
    /// A call whose function stands here (only in simplified code): the arguments go to the locals from `at` on.
    Inline {
        args: Span,
        lift: u32,
        at: Local,
        body: ExprId,
    },
    Walk {
        walk: EntryId,
        mode: WalkMode,
        from: ExprId,
    },
    Table {
        table: EntryId,
        key: ExprId,
    },
    Matrix {
        matrix: EntryId,
        row: ExprId,
        column: ExprId,
    },
    Not(ExprId),
    Negate(ExprId),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    Coalesce(ExprId, ExprId),
    Compare {
        op: Compare,
        left: ExprId,
        right: ExprId,
    },
    Arith {
        op: Arith,
        left: ExprId,
        right: ExprId,
    },
    Concat(ExprId, ExprId),
    Range(ExprId, ExprId),
    InList {
        value: ExprId,
        list: ExprId,
        negated: bool,
    },
    InSet {
        value: ExprId,
        set: EntryId,
        negated: bool,
    },
    /// `set`: index into `Code::sets`.
    InConsts {
        value: ExprId,
        set: u32,
        negated: bool,
    },
    IsNone {
        value: ExprId,
        negated: bool,
    },
    If {
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
    },
    Match {
        value: ExprId,
        arms: Span,
    },
    /// Conditions and values in turn.
    First {
        cases: Span,
        otherwise: ExprId,
    },
    Let {
        local: Local,
        value: ExprId,
        body: ExprId,
    },
    List(Span),
    Index {
        list: ExprId,
        index: ExprId,
    },
    Quantifier {
        kind: Quantifier,
        local: Local,
        list: ExprId,
        condition: ExprId,
    },
    Where {
        local: Local,
        list: ExprId,
        condition: ExprId,
    },
    Each {
        kind: Each,
        local: Local,
        list: ExprId,
        value: ExprId,
    },
    Symbols {
        symbols: Sym,
        graph: ExprId,
    },
    Conflicts {
        graph: ExprId,
        table: ExprId,
    },
    WouldConflict {
        graph: ExprId,
        first: ExprId,
        second: ExprId,
    },
    Counter(Sym),
    /// `body`, all or part of which rests on what is written at the node of `local` alone (only in simplified code). `cell`:
    /// its number in the program.
    Alike {
        local: Local,
        cell: u32,
        body: ExprId,
    },
}

/// The pattern of operations that are true or false, and never none.
macro_rules! condition {
    () => {
        Op::Not(_)
            | Op::And(..)
            | Op::Or(..)
            | Op::Compare { .. }
            | Op::InList { .. }
            | Op::InSet { .. }
            | Op::InConsts { .. }
            | Op::IsNone { .. }
    };
}
pub(super) use condition;

/// A linked body.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    pub entry: EntryId,
    pub ops: Vec<Op>,
    /// Slots of a frame.
    pub locals: u32,
    /// The first of them: those of the body as it was written.
    pub declared: u32,
    /// Of expressions that ask only what is written at the nodes that locals hold: these locals.
    pub own: Vec<Option<Locals>>,
    args: Vec<ExprId>,
    keys: Vec<Sym>,
    sets: Vec<Arc<ConstSet>>,
}

impl Code {
    pub fn args(&self, span: Span) -> &[ExprId] {
        &self.args[span.start as usize..][..span.len as usize]
    }

    pub fn keys(&self, span: Span) -> &[Sym] {
        &self.keys[span.start as usize..][..span.len as usize]
    }

    pub fn set(&self, index: u32) -> &ConstSet {
        &self.sets[index as usize]
    }

    pub fn shared_set(&self, index: u32) -> &Arc<ConstSet> {
        &self.sets[index as usize]
    }

    /// Whether `id` asks only what is written at the node that `local` holds.
    pub fn is_own_of(&self, id: ExprId, local: Local) -> bool {
        self.own(id).is_some_and(|own| own.iter().all(|other| other == local))
    }

    /// No code, for the same frame.
    pub fn beside(&self) -> Code {
        Code { entry: self.entry, locals: self.locals, declared: self.declared, ..Code::default() }
    }

    /// The locals that `id` rests on, if it asks only what is written at the nodes that these hold.
    pub fn own(&self, id: ExprId) -> Option<&Locals> {
        self.own.get(id as usize)?.as_ref()
    }

    pub fn add_op(&mut self, op: Op) -> ExprId {
        self.ops.push(op);
        self.ops.len() as ExprId - 1
    }

    pub fn add_set(&mut self, set: Arc<ConstSet>) -> u32 {
        self.sets.push(set);
        self.sets.len() as u32 - 1
    }

    /// Links `body` against the entries of `program`. A name that the program lacks gives none (the closure of
    /// items is the caller's promise, and a rule set with unknown names is rejected before).
    pub fn link(program: &Program, entry: EntryId, body: &Body) -> Code {
        let mut code = Code { entry, locals: body.locals, declared: body.locals, ..Code::default() };
        code.ops.reserve(body.exprs.len());
        for expr in &body.exprs {
            let op = code.op(program, expr);
            code.ops.push(op);
        }
        code
    }

    pub fn add_args(&mut self, ids: impl IntoIterator<Item = ExprId>) -> Span {
        let start = self.args.len() as u32;
        self.args.extend(ids);
        Span { start, len: self.args.len() as u32 - start }
    }

    pub fn add_keys(&mut self, keys: &[Sym]) -> Span {
        let start = self.keys.len() as u32;
        self.keys.extend(keys);
        Span { start, len: keys.len() as u32 }
    }

    fn op(&mut self, program: &Program, expr: &Expr) -> Op {
        let missing = || Op::Const(Value::None);
        match expr {
            Expr::Const(constant) => Op::Const(constant.into()),
            Expr::Local(local) => Op::Local(*local),
            Expr::Fact { fact, base, args } => {
                let arg = |i: usize| args.get(i).copied().unwrap_or(NONE);
                Op::Fact { fact: *fact, base: *base, a: arg(0), b: arg(1) }
            }
            Expr::Attr { base, keys, ty } => Op::Attr { base: *base, keys: self.add_keys(keys), ty: *ty },
            Expr::HasAttr { base, keys } => Op::HasAttr { base: *base, keys: self.add_keys(keys) },
            Expr::HasMark { base, mark } => Op::HasMark { base: *base, mark: *mark },
            Expr::Note { base, note } => Op::Note { base: *base, note: *note },
            Expr::Call { function, args, lift } => match program.entry(Kind::Fn, *function) {
                Some(callee) => Op::Call { callee, args: self.add_args(args.iter().copied()), lift: *lift },
                None => missing(),
            },
            Expr::Walk { walk, mode, from } => match program.entry(Kind::Walk, *walk) {
                Some(walk) => Op::Walk { walk, mode: *mode, from: *from },
                None => missing(),
            },
            Expr::Table { table, key } => match program.entry(Kind::Table, *table) {
                Some(table) => Op::Table { table, key: *key },
                None => missing(),
            },
            Expr::Matrix { matrix, row, column } => match program.entry(Kind::Matrix, *matrix) {
                Some(matrix) => Op::Matrix { matrix, row: *row, column: *column },
                None => missing(),
            },
            Expr::Option(name) => Op::Const(program.option(*name)),
            Expr::Not(x) => Op::Not(*x),
            Expr::Negate(x) => Op::Negate(*x),
            Expr::And(a, b) => Op::And(*a, *b),
            Expr::Or(a, b) => Op::Or(*a, *b),
            Expr::Coalesce(a, b) => Op::Coalesce(*a, *b),
            Expr::Compare { op, left, right } => Op::Compare { op: *op, left: *left, right: *right },
            Expr::Arith { op, left, right } => Op::Arith { op: *op, left: *left, right: *right },
            Expr::Concat(a, b) => Op::Concat(*a, *b),
            Expr::Range(a, b) => Op::Range(*a, *b),
            Expr::InList { value, list, negated } => {
                Op::InList { value: *value, list: *list, negated: *negated }
            }
            Expr::InSet { value, set, negated } => match program.entry(Kind::Set, *set) {
                Some(set) => Op::InSet { value: *value, set, negated: *negated },
                None => Op::Const(Value::Bool(*negated)),
            },
            Expr::InConsts { value, consts, negated } => {
                let set = self.add_set(Arc::new(ConstSet::new(consts.iter())));
                Op::InConsts { value: *value, set, negated: *negated }
            }
            Expr::IsNone { value, negated } => Op::IsNone { value: *value, negated: *negated },
            Expr::If { condition, then, otherwise } => {
                Op::If { condition: *condition, then: *then, otherwise: *otherwise }
            }
            Expr::Match { value, arms } => {
                Op::Match { value: *value, arms: self.add_args(arms.iter().copied()) }
            }
            Expr::First { cases, otherwise } => Op::First {
                cases: self.add_args(cases.iter().flat_map(|&(c, v)| [c, v])),
                otherwise: otherwise.unwrap_or(NONE),
            },
            Expr::Let { local, value, body } => Op::Let { local: *local, value: *value, body: *body },
            Expr::List(items) => Op::List(self.add_args(items.iter().copied())),
            Expr::Index { list, index } => Op::Index { list: *list, index: *index },
            Expr::Quantifier { kind, local, list, condition } => {
                Op::Quantifier { kind: *kind, local: *local, list: *list, condition: *condition }
            }
            Expr::Where { local, list, condition } => {
                Op::Where { local: *local, list: *list, condition: *condition }
            }
            Expr::Each { kind, local, list, value } => {
                Op::Each { kind: *kind, local: *local, list: *list, value: *value }
            }
            Expr::Symbols { symbols, graph } => Op::Symbols { symbols: *symbols, graph: *graph },
            Expr::Conflicts { graph, table } => Op::Conflicts { graph: *graph, table: *table },
            Expr::WouldConflict { graph, first, second } => {
                Op::WouldConflict { graph: *graph, first: *first, second: *second }
            }
            Expr::Counter(name) => Op::Counter(*name),
        }
    }
}

/// A set of constants, asked without hashing text.
#[derive(Debug, Default)]
pub(super) struct ConstSet {
    /// By `Sym::index`, while that is small.
    bits: FixedBitSet,
    syms: FxHashSet<Sym>,
    ints: FxHashSet<i64>,
    others: Vec<Value>,
}

/// Names of rules are interned early, so this covers them nearly always.
const SMALL: usize = 1 << 16;

impl ConstSet {
    pub fn new<'a>(consts: impl IntoIterator<Item = &'a Const>) -> ConstSet {
        let mut set = ConstSet::default();
        for constant in consts {
            match constant {
                Const::Str(sym) if sym.index() < SMALL => set.bits.grow_and_insert(sym.index()),
                Const::Str(sym) => {
                    set.syms.insert(*sym);
                }
                Const::Int(i) => {
                    set.ints.insert(*i);
                }
                other => set.others.push(other.into()),
            }
        }
        set
    }

    pub fn contains(&self, value: &Value) -> bool {
        match value {
            Value::None => false,
            Value::Str(sym) => self.has(*sym),
            Value::Text(text) => Sym::lookup(text).is_some_and(|sym| self.has(sym)),
            Value::Int(i) => self.ints.contains(i),
            other => self.others.contains(other),
        }
    }

    #[inline]
    pub fn has(&self, sym: Sym) -> bool {
        self.bits.contains(sym.index()) || (!self.syms.is_empty() && self.syms.contains(&sym))
    }
}
