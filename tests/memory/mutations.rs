//! What can be taken out of the rules, one thing at a time.
//!
//! Promise: deletions and their names come from the syntax tree, so how a file is laid out makes no difference to them.

use std::collections::BTreeMap;

use anchorwatch::engine::RuleSources;
use anchorwatch::lang::syntax::ast::{
    BinaryOp, Block, ChainStep, CheckerAction, CheckerForm, Expr, ExprKind, Item, ItemData, Kind, Name, Statement,
    StatementKind,
};
use anchorwatch::lang::syntax::{parse_file, print, print_block, print_expr, print_item};

use crate::soundness::ALL;

/// Files whose ordered lists, conditions and actions protect. Those that only read or describe are left out.
const FILES: [&str; 10] = [
    "edits",
    "hccl",
    "identity",
    "inner_identity",
    "layout",
    "layout_pass",
    "readwrite",
    "sharing",
    "subgraph",
    "tensor_move",
];

/// Actions that only describe a copy, or note something for others.
const BOOKKEEPING: [&str; 12] = [
    "label_copy",
    "inherit_settings",
    "hand_over_output",
    "refresh_output_flags",
    "mark_copy",
    "check_original_type",
    "know_writes",
    "forget_writes",
    "unbind_port",
    "hand_on_label",
    "identity_force",
    "report_bad_reuse",
];

/// One change to the rules.
#[derive(Clone)]
pub struct Deletion {
    pub name: String,
    pub change: Change,
    /// A step of a chain: has a row in the table even where the rules are refused without it.
    pub step: bool,
}

#[derive(Clone)]
pub enum Change {
    /// Another text for a rule file.
    Text(String, String),
    /// An overlay.
    Overlay(String),
    /// This step of the run is left out.
    Step(&'static str),
}

pub fn text<'r>(rules: &'r RuleSources, file: &str) -> &'r str {
    let path = format!("rules/{file}.anchor");
    rules.files.iter().find(|(name, ..)| *name == path).map_or("", |(_, text, _)| text)
}

/// All of them, in the order of the files.
pub fn deletions(rules: &RuleSources) -> Vec<Deletion> {
    let mut all = Vec::new();
    for file in FILES {
        let whole = text(rules, file);
        for parsed in parse_file(whole).items {
            let Some(item) = parsed.item.filter(|item| item.kind != Kind::Test) else { continue };
            let around = (&whole[..parsed.source.start as usize], &whole[parsed.source.end as usize..]);
            let title = match item.kind {
                Kind::Always => String::new(),
                kind => format!("{} {}", print::keyword(kind), item.name.text),
            };
            for overlay in removals(&item) {
                let name = format!("{file}: {overlay}");
                let change = Change::Overlay(format!("remove {overlay}\n"));
                all.push(Deletion { name, change, step: false });
            }
            for Mutant { name, item, step } in mutants(&item) {
                let text = format!("{}{}{}", around.0, print_item(&item), around.1);
                let name = format!("{file}: {title}: {name}");
                all.push(Deletion { name, change: Change::Text(file.to_owned(), text), step });
            }
        }
    }
    all.extend(ALL.iter().collect::<std::collections::BTreeSet<_>>().into_iter().map(|step| Deletion {
        name: format!("pass {step}"),
        change: Change::Step(step),
        step: false,
    }));
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for deletion in &mut all {
        let count = seen.entry(key(&deletion.name)).or_default();
        *count += 1;
        if *count > 1 {
            deletion.name += &format!(" ({count})");
        }
    }
    all
}

/// A name without what only makes it easier to read.
pub fn key(name: &str) -> String {
    name.chars().filter(|c| !c.is_whitespace() && !matches!(c, '(' | ')')).collect()
}

/// Whole entries, as an overlay names them.
fn removals(item: &Item) -> Vec<String> {
    match &item.data {
        ItemData::Checker(_) => vec![format!("checker {}", item.name.text)],
        ItemData::Always { left, right, .. } => {
            right.iter().map(|other| format!("always {} with {}", left.text, other.text)).collect()
        }
        _ => Vec::new(),
    }
}

struct Mutant {
    name: String,
    item: Item,
    step: bool,
}

/// The item without each of its parts.
fn mutants(item: &Item) -> Vec<Mutant> {
    // Each time another part is taken out, until there is none of that number.
    (0..)
        .map_while(|number| {
            let mut item = item.clone();
            let mut cut = Cut { left: number, name: None, step: false };
            cut.item(&mut item);
            cut.name.map(|name| Mutant { name, item, step: cut.step })
        })
        .filter(|mutant| !mutant.name.is_empty())
        .collect()
}

/// Takes out one part of a tree.
struct Cut {
    /// So many parts are passed by.
    left: usize,
    /// What was taken out.
    name: Option<String>,
    step: bool,
}

impl Cut {
    /// Whether the part that is met now is the one to go.
    fn meets(&mut self) -> bool {
        if self.name.is_some() {
            return false;
        }
        let here = self.left == 0;
        self.left = self.left.saturating_sub(1);
        here
    }

