//! The entry: a file, an item, an expression.
//!
//! Promise: each function is a function of its text alone. [`parse_item`] knows nothing of the item's place in its
//! file, so an item that moves parses to an equal tree.

use pest::Parser;

use super::ast::{Expr, Item, Kind, Modifier, Name, Span};
use super::build::{Builder, Grammar, Rule, child};
use super::scan::{self, Token, TokenKind};
use super::split::{self, SourceItem};
use super::{check, complaint, recover};
use crate::graph::Sym;
use crate::lang::diagnostic::{Diagnostic, Place};

/// One item as it stands in the file and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedItem {
    pub source: SourceItem,
    /// `None` if the item has a syntax error, or stray text stands where more of it is wanted.
    pub item: Option<Item>,
    /// Places are [`Place::Item`].
    pub diagnostics: Vec<Diagnostic>,
}

/// A whole file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ParsedFile {
    /// The `//!` lines.
    pub doc: Option<String>,
    pub items: Vec<ParsedItem>,
    /// About text outside all items; places are [`Place::File`].
    pub diagnostics: Vec<Diagnostic>,
}

/// Files longer than this are refused: places are 32-bit.
pub const LONGEST_FILE: usize = 1 << 30;

/// Parses a file item by item.
pub fn parse_file(text: &str) -> ParsedFile {
    parse_file_with(text, parse_item)
}

/// [`parse_file`] with `parse` in the place of [`parse_item`]: for a caller that remembers what items say.
pub fn parse_file_with(text: &str, parse: impl Fn(&str) -> (Option<Item>, Vec<Diagnostic>)) -> ParsedFile {
    if text.len() > LONGEST_FILE {
        let mut error =
            Diagnostic::error("syntax::too-long", Span::default(), "a rule file ends before 1 GiB");
        error.labels[0].place = Place::File(Span::default());
        return ParsedFile { diagnostics: vec![error], ..ParsedFile::default() };
    }
    let file = split::split(text);
    let items = file.items.into_iter().map(|source| {
        let (item, mut diagnostics) = parse(&source.text);
        if source.is_cut {
            diagnostics.retain(|diagnostic| !misses_the_rest(diagnostic, &source.text));
        }
        ParsedItem { source, item, diagnostics }
    });
    ParsedFile { doc: file.doc, items: items.collect(), diagnostics: file.diagnostics }
}

/// Whether a complaint about an item that stray text follows may be due to what that was meant for: it is about the very end, or
/// about what a checker does. The stray text is complained of anyway.
fn misses_the_rest(diagnostic: &Diagnostic, text: &str) -> bool {
    let is_end = |place| matches!(place, Place::Item(span) if span.end as usize >= text.len());
    match diagnostic.code {
        "syntax::checker" => true,
        "syntax::expected" => diagnostic.labels.first().is_some_and(|label| is_end(label.place)),
        _ => false,
    }
}

/// Parses the text of one item, documentation included. There is a tree exactly if there is no error.
pub fn parse_item(text: &str) -> (Option<Item>, Vec<Diagnostic>) {
    let tokens = scan::tokens(text);
    let mut diagnostics = check::check(text, &tokens);
    if !diagnostics.is_empty() {
        return (None, diagnostics);
    }
    let tree = match Grammar::parse(Rule::item, text) {
        Ok(mut trees) => trees.next(),
        Err(error) => {
            diagnostics = recover::complaints(text, &tokens, &error);
            None
        }
    };
    let mut builder = Builder { base: 0, diagnostics };
    let item = tree.and_then(|tree| builder.item(&tree));
    let mut diagnostics = builder.diagnostics;
    let item = item.filter(|_| diagnostics.is_empty());
    if item.is_none() && diagnostics.is_empty() {
        let end = text.len() as u32;
        diagnostics.push(Diagnostic::error(
            "syntax::not-understood",
            Span { start: 0, end },
            "this item is not understood",
        ));
    }
    let item = item.map(|item| Item { doc: split::doc_of(text, leading(&tokens), TokenKind::Doc), ..item });
    (item, diagnostics)
}

/// Parses one expression, as a text inserts it.
pub fn parse_expr(text: &str) -> (Option<Expr>, Vec<Diagnostic>) {
    let tokens = scan::tokens(text);
    let mut diagnostics = check::check(text, &tokens);
    if !diagnostics.is_empty() {
        return (None, diagnostics);
    }
    match Grammar::parse(Rule::inserted, text) {
        Ok(mut trees) => {
            let mut builder = Builder { base: 0, diagnostics };
            let tree = trees.next().and_then(|tree| child(&tree, Rule::expr));
            let expr = tree.and_then(|tree| builder.expr(&tree));
            let expr = expr.filter(|_| builder.diagnostics.is_empty());
            (expr, builder.diagnostics)
        }
        Err(error) => {
            diagnostics.push(complaint::of(text, &tokens, &error, "the expression"));
            (None, diagnostics)
        }
    }
}

/// The comments before the first word.
fn leading(tokens: &[Token]) -> &[Token] {
    let words = tokens.iter().position(|token| !token.is_comment()).unwrap_or(tokens.len());
    &tokens[..words]
}

impl ParsedItem {
    /// What the item declares, as far as its first words tell, even if the rest is broken: lets later stages
    /// stay silent about a name whose declaration has been complained about already.
    pub fn declares(&self) -> Option<(Kind, Name)> {
        if let Some(item) = &self.item {
            let named = item.modifier != Modifier::Remove && !item.name.text.is_empty();
            return named.then_some((item.kind, item.name));
        }
        let text = &self.source.text;
        let tokens = scan::tokens(text);
        let mut words = tokens.iter().filter(|token| !token.is_comment());
        let mut word = words.next()?;
        if matches!(word.text(text), "override" | "extend") {
            word = words.next()?;
        }
        let kind = kind_of(word.text(text))?;
        let first = words.next()?;
        let mut end = first.span.end;
        // Attributes and options have dots in their names.
        while let (Some(dot), Some(part)) = (words.next(), words.next()) {
            let joined = dot.span.start == end && part.span.start == dot.span.end;
            if dot.text(text) != "." || !joined {
                break;
            }
            end = part.span.end;
        }
        let span = Span { start: first.span.start, end };
        let nameless = matches!(kind, Kind::Never | Kind::Always | Kind::DefaultAlways);
        let named = first.kind == TokenKind::Word && !nameless;
        named.then(|| (kind, Name { text: Sym::new(scan::slice(text, span)), span }))
    }
}

/// The kind of item that a keyword begins.
pub fn kind_of(keyword: &str) -> Option<Kind> {
    Some(match keyword {
        "set" => Kind::Set,
        "table" => Kind::Table,
        "attr" => Kind::Attr,
        "note" => Kind::Note,
        "option" => Kind::Option,
        "enum" => Kind::Enum,
        "fn" => Kind::Fn,
        "walk" => Kind::Walk,
        "symbols" => Kind::Symbols,
        "attribute" => Kind::Attribute,
        "never" => Kind::Never,
        "always" => Kind::Always,
        "default" => Kind::DefaultAlways,
        "skip" => Kind::Skip,
        "checker" => Kind::Checker,
        "matrix" => Kind::Matrix,
        "chain" => Kind::Chain,
        "steps" => Kind::Steps,
        "action" => Kind::Action,
        "pass" => Kind::Pass,
        "lint" => Kind::Lint,
        "order" => Kind::Order,
        "pipeline" => Kind::Pipeline,
        "measure" => Kind::Measure,
        "test" => Kind::Test,
        _ => return None,
    })
}
