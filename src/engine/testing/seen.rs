//! What a run did, told so that expectations can be compared with it.

use std::sync::Arc;

use super::super::outcome::Outcome;
use super::super::render::Renderer;
use super::super::run::{Draft, PassResult};
use super::super::session::{Request, RunError, Session, Step};
use super::name_of;
use crate::graph::{NodeId, Snapshot, State, Sym};
use crate::lang::eval::EditKind;
use crate::lang::syntax::ast::{AnchorName, Kind, Position};
use crate::lang::syntax::print::keyword;

/// One run.
pub struct Seen {
    pub outcome: Outcome,
    /// In the order of their making; those that are gone at the end are left out.
    pub inserted: Vec<Inserted>,
    pub chains: Vec<ChainSeen>,
}

/// A node that a pass put into the graph.
pub struct Inserted {
    pub node: NodeId,
    /// Names of what made it: rules whose finding it answers, chain, pass, action.
    pub by: Vec<Sym>,
}

/// A chain that was tried on a node.
pub struct ChainSeen {
    pub chain: Sym,
    pub node: Arc<str>,
    /// Where it stopped; none: it ran to its end.
    pub stop: Option<Sym>,
}

impl Seen {
    pub fn new(session: &Session, snapshot: &Snapshot, request: &Request) -> Result<Seen, RunError> {
        let (mut inserted, mut chains) = (Vec::new(), Vec::new());
        let outcome = session.run_seen(snapshot, request, |step, before, result| {
            note_insertions(session, step, before, result, &mut inserted);
            note_chains(before, result, &mut chains);
        })?;
        inserted.retain(|inserted: &Inserted| outcome.after.contains(inserted.node));
        Ok(Seen { outcome, inserted, chains })
    }
}

/// The nodes that a step put into the graph.
fn note_insertions(
    session: &Session,
    step: Step,
    before: &Snapshot,
    result: &PassResult,
    inserted: &mut Vec<Inserted>,
) {
    let renderer = Renderer::new(&session.db, session.rules, before);
    let name = |class| {
        let rule = renderer.rule_ref(class);
        if rule.kind == Kind::Always { Sym::new(keyword(Kind::Always)) } else { rule.name }
    };
    for (at, record) in result.edits.iter().enumerate() {
        let EditKind::Insert { node, .. } = record.kind else { continue };
        let mut by = Vec::new();
        for draft in result.drafts.iter() {
            match draft {
                Draft::Conflict { by: rules, edits, .. } if edits.contains(&at) => {
                    by.extend(rules.iter().map(|(class, _)| name(*class)));
                }
                Draft::Chain { chain, edits, .. } if edits.contains(&at) => by.push(*chain),
                Draft::Report { entry: (_, name), answer, .. } if *answer == Some(node) => by.push(*name),
                _ => {}
            }
        }
        by.extend(result.program.0.key(record.entry).map(|(_, name)| name));
        by.extend([step.name, step.told]);
        inserted.push(Inserted { node, by });
    }
}

/// How chains ended in a step.
fn note_chains(before: &Snapshot, result: &PassResult, chains: &mut Vec<ChainSeen>) {
    for draft in result.drafts.iter() {
        if let Draft::Chain { chain, node, step, .. } = draft {
            let state: &State = if before.contains(*node) { before } else { &result.after };
            let stop = step.as_ref().map(|stop| stop.name);
            chains.push(ChainSeen { chain: *chain, node: name_of(state, *node), stop });
        }
    }
}

impl Inserted {
    /// The anchors on one side of the node, as tests write them.
    pub fn beside(&self, after: &State, position: Position) -> Vec<(Arc<str>, u32)> {
        let Some(node) = after.get_node(self.node) else { return Vec::new() };
        match position {
            Position::After => (0..node.inputs.len() as u32)
                .filter_map(|index| after.producer(self.node.input(index)))
                .map(|output| (name_of(after, output.node), output.index))
                .collect(),
            Position::Before => (0..node.outputs.len() as u32)
                .flat_map(|index| after.consumers(self.node.output(index)))
                .map(|input| (name_of(after, input.node), input.index))
                .collect(),
        }
    }

    /// Whether exactly these anchors, in this order, are on that side.
    pub fn is_beside(&self, after: &State, position: Position, anchors: &[AnchorName]) -> bool {
        let wanted = anchors.iter().map(|anchor| (anchor.node.as_str(), anchor.index));
        self.beside(after, position).iter().map(|(name, index)| (&**name, *index)).eq(wanted)
    }

    /// The node in the words of the graph notation, and where it leads.
    pub fn words(&self, after: &State) -> String {
        let Some(node) = after.get_node(self.node) else { return String::new() };
        let list = |position| {
            let anchors =
                self.beside(after, position).into_iter().map(|(name, index)| format!("{name}:{index}"));
            anchors.collect::<Vec<_>>().join(", ")
        };
        let by = self.by.first().map(|by| format!(" by {by}")).unwrap_or_default();
        let (from, to) = (list(Position::After), list(Position::Before));
        format!("`{}: {}({from})` before `{to}`{by}", node.name, node.ty)
    }
}
