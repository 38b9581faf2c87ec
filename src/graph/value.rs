//! Attribute values: every kind that GE's `AttrDef` can hold, plus what a reader did not know.

use std::sync::Arc;

use super::Sym;
use super::tensor::{Tensor, TensorDesc};

/// Shared immutable bytes (a string attribute need not be UTF-8).
pub type Bytes = Arc<[u8]>;

/// The value of one attribute (`graph_formats.md` 2, AttrDef). One variant per member of the oneof.
#[derive(Clone, Debug, PartialEq)]
pub enum AttrValue {
    /// An entry without a value.
    Unset,
    Str(Bytes),
    Int(i64),
    Float(f32),
    Bool(bool),
    Bytes(Bytes),
    List(Arc<ListValue>),
    Func(Arc<NamedAttrs>),
    Desc(Arc<TensorDesc>),
    Tensor(Arc<Tensor>),
    Graph(Arc<OpaqueGraph>),
    ListListInt(Arc<[Box<[i64]>]>),
    ListListFloat(Arc<[Box<[f32]>]>),
    /// A data type in the C++ numbering (not the numbering of [`TensorDesc::dtype`]).
    DataType(i64),
    Expression(Bytes),
    /// A oneof member that this version does not know, or fields beside a known member.
    Other(Arc<(AttrValue, Extra)>),
}

/// A list attribute. `val_type` tells the type of an empty list and must be kept as it was read.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ListValue {
    pub val_type: i32,
    pub items: ListItems,
    pub extra: Extra,
}

/// The elements of a list attribute.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum ListItems {
    #[default]
    Empty,
    Str(Box<[Bytes]>),
    Int(Box<[i64]>),
    Float(Box<[f32]>),
    Bool(Box<[bool]>),
    Bytes(Box<[Bytes]>),
    Desc(Box<[TensorDesc]>),
    Tensor(Box<[Tensor]>),
    Graph(Box<[OpaqueGraph]>),
    Func(Box<[NamedAttrs]>),
    DataType(Box<[i64]>),
    /// Elements of several kinds: malformed, but kept. One entry per kind, in field order.
    Mixed(Box<[ListItems]>),
}

/// A function-like value: a name and attributes of its own.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NamedAttrs {
    pub name: Arc<str>,
    pub attrs: Attrs,
    pub extra: Extra,
}

/// A graph held by an attribute. It takes part in no edge, so it is kept as the serialized `GraphDef`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OpaqueGraph {
    pub encoded: Bytes,
}

/// Fields a reader did not know, kept for writing back; empty for nearly every message.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Extra(pub Option<Arc<Vec<ExtraField>>>);

/// One unknown field.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtraField {
    /// From a text file: the field's name and its lines, normalised to zero indentation.
    Text { name: Arc<str>, body: Arc<str> },
    /// From a binary file: field number and the whole encoded field, key included.
    Binary { number: u32, encoded: Bytes },
}

impl Extra {
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn push(&mut self, field: ExtraField) {
        Arc::make_mut(self.0.get_or_insert_default()).push(field);
    }

    pub fn fields(&self) -> &[ExtraField] {
        self.0.as_ref().map_or(&[], |fields| fields)
    }
}

impl AttrValue {
    pub fn str(text: &str) -> AttrValue {
        AttrValue::Str(text.as_bytes().into())
    }

    pub fn ints(items: impl IntoIterator<Item = i64>) -> AttrValue {
        const VT_LIST_INT: i32 = 2;
        let items = ListItems::Int(items.into_iter().collect());
        AttrValue::List(Arc::new(ListValue { val_type: VT_LIST_INT, items, extra: Extra::default() }))
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            AttrValue::Bool(b) => Some(*b),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            AttrValue::Int(i) => Some(*i),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            AttrValue::Str(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    pub fn as_ints(&self) -> Option<&[i64]> {
        match self {
            AttrValue::List(list) => match &list.items {
                ListItems::Int(items) => Some(items),
                ListItems::Empty => Some(&[]),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The attributes of a node, graph or tensor description: sorted by key bytes, shared until changed.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Attrs(Option<Arc<[(Sym, AttrValue)]>>);

impl Attrs {
    /// Builds from entries in any order; the last entry for a key wins.
    pub fn from_entries(mut entries: Vec<(Sym, AttrValue)>) -> Attrs {
        if entries.is_empty() {
            return Attrs(None);
        }
        if !entries.is_sorted_by(|a, b| a.0.as_str() < b.0.as_str()) {
            entries.sort_by(|a, b| a.0.as_str().cmp(b.0.as_str()));
            entries.reverse();
            entries.dedup_by(|a, b| a.0 == b.0);
            entries.reverse();
        }
        Attrs(Some(entries.into()))
    }

    pub fn entries(&self) -> &[(Sym, AttrValue)] {
        self.0.as_deref().unwrap_or(&[])
    }

    pub fn get(&self, key: Sym) -> Option<&AttrValue> {
        self.entries().iter().find(|(k, _)| *k == key).map(|(_, value)| value)
    }

    pub fn contains(&self, key: Sym) -> bool {
        self.get(key).is_some()
    }

    /// A copy with `key` set to `value`.
    #[must_use]
    pub fn with(&self, key: Sym, value: AttrValue) -> Attrs {
        let mut entries = self.entries().to_vec();
        match entries.binary_search_by(|(k, _)| k.as_str().cmp(key.as_str())) {
            Ok(at) => entries[at].1 = value,
            Err(at) => entries.insert(at, (key, value)),
        }
        Attrs(Some(entries.into()))
    }

    /// A copy without `key`.
    #[must_use]
    pub fn without(&self, key: Sym) -> Attrs {
        if !self.contains(key) {
            return self.clone();
        }
        Attrs::from_entries(self.entries().iter().filter(|(k, _)| *k != key).cloned().collect())
    }
}

impl FromIterator<(Sym, AttrValue)> for Attrs {
    fn from_iter<I: IntoIterator<Item = (Sym, AttrValue)>>(iter: I) -> Self {
        Attrs::from_entries(iter.into_iter().collect())
    }
}
