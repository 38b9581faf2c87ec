//! Findings and complaints as the tools of reviewers take them: a file, a place in it, a message.
//!
//! Promise: a [`Remark`] holds texts and numbers alone, so that it can wait for its turn; the same finding makes the
//! same remark. [`super::sarif`] and [`super::github`] write remarks; neither looks at a finding again.

use super::complaint::{Below, Complaint, Subject};
use super::human::{Mood, edit_sentences, finding_code};
use super::place::side_index;
use super::rules::{Rules, kind_word, rule_title};
use super::source::Source;
use crate::engine::outcome::{EditEntry, Finding, PassFailure, PlaceRef, RuleRef};
use crate::lang::{Level, lint};

/// One thing to be shown beside a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// Stable: `checker/NAME` of what a rule found, else the code of the complaint.
    pub id: String,
    /// The rule that found it.
    pub rule: Option<RuleRef>,
    /// A few words to head it with.
    pub title: String,
    pub level: Level,
    pub message: String,
    pub help: Vec<String>,
    pub file: Option<FilePlace>,
    /// What it is about in a graph; the first is the main place.
    pub nodes: Vec<NodePlace>,
    /// Other places that bear on it.
    pub related: Vec<Related>,
    pub fix: Option<Fix>,
    /// The program could not do its work: no finding about what was looked at.
    pub is_failure: bool,
    /// What keeps its identity when lines move: the text of the main line.
    pub line_text: String,
}

/// A file, or a region of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    pub path: String,
    pub region: Option<Region>,
}

/// Lines and columns from 1, columns in characters; the end is behind the last character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    pub start: (usize, usize),
    /// `None`: the whole line.
    pub end: Option<(usize, usize)>,
}

/// An anchor or a node of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePlace {
    /// `graph/node:in0`, without the graph if it has no name.
    pub name: String,
    /// `input`, `output` or `node`.
    pub kind: &'static str,
    /// Operator type and role.
    pub text: String,
}

/// A further place with what it has to do with the remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub file: FilePlace,
    pub text: String,
}

/// Texts to put in the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub title: String,
    pub path: String,
    pub replacements: Vec<(Region, String)>,
}

impl Remark {
    /// A finding in the graph file `file`; `edits` are those of its step.
    pub fn of_finding(
        finding: &Finding,
        rules: &Rules,
        edits: &[EditEntry],
        mood: Mood,
        file: &str,
    ) -> Remark {
        let edits = edits.get(finding.edits.clone()).unwrap_or_default();
        let by = |rule: &RuleRef, text: String| {
            let place = rules.get(rule)?;
            let region = Some(Region { start: (place.line as usize, 1), end: None });
            Some(Related { file: FilePlace { path: place.path.clone(), region }, text })
        };
        let agreeing = finding
            .also
            .iter()
            .filter_map(|(r, reason)| by(r, format!("{} agrees: {reason}", rule_title(r))));
        Remark {
            id: format!("{}/{}", kind_word(finding.rule.kind), finding.rule.name.as_str()),
            rule: Some(finding.rule.clone()),
            title: finding_code(finding.code, &finding.rule),
            level: finding.level,
            message: finding.message.clone(),
            help: edit_sentences(edits, mood).into_iter().chain(finding.help.clone()).collect(),
            file: Some(FilePlace { path: file.to_owned(), region: None }),
            nodes: finding.places.iter().map(node_place).collect(),
            related: by(&finding.rule, rule_title(&finding.rule)).into_iter().chain(agreeing).collect(),
            fix: None,
            is_failure: false,
            line_text: String::new(),
        }
    }

    /// A pass that failed on `file`.
    pub fn of_failure(failure: &PassFailure, level: Level, file: &str) -> Remark {
        let title = format!("failed[{}]", failure.pass.as_str());
        Remark {
            id: title.clone(),
            rule: None,
            title,
            level,
            message: failure.message.clone(),
            help: failure.help.clone().into_iter().collect(),
            file: Some(FilePlace { path: file.to_owned(), region: None }),
            nodes: failure.places.iter().map(node_place).collect(),
            related: Vec::new(),
            fix: None,
            is_failure: true,
            line_text: String::new(),
        }
    }

    /// A complaint; `file` is what it is about if it shows no text itself.
    pub fn of_complaint(complaint: &Complaint, file: Option<&str>) -> Remark {
        let marks = complaint.excerpts.iter().flat_map(|e| e.marks.iter().map(|mark| (&*e.source, mark)));
        let mut marks = marks.map(|(source, mark)| Related {
            file: FilePlace {
                path: source.name().to_owned(),
                region: Some(region(source, mark.span.start, mark.span.end)),
            },
            text: mark.text.clone(),
        });
        let main = marks.next();
        let related: Vec<Related> = marks.collect();
        let first = complaint.excerpts.first();
        let line = first.and_then(|e| Some(e.source.line_text(e.marks.first()?.span.start)));
        let message = match &main {
            Some(main) if !main.text.is_empty() => format!("{}: {}", complaint.message, main.text),
            _ => complaint.message.clone(),
        };
        let whole = || file.map(|path| FilePlace { path: path.to_owned(), region: None });
        Remark {
            id: complaint.code.clone(),
            rule: None,
            title: complaint.code.clone(),
            level: complaint.level,
            message,
            help: [Below::Note, Below::Help]
                .iter()
                .flat_map(|b| complaint.lines(*b))
                .map(str::to_owned)
                .collect(),
            file: main.map(|main| main.file).or_else(whole),
            nodes: Vec::new(),
            related,
            fix: None,
            is_failure: complaint.subject == Subject::Input,
            line_text: line.unwrap_or_default().to_owned(),
        }
    }

    /// Adds what mends it in `source`.
    #[must_use]
    pub fn fixed_by(mut self, fix: &lint::Fix, source: &Source) -> Remark {
        let one = |edit: &lint::Edit| {
            (region(source, edit.span.start as usize, edit.span.end as usize), edit.text.clone())
        };
        self.fix = Some(Fix {
            title: fix.title.clone(),
            path: source.name().to_owned(),
            replacements: fix.edits.iter().map(one).collect(),
        });
        self
    }

    /// All paths that it names.
    pub fn paths_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let related = self.related.iter_mut().map(|related| &mut related.file.path);
        let main = self.file.iter_mut().map(|file| &mut file.path);
        main.chain(related).chain(self.fix.iter_mut().map(|fix| &mut fix.path))
    }
}

/// Bytes of a text as lines and columns.
fn region(source: &Source, start: usize, end: usize) -> Region {
    let span = source.clamp(start..end);
    Region { start: source.line_column(span.start), end: Some(source.line_column(span.end)) }
}

fn node_place(place: &PlaceRef) -> NodePlace {
    let graph = if place.graph.is_empty() { String::new() } else { format!("{}/", place.graph) };
    let (anchor, kind) = match place.anchor {
        None => (String::new(), "node"),
        Some(anchor) if anchor.is_in() => (format!(":{}", side_index(anchor)), "input"),
        Some(anchor) => (format!(":{}", side_index(anchor)), "output"),
    };
    let role = if place.role.is_empty() { String::new() } else { format!(", {}", place.role) };
    NodePlace {
        name: format!("{graph}{}{anchor}", place.name),
        kind,
        text: format!("{}{role}", place.op.as_str()),
    }
}
