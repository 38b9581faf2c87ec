//! `order` entries: which sort is wanted, and what it is told of the nodes.
//!
//! Promise: a condition is asked before the sort, once a node or once a type, never once an edge.

use fixedbitset::FixedBitSet;

use super::sides;
use crate::graph::{GraphId, NodeId, Snapshot, SortMode, SortRules, Sym, sort};
use crate::lang::eval::{EntryId, Failure, Machine, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::{Body, Entry, Expr, ExprId, Local};
use crate::lang::syntax::ast::Kind;

/// `base` in the order that an `order` entry describes.
pub(super) fn sorted(machine: &mut Machine<'_>, base: &Snapshot, order: Sym) -> Result<Snapshot, Failure> {
    let program = machine.program();
    let root = machine.root();
    let missing = || Failure::mechanism("unknown-order", format!("there is no order `{order}`"));
    let entry = program.entry(Kind::Order, order).ok_or_else(missing)?;
    let hir = program.hir(entry).cloned().ok_or_else(missing)?;
    let Entry::Order { mode, first, ignore, .. } = &*hir else { return Err(missing()) };
    let mode = match machine.eval(entry, *mode, &[Value::Graph(root)])? {
        Value::Enum { variant: 0, .. } => SortMode::Bfs,
        Value::Enum { variant: 2, .. } => SortMode::StableRdfs,
        _ => SortMode::Dfs,
    };
    // Asked before the sort, which must not evaluate a condition per edge.
    let sources = matching(machine, base, entry, *first, root)?;
    let silent = matching(machine, base, entry, *ignore, root)?;
    sort(base, root, SortRules { mode, sources, silent })
        .map_err(|cycle| Failure::mechanism("cycle", cycle.to_string()).at(cycle.nodes.iter().copied()))
}

/// The nodes for which a condition of an `order` holds. A condition that reads nothing but the operator type is
/// asked once per type.
fn matching(
    machine: &mut Machine<'_>,
    base: &Snapshot,
    entry: EntryId,
    condition: Option<ExprId>,
    root: GraphId,
) -> Result<FixedBitSet, Failure> {
    let mut set = FixedBitSet::with_capacity(base.node_slots());
    let Some(condition) = condition else { return Ok(set) };
    let of_type =
        machine.program().hir(entry).and_then(|hir| hir.body()).is_some_and(|body| reads_only_type(body, 1));
    // By number of the type.
    let mut known: Vec<Option<bool>> = Vec::new();
    let dense = base.dense();
    for node in (0..dense.slots() as u32).map(NodeId) {
        let Some(ty) = dense.ty(node) else { continue };
        let ty = ty.index();
        let holds = match known.get(ty).copied().flatten() {
            Some(holds) => holds,
            None => {
                let holds = machine.test(entry, condition, &[Value::Graph(root), Value::Node(node)])?;
                if of_type {
                    known.resize(known.len().max(ty + 1), None);
                    known[ty] = Some(holds);
                }
                holds
            }
        };
        if holds {
            set.insert(node.0 as usize);
        }
    }
    Ok(set)
}

/// Whether a body uses a local for nothing but to ask for its operator type.
fn reads_only_type(body: &Body, local: Local) -> bool {
    let is_local = |id: &ExprId| body.exprs.get(*id as usize) == Some(&Expr::Local(local));
    body.exprs.iter().all(|expr| {
        matches!(expr, Expr::Fact { fact: Fact::NodeType, .. }) || !sides::children(expr).iter().any(is_local)
    })
}
