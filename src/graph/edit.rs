//! Building and editing graphs. The steps here are mechanism: what moves with a node (control edges,
//! attributes) is decided by rules, which call several steps.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::list::NodeList;
use super::snapshot::{Snapshot, State};
use super::sorted::Sorted;
use super::{GraphId, GraphInfo, Input, ModelInfo, Node, NodeId, Output};

/// Where a new node enters the node list of its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    End,
    /// Directly behind this node.
    After(NodeId),
}

/// A private copy of a state. Reads go through [`State`]; `finish` makes the new snapshot.
#[derive(Clone)]
pub struct Edit {
    state: State,
    changed: bool,
}

impl std::ops::Deref for Edit {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl Edit {
    pub(super) fn new(state: State) -> Edit {
        Edit { state, changed: false }
    }

    /// Whether any step changed anything.
    pub fn is_changed(&self) -> bool {
        self.changed
    }

    /// Notes that a graph is no longer as the last sort has left it.
    fn touch(&mut self, node: NodeId) {
        if self.state.sorted.is_known()
            && let Some(node) = self.state.nodes.get(node.0)
        {
            self.state.sorted.touch(node.graph);
        }
    }

    /// The new snapshot, or `before` itself when nothing changed.
    pub fn finish(self, before: &Snapshot) -> Snapshot {
        if self.changed { Snapshot::new(self.state) } else { before.clone() }
    }

    /// Like [`Edit::finish`] for an edit that changed neither nodes, ports nor edges, only orders: the new
    /// snapshot takes over the rows of the flat view of `before`. `order`: all nodes in all-nodes order, where that is known.
    pub(super) fn finish_reordered(self, before: &Snapshot, order: Option<Arc<[NodeId]>>) -> Snapshot {
        if !self.changed {
            return before.clone();
        }
        let dense = before.dense().reordered(&self.state, order);
        Snapshot::with_dense(self.state, dense)
    }

    /// Adds `node` to the graph it names. Its topological id is that of the node it stands behind, or the
    /// number of nodes already in the graph (`readwrite.md` 1.2).
    pub fn add_node(&mut self, node: Node, place: Place) -> NodeId {
        self.changed = true;
        let id = NodeId(self.state.next_node);
        self.state.next_node += 1;
        let graph = node.graph;
        self.state.sorted.touch(graph);
        let topo = match place {
            Place::After(other) => self.state.topo_id(other),
            Place::End => self.state.list_len(graph) as i64,
        };
        self.state.topo_new.insert(id, topo);
        self.state.nodes.push(node);
        self.state.lists.update(graph.0, |list| match place {
            Place::End => list.push(id),
            Place::After(other) => list.insert_after(id, other),
        });
        id
    }

    /// Removes a node with all its edges, its subgraphs, and theirs.
    pub fn remove_node(&mut self, id: NodeId) {
        // Files choose how deep subgraphs nest, so the nodes to remove are kept in a list and not on the stack.
        let mut doomed = vec![id];
        while let Some(id) = doomed.pop() {
            let Some(node) = self.state.nodes.get(id.0).cloned() else { continue };
            self.changed = true;
            for &graph in node.subgraphs.iter() {
                doomed.extend(self.state.list(graph));
                self.state.graphs.remove(graph.0);
                self.state.lists.remove(graph.0);
            }
            self.remove_alone(id, &node);
        }
    }

    /// Removes a node with all its edges.
    fn remove_alone(&mut self, id: NodeId, node: &Node) {
        for index in 0..node.inputs.len() as u32 {
            self.disconnect(id.input(index));
        }
        for index in 0..node.outputs.len() as u32 {
            for input in self.state.consumers(id.output(index)).collect::<Vec<_>>() {
                self.disconnect(input);
            }
        }
        for from in self.state.control_in(id).collect::<Vec<_>>() {
            self.remove_control(from, id);
        }
        for to in self.state.control_out(id).collect::<Vec<_>>() {
            self.remove_control(id, to);
        }
        self.state.sorted.touch(node.graph);
        self.state.nodes.remove(id.0);
        self.state.lists.update(node.graph.0, NodeList::removed_one);
    }

    /// Makes `from` the producer of `to`; the edge becomes the producer's last. An edge that `to` had is cut.
    pub fn connect(&mut self, from: Output, to: Input) {
        self.disconnect(to);
        self.changed = true;
        self.touch(to.node);
        let seq = self.state.next_seq;
        self.state.next_seq += 1;
        self.state.in_edges.insert(to, (from, seq));
        self.state.out_edges.insert((from, seq), to);
    }

    /// Cuts the data edge into `to`, if any.
    pub fn disconnect(&mut self, to: Input) {
        if let Some((from, seq)) = self.state.in_edges.remove(&to) {
            self.changed = true;
            self.touch(to.node);
            self.state.out_edges.remove(&(from, seq));
        }
    }

