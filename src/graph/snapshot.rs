//! Snapshots and what can be read from them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fixedbitset::FixedBitSet;

use super::list::NodeList;
use super::slots::Slots;
use super::sorted::{Sorted, SortedBy};
use super::{Apart, Dense, Edit, GraphId, GraphInfo, Input, Kinds, ModelInfo, Near, Node, NodeId, Output};

/// An immutable state of a model's graphs. Cloning is cheap; equality asks identity first.
#[derive(Clone)]
pub struct Snapshot(Arc<Inner>);

struct Inner {
    state: State,
    dense: OnceLock<Dense>,
    /// What was found out about kinds of nodes.
    kinds: Mutex<Option<Arc<Kinds>>>,
    /// A sort that leaves it as it is.
    sorted: OnceLock<Arc<SortedBy>>,
}

/// The persistent tables and maps behind a [`Snapshot`] or an [`Edit`], and every read on them.
#[derive(Clone)]
pub struct State {
    /// By number.
    pub(super) nodes: Slots<Node>,
    pub(super) graphs: Slots<GraphInfo>,
    /// By number of the graph.
    pub(super) lists: Slots<NodeList>,
    /// Subgraphs in the order of the root's registry (`readwrite.md` 1.2, "subgraph list").
    pub(super) registry: Arc<[GraphId]>,
    /// Producer of each connected input, and the sequence number of the edge.
    pub(super) in_edges: im::OrdMap<Input, (Output, u64)>,
    /// Consumers of each output in edge order: a new or re-targeted edge has the largest number.
    pub(super) out_edges: im::OrdMap<(Output, u64), Input>,
    pub(super) ctrl_in: im::OrdMap<(NodeId, u64), NodeId>,
    pub(super) ctrl_out: im::OrdMap<(NodeId, u64), NodeId>,
    pub(super) ctrl: im::OrdMap<(NodeId, NodeId), u64>,
    /// Topological ids by node number as the last sort gave them, and those given since.
    pub(super) topo: Arc<Vec<i64>>,
    pub(super) topo_new: im::OrdMap<NodeId, i64>,
    pub(super) sorted: Sorted,
    pub(super) next_node: u32,
    pub(super) next_seq: u64,
    pub(super) model: Arc<ModelInfo>,
}

impl std::ops::Deref for Snapshot {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0.state
    }
}

impl PartialEq for Snapshot {
    /// Identity: two snapshots are equal when they are the same one. Comparing contents would walk both.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Snapshot {}

impl std::hash::Hash for Snapshot {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot({} nodes, {} graphs)", self.nodes.len(), self.graphs.len())
    }
}

impl Snapshot {
    pub(super) fn new(state: State) -> Snapshot {
        Snapshot::over(state, OnceLock::new())
    }

    pub(super) fn with_dense(state: State, dense: Dense) -> Snapshot {
        Snapshot::over(state, OnceLock::from(dense))
    }

    fn over(state: State, dense: OnceLock<Dense>) -> Snapshot {
        Snapshot(Arc::new(Inner { state, dense, kinds: Mutex::default(), sorted: OnceLock::new() }))
    }

    /// Starts an edit. Nothing is copied that is not changed.
    pub fn edit(&self) -> Edit {
        Edit::new(State { sorted: self.sorted(), ..self.0.state.clone() })
    }

    /// How it was sorted, and what has changed since.
    pub(super) fn sorted(&self) -> Sorted {
        self.0.sorted.get().map_or_else(|| self.0.state.sorted.clone(), |by| Sorted::just(by.clone()))
    }

    /// Notes that a sort leaves it as it is. Of several the first one counts.
    pub(super) fn note_sorted(&self, by: SortedBy) {
        self.0.sorted.get_or_init(|| Arc::new(by));
    }

    /// Whether two snapshots hold the same, numbers of nodes and edges included. What both share is not looked at, so of two
    /// results of one graph it costs what they changed.
    pub fn holds_the_same(&self, other: &Snapshot) -> bool {
        self == other || self.0.state.holds_the_same(&other.0.state)
    }

