//! What became of mutants, for a terminal and as lines of JSON.
//!
//! Promise: who survived is told first, file by file, with what was changed into what; then a line a file and the score. As JSON
//! every mutant has a line, and the last one is the sum. The score is rounded down.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::human::{Human, Paint};
use crate::audit::mutate::{Fate, Mutant, Tried};

/// How many of some mutants had which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    pub killed: usize,
    pub survived: usize,
    pub rejected: usize,
    pub equivalent: usize,
}

impl Score {
    pub fn of<'m>(measured: impl IntoIterator<Item = &'m Tried>) -> Score {
        let mut score = Score::default();
        for one in measured {
            *match one.fate {
                Fate::Killed(_) => &mut score.killed,
                Fate::Survived(_) => &mut score.survived,
                Fate::Rejected => &mut score.rejected,
                Fate::Equivalent => &mut score.equivalent,
            } += 1;
        }
        score
    }

    /// Mutants that could be killed.
    pub fn counted(&self) -> usize {
        self.killed + self.survived
    }

    /// Of a hundred mutants that could be killed, those that were; rounded down.
    pub fn percent(&self) -> usize {
        if self.counted() == 0 { 100 } else { self.killed * 100 / self.counted() }
    }
}

/// The scores of the files that have mutants, by path.
fn by_file(measured: &[Tried]) -> BTreeMap<&str, Vec<&Tried>> {
    let mut files: BTreeMap<&str, Vec<&Tried>> = BTreeMap::new();
    for one in measured {
        files.entry(&one.mutant.path).or_default().push(one);
    }
    files
}

fn words(mutant: &Mutant) -> String {
    if mutant.new.is_empty() {
        format!("{}: `{}`", mutant.change, mutant.old)
    } else {
        format!("{}: `{}` -> `{}`", mutant.change, mutant.old, mutant.new)
    }
}

/// Who survived, and the scores.
pub fn human(measured: &[Tried], human: &Human) -> String {
    let mut text = String::new();
    let files = by_file(measured);
    // Writing to a `String` cannot fail.
    for (path, of_file) in &files {
        let survivors = of_file.iter().filter_map(|one| match one.fate {
            Fate::Survived(tests) => Some((&one.mutant, tests)),
            _ => None,
        });
        let mut entry = None;
        for (mutant, tests) in survivors {
            if entry.is_none() {
                let _ = writeln!(text, "{}", human.paint(Paint::Strong, path));
            }
            if entry != Some(mutant.entry) {
                let _ = writeln!(text, "  {}", mutant.entry);
                entry = Some(mutant.entry);
            }
            let reached = match tests {
                0 => "no test reaches the entry".to_owned(),
                1 => "1 test reaches the entry".to_owned(),
                n => format!("{n} tests reach the entry"),
            };
            let reached = human.paint(Paint::Faint, &format!("({reached})"));
            let _ = writeln!(text, "    {}  {}  {reached}", mutant.line, words(mutant));
        }
        if entry.is_some() {
            text.push('\n');
        }
    }
    let width = files.keys().map(|path| path.chars().count()).max().unwrap_or(0).max("file".len());
    let _ = writeln!(text, "{:width$}  mutants  killed  survived  score", "file");
    for (path, of_file) in &files {
        let score = Score::of(of_file.iter().copied());
        let (all, percent) = (score.counted(), score.percent());
        let (killed, survived) = (score.killed, score.survived);
        let _ = writeln!(text, "{path:width$}  {all:>7}  {killed:>6}  {survived:>8}  {percent:>3} %");
    }
    let score = Score::of(measured);
    let closing = format!(
        "mutation score {} %: {} of {} mutants killed, {} survived",
        score.percent(),
        score.killed,
        score.counted(),
        score.survived
    );
    let paint = if score.survived > 0 { Paint::Error } else { Paint::Good };
    let _ = writeln!(
        text,
        "\n{}; not counted: {} rejected by the checker, {} equivalent",
        human.paint(paint, &closing),
        score.rejected,
        score.equivalent
    );
    text
}

#[derive(Serialize)]
struct MutantJson<'a> {
    r#type: &'static str,
    fate: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
    /// Tests that reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<usize>,
    #[serde(flatten)]
    mutant: &'a Mutant,
}

#[derive(Serialize)]
struct SumJson {
    r#type: &'static str,
    #[serde(flatten)]
    score: Score,
    percent: usize,
}

fn line(value: &impl Serialize) -> String {
    // Only maps with keys that are no text could fail, and there are none.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// A line a mutant, and the sum.
pub fn json(measured: &[Tried]) -> String {
    let mut text = String::new();
    for Tried { mutant, fate } in measured {
        let (word, by, tests) = match fate {
            Fate::Killed(by) => ("killed", Some(&**by), None),
            Fate::Survived(tests) => ("survived", None, Some(*tests)),
            Fate::Rejected => ("rejected", None, None),
            Fate::Equivalent => ("equivalent", None, None),
        };
        text += &line(&MutantJson { r#type: "mutant", fate: word, by, tests, mutant });
    }
    let score = Score::of(measured);
    text + &line(&SumJson { r#type: "summary", score, percent: score.percent() })
}
