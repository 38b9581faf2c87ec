//! Marks: which anchor attributes each anchor of a symbol table carries (`layout.md` 4).
//!
//! Promise: one list per attribute, in group order, and a bit set for membership. A condition that reads only the
//! node is asked once per node; one that does not mention the group builds none.

mod again;

use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{Anchor, Dense, GraphId, GroupId, NodeId, Snapshot, Sym, Symbols};
use crate::lang::eval::{EntryId, Failure, GroupRef, Machine, Marks, Value};
use crate::lang::hir::{Body, Entry, Expr, ExprId, Local};
use crate::lang::syntax::ast::Side;

pub use again::{Marked, Seen, mark_again};

/// The slots of an attribute's frame.
const ANCHOR: Local = 0;
pub const GROUP: Local = 4;

/// An anchor by its place in the symbol table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub group: u32,
    /// Position in the group.
    pub at: u32,
    pub anchor: Anchor,
}

/// The anchors that carry one mark.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkList {
    pub mark: Sym,
    pub side: Side,
    /// In order of group, then position.
    pub places: Vec<Place>,
    members: Members,
}

/// Membership of anchors. A target graph may be a small part of the snapshot, so small sets are hashed.
#[derive(Clone, Debug, PartialEq)]
enum Members {
    /// By anchor number in the flat view of the snapshot that was marked.
    Bits(FixedBitSet),
    Few(FxHashSet<Anchor>),
}

/// All marks of one table, in declaration order.
#[derive(Clone)]
pub struct MarkTable {
    pub lists: Vec<Arc<MarkList>>,
    by_mark: Arc<FxHashMap<Sym, usize>>,
    snapshot: Snapshot,
}

impl MarkList {
    fn new(snapshot: &Snapshot, mark: Sym, side: Side, places: Vec<Place>) -> MarkList {
        let dense = snapshot.dense();
        let anchors = match side {
            Side::Input => dense.input_count(),
            Side::Output => dense.output_count(),
        };
        if places.len() < anchors / 256 {
            let members = Members::Few(places.iter().map(|place| place.anchor).collect());
            return MarkList { mark, side, places, members };
        }
        let mut bits = FixedBitSet::with_capacity(anchors);
        for place in &places {
            match place.anchor {
                Anchor::In(input) => bits.insert(dense.input(input) as usize),
                Anchor::Out(output) => bits.insert(dense.output(output) as usize),
            }
        }
        MarkList { mark, side, places, members: Members::Bits(bits) }
    }

    /// The list of a small table.
    pub fn few(mark: Sym, side: Side, places: Vec<Place>) -> MarkList {
        let members = Members::Few(places.iter().map(|place| place.anchor).collect());
        MarkList { mark, side, places, members }
    }

    /// The places inside one group.
    pub fn in_group(&self, group: u32) -> &[Place] {
        let from = self.places.partition_point(|place| place.group < group);
        let to = from + self.places[from..].partition_point(|place| place.group == group);
        &self.places[from..to]
    }
}

impl MarkTable {
    pub fn new(snapshot: Snapshot, lists: Vec<Arc<MarkList>>) -> MarkTable {
        let by_mark = lists.iter().enumerate().map(|(at, list)| (list.mark, at)).collect();
        MarkTable { lists, by_mark: Arc::new(by_mark), snapshot }
    }

    pub fn list(&self, mark: Sym) -> Option<&Arc<MarkList>> {
        self.by_mark.get(&mark).map(|&at| &self.lists[at])
    }

    fn carries(&self, list: &MarkList, anchor: Anchor) -> bool {
        let bits = match &list.members {
            Members::Few(anchors) => return anchors.contains(&anchor),
            Members::Bits(bits) => bits,
        };
        let dense = self.snapshot.dense();
        if anchor.node().0 as usize >= dense.slots() {
            return false;
        }
        match (anchor, list.side) {
            (Anchor::In(input), Side::Input) => {
                let number = dense.input(input);
                dense.inputs(input.node).contains(&number) && bits.contains(number as usize)
            }
            (Anchor::Out(output), Side::Output) => {
                let number = dense.output(output);
                dense.outputs(output.node).contains(&number) && bits.contains(number as usize)
            }
            _ => false,
        }
    }
}

impl Marks for MarkTable {
    fn has(&self, anchor: Anchor, mark: Sym) -> bool {
        self.list(mark).is_some_and(|list| self.carries(list, anchor))
    }

