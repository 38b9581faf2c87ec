//! The words that graphs are made of so that the changed rules have something to look at.
//!
//! Promise: every word comes from the rule sets. Words that a changed entry reaches are *near*, those of everything else that
//! runs with it are *far*; near ones are taken more often.

use std::collections::BTreeMap;

use super::random::Random;
use crate::audit::uses::{Ref, Uses, entry_uses};
use crate::db::{self, EntryName};
use crate::engine::Session;
use crate::graph::{AttrValue, ListItems, ListValue, Sym};
use crate::lang::facts::Fact;
use crate::lang::hir::{Const, Entry, Expr, Ty};
use crate::lang::syntax::ast::{AttrPlace, AttrType, Kind, OptionType};

/// An attribute and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct AttrWord {
    pub name: Sym,
    pub ty: AttrType,
    pub places: Vec<AttrPlace>,
}

/// Words of one distance.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    pub ops: Vec<Sym>,
    pub attrs: Vec<AttrWord>,
    pub texts: Vec<Sym>,
    pub numbers: Vec<i64>,
    /// Options with values that say something.
    pub options: Vec<(Sym, Vec<String>)>,
}

/// What the search can use, and what it runs.
#[derive(Clone, Debug, Default)]
pub struct Words {
    pub near: Pool,
    pub far: Pool,
    /// What runs the changed entries, the smallest first.
    pub runs: Vec<Sym>,
}

/// Runs that are tried.
const MOST_RUNS: usize = 4;

