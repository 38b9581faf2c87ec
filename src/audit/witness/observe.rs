//! What a rule set does with a graph, in words that two rule sets can be compared by.
//!
//! Promise: names of inserted nodes, the wording of reasons and the names of rules count for nothing; whatever else a run changes,
//! finds or fails at does.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::engine::outcome::{AnchorRef, EditEntryKind, Outcome};
use crate::engine::{Request, Session};
use crate::graph::{Anchor, GraphId, Snapshot, Sym};

/// A graph, and how it is run.
#[derive(Clone, Debug)]
pub struct Trial {
    pub snapshot: Snapshot,
    /// The graph that plays the root.
    pub root: GraphId,
    pub steps: Vec<Sym>,
    pub options: BTreeMap<String, String>,
}

/// What a run did: sorted, each line once for each time.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Observed {
    pub edits: Vec<String>,
    pub findings: Vec<String>,
    pub failure: Option<String>,
}

impl Observed {
    /// Everything, a line each.
    pub fn lines(&self) -> Vec<String> {
        let failure = self.failure.iter().map(|failure| format!("fails: {failure}"));
        self.findings.iter().chain(&self.edits).cloned().chain(failure).collect()
    }

    /// What this has and another has not.
    pub fn beyond(&self, other: &Observed) -> Vec<String> {
        let mut rest = other.lines();
        let mut own = self.lines();
        own.retain(|line| match rest.iter().position(|other| other == line) {
            Some(at) => {
                rest.remove(at);
                false
            }
            None => true,
        });
        // What an inserted node is given is no news beside the insertion.
        if own.iter().any(|line| !is_of_inserted(line)) {
            own.retain(|line| !is_of_inserted(line));
        }
        own
    }

    /// Whether two runs come to the same; of two that fail the words do not matter.
    pub fn agrees(&self, other: &Observed) -> bool {
        match (&self.failure, &other.failure) {
            (Some(_), Some(_)) => true,
            (None, None) => self.edits == other.edits && self.findings == other.findings,
            _ => false,
        }
    }
}

fn is_of_inserted(line: &str) -> bool {
    line.starts_with("sets +")
}

/// Runs a trial; none if it cannot be run at all.
pub fn run(session: &Session, trial: &Trial) -> Option<Outcome> {
    let bench = session.bench(trial.options.clone(), BTreeMap::new());
    let request = Request { graph: trial.root, node: None, steps: trial.steps.clone(), sort: false };
    bench.run(&trial.snapshot, &request).ok()
}

/// What an outcome comes to.
pub fn observe(outcome: &Outcome) -> Observed {
    let mut inserted: FxHashMap<&str, Sym> = FxHashMap::default();
    for edit in outcome.edits() {
        if let EditEntryKind::Insert { op, name, .. } = &edit.kind {
            inserted.insert(name, *op);
        }
    }
    let node = |name: &str| match inserted.get(name) {
        Some(op) => format!("+{op}"),
        None => name.to_owned(),
    };
    let anchors = |list: &[AnchorRef]| {
        list.iter().map(|a| format!("{}:{}", node(&a.node), a.index)).collect::<Vec<_>>().join(", ")
    };
    let mut observed = Observed::default();
    for edit in outcome.edits() {
        observed.edits.push(match &edit.kind {
            EditEntryKind::Insert { op, from, to, .. } => {
                format!("inserts {op} between {} and {}", anchors(from), anchors(to))
            }
            EditEntryKind::Delete { name, .. } => format!("deletes {}", node(name)),
            EditEntryKind::Control { from, to, added } => {
                let word = if *added { "adds" } else { "removes" };
                format!("{word} control {} => {}", node(from), node(to))
            }
            EditEntryKind::Set { node: of, what, value } => {
                format!(
                    "sets {}.{what} = {}",
                    node(of),
                    inserted.get(value.as_str()).map_or(value.as_str(), |_| "+")
                )
            }
        });
    }
    for finding in outcome.findings() {
        let places: BTreeSet<String> = finding
            .places
            .iter()
            .take(1)
            .map(|place| match place.anchor {
                Some(Anchor::In(input)) => format!("{}:in{}", node(&place.name), input.index),
                Some(Anchor::Out(output)) => format!("{}:out{}", node(&place.name), output.index),
                None => node(&place.name),
            })
            .collect();
        let places: Vec<String> = places.into_iter().collect();
        let level = format!("{:?}", finding.level).to_lowercase();
        observed.findings.push(format!("finds {level} {} at {}", finding.code, places.join(", ")));
    }
    observed.failure = outcome.failures().next().map(|failure| failure.message.clone());
    observed.edits.sort();
    observed.findings.sort();
    observed
}
