//! What a lint finds on a graph that it has seen in another state is what it finds on a graph that it has never seen. Passes: see
//! `again/passes.rs`.
//!
//! Each test changes one thing that a lint can look at. Both sessions must tell the same, in the same order and in the same words, and the
//! test knows that the change matters: what was found before is not what is found now, though most of it was taken over.

use anchorwatch::db::Db;
use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{AttrValue, Edit, GraphId, NodeId, Place, Snapshot, Sym};
use proptest::prelude::*;

#[path = "again/joins.rs"]
mod joins;
#[path = "again/passes.rs"]
mod passes;
#[path = "again/stretches.rs"]
mod stretches;

/// What all lints of these tests look at.
const FACTS: &str = "set KNOWN = { Data, Relu, Add, Copy }
attr size: int on node
attr many: int on graph

// The name: else the kind of a node would settle what is to be looked at again.
fn size(n: Node) -> Int = (n.attr(size) ?? 0) + 0 * n.name.count
fn readers(n: Node) -> list<Node> = n.outputs.flat_map(it.readers).map(it.node).distinct.sort_by(it.id)
";

fn session(rules: &str) -> Session {
    let session =
        Session::new(RuleSources { files: vec![("a.anchor".to_owned(), format!("{FACTS}{rules}"), false)] });
    assert!(!session.has_errors(), "{:#?}", session.diagnostics());
    session
}

/// A row of nodes, each of which the next and the fourth behind it read; in the middle a call with a row inside.
fn row() -> Snapshot {
    let mut text = String::from("n0: Data\n");
    for n in 1..24usize {
        let (ty, back) = (["Relu", "Add", "Copy"][n % 3], n.saturating_sub(4));
        text.push_str(&format!("n{n}: {ty}(n{}, n{back})", n - 1));
        if n == 12 {
            text.push_str(" {\n  size = 1\n  subgraph inner {\n");
            (0..20).for_each(|i| text.push_str(&format!("    i{i}: Relu\n")));
            text.push_str("  }\n}");
        }
        text.push('\n');
    }
    notation::parse(&text).0.unwrap_or_else(|| panic!("{text}"))
}

fn named(graph: &Snapshot, name: &str) -> NodeId {
    graph.nodes_by_id().find(|(_, node)| &*node.name == name).expect("a node of the row").0
}

fn changed(graph: &Snapshot, change: impl FnOnce(&mut Edit)) -> Snapshot {
    let mut edit = graph.edit();
    change(&mut edit);
    edit.finish(graph)
}

fn set_size(edit: &mut Edit, node: NodeId, size: i64) {
    edit.update_node(node, |node| node.attrs = node.attrs.with(Sym::new("size"), AttrValue::Int(size)));
}

/// All that is found, and where the run failed.
fn told(session: &Session, graph: &Snapshot) -> Vec<String> {
    let request = Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new("found")], sort: false };
    let outcome = session.run(graph, &request).expect("sound rules");
    let failed = outcome.failures().map(|failure| format!("{failure:#?}"));
    outcome.findings().map(|finding| format!("{finding:#?}")).chain(failed).collect()
}

/// How many rounds the last run has kept, and how many of them it took over.
fn rounds(session: &Session) -> (usize, usize) {
    session
        .database()
        .past_runs()
        .expect("edits are expected")
        .last()
        .map_or((0, 0), |run| run.rounds.count())
}

/// Runs the lint `found` on two graphs one after the other. Gives what is told of each, and of how many nodes something was taken over.
fn one_after_the_other(rules: &str, before: &Snapshot, after: &Snapshot) -> [Vec<String>; 2] {
    let mut kept = session(rules);
    kept.expect_edits();
    let both = [before, after].map(|graph| told(&kept, graph));
    assert_eq!(both[0], told(&session(rules), before));
    assert_eq!(both[1], told(&session(rules), after));
    both
}

/// The change matters to the lint, and leaves so many rounds alone.
fn matters(rules: &str, (before, after): (&Snapshot, &Snapshot), left_alone: std::ops::Range<usize>) {
    let [earlier, now] = one_after_the_other(rules, before, after);
    assert_ne!(earlier, now, "the change matters");
    let mut kept = session(rules);
    kept.expect_edits();
    told(&kept, before);
    assert_eq!(rounds(&kept).1, 0, "there is nothing to take over yet");
    told(&kept, after);
    let (_, taken_over) = rounds(&kept);
    assert!(left_alone.contains(&taken_over), "{taken_over} rounds were taken over");
}

