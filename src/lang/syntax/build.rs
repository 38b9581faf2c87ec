//! What all builders share: the generated parser, pairs, spans and names.
//!
//! Promise: builders take what the grammar has accepted. A builder gives `None` only after it has complained or
//! if grammar and builder are out of step, which [`super::parse::parse_item`] reports as a complaint of its own.

use pest::iterators::Pair;

use super::ast::{Name, Param, Span, Type, TypeKind};
use super::scan;
use crate::graph::Sym;
use crate::lang::diagnostic::Diagnostic;

#[derive(pest_derive::Parser)]
#[grammar = "../grammar/anchor.pest"]
pub struct Grammar;

pub type Tree<'a> = Pair<'a, Rule>;

/// Collects the complaints of one item. `base` is added to all places: texts are parsed apart from their item.
#[derive(Default)]
pub struct Builder {
    pub base: u32,
    pub diagnostics: Vec<Diagnostic>,
}

impl Builder {
    /// The place of a tree. The white space that pest takes in while it looks for one more repetition is no part
    /// of it: every tree ends where its last token ends.
    pub fn span(&self, tree: &Tree) -> Span {
        let mut last = tree.clone();
        while let Some(inner) = last.clone().into_inner().next_back() {
            last = inner;
        }
        let local = scan::span(tree.as_span().start(), last.as_span().end());
        Span { start: local.start + self.base, end: local.end + self.base }
    }

    pub fn name(&self, tree: &Tree) -> Name {
        Name { text: Sym::new(tree.as_str()), span: self.span(tree) }
    }

    /// The first child of this rule, as a name.
    pub fn name_in(&self, tree: &Tree, rule: Rule) -> Option<Name> {
        Some(self.name(&child(tree, rule)?))
    }

    pub fn names_in(&self, tree: &Tree, rule: Rule) -> Vec<Name> {
        children(tree, rule).map(|name| self.name(&name)).collect()
    }

    pub fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::error(code, span, message));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    pub fn param(&self, tree: &Tree) -> Option<Param> {
        Some(Param { name: self.name_in(tree, Rule::name)?, ty: self.ty(&child(tree, Rule::ty)?)? })
    }

    pub fn ty(&self, tree: &Tree) -> Option<Type> {
        let base = child(tree, Rule::base_type)?;
        let start = self.span(&base).start;
        let kind = match child(&base, Rule::list_type) {
            Some(list) => TypeKind::List(Box::new(self.ty(&child(&list, Rule::ty)?)?)),
            None => TypeKind::Named(self.name_in(&base, Rule::name)?.text),
        };
        let mut ty = Type { span: self.span(&base), kind };
        for mark in children(tree, Rule::question) {
            let span = Span { start, end: self.span(&mark).end };
            ty = Type { span, kind: TypeKind::Optional(Box::new(ty)) };
        }
        Some(ty)
    }
}

pub fn child<'a>(tree: &Tree<'a>, rule: Rule) -> Option<Tree<'a>> {
    children(tree, rule).next()
}

pub fn children<'a>(tree: &Tree<'a>, rule: Rule) -> impl Iterator<Item = Tree<'a>> + use<'a> {
    tree.clone().into_inner().filter(move |inner| inner.as_rule() == rule)
}

pub fn has(tree: &Tree, rule: Rule) -> bool {
    child(tree, rule).is_some()
}

/// The only child of a rule that stands for one of several.
pub fn only<'a>(tree: &Tree<'a>) -> Option<Tree<'a>> {
    tree.clone().into_inner().next()
}

/// The only thing that an expression consists of, if it is that.
pub fn lone<'a>(tree: &Tree<'a>, wanted: Rule) -> Option<Tree<'a>> {
    let mut tree = tree.clone();
    loop {
        if tree.as_rule() == wanted {
            return Some(tree);
        }
        let mut inner = tree.clone().into_inner();
        match (inner.next(), inner.next()) {
            (Some(one), None) => tree = one,
            _ => return None,
        }
    }
}

/// The token itself: pest looks over white space, and so takes it in, where a token may not be followed by something.
pub fn word<'a>(tree: &Tree<'a>) -> &'a str {
    match tree.as_rule() {
        Rule::equals => "=",
        Rule::question => "?",
        Rule::bar => "|",
        Rule::dot => ".",
        Rule::minus | Rule::sub => "-",
        _ => tree.as_str(),
    }
}
