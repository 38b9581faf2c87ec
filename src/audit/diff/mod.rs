//! What a change of a rule set changes: a comparison of what is said, not of how it is written.
//!
//! Promise: two rule sets that differ in form, comments, documentation and the order of what has no order give nothing. Whatever
//! else differs is told once, as the change that an author made: a cell, a step, a condition. What follows for pairs of marks is
//! told beside it. Reasons, levels and tests are told apart, since no graph is changed by them.
//!
//! The road: [`compare`] goes through the names of both, [`items`] through two declarations of one name, [`trees`] through
//! expressions and bodies, [`align`](mod@align) through lists.

mod align;
mod items;
mod trees;

use serde::Serialize;

use super::pairs::{PairRow, pair_rows};
use super::uses::Ref;
use crate::db::{self, Db, EntryName, RuleSet};
use crate::engine::Session;
use crate::graph::Sym;
use crate::lang::syntax::ast::{Item, ItemData, Kind, SetTerm};
use crate::lang::syntax::{print_expr, print_item, print_text};

/// How much a change weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Some graph may come out otherwise.
    Meaning,
    /// Findings weigh more or less.
    Level,
    /// Reasons, advice, names inside an entry.
    Wording,
    Tests,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    pub weight: Weight,
    pub entry: Ref,
    /// What changed, as a sentence without its subject.
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

/// A pair of marks of which something else holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairChange {
    pub first: &'static str,
    pub second: &'static str,
    /// `never`, `always`, `checker NAME`, `unruled`; none where a mark does not exist.
    pub old: Option<String>,
    pub new: Option<String>,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Difference {
    pub changes: Vec<Change>,
    pub pairs: Vec<PairChange>,
}

impl Difference {
    /// Whether a graph, or what is told of it, may come out otherwise.
    pub fn differs(&self) -> bool {
        !self.pairs.is_empty()
            || self.changes.iter().any(|change| matches!(change.weight, Weight::Meaning | Weight::Level))
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.changes.is_empty()
    }
}

/// Changes of one entry while they are collected.
pub struct Notes {
    entry: Ref,
    found: Vec<Change>,
}

impl Notes {
    fn push(&mut self, weight: Weight, what: String, old: Option<String>, new: Option<String>) {
        self.found.push(Change { weight, entry: self.entry, what, old, new });
    }
}

/// Compares the rule sets of two sessions.
pub fn compare(old: &Session, new: &Session) -> Difference {
    let sides = [old, new].map(|session| Side { db: session.database(), rules: session.rule_set() });
    let [old_side, new_side] = &sides;
    let mut difference = Difference { changes: Vec::new(), pairs: pair_changes(old_side, new_side) };
    for (kind, name) in names(old_side, new_side) {
        let mut notes = Notes { entry: Ref::new(kind, name), found: Vec::new() };
        let (before, after) = (old_side.items(kind, name), new_side.items(kind, name));
        match (before.first(), after.first()) {
            (Some(_), Some(_)) if kind == Kind::Set => sets(&before, &after, &mut notes),
            (Some(old), Some(new)) => items::items(&old.0, &new.0, &mut notes),
            (old, new) => {
                let weight = if kind == Kind::Test { Weight::Tests } else { Weight::Meaning };
                let word = if old.is_some() { "dropped" } else { "added" };
                let text = |item: Option<&db::Item>| {
                    item.map(|item| undocumented(&item.0)).filter(|_| kind != Kind::Test)
                };
                notes.push(weight, word.to_owned(), text(old), text(new));
            }
        }
        soften(old_side, new_side, kind, name, &mut notes.found);
        difference.changes.append(&mut notes.found);
    }
    pair_reasons(old_side, new_side, &mut difference.changes);
    orders(old, new, [old_side, new_side], &mut difference.changes);
    difference
}

struct Side<'a> {
    db: &'a dyn Db,
    rules: RuleSet,
}

impl Side<'_> {
    /// The items under a name: one, or a set with those that extend it.
    fn items(&self, kind: Kind, name: Sym) -> Vec<db::Item> {
        let keys = db::live(self.db, self.rules).keys(kind, name);
        keys.iter()
            .filter_map(|&key| db::find(self.db, self.rules, key))
            .filter_map(|id| db::item(self.db, id))
            .collect()
    }
}

/// Entries that are told one by one, in the order of the old rule set; then those that only the new one has.
fn names(old: &Side<'_>, new: &Side<'_>) -> Vec<(Kind, Sym)> {
    let mut names: Vec<(Kind, Sym)> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for side in [old, new] {
        for &(kind, name, _) in &db::live(side.db, side.rules).items {
            // Which pairs these have is told by the table of pairs.
            if !matches!(kind, Kind::Never | Kind::Always) && seen.insert((kind, name)) {
                names.push((kind, name));
            }
        }
    }
    names
}

fn undocumented(item: &Item) -> String {
    print_item(&Item { doc: None, ..item.clone() })
}

/// If the typed bodies are equal, nothing but names inside the entry changed.
fn soften(old: &Side<'_>, new: &Side<'_>, kind: Kind, name: Sym, found: &mut [Change]) {
    let entry = |side: &Side<'_>| db::entry(side.db, side.rules, EntryName::new(side.db, kind, name));
    if found.iter().any(|change| change.weight == Weight::Meaning)
        && let (Some(old), Some(new)) = (entry(old), entry(new))
        && old == new
    {
        for change in found.iter_mut().filter(|change| change.weight == Weight::Meaning) {
            change.weight = Weight::Wording;
        }
    }
}

