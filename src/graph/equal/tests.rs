//! Each way to be equal has a twin that differs in one thing.

use super::*;
use crate::graph::{Builder, Edit, GraphInfo, ModelInfo, Place, Port, Ports, Snapshot};

fn ports(count: usize) -> Ports {
    (0..count).map(|_| Port { name: Sym::default(), desc: Arc::default() }).collect()
}

fn node(name: &str, ty: &str, graph: GraphId, inputs: usize, outputs: usize) -> Node {
    Node { inputs: ports(inputs), outputs: ports(outputs), ..Node::new(name, Sym::new(ty), graph) }
}

fn info(name: &str) -> GraphInfo {
    GraphInfo::named(name)
}

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);

/// `a` and `b`, both read by `c`; `a` also waits for nothing.
fn before() -> Snapshot {
    let mut builder = Builder::new(ModelInfo::default());
    let root = builder.graph(info("g"));
    builder.node(node("a", "Relu", root, 0, 1), 0);
    builder.node(node("b", "Relu", root, 0, 1), 1);
    builder.node(node("c", "Add", root, 2, 1), 2);
    builder.edge(A.output(0), 0, C.input(0));
    builder.edge(B.output(0), 0, C.input(1));
    builder.finish()
}

/// Puts a copy on the edge into `to`.
fn copy(edit: &mut Edit, name: &str, to: Input) -> NodeId {
    let from = edit.producer(to).unwrap();
    let id = edit.add_node(node(name, "Copy", GraphId::ROOT, 1, 1), Place::After(from.node));
    edit.connect(from, id.input(0));
    edit.connect(id.output(0), to);
    id
}

fn edited(change: impl FnOnce(&mut Edit)) -> Snapshot {
    let start = before();
    let mut edit = start.edit();
    change(&mut edit);
    edit.finish(&start)
}

fn compare(expected: &Snapshot, actual: &Snapshot) -> Vec<String> {
    let compared = Compared::all_but(["noise"]);
    equal_up_to_inserted(&before(), expected, actual, &compared).err().unwrap_or_default()
}

fn set(edit: &mut Edit, id: NodeId, key: &str, value: i64) {
    edit.update_node(id, |n| n.attrs = n.attrs.with(Sym::new(key), AttrValue::Int(value)));
}

#[test]
fn names_and_order_of_inserted_nodes_do_not_count() {
    let both = edited(|e| {
        copy(e, "x", C.input(0));
        copy(e, "y", C.input(1));
    });
    let other_way = edited(|e| {
        copy(e, "x", C.input(1));
        copy(e, "z", C.input(0));
    });
    assert_eq!(compare(&both, &other_way), [""; 0]);
    let one = edited(|e| _ = copy(e, "x", C.input(1)));
    assert_eq!(
        compare(&both, &one),
        [
            "missing: inserted Copy `x` between `a:0` and `c:0`",
            "input 0 of `c` is fed by output 0 of `a`, expected output 0 of inserted Copy `x`"
        ]
    );
    assert_eq!(
        compare(&one, &both),
        [
            "not expected: inserted Copy `x` between `a:0` and `c:0`",
            "input 0 of `c` is fed by output 0 of inserted Copy `x`, expected output 0 of `a`"
        ]
    );
}

#[test]
fn the_index_of_an_edge_counts() {
    let one = edited(|e| _ = copy(e, "x", C.input(0)));
    let other = edited(|e| _ = copy(e, "x", C.input(1)));
    assert_eq!(
        compare(&one, &other),
        [
            "input 0 of inserted Copy `x` is fed by output 0 of `b`, expected output 0 of `a`",
            "input 0 of `c` is fed by output 0 of `a`, expected output 0 of inserted Copy `x`",
            "input 1 of `c` is fed by output 0 of inserted Copy `x`, expected output 0 of `b`",
        ]
    );
}

#[test]
fn control_edges_count() {
    let plain = before();
    let linked = edited(|e| _ = e.add_control(A, B));
    assert_eq!(compare(&linked, &linked), [""; 0]);
    assert_eq!(compare(&linked, &plain), ["missing: control edge from `a` to `b`"]);
    assert_eq!(compare(&plain, &linked), ["not expected: control edge from `a` to `b`"]);
}

#[test]
fn attributes_count_but_for_those_ignored() {
    let want = edited(|e| set(e, A, "mark", 1));
    assert_eq!(compare(&want, &edited(|e| set(e, A, "mark", 2))), ["`mark` of `a` is 2, expected 1"]);
    assert_eq!(compare(&want, &before()), ["`a` lacks `mark`, expected 1"]);
    assert_eq!(compare(&before(), &want), ["`a` has `mark` = 1, expected none"]);
    let noise = edited(|e| set(e, A, "noise", 1));
    assert_eq!(compare(&noise, &before()), [""; 0]);
    let marked = |value| {
        edited(|e| {
            let x = copy(e, "x", C.input(0));
            set(e, x, "mark", value);
        })
    };
    assert_eq!(compare(&marked(1), &marked(1)), [""; 0]);
    assert_eq!(compare(&marked(1), &marked(2)), ["`mark` of inserted Copy `x` is 2, expected 1"]);
}

