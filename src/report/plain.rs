//! Text of graphs, rules and arguments as a terminal may show it.
//!
//! Promise: nothing that an input holds moves the cursor, colours the screen or turns the direction of writing. A character that
//! would is shown as a string of the graph notation has it (`\n`, `\x1b`). This is for people: programs get the text as it is.

use std::borrow::Cow;
use std::fmt::Write;

/// A name, or anything else that is to stay on its line.
pub fn plain(text: &str) -> Cow<'_, str> {
    escaped(text, &|_| false)
}

/// Text that may have lines.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, &|c| c == '\n')
}

/// What is drawn already: its lines stay, and where there are colours, those.
pub fn drawn(text: &str, color: bool) -> Cow<'_, str> {
    let is_kept = |c| matches!(c, '\n' | '\t');
    if !color || !text.contains('\x1b') {
        return escaped(text, &is_kept);
    }
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('\x1b');
    out += &escaped(pieces.next().unwrap_or_default(), &is_kept);
    for piece in pieces {
        let end =
            piece.strip_prefix('[').and_then(|codes| codes.find(|c: char| c != ';' && !c.is_ascii_digit()));
        let is_color = end.is_some_and(|end| piece[1 + end..].starts_with('m'));
        out += if is_color { "\x1b" } else { "\\x1b" };
        out += &escaped(piece, &is_kept);
    }
    Cow::Owned(out)
}

/// The same with one harmless character of as many bytes for each that is not, so that places stay; none if all are harmless.
pub fn same_places(text: &str) -> Option<String> {
    let ends_line = |rest: &str| rest.starts_with("\r\n");
    let is_kept = |at: usize, c: char| matches!(c, '\n' | '\t') || c == '\r' && ends_line(&text[at..]);
    let is_odd = |(at, c): (usize, char)| is_harmful(c) && !is_kept(at, c);
    if is_harmless(text) || !text.char_indices().any(is_odd) {
        return None;
    }
    let stand_in = |(at, c): (usize, char)| match c.len_utf8() {
        _ if !is_odd((at, c)) => c,
        1 => '?',
        2 => '·',
        _ => '\u{fffd}',
    };
    Some(text.char_indices().map(stand_in).collect())
}

/// Control characters, and what turns the direction of writing.
fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a look at the bytes is enough.
fn is_harmless(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn escaped<'a>(text: &'a str, is_kept: &dyn Fn(char) -> bool) -> Cow<'a, str> {
    if is_harmless(text) || !text.chars().any(|c| is_harmful(c) && !is_kept(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        // Writing to a `String` cannot fail.
        let _ = match c {
            _ if !is_harmful(c) || is_kept(c) => out.write_char(c),
            '\n' => out.write_str("\\n"),
            '\t' => out.write_str("\\t"),
            '\r' => out.write_str("\\r"),
            _ if c.is_ascii() => write!(out, "\\x{:02x}", u32::from(c)),
            _ => write!(out, "\\u{{{:x}}}", u32::from(c)),
        };
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        assert!(matches!(plain("a é 名"), Cow::Borrowed("a é 名")));
        assert_eq!(plain("a\n\x1b[31m\u{9b}1m\u{202e}\x7f"), "a\\n\\x1b[31m\\u{9b}1m\\u{202e}\\x7f");
        assert_eq!(lines("a\nb\rc"), "a\nb\\rc");
    }

    #[test]
    fn of_what_is_drawn_lines_and_colours_stay() {
        assert_eq!(drawn("\x1b[1;31mé\x1b[0m\n", true), "\x1b[1;31mé\x1b[0m\n");
        assert_eq!(drawn("\x1b[1;31mé\x1b[0m\n", false), "\\x1b[1;31mé\\x1b[0m\n");
        assert_eq!(drawn("a\x1b[2J\x1b]0;t\x07\x1b", true), "a\\x1b[2J\\x1b]0;t\\x07\\x1b");
    }

    #[test]
    fn places_in_a_text_stay() {
        assert_eq!(same_places("a\tb\r\nc"), None);
        assert_eq!(same_places("a\rb\x1b\u{9b}\u{202e}c\r\n").as_deref(), Some("a?b?·\u{fffd}c\r\n"));
    }
}
