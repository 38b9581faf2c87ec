//! From a snapshot back to messages (`graph_formats.md` 8).
//!
//! Promise: a node whose edges are those of the file comes out as it came in; a node with other edges gets a fresh
//! `input` list and loses or renews what was derived from the old one. "Other" is decided by comparing what is
//! derived from the file's own snapshot with what is derived from this one, so no pass has to keep books.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::assemble::Origin;
use super::edges::{PEER_INDEX, canonical_input, data_text};
use super::message::{GraphMsg, ModelMsg, OpMsg, Text};
use super::port_names::{Direction, with_names};
use crate::graph::{
    AttrValue, Extra, GraphId, Input, ListItems, ListValue, Node, NodeDetail, NodeId, Output, Ports,
    Snapshot, Sym, TensorDesc,
};

/// The messages of `now`. `before` is the snapshot as loaded, with what the reader noted.
pub fn disassemble<'s>(now: &'s Snapshot, before: Option<(&'s Snapshot, &'s Origin)>) -> ModelMsg<'s> {
    let model = now.model();
    let untouched = before.is_some_and(|(snapshot, _)| snapshot == now);
    let uses_positions = before.is_none_or(|(snapshot, _)| {
        let key = Sym::new(PEER_INDEX);
        snapshot.nodes_by_id().any(|(_, node)| node.attrs.contains(key))
    });
    let view = |snapshot: &'s Snapshot| View { snapshot, positions: positions(snapshot) };
    let writer = Writer {
        origin: before.map(|(_, origin)| origin),
        before: before.filter(|_| !untouched).map(|(snapshot, _)| view(snapshot)),
        now: View { snapshot: now, positions: if untouched { FxHashMap::default() } else { positions(now) } },
        untouched,
        uses_positions,
    };
    ModelMsg {
        name: Cow::Borrowed(&model.name),
        version: model.version,
        custom_version: Cow::Borrowed(&model.custom_version),
        graphs: graph_order(now).into_iter().map(|graph| writer.graph(graph)).collect(),
        attrs: model.attrs.clone(),
        extra: model.extra.clone(),
    }
}

/// The root, then subgraphs in registry order, then any that no registry lists.
fn graph_order(snapshot: &Snapshot) -> Vec<GraphId> {
    let mut order = vec![GraphId::ROOT];
    let mut listed: FxHashSet<GraphId> = order.iter().copied().collect();
    let registry = snapshot.registry();
    for graph in registry.chain(snapshot.graphs_by_id().map(|(id, _)| id)) {
        if snapshot.get_graph(graph).is_some() && listed.insert(graph) {
            order.push(graph);
        }
    }
    order
}

/// Position of each edge among the consumers of its output, and of each control edge among its source's.
type Positions = FxHashMap<Consumer, i64>;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Consumer {
    Data(Input),
    Control(NodeId, NodeId),
}

fn positions(snapshot: &Snapshot) -> Positions {
    let mut positions = Positions::default();
    for (id, node) in snapshot.nodes_by_id() {
        for index in 0..node.outputs.len() as u32 {
            let consumers = snapshot.consumers(id.output(index)).map(Consumer::Data);
            positions.extend(consumers.zip(0..));
        }
        positions.extend(snapshot.control_out(id).map(|to| Consumer::Control(id, to)).zip(0..));
    }
    positions
}

/// A snapshot with what is derived from it.
struct View<'s> {
    snapshot: &'s Snapshot,
    positions: Positions,
}

impl<'s> View<'s> {
    fn node(&self, id: NodeId) -> Option<&'s Arc<Node>> {
        self.snapshot.get_node(id)
    }

    fn producers(&self, id: NodeId, node: &Node) -> Vec<Option<Output>> {
        (0..node.inputs.len() as u32).map(|index| self.snapshot.producer(id.input(index))).collect()
    }

    /// Control predecessors in the order in which GE's nodes stand.
    fn controls(&self, id: NodeId) -> Vec<NodeId> {
        let mut from: Vec<NodeId> = self.snapshot.control_in(id).collect();
        from.sort_unstable();
        from
    }

    fn name(&self, id: NodeId) -> &'s str {
        self.node(id).map_or("", |node| &node.name)
    }

    /// The `input` list that the edges give.
    fn input(&self, id: NodeId, node: &Node) -> Vec<Text<'s>> {
        let producers = self.producers(id, node);
        let data = producers.iter().map(|from| from.map(|from| (self.name(from.node), from.index)));
        let controls = self.controls(id);
        canonical_input(data, controls.iter().map(|from| self.name(*from))).collect()
    }

    /// The position list that the edges give, in step with [`View::input`].
    fn position_list(&self, id: NodeId, node: &Node) -> Vec<i64> {
        let of = |consumer: Consumer| self.positions.get(&consumer).copied().unwrap_or(-1);
        let data = (0..node.inputs.len() as u32).map(|index| of(Consumer::Data(id.input(index))));
        let controls = self.controls(id);
        data.chain(controls.iter().map(|from| of(Consumer::Control(*from, id)))).collect()
    }

    /// The consumers of all outputs by name, in edge order.
    fn consumers(&self, id: NodeId, node: &Node) -> Vec<(&'s str, u32)> {
        let outputs =
            (0..node.outputs.len() as u32).flat_map(|index| self.snapshot.consumers(id.output(index)));
        let data = outputs.map(|to| (self.name(to.node), to.index));
        data.chain(self.snapshot.control_out(id).map(|to| (self.name(to), u32::MAX))).collect()
    }
}

