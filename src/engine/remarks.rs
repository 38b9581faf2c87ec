//! Findings that nothing answers, and what of them was said before.
//!
//! Promise: of two steps of a run the later one repeats exactly what it would tell word for word of the same places. Words are made
//! only where it cannot be told otherwise: a text that shows nothing but what its things are called says the same wherever they are
//! called the same.

use std::cell::{OnceCell, RefCell};
use std::hash::{Hash, Hasher};

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::outcome::RuleRef;
use super::render::Renderer;
use super::run::{Draft, PassResult, PassRun, run_pass};
use crate::db::{self, Db, EntryName, RuleSet};
use crate::graph::{Anchor, Dense, Node, NodeId, Sym};
use crate::lang::eval::{EditKind, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::{Expr, Local, Text, TextId};
use crate::lang::syntax::ast::Kind;

/// A finding that nothing answers.
#[derive(Clone, Copy)]
pub struct Remark<'r> {
    entry: (Kind, Sym),
    places: &'r [Value],
    message: TextId,
    frame: &'r [Value],
}

impl Remark<'_> {
    pub fn rule(&self) -> RuleRef {
        RuleRef { kind: self.entry.0, name: self.entry.1 }
    }

    fn places(&self) -> impl Iterator<Item = (NodeId, Option<Anchor>)> {
        self.places.iter().filter_map(place_of)
    }

    /// Of rule and nodes.
    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.entry.1.hash(&mut hasher);
        self.places().for_each(|(node, _)| node.hash(&mut hasher));
        hasher.finish()
    }
}

/// The node and the anchor that a value is.
fn place_of(value: &Value) -> Option<(NodeId, Option<Anchor>)> {
    match value.as_anchor() {
        Some(anchor) => Some((anchor.node(), Some(anchor))),
        None => value.as_node().map(|node| (node, None)),
    }
}

/// Nodes that a pass has inserted.
pub fn inserted(result: &PassResult) -> FxHashSet<NodeId> {
    let nodes = result.edits.iter().filter_map(|record| match record.kind {
        EditKind::Insert { node, .. } => Some(node),
        _ => None,
    });
    nodes.collect()
}

/// What a draft remarks; `inserted`: the nodes that its pass has inserted.
pub fn remark<'r>(draft: &'r Draft, inserted: &FxHashSet<NodeId>) -> Option<Remark<'r>> {
    match draft {
        Draft::Report { entry, places, message, answer, frame, .. }
            if answer.is_none_or(|node| !inserted.contains(&node)) =>
        {
            Some(Remark { entry: *entry, places, message: *message, frame })
        }
        _ => None,
    }
}

/// Steps of a run, in order.
#[salsa::interned(debug)]
pub struct Steps<'db> {
    #[returns(ref)]
    pub runs: Vec<PassRun<'db>>,
}

/// Of the remarks of a step, by rule, how many one of the steps `before` has made.
#[salsa::tracked(returns(ref))]
pub fn said_again<'db>(
    db: &'db dyn Db,
    rules: RuleSet,
    run: PassRun<'db>,
    before: Steps<'db>,
) -> FxHashMap<RuleRef, usize> {
    let texts = Texts { db, rules, known: RefCell::default() };
    let speakers: Vec<Speaker<'db>> =
        before.runs(db).iter().map(|&run| Speaker::new(db, rules, run)).collect();
    let mut said: Vec<(&Speaker<'db>, &'db Draft)> = Vec::new();
    for speaker in &speakers {
        let drafts = speaker.result.drafts.iter().filter(|draft| speaker.remark(draft).is_some());
        said.extend(drafts.map(|draft| (speaker, draft)));
    }
    let remark_at = |at: usize| said.get(at).and_then(|(other, draft)| Some((*other, other.remark(draft)?)));
    let speaker = Speaker::new(db, rules, run);
    let mut again = FxHashMap::default();
    // What comes next is mostly what came next then; else it is looked for by its places.
    let (mut next, mut by_places) = (0, None);
    for remark in speaker.result.drafts.iter().filter_map(|draft| speaker.remark(draft)) {
        let is_same =
            |at: &usize| remark_at(*at).is_some_and(|other| texts.say_the_same(other, (&speaker, remark)));
        let known = Some(next).filter(is_same).or_else(|| {
            let hashes = || (0..said.len()).map(|at| remark_at(at).map_or(0, |(_, remark)| remark.hash()));
            by_places.get_or_insert_with(|| ByPlaces::new(hashes())).find(remark.hash(), is_same)
        });
        if let Some(at) = known {
            next = at + 1;
            *again.entry(remark.rule()).or_insert(0) += 1;
        }
    }
    again
}

/// Remarks by the hash of rule and nodes.
struct ByPlaces {
    first: FxHashMap<u64, usize>,
    /// Of each the next one of the same hash.
    next: Vec<Option<usize>>,
}

