//! Lints on items as they stand, and beside others.

use std::collections::BTreeSet;

use similar::TextDiff;

use super::names::{Names, count_words};
use super::{
    DEPRECATED_NAME, Edit, Found, LintItem, MISSING_BECAUSE, MISSPELT_ATTRIBUTE, MISTYPED_ATTRIBUTE,
    SIMILAR_CHECKERS, UNTESTED, UNUSED_VARIANT,
};
use crate::graph::Sym;
use crate::lang::diagnostic::nearly;
use crate::lang::syntax::ast::{
    AttrType, Block, Checker, CheckerAction, CheckerForm, ItemData, Kind, Modifier, Span, StatementKind,
};
use crate::lang::syntax::build::{Rule, Tree, child};
use crate::lang::syntax::scan::{self, Token, TokenKind};

/// What one item shows.
pub fn look(item: &LintItem, tree: &Tree, names: &Names, found: &mut Vec<Found>) {
    reasons(item, found);
    older_names(tree, item, names, found);
}

/// What shows when items stand beside others.
pub fn look_at_all(items: &[LintItem], found: &mut Vec<Found>) {
    unused_variants(items, found);
    untested(items, found);
    similar_checkers(items, found);
}

// ---- Reasons ----

fn reasons(item: &LintItem, found: &mut Vec<Found>) {
    let help = "say with `because` why the two may not share memory";
    match &item.item.data {
        ItemData::Always { left, because: None, .. } => {
            let message = format!("the `always` of `{}` gives no reason", left.text);
            found.push(item.found(&MISSING_BECAUSE, left.span, message).help(help));
        }
        ItemData::Checker(Checker { because: None, action, .. }) => match action {
            CheckerAction::Isolate { .. } => {
                let message = format!("the checker `{}` gives no reason", item.item.name.text);
                found.push(item.found(&MISSING_BECAUSE, item.item.name.span, message).help(help));
            }
            CheckerAction::Body(body) => isolations(body, item, found),
        },
        _ => {}
    }
}

fn isolations(block: &Block, item: &LintItem, found: &mut Vec<Found>) {
    for statement in &block.statements {
        match &statement.kind {
            StatementKind::Isolate { because: None, .. } => {
                let message = format!("an `isolate` of `{}` gives no reason", item.item.name.text);
                let help = "say with `because` why the two may not share memory, here or for the checker";
                found.push(item.found(&MISSING_BECAUSE, statement.span, message).help(help));
            }
            StatementKind::If { arms, otherwise } => {
                for block in arms.iter().map(|(_, block)| block).chain(otherwise) {
                    isolations(block, item, found);
                }
            }
            StatementKind::For { body, .. } => isolations(body, item, found),
            _ => {}
        }
    }
}

// ---- Older names ----

fn older_names(tree: &Tree, item: &LintItem, names: &Names, found: &mut Vec<Found>) {
    match tree.as_rule() {
        Rule::attr_name => {
            let Some(name) = child(tree, Rule::dotted) else { return };
            older(name.as_str(), name.as_span().start(), item, names, found);
        }
        Rule::raw => {
            let start = tree.as_span().start();
            let text = tree.as_str();
            let tokens = scan::tokens(text);
            // A field of a node or a tensor has an `@`, and is no attribute.
            let mut before = "";
            for (at, pair) in tokens.windows(2).enumerate() {
                let (name, place) = (pair[0].text(text), start + pair[0].span.start as usize);
                if pair[1].text(text) == "=" && before != "@" {
                    older(name, place, item, names, found);
                    misspelt(name, place, item, names, found);
                    if let Some((span, message, help)) = mistyped(name, &tokens[at + 2..], text, names) {
                        let span = scan::span(start + span.start as usize, start + span.end as usize);
                        found.push(item.found(&MISTYPED_ATTRIBUTE, span, message).help(help));
                    }
                }
                before = name;
            }
        }
        _ => {
            for inner in tree.clone().into_inner() {
                older_names(&inner, item, names, found);
            }
        }
    }
}

fn older(name: &str, start: usize, item: &LintItem, names: &Names, found: &mut Vec<Found>) {
    let Some(now) = names.aliases.get(name) else { return };
    let span = scan::span(start, start + name.len());
    let edit = Edit { span: item.place(span), text: (*now).to_owned() };
    let message = format!("`{name}` is an older name of `{now}`");
    found.push(item.found(&DEPRECATED_NAME, span, message).fix(format!("write `{now}`"), vec![edit]));
}

/// An attribute that no rule asks for is no mistake of a graph, but one that nearly is asked for hardly means to be another.
fn misspelt(name: &str, start: usize, item: &LintItem, names: &Names, found: &mut Vec<Found>) {
    if names.attrs.contains_key(name) || names.aliases.contains_key(name) {
        return;
    }
    let Some(near) = nearly(name, names.attrs.keys().copied()) else { return };
    let span = scan::span(start, start + name.len());
    let message = format!("no rule declares the attribute `{name}`, so none can ask for it");
    found.push(item.found(&MISSPELT_ATTRIBUTE, span, message).help(format!("did you mean `{near}`?")));
}