    /// About how much was edited between two snapshots of one graph. It costs nothing, and may be wrong.
    pub fn distance(&self, other: &Snapshot) -> u64 {
        let nodes = self.next_node.abs_diff(other.next_node);
        u64::from(nodes) + self.next_seq.abs_diff(other.next_seq)
    }

    /// The flat view, built on first use: O(nodes + edges).
    pub fn dense(&self) -> &Dense {
        self.0.dense.get_or_init(|| Dense::new(self))
    }

    /// Kinds of nodes for whom attributes matter (by `Sym::index`), as far as they have been found.
    pub fn kinds(&self, keys: &FixedBitSet) -> Kinds {
        let known = self.0.kinds.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Kinds::telling(known.as_deref(), keys)
    }

    /// Where nothing is known of kinds, most of it may be what is known on another snapshot.
    pub fn learn_kinds(&self, from: &Snapshot, apart: &Apart) {
        let theirs = from.0.kinds.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut known = self.0.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(theirs) = theirs.filter(|_| known.is_none()) {
            *known = Some(Arc::new(theirs.elsewhere(apart.others())));
        }
    }

    /// Keeps what has been found out about kinds, beginning with what was known here, if it is more.
    pub fn keep_kinds(&self, kinds: Kinds) {
        let mut known = self.0.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if kinds.says_more_than(known.as_deref()) {
            *known = Some(Arc::new(kinds));
        }
    }
}

/// Whether two maps hold the same; what they share is skipped.
pub(super) fn same_map<K: Ord + Clone, V: PartialEq + Clone>(
    one: &im::OrdMap<K, V>,
    other: &im::OrdMap<K, V>,
) -> bool {
    one.len() == other.len() && one.diff(other).next().is_none()
}

impl State {
    fn holds_the_same(&self, other: &State) -> bool {
        // Whatever adds a node or an edge takes a number, so most different states differ here.
        (self.next_node, self.next_seq) == (other.next_node, other.next_seq)
            && same_map(&self.in_edges, &other.in_edges)
            && same_map(&self.out_edges, &other.out_edges)
            && same_map(&self.ctrl, &other.ctrl)
            && same_map(&self.ctrl_in, &other.ctrl_in)
            && same_map(&self.ctrl_out, &other.ctrl_out)
            && same_map(&self.topo_new, &other.topo_new)
            && self.nodes.all_same(&other.nodes, |own, other| own == other)
            && self.graphs.all_same(&other.graphs, |own, other| own == other)
            && (Arc::ptr_eq(&self.topo, &other.topo) || self.topo == other.topo)
            && self.lists.all_same(&other.lists, NodeList::holds_the_same)
            && self.registry == other.registry
            && (Arc::ptr_eq(&self.model, &other.model) || self.model == other.model)
    }

    pub fn model(&self) -> &ModelInfo {
        &self.model
    }

    pub fn contains(&self, node: NodeId) -> bool {
        self.nodes.get(node.0).is_some()
    }

    /// The node.
    ///
    /// # Panics
    /// If the node is not in this state. Ids come from the state they are used with.
    pub fn node(&self, node: NodeId) -> &Arc<Node> {
        self.nodes.get(node.0).expect("a node id is used with a state that has the node")
    }

    pub fn get_node(&self, node: NodeId) -> Option<&Arc<Node>> {
        self.nodes.get(node.0)
    }

    /// The graph; the same promise as [`State::node`].
    pub fn graph(&self, graph: GraphId) -> &Arc<GraphInfo> {
        self.graphs.get(graph.0).expect("a graph id is used with a state that has the graph")
    }

