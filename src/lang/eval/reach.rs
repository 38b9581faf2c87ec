//! Reachability by search, for hosts that keep no index.

use rustc_hash::FxHashSet;

use crate::graph::{NodeId, State};

/// Whether a path of data and control edges inside one graph leads from `from` to `to`; every node reaches
/// itself. A search from `from`: O(nodes + edges of the graph).
pub fn reaches(state: &State, from: NodeId, to: NodeId) -> bool {
    let (Some(start), Some(end)) = (state.get_node(from), state.get_node(to)) else { return false };
    if from == to {
        return true;
    }
    if start.graph != end.graph {
        return false;
    }
    let mut seen = FxHashSet::from_iter([from]);
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        let outputs = state.get_node(node).map_or(0, |n| n.outputs.len() as u32);
        let data = (0..outputs).flat_map(|i| state.consumers(node.output(i))).map(|input| input.node);
        for next in data.chain(state.control_out(node)) {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}
