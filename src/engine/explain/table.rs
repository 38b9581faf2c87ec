//! What became of all nodes of one operator type, and what decided.
//!
//! Promise: one run, and one more look at each step; reasons are told without names of nodes, so that they can be
//! counted. Bytes are those that the measures of the rules count, of a node that none is about those of its first output.

use rustc_hash::FxHashMap;

use super::observe::{Act, Asked, Mode, Observer, What};
use super::tell::Stage;
use super::words::Words;
use super::{Fate, Row, StepKind, Stock, Table, Total, TraceStep, condition, tensor_bytes};
use crate::engine::measure::Scale;
use crate::engine::outcome::RuleRef;
use crate::engine::render::{Conflict, Renderer};
use crate::engine::run::run_watched;
use crate::engine::session::{Request, RunError, Session};
use crate::graph::{NodeId, Snapshot, Sym};
use crate::lang::eval::{EditKind, EditRecord};
use crate::lang::syntax::ast::Kind;

/// What is known of a node so far. A larger weight stands.
struct Known {
    weight: u8,
    fate: Fate,
    by: RuleRef,
    reason: String,
    text: Option<String>,
}

impl Known {
    fn new(fate: Fate, by: RuleRef) -> Known {
        Known { weight: 0, fate, by, reason: String::new(), text: None }
    }
}

impl Session {
    /// What the steps of a request make of all nodes of an operator type, those in subgraphs included.
    ///
    /// # Errors
    /// As [`Session::run`]: nothing can be run.
    pub fn table(&self, snapshot: &Snapshot, request: &Request, op: Sym) -> Result<Table, RunError> {
        let stages = self.stages(snapshot, request)?;
        let is_wanted = |state: &Snapshot, node: &NodeId| state.get_node(*node).is_some_and(|n| n.ty == op);
        let given = snapshot.all_nodes(request.graph).into_iter().filter(|node| is_wanted(snapshot, node));
        let given: Vec<NodeId> = given.collect();
        let asked = Asked { nodes: given.iter().copied().collect(), anchor: None };
        let mut known: FxHashMap<NodeId, Known> = FxHashMap::default();
        for stage in &stages {
            self.look(stage, &asked, &mut known);
        }
        let last = stages.last().map_or(snapshot, |stage| &stage.result.after);
        let in_bytes = self.declared_measures().filter(|(_, _, unit)| *unit == Some(Sym::new("bytes")));
        let in_bytes: Vec<Sym> = in_bytes.map(|(name, ..)| name).collect();
        let cells = self.cells();
        let scale = |state| Scale::new(&cells, state, &in_bytes);
        let row = |state: &Snapshot, scale: &mut Scale<'_>, node: NodeId, known: Option<Known>| {
            let renderer = Renderer::new(&self.db, self.rules, state);
            let place = renderer.node_place(node, String::new());
            let weight = scale.weigh(node).map(|bytes| bytes.and_then(|bytes| u64::try_from(bytes).ok()));
            let bytes = weight.unwrap_or_else(|| tensor_bytes(state, node, None));
            match known {
                Some(Known { fate, by, reason, text, .. }) => {
                    Row { place, fate, by: Some(by), reason, text, bytes }
                }
                None => {
                    Row { place, fate: Fate::Unchanged, by: None, reason: String::new(), text: None, bytes }
                }
            }
        };
        let deleted = deleted(&stages);
        let mut before = scale(snapshot);
        let mut rows: Vec<Row> = Vec::new();
        for &node in &given {
            let by = deleted.get(&node).filter(|_| !last.contains(node));
            let known = known.remove(&node).filter(|known| by.is_none() || known.fate == Fate::Deleted);
            let known = known.or_else(|| Some(Known::new(Fate::Deleted, by?.clone())));
            rows.push(row(snapshot, &mut before, node, known));
        }
        let mut after = scale(last);
        for stage in &stages {
            let left = &stage.result.after;
            let copies = stage.copies();
            let mut between = None;
            let renderer = Renderer::new(&self.db, self.rules, &stage.before);
            for record in stage.result.edits.iter() {
                let EditKind::Insert { node, .. } = record.kind else { continue };
                // What a step deletes itself is in no graph that could be told of.
                if !is_wanted(left, &node) {
                    continue;
                }
                let answered = copies.get(&node);
                let known = match answered.and_then(|one| renderer.conflict(one.anchor, one.by)) {
                    Some(Conflict { rule, message, .. }) => {
                        Known { text: Some(message), ..Known::new(Fate::Inserted, rule) }
                    }
                    None => inserted(stage, record),
                };
                match deleted.get(&node).filter(|_| !last.contains(node)) {
                    None => rows.push(row(last, &mut after, node, Some(known))),
                    Some(by) => {
                        let reason = format!("inserted by {}", known.by.name);
                        let known = Known { reason, ..Known::new(Fate::Withdrawn, by.clone()) };
                        rows.push(row(left, between.get_or_insert_with(|| scale(left)), node, Some(known)));
                    }
                }
            }
        }
        let totals = totals(&rows);
        Ok(Table { op, rows, totals })
    }

    fn look(&self, stage: &Stage<'_>, asked: &Asked, known: &mut FxHashMap<NodeId, Known>) {
        let words = Words { db: &self.db, rules: self.rules };
        let observer = Observer::new(words, &stage.before, asked, Mode::Brief);
        run_watched(&self.db, self.rules, stage.run, Some(&observer));
        let (acts, chains) = observer.told();
        let by = stage.step.pass();
        let failed = stage.result.failure.as_ref().is_some_and(|failure| !failure.0.stands);
        if failed {
            return;
        }
        let mut add = |node: NodeId, new: Known| match known.get(&node) {
            Some(old) if old.weight > new.weight => {}
            _ => {
                known.insert(node, new);
            }
        };
        for act in acts {
            let deleted = !stage.result.after.contains(act.node);
            let (weight, fate) = match &act.what {
                _ if deleted => (5, Fate::Deleted),
                What::Done(_) | What::Reported { .. } => (2, Fate::Done),
                What::Refused { foreign: true, .. } => continue,
                // That a lint tells nothing of a node keeps no node.
                What::Refused { .. } if stage.step.kind == Kind::Lint => continue,
                What::Refused { stake, .. } if stake.rank() == 0 => (3, Fate::Kept),
                What::Refused { stake, .. } if stake.rank() == 1 => (1, Fate::Kept),
                // A rule that would have been for it.
                What::Refused { whole: true, foreign: false, stake } if stake.rank() == 2 => (1, Fate::Kept),
                What::Refused { .. } => continue,
            };
            let reason = if fate == Fate::Kept { reason(&act) } else { String::new() };
            add(act.node, Known { weight, fate, by: by.clone(), reason, text: None });
        }
        for chain in chains {
            let chain_by = RuleRef { kind: Kind::Chain, name: chain.chain };
            let new = match chain.kept {
                None => {
                    Known { weight: 4, fate: Fate::Done, by: chain_by, reason: String::new(), text: None }
                }
                Some((text, _)) => {
                    let failed = chain.requirements.last();
                    let reason = failed.map_or_else(String::new, |(name, ..)| name.to_string());
                    let text = Some(text).filter(|text| !text.is_empty());
                    Known { weight: 3, fate: Fate::Kept, by: chain_by, reason, text }
                }
            };
            add(chain.node, new);
        }
    }
}