/// A set, with all that extends it.
fn sets(old: &[db::Item], new: &[db::Item], notes: &mut Notes) {
    let of = |items: &[db::Item]| {
        let (mut elements, mut sets, mut within) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            let ItemData::Set { within: outer, terms } = &item.0.data else { continue };
            within.extend(outer.map(|name| name.text.to_string()));
            for term in terms {
                match term {
                    SetTerm::Named(name) => sets.push(name.text.to_string()),
                    SetTerm::Literal(values) => elements.extend(values.iter().map(print_expr)),
                }
            }
        }
        (elements, sets, within)
    };
    let ((elements, inner, within), (new_elements, new_inner, new_within)) = (of(old), of(new));
    items::elements("element", elements, new_elements, notes);
    items::elements("set", inner, new_inner, notes);
    if within != new_within {
        let words = |names: Vec<String>| (!names.is_empty()).then(|| names.join(", "));
        notes.push(Weight::Wording, "the set it is in changed".to_owned(), words(within), words(new_within));
    }
}

fn class(row: &PairRow) -> String {
    match row.by {
        Some(by) if row.class == "checker" => by.to_string(),
        _ => row.class.to_owned(),
    }
}

fn pair_changes(old: &Side<'_>, new: &Side<'_>) -> Vec<PairChange> {
    let (before, after) = (pair_rows(old.db, old.rules), pair_rows(new.db, new.rules));
    let mut changes = Vec::new();
    let is = |row: &PairRow, other: &PairRow| {
        [(other.first, other.second), (other.second, other.first)].contains(&(row.first, row.second))
    };
    for row in &before.pairs {
        let now = after.pairs.iter().find(|other| is(row, other)).map(class);
        let was = Some(class(row));
        // Pairs of a mark that is gone are no news but for what ruled them.
        if now != was && (now.is_some() || row.class != "unruled") {
            changes.push(PairChange { first: row.first, second: row.second, old: was, new: now });
        }
    }
    for row in &after.pairs {
        if row.class != "unruled" && !before.pairs.iter().any(|other| is(row, other)) {
            changes.push(PairChange {
                first: row.first,
                second: row.second,
                old: None,
                new: Some(class(row)),
            });
        }
    }
    changes
}

/// Reasons of pairs that are in conflict always, before and after.
fn pair_reasons(old: &Side<'_>, new: &Side<'_>, changes: &mut Vec<Change>) {
    let reason = |side: &Side<'_>, by: Ref| {
        let items = side.items(Kind::Always, Sym::new(by.name));
        items.iter().find_map(|item| match &item.0.data {
            ItemData::Always { because, .. } => because.as_ref().map(print_text),
            _ => None,
        })
    };
    let after = pair_rows(new.db, new.rules);
    for row in pair_rows(old.db, old.rules).pairs.iter().filter(|row| row.class == "always") {
        let now = after.pairs.iter().find(|other| (other.first, other.second) == (row.first, row.second));
        let (Some(was), Some(now)) = (row.by, now.filter(|now| now.class == "always").and_then(|now| now.by))
        else {
            continue;
        };
        let (before, after) = (reason(old, was), reason(new, now));
        let told =
            changes.iter().any(|change| change.entry == now && change.old == before && change.new == after);
        if before != after && !told {
            let what = "`because` changed".to_owned();
            changes.push(Change { weight: Weight::Wording, entry: now, what, old: before, new: after });
        }
    }
}

/// What depends on which entry stands first: marks, and the pipeline, symbols and order that are taken if none is named.
fn orders(old: &Session, new: &Session, sides: [&Side<'_>; 2], changes: &mut Vec<Change>) {
    let names = |side: &Side<'_>, kind| db::names(side.db, side.rules, kind).clone();
    let [old_marks, new_marks] = sides.map(|side| names(side, Kind::Attribute));
    let keys = |marks: &[Sym], others: &[Sym]| -> Vec<String> {
        marks.iter().filter(|mark| others.contains(mark)).map(|mark| mark.to_string()).collect()
    };
    let (before, after) = (keys(&old_marks, &new_marks), keys(&new_marks, &old_marks));
    for pair in align::align(&before, &after, |_, _| false) {
        if let align::Aligned::Moved(_, at) = pair {
            let shown: Vec<String> = after.iter().map(|name| format!("`{name}`")).collect();
            let what = format!("moved {} in the order of marks", trees::before(&shown, at));
            let entry = Ref::new(Kind::Attribute, Sym::new(&after[at]));
            changes.push(Change { weight: Weight::Meaning, entry, what, old: None, new: None });
        }
    }
    let first = |side: &Side<'_>, kind| names(side, kind).first().copied();
    let defaults = [
        (Kind::Pipeline, "default pipeline", old.default_pipeline(), new.default_pipeline()),
        (Kind::Symbols, "first symbols", first(sides[0], Kind::Symbols), first(sides[1], Kind::Symbols)),
        (Kind::Order, "first order", first(sides[0], Kind::Order), first(sides[1], Kind::Order)),
    ];
    for (kind, what, was, now) in defaults {
        if was != now && (was.is_some() || now.is_some()) {
            let words = |name: Option<Sym>| name.map(|name| name.to_string());
            let entry = Ref::new(kind, now.or(was).unwrap_or_default());
            let (old, new) = (words(was), words(now));
            changes.push(Change {
                weight: Weight::Meaning,
                entry,
                what: format!("{what} changed"),
                old,
                new,
            });
        }
    }
}
