//! `check` with the shipped rules on whatever graph loads: findings or a failure, never a panic; and what the passes
//! make can be written.
#![no_main]

use std::cell::RefCell;

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::{LoadContext, load, notation};
use anchorwatch::graph::GraphId;

/// Nodes of the largest graph that is worth the time.
const LARGEST: usize = 300;
/// Runs after which the database is made anew: it keeps each graph that it has seen.
const KEPT: usize = 300;

thread_local! {
    static SESSION: RefCell<Option<(Session, usize)>> = const { RefCell::new(None) };
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let context = LoadContext { size_limit: 1 << 20, onnx: None };
    let Ok(file) = load(data, "x.graph", &context) else { return };
    if file.snapshot.node_count() > LARGEST {
        return;
    }
    SESSION.with_borrow_mut(|session| {
        let (engine, runs) = session.get_or_insert_with(|| (Session::new(RuleSources::shipped()), 0));
        let request = Request { graph: GraphId::ROOT, node: None, steps: Vec::new(), sort: false };
        let outcome = engine.run(&file.snapshot, &request).expect("the shipped rules are right");
        if let Ok(text) = notation::save(&outcome.after) {
            let (_, errors) = notation::parse(&String::from_utf8_lossy(&text));
            assert!(errors.is_empty(), "{errors:?}");
        }
        *runs += 1;
        if *runs >= KEPT {
            *session = None;
        }
    });
});
