//! What a rule set says in order or in tables: matrices, chains, passes, ordered cases, walks, pipelines.
//!
//! Promise: read from the syntax trees, so that conditions and reasons are the author's own words in their one form. Nothing
//! is judged here.

use std::sync::Arc;

use serde::Serialize;

use super::uses::{Ref, entry_uses};
use crate::db::{self, Db, EntryName, RuleSet};
use crate::graph::Sym;
use crate::lang::hir::Entry;
use crate::lang::syntax::ast::{
    AttributeRule, ChainStep, CheckerAction, Expr, ExprKind, Item, ItemData, Kind, PipelineRole, Statement,
    StatementKind, Subject,
};
use crate::lang::syntax::tree::{inner_steps, ordered_lists, statement_parts, step_parts};
use crate::lang::syntax::{print_block, print_expr, print_text};

/// A matrix with every cell: `cells[row][column]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatrixTable {
    pub name: &'static str,
    pub rows: Vec<&'static str>,
    pub columns: Vec<&'static str>,
    pub cells: Vec<Vec<&'static str>>,
}

/// A step of a chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainStepRow {
    /// `let`, `require`, `for` or `use`.
    pub kind: &'static str,
    /// Its own name, that of what goes through a list, or that of the steps it uses.
    pub name: &'static str,
    /// The condition, the value, the list, or the arguments.
    pub condition: String,
    pub reason: Option<String>,
    pub help: Option<String>,
    /// Loops around it.
    pub depth: usize,
}

/// A chain, or steps that chains share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChainTable {
    pub entry: Ref,
    /// The nodes it runs on; none for shared steps.
    pub subject: Option<String>,
    pub steps: Vec<ChainStepRow>,
    /// The statements that run when no step failed.
    pub then: Vec<String>,
    pub pipelines: Vec<&'static str>,
}

/// A pass, a lint or an order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassTable {
    pub entry: Ref,
    pub subject: Option<String>,
    pub repeats: bool,
    /// The outermost statements.
    pub steps: Vec<String>,
    /// Symbols, chains, actions and orders that it names itself.
    pub uses: Vec<Ref>,
    /// Pipelines that run it, directly or through others.
    pub pipelines: Vec<&'static str>,
}

/// A case of an ordered list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseRow {
    pub name: Option<&'static str>,
    /// None for `else`.
    pub condition: Option<String>,
    pub value: String,
}

/// Cases of which the first that holds decides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListTable {
    pub entry: Ref,
    pub cases: Vec<CaseRow>,
}

/// A step of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipelineStepRow {
    pub name: &'static str,
    pub condition: Option<String>,
    /// Its failure does not end the run.
    pub tolerant: bool,
}

/// A pipeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipelineTable {
    pub name: &'static str,
    /// What its steps do is told as one pass.
    pub as_pass: bool,
    pub steps: Vec<PipelineStepRow>,
}

/// A number that runs are told with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasureRow {
    pub name: &'static str,
    pub title: String,
    pub unit: Option<&'static str>,
    pub subject: String,
    /// None: each subject counts as one.
    pub value: Option<String>,
}

/// All of these, each kind in declaration order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Lists {
    pub matrices: Vec<MatrixTable>,
    pub chains: Vec<ChainTable>,
    pub passes: Vec<PassTable>,
    pub lists: Vec<ListTable>,
    pub pipelines: Vec<PipelineTable>,
    pub measures: Vec<MeasureRow>,
}

/// Reads them all.
#[salsa::tracked(returns(ref))]
pub fn rule_lists(db: &dyn Db, rules: RuleSet) -> Arc<Lists> {
    let mut lists = Lists::default();
    for &(kind, name, key) in &db::live(db, rules).items {
        let Some(item) = db::find(db, rules, key).and_then(|id| db::item(db, id)) else { continue };
        add(db, rules, kind, name, &item.0, &mut lists);
        for expr in whole(&item.0) {
            let mut found = Vec::new();
            ordered_lists(expr, &mut found);
            lists.lists.extend(found.into_iter().map(|list| cases(Ref::new(kind, name), list)));
        }
    }
    Arc::new(lists)
}

