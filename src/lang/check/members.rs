//! What a value is asked for: facts, graph attributes, marks; and the functions that are asked like facts.

use super::codes;
use super::lower::Cx;
use super::sights::Meaning;
use super::types::{attr_ty, fits, is_optional, show, strip};
use crate::graph::Sym;
use crate::lang::Diagnostic;
use crate::lang::diagnostic::did_you_mean;
use crate::lang::facts::{FACTS, Fact, FactInfo, FactTy};
use crate::lang::hir::{Const, Each, Expr, ExprId, Ty, WalkMode};
use crate::lang::syntax::ast::{self, AttrPlace, ExprKind, Kind, Name, Side, Span};

/// How well a fact's receiver suits: 0 is best.
fn suits(receiver: FactTy, ty: &Ty) -> Option<u8> {
    if receiver == FactTy::AnyList {
        return matches!(ty, Ty::List(_)).then_some(0);
    }
    let wanted = receiver.ty(&Ty::Error);
    if wanted == *ty {
        return Some(0);
    }
    fits(ty, &wanted).then_some(1)
}

/// The fact of that name that a value of this type has.
pub(super) fn find_fact(ty: &Ty, name: Sym) -> Option<&'static FactInfo> {
    let found = FACTS.iter().filter(|info| name == info.name);
    let found = found.filter_map(|info| Some((suits(info.receiver, ty)?, info)));
    found.min_by_key(|(rank, _)| *rank).map(|(_, info)| info)
}

fn each(name: Sym) -> Option<Each> {
    Some(match name.as_str() {
        "map" => Each::Map,
        "flat_map" => Each::FlatMap,
        "sum" => Each::Sum,
        "min_by" => Each::MinBy,
        "max_by" => Each::MaxBy,
        "sort_by" => Each::SortBy,
        "bisect" => Each::Bisect,
        _ => return None,
    })
}

