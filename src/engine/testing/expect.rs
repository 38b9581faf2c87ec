//! Expectations: each holds, or says what was seen instead.

use std::sync::Arc;

use super::super::outcome::EditEntryKind;
use super::super::run;
use super::seen::Seen;
use super::{Bench, listed, name_of};
use crate::db::{self, EntryName};
use crate::engine::outcome::{EditEntry, PassFailure};
use crate::engine::{Amount, RuleDiagnostic, Session};
use crate::format::BOOKKEEPING;
use crate::graph::{Compared, GraphId, NodeId, Snapshot, Sym, equal_up_to_inserted};
use crate::lang::diagnostic::{Diagnostic, did_you_mean};
use crate::lang::hir::Entry;
use crate::lang::syntax::ast::{
    AnchorName, Expect, ExpectKind, ExpectedAmount, Kind, Name, Position, Raw, Span,
};

/// Edits told in a message before the rest is counted.
const EDITS_SHOWN: usize = 5;

/// Compares a test's expectations with what was seen.
pub struct Judge<'a> {
    pub bench: &'a Bench<'a>,
    /// The session with the test's options.
    pub session: &'a Session,
    pub root: GraphId,
    pub seen: &'a Seen,
    /// The second run of a test that runs twice.
    pub again: Option<&'a Seen>,
}

/// What one `expect insert` asks for.
struct Insertion<'a> {
    span: Span,
    position: Position,
    anchors: &'a [AnchorName],
    by: Option<Name>,
    named: Option<&'a str>,
}

