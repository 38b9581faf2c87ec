//! Mutation testing of rules: would the tests notice if an entry said something else?
//!
//! Promise: the mutants of a rule set are complete, in the order of files and places, and follow from its text alone; so does what becomes
//! of each. A mutant is killed by the first test that fails; it is no mutant if the rules no longer check, or if what is evaluated stays the same.
//! This room knows no rule.
//!
//! The road: [`mutants`] lists the small changes ([`change`], [`items`]), [`run`] makes one at a time and runs the tests that reach it,
//! cheapest first. All of them share one database, so that a mutant costs what one edit costs.

mod change;
mod items;
mod run;

use std::ops::Range;

use serde::Serialize;

pub use run::{Bench, Fate, Reach, Tests, Tried, measure};

use self::change::Surgeon;
use self::items::Left;
use super::uses::Ref;
use super::witness::random::Random;
use crate::db;
use crate::engine::Session;
use crate::graph::Sym;
use crate::lang::syntax::ast::{Item, Kind};
use crate::lang::syntax::print_item;

/// One small change of a rule set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mutant {
    pub entry: Ref,
    #[serde(skip)]
    pub(crate) key: (Kind, Sym),
    pub path: String,
    /// Counted from 1.
    pub line: u32,
    /// What kind of change it is.
    pub change: &'static str,
    pub old: String,
    /// Empty: it is gone.
    pub new: String,
    /// The item's bytes in its file, and what is there instead.
    #[serde(skip)]
    range: Range<usize>,
    #[serde(skip)]
    text: String,
}

impl Mutant {
    /// The text of its file with the change.
    pub fn apply(&self, file: &str) -> String {
        let (before, after) = (file.get(..self.range.start), file.get(self.range.end..));
        format!("{}{}\n{}", before.unwrap_or_default(), self.text, after.unwrap_or_default())
    }

    /// What it is called where it matters that lines move: its file and entry, and what was changed into what.
    pub fn name(&self) -> String {
        let new = if self.new.is_empty() { "nothing" } else { &self.new };
        format!("{}: {}: {}: {} -> {new}", self.path, self.entry, self.change, self.old)
    }
}

/// The mutants of the entries that `wanted` accepts (by path and entry), in order of files and places.
pub fn mutants(session: &Session, wanted: &dyn Fn(&str, Ref) -> bool) -> Vec<Mutant> {
    let (db, rules) = (session.database(), session.rule_set());
    let mut all = Vec::new();
    for &(kind, name, key) in &db::live(db, rules).items {
        let Some(&file) = rules.files(db).get(key.file as usize) else { continue };
        let (path, entry) = (file.path(db), Ref::new(kind, name));
        if kind == Kind::Test || !wanted(path, entry) {
            continue;
        }
        let parsed = db::parsed(db, file);
        let Some(item) = parsed.items.get(key.index as usize) else { continue };
        let Some(tree) = &item.item else { continue };
        let (start, end) = (item.source.start as usize, item.source.end as usize);
        let text = file.text(db);
        for (change, left) in changes(tree) {
            let at = start + change.span.start as usize;
            let lines = text.as_bytes().get(..at).unwrap_or_default();
            all.push(Mutant {
                entry,
                key: (kind, name),
                path: path.clone(),
                line: memchr::memchr_iter(b'\n', lines).count() as u32 + 1,
                change: change.what,
                old: change.old,
                new: change.new,
                range: start..end,
                text: left.as_ref().map(print_item).unwrap_or_default(),
            });
        }
    }
    all
}

/// Every change of an item, and the item after it if there is one.
fn changes(item: &Item) -> Vec<(change::Change, Option<Item>)> {
    let mut all = Vec::new();
    loop {
        let (mut surgeon, mut copy) = (Surgeon::new(all.len()), item.clone());
        let left = surgeon.item(&mut copy);
        let Some(made) = surgeon.made else { return all };
        all.push((made, (left == Left::Changed).then_some(copy)));
    }
}

/// So many of them, chosen by a seed, in their order.
pub fn sample(mutants: Vec<Mutant>, count: usize, seed: u64) -> Vec<Mutant> {
    let mut random = Random::new(seed);
    let mut numbers: Vec<usize> = (0..mutants.len()).collect();
    for at in 0..count.min(numbers.len()) {
        let other = at + random.below(numbers.len() - at);
        numbers.swap(at, other);
    }
    numbers.truncate(count);
    numbers.sort_unstable();
    let mut chosen = numbers.into_iter().peekable();
    let keep = |(at, mutant)| (chosen.next_if_eq(&at).is_some()).then_some(mutant);
    mutants.into_iter().enumerate().filter_map(keep).collect()
}
