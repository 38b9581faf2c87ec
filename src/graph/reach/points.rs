//! A number for each node of a graph.

use rustc_hash::FxHashMap;

use super::super::NodeId;

/// No number.
const NONE: u32 = u32::MAX;

/// The numbers of a graph lie close together as a rule; then a row of them is faster than a map.
const SPREAD: usize = 4;

/// Nodes with the numbers that were given to them.
#[derive(Clone)]
pub(super) struct Points {
    /// The first node of `row`.
    first: u32,
    row: Vec<u32>,
    /// Used instead of `row` where nodes are far apart.
    map: FxHashMap<NodeId, u32>,
}

impl Points {
    /// Numbers nodes from 0 on. No node stands in the list twice.
    pub fn new(nodes: &[NodeId]) -> Points {
        let (first, last) = nodes.iter().fold((u32::MAX, 0), |(low, high), n| (low.min(n.0), high.max(n.0)));
        let mut points = Points { first, row: Vec::new(), map: FxHashMap::default() };
        let width = last.saturating_sub(first) as usize;
        if width < nodes.len().saturating_mul(SPREAD) {
            points.row = vec![NONE; width + 1];
            nodes.iter().zip(0u32..).for_each(|(node, at)| points.row[(node.0 - first) as usize] = at);
        } else {
            points.map = nodes.iter().copied().zip(0u32..).collect();
        }
        points
    }

    #[inline]
    pub fn get(&self, node: NodeId) -> Option<u32> {
        if self.row.is_empty() {
            return self.map.get(&node).copied();
        }
        let at = node.0.checked_sub(self.first)?;
        self.row.get(at as usize).copied().filter(|&at| at != NONE)
    }

    pub fn contains(&self, node: NodeId) -> bool {
        self.get(node).is_some()
    }

    /// Gives each node the number that stands in `new` at its old one.
    pub fn renumber(&mut self, new: &[u32]) {
        let numbers = self.row.iter_mut().filter(|at| **at != NONE).chain(self.map.values_mut());
        numbers.for_each(|at| *at = new[*at as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(nodes: &[u32]) -> Vec<Option<u32>> {
        let nodes: Vec<NodeId> = nodes.iter().copied().map(NodeId).collect();
        let mut points = Points::new(&nodes);
        points.renumber(&[7, 5, 3]);
        [0, 3, 4, 5, 1000, 5000].map(|node| points.get(NodeId(node))).to_vec()
    }

    #[test]
    fn nodes_close_together_and_far_apart() {
        assert_eq!(numbers(&[5, 3, 4]), [None, Some(5), Some(3), Some(7), None, None]);
        assert_eq!(numbers(&[5000, 3, 4]), [None, Some(5), Some(3), None, None, Some(7)]);
        assert_eq!(numbers(&[]), [None; 6]);
    }
}