impl Judge<'_> {
    /// Every expectation that does not hold.
    pub fn failures(&self) -> Vec<RuleDiagnostic> {
        let mut failures = self.run_failure();
        if !failures.is_empty() {
            // What a broken run did not do is no news.
            return failures;
        }
        failures.extend(self.insertions());
        let mut conditions = 0;
        for expect in &self.bench.test.expects {
            let found = match &expect.kind {
                ExpectKind::Insert { .. } | ExpectKind::Error(_) => None,
                ExpectKind::Nothing => self.nothing(expect.span),
                ExpectKind::Edge { present, from, to } => self.edge(expect.span, *present, from, to),
                ExpectKind::Control { present, from, to } => self.control(expect.span, *present, from, to),
                ExpectKind::Warn { present, code, part } => {
                    self.warning(expect.span, *present, *code, part.as_deref().unwrap_or_default())
                }
                ExpectKind::Kept { node, step } => self.kept(expect.span, node, *step),
                ExpectKind::Done { node } => self.done(expect.span, node),
                ExpectKind::Measure { name, before, after } => {
                    self.measure(expect.span, *name, *before, *after)
                }
                ExpectKind::Graph(raw) => {
                    failures.extend(self.graph(expect.span, raw));
                    None
                }
                ExpectKind::That(_) => {
                    conditions += 1;
                    self.that(expect.span, conditions - 1)
                }
            };
            failures.extend(found.map(|diagnostic| self.bench.place(diagnostic)));
        }
        failures.extend(self.twice());
        failures
    }

    fn after(&self) -> &Snapshot {
        &self.seen.outcome.after
    }

    /// Failures that were not expected, and wrong or missing ones. What the pipeline tolerates is a warning, so `expect warn` is
    /// for it; what ends the run is an error.
    fn run_failure(&self) -> Vec<RuleDiagnostic> {
        let steps = self.seen.outcome.steps.iter();
        let failures = steps.filter_map(|step| Some((step.failure.as_ref()?, step.tolerated)));
        let (tolerated, ended): (Vec<_>, Vec<_>) = failures.partition(|(_, tolerated)| *tolerated);
        let mut wrong = Vec::new();
        let mut expected = false;
        for Expect { span, kind } in &self.bench.test.expects {
            let ExpectKind::Error(part) = kind else { continue };
            expected = true;
            let seen =
                |failure: &PassFailure| format!("`{}` failed with `{}`", failure.pass, failure.message);
            let error = Diagnostic::error("test::error", *span, "the expected failure did not come");
            wrong.push(match (ended.first(), tolerated.first()) {
                (Some((failure, _)), _) if failure.message.contains(part.as_str()) => continue,
                (Some((failure, _)), _) => error.label(seen(failure)),
                (None, Some((failure, _))) => {
                    error.label(format!("{}, and the pipeline went on", seen(failure))).help(format!(
                        "what a pipeline tolerates is a warning: `expect warn {} \"…\"`",
                        failure.pass
                    ))
                }
                (None, None) => error.label("no pass failed"),
            });
        }
        let unexpected = ended.iter().filter(|_| !expected);
        // A wrong kind of expectation is told above.
        let is_news = |failure: &PassFailure| {
            wrong.is_empty() && self.bench.test.expects.iter().all(|expect| !expects_failure(expect, failure))
        };
        let unexpected = unexpected.chain(tolerated.iter().filter(|(failure, _)| is_news(failure)));
        let unexpected: Vec<Diagnostic> = unexpected
            .map(|(failure, tolerated)| {
                let message = format!("`{}` failed: {}", failure.pass, failure.message);
                let places = listed(failure.places.iter().map(|place| format!("`{}`", place.name)));
                let places = (!failure.places.is_empty()).then(|| format!("it is about {places}"));
                let warn = tolerated
                    .then(|| format!("the pipeline tolerates it: `expect warn {} \"…\"`", failure.pass));
                let help: Vec<String> = places.into_iter().chain(warn).collect();
                let error = Diagnostic::error("test::failed", self.bench.title, message);
                if help.is_empty() { error } else { error.help(help.join("; ")) }
            })
            .collect();
        wrong.extend(unexpected);
        wrong.into_iter().map(|diagnostic| self.bench.place(diagnostic)).collect()
    }

    /// The inserted nodes are the listed ones, in this order.
    fn insertions(&self) -> Option<RuleDiagnostic> {
        let wanted: Vec<Insertion<'_>> = self
            .bench
            .test
            .expects
            .iter()
            .filter_map(|expect| match &expect.kind {
                ExpectKind::Insert { position, anchors, by, named } => Some(Insertion {
                    span: expect.span,
                    position: *position,
                    anchors,
                    by: *by,
                    named: named.as_deref(),
                }),
                _ => None,
            })
            .collect();
        let last = wanted.last()?.span;
        let after = self.after();
        let all = || {
            let words = listed(self.seen.inserted.iter().map(|inserted| inserted.words(after)));
            format!("inserted, in this order: {words}")
        };
        for (at, insertion) in wanted.iter().enumerate() {
            let error = Diagnostic::error("test::insert", insertion.span, "another insertion was expected");
            let Some(inserted) = self.seen.inserted.get(at) else {
                let message = counted(wanted.len(), at);
                let error = Diagnostic::error("test::insert", insertion.span, message);
                return Some(self.bench.place(error.label("this one is missing").help(all())));
            };
            let seen = if !inserted.is_beside(after, insertion.position, insertion.anchors) {
                inserted.words(after)
            } else if let Some(by) = insertion.by.filter(|by| !inserted.by.contains(&by.text)) {
                format!(
                    "`{}` is not by `{}`: {}",
                    name_of(after, inserted.node),
                    by.text,
                    inserted.words(after)
                )
            } else if insertion.named.is_some_and(|named| *name_of(after, inserted.node) != *named) {
                format!("it is named `{}`", name_of(after, inserted.node))
            } else {
                continue;
            };
            return Some(self.bench.place(error.label(seen).help(all())));
        }
        let extra = self.seen.inserted.get(wanted.len())?;
        let message = counted(wanted.len(), self.seen.inserted.len());
        let error = Diagnostic::error("test::insert", last, message);
        Some(self.bench.place(error.label(format!("then there is {}", extra.words(after))).help(all())))
    }

    fn nothing(&self, span: Span) -> Option<Diagnostic> {
        let edits = self.edits(self.seen)?;
        Some(Diagnostic::error("test::nothing", span, "no edit was expected").label(edits))
    }

    fn twice(&self) -> Option<RuleDiagnostic> {
        let again = self.again?;
        let seen = match again.outcome.failures().next() {
            Some(failure) => format!("`{}` failed with `{}`", failure.pass, failure.message),
            None => self.edits(again)?,
        };
        let error = Diagnostic::error("test::twice", self.bench.title, "the second run is to change nothing");
        Some(self.bench.place(error.label(seen)))
    }

    /// The edits of a run in words; none if there are none.
    fn edits(&self, seen: &Seen) -> Option<String> {
        let after = &seen.outcome.after;
        let mut words: Vec<String> = seen.inserted.iter().map(|inserted| inserted.words(after)).collect();
        // What an inserted node is given is no news beside the insertion.
        let is_new =
            |name: &str| seen.inserted.iter().any(|inserted| *name_of(after, inserted.node) == *name);
        let others = seen.outcome.edits().filter(|edit| match &edit.kind {
            EditEntryKind::Set { node, .. } => !is_new(node),
            _ => true,
        });
        words.extend(others.filter_map(edit_words));
        if words.is_empty() {
            return None;
        }
        let more = words.len().saturating_sub(EDITS_SHOWN);
        words.truncate(EDITS_SHOWN);
        let words = words.join(", ");
        Some(if more > 0 { format!("{words}, and {more} more") } else { words })
    }

    /// Nodes of the result with this name, in any graph.
    fn nodes(&self, name: &str) -> impl Iterator<Item = NodeId> + '_ {
        let name: Arc<str> = name.into();
        self.after().nodes_by_id().filter(move |(_, node)| node.name == name).map(|(id, _)| id)
    }

    /// Complains if a node is not there.
    fn missing(&self, code: &'static str, span: Span, name: &str) -> Option<Diagnostic> {
        if self.nodes(name).next().is_some() {
            return None;
        }
        let error = Diagnostic::error(code, span, format!("the result has no node `{name}`"));
        let names = self.after().nodes_by_id().map(|(_, node)| &*node.name);
        Some(match did_you_mean(name, names) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        })
    }

    fn edge(&self, span: Span, present: bool, from: &AnchorName, to: &AnchorName) -> Option<Diagnostic> {
        let after = self.after();
        let producers: Vec<_> =
            self.nodes(&to.node).map(|node| after.producer(node.input(to.index))).collect();
        let there = producers
            .iter()
            .flatten()
            .any(|output| *name_of(after, output.node) == *from.node && output.index == from.index);
        if there == present {
            return None;
        }
        if !present {
            return Some(
                Diagnostic::error("test::edge", span, "this edge was not expected").label("it is there"),
            );
        }
        self.missing("test::edge", to.span, &to.node).or_else(|| {
            let reads = producers.iter().map(|producer| match producer {
                Some(output) => format!("`{}:{}`", name_of(after, output.node), output.index),
                None => "nothing".to_owned(),
            });
            let seen = format!("`{}:{}` reads {}", to.node, to.index, listed(reads));
            Some(Diagnostic::error("test::edge", span, "this edge was expected").label(seen))
        })
    }

    fn control(&self, span: Span, present: bool, from: &str, to: &str) -> Option<Diagnostic> {
        let after = self.after();
        let before_to: Vec<NodeId> = self.nodes(to).flat_map(|node| after.control_in(node)).collect();
        let there = before_to.iter().any(|node| *name_of(after, *node) == *from);
        if there == present {
            return None;
        }
        if !present {
            let error = Diagnostic::error("test::control", span, "this control edge was not expected");
            return Some(error.label("it is there"));
        }
        self.missing("test::control", span, to).or_else(|| {
            let names = before_to.iter().map(|node| format!("`{}`", name_of(after, *node)));
            let seen = format!("`{to}` waits for {}", listed(names));
            Some(Diagnostic::error("test::control", span, "this control edge was expected").label(seen))
        })
    }

    fn warning(&self, span: Span, present: bool, code: Name, part: &str) -> Option<Diagnostic> {
        let is_it = |name: Sym| name == code.text;
        let mut findings = self.seen.outcome.findings().filter(|found| found.message.contains(part));
        let found = findings.find(|found| is_it(found.code) || is_it(found.rule.name) || is_it(found.pass));
        let mut failures = self.seen.outcome.failures();
        let failed = failures.find(|failed| is_it(failed.pass) && failed.message.contains(part));
        match found.map(|found| &found.message).or(failed.map(|failed| &failed.message)) {
            Some(_) if present => return None,
            Some(message) => {
                let error = Diagnostic::error("test::warn", span, "no such finding was expected");
                return Some(error.label(message.clone()));
            }
            None if !present => return None,
            None => {}
        }
        let codes = self.seen.outcome.findings().map(|found| format!("`{}` {}", found.code, found.message));
        let seen = format!("found {}", listed(codes));
        Some(Diagnostic::error("test::warn", span, "a finding was expected").label(seen))
    }

    fn kept(&self, span: Span, node: &str, step: Option<Name>) -> Option<Diagnostic> {
        let mut chains = self.seen.chains.iter().filter(|chain| *chain.node == *node);
        if chains.any(|chain| chain.stop.is_some_and(|stop| step.is_none_or(|step| step.text == stop))) {
            return None;
        }
        let message = match step {
            Some(step) => format!("a chain was expected to stop on `{node}` at `{}`", step.text),
            None => format!("a chain was expected to stop on `{node}`"),
        };
        Some(Diagnostic::error("test::kept", span, message).label(self.chains(node)))
    }

    fn done(&self, span: Span, node: &str) -> Option<Diagnostic> {
        if self.seen.chains.iter().any(|chain| *chain.node == *node && chain.stop.is_none()) {
            return None;
        }
        let message = format!("a chain was expected to run to its end on `{node}`");
        Some(Diagnostic::error("test::done", span, message).label(self.chains(node)))
    }

    /// A number that the rules measure. It is measured where a test asks for it alone.
    fn measure(
        &self,
        span: Span,
        name: Name,
        before: Option<ExpectedAmount>,
        after: ExpectedAmount,
    ) -> Option<Diagnostic> {
        let mut all = self.session.measures(&self.seen.outcome.before, self.after()).into_iter();
        let measured = all.find(|measured| measured.name == name.text)?;
        let is = |seen: Amount, wanted: ExpectedAmount| {
            seen.sum == i128::from(wanted.sum) && usize::try_from(wanted.unknown) == Ok(seen.unknown)
        };
        if is(measured.after, after) && before.is_none_or(|before| is(measured.before, before)) {
            return None;
        }
        let told = |amount: Amount| match amount.unknown {
            0 => amount.sum.to_string(),
            unknown => format!("{} and {unknown} unknown", amount.sum),
        };
        let seen = format!("measured {} -> {}", told(measured.before), told(measured.after));
        Some(Diagnostic::error("test::measure", span, "another amount was expected").label(seen))
    }

    /// What the chains did on a node.
    fn chains(&self, node: &str) -> String {
        let mut told = self
            .seen
            .chains
            .iter()
            .filter(|chain| *chain.node == *node)
            .map(|chain| match chain.stop {
                Some(stop) => format!("`{}` stopped at `{stop}`", chain.chain),
                None => format!("`{}` ran to its end", chain.chain),
            })
            .peekable();
        if told.peek().is_none() { "no chain was tried on it".to_owned() } else { listed(told) }
    }

    fn graph(&self, span: Span, raw: &Raw) -> Vec<RuleDiagnostic> {
        let expected = match self.bench.graph(raw) {
            Ok(expected) => expected,
            Err(errors) => return errors,
        };
        let compared = Compared::all_but(BOOKKEEPING);
        let Err(differences) =
            equal_up_to_inserted(&self.seen.outcome.before, &expected, self.after(), &compared)
        else {
            return Vec::new();
        };
        let error = Diagnostic::error("test::graph", span, "another graph was expected");
        vec![self.bench.place(error.label(differences.join("; ")))]
    }

    /// The condition with this number among those of the test.
    fn that(&self, span: Span, number: usize) -> Option<Diagnostic> {
        let (db, rules) = (&self.session.db, self.session.rules);
        let entry = db::entry(db, rules, EntryName::new(db, Kind::Test, self.bench.name));
        let Some(Entry::Test { that, .. }) = entry.as_deref() else { return None };
        let condition = *that.get(number)?;
        let answer = run::ask(db, rules, self.after(), self.root, (Kind::Test, self.bench.name), condition);
        let error = Diagnostic::error("test::that", span, "the condition does not hold");
        match answer {
            Ok(answer) if answer.holds => None,
            Ok(answer) => Some(match answer.compared {
                Some((left, right)) => error.label(format!("compared `{left}` with `{right}`")),
                None => error,
            }),
            Err(failure) => {
                let renderer = super::super::render::Renderer::new(db, rules, self.after());
                let failure = renderer.failure(self.bench.name, &failure);
                Some(error.label(failure.message))
            }
        }
    }
}

/// Whether a line expects a failure that the pipeline tolerates.
fn expects_failure(expect: &Expect, failure: &PassFailure) -> bool {
    let ExpectKind::Warn { present: true, code, part } = &expect.kind else { return false };
    code.text == failure.pass && failure.message.contains(part.as_deref().unwrap_or_default())
}

/// An edit in a few words; insertions are told elsewhere.
fn edit_words(edit: &EditEntry) -> Option<String> {
    let words = match &edit.kind {
        EditEntryKind::Insert { .. } => return None,
        EditEntryKind::Delete { op, name } => format!("`{name}: {op}` deleted"),
        EditEntryKind::Control { from, to, added: true } => format!("`{from} => {to}` added"),
        EditEntryKind::Control { from, to, added: false } => format!("`{from} => {to}` removed"),
        EditEntryKind::Set { node, what, value } => format!("`{node}.{what} = {value}`"),
    };
    Some(format!("{words} by {}", edit.rule))
}

/// How many insertions were expected, and how many there are.
fn counted(wanted: usize, seen: usize) -> String {
    let were = if wanted == 1 { "insertion was" } else { "insertions were" };
    format!("{wanted} {were} expected, there {} {seen}", if seen == 1 { "is" } else { "are" })
}
