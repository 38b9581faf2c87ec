//! The generated shapes, and what must hold for orders and reachability on each of them.

use std::collections::HashSet;

use anchorwatch::graph::{GraphId, NodeId, Reach, ReachScratch, Snapshot, SortMode, SortRules, Sym, sort};
use proptest::prelude::*;

#[path = "../benches/support/generate.rs"]
#[allow(dead_code, reason = "each user of the generator needs some of its shapes")]
mod generate;

use generate::{SHAPES, Shape, Spec, generate};

fn sorted(snapshot: &Snapshot, mode: SortMode) -> Snapshot {
    let data = Sym::new("Data");
    let rules = SortRules::asking(snapshot, mode, |node| snapshot.node(node).ty == data, |_| false);
    sort(snapshot, GraphId::ROOT, rules).expect("generated graphs have no cycle")
}

fn graphs(snapshot: &Snapshot) -> Vec<GraphId> {
    [GraphId::ROOT].into_iter().chain(snapshot.registry()).collect()
}

/// Every edge as the persistent maps hold it.
fn edges(snapshot: &Snapshot) -> Vec<(NodeId, NodeId)> {
    let mut edges = Vec::new();
    for (id, node) in snapshot.nodes_by_id() {
        for index in 0..node.outputs.len() as u32 {
            edges.extend(snapshot.consumers(id.output(index)).map(|input| (id, input.node)));
        }
        edges.extend(snapshot.control_out(id).map(|to| (id, to)));
    }
    edges
}

fn types(snapshot: &Snapshot) -> HashSet<&'static str> {
    snapshot.nodes_by_id().map(|(_, node)| node.ty.as_str()).collect()
}

/// Everything a reader of the graph can tell, for comparing two builds.
fn content(snapshot: &Snapshot) -> String {
    let nodes: Vec<_> = snapshot.nodes_by_id().collect();
    format!("{nodes:?} {:?}", edges(snapshot))
}

#[test]
fn the_same_spec_gives_the_same_graph_and_another_seed_another() {
    let make = |seed| generate(&Spec { nodes: 300, seed, shape: Shape::Mixed });
    assert_eq!(content(&make(5)), content(&make(5)));
    assert_ne!(content(&make(5)), content(&make(6)));
}

#[test]
fn sizes_are_as_asked() {
    for shape in SHAPES {
        let count = generate(&Spec { nodes: 2000, seed: 3, shape }).node_count();
        assert!((1990..2100).contains(&count), "{shape:?}: {count}");
    }
    assert_eq!(generate::chain(500).node_count(), 500);
    assert_eq!(generate::many_subgraphs(50).registry().count(), 50);
    let nested = generate::peer_nested(10_000).registry().count();
    assert!((45..=50).contains(&nested), "{nested} subgraphs, one per 200 nodes");
    let concat = generate::wide_concat(700);
    assert!(concat.nodes_by_id().any(|(_, node)| node.inputs.len() == 700));
    let variable = generate::one_variable(1000);
    let (first, _) = variable.nodes_by_id().next().expect("a variable");
    assert_eq!(variable.consumers(first.output(0)).count(), 1000);
}

#[test]
fn the_mix_has_what_rules_look_at() {
    let mixed = generate::mixed(20_000);
    for ty in
        ["PartitionedCall", "If", "While", "Assign", "HcomAllReduce", "PhonyConcat", "Split", "Constant"]
    {
        assert!(types(&mixed).contains(ty), "{ty}");
    }
    let depth = |mut graph: GraphId| {
        let mut depth = 0;
        while let Some(up) = mixed.parent_graph(graph) {
            (graph, depth) = (up, depth + 1);
        }
        depth
    };
    assert_eq!(mixed.registry().map(depth).max(), Some(3));
    let readers = mixed.nodes_by_id().filter(|(_, node)| node.ty == "Variable");
    let most = readers.map(|(id, _)| mixed.consumers(id.output(0)).count()).max();
    assert!(most > Some(1000), "{most:?} readers of one variable");
}

#[test]
fn edges_lie_within_the_ports_and_inside_one_graph() {
    for shape in SHAPES {
        let snapshot = generate(&Spec { nodes: 3000, seed: 2, shape });
        for (id, node) in snapshot.nodes_by_id() {
            for index in 0..node.inputs.len() as u32 {
                let Some(from) = snapshot.producer(id.input(index)) else { continue };
                assert!((from.index as usize) < snapshot.node(from.node).outputs.len());
            }
        }
        for (from, to) in edges(&snapshot) {
            assert_eq!(snapshot.node(from).graph, snapshot.node(to).graph);
        }
    }
}

#[test]
fn boundary_nodes_are_bound_to_ports_that_the_owner_has() {
    let key = Sym::new("_parent_node_index");
    for shape in [Shape::Mixed, Shape::PeerNested, Shape::ManySubgraphs] {
        let snapshot = generate(&Spec { nodes: 3000, seed: 4, shape });
        let mut bound = 0;
        for graph in snapshot.registry() {
            let owner = snapshot.node(snapshot.graph(graph).parent.expect("a subgraph has an owner"));
            for node in snapshot.list(graph).map(|id| snapshot.node(id)) {
                let inputs = node.attr(key).and_then(|index| index.as_int());
                assert!(inputs.is_none_or(|index| (index as usize) < owner.inputs.len()));
                let outputs = node.inputs.iter().filter_map(|port| port.desc.attr(key)?.as_int());
                bound += outputs.inspect(|&index| assert!((index as usize) < owner.outputs.len())).count();
                assert_eq!(node.ty == "Data", inputs.is_some());
            }
        }
        assert!(bound > 0, "{shape:?}");
    }
}

