//! What a graph means, what went wrong with it, and the passes.

use std::collections::BTreeMap;

use anchorwatch::engine::{Request, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot, Sym};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use crate::cells::{self, Semantics};
use crate::machine::{self, Behaviour, Choice, Machine, RUBBISH};
use crate::sketch::{Palette, sketches};

/// The read/write layer and the layout layer.
pub const LAYERS: &[&str] = &["rw", "layout"];

/// All passes that insert copies or take them out, in the order of readwrite 1.4.
pub const ALL: &[&str] = &[
    "inner_identity_add",
    "identity",
    "hccl_memcpy",
    "hccl_memcpy",
    "identity",
    "inner_identity_delete",
    "hccl_continuous",
    "subgraph",
    "rw",
    "layout",
];

/// What went wrong in some order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// An input reads what another operator left behind.
    Rubbish,
    /// Somebody writes a constant.
    Constant,
    /// An input reads another value than it was meant to.
    OtherValue,
    /// A variable ends with another value.
    Kept,
}

pub struct Sample {
    pub graph: Snapshot,
    pub meant: Vec<(Choice, Behaviour)>,
}

pub fn parse(text: &str) -> Snapshot {
    let (graph, errors) = notation::parse(text);
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    graph.expect("a graph")
}

/// What the graph is meant to do, if that is definite, for each way through its calls.
pub fn meaning(graph: &Snapshot) -> Option<Vec<(Choice, Behaviour)>> {
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

pub fn faults(graph: &Snapshot, meant: &[(Choice, Behaviour)]) -> Vec<(Fault, String)> {
    let mut faults: Vec<(Fault, String)> = Vec::new();
    for (choice, meant) in meant {
        let machine = Machine::new(graph, Semantics::Memory, choice);
        let done = machine.run();
        let places = |behaviour: &Behaviour| behaviour.reads.keys().cloned().collect::<Vec<_>>();
        assert_eq!(places(&done), places(meant), "only copies come and go");
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

/// Some operator works in its input, which only the read/write layer looks after.
pub fn may_overwrite_silently(graph: &Snapshot) -> bool {
    graph.all_nodes(GraphId::ROOT).into_iter().any(|node| {
        cells::is(graph, node, &cells::LOOPS)
            || cells::inputs(graph, node).iter().any(|&i| cells::special(graph, i))
    })
}

/// The graph after these steps, or the first failure.
pub fn run(session: &Session, graph: &Snapshot, steps: &[&str]) -> Result<Snapshot, String> {
    let steps = steps.iter().map(|step| Sym::new(step)).collect();
    let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
    let outcome = session.run(graph, &request).map_err(|error| error.to_string())?;
    let failed = outcome.failures().next().map(|failure| format!("{}: {}", failure.pass, failure.message));
    failed.map_or(Ok(outcome.after), Err)
}

/// From now on as the reference compiler does it.
pub fn ge(session: &mut Session) {
    let complaints =
        session.set_options(BTreeMap::from([("compat".to_owned(), "ge".to_owned())]), BTreeMap::new());
    assert!(complaints.is_empty());
}

/// The lint finds accesses without an order.
pub fn told(session: &Session, graph: &Snapshot) -> bool {
    let steps = vec![Sym::new("unordered_accesses")];
    let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
    session.run(graph, &request).expect("the rules have no errors").findings().next().is_some()
}

/// How many times more than usual is looked at.
pub fn generous() -> u32 {
    std::env::var("ANCHORWATCH_SOUNDNESS").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// The same numbers every time; another seed when more is looked at.
pub fn runner(cases: u32, seed: u8) -> TestRunner {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let seed = seed.wrapping_add((generous() - 1) as u8);
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
}

/// The same texts every time.
fn texts(count: usize, palette: Palette) -> Vec<String> {
    let mut runner = TestRunner::new_with_rng(
        ProptestConfig::default(),
        TestRng::from_seed(RngAlgorithm::ChaCha, &[100; 32]),
    );
    let sketches = sketches(palette);
    (0..count).map(|_| sketches.new_tree(&mut runner).expect("a sketch").current().notation()).collect()
}

pub fn graphs(count: usize, palette: Palette) -> Vec<Snapshot> {
    texts(count, palette).iter().map(|text| parse(text)).collect()
}

/// Those whose meaning is definite, with it.
pub fn samples(count: usize, palette: Palette) -> Vec<Sample> {
    let texts = texts(count, palette).into_iter();
    texts
        .filter_map(|text| {
            let graph = parse(&text);
            let meant = meaning(&graph)?;
            Some(Sample { graph, meant })
        })
        .collect()
}