/// A value of another kind than the attribute is declared with: where it stands, what is wrong, and what is wanted.
fn mistyped(name: &str, value: &[Token], text: &str, names: &Names) -> Option<(Span, String, String)> {
    let now = names.aliases.get(name).copied().unwrap_or(name);
    let ty = *names.attrs.get(now)?;
    let (written, end) = written(value, text, 2)?;
    let wanted = match ty {
        AttrType::Any => return None,
        AttrType::Bool | AttrType::OptBool => Written::Bool,
        AttrType::Int => Written::Int,
        AttrType::Float => Written::Float,
        AttrType::Str => Written::Str,
        AttrType::ListInt => Written::List(&Written::Int),
        AttrType::ListStr => Written::List(&Written::Str),
        AttrType::ListBool => Written::List(&Written::Bool),
        AttrType::ListFloat => Written::List(&Written::Float),
        AttrType::ListListInt => Written::List(&Written::List(&Written::Int)),
    };
    if written.fits(&wanted) {
        return None;
    }
    let span = Span { start: value.first()?.span.start, end };
    let message = format!(
        "`{name}` is declared as {}, and this is {}, which reads as absent",
        wanted.words(),
        written.words()
    );
    Some((span, message, format!("write {}", wanted.example())))
}

/// A kind of value in the graph notation.
#[derive(Clone, Copy, PartialEq)]
enum Written {
    Bool,
    Int,
    Float,
    Str,
    Empty,
    List(&'static Written),
}

impl Written {
    fn fits(&self, wanted: &Written) -> bool {
        match (self, wanted) {
            (Written::Empty, Written::List(_)) => true,
            (Written::List(written), Written::List(wanted)) => written.fits(wanted),
            _ => self == wanted,
        }
    }

    fn words(&self) -> &'static str {
        match self {
            Written::Bool => "a truth value",
            Written::Int => "an integer",
            Written::Float => "a float",
            Written::Str => "a string",
            Written::Empty | Written::List(Written::Empty) => "a list",
            Written::List(Written::Bool) => "a list of truth values",
            Written::List(Written::Int) => "a list of integers",
            Written::List(Written::Float) => "a list of floats",
            Written::List(Written::Str) => "a list of strings",
            Written::List(Written::List(_)) => "a list of lists",
        }
    }

    fn example(&self) -> &'static str {
        match self {
            Written::Bool => "`true` or `false`",
            Written::Int => "a number without a point: `1`",
            Written::Float => "a number with a point: `1.0`",
            Written::Str => "it in quotes: `\"…\"`",
            Written::Empty | Written::List(Written::Empty) => "`[]`",
            Written::List(Written::Bool) => "`[true, false]`",
            Written::List(Written::Int) => "`[1, 2]`",
            Written::List(Written::Float) => "`[1.0, 2.0]`",
            Written::List(Written::Str) => "`[\"…\"]`",
            Written::List(Written::List(_)) => "`[[1, 2], [3]]`",
        }
    }
}

/// The kind of a value, told by its first element where it is a list, and where what was looked at ends; none if it is no plain value.
fn written(value: &[Token], text: &str, depth: u32) -> Option<(Written, u32)> {
    let (first, rest) = value.split_first()?;
    let number = |token: &Token| {
        let word = token.text(text);
        let is_float = !word.starts_with("0x") && word.contains(['.', 'e', 'E']);
        (token.kind == TokenKind::Number)
            .then_some((if is_float { Written::Float } else { Written::Int }, token.span.end))
    };
    match first.text(text) {
        "true" | "false" => Some((Written::Bool, first.span.end)),
        "-" => number(rest.first()?),
        "[" if rest.first()?.text(text) == "]" => Some((Written::Empty, rest.first()?.span.end)),
        "[" => {
            let (element, end) = written(rest, text, depth.checked_sub(1)?)?;
            let list = match element {
                Written::Bool => &Written::Bool,
                Written::Int => &Written::Int,
                Written::Float => &Written::Float,
                Written::Str => &Written::Str,
                Written::Empty => &Written::Empty,
                Written::List(_) => &Written::List(&Written::Int),
            };
            let close = rest.iter().find(|token| token.text(text) == "]");
            Some((Written::List(list), close.map_or(end, |close| close.span.end)))
        }
        _ if matches!(first.kind, TokenKind::Text { .. }) => Some((Written::Str, first.span.end)),
        _ => number(first),
    }
}

// ---- Variants that nothing names ----

fn unused_variants(items: &[LintItem], found: &mut Vec<Found>) {
    let enums = || {
        items.iter().filter_map(|item| match &item.item.data {
            ItemData::Enum { variants } => Some((item, variants)),
            _ => None,
        })
    };
    let words = enums().flat_map(|(_, variants)| variants).map(|variant| variant.text.as_str());
    let counts = count_words(words, items.iter().map(|item| item.text));
    for (item, variants) in enums() {
        for variant in variants {
            let word = variant.text.as_str();
            if counts.get(word) == Some(&1) && !word.starts_with('_') {
                let message = format!("nothing names the variant `{word}` of `{}`", item.item.name.text);
                let one = item.found(&UNUSED_VARIANT, variant.span, message);
                found.push(one.help("remove it, or let its name start with `_`"));
            }
        }
    }
}

