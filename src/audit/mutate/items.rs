//! Small changes of whole items: what makes each kind up, and the item itself.

use super::change::Surgeon;
use crate::lang::syntax::ast::{
    AttributeRule, CheckerAction, CheckerForm, Expr, ExprKind, Item, ItemData, Name, OptionType, Role,
    SetTerm, Subject,
};
use crate::lang::syntax::print::keyword;
use crate::lang::syntax::{print_expr, print_type};

/// What is left of an item.
#[derive(Debug, PartialEq)]
pub enum Left {
    Changed,
    /// The item is to go.
    Nothing,
}

impl Surgeon {
    /// Makes the change in an item.
    pub fn item(&mut self, item: &mut Item) -> Left {
        let word = keyword(item.kind);
        let (name, span) = (item.name.text, item.name.span);
        match &mut item.data {
            ItemData::Never { left, right } | ItemData::Always { left, right, .. } => {
                if right.len() > 1 {
                    self.drop_name("drop the pair", right);
                } else {
                    let other = right.first().map_or("any", |mark| mark.text.as_str());
                    let old = format!("{word} {} with {other}", left.text);
                    if self.offer("drop the entry", left.span, old, String::new()) {
                        return Left::Nothing;
                    }
                }
                return Left::Changed;
            }
            ItemData::Checker(_) | ItemData::Skip { .. }
                if self.offer("drop the entry", span, format!("{word} {name}"), String::new()) =>
            {
                return Left::Nothing;
            }
            _ => {}
        }
        self.data(&mut item.data);
        Left::Changed
    }

    fn data(&mut self, data: &mut ItemData) {
        match data {
            ItemData::Attr { .. }
            | ItemData::Note { .. }
            | ItemData::Enum { .. }
            | ItemData::Never { .. }
            | ItemData::Always { .. }
            | ItemData::Test(_)
            | ItemData::Removed { .. } => {}
            ItemData::Set { terms, .. } => {
                if terms.len() > 1 {
                    self.drop_one("drop the element", terms, |term| match term {
                        SetTerm::Named(name) => Some((name.span, name.text.to_string())),
                        SetTerm::Literal(_) => None,
                    });
                }
                for term in terms {
                    if let SetTerm::Literal(elements) = term {
                        self.elements(elements);
                    }
                }
            }
            ItemData::Table { rows, .. } => {
                if rows.len() > 1 {
                    self.drop_one("drop the row", rows, |(key, value)| {
                        Some((key.span, format!("{} => {}", print_expr(key), print_expr(value))))
                    });
                }
                rows.iter_mut().for_each(|(_, value)| self.expr(value));
            }
            ItemData::Option { ty, default, .. } => {
                let Some(value) = default else { return };
                if let (OptionType::Variants(variants), ExprKind::Name(old)) = (ty, &*value.kind) {
                    let at = variants.iter().position(|variant| variant.text == *old).unwrap_or_default();
                    let next = variants.get((at + 1) % variants.len().max(1)).map_or(*old, |next| next.text);
                    if self.offer("change the default", value.span, old.to_string(), next.to_string()) {
                        *value.kind = ExprKind::Name(next);
                    }
                } else {
                    self.expr(value);
                }
            }
            ItemData::Fn { result, body, .. } => {
                if print_type(result) == "Bool" {
                    self.condition(body)
                } else {
                    self.expr(body)
                }
            }
            ItemData::Walk { steps, .. } => {
                if steps.len() > 1 {
                    self.drop_one("drop the step", steps, |step| {
                        let when = step.condition.as_ref().map(print_expr).unwrap_or_default();
                        Some((step.span, format!("at {} where {when}", step.binder.text)))
                    });
                }
                for step in steps {
                    self.guard(&mut step.condition);
                    step.next.iter_mut().for_each(|next| self.expr(next));
                }
            }
            ItemData::Symbols { body, .. } | ItemData::Action { body, .. } => self.block(body),
            ItemData::Pass { subject, body, .. } | ItemData::Lint { subject, body, .. } => {
                subject.iter_mut().for_each(|subject| self.subject(subject));
                self.block(body);
            }
            ItemData::Attribute { rule, .. } => {
                if let AttributeRule::Where(condition) = rule {
                    self.condition(condition);
                }
            }
            ItemData::Measure { subject, value, .. } => {
                self.subject(subject);
                value.iter_mut().for_each(|value| self.expr(value));
            }
            ItemData::DefaultAlways { target } => self.expr(target),
            ItemData::Skip { when, .. } => self.condition(when),
            ItemData::Checker(checker) => {
                self.guard(&mut checker.when);
                self.roles(&mut checker.form, &mut checker.action);
                match &mut checker.action {
                    CheckerAction::Isolate { target, .. } => self.expr(target),
                    CheckerAction::Body(block) => self.block(block),
                }
            }
            ItemData::Matrix { header, cells, .. } => self.cells(header, cells),
            ItemData::Chain { subject, steps, then } => {
                self.subject(subject);
                self.steps(steps);
                then.iter_mut().for_each(|block| self.block(block));
            }
            ItemData::Steps { steps, .. } => self.steps(steps),
            ItemData::Order { mode, first, ignore } => {
                self.expr(mode);
                for (_, condition) in first.iter_mut().chain(ignore) {
                    self.condition(condition);
                }
            }
            ItemData::Pipeline { steps, .. } => {
                if steps.len() > 1 {
                    self.drop_one("drop the step", steps, |step| {
                        Some((step.name.span, step.name.text.to_string()))
                    });
                }
                for step in steps {
                    let span = step.name.span;
                    self.guard(&mut step.when);
                    let words = ("otherwise warn".to_owned(), String::new());
                    if step.tolerant && self.offer("drop the clause", span, words.0, words.1) {
                        step.tolerant = false;
                    }
                }
            }
        }
    }

