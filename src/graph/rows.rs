//! Where edges lead, in rows.
//!
//! Promise: as compact as can be, by places in a list of nodes: whoever goes along edges from place to place stays close
//! together in memory where the list follows the edges.

use super::NodeId;

/// Places by place, in compressed rows.
pub(super) struct Rows {
    pub start: Vec<u32>,
    pub to: Vec<u32>,
}

impl Rows {
    /// A row for each node; `next` appends what stands in it.
    pub fn of_nodes(nodes: &[NodeId], mut next: impl FnMut(NodeId, &mut Vec<u32>)) -> Rows {
        let mut rows =
            Rows { start: Vec::with_capacity(nodes.len() + 1), to: Vec::with_capacity(nodes.len()) };
        rows.start.push(0);
        for &node in nodes {
            next(node, &mut rows.to);
            rows.start.push(rows.to.len() as u32);
        }
        rows
    }

    #[inline]
    pub fn of(&self, at: u32) -> &[u32] {
        &self.to[self.start[at as usize] as usize..self.start[at as usize + 1] as usize]
    }

    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// How many times each place stands in a row.
    pub fn entered(&self) -> Vec<u32> {
        let mut entered = vec![0u32; self.len()];
        self.to.iter().for_each(|&to| entered[to as usize] += 1);
        entered
    }
}
