//! Runs a graph in every topological order, and tells what every input can read.

use std::collections::{BTreeMap, BTreeSet};

use anchorwatch::graph::{GraphId, Input, NodeId, Output, Snapshot};
use rustc_hash::FxHashSet;

use crate::cells::{self, Cells, LOOPS, Semantics, inputs, is};

/// The result of an operator, or what a source holds. Equal numbers are equal values.
pub type Value = u64;

/// What an operator leaves behind that overwrites memory for its own use.
pub const RUBBISH: Value = 0;

/// An input or output of a node; nodes of a loop have the turn behind their names.
pub type Place = (String, u32);

/// Which values the inputs of all nodes but copies read, over all orders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Behaviour {
    pub reads: BTreeMap<Place, BTreeSet<Value>>,
    pub results: BTreeMap<Place, BTreeSet<Value>>,
    /// What copies read.
    taken: BTreeMap<Place, BTreeSet<Value>>,
    /// What variables hold in the end.
    pub kept: BTreeMap<String, BTreeSet<Value>>,
    /// What the user reads and what variables hold at the end, together: one for each way to get there.
    pub outcomes: BTreeSet<(Vec<Value>, Vec<Value>)>,
}

/// Which subgraph of each call runs, or how often: two turns of a loop, or none.
pub type Choice = BTreeMap<NodeId, usize>;

struct Step {
    name: String,
    kind: Kind,
    /// Steps that must have run, as bits.
    after: u64,
    reads: Vec<Read>,
    /// Cells of the outputs; of a copy as many as reads.
    results: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Each output is the input of that number.
    Copy,
    Operator,
    /// Looks at its inputs when all is over.
    Output,
}

struct Read {
    cell: usize,
    input: u32,
    spoils: bool,
    /// The place that this read is meant to read.
    from: Option<Place>,
}

/// A graph as steps on cells.
pub struct Machine<'g> {
    graph: &'g Snapshot,
    semantics: Semantics,
    choice: &'g Choice,
    cells: Cells,
    steps: Vec<Step>,
}

fn mix(state: Value, more: u64) -> Value {
    (state ^ more).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) | 1
}

fn named(name: &str) -> Value {
    name.bytes().fold(1, |state, byte| mix(state, u64::from(byte)))
}

/// What a copy is called does not matter.
pub fn is_copy(graph: &Snapshot, node: NodeId) -> bool {
    is(graph, node, &["Identity", "ReadVariableOp", "TensorMove"])
}