    fn subject(&mut self, subject: &mut Subject) {
        subject.list.iter_mut().for_each(|list| self.expr(list));
        self.guard(&mut subject.condition);
    }

    /// Other marks for the roles of a pair, or the other role for the copy.
    fn roles(&mut self, form: &mut CheckerForm, action: &mut CheckerAction) {
        let CheckerForm::Pair { last, first, second } = form else { return };
        let told = |last: bool, a: &Role, b: &Role| {
            let last = if last { "last " } else { "" };
            let marks = |role: &Role| {
                let words: Vec<&str> = role.marks.iter().map(|mark| mark.text.as_str()).collect();
                words.join(" or ")
            };
            format!("for {last}{}: {}, {}: {}", a.name.text, marks(a), b.name.text, marks(b))
        };
        let old = told(*last, first, second);
        let renamed = |role: &Role, name: Name| Role { name, marks: role.marks.clone() };
        let swapped = (renamed(first, second.name), renamed(second, first.name));
        if self.offer("swap the roles", first.name.span, old.clone(), told(*last, &swapped.0, &swapped.1)) {
            (*first, *second) = swapped;
            return;
        }
        if self.offer("take the other anchor", first.name.span, old, told(!*last, first, second)) {
            *last = !*last;
        }
        let CheckerAction::Isolate { position, target } = action else { return };
        let ExprKind::Name(role) = *target.kind else { return };
        let Some(other) = [first.name.text, second.name.text]
            .into_iter()
            .find(|name| *name != role)
            .filter(|_| role == first.name.text || role == second.name.text)
        else {
            return;
        };
        let words = (format!("isolate {role}"), format!("isolate {other}"));
        if self.offer("swap the side", target.span, words.0, words.1) {
            *target = Expr { span: target.span, kind: Box::new(ExprKind::Name(other)) };
            *position = None;
        }
    }

    /// Each cell as the value after its own, in the order in which the matrix mentions them.
    fn cells(&mut self, columns: &[Name], rows: &mut [(Name, Vec<Name>)]) {
        let mut values: Vec<Name> = Vec::new();
        for cell in rows.iter().flat_map(|(_, cells)| cells) {
            if values.iter().all(|known| known.text != cell.text) {
                values.push(*cell);
            }
        }
        for (row, cells) in rows {
            for (column, cell) in columns.iter().zip(cells) {
                let at = values.iter().position(|value| value.text == cell.text).unwrap_or_default();
                let Some(next) = values.get((at + 1) % values.len().max(1)) else { continue };
                let words = |value: &Name| format!("{} | {}: {}", row.text, column.text, value.text);
                if self.offer("change the cell", cell.span, words(cell), words(next)) {
                    cell.text = next.text;
                    return;
                }
            }
        }
    }
}
