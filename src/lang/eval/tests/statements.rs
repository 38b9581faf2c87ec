//! Statements, edits, failures, texts.

use std::cell::RefCell;
use std::sync::Arc;

use super::build::*;
use crate::graph::{Anchor, AttrValue, GraphId, NodeId, Snapshot, Sym, Symbols};
use crate::lang::eval::{Beside, Cause, ChainEnd, EditKind, Failure, Host, Machine, NoHost, Value, reaches};
use crate::lang::facts::Fact;
use crate::lang::hir::*;
use crate::lang::syntax::ast::{AttrType, Kind, Refusal};

/// `a -> b`, `c` alone, and `d` inside the graph of `b`.
fn graph() -> (Snapshot, [NodeId; 4]) {
    let mut g = G::new();
    let a = g.node("a", "Data", 1, 1);
    let b = g.node("b", "If", 1, 1);
    let c = g.node("c", "Relu", 1, 1);
    let inner = g.graph("inner");
    let d = g.node_in(inner, "d", "Relu", 1, 1);
    g.builder.own(b, inner);
    g.edge((a, 0), (b, 0));
    (g.finish(), [a, b, c, d])
}

/// Runs a pass on the graph and hands the machine to `check`.
fn run<T>(
    items: P,
    build: impl FnOnce(&mut B) -> Block,
    check: impl FnOnce(&mut Machine<'_>, Result<Value, Failure>) -> T,
) -> T {
    run_with(items, &NoHost, build, check)
}

fn run_with<T>(
    mut items: P,
    host: &dyn Host,
    build: impl FnOnce(&mut B) -> Block,
    check: impl FnOnce(&mut Machine<'_>, Result<Value, Failure>) -> T,
) -> T {
    let (snapshot, _) = graph();
    items.pass("subject", build);
    let program = items.link();
    let mut machine = Machine::over(&program, host, &snapshot, GraphId::ROOT);
    let result = run_pass(&mut machine);
    check(&mut machine, result)
}

fn node(x: &mut B, name: &str) -> ExprId {
    let root = x.local(0);
    let name = x.str(name);
    x.fact_of(Fact::GraphFind, root, &[name])
}

fn port(x: &mut B, fact: Fact, name: &str) -> ExprId {
    let node = node(x, name);
    let zero = x.int(0);
    x.fact_of(fact, node, &[zero])
}

fn code(result: Result<Value, Failure>) -> &'static str {
    match result.expect_err("the statement is refused").cause {
        Cause::Mechanism { code, .. } => code,
        Cause::Text { .. } => "text",
    }
}

fn kinds(machine: &Machine<'_>) -> Vec<EditKind> {
    machine.edits().iter().map(|record| record.kind.clone()).collect()
}

#[test]
fn loops_branches_stop() {
    // Sums 0 .. 10 without 3, stops at 6: 0 + 1 + 2 + 4 + 5.
    let build = |x: &mut B| {
        let (sum, i) = (x.slot(), x.slot());
        let zero = x.int(0);
        let list = x.range(0, 10);
        let it = x.local(i);
        let (three, six) = (x.int(3), x.int(6));
        let is_six = x.eq(it, six);
        let is_three = x.eq(it, three);
        let old = x.local(sum);
        let new = x.arith(Arith::Add, old, it);
        let stop = vec![Statement::Give(old)];
        let add = vec![Statement::Let { local: sum, value: new }];
        let body = vec![Statement::If { arms: vec![(is_six, stop), (is_three, vec![])], otherwise: add }];
        vec![
            Statement::Let { local: sum, value: zero },
            Statement::For { local: i, list, body },
            Statement::Give(zero),
        ]
    };
    assert_eq!(run(P::default(), build, |_, result| result.unwrap()), Value::Int(12));
    let stop = |x: &mut B| vec![Statement::Stop, Statement::Give(x.int(1))];
    assert_eq!(run(P::default(), stop, |_, result| result.unwrap()), Value::None);
}

#[test]
fn a_loop_over_readers_sees_the_list_before_the_loop() {
    let build = |x: &mut B| {
        let i = x.slot();
        let out = port(x, Fact::NodeOutput, "a");
        let list = x.fact(Fact::OutputReaders, out);
        let it = x.local(i);
        let to = port(x, Fact::NodeInput, "c");
        let body = vec![Statement::Cut(it), Statement::Connect { from: out, to }];
        vec![Statement::For { local: i, list, body }]
    };
    let (_, [a, b, c, _]) = graph();
    run(P::default(), build, |machine, result| {
        result.unwrap();
        let readers: Vec<_> = machine.state().consumers(a.output(0)).collect();
        assert_eq!(readers, [c.input(0)]);
        let cut = EditKind::Cut { from: a.output(0), to: b.input(0) };
        let connect = EditKind::Connect { from: a.output(0), to: c.input(0), before: None };
        assert_eq!(kinds(machine), [cut, connect]);
    });
}

#[test]
fn inserted_nodes_get_free_names_and_a_place() {
    let build = |x: &mut B| {
        let (i, n) = (x.slot(), x.slot());
        let (list, op) = (x.range(0, 3), x.str("Identity"));
        let behind = node(x, "a");
        let (two, it) = (x.int(2), x.local(i));
        let insert = |named: Vec<TextPart>, behind| {
            let graph = None;
            let insert = Insert {
                bind: Some(n),
                op,
                named: Some(named),
                graph,
                behind,
                inputs: Some(two),
                outputs: None,
            };
            Statement::Insert(Box::new(insert))
        };
        let numbered = vec![TextPart::Literal("id_".into()), TextPart::Value(it)];
        let first = insert(vec![TextPart::Literal("c".into())], Some(behind));
        vec![Statement::For { local: i, list, body: vec![first, insert(numbered, None)] }]
    };
    run(P::default(), build, |machine, result| {
        result.unwrap();
        let state = machine.state();
        let names: Vec<&str> = state.list(GraphId::ROOT).map(|n| &*state.node(n).name).collect();
        assert_eq!(names, ["a", "c_3", "c_2", "c_1", "b", "c", "id_0", "id_1", "id_2"]);
        let id = state.list(GraphId::ROOT).nth(1).unwrap();
        let inserted = state.node(id);
        assert_eq!((inserted.ty, inserted.inputs.len(), inserted.outputs.len()), (sym("Identity"), 2, 1));
    });
}

#[test]
fn a_freed_name_is_used_again() {
    let (snapshot, _) = graph();
    let program = P::default().link();
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    let insert = |m: &mut Machine<'_>| {
        let id = m.insert(GraphId::ROOT, sym("Identity"), "a", None, (1, 1)).unwrap();
        (id, m.state().node(id).name.to_string())
    };
    let (first, name) = insert(&mut machine);
    assert_eq!(name, "a_1");
    assert_eq!(insert(&mut machine).1, "a_2");
    machine.delete(first).unwrap();
    assert_eq!(insert(&mut machine).1, "a_1");
    assert_eq!(insert(&mut machine).1, "a_3");
    // The same name in another graph is free.
    let inner = machine.insert(GraphId(1), sym("Identity"), "a", None, (1, 1)).unwrap();
    assert_eq!(&*machine.state().node(inner).name, "a");
}

