//! What is left of code where the kind of a node is known has the values of the code as it was written.

use super::build::*;
use crate::graph::{AttrValue, GraphId, NodeId, Snapshot};
use crate::lang::eval::{Machine, NoHost, Program, Subject, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::*;
use crate::lang::syntax::ast::{AttrType, Quantifier};

const NODES: u32 = 12;

/// A chain in which every third node is a `Data` and every second is large.
fn graph() -> Snapshot {
    let mut g = G::new();
    let nodes: Vec<NodeId> = (0..NODES)
        .map(|i| g.node(&format!("n{i}"), if i % 3 == 0 { "Data" } else { "Relu" }, 2, 2))
        .collect();
    for (&node, i) in nodes.iter().zip(0..) {
        g.attr(node, "size", AttrValue::Int(i % 2 * 8));
    }
    for pair in nodes.windows(2) {
        g.edge((pair[0], 0), (pair[1], 0));
        g.edge((pair[0], 0), (pair[1], 1));
    }
    g.finish()
}

fn is_type(x: &mut B, node: ExprId, name: &str) -> ExprId {
    let (ty, name) = (x.fact(Fact::NodeType, node), x.str(name));
    x.eq(ty, name)
}

fn is_large(x: &mut B, node: ExprId) -> ExprId {
    let (size, limit) = (x.attr(node, "size", AttrType::Int), x.int(7));
    x.compare(size, Compare::Gt, limit)
}

fn source(x: &mut B, node: ExprId) -> ExprId {
    let zero = x.int(0);
    let input = x.fact_of(Fact::NodeInput, node, &[zero]);
    let source = x.fact(Fact::InputSource, input);
    x.fact(Fact::OutputNode, source)
}

/// Functions of one node: each mixes what is its own with what is not.
const OF_ONE: [&str; 6] = ["end", "ends_lost", "weight", "picked", "behind", "crowd"];

fn program() -> Program {
    let mut p = P::default();
    // Large `Relu`s hand on.
    p.walk("back", false, |x| {
        let node = x.local(0);
        let (relu, large) = (is_type(x, node, "Relu"), is_large(x, node));
        let condition = x.put(Expr::And(relu, large));
        let next = source(x, node);
        vec![(Some(condition), Some(next))]
    });
    p.function("end", 1, |x| {
        let node = x.local(0);
        x.walk("back", WalkMode::Last, node)
    });
    p.function("ends_lost", 1, |x| {
        let node = x.local(0);
        let end = x.walk("back", WalkMode::Lost, node);
        let large = is_large(x, node);
        x.put(Expr::And(large, end))
    });
    // How many read its first output, for a `Relu`; its size for others.
    p.function("weight", 1, |x| {
        let (node, zero) = (x.local(0), x.int(0));
        let output = x.fact_of(Fact::NodeOutput, node, &[zero]);
        let (then, otherwise) =
            (x.fact(Fact::OutputReaderCount, output), x.attr(node, "size", AttrType::Int));
        let condition = is_type(x, node, "Relu");
        x.put(Expr::If { condition, then, otherwise })
    });
    // The name of a large node, the weight of where a small `Relu` ends, else none.
    p.function("picked", 1, |x| {
        let node = x.local(0);
        let large = is_large(x, node);
        let name = x.fact(Fact::NodeName, node);
        let relu = is_type(x, node, "Relu");
        let end = x.walk("back", WalkMode::Last, node);
        let weight = x.call("weight", &[end]);
        x.put(Expr::First { cases: Box::new([(large, name), (relu, weight)]), otherwise: None })
    });
    // What holds of the node before, by a local of its own.
    p.function("behind", 1, |x| {
        let node = x.local(0);
        let (value, slot) = (source(x, node), x.slot());
        let before = x.local(slot);
        let (own, other) = (x.call("weight", &[before]), x.call("weight", &[node]));
        let (large, differ) = (is_large(x, node), x.compare(own, Compare::Ne, other));
        let body = x.put(Expr::Or(large, differ));
        x.put(Expr::Let { local: slot, value, body })
    });
    // The neighbours that are like it in size, which two nodes decide together.
    p.function("crowd", 1, |x| {
        let (node, zero) = (x.local(0), x.int(0));
        let output = x.fact_of(Fact::NodeOutput, node, &[zero]);
        let readers = x.fact(Fact::OutputReaders, output);
        x.quantifier(Quantifier::Count, readers, |x, it| {
            let reader = x.fact(Fact::InputNode, it);
            x.call("same_size", &[node, reader])
        })
    });
    p.function("same_size", 2, |x| {
        let [a, b] = [0, 1].map(|slot| x.local(slot));
        let (large, relu) = (is_large(x, a), is_type(x, b, "Relu"));
        let [own, other] = [a, b].map(|node| x.attr(node, "size", AttrType::Int));
        let same = x.eq(own, other);
        let either = x.put(Expr::Or(large, relu));
        x.put(Expr::And(either, same))
    });
    p.link()
}

fn ask(machine: &mut Machine<'_>, name: &str, args: &[NodeId]) -> Value {
    let args: Vec<Value> = args.iter().map(|&node| Value::Node(node)).collect();
    machine.call(sym(name), &args).expect("it does not fail")
}

#[test]
fn it_has_the_values_of_what_was_written_edit_after_edit() {
    let (program, snapshot) = (program(), graph());
    let nodes = || (0..NODES).map(NodeId);
    let mut fitted = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    fitted.share_alike();
    let mut written = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    written.record_trace();
    for edited in nodes() {
        // Often enough for every kind to be fitted.
        for _ in 0..6 {
            for node in nodes() {
                for name in OF_ONE {
                    let wanted = ask(&mut written, name, &[node]);
                    assert_eq!(
                        ask(&mut fitted, name, &[node]),
                        wanted,
                        "{name} of {node:?} before {edited:?}"
                    );
                }
                for other in nodes() {
                    let wanted = ask(&mut written, "same_size", &[node, other]);
                    assert_eq!(ask(&mut fitted, "same_size", &[node, other]), wanted, "{node:?} {other:?}");
                }
            }
        }
        for machine in [&mut fitted, &mut written] {
            let subject = Subject::of(&Value::Node(edited)).expect("a place");
            let size = AttrValue::Int(i64::from(edited.0 % 3) * 5);
            machine.set_attr(subject, sym("size"), Some(size)).expect("the place is there");
            if edited.0 % 4 == 3 {
                machine.cut(edited.input(0)).expect("the edge is there");
            }
        }
    }
}
