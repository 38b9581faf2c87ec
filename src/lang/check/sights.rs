//! What the words of an item mean, for those who show or change them: editors, lists of users.
//!
//! Promise: these are the very meanings that the item is lowered with, so a word is never told to be what it does not count as.
//! Nothing is collected where nobody asks. Spans are those of the item; a word that has been complained about may have none.

use super::lower::Cx;
use super::members::find_fact;
use super::scope::{CallSig, Scope};
use super::types::{fits, show, strip};
use crate::graph::Sym;
use crate::lang::facts::{FACTS, FactInfo};
use crate::lang::hir::Ty;
use crate::lang::syntax::ast::{Item, ItemData, Kind, MatrixResult, Name, OptionType, Span};

/// The word that stands where something is being written (see [`Sights::here`]).
pub const HERE: &str = "anchorwatch_here";

/// What a word means.
#[derive(Clone, Debug)]
pub enum Meaning {
    /// The item of this kind and name.
    Entry(Kind, Sym),
    /// A local name: where it is declared in this item (nowhere, if the kind of item provides it), and its type.
    Local {
        name: Sym,
        declared: Option<Span>,
        ty: Ty,
    },
    Fact(&'static FactInfo),
    /// An operator type.
    Operator(Sym),
    /// A variant of what declares the enum.
    Variant {
        of: Sym,
        name: Sym,
    },
    /// A step of a chain.
    Step(Sym),
}

impl PartialEq for Meaning {
    /// Locals are the same if they are declared at one place; of a fact its identity counts.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Meaning::Entry(kind, name), Meaning::Entry(other_kind, other)) => {
                (kind, name) == (other_kind, other)
            }
            (
                Meaning::Local { name, declared, .. },
                Meaning::Local { name: other, declared: other_declared, .. },
            ) => (name, declared) == (other, other_declared),
            (Meaning::Fact(fact), Meaning::Fact(other)) => fact.fact == other.fact,
            (Meaning::Operator(word), Meaning::Operator(other))
            | (Meaning::Step(word), Meaning::Step(other)) => word == other,
            (Meaning::Variant { of, name }, Meaning::Variant { of: other_of, name: other }) => {
                (of, name) == (other_of, other)
            }
            _ => false,
        }
    }
}

/// One word.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    pub span: Span,
    pub meaning: Meaning,
    /// The word declares what it means.
    pub declares: bool,
}

/// What is in sight where a word is being written.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Here {
    pub locals: Vec<(Sym, Ty)>,
    /// The type that is wanted.
    pub want: Option<Ty>,
    /// The type of the value that is asked for something.
    pub receiver: Option<Ty>,
}

/// The words of an item in the order in which they were met, and the types of its expressions.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sights {
    pub words: Vec<Sight>,
    pub types: Vec<(Span, Ty)>,
    /// What is in sight at the word [`HERE`], if it stands in the item.
    pub here: Option<Here>,
}

impl Cx<'_> {
    /// Notes what a word means, if somebody wants to know.
    pub fn see(&mut self, span: Span, meaning: impl FnOnce() -> Meaning) {
        self.note_word(span, meaning, false);
    }

    /// Notes what a word declares.
    pub fn see_declared(&mut self, span: Span, meaning: impl FnOnce() -> Meaning) {
        self.note_word(span, meaning, true);
    }

    fn note_word(&mut self, span: Span, meaning: impl FnOnce() -> Meaning, declares: bool) {
        if let Some(sights) = &mut self.sights {
            sights.words.push(Sight { span, meaning: meaning(), declares });
        }
    }

    pub fn see_variant(&mut self, of: Sym, name: Name) {
        self.see(name.span, || Meaning::Variant { of, name: name.text });
    }

    pub fn see_type(&mut self, span: Span, ty: &Ty) {
        if let Some(sights) = &mut self.sights {
            sights.types.push((span, ty.clone()));
        }
    }

    /// Whether this is the word that is being written; what is in sight there is noted.
    pub fn is_here(&mut self, word: Sym, want: Option<&Ty>, receiver: Option<&Ty>) -> bool {
        if self.sights.is_none() || word != HERE {
            return false;
        }
        let mut locals: Vec<(Sym, Ty)> = Vec::new();
        for binding in self.env.iter().rev() {
            if locals.iter().all(|(name, _)| *name != binding.name) {
                locals.push((binding.name, binding.ty.clone()));
            }
        }
        if let Some(sights) = &mut self.sights {
            sights.here = Some(Here { locals, want: want.cloned(), receiver: receiver.cloned() });
        }
        true
    }

    /// The names that the item itself declares.
    pub fn see_item(&mut self, item: &Item) {
        if self.sights.is_none() {
            return;
        }
        let (kind, name) = (item.kind, item.name);
        let titled = !matches!(kind, Kind::Never | Kind::Always | Kind::DefaultAlways | Kind::Test);
        if titled {
            self.see_declared(name.span, || Meaning::Entry(kind, name.text));
        }
        let variants = match &item.data {
            ItemData::Enum { variants } => variants,
            ItemData::Option { ty: OptionType::Variants(variants), .. } => variants,
            ItemData::Matrix { result: MatrixResult::Variants(variants), .. } => variants,
            _ => return,
        };
        for variant in variants {
            self.see_declared(variant.span, || Meaning::Variant { of: name.text, name: variant.text });
        }
    }
}

impl Scope {
    /// The operator types that occur in a set or a table, by name.
    pub fn operators(&self) -> Vec<Sym> {
        let mut words: Vec<Sym> = self.words.iter().copied().collect();
        words.sort_unstable_by_key(|word| word.as_str());
        words
    }

    /// The type of what a set holds.
    pub fn held_by(&self, set: Sym) -> Option<&Ty> {
        self.sets.get(&set)
    }

    /// The type of the first parameter of a function.
    pub fn first_param(&self, function: Sym) -> Option<&Ty> {
        self.fns.get(&function)?.params.first()
    }

    /// The functions and walks that can be asked for like facts of a value of this type, by name.
    pub fn asked_of(&self, ty: &Ty) -> Vec<(Kind, Sym)> {
        let first = |sig: &CallSig| sig.params.first().is_some_and(|param| fits(strip(ty), param));
        let fns = self.fns.iter().filter(|(_, sig)| first(sig)).map(|(name, _)| (Kind::Fn, *name));
        let walks = self.walks.iter().filter(|(_, sig)| first(sig)).map(|(name, _)| (Kind::Walk, *name));
        let mut found: Vec<(Kind, Sym)> = fns.chain(walks).collect();
        found.sort_unstable_by_key(|(_, name)| name.as_str());
        found
    }
}

/// The facts of a value of this type, in the order of the table.
pub fn facts_of(ty: &Ty) -> Vec<&'static FactInfo> {
    let ty = strip(ty);
    let list = Ty::list(Ty::Anchor);
    let own = |ty: &Ty, info: &FactInfo| {
        find_fact(ty, Sym::new(info.name)).is_some_and(|best| best.fact == info.fact)
    };
    FACTS
        .iter()
        .filter(|info| {
            own(ty, info)
                || (*ty == Ty::Group && find_fact(ty, Sym::new(info.name)).is_none() && own(&list, info))
        })
        .collect()
}

/// `name(Param, …) -> Result` of a fact, asked of a value of this type.
pub fn fact_signature(info: &FactInfo, receiver: &Ty) -> String {
    let params: Vec<String> = info.params.iter().map(|param| show(&param.ty(receiver))).collect();
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    format!("{}{params} -> {}", info.name, show(&info.result.ty(receiver)))
}
