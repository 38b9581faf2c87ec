//! The names of a rule set: what is declared, of which type, and which items hold after overlays.
//!
//! Promise: the [`Scope`] holds signatures only. Whatever is edited inside a body, a condition or a text leaves it equal,
//! so that the queries below it stop there.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::codes;
use super::types::{option_ty, resolve};
use crate::graph::Sym;
use crate::lang::Diagnostic;
use crate::lang::diagnostic::{Label, Place, did_you_mean, with_article};
use crate::lang::hir::Ty;
use crate::lang::syntax::ast::{
    AttrPlace, AttrType, ChainStep, ExprKind, Item, ItemData, Kind, MatrixResult, Modifier, SetTerm, Side,
    Span,
};
pub(super) use crate::lang::syntax::print::keyword;

/// An item of a rule set: the number of its file, its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    pub file: u32,
    pub index: u32,
}

/// A declared graph attribute. `keys`: the name, then its aliases.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AttrSig {
    pub ty: AttrType,
    pub places: Vec<AttrPlace>,
    pub keys: Box<[Sym]>,
}

/// A declared note.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NoteSig {
    pub ty: Ty,
    pub places: Vec<AttrPlace>,
}

/// A function, walk or action, or steps of chains.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallSig {
    pub params: Vec<Ty>,
    /// `None`: an action that gives nothing.
    pub result: Option<Ty>,
}

/// A mark: the side of its anchors, its number in declaration order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkSig {
    pub side: Side,
    pub order: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct MatrixSig {
    pub rows: Ty,
    pub columns: Ty,
    pub result: Ty,
}

/// The signatures of a rule set. Maps are for look-up only; nothing that can be seen follows their order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Scope {
    /// Element type.
    pub(super) sets: FxHashMap<Sym, Ty>,
    pub(super) tables: FxHashMap<Sym, (Ty, Ty)>,
    pub(super) attrs: FxHashMap<Sym, AttrSig>,
    pub(super) notes: FxHashMap<Sym, NoteSig>,
    pub(super) options: FxHashMap<Sym, Ty>,
    /// Declared enums, options with variants, matrices with their own variants, and the built-in ones.
    pub(super) enums: FxHashMap<Sym, Vec<Sym>>,
    pub(super) fns: FxHashMap<Sym, CallSig>,
    /// The result is a list for a walk of lists.
    pub(super) walks: FxHashMap<Sym, CallSig>,
    pub(super) matrices: FxHashMap<Sym, MatrixSig>,
    pub(super) actions: FxHashMap<Sym, CallSig>,
    pub(super) marks: FxHashMap<Sym, MarkSig>,
    /// The type of the subject.
    pub(super) chains: FxHashMap<Sym, Ty>,
    /// Steps that chains share.
    pub(super) groups: FxHashMap<Sym, CallSig>,
    /// The names of all steps of chains, in order, each once.
    pub(super) steps: Vec<Sym>,
    pub(super) lint_codes: FxHashSet<Sym>,
    /// Every name of every kind.
    pub(super) names: FxHashSet<(Kind, Sym)>,
    /// Operator types that occur in a set or a table.
    pub(super) words: FxHashSet<Sym>,
    /// Pairs that an overlay took out of a `never` or `always` with several.
    pub(super) dropped: FxHashSet<(Kind, Sym, Sym)>,
    /// Files that an overlay took entries from: what they declare may have lost its only use.
    pub(super) reduced: FxHashSet<u32>,
}

/// What [`scope`] gives.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Scoped {
    pub scope: Scope,
    /// The items that hold, in order: files in the order of their numbers, overlays last, an override in the
    /// place of what it replaces; then the `extend set` items.
    pub live: Vec<ItemKey>,
    pub diagnostics: Vec<(ItemKey, Diagnostic)>,
}

