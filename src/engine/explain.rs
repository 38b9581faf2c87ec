//! Why a node or an anchor was, or was not, touched: values for `explain`, and how they are made.
//!
//! Promise: the story is told from the rules and the graph that decided, evaluated again on the frozen snapshot;
//! nothing is guessed from what a rule is called. *Why not* is told as well as *why*.
//!
//! The road: `tell` (runs the steps, finds what looked at the anchor, says what came of it), `layer` (marks and rules
//! of one `resolve`), `why` (the parts of an expression that decided), `acts` (the same for statements), `words`
//! (the rule text of an expression).

mod acts;
mod layer;
mod steps;
mod tell;
mod why;
mod words;

use super::outcome::{PlaceRef, RuleRef};
use crate::graph::{Anchor, NodeId, Sym};

/// What `explain` is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainTarget {
    pub node: NodeId,
    /// `None`: all anchors of the node, and what chains made of it.
    pub anchor: Option<Anchor>,
}

/// The answer to `explain GRAPH NODE[:in|:outN]`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Explanation {
    /// The chains that looked at the node.
    pub chains: Vec<ChainStory>,
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
    /// Every rule that looked at it, conflict or not: conflicts first, then as the rules stand in their files.
    pub verdicts: Vec<VerdictStory>,
    /// What came of it, e.g. `isolated: `x` was inserted before it`.
    pub outcome: String,
    /// Why a conflict was left alone.
    pub steps: Vec<TraceStep>,
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
    /// The other half of a pair that the anchor is not part of: it is isolated in place of one of the two.
    pub beside: Option<PlaceRef>,
    /// How many more partners of the same operator type the rule says the same of.
    pub more: usize,
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub steps: Vec<TraceStep>,
}

/// In the order in which a person wants to read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// A conflict; this anchor is isolated.
    Isolated,
    /// A conflict; the partner is isolated.
    PartnerIsolated,
    /// A conflict; other anchors of the group are isolated.
    OthersIsolated,
    /// The condition did not hold.
    NoConflict,
    /// Not looked at, by a `skip` entry.
    Skipped,
    /// The pair never conflicts by a `never` entry.
    Never,
}

/// One chain on the node.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainStory {
    pub rule: RuleRef,
    pub place: PlaceRef,
    /// Its requirements up to the first that failed.
    pub requirements: Vec<RequirementStory>,
    pub outcome: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RequirementStory {
    pub name: Sym,
    pub holds: bool,
    pub steps: Vec<TraceStep>,
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
