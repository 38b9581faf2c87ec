//! The shipped passes keep values: after them, in whatever order the graph runs, every operator reads what it was meant to read, and
//! variables end as they were meant to.
//!
//! A small machine that knows no rule runs graphs in all topological orders: with the memory of the device, and as they are meant.
//! Left out are graphs that already mean nothing definite: unordered accesses to one tensor, one of them a declared write (the lint's
//! business), and declared writes to a tensor other than a variable that somebody still reads (readwrite 3.5 lets them pass). Not
//! sketched are broadcasts, whose write-back is an operator more.
//!
//! `ANCHORWATCH_SOUNDNESS=N` looks at N times as many sketches, from seeds of their own.

#[path = "memory/behaviours.rs"]
mod behaviours;
#[path = "memory/cells.rs"]
mod cells;
#[path = "memory/cycles.rs"]
mod cycles;
#[path = "memory/deletions.rs"]
mod deletions;
#[path = "memory/demands.rs"]
mod demands;
#[path = "memory/machine.rs"]
mod machine;
#[path = "memory/mutations.rs"]
mod mutations;
#[path = "memory/sketch.rs"]
mod sketch;
#[path = "memory/soundness.rs"]
mod soundness;

use std::cell::Cell;

use anchorwatch::engine::{RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use sketch::{Palette, Sketch, sketches};
use soundness::{
    ALL, Fault, LAYERS, faults, ge, generous, may_overwrite_silently, meaning, parse, run, runner, samples,
    told,
};

/// The limits of the specification that sketches run into. Told by `known_limits`.
fn is_excused(fault: Fault, before: &Snapshot, after: &Snapshot, steps: &[&str]) -> bool {
    // R15: the only user of a variable may overwrite it, if it does not say so (`hccl_memcpy` looks at those that do).
    let alone = fault == Fault::Kept && (may_overwrite_silently(before) || steps == LAYERS);
    // Readwrite 12.11: no copy is put behind a copy that must stay.
    let crowded = after.all_nodes(GraphId::ROOT).into_iter().any(|node| {
        let readers: Vec<_> = after.consumers(node.output(0)).collect();
        cells::flag(after, node, "_cannot_be_deleted")
            && readers.len() > 1
            && readers.iter().any(|&reader| cells::special(after, reader))
    });
    alone || crowded
}

fn keeps_values(palette: Palette, steps: &[&str]) {
    let session = Session::new(RuleSources::shipped());
    let (seen, definite, excused) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let property = |sketch: Sketch| -> Result<(), TestCaseError> {
        let text = sketch.notation();
        let graph = parse(&text);
        seen.set(seen.get() + 1);
        let Some(meant) = meaning(&graph) else { return Ok(()) };
        definite.set(definite.get() + 1);
        let after = run(&session, &graph, steps)
            .map_err(|failure| TestCaseError::fail(format!("{failure}\n{text}")))?;
        let mut faults = faults(&after, &meant);
        let all = faults.len();
        faults.retain(|(fault, _)| !is_excused(*fault, &graph, &after, steps));
        excused.set(excused.get() + usize::from(all > 0 && faults.is_empty()));
        prop_assert!(
            faults.is_empty(),
            "{:?} in\n{}which becomes\n{}",
            faults,
            text,
            notation::print(&after)
        );
        Ok(())
    };
    if let Err(found) = runner(200 * generous(), 0).run(&sketches(palette), property) {
        panic!("{found}");
    }
    let (seen, definite, excused) = (seen.get(), definite.get(), excused.get());
    assert!(definite * 2 > seen, "{definite} of {seen} mean something definite");
    assert!(excused * 8 < definite, "{excused} of {definite} are excused");
}

#[test]
fn the_two_layers_keep_values() {
    keeps_values(Palette::default(), LAYERS);
}

#[test]
fn the_two_layers_keep_constants() {
    keeps_values(Palette { constants: true, ..Palette::default() }, LAYERS);
}

#[test]
fn the_two_layers_keep_values_beside_copies_and_views() {
    keeps_values(Palette { copies: true, ..Palette::default() }, LAYERS);
}

#[test]
fn all_passes_keep_values() {
    keeps_values(Palette { copies: true, blocks: true, ..Palette::default() }, ALL);
}

#[test]
fn all_passes_keep_values_in_calls() {
    keeps_values(Palette { copies: true, blocks: true, calls: true, ..Palette::default() }, ALL);
}

/// What the properties cannot see if sketches are harmless: most must go wrong without copies, in each way.
#[test]
fn without_the_passes_many_sketches_go_wrong() {
    let samples = samples(300, Palette { copies: true, blocks: true, calls: true, ..Palette::default() });
    assert!(samples.len() > 150, "most sketches mean something definite: {}", samples.len());
    let all: Vec<Vec<(Fault, String)>> =
        samples.iter().map(|sample| faults(&sample.graph, &sample.meant)).collect();
    let with = |fault: Fault| all.iter().filter(|faults| faults.iter().any(|(f, _)| *f == fault)).count();
    let wrong = all.iter().filter(|faults| !faults.is_empty()).count();
    assert!(wrong * 2 > samples.len(), "{wrong} of {}", samples.len());
    for fault in [Fault::Rubbish, Fault::Constant, Fault::OtherValue, Fault::Kept] {
        assert!(with(fault) * 20 > samples.len(), "{fault:?}: {} of {}", with(fault), samples.len());
    }
}

/// Unordered accesses are left out of the properties, since the lint tells of them.
#[test]
fn sketches_whose_meaning_depends_on_the_order_are_told() {
    let session = Session::new(RuleSources::shipped());
    let mut seen = 0;
    for graph in soundness::graphs(300, Palette::default()) {
        let choice = machine::Choice::new();
        let meant = machine::Machine::new(&graph, cells::Semantics::Value, &choice).run();
        // The lint looks at one anchor at a time, so not at a tensor that was handed on in place.
        if meant.reads.values().any(|values| values.len() > 1) && !hands_on_and_writes_again(&graph) {
            assert!(told(&session, &graph), "{}", notation::print(&graph));
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}

/// Some result of a declared write has a reader, so that one tensor has two anchors.
fn hands_on_and_writes_again(graph: &Snapshot) -> bool {
    graph.list(GraphId::ROOT).any(|id| {
        cells::written_input(graph, id.output(0)).is_some() && graph.consumers(id.output(0)).next().is_some()
    })
}

/// What goes wrong in one graph under the shipped rules and as the reference compiler does it.
fn both(text: &str, steps: &[&str]) -> (Vec<Fault>, Vec<Fault>) {
    let graph = parse(text);
    let meant = meaning(&graph).expect("all is in order");
    let under = |session: &Session| {
        let after = run(session, &graph, steps).expect("no failure");
        let mut kinds: Vec<Fault> = faults(&after, &meant).into_iter().map(|(fault, _)| fault).collect();
        kinds.dedup();
        kinds
    };
    let mut session = Session::new(RuleSources::shipped());
    let sound = under(&session);
    ge(&mut session);
    (sound, under(&session))
}

/// Each deviation from the reference compiler cures what is wrong there.
#[test]
fn what_the_reference_lets_pass_is_cured() {
    let write = "-> ref: float32[1]";
    let mutable = "{ _input_mutable = true }";
    let copied = format!(
        "d: Data\nx: Relu(d)\nc: Identity(x)\nw: Assign(ref=c, value=d) {write}\nr: Relu(x) ^w\nno: NetOutput(r)"
    );
    let cases: [(&str, String, &[&str], Fault); 9] = [
        ("R18", format!("v: Variable\nw: Assign(ref=v, value=v) {write}\nuse: HcomAllReduce(v, w) {mutable}\nno: NetOutput(use)"), LAYERS, Fault::OtherValue),
        ("R19, a writer", copied, LAYERS, Fault::OtherValue),
        ("R19, a reader", "v: Variable\nc: Identity(v)\nz: Relu(c)\nw: ScatterUpdate(var=v, updates=z) -> var: float32[1]\nl: Add(c, w)\nno: NetOutput(l)".to_owned(), LAYERS, Fault::OtherValue),
        ("R20", format!("d: Data\nx: Relu(d)\nc: Reshape(x)\na: Sum(c) {mutable}\nr: Relu(x) ^a\nno: NetOutput(r)"), LAYERS, Fault::Rubbish),
        ("R21, the order", format!("d: Data\na: HcomAllReduce(d) {mutable}\nb: HcomAllReduce(d) {mutable}\nno: NetOutput(a, b)"), &["hccl_memcpy", "rw", "layout"], Fault::Rubbish),
        ("R21, a view", format!("d: Data\nx: Relu(d)\nc: Reshape(x)\na: HcomAllReduce(x) ^c {mutable}\nr: Relu(c) ^a\nno: NetOutput(r)"), &["hccl_memcpy", "rw", "layout"], Fault::Rubbish),
        ("R22", format!("d: Data\nw: While(d) {{\n subgraph cond {{\n  c: Data(_) {{ _parent_node_index = 0 }}\n  l: Less(c)\n  cn: NetOutput(l)\n }}\n subgraph body {{\n  b: Data(_) {{ _parent_node_index = 0 }}\n  r: Relu(b)\n  n: NetOutput(r) {{ in0._parent_node_index = 0 }}\n }}\n}}\na: Sum(w) {mutable}\nr2: Relu(w) ^a\nno: NetOutput(r2)"), LAYERS, Fault::Rubbish),
        ("R23", "d: Data\nw: While(d) {\n subgraph cond {\n  c: Data(_) { _parent_node_index = 0 }\n  l: Less(c)\n  cn: NetOutput(l)\n }\n subgraph body {\n  b: Data(_) { _parent_node_index = 0 }\n  k: Const\n  r: Relu(b)\n  n: NetOutput(k) { in0._parent_node_index = 0 }\n }\n}\nno: NetOutput(w)".to_owned(), ALL, Fault::OtherValue),
        ("R24", format!("v: Variable\nd: Data\np: PartitionedCall(v, d) {{\n subgraph called {{\n  x: Data(_) {{ _parent_node_index = 0 }}\n  y: Data(_) {{ _parent_node_index = 1 }}\n  w: Assign(ref=x, value=y) {write}\n  g: Join(x, y) ^w {{ _no_padding_continuous_input = true }}\n  n: NetOutput(g) {{ in0._parent_node_index = 0 }}\n }}\n}}\nno: NetOutput(p)"), ALL, Fault::Kept),
    ];
    for (key, text, steps, fault) in cases {
        let (sound, ge) = both(&text, steps);
        assert_eq!(sound, [], "{key}\n{text}");
        assert!(ge.contains(&fault), "{key}: the reference does nothing wrong: {ge:?}\n{text}");
    }
}

/// What the specification wants the passes to let pass. When one of these no longer holds, it need no longer be excused.
#[test]
fn known_limits() {
    let found = |text: &str, steps: &[&str]| both(text, steps).0.first().copied();
    let special = "{ in0._special_input_size = 1 }";
    // R15: the only user of a variable.
    assert_eq!(
        found(&format!("v: Variable\nd: Data\nf: Foo(v, d) {special}\nno: NetOutput(f)"), ALL),
        Some(Fault::Kept)
    );
    // Readwrite 12.11: a copy that must stay is no producer.
    let kept = format!(
        "d: Data\nc: Identity(d) {{ _cannot_be_deleted = true }}\nf: Foo(c, d) {special}\nr: Relu(c) ^f\nno: NetOutput(r)"
    );
    assert_eq!(found(&kept, LAYERS), Some(Fault::Rubbish));
    // R14: neither is an input of a subgraph; working memory has no pass of its own.
    let inner = format!(
        "d: Data\nx: Relu(d)\np: PartitionedCall(x) {{\n subgraph called {{\n  y: Data(_) {{ _parent_node_index = 0 }}\n  f: Foo(y) {special}\n  r: Relu(y) ^f\n  n: NetOutput(r) {{ in0._parent_node_index = 0 }}\n }}\n}}\nno: NetOutput(p)"
    );
    assert_eq!(found(&inner, ALL), Some(Fault::Rubbish));
}

/// The machine itself, by hand.
#[test]
fn the_machine_sees_who_reads_what() {
    let seen = |text: &str| {
        let graph = parse(text);
        meaning(&graph).map(|meant| faults(&graph, &meant))
    };
    let mutable = "{ _input_mutable = true }";
    let late = format!("d: Data\nx: Relu(d)\na: Sum(x) {mutable}\nr: Relu(x)ORDER\nno: NetOutput(r)\n");
    let places = |fault: Fault, places: &[&str]| {
        Some(places.iter().map(|place| (fault, (*place).to_owned())).collect::<Vec<_>>())
    };
    let fine = || places(Fault::Rubbish, &[]);
    // Later readers read rubbish, so what they compute is another value; earlier ones do not.
    let after = seen(&late.replace("ORDER", " ^a")).expect("definite");
    assert_eq!(after, [(Fault::Rubbish, "r:0".into()), (Fault::OtherValue, "no:0".into())]);
    let before = late.replace("ORDER", "").replace(&format!("(x) {mutable}"), &format!("(x) ^r {mutable}"));
    assert_eq!(seen(&before), fine());
    // One of two inputs is overwritten first; the variable stays rubbish.
    let twice = seen(&format!("v: Variable\na: Sum(v, v) {mutable}")).expect("definite");
    assert_eq!(twice, [(Fault::Rubbish, "a:1".into()), (Fault::Kept, "v".into())]);
    // A write to a variable is seen by those behind it; without an order nothing is definite.
    let write = "v: Variable\nw: Assign(ref=v, value=v) -> ref: float32[1]\n";
    assert_eq!(seen(&format!("{write}r: Relu(v) ^w")), fine());
    assert_eq!(seen(&format!("{write}r: Relu(v)")), None);
    // A result is looked at when all is over.
    let end = format!("d: Data\nx: Relu(d)\nno: NetOutput(x)\na: Sum(x) ^no {mutable}");
    assert_eq!(seen(&end), places(Fault::Rubbish, &["no:0"]));
    let constant = seen("c: Const\nd: Data\nw: Assign(ref=c, value=d) -> ref: float32[1]\n");
    assert_eq!(constant, places(Fault::Constant, &["a constant is written"]));
    // Both branches of a call give their results in one place: here in that of an input, which another operator still reads.
    let branches = "d: Data\nx: Relu(d)\nf: If(d, x) {
        subgraph yes {\n y: Data(_) { _parent_node_index = 1 }\n yn: NetOutput(y) { in0._parent_node_index = 0 }\n }
        subgraph otherwise {\n z: Data(_) { _parent_node_index = 1 }\n r: Relu(z)\n zn: NetOutput(r) { in0._parent_node_index = 0 }\n }
        }\nl: Relu(x) ^f\nno: NetOutput(f, l)";
    let found = seen(branches).expect("definite");
    assert_eq!(found.first(), Some(&(Fault::OtherValue, "l:0".into())), "{found:?}");
    // The second turn of a loop reads what the first has made of both values: two that change places need room.
    let swap = "d: Data\ne: Data\nw: While(d, e) {
        subgraph cond {\n c: Data(_) { _parent_node_index = 0 }\n l: Less(c)\n cn: NetOutput(l)\n }
        subgraph body {\n a: Data(_) { _parent_node_index = 0 }\n b: Data(_) { _parent_node_index = 1 }
        n: NetOutput(b, a) { in0._parent_node_index = 0, in1._parent_node_index = 1 }\n }
        }\nno: NetOutput(w:0, w:1)";
    assert!(!seen(swap).expect("definite").is_empty());
}
