//! The node list of one graph: the order in which nodes are visited (`readwrite.md` 1.2, "node list").
//!
//! A sort rewrites it whole, an insertion puts one node directly behind another. So the list is a flat base
//! plus a persistent map of what was inserted since, keyed by place. An insertion costs O(log n).

use std::sync::Arc;

use super::NodeId;

/// Where a node stands: behind base entry `slot - 1` (0 = before all), then by label.
/// Base entries have label `i64::MIN`.
type PlaceKey = (u32, i64);

const STEP: i64 = 1 << 20;

/// An ordered list of nodes. Removed nodes are skipped by the caller, who knows which nodes are alive.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeList {
    base: Arc<[NodeId]>,
    /// Base slot of each base node, shared with the base (slot = index + 1).
    slots: Arc<rustc_hash::FxHashMap<NodeId, u32>>,
    inserted: im::OrdMap<PlaceKey, NodeId>,
    places: im::OrdMap<NodeId, PlaceKey>,
    /// Entries that no removed node owns.
    live: usize,
}

impl NodeList {
    pub fn new(nodes: Vec<NodeId>) -> NodeList {
        let slots = nodes.iter().zip(1u32..).map(|(&n, slot)| (n, slot)).collect();
        NodeList { live: nodes.len(), base: nodes.into(), slots: Arc::new(slots), ..NodeList::default() }
    }

    /// Number of nodes, removed ones not counted.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Counts one entry as removed.
    pub fn forget(&mut self) {
        self.live = self.live.saturating_sub(1);
    }

    /// All entries in order, removed ones included.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        let mut inserted = self.inserted.iter().peekable();
        let mut base = self.base.iter().zip(1u32..).peekable();
        std::iter::from_fn(move || {
            let next_slot = base.peek().map_or(u32::MAX, |(_, slot)| *slot);
            if let Some((_, node)) = inserted.next_if(|((slot, _), _)| *slot < next_slot) {
                return Some(*node);
            }
            base.next().map(|(node, _)| *node)
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
            None => match self.slots.get(&after) {
                Some(slot) => (*slot, i64::MIN),
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
                let live = self.live;
                *self = NodeList { live, ..NodeList::new(self.iter().collect()) };
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
        let mut list = NodeList::new((0..5).map(NodeId).collect());
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
