//! What a pair rule reads of each side alone.
//!
//! A group may hold ten thousand anchors on each side of a rule; looking at every pair is quadratic. But a
//! condition on `(x, y)` usually reads little of `x` and of `y` apart from each other: a memory type, an operator
//! type. The *leaves* of an expression are its largest parts that read one side only. Two anchors with equal leaf
//! values (a *signature*) are interchangeable: whatever the expression says of one, it says of the other.
//! So it is evaluated once per pair of signatures.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::Sym;
use crate::lang::hir::{Body, Entry, Expr, ExprId, Local};
use crate::lang::syntax::ast::Kind;

/// The slots of a pair frame that hold an anchor: first, second, role 1, role 2.
const SIDE_SLOTS: [Local; 4] = [0, 1, 4, 5];

/// Slots of the frame of a `skip` or `default always` entry, and of a checker of pairs, which has roles.
pub const PAIR_FRAME: Local = 4;
pub const ROLE_FRAME: Local = 6;

/// What an expression depends on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Deps {
    /// Bit per entry of [`SIDE_SLOTS`].
    sides: u8,
    /// A local bound outside the expression, other than a parameter.
    bound: bool,
}

impl Deps {
    fn join(self, other: Deps) -> Deps {
        Deps { sides: self.sides | other.sides, bound: self.bound || other.bound }
    }
}

/// Where a local of the body under analysis comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// An anchor of the pair: index into [`SIDE_SLOTS`].
    Side(u8),
    /// A slot that is the same for all pairs of a group (`group`, `target`).
    Context(Local),
}

/// A part of an expression that reads one side only, in the body of `function` (or of the rule itself).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Leaf {
    pub function: Option<Sym>,
    pub expr: ExprId,
    /// Origins of the first slots of that body's frame.
    pub origins: Vec<Option<Origin>>,
}

/// Looks up a function's body.
pub trait Functions {
    fn function(&self, name: Sym) -> Option<&Entry>;
}

impl Functions for FxHashMap<(Kind, Sym), std::sync::Arc<Entry>> {
    fn function(&self, name: Sym) -> Option<&Entry> {
        self.get(&(Kind::Fn, name)).map(|entry| &**entry)
    }
}

/// What of a pair rule is asked for a pair: its condition, and which anchor it isolates.
#[derive(Clone, Copy)]
pub struct Asked {
    pub condition: Option<ExprId>,
    pub target: Option<ExprId>,
}

/// The leaves of a pair rule, each once, in order of appearance. `provided`: how many slots of its frame hold what the
/// search hands in; those behind are bound by the body itself.
pub fn leaves(body: &Body, provided: Local, asked: Asked, functions: &dyn Functions) -> Vec<Leaf> {
    let origin = |slot: Local| match (0u8..).zip(SIDE_SLOTS).find(|(_, side_slot)| *side_slot == slot) {
        Some((side, _)) => Origin::Side(side),
        None => Origin::Context(slot),
    };
    let origins: Vec<Option<Origin>> = (0..provided).map(|slot| Some(origin(slot))).collect();
    let mut walk = Walk { functions, found: Vec::new(), seen: FxHashSet::default() };
    let scope = Scope { function: None, body, origins: &origins };
    if let Some(condition) = asked.condition {
        walk.visit(&scope, condition);
    }
    if let Some(target) = asked.target {
        walk.target(&scope, target);
    }
    walk.found
}

struct Scope<'a> {
    function: Option<Sym>,
    body: &'a Body,
    origins: &'a [Option<Origin>],
}

struct Walk<'a> {
    functions: &'a dyn Functions,
    found: Vec<Leaf>,
    seen: FxHashSet<Leaf>,
}

impl Scope<'_> {
    /// `inner`: locals bound inside the expression that is asked about.
    fn deps(&self, expr: ExprId, inner: &mut Vec<Local>) -> Deps {
        let Some(node) = self.body.exprs.get(expr as usize) else { return Deps::default() };
        if let Expr::Local(local) = node {
            return match self.origins.get(*local as usize) {
                Some(Some(Origin::Side(side))) => Deps { sides: 1 << side, bound: false },
                Some(Some(Origin::Context(_))) => Deps::default(),
                _ => Deps { sides: 0, bound: !inner.contains(local) },
            };
        }
        let mark = inner.len();
        inner.extend(binder(node));
        let deps = children(node)
            .into_iter()
            .fold(Deps::default(), |deps, child| deps.join(self.deps(child, inner)));
        inner.truncate(mark);
        deps
    }
}