#[test]
fn a_hundred_thousand_insertions_of_one_name() {
    let (snapshot, _) = graph();
    let program = P::default().link();
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    let mut last = None;
    for _ in 0..100_000 {
        last = machine.insert(GraphId::ROOT, sym("Identity"), "a", None, (1, 1)).ok();
    }
    assert_eq!(&*machine.state().node(last.unwrap()).name, "a_100000");
    assert_eq!(machine.state().topo_id(last.unwrap()), 100_002);
}

#[test]
fn edges_and_their_refusals() {
    let edit = |build: fn(&mut B) -> Statement| {
        run(P::default(), |x| vec![build(x)], |machine, result| (result, kinds(machine)))
    };
    let (_, [a, b, c, d]) = graph();
    let (result, edits) = edit(|x| {
        let (from, to) = (port(x, Fact::NodeOutput, "c"), port(x, Fact::NodeInput, "b"));
        Statement::Connect { from, to }
    });
    result.unwrap();
    let before = Some(a.output(0));
    assert_eq!(edits, [EditKind::Connect { from: c.output(0), to: b.input(0), before }]);
    let (result, edits) = edit(|x| {
        let (from, to) = (port(x, Fact::NodeOutput, "d"), port(x, Fact::NodeInput, "b"));
        Statement::Connect { from, to }
    });
    assert_eq!((code(result), edits.len()), ("across-graphs", 0));
    let (result, _) = edit(|x| {
        let (from, to) = (port(x, Fact::NodeInput, "c"), port(x, Fact::NodeInput, "b"));
        Statement::Connect { from, to }
    });
    assert_eq!(code(result), "direction");
    let (result, edits) = edit(|x| Statement::Cut(port(x, Fact::NodeInput, "c")));
    assert!(result.is_ok() && edits.is_empty());
    let (result, _) = edit(|x| Statement::Cut(port(x, Fact::NodeOutput, "a")));
    assert_eq!(code(result), "direction");
    let (result, _) = edit(|x| Statement::Cut(x.none()));
    assert_eq!(code(result), "none");
    let (result, edits) = edit(|x| {
        let (from, to) = (node(x, "a"), node(x, "c"));
        Statement::Link { from, to }
    });
    result.unwrap();
    assert_eq!(edits, [EditKind::Link { from: a, to: c }]);
    let (result, _) = edit(|x| {
        let (from, to) = (node(x, "a"), node(x, "d"));
        Statement::Link { from, to }
    });
    assert_eq!(code(result), "across-graphs");
    let (result, _) = edit(|x| {
        let (from, to) = (node(x, "a"), node(x, "a"));
        Statement::Link { from, to }
    });
    assert_eq!(code(result), "self-link");
    let (result, edits) = edit(|x| {
        let (from, to) = (node(x, "a"), node(x, "c"));
        Statement::Unlink { from, to }
    });
    assert!(result.is_ok() && edits.is_empty());
    let (result, edits) = edit(|x| Statement::Delete(node(x, "b")));
    result.unwrap();
    let beside = Arc::new(Beside { before: vec![a], after: Vec::new() });
    assert_eq!(edits, [EditKind::Delete { node: b, graph: GraphId::ROOT, name: "b".into(), beside }]);
    assert_eq!(d, NodeId(3));
}