fn add(db: &dyn Db, rules: RuleSet, kind: Kind, name: Sym, item: &Item, lists: &mut Lists) {
    let entry = Ref::new(kind, name);
    let pass = |subject: Option<&Subject>, repeats, steps| PassTable {
        entry,
        subject: subject.map(subject_words),
        repeats,
        steps,
        uses: named(db, rules, kind, name),
        pipelines: pipelines(db, rules, kind, name),
    };
    match &item.data {
        ItemData::Matrix { header, cells, .. } => {
            let words = |names: &[crate::lang::syntax::ast::Name]| {
                names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>()
            };
            lists.matrices.push(MatrixTable {
                name: name.as_str(),
                rows: cells.iter().map(|(row, _)| row.text.as_str()).collect(),
                columns: words(header),
                cells: cells.iter().map(|(_, values)| words(values)).collect(),
            });
        }
        ItemData::Chain { subject, steps, then } => lists.chains.push(ChainTable {
            entry,
            subject: Some(subject_words(subject)),
            steps: chain_steps(steps),
            then: then.as_ref().map(print_block).unwrap_or_default(),
            pipelines: pipelines(db, rules, kind, name),
        }),
        ItemData::Steps { steps, .. } => lists.chains.push(ChainTable {
            entry,
            subject: None,
            steps: chain_steps(steps),
            then: Vec::new(),
            pipelines: Vec::new(),
        }),
        ItemData::Pass { subject, repeats, body } => {
            lists.passes.push(pass(subject.as_ref(), *repeats, print_block(body)));
        }
        ItemData::Lint { subject, body, .. } => {
            lists.passes.push(pass(subject.as_ref(), false, print_block(body)));
        }
        ItemData::Order { mode, first, ignore } => {
            let mut steps = vec![format!("mode = {}", print_expr(mode))];
            for (word, clause) in [("first", first), ("ignore edges from", ignore)] {
                steps.extend(clause.iter().map(|(binder, condition)| {
                    format!("{word} {} where {}", binder.text, print_expr(condition))
                }));
            }
            lists.passes.push(pass(None, false, steps));
        }
        ItemData::Walk { steps, .. } => {
            let cases = steps.iter().map(|step| CaseRow {
                name: None,
                condition: Some(step.condition.as_ref().map_or_else(|| "true".to_owned(), print_expr)),
                value: step.next.as_ref().map_or_else(|| "stop".to_owned(), print_expr),
            });
            lists.lists.push(ListTable { entry, cases: cases.collect() });
        }
        ItemData::Pipeline { steps, role } => {
            let steps = steps.iter().map(|step| PipelineStepRow {
                name: step.name.text.as_str(),
                condition: step.when.as_ref().map(print_expr),
                tolerant: step.tolerant,
            });
            let (name, steps) = (name.as_str(), steps.collect());
            lists.pipelines.push(PipelineTable { name, as_pass: *role == PipelineRole::Pass, steps });
        }
        ItemData::Measure { title, unit, subject, value } => lists.measures.push(MeasureRow {
            name: name.as_str(),
            title: title.clone(),
            unit: unit.map(|unit| unit.text.as_str()),
            subject: subject_words(subject),
            value: value.as_ref().map(print_expr),
        }),
        _ => {}
    }
}

fn chain_steps(steps: &[ChainStep]) -> Vec<ChainStepRow> {
    let mut rows = Vec::new();
    chain_steps_at(steps, 0, &mut rows);
    rows
}

fn chain_steps_at(steps: &[ChainStep], depth: usize, rows: &mut Vec<ChainStepRow>) {
    for step in steps {
        let (kind, name, condition) = match step {
            ChainStep::Let { name, value } => ("let", name, print_expr(value)),
            ChainStep::Require { name, condition, .. } => ("require", name, print_expr(condition)),
            ChainStep::Attempt { name, .. } => ("attempt", name, String::new()),
            ChainStep::For { binder, list, condition, .. } => {
                let only =
                    condition.as_ref().map(|c| format!(" where {}", print_expr(c))).unwrap_or_default();
                ("for", binder, format!("{}{only}", print_expr(list)))
            }
            ChainStep::Use { group, args, when } => {
                let args: Vec<String> = args.iter().map(print_expr).collect();
                let when =
                    when.as_ref().map(|when| format!(" when {}", print_expr(when))).unwrap_or_default();
                ("use", group, format!("({}){when}", args.join(", ")))
            }
        };
        let texts = step_parts(step).texts;
        let text = |word| texts.iter().find(|(other, _)| *other == word).map(|(_, text)| print_text(text));
        let name = name.text.as_str();
        rows.push(ChainStepRow { kind, name, condition, reason: text("else"), help: text("help"), depth });
        chain_steps_at(inner_steps(step), depth + 1, rows);
    }
}

fn step_exprs<'a>(steps: &'a [ChainStep], found: &mut Vec<&'a Expr>) {
    for step in steps {
        let parts = step_parts(step);
        found.extend(parts.exprs);
        parts.blocks.into_iter().for_each(|block| block_exprs(&block.statements, found));
        step_exprs(inner_steps(step), found);
    }
}

fn subject_words(subject: &Subject) -> String {
    let list = subject.list.as_ref().map(|list| format!(" in {}", print_expr(list))).unwrap_or_default();
    let condition = subject.condition.as_ref().map(|c| format!(" where {}", print_expr(c)));
    format!("{}{list}{}", subject.param.name.text, condition.unwrap_or_default())
}

