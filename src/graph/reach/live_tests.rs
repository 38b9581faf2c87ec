//! Agreement with a plain search while a graph is edited.

use proptest::prelude::*;

use super::super::super::testing::bare_node;
use super::super::super::{Edit, Edited, GraphId, Node, NodeId, Place, Snapshot};
use super::super::PATHS;
use super::super::tests::{plain, random_graph};
use super::*;

/// An edit and the reachability that is told of it.
struct Watched {
    before: Snapshot,
    edit: Edit,
    /// With it, neighbours come from the flat view of what was before.
    edited: Option<Edited>,
    reach: LiveReach,
    scratch: ReachScratch,
    nodes: Vec<NodeId>,
}

impl Watched {
    fn changed(&mut self, nodes: impl IntoIterator<Item = NodeId>) {
        if let Some(edited) = &mut self.edited {
            for node in nodes {
                edited.rewrite(node);
                edited.rewire(node);
            }
        }
    }

    fn connect(&mut self, from: Output, to: Input) {
        if let Some(before) = self.edit.producer(to) {
            self.reach.lose(Edge::Data(before, to));
            self.changed([before.node]);
        }
        self.changed([from.node, to.node]);
        self.edit.connect(from, to);
        self.reach.gain(Edge::Data(from, to));
    }

    fn link(&mut self, from: NodeId, to: NodeId) {
        if self.edit.add_control(from, to) {
            self.changed([from, to]);
            self.reach.gain(Edge::Control(from, to));
        }
    }

    fn unlink(&mut self, from: NodeId, to: NodeId) {
        if self.edit.remove_control(from, to) {
            self.changed([from, to]);
            self.reach.lose(Edge::Control(from, to));
        }
    }

    /// A new node with one input and one output.
    fn insert(&mut self, behind: NodeId) -> NodeId {
        let port = self.edit.node(behind).outputs.get(0).cloned();
        let ports = || port.iter().cloned().collect();
        let node = Node { inputs: ports(), outputs: ports(), ..bare_node("copy", GraphId::ROOT) };
        let node = self.edit.add_node(node, Place::After(behind));
        self.changed([node]);
        self.nodes.push(node);
        node
    }

    /// One step; numbers choose nodes and edges.
    fn step(&mut self, kind: u32, one: u32, two: u32) {
        let count = self.nodes.len() as u32;
        let (a, b) = (self.nodes[(one % count) as usize], self.nodes[(two % count) as usize]);
        let input = |edit: &Edit, node: NodeId| {
            let inputs = edit.node(node).inputs.len() as u32;
            (inputs > 0).then(|| node.input(one % inputs))
        };
        match kind {
            // A copy in front of a reader, which takes over what ran before it.
            0..4 => {
                let Some((input, from)) =
                    input(&self.edit, b).and_then(|i| Some((i, self.edit.producer(i)?)))
                else {
                    return;
                };
                let copy = self.insert(from.node);
                self.connect(from, copy.input(0));
                self.connect(copy.output(0), input);
                for before in self.edit.control_in(b).collect::<Vec<_>>() {
                    self.unlink(before, b);
                    self.link(before, copy);
                }
            }
            // A copy behind a producer, and readers moved to it.
            4..7 => {
                let output = a.output(0);
                let readers: Vec<Input> = self.edit.consumers(output).collect();
                let copy = self.insert(a);
                self.connect(output, copy.input(0));
                for reader in readers.into_iter().skip(two as usize % 3) {
                    self.connect(copy.output(0), reader);
                }
                for after in self.edit.control_out(a).collect::<Vec<_>>() {
                    self.unlink(a, after);
                    self.link(copy, after);
                }
            }
            7 => self.link(a, b),
            8 => {
                let first = self.edit.control_out(a).next();
                first.iter().for_each(|&to| self.unlink(a, to));
            }
            9 => {
                if let Some(input) = input(&self.edit, b).filter(|_| a != b) {
                    self.connect(a.output(0), input);
                }
            }
            10 => {
                if let Some(input) = input(&self.edit, b)
                    && let Some(from) = self.edit.producer(input)
                {
                    self.edit.disconnect(input);
                    self.changed([from.node, input.node]);
                    self.reach.lose(Edge::Data(from, input));
                }
            }
            11 if count > 2 => {
                let (mut before, mut after) = (Vec::new(), Vec::new());
                self.near().predecessors(a, |node| before.push(node));
                self.near().successors(a, |node| after.push(node));
                self.edit.remove_node(a);
                self.changed(before.iter().chain(&after).copied().chain([a]));
                self.reach.gone(a, &before, &after);
                self.nodes.retain(|&node| node != a);
            }
            _ => {}
        }
    }

