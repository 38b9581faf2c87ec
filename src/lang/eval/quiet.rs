//! Where nothing comes of rules because no reader of a node is what they are about.
//!
//! Whether rules have something to do at a node is mostly up to who reads from it, and mostly no reader is of a kind that
//! matters. So what a loop does, or what a list has for an element, is foreseen for each kind of element ([`super::foresee`]):
//! it comes to nothing if no reader satisfies some conditions. How these come out is foreseen for each kind of reader, and all
//! that is left for an element is a look at the kinds of its readers. Only where nobody looks on. Who records a round records what
//! was looked at, and the cells of matrices that it rests on.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::code::{Code, Op};
use super::foresee::Supposed;
use super::sieve::Question;
use super::stream::End;
use super::{Machine, Value};
use crate::graph::Output;
use crate::lang::hir::{Block, ExprId, Local};

/// A kind is looked into when so many of it have come by.
const PATIENCE: u8 = 3;

/// So many misses tell nothing yet.
const FEW_MISSES: u32 = 64;

/// It is worth while if one in so many is a hit.
const HITS: u32 = 4;

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
    /// Elements of which nothing came, and such of which it was not foreseen.
    hits: u32,
    misses: u32,
}

impl Quiet {
    fn weigh(&mut self, is_hit: bool) {
        let count = if is_hit { &mut self.hits } else { &mut self.misses };
        *count = count.saturating_add(1);
    }

    /// Whether it is worth while to look at kinds.
    fn is_worth_it(&self) -> bool {
        self.misses < FEW_MISSES || self.misses / HITS < self.hits
    }
}

enum Foreseen {
    /// So many of the kind have come by.
    Asked(u8),
    /// It comes to nothing if no reader satisfies these conditions; the cells that this rests on.
    Unless(Rc<[u32]>, u64),
    Open,
}

/// Conditions on readers, and how they come out.
#[derive(Default)]
pub(super) struct Suppositions {
    all: Vec<Supposed>,
    /// By condition, and kind and port of the reader; with the cells that it rests on.
    are_true: FxHashMap<(u32, u64), (bool, u64)>,
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
        if self.reads.as_ref().is_some_and(|reads| !reads.of_round) || !quiet.is_worth_it() {
            return false;
        }
        let element = self.stack[base + local as usize].clone();
        let (node, output) = match element {
            Value::Node(node) => (node, None),
            Value::Output(output) => (output.node, Some(output)),
            _ => return false,
        };
        let Some(kind) = self.kind_at(&element) else {
            quiet.weigh(false);
            return false;
        };
        let supposed = match quiet.kinds.get(&kind) {
            Some(Foreseen::Unless(supposed, cells)) => {
                let (supposed, cells) = (Rc::clone(supposed), *cells);
                self.see_cells(cells);
                supposed
            }
            Some(Foreseen::Open) => {
                quiet.weigh(false);
                return false;
            }
            _ => match self.foresee_kind(quiet, kind, code, what, (local, base)) {
                Some(supposed) => supposed,
                None => return false,
            },
        };
        let comes_to_nothing = supposed.is_empty()
            || match output {
                Some(output) => self.are_as_supposed(&supposed, output),
                None => {
                    let outputs = self.node(node).map_or(0, |node| node.outputs.len()) as u32;
                    (0..outputs).all(|index| self.are_as_supposed(&supposed, Output { node, index }))
                }
            };
        quiet.weigh(comes_to_nothing);
        comes_to_nothing
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
        let outer = self.begin_shared();
        let foreseen = match what {
            What::Block(block) => self.quiet_block(code, block, local, element),
            What::List(list) => self.quiet_list(code, list, local, element),
        };
        let cells = self.end_shared(outer);
        let supposed: Option<Rc<[u32]>> =
            foreseen.and_then(|all| all.into_iter().map(|one| self.number(one)).collect());
        let known = supposed.clone().map_or(Foreseen::Open, |supposed| Foreseen::Unless(supposed, cells));
        quiet.kinds.insert(kind, known);
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
        let ended = self.each_reader(output, &mut |m, reader| {
            m.kind_at(&reader).is_some_and(|kind| {
                supposed.iter().all(|&one| match m.suppositions.are_true.get(&(one, kind)) {
                    Some(&(known, cells)) => {
                        m.see_cells(cells);
                        known
                    }
                    None => m.look_at_reader(one, kind, &reader),
                })
            })
        });
        ended == End::All
    }

    #[cold]
    fn look_at_reader(&mut self, supposed: u32, kind: u64, reader: &Value) -> bool {
        let outer = self.begin_shared();
        let suppositions = std::mem::take(&mut self.suppositions);
        let is_true = suppositions
            .all
            .get(supposed as usize)
            .is_some_and(|one| self.is_as_supposed(one, reader.clone()));
        self.suppositions = suppositions;
        let cells = self.end_shared(outer);
        self.suppositions.are_true.insert((supposed, kind), (is_true, cells));
        is_true
    }

    /// Whether a list that is made for each element may be foreseen: others are as soon made.
    pub(super) fn can_be_quiet(&self, code: &Code, list: ExprId) -> bool {
        !matches!(code.ops[list as usize], Op::Fact { .. } | Op::Local(_)) && self.can_sift(code)
    }
}
