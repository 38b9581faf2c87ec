//! Small changes of small graphs.
//!
//! Promise: a changed graph is one that a file could hold: edges lead to ports that exist, forward in the list of their graph.
//! Which changes come is the choice of a [`Random`].

use std::sync::Arc;

use super::observe::Trial;
use super::random::Random;
use super::words::Words;
use crate::graph::{
    Builder, Edit, GraphId, GraphInfo, Node, NodeId, Output, Place, Port, Ports, Snapshot, State, Sym,
    TensorDesc,
};
use crate::lang::syntax::ast::AttrPlace;

/// Nodes that a graph may come to have.
const MOST_NODES: usize = 40;

/// A port whose tensor says nothing special.
pub fn port() -> Port {
    // One element of a plain type: the number is that of the first real type.
    let desc =
        TensorDesc { dtype: 1, shape: Some([1].into()), layout: Sym::new("ND"), ..TensorDesc::default() };
    Port { name: Sym::default(), desc: Arc::new(desc) }
}

fn node(name: &str, op: Sym, graph: GraphId, inputs: usize, outputs: usize) -> Node {
    let ports = |count| (0..count).map(|_| port()).collect::<Ports>();
    Node { inputs: ports(inputs), outputs: ports(outputs), ..Node::new(name, op, graph) }
}

/// A graph of a few nodes, each of which may read those before it.
pub fn generate(words: &Words, random: &mut Random) -> Snapshot {
    let mut builder = Builder::default();
    let graph = builder.graph(GraphInfo::named(""));
    let mut outputs: Vec<Output> = Vec::new();
    for number in 0..2 + random.below(5) {
        let Some(op) = words.op(random) else { break };
        let inputs = if number == 0 { 0 } else { random.below(4).min(outputs.len()) };
        let gives = 1 + usize::from(random.percent(25));
        let name = format!("n{number}");
        let id = builder.node(node(&name, op, graph, inputs, gives), number as i64);
        for index in 0..inputs {
            if let Some(&from) = random.pick(&outputs) {
                builder.edge(from, 0, id.input(index as u32));
            }
        }
        outputs.extend((0..gives).map(|index| id.output(index as u32)));
    }
    let snapshot = builder.finish();
    let mut trial = Trial { snapshot, root: graph, steps: Vec::new(), options: Default::default() };
    for _ in 0..1 + random.below(3) {
        trial.snapshot = set_attr(&trial.snapshot, words, random);
    }
    trial.snapshot
}

/// One to three changes.
pub fn mutate(trial: &Trial, words: &Words, random: &mut Random) -> Trial {
    let mut changed = trial.clone();
    for _ in 0..1 + random.below(3) {
        match random.below(22) {
            0..=4 => changed.snapshot = set_attr(&changed.snapshot, words, random),
            5..=8 => changed.snapshot = change_op(&changed.snapshot, words, random),
            9..=11 => changed.snapshot = rewire(&changed.snapshot, random),
            12..=13 => changed.snapshot = add_node(&changed.snapshot, words, random),
            14 => changed.snapshot = add_reader(&changed.snapshot, random),
            15 => changed.snapshot = drop_node(&changed.snapshot, random),
            16 => changed.snapshot = control(&changed.snapshot, random),
            17 => changed.snapshot = change_tensor(&changed.snapshot, random),
            18 => changed.snapshot = copy_node(&changed.snapshot, random),
            19..=20 => changed.snapshot = name_ports(&changed.snapshot, random),
            _ => {
                if let Some((name, value)) = words.option(random) {
                    changed.options.insert(name.as_str().to_owned(), value);
                }
            }
        }
        if random.percent(20)
            && let Some(&run) = random.pick(&words.runs)
        {
            changed.steps = vec![run];
        }
    }
    changed
}

fn nodes(state: &State) -> Vec<NodeId> {
    state.nodes_by_id().map(|(id, _)| id).collect()
}

fn edited(snapshot: &Snapshot, change: impl FnOnce(&mut Edit)) -> Snapshot {
    let mut edit = snapshot.edit();
    change(&mut edit);
    edit.finish(snapshot)
}