#[test]
fn attributes_and_fields() {
    let mut p = P::default();
    let places = vec![crate::lang::syntax::ast::AttrPlace::Node];
    p.add(Kind::Attr, "k", Entry::Attr { ty: AttrType::Int, places, aliases: vec![sym("old_k")] });
    let build = |x: &mut B| {
        let (a, seven, none) = (node(x, "a"), x.int(7), x.none());
        let (out, c_in) = (port(x, Fact::NodeOutput, "a"), port(x, Fact::NodeInput, "c"));
        let (flags, name, root) = (x.list(&[seven]), x.str("y"), x.local(0));
        let set = |subject, value, ty| Statement::SetAttr { subject, key: sym("k"), ty, value };
        let field = |subject, field, value| Statement::SetField { subject, field, value };
        vec![
            set(a, seven, AttrType::Int),
            // Equal: no second edit.
            set(a, seven, AttrType::Int),
            set(root, flags, AttrType::ListInt),
            set(out, name, AttrType::Str),
            field(c_in, Field::Tensor, out),
            field(out, Field::ReuseInput, seven),
            field(out, Field::DataOffset, seven),
            field(out, Field::Name, name),
            field(a, Field::Id, seven),
            set(a, none, AttrType::Int),
            set(a, none, AttrType::Int),
        ]
    };
    let (_, [a, _, c, _]) = graph();
    run(p, build, |machine, result| {
        result.unwrap();
        assert_eq!(machine.edits().len(), 9);
        let state = machine.state();
        assert!(state.node(a).attr(sym("k")).is_none());
        assert_eq!(state.graph(GraphId::ROOT).attrs.get(sym("k")), Some(&AttrValue::ints([7])));
        let port = state.node(a).outputs.get(0).unwrap();
        assert_eq!((port.name, port.desc.reuse_input, port.desc.reuse_input_index), (sym("y"), true, 7));
        assert_eq!((port.desc.data_offset, state.topo_id(a)), (7, 7));
        let copied = state.node(c).inputs.get(0).unwrap();
        assert_eq!(copied.desc.attr(sym("k")), Some(&AttrValue::str("y")));
        assert_eq!(machine.program().key(machine.edits()[0].entry), Some((Kind::Pass, sym("subject"))));
    });
}