    fn list(&self, anchor: Anchor) -> Vec<Sym> {
        self.lists.iter().filter(|list| self.carries(list, anchor)).map(|list| list.mark).collect()
    }
}

/// What the marks of one attribute are computed from.
pub struct MarkRequest<'a> {
    pub snapshot: &'a Snapshot,
    pub symbols: &'a Arc<Symbols>,
    pub target: GraphId,
    pub mark: Sym,
    /// Marks declared earlier that the condition may ask for; for an `otherwise` attribute all others of its side.
    pub earlier: MarkTable,
}

/// Computes the anchors that carry one mark. `machine` runs the program of the attribute.
pub fn mark(
    machine: &mut Machine<'_>,
    request: &MarkRequest<'_>,
    entry: EntryId,
    seen: &mut Seen,
) -> Result<MarkList, Failure> {
    let program = machine.program();
    let Some(hir) = program.hir(entry).cloned() else {
        return Err(Failure::mechanism("no-entry", format!("there is no attribute `{}`", request.mark)));
    };
    let Entry::Attribute { side, rule } = &*hir else {
        return Err(Failure::mechanism("no-entry", format!("`{}` is no attribute", request.mark)));
    };
    let places = match rule {
        None => unmarked(request, *side),
        Some((body, condition)) => {
            let before = machine.set_marks(Some(Rc::new(request.earlier.clone())));
            let asked = Asked { entry, condition: *condition, side: *side };
            let places = matching(machine, request, asked, body, seen);
            machine.set_marks(before);
            places?
        }
    };
    Ok(MarkList::new(request.snapshot, request.mark, *side, places))
}

fn members(symbols: &Symbols, side: Side) -> impl Iterator<Item = Place> + '_ {
    (0..symbols.groups().len() as u32).flat_map(move |group| members_of(symbols, group, side))
}

fn members_of(symbols: &Symbols, group: u32, side: Side) -> impl Iterator<Item = Place> + '_ {
    (0u32..)
        .zip(&symbols.group(GroupId(group)).members)
        .filter(move |(_, anchor)| anchor.is_in() == (side == Side::Input))
        .map(move |(at, &anchor)| Place { group, at, anchor })
}

/// Number of an anchor in the flat view.
fn number(dense: &Dense, anchor: Anchor) -> usize {
    match anchor {
        Anchor::In(input) => dense.input(input) as usize,
        Anchor::Out(output) => dense.output(output) as usize,
    }
}

fn anchor_count(dense: &Dense, side: Side) -> usize {
    match side {
        Side::Input => dense.input_count(),
        Side::Output => dense.output_count(),
    }
}

/// Anchors that no other mark of their side holds.
fn unmarked(request: &MarkRequest<'_>, side: Side) -> Vec<Place> {
    let dense = request.snapshot.dense();
    let others = request.earlier.lists.iter().filter(|list| list.side == side);
    let others: Vec<&Arc<MarkList>> = others.collect();
    let carried: usize = others.iter().map(|list| list.places.len()).sum();
    if carried > anchor_count(dense, side) / FEW {
        let mut bits = FixedBitSet::with_capacity(anchor_count(dense, side));
        for place in others.iter().flat_map(|list| &list.places) {
            bits.insert(number(dense, place.anchor));
        }
        return members(request.symbols, side).filter(|p| !bits.contains(number(dense, p.anchor))).collect();
    }
    let marked: FxHashSet<Anchor> =
        others.iter().flat_map(|list| &list.places).map(|place| place.anchor).collect();
    members(request.symbols, side).filter(|place| !marked.contains(&place.anchor)).collect()
}

/// A share of the anchors below which hashing beats a table of all.
const FEW: usize = 8;

/// The condition of a mark, and of which anchors it is asked.
#[derive(Clone, Copy)]
pub struct Asked {
    pub entry: EntryId,
    pub condition: ExprId,
    pub side: Side,
}

