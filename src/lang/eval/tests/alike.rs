//! What nodes that are alike share, and what an edit does to it. That it gives the same values is asked in all tests of
//! expressions.

use super::build::*;
use crate::graph::{AttrValue, GraphId, NodeId, Snapshot};
use crate::lang::eval::code::Op;
use crate::lang::eval::{Machine, NoHost, Program, Subject, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::*;
use crate::lang::syntax::ast::{AttrType, Kind, Quantifier};

/// `a` and `b` are of one type, `c` is not; `d` lies in the graph of `a`, `e` in that of `c`.
fn graph() -> (Snapshot, [NodeId; 5]) {
    let mut g = G::new();
    let [a, b, c] = [("a", "If"), ("b", "If"), ("c", "While")].map(|(name, ty)| g.node(name, ty, 2, 2));
    let [inner, other] = ["inner", "other"].map(|name| g.graph(name));
    let (d, e) = (g.node_in(inner, "d", "Relu", 1, 1), g.node_in(other, "e", "Relu", 1, 1));
    g.builder.own(a, inner);
    g.builder.own(c, other);
    (g.finish(), [a, b, c, d, e])
}

/// How many of the expressions of a function are shared.
fn shared(program: &Program, name: &str) -> usize {
    let linked = program.entry(Kind::Fn, sym(name)).and_then(|id| program.linked(id)).expect("it is linked");
    linked.plain.ops.iter().filter(|op| matches!(op, Op::Alike { .. })).count()
}

/// `big(n)`: its size is above 7. `big_around(n)`: so is that of the node around it.
fn items() -> P {
    let mut items = P::default();
    let is_big = |x: &mut B, n| {
        let (size, limit) = (x.attr(n, "size", AttrType::Int), x.int(7));
        x.compare(size, Compare::Gt, limit)
    };
    items.function("big", 1, |x| {
        let n = x.local(0);
        is_big(x, n)
    });
    items.function("big_around", 1, |x| {
        let n = x.local(0);
        let graph = x.fact(Fact::NodeGraph, n);
        let around = x.fact(Fact::GraphParent, graph);
        is_big(x, around)
    });
    items
}

/// The value of a function, before it is shared and after.
fn value(machine: &mut Machine<'_>, name: &str, node: NodeId) -> Value {
    let mut call = || machine.call(sym(name), &[Value::Node(node)]).expect("it does not fail");
    let first = call();
    assert_eq!(first, call());
    first
}

fn ask(machine: &mut Machine<'_>, name: &str, node: NodeId) -> bool {
    value(machine, name, node).is_true()
}

fn set_size(machine: &mut Machine<'_>, subject: impl Into<Value>, size: i64) {
    let subject = Subject::of(&subject.into()).expect("a place");
    machine.set_attr(subject, sym("size"), Some(AttrValue::Int(size))).expect("the place is there");
}

#[test]
fn an_edit_of_one_node_is_not_seen_at_those_that_were_like_it() {
    let (program, (snapshot, [a, b, ..])) = (items().link(), graph());
    assert_eq!(shared(&program, "big"), 1);
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    machine.share_alike();
    let sizes = |machine: &mut Machine<'_>| [a, b].map(|node| ask(machine, "big", node));
    assert_eq!(sizes(&mut machine), [false, false]);
    set_size(&mut machine, a, 8);
    assert_eq!(sizes(&mut machine), [true, false]);
    set_size(&mut machine, b, 9);
    set_size(&mut machine, a, 3);
    assert_eq!(sizes(&mut machine), [false, true]);
}

#[test]
fn an_edit_of_a_call_is_seen_inside() {
    let (program, (snapshot, [a, b, _, d, e])) = (items().link(), graph());
    assert_eq!(shared(&program, "big_around"), 1);
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    machine.share_alike();
    let sizes = |machine: &mut Machine<'_>| [a, d, e].map(|node| ask(machine, "big_around", node));
    assert_eq!(sizes(&mut machine), [false, false, false]);
    set_size(&mut machine, a, 8);
    set_size(&mut machine, b, 8);
    assert_eq!(sizes(&mut machine), [false, true, false]);
    set_size(&mut machine, a, 7);
    assert_eq!(sizes(&mut machine), [false, false, false]);
}

#[test]
fn an_edit_of_a_graph_is_seen_in_it() {
    let mut items = P::default();
    items.function("in_big", 1, |x| {
        let (n, limit) = (x.local(0), x.int(7));
        let graph = x.fact(Fact::NodeGraph, n);
        let size = x.attr(graph, "size", AttrType::Int);
        x.compare(size, Compare::Gt, limit)
    });
    let (program, (snapshot, [a, _, _, d, e])) = (items.link(), graph());
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    machine.share_alike();
    let sizes = |machine: &mut Machine<'_>| [a, d, e].map(|node| ask(machine, "in_big", node));
    assert_eq!(sizes(&mut machine), [false, false, false]);
    let inner = snapshot.get_node(d).expect("it is there").graph;
    set_size(&mut machine, inner, 8);
    assert_eq!(sizes(&mut machine), [false, true, false]);
}

#[test]
fn places_are_those_of_the_node_that_was_asked() {
    // The outputs of `n` but the first.
    let mut items = P::default();
    items.function("later", 1, |x| {
        let n = x.local(0);
        let outputs = x.fact(Fact::NodeOutputs, n);
        let (then, none) = (
            x.filter(outputs, |x, it| {
                let (index, zero) = (x.fact(Fact::OutputIndex, it), x.int(0));
                x.compare(index, Compare::Gt, zero)
            }),
            x.list(&[]),
        );
        let (ty, wanted) = (x.fact(Fact::NodeType, n), x.str("If"));
        let condition = x.eq(ty, wanted);
        x.put(Expr::If { condition, then, otherwise: none })
    });
    let (program, (snapshot, [a, b, c, ..])) = (items.link(), graph());
    assert_eq!(shared(&program, "later"), 1);
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    machine.share_alike();
    let mut later =
        |node: NodeId| machine.call(sym("later"), &[Value::Node(node)]).expect("it does not fail");
    assert_eq!([a, b].map(&mut later), [a, b].map(|node| Value::list(vec![node.output(1).into()])));
    assert_eq!(later(c), Value::list(Vec::new()));
}

#[test]
fn what_rests_on_edges_or_on_two_nodes_is_not_shared() {
    let mut items = P::default();
    items.function("fed", 1, |x| {
        let n = x.local(0);
        let inputs = x.fact(Fact::NodeInputs, n);
        x.quantifier(Quantifier::Any, inputs, |x, it| {
            let source = x.fact(Fact::InputSource, it);
            x.put(Expr::IsNone { value: source, negated: true })
        })
    });
    items.function("same_type", 2, |x| {
        let [a, b] = [0, 1].map(|slot| {
            let node = x.local(slot);
            x.fact(Fact::NodeType, node)
        });
        x.eq(a, b)
    });
    let program = items.link();
    assert_eq!([shared(&program, "fed"), shared(&program, "same_type")], [0, 0]);
}

#[test]
fn which_of_the_first_cases_comes_is_shared_though_the_values_are_not() {
    let mut items = P::default();
    items.function("picked", 1, |x| {
        let n = x.local(0);
        let is = |x: &mut B, name: &str| {
            let (ty, name) = (x.fact(Fact::NodeType, n), x.str(name));
            x.eq(ty, name)
        };
        let cases = ["While", "If"].map(|name| (is(x, name), x.fact(Fact::NodeName, n)));
        let other = x.str("other");
        x.put(Expr::First { cases: Box::new(cases), otherwise: Some(other) })
    });
    let (program, (snapshot, [a, b, c, d, _])) = (items.link(), graph());
    assert_eq!(shared(&program, "picked"), 1);
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    machine.share_alike();
    let picked = [a, b, c, d].map(|node| value(&mut machine, "picked", node));
    assert_eq!(picked, ["a", "b", "c", "other"].map(Value::text));
}
