//! Attributes of graphs and options: who sets them, who reads them, and in which pass.
//!
//! Promise: a place that an entry's body or one of its texts names is found; a value that is copied whole (a tensor description)
//! is no reading of what is in it. Tests are no readers.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::uses::{Ref, entry_uses};
use crate::db::{self, Db, EntryName, RuleSet};
use crate::graph::Sym;
use crate::lang::hir::{Entry, Expr, Lowered, OptionValue, Statement};
use crate::lang::syntax::ast::{Kind, OptionType};
use crate::lang::syntax::print::{attr_type, option_type, place_word};

/// A declared attribute of graphs, nodes or tensors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttributeRow {
    pub name: &'static str,
    #[serde(rename = "type")]
    pub ty: &'static str,
    pub places: Vec<&'static str>,
    pub aliases: Vec<&'static str>,
    pub readers: Vec<Ref>,
    pub setters: Vec<Ref>,
    /// Passes, chains, lints and orders in which it can be read, and set.
    pub read_in: Vec<Ref>,
    pub set_in: Vec<Ref>,
    /// `read`, `set`, `both` or `unused`.
    pub usage: &'static str,
}

/// A declared option.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptionRow {
    pub name: &'static str,
    #[serde(rename = "type")]
    pub ty: String,
    pub default: String,
    pub from_env: bool,
    pub readers: Vec<Ref>,
    pub read_in: Vec<Ref>,
}

/// Attributes and options.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Inputs {
    pub attributes: Vec<AttributeRow>,
    pub options: Vec<OptionRow>,
}

/// Attribute or option names, each with the numbers of the entries that name it.
type Namers = FxHashMap<Sym, BTreeSet<usize>>;

#[derive(Default)]
struct Found {
    readers: Namers,
    setters: Namers,
    options: Namers,
}

/// All attributes and options.
#[salsa::tracked(returns(ref))]
pub fn inputs(db: &dyn Db, rules: RuleSet) -> Arc<Inputs> {
    let uses = entry_uses(db, rules);
    let mut found = Found::default();
    for &(kind, name, key) in &db::live(db, rules).items {
        if kind == Kind::Test {
            continue;
        }
        let Some(id) = db::find(db, rules, key) else { continue };
        if let Some(number) = uses.number(kind, name) {
            found.look(db::lowered(db, rules, id), number);
        }
    }
    let runnable = uses.runnable();
    let refs = |numbers: Option<&BTreeSet<usize>>| -> Vec<Ref> {
        numbers.into_iter().flatten().map(|&number| uses.reference(number)).collect()
    };
    let within = |numbers: Option<&BTreeSet<usize>>| -> Vec<Ref> {
        let numbers: Vec<usize> = numbers.into_iter().flatten().copied().collect();
        let reach = runnable.iter().filter(|(_, reached)| numbers.iter().any(|&n| reached.contains(n)));
        reach.map(|&(number, _)| uses.reference(number)).collect()
    };
    let mut inputs = Inputs::default();
    for &name in db::names(db, rules, Kind::Attr) {
        let entry = db::entry(db, rules, EntryName::new(db, Kind::Attr, name));
        let Some(Entry::Attr { ty, places, aliases }) = entry.as_deref() else { continue };
        let (readers, setters) = (found.readers.get(&name), found.setters.get(&name));
        inputs.attributes.push(AttributeRow {
            name: name.as_str(),
            ty: attr_type(*ty),
            places: places.iter().map(|place| place_word(*place)).collect(),
            aliases: aliases.iter().map(|alias| alias.as_str()).collect(),
            usage: match (readers.is_some(), setters.is_some()) {
                (true, true) => "both",
                (true, false) => "read",
                (false, true) => "set",
                (false, false) => "unused",
            },
            read_in: within(readers),
            set_in: within(setters),
            readers: refs(readers),
            setters: refs(setters),
        });
    }
    for &name in db::names(db, rules, Kind::Option) {
        let entry = db::entry(db, rules, EntryName::new(db, Kind::Option, name));
        let Some(Entry::Option { ty, default, from_env }) = entry.as_deref() else { continue };
        let readers = found.options.get(&name);
        inputs.options.push(OptionRow {
            name: name.as_str(),
            ty: option_type(ty),
            default: default_words(ty, default),
            from_env: *from_env,
            readers: refs(readers),
            read_in: within(readers),
        });
    }
    Arc::new(inputs)
}

impl Found {
    fn look(&mut self, lowered: &Lowered, number: usize) {
        let own = lowered.entry.iter().filter_map(Entry::body);
        let texts = lowered.texts.iter().map(|text| &text.body);
        for expr in own.chain(texts).flat_map(|body| &body.exprs) {
            match expr {
                Expr::Attr { keys, .. } | Expr::HasAttr { keys, .. } => {
                    if let Some(&name) = keys.first() {
                        self.readers.entry(name).or_default().insert(number);
                    }
                }
                Expr::Option(name) => {
                    self.options.entry(*name).or_default().insert(number);
                }
                _ => {}
            }
        }
        for block in lowered.entry.iter().flat_map(Entry::blocks) {
            self.look_set(block, number);
        }
    }

    fn look_set(&mut self, block: &[Statement], number: usize) {
        for statement in block {
            if let Statement::SetAttr { key, .. } = statement {
                self.setters.entry(*key).or_default().insert(number);
            }
            statement.blocks().into_iter().for_each(|block| self.look_set(block, number));
        }
    }
}

fn default_words(ty: &OptionType, value: &OptionValue) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match (value, ty) {
        (OptionValue::Bool(value), _) => value.to_string(),
        (OptionValue::Int(value), _) => value.to_string(),
        (OptionValue::Str(text), _) => format!("{:?}", text.as_str()),
        (OptionValue::ListInt(items), _) => list(items.iter().map(i64::to_string).collect()),
        (OptionValue::ListStr(items), _) => {
            list(items.iter().map(|item| format!("{:?}", item.as_str())).collect())
        }
        (OptionValue::Variant(number), OptionType::Variants(variants)) => {
            variants.get(usize::from(*number)).map_or_else(String::new, |name| name.text.to_string())
        }
        (OptionValue::Variant(number), _) => number.to_string(),
    }
}
