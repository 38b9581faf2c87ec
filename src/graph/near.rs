//! Neighbours of nodes in a state that is being edited.
//!
//! Promise: the answers are those of the state. A node that is still as it was in the snapshot that the state came from
//! is looked up in the flat view of that, which is many times faster than the persistent maps. Of another one the neighbours
//! are read there once, and again when it has been edited again.

use std::cell::OnceCell;
use std::sync::Arc;

use fixedbitset::FixedBitSet;

use super::{Dense, GraphId, Node, NodeId, State};

/// The nodes about which a flat view is out of date.
#[derive(Default)]
pub struct Edited {
    /// Their edges have changed.
    nodes: FixedBitSet,
    /// They themselves have.
    rewritten: FixedBitSet,
    /// Where in `sides` a node stands, by node number.
    places: Vec<u32>,
    sides: Vec<Sides>,
}

/// The neighbours of a node, as far as they have been asked for since its last edit.
struct Sides {
    node: NodeId,
    before: OnceCell<Box<[NodeId]>>,
    after: OnceCell<Box<[NodeId]>>,
}

/// Of a node that does not stand there.
const NOWHERE: u32 = u32::MAX;

impl Edited {
    /// Notes that a node itself has changed, come or gone.
    pub fn rewrite(&mut self, node: NodeId) {
        self.rewritten.grow_and_insert(node.0 as usize);
    }

    /// Notes that edges of a node have changed.
    pub fn rewire(&mut self, node: NodeId) {
        let index = node.0 as usize;
        self.nodes.grow_and_insert(index);
        if self.places.len() <= index {
            self.places.resize(index + 1, NOWHERE);
        }
        let sides = Sides { node, before: OnceCell::new(), after: OnceCell::new() };
        match self.sides.get_mut(self.places[index] as usize) {
            Some(own) => *own = sides,
            None => {
                self.places[index] = self.sides.len() as u32;
                self.sides.push(sides);
            }
        }
    }

    /// The same nodes, of whose neighbours nothing is known yet.
    pub fn anew(&self) -> Edited {
        let mut anew = Edited::default();
        self.nodes.ones().for_each(|node| anew.rewire(NodeId(node as u32)));
        anew.rewritten.clone_from(&self.rewritten);
        anew
    }

    #[inline]
    pub fn is_rewired(&self, node: NodeId) -> bool {
        self.nodes.contains(node.0 as usize)
    }

    #[inline]
    pub fn is_rewritten(&self, node: NodeId) -> bool {
        self.rewritten.contains(node.0 as usize)
    }

    /// Notes that any node that was edited may have changed again. It still counts as edited.
    pub fn forget(&mut self) {
        for sides in self.sides.drain(..) {
            self.places[sides.node.0 as usize] = NOWHERE;
        }
    }

    fn sides(&self, node: NodeId) -> Option<&Sides> {
        self.sides.get(*self.places.get(node.0 as usize)? as usize)
    }
}

/// A state, and the flat view of what it came from with the nodes about which that is out of date.
#[derive(Clone, Copy)]
pub struct Near<'a> {
    state: &'a State,
    flat: Option<(&'a Dense, &'a Edited)>,
}

impl<'a> Near<'a> {
    /// All nodes that are not as in the flat view are known to be edited.
    pub fn new(state: &'a State, flat: Option<(&'a Dense, &'a Edited)>) -> Near<'a> {
        Near { state, flat }
    }

    pub fn state(&self) -> &'a State {
        self.state
    }

    /// The flat view, if that is true of the edges of the node.
    #[inline]
    fn flat(&self, node: NodeId) -> Option<&'a Dense> {
        let (dense, edited) = self.flat?;
        ((node.0 as usize) < dense.slots() && !edited.is_rewired(node)).then_some(dense)
    }

    /// The flat view, if that is true of the node itself.
    #[inline]
    fn flat_itself(&self, node: NodeId) -> Option<&'a Dense> {
        let (dense, edited) = self.flat?;
        ((node.0 as usize) < dense.slots() && !edited.is_rewritten(node)).then_some(dense)
    }

    /// What is remembered of an edited node.
    fn sides(&self, node: NodeId) -> Option<&'a Sides> {
        self.flat.and_then(|(_, edited)| edited.sides(node))
    }

    /// The node, if it is there.
    #[inline]
    pub fn node(&self, node: NodeId) -> Option<&'a Arc<Node>> {
        match self.flat_itself(node) {
            Some(dense) => dense.node(node),
            None => self.state.get_node(node),
        }
    }

    /// The graph that a node lies in, if it is there.
    pub fn graph_of(&self, node: NodeId) -> Option<GraphId> {
        match self.flat_itself(node) {
            Some(dense) => dense.graph_of(node),
            None => self.state.get_node(node).map(|found| found.graph),
        }
    }

    /// Nodes directly in `graph`, in list order.
    pub fn nodes(&self, graph: GraphId) -> impl Iterator<Item = NodeId> + 'a {
        let near = *self;
        self.state.entries(graph).filter(move |&node| match near.flat_itself(node) {
            Some(dense) => dense.graph_of(node) == Some(graph),
            None => near.state.contains(node),
        })
    }

    /// What [`State::all_nodes`] gives.
    pub fn all_nodes(&self, graph: GraphId) -> Vec<NodeId> {
        let owned = |node| self.node(node).map_or(&[][..], |found| &found.subgraphs);
        self.state.all_nodes_by(graph, |node| self.node(node).is_some(), owned)
    }

    /// The node that each edge out of `node` enters: data by output and edge order, then control. Two edges give one twice.
    pub fn successors(&self, node: NodeId, visit: impl FnMut(NodeId)) {
        let state = self.state;
        match self.flat(node) {
            Some(dense) => dense.successors(node).for_each(visit),
            None => each(self.sides(node).map(|sides| &sides.after), visit, || {
                state.consumers_of(node).map(|input| input.node).chain(state.control_out(node))
            }),
        }
    }

    /// The node that each edge into `node` leaves: data by input, then control.
    pub fn predecessors(&self, node: NodeId, visit: impl FnMut(NodeId)) {
        let state = self.state;
        match self.flat(node) {
            Some(dense) => dense.predecessors(node).for_each(visit),
            None => each(self.sides(node).map(|sides| &sides.before), visit, || {
                state.producers_of(node).map(|output| output.node).chain(state.control_in(node))
            }),
        }
    }
}

/// Visits neighbours, which are read once where that is kept.
fn each<I: Iterator<Item = NodeId>>(
    kept: Option<&OnceCell<Box<[NodeId]>>>,
    visit: impl FnMut(NodeId),
    read: impl FnOnce() -> I,
) {
    match kept {
        Some(kept) => kept.get_or_init(|| read().collect()).iter().copied().for_each(visit),
        None => read().for_each(visit),
    }
}
