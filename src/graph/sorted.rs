//! What a state knows of the sort that it comes from.
//!
//! Promise: a graph that still stands as a sort has left it would come out of the same sort as it is. A sort is told apart by its mode
//! and by what it takes for sources and for the ends of loops. In each mode the order that comes out keeps the sources in the order
//! in which they went in, and depends on nothing else but edges and names; so what has not been touched since need not be sorted.

use std::sync::Arc;

use fixedbitset::FixedBitSet;

use super::{GraphId, SortRules, State};

/// How a state was sorted last, and what has changed since.
#[derive(Clone, Default)]
pub(super) struct Sorted {
    by: Option<Arc<SortedBy>>,
    /// Graphs of which a node, a name, an edge or the list has changed.
    touched: im::OrdSet<GraphId>,
    /// Numbers, the registry or owners of graphs have changed.
    renumbered: bool,
}

/// A sort of all graphs that the root owns.
pub(super) struct SortedBy {
    pub rules: SortRules,
    /// By number: these were sorted.
    pub graphs: FixedBitSet,
}

impl Sorted {
    /// Of a state that has just been sorted.
    pub fn just(by: Arc<SortedBy>) -> Sorted {
        Sorted { by: Some(by), ..Sorted::default() }
    }

    /// Whether it matters what is touched.
    pub fn is_known(&self) -> bool {
        self.by.is_some()
    }

    pub fn touch(&mut self, graph: GraphId) {
        if self.is_known() && !self.touched.contains(&graph) {
            self.touched.insert(graph);
        }
    }

    pub fn renumber(&mut self) {
        self.renumbered = true;
    }

    /// Whether numbers and the registry are as the sort has left them.
    pub fn is_numbered(&self) -> bool {
        self.is_known() && !self.renumbered
    }

