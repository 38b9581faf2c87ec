//! Graph database: building, the flat view, sorting and reachability, by size.

use anchorwatch::graph::{GraphId, NodeId, Reach, ReachScratch, Snapshot, SortMode, SortRules, Sym, sort};
use divan::{Bencher, black_box};

#[path = "support/cache.rs"]
mod cache;
#[path = "support/generate.rs"]
#[allow(dead_code, reason = "each user of the generator needs some of its shapes")]
mod generate;

use cache::{cached, cold};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
fn build(bencher: Bencher, size: usize) {
    bencher.bench(|| generate::peer_like(black_box(size)));
}

#[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
fn dense(bencher: Bencher, size: usize) {
    let graph = cached("peer", generate::peer_like, size);
    bencher.with_inputs(|| cold(&graph)).bench_refs(|snapshot| snapshot.dense().output_count());
}

mod sorting {
    use super::*;

    fn run(snapshot: &Snapshot, mode: SortMode) -> Snapshot {
        let data = Sym::new("Data");
        let rules = SortRules::asking(snapshot, mode, |node| snapshot.node(node).ty == data, |_| false);
        sort(snapshot, GraphId::ROOT, rules).expect("generated graphs have no cycle")
    }

    /// Flat view and new snapshot included.
    #[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
    fn dfs_cold(bencher: Bencher, size: usize) {
        let graph = cached("peer", generate::peer_like, size);
        bencher.with_inputs(|| cold(&graph)).bench_refs(|snapshot| run(snapshot, SortMode::Dfs));
    }

    #[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
    fn dfs(bencher: Bencher, size: usize) {
        let graph = cached("peer", generate::peer_like, size);
        graph.dense();
        bencher.bench(|| run(&graph, SortMode::Dfs));
    }

    #[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
    fn dfs_nested(bencher: Bencher, size: usize) {
        let graph = cached("peer nested", generate::peer_nested, size);
        graph.dense();
        bencher.bench(|| run(&graph, SortMode::Dfs));
    }

    #[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
    fn bfs(bencher: Bencher, size: usize) {
        let graph = cached("peer", generate::peer_like, size);
        graph.dense();
        bencher.bench(|| run(&graph, SortMode::Bfs));
    }

    /// Already in order: the price of finding out.
    #[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
    fn stable(bencher: Bencher, size: usize) {
        let graph = cached("peer", generate::peer_like, size);
        graph.dense();
        bencher.bench(|| run(&graph, SortMode::StableRdfs));
    }
}

mod reach {
    use super::*;

    #[divan::bench(args = SIZES, sample_count = 3, sample_size = 1)]
    fn prepare(bencher: Bencher, size: usize) {
        let graph = cached("peer", generate::peer_like, size);
        graph.dense();
        bencher.bench(|| Reach::new(&graph, GraphId::ROOT));
    }

    /// A thousand questions about nodes up to `size / 10` apart, and about any two.
    #[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
    fn thousand_questions(bencher: Bencher, size: usize) {
        questions(bencher, cached("peer", generate::peer_like, size));
    }

    #[divan::bench(args = SIZES, sample_count = 5, sample_size = 1)]
    fn thousand_questions_mixed(bencher: Bencher, size: usize) {
        questions(bencher, cached("mixed", generate::mixed, size));
    }

    fn questions(bencher: Bencher, graph: Snapshot) {
        let reach = Reach::new(&graph, GraphId::ROOT);
        let nodes: Vec<NodeId> = graph.list(GraphId::ROOT).collect();
        let mut scratch = ReachScratch::default();
        bencher.bench_local(move || {
            let mut at = 1usize;
            (0..1000usize)
                .filter(|i| {
                    at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let from = (at >> 33) % nodes.len();
                    let span = if i % 2 == 0 { nodes.len() / 10 } else { nodes.len() };
                    let to = (from + (at >> 13) % span) % nodes.len();
                    reach.reaches(&mut scratch, nodes[from], nodes[to])
                })
                .count()
        });
    }
}
