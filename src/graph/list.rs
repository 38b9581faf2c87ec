//! The node list of one graph: the order in which nodes are visited (`readwrite.md` 1.2, "node list").
//!
//! A sort rewrites it whole, an insertion puts one node directly behind another. So the list is a flat base
//! plus a persistent map of what was inserted since, keyed by place. An insertion costs O(log n).

use std::sync::{Arc, OnceLock};

use super::NodeId;
use super::per_node::PerNode;
use super::snapshot::same_map;

/// Where a node stands: behind base entry `slot - 1` (0 = before all), then by label.
/// Base entries have label `i64::MIN`.
type PlaceKey = (u32, i64);

const STEP: i64 = 1 << 20;

/// An ordered list of nodes. Removed nodes are skipped by the caller, who knows which nodes are alive.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeList {
    base: Arc<[NodeId]>,
    /// Base slot of each base node (slot = index + 1), made by the first insertion behind a base node.
    slots: Arc<OnceLock<PerNode<u32>>>,
    inserted: im::OrdMap<PlaceKey, NodeId>,
    places: im::OrdMap<NodeId, PlaceKey>,
    /// How many entries are nodes that are alive.
    live: usize,
}

impl NodeList {
    /// A list of nodes that are all alive.
    pub fn new(nodes: impl Into<Arc<[NodeId]>>) -> NodeList {
        let base = nodes.into();
        NodeList { live: base.len(), base, ..NodeList::default() }
    }

    /// The entries, if nothing was added since and all are alive.
    pub fn whole(&self) -> Option<&Arc<[NodeId]>> {
        (self.inserted.is_empty() && self.live == self.base.len()).then_some(&self.base)
    }

    /// How many entries are alive: additions less removals.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Whether both have the same entries in the same places; what they share is skipped.
    pub fn holds_the_same(&self, other: &NodeList) -> bool {
        self.live == other.live
            && (Arc::ptr_eq(&self.base, &other.base) || self.base == other.base)
            && same_map(&self.inserted, &other.inserted)
    }

    /// Notes that one entry is no longer alive. The entry stays where it is.
    pub fn removed_one(&mut self) {
        self.live = self.live.saturating_sub(1);
    }

    fn base_slot(&self, node: NodeId) -> Option<u32> {
        // No slot is 0: that is before the first node.
        self.slots.get_or_init(|| PerNode::new(0, &self.base, 1..)).get(node)
    }

    /// All entries in order, removed ones included.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        let mut inserted = self.inserted.iter().map(|((slot, _), node)| (*slot, *node));
        let mut waiting = inserted.next();
        let mut base = self.base.iter();
        let mut passed = 0u32;
        std::iter::from_fn(move || {
            if let Some((slot, node)) = waiting
                && (slot <= passed || base.as_slice().is_empty())
            {
                waiting = inserted.next();
                return Some(node);
            }
            passed += 1;
            base.next().copied()
        })
    }

    pub fn push(&mut self, node: NodeId) {
        let slot = self.base.len() as u32;
        let label = match self.inserted.get_max() {
            Some(((last, label), _)) if *last == slot => label + STEP,
            _ => 0,
        };
        self.put((slot, label), node);
    }

    pub fn insert_after(&mut self, node: NodeId, after: NodeId) {
        let (slot, label) = match self.places.get(&after) {
            Some(place) => *place,
            None => match self.base_slot(after) {
                Some(slot) => (slot, i64::MIN),
                None => return self.push(node),
            },
        };
        let next = self.inserted.range((slot, label.saturating_add(1))..(slot + 1, i64::MIN)).next();
        let next_label = next.map(|((_, l), _)| *l);
        let new = match (label, next_label) {
            (i64::MIN, None) => Some(0),
            (i64::MIN, Some(next)) => next.checked_sub(STEP),
            (label, None) => label.checked_add(STEP),
            (label, Some(next)) => Some(label + (next - label) / 2).filter(|&mid| mid > label),
        };
        match new {
            Some(new) => self.put((slot, new), node),
            None => {
                *self = NodeList { live: self.live, ..NodeList::new(self.iter().collect::<Vec<_>>()) };
                self.insert_after(node, after);
            }
        }
    }

    fn put(&mut self, place: PlaceKey, node: NodeId) {
        self.live += 1;
        self.inserted.insert(place, node);
        self.places.insert(node, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaves_like_a_vector() {
        let mut list = NodeList::new((0..5).map(NodeId).collect::<Vec<_>>());
        let mut model: Vec<u32> = (0..5).collect();
        let mut seed = 7u32;
        for new in 5..3000u32 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = if new % 3 == 0 { 2 } else { (seed >> 8) as usize % model.len() };
            if new % 7 == 0 {
                list.push(NodeId(new));
                model.push(new);
            } else {
                list.insert_after(NodeId(new), NodeId(model[at]));
                model.insert(at + 1, new);
            }
        }
        assert_eq!(list.iter().map(|n| n.0).collect::<Vec<_>>(), model);
    }

    #[test]
    fn always_behind_the_same_node() {
        let mut list = NodeList::new(vec![NodeId(0), NodeId(1)]);
        for new in 2..2000 {
            list.insert_after(NodeId(new), NodeId(0));
            list.insert_after(NodeId(new + 10_000), NodeId(new));
        }
        let order: Vec<u32> = list.iter().map(|n| n.0).collect();
        assert_eq!(order[..3], [0, 1999, 11_999]);
        assert_eq!(*order.last().unwrap(), 1);
    }
}
