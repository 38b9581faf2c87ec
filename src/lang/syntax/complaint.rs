//! What the grammar refused, in the language's terms.
//!
//! Promise: no message shows a rule of the grammar. pest tells the farthest place and what was tried there; the
//! tokens around it tell the rest.

use pest::error::{Error, ErrorVariant, InputLocation};

use super::ast::Span;
use super::build::Rule;
use super::scan::{Token, TokenKind, slice, span};
use crate::lang::diagnostic::{Diagnostic, Place, did_you_mean};

const RESERVED: [&str; 14] =
    ["and", "or", "not", "in", "is", "none", "true", "false", "where", "if", "then", "else", "match", "let"];

/// The words that begin a statement.
pub const STATEMENTS: [&str; 26] = [
    "let", "if", "for", "stop", "do", "give", "isolate", "found", "join", "unite", "fail", "report",
    "insert", "delete", "connect", "cut", "link", "unlink", "set", "sort", "apply", "resolve", "attempt",
    "sweep", "track", "merge",
];

const CLAUSES: [&str; 6] = ["when", "isolate", "because", "help", "level", "doc"];

const EXPECTATIONS: [&str; 12] = [
    "nothing", "insert", "edge", "control", "no", "error", "warn", "kept", "done", "measure", "graph", "that",
];

/// Words between operands.
const INFIX: [&str; 5] = ["and", "or", "in", "is", "not"];

/// Words that begin an expression: one that stands behind another expression was not meant as a word between the two.
const OPENERS: [&str; 6] = ["all", "any", "count", "find", "first", "none"];

/// Where parsing got stuck: the words around, and what would have been right.
struct Stuck<'a> {
    at: Span,
    found: &'a str,
    found_kind: Option<TokenKind>,
    before: &'a str,
    before_end: u32,
    /// The `|` right behind what was found.
    next_bar: Option<Span>,
    whole: &'static str,
    wants: Wants,
}

#[derive(Default)]
struct Wants {
    keywords: Vec<&'static str>,
    marks: Vec<&'static str>,
    nouns: Vec<&'static str>,
    /// An expression is complete here and could go on.
    operator: bool,
    /// So it could with a word of [`INFIX`].
    infix: bool,
    /// A `where` could stand here.
    filter: bool,
    expression: bool,
    name: bool,
}

/// The complaint about a failed parse of `text`.
///
/// `whole` says what the text is: an item, or what a text inserts.
pub fn of(text: &str, tokens: &[Token], error: &Error<Rule>, whole: &'static str) -> Diagnostic {
    let at = place_of(error);
    let positives = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => positives.as_slice(),
        ErrorVariant::CustomError { .. } => &[],
    };
    let words = || tokens.iter().filter(|token| !token.is_comment());
    let mut rest = words().skip_while(|token| token.span.end <= at);
    let (found, next) = (rest.next(), rest.next());
    let before = words().take_while(|token| token.span.end <= at).last();
    let before_end = before.map_or(0, |token| token.span.end);
    let stuck = Stuck {
        at: found.map_or(Span { start: before_end, end: before_end }, |token| token.span),
        found: found.map_or("", |token| token.text(text)),
        found_kind: found.map(|token| token.kind),
        before: before.map_or("", |token| token.text(text)),
        before_end,
        next_bar: next.filter(|token| token.text(text) == "|").map(|token| token.span),
        whole,
        wants: wants(positives),
    };
    special(&stuck).unwrap_or_else(|| general(text, &stuck))
}

/// The byte where parsing got stuck.
pub fn place_of(error: &Error<Rule>) -> u32 {
    match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at as u32,
    }
}

/// Moves the places of a complaint about a text inside an item.
pub fn shift(diagnostic: &mut Diagnostic, by: u32) {
    for label in &mut diagnostic.labels {
        if let Place::Item(place) = &mut label.place {
            *place = Span { start: place.start + by, end: place.end + by };
        }
    }
}

