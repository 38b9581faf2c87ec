//! From ONNX messages to a GE-shaped graph (`graph_formats.md` 7.2).
//!
//! Promise: every tensor name is resolved or complained about; a graph inside a node gets everything it takes from
//! around it through inputs of the node, from the innermost outwards, so that no edge crosses a graph's border.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::control::{Binding, binding, instances};
use super::proto::{self, Attribute, Value};
use super::tensor::{tensor, tensor_desc, value_desc};
use super::{Built, Origin, attributes};
use crate::format::{FormatError, FormatWarning, OnnxMapping, Place};
use crate::graph::{
    AttrValue, Attrs, Builder, GraphId, GraphInfo, ModelInfo, Node, NodeId, Output, Port, Snapshot, Sym,
    TensorDesc,
};

/// Nodes, inputs and outputs of all function bodies together: calls multiply, and a small file can ask for any number.
const MOST_INLINED: usize = 1 << 18;
/// A node whose message is larger counts once for each such part of it: what it holds multiplies, too.
const INLINED_BYTES: usize = 1 << 12;
/// Function calls inside function bodies.
const MOST_CALLS_DEEP: usize = 32;

pub(super) struct Lowered {
    pub snapshot: Snapshot,
    pub warnings: Vec<FormatWarning>,
    pub graphs: FxHashMap<GraphId, Built>,
}

/// The snapshot of a model, and how its nodes relate to the messages.
pub(super) fn lower(
    model: proto::Model<'_>,
    mapping: Option<&dyn OnnxMapping>,
) -> Result<Lowered, FormatError> {
    let Some(graph) = model.graph else {
        let message = "the model has no graph (field 7)";
        return Err(FormatError::new("format::no-graph", message));
    };
    let functions = model.functions.into_iter().map(|f| ((f.domain, f.name), Body::new(f))).collect();
    let mut lower = Lower {
        mapping,
        functions: &functions,
        builder: Builder::new(ModelInfo::default()),
        calls: Vec::new(),
        opsets: vec![&model.opsets],
        inlined: 0,
        graph_names: Names::default(),
        unmapped: BTreeMap::new(),
        built: FxHashMap::default(),
    };
    lower.graph(&graph, graph.name, None)?;
    let warnings = lower.warnings();
    let snapshot = lower.builder.finish();
    let mut topo = vec![0; snapshot.node_slots()];
    for (node, id) in snapshot.all_nodes(GraphId::ROOT).into_iter().zip(0..) {
        topo[node.0 as usize] = id;
    }
    let mut edit = snapshot.edit();
    edit.set_topo_ids(topo);
    Ok(Lowered { snapshot: edit.finish(&snapshot), warnings, graphs: lower.built })
}

/// A function as a graph without captures.
struct Body<'a> {
    graph: proto::Graph<'a>,
    opsets: Vec<(&'a str, i64)>,
    defaults: Vec<Attribute<'a>>,
}

impl<'a> Body<'a> {
    fn new(function: proto::Function<'a>) -> Body<'a> {
        let named = |name: &&'a str| proto::ValueInfo { name, offset: function.offset, ..Default::default() };
        let graph = proto::Graph {
            name: function.name,
            inputs: function.inputs.iter().map(named).collect(),
            outputs: function.outputs.iter().map(named).collect(),
            nodes: function.nodes,
            offset: function.offset,
            ..Default::default()
        };
        Body { graph, opsets: function.opsets, defaults: function.defaults }
    }
}

/// The node that owns the graph being built.
struct Owner<'s, 'a> {
    node: NodeId,
    binding: Binding,
    captures: &'s [(&'a str, Arc<TensorDesc>)],
    /// Input of the node that brings the first capture.
    first_capture: usize,
}

struct Lower<'m, 'a> {
    mapping: Option<&'m dyn OnnxMapping>,
    functions: &'m FxHashMap<(&'a str, &'a str), Body<'a>>,
    builder: Builder,
    /// Arguments of the function calls that the current graph is inside of, the innermost last.
    calls: Vec<Vec<(&'a str, &'m Value<'a>)>>,
    opsets: Vec<&'m [(&'a str, i64)]>,
    inlined: usize,
    graph_names: Names,
    /// Operators without a GE type: how many, and where the first stands.
    unmapped: BTreeMap<String, (usize, usize)>,
    built: FxHashMap<GraphId, Built>,
}