    fn near(&self) -> Near<'_> {
        Near::new(&self.edit, self.edited.as_ref().map(|edited| (self.before.dense(), edited)))
    }

    fn ask(&mut self, from: NodeId, to: NodeId) -> bool {
        let near = Near::new(&self.edit, self.edited.as_ref().map(|edited| (self.before.dense(), edited)));
        self.reach.reaches(&mut self.scratch, near, GraphId::ROOT, (from, to))
    }

    fn make_positions(&mut self) {
        self.reach.over = Some(Overlay::in_order(self.near(), GraphId::ROOT));
    }

    fn make_index(&mut self) {
        self.reach.over = Some(Overlay::new(Reach::of(self.near(), GraphId::ROOT)));
    }
}

fn watched(snapshot: &Snapshot) -> Watched {
    let nodes = snapshot.list(GraphId::ROOT).collect();
    let (reach, scratch, edited) = Default::default();
    Watched { before: snapshot.clone(), edit: snapshot.edit(), edited, reach, scratch, nodes }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn agrees_with_a_plain_search_after_every_edit(
        snapshot in random_graph(),
        stage in 0..4u32,
        flat in any::<bool>(),
        copies_alone in any::<bool>(),
        steps in prop::collection::vec((0..12u32, 0..40u32, 0..40u32), 1..25),
    ) {
        let mut watched = watched(&snapshot);
        watched.edited = flat.then(Edited::default);
        match stage {
            0 => {}
            1 => watched.make_positions(),
            2 => watched.make_index(),
            _ => watched.reach = LiveReach::expecting(true),
        }
        for (kind, one, two) in steps {
            watched.step(if copies_alone { kind % 7 } else { kind }, one, two);
            if let Some(edited) = watched.edited.as_mut().filter(|_| one % 11 == 0) {
                edited.forget();
            }
            let nodes = watched.nodes.clone();
            let (near, plain_near) = (watched.near(), Near::new(&watched.edit, None));
            for &node in &nodes {
                let beside = |near: Near<'_>| {
                    let (mut before, mut after) = (Vec::new(), Vec::new());
                    near.predecessors(node, |node| before.push(node));
                    near.successors(node, |node| after.push(node));
                    (before, after)
                };
                prop_assert_eq!(beside(near), beside(plain_near));
            }
            // Not after every step all pairs: several edits then lie between two questions.
            for (at, &from) in nodes.iter().enumerate().filter(|(at, _)| (*at as u32 + one).is_multiple_of(3)) {
                for &to in nodes.iter().skip((at + two as usize) % 2).step_by(2) {
                    let expected = plain(&watched.edit, from, to);
                    prop_assert_eq!(watched.ask(from, to), expected, "{:?} {:?}", from, to);
                }
            }
        }
    }
}

#[test]
fn who_expects_many_questions_makes_an_index_for_the_first() {
    let snapshot = super::super::super::testing::Sketch::flat("a b c", "a>b b>c");
    for many in [false, true] {
        let mut watched = watched(&snapshot);
        watched.reach = LiveReach::expecting(many);
        assert!(watched.ask(NodeId(0), NodeId(2)) && !watched.ask(NodeId(2), NodeId(0)));
        let has_index = matches!(&watched.reach.over, Some(Overlay { index: Index::Present(_), .. }));
        assert_eq!(has_index, many);
        assert_eq!(watched.reach.work == 0, many, "nothing is searched where there is an index");
    }
}

