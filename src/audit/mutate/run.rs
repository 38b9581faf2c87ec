//! Running tests on mutants.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::super::uses::entry_uses;
use super::Mutant;
use crate::db::{self, EntryName};
use crate::engine::{self, Case, ReadyTest, RuleSources, Session};
use crate::graph::Sym;
use crate::lang::Level;
use crate::lang::hir::{CheckerForm, Entry};
use crate::lang::syntax::ast::Kind;

/// What is to notice mutants.
#[derive(Clone, Default)]
pub struct Tests {
    pub rules: RuleSources,
    /// Files whose `test` entries run; `None`: all.
    pub files: Option<Vec<String>>,
    /// Cases, each with its name.
    pub cases: Vec<(String, Case)>,
}

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// By this test.
    Killed(Arc<str>),
    /// So many tests reach it, and none fails.
    Survived(usize),
    /// The rules no longer check.
    Rejected,
    /// What is evaluated stays the same.
    Equivalent,
}

/// Runs of tests before a bench begins anew: what its database remembers of graphs is never forgotten otherwise.
const RUNS_OF_A_SESSION: usize = 2000;

/// A rule set with tests that are ready to run.
pub struct Bench {
    session: Session,
    trials: Vec<(Arc<str>, Trial)>,
    runs: usize,
}

enum Trial {
    Test(Box<ReadyTest>),
    Case(Box<Case>),
}

impl Trial {
    fn passes(&self, session: &Session) -> bool {
        match self {
            Trial::Test(test) => session.passes(test),
            Trial::Case(case) => session.run_case(case).is_ok(),
        }
    }
}

/// Which test reaches what, cheapest test first.
pub struct Reach {
    /// Numbers of the tests, with the entries that each reaches.
    order: Vec<(usize, FxHashSet<(Kind, Sym)>)>,
    /// Tests that fail without any mutant.
    pub failing: Vec<Arc<str>>,
}

