//! Facts of nodes, anchors, graphs, tables and groups.

use std::rc::Rc;
use std::sync::Arc;

use super::build::*;
use crate::graph::{Anchor, AttrValue, GraphId, Group, NodeId, Snapshot, Sym, Symbols};
use crate::lang::eval::{Machine, Marks, NoHost, Value};
use crate::lang::facts::Fact;

/// `a -> if(then: d -> no) -> (r1, r2)`, `a => r2`; `r2` reads output 0 twice.
fn graph() -> (Snapshot, [NodeId; 6]) {
    let mut g = G::new();
    let a = g.node("a", "Data", 0, 1);
    let branch = g.node("if", "If", 1, 2);
    let r1 = g.node("r1", "Relu", 1, 1);
    let r2 = g.node("r2", "Add", 2, 1);
    let then = g.graph("then");
    let d = g.node_in(then, "d", "Data", 1, 1);
    let no = g.node_in(then, "a", "NetOutput", 1, 0);
    g.builder.own(branch, then);
    g.edge((a, 0), (branch, 0));
    g.edge((branch, 0), (r2, 1));
    g.edge((branch, 0), (r1, 0));
    g.edge((branch, 0), (r2, 0));
    g.edge((d, 0), (no, 0));
    g.builder.control(a, 0, r2);
    g.attr(a, "x", AttrValue::Int(1));
    (g.finish(), [a, branch, r1, r2, d, no])
}

fn ask(fact: Fact, of: impl Into<Value>, arg: Option<Value>) -> Value {
    let (snapshot, _) = graph();
    let args: Vec<Value> = std::iter::once(of.into()).chain(arg.clone()).collect();
    eval_with(P::default(), &snapshot, &args, |x| {
        let of = x.local(0);
        match arg {
            Some(_) => {
                let arg = x.local(1);
                x.fact_of(fact, of, &[arg])
            }
            None => x.fact(fact, of),
        }
    })
}

fn of(fact: Fact, of: impl Into<Value>) -> Value {
    ask(fact, of, None)
}

fn list<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Value {
    Value::list(values.into_iter().map(Into::into).collect())
}

const THEN: GraphId = GraphId(1);

#[test]
fn of_nodes() {
    let (_, [a, branch, r1, r2, d, _]) = graph();
    assert_eq!(of(Fact::NodeName, r1), Value::text("r1"));
    assert_eq!(of(Fact::NodeType, r2), Value::Str(sym("Add")));
    assert_eq!(of(Fact::NodeGraph, d), Value::Graph(THEN));
    assert_eq!(of(Fact::NodeId, r1), Value::Int(2));
    assert_eq!(of(Fact::NodeInputs, r2), list([r2.input(0), r2.input(1)]));
    assert_eq!(of(Fact::NodeOutputs, branch), list([branch.output(0), branch.output(1)]));
    assert_eq!(ask(Fact::NodeInput, r2, Some(Value::Int(1))), r2.input(1).into());
    assert_eq!(ask(Fact::NodeInput, r2, Some(Value::Int(2))), Value::None);
    assert_eq!(ask(Fact::NodeOutput, r2, Some(Value::Int(-1))), Value::None);
    assert_eq!(of(Fact::NodeSubgraphs, branch), list([THEN]));
    assert_eq!(of(Fact::NodeHasSubgraph, branch), Value::Bool(true));
    assert_eq!(of(Fact::NodeHasSubgraph, a), Value::Bool(false));
    assert_eq!(of(Fact::NodeControlIn, r2), list([a]));
    assert_eq!(of(Fact::NodeControlOut, a), list([r2]));
    assert_eq!(ask(Fact::NodeHasControl, a, Some(r2.into())), Value::Bool(true));
    assert_eq!(ask(Fact::NodeHasControl, r2, Some(a.into())), Value::Bool(false));
    assert_eq!(ask(Fact::NodeReaches, a, Some(r1.into())), Value::Bool(true));
    assert_eq!(ask(Fact::NodeReaches, r1, Some(r1.into())), Value::Bool(true));
    assert_eq!(ask(Fact::NodeReaches, r1, Some(a.into())), Value::Bool(false));
    assert_eq!(ask(Fact::NodeReaches, a, Some(d.into())), Value::Bool(false));
    assert_eq!(of(Fact::NodeInputIsConst, a), list::<i64>([]));
}

