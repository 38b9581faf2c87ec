//! How the inputs and outputs of a graph inside a node relate to those of the node (`graph_formats.md` 7.2).

use super::proto;

/// For each input and output of the graph the slot of the node that is the same buffer, if there is one.
pub(super) struct Binding {
    pub inputs: Vec<Option<i64>>,
    pub outputs: Vec<Option<i64>>,
}

impl Binding {
    /// Slot i is slot i.
    pub fn one_to_one(inputs: usize, outputs: usize) -> Binding {
        Binding {
            inputs: (0..inputs as i64).map(Some).collect(),
            outputs: (0..outputs as i64).map(Some).collect(),
        }
    }

    fn none() -> Binding {
        Binding { inputs: Vec::new(), outputs: Vec::new() }
    }
}

/// The graphs of a node in instance order, which is that of the operator, not that of the file.
pub(super) fn instances<'n, 'a>(node: &'n proto::Node<'a>) -> Vec<(&'a str, &'n proto::Graph<'a>)> {
    let mut graphs = node.graphs();
    if node.op == "If" && node.domain.is_empty() {
        graphs.sort_by_key(|(attribute, _)| *attribute != "then_branch");
    }
    graphs
}

/// The binding of one graph of `node`. An operator that is not known to bind its graph binds nothing: each
/// buffer on the inside is then another one than any on the outside.
pub(super) fn binding(node: &proto::Node<'_>, graph: &proto::Graph<'_>, opset: i64) -> Binding {
    if !node.domain.is_empty() {
        return Binding::none();
    }
    match node.op {
        "If" => Binding::one_to_one(0, graph.outputs.len()),
        // Body: counter, condition, carried -> condition, carried, one element of each stacked output.
        "Loop" => {
            let carried = graph.inputs.len().saturating_sub(2);
            Binding {
                inputs: (0..graph.inputs.len() as i64).map(|k| (k > 0).then_some(k)).collect(),
                outputs: (0..=carried as i64).map(|j| (j > 0).then(|| j - 1)).collect(),
            }
        }
        // Before opset 9 each run sees one element of a batch, so nothing is the same buffer.
        "Scan" if opset >= 9 => {
            let scanned = match node.attribute("num_scan_inputs") {
                Some(proto::Value::Int(count)) => usize::try_from(*count).unwrap_or(0),
                _ => return Binding::none(),
            };
            let states = graph.inputs.len().saturating_sub(scanned);
            Binding::one_to_one(states, states)
        }
        _ => Binding::none(),
    }
}
