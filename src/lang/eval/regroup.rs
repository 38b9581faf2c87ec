//! Groups that an earlier run has made already.
//!
//! A `symbols` entry goes through all nodes of a graph and says of each which groups its anchors are in. After an edit of other
//! rules it does so again, on a graph that differs in a handful of nodes. Promise: what a round did is done again without asking
//! only if all that it read is the same, and what it asked of the groups is answered as it was; so the table is the one that would
//! come of it alone. Rounds are recorded as [`super::again`] does, with the steps that they took. A run that fails gives nothing
//! away: it is to be run again alone.
//!
//! INVARIANT same-graphs: as for [`super::again`].

use rustc_hash::FxHashMap;

use super::code::Code;
use super::exec::Flow;
use super::rounds::Place;
use super::trace::{ReadLog, Told};
use super::{Failure, Machine};
use crate::graph::{Anchor, Apart, NodeId, SymbolError, Symbols, SymbolsBuilder};
use crate::lang::hir::{ExprId, Local};

/// No more than so much is recorded of one table, in bytes.
const MOST: usize = 1 << 25;

/// A round is looked for among so many that come next; beyond that by its node.
const NEAR: usize = 16;

/// What a round did to the groups, or asked of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Found(Anchor),
    Join(Anchor, Anchor),
    Unite(Anchor, Anchor),
    Registered(Anchor, bool),
    Size(Anchor, usize),
    Same(Anchor, Anchor, bool),
}

impl Step {
    pub fn take(self, builder: &mut SymbolsBuilder) -> Result<(), SymbolError> {
        match self {
            Step::Found(anchor) => builder.found(anchor),
            Step::Join(anchor, to) => builder.join(anchor, to),
            Step::Unite(anchor, with) => builder.unite(anchor, with),
            Step::Registered(..) | Step::Size(..) | Step::Same(..) => Ok(()),
        }
    }

    fn registers(&self, anchor: Anchor) -> bool {
        matches!(self, Step::Found(a) | Step::Join(a, _) if *a == anchor)
    }
}

/// Whether what was asked would be answered as it was, were the steps taken. Where that cannot be told beforehand, not.
fn answers_stand(steps: &[Step], builder: &mut SymbolsBuilder) -> bool {
    let mut is_first = true;
    steps.iter().enumerate().all(|(at, step)| match *step {
        Step::Registered(anchor, is) => {
            is == (builder.is_registered(anchor) || steps[..at].iter().any(|step| step.registers(anchor)))
        }
        Step::Size(anchor, is) => is_first && builder.group_size(anchor) == is,
        Step::Same(one, other, is) => is_first && builder.same_group(one, other) == is,
        Step::Found(_) | Step::Join(..) | Step::Unite(..) => {
            is_first = false;
            true
        }
    })
}

/// What one round read and did: up to where its parts of the lists of a [`Grouping`] go. They begin where those of the round
/// before end.
#[derive(Clone, Copy, Debug)]
struct Round {
    node: NodeId,
    nodes: u32,
    own: u32,
    told: u32,
    steps: u32,
    spent: u64,
}

/// How a table was made.
#[derive(Debug, Default)]
pub struct Grouping {
    /// Loops, each with its first round.
    places: Vec<(Place, usize)>,
    rounds: Vec<Round>,
    nodes: Vec<NodeId>,
    own: Vec<NodeId>,
    told: Vec<Told>,
    steps: Vec<Step>,
    taken_over: usize,
}

/// The parts of the lists that belong to a round.
struct Parts<'a> {
    nodes: &'a [NodeId],
    own: &'a [NodeId],
    told: &'a [Told],
    steps: &'a [Step],
}

impl Grouping {
    /// With room for as much as is kept of an earlier one.
    fn after(earlier: &Grouping) -> Grouping {
        Grouping {
            rounds: Vec::with_capacity(earlier.rounds.len() + NEAR),
            nodes: Vec::with_capacity(earlier.nodes.len() + NEAR),
            own: Vec::with_capacity(earlier.own.len() + NEAR),
            told: Vec::with_capacity(earlier.told.len()),
            steps: Vec::with_capacity(earlier.steps.len() + NEAR),
            ..Grouping::default()
        }
    }

