//! What a rule set says, for those who review it: every pair, attribute, option, matrix, chain and pass, what was reached, and
//! what can never happen.
//!
//! Promise: the tables are complete and in declaration order, and follow from the rule set alone; coverage follows from what was run
//! before. Each table is a query, so that an edit recomputes what it touches. This room knows no rule and no graph.
//!
//! The road: [`Audit::of`] asks [`pair_rows`], [`inputs`], [`rule_lists`] and [`judgements`], then finds the places of all entries. [`dead`]
//! proves what never happens, with [`terms`] and [`solve`].

mod attributes;
mod dead;
pub mod diff;
mod finding;
mod judge;
mod lists;
pub mod mutate;
mod pairs;
mod solve;
mod terms;
mod uses;
pub mod witness;

use serde::Serialize;

pub use attributes::{AttributeRow, OptionRow, inputs};
pub use finding::{Finding, Weight, codes};
pub use judge::judgements;
pub use lists::{
    CaseRow, ChainStepRow, ChainTable, ListTable, MatrixTable, MeasureRow, PassTable, PipelineStepRow,
    PipelineTable, rule_lists,
};
pub use pairs::{MarkRow, PairRow, Pairs, pair_rows};
pub use uses::{Ref, Uses, entry_uses};

use crate::db::{self, Db};
use crate::engine::Session;
use crate::lang::syntax::ast::{ItemData, Kind};
use crate::lang::syntax::print_text;

/// An entry with its place, its words and its reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntryRow {
    #[serde(flatten)]
    pub entry: Ref,
    pub path: String,
    pub line: u32,
    pub doc: Option<String>,
    /// Why, in the words of its `because`.
    pub reason: Option<String>,
    pub source: String,
    /// The entries that mention it.
    pub used_by: Vec<Ref>,
}

/// An entry or a branch, and how often it was reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReachedRow {
    pub entry: Ref,
    /// None: the entry itself.
    pub branch: Option<String>,
    pub path: String,
    pub line: u32,
    pub reached: usize,
}

/// What was reached, and by what.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Coverage {
    pub tests: usize,
    pub cases: usize,
    pub graphs: usize,
    pub rows: Vec<ReachedRow>,
}

impl Coverage {
    /// How many of the entries, or of the branches, were reached, and how many there are.
    pub fn share(&self, of_branches: bool) -> (usize, usize) {
        let all = self.rows.iter().filter(|row| row.branch.is_some() == of_branches);
        (all.clone().filter(|row| row.reached > 0).count(), all.count())
    }
}

/// Everything.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Audit {
    pub findings: Vec<Finding>,
    pub marks: Vec<MarkRow>,
    pub pairs: Vec<PairRow>,
    pub attributes: Vec<AttributeRow>,
    pub options: Vec<OptionRow>,
    pub matrices: Vec<MatrixTable>,
    pub chains: Vec<ChainTable>,
    pub passes: Vec<PassTable>,
    pub lists: Vec<ListTable>,
    pub pipelines: Vec<PipelineTable>,
    pub measures: Vec<MeasureRow>,
    pub default_pipeline: Option<&'static str>,
    pub coverage: Option<Coverage>,
    pub entries: Vec<EntryRow>,
}

impl Audit {
    /// Audits the rule set of a session; `coverage` is what runs before have reached, if that was counted.
    pub fn of(session: &Session, coverage: Option<Coverage>) -> Audit {
        let (db, rules) = (session.database(), session.rule_set());
        let table = pair_rows(db, rules);
        let inputs = inputs(db, rules);
        let lists = rule_lists(db, rules);
        let mut findings = judgements(db, rules).to_vec();
        findings.extend(coverage.iter().flat_map(untested));
        // What matters most first; otherwise in the order of the tables.
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight));
        Audit {
            findings,
            marks: table.marks.clone(),
            pairs: table.pairs.clone(),
            attributes: inputs.attributes.clone(),
            options: inputs.options.clone(),
            matrices: lists.matrices.clone(),
            chains: lists.chains.clone(),
            passes: lists.passes.clone(),
            lists: lists.lists.clone(),
            pipelines: lists.pipelines.clone(),
            measures: lists.measures.clone(),
            default_pipeline: session.default_pipeline().map(|name| name.as_str()),
            coverage,
            entries: entries(session),
        }
    }

    /// An entry's row; of a set that others extend, the declaration's.
    pub fn entry(&self, entry: Ref) -> Option<&EntryRow> {
        self.entries.iter().find(|row| row.entry == entry)
    }

    /// How many pairs have a class.
    pub fn pairs_of(&self, class: &str) -> usize {
        self.pairs.iter().filter(|row| row.class == class).count()
    }
}

/// Entries that nothing reached.
fn untested(coverage: &Coverage) -> Vec<Finding> {
    let rows = coverage.rows.iter().filter(|row| row.branch.is_none() && row.reached == 0);
    rows.map(|row| Finding::note(codes::UNTESTED, row.entry, "nothing that was run reached it")).collect()
}

/// Entries that stand in the rule set, with what a reader wants to know of them.
fn entries(session: &Session) -> Vec<EntryRow> {
    let (db, rules): (&dyn Db, _) = (session.database(), session.rule_set());
    let uses = entry_uses(db, rules);
    let mut rows: Vec<EntryRow> = session
        .entries()
        .into_iter()
        .filter(|entry| entry.kind != Kind::Test && entry.live)
        .map(|entry| EntryRow {
            entry: Ref::new(entry.kind, entry.name),
            path: entry.path,
            line: entry.line,
            doc: entry.doc,
            reason: None,
            source: entry.source.trim_end().lines().collect::<Vec<_>>().join("\n"),
            used_by: Vec::new(),
        })
        .collect();
    for &(kind, name, key) in &db::live(db, rules).items {
        let Some(item) = db::find(db, rules, key).and_then(|id| db::item(db, id)) else { continue };
        let reason = match &item.0.data {
            ItemData::Checker(checker) => checker.because.as_ref(),
            ItemData::Always { because, .. } | ItemData::Skip { because, .. } => because.as_ref(),
            _ => None,
        };
        let entry = Ref::new(kind, name);
        // Of a set that others extend, the declaration.
        if let Some(row) = rows.iter_mut().find(|row| row.entry == entry) {
            row.reason = reason.map(print_text);
            if let ItemData::Attribute { doc: Some(doc), .. } = &item.0.data {
                row.doc = Some(doc.clone());
            }
        }
    }
    for number in 0..uses.entries.len() {
        if uses.entries[number].0 == Kind::Test {
            continue;
        }
        let user = uses.reference(number);
        for &used in uses.direct(number) {
            let used = uses.reference(used);
            if let Some(row) = rows.iter_mut().find(|row| row.entry == used && used != user) {
                row.used_by.push(user);
            }
        }
    }
    rows
}
