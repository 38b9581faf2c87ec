//! Walks and what is remembered of them; reads that are recorded; traces.

use super::build::*;
use crate::graph::{GraphId, NodeId, Snapshot};
use crate::lang::eval::{EventKind, Machine, NoHost, Program, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::*;

/// A chain `n0 -> n1 -> …` in which every node passes its input 0 on.
pub(super) fn chain(len: u32) -> Snapshot {
    let mut g = G::new();
    let nodes: Vec<_> = (0..len).map(|i| g.node(&format!("n{i}"), "Relu", 1, 1)).collect();
    for pair in nodes.windows(2) {
        g.edge((pair[0], 0), (pair[1], 0));
    }
    g.finish()
}

/// `walk up(o) { at n where n is not the first => n.input(0).source.node }`, and what goes wrong.
fn walks() -> P {
    let mut p = P::default();
    p.walk("up", false, |x| {
        let node = x.local(0);
        let zero = x.int(0);
        let input = x.fact_of(Fact::NodeInput, node, &[zero]);
        let source = x.fact(Fact::InputSource, input);
        let connected = x.put(Expr::IsNone { value: source, negated: true });
        let next = x.fact(Fact::OutputNode, source);
        vec![(Some(connected), Some(next))]
    });
    p.walk("up_or_lost", false, |x| {
        let node = x.local(0);
        let zero = x.int(0);
        let input = x.fact_of(Fact::NodeInput, node, &[zero]);
        let source = x.fact(Fact::InputSource, input);
        vec![(None, Some(x.fact(Fact::OutputNode, source)))]
    });
    p.walk("stops", false, |x| {
        let yes = x.bool(true);
        let node = x.local(0);
        vec![(Some(yes), None), (None, Some(node))]
    });
    p.walk("down", true, |x| {
        let node = x.local(0);
        let outputs = x.fact(Fact::NodeOutputs, node);
        let next = x.each(Each::FlatMap, outputs, |x, o| {
            let readers = x.fact(Fact::OutputReaders, o);
            x.each(Each::Map, readers, |x, i| x.fact(Fact::InputNode, i))
        });
        vec![(None, Some(next))]
    });
    p
}

fn walked(snapshot: &Snapshot, walk: &str, mode: WalkMode, from: u32) -> Value {
    eval_with(walks(), snapshot, &[Value::Node(NodeId(from))], |x| {
        let node = x.local(0);
        x.walk(walk, mode, node)
    })
}

fn nodes(ids: &[u32]) -> Value {
    Value::nodes(ids.iter().map(|&i| NodeId(i)).collect::<Vec<_>>())
}

#[test]
fn walks_end() {
    let line = chain(30);
    let node = |i| Value::Node(NodeId(i));
    assert_eq!(walked(&line, "up", WalkMode::Last, 29), node(0));
    assert_eq!(walked(&line, "up", WalkMode::Path, 3), nodes(&[3, 2, 1, 0]));
    assert_eq!(walked(&line, "up", WalkMode::Lost, 3), Value::Bool(false));
    assert_eq!(walked(&line, "up_or_lost", WalkMode::Lost, 3), Value::Bool(true));
    assert_eq!(walked(&line, "up_or_lost", WalkMode::Last, 3), node(0));
    assert_eq!(walked(&line, "up", WalkMode::Cycle, 29), Value::Bool(false));
    assert_eq!(walked(&line, "stops", WalkMode::Lost, 3), Value::Bool(false));
    assert_eq!(walked(&line, "down", WalkMode::All, 26), nodes(&[26, 27, 28, 29]));
}

#[test]
fn a_walk_visits_no_place_twice() {
    for len in [3u32, 40] {
        let mut g = G::new();
        let ids: Vec<_> = (0..len).map(|i| g.node(&format!("n{i}"), "Relu", 1, 1)).collect();
        for i in 0..len as usize {
            g.edge((ids[i], 0), (ids[(i + 1) % len as usize], 0));
        }
        let ring = g.finish();
        let node = |i| Value::Node(NodeId(i));
        assert_eq!(walked(&ring, "up", WalkMode::Last, 0), node(1));
        assert_eq!(walked(&ring, "up", WalkMode::Last, 1), node(2));
        assert_eq!(walked(&ring, "up", WalkMode::Cycle, 1), Value::Bool(true));
        assert_eq!(walked(&ring, "up", WalkMode::Path, 1).len(), Some(len as usize));
        assert_eq!(walked(&ring, "down", WalkMode::All, 1).len(), Some(len as usize));
    }
}

#[test]
fn the_end_of_a_walk_into_a_cycle_depends_on_its_start() {
    // One machine, so that what is remembered of one walk meets the next: every walk of a ring of three ends just
    // before its own start.
    let mut g = G::new();
    let ids: Vec<_> = (0..3).map(|i| g.node(&format!("n{i}"), "Relu", 1, 1)).collect();
    for i in 0..3 {
        g.edge((ids[i], 0), (ids[(i + 1) % 3], 0));
    }
    let ring = g.finish();
    let program = top();
    let mut machine = Machine::over(&program, &NoHost, &ring, GraphId::ROOT);
    for i in [0, 1, 2, 1, 0] {
        let last = machine.call(sym("top"), &[Value::Node(ids[i])]).unwrap();
        assert_eq!(last, Value::Node(ids[(i + 1) % 3]));
    }
}

#[test]
fn walks_from_every_node_of_a_chain_stay_linear() {
    // Without memory this is 2e8 steps.
    let line = chain(20_000);
    let value = eval_with(walks(), &line, &[Value::Graph(GraphId::ROOT)], |x| {
        let root = x.local(0);
        let all = x.fact(Fact::GraphNodes, root);
        let ends = x.each(Each::Map, all, |x, it| x.walk("up", WalkMode::Last, it));
        x.fact(Fact::ListSame, ends)
    });
    assert_eq!(value, Value::Bool(true));
}

/// `top(n)`: where a walk up from a node ends.
fn top() -> Program {
    let mut p = walks();
    p.function("top", 1, |x| {
        let node = x.local(0);
        x.walk("up", WalkMode::Last, node)
    });
    p.link()
}

#[test]
fn the_memo_forgets_when_the_graph_changes() {
    let line = chain(2);
    let program = top();
    let mut machine = Machine::over(&program, &NoHost, &line, GraphId::ROOT);
    let (first, second) = (NodeId(0), NodeId(1));
    let top = |m: &mut Machine<'_>| m.call(sym("top"), &[Value::Node(second)]).unwrap();
    assert_eq!(top(&mut machine), Value::Node(first));
    assert_eq!(top(&mut machine), Value::Node(first));
    machine.cut(second.input(0)).unwrap();
    assert_eq!(top(&mut machine), Value::Node(second));
    machine.connect(first.output(0), second.input(0)).unwrap();
    assert_eq!(top(&mut machine), Value::Node(first));
}

#[test]
fn reads_are_recorded_with_and_without_memo() {
    let line = chain(10);
    let program = top();
    let mut machine = Machine::over(&program, &NoHost, &line, GraphId::ROOT);
    for _ in 0..2 {
        machine.record_reads();
        machine.call(sym("top"), &[Value::Node(NodeId(4))]).unwrap();
        let reads = machine.take_reads();
        let mut nodes: Vec<u32> = reads.nodes.iter().map(|n| n.0).collect();
        nodes.sort_unstable();
        assert_eq!((nodes, reads.everything), (vec![0, 1, 2, 3, 4], false));
    }
}

#[test]
fn a_trace_tells_what_decided() {
    let line = chain(3);
    let mut p = walks();
    p.function("top", 1, |x| {
        let node = x.local(0);
        let last = x.walk("up", WalkMode::Last, node);
        let same = x.eq(last, node);
        let (one, two) = (x.int(1), x.int(2));
        x.put(Expr::First { cases: [(same, one)].into(), otherwise: Some(two) })
    });
    let program = p.link();
    let mut machine = Machine::over(&program, &NoHost, &line, GraphId::ROOT);
    machine.record_trace();
    let top = machine.call(sym("top"), &[Value::Node(NodeId(1))]).unwrap();
    assert_eq!(top, Value::Int(2));
    let events = machine.take_trace();
    let kinds: Vec<(u32, &str)> = events
        .iter()
        .map(|event| {
            let kind = match event.kind {
                EventKind::Condition => "condition",
                EventKind::Compare { .. } => "compare",
                EventKind::Call { .. } => "call",
                EventKind::Case(None) => "else",
                EventKind::Case(Some(_)) => "case",
                EventKind::Hop { .. } => "hop",
            };
            (event.depth, kind)
        })
        .collect();
    let expected = [
        (0, "call"),
        (1, "condition"),
        (1, "hop"),
        (1, "condition"),
        (0, "compare"),
        (0, "condition"),
        (0, "else"),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(events[0].value, Value::Node(NodeId(0)));
}
