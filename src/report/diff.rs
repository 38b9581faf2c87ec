//! The difference of two rule sets: for a terminal, for a pull request, as JSON.
//!
//! Promise: every change is one line, or three if it has an old and a new text too long for one; entries come in the order of the
//! old rule set.

use std::fmt::Write;

use super::Human;
use super::human::Paint;
use serde::Serialize;

use super::summary::count;
use crate::audit::Ref;
use crate::audit::diff::{Change, Difference, PairChange, Weight};
use crate::audit::witness::{Found, GraphChange, Witness};

/// Characters of old and new text that share a line.
const ONE_LINE: usize = 80;
/// Lines of one graph that are shown of each rule set.
const LINES_SHOWN: usize = 8;

/// A difference, and what was found out by running both rule sets.
#[derive(Debug)]
pub struct Report {
    pub difference: Difference,
    /// How many graphs were run, and which came out otherwise.
    pub graphs: Option<(usize, Vec<GraphChange>)>,
    pub witness: Option<Found>,
}

#[derive(Serialize)]
struct Json<'a> {
    differs: bool,
    #[serde(flatten)]
    difference: &'a Difference,
    #[serde(skip_serializing_if = "Option::is_none")]
    graphs: Option<Graphs<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'a Witness>,
}

#[derive(Serialize)]
struct Graphs<'a> {
    run: usize,
    changed: &'a [GraphChange],
}

/// Everything, as one JSON object.
pub fn json(report: &Report) -> String {
    let json = Json {
        differs: report.difference.differs(),
        difference: &report.difference,
        graphs: report.graphs.as_ref().map(|(run, changed)| Graphs { run: *run, changed }),
        witness: match &report.witness {
            Some(Found::Witness(witness)) => Some(witness),
            _ => None,
        },
    };
    let mut text = serde_json::to_string_pretty(&json).unwrap_or_default();
    text.push('\n');
    text
}

/// The headings, with what stands below each.
const PARTS: [(Weight, &str); 4] = [
    (Weight::Meaning, "rules"),
    (Weight::Level, "levels of findings"),
    (Weight::Wording, "wording only"),
    (Weight::Tests, "tests"),
];

/// Text for a terminal.
pub fn human(report: &Report, human: &Human) -> String {
    let difference = &report.difference;
    let mut text = String::new();
    for (weight, title) in PARTS {
        let mut last: Option<Ref> = None;
        for change in difference.changes.iter().filter(|change| change.weight == weight) {
            if last.is_none() {
                let _ = writeln!(text, "{}", human.paint(Paint::Strong, title));
            }
            if last != Some(change.entry) {
                let _ = writeln!(text, "  {}", change.entry);
            }
            last = Some(change.entry);
            let (minus, plus) = (human.paint(Paint::Error, "-"), human.paint(Paint::Good, "+"));
            let _ = write!(text, "    {}", change.what);
            match texts(change) {
                Texts::Line(line) => {
                    let _ = writeln!(text, ": {line}");
                }
                Texts::Nothing => text.push('\n'),
                Texts::Lines(old, new) => {
                    text.push('\n');
                    for (sign, lines) in [(&minus, old), (&plus, new)] {
                        for line in lines.into_iter().flat_map(str::lines) {
                            let _ = writeln!(text, "      {sign} {line}");
                        }
                    }
                }
            }
        }
        if weight == Weight::Meaning && !difference.pairs.is_empty() {
            let _ = writeln!(text, "{}", human.paint(Paint::Strong, "pairs of marks"));
            for pair in &difference.pairs {
                let _ = writeln!(text, "  {}", pair_words(pair));
            }
        }
    }
    let strong = |title: &str| human.paint(Paint::Strong, title);
    if let Some((_, changed)) = report.graphs.as_ref().filter(|(_, changed)| !changed.is_empty()) {
        let _ = writeln!(text, "{}", strong("graphs"));
        for change in changed {
            let _ = writeln!(text, "  {}", change.graph);
            both(&mut text, &change.old, &change.new, "    ");
        }
    }
    match &report.witness {
        Some(Found::Witness(witness)) => {
            let _ = writeln!(text, "{}\n{}", strong("witness"), witness_words(witness));
            if !witness.decides {
                both(&mut text, &witness.old, &witness.new, "// ");
            }
            let _ = writeln!(text, "{}", witness.test);
        }
        Some(other) => {
            let _ = writeln!(text, "{}\n{}", strong("witness"), found_words(other));
        }
        None => {}
    }
    let _ = writeln!(text, "{}", summary(report));
    text
}

/// Lines that one of the two rule sets has alone.
fn both(text: &mut String, old: &[String], new: &[String], indent: &str) {
    for (sign, lines) in [("-", old), ("+", new)] {
        for line in lines.iter().take(LINES_SHOWN) {
            let _ = writeln!(text, "{indent}{sign} {line}");
        }
        if lines.len() > LINES_SHOWN {
            let _ = writeln!(text, "{indent}{sign} and {} more", lines.len() - LINES_SHOWN);
        }
    }
}