fn cases(entry: Ref, list: &Expr) -> ListTable {
    let ExprKind::First { cases, otherwise } = &*list.kind else {
        return ListTable { entry, cases: Vec::new() };
    };
    let rows = cases.iter().map(|case| CaseRow {
        name: case.name.map(|name| name.text.as_str()),
        condition: Some(print_expr(&case.condition)),
        value: print_expr(&case.value),
    });
    let last =
        otherwise.iter().map(|value| CaseRow { name: None, condition: None, value: print_expr(value) });
    ListTable { entry, cases: rows.chain(last).collect() }
}

/// The expressions of an item that are in no other expression.
pub fn whole(item: &Item) -> Vec<&Expr> {
    let mut found = Vec::new();
    match &item.data {
        ItemData::Fn { body, .. } => found.push(body),
        ItemData::Walk { steps, .. } => {
            found.extend(steps.iter().flat_map(|step| step.condition.iter().chain(&step.next)));
        }
        ItemData::Attribute { rule: AttributeRule::Where(condition), .. } => found.push(condition),
        ItemData::DefaultAlways { target } => found.push(target),
        ItemData::Skip { when, .. } => found.push(when),
        ItemData::Checker(checker) => {
            found.extend(&checker.when);
            match &checker.action {
                CheckerAction::Isolate { target, .. } => found.push(target),
                CheckerAction::Body(block) => block_exprs(&block.statements, &mut found),
            }
        }
        ItemData::Chain { subject, steps, then } => {
            found.extend(subject.list.iter().chain(&subject.condition));
            step_exprs(steps, &mut found);
            block_exprs(then.iter().flat_map(|block| &block.statements), &mut found);
        }
        ItemData::Pass { subject, body, .. } | ItemData::Lint { subject, body, .. } => {
            found.extend(subject.iter().flat_map(|subject| subject.list.iter().chain(&subject.condition)));
            block_exprs(&body.statements, &mut found);
        }
        ItemData::Measure { subject, value, .. } => {
            found.extend(subject.list.iter().chain(&subject.condition).chain(value));
        }
        ItemData::Symbols { body, .. } | ItemData::Action { body, .. } => {
            block_exprs(&body.statements, &mut found);
        }
        ItemData::Order { mode, first, ignore } => {
            found.push(mode);
            found.extend(first.iter().chain(ignore).map(|(_, condition)| condition));
        }
        ItemData::Steps { steps, .. } => step_exprs(steps, &mut found),
        ItemData::Pipeline { steps, .. } => found.extend(steps.iter().filter_map(|step| step.when.as_ref())),
        _ => {}
    }
    found
}

fn block_exprs<'a>(statements: impl IntoIterator<Item = &'a Statement>, found: &mut Vec<&'a Expr>) {
    for statement in statements {
        let parts = statement_parts(statement);
        found.extend(parts.exprs);
        for block in parts.blocks {
            block_exprs(&block.statements, found);
        }
        if let StatementKind::Insert { named: Some(named), .. } = &statement.kind {
            found.extend(named.parts.iter().filter_map(|part| match part {
                crate::lang::syntax::ast::TextPart::Value(value) => Some(value),
                crate::lang::syntax::ast::TextPart::Literal(_) => None,
            }));
        }
    }
}

/// What an entry runs that has a name of its own.
fn named(db: &dyn Db, rules: RuleSet, kind: Kind, name: Sym) -> Vec<Ref> {
    let uses = entry_uses(db, rules);
    let Some(number) = uses.number(kind, name) else { return Vec::new() };
    let runs = |kind| matches!(kind, Kind::Symbols | Kind::Chain | Kind::Action | Kind::Order);
    let direct = uses.direct(number).iter().filter(|&&used| runs(uses.entries[used].0));
    direct.map(|&used| uses.reference(used)).collect()
}

/// The pipelines that come to an entry by its name.
fn pipelines(db: &dyn Db, rules: RuleSet, kind: Kind, name: Sym) -> Vec<&'static str> {
    let steps = |pipeline| -> Vec<Sym> {
        match db::entry(db, rules, EntryName::new(db, Kind::Pipeline, pipeline)).as_deref() {
            Some(Entry::Pipeline { steps, .. }) => steps.iter().map(|step| step.name).collect(),
            _ => Vec::new(),
        }
    };
    let names = db::names(db, rules, Kind::Pipeline);
    let all_lints = Sym::new(crate::lang::syntax::print::keyword(Kind::Lint));
    let mut running: Vec<Sym> = Vec::new();
    // A pipeline may run one that is declared later.
    for _ in 0..names.len() {
        for &pipeline in names {
            let runs = |step: &Sym| {
                *step == name || running.contains(step) || kind == Kind::Lint && *step == all_lints
            };
            if !running.contains(&pipeline) && steps(pipeline).iter().any(runs) {
                running.push(pipeline);
            }
        }
    }
    names.iter().filter(|name| running.contains(name)).map(|name| name.as_str()).collect()
}
