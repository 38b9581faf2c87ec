//! What the words of a rule set stand for, as far as lints ask.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::lang::syntax::ast::{AttrType, Expr, ExprKind, Item, ItemData, SetTerm, TypeKind};
use crate::lang::syntax::build::{Rule, Tree, lone};
use crate::lang::syntax::scan::{self, TokenKind};

/// Declarations of all files. Equality is that of the declarations.
#[derive(Default)]
pub struct Names {
    sets: FxHashMap<&'static str, Vec<Term>>,
    enums: BTreeMap<&'static str, Vec<&'static str>>,
    /// Older spellings of attributes, and what they are called now.
    pub aliases: FxHashMap<&'static str, &'static str>,
    /// Declared attributes, with the kind of value that they have.
    pub attrs: BTreeMap<&'static str, AttrType>,
    /// Local names of the item at hand, with the enum that a parameter has.
    locals: FxHashMap<String, Option<&'static str>>,
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        (&self.sets, &self.enums, &self.aliases, &self.attrs)
            == (&other.sets, &other.enums, &other.aliases, &other.attrs)
    }
}

#[derive(PartialEq)]
enum Term {
    Set(&'static str),
    Value(String),
    Unknown,
}

/// Sets in sets, at most so deep.
const DEEPEST_SET: u32 = 32;

impl Names {
    pub fn of<'a>(items: impl IntoIterator<Item = &'a Item>) -> Names {
        let mut names = Names::default();
        for item in items {
            let name = item.name.text.as_str();
            match &item.data {
                ItemData::Set { terms, .. } => {
                    let all = names.sets.entry(name).or_default();
                    for term in terms {
                        match term {
                            SetTerm::Named(set) => all.push(Term::Set(set.text.as_str())),
                            SetTerm::Literal(values) => all.extend(values.iter().map(literal)),
                        }
                    }
                }
                ItemData::Enum { variants } => {
                    names.enums.insert(name, variants.iter().map(|variant| variant.text.as_str()).collect());
                }
                ItemData::Attr { ty, aliases, .. } => {
                    names.attrs.insert(name, *ty);
                    names.aliases.extend(aliases.iter().map(|alias| (alias.text.as_str(), name)));
                }
                _ => {}
            }
        }
        names
    }

    /// Takes the local names of an item.
    pub fn enter(&mut self, item: &Tree, tree: &Item) {
        self.locals.clear();
        locals(item, &mut self.locals);
        let params = match &tree.data {
            ItemData::Fn { params, .. } | ItemData::Action { params, .. } => params.as_slice(),
            _ => &[],
        };
        for param in params {
            if let TypeKind::Named(ty) = param.ty.kind
                && let Some((name, _)) = self.enums.get_key_value(ty.as_str())
            {
                self.locals.insert(param.name.text.to_string(), Some(name));
            }
        }
    }

    /// All values of a parameter, if its type is an enum.
    pub fn universe(&self, subject: &str) -> Option<BTreeSet<String>> {
        let variants = self.enums.get((*self.locals.get(subject)?)?)?;
        Some(variants.iter().map(|variant| (*variant).to_owned()).collect())
    }

    /// The constant that an expression is: an operator type, a variant, a literal.
    pub fn constant(&self, tree: &Tree) -> Option<String> {
        let words = super::logic::words(tree);
        let parts: Vec<&str> = words.split(' ').collect();
        match parts.as_slice() {
            [one] if one.starts_with(|c: char| c.is_ascii_digit()) || matches!(*one, "true" | "false") => {
                Some((*one).to_owned())
            }
            [one] if one.starts_with(|c: char| c.is_ascii_uppercase()) => {
                let is_name = !self.locals.contains_key(*one) && !self.sets.contains_key(one);
                is_name.then(|| (*one).to_owned())
            }
            [of, ".", variant] => {
                let variants = self.enums.get(of).filter(|_| !self.locals.contains_key(*of))?;
                variants.contains(variant).then(|| (*variant).to_owned())
            }
            _ if words.starts_with('"') && !words[1..words.len() - 1].contains('"') => Some(words),
            _ => None,
        }
    }

    /// The constants of a set, of `{ A, B }` or of `[A, B]`.
    pub fn constants(&self, tree: &Tree) -> Option<BTreeSet<String>> {
        for rule in [Rule::set_literal, Rule::list] {
            if let Some(listed) = lone(tree, rule) {
                let elements = listed.into_inner().filter(|part| part.as_rule() == Rule::expr);
                return elements.map(|element| self.constant(&element)).collect();
            }
        }
        let words = super::logic::words(tree);
        if self.locals.contains_key(&words) {
            return None;
        }
        let mut values = BTreeSet::new();
        self.values_of(&words, DEEPEST_SET, &mut values).then_some(values)
    }

    fn values_of(&self, set: &str, depth: u32, values: &mut BTreeSet<String>) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let Some(terms) = self.sets.get(set) else { return false };
        terms.iter().all(|term| match term {
            Term::Set(inner) => self.values_of(inner, depth, values),
            Term::Value(value) => {
                values.insert(value.clone());
                true
            }
            Term::Unknown => false,
        })
    }
}

fn literal(value: &Expr) -> Term {
    match &*value.kind {
        ExprKind::Name(name) => Term::Value(name.to_string()),
        ExprKind::Str(text) if !text.contains(['"', '\\', '\n']) => Term::Value(format!("\"{text}\"")),
        _ => Term::Unknown,
    }
}

/// Names that an item binds: parameters, `let`, loops, quantifiers, steps.
fn locals(tree: &Tree, found: &mut FxHashMap<String, Option<&'static str>>) {
    let binds = matches!(
        tree.as_rule(),
        Rule::param
            | Rule::let_in
            | Rule::let_statement
            | Rule::for_statement
            | Rule::each_step
            | Rule::quantifier_of
            | Rule::step
            | Rule::role
            | Rule::order_first
            | Rule::order_ignore
            | Rule::resolve_statement
    );
    if binds {
        let names = tree.clone().into_inner().filter(|part| part.as_rule() == Rule::name);
        found.extend(names.map(|name| (name.as_str().to_owned(), None)));
    }
    for inner in tree.clone().into_inner() {
        locals(&inner, found);
    }
}

/// How often each of some words occurs in some texts, comments aside, what stands inside `"…"` included.
pub fn count_words<'a>(
    words: impl IntoIterator<Item = &'a str>,
    texts: impl IntoIterator<Item = &'a str>,
) -> FxHashMap<&'a str, usize> {
    let mut counts: FxHashMap<&str, usize> = words.into_iter().map(|word| (word, 0)).collect();
    for text in texts {
        let tokens = scan::tokens(text);
        let tokens =
            tokens.iter().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Text { .. }));
        for word in
            tokens.flat_map(|token| token.text(text).split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        {
            if let Some(count) = counts.get_mut(word) {
                *count += 1;
            }
        }
    }
    counts
}
