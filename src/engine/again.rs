//! What a run has found is found again without asking where nothing that it looked at has changed.
//!
//! Promise: a run that takes over what an earlier one found gives what it would give alone. Which rounds of its loops are taken over
//! is told by [`crate::lang::eval::Again`]; here it is decided from which run, and whether that is worth it. A program has all that it
//! mentions, symbols as well; cells of matrices alone are left open, and asked again.

use std::sync::Arc;

use super::cells::Cells;
use crate::db::{Linked, PastRun, PastRuns};
use crate::graph::{Apart, GraphId, Snapshot, Sym};
use crate::lang::eval::{Again, Machine};
use crate::lang::syntax::ast::Kind;

/// What a run that is about to begin has to go by.
pub(super) struct Memory<'r> {
    runs: Arc<PastRuns>,
    entry: (Kind, Sym),
    root: GraphId,
    snapshot: &'r Snapshot,
    linked: &'r Linked,
    earlier: Option<(Arc<PastRun>, Arc<Apart>)>,
}

impl<'r> Memory<'r> {
    /// `None`: nobody expects another run, or the entry has no loops of its own.
    pub fn of(
        cells: &Cells<'_>,
        (entry, root): ((Kind, Sym), GraphId),
        linked: &'r Linked,
        snapshot: &'r Snapshot,
    ) -> Option<Memory<'r>> {
        let has_loops = matches!(entry.0, Kind::Lint | Kind::Pass);
        if has_loops { Memory::of_loop(cells, (entry, root), linked, snapshot) } else { None }
    }

    /// The same for who goes through nodes on behalf of an entry. `None`: nobody expects another run.
    pub fn of_loop(
        cells: &Cells<'_>,
        (entry, root): ((Kind, Sym), GraphId),
        linked: &'r Linked,
        snapshot: &'r Snapshot,
    ) -> Option<Memory<'r>> {
        let runs = cells.db.past_runs()?;
        let earlier = runs.nearest((entry, root), &linked.0, snapshot).and_then(|run| {
            cells.db.past_answers()?.apart(&run.snapshot, snapshot).map(|apart| (run, apart))
        });
        Some(Memory { runs, entry, root, snapshot, linked, earlier })
    }

    /// Lets a machine take over what it can.
    pub fn lend<'a>(&'a self, machine: &mut Machine<'a>) {
        if let Some((run, apart)) = &self.earlier {
            self.snapshot.learn_kinds(&run.snapshot, apart);
        }
        machine.set_again(Again::new(self.earlier.as_ref().map(|(run, apart)| (&run.rounds, &**apart))));
    }

    /// How often the earlier run asked for a path.
    pub fn asked_paths(&self) -> usize {
        self.earlier.as_ref().map_or(0, |(run, _)| run.rounds.asked_paths())
    }

    /// Keeps what a machine has recorded.
    pub fn keep(&self, machine: &mut Machine<'_>) {
        let Some(rounds) = machine.take_rounds() else { return };
        let Memory { entry, root, .. } = *self;
        let (snapshot, program) = (self.snapshot.clone(), self.linked.0.clone());
        self.runs.keep(PastRun { entry, root, snapshot, program, rounds });
    }
}
