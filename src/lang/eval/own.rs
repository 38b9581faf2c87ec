//! Which expressions look at one node alone, so that nodes which are alike share their values.
//!
//! An expression is of a local's *own* if all that it asks is written at the node that the local holds, or whose anchor it
//! holds, at the graph of that node, or at a node around that: types, ports, attributes, but not edges, names, notes or marks.
//! Conditions of operators are nearly all of this kind, and a graph has many nodes and few kinds of them. Here such
//! expressions are found and set into [`Op::Alike`]; [`super::alike`] finds their values once for each kind of node. So are
//! functions, steps and conditions that are made of them in part: of these, [`super::residual`] finds what is left.

use std::cmp::Reverse;

use fixedbitset::FixedBitSet;

use super::code::{Code, NONE, Op};
use super::fact::is_list_fact;
use super::locals::Locals;
use super::program::Linked;
use crate::lang::facts::Fact;
use crate::lang::hir::{Entry, ExprId, Local};

/// Expressions that cost less than this are sooner evaluated than looked up.
const WORTH: u32 = 4;

/// What the expressions of a program that are shared ask of nodes.
#[derive(Debug, Default)]
pub(super) struct Traits {
    /// Attributes, by `Sym::index`.
    pub keys: FixedBitSet,
}

/// Shares what can be shared in the simplified code of all entries.
pub(super) fn share(entries: &mut [Linked]) -> Traits {
    let whole: Vec<bool> = {
        let mut whole = vec![None; entries.len()];
        (0..entries.len()).map(|at| is_whole(entries, &mut whole, at, 0)).collect()
    };
    let mut keys = FixedBitSet::new();
    for linked in entries.iter().zip(&whole).filter(|(_, whole)| **whole).map(|(linked, _)| linked) {
        linked.plain.ops.iter().for_each(|op| asked(&linked.plain, op, &mut keys));
    }
    let mut cells = 0;
    for linked in entries {
        let code = &mut linked.plain;
        let count = code.ops.len();
        let mut inner = vec![false; count];
        for id in 0..count {
            code.children(id as ExprId, &mut |child| inner[child as usize] = true);
        }
        let known = vec![Known::default(); count];
        let (asked, open) = (FixedBitSet::with_capacity(count), Vec::new());
        let mut sharer =
            Sharer { whole: &whole, code, known, open, asked, keys: &mut keys, cells: &mut cells };
        for id in (0..count).filter(|&id| !inner[id]) {
            sharer.learn(id as ExprId);
            sharer.root(id as ExprId);
        }
        code.own = sharer.known.into_iter().map(|known| known.own.then_some(known.free)).collect();
    }
    Traits { keys }
}

/// Adds the attributes that an operation asks for.
fn asked(code: &Code, op: &Op, keys: &mut FixedBitSet) {
    if let Op::Attr { keys: asked, .. } | Op::HasAttr { keys: asked, .. } = *op {
        code.keys(asked).iter().for_each(|key| keys.grow_and_insert(key.index()));
    }
}

/// Calls nest no deeper than this when they are evaluated.
const DEEPEST: u32 = 200;

/// Whether a function asks only what is its arguments' own.
fn is_whole(entries: &[Linked], known: &mut [Option<bool>], at: usize, depth: u32) -> bool {
    if let Some(known) = known[at] {
        return known;
    }
    // Who calls itself is not.
    known[at] = Some(false);
    let linked = &entries[at];
    let Entry::Fn { value, .. } = &*linked.entry else { return false };
    let mut open = vec![*value];
    while let Some(id) = open.pop() {
        let fits = match &linked.plain.ops[id as usize] {
            Op::Call { callee, .. } => {
                depth < DEEPEST && is_whole(entries, known, callee.0 as usize, depth + 1)
            }
            op => is_own(op),
        };
        if !fits {
            return false;
        }
        linked.plain.children(id, &mut |child| open.push(child));
    }
    known[at] = Some(true);
    true
}

