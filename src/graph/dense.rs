//! The flat view of a snapshot, for scanning.
//!
//! INVARIANT dense-ids: tables are indexed by [`NodeId`] number (`State::node_slots` long) or by anchor number;
//! the anchors of one direction are numbered by node number, then index. Removed nodes own no anchors.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::{GraphId, Input, Node, NodeId, Output, Snapshot, State, Sym};

/// No producer.
pub const NONE: u32 = u32::MAX;

/// Adjacency of one snapshot in compressed rows, and its all-nodes order.
pub struct Dense {
    /// Shared by the snapshots that differ in nothing but orders.
    rows: Arc<Rows>,
    order: Vec<NodeId>,
}

struct Rows {
    in_start: Vec<u32>,
    out_start: Vec<u32>,
    in_node: Vec<NodeId>,
    out_node: Vec<NodeId>,
    producer: Vec<u32>,
    consumer_start: Vec<u32>,
    consumers: Vec<u32>,
    /// The nodes of `producer` and of `consumers`: who goes from node to node need not look at anchors.
    producer_node: Vec<NodeId>,
    consumer_node: Vec<NodeId>,
    control_in: Controls,
    control_out: Controls,
    /// Graph number of each node; `NONE` for a node that is not there.
    graph: Vec<u32>,
    /// Operator type of each node.
    types: Vec<Sym>,
    /// Subgraph instances of the few nodes that own any, and which these are.
    wrapped: FxHashMap<NodeId, Arc<[GraphId]>>,
    wrappers: FixedBitSet,
    nodes: Vec<Option<Arc<Node>>>,
}

/// Control neighbours of each node, one direction, in edge order.
struct Controls {
    start: Vec<u32>,
    nodes: Vec<NodeId>,
}

impl Controls {
    fn new<'a>(slots: usize, edges: impl Iterator<Item = (&'a (NodeId, u64), &'a NodeId)>) -> Controls {
        let mut controls = Controls { start: Vec::with_capacity(slots + 1), nodes: Vec::new() };
        for ((node, _), other) in edges {
            controls.start.resize(node.0 as usize + 1, controls.nodes.len() as u32);
            controls.nodes.push(*other);
        }
        controls.start.resize(slots + 1, controls.nodes.len() as u32);
        controls
    }

    fn of(&self, node: NodeId) -> &[NodeId] {
        let at = node.0 as usize;
        &self.nodes[self.start[at] as usize..self.start[at + 1] as usize]
    }
}

impl Rows {
    fn new(state: &State) -> Rows {
        let slots = state.node_slots();
        let mut rows = Rows {
            in_start: Vec::with_capacity(slots + 1),
            out_start: Vec::with_capacity(slots + 1),
            in_node: Vec::with_capacity(state.in_edges.len()),
            out_node: Vec::with_capacity(slots),
            producer: Vec::new(),
            consumer_start: Vec::new(),
            consumers: Vec::with_capacity(state.out_edges.len()),
            producer_node: Vec::new(),
            consumer_node: Vec::with_capacity(state.out_edges.len()),
            control_in: Controls::new(slots, state.ctrl_in.iter()),
            control_out: Controls::new(slots, state.ctrl_out.iter()),
            graph: vec![NONE; slots],
            types: vec![Sym::default(); slots],
            wrapped: FxHashMap::default(),
            wrappers: FixedBitSet::with_capacity(slots),
            nodes: vec![None; slots],
        };
        for (id, node) in state.nodes_by_id() {
            let slot = id.0 as usize;
            rows.in_start.resize(slot + 1, rows.in_node.len() as u32);
            rows.out_start.resize(slot + 1, rows.out_node.len() as u32);
            rows.in_node.resize(rows.in_node.len() + node.inputs.len(), id);
            rows.out_node.resize(rows.out_node.len() + node.outputs.len(), id);
            rows.graph[slot] = node.graph.0;
            rows.types[slot] = node.ty;
            rows.nodes[slot] = Some(node.clone());
            if node.has_subgraphs() {
                rows.wrappers.insert(slot);
                rows.wrapped.insert(id, node.subgraphs.clone());
            }
        }
        rows.in_start.resize(slots + 1, rows.in_node.len() as u32);
        rows.out_start.resize(slots + 1, rows.out_node.len() as u32);
        rows.producer = vec![NONE; rows.in_node.len()];
        rows.producer_node = vec![NodeId(NONE); rows.in_node.len()];
        rows.consumer_start = Vec::with_capacity(rows.out_node.len() + 1);
        // Edges come sorted by output, then by edge order: exactly the rows.
        for ((from, _), to) in state.out_edges.iter() {
            let (from_node, to_node) = (from.node, to.node);
            let from = rows.out_start[from.node.0 as usize] + from.index;
            let to = rows.in_start[to.node.0 as usize] + to.index;
            rows.consumer_start.resize(from as usize + 1, rows.consumers.len() as u32);
            rows.consumers.push(to);
            rows.consumer_node.push(to_node);
            rows.producer[to as usize] = from;
            rows.producer_node[to as usize] = from_node;
        }
        rows.consumer_start.resize(rows.out_node.len() + 1, rows.consumers.len() as u32);
        rows
    }

