//! A pass on a graph that it has seen in another state, or with other cells, does what it does where it has seen nothing.

use anchorwatch::engine::outcome::Outcome;
use anchorwatch::engine::{Request, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot, Sym};
use proptest::prelude::*;

use super::{FACTS, apply, change, changed, named, rounds, row, session, set_size};

/// What all passes of these tests have in common. `a`, `b`, `c`: cells of the matrix.
fn facts([a, b, c]: [bool; 3]) -> String {
    let cell = |bad: bool| if bad { "Bad" } else { "Good" };
    let (a, b, c) = (cell(a), cell(b), cell(c));
    format!(
        "{FACTS}
attr deep: int on node
enum Way {{ In, Out, Odd }}
matrix verdict(one: Way, other: Way) -> {{ Good, Bad }}
       | In  | Out | Odd
  In   | {a} | Good | {b}
  Out  | Good | {c} | Good
  Odd  | Good | Bad | Good
fn way(n: Node) -> Way = if size(n) == 2 then Odd else if n.type in {{ Relu, Data }} then In else Out
note seen: Int on node
note near: list<Node> on node
order by_name {{
  mode = SortMode.Bfs
  first n where n.type in {{ Copy }}
}}
symbols of_large(target: Graph) {{
  for n in target.all_nodes {{
    for o in n.outputs {{ if size(n) > 2 or not o.readers.is_empty {{ found o }} }}
  }}
}}
symbols of_sources(target: Graph) {{
  for n in target.nodes.skip(1) {{
    for i in n.inputs {{
      let source = i.source
      if source is some {{ if not source.registered {{ found source }} }}
    }}
  }}
}}
fn by_type(n: Node) -> Way = if n.type in {{ Relu }} then In else Out
fn plain_size(n: Node) -> Int = n.attr(size) ?? 0
fn plain_readers(n: Node) -> list<Input> = n.outputs.flat_map(it.readers) where plain_size(it.node) > 2
fn bad_readers(o: Output) -> list<Input> =
  o.readers where plain_size(it.node) > 1 and verdict(if plain_size(it.node) > 3 then Odd else Out, by_type(it.node)) == Bad
fn some_bad(g: Graph) -> Bool = any m in g.nodes: verdict(way(m), way(m)) == Bad
fn some_seen(g: Graph) -> Bool = any m in g.nodes: (m.note(seen) ?? 0) > 4
action copy_behind(o: Output, i: Input) {{
  let c = insert Copy named \"c{{counter(copies)}}_{{o.node.name}}\" {{ behind = o.node }}
  for reads in c.inputs {{ connect o -> reads }}
  for gives in c.outputs {{ connect gives -> i }}
}}
"
    )
}

pub fn with(rules: &str, cells: [bool; 3]) -> String {
    format!("{}{rules}", facts(cells))
}

pub fn fresh(rules: &str, cells: [bool; 3]) -> Session {
    let mut session = session("lint nothing W1 warn { }");
    session.set_text("a.anchor", &with(rules, cells));
    assert!(!session.has_errors(), "{:#?}\n{}", session.diagnostics(), with(rules, cells));
    session
}

fn run(session: &Session, graph: &Snapshot, steps: &[&str]) -> Outcome {
    let steps = steps.iter().map(|&step| Sym::new(step)).collect();
    session
        .run(graph, &Request { graph: GraphId::ROOT, node: None, steps, sort: false })
        .expect("sound rules")
}

/// All that comes of it: edits, findings, failures, and the graph with its order.
pub fn done(session: &Session, graph: &Snapshot, steps: &[&str]) -> Vec<String> {
    let outcome = run(session, graph, steps);
    let mut told: Vec<String> = outcome.edits().map(|edit| format!("{edit:#?}")).collect();
    told.extend(outcome.findings().map(|finding| format!("{finding:#?}")));
    told.extend(outcome.failures().map(|failure| format!("{failure:#?}")));
    let after = &outcome.after;
    for node in after.all_nodes(GraphId::ROOT) {
        let found = after.node(node);
        told.push(format!("{node:?} {} {} {:?}", found.name, after.topo_id(node), found.attrs));
        let edges =
            (0..found.outputs.len() as u32).map(|i| after.consumers(node.output(i)).collect::<Vec<_>>());
        told.push(format!(
            "{:?} {:?}",
            edges.collect::<Vec<_>>(),
            after.control_out(node).collect::<Vec<_>>()
        ));
    }
    told
}

