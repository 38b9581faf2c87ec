//! Examples by hand from `readwrite.md` 1.2, and agreement with a plain model on random graphs.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::testing::{Sketch, list_text, named, names};
use super::super::{NodeId, State};
use super::*;

const ALL_MODES: [SortMode; 3] = [SortMode::Bfs, SortMode::Dfs, SortMode::StableRdfs];

/// Nodes named `d…` are sources, edges out of nodes named `n…` are not counted.
fn try_sorted(snapshot: &Snapshot, root: GraphId, mode: SortMode) -> Result<Snapshot, CycleError> {
    let starts = |node: NodeId, letter: char| snapshot.node(node).name.starts_with(letter);
    let rules = SortRules::asking(snapshot, mode, |node| starts(node, 'd'), |node| starts(node, 'n'));
    sort(snapshot, root, rules)
}

fn sorted(snapshot: &Snapshot, mode: SortMode) -> Snapshot {
    try_sorted(snapshot, GraphId::ROOT, mode).expect("no cycle")
}

fn order(list: &str, edges: &str, mode: SortMode) -> String {
    list_text(&sorted(&Sketch::flat(list, edges), mode), GraphId::ROOT)
}

fn ids(state: &State, names: &str) -> Vec<i64> {
    names.split_whitespace().map(|name| state.topo_id(named(state, name))).collect()
}

#[test]
fn depth_first_emits_the_last_ready_consumer_first() {
    assert_eq!(order("s a b c", "s>a s>b s>c", SortMode::Dfs), "s c b a");
    assert_eq!(order("s a b c", "s>c s>a s>b", SortMode::Dfs), "s b a c");
}

#[test]
fn depth_first_walks_outputs_by_index_then_control() {
    assert_eq!(order("s p q r", "s=>r s.1>p s>q", SortMode::Dfs), "s r p q");
}

#[test]
fn depth_first_takes_sources_in_list_order_and_finishes_each() {
    assert_eq!(order("k x d a b e", "d>a k>b x>e", SortMode::Dfs), "d a k b x e");
}

#[test]
fn a_source_with_an_incoming_edge_is_no_start() {
    assert_eq!(order("d k", "k=>d", SortMode::Dfs), "k d");
    assert_eq!(order("k d", "", SortMode::Dfs), "d k");
}

#[test]
fn two_edges_from_one_node_count_twice() {
    assert_eq!(order("a b c", "a>b a>b a>c", SortMode::Dfs), "a c b");
    assert_eq!(order("a b c", "a>b a>c a>b", SortMode::Dfs), "a b c");
}

#[test]
fn breadth_first_queues_by_name_and_takes_a_source_when_empty() {
    assert_eq!(order("k d z m a b c", "d>z d>m d=>a k>b m>c", SortMode::Bfs), "d a m z c k b");
}

#[test]
fn stable_pulls_missing_inputs_in_front_of_their_user() {
    assert_eq!(order("u v p q", "q>u p>u", SortMode::StableRdfs), "p q u v");
    assert_eq!(order("u v p q", "q>u p=>u q>p", SortMode::StableRdfs), "q p u v");
    assert_eq!(order("v a u", "a>u", SortMode::StableRdfs), "v a u");
}

#[test]
fn edges_that_close_a_loop_are_not_counted() {
    for mode in ALL_MODES {
        assert_eq!(order("e m n", "e>m n>m m>n", mode), "e m n", "{mode:?}");
    }
}

#[test]
fn a_cycle_is_named_from_its_first_node_on() {
    let snapshot = Sketch::flat("x t c b a y", "a>b b>c c=>a c>t x>a b>y");
    for mode in ALL_MODES {
        let error = try_sorted(&snapshot, GraphId::ROOT, mode).expect_err("a, b and c are a cycle");
        assert_eq!(names(&snapshot, error.nodes.clone()), "c a b", "{mode:?}");
        assert_eq!(error.to_string(), "graph `g` has a cycle of 3 nodes: `c` -> `a` -> `b` -> `c`");
    }
}

#[test]
fn a_node_that_reads_itself_is_a_cycle() {
    let snapshot = Sketch::flat("a b", "a>b b>b");
    for mode in ALL_MODES {
        let error = try_sorted(&snapshot, GraphId::ROOT, mode).expect_err("b is a cycle");
        assert_eq!(error.to_string(), "graph `g` has a node that leads to itself: `b` -> `b`");
    }
}

