//! A topological order that follows edits.
//!
//! Promise: along every edge of a graph without circles ranks ascend, so whatever has a higher rank is not reached. A new
//! edge against the order moves the nodes between its ends and nothing else (Pearce and Kelly, 2006). Graphs with circles
//! have no ranks.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{Dense, GraphId, NodeId};
use crate::lang::eval::Machine;

pub(super) struct Ranks {
    rank: FxHashMap<NodeId, u32>,
    next: u32,
    cyclic: FxHashSet<GraphId>,
}

impl Ranks {
    /// The order of all nodes of a snapshot: that of the lists, if it is topological.
    pub fn new(dense: &Dense) -> Ranks {
        let order = dense.order();
        let place: FxHashMap<NodeId, u32> = order.iter().copied().zip(0..).collect();
        let ascends = |&node: &NodeId| dense.predecessors(node).all(|other| place[&other] < place[&node]);
        if order.iter().all(ascends) {
            return Ranks { rank: place, next: order.len() as u32, cyclic: FxHashSet::default() };
        }
        let mut waits: FxHashMap<NodeId, usize> =
            order.iter().map(|&node| (node, dense.predecessors(node).count())).collect();
        let mut ready: Vec<NodeId> = order.iter().copied().filter(|node| waits[node] == 0).collect();
        let mut at = 0;
        while let Some(&node) = ready.get(at) {
            at += 1;
            for next in dense.successors(node) {
                if let Some(left) = waits.get_mut(&next) {
                    *left -= 1;
                    if *left == 0 {
                        ready.push(next);
                    }
                }
            }
        }
        let rank: FxHashMap<NodeId, u32> = ready.iter().copied().zip(0..).collect();
        let left = order.iter().filter(|node| !rank.contains_key(node));
        let cyclic = left.filter_map(|&node| dense.graph_of(node)).collect();
        Ranks { rank, next: order.len() as u32, cyclic }
    }

    /// A node without edges.
    pub fn add_node(&mut self, node: NodeId) {
        self.rank.insert(node, self.next);
        self.next += 1;
    }

    /// An edge that `machine` has already.
    pub fn add_edge(&mut self, machine: &Machine<'_>, from: NodeId, to: NodeId) {
        let (Some(&upper), Some(&lower)) = (self.rank.get(&from), self.rank.get(&to)) else { return };
        if upper < lower {
            return;
        }
        let forth = self.region(to, |node, out| machine.push_successors(node, out), |rank| rank <= upper);
        let back = self.region(from, |node, out| machine.push_predecessors(node, out), |rank| rank >= lower);
        if forth.contains(&from) || from == to {
            self.cyclic.extend(machine.state().get_node(from).map(|node| node.graph));
            return;
        }
        let known = |node: &NodeId| self.rank.get(node).copied();
        let sorted = |nodes: Vec<NodeId>| {
            let mut ranked: Vec<(u32, NodeId)> =
                nodes.into_iter().filter_map(|node| Some((known(&node)?, node))).collect();
            ranked.sort_unstable();
            ranked
        };
        let moved: Vec<(u32, NodeId)> = sorted(back).into_iter().chain(sorted(forth)).collect();
        let mut ranks: Vec<u32> = moved.iter().map(|(rank, _)| *rank).collect();
        ranks.sort_unstable();
        for ((_, node), rank) in moved.into_iter().zip(ranks) {
            self.rank.insert(node, rank);
        }
    }

    /// The nodes that a walk from `start` comes to without leaving the ranks that are within bounds.
    fn region(
        &self,
        start: NodeId,
        neighbours: impl Fn(NodeId, &mut Vec<NodeId>),
        within: impl Fn(u32) -> bool,
    ) -> Vec<NodeId> {
        let mut seen = FxHashSet::from_iter([start]);
        let mut all = vec![start];
        let mut at = 0;
        let mut beside = Vec::new();
        while let Some(&node) = all.get(at) {
            at += 1;
            neighbours(node, &mut beside);
            for other in beside.drain(..) {
                if self.rank.get(&other).is_some_and(|&rank| within(rank)) && seen.insert(other) {
                    all.push(other);
                }
            }
        }
        all
    }

    /// Whether a path leads from `from` to `to` inside `graph`; `None`: that takes a look at more than `most` nodes, or
    /// the graph has no ranks.
    pub fn reaches(
        &self,
        machine: &Machine<'_>,
        graph: GraphId,
        (from, to): (NodeId, NodeId),
        most: usize,
    ) -> Option<bool> {
        if self.cyclic.contains(&graph) {
            return None;
        }
        if from == to {
            return Some(true);
        }
        let end = *self.rank.get(&to)?;
        self.rank.get(&from)?;
        let mut seen = FxHashSet::from_iter([from]);
        let mut open = vec![from];
        let mut beside = Vec::new();
        while let Some(node) = open.pop() {
            machine.push_successors(node, &mut beside);
            for next in beside.drain(..) {
                if next == to {
                    return Some(true);
                }
                if self.rank.get(&next).is_some_and(|&rank| rank < end) && seen.insert(next) {
                    open.push(next);
                }
            }
            if seen.len() > most {
                return None;
            }
        }
        Some(false)
    }
}
