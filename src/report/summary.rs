//! Sums of a whole command: graphs, findings by rule, edits by pass, and what the rules measure.
//!
//! Promise: rows stand in the order of first appearance in the arguments' order, so threads leave no trace.

use std::fmt::Write;

use super::human::{Human, Mood, Paint};
use super::plain::plain;
use super::rules::rule_title;
use crate::engine::outcome::{EditEntryKind, Outcome, RuleRef};
use crate::engine::{Amount, Measured};
use crate::graph::Sym;
use crate::lang::Level;

/// Columns that titles of rules are padded to, at most.
const TITLE_WIDTH: usize = 64;

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
    /// Sums over all graphs, before and after.
    pub measures: Vec<Measured>,
}

/// Edits of one pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassSum {
    pub pass: Sym,
    pub inserted: OpCounts,
    pub deleted: OpCounts,
    /// Control edges that came or went.
    pub linked: usize,
    /// Values that were set.
    pub set: usize,
}

impl PassSum {
    /// Changes of anything but nodes.
    pub fn changed(&self) -> usize {
        self.linked + self.set
    }

    /// `inserted 2 A, set 4 values`, or what it would do.
    fn said(&self, mood: Mood) -> String {
        let verb =
            |done: &'static str, proposed: &'static str| if mood == Mood::Done { done } else { proposed };
        let of = |number: usize, verb: &str, what: &str| {
            (number > 0).then(|| format!("{verb} {}", count(number, what)))
        };
        let parts = [
            self.inserted.said(verb("inserted", "insert")),
            self.deleted.said(verb("deleted", "delete")),
            of(self.linked, verb("changed", "change"), "control edge"),
            of(self.set, "set", "value"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("{}{}", verb("", "would "), parts.join(", "))
    }
}

/// Nodes by operator type, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpCounts(Vec<(Sym, usize)>);

impl OpCounts {
    fn add(&mut self, op: Sym, number: usize) {
        match self.0.iter_mut().find(|(known, _)| *known == op) {
            Some((_, count)) => *count += number,
            None => self.0.push((op, number)),
        }
    }

    fn merge(&mut self, other: &OpCounts) {
        other.iter().for_each(|(op, number)| self.add(op, number));
    }

    pub fn iter(&self) -> impl Iterator<Item = (Sym, usize)> + '_ {
        self.0.iter().copied()
    }

    pub fn sum(&self) -> usize {
        self.iter().map(|(_, number)| number).sum()
    }

    /// `inserted 2 A and 1 B`; nothing of none.
    fn said(&self, verb: &str) -> Option<String> {
        let parts: Vec<String> =
            self.iter().map(|(op, number)| format!("{number} {}", plain(op.as_str()))).collect();
        (!parts.is_empty()).then(|| format!("{verb} {}", parts.join(" and ")))
    }
}

impl Summary {
    /// Adds a run. Call in the order of the arguments.
    pub fn add(&mut self, outcome: &Outcome, measures: Vec<Measured>) {
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
                EditEntryKind::Insert { op, .. } => sum.inserted.add(op, 1),
                EditEntryKind::Delete { op, .. } => sum.deleted.add(op, 1),
                EditEntryKind::Control { .. } => sum.linked += 1,
                EditEntryKind::Set { .. } => sum.set += 1,
            }
        }
        measures.iter().for_each(|measured| self.measure(measured));
    }

    fn count_rule(&mut self, rule: &RuleRef, number: usize) {
        match self.rules.iter_mut().find(|(known, _)| known == rule) {
            Some((_, count)) => *count += number,
            None => self.rules.push((rule.clone(), number)),
        }
    }

    fn pass(&mut self, pass: Sym) -> &mut PassSum {
        let at = self.passes.iter().position(|sum| sum.pass == pass).unwrap_or_else(|| {
            let none = OpCounts::default();
            self.passes.push(PassSum { pass, inserted: none.clone(), deleted: none, linked: 0, set: 0 });
            self.passes.len() - 1
        });
        &mut self.passes[at]
    }

    fn measure(&mut self, more: &Measured) {
        let Some(known) = self.measures.iter_mut().find(|known| known.name == more.name) else {
            self.measures.push(more.clone());
            return;
        };
        for (known, more) in [(&mut known.before, more.before), (&mut known.after, more.after)] {
            known.sum += more.sum;
            known.unknown += more.unknown;
        }
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
            sum.inserted.merge(&of.inserted);
            sum.deleted.merge(&of.deleted);
            sum.linked += of.linked;
            sum.set += of.set;
        }
        other.measures.iter().for_each(|measured| self.measure(measured));
    }

    /// Adds a graph that could not be read or run.
    pub fn add_failed(&mut self) {
        self.graphs += 1;
        self.failed += 1;
    }

    pub fn findings(&self) -> usize {
        self.errors + self.warnings + self.notes
    }

    /// The closing lines. `mood`: whether the edits were made.
    pub fn draw(&self, mood: Mood, human: &Human, out: &mut String) {
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
            // Not everything that passes do answers a finding.
            let (inserted, deleted) = match mood {
                Mood::Done => ("inserted", "deleted"),
                Mood::Proposed => ("to insert", "to delete"),
            };
            let sum = |of: &dyn Fn(&PassSum) -> usize| self.passes.iter().map(of).sum::<usize>();
            let moved = [(sum(&|p| p.inserted.sum()), inserted), (sum(&|p| p.deleted.sum()), deleted)];
            let moved = moved.iter().filter(|(number, _)| *number > 0);
            parts.extend(moved.map(|(number, verb)| format!("{} {verb}", count(*number, "node"))));
        }
        if self.failed > 0 {
            parts.push(human.paint(Paint::Error, &format!("{} failed", self.failed)));
        }
        let _ = writeln!(out, "{}: {}", human.paint(Paint::Strong, "summary"), parts.join(", "));
        let width = self.rules.iter().map(|(rule, _)| rule_title(rule).chars().count()).max().unwrap_or(0);
        // A long title costs its own line its place, and not all lines theirs.
        let width = width.min(TITLE_WIDTH);
        for (rule, number) in &self.rules {
            let _ = writeln!(out, "  {:width$}  {number:>6}", rule_title(rule));
        }
        for sum in &self.passes {
            let _ = writeln!(out, "  pass {}: {}", sum.pass.as_str(), sum.said(mood));
        }
        let nothing = Amount::default();
        let shown = || self.measures.iter().filter(|m| m.before != nothing || m.after != nothing);
        let width = shown().map(|measured| measured.title.chars().count()).max().unwrap_or(0);
        for measured in shown() {
            let _ = writeln!(out, "  {:width$}  {}", measured.title, change(measured));
        }
    }
}

