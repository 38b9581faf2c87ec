//! Which conflict of a layer a node answers that was inserted for it.
//!
//! Promise: the conflict is that of the run itself, told in the words of its finding. The values that decided are those of the
//! graph that the layer looked at; where a copy for another conflict has changed them since, they are left out.

use rustc_hash::FxHashMap;

use super::changes::{changes, touched};
use super::layer::Looked;
use super::tell::{Stage, Teller};
use super::{ActKind, ActStory, TraceStep};
use crate::engine::pairs::Class;
use crate::engine::render::Conflict;
use crate::engine::run::Draft;
use crate::engine::search;
use crate::graph::{Anchor, NodeId};
use crate::lang::eval::{EditKind, EditRecord};

/// A conflict, the rules that found it, and what was done for it.
pub(super) struct Answered<'s> {
    /// Number of its draft.
    number: usize,
    pub anchor: Anchor,
    pub by: &'s [(Class, search::Verdict)],
    edits: &'s [EditRecord],
}

impl<'s> Stage<'s> {
    /// The conflicts for which something was done.
    fn answered(&self) -> impl Iterator<Item = Answered<'s>> {
        let result = self.result;
        result.drafts.iter().enumerate().filter_map(|(number, draft)| match draft {
            // A pass that failed has conflicts, but its edits are gone.
            Draft::Conflict { anchor, by, edits } => {
                let edits = result.edits.get(edits.clone()).filter(|edits| !edits.is_empty())?;
                Some(Answered { number, anchor: *anchor, by, edits })
            }
            _ => None,
        })
    }

    /// The nodes that were inserted for conflicts.
    pub fn copies(&self) -> FxHashMap<NodeId, Answered<'s>> {
        let mut copies = FxHashMap::default();
        for answered in self.answered() {
            for record in answered.edits {
                if let EditKind::Insert { node, .. } = record.kind {
                    copies.insert(node, Answered { ..answered });
                }
            }
        }
        copies
    }
}

impl Teller<'_> {
    /// What was done for conflicts to a node that the stage inserted.
    pub(super) fn answers(&self, stage: &Stage<'_>, node: NodeId, asked: Option<Anchor>) -> Vec<ActStory> {
        // Of a node that was there before, the layer tells.
        if stage.before.contains(node) || !stage.result.after.contains(node) {
            return Vec::new();
        }
        stage.answered().filter_map(|answered| self.answer(stage, &answered, node, asked)).collect()
    }

    fn answer(
        &self,
        stage: &Stage<'_>,
        answered: &Answered<'_>,
        node: NodeId,
        asked: Option<Anchor>,
    ) -> Option<ActStory> {
        let own = answered.edits.iter().filter(|record| touched(&record.kind).contains(&Some(node)));
        let told = changes(own, node, &stage.before, &stage.result.after);
        let of = |wanted: Option<Anchor>| {
            told.iter().filter(|(of, _)| *of == wanted).map(|(_, text)| text.clone()).collect::<Vec<_>>()
        };
        let what = match asked {
            None => told.iter().map(|(_, text)| text.clone()).collect(),
            Some(_) => Some(of(asked)).filter(|own| !own.is_empty()).unwrap_or_else(|| of(None)),
        };
        if what.is_empty() {
            return None;
        }
        let renderer = self.renderer(&stage.before);
        let Conflict { rule: by, message, help, places, also, .. } =
            renderer.conflict(answered.anchor, answered.by)?;
        let place = match asked {
            Some(anchor) => self.renderer(&stage.result.after).place(anchor, String::new()),
            None => self.renderer(&stage.result.after).node_place(node, String::new()),
        };
        let (kind, because_of, steps) = (ActKind::Done, Some(message), self.decided(stage, answered));
        let (during, more, rank) = (None, 0, 0);
        Some(ActStory { place, kind, what, because_of, by, during, places, help, also, steps, more, rank })
    }

    /// What the first of the rules went by.
    fn decided(&self, stage: &Stage<'_>, answered: &Answered<'_>) -> Vec<TraceStep> {
        let resolved = stage.result.resolved.iter().find(|one| one.drafts.contains(&answered.number));
        let steps = resolved.zip(answered.by.first()).and_then(|(resolved, (class, verdict))| {
            let looked = Looked::new(self.session, resolved, &stage.result.drafts).ok()?;
            looked.decided(answered.anchor, *class, verdict.pair)
        });
        steps.unwrap_or_default()
    }
}
