//! Nodes that are alike: values that rest on what is written at one node are found once for each kind of node, and code that
//! rests on it in part is fitted to the kind ([`super::residual`]).
//!
//! Promise: two nodes are of one kind only if no expression that [`super::own`] shares can tell them apart, so that a
//! shared value is the one that the expression would have. Kinds are exact: nodes are compared, not their hashes. What is
//! known of a kind is true for good; an edit changes only which kind a node is of.

use std::hash::{Hash, Hasher};
use std::mem::discriminant;
use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHasher};

use super::code::{Code, Op};
use super::own::Traits;
use super::residual::{Residual, Spot};
use super::{Machine, Value};
use crate::graph::{AttrValue, Attrs, GraphId, Input, Node, NodeId, Output, Port, Sym};
use crate::lang::hir::{ExprId, Local};

/// Nodes with more ports than this are of a kind of their own.
const MOST_PORTS: usize = 64;

/// No more kinds than this: where nodes have little in common, nothing is won.
const MOST_KINDS: usize = 1 << 12;

/// They are gone through, so there are fewer.
const MOST_SURROUNDINGS: usize = 1 << 8;

/// Nodes in graphs that lie deeper in others are of no kind.
const DEEPEST: u32 = 64;

/// An expression is fitted to a kind when it has been asked more often than that.
const PATIENCE: u8 = 3;

/// No more expressions are fitted than so many.
const MOST_FITTED: u32 = 1 << 14;

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
    /// By place: expression, kind and port.
    shared: FxHashMap<u64, Shared>,
    /// How many expressions have been fitted.
    fitted: u32,
}

/// What is known of an expression at the nodes of a kind.
#[derive(Clone)]
pub(super) enum Shared {
    Value(Kept),
    Residual(Rc<Residual>),
    /// There is little to know.
    AsWritten,
    /// It has been asked so many times.
    Asked(u8),
}

/// A value as seen from the node that it rests on.
#[derive(Clone)]
pub(super) enum Kept {
    Value(Value),
    Node,
    Input(u32),
    Output(u32),
    List(Rc<[Kept]>),
}

impl Kept {
    /// `None`: the value belongs to this node alone.
    pub fn new(value: &Value, node: NodeId) -> Option<Kept> {
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

    /// Whether a value is the same seen from anywhere.
    pub fn is_free(value: &Value) -> bool {
        match value {
            Value::Node(_)
            | Value::Input(_)
            | Value::Output(_)
            | Value::Inputs { .. }
            | Value::Outputs { .. } => false,
            Value::Graph(_) | Value::Symbols(_) | Value::Group(_) => false,
            Value::List(_) => value.elements().all(|element| Kept::is_free(&element)),
            _ => true,
        }
    }

    pub fn at(&self, node: NodeId) -> Value {
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
            calls: Vec::new(),
            examples: Vec::new(),
            by_hash: FxHashMap::default(),
            last: FxHashMap::default(),
            large: FxHashMap::default(),
            surroundings: Vec::new(),
            graphs: FxHashMap::default(),
            shared: FxHashMap::default(),
            fitted: 0,
        }
    }

    /// The node may be of another kind now.
    pub fn changed(&mut self, node: NodeId) {
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
        self.kinds.clear();
        self.calls.clear();
        self.graphs.clear();
    }

    /// The kind of a node, if that is known.
    #[inline]
    fn known(&self, node: NodeId) -> Option<Kind> {
        let kind = self.kinds.get(node.0 as usize).copied().filter(|&kind| kind != UNKNOWN)?;
        self.calls.is_empty().then_some(kind)
    }

    /// The kind of a node.
    fn find(&mut self, machine: &Machine<'_>, node: NodeId) -> Kind {
        for (call, before) in std::mem::take(&mut self.calls) {
            if self.known_or_new(machine, call, 0) != before {
                self.clear();
            }
        }
        self.known_or_new(machine, node, 0)
    }

    fn known_or_new(&mut self, machine: &Machine<'_>, id: NodeId, depth: u32) -> Kind {
        let index = id.0 as usize;
        if let Some(&kind) = self.kinds.get(index).filter(|kind| **kind != UNKNOWN) {
            return kind;
        }
        let kind = self.new_kind(machine, id, depth).unwrap_or(NO_KIND);
        if self.kinds.len() <= index {
            self.kinds.resize(index + 1, UNKNOWN);
        }
        self.kinds[index] = kind;
        kind
    }