/// Merges the items of all files. `overlays[file]` tells whether the file is an overlay; files without an entry are not.
pub fn scope(items: &[(ItemKey, Arc<Item>)], overlays: &[bool]) -> Scoped {
    let is_overlay = |key: ItemKey| overlays.get(key.file as usize).copied().unwrap_or(false);
    let mut ordered: Vec<(ItemKey, &Item)> = items.iter().map(|(key, item)| (*key, &**item)).collect();
    ordered.sort_by_key(|(key, _)| (is_overlay(*key), *key));

    let mut merge = Merge::default();
    // A set may be declared in a later file than what extends it, so extensions come last.
    let extends = |item: &Item| item.modifier == Modifier::Extend;
    for &(key, item) in ordered.iter().filter(|(_, item)| !extends(item)) {
        merge.add(key, item, is_overlay(key));
    }
    for &(key, item) in ordered.iter().filter(|(_, item)| extends(item)) {
        merge.add(key, item, false);
    }
    let live: Vec<(ItemKey, &Item)> = merge.slots.into_iter().flatten().collect();
    let mut diagnostics = merge.diagnostics;
    let mut scope = signatures(&live, &mut diagnostics);
    scope.dropped = merge.dropped;
    let reduces = |item: &Item| matches!(item.modifier, Modifier::Override | Modifier::Remove);
    if ordered.iter().any(|(key, item)| is_overlay(*key) && reduces(item)) {
        scope.reduced =
            ordered.iter().map(|(key, _)| *key).filter(|key| !is_overlay(*key)).map(|key| key.file).collect();
    }
    diagnostics.sort_by_key(|(key, _)| (is_overlay(*key), *key));
    Scoped { scope, live: live.iter().map(|(key, _)| *key).collect(), diagnostics }
}

/// The name that an item goes by in messages and in [`Label::other`]: its own, or `A with B, C`.
pub fn title(item: &Item) -> Sym {
    match &item.data {
        ItemData::Never { left, right } | ItemData::Always { left, right, .. } => {
            let right: Vec<&str> = right.iter().map(|name| name.text.as_str()).collect();
            let right = if right.is_empty() { "any".to_owned() } else { right.join(", ") };
            Sym::new(&format!("{} with {right}", left.text))
        }
        _ => item.name.text,
    }
}

/// What `conflicts` uses: every rule of pairs.
pub(super) const ALL_PAIR_RULES: (Kind, &str) = (Kind::Checker, "");

/// Kinds whose names could be meant by the same word share a name space.
fn space(kind: Kind) -> Kind {
    match kind {
        Kind::Walk | Kind::Matrix => Kind::Fn,
        Kind::Table => Kind::Set,
        Kind::Chain | Kind::Lint | Kind::Pipeline => Kind::Pass,
        other => other,
    }
}

#[derive(Default)]
struct Merge<'a> {
    /// Items in order; a removed one leaves a hole.
    slots: Vec<Option<(ItemKey, &'a Item)>>,
    /// The slot of each name, by name space.
    places: FxHashMap<(Kind, Sym), usize>,
    dropped: FxHashSet<(Kind, Sym, Sym)>,
    removed: FxHashSet<(Kind, Sym)>,
    diagnostics: Vec<(ItemKey, Diagnostic)>,
}

impl<'a> Merge<'a> {
    fn add(&mut self, key: ItemKey, item: &'a Item, overlay: bool) {
        let place = self.places.get(&(space(item.kind), item.name.text)).copied();
        if matches!(item.modifier, Modifier::Override | Modifier::Remove) && !overlay {
            let word = if item.modifier == Modifier::Override { "override" } else { "remove" };
            let message = format!("`{word}` is for overlays");
            self.diagnostics.push((key, Diagnostic::error(codes::OVERLAY_ONLY, item.name.span, message)));
            return;
        }
        match item.modifier {
            Modifier::Declare => self.declare(key, item, place),
            Modifier::Override => match self.same_kind(item, place) {
                Some(slot) => self.slots[slot] = Some((key, item)),
                None => self.nothing(key, item),
            },
            Modifier::Extend => match self.same_kind(item, place) {
                Some(_) => self.slots.push(Some((key, item))),
                // What extended a removed set goes with it.
                None if self.removed.contains(&(item.kind, item.name.text)) => {}
                None => self.nothing(key, item),
            },
            Modifier::Remove => self.remove(key, item, place),
        }
    }

