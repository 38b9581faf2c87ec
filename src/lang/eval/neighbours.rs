//! Neighbours of nodes in the state as edited so far, read from the flat view where that is still true.

use super::Machine;
use crate::graph::NodeId;

impl Machine<'_> {
    /// Adds the nodes with an edge out of `node`: data, then control. A node may come several times.
    pub fn push_successors(&self, node: NodeId, out: &mut Vec<NodeId>) {
        if let Some(dense) = self.clean(node) {
            out.extend(dense.successors(node));
            return;
        }
        let outputs = self.edit.get_node(node).map_or(0, |found| found.outputs.len() as u32);
        let data = (0..outputs).flat_map(|index| self.edit.consumers(node.output(index)));
        out.extend(data.map(|to| to.node).chain(self.edit.control_out(node)));
    }

    /// Adds the nodes with an edge into `node`, likewise.
    pub fn push_predecessors(&self, node: NodeId, out: &mut Vec<NodeId>) {
        if let Some(dense) = self.clean(node) {
            out.extend(dense.predecessors(node));
            return;
        }
        let inputs = self.edit.get_node(node).map_or(0, |found| found.inputs.len() as u32);
        let data = (0..inputs).filter_map(|index| self.edit.producer(node.input(index)));
        out.extend(data.map(|from| from.node).chain(self.edit.control_in(node)));
    }
}
