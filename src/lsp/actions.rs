//! Changes that the server offers: quick fixes, and the one form of a file.
//!
//! Promise: what is offered is made of what a diagnostic says. A fix of a lint keeps what the rules mean; it is offered only for
//! the text that was linted.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Diagnostic, DocumentFormattingParams,
    NumberOrString, TextEdit, Uri, WorkspaceEdit,
};
use similar::{DiffOp, TextDiff};

use super::index::{Placed, all_items, file, items};
use super::place::Lines;
use super::server::{Server, bytes};
use crate::lang::Place;
use crate::lang::fmt;
use crate::lang::lint::{Fix, apply};

/// The edits that give a file its one form; none if it has syntax errors, which are told as such.
pub fn format(server: &mut Server, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
    let key = server.files.key(&params.text_document.uri);
    let lines = server.files.lines(&key)?;
    let formatted = fmt::format(lines.text()).ok()?;
    Some(changes(&lines, &formatted))
}

/// The edits of lines that make one text of another.
fn changes(lines: &Lines, after: &str) -> Vec<TextEdit> {
    let before = lines.text();
    let diff = TextDiff::from_lines(before, after);
    let starts = |text: &str| -> Vec<usize> {
        let ends = text.split_inclusive('\n').scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        });
        std::iter::once(0).chain(ends).collect()
    };
    let (old, new) = (starts(before), starts(after));
    let place = |starts: &[usize], range: std::ops::Range<usize>| {
        let at = |n: usize| starts.get(n).or(starts.last()).copied().unwrap_or(0);
        at(range.start)..at(range.end)
    };
    let changed = diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let edit = |op: &DiffOp| TextEdit {
        range: lines.range(place(&old, op.old_range())),
        new_text: after.get(place(&new, op.new_range())).unwrap_or("").to_owned(),
    };
    changed.map(edit).collect()
}

/// Where a fix changes a document.
struct Target<'a> {
    uri: &'a Uri,
    lines: &'a Lines,
}

impl Target<'_> {
    fn action(
        &self,
        title: String,
        kind: CodeActionKind,
        edits: Vec<TextEdit>,
        mends: Vec<Diagnostic>,
    ) -> CodeActionOrCommand {
        #[allow(clippy::mutable_key_type, reason = "the protocol's own map")]
        let changes = HashMap::from([(self.uri.clone(), edits)]);
        CodeActionOrCommand::CodeAction(CodeAction {
            title,
            is_preferred: Some(kind == CodeActionKind::QUICKFIX && !mends.is_empty()),
            kind: Some(kind),
            diagnostics: (!mends.is_empty()).then_some(mends),
            edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
            ..CodeAction::default()
        })
    }

    fn edits(&self, fix: &Fix) -> Vec<TextEdit> {
        let edit = |edit: &crate::lang::lint::Edit| TextEdit {
            range: self.lines.range(bytes(edit.span)),
            new_text: edit.text.clone(),
        };
        fix.edits.iter().map(edit).collect()
    }
}

pub fn actions(server: &mut Server, params: &CodeActionParams) -> Option<Vec<CodeActionOrCommand>> {
    let key = server.files.key(&params.text_document.uri);
    let lines = server.files.lines(&key)?;
    let target = Target { uri: &params.text_document.uri, lines: &lines };
    let wanted = |kind: &CodeActionKind| match &params.context.only {
        None => true,
        // `source` stands for all that begin with it.
        Some(only) => only.iter().any(|only| kind.as_str().starts_with(only.as_str())),
    };
    let mut found = Vec::new();
    if wanted(&CodeActionKind::QUICKFIX) {
        for diagnostic in &params.context.diagnostics {
            found.extend(mend(server, &key, &target, diagnostic));
        }
        let asked = lines.bytes(params.range);
        for finding in server.lints(&key, lines.text()) {
            let Some(Place::File(span) | Place::Item(span)) =
                finding.diagnostic.labels.first().map(|label| label.place)
            else {
                continue;
            };
            let place = bytes(span);
            let told = params.context.diagnostics.iter().filter(|told| {
                told.code == Some(NumberOrString::String(finding.diagnostic.code.to_owned()))
                    && told.range == lines.range(place.clone())
            });
            let told: Vec<Diagnostic> = told.cloned().collect();
            let is_near = !told.is_empty() || place.start <= asked.end && asked.start <= place.end;
            let Some(fix) = finding.fix.as_ref().filter(|_| is_near) else { continue };
            found.push(target.action(fix.title.clone(), CodeActionKind::QUICKFIX, target.edits(fix), told));
        }
    }
    if wanted(&CodeActionKind::SOURCE_FIX_ALL) {
        let fixes = server.lints(&key, lines.text()).filter_map(|finding| finding.fix.as_ref());
        let (text, made) = apply(lines.text(), fixes);
        // What a fix leaves must be rules.
        if made > 0 && fmt::errors(&crate::lang::syntax::parse_file(&text)).is_empty() {
            let title = "mend all lints that can be mended".to_owned();
            found.push(target.action(
                title,
                CodeActionKind::SOURCE_FIX_ALL,
                changes(&lines, &text),
                Vec::new(),
            ));
        }
    }
    Some(found)
}

