//! Operators.

use super::codes;
use super::lower::Cx;
use super::sights::Meaning;
use super::types::{fits, is_optional, join, show, strip};
use crate::lang::Diagnostic;
use crate::lang::diagnostic::with_article;
use crate::lang::facts::Fact;
use crate::lang::hir::{Arith, Compare, Const, Expr, ExprId, Ty};
use crate::lang::syntax::ast::{self, BinaryOp, ExprKind, Kind, Span};

impl Cx<'_> {
    pub fn binary(
        &mut self,
        op: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
        want: Option<&Ty>,
    ) -> (ExprId, Ty) {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let a = self.check(left, &Ty::Bool);
                // The right side is only asked if the left one was true (`and`) or false (`or`).
                let b = self.knowing(left, op == BinaryOp::And, |cx| cx.check(right, &Ty::Bool));
                let expr = if op == BinaryOp::And { Expr::And(a, b) } else { Expr::Or(a, b) };
                (self.push(expr, span), Ty::Bool)
            }
            BinaryOp::Eq => self.equality(Compare::Eq, left, right, span),
            BinaryOp::Ne => self.equality(Compare::Ne, left, right, span),
            BinaryOp::Lt => self.order(Compare::Lt, left, right, span),
            BinaryOp::Le => self.order(Compare::Le, left, right, span),
            BinaryOp::Gt => self.order(Compare::Gt, left, right, span),
            BinaryOp::Ge => self.order(Compare::Ge, left, right, span),
            BinaryOp::In => self.membership(left, right, false, span),
            BinaryOp::NotIn => self.membership(left, right, true, span),
            BinaryOp::Coalesce => self.coalesce(left, right, span, want),
            BinaryOp::Range => {
                let from = self.check(left, &Ty::Int);
                let to = self.check(right, &Ty::Int);
                (self.push(Expr::Range(from, to), span), Ty::list(Ty::Int))
            }
            BinaryOp::Add => self.add(left, right, span, want),
            BinaryOp::Sub => self.arith(Arith::Sub, left, right, span, want),
            BinaryOp::Mul => self.arith(Arith::Mul, left, right, span, want),
            BinaryOp::Div => self.arith(Arith::Div, left, right, span, want),
            BinaryOp::Rem => self.arith(Arith::Rem, left, right, span, want),
        }
    }

    /// Both sides, so that a bare word on either side sees the type of the other.
    fn sides(&mut self, left: &ast::Expr, right: &ast::Expr) -> ((ExprId, Ty), (ExprId, Ty)) {
        if self.is_bare(left) && !self.is_bare(right) {
            let b = self.expr(right, None);
            let a = self.expr(left, Some(&b.1));
            (a, b)
        } else {
            let a = self.expr(left, None);
            let b = self.expr(right, Some(&a.1));
            (a, b)
        }
    }

    fn equality(&mut self, op: Compare, left: &ast::Expr, right: &ast::Expr, span: Span) -> (ExprId, Ty) {
        let ((a, a_ty), (b, b_ty)) = self.sides(left, right);
        if join(&a_ty, &b_ty).is_none() {
            let message = format!("`{}` and `{}` are never equal", show(&a_ty), show(&b_ty));
            self.report(Diagnostic::error(codes::TYPE_MISMATCH, span, message));
        }
        (self.push(Expr::Compare { op, left: a, right: b }, span), Ty::Bool)
    }

    fn order(&mut self, op: Compare, left: &ast::Expr, right: &ast::Expr, span: Span) -> (ExprId, Ty) {
        let (a, a_ty) = self.plain(left, None);
        let (b, b_ty) = self.plain(right, Some(&a_ty));
        self.numbers(&a_ty, &b_ty, left.span, right.span);
        (self.push(Expr::Compare { op, left: a, right: b }, span), Ty::Bool)
    }

    /// Demands two integers or two floats; gives their type.
    fn numbers(&mut self, a: &Ty, b: &Ty, a_span: Span, b_span: Span) -> Ty {
        match (a, b) {
            (Ty::Error, _) | (_, Ty::Error) => Ty::Error,
            (Ty::Int, Ty::Int) => Ty::Int,
            (Ty::Float, Ty::Float) => Ty::Float,
            (Ty::Int | Ty::Float, other) => {
                self.mismatch(other, a, b_span);
                Ty::Error
            }
            (other, _) => {
                self.mismatch(other, &Ty::Int, a_span);
                Ty::Error
            }
        }
    }

    fn arith(
        &mut self,
        op: Arith,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
        want: Option<&Ty>,
    ) -> (ExprId, Ty) {
        let want = want.filter(|want| matches!(strip(want), Ty::Int | Ty::Float));
        let (a, a_ty) = self.plain(left, want);
        let (b, b_ty) = self.plain(right, Some(&a_ty));
        let mut ty = self.numbers(&a_ty, &b_ty, left.span, right.span);
        let nonzero = matches!(*right.kind, ExprKind::Int(value) if value != 0)
            || matches!(&*right.kind, ExprKind::Negate(inner) if matches!(*inner.kind, ExprKind::Int(value) if value != 0));
        if matches!(op, Arith::Div | Arith::Rem) && ty == Ty::Int && !nonzero {
            ty = ty.optional();
        }
        (self.push(Expr::Arith { op, left: a, right: b }, span), ty)
    }

    fn add(&mut self, left: &ast::Expr, right: &ast::Expr, span: Span, want: Option<&Ty>) -> (ExprId, Ty) {
        let (a, a_ty) = self.plain(left, want);
        let (b, b_ty) = self.plain(right, Some(&a_ty));
        match (&a_ty, &b_ty) {
            (Ty::Str | Ty::Op, Ty::Str | Ty::Op) => (self.push(Expr::Concat(a, b), span), Ty::Str),
            (Ty::List(_), Ty::List(_)) => {
                let ty = self.meet(&a_ty, &b_ty, right.span);
                (self.push(Expr::Concat(a, b), span), ty)
            }
            (Ty::Str | Ty::Op | Ty::List(_), other) if *other != Ty::Error => {
                self.mismatch(other, &a_ty, right.span);
                self.bad(span)
            }
            _ => {
                let ty = self.numbers(&a_ty, &b_ty, left.span, right.span);
                (self.push(Expr::Arith { op: Arith::Add, left: a, right: b }, span), ty)
            }
        }
    }

    fn coalesce(
        &mut self,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
        want: Option<&Ty>,
    ) -> (ExprId, Ty) {
        let (a, a_ty) = self.expr(left, want);
        let plain = if a_ty == Ty::None { Ty::Error } else { strip(&a_ty).clone() };
        if !is_optional(&a_ty) && a_ty != Ty::Error {
            let message = format!("this is `{}`, which is never none", show(&a_ty));
            let warning = Diagnostic::warning(codes::NOT_OPTIONAL, left.span, message);
            self.report(warning.help("leave the `??` away"));
        }
        let (b, b_ty) =
            self.expr(right, Some(if plain == Ty::Error { want.unwrap_or(&plain) } else { &plain }));
        let ty = self.meet(&plain, &b_ty, right.span);
        (self.push(Expr::Coalesce(a, b), span), ty)
    }

    fn membership(&mut self, left: &ast::Expr, right: &ast::Expr, negated: bool, span: Span) -> (ExprId, Ty) {
        let known = match *right.kind {
            ExprKind::Name(name) if !self.is_local(name) => {
                self.scope.sets.get(&name).map(|element| (name, element.clone()))
            }
            _ => None,
        };
        if let Some((set, element)) = known {
            self.uses(Kind::Set, set);
            self.see(right.span, || Meaning::Entry(Kind::Set, set));
            let (value, ty) = self.expr(left, Some(&element));
            if join(strip(&ty), &element).is_none() {
                let message = format!("`{set}` holds `{}`, this is `{}`", show(&element), show(&ty));
                self.report(Diagnostic::error(codes::TYPE_MISMATCH, left.span, message));
            }
            return (self.push(Expr::InSet { value, set, negated }, span), Ty::Bool);
        }
        let (value, ty) = self.expr(left, None);
        let plain = strip(&ty).clone();
        if let ExprKind::SetLiteral(elements) = &*right.kind {
            return self.in_literal(value, &plain, elements, negated, right.span, span);
        }
        if let ExprKind::Name(name) = *right.kind
            && !self.is_local(name)
        {
            if self.is_here(name, Some(&Ty::list(plain)), None) {
                return (self.bad(span).0, Ty::Bool);
            }
            let error = self.scope.unknown(name, right.span, &[Kind::Set]);
            self.report(error);
            return (self.bad(span).0, Ty::Bool);
        }
        let (mut list, list_ty) = self.expr(right, Some(&Ty::list(plain.clone())));
        let element = match strip(&list_ty) {
            Ty::List(element) => (**element).clone(),
            Ty::Group => {
                list = self.fact(Fact::GroupAnchors, list, right.span);
                Ty::Anchor
            }
            Ty::Error => Ty::Error,
            other => {
                let message =
                    format!("expected a list, a group or a `set` after `in`, found `{}`", show(other));
                self.report(Diagnostic::error(codes::TYPE_MISMATCH, right.span, message));
                Ty::Error
            }
        };
        if join(&plain, strip(&element)).is_none() {
            let message =
                format!("{} is never in {}", with_article(&show(&plain)), with_article(&show(&list_ty)));
            self.report(Diagnostic::error(codes::TYPE_MISMATCH, span, message));
        }
        (self.push(Expr::InList { value, list, negated }, span), Ty::Bool)
    }

    /// `x in { A, B }`: constants if all are, else a list.
    fn in_literal(
        &mut self,
        value: ExprId,
        plain: &Ty,
        elements: &[ast::Expr],
        negated: bool,
        list_span: Span,
        span: Span,
    ) -> (ExprId, Ty) {
        let before = self.body.exprs.len();
        let mut ids = Vec::with_capacity(elements.len());
        for element in elements {
            let (id, ty) = self.expr(element, Some(plain));
            if join(plain, &ty).is_none() {
                self.mismatch(&ty, plain, element.span);
            }
            ids.push(id);
        }
        let consts: Option<Box<[Const]>> = ids
            .iter()
            .map(|id| match self.body.exprs.get(*id as usize) {
                Some(Expr::Const(value)) => Some(value.clone()),
                _ => None,
            })
            .collect();
        let expr = match consts {
            Some(consts) => {
                self.body.exprs.truncate(before);
                self.spans.truncate(before);
                Expr::InConsts { value, consts, negated }
            }
            None => {
                let list = self.push(Expr::List(ids.into_boxed_slice()), list_span);
                Expr::InList { value, list, negated }
            }
        };
        (self.push(expr, span), Ty::Bool)
    }

    /// Demands a `Bool`, an `Int`, … of something already lowered; true if it fits.
    pub fn demand(&mut self, ty: &Ty, want: &[Ty], span: Span) -> bool {
        if want.iter().any(|want| fits(ty, want)) {
            return true;
        }
        let Some(first) = want.first() else { return false };
        if want.iter().any(|want| fits(strip(ty), want)) {
            self.needs_default(ty, strip(ty), span);
        } else {
            let names: Vec<String> = want.iter().map(|want| format!("`{}`", show(want))).collect();
            match &names[..] {
                [_] => self.mismatch(ty, first, span),
                _ => {
                    let message = format!("expected one of {}, found `{}`", names.join(", "), show(ty));
                    self.report(Diagnostic::error(codes::TYPE_MISMATCH, span, message));
                }
            }
        }
        false
    }
}
