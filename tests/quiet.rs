//! What rules do where somebody looks on, with all code run, is what they do where nobody does, and rounds to which nothing
//! comes are left out by the kinds of nodes and of their readers.
//!
//! The rules are small and go by readers in many ways; the graphs have many nodes of few kinds.

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot, Sym};
use proptest::prelude::*;

/// What all bodies look at.
const FACTS: &str = "set KNOWN = { Data, Relu, Add, Copy, Mark }
attr size: int on node
attr large: bool on node
attr rare: bool on node
attr unusual: int on input

enum Allowed { All, Some, Nothing }
enum Use { Reads, Writes, Spoils }

matrix harm(allowed: Allowed, used: Use) -> { Fine, Harmful, Wrong }
  | Reads | Writes | Spoils
  All     | Fine  | Fine    | Harmful
  Some    | Fine  | Harmful | Harmful
  Nothing | Wrong | Wrong   | Wrong

fn allowed(o: Output) -> Allowed = first {
  odd    : o.node.type == Data and o.node.attr(size) == 3 => Nothing
  shared : o.reader_count > 1 => Some
  else                        => All
}
fn used(i: Input) -> Use = first {
  large  : i.node.attr(large)                  => Spoils
  second : i.node.type == Add and i.index == 1 => Writes
  else                                         => Reads
}
fn harmed(o: Output) -> list<Input> = {
  let most = allowed(o)
  o.readers where harm(most, used(it)) == Harmful
}
fn wronged(o: Output) -> list<Input> = {
  let most = allowed(o)
  o.readers where harm(most, used(it)) == Wrong
}
// Of another output than the one asked.
fn beside(o: Output) -> list<Input> = harmed(o.node.output(1)) ?? []
fn large_behind(n: Node) -> Bool = any o in n.outputs: any r in o.readers: r.node.attr(large)
walk through(from: Output) -> Output {
  at o where o.node.type == Copy => o.node.input(0).source
}

action separate(o: Output) {
  let most = allowed(o)
  let wanting = o.readers where harm(most, used(it)) == Harmful
  if wanting.is_empty { stop }
  for i in wanting {
    let copy = insert Copy named \"{o.node.name}_c\" { behind = o.node }
    for a in copy.inputs { connect o -> a }
    for a in copy.outputs { connect a -> i }
    report i \"{most}\" answered by copy
  }
}
action shrink(n: Node) {
  for o in n.outputs where o.reader_count > 1 {
    let first = find r in o.readers: r.node.attr(large)
    if first is none { stop }
    set first.node.attr(large) = false
  }
}
action late(n: Node) {
  if n.type == Relu and n.name != \"n150\" { stop }
  report n \"late\"
}
action later(n: Node) {
  if n.name != \"n150\" and n.type == Relu { stop }
  report n \"later\"
}
action count(n: Node) {
  if large_behind(n) { set n.attr(size) = counter(seen) }
}
";

/// What is done at each node `n`.
const BODIES: [&str; 16] = [
    "for o in n.outputs { do separate(o) }",
    "do shrink(n)",
    "do late(n)",
    "do later(n)",
    "if not (n.outputs.flat_map(harmed(it)) + n.outputs.flat_map(beside(it))).is_empty { report n \"harmed\" }",
    "if n.attr(rare) { report n \"rare\" }",
    "do count(n)",
    "for o in n.outputs where o.reader_count > 1 { let all = (o.readers where used(it) == Writes).map(it.node).distinct; for r in all { report r \"{n.name}\" } }",
    "if counter(all) % 7 == 6 and large_behind(n) { report n \"seventh\" }",
    "if n.type == Relu { for o in n.outputs { if (o.readers where used(it) == Spoils).count > 1 { report n \"spoilt\" } } }",
    "for o in n.outputs { if allowed(through(o)) == Nothing and not harmed(o).is_empty { report n \"through\" } }",
    "if large_behind(n) and n.attr(size) == 2 { stop }",
    "if large_behind(n) and n.attr(size) == 1 and n.name == \"n70\" { fail \"{n.name}\" }",
    "let one = n.outputs.flat_map(beside(it)).first; if one is some { report one \"beside\" }",
    "if all o in n.outputs: o.readers.is_empty { set n.attr(large) = true }",
    "for o in n.outputs { for r in o.readers where r.node.attr(large) { set r.attr(unusual) = 1 } }",
];

