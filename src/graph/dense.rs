//! The flat view of a snapshot, for scanning.
//!
//! INVARIANT dense-ids: tables are indexed by [`NodeId`] number (`State::node_slots` long) or by anchor number;
//! the anchors of one direction are numbered by node number, then index. Removed nodes own no anchors.

use std::sync::Arc;

use super::{GraphId, Input, Node, NodeId, Output, Snapshot};

/// No producer.
pub const NONE: u32 = u32::MAX;

/// Adjacency of one snapshot in compressed rows.
pub struct Dense {
    in_start: Vec<u32>,
    out_start: Vec<u32>,
    in_node: Vec<NodeId>,
    out_node: Vec<NodeId>,
    producer: Vec<u32>,
    consumer_start: Vec<u32>,
    consumers: Vec<u32>,
    order: Vec<NodeId>,
    nodes: Vec<Option<Arc<Node>>>,
}

impl Dense {
    pub(super) fn new(snapshot: &Snapshot) -> Dense {
        let slots = snapshot.node_slots();
        let mut in_start = Vec::with_capacity(slots + 1);
        let mut out_start = Vec::with_capacity(slots + 1);
        let (mut in_node, mut out_node) = (Vec::new(), Vec::new());
        let mut table = Vec::with_capacity(slots);
        let mut nodes = snapshot.nodes_by_id().peekable();
        for slot in 0..slots as u32 {
            in_start.push(in_node.len() as u32);
            out_start.push(out_node.len() as u32);
            let entry = nodes.next_if(|(id, _)| id.0 == slot);
            table.push(entry.map(|(_, node)| node.clone()));
            if let Some((id, node)) = entry {
                in_node.resize(in_node.len() + node.inputs.len(), id);
                out_node.resize(out_node.len() + node.outputs.len(), id);
            }
        }
        in_start.push(in_node.len() as u32);
        out_start.push(out_node.len() as u32);
        let mut dense = Dense {
            producer: vec![NONE; in_node.len()],
            consumer_start: Vec::with_capacity(out_node.len() + 1),
            consumers: Vec::with_capacity(snapshot.in_edges.len()),
            in_start,
            out_start,
            in_node,
            out_node,
            order: snapshot.all_nodes(GraphId::ROOT),
            nodes: table,
        };
        // Edges come sorted by output, then by edge order: exactly the rows.
        for ((from, _), to) in snapshot.out_edges.iter() {
            let (from, to) = (dense.output(*from), dense.input(*to));
            while dense.consumer_start.len() <= from as usize {
                dense.consumer_start.push(dense.consumers.len() as u32);
            }
            dense.consumers.push(to);
            dense.producer[to as usize] = from;
        }
        dense.consumer_start.resize(dense.out_node.len() + 1, dense.consumers.len() as u32);
        dense
    }

    /// All nodes of the root in all-nodes order.
    pub fn order(&self) -> &[NodeId] {
        &self.order
    }

    /// The node, or `None` if the snapshot has none of this number. O(1), unlike `State::get_node`.
    pub fn node(&self, node: NodeId) -> Option<&Arc<Node>> {
        self.nodes.get(node.0 as usize)?.as_ref()
    }

    /// Length of the tables indexed by node number.
    pub fn slots(&self) -> usize {
        self.nodes.len()
    }

    pub fn input_count(&self) -> usize {
        self.in_node.len()
    }

    pub fn output_count(&self) -> usize {
        self.out_node.len()
    }

    /// Number of an input anchor.
    pub fn input(&self, input: Input) -> u32 {
        self.in_start[input.node.0 as usize] + input.index
    }

    /// Number of an output anchor.
    pub fn output(&self, output: Output) -> u32 {
        self.out_start[output.node.0 as usize] + output.index
    }

    /// Numbers of the inputs of `node`.
    pub fn inputs(&self, node: NodeId) -> std::ops::Range<u32> {
        self.in_start[node.0 as usize]..self.in_start[node.0 as usize + 1]
    }

    /// Numbers of the outputs of `node`.
    pub fn outputs(&self, node: NodeId) -> std::ops::Range<u32> {
        self.out_start[node.0 as usize]..self.out_start[node.0 as usize + 1]
    }

    /// The anchor with this number.
    pub fn input_at(&self, number: u32) -> Input {
        let node = self.in_node[number as usize];
        node.input(number - self.in_start[node.0 as usize])
    }

    /// The anchor with this number.
    pub fn output_at(&self, number: u32) -> Output {
        let node = self.out_node[number as usize];
        node.output(number - self.out_start[node.0 as usize])
    }

    pub fn producer(&self, input: u32) -> Option<u32> {
        Some(self.producer[input as usize]).filter(|&p| p != NONE)
    }

    /// Consumers of an output in edge order, by number.
    pub fn consumers(&self, output: u32) -> &[u32] {
        let (from, to) = (self.consumer_start[output as usize], self.consumer_start[output as usize + 1]);
        &self.consumers[from as usize..to as usize]
    }
}
