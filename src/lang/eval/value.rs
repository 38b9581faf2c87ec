//! Values of the language: 16 bytes, cheap to copy.
//!
//! INVARIANT live-anchors: an `Input` or `Output` value names a port that its node had when the value was made.
//! The number of ports of a node never changes, so the only thing that can go stale is the node itself; asking a
//! removed node gives none.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use crate::graph::{Anchor, GraphId, Group, GroupId, Input, NodeId, Output, Sym, Symbols};
use crate::lang::hir::Const;

/// A value. An `Anchor` of the language is an `Input` or an `Output`; an `Op` is a `Str`.
#[derive(Clone, Debug, Default)]
pub enum Value {
    #[default]
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Sym),
    /// A string that is not interned: node names and what is made of them. Equals a `Str` of the same text.
    Text(Arc<Arc<str>>),
    Node(NodeId),
    Input(Input),
    Output(Output),
    Graph(GraphId),
    Symbols(Arc<Symbols>),
    Group(Arc<GroupRef>),
    Mark(Sym),
    Enum {
        ty: Sym,
        variant: u16,
    },
    List(Arc<List>),
    /// All inputs of a node, as a list that is never built.
    Inputs {
        node: NodeId,
        count: u32,
    },
    /// All outputs of a node, likewise.
    Outputs {
        node: NodeId,
        count: u32,
    },
}

const _: () = assert!(size_of::<Value>() <= 16);

/// A group and the table that it belongs to.
#[derive(Debug)]
pub struct GroupRef {
    pub table: Arc<Symbols>,
    pub id: GroupId,
    /// Places of each node's anchors in the group, for `inputs_of` and `outputs_of`.
    by_node: OnceLock<FxHashMap<NodeId, Vec<u32>>>,
}

impl GroupRef {
    pub fn new(table: Arc<Symbols>, id: GroupId) -> GroupRef {
        GroupRef { table, id, by_node: OnceLock::new() }
    }

    /// The group; `None` if the table has none of this number.
    pub fn group(&self) -> Option<&Group> {
        self.table.groups().get(self.id.0 as usize)
    }

    pub fn members(&self) -> &[Anchor] {
        self.group().map_or(&[], |group| &group.members)
    }

    /// The node's anchors in the group, in group order.
    pub fn of_node(&self, node: NodeId) -> impl Iterator<Item = Anchor> + '_ {
        let members = self.members();
        let places = self.by_node.get_or_init(|| {
            let mut places: FxHashMap<NodeId, Vec<u32>> = FxHashMap::default();
            for (place, anchor) in (0u32..).zip(members) {
                places.entry(anchor.node()).or_default().push(place);
            }
            places
        });
        places.get(&node).into_iter().flatten().map(|&place| members[place as usize])
    }
}

/// The elements of a list.
#[derive(Debug)]
pub enum Items {
    Values(Vec<Value>),
    Nodes(Arc<[NodeId]>),
    /// From, up to and not including.
    Range(i64, i64),
}

/// A list, with an index of first places that is built when a long list is searched.
#[derive(Debug)]
pub struct List {
    items: Items,
    index: OnceLock<FxHashMap<Value, u32>>,
}

/// Shorter lists are searched one by one.
const INDEXED: usize = 12;

impl List {
    pub fn new(items: Items) -> List {
        List { items, index: OnceLock::new() }
    }

