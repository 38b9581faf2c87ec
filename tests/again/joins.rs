//! A loop over the elements that have something in a list of their own goes through those that a loop goes through which asks each.

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot, Sym};

use super::{changed, named, row, set_size};

const FACTS: &str = "set KNOWN = { Data, Relu, Add, Copy }
attr size: int on node
note seen: Int on node

fn size(n: Node) -> Int = n.attr(size) ?? 0
fn near(n: Node) -> list<Node> = (n.inputs + n.inputs).map(it.source.node) where it is some
";

fn session(rules: &str) -> Session {
    let session =
        Session::new(RuleSources { files: vec![("a.anchor".to_owned(), format!("{FACTS}{rules}"), false)] });
    assert!(!session.has_errors(), "{:#?}\n{rules}", session.diagnostics());
    session
}

fn told(session: &Session, graph: &Snapshot) -> Vec<String> {
    let request = Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new("found")], sort: false };
    let outcome = session.run(graph, &request).expect("sound rules");
    let failed = outcome.failures().map(|failure| format!("{failure:#?}"));
    let edits = outcome.edits().map(|edit| format!("{edit:#?}"));
    outcome.findings().map(|finding| finding.message.to_string()).chain(edits).chain(failed).collect()
}

/// In `rules`, `K IN LIST` as it is said, and as somebody says it who asks each element of the list. Gives what both find.
fn both_ways(rules: &str, graph: &Snapshot) -> Vec<String> {
    let said = rules.replace("K IN", "k in").replace("END", "");
    let asked = rules.replace("K IN", "(any y in").replace("END", ": y == k)");
    let found = told(&session(&said), graph);
    assert_eq!(found, told(&session(&asked), graph), "{rules}");
    found
}

#[test]
fn elements_are_those_that_have_it_in_their_order() {
    let found = both_ways(
        "lint found W1 warn { let xs = root.nodes.reverse
            for k in root.nodes { for x in xs where K IN near(x) END { report x \"{x.name} reads {k.name}\" } } }",
        &row(),
    );
    // Each of 23 nodes reads two, and the first of them the same one.
    assert_eq!((found.len(), &*found[0], &*found[1]), (45, "n4 reads n0", "n3 reads n0"));
    let of_numbers = |k: &str, list: &str| {
        let rules = format!(
            "lint found W1 warn {{ let xs = root.nodes
                for k in {k} {{ for x in xs where K IN {list} END {{ report x \"{{x.name}}\" }} }} }}"
        );
        both_ways(&rules, &row()).len()
    };
    assert_eq!(of_numbers("(0..99)", "[x.id, x.id + 2]"), 48);
    assert_eq!(of_numbers("root.nodes.map(it.attr(size))", "x.inputs.map(it.index)"), 23);
}

#[test]
fn long_lists_of_many_are_lists_like_others() {
    let text: String = (0..70).map(|n| format!("m{n}: Relu\n")).collect();
    let found = both_ways(
        "lint found W1 warn { let xs = root.nodes
            for k in xs { for x in xs where K IN (if x.id % 2 == 0 then x.graph.nodes else [x]) END {
                report x \"{x.name} has {k.name}\"
            } } }",
        &notation::parse(&text).0.expect("a graph"),
    );
    assert_eq!((found.len(), &*found[0], &*found[1]), (70 * 35 + 35, "m0 has m0", "m2 has m0"));
}

#[test]
fn nothing_is_in_no_list() {
    let found = told(
        &session(
            "lint found W1 warn { let xs = root.nodes
                for k in xs.map(it.attr(size)) { for x in xs where k in [x.attr(size)] { report x \"{x.name}\" } } }",
        ),
        &row(),
    );
    assert_eq!(found, ["n12"]);
}

#[test]
fn lists_are_made_again_when_the_state_has_changed() {
    let found = both_ways(
        "pass found { let xs = root.nodes
            for k in (0..6) { for x in xs where K IN [size(x)] END { set x.attr(size) = k + 1 + x.id % 2 } } }",
        &row(),
    );
    assert!(found.len() > 60, "{}", found.len());
    let found = both_ways(
        "pass found { let xs = root.nodes
            for k in (0..6) { for x in xs where K IN [x.note(seen) ?? 0] END {
                set x.note(seen) = k + 1 + x.id % 2
                report x \"{x.name} at {k}\"
            } } }",
        &row(),
    );
    assert!(found.len() > 60, "{}", found.len());
}

#[test]
fn lists_are_made_again_when_they_are_made_of_something_else() {
    let found = both_ways(
        "lint found W1 warn { for xs in [root.nodes, root.nodes.reverse] { for step in (1..4) {
            for k in (0..200) { for x in xs where K IN [x.id * step] END {
                report x \"{x.name} {k} {step} {xs.first.name}\"
            } }
        } } }",
        &row(),
    );
    assert_eq!(found.len(), 2 * 3 * 24);
}

#[test]
fn who_counts_counts_each_time() {
    let found = both_ways(
        "pass found { let xs = root.nodes
            for k in (0..60) { for x in xs where K IN [counter(a) + 0 * x.id] END { report x \"{x.name} at {k}\" } } }",
        &row(),
    );
    assert_eq!(found.len(), 1);
}

#[test]
fn every_round_has_read_what_its_loop_rests_on() {
    let rules = "lint found W1 warn { let xs = root.nodes
        for k in root.nodes { if k.name.count > 0 { for x in xs where K IN near(x) END {
            report x \"{x.name} reads {k.name}\"
        } } } }"
        .replace("K IN", "k in")
        .replace("END", "");
    let before = row();
    // n9 reads n1 in place of n5, and the rounds of these have asked nothing of n9 but by way of its list.
    let after = changed(&before, |edit| {
        let [from, to] = ["n1", "n9"].map(|name| named(&before, name));
        edit.disconnect(to.input(1));
        edit.connect(from.output(0), to.input(1));
        set_size(edit, named(&before, "n23"), 1);
    });
    let mut kept = session(&rules);
    kept.expect_edits();
    let earlier = told(&kept, &before);
    let now = told(&kept, &after);
    assert_ne!(earlier, now);
    assert_eq!(now, told(&session(&rules), &after));
}

#[test]
fn accesses_without_order_are_told_by_writer_and_then_by_user() {
    let text = "v: Variable
a: Assign(ref=v, value=_) -> ref: float32[1]
b: Assign(ref=v, value=_) ^a -> ref: float32[1]
r: Relu(v) ^a
c: Assign(ref=v, value=_) -> ref: float32[1]
s: Relu(v) ^b ^c
t: Relu(v)
";
    let graph = notation::parse(text).0.expect("a graph");
    let session = Session::new(RuleSources::shipped());
    let request = Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new("lint")], sort: false };
    let outcome = session.run(&graph, &request).expect("sound rules");
    let pairs: Vec<String> = outcome
        .findings()
        .map(|finding| {
            let words: Vec<&str> = finding.message.split([' ', ',']).collect();
            let written = words[1] == "and";
            let user =
                if written { words[2] } else { words[words.iter().position(|w| *w == "reads").unwrap() - 1] };
            format!("{} {user}", words[0])
        })
        .collect();
    assert_eq!(pairs, ["a c", "a t", "b r", "b c", "b t", "c r", "c t"]);
}
