//! Explanations and tables as JSON; part of [`json`](super).

use serde::Serialize;

use super::super::rules::Rules;
use super::super::table::fate_word;
use super::{AlsoJson, PlaceJson, RuleJson, line, place, rule};
use crate::engine::explain::{
    ActKind, ActStory, AnchorStory, Answer, ChainStory, Explanation, Fate, MarkStory, PassStory, StepKind,
    Stock, Table, TraceStep, Verdict, VerdictStory,
};
use crate::graph::Sym;

#[derive(Serialize)]
struct StoryJson<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    place: PlaceJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<SymbolJson<'a>>,
    sharers: Vec<SharerJson<'a>>,
    hidden: usize,
    marks: Vec<MarkJson<'a>>,
    verdicts: Vec<VerdictJson<'a>>,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<StepJson<'a>>,
}

#[derive(Serialize)]
struct SymbolJson<'a> {
    name: &'a str,
    anchors: usize,
}

#[derive(Serialize)]
struct SharerJson<'a> {
    #[serde(flatten)]
    place: PlaceJson<'a>,
    marks: Vec<&'static str>,
}

#[derive(Serialize)]
struct MarkJson<'a> {
    mark: &'static str,
    holds: bool,
    steps: Vec<StepJson<'a>>,
}

#[derive(Serialize)]
struct VerdictJson<'a> {
    rule: RuleJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partner: Option<PlaceJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<PlaceJson<'a>>,
    /// Partners of the same operator type that the rule says the same of.
    more: usize,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    steps: Vec<StepJson<'a>>,
}

#[derive(Serialize)]
struct StepJson<'a> {
    depth: u32,
    source: &'a str,
    value: &'a str,
    at: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: &'static str,
}

fn steps(steps: &[TraceStep]) -> Vec<StepJson<'_>> {
    steps.iter().map(step).collect()
}

fn step(step: &TraceStep) -> StepJson<'_> {
    let TraceStep { depth, source, value, at, kind } = step;
    StepJson { depth: *depth, source, value, at, kind: step_word(*kind) }
}

fn step_word(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Part => "",
        StepKind::Case => "case",
        StepKind::Else => "else",
        StepKind::Cell => "cell",
        StepKind::Hop => "hop",
        StepKind::Element => "element",
    }
}

/// The verdict's word in JSON.
fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Never => "never",
        Verdict::Skipped => "skipped",
        Verdict::NoConflict => "no_conflict",
        Verdict::Isolated => "isolated",
        Verdict::PartnerIsolated => "partner_isolated",
        Verdict::OthersIsolated => "others_isolated",
    }
}

fn mark(mark: &MarkStory) -> MarkJson<'_> {
    MarkJson { mark: mark.mark.as_str(), holds: mark.holds, steps: steps(&mark.steps) }
}

fn verdict<'a>(story: &'a VerdictStory, rules: &'a Rules) -> VerdictJson<'a> {
    VerdictJson {
        rule: rule(&story.rule, rules),
        partner: story.partner.as_ref().map(place),
        beside: story.beside.as_ref().map(place),
        more: story.more,
        verdict: verdict_word(story.verdict),
        reason: story.reason.as_deref(),
        steps: steps(&story.steps),
    }
}

fn story<'a>(story: &'a AnchorStory, rules: &'a Rules) -> StoryJson<'a> {
    let words = |marks: &[Sym]| marks.iter().map(|mark| mark.as_str()).collect();
    StoryJson {
        r#type: "anchor",
        place: place(&story.place),
        symbol: story.symbol.as_ref().map(|(name, anchors)| SymbolJson { name, anchors: *anchors }),
        sharers: story
            .sharers
            .iter()
            .map(|(p, marks)| SharerJson { place: place(p), marks: words(marks) })
            .collect(),
        hidden: story.hidden,
        marks: story.marks.iter().map(mark).collect(),
        verdicts: story.verdicts.iter().map(|v| verdict(v, rules)).collect(),
        outcome: &story.outcome,
        steps: steps(&story.steps),
    }
}

#[derive(Serialize)]
struct ChainJson<'a> {
    rule: RuleJson<'a>,
    #[serde(flatten)]
    place: PlaceJson<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    walks: Vec<StepJson<'a>>,
    requirements: Vec<RequirementJson<'a>>,
    passed: bool,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct RequirementJson<'a> {
    name: &'static str,
    /// Absent: not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<bool>,
    steps: Vec<StepJson<'a>>,
}

