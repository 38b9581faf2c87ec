//! Graphs for benches and property tests: the mix of a training step, made from a seed.
//!
//! Promise: the same [`Spec`] gives the same graph, the graph is acyclic and its edges are within the ports, and
//! equal ports and attributes are shared, so that a million nodes stay affordable.

use std::collections::HashMap;
use std::sync::Arc;

use anchorwatch::graph::{
    AttrValue, Attrs, Builder, GraphId, GraphInfo, ModelInfo, Node, NodeId, Output, Port, Ports, Snapshot,
    Sym, TensorDesc,
};

#[path = "accesses.rs"]
mod accesses;

#[path = "rows.rs"]
mod rows;

#[allow(unused_imports)] // not every bench makes accesses
pub use accesses::*;
#[allow(unused_imports)] // nor rows
pub use rows::*;

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Nodes of all graphs together; the result differs by a few.
    pub nodes: usize,
    pub seed: u64,
    pub shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Residual blocks, fan-out, concats, splits, references, collectives, nested graphs of all kinds.
    Mixed,
    /// The random flat graphs `g…` of the bench set.
    PeerLike,
    /// The graphs `s…`: one subgraph of 17 nodes per 200 nodes.
    PeerNested,
    /// One operator after the other.
    Chain,
    /// One variable that all other nodes read, every tenth writing it.
    OneVariable,
    /// One concat that owns its inputs.
    WideConcat,
    /// Calls of small graphs, one after the other.
    ManySubgraphs,
    /// Copies in a row.
    Copies,
    /// The same with a writer in place between two of them.
    CopiesAndWriters,
    /// Copies of one value, each with a reader.
    CopyFan,
    /// All that the read/write layer and the passes around it look at.
    Accesses,
    /// One value with a writer and many readers, all in order.
    OrderedReaders,
    /// The same, and nothing orders any two.
    UnorderedReaders,
    /// One value with many writers in order, a reader between each two.
    OrderedWriters,
    /// One value that many operators overwrite for their own use.
    ManyCollectives,
    /// One concat whose inputs can lie in a row.
    WideRow,
    /// Concats of four such inputs.
    ManyRows,
}

/// Shapes that any pass may be run on; each of the others is made for one.
pub const SHAPES: [Shape; 10] = [
    Shape::Mixed,
    Shape::PeerLike,
    Shape::PeerNested,
    Shape::Chain,
    Shape::OneVariable,
    Shape::WideConcat,
    Shape::ManySubgraphs,
    Shape::Copies,
    Shape::CopiesAndWriters,
    Shape::CopyFan,
];

pub fn generate(spec: &Spec) -> Snapshot {
    let mut maker = Maker::new(spec.seed);
    match spec.shape {
        Shape::Mixed => maker.mixed(spec.nodes),
        Shape::PeerLike => maker.peer(spec.nodes, false),
        Shape::PeerNested => maker.peer(spec.nodes, true),
        Shape::Chain => maker.chain(spec.nodes),
        Shape::OneVariable => maker.one_variable(spec.nodes),
        Shape::WideConcat => maker.wide_concat(spec.nodes),
        Shape::ManySubgraphs => maker.many_subgraphs(spec.nodes),
        Shape::Copies => maker.copies(spec.nodes, false),
        Shape::CopiesAndWriters => maker.copies(spec.nodes, true),
        Shape::CopyFan => maker.copy_fan(spec.nodes),
        Shape::Accesses => maker.accesses(spec.nodes),
        Shape::OrderedReaders => maker.one_writer(spec.nodes, true),
        Shape::UnorderedReaders => maker.one_writer(spec.nodes, false),
        Shape::OrderedWriters => maker.writers_in_order(spec.nodes),
        Shape::ManyCollectives => maker.many_collectives(spec.nodes),
        Shape::WideRow => maker.rows(spec.nodes, usize::MAX),
        Shape::ManyRows => maker.rows(spec.nodes, 4),
    }
    maker.builder.finish()
}

pub fn mixed(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::Mixed })
}

pub fn peer_like(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::PeerLike })
}

pub fn peer_nested(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::PeerNested })
}

pub fn chain(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::Chain })
}

/// `readers` counts the nodes that use the variable.
pub fn one_variable(readers: usize) -> Snapshot {
    generate(&Spec { nodes: readers + 2, seed: 1, shape: Shape::OneVariable })
}

