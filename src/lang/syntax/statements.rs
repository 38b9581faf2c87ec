//! Statements in braces.

use super::ast::{Block, Expr, ExprKind, Name, Position, Span, Statement, StatementKind, Text};
use super::build::{Builder, Rule, Tree, child, children, has, only};
use super::items::only_word;

impl Builder {
    /// The statements of `{ … }`.
    pub fn body(&mut self, tree: &Tree) -> Option<Block> {
        let mut complete = true;
        let mut statements: Vec<Statement> = Vec::new();
        for inner in children(tree, Rule::statement) {
            let span = self.span(&inner);
            self.own_line(tree, statements.last().map(|last| last.span), span);
            match self.statement(&inner) {
                Some(kind) => statements.push(Statement { span, kind }),
                None => complete = false,
            }
        }
        complete.then_some(Block { statements })
    }

    pub fn body_in(&mut self, tree: &Tree) -> Option<Block> {
        self.body(&child(tree, Rule::body)?)
    }

    /// A statement begins on a new line, or after `;`.
    fn own_line(&mut self, tree: &Tree, before: Option<Span>, here: Span) {
        let Some(before) = before else { return };
        let offset = |at: u32| (at - self.base) as usize;
        let between = tree.get_input().get(offset(before.end)..offset(here.start)).unwrap_or("");
        if !between.contains(['\n', ';']) {
            let start = Span { start: here.start, end: here.start + 1 };
            let error =
                self.error("syntax::statement", start, "a statement begins on a new line or after `;`");
            error.labels[0].text = "begins here".to_owned();
        }
    }

    fn statement(&mut self, tree: &Tree) -> Option<StatementKind> {
        let inner = only(tree)?;
        match inner.as_rule() {
            Rule::let_statement => self.let_statement(&inner),
            Rule::if_statement => self.if_statement(&inner),
            Rule::for_statement => {
                let binder = self.name_in(&inner, Rule::name)?;
                let list = self.expr_in(&inner, Rule::simple);
                let condition = self.condition(&inner)?;
                let body = self.body_in(&inner)?;
                Some(StatementKind::For { binder, list: list?, condition, body })
            }
            Rule::stop_statement => Some(StatementKind::Stop),
            Rule::do_statement => self.do_statement(&inner, None),
            Rule::give_statement => Some(StatementKind::Give(self.expr_in(&inner, Rule::expr)?)),
            Rule::isolate_statement => {
                let (position, target) = self.isolate(&child(&inner, Rule::isolate)?)?;
                Some(StatementKind::Isolate {
                    position,
                    target,
                    because: self.clause(&inner, Rule::because)?,
                })
            }
            Rule::fail_statement => Some(StatementKind::Fail(self.text(&child(&inner, Rule::text)?)?)),
            Rule::halt_statement => Some(StatementKind::Halt(self.text(&child(&inner, Rule::text)?)?)),
            Rule::report_statement => {
                let places = self.exprs_in(&inner, Rule::simple)?;
                let message = self.text(&child(&inner, Rule::text)?)?;
                let level =
                    child(&inner, Rule::level).as_ref().and_then(only_word).map(|word| self.name(&word));
                let answer = match child(&inner, Rule::answered_by) {
                    Some(clause) => Some(self.expr_in(&clause, Rule::simple)?),
                    None => None,
                };
                let help = self.clause(&inner, Rule::help)?;
                Some(StatementKind::Report { places, message, level, help, answer })
            }
            Rule::insert => self.insert(&inner, None),
            Rule::clear_statement => {
                let subject = self.expr_in(&inner, Rule::simple)?;
                Some(StatementKind::Clear { subject, except: self.name_in(&inner, Rule::name)? })
            }
            Rule::set_statement => self.set(&inner),
            Rule::sort_statement => Some(StatementKind::Sort { order: self.name_in(&inner, Rule::name)? }),
            Rule::apply_statement => {
                let chain = self.name_in(&inner, Rule::name)?;
                Some(StatementKind::Apply { chain, to: self.expr_in(&inner, Rule::simple)? })
            }
            Rule::resolve_statement => self.resolve(&inner),
            Rule::attempt_statement => {
                let mut bodies = children(&inner, Rule::body).map(|body| self.body(&body));
                let body = bodies.next()??;
                let otherwise = bodies.next();
                let otherwise = match otherwise {
                    Some(block) => Some(block?),
                    None => None,
                };
                Some(StatementKind::Attempt { body, otherwise })
            }
            Rule::sweep_statement => {
                let binder = self.name_in(&inner, Rule::name)?;
                let graph = self.expr_in(&inner, Rule::simple);
                let condition = self.condition(&inner)?;
                let body = self.body_in(&inner)?;
                Some(StatementKind::Sweep { binder, graph: graph?, condition, body })
            }
            Rule::track_statement => {
                let symbols = self.name_in(&inner, Rule::name)?;
                let graph = self.expr_in(&inner, Rule::simple)?;
                let otherwise = match child(&inner, Rule::body) {
                    Some(body) => Some(self.body(&body)?),
                    None => None,
                };
                Some(StatementKind::Track { symbols, graph, otherwise })
            }
            _ => self.simple_statement(&inner),
        }
    }