#[test]
fn flat_rows_say_what_the_maps_say() {
    let snapshot = generate(&Spec { nodes: 3000, seed: 7, shape: Shape::Mixed });
    let mut edit = snapshot.edit();
    for node in snapshot.list(GraphId::ROOT).skip(200).step_by(37) {
        edit.remove_node(node);
    }
    let snapshot = edit.finish(&snapshot);
    let dense = snapshot.dense();
    assert_eq!(dense.order(), snapshot.all_nodes(GraphId::ROOT));
    for id in (0..dense.slots() as u32).map(NodeId).filter(|id| !snapshot.contains(*id)) {
        assert!(dense.inputs(id).is_empty() && dense.outputs(id).is_empty());
        assert_eq!((dense.graph_of(id), dense.ty(id), dense.node(id).is_none()), (None, None, true));
    }
    for (id, node) in snapshot.nodes_by_id() {
        assert_eq!(dense.control_out(id), snapshot.control_out(id).collect::<Vec<_>>());
        assert_eq!(dense.control_in(id), snapshot.control_in(id).collect::<Vec<_>>());
        assert_eq!(dense.graph_of(id), Some(node.graph));
        assert_eq!(dense.instances(id), &*node.subgraphs);
        assert_eq!(dense.inputs(id).len(), node.inputs.len());
        for index in 0..node.outputs.len() as u32 {
            let consumers = dense.consumers(dense.output(id.output(index)));
            assert_eq!(consumers, snapshot.consumers(id.output(index)).collect::<Vec<_>>());
        }
        let producers = (0..node.inputs.len() as u32).filter_map(|index| snapshot.producer(id.input(index)));
        assert_eq!(dense.ty(id), Some(node.ty));
        assert_eq!(dense.ports(id), Some((node.inputs.len() as u32, node.outputs.len() as u32)));
        assert!(dense.node(id).is_some_and(|own| std::sync::Arc::ptr_eq(own, node)));
        for index in 0..node.inputs.len() as u32 {
            let input = id.input(index);
            assert_eq!(dense.producer(dense.input(input)), snapshot.producer(input));
        }
        let before: Vec<NodeId> = producers.map(|from| from.node).chain(snapshot.control_in(id)).collect();
        assert_eq!(dense.predecessors(id).collect::<Vec<_>>(), before);
    }
}

#[test]
fn depth_takes_heap_not_stack() {
    let chain = generate::chain(200_000);
    let mut edit = chain.edit();
    let backwards: Vec<NodeId> = chain.list(GraphId::ROOT).collect::<Vec<_>>().into_iter().rev().collect();
    edit.set_list(GraphId::ROOT, backwards);
    let reversed = edit.finish(&chain);
    let after = sorted(&reversed, SortMode::StableRdfs);
    assert!(after.list(GraphId::ROOT).eq(chain.list(GraphId::ROOT)));
    let reach = Reach::new(&chain, GraphId::ROOT);
    let (first, last) = (NodeId(0), NodeId(199_999));
    assert!(reach.reaches(&mut ReachScratch::default(), first, last));
    assert!(!reach.reaches(&mut ReachScratch::default(), last, first));
}

fn any_spec() -> impl Strategy<Value = Spec> {
    (prop::sample::select(SHAPES.to_vec()), 10..400usize, any::<u64>())
        .prop_map(|(shape, nodes, seed)| Spec { nodes, seed, shape })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_sort_puts_every_node_behind_its_predecessors(spec in any_spec()) {
        let before = generate(&spec);
        for mode in [SortMode::Bfs, SortMode::Dfs, SortMode::StableRdfs] {
            let after = sorted(&before, mode);
            for (from, to) in edges(&before) {
                prop_assert!(after.topo_id(from) < after.topo_id(to), "{:?}", mode);
            }
            let walk = after.all_nodes(GraphId::ROOT);
            prop_assert!(walk.iter().zip(0i64..).all(|(&node, place)| after.topo_id(node) == place));
            prop_assert_eq!(after.dense().order(), &walk[..]);
            for graph in graphs(&before) {
                let same = |s: &Snapshot| s.list(graph).collect::<HashSet<_>>();
                prop_assert_eq!(same(&before), same(&after));
            }
            // A graph stands in the registry before the graphs inside it.
            let registry: Vec<GraphId> = after.registry().collect();
            for (at, &graph) in registry.iter().enumerate() {
                prop_assert!(!registry[at..].contains(&after.parent_graph(graph).expect("a subgraph")));
            }
            prop_assert_eq!(sorted(&after, SortMode::StableRdfs), after);
        }
    }

    #[test]
    fn reachability_agrees_with_a_search(spec in any_spec(), picks in prop::collection::vec(any::<(u32, u32)>(), 40)) {
        let snapshot = generate(&spec);
        let mut scratch = ReachScratch::default();
        for graph in graphs(&snapshot).into_iter().take(4) {
            let reach = Reach::new(&snapshot, graph);
            let nodes: Vec<NodeId> = snapshot.list(graph).collect();
            for &(from, to) in &picks {
                let (from, to) = (nodes[from as usize % nodes.len()], nodes[to as usize % nodes.len()]);
                let mut seen = HashSet::from([from]);
                let mut open = vec![from];
                while let Some(node) = open.pop() {
                    open.extend(snapshot.dense().successors(node).filter(|&next| seen.insert(next)));
                }
                prop_assert_eq!(reach.reaches(&mut scratch, from, to), seen.contains(&to));
            }
        }
    }
}
