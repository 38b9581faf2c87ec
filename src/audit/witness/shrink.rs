//! Making a graph smaller while something stays true of it.

use std::sync::Arc;

use super::mutate::{bridged, port};
use super::observe::Trial;
use crate::graph::{GraphId, NodeId, Ports, Snapshot};

/// Attempts before a trial is small enough.
const MOST_ATTEMPTS: usize = 1500;

/// The smallest trial found for which `stands` holds, as it does for the given one.
pub fn shrink(trial: &Trial, mut stands: impl FnMut(&Trial) -> bool) -> Trial {
    let mut best = trial.clone();
    let mut attempts = 0;
    loop {
        let (mut at, mut is_smaller) = (0, false);
        // Positions stay where they are after a success, since there is one step less.
        while let Some(way) = smaller(&best, at) {
            let Some(way) = way else {
                at += 1;
                continue;
            };
            attempts += 1;
            if attempts > MOST_ATTEMPTS {
                return best;
            }
            if stands(&way) {
                (best, is_smaller) = (way, true);
            } else {
                at += 1;
            }
        }
        if !is_smaller {
            return best;
        }
    }
}

/// The trial made smaller in way number `at`; none behind the last way, `Some(None)` where this way changes nothing.
fn smaller(trial: &Trial, mut at: usize) -> Option<Option<Trial>> {
    let snapshot = &trial.snapshot;
    let with = |snapshot: Snapshot| Trial { snapshot, ..trial.clone() };
    let ids: Vec<NodeId> = snapshot.nodes_by_id().map(|(id, _)| id).collect();
    if at < 2 * ids.len() {
        let id = ids[at / 2];
        let is_alone = ids.len() == 1 || owns(snapshot, id, trial.root);
        if is_alone {
            return Some(None);
        }
        return Some(Some(with(if at % 2 == 0 { removed(snapshot, id) } else { bridged(snapshot, id) })));
    }
    at -= 2 * ids.len();
    if let Some(key) = trial.options.keys().nth(at) {
        let mut fewer = trial.clone();
        fewer.options.remove(&key.clone());
        return Some(Some(fewer));
    }
    at -= trial.options.len();
    match at {
        0 => return Some(numbered(snapshot).map(with)),
        1 => return Some(plain_graphs(snapshot).map(with)),
        _ => at -= 2,
    }
    for &id in &ids {
        let node = snapshot.node(id);
        if let Some((key, _)) = node.attrs.entries().get(at) {
            let key = *key;
            return Some(Some(with(update(snapshot, id, |node| node.attrs = node.attrs.without(key)))));
        }
        at -= node.attrs.entries().len();
        // Plain tensors, the file's own details gone; a port less on either side; each edge.
        match at {
            0 => return Some(plain(snapshot, id).map(with)),
            1 => return Some(fewer_inputs(snapshot, id).map(with)),
            2 => return Some(fewer_outputs(snapshot, id).map(with)),
            _ => at -= 3,
        }
        if at < node.inputs.len() {
            let input = id.input(at as u32);
            if snapshot.producer(input).is_none() {
                return Some(None);
            }
            let mut edit = snapshot.edit();
            edit.disconnect(input);
            return Some(Some(with(edit.finish(snapshot))));
        }
        at -= node.inputs.len();
        let controls: Vec<NodeId> = snapshot.control_in(id).collect();
        if let Some(&from) = controls.get(at) {
            let mut edit = snapshot.edit();
            edit.remove_control(from, id);
            return Some(Some(with(edit.finish(snapshot))));
        }
        at -= controls.len();
    }
    None
}

/// Whether a node holds the graph that is run.
fn owns(snapshot: &Snapshot, id: NodeId, mut graph: GraphId) -> bool {
    while let Some(parent) = snapshot.graph(graph).parent {
        if parent == id {
            return true;
        }
        graph = snapshot.node(parent).graph;
    }
    false
}

fn removed(snapshot: &Snapshot, id: NodeId) -> Snapshot {
    let mut edit = snapshot.edit();
    edit.remove_node(id);
    edit.finish(snapshot)
}

fn update(snapshot: &Snapshot, id: NodeId, change: impl FnOnce(&mut crate::graph::Node)) -> Snapshot {
    let mut edit = snapshot.edit();
    edit.update_node(id, change);
    edit.finish(snapshot)
}

/// Nodes with the numbers that a file gives them which does not say.
fn numbered(snapshot: &Snapshot) -> Option<Snapshot> {
    let ids: Vec<NodeId> = snapshot.all_nodes(GraphId::ROOT);
    let is_so = ids.iter().zip(0..).all(|(id, number)| snapshot.topo_id(*id) == number);
    if is_so {
        return None;
    }
    let mut edit = snapshot.edit();
    for (id, number) in ids.into_iter().zip(0..) {
        edit.set_topo_id(id, number);
    }
    Some(edit.finish(snapshot))
}

/// Graphs and the model without what they say of themselves.
fn plain_graphs(snapshot: &Snapshot) -> Option<Snapshot> {
    let graphs: Vec<GraphId> = std::iter::once(GraphId::ROOT).chain(snapshot.registry()).collect();
    let says = |graph: &GraphId| {
        let info = snapshot.graph(*graph);
        !info.attrs.entries().is_empty()
            || !info.inputs.is_empty()
            || !info.outputs.is_empty()
            || !info.extra.is_empty()
    };
    if !graphs.iter().any(says) && *snapshot.model() == Default::default() {
        return None;
    }
    let mut edit = snapshot.edit();
    edit.update_model(|model| *model = Default::default());
    for graph in graphs {
        edit.update_graph(graph, |info| {
            info.attrs = Default::default();
            (info.inputs, info.outputs, info.extra) = (Arc::from([]), Arc::from([]), Default::default());
        });
    }
    Some(edit.finish(snapshot))
}

fn plain(snapshot: &Snapshot, id: NodeId) -> Option<Snapshot> {
    let node = snapshot.node(id);
    let plain = port();
    let is_plain = |ports: &Ports| ports.iter().all(|port| port.desc == plain.desc);
    if node.detail.is_none() && is_plain(&node.inputs) && is_plain(&node.outputs) {
        return None;
    }
    let bare = |ports: &Ports| -> Ports {
        ports.iter().map(|port| crate::graph::Port { name: port.name, desc: plain.desc.clone() }).collect()
    };
    Some(update(snapshot, id, |node| {
        (node.inputs, node.outputs, node.detail) = (bare(&node.inputs), bare(&node.outputs), None);
    }))
}

fn fewer_inputs(snapshot: &Snapshot, id: NodeId) -> Option<Snapshot> {
    let count = snapshot.node(id).inputs.len().checked_sub(1)?;
    let last = id.input(count as u32);
    let mut edit = snapshot.edit();
    edit.disconnect(last);
    edit.update_node(id, |node| node.inputs = node.inputs.iter().take(count).cloned().collect());
    Some(edit.finish(snapshot))
}

fn fewer_outputs(snapshot: &Snapshot, id: NodeId) -> Option<Snapshot> {
    let count = snapshot.node(id).outputs.len().checked_sub(1).filter(|count| *count > 0)?;
    if snapshot.consumers(id.output(count as u32)).next().is_some() {
        return None;
    }
    Some(update(snapshot, id, |node| node.outputs = node.outputs.iter().take(count).cloned().collect()))
}
