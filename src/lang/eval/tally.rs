//! What evaluation went through, counted for coverage.
//!
//! Promise: counting changes no result. It is off unless someone asks, and then costs a look at an `Option` where a
//! condition is decided or a body begun. Machines of several programs count into one tally, by kind and name.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{EntryId, Machine};
use crate::graph::Sym;
use crate::lang::hir::ExprId;
use crate::lang::syntax::ast::Kind;

/// How often a condition held, and how often not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    pub held: usize,
    pub failed: usize,
}

#[derive(Debug, Default)]
struct Counts {
    entries: FxHashMap<(Kind, Sym), usize>,
    conditions: FxHashMap<(Kind, Sym, ExprId), Outcomes>,
}

/// An entry that was reached, or how a condition of it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reached {
    pub kind: Kind,
    pub name: Sym,
    pub outcome: Option<(ExprId, bool)>,
}

/// Counters of entries and conditions.
#[derive(Debug, Default)]
pub struct Tally(Mutex<Counts>);

/// Stands for the verdict of a whole entry among its conditions.
pub const VERDICT: ExprId = ExprId::MAX;

impl Tally {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts that an entry was reached.
    pub fn reach(&self, entry: (Kind, Sym)) {
        *self.counts().entries.entry(entry).or_default() += 1;
    }

    /// Counts how a condition of an entry came out.
    pub fn decide(&self, (kind, name): (Kind, Sym), condition: ExprId, holds: bool) {
        let mut counts = self.counts();
        let outcomes = counts.conditions.entry((kind, name, condition)).or_default();
        if holds {
            outcomes.held += 1;
        } else {
            outcomes.failed += 1;
        }
    }

    /// The entries that were reached, or some condition of which was decided, and how much there was to count.
    pub fn touched(&self) -> (FxHashSet<(Kind, Sym)>, usize) {
        let counts = self.counts();
        let conditions = counts.conditions.keys().map(|(kind, name, _)| (*kind, *name));
        let touched = counts.entries.keys().copied().chain(conditions).collect();
        let decided =
            counts.conditions.values().map(|outcomes| outcomes.held.saturating_add(outcomes.failed));
        (touched, counts.entries.values().copied().chain(decided).fold(0, usize::saturating_add))
    }

    /// What was reached since the last call, in no order; counting begins anew.
    pub fn take(&self) -> Vec<Reached> {
        let counts = std::mem::take(&mut *self.counts());
        let entries = counts.entries.into_keys().map(|(kind, name)| Reached { kind, name, outcome: None });
        let conditions = counts.conditions.into_iter().flat_map(|((kind, name, condition), outcomes)| {
            [(true, outcomes.held), (false, outcomes.failed)]
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .map(move |(holds, _)| Reached { kind, name, outcome: Some((condition, holds)) })
        });
        entries.chain(conditions).collect()
    }

    pub fn reached(&self, entry: (Kind, Sym)) -> usize {
        self.counts().entries.get(&entry).copied().unwrap_or_default()
    }

    pub fn decided(&self, (kind, name): (Kind, Sym), condition: ExprId) -> Outcomes {
        self.counts().conditions.get(&(kind, name, condition)).copied().unwrap_or_default()
    }
}

/// Stands for a cell among the conditions of a matrix.
pub fn cell(row: u16, column: u16) -> ExprId {
    ExprId::from(row) << 16 | ExprId::from(column)
}

impl Machine<'_> {
    /// Counts from now on what is reached; `None`: no longer.
    pub fn set_tally(&mut self, tally: Option<Arc<Tally>>) {
        self.tally = tally;
    }

    /// Counts that an entry's body was begun.
    #[inline]
    pub(super) fn reach(&self, entry: EntryId) {
        if let Some(tally) = &self.tally
            && let Some(key) = self.program.key(entry)
        {
            tally.reach(key);
        }
    }

    /// Counts that a cell of a matrix was looked up.
    #[inline]
    pub(super) fn reach_cell(&self, matrix: EntryId, row: u16, column: u16) {
        self.reach(matrix);
        self.decide(matrix, cell(row, column), true);
    }

    /// Counts how a condition, or with [`VERDICT`] an entry as a whole, came out.
    #[inline]
    pub fn decide(&self, entry: EntryId, condition: ExprId, holds: bool) {
        if let Some(tally) = &self.tally
            && let Some(key) = self.program.key(entry)
        {
            tally.decide(key, condition, holds);
        }
    }
}
