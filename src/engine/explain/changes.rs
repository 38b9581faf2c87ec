//! What edits did to one node, in words.

use std::sync::Arc;

use crate::graph::{Anchor, Input, NodeId, Output, State};
use crate::lang::eval::{EditKind, EditRecord, Subject};

/// Changes of one kind that are told.
const TOLD: usize = 6;

/// What is said of a node that was deleted.
pub const DELETED: &str = "deleted";

/// What is said of a node that the run inserted.
pub const INSERTED: &str = "inserted";

/// One change: the anchor of the node that it is about, if it is about one, and what happened.
pub type Change = (Option<Anchor>, String);

/// The nodes that an edit is about.
pub fn touched(kind: &EditKind) -> [Option<NodeId>; 3] {
    let subject = |subject: &Subject| match subject {
        Subject::Node(node) => Some(*node),
        Subject::Anchor(anchor) => Some(anchor.node()),
        Subject::Graph(_) => None,
    };
    match kind {
        EditKind::Insert { node, .. } | EditKind::Delete { node, .. } => [Some(*node), None, None],
        EditKind::Connect { from, to, before } => {
            [Some(to.node), Some(from.node), before.map(|output| output.node)]
        }
        EditKind::Cut { from, to } => [Some(to.node), Some(from.node), None],
        EditKind::Link { from, to } | EditKind::Unlink { from, to } => [Some(*to), Some(*from), None],
        EditKind::SetAttr { subject: of, .. } | EditKind::SetField { subject: of, .. } => {
            [subject(of), None, None]
        }
    }
}

/// A size for a person.
pub fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

/// A node with what its first output costs, if it is there.
pub fn copy(state: &State, node: NodeId) -> Option<String> {
    let found = state.get_node(node)?;
    let size = found.outputs.get(0).and_then(|port| port.desc.byte_count());
    let size = size.map_or_else(String::new, |size| format!(" ({})", bytes(size)));
    Some(format!("{} `{}`{size}", found.ty, found.name))
}

struct Words<'a> {
    before: &'a State,
    now: &'a State,
    node: NodeId,
}

/// What records, all about a node, did to it. `before`: the graph when the pass began; `now`: as it is after them.
pub fn changes<'r>(
    records: impl Iterator<Item = &'r EditRecord>,
    node: NodeId,
    before: &State,
    now: &State,
) -> Vec<Change> {
    let words = Words { before, now, node };
    let mut told: Vec<Change> = Vec::new();
    let mut sets = 0;
    for record in records {
        let Some(change) = words.change(&record.kind).filter(|change| !told.contains(change)) else {
            continue;
        };
        if matches!(record.kind, EditKind::SetAttr { .. } | EditKind::SetField { .. }) {
            sets += 1;
            if sets > TOLD {
                continue;
            }
        }
        told.push(change);
    }
    if sets > TOLD {
        told.push((None, format!("set {} more values", sets - TOLD)));
    }
    told
}

