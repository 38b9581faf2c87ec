//! What a run leaves behind: snapshots before and after every pass, edits, findings, failures.
//!
//! Promise: values only. A front end prints these; nothing in here formats for a terminal. Names are rendered when
//! the finding is made, since a later pass may remove the node.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::graph::{Anchor, NodeId, Snapshot, Sym};
use crate::lang::Level;
use crate::lang::syntax::ast::Kind;

/// The entry that decided something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuleRef {
    pub kind: Kind,
    /// Its name; for an `always` entry its title, e.g. `A with B, C`.
    pub name: Sym,
}

/// A place in the graph that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceRef {
    pub node: NodeId,
    /// `None`: the node itself.
    pub anchor: Option<Anchor>,
    /// Name of the node.
    pub name: Arc<str>,
    pub op: Sym,
    pub graph: Arc<str>,
    /// What the place has to do with the finding, e.g. the marks that brought a rule here, or `first access`.
    pub role: String,
}

/// A verdict that a person reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub pass: Sym,
    pub rule: RuleRef,
    /// Code of a lint; `conflict` for what a copy answers; else the pass.
    pub code: Sym,
    pub level: Level,
    /// The reason as the rule gives it.
    pub message: String,
    pub help: Option<String>,
    /// The first place is the one that is isolated or reported.
    pub places: Vec<PlaceRef>,
    /// What a `report` said: its bytes in the text of the entry, documentation included.
    pub said: Option<std::ops::Range<usize>>,
    /// Other rules that say the same of the same anchor, with their reasons.
    pub also: Vec<(RuleRef, String)>,
    /// Numbers of the edits (in [`StepOutcome::edits`]) that answer the finding.
    pub edits: std::ops::Range<usize>,
}

/// What a finding says that nothing answers.
#[derive(PartialEq, Eq, Hash)]
struct Remark<'f> {
    rule: &'f RuleRef,
    message: &'f str,
    places: Vec<(NodeId, Option<Anchor>)>,
}

impl Finding {
    fn remark(&self) -> Option<Remark<'_>> {
        let places = || self.places.iter().map(|place| (place.node, place.anchor)).collect();
        self.edits.is_empty().then(|| Remark { rule: &self.rule, message: &self.message, places: places() })
    }
}

/// One change of the graph, as the edit list writes it (`design.md` 7).
#[derive(Clone, Debug, PartialEq)]
pub struct EditEntry {
    pub pass: Sym,
    /// The rule whose finding it answers, or the pass itself.
    pub rule: Sym,
    pub kind: EditEntryKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EditEntryKind {
    /// A node put on edges: where it reads from and what it feeds, when the run ended its step.
    Insert {
        op: Sym,
        name: Arc<str>,
        node: NodeId,
        from: Vec<AnchorRef>,
        to: Vec<AnchorRef>,
    },
    Delete {
        op: Sym,
        name: Arc<str>,
    },
    /// A control edge added or removed.
    Control {
        from: Arc<str>,
        to: Arc<str>,
        added: bool,
    },
    /// An attribute, a tensor field or a data edge that changed.
    Set {
        node: Arc<str>,
        what: String,
        value: String,
    },
}

/// An anchor by node name and index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorRef {
    pub node: Arc<str>,
    pub index: u32,
}

/// Why a pass failed. Its input snapshot stands, unless it halted: then what it had done stands.
#[derive(Clone, Debug, PartialEq)]
pub struct PassFailure {
    pub pass: Sym,
    pub message: String,
    pub help: Option<String>,
    pub places: Vec<PlaceRef>,
}

/// One pass of a pipeline.
#[derive(Clone, Debug)]
pub struct StepOutcome {
    pub pass: Sym,
    pub before: Snapshot,
    pub after: Snapshot,
    pub edits: Arc<[EditEntry]>,
    pub findings: Arc<[Finding]>,
    pub failure: Option<PassFailure>,
    /// The pipeline goes on if this step fails: the failure is a warning.
    pub tolerated: bool,
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub before: Snapshot,
    pub after: Snapshot,
    pub steps: Vec<StepOutcome>,
}

impl Outcome {
    /// Adds a step. What a step says word for word as one before it, of the same places, is told once: a check may
    /// stand twice in a pipeline.
    pub(super) fn push(&mut self, mut step: StepOutcome) {
        // Most steps say nothing of the kind, and what was said before need not be gone through for them.
        let said: FxHashSet<_> = match step.findings.iter().any(|finding| finding.edits.is_empty()) {
            true => self.findings().filter_map(Finding::remark).collect(),
            false => FxHashSet::default(),
        };
        let is_new = |finding: &&Finding| finding.remark().is_none_or(|remark| !said.contains(&remark));
        let kept = step.findings.iter().filter(is_new);
        if kept.clone().count() < step.findings.len() {
            step.findings = kept.cloned().collect();
        }
        self.steps.push(step);
    }

    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.steps.iter().flat_map(|step| step.findings.iter())
    }

    pub fn edits(&self) -> impl Iterator<Item = &EditEntry> {
        self.steps.iter().flat_map(|step| step.edits.iter())
    }

    pub fn failures(&self) -> impl Iterator<Item = &PassFailure> {
        self.steps.iter().filter_map(|step| step.failure.as_ref())
    }
}
