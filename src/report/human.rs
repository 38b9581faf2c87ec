//! Findings and complaints as a person reads them in a terminal.
//!
//! Promise: a finding shows the rule's own lines, and names the graph's anchors under the marks that bound them.
//! The same complaint is the same text everywhere but for colour and the width of a terminal.

use std::fmt::{self, Write};
use std::sync::Arc;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, Severity, SourceCode};
use rustc_hash::FxHashSet;

use super::complaint::{Below, Complaint, Excerpt, Mark, Subject};
use super::place::{Names, edit_anchor};
use super::plain::{lines, plain};
use super::rules::{Rules, find_word, rule_title};
use super::summary::count;
use crate::engine::outcome::{
    EditEntry, EditEntryKind, Finding, Outcome, PassFailure, PlaceRef, RuleRef, StepOutcome,
};
use crate::graph::Sym;
use crate::lang::Level;
use crate::lang::syntax::ast::Kind;

/// How a terminal, or a file, wants its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub color: bool,
    /// Columns to wrap at; `None` wraps nothing, for files and pipes.
    pub width: Option<usize>,
}

/// Whether the edits of a finding were made or are only what `optimize` would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Done,
    Proposed,
}

/// Lines that are shown around a place of a finding, which has the text of its rule alone, and of a test.
const CONTEXT: usize = 6;
/// Lines that are shown around a mistake in a file.
const NEAR: usize = 2;
/// Anchors that one mark of a rule is labelled with.
const LABEL_LINES: usize = 4;
/// Places listed below a finding.
const PLACES_SHOWN: usize = 12;
/// Edits of one finding that are spelled out.
const EDITS_SHOWN: usize = 4;

/// Changes without a finding that are spelled out for a step.
const CHANGES_SHOWN: usize = 8;

/// Draws complaints.
pub struct Human {
    handler: GraphicalReportHandler,
    /// For mistakes in rules.
    near: GraphicalReportHandler,
    pub style: Style,
}

impl Human {
    pub fn new(style: Style) -> Human {
        let theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_links(false)
            .with_context_lines(CONTEXT)
            // A node's name is to be copied, so it is never broken.
            .with_break_words(false);
        let handler = match style.width {
            Some(width) => handler.with_width(width.max(40)),
            None => handler.with_wrap_lines(false),
        };
        let near = handler.clone().with_context_lines(NEAR);
        Human { handler, near, style }
    }

    /// Draws a complaint, with an empty line behind it.
    pub fn complaint(&self, out: &mut String, complaint: &Complaint) -> fmt::Result {
        let handler = if complaint.subject == Subject::Rules { &self.near } else { &self.handler };
        let main = View { complaint, excerpt: complaint.excerpts.first() };
        handler.render_report(out, &main)?;
        for excerpt in complaint.excerpts.iter().skip(1) {
            handler.render_report(out, &Aside { excerpt })?;
        }
        for below in Below::ALL {
            for line in complaint.lines(below) {
                let head = self.paint(Paint::Help, &format!("{:>6}:", below.word()));
                writeln!(out, "{head} {}", lines(line).replace('\n', "\n        "))?;
            }
        }
        out.push('\n');
        Ok(())
    }

