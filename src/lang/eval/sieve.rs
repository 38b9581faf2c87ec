//! What the type of a node settles.
//!
//! Rules go through all nodes and have something to do at few of them, and mostly the type tells which. Promise: a condition
//! that is settled here comes out so at every node of the type, and a body that is idle at a type changes nothing there and
//! does not fail. Both are found by evaluating the code as far as the type goes, once for each type, and are true for good:
//! no edit changes a type. Only where nobody looks on: who does sees every condition asked.

use super::code::{Code, Op};
use super::{EntryId, Machine, Value};
use crate::graph::{NodeId, Sym};
use crate::lang::facts::Fact;
use crate::lang::hir::{Block, ExprId, Local};

/// A type is looked into when so many nodes of it have come by.
const PATIENCE: u8 = 8;

/// Types are symbols of rules and graphs, interned early. What has a higher number is evaluated.
const MOST_TYPES: usize = 1 << 16;

/// A loop over fewer nodes than this is run.
pub(super) const FEW: usize = 16;

/// What is asked of nodes, one after the other, at one place of the rules: an expression, or what a loop over it does.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Question(u64);

impl Question {
    /// Whether a condition of an item holds.
    pub fn condition(entry: EntryId, condition: ExprId) -> Question {
        Question(u64::from(entry.0) << 32 | u64::from(condition))
    }

    /// Whether the body of the loop over a list has something to do. Bit 63 is free: there are not so many items.
    pub fn body(entry: EntryId, list: ExprId) -> Question {
        Question(1 << 63 | Question::condition(entry, list).0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// So many nodes of the type have come by.
    Asked(u8),
    Known(bool),
    /// It takes more than the type.
    Open,
}

/// The answers to a question, by the number of the type.
#[derive(Default)]
pub(super) struct Sieve {
    answers: Vec<Answer>,
    /// Cells that they rest on.
    cells: u64,
}

impl<'a> Machine<'a> {
    /// Whether `code` may be sifted: it is that of an entry, and nobody looks on.
    pub(super) fn can_sift(&self, code: &Code) -> bool {
        !self.is_observed()
            && self.program.linked(code.entry).is_some_and(|linked| std::ptr::eq(&linked.plain, code))
    }

    pub(super) fn take_sieve(&mut self, question: Question) -> Sieve {
        self.sieves.remove(&question).unwrap_or_default()
    }

    pub(super) fn keep_sieve(&mut self, question: Question, sieve: Sieve) {
        self.sieves.insert(question, sieve);
    }

    /// The answer for the type of `node`, which `find` looks for.
    #[inline]
    fn sift(
        &mut self,
        sieve: &mut Sieve,
        node: NodeId,
        find: impl FnOnce(&mut Self) -> Option<bool>,
    ) -> Option<bool> {
        self.see_own(node);
        let ty = self.ty(node)?;
        match sieve.known(ty) {
            Some(known) => {
                self.see_cells(sieve.cells);
                known
            }
            None => {
                let outer = self.begin_shared();
                let found = sieve.ask(ty, || find(self));
                sieve.cells |= self.end_shared(outer);
                found
            }
        }
    }

    /// How a condition comes out at a node that `local` holds, if its type tells.
    #[inline]
    pub(super) fn settled(
        &mut self,
        sieve: &mut Sieve,
        code: &Code,
        condition: ExprId,
        (local, base): (Local, usize),
    ) -> Option<bool> {
        let Value::Node(node) = self.stack[base + local as usize] else { return None };
        self.sift(sieve, node, |m| m.foretold(code, condition, &[(local, Value::Node(node))]))
    }

    /// How a condition of an item comes out in a frame that starts with `frame`, if the type of the one node that this is about
    /// tells.
    pub(super) fn settled_in_frame(
        &mut self,
        code: &Code,
        condition: ExprId,
        frame: &[Value],
    ) -> Option<bool> {
        let place = |value: &Value| value.as_node().or_else(|| value.as_anchor().map(|anchor| anchor.node()));
        let node = frame.iter().find_map(place)?;
        self.sift_one(code, condition, node, |m| {
            let at: Vec<(Local, Value)> = (0..)
                .zip(frame)
                .filter(|(_, value)| place(value) == Some(node))
                .map(|(at, value)| (at, value.clone()))
                .collect();
            m.foretold(code, condition, &at)
        })
    }

    /// [`Machine::settled`] where one node is asked about, and then something else.
    pub(super) fn settled_at(
        &mut self,
        code: &Code,
        condition: ExprId,
        (local, base): (Local, usize),
    ) -> Option<bool> {
        let Value::Node(node) = self.stack[base + local as usize] else { return None };
        self.sift_one(code, condition, node, |m| m.foretold(code, condition, &[(local, Value::Node(node))]))
    }

    /// [`Machine::sift`] with the sieve of a condition, which is put back.
    #[inline]
    fn sift_one(
        &mut self,
        code: &Code,
        condition: ExprId,
        node: NodeId,
        find: impl FnOnce(&mut Self) -> Option<bool>,
    ) -> Option<bool> {
        if !self.can_sift(code) {
            return None;
        }
        let question = Question::condition(code.entry, condition);
        let known = |sieve: &Sieve| Some((sieve.known(self.ty(node)?)?, sieve.cells));
        if let Some((known, cells)) = self.sieves.get(&question).and_then(known) {
            self.see_cells(cells);
            self.see_own(node);
            return known;
        }
        let mut sieve = self.take_sieve(question);
        let settled = self.sift(&mut sieve, node, find);
        self.keep_sieve(question, sieve);
        settled
    }

    /// Whether the body of a loop comes to nothing at the node that `local` holds, and the loop goes on.
    pub(super) fn is_idle(
        &mut self,
        sieve: &mut Sieve,
        code: &Code,
        body: &Block,
        (local, base): (Local, usize),
    ) -> bool {
        let Value::Node(node) = self.stack[base + local as usize] else { return false };
        self.sift(sieve, node, |m| m.is_idle_at(code, body, local, node).then_some(true)) == Some(true)
    }

    /// Whether `id` is a list of nodes of a graph, or of some of them.
    pub(super) fn is_of_nodes(code: &Code, id: ExprId) -> bool {
        match code.ops[id as usize] {
            Op::Fact { fact: Fact::GraphNodes | Fact::GraphAllNodes, .. } => true,
            Op::Where { list, .. } => Self::is_of_nodes(code, list),
            _ => false,
        }
    }
}

impl Sieve {
    /// `None`: it has not been looked into.
    #[inline]
    fn known(&self, ty: Sym) -> Option<Option<bool>> {
        match self.answers.get(ty.index())? {
            Answer::Known(holds) => Some(Some(*holds)),
            Answer::Open => Some(None),
            Answer::Asked(_) => None,
        }
    }

    #[cold]
    fn ask(&mut self, ty: Sym, find: impl FnOnce() -> Option<bool>) -> Option<bool> {
        let ty = ty.index();
        if ty >= MOST_TYPES {
            return None;
        }
        if self.answers.len() <= ty {
            self.answers.resize(ty + 1, Answer::Asked(0));
        }
        let Answer::Asked(times) = self.answers[ty] else { return None };
        if times < PATIENCE {
            self.answers[ty] = Answer::Asked(times + 1);
            return None;
        }
        let found = find();
        self.answers[ty] = found.map_or(Answer::Open, Answer::Known);
        found
    }
}