    #[inline]
    fn instances(&self, node: NodeId) -> &[GraphId] {
        match self.wrappers.contains(node.0 as usize) {
            true => self.wrapped.get(&node).map_or(&[], |instances| instances),
            false => &[],
        }
    }

    /// `State::all_nodes` of the root; asking the flat tables saves two map searches a node.
    fn all_nodes(&self, state: &State) -> Vec<NodeId> {
        let mut order = Vec::with_capacity(state.node_count());
        let mut stack = vec![state.entries(GraphId::ROOT)];
        while let Some(top) = stack.last_mut() {
            let Some(node) = top.next() else {
                stack.pop();
                continue;
            };
            if self.graph[node.0 as usize] == NONE {
                continue;
            }
            order.push(node);
            stack.extend(self.instances(node).iter().rev().map(|&graph| state.entries(graph)));
        }
        order
    }
}

impl Dense {
    pub(super) fn new(snapshot: &Snapshot) -> Dense {
        let rows = Rows::new(snapshot);
        Dense { order: rows.all_nodes(snapshot), rows: Arc::new(rows) }
    }

    /// The view of `state`, which has the nodes, ports and edges of this view's snapshot, but other lists.
    pub(super) fn reordered(&self, state: &State, order: Option<Vec<NodeId>>) -> Dense {
        Dense { order: order.unwrap_or_else(|| self.rows.all_nodes(state)), rows: self.rows.clone() }
    }

    /// All nodes of the root in all-nodes order.
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// The node, or `None` if the snapshot has none of this number. O(1), unlike `State::get_node`.
    pub fn node(&self, node: NodeId) -> Option<&Arc<Node>> {
        self.rows.nodes.get(node.0 as usize)?.as_ref()
    }

    /// The operator type of a node, likewise. It is not looked for at the node, which lies anywhere.
    pub fn ty(&self, node: NodeId) -> Option<Sym> {
        self.graph_of(node)?;
        self.rows.types.get(node.0 as usize).copied()
    }

    /// Length of the tables indexed by node number.
    pub fn slots(&self) -> usize {
        self.rows.nodes.len()
    }

    pub fn input_count(&self) -> usize {
        self.rows.in_node.len()
    }

    pub fn output_count(&self) -> usize {
        self.rows.out_node.len()
    }

    /// Number of an input anchor.
    pub fn input(&self, input: Input) -> u32 {
        self.rows.in_start[input.node.0 as usize] + input.index
    }

    /// Number of an output anchor.
    pub fn output(&self, output: Output) -> u32 {
        self.rows.out_start[output.node.0 as usize] + output.index
    }

    /// Numbers of the inputs of `node`.
    pub fn inputs(&self, node: NodeId) -> std::ops::Range<u32> {
        self.rows.in_start[node.0 as usize]..self.rows.in_start[node.0 as usize + 1]
    }

