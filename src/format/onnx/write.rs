//! Back to ONNX (`graph_formats.md` 8).
//!
//! Promise: what was not edited goes out byte for byte; the edited part is a valid model with the same inputs and
//! outputs. ONNX can say: a node is gone, an `Identity` is there, a node reads another tensor. It cannot say:
//! control edges, other new operators, edits inside one call of a function. Attributes that passes set are notes
//! for a GE compiler, which an ONNX runtime would refuse, so they stay behind.
//!
//! The idea: give each output anchor a tensor name, its old one where that is still free, and rewrite only the
//! messages in which a name changed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::control::instances;
use super::proto::{self, Graph, Value};
use super::{Built, Origin};
use crate::format::{Fields, FormatError, FormatWarning, Loaded, Place, Writer};
use crate::graph::{GraphId, Node, NodeId, Output, Snapshot, State};

/// The one operator that copies a tensor.
const COPY: &str = "Identity";

/// Writes `now`, a descendant of the snapshot that [`load`](super::load) made, as an ONNX model.
///
/// # Errors
/// `origin` is no ONNX model, or ONNX has no words for an edit.
pub fn save(origin: &Loaded, now: &Snapshot) -> Result<(Vec<u8>, Vec<FormatWarning>), FormatError> {
    let origin = origin.origin.as_deref().and_then(|o| o.downcast_ref::<Origin>());
    let Some(origin) = origin else {
        let message = "only a graph that was read from an ONNX model can be written as one";
        return Err(FormatError::new("format::not-expressible", message));
    };
    Ok((encode(origin, now)?, notes_left_out(&origin.snapshot, now)))
}

/// One warning if nodes say more than they did: see the promise of this module.
fn notes_left_out(before: &State, now: &State) -> Vec<FormatWarning> {
    let has_notes = |id: NodeId, old: &Arc<Node>| {
        let new = now.get_node(id).filter(|new| !Arc::ptr_eq(old, new));
        new.is_some_and(|new| {
            new.attrs != old.attrs || new.inputs != old.inputs || new.outputs != old.outputs
        })
    };
    let count = before.nodes_by_id().filter(|(id, old)| has_notes(*id, old)).count();
    let nodes = super::nodes(count);
    let message = format!("attributes and descriptions changed on {nodes} have no place in ONNX");
    let warning = FormatWarning { code: "format::left-out", message, place: Place::None };
    (count > 0).then_some(warning).into_iter().collect()
}

fn encode(origin: &Origin, now: &Snapshot) -> Result<Vec<u8>, FormatError> {
    if *now == origin.snapshot || is_same(origin, now, GraphId::ROOT) {
        return Ok(origin.data.to_vec());
    }
    let model = proto::model(&origin.data)?;
    let Some(graph) = &model.graph else { return Ok(origin.data.to_vec()) };
    let mut save = Save { origin, now, taken: FxHashSet::default() };
    save.take_names(graph);
    let written = save.graph(GraphId::ROOT, graph, &[])?;
    let Some(encoded) = written else { return Ok(origin.data.to_vec()) };
    let mut encoded = Some(encoded);
    rewrite(&origin.data, |field, w| {
        if field.number == 7 {
            // A second graph field would be merged into the first; one message stands for both.
            encoded.take().iter().for_each(|graph| w.bytes(7, graph));
        } else {
            w.raw(field.encoded);
        }
        Ok(())
    })
}

/// Whether a graph has the nodes and edges that it had, with all graphs inside.
fn is_same(origin: &Origin, now: &State, graph: GraphId) -> bool {
    let before = &origin.snapshot;
    let nodes: Vec<NodeId> = before.list(graph).collect();
    now.get_graph(graph).is_some()
        && now.list(graph).eq(nodes.iter().copied())
        && nodes.iter().all(|&id| {
            let (old, new) = (before.node(id), now.node(id));
            let inputs = 0..old.inputs.len() as u32;
            old.inputs.len() == new.inputs.len()
                && old.ty == new.ty
                && inputs.into_iter().all(|i| before.producer(id.input(i)) == now.producer(id.input(i)))
                && now.control_in(id).next().is_none()
                && old.subgraphs == new.subgraphs
                && old.subgraphs.iter().all(|&inner| is_same(origin, now, inner))
        })
}