fn witness_words(witness: &Witness) -> &'static str {
    match witness.decides {
        true => "// passes on the new rules, fails on the old ones",
        false => "// no expectation can say what the two do",
    }
}

fn found_words(found: &Found) -> String {
    match found {
        Found::Witness(_) => String::new(),
        Found::NothingRuns => "  no pass that both have comes to what changed".to_owned(),
        Found::Nothing(tried) => format!("  none found among {}", count(*tried, "graph")),
    }
}

enum Texts<'a> {
    Nothing,
    Line(String),
    Lines(Option<&'a str>, Option<&'a str>),
}

fn texts(change: &Change) -> Texts<'_> {
    let (old, new) = (change.old.as_deref(), change.new.as_deref());
    let length = [old, new].iter().flatten().map(|text| text.chars().count()).sum::<usize>();
    let one_line = length <= ONE_LINE && ![old, new].iter().flatten().any(|text| text.contains('\n'));
    match (old, new) {
        (None, None) => Texts::Nothing,
        (Some(old), Some(new)) if one_line => Texts::Line(format!("`{old}` -> `{new}`")),
        (Some(text), None) | (None, Some(text)) if one_line => Texts::Line(format!("`{text}`")),
        _ => Texts::Lines(old, new),
    }
}

fn pair_words(pair: &PairChange) -> String {
    let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "no such mark".to_owned());
    format!("{} with {}: {} -> {}", pair.first, pair.second, side(&pair.old), side(&pair.new))
}

fn summary(report: &Report) -> String {
    let ran = report
        .graphs
        .as_ref()
        .map(|(run, changed)| format!("; {} of {} come out otherwise", changed.len(), count(*run, "graph")));
    format!("{}{}", changes(&report.difference), ran.unwrap_or_default())
}

fn changes(difference: &Difference) -> String {
    if difference.is_empty() {
        return "the two say the same".to_owned();
    }
    let of = |weight| difference.changes.iter().filter(|change| change.weight == weight).count();
    let counts = [
        (of(Weight::Meaning), "change", "changes"),
        (difference.pairs.len(), "pair of marks", "pairs of marks"),
        (of(Weight::Level), "level", "levels"),
        (of(Weight::Wording), "change of words", "changes of words"),
        (of(Weight::Tests), "test", "tests"),
    ];
    let parts = counts.into_iter().filter(|(number, ..)| *number > 0);
    let parts: Vec<String> = parts
        .map(|(number, one, many)| format!("{number} {}", if number == 1 { one } else { many }))
        .collect();
    let meaning = if difference.differs() { "" } else { "; the meaning is the same" };
    format!("{}{meaning}", parts.join(", "))
}

/// Lists for a pull request.
pub fn markdown(report: &Report) -> String {
    let difference = &report.difference;
    let mut text = String::from("### Change of the rules\n\n");
    let _ = writeln!(text, "{}\n", summary(report));
    for (weight, title) in PARTS {
        let changes: Vec<&Change> =
            difference.changes.iter().filter(|change| change.weight == weight).collect();
        if !changes.is_empty() {
            let _ = writeln!(text, "**{title}**\n");
        }
        for change in &changes {
            let _ = write!(text, "- `{}`: {}", change.entry, change.what);
            match texts(change) {
                Texts::Nothing => text.push('\n'),
                Texts::Line(line) => {
                    let _ = writeln!(text, ": {line}");
                }
                Texts::Lines(old, new) => {
                    text.push_str("\n  ```diff\n");
                    for (sign, lines) in [("-", old), ("+", new)] {
                        for line in lines.into_iter().flat_map(str::lines) {
                            let _ = writeln!(text, "  {sign} {line}");
                        }
                    }
                    text.push_str("  ```\n");
                }
            }
        }
        if !changes.is_empty() {
            text.push('\n');
        }
        if weight == Weight::Meaning && !difference.pairs.is_empty() {
            text.push_str("**pairs of marks**\n\n| pair | before | after |\n| --- | --- | --- |\n");
            for pair in &difference.pairs {
                let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "–".to_owned());
                let (old, new) = (side(&pair.old), side(&pair.new));
                let _ = writeln!(text, "| {} with {} | {old} | {new} |", pair.first, pair.second);
            }
            text.push('\n');
        }
    }
    if let Some((_, changed)) = report.graphs.as_ref().filter(|(_, changed)| !changed.is_empty()) {
        text.push_str("**graphs**\n\n");
        for change in changed {
            let _ = writeln!(text, "- `{}`\n  ```diff", change.graph);
            both(&mut text, &change.old, &change.new, "  ");
            text.push_str("  ```\n");
        }
        text.push('\n');
    }
    match &report.witness {
        Some(Found::Witness(witness)) => {
            let _ = writeln!(text, "**witness**\n\n```\n{}", witness_words(witness));
            if !witness.decides {
                both(&mut text, &witness.old, &witness.new, "// ");
            }
            let _ = writeln!(text, "{}```", witness.test);
        }
        Some(other) => {
            let _ = writeln!(text, "**witness**\n\n{}", found_words(other).trim_start());
        }
        None => {}
    }
    text
}
