//! Statements: which kind of item may do what, and the types of what they are given.

use super::codes;
use super::lower::Cx;
use super::narrow::known_some;
use super::types::{attr_ty, fits, show, strip};
use crate::lang::Diagnostic;
use crate::lang::diagnostic::with_article;
use crate::lang::hir::{Block, Expr, ExprId, Field, Insert, Local, Statement, Ty};
use crate::lang::syntax::ast::{self, Kind, Name, Position, Span, StatementKind};

/// The kinds of items that may use a statement, and its word; `None`: all may.
fn allowed(kind: &StatementKind) -> Option<(&'static [Kind], &'static str)> {
    const EDITS: &[Kind] = &[Kind::Pass, Kind::Chain, Kind::Action];
    Some(match kind {
        StatementKind::Let { .. }
        | StatementKind::If { .. }
        | StatementKind::For { .. }
        | StatementKind::Stop
        | StatementKind::Do { .. } => return None,
        StatementKind::Give(_) => (&[Kind::Action], "give"),
        StatementKind::Isolate { .. } => (&[Kind::Checker], "isolate"),
        StatementKind::Found(_) => (&[Kind::Symbols], "found"),
        StatementKind::Join { .. } => (&[Kind::Symbols], "join"),
        StatementKind::Unite { .. } => (&[Kind::Symbols], "unite"),
        StatementKind::Fail(_) => {
            (&[Kind::Symbols, Kind::Pass, Kind::Chain, Kind::Action, Kind::Lint], "fail")
        }
        StatementKind::Halt(_) => (&[Kind::Pass, Kind::Action], "halt"),
        StatementKind::Report { .. } => (&[Kind::Lint, Kind::Pass, Kind::Action], "report"),
        StatementKind::Insert { .. } => (EDITS, "insert"),
        StatementKind::Clear { .. } => (EDITS, "clear"),
        StatementKind::Delete(_) => (EDITS, "delete"),
        StatementKind::Connect { .. } => (EDITS, "connect"),
        StatementKind::Cut(_) => (EDITS, "cut"),
        StatementKind::Link { .. } => (EDITS, "link"),
        StatementKind::Unlink { .. } => (EDITS, "unlink"),
        StatementKind::SetAttr { .. } | StatementKind::SetNote { .. } | StatementKind::SetField { .. } => {
            (EDITS, "set")
        }
        StatementKind::Sort { .. } => (&[Kind::Pass], "sort"),
        StatementKind::Apply { .. } => (&[Kind::Pass], "apply"),
        StatementKind::Resolve { .. } => (&[Kind::Pass], "resolve"),
        StatementKind::Attempt { .. } => (EDITS, "attempt"),
        StatementKind::Sweep { .. } => (&[Kind::Pass], "sweep"),
        StatementKind::Track { .. } => (&[Kind::Pass], "track"),
        StatementKind::Merge { .. } => (EDITS, "merge"),
    })
}

/// Nothing after such a statement runs.
fn ends(statement: &ast::Statement) -> bool {
    match &statement.kind {
        StatementKind::Stop | StatementKind::Give(_) | StatementKind::Fail(_) | StatementKind::Halt(_) => {
            true
        }
        StatementKind::If { arms, otherwise: Some(otherwise) } => {
            block_ends(otherwise) && arms.iter().all(|(_, block)| block_ends(block))
        }
        _ => false,
    }
}

fn block_ends(block: &ast::Block) -> bool {
    block.statements.last().is_some_and(ends)
}

/// Every way through the block gives a value or fails.
pub(super) fn gives(block: &ast::Block) -> bool {
    block.statements.last().is_some_and(|last| match &last.kind {
        StatementKind::Give(_) | StatementKind::Fail(_) | StatementKind::Halt(_) => true,
        StatementKind::If { arms, otherwise: Some(otherwise) } => {
            gives(otherwise) && arms.iter().all(|(_, block)| gives(block))
        }
        _ => false,
    })
}

/// Where an anchor, a node or a graph may be meant.
const PLACES: [Ty; 3] = [Ty::Node, Ty::Anchor, Ty::Graph];

