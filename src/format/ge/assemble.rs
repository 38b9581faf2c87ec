//! From messages to a snapshot (`graph_formats.md` 3).
//!
//! Promise: an edge, a subgraph link or a port is in the snapshot exactly if the file states it; what a file states
//! and a graph cannot have is reported, never guessed. References are followed once and never in circles.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::edges::{Entry, PEER_INDEX, canonical_input};
use super::message::{GraphMsg, ModelMsg, OpMsg};
use super::port_names::{Direction, PortNames};
use crate::format::{FormatError, FormatWarning, Place, Warnings};
use crate::graph::{
    Builder, GraphId, GraphInfo, ModelInfo, Node, NodeDetail, NodeId, Port, Ports, Snapshot, Sym, TensorDesc,
};

type Result<T> = std::result::Result<T, FormatError>;

/// Slots that a file may have without describing them, all nodes together, beside two for each edge that it lists. A few
/// bytes of text can name slot 10^9, and each slot costs as much as a node.
const MOST_PADDING: usize = 1 << 16;

/// What a writer needs beside the snapshot to give back an untouched node as it came.
#[derive(Debug, Default)]
pub struct Origin {
    /// `input` lists that the edges alone do not give back: unusual order, entries missing or doubled.
    pub inputs: FxHashMap<NodeId, Box<[Arc<str>]>>,
}

/// Builds the snapshot of a model. `place` tells where in the file a message stands.
pub fn assemble(
    model: ModelMsg<'_>,
    place: &dyn Fn(usize) -> Place,
) -> Result<(Snapshot, Origin, Vec<FormatWarning>)> {
    if model.graphs.is_empty() {
        return Err(FormatError::new("format::no-graph", "the model holds no graph"));
    }
    let ModelMsg { name, version, custom_version, graphs, attrs, extra } = model;
    let info = ModelInfo { name: name.into(), version, custom_version: custom_version.into(), attrs, extra };
    let edges: usize = graphs.iter().flat_map(|graph| &graph.ops).map(|op| op.input.len()).sum();
    let mut assembler = Assembler {
        builder: Builder::new(info),
        place,
        warnings: Warnings::default(),
        port_names: PortNames::default(),
        blank: Arc::default(),
        padding: 0,
        most_padding: MOST_PADDING + 2 * edges,
        desc_mismatch: None,
        origin: Origin::default(),
    };
    let mut links = Vec::new();
    let names: Vec<Arc<str>> = graphs.iter().map(|graph| graph.name.as_ref().into()).collect();
    let offsets: Vec<usize> = graphs.iter().map(|graph| graph.offset).collect();
    for graph in graphs {
        assembler.graph(graph, &mut links)?;
    }
    assembler.link(&names, &offsets, links)?;
    assembler.report_desc_mismatch();
    Ok((assembler.builder.finish(), assembler.origin, assembler.warnings.finish()))
}

/// A node that names a subgraph.
struct Link {
    node: NodeId,
    graph: GraphId,
    name: Arc<str>,
    offset: usize,
}

struct Assembler<'p> {
    builder: Builder,
    place: &'p dyn Fn(usize) -> Place,
    warnings: Warnings,
    port_names: PortNames,
    /// The description of a slot that the file does not describe.
    blank: Arc<TensorDesc>,
    padding: usize,
    most_padding: usize,
    /// The first node whose `input` list and descriptions differ in number, and how many there are.
    desc_mismatch: Option<(Arc<str>, usize, usize)>,
    origin: Origin,
}

/// The edges of one node, while its graph is being read.
struct Pending {
    entries: Vec<Entry>,
    /// Number of data entries.
    slots: usize,
    /// Output slots that consumers mention.
    outputs: usize,
}

