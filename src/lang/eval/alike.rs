//! Nodes that are alike: values that rest on what is written at one node are found once for each kind of node.
//!
//! Promise: two nodes are of one kind only if no expression that [`super::own`] shares can tell them apart, so that a
//! shared value is the one that the expression would have. Kinds are exact: nodes are compared, not their hashes.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHasher};

use super::code::Code;
use super::own::Traits;
use super::{Machine, Value};
use crate::graph::{AttrValue, Attrs, Input, Node, NodeId, Output, Port};
use crate::lang::hir::{ExprId, Local};

/// Nodes with more ports than this are of no kind.
const MOST_PORTS: usize = 64;

/// No more kinds than this: where nodes have little in common, nothing is won.
const MOST_KINDS: usize = 1 << 12;

/// The number of a kind, from 1.
type Kind = u32;

const UNKNOWN: Kind = 0;
const NO_KIND: Kind = Kind::MAX;

/// What is known of kinds of nodes.
pub(super) struct Alike {
    /// Attributes that matter, by `Sym::index`.
    keys: FixedBitSet,
    /// By node.
    kinds: Vec<Kind>,
    /// One node of each kind.
    examples: Vec<Arc<Node>>,
    by_hash: FxHashMap<u64, Vec<Kind>>,
    values: FxHashMap<u64, Kept>,
}

/// A value as seen from the node that it rests on.
enum Kept {
    Value(Value),
    Node,
    Input(u32),
    Output(u32),
    List(Box<[Kept]>),
}

impl Kept {
    /// `None`: the value belongs to this node alone.
    fn new(value: &Value, node: NodeId) -> Option<Kept> {
        Some(match value {
            Value::Node(n) => (*n == node).then_some(Kept::Node)?,
            Value::Input(i) => (i.node == node).then_some(Kept::Input(i.index))?,
            Value::Output(o) => (o.node == node).then_some(Kept::Output(o.index))?,
            Value::List(_) | Value::Inputs { .. } | Value::Outputs { .. } => {
                Kept::List(value.elements().map(|element| Kept::new(&element, node)).collect::<Option<_>>()?)
            }
            Value::Graph(_) | Value::Symbols(_) | Value::Group(_) => return None,
            other => Kept::Value(other.clone()),
        })
    }

    fn at(&self, node: NodeId) -> Value {
        match self {
            Kept::Value(value) => value.clone(),
            Kept::Node => Value::Node(node),
            Kept::Input(index) => Value::Input(Input { node, index: *index }),
            Kept::Output(index) => Value::Output(Output { node, index: *index }),
            Kept::List(items) => Value::list(items.iter().map(|item| item.at(node)).collect()),
        }
    }
}

impl Alike {
    fn new(traits: &Traits) -> Alike {
        Alike {
            keys: traits.keys.clone(),
            kinds: Vec::new(),
            examples: Vec::new(),
            by_hash: FxHashMap::default(),
            values: FxHashMap::default(),
        }
    }

    /// The node may be of another kind now.
    pub fn changed(&mut self, node: NodeId) {
        if let Some(kind) = self.kinds.get_mut(node.0 as usize) {
            *kind = UNKNOWN;
        }
    }

    /// So may all.
    pub fn clear(&mut self) {
        self.kinds.clear();
    }

    #[cold]
    fn find(&mut self, id: NodeId, node: &Arc<Node>) -> Kind {
        let index = id.0 as usize;
        if self.kinds.len() <= index {
            self.kinds.resize(index + 1, UNKNOWN);
        }
        let kind = self.kind_of(node);
        self.kinds[index] = kind;
        kind
    }

    fn kind_of(&mut self, node: &Arc<Node>) -> Kind {
        if node.inputs.len() + node.outputs.len() > MOST_PORTS {
            return NO_KIND;
        }
        let mut hasher = FxHasher::default();
        self.hash(node, &mut hasher);
        let hash = hasher.finish();
        let same = self.by_hash.get(&hash).into_iter().flatten().copied();
        if let Some(kind) = { same }.find(|&kind| self.is_alike(node, &self.examples[kind as usize - 1])) {
            return kind;
        }
        if self.examples.len() >= MOST_KINDS {
            return NO_KIND;
        }
        self.examples.push(node.clone());
        let kind = self.examples.len() as Kind;
        self.by_hash.entry(hash).or_default().push(kind);
        kind
    }

    /// The attributes that matter, in the order of their keys.
    fn attrs<'a>(&'a self, attrs: &'a Attrs) -> impl Iterator<Item = &'a (crate::graph::Sym, AttrValue)> {
        attrs.entries().iter().filter(|(key, _)| self.keys.contains(key.index()))
    }