/// Mistakes that have a better word than "expected".
fn special(stuck: &Stuck) -> Option<Diagnostic> {
    let Stuck { at, found, before, wants, .. } = stuck;
    let error = |code, message: String| Diagnostic::error(code, *at, message);
    let glued = stuck.before_end == at.start;
    match *found {
        "=" if wants.operator && !wants.marks.contains(&"=") => {
            let label = if wants.marks.contains(&"=>") { "write `==` or `=>`" } else { "write `==`" };
            Some(error("syntax::operator", "`=` does not compare".to_owned()).label(label))
        }
        "==" if wants.marks.contains(&"=") && !wants.operator => {
            Some(error("syntax::operator", "`==` compares, it does not set".to_owned()).label("write `=`"))
        }
        "->" | ":" | "=" if wants.marks.contains(&"=>") => {
            Some(error("syntax::expected", format!("expected `=>`, found `{found}`")).label("write `=>`"))
        }
        _ if glued
            && before.len() > 1
            && before.starts_with('"')
            && braces(before, '{') > braces(before, '}') =>
        {
            let start = stuck.before_end - before.len() as u32;
            let text = Span { start, end: stuck.before_end };
            Some(
                Diagnostic::error("syntax::text", text, "the text ends inside `{…}`")
                    .help("inside `{…}` of a text, quotes are written `\\\"`"),
            )
        }
        "elif" | "elsif" | "elseif" => {
            Some(error("syntax::keyword", format!("`{found}` is no keyword")).label("write `else if`"))
        }
        // A bar that another follows is none: nothing was written between the two.
        "|" if let Some(next) = stuck.next_bar => Some(
            Diagnostic::error(
                "syntax::expected",
                Span { start: at.start, end: next.end },
                "nothing stands between these two `|`",
            )
            .help("a cell of the header names a variant of the columns, a cell of a row a variant of the result"),
        ),
        "'" => Some(
            error("syntax::quote", "`'` begins no string".to_owned()).help("strings are written `\"…\"`"),
        ),
        "(" | "[" if wants.operator && !glued && is_name(before) => {
            let what = if *found == "(" { "the `(` of a call" } else { "the `[` of an index" };
            Some(
                error("syntax::space", format!("{what} follows `{before}` without a space"))
                    .label("remove the space before this"),
            )
        }
        _ if wants.name
            && !wants.expression
            && RESERVED.contains(found)
            && !wants.keywords.contains(found) =>
        {
            Some(
                error("syntax::reserved", format!("`{found}` is a word of the language, not a name"))
                    .help("choose another name"),
            )
        }
        _ => None,
    }
}

fn braces(text: &str, brace: char) -> usize {
    text.matches(brace).count()
}

fn is_index(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_name(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && !RESERVED.contains(&word)
}

fn general(text: &str, stuck: &Stuck) -> Diagnostic {
    let Stuck { at, found, before, wants, found_kind, .. } = stuck;
    let found_words = match found_kind {
        None => format!("the end of {}", stuck.whole),
        Some(TokenKind::Text { .. }) => "a string".to_owned(),
        Some(_) => format!("`{found}`"),
    };
    let after =
        if before.is_empty() || !(wants.expression || !wants.operator && wants.list(before).len() == 1) {
            String::new()
        } else if before.starts_with('"') {
            " after the string".to_owned()
        } else {
            format!(" after `{before}`")
        };
    let expected = one_of(&wants.list(before));
    let message = if expected.is_empty() {
        format!("{found_words} can't stand here")
    } else {
        format!("expected {expected}{after}, found {found_words}")
    };
    let place = if found_kind.is_some() { *at } else { last_character(text, at.end) };
    let mut diagnostic = Diagnostic::error("syntax::expected", place, message);
    let help = match found_kind {
        Some(TokenKind::Word) => wants.instead(found, before),
        Some(TokenKind::Text { .. }) if wants.name && !wants.expression => {
            Some("write the name without quotes".to_owned())
        }
        _ => None,
    };
    if let Some(help) = help {
        diagnostic = diagnostic.help(help);
    }
    diagnostic
}

fn last_character(text: &str, end: u32) -> Span {
    let before = slice(text, Span { start: 0, end });
    let length = before.chars().next_back().map_or(0, char::len_utf8);
    span(end as usize - length, end as usize)
}

/// `a`, `a or b`, `one of a, b, c`.
fn one_of(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        many => format!("one of {}", many.join(", ")),
    }
}

impl Wants {
    /// What could have been meant by a word that cannot stand here.
    fn instead(&self, found: &str, before: &str) -> Option<String> {
        // An anchor is told as `n:in0` where no place says which side is meant.
        let index = found.strip_prefix("in").or(found.strip_prefix("out"));
        if let Some(index) =
            index.filter(|index| before == ":" && self.nouns.contains(&"an integer") && is_index(index))
        {
            return Some(format!("did you mean `{index}`? the side follows from the place"));
        }
        let near = match found {
            "where" if self.keywords.contains(&"when") => Some("when"),
            "when" if self.filter && !self.keywords.contains(&"when") => Some("where"),
            _ => did_you_mean(found, self.words_here(found)).filter(|near| *near != found),
        };
        near.map(|near| format!("did you mean `{near}`?"))
    }

    /// The words that could stand in the place of `found`.
    fn words_here(&self, found: &str) -> impl Iterator<Item = &'static str> + '_ {
        // One or two letters are rather a name behind a missing comma than such a word.
        let infix = self.infix && found.len() > 2 && !OPENERS.contains(&found);
        let infix = if infix { &INFIX[..] } else { &[] };
        let filter = self.filter.then_some("where");
        self.keywords.iter().chain(infix).copied().chain(filter)
    }

