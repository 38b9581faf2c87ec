//! Tables and marks that are made from those of an earlier graph are those that a new session finds.

use std::cell::Cell;

use proptest::prelude::*;

use super::layers::rounds;
use super::queries::{At, Layer, mark_list, symbols};
use super::{RuleSources, Session};
use crate::db::{Db, names};
use crate::format::notation;
use crate::graph::{Anchor, AttrValue, Edit, GraphId, Node, NodeId, Place, Snapshot, Sym, label};
use crate::lang::syntax::ast::Kind;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// Called for each condition of a mark that is asked.
pub(super) fn count() {
    ASKED.set(ASKED.get() + 1);
}

/// Each attribute goes by something else; `@` stands for a number that an edit of the rules changes.
const RULES: &str = r#"
set MERGES = { Merge }
set ADDS = { Add }
enum Way { In, Out }
attr size: int on node
attr many: int on graph
matrix verdict(one: Way, other: Way) -> { Good, Bad }
      | In   | Out
  In  | Good | Good
  Out | CELL | Good

fn size(n: Node) -> Int = n.attr(size) ?? 0
fn sources(n: Node) -> list<Output> = n.inputs.map(it.source) where it is some
fn way(n: Node) -> Way = if n.type in MERGES then In else Out

symbols memory(target: Graph) {
  let most = 8
  for n in target.all_nodes {
    if size(n) > most { fail "{n.name} is too large" }
    let base = if n.type in MERGES then sources(n).max_by(it.group_size) else none
    let apart = n.type in ADDS and any s in sources(n): s.group_size in [4, 7, 9, 10, 13, 16, 20]
    for i in n.inputs {
      let source = i.source
      if source is some and source.registered and not apart { join i to source } else { found i }
    }
    if base is some {
      for s in sources(n) { if s.registered and base.registered and not s.same_group(base) { unite s with base } }
    }
    for o in n.outputs where not it.registered {
      let handed = n.input(0)
      if handed is some { if size(n) > 3 and all c in n.control_in: size(c) < 2 { join o to handed } }
      if not o.registered { found o }
    }
  }
}

attribute OWN on output where size(node) > @
attribute BESIDE on output where any r in anchor.as_output.readers ?? []: size(r.node) > 1
attribute NAMED on input where group.outputs.count > 2 and group.find("n3_out_0") is some and size(node) < 6
attribute LATE on input where node.id > 9
attribute MARKED on output where anchor.has(OWN) or size(node) == 1
attribute OTHERS_MARKED on output where any o in sources(node): o.has(OWN)
attribute LOOKED_UP on input where node.graph.node("n3") is some
attribute CROWDED on input where node.graph.nodes.count > 25
attribute INNER on output where graph != target
attribute AROUND on input where (node.graph.parent.attr(size) ?? 0) > 2
attribute CELLS on input where verdict(way(node), In) == Bad
attribute REST_IN on input otherwise
attribute REST_OUT on output otherwise
"#;

fn rules(least: i64, cell: &str) -> String {
    RULES.replace('@', &least.to_string()).replace("CELL", cell)
}

fn session(rules: &str) -> Session {
    let session = Session::new(RuleSources { files: vec![("a.anchor".to_owned(), rules.to_owned(), false)] });
    assert!(!session.has_errors(), "{:#?}", session.diagnostics());
    session
}

fn expecting(rules: &str) -> Session {
    let mut session = session(rules);
    session.expect_edits();
    session
}

