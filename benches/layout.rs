//! The layout layer by size: symbols, marks, check, optimise, and what an edit of a rule costs.

use std::collections::BTreeMap;

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::{Format, LoadContext, Loaded, load, save};
use anchorwatch::graph::{GraphId, Snapshot, Sym};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

#[path = "support/cache.rs"]
mod cache;
#[path = "support/edit_cost.rs"]
mod edit_cost;
#[path = "support/generate.rs"]
#[allow(dead_code, reason = "each user of the generator needs some of its shapes")]
mod generate;

use cache::{cached, cold};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn main() {
    divan::main();
}

fn session() -> Session {
    let mut session = Session::new(RuleSources::shipped());
    // Rules are parsed and checked here: a run is about the graph.
    assert!(session.set_options(BTreeMap::new(), BTreeMap::new()).is_empty());
    assert!(session.diagnostics().is_empty());
    session
}

fn request() -> Request {
    Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new("layout")], sort: false }
}

fn check(session: &Session, graph: &Snapshot) -> usize {
    session.run(graph, &request()).expect("the shipped rules run").findings().count()
}

fn bench_check(bencher: Bencher, name: &'static str, make: fn(usize) -> Snapshot, size: usize) {
    let graph = cached(name, make, size);
    bencher
        .with_inputs(|| (session(), cold(&graph)))
        .bench_refs(|(session, graph)| black_box(check(session, graph)));
}

#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn symbols(bencher: Bencher, size: usize) {
    let graph = cached("peer", generate::peer_like, size);
    bencher
        .with_inputs(|| (session(), cold(&graph)))
        .bench_refs(|(session, graph)| session.symbols(graph, GraphId::ROOT).map(|t| t.groups().len()));
}

/// Symbols and marks.
#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn marks(bencher: Bencher, size: usize) {
    let graph = cached("peer", generate::peer_like, size);
    bencher
        .with_inputs(|| (session(), cold(&graph)))
        .bench_refs(|(session, graph)| session.marks(graph, GraphId::ROOT).map(|marks| marks.len()));
}

/// A text dump of the generated graph.
fn dump(size: usize) -> Vec<u8> {
    let graph = cached("peer", generate::peer_like, size);
    let loaded =
        Loaded { snapshot: graph.clone(), format: Format::GeText, warnings: Vec::new(), origin: None };
    save(&loaded, &graph, Format::GeText).expect("text can hold any graph")
}

#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn load_text(bencher: Bencher, size: usize) {
    let text = dump(size);
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| load(&text, "", &LoadContext::default()).expect("a dump of ours").snapshot.node_count());
}

/// Runs the layer on a loaded dump and writes the result.
#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn optimize(bencher: Bencher, size: usize) {
    let loaded = load(&dump(size), "", &LoadContext::default()).expect("a dump of ours");
    bencher.with_inputs(|| (session(), cold(&loaded.snapshot))).bench_refs(|(session, graph)| {
        let after = session.run(graph, &request()).expect("the shipped rules run").after;
        save(&loaded, &after, Format::GeText).expect("text can hold any graph").len()
    });
}

#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn check_peer(bencher: Bencher, size: usize) {
    bench_check(bencher, "peer", generate::peer_like, size);
}

#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn check_nested(bencher: Bencher, size: usize) {
    bench_check(bencher, "nested", generate::peer_nested, size);
}

#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn check_mixed(bencher: Bencher, size: usize) {
    bench_check(bencher, "mixed", generate::mixed, size);
}

#[divan::bench(args = [100_000], sample_count = 3, sample_size = 1)]
fn check_chain(bencher: Bencher, size: usize) {
    bench_check(bencher, "chain", generate::chain, size);
}

#[divan::bench(args = [100_000], sample_count = 3, sample_size = 1)]
fn check_one_variable(bencher: Bencher, size: usize) {
    bench_check(bencher, "variable", generate::one_variable, size);
}

#[divan::bench(args = [100_000], sample_count = 3, sample_size = 1)]
fn check_wide_concat(bencher: Bencher, size: usize) {
    bench_check(bencher, "concat", generate::wide_concat, size);
}

/// TensorMove elimination with its preparation, the graph in memory.
fn bench_tensor_move(bencher: Bencher, name: &'static str, make: fn(usize) -> Snapshot, size: usize) {
    let graph = cached(name, make, size);
    let steps = vec![Sym::new("tensor_move")];
    let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
    bencher.with_inputs(|| (session(), cold(&graph))).bench_refs(|(session, graph)| {
        black_box(session.run(graph, &request).expect("the shipped rules run").after.node_count())
    });
}

/// A twentieth of the nodes are copies.
#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 3, sample_size = 1)]
fn tensor_move_peer(bencher: Bencher, size: usize) {
    bench_tensor_move(bencher, "peer", generate::peer_like, size);
}

#[divan::bench(args = [10_000, 100_000], sample_count = 3, sample_size = 1)]
fn tensor_move_chain(bencher: Bencher, copies: usize) {
    bench_tensor_move(bencher, "copies", generate::copies, copies);
}

#[divan::bench(args = [10_000, 100_000], sample_count = 3, sample_size = 1)]
fn tensor_move_chain_of_writers(bencher: Bencher, copies: usize) {
    bench_tensor_move(bencher, "copies and writers", generate::copies_and_writers, copies);
}

#[divan::bench(args = [1_000, 10_000], sample_count = 3, sample_size = 1)]
fn tensor_move_fan(bencher: Bencher, copies: usize) {
    bench_tensor_move(bencher, "copy fan", generate::copy_fan, copies);
}

/// Re-checks after an edit of one rule file; compare with `check_peer` of the same size.
fn bench_edit(bencher: Bencher, size: usize, path: &str, from: &str, to: &str) {
    let graph = cached("peer", generate::peer_like, size);
    edit_cost::bench_edit(bencher, session(), (path, from, to), |session| {
        black_box(check(session, &graph));
    });
}

#[divan::bench(args = [100_000], sample_count = 10, sample_size = 1)]
fn edit_condition(bencher: Bencher, size: usize) {
    let from = "when is_static(target.root) and fixed.node.type not in VARIABLE_LIKE";
    bench_edit(bencher, size, "rules/layout.anchor", from, "when fixed.node.type not in VARIABLE_LIKE");
}

#[divan::bench(args = [100_000], sample_count = 10, sample_size = 1)]
fn edit_comment(bencher: Bencher, size: usize) {
    bench_edit(bencher, size, "rules/layout.anchor", "//! Layout conflicts:", "//! Layout  conflicts:");
}