// ---- Tests ----

fn untested(items: &[LintItem], found: &mut Vec<Found>) {
    let steps = |item: &LintItem| match &item.item.data {
        ItemData::Pipeline { steps, .. } => steps.iter().map(|step| step.name.text).collect(),
        _ => Vec::new(),
    };
    let inner: Vec<Sym> = items.iter().flat_map(steps).collect();
    // What tests run that do not say what: the first pipeline that is no step of another.
    let pipelines =
        items.iter().filter(|item| item.item.kind == Kind::Pipeline).map(|item| item.item.name.text);
    let default = pipelines.clone().find(|name| !inner.contains(name)).map(|name| name.as_str());
    let mut tested: BTreeSet<&str> = BTreeSet::new();
    for item in items {
        if let ItemData::Test(test) = &item.item.data {
            tested.extend(test.passes.iter().map(|name| name.text.as_str()));
            tested.extend(default.filter(|_| test.passes.is_empty()));
        }
    }
    // What a tested entry runs is tested.
    loop {
        let before = tested.len();
        for item in items {
            if !tested.contains(item.item.name.text.as_str()) {
                continue;
            }
            match &item.item.data {
                ItemData::Pipeline { steps, .. } => {
                    tested.extend(steps.iter().map(|step| step.name.text.as_str()))
                }
                ItemData::Pass { body, .. } | ItemData::Action { body, .. } => applied(body, &mut tested),
                ItemData::Chain { then: Some(body), .. } => applied(body, &mut tested),
                _ => {}
            }
        }
        if tested.len() == before {
            break;
        }
    }
    for item in items {
        let declared = item.item.modifier == Modifier::Declare;
        let name = item.item.name;
        if declared
            && matches!(item.item.kind, Kind::Pass | Kind::Chain | Kind::Lint)
            && !tested.contains(name.text.as_str())
        {
            let message = format!("no test runs `{}`", name.text);
            let help = format!("write a `test \"…\" for {} {{ … }}`", name.text);
            found.push(item.found(&UNTESTED, name.span, message).help(help));
        }
    }
}

fn applied<'a>(block: &'a Block, tested: &mut BTreeSet<&'a str>) {
    for statement in &block.statements {
        match &statement.kind {
            StatementKind::Apply { chain, .. } => {
                tested.insert(chain.text.as_str());
            }
            StatementKind::Do { action, .. } => {
                tested.insert(action.text.as_str());
            }
            StatementKind::If { arms, otherwise } => {
                arms.iter().map(|(_, block)| block).chain(otherwise).for_each(|block| applied(block, tested));
            }
            StatementKind::For { body, .. } | StatementKind::Resolve { body, .. } => applied(body, tested),
            _ => {}
        }
    }
}

// ---- Checkers that are nearly the same ----

/// Checkers whose words are this much the same are told.
const SIMILAR: f32 = 0.9;
/// Below this many words everything is alike.
const FEWEST_WORDS: usize = 12;

fn similar_checkers(items: &[LintItem], found: &mut Vec<Found>) {
    let checkers: Vec<Described> = items
        .iter()
        .filter_map(|item| {
            let ItemData::Checker(checker) = &item.item.data else { return None };
            let tokens = scan::tokens(item.text);
            let code = tokens
                .iter()
                .filter(|token| !token.is_comment() && !matches!(token.kind, TokenKind::Text { .. }));
            // Behind the word `checker` and the name.
            let words: Vec<&str> = code.map(|token| token.text(item.text)).skip(2).collect();
            (words.len() >= FEWEST_WORDS).then(|| Described { item, marks: marks(checker), words })
        })
        .collect();
    for (at, one) in checkers.iter().enumerate() {
        let twin = checkers[..at].iter().find(|other| {
            one.marks == other.marks && TextDiff::from_slices(&one.words, &other.words).ratio() >= SIMILAR
        });
        if let Some(Described { item: twin, .. }) = twin {
            let name = one.item.item.name;
            let message = format!("`{}` is nearly the same as `{}`", name.text, twin.item.name.text);
            let told = one.item.found(&SIMILAR_CHECKERS, name.span, message);
            let told = told.also(twin.file, twin.place(twin.item.name.span), "the other one");
            found.push(told.help("make them one, or move what they share into a `fn`"));
        }
    }
}

/// A checker as it is compared.
struct Described<'a> {
    item: &'a LintItem<'a>,
    marks: BTreeSet<BTreeSet<&'static str>>,
    /// All words but its name and its texts.
    words: Vec<&'a str>,
}

fn marks(checker: &Checker) -> BTreeSet<BTreeSet<&'static str>> {
    let (first, second) = match &checker.form {
        CheckerForm::Pair { first, second, .. } => (&first.marks, &second.marks),
        CheckerForm::Group { first, second } => (first, second),
    };
    [first, second].into_iter().map(|marks| marks.iter().map(|mark| mark.text.as_str()).collect()).collect()
}
