//! What can be said of an expression before it is evaluated: the locals in it, the filters of a list.

use std::rc::Rc;

use crate::engine::sides::{binder, children};
use crate::graph::NodeId;
use crate::lang::eval::{EntryId, Machine, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::{Compare, Entry, Expr, ExprId, Local, Ty};
use crate::lang::syntax::ast::Kind;

/// The node that a value is, or whose anchor it is.
pub fn node_of(value: &Value) -> Option<NodeId> {
    value.as_node().or_else(|| value.as_anchor().map(|anchor| anchor.node()))
}

fn expr<'p>(machine: &Machine<'p>, entry: EntryId, id: ExprId) -> Option<&'p Expr> {
    machine.program().hir(entry)?.body()?.exprs.get(id as usize)
}

/// The locals of a frame that an expression reads, those apart that it binds itself, each with a place where it does.
pub fn mentions(machine: &Machine<'_>, entry: EntryId, id: ExprId) -> Rc<[(Local, ExprId)]> {
    let mut found = Vec::new();
    collect(machine, entry, id, &mut Vec::new(), &mut found);
    found.into()
}

fn collect(
    machine: &Machine<'_>,
    entry: EntryId,
    id: ExprId,
    inner: &mut Vec<Local>,
    found: &mut Vec<(Local, ExprId)>,
) {
    let Some(node) = expr(machine, entry, id) else { return };
    if let Expr::Local(local) = node
        && !inner.contains(local)
        && found.iter().all(|(known, _)| known != local)
    {
        found.push((*local, id));
    }
    let mark = inner.len();
    inner.extend(binder(node));
    for child in children(node) {
        collect(machine, entry, child, inner, found);
    }
    inner.truncate(mark);
}

/// Whether an expression asks no more than whether there is something.
pub fn asks_existence(machine: &Machine<'_>, entry: EntryId, id: ExprId) -> bool {
    match expr(machine, entry, id) {
        Some(Expr::IsNone { .. }) => true,
        Some(Expr::And(a, b) | Expr::Or(a, b)) => {
            asks_existence(machine, entry, *a) && asks_existence(machine, entry, *b)
        }
        _ => false,
    }
}

/// Whether an expression asks of which operator type something is.
pub fn asks_type(machine: &Machine<'_>, entry: EntryId, id: ExprId) -> bool {
    let is_type = |id| match expr(machine, entry, id) {
        Some(Expr::Fact { fact: Fact::NodeType, .. }) => true,
        Some(Expr::Call { function, .. }) => {
            let program = machine.program();
            let callee = program.entry(Kind::Fn, *function).and_then(|id| program.hir(id));
            matches!(callee.map(|hir| &**hir), Some(Entry::Fn { result: Ty::Op, .. }))
        }
        _ => false,
    };
    match expr(machine, entry, id) {
        Some(Expr::InSet { value, .. } | Expr::InConsts { value, .. } | Expr::InList { value, .. }) => {
            is_type(*value)
        }
        Some(Expr::Compare { op: Compare::Eq | Compare::Ne, left, right }) => {
            is_type(*left) || is_type(*right)
        }
        _ => false,
    }
}

/// A list with filters around it.
#[derive(Debug)]
pub struct Layers {
    /// The list before any filter.
    pub list: ExprId,
    /// The innermost first: the local of the element, and the condition.
    pub filters: Vec<(Local, ExprId)>,
}

impl Layers {
    /// `None`: nothing is filtered.
    pub fn new(machine: &Machine<'_>, entry: EntryId, mut list: ExprId) -> Option<Rc<Layers>> {
        let mut filters = Vec::new();
        while let Some(Expr::Where { local, list: inner, condition }) = expr(machine, entry, list) {
            filters.insert(0, (*local, *condition));
            list = *inner;
        }
        (!filters.is_empty()).then(|| Rc::new(Layers { list, filters }))
    }
}
