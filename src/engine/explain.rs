//! Why a node or an anchor was, or was not, touched: values for `explain`, and how they are made.
//!
//! Promise: the story is told from the rules and the graph that decided, evaluated again on the frozen snapshot;
//! nothing is guessed from what a rule is called. *Why not* is told as well as *why*.
//!
//! The road: `tell` (runs the steps, finds what looked at the anchor, says what came of it), `layer` (marks and rules
//! of one `resolve`), `why` and `trail` (the parts of an expression that decided, and where their values came from),
//! `acts` (the same for statements), `words` (the rule text of an expression). Passes, lints and chains: `observe`
//! (looks on while a step runs), `would` (what a refused block would have done), `changes` (edits in words), `passes`
//! (the stories), `copies` (which conflict a copy answers), `table` (all nodes of a type).

mod acts;
mod changes;
mod copies;
mod layer;
mod observe;
mod passes;
mod scan;
mod table;
mod tell;
mod trail;
mod why;
mod words;
mod would;

use super::outcome::{PlaceRef, RuleRef};
use crate::graph::{Anchor, NodeId, State, Sym};

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
    /// What was asked about.
    pub asked: Option<PlaceRef>,
    /// Bytes of the tensor asked about; of a node, those of its first output.
    pub bytes: Option<u64>,
    /// The steps of the run that did something to it or decided about it, in their order.
    pub passes: Vec<PassStory>,
    /// What layers of memory conflicts say of the anchors asked about.
    pub anchors: Vec<AnchorStory>,
}

/// What one step of the run did to a node, or decided about it.
#[derive(Clone, Debug, PartialEq)]
pub struct PassStory {
    /// The name under which the results of the step are told.
    pub told: Sym,
    /// The step itself.
    pub rule: RuleRef,
    /// The chains that looked at the node.
    pub chains: Vec<ChainStory>,
    /// First what was done, then what was decided against, the gravest first.
    pub acts: Vec<ActStory>,
    /// The step failed, and all of it was taken back unless it says otherwise.
    pub failure: Option<String>,
}

impl PassStory {
    /// It is told as a part of another pass.
    pub fn is_step(&self) -> bool {
        self.told != self.rule.name
    }

    /// Nothing was done, found or asked by a chain, and no deletion was refused.
    pub fn is_minor(&self) -> bool {
        self.chains.is_empty() && self.acts.iter().all(|act| act.kind == ActKind::Refused && act.rank > 0)
    }
}

/// One change of a node, or a decision against one.
#[derive(Clone, Debug, PartialEq)]
pub struct ActStory {
    pub place: PlaceRef,
    pub kind: ActKind,
    /// What was done, line by line, or what was not.
    pub what: Vec<String>,
    /// The finding that it answers.
    pub because_of: Option<String>,
    /// The entry whose statement it was.
    pub by: RuleRef,
    /// The node that the rule was looking at, if it is another one.
    pub during: Option<PlaceRef>,
    /// Of a finding, or of the conflict that was answered: all that it is about.
    pub places: Vec<PlaceRef>,
    pub help: Option<String>,
    /// Other rules that it answers, with their reasons.
    pub also: Vec<(RuleRef, String)>,
    /// What decided: the last decision in full, then the first lines of those around it.
    pub steps: Vec<TraceStep>,
    /// How many more decisions of the same loop were alike.
    pub more: usize,
    /// How much was at stake: 0 is a deletion; small is grave.
    pub rank: u8,
}

impl ActStory {
    /// What decided in a few words: the cell of a matrix, or the case that was taken.
    pub fn because(&self) -> Option<String> {
        // A refusal is decided by its first condition, a change by all of them.
        let later = self.steps.iter().enumerate().skip(1).find(|(_, step)| step.depth == 0);
        let first = later.map_or(self.steps.len(), |(at, _)| at);
        let decisive = if self.kind == ActKind::Refused { &self.steps[..first] } else { &self.steps[..] };
        let cell = decisive.iter().find(|step| step.kind == StepKind::Cell);
        let case = self.steps[..first].iter().find(|step| step.kind == StepKind::Case && step.depth <= 2);
        cell.or(case).map(TraceStep::said)
    }