impl Walk<'_> {
    /// An expression whose value is one of the two anchors. Which of the two is all that matters, so an anchor of the
    /// pair that stands for itself tells nobody apart.
    fn target(&mut self, scope: &Scope<'_>, expr: ExprId) {
        let Some(node) = scope.body.exprs.get(expr as usize) else { return };
        match node {
            Expr::Local(local)
                if matches!(scope.origins.get(*local as usize), Some(Some(Origin::Side(_)))) => {}
            Expr::If { condition, then, otherwise } => {
                self.visit(scope, *condition);
                self.target(scope, *then);
                self.target(scope, *otherwise);
            }
            Expr::First { cases, otherwise } => {
                for (condition, value) in cases {
                    self.visit(scope, *condition);
                    self.target(scope, *value);
                }
                otherwise.iter().for_each(|&value| self.target(scope, value));
            }
            Expr::Let { value, body, .. } => {
                self.visit(scope, *value);
                self.target(scope, *body);
            }
            Expr::Call { function, args, .. } => {
                match (self.functions.function(*function), self.plain(scope, args)) {
                    (Some(Entry::Fn { body, value, .. }), Some(origins)) => {
                        self.target(&Scope { function: Some(*function), body, origins: &origins }, *value);
                    }
                    _ => self.visit(scope, expr),
                }
            }
            _ => self.visit(scope, expr),
        }
    }

    fn visit(&mut self, scope: &Scope<'_>, expr: ExprId) {
        let deps = scope.deps(expr, &mut Vec::new());
        if deps.sides == 0 {
            return;
        }
        if deps.sides.is_power_of_two() && !deps.bound {
            let origins = scope.origins.to_vec();
            let leaf = Leaf { function: scope.function, expr, origins };
            if self.seen.insert(leaf.clone()) {
                self.found.push(leaf);
            }
            return;
        }
        let Some(node) = scope.body.exprs.get(expr as usize) else { return };
        if let Expr::Call { function, args, .. } = node
            && let Some(Entry::Fn { body, value, .. }) = self.functions.function(*function)
            && let Some(origins) = self.plain(scope, args)
        {
            return self.visit(&Scope { function: Some(*function), body, origins: &origins }, *value);
        }
        for child in children(node) {
            self.visit(scope, child);
        }
    }

    /// Origins of the callee's parameters, if every argument is a parameter or a provided slot itself.
    fn plain(&self, scope: &Scope<'_>, args: &[ExprId]) -> Option<Vec<Option<Origin>>> {
        args.iter()
            .map(|&arg| match scope.body.exprs.get(arg as usize) {
                Some(Expr::Local(local)) => scope.origins.get(*local as usize).copied().flatten().map(Some),
                Some(Expr::Const(_)) => None,
                _ => None,
            })
            .collect()
    }
}

/// The local that an expression binds.
pub fn binder(expr: &Expr) -> Option<Local> {
    match expr {
        Expr::Let { local, .. }
        | Expr::Quantifier { local, .. }
        | Expr::Where { local, .. }
        | Expr::Each { local, .. } => Some(*local),
        _ => None,
    }
}

/// The direct parts of an expression.
pub fn children(expr: &Expr) -> Vec<ExprId> {
    match expr {
        Expr::Const(_) | Expr::Local(_) | Expr::Option(_) | Expr::Counter(_) => Vec::new(),
        Expr::Fact { base, args, .. } => std::iter::once(*base).chain(args.iter().copied()).collect(),
        Expr::Attr { base, .. }
        | Expr::HasAttr { base, .. }
        | Expr::HasMark { base, .. }
        | Expr::Note { base, .. } => vec![*base],
        Expr::Call { args, .. } => args.to_vec(),
        Expr::Walk { from, .. } => vec![*from],
        Expr::Table { key, .. } => vec![*key],
        Expr::Matrix { row, column, .. } => vec![*row, *column],
        Expr::Not(a) | Expr::Negate(a) => vec![*a],
        Expr::And(a, b) | Expr::Or(a, b) | Expr::Coalesce(a, b) | Expr::Concat(a, b) | Expr::Range(a, b) => {
            vec![*a, *b]
        }
        Expr::Compare { left, right, .. } | Expr::Arith { left, right, .. } => vec![*left, *right],
        Expr::InList { value, list, .. } => vec![*value, *list],
        Expr::InSet { value, .. } | Expr::InConsts { value, .. } | Expr::IsNone { value, .. } => vec![*value],
        Expr::If { condition, then, otherwise } => vec![*condition, *then, *otherwise],
        Expr::Match { value, arms } => std::iter::once(*value).chain(arms.iter().copied()).collect(),
        Expr::First { cases, otherwise } => {
            cases.iter().flat_map(|(c, v)| [*c, *v]).chain(*otherwise).collect()
        }
        Expr::Let { value, body, .. } => vec![*value, *body],
        Expr::List(items) => items.to_vec(),
        Expr::Index { list, index } => vec![*list, *index],
        Expr::Quantifier { list, condition, .. } | Expr::Where { list, condition, .. } => {
            vec![*list, *condition]
        }
        Expr::Each { list, value, .. } => vec![*list, *value],
        Expr::Symbols { graph, .. } => vec![*graph],
        Expr::Conflicts { graph, table } => vec![*graph, *table],
        Expr::WouldConflict { graph, first, second } => vec![*graph, *first, *second],
    }
}
