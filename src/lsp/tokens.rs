//! Semantic tokens: each word by what it means, everything else by what it is.

use lsp_types::{
    SemanticToken, SemanticTokens, SemanticTokensParams, SemanticTokensRangeParams,
    SemanticTokensRangeResult, SemanticTokensResult,
};
use serde_json::{Value, json};

use super::index::{file, items, sights};
use super::server::Server;
use crate::lang::check::Meaning;
use crate::lang::syntax::ast::Kind;
use crate::lang::syntax::scan::{TokenKind, tokens};

/// Types of tokens, in the order of their numbers.
const TYPES: [&str; 14] = [
    "keyword",
    "comment",
    "string",
    "number",
    "function",
    "variable",
    "parameter",
    "property",
    "enum",
    "enumMember",
    "type",
    "class",
    "decorator",
    "event",
];
/// Modifiers, in the order of their bits.
const MODIFIERS: [&str; 2] = ["declaration", "defaultLibrary"];
const DECLARATION: u32 = 1;
const LIBRARY: u32 = 2;

pub fn legend() -> Value {
    json!({"tokenTypes": TYPES, "tokenModifiers": MODIFIERS})
}

fn number(name: &str) -> u32 {
    TYPES.iter().position(|known| *known == name).unwrap_or(0) as u32
}

/// The type and modifiers of a word.
fn of_meaning(meaning: &Meaning) -> (&'static str, u32) {
    match meaning {
        Meaning::Entry(kind, _) => match kind {
            Kind::Set | Kind::Table => ("type", 0),
            Kind::Attr | Kind::Note => ("property", 0),
            Kind::Option => ("parameter", 0),
            Kind::Enum => ("enum", 0),
            Kind::Attribute => ("decorator", 0),
            Kind::Checker | Kind::Lint | Kind::Test => ("event", 0),
            _ => ("function", 0),
        },
        Meaning::Local { declared: None, .. } => ("variable", LIBRARY),
        Meaning::Local { .. } => ("variable", 0),
        Meaning::Fact(_) => ("property", LIBRARY),
        Meaning::Operator(_) => ("class", 0),
        Meaning::Variant { .. } => ("enumMember", 0),
        Meaning::Step(_) => ("event", 0),
    }
}

/// Tokens of a document: bytes, type, modifiers.
fn found(server: &Server, key: &str, text: &str) -> Vec<(std::ops::Range<usize>, &'static str, u32)> {
    let mut words = Vec::new();
    for placed in file(server, key).into_iter().flat_map(|file| items(server, file)) {
        for sight in &sights(server, &placed).words {
            let (kind, modifiers) = of_meaning(&sight.meaning);
            let declares = if sight.declares { DECLARATION } else { 0 };
            words.push((placed.place(sight.span), kind, modifiers | declares));
        }
    }
    words.sort_by_key(|(place, ..)| (place.start, place.end));
    words.dedup_by(|a, b| a.0.start == b.0.start);
    let mut found = Vec::new();
    let mut known = words.into_iter().peekable();
    for token in tokens(text) {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        // What a text inserts stands inside a string, which is told in parts around it.
        let mut at = start;
        while let Some((place, ..)) = known.peek()
            && place.start < end
        {
            let Some((place, kind, modifiers)) = known.next() else { break };
            if place.start < at || place.end > end && matches!(token.kind, TokenKind::Text { .. }) {
                continue;
            }
            if place.start > at && matches!(token.kind, TokenKind::Text { .. }) {
                found.push((at..place.start, "string", 0));
            }
            at = place.end.max(at);
            found.push((place, kind, modifiers));
        }
        if at >= end {
            continue;
        }
        let kind = match token.kind {
            TokenKind::Comment | TokenKind::Doc | TokenKind::FileDoc => "comment",
            TokenKind::Text { .. } => "string",
            TokenKind::Number => "number",
            TokenKind::Word if at == start => match token.text(text) {
                word if word.starts_with(|c: char| c.is_ascii_uppercase()) => "type",
                word if KEYWORDS.contains(&word) => "keyword",
                _ => continue,
            },
            TokenKind::Word | TokenKind::Mark => continue,
        };
        found.push((at..end, kind, 0));
    }
    found.sort_by_key(|(place, ..)| place.start);
    // An option with dots in its name is one word of several tokens.
    let mut end = 0;
    found.retain(|(place, ..)| {
        let fits = place.start >= end && place.start < place.end;
        end = if fits { place.end } else { end };
        fits
    });
    found
}

/// Words that are part of the language wherever they mean nothing else.
const KEYWORDS: [&str; 84] = [
    "after",
    "alias",
    "all",
    "always",
    "and",
    "answered",
    "any",
    "apply",
    "as",
    "at",
    "attr",
    "attribute",
    "because",
    "before",
    "by",
    "chain",
    "checker",
    "clear",
    "connect",
    "control",
    "count",
    "cut",
    "default",
    "delete",
    "do",
    "doc",
    "done",
    "else",
    "enum",
    "env",
    "except",
    "expect",
    "extend",
    "fail",
    "false",
    "find",
    "first",
    "fn",
    "for",
    "found",
    "from",
    "give",
    "graph",
    "halt",
    "has_attr",
    "help",
    "if",
    "in",
    "insert",
    "is",
    "isolate",
    "join",
    "kept",
    "let",
    "level",
    "link",
    "lint",
    "match",
    "matrix",
    "named",
    "never",
    "none",
    "not",
    "note",
    "on",
    "option",
    "or",
    "order",
    "otherwise",
    "override",
    "pass",
    "pipeline",
    "remove",
    "report",
    "require",
    "resolve",
    "set",
    "steps",
    "stop",
    "symbols",
    "test",
    "then",
    "true",
    "when",
];

fn encoded(
    server: &mut Server,
    uri: &lsp_types::Uri,
    range: Option<lsp_types::Range>,
) -> Option<SemanticTokens> {
    let key = server.files.key(uri);
    let lines = server.files.lines(&key)?;
    let wanted = range.map_or(0..lines.text().len(), |range| lines.bytes(range));
    let mut data = Vec::new();
    let (mut line, mut character) = (0, 0);
    for (place, kind, modifiers) in found(server, &key, lines.text()) {
        if place.end <= wanted.start || place.start >= wanted.end {
            continue;
        }
        let start = lines.position(place.start);
        let length = lines.encoding().width(lines.text().get(place).unwrap_or(""));
        let delta_line = start.line - line;
        let delta_start = if delta_line == 0 { start.character - character } else { start.character };
        (line, character) = (start.line, start.character);
        let token_type = number(kind);
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length,
            token_type,
            token_modifiers_bitset: modifiers,
        });
    }
    Some(SemanticTokens { result_id: None, data })
}

pub fn full(server: &mut Server, params: &SemanticTokensParams) -> Option<SemanticTokensResult> {
    encoded(server, &params.text_document.uri, None).map(SemanticTokensResult::Tokens)
}

pub fn in_range(
    server: &mut Server,
    params: &SemanticTokensRangeParams,
) -> Option<SemanticTokensRangeResult> {
    encoded(server, &params.text_document.uri, Some(params.range)).map(SemanticTokensRangeResult::Tokens)
}