impl ByPlaces {
    fn new(hashes: impl DoubleEndedIterator<Item = u64> + ExactSizeIterator) -> ByPlaces {
        let mut first = FxHashMap::with_capacity_and_hasher(hashes.len(), Default::default());
        let mut next = vec![None; hashes.len()];
        for (at, hash) in hashes.enumerate().rev() {
            next[at] = first.insert(hash, at);
        }
        ByPlaces { first, next }
    }

    fn find(&self, hash: u64, is_it: impl Fn(&usize) -> bool) -> Option<usize> {
        let first = self.first.get(&hash).copied();
        std::iter::successors(first, |&at| self.next[at]).find(is_it)
    }
}

/// A step that has been run: one that spoke before, or the one that is compared with all of these.
struct Speaker<'db> {
    /// The graph that texts are about.
    nodes: &'db Dense,
    result: &'db PassResult,
    inserted: FxHashSet<NodeId>,
    renderer: Renderer<'db>,
    /// Nodes that have another name or operator type in the graph of the step that is compared with this one, or are not in it.
    otherwise: OnceCell<FixedBitSet>,
}

impl<'db> Speaker<'db> {
    fn new(db: &'db dyn Db, rules: RuleSet, run: PassRun<'db>) -> Speaker<'db> {
        let (snapshot, result) = (run.at(db).snapshot(db), run_pass(db, rules, run));
        let renderer = Renderer::new(db, rules, snapshot);
        let (nodes, inserted) = (snapshot.dense(), inserted(result));
        Speaker { nodes, result, inserted, renderer, otherwise: OnceCell::new() }
    }

    fn remark<'r>(&self, draft: &'r Draft) -> Option<Remark<'r>> {
        remark(draft, &self.inserted)
    }

    /// Whether a node has the same name and operator type as in the graph of the step that is compared with this one.
    fn calls_the_same(&self, other: &Speaker<'_>, node: NodeId) -> bool {
        let is_like = |one: &Node, other: &Node| one.ty == other.ty && one.name == other.name;
        let otherwise = self.otherwise.get_or_init(|| self.nodes.unlike_nodes(other.nodes, is_like));
        !otherwise.contains(node.0 as usize)
    }

    fn text(&self, remark: Remark<'_>) -> String {
        self.renderer.text(remark.entry, Some(remark.message), remark.frame, &self.result.program)
    }
}

/// The locals that a text reads, if it shows nothing but what it is given, and of nodes and anchors what they are called.
type Named = Option<Vec<Local>>;

/// A text of an entry.
type TextOf = (Kind, Sym, TextId);

/// What is known of the texts of remarks.
struct Texts<'db> {
    db: &'db dyn Db,
    rules: RuleSet,
    /// There are few.
    known: RefCell<Vec<(TextOf, Named)>>,
}

impl Texts<'_> {
    fn say_the_same(
        &self,
        (one, a): (&Speaker<'_>, Remark<'_>),
        (other, b): (&Speaker<'_>, Remark<'_>),
    ) -> bool {
        a.entry == b.entry
            && (std::ptr::eq(a.places, b.places) || a.places().eq(b.places()))
            && (self.show_the_same((one, a), (other, b)) || one.text(a) == other.text(b))
    }

    /// Whether it can be told without words that two remarks have the same words.
    fn show_the_same(
        &self,
        (one, a): (&Speaker<'_>, Remark<'_>),
        (other, b): (&Speaker<'_>, Remark<'_>),
    ) -> bool {
        if a.message != b.message {
            return false;
        }
        // What was taken over from an earlier run.
        let is_one = std::ptr::eq(a.frame, b.frame);
        let is_same = |local: &Local| {
            let (Some(a), Some(b)) = (a.frame.get(*local as usize), b.frame.get(*local as usize)) else {
                return false;
            };
            let is_plain = match a {
                Value::Bool(_) | Value::Int(_) | Value::Str(_) | Value::Text(_) => true,
                value => place_of(value).is_some_and(|(node, _)| one.calls_the_same(other, node)),
            };
            is_plain && (is_one || a == b)
        };
        let key = (a.entry.0, a.entry.1, a.message);
        let mut known = self.known.borrow_mut();
        let at = known.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let texts = db::texts(self.db, self.rules, EntryName::new(self.db, key.0, key.1));
            let text = texts.as_ref().and_then(|texts| texts.get(key.2 as usize));
            known.push((key, text.and_then(named)));
            known.len() - 1
        });
        known[at].1.as_ref().is_some_and(|locals| locals.iter().all(is_same))
    }
}

fn named(text: &Text) -> Named {
    let mut locals = Vec::new();
    for expr in &text.body.exprs {
        match expr {
            Expr::Local(local) => locals.push(*local),
            Expr::Fact {
                fact:
                    Fact::NodeName
                    | Fact::NodeType
                    | Fact::InputNode
                    | Fact::InputIndex
                    | Fact::OutputNode
                    | Fact::OutputIndex
                    | Fact::AnchorNode
                    | Fact::AnchorIndex,
                ..
            } => {}
            _ => return None,
        }
    }
    Some(locals)
}

#[cfg(test)]
#[path = "remarks_tests.rs"]
mod tests;
