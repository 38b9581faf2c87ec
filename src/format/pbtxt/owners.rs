//! Which node owns which subgraph, by name (`graph_formats.md` 5, consequence 1).

use rustc_hash::FxHashMap;

use crate::format::ge::{GraphMsg, OpMsg, Text};
use crate::graph::{AttrValue, Sym};

/// A graph with a longer name stays without owner: each place in it that may end a node's name is tried, with each that
/// may end a graph's.
const LONGEST: usize = 1024;

/// Gives each subgraph to the one node whose name fits and whose inputs and outputs suffice. A subgraph without
/// such a node stays without owner, which the next stage reports.
pub(super) fn recover(graphs: &mut [GraphMsg<'_>]) {
    let mut by_name: FxHashMap<String, Vec<(usize, usize)>> = FxHashMap::default();
    let mut by_partition: FxHashMap<String, Vec<(usize, usize)>> = FxHashMap::default();
    for (graph, message) in graphs.iter().enumerate() {
        for (at, op) in message.ops.iter().enumerate() {
            by_name.entry(op.name.to_string()).or_default().push((graph, at));
            // A partition's call has the name of its graph in front.
            if let Some((name, number)) = op.name.rsplit_once("_PartitionedCall_")
                && number.bytes().all(|b| b.is_ascii_digit())
            {
                by_partition.entry(name.to_owned()).or_default().push((graph, at));
            }
        }
    }
    let mut owned: FxHashMap<(usize, usize), Vec<(usize, String)>> = FxHashMap::default();
    for graph in 1..graphs.len() {
        let name = graphs[graph].name.as_ref();
        let mut candidates: Vec<((usize, usize), usize)> =
            by_partition.get(name).into_iter().flatten().map(|owner| (*owner, 0)).collect();
        candidates.extend(branches(name, graphs, &by_name));
        candidates
            .retain(|((holder, at), _)| *holder != graph && fits(&graphs[graph], &graphs[*holder].ops[*at]));
        if let [(owner, instance)] = candidates[..] {
            owned.entry(owner).or_default().push((instance, name.to_owned()));
        }
    }
    for ((graph, at), mut instances) in owned {
        instances.sort();
        if instances.iter().map(|(instance, _)| *instance).eq(0..instances.len()) {
            let names = instances.into_iter().map(|(_, name)| Text::Owned(name));
            graphs[graph].ops[at].subgraph_name = names.collect();
        }
    }
}

/// Nodes that `name` can be a branch of: it reads `<node>_<index>_<branch>`, in a subgraph `<graph>/` before it.
fn branches(
    name: &str,
    graphs: &[GraphMsg<'_>],
    by_name: &FxHashMap<String, Vec<(usize, usize)>>,
) -> Vec<((usize, usize), usize)> {
    let mut found = Vec::new();
    if name.len() > LONGEST {
        return found;
    }
    for (end, _) in name.match_indices('_') {
        let (index, branch) = name[end + 1..].split_once('_').unwrap_or_default();
        let Ok(index) = index.parse::<usize>() else { continue };
        if branch.is_empty() {
            continue;
        }
        let node = &name[..end];
        let in_root = by_name.get(node).into_iter().flatten().filter(|(graph, _)| *graph == 0);
        found.extend(in_root.map(|owner| (*owner, index)));
        for (slash, _) in node.match_indices('/') {
            let (graph, node) = (&node[..slash], &node[slash + 1..]);
            let inside = by_name.get(node).into_iter().flatten();
            found.extend(inside.filter(|(g, _)| graphs[*g].name == graph).map(|owner| (*owner, index)));
        }
    }
    found
}

/// Whether the node has the inputs and outputs that the graph refers to.
fn fits(graph: &GraphMsg<'_>, owner: &OpMsg<'_>) -> bool {
    let parent = Sym::new("_parent_node_index");
    let inputs = owner.input.iter().filter(|entry| !entry.ends_with(":-1")).count();
    let data_fit = graph.ops.iter().filter(|op| op.ty == "Data").all(|op| match op.attrs.get(parent) {
        Some(AttrValue::Int(index)) => usize::try_from(*index).is_ok_and(|index| index < inputs),
        _ => true,
    });
    let mut ends = graph.ops.iter().filter(|op| op.ty == "NetOutput");
    let outputs_fit = ends.all(|op| {
        let results = op.input.iter().filter(|entry| !entry.ends_with(":-1")).count();
        // Without descriptions (level 3) the number of outputs is not known.
        owner.output_desc.is_empty() || results <= owner.output_desc.len()
    });
    data_fit && outputs_fit
}