/// A row of nodes, each of which the next and the fourth behind it read; in the middle a call with a row inside.
fn row() -> Snapshot {
    let mut text = String::from("n0: Data\n");
    for n in 1..24usize {
        let (ty, back) = (["Relu", "Add", "Merge"][n % 3], n.saturating_sub(4));
        text.push_str(&format!("n{n}: {ty}(n{}, n{back})", n - 1));
        if n == 12 {
            text.push_str(" {\n  size = 1\n  subgraph inner {\n    i0: Data\n");
            (1..9).for_each(|i| text.push_str(&format!("    i{i}: Relu(i{})\n", i - 1)));
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

fn targets(graph: &Snapshot) -> Vec<GraphId> {
    std::iter::once(GraphId::ROOT).chain(graph.registry()).collect()
}

/// All groups and all marks of all graphs, with the failures of those that there are none of.
fn shown(session: &Session, graph: &Snapshot) -> Vec<String> {
    let (db, rules) = (&session.db, session.rules);
    let labels = |anchors: &mut dyn Iterator<Item = Anchor>| {
        anchors.map(|anchor| label(graph, anchor)).collect::<Vec<_>>().join(" ")
    };
    let mut shown = Vec::new();
    for target in targets(graph) {
        let layer = Layer::new(db, At::new(db, graph.clone()), Sym::new("memory"), target);
        let table = match symbols(db, rules, layer) {
            Ok(table) => table,
            Err(failure) => {
                shown.push(format!("{:?}", failure.0));
                continue;
            }
        };
        shown.extend(table.groups().iter().map(|group| labels(&mut group.members.iter().copied())));
        for &mark in names(db, rules, Kind::Attribute) {
            shown.push(match mark_list(db, rules, layer, mark) {
                Ok(list) => {
                    let of = |place: &super::marks::Place| {
                        assert_eq!(
                            table.groups()[place.group as usize].members[place.at as usize],
                            place.anchor
                        );
                        place.anchor
                    };
                    format!("{mark}: {}", labels(&mut list.places.iter().map(of)))
                }
                Err(failure) => format!("{mark}: {:?}", failure.0),
            });
        }
    }
    shown
}

/// What is shown of a second graph matters, and is that of a new session; of the rounds of the table and of the conditions so many
/// are gone through.
fn matters(
    (before, after): (&Snapshot, &Snapshot),
    table: std::ops::Range<usize>,
    conditions: std::ops::Range<usize>,
) {
    let kept = expecting(&rules(2, "Good"));
    let first = shown(&kept, before);
    ASKED.set(0);
    let second = shown(&kept, after);
    let asked = ASKED.get();
    assert_ne!(first, second, "the change matters");
    assert_eq!(second, shown(&session(&rules(2, "Good")), after));
    let (known, taken_over) = rounds(&kept.cells(), GraphId::ROOT, after);
    let gone_through = after.node_count() - taken_over;
    assert!(table.contains(&gone_through), "{gone_through} of {known} rounds");
    assert!(conditions.contains(&asked), "{asked} conditions");
}

#[test]
fn what_cannot_have_changed_is_not_asked_again() {
    let graph = row();
    let [kept, alone] = [expecting(&rules(2, "Good")), session(&rules(2, "Good"))];
    ASKED.set(0);
    assert_eq!(shown(&kept, &graph), shown(&alone, &graph));
    let all = ASKED.get() / 2;
    assert_eq!(rounds(&kept.cells(), GraphId::ROOT, &graph), (33, 0));
    // The node, and the eight merges, which ask about groups when they have made some.
    let size = changed(&graph, |edit| set_size(edit, named(&graph, "i8"), 3));
    assert!(all > 300, "{all}");
    matters((&graph, &size), 9..10, 1..all / 3);
    let copy = changed(&graph, |edit| {
        let node = Node { name: "copy".into(), ..(**graph.node(named(&graph, "n23"))).clone() };
        let node = edit.add_node(node, Place::After(named(&graph, "n22")));
        edit.connect(named(&graph, "n22").output(0), node.input(0));
        edit.connect(node.output(0), named(&graph, "n23").input(0));
    });
    matters((&graph, &copy), 10..13, 1..all * 3 / 4);
}

#[test]
fn what_groups_answer_is_asked_again() {
    let text = rules(2, "Good");
    let before = row();
    // n20 reads n16, whose group is another one then, and so is that of what is far behind.
    let grown = changed(&before, |edit| set_size(edit, named(&before, "n1"), 5));
    // Nothing that a round reads says that a node comes before another one.
    let list: Vec<NodeId> = before.list(GraphId::ROOT).collect();
    let moved = changed(&before, |edit| {
        edit.set_list(GraphId::ROOT, list.iter().rev().copied().collect::<Vec<_>>());
    });
    for (before, after) in [(&before, &grown), (&grown, &before), (&before, &moved), (&moved, &before)] {
        let kept = expecting(&text);
        let first = shown(&kept, before);
        let second = shown(&kept, after);
        assert_ne!(first, second);
        assert_eq!(second, shown(&session(&text), after));
    }
}

#[test]
fn a_cell_that_a_mark_rests_on_is_asked_again() {
    let graph = row();
    let mut kept = expecting(&rules(2, "Good"));
    let first = shown(&kept, &graph);
    kept.set_text("a.anchor", &rules(2, "Bad"));
    let second = shown(&kept, &graph);
    assert_ne!(first, second);
    assert_eq!(second, shown(&session(&rules(2, "Bad")), &graph));
}

#[test]
fn nothing_is_kept_where_no_edit_is_expected() {
    let session = session(&rules(2, "Good"));
    shown(&session, &row());
    assert!(session.db.past_answers().is_none());
    let kept = expecting(&rules(2, "Good"));
    let answers = kept.db.past_answers().expect("edits are expected");
    let mut of_one = Vec::new();
    for size in 0..6 {
        shown(&kept, &changed(&row(), |edit| set_size(edit, named(&row(), "n7"), size)));
        of_one.push(answers.all().len());
    }
    // Of two graphs the table and the marks but those that nobody else carries, and that ask cells.
    assert_eq!(of_one, [22, 44, 66, 66, 66, 66]);
}

/// One thing that is done to a graph; the numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Change {
    Size(usize, i64),
    Type(usize, usize),
    Name(usize, usize),
    Connect(usize, usize),
    Disconnect(usize),
    Control(usize, usize),
    Id(usize, i64),
    Add(usize, usize),
    Remove(usize),
    Port(usize),
    Order(usize, usize),
    Graph(i64),
}

fn change() -> impl Strategy<Value = Change> {
    let any = || 0usize..1000;
    prop_oneof![
        6 => (any(), 0i64..10).prop_map(|(at, size)| Change::Size(at, size)),
        2 => (any(), any()).prop_map(|(at, ty)| Change::Type(at, ty)),
        2 => (any(), any()).prop_map(|(at, name)| Change::Name(at, name)),
        3 => (any(), any()).prop_map(|(from, to)| Change::Connect(from, to)),
        3 => any().prop_map(Change::Disconnect),
        2 => (any(), any()).prop_map(|(from, to)| Change::Control(from, to)),
        2 => (any(), 0i64..30).prop_map(|(at, id)| Change::Id(at, id)),
        3 => (any(), any()).prop_map(|(at, to)| Change::Add(at, to)),
        1 => any().prop_map(Change::Remove),
        1 => any().prop_map(Change::Port),
        2 => (any(), any()).prop_map(|(at, to)| Change::Order(at, to)),
        1 => (0i64..4).prop_map(Change::Graph),
    ]
}

fn apply(graph: &Snapshot, change: &Change) -> Snapshot {
    let all: Vec<NodeId> = graph.nodes_by_id().map(|(id, _)| id).collect();
    let at = |n: usize| all[n % all.len()];
    // Edges go on in the order of numbers, and stay in one graph.
    let pair = |a: usize, b: usize| {
        let (from, to) = (at(a).min(at(b)), at(a).max(at(b)));
        let (x, y) = (graph.node(from), graph.node(to));
        let fits = from != to && x.graph == y.graph && !x.outputs.is_empty() && !y.inputs.is_empty();
        fits.then(|| (from, to.input(b as u32 % y.inputs.len() as u32)))
    };
    changed(graph, |edit| match *change {
        Change::Size(n, size) => set_size(edit, at(n), size),
        Change::Type(n, ty) => {
            edit.update_node(at(n), |node| node.ty = Sym::new(["Relu", "Add", "Merge"][ty % 3]));
        }
        Change::Name(n, name) => {
            // Before, between and behind the others in the order of names.
            let name = format!("{}{}", ["a", "n1", "z"][name % 3], graph.node_slots() + name);
            edit.update_node(at(n), |node| node.name = name.into());
        }
        Change::Connect(a, b) => {
            if let Some((from, to)) = pair(a, b) {
                edit.connect(from.output(0), to);
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
                edit.add_control(from, to.node);
            }
        }
        Change::Id(n, id) => edit.set_topo_id(at(n), id),
        Change::Add(n, to) => {
            let like = (**graph.node(at(n))).clone();
            let name = format!("{}_{}", like.name, graph.node_slots());
            let node = edit.add_node(
                Node { name: name.into(), subgraphs: Default::default(), ..like },
                Place::After(at(n)),
            );
            // A copy in front of an input.
            if let Some((_, input)) = pair(n, to)
                && let Some(from) = graph.producer(input)
                && graph.node(at(n)).graph == graph.node(input.node).graph
                && !graph.node(at(n)).inputs.is_empty()
            {
                edit.connect(from, node.input(0));
                edit.connect(node.output(0), input);
            }
        }
        Change::Remove(n) => {
            if !graph.node(at(n)).has_subgraphs() && graph.node_count() > 20 {
                edit.remove_node(at(n));
            }
        }
        Change::Port(n) => edit.update_node(at(n), |node| {
            node.outputs = node.outputs.iter().chain(node.outputs.get(0)).cloned().collect();
        }),
        Change::Order(a, b) => {
            let of = graph.node(at(a)).graph;
            let mut list: Vec<NodeId> = graph.list(of).collect();
            let (from, to) = (a % list.len(), b % list.len());
            list.swap(from, to);
            edit.set_list(of, list);
        }
        Change::Graph(many) => edit.update_graph(GraphId::ROOT, |graph| {
            graph.attrs = graph.attrs.with(Sym::new("many"), AttrValue::Int(many));
        }),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// One session sees a graph change step by step, and now and then its rules; another session each state alone.
    #[test]
    fn a_session_that_goes_on_shows_what_a_new_one_shows(
        steps in prop::collection::vec((prop::collection::vec(change(), 1..4), 0i64..8, any::<bool>()), 1..7),
    ) {
        let mut text = rules(2, "Good");
        let mut kept = expecting(&text);
        let mut graph = row();
        shown(&kept, &graph);
        for (changes, least, bad) in steps {
            // Of a few rules only, so that there is something to go by.
            if least < 2 {
                text = rules(least + 2, if bad { "Bad" } else { "Good" });
                kept.set_text("a.anchor", &text);
            }
            graph = changes.iter().fold(graph, |graph, change| apply(&graph, change));
            let known = shown(&kept, &graph);
            prop_assert_eq!(known, shown(&session(&text), &graph));
        }
    }
}
