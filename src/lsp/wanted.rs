//! What the words before a place call for.
//!
//! Promise: only words are looked at, so that an item that is half written calls for what a whole one does.

use super::before::Before;
use crate::lang::syntax::ast::Kind;
use crate::lang::syntax::parse::kind_of;

/// What is wanted at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    Nothing,
    /// An item keyword.
    Items,
    /// An item keyword behind this word, one of [`MODIFIERS`].
    Changed(&'static str),
    /// The name of an entry of this kind that another item declares.
    Declared(Kind),
    /// Names of entries of these kinds.
    Entries(&'static [Kind]),
    /// These variants, which the item itself declares.
    Variants(Vec<String>),
    /// The variants of what has this name.
    VariantsOf(String),
    /// Some of these words.
    Words(&'static [&'static str]),
    Types,
    Operators,
    /// A fact, or a function, of what stands before the dot.
    Member,
    /// Something that a value may be in.
    Among,
    /// Anything that an expression or a statement may begin with.
    Value,
}

/// Words that say what an item does to another of its name.
pub const MODIFIERS: [&str; 3] = ["override", "extend", "remove"];

const RUNNABLE: &[Kind] = &[Kind::Pass, Kind::Chain, Kind::Lint, Kind::Order, Kind::Pipeline];
const RULES: &[Kind] = &[Kind::Checker, Kind::Pass, Kind::Chain, Kind::Action];
pub const TYPES: &[&str] = &[
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
pub const VALUE_WORDS: &[&str] = &[
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

/// What the words of an item before a place call for.
pub fn wanted(before: &Before<'_>) -> Wanted {
    let modifier = MODIFIERS.into_iter().find(|word| *word == before.word(0));
    let kind = kind_of(before.word(usize::from(modifier.is_some())));
    match modifier {
        Some(modifier) => changed(modifier, kind, before).unwrap_or_else(|| within(kind, before)),
        None => within(kind, before),
    }
}

/// What a modifier calls for, up to the name of what it changes.
fn changed(modifier: &'static str, kind: Option<Kind>, before: &Before<'_>) -> Option<Wanted> {
    let is_pair = matches!(kind, Some(Kind::Never | Kind::Always));
    match (before.tokens.len(), kind) {
        (1, _) => Some(Wanted::Changed(modifier)),
        // These go by a text, or have no name.
        (2, Some(Kind::Test | Kind::DefaultAlways)) => Some(Wanted::Nothing),
        (2, Some(kind)) if !is_pair => Some(Wanted::Declared(kind)),
        _ => (modifier == "remove" && !is_pair).then_some(Wanted::Nothing),
    }
}

/// What is wanted behind the keyword of an item. `kind`: of the item.
fn within(kind: Option<Kind>, before: &Before<'_>) -> Wanted {
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
        (_, "in") if kind != Some(Kind::Set) && !before.binds() => return Wanted::Among,
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
        Kind::Matrix if before.has("->") && last != "->" => in_matrix(before),
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

/// What is wanted behind the arrow of a matrix: its result has no end of its own, so the first `|` begins the header; the header
/// ends, and each row, where two names stand side by side.
fn in_matrix(before: &Before<'_>) -> Wanted {
    let words: Vec<&str> = before.tokens.iter().map(|token| token.text(before.text)).collect();
    let (head, behind) = words.split_at(words.iter().position(|word| *word == "->").unwrap_or(words.len()));
    let behind = behind.get(1..).unwrap_or_default();
    let Some(bar) = behind.iter().position(|word| *word == "|") else { return Wanted::Nothing };
    let (result, rows) = behind.split_at(bar);
    let mut types = head.windows(2).filter(|two| two[0] == ":").map(|two| two[1].to_owned());
    let (row, column) = (types.next().unwrap_or_default(), types.next().unwrap_or_default());
    if rows.last() != Some(&"|") {
        return Wanted::VariantsOf(row);
    }
    if !rows.windows(2).any(|two| !two.contains(&"|")) {
        return Wanted::VariantsOf(column);
    }
    match result {
        ["{", variants @ ..] => {
            let variants = variants.iter().filter(|word| !matches!(**word, "," | "}"));
            Wanted::Variants(variants.map(|word| (*word).to_owned()).collect())
        }
        result => Wanted::VariantsOf(result.first().copied().unwrap_or_default().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::syntax::scan::tokens;

    fn want(text: &str) -> Wanted {
        wanted(&Before { text, tokens: tokens(text) })
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
    fn a_modifier_is_followed_by_what_can_be_changed() {
        assert_eq!(want("override "), Wanted::Changed("override"));
        assert_eq!(want("override pass "), Wanted::Declared(Kind::Pass));
        assert_eq!(want("override pass p for n: "), Wanted::Types);
        assert_eq!(want("override never "), Wanted::Entries(&[Kind::Attribute]));
        assert_eq!(want("override test "), Wanted::Nothing);
        assert_eq!(want("extend set "), Wanted::Declared(Kind::Set));
        assert_eq!(want("extend set S = { "), Wanted::Operators);
        assert_eq!(want("remove checker "), Wanted::Declared(Kind::Checker));
        assert_eq!(want("remove checker c "), Wanted::Nothing);
        assert_eq!(want("remove always A with "), Wanted::Entries(&[Kind::Attribute]));
    }

    #[test]
    fn a_matrix_calls_for_the_variants_of_its_sides_and_its_cells() {
        let own = |text: &str| want(&format!("matrix m(a: A, b: B) -> {{ x, y }} {text}"));
        let of = |name: &str| Wanted::VariantsOf(name.to_owned());
        let cell = Wanted::Variants(vec!["x".to_owned(), "y".to_owned()]);
        assert_eq!(own(""), Wanted::Nothing);
        assert_eq!(own("| "), of("B"));
        assert_eq!(own("| P | "), of("B"));
        assert_eq!(own("| P | Q\n "), of("A"));
        assert_eq!(own("| P | Q\n K | "), cell);
        assert_eq!(own("| P | Q\n K | x | "), cell);
        assert_eq!(own("| P | Q\n K | x | y\n "), of("A"));
        assert_eq!(own("| P | Q\n K | x | y\n L | "), cell);
        assert_eq!(want("override matrix m(a: A, b: B) -> C | P K | "), of("C"));
        assert_eq!(want("matrix m(a: "), Wanted::Types);
        assert_eq!(want("matrix m(a: A, b: B) -> "), Wanted::Types);
    }

    #[test]
    fn a_membership_is_no_binding() {
        let value = |text: &str| want(&format!("fn f(n: Node) -> Bool = {text}"));
        assert_eq!(value("n.type in "), Wanted::Among);
        assert_eq!(value("n.type not in "), Wanted::Among);
        assert_eq!(value("all x in "), Wanted::Value);
        assert_eq!(want("pass p for n: Node in "), Wanted::Value);
        assert_eq!(want("pass p { for n in "), Wanted::Value);
        assert_eq!(want("set S in "), Wanted::Entries(&[Kind::Set]));
    }
}