    pub fn get_graph(&self, graph: GraphId) -> Option<&Arc<GraphInfo>> {
        self.graphs.get(graph.0)
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub fn graph_count(&self) -> usize {
        self.graphs.len()
    }

    /// One more than the largest node number in use: the length of a table indexed by [`NodeId`].
    pub fn node_slots(&self) -> usize {
        self.next_node as usize
    }

    /// Every node by ascending id (not an order that a rule may see).
    pub fn nodes_by_id(&self) -> impl Iterator<Item = (NodeId, &Arc<Node>)> {
        self.nodes.iter().map(|(id, node)| (NodeId(id), node))
    }

    /// Every graph by ascending id (not an order that a rule may see).
    pub fn graphs_by_id(&self) -> impl Iterator<Item = (GraphId, &Arc<GraphInfo>)> {
        self.graphs.iter().map(|(id, graph)| (GraphId(id), graph))
    }

    /// Subgraphs in registry order; the root is not among them.
    pub fn registry(&self) -> impl Iterator<Item = GraphId> + '_ {
        self.registry.iter().copied().filter(|g| self.graphs.get(g.0).is_some())
    }

    /// Nodes directly in `graph`, in list order.
    pub fn list(&self, graph: GraphId) -> impl Iterator<Item = NodeId> + '_ {
        self.entries(graph).filter(|&n| self.contains(n))
    }

    /// How many nodes lie directly in `graph`. O(log n).
    pub fn list_len(&self, graph: GraphId) -> usize {
        self.lists.get(graph.0).map_or(0, |list| list.live())
    }

    /// Entries of the node list of `graph`, removed nodes included: for callers with a faster test of life.
    pub(super) fn entries(&self, graph: GraphId) -> impl Iterator<Item = NodeId> + '_ {
        self.lists.get(graph.0).into_iter().flat_map(|list| list.iter())
    }

    /// The list of `graph`, if nothing was added to it or removed since it was made.
    pub fn whole_list(&self, graph: GraphId) -> Option<&Arc<[NodeId]>> {
        self.lists.get(graph.0)?.whole()
    }

    /// "All nodes of g" (`layout.md` 2): list order, each node followed by the nodes of its subgraphs.
    pub fn all_nodes(&self, graph: GraphId) -> Vec<NodeId> {
        Near::new(self, None).all_nodes(graph)
    }

    /// [`State::all_nodes`], with the caller's own test of life, and its own way to the graphs that a node owns.
    pub(super) fn all_nodes_by<'a>(
        &self,
        graph: GraphId,
        is_live: impl Fn(NodeId) -> bool,
        owned: impl Fn(NodeId) -> &'a [GraphId],
    ) -> Vec<NodeId> {
        let list = |graph| -> Arc<[NodeId]> {
            let entries = || self.entries(graph).filter(|&node| is_live(node)).collect();
            self.whole_list(graph).cloned().unwrap_or_else(entries)
        };
        let mut order = Vec::new();
        let mut stack = vec![(list(graph), 0)];
        while let Some((nodes, next)) = stack.last_mut() {
            // Up to the next node that owns graphs.
            let rest = &nodes[*next..];
            let owner = rest.iter().position(|&node| !owned(node).is_empty());
            let run = &rest[..owner.map_or(rest.len(), |at| at + 1)];
            order.extend_from_slice(run);
            *next += run.len();
            match (owner, run.last()) {
                (Some(_), Some(&node)) => {
                    stack.extend(owned(node).iter().rev().map(|&inner| (list(inner), 0)));
                }
                _ => _ = stack.pop(),
            }
        }
        order
    }

    /// The graph that owns the node that owns `graph`, or `None` for the root.
    pub fn parent_graph(&self, graph: GraphId) -> Option<GraphId> {
        self.graph(graph).parent.map(|node| self.node(node).graph)
    }

    pub fn producer(&self, input: Input) -> Option<Output> {
        self.in_edges.get(&input).map(|(from, _)| *from)
    }

    /// Consumers of `output` in edge order.
    pub fn consumers(&self, output: Output) -> impl Iterator<Item = Input> + '_ {
        self.out_edges.range((output, 0)..=(output, u64::MAX)).map(|(_, input)| *input)
    }

    /// Consumers of `output` in edge order, with the numbers of their edges, from the edge `first` on.
    pub fn consumers_from(&self, output: Output, first: u64) -> impl Iterator<Item = (u64, Input)> + '_ {
        self.out_edges.range((output, first)..=(output, u64::MAX)).map(|((_, seq), input)| (*seq, *input))
    }

    /// Consumers of all outputs of `node`: by output, then in edge order.
    pub(super) fn consumers_of(&self, node: NodeId) -> impl Iterator<Item = Input> + '_ {
        let all = (node.output(0), 0)..=(node.output(u32::MAX), u64::MAX);
        self.out_edges.range(all).map(|(_, input)| *input)
    }

    /// Producers of the connected inputs of `node`, by input.
    pub(super) fn producers_of(&self, node: NodeId) -> impl Iterator<Item = Output> + '_ {
        self.in_edges.range(node.input(0)..=node.input(u32::MAX)).map(|(_, (output, _))| *output)
    }

    /// Whether `output` has exactly one data edge, and the consumer if so. O(log n).
    pub fn sole_consumer(&self, output: Output) -> Option<Input> {
        let mut consumers = self.consumers(output);
        let first = consumers.next()?;
        consumers.next().is_none().then_some(first)
    }

    /// Control predecessors in edge order.
    pub fn control_in(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.ctrl_in.range((node, 0)..=(node, u64::MAX)).map(|(_, n)| *n)
    }

    /// Control successors in edge order.
    pub fn control_out(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.ctrl_out.range((node, 0)..=(node, u64::MAX)).map(|(_, n)| *n)
    }

    pub fn has_control(&self, from: NodeId, to: NodeId) -> bool {
        self.ctrl.contains_key(&(from, to))
    }

    /// The id that the last sort, or the insertion since, gave the node.
    pub fn topo_id(&self, node: NodeId) -> i64 {
        match self.topo_new.get(&node) {
            Some(id) => *id,
            None => self.topo.get(node.0 as usize).copied().unwrap_or(-1),
        }
    }

    /// [`State::topo_id`] of all nodes, by number.
    pub(super) fn topo_ids(&self) -> Vec<i64> {
        let mut ids = self.topo.to_vec();
        ids.resize(self.node_slots(), -1);
        for (node, id) in &self.topo_new {
            ids[node.0 as usize] = *id;
        }
        ids
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sketch, bare_node, named};
    use super::super::{Place, Sym};
    use super::*;

    type Change = fn(&Snapshot, &mut Edit);

    #[test]
    fn equal_edits_of_one_graph_hold_the_same_and_different_ones_do_not() {
        let before = Sketch::flat("a b c d", "a>b a>c c>d");
        let changes: [Change; 9] = [
            |_, _| {},
            |g, edit| edit.update_node(named(g, "b"), |node| node.ty = Sym::new("Other")),
            |g, edit| edit.connect(named(g, "b").output(0), named(g, "d").input(0)),
            |g, edit| edit.disconnect(named(g, "d").input(0)),
            |g, edit| _ = edit.add_control(named(g, "a"), named(g, "d")),
            |g, edit| _ = edit.add_node(bare_node("e", GraphId::ROOT), Place::After(named(g, "a"))),
            |g, edit| _ = edit.add_node(bare_node("e", GraphId::ROOT), Place::After(named(g, "b"))),
            |g, edit| edit.set_topo_id(named(g, "a"), 7),
            |_, edit| edit.update_model(|model| model.version += 1),
        ];
        let results = || -> Vec<Snapshot> {
            let made = changes.iter().map(|change| {
                let mut edit = before.edit();
                change(&before, &mut edit);
                edit.finish(&before)
            });
            made.collect()
        };
        let (once, again) = (results(), results());
        for (at, one) in once.iter().enumerate() {
            for (other_at, other) in again.iter().enumerate() {
                assert_eq!(one.holds_the_same(other), at == other_at, "changes {at} and {other_at}");
            }
        }
        let mut sorted = before.edit();
        sorted.set_list(GraphId::ROOT, ["a", "c", "b", "d"].map(|name| named(&before, name)).to_vec());
        assert!(!sorted.finish(&before).holds_the_same(&before));
    }
}
