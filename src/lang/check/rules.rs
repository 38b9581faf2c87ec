//! What only the whole rule set can tell: circles of calls, pairs that two entries rule, sets inside sets, edits where none
//! may be, names that nothing uses.
//!
//! Promise: reads trees and the names that lowering found, never typed bodies, so an item with an error in it is still
//! counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::codes;
use super::scope::{ALL_PAIR_RULES, ItemKey, Scope, keyword, title};
use crate::graph::Sym;
use crate::lang::Diagnostic;
use crate::lang::diagnostic::{Label, Place, with_article};
use crate::lang::syntax::ast::{
    Block, CheckerForm, ExprKind, Item, ItemData, Kind, Modifier, Name, PipelineRole, SetTerm, Side, Span,
    StatementKind,
};

/// An item that holds, with what lowering found in it.
#[derive(Clone, Debug)]
pub struct RuleItem {
    pub key: ItemKey,
    pub item: Arc<Item>,
    /// [`Lowered::uses`](crate::lang::hir::Lowered::uses).
    pub uses: Vec<(Kind, Sym)>,
}

/// The complaints about a rule set whose live items are `items`, in order.
pub fn rules(items: &[RuleItem], scope: &Scope) -> Vec<(ItemKey, Diagnostic)> {
    let mut found = Vec::new();
    circles(items, &mut found);
    defaults(items, &mut found);
    later_marks(items, scope, &mut found);
    pairs(items, scope, &mut found);
    sets(items, &mut found);
    edits(items, &mut found);
    super::usage::unused(items, scope, &mut found);
    found.sort_by_key(|(key, _)| *key);
    found
}

/// A second place, in another item.
fn elsewhere(item: &Item, span: Span, text: impl Into<String>) -> Label {
    Label { place: Place::Item(span), other: Some((item.kind, title(item))), text: text.into() }
}

/// More than one pipeline that is to run where no passes are named.
fn defaults(items: &[RuleItem], found: &mut Vec<(ItemKey, Diagnostic)>) {
    let is_default = |data: &ItemData| matches!(data, ItemData::Pipeline { role: PipelineRole::Default, .. });
    let mut all = items.iter().filter(|item| is_default(&item.item.data));
    let Some(first) = all.next() else { return };
    for other in all {
        let message =
            format!("`{}` and `{}` are both the default", first.item.name.text, other.item.name.text);
        let mut error = Diagnostic::error(codes::DUPLICATE, other.item.name.span, message)
            .help("only one pipeline runs where no passes are named");
        error.labels.push(elsewhere(&first.item, first.item.name.span, "the first"));
        found.push((other.key, error));
    }
}

/// Kinds that run what they name.
fn runs(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Fn
            | Kind::Walk
            | Kind::Action
            | Kind::Chain
            | Kind::Steps
            | Kind::Symbols
            | Kind::Set
            | Kind::Attribute
            | Kind::Pass
            | Kind::Pipeline
    ) || rules_pairs(kind)
}

/// Kinds that `conflicts` asks.
fn rules_pairs(kind: Kind) -> bool {
    matches!(kind, Kind::Checker | Kind::Skip | Kind::DefaultAlways | Kind::Attribute)
}

/// Circles among functions, walks, actions, chains, pipelines and sets. Each circle is told once, at its first item.
fn circles(items: &[RuleItem], found: &mut Vec<(ItemKey, Diagnostic)>) {
    let nodes: Vec<&RuleItem> = items.iter().filter(|item| runs(item.item.kind)).collect();
    let mut number: FxHashMap<(Kind, Sym), usize> = FxHashMap::default();
    for (at, node) in nodes.iter().enumerate() {
        number.entry((node.item.kind, node.item.name.text)).or_insert(at);
    }
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        // What extends a set counts as the set.
        let from = number.get(&(node.item.kind, node.item.name.text)).copied().unwrap_or(at);
        let own = (node.item.kind, node.item.name.text);
        for name in &node.uses {
            // `in OTHER` demands, it does not take in.
            let within = matches!(&node.item.data, ItemData::Set { terms, .. } if !takes_in(terms, name.1));
            // That an attribute asks for itself or a later one has its own complaint.
            if within || (name.0 == Kind::Attribute && own.0 == Kind::Attribute) {
                continue;
            }
            if (name.0, name.1.as_str()) == ALL_PAIR_RULES {
                next[from].extend((0..nodes.len()).filter(|node| rules_pairs(nodes[*node].item.kind)));
                continue;
            }
            next[from].extend(number.get(name));
        }
    }
    // Depth first with a stack of our own; 1: open, 2: done.
    let mut state = vec![0u8; nodes.len()];
    for start in 0..nodes.len() {
        if state[start] != 0 {
            continue;
        }
        let mut path = vec![(start, 0)];
        state[start] = 1;
        while let Some((at, edge)) = path.last_mut() {
            let Some(&to) = next[*at].get(*edge) else {
                state[*at] = 2;
                path.pop();
                continue;
            };
            *edge += 1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    path.push((to, 0));
                }
                1 => {
                    let from = path.iter().position(|(node, _)| *node == to).unwrap_or(0);
                    let circle: Vec<usize> = path[from..].iter().map(|(node, _)| *node).collect();
                    found.push(circle_error(&nodes, &circle));
                }
                _ => {}
            }
        }
    }
}

