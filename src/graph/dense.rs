//! The flat view of a snapshot, for scanning.
//!
//! INVARIANT dense-ids: tables are indexed by [`NodeId`] number (`State::node_slots` long) or by anchor number;
//! the anchors of one direction are numbered by node number, then index. Removed nodes own no anchors.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::node::NodeBrief;
use super::slots::Slots;
use super::{GraphId, Input, Node, NodeId, Output, Snapshot, State, Sym};

/// No node.
const NONE: u32 = u32::MAX;

/// Adjacency of one snapshot in compressed rows, and its all-nodes order.
pub struct Dense {
    /// Shared by the snapshots that differ in nothing but orders.
    rows: Arc<Rows>,
    order: Arc<[NodeId]>,
}

struct Rows {
    /// One more than there are nodes.
    starts: Vec<Start>,
    /// Producer of each input, or [`UNCONNECTED`].
    producers: Vec<Output>,
    /// Where the consumers of each output begin, and an end.
    consumer_start: Vec<u32>,
    consumers: Vec<Input>,
    control_in: Vec<NodeId>,
    control_out: Vec<NodeId>,
    kinds: Vec<Kind>,
    /// Subgraph instances of the few nodes that own any, and which these are.
    wrapped: FxHashMap<NodeId, Arc<[GraphId]>>,
    wrappers: FixedBitSet,
    nodes: Slots<Node>,
}

/// Where what belongs to a node begins in the tables of anchors and of control edges.
#[derive(Clone, Copy, Default)]
struct Start {
    inputs: u32,
    outputs: u32,
    control_in: u32,
    control_out: u32,
}

/// Graph number, `NONE` for a node that is not there, and operator type.
#[derive(Clone, Copy)]
struct Kind {
    graph: u32,
    ty: Sym,
}

const UNCONNECTED: Output = Output { node: NodeId(NONE), index: 0 };

impl Rows {
    fn new(state: &State) -> Rows {
        let slots = state.node_slots();
        let mut starts = vec![Start::default(); slots + 1];
        let mut kinds = vec![Kind { graph: NONE, ty: Sym::default() }; slots];
        let mut wrappers = FixedBitSet::with_capacity(slots);
        let mut wrapped = FxHashMap::default();
        let (mut next, mut inputs, mut outputs) = (0, 0, 0);
        state.nodes.each_brief(|id, brief| {
            let NodeBrief { ty, graph, inputs: own_inputs, outputs: own_outputs, owns } = brief;
            let slot = id as usize;
            // Nodes that are not there own nothing.
            let own = Start { inputs, outputs, ..Start::default() };
            starts[next..=slot].fill(own);
            next = slot + 1;
            inputs += own_inputs;
            outputs += own_outputs;
            kinds[slot] = Kind { graph: graph.0, ty };
            if owns && let Some(node) = state.nodes.get(id) {
                wrappers.insert(slot);
                wrapped.insert(NodeId(id), node.subgraphs.clone());
            }
        });
        starts[next..].fill(Start { inputs, outputs, ..Start::default() });
        let control_in = controls(&mut starts, state.ctrl_in.iter(), |start| &mut start.control_in);
        let control_out = controls(&mut starts, state.ctrl_out.iter(), |start| &mut start.control_out);
        let mut producers = vec![UNCONNECTED; inputs as usize];
        let mut consumer_start = Vec::with_capacity(outputs as usize + 1);
        let mut consumers = Vec::with_capacity(state.out_edges.len());
        // Edges come sorted by output, then by edge order: exactly the rows.
        for ((from, _), to) in state.out_edges.iter() {
            let output = starts[from.node.0 as usize].outputs + from.index;
            consumer_start.resize(output as usize + 1, consumers.len() as u32);
            consumers.push(*to);
            producers[(starts[to.node.0 as usize].inputs + to.index) as usize] = *from;
        }
        consumer_start.resize(outputs as usize + 1, consumers.len() as u32);
        let nodes = state.nodes.clone();
        Rows {
            starts,
            producers,
            consumer_start,
            consumers,
            control_in,
            control_out,
            kinds,
            wrapped,
            wrappers,
            nodes,
        }
    }

    #[inline]
    fn instances(&self, node: NodeId) -> &[GraphId] {
        match self.wrappers.contains(node.0 as usize) {
            true => self.wrapped.get(&node).map_or(&[], |instances| instances),
            false => &[],
        }
    }

    /// `State::all_nodes` of the root; asking the flat tables saves two map searches a node.
    fn all_nodes(&self, state: &State) -> Arc<[NodeId]> {
        if let (true, Some(list)) = (self.wrapped.is_empty(), state.whole_list(GraphId::ROOT)) {
            return list.clone();
        }
        let mut order = Vec::with_capacity(state.node_count());
        let mut stack = vec![state.entries(GraphId::ROOT)];
        while let Some(top) = stack.last_mut() {
            let Some(node) = top.next() else {
                stack.pop();
                continue;
            };
            if self.kinds[node.0 as usize].graph == NONE {
                continue;
            }
            order.push(node);
            stack.extend(self.instances(node).iter().rev().map(|&graph| state.entries(graph)));
        }
        order.into()
    }
}

/// Neighbours of all nodes in one direction, from edges in the order of nodes. `start` is set to where those of each begin.
fn controls<'a>(
    starts: &mut [Start],
    edges: impl ExactSizeIterator<Item = (&'a (NodeId, u64), &'a NodeId)>,
    start: impl Fn(&mut Start) -> &mut u32,
) -> Vec<NodeId> {
    let mut others = Vec::with_capacity(edges.len());
    let mut next = 0;
    for ((node, _), other) in edges {
        let place = node.0 as usize + 1;
        if next < place {
            starts[next..place].iter_mut().for_each(|own| *start(own) = others.len() as u32);
            next = place;
        }
        others.push(*other);
    }
    starts[next..].iter_mut().for_each(|own| *start(own) = others.len() as u32);
    others
}

