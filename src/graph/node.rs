//! Nodes, ports and graphs as a snapshot holds them: everything but the edges and the order.

use std::sync::Arc;

use super::list::NodeList;
use super::slots::Kept;
use super::tensor::TensorDesc;
use super::value::{AttrValue, Attrs, Extra};
use super::{GraphId, Sym};

/// One operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique inside its graph, not across graphs.
    pub name: Arc<str>,
    pub ty: Sym,
    /// The graph that lists this node.
    pub graph: GraphId,
    pub attrs: Attrs,
    pub inputs: Ports,
    pub outputs: Ports,
    /// Subgraph instances in instance order. Names that no graph carries are kept by the reader in `detail`.
    pub subgraphs: Arc<[GraphId]>,
    /// Fields of the file that no analysis reads (`src_name`, `output_i`, unknown fields ...).
    pub detail: Option<Arc<NodeDetail>>,
}

/// What only a writer needs (`graph_formats.md` 2, OpDef).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NodeDetail {
    pub has_out_attr: bool,
    pub stream_id: i64,
    pub input_name: Box<[Arc<str>]>,
    pub src_name: Box<[Arc<str>]>,
    pub src_index: Box<[i64]>,
    pub dst_name: Box<[Arc<str>]>,
    pub dst_index: Box<[i64]>,
    pub input_i: Box<[i64]>,
    pub output_i: Box<[i64]>,
    pub workspace: Box<[i64]>,
    pub workspace_bytes: Box<[i64]>,
    pub const_inputs: Box<[bool]>,
    /// `subgraph_name` as written, empty entries included, when it says more than `Node::subgraphs`.
    pub subgraph_name: Box<[Arc<str>]>,
    /// How many `input_desc` / `output_desc` the file had, when that differs from the slots.
    pub input_desc_count: Option<u32>,
    pub output_desc_count: Option<u32>,
    pub extra: Extra,
}

/// One data slot of a node: an IR name (empty if the file gave none) and a description.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    pub name: Sym,
    pub desc: Arc<TensorDesc>,
}

/// The ports of one direction. Nodes have few ports, but one that collects results can have 100 000,
/// and an edit of one port must not copy all.
#[derive(Clone, Debug, PartialEq)]
pub enum Ports {
    Few(Arc<[Port]>),
    Many(Box<im::Vector<Port>>),
}

const FEW: usize = 64;

impl Default for Ports {
    fn default() -> Self {
        Ports::Few(Arc::from([]))
    }
}

impl FromIterator<Port> for Ports {
    fn from_iter<I: IntoIterator<Item = Port>>(iter: I) -> Self {
        let ports: Vec<Port> = iter.into_iter().collect();
        if ports.len() <= FEW { Ports::Few(ports.into()) } else { Ports::Many(Box::new(ports.into())) }
    }
}

impl Ports {
    pub fn len(&self) -> usize {
        match self {
            Ports::Few(ports) => ports.len(),
            Ports::Many(ports) => ports.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, index: usize) -> Option<&Port> {
        match self {
            Ports::Few(ports) => ports.get(index),
            Ports::Many(ports) => ports.get(index),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Port> {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// Replaces the port at `index`; an index out of range changes nothing.
    pub fn set(&mut self, index: usize, port: Port) {
        if index >= self.len() {
            return;
        }
        match self {
            Ports::Few(ports) => {
                let mut copy = ports.to_vec();
                copy[index] = port;
                *self = Ports::Few(copy.into());
            }
            Ports::Many(ports) => {
                ports.set(index, port);
            }
        }
    }
}

impl Node {
    /// A node without ports, attributes and subgraphs.
    pub fn new(name: impl Into<Arc<str>>, ty: Sym, graph: GraphId) -> Node {
        Node {
            name: name.into(),
            ty,
            graph,
            attrs: Attrs::default(),
            inputs: Ports::default(),
            outputs: Ports::default(),
            subgraphs: Arc::from([]),
            detail: None,
        }
    }

    pub fn attr(&self, key: Sym) -> Option<&AttrValue> {
        self.attrs.get(key)
    }

    pub fn has_subgraphs(&self) -> bool {
        !self.subgraphs.is_empty()
    }
}

/// What tables of all nodes ask of each.
#[derive(Clone, Copy, Default)]
pub(super) struct NodeBrief {
    pub ty: Sym,
    pub graph: GraphId,
    pub inputs: u32,
    pub outputs: u32,
    /// Whether it owns subgraphs.
    pub owns: bool,
}

impl Kept for Node {
    type Brief = NodeBrief;

    fn brief(&self) -> NodeBrief {
        NodeBrief {
            ty: self.ty,
            graph: self.graph,
            inputs: self.inputs.len() as u32,
            outputs: self.outputs.len() as u32,
            owns: self.has_subgraphs(),
        }
    }
}

impl Kept for GraphInfo {
    type Brief = ();

    fn brief(&self) {}
}

impl Kept for NodeList {
    type Brief = ();

    fn brief(&self) {}
}

/// One graph of a model: the root or a subgraph of any depth.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphInfo {
    pub name: Arc<str>,
    /// The node that owns this graph as a subgraph instance; `None` for the root.
    pub parent: Option<super::NodeId>,
    pub attrs: Attrs,
    /// `GraphDef.input` / `GraphDef.output` as written.
    pub inputs: Arc<[Arc<str>]>,
    pub outputs: Arc<[Arc<str>]>,
    pub extra: Extra,
}

impl GraphInfo {
    /// A graph of which nothing but the name is known.
    pub fn named(name: impl Into<Arc<str>>) -> GraphInfo {
        GraphInfo {
            name: name.into(),
            parent: None,
            attrs: Attrs::default(),
            inputs: Arc::from([]),
            outputs: Arc::from([]),
            extra: Extra::default(),
        }
    }
}

/// What the file said about the whole model.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ModelInfo {
    pub name: Arc<str>,
    pub version: u32,
    pub custom_version: Arc<str>,
    pub attrs: Attrs,
    pub extra: Extra,
}
