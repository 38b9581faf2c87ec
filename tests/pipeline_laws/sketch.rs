//! Random small graphs with everything that the passes look for, as notation: variables and who writes them, collective
//! communication, blocks of inputs, copies, calls with subgraphs, control edges.

use std::fmt::Write;

use proptest::prelude::*;

/// What stands at a place of the list. Numbers are places before it, modulo what there is.
#[derive(Clone, Debug)]
pub enum Op {
    Data,
    Const,
    Variable,
    Relu(usize),
    Add(usize, usize),
    /// A copy that may be taken out, of one of several types.
    Copy(usize, usize),
    /// Writes its first input in place, and says so by names.
    Assign(usize, usize),
    /// Overwrites all it reads.
    AllReduce(usize, usize),
    Broadcast(usize),
    /// Wants its inputs in one block.
    Block(usize, usize),
    /// Gives its outputs in one block.
    Cut(usize),
    /// Uses its first input as working memory.
    Scratch(usize),
    /// Reads memory of another device.
    Peer(usize),
    Reshape(usize),
    Shape(usize),
    Call(Kind, Vec<usize>, Vec<Body>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    If,
    While,
    Call,
}

/// A list of operators and what comes out of it.
#[derive(Clone, Debug)]
pub struct Body {
    ops: Vec<Op>,
    /// Control edges.
    orders: Vec<(usize, usize)>,
    results: Vec<usize>,
}

fn place() -> impl Strategy<Value = usize> {
    0usize..1000
}

fn plain_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => Just(Op::Const),
        1 => Just(Op::Variable),
        3 => place().prop_map(Op::Relu),
        2 => (place(), place()).prop_map(|(a, b)| Op::Add(a, b)),
        3 => (place(), place()).prop_map(|(a, kind)| Op::Copy(a, kind)),
        3 => (place(), place()).prop_map(|(a, b)| Op::Assign(a, b)),
        2 => (place(), place()).prop_map(|(a, b)| Op::AllReduce(a, b)),
        1 => place().prop_map(Op::Broadcast),
        2 => (place(), place()).prop_map(|(a, b)| Op::Block(a, b)),
        1 => place().prop_map(Op::Cut),
        1 => place().prop_map(Op::Scratch),
        1 => place().prop_map(Op::Peer),
        1 => place().prop_map(Op::Reshape),
        1 => place().prop_map(Op::Shape),
    ]
}

fn body(op: impl Strategy<Value = Op>, most: usize, results: usize) -> impl Strategy<Value = Body> {
    let orders = prop::collection::vec((place(), place()), 0..4);
    let results = prop::collection::vec(place(), results);
    (prop::collection::vec(op, 1..=most), orders, results).prop_map(|(ops, orders, results)| Body {
        ops,
        orders,
        results,
    })
}

/// A call has two inputs and two outputs, so that its subgraphs can be those of any kind.
fn call() -> impl Strategy<Value = Op> {
    let kind = prop_oneof![2 => Just(Kind::If), 2 => Just(Kind::While), 3 => Just(Kind::Call)];
    let bodies = prop::collection::vec(body(plain_op(), 4, 2), 2);
    (kind, prop::collection::vec(place(), 2), bodies)
        .prop_map(|(kind, from, bodies)| Op::Call(kind, from, bodies))
}

pub fn sketches() -> impl Strategy<Value = Body> {
    let op = prop_oneof![2 => Just(Op::Data), 12 => plain_op(), 3 => call()];
    body(op, 10, 3)
}

impl Body {
    pub fn notation(&self) -> String {
        let mut text = String::new();
        self.write("n", "", &[], &mut text);
        text
    }