#[test]
fn removing_an_attribute_takes_old_spellings_along() {
    let mut g = G::new();
    let n = g.node("n", "Relu", 1, 1);
    g.attr(n, "old_k", AttrValue::Int(1));
    let snapshot = g.finish();
    let mut p = P::default();
    p.add(Kind::Attr, "k", Entry::Attr { ty: AttrType::Int, places: vec![], aliases: vec![sym("old_k")] });
    let program = p.link();
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    machine.set_attr(crate::lang::eval::Subject::Node(n), sym("k"), None).unwrap();
    assert!(machine.state().node(n).attrs.entries().is_empty());
}

#[test]
fn what_was_edited_is_read_back() {
    // The flat view is out of date for `a` and its neighbours, and for nothing else.
    let build = |x: &mut B| {
        let (from, to) = (port(x, Fact::NodeOutput, "c"), port(x, Fact::NodeInput, "b"));
        let a = port(x, Fact::NodeOutput, "a");
        let (old, new) = (x.fact(Fact::OutputReaderCount, a), x.fact(Fact::OutputReaderCount, from));
        let source = x.fact(Fact::InputSource, to);
        let moved = x.eq(source, from);
        let readers = x.fact(Fact::OutputReaders, from);
        let member = x.in_list(to, readers);
        let all = x.list(&[old, new, moved, member]);
        vec![Statement::Connect { from, to }, Statement::Give(all)]
    };
    let expected = [Value::Int(0), Value::Int(1), Value::Bool(true), Value::Bool(true)];
    assert_eq!(run(P::default(), build, |_, result| result.unwrap()), Value::list(expected.to_vec()));
}

#[test]
fn actions_give_back_nodes() {
    let mut p = P::default();
    let mut b = B::with(1);
    let arg = b.local(0);
    let block = vec![Statement::Give(arg), Statement::Fail(0)];
    p.add(Kind::Action, "same", Entry::Action { body: b.0, params: 1, gives: Some(Ty::Node), block });
    let build = |x: &mut B| {
        let (n, a) = (x.slot(), node(x, "a"));
        let bound = x.local(n);
        let call = Statement::Do { bind: Some(n), action: sym("same"), args: [a].into() };
        vec![call, Statement::Give(bound)]
    };
    assert_eq!(run(p, build, |_, result| result.unwrap()), Value::Node(NodeId(0)));
}

#[test]
fn groups_are_built_and_refusals_name_the_anchor() {
    let build = |refused: bool| {
        let mut p = P::default();
        let mut x = B::with(1);
        let (out, input) = (port(&mut x, Fact::NodeOutput, "a"), port(&mut x, Fact::NodeInput, "b"));
        let c = port(&mut x, Fact::NodeInput, "c");
        let together = x.fact_of(Fact::AnchorSameGroup, out, &[c]);
        let united = vec![Statement::Join { anchor: port(&mut x, Fact::NodeOutput, "c"), to: c }];
        let mut block = vec![
            Statement::Found(out),
            Statement::Join { anchor: input, to: out },
            Statement::Found(c),
            Statement::Unite { anchor: c, with: out },
            Statement::If { arms: vec![(together, united)], otherwise: vec![] },
        ];
        if refused {
            block.push(Statement::Found(input));
        }
        p.add(Kind::Symbols, "memory", Entry::Symbols { body: x.0, block });
        let program = p.link();
        let (snapshot, _) = graph();
        let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
        machine.build_symbols(sym("memory"), GraphId::ROOT)
    };
    let (_, [a, b, c, _]) = graph();
    let table = build(false).unwrap();
    assert_eq!(table.groups().len(), 1);
    let members =
        [Anchor::Out(a.output(0)), Anchor::In(b.input(0)), Anchor::In(c.input(0)), Anchor::Out(c.output(0))];
    assert_eq!(table.groups()[0].members, members);
    let failure = build(true).unwrap_err();
    assert_eq!(failure.places, [Value::Input(b.input(0))]);
    let Cause::Mechanism { code, message } = failure.cause else { panic!("not a text") };
    assert_eq!((code, &*message), ("two-symbols", "`b_in_0` is in another group already"));
}

