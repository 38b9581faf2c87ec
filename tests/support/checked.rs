//! Rule sets through all stages of checking, as plain text for comparison with files.
//!
//! A line `//@ overlay` starts a second file, an overlay. Warnings about unused names can be left out, so that short
//! files stay short.

use std::fmt::Write as _;
use std::sync::Arc;

use anchorwatch::graph::Sym;
use anchorwatch::lang::check::{ItemKey, RuleItem, lower, rules, scope, title};
use anchorwatch::lang::syntax::ast::{Item, Kind};
use anchorwatch::lang::syntax::{ParsedFile, parse_file};
use anchorwatch::lang::{Diagnostic, Level, Place};

use super::{level_name, position};

/// A checked rule set: its files, and everything that was said.
pub struct Checked {
    files: Vec<(String, ParsedFile)>,
    overlays: Vec<bool>,
    /// `None`: about a file, not an item.
    said: Vec<(u32, Option<ItemKey>, Diagnostic)>,
}

/// Parses all files, of which some are overlays; where that goes well, scope, lowering and rules follow.
pub fn check(texts: &[(&str, bool)]) -> Checked {
    let files: Vec<(String, ParsedFile)> =
        texts.iter().map(|(text, _)| ((*text).to_owned(), parse_file(text))).collect();
    let overlays: Vec<bool> = texts.iter().map(|(_, overlay)| *overlay).collect();
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
        return Checked { files, overlays, said };
    }
    let scoped = scope(&items, &overlays);
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
    Checked { files, overlays, said }
}

/// [`check`] of a text with an optional overlay after the line `//@ overlay`.
pub fn check_text(text: &str) -> Checked {
    match text.split_once("//@ overlay\n") {
        Some((base, overlay)) => check(&[(base, false), (overlay, true)]),
        None => check(&[(text, false)]),
    }
}

impl Checked {
    /// Everything said; `all`: also about unused names.
    pub fn text(&self, all: bool) -> String {
        let mut out = String::new();
        for (file, key, diagnostic) in &self.said {
            if !all && diagnostic.code == "rule::unused" {
                continue;
            }
            let level = level_name(diagnostic.level);
            let _ = writeln!(out, "{level}[{}] {}", diagnostic.code, diagnostic.message);
            for label in &diagnostic.labels {
                let own = (*file, *key);
                let (file, key) =
                    label.other.map_or(own, |(kind, name)| self.find(kind, name).unwrap_or(own));
                let (text, parsed) = &self.files[file as usize];
                let (base, span) = match (label.place, key) {
                    (Place::Item(span), Some(key)) => (parsed.items[key.index as usize].source.start, span),
                    (Place::Item(span) | Place::File(span), _) => (0, span),
                };
                let overlay = if self.overlays[file as usize] { "overlay " } else { "" };
                let (from, to) = (position(text, base + span.start), position(text, base + span.end));
                let _ = writeln!(out, "{}", format!(" --> {overlay}{from}..{to} {}", label.text).trim_end());
            }
            if let Some(help) = &diagnostic.help {
                let _ = writeln!(out, " = help: {help}");
            }
        }
        out
    }

    fn find(&self, kind: Kind, name: Sym) -> Option<(u32, Option<ItemKey>)> {
        (0..).zip(&self.files).find_map(|(file, (_, parsed))| {
            let mut items = (0..).zip(&parsed.items);
            let named = |item: &Item| item.kind == kind && title(item) == name;
            let found = items.find(|(_, item)| item.item.as_ref().is_some_and(named));
            found.map(|(index, _)| (file, Some(ItemKey { file, index })))
        })
    }
}
