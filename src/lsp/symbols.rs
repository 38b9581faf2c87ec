//! Outlines: the entries of a document, of the workspace, and what of a document can be folded.

use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, FoldingRange, FoldingRangeKind,
    FoldingRangeParams, SymbolInformation, SymbolKind, WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

use super::index::{Placed, all_items, file, items, location, sights};
use super::server::Server;
use crate::lang::check::{Meaning, title};
use crate::lang::syntax::ast::{Item, Kind, Span};
use crate::lang::syntax::scan::{Token, TokenKind, tokens};
use crate::report::rules::kind_word;

/// Symbols of the workspace that are told at once.
const MOST_SYMBOLS: usize = 1000;

fn symbol_kind(kind: Kind) -> SymbolKind {
    match kind {
        Kind::Set | Kind::Table => SymbolKind::ARRAY,
        Kind::Attr | Kind::Note => SymbolKind::PROPERTY,
        Kind::Option => SymbolKind::CONSTANT,
        Kind::Enum => SymbolKind::ENUM,
        Kind::Fn | Kind::Walk | Kind::Symbols | Kind::Action | Kind::Measure => SymbolKind::FUNCTION,
        Kind::Attribute => SymbolKind::FIELD,
        Kind::Never | Kind::Always | Kind::DefaultAlways | Kind::Skip => SymbolKind::OPERATOR,
        Kind::Checker | Kind::Lint => SymbolKind::EVENT,
        Kind::Matrix => SymbolKind::STRUCT,
        Kind::Chain | Kind::Steps | Kind::Pass => SymbolKind::CLASS,
        Kind::Order | Kind::Pipeline => SymbolKind::MODULE,
        Kind::Test => SymbolKind::METHOD,
    }
}

/// What an entry is called in an outline.
fn called(item: &Item) -> String {
    match item.kind {
        Kind::DefaultAlways => kind_word(item.kind).to_owned(),
        _ => title(item).to_string(),
    }
}

/// Where the name of an entry stands, or its keyword.
fn name_span(placed: &Placed<'_>, item: &Item) -> Span {
    let span = item.name.span;
    if span.end > span.start {
        return span;
    }
    let text = &placed.item.source.text;
    tokens(text).iter().find(|token| !token.is_comment()).map_or(span, |token| token.span)
}

#[allow(deprecated, reason = "the protocol's type has a field that nobody uses any more")]
pub fn of_document(server: &mut Server, params: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let key = server.files.key(&params.text_document.uri);
    let lines = server.files.lines(&key)?;
    let mut symbols = Vec::new();
    for placed in items(server, file(server, &key)?) {
        let Some(item) = &placed.item.item else { continue };
        let symbol = |name: String, kind, span: Span, whole: Span, children| DocumentSymbol {
            name,
            detail: None,
            kind,
            tags: None,
            deprecated: None,
            range: lines.range(placed.place(whole)),
            selection_range: lines.range(placed.place(span)),
            children,
        };
        let words = sights(server, &placed);
        let inside =
            words.words.iter().filter(|sight| sight.declares).filter_map(|sight| match &sight.meaning {
                Meaning::Variant { name, .. } => Some((name, SymbolKind::ENUM_MEMBER, sight.span)),
                Meaning::Step(name) => Some((name, SymbolKind::EVENT, sight.span)),
                _ => None,
            });
        let children: Vec<DocumentSymbol> =
            inside.map(|(name, kind, span)| symbol(name.to_string(), kind, span, span, None)).collect();
        let whole = Span { start: 0, end: placed.item.source.end - placed.item.source.start };
        let children = (!children.is_empty()).then_some(children);
        let mut entry =
            symbol(called(item), symbol_kind(item.kind), name_span(&placed, item), whole, children);
        entry.detail = Some(kind_word(item.kind).to_owned());
        symbols.push(entry);
    }
    Some(DocumentSymbolResponse::Nested(symbols))
}

/// Whether the characters of `query` stand in `name` in their order.
fn matches(name: &str, query: &str) -> bool {
    let mut rest = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| rest.any(|c| c == wanted))
}

