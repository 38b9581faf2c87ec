//! Graphs and typed bodies by hand.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::{
    AttrValue, Attrs, Builder, GraphId, GraphInfo, ModelInfo, Node, NodeId, Port, Snapshot, Sym, TensorDesc,
};
use crate::lang::eval::{EntryId, Failure, Machine, NoHost, Program, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::*;
use crate::lang::syntax::ast::{AttrType, Kind, Quantifier};

pub fn sym(text: &str) -> Sym {
    Sym::new(text)
}

/// A graph under construction. Every node is `name: Type` with a number of inputs and outputs.
#[derive(Default)]
pub struct G {
    pub builder: Builder,
    graphs: u32,
    nodes: i64,
}

impl G {
    pub fn new() -> G {
        let mut g = G { builder: Builder::new(ModelInfo::default()), graphs: 0, nodes: 0 };
        g.graph("main");
        g
    }

    pub fn graph(&mut self, name: &str) -> GraphId {
        self.graphs += 1;
        self.builder.graph(GraphInfo::named(name))
    }

    pub fn node_in(&mut self, graph: GraphId, name: &str, ty: &str, inputs: usize, outputs: usize) -> NodeId {
        let desc = Arc::new(TensorDesc { dtype: 1, shape: Some([2, 3].into()), ..TensorDesc::default() });
        let ports = |n: usize| (0..n).map(|_| Port { name: sym(""), desc: desc.clone() }).collect();
        let node = Node {
            name: name.into(),
            ty: sym(ty),
            graph,
            attrs: Attrs::default(),
            inputs: ports(inputs),
            outputs: ports(outputs),
            subgraphs: Arc::from([]),
            detail: None,
        };
        self.nodes += 1;
        self.builder.node(node, self.nodes - 1)
    }

    pub fn node(&mut self, name: &str, ty: &str, inputs: usize, outputs: usize) -> NodeId {
        self.node_in(GraphId::ROOT, name, ty, inputs, outputs)
    }

    pub fn attr(&mut self, node: NodeId, key: &str, value: AttrValue) {
        let node = self.builder.node_mut(node);
        node.attrs = node.attrs.with(sym(key), value);
    }

    pub fn edge(&mut self, from: (NodeId, u32), to: (NodeId, u32)) {
        self.builder.edge(from.0.output(from.1), 0, to.0.input(to.1));
    }

    pub fn finish(self) -> Snapshot {
        self.builder.finish()
    }
}

/// A body under construction.
#[derive(Default, Clone)]
pub struct B(pub Body);

impl B {
    /// A body with so many provided slots.
    pub fn with(locals: u32) -> B {
        B(Body { exprs: Vec::new(), locals })
    }

    pub fn slot(&mut self) -> Local {
        self.0.locals += 1;
        self.0.locals - 1
    }

    pub fn put(&mut self, expr: Expr) -> ExprId {
        self.0.exprs.push(expr);
        self.0.exprs.len() as ExprId - 1
    }

    pub fn local(&mut self, slot: Local) -> ExprId {
        self.put(Expr::Local(slot))
    }

    pub fn int(&mut self, i: i64) -> ExprId {
        self.put(Expr::Const(Const::Int(i)))
    }

    pub fn bool(&mut self, b: bool) -> ExprId {
        self.put(Expr::Const(Const::Bool(b)))
    }

    pub fn str(&mut self, text: &str) -> ExprId {
        self.put(Expr::Const(Const::Str(sym(text))))
    }

    pub fn none(&mut self) -> ExprId {
        self.put(Expr::Const(Const::None))
    }

    pub fn fact(&mut self, fact: Fact, base: ExprId) -> ExprId {
        self.put(Expr::Fact { fact, base, args: Box::new([]) })
    }

    pub fn fact_of(&mut self, fact: Fact, base: ExprId, args: &[ExprId]) -> ExprId {
        self.put(Expr::Fact { fact, base, args: args.into() })
    }

    pub fn attr(&mut self, base: ExprId, key: &str, ty: AttrType) -> ExprId {
        self.put(Expr::Attr { base, keys: Box::new([sym(key)]), ty })
    }

    pub fn compare(&mut self, left: ExprId, op: Compare, right: ExprId) -> ExprId {
        self.put(Expr::Compare { op, left, right })
    }

    pub fn eq(&mut self, left: ExprId, right: ExprId) -> ExprId {
        self.compare(left, Compare::Eq, right)
    }

    pub fn arith(&mut self, op: Arith, left: ExprId, right: ExprId) -> ExprId {
        self.put(Expr::Arith { op, left, right })
    }

    pub fn list(&mut self, items: &[ExprId]) -> ExprId {
        self.put(Expr::List(items.into()))
    }

    pub fn ints(&mut self, items: &[i64]) -> ExprId {
        let items: Vec<ExprId> = items.iter().map(|&i| self.int(i)).collect();
        self.list(&items)
    }

    pub fn range(&mut self, from: i64, to: i64) -> ExprId {
        let (from, to) = (self.int(from), self.int(to));
        self.put(Expr::Range(from, to))
    }

    pub fn call(&mut self, function: &str, args: &[ExprId]) -> ExprId {
        self.put(Expr::Call { function: sym(function), args: args.into(), lift: 1 })
    }

    pub fn walk(&mut self, walk: &str, mode: WalkMode, from: ExprId) -> ExprId {
        self.put(Expr::Walk { walk: sym(walk), mode, from })
    }

    pub fn in_list(&mut self, value: ExprId, list: ExprId) -> ExprId {
        self.put(Expr::InList { value, list, negated: false })
    }

    pub fn quantifier(
        &mut self,
        kind: Quantifier,
        list: ExprId,
        condition: impl FnOnce(&mut B, ExprId) -> ExprId,
    ) -> ExprId {
        let local = self.slot();
        let it = self.local(local);
        let condition = condition(self, it);
        self.put(Expr::Quantifier { kind, local, list, condition })
    }

    pub fn filter(&mut self, list: ExprId, condition: impl FnOnce(&mut B, ExprId) -> ExprId) -> ExprId {
        let local = self.slot();
        let it = self.local(local);
        let condition = condition(self, it);
        self.put(Expr::Where { local, list, condition })
    }

    pub fn each(&mut self, kind: Each, list: ExprId, value: impl FnOnce(&mut B, ExprId) -> ExprId) -> ExprId {
        let local = self.slot();
        let it = self.local(local);
        let value = value(self, it);
        self.put(Expr::Each { kind, local, list, value })
    }
}

/// Items under construction.
#[derive(Default)]
pub struct P {
    pub entries: Vec<((Kind, Sym), Arc<Entry>)>,
    pub options: FxHashMap<Sym, OptionValue>,
}

impl P {
    pub fn add(&mut self, kind: Kind, name: &str, entry: Entry) {
        self.entries.push(((kind, sym(name)), Arc::new(entry)));
    }

    pub fn function(&mut self, name: &str, params: u32, build: impl FnOnce(&mut B) -> ExprId) {
        let mut b = B::with(params);
        let value = build(&mut b);
        self.add(Kind::Fn, name, Entry::Fn { body: b.0, value, params, result: Ty::Error });
    }

    pub fn walk(
        &mut self,
        name: &str,
        lists: bool,
        build: impl FnOnce(&mut B) -> Vec<(Option<ExprId>, Option<ExprId>)>,
    ) {
        let mut b = B::with(1);
        let steps = build(&mut b);
        self.add(Kind::Walk, name, Entry::Walk { body: b.0, steps, lists });
    }

    /// A pass with provided slot {root}.
    pub fn pass(&mut self, name: &str, build: impl FnOnce(&mut B) -> Block) {
        let mut b = B::with(1);
        let block = build(&mut b);
        self.add(Kind::Pass, name, Entry::Pass { subject: None, repeats: false, body: b.0, block });
    }

    pub fn set(&mut self, name: &str, includes: &[&str], elements: &[&str]) {
        let includes = includes.iter().map(|&name| sym(name)).collect();
        let elements = elements.iter().map(|&name| Const::Str(sym(name))).collect();
        self.add(Kind::Set, name, Entry::Set { includes, elements, element: Ty::Op });
    }

    pub fn link(self) -> Program {
        Program::link(self.entries, self.options)
    }
}

/// Evaluates one expression with `args` in the first slots: over the flat view, over the persistent maps, as it was
/// written, and where nodes that are alike share values, at the first time and later. All must agree.
pub fn eval_with(
    mut items: P,
    snapshot: &Snapshot,
    args: &[Value],
    build: impl FnOnce(&mut B) -> ExprId,
) -> Value {
    items.function("subject", args.len() as u32, build);
    let program = items.link();
    let again = |machine: &mut Machine<'_>| {
        let value = machine.call(sym("subject"), args).expect("the expression does not fail");
        assert!(machine.stack.is_empty() && machine.readers.is_empty() && machine.places.is_empty());
        value
    };
    let call = |mut machine: Machine<'_>| again(&mut machine);
    let flat = call(Machine::over(&program, &NoHost, snapshot, GraphId::ROOT));
    let persistent = call(Machine::new(&program, &NoHost, snapshot.edit(), None, GraphId::ROOT));
    assert_eq!(flat, persistent);
    let mut observed = Machine::over(&program, &NoHost, snapshot, GraphId::ROOT);
    observed.record_trace();
    assert_eq!(flat, call(observed));
    let mut sharing = Machine::over(&program, &NoHost, snapshot, GraphId::ROOT);
    sharing.share_alike();
    for _ in 0..6 {
        assert_eq!(flat, again(&mut sharing));
        sharing.set_counters(&[]);
    }
    flat
}

/// Evaluates one expression over an empty graph.
pub fn eval(build: impl FnOnce(&mut B) -> ExprId) -> Value {
    eval_with(P::default(), &G::new().finish(), &[], build)
}

/// Runs the pass `subject` over the root.
pub fn run_pass(machine: &mut Machine<'_>) -> Result<Value, Failure> {
    let program = machine.program();
    let id: EntryId = program.entry(Kind::Pass, sym("subject")).expect("the test declares the pass");
    let Entry::Pass { block, .. } = &**program.hir(id).expect("it is linked") else {
        panic!("`subject` is a pass");
    };
    machine.run(id, block, &[Value::Graph(GraphId::ROOT)])
}
