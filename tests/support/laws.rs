//! What must hold between a graph and what a run made of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use anchorwatch::graph::{NodeId, Snapshot};

/// Nodes that lie on, or behind, a cycle of data and control edges inside one graph.
pub fn left_after_sorting(snapshot: &Snapshot) -> Vec<String> {
    let mut waits: BTreeMap<NodeId, usize> = BTreeMap::new();
    let before = |node: NodeId| {
        let inputs = (0..snapshot.node(node).inputs.len() as u32).map(move |i| node.input(i));
        inputs
            .filter_map(|i| snapshot.producer(i))
            .map(|o| o.node)
            .chain(snapshot.control_in(node))
            .collect::<Vec<_>>()
    };
    let mut after: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for (node, _) in snapshot.nodes_by_id() {
        let before = before(node);
        waits.insert(node, before.len());
        before.into_iter().for_each(|from| after.entry(from).or_default().push(node));
    }
    let mut ready: VecDeque<NodeId> =
        waits.iter().filter(|(_, count)| **count == 0).map(|(node, _)| *node).collect();
    while let Some(node) = ready.pop_front() {
        waits.remove(&node);
        for &next in after.get(&node).into_iter().flatten() {
            let count = waits.get_mut(&next).expect("a node that waits");
            *count -= 1;
            if *count == 0 {
                ready.push_back(next);
            }
        }
    }
    waits.keys().map(|&node| snapshot.node(node).name.to_string()).collect()
}

/// The nodes that run after a node for certain, itself among them.
pub fn behind(snapshot: &Snapshot, from: NodeId) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        let outputs = (0..snapshot.node(node).outputs.len() as u32).map(|i| node.output(i));
        let next =
            outputs.flat_map(|o| snapshot.consumers(o)).map(|i| i.node).chain(snapshot.control_out(node));
        open.extend(next.filter(|next| seen.insert(*next)));
    }
    seen
}
