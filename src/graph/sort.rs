//! Topological sort: node lists, topological ids and the registry order of a graph and all that it owns.
//!
//! Promise: the orders of `readwrite.md` 1.2, in time linear in nodes and edges (breadth-first: plus sorting the
//! names of what becomes ready together). A graph that is in order already gives back the very same snapshot, and one that
//! nothing has touched since it was sorted that way is not looked through again ([`super::sorted`]).
//! Which operators are sources or close a loop is the caller's knowledge.

use std::fmt;
use std::sync::Arc;

use fixedbitset::FixedBitSet;

use super::rows::Rows;
use super::sorted::SortedBy;
use super::{Dense, GraphId, NodeId, Snapshot};

/// How a graph is ordered as far as its edges leave a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortMode {
    /// A queue; what becomes ready together enters by ascending name. The next source waits for an empty queue.
    Bfs,
    /// A stack, so the last consumer that becomes ready comes first.
    Dfs,
    /// The present list order, each node directly preceded by those of its predecessors that are still missing.
    StableRdfs,
}

/// What the sort has to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortRules {
    pub mode: SortMode,
    /// By node number: among the nodes without counted incoming edges these come first.
    pub sources: FixedBitSet,
    /// By node number: edges that leave such a node are not counted, since they close a loop.
    pub silent: FixedBitSet,
}

impl SortRules {
    /// Asks of each node of a snapshot whether it is a source, and whether it closes loops.
    pub fn asking(
        snapshot: &Snapshot,
        mode: SortMode,
        is_source: impl Fn(NodeId) -> bool,
        is_silent: impl Fn(NodeId) -> bool,
    ) -> SortRules {
        let those = |holds: &dyn Fn(NodeId) -> bool| {
            let mut set = FixedBitSet::with_capacity(snapshot.node_slots());
            let nodes = snapshot.nodes_by_id().map(|(node, _)| node).filter(|&node| holds(node));
            nodes.for_each(|node| set.insert(node.0 as usize));
            set
        };
        SortRules { mode, sources: those(&is_source), silent: those(&is_silent) }
    }
}

/// A graph that has no topological order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleError {
    pub graph: GraphId,
    /// The nodes of one cycle in edge direction, the one that stands first in the node list in front.
    pub nodes: Vec<NodeId>,
    graph_name: Arc<str>,
    node_names: Vec<Arc<str>>,
}

impl fmt::Display for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        match &*self.graph_name {
            "" => f.write_str("the graph")?,
            name => write!(f, "graph `{name}`")?,
        }
        match self.nodes.len() {
            1 => f.write_str(" has a node that leads to itself: ")?,
            count => write!(f, " has a cycle of {count} nodes: ")?,
        }
        for name in self.node_names.iter().take(SHOWN) {
            write!(f, "`{name}` -> ")?;
        }
        if self.node_names.len() > SHOWN {
            f.write_str("... -> ")?;
        }
        write!(f, "`{}`", self.node_names.first().map_or("", |name| name))
    }
}

impl std::error::Error for CycleError {}

