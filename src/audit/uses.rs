//! Which entry mentions which, directly and through others.
//!
//! Promise: what is not reached from an entry here cannot run, be asked or be read when that entry runs. An entry that resolves
//! symbols, and whoever asks `conflicts`, reaches every rule of pairs.

use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::db::{self, Db, RuleSet};
use crate::graph::Sym;
use crate::lang::hir::{Entry, Statement};
use crate::lang::syntax::ast::Kind;
use crate::lang::syntax::print::keyword;

/// An entry by the word that declares it and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Ref {
    pub kind: &'static str,
    pub name: &'static str,
}

impl Ref {
    pub fn new(kind: Kind, name: Sym) -> Ref {
        Ref { kind: keyword(kind), name: name.as_str() }
    }
}

impl std::fmt::Display for Ref {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// The entries of a rule set in order, and what each mentions.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Uses {
    pub entries: Vec<(Kind, Sym)>,
    numbers: FxHashMap<(Kind, Sym), usize>,
    direct: Vec<Vec<usize>>,
}

/// What every entry mentions.
#[salsa::tracked(returns(ref))]
pub fn entry_uses(db: &dyn Db, rules: RuleSet) -> Arc<Uses> {
    let live = db::live(db, rules);
    let mut uses = Uses::default();
    for &(kind, name, _) in &live.items {
        if !uses.numbers.contains_key(&(kind, name)) {
            uses.numbers.insert((kind, name), uses.entries.len());
            uses.entries.push((kind, name));
        }
    }
    let pair_rules: Vec<usize> = (0..uses.entries.len())
        .filter(|&number| {
            let kinds =
                [Kind::Attribute, Kind::Skip, Kind::DefaultAlways, Kind::Checker, Kind::Never, Kind::Always];
            kinds.contains(&uses.entries[number].0)
        })
        .collect();
    let mut direct = vec![Vec::new(); uses.entries.len()];
    for &(kind, name, key) in &live.items {
        let Some(id) = db::find(db, rules, key) else { continue };
        let lowered = db::lowered(db, rules, id);
        let number = uses.numbers[&(kind, name)];
        for used in &lowered.uses {
            // A checker without a name stands for all rules of pairs.
            if used.0 == Kind::Checker && used.1.is_empty() {
                direct[number].extend(&pair_rules);
            }
            direct[number].extend(uses.numbers.get(used));
        }
        if lowered.entry.iter().flat_map(Entry::blocks).any(|block| resolves(block)) {
            direct[number].extend(&pair_rules);
        }
    }
    for list in &mut direct {
        list.sort_unstable();
        list.dedup();
    }
    uses.direct = direct;
    Arc::new(uses)
}

/// Whether some statement looks for conflicts.
fn resolves(block: &[Statement]) -> bool {
    block.iter().any(|statement| {
        matches!(statement, Statement::Resolve { .. })
            || statement.blocks().into_iter().any(|block| resolves(block))
    })
}

impl Uses {
    pub fn number(&self, kind: Kind, name: Sym) -> Option<usize> {
        self.numbers.get(&(kind, name)).copied()
    }

    pub fn reference(&self, number: usize) -> Ref {
        let (kind, name) = self.entries[number];
        Ref::new(kind, name)
    }

    /// Everything that some of the entries reach, themselves included.
    pub fn reached(&self, from: impl IntoIterator<Item = usize>) -> FixedBitSet {
        let mut reached = FixedBitSet::with_capacity(self.entries.len());
        let mut open: Vec<usize> = from.into_iter().collect();
        while let Some(number) = open.pop() {
            if !reached.put(number) {
                open.extend(&self.direct[number]);
            }
        }
        reached
    }

    /// What an entry mentions itself.
    pub fn direct(&self, number: usize) -> &[usize] {
        &self.direct[number]
    }

    /// The entries that run by themselves, with all that each reaches.
    pub fn runnable(&self) -> Vec<(usize, FixedBitSet)> {
        let runs = |kind| matches!(kind, Kind::Pass | Kind::Chain | Kind::Lint | Kind::Order);
        (0..self.entries.len())
            .filter(|&number| runs(self.entries[number].0))
            .map(|number| (number, self.reached([number])))
            .collect()
    }
}
