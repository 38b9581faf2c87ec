//! Where values live.
//!
//! Knows operators, names and attributes, and no rule: which outputs share a cell and who overwrites what is derived here once
//! more, so that a mistake in the rules is not made twice.

use std::collections::BTreeMap;

use anchorwatch::graph::{GraphId, Input, NodeId, Output, Snapshot, Sym};

/// How a graph is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// As on the device: a declared write changes its input's cell, whatever it is, an operator that overwrites what it
    /// reads leaves rubbish there, and what a call takes and gives lies where its subgraphs have it, all of them.
    Memory,
    /// As the graph is meant: nobody overwrites for its own use, and a write to a constant goes to a cell of its own. Other
    /// declared writes are seen by whoever comes later. A call gives copies.
    Value,
    /// The same, but a call gives the tensors that its subgraph has, and a written constant is seen as well. What differs between
    /// the two means nothing definite.
    Handed,
}

pub const LOOPS: [&str; 3] = ["While", "_While", "StatelessWhile"];

pub fn is(graph: &Snapshot, node: NodeId, types: &[&str]) -> bool {
    types.contains(&graph.node(node).ty.as_str())
}

/// Holds a value from one run to the next.
pub fn is_lasting(graph: &Snapshot, node: NodeId) -> bool {
    is_constant(graph, node) || is_variable(graph, node)
}

/// Holds a value before the run.
pub fn is_source(graph: &Snapshot, node: NodeId) -> bool {
    is_lasting(graph, node) || is(graph, node, &["Data"]) && parent(graph, node).is_none()
}

pub fn is_constant(graph: &Snapshot, node: NodeId) -> bool {
    is(graph, node, &["Const", "Constant", "ConstPlaceHolder", "FileConstant"])
}

pub fn is_variable(graph: &Snapshot, node: NodeId) -> bool {
    is(graph, node, &["Variable", "VariableV2", "RefData"])
}

/// The call whose subgraph lists the node.
pub fn parent(graph: &Snapshot, node: NodeId) -> Option<NodeId> {
    graph.graph(graph.node(node).graph).parent
}

/// A number among the attributes of a node.
pub fn number(graph: &Snapshot, node: NodeId, name: &str) -> Option<u32> {
    graph
        .node(node)
        .attr(Sym::new(name))
        .and_then(|value| value.as_int())
        .and_then(|value| value.try_into().ok())
}

pub fn flag(graph: &Snapshot, node: NodeId, name: &str) -> bool {
    graph.node(node).attr(Sym::new(name)).and_then(|value| value.as_bool()) == Some(true)
}

/// A number among the attributes of the tensor of an input.
fn input_number(graph: &Snapshot, input: Input, name: &str) -> Option<i64> {
    let port = graph.node(input.node).inputs.get(input.index as usize)?;
    port.desc.attr(Sym::new(name))?.as_int()
}

pub fn inputs(graph: &Snapshot, node: NodeId) -> Vec<Input> {
    (0..graph.node(node).inputs.len() as u32).map(|index| node.input(index)).collect()
}

/// The output node of a graph.
pub fn results(graph: &Snapshot, of: GraphId) -> Option<NodeId> {
    graph.list(of).find(|&node| is(graph, node, &["NetOutput"]))
}

/// What comes out of a subgraph as an output of its call.
pub fn inner_result(graph: &Snapshot, of: GraphId, index: u32) -> Option<Output> {
    let inputs = inputs(graph, results(graph, of)?);
    let bound = |input: &&Input| input_number(graph, **input, "_parent_node_index") == Some(i64::from(index));
    graph.producer(*inputs.iter().find(bound)?)
}

/// The input of the call that a boundary input stands for.
pub fn called_input(graph: &Snapshot, data: NodeId) -> Option<Input> {
    if !is(graph, data, &["Data"]) {
        return None;
    }
    let call = parent(graph, data)?;
    let index = number(graph, data, "_parent_node_index")?;
    ((index as usize) < graph.node(call).inputs.len()).then(|| call.input(index))
}

/// The input is working memory.
pub fn special(graph: &Snapshot, input: Input) -> bool {
    input_number(graph, input, "_special_input_size").is_some_and(|size| size > 0)
}

/// The node overwrites this input for its own use.
pub fn spoils(graph: &Snapshot, input: Input) -> bool {
    flag(graph, input.node, "_input_mutable") || special(graph, input)
}

/// The input that an operator hands on in place under its name.
pub fn written_input(graph: &Snapshot, output: Output) -> Option<Input> {
    let node = graph.node(output.node);
    let name = node.outputs.get(output.index as usize)?.name;
    let index = node.inputs.iter().position(|port| port.name == name && !name.as_str().is_empty())?;
    Some(output.node.input(index as u32))
}

/// The output is its node's first input, under another shape.
pub fn is_view(graph: &Snapshot, output: Output) -> bool {
    is(graph, output.node, &["Reshape"]) && output.index == 0
}

