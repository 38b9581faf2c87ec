//! The table of pairs: what the rules say of every two marks.
//!
//! Promise: every pair of marks has exactly one row, in declaration order, and every entry that claims it is named, those whose
//! claim is lost as well. A pair that nothing rules is a row too.

use std::sync::Arc;

use serde::Serialize;

use super::uses::Ref;
use crate::db::{self, Db, EntryName, RuleSet};
use crate::engine::{Class, pair_table};
use crate::graph::Sym;
use crate::lang::hir::{CheckerForm, Entry};
use crate::lang::syntax::ast::{Kind, Side};

/// A mark of anchors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarkRow {
    pub name: &'static str,
    /// `input` or `output`.
    pub side: &'static str,
    /// What is left when no other mark applies: it demands nothing.
    pub otherwise: bool,
}

/// Two marks, and what is done about anchors that show them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairRow {
    pub first: &'static str,
    pub second: &'static str,
    /// `never`, `always`, `checker` or `unruled`.
    pub class: &'static str,
    /// The entry that rules the pair.
    pub by: Option<Ref>,
    /// Entries that name the pair, and to which it does not come.
    pub lost: Vec<Ref>,
}

/// Marks and pairs.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Pairs {
    pub marks: Vec<MarkRow>,
    pub pairs: Vec<PairRow>,
}

/// An entry with the pairs it names.
struct Claims {
    entry: Ref,
    pairs: Vec<(Sym, Sym)>,
}

/// The table of pairs.
#[salsa::tracked(returns(ref))]
pub fn pair_rows(db: &dyn Db, rules: RuleSet) -> Arc<Pairs> {
    let marks = db::names(db, rules, Kind::Attribute).clone();
    let entry = |kind, name| db::entry(db, rules, EntryName::new(db, kind, name));
    let mut table = Pairs::default();
    for &name in &marks {
        if let Some(Entry::Attribute { side, rule }) = entry(Kind::Attribute, name).as_deref() {
            let side = if *side == Side::Input { "input" } else { "output" };
            table.marks.push(MarkRow { name: name.as_str(), side, otherwise: rule.is_none() });
        }
    }
    let claims = claims(db, rules, &marks);
    let classes = pair_table(db, rules);
    for (at, &first) in marks.iter().enumerate() {
        for &second in &marks[at..] {
            let names = |claim: &&Claims| {
                claim.pairs.iter().any(|&pair| pair == (first, second) || pair == (second, first))
            };
            let claiming: Vec<Ref> = claims.iter().filter(names).map(|claim| claim.entry).collect();
            let (class, by) = match classes.class(first, second) {
                None => ("unruled", None),
                Some(Class::Never) => ("never", claiming.iter().copied().find(|entry| entry.kind == "never")),
                Some(Class::Always(name)) => ("always", Some(Ref::new(Kind::Always, name))),
                Some(Class::Checker(name)) => ("checker", Some(Ref::new(Kind::Checker, name))),
            };
            table.pairs.push(PairRow {
                first: first.as_str(),
                second: second.as_str(),
                class,
                by,
                lost: claiming.into_iter().filter(|entry| Some(*entry) != by).collect(),
            });
        }
    }
    Arc::new(table)
}

/// All entries about pairs, in order of precedence, then of declaration.
fn claims(db: &dyn Db, rules: RuleSet, marks: &[Sym]) -> Vec<Claims> {
    let mut all = Vec::new();
    for kind in [Kind::Never, Kind::Always, Kind::Checker] {
        for &(_, name, _) in db::live(db, rules).items.iter().filter(|(k, ..)| *k == kind) {
            let entry = db::entry(db, rules, EntryName::new(db, kind, name));
            let product = |first: &[Sym], second: &[Sym]| {
                first.iter().flat_map(|&a| second.iter().map(move |&b| (a, b))).collect()
            };
            let pairs: Vec<(Sym, Sym)> = match entry.as_deref() {
                Some(Entry::Never { left, right }) if right.is_empty() => product(&[*left], marks),
                Some(Entry::Never { left, right } | Entry::Always { left, right, .. }) => {
                    product(&[*left], right)
                }
                Some(Entry::Checker(checker)) => match &checker.form {
                    CheckerForm::Pair { first, second, .. } | CheckerForm::Group { first, second } => {
                        product(first, second)
                    }
                },
                _ => continue,
            };
            all.push(Claims { entry: Ref::new(kind, name), pairs });
        }
    }
    all
}