    fn item(&mut self, item: &mut Item) {
        match &mut item.data {
            ItemData::Fn { body, .. } => {
                self.operand(body);
                self.lists(body);
            }
            ItemData::Skip { when, .. } => self.operand(when),
            ItemData::Checker(checker) => {
                let (first, second) = match &mut checker.form {
                    CheckerForm::Pair { first, second, .. } => (&mut first.marks, &mut second.marks),
                    CheckerForm::Group { first, second } => (first, second),
                };
                self.mark(first);
                self.mark(second);
                if let CheckerAction::Body(body) = &mut checker.action {
                    self.block(body);
                }
            }
            ItemData::Matrix { header, cells, .. } => {
                for (row, cells) in cells {
                    for (column, cell) in header.iter().zip(cells) {
                        if cell.text.as_str() == "InsertIdentity" && self.meets() {
                            cell.text = anchorwatch::graph::Sym::new("DoNothing");
                            self.name = Some(format!("{} x {}", row.text, column.text));
                        }
                    }
                }
            }
            ItemData::Chain { steps, then, .. } => {
                self.steps(steps);
                then.iter_mut().for_each(|block| self.block(block));
            }
            ItemData::Steps { steps, .. } => self.steps(steps),
            ItemData::Action { body, .. } | ItemData::Pass { body, .. } => self.block(body),
            _ => {}
        }
    }

    /// One of the marks of a role that has several.
    fn mark(&mut self, marks: &mut Vec<Name>) {
        for at in 0..marks.len() {
            if marks.len() > 1 && self.meets() {
                self.name = Some(format!("or {}", marks.remove(at).text));
            }
        }
    }

    /// One of the alternatives that make up what a function says.
    fn operand(&mut self, expr: &mut Expr) {
        if let ExprKind::Block { value, .. } = &mut *expr.kind {
            return self.operand(value);
        }
        let ExprKind::Binary { op: whole @ (BinaryOp::And | BinaryOp::Or), .. } = *expr.kind else { return };
        let word = if whole == BinaryOp::And { "and" } else { "or" };
        let mut place = expr;
        loop {
            let same = matches!(&*place.kind, ExprKind::Binary { op, .. } if *op == whole);
            if !same {
                return;
            }
            let ExprKind::Binary { left, right, .. } = &*place.kind else { return };
            let (left, right) = (left.clone(), right.clone());
            if self.meets() {
                self.name = Some(format!("{word} {}", print_expr(&right)));
                *place = left;
                return;
            }
            let deeper = matches!(&*left.kind, ExprKind::Binary { op, .. } if *op == whole);
            if !deeper {
                if self.meets() {
                    self.name = Some(format!("{word} {}", print_expr(&left)));
                    *place = right;
                }
                return;
            }
            let ExprKind::Binary { left, .. } = &mut *place.kind else { return };
            place = left;
        }
    }

    /// One case of an ordered list, wherever the list stands.
    fn lists(&mut self, expr: &mut Expr) {
        match &mut *expr.kind {
            ExprKind::First { cases, otherwise } => {
                for at in 0..cases.len() {
                    if let Some(name) = cases[at].name
                        && self.meets()
                    {
                        self.name = Some(name.text.to_string());
                        cases.remove(at);
                        return;
                    }
                }
                cases.iter_mut().for_each(|case| self.lists(&mut case.value));
                otherwise.iter_mut().for_each(|value| self.lists(value));
            }
            ExprKind::Block { lets, value } => {
                lets.iter_mut().for_each(|(_, value)| self.lists(value));
                self.lists(value);
            }
            ExprKind::If { then, otherwise, .. } => {
                self.lists(then);
                self.lists(otherwise);
            }
            ExprKind::Match { arms, otherwise, .. } => {
                arms.iter_mut().for_each(|(_, value)| self.lists(value));
                otherwise.iter_mut().for_each(|value| self.lists(value));
            }
            ExprKind::Binary { left, right, .. } => {
                self.lists(left);
                self.lists(right);
            }
            _ => {}
        }
    }

    fn steps(&mut self, steps: &mut Vec<ChainStep>) {
        for at in 0..steps.len() {
            let title = match &mut steps[at] {
                ChainStep::Require { name, .. } => format!("require {}", name.text),
                ChainStep::Attempt { name, .. } => format!("attempt {}", name.text),
                ChainStep::For { steps, .. } => {
                    self.steps(steps);
                    continue;
                }
                ChainStep::Use { group, .. } => format!("use {}", group.text),
                ChainStep::Let { .. } => continue,
            };
            if self.meets() {
                (self.name, self.step) = (Some(title), true);
                steps.remove(at);
                return;
            }
        }
    }

    fn block(&mut self, block: &mut Block) {
        for at in 0..block.statements.len() {
            let acts = match &block.statements[at].kind {
                StatementKind::Do { bind: None, action, .. } => {
                    let action = action.text.as_str();
                    !action.starts_with("describe_") && !BOOKKEEPING.contains(&action)
                }
                StatementKind::Link { .. } | StatementKind::Merge { .. } => true,
                _ => false,
            };
            if acts && self.meets() {
                let gone = Block { statements: vec![block.statements.remove(at)] };
                self.name = print_block(&gone).first().map(|text| text.trim().to_owned());
                return;
            }
            self.inside(&mut block.statements[at]);
            if self.name.is_some() {
                return;
            }
        }
    }

    fn inside(&mut self, statement: &mut Statement) {
        match &mut statement.kind {
            StatementKind::If { arms, otherwise } => {
                arms.iter_mut().for_each(|(_, block)| self.block(block));
                otherwise.iter_mut().for_each(|block| self.block(block));
            }
            StatementKind::For { body, .. }
            | StatementKind::Sweep { body, .. }
            | StatementKind::Resolve { body, .. } => self.block(body),
            StatementKind::Attempt { body, otherwise } => {
                self.block(body);
                otherwise.iter_mut().for_each(|block| self.block(block));
            }
            _ => {}
        }
    }
}
