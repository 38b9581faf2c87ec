//! What is soon told of elements of a loop or a list is taken over a few at a time.
//!
//! Each test changes one thing by which it is told. A kept session does what a new one does, and takes most elements over.

use anchorwatch::db::Db;
use anchorwatch::engine::Session;
use anchorwatch::format::notation;
use anchorwatch::graph::{AttrValue, Node, Snapshot, Sym};

use super::changed;
use super::passes::{done, fresh, sized, with};
use super::{named, set_size};

/// A long row of nodes, each of which the next and the fourth behind it read.
fn long_row() -> Snapshot {
    let node = |n: usize| {
        let (ty, back) = (["Relu", "Add", "Copy"][n % 3], n.saturating_sub(4));
        format!("n{n}: {ty}(n{}, n{back})\n", n - 1)
    };
    let text: String = std::iter::once("n0: Data\n".to_owned()).chain((1..200).map(node)).collect();
    notation::parse(&text).0.expect("a graph")
}

fn elements(session: &Session) -> usize {
    session.database().past_runs().and_then(|runs| runs.last()).map_or(0, |run| run.rounds.elements())
}

/// Runs `found` on two graphs one after the other, and back. The change matters, and so many elements are taken over.
fn matters(rules: &str, (before, after): (&Snapshot, &Snapshot), taken_over: std::ops::Range<usize>) {
    let cells = [false; 3];
    assert_ne!(done(&fresh(rules, cells), before, &["found"]), done(&fresh(rules, cells), after, &["found"]));
    for (first, second) in [(before, after), (after, before)] {
        let mut kept = fresh(rules, cells);
        kept.expect_edits();
        done(&kept, first, &["found"]);
        assert_eq!(elements(&kept), 0, "there is nothing to take over yet");
        assert_eq!(done(&kept, second, &["found"]), done(&fresh(rules, cells), second, &["found"]));
        let elements = elements(&kept);
        assert!(taken_over.contains(&elements), "{elements} elements were taken over");
        // The same once more, by what was taken over.
        let again = sized(second, &[("n40", 1)]);
        assert_eq!(done(&kept, &again, &["found"]), done(&fresh(rules, cells), &again, &["found"]));
    }
}

#[test]
fn a_condition_is_asked_again_of_a_node_that_has_changed() {
    let rules = "pass found { for n in root.nodes where plain_size(it) > 3 { report n \"large\" } }";
    let before = sized(&long_row(), &[("n70", 5)]);
    // The first of a list are asked each time, and a stretch is asked again.
    matters(rules, (&before, &sized(&before, &[("n90", 5)])), 150..185);
}

#[test]
fn a_list_is_made_again_where_a_reader_has_changed() {
    let rules = "pass found { for i in root.nodes.flat_map(plain_readers(it)) { report i \"large\" } }";
    let before = sized(&long_row(), &[("n70", 5)]);
    matters(rules, (&before, &sized(&before, &[("n90", 5)])), 100..185);
    // Another reader, and the same kinds of nodes.
    let after = changed(&before, |edit| edit.disconnect(named(&before, "n70").input(0)));
    matters(rules, (&before, &after), 100..185);
}

#[test]
fn a_body_is_run_again_where_a_reader_has_changed() {
    let rules = "pass found { for n in root.nodes { for o in n.outputs {
        for i in o.readers where plain_size(it.node) > 2 { report i \"large\" }
    } } }";
    let before = sized(&long_row(), &[("n70", 5)]);
    matters(rules, (&before, &sized(&before, &[("n90", 5)])), 100..196);
}

