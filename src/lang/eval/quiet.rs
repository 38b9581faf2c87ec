//! Where nothing comes of rules because no reader of a node is what they are about.
//!
//! Whether rules have something to do at a node is mostly up to who reads from it, and mostly no reader is of a kind that
//! matters. So what a loop does, or what a list has for an element, is foreseen for each kind of element ([`super::foresee`]):
//! it comes to nothing if no reader satisfies some conditions. How these come out is foreseen for each kind of reader, and all
//! that is left for an element is a look at the kinds of its readers. Only where nobody looks on, and nothing is recorded.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::code::{Code, Op};
use super::foresee::Supposed;
use super::sieve::Question;
use super::{Machine, Value};
use crate::graph::{Input, Output};
use crate::lang::hir::{Block, ExprId, Local};

/// A kind is looked into when so many of it have come by.
const PATIENCE: u8 = 3;

/// No more conditions on readers than this are kept in mind.
const MOST_SUPPOSED: usize = 1 << 10;

/// What would be done, or had.
#[derive(Clone, Copy)]
pub(super) enum What<'b> {
    Block(&'b Block),
    List(ExprId),
}

/// What is foreseen at one place of the rules, by kind of element.
#[derive(Default)]
pub(super) struct Quiet {
    kinds: FxHashMap<u64, Foreseen>,
}

enum Foreseen {
    /// So many of the kind have come by.
    Asked(u8),
    /// It comes to nothing if no reader satisfies these conditions.
    Unless(Rc<[u32]>),
    Open,
}

/// Conditions on readers, and how they come out.
#[derive(Default)]
pub(super) struct Suppositions {
    all: Vec<Supposed>,
    /// By condition, and kind and port of the reader.
    are_true: FxHashMap<(u32, u64), bool>,
}

impl<'a> Machine<'a> {
    pub(super) fn take_quiet(&mut self, question: Question) -> Quiet {
        self.quiets.remove(&question).unwrap_or_default()
    }

    pub(super) fn keep_quiet(&mut self, question: Question, quiet: Quiet) {
        self.quiets.insert(question, quiet);
    }

    /// Whether nothing comes of the element that `local` holds.
    pub(super) fn is_quiet(
        &mut self,
        quiet: &mut Quiet,
        code: &Code,
        what: What<'_>,
        (local, base): (Local, usize),
    ) -> bool {
        if self.reads.is_some() {
            return false;
        }
        let element = self.stack[base + local as usize].clone();
        let (node, output) = match element {
            Value::Node(node) => (node, None),
            Value::Output(output) => (output.node, Some(output)),
            _ => return false,
        };
        let Some(kind) = self.kind_at(&element) else { return false };
        let supposed = match quiet.kinds.get(&kind) {
            Some(Foreseen::Unless(supposed)) => Rc::clone(supposed),
            Some(Foreseen::Open) => return false,
            _ => match self.foresee_kind(quiet, kind, code, what, (local, base)) {
                Some(supposed) => supposed,
                None => return false,
            },
        };
        if supposed.is_empty() {
            return true;
        }
        let Some(dense) = self.clean(node) else { return false };
        match output {
            Some(output) => self.are_as_supposed(&supposed, output),
            None => (0..dense.outputs(node).len() as u32)
                .all(|index| self.are_as_supposed(&supposed, Output { node, index })),
        }
    }

    #[cold]
    fn foresee_kind(
        &mut self,
        quiet: &mut Quiet,
        kind: u64,
        code: &Code,
        what: What<'_>,
        (local, base): (Local, usize),
    ) -> Option<Rc<[u32]>> {
        let known = quiet.kinds.entry(kind).or_insert(Foreseen::Asked(0));
        let Foreseen::Asked(times) = known else { return None };
        *times += 1;
        if *times <= PATIENCE {
            return None;
        }
        let element = self.stack[base + local as usize].clone();
        let foreseen = match what {
            What::Block(block) => self.quiet_block(code, block, local, element),
            What::List(list) => self.quiet_list(code, list, local, element),
        };
        let supposed = foreseen.and_then(|all| all.into_iter().map(|one| self.number(one)).collect());
        quiet.kinds.insert(kind, supposed.clone().map_or(Foreseen::Open, Foreseen::Unless));
        supposed
    }

    fn number(&mut self, supposed: Supposed) -> Option<u32> {
        let all = &mut self.suppositions.all;
        let at = all.iter().position(|known| *known == supposed).or_else(|| {
            let is_room = all.len() < MOST_SUPPOSED;
            is_room.then(|| {
                all.push(supposed);
                all.len() - 1
            })
        })?;
        u32::try_from(at).ok()
    }

    /// Whether what is supposed is true of all readers of an output.
    fn are_as_supposed(&mut self, supposed: &[u32], output: Output) -> bool {
        let Some(readers) = self.flat_readers(output) else { return false };
        readers.iter().all(|&reader| self.is_reader_as_supposed(supposed, reader))
    }

    fn is_reader_as_supposed(&mut self, supposed: &[u32], reader: Input) -> bool {
        let Some(kind) = self.kind_at(&Value::Input(reader)) else { return false };
        supposed.iter().all(|&one| match self.suppositions.are_true.get(&(one, kind)) {
            Some(&known) => known,
            None => self.look_at_reader(one, kind, reader),
        })
    }

    #[cold]
    fn look_at_reader(&mut self, supposed: u32, kind: u64, reader: Input) -> bool {
        let suppositions = std::mem::take(&mut self.suppositions);
        let is_true = suppositions
            .all
            .get(supposed as usize)
            .is_some_and(|one| self.is_as_supposed(one, Value::Input(reader)));
        self.suppositions = suppositions;
        self.suppositions.are_true.insert((supposed, kind), is_true);
        is_true
    }

    /// Whether a list that is made for each element may be foreseen: others are as soon made.
    pub(super) fn can_be_quiet(&self, code: &Code, list: ExprId) -> bool {
        !matches!(code.ops[list as usize], Op::Fact { .. } | Op::Local(_)) && self.can_sift(code)
    }
}
