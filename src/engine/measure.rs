//! Measures: numbers by which rules say what a graph costs.
//!
//! Promise: a measure looks once at each of its subjects and decides nothing; what it found is remembered by snapshot, so a
//! run that changes nothing is measured once. Sums cannot overflow. What has no value, or fails to tell, is counted
//! as unknown, never as 0.

use std::sync::Arc;

use super::cells::Cells;
use super::queries::At;
use crate::db::{Db, EntryName, Roots, RuleSet, program};
use crate::graph::{GraphId, NodeId, Snapshot, Sym};
use crate::lang::eval::{EntryId, Failure, Machine, Value};
use crate::lang::hir::{Entry, ExprId, Subject};
use crate::lang::syntax::ast::Kind;

/// What a measure says of one graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub sum: i128,
    /// Subjects whose value is not known.
    pub unknown: usize,
}

/// A measure before and after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    pub name: Sym,
    /// What is counted, for people.
    pub title: String,
    pub unit: Option<Sym>,
    pub before: Amount,
    pub after: Amount,
}

/// What a measure says of a snapshot: of all graphs, from the outermost on.
#[salsa::tracked(returns(copy))]
pub fn amount<'db>(db: &'db dyn Db, rules: RuleSet, at: At<'db>, measure: EntryName<'db>) -> Amount {
    let linked = program(db, rules, Roots::of(db, [(measure.kind(db), measure.name(db))]));
    let Some(entry) = linked.0.entry(measure.kind(db), measure.name(db)) else { return Amount::default() };
    let Some(hir) = linked.0.hir(entry).cloned() else { return Amount::default() };
    let Entry::Measure { subject, value, .. } = &*hir else { return Amount::default() };
    let host = Cells { db, rules };
    let mut machine = Machine::over(&linked.0, &host, at.snapshot(db), GraphId::ROOT);
    machine.set_tally(db.tally());
    machine.share_alike();
    let mut amount = Amount::default();
    let subjects = match subjects(&mut machine, entry, subject) {
        Ok(subjects) => subjects,
        Err(_) => return Amount { sum: 0, unknown: 1 },
    };
    for one in subjects {
        match look(&mut machine, entry, (subject.condition, *value), one) {
            Ok(None) => {}
            Ok(Some(Some(number))) => amount.sum += i128::from(number),
            Ok(Some(None)) | Err(_) => amount.unknown += 1,
        }
    }
    amount
}

/// What measures of nodes say of single nodes of a snapshot.
pub(super) struct Scale<'a> {
    machine: Machine<'a>,
    measures: Vec<(EntryId, Arc<Entry>)>,
}

impl<'a> Scale<'a> {
    /// `names`: of measures, the one that counts first.
    pub fn new(host: &'a Cells<'a>, snapshot: &'a Snapshot, names: &[Sym]) -> Scale<'a> {
        let Cells { db, rules } = *host;
        let keys = || names.iter().map(|&name| (Kind::Measure, name));
        let linked = program(db, rules, Roots::of(db, keys()));
        let measures = keys().filter_map(|(kind, name)| {
            let entry = linked.0.entry(kind, name)?;
            Some((entry, linked.0.hir(entry)?.clone()))
        });
        let measures = measures.filter(|(_, hir)| match &**hir {
            Entry::Measure { subject, .. } => subject.list.is_none(),
            _ => false,
        });
        let measures = measures.collect();
        Scale { machine: Machine::over(&linked.0, host, snapshot, GraphId::ROOT), measures }
    }

    /// What the first measure says that counts the node. `Some(None)`: nobody knows how much.
    pub fn weigh(&mut self, node: NodeId) -> Option<Option<i64>> {
        let Scale { machine, measures } = self;
        measures.iter().find_map(|(entry, hir)| {
            let Entry::Measure { subject, value, .. } = &**hir else { return None };
            look(machine, *entry, (subject.condition, *value), Value::Node(node)).unwrap_or(Some(None))
        })
    }
}

fn subjects(machine: &mut Machine<'_>, entry: EntryId, subject: &Subject) -> Result<Vec<Value>, Failure> {
    Ok(match subject.list {
        None => machine.all_nodes(machine.root()).into_iter().map(Value::Node).collect(),
        Some(list) => machine.eval(entry, list, &[Value::Graph(machine.root())])?.elements().collect(),
    })
}

/// `None`: the subject is not counted; `Some(None)`: nobody knows how much.
fn look(
    machine: &mut Machine<'_>,
    entry: EntryId,
    (condition, value): (Option<ExprId>, Option<ExprId>),
    subject: Value,
) -> Result<Option<Option<i64>>, Failure> {
    let frame = [Value::Graph(machine.root()), subject];
    if let Some(condition) = condition
        && !machine.test(entry, condition, &frame)?
    {
        return Ok(None);
    }
    let Some(value) = value else { return Ok(Some(Some(1))) };
    Ok(Some(machine.eval(entry, value, &frame)?.as_int()))
}