#[test]
fn a_node_is_looked_at_again_when_it_has_changed() {
    let before = row();
    let after = changed(&before, |edit| set_size(edit, named(&before, "n7"), 5));
    for (head, end) in
        [("lint found W1 warn { for n in root.nodes {", "} }"), ("lint found W1 warn for n: Node {", "}")]
    {
        let rules = format!(
            "{head} if size(n) > 3 {{ report n \"{{n.name}} is large\" help \"{{size(n)}}\" }} {end}"
        );
        matters(&rules, (&before, &after), 23..44);
    }
}

#[test]
fn a_node_is_looked_at_again_when_a_reader_has_changed() {
    let before = row();
    let after = changed(&before, |edit| set_size(edit, named(&before, "n7"), 5));
    let rules = "lint found W1 warn { for n in root.nodes {
        if any r in readers(n): size(r) > 3 { report n \"{n.name} has a large reader\" }
    } }";
    matters(rules, (&before, &after), 15..23);
}

#[test]
fn a_node_is_looked_at_again_when_it_has_lost_a_reader() {
    let before = row();
    let after = changed(&before, |edit| edit.disconnect(named(&before, "n9").input(1)));
    let rules =
        "lint found W1 warn { for n in root.nodes { if readers(n).count < 2 { report n \"{n.name}\" } } }";
    // The reader itself has changed, too.
    matters(rules, (&before, &after), 22..23);
}

#[test]
fn a_node_is_looked_at_again_when_two_readers_have_changed_places() {
    let before = row();
    let [a, b] = ["n5", "n8"].map(|name| named(&before, name));
    let after = changed(&before, |edit| {
        let (first, second) = (before.topo_id(a), before.topo_id(b));
        edit.set_topo_id(a, second);
        edit.set_topo_id(b, first);
    });
    let rules = "lint found W1 warn { for n in root.nodes {
        let all = readers(n)
        if all.count > 1 { report n \"{all.first.name} comes before {all.last.name}\" }
    } }";
    matters(rules, (&before, &after), 15..24);
}

#[test]
fn the_order_of_nodes_is_the_same_when_all_ids_have_moved_on() {
    let before = row();
    let all: Vec<NodeId> = before.nodes_by_id().map(|(id, _)| id).collect();
    let after = changed(&before, |edit| all.iter().for_each(|&n| edit.set_topo_id(n, before.topo_id(n) + 7)));
    let rules = "lint found W1 warn { for n in root.nodes {
        let all = readers(n)
        if all.count > 1 { report n \"{all.first.name} comes before {all.last.name}\" }
    } }";
    let mut kept = session(rules);
    kept.expect_edits();
    assert_eq!(told(&kept, &before), told(&kept, &after));
    assert_eq!(rounds(&kept), (24, 24));
    // Who asks for an id itself gets another one.
    let rules = "lint found W1 warn { for n in root.nodes { if n.id > 9 { report n \"{n.name}\" } } }";
    matters(rules, (&before, &after), 0..1);
    // And so does who sorts by ids and by something else.
    let rules = "lint found W1 warn { for n in root.nodes {
        let all = ([n] + n.inputs.map(it.source.node)).sort_by(it.id ?? 12)
        report n \"{all.map(it.name)}\"
    } }";
    let lost = changed(&before, |edit| edit.disconnect(named(&before, "n9").input(1)));
    let moved = changed(&lost, |edit| all.iter().for_each(|&n| edit.set_topo_id(n, before.topo_id(n) + 7)));
    one_after_the_other(rules, &lost, &moved);
}

#[test]
fn a_node_is_looked_at_again_when_a_path_far_away_has_changed() {
    let row = row();
    let node = |name| named(&row, name);
    // What leads to the last four nodes are each other and n1, which is the one that n22 reads.
    let before = changed(&row, |edit| {
        for (name, input) in [("n20", 0), ("n20", 1), ("n21", 1), ("n23", 1)] {
            edit.disconnect(node(name).input(input));
        }
        edit.connect(node("n1").output(0), node("n22").input(1));
    });
    let after = changed(&before, |edit| _ = edit.add_control(node("n17"), node("n21")));
    let rules = "lint found W1 warn { for n in root.nodes {
        let all = readers(n)
        for r in all { for s in all.skip((all.index_of(r) ?? 0) + 1) {
            if not r.reaches(s) { report n, r, s \"nothing orders {r.name} and {s.name}\" }
        } }
    } }";
    matters(rules, (&before, &after), 15..23);
}