    /// `text` in the colour of its meaning, if there are colours.
    pub fn paint(&self, paint: Paint, text: &str) -> String {
        if !self.style.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match paint {
            Paint::Strong => "1",
            Paint::Faint => "2",
            Paint::Error => "31",
            Paint::Good => "32",
            Paint::Warning => "33",
            Paint::Help => "36",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// What a colour means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Strong,
    Faint,
    Error,
    Good,
    Warning,
    Help,
}

/// The code of a finding: `conflict[RULE]`.
pub fn finding_code(code: Sym, rule: &RuleRef) -> String {
    let name = match rule.kind {
        Kind::Checker | Kind::Lint | Kind::Chain | Kind::Pass | Kind::Action => rule.name.as_str().to_owned(),
        _ => rule_title(rule),
    };
    format!("{}[{name}]", code.as_str())
}

/// A finding with its rule's lines, anchors, edits and the rules that agree.
pub fn finding(
    finding: &Finding,
    rules: &Rules,
    names: Names<'_>,
    edits: &[EditEntry],
    mood: Mood,
) -> Complaint {
    let code = finding_code(finding.code, &finding.rule);
    let mut complaint = Complaint::new(finding.level, code, finding.message.clone());
    let edits = edits.get(finding.edits.clone()).unwrap_or_default();
    let described = described(&finding.places, names, copy_side(finding, edits));
    let mut shown = vec![false; described.len()];
    if let Some(rule) = rules.get(&finding.rule) {
        let mut marks = role_marks(rule.source.text(), &finding.places, &described, &mut shown);
        if marks.is_empty() {
            let said = finding.said.as_ref().and_then(|said| rule.span(said));
            let first_line = rule.source.text().lines().next().unwrap_or_default();
            marks.push(match said {
                Some(span) => Mark { span, text: "reported here".to_owned() },
                None => Mark { span: 0..first_line.len(), text: "by this rule".to_owned() },
            });
        }
        complaint.excerpts.push(Excerpt { source: rule.source.clone(), marks });
    }
    let below: Vec<_> =
        described.iter().zip(&finding.places).zip(&shown).filter(|(_, shown)| !**shown).collect();
    for ((text, place), _) in below.iter().take(PLACES_SHOWN) {
        let role = if place.role.is_empty() { String::new() } else { format!(" ({})", place.role) };
        complaint = complaint.at(format!("{text}{role}"));
    }
    if below.len() > PLACES_SHOWN {
        complaint = complaint.at(format!("and {}", count(below.len() - PLACES_SHOWN, "more place")));
    }
    for (rule, reason) in &finding.also {
        complaint = complaint.note(format!("{} agrees: {reason}", rules.describe(rule)));
    }
    complaint = edit_sentences(edits, mood).into_iter().fold(complaint, Complaint::help);
    complaint.maybe_help(finding.help.clone())
}

/// The edits that answer a finding, as sentences; of many, the first.
pub fn edit_sentences(edits: &[EditEntry], mood: Mood) -> Vec<String> {
    let told: Vec<&EditEntry> = edits.iter().filter(|edit| !describes_insert(edit, edits)).collect();
    let mut sentences: Vec<String> =
        told.iter().take(EDITS_SHOWN).map(|edit| edit_sentence(edit, mood)).collect();
    if told.len() > EDITS_SHOWN {
        sentences.push(format!("and {}", count(told.len() - EDITS_SHOWN, "more edit")));
    }
    sentences
}

/// Whether the edit only says what a node that is new is like.
fn describes_insert(edit: &EditEntry, all: &[EditEntry]) -> bool {
    let EditEntryKind::Set { node, .. } = &edit.kind else { return false };
    all.iter().any(|other| matches!(&other.kind, EditEntryKind::Insert { name, .. } if name == node))
}

/// The side on which the first place is cut off, if the finding led to a copy there.
fn copy_side(finding: &Finding, edits: &[EditEntry]) -> Option<&'static str> {
    let inserts = edits.iter().any(|edit| matches!(edit.kind, EditEntryKind::Insert { .. }));
    let anchor = finding.places.first()?.anchor.filter(|_| inserts)?;
    Some(if anchor.is_in() { "before" } else { "behind" })
}

fn described(places: &[PlaceRef], names: Names<'_>, side: Option<&str>) -> Vec<String> {
    let mut all: Vec<String> = places.iter().map(|place| names.describe(place)).collect();
    if let (Some(first), Some(side)) = (all.first_mut(), side) {
        *first += &format!(": the copy goes {side} it");
    }
    all
}

/// Underlines the places' roles in the rule's text.
fn role_marks(text: &str, places: &[PlaceRef], described: &[String], shown: &mut [bool]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for ((place, label), shown) in places.iter().zip(described).zip(shown) {
        let behind =
            marks.iter().filter(|mark| text.get(mark.span.clone()) == Some(&place.role)).map(|m| m.span.end);
        let Some(span) = find_word(text, &place.role, behind.max().unwrap_or(0)) else {
            // Two anchors with one role that the rule names once.
            let last = marks.iter_mut().rev().find(|mark| text.get(mark.span.clone()) == Some(&place.role));
            if let Some(mark) = last.filter(|mark| mark.text.lines().count() < LABEL_LINES) {
                mark.text += &format!("\n{label}");
                *shown = true;
            }
            continue;
        };
        marks.push(Mark { span, text: label.clone() });
        *shown = true;
    }
    marks
}

/// Names of nodes that came and went within a run.
pub fn passing(outcome: &Outcome) -> FxHashSet<&str> {
    let inserted = outcome.edits().filter_map(|edit| match &edit.kind {
        EditEntryKind::Insert { node, name, .. } => Some((*node, &**name)),
        _ => None,
    });
    inserted.filter(|(node, _)| !outcome.after.contains(*node)).map(|(_, name)| name).collect()
}

/// Nodes that a step inserted or deleted, if no finding of it says so and they did not just pass; with an empty line
/// behind them.
pub fn other_changes(step: &StepOutcome, passing: &FxHashSet<&str>, mood: Mood) -> String {
    let mut is_told = vec![false; step.edits.len()];
    for finding in step.findings.iter() {
        if let Some(told) = is_told.get_mut(finding.edits.clone()) {
            told.fill(true);
        }
    }
    let is_node = |edit: &EditEntry| match &edit.kind {
        EditEntryKind::Insert { name, .. } | EditEntryKind::Delete { name, .. } => !passing.contains(&**name),
        EditEntryKind::Control { .. } | EditEntryKind::Set { .. } => false,
    };
    let edits = step.edits.iter().zip(is_told).filter(|(edit, told)| !told && is_node(edit));
    let mut lines: Vec<String> =
        edits.map(|(edit, _)| format!("  {}\n", edit_sentence(edit, mood))).collect();
    if lines.len() > CHANGES_SHOWN {
        let more = lines.len() - CHANGES_SHOWN;
        lines.truncate(CHANGES_SHOWN);
        lines.push(format!("  and {} of nodes\n", count(more, "more change")));
    }
    if lines.is_empty() {
        return String::new();
    }
    lines.concat() + "\n"
}

/// One edit as a sentence.
pub fn edit_sentence(edit: &EditEntry, mood: Mood) -> String {
    let verb = |done: &'static str, proposed: &'static str| if mood == Mood::Done { done } else { proposed };
    match &edit.kind {
        EditEntryKind::Insert { op, name, from, to, .. } => {
            let list = |anchors: &[crate::engine::outcome::AnchorRef], is_in| {
                let shown: Vec<String> =
                    anchors.iter().take(3).map(|a| format!("`{}`", edit_anchor(a, is_in))).collect();
                let more = anchors.len() - shown.len();
                let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
                shown.join(", ") + &rest
            };
            let verb = verb("was inserted", "would be inserted");
            let (op, name) = (plain(op.as_str()), plain(name));
            let place = match (from.is_empty(), to.is_empty()) {
                (false, false) => format!("between {} and {}", list(from, false), list(to, true)),
                (false, true) => format!("behind {}", list(from, false)),
                (true, false) => format!("in front of {}", list(to, true)),
                (true, true) => "without data edges".to_owned(),
            };
            format!("{op} `{name}` {verb} {place}")
        }
        EditEntryKind::Delete { op, name } => {
            let name = plain(name);
            format!("{} `{name}` {}", plain(op.as_str()), verb("was deleted", "would be deleted"))
        }
        EditEntryKind::Control { from, to, added } => {
            let change = match added {
                true => verb("was added", "would be added"),
                false => verb("was removed", "would be removed"),
            };
            let (from, to) = (plain(from), plain(to));
            format!("the control edge from `{from}` to `{to}` {change}")
        }
        EditEntryKind::Set { node, what, value } => {
            let (node, value) = (plain(node), plain(value));
            format!("{what} of `{node}` {} to {value}", verb("was set", "would be set"))
        }
    }
}

/// A pass that failed.
pub fn failure(failure: &PassFailure, names: Names<'_>, level: Level) -> Complaint {
    let pass = failure.pass.as_str();
    let complaint = Complaint::new(level, format!("failed[{pass}]"), failure.message.clone());
    let complaint = failure.places.iter().fold(complaint, |all, place| all.at(names.describe(place)));
    complaint.maybe_help(failure.help.clone())
}

/// A complaint about rule text, with the sources of its labels (`None`: a file that is not at hand).
pub fn rule_diagnostic(
    diagnostic: &crate::lang::Diagnostic,
    places: &[(Option<Arc<super::Source>>, std::ops::Range<usize>)],
) -> Complaint {
    let mut complaint = Complaint::new(diagnostic.level, diagnostic.code, diagnostic.message.clone());
    complaint.subject = Subject::Rules;
    complaint = complaint.maybe_help(diagnostic.help.clone());
    for (label, (source, span)) in diagnostic.labels.iter().zip(places) {
        let Some(source) = source else {
            complaint.below.extend((!label.text.is_empty()).then(|| (Below::At, label.text.clone())));
            continue;
        };
        let mark = Mark { span: span.clone(), text: label.text.clone() };
        match complaint.excerpts.iter_mut().find(|excerpt| Arc::ptr_eq(&excerpt.source, source)) {
            Some(excerpt) => excerpt.marks.push(mark),
            None => complaint.excerpts.push(Excerpt { source: source.clone(), marks: vec![mark] }),
        }
    }
    complaint
}

/// A complaint as miette sees it.
#[derive(Debug)]
struct View<'a> {
    complaint: &'a Complaint,
    excerpt: Option<&'a Excerpt>,
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&lines(&self.complaint.message))
    }
}

