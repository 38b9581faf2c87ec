//! Completion: what may be written at a place.
//!
//! Promise: names come from the rule set, facts with their signatures from the table of facts, operator types and graph attributes
//! also from the pinned graphs. Nothing is offered inside a comment or a plain string.
//!
//! The words before the place tell which names are wanted ([`wanted`]). Where a value is wanted, the item is read again with a
//! placeholder at the place, so that the checker tells what is in sight there: the locals, the wanted type, the receiver.

use std::collections::BTreeMap;
use std::ops::Range;

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, CompletionTextEdit,
    Documentation, TextEdit,
};

use super::before::Before;
use super::index::{all_items, at};
use super::place::Lines;
use super::server::Server;
use crate::db;
use crate::lang::check::{HERE, Here, fact_signature, facts_of, show};
use crate::lang::hir::Ty;
use crate::lang::syntax::ast::{Item, ItemData, Kind, Param};
use crate::lang::syntax::parse::kind_of;
use crate::lang::syntax::scan::{Token, TokenKind, tokens};
use crate::lang::syntax::split::ITEM_KEYWORDS;
use crate::lang::syntax::{parse_item, print_type};
use crate::report::rules::kind_word;

/// What is wanted at a place.
#[derive(Clone, Debug, PartialEq)]
enum Wanted {
    Nothing,
    /// An item keyword.
    Items,
    /// Names of entries of these kinds.
    Entries(&'static [Kind]),
    /// Some of these words.
    Words(&'static [&'static str]),
    Types,
    Operators,
    /// A fact, or a function, of what stands before the dot.
    Member,
    /// Anything that an expression or a statement may begin with.
    Value,
}

const RUNNABLE: &[Kind] = &[Kind::Pass, Kind::Chain, Kind::Lint, Kind::Order, Kind::Pipeline];
const RULES: &[Kind] = &[Kind::Checker, Kind::Pass, Kind::Chain, Kind::Action];
const TYPES: &[&str] = &[
    "Bool", "Int", "Float", "Str", "Op", "Node", "Input", "Output", "Anchor", "Graph", "Symbols", "Group",
    "Mark", "list",
];
const ATTR_TYPES: &[&str] = &[
    "bool",
    "bool?",
    "int",
    "float",
    "str",
    "list<int>",
    "list<str>",
    "list<bool>",
    "list<float>",
    "list<list<int>>",
    "any",
];
const PLACES: &[&str] = &["node", "graph", "input", "output"];
const LEVELS: &[&str] = &["error", "warn", "note"];
const TEST_LINES: &[&str] = &["expect", "graph", "option", "on", "twice"];
const EXPECTED: &[&str] = &[
    "nothing", "insert", "edge", "no", "control", "error", "warn", "kept", "done", "measure", "graph", "that",
];
/// Words that a statement or an expression may begin with, or go on with.
const VALUE_WORDS: &[&str] = &[
    "all",
    "any",
    "count",
    "find",
    "first",
    "match",
    "if",
    "not",
    "none",
    "true",
    "false",
    "option",
    "let",
    "for",
    "isolate",
    "found",
    "join",
    "unite",
    "fail",
    "halt",
    "report",
    "insert",
    "delete",
    "connect",
    "cut",
    "link",
    "unlink",
    "set",
    "clear",
    "sort with",
    "apply",
    "resolve",
    "do",
    "give",
    "stop",
    "require",
    "use",
    "because",
    "help",
];