/// Collects the words of both rule sets.
pub fn words(sessions: [&Session; 2], changed: &[Ref]) -> Words {
    let mut words = Words::default();
    let mut runs: BTreeMap<&'static str, (usize, usize)> = BTreeMap::new();
    for session in sessions {
        let uses = entry_uses(session.database(), session.rule_set());
        let own: Vec<usize> =
            (0..uses.entries.len()).filter(|&number| changed.contains(&uses.reference(number))).collect();
        let near = uses.reached(own.iter().copied());
        let mut far = Vec::new();
        for number in 0..uses.entries.len() {
            let kind = uses.entries[number].0;
            if !matches!(kind, Kind::Pass | Kind::Chain | Kind::Lint | Kind::Order | Kind::Pipeline) {
                continue;
            }
            let reached = uses.reached([number]);
            if own.iter().any(|&entry| reached.contains(entry)) {
                far.push(number);
                let size = reached.count_ones(..);
                let seen = runs.entry(uses.reference(number).name).or_insert((0, size));
                *seen = (seen.0 + 1, seen.1.min(size));
            }
        }
        let all = uses.reached(far);
        words.near.add(session, uses, near.ones());
        words.far.add(session, uses, all.difference(&near));
    }
    // What one of the two cannot run tells nothing.
    let mut both: Vec<(usize, &'static str)> = runs
        .into_iter()
        .filter(|(_, (count, _))| *count == 2)
        .map(|(name, (_, size))| (size, name))
        .collect();
    both.sort_unstable();
    words.runs = both.into_iter().take(MOST_RUNS).map(|(_, name)| Sym::new(name)).collect();
    words
}

fn add<T: PartialEq>(list: &mut Vec<T>, word: T) {
    if !list.contains(&word) {
        list.push(word);
    }
}

impl Pool {
    fn add(&mut self, session: &Session, uses: &Uses, numbers: impl Iterator<Item = usize>) {
        let (db, rules) = (session.database(), session.rule_set());
        for number in numbers {
            let (kind, name) = uses.entries[number];
            let Some(entry) = db::entry(db, rules, EntryName::new(db, kind, name)) else { continue };
            match &*entry {
                Entry::Set { elements, element, .. } => {
                    for element_value in elements {
                        match element_value {
                            Const::Str(text) if *element == Ty::Op => add(&mut self.ops, *text),
                            Const::Str(text) => add(&mut self.texts, *text),
                            Const::Int(number) => add(&mut self.numbers, *number),
                            _ => {}
                        }
                    }
                }
                Entry::Attr { ty, places, .. } => {
                    add(&mut self.attrs, AttrWord { name, ty: *ty, places: places.clone() });
                }
                Entry::Option { ty, .. } => {
                    let values = match ty {
                        OptionType::Bool => vec!["true".to_owned(), "false".to_owned()],
                        OptionType::Variants(variants) => {
                            variants.iter().map(|name| name.text.to_string()).collect()
                        }
                        _ => Vec::new(),
                    };
                    add(&mut self.options, (name, values));
                }
                entry => self.add_body(entry),
            }
        }
    }

    fn add_body(&mut self, entry: &Entry) {
        let Some(body) = entry.body() else { return };
        let is_type = |expr: u32| {
            matches!(body.exprs.get(expr as usize), Some(Expr::Fact { fact: Fact::NodeType, .. }))
        };
        // Operator types stand beside a question for one.
        let mut ops: Vec<Sym> = Vec::new();
        for expr in &body.exprs {
            match expr {
                Expr::Compare { left, right, .. } if is_type(*left) || is_type(*right) => {
                    for side in [left, right] {
                        if let Some(Expr::Const(Const::Str(op))) = body.exprs.get(*side as usize) {
                            ops.push(*op);
                        }
                    }
                }
                Expr::InConsts { value, consts, .. } if is_type(*value) => {
                    ops.extend(consts.iter().filter_map(|value| match value {
                        Const::Str(op) => Some(*op),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
        for expr in &body.exprs {
            match expr {
                Expr::Const(Const::Str(text)) if !ops.contains(text) => add(&mut self.texts, *text),
                Expr::Const(Const::Int(number)) => {
                    for near in [*number, number.saturating_add(1)] {
                        add(&mut self.numbers, near);
                    }
                }
                Expr::InConsts { value, consts, .. } if !is_type(*value) => {
                    for value in consts {
                        match value {
                            Const::Str(text) => add(&mut self.texts, *text),
                            Const::Int(number) => add(&mut self.numbers, *number),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        ops.into_iter().for_each(|op| add(&mut self.ops, op));
    }
}

impl Words {
    /// The pool to take from this time.
    fn pool(&self, random: &mut Random) -> &Pool {
        if random.percent(70) { &self.near } else { &self.far }
    }

    pub fn op(&self, random: &mut Random) -> Option<Sym> {
        let pool = self.pool(random);
        random.pick(&pool.ops).or_else(|| random.pick(&self.far.ops)).copied()
    }

    /// An attribute that can stand at one of these places.
    pub fn attr(&self, random: &mut Random, place: AttrPlace) -> Option<AttrWord> {
        let pool = self.pool(random);
        let fit = |pool: &Pool| -> Vec<AttrWord> {
            pool.attrs.iter().filter(|attr| attr.places.contains(&place)).cloned().collect()
        };
        let near = fit(pool);
        random.pick(&near).cloned().or_else(|| random.pick(&fit(&self.far)).cloned())
    }

    fn text(&self, random: &mut Random) -> Sym {
        let pool = self.pool(random);
        random.pick(&pool.texts).copied().unwrap_or_default()
    }

    fn number(&self, random: &mut Random) -> i64 {
        let pool = self.pool(random);
        match random.percent(60) {
            true => random.pick(&pool.numbers).copied().unwrap_or(0),
            false => random.below(4) as i64 - 1,
        }
    }

    pub fn option(&self, random: &mut Random) -> Option<(Sym, String)> {
        let pool = self.pool(random);
        let (name, values) = random.pick(&pool.options)?.clone();
        let value = match random.pick(&values) {
            Some(value) => value.clone(),
            None => self.text(random).as_str().to_owned(),
        };
        Some((name, value))
    }

    /// A value that an attribute of this type can have. `names`: what a text may name.
    pub fn value(&self, random: &mut Random, ty: AttrType, names: &[Sym]) -> AttrValue {
        let list = |items| AttrValue::List(std::sync::Arc::new(ListValue { items, ..ListValue::default() }));
        match ty {
            AttrType::Bool | AttrType::OptBool => AttrValue::Bool(random.percent(85)),
            AttrType::Int => AttrValue::Int(self.number(random)),
            AttrType::Float => AttrValue::Float(self.number(random) as f32),
            AttrType::Str | AttrType::Any => {
                let named = random.percent(50).then(|| random.pick(names).copied()).flatten();
                AttrValue::str(named.unwrap_or_else(|| self.text(random)).as_str())
            }
            AttrType::ListInt => {
                let many = 1 + random.below(3);
                AttrValue::ints((0..many).map(|_| self.number(random)).collect::<Vec<_>>())
            }
            AttrType::ListBool => list(ListItems::Bool([random.percent(50)].into())),
            AttrType::ListFloat => list(ListItems::Float([self.number(random) as f32].into())),
            AttrType::ListStr => list(ListItems::Str([self.text(random).as_str().as_bytes().into()].into())),
            AttrType::ListListInt => AttrValue::ListListInt([[self.number(random)].into()].into()),
        }
    }
}