/// Writes the fields of a message one by one.
fn rewrite<'a>(
    data: &'a [u8],
    mut each: impl FnMut(crate::format::Field<'a>, &mut Writer) -> Result<(), FormatError>,
) -> Result<Vec<u8>, FormatError> {
    let mut fields = Fields::new(data);
    let mut writer = Writer::new();
    while let Some(field) = fields.next_field()? {
        each(field, &mut writer)?;
    }
    Ok(writer.finish())
}

fn not_expressible(message: String) -> FormatError {
    FormatError::new("format::not-expressible", message)
        .with_help("write the graph as a GE text dump instead")
}

struct Save<'s> {
    origin: &'s Origin,
    now: &'s State,
    /// Every tensor name of the model and every new one: inner graphs must not hide outer names.
    taken: FxHashSet<String>,
}

/// What will be a node message: one that was, by position, or a new one.
enum Out {
    Old { position: usize, id: NodeId },
    New { id: NodeId },
}

type TensorNames = FxHashMap<Output, String>;

impl Save<'_> {
    fn take_names(&mut self, graph: &Graph<'_>) {
        let infos = graph.inputs.iter().chain(&graph.outputs).map(|i| i.name);
        self.taken.extend(infos.chain(graph.initializers.iter().map(|t| t.name)).map(str::to_owned));
        for node in &graph.nodes {
            self.taken.extend(node.outputs.iter().map(|name| (*name).to_owned()));
            node.graphs().iter().for_each(|(_, inner)| self.take_names(inner));
        }
    }

    fn fresh(&mut self, base: &str) -> String {
        let numbered = (1usize..).map(|n| format!("{base}_{n}"));
        let mut names = std::iter::once(base.to_owned()).chain(numbered);
        let name = names.find(|name| !self.taken.contains(name)).unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }

    /// The new bytes of a graph, or `None` if they are the old ones. `captured` names the tensors that it takes
    /// from around.
    fn graph(
        &mut self,
        id: GraphId,
        graph: &Graph<'_>,
        captured: &[String],
    ) -> Result<Option<Vec<u8>>, FormatError> {
        let origin = self.origin;
        let Some(built) = origin.graphs.get(&id).filter(|_| self.now.get_graph(id).is_some()) else {
            return Err(not_expressible(format!("the graph `{}` is gone", graph.name)));
        };
        let outs = self.outs(id, built)?;
        let mut names = self.fixed_names(built, graph, captured);
        let copies = self.output_names(built, graph, &mut names)?;
        self.node_names(&outs, built, graph, &mut names);
        let order = self.topological(&outs)?;
        let mut is_changed = outs.len() != graph.nodes.len() || !copies.is_empty();
        let mut nodes = Vec::with_capacity(outs.len() + copies.len());
        for (at, place) in order.into_iter().zip(0..) {
            let inputs = self.input_names(outs[at].id(), &names);
            match &outs[at] {
                Out::Old { position, id } => {
                    let node = &graph.nodes[*position];
                    let encoded = self.old_node(node, *id, inputs, &names)?;
                    is_changed |= encoded.is_some() || *position != place;
                    nodes.push(encoded.unwrap_or_else(|| node.encoded.to_vec()));
                }
                Out::New { id } => {
                    is_changed = true;
                    let name = self.now.node(*id).name.clone();
                    nodes.push(copy_node(&inputs[0], &names[&id.output(0)], &name));
                }
            }
        }
        nodes.extend(copies);
        if !is_changed {
            return Ok(None);
        }
        let described = self.described(&outs, graph, &names)?;
        let alive: FxHashSet<&str> = names.values().map(String::as_str).collect();
        encode_graph(graph, nodes, described, &alive).map(Some)
    }

    /// Descriptions of tensors that have a new name: what the file said under the old one.
    fn described(
        &self,
        outs: &[Out],
        graph: &Graph<'_>,
        names: &TensorNames,
    ) -> Result<Vec<Vec<u8>>, FormatError> {
        let infos = [&graph.value_infos, &graph.inputs, &graph.outputs].into_iter().flatten();
        let known: FxHashMap<&str, &[u8]> = infos.map(|info| (info.name, info.encoded)).collect();
        let mut before: FxHashMap<Output, &str> = FxHashMap::default();
        for out in outs {
            if let Out::Old { position, id } = out {
                let old = graph.nodes[*position].outputs.iter().zip(0u32..);
                before.extend(old.map(|(name, index)| (id.output(index), *name)));
            }
        }
        let mut described = Vec::new();
        for out in outs {
            for index in 0..self.now.node(out.id()).outputs.len() as u32 {
                let output = out.id().output(index);
                let old = match out {
                    Out::Old { .. } => before.get(&output).copied(),
                    // A copy says what its source said.
                    Out::New { id } => {
                        let source = self.now.producer(id.input(0));
                        source.and_then(|s| before.get(&s).copied().or(names.get(&s).map(String::as_str)))
                    }
                };
                let (Some(old), Some(name)) = (old, names.get(&output)) else { continue };
                if let Some(info) = known.get(old).filter(|_| !known.contains_key(name.as_str())) {
                    described.push(rewrite(info, |field, w| {
                        if field.number == 1 {
                            w.str(1, name)
                        } else {
                            w.raw(field.encoded)
                        }
                        Ok(())
                    })?);
                }
            }
        }
        Ok(described)
    }

    /// The nodes that will be messages, in list order.
    fn outs(&self, id: GraphId, built: &Built) -> Result<Vec<Out>, FormatError> {
        let positions: FxHashMap<NodeId, usize> = built.nodes.iter().copied().zip(0..).collect();
        let others: FxHashSet<NodeId> = (built.inputs.iter().flatten())
            .chain(&built.initializers)
            .chain(&built.captures)
            .chain(&built.net_output)
            .copied()
            .collect();
        let mut outs = Vec::new();
        for id in self.now.list(id) {
            let node = self.now.node(id);
            if let Some(from) = self.now.control_in(id).next() {
                let from = &self.now.node(from).name;
                let message =
                    format!("ONNX has no control edges, and there is one from `{from}` to `{}`", node.name);
                return Err(not_expressible(message));
            }
            if others.contains(&id) {
                continue;
            }
            if let Some(&position) = positions.get(&id) {
                let before = self.origin.snapshot.node(id);
                if before.ty != node.ty || before.inputs.len() != node.inputs.len() {
                    let message =
                        format!("`{}` was a `{}` with {} inputs", node.name, before.ty, before.inputs.len());
                    return Err(not_expressible(message + ", and is another operator now"));
                }
                outs.push(Out::Old { position, id });
            } else if node.ty == COPY && node.inputs.len() == 1 && node.outputs.len() == 1 {
                outs.push(Out::New { id });
            } else {
                let message =
                    format!("ONNX has no operator for the new `{}` of type `{}`", node.name, node.ty);
                return Err(not_expressible(message));
            }
        }
        Ok(outs)
    }

    /// Names that the outside gives: inputs, initializers, captures.
    fn fixed_names(&self, built: &Built, graph: &Graph<'_>, captured: &[String]) -> TensorNames {
        let inputs = built.inputs.iter().zip(&graph.inputs);
        let inputs = inputs.filter_map(|(id, input)| Some((*id.as_ref()?, input.name.to_owned())));
        let initializers = built.initializers.iter().zip(&graph.initializers);
        let initializers = initializers.map(|(id, tensor)| (*id, tensor.name.to_owned()));
        let captures = built.captures.iter().copied().zip(captured.iter().cloned());
        inputs.chain(initializers).chain(captures).map(|(id, name)| (id.output(0), name)).collect()
    }

    /// Gives the producers of graph outputs the names of those. Where a producer has another name already, a copy
    /// carries the name; the messages of these copies are returned.
    fn output_names(
        &mut self,
        built: &Built,
        graph: &Graph<'_>,
        names: &mut TensorNames,
    ) -> Result<Vec<Vec<u8>>, FormatError> {
        let mut copies = Vec::new();
        for (output, index) in graph.outputs.iter().zip(0u32..) {
            let source = built.net_output.and_then(|n| self.now.producer(n.input(index)));
            let Some(source) = source else {
                return Err(not_expressible(format!("the graph output `{}` has no producer", output.name)));
            };
            let name = names.entry(source).or_insert_with(|| output.name.to_owned());
            if name != output.name {
                let name = name.clone();
                let node_name = self.fresh(&format!("{}_{COPY}", output.name));
                copies.push(copy_node(&name, output.name, &node_name));
            }
        }
        Ok(copies)
    }

    /// Names for all other outputs: the old one, unless something else has it now.
    fn node_names(&mut self, outs: &[Out], built: &Built, graph: &Graph<'_>, names: &mut TensorNames) {
        // A capture that nothing reads here may share its name with a tensor of this graph.
        let is_read = |output: Output| self.now.consumers(output).next().is_some();
        let unread: FxHashSet<Output> =
            built.captures.iter().map(|c| c.output(0)).filter(|c| !is_read(*c)).collect();
        let mut used: FxHashSet<String> =
            names.iter().filter(|(o, _)| !unread.contains(o)).map(|(_, name)| name.clone()).collect();
        used.extend(graph.outputs.iter().map(|o| o.name.to_owned()));
        for out in outs {
            match out {
                Out::Old { position, id } => {
                    for (old, index) in graph.nodes[*position].outputs.iter().zip(0u32..) {
                        let output = id.output(index);
                        if names.contains_key(&output) {
                            continue;
                        }
                        // An output left out in the file stays so.
                        let name = if old.is_empty() || used.insert((*old).to_owned()) {
                            (*old).to_owned()
                        } else {
                            self.fresh(old)
                        };
                        names.insert(output, name);
                    }
                }
                Out::New { id } => {
                    if let Entry::Vacant(name) = names.entry(id.output(0)) {
                        name.insert(self.fresh(&self.now.node(*id).name.clone()));
                    }
                }
            }
        }
    }

    fn input_names(&self, id: NodeId, names: &TensorNames) -> Vec<String> {
        let count = self.now.node(id).inputs.len() as u32;
        let source = |index| self.now.producer(id.input(index));
        (0..count).map(|i| source(i).and_then(|s| names.get(&s)).cloned().unwrap_or_default()).collect()
    }

    /// The new bytes of an old node, or `None` if they are the old ones. `inputs` ends with the captures.
    fn old_node(
        &mut self,
        node: &proto::Node<'_>,
        id: NodeId,
        inputs: Vec<String>,
        names: &TensorNames,
    ) -> Result<Option<Vec<u8>>, FormatError> {
        let (inputs, captured) = inputs.split_at(node.inputs.len().min(inputs.len()));
        let instances = instances(node);
        let subgraphs = self.now.node(id).subgraphs.clone();
        if instances.is_empty() && subgraphs.iter().any(|&g| !is_same(self.origin, self.now, g)) {
            let message =
                format!("`{}` calls a function, and other calls share its body", self.now.node(id).name);
            return Err(not_expressible(message));
        }
        let mut graphs: FxHashMap<usize, Vec<u8>> = FxHashMap::default();
        // Messages are told apart by where they start in the file.
        for ((_, graph), &subgraph) in instances.iter().zip(subgraphs.iter()) {
            if let Some(encoded) = self.graph(subgraph, graph, captured)? {
                graphs.insert(graph.offset, encoded);
            }
        }
        let outputs: Vec<&str> = (0u32..)
            .zip(&node.outputs)
            .map(|(i, old)| names.get(&id.output(i)).map_or(*old, String::as_str))
            .collect();
        if graphs.is_empty() && node.inputs.iter().eq(inputs) && node.outputs == outputs {
            return Ok(None);
        }
        let (mut inputs, mut outputs) = (Some(inputs), Some(outputs));
        let mut attributes = node.attributes.iter();
        rewrite(node.encoded, |field, w| {
            match field.number {
                1 => inputs.take().into_iter().flatten().for_each(|name| w.str(1, name)),
                2 => outputs.take().into_iter().flatten().for_each(|name| w.str(2, name)),
                5 => match attributes.next() {
                    Some(attribute) => w.bytes(5, &encode_attribute(attribute, &graphs)?),
                    None => w.raw(field.encoded),
                },
                _ => w.raw(field.encoded),
            }
            Ok(())
        })
        .map(Some)
    }

    /// Positions in `outs` so that producers come first; otherwise as they stand.
    fn topological(&self, outs: &[Out]) -> Result<Vec<usize>, FormatError> {
        let places: FxHashMap<NodeId, usize> = outs.iter().map(Out::id).zip(0..).collect();
        let mut waits = vec![0usize; outs.len()];
        for (out, wait) in outs.iter().zip(&mut waits) {
            let inputs = 0..self.now.node(out.id()).inputs.len() as u32;
            let producers = inputs.into_iter().filter_map(|i| self.now.producer(out.id().input(i)));
            *wait = producers.filter(|p| places.contains_key(&p.node)).count();
        }
        let free = (0..outs.len()).filter(|at| waits[*at] == 0);
        let mut ready: BinaryHeap<Reverse<usize>> = free.map(Reverse).collect();
        let mut order = Vec::with_capacity(outs.len());
        while let Some(Reverse(at)) = ready.pop() {
            order.push(at);
            let id = outs[at].id();
            for index in 0..self.now.node(id).outputs.len() as u32 {
                for consumer in self.now.consumers(id.output(index)) {
                    let Some(&next) = places.get(&consumer.node) else { continue };
                    waits[next] -= 1;
                    if waits[next] == 0 {
                        ready.push(Reverse(next));
                    }
                }
            }
        }
        if order.len() < outs.len() {
            return Err(not_expressible("the graph has a cycle".to_owned()));
        }
        Ok(order)
    }
}

