//! What runs have left for runs after them, beside the database.
//!
//! Promise: nothing of it changes a result. It is kept only where rules are expected to be edited, by whoever asked for it, and no
//! more than a bounded amount: the runs that were used longest ago go first. All hands on a database share it, and nobody holds it
//! while a run is under way, so that a run that is unwound leaves it as it was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::graph::{GraphId, Snapshot, Sym};
use crate::lang::eval::{Program, Rounds};
use crate::lang::syntax::ast::Kind;

/// Runs of one entry that are kept.
const MOST_OF_ONE: usize = 8;

/// What all runs together may keep, as [`Rounds::size`] counts: 128 MB.
const MOST: usize = 1 << 25;

/// A run that has ended.
pub struct PastRun {
    pub entry: (Kind, Sym),
    /// The graph that it was run on.
    pub root: GraphId,
    pub snapshot: Snapshot,
    pub program: Arc<Program>,
    pub rounds: Rounds,
}

/// Runs that have ended, those that were used last in front.
#[derive(Default)]
pub struct PastRuns(Mutex<Vec<Arc<PastRun>>>);

impl PastRuns {
    fn runs(&self) -> MutexGuard<'_, Vec<Arc<PastRun>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run of an entry with the same program on the graph that seems nearest.
    pub fn nearest(
        &self,
        (entry, root): ((Kind, Sym), GraphId),
        program: &Arc<Program>,
        snapshot: &Snapshot,
    ) -> Option<Arc<PastRun>> {
        let mut runs = self.runs();
        let fits = |run: &PastRun| {
            let same_program = || Arc::ptr_eq(&run.program, program) || run.program == *program;
            run.entry == entry && run.root == root && same_program()
        };
        let fitting = runs.iter().enumerate().filter(|(_, run)| fits(run));
        let (at, _) = fitting.min_by_key(|(_, run)| run.snapshot.distance(snapshot))?;
        runs[..=at].rotate_right(1);
        runs.first().cloned()
    }

    /// How many runs are kept.
    pub fn count(&self) -> usize {
        self.runs().len()
    }

    /// The run that was kept or used last.
    pub fn last(&self) -> Option<Arc<PastRun>> {
        self.runs().first().cloned()
    }

    /// Keeps a run, if it has left anything.
    pub fn keep(&self, run: PastRun) {
        if run.rounds.size() == 0 {
            return;
        }
        let mut runs = self.runs();
        runs.insert(0, Arc::new(run));
        let key = |run: &PastRun| (run.entry, run.root);
        let newest = key(&runs[0]);
        let (mut of_one, mut size) = (0, 0usize);
        runs.retain(|run| {
            of_one += usize::from(key(run) == newest);
            size = size.saturating_add(run.rounds.size());
            size <= MOST && (key(run) != newest || of_one <= MOST_OF_ONE)
        });
    }
}