struct Writer<'s> {
    now: View<'s>,
    /// The snapshot as loaded, unless this is the very same.
    before: Option<View<'s>>,
    origin: Option<&'s Origin>,
    untouched: bool,
    /// Whether the file keeps consumer positions; so does one that is written for the first time.
    uses_positions: bool,
}

impl<'s> Writer<'s> {
    fn graph(&self, id: GraphId) -> GraphMsg<'s> {
        let graph = self.now.snapshot.graph(id);
        GraphMsg {
            name: Cow::Borrowed(&graph.name),
            input: self.graph_ends(id, &graph.inputs),
            output: self.graph_ends(id, &graph.outputs),
            ops: self.now.snapshot.list(id).map(|node| self.op(node)).collect(),
            attrs: graph.attrs.clone(),
            extra: graph.extra.clone(),
            offset: 0,
        }
    }

    /// `GraphDef.input` or `output`, without the nodes that are gone: an output moves to what now feeds the
    /// reader that the old one had.
    fn graph_ends(&self, id: GraphId, ends: &'s [Arc<str>]) -> Vec<Text<'s>> {
        let all = || ends.iter().map(|end| Cow::Borrowed(end.as_ref()));
        let Some(before) = self.before.as_ref().filter(|_| !ends.is_empty()) else { return all().collect() };
        if before.snapshot.get_graph(id).is_none() {
            return all().collect();
        }
        let old: FxHashMap<&str, NodeId> =
            before.snapshot.list(id).map(|node| (before.name(node), node)).collect();
        let replace = |end: &'s Arc<str>| {
            let split =
                end.rsplit_once(':').and_then(|(name, index)| Some((name, index.parse::<u32>().ok()?)));
            let found = split.and_then(|(name, index)| Some((*old.get(name)?, index)));
            let Some((node, index)) = found else { return Some(Cow::Borrowed(end.as_ref())) };
            if let Some(node) = self.now.node(node) {
                let unchanged = end.strip_suffix(&format!(":{index}")) == Some(&node.name);
                return Some(match unchanged {
                    true => Cow::Borrowed(end.as_ref()),
                    false => Cow::Owned(data_text(&node.name, index)),
                });
            }
            let readers = before.snapshot.consumers(node.output(index));
            let from = readers
                .filter(|r| self.now.node(r.node).is_some())
                .find_map(|r| self.now.snapshot.producer(r))?;
            Some(Cow::Owned(data_text(self.now.name(from.node), from.index)))
        };
        ends.iter().filter_map(replace).collect()
    }

    fn op(&self, id: NodeId) -> OpMsg<'s> {
        let node = self.now.snapshot.node(id);
        let old = self.before.as_ref().and_then(|before| Some((before, before.node(id)?)));
        let detail = node.detail.as_deref();
        let fresh = || self.now.input(id, node);
        let as_read = || match self.origin.and_then(|origin| origin.inputs.get(&id)) {
            Some(input) => input.iter().map(|text| Cow::Borrowed(text.as_ref())).collect(),
            None => fresh(),
        };
        let descs = |ports: &Ports, count: Option<u32>| -> Vec<Arc<TensorDesc>> {
            let count = count.map_or(ports.len(), |count| count as usize);
            ports.iter().take(count).map(|port| port.desc.clone()).collect()
        };
        let mut op = OpMsg {
            name: Cow::Borrowed(&node.name),
            ty: node.ty,
            input: if self.untouched { as_read() } else { fresh() },
            attrs: node.attrs.clone(),
            id: self.now.snapshot.topo_id(id),
            input_desc: descs(&node.inputs, detail.and_then(|d| d.input_desc_count)),
            output_desc: descs(&node.outputs, detail.and_then(|d| d.output_desc_count)),
            subgraph_name: self.subgraph_names(node),
            detail: node.detail.clone(),
            offset: 0,
        };
        if self.untouched {
            return op;
        }
        match old {
            Some((before, old)) => {
                self.renew_ports(&mut op, node, old);
                self.renew_edges(&mut op, id, node, (before, old), as_read);
                self.renew_consumers(&mut op, id, node, (before, old));
            }
            None => {
                for (direction, ports) in [(Direction::In, &node.inputs), (Direction::Out, &node.outputs)] {
                    if !direction.is_named(&op.attrs) {
                        op.attrs = with_names(&op.attrs, direction, ports);
                    }
                }
                self.set_positions(&mut op, id, node);
            }
        }
        op
    }

    /// Slots that came or went: name lists and counts of descriptions follow.
    fn renew_ports(&self, op: &mut OpMsg<'s>, node: &Node, old: &Node) {
        let sides =
            [(Direction::In, &node.inputs, &old.inputs), (Direction::Out, &node.outputs, &old.outputs)];
        for (direction, ports, old) in sides {
            if ports.len() == old.len() {
                continue;
            }
            if direction.is_named(&op.attrs) {
                op.attrs = with_names(&op.attrs, direction, ports);
            }
            let descs = ports.iter().map(|port| port.desc.clone()).collect();
            match direction {
                Direction::In => op.input_desc = descs,
                Direction::Out => op.output_desc = descs,
            }
        }
    }

    /// What is derived from the producers: kept if the same is derived from the file's own snapshot.
    fn renew_edges(
        &self,
        op: &mut OpMsg<'s>,
        id: NodeId,
        node: &Node,
        (before, old): (&View<'s>, &Node),
        as_read: impl Fn() -> Vec<Text<'s>>,
    ) {
        let same_edges = op.input == before.input(id, old);
        if same_edges {
            op.input = as_read();
        }
        let same_positions = self.now.position_list(id, node) == before.position_list(id, old);
        if same_edges && same_positions {
            return;
        }
        if op.attrs.contains(Sym::new(PEER_INDEX)) || self.uses_positions {
            op.input = self.now.input(id, node);
            self.set_positions(op, id, node);
        }
        if same_edges {
            return;
        }
        let slots_changed = node.inputs.len() != old.inputs.len();
        let stale = |detail: &NodeDetail| {
            let by_slot = !(detail.input_name.is_empty()
                && detail.input_i.is_empty()
                && detail.const_inputs.is_empty());
            !detail.src_name.is_empty() || !detail.src_index.is_empty() || slots_changed && by_slot
        };
        if let Some(detail) = op.detail.as_mut().filter(|detail| stale(detail)) {
            let detail = Arc::make_mut(detail);
            detail.src_name = Box::default();
            detail.src_index = Box::default();
            if slots_changed {
                detail.input_name = Box::default();
                detail.input_i = Box::default();
                detail.const_inputs = Box::default();
            }
        }
    }

    /// What is derived from the consumers.
    fn renew_consumers(
        &self,
        op: &mut OpMsg<'s>,
        id: NodeId,
        node: &Node,
        (before, old): (&View<'s>, &Node),
    ) {
        let stale = |detail: &NodeDetail| !detail.dst_name.is_empty() || !detail.dst_index.is_empty();
        let Some(detail) = op.detail.as_mut().filter(|detail| stale(detail)) else { return };
        if self.now.consumers(id, node) != before.consumers(id, old) {
            let detail = Arc::make_mut(detail);
            detail.dst_name = Box::default();
            detail.dst_index = Box::default();
        }
    }

    fn set_positions(&self, op: &mut OpMsg<'s>, id: NodeId, node: &Node) {
        let key = Sym::new(PEER_INDEX);
        op.attrs = match self.uses_positions && !op.input.is_empty() {
            true => op.attrs.with(key, position_value(self.now.position_list(id, node))),
            false => op.attrs.without(key),
        };
    }

    /// Names as written, if they say more than the links.
    fn subgraph_names(&self, node: &'s Node) -> Vec<Text<'s>> {
        let name =
            |graph: &GraphId| self.now.snapshot.get_graph(*graph).map(|graph| Cow::Borrowed(&*graph.name));
        let linked: Vec<Text<'s>> = node.subgraphs.iter().filter_map(name).collect();
        let written = node.detail.as_deref().map_or(&[][..], |detail| &detail.subgraph_name);
        if written.is_empty() {
            return linked;
        }
        let known: FxHashSet<&str> = written.iter().map(|name| &**name).collect();
        match linked.iter().all(|name| known.contains(&**name)) {
            true => written.iter().map(|name| Cow::Borrowed(&**name)).collect(),
            false => linked,
        }
    }
}

/// The list has no `val_type`.
fn position_value(positions: Vec<i64>) -> AttrValue {
    let items = ListItems::Int(positions.into());
    AttrValue::List(Arc::new(ListValue { val_type: 0, items, extra: Extra::default() }))
}