/// A concat with `inputs` inputs.
pub fn wide_concat(inputs: usize) -> Snapshot {
    generate(&Spec { nodes: inputs + 3, seed: 1, shape: Shape::WideConcat })
}

/// `graphs` subgraphs of five nodes.
pub fn many_subgraphs(graphs: usize) -> Snapshot {
    generate(&Spec { nodes: graphs * 6 + 2, seed: 1, shape: Shape::ManySubgraphs })
}

pub fn copies(copies: usize) -> Snapshot {
    generate(&Spec { nodes: copies + 3, seed: 1, shape: Shape::Copies })
}

pub fn copies_and_writers(copies: usize) -> Snapshot {
    generate(&Spec { nodes: 2 * copies + 3, seed: 1, shape: Shape::CopiesAndWriters })
}

pub fn copy_fan(copies: usize) -> Snapshot {
    generate(&Spec { nodes: 2 * copies + 3, seed: 1, shape: Shape::CopyFan })
}

/// SplitMix64: enough for shapes, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.next() % 100 < chance
    }
}

/// Port names of one direction: a fixed list, or `__input0`, `__input1` ... (`__output0` ...).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Names {
    Numbered(&'static str, usize),
    Fixed(&'static [&'static str]),
}

fn flags(keys: &[&str]) -> Vec<(Sym, AttrValue)> {
    keys.iter().map(|key| (Sym::new(key), AttrValue::Bool(true))).collect()
}

struct Maker {
    builder: Builder,
    random: Random,
    desc: Arc<TensorDesc>,
    reusing_desc: Arc<TensorDesc>,
    /// Ports made before, by names and by whether they take over input 0.
    ports: HashMap<(Names, bool), Ports>,
    attrs: HashMap<&'static [&'static str], Attrs>,
    no_subgraphs: Arc<[GraphId]>,
    serial: usize,
    /// Topological id of the next node of each graph.
    positions: Vec<i64>,
}

/// A graph in the making: what later nodes may read.
struct Scope {
    graph: GraphId,
    /// Outputs that may be read, the latest last.
    pool: Vec<Output>,
    variables: Vec<Variable>,
}

struct Variable {
    output: Output,
    last_writer: Option<NodeId>,
}

impl Maker {
    fn new(seed: u64) -> Maker {
        let attrs = Attrs::from_entries(vec![
            (Sym::new("format_for_int"), AttrValue::Int(2)),
            (Sym::new("origin_format"), AttrValue::str("ND")),
            (Sym::new("origin_format_for_int"), AttrValue::Int(2)),
            (Sym::new("origin_shape_initialized"), AttrValue::Bool(false)),
        ]);
        let desc = TensorDesc {
            dtype: 1,
            shape: Some(Arc::from([32])),
            layout: Sym::new("ND"),
            device_type: Sym::new("NPU"),
            attrs,
            ..TensorDesc::default()
        };
        let reusing = TensorDesc { reuse_input: true, reuse_input_index: 0, ..desc.clone() };
        Maker {
            builder: Builder::new(ModelInfo { name: "m".into(), ..ModelInfo::default() }),
            random: Random(seed),
            desc: Arc::new(desc),
            reusing_desc: Arc::new(reusing),
            ports: HashMap::new(),
            attrs: HashMap::new(),
            no_subgraphs: Arc::from([]),
            serial: 0,
            positions: Vec::new(),
        }
    }

    // Parts of nodes.

    /// Ports that share one description; with `reuse` the one that says "lies in the memory of input 0".
    fn make_ports(&mut self, names: Names, reuse: bool) -> Ports {
        if let Some(ports) = self.ports.get(&(names, reuse)) {
            return ports.clone();
        }
        let desc = if reuse { &self.reusing_desc } else { &self.desc };
        let port = |name: &str| Port { name: Sym::new(name), desc: desc.clone() };
        let ports: Ports = match names {
            Names::Numbered(prefix, count) => (0..count).map(|i| port(&format!("{prefix}{i}"))).collect(),
            Names::Fixed(names) => names.iter().map(|name| port(name)).collect(),
        };
        self.ports.insert((names, reuse), ports.clone());
        ports
    }

