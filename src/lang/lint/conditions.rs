//! Lints on conditions: those that are idle, those that can't be, and cases that others cover.

use super::logic::{Cond, MOST_TESTS, cond, contradict, implies, not, pieces, split};
use super::names::Names;
use super::{CONSTANT_CONDITION, Edit, Found, LintItem, REDUNDANT_CONDITION, REPEATED_CASE, REPEATED_STEP};
use crate::lang::syntax::ast::Span;
use crate::lang::syntax::build::{Rule, Tree, child, children, lone, only};
use crate::lang::syntax::scan;

pub fn look(item: &LintItem, whole: &Tree, names: &Names, found: &mut Vec<Found>) {
    tree(whole, item, names, found);
}

fn tree(tree_: &Tree, item: &LintItem, names: &Names, found: &mut Vec<Found>) {
    match tree_.as_rule() {
        Rule::simple => operators(tree_, item, names, found),
        Rule::first_expr => {
            let cases: Vec<Case> = children(tree_, Rule::first_case)
                .filter_map(|case| Some(Case::new(&case, &child(&case, Rule::expr)?, "case", names)))
                .collect();
            covered(&cases, true, item, found);
        }
        Rule::walk_item => {
            let steps: Vec<Case> = children(tree_, Rule::step)
                .filter_map(|step| {
                    let condition = child(&child(&step, Rule::condition)?, Rule::simple)?;
                    Some(Case::new(&step, &condition, "step", names))
                })
                .collect();
            covered(&steps, true, item, found);
        }
        Rule::if_statement => {
            let arms: Vec<Case> = children(tree_, Rule::if_arm)
                .filter_map(|arm| Some(Case::new(&arm, &child(&arm, Rule::simple)?, "branch", names)))
                .collect();
            covered(&arms, false, item, found);
        }
        Rule::if_expr => covered(&branches(tree_, names), false, item, found),
        Rule::chain_item | Rule::steps_item | Rule::each_step => required(tree_, item, names, found),
        _ => {}
    }
    for inner in tree_.clone().into_inner() {
        tree(&inner, item, names, found);
    }
}

fn span(tree: &Tree) -> Span {
    let text = tree.as_str().trim_end();
    scan::span(tree.as_span().start(), tree.as_span().start() + text.len())
}

/// From the first of some trees to the last.
fn span_of(trees: &[Tree]) -> Span {
    match (trees.first(), trees.last()) {
        (Some(first), Some(last)) => Span { start: span(first).start, end: last_token(last) },
        _ => Span::default(),
    }
}

/// Where the last token of a tree ends: trees take in the white space that follows them.
fn last_token(tree: &Tree) -> u32 {
    let mut last = tree.clone();
    while let Some(inner) = last.clone().into_inner().next_back() {
        last = inner;
    }
    span(&last).end
}

/// Something that a condition guards.
struct Case {
    whole: Span,
    condition: Span,
    cond: Cond,
    what: &'static str,
}

impl Case {
    fn new(whole: &Tree, condition: &Tree, what: &'static str, names: &Names) -> Case {
        Case {
            whole: Span { start: span(whole).start, end: last_token(whole) },
            condition: Span { start: span(condition).start, end: last_token(condition) },
            cond: cond(condition, names),
            what,
        }
    }
}

/// The branches of `if … else if …`, from here on.
fn branches(tree: &Tree, names: &Names) -> Vec<Case> {
    let mut all = Vec::new();
    let mut next = Some(tree.clone());
    while let Some(tree) = next.take() {
        let inner: Vec<Tree> = tree.into_inner().collect();
        let [_, condition, _, then, _, otherwise] = inner.as_slice() else { break };
        all.push(Case::new(then, condition, "branch", names));
        next = lone(otherwise, Rule::if_expr);
    }
    all
}

/// Cases that never come to pass since an earlier one holds wherever they do.
fn covered(cases: &[Case], removable: bool, item: &LintItem, found: &mut Vec<Found>) {
    let title = |case: &Case| format!("remove the {}", case.what);
    for (at, case) in cases.iter().enumerate() {
        let earlier = &cases[..at];
        if earlier.iter().map(|case| case.cond.tests()).sum::<usize>() + case.cond.tests() > MOST_TESTS {
            continue;
        }
        let Some(by) = earlier.iter().find(|other| implies(&case.cond, &other.cond)) else {
            let all = Cond::Or(earlier.iter().map(|case| case.cond.clone()).collect());
            if !earlier.is_empty() && implies(&case.cond, &all) {
                let message = format!("this {} never comes to pass", case.what);
                let one =
                    item.found(&REPEATED_CASE, case.condition, message).label("the ones before cover it");
                found.push(if removable {
                    one.fix(title(case), vec![removal(item, case.whole)])
                } else {
                    one
                });
            }
            continue;
        };
        let message = format!("this {} never comes to pass", case.what);
        let one =
            item.found(&REPEATED_CASE, case.condition, message).label("holds only where an earlier one does");
        let one = one.also(item.file, item.place(by.condition), "the earlier one");
        found.push(if removable { one.fix(title(case), vec![removal(item, case.whole)]) } else { one });
    }
}

