//! Answers to `reaches` while a pass runs.
//!
//! Promise: exact for the state at the time of the question. The first few questions about a graph are searched; then
//! an index ([`Reach`]) answers, until an edit changes an edge or a node of that graph. So a pass that only asks is near
//! linear, and one that edits after each question never pays for an index that it uses once.

use rustc_hash::FxHashMap;

use crate::graph::{GraphId, NodeId, Reach, ReachScratch, Snapshot};
use crate::lang::eval::{EditKind, Machine, reaches};

/// Questions about one graph that are searched before an index is made: about what making one costs.
const SEARCHED: u32 = 8;

/// What is known of the graphs of one machine's state.
#[derive(Default)]
pub(super) struct ReachIndex {
    graphs: FxHashMap<GraphId, Known>,
    /// How much of the machine's log has been looked at.
    seen: usize,
    scratch: ReachScratch,
}

#[derive(Default)]
struct Known {
    asked: u32,
    index: Option<Reach>,
}

impl ReachIndex {
    /// Whether `from` reaches `to` in the state of `machine`, which is `before` and its log.
    pub fn ask(&mut self, machine: &Machine<'_>, before: &Snapshot, from: NodeId, to: NodeId) -> bool {
        self.forget(machine);
        let Some(graph) = machine.state().get_node(from).map(|node| node.graph) else { return false };
        let known = self.graphs.entry(graph).or_default();
        known.asked += 1;
        if known.index.is_none() && known.asked <= SEARCHED {
            return reaches(machine.state(), from, to);
        }
        let index = known.index.get_or_insert_with(|| Reach::new(&machine.snapshot(before), graph));
        index.reaches(&mut self.scratch, from, to)
    }

    /// Drops what edits since the last question have made wrong.
    fn forget(&mut self, machine: &Machine<'_>) {
        let edits = machine.edits();
        for record in edits.get(self.seen..).unwrap_or_default() {
            // An edge lies in one graph; a node that is gone by now took its edges with it, in its own record.
            let graph = match record.kind {
                EditKind::Insert { graph, .. } | EditKind::Delete { graph, .. } => Some(graph),
                EditKind::Connect { to, .. } | EditKind::Cut { to, .. } => graph_of(machine, to.node),
                EditKind::Link { to, .. } | EditKind::Unlink { to, .. } => graph_of(machine, to),
                EditKind::SetAttr { .. } | EditKind::SetField { .. } => None,
            };
            if let Some(graph) = graph {
                self.graphs.remove(&graph);
            }
        }
        self.seen = edits.len();
    }
}

fn graph_of(machine: &Machine<'_>, node: NodeId) -> Option<GraphId> {
    machine.state().get_node(node).map(|node| node.graph)
}
