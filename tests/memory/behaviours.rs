//! A pass that takes copies out adds no behaviour: whatever the graph without the copies can give, in any order, the graph with them
//! could give as well. So it is said of graphs that mean nothing definite, too.

use std::collections::{BTreeMap, BTreeSet};

use anchorwatch::engine::{RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::Snapshot;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::cells::Semantics;
use crate::machine::{self, Choice, Machine, Value};
use crate::sketch::{Palette, Sketch, sketches};
use crate::soundness::{generous, may_overwrite_silently, parse, run, runner};

/// What the user gets, and what the variables hold.
type Left = (Vec<Value>, Vec<Value>);

/// What is left in every order, for each way through the calls.
fn outcomes(graph: &Snapshot) -> BTreeMap<Choice, BTreeSet<Left>> {
    // R15: the only user of a variable may overwrite it, so that nothing definite is left there.
    let kept = !may_overwrite_silently(graph);
    let ways = machine::choices(graph).into_iter();
    ways.map(|choice| {
        let outcomes = Machine::new(graph, Semantics::Memory, &choice).run().outcomes;
        let seen = outcomes.into_iter().map(|(given, held)| (given, if kept { held } else { Vec::new() }));
        (choice, seen.collect())
    })
    .collect()
}

/// What makes the results safe in the end.
pub const PROTECTION: &[&str] = &["hccl_memcpy", "rw", "layout"];

/// A graph that gives something after `steps` and the protection that it does not give after the protection alone.
pub fn adds(session: &Session, graph: &Snapshot, steps: &[&str]) -> Result<Option<String>, String> {
    adds_after(session, graph, &run(session, graph, steps)?, PROTECTION)
}

/// The same of a graph and what came of it.
pub fn adds_after(
    session: &Session,
    graph: &Snapshot,
    changed: &Snapshot,
    protection: &[&str],
) -> Result<Option<String>, String> {
    // No steps at all would be the default pipeline.
    let protect = |graph: &Snapshot| match protection {
        [] => Ok(graph.clone()),
        steps => run(session, graph, steps),
    };
    let (before, after) = (protect(graph)?, protect(changed)?);
    let (possible, given) = (outcomes(&before), outcomes(&after));
    let more =
        given.iter().any(|(choice, all)| !possible.get(choice).is_some_and(|known| all.is_subset(known)));
    Ok(more.then(|| {
        format!(
            "{}becomes\n{}with the copies\n{}",
            notation::print(graph),
            notation::print(&after),
            notation::print(&before)
        )
    }))
}

fn adds_no_behaviour(palette: Palette, steps: &[&str]) {
    let session = Session::new(RuleSources::shipped());
    let property = |sketch: Sketch| -> Result<(), TestCaseError> {
        let graph = parse(&sketch.notation());
        let more = adds(&session, &graph, steps).map_err(TestCaseError::fail)?;
        prop_assert!(more.is_none(), "{}", more.unwrap_or_default());
        Ok(())
    };
    if let Err(found) = runner(150 * generous(), 7).run(&sketches(palette), property) {
        panic!("{found}");
    }
}

/// The elimination of copies.
pub const ELIMINATION: &str = "tensor_move";

#[test]
fn taking_moves_out_adds_no_behaviour() {
    adds_no_behaviour(Palette { moves: true, ..Palette::default() }, &[ELIMINATION]);
    adds_no_behaviour(Palette { moves: true, copies: true, ..Palette::default() }, &[ELIMINATION]);
}

#[test]
fn taking_moves_out_of_calls_adds_no_behaviour() {
    let palette = Palette { moves: true, copies: true, calls: true, ..Palette::default() };
    adds_no_behaviour(palette, &[ELIMINATION]);
}

#[test]
fn taking_identities_out_adds_no_behaviour() {
    adds_no_behaviour(Palette { copies: true, ..Palette::default() }, &["identity"]);
}

#[test]
fn taking_identities_out_of_calls_adds_no_behaviour() {
    adds_no_behaviour(Palette { copies: true, calls: true, ..Palette::default() }, &["identity"]);
}

/// Taking one out by force does, so the property can fail.
#[test]
fn forced_it_adds_some() {
    let session = Session::new(RuleSources::shipped());
    let graph = parse(
        "v: Variable\nc: Identity(v)\nw: Assign(ref=v, value=v) ^c -> ref: float32[1]\nl: Relu(c) ^w\nno: NetOutput(l)",
    );
    assert!(adds(&session, &graph, &["identity_force"]).expect("no failure").is_some());
    assert!(adds(&session, &graph, &["identity"]).expect("no failure").is_none());
}