impl Cx<'_> {
    /// Lowers a block in a sight of its own.
    pub fn block(&mut self, block: &ast::Block) -> Block {
        let mark = self.env.len();
        let mut saved = Vec::new();
        let mut lowered = Vec::with_capacity(block.statements.len());
        let mut ended = false;
        for statement in &block.statements {
            if ended {
                let message = "this never runs";
                self.report(Diagnostic::warning(codes::UNREACHABLE, statement.span, message));
                break;
            }
            if let Some(Some(made)) = self.deeper(statement.span, |cx| cx.statement(statement)) {
                lowered.push(made);
            }
            ended = ends(statement);
            // `if x is none { stop }`: from here on `x` is some.
            if let StatementKind::If { arms, otherwise: None } = &statement.kind
                && let [(condition, then)] = &arms[..]
                && block_ends(then)
            {
                saved.push(self.narrow(&known_some(condition, false)));
            }
        }
        for names in saved.into_iter().rev() {
            self.widen(names);
        }
        self.leave(mark);
        lowered
    }

    fn statement(&mut self, statement: &ast::Statement) -> Option<Statement> {
        let span = statement.span;
        if let Some((kinds, word)) = allowed(&statement.kind)
            && !kinds.contains(&self.kind)
        {
            let own = with_article(super::scope::keyword(self.kind));
            let message = format!("`{word}` is not for {own}");
            let kinds: Vec<String> =
                kinds.iter().map(|kind| format!("`{}`", super::scope::keyword(*kind))).collect();
            let error = Diagnostic::error(codes::NOT_HERE, span, message);
            self.report(error.help(format!("`{word}` may stand in {}", kinds.join(", "))));
        }
        Some(match &statement.kind {
            StatementKind::Let { name, value } => {
                let (value, ty) = self.expr(value, None);
                Statement::Let { local: self.declare(*name, ty, "local"), value }
            }
            StatementKind::If { arms, otherwise } => self.if_statement(arms, otherwise.as_ref()),
            StatementKind::For { binder, list, condition, body } => {
                let (local, list, body) =
                    self.loop_over(*binder, list, condition.as_ref(), |cx| cx.block(body));
                Statement::For { local, list, body }
            }
            StatementKind::Stop => Statement::Stop,
            StatementKind::Do { bind, action, args } => self.do_statement(*bind, *action, args)?,
            StatementKind::Give(value) => match self.gives.clone() {
                Some(want) => Statement::Give(self.check(value, &want)),
                None => {
                    self.expr(value, None);
                    if self.kind == Kind::Action {
                        let message = "this action does not say what it gives";
                        let error = Diagnostic::error(codes::NOT_HERE, span, message);
                        self.report(error.help("write `action NAME(…) -> TYPE`"));
                    }
                    return None;
                }
            },
            StatementKind::Isolate { position, target, because } => {
                let target = self.isolate_target(*position, target);
                let reason = because.as_ref().map(|text| self.text(text)).or(self.reason);
                Statement::Isolate { target, reason }
            }
            StatementKind::Found(anchor) => Statement::Found(self.check(anchor, &Ty::Anchor)),
            StatementKind::Join { anchor, to } => {
                Statement::Join { anchor: self.check(anchor, &Ty::Anchor), to: self.check(to, &Ty::Anchor) }
            }
            StatementKind::Unite { anchor, with } => Statement::Unite {
                anchor: self.check(anchor, &Ty::Anchor),
                with: self.check(with, &Ty::Anchor),
            },
            StatementKind::Fail(text) => Statement::Fail(self.text(text)),
            StatementKind::Halt(text) => Statement::Halt(self.text(text)),
            StatementKind::Report { places, message, level, help, answer } => {
                let places = places.iter().map(|place| self.place(place)).collect();
                let message = self.text(message);
                let level = level.map(|level| self.level(Some(level)));
                let help = help.as_ref().map(|text| self.text(text));
                let answer = answer.as_ref().map(|node| self.check(node, &Ty::Node));
                Statement::Report { places, message, level, help, answer }
            }
            StatementKind::Insert { bind, op, named, fields } => {
                self.insert(*bind, op, named.as_ref(), fields, span)
            }
            StatementKind::Clear { subject, except } => {
                let (subject_id, ty) = self.plain(subject, None);
                self.demand(&ty, &PLACES, subject.span);
                self.item_name(*except, Kind::Set);
                Statement::Clear { subject: subject_id, except: except.text }
            }
            StatementKind::Delete(node) => Statement::Delete(self.check(node, &Ty::Node)),
            StatementKind::Connect { from, to } => {
                Statement::Connect { from: self.check(from, &Ty::Output), to: self.check(to, &Ty::Input) }
            }
            StatementKind::Cut(input) => Statement::Cut(self.check(input, &Ty::Input)),
            StatementKind::Link { from, to } => {
                Statement::Link { from: self.check(from, &Ty::Node), to: self.check(to, &Ty::Node) }
            }
            StatementKind::Unlink { from, to } => {
                Statement::Unlink { from: self.check(from, &Ty::Node), to: self.check(to, &Ty::Node) }
            }
            StatementKind::SetAttr { subject, attr, value } => self.set_attr(subject, *attr, value)?,
            StatementKind::SetNote { subject, note, value } => {
                let (subject_id, owner) = self.plain(subject, None);
                let ty = self.note_ty(&owner, *note, subject.span);
                let value = self.check(value, &ty.clone().unwrap_or(Ty::Error));
                ty?;
                Statement::SetNote { subject: subject_id, note: note.text, value }
            }
            StatementKind::SetField { subject, field, value } => self.set_field(subject, *field, value)?,
            StatementKind::Sort { order } => {
                self.item_name(*order, Kind::Order);
                Statement::Sort { order: order.text }
            }
            StatementKind::Apply { chain, to } => {
                let subject = self.scope.chains.get(&chain.text).cloned();
                self.item_name(*chain, Kind::Chain);
                let to = self.check(to, &subject.unwrap_or(Ty::Error));
                Statement::Apply { chain: chain.text, to }
            }
            StatementKind::Resolve { symbols, graph, binder, body } => {
                self.item_name(*symbols, Kind::Symbols);
                let graph = self.check(graph, &Ty::Graph);
                let mark = self.env.len();
                let local = self.declare(*binder, Ty::Anchor, "name");
                let body = self.block(body);
                self.leave(mark);
                Statement::Resolve { symbols: symbols.text, graph, local, body }
            }
            StatementKind::Attempt { body, otherwise } => {
                let body = self.block(body);
                let otherwise = otherwise.as_ref().map(|block| self.block(block)).unwrap_or_default();
                Statement::Attempt { body, otherwise }
            }
            StatementKind::Sweep { binder, graph, condition, body } => {
                let graph = self.check(graph, &Ty::Graph);
                let mark = self.env.len();
                let local = self.declare(*binder, Ty::Node, "name");
                let test = condition.as_ref().map(|condition| self.check(condition, &Ty::Bool));
                let saved = condition.as_ref().map(|condition| self.narrow(&known_some(condition, true)));
                let body = self.block(body);
                if let Some(saved) = saved {
                    self.widen(saved);
                }
                self.leave(mark);
                Statement::Sweep { graph, local, condition: test, body }
            }
            StatementKind::Track { symbols, graph, otherwise } => {
                self.item_name(*symbols, Kind::Symbols);
                let graph = self.check(graph, &Ty::Graph);
                let otherwise = otherwise.as_ref().map(|block| self.block(block));
                Statement::Track { symbols: symbols.text, graph, otherwise }
            }
            StatementKind::Merge { anchor, into } => Statement::Merge {
                anchor: self.check(anchor, &Ty::Anchor),
                into: self.check(into, &Ty::Anchor),
            },
        })
    }

    fn if_statement(
        &mut self,
        arms: &[(ast::Expr, ast::Block)],
        otherwise: Option<&ast::Block>,
    ) -> Statement {
        let mut saved = Vec::new();
        let mut lowered = Vec::with_capacity(arms.len());
        for (condition, block) in arms {
            let test = self.check(condition, &Ty::Bool);
            let block = self.knowing(condition, true, |cx| cx.block(block));
            lowered.push((test, block));
            saved.push(self.narrow(&known_some(condition, false)));
        }
        let otherwise = otherwise.map(|block| self.block(block)).unwrap_or_default();
        for names in saved.into_iter().rev() {
            self.widen(names);
        }
        Statement::If { arms: lowered, otherwise }
    }

    /// A loop: its local, its list, and what `body` makes of what it runs for each element.
    pub fn loop_over<T>(
        &mut self,
        binder: Name,
        list: &ast::Expr,
        condition: Option<&ast::Expr>,
        body: impl FnOnce(&mut Self) -> T,
    ) -> (Local, ExprId, T) {
        let span = list.span;
        let (mut id, element) = self.list(list);
        let mut used = false;
        if let Some(condition) = condition {
            // The condition sees the element under the loop's name, and as `it`.
            let mark = self.env.len();
            let local = self.declare(binder, element.clone(), "name");
            self.env.push(super::lower::Binding {
                name: crate::graph::Sym::new("it"),
                slot: local,
                ty: element.clone(),
                at: None,
                declared: None,
                used: false,
            });
            let test = self.check(condition, &Ty::Bool);
            used = self.env.get(mark).is_some_and(|binding| binding.used);
            if let Some(binding) = self.env.get_mut(mark) {
                binding.declared = None;
            }
            self.leave(mark);
            id = self.push(Expr::Where { local, list: id, condition: test }, span);
        }
        let mark = self.env.len();
        let duplicate = condition.is_some();
        let local = if duplicate {
            self.bind_slot(binder.text, element, Some((binder.span, "name")))
        } else {
            self.declare(binder, element, "name")
        };
        if let Some(binding) = self.env.get_mut(mark) {
            binding.used = used;
        }
        let saved = condition.map(|condition| self.narrow(&known_some(condition, true)));
        let body = body(self);
        if let Some(saved) = saved {
            self.widen(saved);
        }
        self.leave(mark);
        (local, id, body)
    }

    fn do_statement(&mut self, bind: Option<Name>, action: Name, args: &[ast::Expr]) -> Option<Statement> {
        if !self.item_name(action, Kind::Action) {
            for arg in args {
                self.expr(arg, None);
            }
            if let Some(name) = bind {
                self.declare(name, Ty::Error, "local");
            }
            return None;
        }
        let sig = self.scope.actions.get(&action.text).cloned()?;
        if sig.params.len() != args.len() {
            self.wrong_count(action.text.as_str(), sig.params.len(), args.len(), action.span);
        }
        let ids = args.iter().zip(&sig.params).map(|(arg, param)| self.check(arg, param)).collect();
        let bind = bind.map(|name| {
            if sig.result.is_none() {
                let message = format!("`{}` gives nothing", action.text);
                self.report(Diagnostic::error(codes::TYPE_MISMATCH, action.span, message));
            }
            self.declare(name, sig.result.clone().unwrap_or(Ty::Error), "local")
        });
        Some(Statement::Do { bind, action: action.text, args: ids })
    }

    /// The anchor of an `isolate`; a stated side must be able to be true.
    pub fn isolate_target(&mut self, position: Option<Position>, target: &ast::Expr) -> ExprId {
        let (id, ty) = self.expr(target, Some(&Ty::Anchor));
        let id = self.coerce(id, &ty, &Ty::Anchor, target.span);
        let wrong = match (position, &ty) {
            (Some(Position::Before), Ty::Output) => Some(("before", "after", "an output")),
            (Some(Position::After), Ty::Input) => Some(("after", "before", "an input")),
            _ => None,
        };
        if let Some((said, right, what)) = wrong {
            let message = format!("`isolate {said}` {what}");
            let error = Diagnostic::error(codes::ISOLATE_SIDE, target.span, message);
            self.report(error.help(format!("write `isolate {right}`, or leave the side away")));
        }
        id
    }

    /// Something that a finding can point at.
    fn place(&mut self, place: &ast::Expr) -> ExprId {
        let (id, ty) = self.expr(place, None);
        self.demand(&ty, &PLACES, place.span);
        id
    }

    fn insert(
        &mut self,
        bind: Option<Name>,
        op: &ast::Expr,
        named: Option<&ast::Text>,
        fields: &[(Name, ast::Expr)],
        span: Span,
    ) -> Statement {
        let op = self.check(op, &Ty::Op);
        let named = named.map(|text| self.text_parts(text));
        let mut insert =
            Insert { bind: None, op, named, graph: None, behind: None, inputs: None, outputs: None };
        for (name, value) in fields {
            let (slot, ty) = match name.text.as_str() {
                "inputs" => (&mut insert.inputs, Ty::Int),
                "outputs" => (&mut insert.outputs, Ty::Int),
                "behind" => (&mut insert.behind, Ty::Node),
                "graph" => (&mut insert.graph, Ty::Graph),
                other => {
                    let message = format!("an inserted node has no `{other}`");
                    let error = Diagnostic::error(codes::UNKNOWN_NAME, name.span, message);
                    self.report(error.help("its fields are `inputs`, `outputs`, `behind`, `graph`"));
                    continue;
                }
            };
            if slot.is_some() {
                let message = format!("`{}` is given twice", name.text);
                self.report(Diagnostic::error(codes::DUPLICATE, name.span, message));
            }
            *slot = Some(self.check(value, &ty));
        }
        if insert.graph.is_none() && insert.behind.is_none() && self.env.iter().all(|b| b.name != "root") {
            let message = "this does not say to which graph the node is added";
            let error = Diagnostic::error(codes::NEEDS_DEFAULT, span, message);
            self.report(error.help("write `{ behind = NODE }` or `{ graph = GRAPH }`"));
        }
        insert.bind = bind.map(|name| self.declare(name, Ty::Node, "local"));
        Statement::Insert(Box::new(insert))
    }

    fn set_attr(&mut self, subject: &ast::Expr, attr: Name, value: &ast::Expr) -> Option<Statement> {
        let (subject_id, subject_ty) = self.plain(subject, None);
        let keys = self.attr_keys(&subject_ty, attr, subject.span);
        let ty = self.scope.attrs.get(&attr.text).map(|sig| sig.ty);
        let want = ty.and_then(attr_ty).map_or(Ty::Error, Ty::optional);
        let (value_id, value_ty) = self.expr(value, Some(&want));
        if let Some(ast::AttrType::Any) = ty
            && value_ty != Ty::None
            && value_ty != Ty::Error
        {
            let message = format!("`{}` is of type `any` and can only be removed", attr.text);
            let error = Diagnostic::error(codes::TYPE_MISMATCH, value.span, message);
            self.report(error.help("write `= none`, or declare its type"));
        }
        let value = self.coerce(value_id, &value_ty, &want, value.span);
        keys?;
        Some(Statement::SetAttr { subject: subject_id, key: attr.text, ty: ty?, value })
    }

    fn set_field(&mut self, subject: &ast::Expr, field: Name, value: &ast::Expr) -> Option<Statement> {
        let (subject_id, ty) = self.plain(subject, None);
        let anchor = fits(&ty, &Ty::Anchor);
        let node = fits(&ty, &Ty::Node);
        let known = match field.text.as_str() {
            "tensor" if anchor => Some((Field::Tensor, Ty::Anchor)),
            "reuse_input" if anchor => Some((Field::ReuseInput, Ty::Int.optional())),
            "data_offset" if anchor => Some((Field::DataOffset, Ty::Int)),
            "name" if anchor => Some((Field::Name, Ty::Str)),
            "input_is_const" if node => Some((Field::InputIsConst, Ty::list(Ty::Bool))),
            "id" if node => Some((Field::Id, Ty::Int)),
            _ => None,
        };
        let Some((field, want)) = known else {
            let message = format!("`{}` of `{}` cannot be set", field.text, show(strip(&ty)));
            let error = Diagnostic::error(codes::UNKNOWN_FACT, field.span, message);
            let help = if node {
                "of a node: `input_is_const`, `id`, `attr(NAME)`"
            } else {
                "of an anchor: `tensor`, `reuse_input`, `data_offset`, `name`, `attr(NAME)`"
            };
            self.report(error.help(help));
            self.expr(value, None);
            return None;
        };
        let value = self.check(value, &want);
        Some(Statement::SetField { subject: subject_id, field, value })
    }
}