proptest! {
    /// What is told without a search may be nothing, but is never wrong.
    #[test]
    fn what_is_known_at_once_agrees_with_a_plain_search(snapshot in random_graph()) {
        let reach = Reach::of(Near::new(&snapshot, None), GraphId::ROOT);
        let standing = Standing::all(&reach);
        let nodes: Vec<NodeId> = snapshot.list(GraphId::ROOT).collect();
        let pairs = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| (from, to)));
        for (from, to) in pairs {
            let expected = plain(&snapshot, from, to);
            let [one, other] = [from, to].map(|node| reach.point.get(node).expect("a point of each node"));
            prop_assert!(reach.known(one, other).is_none_or(|known| known == expected), "{:?} {:?}", from, to);
            let (one, other) = (standing.at(from), standing.at(to));
            prop_assert!(expected || !one.reached(other), "{:?} {:?}", from, to);
            prop_assert!(!expected || one.may_reach(other), "{:?} {:?}", from, to);
        }
    }

    /// A path has its places in a row, and each node says where it first leads to it, and where it is last reached from it.
    #[test]
    fn how_nodes_stand_to_a_path_agrees_with_a_plain_search(snapshot in random_graph()) {
        let reach = Reach::of(Near::new(&snapshot, None), GraphId::ROOT);
        let nodes: Vec<NodeId> = snapshot.list(GraphId::ROOT).collect();
        for number in 0..PATHS {
            let stands = |node: NodeId| reach.paths[reach.point.get(node).expect("a point of each node") as usize][number];
            // Who stands on a path is reached from no later than where it leads to: the place itself. Nodes on a cycle share one.
            let on_path: Vec<(u32, NodeId)> = nodes
                .iter()
                .map(|&node| (stands(node), node))
                .filter(|(stands, _)| stands.first.checked_add(1) == Some(stands.past))
                .map(|(stands, node)| (stands.first, node))
                .collect();
            for &node in &nodes {
                let leads_to = on_path.iter().filter(|(_, on)| plain(&snapshot, node, *on)).map(|(place, _)| *place);
                let reached_from = on_path.iter().filter(|(_, on)| plain(&snapshot, *on, node)).map(|(place, _)| place + 1);
                prop_assert_eq!(stands(node).first, leads_to.min().unwrap_or(u32::MAX), "{:?}", node);
                prop_assert_eq!(stands(node).past, reached_from.max().unwrap_or(0), "{:?}", node);
            }
            let length = on_path.iter().map(|(place, _)| place + 1).max().unwrap_or(0);
            prop_assert!((0..length).all(|place| on_path.iter().any(|(on, _)| *on == place)));
            prop_assert!(number > 0 || length > 0, "the first path has a node");
        }
    }
}

/// Asks whether each third node reaches the one five behind it, and so on, until that has made another stage.
fn questions_until(watched: &mut Watched, done: impl Fn(&LiveReach) -> bool) -> usize {
    let nodes = watched.nodes.clone();
    let asked = (0..nodes.len() - 5).step_by(3).cycle().take(100_000).take_while(|&at| {
        assert!(watched.ask(nodes[at], nodes[at + 5]));
        !done(&watched.reach)
    });
    asked.count()
}

#[test]
fn positions_come_before_an_index_and_bound_the_search() {
    // Of two rows side by side each node has edges to the next of both.
    let rows = 1000;
    let names: Vec<String> = (0..rows).flat_map(|at| [format!("a{at}"), format!("b{at}")]).collect();
    let edges = (1..rows).map(|at| format!("a{0}>a{at} b{0}>b{at} a{0}=>b{at} b{0}=>a{at}", at - 1));
    let edges: Vec<String> = edges.collect();
    let snapshot = super::super::super::testing::Sketch::flat(&names.join(" "), &edges.join(" "));
    let mut watched = watched(&snapshot);
    let until_positions = questions_until(&mut watched, |reach| reach.over.is_some());
    assert!(until_positions < 2 * rows, "{until_positions}");
    let before = watched.reach.work;
    assert!(watched.ask(watched.nodes[600], watched.nodes[605]));
    assert!(watched.reach.work - before < 50, "{}", watched.reach.work - before);
    assert!(!watched.ask(watched.nodes[605], watched.nodes[600]));
    questions_until(&mut watched, |reach| reach.over.as_ref().is_some_and(Overlay::is_indexed));
    assert!(
        watched.reach.over.as_ref().is_some_and(Overlay::is_indexed),
        "many questions are worth an index"
    );
}