impl Cx<'_> {
    pub fn member(
        &mut self,
        base: &ast::Expr,
        name: Name,
        args: Option<&[ast::Expr]>,
        span: Span,
    ) -> (ExprId, Ty) {
        if let ExprKind::Name(word) = *base.kind
            && !self.is_local(word)
        {
            if args.is_none() && self.scope.variants(word).is_some() {
                self.see_enum(word, base.span);
                return self.qualified_variant(word, name, span);
            }
            if self.scope.has(Kind::Walk, word)
                && let Some(result) = self.walk_member(word, base.span, name, args, span)
            {
                return result;
            }
        }
        let args = args.unwrap_or_default();
        let (id, ty) = self.expr(base, None);
        let receiver = strip(&ty).clone();
        if self.is_here(name.text, None, Some(&receiver)) {
            return self.bad(span);
        }
        if let (Some(each), [value]) = (each(name.text), args)
            && matches!(receiver, Ty::List(_) | Ty::Group | Ty::Error)
        {
            return self.each(each, id, &ty, base.span, value, span);
        }
        if matches!(receiver, Ty::Error | Ty::None) {
            if receiver == Ty::None {
                self.needs_default(&Ty::None, &Ty::Node, base.span);
            }
            for arg in args {
                self.expr(arg, None);
            }
            return self.bad(span);
        }
        if let Some(info) = find_fact(&receiver, name.text) {
            return self.ask(info, id, &ty, args, name.span, span);
        }
        if self.scope.has(Kind::Fn, name.text) {
            return self.call_fn(name, Some((id, ty, base.span)), args, span);
        }
        if self.scope.has(Kind::Walk, name.text) && args.is_empty() {
            return self.call_walk(name, (id, ty, base.span), None, span);
        }
        if receiver == Ty::Group
            && let list = Ty::list(Ty::Anchor)
            && let Some(info) = find_fact(&list, name.text)
        {
            let anchors = self.fact(Fact::GroupAnchors, id, base.span);
            let list = if is_optional(&ty) { list.optional() } else { list };
            return self.ask(info, anchors, &list, args, name.span, span);
        }
        self.unknown_fact(&receiver, name);
        for arg in args {
            self.expr(arg, None);
        }
        self.bad(span)
    }

    fn qualified_variant(&mut self, enum_name: Sym, name: Name, span: Span) -> (ExprId, Ty) {
        self.uses_enum(enum_name);
        match self.scope.variant(enum_name, name.text) {
            Some(variant) => {
                self.see_variant(enum_name, name);
                let value = Const::Enum { ty: enum_name, variant };
                (self.constant(value, span), Ty::Enum(enum_name))
            }
            None => {
                self.unknown_variant(enum_name, name.text, name.span);
                self.bad(span)
            }
        }
    }

    /// `w.path(o)`, `w.lost(o)`, `w.cycle(o)`.
    fn walk_member(
        &mut self,
        walk: Sym,
        walk_span: Span,
        name: Name,
        args: Option<&[ast::Expr]>,
        span: Span,
    ) -> Option<(ExprId, Ty)> {
        let mode = match name.text.as_str() {
            "path" => WalkMode::Path,
            "lost" => WalkMode::Lost,
            "cycle" => WalkMode::Cycle,
            _ => return None,
        };
        let Some([from]) = args else {
            let message = format!("`{walk}.{}` takes the place to start from", name.text);
            self.report(Diagnostic::error(codes::ARGUMENTS, name.span, message));
            return Some(self.bad(span));
        };
        let want = self.scope.walks.get(&walk).and_then(|sig| sig.params.first().cloned());
        let (id, ty) = self.expr(from, want.as_ref());
        let walk = Name { text: walk, span: walk_span };
        Some(self.call_walk(walk, (id, ty, from.span), Some(mode), span))
    }

    /// A fact of something already lowered.
    fn ask(
        &mut self,
        info: &'static FactInfo,
        base: ExprId,
        base_ty: &Ty,
        args: &[ast::Expr],
        name_span: Span,
        span: Span,
    ) -> (ExprId, Ty) {
        let receiver = strip(base_ty);
        self.see(name_span, || Meaning::Fact(info));
        if matches!(info.fact, Fact::AnchorRegistered | Fact::AnchorGroupSize | Fact::AnchorSameGroup)
            && !matches!(
                self.kind,
                Kind::Symbols | Kind::Fn | Kind::Walk | Kind::Action | Kind::Pass | Kind::Chain
            )
        {
            let message =
                format!("`{}` sees a symbol table that is built or tracked, and none is here", info.name);
            self.report(Diagnostic::error(codes::NOT_HERE, name_span, message));
        }
        if args.len() != info.params.len() {
            self.wrong_count(info.name, info.params.len(), args.len(), name_span);
            for arg in args {
                self.expr(arg, None);
            }
            return self.bad(span);
        }
        let mut lift = 0;
        let mut ids = Vec::with_capacity(args.len());
        for (arg, param) in args.iter().zip(info.params) {
            let param = param.ty(receiver);
            let (id, ty) = self.expr(arg, Some(&param));
            let at = ids.len();
            ids.push(self.lifted((id, ty, arg.span), &param, at, &mut lift));
        }
        let ids = ids.into_boxed_slice();
        let mut ty = info.result.ty(receiver);
        if is_optional(base_ty) || lift != 0 {
            ty = ty.optional();
        }
        (self.push(Expr::Fact { fact: info.fact, base, args: ids }, span), ty)
    }

    pub fn wrong_count(&mut self, what: &str, want: usize, found: usize, span: Span) {
        let s = if want == 1 { "" } else { "s" };
        let message = format!("`{what}` takes {want} argument{s}, {found} given");
        self.report(Diagnostic::error(codes::ARGUMENTS, span, message));
    }

    fn unknown_fact(&mut self, receiver: &Ty, name: Name) {
        let message = format!("`{}` has no fact `{}`", show(receiver), name.text);
        let error = Diagnostic::error(codes::UNKNOWN_FACT, name.span, message);
        let facts =
            FACTS.iter().filter(|info| suits(info.receiver, receiver).is_some()).map(|info| info.name);
        let fns = self.scope.fns.iter().chain(&self.scope.walks);
        let fns = fns.filter(|(_, sig)| sig.params.first().is_some_and(|param| fits(receiver, param)));
        let near = did_you_mean(name.text.as_str(), facts.chain(fns.map(|(name, _)| name.as_str())));
        let mut owners: Vec<String> = Vec::new();
        for info in FACTS.iter().filter(|info| name.text == info.name) {
            let owner = match info.receiver {
                FactTy::AnyList => "`list`".to_owned(),
                other => format!("`{}`", show(&other.ty(&Ty::Error))),
            };
            if !owners.contains(&owner) {
                owners.push(owner);
            }
        }
        self.report(match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None if !owners.is_empty() => {
                error.help(format!("`{}` is a fact of {}", name.text, owners.join(", ")))
            }
            None if matches!(receiver, Ty::List(_)) => error.help(match name.text.as_str() {
                "all" | "any" | "find" => format!("write `{} x in xs: …`", name.text),
                "filter" => "write `xs where …`, with `it` for the element".to_owned(),
                _ => "ask each element: `xs.map(it.…)`".to_owned(),
            }),
            None => error,
        });
    }

    /// `xs.map(e)` and its relatives.
    fn each(
        &mut self,
        kind: Each,
        list: ExprId,
        list_ty: &Ty,
        list_span: Span,
        value: &ast::Expr,
        span: Span,
    ) -> (ExprId, Ty) {
        let (list, element) = match list_ty {
            Ty::List(element) => (list, (**element).clone()),
            Ty::Group => (self.fact(Fact::GroupAnchors, list, list_span), Ty::Anchor),
            Ty::Error => (list, Ty::Error),
            other => {
                self.needs_default(other, strip(other), list_span);
                (list, Ty::Error)
            }
        };
        let mark = self.env.len();
        let local = self.provide("it", element.clone());
        let (value_id, value_ty) = self.expr(value, None);
        self.leave(mark);
        let ty = match kind {
            Each::Map => Ty::list(value_ty),
            Each::FlatMap => match value_ty {
                Ty::List(_) | Ty::Error => value_ty,
                other => {
                    self.demand(&other, &[Ty::list(Ty::Error)], value.span);
                    Ty::list(Ty::Error)
                }
            },
            Each::Sum => {
                let known = self.demand(&value_ty, &[Ty::Int, Ty::Float], value.span);
                if known { value_ty } else { Ty::Error }
            }
            Each::Bisect => {
                self.demand(&value_ty, &[Ty::Bool], value.span);
                Ty::Int
            }
            Each::MinBy | Each::MaxBy | Each::SortBy => {
                self.demand(&value_ty, &[Ty::Int, Ty::Float, Ty::Str], value.span);
                if kind == Each::SortBy { Ty::list(element) } else { element.optional() }
            }
        };
        (self.push(Expr::Each { kind, local, list, value: value_id }, span), ty)
    }

    /// `x.attr(NAME)` and `x.has_attr(NAME)`.
    pub fn attr(&mut self, base: &ast::Expr, attr: Name, exists: bool, span: Span) -> (ExprId, Ty) {
        let (base_id, base_ty) = self.expr(base, None);
        let Some(keys) = self.attr_keys(&base_ty, attr, base.span) else { return self.bad(span) };
        let ty = self.scope.attrs.get(&attr.text).map_or(ast::AttrType::Any, |sig| sig.ty);
        let (expr, mut result) = if exists {
            (Expr::HasAttr { base: base_id, keys }, Ty::Bool)
        } else {
            let Some(result) = attr_ty(ty) else {
                let message = format!("`{}` is of type `any` and has no value to ask for", attr.text);
                let error = Diagnostic::error(codes::TYPE_MISMATCH, attr.span, message);
                self.report(error.help(format!("ask `has_attr({})`", attr.text)));
                return self.bad(span);
            };
            (Expr::Attr { base: base_id, keys, ty }, result)
        };
        if is_optional(&base_ty) {
            result = result.optional();
        }
        (self.push(expr, span), result)
    }

    /// The names of a declared attribute, if such a value can have it.
    pub fn attr_keys(&mut self, owner: &Ty, attr: Name, owner_span: Span) -> Option<Box<[Sym]>> {
        let scope = self.scope;
        let Some(sig) = scope.attrs.get(&attr.text) else {
            let mut error = scope.unknown(attr.text, attr.span, &[Kind::Attr]);
            let declared = scope.attrs.iter().find(|(_, sig)| sig.keys.contains(&attr.text));
            if let Some((name, _)) = declared {
                error = error.help(format!("it is an alias of `{name}`; rules use that name"));
            } else if error.help.is_none() {
                error = error.help(format!("declare it: `attr {}: TYPE on PLACE`", attr.text));
            }
            self.report(error);
            return None;
        };
        self.uses(Kind::Attr, attr.text);
        self.see(attr.span, || Meaning::Entry(Kind::Attr, attr.text));
        self.stands_on(owner, owner_span, attr, &sig.places).then(|| sig.keys.clone())
    }

    /// Whether something declared on `declared` can be asked of such a value; complains if not.
    fn stands_on(&mut self, owner: &Ty, owner_span: Span, name: Name, declared: &[AttrPlace]) -> bool {
        let places: &[AttrPlace] = match strip(owner) {
            Ty::Node => &[AttrPlace::Node],
            Ty::Graph => &[AttrPlace::Graph],
            Ty::Input => &[AttrPlace::Input],
            Ty::Output => &[AttrPlace::Output],
            Ty::Anchor => &[AttrPlace::Input, AttrPlace::Output],
            Ty::Error => return false,
            other => {
                let message = format!("`{}` has no graph attributes and no notes", show(other));
                self.report(Diagnostic::error(codes::TYPE_MISMATCH, owner_span, message));
                return false;
            }
        };
        let stands = places.iter().any(|place| declared.contains(place));
        if !stands {
            let names: Vec<&str> = declared.iter().map(|place| place_name(*place)).collect();
            let message = format!(
                "`{}` is declared on {}, not on `{}`",
                name.text,
                names.join(", "),
                show(strip(owner))
            );
            let error = Diagnostic::error(codes::ATTR_PLACE, name.span, message);
            let of_node = declared.contains(&AttrPlace::Node);
            self.report(match strip(owner) {
                Ty::Input | Ty::Output | Ty::Anchor if of_node => error.help("ask `x.node` for it"),
                _ => error,
            });
        }
        stands
    }

    /// `x.note(NAME)`.
    pub fn note(&mut self, base: &ast::Expr, note: Name, span: Span) -> (ExprId, Ty) {
        let (base_id, base_ty) = self.expr(base, None);
        match self.note_ty(&base_ty, note, base.span) {
            Some(ty) => (self.push(Expr::Note { base: base_id, note: note.text }, span), ty),
            None => self.bad(span),
        }
    }

    /// The type of a declared note, none included. Complains if such a value cannot have it.
    pub fn note_ty(&mut self, owner: &Ty, note: Name, owner_span: Span) -> Option<Ty> {
        if !self.item_name(note, Kind::Note) {
            return None;
        }
        let sig = self.scope.notes.get(&note.text)?;
        self.stands_on(owner, owner_span, note, &sig.places);
        Some(sig.ty.clone().optional())
    }

    /// `a.has(MARK)`.
    pub fn has_mark(&mut self, base: &ast::Expr, mark: Name, span: Span) -> (ExprId, Ty) {
        let (base_id, base_ty) = self.expr(base, None);
        if !fits(strip(&base_ty), &Ty::Anchor) {
            self.mismatch(strip(&base_ty), &Ty::Anchor, base.span);
        }
        if !self.mark(mark) {
            return self.bad(span);
        }
        if self.kind == Kind::Attribute
            && let (Some(own), Some(asked)) = (self.scope.mark(self.name), self.scope.mark(mark.text))
            && asked.order >= own.order
        {
            let message = format!("`{}` is not decided yet when `{}` is", mark.text, self.name);
            let error = Diagnostic::error(codes::MARK_ORDER, mark.span, message);
            self.report(error.help("an attribute may ask for those declared before it"));
        }
        let ty = if is_optional(&base_ty) { Ty::Bool.optional() } else { Ty::Bool };
        (self.push(Expr::HasMark { base: base_id, mark: mark.text }, span), ty)
    }
}

fn place_name(place: AttrPlace) -> &'static str {
    match place {
        AttrPlace::Node => "node",
        AttrPlace::Graph => "graph",
        AttrPlace::Input => "input",
        AttrPlace::Output => "output",
    }
}

/// The type of the anchors of a side.
pub(super) fn side_ty(side: Side) -> Ty {
    match side {
        Side::Input => Ty::Input,
        Side::Output => Ty::Output,
    }
}