fn set_attr(snapshot: &Snapshot, words: &Words, random: &mut Random) -> Snapshot {
    let all = nodes(snapshot);
    let Some(&id) = random.pick(&all) else { return snapshot.clone() };
    let of = snapshot.node(id).clone();
    let place = match random.below(10) {
        0 => AttrPlace::Graph,
        1..=2 => AttrPlace::Output,
        3 => AttrPlace::Input,
        _ => AttrPlace::Node,
    };
    let Some(attr) = words.attr(random, place) else { return snapshot.clone() };
    let names: Vec<Sym> = all.iter().map(|&node| Sym::new(&snapshot.node(node).name)).collect();
    let value = words.value(random, attr.ty, &names);
    let key = attr.name;
    let port_at = random.below(4);
    edited(snapshot, |edit| match place {
        AttrPlace::Graph => edit.update_graph(of.graph, |graph| graph.attrs = graph.attrs.with(key, value)),
        AttrPlace::Node => edit.update_node(id, |node| {
            // Set again it goes away, so that what matters can be found out.
            node.attrs = if node.attrs.get(key) == Some(&value) {
                node.attrs.without(key)
            } else {
                node.attrs.with(key, value)
            };
        }),
        AttrPlace::Input | AttrPlace::Output => edit.update_node(id, |node| {
            let ports = if place == AttrPlace::Input { &mut node.inputs } else { &mut node.outputs };
            let at = if ports.is_empty() { 0 } else { port_at % ports.len() };
            if let Some(mut port) = ports.get(at).cloned() {
                let desc = TensorDesc { attrs: port.desc.attrs.with(key, value), ..(*port.desc).clone() };
                port.desc = Arc::new(desc);
                ports.set(at, port);
            }
        }),
    })
}

fn change_op(snapshot: &Snapshot, words: &Words, random: &mut Random) -> Snapshot {
    let (Some(&id), Some(op)) = (random.pick(&nodes(snapshot)), words.op(random)) else {
        return snapshot.clone();
    };
    edited(snapshot, |edit| edit.update_node(id, |node| node.ty = op))
}

/// Outputs of the graph that stand before a node.
fn before(snapshot: &Snapshot, reader: NodeId) -> Vec<Output> {
    let graph = snapshot.node(reader).graph;
    let earlier = snapshot.list(graph).take_while(|node| *node != reader);
    earlier
        .flat_map(|node| (0..snapshot.node(node).outputs.len() as u32).map(move |at| node.output(at)))
        .collect()
}

fn rewire(snapshot: &Snapshot, random: &mut Random) -> Snapshot {
    let Some(&id) = random.pick(&nodes(snapshot)) else { return snapshot.clone() };
    let inputs = snapshot.node(id).inputs.len();
    let (Some(&from), true) = (random.pick(&before(snapshot, id)), inputs > 0) else {
        return snapshot.clone();
    };
    let to = id.input(random.below(inputs) as u32);
    edited(snapshot, |edit| edit.connect(from, to))
}

/// One more input, fed by something before.
fn add_reader(snapshot: &Snapshot, random: &mut Random) -> Snapshot {
    let Some(&id) = random.pick(&nodes(snapshot)) else { return snapshot.clone() };
    let Some(&from) = random.pick(&before(snapshot, id)) else { return snapshot.clone() };
    let index = snapshot.node(id).inputs.len();
    edited(snapshot, |edit| {
        edit.update_node(id, |node| node.inputs = node.inputs.iter().cloned().chain([port()]).collect());
        edit.connect(from, id.input(index as u32));
    })
}

fn fresh_name(snapshot: &Snapshot) -> String {
    let taken = |name: &str| snapshot.nodes_by_id().any(|(_, node)| &*node.name == name);
    (0..).map(|number| format!("m{number}")).find(|name| !taken(name)).unwrap_or_default()
}

/// A node on an edge, or beside it.
fn add_node(snapshot: &Snapshot, words: &Words, random: &mut Random) -> Snapshot {
    if snapshot.node_count() >= MOST_NODES {
        return snapshot.clone();
    }
    let (Some(&id), Some(op)) = (random.pick(&nodes(snapshot)), words.op(random)) else {
        return snapshot.clone();
    };
    let of = snapshot.node(id).clone();
    if of.outputs.is_empty() {
        return snapshot.clone();
    }
    let from = id.output(random.below(of.outputs.len()) as u32);
    let readers: Vec<_> = snapshot.consumers(from).collect();
    let taken = random.pick(&readers).copied();
    let (between, name) = (random.percent(60), fresh_name(snapshot));
    edited(snapshot, |edit| {
        let new = edit.add_node(node(&name, op, of.graph, 1, 1), Place::After(id));
        edit.connect(from, new.input(0));
        if let (true, Some(reader)) = (between, taken) {
            edit.connect(new.output(0), reader);
        }
    })
}

