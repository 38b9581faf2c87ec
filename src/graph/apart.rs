//! How far two snapshots are apart, node by node.
//!
//! Promise: a node is the same in both if nothing can tell the two apart that looks at the node, its ports and its edges, at the
//! graph that it lies in and at what is around that; but for its edges it is the same if nothing can that looks at the others of
//! these. What is no node's own has questions of its own: orders of topological ids, and lists of nodes. The snapshots need not
//! have come from one another.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::{GraphId, NodeId, Snapshot, State};

/// More than one node in so many is another one: too far apart.
const FAR: usize = 2;

/// Where two snapshots are not the same.
pub struct Apart {
    snapshots: [Snapshot; 2],
    /// Nodes that are not the same, or in one of the two alone.
    nodes: FixedBitSet,
    /// Those of them that are not the same but for their edges either.
    own: FixedBitSet,
    /// Topological ids by node number, when they have been asked for.
    ids: OnceLock<[Vec<i64>; 2]>,
    /// Whether a list is the same, as far as that was asked.
    lists: Mutex<FxHashMap<(GraphId, bool), bool>>,
}

impl Apart {
    /// Compares two snapshots: O(nodes + edges). `None`: they have other graphs, or something else is said of one of these.
    pub fn between(one: &Snapshot, other: &Snapshot) -> Option<Apart> {
        let (a, b): (&State, &State) = (one, other);
        let same_graphs = a.graphs.all_same(&b.graphs, |one, other| one == other)
            && a.registry == b.registry
            && (Arc::ptr_eq(&a.model, &b.model) || a.model == b.model);
        if !same_graphs {
            return None;
        }
        let snapshots = [one.clone(), other.clone()];
        if one == other {
            let [nodes, own] = [FixedBitSet::new(), FixedBitSet::new()];
            return Some(Apart { snapshots, nodes, own, ids: OnceLock::new(), lists: Mutex::default() });
        }
        let (dense, their) = (one.dense(), other.dense());
        let mut own = dense.unlike_nodes(their, |one, other| one == other);
        let instances = |node: usize| {
            let node = NodeId(node as u32);
            dense.instances(node).iter().chain(their.instances(node)).copied()
        };
        let mut inside: Vec<GraphId> = own.ones().flat_map(instances).collect();
        // What lies inside of a node is told apart by that.
        while let Some(graph) = inside.pop() {
            for (state, dense) in [(a, dense), (b, their)] {
                for node in state.list(graph) {
                    own.insert(node.0 as usize);
                    inside.extend(dense.instances(node));
                }
            }
        }
        let mut nodes = dense.unlike_edges(their);
        nodes.union_with(&own);
        Some(Apart { snapshots, nodes, own, ids: OnceLock::new(), lists: Mutex::default() })
    }

    /// The same. Also `None` where so much is another thing that what is known of the one is no help with the other.
    pub fn near(one: &Snapshot, other: &Snapshot) -> Option<Apart> {
        Apart::between(one, other).filter(|apart| apart.count() <= other.node_count() / FAR)
    }

    /// How many nodes are not the same.
    pub fn count(&self) -> usize {
        self.nodes.count_ones(..)
    }

    /// Whether a node is the same in both, or in neither.
    #[inline]
    pub fn is_same(&self, node: NodeId) -> bool {
        !self.nodes.contains(node.0 as usize)
    }

    /// Whether it is but for its edges.
    #[inline]
    pub fn is_same_in_itself(&self, node: NodeId) -> bool {
        !self.own.contains(node.0 as usize)
    }

    /// The numbers of the nodes that are not.
    pub fn others(&self) -> impl Iterator<Item = usize> + '_ {
        self.own.ones()
    }

    fn ids_of(&self, node: NodeId) -> [Option<i64>; 2] {
        let ids = self.ids.get_or_init(|| [0, 1].map(|of| (*self.snapshots[of]).topo_ids()));
        [0, 1].map(|of| ids[of].get(node.0 as usize).copied())
    }

    fn is_one(&self) -> bool {
        self.snapshots[0] == self.snapshots[1]
    }

    /// Whether a node has the same topological id in both.
    pub fn has_same_id(&self, node: NodeId) -> bool {
        if self.is_one() {
            return true;
        }
        let [one, other] = self.ids_of(node);
        one == other
    }

    /// Whether two nodes stand to each other in both as their topological ids say in the one.
    pub fn are_in_same_order(&self, node: NodeId, to: NodeId) -> bool {
        if self.is_one() {
            return true;
        }
        let order = |of: usize| -> Ordering { self.ids_of(node)[of].cmp(&self.ids_of(to)[of]) };
        order(0) == order(1)
    }

    /// Whether a graph has the same nodes in the same order in both; `all`: with those of subgraphs.
    pub fn is_same_list(&self, graph: GraphId, all: bool) -> bool {
        if self.is_one() {
            return true;
        }
        let [one, other] = &self.snapshots;
        let same = || match all {
            true => one.all_nodes(graph) == other.all_nodes(graph),
            false => one.list(graph).eq(other.list(graph)),
        };
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        *lists.entry((graph, all)).or_insert_with(same)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Node;
    use super::super::testing::{Change, Sketch, change};
    use super::*;

    /// Enough nodes for several leaves of the tables.
    const NODES: u32 = 100;

    fn chain() -> Snapshot {
        let names: Vec<String> = (0..NODES).map(|n| format!("o{n}")).collect();
        let edges: Vec<String> = (1..NODES).map(|n| format!("o{}>o{n} o{}>o{n}", n - 1, n / 2)).collect();
        Sketch::flat(&names.join(" "), &edges.join(" "))
    }

    fn changed(before: &Snapshot, changes: &[Change]) -> Snapshot {
        let mut edit = before.edit();
        changes.iter().for_each(|&of| change(&mut edit, of));
        edit.finish(before)
    }

    /// All that stands at a node, from the maps: itself, and its edges in order.
    fn around(state: &State, node: NodeId) -> (Option<Node>, String) {
        let Some(own) = state.get_node(node) else { return Default::default() };
        let outputs = (0..own.outputs.len() as u32).map(|at| node.output(at));
        let readers: Vec<Vec<_>> = outputs.map(|output| state.consumers(output).collect()).collect();
        let inputs = (0..own.inputs.len() as u32).map(|at| node.input(at));
        let sources: Vec<_> = inputs.map(|input| state.producer(input)).collect();
        let controls: [Vec<NodeId>; 2] =
            [state.control_in(node).collect(), state.control_out(node).collect()];
        (Some((**own).clone()), format!("{readers:?} {sources:?} {controls:?}"))
    }

    proptest! {
        #[test]
        fn nodes_are_told_apart_by_all_that_stands_at_them(
            one in prop::collection::vec(any::<Change>(), 0..6),
            other in prop::collection::vec(any::<Change>(), 0..6),
        ) {
            let root = chain();
            let (one, other) = (changed(&root, &one), changed(&root, &other));
            let apart = Apart::between(&one, &other).expect("the same graphs");
            for node in (0..NODES + 8).map(NodeId) {
                let (a, b) = (around(&one, node), around(&other, node));
                prop_assert_eq!(apart.is_same(node), a == b, "{:?}", node);
                prop_assert_eq!(apart.is_same_in_itself(node), a.0 == b.0, "{:?}", node);
            }
        }
    }
}
