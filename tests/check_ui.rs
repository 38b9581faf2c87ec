//! Rule files and what the checker says of them: `tests/ui/check/NAME.anchor` and `NAME.expected`.
//!
//! A line `//@ overlay` starts a second file, an overlay. Warnings about unused names are left out, except in the files that
//! are about them (`unused*` and `everything`). Nothing rewrites the expected files: they are written by hand.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anchorwatch::lang::check::{ItemKey, RuleItem, Scope, lower, rules, scope, title};
use anchorwatch::lang::syntax::ast::{Item, Span};
use anchorwatch::lang::syntax::{ParsedFile, parse_file};
use anchorwatch::lang::{Diagnostic, Level, Place};

/// A checked rule set: its files, and everything that was said.
struct Checked {
    files: Vec<(String, ParsedFile)>,
    scope: Scope,
    /// `None`: about a file, not an item.
    said: Vec<(u32, Option<ItemKey>, Diagnostic)>,
}

/// Parses all files; where that goes well, scope, lowering and rules follow.
fn check(texts: &[&str]) -> Checked {
    let files: Vec<(String, ParsedFile)> =
        texts.iter().map(|text| ((*text).to_owned(), parse_file(text))).collect();
    let mut said = Vec::new();
    let mut items: Vec<(ItemKey, Arc<Item>)> = Vec::new();
    for (file, (_, parsed)) in (0..).zip(&files) {
        said.extend(parsed.diagnostics.iter().map(|d| (file, None, d.clone())));
        for (index, item) in (0..).zip(&parsed.items) {
            let key = ItemKey { file, index };
            said.extend(item.diagnostics.iter().map(|d| (file, Some(key), d.clone())));
            items.extend(item.item.clone().map(|item| (key, Arc::new(item))));
        }
    }
    if said.iter().any(|(_, _, d)| d.level == Level::Error) {
        return Checked { files, scope: Scope::default(), said };
    }
    let scoped = scope(&items, &[false, true]);
    let mut found = scoped.diagnostics;
    let mut live = Vec::new();
    for key in &scoped.live {
        let Some((_, item)) = items.iter().find(|(known, _)| known == key) else { continue };
        let lowered = lower(item, &scoped.scope);
        found.extend(lowered.diagnostics.into_iter().map(|d| (*key, d)));
        live.push(RuleItem { key: *key, item: item.clone(), uses: lowered.uses });
    }
    found.extend(rules(&live, &scoped.scope));
    found.sort_by_key(|(key, _)| *key);
    said.extend(found.into_iter().map(|(key, d)| (key.file, Some(key), d)));
    Checked { files, scope: scoped.scope, said }
}

impl Checked {
    /// Line, column and text of a place.
    fn show(&self, file: u32, key: Option<ItemKey>, place: Place) -> String {
        let (text, parsed) = &self.files[file as usize];
        let (base, Span { start, end }) = match (place, key) {
            (Place::Item(span), Some(key)) => (parsed.items[key.index as usize].source.start, span),
            (Place::Item(span) | Place::File(span), _) => (0, span),
        };
        let (start, end) = ((base + start) as usize, (base + end) as usize);
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1;
        let marked = text[start..end].lines().next().unwrap_or_default();
        let overlay = if file == 1 { "overlay " } else { "" };
        format!("{overlay}{line}:{column} `{marked}`")
    }

    fn text(&self, all: bool) -> String {
        let mut out = String::new();
        for (file, key, d) in &self.said {
            if !all && d.code == "rule::unused" {
                continue;
            }
            let level = match d.level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Note => "note",
            };
            let _ = writeln!(out, "{level} {}: {}", d.code, d.message);
            for label in &d.labels {
                let (file, key) = match label.other {
                    None => (*file, *key),
                    Some((kind, name)) => self.find(kind, name).unwrap_or((*file, *key)),
                };
                let place = self.show(file, key, label.place);
                let colon = if label.text.is_empty() { "" } else { ": " };
                let _ = writeln!(out, "  at {place}{colon}{}", label.text);
            }
            if let Some(help) = &d.help {
                let _ = writeln!(out, "  help: {help}");
            }
        }
        out
    }

    fn find(
        &self,
        kind: anchorwatch::lang::syntax::ast::Kind,
        name: anchorwatch::graph::Sym,
    ) -> Option<(u32, Option<ItemKey>)> {
        for (file, (_, parsed)) in (0..).zip(&self.files) {
            for (index, item) in (0..).zip(&parsed.items) {
                if item.item.as_ref().is_some_and(|item| item.kind == kind && title(item) == name) {
                    return Some((file, Some(ItemKey { file, index })));
                }
            }
        }
        None
    }
}

fn check_text(text: &str) -> Checked {
    match text.split_once("//@ overlay\n") {
        Some((base, overlay)) => check(&[base, overlay]),
        None => check(&[text]),
    }
}

#[test]
fn every_file_gets_its_expected_complaints() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui/check");
    let mut names: Vec<String> = std::fs::read_dir(&dir)
        .expect("the folder is part of the source")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".anchor").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() > 40, "only {} files", names.len());
    let mut wrong = String::new();
    for name in &names {
        let text = std::fs::read_to_string(dir.join(format!("{name}.anchor"))).expect("listed above");
        let expected = std::fs::read_to_string(dir.join(format!("{name}.expected"))).unwrap_or_default();
        let found = check_text(&text).text(name.starts_with("unused") || name == "everything");
        if found != expected {
            let _ = writeln!(wrong, "== {name}\n-- expected\n{expected}-- found\n{found}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
