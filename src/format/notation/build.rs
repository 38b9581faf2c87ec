//! From items to a snapshot: names become nodes, ports get their descriptions.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::fields::{
    GRAPH_FIELDS, MODEL_FIELDS, NODE_FIELDS, Refused, set_graph_field, set_model_field, set_node_field,
};
use super::syntax::{Entry, EntryValue, Name, NodeItem, Part, Reader, Slot, Subgraph, Target};
use super::value::and_more;
use super::{Complaint, DEFAULT_LAYOUT, UNCONNECTED_LAYOUT, codes, names, origin, scan};
use crate::graph::{
    AttrValue, Attrs, Builder, GraphId, GraphInfo, ModelInfo, Node, NodeDetail, NodeId, Port, Ports,
    Snapshot, Sym, TensorDesc,
};

/// Outputs that a consumer may imply. More must be written, so that a slip of the pen costs no memory.
pub(super) const MOST_IMPLIED: u32 = 1024;

/// The graph of `text` and all complaints in text order.
pub(super) fn build(text: &str) -> (Option<Snapshot>, Vec<Complaint>) {
    let mut reader = Reader::new(text);
    if !scan::check_brackets(text, &mut reader.complaints) {
        return (None, reader.complaints.into_sorted());
    }
    let mut builder = Build {
        reader,
        builder: Builder::new(ModelInfo::default()),
        graphs: 0,
        next_topo: 0,
        model: ModelInfo::default(),
        registry: None,
        controls: Vec::new(),
    };
    // Editors put a mark of the encoding there.
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    builder.graph("".into(), start..text.len(), None);
    let snapshot = builder.finish();
    (Some(snapshot.0), snapshot.1)
}

struct Build<'t> {
    reader: Reader<'t>,
    builder: Builder,
    graphs: u32,
    next_topo: i64,
    model: ModelInfo,
    /// Positions in text order, and where they are written.
    registry: Option<(Vec<i64>, Range<usize>)>,
    controls: Vec<(i64, NodeId, NodeId)>,
}

/// A node whose ports are still to come.
struct Local {
    id: NodeId,
    item: NodeItem,
}

/// The part of a description that a port takes from elsewhere, and what entries add.
#[derive(Default)]
struct PortEntries {
    whole: Option<TensorDesc>,
    attrs: Vec<(Sym, AttrValue)>,
    fields: Vec<(String, AttrValue, Range<usize>)>,
}