fn takes_in(terms: &[SetTerm], name: Sym) -> bool {
    terms.iter().any(|term| matches!(term, SetTerm::Named(other) if other.text == name))
}

fn circle_error(nodes: &[&RuleItem], circle: &[usize]) -> (ItemKey, Diagnostic) {
    let first = circle.iter().copied().min().unwrap_or(0);
    let turn = circle.iter().position(|node| *node == first).unwrap_or(0);
    let order: Vec<usize> = circle[turn..].iter().chain(&circle[..turn]).copied().collect();
    let mut names: Vec<String> =
        order.iter().map(|node| format!("`{}`", nodes[*node].item.name.text)).collect();
    names.push(names[0].clone());
    let node = nodes[first];
    let message = if names.len() == 2 {
        format!("{} needs itself", names[0])
    } else {
        format!("these need each other: {}", names.join(", "))
    };
    let mut error = Diagnostic::error(codes::CYCLE, node.item.name.span, message)
        .help("nothing may recur; a `walk` follows a graph step by step");
    for other in order.iter().skip(1) {
        let item = &nodes[*other].item;
        error.labels.push(elsewhere(item, item.name.span, "part of the circle"));
    }
    (node.key, error)
}

/// An attribute that asks, through functions, for a mark that is decided after its own. (A direct question is
/// complained about where it stands; a question for itself is a circle.)
fn later_marks(items: &[RuleItem], scope: &Scope, found: &mut Vec<(ItemKey, Diagnostic)>) {
    let through = |kind: Kind| matches!(kind, Kind::Fn | Kind::Walk);
    let helpers: FxHashMap<(Kind, Sym), &RuleItem> = items
        .iter()
        .filter(|rule| through(rule.item.kind))
        .map(|rule| ((rule.item.kind, rule.item.name.text), rule))
        .collect();
    for rule in items.iter().filter(|rule| rule.item.kind == Kind::Attribute) {
        let name = rule.item.name.text;
        let Some(own) = scope.mark(name) else { continue };
        let mut seen: FxHashSet<(Kind, Sym)> = FxHashSet::default();
        let mut open: Vec<&RuleItem> = vec![rule];
        while let Some(at) = open.pop() {
            for used in &at.uses {
                let later =
                    scope.mark(used.1).filter(|asked| used.0 == Kind::Attribute && asked.order > own.order);
                if later.is_some() && at.item.kind != Kind::Attribute && seen.insert(*used) {
                    let message = format!("`{}` is not decided yet when `{name}` is", used.1);
                    let mut error = Diagnostic::error(codes::MARK_ORDER, rule.item.name.span, message)
                        .help("an attribute may ask for those declared before it");
                    let text = format!("this asks for `{}`", used.1);
                    error.labels.push(elsewhere(&at.item, at.item.name.span, text));
                    found.push((rule.key, error));
                }
                if let Some(next) = helpers.get(used).filter(|_| seen.insert(*used)) {
                    open.push(next);
                }
            }
        }
    }
}

/// One entry's claim on a pair of marks.
struct Claim<'a> {
    at: usize,
    item: &'a Item,
    span: Span,
}

