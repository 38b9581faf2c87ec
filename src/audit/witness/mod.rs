//! The search for a small graph on which two rule sets disagree.
//!
//! Promise: what is given as a witness is one: both rule sets were run on it, after it was made small. The same seed and the same
//! number of tries give the same witness; the clock, if there is one, only ends the search. Not finding one proves nothing.
//!
//! The road: [`search`] goes through the seeds (graphs of tests), then through changed seeds and generated graphs ([`mutate`]) made of
//! the [`words`] of the rules. Graphs that went where no graph had been, around the changed entries ([`corpus`]), are changed again
//! more often. [`shrink`](mod@shrink) makes the one that is found small, and [`tell`] writes it as a test.

mod corpus;
mod mutate;
mod observe;
pub(super) mod random;
mod shrink;
mod tell;
mod words;

use serde::Serialize;

pub use observe::{Observed, Trial, observe, run};

use self::corpus::{Changed, Corpus};
use self::random::Random;
use self::words::{Words, words};
use super::diff::{Difference, Weight};
use super::uses::{Ref, entry_uses};
use crate::db::Db;
use crate::engine::{RuleSources, Session};
use crate::graph::{GraphId, Sym};
use crate::lang::eval::Reached;
use crate::lang::syntax::ast::Kind;

/// Runs before sessions begin anew: what they remember of graphs is never forgotten otherwise.
const RUNS_OF_A_SESSION: usize = 1000;

/// Two rule sets, and where to begin.
pub struct Search<'a> {
    pub old: &'a RuleSources,
    pub new: &'a RuleSources,
    pub difference: &'a Difference,
    pub seeds: Vec<Trial>,
    pub seed: u64,
}

/// A graph on which two rule sets disagree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Witness {
    /// A `test` of the language.
    pub test: String,
    /// Whether it passes on the new rules and fails on the old ones; if not, it expects nothing.
    pub decides: bool,
    /// What only the old rules do, and what only the new ones do.
    pub old: Vec<String>,
    pub new: Vec<String>,
    pub nodes: usize,
    /// Graphs that were tried until it was found.
    pub tried: usize,
}

/// A graph that comes out otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphChange {
    pub graph: String,
    /// What only the old rules do, and what only the new ones do.
    pub old: Vec<String>,
    pub new: Vec<String>,
}

/// Runs both rule sets on graphs, each with a name for people; tells of those that come out otherwise.
pub fn on_graphs(old: &RuleSources, new: &RuleSources, trials: &[(String, Trial)]) -> Vec<GraphChange> {
    let mut changes = Vec::new();
    for trials in trials.chunks(RUNS_OF_A_SESSION) {
        let sessions = [old, new].map(|sources| Session::new(sources.clone()));
        for (graph, trial) in trials {
            let [old, new] = [&sessions[0], &sessions[1]].map(|session| match run(session, trial) {
                Some(outcome) => observe(&outcome),
                None => Observed { failure: Some("it cannot be run".to_owned()), ..Observed::default() },
            });
            if !old.agrees(&new) {
                let (old, new) = (old.beyond(&new), new.beyond(&old));
                changes.push(GraphChange { graph: graph.clone(), old, new });
            }
        }
    }
    changes
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Witness(Box<Witness>),
    /// No pass that both rule sets have comes to a changed entry.
    NothingRuns,
    /// So many graphs were tried.
    Nothing(usize),
}

/// The two sessions of a search, replaced now and then.
struct Pair<'a> {
    search: &'a Search<'a>,
    old: Session,
    new: Session,
    runs: usize,
}

impl<'a> Pair<'a> {
    fn new(search: &'a Search<'a>) -> Pair<'a> {
        let session = |sources: &RuleSources| {
            let mut session = Session::new(sources.clone());
            session.start_coverage();
            session
        };
        Pair { search, old: session(search.old), new: session(search.new), runs: 0 }
    }

    /// Runs a trial under both; none if one of them cannot.
    fn run(&mut self, trial: &Trial) -> Option<(Observed, Observed)> {
        self.begin_run();
        let of = |session: &Session| Some(observe(&run(session, trial)?));
        Some((of(&self.old)?, of(&self.new)?))
    }

    fn begin_run(&mut self) {
        if self.runs >= RUNS_OF_A_SESSION {
            *self = Pair::new(self.search);
        }
        self.runs += 1;
    }

    /// Runs a trial under both, and tells what it went through. The new rules are not run where the old ones went nowhere near
    /// what is changed: `changed` tells.
    fn explore(
        &mut self,
        trial: &Trial,
        is_seed: bool,
        changed: &Changed,
    ) -> (Option<(Observed, Observed)>, Vec<Reached>) {
        self.begin_run();
        let spots =
            |session: &Session| session.database().tally().map(|tally| tally.take()).unwrap_or_default();
        // What was reached while a witness was made small is no news.
        [&self.old, &self.new].into_iter().for_each(|session| drop(spots(session)));
        let Some(old) = run(&self.old, trial) else { return (None, Vec::new()) };
        let mut seen = spots(&self.old);
        let old = observe(&old);
        // A seed is run in several ways, and what one run remembers the next does not go through again.
        if changed.tells && !is_seed && !seen.iter().any(|spot| changed.holds(spot)) {
            return (Some((old.clone(), old)), seen);
        }
        let Some(new) = run(&self.new, trial) else { return (None, Vec::new()) };
        seen.extend(spots(&self.new));
        (Some((old, observe(&new))), seen)
    }

    /// Whether the two disagree, with `edits` about what is changed.
    fn disagrees(&mut self, trial: &Trial, edits: bool) -> bool {
        self.run(trial)
            .is_some_and(|(old, new)| if edits { old.edits_otherwise(&new) } else { !old.agrees(&new) })
    }
}

