//! Simpler code for the same values: what the options decide is decided once, and small functions stand where they
//! are called.
//!
//! Promise: simplified code gives the values of the code it was made from, and asks the graph nothing that the other
//! would not ask. Expressions of the body keep their numbers, so statements and steps need not know of it. It is for
//! runs that nobody looks at: explanations and coverage evaluate the code as it was written.

use fixedbitset::FixedBitSet;

use super::arith::{arith, compare};
use super::code::{Code, NONE, Op, condition};
use super::graft::Graft;
use super::program::{Data, Linked};
use super::{EntryId, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::{Each, Entry, ExprId, Local};
use crate::lang::syntax::ast::{Kind, Quantifier};

/// Functions of more expressions than this are called.
const SMALL: usize = 40;

/// Functions of more parameters than this are called.
const MOST_PARAMETERS: usize = 16;

/// Code does not grow beyond this.
const LARGEST: usize = 1 << 12;

/// Expressions that cost more than this are memoized.
pub(super) const DEAR: u32 = 24;

/// What a look into the memo costs.
const REMEMBERED: u32 = 6;

/// Simplifies the code of all entries, callees first, and decides what is memoized.
pub(super) fn simplify(entries: &mut [Linked]) {
    let mut state = vec![State::Open; entries.len()];
    for at in 0..entries.len() {
        visit(entries, &mut state, at, 0);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Its callees are being visited: who calls it now is called by it.
    Begun,
    Done,
}

/// Calls nest no deeper than this when they are evaluated. What does is left for a later round.
const DEEPEST: u32 = 200;

fn visit(entries: &mut [Linked], state: &mut [State], at: usize, depth: u32) {
    if state[at] != State::Open || depth > DEEPEST {
        return;
    }
    state[at] = State::Begun;
    let callees: Vec<usize> =
        entries[at].code.ops.iter().filter_map(callee).map(|id| id.0 as usize).collect();
    callees.into_iter().for_each(|callee| visit(entries, state, callee, depth + 1));
    let mut code = entries[at].code.clone();
    Simplifier { entries, ready: state, code: &mut code, open: Vec::new() }.all();
    let roots = match &*entries[at].entry {
        Entry::Fn { value, .. } => vec![*value],
        Entry::Walk { steps, .. } => {
            steps.iter().flat_map(|&(condition, next)| [condition, next]).flatten().collect()
        }
        _ => Vec::new(),
    };
    let (size, cost) = weigh(entries, state, &code, &roots);
    let is_walk = entries[at].key.0 == Kind::Walk;
    let linked = &mut entries[at];
    linked.cost = cost;
    linked.memo = cost.is_some() && (is_walk || !linked.cheap());
    linked.size = size;
    linked.plain = code;
    state[at] = State::Done;
}

fn callee(op: &Op) -> Option<EntryId> {
    match op {
        Op::Call { callee, .. } | Op::Walk { walk: callee, .. } => Some(*callee),
        _ => None,
    }
}

/// How many expressions `roots` are made of, and what they cost; `None`: the result depends on more than the graph.
fn weigh(entries: &[Linked], state: &[State], code: &Code, roots: &[ExprId]) -> (usize, Option<u32>) {
    let mut open = roots.to_vec();
    let (mut size, mut total) = (0, Some(0u32));
    while let Some(id) = open.pop() {
        size += 1;
        code.children(id, &mut |child| open.push(child));
        let own = match &code.ops[id as usize] {
            op if rests_on_more(op) => None,
            Op::Fact { fact: Fact::NodeReaches | Fact::GraphFind | Fact::GraphNode, .. } => Some(DEAR),
            Op::Quantifier { .. } | Op::Where { .. } => Some(DEAR),
            Op::Each { kind: Each::SortBy, .. } => Some(2 * DEAR),
            Op::Each { .. } => Some(DEAR),
            Op::Call { callee, .. } | Op::Walk { walk: callee, .. } => {
                let (linked, state) = (&entries[callee.0 as usize], state[callee.0 as usize]);
                match state {
                    State::Done if linked.memo => Some(REMEMBERED),
                    State::Done => linked.cost,
                    _ => None,
                }
            }
            _ => Some(1),
        };
        total = total.zip(own).map(|(total, own)| total.saturating_add(own));
    }
    (size, total)
}

struct Simplifier<'a> {
    entries: &'a [Linked],
    ready: &'a [State],
    code: &'a mut Code,
    /// Expressions that are yet to be simplified.
    open: Vec<ExprId>,
}

impl<'a> Simplifier<'a> {
    /// Simplifies all expressions of the body.
    fn all(&mut self) {
        let count = self.code.ops.len();
        let mut inner = FixedBitSet::with_capacity(count);
        for id in 0..count {
            self.code.children(id as ExprId, &mut |child| inner.insert(child as usize));
        }
        let free = self.code.locals;
        for id in (0..count).filter(|&id| !inner.contains(id)) {
            self.tree(id as ExprId, free);
        }
    }

    /// Simplifies `id` and what it is made of. Locals from `free` on are nobody's while it is evaluated.
    fn tree(&mut self, id: ExprId, free: Local) {
        if let Op::Call { callee, args, lift } = self.code.ops[id as usize] {
            let args = self.code.args(args).to_vec();
            return self.call(id, callee, &args, lift, free);
        }
        let from = self.open.len();
        self.code.children(id, &mut |child| self.open.push(child));
        for at in from..self.open.len() {
            self.tree(self.open[at], free);
        }
        self.open.truncate(from);
        fold(self.entries, self.code, id);
    }

    fn call(&mut self, id: ExprId, callee: EntryId, args: &[ExprId], lift: u32, free: Local) {
        let Some((from, value)) = self.small(callee, args.len()) else {
            return args.iter().for_each(|&arg| self.tree(arg, free));
        };
        // Constants and locals stand for parameters; the values of other arguments get locals of their own.
        let (mut params, mut kept, mut kept_lift) = (Vec::new(), Vec::new(), 0);
        for (at, &arg) in args.iter().enumerate() {
            self.tree(arg, free + kept.len() as Local);
            let lifted = lift >> at & 1 == 1;
            match &self.code.ops[arg as usize] {
                Op::Const(Value::None) if lifted => {
                    self.code.ops[id as usize] = Op::Const(Value::None);
                    return;
                }
                Op::Const(value) => params.push(Op::Const(value.clone())),
                Op::Local(local) if !lifted => params.push(Op::Local(*local)),
                _ => {
                    kept_lift |= u32::from(lifted) << kept.len();
                    params.push(Op::Local(free + kept.len() as Local));
                    kept.push(arg);
                }
            }
        }
        let locals = free + kept.len() as Local;
        self.code.locals = self.code.locals.max(locals + from.locals.saturating_sub(args.len() as Local));
        let body =
            Inliner { entries: self.entries, from, params: &params, locals, to: self.code }.expr(value);
        self.code.ops[id as usize] = if kept.is_empty() {
            self.code.ops[body as usize].clone()
        } else {
            Op::Inline { args: self.code.add_args(kept), lift: kept_lift, at: free, body }
        };
    }

    /// The code of a function that is to stand where it is called, and its value.
    fn small(&self, callee: EntryId, args: usize) -> Option<(&'a Code, ExprId)> {
        let linked: &'a Linked = &self.entries[callee.0 as usize];
        let Entry::Fn { value, params, .. } = &*linked.entry else { return None };
        let fits = self.ready[callee.0 as usize] == State::Done
            && !linked.memo
            && linked.size <= SMALL
            && *params as usize == args
            && args <= MOST_PARAMETERS
            && self.code.ops.len() + linked.size <= LARGEST;
        fits.then_some((&linked.plain, *value))
    }
}

/// Takes over the body of a function.
struct Inliner<'a> {
    entries: &'a [Linked],
    from: &'a Code,
    /// What stands for the first locals: constants, or locals of the code that they go to.
    params: &'a [Op],
    /// Where the other locals go.
    locals: Local,
    to: &'a mut Code,
}