/// What the words of an item before a place call for. `kind`: of the item.
fn wanted(kind: Option<Kind>, before: &Before<'_>) -> Wanted {
    let (last, second) = (before.back(0), before.back(1));
    let open = before.open_braces();
    if open.contains(&"graph") && kind == Some(Kind::Test) {
        return match (before.in_attributes(), last) {
            (true, "=" | ":") => Wanted::Nothing,
            (true, _) => Wanted::Entries(&[Kind::Attr]),
            (false, ":") => Wanted::Operators,
            (false, _) => Wanted::Nothing,
        };
    }
    match (second, last) {
        ("attr" | "has_attr", "(") => return Wanted::Entries(&[Kind::Attr]),
        ("option", "(") => return Wanted::Entries(&[Kind::Option]),
        ("note", "(") => return Wanted::Entries(&[Kind::Note]),
        ("has", "(") => return Wanted::Entries(&[Kind::Attribute]),
        ("symbols" | "conflicts", "(") => return Wanted::Entries(&[Kind::Symbols]),
        ("sort", "with") => return Wanted::Entries(&[Kind::Order]),
        (_, "do") => return Wanted::Entries(&[Kind::Action]),
        (_, "apply") => return Wanted::Entries(&[Kind::Chain]),
        (_, "use") => return Wanted::Entries(&[Kind::Steps]),
        (_, "resolve") => return Wanted::Entries(&[Kind::Symbols]),
        (_, "except") => return Wanted::Entries(&[Kind::Set]),
        (_, "level") => return Wanted::Words(LEVELS),
        (_, ".") => return Wanted::Member,
        _ => {}
    }
    let Some(kind) = kind else { return Wanted::Items };
    // The keyword stands alone: a name is being given.
    if before.tokens.len() <= 1 && !matches!(kind, Kind::Never | Kind::Always) {
        return Wanted::Nothing;
    }
    let in_body = !open.is_empty() || before.has("=");
    match kind {
        Kind::Never | Kind::Always if !before.has("because") => Wanted::Entries(&[Kind::Attribute]),
        Kind::Checker if open.is_empty() && !before.has("when") && !before.has("isolate") => match last {
            ":" | "or" | "and" | "with" | "(" => Wanted::Entries(&[Kind::Attribute]),
            _ => Wanted::Words(&[
                "for",
                "over group with",
                "when",
                "isolate",
                "because",
                "level",
                "doc",
                "help",
                "last",
                "or",
            ]),
        },
        Kind::Set => match last {
            "in" | "=" | "+" => Wanted::Entries(&[Kind::Set]),
            _ if !open.is_empty() => Wanted::Operators,
            _ => Wanted::Nothing,
        },
        Kind::Table if in_body => Wanted::Operators,
        Kind::Attr => match last {
            ":" => Wanted::Words(ATTR_TYPES),
            "on" | "," => Wanted::Words(PLACES),
            _ => Wanted::Words(&["on", "alias"]),
        },
        Kind::Attribute if last == "on" => Wanted::Words(&["input", "output"]),
        Kind::Pipeline if matches!(last, "=" | ",") => Wanted::Entries(RUNNABLE),
        Kind::Pipeline if !before.has("when") => {
            Wanted::Words(&["as pass", "as default", "when", "otherwise warn"])
        }
        Kind::Test if open.is_empty() => match last {
            "for" | "," => Wanted::Entries(RUNNABLE),
            _ => Wanted::Words(&["for", "on", "twice"]),
        },
        Kind::Test => match last {
            "expect" => Wanted::Words(EXPECTED),
            "by" => Wanted::Entries(RULES),
            "measure" => Wanted::Entries(&[Kind::Measure]),
            "option" => Wanted::Entries(&[Kind::Option]),
            "insert" => Wanted::Words(&["before", "after"]),
            "no" => Wanted::Words(&["edge", "control", "warn"]),
            _ if !before.has("that") => Wanted::Words(TEST_LINES),
            _ => Wanted::Value,
        },
        _ if !in_body && matches!(last, ":" | "->" | "<") => Wanted::Types,
        _ => Wanted::Value,
    }
}

pub fn complete(server: &mut Server, params: &CompletionParams) -> Option<CompletionResponse> {
    let position = &params.text_document_position;
    let (_, lines, byte) = at(server, &position.text_document.uri, position.position)?;
    let text = lines.text();
    let dotted = |c: char| c.is_alphanumeric() || c == '_';
    let start = text.get(..byte)?.trim_end_matches(dotted).len();
    // The rest of the word that the place is in goes with it.
    let word_end = byte + text.get(byte..)?.find(|c| !dotted(c)).unwrap_or(text.len() - byte);
    let (item, inside) = region(text, start);
    let head = text.get(item.start..start)?;
    let code: Vec<Token> = tokens(head);
    let mut asked = Asked { server, lines: &lines, place: start..byte, found: BTreeMap::new() };
    if let Some(value) = inside_text(head, &code) {
        // A value that a text inserts; in a plain string nothing is known.
        let cut = value?;
        let text = head.get(cut..)?;
        let before = Before { text, tokens: tokens(text) };
        let here = asked.here(text_item(lines.text(), &item), start - item.start, word_end - item.start);
        let want = if before.back(0) == "." { Wanted::Member } else { Wanted::Value };
        asked.offer(&want, here.as_ref());
        return Some(asked.done());
    }
    if code.last().is_some_and(|last| {
        last.is_comment() && !head.get(last.span.end as usize..).unwrap_or("").contains('\n')
    }) {
        return None;
    }
    let kept: Vec<Token> = code.into_iter().filter(|token| !token.is_comment()).collect();
    let at_margin = head.is_empty() || head.ends_with('\n');
    let before = Before { text: head, tokens: kept };
    let first = before.tokens.first().map_or("", |token| token.text(head));
    let first = if matches!(first, "override" | "extend" | "remove") {
        before.tokens.get(1).map_or("", |token| token.text(head))
    } else {
        first
    };
    let want = if at_margin || !inside { Wanted::Items } else { wanted(kind_of(first), &before) };
    let here = match want {
        Wanted::Value | Wanted::Member => {
            asked.here(text_item(lines.text(), &item), start - item.start, word_end - item.start)
        }
        _ => None,
    };
    asked.offer(&want, here.as_ref());
    Some(asked.done())
}