    /// Numbers of the outputs of `node`.
    pub fn outputs(&self, node: NodeId) -> std::ops::Range<u32> {
        self.rows.out_start[node.0 as usize]..self.rows.out_start[node.0 as usize + 1]
    }

    /// The anchor with this number.
    pub fn input_at(&self, number: u32) -> Input {
        let node = self.rows.in_node[number as usize];
        node.input(number - self.rows.in_start[node.0 as usize])
    }

    /// The anchor with this number.
    pub fn output_at(&self, number: u32) -> Output {
        let node = self.rows.out_node[number as usize];
        node.output(number - self.rows.out_start[node.0 as usize])
    }

    pub fn producer(&self, input: u32) -> Option<u32> {
        Some(self.rows.producer[input as usize]).filter(|&p| p != NONE)
    }

    /// Consumers of an output in edge order, by number.
    pub fn consumers(&self, output: u32) -> &[u32] {
        let rows = &self.rows;
        let (from, to) = (rows.consumer_start[output as usize], rows.consumer_start[output as usize + 1]);
        &rows.consumers[from as usize..to as usize]
    }

    /// Control predecessors in edge order.
    pub fn control_in(&self, node: NodeId) -> &[NodeId] {
        self.rows.control_in.of(node)
    }

    /// Control successors in edge order.
    pub fn control_out(&self, node: NodeId) -> &[NodeId] {
        self.rows.control_out.of(node)
    }

    /// The graph that lists `node`; `None` for a removed node.
    pub fn graph_of(&self, node: NodeId) -> Option<GraphId> {
        self.rows.graph.get(node.0 as usize).copied().filter(|&g| g != NONE).map(GraphId)
    }

    /// Subgraph instances of `node` in instance order.
    pub fn instances(&self, node: NodeId) -> &[GraphId] {
        self.rows.instances(node)
    }

    /// Whether a node that is in both views has the same edges in both, in the same order.
    pub(super) fn has_same_edges(&self, other: &Dense, node: NodeId) -> bool {
        if Arc::ptr_eq(&self.rows, &other.rows) {
            return true;
        }
        let (inputs, theirs) = (self.inputs(node), other.inputs(node));
        let (outputs, their_outputs) = (self.outputs(node), other.outputs(node));
        let producer = |of: &Dense, input| of.producer(input).map(|output| of.output_at(output));
        let same_readers = |(own, their): (u32, u32)| {
            let (own, their) = (self.consumers(own), other.consumers(their));
            let pairs = || own.iter().zip(their);
            own.len() == their.len() && pairs().all(|(&a, &b)| self.input_at(a) == other.input_at(b))
        };
        inputs.len() == theirs.len()
            && outputs.len() == their_outputs.len()
            && inputs.zip(theirs).all(|(own, their)| producer(self, own) == producer(other, their))
            && outputs.zip(their_outputs).all(same_readers)
            && self.control_in(node) == other.control_in(node)
            && self.control_out(node) == other.control_out(node)
    }

    /// For every outgoing edge of `node`, the node it enters: per output in index order its consumers in edge
    /// order, then the control successors in edge order. Two edges into one node give it twice.
    pub fn successors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let rows = &self.rows;
        let outputs = self.outputs(node);
        // The rows of one node's outputs lie side by side.
        let from = rows.consumer_start[outputs.start as usize] as usize;
        let to = rows.consumer_start[outputs.end as usize] as usize;
        rows.consumer_node[from..to].iter().chain(self.control_out(node)).copied()
    }

    /// For every incoming edge of `node`, the node it leaves: producers by input index, then the control
    /// predecessors in edge order.
    pub fn predecessors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let inputs = self.inputs(node);
        let data = &self.rows.producer_node[inputs.start as usize..inputs.end as usize];
        data.iter().filter(|producer| producer.0 != NONE).chain(self.control_in(node)).copied()
    }
}