    /// A keyword with one or two expressions.
    fn simple_statement(&mut self, tree: &Tree) -> Option<StatementKind> {
        let mut values = self.exprs_in(tree, Rule::simple)?.into_iter();
        let first = values.next()?;
        let second = values.next();
        Some(match tree.as_rule() {
            Rule::found_statement => StatementKind::Found(first),
            Rule::join_statement => StatementKind::Join { anchor: first, to: second? },
            Rule::unite_statement => StatementKind::Unite { anchor: first, with: second? },
            Rule::merge_statement => StatementKind::Merge { anchor: first, into: second? },
            Rule::delete_statement => StatementKind::Delete(first),
            Rule::connect_statement => StatementKind::Connect { from: first, to: second? },
            Rule::cut_statement => StatementKind::Cut(first),
            Rule::link_statement => StatementKind::Link { from: first, to: second? },
            Rule::unlink_statement => StatementKind::Unlink { from: first, to: second? },
            _ => return None,
        })
    }

    fn let_statement(&mut self, tree: &Tree) -> Option<StatementKind> {
        let name = self.name_in(tree, Rule::name)?;
        if let Some(inner) = child(tree, Rule::do_statement) {
            return self.do_statement(&inner, Some(name));
        }
        if let Some(inner) = child(tree, Rule::insert) {
            return self.insert(&inner, Some(name));
        }
        Some(StatementKind::Let { name, value: self.expr_in(tree, Rule::expr)? })
    }

    fn if_statement(&mut self, tree: &Tree) -> Option<StatementKind> {
        let mut arms = Vec::new();
        for arm in children(tree, Rule::if_arm) {
            let condition = self.expr_in(&arm, Rule::simple);
            let body = self.body_in(&arm);
            arms.push((condition, body));
        }
        let otherwise = match child(tree, Rule::body) {
            Some(body) => Some(self.body(&body)?),
            None => None,
        };
        let arms = arms.into_iter().map(|(condition, body)| condition.zip(body)).collect::<Option<_>>()?;
        Some(StatementKind::If { arms, otherwise })
    }

    fn do_statement(&mut self, tree: &Tree, bind: Option<Name>) -> Option<StatementKind> {
        let action = self.name_in(tree, Rule::name)?;
        let args = self.exprs_in(&child(tree, Rule::args)?, Rule::expr)?;
        Some(StatementKind::Do { bind, action, args })
    }

    fn insert(&mut self, tree: &Tree, bind: Option<Name>) -> Option<StatementKind> {
        let op = self.expr_in(tree, Rule::simple);
        let named = self.clause(tree, Rule::named)?;
        let mut fields = Vec::new();
        if let Some(block) = child(tree, Rule::fields) {
            for field in children(&block, Rule::field) {
                fields.push((self.name_in(&field, Rule::name)?, self.expr_in(&field, Rule::expr)?));
            }
        }
        Some(StatementKind::Insert { bind, op: op?, named, fields })
    }

    /// `set place = value`: the last access of the place says what is set.
    fn set(&mut self, tree: &Tree) -> Option<StatementKind> {
        let place = self.expr_in(tree, Rule::postfix)?;
        let value = self.expr_in(tree, Rule::expr)?;
        let span = place.span;
        match *place.kind {
            ExprKind::Attr { base, attr, exists: false } => {
                Some(StatementKind::SetAttr { subject: base, attr, value })
            }
            ExprKind::Note { base, note } => Some(StatementKind::SetNote { subject: base, note, value }),
            ExprKind::Member { base, name, args: None } => {
                Some(StatementKind::SetField { subject: base, field: name, value })
            }
            _ => {
                let message = "only an attribute, a note or a field can be set";
                self.error("syntax::set", span, message).help =
                    Some("write `set n.attr(NAME) = value` or `set a.field = value`".to_owned());
                None
            }
        }
    }

    fn resolve(&mut self, tree: &Tree) -> Option<StatementKind> {
        let names = self.names_in(tree, Rule::name);
        let [symbols, binder] = <[Name; 2]>::try_from(names).ok()?;
        let graph = self.expr_in(tree, Rule::simple);
        let body = self.body_in(tree)?;
        Some(StatementKind::Resolve { symbols, graph: graph?, binder, body })
    }

    /// `isolate`, with or without a side.
    pub fn isolate(&mut self, tree: &Tree) -> Option<(Option<Position>, Expr)> {
        let position = child(tree, Rule::position).map(|position| position_of(&position));
        Some((position, self.expr_in(tree, Rule::simple)?))
    }

    /// The condition behind `where`; the outer `None` means that it is there and bad.
    pub fn condition(&mut self, tree: &Tree) -> Option<Option<Expr>> {
        match child(tree, Rule::condition) {
            Some(condition) => self.expr_in(&condition, Rule::simple).map(Some),
            None => Some(None),
        }
    }

    /// The text of an optional clause such as `because "…"`; the outer `None` means that it is there and bad.
    pub fn clause(&mut self, tree: &Tree, rule: Rule) -> Option<Option<Text>> {
        match child(tree, rule) {
            Some(clause) => self.text(&child(&clause, Rule::text)?).map(Some),
            None => Some(None),
        }
    }
}

pub fn position_of(tree: &Tree) -> Position {
    if has(tree, Rule::kw_before) { Position::Before } else { Position::After }
}