#[test]
fn tensors_count() {
    let changed = |change: fn(&mut TensorDesc)| {
        edited(|e| {
            e.update_node(C, |n| {
                let mut port = n.inputs.get(1).unwrap().clone();
                change(Arc::make_mut(&mut port.desc));
                n.inputs.set(1, port);
            });
        })
    };
    let offset = changed(|d| d.data_offset = 8);
    assert_eq!(compare(&offset, &before()), ["the data offset of input 1 of `c` is 0, expected 8"]);
    let marked = changed(|d| d.attrs = d.attrs.with(Sym::new("mark"), AttrValue::str("v")));
    assert_eq!(compare(&before(), &marked), ["input 1 of `c` has `mark` = \"v\", expected none"]);
    let loose = Compared::default();
    assert_eq!(equal_up_to_inserted(&before(), &offset, &before(), &loose), Ok(()));
}

#[test]
fn deleted_nodes_and_types_count() {
    let gone = edited(|e| e.remove_node(B));
    assert_eq!(compare(&gone, &gone), [""; 0]);
    assert_eq!(
        compare(&before(), &gone),
        ["missing: `b`", "input 1 of `c` is fed by nothing, expected output 0 of `b`"]
    );
    let other = edited(|e| e.update_node(B, |n| n.ty = Sym::new("Neg")));
    assert_eq!(compare(&before(), &other), ["`b` is a Neg, expected a Relu"]);
}

/// Nodes that look alike one by one: two rings of three are not a ring of six.
fn rings(lengths: &[usize]) -> Snapshot {
    edited(|e| {
        for &length in lengths {
            let ids: Vec<NodeId> =
                (0..length).map(|_| e.add_node(node("r", "Ring", GraphId::ROOT, 0, 0), Place::End)).collect();
            for i in 0..length {
                e.add_control(ids[i], ids[(i + 1) % length]);
            }
        }
    })
}

#[test]
fn look_alikes_are_told_apart_by_trying() {
    assert_eq!(compare(&rings(&[3, 3]), &rings(&[3, 3])), [""; 0]);
    assert_eq!(compare(&rings(&[6, 3]), &rings(&[3, 6])), [""; 0]);
    assert_ne!(compare(&rings(&[3, 3]), &rings(&[6])), [""; 0]);
}

/// The same name in another graph is another node.
#[test]
fn graphs_tell_nodes_apart() {
    let nested = |mark: Option<&str>| {
        let mut builder = Builder::new(ModelInfo::default());
        let root = builder.graph(info("g"));
        let inner = builder.graph(info("inner"));
        let call = builder.node(node("x", "Call", root, 0, 0), 0);
        builder.node(node("x", "Relu", inner, 0, 1), 1);
        builder.own(call, inner);
        let start = builder.finish();
        let mut edit = start.edit();
        if let Some(key) = mark {
            edit.update_graph(inner, |g| g.attrs = g.attrs.with(Sym::new(key), AttrValue::Bool(true)));
        }
        edit.finish(&start)
    };
    let compared = Compared::default();
    let plain = nested(None);
    assert_eq!(equal_up_to_inserted(&plain, &plain, &nested(None), &compared), Ok(()));
    let found = equal_up_to_inserted(&plain, &plain, &nested(Some("k")), &compared);
    assert_eq!(found, Err(vec!["graph `inner` has `k` = true, expected none".to_owned()]));
    let mut edit = plain.edit();
    edit.update_node(NodeId(1), |n| n.ty = Sym::new("Neg"));
    let found = equal_up_to_inserted(&plain, &plain, &edit.finish(&plain), &compared);
    assert_eq!(found, Err(vec!["`inner/x` is a Neg, expected a Relu".to_owned()]));
}

#[test]
fn a_difference_lists_what_an_edit_did() {
    let start = before();
    assert!(difference(&start, &start).is_empty());
    let mut edit = start.edit();
    let x = copy(&mut edit, "x", C.input(0));
    edit.add_control(A, C);
    set(&mut edit, B, "mark", 1);
    let after = edit.finish(&start);
    let found = difference(&start, &after);
    assert_eq!((found.inserted, found.deleted, found.changed), (vec![x], vec![], vec![B]));
    let edges = vec![(x.output(0), C.input(0)), (A.output(0), x.input(0))];
    assert_eq!((found.connected, found.cut), (edges, vec![(A.output(0), C.input(0))]));
    assert_eq!((found.linked, found.unlinked), (vec![(A, C)], vec![]));
    // An edge that only moved behind its siblings is the same edge.
    let mut edit = start.edit();
    edit.connect(A.output(0), C.input(0));
    assert!(difference(&start, &edit.finish(&start)).is_empty());
}