#[test]
fn positions_follow_an_order_that_the_list_does_not_have() {
    let snapshot = super::super::super::testing::Sketch::flat("d c b a", "a>b b>c c>d");
    let mut watched = watched(&snapshot);
    watched.make_positions();
    let [d, c, _, a] = watched.nodes[..] else { panic!() };
    assert!(watched.ask(a, d) && !watched.ask(d, a) && !watched.ask(d, c));
    // A cycle has none.
    let snapshot = super::super::super::testing::Sketch::flat("a b c", "a>b b>c c=>a");
    let mut watched = super::tests::watched(&snapshot);
    watched.make_positions();
    let [a, b, c] = watched.nodes[..] else { panic!() };
    assert!(watched.reach.over.as_ref().is_some_and(|over| over.positions.is_none()));
    assert!(watched.ask(c, b) && watched.ask(b, a));
}

#[test]
fn an_index_stays_true_of_a_graph_in_which_copies_are_put_on_edges() {
    let snapshot = super::super::super::testing::Sketch::flat("a b c d", "a>b a>c b>d c>d b=>c");
    let mut watched = watched(&snapshot);
    watched.make_index();
    for at in 0..40 {
        watched.step(at % 7, at, at + 1);
    }
    assert!(watched.ask(NodeId(0), NodeId(3)));
    assert!(watched.reach.over.as_ref().is_some_and(|over| over.intact), "every edge that went was bridged");
    let widened = watched.reach.work;
    assert!(!watched.ask(NodeId(3), NodeId(0)));
    assert!(watched.ask(NodeId(1), NodeId(3)));
    assert_eq!(watched.reach.work, widened, "no question was searched");
}

#[test]
fn an_edge_that_goes_for_good_is_noticed() {
    let snapshot = super::super::super::testing::Sketch::flat("a b c", "a>b b>c");
    let mut watched = watched(&snapshot);
    watched.make_index();
    assert!(watched.ask(NodeId(0), NodeId(2)));
    watched.edit.disconnect(NodeId(1).input(0));
    watched.reach.lose(Edge::Data(NodeId(0).output(0), NodeId(1).input(0)));
    assert!(!watched.ask(NodeId(0), NodeId(2)));
    assert!(watched.ask(NodeId(1), NodeId(2)));
}

#[test]
fn a_node_that_goes_leaves_what_leads_around_it() {
    let snapshot = super::super::super::testing::Sketch::flat("a b c d e", "a>b b>c c>d b=>e");
    let mut watched = watched(&snapshot);
    watched.make_index();
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(NodeId);
    assert!(watched.ask(a, d));
    // The reader of `b` reads what `b` reads, and who waited for `b` waits for `a`.
    watched.connect(a.output(0), c.input(0));
    watched.link(a, e);
    watched.step(11, b.0, 0);
    assert!(watched.ask(a, d) && watched.ask(a, e) && !watched.ask(c, e));
    let over = watched.reach.over.as_ref();
    assert!(over.is_some_and(|over| over.intact && over.loose.is_empty()), "nothing else has lost its way");
    let searched = watched.reach.work;
    assert!(watched.ask(a, d));
    assert_eq!(watched.reach.work, searched, "the index still says so");
}

#[test]
fn a_node_that_goes_without_a_way_around_is_noticed() {
    let snapshot = super::super::super::testing::Sketch::flat("x a b c d", "x=>a a>b b>c c>d");
    let mut watched = watched(&snapshot);
    watched.make_index();
    let [x, a, b, c, d] = [0, 1, 2, 3, 4].map(NodeId);
    assert!(watched.ask(x, d));
    watched.step(11, b.0, 0);
    assert!(!watched.ask(x, d) && !watched.ask(a, c) && watched.ask(c, d) && watched.ask(x, a));
}