    /// About how many bytes are kept.
    pub fn size(&self) -> usize {
        size_of_val(&self.rounds[..])
            + size_of_val(&self.nodes[..])
            + size_of_val(&self.own[..])
            + size_of_val(&self.told[..])
            + size_of_val(&self.steps[..])
    }

    /// How many rounds are known, and how many of them are those of an earlier run.
    pub fn count(&self) -> (usize, usize) {
        (self.rounds.len(), self.taken_over)
    }

    fn parts(&self, at: usize) -> Parts<'_> {
        let round = self.rounds[at];
        let before = at.checked_sub(1).map(|before| self.rounds[before]);
        let from = |end: fn(&Round) -> u32| before.as_ref().map_or(0, end) as usize;
        Parts {
            nodes: &self.nodes[from(|r| r.nodes)..round.nodes as usize],
            own: &self.own[from(|r| r.own)..round.own as usize],
            told: &self.told[from(|r| r.told)..round.told as usize],
            steps: &self.steps[from(|r| r.steps)..round.steps as usize],
        }
    }

    fn push(&mut self, node: NodeId, Parts { nodes, own, told, steps }: Parts<'_>, spent: u64) {
        self.nodes.extend_from_slice(nodes);
        self.own.extend_from_slice(own);
        self.told.extend_from_slice(told);
        self.steps.extend_from_slice(steps);
        let [nodes, own] = [&self.nodes, &self.own].map(|nodes| nodes.len() as u32);
        let (told, steps) = (self.told.len() as u32, self.steps.len() as u32);
        self.rounds.push(Round { node, nodes, own, told, steps, spent });
    }

    /// The rounds of a loop.
    fn range(&self, place: &Place) -> Option<std::ops::Range<usize>> {
        let at = self.places.iter().position(|(known, _)| known == place)?;
        let end = self.places.get(at + 1).map_or(self.rounds.len(), |next| next.1);
        Some(self.places[at].1..end)
    }
}

/// What a machine works with that makes a table anew.
pub struct Regroup<'a> {
    earlier: Option<(&'a Grouping, &'a Apart)>,
    /// What came of that.
    pub(super) table: Option<&'a Symbols>,
    /// Of the loop that is under way: rounds of the earlier run that may come next.
    ahead: std::ops::Range<usize>,
    /// All of them, by node, when one of them did not come next.
    by_node: Option<FxHashMap<NodeId, usize>>,
    now: Grouping,
    is_full: bool,
    log: Option<Box<ReadLog>>,
}