/// Whether an operation asks only what is written at a node, if that holds of what it is made of.
fn is_own(op: &Op) -> bool {
    match op {
        Op::Fact { fact, .. } => is_own_fact(*fact),
        Op::HasMark { .. }
        | Op::Note { .. }
        | Op::Call { .. }
        | Op::Walk { .. }
        | Op::Symbols { .. }
        | Op::Conflicts { .. }
        | Op::WouldConflict { .. }
        | Op::Counter(_)
        | Op::Alike { .. } => false,
        _ => true,
    }
}

fn is_own_fact(fact: Fact) -> bool {
    is_list_fact(fact)
        || matches!(
            fact,
            Fact::NodeType
                | Fact::NodeInputs
                | Fact::NodeOutputs
                | Fact::NodeInput
                | Fact::NodeOutput
                | Fact::NodeHasSubgraph
                | Fact::NodeGraph
                | Fact::GraphParent
                | Fact::GraphIsRoot
                | Fact::InputNode
                | Fact::InputIndex
                | Fact::OutputNode
                | Fact::OutputIndex
                | Fact::OutputReuseInput
                | Fact::AnchorNode
                | Fact::AnchorIndex
                | Fact::AnchorIsIn
                | Fact::AnchorIsOut
                | Fact::AnchorAsInput
                | Fact::AnchorAsOutput
                | Fact::AnchorPort
                | Fact::StrCount
                | Fact::StrIsEmpty
                | Fact::StrStartsWith
                | Fact::StrEndsWith
                | Fact::StrContains
                | Fact::StrSplit
                | Fact::StrBefore
                | Fact::StrTrim
                | Fact::StrTrimStart
                | Fact::StrDigits
                | Fact::StrIsUint
                | Fact::StrAfter
                | Fact::StrToInt
                | Fact::IntToStr
                | Fact::IntAbs
                | Fact::IntMin
                | Fact::IntMax
                | Fact::IntBits
        )
}

/// What is known of an expression.
#[derive(Clone, Default)]
struct Known {
    /// All that it asks is written at the nodes that its free locals hold.
    own: bool,
    /// The locals that it reads and does not bind.
    free: Locals,
    /// About what it costs.
    cost: u32,
}

impl Known {
    /// The local whose own the expression is.
    fn of(&self) -> Option<Local> {
        self.free.only().filter(|_| self.own)
    }
}

struct Sharer<'a> {
    whole: &'a [bool],
    code: &'a mut Code,
    /// By expression.
    known: Vec<Known>,
    /// Expressions that are yet to be gone into.
    open: Vec<ExprId>,
    /// By expression: what it asks for, and what it is made of, has been added to the keys.
    asked: FixedBitSet,
    keys: &'a mut FixedBitSet,
    cells: &'a mut u32,
}