#[test]
fn only_a_copy_that_is_no_longer_read_loses_its_way() {
    let snapshot = super::super::super::testing::Sketch::flat("a b c d e", "a>b b>c c>d b>e");
    let mut watched = watched(&snapshot);
    watched.make_index();
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(NodeId);
    assert!(watched.ask(b, d));
    watched.connect(a.output(0), c.input(0));
    assert!(!watched.ask(b, d) && watched.ask(a, d) && watched.ask(b, e));
    let over = watched.reach.over.as_ref();
    assert!(
        over.is_some_and(|over| over.intact && over.loose.iter().eq([&b])),
        "`b` alone does not lead there"
    );
}

#[test]
fn a_copy_that_the_index_knows_is_a_way_around() {
    // `b` and `c` are two copies of `a`; the reader of the one becomes a reader of the other.
    let snapshot = super::super::super::testing::Sketch::flat("x a b c d", "x=>a a>b a>c b>d");
    let mut watched = watched(&snapshot);
    watched.make_index();
    let [x, a, b, c, d] = [0, 1, 2, 3, 4].map(NodeId);
    watched.connect(c.output(0), d.input(0));
    assert!(watched.ask(x, d) && watched.ask(a, d) && watched.ask(c, d) && !watched.ask(b, d));
    let over = watched.reach.over.as_ref();
    assert!(over.is_some_and(|over| over.intact && over.loose.iter().eq([&b])));
}

#[test]
fn two_nodes_in_a_row_that_are_no_longer_read_lose_their_way() {
    let snapshot = super::super::super::testing::Sketch::flat("x a b c d", "x=>a a>b b>c c>d");
    let mut watched = watched(&snapshot);
    watched.make_index();
    let [x, a, b, c, d] = [0, 1, 2, 3, 4].map(NodeId);
    watched.connect(a.output(0), d.input(0));
    assert!(watched.ask(x, d) && watched.ask(a, d) && watched.ask(a, c));
    assert!(!watched.ask(b, d) && !watched.ask(c, d) && watched.ask(b, c));
    let over = watched.reach.over.as_ref().unwrap();
    assert!(over.intact && over.loose.len() == 2 && over.loose.contains(&b) && over.loose.contains(&c));
}

#[test]
fn a_row_of_nodes_that_was_moved_has_room_for_copies() {
    // Two rows. The first one comes to lie behind the second.
    let row = |from: u32| (from..from + 199).map(|i| format!("o{i}>o{}", i + 1));
    let names: Vec<String> = (0..400).map(|i| format!("o{i}")).collect();
    let edges: Vec<String> = row(0).chain(row(200)).collect();
    let snapshot = super::super::super::testing::Sketch::flat(&names.join(" "), &edges.join(" "));
    let mut watched = watched(&snapshot);
    watched.make_index();
    watched.link(NodeId(399), NodeId(0));
    assert!(watched.ask(NodeId(200), NodeId(199)));
    let moved = watched.reach.work;
    assert!(moved >= 200, "the first row has been moved: {moved}");
    for at in 1..199 {
        watched.step(0, 0, at);
        assert!(watched.ask(NodeId(at - 1), NodeId(at)) && !watched.ask(NodeId(at), NodeId(at - 1)));
    }
    // One step for each of the two edges of a copy, and for the one that it took the place of.
    assert_eq!(watched.reach.work - moved, 198 * 3);
}

#[test]
fn a_path_decides_about_what_is_far_apart() {
    // A ladder: most walks through it leave most pairs open.
    let names: Vec<String> = (0..400).map(|i| format!("o{i}")).collect();
    let edges = (0..398).map(|i| format!("o{i}>o{} o{i}=>o{}", i + 2, (i ^ 1) + 2));
    let edges: Vec<String> = edges.collect();
    let snapshot = super::super::super::testing::Sketch::flat(&names.join(" "), &edges.join(" "));
    let reach = Reach::of(Near::new(&snapshot, None), GraphId::ROOT);
    let point = |i| reach.point.get(NodeId(i)).unwrap();
    for from in (0..200).step_by(7) {
        for to in (from + 4..400).step_by(3) {
            assert_eq!(reach.known(point(from), point(to)), Some(true), "{from} {to}");
        }
    }
}
