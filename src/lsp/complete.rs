//! Completion: what may be written at a place.
//!
//! Promise: names come from the rule set, facts with their signatures from the table of facts, operator types and graph attributes
//! also from the pinned graphs. Nothing is offered inside a comment or a plain string.
//!
//! The words before the place tell which names are wanted ([`wanted()`]). Where a value is wanted, the item is read again with a
//! placeholder at the place, so that the checker tells what is in sight there: the locals, the wanted type, the receiver.

use std::collections::BTreeMap;
use std::ops::Range;

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, CompletionTextEdit,
    Documentation, TextEdit,
};

use super::before::Before;
use super::index::{Placed, all_items, at};
use super::place::Lines;
use super::server::Server;
use super::wanted::{MODIFIERS, TYPES, VALUE_WORDS, Wanted, wanted};
use crate::db;
use crate::graph::Sym;
use crate::lang::check::{HERE, Here, fact_signature, facts_of, show};
use crate::lang::hir::Ty;
use crate::lang::syntax::ast::{Item, ItemData, Kind, Param};
use crate::lang::syntax::scan::{Token, TokenKind, tokens};
use crate::lang::syntax::split::ITEM_KEYWORDS;
use crate::lang::syntax::{parse_item, print_type};
use crate::report::rules::kind_word;

pub fn complete(server: &mut Server, params: &CompletionParams) -> Option<CompletionResponse> {
    let position = &params.text_document_position;
    let (key, lines, byte) = at(server, &position.text_document.uri, position.position)?;
    let text = lines.text();
    let dotted = |c: char| c.is_alphanumeric() || c == '_';
    let start = text.get(..byte)?.trim_end_matches(dotted).len();
    // The rest of the word that the place is in goes with it.
    let word_end = byte + text.get(byte..)?.find(|c| !dotted(c)).unwrap_or(text.len() - byte);
    let (item, inside) = region(text, start);
    let head = text.get(item.start..start)?;
    let code: Vec<Token> = tokens(head);
    let mut asked =
        Asked { server, lines: &lines, place: start..byte, item: (&key, item.start), found: BTreeMap::new() };
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
    let want = if at_margin || !inside { Wanted::Items } else { wanted(&before) };
    let here = match want {
        Wanted::Value | Wanted::Member | Wanted::Among => {
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
    /// The item that is being written: its file, and where it begins.
    item: (&'s str, usize),
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
            Wanted::Changed(modifier) => {
                let words = ITEM_KEYWORDS.into_iter().filter(|word| match *modifier {
                    "extend" => *word == "set",
                    "remove" => !MODIFIERS.contains(word) && *word != "default",
                    _ => !MODIFIERS.contains(word),
                });
                self.words(1, &words.collect::<Vec<_>>(), CompletionItemKind::KEYWORD);
            }
            Wanted::Declared(kind) => {
                let (file, start) = self.item;
                let other =
                    |placed: &Placed<'_>| (placed.path, placed.item.source.start as usize) != (file, start);
                self.entries_among(1, &[*kind], other);
            }
            Wanted::Variants(variants) => {
                for variant in variants {
                    self.add(1, variant, CompletionItemKind::ENUM_MEMBER, String::new(), None);
                }
            }
            Wanted::VariantsOf(name) => self.variants(1, Sym::new(name)),
            Wanted::Among => self.among(here),
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
        self.entries_among(order, kinds, |_| true);
    }

    fn entries_among(&mut self, order: u8, kinds: &[Kind], is_wanted: impl Fn(&Placed<'_>) -> bool) {
        let server = self.server;
        for placed in all_items(server).filter(is_wanted) {
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

    fn variants(&mut self, order: u8, name: Sym) {
        let (db, rules) = (self.server.session.database(), self.server.session.rule_set());
        for variant in db::scope(db, rules).variants(name).unwrap_or_default() {
            self.add(order, variant.as_str(), CompletionItemKind::ENUM_MEMBER, name.to_string(), None);
        }
    }

    /// What a value may be in: the sets of its type, what may be a list of it, then the other sets.
    fn among(&mut self, here: Option<&Here>) {
        let element = here.and_then(|here| match &here.want {
            Some(Ty::List(element)) => Some(&**element),
            _ => None,
        });
        let (db, rules) = (self.server.session.database(), self.server.session.rule_set());
        let scope = db::scope(db, rules);
        let holds = |placed: &Placed<'_>| {
            let held = placed.item.declares().and_then(|(_, name)| scope.held_by(name.text));
            element.is_none_or(|element| held == Some(element))
        };
        self.entries_among(0, &[Kind::Set], holds);
        self.entries_among(3, &[Kind::Set], |placed| !holds(placed));
        for (name, ty) in here.into_iter().flat_map(|here| &here.locals) {
            self.add(1, name.as_str(), CompletionItemKind::VARIABLE, show(ty), None);
        }
        self.entries(2, &[Kind::Fn, Kind::Walk]);
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
        match plain {
            Some(Ty::Enum(name)) => self.variants(0, *name),
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

    #[test]
    fn what_is_open_is_closed() {
        assert_eq!(closers("f(a, [b { c } "), "])");
        assert_eq!(closers("because \"{a."), "}\"");
        assert_eq!(closers("a ) b"), "");
    }
}