/// Pairs of marks: each has at most one of `never`, `always`, checker.
fn pairs(items: &[RuleItem], scope: &Scope, found: &mut Vec<(ItemKey, Diagnostic)>) {
    let mut claims: BTreeMap<(&str, &str), Vec<Claim>> = BTreeMap::new();
    let mut anywhere: FxHashSet<Sym> = FxHashSet::default();
    let mut default_always = false;
    let mut first_always = None;
    for (at, rule) in items.iter().enumerate() {
        let item = &*rule.item;
        let mut claim = |a: &Name, b: &Name| {
            let (x, y) = (a.text.as_str(), b.text.as_str());
            let list = claims.entry((x.min(y), x.max(y))).or_default();
            if list.last().is_none_or(|last| last.at != at) {
                list.push(Claim { at, item, span: b.span });
            }
        };
        match &item.data {
            ItemData::Never { left, right } => {
                if right.is_empty() {
                    anywhere.insert(left.text);
                }
                for name in right {
                    if !scope.dropped.contains(&(Kind::Never, left.text, name.text)) {
                        claim(left, name);
                    }
                }
            }
            ItemData::Always { left, right, .. } => {
                for name in right {
                    if scope.dropped.contains(&(Kind::Always, left.text, name.text)) {
                        continue;
                    }
                    claim(left, name);
                    let side = |name: &Name| scope.mark(name.text).map(|sig| sig.side);
                    if side(left) == Some(Side::Output) && side(name) == Some(Side::Output) {
                        let message = format!("`{}` and `{}` are both of outputs", left.text, name.text);
                        let error = Diagnostic::error(codes::ALWAYS_OUTPUTS, name.span, message)
                            .help("an `always` isolates an input; write a `checker` for two outputs");
                        found.push((rule.key, error));
                    }
                }
                first_always.get_or_insert((rule.key, left.span));
            }
            ItemData::DefaultAlways { .. } => default_always = true,
            ItemData::Checker(checker) => match &checker.form {
                CheckerForm::Pair { first, second, .. } => {
                    product(&first.marks, &second.marks, &mut claim);
                }
                CheckerForm::Group { first, second } => product(first, second, &mut claim),
            },
            _ => {}
        }
    }
    if let (Some((key, span)), false) = (first_always, default_always) {
        let message = "there is an `always`, and nothing says which anchor it isolates";
        let error = Diagnostic::error(codes::NEEDS_DEFAULT_ALWAYS, span, message);
        found
            .push((key, error.help("write `default always isolate ANCHOR` over `first`, `second`, `group`")));
    }
    let mut told: FxHashSet<(usize, usize)> = FxHashSet::default();
    for ((a, b), list) in &claims {
        let [first, rest @ ..] = &list[..] else { continue };
        if anywhere.iter().any(|mark| mark == a || mark == b) {
            continue;
        }
        for claim in rest {
            // Two entries that share many pairs are told once.
            if !told.insert((first.at, claim.at)) {
                continue;
            }
            let what = |item: &Item| match item.kind {
                Kind::Checker => format!("checker `{}`", item.name.text),
                kind => format!("`{} {}`", keyword(kind), title(item)),
            };
            let message =
                format!("`{a}` with `{b}` is ruled by {} and by {}", what(first.item), what(claim.item));
            let mut error = Diagnostic::error(codes::OVERLAP, claim.span, message)
                .help("let one of them rule the pair; an overlay may `remove` or `override` the other");
            error.labels.push(elsewhere(first.item, first.span, "ruled here first"));
            found.push((items[claim.at].key, error));
        }
    }
}

fn product(first: &[Name], second: &[Name], claim: &mut impl FnMut(&Name, &Name)) {
    for a in first {
        for b in second {
            claim(a, b);
        }
    }
}

