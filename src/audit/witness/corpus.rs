//! Graphs that are worth being changed again.
//!
//! Promise: a graph is kept if it went where no graph had been, in the entries that a change can be seen from or that it looks at.
//! Which ones are kept is a function of the graphs tried and a [`Random`].

use rustc_hash::FxHashSet;

use super::observe::Trial;
use super::random::Random;
use crate::audit::uses::{Uses, entry_uses};
use crate::engine::Session;
use crate::graph::Sym;
use crate::lang::eval::Reached;
use crate::lang::syntax::ast::Kind;

/// Graphs that are kept.
const MOST_KEPT: usize = 256;
/// The newest of them are picked more often.
const NEWEST: usize = 12;

/// The entries that a change is about.
pub struct Changed {
    /// Those that are changed; for what is not evaluated itself (sets, options...) those that mention it.
    entries: FxHashSet<(Kind, Sym)>,
    /// All that come to them or that they come to.
    around: FxHashSet<(Kind, Sym)>,
    /// A run that comes to none of `entries` is the same under both rule sets.
    pub tells: bool,
}

/// Whether evaluation counts an entry of this kind each time it begins with it.
fn is_counted(kind: Kind) -> bool {
    matches!(kind, Kind::Fn | Kind::Walk | Kind::Matrix | Kind::Action | Kind::Steps | Kind::Chain)
}

/// Whether evaluation counts an entry of this kind at all.
fn is_evaluated(kind: Kind) -> bool {
    is_counted(kind)
        || matches!(
            kind,
            Kind::Symbols
                | Kind::Attribute
                | Kind::Never
                | Kind::Always
                | Kind::DefaultAlways
                | Kind::Skip
                | Kind::Checker
                | Kind::Pass
                | Kind::Lint
                | Kind::Order
                | Kind::Pipeline
        )
}

impl Changed {
    pub fn new(named: &[(Kind, Sym)], sessions: [&Session; 2]) -> Changed {
        let mut changed = Changed {
            entries: FxHashSet::default(),
            around: FxHashSet::default(),
            tells: named.iter().all(|(kind, _)| is_counted(*kind)),
        };
        for session in sessions {
            let uses: &Uses = entry_uses(session.database(), session.rule_set());
            let own: Vec<usize> = named.iter().filter_map(|&(kind, name)| uses.number(kind, name)).collect();
            changed.tells &= own.len() == named.len();
            let mut evaluated: Vec<usize> = Vec::new();
            let mut open = own.clone();
            let mut seen = FxHashSet::default();
            while let Some(number) = open.pop() {
                if !seen.insert(number) {
                    continue;
                }
                if is_evaluated(uses.entries[number].0) {
                    evaluated.push(number);
                } else {
                    open.extend((0..uses.entries.len()).filter(|&user| uses.direct(user).contains(&number)));
                }
            }
            let below = uses.reached(evaluated.iter().copied());
            let is_above = |&number: &usize| {
                let reached = uses.reached([number]);
                evaluated.iter().any(|&entry| reached.contains(entry))
            };
            let above = (0..uses.entries.len()).filter(is_above);
            changed.around.extend(below.ones().chain(above).map(|number| uses.entries[number]));
            changed.entries.extend(evaluated.iter().map(|&number| uses.entries[number]));
        }
        changed
    }

    /// Whether a place is in a changed entry.
    pub fn holds(&self, spot: &Reached) -> bool {
        self.entries.contains(&(spot.kind, spot.name))
    }
}

/// The graphs that are kept.
#[derive(Default)]
pub struct Corpus {
    kept: Vec<Trial>,
    /// Where graphs have been.
    seen: FxHashSet<Reached>,
    /// Graphs that came to changed entries, some of those that went nowhere new.
    warm: Vec<Trial>,
}

impl Corpus {
    /// Takes a graph in, if it is worth it. One on which a run fails is not, but what it saw is known then.
    pub fn take(
        &mut self,
        trial: Trial,
        seen: &[Reached],
        changed: &Changed,
        fails: bool,
        random: &mut Random,
    ) {
        let mut is_new = false;
        for spot in seen.iter().filter(|spot| changed.around.contains(&(spot.kind, spot.name))) {
            is_new |= self.seen.insert(*spot);
        }
        if fails {
            return;
        }
        let list = match is_new {
            true => &mut self.kept,
            false if seen.iter().any(|spot| changed.holds(spot)) => &mut self.warm,
            false => return,
        };
        if list.len() >= MOST_KEPT {
            list.remove(random.below(list.len()));
        }
        list.push(trial);
    }

    /// One of the graphs, the newest more often.
    pub fn pick(&self, random: &mut Random) -> Option<&Trial> {
        let newest = &self.kept[self.kept.len().saturating_sub(NEWEST)..];
        match random.below(8) {
            0..=3 => random.pick(newest),
            4..=5 => random.pick(&self.kept),
            _ => random.pick(&self.warm).or_else(|| random.pick(newest)),
        }
    }
}
