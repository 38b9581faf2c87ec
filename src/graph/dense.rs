//! The flat view of a snapshot, for scanning.
//!
//! INVARIANT dense-ids: tables are indexed by [`NodeId`] number (`State::node_slots` long) or by anchor number;
//! the anchors of one direction are numbered by node number, then index. Removed nodes own no anchors.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::slots::{LEAF, Leaf};
use super::{GraphId, Input, Node, NodeId, Output, Snapshot, State, Sym};

/// Adjacency of one snapshot in compressed rows, and its all-nodes order.
pub struct Dense {
    /// Shared by the snapshots that differ in nothing but orders.
    rows: Arc<Rows>,
    order: Arc<[NodeId]>,
}

struct Rows {
    slots: usize,
    /// The nodes.
    leaves: Vec<Arc<Leaf<Node>>>,
    /// Subgraph instances of the few nodes that own any, and which these are.
    wrapped: FxHashMap<NodeId, Arc<[GraphId]>>,
    wrappers: FixedBitSet,
    maps: Maps,
    /// Made when a node is first asked for its neighbours.
    edges: OnceLock<Edges>,
}

/// The edges as the snapshot has them.
struct Maps {
    out_edges: im::OrdMap<(Output, u64), Input>,
    control_in: im::OrdMap<(NodeId, u64), NodeId>,
    control_out: im::OrdMap<(NodeId, u64), NodeId>,
}

/// The edges in rows.
struct Edges {
    /// One more than there are nodes.
    starts: Vec<Start>,
    /// Producer of each input, or [`UNCONNECTED`].
    producers: Vec<Output>,
    /// Where the consumers of each output begin, and an end.
    consumer_start: Vec<u32>,
    consumers: Vec<Input>,
    control_in: Vec<NodeId>,
    control_out: Vec<NodeId>,
}

/// Where what belongs to a node begins in the tables of anchors and of control edges.
#[derive(Clone, Copy, Default)]
struct Start {
    inputs: u32,
    outputs: u32,
    control_in: u32,
    control_out: u32,
}

const NOBODY: NodeId = NodeId(u32::MAX);
const UNCONNECTED: Output = Output { node: NOBODY, index: 0 };

impl Edges {
    fn new(slots: usize, leaves: &[Arc<Leaf<Node>>], maps: &Maps) -> Edges {
        let mut starts = Vec::with_capacity(slots + 1);
        let (mut inputs, mut outputs) = (0, 0);
        let ports = leaves.iter().flat_map(|leaf| (0..LEAF).map(|at| leaf.briefs().ports(at)));
        starts.extend(ports.take(slots).map(|ports| {
            let start = Start { inputs, outputs, ..Start::default() };
            inputs += ports.0;
            outputs += ports.1;
            start
        }));
        starts.push(Start { inputs, outputs, ..Start::default() });
        let control_in = controls(&mut starts, &maps.control_in, |start| &mut start.control_in);
        let control_out = controls(&mut starts, &maps.control_out, |start| &mut start.control_out);
        let mut producers = vec![UNCONNECTED; inputs as usize];
        let mut consumer_start = Vec::with_capacity(outputs as usize + 1);
        let mut consumers = Vec::with_capacity(maps.out_edges.len());
        // Edges come sorted by output, then by edge order: exactly the rows.
        for ((from, _), to) in maps.out_edges.iter() {
            let output = starts[from.node.0 as usize].outputs + from.index;
            consumer_start.resize(output as usize + 1, consumers.len() as u32);
            consumers.push(*to);
            producers[(starts[to.node.0 as usize].inputs + to.index) as usize] = *from;
        }
        consumer_start.resize(outputs as usize + 1, consumers.len() as u32);
        Edges { starts, producers, consumer_start, consumers, control_in, control_out }
    }

    #[inline]
    fn start(&self, node: NodeId) -> Start {
        self.starts[node.0 as usize]
    }

    /// Where the next node begins.
    #[inline]
    fn end(&self, node: NodeId) -> Start {
        self.starts[node.0 as usize + 1]
    }