/// Searches. `go_on` is asked with the number of graphs tried so far, before each.
pub fn search(search: &Search<'_>, go_on: &mut dyn FnMut(usize) -> bool) -> Found {
    let mut pair = Pair::new(search);
    let named = named(search.difference, [&pair.old, &pair.new]);
    let refs: Vec<Ref> = named.iter().map(|(kind, name)| Ref::new(*kind, *name)).collect();
    let words = words([&pair.old, &pair.new], &refs);
    let Some(&first_run) = words.runs.first() else { return Found::NothingRuns };
    let changed = Changed::new(&named, [&pair.old, &pair.new]);
    let mut random = Random::new(search.seed);
    let seeds: Vec<Trial> = search.seeds.iter().flat_map(|seed| runs_of(seed, &words)).collect();
    let mut corpus = Corpus::default();
    let mut tried = 0;
    while go_on(tried) {
        let trial = match seeds.get(tried) {
            Some(seed) => seed.clone(),
            None => next(&seeds, &corpus, &words, first_run, &mut random),
        };
        tried += 1;
        let (came, seen) = pair.explore(&trial, tried <= seeds.len(), &changed);
        let Some((old, new)) = came else { continue };
        if !old.agrees(&new) {
            return Found::Witness(Box::new(found(search, pair, &trial, tried)));
        }
        corpus.take(trial, &seen, &changed, old.failure.is_some(), &mut random);
    }
    Found::Nothing(tried)
}

/// The entries that a difference names; of pairs, their marks.
fn named(difference: &Difference, sessions: [&Session; 2]) -> Vec<(Kind, Sym)> {
    let weighty = difference.changes.iter().filter(|change| change.weight <= Weight::Level);
    let mark = |name| Ref::new(Kind::Attribute, Sym::new(name));
    let marks = difference.pairs.iter().flat_map(|pair| [mark(pair.first), mark(pair.second)]);
    let wanted: Vec<Ref> = weighty.map(|change| change.entry).chain(marks).collect();
    let mut changed: Vec<(Kind, Sym)> = Vec::new();
    for session in sessions {
        let uses = entry_uses(session.database(), session.rule_set());
        for (number, &entry) in uses.entries.iter().enumerate() {
            if wanted.contains(&uses.reference(number)) && !changed.contains(&entry) {
                changed.push(entry);
            }
        }
    }
    changed
}

/// A seed as it is, if what it runs comes to the change; and with what does.
fn runs_of(seed: &Trial, words: &Words) -> Vec<Trial> {
    let mut runs: Vec<Vec<Sym>> = words.runs.iter().map(|run| vec![*run]).collect();
    if seed.steps.iter().any(|step| words.runs.contains(step)) {
        runs.retain(|run| *run != seed.steps);
        runs.insert(0, seed.steps.clone());
    }
    runs.truncate(2);
    runs.into_iter().map(|steps| Trial { steps, ..seed.clone() }).collect()
}

/// A graph that nobody wrote.
fn next(seeds: &[Trial], corpus: &Corpus, words: &Words, run: Sym, random: &mut Random) -> Trial {
    let base = match random.below(20) {
        0..=12 => corpus.pick(random).or_else(|| random.pick(seeds)),
        13..=17 => random.pick(seeds),
        _ => None,
    };
    let base = base.cloned().unwrap_or_else(|| Trial {
        snapshot: mutate::generate(words, random),
        root: GraphId::ROOT,
        steps: vec![random.pick(&words.runs).copied().unwrap_or(run)],
        options: Default::default(),
    });
    mutate::mutate(&base, words, random)
}

/// Makes a witness small and writes it down.
fn found(search: &Search<'_>, mut pair: Pair<'_>, trial: &Trial, tried: usize) -> Witness {
    // What an expectation can tell best is not given up for what it cannot.
    let edits = pair.disagrees(trial, true);
    let small = shrink::shrink(trial, |trial| pair.disagrees(trial, edits));
    let mut witness = Witness {
        test: String::new(),
        decides: false,
        old: Vec::new(),
        new: Vec::new(),
        nodes: small.snapshot.node_count(),
        tried,
    };
    if let (Some((old, new)), Some(outcome)) = (pair.run(&small), run(&pair.new, &small)) {
        (witness.old, witness.new) = (old.beyond(&new), new.beyond(&old));
        let verdicts = tell::Verdicts { old: &old, new: &new, outcome: &outcome };
        let title = title(search.difference);
        (witness.test, witness.decides) =
            tell::test(&small, &verdicts, &title, (search.old, search.new), &pair.new);
    }
    witness
}

/// The first change in words.
fn title(difference: &Difference) -> String {
    let weighty = difference.changes.iter().find(|change| change.weight <= Weight::Level);
    match (weighty, difference.pairs.first()) {
        (Some(change), _) => format!("{}: {}", change.entry, change.what.replace('`', "'")),
        (None, Some(pair)) => format!("{} with {}", pair.first, pair.second),
        (None, None) => "no change".to_owned(),
    }
}
