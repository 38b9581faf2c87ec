//! What a run has found is found again without asking where nothing that it looked at has changed.
//!
//! Promise: a run that takes over what an earlier one found gives what it would give alone. It is for entries that look and edit
//! nothing, so that the graph they were given is all that they go by. Which rounds of their loops are taken over is told by
//! [`crate::lang::eval::Again`]; here it is decided from which run, and whether that is worth it.

use std::sync::Arc;

use super::cells::Cells;
use crate::db::{CellSaid, Linked, PastRun, PastRuns};
use crate::graph::{Apart, GraphId, Snapshot, Sym};
use crate::lang::eval::{Again, Machine};
use crate::lang::syntax::ast::Kind;

/// Where more than one node in so many is another one, a run goes its own way.
const APART: usize = 2;

/// What a run that is about to begin has to go by.
pub(super) struct Memory<'r> {
    runs: Arc<PastRuns>,
    entry: (Kind, Sym),
    root: GraphId,
    snapshot: &'r Snapshot,
    linked: &'r Linked,
    earlier: Option<(Arc<PastRun>, Apart)>,
}

impl<'r> Memory<'r> {
    /// `None`: nobody expects another run, or it must not be told from what an earlier one found.
    pub fn of(
        cells: &Cells<'_>,
        (entry, root): ((Kind, Sym), GraphId),
        linked: &'r Linked,
        snapshot: &'r Snapshot,
    ) -> Option<Memory<'r>> {
        let runs = cells.db.past_runs().filter(|_| entry.0 == Kind::Lint)?;
        let earlier = runs.nearest((entry, root), &linked.0, snapshot).and_then(|run| {
            let apart = Apart::between(&run.snapshot, snapshot)?;
            let is_near = apart.count() <= snapshot.node_count() / APART;
            // They are asked here as well: what is taken over rests on them.
            let stands = is_near && run.said.iter().all(|said| said.stands(cells.db, cells.rules));
            stands.then_some((run, apart))
        });
        Some(Memory { runs, entry, root, snapshot, linked, earlier })
    }

    /// Lets a machine take over what it can.
    pub fn lend<'a>(&'a self, machine: &mut Machine<'a>) {
        machine.set_again(Again::new(self.earlier.as_ref().map(|(run, apart)| (&run.rounds, apart))));
    }

    /// Keeps what a machine has recorded, and what cells said to it.
    pub fn keep(&self, machine: &mut Machine<'_>, mut said: Vec<CellSaid>) {
        let Some(rounds) = machine.take_rounds() else { return };
        if let Some((earlier, _)) = &self.earlier {
            said.extend(earlier.said.iter().filter(|one| !said.contains(one)).copied().collect::<Vec<_>>());
        }
        let Memory { entry, root, .. } = *self;
        let (snapshot, program) = (self.snapshot.clone(), self.linked.0.clone());
        self.runs.keep(PastRun { entry, root, snapshot, program, rounds, said });
    }
}
