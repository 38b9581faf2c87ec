//! From a snapshot to notation, in one canonical form: whatever [`parse`](super::parse) would fill in is left out.
//!
//! Unknown fields of the file that the snapshot came from have no notation; the first line tells if there were any.

mod order;
mod value;

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::build::{MOST_IMPLIED, default_output, plain, unconnected};
use super::fields::{Fields, desc_fields, graph_fields, model_fields, node_fields};
use super::origin;
use crate::graph::{AttrValue, Attrs, Extra, GraphId, NodeId, State, TensorDesc};
use order::Order;
use value::{Printer, is_word};

/// Entries that fit this many columns share a line.
const WIDTH: usize = 100;

/// The notation of all graphs of `state`.
pub fn print(state: &State) -> String {
    let order = Order::new(state);
    let mut printer = Printer::default();
    let mut text = String::new();
    let mut work = Vec::new();
    push_orphans(state, &order, &mut work);
    push_graph(state, GraphId::ROOT, 0, &mut work);
    let mut next_topo = 0;
    model(&mut printer, state, &mut text);
    // A stack of its own: a file may nest graphs deeper than threads nest calls.
    while let Some(step) = work.pop() {
        match step {
            Step::Text(part) => text.push_str(&part),
            Step::Graph { graph, indent } => {
                graph_line(&mut printer, state, &order, graph, indent, &mut text)
            }
            Step::Node { node, indent } => {
                let tail = print_node(&mut printer, state, &order, node, indent, &mut next_topo, &mut text);
                let subgraphs = &state.node(node).subgraphs;
                if subgraphs.is_empty() {
                    continue;
                }
                work.push(Step::Text(format!("{:indent$}}}{tail}\n", "")));
                for &graph in subgraphs.iter().rev() {
                    push_subgraph(state, graph, indent + 2, &mut work);
                }
            }
        }
    }
    if printer.lost {
        text.insert_str(0, "// not shown: fields or values that have no notation\n");
    }
    text
}

enum Step {
    Text(String),
    Graph { graph: GraphId, indent: usize },
    Node { node: NodeId, indent: usize },
}

/// Steps are taken from the end.
fn push_graph(state: &State, graph: GraphId, indent: usize, work: &mut Vec<Step>) {
    let start = work.len();
    work.push(Step::Graph { graph, indent });
    work.extend(state.list(graph).map(|node| Step::Node { node, indent }));
    work[start..].reverse();
}

fn push_subgraph(state: &State, graph: GraphId, indent: usize, work: &mut Vec<Step>) {
    let name = value::name(&state.graph(graph).name);
    work.push(Step::Text(format!("{:indent$}}}\n", "")));
    push_graph(state, graph, indent + 2, work);
    work.push(Step::Text(format!("{:indent$}subgraph {name} {{\n", "")));
}

fn push_orphans(state: &State, order: &Order, work: &mut Vec<Step>) {
    for &graph in order.orphans.iter().rev() {
        push_subgraph(state, graph, 0, work);
    }
}

fn model(printer: &mut Printer, state: &State, text: &mut String) {
    let model = state.model();
    printer.lose(&model.extra);
    let entries = fields_and_attrs(printer, model_fields(model), &model.attrs, "");
    if !entries.is_empty() {
        let _ = writeln!(text, "model {}", braces(&entries, 0, "model ".len()));
    }
}

fn graph_line(
    printer: &mut Printer,
    state: &State,
    order: &Order,
    graph: GraphId,
    indent: usize,
    text: &mut String,
) {
    let info = state.graph(graph);
    printer.lose(&info.extra);
    let mut fields = graph_fields(info);
    if graph == GraphId::ROOT {
        if !info.name.is_empty() {
            fields.insert(0, ("name", AttrValue::str(&info.name)));
        }
        if let Some(registry) = &order.registry {
            fields.push(("registry", AttrValue::ints(registry.iter().copied())));
        }
    }
    let entries = fields_and_attrs(printer, fields, &info.attrs, "");
    if !entries.is_empty() {
        let _ = writeln!(text, "{:indent$}graph {}", "", braces(&entries, indent, indent + "graph ".len()));
    }
}