fn text_item<'t>(text: &'t str, item: &Range<usize>) -> &'t str {
    text.get(item.clone()).unwrap_or("")
}

/// The bytes of the item that a place belongs to, up to where the next one begins; whether there is one.
fn region(text: &str, byte: usize) -> (Range<usize>, bool) {
    let items = crate::lang::syntax::split(text).items;
    let next = items.iter().position(|item| item.start as usize > byte).unwrap_or(items.len());
    let end = items.get(next).map_or(text.len(), |item| item.start as usize);
    match next.checked_sub(1).and_then(|at| items.get(at)) {
        Some(item) => (item.start as usize..end, true),
        None => (0..end, false),
    }
}

/// Inside an open string: where the value that is inserted here begins, if one is.
fn inside_text(head: &str, code: &[Token]) -> Option<Option<usize>> {
    let last = code.last().filter(|last| matches!(last.kind, TokenKind::Text { closed: false }))?;
    let (start, end) = (last.span.start as usize, last.span.end as usize);
    if end < head.len() && head.get(end..).is_some_and(|rest| rest.contains('\n')) {
        return None;
    }
    let inner = head.get(start..)?;
    let open = inner.rfind('{').filter(|at| !inner[*at..].contains('}'));
    Some(open.map(|at| start + at + 1))
}

/// One question and what has been found.
struct Asked<'s> {
    server: &'s Server,
    lines: &'s Lines,
    /// What is replaced.
    place: Range<usize>,
    /// By order and label.
    found: BTreeMap<(u8, String), CompletionItem>,
}