#[test]
fn nodes_inside_are_looked_at_again_when_the_call_has_changed() {
    let before = row();
    let after = changed(&before, |edit| set_size(edit, named(&before, "n12"), 5));
    // Nodes of one kind share the answer, so that most of them do not look at the call.
    for condition in ["size(around) > 3", "(n.graph.parent.attr(size) ?? 0) + 0 * n.name.count > 3"] {
        let rules = format!(
            "lint found W1 warn {{ for n in root.all_nodes {{
                let around = n.graph.parent
                if around is some and n.type == Relu and {condition} {{ report n \"{{n.name}} is inside\" }}
            }} }}"
        );
        // Those of the outer graph, but for the call, unless their kind has settled that nothing comes of them.
        matters(&rules, (&before, &after), 8..24);
    }
}

#[test]
fn nothing_is_taken_over_when_something_is_said_of_a_graph() {
    let before = row();
    let inner = before.registry().next().expect("a subgraph");
    let after = changed(&before, |edit| {
        edit.update_graph(inner, |graph| graph.attrs = graph.attrs.with(Sym::new("many"), AttrValue::Int(3)));
    });
    let rules = "lint found W1 warn { for n in root.all_nodes {
        if n.graph.attr(many) == 3 { report n \"{n.name} is one of many\" }
    } }";
    matters(rules, (&before, &after), 0..1);
}

#[test]
fn a_list_that_has_lost_or_gained_a_node_is_gone_through_as_it_is() {
    let before = row();
    let node = (**before.node(named(&before, "n5"))).clone();
    let lost = changed(&before, |edit| edit.remove_node(named(&before, "n23")));
    let gained = changed(&before, |edit| {
        _ = edit.add_node(
            anchorwatch::graph::Node { name: "new".into(), ..node },
            Place::After(named(&before, "n3")),
        );
    });
    let rules = "lint found W1 warn { for n in root.nodes { report n \"{n.name}\" } }";
    matters(rules, (&before, &lost), 21..24);
    matters(rules, (&before, &gained), 23..25);
    // Who counts the list in a round does so again.
    let rules = "lint found W1 warn { for n in root.nodes {
        if n.graph.nodes.count > 24 { report n \"{n.name} is one of many\" }
    } }";
    matters(rules, (&before, &gained), 0..1);
    // What stands around the loop is part of what it finds.
    let rules = "lint found W1 warn {
        let count = root.nodes.count
        for n in root.nodes { if n.type == Add { report n \"one of {count}\" } }
    }";
    matters(rules, (&before, &gained), 0..1);
}

#[test]
fn a_node_that_is_named_is_looked_for_again() {
    let before = row();
    let after =
        changed(&before, |edit| edit.update_node(named(&before, "n7"), |node| node.name = "last".into()));
    let rules = "lint found W1 warn { for n in root.nodes {
        if root.node(\"last\") is some { report n \"{n.name}\" }
    } }";
    matters(rules, (&before, &after), 0..1);
}

#[test]
fn a_loop_that_ends_early_ends_where_it_should() {
    let before = row();
    let rules =
        "lint found W1 warn { for n in root.nodes { if size(n) > 3 { report n \"{n.name}\"; stop } } }";
    let large = |nodes: &[&str]| {
        changed(&before, |edit| nodes.iter().for_each(|name| set_size(edit, named(&before, name), 5)))
    };
    matters(rules, (&large(&["n20"]), &large(&["n7", "n20"])), 5..8);
    matters(rules, (&large(&["n7", "n20"]), &large(&["n20"])), 5..8);
    // The round that ended the loop ends it again.
    let [earlier, now] = one_after_the_other(rules, &large(&["n7"]), &large(&["n7", "n20"]));
    assert_eq!((earlier.len(), &earlier), (1, &now));
}

#[test]
fn other_rules_find_what_they_find() {
    let graph = row();
    let rules = |least: i64| {
        format!(
            "{FACTS}lint found W1 warn {{ for n in root.nodes {{ if n.id > {least} {{ report n \"{{n.name}}\" }} }} }}"
        )
    };
    let mut kept =
        session("lint found W1 warn { for n in root.nodes { if n.id > 9 { report n \"{n.name}\" } } }");
    kept.expect_edits();
    told(&kept, &graph);
    for least in [9, 10, 9] {
        kept.set_text("a.anchor", &rules(least));
        let fresh = Session::new(RuleSources { files: vec![("a.anchor".to_owned(), rules(least), false)] });
        assert_eq!(told(&kept, &graph), told(&fresh, &graph));
    }
}