    fn flags(&mut self, keys: &'static [&'static str]) -> Attrs {
        self.attrs.entry(keys).or_insert_with(|| Attrs::from_entries(flags(keys))).clone()
    }

    fn graph(&mut self, name: String) -> Scope {
        let graph = self.builder.graph(GraphInfo::named(name));
        self.positions.push(0);
        Scope { graph, pool: Vec::new(), variables: Vec::new() }
    }

    fn node(&mut self, scope: &Scope, ty: &str, inputs: Ports, outputs: Ports, attrs: Attrs) -> NodeId {
        let name: Arc<str> = format!("{}_{}", ty.to_ascii_lowercase(), self.serial).into();
        self.serial += 1;
        let position = &mut self.positions[scope.graph.0 as usize];
        *position += 1;
        let topo = *position - 1;
        let node = Node {
            name,
            ty: Sym::new(ty),
            graph: scope.graph,
            attrs,
            inputs,
            outputs,
            subgraphs: self.no_subgraphs.clone(),
            detail: None,
        };
        self.builder.node(node, topo)
    }

    // Nodes with their edges.

    /// A node that reads `from`, with numbered ports; its outputs enter the pool.
    fn op(&mut self, scope: &mut Scope, ty: &str, from: &[Output], outputs: usize, attrs: Attrs) -> NodeId {
        let inputs = self.make_ports(Names::Numbered("__input", from.len()), false);
        let outputs = self.make_ports(Names::Numbered("__output", outputs), false);
        self.add(scope, ty, from, inputs, outputs, attrs)
    }

    /// A node whose output 0 carries the name of its input 0.
    fn reference(
        &mut self,
        scope: &mut Scope,
        ty: &str,
        names: &'static [&'static str],
        from: &[Output],
        flags: &'static [&'static str],
    ) -> NodeId {
        let inputs = self.make_ports(Names::Fixed(names), false);
        let outputs = self.make_ports(Names::Fixed(&names[..1]), false);
        let attrs = self.flags(flags);
        self.add(scope, ty, from, inputs, outputs, attrs)
    }

    fn add(
        &mut self,
        scope: &mut Scope,
        ty: &str,
        from: &[Output],
        inputs: Ports,
        outputs: Ports,
        attrs: Attrs,
    ) -> NodeId {
        let count = outputs.len() as u32;
        let node = self.node(scope, ty, inputs, outputs, attrs);
        for (&output, index) in from.iter().zip(0u32..) {
            self.builder.edge(output, 0, node.input(index));
        }
        scope.pool.extend((0..count).map(|index| node.output(index)));
        node
    }

    fn data(&mut self, scope: &mut Scope, index: i64, parent: Option<i64>) -> NodeId {
        let mut attrs = vec![(Sym::new("index"), AttrValue::Int(index))];
        attrs.extend(parent.map(|parent| (Sym::new("_parent_node_index"), AttrValue::Int(parent))));
        let inputs = self.make_ports(Names::Numbered("__input", 1), false);
        let outputs = self.make_ports(Names::Numbered("__output", 1), false);
        let node = self.node(scope, "Data", inputs, outputs, Attrs::from_entries(attrs));
        scope.pool.push(node.output(0));
        node
    }

    fn variable(&mut self, scope: &mut Scope) -> Output {
        let outputs = self.make_ports(Names::Numbered("__output", 1), false);
        let output = self.node(scope, "Variable", Ports::default(), outputs, Attrs::default()).output(0);
        scope.variables.push(Variable { output, last_writer: None });
        output
    }

    fn constant(&mut self, scope: &mut Scope) -> Output {
        let outputs = self.make_ports(Names::Numbered("__output", 1), false);
        let node = self.node(scope, "Constant", Ports::default(), outputs, Attrs::default());
        scope.pool.push(node.output(0));
        node.output(0)
    }

    fn net_output(&mut self, scope: &mut Scope, from: &[Output], bound: bool) {
        let inputs = if bound {
            let port = |index: usize| {
                let attrs =
                    self.desc.attrs.with(Sym::new("_parent_node_index"), AttrValue::Int(index as i64));
                let desc = Arc::new(TensorDesc { attrs, ..(*self.desc).clone() });
                Port { name: Sym::new(&format!("__input{index}")), desc }
            };
            (0..from.len()).map(port).collect()
        } else {
            self.make_ports(Names::Numbered("__input", from.len()), false)
        };
        let attrs = self.flags(&[]);
        self.add(scope, "NetOutput", from, inputs, Ports::default(), attrs);
    }

    /// A recent output, or now and then one from far back.
    fn recent(&mut self, scope: &Scope, window: usize) -> Output {
        let pool = &scope.pool;
        let window = if self.random.percent(2) { pool.len() } else { window.min(pool.len()) };
        pool[pool.len() - 1 - self.random.below(window)]
    }

    fn recents(&mut self, scope: &Scope, count: usize, window: usize) -> Vec<Output> {
        (0..count).map(|_| self.recent(scope, window)).collect()
    }

    /// Writes a variable, ordered behind its last writer.
    fn assign(&mut self, scope: &mut Scope, value: Output) {
        let pick = self.random.below(scope.variables.len());
        let target = scope.variables[pick].output;
        let node = self.reference(scope, "Assign", &["ref", "value"], &[target, value], &[]);
        if let Some(before) = scope.variables[pick].last_writer.replace(node) {
            self.builder.control(before, 0, node);
        }
        // Others read the variable, not what the assignment returns.
        scope.pool.pop();
    }

    /// Reads a variable, ordered behind its last writer.
    fn read(&mut self, scope: &mut Scope) {
        let pick = self.random.below(scope.variables.len());
        let from = scope.variables[pick].output;
        let node = self.op(scope, "Relu", &[from], 1, Attrs::default());
        if let Some(writer) = scope.variables[pick].last_writer {
            self.builder.control(writer, 0, node);
        }
    }

    // Whole graphs.

    fn peer(&mut self, nodes: usize, nested: bool) {
        let mut scope = self.graph("g".into());
        let inputs = 20.max(nodes / 150).min(64);
        (0..inputs).for_each(|i| _ = self.data(&mut scope, i as i64, None));
        (0..(nodes / 50).max(20)).for_each(|_| _ = self.variable(&mut scope));
        (0..2).for_each(|_| _ = self.constant(&mut scope));
        while self.serial + 1 < nodes {
            if nested && self.serial % 200 < 3 && scope.pool.len() > 40 {
                self.peer_call(&mut scope);
            }
            self.peer_op(&mut scope);
        }
        let outputs = self.recents(&scope, 64, 256);
        self.net_output(&mut scope, &outputs, false);
    }

    /// One operator by the frequencies of the bench graphs (per 1000 nodes).
    fn peer_op(&mut self, scope: &mut Scope) {
        const WINDOW: usize = 40;
        let one = self.recent(scope, WINDOW);
        let two = [one, self.recent(scope, WINDOW)];
        match self.random.below(975) {
            0..410 => _ = self.op(scope, "Relu", &[one], 1, Attrs::default()),
            410..608 => _ = self.op(scope, "Add", &two, 1, Attrs::default()),
            608..662 => {
                let inputs = self.make_ports(Names::Numbered("__input", 1), false);
                let outputs = self.make_ports(Names::Numbered("__output", 1), true);
                self.add(scope, "Reshape", &[one], inputs, outputs, Attrs::default());
            }
            662..712 => _ = self.op(scope, "TensorMove", &[one], 1, Attrs::default()),
            712..757 => self.assign(scope, one),
            757..791 => self.read(scope),
            791..830 => _ = self.reference(scope, "ScatterUpdate", &["ref", "x"], &two, &["reference"]),
            830..867 => {
                let from = self.recents(scope, 4, WINDOW);
                let attrs = self.flags(&["continuous_input"]);
                self.op(scope, "Concat", &from, 1, attrs);
            }
            867..897 => {
                let mutable = self.random.percent(33);
                let attrs = self.flags(if mutable {
                    &["_input_mutable", "continuous_input", "continuous_output"]
                } else {
                    &["continuous_input", "continuous_output"]
                });
                self.op(scope, "HcomAllReduce", &two, 2, attrs);
            }
            897..927 => _ = self.op(scope, "Identity", &[one], 1, Attrs::default()),
            927..954 => {
                let from = self.recents(scope, 4, WINDOW);
                let attrs = self.flags(&["_no_padding_continuous_input"]);
                let attrs = attrs.with(Sym::new("_output_offset_for_buffer_fusion"), AttrValue::ints([0; 4]));
                self.op(scope, "PhonyConcat", &from, 1, attrs);
            }
            _ => {
                let attrs = self.flags(&["continuous_output"]);
                self.op(scope, "Split", &[one], 3, attrs);
            }
        }
    }

    /// A call of a graph: two inputs, fourteen operators in a row, two outputs, one of them an input.
    fn peer_call(&mut self, scope: &mut Scope) {
        let from = self.recents(scope, 2, 40);
        let call = self.op(scope, "PartitionedCall", &from, 2, Attrs::default());
        let mut inner = self.graph(format!("sub{}", call.0));
        let first = self.data(&mut inner, 0, Some(0)).output(0);
        let second = self.data(&mut inner, 1, Some(1)).output(0);
        let mut last = first;
        for _ in 0..14 {
            last = self.op(&mut inner, "Relu", &[last], 1, Attrs::default()).output(0);
        }
        self.net_output(&mut inner, &[last, second], true);
        self.builder.own(call, inner.graph);
    }

    fn mixed(&mut self, nodes: usize) {
        let mut scope = self.graph("mixed".into());
        (0..8).for_each(|i| _ = self.data(&mut scope, i, None));
        (0..4.max(nodes / 4000)).for_each(|_| _ = self.variable(&mut scope));
        let fixed = self.constant(&mut scope);
        while self.serial + 1 < nodes {
            match self.random.below(40) {
                0 if nodes > 60 => self.functional(&mut scope, 0),
                1..10 => self.residual_block(&mut scope),
                10..14 => self.fan_out(&mut scope),
                14..22 => self.chain_of(&mut scope, 4),
                _ => self.peer_op(&mut scope),
            }
        }
        let mut outputs = self.recents(&scope, 8, 64);
        outputs.push(fixed);
        outputs.push(scope.variables[0].output);
        self.net_output(&mut scope, &outputs, false);
    }

    fn chain_of(&mut self, scope: &mut Scope, length: usize) {
        let mut last = self.recent(scope, 16);
        for _ in 0..length {
            last = self.op(scope, "Relu", &[last], 1, Attrs::default()).output(0);
        }
    }

    /// `x -> weights -> activation -> weights -> + x`, the weights being variables that many blocks read.
    fn residual_block(&mut self, scope: &mut Scope) {
        let start = self.recent(scope, 8);
        let mut last = start;
        for _ in 0..2 {
            // Half of all blocks share variable 0: thousands of readers in a large graph.
            let pick = if self.random.percent(50) { 0 } else { self.random.below(scope.variables.len()) };
            let weights = scope.variables[pick].output;
            last = self.op(scope, "MatMul", &[last, weights], 1, Attrs::default()).output(0);
            last = self.op(scope, "Relu", &[last], 1, Attrs::default()).output(0);
        }
        self.op(scope, "Add", &[last, start], 1, Attrs::default());
    }

    fn fan_out(&mut self, scope: &mut Scope) {
        let from = self.recent(scope, 16);
        let width = 2 + self.random.below(10);
        let ends: Vec<Output> =
            (0..width).map(|_| self.op(scope, "Relu", &[from], 1, Attrs::default()).output(0)).collect();
        let attrs = self.flags(&["continuous_input"]);
        self.op(scope, "ConcatD", &ends, 1, attrs);
    }

    /// A node that owns graphs: a call, a branch or a loop, nested up to three deep.
    fn functional(&mut self, scope: &mut Scope, depth: usize) {
        let outputs = 2;
        match self.random.below(3) {
            0 => {
                let from = self.recents(scope, 2, 16);
                let node = self.op(scope, "PartitionedCall", &from, outputs, Attrs::default());
                self.body(node, "body", 2, 0, outputs, depth);
            }
            1 => {
                // Input 0 is the condition.
                let from = self.recents(scope, 3, 16);
                let node = self.op(scope, "If", &from, outputs, Attrs::default());
                self.body(node, "then_branch", 2, 1, outputs, depth);
                self.body(node, "else_branch", 2, 1, outputs, depth);
            }
            _ => {
                let from = self.recents(scope, 2, 16);
                let node = self.op(scope, "While", &from, outputs, Attrs::default());
                self.body(node, "cond", 2, 0, 1, depth);
                self.body(node, "body", 2, 0, outputs, depth);
            }
        }
    }

    /// A graph of `owner` with `inputs` Data nodes bound to the owner's inputs from `first` on.
    fn body(&mut self, owner: NodeId, role: &str, inputs: i64, first: i64, outputs: usize, depth: usize) {
        let mut inner = self.graph(format!("n{}_{role}", owner.0));
        (0..inputs).for_each(|i| _ = self.data(&mut inner, i, Some(i + first)));
        for _ in 0..3 + self.random.below(6) {
            let from = self.recents(&inner, 2, 8);
            self.op(&mut inner, "Add", &from, 1, Attrs::default());
        }
        if depth < 2 && self.random.percent(40) {
            self.functional(&mut inner, depth + 1);
        }
        let from = self.recents(&inner, outputs, 4);
        self.net_output(&mut inner, &from, true);
        self.builder.own(owner, inner.graph);
    }

    fn chain(&mut self, nodes: usize) {
        let mut scope = self.graph("chain".into());
        let mut last = self.data(&mut scope, 0, None).output(0);
        while self.serial + 1 < nodes {
            last = self.op(&mut scope, "Relu", &[last], 1, Attrs::default()).output(0);
        }
        self.net_output(&mut scope, &[last], false);
    }

    fn copies(&mut self, nodes: usize, writers: bool) {
        let mut scope = self.graph("copies".into());
        let start = self.data(&mut scope, 0, None).output(0);
        let mut last = self.op(&mut scope, "Relu", &[start], 1, Attrs::default()).output(0);
        while self.serial + 1 < nodes {
            last = self.op(&mut scope, "TensorMove", &[last], 1, Attrs::default()).output(0);
            if writers {
                last =
                    self.reference(&mut scope, "ScatterUpdate", &["ref"], &[last], &["reference"]).output(0);
            }
        }
        self.net_output(&mut scope, &[last], false);
    }

    fn copy_fan(&mut self, nodes: usize) {
        let mut scope = self.graph("fan".into());
        let start = self.data(&mut scope, 0, None).output(0);
        let value = self.op(&mut scope, "Relu", &[start], 1, Attrs::default()).output(0);
        let mut last = value;
        while self.serial + 1 < nodes {
            let copy = self.op(&mut scope, "TensorMove", &[value], 1, Attrs::default()).output(0);
            last = self.op(&mut scope, "Relu", &[copy], 1, Attrs::default()).output(0);
        }
        self.net_output(&mut scope, &[last], false);
    }

    fn one_variable(&mut self, nodes: usize) {
        let mut scope = self.graph("one_variable".into());
        let variable = self.variable(&mut scope);
        while self.serial + 1 < nodes {
            match self.serial % 10 {
                9 => {
                    let value = self.recent(&scope, 1);
                    self.assign(&mut scope, value);
                }
                _ => _ = self.op(&mut scope, "Relu", &[variable], 1, Attrs::default()),
            }
        }
        let outputs = self.recents(&scope, 1, 1);
        self.net_output(&mut scope, &outputs, false);
    }

    fn wide_concat(&mut self, nodes: usize) {
        let mut scope = self.graph("wide_concat".into());
        let data = self.data(&mut scope, 0, None).output(0);
        let ends: Vec<Output> = (0..nodes.saturating_sub(3).max(1))
            .map(|_| self.op(&mut scope, "Relu", &[data], 1, Attrs::default()).output(0))
            .collect();
        let attrs = self.flags(&["continuous_input"]);
        let concat = self.op(&mut scope, "ConcatD", &ends, 1, attrs);
        self.net_output(&mut scope, &[concat.output(0)], false);
    }

    fn many_subgraphs(&mut self, nodes: usize) {
        let mut scope = self.graph("many_subgraphs".into());
        let mut last = self.data(&mut scope, 0, None).output(0);
        while self.serial + 6 < nodes {
            let call = self.op(&mut scope, "PartitionedCall", &[last], 1, Attrs::default());
            let mut inner = self.graph(format!("sub{}", call.0));
            let mut at = self.data(&mut inner, 0, Some(0)).output(0);
            for _ in 0..3 {
                at = self.op(&mut inner, "Relu", &[at], 1, Attrs::default()).output(0);
            }
            self.net_output(&mut inner, &[at], true);
            self.builder.own(call, inner.graph);
            last = call.output(0);
        }
        self.net_output(&mut scope, &[last], false);
    }
}
