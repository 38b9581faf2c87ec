//! What text order alone cannot say: consumer order, control order, the registry.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Ranks;
use crate::graph::{GraphId, Input, NodeId, State};

pub(super) struct Order {
    pub data_ranks: Ranks<Input>,
    pub control_ranks: Ranks<(NodeId, NodeId)>,
    /// Graphs that no node owns, in registry order.
    pub orphans: Vec<GraphId>,
    /// The registry as positions in text order, unless it is the text order.
    pub registry: Option<Vec<i64>>,
}

impl Order {
    pub fn new(state: &State) -> Order {
        let mut graphs = Vec::new();
        collect_graphs(state, GraphId::ROOT, &mut graphs);
        let owned: FxHashSet<GraphId> = graphs.iter().copied().collect();
        let is_orphan = |g: &GraphId| *g != GraphId::ROOT && !owned.contains(g);
        let orphans: Vec<GraphId> =
            state.registry().filter(|g| is_orphan(g) && state.graph(*g).parent.is_none()).collect();
        for &orphan in &orphans {
            collect_graphs(state, orphan, &mut graphs);
        }
        let positions: FxHashMap<GraphId, i64> = graphs.iter().copied().zip(-1..).collect();
        let registry: Vec<i64> = state.registry().filter_map(|g| positions.get(&g).copied()).collect();
        let registry = Some(registry).filter(|r| r.iter().zip(0..).any(|(a, b)| *a != b));
        let mut order =
            Order { data_ranks: Ranks::default(), control_ranks: Ranks::default(), orphans, registry };
        for graph in graphs {
            let nodes: Vec<NodeId> = state.list(graph).collect();
            let positions: FxHashMap<NodeId, usize> = nodes.iter().copied().zip(0..).collect();
            order.rank_data(state, &nodes, &positions);
            order.rank_controls(state, &nodes, &positions);
        }
        order
    }

    fn rank_data(&mut self, state: &State, nodes: &[NodeId], positions: &FxHashMap<NodeId, usize>) {
        for &node in nodes {
            for index in 0..state.node(node).outputs.len() as u32 {
                let consumers: Vec<Input> = state.consumers(node.output(index)).collect();
                if !consumers.is_sorted_by_key(|c| (positions.get(&c.node), c.index)) {
                    self.data_ranks.extend(consumers.into_iter().zip(0..));
                }
            }
        }
    }

    fn rank_controls(&mut self, state: &State, nodes: &[NodeId], positions: &FxHashMap<NodeId, usize>) {
        let place = |n: &NodeId| positions.get(n).copied();
        let is_natural = nodes.iter().all(|n| {
            let targets: Vec<NodeId> = state.control_out(*n).collect();
            targets.is_sorted_by_key(place)
        });
        if !is_natural {
            let edges = linear_order(state, nodes);
            self.control_ranks.extend(edges.into_iter().zip(0..));
        }
    }
}

/// All graphs below and including `root`, as the text lists them: each before those inside it, those before its
/// next sibling.
fn collect_graphs(state: &State, root: GraphId, graphs: &mut Vec<GraphId>) {
    let mut waiting = vec![root];
    while let Some(graph) = waiting.pop() {
        graphs.push(graph);
        let start = waiting.len();
        waiting.extend(state.list(graph).flat_map(|node| state.node(node).subgraphs.iter().copied()));
        waiting[start..].reverse();
    }
}

/// The control edges of one graph in an order that agrees with the order at each source and at each target.
/// There is one, since the edges were added one after another.
fn linear_order(state: &State, nodes: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let edges: Vec<(NodeId, NodeId)> =
        nodes.iter().flat_map(|&to| state.control_in(to).map(move |from| (from, to))).collect();
    let index: FxHashMap<(NodeId, NodeId), usize> = edges.iter().copied().zip(0..).collect();
    let mut later: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    let mut waits: Vec<usize> = vec![0; edges.len()];
    let mut follow = |row: Vec<usize>| {
        for pair in row.windows(2) {
            later[pair[0]].push(pair[1]);
            waits[pair[1]] += 1;
        }
    };
    for &node in nodes {
        follow(state.control_in(node).filter_map(|from| index.get(&(from, node)).copied()).collect());
        follow(state.control_out(node).filter_map(|to| index.get(&(node, to)).copied()).collect());
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..edges.len()).filter(|e| waits[*e] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(edges.len());
    while let Some(Reverse(edge)) = ready.pop() {
        order.push(edges[edge]);
        for &next in &later[edge] {
            waits[next] -= 1;
            if waits[next] == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    order
}
