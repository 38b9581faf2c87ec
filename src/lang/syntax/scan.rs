//! Rule text as a flat run of words, marks, strings and comments.
//!
//! Promise: never fails and never looks back, so it works on text that is not (yet) a rule file. It serves the
//! splitter, the checks before parsing and the wording of complaints; the grammar itself is in `anchor.pest`.

use super::ast::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Word,
    Number,
    /// `"…"`; strings end at their line.
    Text {
        closed: bool,
    },
    /// `// …`
    Comment,
    /// `/// …`
    Doc,
    /// `//! …`
    FileDoc,
    /// Everything else: one operator, bracket or stray character.
    Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

impl Token {
    pub fn text<'a>(&self, source: &'a str) -> &'a str {
        slice(source, self.span)
    }

    pub fn is_comment(&self) -> bool {
        matches!(self.kind, TokenKind::Comment | TokenKind::Doc | TokenKind::FileDoc)
    }
}

/// The bytes of `span`, or nothing where it does not fit.
pub fn slice(source: &str, span: Span) -> &str {
    source.get(span.start as usize..span.end as usize).unwrap_or("")
}

/// A span from byte positions. Rule files beyond 4 GiB are refused by [`super::parse::parse_file`].
pub fn span(start: usize, end: usize) -> Span {
    Span { start: start as u32, end: end as u32 }
}

const LONG_MARKS: [&str; 10] = ["=>", "->", "==", "!=", "<=", ">=", "..", "??", "&&", "||"];

const BYTE_ORDER_MARK: char = '\u{feff}';

/// All tokens of `text`; white space is left out.
pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    // Some editors begin a file with a byte order mark.
    let mut at = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    while let Some(&byte) = bytes.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let rest = &text[at..];
        let (kind, length) = if byte.is_ascii_alphabetic() || byte == b'_' {
            (TokenKind::Word, word_length(rest))
        } else if byte.is_ascii_digit() {
            (TokenKind::Number, number_length(rest))
        } else if byte == b'"' {
            text_length(rest)
        } else if rest.starts_with("//") {
            (comment_kind(rest), rest.find('\n').unwrap_or(rest.len()))
        } else if let Some(mark) = LONG_MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            (TokenKind::Mark, mark.len())
        } else {
            (TokenKind::Mark, rest.chars().next().map_or(1, char::len_utf8))
        };
        tokens.push(Token { kind, span: span(at, at + length) });
        at += length;
    }
    tokens
}

fn word_length(rest: &str) -> usize {
    rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}

/// Digits, with one fraction; `1..2` is a range, so a `.` counts only before a digit.
fn number_length(rest: &str) -> usize {
    let whole = word_length(rest);
    let fraction = &rest[whole..];
    let mut bytes = fraction.bytes();
    match (bytes.next(), bytes.next()) {
        (Some(b'.'), Some(digit)) if digit.is_ascii_digit() => whole + 1 + word_length(&fraction[1..]),
        _ => whole,
    }
}

fn text_length(rest: &str) -> (TokenKind, usize) {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => return (TokenKind::Text { closed: false }, at),
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return (TokenKind::Text { closed: true }, at + 1),
            _ => {}
        }
    }
    (TokenKind::Text { closed: false }, rest.len())
}

fn comment_kind(rest: &str) -> TokenKind {
    match rest.as_bytes() {
        [b'/', b'/', b'!', ..] => TokenKind::FileDoc,
        [b'/', b'/', b'/', b'/', ..] => TokenKind::Comment,
        [b'/', b'/', b'/', ..] => TokenKind::Doc,
        _ => TokenKind::Comment,
    }
}

/// The places of all comments, documentation included, in order.
pub fn comments(text: &str) -> Vec<Span> {
    tokens(text).iter().filter(|token| token.is_comment()).map(|token| token.span).collect()
}

/// Whether `token` is the first thing on its line, and how far it is indented.
pub fn indent_of_line(text: &str, at: u32) -> (bool, usize) {
    let before = slice(text, Span { start: 0, end: at });
    let start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |newline| newline + 1);
    let line = before[start..].trim_start_matches(BYTE_ORDER_MARK);
    let indent = line.bytes().take_while(u8::is_ascii_whitespace).count();
    (indent == line.len(), indent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).iter().map(|token| token.text(source)).collect()
    }

    #[test]
    fn marks_of_two_characters_are_one_token() {
        assert_eq!(
            texts("a=>b->c..d??e==1.5..2"),
            ["a", "=>", "b", "->", "c", "..", "d", "??", "e", "==", "1.5", "..", "2"]
        );
    }

    #[test]
    fn a_string_ends_at_its_quote_or_its_line() {
        assert_eq!(texts(r#""a\"b" c "d"#), [r#""a\"b""#, "c", "\"d"]);
        assert_eq!(tokens("\"a\nb")[0].kind, TokenKind::Text { closed: false });
    }

    #[test]
    fn comments_are_found_but_not_in_strings() {
        let source = "/// d\nset // c\n\"// no\"";
        let found: Vec<&str> = comments(source).iter().map(|span| slice(source, *span)).collect();
        assert_eq!(found, ["/// d", "// c"]);
    }
}