    /// Whether nodes that follow one another have the same ports, and the same edges in the same order.
    fn are_same(&self, other: &Edges, nodes: Range<usize>) -> bool {
        let (own, their) = (&self.starts[nodes.start..=nodes.end], &other.starts[nodes.start..=nodes.end]);
        let ([first, .., end], [their_first, .., their_end]) = (own, their) else { return true };
        let is_like = |of: fn(&Start) -> u32| {
            own.iter().zip(their).all(|(own, their)| of(own) - of(first) == of(their) - of(their_first))
        };
        let lies = |of: fn(&Start) -> u32| {
            (of(first) as usize..of(end) as usize, of(their_first) as usize..of(their_end) as usize)
        };
        let (inputs, their_inputs) = lies(|start| start.inputs);
        let (outputs, their_outputs) = lies(|start| start.outputs);
        let (before, their_before) = lies(|start| start.control_in);
        let (after, their_after) = lies(|start| start.control_out);
        let (rows, their_rows) = (
            &self.consumer_start[outputs.start..=outputs.end],
            &other.consumer_start[their_outputs.start..=their_outputs.end],
        );
        let read = |rows: &[u32]| rows[0] as usize..rows[rows.len() - 1] as usize;
        is_like(|start| start.inputs)
            && is_like(|start| start.outputs)
            && is_like(|start| start.control_in)
            && is_like(|start| start.control_out)
            && rows.iter().zip(their_rows).all(|(own, their)| own - rows[0] == their - their_rows[0])
            && self.producers[inputs] == other.producers[their_inputs]
            && self.consumers[read(rows)] == other.consumers[read(their_rows)]
            && self.control_in[before] == other.control_in[their_before]
            && self.control_out[after] == other.control_out[their_after]
    }

    #[inline]
    fn control_in(&self, node: NodeId) -> &[NodeId] {
        &self.control_in[self.start(node).control_in as usize..self.end(node).control_in as usize]
    }

    #[inline]
    fn control_out(&self, node: NodeId) -> &[NodeId] {
        &self.control_out[self.start(node).control_out as usize..self.end(node).control_out as usize]
    }
}

impl Rows {
    fn new(state: &State) -> Rows {
        let leaves: Vec<Arc<Leaf<Node>>> = state.nodes.leaves().cloned().collect();
        let mut wrappers = FixedBitSet::with_capacity(state.node_slots());
        let mut wrapped = FxHashMap::default();
        for (first, leaf) in (0u32..).step_by(LEAF).zip(&leaves) {
            for at in leaf.briefs().owners() {
                let node = NodeId(first + at as u32);
                wrappers.insert(node.0 as usize);
                wrapped.extend(leaf.get(at).map(|own| (node, own.subgraphs.clone())));
            }
        }
        let (out_edges, control_in, control_out) =
            (state.out_edges.clone(), state.ctrl_in.clone(), state.ctrl_out.clone());
        let maps = Maps { out_edges, control_in, control_out };
        Rows { slots: state.node_slots(), leaves, wrapped, wrappers, maps, edges: OnceLock::new() }
    }

    #[inline]
    fn edges(&self) -> &Edges {
        self.edges.get_or_init(|| Edges::new(self.slots, &self.leaves, &self.maps))
    }

    #[inline]
    fn kind(&self, node: NodeId) -> Option<(Sym, GraphId)> {
        self.leaves.get(node.0 as usize / LEAF)?.briefs().kind(node.0 as usize % LEAF)
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
        let is_live = |node| self.kind(node).is_some();
        state.all_nodes_by(GraphId::ROOT, is_live, |node| self.instances(node)).into()
    }
}