    pub fn len(&self) -> usize {
        match &self.items {
            Items::Values(values) => values.len(),
            Items::Nodes(nodes) => nodes.len(),
            Items::Range(from, to) => usize::try_from(to.saturating_sub(*from)).unwrap_or(0),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the list starts and ends, if it is a range with elements.
    fn bounds(&self) -> Option<(i64, i64)> {
        match self.items {
            Items::Range(from, to) if from < to => Some((from, to)),
            _ => None,
        }
    }

    pub fn get(&self, index: usize) -> Option<Value> {
        match &self.items {
            Items::Values(values) => values.get(index).cloned(),
            Items::Nodes(nodes) => nodes.get(index).map(|&n| Value::Node(n)),
            Items::Range(from, _) => (index < self.len()).then(|| Value::Int(from + index as i64)),
        }
    }

    /// The first place of `value`. Linear once, then by index.
    pub fn position(&self, value: &Value) -> Option<usize> {
        // A range may be longer than memory: it is asked, not searched.
        if let Items::Range(from, to) = self.items {
            let wanted = match *value {
                Value::Int(i) => Some(i),
                Value::Float(f) if f == f.trunc() => Some(f as i64),
                _ => None,
            };
            return wanted.filter(|i| (from..to).contains(i)).map(|i| i.abs_diff(from) as usize);
        }
        if self.len() < INDEXED || matches!(value, Value::List(_)) {
            return (0..self.len()).find(|&i| self.get(i).is_some_and(|v| v == *value));
        }
        let index = self.index.get_or_init(|| {
            let mut index = FxHashMap::default();
            for (place, value) in (0u32..).zip((0..self.len()).filter_map(|i| self.get(i))) {
                index.entry(value).or_insert(place);
            }
            index
        });
        index.get(value).map(|&place| place as usize)
    }
}

impl Value {
    pub fn text(text: &str) -> Value {
        Value::Text(Arc::new(Arc::from(text)))
    }

    pub fn list(values: Vec<Value>) -> Value {
        thread_local! {
            // What an absent attribute reads as, so it is made again and again.
            static NOTHING: Arc<List> = Arc::new(List::new(Items::Values(Vec::new())));
        }
        if values.is_empty() {
            return Value::List(NOTHING.with(Arc::clone));
        }
        Value::List(Arc::new(List::new(Items::Values(values))))
    }

    pub fn nodes(nodes: impl Into<Arc<[NodeId]>>) -> Value {
        Value::List(Arc::new(List::new(Items::Nodes(nodes.into()))))
    }

    pub fn group(table: Arc<Symbols>, id: GroupId) -> Value {
        Value::Group(Arc::new(GroupRef::new(table, id)))
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// True, and nothing else.
    pub fn is_true(&self) -> bool {
        matches!(self, Value::Bool(true))
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(sym) | Value::Mark(sym) => Some(sym.as_str()),
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The interned form of a string, if it has one.
    pub fn as_sym(&self) -> Option<Sym> {
        match self {
            Value::Str(sym) | Value::Mark(sym) => Some(*sym),
            Value::Text(text) => Sym::lookup(text),
            _ => None,
        }
    }

    pub fn as_node(&self) -> Option<NodeId> {
        match self {
            Value::Node(node) => Some(*node),
            _ => None,
        }
    }

    pub fn as_graph(&self) -> Option<GraphId> {
        match self {
            Value::Graph(graph) => Some(*graph),
            _ => None,
        }
    }

    pub fn as_anchor(&self) -> Option<Anchor> {
        match self {
            Value::Input(input) => Some(Anchor::In(*input)),
            Value::Output(output) => Some(Anchor::Out(*output)),
            _ => None,
        }
    }

    pub fn as_variant(&self) -> Option<u16> {
        match self {
            Value::Enum { variant, .. } => Some(*variant),
            _ => None,
        }
    }

    /// Length, if this is a list. Most values have none, so "is it empty" is no question to ask of all.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> Option<usize> {
        match self {
            Value::List(list) => Some(list.len()),
            Value::Inputs { count, .. } | Value::Outputs { count, .. } => Some(*count as usize),
            Value::Group(group) => Some(group.members().len()),
            _ => None,
        }
    }

    /// Element `index`, if this is a list that long.
    pub fn at(&self, index: usize) -> Option<Value> {
        match self {
            Value::List(list) => list.get(index),
            Value::Inputs { node, count } if index < *count as usize => {
                Some(Value::Input(node.input(index as u32)))
            }
            Value::Outputs { node, count } if index < *count as usize => {
                Some(Value::Output(node.output(index as u32)))
            }
            Value::Group(group) => group.members().get(index).map(|&a| a.into()),
            _ => None,
        }
    }

    /// The element at an index of the language; none where there is none.
    pub fn element(&self, index: &Value) -> Value {
        match index.as_int().map(usize::try_from) {
            Some(Ok(index)) => self.at(index).unwrap_or_default(),
            _ => Value::None,
        }
    }

    /// The elements of a list; nothing of anything else.
    pub fn elements(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.len().unwrap_or(0)).filter_map(|i| self.at(i))
    }

    /// First place of `value` in this list. O(1) on a long list that has been searched before.
    pub fn position(&self, value: &Value) -> Option<usize> {
        match (self, value) {
            (Value::List(list), _) => list.position(value),
            (Value::Inputs { node, count }, Value::Input(i)) => {
                (i.node == *node && i.index < *count).then_some(i.index as usize)
            }
            (Value::Outputs { node, count }, Value::Output(o)) => {
                (o.node == *node && o.index < *count).then_some(o.index as usize)
            }
            (Value::Group(group), _) => {
                let anchor = value.as_anchor()?;
                group.members().iter().position(|a| *a == anchor)
            }
            _ => None,
        }
    }

    /// Whether `value` is in this list or group.
    pub fn contains(&self, value: &Value) -> bool {
        match (self, value.as_anchor()) {
            (Value::Group(group), Some(anchor)) => group.table.group_of(anchor) == Some(group.id),
            _ => self.position(value).is_some(),
        }
    }

    /// Whether it can be told at once that another value is the same.
    pub(super) fn is_identical(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::List(a), Value::List(b)) => Arc::ptr_eq(a, b),
            (Value::Group(a), Value::Group(b)) => Arc::ptr_eq(a, b),
            _ => self == other,
        }
    }

