//! More than one complaint about an item: statements fail on their own.
//!
//! Promise: only places that the grammar itself refuses are reported. The statement that holds such a place is
//! blanked, which leaves every other place where it was, and the item is parsed again.

use pest::Parser;
use pest::error::Error;

use super::ast::Span;
use super::build::{Grammar, Rule};
use super::complaint::{self, STATEMENTS};
use super::scan::{self, Token, TokenKind, indent_of_line};
use crate::lang::diagnostic::Diagnostic;

/// More mistakes than this in one item are hardly read.
const MOST: usize = 10;

/// The words beside those of statements that begin a part of an item that may be missing.
const PARTS: [&str; 3] = ["at", "require", "expect"];

/// Any name.
const NAME: &str = "x";

/// All complaints about an item whose first failure is `error`.
pub fn complaints(text: &str, tokens: &[Token], error: &Error<Rule>) -> Vec<Diagnostic> {
    let (first, mut stuck) = complaint(text, tokens, error);
    let mut found = vec![first];
    let mut rest = text.to_owned();
    let mut tokens = tokens.to_vec();
    while found.len() < MOST {
        let Some(statement) = statement_around(&rest, &tokens, stuck) else { break };
        rest = blanked(&rest, statement);
        tokens = scan::tokens(&rest);
        let Err(error) = Grammar::parse(Rule::item, &rest) else { break };
        let (next, place) = complaint(&rest, &tokens, &error);
        if place <= stuck {
            break;
        }
        found.push(next);
        stuck = place;
    }
    found
}

/// The complaint about a failed parse, and the place that it is about.
fn complaint(text: &str, tokens: &[Token], error: &Error<Rule>) -> (Diagnostic, u32) {
    let stuck = complaint::place_of(error);
    match dangling(text, tokens, stuck) {
        Some(dot) => {
            let message = "expected a name after `.`, found the end of the line";
            (Diagnostic::error("syntax::expected", dot, message), dot.start)
        }
        None => (complaint::of(text, tokens, error, "the item"), stuck),
    }
}

/// The `.` at the end of a line that the failure is due to. The name may stand on the next line, so only a `.` counts behind which
/// a name of its own leads the parser farther.
fn dangling(text: &str, tokens: &[Token], stuck: u32) -> Option<Span> {
    let words: Vec<&Token> = tokens.iter().filter(|token| !token.is_comment()).collect();
    let ends_line = |two: &&[&Token]| {
        let [dot, next] = two else { return false };
        dot.text(text) == "." && indent_of_line(text, next.span.start).0
    };
    let before = words.windows(2).filter(ends_line).map(|two| two[0].span);
    let dot = before.take_while(|dot| dot.start < stuck).last()?;
    let (head, tail) = text.split_at_checked(dot.end as usize)?;
    let farther = match Grammar::parse(Rule::item, &format!("{head}{NAME}{tail}")) {
        Ok(_) => true,
        Err(error) => complaint::place_of(&error) > stuck + NAME.len() as u32,
    };
    farther.then_some(dot)
}

/// The bytes of the innermost statement that holds `at`, inside the item's braces.
fn statement_around(text: &str, tokens: &[Token], at: u32) -> Option<Span> {
    let words: Vec<Token> = tokens.iter().filter(|token| !token.is_comment()).copied().collect();
    let stuck = words.iter().position(|token| token.span.end > at)?;
    let first = first_word(text, &words, stuck)?;
    let braces = |brace: &str| words[..first].iter().filter(|token| token.text(text) == brace).count();
    if braces("{") <= braces("}") {
        return None;
    }
    let mut depth = 0_i32;
    let mut end = words[first].span.end;
    for (index, token) in words.iter().enumerate().skip(first) {
        let word = token.text(text);
        let closes = matches!(word, "}" | ")" | "]");
        let begins = depth == 0 && begins_part(text, token);
        if index > stuck && begins || closes && depth == 0 {
            return Some(Span { start: words[first].span.start, end });
        }
        depth += i32::from(matches!(word, "{" | "(" | "[")) - i32::from(closes);
        end = token.span.end;
    }
    None
}

/// Where the statement begins: at the word itself if it opens its line, else at the last statement's keyword that
/// stands before it and outside of closed brackets.
fn first_word(text: &str, words: &[Token], stuck: usize) -> Option<usize> {
    let opens_line = |token: &Token| indent_of_line(text, token.span.start).0;
    if words[stuck].kind == TokenKind::Word && opens_line(&words[stuck]) {
        return Some(stuck);
    }
    let mut closed = 0_u32;
    for index in (1..stuck).rev() {
        match words[index].text(text) {
            "}" | ")" | "]" => closed += 1,
            "{" | "(" | "[" => closed = closed.saturating_sub(1),
            _ if closed == 0 && begins_part(text, &words[index]) => return Some(index),
            _ => {}
        }
    }
    None
}

fn begins_part(text: &str, token: &Token) -> bool {
    let word = token.text(text);
    (STATEMENTS.contains(&word) || PARTS.contains(&word)) && indent_of_line(text, token.span.start).0
}

/// `text` with spaces for all but the line ends of `span`.
fn blanked(text: &str, span: Span) -> String {
    let (start, end) = (span.start as usize, span.end as usize);
    let inside = scan::slice(text, span);
    let blank: String =
        inside.chars().map(|c| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) }).collect();
    format!("{}{blank}{}", text.get(..start).unwrap_or(""), text.get(end..).unwrap_or(""))
}
