//! The shipped layers keep values: after `rw` and `layout`, in whatever order the graph runs, every operator reads what it was
//! meant to read.
//!
//! A small machine that knows no rule runs graphs in all topological orders: with the memory of the device, and as they are meant.
//! Left out are graphs that already mean nothing definite: unordered accesses to one tensor, one of them a declared write (the lint's
//! business), and declared writes to a tensor other than a variable or an input that somebody still reads (readwrite 3.5 lets
//! them pass).

#[path = "memory/machine.rs"]
mod machine;
#[path = "memory/sketch.rs"]
mod sketch;

use std::cell::Cell;

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot, Sym};
use anchorwatch::lang::Level;
use machine::{Behaviour, Machine, RUBBISH, Semantics};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// How many sketches the property looks at.
const CASES: u32 = 1500;

/// What went wrong in some order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// An input reads what another operator left behind.
    Rubbish,
    /// Somebody writes a constant.
    Constant,
    /// An input reads another value than it was meant to.
    OtherValue,
}

fn parse(text: &str) -> Snapshot {
    let (graph, errors) = notation::parse(text);
    assert!(errors.is_empty(), "{text}\n{errors:?}");
    graph.expect("a graph")
}

/// What the graph is meant to do, if that is definite.
fn meaning(graph: &Snapshot) -> Option<Behaviour> {
    let meant = Machine::new(graph, Semantics::Value).run();
    let definite = meant.reads.values().all(|values| values.len() == 1);
    let own = graph.list(GraphId::ROOT).all(|id| {
        let node = graph.node(id);
        (0..node.inputs.len() as u32).all(|index| {
            let producer = graph.producer(id.input(index)).expect("inputs are connected");
            // Sources have no result: they are read as they are at the time. What copies read is not recorded.
            let written = meant.results.get(&*graph.node(producer.node).name);
            let read = meant.reads.get(&(node.name.to_string(), index));
            written.is_none_or(|written| read.is_none_or(|read| read == written))
        })
    });
    (definite && own).then_some(meant)
}