fn matching(
    machine: &mut Machine<'_>,
    request: &MarkRequest<'_>,
    asked: Asked,
    body: &Body,
    seen: &mut Seen,
) -> Result<Vec<Place>, Failure> {
    if reads(body, GROUP) {
        return by_group(machine, request, asked, seen);
    }
    let (side, per_node) = (asked.side, !reads(body, ANCHOR));
    let dense = request.snapshot.dense();
    let many = members(request.symbols, side).take(anchor_count(dense, side) / FEW + 1).count();
    if many <= anchor_count(dense, side) / FEW {
        return few(machine, request, asked, per_node, seen);
    }
    // Nodes are asked in the order in which they lie in memory, not in that of groups.
    let mut bits = FixedBitSet::with_capacity(anchor_count(dense, side));
    for node in (0..dense.slots() as u32).map(NodeId) {
        let numbers = match side {
            Side::Input => dense.inputs(node),
            Side::Output => dense.outputs(node),
        };
        let mut holds = false;
        for number in numbers.clone() {
            if number == numbers.start || !per_node {
                let index = number - numbers.start;
                let anchor = match side {
                    Side::Input => Anchor::In(node.input(index)),
                    Side::Output => Anchor::Out(node.output(index)),
                };
                let frame = frame(dense, anchor, node, request.target, Value::None);
                holds = seen.test(machine, asked, &frame, (node, (!per_node).then_some(anchor)))?;
            }
            bits.set(number as usize, holds);
        }
    }
    if bits.is_clear() {
        return Ok(Vec::new());
    }
    Ok(members(request.symbols, side).filter(|place| bits.contains(number(dense, place.anchor))).collect())
}

/// Whether a condition mentions a slot of its frame.
fn reads(body: &Body, slot: Local) -> bool {
    body.exprs.contains(&Expr::Local(slot))
}

/// For a target graph that is a small part of the snapshot.
fn few(
    machine: &mut Machine<'_>,
    request: &MarkRequest<'_>,
    asked: Asked,
    per_node: bool,
    seen: &mut Seen,
) -> Result<Vec<Place>, Failure> {
    let dense = request.snapshot.dense();
    let mut known: FxHashMap<NodeId, bool> = FxHashMap::default();
    let mut found = Vec::new();
    for place in members(request.symbols, asked.side) {
        let node = place.anchor.node();
        let holds = match known.get(&node).filter(|_| per_node) {
            Some(&holds) => holds,
            None => {
                let frame = frame(dense, place.anchor, node, request.target, Value::None);
                seen.test(machine, asked, &frame, (node, (!per_node).then_some(place.anchor)))?
            }
        };
        if per_node {
            known.insert(node, holds);
        }
        if holds {
            found.push(place);
        }
    }
    Ok(found)
}

/// For a condition that reads the group.
fn by_group(
    machine: &mut Machine<'_>,
    request: &MarkRequest<'_>,
    asked: Asked,
    seen: &mut Seen,
) -> Result<Vec<Place>, Failure> {
    let mut found = Vec::new();
    for group in 0..request.symbols.groups().len() as u32 {
        in_group(machine, request, asked, (group, true), seen, &mut found)?;
    }
    Ok(found)
}

/// Asks the anchors of one group; whether the condition is told which that is.
fn in_group(
    machine: &mut Machine<'_>,
    request: &MarkRequest<'_>,
    asked: Asked,
    (group, is_told): (u32, bool),
    seen: &mut Seen,
    found: &mut Vec<Place>,
) -> Result<(), Failure> {
    let mut value = Value::None;
    for place in members_of(request.symbols, group, asked.side) {
        if is_told && value.is_none() {
            value = group_value(request.symbols, group);
        }
        let node = place.anchor.node();
        let frame = frame(request.snapshot.dense(), place.anchor, node, request.target, value.clone());
        if seen.test(machine, asked, &frame, (node, Some(place.anchor)))? {
            found.push(place);
        }
    }
    Ok(())
}

/// {anchor, node, graph, target, group}
pub fn frame(dense: &Dense, anchor: Anchor, node: NodeId, target: GraphId, group: Value) -> [Value; 5] {
    let graph = dense.graph_of(node).map_or(Value::None, Value::Graph);
    [anchor_value(anchor), Value::Node(node), graph, Value::Graph(target), group]
}

pub fn anchor_value(anchor: Anchor) -> Value {
    match anchor {
        Anchor::In(input) => Value::Input(input),
        Anchor::Out(output) => Value::Output(output),
    }
}

pub fn group_value(symbols: &Arc<Symbols>, group: u32) -> Value {
    Value::Group(Arc::new(GroupRef::new(symbols.clone(), GroupId(group))))
}
