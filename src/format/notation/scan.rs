//! Splits notation text into items, by brackets and line ends alone.
//!
//! Promise: linear in the text, and nothing that a broken item holds reaches the items behind it, as far as
//! brackets can tell. Nesting is bounded here, once, so that later stages may recurse over brackets.

use std::ops::Range;

use super::Complaints;

/// Brackets open at one place, at most. Deep enough for control flow nested by a machine; a value or a
/// subgraph below it is refused.
pub(super) const MAX_NESTING: usize = 64;

/// What separates the pieces of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Nodes, subgraphs: line ends and `;`.
    Items,
    /// Attributes: line ends, `;` and `,`.
    Entries,
}

/// One piece of a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub span: Range<usize>,
    /// The first `{ ... }` outside other brackets, braces included.
    pub braces: Option<Range<usize>>,
    /// Brackets do not match: not worth parsing.
    pub broken: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token {
    Space,
    Newline,
    Open(u8),
    Close(u8),
    Comma,
    Semicolon,
    Arrow,
    /// `:`, `=` or `^`: something must follow.
    Joint,
    Other,
}

/// Checks the brackets and strings of the whole text. `false`: nested too deep to go on.
pub(super) fn check_brackets(text: &str, complaints: &mut Complaints) -> bool {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some((token, end)) = next(text, at) {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            Token::Other if text.as_bytes()[at] == b'"' && !is_closed_string(&text[at..end]) => {
                complaints.unclosed_string(at..end);
            }
            _ => {}
        }
        if depth > MAX_NESTING {
            complaints.too_deep(at..end);
            return false;
        }
        at = end;
    }
    true
}

/// The pieces of `text[within]`.
pub(super) fn split(text: &str, within: Range<usize>, mode: Mode, complaints: &mut Complaints) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut piece: Option<Piece> = None;
    let mut last = Token::Newline;
    let text = &text[..within.end];
    let mut at = within.start;
    while let Some((token, end)) = next(text, at) {
        // Blank lines and comments behind a line end are one line end: each is looked at once.
        let end = if token == Token::Newline { skip_blank(text, end) } else { end };
        let mut ends = match token {
            Token::Newline if open.is_empty() => {
                !(matches!(last, Token::Arrow | Token::Joint | Token::Comma) || continues(text, end, mode))
            }
            // Only an item's own line can have this shape, so the bracket was forgotten.
            Token::Newline if mode == Mode::Items && open.iter().all(|(b, _)| *b != b'{') => {
                starts_item(text, end)
            }
            Token::Semicolon => open.is_empty(),
            Token::Comma => open.is_empty() && mode == Mode::Entries,
            _ => false,
        };
        let is_blank = matches!(token, Token::Space | Token::Newline);
        if !ends && !is_blank {
            let piece = piece.get_or_insert(Piece { span: at..at, braces: None, broken: false });
            piece.span.end = end;
            last = token;
            match token {
                Token::Open(bracket) => {
                    if bracket == b'{' && open.is_empty() && piece.braces.is_none() {
                        piece.braces = Some(at..at);
                    }
                    open.push((bracket, at));
                }
                Token::Close(bracket) => {
                    if open.iter().any(|(b, _)| closer(*b) == bracket) {
                        while let Some((b, opened)) = open.pop_if(|(b, _)| closer(*b) != bracket) {
                            complaints.unclosed(opened, b);
                            piece.broken = true;
                        }
                        open.pop();
                    } else {
                        complaints.stray(at, bracket);
                        piece.broken = true;
                    }
                    if let Some(braces) = &mut piece.braces
                        && braces.start == braces.end
                        && open.is_empty()
                    {
                        braces.end = end;
                        // A subgraph needs no separator behind its brace.
                        ends = is_subgraph(&text[piece.span.start..]);
                    }
                }
                _ => {}
            }
        }
        if ends {
            finish(&mut piece, &mut open, &mut pieces, complaints);
            last = Token::Newline;
        }
        at = end;
    }
    finish(&mut piece, &mut open, &mut pieces, complaints);
    pieces
}

fn finish(
    piece: &mut Option<Piece>,
    open: &mut Vec<(u8, usize)>,
    pieces: &mut Vec<Piece>,
    complaints: &mut Complaints,
) {
    let Some(mut piece) = piece.take() else { return };
    if let Some((bracket, at)) = open.first() {
        complaints.unclosed(*at, *bracket);
        piece.broken = true;
    }
    open.clear();
    pieces.push(piece);
}

