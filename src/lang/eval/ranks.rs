//! Sorting by topological ids where a round is recorded.
//!
//! Promise: who only sorts by ids depends on the order of the nodes, not on the ids.

use super::Machine;
use super::Value;
use super::code::{Code, Op};
use super::trace::Told;
use crate::graph::NodeId;
use crate::lang::facts::Fact;
use crate::lang::hir::ExprId;

/// Topological ids that a sort goes by. Each edit may shift them all, and the order of most nodes stays.
pub(super) struct Ranks {
    of: ExprId,
    otherwise: Option<ExprId>,
    nodes: Vec<NodeId>,
    /// Each key is one.
    only: bool,
}

impl Machine<'_> {
    /// Records the topological id of a node. It changes with no edit of the node, and where that matters somebody records a round.
    pub(super) fn see_id(&mut self, node: NodeId) {
        if let Some(reads) = self.reads.as_mut().filter(|reads| reads.of_round) {
            reads.tell(Told::Id(node));
        }
    }

    /// How the keys of a sort are found if they are topological ids, or something else where there is none, and a round is recorded.
    pub(super) fn ranks(&self, code: &Code, key: ExprId) -> Option<Ranks> {
        self.reads.as_ref().filter(|reads| reads.of_round)?;
        let (id, otherwise) = match code.ops[key as usize] {
            Op::Coalesce(id, otherwise) => (id, Some(otherwise)),
            _ => (key, None),
        };
        let Op::Fact { fact: Fact::NodeId, base: of, .. } = code.ops[id as usize] else { return None };
        Some(Ranks { of, otherwise, nodes: Vec::new(), only: true })
    }

    /// The next key of such a sort.
    pub(super) fn rank(&mut self, code: &Code, ranks: &mut Ranks, base: usize) -> Value {
        match self.expr(code, ranks.of, base) {
            Value::Node(node) if self.has_node(node) => {
                self.see_own(node);
                ranks.nodes.push(node);
                Value::Int(self.edit.topo_id(node))
            }
            of => {
                of.as_node().into_iter().for_each(|node| self.see_own(node));
                ranks.only = false;
                ranks.otherwise.map_or(Value::None, |otherwise| self.expr(code, otherwise, base))
            }
        }
    }

    /// Records what the sort went by: the order of the nodes, or if there are other keys the ids themselves.
    pub(super) fn see_ranks(&mut self, ranks: Option<Ranks>) {
        let Some(Ranks { mut nodes, only, .. }) = ranks else { return };
        nodes.sort_by_key(|&node| (self.edit.topo_id(node), node));
        nodes.dedup();
        let Some(reads) = &mut self.reads else { return };
        match only {
            true => reads.told.extend(nodes.windows(2).map(|pair| Told::Order(pair[0], pair[1]))),
            false => reads.told.extend(nodes.into_iter().map(Told::Id)),
        }
    }
}