impl Bench {
    pub fn new(tests: &Tests) -> Bench {
        let session = Session::new(tests.rules.clone());
        let wanted =
            |path: &str| tests.files.as_ref().is_none_or(|files| files.iter().any(|file| file == path));
        let ready = session.ready_tests(&wanted).into_iter();
        let named = |test: ReadyTest| (test.label().into(), Trial::Test(Box::new(test)));
        let mut trials: Vec<(Arc<str>, Trial)> = ready.map(named).collect();
        let cases = tests.cases.iter();
        trials.extend(cases.map(|(name, case)| (name.as_str().into(), Trial::Case(Box::new(case.clone())))));
        Bench { session, trials, runs: 0 }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// How many tests and cases there are.
    pub fn count(&self) -> usize {
        self.trials.len()
    }

    /// Runs all tests once, and finds out what each reaches; the bench counts from then on.
    pub fn reach(mut self) -> Reach {
        let mut failing = Vec::new();
        let mut order = Vec::new();
        for (number, (name, trial)) in self.trials.iter().enumerate() {
            let mut passes = true;
            let (touched, work) = self.session.touched(|session| passes = trial.passes(session));
            if !passes {
                failing.push(name.clone());
            }
            order.push((work, number, touched));
        }
        // Work is counted, not timed: the order is the same on every machine.
        order.sort_by_key(|(work, number, _)| (*work, *number));
        Reach { order: order.into_iter().map(|(_, number, touched)| (number, touched)).collect(), failing }
    }

    /// Makes the change, runs the tests that reach it until one fails, and takes the change back.
    pub fn fate(&mut self, mutant: &Mutant, reach: &Reach) -> Fate {
        self.fate_among(mutant, &self.concerned(mutant, reach))
    }

    /// [`Bench::fate`] with all tests, whatever they reach.
    pub fn fate_of_all(&mut self, mutant: &Mutant, reach: &Reach) -> Fate {
        let all: Vec<usize> = reach.order.iter().map(|(number, _)| *number).collect();
        self.fate_among(mutant, &all)
    }

    fn fate_among(&mut self, mutant: &Mutant, tests: &[usize]) -> Fate {
        let Some(text) = self.session.file_text(&mutant.path) else { return Fate::Rejected };
        let before = self.meaning(mutant);
        self.session.set_text(&mutant.path, &mutant.apply(&text));
        let fate = self.judge(mutant, before, tests);
        self.session.set_text(&mutant.path, &text);
        fate
    }

    fn judge(&mut self, mutant: &Mutant, before: Meaning, tests: &[usize]) -> Fate {
        let (db, rules) = (self.session.database(), self.session.rule_set());
        if db::complaints(db, rules).iter().any(|found| found.diagnostic.level == Level::Error) {
            return Fate::Rejected;
        }
        if self.meaning(mutant) == before {
            return Fate::Equivalent;
        }
        for (name, trial) in tests.iter().filter_map(|&number| self.trials.get(number)) {
            self.runs += 1;
            if !trial.passes(&self.session) {
                return Fate::Killed(name.clone());
            }
        }
        Fate::Survived(tests.len())
    }

    /// What evaluation sees of the entry that a mutant changes.
    fn meaning(&self, mutant: &Mutant) -> Meaning {
        let (db, rules) = (self.session.database(), self.session.rule_set());
        let (kind, name) = mutant.key;
        let pairs = || engine::pair_table(db, rules).clone();
        match kind {
            // Pairs that nothing else rules are without conflict anyway.
            Kind::Never => Meaning { entry: None, pairs: Some(pairs().rules.clone()) },
            _ => Meaning {
                entry: db::entry(db, rules, EntryName::new(db, kind, name)).map(decided),
                pairs: matches!(kind, Kind::Always | Kind::Checker).then(|| pairs().rules.clone()),
            },
        }
    }

    /// The tests that reach what a mutant changes, cheapest first.
    fn concerned(&self, mutant: &Mutant, reach: &Reach) -> Vec<usize> {
        let entries = self.counted(mutant.key);
        let reaches = |touched: &FxHashSet<(Kind, Sym)>| entries.iter().any(|entry| touched.contains(entry));
        let order = reach.order.iter();
        order.filter(|(_, touched)| reaches(touched)).map(|(number, _)| *number).collect()
    }

    /// The entry itself if it is one that is counted, else the counted entries that mention it.
    fn counted(&self, of: (Kind, Sym)) -> Vec<(Kind, Sym)> {
        let uses = entry_uses(self.session.database(), self.session.rule_set());
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut open = vec![of];
        while let Some(entry) = open.pop() {
            if !seen.insert(entry) {
                continue;
            }
            let silent = matches!(
                entry.0,
                Kind::Set | Kind::Table | Kind::Attr | Kind::Note | Kind::Option | Kind::Enum
            );
            if !silent {
                found.push(entry);
                continue;
            }
            let Some(number) = uses.number(entry.0, entry.1) else { continue };
            let users = uses.entries.iter().enumerate();
            open.extend(
                users.filter(|(user, _)| uses.direct(*user).contains(&number)).map(|(_, user)| *user),
            );
        }
        found
    }
}

/// What evaluation sees of an entry, and of the rules of pairs.
#[derive(PartialEq)]
struct Meaning {
    entry: Option<Arc<Entry>>,
    pairs: Option<Vec<engine::RulePairs>>,
}

/// The entry without what nothing but its texts depends on: which anchor a role is that only they name.
fn decided(entry: Arc<Entry>) -> Arc<Entry> {
    let Entry::Checker(checker) = &*entry else { return entry };
    if checker.asks_roles() {
        return entry;
    }
    let mut checker = checker.clone();
    if let CheckerForm::Pair { last, .. } = &mut checker.form {
        *last = false;
    }
    Arc::new(Entry::Checker(checker))
}

/// A mutant with what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    pub mutant: Mutant,
    pub fate: Fate,
}

/// What becomes of mutants, in their order; each of `jobs` threads has a database of its own. `told` is called as often as
/// one is done.
pub fn measure(
    tests: &Tests,
    reach: &Reach,
    mutants: Vec<Mutant>,
    jobs: usize,
    told: &(dyn Fn() + Sync),
) -> Vec<Tried> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut bench = Bench::new(tests);
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(mutant) = mutants.get(number) else { return done };
            if bench.runs > RUNS_OF_A_SESSION {
                bench = Bench::new(tests);
            }
            done.push((number, bench.fate(mutant, reach)));
            told();
        }
    };
    let mut fates: Vec<(usize, Fate)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for thread in threads {
            all.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    fates.sort_by_key(|(number, _)| *number);
    let fates = fates.into_iter().map(|(_, fate)| fate);
    mutants.into_iter().zip(fates).map(|(mutant, fate)| Tried { mutant, fate }).collect()
}