impl Build<'_> {
    /// Adds the graph written in `body`, and what it holds.
    fn graph(&mut self, name: Arc<str>, body: Range<usize>, owner: Option<NodeId>) -> GraphId {
        let is_root = self.graphs == 0;
        let block = self.reader.block(body);
        let mut info = GraphInfo::named(name);
        self.graph_entries(&mut info, block.graph, is_root);
        self.model_entries(block.model, is_root);
        let graph = self.builder.graph(info);
        self.graphs += 1;
        if let Some(owner) = owner {
            self.builder.own(owner, graph);
        }
        let mut known: FxHashMap<Arc<str>, Option<usize>> =
            block.broken.into_iter().map(|n| (n, None)).collect();
        let mut locals: Vec<Local> = Vec::with_capacity(block.nodes.len());
        for mut item in block.nodes {
            if let Some(Some(first)) = known.get(&item.name.text) {
                let first: &Local = &locals[*first];
                let help =
                    format!("names are unique inside one graph; the other is of type `{}`", first.item.kind);
                let message = format!("a second node is called `{}`", item.name.text);
                self.reader.complain_with(codes::DUPLICATE, item.name.span, message, help);
                continue;
            }
            let subgraphs = std::mem::take(&mut item.subgraphs);
            let id = self.node(graph, &mut item);
            known.insert(item.name.text.clone(), Some(locals.len()));
            locals.push(Local { id, item });
            for Subgraph { name, body } in subgraphs {
                self.graph(name.text, body, Some(id));
            }
        }
        self.connect(&known, &mut locals);
        for Subgraph { name, body } in block.subgraphs {
            if is_root {
                self.graph(name.text, body, None);
            } else {
                let message = format!("no node owns the subgraph `{}`", name.text);
                let help = "write it inside the braces of its node".to_owned();
                self.reader.complain_with(codes::ENTRY, name.span, message, help);
            }
        }
        graph
    }

    /// Adds a node without ports.
    fn node(&mut self, graph: GraphId, item: &mut NodeItem) -> NodeId {
        let mut attrs = Vec::new();
        let mut detail = NodeDetail::default();
        let mut has_detail = false;
        let mut ports = Vec::new();
        for entry in std::mem::take(&mut item.entries) {
            match (entry.target, entry.value) {
                (Target::Key(key), EntryValue::Value(value)) => attrs.push((key, value)),
                (Target::Field(field), EntryValue::Value(value)) if field == "id" => match value.as_int() {
                    Some(id) => self.next_topo = id,
                    None => drop(self.reader.refuse(
                        Err(Refused::Wants("an integer")),
                        &field,
                        &NODE_FIELDS,
                        entry.span,
                    )),
                },
                (Target::Field(field), EntryValue::Value(value)) => {
                    let result = set_node_field(&mut detail, &field, &value);
                    has_detail |= result.is_ok();
                    self.reader.refuse(result, &field, &NODE_FIELDS, entry.span);
                }
                (target, value) => ports.push(Entry { target, value, span: entry.span }),
            }
        }
        item.entries = ports;
        let node = Node {
            attrs: Attrs::from_entries(attrs),
            detail: has_detail.then(|| Arc::new(detail)),
            ..Node::new(item.name.text.clone(), item.kind, graph)
        };
        let id = self.builder.node(node, self.next_topo);
        self.next_topo = self.next_topo.saturating_add(1);
        id
    }

    /// Resolves the inputs and control edges of one graph and gives its nodes their ports.
    fn connect(&mut self, known: &FxHashMap<Arc<str>, Option<usize>>, locals: &mut [Local]) {
        let mut sources: Vec<Vec<Option<usize>>> = Vec::with_capacity(locals.len());
        let mut implied: Vec<u32> = vec![1; locals.len()];
        for at in 0..locals.len() {
            let slots = &locals[at].item.slots;
            let mut row = Vec::with_capacity(slots.len());
            for slot in slots {
                let source = slot.producer.as_ref().and_then(|p| resolve(&mut self.reader, known, p));
                let source = source.filter(|s| self.has_output(&locals[*s], slot));
                if let Some(source) = source {
                    implied[source] = implied[source].max(slot.index + 1);
                }
                row.push(source);
            }
            sources.push(row);
            for (name, rank) in &locals[at].item.controls {
                if let Some(from) = resolve(&mut self.reader, known, name) {
                    self.controls.push((rank.unwrap_or(i64::MAX), locals[from].id, locals[at].id));
                }
            }
        }
        let mut entries: Vec<FxHashMap<(bool, u32), PortEntries>> = Vec::with_capacity(locals.len());
        for (local, implied) in locals.iter_mut().zip(&implied) {
            let mut ports = self.port_entries(local);
            let outputs = self.outputs(local, *implied, &mut ports);
            self.builder.node_mut(local.id).outputs = outputs;
            entries.push(ports);
        }
        for ((local, row), mut ports) in locals.iter().zip(&sources).zip(entries) {
            let mut inputs = Vec::with_capacity(row.len());
            for ((slot, source), index) in local.item.slots.iter().zip(row).zip(0u32..) {
                let mut inherited = unconnected();
                if let Some(source) = source {
                    let output = locals[*source].id.output(slot.index);
                    self.builder.edge(output, slot.rank.unwrap_or(i64::MAX), local.id.input(index));
                    let producer = self.builder.node_mut(output.node);
                    inherited =
                        producer.outputs.get(slot.index as usize).map_or(inherited, |p| plain(&p.desc));
                }
                let desc = self.described(inherited, ports.remove(&(true, index)));
                inputs.push(Port { name: label(slot.label.as_ref()), desc });
            }
            self.builder.node_mut(local.id).inputs = inputs.into_iter().collect();
        }
    }

    /// Whether the producer of `slot` has the output, or may have it.
    fn has_output(&mut self, producer: &Local, slot: &Slot) -> bool {
        let name = &producer.item.name.text;
        let (count, help) = match &producer.item.outputs {
            Some(outputs) => (outputs.len(), "outputs are listed behind `->` and numbered from 0"),
            None => (MOST_IMPLIED as usize, "write the outputs of a node with so many behind `->`"),
        };
        let exists = (slot.index as usize) < count;
        if !exists {
            let message = match &producer.item.outputs {
                Some(_) => missing(name, "output", slot.index, count),
                None => format!("`{name}` has no output {}: it does not list its outputs", slot.index),
            };
            self.reader.complain_with(codes::PORT, slot.span.clone(), message, help.to_owned());
        }
        exists
    }

    /// The entries about ports, by port.
    fn port_entries(&mut self, local: &mut Local) -> FxHashMap<(bool, u32), PortEntries> {
        let mut ports: FxHashMap<(bool, u32), PortEntries> = FxHashMap::default();
        for entry in std::mem::take(&mut local.item.entries) {
            let Target::Port { is_input, index, part } = entry.target else { continue };
            let slots = local.item.slots.len();
            let (count, what) = match (is_input, &local.item.outputs) {
                (true, _) => (slots, "input"),
                (false, Some(outputs)) => (outputs.len(), "output"),
                (false, None) => (MOST_IMPLIED as usize, "output"),
            };
            if index as usize >= count {
                let message = missing(&local.item.name.text, what, index, count);
                self.reader.complain(codes::PORT, entry.span, message);
                continue;
            }
            let port = ports.entry((is_input, index)).or_default();
            match (part, entry.value) {
                (Part::Key(key), EntryValue::Value(value)) => port.attrs.push((key, value)),
                (Part::Field(field), EntryValue::Value(value)) => {
                    port.fields.push((field, value, entry.span))
                }
                (_, EntryValue::Desc(desc)) => port.whole = Some(desc),
                (Part::Whole, EntryValue::Value(_)) => {}
            }
        }
        ports
    }

    fn outputs(
        &mut self,
        local: &mut Local,
        implied: u32,
        entries: &mut FxHashMap<(bool, u32), PortEntries>,
    ) -> Ports {
        let written = local.item.outputs.as_ref().map(|outputs| {
            outputs.iter().map(|o| (label(o.label.as_ref()), Arc::new(o.desc.clone()))).collect::<Vec<_>>()
        });
        let written = written.unwrap_or_else(|| {
            let used = entries.keys().filter(|(is_input, _)| !is_input).map(|(_, index)| index + 1).max();
            let desc = Arc::new(default_output());
            vec![(Sym::default(), desc); implied.max(used.unwrap_or(0)) as usize]
        });
        let ports = written.into_iter().zip(0u32..).map(|((name, desc), index)| Port {
            name,
            desc: self.described(desc, entries.remove(&(false, index))),
        });
        ports.collect()
    }

    fn described(&mut self, base: Arc<TensorDesc>, entries: Option<PortEntries>) -> Arc<TensorDesc> {
        let Some(entries) = entries else { return base };
        let mut desc = entries.whole.unwrap_or_else(|| (*base).clone());
        desc.attrs = and_more(desc.attrs, entries.attrs);
        for (field, value, span) in entries.fields {
            self.reader.set_desc_field(&mut desc, &field, &value, span);
        }
        Arc::new(desc)
    }

    fn graph_entries(&mut self, info: &mut GraphInfo, entries: Vec<Entry>, is_root: bool) {
        let mut attrs = Vec::new();
        for entry in entries {
            match (entry.target, entry.value) {
                (Target::Key(key), EntryValue::Value(value)) => attrs.push((key, value)),
                (Target::Field(field), EntryValue::Value(value)) => {
                    let registry = value.as_ints().filter(|_| is_root && field == "registry");
                    if let Some(registry) = registry {
                        self.registry = Some((registry.to_vec(), entry.span));
                        continue;
                    }
                    let result = set_graph_field(info, &field, &value);
                    self.reader.refuse(result, &field, &GRAPH_FIELDS, entry.span);
                }
                _ => self.reader.complain(codes::ENTRY, entry.span, "a graph has no ports".to_owned()),
            }
        }
        info.attrs = Attrs::from_entries(attrs);
    }

    fn model_entries(&mut self, entries: Vec<Entry>, is_root: bool) {
        let mut attrs = Vec::new();
        for entry in entries {
            match (entry.target, entry.value) {
                _ if !is_root => {
                    let message = "only the outermost graph tells about the model".to_owned();
                    self.reader.complain(codes::ENTRY, entry.span, message);
                }
                (Target::Key(key), EntryValue::Value(value)) => attrs.push((key, value)),
                (Target::Field(field), EntryValue::Value(value)) => {
                    let result = set_model_field(&mut self.model, &field, &value);
                    self.reader.refuse(result, &field, &MODEL_FIELDS, entry.span);
                }
                _ => self.reader.complain(codes::ENTRY, entry.span, "a model has no ports".to_owned()),
            }
        }
        if is_root {
            self.model.attrs = Attrs::from_entries(attrs);
        }
    }

    /// The snapshot with control edges, registry and model.
    fn finish(mut self) -> (Snapshot, Vec<Complaint>) {
        let snapshot = self.builder.finish();
        let mut edit = snapshot.edit();
        // One order over all control edges: it gives both the order at the source and that at the target.
        self.controls.sort_by_key(|(rank, ..)| *rank);
        for (_, from, to) in self.controls {
            edit.add_control(from, to);
        }
        if let Some((order, span)) = self.registry {
            let seen: FxHashSet<i64> = order.iter().copied().collect();
            let count = i64::from(self.graphs) - 1;
            let is_order = order.len() as i64 == count && seen.len() == order.len();
            if is_order && order.iter().all(|i| (0..count).contains(i)) {
                edit.set_registry(order.iter().map(|i| GraphId(*i as u32 + 1)).collect());
            } else {
                let message = format!("`@registry` must list each number below {count} once");
                let help = "subgraphs are numbered from 0 as the text lists them".to_owned();
                self.reader.complain_with(codes::VALUE, span, message, help);
            }
        }
        if self.model != ModelInfo::default() {
            edit.update_model(|model| *model = self.model);
        }
        (edit.finish(&snapshot), self.reader.complaints.into_sorted())
    }
}