impl Words<'_> {
    fn name(&self, node: NodeId) -> Arc<str> {
        let found = self.now.get_node(node).or_else(|| self.before.get_node(node));
        found.map_or_else(|| "a deleted node".into(), |node| node.name.clone())
    }

    fn input(&self, input: Input) -> String {
        format!("`{}:in{}`", self.name(input.node), input.index)
    }

    fn output(&self, output: Output) -> String {
        format!("`{}:out{}`", self.name(output.node), output.index)
    }

    fn is_new(&self, node: NodeId) -> bool {
        !self.before.contains(node)
    }

    /// A node that this pass inserted, with what it costs.
    fn copy(&self, node: NodeId) -> String {
        copy(self.now, node).unwrap_or_else(|| format!("`{}`", self.name(node)))
    }

    fn change(&self, kind: &EditKind) -> Option<Change> {
        let own = self.node;
        let whole = |text: String| Some((None, text));
        match kind {
            EditKind::Insert { node, .. } if *node == own => whole(INSERTED.to_owned()),
            EditKind::Delete { node, .. } if *node == own => whole(DELETED.to_owned()),
            EditKind::Connect { from, to, before } => self.connected(*from, *to, *before),
            EditKind::Cut { from, to } if to.node == own => {
                let text = format!("in{} no longer reads {}", to.index, self.output(*from));
                Some((Some(Anchor::In(*to)), text))
            }
            EditKind::Cut { from, to } => {
                let text = format!("out{} is no longer read by {}", from.index, self.input(*to));
                Some((Some(Anchor::Out(*from)), text))
            }
            EditKind::Link { from, to } if *to == own => whole(format!("runs after `{}`", self.name(*from))),
            EditKind::Link { to, .. } => whole(format!("runs before `{}`", self.name(*to))),
            EditKind::Unlink { from, to } if *to == own => {
                whole(format!("no longer has to run after `{}`", self.name(*from)))
            }
            EditKind::Unlink { to, .. } => whole(format!("no longer has to run before `{}`", self.name(*to))),
            // What a new node's tensors are is part of its making.
            EditKind::SetField { .. } | EditKind::SetAttr { subject: Subject::Anchor(_), .. }
                if self.is_new(own) =>
            {
                None
            }
            EditKind::SetAttr { subject, key, value } => {
                let (anchor, prefix) = place(*subject);
                let text = match value {
                    Some(value) => format!("set {prefix}{key} = {}", crate::engine::render::show_attr(value)),
                    None => format!("removed {prefix}{key}"),
                };
                Some((anchor, text))
            }
            EditKind::SetField { subject, field } => {
                let (anchor, prefix) = place(*subject);
                Some((anchor, format!("set {prefix}{}", crate::engine::render::field_name(*field))))
            }
            _ => None,
        }
    }

    fn connected(&self, from: Output, to: Input, before: Option<Output>) -> Option<Change> {
        let own = self.node;
        if to.node == own {
            let anchor = Some(Anchor::In(to));
            let text = match before {
                Some(before) if self.is_new(from.node) && !self.is_new(own) => {
                    let copy = self.copy(from.node);
                    format!("{copy} inserted between {} and in{}", self.output(before), to.index)
                }
                Some(before) => {
                    format!("in{} reads {} instead of {}", to.index, self.output(from), self.output(before))
                }
                None => format!("in{} reads {}", to.index, self.output(from)),
            };
            return Some((anchor, text));
        }
        if from.node == own {
            let anchor = Some(Anchor::Out(from));
            if self.is_new(to.node) && !self.is_new(own) {
                let outputs = self.now.get_node(to.node).map_or(0, |node| node.outputs.len() as u32);
                let readers = (0..outputs).flat_map(|at| self.now.consumers(to.node.output(at)));
                let readers: Vec<String> = readers.take(TOLD).map(|input| self.input(input)).collect();
                let copy = self.copy(to.node);
                let text = match readers.is_empty() {
                    true => format!("{copy} reads out{}", from.index),
                    false => format!("{copy} inserted between out{} and {}", from.index, readers.join(", ")),
                };
                return Some((anchor, text));
            }
            return Some((anchor, format!("out{} is read by {}", from.index, self.input(to))));
        }
        let lost = before.filter(|before| before.node == own)?;
        // The copy between the two is told where it reads this output.
        if self.is_new(from.node) && !self.is_new(own) {
            return None;
        }
        Some((Some(Anchor::Out(lost)), format!("out{} is no longer read by {}", lost.index, self.input(to))))
    }
}

fn place(subject: Subject) -> (Option<Anchor>, String) {
    match subject {
        Subject::Anchor(anchor) => {
            let side = if anchor.is_in() { "in" } else { "out" };
            (Some(anchor), format!("{side}{}.", anchor.index()))
        }
        _ => (None, String::new()),
    }
}
