//! Kinds that are kept with a snapshot.

use fixedbitset::FixedBitSet;

use super::testing::{Sketch, named};
use super::*;

fn with(keys: &[&str]) -> FixedBitSet {
    keys.iter().map(|key| Sym::new(key).index()).collect()
}

/// Four nodes in a row, the second and the fourth with values of two attributes.
fn row() -> Snapshot {
    let snapshot = Sketch::flat("a b c d", "a>b b>c c>d");
    let mut edit = snapshot.edit();
    for (name, key, value) in [("b", "kinds.size", 1), ("d", "kinds.size", 1), ("d", "kinds.depth", 2)] {
        let value = AttrValue::Int(value);
        edit.update_node(named(&snapshot, name), |node| node.attrs = node.attrs.with(Sym::new(key), value));
    }
    edit.finish(&snapshot)
}

/// Finds the kinds of all nodes, and keeps them.
fn find(snapshot: &Snapshot, keys: &[&str]) -> Vec<Kind> {
    let mut kinds = snapshot.kinds(&with(keys));
    let near = Near::new(snapshot, None);
    let found = snapshot.dense().order().iter().map(|&node| kinds.find(near, node)).collect();
    snapshot.keep_kinds(kinds);
    found
}

#[test]
fn what_was_found_is_there_for_who_asks_the_same_or_less() {
    let snapshot = row();
    let (b, d) = (named(&snapshot, "b"), named(&snapshot, "d"));
    find(&snapshot, &["kinds.size", "kinds.depth"]);
    for keys in [&["kinds.size", "kinds.depth"][..], &["kinds.depth"], &[]] {
        let kinds = snapshot.kinds(&with(keys));
        assert!(kinds.known(b).is_some() && kinds.known(b) != kinds.known(d), "{keys:?}");
    }
}

#[test]
fn who_asks_for_more_tells_apart_what_was_alike() {
    let snapshot = row();
    let (b, d) = (named(&snapshot, "b"), named(&snapshot, "d"));
    find(&snapshot, &["kinds.size"]);
    let kinds = snapshot.kinds(&with(&["kinds.size"]));
    assert_eq!(kinds.known(b), kinds.known(d));
    let kinds = snapshot.kinds(&with(&["kinds.depth"]));
    assert_eq!(kinds.known(b), None);
    find(&snapshot, &["kinds.depth"]);
    // What matters to either matters now.
    let kinds = snapshot.kinds(&with(&["kinds.size"]));
    assert!(kinds.known(b).is_some() && kinds.known(b) != kinds.known(d));
}

#[test]
fn kinds_of_an_edited_graph_are_not_kept() {
    let snapshot = row();
    let b = named(&snapshot, "b");
    let mut kinds = snapshot.kinds(&with(&["kinds.size"]));
    kinds.find(Near::new(&snapshot, None), b);
    kinds.changed(b);
    kinds.find(Near::new(&snapshot, None), b);
    snapshot.keep_kinds(kinds);
    assert_eq!(snapshot.kinds(&with(&["kinds.size"])).known(b), None);
}

#[test]
fn where_nodes_have_little_in_common_each_asks_for_itself() {
    let snapshot = Sketch::flat(&(0..1000).map(|n| format!("n{n} ")).collect::<String>(), "");
    let nodes: Vec<NodeId> = snapshot.dense().order().to_vec();
    let mut edit = snapshot.edit();
    for (number, &node) in (0..).zip(&nodes) {
        let number = AttrValue::Int(number);
        edit.update_node(node, |node| node.attrs = node.attrs.with(Sym::new("kinds.number"), number));
    }
    let snapshot = edit.finish(&snapshot);
    let kinds =
        |keys: &[&str]| find(&snapshot, keys).into_iter().collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(kinds(&["kinds.number"]), 1000);
    assert_eq!(kinds(&["kinds.size"]), 1);
}

#[test]
fn what_is_known_of_a_graph_is_known_of_one_that_is_like_it() {
    let before = Sketch::flat("a b c d e", "");
    let keys = &["kinds.size"][..];
    find(&before, keys);
    let size = |edit: &mut Edit, name: &str, size: i64| {
        let value = AttrValue::Int(size);
        edit.update_node(named(&before, name), |node| {
            node.attrs = node.attrs.with(Sym::new("kinds.size"), value);
        });
    };
    let mut edit = before.edit();
    size(&mut edit, "b", 1);
    size(&mut edit, "d", 2);
    edit.remove_node(named(&before, "e"));
    let after = edit.finish(&before);
    after.learn_kinds(&before, &Apart::between(&before, &after).expect("the same graphs"));
    let known = after.kinds(&with(keys));
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| named(&after, name));
    assert!(known.known(a).is_some() && known.known(a) == known.known(c));
    assert_eq!([b, d].map(|node| known.known(node)), [None, None]);
    let found = find(&after, keys);
    assert_eq!(found[0], found[2]);
    assert!(found[0] != found[1] && found[1] != found[3] && found[3] != found[0]);
    // What is known already stays.
    find(&before, &["kinds.size", "kinds.depth"]);
    after.learn_kinds(&before, &Apart::between(&before, &after).expect("the same graphs"));
    assert_eq!(after.kinds(&with(&["kinds.depth"])).known(a), None);
}

#[test]
fn what_lies_in_a_node_of_another_kind_is_of_another_kind() {
    let mut sketch = Sketch::default();
    sketch.graph("g", "p q");
    for (call, inner) in [("p", "x"), ("q", "y")] {
        let graph = sketch.graph(inner, inner);
        sketch.own(call, graph);
    }
    let before = sketch.finish();
    let keys = &["kinds.size"][..];
    let kinds_of = |snapshot: &Snapshot| {
        let found = find(snapshot, keys);
        let order = snapshot.dense().order();
        let kind =
            |name| found[order.iter().position(|&node| node == named(snapshot, name)).expect("it is there")];
        ["x", "y"].map(kind)
    };
    let [x, y] = kinds_of(&before);
    assert_eq!(x, y);
    let mut edit = before.edit();
    edit.update_node(named(&before, "q"), |node| {
        node.attrs = node.attrs.with(Sym::new("kinds.size"), AttrValue::Int(1));
    });
    let after = edit.finish(&before);
    after.learn_kinds(&before, &Apart::between(&before, &after).expect("the same graphs"));
    let [x, y] = kinds_of(&after);
    assert_ne!(x, y);
}
