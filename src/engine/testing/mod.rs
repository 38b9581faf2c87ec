//! Running `test` entries.
//!
//! Promise: a test sees its own options and no environment, whatever the session was told, and leaves nothing behind
//! that another test or the user's next run could see. A test that fails says at its expectation what was seen instead.
//!
//! The road: [`Session::run_tests`] picks the tests, `run` runs one, [`expect`] judges it line by line by what
//! [`seen`] holds. [`case`](mod@case) compares whole graphs, [`coverage`] tells what all of this reached.

mod case;
mod coverage;
mod expect;
mod ready;
mod seen;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use case::{Case, CaseEnd};
pub use coverage::CoverageRow;
pub(super) use coverage::count_pairs;
pub use ready::ReadyTest;

use self::expect::Judge;
use self::seen::Seen;
use super::session::{self, Request, RuleDiagnostic, RunError, Session};
use crate::db::{self, Db};
use crate::format::FormatError;
use crate::format::notation::parse_block;
use crate::graph::{Builder, GraphId, Snapshot, State, Sym};
use crate::lang::diagnostic::{Diagnostic, Label, Level, Place, did_you_mean};
use crate::lang::syntax::ast::{Expr, ExprKind, ItemData, Kind, Raw, Span, Test};

/// One `test` that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct TestOutcome {
    pub name: Sym,
    pub path: String,
    /// Of the keyword, counted from 1.
    pub line: u32,
    /// Empty: it passed.
    pub failures: Vec<RuleDiagnostic>,
}

/// The graph of a test, and how the test runs it.
#[derive(Clone, Debug)]
pub struct TestGraph {
    pub name: Sym,
    pub before: Snapshot,
    pub root: GraphId,
    pub steps: Vec<Sym>,
    pub options: BTreeMap<String, String>,
}

/// A test with its place.
struct Bench<'s> {
    session: &'s Session,
    name: Sym,
    /// Where its title stands.
    title: Span,
    path: &'s str,
    /// Where the item starts in its file.
    start: usize,
    test: &'s Test,
    item: &'s db::Item,
}

impl Session {
    /// Runs the tests of the files that `wanted` accepts, in the order of files and lines.
    pub fn run_tests(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<TestOutcome> {
        self.run_tests_named(wanted, &|_| true)
    }

    /// [`Session::run_tests`], and of those only the ones whose title `titled` accepts.
    pub fn run_tests_named(
        &self,
        wanted: &dyn Fn(&str) -> bool,
        titled: &dyn Fn(Sym) -> bool,
    ) -> Vec<TestOutcome> {
        let mut outcomes = Vec::new();
        self.each_test(wanted, |bench, line| {
            if !titled(bench.name) {
                return;
            }
            let failures = bench.run().err().unwrap_or_default();
            outcomes.push(TestOutcome { name: bench.name, path: bench.path.to_owned(), line, failures });
        });
        outcomes
    }

    /// The graphs of all tests that can be read, in the order of files and lines.
    pub fn test_graphs(&self) -> Vec<TestGraph> {
        let mut graphs = Vec::new();
        self.each_test(&|_| true, |bench, _| {
            let Some(Ok(before)) = bench.test.graph.as_ref().map(|raw| bench.graph(raw)) else { return };
            if let (Ok(root), Ok(options)) = (bench.root(&before), bench.options()) {
                let steps = bench.test.passes.iter().map(|pass| pass.text).collect();
                graphs.push(TestGraph { name: bench.name, before, root, steps, options });
            }
        });
        graphs
    }

    fn each_test(&self, wanted: &dyn Fn(&str) -> bool, mut with: impl FnMut(&Bench<'_>, u32)) {
        for &(kind, name, key) in &db::live(&self.db, self.rules).items {
            let Some(&file) = self.rules.files(&self.db).get(key.file as usize) else { continue };
            let path = file.path(&self.db);
            if kind != Kind::Test || !wanted(path) {
                continue;
            }
            let item = db::find(&self.db, self.rules, key).and_then(|id| db::item(&self.db, id));
            let source = db::parsed(&self.db, file).items.get(key.index as usize).map(|item| &item.source);
            let (Some(item), Some(source)) = (item, source) else { continue };
            let ItemData::Test(test) = &item.0.data else { continue };
            let (title, start) = (item.0.name.span, source.start as usize);
            let bench = Bench { session: self, name, title, path, start, test, item: &item };
            with(&bench, session::line(file.text(&self.db), session::keyword(source)));
        }
    }
}

impl Bench<'_> {
    fn run(&self) -> Result<(), Vec<RuleDiagnostic>> {
        self.run_on(&self.before()?)
    }

    /// The graph that the test describes; none is an empty one.
    fn before(&self) -> Result<Snapshot, Vec<RuleDiagnostic>> {
        match &self.test.graph {
            Some(raw) => self.graph(raw),
            None => Ok(Builder::default().finish()),
        }
    }

    fn run_on(&self, before: &Snapshot) -> Result<(), Vec<RuleDiagnostic>> {
        let root = self.root(before)?;
        let session = self.session.bench(self.options()?, BTreeMap::new());
        let steps = self.test.passes.iter().map(|pass| pass.text).collect();
        let request = Request { graph: root, node: None, steps, sort: false };
        let seen = Seen::new(&session, before, &request).map_err(|error| vec![self.cannot_run(&error)])?;
        // Measures are told at the end of a run, so a test reaches them too.
        if session.db.tally().is_some() {
            session.measures(before, &seen.outcome.after);
        }
        let again = match self.test.twice {
            true => {
                let again = Seen::new(&session, &seen.outcome.after, &request);
                Some(again.map_err(|error| vec![self.cannot_run(&error)])?)
            }
            false => None,
        };
        let failures =
            Judge { bench: self, session: &session, root, seen: &seen, again: again.as_ref() }.failures();
        if failures.is_empty() { Ok(()) } else { Err(failures) }
    }

    /// The graph that a text of the test describes.
    fn graph(&self, raw: &Raw) -> Result<Snapshot, Vec<RuleDiagnostic>> {
        let at = self.start + raw.span.start as usize;
        let (snapshot, errors) = parse_block(&raw.text, at);
        if !errors.is_empty() {
            return Err(errors.into_iter().map(|error| self.notation(error, raw)).collect());
        }
        snapshot.ok_or_else(|| vec![self.complaint("test::graph", raw.span, "no graph could be read")])
    }

    /// A complaint of the notation, in the rule file.
    fn notation(&self, error: FormatError, raw: &Raw) -> RuleDiagnostic {
        let span = error.span.unwrap_or_else(|| self.absolute(raw.span));
        let label = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let place = Place::File(Span { start: label(span.start), end: label(span.end) });
        RuleDiagnostic {
            diagnostic: Diagnostic {
                code: error.code,
                level: Level::Error,
                message: error.message,
                labels: vec![Label { place, other: None, text: String::new() }],
                help: error.help,
            },
            places: vec![(self.path.to_owned(), span)],
        }
    }

    /// The graph that plays the root.
    fn root(&self, before: &Snapshot) -> Result<GraphId, Vec<RuleDiagnostic>> {
        let Some(on) = self.test.on else { return Ok(GraphId::ROOT) };
        graph_named(before, on.text.as_str()).ok_or_else(|| {
            let error = Diagnostic::error(
                "test::unknown-graph",
                on.span,
                format!("no graph is called `{}`", on.text),
            );
            let names = before.registry().map(|graph| &*before.graph(graph).name);
            let error = match did_you_mean(on.text.as_str(), names) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            };
            vec![self.place(error)]
        })
    }

