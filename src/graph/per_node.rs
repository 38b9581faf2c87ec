//! A value for each of some nodes.
//!
//! Promise: a table like any other. The numbers of a graph's nodes lie close together as a rule, and those of nodes that
//! edits add follow on them; then the values stand in a row by node number, so that a look is one look at memory.

use rustc_hash::FxHashMap;

use super::NodeId;

/// How far apart nodes may lie on average to have a row.
const SPREAD: usize = 4;

/// Values by node.
#[derive(Clone, Debug)]
pub(super) struct PerNode<T> {
    /// Stands in `row` for a node without a value.
    none: T,
    /// The first node of `row`.
    first: u32,
    row: Vec<T>,
    /// Values of nodes beyond `row`.
    rest: FxHashMap<NodeId, T>,
}

impl<T: Copy + PartialEq> PerNode<T> {
    /// Gives nodes their values. No node stands in the list twice, and no value is `none`.
    pub fn new(none: T, nodes: &[NodeId], values: impl Iterator<Item = T>) -> PerNode<T> {
        let (first, last) = nodes.iter().fold((u32::MAX, 0), |(low, high), n| (low.min(n.0), high.max(n.0)));
        let mut table = PerNode { none, first, row: Vec::new(), rest: FxHashMap::default() };
        let width = last.saturating_sub(first) as usize;
        if width < nodes.len().saturating_mul(SPREAD) {
            table.row = vec![none; width + 1];
        }
        nodes.iter().zip(values).for_each(|(node, value)| table.set(*node, value));
        table
    }

    #[inline]
    pub fn get(&self, node: NodeId) -> Option<T> {
        match self.row.get(self.place(node)) {
            Some(value) => Some(*value).filter(|value| *value != self.none),
            None => self.rest.get(&node).copied(),
        }
    }

    /// The value where it stands; that of no node, if the node has none.
    #[inline]
    pub fn at(&self, node: NodeId) -> &T {
        self.row.get(self.place(node)).or_else(|| self.rest.get(&node)).unwrap_or(&self.none)
    }

    /// Gives a node another value.
    #[inline]
    pub fn set(&mut self, node: NodeId, value: T) {
        let place = self.place(node);
        if place >= self.row.len() && place < self.row.len().saturating_mul(2) {
            self.lengthen();
        }
        match self.row.get_mut(place) {
            Some(own) => *own = value,
            None => _ = self.rest.insert(node, value),
        }
    }

    /// The place in the row, if it is that long.
    #[inline]
    fn place(&self, node: NodeId) -> usize {
        // What lies before the first wraps around, and so comes to lie far behind the last.
        node.0.wrapping_sub(self.first) as usize
    }

    /// Doubles the row.
    #[cold]
    fn lengthen(&mut self) {
        self.row.resize(self.row.len() * 2, self.none);
        for (node, value) in std::mem::take(&mut self.rest) {
            self.set(node, value);
        }
    }

    /// A table of other values for the same nodes.
    pub fn map<U: Copy + PartialEq>(&self, none: U, value: impl Fn(T) -> U) -> PerNode<U> {
        let in_row = |own: &T| if *own == self.none { none } else { value(*own) };
        PerNode {
            none,
            first: self.first,
            row: self.row.iter().map(in_row).collect(),
            rest: self.rest.iter().map(|(node, own)| (*node, value(*own))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(nodes: &[u32]) -> Vec<Option<u32>> {
        let nodes: Vec<NodeId> = nodes.iter().copied().map(NodeId).collect();
        let table = PerNode::new(u32::MAX, &nodes, [7, 5, 3].into_iter());
        [0, 3, 4, 5, 1000, 5000].map(|node| table.get(NodeId(node))).to_vec()
    }

    #[test]
    fn nodes_close_together_and_far_apart() {
        assert_eq!(values(&[5, 3, 4]), [None, Some(5), Some(3), Some(7), None, None]);
        assert_eq!(values(&[5000, 3, 4]), [None, Some(5), Some(3), None, None, Some(7)]);
        assert_eq!(values(&[]), [None; 6]);
    }

    proptest! {
        #[test]
        fn agrees_with_a_map(
            mut nodes in prop::collection::vec(0..200u32, 0..20),
            base in prop::sample::select(vec![0, 5, u32::MAX - 200]),
            sets in prop::collection::vec((0..200u32, 0..9u32), 0..60),
        ) {
            nodes.sort_unstable();
            nodes.dedup();
            let nodes: Vec<NodeId> = nodes.into_iter().map(|node| NodeId(base + node)).collect();
            let mut table = PerNode::new(u32::MAX, &nodes, 0..);
            let mut map: FxHashMap<NodeId, u32> = nodes.iter().copied().zip(0..).collect();
            for (node, value) in sets {
                table.set(NodeId(base + node), value);
                map.insert(NodeId(base + node), value);
            }
            let twice = table.map(0, |value| value * 2 + 1);
            for node in (base..base + 200).map(NodeId) {
                prop_assert_eq!(table.get(node), map.get(&node).copied());
                prop_assert_eq!(twice.get(node), map.get(&node).map(|value| value * 2 + 1));
            }
        }
    }
}
