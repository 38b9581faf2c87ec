//! Literals and bare words.
//!
//! A bare word is, in this order: a local, what the wanted type makes of it (a variant, an operator type, a mark), and, where
//! nothing is wanted, a mark or an operator type.

use super::codes;
use super::lower::Cx;
use super::sights::Meaning;
use super::types::{fits, show, strip};
use crate::graph::Sym;
use crate::lang::Diagnostic;
use crate::lang::diagnostic::did_you_mean;
use crate::lang::hir::{Const, Expr, ExprId, Ty};
use crate::lang::syntax::ast::{self, ExprKind, Kind, Span};

impl Cx<'_> {
    pub fn literal(&mut self, expr: &ast::Expr, want: Option<&Ty>) -> (ExprId, Ty) {
        let float = want.is_some_and(|want| *strip(want) == Ty::Float);
        let (value, ty) = match &*expr.kind {
            ExprKind::Int(value) if float => (Const::Float(*value as f64), Ty::Float),
            ExprKind::Int(value) => (Const::Int(*value), Ty::Int),
            ExprKind::Float(value) => (Const::Float(*value), Ty::Float),
            ExprKind::Str(value) => (Const::Str(Sym::new(value)), Ty::Str),
            ExprKind::Bool(value) => (Const::Bool(*value), Ty::Bool),
            _ => (Const::None, Ty::None),
        };
        (self.constant(value, expr.span), ty)
    }

    pub fn negate(&mut self, inner: &ast::Expr, span: Span, want: Option<&Ty>) -> (ExprId, Ty) {
        let float = want.is_some_and(|want| *strip(want) == Ty::Float);
        match *inner.kind {
            ExprKind::Int(value) if float => {
                return (self.constant(Const::Float(-(value as f64)), span), Ty::Float);
            }
            ExprKind::Int(value) => return (self.constant(Const::Int(value.wrapping_neg()), span), Ty::Int),
            ExprKind::Float(value) => return (self.constant(Const::Float(-value), span), Ty::Float),
            _ => {}
        }
        let (id, ty) = self.plain(inner, want);
        if !matches!(ty, Ty::Int | Ty::Float | Ty::Error) {
            self.mismatch(&ty, &Ty::Int, inner.span);
            return (id, Ty::Error);
        }
        (self.push(Expr::Negate(id), span), ty)
    }

    /// A bare word that is not a local yet to be resolved by what is wanted.
    pub fn is_bare(&self, expr: &ast::Expr) -> bool {
        matches!(*expr.kind, ExprKind::Name(name) if !self.is_local(name))
    }

    pub fn word(&mut self, word: Sym, span: Span, want: Option<&Ty>) -> (ExprId, Ty) {
        if self.is_here(word, want, None) {
            return self.bad(span);
        }
        if let Some((slot, ty)) = self.local(word) {
            let declared =
                self.env.iter().rfind(|binding| binding.name == word).and_then(|binding| binding.at);
            self.see(span, || Meaning::Local { name: word, declared, ty: ty.clone() });
            return (self.push(Expr::Local(slot), span), ty);
        }
        let want = want.map(strip);
        match want {
            Some(Ty::Enum(name)) => {
                if let Some(variant) = self.scope.variant(*name, word) {
                    self.uses_enum(*name);
                    self.see(span, || Meaning::Variant { of: *name, name: word });
                    let value = Const::Enum { ty: *name, variant };
                    return (self.constant(value, span), Ty::Enum(*name));
                }
            }
            Some(Ty::Op) if self.scope.words.contains(&word) => return self.operator(word, span),
            Some(Ty::Mark) if self.scope.mark(word).is_some() => return self.mark_word(word, span),
            Some(Ty::Error | Ty::None) | None => {
                if self.scope.mark(word).is_some() {
                    return self.mark_word(word, span);
                }
                if self.scope.words.contains(&word) {
                    return self.operator(word, span);
                }
            }
            _ => {}
        }
        let error = self.unknown_word(word, span, want);
        self.report(error);
        self.bad(span)
    }

    fn operator(&mut self, word: Sym, span: Span) -> (ExprId, Ty) {
        self.see(span, || Meaning::Operator(word));
        (self.constant(Const::Str(word), span), Ty::Op)
    }

    fn mark_word(&mut self, word: Sym, span: Span) -> (ExprId, Ty) {
        self.uses(Kind::Attribute, word);
        self.see(span, || Meaning::Entry(Kind::Attribute, word));
        (self.constant(Const::Mark(word), span), Ty::Mark)
    }

    /// What is wrong with a word that means nothing here.
    fn unknown_word(&mut self, word: Sym, span: Span, want: Option<&Ty>) -> Diagnostic {
        let scope = self.scope;
        for kind in [Kind::Set, Kind::Table, Kind::Fn, Kind::Walk, Kind::Matrix, Kind::Option, Kind::Attr] {
            if !scope.has(kind, word) {
                continue;
            }
            self.uses(kind, word);
            let (what, help) = match kind {
                Kind::Set => ("a set", format!("ask `x in {word}`")),
                Kind::Table => ("a table", format!("look up `{word}[key]`")),
                Kind::Option => ("an option", format!("write `option({word})`")),
                Kind::Attr => ("a graph attribute", format!("write `x.attr({word})`")),
                _ => ("a function", format!("call it: `{word}(…)`")),
            };
            let message = format!("`{word}` is {what}, not a value");
            return Diagnostic::error(codes::TYPE_MISMATCH, span, message).help(help);
        }
        let mut owners: Vec<&str> = scope
            .enums
            .iter()
            .filter(|(_, variants)| variants.contains(&word))
            .map(|(name, _)| name.as_str())
            .collect();
        owners.sort_unstable();
        let locals = self.env.iter().map(|binding| binding.name.as_str());
        let near_local = did_you_mean(word.as_str(), locals);
        if let Some(want @ (Ty::Op | Ty::Enum(_) | Ty::Mark)) = want {
            let (code, message, near) = match want {
                Ty::Op => {
                    let words = scope.words.iter().map(|known| known.as_str());
                    let message = format!("no set has the operator type `{word}`");
                    (codes::UNKNOWN_OPERATOR, message, did_you_mean(word.as_str(), words))
                }
                Ty::Enum(name) => {
                    let variants = scope.variants(*name).unwrap_or_default().iter();
                    let near = did_you_mean(word.as_str(), variants.map(|known| known.as_str()));
                    (codes::UNKNOWN_NAME, format!("`{name}` has no variant `{word}`"), near)
                }
                _ => {
                    let near = scope.nearest(word, &[Kind::Attribute]);
                    (codes::UNKNOWN_NAME, format!("there is no `attribute` called `{word}`"), near)
                }
            };
            let error = Diagnostic::error(code, span, message);
            return match near.or(near_local) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None if *want == Ty::Op => error.help("an operator type must occur in some `set`"),
                None => error,
            };
        }
        if let Some(want) = want.filter(|want| !matches!(want, Ty::Error | Ty::None)) {
            let found = if scope.words.contains(&word) {
                Some("an operator type")
            } else if scope.mark(word).is_some() {
                Some("a mark")
            } else {
                None
            };
            if let Some(found) = found {
                let message = format!("expected `{}`, and `{word}` is {found}", show(want));
                let error = Diagnostic::error(codes::TYPE_MISMATCH, span, message);
                let fitting = self.env.iter().filter(|binding| fits(&binding.ty, want));
                let names: Vec<String> = fitting.map(|binding| format!("`{}`", binding.name)).collect();
                return match names.is_empty() {
                    true => error,
                    false => error.help(format!("names that fit here: {}", names.join(", "))),
                };
            }
        }
        let error = Diagnostic::error(codes::UNKNOWN_NAME, span, format!("nothing here is called `{word}`"));
        if let Some(owner) = owners.first() {
            return error.help(format!("write `{owner}.{word}` for the variant"));
        }
        let near = near_local
            .or_else(|| scope.nearest(word, &[Kind::Set, Kind::Attribute, Kind::Table, Kind::Enum]))
            .or_else(|| did_you_mean(word.as_str(), scope.words.iter().map(|known| known.as_str())));
        match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if want == Some(&Ty::Str) => error.help(format!("write `\"{word}\"` for a string")),
            None if self.env.is_empty() => error,
            None => {
                let names: Vec<String> = self.env.iter().map(|b| format!("`{}`", b.name)).collect();
                error.help(format!("names here: {}", names.join(", ")))
            }
        }
    }
}