    /// Adds a control edge; `false` if it exists already (control edges form a set).
    pub fn add_control(&mut self, from: NodeId, to: NodeId) -> bool {
        if self.state.ctrl.contains_key(&(from, to)) {
            return false;
        }
        self.changed = true;
        self.touch(to);
        let seq = self.state.next_seq;
        self.state.next_seq += 1;
        self.state.ctrl.insert((from, to), seq);
        self.state.ctrl_out.insert((from, seq), to);
        self.state.ctrl_in.insert((to, seq), from);
        true
    }

    /// Removes a control edge; `false` if there is none.
    pub fn remove_control(&mut self, from: NodeId, to: NodeId) -> bool {
        let Some(seq) = self.state.ctrl.remove(&(from, to)) else { return false };
        self.changed = true;
        self.touch(to);
        self.state.ctrl_out.remove(&(from, seq));
        self.state.ctrl_in.remove(&(to, seq));
        true
    }

    /// Changes what a node says of itself. The graph it belongs to must stay the same.
    pub fn update_node(&mut self, id: NodeId, change: impl FnOnce(&mut Node)) {
        let sorted = &mut self.state.sorted;
        let changed = self.state.nodes.update(id.0, |node| {
            let before = sorted.is_known().then(|| (node.name.clone(), node.subgraphs.clone()));
            change(node);
            if let Some((name, subgraphs)) = before {
                if name != node.name {
                    sorted.touch(node.graph);
                }
                if subgraphs != node.subgraphs {
                    sorted.renumber();
                }
            }
        });
        self.changed |= changed.is_some();
    }

    pub fn update_graph(&mut self, id: GraphId, change: impl FnOnce(&mut GraphInfo)) {
        self.changed |= self.state.graphs.update(id.0, change).is_some();
    }

    pub fn update_model(&mut self, change: impl FnOnce(&mut ModelInfo)) {
        self.changed = true;
        change(Arc::make_mut(&mut self.state.model));
    }

    /// Rewrites the node list of `graph`. `order` holds exactly the nodes of the graph.
    pub fn set_list(&mut self, graph: GraphId, order: impl Into<Arc<[NodeId]>>) {
        self.changed = true;
        self.state.sorted.touch(graph);
        self.state.lists.update(graph.0, |list| *list = NodeList::new(order));
    }

    /// Takes over node lists, registry and topological ids of a sorted descendant of the same nodes.
    pub fn take_order(&mut self, sorted: &Snapshot) {
        self.changed = true;
        self.state.lists = sorted.lists.clone();
        self.state.registry = sorted.registry.clone();
        self.state.topo = sorted.topo.clone();
        self.state.topo_new = sorted.topo_new.clone();
        self.state.sorted = sorted.sorted();
    }

    pub fn set_registry(&mut self, order: Vec<GraphId>) {
        self.changed = true;
        self.state.sorted.renumber();
        self.state.registry = order.into();
    }

    /// Replaces all topological ids (`ids` is indexed by node number).
    pub fn set_topo_ids(&mut self, ids: Vec<i64>) {
        self.changed = true;
        self.state.sorted.renumber();
        self.state.topo = Arc::new(ids);
        self.state.topo_new = im::OrdMap::new();
    }

    pub fn set_topo_id(&mut self, node: NodeId, id: i64) {
        self.changed = true;
        self.state.sorted.renumber();
        self.state.topo_new.insert(node, id);
    }
}

/// Builds the first snapshot of a model, in bulk. Add graphs (the root first), nodes in list order, then edges.
#[derive(Default)]
pub struct Builder {
    model: ModelInfo,
    graphs: Vec<GraphInfo>,
    nodes: Vec<Node>,
    topo: Vec<i64>,
    edges: Vec<(Output, i64, Input)>,
    controls: Vec<(NodeId, i64, NodeId)>,
    parents: FxHashMap<GraphId, NodeId>,
}

impl Builder {
    pub fn new(model: ModelInfo) -> Builder {
        Builder { model, ..Builder::default() }
    }

    /// Adds a graph; the first one is the root. `info.parent` is set by [`Builder::own`].
    pub fn graph(&mut self, info: GraphInfo) -> GraphId {
        self.graphs.push(info);
        GraphId(self.graphs.len() as u32 - 1)
    }

    /// Appends a node to the list of the graph it names, with the topological id that the file gives.
    pub fn node(&mut self, node: Node, topo_id: i64) -> NodeId {
        self.nodes.push(node);
        self.topo.push(topo_id);
        NodeId(self.nodes.len() as u32 - 1)
    }

    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    /// A data edge. Consumers of one output are ordered by `rank`, then by the order of these calls.
    pub fn edge(&mut self, from: Output, rank: i64, to: Input) {
        self.edges.push((from, rank, to));
    }