#[test]
fn a_cell_that_was_asked_is_asked_again() {
    let graph = row();
    let rules = |[asked, other]: [&str; 2]| {
        format!(
            "enum Way {{ In, Out }}\n\
             matrix verdict(one: Way, other: Way) -> {{ Good, Bad }}\n  | In | Out\n  In | {asked} | {other}\n  Out | Good | Good\n\
             fn way(n: Node) -> Way = if n.type in KNOWN then In else Out\n\
             lint found W1 warn {{ for n in root.nodes {{ if verdict(way(n), way(n)) == Bad {{ report n \"{{n.name}}\" }} }} }}"
        )
    };
    let mut kept = session(&rules(["Bad", "Good"]));
    kept.expect_edits();
    let few = changed(&graph, |edit| set_size(edit, named(&graph, "n1"), 5));
    // The second run takes findings over, and asks no cell itself; the third would take over from it.
    let before = [&graph, &few].map(|graph| told(&kept, graph));
    assert!(rounds(&kept).1 > 0 && before[0].len() > 10);
    kept.set_text("a.anchor", &format!("{FACTS}{}", rules(["Bad", "Bad"])));
    assert_eq!(told(&kept, &few), before[1]);
    kept.set_text("a.anchor", &format!("{FACTS}{}", rules(["Good", "Bad"])));
    assert_eq!([&graph, &few].map(|graph| told(&kept, graph)), [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn nothing_is_kept_where_no_edit_is_expected() {
    let graph = row();
    let session = session("lint found W1 warn { for n in root.nodes { report n \"{n.name}\" } }");
    told(&session, &graph);
    assert!(session.database().past_runs().is_none());
}

#[test]
fn no_more_than_a_few_runs_are_kept() {
    let graph = row();
    let mut kept =
        session("lint found W1 warn { for n in root.nodes { if size(n) > 3 { report n \"{n.name}\" } } }");
    kept.expect_edits();
    let runs = kept.database().past_runs().expect("edits are expected");
    for size in 0..20 {
        told(&kept, &changed(&graph, |edit| set_size(edit, named(&graph, "n7"), size)));
        assert_eq!(runs.count(), (size as usize + 1).min(8));
        assert_eq!(rounds(&kept), (24, if size == 0 { 0 } else { 23 }));
    }
}

#[test]
fn the_nearest_of_the_runs_before_is_gone_by() {
    let one = row();
    // Another graph: nothing is the same.
    let other = changed(&one, |edit| {
        one.nodes_by_id().for_each(|(id, _)| set_size(edit, id, 9));
        (0..9).for_each(|_| _ = edit.add_node((**one.node(named(&one, "n5"))).clone(), Place::End));
    });
    let mut kept =
        session("lint found W1 warn { for n in root.nodes { if size(n) > 3 { report n \"{n.name}\" } } }");
    kept.expect_edits();
    let set = |graph: &Snapshot, size| changed(graph, |edit| set_size(edit, named(graph, "n7"), size));
    for (graph, taken_over) in
        [(one.clone(), 0), (other.clone(), 0), (set(&one, 2), 23), (set(&other, 2), 32)]
    {
        told(&kept, &graph);
        assert_eq!(rounds(&kept).1, taken_over);
    }
}

/// One thing that is done to a graph; the numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Change {
    Size(usize, i64),
    Connect(usize, usize),
    Disconnect(usize),
    Control(usize, usize),
    NoControl(usize, usize),
    Id(usize, i64),
    Add(usize),
    Remove(usize),
    Graph(i64),
}

fn change() -> impl Strategy<Value = Change> {
    let any = || 0usize..1000;
    prop_oneof![
        4 => (any(), 0i64..6).prop_map(|(at, size)| Change::Size(at, size)),
        2 => (any(), any()).prop_map(|(from, to)| Change::Connect(from, to)),
        2 => any().prop_map(Change::Disconnect),
        2 => (any(), any()).prop_map(|(from, to)| Change::Control(from, to)),
        1 => (any(), any()).prop_map(|(from, to)| Change::NoControl(from, to)),
        3 => (any(), 0i64..30).prop_map(|(at, id)| Change::Id(at, id)),
        2 => any().prop_map(Change::Add),
        1 => any().prop_map(Change::Remove),
        1 => (0i64..4).prop_map(Change::Graph),
    ]
}

fn apply(graph: &Snapshot, change: &Change) -> Snapshot {
    let all: Vec<NodeId> = graph.nodes_by_id().map(|(id, _)| id).collect();
    let at = |n: usize| all[n % all.len()];
    // Edges go on in the order of numbers, and stay in one graph.
    let pair = |a: usize, b: usize| {
        let (from, to) = (at(a).min(at(b)), at(a).max(at(b)));
        (from != to && graph.node(from).graph == graph.node(to).graph).then_some((from, to))
    };
    changed(graph, |edit| match *change {
        Change::Size(n, size) => set_size(edit, at(n), size),
        Change::Connect(a, b) => {
            if let Some((from, to)) = pair(a, b)
                && !graph.node(from).outputs.is_empty()
                && !graph.node(to).inputs.is_empty()
            {
                edit.connect(from.output(0), to.input(b as u32 % graph.node(to).inputs.len() as u32));
            }
        }
        Change::Disconnect(n) => {
            let ports = graph.node(at(n)).inputs.len() as u32;
            if ports > 0 {
                edit.disconnect(at(n).input(n as u32 % ports));
            }
        }
        Change::Control(a, b) => {
            if let Some((from, to)) = pair(a, b) {
                edit.add_control(from, to);
            }
        }
        Change::NoControl(a, b) => {
            if let Some((from, to)) = pair(a, b) {
                edit.remove_control(from, to);
            }
        }
        Change::Id(n, id) => edit.set_topo_id(at(n), id),
        Change::Add(n) => {
            let like = (**graph.node(at(n))).clone();
            let name = format!("{}_{}", like.name, graph.node_slots());
            let subgraphs = std::sync::Arc::default();
            edit.add_node(
                anchorwatch::graph::Node { name: name.into(), subgraphs, ..like },
                Place::After(at(n)),
            );
        }
        Change::Remove(n) => {
            if !graph.node(at(n)).has_subgraphs() && graph.node_count() > 20 {
                edit.remove_node(at(n));
            }
        }
        Change::Graph(many) => edit.update_graph(GraphId::ROOT, |graph| {
            graph.attrs = graph.attrs.with(Sym::new("many"), AttrValue::Int(many));
        }),
    })
}

/// Bodies of loops over `n`, each of which looks at other things.
const BODIES: [&str; 10] = [
    "if size(n) > 3 { report n \"{n.name} is large\" help \"{size(n)}\" }",
    "if any r in readers(n): size(r) > 2 { report n \"large reader\" }",
    "let all = readers(n); if all.count > 1 { report n \"{all.map(it.name)} of {n.graph.nodes.count}\" }",
    "for r in readers(n) { for s in readers(n) { if not r.reaches(s) { report n, r, s \"{r.name} {s.name}\" } } }",
    "if n.id > 12 { report n \"{n.id}\" }",
    "let sources = n.inputs.map(it.source.node); report n \"{sources.sort_by(it.id ?? 8).map(it.name)}\"",
    "let sources = n.inputs.map(it.source.node); if sources.sort_by(it.id ?? 8).first is none { report n \"none comes first\" }",
    "if n.control_out.count > n.control_in.count { report n \"{n.name}\" }",
    "let around = n.graph.parent; if around is some and size(around) > 2 and n.type == Relu { report n \"inside\" }",
    "if n.graph.attr(many) == 2 or n.graph.nodes.first == n { report n \"{n.name}\" }",
];

const HEADS: [(&str, &str); 4] = [
    ("lint found W1 warn { for n in root.nodes {", "} }"),
    ("lint found W1 warn { for g in [root] + root.subgraphs { for n in g.nodes {", "} } }"),
    ("lint found W1 warn { for n in root.all_nodes where n.outputs.count > 0 {", "} }"),
    ("lint found W1 warn for n: Node where size(n) < 5 {", "}"),
];

fn lint(head: usize, bodies: &[usize]) -> String {
    let (start, end) = HEADS[head % HEADS.len()];
    // A body has locals of its own.
    let bodies: String =
        bodies.iter().map(|body| format!("if true {{ {} }}\n", BODIES[body % BODIES.len()])).collect();
    format!("{start}\n{bodies}{end}")
}

#[test]
fn every_body_is_sound() {
    for head in 0..HEADS.len() {
        for body in 0..BODIES.len() {
            session(&lint(head, &[body]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// One session sees a graph change step by step, and another session each state alone.
    #[test]
    fn a_session_that_goes_on_tells_what_a_new_one_tells(
        head in 0usize..4,
        bodies in prop::collection::vec(0usize..BODIES.len(), 1..3),
        steps in prop::collection::vec(prop::collection::vec(change(), 1..4), 1..6),
    ) {
        let rules = lint(head, &bodies);
        let mut kept = session(&rules);
        kept.expect_edits();
        let mut graph = row();
        told(&kept, &graph);
        for step in steps {
            graph = step.iter().fold(graph, |graph, change| apply(&graph, change));
            prop_assert_eq!(told(&kept, &graph), told(&session(&rules), &graph));
        }
    }
}
