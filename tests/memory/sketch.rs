//! Random small graphs, as notation: sources, readers, writers in place, operators that overwrite what they read, views, copies,
//! and calls of subgraphs. One tensor of each graph is liked more than others, so that most graphs have conflicts.

use std::ops::Range;

use proptest::prelude::*;

/// What may stand in a graph beside sources, readers, writers and workers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Palette {
    /// Copies and views.
    pub copies: bool,
    /// Calls of subgraphs.
    pub calls: bool,
    /// Blocks of inputs.
    pub blocks: bool,
    /// Copies that an optimiser may take out.
    pub moves: bool,
    /// The liked tensors are constants rather than variables.
    pub constants: bool,
}

/// A row of numbers, from which a graph is drawn. What is left out counts as zero, so that shorter rows are simpler graphs.
#[derive(Clone, Debug)]
pub struct Sketch {
    tape: Vec<u16>,
    palette: Palette,
}

/// Nodes of a graph beside its output node; those of subgraphs come on top.
const MOST_OPS: u16 = 8;

pub fn sketches(palette: Palette) -> impl Strategy<Value = Sketch> {
    prop::collection::vec(any::<u16>(), 12..70).prop_map(move |tape| Sketch { tape, palette })
}

impl Sketch {
    pub fn notation(&self) -> String {
        let mut draw = Draw { tape: self.tape.iter(), text: String::new(), names: 0, palette: self.palette };
        let count = 3 + draw.below(MOST_OPS - 2);
        let mut pool = Pool::default();
        for _ in 0..count {
            draw.op(&mut pool, 0);
        }
        let results = draw.results(&pool, 1 + draw.clone().below(2));
        draw.text += &format!("no: NetOutput({})\n", results.join(", "));
        draw.text
    }
}

/// What stands in a graph so far.
#[derive(Clone, Default)]
struct Pool {
    outputs: Vec<String>,
    /// Nodes that others can wait for.
    nodes: Vec<String>,
    /// The liked tensor.
    hot: Option<String>,
}

#[derive(Clone)]
struct Draw<'t> {
    tape: std::slice::Iter<'t, u16>,
    text: String,
    names: u32,
    palette: Palette,
}