    /// The options of the test as text.
    fn options(&self) -> Result<BTreeMap<String, String>, Vec<RuleDiagnostic>> {
        let mut given = BTreeMap::new();
        for (name, value) in &self.test.options {
            let text = option_text(value).ok_or_else(|| {
                vec![self.complaint("test::option", value.span, "an option of a test is a plain value")]
            })?;
            given.insert(name.text.as_str().to_owned(), text);
        }
        Ok(given)
    }

    fn cannot_run(&self, error: &RunError) -> RuleDiagnostic {
        self.complaint("test::cannot-run", self.title, error.to_string())
    }

    fn complaint(&self, code: &'static str, span: Span, message: impl Into<String>) -> RuleDiagnostic {
        self.place(Diagnostic::error(code, span, message))
    }

    /// A diagnostic whose labels are all in the test.
    fn place(&self, diagnostic: Diagnostic) -> RuleDiagnostic {
        let places = diagnostic.labels.iter().map(|label| match label.place {
            Place::Item(span) => (self.path.to_owned(), self.absolute(span)),
            Place::File(span) => (self.path.to_owned(), span.start as usize..span.end as usize),
        });
        RuleDiagnostic { places: places.collect(), diagnostic }
    }

    fn absolute(&self, span: Span) -> std::ops::Range<usize> {
        self.start + span.start as usize..self.start + span.end as usize
    }
}

/// A graph by name.
fn graph_named(state: &State, name: &str) -> Option<GraphId> {
    std::iter::once(GraphId::ROOT).chain(state.registry()).find(|&graph| &*state.graph(graph).name == name)
}

/// The value of an option as one would give it from outside.
fn option_text(value: &Expr) -> Option<String> {
    Some(match &*value.kind {
        ExprKind::Name(name) => name.as_str().to_owned(),
        ExprKind::Str(text) => text.clone(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Negate(inner) => format!("-{}", option_text(inner)?),
        ExprKind::List(items) => items.iter().map(option_text).collect::<Option<Vec<_>>>()?.join(","),
        _ => return None,
    })
}

/// Names in backticks, or `nothing`.
fn listed(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    if items.is_empty() { "nothing".to_owned() } else { items.join(", ") }
}

/// The name of a node.
fn name_of(state: &State, node: crate::graph::NodeId) -> Arc<str> {
    state.get_node(node).map_or_else(|| "".into(), |node| node.name.clone())
}