#[test]
fn of_anchors() {
    let (_, [a, branch, r1, r2, ..]) = graph();
    assert_eq!(of(Fact::InputSource, r1.input(0)), branch.output(0).into());
    let inner = NodeId(4).input(0);
    assert_eq!(of(Fact::InputSource, inner), Value::None);
    assert_eq!(of(Fact::OutputReaders, branch.output(0)), list([r2.input(1), r1.input(0), r2.input(0)]));
    assert_eq!(of(Fact::OutputReaders, branch.output(1)), list::<i64>([]));
    assert_eq!(of(Fact::OutputReaderCount, branch.output(0)), Value::Int(3));
    assert_eq!(of(Fact::OutputSoleReader, a.output(0)), branch.input(0).into());
    assert_eq!(of(Fact::OutputSoleReader, branch.output(0)), Value::None);
    assert_eq!(of(Fact::OutputReuseInput, branch.output(0)), Value::None);
    assert_eq!(of(Fact::AnchorNode, r1.input(0)), r1.into());
    assert_eq!(of(Fact::AnchorIndex, r2.input(1)), Value::Int(1));
    assert_eq!(of(Fact::AnchorIsIn, r2.input(1)), Value::Bool(true));
    assert_eq!(of(Fact::AnchorIsOut, r2.input(1)), Value::Bool(false));
    assert_eq!(of(Fact::AnchorAsInput, r2.input(1)), r2.input(1).into());
    assert_eq!(of(Fact::AnchorAsOutput, r2.input(1)), Value::None);
    assert_eq!(of(Fact::AnchorLabel, r2.input(1)), Value::text("r2_in_1"));
    assert_eq!(of(Fact::AnchorLabel, r2.output(0)), Value::text("r2_out_0"));
    assert_eq!(of(Fact::AnchorPort, r2.output(0)), Value::text(""));
    assert_eq!(of(Fact::AnchorDtype, r2.output(0)), Value::Str(sym("DT_FLOAT")));
    assert_eq!(of(Fact::AnchorFormat, r2.output(0)), Value::text(""));
    assert_eq!(of(Fact::AnchorShape, r2.output(0)), list([2i64, 3]));
    assert_eq!(of(Fact::AnchorUnknownShape, r2.output(0)), Value::Bool(false));
    assert_eq!(of(Fact::AnchorBytes, r2.output(0)), Value::Int(24));
    assert_eq!(of(Fact::AnchorSize, r2.output(0)), Value::Int(0));
    assert_eq!(of(Fact::AnchorDataOffset, r2.output(0)), Value::Int(0));
    assert_eq!(of(Fact::AnchorTensor, r2.output(0)), r2.output(0).into());
    assert_eq!(of(Fact::AnchorRegistered, r2.output(0)), Value::Bool(false));
    assert_eq!(of(Fact::AnchorGroupSize, r2.output(0)), Value::Int(0));
    assert_eq!(ask(Fact::AnchorSameGroup, r2.output(0), Some(r2.output(0).into())), Value::Bool(false));
}

#[test]
fn of_graphs() {
    let (_, [a, branch, r1, r2, d, inner]) = graph();
    let root = GraphId::ROOT;
    assert_eq!(of(Fact::GraphName, THEN), Value::text("then"));
    assert_eq!(of(Fact::GraphParent, THEN), branch.into());
    assert_eq!(of(Fact::GraphParent, root), Value::None);
    assert_eq!(of(Fact::GraphRoot, THEN), root.into());
    assert_eq!(of(Fact::GraphIsRoot, THEN), Value::Bool(false));
    assert_eq!(of(Fact::GraphNodes, root), list([a, branch, r1, r2]));
    assert_eq!(of(Fact::GraphAllNodes, root), list([a, branch, d, inner, r1, r2]));
    assert_eq!(of(Fact::GraphAllNodes, THEN), list([d, inner]));
    assert_eq!(of(Fact::GraphSubgraphs, root), list([THEN]));
    let named = |fact, graph: GraphId, name: &str| ask(fact, graph, Some(Value::text(name)));
    // `a` is a name in both graphs.
    assert_eq!(named(Fact::GraphNode, THEN, "a"), inner.into());
    assert_eq!(named(Fact::GraphNode, root, "d"), Value::None);
    assert_eq!(named(Fact::GraphFind, root, "a"), a.into());
    assert_eq!(named(Fact::GraphFind, root, "d"), d.into());
    assert_eq!(named(Fact::GraphFind, THEN, "r1"), Value::None);
}

fn table() -> Arc<Symbols> {
    let (_, [a, branch, r1, r2, ..]) = graph();
    let (o, i) = (Anchor::Out(branch.output(0)), Anchor::In(r2.input(1)));
    let members = vec![o, i, Anchor::In(r1.input(0)), Anchor::In(r2.input(0))];
    let first = Group { founder: Anchor::Out(a.output(0)), members: vec![Anchor::Out(a.output(0))] };
    Arc::new(Symbols::new(vec![first, Group { founder: o, members }]))
}