#[test]
fn long_cycles_are_cut_short_in_the_message() {
    let snapshot = Sketch::flat("a b c e f g h i j", "a>b b>c c>e e>f f>g g>h h>i i>j j>a");
    let error = try_sorted(&snapshot, GraphId::ROOT, SortMode::Dfs).expect_err("all are one cycle");
    let path = "`a` -> `b` -> `c` -> `e` -> `f` -> `g` -> `h` -> `i` -> ... -> `a`";
    assert_eq!(error.to_string(), format!("graph `g` has a cycle of 9 nodes: {path}"));
}

/// Root `b w a`; `w` owns `one` (with `v` owning `deep`) and `two` (with `u` owning `low`).
fn nested() -> Snapshot {
    let mut sketch = Sketch::default();
    sketch.graph("root", "b w a");
    let one = sketch.graph("one", "v x");
    let two = sketch.graph("two", "u");
    let deep = sketch.graph("deep", "q p");
    let low = sketch.graph("low", "l");
    sketch.edges("a>w w>b x>v p>q");
    sketch.own("w", one);
    sketch.own("w", two);
    sketch.own("v", deep);
    sketch.own("u", low);
    sketch.finish()
}

#[test]
fn ids_number_the_all_nodes_walk_over_all_graphs() {
    let after = sorted(&nested(), SortMode::Dfs);
    assert_eq!(names(&after, after.all_nodes(GraphId::ROOT)), "a w x v p q u l b");
    assert_eq!(ids(&after, "a w x v p q u l b"), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn the_registry_lists_the_instances_of_a_wrapper_last_first() {
    let snapshot = nested();
    let registry = |s: &Snapshot| s.registry().map(|g| s.graph(g).name.to_string()).collect::<Vec<_>>();
    assert_eq!(registry(&snapshot), ["one", "two", "deep", "low"]);
    assert_eq!(registry(&sorted(&snapshot, SortMode::Dfs)), ["two", "one", "deep", "low"]);
}

#[test]
fn a_subgraph_alone_is_numbered_from_zero() {
    let snapshot = sorted(&nested(), SortMode::Dfs);
    let one = snapshot.node(named(&snapshot, "v")).graph;
    let before: Vec<GraphId> = snapshot.registry().collect();
    let after = try_sorted(&snapshot, one, SortMode::Dfs).expect("no cycle");
    assert_eq!(ids(&after, "x v p q"), [0, 1, 2, 3]);
    assert_eq!(ids(&after, "a w u l b"), [0, 1, 6, 7, 8]);
    assert_eq!(after.registry().collect::<Vec<_>>(), before);
}

#[test]
fn a_sorted_graph_is_given_back() {
    for mode in ALL_MODES {
        let once = sorted(&nested(), mode);
        let twice = sorted(&once, SortMode::StableRdfs);
        assert_eq!(once, twice, "{mode:?}");
    }
}

#[test]
fn the_flat_view_follows_the_new_order() {
    let before = nested();
    let after = sorted(&before, SortMode::Dfs);
    assert_eq!(before.dense().order(), before.all_nodes(GraphId::ROOT));
    assert_eq!(after.dense().order(), after.all_nodes(GraphId::ROOT));
}

#[test]
fn removed_nodes_take_no_part() {
    let before = Sketch::flat("a b c", "a>b b>c");
    let mut edit = before.edit();
    edit.remove_node(named(&before, "b"));
    let after = sorted(&edit.finish(&before), SortMode::Dfs);
    assert_eq!(list_text(&after, GraphId::ROOT), "a c");
    assert_eq!(ids(&after, "a c"), [0, 1]);
}

/// The sort of one flat graph as the text says it, on maps and with searches. `None`: there is a cycle.
fn plain(state: &State, mode: SortMode) -> Option<Vec<NodeId>> {
    let name = |node: NodeId| state.node(node).name.clone();
    let next = |node: NodeId| -> Vec<NodeId> {
        if name(node).starts_with('n') {
            return Vec::new();
        }
        let outputs = 0..state.node(node).outputs.len() as u32;
        let data = outputs.flat_map(|index| state.consumers(node.output(index)).collect::<Vec<_>>());
        data.map(|input| input.node).chain(state.control_out(node)).collect()
    };
    let list: Vec<NodeId> = state.list(GraphId::ROOT).collect();
    if mode == SortMode::StableRdfs {
        let mut order = Vec::new();
        for &node in &list {
            plain_pull(&list, &next, node, &mut order, list.len())?;
        }
        return Some(order);
    }
    let mut degree: BTreeMap<NodeId, usize> = list.iter().map(|&node| (node, 0)).collect();
    for to in list.iter().flat_map(|&node| next(node)) {
        *degree.get_mut(&to)? += 1;
    }
    let mut sources: Vec<NodeId> = list.iter().copied().filter(|node| degree[node] == 0).collect();
    sources.sort_by_key(|&node| !name(node).starts_with('d'));
    let mut order = Vec::new();
    let mut open = Vec::new();
    if mode == SortMode::Dfs {
        open = sources.drain(..).rev().collect();
    }
    loop {
        if open.is_empty() && !sources.is_empty() {
            open.push(sources.remove(0));
        }
        let taken =
            if mode == SortMode::Dfs { open.pop() } else { (!open.is_empty()).then(|| open.remove(0)) };
        let Some(node) = taken else { break };
        order.push(node);
        let mut ready = Vec::new();
        for to in next(node) {
            let left = degree.get_mut(&to)?;
            *left -= 1;
            ready.extend((*left == 0).then_some(to));
        }
        if mode == SortMode::Bfs {
            ready.sort_by_key(|&node| name(node));
        }
        open.extend(ready);
    }
    (order.len() == list.len()).then_some(order)
}

/// `None` if the calls nest deeper than there are nodes, which only a cycle does.
fn plain_pull(
    list: &[NodeId],
    next: &impl Fn(NodeId) -> Vec<NodeId>,
    node: NodeId,
    order: &mut Vec<NodeId>,
    left: usize,
) -> Option<()> {
    if order.contains(&node) {
        return Some(());
    }
    let left = left.checked_sub(1)?;
    for &before in list.iter().filter(|&&before| next(before).contains(&node)) {
        plain_pull(list, next, before, order, left)?;
    }
    order.push(node);
    Some(())
}

/// Up to 12 nodes. One graph in four keeps its edges as they fall, cycles included; the others are acyclic.
fn random_graph() -> impl Strategy<Value = Snapshot> {
    let edges = prop::collection::vec((0..12u32, 0..12u32, 0..4u32), 0..30);
    (prop::collection::vec(prop::sample::select(vec!['a', 'b', 'd', 'n', 'z']), 1..12), edges, 0..4u32)
        .prop_map(|(letters, edges, wild)| {
            let count = letters.len() as u32;
            // Names that do not follow the list.
            let list: Vec<String> =
                (0..count).map(|i| format!("{}{}", letters[i as usize], (i * 7) % 12)).collect();
            let mut sketch = Sketch::default();
            sketch.graph("g", &list.join(" "));
            for (from, to, kind) in edges {
                let (mut from, mut to) = (from % count, to % count);
                // Hidden order: not that of the list.
                let rank = |node: u32| (node * 5 + 3) % 13;
                if wild > 0 {
                    if from == to {
                        continue;
                    }
                    if rank(from) > rank(to) {
                        std::mem::swap(&mut from, &mut to);
                    }
                }
                match kind {
                    0 => sketch.control_edge(NodeId(from), NodeId(to)),
                    kind => sketch.data_edge(NodeId(from).output(kind % 2), NodeId(to)),
                }
            }
            sketch.finish()
        })
}

proptest! {
    #[test]
    fn agrees_with_the_plain_sort(snapshot in random_graph()) {
        for mode in ALL_MODES {
            let ours = try_sorted(&snapshot, GraphId::ROOT, mode);
            let order = ours.as_ref().ok().map(|s| s.list(GraphId::ROOT).collect::<Vec<_>>());
            prop_assert_eq!(order, plain(&snapshot, mode), "{:?}", mode);
            match ours {
                Ok(after) => {
                    prop_assert_eq!(&sorted(&after, SortMode::StableRdfs), &after);
                    let ids: Vec<i64> = after.list(GraphId::ROOT).map(|n| after.topo_id(n)).collect();
                    prop_assert_eq!(ids, (0..snapshot.node_count() as i64).collect::<Vec<_>>());
                }
                Err(error) => {
                    let around = error.nodes.iter().zip(error.nodes.iter().cycle().skip(1));
                    for (&from, &to) in around {
                        prop_assert!(snapshot.dense().successors(from).any(|n| n == to));
                        prop_assert!(!snapshot.node(from).name.starts_with('n'));
                    }
                }
            }
        }
    }
}