impl Sharer<'_> {
    fn each_child(&mut self, id: ExprId, mut f: impl FnMut(&mut Self, ExprId)) {
        let from = self.open.len();
        self.code.children(id, &mut |child| self.open.push(child));
        for at in from..self.open.len() {
            let child = self.open[at];
            f(self, child);
        }
        self.open.truncate(from);
    }

    /// Finds out about `id` and all that it is made of.
    fn learn(&mut self, id: ExprId) {
        self.each_child(id, |sharer, child| sharer.learn(child));
        let op = &self.code.ops[id as usize];
        let own = match op {
            Op::Call { callee, .. } => self.whole[callee.0 as usize],
            op => is_own(op),
        };
        let cost = match op {
            Op::Const(_) | Op::Local(_) => 0,
            Op::Attr { .. } | Op::HasAttr { .. } => 3,
            Op::Call { .. } | Op::Quantifier { .. } | Op::Where { .. } | Op::Each { .. } => 8,
            _ => 1,
        };
        // The part in which this expression binds locals.
        let (inner, bound) = match *op {
            Op::Quantifier { local, condition: inner, .. }
            | Op::Where { local, condition: inner, .. }
            | Op::Each { local, value: inner, .. }
            | Op::Let { local, body: inner, .. } => (inner, local..local + 1),
            Op::Inline { args, at, body, .. } => (body, at..at + self.code.args(args).len() as Local),
            _ => (NONE, 0..0),
        };
        let mut known = Known { own, free: Locals::default(), cost };
        if let Op::Local(local) = op {
            known.free.insert(*local);
        }
        self.code.children(id, &mut |child| {
            let of = &self.known[child as usize];
            known.own &= of.own;
            known.cost = known.cost.saturating_add(of.cost);
            known.free.extend(&of.free, if child == inner { &bound } else { &(0..0) });
        });
        self.known[id as usize] = known;
    }

    /// Shares what a statement, a function or a step asks.
    fn root(&mut self, id: ExprId) {
        let free = self.known[id as usize].free.clone();
        let best = free.iter().max_by_key(|&local| (self.worth(id, local), Reverse(local)));
        self.body(id, best, None);
    }

    /// Shares an expression in which `local` begins to hold a place. `folded`: the local to whose node the code around is
    /// fitted.
    fn body(&mut self, id: ExprId, local: Option<Local>, folded: Option<Local>) {
        match local {
            Some(local)
                if self.known[id as usize].of().is_none()
                    && !self.is_list(id)
                    && self.worth(id, local) >= WORTH =>
            {
                self.share(id, Some(local));
                self.set_apart(id, local);
            }
            _ => self.share(id, folded),
        }
    }

    /// Shares `id` if it is one local's own, else what it is made of.
    fn share(&mut self, id: ExprId, folded: Option<Local>) {
        if let Some(local) = self.known[id as usize].of() {
            let is_worth_it = self.known[id as usize].cost >= WORTH && !self.is_list(id);
            if Some(local) != folded && is_worth_it {
                self.set_apart(id, local);
            }
            return;
        }
        match self.code.ops[id as usize] {
            Op::Quantifier { local, list, condition: inner, .. }
            | Op::Where { local, list, condition: inner }
            | Op::Each { local, list, value: inner, .. } => {
                self.share(list, folded);
                self.body(inner, Some(local), folded);
            }
            _ => self.each_child(id, |sharer, child| sharer.share(child, folded)),
        }
    }

    /// About what is spared where the kind of the node of `local` is known: what is its own, and calls and walks that may
    /// come to nothing there.
    fn worth(&self, id: ExprId, local: Local) -> u32 {
        let known = &self.known[id as usize];
        if known.of() == Some(local) {
            return known.cost;
        }
        let is_local = |id: ExprId| matches!(self.code.ops[id as usize], Op::Local(l) if l == local);
        let mut total = 0u32;
        match self.code.ops[id as usize] {
            Op::Call { args, .. } if self.code.args(args).iter().any(|&arg| is_local(arg)) => total += WORTH,
            Op::Walk { from, .. } if is_local(from) => total += WORTH,
            _ => {}
        }
        // What is said of the elements of a list is fitted to these.
        let skipped = match self.code.ops[id as usize] {
            Op::Quantifier { condition: inner, .. }
            | Op::Where { condition: inner, .. }
            | Op::Each { value: inner, .. } => inner,
            _ => NONE,
        };
        self.code.children(id, &mut |child| {
            if child != skipped && self.known[child as usize].free.contains(local) {
                total = total.saturating_add(self.worth(child, local));
            }
        });
        total
    }

    /// Lists are gone through rather than built, and a fact of what is at hand is as quick as a look at what is known.
    fn is_list(&self, id: ExprId) -> bool {
        matches!(
            self.code.ops[id as usize],
            Op::Fact { .. }
                | Op::List(_)
                | Op::Range(..)
                | Op::Concat(..)
                | Op::Where { .. }
                | Op::Each { .. }
        )
    }

    fn set_apart(&mut self, id: ExprId, local: Local) {
        self.collect_keys(id);
        let body = self.code.add_op(self.code.ops[id as usize].clone());
        self.known.push(self.known[id as usize].clone());
        self.code.ops[id as usize] = Op::Alike { local, cell: *self.cells, body };
        *self.cells += 1;
    }

    /// The attributes that own parts of `id` ask for.
    fn collect_keys(&mut self, id: ExprId) {
        self.asked.grow(self.known.len());
        if self.asked.put(id as usize) {
            return;
        }
        if self.known[id as usize].own {
            asked(self.code, &self.code.ops[id as usize], self.keys);
        }
        self.each_child(id, Sharer::collect_keys);
    }
}
