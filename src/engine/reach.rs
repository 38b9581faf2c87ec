//! Answers to `reaches` while a pass runs.
//!
//! Promise: exact for the state at the time of the question. The first few questions are searched. Then a topological
//! order that follows the edits ([`Ranks`]) bounds the search. Where that is not enough, an index ([`Reach`]) answers,
//! until an edit changes an edge or a node of that graph. So a pass that only asks is near linear, and one that edits
//! after each question never pays for an index that it uses once.

use rustc_hash::FxHashMap;

use super::ranks::Ranks;
use crate::graph::{GraphId, NodeId, Reach, ReachScratch, Snapshot};
use crate::lang::eval::{EditKind, Machine, reaches};

/// Questions about one graph that are searched before an index is made: about what making one costs.
const SEARCHED: u32 = 8;

/// Questions of a pass before the order is made: making it costs about one search.
const UNRANKED: u32 = 1;

/// Nodes that a search bounded by ranks looks at before the index is made.
const BOUNDED: usize = 1 << 12;

/// What is known of the graphs of one machine's state.
#[derive(Default)]
pub(super) struct ReachIndex {
    graphs: FxHashMap<GraphId, Known>,
    /// How much of the machine's log has been looked at.
    seen: usize,
    scratch: ReachScratch,
    /// Questions so far.
    asked: u32,
    ranks: Option<Ranks>,
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
        self.asked = self.asked.saturating_add(1);
        let known = self.graphs.entry(graph).or_default();
        if let Some(index) = &known.index {
            return index.reaches(&mut self.scratch, from, to);
        }
        if self.asked > UNRANKED {
            let ranks = self.ranks.get_or_insert_with(|| Ranks::new(machine.snapshot(before).dense()));
            if let Some(answer) = ranks.reaches(machine, graph, (from, to), BOUNDED) {
                return answer;
            }
        }
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
        let new = edits.get(self.seen..).unwrap_or_default();
        if let Some(ranks) = &mut self.ranks {
            for record in new {
                match record.kind {
                    EditKind::Insert { node, .. } => ranks.add_node(node),
                    EditKind::Connect { from, to, .. } => ranks.add_edge(machine, from.node, to.node),
                    EditKind::Link { from, to } => ranks.add_edge(machine, from, to),
                    _ => {}
                }
            }
        }
        for record in new {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::format::{LoadContext, load};
    use crate::lang::eval::{NoHost, Program};

    /// Nodes without edges, numbered from 0.
    fn nodes(count: usize) -> Snapshot {
        let text: String = (0..count).map(|i| format!("n{i}: Relu\n")).collect();
        load(text.as_bytes(), "nodes.graph", &LoadContext::default()).expect("a graph").snapshot
    }

    proptest! {
        /// Through many edits every answer is that of a plain search, with circles and without.
        #[test]
        fn answers_follow_edits(
            start in prop::collection::vec((0u32..24, 0u32..24), 0..30),
            steps in prop::collection::vec((0u8..8, 0u32..24, 0u32..24), 1..120),
            acyclic in any::<bool>(),
        ) {
            let before = nodes(24);
            prop_assert_eq!(before.node_count(), 24);
            let program = Program::default();
            let mut edit = before.edit();
            for &(a, b) in start.iter().filter(|(a, b)| a < b || !acyclic && a != b) {
                edit.add_control(NodeId(a), NodeId(b));
            }
            let before = edit.finish(&before);
            let mut machine = Machine::over(&program, &NoHost, &before, GraphId::ROOT);
            let mut index = ReachIndex::default();
            for (what, a, b) in steps {
                let (from, to) = (NodeId(a), NodeId(b));
                match what {
                    0 => _ = machine.delete(from),
                    1 => machine.unlink(from, to),
                    // An edge against the order, as long as it closes no circle.
                    2 | 3 if !acyclic || !reaches(machine.state(), to, from) => _ = machine.link(from, to),
                    _ => {
                        let answer = index.ask(&machine, &before, from, to);
                        prop_assert_eq!(answer, reaches(machine.state(), from, to));
                    }
                }
            }
        }
    }
}
