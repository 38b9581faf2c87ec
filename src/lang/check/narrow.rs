//! What a condition tells of the locals in it: after `x is some`, `x` is no longer optional.
//!
//! Only locals are narrowed: they never change, whereas `i.source` may differ after the next statement.

use super::lower::Cx;
use crate::graph::Sym;
use crate::lang::hir::Ty;
use crate::lang::syntax::ast::{BinaryOp, Expr, ExprKind};

/// Locals that are some if the condition has the value `truth`.
pub(super) fn known_some(condition: &Expr, truth: bool) -> Vec<Sym> {
    let mut found = Vec::new();
    let mut open = vec![(condition, truth)];
    while let Some((expr, truth)) = open.pop() {
        match &*expr.kind {
            ExprKind::Not(inner) => open.push((inner, !truth)),
            ExprKind::Binary { op: BinaryOp::And, left, right, .. } if truth => {
                open.extend([(left, true), (right, true)]);
            }
            ExprKind::Binary { op: BinaryOp::Or, left, right, .. } if !truth => {
                open.extend([(left, false), (right, false)]);
            }
            ExprKind::Binary { op: op @ (BinaryOp::Eq | BinaryOp::Ne), left, right, .. } => {
                if truth != (*op == BinaryOp::Ne) {
                    continue;
                }
                match (&*left.kind, &*right.kind) {
                    (ExprKind::Name(name), ExprKind::None) | (ExprKind::None, ExprKind::Name(name)) => {
                        found.push(*name);
                    }
                    _ => {}
                }
            }
            ExprKind::IsNone { value, negated } if truth == *negated => {
                if let ExprKind::Name(name) = *value.kind {
                    found.push(name);
                }
            }
            _ => {}
        }
    }
    found
}

impl Cx<'_> {
    /// Makes these locals plain; the result undoes it with [`Cx::widen`].
    pub fn narrow(&mut self, names: &[Sym]) -> Vec<(usize, Ty)> {
        let mut saved = Vec::new();
        for name in names {
            let Some(at) = self.env.iter().rposition(|binding| binding.name == *name) else { continue };
            if let Ty::Optional(inner) = &self.env[at].ty {
                let plain = (**inner).clone();
                saved.push((at, std::mem::replace(&mut self.env[at].ty, plain)));
            }
        }
        saved
    }

    pub fn widen(&mut self, saved: Vec<(usize, Ty)>) {
        for (at, ty) in saved.into_iter().rev() {
            if let Some(binding) = self.env.get_mut(at) {
                binding.ty = ty;
            }
        }
    }

    /// Runs `inner` where `condition` is known to have the value `truth`.
    pub fn knowing<T>(&mut self, condition: &Expr, truth: bool, inner: impl FnOnce(&mut Self) -> T) -> T {
        let saved = self.narrow(&known_some(condition, truth));
        let result = inner(self);
        self.widen(saved);
        result
    }
}
