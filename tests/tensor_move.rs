//! TensorMove elimination on many graphs: the symbol table that follows the edits is that of the new graph, what is quickly
//! said of joined groups is what a search finds, and nothing fails.

use std::path::{Path, PathBuf};

use anchorwatch::cli::cases::{find, read};
use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::graph::{GraphId, Snapshot, Sym};
use proptest::prelude::*;

#[path = "../benches/support/generate.rs"]
#[allow(dead_code, reason = "each user of the generator needs some of its shapes")]
mod generate;

use generate::{Shape, Spec, generate};

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The shipped rules with the pass that compares.
fn session() -> Session {
    let path = "scenarios/tensor_move/38_symbols.anchor";
    let text = std::fs::read_to_string(tests().join(path)).expect("the scenario with the pass");
    let mut sources = RuleSources::shipped();
    sources.files.push((path.to_owned(), text, true));
    let session = Session::new(sources);
    assert!(session.diagnostics().is_empty(), "{:#?}", session.diagnostics());
    session
}

/// Runs the pass that compares; how many nodes it took out.
fn compare(session: &Session, graph: &Snapshot) -> usize {
    let steps = vec![Sym::new("sweep_and_compare")];
    let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
    let outcome = session.run(graph, &request).expect("the rules are sound");
    let failures: Vec<_> = outcome.failures().map(|failure| failure.message.clone()).collect();
    assert!(failures.is_empty(), "{failures:?}");
    graph.node_count() - outcome.after.node_count()
}

#[test]
fn the_tracked_table_is_that_of_the_new_graph_in_all_cases() {
    let session = session();
    let mut gone = 0;
    for found in find(&tests().join("cases/tensor_move")).unwrap_or_else(|e| panic!("{}", e.message)) {
        let case = read(found.path()).unwrap_or_else(|e| panic!("{}", e.message));
        gone += compare(&session, &case.before);
    }
    assert!(gone > 100, "only {gone} nodes went");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_tracked_table_is_that_of_the_new_graph(seed in any::<u64>(), nodes in 50usize..400) {
        let session = session();
        for shape in [Shape::PeerLike, Shape::PeerNested] {
            compare(&session, &generate(&Spec { nodes, seed, shape }));
        }
    }
}

/// Where a rule of the layout layer fails, the copy stays, and a warning tells.
#[test]
fn an_answer_that_cannot_be_found_keeps_the_copy() {
    let mut overlay = "override checker immutable_out_and_nopadding_continuous_in\n  for last fixed: IMMUTABLE_ADDRESS_OUTPUT, \
        concat: NOPADDING_CONTINUOUS_INPUT\n  when deep_0(fixed.node) and concat.is_in\n  isolate concat\n"
        .to_owned();
    // Calls may not be nested as deep as this; each is too dear to stand where it is called.
    (0..250).for_each(|i| {
        overlay += &format!("fn deep_{i}(n: Node) -> Bool = any m in [n]: deep_{}(m)\n", i + 1)
    });
    overlay += "fn deep_250(n: Node) -> Bool = n.has_subgraph\n";
    let graph = "v: Variable\na: Relu\nt: TensorMove(v)\n\
        c: PhonyConcat(a, t) { _no_padding_continuous_input = true, _output_reuse_input = true }\nr: Relu(c)\n";
    let context = anchorwatch::format::LoadContext::default();
    let loaded = anchorwatch::format::load(graph.as_bytes(), "broken.graph", &context).expect("a graph");
    let told = |overlay: Option<String>| {
        let mut sources = RuleSources::shipped();
        sources.files.extend(overlay.map(|text| ("deep.anchor".to_owned(), text, true)));
        let session = Session::new(sources);
        let steps = vec![Sym::new("tensor_move")];
        let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
        let outcome = session.run(&loaded.snapshot, &request).expect("the rules are sound");
        assert_eq!(outcome.failures().count(), 0);
        assert_eq!(loaded.snapshot.node_count(), outcome.after.node_count());
        outcome.findings().map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(told(None), Vec::<String>::new());
    assert_eq!(
        told(Some(overlay)),
        ["whether the memory on both sides of t may be joined could not be found out"]
    );
}

/// A chain of copies goes in one sweep, whoever stands between two of them.
#[test]
fn long_chains_go() {
    let session = session();
    for between in ["", "f"] {
        let mut text = "a: Relu\n".to_owned();
        let mut last = "a".to_owned();
        for i in 0..300 {
            text += &format!("t{i}: TensorMove({last})\n");
            last = format!("t{i}");
            if !between.is_empty() {
                text += &format!("f{i}: Foo(x={last}) -> x: float32[1] ND\n");
                last = format!("f{i}");
            }
        }
        text += &format!("r: Relu({last})\n");
        let context = anchorwatch::format::LoadContext::default();
        let loaded = anchorwatch::format::load(text.as_bytes(), "chain.graph", &context).expect("a graph");
        let steps = vec![Sym::new("tensor_move")];
        let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
        let after = session.run(&loaded.snapshot, &request).expect("the rules are sound").after;
        assert_eq!(loaded.snapshot.node_count() - after.node_count(), 300);
        assert_eq!(compare(&session, &loaded.snapshot), 300);
    }
}
