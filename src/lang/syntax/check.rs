//! What can be said about an item before it is parsed.
//!
//! Promise: text that passes has closed strings and matching brackets, and nests less than [`DEEPEST`]; so the
//! parser, and everything that later walks the tree, needs a bounded stack. Operators of other languages are named
//! here too, all of them at once.

use super::ast::Span;
use super::scan::{Token, TokenKind, indent_of_line};
use crate::lang::diagnostic::Diagnostic;

/// Brackets and prefixes inside one another.
pub const DEEPEST: u32 = 64;
/// Nodes on the longest way from the root of an expression to a leaf.
pub const HIGHEST: u32 = 200;

/// The complaints about `tokens`; parsing makes sense if there are none.
pub fn check(text: &str, tokens: &[Token]) -> Vec<Diagnostic> {
    let open_strings: Vec<Diagnostic> = tokens
        .iter()
        .filter(|token| token.kind == TokenKind::Text { closed: false })
        .map(|token| {
            Diagnostic::error("syntax::unclosed", token.span, "the string is not closed")
                .label("opened here")
                .help("a string ends on the line where it begins")
        })
        .collect();
    if !open_strings.is_empty() {
        return open_strings;
    }
    if let Some(bracket) = brackets(text, tokens) {
        return vec![bracket];
    }
    let foreign = foreign_operators(text, tokens);
    if !foreign.is_empty() {
        return foreign;
    }
    too_deep(text, tokens).into_iter().collect()
}

fn closer(open: &str) -> &'static str {
    match open {
        "{" => "}",
        "(" => ")",
        _ => "]",
    }
}

/// The first bracket without its partner.
fn brackets(text: &str, tokens: &[Token]) -> Option<Diagnostic> {
    let mut open: Vec<Token> = Vec::new();
    // A `}` further left than the line of its `{` most likely closes an outer one.
    let mut suspect: Option<Token> = None;
    for token in tokens {
        let found = token.text(text);
        match found {
            "{" | "(" | "[" => open.push(*token),
            "}" | ")" | "]" => match open.pop() {
                Some(start) if closer(start.text(text)) == found => {
                    let (first_on_line, column) = indent_of_line(text, token.span.start);
                    if first_on_line && column < indent_of_line(text, start.span.start).1 {
                        suspect.get_or_insert(start);
                    }
                }
                Some(start) => {
                    let start_text = start.text(text);
                    let message = format!("expected `{}`, found `{found}`", closer(start_text));
                    return Some(
                        Diagnostic::error("syntax::unclosed", token.span, message)
                            .label("does not match")
                            .also(start.span, format!("`{start_text}` opened here")),
                    );
                }
                None => {
                    let message = format!("`{found}` closes nothing");
                    return Some(Diagnostic::error("syntax::unclosed", token.span, message));
                }
            },
            _ => {}
        }
    }
    let innermost = *open.last()?;
    let start = suspect.unwrap_or(innermost);
    let message = format!("`{}` is never closed", start.text(text));
    Some(Diagnostic::error("syntax::unclosed", start.span, message).label("opened here"))
}

/// `&&`, `||` and `!`, outside the graphs of tests.
fn foreign_operators(text: &str, tokens: &[Token]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut graph_depth = 0_u32;
    let mut before = "";
    for token in tokens.iter().filter(|token| !token.is_comment()) {
        let word = token.text(text);
        match word {
            "{" if graph_depth > 0 || before == "graph" => graph_depth += 1,
            "}" if graph_depth > 0 => graph_depth -= 1,
            "&&" | "||" | "!" if graph_depth == 0 => {
                let ours = match word {
                    "&&" => "and",
                    "||" => "or",
                    _ => "not",
                };
                found.push(
                    Diagnostic::error(
                        "syntax::operator",
                        token.span,
                        format!("`{word}` is no operator here"),
                    )
                    .label(format!("write `{ours}`")),
                );
            }
            _ => {}
        }
        before = word;
    }
    found
}

/// How high the tree between two brackets gets, from what stands there.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// `not`, `-`, `if … then`, quantifiers: each nests what follows.
    prefixes: u32,
    /// Operators of one level pile up to the left.
    operators: u32,
    operand: u32,
    highest_operand: u32,
}

impl Frame {
    fn height(self) -> u32 {
        self.prefixes + self.operators + self.highest_operand.max(self.operand)
    }

    fn operator(&mut self) {
        self.operators += 1;
        self.highest_operand = self.highest_operand.max(self.operand);
        self.operand = 0;
    }
}

/// Words after which an operand is awaited.
const BEFORE_OPERAND: [&str; 17] = [
    "or", "and", "not", "in", "is", "where", "if", "then", "else", "match", "all", "any", "count", "find",
    "let", "when", "require",
];

/// Text that would make a tree too deep. Counts too much rather than too little: a frame is counted from its
/// bracket, `,`, `;`, `=`, `=>` or from where two operands meet, one of them a word that begins a statement or clause.
fn too_deep(text: &str, tokens: &[Token]) -> Option<Diagnostic> {
    let mut outer: Vec<Frame> = Vec::new();
    let mut outer_prefixes = 0;
    let mut frame = Frame::default();
    let mut after_operand = false;
    let mut before = "";
    for token in tokens.iter().filter(|token| !token.is_comment()) {
        let word = token.text(text);
        let was_operand = std::mem::replace(
            &mut after_operand,
            match token.kind {
                TokenKind::Mark => matches!(word, ")" | "]" | "}"),
                _ => before == "." || !BEFORE_OPERAND.contains(&word),
            },
        );
        match word {
            _ if before == "." && token.kind == TokenKind::Word => {}
            "{" | "(" | "[" => {
                outer_prefixes += frame.prefixes;
                outer.push(std::mem::take(&mut frame));
            }
            "}" | ")" | "]" => {
                let height = frame.height() + 1;
                frame = outer.pop().unwrap_or_default();
                outer_prefixes -= frame.prefixes;
                frame.operand = frame.operand.max(height);
            }
            "," | ";" | "=" | "=>" => frame = Frame::default(),
            "let" | "isolate" | "set" | "for" | "when" | "require" | "at" | "report" | "give" | "if"
            | "expect"
                if was_operand =>
            {
                frame = Frame::default();
            }
            "." => frame.operand += 1,
            "not" | "all" | "any" | "count" | "find" | "then" => frame.prefixes += 1,
            "-" if !was_operand => frame.prefixes += 1,
            "or" | "and" | "in" | "where" | "is" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "??" | ".."
            | "+" | "-" | "*" | "/" | "%" => frame.operator(),
            _ => {}
        }
        before = word;
        if outer.len() as u32 + outer_prefixes + frame.prefixes > DEEPEST {
            return Some(complaint(token.span, "this nests too deep", DEEPEST));
        }
        if frame.height() > HIGHEST {
            return Some(complaint(token.span, "this expression is too long", HIGHEST));
        }
    }
    None
}

fn complaint(span: Span, message: &str, limit: u32) -> Diagnostic {
    Diagnostic::error("syntax::too-deep", span, message)
        .label(format!("more than {limit} levels"))
        .help("give parts of it names, with `let` or `fn`")
}