/// Writes a node. If it owns subgraphs its braces are left open, and what goes behind them is returned.
fn print_node(
    printer: &mut Printer,
    state: &State,
    order: &Order,
    id: NodeId,
    indent: usize,
    next_topo: &mut i64,
    text: &mut String,
) -> String {
    let node = state.node(id);
    let mut line = format!("{:indent$}{}: {}", "", value::name(&node.name), value::name(node.ty.as_str()));
    let mut entries = Vec::new();
    if !node.inputs.is_empty() {
        let slots: Vec<String> = (0u32..)
            .zip(node.inputs.iter())
            .map(|(index, port)| {
                let mut slot = String::new();
                if !port.name.is_empty() {
                    slot = format!("{}=", value::name(port.name.as_str()));
                }
                slot + &source(state, order, id, index)
            })
            .collect();
        let _ = write!(line, "({})", slots.join(", "));
    }
    for from in state.control_in(id) {
        let _ = write!(line, " ^{}", value::name(&state.node(from).name));
        if let Some(rank) = order.control_ranks.get(&(from, id)) {
            let _ = write!(line, "@{rank}");
        }
    }
    let topo = state.topo_id(id);
    if topo != *next_topo {
        entries.push(format!("@id = {topo}"));
    }
    *next_topo = topo.saturating_add(1);
    let fields = node.detail.as_ref().map_or(Fields::new(), |detail| {
        printer.lose(&detail.extra);
        node_fields(detail)
    });
    entries.extend(fields_and_attrs(printer, fields, &node.attrs, ""));
    for (index, port) in (0u32..).zip(node.inputs.iter()) {
        let inherited = match state.producer(id.input(index)) {
            Some(from) => {
                let port = state.node(from.node).outputs.get(from.index as usize).cloned();
                port.map_or_else(unconnected, |p| plain(&p.desc))
            }
            None => unconnected(),
        };
        let own = plain(&port.desc);
        if own != inherited {
            entries.push(format!("in{index}: {}", value::desc(&own)));
        }
        entries.extend(port_entries(printer, &port.desc, &format!("in{index}.")));
    }
    for (index, port) in (0u32..).zip(node.outputs.iter()) {
        entries.extend(port_entries(printer, &port.desc, &format!("out{index}.")));
    }
    let tail = outputs(state, id);
    if node.subgraphs.is_empty() {
        let braces = if entries.is_empty() {
            String::new()
        } else {
            format!(" {}", braces(&entries, indent, line.len() + 1))
        };
        let _ = writeln!(text, "{line}{braces}{tail}");
    } else {
        let _ = writeln!(text, "{line} {{");
        for entry in entries {
            let _ = writeln!(text, "{:indent$}  {entry}", "");
        }
    }
    tail
}

fn source(state: &State, order: &Order, id: NodeId, index: u32) -> String {
    let Some(from) = state.producer(id.input(index)) else { return "_".to_owned() };
    let mut source = value::name(&state.node(from.node).name);
    if from.index != 0 {
        let _ = write!(source, ":{}", from.index);
    }
    if let Some(rank) = order.data_ranks.get(&id.input(index)) {
        let _ = write!(source, "@{rank}");
    }
    source
}

/// ` -> ...`, or nothing if that is what a reader would fill in.
fn outputs(state: &State, id: NodeId) -> String {
    let ports = &state.node(id).outputs;
    let used = (0..ports.len() as u32).rev().find(|&i| state.consumers(id.output(i)).next().is_some());
    let implied = used.map_or(1, |last| last + 1).min(MOST_IMPLIED);
    let default = default_output();
    if ports.len() == implied as usize
        && ports.iter().all(|p| p.name.is_empty() && *plain(&p.desc) == default)
    {
        return String::new();
    }
    if ports.is_empty() {
        return " -> none".to_owned();
    }
    let ports: Vec<String> = ports
        .iter()
        .map(|port| {
            let label =
                if port.name.is_empty() { String::new() } else { value::name(port.name.as_str()) + ": " };
            label + &value::desc(&port.desc)
        })
        .collect();
    format!(" -> {}", ports.join(", "))
}

/// Fields and attributes of a description that stands at a port.
fn port_entries(printer: &mut Printer, desc: &TensorDesc, port: &str) -> Vec<String> {
    printer.lose(&desc.extra);
    fields_and_attrs(printer, desc_fields(desc), &origin::others(desc), port)
}

fn fields_and_attrs(printer: &mut Printer, fields: Fields, attrs: &Attrs, port: &str) -> Vec<String> {
    let mut entries = Vec::with_capacity(fields.len() + attrs.entries().len());
    for (name, value) in fields {
        if let Some(value) = printer.value(&value) {
            entries.push(format!("{port}@{name} = {value}"));
        }
    }
    for (key, value) in attrs.entries() {
        if let Some(value) = printer.value(value) {
            entries.push(format!("{port}{} = {value}", key_text(key.as_str(), port)));
        }
    }
    entries
}

/// A key as it must be written: quoted where it would read as a port, a keyword or no word at all.
fn key_text(key: &str, port: &str) -> String {
    let head = key.split('.').next().unwrap_or_default();
    let digits = head.strip_prefix("in").or(head.strip_prefix("out")).unwrap_or_default();
    let is_port = port.is_empty() && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if is_word(key) && !is_port { key.to_owned() } else { value::quoted(key.as_bytes()) }
}

/// `{ a, b }` if that fits behind `column`, else one entry a line.
fn braces(entries: &[String], indent: usize, column: usize) -> String {
    let line = format!("{{ {} }}", entries.join(", "));
    if column + line.len() <= WIDTH {
        return line;
    }
    let mut block = "{\n".to_owned();
    for entry in entries {
        let _ = writeln!(block, "{:indent$}  {entry}", "");
    }
    let _ = write!(block, "{:indent$}}}", "");
    block
}

impl Printer {
    fn lose(&mut self, extra: &Extra) {
        self.lost |= !extra.is_empty();
    }
}

/// Ranks of edges whose order the text order does not give.
type Ranks<K> = FxHashMap<K, usize>;
