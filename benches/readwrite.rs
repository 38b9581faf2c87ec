//! The read/write layer, the passes around it and the lint by size, and what an edit of their rules costs.
//!
//! A pass is measured with rules that are linked (it has run on a small graph) and a graph without its flat view.

use std::collections::BTreeMap;

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::graph::{GraphId, Snapshot, Sym};
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
const LARGE: [usize; 2] = [100_000, 1_000_000];

fn main() {
    divan::main();
}

fn run(session: &Session, graph: &Snapshot, pass: &str) -> usize {
    let steps = vec![Sym::new(pass)];
    let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
    let outcome = session.run(graph, &request).expect("the shipped rules run");
    assert_eq!(outcome.failures().count(), 0, "{pass} runs to its end");
    outcome.after.node_count()
}

/// `compat`: the option of that name; the shipped one if empty.
fn session(pass: &str, compat: &str) -> Session {
    let mut session = Session::new(RuleSources::shipped());
    let given = [compat].into_iter().filter(|compat| !compat.is_empty());
    let given: BTreeMap<_, _> = given.map(|compat| ("compat".to_owned(), compat.to_owned())).collect();
    assert!(session.set_options(given, BTreeMap::new()).is_empty());
    assert!(session.diagnostics().is_empty());
    run(&session, &generate::chain(8), pass);
    session
}

type Make = fn(usize) -> Snapshot;

fn bench(bencher: Bencher, (pass, compat): (&str, &str), (name, make): (&'static str, Make), size: usize) {
    let graph = cached(name, make, size);
    bencher
        .with_inputs(|| (session(pass, compat), cold(&graph)))
        .bench_refs(|(session, graph)| black_box(run(session, graph, pass)));
}

/// One bench a line: a pass, perhaps as another compiler does it, the shape of the graph, and its sizes.
macro_rules! passes {
    ($($(#[$doc:meta])* $name:ident: $pass:literal $(as $compat:literal)? on $shape:ident of $sizes:expr;)*) => {
        $(
            $(#[$doc])*
            #[divan::bench(args = $sizes, sample_count = 3, sample_size = 1)]
            fn $name(bencher: Bencher, size: usize) {
                bench(bencher, ($pass, concat!($($compat)?)), (stringify!($shape), generate::$shape), size);
            }
        )*
    };
}

passes! {
    // A graph with much to do for each of them.
    rw: "rw" on accesses of SIZES;
    hccl_memcpy: "hccl_memcpy" on accesses of SIZES;
    hccl_continuous: "hccl_continuous" on accesses of SIZES;
    subgraph: "subgraph" on accesses of SIZES;
    identity: "identity" on accesses of SIZES;
    inner_identity_add: "inner_identity_add" on accesses of SIZES;
    inner_identity_delete: "inner_identity_delete" on accesses of SIZES;
    lint: "lint" on accesses of SIZES;
    order: "compile_order" on accesses of SIZES;

    // Graphs like those that the speed of others is known of.
    rw_peer: "rw" on peer_like of SIZES;
    hccl_memcpy_peer: "hccl_memcpy" on peer_like of SIZES;
    hccl_continuous_peer: "hccl_continuous" on peer_like of SIZES;
    subgraph_peer: "subgraph" on peer_like of SIZES;
    identity_peer: "identity" on peer_like of SIZES;
    lint_peer: "lint" on peer_like of SIZES;

    // No more than these others do.
    rw_peer_ge: "rw" as "ge" on peer_like of SIZES;
    hccl_memcpy_peer_ge: "hccl_memcpy" as "ge" on peer_like of SIZES;
    hccl_continuous_peer_ge: "hccl_continuous" as "ge" on peer_like of SIZES;
    subgraph_peer_ge: "subgraph" as "ge" on peer_like of SIZES;
    identity_peer_ge: "identity" as "ge" on peer_like of SIZES;

    // Tensors in a row.
    concat_notask_wide: "concat_notask" on wide_row of SIZES;
    concat_notask_many: "concat_notask" on many_rows of SIZES;

    /// Writers of one value, each behind the one before: every writer takes all readers behind it along to its copy, so the
    /// work is quadratic in such writers.
    inner_identity_add_ordered_writers: "inner_identity_add" on ordered_writers of [1_000, 3_000];

    // Everything at one tensor.
    lint_ordered_readers: "lint" on ordered_readers of LARGE;
    /// As many findings as readers.
    lint_unordered_readers: "lint" on unordered_readers of LARGE;
    lint_ordered_writers: "lint" on ordered_writers of LARGE;
    hccl_memcpy_one_tensor: "hccl_memcpy" on many_collectives of LARGE;
    hccl_continuous_one_tensor: "hccl_continuous" on many_collectives of LARGE;
}

// Edits of rules: compare with `rw` and `hccl_memcpy` of the same size.

fn bench_edit(bencher: Bencher, pass: &str, path: &str, from: &str, to: &str) {
    let graph = cached("accesses", generate::accesses, 100_000);
    edit_cost::bench_edit(bencher, session(pass, ""), (path, from, to), |session| {
        black_box(run(session, &graph, pass));
    });
}

fn bench_edit_of_a_cell(bencher: Bencher, pass: &str) {
    let (from, to) = ("ReadOnly      | DoNothing  | DoNothing ", "ReadOnly      | DoNothing  | WrongGraph");
    bench_edit(bencher, pass, "rules/readwrite.anchor", from, to);
}

/// One cell of the matrix.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn edit_cell(bencher: Bencher) {
    bench_edit_of_a_cell(bencher, "rw");
}

/// The same cell, seen from a pass that does not read it.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn edit_cell_of_another_pass(bencher: Bencher) {
    bench_edit_of_a_cell(bencher, "hccl_memcpy");
}

/// What a pass asks of a node.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn edit_condition(bencher: Bencher) {
    let from = "g.nodes.count > 1 and any n";
    bench_edit(bencher, "hccl_memcpy", "rules/hccl.anchor", from, "g.nodes.count > 2 and any n");
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn edit_comment(bencher: Bencher) {
    let (from, to) = ("// ---- In-place users", "// ---- In-place  users");
    bench_edit(bencher, "hccl_memcpy", "rules/hccl.anchor", from, to);
}
