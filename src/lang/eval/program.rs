//! The items that one evaluation needs, linked.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::code::{Code, ConstSet, Op};
use super::{EntryId, Value};
use crate::graph::Sym;
use crate::lang::facts::Fact;
use crate::lang::hir::{Body, Each, Entry, ExprId, OptionValue};
use crate::lang::syntax::ast::{Kind, OptionType};

/// A closure of items (every item that one of them uses is there), with all names resolved. Immutable and
/// shared; machines borrow it.
#[derive(Debug, Default)]
pub struct Program {
    ids: FxHashMap<(Kind, Sym), EntryId>,
    entries: Vec<Linked>,
    options: FxHashMap<Sym, OptionValue>,
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
    pub code: Code,
    pub data: Data,
    /// Worth remembering: pure, and dearer than a look into the memo.
    pub memo: bool,
}

#[derive(Debug)]
pub(super) enum Data {
    None,
    Set(ConstSet),
    Table(FxHashMap<Value, Value>),
    Fn { value: ExprId },
}

/// Expressions that cost more than this are memoized.
const DEAR: u32 = 24;

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
            program.entries.push(Linked { key, entry, code: Code::default(), data: Data::None, memo: false });
        }
        let linked: Vec<_> = program.ids.values().map(|&id| (id, program.link_entry(id))).collect();
        for (id, (code, data)) in linked {
            let entry = &mut program.entries[id.0 as usize];
            (entry.code, entry.data) = (code, data);
        }
        program.weigh();
        program
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

    /// Decides what is memoized. Calls are acyclic, so costs settle after as many rounds as calls are deep; what
    /// has not settled by then is not memoized.
    fn weigh(&mut self) {
        let mut costs: Vec<Option<Option<u32>>> = vec![None; self.entries.len()];
        loop {
            let mut settled = false;
            for at in 0..self.entries.len() {
                if costs[at].is_none()
                    && let Some(cost) = cost(&self.entries[at].code, &costs)
                {
                    costs[at] = Some(cost);
                    settled = true;
                }
            }
            if !settled {
                break;
            }
        }
        for (linked, cost) in self.entries.iter_mut().zip(costs) {
            linked.memo = cost.flatten().is_some_and(|cost| cost >= DEAR || linked.key.0 == Kind::Walk);
        }
    }
}

/// Cost of a body, if those of its callees are known. `Some(None)`: the result depends on more than the graph.
fn cost(code: &Code, costs: &[Option<Option<u32>>]) -> Option<Option<u32>> {
    let mut total = 0u32;
    for op in &code.ops {
        let own = match op {
            Op::HasMark { .. }
            | Op::Counter(_)
            | Op::Conflicts { .. }
            | Op::WouldConflict { .. }
            | Op::Symbols { .. } => return Some(None),
            Op::Fact {
                fact:
                    Fact::AnchorMarks | Fact::AnchorRegistered | Fact::AnchorGroupSize | Fact::AnchorSameGroup,
                ..
            } => return Some(None),
            Op::Fact { fact: Fact::NodeReaches | Fact::GraphFind | Fact::GraphNode, .. } => DEAR,
            Op::Quantifier { .. } | Op::Where { .. } | Op::List(_) => DEAR,
            Op::Each { kind: Each::SortBy, .. } => 2 * DEAR,
            Op::Each { .. } => DEAR,
            Op::Call { callee, .. } | Op::Walk { walk: callee, .. } => match costs[callee.0 as usize]? {
                Some(cost) => cost,
                None => return Some(None),
            },
            _ => 1,
        };
        total = total.saturating_add(own);
    }
    Some(Some(total))
}