/// What one graph defines.
#[derive(Default)]
struct Scope<'a> {
    values: FxHashMap<&'a str, (Output, Arc<TensorDesc>)>,
    /// Defined here, not taken from around.
    own: FxHashSet<&'a str>,
    node_names: Names,
}

/// A node to be.
struct Draft {
    name: String,
    ty: Sym,
    attrs: Vec<(Sym, AttrValue)>,
    outputs: Vec<Arc<TensorDesc>>,
}

impl<'m, 'a> Lower<'m, 'a> {
    /// Adds a graph with its nodes and what they own.
    fn graph(
        &mut self,
        graph: &'m proto::Graph<'a>,
        name: &str,
        owner: Option<Owner<'_, 'a>>,
    ) -> Result<GraphId, FormatError> {
        let name = unique(&mut self.graph_names, name);
        let id = self.builder.graph(GraphInfo::named(name.as_str()));
        if let Some(owner) = &owner {
            self.builder.own(owner.node, id);
        }
        let types: FxHashMap<&str, &proto::ValueInfo<'_>> =
            [&graph.value_infos, &graph.outputs, &graph.inputs]
                .into_iter()
                .flatten()
                .map(|info| (info.name, info))
                .collect();
        let mut scope = Scope::default();
        let mut built = Built::default();
        self.inputs(graph, id, owner.as_ref(), &mut scope, &mut built)?;
        self.initializers(graph, id, &mut scope, &mut built)?;
        for (node, number) in graph.nodes.iter().zip(0..) {
            let node_id = self.node(node, number, id, &types, &mut scope)?;
            built.nodes.push(node_id);
        }
        for (node, &node_id) in graph.nodes.iter().zip(&built.nodes) {
            self.connect(node, node_id, &name, owner.is_none(), &scope)?;
        }
        built.net_output = Some(self.outputs(graph, id, owner.as_ref(), &mut scope)?);
        self.built.insert(id, built);
        Ok(id)
    }

    /// A Data for each input without initializer, and for each tensor taken from around.
    fn inputs(
        &mut self,
        graph: &'m proto::Graph<'a>,
        id: GraphId,
        owner: Option<&Owner<'_, 'a>>,
        scope: &mut Scope<'a>,
        built: &mut Built,
    ) -> Result<(), FormatError> {
        let initialized: FxHashSet<&str> = graph.initializers.iter().map(|t| t.name).collect();
        let mut index = 0;
        let mut data = |lower: &mut Self,
                        scope: &mut Scope<'a>,
                        name: &str,
                        desc: Arc<TensorDesc>,
                        parent: Option<i64>| {
            let mut attrs = vec![(Sym::new("index"), AttrValue::Int(index))];
            attrs.extend(parent.map(|p| (Sym::new("_parent_node_index"), AttrValue::Int(p))));
            index += 1;
            let name = unique(&mut scope.node_names, name);
            let data =
                lower.add(id, Draft { name, ty: Sym::new("Data"), attrs, outputs: vec![desc.clone()] });
            // As in a dump: one slot that nothing feeds, by which the caller's input is tied to a subgraph's.
            let slot = Port { name: Sym::default(), desc };
            lower.builder.node_mut(data).inputs = std::iter::once(slot).collect();
            data
        };
        for (input, number) in graph.inputs.iter().zip(0usize..) {
            if initialized.contains(input.name) {
                built.inputs.push(None);
                continue;
            }
            let parent = owner.and_then(|o| o.binding.inputs.get(number).copied().flatten());
            let desc = value_desc(Some(input));
            let node = data(self, scope, input.name, desc.clone(), parent);
            scope.define(input.name, node.output(0), desc, input.offset)?;
            built.inputs.push(Some(node));
        }
        for (k, (name, desc)) in owner.iter().flat_map(|o| o.captures.iter().enumerate()) {
            let parent = owner.map(|o| (o.first_capture + k) as i64);
            let node = data(self, scope, name, desc.clone(), parent);
            // A sibling graph may take a tensor that this one defines itself.
            scope.values.entry(name).or_insert((node.output(0), desc.clone()));
            built.captures.push(node);
        }
        Ok(())
    }

