//! Small changes of expressions and statements.
//!
//! Promise: every change of a tree has a number, and counting it twice gives the same numbers; the tree that a change leaves prints and
//! parses. Whether it means something, or something else than before, is for others to find out.

use crate::lang::syntax::ast::{
    BinaryOp, Block, ChainStep, Expr, ExprKind, Name, Position, Quantifier, Span, Statement, StatementKind,
};
use crate::lang::syntax::{print_block, print_expr};

/// A change that was made, in the words of the language.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What kind of change it is.
    pub what: &'static str,
    pub span: Span,
    pub old: String,
    /// Empty: it is gone.
    pub new: String,
}

/// Goes through a tree and makes the change with one number.
#[derive(Default)]
pub struct Surgeon {
    turn: usize,
    seen: usize,
    pub made: Option<Change>,
}

/// The opposite of a condition.
fn negated(condition: &Expr) -> Expr {
    if let ExprKind::Not(inner) = &*condition.kind {
        return inner.clone();
    }
    Expr { span: condition.span, kind: Box::new(ExprKind::Not(condition.clone())) }
}

fn first_line(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim().to_owned();
    if lines.next().is_some() { first + " …" } else { first }
}

impl Surgeon {
    /// One that makes the change with this number.
    pub fn new(turn: usize) -> Surgeon {
        Surgeon { turn, ..Surgeon::default() }
    }

    /// Whether the change that is told is the one to make.
    pub fn offer(&mut self, what: &'static str, span: Span, old: String, new: String) -> bool {
        if self.made.is_some() || old == new {
            return false;
        }
        self.seen += 1;
        if self.seen - 1 != self.turn {
            return false;
        }
        self.made = Some(Change { what, span, old, new });
        true
    }

    /// Drops one element of a list.
    pub fn drop_one<T>(
        &mut self,
        what: &'static str,
        list: &mut Vec<T>,
        told: impl Fn(&T) -> Option<(Span, String)>,
    ) {
        for at in 0..list.len() {
            if let Some((span, old)) = told(&list[at])
                && self.offer(what, span, old, String::new())
            {
                list.remove(at);
                return;
            }
        }
    }

    /// Drops one of several names.
    pub fn drop_name(&mut self, what: &'static str, names: &mut Vec<Name>) {
        if names.len() > 1 {
            self.drop_one(what, names, |name| Some((name.span, name.text.to_string())));
        }
    }

    fn replace(&mut self, what: &'static str, expr: &mut Expr, new: Expr) {
        if self.offer(what, expr.span, print_expr(expr), print_expr(&new)) {
            *expr = new;
        }
    }

    /// A condition that need not be there.
    pub fn guard(&mut self, condition: &mut Option<Expr>) {
        let Some(inner) = condition else { return };
        if self.offer("drop the condition", inner.span, print_expr(inner), String::new()) {
            *condition = None;
            return;
        }
        self.condition(inner);
    }

    /// An expression that something depends on.
    pub fn condition(&mut self, condition: &mut Expr) {
        let opposite = negated(condition);
        self.replace("negate", condition, opposite);
        self.expr(condition);
    }