impl Assembler<'_> {
    fn error(&self, code: &'static str, message: String, offset: usize) -> FormatError {
        let place = (self.place)(offset);
        let span = Some(offset..offset);
        FormatError { code, message, place, span, help: None }
    }

    fn warn(&mut self, code: &'static str, message: String, offset: usize) {
        let place = self.place;
        self.warnings.push(code, || (message, place(offset)));
    }

    fn graph(&mut self, graph: GraphMsg<'_>, links: &mut Vec<Link>) -> Result<()> {
        let id = self.builder.graph(GraphInfo {
            name: graph.name.as_ref().into(),
            parent: None,
            attrs: graph.attrs,
            inputs: graph.input.iter().map(|s| Arc::from(s.as_ref())).collect(),
            outputs: graph.output.iter().map(|s| Arc::from(s.as_ref())).collect(),
            extra: graph.extra,
        });
        let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
        by_name.reserve(graph.ops.len());
        for (at, op) in graph.ops.iter().enumerate() {
            if by_name.contains_key(op.name.as_ref()) {
                let message =
                    format!("graph `{}` has two nodes named `{}`; edges mean the first", graph.name, op.name);
                self.warn("format::duplicate-node", message, op.offset);
            } else {
                by_name.insert(op.name.as_ref(), at);
            }
        }
        let mut pending = self.entries(&graph.ops, &graph.name, &by_name)?;
        let mut ids = Vec::with_capacity(graph.ops.len());
        for (op, edges) in graph.ops.iter().zip(&pending) {
            let node = self.node(op, id, edges)?;
            ids.push(self.builder.node(node, op.id));
        }
        for (at, op) in graph.ops.iter().enumerate() {
            self.edges(op, ids[at], &pending[at].entries, &ids, &graph.ops);
            let named = op.subgraph_name.iter().filter(|name| !name.is_empty());
            links.extend(named.map(|name| Link {
                node: ids[at],
                graph: id,
                name: name.as_ref().into(),
                offset: op.offset,
            }));
        }
        pending.clear();
        Ok(())
    }

    /// The `input` entries of all ops of a graph, with the producers looked up.
    fn entries(
        &mut self,
        ops: &[OpMsg<'_>],
        graph: &str,
        by_name: &FxHashMap<&str, usize>,
    ) -> Result<Vec<Pending>> {
        let mut outputs = vec![0usize; ops.len()];
        let mut all = Vec::with_capacity(ops.len());
        for op in ops {
            let mut entries = Vec::with_capacity(op.input.len());
            for text in &op.input {
                let entry = Entry::parse(text, |name| by_name.get(name).copied()).map_err(|problem| {
                    let message = format!("{problem} (input of node `{}` in graph `{graph}`)", op.name);
                    self.error("format::bad-edge", message, op.offset)
                })?;
                if let Entry::Data { from, index } = entry {
                    outputs[from] = outputs[from].max(index as usize + 1);
                }
                entries.push(entry);
            }
            let slots = entries.iter().filter(|entry| !matches!(entry, Entry::Control { .. })).count();
            all.push(Pending { entries, slots, outputs: 0 });
        }
        for (pending, outputs) in all.iter_mut().zip(outputs) {
            pending.outputs = outputs;
        }
        Ok(all)
    }

    fn node(&mut self, op: &OpMsg<'_>, graph: GraphId, edges: &Pending) -> Result<Node> {
        let (ins, outs) = (op.input_desc.len(), op.output_desc.len());
        self.padding += edges.slots.saturating_sub(ins) + edges.outputs.saturating_sub(outs);
        if self.padding > self.most_padding {
            let message = format!(
                "node `{}` has consumers at output {}, but describes {outs} outputs",
                op.name,
                edges.outputs.saturating_sub(1)
            );
            return Err(self.error("format::bad-edge", message, op.offset));
        }
        let connected = edges.entries.iter().filter(|e| matches!(e, Entry::Data { .. })).count();
        if connected > 0 && edges.slots != ins || edges.outputs > outs {
            let name: Arc<str> = op.name.as_ref().into();
            self.desc_mismatch.get_or_insert((name, 0, op.offset)).1 += 1;
        }
        let inputs = self.ports(op, Direction::In, &op.input_desc, edges.slots);
        let outputs = self.ports(op, Direction::Out, &op.output_desc, edges.outputs);
        let mut detail = op.detail.clone();
        let counts = |count: usize, slots: usize| {
            let differs = count != slots;
            differs.then(|| u32::try_from(count).unwrap_or(u32::MAX))
        };
        let (input_count, output_count) = (counts(ins, inputs.len()), counts(outs, outputs.len()));
        if input_count.is_some() || output_count.is_some() {
            let detail = Arc::make_mut(detail.get_or_insert_default());
            detail.input_desc_count = input_count;
            detail.output_desc_count = output_count;
        }
        if op.subgraph_name.iter().any(|name| name.is_empty()) {
            keep_subgraph_names(&mut detail, op.subgraph_name.iter().map(|s| s.as_ref().into()).collect());
        }
        Ok(Node {
            name: op.name.as_ref().into(),
            ty: op.ty,
            graph,
            attrs: op.attrs.clone(),
            inputs,
            outputs,
            subgraphs: Arc::from([]),
            detail,
        })
    }

    fn ports(
        &mut self,
        op: &OpMsg<'_>,
        direction: Direction,
        descs: &[Arc<TensorDesc>],
        slots: usize,
    ) -> Ports {
        let names = self.port_names.of(&op.attrs, direction);
        let port = |slot: usize| Port {
            name: names.get(slot).copied().unwrap_or_default(),
            desc: descs.get(slot).unwrap_or(&self.blank).clone(),
        };
        (0..descs.len().max(slots)).map(port).collect()
    }

    fn edges(&mut self, op: &OpMsg<'_>, node: NodeId, entries: &[Entry], ids: &[NodeId], ops: &[OpMsg<'_>]) {
        // Positions among the producer's consumers; a list of another length is ignored (3.6).
        let key = Sym::new(PEER_INDEX);
        let positions = op.attrs.get(key).and_then(|value| value.as_ints());
        let positions = positions.filter(|positions| positions.len() == entries.len());
        let rank = |at: usize| positions.map_or(i64::MAX, |positions| positions[at]);
        let mut slot = 0;
        let mut controls = FxHashSet::default();
        for (at, entry) in entries.iter().enumerate() {
            match *entry {
                Entry::Control { from } => {
                    if controls.insert(from) {
                        self.builder.control(ids[from], rank(at), node);
                    }
                }
                Entry::Empty => slot += 1,
                Entry::Data { from, index } => {
                    self.builder.edge(ids[from].output(index), rank(at), node.input(slot));
                    slot += 1;
                }
            }
        }
        let data = entries.iter().filter_map(|entry| match *entry {
            Entry::Data { from, index } => Some(Some((ops[from].name.as_ref(), index))),
            Entry::Empty => Some(None),
            Entry::Control { .. } => None,
        });
        // Control edges have no order of their own in a snapshot, so any order of theirs but one is noted.
        let mut sources: Vec<usize> = controls.into_iter().collect();
        sources.sort_unstable();
        let sources = sources.iter().map(|from| ops[*from].name.as_ref());
        let ports = op.input_desc.len().max(slot as usize);
        let expected = canonical_input(data.chain(std::iter::repeat(None)).take(ports), sources);
        if !expected.eq(op.input.iter().map(|s| s.as_ref())) {
            self.origin.inputs.insert(node, op.input.iter().map(|s| s.as_ref().into()).collect());
        }
    }

    /// Gives each graph its owner.
    fn link(&mut self, names: &[Arc<str>], offsets: &[usize], links: Vec<Link>) -> Result<()> {
        let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
        for (at, name) in names.iter().enumerate() {
            if by_name.contains_key(name.as_ref()) {
                let message = format!("two graphs are named `{name}`; nodes that name it mean the first");
                self.warn("format::duplicate-graph", message, offsets[at]);
            } else {
                by_name.insert(name, at);
            }
        }
        // The link that owns each graph.
        let mut owners: Vec<Option<&Link>> = vec![None; names.len()];
        let mut unlinked: FxHashSet<NodeId> = FxHashSet::default();
        for link in &links {
            let complaint = match by_name.get(link.name.as_ref()) {
                None => ("format::unknown-subgraph", "the file does not hold it"),
                Some(&graph) if owners[graph].is_some() => {
                    ("format::shared-subgraph", "another node owns it already")
                }
                Some(&graph) => {
                    owners[graph] = Some(link);
                    continue;
                }
            };
            let owner = &self.builder.node_mut(link.node).name;
            let message = format!("node `{owner}` names subgraph `{}`, but {}", link.name, complaint.1);
            self.warn(complaint.0, message, link.offset);
            unlinked.insert(link.node);
        }
        self.refuse_cycles(&owners)?;
        for link in &links {
            let graph = by_name.get(link.name.as_ref()).copied();
            if let Some(graph) = graph.filter(|graph| owners[*graph].is_some_and(|o| std::ptr::eq(o, link))) {
                self.builder.own(link.node, GraphId(u32::try_from(graph).unwrap_or(u32::MAX)));
            }
        }
        // The links of a node stand side by side.
        for of_node in
            links.chunk_by(|a, b| a.node == b.node).filter(|links| unlinked.contains(&links[0].node))
        {
            let detail = &mut self.builder.node_mut(of_node[0].node).detail;
            // A list with empty entries was kept before, and whole.
            if detail.as_ref().is_none_or(|detail| detail.subgraph_name.is_empty()) {
                keep_subgraph_names(detail, of_node.iter().map(|link| link.name.clone()).collect());
            }
        }
        for (at, owner) in owners.iter().enumerate().skip(1) {
            if owner.is_none() {
                let message = format!("no node owns graph `{}`", names[at]);
                self.warn("format::unused-graph", message, offsets[at]);
            }
        }
        Ok(())
    }

    /// No graph may stand inside itself, and the root inside none.
    fn refuse_cycles(&mut self, owners: &[Option<&Link>]) -> Result<()> {
        // The walk that saw each graph; a walk that meets itself goes in circles.
        let mut seen_by = vec![usize::MAX; owners.len()];
        for start in 0..owners.len() {
            let mut at = start;
            while seen_by[at] == usize::MAX {
                seen_by[at] = start;
                let Some(link) = owners[at] else { break };
                let home = link.graph.0 as usize;
                if at == 0 || seen_by[home] == start {
                    let owner = &self.builder.node_mut(link.node).name;
                    let message =
                        format!("subgraph `{}` of node `{owner}` contains that node itself", link.name);
                    return Err(self.error("format::subgraph-cycle", message, link.offset));
                }
                at = home;
            }
        }
        Ok(())
    }

    fn report_desc_mismatch(&mut self) {
        let Some((name, count, offset)) = self.desc_mismatch.take() else { return };
        let message =
            format!("`{name}` and {} more have other numbers of slots than descriptions", count - 1);
        let message = match count {
            1 => format!("`{name}` has another number of slots than descriptions"),
            _ => message,
        };
        self.warn("format::desc-count", message, offset);
    }
}

fn keep_subgraph_names(detail: &mut Option<Arc<NodeDetail>>, names: Box<[Arc<str>]>) {
    Arc::make_mut(detail.get_or_insert_default()).subgraph_name = names;
}