    /// The bounds of both, if both are ranges with elements: two long ranges are not compared one by one.
    fn ranges(&self, other: &Value) -> Option<[(i64, i64); 2]> {
        match (self, other) {
            (Value::List(a), Value::List(b)) => Some([a.bounds()?, b.bounds()?]),
            _ => None,
        }
    }

    /// The order of `<`: numbers by size, strings by bytes, false before true, variants in
    /// declared order, lists by their first difference. `None`: the two have no order.
    pub fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
            (Value::Int(a), Value::Float(b)) => (*a as f64).partial_cmp(b),
            (Value::Float(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
            (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
            (Value::Enum { variant: a, .. }, Value::Enum { variant: b, .. }) => Some(a.cmp(b)),
            (Value::None, Value::None) => Some(Ordering::Equal),
            (Value::None, _) => Some(Ordering::Less),
            (_, Value::None) => Some(Ordering::Greater),
            _ => match (self.as_str(), other.as_str()) {
                (Some(a), Some(b)) => Some(a.cmp(b)),
                _ => {
                    if let Some([a, b]) = self.ranges(other) {
                        return Some(a.cmp(&b));
                    }
                    let (a, b) = (self.len()?, other.len()?);
                    let differ = self.elements().zip(other.elements()).find(|(x, y)| x != y);
                    differ.map_or(Some(a.cmp(&b)), |(x, y)| x.order(&y))
                }
            },
        }
    }
}

/// The order of `sort_by`: that of [`Value::order`] where it is one, and total: different kinds by kind, a float that is
/// no number behind all others, numbers exactly. A sort with less than a total order may panic.
#[inline]
pub(super) fn total_order(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        _ => order_of_kinds(a, b),
    }
}

fn order_of_kinds(a: &Value, b: &Value) -> Ordering {
    let (kind, other) = (a.kind(), b.kind());
    if kind != other {
        return kind.cmp(&other);
    }
    match (a, b) {
        (Value::Float(x), Value::Float(y)) => x.partial_cmp(y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan())),
        (Value::Int(i), Value::Float(f)) => int_and_float(*i, *f),
        (Value::Float(f), Value::Int(i)) => int_and_float(*i, *f).reverse(),
        _ if kind == LIST && a.ranges(b).is_none() => {
            let pairs = a.elements().zip(b.elements()).map(|(x, y)| total_order(&x, &y));
            pairs.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => a.order(b).unwrap_or(Ordering::Equal),
    }
}

fn int_and_float(i: i64, f: f64) -> Ordering {
    // Numbers that differ although their floats do not are whole, and fit.
    (i as f64)
        .partial_cmp(&f)
        .map_or(Ordering::Less, |order| order.then_with(|| i128::from(i).cmp(&(f as i128))))
}

/// The kind of lists in [`Value::kind`].
const LIST: u8 = 5;

impl Value {
    /// Kinds that have no order among each other, as numbers.
    fn kind(&self) -> u8 {
        match self {
            Value::None => 0,
            Value::Bool(_) => 1,
            Value::Int(_) | Value::Float(_) => 2,
            Value::Str(_) | Value::Text(_) | Value::Mark(_) => 3,
            Value::Enum { .. } => 4,
            Value::List(_) | Value::Inputs { .. } | Value::Outputs { .. } | Value::Group(_) => LIST,
            _ => 6,
        }
    }
}

impl From<Anchor> for Value {
    fn from(anchor: Anchor) -> Value {
        match anchor {
            Anchor::In(input) => Value::Input(input),
            Anchor::Out(output) => Value::Output(output),
        }
    }
}

impl From<&Const> for Value {
    fn from(constant: &Const) -> Value {
        match *constant {
            Const::None => Value::None,
            Const::Bool(b) => Value::Bool(b),
            Const::Int(i) => Value::Int(i),
            Const::Float(f) => Value::Float(f),
            Const::Str(s) => Value::Str(s),
            Const::Enum { ty, variant } => Value::Enum { ty, variant },
            Const::Mark(m) => Value::Mark(m),
            Const::List(ref items) => Value::list(items.iter().map(Value::from).collect()),
        }
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::None, Into::into)
    }
}

