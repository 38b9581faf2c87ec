//! Diagnostics as plain text with lines and columns, for comparison with files.

pub mod checked;

use anchorwatch::lang::syntax::ParsedFile;
use anchorwatch::lang::syntax::ast::Span;
use anchorwatch::lang::{Diagnostic, Label, Level, Place};

/// All complaints about a file that was parsed from `text`: the file's own first, then each item's in order.
pub fn render_file(text: &str, file: &ParsedFile) -> String {
    let mut out = String::new();
    for diagnostic in &file.diagnostics {
        out.push_str(&render(text, file, 0, diagnostic));
    }
    for item in &file.items {
        for diagnostic in &item.diagnostics {
            out.push_str(&render(text, file, item.source.start, diagnostic));
        }
    }
    out
}

/// One complaint; `item` is where its item starts in the file.
pub fn render(text: &str, file: &ParsedFile, item: u32, diagnostic: &Diagnostic) -> String {
    let level = level_name(diagnostic.level);
    let mut out = format!("{level}[{}] {}\n", diagnostic.code, diagnostic.message);
    for label in &diagnostic.labels {
        let span = place(file, item, label);
        let line =
            format!(" --> {}..{} {}", position(text, span.start), position(text, span.end), label.text);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if let Some(help) = &diagnostic.help {
        out.push_str(&format!(" = help: {help}\n"));
    }
    out
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// The label's bytes in the file.
fn place(file: &ParsedFile, item: u32, label: &Label) -> Span {
    let declared = label.other.and_then(|(kind, name)| {
        file.items.iter().find(|item| {
            item.declares().is_some_and(|(its_kind, its_name)| its_kind == kind && its_name.text == name)
        })
    });
    let start = declared.map_or(item, |other| other.source.start);
    match label.place {
        Place::File(span) => span,
        Place::Item(span) => Span { start: span.start + start, end: span.end + start },
    }
}

/// `line:column`, from 1, in characters.
fn position(text: &str, at: u32) -> String {
    let before = text.get(..at as usize).expect("a diagnostic's place lies in its file, between characters");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!("{line}:{column}")
}
