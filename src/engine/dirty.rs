//! Which nodes edits are about.

use rustc_hash::FxHashSet;

use super::search::GroupVerdict;
use crate::graph::NodeId;
use crate::lang::eval::{EditKind, Machine, Subject};

/// The nodes that an edit is about.
pub(super) fn nodes_of(kind: &EditKind) -> Vec<NodeId> {
    match kind {
        EditKind::Insert { node, behind, .. } => std::iter::once(*node).chain(*behind).collect(),
        EditKind::Delete { node, .. } => vec![*node],
        EditKind::Connect { from, to, before } => {
            [from.node, to.node].into_iter().chain(before.map(|output| output.node)).collect()
        }
        EditKind::Cut { from, to } => vec![from.node, to.node],
        EditKind::Link { from, to } | EditKind::Unlink { from, to } => vec![*from, *to],
        EditKind::SetAttr { subject, .. } | EditKind::SetField { subject, .. } => match subject {
            Subject::Node(node) => vec![*node],
            Subject::Anchor(anchor) => vec![anchor.node()],
            Subject::Graph(_) => Vec::new(),
        },
    }
}

/// Nodes that edits have touched since a search looked at them.
pub(super) struct Dirty {
    seen: usize,
    nodes: FxHashSet<NodeId>,
}

impl Dirty {
    /// Knows of nothing before edit number `seen`.
    pub fn since(seen: usize) -> Dirty {
        Dirty { seen, nodes: FxHashSet::default() }
    }

    /// Takes in what has been done since the last call.
    pub fn update(&mut self, machine: &Machine<'_>) {
        for record in &machine.edits()[self.seen..] {
            self.nodes.extend(nodes_of(&record.kind));
        }
        self.seen = machine.edits().len();
    }

    /// Whether a verdict has read something that has changed.
    pub fn spoils(&self, verdict: &GroupVerdict) -> bool {
        let Some(reads) = &verdict.reads else { return false };
        if self.nodes.is_empty() {
            return false;
        }
        reads.everything
            || if reads.nodes.len() <= self.nodes.len() {
                reads.nodes.iter().any(|node| self.nodes.contains(node))
            } else {
                self.nodes.iter().any(|node| reads.nodes.contains(node))
            }
    }
}