    fn same_kind(&self, item: &Item, place: Option<usize>) -> Option<usize> {
        place.filter(|&slot| self.slots[slot].is_some_and(|(_, old)| old.kind == item.kind))
    }

    fn declare(&mut self, key: ItemKey, item: &'a Item, place: Option<usize>) {
        if matches!(item.kind, Kind::Never | Kind::Always) {
            self.slots.push(Some((key, item)));
            return;
        }
        if let Some((_, old)) = place.and_then(|slot| self.slots[slot]) {
            let name = if item.kind == Kind::DefaultAlways {
                "`default always`".to_owned()
            } else {
                format!("`{}`", item.name.text)
            };
            let mut error = Diagnostic::error(
                codes::DUPLICATE,
                item.name.span,
                format!("{name} is already declared as {}", with_article(keyword(old.kind))),
            )
            .label("declared again here");
            error.labels.push(Label {
                place: Place::Item(old.name.span),
                other: Some((old.kind, old.name.text)),
                text: "first declared here".to_owned(),
            });
            if old.kind == item.kind {
                let word = keyword(item.kind);
                error = error.help(format!("to replace it, write `override {word} …` in an overlay"));
            }
            self.diagnostics.push((key, error));
            return;
        }
        self.places.insert((space(item.kind), item.name.text), self.slots.len());
        self.slots.push(Some((key, item)));
    }

    fn remove(&mut self, key: ItemKey, item: &'a Item, place: Option<usize>) {
        if !matches!(item.kind, Kind::Never | Kind::Always) {
            match self.same_kind(item, place) {
                Some(slot) => {
                    self.slots[slot] = None;
                    self.places.remove(&(space(item.kind), item.name.text));
                    self.removed.insert((item.kind, item.name.text));
                }
                None => self.nothing(key, item),
            }
            return;
        }
        let with = match &item.data {
            ItemData::Removed { with: Some(name) } if name.text != "any" => Some(name.text),
            _ => None,
        };
        let mut found = false;
        for slot in &mut self.slots {
            let Some((_, old)) = slot else { continue };
            let (ItemData::Never { left, right } | ItemData::Always { left, right, .. }) = &old.data else {
                continue;
            };
            if old.kind != item.kind || left.text != item.name.text {
                continue;
            }
            match with {
                None if right.is_empty() => *slot = None,
                Some(with) if right.iter().any(|name| name.text == with) => {
                    self.dropped.insert((item.kind, item.name.text, with));
                    let rest = |name: &Sym| !self.dropped.contains(&(item.kind, item.name.text, *name));
                    if !right.iter().any(|name| rest(&name.text)) {
                        *slot = None;
                    }
                }
                _ => continue,
            }
            found = true;
        }
        if !found {
            self.nothing(key, item);
        }
    }

    fn nothing(&mut self, key: ItemKey, item: &Item) {
        let verb = match item.modifier {
            Modifier::Extend => "extend",
            Modifier::Remove => "remove",
            _ => "override",
        };
        let mut error = Diagnostic::error(
            codes::NOTHING_TO_CHANGE,
            item.name.span,
            format!("there is no `{}` of this name to {verb}", keyword(item.kind)),
        );
        let names = self.slots.iter().flatten().filter(|(_, old)| old.kind == item.kind);
        let names = names.map(|(_, old)| title(old).as_str()).collect::<Vec<_>>();
        if let Some(near) = did_you_mean(title(item).as_str(), names) {
            error = error.help(format!("did you mean `{near}`?"));
        }
        self.diagnostics.push((key, error));
    }
}

/// The built-in enum of topological orders.
const SORT_MODE: (&str, [&str; 3]) = ("SortMode", ["Bfs", "Dfs", "StableRdfs"]);