macro_rules! from {
    ($($ty:ty => $variant:ident),*) => {
        $(impl From<$ty> for Value {
            fn from(value: $ty) -> Value {
                Value::$variant(value)
            }
        })*
    };
}

from! { bool => Bool, i64 => Int, f64 => Float, Sym => Str, NodeId => Node, Input => Input, Output => Output,
GraphId => Graph }

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Str(a), Value::Str(b)) | (Value::Mark(a), Value::Mark(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Node(a), Value::Node(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Input(a), Value::Input(b)) => a == b,
            (Value::Output(a), Value::Output(b)) => a == b,
            (Value::None, Value::None) => true,
            (Value::Enum { variant: a, .. }, Value::Enum { variant: b, .. }) => a == b,
            (Value::Graph(a), Value::Graph(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => *a as f64 == *b,
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::Text(a), Value::Str(b)) | (Value::Str(b), Value::Text(a)) => &***a == b.as_str(),
            (Value::Symbols(a), Value::Symbols(b)) => Arc::ptr_eq(a, b),
            (Value::Group(a), Value::Group(b)) => Arc::ptr_eq(&a.table, &b.table) && a.id == b.id,
            _ if let Some([a, b]) = self.ranges(other) => a == b,
            _ => match (self.len(), other.len()) {
                (Some(a), Some(b)) => a == b && self.elements().zip(other.elements()).all(|(x, y)| x == y),
                _ => false,
            },
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    /// Equal values hash alike: a number by its float form, a string by its text, a list by its length.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Value::None => 0u8.hash(state),
            Value::Bool(b) => b.hash(state),
            Value::Int(i) => float_bits(*i as f64).hash(state),
            Value::Float(f) => float_bits(*f).hash(state),
            Value::Node(node) => node.hash(state),
            Value::Input(input) => input.hash(state),
            Value::Output(output) => output.hash(state),
            Value::Graph(graph) => graph.hash(state),
            Value::Mark(sym) => sym.hash(state),
            Value::Str(sym) => sym.as_str().hash(state),
            Value::Text(text) => (***text).hash(state),
            Value::Enum { variant, .. } => variant.hash(state),
            Value::Symbols(table) => Arc::as_ptr(table).hash(state),
            Value::Group(group) => (Arc::as_ptr(&group.table), group.id).hash(state),
            Value::List(_) | Value::Inputs { .. } | Value::Outputs { .. } => self.len().hash(state),
        }
    }
}

/// Bits that are the same for equal floats.
fn float_bits(f: f64) -> u64 {
    if f == 0.0 { 0 } else { f.to_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: i64, to: i64) -> Value {
        Value::List(Arc::new(List::new(Items::Range(from, to))))
    }

    #[test]
    fn a_range_longer_than_memory_is_asked_not_gone_through() {
        let long = range(0, i64::MAX);
        assert_eq!(long, range(0, i64::MAX));
        assert_ne!(long, range(1, i64::MAX));
        assert_eq!(long.order(&range(0, 9)), Some(Ordering::Greater));
        assert_eq!(long.position(&Value::Int(1 << 40)), Some(1 << 40));
        assert_eq!(long.position(&Value::Float(3.0)), Some(3));
        assert_eq!((long.position(&Value::Float(3.5)), long.position(&Value::None)), (None, None));
        assert_eq!(range(5, 5), Value::list(Vec::new()));
        assert_eq!(range(1, 3), Value::list(vec![Value::Int(1), Value::Int(2)]));
    }

    #[test]
    fn sorting_has_a_total_order() {
        let big = 1i64 << 53;
        let list = |f: f64| Value::list(vec![Value::Float(f)]);
        let values = [
            Value::None,
            Value::Bool(true),
            Value::Int(big),
            Value::Int(big + 1),
            Value::Int(i64::MAX),
            Value::Float(big as f64),
            Value::Float(f64::NAN),
            Value::Float(f64::INFINITY),
            Value::Float(-0.0),
            Value::Int(0),
            Value::text("a"),
            list(f64::NAN),
            list(1.0),
            list(2.0),
            range(1, 4),
        ];
        for a in &values {
            for b in &values {
                assert_eq!(total_order(a, b), total_order(b, a).reverse(), "{a:?} {b:?}");
                for c in &values {
                    let (ab, bc) = (total_order(a, b), total_order(b, c));
                    if ab.is_le() && bc.is_le() {
                        assert!(total_order(a, c).is_le(), "{a:?} {b:?} {c:?}");
                    }
                }
            }
        }
        assert_eq!(total_order(&Value::Int(big + 1), &Value::Float(big as f64)), Ordering::Greater);
    }
}