fn chain<'a>(story: &'a ChainStory, rules: &'a Rules) -> ChainJson<'a> {
    let requirements = story.requirements.iter().map(|requirement| RequirementJson {
        name: requirement.name.as_str(),
        holds: (requirement.answer != Answer::NotAsked).then_some(requirement.answer == Answer::Holds),
        steps: steps(&requirement.steps),
    });
    ChainJson {
        rule: rule(&story.rule, rules),
        place: place(&story.place),
        walks: steps(&story.walks),
        requirements: requirements.collect(),
        passed: story.passed,
        outcome: &story.outcome,
        help: story.help.as_deref(),
    }
}

#[derive(Serialize)]
struct PassStoryJson<'a> {
    r#type: &'static str,
    pass: RuleJson<'a>,
    /// Of the tensor asked about; of a node, of its first output.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    chains: Vec<ChainJson<'a>>,
    acts: Vec<ActJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a str>,
}

#[derive(Serialize)]
struct ActJson<'a> {
    #[serde(flatten)]
    place: PlaceJson<'a>,
    act: &'static str,
    what: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<&'a str>,
    by: RuleJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    during: Option<PlaceJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    places: Vec<PlaceJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<AlsoJson<'a>>,
    more: usize,
    steps: Vec<StepJson<'a>>,
}

fn act<'a>(story: &'a ActStory, rules: &'a Rules) -> ActJson<'a> {
    ActJson {
        place: place(&story.place),
        act: match story.kind {
            ActKind::Done => "done",
            ActKind::Reported => "reported",
            ActKind::Refused => "refused",
        },
        what: &story.what,
        because: story.because(),
        finding: story.because_of.as_deref(),
        by: rule(&story.by, rules),
        during: story.during.as_ref().map(place),
        places: story.places.iter().map(place).collect(),
        help: story.help.as_deref(),
        also: story.also.iter().map(|(r, message)| AlsoJson { rule: rule(r, rules), message }).collect(),
        more: story.more,
        steps: steps(&story.steps),
    }
}

fn pass_story<'a>(story: &'a PassStory, bytes: Option<u64>, rules: &'a Rules) -> PassStoryJson<'a> {
    PassStoryJson {
        r#type: "pass",
        pass: rule(&story.rule, rules),
        bytes,
        chains: story.chains.iter().map(|c| chain(c, rules)).collect(),
        acts: story.acts.iter().map(|a| act(a, rules)).collect(),
        failure: story.failure.as_deref(),
    }
}

/// An explanation, one line a pass, then one line an anchor.
pub fn explanation(explanation: &Explanation, rules: &Rules) -> String {
    let passes = explanation.passes.iter().map(|pass| line(&pass_story(pass, explanation.bytes, rules)));
    passes.chain(explanation.anchors.iter().map(|anchor| line(&story(anchor, rules)))).collect()
}

#[derive(Serialize)]
struct RowJson<'a> {
    r#type: &'static str,
    #[serde(flatten)]
    place: PlaceJson<'a>,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<RuleJson<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

#[derive(Serialize)]
struct TotalJson<'a> {
    r#type: &'static str,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<RuleJson<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(flatten)]
    stock: StockJson,
}

/// What was given, or what is left.
#[derive(Serialize)]
struct SumJson {
    r#type: &'static str,
    #[serde(flatten)]
    stock: StockJson,
}

#[derive(Serialize)]
struct StockJson {
    nodes: usize,
    bytes: u64,
    unknown: usize,
}

impl From<Stock> for StockJson {
    fn from(Stock { nodes, bytes, unknown }: Stock) -> StockJson {
        StockJson { nodes, bytes, unknown }
    }
}

/// A table, one line a node, then one line a total, then what was given and what is left.
pub fn table(table: &Table, rules: &Rules) -> String {
    let rows = table.rows.iter().map(|row| {
        line(&RowJson {
            r#type: "node",
            place: place(&row.place),
            result: fate_word(row.fate),
            by: row.by.as_ref().map(|by| rule(by, rules)),
            reason: &row.reason,
            text: row.text.as_deref(),
            bytes: row.bytes,
        })
    });
    let totals = table.totals.iter().map(|total| {
        line(&TotalJson {
            r#type: "total",
            result: fate_word(total.fate),
            by: total.by.as_ref().map(|by| rule(by, rules)),
            reason: &total.reason,
            stock: total.stock.into(),
        })
    });
    let sums = [("given", table.stock(Fate::was_given)), ("left", table.stock(Fate::is_left))];
    let sums = sums.into_iter().map(|(when, stock)| line(&SumJson { r#type: when, stock: stock.into() }));
    rows.chain(totals).chain(sums).collect()
}
