//! Who takes copies out makes no cycle: the order that a read of a variable kept is handed on, but not to readers that wait for
//! the assign themselves.

use anchorwatch::engine::{RuleSources, Session};
use anchorwatch::graph::Snapshot;

use crate::soundness::{ge, parse, run};

#[allow(dead_code)] // other shapes are for benches
#[path = "../../benches/support/generate.rs"]
mod generate;

const TAKES_OUT: [&str; 4] = ["identity", "identity_force", "inner_identity_delete", "tensor_move"];

/// The first failure of a pass and of the sort behind it.
fn fails(session: &Session, graph: &Snapshot, pass: &str) -> Option<String> {
    run(session, graph, &[pass, "compile_order"]).err()
}

#[test]
fn larger_graphs_stay_without_cycles() {
    let mut session = Session::new(RuleSources::shipped());
    let graph = generate::accesses(1000);
    for pass in TAKES_OUT {
        assert_eq!(fails(&session, &graph, pass), None, "{pass}");
    }
    // As the reference compiler does it there is one.
    ge(&mut session);
    let told: Vec<_> = TAKES_OUT.iter().map(|pass| fails(&session, &graph, pass)).collect();
    assert!(told.iter().flatten().any(|failure| failure.contains("cycle")), "{told:?}");
}

/// A reader that waits for the assign, through another node, and two that wait for each other's.
#[test]
fn readers_that_wait_for_an_assign_are_not_put_before_it() {
    let through = "v: Variable\nd: Data\nc: ReadVariableOp(v)\nw: Assign(ref=v, value=d) ^c -> ref: float32[1]
        m: Relu(w)\nr: Add(c, m)\nno: NetOutput(r)";
    let crossed = "v: Variable\nu: Variable\nd: Data\nc: ReadVariableOp(v)
        w1: Assign(ref=v, value=d) ^c -> ref: float32[1]\nw2: Assign(ref=v, value=d) ^c -> ref: float32[1]
        m1: Relu(w2)\nr1: Add(c, m1)\nm2: Relu(w1)\nr2: Add(c, m2)\nno: NetOutput(r1, r2)";
    for text in [through, crossed] {
        let graph = parse(text);
        let mut session = Session::new(RuleSources::shipped());
        for pass in TAKES_OUT {
            assert_eq!(fails(&session, &graph, pass), None, "{pass}\n{text}");
        }
        ge(&mut session);
        assert!(fails(&session, &graph, "identity_force").is_some(), "{text}");
    }
}