/// Sorts `root` and every graph nested in it. `root` may be a subgraph: then only its part of the model is
/// renumbered, from 0, and the registry stays as it is.
///
/// # Errors
/// If one of the graphs has a cycle of counted edges; the first such graph in the order of discovery is named.
pub fn sort(snapshot: &Snapshot, root: GraphId, rules: SortRules) -> Result<Snapshot, CycleError> {
    let (known, is_whole) = (snapshot.sorted(), root == GraphId::ROOT);
    let standing = known.standing(snapshot, &rules);
    let graphs = nested(snapshot, root);
    let stands = |graph: &GraphId| standing.contains(graph.0 as usize);
    if is_whole && known.is_numbered() && graphs.iter().all(stands) {
        return Ok(snapshot.clone());
    }
    let mut sorter = Sorter::new(snapshot, &rules);
    let mut lists = Lists::new(snapshot);
    for &graph in &graphs {
        let before = sorter.list(graph);
        let after = if stands(&graph) { None } else { Some(sorter.sorted(graph, &before)?) };
        match after.filter(|after| *before != **after) {
            Some(after) => lists.add(graph, true, after.into()),
            None => lists.add(graph, false, before),
        }
    }
    let (all, mut registry) = lists.walk(sorter.dense, root);
    let mut ids = Ids { of: snapshot.topo_ids(), changed: false };
    (0i64..).zip(all.iter()).for_each(|(id, &node)| ids.give(node, id));

    let mut edit = snapshot.edit();
    if ids.changed {
        edit.set_topo_ids(ids.of);
    }
    if is_whole {
        // A graph that nothing owns keeps its place behind the others.
        let mut known = FixedBitSet::with_capacity(lists.at.len());
        registry.iter().for_each(|graph| known.insert(graph.0 as usize));
        registry.extend(snapshot.registry().filter(|graph| !known.contains(graph.0 as usize)));
        if !snapshot.registry().eq(registry.iter().copied()) {
            edit.set_registry(registry);
        }
    }
    for list in lists.lists.into_iter().filter(|list| list.changed) {
        edit.set_list(list.graph, list.nodes);
    }
    let sorted = edit.finish_reordered(snapshot, is_whole.then_some(all));
    if is_whole {
        let graphs = graphs.iter().map(|graph| graph.0 as usize).collect();
        sorted.note_sorted(SortedBy { rules, graphs });
    }
    Ok(sorted)
}

/// `root` and the graphs below it, each once, wrappers before what they own.
fn nested(snapshot: &Snapshot, root: GraphId) -> Vec<GraphId> {
    let dense = snapshot.dense();
    let mut graphs = vec![root];
    let mut next = 0;
    while let Some(&graph) = graphs.get(next).filter(|_| dense.has_instances()) {
        next += 1;
        for node in snapshot.entries(graph) {
            graphs.extend(dense.instances(node).iter().filter(|&&g| snapshot.get_graph(g).is_some()));
        }
    }
    graphs
}

/// Topological ids by node number.
struct Ids {
    of: Vec<i64>,
    /// Some id has become another one.
    changed: bool,
}

impl Ids {
    fn give(&mut self, node: NodeId, id: i64) {
        self.changed |= std::mem::replace(&mut self.of[node.0 as usize], id) != id;
    }
}

/// The sorted node lists of the graphs concerned.
struct Lists {
    lists: Vec<List>,
    /// Place in `lists` of each graph.
    at: Vec<Option<u32>>,
}

struct List {
    graph: GraphId,
    nodes: Arc<[NodeId]>,
    changed: bool,
}

impl Lists {
    fn new(snapshot: &Snapshot) -> Lists {
        Lists { lists: Vec::new(), at: vec![None; snapshot.graphs.end()] }
    }

    fn add(&mut self, graph: GraphId, changed: bool, nodes: Arc<[NodeId]>) {
        self.at[graph.0 as usize] = Some(self.lists.len() as u32);
        self.lists.push(List { graph, nodes, changed });
    }

    fn nodes(&self, graph: GraphId) -> Option<&[NodeId]> {
        let at = self.at.get(graph.0 as usize).copied().flatten()?;
        Some(&self.lists[at as usize].nodes)
    }

    /// The all-nodes walk from `root`, and the graphs below `root` in registry order: as the walk finds them, the
    /// instances of one wrapper last first.
    fn walk(&self, dense: &Dense, root: GraphId) -> (Arc<[NodeId]>, Vec<GraphId>) {
        if let [only] = &self.lists[..] {
            return (only.nodes.clone(), Vec::new());
        }
        let mut order = Vec::with_capacity(self.lists.iter().map(|list| list.nodes.len()).sum());
        let mut registry = Vec::new();
        let mut stack = vec![self.nodes(root).unwrap_or_default().iter()];
        while let Some(top) = stack.last_mut() {
            let Some(&node) = top.next() else {
                stack.pop();
                continue;
            };
            order.push(node);
            for &instance in dense.instances(node).iter().rev() {
                if let Some(nodes) = self.nodes(instance) {
                    registry.push(instance);
                    stack.push(nodes.iter());
                }
            }
        }
        (order.into(), registry)
    }
}