    /// The same, or else the innermost condition of the first.
    pub fn in_short(&self) -> Option<String> {
        self.because().or_else(|| condition(&self.steps).map(TraceStep::said))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActKind {
    Done,
    Reported,
    Refused,
}

/// What became of all nodes of one operator type.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub op: Sym,
    /// In the order of the graph, then those that the run inserted.
    pub rows: Vec<Row>,
    /// Rows by result, entry and reason: the most bytes first within a result.
    pub totals: Vec<Total>,
}

/// One node.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub place: PlaceRef,
    pub fate: Fate,
    /// The step of the run that decided; of a copy that answers a conflict, the rule that found it.
    pub by: Option<RuleRef>,
    /// The step of a chain, the case, the condition or the action that decided, without names of nodes.
    pub reason: String,
    /// The reason in the words of the rule.
    pub text: Option<String>,
    /// Bytes of the tensor of its first output; none if shape or type do not tell.
    pub bytes: Option<u64>,
}

/// What became of a node, in the order of totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// A rule could have taken it out, or done something to it, and did not.
    Kept,
    /// A chain ran to its end, or something about it was changed.
    Done,
    /// The run inserted it.
    Inserted,
    Deleted,
    /// The run inserted it, and a later step deleted it again.
    Withdrawn,
    /// No rule decided anything about it.
    Unchanged,
}

impl Fate {
    /// The graph had the node when it was given.
    pub fn was_given(self) -> bool {
        !matches!(self, Fate::Inserted | Fate::Withdrawn)
    }

    /// What the run leaves has the node.
    pub fn is_left(self) -> bool {
        !matches!(self, Fate::Deleted | Fate::Withdrawn)
    }
}

/// How much there is of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stock {
    pub nodes: usize,
    pub bytes: u64,
    /// Nodes whose size is not known.
    pub unknown: usize,
}

impl Stock {
    fn add(&mut self, bytes: Option<u64>) {
        self.nodes += 1;
        match bytes {
            Some(bytes) => self.bytes = self.bytes.saturating_add(bytes),
            None => self.unknown += 1,
        }
    }
}

impl Table {
    /// The nodes whose fate is such a one.
    pub fn stock(&self, is_such: impl Fn(Fate) -> bool) -> Stock {
        let mut stock = Stock::default();
        self.rows.iter().filter(|row| is_such(row.fate)).for_each(|row| stock.add(row.bytes));
        stock
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    pub fate: Fate,
    pub by: Option<RuleRef>,
    pub reason: String,
    pub stock: Stock,
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
    /// The ways of the walks that it went by.
    pub walks: Vec<TraceStep>,
    /// Its requirements up to the first that failed.
    pub requirements: Vec<RequirementStory>,
    /// It ran to its end.
    pub passed: bool,
    pub outcome: String,
    /// What could be changed so that it would not fail here.
    pub help: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RequirementStory {
    /// Of a step, or of the `steps` that were left out.
    pub name: Sym,
    pub answer: Answer,
    pub steps: Vec<TraceStep>,
}

/// What came of a step of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Holds,
    Fails,
    /// The chain uses these steps only where a condition holds.
    NotAsked,
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
    pub kind: StepKind,
}

/// The innermost part of the first condition that is one itself.
fn condition(steps: &[TraceStep]) -> Option<&TraceStep> {
    let is_part = |step: &&TraceStep| {
        step.kind == StepKind::Part && (step.value.starts_with("true") || step.value.starts_with("false"))
    };
    let (first, rest) = steps.split_first()?;
    let mut found = first;
    for step in rest.iter().take_while(|step| step.depth > 0) {
        // Of several parts none decided alone.
        if step.depth == found.depth && is_part(&step) {
            return Some(first);
        }
        if step.depth == found.depth + 1 && is_part(&step) {
            found = step;
        }
    }
    Some(found)
}

impl TraceStep {
    fn said(&self) -> String {
        match (self.kind, self.value.as_str()) {
            (StepKind::Case, "true" | "false") => self.source.clone(),
            _ => format!("{} = {}", self.source, self.value),
        }
    }
}

/// What a step tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum StepKind {
    /// A part of an expression and its value.
    #[default]
    Part,
    /// The named case of a `first` that was taken.
    Case,
    /// No case of it was.
    Else,
    /// A cell of a matrix: row and column, and what stands there.
    Cell,
    /// A step of a walk: where it went on to.
    Hop,
    /// An element that a filter let through.
    Element,
}

/// Bytes of the tensor of an anchor, or of a node's first output.
fn tensor_bytes(state: &State, node: NodeId, anchor: Option<Anchor>) -> Option<u64> {
    let found = state.get_node(node)?;
    let port = match anchor {
        Some(Anchor::In(input)) => found.inputs.get(input.index as usize),
        Some(Anchor::Out(output)) => found.outputs.get(output.index as usize),
        None => found.outputs.get(0),
    };
    port?.desc.byte_count()
}