/// `1 -> 2 bytes, and 3 of unknown size`; a number that stays is said once.
fn change(measured: &Measured) -> String {
    let Measured { before, after, unit, .. } = measured;
    let turn = |before: String, after: String| match before == after {
        true => before,
        false => format!("{before} -> {after}"),
    };
    let mut text = turn(before.sum.to_string(), after.sum.to_string());
    if let Some(unit) = unit {
        text += &format!(" {}", unit.as_str());
    }
    if (before.unknown, after.unknown) != (0, 0) {
        let unknown = turn(before.unknown.to_string(), after.unknown.to_string());
        text += &format!(", and {unknown} of unknown size");
    }
    text
}

/// `1 graph`, `2 graphs`, `2 entries`.
pub fn count(number: usize, word: &str) -> String {
    match word.strip_suffix('y') {
        _ if number == 1 => format!("{number} {word}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_tells_what_changed_and_what_it_does_not_know() {
        let of = |sum, unknown| Amount { sum, unknown };
        let told = |unit: bool, before, after| {
            let (name, unit) = (Sym::new("m"), unit.then(|| Sym::new("bytes")));
            change(&Measured { name, title: String::new(), unit, before, after })
        };
        assert_eq!(told(false, of(2, 0), of(2, 0)), "2");
        assert_eq!(told(true, of(2, 0), of(3, 0)), "2 -> 3 bytes");
        assert_eq!(told(true, of(2, 1), of(2, 1)), "2 bytes, and 1 of unknown size");
        assert_eq!(told(true, of(0, 1), of(4, 3)), "0 -> 4 bytes, and 1 -> 3 of unknown size");
    }

    #[test]
    fn measures_of_several_graphs_are_added() {
        let measured = |before, after| {
            let of = |sum| Amount { sum, unknown: 1 };
            let (before, after) = (of(before), of(after));
            Measured { name: Sym::new("m"), title: "m".to_owned(), unit: None, before, after }
        };
        let mut sum = Summary::default();
        let largest = i128::from(i64::MAX);
        sum.measure(&measured(1, largest));
        sum.merge(&Summary { measures: vec![measured(2, largest)], ..Summary::default() });
        let [all] = &sum.measures[..] else { panic!("{:?}", sum.measures) };
        assert_eq!(
            (all.before, all.after),
            (Amount { sum: 3, unknown: 2 }, Amount { sum: 2 * largest, unknown: 2 })
        );
    }
}
