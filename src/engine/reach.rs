//! Answers to `reaches` while a pass runs: what a machine did to the edges is told to [`LiveReach`], graph by graph.
//!
//! Promise: exact for the state at the time of the question.

use rustc_hash::FxHashMap;

use crate::graph::{Edge, GraphId, LiveReach, NodeId, Reach, ReachScratch, Snapshot};
use crate::lang::eval::{EditKind, Machine};

/// What is known of the graphs of one machine's state.
#[derive(Default)]
pub(super) struct ReachIndex {
    graphs: FxHashMap<GraphId, LiveReach>,
    /// How much of the machine's log has been told.
    seen: usize,
    scratch: ReachScratch,
}

impl ReachIndex {
    /// Whether `from` reaches `to` in the state of `machine`, which is `before` and its log.
    pub fn ask(&mut self, machine: &Machine<'_>, before: &Snapshot, from: NodeId, to: NodeId) -> bool {
        self.tell(machine);
        let graph_of = |node| machine.state().get_node(node).map(|node| node.graph);
        let Some(graph) = graph_of(from).filter(|&graph| graph_of(to) == Some(graph)) else { return false };
        let known = self.graphs.entry(graph).or_default();
        // Without edits the flat view of the snapshot before is that of the state.
        let fresh = || machine.edits().is_empty().then(|| Reach::new(before, graph));
        known.reaches(&mut self.scratch, machine.state(), graph, (from, to), fresh)
    }

    /// Tells of the edits since the last question.
    fn tell(&mut self, machine: &Machine<'_>) {
        let edits = machine.edits();
        if self.graphs.is_empty() {
            self.seen = edits.len();
        }
        for record in edits.get(self.seen..).unwrap_or_default() {
            // An edge lies in one graph; a node that is gone by now took its edges with it, in its own record.
            match record.kind {
                EditKind::Delete { graph, .. } => {
                    self.graphs.entry(graph).and_modify(LiveReach::break_up);
                }
                EditKind::Connect { from, to, before } => {
                    if let Some(known) = self.of(machine, to.node) {
                        before.into_iter().for_each(|before| known.lose(Edge::Data(before, to)));
                        known.gain(Edge::Data(from, to));
                    }
                }
                EditKind::Cut { from, to } => {
                    self.of(machine, to.node).into_iter().for_each(|known| known.lose(Edge::Data(from, to)));
                }
                EditKind::Link { from, to } => {
                    self.of(machine, to).into_iter().for_each(|known| known.gain(Edge::Control(from, to)));
                }
                EditKind::Unlink { from, to } => {
                    self.of(machine, to).into_iter().for_each(|known| known.lose(Edge::Control(from, to)));
                }
                EditKind::Insert { .. } | EditKind::SetAttr { .. } | EditKind::SetField { .. } => {}
            }
        }
        self.seen = edits.len();
    }

    fn of(&mut self, machine: &Machine<'_>, node: NodeId) -> Option<&mut LiveReach> {
        let graph = machine.state().get_node(node)?.graph;
        self.graphs.get_mut(&graph)
    }
}