impl<'a> Regroup<'a> {
    /// Does what an earlier run did, if one is given, and the table that came of it; how far its graph and this one are apart.
    pub fn new(earlier: Option<(&'a Grouping, &'a Symbols, &'a Apart)>) -> Regroup<'a> {
        let now = earlier.map_or_else(Grouping::default, |(grouping, ..)| Grouping::after(grouping));
        let (earlier, table) =
            (earlier.map(|(one, _, apart)| (one, apart)), earlier.map(|(_, table, _)| table));
        Regroup { earlier, table, ahead: 0..0, by_node: None, now, is_full: false, log: None }
    }

    fn begin_loop(&mut self, place: Place) {
        let earlier = self.earlier.and_then(|(earlier, _)| earlier.range(&place));
        (self.ahead, self.by_node) = (earlier.unwrap_or_default(), None);
        self.now.places.push((place, self.now.rounds.len()));
    }

    /// The round of the earlier run at a node.
    fn find(&mut self, node: NodeId) -> Option<usize> {
        let (earlier, _) = self.earlier?;
        let near = self.ahead.clone().take(NEAR).find(|&at| earlier.rounds[at].node == node);
        let at = near.or_else(|| {
            let ahead = self.ahead.clone();
            let by_node =
                self.by_node.get_or_insert_with(|| ahead.map(|at| (earlier.rounds[at].node, at)).collect());
            by_node.get(&node).copied()
        });
        // What comes before is found by its node.
        if let Some(at) = near {
            self.ahead.start = at + 1;
        }
        at
    }

    fn holds(&self, at: usize) -> bool {
        let Some((earlier, apart)) = self.earlier else { return false };
        let Parts { nodes, own, told, .. } = earlier.parts(at);
        nodes.iter().all(|&node| apart.is_same(node))
            && own.iter().all(|&node| apart.is_same_in_itself(node))
            && told.iter().all(|told| told.is_same(apart))
    }
}

impl Told {
    /// Whether it is the same in two graphs; also false where that is not known.
    pub(super) fn is_same(&self, apart: &Apart) -> bool {
        match *self {
            Told::Id(node) => apart.has_same_id(node),
            Told::Order(node, to) => apart.are_in_same_order(node, to),
            Told::List { graph, all } => apart.is_same_list(graph, all),
            Told::Reaches { .. } | Told::Mark(_) | Told::Note(_) => false,
        }
    }
}

impl<'a> Machine<'a> {
    /// Records how a table is made from now on, and does again what is the same.
    pub fn set_regroup(&mut self, regroup: Regroup<'a>) {
        self.regroup = Some(Box::new(regroup));
    }

    /// How the table was made. `None`: that was not recorded, or is too much.
    pub fn take_grouping(&mut self) -> Option<Grouping> {
        let regroup = self.regroup.take().filter(|regroup| !regroup.is_full)?;
        self.log.is_empty().then_some(regroup.now)
    }

    /// Begins a loop over nodes, if its rounds are recorded.
    pub(super) fn regroups(&mut self, code: &Code, list: ExprId, at: (Local, usize)) -> bool {
        let is_inner = self.reads.is_some() || self.is_observed() || !self.log.is_empty();
        if self.regroup.is_none() || self.builder.is_none() || is_inner {
            return false;
        }
        let place = Place { entry: code.entry, list, around: self.around(code, at) };
        if let Some(regroup) = &mut self.regroup {
            regroup.begin_loop(place);
        }
        true
    }

    /// The round of such a loop at a node.
    pub(super) fn group_round(
        &mut self,
        node: NodeId,
        body: impl FnOnce(&mut Self) -> Result<Flow, Failure>,
    ) -> Result<Flow, Failure> {
        if let Some(done) = self.group_again(node) {
            return done;
        }
        let Some(regroup) = self.regroup.as_mut().filter(|regroup| !regroup.is_full) else {
            return body(self);
        };
        let log = regroup.log.take().unwrap_or_else(|| Box::new(ReadLog::of_round()));
        self.begin_record(log);
        let (epoch, steps, reports) = (self.epoch(), self.steps, self.reports.len());
        let result = body(self);
        let Some(mut log) = self.reads.take() else { return result };
        let does_no_more = matches!(result, Ok(Flow::Next))
            && !log.everything
            && log.noted.is_empty()
            && self.epoch() == epoch
            && self.reports.len() == reports
            && self.isolated.is_empty()
            && self.log.is_empty();
        if let Some(regroup) = &mut self.regroup {
            if does_no_more {
                log.tidy();
                let parts = Parts { nodes: &log.nodes, own: &log.own, told: &log.told, steps: &log.grouped };
                regroup.now.push(node, parts, steps.saturating_sub(self.steps));
                regroup.is_full = regroup.now.size() > MOST;
            }
            log.clear();
            regroup.log = Some(log);
        }
        result
    }

    /// Does what a round of the earlier run did at a node, if it would be done again.
    fn group_again(&mut self, node: NodeId) -> Option<Result<Flow, Failure>> {
        let regroup = self.regroup.as_mut()?;
        let at = regroup.find(node).filter(|&at| regroup.holds(at))?;
        let (earlier, _) = regroup.earlier?;
        let parts = earlier.parts(at);
        if !answers_stand(parts.steps, self.builder.as_mut()?) {
            return None;
        }
        let (steps, spent) = (parts.steps, earlier.rounds[at].spent);
        regroup.now.push(node, parts, spent);
        regroup.now.taken_over += 1;
        // A run that is too long is too long again.
        self.spend(spent);
        for &step in steps {
            if let Err(failure) = self.group(step) {
                return Some(Err(failure));
            }
        }
        Some(self.settle(Flow::Next))
    }

    /// Records what was asked of the groups.
    pub(super) fn see_group(&mut self, step: Step) {
        if let Some(reads) = self.reads.as_mut().filter(|_| self.regroup.is_some()) {
            reads.grouped.push(step);
        }
    }
}
