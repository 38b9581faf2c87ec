//! What anchors demand of the memory that they share, told without any rule: a place cannot be in two kinds of memory, in two blocks, or in
//! a block and somewhere fixed; nor may somebody else move it who cannot tell a node that keeps its address.

use std::collections::{BTreeMap, BTreeSet};

use anchorwatch::graph::{GraphId, NodeId, Snapshot, Sym};

use crate::cells::{self, Cells, Semantics, flag, inputs, is};

/// What is wrong with each place, in words that name the nodes.
pub fn violations(graph: &Snapshot, addresses_move: bool) -> BTreeSet<String> {
    let cells = Cells::new(graph, Semantics::Memory, &|_| 0);
    let mut places: BTreeMap<usize, Vec<Demand>> = BTreeMap::new();
    for node in graph.all_nodes(GraphId::ROOT) {
        for index in 0..graph.node(node).outputs.len() as u32 {
            let place = cells.at(node.output(index));
            places.entry(place).or_default().extend(demands(graph, node, index, false));
        }
        for input in inputs(graph, node) {
            if let Some(producer) = graph.producer(input) {
                places.entry(cells.at(producer)).or_default().extend(demands(graph, node, input.index, true));
            }
        }
    }
    places.values().flat_map(|demands| clashes(demands, addresses_move)).collect()
}

#[derive(Clone, Debug, PartialEq)]
enum Demand {
    /// Memory of a special kind, or the ordinary kind.
    Kind(i64, String),
    /// Part of the inputs or outputs of a node that lie side by side.
    Block(NodeId, bool, String),
    /// A place of its own: a constant, a variable.
    Fixed(String),
    Constant(String),
    UserInput(String),
    UserOutput(String),
    /// Cannot be told a new address.
    Stubborn(NodeId, String),
    /// Any node at all, for those who cannot be told.
    Somebody(NodeId, String),
}

fn demands(graph: &Snapshot, node: NodeId, index: u32, read: bool) -> Vec<Demand> {
    let name = graph.node(node).name.to_string();
    let root = cells::parent(graph, node).is_none();
    let list = if read { "_input_memory_type" } else { "_output_memory_type" };
    let listed = graph.node(node).attr(Sym::new(list)).and_then(|value| value.as_ints().map(<[i64]>::to_vec));
    let kind = listed.and_then(|kinds| kinds.get(index as usize).copied()).unwrap_or(0);
    let ports = if read { graph.node(node).inputs.len() } else { graph.node(node).outputs.len() };
    let attrs = if read {
        ["continuous_input", "_no_padding_continuous_input"]
    } else {
        ["continuous_output", "_no_padding_continuous_output"]
    };
    let mut all = Vec::new();
    if ![0, 2, 4].contains(&kind) {
        all.push(Demand::Kind(kind, name.clone()));
    } else if ports > 1 && attrs.iter().any(|attr| flag(graph, node, attr)) {
        all.push(Demand::Kind(0, name.clone()));
    }
    if ports > 1 && attrs.iter().any(|attr| flag(graph, node, attr)) {
        all.push(Demand::Block(node, read, name.clone()));
    }
    let user = root
        && if read {
            is(graph, node, &["NetOutput"])
        } else {
            is(graph, node, &["Data", "RefData", "AippData", "AnnData"])
        };
    match (read, user) {
        (true, true) => all.push(Demand::UserOutput(name.clone())),
        (false, true) => all.push(Demand::UserInput(name.clone())),
        _ => {}
    }
    if !read && cells::is_constant(graph, node) {
        all.push(Demand::Constant(name.clone()));
    }
    if !read && cells::is_lasting(graph, node) && !user {
        all.push(Demand::Fixed(name.clone()));
    }
    if user || !read && cells::is_lasting(graph, node) {
        all.push(Demand::Kind(0, name.clone()));
    }
    let library = graph
        .node(node)
        .attr(Sym::new("_ge_attr_op_kernel_lib_name"))
        .and_then(|value| value.as_str().map(str::to_owned));
    if is(graph, node, &["StreamSwitch", "LabelSwitchByIndex"])
        || matches!(library.as_deref(), Some("ops_kernel_info_hccl" | "DNN_VM_CUSTOM_OP_STORE"))
    {
        all.push(Demand::Stubborn(node, name.clone()));
    }
    if !is(graph, node, &["Identity"]) {
        all.push(Demand::Somebody(node, name));
    }
    all
}

fn clashes(demands: &[Demand], addresses_move: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, a) in demands.iter().enumerate() {
        for b in demands.iter().skip(at + 1) {
            let told = match (a, b) {
                (Demand::Kind(k, x), Demand::Kind(l, y)) if k != l => {
                    Some(format!("kinds of memory of {x} and {y}"))
                }
                (Demand::Block(n, r, x), Demand::Block(m, s, y)) if (n, r) != (m, s) => {
                    Some(format!("blocks of {x} and {y}"))
                }
                (Demand::Block(_, _, x), Demand::Fixed(y) | Demand::UserInput(y) | Demand::UserOutput(y))
                | (Demand::Fixed(y) | Demand::UserInput(y) | Demand::UserOutput(y), Demand::Block(_, _, x)) => {
                    Some(format!("block of {x} and place of {y}"))
                }
                (Demand::Constant(x), Demand::UserOutput(y))
                | (Demand::UserOutput(y), Demand::Constant(x)) => {
                    Some(format!("constant {x} handed to the user by {y}"))
                }
                (Demand::Stubborn(_, x), Demand::UserInput(y) | Demand::UserOutput(y))
                | (Demand::UserInput(y) | Demand::UserOutput(y), Demand::Stubborn(_, x)) => {
                    Some(format!("address of {x} and user's {y}"))
                }
                (Demand::Stubborn(n, x), Demand::Somebody(m, y))
                | (Demand::Somebody(m, y), Demand::Stubborn(n, x))
                    if addresses_move && n != m =>
                {
                    Some(format!("address of {x} moves with {y}"))
                }
                _ => None,
            };
            found.extend(told);
        }
    }
    found
}