    pub fn expr(&mut self, expr: &mut Expr) {
        if self.made.is_some() {
            return;
        }
        for (what, new) in variants(expr) {
            self.replace(what, expr, Expr { span: expr.span, kind: Box::new(new) });
            if self.made.is_some() {
                return;
            }
        }
        match &mut *expr.kind {
            ExprKind::Name(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::None
            | ExprKind::Option(_)
            | ExprKind::Counter(_) => {}
            ExprKind::Not(value) | ExprKind::Negate(value) | ExprKind::IsNone { value, .. } => {
                self.expr(value)
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Where { list, condition } | ExprKind::Quantifier { list, condition, .. } => {
                self.expr(list);
                self.condition(condition);
            }
            ExprKind::Member { base, args, .. } => {
                self.expr(base);
                args.iter_mut().flatten().for_each(|arg| self.expr(arg));
            }
            ExprKind::Attr { base, .. } | ExprKind::HasMark { base, .. } | ExprKind::Note { base, .. } => {
                self.expr(base);
            }
            ExprKind::Call { args, .. } => args.iter_mut().for_each(|arg| self.expr(arg)),
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.expr(index);
            }
            ExprKind::If { condition, then, otherwise } => {
                self.condition(condition);
                self.expr(then);
                self.expr(otherwise);
            }
            ExprKind::Match { value, arms, otherwise } => {
                self.expr(value);
                if otherwise.is_some() && arms.len() > 1 {
                    self.drop_one("drop the case", arms, |(names, value)| {
                        let words: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
                        let span = names.first().map_or(value.span, |name| name.span);
                        Some((span, format!("{} => {}", words.join(", "), print_expr(value))))
                    });
                }
                arms.iter_mut().for_each(|(_, value)| self.expr(value));
                otherwise.iter_mut().for_each(|value| self.expr(value));
            }
            ExprKind::First { cases, otherwise } => {
                if cases.len() > 1 {
                    self.drop_one("drop the case", cases, |case| {
                        let name = case.name.map(|name| format!("{} : ", name.text)).unwrap_or_default();
                        let (when, gives) = (print_expr(&case.condition), print_expr(&case.value));
                        Some((case.condition.span, format!("{name}{when} => {gives}")))
                    });
                }
                for case in cases {
                    self.condition(&mut case.condition);
                    self.expr(&mut case.value);
                }
                otherwise.iter_mut().for_each(|value| self.expr(value));
            }
            ExprKind::Block { lets, value } => {
                lets.iter_mut().for_each(|(_, value)| self.expr(value));
                self.expr(value);
            }
            ExprKind::List(elements) | ExprKind::SetLiteral(elements) => self.elements(elements),
            ExprKind::Symbols { graph, .. } => self.expr(graph),
            ExprKind::Conflicts { graph, table } => {
                self.expr(graph);
                self.expr(table);
            }
            ExprKind::WouldConflict { graph, first, second } => {
                [graph, first, second].into_iter().for_each(|part| self.expr(part));
            }
        }
    }

    /// Constants in braces or brackets.
    pub fn elements(&mut self, elements: &mut Vec<Expr>) {
        if elements.len() > 1 {
            self.drop_one("drop the element", elements, |element| Some((element.span, print_expr(element))));
        }
        elements.iter_mut().for_each(|element| self.expr(element));
    }

    pub fn block(&mut self, block: &mut Block) {
        self.drop_one("drop the statement", &mut block.statements, |statement| {
            // Without it, names would be missing, or other statements, which have their own turn.
            let stays = match &statement.kind {
                StatementKind::Let { .. }
                | StatementKind::If { .. }
                | StatementKind::For { .. }
                | StatementKind::Give(_)
                | StatementKind::Attempt { .. }
                | StatementKind::Sweep { .. }
                | StatementKind::Resolve { .. } => true,
                StatementKind::Do { bind, .. } | StatementKind::Insert { bind, .. } => bind.is_some(),
                _ => false,
            };
            let alone = || Block { statements: vec![statement.clone()] };
            (!stays).then(|| (statement.span, first_line(&print_block(&alone()).join("\n"))))
        });
        block.statements.iter_mut().for_each(|statement| self.statement(statement));
    }

    /// The other side of an anchor.
    pub fn position(&mut self, span: Span, position: &mut Option<Position>) {
        let Some(side) = position else { return };
        let (old, new, other) = match side {
            Position::Before => ("before", "after", Position::After),
            Position::After => ("after", "before", Position::Before),
        };
        if self.offer("swap the side", span, old.to_owned(), new.to_owned()) {
            *side = other;
        }
    }

    fn statement(&mut self, statement: &mut Statement) {
        let span = statement.span;
        match &mut statement.kind {
            StatementKind::Stop
            | StatementKind::Fail(_)
            | StatementKind::Halt(_)
            | StatementKind::Sort { .. } => {}
            StatementKind::Let { value, .. }
            | StatementKind::Give(value)
            | StatementKind::Found(value)
            | StatementKind::Delete(value)
            | StatementKind::Cut(value)
            | StatementKind::Apply { to: value, .. }
            | StatementKind::Clear { subject: value, .. } => self.expr(value),
            StatementKind::If { arms, otherwise } => {
                for (condition, block) in arms {
                    self.condition(condition);
                    self.block(block);
                }
                otherwise.iter_mut().for_each(|block| self.block(block));
            }
            StatementKind::For { list, condition, body, .. } => {
                self.expr(list);
                self.guard(condition);
                self.block(body);
            }
            StatementKind::Do { args, .. } => args.iter_mut().for_each(|arg| self.expr(arg)),
            StatementKind::Isolate { position, target, .. } => {
                self.position(span, position);
                self.expr(target);
            }
            StatementKind::Attempt { body, otherwise } => {
                self.block(body);
                otherwise.iter_mut().for_each(|block| self.block(block));
            }
            StatementKind::Sweep { graph, condition, body, .. } => {
                self.expr(graph);
                self.guard(condition);
                self.block(body);
            }
            StatementKind::Track { graph, otherwise, .. } => {
                self.expr(graph);
                otherwise.iter_mut().for_each(|block| self.block(block));
            }
            StatementKind::Join { anchor: a, to: b }
            | StatementKind::Merge { anchor: a, into: b }
            | StatementKind::Unite { anchor: a, with: b }
            | StatementKind::Connect { from: a, to: b }
            | StatementKind::Link { from: a, to: b }
            | StatementKind::Unlink { from: a, to: b }
            | StatementKind::SetAttr { subject: a, value: b, .. }
            | StatementKind::SetNote { subject: a, value: b, .. }
            | StatementKind::SetField { subject: a, value: b, .. } => {
                self.expr(a);
                self.expr(b);
            }
            StatementKind::Report { places, answer, .. } => {
                places.iter_mut().chain(answer).for_each(|place| self.expr(place));
            }
            StatementKind::Insert { op, fields, .. } => {
                self.expr(op);
                fields.iter_mut().for_each(|(_, value)| self.expr(value));
            }
            StatementKind::Resolve { graph, body, .. } => {
                self.expr(graph);
                self.block(body);
            }
        }
    }

    pub fn steps(&mut self, steps: &mut Vec<ChainStep>) {
        self.drop_one("drop the step", steps, |step| match step {
            ChainStep::Let { .. } => None,
            ChainStep::Require { name, condition, .. } => {
                Some((name.span, format!("require {} : {}", name.text, print_expr(condition))))
            }
            ChainStep::Attempt { name, .. } => Some((name.span, format!("attempt {}", name.text))),
            ChainStep::For { binder, list, .. } => {
                Some((binder.span, format!("for {} in {} …", binder.text, print_expr(list))))
            }
            ChainStep::Use { group, .. } => Some((group.span, format!("use {}", group.text))),
        });
        for step in steps {
            match step {
                ChainStep::Let { value, .. } => self.expr(value),
                ChainStep::Require { condition, .. } => self.condition(condition),
                ChainStep::Attempt { body, .. } => self.block(body),
                ChainStep::For { list, condition, steps, .. } => {
                    self.expr(list);
                    self.guard(condition);
                    self.steps(steps);
                }
                ChainStep::Use { args, when, .. } => {
                    args.iter_mut().for_each(|arg| self.expr(arg));
                    self.guard(when);
                }
            }
        }
    }
}

/// What could stand in the place of an expression; what is inside it has its own turn.
fn variants(expr: &Expr) -> Vec<(&'static str, ExprKind)> {
    const LITERAL: &str = "change the literal";
    const BOUND: &str = "move the bound";
    match &*expr.kind {
        ExprKind::Int(value) => vec![(LITERAL, ExprKind::Int(value.wrapping_add(1)))],
        ExprKind::Float(value) => vec![(LITERAL, ExprKind::Float(value + 1.0))],
        ExprKind::Str(text) => vec![(LITERAL, ExprKind::Str(format!("{text}_")))],
        ExprKind::Bool(value) => vec![(LITERAL, ExprKind::Bool(!value))],
        ExprKind::Quantifier { kind, binder, list, condition } => {
            let other = match kind {
                Quantifier::All => Quantifier::Any,
                Quantifier::Any => Quantifier::All,
                Quantifier::Count | Quantifier::Find => return Vec::new(),
            };
            let (list, condition) = (list.clone(), condition.clone());
            vec![(
                "swap `all` and `any`",
                ExprKind::Quantifier { kind: other, binder: *binder, list, condition },
            )]
        }
        ExprKind::Binary { op, op_span, left, right } => {
            let with =
                |op| ExprKind::Binary { op, op_span: *op_span, left: left.clone(), right: right.clone() };
            match op {
                BinaryOp::Lt => vec![(BOUND, with(BinaryOp::Le))],
                BinaryOp::Le => vec![(BOUND, with(BinaryOp::Lt))],
                BinaryOp::Gt => vec![(BOUND, with(BinaryOp::Ge))],
                BinaryOp::Ge => vec![(BOUND, with(BinaryOp::Gt))],
                BinaryOp::And | BinaryOp::Or => {
                    let what = if *op == BinaryOp::And { "drop the `and`" } else { "drop the `or`" };
                    let mut less = vec![(what, (*left.kind).clone())];
                    // Of `a and b and c` one operand goes at a time.
                    if !matches!(&*left.kind, ExprKind::Binary { op: inner, .. } if inner == op) {
                        less.push((what, (*right.kind).clone()));
                    }
                    less
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}