/// `set A in B`: every element of `A` is in `B`.
fn sets(items: &[RuleItem], found: &mut Vec<(ItemKey, Diagnostic)>) {
    let mut terms: FxHashMap<Sym, Vec<&SetTerm>> = FxHashMap::default();
    for rule in items {
        if let ItemData::Set { terms: own, .. } = &rule.item.data {
            terms.entry(rule.item.name.text).or_default().extend(own);
        }
    }
    let elements = |set: Sym| {
        let mut seen: FxHashSet<Sym> = FxHashSet::from_iter([set]);
        let mut open = vec![set];
        let mut out: Vec<(String, Span, bool)> = Vec::new();
        while let Some(name) = open.pop() {
            for term in terms.get(&name).into_iter().flatten() {
                match term {
                    SetTerm::Named(other) => {
                        if seen.insert(other.text) {
                            open.push(other.text);
                        }
                    }
                    SetTerm::Literal(values) => out.extend(values.iter().filter_map(|value| {
                        let text = match &*value.kind {
                            ExprKind::Name(word) => word.to_string(),
                            ExprKind::Str(text) => format!("\"{text}\""),
                            ExprKind::Int(number) => number.to_string(),
                            _ => return None,
                        };
                        Some((text, value.span, name == set))
                    })),
                }
            }
        }
        out
    };
    for rule in items {
        let ItemData::Set { within: Some(within), .. } = &rule.item.data else { continue };
        if rule.item.modifier == Modifier::Extend || !terms.contains_key(&within.text) {
            continue;
        }
        let allowed: FxHashSet<String> = elements(within.text).into_iter().map(|(text, ..)| text).collect();
        let mut outside: Vec<String> = elements(rule.item.name.text)
            .into_iter()
            .filter(|(text, ..)| !allowed.contains(text))
            .map(|(text, ..)| format!("`{text}`"))
            .collect();
        outside.sort_unstable();
        outside.dedup();
        if !outside.is_empty() {
            let message = format!("`{}` does not have {}", within.text, outside.join(", "));
            let error = Diagnostic::error(codes::OUTSIDE_SET, within.span, message);
            found.push((rule.key, error.help(format!("every element must be in `{}`", within.text))));
        }
    }
}

/// `do` of an action that edits, in an item that may not edit.
fn edits(items: &[RuleItem], found: &mut Vec<(ItemKey, Diagnostic)>) {
    let mut editing: FxHashSet<Sym> = FxHashSet::default();
    for rule in items {
        if let ItemData::Action { body, .. } = &rule.item.data
            && statements(body).into_iter().any(is_edit)
        {
            editing.insert(rule.item.name.text);
        }
    }
    loop {
        let before = editing.len();
        for rule in items.iter().filter(|rule| rule.item.kind == Kind::Action) {
            if rule.uses.iter().any(|(kind, name)| *kind == Kind::Action && editing.contains(name)) {
                editing.insert(rule.item.name.text);
            }
        }
        if editing.len() == before {
            break;
        }
    }
    for rule in items {
        let body = match &rule.item.data {
            ItemData::Symbols { body, .. } | ItemData::Lint { body, .. } => body,
            ItemData::Checker(checker) => match &checker.action {
                crate::lang::syntax::ast::CheckerAction::Body(body) => body,
                crate::lang::syntax::ast::CheckerAction::Isolate { .. } => continue,
            },
            _ => continue,
        };
        for kind in statements(body) {
            if let StatementKind::Do { action, .. } = kind
                && editing.contains(&action.text)
            {
                let own = with_article(keyword(rule.item.kind));
                let message = format!("`{}` changes the graph, {own} may not", action.text);
                found.push((rule.key, Diagnostic::error(codes::EDIT_HERE, action.span, message)));
            }
        }
    }
}

fn is_edit(kind: &StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Insert { .. }
            | StatementKind::Clear { .. }
            | StatementKind::Delete(_)
            | StatementKind::Connect { .. }
            | StatementKind::Cut(_)
            | StatementKind::Link { .. }
            | StatementKind::Unlink { .. }
            | StatementKind::SetAttr { .. }
            | StatementKind::SetNote { .. }
            | StatementKind::SetField { .. }
            | StatementKind::Sort { .. }
            | StatementKind::Apply { .. }
            | StatementKind::Merge { .. }
            | StatementKind::Track { .. }
    )
}

/// All statements of a body, inner ones included, in the order of the text.
fn statements(block: &Block) -> Vec<&StatementKind> {
    let mut out = Vec::new();
    let mut open: Vec<&crate::lang::syntax::ast::Statement> = block.statements.iter().rev().collect();
    while let Some(statement) = open.pop() {
        out.push(&statement.kind);
        match &statement.kind {
            StatementKind::If { arms, otherwise } => {
                if let Some(block) = otherwise {
                    open.extend(block.statements.iter().rev());
                }
                for (_, block) in arms.iter().rev() {
                    open.extend(block.statements.iter().rev());
                }
            }
            StatementKind::For { body, .. }
            | StatementKind::Resolve { body, .. }
            | StatementKind::Sweep { body, .. }
            | StatementKind::Track { otherwise: Some(body), .. } => {
                open.extend(body.statements.iter().rev());
            }
            StatementKind::Attempt { body, otherwise } => {
                if let Some(block) = otherwise {
                    open.extend(block.statements.iter().rev());
                }
                open.extend(body.statements.iter().rev());
            }
            _ => {}
        }
    }
    out
}