/// No place.
const NOWHERE: u32 = u32::MAX;

/// State of one sort; the tables by node cover all graphs.
struct Sorter<'a> {
    snapshot: &'a Snapshot,
    rules: &'a SortRules,
    dense: &'a Dense,
    /// Where nodes of the graph at hand stand in its list.
    places: Vec<u32>,
    /// Counted edges that still enter what stands at a place of that list. A node that has been emitted has none.
    waiting: Vec<u32>,
    /// Nodes that were visited against the edges.
    done: FixedBitSet,
}

impl<'a> Sorter<'a> {
    fn new(snapshot: &'a Snapshot, rules: &'a SortRules) -> Sorter<'a> {
        let slots = snapshot.node_slots();
        Sorter {
            snapshot,
            rules,
            dense: snapshot.dense(),
            places: vec![NOWHERE; slots],
            waiting: Vec::new(),
            done: FixedBitSet::with_capacity(slots),
        }
    }

    fn list(&self, graph: GraphId) -> Arc<[NodeId]> {
        match self.snapshot.whole_list(graph) {
            Some(list) => list.clone(),
            None => {
                self.snapshot.entries(graph).filter(|&node| self.dense.graph_of(node).is_some()).collect()
            }
        }
    }

    fn sorted(&mut self, graph: GraphId, list: &[NodeId]) -> Result<Vec<NodeId>, CycleError> {
        self.give_places(list);
        let order = match self.rules.mode {
            SortMode::StableRdfs => self.backwards(list),
            mode => Some(self.forwards(list, mode)),
        };
        let sorted = match order {
            Some(order) if order.len() == list.len() => Ok(order),
            Some(_) => Err(self.cycle(graph, list)),
            // Counting finds the nodes behind and on a cycle, which the walk against the edges does not.
            None => {
                self.forwards(list, SortMode::Dfs);
                Err(self.cycle(graph, list))
            }
        };
        list.iter().for_each(|node| self.places[node.0 as usize] = NOWHERE);
        sorted
    }

    fn is_silent(&self, node: NodeId) -> bool {
        self.rules.silent.contains(node.0 as usize)
    }

    /// The place of a node in the list of the graph at hand, if it lies there.
    fn place(&self, node: NodeId) -> Option<u32> {
        Some(self.places[node.0 as usize]).filter(|&place| place != NOWHERE)
    }

    /// Emits nodes as the last of their predecessors is emitted. Short if there is a cycle.
    fn forwards(&mut self, list: &[NodeId], mode: SortMode) -> Vec<NodeId> {
        // In rows, since the way through them depends on what is found at each step: only what is close at hand is fast.
        let rows = Rows::of_nodes(list, |node, row| {
            if !self.is_silent(node) {
                row.extend(self.dense.successors(node).filter_map(|to| self.place(to)));
            }
        });
        self.waiting = rows.entered();
        let ready = (0u32..).zip(&self.waiting).filter(|(_, waiting)| **waiting == 0).map(|(at, _)| at);
        let (mut sources, others): (Vec<u32>, Vec<u32>) =
            ready.partition(|&at| self.rules.sources.contains(list[at as usize].0 as usize));
        sources.extend(others);
        let order = match mode {
            SortMode::Bfs => self.breadth_first(&rows, list, &sources),
            SortMode::Dfs | SortMode::StableRdfs => self.depth_first(&rows, sources),
        };
        order.into_iter().map(|at| list[at as usize]).collect()
    }

    fn depth_first(&mut self, rows: &Rows, mut sources: Vec<u32>) -> Vec<u32> {
        sources.reverse();
        let mut stack = sources;
        let mut order = Vec::with_capacity(rows.len());
        while let Some(at) = stack.pop() {
            order.push(at);
            self.emit(rows.of(at), &mut stack);
        }
        order
    }

    fn breadth_first(&mut self, rows: &Rows, list: &[NodeId], sources: &[u32]) -> Vec<u32> {
        // The part of `order` behind `next` is the queue: a node's place is settled when it enters.
        let mut order: Vec<u32> = Vec::with_capacity(rows.len());
        let mut next = 0;
        for &source in sources {
            order.push(source);
            while let Some(&at) = order.get(next) {
                next += 1;
                let ready = order.len();
                self.emit(rows.of(at), &mut order);
                if let batch @ [_, _, ..] = &mut order[ready..] {
                    batch.sort_by_cached_key(|&at| self.snapshot.node(list[at as usize]).name.clone());
                }
            }
        }
        order
    }

    /// Takes edges away and appends the places that wait for no other.
    fn emit(&mut self, row: &[u32], ready: &mut Vec<u32>) {
        for &to in row {
            let waiting = &mut self.waiting[to as usize];
            if *waiting == 1 {
                ready.push(to);
            }
            *waiting = waiting.saturating_sub(1);
        }
    }

    /// Stable order: list order, with missing predecessors pulled in front, the one that stands first in the
    /// list first. `None` if there is a cycle.
    fn backwards(&mut self, list: &[NodeId]) -> Option<Vec<NodeId>> {
        let mut order = Vec::with_capacity(list.len());
        let mut path = Vec::new();
        for &node in list {
            path.push((node, false));
            while let Some((node, opened)) = path.last_mut() {
                let node = *node;
                if self.done.contains(node.0 as usize) && !*opened {
                    path.pop();
                } else if *opened {
                    path.pop();
                    order.push(node);
                } else {
                    *opened = true;
                    self.done.insert(node.0 as usize);
                    let from = path.len();
                    for before in self.dense.predecessors(node) {
                        if !self.is_silent(before) && !self.done.contains(before.0 as usize) {
                            path.push((before, false));
                        }
                    }
                    path[from..].sort_unstable_by_key(|(n, _)| std::cmp::Reverse(self.places[n.0 as usize]));
                }
            }
        }
        self.is_ordered(list, &order).then_some(order)
    }

    /// Whether every counted edge goes forwards in an order of the list.
    fn is_ordered(&mut self, list: &[NodeId], order: &[NodeId]) -> bool {
        self.give_places(order);
        let mut counted = order.iter().filter(|node| !self.is_silent(**node));
        let place = |node: NodeId| self.places[node.0 as usize];
        let ordered = counted.all(|&node| self.dense.successors(node).all(|to| place(node) < place(to)));
        self.give_places(list);
        ordered
    }

    fn give_places(&mut self, list: &[NodeId]) {
        (0u32..).zip(list).for_each(|(place, node)| self.places[node.0 as usize] = place);
    }

    /// A cycle among the nodes that were never emitted: each of them has a predecessor that was not, so going
    /// against the edges from the first of the list must come back.
    fn cycle(&self, graph: GraphId, list: &[NodeId]) -> CycleError {
        let stuck = |node| self.place(node).is_some_and(|place| self.waiting[place as usize] > 0);
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut seen = FixedBitSet::with_capacity(self.places.len());
        let mut at = list.iter().copied().find(|&node| stuck(node));
        while let Some(node) = at.filter(|node| !seen.put(node.0 as usize)) {
            nodes.push(node);
            let counted = |&from: &NodeId| stuck(from) && !self.is_silent(from);
            at = self.dense.predecessors(node).find(counted);
        }
        if let Some(start) = nodes.iter().position(|&node| Some(node) == at) {
            nodes.drain(..start);
        }
        nodes.reverse();
        let on_cycle: rustc_hash::FxHashSet<NodeId> = nodes.iter().copied().collect();
        let first = list.iter().find(|node| on_cycle.contains(node));
        if let Some(at) = nodes.iter().position(|node| Some(node) == first) {
            nodes.rotate_left(at);
        }
        let node_names = nodes.iter().map(|&node| self.snapshot.node(node).name.clone()).collect();
        CycleError { graph, nodes, graph_name: self.snapshot.graph(graph).name.clone(), node_names }
    }
}

#[cfg(test)]
#[path = "sort_tests.rs"]
mod tests;
