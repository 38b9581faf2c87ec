//! Calls of functions, walks and matrices.

use super::codes;
use super::lower::Cx;
use super::scope::CallSig;
use super::sights::Meaning;
use super::types::{fits, is_optional, strip};
use crate::lang::Diagnostic;
use crate::lang::facts::{FACTS, Fact};
use crate::lang::hir::{Expr, ExprId, Ty, WalkMode};
use crate::lang::syntax::ast::{self, Kind, Name, Span};

impl Cx<'_> {
    pub fn call(&mut self, name: Name, args: &[ast::Expr], span: Span) -> (ExprId, Ty) {
        if self.is_here(name.text, None, None) {
            return self.rest(args, span);
        }
        if self.scope.has(Kind::Fn, name.text) {
            return self.call_fn(name, None, args, span);
        }
        if let Some(sig) = self.scope.walks.get(&name.text) {
            let [from] = args else {
                self.wrong_count(name.text.as_str(), 1, args.len(), name.span);
                return self.rest(args, span);
            };
            let (id, ty) = self.expr(from, sig.params.first());
            return self.call_walk(name, (id, ty, from.span), None, span);
        }
        if let Some(sig) = self.scope.matrices.get(&name.text).cloned() {
            self.uses(Kind::Matrix, name.text);
            self.see(name.span, || Meaning::Entry(Kind::Matrix, name.text));
            let [row, column] = args else {
                self.wrong_count(name.text.as_str(), 2, args.len(), name.span);
                return self.rest(args, span);
            };
            let row = self.check(row, &sig.rows);
            let column = self.check(column, &sig.columns);
            return (self.push(Expr::Matrix { matrix: name.text, row, column }, span), sig.result);
        }
        // `node("name")` in a test looks in all graphs of the result.
        if let ([node], Kind::Test) = (args, self.kind)
            && name.text == "node"
            && let Some((root, _)) = self.local(crate::graph::Sym::new("root"))
        {
            let base = self.push(Expr::Local(root), span);
            let node = self.check(node, &Ty::Str);
            let expr = Expr::Fact { fact: Fact::GraphFind, base, args: Box::new([node]) };
            return (self.push(expr, span), Ty::Node.optional());
        }
        let mut error = self.scope.unknown(name.text, name.span, &[Kind::Fn, Kind::Walk, Kind::Matrix]);
        if self.scope.has(Kind::Action, name.text) {
            self.uses(Kind::Action, name.text);
            error = error.help(format!("`{}` is an action, run it with `do`", name.text));
        } else if FACTS.iter().any(|info| name.text == info.name) {
            error = error.help(format!("a fact is asked of a value: `x.{}`", name.text));
        } else if ["attr", "has", "has_attr", "note"].contains(&name.text.as_str()) {
            error = error.help(format!("it is asked of a value: `x.{}(…)`", name.text));
        }
        self.report(error);
        self.rest(args, span)
    }

    /// Lowers what is left of a call that has been complained about, for the names that it uses.
    fn rest(&mut self, args: &[ast::Expr], span: Span) -> (ExprId, Ty) {
        for arg in args {
            self.expr(arg, None);
        }
        self.bad(span)
    }

    /// A call of a function; `first` is the receiver of `x.f(…)`.
    pub fn call_fn(
        &mut self,
        name: Name,
        first: Option<(ExprId, Ty, Span)>,
        args: &[ast::Expr],
        span: Span,
    ) -> (ExprId, Ty) {
        self.uses(Kind::Fn, name.text);
        self.see(name.span, || Meaning::Entry(Kind::Fn, name.text));
        let Some(sig) = self.scope.fns.get(&name.text).cloned() else { return self.rest(args, span) };
        let given = args.len() + usize::from(first.is_some());
        if given != sig.params.len() {
            self.wrong_count(name.text.as_str(), sig.params.len(), given, name.span);
            return self.rest(args, span);
        }
        let mut ids = Vec::with_capacity(given);
        let mut lift = 0u32;
        let mut params = sig.params.iter();
        if let Some((id, ty, arg_span)) = first
            && let Some(param) = params.next()
        {
            ids.push(self.lifted((id, ty, arg_span), param, 0, &mut lift));
        }
        for (arg, param) in args.iter().zip(params) {
            let (id, ty) = self.expr(arg, Some(param));
            let at = ids.len();
            ids.push(self.lifted((id, ty, arg.span), param, at, &mut lift));
        }
        let mut ty = sig.result.unwrap_or(Ty::Error);
        if lift != 0 {
            ty = ty.optional();
        }
        (self.push(Expr::Call { function: name.text, args: ids.into_boxed_slice(), lift }, span), ty)
    }

    /// Argument number `at`, already lowered, for a parameter. If it may be none and the parameter may not, the
    /// call gives none for none, and a bit of `lift` says so.
    pub fn lifted(
        &mut self,
        (id, ty, span): (ExprId, Ty, Span),
        param: &Ty,
        at: usize,
        lift: &mut u32,
    ) -> ExprId {
        if self.lifts(&ty, param) && at < u32::BITS as usize {
            *lift |= 1 << at;
            return self.coerce(id, strip(&ty), param, span);
        }
        self.coerce(id, &ty, param, span)
    }

    /// An argument that may be none, where the parameter may not, makes the result optional.
    fn lifts(&self, ty: &Ty, param: &Ty) -> bool {
        matches!(ty, Ty::Optional(_)) && !fits(ty, param)
    }

    /// A walk from something already lowered. Without a `mode`: its last place, or all places of a walk of lists.
    pub fn call_walk(
        &mut self,
        name: Name,
        (from, from_ty, from_span): (ExprId, Ty, Span),
        mode: Option<WalkMode>,
        span: Span,
    ) -> (ExprId, Ty) {
        self.uses(Kind::Walk, name.text);
        self.see(name.span, || Meaning::Entry(Kind::Walk, name.text));
        let Some(CallSig { params, result }) = self.scope.walks.get(&name.text).cloned() else {
            return self.bad(span);
        };
        let (Some(param), Some(result)) = (params.first(), result) else { return self.bad(span) };
        let lift = self.lifts(&from_ty, param);
        let plain = if lift { strip(&from_ty).clone() } else { from_ty };
        let from = self.coerce(from, &plain, param, from_span);
        let lists = matches!(result, Ty::List(_));
        let (mode, mut ty) = match mode {
            None if lists => (WalkMode::All, result),
            None => (WalkMode::Last, result),
            Some(_) if lists => {
                let message = format!("`{}` is a walk of lists, it gives all places itself", name.text);
                self.report(Diagnostic::error(codes::UNKNOWN_FACT, name.span, message));
                return self.bad(span);
            }
            Some(WalkMode::Path) => (WalkMode::Path, Ty::list(result)),
            Some(mode) => (mode, Ty::Bool),
        };
        if lift || is_optional(&plain) {
            ty = ty.optional();
        }
        (self.push(Expr::Walk { walk: name.text, mode, from }, span), ty)
    }
}
