//! Lowering of one item: the frame that its expressions share, the names in sight, the complaints.
//!
//! Promise: one wrong word is one complaint. What has been complained about has the type [`Ty::Error`], which fits
//! everything; an item with an error gives no entry, so evaluation never meets a half-typed body.

use std::collections::BTreeSet;

use super::codes;
use super::scope::Scope;
use super::sights::{Meaning, Sights};
use super::types::{fits, is_optional, resolve, show, strip};
use crate::graph::Sym;
use crate::lang::Diagnostic;
use crate::lang::diagnostic::{Level, Place, did_you_mean, with_article};
use crate::lang::facts::Fact;
use crate::lang::hir::{Body, Const, Expr, ExprId, Local, Lowered, Text, TextId, TextPart, Ty};
use crate::lang::syntax::ast::{self, Item, Kind, Name, Span};

/// Lowers one item against the signatures of the rule set. `scope` decides all names; nothing else is looked at.
pub fn lower(item: &Item, scope: &Scope) -> Lowered {
    let mut cx = Cx::new(item, scope);
    let entry = cx.item(item);
    cx.leave(0);
    let mut lowered = cx.out;
    let failed = lowered.diagnostics.iter().any(|d| d.level == Level::Error);
    lowered.entry = entry.filter(|_| !failed);
    lowered.spans = cx.spans;
    lowered.uses = cx.uses.into_iter().map(|(kind, text)| (kind, Sym::new(text))).collect();
    lowered.diagnostics.sort_by_key(start);
    lowered
}

/// What the words of an item mean.
pub fn sights(item: &Item, scope: &Scope) -> Sights {
    let mut cx = Cx::new(item, scope);
    cx.sights = Some(Box::default());
    cx.see_item(item);
    cx.item(item);
    cx.sights.map(|sights| *sights).unwrap_or_default()
}

/// Complaints are told in the order of the text.
fn start(diagnostic: &Diagnostic) -> Option<Span> {
    diagnostic.labels.first().map(|label| match label.place {
        Place::Item(span) | Place::File(span) => span,
    })
}

/// Nesting that no person writes; deeper trees would need as much stack.
const MAX_DEPTH: u32 = 300;

/// Lists in one another in the type of a name: one name after the other could wrap a value without end.
const DEEPEST: u32 = 64;

fn nesting(mut ty: &Ty) -> u32 {
    let mut depth = 0;
    while let Ty::List(inner) | Ty::Optional(inner) = ty {
        (ty, depth) = (inner, depth + 1);
    }
    depth
}

/// Where the name in a type stands.
fn innermost(mut written: &ast::Type) -> Span {
    while let ast::TypeKind::List(inner) | ast::TypeKind::Optional(inner) = &written.kind {
        written = inner;
    }
    written.span
}