/// Nodes that steps deleted, and which did.
fn deleted(stages: &[Stage<'_>]) -> FxHashMap<NodeId, RuleRef> {
    let records = stages.iter().flat_map(|stage| stage.result.edits.iter().map(move |one| (stage, one)));
    let deleted = records.filter_map(|(stage, record)| match record.kind {
        EditKind::Delete { node, .. } => Some((node, stage.step.pass())),
        _ => None,
    });
    deleted.collect()
}

/// A node that a step inserted for no conflict.
fn inserted(stage: &Stage<'_>, record: &EditRecord) -> Known {
    let by = stage.step.pass();
    let key = stage.result.program.0.key(record.entry);
    let reason = key.map(|(_, name)| name).filter(|name| *name != by.name);
    Known {
        reason: reason.map_or_else(String::new, |name| name.to_string()),
        ..Known::new(Fate::Inserted, by)
    }
}

/// What decided, in words that hold for other nodes too.
fn reason(act: &Act) -> String {
    let steps = &act.steps;
    let pick = |kind| steps.iter().find(|step: &&TraceStep| step.kind == kind);
    match pick(StepKind::Cell).or(pick(StepKind::Case)).or(condition(steps)) {
        Some(step) if step.kind == StepKind::Part => {
            let word = step.value.split(' ').next().unwrap_or_default();
            format!("{} = {word}", step.source)
        }
        Some(step) if step.kind == StepKind::Case => step.source.clone(),
        Some(step) => format!("{} = {}", step.source, step.value),
        None => String::new(),
    }
}

fn totals(rows: &[Row]) -> Vec<Total> {
    let mut totals: Vec<Total> = Vec::new();
    let mut places: FxHashMap<(Fate, &Option<RuleRef>, &str), usize> = FxHashMap::default();
    for row in rows {
        let at = *places.entry((row.fate, &row.by, &row.reason)).or_insert_with(|| {
            let (by, reason) = (row.by.clone(), row.reason.clone());
            totals.push(Total { fate: row.fate, by, reason, stock: Stock::default() });
            totals.len() - 1
        });
        totals[at].stock.add(row.bytes);
    }
    totals.sort_by_key(|total| (total.fate, std::cmp::Reverse(total.stock.bytes)));
    totals
}
