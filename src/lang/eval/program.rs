//! The items that one evaluation needs, linked.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::code::{Code, ConstSet};
use super::own::{Traits, share};
use super::simplify::{DEAR, simplify};
use super::{EntryId, Value};
use crate::graph::Sym;
use crate::lang::hir::{Body, Entry, ExprId, OptionValue};
use crate::lang::syntax::ast::{Kind, OptionType};

/// A closure of items (every item that one of them uses is there), with all names resolved. Immutable and
/// shared; machines borrow it.
#[derive(Debug, Default)]
pub struct Program {
    ids: FxHashMap<(Kind, Sym), EntryId>,
    entries: Vec<Linked>,
    options: FxHashMap<Sym, OptionValue>,
    /// What shared expressions ask of nodes.
    traits: Traits,
}

/// Linking is a function of the entries and the options, so the rest need not be compared.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Linked, &Linked)| {
            a.key == b.key && (Arc::ptr_eq(&a.entry, &b.entry) || a.entry == b.entry)
        };
        self.options == other.options
            && self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(same)
    }
}

/// One item, ready.
#[derive(Debug)]
pub(super) struct Linked {
    pub key: (Kind, Sym),
    pub entry: Arc<Entry>,
    /// The body as it was written.
    pub code: Code,
    /// The same, simplified.
    pub plain: Code,
    pub data: Data,
    /// Worth remembering: pure, and dearer than a look into the memo.
    pub memo: bool,
    /// Of a function or a walk: how many expressions it has, and what they cost. `None`: the result depends on more
    /// than the graph.
    pub size: usize,
    pub cost: Option<u32>,
}

impl Linked {
    /// Evaluated sooner than remembered.
    #[inline]
    pub fn cheap(&self) -> bool {
        self.cost.is_some_and(|cost| cost < DEAR)
    }
}

#[derive(Debug)]
pub(super) enum Data {
    None,
    Set(ConstSet),
    Table(FxHashMap<Value, Value>),
    Fn { value: ExprId },
}

impl Program {
    /// Links `entries`. An option that `options` lacks has its declared default.
    pub fn link(
        entries: impl IntoIterator<Item = ((Kind, Sym), Arc<Entry>)>,
        options: FxHashMap<Sym, OptionValue>,
    ) -> Program {
        let mut program = Program { options, ..Program::default() };
        let entries: Vec<_> = entries.into_iter().collect();
        for (key, entry) in entries {
            let id = EntryId(program.entries.len() as u32);
            program.ids.insert(key, id);
            let (code, plain) = (Code::default(), Code::default());
            let linked =
                Linked { key, entry, code, plain, data: Data::None, memo: false, size: 0, cost: None };
            program.entries.push(linked);
        }
        let linked: Vec<_> = program.ids.values().map(|&id| (id, program.link_entry(id))).collect();
        for (id, (code, data)) in linked {
            let entry = &mut program.entries[id.0 as usize];
            (entry.code, entry.data) = (code, data);
        }
        simplify(&mut program.entries);
        program.traits = share(&mut program.entries);
        program
    }

    pub(super) fn traits(&self) -> &Traits {
        &self.traits
    }

    /// The number of an item.
    pub fn entry(&self, kind: Kind, name: Sym) -> Option<EntryId> {
        self.ids.get(&(kind, name)).copied()
    }

    /// Kind and name of an item.
    pub fn key(&self, entry: EntryId) -> Option<(Kind, Sym)> {
        self.entries.get(entry.0 as usize).map(|linked| linked.key)
    }

    /// The typed bodies of all items.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.entries.iter().filter_map(|linked| linked.entry.body())
    }

    /// The item as it was lowered.
    pub fn hir(&self, entry: EntryId) -> Option<&Arc<Entry>> {
        self.entries.get(entry.0 as usize).map(|linked| &linked.entry)
    }

    /// The value of an option: as given, or the declared default; none for an option that nobody declares.
    pub fn option(&self, name: Sym) -> Value {
        let declared = self.ids.get(&(Kind::Option, name)).map(|id| &*self.entries[id.0 as usize].entry);
        let default = match declared {
            Some(Entry::Option { default, .. }) => Some(default),
            _ => None,
        };
        match self.options.get(&name).or(default) {
            None => Value::None,
            Some(OptionValue::Bool(b)) => Value::Bool(*b),
            Some(OptionValue::Int(i)) => Value::Int(*i),
            Some(OptionValue::Str(s)) => Value::Str(*s),
            Some(OptionValue::ListInt(items)) => Value::list(items.iter().map(|&i| i.into()).collect()),
            Some(OptionValue::ListStr(items)) => Value::list(items.iter().map(|&s| s.into()).collect()),
            Some(OptionValue::Variant(variant)) => Value::Enum { ty: name, variant: *variant },
        }
    }

    /// The word for a variant of an enum, or of an option or a matrix with variants of its own.
    pub fn variant_name(&self, ty: Sym, variant: u16) -> Option<Sym> {
        let find = |kind| self.ids.get(&(kind, ty)).map(|id| &*self.entries[id.0 as usize].entry);
        match find(Kind::Enum).or_else(|| find(Kind::Option)).or_else(|| find(Kind::Matrix))? {
            Entry::Enum { variants } | Entry::Matrix { variants, .. } => {
                variants.get(variant as usize).copied()
            }
            Entry::Option { ty: OptionType::Variants(names), .. } => {
                names.get(variant as usize).map(|name| name.text)
            }
            _ => None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn entries(&self) -> &[Linked] {
        &self.entries
    }

    pub(super) fn linked(&self, entry: EntryId) -> Option<&Linked> {
        self.entries.get(entry.0 as usize)
    }

    /// The spellings under which a graph attribute is stored: the declared one, then its aliases.
    pub(super) fn spellings(&self, key: Sym) -> impl Iterator<Item = Sym> + '_ {
        let declared = self.ids.get(&(Kind::Attr, key)).map(|id| &*self.entries[id.0 as usize].entry);
        let aliases: &[Sym] = match declared {
            Some(Entry::Attr { aliases, .. }) => aliases,
            _ => &[],
        };
        std::iter::once(key).chain(aliases.iter().copied())
    }

    fn link_entry(&self, id: EntryId) -> (Code, Data) {
        let entry = &*self.entries[id.0 as usize].entry;
        let data = match entry {
            Entry::Set { .. } => Data::Set(self.flat_set(id)),
            Entry::Table { rows } => {
                // Of two rows for one key the first counts.
                Data::Table(rows.iter().rev().map(|(key, value)| (key.into(), value.into())).collect())
            }
            Entry::Fn { value, .. } => Data::Fn { value: *value },
            _ => Data::None,
        };
        let code = entry.body().map(|body| Code::link(self, id, body)).unwrap_or_default();
        (code, data)
    }

    /// The elements of a set and of all it includes.
    fn flat_set(&self, id: EntryId) -> ConstSet {
        let mut seen = vec![id];
        let mut next = 0;
        let mut all = Vec::new();
        while let Some(&EntryId(id)) = seen.get(next) {
            next += 1;
            if let Entry::Set { includes, elements, .. } = &*self.entries[id as usize].entry {
                all.extend(elements);
                for include in includes.iter().filter_map(|&name| self.entry(Kind::Set, name)) {
                    if !seen.contains(&include) {
                        seen.push(include);
                    }
                }
            }
        }
        ConstSet::new(all)
    }
}
