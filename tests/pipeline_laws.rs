//! What the whole pipeline must keep, on generated graphs with subgraphs, collective communication, variables and control
//! edges: every result is acyclic, every reader reads what it read before, if through other copies, every order between
//! nodes stays, and a second run finds nothing left to do.

use anchorwatch::engine::outcome::{EditEntryKind, Outcome};
use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::{LoadContext, load, notation};
use anchorwatch::graph::{GraphId, NodeId, Output, Snapshot, Sym};
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

/// Some node reads one value at two inputs and may overwrite both: see
/// [`a_second_run_of_the_read_write_layer_copies_the_last_in_place_input_too`].
fn overwrites_twice(graph: &Snapshot) -> bool {
    graph.nodes_by_id().any(|(id, node)| {
        let values = (0..node.inputs.len() as u32).filter_map(|index| graph.producer(id.input(index)));
        let mut values: Vec<Output> = values.map(|from| value(graph, from)).collect();
        let count = values.len();
        values.sort_unstable_by_key(|output| (output.node, output.index));
        values.dedup();
        values.len() < count && (!node.subgraphs.is_empty() || node.ty.as_str() == "HcomAllReduce")
    })
}

/// Runs the pipeline twice; what is wrong, and how many nodes the first run inserted.
fn laws(session: &Session, before: &Snapshot) -> Result<usize, String> {
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
    let second = run(session, after, &AGAIN);
    let told = |what: &str| {
        let edits: Vec<String> = second.edits().map(|edit| format!("{edit:?}")).collect();
        Err(format!("{what}\nfirst: {}\nedits: {}", notation::print(after), edits.join("\n")))
    };
    let inserted = |graph: &Snapshot| graph.nodes_by_id().filter(|(id, _)| !before.contains(*id)).count();
    // It may still take a copy out: one that hid a write stands until all that read it have copies of their own.
    let inserts = second.edits().any(|edit| matches!(edit.kind, EditEntryKind::Insert { .. }));
    if inserts && !overwrites_twice(before) {
        return told("a second run inserts something");
    }
    Ok(inserted(after))
}

/// What has nothing left to do after a run. The passes before the layers of conflicts have: each looks at a graph that the later
/// ones, and the layers, have not changed yet. [`a_second_run_of_the_passes_before_the_layers_may_change_something`] shows how.
const AGAIN: [&str; 3] = ["before_build", "memory_conflicts", "finally"];

fn sketch_laws(session: &Session, sketch: &Body) -> Result<usize, String> {
    let graph = parse(&sketch.notation());
    laws(session, &graph)
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn the_pipeline_keeps_the_laws() {
    let cases = std::env::var("PIPELINE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut runner = runner(cases);
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

/// Passes that insert nothing more into what they have just made. `hccl_memcpy` asks which reader comes first; so that a copy does not
/// turn the order around (readwrite 1.2: depth first, a re-targeted edge is the last), the sort keeps what it can. `subgraph` sets bodies of loops apart each time (readwrite 6).
const AT_ONCE: [&str; 7] =
    ["identity", "hccl_memcpy", "inner_identity_delete", "hccl_continuous", "subgraph", "rw", "layout"];

#[test]
fn a_pass_inserts_nothing_into_its_own_result() {
    let mut session = Session::new(RuleSources::shipped());
    let stable = [("ge.topoSortingMode".to_owned(), "3".to_owned())];
    assert_eq!(session.set_options(stable.into(), [].into()), []);
    let mut runner = runner(150);
    let outcome = runner.run(&sketches(), |sketch| {
        let graph = parse(&sketch.notation());
        let is_stable = |pass: &&str| match *pass {
            "subgraph" => !sketch.has_loop(),
            "rw" => !overwrites_twice(&graph),
            _ => true,
        };
        for pass in AT_ONCE.into_iter().filter(is_stable) {
            let first = run(&session, &graph, &[pass]);
            let again = run(&session, &first.after, &[pass]);
            let inserts = again.edits().filter(|edit| matches!(edit.kind, EditEntryKind::Insert { .. }));
            let inserts: Vec<String> = inserts.map(|edit| format!("{edit:?}")).collect();
            if !inserts.is_empty() {
                let told = format!("{pass}: {}\n{}", inserts.join("\n"), sketch.notation());
                return Err(TestCaseError::fail(told));
            }
            let broken = broken(&graph, &first.after);
            if !broken.is_empty() {
                return Err(TestCaseError::fail(format!(
                    "{pass}: {}\n{}",
                    broken.join("\n"),
                    sketch.notation()
                )));
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// What a second run of the whole pipeline changes on these graphs: (pass, operator, whether it is inserted).
fn second_run(text: &str) -> Vec<(String, String, bool)> {
    let session = Session::new(RuleSources::shipped());
    let first = run(&session, &parse(text), &[]);
    let second = run(&session, &first.after, &[]);
    let nodes = second.edits().filter_map(|edit| match &edit.kind {
        EditEntryKind::Insert { op, .. } => Some((edit.pass, op, true)),
        EditEntryKind::Delete { op, .. } => Some((edit.pass, op, false)),
        _ => None,
    });
    nodes.map(|(pass, op, is_in)| (pass.to_string(), op.to_string(), is_in)).collect()
}

/// Of several in-place inputs of one node on one anchor the last needs no copy (readwrite 3.7); once the others have theirs, the
/// anchor has other readers, and the rule no longer says so.
#[test]
fn a_second_run_of_the_read_write_layer_copies_the_last_in_place_input_too() {
    let text = "r: Relu\nh: HcomAllReduce(r, r) { _input_mutable = true } -> float32[1], float32[1]\nno: NetOutput(h)\n";
    let session = Session::new(RuleSources::shipped());
    let first = run(&session, &parse(text), &["rw"]);
    let second = run(&session, &first.after, &["rw"]);
    let third = run(&session, &second.after, &["rw"]);
    let inserted = |outcome: &Outcome| outcome.after.node_count() - outcome.before.node_count();
    assert_eq!((inserted(&first), inserted(&second), inserted(&third)), (1, 1, 0));
}

/// Each follows from the order of the specification, in which every pass runs on what is there at its time.
#[test]
fn a_second_run_of_the_passes_before_the_layers_may_change_something() {
    let told = |pass: &str, op: &str, is_in| (pass.to_owned(), op.to_owned(), is_in);

    // The identity was kept as the neighbour of the call's boundary (readwrite 7); now another copy is.
    let boundary = "d: Data(_)\ni: IdentityN(d)\nr: Relu(d)\nc: While(i, r) {\n\
        subgraph cond {\nx: Data(_) { _parent_node_index = 0 }\ny: Data(_) { _parent_node_index = 1 }\n\
        o: NetOutput(x) { in0._parent_node_index = 0 }\n}\n\
        subgraph body {\nx: Data(_) { _parent_node_index = 0 }\ny: Data(_) { _parent_node_index = 1 }\n\
        o: NetOutput(x, y) { in0._parent_node_index = 0, in1._parent_node_index = 1 }\n}\n\
        } -> float32[1], float32[1]\nt: Tanh(i)\nno: NetOutput(c, t)\n";
    assert_eq!(second_run(boundary), [told("identity", "IdentityN", false)]);
}