/// All ways through the calls of a graph.
pub fn choices(graph: &Snapshot) -> Vec<Choice> {
    let mut all = vec![Choice::new()];
    for node in graph.all_nodes(GraphId::ROOT) {
        let ways = match graph.node(node).subgraphs.len() {
            0 => continue,
            1 => 1,
            _ if is(graph, node, &LOOPS) => 2,
            branches => branches,
        };
        all = all
            .iter()
            .flat_map(|one| {
                (0..ways)
                    .map(|way| {
                        let mut one = one.clone();
                        one.insert(node, way);
                        one
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    all
}

impl<'g> Machine<'g> {
    pub fn new(graph: &'g Snapshot, semantics: Semantics, choice: &'g Choice) -> Machine<'g> {
        let cells = Cells::new(graph, semantics, &|call| choice.get(&call).copied().unwrap_or(0));
        let mut machine = Machine { graph, semantics, choice, cells, steps: Vec::new() };
        machine.place(GraphId::ROOT, 0, "");
        assert!(machine.steps.len() < 64, "a sketch with its copies is small");
        machine
    }

    /// Sets up a graph behind some steps; the steps that end it.
    fn place(&mut self, graph: GraphId, start: u64, turn: &str) -> u64 {
        let nodes: Vec<NodeId> = self.graph.list(graph).collect();
        let mut done: BTreeMap<NodeId, u64> = BTreeMap::new();
        while done.len() < nodes.len() {
            let ready = nodes.iter().copied().find(|&node| {
                !done.contains_key(&node)
                    && self.before(node).iter().all(|earlier| done.contains_key(earlier))
            });
            let node = ready.expect("the graph has no cycle");
            let after = self.before(node).iter().fold(start, |all, earlier| all | done[earlier]);
            let end = self.place_node(node, after, turn);
            done.insert(node, end);
        }
        done.values().fold(start, |all, one| all | one)
    }

    fn before(&self, node: NodeId) -> Vec<NodeId> {
        let data = inputs(self.graph, node).into_iter().filter_map(|input| self.graph.producer(input));
        data.map(|producer| producer.node).chain(self.graph.control_in(node)).collect()
    }

    fn place_node(&mut self, node: NodeId, after: u64, turn: &str) -> u64 {
        let graph = self.graph;
        if cells::is_source(graph, node) {
            // What they hold is there before the run.
            return 0;
        }
        if graph.node(node).has_subgraphs() {
            return self.place_call(node, after, turn);
        }
        let call = cells::parent(graph, node);
        if let Some(call) = call.filter(|_| is(graph, node, &["NetOutput"])) {
            let outputs = (0..graph.node(call).outputs.len() as u32).map(|index| call.output(index));
            let given = outputs
                .filter_map(|o| Some((cells::inner_result(graph, graph.node(node).graph, o.index)?, o)));
            return self.moves(after, &given.collect::<Vec<_>>(), turn);
        }
        if call.is_some() && is(graph, node, &["Data"])
            || is(graph, node, &["Reshape", "Shape", "Rank", "NoOp"])
        {
            return after;
        }
        let kind = match () {
            () if is_copy(graph, node) => Kind::Copy,
            () if is(graph, node, &["NetOutput"]) => Kind::Output,
            () => Kind::Operator,
        };
        let mut reads: Vec<Read> =
            inputs(graph, node).into_iter().filter_map(|input| self.read(input, turn)).collect();
        if kind != Kind::Copy {
            // What is overwritten may be overwritten before the rest is read.
            reads.sort_by_key(|read| !read.spoils);
        }
        let outputs =
            (0..graph.node(node).outputs.len() as u32).map(|index| self.cells.at(node.output(index)));
        let results = if kind == Kind::Output { Vec::new() } else { outputs.collect() };
        self.step(graph.node(node).name.to_string() + turn, kind, after, reads, results)
    }

    fn step(&mut self, name: String, kind: Kind, after: u64, reads: Vec<Read>, results: Vec<usize>) -> u64 {
        self.steps.push(Step { name, kind, after, reads, results });
        1 << (self.steps.len() - 1)
    }

    /// None if nothing feeds the input.
    fn read(&self, input: Input, turn: &str) -> Option<Read> {
        let producer = self.graph.producer(input)?;
        Some(Read {
            cell: self.cells.at(producer),
            input: input.index,
            spoils: self.semantics == Semantics::Memory && cells::spoils(self.graph, input),
            from: self.meant(producer, turn),
        })
    }

    /// The place whose result a read of this output means; none for sources, which are read as they are at the time.
    fn meant(&self, mut output: Output, turn: &str) -> Option<Place> {
        loop {
            let node = output.node;
            output = if cells::is_view(self.graph, output) {
                self.graph.producer(node.input(0))?
            } else if let Some(input) = cells::called_input(self.graph, node) {
                self.graph.producer(input).filter(|_| !is(self.graph, input.node, &LOOPS))?
            } else {
                // What a loop gives has been several things.
                let source = cells::is_lasting(self.graph, node)
                    || cells::parent(self.graph, node).is_some() && is(self.graph, node, &["Data"])
                    || is(self.graph, node, &LOOPS);
                return (!source).then(|| (self.graph.node(node).name.to_string() + turn, output.index));
            };
        }
    }

    fn place_call(&mut self, call: NodeId, after: u64, turn: &str) -> u64 {
        let graph = self.graph;
        let node = graph.node(call).clone();
        let way = self.choice.get(&call).copied().unwrap_or(0);
        let outputs: Vec<Output> = (0..node.outputs.len() as u32).map(|index| call.output(index)).collect();
        if !is(graph, call, &LOOPS) {
            let condition = is(graph, call, &["If", "StatelessIf", "Case"]) && !node.inputs.is_empty();
            let condition: Vec<Read> =
                condition.then(|| self.read(call.input(0), turn)).flatten().into_iter().collect();
            let begin = if condition.is_empty() {
                after
            } else {
                self.step(node.name.to_string() + turn, Kind::Operator, after, condition, Vec::new())
            };
            return self.place(node.subgraphs[way], begin, turn);
        }
        let (cond, body) = (node.subgraphs[0], node.subgraphs[1]);
        let taken = outputs.iter().filter_map(|&o| Some((graph.producer(call.input(o.index))?, o)));
        let mut end = self.moves(after, &taken.collect::<Vec<_>>(), turn);
        for round in 0..=2 * way {
            let inside = |sub: GraphId| -> Vec<(Output, Output)> {
                let data = graph.list(sub).filter(|&data| cells::called_input(graph, data).is_some());
                data.filter_map(|data| {
                    Some((call.output(cells::number(graph, data, "_parent_node_index")?), data.output(0)))
                })
                .collect()
            };
            let now = format!("{turn}#{round}");
            end = self.moves(end, &inside(cond), &format!("{now}?"));
            end = self.place(cond, end, &now);
            if let Some(test) = cells::results(graph, cond).filter(|&out| !graph.node(out).inputs.is_empty())
            {
                let tested = self.read(test.input(0), &now).into_iter().collect();
                end = self.step(
                    graph.node(test).name.to_string() + &now,
                    Kind::Operator,
                    end,
                    tested,
                    Vec::new(),
                );
            }
            if round < 2 * way {
                end = self.moves(end, &inside(body), &now);
                end = self.place(body, end, &now);
            }
        }
        end
    }

    /// Values go from one output to another, all at once, where they do not lie there already.
    fn moves(&mut self, after: u64, moved: &[(Output, Output)], turn: &str) -> u64 {
        let Some(&(_, first)) = moved.first().filter(|_| self.semantics != Semantics::Memory) else {
            return after;
        };
        let name = self.graph.node(first.node).name.to_string() + turn;
        let reads = (0..).zip(moved).map(|(number, &(from, to))| {
            let input = if to.node == first.node { to.index } else { number };
            Read { cell: self.cells.at(from), input, spoils: false, from: self.meant(from, turn) }
        });
        let reads = reads.collect();
        let results = moved.iter().map(|&(_, to)| self.cells.at(to)).collect();
        self.step(name, Kind::Copy, after, reads, results)
    }

    /// Some operator writes where a constant lives, or two things that last live in one place.
    pub fn writes_constant(&self) -> bool {
        let nodes = self.graph.all_nodes(GraphId::ROOT);
        let constant = |node: &NodeId| cells::is_constant(self.graph, *node);
        let constants: BTreeSet<usize> =
            nodes.iter().copied().filter(constant).map(|node| self.cells.at(node.output(0))).collect();
        let mut homes = BTreeSet::new();
        let lasting = nodes.iter().filter(|&&node| cells::is_source(self.graph, node));
        let crowded = lasting.filter(|node| !homes.insert(self.cells.at(node.output(0)))).count() > 0;
        crowded
            || self.steps.iter().any(|step| {
                let spoiled = step.reads.iter().filter(|read| read.spoils).map(|read| read.cell);
                spoiled.chain(step.results.iter().copied()).any(|cell| constants.contains(&cell))
            })
    }

    /// What cells hold before the run: a source's value, or that of whoever gave it its number, which nobody reads.
    fn start(&self) -> Vec<Value> {
        let mut start: Vec<Value> =
            self.cells.first.iter().map(|home| named(&self.graph.node(home.node).name)).collect();
        for node in self.graph.all_nodes(GraphId::ROOT) {
            if cells::is_source(self.graph, node) {
                start[self.cells.at(node.output(0))] = named(&self.graph.node(node).name);
            }
        }
        start
    }

    /// Every order: every state that any order reaches is visited once.
    pub fn run(&self) -> Behaviour {
        let mut behaviour = Behaviour::default();
        let mut variables: Vec<NodeId> = self
            .graph
            .all_nodes(GraphId::ROOT)
            .into_iter()
            .filter(|&n| cells::is_variable(self.graph, n))
            .collect();
        variables.sort_by_key(|variable| self.graph.node(*variable).name.clone());
        for node in self.graph.all_nodes(GraphId::ROOT) {
            if cells::is_source(self.graph, node) {
                let name = self.graph.node(node).name.to_string();
                behaviour.results.insert((name.clone(), 0), BTreeSet::from([named(&name)]));
            }
        }
        let mut seen = FxHashSet::default();
        let mut open = vec![(0u64, self.start())];
        let all = (1u64 << self.steps.len()) - 1;
        while let Some((done, cells)) = open.pop() {
            if done == all {
                let (mut given, mut kept) = (Vec::new(), Vec::new());
                // Results are looked at when all is over.
                for step in self.steps.iter().filter(|step| step.kind == Kind::Output) {
                    step.run(&mut cells.clone(), &mut behaviour);
                    given.extend(step.reads.iter().map(|read| cells[read.cell]));
                }
                for &variable in &variables {
                    let value = cells[self.cells.at(variable.output(0))];
                    behaviour
                        .kept
                        .entry(self.graph.node(variable).name.to_string())
                        .or_default()
                        .insert(value);
                    kept.push(value);
                }
                behaviour.outcomes.insert((given, kept));
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
        behaviour
    }

    /// All reads that mean a result have read just that.
    pub fn reads_what_is_meant(&self, behaviour: &Behaviour) -> bool {
        self.steps.iter().all(|step| {
            let reads = if step.kind == Kind::Copy { &behaviour.taken } else { &behaviour.reads };
            step.reads.iter().all(|read| {
                let written = read.from.as_ref().and_then(|from| behaviour.results.get(from));
                let seen = reads.get(&(step.name.clone(), read.input));
                written.is_none_or(|written| seen.is_none_or(|seen| seen == written))
            })
        })
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
        let reads = if self.kind == Kind::Copy { &mut behaviour.taken } else { &mut behaviour.reads };
        for &(input, value) in &values {
            reads.entry((self.name.clone(), input)).or_default().insert(value);
        }
        if self.kind != Kind::Copy {
            values.sort_unstable();
        }
        for (index, &cell) in self.results.iter().enumerate() {
            let value = match self.kind {
                Kind::Copy => values.get(index).map_or(RUBBISH, |value| value.1),
                _ => values
                    .iter()
                    .fold(mix(named(&self.name), index as u64), |state, (_, value)| mix(state, *value)),
            };
            let copied = values.get(index).filter(|_| self.kind == Kind::Copy);
            let output = copied.map_or(index as u32, |value| value.0);
            behaviour.results.entry((self.name.clone(), output)).or_default().insert(value);
            cells[cell] = value;
        }
    }
}