    fn hash(&self, node: &Node, to: &mut FxHasher) {
        (node.ty, node.has_subgraphs(), node.inputs.len(), node.outputs.len()).hash(to);
        self.hash_attrs(&node.attrs, to);
        for port in node.inputs.iter().chain(node.outputs.iter()) {
            port.name.hash(to);
            self.hash_attrs(&port.desc.attrs, to);
        }
    }

    fn hash_attrs(&self, attrs: &Attrs, to: &mut FxHasher) {
        for (key, value) in self.attrs(attrs) {
            key.hash(to);
            discriminant(value).hash(to);
            match value {
                AttrValue::Int(i) => i.hash(to),
                AttrValue::Bool(b) => b.hash(to),
                AttrValue::Str(bytes) => bytes.hash(to),
                _ => {}
            }
        }
    }

    /// Whether no shared expression can tell the two apart.
    fn is_alike(&self, a: &Node, b: &Node) -> bool {
        let same_port = |(a, b): (&Port, &Port)| {
            a.name == b.name
                && (Arc::ptr_eq(&a.desc, &b.desc)
                    || a.desc.reuse_input == b.desc.reuse_input
                        && a.desc.reuse_input_index == b.desc.reuse_input_index
                        && self.attrs(&a.desc.attrs).eq(self.attrs(&b.desc.attrs)))
        };
        a.ty == b.ty
            && a.has_subgraphs() == b.has_subgraphs()
            && a.inputs.len() == b.inputs.len()
            && a.outputs.len() == b.outputs.len()
            && self.attrs(&a.attrs).eq(self.attrs(&b.attrs))
            && a.inputs.iter().zip(b.inputs.iter()).all(same_port)
            && a.outputs.iter().zip(b.outputs.iter()).all(same_port)
    }
}

/// A place where a shared expression is asked.
#[derive(Clone, Copy)]
struct Place {
    node: NodeId,
    key: u64,
}

impl Machine<'_> {
    /// Keeps in mind what nodes that are alike have in common. Worth it for whoever asks much of every node.
    pub fn share_alike(&mut self) {
        self.alike = Some(Box::new(Alike::new(self.program.traits())));
    }

    /// The value of a shared expression.
    pub(super) fn alike(&mut self, code: &Code, (local, cell): (Local, u32), body: ExprId, base: usize) -> Value {
        let Some(place) = self.alike_place(local, cell, base) else { return self.expr(code, body, base) };
        if let Some(kept) = self.alike.as_ref().and_then(|alike| alike.values.get(&place.key)) {
            let value = kept.at(place.node);
            self.see(place.node);
            return value;
        }
        let value = self.expr(code, body, base);
        self.keep_alike(place, &value);
        value
    }

    /// Whether a shared condition holds.
    pub(super) fn alike_condition(
        &mut self,
        code: &Code,
        (local, cell): (Local, u32),
        body: ExprId,
        base: usize,
    ) -> bool {
        let Some(place) = self.alike_place(local, cell, base) else { return self.condition(code, body, base) };
        if let Some(kept) = self.alike.as_ref().and_then(|alike| alike.values.get(&place.key)) {
            let holds = matches!(kept, Kept::Value(Value::Bool(true)));
            self.see(place.node);
            return holds;
        }
        let holds = self.condition(code, body, base);
        self.keep_alike(place, &Value::Bool(holds));
        holds
    }

    #[inline]
    fn alike_place(&mut self, local: Local, cell: u32, base: usize) -> Option<Place> {
        let alike = self.alike.as_ref()?;
        let (node, port) = match self.stack[base + local as usize] {
            Value::Node(node) => (node, 0),
            Value::Input(Input { node, index }) => (node, 1 + 2 * u64::from(index)),
            Value::Output(Output { node, index }) => (node, 2 + 2 * u64::from(index)),
            _ => return None,
        };
        let kind = match alike.kinds.get(node.0 as usize) {
            Some(&kind) if kind != UNKNOWN => kind,
            _ => {
                let data = self.node(node)?.clone();
                self.alike.as_mut()?.find(node, &data)
            }
        };
        // A node of a kind has few ports, so the three numbers do not overlap. An index that is out of range is nobody's.
        let fits = kind != NO_KIND && port < 1 << 12;
        fits.then_some(Place { node, key: u64::from(cell) << 32 | u64::from(kind) << 12 | port })
    }

    fn keep_alike(&mut self, place: Place, value: &Value) {
        if self.pending.is_none()
            && let Some(kept) = Kept::new(value, place.node)
            && let Some(alike) = &mut self.alike
        {
            alike.values.insert(place.key, kept);
        }
    }
}
