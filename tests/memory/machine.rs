//! Runs a graph in every topological order, and tells what every input can read.
//!
//! Knows operators and memory, and no rule. Values live in cells. Which outputs share a cell, and who overwrites what,
//! is derived from names and attributes here, so that a mistake in the rules is not made twice.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use anchorwatch::graph::{GraphId, Input, NodeId, Output, Snapshot, Sym};

/// Where values live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// As on the device: a declared write changes its input's cell, whatever it is, and an operator that overwrites what
    /// it reads leaves rubbish there.
    Memory,
    /// As the graph is meant: nobody overwrites for its own use, and a write to a constant goes to a cell of its own. Other
    /// declared writes are seen by whoever comes later.
    Value,
}

/// The result of an operator, or what a source holds. Equal numbers are equal values.
pub type Value = u64;

/// What an operator leaves behind that overwrites memory for its own use.
pub const RUBBISH: Value = 0;

/// Which values the inputs of all nodes but copies read, over all orders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Behaviour {
    pub reads: BTreeMap<(String, u32), BTreeSet<Value>>,
    pub results: BTreeMap<String, BTreeSet<Value>>,
}

struct Step {
    name: String,
    kind: Kind,
    /// Steps that must have run, as bits.
    after: u32,
    reads: Vec<Read>,
    /// Where the result goes; `None` for the output node.
    result: Option<usize>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Copy,
    Operator,
    Output,
}

struct Read {
    cell: usize,
    input: u32,
    spoils: bool,
}

/// A graph as steps on cells.
pub struct Machine {
    steps: Vec<Step>,
    /// What the cells hold before the run.
    start: Vec<Value>,
    /// Cells of constants.
    constants: BTreeSet<usize>,
}

fn is_source(graph: &Snapshot, node: NodeId) -> bool {
    ["Data", "Const", "Variable"].contains(&graph.node(node).ty.as_str())
}

/// The node overwrites this input for its own use.
fn spoils(graph: &Snapshot, input: Input) -> bool {
    let node = graph.node(input.node);
    let mutable = node.attr(Sym::new("_input_mutable")).and_then(|value| value.as_bool());
    let port = node.inputs.get(input.index as usize);
    let size =
        port.and_then(|p| p.desc.attr(Sym::new("_special_input_size"))).and_then(|value| value.as_int());
    mutable == Some(true) || size.is_some_and(|size| size > 0)
}

/// The input whose memory holds the output, too: that of the same name; and a reshape moves nothing.
fn shared_input(graph: &Snapshot, semantics: Semantics, output: Output) -> Option<Input> {
    let node = graph.node(output.node);
    if node.ty.as_str() == "Reshape" && semantics == Semantics::Memory {
        return Some(output.node.input(0));
    }
    let name = node.outputs.get(output.index as usize)?.name;
    let index = node.inputs.iter().position(|port| port.name == name && !name.as_str().is_empty())?;
    Some(output.node.input(index as u32))
}

/// The output whose cell this one lives in.
fn home(graph: &Snapshot, semantics: Semantics, output: Output) -> Output {
    let Some(input) = shared_input(graph, semantics, output) else { return output };
    if semantics == Semantics::Value && spoils(graph, input) {
        return output;
    }
    let producer = graph.producer(input).expect("inputs of sketches are connected");
    let home = home(graph, semantics, producer);
    if semantics == Semantics::Value && graph.node(home.node).ty.as_str() == "Const" { output } else { home }
}

fn mix(state: Value, more: u64) -> Value {
    (state ^ more).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) | 1
}

fn named(name: &str) -> Value {
    name.bytes().fold(1, |state, byte| mix(state, u64::from(byte)))
}