fn closer(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_subgraph(rest: &str) -> bool {
    rest.strip_prefix("subgraph").is_some_and(|a| a.starts_with([' ', '\t', '\r', '\n', '"']))
}

fn is_closed_string(token: &str) -> bool {
    let inner = &token.as_bytes()[1..];
    let escapes = inner.iter().rev().skip(1).take_while(|b| **b == b'\\').count();
    inner.last() == Some(&b'"') && escapes % 2 == 0
}

/// The first significant byte position at or behind `at`.
fn skip_blank(text: &str, mut at: usize) -> usize {
    while let Some((Token::Space | Token::Newline, end)) = next(text, at) {
        at = end;
    }
    at
}

/// The first token that is not blank, at or behind `at` and before `end`; empty at the end.
pub(super) fn token_at(text: &str, at: usize, end: usize) -> Range<usize> {
    let text = &text[..end];
    let start = skip_blank(text, at.min(end));
    start..next(text, start).map_or(start, |(_, end)| end)
}

/// Whether what follows a line end still belongs to the piece before.
fn continues(text: &str, at: usize, mode: Mode) -> bool {
    let rest = &text[skip_blank(text, at)..];
    match mode {
        Mode::Items => rest.starts_with(['^', '{', '(']) || rest.starts_with("->"),
        Mode::Entries => rest.starts_with(['{', '=']),
    }
}

/// Whether a line begins like `name: Type`.
fn starts_item(text: &str, at: usize) -> bool {
    let at = skip_blank(text, at);
    let Some((Token::Other, end)) = next(text, at) else { return false };
    let colon = skip_blank(text, end);
    if text.as_bytes().get(colon) != Some(&b':') {
        return false;
    }
    let kind = skip_blank(text, colon + 1);
    text.as_bytes().get(kind).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'"')
}

/// The token at `at` and where it ends.
fn next(text: &str, at: usize) -> Option<(Token, usize)> {
    let bytes = text.as_bytes();
    let run = |from: usize, ok: fn(u8) -> bool| from + bytes[from..].iter().take_while(|b| ok(**b)).count();
    Some(match *bytes.get(at)? {
        b'\n' => (Token::Newline, at + 1),
        b' ' | b'\t' | b'\r' => (Token::Space, at + 1),
        b'/' if bytes.get(at + 1) == Some(&b'/') => (Token::Space, run(at, |b| b != b'\n')),
        b'-' if bytes.get(at + 1) == Some(&b'>') => (Token::Arrow, at + 2),
        b @ (b'(' | b'[' | b'{') => (Token::Open(b), at + 1),
        b @ (b')' | b']' | b'}') => (Token::Close(b), at + 1),
        b',' => (Token::Comma, at + 1),
        b';' => (Token::Semicolon, at + 1),
        b':' | b'=' | b'^' => (Token::Joint, at + 1),
        b'"' => (Token::Other, string_end(bytes, at)),
        _ => (Token::Other, word_end(bytes, at)),
    })
}

/// The end of the string that starts at `at`: behind its quote, or at the line end if it has none.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(&byte) = bytes.get(end) {
        match byte {
            b'"' => return end + 1,
            b'\n' => return end,
            // A backslash hides one byte; the bytes behind it in a longer character hide nothing.
            b'\\' if bytes.get(end + 1).is_some_and(|b| *b != b'\n') => end += 2,
            _ => end += 1,
        }
    }
    bytes.len()
}

/// The end of the word at `at` (as in the grammar), or of the one character there.
fn word_end(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    if !is_word_byte(bytes[at]) {
        while bytes.get(end).is_some_and(|b| b & 0xc0 == 0x80) {
            end += 1;
        }
        return end;
    }
    while let Some(&byte) = bytes.get(end) {
        let joins = b"./-".contains(&byte) && bytes.get(end + 1).is_some_and(|b| is_word_byte(*b));
        if !is_word_byte(byte) && !joins {
            break;
        }
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, mode: Mode) -> (Vec<&str>, usize) {
        let mut complaints = Complaints::default();
        let pieces = split(text, 0..text.len(), mode, &mut complaints);
        (pieces.into_iter().map(|p| &text[p.span]).collect(), complaints.list.len())
    }

    #[test]
    fn a_line_is_an_item_unless_it_must_go_on() {
        let text =
            "a: Relu\nb: Relu(a,\n a)\n  ^a // why\n  ^c\n  -> float32,\n  float16; c: Relu\n{ x = 1 }";
        let want =
            ["a: Relu", "b: Relu(a,\n a)\n  ^a // why\n  ^c\n  -> float32,\n  float16", "c: Relu\n{ x = 1 }"];
        assert_eq!(pieces(text, Mode::Items), (want.to_vec(), 0));
    }

    #[test]
    fn many_blank_lines_are_looked_at_once() {
        // Looked at once for each of them, they would take hours.
        let blank = "\n// a comment\n".repeat(100_000);
        let text = format!("a: Relu{blank}->{blank}float32{blank}b: Relu(a,{blank}a){blank}");
        let want = [format!("a: Relu{blank}->{blank}float32"), format!("b: Relu(a,{blank}a)")];
        assert_eq!(pieces(&text, Mode::Items), (want.iter().map(String::as_str).collect(), 0));
    }

    #[test]
    fn entries_also_end_at_commas_and_behind_subgraphs() {
        let text = "x = [1, 2], s = \"},{\" subgraph = 3\nsubgraph a { x: T, } subgraph b { }";
        let want = ["x = [1, 2]", "s = \"},{\" subgraph = 3", "subgraph a { x: T, }", "subgraph b { }"];
        assert_eq!(pieces(text, Mode::Entries), (want.to_vec(), 0));
    }

    #[test]
    fn a_forgotten_bracket_costs_one_item() {
        assert_eq!(pieces("a: Relu(x\nb: Relu(y)\n", Mode::Items), (vec!["a: Relu(x", "b: Relu(y)"], 1));
        assert_eq!(pieces("a: Relu)\nb: Relu", Mode::Items), (vec!["a: Relu)", "b: Relu"], 1));
        assert_eq!(pieces("a: Relu { [ }\nb: Relu", Mode::Items), (vec!["a: Relu { [ }", "b: Relu"], 1));
    }
}
