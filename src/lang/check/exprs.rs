//! Expressions: one arm a form. Types flow both ways: what is wanted reaches bare words, what is found comes back.

use super::codes;
use super::lower::Cx;
use super::narrow::known_some;
use super::sights::Meaning;
use super::types::{is_optional, join, show, strip};
use crate::graph::Sym;
use crate::lang::Diagnostic;
use crate::lang::hir::{Const, Expr, ExprId, Ty};
use crate::lang::syntax::ast::{self, ExprKind, FirstCase, Kind, Name, Quantifier, Span};

impl Cx<'_> {
    /// Lowers an expression. `want` is a hint for bare words and empty lists; the caller checks the type that comes back.
    pub fn expr(&mut self, expr: &ast::Expr, want: Option<&Ty>) -> (ExprId, Ty) {
        match self.deeper(expr.span, |cx| cx.expr_kind(expr, want)) {
            Some(result) => {
                self.see_type(expr.span, &result.1);
                result
            }
            None => self.bad(expr.span),
        }
    }

    fn expr_kind(&mut self, expr: &ast::Expr, want: Option<&Ty>) -> (ExprId, Ty) {
        let span = expr.span;
        match &*expr.kind {
            ExprKind::Name(name) => self.word(*name, span, want),
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Str(_) | ExprKind::Bool(_) | ExprKind::None => {
                self.literal(expr, want)
            }
            ExprKind::Not(inner) => {
                let inner = self.check(inner, &Ty::Bool);
                (self.push(Expr::Not(inner), span), Ty::Bool)
            }
            ExprKind::Negate(inner) => self.negate(inner, span, want),
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right, span, want),
            ExprKind::IsNone { value, negated } => self.is_none(value, *negated, span),
            ExprKind::Where { list, condition } => self.filter(list, condition, span),
            ExprKind::Member { base, name, args } => self.member(base, *name, args.as_deref(), span),
            ExprKind::Attr { base, attr, exists } => self.attr(base, *attr, *exists, span),
            ExprKind::HasMark { base, mark } => self.has_mark(base, *mark, span),
            ExprKind::Note { base, note } => self.note(base, *note, span),
            ExprKind::Call { name, args } => self.call(*name, args, span),
            ExprKind::Index { base, index } => self.index(base, index, span),
            ExprKind::Quantifier { kind, binder, list, condition } => {
                self.quantifier(*kind, *binder, list, condition, span)
            }
            ExprKind::If { condition, then, otherwise } => {
                let test = self.check(condition, &Ty::Bool);
                let (then_id, then_ty) = self.knowing(condition, true, |cx| cx.expr(then, want));
                let want = want.unwrap_or(&then_ty);
                let (else_id, else_ty) = self.knowing(condition, false, |cx| cx.expr(otherwise, Some(want)));
                let ty = self.meet(&then_ty, &else_ty, otherwise.span);
                (self.push(Expr::If { condition: test, then: then_id, otherwise: else_id }, span), ty)
            }
            ExprKind::Match { value, arms, otherwise } => {
                self.match_expr(value, arms, otherwise.as_ref(), span, want)
            }
            ExprKind::First { cases, otherwise } => self.first(cases, otherwise.as_ref(), span, want),
            ExprKind::Block { lets, value } => self.block_expr(lets, value, span, want),
            ExprKind::List(elements) | ExprKind::SetLiteral(elements) => self.list_expr(elements, span, want),
            ExprKind::Option(name) => self.option(*name, span),
            ExprKind::Symbols { name, graph } => {
                let graph = self.check(graph, &Ty::Graph);
                if !self.item_name(*name, Kind::Symbols) {
                    return self.bad(span);
                }
                (self.push(Expr::Symbols { symbols: name.text, graph }, span), Ty::Symbols)
            }
            ExprKind::Conflicts { graph, table } => {
                self.uses.insert(super::scope::ALL_PAIR_RULES);
                let graph = self.check(graph, &Ty::Graph);
                let table = self.check(table, &Ty::Symbols);
                (self.push(Expr::Conflicts { graph, table }, span), Ty::Bool)
            }
            ExprKind::WouldConflict { graph, first, second } => {
                self.uses.insert(super::scope::ALL_PAIR_RULES);
                let graph = self.check(graph, &Ty::Graph);
                let (first, second) = (self.check(first, &Ty::Anchor), self.check(second, &Ty::Anchor));
                (self.push(Expr::WouldConflict { graph, first, second }, span), Ty::Bool.optional())
            }
            ExprKind::Counter(name) => {
                if !matches!(self.kind, Kind::Pass | Kind::Chain | Kind::Action) {
                    let error = Diagnostic::error(codes::NOT_HERE, span, "only a pass counts");
                    self.report(error.help("`counter` is for passes, chains and actions"));
                    return self.bad(span);
                }
                (self.push(Expr::Counter(name.text), span), Ty::Int)
            }
        }
    }

    /// The type of two alternatives.
    pub fn meet(&mut self, known: &Ty, other: &Ty, span: Span) -> Ty {
        join(known, other).unwrap_or_else(|| {
            let message = format!("this is `{}`, what comes before it is `{}`", show(other), show(known));
            self.report(Diagnostic::error(codes::TYPE_MISMATCH, span, message));
            Ty::Error
        })
    }

    fn is_none(&mut self, value: &ast::Expr, negated: bool, span: Span) -> (ExprId, Ty) {
        let (id, ty) = self.expr(value, None);
        if !is_optional(&ty) && ty != Ty::Error && !self.was_optional(value) {
            let message = format!("this is `{}`, which is never none", show(&ty));
            self.report(Diagnostic::warning(codes::NOT_OPTIONAL, value.span, message));
        }
        (self.push(Expr::IsNone { value: id, negated }, span), Ty::Bool)
    }

    /// A narrowed local may be asked again: the second question is harmless.
    fn was_optional(&self, value: &ast::Expr) -> bool {
        matches!(*value.kind, ExprKind::Name(name) if self.is_local(name))
    }

    fn filter(&mut self, list: &ast::Expr, condition: &ast::Expr, span: Span) -> (ExprId, Ty) {
        let (list, mut element) = self.list(list);
        let mark = self.env.len();
        let local = self.provide("it", element.clone());
        // `xs where it is some`: the elements that are left are some.
        if known_some(condition, true).contains(&Sym::new("it")) {
            element = strip(&element).clone();
        }
        let condition = self.check(condition, &Ty::Bool);
        self.leave(mark);
        (self.push(Expr::Where { local, list, condition }, span), Ty::list(element))
    }

    fn quantifier(
        &mut self,
        kind: Quantifier,
        binder: Name,
        list: &ast::Expr,
        condition: &ast::Expr,
        span: Span,
    ) -> (ExprId, Ty) {
        let (list, element) = self.list(list);
        let mark = self.env.len();
        let local = self.declare(binder, element.clone(), "name");
        let condition = self.check(condition, &Ty::Bool);
        self.leave(mark);
        let ty = match kind {
            Quantifier::All | Quantifier::Any => Ty::Bool,
            Quantifier::Count => Ty::Int,
            Quantifier::Find => element.optional(),
        };
        (self.push(Expr::Quantifier { kind, local, list, condition }, span), ty)
    }

    fn match_expr(
        &mut self,
        value: &ast::Expr,
        arms: &[(Vec<Name>, ast::Expr)],
        otherwise: Option<&ast::Expr>,
        span: Span,
        want: Option<&Ty>,
    ) -> (ExprId, Ty) {
        let (value_id, value_ty) = self.expr(value, None);
        let Ty::Enum(enum_name) = *strip(&value_ty) else {
            if value_ty != Ty::Error {
                let message = format!("`match` is over an enum, this is `{}`", show(&value_ty));
                self.report(Diagnostic::error(codes::TYPE_MISMATCH, value.span, message));
            }
            return self.bad(span);
        };
        self.uses_enum(enum_name);
        let variants = self.scope.variants(enum_name).unwrap_or_default();
        let mut bodies: Vec<Option<ExprId>> = vec![None; variants.len()];
        let mut seen: Vec<Option<Span>> = vec![None; variants.len()];
        let mut ty: Option<Ty> = None;
        let mut failed = false;
        for (names, body) in arms {
            let hint = want.or(ty.as_ref()).cloned();
            let (id, found) = self.expr(body, hint.as_ref());
            ty = Some(match &ty {
                Some(known) => self.meet(known, &found, body.span),
                None => found,
            });
            for name in names {
                let Some(at) = variants.iter().position(|variant| *variant == name.text) else {
                    self.unknown_variant(enum_name, name.text, name.span);
                    failed = true;
                    continue;
                };
                if let Some(first) = seen[at] {
                    let message = format!("`{}` is handled twice", name.text);
                    let error = Diagnostic::error(codes::DUPLICATE, name.span, message);
                    self.report(error.also(first, "first handled here"));
                }
                seen[at] = Some(name.span);
                self.see_variant(enum_name, *name);
                bodies[at] = bodies[at].or(Some(id));
            }
        }
        if let Some(body) = otherwise {
            let hint = want.or(ty.as_ref()).cloned();
            let (id, found) = self.expr(body, hint.as_ref());
            ty = Some(match &ty {
                Some(known) => self.meet(known, &found, body.span),
                None => found,
            });
            if bodies.iter().all(Option::is_some) {
                let message = "every variant is handled before this `else`";
                self.report(Diagnostic::warning(codes::UNREACHABLE, body.span, message));
            }
            for slot in &mut bodies {
                slot.get_or_insert(id);
            }
        }
        let missing: Vec<String> = variants
            .iter()
            .zip(&bodies)
            .filter(|(_, body)| body.is_none())
            .map(|(variant, _)| format!("`{variant}`"))
            .collect();
        if failed || !missing.is_empty() {
            if !failed {
                let message = format!("{} of `{enum_name}` not handled", missing.join(", "));
                let error = Diagnostic::error(codes::NOT_EXHAUSTIVE, value.span, message);
                self.report(error.help("add the missing arms or `else => …`"));
            }
            return self.bad(span);
        }
        let mut ty = ty.unwrap_or(Ty::Error);
        if is_optional(&value_ty) {
            ty = ty.optional();
        }
        let arms = bodies.into_iter().flatten().collect();
        (self.push(Expr::Match { value: value_id, arms }, span), ty)
    }

    fn first(
        &mut self,
        cases: &[FirstCase],
        otherwise: Option<&ast::Expr>,
        span: Span,
        want: Option<&Ty>,
    ) -> (ExprId, Ty) {
        let mut ty: Option<Ty> = None;
        let mut lowered = Vec::with_capacity(cases.len());
        let mut saved = Vec::new();
        for case in cases {
            let condition = self.check(&case.condition, &Ty::Bool);
            let hint = want.or(ty.as_ref()).cloned();
            let (value, found) =
                self.knowing(&case.condition, true, |cx| cx.expr(&case.value, hint.as_ref()));
            ty = Some(match &ty {
                Some(known) => self.meet(known, &found, case.value.span),
                None => found,
            });
            lowered.push((condition, value));
            // The later cases know that this one did not hold.
            saved.push(self.narrow(&super::narrow::known_some(&case.condition, false)));
        }
        let otherwise = otherwise.map(|value| {
            let hint = want.or(ty.as_ref()).cloned();
            let (id, found) = self.expr(value, hint.as_ref());
            ty = Some(match &ty {
                Some(known) => self.meet(known, &found, value.span),
                None => found,
            });
            id
        });
        for names in saved.into_iter().rev() {
            self.widen(names);
        }
        let mut ty = ty.unwrap_or(Ty::None);
        if otherwise.is_none() {
            ty = ty.optional();
        }
        let id = self.push(Expr::First { cases: lowered.into_boxed_slice(), otherwise }, span);
        if !self.in_text {
            for (at, case) in cases.iter().enumerate() {
                if let Some(name) = case.name {
                    self.out.names.push((id, at as u32, name.text));
                }
            }
        }
        (id, ty)
    }

    fn block_expr(
        &mut self,
        lets: &[(Name, ast::Expr)],
        value: &ast::Expr,
        span: Span,
        want: Option<&Ty>,
    ) -> (ExprId, Ty) {
        let mark = self.env.len();
        let mut bound = Vec::with_capacity(lets.len());
        let depth = self.depth;
        for (name, value) in lets {
            let (id, ty) = self.expr(value, None);
            bound.push((self.declare(*name, ty, "local"), id, value.span));
            // Each name holds what follows it, so a long block is a deep expression.
            self.depth += 1;
        }
        let (mut id, ty) = self.expr(value, want);
        self.depth = depth;
        self.leave(mark);
        for (local, value, _) in bound.into_iter().rev() {
            id = self.push(Expr::Let { local, value, body: id }, span);
        }
        (id, ty)
    }

    fn list_expr(&mut self, elements: &[ast::Expr], span: Span, want: Option<&Ty>) -> (ExprId, Ty) {
        let hint = want.and_then(|want| match strip(want) {
            Ty::List(element) => Some((**element).clone()),
            _ => None,
        });
        // An empty list fits every list.
        let mut ty = Ty::Error;
        let mut ids = Vec::with_capacity(elements.len());
        for (at, element) in elements.iter().enumerate() {
            let known = hint.clone().or_else(|| (at > 0).then(|| ty.clone()));
            let (id, found) = self.expr(element, known.as_ref());
            ty = if at == 0 { found } else { self.meet(&ty, &found, element.span) };
            ids.push(id);
        }
        (self.push(Expr::List(ids.into_boxed_slice()), span), Ty::list(ty))
    }

    fn option(&mut self, name: Name, span: Span) -> (ExprId, Ty) {
        if !self.item_name(name, Kind::Option) {
            return self.bad(span);
        }
        let ty = self.scope.options.get(&name.text).cloned().unwrap_or(Ty::Error);
        (self.push(Expr::Option(name.text), span), ty)
    }

    /// `TABLE[k]` or `xs[i]`.
    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> (ExprId, Ty) {
        if let ExprKind::Name(name) = *base.kind
            && !self.is_local(name)
            && let Some((key_ty, value_ty)) = self.scope.tables.get(&name).cloned()
        {
            self.uses(Kind::Table, name);
            self.see(base.span, || Meaning::Entry(Kind::Table, name));
            let key = self.check(index, &key_ty.optional());
            return (self.push(Expr::Table { table: name, key }, span), value_ty.optional());
        }
        let (mut list, ty) = self.expr(base, None);
        let index = self.check(index, &Ty::Int);
        let element = match strip(&ty) {
            Ty::List(element) => (**element).clone(),
            Ty::Group => {
                list = self.fact(crate::lang::facts::Fact::GroupAnchors, list, base.span);
                Ty::Anchor
            }
            Ty::Error => Ty::Error,
            other => {
                let message = format!("expected a list or a `table`, found `{}`", show(other));
                self.report(Diagnostic::error(codes::TYPE_MISMATCH, base.span, message));
                Ty::Error
            }
        };
        (self.push(Expr::Index { list, index }, span), element.optional())
    }

    /// The complaint about a variant that the enum does not have.
    pub fn unknown_variant(&mut self, enum_name: Sym, word: Sym, span: Span) {
        let variants = self.scope.variants(enum_name).unwrap_or_default();
        let message = format!("`{enum_name}` has no variant `{word}`");
        let error = Diagnostic::error(codes::UNKNOWN_NAME, span, message);
        let near =
            crate::lang::diagnostic::did_you_mean(word.as_str(), variants.iter().map(|name| name.as_str()));
        let known: Vec<String> = variants.iter().map(|name| format!("`{name}`")).collect();
        self.report(match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(format!("its variants are {}", known.join(", "))),
        });
    }

    /// A constant, or a complaint. Nothing stays in the body.
    pub fn const_value(&mut self, expr: &ast::Expr, want: &Ty) -> Option<Const> {
        let before = self.body.exprs.len();
        let (id, ty) = self.expr(expr, Some(want));
        let id = self.coerce(id, &ty, want, expr.span);
        let value = match self.body.exprs.get(id as usize) {
            Some(Expr::Const(value)) if ty != Ty::Error => Some(value.clone()),
            _ => None,
        };
        self.body.exprs.truncate(before);
        self.spans.truncate(before);
        if value.is_none() && ty != Ty::Error {
            self.report(Diagnostic::error(codes::BAD_VALUE, expr.span, "a constant is needed here"));
        }
        value.filter(|_| super::types::fits(&ty, want))
    }
}