impl Asked<'_> {
    /// What is in sight at a place of an item: the word there is replaced by the placeholder. If the rest of the item is not
    /// understood, it is left out and what is open is closed.
    fn here(&self, item: &str, start: usize, end: usize) -> Option<Here> {
        let (db, rules) = (self.server.session.database(), self.server.session.rule_set());
        let (head, tail) = (item.get(..start)?, item.get(end..)?);
        let closed = |more: &str| format!("{head}{HERE}{more}{}", closers(head));
        let tries = [format!("{head}{HERE}{tail}"), closed(""), closed(" => none"), closed(": true")];
        tries.iter().find_map(|text| {
            let tree = parse_item(text).0?;
            db::sights_of(db, rules, &tree).here
        })
    }

    fn add(&mut self, order: u8, label: &str, kind: CompletionItemKind, detail: String, doc: Option<String>) {
        let range = self.lines.range(self.place.clone());
        let item = CompletionItem {
            label: label.to_owned(),
            kind: Some(kind),
            detail: (!detail.is_empty()).then_some(detail),
            documentation: doc.map(Documentation::String),
            sort_text: Some(format!("{order}{label}")),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: label.to_owned() })),
            ..CompletionItem::default()
        };
        self.found.entry((order, label.to_owned())).or_insert(item);
    }

    fn done(self) -> CompletionResponse {
        CompletionResponse::Array(self.found.into_values().collect())
    }

    fn words(&mut self, order: u8, words: &[&str], kind: CompletionItemKind) {
        for word in words {
            self.add(order, word, kind, String::new(), None);
        }
    }

    fn offer(&mut self, wanted: &Wanted, here: Option<&Here>) {
        match wanted {
            Wanted::Nothing => {}
            Wanted::Items => self.words(1, &ITEM_KEYWORDS, CompletionItemKind::KEYWORD),
            Wanted::Words(words) => self.words(1, words, CompletionItemKind::KEYWORD),
            Wanted::Types => {
                self.words(1, TYPES, CompletionItemKind::CLASS);
                self.entries(2, &[Kind::Enum, Kind::Matrix]);
            }
            Wanted::Entries(kinds) => {
                self.entries(1, kinds);
                if kinds.contains(&Kind::Attr) {
                    self.graph_attributes();
                }
            }
            Wanted::Operators => self.operators(1),
            Wanted::Member => self.members(here.and_then(|here| here.receiver.as_ref())),
            Wanted::Value => self.values(here),
        }
    }

    fn entries(&mut self, order: u8, kinds: &[Kind]) {
        let server = self.server;
        for placed in all_items(server) {
            // A broken item still has its name.
            let Some((kind, name)) = placed.item.declares().filter(|(kind, _)| kinds.contains(kind)) else {
                continue;
            };
            let symbol = match kind {
                Kind::Fn | Kind::Walk | Kind::Matrix | Kind::Action => CompletionItemKind::FUNCTION,
                Kind::Attr | Kind::Note => CompletionItemKind::PROPERTY,
                Kind::Enum => CompletionItemKind::ENUM,
                Kind::Attribute => CompletionItemKind::FIELD,
                Kind::Option => CompletionItemKind::CONSTANT,
                _ => CompletionItemKind::REFERENCE,
            };
            let item = placed.item.item.as_ref();
            let doc = match item.map(|item| &item.data) {
                Some(ItemData::Attribute { doc: Some(doc), .. }) => Some(doc.clone()),
                _ => item.and_then(|item| item.doc.clone()),
            };
            let detail = item.map_or_else(|| format!("{} {}", kind_word(kind), name.text), signature);
            self.add(order, name.text.as_str(), symbol, detail, doc);
        }
    }

    /// Attributes that pinned graphs have and no rule declares.
    fn graph_attributes(&mut self) {
        let server = self.server;
        for graph in &server.counts {
            for name in &graph.attributes {
                if self.found.keys().all(|(_, known)| known != name) {
                    let detail = format!("not declared, in {}", graph.name);
                    self.add(5, name, CompletionItemKind::PROPERTY, detail, None);
                }
            }
        }
    }

    /// Operator types of the rules and of the pinned graphs; those of the graphs come first.
    fn operators(&mut self, order: u8) {
        let server = self.server;
        for graph in &server.counts {
            for (name, count) in &graph.operators {
                self.add(order, name, CompletionItemKind::CLASS, format!("{count} in {}", graph.name), None);
            }
        }
        let (db, rules) = (server.session.database(), server.session.rule_set());
        for name in db::scope(db, rules).operators() {
            if !self.found.contains_key(&(order, name.to_string())) {
                self.add(
                    order + 1,
                    name.as_str(),
                    CompletionItemKind::CLASS,
                    "operator type".to_owned(),
                    None,
                );
            }
        }
    }

    fn members(&mut self, receiver: Option<&Ty>) {
        let Some(receiver) = receiver else { return };
        for info in facts_of(receiver) {
            let detail = fact_signature(info, receiver);
            self.add(1, info.name, CompletionItemKind::PROPERTY, detail, Some(info.doc.to_owned()));
        }
        let plain = match receiver {
            Ty::Optional(inner) => inner,
            other => other,
        };
        if matches!(plain, Ty::Node | Ty::Input | Ty::Output | Ty::Anchor | Ty::Graph) {
            self.words(1, &["attr", "has_attr", "note"], CompletionItemKind::METHOD);
        }
        if matches!(plain, Ty::Input | Ty::Output | Ty::Anchor) {
            self.words(1, &["has"], CompletionItemKind::METHOD);
        }
        if matches!(plain, Ty::List(_) | Ty::Group) {
            let words = ["map", "flat_map", "sum", "min_by", "max_by", "sort_by", "bisect"];
            self.words(1, &words, CompletionItemKind::METHOD);
        }
        let (db, rules) = (self.server.session.database(), self.server.session.rule_set());
        let asked = db::scope(db, rules).asked_of(receiver);
        let server = self.server;
        for placed in all_items(server) {
            let Some(item) = &placed.item.item else { continue };
            if asked.contains(&(item.kind, item.name.text)) {
                let name = item.name.text.as_str();
                self.add(2, name, CompletionItemKind::FUNCTION, signature(item), item.doc.clone());
            }
        }
    }

    fn values(&mut self, here: Option<&Here>) {
        let want = here.and_then(|here| here.want.as_ref());
        let plain = match want {
            Some(Ty::Optional(inner)) => Some(&**inner),
            other => other,
        };
        for (name, ty) in here.into_iter().flat_map(|here| &here.locals) {
            let fits = plain.is_some_and(|want| want == ty);
            self.add(u8::from(!fits), name.as_str(), CompletionItemKind::VARIABLE, show(ty), None);
        }
        let (db, rules) = (self.server.session.database(), self.server.session.rule_set());
        match plain {
            Some(Ty::Enum(name)) => {
                for variant in db::scope(db, rules).variants(*name).unwrap_or_default() {
                    self.add(0, variant.as_str(), CompletionItemKind::ENUM_MEMBER, name.to_string(), None);
                }
            }
            Some(Ty::Op) => self.operators(0),
            Some(Ty::Mark) => self.entries(0, &[Kind::Attribute]),
            None => {
                self.entries(3, &[Kind::Attribute]);
                self.operators(4);
            }
            _ => {}
        }
        self.entries(2, &[Kind::Fn, Kind::Walk, Kind::Matrix]);
        self.entries(3, &[Kind::Set, Kind::Table]);
        self.words(5, VALUE_WORDS, CompletionItemKind::KEYWORD);
    }
}

