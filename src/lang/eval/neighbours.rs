//! Neighbours of nodes in the state as edited so far.

use super::Machine;
use crate::graph::{Near, NodeId};

impl Machine<'_> {
    /// The state as edited so far, for many questions about neighbours.
    pub fn near(&self) -> Near<'_> {
        Near::new(self.state(), self.dense.map(|dense| (dense, &self.edited)))
    }

    /// Adds the nodes with an edge out of `node`: data, then control. A node may come several times.
    pub fn push_successors(&self, node: NodeId, out: &mut Vec<NodeId>) {
        self.near().successors(node, |to| out.push(to));
    }

    /// Adds the nodes with an edge into `node`, likewise.
    pub fn push_predecessors(&self, node: NodeId, out: &mut Vec<NodeId>) {
        self.near().predecessors(node, |from| out.push(from));
    }
}
