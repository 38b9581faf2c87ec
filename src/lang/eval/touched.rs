//! What edits of a run have touched, and when first.
//!
//! Promise: what is not told here as touched at a moment is then what it was when the run began. Who looks inside of a node may
//! have looked at what is around that, so that nodes inside of one that has changed count as changed. What is undone stays touched.

use rustc_hash::FxHashMap;

use crate::graph::{GraphId, NodeId};

/// So many edits into a run.
pub(super) type Moment = u32;

const NEVER: Moment = Moment::MAX;

/// By what, the edit that touched it first. Edits count from 1.
#[derive(Debug)]
pub(super) struct Touched {
    now: Moment,
    /// By number of the node; the last ones may be missing.
    nodes: Vec<Moment>,
    /// Those of which more than their edges was touched.
    own: Vec<Moment>,
    lists: FxHashMap<GraphId, Moment>,
    any_list: Moment,
    all_lists: Moment,
    ids: Moment,
    graphs: Moment,
}

impl Default for Touched {
    fn default() -> Touched {
        let [any_list, all_lists, ids, graphs] = [NEVER; 4];
        let (nodes, own, lists) = (Vec::new(), Vec::new(), FxHashMap::default());
        Touched { now: 0, nodes, own, lists, any_list, all_lists, ids, graphs }
    }
}

fn touch(nodes: &mut Vec<Moment>, node: NodeId, now: Moment) {
    let at = node.0 as usize;
    if nodes.len() <= at {
        nodes.resize(at + 1, NEVER);
    }
    nodes[at] = nodes[at].min(now);
}

#[inline]
fn first(nodes: &[Moment], node: NodeId) -> Moment {
    nodes.get(node.0 as usize).copied().unwrap_or(NEVER)
}

impl Touched {
    pub fn now(&self) -> Moment {
        self.now
    }

    /// About how much is kept, counted in nodes.
    pub fn size(&self) -> usize {
        self.nodes.len() + self.own.len() + 4 * self.lists.len()
    }

    /// An edit begins.
    pub fn step(&mut self) {
        // Steps run out long before.
        self.now = self.now.saturating_add(1).min(NEVER - 1);
    }

    /// Edges of a node have changed.
    pub fn edges(&mut self, node: NodeId) {
        touch(&mut self.nodes, node, self.now);
    }

    /// Anything of a node may have changed.
    pub fn node(&mut self, node: NodeId) {
        touch(&mut self.nodes, node, self.now);
        touch(&mut self.own, node, self.now);
    }

    /// A graph has got or lost a node.
    pub fn list(&mut self, graph: GraphId) {
        self.any_list = self.any_list.min(self.now);
        self.lists.entry(graph).or_insert(self.now);
    }

    /// All nodes may have taken another order.
    pub fn order(&mut self) {
        self.any_list = self.any_list.min(self.now);
        self.all_lists = self.all_lists.min(self.now);
        self.ids();
    }

    /// A topological id was set.
    pub fn ids(&mut self) {
        self.ids = self.ids.min(self.now);
    }

    /// Something is no longer said of a graph, or anything may have changed.
    pub fn graphs(&mut self) {
        self.graphs = self.graphs.min(self.now);
    }

    // Whether something has been touched by a moment.

    #[inline]
    pub fn has_node(&self, node: NodeId, by: Moment) -> bool {
        first(&self.nodes, node) <= by
    }

    #[inline]
    pub fn has_own(&self, node: NodeId, by: Moment) -> bool {
        first(&self.own, node) <= by
    }

    pub fn has_list(&self, graph: GraphId, by: Moment) -> bool {
        self.all_lists.min(self.lists.get(&graph).copied().unwrap_or(NEVER)) <= by
    }

    pub fn has_any_list(&self, by: Moment) -> bool {
        self.any_list <= by
    }

    pub fn has_ids(&self, by: Moment) -> bool {
        self.ids <= by
    }

    pub fn has_graphs(&self, by: Moment) -> bool {
        self.graphs <= by
    }
}
