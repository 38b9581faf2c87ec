//! Answers about graphs that answers about others are made from, beside the database.
//!
//! Promise: as for [`super::runs`]. What an answer is, and how another one is made from it, is known to who asks: here it is kept by
//! what was asked, with the graph that it is about. How far two graphs are apart is found once.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::graph::{Apart, GraphId, Snapshot, Sym};
use crate::lang::eval::Program;
use crate::lang::syntax::ast::Kind;

/// Answers to one question that are kept.
const MOST_OF_ONE: usize = 3;

/// What all answers together may take, in bytes: 64 MB.
const MOST: usize = 1 << 26;

/// Pairs of graphs of which it is known how far they are apart.
const MOST_APART: usize = 3;

/// What was asked: an entry, under a `symbols` entry, of a target graph.
pub type Question = (Kind, Sym, Sym, GraphId);

/// An answer that was given.
pub struct PastAnswer {
    pub question: Question,
    pub snapshot: Snapshot,
    pub program: Arc<Program>,
    /// About how many bytes it takes.
    pub size: usize,
    pub answer: Box<dyn Any + Send + Sync>,
}

/// Two graphs, and how far they are apart; `None`: too far.
type Pair = (Snapshot, Snapshot, Option<Arc<Apart>>);

/// Answers that were given, those that were used last in front.
#[derive(Default)]
pub struct PastAnswers {
    answers: Mutex<Vec<Arc<PastAnswer>>>,
    apart: Mutex<Vec<Pair>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PastAnswers {
    /// The answer to a question by the same program, about the graph that seems nearest.
    pub fn nearest(
        &self,
        question: Question,
        program: &Arc<Program>,
        snapshot: &Snapshot,
    ) -> Option<Arc<PastAnswer>> {
        let mut answers = lock(&self.answers);
        let fits = |answer: &PastAnswer| {
            let same_program = || Arc::ptr_eq(&answer.program, program) || answer.program == *program;
            answer.question == question && same_program()
        };
        let fitting = answers.iter().enumerate().filter(|(_, answer)| fits(answer));
        let (at, _) = fitting.min_by_key(|(_, answer)| answer.snapshot.distance(snapshot))?;
        answers[..=at].rotate_right(1);
        answers.first().cloned()
    }

    /// The answer about a graph that was given last.
    pub fn at(&self, question: Question, snapshot: &Snapshot) -> Option<Arc<PastAnswer>> {
        let answers = lock(&self.answers);
        answers.iter().find(|answer| answer.question == question && answer.snapshot == *snapshot).cloned()
    }

    /// Keeps an answer.
    pub fn keep(&self, answer: PastAnswer) {
        let question = answer.question;
        let mut answers = lock(&self.answers);
        answers.insert(0, Arc::new(answer));
        let (mut of_one, mut size) = (0, 0usize);
        answers.retain(|answer| {
            of_one += usize::from(answer.question == question);
            size = size.saturating_add(answer.size);
            size <= MOST && (answer.question != question || of_one <= MOST_OF_ONE)
        });
    }

    /// How far two graphs are apart. `None`: so far that nothing can be told from the one about the other.
    pub fn apart(&self, one: &Snapshot, other: &Snapshot) -> Option<Arc<Apart>> {
        let mut pairs = lock(&self.apart);
        if let Some((.., apart)) = pairs.iter().find(|(a, b, _)| a == one && b == other) {
            return apart.clone();
        }
        let apart = Apart::near(one, other).map(Arc::new);
        pairs.truncate(MOST_APART - 1);
        pairs.insert(0, (one.clone(), other.clone(), apart.clone()));
        apart
    }

    /// All answers that are kept.
    pub fn all(&self) -> Vec<Arc<PastAnswer>> {
        lock(&self.answers).clone()
    }
}