    /// What to show, the most telling first.
    fn list(&self, before: &str) -> Vec<String> {
        let mut list = Vec::new();
        if self.expression {
            list.push(
                match before {
                    "where" | "when" | "if" | "and" | "or" | "not" => "a condition",
                    _ => "an expression",
                }
                .to_owned(),
            );
        }
        list.extend(self.nouns.iter().map(|noun| (*noun).to_owned()));
        if self.name && !self.expression {
            list.push("a name".to_owned());
        }
        let grouped = [("a statement", &STATEMENTS[..]), ("a clause", &CLAUSES[..])];
        let hidden = |keyword: &&'static str| {
            grouped.iter().any(|(noun, words)| self.nouns.contains(noun) && words.contains(keyword))
        };
        if self.filter && self.keywords.contains(&"otherwise") {
            list.push("`where`".to_owned());
        }
        list.extend(self.keywords.iter().filter(|k| !hidden(k)).map(|keyword| format!("`{keyword}`")));
        list.extend(self.marks.iter().map(|mark| format!("`{mark}`")));
        if self.operator && list.is_empty() {
            list.push("an operator".to_owned());
        }
        list
    }
}

fn wants(positives: &[Rule]) -> Wants {
    let mut wants = Wants::default();
    for rule in positives {
        wants.add(*rule);
    }
    if wants.keywords.contains(&"nothing") {
        wants.keywords = EXPECTATIONS.to_vec();
    }
    wants
}

impl Wants {
    fn noun(&mut self, noun: &'static str) {
        if !self.nouns.contains(&noun) {
            self.nouns.push(noun);
        }
    }

    fn words(&mut self, words: &[&'static str]) {
        for word in words {
            if !self.keywords.contains(word) {
                self.keywords.push(word);
            }
        }
    }

    fn group(&mut self, noun: &'static str, words: &[&'static str]) {
        self.noun(noun);
        self.words(words);
    }

    fn mark(&mut self, mark: &'static str) {
        if !self.marks.contains(&mark) {
            self.marks.push(mark);
        }
    }

    fn add(&mut self, rule: Rule) {
        match rule {
            Rule::operand | Rule::postfix | Rule::open_end | Rule::primary | Rule::expr | Rule::simple => {
                self.expression = true
            }
            Rule::infix | Rule::is_test => (self.operator, self.infix) = (true, true),
            Rule::not_in | Rule::access | Rule::dot | Rule::args | Rule::index | Rule::kw_is => {
                self.operator = true
            }
            Rule::kw_where => (self.operator, self.filter) = (true, true),
            Rule::attr_access | Rule::has_access | Rule::note_access => self.name = true,
            Rule::kw_has | Rule::kw_has_attr | Rule::kw_ask_note => self.name = true,
            Rule::name | Rule::member | Rule::dotted | Rule::case_name => self.name = true,
            Rule::text => self.noun("a text"),
            Rule::string | Rule::doc => self.noun("a string"),
            Rule::int => self.noun("an integer"),
            Rule::node_name | Rule::node_word | Rule::anchor => self.noun("the name of a node"),
            Rule::ty | Rule::base_type | Rule::list_type | Rule::option_type => self.noun("a type"),
            Rule::literal | Rule::row => self.noun("a name, a string or a number"),
            Rule::set_term => self.noun("a set name or `{`"),
            Rule::statement => self.group("a statement", &STATEMENTS),
            Rule::clause => self.group("a clause", &CLAUSES),
            Rule::expect => self.words(&["expect"]),
            Rule::place => self.words(&["node", "graph", "input", "output"]),
            Rule::side => self.words(&["input", "output"]),
            Rule::position => self.words(&["before", "after"]),
            Rule::kind => self.noun("an item keyword"),
            Rule::mark | Rule::marks => self.noun("an anchor attribute or `any`"),
            Rule::mark_side => self.noun("an anchor attribute or `(`"),
            Rule::level => self.words(&["error", "warn", "note"]),
            Rule::lint_level => self.words(&["error", "warn", "note"]),
            Rule::match_else => self.words(&["else"]),
            Rule::chain_step => self.words(&["require", "attempt", "let"]),
            Rule::declaration | Rule::item => self.noun("an item"),
            Rule::matrix_result => self.noun("an enum or its variants in braces"),
            Rule::body | Rule::lbrace | Rule::name_set | Rule::fields | Rule::elements | Rule::raw_graph => {
                self.mark("{");
            }
            Rule::rbrace => self.mark("}"),
            Rule::lparen | Rule::params | Rule::one_param | Rule::attr_name | Rule::mark_name => {
                self.mark("(")
            }
            Rule::rparen => self.mark(")"),
            Rule::rbracket => self.mark("]"),
            Rule::comma => self.mark(","),
            Rule::colon => self.mark(":"),
            Rule::equals | Rule::initial => self.mark("="),
            Rule::arrow => self.mark("=>"),
            Rule::to_arrow | Rule::result => self.mark("->"),
            Rule::bar | Rule::header => self.mark("|"),
            Rule::plus => self.mark("+"),
            Rule::greater => self.mark(">"),
            Rule::less | Rule::list_open => self.mark("<"),
            Rule::kw_list | Rule::question | Rule::semi | Rule::lbracket | Rule::EOI | Rule::minus => {}
            _ => {
                if let Some(word) = keyword(rule) {
                    self.words(&[word]);
                }
            }
        }
    }
}

/// The word of a keyword's rule.
fn keyword(rule: Rule) -> Option<&'static str> {
    crate::graph::Sym::new(&format!("{rule:?}")).as_str().strip_prefix("kw_")
}