/// Runs `found` on two graphs one after the other. The change matters, and so many rounds are taken over.
fn matters(rules: &str, (before, after): (&Snapshot, &Snapshot), left_alone: std::ops::Range<usize>) {
    let cells = [false; 3];
    let mut kept = fresh(rules, cells);
    kept.expect_edits();
    let earlier = done(&kept, before, &["found"]);
    assert_eq!(rounds(&kept).1, 0, "there is nothing to take over yet");
    let now = done(&kept, after, &["found"]);
    let (_, taken_over) = rounds(&kept);
    assert!(left_alone.contains(&taken_over), "{taken_over} rounds were taken over");
    assert_eq!(earlier, done(&fresh(rules, cells), before, &["found"]));
    assert_eq!(now, done(&fresh(rules, cells), after, &["found"]));
}

pub fn sized(graph: &Snapshot, sizes: &[(&str, i64)]) -> Snapshot {
    changed(graph, |edit| sizes.iter().for_each(|&(name, size)| set_size(edit, named(graph, name), size)))
}

#[test]
fn rounds_that_edit_are_run_again() {
    let rules = "pass found { for n in root.nodes { if size(n) > 3 { set n.attr(deep) = 1 } } }";
    let before = sized(&row(), &[("n9", 5)]);
    matters(rules, (&before, &sized(&before, &[("n3", 0)])), 22..23);
    matters(rules, (&before, &sized(&before, &[("n3", 5)])), 22..23);
    // Who puts a node where nobody looks does so again.
    let rules =
        "pass found { for n in root.nodes { if n.type == Copy { let c = insert Add { graph = root } } } }";
    matters(rules, (&before, &sized(&before, &[("n3", 5)])), 1..17);
}

#[test]
fn loops_whose_rounds_edit_are_not_recorded_to_the_end() {
    let text: String = (0..200).map(|n| format!("m{n}: Relu\n")).collect();
    let before = notation::parse(&text).0.expect("a graph");
    let rules = "pass found { for n in root.nodes { if size(n) == 0 { set n.attr(deep) = 1 } } }";
    let after =
        changed(&before, |edit| (190..200).for_each(|n| set_size(edit, named(&before, &format!("m{n}")), 1)));
    // There would be ten.
    matters(rules, (&after, &changed(&after, |edit| set_size(edit, named(&before, "m0"), 2))), 0..1);
}

#[test]
fn a_node_that_was_deleted_is_looked_at_again() {
    let rules = "pass found { for n in root.nodes {
        if size(n) > 3 { for r in readers(n).take(1) { delete r } }
        else if n.type == Copy { report n \"a copy\" }
    } }";
    let before = row();
    let after = sized(&before, &[("n7", 5)]);
    // n8 is the copy that is gone, and its neighbours are seen anew only by who looks at edges.
    matters(rules, (&before, &after), 15..23);
    matters(rules, (&after, &before), 15..23);
}

#[test]
fn what_only_this_run_has_edited_is_looked_at_again() {
    // Who comes behind a large node is told by that.
    let rules = "pass found { for n in root.nodes {
        if size(n) > 3 { for r in readers(n) { set r.attr(deep) = 1 } }
        else if (n.attr(deep) ?? 0) == 1 { report n \"deep\" }
    } }";
    let before = row();
    // n7, and n8 and n11 that read it.
    matters(rules, (&before, &sized(&before, &[("n7", 5)])), 21..22);
    // The other way round: the earlier run alone has.
    matters(rules, (&sized(&before, &[("n7", 5)]), &before), 21..22);
}