#[test]
fn what_was_undone_was_there_for_a_while() {
    // Inside, 30 nodes more are deep.
    let rules = "pass found {
        attempt {
            for n in root.nodes { if size(n) > 3 { set n.attr(deep) = size(n) } }
            for n in root.nodes where (it.attr(deep) ?? 0) > 3 { set n.note(seen) = 9 }
            for n in root.nodes { if size(n) == 6 { fail \"no\" } }
        }
        for n in root.nodes where (it.attr(deep) ?? 0) > 3 { report n \"deep\" }
    }";
    let spots: Vec<String> = (100..130).map(|n| format!("n{n}")).collect();
    let many: Vec<(&str, i64)> = spots.iter().map(|name| (name.as_str(), 5)).collect();
    let before = sized(&long_row(), &many);
    matters(rules, (&before, &sized(&before, &[("n90", 6)])), 100..400);
}

#[test]
fn cells_are_asked_again_by_what_rests_on_them() {
    // Many of one kind, so that most are told by their kinds.
    let of_size = |size: i64, from: usize| (0..5).map(move |n| (format!("n{}", from + 30 * n), size));
    let many: Vec<(String, i64)> = of_size(3, 71).chain(of_size(3, 72)).chain(of_size(5, 74)).collect();
    let many: Vec<(&str, i64)> = many.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    let graph = sized(&long_row(), &many);
    for rules in [
        "fn own(n: Node) -> list<Output> = if verdict(by_type(n), Way.In) == Bad then n.outputs where it.index == 0 else []\n\
        pass found { for o in root.nodes.flat_map(own(it)) { report o \"bad\" } }",
        "pass found { for i in root.nodes.flat_map(it.outputs).flat_map(bad_readers(it)) { report i \"bad\" } }",
        "pass found { for n in root.nodes { for o in n.outputs { for i in bad_readers(o) { report i \"bad\" } } } }",
        "pass found { for n in root.nodes where verdict(by_type(it), Way.In) == Bad { report n \"bad\" } }",
    ] {
        let mut kept = fresh(rules, [false; 3]);
        kept.expect_edits();
        let mut told = vec![done(&kept, &graph, &["found"])];
        for cells in [[true, false, false], [true, false, true], [false, true, true], [false; 3], [true; 3]] {
            kept.set_text("a.anchor", &with(rules, cells));
            let now = done(&kept, &graph, &["found"]);
            assert_eq!(now, done(&fresh(rules, cells), &graph, &["found"]), "{rules} {cells:?}");
            told.push(now);
        }
        told.sort();
        told.dedup();
        assert!(told.len() > 1, "{rules}");
    }
}

#[test]
fn elements_that_come_in_another_order_are_found() {
    let rules = "pass found {
        for n in (root.nodes.skip(100) + root.nodes.take(100)) where plain_size(it) > 3 { report n \"large\" }
        for n in root.nodes.sort_by(size(it)) where plain_size(it) > 4 { report n \"larger\" }
    }";
    let before = sized(&long_row(), &[("n70", 5)]);
    let half: Vec<String> = (30..60).map(|n| format!("n{n}")).collect();
    let after = changed(&before, |edit| half.iter().for_each(|name| set_size(edit, named(&before, name), 7)));
    matters(rules, (&before, &after), 150..370);
}

#[test]
fn what_is_edited_on_the_way_is_looked_at_again() {
    // A node on the way makes its readers large, and they come in a stretch that had begun before.
    let rules = "pass found { for n in root.nodes {
        if plain_size(n) > 3 { if n.name.count > 0 and n.attr(deep) == 1 { for r in readers(n) { set r.attr(size) = 2 } } }
        else if plain_size(n) == 2 { report n \"made large\" }
    } }";
    let before = sized(&long_row(), &[("n100", 5)]);
    let after = changed(&before, |edit| {
        let deep = |node: &mut Node| node.attrs = node.attrs.with(Sym::new("deep"), AttrValue::Int(1));
        edit.update_node(named(&before, "n100"), deep);
    });
    matters(rules, (&before, &after), 100..200);
}

#[test]
fn what_no_node_stands_for_is_asked_of_each_again() {
    let rules = "pass found {
        for n in root.nodes { if size(n) > 3 { for r in readers(n) { set r.note(seen) = size(n) } } }
        for n in root.nodes where (it.note(seen) ?? 0) > 4 { report n \"seen\" }
    }";
    let before = sized(&long_row(), &[("n70", 4)]);
    matters(rules, (&before, &sized(&before, &[("n70", 5)])), 0..1);
    let rules = "pass found { for n in root.nodes where it.reaches(root.nodes[170]) == true { report n \"before\" } }";
    let after = changed(&before, |edit| {
        let cut = ["n100", "n101", "n102", "n103"].map(|name| named(&before, name));
        cut.iter().for_each(|node| (0..2).for_each(|at| edit.disconnect(node.input(at))));
    });
    matters(rules, (&before, &after), 0..1);
}