    /// By number: graphs that would come out of a sort as they are.
    pub fn standing(&self, state: &State, rules: &SortRules) -> FixedBitSet {
        let Some(by) = self.by.as_ref().filter(|by| by.rules.mode == rules.mode) else {
            return FixedBitSet::new();
        };
        let mut standing = by.graphs.clone();
        let others = [(&by.rules.sources, &rules.sources), (&by.rules.silent, &rules.silent)]
            .into_iter()
            .flat_map(|(then, now)| then.symmetric_difference(now));
        let others = others.filter_map(|node| state.nodes.get(node as u32)).map(|node| node.graph);
        for graph in others.chain(self.touched.iter().copied()) {
            standing.remove(graph.0 as usize);
        }
        standing
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{Sketch, bare_node};
    use super::super::{Edit, NodeId, Place, Snapshot, SortMode, sort};
    use super::*;

    const MODES: [SortMode; 3] = [SortMode::Bfs, SortMode::Dfs, SortMode::StableRdfs];

    /// A root whose nodes own three graphs, one of which owns another one; eight nodes in each, and edges between nodes of each.
    fn nested(edges: &[(u8, u8, u8, bool)]) -> Snapshot {
        let mut sketch = Sketch::default();
        let list = |graph: usize| {
            (0..8).map(|n| format!("{}{graph}{n} ", ["a", "d", "n"][n % 3])).collect::<String>()
        };
        let graphs: Vec<GraphId> =
            (0..5).map(|graph| sketch.graph(&format!("g{graph}"), &list(graph))).collect();
        for (owner, graph) in [("d01", 1), ("a03", 2), ("n02", 3), ("d14", 4)] {
            sketch.own(owner, graphs[graph]);
        }
        for &(graph, from, to, is_control) in edges {
            let node = |at: u8| NodeId(u32::from(graph % 5) * 8 + u32::from(at % 8));
            // No cycle, and not in the order of the list.
            let rank = |at: u8| at % 8 * 5 % 8;
            match rank(from).cmp(&rank(to)) {
                std::cmp::Ordering::Less if is_control => sketch.control_edge(node(from), node(to)),
                std::cmp::Ordering::Less => sketch.data_edge(node(from).output(0), node(to)),
                _ => {}
            }
        }
        // Some inputs are free.
        let whole = sketch.finish();
        let mut edit = whole.edit();
        let free = whole.nodes_by_id().filter(|(node, own)| node.0 % 3 > 0 && !own.inputs.is_empty());
        free.for_each(|(node, _)| edit.disconnect(node.input(0)));
        edit.finish(&whole)
    }

    fn sorted(snapshot: &Snapshot, root: GraphId, mode: SortMode) -> Option<Snapshot> {
        let starts = |node: NodeId, letter: char| snapshot.node(node).name.starts_with(letter);
        let rules = SortRules::asking(snapshot, mode, |node| starts(node, 'd'), |node| starts(node, 'n'));
        sort(snapshot, root, rules).ok()
    }

    /// The same state, of which nothing is known.
    fn unknown(snapshot: &Snapshot) -> Snapshot {
        Snapshot::new(State { sorted: Sorted::default(), ..(**snapshot).clone() })
    }

    fn change(edit: &mut Edit, (what, one, other): (u8, u8, u8)) {
        let nodes: Vec<NodeId> = edit.nodes_by_id().map(|(node, _)| node).collect();
        let one = nodes[one as usize % nodes.len()];
        let beside: Vec<NodeId> = edit.list(edit.node(one).graph).collect();
        let other = beside[other as usize % beside.len()];
        // Mostly no cycle.
        let rank = |node: NodeId| node.0 % 8 * 5 % 8;
        let (one, other) = if rank(one) <= rank(other) { (one, other) } else { (other, one) };
        let graph = edit.node(one).graph;
        match what % 10 {
            0 if !edit.node(other).inputs.is_empty() => {
                let mut inputs = (0..edit.node(other).inputs.len() as u32).map(|at| other.input(at));
                let free = inputs.find(|&input| edit.producer(input).is_none());
                edit.connect(one.output(0), free.unwrap_or(other.input(0)));
            }
            1 if !edit.node(one).inputs.is_empty() => edit.disconnect(one.input(0)),
            2 if one != other => _ = edit.add_control(one, other),
            3 => {
                let before = edit.control_in(one).next();
                before.into_iter().for_each(|from| _ = edit.remove_control(from, one));
            }
            4 => {
                let node = edit.add_node(bare_node(&format!("d{}", other.0), graph), Place::After(one));
                edit.add_control(node, one);
            }
            5 if nodes.len() > 20 => edit.remove_node(one),
            6 => edit.update_node(one, |node| node.name = format!("n{}", other.0).into()),
            7 => edit.set_topo_id(one, 5),
            8 => edit
                .set_list(graph, edit.list(graph).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>()),
            9 => edit.set_registry(edit.registry().collect::<Vec<_>>().into_iter().rev().collect()),
            _ => {}
        }
    }

    proptest! {
        /// Sort after sort, with edits between them: what is known of the last sort changes nothing.
        #[test]
        fn what_stands_would_be_sorted_as_it_is(
            edges in prop::collection::vec(any::<(u8, u8, u8, bool)>(), 40..120),
            mode in prop::sample::select(MODES.to_vec()),
            rounds in prop::collection::vec((prop::collection::vec(any::<(u8, u8, u8)>(), 0..4), 0..6u32), 1..8),
        ) {
            let mut snapshot = nested(&edges);
            for (changes, turn) in rounds {
                let mut edit = snapshot.edit();
                changes.into_iter().for_each(|of| change(&mut edit, of));
                snapshot = edit.finish(&snapshot);
                let mode = if turn == 4 { SortMode::Dfs } else { mode };
                // Now and then a subgraph alone.
                let root = snapshot.registry().next().filter(|_| turn == 3).unwrap_or(GraphId::ROOT);
                let (ours, plain) = (sorted(&snapshot, root, mode), sorted(&unknown(&snapshot), root, mode));
                prop_assert_eq!(ours.is_some(), plain.is_some());
                if let (Some(ours), Some(plain)) = (ours, plain) {
                    prop_assert!(ours.holds_the_same(&plain));
                    prop_assert_eq!(ours.dense().order(), plain.dense().order());
                    snapshot = ours;
                }
            }
        }
    }

    #[test]
    fn a_graph_that_nothing_has_touched_stands() {
        let snapshot = sorted(&nested(&[(0, 1, 5, false), (2, 4, 1, true)]), GraphId::ROOT, SortMode::Dfs);
        let snapshot = snapshot.expect("no cycle");
        let standing = |snapshot: &Snapshot, mode| {
            let none = || FixedBitSet::with_capacity(snapshot.node_slots());
            let rules = SortRules {
                mode,
                ..snapshot.sorted().by.map_or_else(
                    || SortRules { mode, sources: none(), silent: none() },
                    |by| by.rules.clone(),
                )
            };
            snapshot.sorted().standing(snapshot, &rules).ones().collect::<Vec<_>>()
        };
        assert_eq!(standing(&snapshot, SortMode::Dfs), [0, 1, 2, 3, 4]);
        assert_eq!(standing(&snapshot, SortMode::Bfs), [0usize; 0]);
        let mut edit = snapshot.edit();
        edit.update_node(NodeId(3), |node| node.ty = crate::graph::Sym::new("other"));
        edit.add_control(NodeId(16), NodeId(17));
        assert_eq!(standing(&edit.finish(&snapshot), SortMode::Dfs), [0, 1, 3, 4]);
    }
}