#[test]
fn of_tables_and_groups() {
    let (_, [a, branch, r1, r2, ..]) = graph();
    let table = Value::Symbols(table());
    let group = ask(Fact::SymbolsGroupOf, table.clone(), Some(r1.input(0).into()));
    assert!(matches!(&group, Value::Group(g) if g.id.0 == 1));
    assert_eq!(ask(Fact::SymbolsGroupOf, table.clone(), Some(r1.output(0).into())), Value::None);
    assert_eq!(of(Fact::SymbolsGroups, table.clone()).len(), Some(2));
    assert_eq!(of(Fact::GroupName, group.clone()), Value::text("if_out_0"));
    let inputs = [r2.input(1), r1.input(0), r2.input(0)];
    assert_eq!(of(Fact::GroupInputs, group.clone()), list(inputs));
    assert_eq!(of(Fact::GroupOutputs, group.clone()), list([branch.output(0)]));
    assert_eq!(of(Fact::GroupAnchors, group.clone()).len(), Some(4));
    assert_eq!(of(Fact::GroupNodes, group.clone()), list([branch, r2, r1]));
    assert_eq!(of(Fact::GroupCount, group.clone()), Value::Int(4));
    let of_r2 = ask(Fact::GroupInputsOf, group.clone(), Some(r2.into()));
    assert_eq!(of_r2, list([r2.input(1), r2.input(0)]));
    assert_eq!(ask(Fact::GroupOutputsOf, group.clone(), Some(r2.into())), list::<i64>([]));
    assert_eq!(ask(Fact::GroupFind, group.clone(), Some(Value::text("if_out_0"))), branch.output(0).into());
    assert_eq!(ask(Fact::GroupFind, group.clone(), Some(Value::text("if_out_1"))), Value::None);
    let (snapshot, _) = graph();
    let merged = eval_with(P::default(), &snapshot, &[table, a.output(0).into(), r1.input(0).into()], |x| {
        let (table, a, b) = (x.local(0), x.local(1), x.local(2));
        let merged = x.fact_of(Fact::SymbolsMerged, table, &[a, b]);
        let group = x.fact_of(Fact::SymbolsGroupOf, merged, &[b]);
        let (name, count) = (x.fact(Fact::GroupName, group), x.fact(Fact::GroupCount, group));
        let member = x.in_list(b, group);
        let stranger = x.fact(Fact::AnchorNode, b);
        let stranger = x.in_list(stranger, group);
        x.list(&[name, count, member, stranger])
    });
    let expected = [Value::text("a_out_0"), Value::Int(5), Value::Bool(true), Value::Bool(false)];
    assert_eq!(merged, Value::list(expected.to_vec()));
}

struct OneMark(Anchor, Sym);

impl Marks for OneMark {
    fn has(&self, anchor: Anchor, mark: Sym) -> bool {
        anchor == self.0 && mark == self.1
    }

    fn list(&self, anchor: Anchor) -> Vec<Sym> {
        if anchor == self.0 { vec![self.1] } else { Vec::new() }
    }
}

#[test]
fn marks_come_from_the_engine() {
    let (snapshot, [a, ..]) = graph();
    let mut p = P::default();
    p.function("f", 1, |x| {
        let anchor = x.local(0);
        let has = x.put(crate::lang::hir::Expr::HasMark { base: anchor, mark: sym("M") });
        let marks = x.fact(Fact::AnchorMarks, anchor);
        x.list(&[has, marks])
    });
    let program = p.link();
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    let ask = |m: &mut Machine<'_>| m.call(sym("f"), &[a.output(0).into()]).unwrap();
    assert_eq!(ask(&mut machine), Value::list(vec![Value::Bool(false), list::<i64>([])]));
    machine.set_marks(Some(Rc::new(OneMark(Anchor::Out(a.output(0)), sym("M")))));
    let marked = Value::list(vec![Value::Mark(sym("M"))]);
    assert_eq!(ask(&mut machine), Value::list(vec![Value::Bool(true), marked]));
}

#[test]
fn a_deleted_node_answers_none() {
    let (snapshot, [a, branch, r1, ..]) = graph();
    let mut p = P::default();
    p.function("f", 1, |x| {
        let node = x.local(0);
        let facts = [Fact::NodeName, Fact::NodeType, Fact::NodeInputs, Fact::NodeControlOut];
        let mut items: Vec<_> = facts.iter().map(|&fact| x.fact(fact, node)).collect();
        items.push(x.attr(node, "x", crate::lang::syntax::ast::AttrType::Int));
        x.list(&items)
    });
    p.function("source", 1, |x| {
        let input = x.local(0);
        x.fact(Fact::InputSource, input)
    });
    let program = p.link();
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    machine.delete(a).unwrap();
    let facts = machine.call(sym("f"), &[a.into()]).unwrap();
    assert!(facts.elements().all(|value| value.is_none()) && facts.len() == Some(5), "{facts:?}");
    assert_eq!(machine.call(sym("source"), &[branch.input(0).into()]).unwrap(), Value::None);
    assert_eq!(machine.call(sym("source"), &[r1.input(0).into()]).unwrap(), branch.output(0).into());
    assert!(machine.delete(a).is_err());
}