fn faults(graph: &Snapshot, meant: &Behaviour) -> Vec<(Fault, String)> {
    let machine = Machine::new(graph, Semantics::Memory);
    let done = machine.run();
    assert_eq!(
        done.reads.keys().collect::<Vec<_>>(),
        meant.reads.keys().collect::<Vec<_>>(),
        "only copies come and go"
    );
    let mut faults: Vec<(Fault, String)> = Vec::new();
    if machine.writes_constant() {
        faults.push((Fault::Constant, "a constant is written".to_owned()));
    }
    for (place, values) in &done.reads {
        if *values != meant.reads[place] {
            let fault = if values.contains(&RUBBISH) { Fault::Rubbish } else { Fault::OtherValue };
            faults.push((fault, format!("{}:{}", place.0, place.1)));
        }
    }
    faults.sort();
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

fn lint_complains(session: &Session, graph: &Snapshot) -> bool {
    let steps = vec![Sym::new("unordered_accesses")];
    let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
    session.run(graph, &request).expect("the rules have no errors").findings().next().is_some()
}

fn runner(cases: u32) -> TestRunner {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// The same graphs every time: those whose meaning is definite, with it.
fn samples(count: usize) -> Vec<(String, Snapshot, Behaviour)> {
    let mut runner = runner(0);
    let sketches = sketch::sketches();
    let texts = (0..count).map(|_| sketches.new_tree(&mut runner).expect("a sketch").current().notation());
    texts
        .filter_map(|text| {
            let graph = parse(&text);
            let meant = meaning(&graph)?;
            Some((text, graph, meant))
        })
        .collect()
}

/// All samples that the passes under these rules leave faulty.
fn faulty(rules: RuleSources, samples: &[(String, Snapshot, Behaviour)], fault: Fault) -> usize {
    let session = Session::new(rules);
    let errors: Vec<String> = session
        .diagnostics()
        .iter()
        .filter(|d| d.diagnostic.level == Level::Error)
        .map(|d| d.diagnostic.message.clone())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    let faults_after =
        samples.iter().map(|(_, graph, meant)| faults(&run(&session, graph, &["rw", "layout"]), meant));
    faults_after.filter(|faults| faults.iter().any(|(found, _)| *found == fault)).count()
}

#[test]
fn no_order_reads_an_overwritten_value() {
    let session = Session::new(RuleSources::shipped());
    let (definite, excused) = (Cell::new(0), Cell::new(0));
    let property = |sketch: sketch::Sketch| {
        let text = sketch.notation();
        let graph = parse(&text);
        let Some(meant) = meaning(&graph) else { return Ok(()) };
        definite.set(definite.get() + 1);
        let after = run(&session, &graph, &["rw", "layout"]);
        let faults = faults(&after, &meant);
        // A copy of a variable can lose its place behind a write; see `a_copy_that_loses_its_place_is_told`.
        let misplaced = !faults.is_empty() && faults.iter().all(|(fault, _)| *fault == Fault::OtherValue);
        if misplaced && lint_complains(&session, &after) {
            excused.set(excused.get() + 1);
        } else {
            prop_assert!(
                faults.is_empty(),
                "{:?} in\n{}which becomes\n{}",
                faults,
                text,
                notation::print(&after)
            );
        }
        Ok(())
    };
    if let Err(found) = runner(CASES).run(&sketch::sketches(), property) {
        panic!("{found}");
    }
    assert!(definite.get() * 2 > CASES, "{} of {CASES} mean something definite", definite.get());
    assert!(excused.get() * 40 < definite.get(), "{} of {} are excused", excused.get(), definite.get());
}

/// What the property cannot see if sketches are harmless: most must go wrong without copies, in each way.
#[test]
fn without_the_layers_many_sketches_go_wrong() {
    let samples = samples(400);
    assert!(samples.len() > 200, "most sketches mean something definite: {}", samples.len());
    let all: Vec<Vec<(Fault, String)>> =
        samples.iter().map(|(_, graph, meant)| faults(graph, meant)).collect();
    let with = |fault: Fault| all.iter().filter(|faults| faults.iter().any(|(f, _)| *f == fault)).count();
    let wrong = all.iter().filter(|faults| !faults.is_empty()).count();
    assert!(wrong * 2 > samples.len(), "{wrong} of {}", samples.len());
    for fault in [Fault::Rubbish, Fault::Constant] {
        assert!(with(fault) * 10 > samples.len(), "{fault:?}: {} of {}", with(fault), samples.len());
    }
}

/// `rw_conflict` with one copy less each; and the exemption from copies without its condition.
#[test]
fn rules_that_protect_less_are_caught() {
    let samples = samples(400);
    let cells = [
        ("ReadOnlyConst", 1, Fault::Constant),
        ("ReadOnlyConst", 2, Fault::Constant),
        ("ReadOnly", 2, Fault::Rubbish),
        ("Writeable", 2, Fault::Rubbish),
    ];
    for (output, column, fault) in cells {
        let caught = faulty(overlaid(&matrix_without(output, column)), &samples, fault);
        assert!(caught > 0, "no copy for column {column} of `{output}`");
    }
    let exempt = "override fn sole_path(_o: Output) -> Bool = true\n";
    assert!(faulty(overlaid(exempt), &samples, Fault::Rubbish) > 0, "sole path");
    // The twin: the same samples under the rules as they are.
    assert_eq!(faulty(RuleSources::shipped(), &samples, Fault::Rubbish), 0);
    assert_eq!(faulty(RuleSources::shipped(), &samples, Fault::Constant), 0);
}

fn overlaid(overlay: &str) -> RuleSources {
    let mut rules = RuleSources::shipped();
    rules.files.push(("less.anchor".to_owned(), overlay.to_owned(), true));
    rules
}

/// The shipped matrix, with `DoNothing` in one cell that wanted a copy.
fn matrix_without(output: &str, column: usize) -> String {
    let rules = RuleSources::shipped();
    let text = &rules.files.iter().find(|(path, ..)| path == "rules/readwrite.anchor").expect("the file").1;
    let start = text.find("matrix rw_conflict").expect("the matrix");
    let matrix = text[start..].split("\n\n").next().expect("a paragraph");
    let mut changed = false;
    let lines = matrix.lines().map(|line| {
        let mut cells: Vec<String> = line.split('|').map(str::to_owned).collect();
        if cells[0].trim() == output && cells.len() > column + 1 {
            changed = cells[column + 1].trim() == "InsertIdentity";
            cells[column + 1] = " DoNothing ".to_owned();
        }
        cells.join("|") + "\n"
    });
    let matrix: String = lines.collect();
    assert!(changed, "{matrix}");
    format!("override {matrix}")
}

/// Unordered accesses are left out of the property, since the lint tells of them.
#[test]
fn sketches_whose_meaning_depends_on_the_order_are_told() {
    let session = Session::new(RuleSources::shipped());
    let mut runner = runner(0);
    let sketches = sketch::sketches();
    let mut told = 0;
    for _ in 0..400 {
        let text = sketches.new_tree(&mut runner).expect("a sketch").current().notation();
        let graph = parse(&text);
        let meant = Machine::new(&graph, Semantics::Value).run();
        // The lint looks at one anchor at a time, so not at a tensor that was handed on in place.
        if meant.reads.values().any(|values| values.len() > 1) && !hands_on_and_writes_again(&graph) {
            assert!(lint_complains(&session, &graph), "{text}");
            told += 1;
        }
    }
    assert!(told > 20, "{told}");
}

/// Some result of a declared write has a reader, so that one tensor has two anchors.
fn hands_on_and_writes_again(graph: &Snapshot) -> bool {
    graph.list(GraphId::ROOT).any(|id| {
        let node = graph.node(id);
        let names = |name| node.inputs.iter().any(|port| port.name == name);
        let declared =
            node.outputs.get(0).is_some_and(|port| !port.name.as_str().is_empty() && names(port.name));
        declared && graph.consumers(id.output(0)).next().is_some()
    })
}

/// A copy takes over the control edges into its reader, but not the order that the reader's other inputs gave (readwrite 1.3). Here
/// the copy may be taken before or after the write, which `use` came after. The lint after the layers tells.
#[test]
fn a_copy_that_loses_its_place_is_told() {
    let session = Session::new(RuleSources::shipped());
    let graph = parse(
        "v: Variable
         w: Assign(ref=v, value=v) -> ref: float32[1]
         use: HcomAllReduce(v, w) { _input_mutable = true }
         no: NetOutput(use)",
    );
    let meant = meaning(&graph).expect("all is in order");
    assert!(!lint_complains(&session, &graph));
    let after = run(&session, &graph, &["rw", "layout"]);
    let found: Vec<Fault> = faults(&after, &meant).into_iter().map(|(fault, _)| fault).collect();
    assert!(!found.is_empty() && found.iter().all(|fault| *fault == Fault::OtherValue), "{found:?}");
    assert!(lint_complains(&session, &after));
}

/// What the layers are known to let pass, and the sketches therefore have not. When one of these no longer holds, sketches may
/// have such operators.
#[test]
fn known_limits() {
    let session = Session::new(RuleSources::shipped());
    let found = |text: &str| {
        let graph = parse(text);
        let meant = meaning(&graph).expect("all is in order");
        assert!(!lint_complains(&session, &graph), "{text}");
        faults(&run(&session, &graph, &["rw", "layout"]), &meant).first().cloned()
    };
    // A declared write needs no copy (readwrite 3.5), so one that stands there is taken out (3.7, remove 6).
    let copy =
        "d: Data\nx: Relu(d)\nc: Identity(x)\nw: Assign(ref=c, value=d) -> ref: float32[1]\nr: Relu(x)";
    assert_eq!(found(&format!("{copy} ^w\nno: NetOutput(r)\n")), Some((Fault::OtherValue, "no:0".into())));
    // A reshape hands its input on in place, but counts as a value that nobody else reads (3.3, rule 9).
    let reshape = "d: Data\nx: Relu(d)\nc: Reshape(x)\na: Sum(c) { _input_mutable = true }\nr: Relu(x)";
    assert_eq!(found(&format!("{reshape} ^a\nno: NetOutput(r)\n")), Some((Fault::Rubbish, "r:0".into())));
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
    let rubbish = |places: &[&str]| {
        Some(places.iter().map(|place| (Fault::Rubbish, (*place).to_owned())).collect::<Vec<_>>())
    };
    // Later readers read rubbish, so what they compute is another value; earlier ones do not.
    let after = seen(&late.replace("ORDER", " ^a")).expect("definite");
    assert_eq!(after, [(Fault::Rubbish, "r:0".into()), (Fault::OtherValue, "no:0".into())]);
    let before = late.replace("ORDER", "").replace(&format!("(x) {mutable}"), &format!("(x) ^r {mutable}"));
    assert_eq!(seen(&before), rubbish(&[]));
    // One of two inputs is overwritten first.
    assert_eq!(seen(&format!("v: Variable\na: Sum(v, v) {mutable}")), rubbish(&["a:1"]));
    // A write to a variable is seen by those behind it; without an order nothing is definite.
    let write = "v: Variable\nw: Assign(ref=v, value=v) -> ref: float32[1]\n";
    assert_eq!(seen(&format!("{write}r: Relu(v) ^w")), rubbish(&[]));
    assert_eq!(seen(&format!("{write}r: Relu(v)")), None);
    // A result is looked at when all is over.
    assert_eq!(
        seen(&format!("v: Variable\nx: Relu(v)\nno: NetOutput(x)\na: Sum(x) ^no {mutable}")),
        rubbish(&["no:0"])
    );
    let constant = seen(&write.replace("Variable", "Const"));
    assert_eq!(constant, Some(vec![(Fault::Constant, "a constant is written".into())]));
}