/// The brackets that close what is open in a text.
fn closers(text: &str) -> String {
    let mut open = Vec::new();
    for token in tokens(text) {
        match token.text(text) {
            "{" => open.push('}'),
            "(" => open.push(')'),
            "[" => open.push(']'),
            "}" | ")" | "]" => {
                open.pop();
            }
            word if word.starts_with('"') && matches!(token.kind, TokenKind::Text { closed: false }) => {
                // A value inside a text.
                open.push('"');
                open.push('}');
            }
            _ => {}
        }
    }
    open.iter().rev().collect()
}

/// `kind name(param: Type, …) -> Type`, as far as an item has these.
fn signature(item: &Item) -> String {
    let params = |params: &[Param]| {
        let params: Vec<String> =
            params.iter().map(|param| format!("{}: {}", param.name.text, print_type(&param.ty))).collect();
        params.join(", ")
    };
    let name = item.name.text;
    let word = kind_word(item.kind);
    match &item.data {
        ItemData::Fn { params: list, result, .. } => {
            format!("{name}({}) -> {}", params(list), print_type(result))
        }
        ItemData::Walk { param, result, .. } => {
            format!("walk {name}({}) -> {}", params(std::slice::from_ref(param)), print_type(result))
        }
        ItemData::Matrix { rows, columns, .. } => {
            format!(
                "matrix {name}({}, {})",
                params(std::slice::from_ref(rows)),
                params(std::slice::from_ref(columns))
            )
        }
        ItemData::Action { params: list, .. } | ItemData::Steps { params: list, .. } => {
            format!("{word} {name}({})", params(list))
        }
        _ => format!("{word} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(text: &str) -> Wanted {
        let before = Before { text, tokens: tokens(text) };
        let first = before.tokens.first().map_or("", |token| token.text(text));
        wanted(kind_of(first), &before)
    }

    #[test]
    fn the_words_before_tell_what_is_wanted() {
        assert_eq!(want("fn f(n: "), Wanted::Types);
        assert_eq!(want("fn f(n: Node) -> "), Wanted::Types);
        assert_eq!(want("fn f(n: Node) -> Bool = "), Wanted::Value);
        assert_eq!(want("fn f(n: Node) -> Bool = n."), Wanted::Member);
        assert_eq!(want("fn f(n: Node) -> Bool = n.attr("), Wanted::Entries(&[Kind::Attr]));
        assert_eq!(want("fn f(n: Node) -> Bool = all x in n.inputs: "), Wanted::Value);
        assert_eq!(want("never A with "), Wanted::Entries(&[Kind::Attribute]));
        assert_eq!(want("checker c\n  for a: "), Wanted::Entries(&[Kind::Attribute]));
        assert_eq!(want("checker c\n  for a: M, b: N\n  when "), Wanted::Value);
        assert_eq!(want("set S = { A, "), Wanted::Operators);
        assert_eq!(want("set S = "), Wanted::Entries(&[Kind::Set]));
        assert_eq!(want("pipeline p = a, "), Wanted::Entries(RUNNABLE));
        assert_eq!(want("test \"t\" for p {\n graph { a: "), Wanted::Operators);
        let graph = |text: &str| want(&format!("test \"t\" for p {{\n graph {{ {text}"));
        assert_eq!(graph("a: Relu { "), Wanted::Entries(&[Kind::Attr]));
        assert_eq!(graph("a: Relu { x = 1, "), Wanted::Entries(&[Kind::Attr]));
        assert_eq!(graph("a: Relu { x = "), Wanted::Nothing);
        assert_eq!(graph("a: Relu { x = 1 }\n b: "), Wanted::Operators);
        assert_eq!(graph("w: While { subgraph body { a: "), Wanted::Operators);
        assert_eq!(want("test \"t\" for p {\n expect "), Wanted::Words(EXPECTED));
        assert_eq!(want("fn "), Wanted::Nothing);
    }

    #[test]
    fn what_is_open_is_closed() {
        assert_eq!(closers("f(a, [b { c } "), "])");
        assert_eq!(closers("because \"{a."), "}\"");
        assert_eq!(closers("a ) b"), "");
    }
}