/// Neighbours of all nodes in one direction, from edges in the order of nodes. `start` is set to where those of each begin.
fn controls(
    starts: &mut [Start],
    edges: &im::OrdMap<(NodeId, u64), NodeId>,
    start: impl Fn(&mut Start) -> &mut u32,
) -> Vec<NodeId> {
    let mut others = Vec::with_capacity(edges.len());
    let mut next = 0;
    for ((node, _), other) in edges.iter() {
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
        self.rows.leaves.get(node.0 as usize / LEAF)?.get(node.0 as usize % LEAF)
    }

    /// The operator type of a node, likewise. It is not looked for at the node, which lies anywhere.
    #[inline]
    pub fn ty(&self, node: NodeId) -> Option<Sym> {
        self.rows.kind(node).map(|(ty, _)| ty)
    }

    /// How many inputs and outputs a node has, likewise.
    #[inline]
    pub fn ports(&self, node: NodeId) -> Option<(u32, u32)> {
        let briefs = self.rows.leaves.get(node.0 as usize / LEAF)?.briefs();
        briefs.kind(node.0 as usize % LEAF).map(|_| briefs.ports(node.0 as usize % LEAF))
    }

    /// Length of the tables indexed by node number.
    #[inline]
    pub fn slots(&self) -> usize {
        self.rows.slots
    }

    pub fn input_count(&self) -> usize {
        self.rows.edges().producers.len()
    }

    pub fn output_count(&self) -> usize {
        self.rows.edges().consumer_start.len() - 1
    }

    /// Number of an input anchor.
    #[inline]
    pub fn input(&self, input: Input) -> u32 {
        self.rows.edges().start(input.node).inputs + input.index
    }

    /// Number of an output anchor.
    #[inline]
    pub fn output(&self, output: Output) -> u32 {
        self.rows.edges().start(output.node).outputs + output.index
    }

    /// Numbers of the inputs of `node`.
    #[inline]
    pub fn inputs(&self, node: NodeId) -> Range<u32> {
        let edges = self.rows.edges();
        edges.start(node).inputs..edges.end(node).inputs
    }

    /// Numbers of the outputs of `node`.
    #[inline]
    pub fn outputs(&self, node: NodeId) -> Range<u32> {
        let edges = self.rows.edges();
        edges.start(node).outputs..edges.end(node).outputs
    }

    /// The producer of an input, by number.
    #[inline]
    pub fn producer(&self, input: u32) -> Option<Output> {
        Some(self.rows.edges().producers[input as usize]).filter(|output| output.node != NOBODY)
    }

    /// Consumers of an output, by number, in edge order.
    #[inline]
    pub fn consumers(&self, output: u32) -> &[Input] {
        let edges = self.rows.edges();
        let (from, to) = (edges.consumer_start[output as usize], edges.consumer_start[output as usize + 1]);
        &edges.consumers[from as usize..to as usize]
    }

    /// Control predecessors in edge order.
    pub fn control_in(&self, node: NodeId) -> &[NodeId] {
        self.rows.edges().control_in(node)
    }

    /// Control successors in edge order.
    pub fn control_out(&self, node: NodeId) -> &[NodeId] {
        self.rows.edges().control_out(node)
    }

    /// The graph that lists `node`; `None` for a removed node.
    #[inline]
    pub fn graph_of(&self, node: NodeId) -> Option<GraphId> {
        self.rows.kind(node).map(|(_, graph)| graph)
    }

    /// Whether any node owns a subgraph.
    pub fn has_instances(&self) -> bool {
        !self.rows.wrapped.is_empty()
    }

    /// Subgraph instances of `node` in instance order.
    pub fn instances(&self, node: NodeId) -> &[GraphId] {
        self.rows.instances(node)
    }

    /// Nodes that are in one view alone, or in both but not alike.
    pub fn unlike_nodes(&self, other: &Dense, is_like: impl Fn(&Node, &Node) -> bool) -> FixedBitSet {
        let mut unlike = FixedBitSet::with_capacity(self.slots().max(other.slots()));
        let (own, theirs) = (&self.rows.leaves, &other.rows.leaves);
        for leaf in 0..own.len().max(theirs.len()) {
            let pair = [own.get(leaf), theirs.get(leaf)];
            if matches!(pair, [Some(own), Some(their)] if Arc::ptr_eq(own, their)) {
                continue;
            }
            for at in 0..LEAF {
                let is_same = match pair.map(|leaf| leaf.and_then(|leaf| leaf.get(at))) {
                    [Some(own), Some(their)] => Arc::ptr_eq(own, their) || is_like(own, their),
                    [one, other] => one.is_none() && other.is_none(),
                };
                if !is_same {
                    unlike.insert(leaf * LEAF + at);
                }
            }
        }
        unlike
    }

    /// Nodes of both views that have other edges in the one than in the other, or in another order.
    pub(super) fn unlike_edges(&self, other: &Dense) -> FixedBitSet {
        let mut unlike = FixedBitSet::with_capacity(self.slots().max(other.slots()));
        if Arc::ptr_eq(&self.rows, &other.rows) {
            return unlike;
        }
        let (own, theirs) = (self.rows.edges(), other.rows.edges());
        let end = self.slots().min(other.slots());
        // Most nodes have the same, which is told of many at once.
        for from in (0..end).step_by(LEAF) {
            let run = from..end.min(from + LEAF);
            if !own.are_same(theirs, run.clone()) {
                run.filter(|&node| !self.has_same_edges(other, NodeId(node as u32)))
                    .for_each(|node| unlike.insert(node));
            }
        }
        unlike
    }

    fn has_same_edges(&self, other: &Dense, node: NodeId) -> bool {
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
        let edges = self.rows.edges();
        // The rows of one node's outputs lie side by side.
        let from = edges.consumer_start[edges.start(node).outputs as usize] as usize;
        let to = edges.consumer_start[edges.end(node).outputs as usize] as usize;
        let data = edges.consumers[from..to].iter().map(|input| input.node);
        data.chain(edges.control_out(node).iter().copied())
    }

    /// For every incoming edge of `node`, the node it leaves: producers by input index, then the control
    /// predecessors in edge order.
    #[inline]
    pub fn predecessors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let edges = self.rows.edges();
        let data = &edges.producers[edges.start(node).inputs as usize..edges.end(node).inputs as usize];
        let data = data.iter().map(|producer| producer.node).filter(|&producer| producer != NOBODY);
        data.chain(edges.control_in(node).iter().copied())
    }
}