    fn initializers(
        &mut self,
        graph: &'m proto::Graph<'a>,
        id: GraphId,
        scope: &mut Scope<'a>,
        built: &mut Built,
    ) -> Result<(), FormatError> {
        for (initializer, number) in graph.initializers.iter().zip(0..) {
            let (ty, attrs) = constant(initializer);
            let name = unique(&mut scope.node_names, &format!("{}_Initializer_{number}", initializer.name));
            let desc = Arc::new(tensor_desc(initializer));
            let node = self.add(id, Draft { name, ty, attrs, outputs: vec![desc.clone()] });
            scope.define(initializer.name, node.output(0), desc, graph.offset)?;
            built.initializers.push(node);
        }
        Ok(())
    }

    /// Adds a node without its edges and graphs.
    fn node(
        &mut self,
        node: &'m proto::Node<'a>,
        number: usize,
        id: GraphId,
        types: &FxHashMap<&str, &proto::ValueInfo<'_>>,
        scope: &mut Scope<'a>,
    ) -> Result<NodeId, FormatError> {
        if !self.calls.is_empty() {
            self.inline(1 + node.encoded.len() / INLINED_BYTES, node.offset)?;
        }
        let name = if node.name.is_empty() { format!("{}_{number}", node.op) } else { node.name.to_owned() };
        let (ty, attrs, constant) = self.kind(node);
        let outputs: Vec<Arc<TensorDesc>> = node
            .outputs
            .iter()
            .map(|output| match &constant {
                Some(desc) => desc.clone(),
                None => value_desc(types.get(output).copied()),
            })
            .collect();
        let name = unique(&mut scope.node_names, &name);
        let node_id = self.add(id, Draft { name, ty, attrs, outputs: outputs.clone() });
        for ((output, desc), index) in node.outputs.iter().zip(outputs).zip(0u32..) {
            if !output.is_empty() {
                scope.define(output, node_id.output(index), desc, node.offset)?;
            }
        }
        Ok(node_id)
    }

    /// Counts what calls make more of.
    fn inline(&mut self, more: usize, offset: usize) -> Result<(), FormatError> {
        self.inlined += more;
        if self.inlined > MOST_INLINED {
            let message = format!("function calls expand to more than {MOST_INLINED} nodes");
            return Err(FormatError::at_byte("format::too-large", message, offset));
        }
        Ok(())
    }

    /// Type and attributes of a node, and the description of a constant.
    fn kind(&mut self, node: &'m proto::Node<'a>) -> (Sym, Vec<(Sym, AttrValue)>, Option<Arc<TensorDesc>>) {
        if node.op == "Constant"
            && node.domain.is_empty()
            && let Some(tensor) = attributes::constant_tensor(node)
        {
            let (ty, attrs) = constant(&tensor);
            return (ty, attrs, Some(Arc::new(tensor_desc(&tensor))));
        }
        let arguments = self.calls.last().map(Vec::as_slice);
        let mut attrs: Vec<(Sym, AttrValue)> = node
            .attributes
            .iter()
            .filter_map(|attribute| {
                let value = resolve(attribute, arguments)?;
                Some((Sym::new(attribute.name), attributes::value(value)?))
            })
            .collect();
        if self.functions.contains_key(&(node.domain, node.op)) {
            return (Sym::new("PartitionedCall"), attrs, None);
        }
        let opset = self.opset(node.domain);
        let ty = self.mapping.and_then(|m| m.ge_type(node.domain, node.op, opset, node.inputs.len()));
        let Some(ty) = ty else {
            // Graphs inside make the meaning known, whatever the type is called.
            if !matches!(node.op, "If" | "Loop" | "Scan") || !node.domain.is_empty() {
                let domain = if node.domain.is_empty() { "ai.onnx" } else { node.domain };
                let key = format!("{domain}::{opset}::{}", node.op);
                self.unmapped.entry(key).or_insert((0, node.offset)).0 += 1;
                attrs.push((Sym::new("_onnx_unmapped"), AttrValue::Bool(true)));
            }
            return (Sym::new(node.op), attrs, None);
        };
        (Sym::new(&ty), attrs, None)
    }

    fn opset(&self, domain: &str) -> i64 {
        let imports = self.opsets.last().copied().unwrap_or_default();
        imports.iter().find(|(d, _)| *d == domain).map_or(1, |(_, version)| *version)
    }

