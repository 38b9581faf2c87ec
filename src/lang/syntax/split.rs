//! A file as a run of items.
//!
//! Promise: what one item contains can't change where another begins. An item begins at a line whose first word,
//! at the left margin, is an item keyword, whatever came before; so an unclosed brace costs one item.
//! Other text at the left margin that follows a complete item is stray: one complaint for each run of it.

use super::ast::Span;
use super::scan::{self, Token, TokenKind, indent_of_line, slice};
use crate::lang::diagnostic::{Diagnostic, Label, Level, Place, did_you_mean};

/// The words that begin an item.
pub const ITEM_KEYWORDS: [&str; 28] = [
    "set",
    "extend",
    "override",
    "remove",
    "table",
    "attr",
    "note",
    "option",
    "enum",
    "fn",
    "walk",
    "symbols",
    "attribute",
    "never",
    "always",
    "default",
    "skip",
    "checker",
    "matrix",
    "chain",
    "steps",
    "action",
    "pass",
    "lint",
    "order",
    "pipeline",
    "measure",
    "test",
];

/// Words that may stand at the left margin and still continue the item above.
const CLAUSE_WORDS: [&str; 25] = [
    "for",
    "over",
    "when",
    "where",
    "isolate",
    "because",
    "level",
    "doc",
    "help",
    "otherwise",
    "with",
    "on",
    "alias",
    "from",
    "in",
    "and",
    "or",
    "not",
    "then",
    "else",
    "twice",
    "named",
    "by",
    "to",
    "unit",
];

/// One item's bytes in its file: from its first `///` line or its keyword to the last byte that is not white
/// space or a comment of what follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceItem {
    pub start: u32,
    pub end: u32,
    pub text: String,
    /// Stray text follows, which may have been meant as the rest of it.
    pub is_cut: bool,
}

/// The parts of a file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SplitFile {
    /// The `//!` lines, joined by newlines.
    pub doc: Option<String>,
    pub items: Vec<SourceItem>,
    /// About text that belongs to no item; places are [`Place::File`].
    pub diagnostics: Vec<Diagnostic>,
}