fn signatures(live: &[(ItemKey, &Item)], diagnostics: &mut Vec<(ItemKey, Diagnostic)>) -> Scope {
    let mut scope = Scope::default();
    scope.enums.insert(Sym::new(SORT_MODE.0), SORT_MODE.1.iter().map(|name| Sym::new(name)).collect());
    for &(key, item) in live {
        let variants = match &item.data {
            ItemData::Enum { variants } => variants,
            ItemData::Option { ty: crate::lang::syntax::ast::OptionType::Variants(variants), .. } => variants,
            ItemData::Matrix { result: MatrixResult::Variants(variants), .. } => variants,
            _ => continue,
        };
        let texts = variants.iter().map(|name| name.text).collect();
        if scope.enums.insert(item.name.text, texts).is_some() {
            let message = format!("two enums are called `{}`", item.name.text);
            let error = Diagnostic::error(codes::DUPLICATE, item.name.span, message)
                .help("the variants of an option or of a matrix are an enum of that name");
            diagnostics.push((key, error));
        }
    }
    let mut order = 0;
    for &(_, item) in live {
        scope.names.insert((item.kind, item.name.text));
        sign(&mut scope, item, &mut order);
    }
    set_types(&mut scope, live);
    scope
}

fn sign(scope: &mut Scope, item: &Item, order: &mut u32) {
    let name = item.name.text;
    let enums = &scope.enums;
    // An unknown type is complained about where the item is lowered.
    let ty = |written| resolve(written, &|sym| enums.contains_key(&sym)).unwrap_or(Ty::Error);
    match &item.data {
        ItemData::Set { terms, .. } => {
            for term in terms {
                if let SetTerm::Literal(elements) = term {
                    let words = elements.iter().filter_map(|element| match *element.kind {
                        ExprKind::Name(word) => Some(word),
                        _ => None,
                    });
                    scope.words.extend(words);
                }
            }
        }
        ItemData::Table { key, value, rows } => {
            let signature = (ty(key), ty(value));
            for (key, value) in rows {
                for (written, side) in [(key, &signature.0), (value, &signature.1)] {
                    if let (ExprKind::Name(word), Ty::Op) = (&*written.kind, side) {
                        scope.words.insert(*word);
                    }
                }
            }
            scope.tables.insert(name, signature);
        }
        ItemData::Attr { ty, places, aliases } => {
            let keys = std::iter::once(name).chain(aliases.iter().map(|alias| alias.text)).collect();
            let places = places.iter().map(|(place, _)| *place).collect();
            scope.attrs.insert(name, AttrSig { ty: *ty, places, keys });
        }
        ItemData::Note { ty: of, places } => {
            let places = places.iter().map(|(place, _)| *place).collect();
            scope.notes.insert(name, NoteSig { ty: ty(of), places });
        }
        ItemData::Option { ty, .. } => {
            scope.options.insert(name, option_ty(name, ty));
        }
        ItemData::Fn { params, result, .. } => {
            let params = params.iter().map(|param| ty(&param.ty)).collect();
            let result = Some(ty(result));
            scope.fns.insert(name, CallSig { params, result });
        }
        ItemData::Walk { param, result, .. } => {
            let signature = CallSig { params: vec![ty(&param.ty)], result: Some(ty(result)) };
            scope.walks.insert(name, signature);
        }
        ItemData::Action { params, result, .. } => {
            let params = params.iter().map(|param| ty(&param.ty)).collect();
            let result = result.as_ref().map(ty);
            scope.actions.insert(name, CallSig { params, result });
        }
        ItemData::Matrix { rows, columns, result, .. } => {
            let result = match result {
                MatrixResult::Variants(_) => Ty::Enum(name),
                MatrixResult::Named(result) if enums.contains_key(&result.text) => Ty::Enum(result.text),
                MatrixResult::Named(_) => Ty::Error,
            };
            let signature = MatrixSig { rows: ty(&rows.ty), columns: ty(&columns.ty), result };
            scope.matrices.insert(name, signature);
        }
        ItemData::Attribute { side, .. } => {
            scope.marks.insert(name, MarkSig { side: *side, order: *order });
            *order += 1;
        }
        ItemData::Chain { subject, steps, .. } => {
            note_steps(&mut scope.steps, steps);
            scope.chains.insert(name, ty(&subject.param.ty));
        }
        ItemData::Steps { params, steps } => {
            note_steps(&mut scope.steps, steps);
            let params = params.iter().map(|param| ty(&param.ty)).collect();
            scope.groups.insert(name, CallSig { params, result: None });
        }
        ItemData::Lint { code, .. } => {
            scope.lint_codes.insert(code.text);
        }
        _ => {}
    }
}