    /// Edges into a node, and the graphs that it owns.
    fn connect(
        &mut self,
        node: &'m proto::Node<'a>,
        id: NodeId,
        graph_name: &str,
        in_root: bool,
        scope: &Scope<'a>,
    ) -> Result<(), FormatError> {
        let captured = node.captures();
        let mut ports = Vec::with_capacity(node.inputs.len() + captured.len());
        for (&input, index) in node.inputs.iter().chain(&captured).zip(0u32..) {
            let desc = match scope.values.get(input) {
                Some((output, desc)) => {
                    self.builder.edge(*output, 0, id.input(index));
                    desc.clone()
                }
                None if input.is_empty() => unconnected(),
                None => return Err(unknown_tensor(input, &format!("node `{}`", node.op), node.offset)),
            };
            ports.push(Port { name: Sym::default(), desc });
        }
        self.builder.node_mut(id).inputs = ports.into_iter().collect();
        let captures: Vec<(&'a str, Arc<TensorDesc>)> = captured
            .iter()
            .filter_map(|name| scope.values.get(name).map(|(_, desc)| (*name, desc.clone())))
            .collect();
        let own_name = self.builder.node_mut(id).name.clone();
        let prefix = if in_root { String::new() } else { format!("{graph_name}/") };
        for ((attribute, graph), number) in instances(node).into_iter().zip(0..) {
            let name = format!("{prefix}{own_name}_{number}_{attribute}");
            let binding = binding(node, graph, self.opset(""));
            let owner = Owner { node: id, binding, captures: &captures, first_capture: node.inputs.len() };
            self.graph(graph, &name, Some(owner))?;
        }
        if let Some(body) = self.functions.get(&(node.domain, node.op)) {
            self.call(node, id, body, &format!("{prefix}{own_name}_0_body"))?;
        }
        Ok(())
    }

    /// Gives a call its own copy of the function's body.
    fn call(
        &mut self,
        node: &'m proto::Node<'a>,
        id: NodeId,
        body: &'m Body<'a>,
        name: &str,
    ) -> Result<(), FormatError> {
        if self.calls.len() >= MOST_CALLS_DEEP {
            let message = format!("function calls nest more than {MOST_CALLS_DEEP} deep, or go round");
            return Err(FormatError::at_byte("format::too-deep", message, node.offset));
        }
        self.inline(body.graph.inputs.len() + body.graph.outputs.len(), node.offset)?;
        let outer = self.calls.last().map(Vec::as_slice);
        let given = node.attributes.iter().filter_map(|a| Some((a.name, resolve(a, outer)?)));
        let mut arguments: Vec<(&str, &Value<'a>)> = given.collect();
        for default in &body.defaults {
            if arguments.iter().all(|(name, _)| *name != default.name) {
                arguments.push((default.name, &default.value));
            }
        }
        self.calls.push(arguments);
        self.opsets.push(&body.opsets);
        let binding = Binding::one_to_one(node.inputs.len(), body.graph.outputs.len());
        let owner = Owner { node: id, binding, captures: &[], first_capture: node.inputs.len() };
        self.graph(&body.graph, name, Some(owner))?;
        self.opsets.pop();
        self.calls.pop();
        Ok(())
    }

    /// The NetOutput that collects the outputs of a graph.
    fn outputs(
        &mut self,
        graph: &'m proto::Graph<'a>,
        id: GraphId,
        owner: Option<&Owner<'_, 'a>>,
        scope: &mut Scope<'a>,
    ) -> Result<NodeId, FormatError> {
        let name = unique(&mut scope.node_names, "NetOutput");
        let node =
            self.add(id, Draft { name, ty: Sym::new("NetOutput"), attrs: Vec::new(), outputs: Vec::new() });
        let mut ports = Vec::with_capacity(graph.outputs.len());
        for (output, index) in graph.outputs.iter().zip(0u32..) {
            let Some((source, desc)) = scope.values.get(output.name) else {
                return Err(unknown_tensor(output.name, "graph output", output.offset));
            };
            self.builder.edge(*source, 0, node.input(index));
            let mut desc = desc.clone();
            if let Some(parent) = owner.and_then(|o| o.binding.outputs.get(index as usize).copied().flatten())
            {
                let attrs = desc.attrs.with(Sym::new("_parent_node_index"), AttrValue::Int(parent));
                desc = Arc::new(TensorDesc { attrs, ..(*desc).clone() });
            }
            ports.push(Port { name: Sym::default(), desc });
        }
        self.builder.node_mut(node).inputs = ports.into_iter().collect();
        Ok(node)
    }

    fn add(&mut self, graph: GraphId, draft: Draft) -> NodeId {
        let ports = draft.outputs.into_iter().map(|desc| Port { name: Sym::default(), desc });
        let node = Node {
            attrs: Attrs::from_entries(draft.attrs),
            outputs: ports.collect(),
            ..Node::new(draft.name, draft.ty, graph)
        };
        self.builder.node(node, 0)
    }

    fn warnings(&self) -> Vec<FormatWarning> {
        let warn = |(op, (count, offset)): (&String, &(usize, usize))| FormatWarning {
            code: "format::unmapped-operator",
            message: format!(
                "`{op}` ({}) has no GE operator; taken for one that reads its inputs and writes new outputs",
                super::nodes(*count)
            ),
            place: Place::Byte(*offset),
        };
        self.unmapped.iter().map(warn).collect()
    }
}

impl<'a> Scope<'a> {
    fn define(
        &mut self,
        name: &'a str,
        output: Output,
        desc: Arc<TensorDesc>,
        offset: usize,
    ) -> Result<(), FormatError> {
        if !self.own.insert(name) {
            let message = format!("tensor `{name}` is produced twice in one graph");
            return Err(FormatError::at_byte("format::duplicate", message, offset));
        }
        self.values.insert(name, (output, desc));
        Ok(())
    }
}

/// The value of an attribute, which inside a function may be that of the call.
fn resolve<'v, 'a>(
    attribute: &'v Attribute<'a>,
    arguments: Option<&[(&'a str, &'v Value<'a>)]>,
) -> Option<&'v Value<'a>> {
    if attribute.reference.is_empty() {
        return Some(&attribute.value);
    }
    arguments?.iter().find(|(name, _)| *name == attribute.reference).map(|(_, value)| *value)
}

/// Type and attributes of a constant; the data of an external one stays where it is.
fn constant(source: &proto::Tensor<'_>) -> (Sym, Vec<(Sym, AttrValue)>) {
    if !source.is_external {
        return (Sym::new("Const"), vec![(Sym::new("value"), AttrValue::Tensor(Arc::new(tensor(source))))]);
    }
    let text = |key: &str| source.external.iter().find(|(k, _)| *k == key).map(|(_, v)| *v);
    let number = |key: &str| text(key).and_then(|v| v.parse().ok());
    let mut attrs = vec![(Sym::new("shape"), AttrValue::ints(source.dims.iter().copied()))];
    attrs.extend(text("location").map(|v| (Sym::new("location"), AttrValue::str(v))));
    for key in ["offset", "length"] {
        attrs.extend(number(key).map(|v| (Sym::new(key), AttrValue::Int(v))));
    }
    (Sym::new("FileConstant"), attrs)
}

fn unconnected() -> Arc<TensorDesc> {
    let layout = Sym::new("FORMAT_RESERVED");
    Arc::new(TensorDesc { shape: Some([].into()), layout, ..TensorDesc::default() })
}

fn unknown_tensor(name: &str, user: &str, offset: usize) -> FormatError {
    let message = format!("{user} uses tensor `{name}`, which nothing produces");
    FormatError::at_byte("format::unknown-tensor", message, offset)
        .with_help("an input, an initializer or a node of this graph or of one around it must have that name")
}

/// Names in use, each with the last number that was put behind it.
type Names = FxHashMap<String, usize>;

/// `name`, or `name_1`, `name_2` ... if it is taken.
fn unique(taken: &mut Names, name: &str) -> String {
    let Some(last) = taken.get(name).copied() else {
        taken.insert(name.to_owned(), 0);
        return name.to_owned();
    };
    let fresh = (last + 1..).map(|number| (number, format!("{name}_{number}")));
    let free = fresh.into_iter().find(|(_, candidate)| !taken.contains_key(candidate));
    let (number, candidate) = free.unwrap_or((last, name.to_owned()));
    taken.insert(name.to_owned(), number);
    taken.insert(candidate.clone(), 0);
    candidate
}

impl Origin {
    /// What the reader keeps for the writer.
    pub(super) fn new(data: &[u8], lowered: &Lowered) -> Origin {
        Origin { data: data.into(), snapshot: lowered.snapshot.clone(), graphs: lowered.graphs.clone() }
    }
}