#[test]
fn lists_that_an_edit_has_changed_are_looked_at_again() {
    let rules = "pass found { for n in root.nodes {
        if size(n) > 3 { for o in n.outputs { for i in o.readers.take(1) { do copy_behind(o, i) } } }
        else if n.graph.nodes.count > 24 { report n \"many\" }
    } }";
    let before = row();
    let after = sized(&before, &[("n7", 5)]);
    // The first seven.
    matters(rules, (&before, &after), 7..8);
    matters(rules, (&after, &before), 7..8);
}

#[test]
fn nodes_inside_are_looked_at_again_when_the_call_was_edited() {
    let before = changed(&row(), |edit| _ = edit.add_control(named(&row(), "n3"), named(&row(), "n12")));
    let after = sized(&before, &[("n3", 5)]);
    // Nodes of one kind share the answer, so that most of them do not look at the call.
    for condition in ["size(around) > 3", "(n.graph.parent.attr(size) ?? 0) > 3"] {
        let rules = format!(
            "pass found {{ for n in root.all_nodes {{
                if size(n) > 3 {{ for r in n.control_out {{ set r.attr(size) = 5 }} }}
                let around = n.graph.parent
                if around is some and n.type == Relu and {condition} {{ report n \"inside\" }}
            }} }}"
        );
        matters(&rules, (&before, &after), 22..23);
        matters(&rules, (&after, &before), 22..23);
    }
}

#[test]
fn notes_are_asked_again() {
    let rules = "pass found { for n in root.nodes {
        if size(n) > 3 { for r in readers(n) { set r.note(seen) = size(n) } }
        else if (n.note(seen) ?? 0) > 4 { report n \"seen\" }
    } }";
    let before = sized(&row(), &[("n7", 4)]);
    // n7 itself, and the two that read it.
    matters(rules, (&before, &sized(&before, &[("n7", 5)])), 21..22);
    matters(rules, (&sized(&before, &[("n7", 5)]), &before), 21..22);
    matters(rules, (&before, &sized(&before, &[("n7", 3)])), 21..22);
}

#[test]
fn who_counts_counts_again() {
    let rules = "pass found { for n in root.nodes {
        if n.type == Copy { let at = counter(copies); if at > 3 { report n \"{at}\" } }
    } }";
    let before = row();
    // A third of the nodes are copies, and nodes that are none are settled by their types in time.
    let copies = before.nodes_by_id().filter(|(_, node)| node.ty == Sym::new("Copy")).count();
    let rest = 24 - copies;
    matters(rules, (&before, &sized(&before, &[("n3", 0)])), 1..rest + 1);
}

#[test]
fn an_order_that_was_made_anew_is_asked_for_again() {
    let rules = |rest: &str| {
        format!(
            "pass found {{ for n in root.nodes {{
                if size(n) > 3 {{ sort with by_name }}
                else {{ {rest} }}
            }} }}"
        )
    };
    // A copy that reads nothing comes first.
    let before = row();
    let before =
        changed(&before, |edit| (0..2).for_each(|at| edit.disconnect(named(&before, "n23").input(at))));
    let after = sized(&before, &[("n7", 5)]);
    for (rest, left_alone) in [
        ("if n.id > 9 { report n \"{n.name}\" }", 7..8),
        // Some have one reader.
        ("let all = readers(n); if all.count > 1 { report n \"{all.map(it.name)}\" }", 7..12),
        ("if n.graph.nodes.index_of(n) == 5 { report n \"{n.name}\" }", 7..8),
    ] {
        matters(&rules(rest), (&before, &after), left_alone.clone());
        matters(&rules(rest), (&after, &before), left_alone);
    }
}

#[test]
fn nothing_is_taken_over_after_something_was_said_of_a_graph() {
    let rules = "pass found { for n in root.all_nodes {
        if size(n) > 3 { set n.graph.attr(many) = 3 }
        else if n.graph.attr(many) == 3 { report n \"one of many\" }
    } }";
    let before = row();
    let after = sized(&before, &[("n7", 5)]);
    matters(rules, (&before, &after), 7..8);
    matters(rules, (&after, &before), 7..8);
}