    fn new_kind(&mut self, machine: &Machine<'_>, id: NodeId, depth: u32) -> Option<Kind> {
        let node = machine.node(id)?;
        let graph = self.surrounding(machine, node.graph, depth)?;
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
    fn surrounding(&mut self, machine: &Machine<'_>, id: GraphId, depth: u32) -> Option<u32> {
        if let Some(known) = self.graphs.get(&id) {
            return *known;
        }
        let graph = machine.state().get_graph(id)?;
        let around = match graph.parent {
            Some(parent) if depth < DEEPEST => self.known_or_new(machine, parent, depth + 1),
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

    /// Whether no shared expression can tell a node from those of a kind.
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

/// A node, or a port of one.
#[derive(Clone, Copy)]
struct Spotted {
    node: NodeId,
    /// 0: the node itself.
    port: u64,
}

impl Spotted {
    #[inline]
    fn of(value: &Value) -> Option<Spotted> {
        Some(match *value {
            Value::Node(node) => Spotted { node, port: 0 },
            Value::Input(Input { node, index }) => Spotted { node, port: 1 + 2 * u64::from(index) },
            Value::Output(Output { node, index }) => Spotted { node, port: 2 + 2 * u64::from(index) },
            _ => return None,
        })
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
    pub(super) fn alike(
        &mut self,
        code: &Code,
        (local, cell): (Local, u32),
        body: ExprId,
        base: usize,
    ) -> Value {
        let Some(place) = self.alike_place(local, cell, base) else { return self.expr(code, body, base) };
        match self.look_up(code, body, place, (local, base)) {
            Some(Shared::Value(kept)) => kept.at(place.node),
            Some(Shared::Residual(residual)) => self.expr(&residual.code, residual.root, base),
            Some(_) => self.expr(code, body, base),
            None => {
                let value = self.expr(code, body, base);
                self.keep_alike(place, &value);
                value
            }
        }
    }

    /// The value of a function, if it is sooner found by the kind of the node than remembered.
    #[inline]
    pub(super) fn alike_call(&mut self, code: &Code, id: ExprId, frame: usize) -> Option<Value> {
        let Op::Alike { local, cell, .. } = code.ops[id as usize] else { return None };
        let place = self.alike_place(local, cell, frame)?;
        match self.alike.as_ref()?.shared.get(&place.key)? {
            Shared::Value(kept) => Some(kept.at(place.node)),
            Shared::Residual(residual) if residual.is_small() => {
                let residual = Rc::clone(residual);
                self.grow(frame + code.locals as usize);
                Some(self.expr(&residual.code, residual.root, frame))
            }
            _ => None,
        }
    }

    /// Whether a condition holds in a frame that starts with `frame`, if that is known of the kind of the node that it is about.
    #[inline]
    pub(super) fn alike_in_frame(&mut self, code: &Code, id: ExprId, frame: &[Value]) -> Option<bool> {
        let Op::Alike { local, cell, .. } = code.ops[id as usize] else { return None };
        let place = self.place_of(Spotted::of(frame.get(local as usize)?)?, cell)?;
        match self.alike.as_ref()?.shared.get(&place.key)? {
            Shared::Value(Kept::Value(value)) => Some(value.is_true()),
            _ => None,
        }
    }

    /// Whether a shared condition holds.
    pub(super) fn alike_condition(
        &mut self,
        code: &Code,
        (local, cell): (Local, u32),
        body: ExprId,
        base: usize,
    ) -> bool {
        let Some(place) = self.alike_place(local, cell, base) else {
            return self.condition(code, body, base);
        };
        match self.look_up(code, body, place, (local, base)) {
            Some(Shared::Value(kept)) => matches!(kept, Kept::Value(Value::Bool(true))),
            Some(Shared::Residual(residual)) => self.condition(&residual.code, residual.root, base),
            Some(_) => self.condition(code, body, base),
            None => {
                let holds = self.condition(code, body, base);
                self.keep_alike(place, &Value::Bool(holds));
                holds
            }
        }
    }
    /// What is known of an expression at nodes of a kind. `None`: nothing yet, and it is a value of theirs.
    #[inline]
    fn look_up(&mut self, code: &Code, body: ExprId, place: Place, at: (Local, usize)) -> Option<Shared> {
        match self.alike.as_ref()?.shared.get(&place.key) {
            Some(Shared::Asked(_)) | None => self.ask(code, body, place, at),
            Some(shared) => Some(shared.clone()),
        }
    }

    /// An expression of which only parts are the node's own is fitted to a kind when it has been asked some times.
    #[cold]
    #[inline(never)]
    fn ask(&mut self, code: &Code, body: ExprId, place: Place, at: (Local, usize)) -> Option<Shared> {
        if code.is_own_of(body, at.0) {
            return None;
        }
        let alike = self.alike.as_deref_mut()?;
        let may_fit = alike.fitted < MOST_FITTED;
        if let Shared::Asked(times) = alike.shared.entry(place.key).or_insert(Shared::Asked(0)) {
            *times = times.saturating_add(1);
            if *times > PATIENCE && may_fit {
                self.fit(code, body, place, at);
            }
        }
        self.alike.as_ref()?.shared.get(&place.key).cloned()
    }

    fn fit(&mut self, code: &Code, body: ExprId, place: Place, (local, base): (Local, usize)) {
        let shared = self.residual(code, body, Spot { local, node: place.node, base });
        if let Some(alike) = self.alike.as_deref_mut() {
            alike.fitted += 1;
            alike.shared.insert(place.key, shared);
        }
    }

    /// What is left of an expression of a function or a walk whose frame begins with `frame`, at the kind of the place that
    /// it is fitted to. `None`: it is not fitted to any.
    pub(super) fn fitted(&mut self, code: &Code, id: ExprId, frame: &[Value]) -> Option<Shared> {
        let Op::Alike { local, cell, body } = code.ops[id as usize] else { return None };
        let base = self.enter(frame, code.locals);
        let place = self.alike_place(local, cell, base);
        if let Some(place) = place {
            let known = self.alike.as_ref().and_then(|alike| alike.shared.get(&place.key));
            if matches!(known, None | Some(Shared::Asked(_))) {
                if code.is_own_of(body, local) {
                    let value = self.expr(code, body, base);
                    self.keep_alike(place, &value);
                } else {
                    self.fit(code, body, place, (local, base));
                }
            }
        }
        self.leave(base);
        self.alike.as_ref()?.shared.get(&place?.key).cloned()
    }

    /// Whether a condition of a walk holds at a place and all that are like it, or at none of them.
    pub(super) fn decided(&mut self, code: &Code, condition: ExprId, place: &Value) -> Option<bool> {
        let frame = std::slice::from_ref(place);
        if code.is_own_of(condition, 0) {
            let base = self.enter(frame, code.locals);
            let holds = self.condition(code, condition, base);
            self.leave(base);
            return Some(holds);
        }
        match self.fitted(code, condition, frame)? {
            Shared::Value(Kept::Value(value)) => Some(value.is_true()),
            _ => None,
        }
    }

    /// `None`: nothing is shared there, or somebody records what is read to whom kinds say nothing.
    #[inline]
    fn alike_place(&mut self, local: Local, cell: u32, base: usize) -> Option<Place> {
        self.place_of(Spotted::of(&self.stack[base + local as usize])?, cell)
    }

    #[inline]
    fn place_of(&mut self, Spotted { node, port }: Spotted, cell: u32) -> Option<Place> {
        let kinds_count = self.reads.as_ref().is_none_or(|reads| reads.of_round);
        let alike = self.alike.as_deref().filter(|_| kinds_count)?;
        let kind = match alike.known(node) {
            Some(kind) => kind,
            None => self.find_kind(node)?,
        };
        self.see_own(node);
        // 20 bits for the cell would do, 13 for the kind: the three numbers do not overlap.
        let fits = kind != NO_KIND && port < 1 << 16;
        fits.then_some(Place { node, key: u64::from(cell) << 32 | u64::from(kind) << 16 | port })
    }

    #[cold]
    fn find_kind(&mut self, node: NodeId) -> Option<Kind> {
        let mut alike = self.alike.take()?;
        let kind = alike.find(self, node);
        self.alike = Some(alike);
        Some(kind)
    }

    fn keep_alike(&mut self, place: Place, value: &Value) {
        if self.pending.is_none()
            && let Some(kept) = Kept::new(value, place.node)
            && let Some(alike) = &mut self.alike
        {
            alike.shared.insert(place.key, Shared::Value(kept));
        }
    }
}