impl<'a> Graft<'a> for Inliner<'a> {
    fn from(&self) -> &'a Code {
        self.from
    }

    fn to(&mut self) -> &mut Code {
        self.to
    }

    fn local(&self, local: Local) -> Op {
        self.params.get(local as usize).cloned().unwrap_or_else(|| Op::Local(self.bound(local)))
    }

    fn bound(&self, local: Local) -> Local {
        local.saturating_sub(self.params.len() as Local) + self.locals
    }

    fn done(&mut self, id: ExprId) {
        fold(self.entries, self.to, id);
    }
}

/// Simplifies one expression that is made of simplified ones.
pub(super) fn fold(entries: &[Linked], code: &mut Code, id: ExprId) {
    let constant = |id: ExprId| match code.ops.get(id as usize) {
        Some(Op::Const(value)) => Some(value),
        _ => None,
    };
    let truth = |id: ExprId| constant(id).map(Value::is_true);
    let both = |a, b| Some((constant(a)?, constant(b)?));
    let linked = |id: EntryId| &entries[id.0 as usize];
    // The expression that this one is the same as.
    let same = |id: ExprId| code.ops[id as usize].clone();
    let value = |value: Value| Some(Op::Const(value));
    let simpler = match code.ops[id as usize] {
        Op::Not(x) => truth(x).and_then(|holds| value(Value::Bool(!holds))),
        Op::And(a, b) => match (truth(a), truth(b)) {
            (Some(false), _) => value(Value::Bool(false)),
            (Some(true), _) if is_condition(code, b) => Some(same(b)),
            (_, Some(true)) if is_condition(code, a) => Some(same(a)),
            (_, Some(false)) if is_pure(entries, code, a) => value(Value::Bool(false)),
            _ => None,
        },
        Op::Or(a, b) => match (truth(a), truth(b)) {
            (Some(true), _) => value(Value::Bool(true)),
            (Some(false), _) if is_condition(code, b) => Some(same(b)),
            (_, Some(false)) if is_condition(code, a) => Some(same(a)),
            (_, Some(true)) if is_pure(entries, code, a) => value(Value::Bool(true)),
            _ => None,
        },
        Op::Fact { fact: Fact::NodeInput | Fact::NodeOutput | Fact::GraphNode, base: of, a, .. }
            if [of, a].iter().any(|&id| constant(id).is_some_and(Value::is_none)) =>
        {
            value(Value::None)
        }
        Op::Fact { base: of, .. }
        | Op::Attr { base: of, .. }
        | Op::HasAttr { base: of, .. }
        | Op::HasMark { base: of, .. }
        | Op::Note { base: of, .. }
        | Op::Walk { from: of, .. } => {
            constant(of).filter(|of| of.is_none()).and_then(|_| value(Value::None))
        }
        Op::Coalesce(a, b) => match constant(a) {
            Some(Value::None) => Some(same(b)),
            Some(_) => Some(same(a)),
            None => None,
        },
        Op::If { condition, then, otherwise } => {
            truth(condition).map(|holds| same(if holds { then } else { otherwise }))
        }
        Op::First { cases, otherwise } => return fold_first(code, id, cases, otherwise),
        Op::Match { value: of, arms } => match constant(of) {
            Some(Value::Enum { variant, .. }) => code.args(arms).get(*variant as usize).map(|&arm| same(arm)),
            _ => None,
        },
        Op::Compare { op, left, right } => {
            both(left, right).and_then(|(left, right)| value(Value::Bool(compare(op, left, right))))
        }
        Op::Arith { op, left, right } => {
            both(left, right).and_then(|(left, right)| value(arith(op, left, right)))
        }
        Op::IsNone { value: of, negated } => {
            constant(of).and_then(|of| value(Value::Bool(of.is_none() != negated)))
        }
        Op::InConsts { value: of, set, negated } => {
            constant(of).and_then(|of| value(Value::Bool(code.set(set).contains(of) != negated)))
        }
        Op::InSet { value: of, set, negated } => match (constant(of), &linked(set).data) {
            (Some(of), Data::Set(set)) => value(Value::Bool(set.contains(of) != negated)),
            _ => None,
        },
        Op::Table { table, key } => match (constant(key), &linked(table).data) {
            (Some(key), Data::Table(rows)) if !key.is_none() => {
                value(rows.get(key).cloned().unwrap_or_default())
            }
            _ => None,
        },
        Op::Index { list, index } => both(list, index).and_then(|(list, index)| {
            let index = index.as_int().and_then(|index| usize::try_from(index).ok());
            value(index.and_then(|index| list.at(index)).unwrap_or_default())
        }),
        Op::List(items) => {
            let items: Option<Vec<Value>> =
                code.args(items).iter().map(|&item| constant(item).cloned()).collect();
            items.and_then(|items| value(Value::list(items)))
        }
        _ => None,
    };
    if let Some(op) = simpler {
        code.ops[id as usize] = op;
    }
}

