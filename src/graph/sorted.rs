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

    use super::super::testing::{Change, Sketch, change};
    use super::super::{NodeId, Snapshot, SortMode, sort};
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

    proptest! {
        /// Sort after sort, with edits between them: what is known of the last sort changes nothing.
        #[test]
        fn what_stands_would_be_sorted_as_it_is(
            edges in prop::collection::vec(any::<(u8, u8, u8, bool)>(), 40..120),
            mode in prop::sample::select(MODES.to_vec()),
            rounds in prop::collection::vec((prop::collection::vec(any::<Change>(), 0..4), 0..6u32), 1..8),
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
        let rules = snapshot.sorted().by.expect("a sorted graph").rules.clone();
        let standing = |snapshot: &Snapshot, mode| {
            let rules = SortRules { mode, ..rules.clone() };
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