    /// A control edge, ordered likewise. A second edge between the same nodes is dropped.
    pub fn control(&mut self, from: NodeId, rank: i64, to: NodeId) {
        self.controls.push((from, rank, to));
    }

    /// Appends `graph` to the subgraph instances of `node`. The caller has checked that it has no other owner.
    pub fn own(&mut self, node: NodeId, graph: GraphId) {
        let owner = &mut self.nodes[node.0 as usize];
        owner.subgraphs = owner.subgraphs.iter().copied().chain([graph]).collect();
        self.parents.insert(graph, node);
    }

    /// The snapshot. Of two edges into one input the last one stands.
    pub fn finish(mut self) -> Snapshot {
        let mut lists: Vec<Vec<NodeId>> = vec![Vec::new(); self.graphs.len()];
        for (id, node) in (0u32..).zip(&self.nodes) {
            lists[node.graph.0 as usize].push(NodeId(id));
        }
        for (graph, node) in self.parents {
            self.graphs[graph.0 as usize].parent = Some(node);
        }
        // A stable sort by rank keeps the order of the calls among equals.
        self.edges.sort_by_key(|(from, rank, _)| (*from, *rank));
        let mut next_seq = 0u64;
        let mut in_edges = Vec::with_capacity(self.edges.len());
        for &(from, _, to) in &self.edges {
            in_edges.push((to, (from, next_seq)));
            next_seq += 1;
        }
        in_edges.sort_by_key(|(to, _)| *to);
        in_edges.reverse();
        in_edges.dedup_by_key(|(to, _)| *to);
        in_edges.reverse();
        let mut out_edges: Vec<_> = in_edges.iter().map(|&(to, (from, seq))| ((from, seq), to)).collect();
        out_edges.sort_unstable_by_key(|(key, _)| *key);
        self.controls.sort_by_key(|(from, rank, _)| (*from, *rank));
        let mut ctrl = im::OrdMap::new();
        let mut ctrl_out = im::OrdMap::new();
        let mut ctrl_in = im::OrdMap::new();
        for &(from, _, to) in &self.controls {
            if ctrl.contains_key(&(from, to)) {
                continue;
            }
            ctrl.insert((from, to), next_seq);
            ctrl_out.insert((from, next_seq), to);
            ctrl_in.insert((to, next_seq), from);
            next_seq += 1;
        }
        Snapshot::new(State {
            next_node: self.nodes.len() as u32,
            next_seq,
            nodes: self.nodes.into_iter().collect(),
            registry: (1..self.graphs.len() as u32).map(GraphId).collect(),
            lists: lists.into_iter().map(NodeList::new).collect(),
            graphs: self.graphs.into_iter().collect(),
            in_edges: in_edges.into_iter().collect(),
            out_edges: out_edges.into_iter().collect(),
            ctrl,
            ctrl_out,
            ctrl_in,
            topo: Arc::new(self.topo),
            topo_new: im::OrdMap::new(),
            sorted: Sorted::default(),
            model: Arc::new(self.model),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sketch, bare_node, graph_info, list_text, named};
    use super::*;

    #[test]
    fn a_node_added_at_the_end_is_numbered_by_the_nodes_that_are_left() {
        let before = Sketch::flat("a b c", "a>b");
        let mut edit = before.edit();
        let add = |edit: &mut Edit, name: &str, place| {
            let node = edit.add_node(bare_node(name, GraphId::ROOT), place);
            edit.topo_id(node)
        };
        assert_eq!(add(&mut edit, "d", Place::End), 3);
        edit.remove_node(named(&before, "b"));
        edit.remove_node(named(&before, "b"));
        assert_eq!(add(&mut edit, "e", Place::End), 3);
        add(&mut edit, "f", Place::After(named(&before, "a")));
        assert_eq!(add(&mut edit, "g", Place::End), 5);
        assert_eq!(list_text(&edit, GraphId::ROOT), "a f c d e g");
    }

    #[test]
    fn subgraphs_of_any_depth_go_with_their_owner() {
        let mut builder = Builder::default();
        let mut above = None;
        for _ in 0..50_000 {
            let graph = builder.graph(graph_info("g"));
            let owner = builder.node(bare_node("owner", graph), 0);
            above.iter().for_each(|&node| builder.own(node, graph));
            above = Some(owner);
        }
        let before = builder.finish();
        let mut edit = before.edit();
        edit.remove_node(NodeId(1));
        assert_eq!((edit.node_count(), edit.graph_count()), (1, 2));
    }

    #[test]
    fn a_graph_emptied_and_rewritten_counts_anew() {
        let before = Sketch::flat("a b c", "");
        let mut edit = before.edit();
        edit.remove_node(named(&before, "a"));
        edit.set_list(GraphId::ROOT, vec![named(&before, "c"), named(&before, "b")]);
        let new = edit.add_node(bare_node("d", GraphId::ROOT), Place::End);
        assert_eq!(edit.topo_id(new), 2);
    }
}