#[test]
fn texts_are_rendered_from_the_frame_of_their_statement() {
    let build = |x: &mut B| {
        let local = x.slot();
        let out = port(x, Fact::NodeOutput, "a");
        let held = x.local(local);
        vec![
            Statement::Let { local, value: out },
            Statement::Isolate { target: held, reason: Some(0) },
            Statement::Report { places: [held].into(), message: 0, level: None, help: None, answer: None },
            Statement::Fail(0),
        ]
    };
    let mut body = B::with(2);
    let (root, anchor) = (body.local(0), body.local(1));
    let owner = body.fact(Fact::OutputNode, anchor);
    let list = body.fact(Fact::GraphNodes, root);
    let none = body.none();
    let parts = vec![
        TextPart::Value(anchor),
        TextPart::Literal(" of ".into()),
        TextPart::Value(owner),
        TextPart::Literal(" in ".into()),
        TextPart::Value(root),
        TextPart::Literal(": ".into()),
        TextPart::Value(list),
        TextPart::Literal(", ".into()),
        TextPart::Value(none),
    ];
    let text = Text { body: body.0, parts };
    let expected = "a_out_0 of a in main: a, b, c, none";
    run(P::default(), build, |machine, result| {
        let Cause::Text { text: 0, frame } = result.unwrap_err().cause else { panic!("`fail` has a text") };
        assert_eq!(machine.render(&text, &frame), expected);
        let isolated = machine.take_isolated();
        assert_eq!(isolated[0].anchor, Anchor::Out(NodeId(0).output(0)));
        assert_eq!(machine.render(&text, &isolated[0].frame), expected);
        let reports = machine.take_reports();
        assert_eq!(machine.render(&text, &reports[0].frame), expected);
    });
}

#[test]
fn variants_are_shown_by_name() {
    let mut p = P::default();
    p.add(Kind::Enum, "E", Entry::Enum { variants: vec![sym("One"), sym("Two")] });
    let program = p.link();
    let (snapshot, _) = graph();
    let machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    assert_eq!(machine.show(&Value::Enum { ty: sym("E"), variant: 1 }), "Two");
}

#[test]
fn chains_stop_at_the_first_failing_step() {
    let chain = |second: bool| {
        let mut x = B::with(2);
        let n = x.local(1);
        let inputs = x.fact(Fact::NodeInputs, n);
        let count = x.fact(Fact::ListCount, inputs);
        let one = x.int(1);
        let held = x.slot();
        let value = x.local(held);
        let holds = x.eq(value, one);
        let second = x.bool(second);
        let ty = x.fact(Fact::NodeType, n);
        let relu = x.str("Relu");
        let condition = x.eq(ty, relu);
        let require = |name, condition| ChainStep::Require {
            name: sym(name),
            condition,
            end: StepEnd { refusal: Refusal::Keep, otherwise: Some(3), help: None },
        };
        let steps = vec![
            ChainStep::Let { local: held, value: count },
            require("one_input", holds),
            require("second", second),
        ];
        let subject = Subject { list: None, condition: Some(condition) };
        let then = vec![Statement::SetAttr { subject: n, key: sym("k"), ty: AttrType::Int, value: one }];
        let mut p = P::default();
        p.add(Kind::Chain, "ch", Entry::Chain(Box::new(Chain { subject, body: x.0, steps, then })));
        p
    };
    let (_, [_, b, c, _]) = graph();
    let on = |second, node| {
        let (snapshot, _) = graph();
        let program = chain(second).link();
        let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
        let end = machine.run_chain(sym("ch"), node).unwrap();
        (end, machine.edits().len())
    };
    assert!(matches!(on(true, c), (ChainEnd::Done, 1)));
    assert!(matches!(on(true, b), (ChainEnd::Elsewhere, 0)));
    let (ChainEnd::Kept(kept), 0) = on(false, c) else { panic!("it is kept") };
    assert_eq!((kept.name, kept.end.otherwise), (sym("second"), Some(3)));
}