/// A second node that reads what another reads.
fn copy_node(snapshot: &Snapshot, random: &mut Random) -> Snapshot {
    let Some(&id) = random.pick(&nodes(snapshot)) else { return snapshot.clone() };
    let of = snapshot.node(id).clone();
    if snapshot.node_count() >= MOST_NODES || of.has_subgraphs() {
        return snapshot.clone();
    }
    let copy = Node { name: fresh_name(snapshot).as_str().into(), detail: None, ..(*of).clone() };
    let sources: Vec<_> =
        (0..of.inputs.len() as u32).map(|at| (at, snapshot.producer(id.input(at)))).collect();
    edited(snapshot, |edit| {
        let new = edit.add_node(copy, Place::After(id));
        for (at, source) in sources {
            if let Some(source) = source {
                edit.connect(source, new.input(at));
            }
        }
    })
}

fn drop_node(snapshot: &Snapshot, random: &mut Random) -> Snapshot {
    match random.pick(&nodes(snapshot)) {
        Some(&id) if snapshot.node_count() > 1 => bridged(snapshot, id),
        _ => snapshot.clone(),
    }
}

/// Without a node; who read it reads what it read first.
pub fn bridged(snapshot: &Snapshot, id: NodeId) -> Snapshot {
    let of = snapshot.node(id).clone();
    let source = (0..of.inputs.len() as u32).find_map(|at| snapshot.producer(id.input(at)));
    let readers: Vec<_> = (0..of.outputs.len() as u32)
        .flat_map(|at| snapshot.consumers(id.output(at)).collect::<Vec<_>>())
        .collect();
    edited(snapshot, |edit| {
        for reader in readers {
            if let Some(source) = source {
                edit.connect(source, reader);
            }
        }
        edit.remove_node(id);
    })
}

fn control(snapshot: &Snapshot, random: &mut Random) -> Snapshot {
    let all = nodes(snapshot);
    let (Some(&a), Some(&b)) = (random.pick(&all), random.pick(&all)) else { return snapshot.clone() };
    let graph = snapshot.node(a).graph;
    if snapshot.node(b).graph != graph || a == b {
        return snapshot.clone();
    }
    let first = snapshot.list(graph).find(|node| *node == a || *node == b);
    let (from, to) = if first == Some(a) { (a, b) } else { (b, a) };
    edited(snapshot, |edit| {
        if !edit.add_control(from, to) {
            edit.remove_control(from, to);
        }
    })
}

/// An input and an output of one node get a name; one for both, or each its own.
fn name_ports(snapshot: &Snapshot, random: &mut Random) -> Snapshot {
    let Some(&id) = random.pick(&nodes(snapshot)) else { return snapshot.clone() };
    let of = snapshot.node(id);
    let (input, output) = (random.below(of.inputs.len()), random.below(of.outputs.len()));
    let is_one = random.percent(75);
    let rename = |ports: &mut Ports, at: usize, name: &str| {
        if let Some(port) = ports.get(at).cloned() {
            ports.set(at, Port { name: Sym::new(name), ..port });
        }
    };
    edited(snapshot, |edit| {
        edit.update_node(id, |node| {
            rename(&mut node.inputs, input, &format!("p{input}"));
            rename(
                &mut node.outputs,
                output,
                &if is_one { format!("p{input}") } else { format!("q{output}") },
            );
        });
    })
}

/// Another shape or type of one tensor, or its reuse of an input.
fn change_tensor(snapshot: &Snapshot, random: &mut Random) -> Snapshot {
    let Some(&id) = random.pick(&nodes(snapshot)) else { return snapshot.clone() };
    let (which, at, extent) = (random.below(4), random.below(4), random.below(64) as i64);
    edited(snapshot, |edit| {
        edit.update_node(id, |node| {
            let ports = if which == 0 { &mut node.inputs } else { &mut node.outputs };
            let at = if ports.is_empty() { 0 } else { at % ports.len() };
            let Some(mut port) = ports.get(at).cloned() else { return };
            let mut desc = (*port.desc).clone();
            match which {
                0 | 1 => {
                    desc.shape = Some([[1].as_slice(), &[-1], &[extent, 32], &[]][extent as usize % 4].into())
                }
                2 => (desc.reuse_input, desc.reuse_input_index) = (!desc.reuse_input, 0),
                _ => desc.dtype = 1 + (extent % 3) as i32,
            }
            port.desc = Arc::new(desc);
            ports.set(at, port);
        });
    })
}