/// A local name in sight.
pub(super) struct Binding {
    pub name: Sym,
    pub slot: Local,
    pub ty: Ty,
    /// Where it was declared, if the user did that.
    pub at: Option<Span>,
    /// Where it was declared and what it is, if it must be used.
    pub declared: Option<(Span, &'static str)>,
    pub used: bool,
}

/// The state of lowering one item.
pub(super) struct Cx<'a> {
    pub scope: &'a Scope,
    pub kind: Kind,
    pub name: Sym,
    pub out: Lowered,
    pub uses: BTreeSet<(Kind, &'static str)>,
    /// The body being filled: that of the item or of a text.
    pub body: Body,
    pub spans: Vec<Span>,
    pub env: Vec<Binding>,
    pub next: Local,
    pub in_text: bool,
    pub depth: u32,
    /// What `give` must give.
    pub gives: Option<Ty>,
    /// The reason of a checker, for its `isolate` statements without one.
    pub reason: Option<TextId>,
    /// What words mean, if somebody wants to know.
    pub sights: Option<Box<Sights>>,
}

impl<'a> Cx<'a> {
    fn new(item: &Item, scope: &'a Scope) -> Cx<'a> {
        Cx {
            scope,
            kind: item.kind,
            name: item.name.text,
            out: Lowered::default(),
            uses: BTreeSet::new(),
            body: Body::default(),
            spans: Vec::new(),
            env: Vec::new(),
            next: 0,
            in_text: false,
            depth: 0,
            gives: None,
            reason: None,
            sights: None,
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.out.diagnostics.push(diagnostic);
    }

    pub fn uses(&mut self, kind: Kind, name: Sym) {
        self.uses.insert((kind, name.as_str()));
    }

    pub fn push(&mut self, expr: Expr, span: Span) -> ExprId {
        let id = self.body.exprs.len() as ExprId;
        self.body.exprs.push(expr);
        self.spans.push(span);
        id
    }

    pub fn constant(&mut self, value: Const, span: Span) -> ExprId {
        self.push(Expr::Const(value), span)
    }

    pub fn fact(&mut self, fact: Fact, base: ExprId, span: Span) -> ExprId {
        self.push(Expr::Fact { fact, base, args: Box::new([]) }, span)
    }

    /// Stands for what has been complained about.
    pub fn bad(&mut self, span: Span) -> (ExprId, Ty) {
        (self.constant(Const::None, span), Ty::Error)
    }

    /// Runs `inner` one level deeper, or complains that this is too deep.
    pub fn deeper<T>(&mut self, span: Span, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            let known = self.out.diagnostics.iter().any(|d| d.code == codes::TOO_DEEP);
            if !known {
                let error = Diagnostic::error(codes::TOO_DEEP, span, "this is nested too deeply");
                self.report(error.help("give parts of it a name with `let`, or make them functions"));
            }
            return None;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        Some(result)
    }

    /// A name that the item kind provides.
    pub fn provide(&mut self, name: &str, ty: Ty) -> Local {
        self.bind_slot(Sym::new(name), ty, None)
    }

    /// A name that the user declares, `what` it is for the complaint if nothing uses it.
    pub fn declare(&mut self, name: Name, ty: Ty, what: &'static str) -> Local {
        if name.text != "_"
            && let Some(old) = self.env.iter().rfind(|old| old.name == name.text)
        {
            let message = format!("`{}` is already the name of something in sight", name.text);
            let mut error = Diagnostic::error(codes::DUPLICATE, name.span, message);
            if let Some((span, _)) = old.declared {
                error = error.also(span, "first declared here");
            } else {
                error = error.help(format!("`{}` is there without a declaration", name.text));
            }
            self.report(error);
        }
        let ty = match nesting(&ty) > DEEPEST {
            true => {
                let message = format!("the type of `{}` nests more than {DEEPEST} deep", name.text);
                self.report(Diagnostic::error(codes::TOO_DEEP, name.span, message));
                Ty::Error
            }
            false => ty,
        };
        self.bind_slot(name.text, ty, Some((name.span, what)))
    }

    pub fn bind_slot(&mut self, name: Sym, ty: Ty, declared: Option<(Span, &'static str)>) -> Local {
        let slot = self.next;
        self.next += 1;
        self.body.locals = self.body.locals.max(self.next);
        let at = declared.map(|(span, _)| span);
        if let Some(span) = at {
            self.see_declared(span, || Meaning::Local { name, declared: at, ty: ty.clone() });
        }
        self.env.push(Binding { name, slot, ty, at, declared, used: false });
        slot
    }

    /// Ends the sight of all names declared since `mark` names were in sight.
    pub fn leave(&mut self, mark: usize) {
        for binding in self.env.split_off(mark.min(self.env.len())) {
            let Some((span, what)) = binding.declared else { continue };
            if !binding.used && !binding.name.as_str().starts_with('_') {
                let message = format!("the {what} `{}` is never used", binding.name);
                let help = format!("write `_{}` if this is meant", binding.name);
                self.report(Diagnostic::warning(codes::UNUSED, span, message).help(help));
            }
        }
    }

    /// The local of that name, now used.
    pub fn local(&mut self, name: Sym) -> Option<(Local, Ty)> {
        let binding = self.env.iter_mut().rfind(|binding| binding.name == name)?;
        binding.used = true;
        Some((binding.slot, binding.ty.clone()))
    }

    pub fn is_local(&self, name: Sym) -> bool {
        self.env.iter().any(|binding| binding.name == name)
    }

    /// A written type.
    pub fn ty(&mut self, written: &ast::Type) -> Ty {
        let scope = self.scope;
        match resolve(written, &|name| scope.enums.contains_key(&name)) {
            Ok(ty) => {
                let mut inner = &ty;
                while let Ty::List(next) | Ty::Optional(next) = inner {
                    inner = next;
                }
                if let Ty::Enum(name) = *inner {
                    self.uses_enum(name);
                    self.see_enum(name, innermost(written));
                }
                ty
            }
            Err((span, name)) => {
                let names = super::types::BUILTIN.iter().map(|(text, _)| *text);
                let names = names.chain(scope.enums.keys().map(|name| name.as_str()));
                let mut error =
                    Diagnostic::error(codes::UNKNOWN_TYPE, span, format!("there is no type `{name}`"));
                if let Some(near) = did_you_mean(name.as_str(), names) {
                    error = error.help(format!("did you mean `{near}`?"));
                }
                self.report(error);
                Ty::Error
            }
        }
    }

    /// Marks the item that declares an enum as used: an `enum`, an option or a matrix.
    pub fn uses_enum(&mut self, name: Sym) {
        for kind in [Kind::Enum, Kind::Option, Kind::Matrix] {
            if self.scope.has(kind, name) {
                self.uses(kind, name);
                return;
            }
        }
    }

    /// Notes that a word names an enum.
    pub fn see_enum(&mut self, name: Sym, span: Span) {
        let declares = |kind: &Kind| self.scope.has(*kind, name);
        if let Some(kind) = [Kind::Enum, Kind::Option, Kind::Matrix].into_iter().find(declares) {
            self.see(span, || Meaning::Entry(kind, name));
        }
    }

    /// Demands an item of a kind; complains with the nearest name.
    pub fn item_name(&mut self, name: Name, kind: Kind) -> bool {
        if self.scope.has(kind, name.text) {
            self.uses(kind, name.text);
            self.see(name.span, || Meaning::Entry(kind, name.text));
            return true;
        }
        let error = self.scope.unknown(name.text, name.span, &[kind]);
        self.report(error);
        false
    }

    /// A mark, by name.
    pub fn mark(&mut self, name: Name) -> bool {
        self.item_name(name, Kind::Attribute)
    }

    /// An expression of a given type.
    pub fn check(&mut self, expr: &ast::Expr, want: &Ty) -> ExprId {
        let (id, ty) = self.expr(expr, Some(want));
        self.coerce(id, &ty, want, expr.span)
    }

    pub fn coerce(&mut self, id: ExprId, ty: &Ty, want: &Ty, span: Span) -> ExprId {
        if fits(ty, want) {
            return id;
        }
        if *ty == Ty::Group && fits(&Ty::list(Ty::Anchor), want) {
            return self.fact(Fact::GroupAnchors, id, span);
        }
        if fits(strip(ty), want) || *ty == Ty::None {
            self.needs_default(ty, want, span);
        } else {
            self.mismatch(ty, want, span);
        }
        id
    }

    pub fn needs_default(&mut self, ty: &Ty, want: &Ty, span: Span) {
        let wanted = show(want);
        let found = if *ty == Ty::None { "is `none`" } else { "may be none" };
        let default = match want {
            Ty::Bool => "false",
            Ty::Int => "0",
            Ty::Str => "\"\"",
            Ty::List(_) => "[]",
            _ => "default",
        };
        let message = format!("{} is needed here, and this {found}", with_article(&wanted));
        let error = Diagnostic::error(codes::NEEDS_DEFAULT, span, message)
            .label(format!("this is `{}`", show(ty)))
            .help(format!("write `x ?? {default}`, or give it a name and ask `is some` first"));
        self.report(error);
    }

    pub fn mismatch(&mut self, ty: &Ty, want: &Ty, span: Span) {
        let message = format!("expected `{}`, found `{}`", show(want), show(ty));
        let error = Diagnostic::error(codes::TYPE_MISMATCH, span, message);
        self.report(match (ty, want) {
            (Ty::List(_) | Ty::Group, Ty::Bool) => {
                error.help("write `x.count > 0` to ask whether there are any")
            }
            (ty, Ty::Bool) if is_optional(ty) => error.help("write `x is some` to ask whether there is one"),
            (Ty::Input | Ty::Output | Ty::Anchor, Ty::Node) => error.help("write `x.node` for its node"),
            _ => error,
        });
    }

    /// An expression of any type that is never none.
    pub fn plain(&mut self, expr: &ast::Expr, want: Option<&Ty>) -> (ExprId, Ty) {
        let (id, ty) = self.expr(expr, want);
        if is_optional(&ty) {
            self.needs_default(&ty, strip(&ty), expr.span);
            return (id, Ty::Error);
        }
        (id, ty)
    }

    /// A list or a group; gives the type of its elements.
    pub fn list(&mut self, expr: &ast::Expr) -> (ExprId, Ty) {
        let (id, ty) = self.plain(expr, None);
        match ty {
            Ty::List(element) => (id, *element),
            Ty::Group => (self.fact(Fact::GroupAnchors, id, expr.span), Ty::Anchor),
            Ty::Error => (id, Ty::Error),
            other => {
                let message = format!("expected a list, found `{}`", show(&other));
                self.report(Diagnostic::error(codes::TYPE_MISMATCH, expr.span, message));
                (id, Ty::Error)
            }
        }
    }

    /// A text in a body of its own, whose slots go on where the frame of its statement ends.
    pub fn text(&mut self, text: &ast::Text) -> TextId {
        let body = Body { exprs: Vec::new(), locals: self.next };
        let outer = std::mem::replace(&mut self.body, body);
        let spans = std::mem::take(&mut self.spans);
        let (next, in_text) = (self.next, std::mem::replace(&mut self.in_text, true));
        let parts = self.text_parts(text);
        self.in_text = in_text;
        self.next = next;
        self.spans = spans;
        let body = std::mem::replace(&mut self.body, outer);
        self.out.texts.push(Text { body, parts });
        self.out.text_spans.push(text.span);
        (self.out.texts.len() - 1) as TextId
    }

    /// The parts of a text, in the current body.
    pub fn text_parts(&mut self, text: &ast::Text) -> Vec<TextPart> {
        let parts = text.parts.iter().map(|part| match part {
            ast::TextPart::Literal(literal) => TextPart::Literal(literal.clone()),
            ast::TextPart::Value(value) => TextPart::Value(self.expr(value, None).0),
        });
        parts.collect()
    }
}