/// Names that are looked at to suggest some, all complaints together.
const MOST_COMPARED: usize = 1 << 19;

/// The node called `name`, or a complaint. A node that could not be read brings no second complaint.
fn resolve(
    reader: &mut Reader<'_>,
    known: &FxHashMap<Arc<str>, Option<usize>>,
    name: &Name,
) -> Option<usize> {
    if let Some(found) = known.get(&name.text) {
        return *found;
    }
    // Looking for the nearest name costs a walk over all; in a large graph only the first complaints get it.
    let compared = reader.complaints.list.len().saturating_mul(known.len());
    let near = if reader.complaints.is_full() || compared > MOST_COMPARED {
        None
    } else {
        let mut all: Vec<&str> = known.keys().map(|n| &**n).collect();
        all.sort_unstable();
        names::nearest(&name.text, all)
    };
    let message = format!("this graph has no node `{}`", name.text);
    match near {
        Some(near) => {
            reader.complain_with(codes::NODE, name.span.clone(), message, format!("did you mean `{near}`?"));
        }
        None => reader.complain(codes::NODE, name.span.clone(), message),
    }
    None
}

fn missing(name: &str, what: &str, index: u32, count: usize) -> String {
    match count.checked_sub(1) {
        Some(last) => format!("`{name}` has no {what} {index}: its last is {last}"),
        None => format!("`{name}` has no {what}s"),
    }
}

fn label(name: Option<&Name>) -> Sym {
    name.map_or_else(Sym::default, |n| Sym::new(&n.text))
}

/// What an output says that nothing describes.
pub(super) fn default_output() -> TensorDesc {
    TensorDesc {
        dtype: 1,
        shape: Some([1].into()),
        layout: Sym::new(DEFAULT_LAYOUT),
        ..TensorDesc::default()
    }
}

/// What an input says that has no producer.
pub(super) fn unconnected() -> Arc<TensorDesc> {
    let layout = Sym::new(UNCONNECTED_LAYOUT);
    Arc::new(TensorDesc { shape: Some([].into()), layout, ..TensorDesc::default() })
}

/// Type, shape and format alone, and those of the model: what an input takes from its producer.
pub(super) fn plain(desc: &Arc<TensorDesc>) -> Arc<TensorDesc> {
    let attrs = origin::of(desc)
        .map_or_else(Attrs::default, |(dims, format)| origin::set(&Attrs::default(), dims, format));
    let plain = TensorDesc {
        dtype: desc.dtype,
        shape: desc.shape.clone(),
        layout: desc.layout,
        attrs,
        ..TensorDesc::default()
    };
    if plain == **desc { desc.clone() } else { Arc::new(plain) }
}