/// What mends a diagnostic, as far as its own words tell.
fn mend(server: &Server, key: &str, target: &Target<'_>, told: &Diagnostic) -> Vec<CodeActionOrCommand> {
    let place = target.lines.bytes(told.range);
    let word = target.lines.text().get(place.clone()).unwrap_or("");
    let Some(NumberOrString::String(code)) = &told.code else { return Vec::new() };
    let mut found = Vec::new();
    let mut offer = |title: String, place: std::ops::Range<usize>, new_text: String| {
        let edits = vec![TextEdit { range: target.lines.range(place), new_text }];
        found.push(target.action(title, CodeActionKind::QUICKFIX, edits, vec![told.clone()]));
    };
    let quoted = |before: &str| {
        let (_, behind) = told.message.split_once(before)?;
        behind.split_once('`').map(|(name, _)| name)
    };
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    if let Some(near) = quoted("did you mean `").or(quoted("it is an alias of `")).filter(|_| is_word) {
        offer(format!("change to `{near}`"), place.clone(), near.to_owned());
    }
    if let Some(lint) = code.strip_prefix("lint::") {
        // Documentation has to touch its item, so the comment stands above it.
        if let Some(item) = item(server, key, place.start) {
            let comment = format!("// lint: allow {lint} because \n");
            offer(format!("allow `{lint}` here"), item.start..item.start, comment);
        }
        return found;
    }
    if let Some(default) = quoted("write `x ?? ") {
        offer(format!("add `?? {default}`"), place.clone(), format!("({word} ?? {default})"));
    }
    if matches!(code.as_str(), "syntax::operator" | "syntax::keyword" | "syntax::expected")
        && let Some(instead) = quoted(": write `")
    {
        offer(format!("write `{instead}`"), place.clone(), instead.to_owned());
    }
    if told.message.contains("write the name without quotes") {
        let name = word.trim_matches('"');
        offer(format!("write `{name}`"), place.clone(), name.to_owned());
    }
    if code == "rule::isolate-side"
        && let Some(right) = quoted("write `isolate ")
        && let Some(before) = target.lines.text().get(..place.start).map(str::trim_end)
        && let Some(wrong) = ["before", "after"].into_iter().find(|side| before.ends_with(side))
    {
        offer(format!("write `{right}`"), before.len() - wrong.len()..before.len(), right.to_owned());
    }
    if code == "rule::duplicate"
        && quoted("write `override ").is_some()
        && let Some(place) = replaces(server, key, place.start)
    {
        offer("write `override`".to_owned(), place, "override ".to_owned());
    }
    if code == "rule::unused" && is_word {
        if quoted("write `_").is_some() {
            offer(format!("write `_{word}`"), place, format!("_{word}"));
        } else if let Some(item) = item(server, key, place.start) {
            offer(format!("remove `{word}`"), item, String::new());
        }
    }
    found
}

/// Where `override` is to be written for the item around a place to replace one of another file; only an overlay may.
fn replaces(server: &Server, key: &str, byte: usize) -> Option<std::ops::Range<usize>> {
    let around = around(server, key, byte)?;
    let declared = |placed: &Placed<'_>| placed.item.declares().map(|(kind, name)| (kind, name.text));
    let is_other = |other: &Placed<'_>| other.file != around.file && declared(other) == declared(&around);
    let start = around.keyword().start;
    let may =
        around.file.overlay(server.session.database()) && all_items(server).any(|other| is_other(&other));
    may.then_some(start..start)
}

/// The item around a place.
fn around<'s>(server: &'s Server, key: &str, byte: usize) -> Option<Placed<'s>> {
    items(server, file(server, key)?)
        .find(|placed| (placed.item.source.start as usize..=placed.item.source.end as usize).contains(&byte))
}

/// The bytes of the item around a place, with its line end.
fn item(server: &Server, key: &str, byte: usize) -> Option<std::ops::Range<usize>> {
    let around = around(server, key, byte)?;
    let source = &around.item.source;
    let text = around.file.text(server.session.database());
    let end = source.end as usize;
    let line_end = text.get(end..)?.find('\n').map_or(text.len(), |at| end + at + 1);
    Some(source.start as usize..line_end)
}