/// Notes the names of requirements, those of loops included.
fn note_steps(names: &mut Vec<Sym>, steps: &[ChainStep]) {
    let mut open: Vec<&ChainStep> = steps.iter().rev().collect();
    while let Some(step) = open.pop() {
        match step {
            ChainStep::Require { name, .. } | ChainStep::Attempt { name, .. }
                if !names.contains(&name.text) =>
            {
                names.push(name.text);
            }
            ChainStep::For { steps, .. } => open.extend(steps.iter().rev()),
            ChainStep::Require { .. }
            | ChainStep::Attempt { .. }
            | ChainStep::Let { .. }
            | ChainStep::Use { .. } => {}
        }
    }
}

/// Element types of sets: that of the first literal, else of a set that it takes in.
fn set_types(scope: &mut Scope, live: &[(ItemKey, &Item)]) {
    let mut waiting: Vec<(Sym, Sym)> = Vec::new();
    for (_, item) in live {
        let ItemData::Set { terms, .. } = &item.data else { continue };
        for term in terms {
            match term {
                SetTerm::Literal(elements) => {
                    let ty = elements.iter().find_map(|element| match *element.kind {
                        ExprKind::Name(_) => Some(Ty::Op),
                        ExprKind::Str(_) => Some(Ty::Str),
                        ExprKind::Int(_) | ExprKind::Negate(_) => Some(Ty::Int),
                        _ => None,
                    });
                    if let Some(ty) = ty {
                        scope.sets.entry(item.name.text).or_insert(ty);
                    }
                }
                SetTerm::Named(other) => waiting.push((item.name.text, other.text)),
            }
        }
    }
    loop {
        let before = waiting.len();
        waiting.retain(|(set, other)| match scope.sets.get(other).cloned() {
            Some(ty) => {
                scope.sets.entry(*set).or_insert(ty);
                false
            }
            None => true,
        });
        if waiting.len() == before {
            break;
        }
    }
    for (_, item) in live {
        if item.kind == Kind::Set {
            // Empty, or in a circle: the circle is complained about elsewhere.
            scope.sets.entry(item.name.text).or_insert(Ty::Error);
        }
    }
}

impl Scope {
    /// Is an item of this kind declared?
    pub fn has(&self, kind: Kind, name: Sym) -> bool {
        self.names.contains(&(kind, name))
    }

    /// The side and declaration order of a mark.
    pub fn mark(&self, name: Sym) -> Option<MarkSig> {
        self.marks.get(&name).copied()
    }

    /// The variants of an enum, of an option with variants, or of a matrix with its own.
    pub fn variants(&self, name: Sym) -> Option<&[Sym]> {
        self.enums.get(&name).map(Vec::as_slice)
    }

    /// The number of a variant.
    pub(super) fn variant(&self, name: Sym, variant: Sym) -> Option<u16> {
        let at = self.enums.get(&name)?.iter().position(|known| *known == variant)?;
        u16::try_from(at).ok()
    }

    /// The declared name nearest to a word, among these kinds.
    pub(super) fn nearest(&self, word: Sym, kinds: &[Kind]) -> Option<&'static str> {
        let names = self.names.iter().filter(|(kind, _)| kinds.contains(kind));
        did_you_mean(word.as_str(), names.map(|(_, name)| name.as_str()))
    }

    /// The complaint about a name that no item of these kinds has.
    pub(super) fn unknown(&self, word: Sym, span: Span, kinds: &[Kind]) -> Diagnostic {
        let what: Vec<String> = kinds.iter().map(|kind| format!("`{}`", keyword(*kind))).collect();
        let what = match what.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => "item".to_owned(),
        };
        let error =
            Diagnostic::error(codes::UNKNOWN_NAME, span, format!("there is no {what} called `{word}`"));
        match self.nearest(word, kinds) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        }
    }
}
