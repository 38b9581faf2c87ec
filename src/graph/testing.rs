//! Small graphs for the tests of this room, written as text.

use std::sync::Arc;

use super::*;

/// A model of bare nodes. Each call appends, so edge order is call order.
#[derive(Default)]
pub(super) struct Sketch {
    names: Vec<(GraphId, String)>,
    graphs: Vec<String>,
    data: Vec<(Output, Input)>,
    control: Vec<(NodeId, NodeId)>,
    owners: Vec<(NodeId, GraphId)>,
}

impl Sketch {
    /// A graph of one list; see [`Sketch::graph`] and [`Sketch::edges`].
    pub fn flat(list: &str, edges: &str) -> Snapshot {
        let mut sketch = Sketch::default();
        sketch.graph("g", list);
        sketch.edges(edges);
        sketch.finish()
    }

    /// Adds a graph with nodes in list order. Node names are unique in the model.
    pub fn graph(&mut self, name: &str, list: &str) -> GraphId {
        let graph = GraphId(self.graphs.len() as u32);
        self.graphs.push(name.into());
        self.names.extend(list.split_whitespace().map(|name| (graph, name.into())));
        graph
    }

    /// Adds edges: `a>b` from output 0 of `a`, `a.1>b` from output 1, `a=>b` a control edge. Each data edge
    /// into a node gets the next input.
    pub fn edges(&mut self, edges: &str) {
        for edge in edges.split_whitespace() {
            if let Some((from, to)) = edge.split_once("=>") {
                self.control.push((self.node(from), self.node(to)));
            } else {
                let (from, to) = edge.split_once('>').expect("an edge has an arrow");
                let (from, index) = from.split_once('.').unwrap_or((from, "0"));
                let index = index.parse().expect("an output number");
                self.data_edge(self.node(from).output(index), self.node(to));
            }
        }
    }

    pub fn data_edge(&mut self, from: Output, to: NodeId) {
        let index = self.data.iter().filter(|(_, input)| input.node == to).count() as u32;
        self.data.push((from, to.input(index)));
    }

    pub fn control_edge(&mut self, from: NodeId, to: NodeId) {
        self.control.push((from, to));
    }

    pub fn own(&mut self, node: &str, graph: GraphId) {
        self.owners.push((self.node(node), graph));
    }

    fn node(&self, name: &str) -> NodeId {
        NodeId(self.names.iter().position(|(_, n)| n == name).expect("a node of the sketch") as u32)
    }

    pub fn finish(self) -> Snapshot {
        let ports =
            |count: u32| (0..count).map(|_| Port { name: Sym::default(), desc: Arc::default() }).collect();
        let mut builder = Builder::default();
        for name in &self.graphs {
            builder.graph(graph_info(name));
        }
        for (id, (graph, name)) in (0u32..).zip(&self.names) {
            let inputs = self.data.iter().filter(|(_, to)| to.node.0 == id).count() as u32;
            let outputs =
                self.data.iter().filter(|(from, _)| from.node.0 == id).map(|(from, _)| from.index + 1);
            let outputs = ports(outputs.max().unwrap_or(1));
            builder.node(Node { inputs: ports(inputs), outputs, ..bare_node(name, *graph) }, -1);
        }
        self.data.into_iter().for_each(|(from, to)| builder.edge(from, 0, to));
        self.control.into_iter().for_each(|(from, to)| builder.control(from, 0, to));
        self.owners.into_iter().for_each(|(node, graph)| builder.own(node, graph));
        builder.finish()
    }
}

pub(super) fn graph_info(name: &str) -> GraphInfo {
    GraphInfo::named(name)
}

pub(super) fn bare_node(name: &str, graph: GraphId) -> Node {
    Node::new(name, Sym::new("op"), graph)
}

/// The node with this name, in any graph.
pub(super) fn named(state: &State, name: &str) -> NodeId {
    let mut nodes = state.nodes_by_id().filter(|(_, node)| &*node.name == name);
    nodes.next().expect("a node of the sketch").0
}

/// The node list of `graph`, names separated by spaces.
pub(super) fn list_text(state: &State, graph: GraphId) -> String {
    names(state, state.list(graph))
}

pub(super) fn names(state: &State, nodes: impl IntoIterator<Item = NodeId>) -> String {
    nodes.into_iter().map(|node| &*state.node(node).name).collect::<Vec<_>>().join(" ")
}

/// A random change: what, and two numbers that choose nodes of one graph.
pub(super) type Change = (u8, u8, u8);

/// Makes a change. Edges go by a hidden order of the nodes, so that most graphs stay without a cycle.
pub(super) fn change(edit: &mut Edit, (what, one, other): Change) {
    let nodes: Vec<NodeId> = edit.nodes_by_id().map(|(node, _)| node).collect();
    let one = nodes[one as usize % nodes.len()];
    let graph = edit.node(one).graph;
    let list: Vec<NodeId> = edit.list(graph).collect();
    let other = list[other as usize % list.len()];
    let rank = |node: NodeId| node.0 % 8 * 5 % 8;
    let (one, other) = if rank(one) <= rank(other) { (one, other) } else { (other, one) };
    let input = || {
        let mut inputs = (0..edit.node(other).inputs.len() as u32).map(|at| other.input(at));
        let first = inputs.clone().next()?;
        Some(inputs.find(|&input| edit.producer(input).is_none()).unwrap_or(first))
    };
    match what % 12 {
        0 => input().into_iter().for_each(|input| edit.connect(one.output(0), input)),
        1 if !edit.node(one).inputs.is_empty() => edit.disconnect(one.input(0)),
        2 if one != other => _ = edit.add_control(one, other),
        3 => {
            let before = edit.control_in(one).next();
            before.into_iter().for_each(|from| _ = edit.remove_control(from, one));
        }
        4 => {
            let node = edit.add_node(bare_node(&format!("d{}", other.0), graph), Place::After(one));
            edit.add_control(node, one);
        }
        5 if nodes.len() > 20 => edit.remove_node(one),
        6 => edit.update_node(one, |node| node.name = format!("n{}", other.0).into()),
        7 => edit.update_node(one, |node| node.ty = Sym::new("other")),
        8 => edit.set_topo_id(one, 5),
        9 => edit.set_list(graph, list.into_iter().rev().collect::<Vec<_>>()),
        10 => edit.set_registry(edit.registry().collect::<Vec<_>>().into_iter().rev().collect()),
        // The first of the readers becomes the last.
        11 => {
            let first = edit.consumers(one.output(0)).next();
            first.into_iter().for_each(|input| edit.connect(one.output(0), input));
        }
        _ => {}
    }
}
