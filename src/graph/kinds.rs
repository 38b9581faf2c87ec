//! Kinds of nodes: which are written alike, as far as some attributes go.
//!
//! Promise: two nodes are of one kind only if they have the same type, ports and values of the attributes that matter, and lie in
//! graphs of which this holds as well, and of the nodes around. Kinds are exact: nodes are compared, not their hashes. What is known
//! of a kind is true for good; an edit changes only which kind a node is of. Kinds are found as they are asked for, and kept with a
//! snapshot for who asks next.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHasher};

use super::{AttrValue, Attrs, GraphId, Near, Node, NodeId, Port, Sym};

/// Nodes with more ports than this are of a kind of their own.
const MOST_PORTS: usize = 64;

/// No more kinds than this: where nodes have little in common, nothing is won.
const MOST_KINDS: usize = 1 << 12;

/// With more kinds than this it is not tried to tell still more attributes.
const MANY_KINDS: usize = MOST_KINDS / 8;

/// They are gone through, so there are fewer.
const MOST_SURROUNDINGS: usize = 1 << 8;

/// Nodes in graphs that lie deeper in others are of no kind.
const DEEPEST: u32 = 64;

/// The number of a kind, from 1.
pub type Kind = u32;

const UNKNOWN: Kind = 0;
/// Of a node that is like no other, or like more than are kept in mind.
pub const NO_KIND: Kind = Kind::MAX;

/// What is known of kinds of nodes.
#[derive(Clone, Default)]
pub struct Kinds {
    /// Attributes that matter, by `Sym::index`.
    keys: FixedBitSet,
    /// By node.
    kinds: Vec<Kind>,
    /// Nodes with subgraphs that have changed, with the kinds that they were of. What is inside of them may be of another
    /// kind if they are.
    calls: Vec<(NodeId, Kind)>,
    /// One node of each kind, and the kind of its graph.
    examples: Vec<(Arc<Node>, u32)>,
    by_hash: FxHashMap<u64, Vec<Kind>>,
    /// The kind that was found last for a type in a kind of graph: the next node is often of it.
    last: FxHashMap<(Sym, u32), Kind>,
    large: FxHashMap<NodeId, Kind>,
    /// Kinds of graphs: the kind of the node around, or none, and the attributes that matter.
    surroundings: Vec<(Kind, Vec<(Sym, AttrValue)>)>,
    graphs: FxHashMap<GraphId, Option<u32>>,
    /// Of so many nodes the kind was found.
    found: usize,
    /// The graph is no longer what it was at first.
    edited: bool,
}

impl Kinds {
    /// Nothing is known yet; these attributes matter (by `Sym::index`).
    pub fn new(keys: FixedBitSet) -> Kinds {
        Kinds { keys, ..Kinds::default() }
    }

    /// Kinds for whom these attributes matter, from what is known on the same graph: that itself if it tells them. Else more
    /// attributes matter from now on, unless that might make too many kinds.
    pub fn telling(known: Option<&Kinds>, keys: &FixedBitSet) -> Kinds {
        match known {
            Some(known) if known.examples.len() > MANY_KINDS => Kinds::new(keys.clone()),
            Some(known) if keys.is_subset(&known.keys) => known.clone(),
            Some(known) => Kinds::new(known.keys.union(keys).collect()),
            None => Kinds::new(keys.clone()),
        }
    }

    /// The same of another graph, where some nodes may be of other kinds.
    pub fn elsewhere(&self, others: impl Iterator<Item = usize>) -> Kinds {
        let mut kinds = self.clone();
        kinds.graphs.clear();
        for node in others {
            if let Some(kind) = kinds.kinds.get_mut(node).filter(|kind| **kind != UNKNOWN) {
                *kind = UNKNOWN;
                kinds.found -= 1;
            }
        }
        kinds
    }

    /// Whether it says more than what was known of a graph at first, and is still true of that.
    pub fn says_more_than(&self, known: Option<&Kinds>) -> bool {
        let says_more = |known: &Kinds| {
            known.keys.is_subset(&self.keys)
                && (self.found > known.found || !self.keys.is_subset(&known.keys))
        };
        !self.edited && self.found > 0 && known.is_none_or(says_more)
    }

    /// The node may be of another kind now.
    pub fn changed(&mut self, node: NodeId) {
        self.edited = true;
        let Some(kind) = self.kinds.get_mut(node.0 as usize) else { return };
        let before = std::mem::replace(kind, UNKNOWN);
        let example = (before as usize).checked_sub(1).and_then(|at| self.examples.get(at));
        // Nodes inside of one without a kind have none either.
        if example.is_some_and(|(node, _)| node.has_subgraphs()) {
            self.calls.push((node, before));
        }
    }

    /// Any node may.
    pub fn clear(&mut self) {
        self.edited = true;
        self.kinds.clear();
        self.calls.clear();
        self.graphs.clear();
    }

    /// The kind of a node, if that is known.
    #[inline]
    pub fn known(&self, node: NodeId) -> Option<Kind> {
        let kind = self.kinds.get(node.0 as usize).copied().filter(|&kind| kind != UNKNOWN)?;
        self.calls.is_empty().then_some(kind)
    }

