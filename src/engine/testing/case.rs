//! Cases: a graph before a run, and what is to come of it (`tests/cases/README.md`).

use std::collections::BTreeMap;

use super::graph_named;
use crate::db;
use crate::engine::{Request, Session};
use crate::format::BOOKKEEPING;
use crate::graph::{Compared, GraphId, Snapshot, Sym, equal_up_to_inserted, label};
use crate::lang::syntax::ast::Kind;

/// A graph, how to run on it, and what is expected.
#[derive(Clone, Debug)]
pub struct Case {
    pub steps: Vec<Sym>,
    pub options: BTreeMap<String, String>,
    pub environment: BTreeMap<String, String>,
    /// The subgraph that plays the root.
    pub graph: Option<String>,
    /// The node that passes over nodes are run on, alone.
    pub node: Option<String>,
    pub sort: bool,
    pub before: Snapshot,
    pub end: CaseEnd,
}

/// How a case ends.
#[derive(Clone, Debug)]
pub enum CaseEnd {
    /// With this graph, up to what inserted nodes are called.
    Graph(Snapshot),
    /// With a pass that fails, or a lint that finds something.
    Failure,
    /// No pass is run; this is the symbol table, a line for each symbol.
    Symbols(String),
}

impl Session {
    /// Runs a case under its own options. Options that no rule declares do not matter.
    ///
    /// # Errors
    /// What differs, a sentence each.
    pub fn run_case(&self, case: &Case) -> Result<(), Vec<String>> {
        let root = match &case.graph {
            Some(name) => {
                graph_named(&case.before, name).ok_or_else(|| vec![format!("no graph is called `{name}`")])?
            }
            None => GraphId::ROOT,
        };
        let session = self.bench(case.options.clone(), case.environment.clone());
        if let CaseEnd::Symbols(table) = &case.end {
            return session.compare_symbols(case, root, table);
        }
        let node = match &case.node {
            Some(name) => {
                let found =
                    case.before.all_nodes(root).into_iter().find(|n| *case.before.node(*n).name == **name);
                Some(found.ok_or_else(|| vec![format!("no node is called `{name}`")])?)
            }
            None => None,
        };
        let request = Request { graph: root, node, steps: case.steps.clone(), sort: case.sort };
        let outcome = session.run(&case.before, &request).map_err(|error| vec![error.to_string()])?;
        let failure = outcome.failures().next();
        match (&case.end, failure) {
            (CaseEnd::Graph(_), Some(failure)) => {
                Err(vec![format!("`{}` failed: {}", failure.pass, failure.message)])
            }
            (CaseEnd::Graph(expected), None) => {
                equal_up_to_inserted(&case.before, expected, &outcome.after, &Compared::all_but(BOOKKEEPING))
            }
            (_, None) if outcome.findings().any(|finding| finding.rule.kind == Kind::Lint) => Ok(()),
            (_, None) => Err(vec!["a pass should have failed".to_owned()]),
            (_, Some(_)) => Ok(()),
        }
    }

    fn compare_symbols(&self, case: &Case, root: GraphId, expected: &str) -> Result<(), Vec<String>> {
        let mut snapshot = case.before.clone();
        if case.sort {
            let steps = db::live(&self.db, self.rules).names(Kind::Order).take(1).collect();
            let request = Request { graph: root, node: None, steps, sort: false };
            snapshot = self.run(&snapshot, &request).map_err(|error| vec![error.to_string()])?.after;
        }
        let table = self.symbols(&snapshot, root).map_err(|failure| vec![failure.message])?;
        let mut actual = table.groups().iter().map(|group| {
            let anchors: Vec<String> = group.members.iter().map(|anchor| label(&snapshot, *anchor)).collect();
            format!("{}: {}", label(&snapshot, group.founder), anchors.join(" "))
        });
        // The first line that differs: what follows is often just moved.
        for (line, expected) in (1..).zip(expected.lines()) {
            match actual.next() {
                Some(actual) if actual == expected => {}
                Some(actual) => {
                    return Err(vec![format!("line {line} should be `{expected}`, it is `{actual}`")]);
                }
                None => return Err(vec![format!("line {line} `{expected}` is missing")]),
            }
        }
        match actual.next() {
            Some(extra) => Err(vec![format!("there is one more line: `{extra}`")]),
            None => Ok(()),
        }
    }
}
