//! Neighbours of nodes in a state that is being edited.
//!
//! Promise: the answers are those of the state. A node that is still as it was in the snapshot that the state came from
//! is looked up in the flat view of that, which is many times faster than the persistent maps.

use std::sync::Arc;

use fixedbitset::FixedBitSet;

use super::{Dense, GraphId, Node, NodeId, State};

/// A state, and the flat view of what it came from with the nodes about which that is out of date.
#[derive(Clone, Copy)]
pub struct Near<'a> {
    state: &'a State,
    flat: Option<(&'a Dense, &'a FixedBitSet)>,
}

impl<'a> Near<'a> {
    /// `changed`: all nodes with other edges than in `flat`, by number.
    pub fn new(state: &'a State, flat: Option<(&'a Dense, &'a FixedBitSet)>) -> Near<'a> {
        Near { state, flat }
    }

    pub fn state(&self) -> &'a State {
        self.state
    }

    /// The flat view, if that is true of the node.
    #[inline]
    fn flat(&self, node: NodeId) -> Option<&'a Dense> {
        let (dense, changed) = self.flat?;
        let index = node.0 as usize;
        (index < dense.slots() && !changed.contains(index)).then_some(dense)
    }

    /// The node, if it is there.
    #[inline]
    pub fn node(&self, node: NodeId) -> Option<&'a Arc<Node>> {
        match self.flat(node) {
            Some(dense) => dense.node(node),
            None => self.state.get_node(node),
        }
    }

    /// The graph that a node lies in, if it is there.
    pub fn graph_of(&self, node: NodeId) -> Option<GraphId> {
        match self.flat(node) {
            Some(dense) => dense.graph_of(node),
            None => self.state.get_node(node).map(|found| found.graph),
        }
    }

    /// Nodes directly in `graph`, in list order.
    pub fn nodes(&self, graph: GraphId) -> impl Iterator<Item = NodeId> + 'a {
        let near = *self;
        self.state.entries(graph).filter(move |&node| match near.flat(node) {
            Some(dense) => dense.graph_of(node) == Some(graph),
            None => near.state.contains(node),
        })
    }

    /// What [`State::all_nodes`] gives.
    pub fn all_nodes(&self, graph: GraphId) -> Vec<NodeId> {
        let mut order = Vec::new();
        let mut stack = vec![self.state.entries(graph)];
        while let Some(top) = stack.last_mut() {
            let Some(id) = top.next() else {
                stack.pop();
                continue;
            };
            let Some(node) = self.node(id) else { continue };
            order.push(id);
            stack.extend(node.subgraphs.iter().rev().map(|&inner| self.state.entries(inner)));
        }
        order
    }

    /// The node that each edge out of `node` enters: data by output and edge order, then control. Two edges give one twice.
    pub fn successors(&self, node: NodeId, mut visit: impl FnMut(NodeId)) {
        match self.flat(node) {
            Some(dense) => dense.successors(node).for_each(visit),
            None => {
                self.state.consumers_of(node).for_each(|input| visit(input.node));
                self.state.control_out(node).for_each(visit);
            }
        }
    }

    /// The node that each edge into `node` leaves: data by input, then control.
    pub fn predecessors(&self, node: NodeId, mut visit: impl FnMut(NodeId)) {
        match self.flat(node) {
            Some(dense) => dense.predecessors(node).for_each(visit),
            None => {
                self.state.producers_of(node).for_each(|output| visit(output.node));
                self.state.control_in(node).for_each(visit);
            }
        }
    }
}