impl std::error::Error for View<'_> {}

fn labels(excerpt: &Excerpt) -> Box<dyn Iterator<Item = LabeledSpan> + '_> {
    Box::new(excerpt.marks.iter().enumerate().map(|(number, mark)| {
        let text = (!mark.text.is_empty()).then(|| lines(&mark.text).into_owned());
        let span = excerpt.source.clamp(mark.span.clone());
        let span = (span.start, span.len());
        match number {
            0 => LabeledSpan::new_primary_with_span(text, span),
            _ => LabeledSpan::new_with_span(text, span),
        }
    }))
}

impl miette::Diagnostic for View<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(plain(&self.complaint.code)))
    }

    fn severity(&self) -> Option<Severity> {
        Some(match self.complaint.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Note => Severity::Advice,
        })
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.map(|excerpt| &*excerpt.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.excerpt.map(labels)
    }
}

/// Lines of a further source: what its label says becomes the message.
#[derive(Debug)]
struct Aside<'a> {
    excerpt: &'a Excerpt,
}

impl fmt::Display for Aside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.excerpt.marks.first().map(|mark| mark.text.as_str()).filter(|text| !text.is_empty());
        f.write_str(&lines(text.unwrap_or("see also")))
    }
}

impl std::error::Error for Aside<'_> {}

impl miette::Diagnostic for Aside<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(Severity::Advice)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.excerpt.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(labels(self.excerpt))
    }
}

#[cfg(test)]
#[path = "human_tests.rs"]
mod tests;