impl Out {
    fn id(&self) -> NodeId {
        match self {
            Out::Old { id, .. } | Out::New { id } => *id,
        }
    }
}

fn copy_node(input: &str, output: &str, name: &str) -> Vec<u8> {
    let mut w = Writer::new();
    w.str(1, input);
    w.str(2, output);
    w.str(3, name);
    w.str(4, COPY);
    w.finish()
}

fn encode_graph(
    graph: &Graph<'_>,
    nodes: Vec<Vec<u8>>,
    described: Vec<Vec<u8>>,
    alive: &FxHashSet<&str>,
) -> Result<Vec<u8>, FormatError> {
    let mut nodes = Some(nodes);
    let mut infos = graph.value_infos.iter();
    let mut put = |w: &mut Writer| nodes.take().iter().flatten().for_each(|node| w.bytes(1, node));
    let mut encoded = rewrite(graph.encoded, |field, w| {
        match field.number {
            1 => put(w),
            // What is said about a tensor that is gone is no longer true.
            13 if infos.next().is_some_and(|info| !alive.contains(info.name)) => {}
            _ => w.raw(field.encoded),
        }
        Ok(())
    })?;
    // A graph without nodes may have got one.
    let mut rest = Writer::new();
    put(&mut rest);
    described.iter().for_each(|info| rest.bytes(13, info));
    encoded.extend(rest.finish());
    Ok(encoded)
}

/// An attribute with the graphs that changed.
fn encode_attribute(
    attribute: &proto::Attribute<'_>,
    changed: &FxHashMap<usize, Vec<u8>>,
) -> Result<Vec<u8>, FormatError> {
    let graphs: Vec<&Graph<'_>> = match &attribute.value {
        Value::Graph(graph) => vec![graph],
        Value::Graphs(graphs) => graphs.iter().collect(),
        _ => return Ok(attribute.encoded.to_vec()),
    };
    rewrite(attribute.encoded, |field, w| {
        // The message that was read is known by its bytes: of a field given twice only one counts.
        let is_here = |g: &&&Graph<'_>| field.bytes().is_ok_and(|b| std::ptr::eq(b, g.encoded));
        let graph = graphs.iter().find(is_here).and_then(|g| changed.get(&g.offset));
        match graph {
            Some(graph) if matches!(field.number, 6 | 11) => w.bytes(field.number, graph),
            _ => w.raw(field.encoded),
        }
        Ok(())
    })
}
