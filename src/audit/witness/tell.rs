//! A witness as a `test` of the language.
//!
//! Promise: the test is run before it is shown: it passes on the new rules and fails on the old ones. Where no expectation of the
//! language can say the difference, none is given, and what both do stands beside the graph.

use std::fmt::Write;

use super::observe::{Observed, Trial};
use crate::engine::outcome::{EditEntryKind, Outcome};
use crate::engine::{RuleSources, Session};
use crate::format::notation::print;
use crate::graph::GraphId;
use crate::lang::hir::{Entry, OptionValue};
use crate::lang::syntax::ast::{Kind, OptionType};

/// The file of the test while it is tried.
const FILE: &str = "witness.anchor";

/// What came of a trial under both rule sets.
pub struct Verdicts<'a> {
    pub old: &'a Observed,
    pub new: &'a Observed,
    pub outcome: &'a Outcome,
}

/// The text of a test that tells the two rule sets apart, and whether it does.
pub fn test(
    trial: &Trial,
    verdicts: &Verdicts<'_>,
    title: &str,
    (old, new): (&RuleSources, &RuleSources),
    session: &Session,
) -> (String, bool) {
    for expectations in expectations(verdicts) {
        let text = block(trial, title, &expectations, session);
        if passes(new, &text) && !passes(old, &text) {
            return (text, true);
        }
    }
    (block(trial, title, &[], session), false)
}

/// Sets of expectations that may tell the two apart, the plainest first.
fn expectations(verdicts: &Verdicts<'_>) -> Vec<Vec<String>> {
    let mut sets = Vec::new();
    if let Some(failure) = &verdicts.new.failure {
        sets.push(vec![format!("expect error {}", quoted(failure))]);
        return sets;
    }
    let insertions = insertions(verdicts.outcome);
    if verdicts.new.edits.is_empty() {
        sets.push(vec!["expect nothing".to_owned()]);
    }
    if !insertions.is_empty() {
        sets.push(insertions.iter().map(|(line, by)| format!("{line}{by}")).collect());
        sets.push(insertions.iter().map(|(line, _)| line.clone()).collect());
    }
    let codes = |observed: &Observed| -> Vec<String> {
        observed.findings.iter().filter_map(|line| line.split(' ').nth(2).map(str::to_owned)).collect()
    };
    let (old_codes, new_codes) = (codes(verdicts.old), codes(verdicts.new));
    let come = new_codes.iter().find(|code| !old_codes.contains(code));
    let gone = old_codes.iter().find(|code| !new_codes.contains(code));
    sets.extend(come.map(|code| vec![format!("expect warn {code}")]));
    sets.extend(gone.map(|code| vec![format!("expect no warn {code}")]));
    let after = print(&verdicts.outcome.after);
    sets.push(vec![format!("expect graph {{\n{}  }}", indented(&after, 4))]);
    sets
}

/// A line for each inserted node, and the rule that asked for it.
fn insertions(outcome: &Outcome) -> Vec<(String, String)> {
    let line = |rule: &str, to: &[crate::engine::outcome::AnchorRef]| {
        let anchors: Vec<String> = to.iter().map(|a| format!("{}:{}", word(&a.node), a.index)).collect();
        let anchors = match &anchors[..] {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let is_word = !rule.is_empty() && rule.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let by = if is_word { format!(" by {rule}") } else { String::new() };
        (format!("expect insert before {anchors}"), by)
    };
    outcome
        .edits()
        .filter_map(|edit| match &edit.kind {
            EditEntryKind::Insert { to, .. } => Some(line(edit.rule.as_str(), to)),
            _ => None,
        })
        .collect()
}

fn word(name: &str) -> String {
    let is_word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    if is_word { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

fn indented(text: &str, columns: usize) -> String {
    text.lines().map(|line| format!("{:columns$}{line}\n", "")).collect()
}

fn block(trial: &Trial, title: &str, expectations: &[String], session: &Session) -> String {
    let steps: Vec<&str> = trial.steps.iter().map(|step| step.as_str()).collect();
    let mut text = format!("test {}", quoted(title));
    if !steps.is_empty() {
        let _ = write!(text, " for {}", steps.join(", "));
    }
    text.push_str(" {\n");
    for (name, value) in &trial.options {
        let _ = writeln!(text, "  option {name} = {}", option(session, name, value));
    }
    if trial.root != GraphId::ROOT {
        let _ = writeln!(text, "  on {}", word(&trial.snapshot.graph(trial.root).name));
    }
    let _ = writeln!(text, "  graph {{\n{}  }}", indented(&print(&trial.snapshot), 4));
    for line in expectations {
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("}\n");
    text
}

/// The value of an option as a test writes it.
fn option(session: &Session, name: &str, value: &str) -> String {
    let entries = session.entries();
    let declared = entries.iter().find(|entry| entry.kind == Kind::Option && entry.name.as_str() == name);
    let ty = declared.and_then(|entry| {
        let (db, rules) = (session.database(), session.rule_set());
        let key = crate::db::EntryName::new(db, Kind::Option, entry.name);
        match crate::db::entry(db, rules, key).as_deref() {
            Some(Entry::Option { ty, default, .. }) => Some((ty.clone(), default.clone())),
            _ => None,
        }
    });
    let pieces = || value.split(',').map(str::trim).filter(|piece| !piece.is_empty());
    match ty {
        Some((OptionType::Str, _)) | None => quoted(value),
        Some((OptionType::ListStr, OptionValue::ListStr(_))) => {
            format!("[{}]", pieces().map(quoted).collect::<Vec<_>>().join(", "))
        }
        Some((OptionType::ListInt, _)) => format!("[{}]", pieces().collect::<Vec<_>>().join(", ")),
        Some(_) => value.to_owned(),
    }
}

/// Whether the test passes on a rule set.
fn passes(rules: &RuleSources, test: &str) -> bool {
    let mut sources = rules.clone();
    sources.files.push((FILE.to_owned(), test.to_owned(), true));
    let session = Session::new(sources);
    let broken = session.diagnostics().iter().any(|d| d.places.iter().any(|(path, _)| path == FILE));
    let outcomes = session.run_tests(&|path| path == FILE);
    !broken && !outcomes.is_empty() && outcomes.iter().all(|outcome| outcome.failures.is_empty())
}