/// Splits a file into items.
pub fn split(text: &str) -> SplitFile {
    let tokens = scan::tokens(text);
    let mut file = SplitFile { doc: doc_of(text, &tokens, TokenKind::FileDoc), ..SplitFile::default() };
    let mut docs: Vec<Token> = Vec::new();
    let mut open: Option<Region> = None;
    for token in &tokens {
        if token.is_comment() {
            let follows =
                docs.last().is_none_or(|last| only_a_newline(text, last.span.end, token.span.start));
            match token.kind {
                TokenKind::Doc if follows => docs.push(*token),
                TokenKind::Doc => docs = vec![*token],
                _ => docs.clear(),
            }
            continue;
        }
        let starts = begins(text, token, open.as_ref()).map(|kind| Region {
            kind,
            start: docs
                .first()
                .filter(|_| kind == RegionKind::Item && touches(text, &docs, token))
                .map_or(token.span.start, |doc| doc.span.start),
            end: token.span.end,
            depth: 0,
            matrix: token.text(text) == "matrix",
            changes: token.text(text) == "override",
        });
        docs.clear();
        if let Some(done) = starts.and_then(|region| open.replace(region)) {
            file.close(text, &done);
        }
        if let Some(region) = &mut open {
            // The keyword may stand behind an `override`.
            if region.changes && token.text(text) != "override" {
                region.matrix = token.text(text) == "matrix";
                region.changes = false;
            }
            region.end = token.span.end;
            region.depth = match token.text(text) {
                "{" | "(" | "[" => region.depth.saturating_add(1),
                "}" | ")" | "]" => region.depth.saturating_sub(1),
                _ => region.depth,
            };
        }
    }
    if let Some(done) = open {
        file.close(text, &done);
    }
    file
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RegionKind {
    Item,
    Stray,
}

struct Region {
    kind: RegionKind,
    start: u32,
    end: u32,
    depth: u32,
    /// The rows of a matrix begin with names.
    matrix: bool,
    /// An `override` stands alone so far.
    changes: bool,
}

/// What, if anything, begins at this token.
fn begins(text: &str, token: &Token, open: Option<&Region>) -> Option<RegionKind> {
    let at_margin = indent_of_line(text, token.span.start) == (true, 0);
    let word = token.text(text);
    if at_margin && token.kind == TokenKind::Word && ITEM_KEYWORDS.contains(&word) {
        return Some(RegionKind::Item);
    }
    match open {
        None => Some(RegionKind::Stray),
        Some(region) if region.kind == RegionKind::Item && at_margin && region.depth == 0 => {
            let continues = match token.kind {
                TokenKind::Word => CLAUSE_WORDS.contains(&word) || region.matrix,
                _ => true,
            };
            (!continues).then_some(RegionKind::Stray)
        }
        Some(_) => None,
    }
}

fn only_a_newline(text: &str, from: u32, to: u32) -> bool {
    let between = slice(text, Span { start: from, end: to });
    between.bytes().filter(|byte| *byte == b'\n').count() == 1
}

fn touches(text: &str, docs: &[Token], token: &Token) -> bool {
    docs.last().is_some_and(|last| only_a_newline(text, last.span.end, token.span.start))
}

impl SplitFile {
    fn close(&mut self, text: &str, region: &Region) {
        let bytes = Span { start: region.start, end: region.end };
        match region.kind {
            RegionKind::Item => self.items.push(SourceItem {
                start: region.start,
                end: region.end,
                text: slice(text, bytes).to_owned(),
                is_cut: false,
            }),
            RegionKind::Stray => {
                self.diagnostics.push(stray(text, bytes));
                if let Some(item) = self.items.last_mut() {
                    item.is_cut = true;
                }
            }
        }
    }
}

/// The complaint about text that begins no item.
fn stray(text: &str, region: Span) -> Diagnostic {
    let all = slice(text, region);
    let first = scan::tokens(all).first().map_or("", |token| token.text(all));
    let main = Span { start: region.start, end: region.start + first.len() as u32 };
    let help = match did_you_mean(first, ITEM_KEYWORDS) {
        Some(keyword) => format!("did you mean `{keyword}`?"),
        None => {
            "indent a line that continues the item above; an item begins with a keyword such as `set`, `fn` \
                 or `checker`"
                .to_owned()
        }
    };
    let label = Label { place: Place::File(main), other: None, text: "not an item keyword".to_owned() };
    Diagnostic {
        code: "syntax::no-item",
        level: Level::Error,
        message: format!("`{first}` begins no item"),
        labels: vec![label],
        help: Some(help),
    }
}

/// The lines of documentation of one kind, without their marks and one leading space.
pub fn doc_of(text: &str, tokens: &[Token], kind: TokenKind) -> Option<String> {
    let lines: Vec<&str> = tokens
        .iter()
        .filter(|token| token.kind == kind)
        .map(|token| {
            let line = token.text(text).get(3..).unwrap_or("");
            line.strip_prefix(' ').unwrap_or(line).trim_end()
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<String> {
        split(text).items.into_iter().map(|item| item.text).collect()
    }

    #[test]
    fn an_item_takes_the_documentation_right_before_it() {
        let text = "//! file\n\n/// lost\n\n/// a\n/// b\nset A = { B }\n// between\nset C = { D }\n";
        let file = split(text);
        assert_eq!(file.doc.as_deref(), Some("file"));
        assert_eq!(items(text), ["/// a\n/// b\nset A = { B }", "set C = { D }"]);
        let start = text.find("/// a").map(|at| at as u32);
        assert_eq!(Some(file.items[0].start), start);
        assert!(file.diagnostics.is_empty());
    }

    #[test]
    fn an_unclosed_brace_or_string_costs_one_item() {
        assert_eq!(
            items("pass a {\n  stop\nset B = { \"x }\nset C = { D }"),
            ["pass a {\n  stop", "set B = { \"x }", "set C = { D }"]
        );
    }

    #[test]
    fn a_keyword_that_is_indented_or_in_a_comment_begins_nothing() {
        assert_eq!(items("pass a {\n  set x.name = \"y\"\n// set\n}").len(), 1);
    }

    #[test]
    fn each_run_of_stray_text_is_one_complaint() {
        let file = split("hello there\nset A = { B }\ncheker foo\n  for x: y\nset C = { D }\n");
        assert_eq!(file.items.len(), 2);
        let help: Vec<_> = file.diagnostics.iter().map(|d| d.help.clone().unwrap_or_default()).collect();
        assert_eq!(help.len(), 2);
        assert_eq!(help[1], "did you mean `checker`?");
    }

    #[test]
    fn a_byte_order_mark_and_carriage_returns_change_nothing() {
        let file = split("\u{feff}/// a\r\nset A = { B }\r\nset C = { D }\r\n");
        assert_eq!(file.diagnostics, []);
        let texts: Vec<&str> = file.items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(texts, ["/// a\r\nset A = { B }", "set C = { D }"]);
    }

    #[test]
    fn rows_and_clauses_at_the_margin_stay_in_their_item() {
        assert_eq!(items("matrix m(a: A, b: B) -> { x }\n| B\nA | x\n").len(), 1);
        assert_eq!(items("override matrix m(a: A, b: B) -> { x }\n| B\nA | x\n").len(), 1);
        assert_eq!(items("/// Why.\noverride matrix m(a: A, b: B) -> { x }\n| B\nA | x\n").len(), 1);
        assert_eq!(items("override set m = A\nA | x\n"), ["override set m = A"]);
        assert_eq!(items("checker c\nfor a: M, b: N\nisolate a\n{\n}").len(), 1);
    }
}