/// Writes down what it is asked.
#[derive(Default)]
struct Recorder(RefCell<Vec<String>>);

impl Recorder {
    fn note(&self, what: String) {
        self.0.borrow_mut().push(what);
    }
}

impl Host for Recorder {
    fn symbols(&self, _: &mut Machine<'_>, name: Sym, g: GraphId) -> Result<Arc<Symbols>, Failure> {
        self.note(format!("symbols {name} {}", g.0));
        Ok(Arc::default())
    }

    fn conflicts(&self, _: &mut Machine<'_>, g: GraphId, table: &Arc<Symbols>) -> Result<bool, Failure> {
        self.note(format!("conflicts {} {}", g.0, table.groups().len()));
        Err(Failure::mechanism("asked", "the engine refuses"))
    }

    fn would_conflict(
        &self,
        _: &mut Machine<'_>,
        g: GraphId,
        _: (Anchor, Anchor),
    ) -> Result<Option<bool>, Failure> {
        self.note(format!("would_conflict {}", g.0));
        Ok(None)
    }

    fn sort(&self, machine: &mut Machine<'_>, order: Sym) -> Result<(), Failure> {
        self.note(format!("sort {order}"));
        machine.reorder(|edit| edit.set_list(GraphId::ROOT, vec![NodeId(2), NodeId(1), NodeId(0)]));
        Ok(())
    }

    fn apply(&self, _: &mut Machine<'_>, chain: Sym, node: NodeId) -> Result<(), Failure> {
        self.note(format!("apply {chain} {}", node.0));
        Ok(())
    }

    fn resolve(
        &self,
        machine: &mut Machine<'_>,
        symbols: Sym,
        _: GraphId,
        body: &mut dyn FnMut(&mut Machine<'_>, Anchor) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.note(format!("resolve {symbols}"));
        body(machine, Anchor::In(NodeId(1).input(0)))
    }

    fn reaches(&self, machine: &mut Machine<'_>, from: NodeId, to: NodeId) -> bool {
        self.note("reaches".into());
        reaches(machine.state(), from, to)
    }
}

#[test]
fn the_engine_is_asked() {
    let host = Recorder::default();
    let build = |x: &mut B| {
        let (root, a, local) = (x.local(0), node(x, "a"), x.slot());
        let held = x.local(local);
        let table = x.put(Expr::Symbols { symbols: sym("memory"), graph: root });
        let reaches = x.fact_of(Fact::NodeReaches, a, &[a]);
        let nodes = x.fact(Fact::GraphNodes, root);
        let first = x.fact(Fact::ListFirst, nodes);
        let conflicts = x.put(Expr::Conflicts { graph: root, table });
        let before = x.slot();
        let body = vec![Statement::Cut(held)];
        vec![
            Statement::Let { local: before, value: first },
            Statement::Sort { order: sym("o") },
            Statement::Apply { chain: sym("ch"), to: first },
            Statement::Resolve { symbols: sym("memory"), graph: root, local, body },
            Statement::Let { local: before, value: reaches },
            Statement::If { arms: vec![(conflicts, vec![])], otherwise: vec![] },
            Statement::Fail(0),
        ]
    };
    let edits = run_with(P::default(), &host, build, |machine, result| {
        // A failure inside an expression ends the statement that asked.
        assert_eq!(code(result), "asked");
        machine.edits().len()
    });
    assert_eq!(edits, 1);
    let asked = host.0.into_inner();
    let expected = ["sort o", "apply ch 2", "resolve memory", "reaches", "symbols memory 0", "conflicts 0 0"];
    assert_eq!(asked, expected);
}

#[test]
fn counters_count_uses_in_one_run() {
    let build = |x: &mut B| {
        let counts: Vec<_> = ["c", "c", "d"].map(|name| x.put(Expr::Counter(sym(name)))).into();
        vec![Statement::Give(x.list(&counts))]
    };
    let expected = [0, 1, 0].map(Value::Int).to_vec();
    assert_eq!(run(P::default(), build, |_, result| result.unwrap()), Value::list(expected));
}