/// The input that the attributes of a node say the output lies in.
fn reused_input(graph: &Snapshot, output: Output) -> Option<u32> {
    let node = output.node;
    let tight = flag(graph, node, "_no_padding_continuous_input")
        || flag(graph, node, "_no_padding_continuous_output");
    let desc = &graph.node(node).outputs.get(output.index as usize)?.desc;
    if desc.reuse_input {
        return desc.reuse_input_index.try_into().ok();
    }
    (tight && flag(graph, node, "_output_reuse_input")).then_some(0)
}

/// The cells of all outputs.
pub struct Cells {
    of: BTreeMap<Output, usize>,
    /// The output that gave each cell its number.
    pub first: Vec<Output>,
}

impl Cells {
    /// `branch` says which subgraph of a call runs.
    pub fn new(graph: &Snapshot, semantics: Semantics, branch: &dyn Fn(NodeId) -> usize) -> Cells {
        let nodes = graph.all_nodes(GraphId::ROOT);
        let outputs: Vec<Output> = nodes
            .iter()
            .flat_map(|&node| (0..graph.node(node).outputs.len() as u32).map(move |o| node.output(o)))
            .collect();
        let mut groups = Groups::default();
        for &output in &outputs {
            let beside = match semantics {
                Semantics::Memory => beside_in_memory(graph, output),
                Semantics::Value => beside_by_value(graph, output).into_iter().collect(),
                Semantics::Handed => {
                    let handed = || {
                        inner_result(
                            graph,
                            *graph.node(output.node).subgraphs.get(branch(output.node))?,
                            output.index,
                        )
                    };
                    let handed = handed().filter(|_| !is(graph, output.node, &LOOPS));
                    beside_if_handed(graph, output).into_iter().chain(handed).collect::<Vec<_>>()
                }
            };
            groups.find(output);
            for other in beside {
                groups.unite(other, output);
            }
        }
        let mut cells = Cells { of: BTreeMap::new(), first: Vec::new() };
        for output in outputs {
            let root = groups.find(output);
            let number = cells.of.get(&root).copied().unwrap_or(cells.first.len());
            if number == cells.first.len() {
                cells.first.push(root);
                cells.of.insert(root, number);
            }
            cells.of.insert(output, number);
        }
        cells
    }

    pub fn at(&self, output: Output) -> usize {
        self.of[&output]
    }
}

/// Outputs whose memory this one has, where these come first.
fn beside_in_memory(graph: &Snapshot, output: Output) -> Vec<Output> {
    let node = output.node;
    let at = |input: Input| graph.producer(input);
    let same_index = || {
        let index = output.index;
        (is(graph, node, &LOOPS) && (index as usize) < graph.node(node).inputs.len())
            .then(|| node.input(index))
    };
    let view = || is_view(graph, output).then(|| node.input(0));
    let reused = || {
        let index = reused_input(graph, output)?;
        ((index as usize) < graph.node(node).inputs.len()).then(|| node.input(index))
    };
    let one = written_input(graph, output)
        .or_else(view)
        .or_else(reused)
        .or_else(same_index)
        .or_else(|| called_input(graph, node));
    let inner = graph.node(node).subgraphs.iter().filter_map(|&sub| inner_result(graph, sub, output.index));
    one.and_then(at).into_iter().chain(inner).collect()
}

/// The output that this one is, as far as the graph means it to be the same tensor.
fn beside_by_value(graph: &Snapshot, output: Output) -> Option<Output> {
    let beside = beside_if_handed(graph, output)?;
    let mut home = beside;
    while let Some(next) = beside_by_value(graph, home) {
        home = next;
    }
    let write = written_input(graph, output).is_some();
    Some(beside).filter(|_| !write || !is_constant(graph, home.node))
}

/// The same, where even a constant is written in place.
fn beside_if_handed(graph: &Snapshot, output: Output) -> Option<Output> {
    if is_view(graph, output) {
        return graph.producer(output.node.input(0));
    }
    if let Some(input) = called_input(graph, output.node) {
        return graph.producer(input).filter(|_| !is(graph, input.node, &LOOPS));
    }
    let input = written_input(graph, output).filter(|input| !spoils(graph, *input))?;
    graph.producer(input)
}

/// Sets of outputs; the one that joins last is no representative.
#[derive(Default)]
struct Groups(BTreeMap<Output, Output>);

impl Groups {
    fn find(&mut self, output: Output) -> Output {
        let up = *self.0.entry(output).or_insert(output);
        if up == output {
            return output;
        }
        let root = self.find(up);
        self.0.insert(output, root);
        root
    }

    fn unite(&mut self, root: Output, other: Output) {
        let (root, other) = (self.find(root), self.find(other));
        if root != other {
            self.0.insert(other, root);
        }
    }
}
