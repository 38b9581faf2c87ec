//! Sums of a whole command: graphs, findings by rule, edits by pass.
//!
//! Promise: rows stand in the order of first appearance in the arguments' order, so threads leave no trace.

use std::fmt::Write;

use super::human::{Human, Paint};
use super::rules::rule_title;
use crate::engine::outcome::{EditEntryKind, Outcome, RuleRef};
use crate::graph::Sym;
use crate::lang::Level;

/// The sums.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    pub graphs: usize,
    /// Graphs that could not be read or run.
    pub failed: usize,
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
    /// Findings per rule.
    pub rules: Vec<(RuleRef, usize)>,
    pub passes: Vec<PassSum>,
}

/// Edits of one pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassSum {
    pub pass: Sym,
    pub inserted: usize,
    pub deleted: usize,
    /// Control edges and values.
    pub changed: usize,
}

impl Summary {
    /// Adds a run. Call in the order of the arguments.
    pub fn add(&mut self, outcome: &Outcome) {
        self.graphs += 1;
        for finding in outcome.findings() {
            match finding.level {
                Level::Error => self.errors += 1,
                Level::Warning => self.warnings += 1,
                Level::Note => self.notes += 1,
            }
            self.count_rule(&finding.rule, 1);
        }
        for edit in outcome.edits() {
            let sum = self.pass(edit.pass);
            match edit.kind {
                EditEntryKind::Insert { .. } => sum.inserted += 1,
                EditEntryKind::Delete { .. } => sum.deleted += 1,
                EditEntryKind::Control { .. } | EditEntryKind::Set { .. } => sum.changed += 1,
            }
        }
    }

    fn count_rule(&mut self, rule: &RuleRef, number: usize) {
        match self.rules.iter_mut().find(|(known, _)| known == rule) {
            Some((_, count)) => *count += number,
            None => self.rules.push((rule.clone(), number)),
        }
    }

    fn pass(&mut self, pass: Sym) -> &mut PassSum {
        let at = self.passes.iter().position(|sum| sum.pass == pass).unwrap_or_else(|| {
            self.passes.push(PassSum { pass, inserted: 0, deleted: 0, changed: 0 });
            self.passes.len() - 1
        });
        &mut self.passes[at]
    }

    /// Adds the sums of a later graph.
    pub fn merge(&mut self, other: &Summary) {
        self.graphs += other.graphs;
        self.failed += other.failed;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.notes += other.notes;
        for (rule, number) in &other.rules {
            self.count_rule(rule, *number);
        }
        for of in &other.passes {
            let sum = self.pass(of.pass);
            sum.inserted += of.inserted;
            sum.deleted += of.deleted;
            sum.changed += of.changed;
        }
    }

    /// Adds a graph that could not be read or run.
    pub fn add_failed(&mut self) {
        self.graphs += 1;
        self.failed += 1;
    }

    pub fn findings(&self) -> usize {
        self.errors + self.warnings + self.notes
    }

    /// The closing lines.
    pub fn draw(&self, human: &Human, out: &mut String) {
        let mut parts = vec![count(self.graphs, "graph")];
        let mut part = |number: usize, word: &str, paint| {
            if number > 0 {
                parts.push(human.paint(paint, &count(number, word)));
            }
        };
        part(self.errors, "error", Paint::Error);
        part(self.warnings, "warning", Paint::Warning);
        part(self.notes, "note", Paint::Help);
        if self.findings() == 0 && self.failed < self.graphs {
            parts.push(human.paint(Paint::Good, "no findings"));
        }
        if self.failed > 0 {
            parts.push(human.paint(Paint::Error, &format!("{} failed", self.failed)));
        }
        let _ = writeln!(out, "{}: {}", human.paint(Paint::Strong, "summary"), parts.join(", "));
        let width = self.rules.iter().map(|(rule, _)| rule_title(rule).chars().count()).max().unwrap_or(0);
        for (rule, number) in &self.rules {
            let _ = writeln!(out, "  {:width$}  {number:>6}", rule_title(rule));
        }
        for sum in &self.passes {
            let numbers = [(sum.inserted, "inserted"), (sum.deleted, "deleted"), (sum.changed, "changed")];
            let said: Vec<String> =
                numbers.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
            let _ = writeln!(out, "  pass {}: {}", sum.pass.as_str(), said.join(", "));
        }
    }
}

/// `1 graph`, `2 graphs`.
pub fn count(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}
