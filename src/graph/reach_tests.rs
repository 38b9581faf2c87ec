//! Agreement with a plain search, on graphs with and without cycles.

use fixedbitset::FixedBitSet;
use proptest::prelude::*;

use super::super::testing::{Sketch, named};
use super::super::{GraphId, NodeId, Snapshot, State};
use super::{LARGE, Reach, ReachScratch};

pub(super) fn plain(state: &State, from: NodeId, to: NodeId) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while let Some(&node) = seen.get(next) {
        next += 1;
        let outputs = 0..state.node(node).outputs.len() as u32;
        let data = outputs.flat_map(|index| state.consumers(node.output(index)).map(|input| input.node));
        for to in data.chain(state.control_out(node)).collect::<Vec<_>>() {
            if !seen.contains(&to) {
                seen.push(to);
            }
        }
    }
    seen.contains(&to)
}

fn reaches(snapshot: &Snapshot, from: &str, to: &str) -> bool {
    let reach = Reach::new(snapshot, GraphId::ROOT);
    reach.reaches(&mut ReachScratch::default(), named(snapshot, from), named(snapshot, to))
}

#[test]
fn data_and_control_edges_lead_on_and_nothing_leads_back() {
    let snapshot = Sketch::flat("a b c e", "a.1>b b=>c");
    assert!(reaches(&snapshot, "a", "c"));
    assert!(reaches(&snapshot, "e", "e"));
    assert!(!reaches(&snapshot, "c", "a"));
    assert!(!reaches(&snapshot, "a", "e"));
}

#[test]
fn nodes_on_a_cycle_reach_each_other() {
    let snapshot = Sketch::flat("x a b c y", "x>a a>b b=>a b>c c>y");
    assert!(reaches(&snapshot, "b", "a"));
    assert!(reaches(&snapshot, "x", "y"));
    assert!(!reaches(&snapshot, "c", "b"));
}

#[test]
fn nodes_of_another_graph_are_out_of_reach() {
    let mut sketch = Sketch::default();
    sketch.graph("root", "w a");
    let inner = sketch.graph("inner", "x y");
    sketch.edges("w>a x>y");
    sketch.own("w", inner);
    let snapshot = sketch.finish();
    assert!(!reaches(&snapshot, "w", "x"));
    assert!(!reaches(&snapshot, "x", "y"));
    let reach = Reach::new(&snapshot, inner);
    assert!(reach.reaches(&mut ReachScratch::default(), named(&snapshot, "x"), named(&snapshot, "y")));
}

#[test]
fn an_empty_graph_answers() {
    let mut sketch = Sketch::default();
    sketch.graph("root", "w");
    let inner = sketch.graph("inner", "");
    sketch.own("w", inner);
    let snapshot = sketch.finish();
    let (reach, w) = (Reach::new(&snapshot, inner), named(&snapshot, "w"));
    assert!(reach.reaches(&mut ReachScratch::default(), w, w));
}

/// Of a large graph the index is made by two threads.
#[test]
fn a_large_graph_answers_as_a_plain_search() {
    let count = LARGE as u32 + 99;
    let list: Vec<String> = (0..count).map(|i| format!("o{i}")).collect();
    let mut sketch = Sketch::default();
    sketch.graph("g", &list.join(" "));
    for from in 0..count {
        // Rows of seven that do not meet, and now and then a way to another one.
        let next = [(from % 3 > 0).then_some(7), (from % 64 == 0).then_some(1 + from % 5)];
        for to in next.into_iter().flatten().map(|step| from + step).filter(|to| *to < count) {
            sketch.control_edge(NodeId(from), NodeId(to));
        }
    }
    let snapshot = sketch.finish();
    let reach = Reach::new(&snapshot, GraphId::ROOT);
    let mut scratch = ReachScratch::default();
    for from in (0..count).step_by(97).map(NodeId) {
        let mut reached = FixedBitSet::with_capacity(count as usize);
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if !reached.put(node.0 as usize) {
                open.extend(snapshot.dense().successors(node));
            }
        }
        for to in (0..count).step_by(3).map(NodeId) {
            let holds = reach.reaches(&mut scratch, from, to);
            assert_eq!(holds, reached.contains(to.0 as usize), "{from:?} {to:?}");
        }
    }
}

/// Layers with several edges between neighbours leave the intervals undecided, so the search runs.
pub(super) fn random_graph() -> impl Strategy<Value = Snapshot> {
    (2..40u32, prop::collection::vec((0..40u32, 1..12u32, 0..20u32), 0..90)).prop_map(|(count, edges)| {
        let list: Vec<String> = (0..count).map(|i| format!("o{i}")).collect();
        let mut sketch = Sketch::default();
        sketch.graph("g", &list.join(" "));
        for (from, span, kind) in edges {
            let (from, to) = (from % count, (from % count + span).min(count - 1));
            match kind {
                // Rarely backwards: some graphs have no cycle, some have a few.
                0 => sketch.control_edge(NodeId(to), NodeId(from)),
                1..4 => sketch.control_edge(NodeId(from), NodeId(to)),
                kind => sketch.data_edge(NodeId(from).output(kind % 3), NodeId(to)),
            }
        }
        sketch.finish()
    })
}

proptest! {
    #[test]
    fn agrees_with_a_plain_search(snapshot in random_graph()) {
        let reach = Reach::new(&snapshot, GraphId::ROOT);
        let mut scratch = ReachScratch::default();
        let nodes: Vec<NodeId> = snapshot.list(GraphId::ROOT).collect();
        for &from in &nodes {
            for &to in &nodes {
                prop_assert_eq!(reach.reaches(&mut scratch, from, to), plain(&snapshot, from, to), "{:?} {:?}", from, to);
            }
        }
    }
}