impl Machine {
    pub fn new(graph: &Snapshot, semantics: Semantics) -> Machine {
        let nodes: Vec<NodeId> = graph.list(GraphId::ROOT).collect();
        let mut cells: Vec<Output> = Vec::new();
        let mut cell = |output: Output| {
            let home = home(graph, semantics, output);
            cells.iter().position(|cell| *cell == home).unwrap_or_else(|| {
                cells.push(home);
                cells.len() - 1
            })
        };
        let (sources, running): (Vec<NodeId>, Vec<NodeId>) =
            nodes.into_iter().partition(|&node| is_source(graph, node));
        assert!(running.len() <= 32, "a sketch with its copies is small");
        let bit = |node: NodeId| running.iter().position(|other| *other == node).map_or(0, |at| 1 << at);
        let mut constants = BTreeSet::new();
        for &source in &sources {
            assert!(graph.control_in(source).next().is_none(), "sources are there before the run");
            let own = cell(source.output(0));
            if graph.node(source).ty.as_str() == "Const" {
                constants.insert(own);
            }
        }
        let steps = running.iter().map(|&id| {
            let node = graph.node(id);
            let kind = match node.ty.as_str() {
                "Identity" => Kind::Copy,
                "NetOutput" => Kind::Output,
                _ => Kind::Operator,
            };
            let inputs = (0..node.inputs.len() as u32).map(|index| id.input(index));
            let producers = inputs.map(|input| (input, graph.producer(input).expect("inputs are connected")));
            let producers: Vec<(Input, Output)> = producers.collect();
            let reads = producers.iter().map(|&(input, producer)| Read {
                cell: cell(producer),
                input: input.index,
                spoils: semantics == Semantics::Memory && spoils(graph, input),
            });
            let mut reads: Vec<Read> = reads.collect();
            // What is overwritten may be overwritten before the rest is read.
            reads.sort_by_key(|read| !read.spoils);
            let data = producers.iter().map(|(_, producer)| bit(producer.node));
            let after = data.chain(graph.control_in(id).map(bit)).fold(0, |all, one| all | one);
            let result = (kind != Kind::Output).then(|| cell(id.output(0)));
            Step { name: node.name.to_string(), kind, after, reads, result }
        });
        let steps = steps.collect();
        let start = cells.iter().map(|home| named(&graph.node(home.node).name)).collect();
        Machine { steps, start, constants }
    }

    /// Some operator writes where a constant lives.
    pub fn writes_constant(&self) -> bool {
        self.steps.iter().any(|step| {
            let spoiled = step.reads.iter().filter(|read| read.spoils).map(|read| read.cell);
            spoiled.chain(step.result).any(|cell| self.constants.contains(&cell))
        })
    }

    /// Every order: every state that any order reaches is visited once.
    pub fn run(&self) -> Behaviour {
        let mut behaviour = Behaviour::default();
        let mut seen = HashSet::new();
        let mut open = vec![(0u32, self.start.clone())];
        let all = (1u32 << self.steps.len()) - 1;
        let mut ended = false;
        while let Some((done, cells)) = open.pop() {
            if done == all {
                ended = true;
                // Results are looked at when all is over.
                for step in self.steps.iter().filter(|step| step.kind == Kind::Output) {
                    step.run(&mut cells.clone(), &mut behaviour);
                }
            }
            for (at, step) in self.steps.iter().enumerate() {
                if done & 1 << at == 0 && step.after & !done == 0 {
                    let mut cells = cells.clone();
                    step.run(&mut cells, &mut behaviour);
                    let state = (done | 1 << at, cells);
                    if seen.insert(state.clone()) {
                        open.push(state);
                    }
                }
            }
        }
        assert!(ended, "the graph has no cycle");
        behaviour
    }
}

impl Step {
    fn run(&self, cells: &mut [Value], behaviour: &mut Behaviour) {
        let mut values = vec![(0, RUBBISH); self.reads.len()];
        for (value, read) in values.iter_mut().zip(&self.reads) {
            *value = (read.input, cells[read.cell]);
            if read.spoils {
                cells[read.cell] = RUBBISH;
            }
        }
        if self.kind != Kind::Copy {
            for &(input, value) in &values {
                behaviour.reads.entry((self.name.clone(), input)).or_default().insert(value);
            }
        }
        let Some(result) = self.result else { return };
        values.sort_unstable();
        let value = match self.kind {
            Kind::Copy => values[0].1,
            _ => values.iter().fold(named(&self.name), |state, (_, value)| mix(state, *value)),
        };
        behaviour.results.entry(self.name.clone()).or_default().insert(value);
        cells[result] = value;
    }
}