#[test]
fn cells_are_asked_again_by_those_who_asked_them() {
    let rules = "pass found { for n in root.nodes {
        if any r in readers(n): verdict(way(n), way(r)) == Bad { set n.attr(deep) = 1 }
    } }";
    let graph = sized(&row(), &[("n5", 2), ("n9", 2)]);
    let mut kept = fresh(rules, [false; 3]);
    kept.expect_edits();
    done(&kept, &graph, &["found"]);
    for (cells, least) in [([false, true, false], 10), ([true, true, false], 2), ([true, true, true], 4)] {
        kept.set_text("a.anchor", &with(rules, cells));
        assert_eq!(done(&kept, &graph, &["found"]), done(&fresh(rules, cells), &graph, &["found"]));
        let (all, taken_over) = rounds(&kept);
        assert!((least..24).contains(&taken_over), "{taken_over} of {all} were taken over: {cells:?}");
    }
}

#[test]
fn symbols_are_built_again_where_what_they_rest_on_has_changed() {
    let rules = "pass found { for n in root.nodes {
        for g in n.subgraphs { for s in symbols(of_large, g).groups { report n \"{s.name}\" } }
        if size(n) == 5 { for g in root.subgraphs { for i in g.nodes.take(2) { set i.attr(size) = 4 } } }
    } }";
    let before = sized(&row(), &[("i7", 5)]);
    // The call is one of them.
    matters(rules, (&before, &sized(&before, &[("n3", 1)])), 23..24);
    matters(rules, (&before, &sized(&before, &[("i3", 5)])), 23..24);
    matters(rules, (&before, &sized(&before, &[("n15", 5)])), 23..24);
    matters(rules, (&before, &sized(&before, &[("n3", 5)])), 22..23);
    // Other symbols.
    let mut kept = fresh(rules, [false; 3]);
    kept.expect_edits();
    let earlier = done(&kept, &before, &["found"]);
    let text = with(rules, [false; 3]).replace("size(n) > 2 or", "size(n) > 5 or");
    kept.set_text("a.anchor", &text);
    let now = done(&kept, &before, &["found"]);
    let mut other = fresh(rules, [false; 3]);
    other.set_text("a.anchor", &text);
    assert_eq!(now, done(&other, &before, &["found"]));
    assert_ne!(earlier, now);
}

#[test]
fn groups_are_called_after_nodes_that_were_not_looked_at() {
    let rules = "pass found { for n in root.nodes {
        for g in n.subgraphs { for s in symbols(of_sources, g).groups { report n \"{s.name}\" } }
    } }";
    let rest: String = (0..20).map(|n| format!("m{n}: Relu\n")).collect();
    let text = format!("call: Relu {{\n  subgraph inner {{\n    a: Relu\n    b: Relu(a)\n  }}\n}}\n{rest}");
    let before = notation::parse(&text).0.expect("a graph");
    let a = named(&before, "a");
    let after = changed(&before, |edit| edit.update_node(a, |node| node.name = "other".into()));
    matters(rules, (&before, &after), 20..21);
}