impl Dense {
    pub(super) fn new(snapshot: &Snapshot) -> Dense {
        let rows = Rows::new(snapshot);
        Dense { order: rows.all_nodes(snapshot), rows: Arc::new(rows) }
    }

    /// The view of `state`, which has the nodes, ports and edges of this view's snapshot, but other lists.
    pub(super) fn reordered(&self, state: &State, order: Option<Arc<[NodeId]>>) -> Dense {
        Dense { order: order.unwrap_or_else(|| self.rows.all_nodes(state)), rows: self.rows.clone() }
    }

    /// All nodes of the root in all-nodes order.
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// The same, to be kept.
    pub fn shared_order(&self) -> Arc<[NodeId]> {
        self.order.clone()
    }

    /// The node, or `None` if the snapshot has none of this number.
    #[inline]
    pub fn node(&self, node: NodeId) -> Option<&Arc<Node>> {
        self.rows.nodes.get(node.0)
    }

    /// The operator type of a node, likewise. It is not looked for at the node, which lies anywhere.
    #[inline]
    pub fn ty(&self, node: NodeId) -> Option<Sym> {
        self.rows.kinds.get(node.0 as usize).filter(|kind| kind.graph != NONE).map(|kind| kind.ty)
    }

    /// Length of the tables indexed by node number.
    #[inline]
    pub fn slots(&self) -> usize {
        self.rows.kinds.len()
    }

    pub fn input_count(&self) -> usize {
        self.rows.producers.len()
    }

    pub fn output_count(&self) -> usize {
        self.rows.consumer_start.len() - 1
    }

    /// Number of an input anchor.
    #[inline]
    pub fn input(&self, input: Input) -> u32 {
        self.rows.starts[input.node.0 as usize].inputs + input.index
    }

    /// Number of an output anchor.
    #[inline]
    pub fn output(&self, output: Output) -> u32 {
        self.rows.starts[output.node.0 as usize].outputs + output.index
    }

    /// Numbers of the inputs of `node`.
    #[inline]
    pub fn inputs(&self, node: NodeId) -> std::ops::Range<u32> {
        self.rows.starts[node.0 as usize].inputs..self.rows.starts[node.0 as usize + 1].inputs
    }

    /// Numbers of the outputs of `node`.
    #[inline]
    pub fn outputs(&self, node: NodeId) -> std::ops::Range<u32> {
        self.rows.starts[node.0 as usize].outputs..self.rows.starts[node.0 as usize + 1].outputs
    }

    /// The producer of an input, by number.
    #[inline]
    pub fn producer(&self, input: u32) -> Option<Output> {
        Some(self.rows.producers[input as usize]).filter(|output| output.node.0 != NONE)
    }

    /// Consumers of an output, by number, in edge order.
    #[inline]
    pub fn consumers(&self, output: u32) -> &[Input] {
        let rows = &self.rows;
        let (from, to) = (rows.consumer_start[output as usize], rows.consumer_start[output as usize + 1]);
        &rows.consumers[from as usize..to as usize]
    }

    /// Control predecessors in edge order.
    pub fn control_in(&self, node: NodeId) -> &[NodeId] {
        let (start, end) = (&self.rows.starts[node.0 as usize], &self.rows.starts[node.0 as usize + 1]);
        &self.rows.control_in[start.control_in as usize..end.control_in as usize]
    }

    /// Control successors in edge order.
    pub fn control_out(&self, node: NodeId) -> &[NodeId] {
        let (start, end) = (&self.rows.starts[node.0 as usize], &self.rows.starts[node.0 as usize + 1]);
        &self.rows.control_out[start.control_out as usize..end.control_out as usize]
    }

    /// The graph that lists `node`; `None` for a removed node.
    #[inline]
    pub fn graph_of(&self, node: NodeId) -> Option<GraphId> {
        self.rows.kinds.get(node.0 as usize).filter(|kind| kind.graph != NONE).map(|kind| GraphId(kind.graph))
    }

    /// Whether any node owns a subgraph.
    pub fn has_instances(&self) -> bool {
        !self.rows.wrapped.is_empty()
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
        inputs.len() == theirs.len()
            && outputs.len() == their_outputs.len()
            && inputs.zip(theirs).all(|(own, their)| self.producer(own) == other.producer(their))
            && outputs.zip(their_outputs).all(|(own, their)| self.consumers(own) == other.consumers(their))
            && self.control_in(node) == other.control_in(node)
            && self.control_out(node) == other.control_out(node)
    }

    /// For every outgoing edge of `node`, the node it enters: per output in index order its consumers in edge
    /// order, then the control successors in edge order. Two edges into one node give it twice.
    #[inline]
    pub fn successors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let rows = &self.rows;
        let outputs = self.outputs(node);
        // The rows of one node's outputs lie side by side.
        let from = rows.consumer_start[outputs.start as usize] as usize;
        let to = rows.consumer_start[outputs.end as usize] as usize;
        let data = rows.consumers[from..to].iter().map(|input| input.node);
        data.chain(self.control_out(node).iter().copied())
    }

    /// For every incoming edge of `node`, the node it leaves: producers by input index, then the control
    /// predecessors in edge order.
    #[inline]
    pub fn predecessors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let inputs = self.inputs(node);
        let data = &self.rows.producers[inputs.start as usize..inputs.end as usize];
        let data = data.iter().map(|producer| producer.node).filter(|producer| producer.0 != NONE);
        data.chain(self.control_in(node).iter().copied())
    }
}
