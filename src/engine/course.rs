//! Which step of a run comes next, and on what.
//!
//! Promise: steps run one after the other, each on what the one before has left. Of a large graph a second hand runs ahead, past lints
//! too, since they leave a graph as it is; what is told, and in which order, does not depend on it.

use rustc_hash::FxHashMap;

use super::queries::At;
use super::run::{PassRun, run_pass};
use super::session::{Request, Session, Step};
use crate::db::Db;
use crate::graph::{Snapshot, Sym};
use crate::lang::syntax::ast::Kind;

/// A run under way.
pub(super) struct Course<'s, 'r> {
    session: &'s Session,
    request: &'r Request,
    steps: &'r [Step],
    /// Of the step that comes next.
    number: usize,
    at: At<'s>,
    counters: Vec<(Sym, i64)>,
    /// How often each was run.
    turns: FxHashMap<(Kind, Sym), usize>,
}

impl<'s, 'r> Course<'s, 'r> {
    pub fn new(
        session: &'s Session,
        snapshot: &Snapshot,
        (request, steps): (&'r Request, &'r [Step]),
    ) -> Course<'s, 'r> {
        let at = At::new(&session.db, snapshot.clone());
        let (counters, turns) = (Vec::new(), FxHashMap::default());
        Course { session, request, steps, number: 0, at, counters, turns }
    }

    /// Runs the next step; `None`: there is none.
    pub fn next(&mut self) -> Option<(Step, PassRun<'s>)> {
        let (db, rules) = (&self.session.db, self.session.rules);
        let &step = self.steps.get(self.number)?;
        let Request { graph, node, .. } = *self.request;
        let run =
            PassRun::new(db, self.at, step.kind, step.name, graph, node, std::mem::take(&mut self.counters));
        let result = run_pass(db, rules, run);
        self.number += 1;
        self.counters = result.counters.clone();
        if result.after != *self.at.snapshot(db) {
            let turn = self.turns.entry((step.kind, step.name)).or_insert(0);
            *turn += 1;
            // Who counts what is reached wants nothing to be remembered of other runs.
            let is_counting = db.tally().is_some();
            let after = match is_counting {
                true => result.after.clone(),
                false => self.session.settled(step, *turn, &result.after),
            };
            self.at = At::new(db, after);
        }
        if result.failure.is_some() {
            self.number = step.resume.unwrap_or(self.steps.len());
        }
        Some((step, run))
    }

    /// Runs all steps but lints, so that they are known.
    pub fn run_ahead(&mut self) {
        while let Some(step) = self.steps.get(self.number) {
            match step.kind {
                Kind::Lint => self.number += 1,
                _ => drop(self.next()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::WORTH_A_THREAD;
    use crate::engine::RuleSources;
    use crate::format::notation;
    use crate::graph::GraphId;

    const RULES: &str = r#"
attr rank: int on node
lint low W1 warn for n: Node where n.attr(rank) == 0 or n.attr(rank) == 1 { report n "{n.name} has rank {n.attr(rank)}" }
lint strict W2 warn for n: Node where n.attr(rank) == LIMIT { fail "{n.name} is too high" }
pass grows for n: Node { set n.attr(rank) = (n.attr(rank) ?? 0) + 1 }
pipeline all as default = low, grows, low, strict, grows, low
"#;

    /// As many nodes of each of four ranks.
    const EACH: usize = WORTH_A_THREAD / 4 + 1;

    /// Names of the steps with the number of their findings and edits, and the rank of the first node in the end.
    fn told(limit: usize) -> (Vec<(&'static str, usize, usize)>, String) {
        let rules = RULES.replace("LIMIT", &limit.to_string());
        let session = Session::new(RuleSources { files: vec![("a.anchor".to_owned(), rules, false)] });
        assert_eq!(session.diagnostics(), []);
        let node = |n: usize| format!("n{n}: Op {{ rank = {} }}\n", n % 4);
        let text: String = (0..4 * EACH).map(node).collect();
        let graph = notation::parse(&text).0.expect("a graph");
        let request = Request { graph: GraphId::ROOT, node: None, steps: Vec::new(), sort: false };
        let outcome = session.run(&graph, &request).expect("sound rules");
        let steps = outcome.steps.iter();
        let steps = steps.map(|step| (step.pass.as_str(), step.findings.len(), step.edits.len()));
        let first = notation::print(&outcome.after).lines().next().unwrap_or_default().to_owned();
        (steps.collect(), first)
    }

    #[test]
    fn of_a_large_graph_each_step_says_what_it_says_alone() {
        let all = 4 * EACH;
        let steps = [("low", 2 * EACH, 0), ("grows", 0, all), ("low", EACH, 0), ("strict", 0, 0)];
        let rest = [("grows", 0, all), ("low", 0, 0)];
        assert_eq!(told(9), ([&steps[..], &rest].concat(), "n0: Op { rank = 2 }".to_owned()));
    }

    #[test]
    fn of_a_large_graph_nothing_is_told_behind_a_lint_that_fails() {
        let steps = vec![("low", 2 * EACH, 0), ("grows", 0, 4 * EACH), ("low", EACH, 0), ("strict", 0, 0)];
        assert_eq!(told(4), (steps, "n0: Op { rank = 1 }".to_owned()));
    }
}
