//! The pair table: what is to be done for each pair of marks (`layout.md` 5).
//!
//! Promise: built from entries alone, once per rule set. A pair has at most one class; `never` wins over `always`,
//! `always` over checkers, whatever order the entries stand in.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::Sym;
use crate::lang::hir::{CheckerForm, Entry};

/// The class of a pair of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Explicitly without conflict.
    Never,
    /// The `always` entry of this title. Of several with one title, which are about the same pairs, the first counts.
    Always(Sym),
    /// The checker of this name.
    Checker(Sym),
}

/// A rule that has pairs to look at, with these pairs (unordered, each once, in declaration order).
#[derive(Clone, Debug, PartialEq)]
pub struct RulePairs {
    pub class: Class,
    pub pairs: Vec<(Sym, Sym)>,
}

/// Classes of all pairs that have one. A pair without entry does not conflict.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PairTable {
    classes: FxHashMap<(Sym, Sym), Class>,
    /// Rules to run, in declaration order.
    pub rules: Vec<RulePairs>,
}

fn key(a: Sym, b: Sym) -> (Sym, Sym) {
    if a.as_str() <= b.as_str() { (a, b) } else { (b, a) }
}

impl PairTable {
    /// `entries`: the live items in order, with their names; `marks`: every mark, for `never … with any`.
    pub fn new(entries: &[(Sym, Arc<Entry>)], marks: &[Sym]) -> PairTable {
        let mut table = PairTable::default();
        for (_, entry) in entries {
            if let Entry::Never { left, right } = &**entry {
                let others: &[Sym] = if right.is_empty() { marks } else { right };
                for &other in others {
                    table.classes.entry(key(*left, other)).or_insert(Class::Never);
                }
            }
        }
        for (title, entry) in entries {
            if let Entry::Always { left, right, .. } = &**entry {
                table.rule(Class::Always(*title), right.iter().map(|&other| (*left, other)));
            }
        }
        for (name, entry) in entries {
            if let Entry::Checker(checker) = &**entry {
                let (CheckerForm::Pair { first, second, .. } | CheckerForm::Group { first, second }) =
                    &checker.form;
                let pairs = first.iter().flat_map(|&a| second.iter().map(move |&b| (a, b)));
                table.rule(Class::Checker(*name), pairs);
            }
        }
        table
    }

    fn rule(&mut self, class: Class, pairs: impl Iterator<Item = (Sym, Sym)>) {
        let mut own = Vec::new();
        for (a, b) in pairs {
            if let std::collections::hash_map::Entry::Vacant(free) = self.classes.entry(key(a, b)) {
                free.insert(class);
                own.push((a, b));
            }
        }
        if !own.is_empty() {
            self.rules.push(RulePairs { class, pairs: own });
        }
    }

    /// The pairs of a rule.
    pub fn pairs(&self, class: Class) -> &[(Sym, Sym)] {
        self.rules.iter().find(|rule| rule.class == class).map_or(&[], |rule| &rule.pairs)
    }

    /// What is done about a pair of marks.
    pub fn class(&self, a: Sym, b: Sym) -> Option<Class> {
        self.classes.get(&key(a, b)).copied()
    }
}