/// No round tells that the pass rests on them.
#[test]
fn cells_that_are_asked_outside_of_loops_are_asked_again() {
    let graph = sized(&row(), &[("n9", 5)]);
    for rules in [
        "pass found { if verdict(Way.In, Way.In) == Bad { report root \"bad\" } }",
        // The body of no loop, but of each node.
        "pass found for n: Node where n.name == \"n9\" { if verdict(by_type(n), Way.In) == Bad { report n \"bad\" } }",
        // What a loop does is decided before it, or is done by its rounds as well.
        "pass found {
            let bad = verdict(Way.In, Way.Odd) == Bad
            for n in root.nodes { if bad and size(n) > 3 { report n \"bad\" } }
        }",
        "pass found {
            for n in root.nodes { if verdict(by_type(n), Way.Odd) == Bad { report n \"bad\" } }
            if verdict(Way.In, Way.Odd) == Bad { report root \"bad\" } else { report root \"good\" }
        }",
        "pass found { if verdict(Way.Out, Way.Out) == Bad { for n in root.nodes.take(2) { report n \"bad\" } } }",
    ] {
        let mut kept = fresh(rules, [false; 3]);
        kept.expect_edits();
        let mut told = vec![done(&kept, &graph, &["found"])];
        for cells in [[true; 3], [false; 3], [true, false, false], [false, true, false], [false, false, true]]
        {
            kept.set_text("a.anchor", &with(rules, cells));
            let now = done(&kept, &graph, &["found"]);
            assert_eq!(now, done(&fresh(rules, cells), &graph, &["found"]), "{rules} {cells:?}");
            told.push(now);
        }
        assert_ne!(told[0], told[1], "{rules}");
    }
}

/// What is found once for many rounds rests on cells and notes as well.
#[test]
fn what_rounds_share_is_asked_again() {
    let graph = sized(&row(), &[("n9", 5)]);
    for rules in [
        "pass found { for n in root.nodes { if some_bad(n.graph) { report n \"bad\" } } }",
        "pass found { for n in root.nodes {
            if any m in n.graph.nodes: verdict(by_type(m), Way.In) == Bad and size(m) == 5 { report n \"bad\" }
        } }",
        "pass found {
            if any m in root.nodes: verdict(way(m), way(m)) == Bad and size(m) == 9 { report root \"bad\" }
            for n in root.nodes { if verdict(way(n), way(n)) == Bad { report n \"bad\" } else { report n \"good\" } }
        }",
        "fn is_bad(n: Node) -> Bool = verdict(way(n), way(n)) == Bad and n.inputs.count > 1\n\
        pass found {
            if any m in root.nodes: is_bad(m) and size(m) == 9 { report root \"bad\" }
            for n in root.nodes { if is_bad(n) { report n \"bad\" } else { report n \"good\" } }
        }",
    ] {
        let mut kept = fresh(rules, [false; 3]);
        kept.expect_edits();
        done(&kept, &graph, &["found"]);
        for cells in [[true, false, false], [true, false, true], [false; 3]] {
            kept.set_text("a.anchor", &with(rules, cells));
            assert_eq!(done(&kept, &graph, &["found"]), done(&fresh(rules, cells), &graph, &["found"]), "{rules}");
        }
    }
    let rules = "pass found {
        for n in root.nodes { if size(n) > 3 {
            for g in root.subgraphs { for i in g.nodes.take(1) { set i.note(seen) = size(n) } }
        } }
        for n in root.nodes { for g in root.subgraphs { if some_seen(g) { report n \"seen\" } } }
    }";
    matters(rules, (&graph, &sized(&graph, &[("n9", 4)])), 23..24);
}

/// Bodies of loops over `n`: most of them edit what others look at.
const BODIES: [&str; 20] = [
    "if size(n) > 3 { for r in readers(n) { set r.attr(deep) = size(n) } }",
    "if (n.attr(deep) ?? 0) > 3 { report n \"{n.name} is deep\" }",
    "if size(n) == 5 { for o in n.outputs { for i in o.readers.take(1) { do copy_behind(o, i) } } }",
    "if any r in readers(n): size(r) > 3 { report n \"{readers(n).map(it.name)}\" }",
    "if n.graph.nodes.count > 24 and size(n) == 0 { report n \"many\" }",
    "if size(n) == 4 and n.type != Data { for r in readers(n).take(1) { set r.note(seen) = n.id } }",
    "if (n.note(seen) ?? 0) > 6 { report n \"seen\" } else if size(n) == 1 { set n.note(near) = readers(n) }",
    "for r in n.control_out { if size(r) > 2 { unlink n => r } }",
    "for r in readers(n).skip(1) { if not r.reaches(n) and size(r) == 3 { link n => r } }",
    "for r in readers(n) { for s in readers(n) { if r != s and r.reaches(s) and size(s) > 2 { report r, s \"ordered\" } } }",
    "if n.id > 12 { report n \"{n.id}\" }",
    "if size(n) == 5 and readers(n).is_empty and not n.has_subgraph { delete n }",
    "if size(n) == 5 { for r in readers(n).take(1) where not r.has_subgraph { delete r } }",
    "if size(n) == 2 and n.type == Add { sort with by_name }",
    "let around = n.graph.parent; if around is some and size(around) > 2 and n.type == Relu { report n \"inside\" }",
    "if n.has_subgraph and any i in n.inputs: (size(i.source.node) ?? 0) > 2 { set n.attr(size) = 3 }",
    "if size(n) == 3 { attempt { set n.attr(deep) = 7; for r in readers(n) { if size(r) > 3 { fail \"no\" } } } else { report n \"undone\" } }",
    "if verdict(way(n), way(n)) == Bad { report n \"bad\" } else if any r in readers(n): verdict(way(n), way(r)) == Bad { set n.attr(deep) = 4 }",
    "for inside in n.subgraphs { for s in symbols(of_large, inside).groups { report n \"{s.name}\" } }",
    "if size(n) == 1 and n.type == Copy { set n.graph.attr(many) = 2 } else if n.graph.attr(many) == 2 { report n \"{counter(copies)}\" }",
];

const HEADS: [(&str, &str); 5] = [
    ("{ for n in root.nodes {", "} }"),
    ("{ for g in [root] + root.subgraphs { for n in g.nodes {", "} } }"),
    ("{ for n in root.all_nodes where it.outputs.count > 0 and size(it) < 6 {", "} }"),
    ("for n: Node where size(n) < 6 repeat {", "}"),
    // What is soon told of most elements, when some have been edited.
    (
        "{ for n in root.nodes {",
        "}
        for n in root.all_nodes where (it.attr(deep) ?? 0) > 3 { report n \"deep\" }
        for n in root.all_nodes where any i in plain_readers(it): i.index == 0 { report n \"has large readers\" }
        for i in root.all_nodes.flat_map(it.outputs).flat_map(bad_readers(it)) { report i \"bad\" }
        for n in root.all_nodes { for o in n.outputs { for i in bad_readers(o) { report o, i \"bad\" } } } }",
    ),
];

fn pass(name: &str, head: usize, bodies: &[usize]) -> String {
    let (start, end) = HEADS[head % HEADS.len()];
    let bodies: String =
        bodies.iter().map(|body| format!("if true {{ {} }}\n", BODIES[body % BODIES.len()])).collect();
    format!("pass {name} {start}\n{bodies}{end}\n")
}

#[test]
fn every_body_of_a_pass_is_sound() {
    for head in 0..HEADS.len() {
        for body in 0..BODIES.len() {
            fresh(&pass("found", head, &[body]), [false; 3]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    /// One session sees graphs and cells change step by step, and another session each state alone.
    #[test]
    fn a_session_that_goes_on_does_what_a_new_one_does(
        heads in (0usize..HEADS.len(), 0usize..HEADS.len()),
        bodies in prop::collection::vec(0usize..BODIES.len(), 1..5),
        first in prop::collection::vec(0usize..BODIES.len(), 1..3),
        steps in prop::collection::vec(
            (prop::collection::vec(change(), 0..4), prop::array::uniform3(any::<bool>())),
            1..6,
        ),
    ) {
        let rules = pass("first", heads.1, &first) + &pass("found", heads.0, &bodies);
        let names = ["first", "found", "first"];
        let mut kept = fresh(&rules, [false; 3]);
        kept.expect_edits();
        let mut graph = sized(&row(), &[("n5", 5), ("n9", 4), ("n13", 3), ("n16", 2), ("n20", 1)]);
        done(&kept, &graph, &names);
        for (changes, cells) in steps {
            graph = changes.iter().fold(graph, |graph, change| apply(&graph, change));
            kept.set_text("a.anchor", &with(&rules, cells));
            prop_assert_eq!(done(&kept, &graph, &names), done(&fresh(&rules, cells), &graph, &names));
        }
    }
}

#[test]
fn what_is_done_again_at_once_is_not_what_was_done_first() {
    let rules = pass("first", 0, &[1]) + &pass("found", 3, &[12, 0]);
    let names = ["first", "found", "first"];
    let mut kept = fresh(&rules, [false; 3]);
    kept.expect_edits();
    let mut graph = sized(&row(), &[("n5", 5), ("n9", 4), ("n13", 3), ("n16", 2), ("n20", 1)]);
    done(&kept, &graph, &names);
    graph = apply(&graph, &super::Change::Add(0));
    assert_eq!(done(&kept, &graph, &names), done(&fresh(&rules, [false; 3]), &graph, &names));
}
