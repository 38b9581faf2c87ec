//! Nodes by name.
//!
//! Promise: made when a name is first asked for, and small, so that an edit of a large graph pays little for it: what a node
//! is called is read at the node.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{Machine, Value};
use crate::graph::{GraphId, NodeId, State};

/// The nodes of a state by their names.
#[derive(Default)]
pub(super) struct Names {
    /// The first node of each name, at the hash of that.
    nodes: HashTable<NodeId>,
    /// The others of its name, which few nodes share: those of several graphs, as a rule.
    more: FxHashMap<NodeId, Vec<NodeId>>,
    /// Where the search for a free number goes on: all smaller numbers are taken.
    next: FxHashMap<(GraphId, Arc<str>), u64>,
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

fn name_of(state: &State, node: NodeId) -> &str {
    state.get_node(node).map_or("", |node| &node.name)
}

impl Names {
    fn new(state: &State) -> Names {
        let mut names = Names { nodes: HashTable::with_capacity(state.node_count()), ..Names::default() };
        state.nodes_by_id().for_each(|(id, node)| names.add(state, id, &node.name));
        names
    }

    /// Takes in a node of the state.
    fn add(&mut self, state: &State, node: NodeId, name: &str) {
        let is_called = |&other: &NodeId| name_of(state, other) == name;
        match self.nodes.entry(hash(name), is_called, |&other| hash(name_of(state, other))) {
            Entry::Occupied(first) => self.more.entry(*first.get()).or_default().push(node),
            Entry::Vacant(free) => _ = free.insert(node),
        }
    }

    /// Forgets a node that is about to go.
    fn remove(&mut self, state: &State, (node, graph, name): (NodeId, GraphId, &str)) {
        let is_called = |&other: &NodeId| name_of(state, other) == name;
        if let Ok(mut entry) = self.nodes.find_entry(hash(name), is_called) {
            let first = *entry.get();
            let more = self.more.remove(&first).unwrap_or_default();
            let mut others = std::iter::once(first).chain(more).filter(|&other| other != node);
            match others.next() {
                None => _ = entry.remove(),
                Some(first) => {
                    *entry.get_mut() = first;
                    let more: Vec<NodeId> = others.collect();
                    self.more.extend((!more.is_empty()).then_some((first, more)));
                }
            }
        }
        // The number is free again.
        if let Some((base, number)) = name.rsplit_once('_')
            && let Ok(number) = number.parse::<u64>()
            && let Some(next) = self.next.get_mut(&(graph, Arc::from(base)))
        {
            *next = number.min(*next);
        }
    }

    /// All nodes of a name, as they came.
    fn get(&self, state: &State, name: &str) -> impl Iterator<Item = NodeId> {
        let first = self.nodes.find(hash(name), |&node| name_of(state, node) == name);
        let more = first.and_then(|first| self.more.get(first)).into_iter().flatten();
        first.into_iter().chain(more).copied()
    }
}

impl Machine<'_> {
    fn names(&mut self) -> &mut Names {
        self.names.get_or_insert_with(|| Names::new(&self.edit))
    }

    /// A node has come.
    pub(super) fn name_comes(&mut self, node: NodeId, name: &str) {
        if let Some(names) = &mut self.names {
            names.add(&self.edit, node, name);
        }
    }

    /// A node of `graph` is about to go.
    pub(super) fn name_goes(&mut self, node: NodeId, graph: GraphId, name: &str) {
        if let Some(names) = &mut self.names {
            names.remove(&self.edit, (node, graph, name));
        }
    }

    /// The node of that name directly in `graph`. O(1) after the first question.
    pub fn named_in(&mut self, graph: GraphId, name: &str) -> Option<NodeId> {
        self.names();
        let state = &self.edit;
        let is_in = |&id: &NodeId| state.get_node(id).is_some_and(|node| node.graph == graph);
        self.names.as_ref()?.get(state, name).find(is_in)
    }

    /// The first node of that name in the all-nodes order of `graph`.
    pub fn named_below(&mut self, graph: GraphId, name: &str) -> Option<NodeId> {
        self.names();
        let all = self.names.as_ref()?.get(&self.edit, name);
        let below: Vec<NodeId> = all.filter(|&id| self.lies_below(id, graph)).collect();
        match below[..] {
            [] => None,
            [only] => Some(only),
            _ => {
                let order = self.node_list(graph, true)?;
                below.into_iter().min_by_key(|&id| order.position(&Value::Node(id)).unwrap_or(usize::MAX))
            }
        }
    }

    fn lies_below(&self, node: NodeId, graph: GraphId) -> bool {
        let mut own = self.edit.get_node(node).map(|node| node.graph);
        while let Some(id) = own {
            if id == graph {
                return true;
            }
            let parent = self.edit.get_graph(id).and_then(|info| info.parent);
            own = parent.and_then(|node| self.edit.get_node(node)).map(|node| node.graph);
        }
        false
    }

    /// `name`, or `name_1`, `name_2`, … if it is taken in `graph`.
    pub fn free_name(&mut self, graph: GraphId, name: &str) -> Arc<str> {
        if self.named_in(graph, name).is_none() {
            return Arc::from(name);
        }
        let base = (graph, Arc::from(name));
        let mut number = self.names().next.get(&base).copied().unwrap_or(1).max(1);
        loop {
            let candidate = format!("{name}_{number}");
            if self.named_in(graph, &candidate).is_none() {
                self.names().next.insert(base, number);
                return candidate.into();
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Builder, GraphInfo, ModelInfo, Node, Place, Sym};

    fn node(name: usize) -> Node {
        Node::new(["a", "b", "b_1"][name], Sym::new("op"), GraphId::ROOT)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Nodes come (a name) and go (none: the one of that number, if it is there).
        #[test]
        fn all_that_are_called_so_are_found(
            first in prop::collection::vec(0..3usize, 0..6),
            steps in prop::collection::vec((prop::option::of(0..3usize), 0..12u32), 0..40),
        ) {
            let mut builder = Builder::new(ModelInfo::default());
            builder.graph(GraphInfo::named("g"));
            first.into_iter().for_each(|name| _ = builder.node(node(name), -1));
            let mut edit = builder.finish().edit();
            let mut names = Names::new(&edit);
            for (comes, goes) in steps {
                match comes {
                    Some(name) => {
                        let id = edit.add_node(node(name), Place::End);
                        names.add(&edit, id, &node(name).name);
                    }
                    None => {
                        let id = NodeId(goes);
                        let Some(name) = edit.get_node(id).map(|node| node.name.clone()) else { continue };
                        names.remove(&edit, (id, GraphId::ROOT, &name));
                        edit.remove_node(id);
                    }
                }
                for name in ["a", "b", "b_1", "c"] {
                    let called = edit.nodes_by_id().filter(|(_, node)| &*node.name == name).map(|(id, _)| id);
                    prop_assert_eq!(names.get(&edit, name).collect::<Vec<_>>(), called.collect::<Vec<_>>());
                }
            }
        }
    }
}
