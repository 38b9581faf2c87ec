//! Answers to `reaches` while a pass runs: what a machine did to the edges is told to [`LiveReach`], graph by graph.
//!
//! Promise: exact for the state at the time of the question.

use rustc_hash::FxHashMap;

use crate::graph::{Edge, GraphId, LiveReach, NodeId, ReachScratch};
use crate::lang::eval::{EditKind, Machine};

/// One question for every so many nodes is many.
const QUESTIONED: usize = 4;

/// What is known of the graphs of one machine's state.
#[derive(Default)]
pub(super) struct ReachIndex {
    graphs: FxHashMap<GraphId, LiveReach>,
    /// How much of the machine's log has been told.
    seen: usize,
    /// So many questions are to be expected.
    expected: usize,
    scratch: ReachScratch,
}

impl ReachIndex {
    /// Tells that a run like this one has asked so many questions.
    pub fn expect(&mut self, questions: usize) {
        self.expected = questions;
    }

    /// Whether `from` reaches `to` in the state of `machine`.
    pub fn ask(&mut self, machine: &Machine<'_>, from: NodeId, to: NodeId) -> bool {
        self.tell(machine);
        let near = machine.near();
        let graph_of = |node| near.graph_of(node);
        let Some(graph) = graph_of(from).filter(|&graph| graph_of(to) == Some(graph)) else { return false };
        let many = self.expected > near.state().list_len(graph) / QUESTIONED;
        let known = self.graphs.entry(graph).or_insert_with(|| LiveReach::expecting(many));
        known.reaches(&mut self.scratch, near, graph, (from, to))
    }

    /// Tells of the edits since the last question.
    fn tell(&mut self, machine: &Machine<'_>) {
        let edits = machine.edits();
        if self.graphs.is_empty() {
            self.seen = edits.len();
        }
        let new = edits.get(self.seen..).unwrap_or_default();
        // Edges of nodes that are gone by now are part of what led through these nodes.
        let gone = new.iter().filter_map(|record| match record.kind {
            EditKind::Delete { node, graph, .. } => Some((node, graph)),
            _ => None,
        });
        let gone: FxHashMap<NodeId, GraphId> = gone.collect();
        for record in new {
            // An edge lies in one graph.
            match record.kind {
                EditKind::Delete { node, graph, ref beside, .. } => {
                    self.graphs
                        .entry(graph)
                        .and_modify(|known| known.gone(node, &beside.before, &beside.after));
                }
                EditKind::Connect { from, to, before } => {
                    if let Some(known) = self.of(machine, &gone, to.node) {
                        before.into_iter().for_each(|before| known.lose(Edge::Data(before, to)));
                        known.gain(Edge::Data(from, to));
                    }
                }
                EditKind::Cut { from, to } => {
                    let known = self.of(machine, &gone, to.node);
                    known.into_iter().for_each(|known| known.lose(Edge::Data(from, to)));
                }
                EditKind::Link { from, to } => {
                    let known = self.of(machine, &gone, to);
                    known.into_iter().for_each(|known| known.gain(Edge::Control(from, to)));
                }
                EditKind::Unlink { from, to } => {
                    let known = self.of(machine, &gone, to);
                    known.into_iter().for_each(|known| known.lose(Edge::Control(from, to)));
                }
                EditKind::Insert { .. } | EditKind::SetAttr { .. } | EditKind::SetField { .. } => {}
            }
        }
        self.seen = edits.len();
    }

    /// What is known of the graph of a node, which may be gone.
    fn of(
        &mut self,
        machine: &Machine<'_>,
        gone: &FxHashMap<NodeId, GraphId>,
        node: NodeId,
    ) -> Option<&mut LiveReach> {
        if self.graphs.is_empty() {
            return None;
        }
        let graph = match gone.get(&node) {
            Some(graph) => *graph,
            None => machine.near().graph_of(node)?,
        };
        self.graphs.get_mut(&graph)
    }
}