/// Steps of a chain that hold whenever those before do.
fn required(tree: &Tree, item: &LintItem, names: &Names, found: &mut Vec<Found>) {
    let mut before: Vec<Case> = Vec::new();
    for step in children(tree, Rule::chain_step) {
        let Some(inner) = only(&step).filter(|inner| inner.as_rule() == Rule::require) else { continue };
        let Some(condition) = child(&inner, Rule::simple) else { continue };
        let case = Case::new(&step, &condition, "step", names);
        let by = before.iter().find(|other| !case.cond.asks_for_none() && implies(&other.cond, &case.cond));
        if let Some(by) = by {
            let one = item
                .found(&REPEATED_STEP, case.condition, "this step holds whenever the ones before it do")
                .also(item.file, item.place(by.condition), "an earlier one asks for as much")
                .fix("remove the step", vec![removal(item, case.whole)]);
            found.push(one);
        }
        before.push(case);
    }
}

/// One level of `and` and `or`.
fn operators(tree: &Tree, item: &LintItem, names: &Names, found: &mut Vec<Found>) {
    let parts: Vec<Tree> = tree.clone().into_inner().collect();
    if pieces(&parts, names).tests() > MOST_TESTS {
        return;
    }
    let universe = |subject: &str| names.universe(subject);
    let either = split(&parts, Rule::kw_or);
    for both in &either {
        let all = split(both, Rule::kw_and);
        let conds: Vec<Cond> = all.iter().map(|piece| pieces(piece, names)).collect();
        if contradict(&conds, &universe) {
            let message = "this never holds";
            found.push(
                item.found(&CONSTANT_CONDITION, span_of(both), message)
                    .label("its parts exclude one another"),
            );
        } else if all.len() > 1 {
            idle(&all, &conds, implies, item, found);
        }
    }
    if either.len() > 1 {
        let conds: Vec<Cond> = either.iter().map(|piece| pieces(piece, names)).collect();
        let opposites: Vec<Cond> = conds.iter().cloned().map(not).collect();
        if contradict(&opposites, &universe) {
            let message = "this always holds";
            found.push(
                item.found(&CONSTANT_CONDITION, span_of(&parts), message)
                    .label("its parts leave nothing out"),
            );
        } else {
            idle(&either, &conds, |a, b| implies(b, a), item, found);
        }
    }
}

/// Parts that say nothing beside another: `makes_idle(a, b)` if `a` leaves nothing for `b` to say.
fn idle(
    parts: &[&[Tree]],
    conds: &[Cond],
    makes_idle: impl Fn(&Cond, &Cond) -> bool,
    item: &LintItem,
    found: &mut Vec<Found>,
) {
    for (at, cond) in conds.iter().enumerate() {
        let by = conds.iter().enumerate().find(|(other, by)| {
            // Of two that say the same the later one is idle.
            *other != at && makes_idle(by, cond) && (*other < at || !makes_idle(cond, by))
        });
        let (Some((by, _)), false) = (by, cond.asks_for_none()) else { continue };
        let here = span_of(parts[at]);
        // With the operator before it, or behind it.
        let cut = match at.checked_sub(1) {
            Some(before) => Span { start: span_of(parts[before]).end, end: here.end },
            None => Span { start: here.start, end: span_of(parts[at + 1]).start },
        };
        let edit = Edit { span: item.place(cut), text: String::new() };
        let one = item
            .found(&REDUNDANT_CONDITION, here, "this part of the condition says nothing more")
            .also(item.file, item.place(span_of(parts[by])), "than this one");
        let has_comment = scan::slice(item.text, cut).contains("//");
        found.push(if has_comment { one } else { one.fix("remove the part", vec![edit]) });
    }
}

/// The edit that takes something out, with its lines if it stands alone on them.
fn removal(item: &LintItem, span: Span) -> Edit {
    let text = item.text;
    let (start, mut end) = (span.start as usize, span.end as usize);
    if text.get(end..).is_some_and(|rest| rest.starts_with([',', ';'])) {
        end += 1;
    }
    let before = text.get(..start).unwrap_or("");
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let rest = text.get(end..).unwrap_or("");
    let line_end = rest.find('\n').map_or(text.len(), |at| end + at);
    let alone = before.get(line_start..).is_some_and(|lead| lead.trim().is_empty())
        && text.get(end..line_end).is_some_and(|tail| tail.trim().is_empty());
    let cut = match (alone, line_start.checked_sub(1)) {
        (true, Some(line_break)) => scan::span(line_break, line_end),
        _ => scan::span(start, end + rest.len() - rest.trim_start_matches(' ').len()),
    };
    Edit { span: item.place(cut), text: String::new() }
}
