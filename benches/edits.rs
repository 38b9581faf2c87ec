//! What an edit of the rules costs beside a cold `check`, on generated graphs of 10 000 nodes.
//!
//! Cold is a new session: rules read and checked, the default pipeline run. An edit is made in that session, and the pipeline
//! run again. `cargo bench --bench edits` prints the least of several times, their parts of the cold one, and how many
//! findings and edits of the graph came out otherwise, so that it can be seen whether an edit meant something.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::graph::{GraphId, Snapshot};

#[path = "support/cache.rs"]
#[allow(dead_code, reason = "each user needs a part")]
mod cache;
#[path = "support/edits.rs"]
mod edits;
#[path = "support/generate.rs"]
#[allow(dead_code, reason = "each user of the generator needs some of its shapes")]
mod generate;

use edits::{EDITS, RuleEdit, differing, processor_time};

const NODES: usize = 10_000;
const ROUNDS: usize = 5;

fn check(session: &Session, graph: &Snapshot) {
    let request = Request { graph: GraphId::ROOT, node: None, steps: Vec::new(), sort: false };
    black_box(session.run(graph, &request).expect("sound rules"));
}

/// Processor time, or that of the clock.
fn timed(work: impl FnOnce()) -> Duration {
    let own = Path::new("/proc/thread-self/schedstat");
    let (start, taken) = (Instant::now(), processor_time(own));
    work();
    match (taken, processor_time(own)) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => start.elapsed(),
    }
}

type Make = fn(usize) -> Snapshot;

fn main() {
    let shapes: [(&str, Make); 2] = [("mixed", generate::mixed), ("accesses", generate::accesses)];
    for (name, make) in shapes {
        let graph = make(NODES);
        let cold = (0..3)
            .map(|_| {
                let graph = cache::cold(&graph);
                timed(|| check(&Session::new(RuleSources::shipped()), &graph))
            })
            .min()
            .unwrap_or_default();
        println!("{name}: cold check {cold:.0?}");
        for edit in EDITS {
            // Each time the first time: what is done again is known already.
            let least = (0..ROUNDS)
                .map(|_| {
                    let mut session = Session::new(RuleSources::shipped());
                    session.expect_edits();
                    check(&session, &graph);
                    let new = edit.text();
                    timed(|| {
                        session.set_text(edit.file, &new);
                        check(&session, &graph);
                    })
                })
                .min()
                .unwrap_or_default();
            let RuleEdit { what, .. } = edit;
            let part = cold.as_secs_f64() / least.as_secs_f64();
            println!("  {what}: {least:.1?} (1/{part:.0}), {} differ", differing(edit, &graph));
        }
    }
}