    /// The kind of a node.
    pub fn find(&mut self, near: Near<'_>, node: NodeId) -> Kind {
        for (call, before) in std::mem::take(&mut self.calls) {
            if self.known_or_new(near, call, 0) != before {
                self.clear();
            }
        }
        self.known_or_new(near, node, 0)
    }

    fn known_or_new(&mut self, near: Near<'_>, id: NodeId, depth: u32) -> Kind {
        let index = id.0 as usize;
        if let Some(&kind) = self.kinds.get(index).filter(|kind| **kind != UNKNOWN) {
            return kind;
        }
        let kind = self.new_kind(near, id, depth).unwrap_or(NO_KIND);
        if self.kinds.len() <= index {
            self.kinds.resize(index + 1, UNKNOWN);
        }
        self.kinds[index] = kind;
        self.found += 1;
        kind
    }

    fn new_kind(&mut self, near: Near<'_>, id: NodeId, depth: u32) -> Option<Kind> {
        let node = near.node(id)?;
        let graph = self.surrounding(near, node.graph, depth)?;
        if let Some(&kind) = self.last.get(&(node.ty, graph))
            && self.is_alike(node, graph, kind)
        {
            return Some(kind);
        }
        let kind = self.kind_like(id, node, graph)?;
        self.last.insert((node.ty, graph), kind);
        Some(kind)
    }

    fn kind_like(&mut self, id: NodeId, node: &Arc<Node>, graph: u32) -> Option<Kind> {
        let hash = self.hash(node, graph);
        let known = match hash {
            Some(hash) => self.by_hash.get(&hash).map_or(&[][..], Vec::as_slice),
            None => self.large.get(&id).map_or(&[][..], std::slice::from_ref),
        };
        if let Some(&kind) = known.iter().find(|&&kind| self.is_alike(node, graph, kind)) {
            return Some(kind);
        }
        if self.examples.len() >= MOST_KINDS {
            return None;
        }
        self.examples.push((node.clone(), graph));
        let kind = self.examples.len() as Kind;
        match hash {
            Some(hash) => self.by_hash.entry(hash).or_default().push(kind),
            None => {
                self.large.insert(id, kind);
            }
        }
        Some(kind)
    }

    /// The kind of a graph.
    fn surrounding(&mut self, near: Near<'_>, id: GraphId, depth: u32) -> Option<u32> {
        if let Some(known) = self.graphs.get(&id) {
            return *known;
        }
        let graph = near.state().get_graph(id)?;
        let around = match graph.parent {
            Some(parent) if depth < DEEPEST => self.known_or_new(near, parent, depth + 1),
            Some(_) => NO_KIND,
            None => UNKNOWN,
        };
        let found = if around == NO_KIND { None } else { self.surrounding_like(around, &graph.attrs) };
        self.graphs.insert(id, found);
        found
    }

    fn surrounding_like(&mut self, around: Kind, attrs: &Attrs) -> Option<u32> {
        let wanted = (around, self.attrs(attrs).cloned().collect());
        if let Some(at) = self.surroundings.iter().position(|known| *known == wanted) {
            return Some(at as u32);
        }
        let at = self.surroundings.len();
        (at < MOST_SURROUNDINGS).then(|| {
            self.surroundings.push(wanted);
            at as u32
        })
    }

    /// The attributes that matter, in the order of their keys.
    fn attrs<'a>(&'a self, attrs: &'a Attrs) -> impl Iterator<Item = &'a (Sym, AttrValue)> {
        attrs.entries().iter().filter(|(key, _)| self.keys.contains(key.index()))
    }

    /// `None`: the node is of a kind of its own.
    fn hash(&self, node: &Node, graph: u32) -> Option<u64> {
        if node.inputs.len() + node.outputs.len() > MOST_PORTS {
            return None;
        }
        let mut hasher = FxHasher::default();
        (node.ty, graph, node.has_subgraphs(), node.inputs.len(), node.outputs.len()).hash(&mut hasher);
        self.hash_attrs(&node.attrs, &mut hasher);
        for port in node.inputs.iter().chain(node.outputs.iter()) {
            port.name.hash(&mut hasher);
            self.hash_attrs(&port.desc.attrs, &mut hasher);
        }
        Some(hasher.finish())
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

    /// Whether a node is of a kind.
    fn is_alike(&self, a: &Node, graph: u32, kind: Kind) -> bool {
        let (b, graph_of_kind) = &self.examples[kind as usize - 1];
        if std::ptr::eq(a, &raw const **b) {
            return graph == *graph_of_kind;
        }
        let same_port = |(a, b): (&Port, &Port)| {
            a.name == b.name
                && (Arc::ptr_eq(&a.desc, &b.desc)
                    || a.desc.reuse_input == b.desc.reuse_input
                        && a.desc.reuse_input_index == b.desc.reuse_input_index
                        && self.attrs(&a.desc.attrs).eq(self.attrs(&b.desc.attrs)))
        };
        a.ty == b.ty
            && graph == *graph_of_kind
            && a.has_subgraphs() == b.has_subgraphs()
            && a.inputs.len() == b.inputs.len()
            && a.outputs.len() == b.outputs.len()
            && self.attrs(&a.attrs).eq(self.attrs(&b.attrs))
            && a.inputs.iter().zip(b.inputs.iter()).all(same_port)
            && a.outputs.iter().zip(b.outputs.iter()).all(same_port)
    }
}
