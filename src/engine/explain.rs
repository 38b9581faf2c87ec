//! Why a node or an anchor was, or was not, touched: values for `explain`.

use super::outcome::{PlaceRef, RuleRef};
use crate::graph::Sym;

/// The answer to `explain GRAPH NODE[:in|:outN]`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Explanation {
    /// The anchors asked about.
    pub anchors: Vec<AnchorStory>,
}

/// One anchor's story.
#[derive(Clone, Debug, PartialEq)]
pub struct AnchorStory {
    pub place: PlaceRef,
    /// The symbol it belongs to, and how many anchors share it (in the graph that the layer looked at).
    pub symbol: Option<(String, usize)>,
    /// The other anchors of the group, with marks (cut after some; `hidden` says how many more).
    pub sharers: Vec<(PlaceRef, Vec<Sym>)>,
    pub hidden: usize,
    /// Every mark it carries, with the condition that gave it; and each mark it does not carry, with the part
    /// of the condition that failed.
    pub marks: Vec<MarkStory>,
    /// Every pair rule that looked at it, conflict or not.
    pub verdicts: Vec<VerdictStory>,
    /// What came of it, e.g. `isolated: `x` was inserted before it`, `protected already: …`.
    pub outcome: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MarkStory {
    pub mark: Sym,
    pub holds: bool,
    pub steps: Vec<TraceStep>,
}

/// One rule on one pair (or on the group).
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictStory {
    pub rule: RuleRef,
    /// The partner; `None` for a rule over the group.
    pub partner: Option<PlaceRef>,
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub steps: Vec<TraceStep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The pair never conflicts by a `never` entry.
    Never,
    /// Not looked at, by a `skip` entry.
    Skipped,
    /// The condition did not hold.
    NoConflict,
    /// A conflict; this anchor is isolated.
    Isolated,
    /// A conflict; the partner is isolated.
    PartnerIsolated,
}

/// A sub-expression that decided, and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    pub depth: u32,
    /// The text of the sub-expression in the rule file.
    pub source: String,
    pub value: String,
    /// `file:line` of the rule text.
    pub at: String,
}
