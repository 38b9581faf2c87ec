//! Speed of evaluation over many nodes: an attribute's condition, and a body that builds symbols.

use std::sync::Arc;

use anchorwatch::graph::{
    Attrs, Builder, GraphId, GraphInfo, ModelInfo, Node, NodeId, Port, Snapshot, Sym, TensorDesc,
};
use anchorwatch::lang::eval::{Machine, NoHost, Program, Value};
use anchorwatch::lang::facts::Fact;
use anchorwatch::lang::hir::{Body, Const, Entry, Expr, ExprId, Statement, Ty};
use anchorwatch::lang::syntax::ast::{AttrType, Kind, Quantifier, Side};
use divan::counter::ItemsCount;

const NODES: u32 = 100_000;

fn main() {
    divan::main();
}

/// A chain in which every node also reads the node before its predecessor.
fn model() -> Snapshot {
    let mut builder = Builder::new(ModelInfo::default());
    builder.graph(GraphInfo::named("main"));
    let types = ["Relu", "Add", "MatMul", "Cast"].map(Sym::new);
    let desc = Arc::new(TensorDesc::default());
    let ports = |n| std::iter::repeat_n(Port { name: Sym::default(), desc: desc.clone() }, n).collect();
    for i in 0..NODES {
        let node = Node {
            name: format!("model/layer_{i}/op").into(),
            ty: types[i as usize % types.len()],
            graph: GraphId::ROOT,
            attrs: Attrs::default(),
            inputs: ports(2),
            outputs: ports(1),
            subgraphs: Arc::from([]),
            detail: None,
        };
        builder.node(node, i64::from(i));
        for (index, back) in [1, 2].into_iter().enumerate() {
            if i >= back {
                builder.edge(NodeId(i - back).output(0), 0, NodeId(i).input(index as u32));
            }
        }
    }
    builder.finish()
}

#[derive(Default)]
struct B(Body);

impl B {
    fn put(&mut self, expr: Expr) -> ExprId {
        self.0.exprs.push(expr);
        self.0.exprs.len() as ExprId - 1
    }

    fn local(&mut self, slot: u32) -> ExprId {
        self.0.locals = self.0.locals.max(slot + 1);
        self.put(Expr::Local(slot))
    }

    fn fact(&mut self, fact: Fact, base: ExprId) -> ExprId {
        self.put(Expr::Fact { fact, base, args: Box::new([]) })
    }
}

/// `anchor.node.type in S and n.attr(flag) or any r in anchor.readers: is_sink(r.node)`; nothing is a sink.
fn condition() -> (Program, ExprId) {
    let mut f = B::default();
    let node = f.local(0);
    let ty = f.fact(Fact::NodeType, node);
    let value = f.put(Expr::InSet { value: ty, set: Sym::new("SINKS"), negated: false });
    let function = Entry::Fn { body: f.0, value, params: 1, result: Ty::Bool };
    let set = |names: &[&str]| Entry::Set {
        includes: Vec::new(),
        elements: names.iter().map(|name| Const::Str(Sym::new(name))).collect(),
        element: Ty::Op,
    };
    let mut b = B::default();
    b.0.locals = 6;
    let anchor = b.local(0);
    let node = b.fact(Fact::OutputNode, anchor);
    let ty = b.fact(Fact::NodeType, node);
    let among = b.put(Expr::InSet { value: ty, set: Sym::new("SOURCES"), negated: false });
    let keys = Box::new([Sym::new("continuous_input")]);
    let flag = b.put(Expr::Attr { base: node, keys, ty: AttrType::Bool });
    let own = b.put(Expr::And(among, flag));
    let readers = b.fact(Fact::OutputReaders, anchor);
    let it = b.local(5);
    let reader = b.fact(Fact::InputNode, it);
    let sink = b.put(Expr::Call { function: Sym::new("is_sink"), args: Box::new([reader]), lift: 1 });
    let any = b.put(Expr::Quantifier { kind: Quantifier::Any, local: 5, list: readers, condition: sink });
    let whole = b.put(Expr::Or(own, any));
    let attribute = Entry::Attribute { side: Side::Output, rule: Some((b.0, whole)) };
    let entries = [
        ((Kind::Fn, Sym::new("is_sink")), function),
        ((Kind::Set, Sym::new("SINKS")), set(&["NetOutput"])),
        ((Kind::Set, Sym::new("SOURCES")), set(&["Add", "Cast"])),
        ((Kind::Attribute, Sym::new("MARK")), attribute),
    ];
    let entries = entries.map(|(key, entry)| (key, Arc::new(entry)));
    (Program::link(entries, Default::default()), whole)
}

/// For all nodes: each input founds a group or joins that of its source; each output founds one.
fn symbols() -> Program {
    let mut b = B::default();
    b.0.locals = 4;
    let target = b.local(0);
    let nodes = b.fact(Fact::GraphAllNodes, target);
    let (node, input, output) = (b.local(1), b.local(2), b.local(3));
    let inputs = b.fact(Fact::NodeInputs, node);
    let outputs = b.fact(Fact::NodeOutputs, node);
    let source = b.fact(Fact::InputSource, input);
    let lone = b.put(Expr::IsNone { value: source, negated: false });
    let join = vec![Statement::Join { anchor: input, to: source }];
    let enter = Statement::If { arms: vec![(lone, vec![Statement::Found(input)])], otherwise: join };
    let registered = b.fact(Fact::AnchorRegistered, output);
    let free = b.put(Expr::Not(registered));
    let found = Statement::If { arms: vec![(free, vec![Statement::Found(output)])], otherwise: vec![] };
    let body = vec![
        Statement::For { local: 2, list: inputs, body: vec![enter] },
        Statement::For { local: 3, list: outputs, body: vec![found] },
    ];
    let block = vec![Statement::For { local: 1, list: nodes, body }];
    let entry = Entry::Symbols { body: b.0, block };
    Program::link([((Kind::Symbols, Sym::new("memory")), Arc::new(entry))], Default::default())
}

#[divan::bench]
fn attribute_condition(bencher: divan::Bencher<'_, '_>) {
    let snapshot = model();
    let (program, whole) = condition();
    let mark = program.entry(Kind::Attribute, Sym::new("MARK")).expect("it is linked");
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| {
        let mut count = 0;
        for i in 0..NODES {
            let node = NodeId(i);
            let frame = [node.output(0).into(), node.into(), GraphId::ROOT.into(), GraphId::ROOT.into()];
            count += u32::from(machine.test(mark, whole, &frame).unwrap_or(false));
        }
        count
    });
}

#[divan::bench]
fn build_symbols(bencher: divan::Bencher<'_, '_>) {
    let snapshot = model();
    let program = symbols();
    snapshot.dense();
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| {
        let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
        machine.build_symbols(Sym::new("memory"), GraphId::ROOT).map(|table| table.groups().len())
    });
}

/// The same with every node out of the flat view: what a pass pays after it has edited everything.
#[divan::bench]
fn attribute_condition_after_edits(bencher: divan::Bencher<'_, '_>) {
    let snapshot = model();
    let (program, whole) = condition();
    let mark = program.entry(Kind::Attribute, Sym::new("MARK")).expect("it is linked");
    let mut machine = Machine::new(&program, &NoHost, snapshot.edit(), None, GraphId::ROOT);
    bencher.counter(ItemsCount::new(NODES)).bench_local(|| {
        let mut count = 0;
        for i in 0..NODES {
            let node = NodeId(i);
            let frame = [Value::from(node.output(0)), node.into(), GraphId::ROOT.into()];
            count += u32::from(machine.test(mark, whole, &frame).unwrap_or(false));
        }
        count
    });
}
