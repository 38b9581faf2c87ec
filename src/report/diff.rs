//! The difference of two rule sets: for a terminal, for a pull request, as JSON.
//!
//! Promise: every change is one line, or three if it has an old and a new text too long for one; entries come in the order of the
//! old rule set.

use std::fmt::Write;

use super::Human;
use super::human::Paint;
use super::summary::count;
use crate::audit::Ref;
use crate::audit::diff::{Change, Difference, PairChange, Weight};

/// Characters of old and new text that share a line.
const ONE_LINE: usize = 80;

/// Everything, as one JSON object.
pub fn json(difference: &Difference) -> String {
    let mut text = serde_json::to_string_pretty(difference).unwrap_or_default();
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
pub fn human(difference: &Difference, human: &Human) -> String {
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
    let _ = writeln!(text, "{}", summary(difference));
    text
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

fn summary(difference: &Difference) -> String {
    if difference.is_empty() {
        return "the two say the same".to_owned();
    }
    let of = |weight| difference.changes.iter().filter(|change| change.weight == weight).count();
    let mut parts = vec![count(of(Weight::Meaning), "change")];
    if !difference.pairs.is_empty() {
        parts.push(match difference.pairs.len() {
            1 => "1 pair of marks".to_owned(),
            n => format!("{n} pairs of marks"),
        });
    }
    for (weight, words) in
        [(Weight::Level, "of levels"), (Weight::Wording, "of words"), (Weight::Tests, "of tests")]
    {
        if of(weight) > 0 {
            parts.push(format!("{} {words}", of(weight)));
        }
    }
    let meaning = if difference.differs() { "" } else { "; the meaning is the same" };
    format!("{}{meaning}", parts.join(", "))
}

/// Lists for a pull request.
pub fn markdown(difference: &Difference) -> String {
    let mut text = String::from("### Change of the rules\n\n");
    let _ = writeln!(text, "{}\n", summary(difference));
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
    text
}