#[allow(deprecated, reason = "the protocol's type has a field that nobody uses any more")]
pub fn of_workspace(server: &mut Server, params: &WorkspaceSymbolParams) -> Option<WorkspaceSymbolResponse> {
    let mut found = Vec::new();
    for placed in all_items(server) {
        let Some(item) = &placed.item.item else { continue };
        let name = called(item);
        if matches(&name, &params.query) {
            let place = placed.place(name_span(&placed, item));
            found.push((name, item.kind, placed.path.to_owned(), place));
        }
    }
    // What is named so comes before what is spelled so.
    let exact = |name: &str| !name.to_lowercase().contains(&params.query.to_lowercase());
    found.sort_by_key(|(name, ..)| exact(name));
    found.truncate(MOST_SYMBOLS);
    let told = found.into_iter().filter_map(|(name, kind, key, place)| {
        Some(SymbolInformation {
            name,
            kind: symbol_kind(kind),
            tags: None,
            deprecated: None,
            location: location(server, &key, place)?,
            container_name: Some(kind_word(kind).to_owned()),
        })
    });
    Some(WorkspaceSymbolResponse::Flat(told.collect()))
}

/// Braces, items of several lines, and runs of comments.
pub fn folds(server: &mut Server, params: &FoldingRangeParams) -> Option<Vec<FoldingRange>> {
    let key = server.files.key(&params.text_document.uri);
    let lines = server.files.lines(&key)?;
    let text = lines.text();
    let mut found: Vec<(u32, u32, Option<FoldingRangeKind>)> = Vec::new();
    let tokens = tokens(text);
    let mut open = Vec::new();
    let mut comments: Option<(Token, Token)> = None;
    let close = |run: Option<(Token, Token)>, found: &mut Vec<_>| {
        let Some((first, last)) = run else { return };
        let ends = (lines.line(first.span.start as usize), lines.line(last.span.start as usize));
        found.push((ends.0, ends.1, Some(FoldingRangeKind::Comment)));
    };
    for token in &tokens {
        let line = lines.line(token.span.start as usize);
        if token.is_comment() {
            let goes_on = |(_, last): &(Token, Token)| {
                last.kind == token.kind && lines.line(last.span.start as usize) + 1 == line
            };
            let first = comments.filter(goes_on).map(|(first, _)| first);
            if first.is_none() {
                close(comments.take(), &mut found);
            }
            comments = Some((first.unwrap_or(*token), *token));
            continue;
        }
        close(comments.take(), &mut found);
        match token.text(text) {
            "{" if token.kind == TokenKind::Mark => open.push(line),
            "}" if token.kind == TokenKind::Mark => {
                if let Some(start) = open.pop() {
                    // The line of the closing brace stays in sight.
                    found.push((start, line.saturating_sub(1), None));
                }
            }
            _ => {}
        }
    }
    close(comments, &mut found);
    for placed in file(server, &key).into_iter().flat_map(|file| items(server, file)) {
        let source = &placed.item.source;
        let keyword = crate::lang::syntax::scan::tokens(&source.text);
        let keyword = keyword.iter().find(|token| !token.is_comment()).map_or(0, |token| token.span.start);
        let start = lines.line((source.start + keyword) as usize);
        found.push((start, lines.line(source.end.saturating_sub(1) as usize), None));
    }
    found.retain(|(start, end, _)| start < end);
    found.sort_by_key(|(start, end, _)| (*start, std::cmp::Reverse(*end)));
    // Clients fold one range at a line.
    found.dedup_by_key(|(start, ..)| *start);
    let range =
        |(start_line, end_line, kind)| FoldingRange { start_line, end_line, kind, ..FoldingRange::default() };
    Some(found.into_iter().map(range).collect())
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_query_is_part_of_a_name_in_its_order() {
        assert!(matches("user_out", "uo") && matches("user_out", "UO") && matches("a", ""));
        assert!(!matches("user_out", "ou_s") && !matches("", "a"));
    }
}