    pub fn has_loop(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Call(Kind::While, ..)))
    }

    /// One line a node; `given` are nodes of this graph that stand before the list, `prefix` begins the names of all others.
    fn write(&self, prefix: &str, indent: &str, given: &[String], text: &mut String) {
        let mut names: Vec<String> = given.to_vec();
        for (at, op) in self.ops.iter().enumerate() {
            let name = format!("{prefix}{at}");
            let n = |place: &usize| names.get(place % names.len().max(1)).cloned().unwrap_or_default();
            // Nothing can be read yet.
            let op = if names.is_empty() && !matches!(op, Op::Data | Op::Const) { &Op::Variable } else { op };
            let (head, tail) = match op {
                Op::Data => ("Data(_)".to_owned(), ""),
                Op::Const => ("Const".to_owned(), ""),
                Op::Variable => ("Variable".to_owned(), ""),
                Op::Relu(a) => (format!("Relu({})", n(a)), ""),
                Op::Add(a, b) => (format!("Add({}, {})", n(a), n(b)), ""),
                Op::Copy(a, kind) => {
                    let types = ["Identity", "IdentityN", "ReadVariableOp"];
                    (format!("{}({})", types[kind % types.len()], n(a)), "")
                }
                Op::Assign(a, b) => (format!("Assign(ref={}, value={})", n(a), n(b)), " -> ref: float32[1]"),
                Op::AllReduce(a, b) => (
                    format!("HcomAllReduce({}, {})", n(a), n(b)),
                    " { _input_mutable = true, continuous_input = true, continuous_output = true } -> float32[1], float32[1]",
                ),
                Op::Broadcast(a) => (
                    format!("HcomBroadcast({})", n(a)),
                    " { continuous_input = true, continuous_output = true }",
                ),
                Op::Block(a, b) => (format!("Concat({}, {})", n(a), n(b)), " { continuous_input = true }"),
                Op::Cut(a) => {
                    (format!("Split({})", n(a)), " { continuous_output = true } -> float32[1], float32[1]")
                }
                Op::Scratch(a) => (format!("Foo({})", n(a)), " { in0._special_input_size = 1 }"),
                Op::Peer(a) => (format!("Bar({})", n(a)), " { _input_memory_type = [17] }"),
                Op::Reshape(a) => (format!("Reshape({})", n(a)), ""),
                Op::Shape(a) => (format!("Shape({})", n(a)), ""),
                Op::Call(kind, from, _) => {
                    let ty = match kind {
                        Kind::If => "If",
                        Kind::While => "While",
                        Kind::Call => "PartitionedCall",
                    };
                    (format!("{ty}({}, {})", n(&from[0]), n(&from[1])), "")
                }
            };
            let _ = write!(text, "{indent}{name}: {head}{}{tail}", self.control(prefix, at));
            if let Op::Call(kind, _, bodies) = op {
                let graphs = if *kind == Kind::Call { 1 } else { 2 };
                text.push_str(" {\n");
                for (number, body) in bodies.iter().take(graphs).enumerate() {
                    body.write_subgraph(&format!("{name}_{number}_"), indent, text);
                }
                let _ = write!(text, "{indent}}} -> float32[1], float32[1]");
            }
            text.push('\n');
            names.push(name);
        }
        let results: Vec<String> =
            self.results.iter().map(|place| names[place % names.len()].clone()).collect();
        let bound: Vec<String> =
            (0..results.len()).map(|k| format!("in{k}._parent_node_index = {k}")).collect();
        let bound = if given.is_empty() { String::new() } else { format!(" {{ {} }}", bound.join(", ")) };
        let _ = writeln!(text, "{indent}{prefix}out: NetOutput({}){bound}", results.join(", "));
    }

    fn write_subgraph(&self, prefix: &str, indent: &str, text: &mut String) {
        let given = [format!("{prefix}a"), format!("{prefix}b")];
        let _ = writeln!(text, "{indent}  subgraph {prefix}graph {{");
        for (index, name) in given.iter().enumerate() {
            let _ = writeln!(text, "{indent}    {name}: Data(_) {{ _parent_node_index = {index} }}");
        }
        self.write(prefix, &format!("{indent}    "), &given, text);
        let _ = writeln!(text, "{indent}  }}");
    }

    /// Control edges into the node at a place. All run forward, so that no sketch has a cycle. Sources wait for nobody.
    fn control(&self, prefix: &str, at: usize) -> String {
        if at == 0 || matches!(self.ops[at], Op::Data | Op::Const | Op::Variable) {
            return String::new();
        }
        let places = self.orders.iter().map(|&(a, b)| (a % self.ops.len(), b % self.ops.len()));
        let mut before: Vec<usize> =
            places.filter(|&(a, b)| a.max(b) == at && a != b).map(|(a, b)| a.min(b)).collect();
        before.sort_unstable();
        before.dedup();
        before.iter().map(|place| format!(" ^{prefix}{place}")).collect()
    }
}
