//! The shipped passes keep values: after them, in whatever order the graph runs, every operator reads what it was meant to read.
//!
//! A small machine that knows no rule runs graphs in all topological orders: with the memory of the device, and as they are meant.
//! Left out are graphs that already mean nothing definite: unordered accesses to one tensor, one of them a declared write (the lint's
//! business), and declared writes to a tensor other than a variable or an input that somebody still reads (readwrite 3.5 lets
//! them pass).

#[path = "memory/cells.rs"]
mod cells;
#[path = "memory/machine.rs"]
mod machine;
#[path = "memory/sketch.rs"]
mod sketch;

use std::cell::Cell;

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot, Sym};
use cells::Semantics;
use machine::{Behaviour, Choice, Machine, RUBBISH};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use sketch::{Palette, Sketch, sketches};

/// What went wrong in some order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// An input reads what another operator left behind.
    Rubbish,
    /// Somebody writes a constant.
    Constant,
    /// An input reads another value than it was meant to.
    OtherValue,
    /// A variable ends with another value.
    Kept,
}

fn parse(text: &str) -> Snapshot {
    let (graph, errors) = notation::parse(text);
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    graph.expect("a graph")
}

/// What the graph is meant to do, if that is definite, for each way through its calls.
fn meaning(graph: &Snapshot) -> Option<Vec<(Choice, Behaviour)>> {
    let ways = machine::choices(graph).into_iter().map(|choice| {
        let machine = Machine::new(graph, Semantics::Value, &choice);
        let meant = machine.run();
        let handed = Machine::new(graph, Semantics::Handed, &choice).run();
        let definite = meant.reads.values().chain(meant.kept.values()).all(|values| values.len() == 1);
        let same = meant.reads == handed.reads && meant.kept == handed.kept;
        let own = machine.reads_what_is_meant(&meant);
        (definite && same && own).then_some((choice, meant))
    });
    ways.collect()
}

fn faults(graph: &Snapshot, meant: &[(Choice, Behaviour)]) -> Vec<(Fault, String)> {
    let mut faults: Vec<(Fault, String)> = Vec::new();
    for (choice, meant) in meant {
        let machine = Machine::new(graph, Semantics::Memory, choice);
        let done = machine.run();
        assert_eq!(done.reads.keys().collect::<Vec<_>>(), meant.reads.keys().collect::<Vec<_>>(), "only copies come and go");
        if machine.writes_constant() {
            faults.push((Fault::Constant, "a constant is written".to_owned()));
        }
        for (place, values) in &done.reads {
            if *values != meant.reads[place] {
                let fault = if values.contains(&RUBBISH) { Fault::Rubbish } else { Fault::OtherValue };
                faults.push((fault, format!("{}:{}", place.0, place.1)));
            }
        }
        let kept = done.kept.iter().filter(|(variable, values)| **values != meant.kept[*variable]);
        faults.extend(kept.map(|(variable, _)| (Fault::Kept, variable.clone())));
    }
    faults.sort();
    faults.dedup();
    faults
}

/// The graph after these steps. Nothing may fail.
fn run(session: &Session, graph: &Snapshot, steps: &[&str]) -> Snapshot {
    let steps = steps.iter().map(|step| Sym::new(step)).collect();
    let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
    let outcome = session.run(graph, &request).expect("the rules have no errors");
    assert_eq!(outcome.failures().count(), 0, "{:?}", outcome.failures().next());
    outcome.after
}

fn runner(cases: u32) -> TestRunner {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

const LAYERS: &[&str] = &["rw", "layout"];
const ALL: &[&str] = &["inner_identity_add", "identity", "hccl_memcpy", "identity", "inner_identity_delete", "hccl_continuous", "subgraph", "rw", "layout"];

fn shipped() -> RuleSources {
    let Ok(dir) = std::env::var("RULES") else { return RuleSources::shipped() };
    let mut files = Vec::new();
    for f in std::fs::read_dir(dir).unwrap() {
        let p = f.unwrap().path();
        files.push((format!("rules/{}", p.file_name().unwrap().to_str().unwrap()), std::fs::read_to_string(&p).unwrap(), false));
    }
    files.sort();
    RuleSources { files }
}

/// A copy that no pass looks at (readwrite 12.11) has several readers, one of which works in it.
fn crowded_copy(graph: &Snapshot) -> bool {
    graph.all_nodes(GraphId::ROOT).into_iter().any(|node| {
        let readers: Vec<_> = graph.consumers(node.output(0)).collect();
        cells::flag(graph, node, "_cannot_be_deleted")
            && readers.len() > 1
            && readers.iter().any(|&reader| cells::spoils(graph, reader))
    })
}

fn hunt(palette: Palette, steps: &[&str]) {
    let session = Session::new(shipped());
    let cases = std::env::var("CASES").map_or(300, |c| c.parse().unwrap());
    let definite = Cell::new(0);
    let seed: u8 = std::env::var("SEED").map_or(0, |c| c.parse().unwrap());
    let wrong = Cell::new(0);
    let property = |sketch: Sketch| {
        let text = sketch.notation();
        let graph = parse(&text);
        let Some(meant) = meaning(&graph) else { return Ok(()) };
        definite.set(definite.get() + 1);
        if !faults(&graph, &meant).is_empty() {
            wrong.set(wrong.get() + 1);
        }
        let after = run(&session, &graph, steps);
        let mut faults = faults(&after, &meant);
        if crowded_copy(&after) { return Ok(()); }
        if steps == LAYERS || text.contains("_special") || text.contains("While") { faults.retain(|f| f.0 != Fault::Kept); }
        prop_assert!(faults.is_empty(), "{:?} in\n{}which becomes\n{}", faults, text, notation::print(&after));
        Ok(())
    };
    let config = ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]));
    let found = runner.run(&sketches(palette), property);
    println!("{} of {cases} definite, {} wrong before", definite.get(), wrong.get());
    if let Err(found) = found {
        panic!("{found}");
    }
}

#[test]
fn flat() {
    hunt(Palette::default(), LAYERS);
}
#[test]
fn copies() {
    hunt(Palette { copies: true, ..Palette::default() }, LAYERS);
}
#[test]
fn copies_all() {
    hunt(Palette { copies: true, blocks: true, ..Palette::default() }, ALL);
}
#[test]
fn calls_all() {
    hunt(Palette { copies: true, blocks: true, calls: true, ..Palette::default() }, ALL);
}