/// What is found by going through all of them.
const LISTS: [&str; 4] = ["harmed(it)", "wronged(it)", "beside(it)", "(it.readers where used(it) != Reads)"];

fn rules(bodies: &[usize], list: usize) -> String {
    let bodies = bodies
        .iter()
        .map(|body| format!("    if 1 == 1 {{ {} }}\n", BODIES[body % BODIES.len()].replace("; ", "\n")));
    format!(
        "{FACTS}pass found {{\n  for n in root.all_nodes {{\n{}  }}\n  for i in root.all_nodes.flat_map(it.outputs).flat_map({}) {{ report i \"listed\" }}\n}}\n",
        bodies.collect::<String>(),
        LISTS[list % LISTS.len()]
    )
}

fn session(rules: &str, is_looked_at: bool) -> Session {
    let mut session =
        Session::new(RuleSources { files: vec![("a.anchor".to_owned(), rules.to_owned(), false)] });
    assert!(!session.has_errors(), "{rules}\n{:#?}", session.diagnostics());
    if is_looked_at {
        session.start_coverage();
    }
    session
}

/// What is found, what is edited, and where it failed.
fn told(session: &Session, graph: &Snapshot) -> Vec<String> {
    let request = Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new("found")], sort: false };
    let outcome = session.run(graph, &request).expect("sound rules");
    let failed = outcome.failures().map(|failure| format!("{failure:#?}"));
    let edits = outcome.steps.iter().flat_map(|step| step.edits.iter().map(|edit| format!("{edit:?}")));
    outcome.findings().map(|finding| format!("{finding:#?}")).chain(edits).chain(failed).collect()
}

/// Many nodes, most of which are of few kinds: of each number the type, the size and what it reads.
fn graph(nodes: &[(usize, usize, usize, usize)]) -> Snapshot {
    let mut text = String::new();
    for (n, &(ty, size, first, second)) in nodes.iter().enumerate() {
        // Every node but `Data` reads one of the twelve before it; every third has a second output.
        let back = |by: usize| {
            let to = n.saturating_sub(1 + by % 12);
            format!("n{to}{}", if to % 3 == 2 && by % 2 == 1 { ":1" } else { "" })
        };
        let (ty, inputs) = match ty % 8 {
            _ if n == 0 => ("Data", String::new()),
            0 => ("Data", String::new()),
            1..=3 => ("Relu", back(first)),
            4..=5 => ("Copy", back(first)),
            _ => ("Add", format!("{}, {}", back(first), back(second))),
        };
        let outputs = if n % 3 == 2 { " -> float32[1], float32[1]" } else { "" };
        let large = match size % 9 {
            0 => "\n  large = true",
            1 => "\n  rare = true",
            _ => "",
        };
        text.push_str(&format!(
            "n{n}: {ty}({inputs}) {{\n  size = {}{large}\n}}{outputs}\n",
            if size < 60 { 0 } else { size % 4 }
        ));
    }
    let (graph, complaints) = notation::parse(&text);
    assert!(complaints.is_empty(), "{text}\n{complaints:#?}");
    graph.unwrap_or_else(|| panic!("{text}"))
}

fn nodes() -> impl Strategy<Value = Vec<(usize, usize, usize, usize)>> {
    proptest::collection::vec((0usize..8, 0usize..90, 0usize..24, 0usize..24), 200..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_left_out_comes_to_nothing(nodes in nodes(), bodies in proptest::collection::vec(0usize..1000, 1..3), list in 0usize..100) {
        let (graph, rules) = (graph(&nodes), rules(&bodies, list));
        prop_assert_eq!(told(&session(&rules, false), &graph), told(&session(&rules, true), &graph));
    }
}