impl Draw<'_> {
    /// Less than `end`, which is not 0.
    fn below(&mut self, end: u16) -> u16 {
        self.tape.next().map_or(0, |number| number % end)
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names - 1)
    }

    fn line(&mut self, depth: usize, line: &str) {
        self.text += &format!("{}{line}\n", "  ".repeat(2 * depth));
    }

    /// An output to read; a graph without any gets a variable first.
    fn pick(&mut self, pool: &mut Pool, depth: usize) -> String {
        if pool.outputs.is_empty() {
            let name = self.name();
            self.line(depth, &format!("{name}: Variable"));
            pool.outputs.push(name);
        }
        let number = self.below(1000);
        match &pool.hot {
            Some(hot) if number.is_multiple_of(2) => hot.clone(),
            _ => {
                let picked = pool.outputs[usize::from(number / 2) % pool.outputs.len()].clone();
                // Newer ones are liked by and by.
                if number % 5 == 1 || pool.hot.is_none() {
                    pool.hot = Some(picked.clone());
                }
                picked
            }
        }
    }

    /// Control edges into the next node. All run forward, so that no sketch has a cycle.
    fn control(&mut self, pool: &Pool) -> String {
        let count = pool.nodes.len();
        if count == 0 {
            return String::new();
        }
        let number = usize::from(self.below(1000));
        match number % 4 {
            0 => String::new(),
            1 | 2 => format!(" ^{}", pool.nodes[count - 1]),
            _ if number % 8 == 3 => format!(" ^{}", pool.nodes[(number / 8) % count]),
            _ => {
                let (a, b) = ((number / 8) % count, count - 1);
                if a == b {
                    format!(" ^{}", pool.nodes[a])
                } else {
                    format!(" ^{} ^{}", pool.nodes[a], pool.nodes[b])
                }
            }
        }
    }

    fn op(&mut self, pool: &mut Pool, depth: usize) {
        let kinds = if self.palette.calls && depth == 0 { 26 } else { 22 };
        let kind = self.below(kinds);
        let source = match kind {
            1 if self.palette.constants => Some("Const"),
            1 => Some("Variable"),
            2 => Some("Const"),
            3 if depth == 0 => Some("Data"),
            _ => None,
        };
        if let Some(source) = source {
            let name = self.name();
            self.line(depth, &format!("{name}: {source}"));
            if pool.hot.is_none() || kind == 1 {
                pool.hot = Some(name.clone());
            }
            pool.outputs.push(name);
            return;
        }
        let a = self.pick(pool, depth);
        let mutable = "{ _input_mutable = true }";
        let (head, tail) = match kind {
            4 | 5 => (
                format!("Assign(ref={a}, value={})", self.pick(pool, depth)),
                "-> ref: float32[1]".to_owned(),
            ),
            6 => (
                format!("ScatterUpdate(var={a}, updates={})", self.pick(pool, depth)),
                "-> var: float32[1]".to_owned(),
            ),
            7..=9 => (format!("HcomAllReduce({a})"), mutable.to_owned()),
            10 => (format!("HcomAllReduce({a}, {})", self.pick(pool, depth)), mutable.to_owned()),
            11 => (format!("HcomAllReduce(x={a})"), format!("{mutable} -> x: float32[1]")),
            // Working memory of an operator inside of a subgraph is a known gap (R14).
            12 | 13 if depth == 0 => {
                let b = self.pick(pool, depth);
                (format!("Foo({a}, {b})"), "{ in0._special_input_size = 1 }".to_owned())
            }
            14 if self.palette.copies => (format!("Reshape({a})"), String::new()),
            15 | 16 | 20 if self.palette.moves => (format!("TensorMove({a})"), String::new()),
            15 | 16 if self.palette.copies => (format!("Identity({a})"), String::new()),
            17 if self.palette.copies => (format!("ReadVariableOp({a})"), String::new()),
            18 if self.palette.blocks => (
                format!("HcomAllGather({a}, {})", self.pick(pool, depth)),
                "{ continuous_input = true }".to_owned(),
            ),
            19 => (format!("Add({a}, {})", self.pick(pool, depth)), String::new()),
            22 | 23 => return self.branches(pool, a),
            24 => return self.call(pool, a),
            25 => return self.repeated(pool, a),
            _ => (format!("Relu({a})"), String::new()),
        };
        let name = self.name();
        let control = self.control(pool);
        self.line(depth, &format!("{name}: {head}{control} {tail}"));
        pool.outputs.push(name.clone());
        pool.nodes.push(name);
    }

    fn results(&mut self, pool: &Pool, count: u16) -> Vec<String> {
        (0..count)
            .map(|_| {
                let number = usize::from(self.below(1000));
                // Late ones rather than early ones.
                let at = pool.outputs.len() - 1 - (number % pool.outputs.len().min(3));
                pool.outputs[at].clone()
            })
            .collect()
    }

    /// A subgraph that is given some inputs and gives some results.
    fn subgraph(&mut self, title: &str, inputs: Range<u16>, results: u16, most: u16) {
        self.line(0, &format!("  subgraph {title} {{"));
        let mut pool = Pool::default();
        for index in inputs {
            let name = self.name();
            self.line(1, &format!("{name}: Data(_) {{ _parent_node_index = {index} }}"));
            pool.outputs.push(name);
        }
        for _ in 0..self.below(most + 1) {
            self.op(&mut pool, 1);
        }
        if pool.outputs.is_empty() {
            self.pick(&mut pool, 1);
        }
        let given = self.results(&pool, results);
        let bound: Vec<String> = (0..results).map(|k| format!("in{k}._parent_node_index = {k}")).collect();
        let name = self.name();
        self.line(1, &format!("{name}: NetOutput({}) {{ {} }}", given.join(", "), bound.join(", ")));
        self.line(0, "  }");
    }

    fn finish_call(&mut self, pool: &mut Pool, name: String, results: u16) {
        let types = vec!["float32[1]"; usize::from(results)].join(", ");
        self.line(0, &format!("}} -> {types}"));
        pool.outputs.extend((0..results).map(|k| format!("{name}:{k}")));
        pool.nodes.push(name);
    }

    fn branches(&mut self, pool: &mut Pool, a: String) {
        let (b, control, name) = (self.pick(pool, 0), self.control(pool), self.name());
        self.line(0, &format!("{name}: If({a}, {b}){control} {{"));
        let results = 1 + self.below(2);
        for title in ["yes", "otherwise"] {
            // The condition is no business of the branches.
            self.subgraph(&format!("{name}_{title}"), 1..2, results, 2);
        }
        self.finish_call(pool, name, results);
    }

    fn call(&mut self, pool: &mut Pool, a: String) {
        let (b, control, name) = (self.pick(pool, 0), self.control(pool), self.name());
        self.line(0, &format!("{name}: PartitionedCall({a}, {b}){control} {{"));
        let results = 1 + self.below(2);
        self.subgraph(&format!("{name}_called"), 0..2, results, 3);
        self.finish_call(pool, name, results);
    }

    /// A loop over two values.
    fn repeated(&mut self, pool: &mut Pool, a: String) {
        let (b, control, name) = (self.pick(pool, 0), self.control(pool), self.name());
        self.line(0, &format!("{name}: While({a}, {b}){control} {{"));
        self.line(0, &format!("  subgraph {name}_again {{"));
        let (data, test, out) = (self.name(), self.name(), self.name());
        self.line(1, &format!("{data}: Data(_) {{ _parent_node_index = 0 }}"));
        self.line(1, &format!("{test}: Less({data})"));
        self.line(1, &format!("{out}: NetOutput({test})"));
        self.line(0, "  }");
        self.subgraph(&format!("{name}_body"), 0..2, 2, 2);
        self.finish_call(pool, name, 2);
    }
}
