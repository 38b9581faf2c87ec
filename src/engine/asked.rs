//! What a pass asked about joined groups, kept so that it can be asked again.
//!
//! Promise: a pass that asked about groups does not depend on the conditions of marks, but on whether its questions are answered
//! as they were. INVARIANT told-by-answers: who reads [`conditions`] also asks [`stands`] of what came of it. After an edit of a
//! condition all questions are put again, in the states that they were asked in, and where the answers are the same the pass
//! stands. Where that cannot be told (too much was asked, or a question takes a search now and took none before), it does not.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::cells::{Cells, Indexed};
use super::queries::QueryFailure;
use super::trial::Judge;
use crate::db::{Db, Linked, Roots, RuleSet, names, program};
use crate::graph::{Anchor, Edit, GraphId, Snapshot};
use crate::lang::eval::Machine;
use crate::lang::syntax::ast::Kind;

/// States that one pass keeps, and anchors of groups in its questions. A pass with more is run again.
const MOST_STATES: usize = 256;
const MOST_MEMBERS: usize = 1 << 20;

/// The conditions of all attributes, linked. Equal to any other, so that who reads it does not depend on what they say.
#[derive(Clone, Debug)]
pub struct Conditions(pub Linked);

impl PartialEq for Conditions {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// See [`Conditions`], and told-by-answers.
#[salsa::tracked(returns(ref))]
pub fn conditions(db: &dyn Db, rules: RuleSet) -> Conditions {
    Conditions(linked(db, rules).clone())
}

fn linked(db: &dyn Db, rules: RuleSet) -> &Linked {
    let marks = names(db, rules, Kind::Attribute).iter().map(|&mark| (Kind::Attribute, mark));
    program(db, rules, Roots::of(db, marks))
}

/// Whether the groups of two anchors, which have these members, would conflict if they were one.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    pub target: GraphId,
    pub first: Anchor,
    pub members: &'q [Anchor],
}

/// How a question was answered.
#[derive(Clone, Copy)]
pub enum Way {
    /// It would not, since no rule is about the marks that may be there.
    Counted,
    Searched(bool),
}

/// The questions of one run, with all that it takes to answer them.
#[derive(Default)]
pub struct Log {
    states: Vec<Edit>,
    /// What [`Machine::facts`] was in the last state that counts were made in, and its number.
    counted: Option<(u64, usize)>,
    /// The same of the last state that was searched, with how many edits there were.
    searched: Option<((u64, usize), usize)>,
    members: Vec<Anchor>,
    asked: Vec<Asked>,
    /// Not all that was asked is there.
    lost: bool,
}

struct Asked {
    state: usize,
    target: GraphId,
    first: Anchor,
    members: std::ops::Range<usize>,
    way: Way,
}

impl Log {
    /// Notes a question in the state of `machine` as it is now.
    pub fn add(&mut self, machine: &Machine<'_>, question: Question<'_>, way: Way) {
        let (facts, edits) = (machine.facts(), machine.edits().len());
        let known = match way {
            // Edges do not matter to counts.
            Way::Counted => self.counted.filter(|(of, _)| *of == facts).map(|(_, state)| state),
            Way::Searched(_) => self.searched.filter(|(of, _)| *of == (facts, edits)).map(|(_, state)| state),
        };
        let more = usize::from(known.is_none());
        if self.lost
            || self.states.len() + more > MOST_STATES
            || self.members.len() + question.members.len() > MOST_MEMBERS
        {
            return self.lose();
        }
        let state = known.unwrap_or(self.states.len());
        if known.is_none() {
            self.states.push(machine.copy());
        }
        match way {
            Way::Counted => self.counted = Some((facts, state)),
            Way::Searched(_) => self.searched = Some(((facts, edits), state)),
        }
        let start = self.members.len();
        self.members.extend_from_slice(question.members);
        let members = start..self.members.len();
        let Question { target, first, .. } = question;
        self.asked.push(Asked { state, target, first, members, way });
    }

    /// Gives up what was noted: the pass depends on all conditions.
    pub fn lose(&mut self) {
        *self = Log { lost: true, ..Log::default() };
    }
}

/// A log with the program and the snapshot of its run. Equality is identity.
#[derive(Clone)]
struct Kept(Arc<(Log, Linked, Snapshot, GraphId)>);

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Kept {}

impl Hash for Kept {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

#[salsa::interned(debug)]
struct Run<'db> {
    #[returns(ref)]
    kept: Kept,
}

/// Makes the query that runs depend on the answers that it was given.
pub fn rest_on(db: &dyn Db, rules: RuleSet, (before, root): (&Snapshot, GraphId), log: Log) {
    let run = Run::new(db, Kept(Arc::new((log, conditions(db, rules).0.clone(), before.clone(), root))));
    stands(db, rules, run);
}

/// Whether all questions of a run are answered as they were.
#[salsa::tracked(returns(copy))]
fn stands<'db>(db: &'db dyn Db, rules: RuleSet, run: Run<'db>) -> bool {
    let (log, answered_by, before, root) = &*run.kept(db).0;
    let linked = linked(db, rules);
    linked == answered_by
        || !log.lost && asked_again(&Cells { db, rules }, linked, (before, *root), log).unwrap_or(false)
}

fn asked_again<'a>(
    cells: &'a Cells<'a>,
    linked: &'a Linked,
    (before, root): (&'a Snapshot, GraphId),
    log: &Log,
) -> Result<bool, QueryFailure> {
    let judge = Judge::new(cells, before, linked);
    let mut counter: Option<(usize, Machine<'_>)> = None;
    for asked in &log.asked {
        cells.db.unwind_if_revision_cancelled();
        let members = log.members.get(asked.members.clone()).unwrap_or_default();
        let question = Question { target: asked.target, first: asked.first, members };
        let Some(edit) = log.states.get(asked.state).cloned() else { return Ok(false) };
        let same = match asked.way {
            Way::Counted => {
                if counter.as_ref().is_none_or(|(state, _)| *state != asked.state) {
                    counter = Some((asked.state, Machine::new(&linked.0, cells, edit, None, root)));
                }
                match &mut counter {
                    Some((_, machine)) => judge.count_again(machine, question)? == Some(false),
                    None => false,
                }
            }
            Way::Searched(answer) => {
                let host = Indexed::new(*cells);
                let mut marking = Machine::new(&linked.0, &host, edit.clone(), None, root);
                let mut counter = Machine::new(&linked.0, cells, edit, None, root);
                judge.search_again((&mut marking, &mut counter), &host, question)? == answer
            }
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}
