//! What the whole pipeline must keep, on generated graphs with subgraphs, collective communication, variables and control
//! edges: every result is acyclic, every reader reads what it read before, if through other copies, every order between
//! nodes stays, and a second run finds nothing left to do.

use anchorwatch::engine::outcome::Outcome;
use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::{LoadContext, load, notation};
use anchorwatch::graph::{Compared, GraphId, NodeId, Output, Snapshot, Sym, equal_up_to_inserted};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

#[path = "support/laws.rs"]
mod laws;
#[path = "pipeline_laws/sketch.rs"]
mod sketch;

use laws::{behind, left_after_sorting};
use sketch::{Body, sketches};

fn parse(text: &str) -> Snapshot {
    let loaded = load(text.as_bytes(), "sketch.graph", &LoadContext::default());
    loaded.unwrap_or_else(|error| panic!("{error:?}\n{text}")).snapshot
}

fn run(session: &Session, graph: &Snapshot, steps: &[&str]) -> Outcome {
    let steps = steps.iter().map(|step| Sym::new(step)).collect();
    let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
    session.run(graph, &request).expect("sound rules")
}

/// Nodes that hand on what they read, so that passes may put them in and take them out.
fn is_copy(graph: &Snapshot, node: NodeId) -> bool {
    ["Identity", "IdentityN", "ReadVariableOp"].contains(&graph.node(node).ty.as_str())
}

/// What is read once copies are looked through: output `i` of a copy holds input `i`.
fn value(graph: &Snapshot, mut from: Output) -> Output {
    for _ in 0..=graph.node_count() {
        match graph.producer(from.node.input(from.index)).filter(|_| is_copy(graph, from.node)) {
            Some(next) => from = next,
            None => break,
        }
    }
    from
}

/// What of the laws does not hold between a graph and what became of it.
fn broken(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut told: Vec<String> =
        left_after_sorting(after).iter().map(|name| format!("{name} is on or behind a cycle")).collect();
    for (id, node) in before.nodes_by_id().filter(|(id, _)| !is_copy(before, *id)) {
        if !after.contains(id) {
            told.push(format!("{} is gone", node.name));
            continue;
        }
        for input in (0..node.inputs.len() as u32).map(|index| id.input(index)) {
            let was = before.producer(input).map(|from| value(before, from));
            let is = after.producer(input).map(|from| value(after, from));
            if was != is {
                told.push(format!("input {} of {} reads {is:?} instead of {was:?}", input.index, node.name));
            }
        }
        let now = behind(after, id);
        for later in behind(before, id).into_iter().filter(|later| !is_copy(before, *later)) {
            if !now.contains(&later) {
                told.push(format!("{} no longer runs before {}", node.name, before.node(later).name));
            }
        }
    }
    told
}

/// Runs the pipeline twice; what is wrong, and how many nodes the first run inserted.
fn laws(session: &Session, before: &Snapshot, again: &[&str]) -> Result<usize, String> {
    assert_eq!(left_after_sorting(before), Vec::<String>::new(), "sketches are acyclic");
    let first = run(session, before, &[]);
    let failures: Vec<String> =
        first.failures().map(|f| format!("{} failed: {}", f.pass, f.message)).collect();
    if !failures.is_empty() {
        return Err(failures.join("\n"));
    }
    let after = &first.after;
    let told = broken(before, after);
    if !told.is_empty() {
        return Err(format!("{}\n{}", told.join("\n"), notation::print(after)));
    }
    let second = run(session, after, again);
    let told = |what: &str| {
        let edits: Vec<String> = second.edits().map(|edit| format!("{edit:?}")).collect();
        Err(format!("{what}\nfirst: {}\nedits: {}", notation::print(after), edits.join("\n")))
    };
    let broken = broken(before, &second.after);
    if !broken.is_empty() {
        return told(&broken.join("\n"));
    }
    let inserted = |graph: &Snapshot| graph.nodes_by_id().filter(|(id, _)| !before.contains(*id)).count();
    // A copy at a boundary may be taken out as soon as another stands between (readwrite 7 keeps it there, 6 puts the other).
    let kept = |graph: &Snapshot| before.nodes_by_id().filter(|(id, _)| graph.contains(*id)).count();
    if kept(&second.after) == kept(after) {
        if let Err(differences) = equal_up_to_inserted(before, after, &second.after, &Compared::all_but([])) {
            return told(&format!("a second run changes\n{}", differences.join("\n")));
        }
    } else if inserted(&second.after) > inserted(after) {
        return told("a second run inserts");
    }
    Ok(inserted(after))
}

/// What has nothing left to do after a run. The inner identities are left out: they are made for the graph that was handed in, and
/// whether a writer works on a variable is seen no longer when a copy stands before the call (readwrite 8.1, [`known_limits`]).
const AGAIN: [&str; 6] =
    ["stage_1_3", "hccl_continuous", "subgraph", "before_build", "memory_conflicts", "finally"];
/// Bodies of loops are set apart each time (readwrite 6).
const AGAIN_WITH_LOOPS: [&str; 5] =
    ["stage_1_3", "hccl_continuous", "before_build", "memory_conflicts", "finally"];

fn sketch_laws(session: &Session, sketch: &Body) -> Result<usize, String> {
    let graph = parse(&sketch.notation());
    laws(session, &graph, if sketch.has_loop() { &AGAIN_WITH_LOOPS } else { &AGAIN })
}

#[test]
fn the_pipeline_keeps_the_laws() {
    let cases = std::env::var("PIPELINE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let session = Session::new(RuleSources::shipped());
    let inserted = std::cell::Cell::new(0);
    let outcome = runner.run(&sketches(), |sketch| {
        let count = sketch_laws(&session, &sketch);
        let count = count.map_err(|told| TestCaseError::fail(format!("{told}\n\n{}", sketch.notation())))?;
        inserted.set(inserted.get() + count);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    assert!(inserted.get() > 100, "only {} nodes were inserted", inserted.get());
}
