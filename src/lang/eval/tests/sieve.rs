//! What the type of a node settles comes out as the code that was written does.

use super::build::*;
use crate::graph::{AttrValue, GraphId, Snapshot};
use crate::lang::eval::{EditKind, Machine, NoHost, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::*;
use crate::lang::syntax::ast::{AttrType, Kind, Quantifier};

/// More of each type than are looked at one by one.
const NODES: i64 = 90;

/// `Data`, `Relu`, `If` in turn. Each has its number; every fourth is large.
fn graph() -> Snapshot {
    let mut g = G::new();
    for i in 0..NODES {
        let ty = ["Data", "Relu", "If"][i as usize % 3];
        let node = g.node(&format!("n{i}"), ty, 1, 1);
        g.attr(node, "number", AttrValue::Int(i));
        if i % 4 == 0 {
            g.attr(node, "large", AttrValue::Bool(true));
        }
    }
    g.finish()
}

fn nodes(x: &mut B) -> ExprId {
    let root = x.local(0);
    x.fact(Fact::GraphNodes, root)
}

fn is_type(x: &mut B, node: ExprId, name: &str) -> ExprId {
    let (ty, name) = (x.fact(Fact::NodeType, node), x.str(name));
    x.eq(ty, name)
}

fn is_large(x: &mut B, node: ExprId) -> ExprId {
    x.attr(node, "large", AttrType::Bool)
}

fn both(x: &mut B, a: ExprId, b: ExprId) -> ExprId {
    x.put(Expr::And(a, b))
}

fn is_beyond(x: &mut B, node: ExprId, limit: i64) -> ExprId {
    let (number, limit) = (x.attr(node, "number", AttrType::Int), x.int(limit));
    x.compare(number, Compare::Gt, limit)
}

fn mark(x: &mut B, node: ExprId) -> Statement {
    Statement::SetAttr { subject: node, key: sym("seen"), ty: AttrType::Bool, value: x.bool(true) }
}

fn when(condition: ExprId, then: Block) -> Statement {
    Statement::If { arms: vec![(condition, then)], otherwise: Vec::new() }
}

/// What a loop over all nodes does, where nobody looks on and where somebody does: the edits, and whether it ended well.
fn outcomes(items: impl Fn() -> P, body: impl Fn(&mut B, ExprId) -> Block) -> [(Vec<EditKind>, bool); 2] {
    [false, true].map(|observed| {
        let snapshot = graph();
        let mut items = items();
        items.pass("subject", |x| {
            let n = x.slot();
            let (list, it) = (nodes(x), x.local(n));
            vec![Statement::For { local: n, list, body: body(x, it) }]
        });
        let program = items.link();
        let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
        if observed {
            machine.record_trace();
        }
        let ended = run_pass(&mut machine).is_ok();
        (machine.edits().iter().map(|record| record.kind.clone()).collect(), ended)
    })
}

/// So many edits are made both times, the same ones.
fn edits(count: usize, items: impl Fn() -> P, body: impl Fn(&mut B, ExprId) -> Block) {
    let [sifted, written] = outcomes(items, body);
    assert_eq!(written.0.len(), count);
    assert!(written.1, "the code as it was written ends well");
    assert_eq!(sifted, written);
}

fn action(items: &mut P, name: &str, build: impl FnOnce(&mut B, ExprId) -> Block) {
    let mut b = B::with(1);
    let it = b.local(0);
    let block = build(&mut b, it);
    items.add(Kind::Action, name, Entry::Action { body: b.0, params: 1, gives: None, block });
}

#[test]
fn a_body_that_is_for_one_type_is_run_at_all_nodes_of_it() {
    edits(30, P::default, |x, n| {
        let data = is_type(x, n, "Data");
        vec![when(data, vec![mark(x, n)])]
    });
    // Of 30 `If`, every fourth node is large: 8 of the numbers 2, 5, 8 … 89 that 4 divides are 8, 20 … 80: 7.
    edits(7, P::default, |x, n| {
        let (type_, large) = (is_type(x, n, "If"), is_large(x, n));
        vec![when(both(x, type_, large), vec![mark(x, n)])]
    });
}

#[test]
fn what_the_type_leaves_open_is_asked() {
    // Large ones of any type, 23 of 90, and all `Relu` beyond 30 that are not: 20 - 5.
    edits(23 + 15, P::default, |x, n| {
        let (large, relu, late) = (is_large(x, n), is_type(x, n, "Relu"), is_beyond(x, n, 30));
        let second = both(x, relu, late);
        let arms = vec![(large, vec![mark(x, n)]), (second, vec![mark(x, n)])];
        vec![Statement::If { arms, otherwise: Vec::new() }]
    });
}

#[test]
fn a_loop_that_stops_somewhere_stops_there() {
    // An `If` that is large and lies beyond 40: the first is 44. Before it lie 15 `Data`: 0 … 42.
    edits(15, P::default, |x, n| {
        let (type_, large, late) = (is_type(x, n, "If"), is_large(x, n), is_beyond(x, n, 40));
        let stops = both(x, large, late);
        let stops = both(x, type_, stops);
        let data = is_type(x, n, "Data");
        vec![when(stops, vec![Statement::Stop]), when(data, vec![mark(x, n)])]
    });
    // Nothing but a stop, which one type decides: at the node 2.
    edits(1, P::default, |x, n| {
        let (type_, data) = (is_type(x, n, "If"), is_type(x, n, "Data"));
        vec![when(type_, vec![Statement::Stop]), when(data, vec![mark(x, n)])]
    });
    // A stop that the type leaves open, with nothing before it: at 44. Of `Relu` beyond 40 only 43 lies before it.
    edits(1, P::default, |x, n| {
        let (large, late) = (is_large(x, n), is_beyond(x, n, 40));
        let stops = both(x, large, late);
        let relu = is_type(x, n, "Relu");
        let relu = both(x, relu, late);
        let stop = Statement::If {
            arms: vec![(relu, vec![mark(x, n)]), (stops, vec![Statement::Stop])],
            otherwise: Vec::new(),
        };
        vec![stop]
    });
}

#[test]
fn an_action_that_ends_does_not_end_the_loop() {
    let items = || {
        let mut items = P::default();
        // Marks what is no `Data`, and is large.
        action(&mut items, "mark", |x, n| {
            let (data, large) = (is_type(x, n, "Data"), is_large(x, n));
            vec![when(data, vec![Statement::Stop]), when(large, vec![mark(x, n)])]
        });
        items
    };
    // Large and no `Data`: 23 less the multiples of 12, of which there are 8.
    edits(15, items, |_, n| vec![Statement::Do { bind: None, action: sym("mark"), args: Box::new([n]) }]);
}

#[test]
fn a_failure_is_not_left_out() {
    let [sifted, written] = outcomes(P::default, |x, n| {
        let (type_, late, data) = (is_type(x, n, "If"), is_beyond(x, n, 60), is_type(x, n, "Data"));
        let fails = both(x, type_, late);
        vec![when(fails, vec![Statement::Fail(0)]), when(data, vec![mark(x, n)])]
    });
    assert!(!written.1, "it fails at the node 62");
    assert_eq!(sifted, written);
}

#[test]
fn a_counter_counts_at_every_node() {
    // The count is asked before the type: it is above 59 from the node 60 on, and 10 `Data` follow.
    edits(10, P::default, |x, n| {
        let (count, limit) = (x.put(Expr::Counter(sym("c"))), x.int(59));
        let late = x.compare(count, Compare::Gt, limit);
        let data = is_type(x, n, "Data");
        vec![when(both(x, late, data), vec![mark(x, n)])]
    });
}

#[test]
fn conditions_of_lists_of_nodes() {
    let count = |kind: Quantifier, condition: fn(&mut B, ExprId) -> ExprId| {
        eval_with(P::default(), &graph(), &[Value::Graph(GraphId::ROOT)], |x| {
            let list = nodes(x);
            x.quantifier(kind, list, condition)
        })
    };
    let large_if = |x: &mut B, n: ExprId| {
        let (type_, large) = (is_type(x, n, "If"), is_large(x, n));
        both(x, type_, large)
    };
    assert_eq!(count(Quantifier::Count, large_if), Value::Int(7));
    assert_eq!(count(Quantifier::Count, |x, n| is_type(x, n, "Relu")), Value::Int(30));
    assert_eq!(count(Quantifier::Any, |x, n| is_type(x, n, "Gone")), Value::Bool(false));
    assert_eq!(count(Quantifier::All, |x, n| is_beyond(x, n, -1)), Value::Bool(true));
    let picked = eval_with(P::default(), &graph(), &[Value::Graph(GraphId::ROOT)], |x| {
        let list = nodes(x);
        let picked = x.filter(list, |x, n| {
            let (relu, late) = (is_type(x, n, "Relu"), is_beyond(x, n, 44));
            both(x, relu, late)
        });
        x.fact(Fact::ListCount, picked)
    });
    // 46, 49 … 88.
    assert_eq!(picked, Value::Int(15));
}

/// As the engine asks what a pass, a chain or an attribute is for.
#[test]
fn a_condition_that_is_asked_of_one_node_after_the_other() {
    let mut items = P::default();
    items.function("subject", 2, |x| {
        let n = x.local(1);
        let (type_, large) = (is_type(x, n, "Relu"), is_large(x, n));
        both(x, type_, large)
    });
    let (program, snapshot) = (items.link(), graph());
    let id = program.entry(Kind::Fn, sym("subject")).expect("it is declared");
    let Entry::Fn { value, .. } = **program.hir(id).expect("it is linked") else { panic!("a function") };
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    let holds = |machine: &mut Machine<'_>, node| {
        machine.test(id, value, &[Value::Graph(GraphId::ROOT), Value::Node(node)]).expect("it does not fail")
    };
    let found: Vec<_> = snapshot.list(GraphId::ROOT).filter(|&node| holds(&mut machine, node)).collect();
    let names: Vec<&str> = found.iter().map(|&node| &*snapshot.node(node).name).collect();
    assert_eq!(names, ["n4", "n16", "n28", "n40", "n52", "n64", "n76", "n88"]);
}