/// Drops the cases that never come, and those behind one that always does.
fn fold_first(code: &mut Code, id: ExprId, cases: super::code::Span, otherwise: ExprId) {
    let truth = |id: ExprId| match &code.ops[id as usize] {
        Op::Const(value) => Some(value.is_true()),
        _ => None,
    };
    let (mut left, mut last) = (Vec::new(), otherwise);
    for case in code.args(cases).chunks_exact(2) {
        match truth(case[0]) {
            Some(false) => {}
            Some(true) => {
                last = case[1];
                break;
            }
            None => left.extend_from_slice(case),
        }
    }
    code.ops[id as usize] = match left.is_empty() {
        true if last == NONE => Op::Const(Value::None),
        true => code.ops[last as usize].clone(),
        false if left.len() == code.args(cases).len() && last == otherwise => return,
        false => Op::First { cases: code.add_args(left), otherwise: last },
    };
}

/// Whether `id` is true or false, and never none.
fn is_condition(code: &Code, id: ExprId) -> bool {
    match &code.ops[id as usize] {
        Op::Const(value) => matches!(value, Value::Bool(_)),
        Op::Quantifier { kind, .. } => matches!(kind, Quantifier::All | Quantifier::Any),
        op => matches!(op, condition!()),
    }
}

/// Whether an expression of this kind rests on more than what it is made of, the state and notes, or does something.
pub(super) fn rests_on_more(op: &Op) -> bool {
    match op {
        Op::HasMark { .. }
        | Op::Counter(_)
        | Op::Conflicts { .. }
        | Op::WouldConflict { .. }
        | Op::Symbols { .. } => true,
        Op::Fact { fact, .. } => matches!(
            fact,
            Fact::AnchorMarks | Fact::AnchorRegistered | Fact::AnchorGroupSize | Fact::AnchorSameGroup
        ),
        _ => false,
    }
}

/// Whether nobody misses it if `id` is not evaluated.
pub(super) fn is_pure(entries: &[Linked], code: &Code, id: ExprId) -> bool {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        match &code.ops[id as usize] {
            Op::Counter(_) | Op::Symbols { .. } | Op::Conflicts { .. } | Op::WouldConflict { .. } => {
                return false;
            }
            op if callee(op).is_some_and(|callee| entries[callee.0 as usize].cost.is_none()) => return false,
            _ => {}
        }
        code.children(id, &mut |child| open.push(child));
    }
    true
}
