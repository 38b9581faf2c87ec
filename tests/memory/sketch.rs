//! Random small graphs, as notation: sources, readers, writers in place, operators that overwrite what they read.

use proptest::prelude::*;

/// What stands at a place of the list. Numbers are places before it, modulo what there is.
#[derive(Clone, Copy, Debug)]
enum Op {
    Data,
    Const,
    Variable,
    /// Reads.
    Relu(usize),
    Add(usize, usize),
    /// Writes its first input in place, and says so by names.
    Assign(usize, usize),
    /// Overwrites all it reads for its own use.
    AllReduce(usize),
    AllReducePair(usize, usize),
    /// The same, with the result where the input was.
    AllReduceInPlace(usize),
    /// Uses its first input as working memory, and reads the second.
    Scratch(usize, usize),
}

#[derive(Clone, Debug)]
pub struct Sketch {
    ops: Vec<Op>,
    /// Control edges.
    orders: Vec<(usize, usize)>,
    results: Vec<usize>,
}

/// Nodes of a sketch, the output node not counted.
const MOST_OPS: usize = 7;

fn op() -> impl Strategy<Value = Op> {
    let any = || 0usize..1000;
    prop_oneof![
        1 => Just(Op::Data),
        1 => Just(Op::Const),
        2 => Just(Op::Variable),
        3 => any().prop_map(Op::Relu),
        1 => (any(), any()).prop_map(|(a, b)| Op::Add(a, b)),
        3 => (any(), any()).prop_map(|(a, b)| Op::Assign(a, b)),
        3 => any().prop_map(Op::AllReduce),
        1 => (any(), any()).prop_map(|(a, b)| Op::AllReducePair(a, b)),
        1 => any().prop_map(Op::AllReduceInPlace),
        2 => (any(), any()).prop_map(|(a, b)| Op::Scratch(a, b)),
    ]
}

pub fn sketches() -> impl Strategy<Value = Sketch> {
    let orders = prop::collection::vec((0usize..1000, 0usize..1000), 0..4);
    let results = prop::collection::vec(0usize..1000, 1..3);
    (prop::collection::vec(op(), 3..=MOST_OPS), orders, results).prop_map(|(ops, orders, results)| Sketch {
        ops,
        orders,
        results,
    })
}

impl Sketch {
    /// The sketch in notation; a first place that wants an input becomes a variable.
    pub fn notation(&self) -> String {
        let mut text = String::new();
        for (at, op) in self.ops.iter().enumerate() {
            let n = |place: usize| format!("n{}", place % at.max(1));
            let (head, tail) = match *op {
                Op::Data => ("Data".to_owned(), ""),
                Op::Const => ("Const".to_owned(), ""),
                _ if at == 0 => ("Variable".to_owned(), ""),
                Op::Variable => ("Variable".to_owned(), ""),
                Op::Relu(a) => (format!("Relu({})", n(a)), ""),
                Op::Add(a, b) => (format!("Add({}, {})", n(a), n(b)), ""),
                Op::Assign(a, b) => (format!("Assign(ref={}, value={})", n(a), n(b)), " -> ref: float32[1]"),
                Op::AllReduce(a) => (format!("HcomAllReduce({})", n(a)), " { _input_mutable = true }"),
                Op::AllReducePair(a, b) => {
                    (format!("HcomAllReduce({}, {})", n(a), n(b)), " { _input_mutable = true }")
                }
                Op::AllReduceInPlace(a) => {
                    (format!("HcomAllReduce(x={})", n(a)), " { _input_mutable = true } -> x: float32[1]")
                }
                Op::Scratch(a, b) => (format!("Foo({}, {})", n(a), n(b)), " { in0._special_input_size = 1 }"),
            };
            text += &format!("n{at}: {head}{}{tail}\n", self.control(at));
        }
        let results: Vec<String> =
            self.results.iter().map(|place| format!("n{}", place % self.ops.len())).collect();
        text + &format!("no: NetOutput({})\n", results.join(", "))
    }

    /// Control edges into the node at a place. All run forward, so that no sketch has a cycle. Sources wait for nobody: what they hold
    /// is there before the run.
    fn control(&self, at: usize) -> String {
        if at == 0 || matches!(self.ops[at], Op::Data | Op::Const | Op::Variable) {
            return String::new();
        }
        let places = self.orders.iter().map(|&(a, b)| (a % self.ops.len(), b % self.ops.len()));
        let mut before: Vec<usize> =
            places.filter(|&(a, b)| a.max(b) == at && a != b).map(|(a, b)| a.min(b)).collect();
        before.sort_unstable();
        before.dedup();
        before.iter().map(|place| format!(" ^n{place}")).collect()
    }
}
