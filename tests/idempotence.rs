//! What the layout layer must keep, on generated graphs: a second run adds nothing, the graph stays acyclic, and every
//! reader reads what it read before, if through copies.

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::graph::{GraphId, Output, Snapshot, Sym};
use proptest::prelude::*;

#[allow(dead_code, reason = "benches use the rest")]
#[path = "../benches/support/generate.rs"]
mod generate;

#[path = "support/laws.rs"]
mod laws;

use laws::{behind, left_after_sorting};

use generate::{SHAPES, Shape, Spec};

fn optimize(session: &Session, snapshot: &Snapshot) -> anchorwatch::engine::outcome::Outcome {
    let request = Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new("layout")], sort: false };
    let outcome = session.run(snapshot, &request).expect("sound rules");
    let failures: Vec<String> = outcome.failures().map(|failure| failure.message.clone()).collect();
    assert!(failures.is_empty(), "{failures:?}");
    outcome
}

/// What an input reads once copies that the run inserted are looked through: output `i` of a copy holds input `i`.
fn read_through(before: &Snapshot, after: &Snapshot, mut from: Output) -> Option<Output> {
    for _ in 0..=after.node_count() {
        if before.contains(from.node) {
            return Some(from);
        }
        from = after.producer(from.node.input(from.index))?;
    }
    None
}

fn keeps_the_laws(session: &Session, snapshot: &Snapshot) -> usize {
    assert_eq!(left_after_sorting(snapshot), Vec::<String>::new(), "the generator makes acyclic graphs");
    let outcome = optimize(session, snapshot);
    let after = &outcome.after;
    assert_eq!(left_after_sorting(after), Vec::<String>::new(), "acyclic");
    for (id, node) in snapshot.nodes_by_id() {
        let now = after.get_node(id).unwrap_or_else(|| panic!("{} is gone", node.name));
        assert_eq!(
            (now.inputs.len(), now.outputs.len(), now.ty),
            (node.inputs.len(), node.outputs.len(), node.ty)
        );
        for input in (0..node.inputs.len() as u32).map(|index| id.input(index)) {
            let reads = after.producer(input).and_then(|from| read_through(snapshot, after, from));
            assert_eq!(reads, snapshot.producer(input), "input {} of {}", input.index, node.name);
        }
        for to in snapshot.control_out(id) {
            assert!(
                behind(after, id).contains(&to),
                "{} must stay before {}",
                node.name,
                snapshot.node(to).name
            );
        }
    }
    let again = optimize(session, after);
    let edits: Vec<String> = again.edits().map(|edit| format!("{edit:?}")).collect();
    assert_eq!(edits, Vec::<String>::new(), "a second run adds nothing");
    assert_eq!(again.findings().count(), 0, "a second run finds nothing");
    assert_eq!(again.after.node_count(), after.node_count());
    after.node_count() - snapshot.node_count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_graphs_keep_the_laws(nodes in 40usize..250, seed in any::<u64>(), shape in 0..SHAPES.len()) {
        let session = Session::new(RuleSources::shipped());
        keeps_the_laws(&session, &generate::generate(&Spec { nodes, seed, shape: SHAPES[shape] }));
    }
}

#[test]
fn the_graphs_of_the_property_test_need_copies() {
    let session = Session::new(RuleSources::shipped());
    for shape in [Shape::Mixed, Shape::PeerLike, Shape::PeerNested] {
        let inserted = keeps_the_laws(&session, &generate::generate(&Spec { nodes: 200, seed: 1, shape }));
        assert!(inserted > 5, "{shape:?}: {inserted}");
    }
}
