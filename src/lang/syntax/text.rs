//! Strings and texts: escapes, and the values that a text inserts.

use pest::Parser;

use super::ast::{Expr, Span, Text, TextPart};
use super::build::{Builder, Grammar, Rule, Tree, child};
use super::{check, complaint, scan};

impl Builder {
    /// The value of a `"…"` in which `{` is a plain character.
    pub fn string(&mut self, tree: &Tree) -> String {
        let place = self.span(tree);
        let inner = quoted(tree.as_str());
        let mut value = String::new();
        let mut chars = inner.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => self.escape(place.start + 1 + at as u32, chars.next().map(|(_, c)| c), &mut value),
                _ => value.push(c),
            }
        }
        value
    }

    /// The parts of a `"…"` in which `{expr}` inserts a value.
    pub fn text(&mut self, tree: &Tree) -> Option<Text> {
        let place = self.span(tree);
        let inner = quoted(tree.as_str());
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut at = 0;
        let mut complete = true;
        while let Some(c) = inner[at..].chars().next() {
            let here = place.start + 1 + at as u32;
            match c {
                '\\' => {
                    let escaped = inner[at + 1..].chars().next();
                    self.escape(here, escaped, &mut literal);
                    at += 1 + escaped.map_or(0, char::len_utf8);
                }
                '{' => {
                    let Some(length) = inserted_length(&inner[at + 1..]) else {
                        let mark = Span { start: here, end: here + 1 };
                        let error = self.error("syntax::text", mark, "`{` in a text is never closed");
                        error.labels[0].text = "inserts a value".to_owned();
                        error.help =
                            Some("write `\\{` for a brace, and `\\\"` for quotes inside `{…}`".to_owned());
                        return None;
                    };
                    if !literal.is_empty() {
                        parts.push(TextPart::Literal(std::mem::take(&mut literal)));
                    }
                    match self.inserted(&inner[at + 1..at + 1 + length], here + 1) {
                        Some(value) => parts.push(TextPart::Value(value)),
                        None => complete = false,
                    }
                    at += length + 2;
                }
                _ => {
                    literal.push(c);
                    at += c.len_utf8();
                }
            }
        }
        if !literal.is_empty() {
            parts.push(TextPart::Literal(literal));
        }
        complete.then_some(Text { span: place, parts })
    }

    /// Parses what stands between `{` and `}`; `start` is its place in the item.
    fn inserted(&mut self, source: &str, start: u32) -> Option<Expr> {
        let place = Span { start, end: start + source.len() as u32 };
        if source.trim().is_empty() {
            let braces = Span { start: start - 1, end: place.end + 1 };
            self.error("syntax::text", braces, "`{}` inserts nothing").help =
                Some("write the value between the braces, or `\\{` for a brace".to_owned());
            return None;
        }
        let source = plain_quotes(source);
        let tokens = scan::tokens(&source);
        let mut found = check::check(&source, &tokens);
        if found.is_empty() {
            match Grammar::parse(Rule::inserted, &source) {
                Ok(mut trees) => {
                    let outer = std::mem::replace(&mut self.base, start);
                    let value = trees
                        .next()
                        .and_then(|tree| child(&tree, Rule::expr))
                        .and_then(|tree| self.expr(&tree));
                    self.base = outer;
                    return value;
                }
                Err(error) => found.push(complaint::of(&source, &tokens, &error, "the inserted value")),
            }
        }
        for mut diagnostic in found {
            complaint::shift(&mut diagnostic, start);
            self.diagnostics.push(diagnostic);
        }
        None
    }

    fn escape(&mut self, start: u32, escaped: Option<char>, value: &mut String) {
        match escaped {
            Some('n') => value.push('\n'),
            Some(c @ ('"' | '\\' | '{' | '}')) => value.push(c),
            other => {
                let c = other.map(String::from).unwrap_or_default();
                let span = Span { start, end: start + 1 + c.len() as u32 };
                self.error("syntax::escape", span, format!("`\\{c}` is no escape")).help =
                    Some("the escapes are `\\\"`, `\\\\`, `\\n` and `\\{`".to_owned());
            }
        }
    }
}

/// What stands between the quotes.
fn quoted(literal: &str) -> &str {
    literal.get(1..literal.len().saturating_sub(1)).unwrap_or("")
}

/// The bytes up to the `}` that closes an insertion; braces inside nest, strings (`\"…\"`) are skipped.
fn inserted_length(rest: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let mut in_string = false;
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => in_string ^= matches!(chars.next(), Some((_, '"'))),
            '{' if !in_string => depth += 1,
            '}' if !in_string && depth == 0 => return Some(at),
            '}' if !in_string => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `\"x\"` as ` "x" `: the same bytes in number, so places stay right.
fn plain_quotes(source: &str) -> String {
    let mut opening = true;
    let mut rest = source;
    let mut plain = String::with_capacity(source.len());
    while let Some(at) = rest.find("\\\"") {
        plain.push_str(&rest[..at]);
        plain.push_str(if opening { " \"" } else { "\" " });
        opening = !opening;
        rest = &rest[at + 2..];
    }
    plain.push_str(rest);
    plain
}
