//! What the tables say that a reviewer should hear: lost claims, gaps, names without a reader, passes that nobody runs.
//!
//! Promise: every finding follows from the rule set alone. Warnings are about rules that do not do what they say; notes are about
//! what may well be meant.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::attributes::inputs;
use super::dead::{dead, is_scanned, side};
use super::finding::{Finding, codes};
use super::lists::rule_lists;
use super::pairs::{PairRow, pair_rows};
use super::solve::{Goal, can_hold};
use super::terms::{Frame, Term, TermId, Terms, Value};
use super::uses::{Ref, entry_uses};
use crate::db::{self, Db, EntryName, RuleSet};
use crate::format::onnx::TYPE_FUNCTION;
use crate::graph::Sym;
use crate::lang::hir::{CheckerForm, Entry};
use crate::lang::syntax::ast::{Kind, Side};
use crate::lang::syntax::print::keyword;

/// All findings that need no graph, by kind of finding.
#[salsa::tracked(returns(ref))]
pub fn judgements(db: &dyn Db, rules: RuleSet) -> Arc<Vec<Finding>> {
    let mut found = Vec::new();
    shadowed(db, rules, &mut found);
    skipped(db, rules, &mut found);
    unruled(db, rules, &mut found);
    unread(db, rules, &mut found);
    for &(kind, name) in entry_uses(db, rules).entries.iter().filter(|(kind, _)| is_scanned(*kind)) {
        found.extend(dead(db, rules, EntryName::new(db, kind, name)).iter().cloned());
    }
    for &name in db::names(db, rules, Kind::Checker) {
        // A condition that holds nowhere has been told.
        let own = Ref::new(Kind::Checker, name);
        if found.iter().any(|finding: &Finding| finding.code == codes::DEAD && finding.entry == own) {
            continue;
        }
        found.extend(dead_pairs(db, rules, EntryName::new(db, Kind::Checker, name)).iter().cloned());
    }
    not_run(db, rules, &mut found);
    Arc::new(found)
}

/// Entries that come to none of their pairs.
fn shadowed(db: &dyn Db, rules: RuleSet, found: &mut Vec<Finding>) {
    let table = pair_rows(db, rules);
    let mut ruling: FxHashMap<Ref, usize> = FxHashMap::default();
    for row in &table.pairs {
        row.by.iter().for_each(|by| *ruling.entry(*by).or_default() += 1);
    }
    let mut losers: Vec<(Ref, Vec<&PairRow>)> = Vec::new();
    for row in &table.pairs {
        for &lost in &row.lost {
            match losers.iter_mut().find(|(entry, _)| *entry == lost) {
                Some((_, rows)) => rows.push(row),
                None => losers.push((lost, vec![row])),
            }
        }
    }
    for (entry, rows) in losers {
        if ruling.contains_key(&entry) {
            continue;
        }
        let mut winners: Vec<Ref> = rows.iter().filter_map(|row| row.by).collect();
        winners.sort();
        winners.dedup();
        let names: Vec<String> = winners.iter().map(|winner| format!("`{winner}`")).collect();
        let message = format!("rules no pair: {} comes first for every one of them", names.join(" or "));
        found.push(Finding::warning(codes::SHADOWED, entry, message).with(winners));
    }
}

/// Pairs that are never looked at, because a `skip` holds of both orders; entries that have no others.
fn skipped(db: &dyn Db, rules: RuleSet, found: &mut Vec<Finding>) {
    let table = pair_rows(db, rules);
    let skips: Vec<Ref> =
        db::names(db, rules, Kind::Skip).iter().map(|name| Ref::new(Kind::Skip, *name)).collect();
    if skips.is_empty() {
        return;
    }
    let mut lost: Vec<(Ref, usize, usize)> = Vec::new();
    for row in table.pairs.iter().filter(|row| matches!(row.class, "always" | "checker")) {
        let Some(by) = row.by else { continue };
        let is_lost = always_skipped(db, rules, Sym::new(row.first), Sym::new(row.second));
        let at = lost.iter().position(|(entry, ..)| *entry == by).unwrap_or_else(|| {
            lost.push((by, 0, 0));
            lost.len() - 1
        });
        lost[at].1 += usize::from(is_lost);
        lost[at].2 += 1;
    }
    for (entry, _, _) in lost.into_iter().filter(|(_, skipped, all)| skipped == all) {
        let message = "rules no pair: all of its pairs are skipped";
        found.push(Finding::warning(codes::SHADOWED, entry, message).with(skips.clone()));
    }
}

/// Two anchors that carry these marks, in one order: their terms, and what holds of them.
fn two_anchors(
    db: &dyn Db,
    rules: RuleSet,
    terms: &mut Terms<'_>,
    marks: [Sym; 2],
) -> ([TermId; 2], Vec<Goal>) {
    let anchors = [0, 1].map(|place| terms.make(Term::Place(place)));
    let mut goals = Vec::new();
    for (anchor, mark) in anchors.into_iter().zip(marks) {
        let side_of = |mark| match db::entry(db, rules, EntryName::new(db, Kind::Attribute, mark)).as_deref()
        {
            Some(Entry::Attribute { side, .. }) => Some(*side),
            _ => None,
        };
        let own = side_of(mark);
        side(terms, anchor, own == Some(Side::Input));
        let has = terms.asked(format!("has {mark}"), &[anchor]);
        goals.push(Goal::holds(has));
        for &other in db::names(db, rules, Kind::Attribute).iter().filter(|other| side_of(**other) != own) {
            let has = terms.asked(format!("has {other}"), &[anchor]);
            terms.domains.insert(has, vec![Value::Bool(false)]);
        }
    }
    (anchors, goals)
}

/// Whether some `skip` holds of every two anchors with these marks.
#[salsa::tracked(returns(copy))]
fn always_skipped(db: &dyn Db, rules: RuleSet, first: Sym, second: Sym) -> bool {
    [[first, second], [second, first]].into_iter().all(|marks| {
        let mut terms = Terms::new(db, rules);
        let (anchors, mut goals) = two_anchors(db, rules, &mut terms, marks);
        for &name in db::names(db, rules, Kind::Skip) {
            let entry = db::entry(db, rules, EntryName::new(db, Kind::Skip, name));
            let Some(Entry::Skip { body, when, .. }) = entry.as_deref() else { continue };
            let mut frame: Frame = anchors.iter().copied().map(Some).collect();
            let when = terms.of(body, *when, &mut frame);
            goals.push(Goal::fails(when));
        }
        !can_hold(&terms, &goals)
    })
}

/// Pairs of a checker on which its condition never holds.
#[salsa::tracked(returns(ref))]
fn dead_pairs<'db>(db: &'db dyn Db, rules: RuleSet, name: EntryName<'db>) -> Arc<Vec<Finding>> {
    let entry = db::entry(db, rules, name);
    let Some(Entry::Checker(checker)) = entry.as_deref() else { return Arc::default() };
    let (CheckerForm::Pair { first, second, .. }, Some(when)) = (&checker.form, checker.when) else {
        return Arc::default();
    };
    let mut dead = Vec::new();
    for &a in first {
        for &b in second {
            // Either of the two may come first in the group, and either may play a role.
            let alive = [[a, b], [b, a]].into_iter().any(|marks| {
                [[0, 1], [1, 0]].into_iter().any(|roles| {
                    let mut terms = Terms::new(db, rules);
                    let (anchors, mut goals) = two_anchors(db, rules, &mut terms, marks);
                    let mut frame: Frame = vec![Some(anchors[0]), Some(anchors[1]), None, None];
                    frame.extend(roles.map(|role: usize| Some(anchors[role])));
                    let when = terms.of(&checker.body, when, &mut frame);
                    goals.push(Goal::holds(when));
                    can_hold(&terms, &goals)
                })
            });
            if !alive {
                dead.push(format!("`{a}` with `{b}`"));
            }
        }
    }
    let all = first.len() * second.len();
    let own = Ref::new(Kind::Checker, name.name(db));
    match dead.len() {
        0 => Arc::default(),
        n if n == all => Arc::new(vec![Finding::warning(
            codes::DEAD,
            own,
            "its condition can never hold of anchors with these marks: the checker never finds anything",
        )]),
        _ => {
            let message = format!("its condition can never hold of {}", dead.join(", "));
            Arc::new(vec![Finding::warning(codes::DEAD_PAIR, own, message)])
        }
    }
}

/// Pairs of marks that both demand something, and of which nothing is said: they do not conflict, which may be meant. A mark
/// that no rule names with another cannot be. Told once a mark.
fn unruled(db: &dyn Db, rules: RuleSet, found: &mut Vec<Finding>) {
    let table = pair_rows(db, rules);
    let demands: Vec<&str> =
        table.marks.iter().filter(|mark| !mark.otherwise).map(|mark| mark.name).collect();
    // What one mark has with all others is no rule of another one.
    let ruled = |row: &PairRow, mark: &str| {
        row.by.is_some_and(|by| match by.name.strip_suffix(" with any") {
            Some(own) if by.kind == "never" => own == mark,
            _ => true,
        })
    };
    let is_alone = |mark: &str| {
        let mut own = table.pairs.iter().filter(|row| row.first == mark || row.second == mark);
        demands.len() > 1 && !own.any(|row| ruled(row, mark))
    };
    for &mark in &demands {
        let entry = Ref::new(Kind::Attribute, Sym::new(mark));
        if is_alone(mark) {
            found.push(Finding::warning(codes::UNRULED, entry, "nothing rules it with any mark"));
            continue;
        }
        let open: Vec<String> = table
            .pairs
            .iter()
            .filter(|row| row.class == "unruled" && row.first == mark && demands.contains(&row.second))
            .filter(|row| !is_alone(row.second))
            .map(|row| format!("`{}`", row.second))
            .collect();
        if !open.is_empty() {
            let message = format!("nothing rules it with {}: they do not conflict", open.join(", "));
            found.push(Finding::note(codes::UNRULED, entry, message));
        }
    }
}

/// Attributes and options that nothing asks.
fn unread(db: &dyn Db, rules: RuleSet, found: &mut Vec<Finding>) {
    let inputs = inputs(db, rules);
    for row in &inputs.attributes {
        let entry = Ref::new(Kind::Attr, Sym::new(row.name));
        match row.usage {
            "unused" => found.push(Finding::warning(codes::UNREAD, entry, "nothing reads or sets it")),
            "set" => found.push(
                Finding::note(codes::WRITE_ONLY, entry, "set, and read by no rule: it is for other tools")
                    .with(row.setters.clone()),
            ),
            _ => {}
        }
    }
    for row in inputs.options.iter().filter(|row| row.readers.is_empty()) {
        let entry = Ref::new(Kind::Option, Sym::new(row.name));
        found.push(Finding::warning(codes::UNREAD_OPTION, entry, "no rule reads it"));
    }
}

/// Passes that no pipeline comes to, and entries that only tests come to.
fn not_run(db: &dyn Db, rules: RuleSet, found: &mut Vec<Finding>) {
    let lists = rule_lists(db, rules);
    let uses = entry_uses(db, rules);
    let applied = |entry: Ref| {
        let runs = |&(kind, _): &(Kind, Sym)| matches!(kind, Kind::Pass | Kind::Chain | Kind::Action);
        (0..uses.entries.len()).any(|number| {
            runs(&uses.entries[number])
                && uses.reference(number) != entry
                && uses.direct(number).iter().any(|&used| uses.reference(used) == entry)
        })
    };
    if !lists.pipelines.is_empty() {
        let passes = lists.passes.iter().map(|pass| (pass.entry, pass.pipelines.is_empty()));
        let chains = lists
            .chains
            .iter()
            .filter(|chain| chain.entry.kind == keyword(Kind::Chain))
            .map(|chain| (chain.entry, chain.pipelines.is_empty()));
        for (entry, alone) in passes.chain(chains) {
            if alone && !applied(entry) {
                let message = "no pipeline runs it: it runs when it is named";
                found.push(Finding::note(codes::NO_PIPELINE, entry, message));
            }
        }
    }
    let by_itself = |kind| {
        matches!(
            kind,
            Kind::Pass
                | Kind::Chain
                | Kind::Lint
                | Kind::Order
                | Kind::Pipeline
                | Kind::Measure
                | Kind::Attribute
                | Kind::Never
                | Kind::Always
                | Kind::DefaultAlways
                | Kind::Skip
                | Kind::Checker
                | Kind::Symbols
        )
    };
    let number_of = |wanted: &dyn Fn(Kind) -> bool| -> Vec<usize> {
        (0..uses.entries.len()).filter(|&number| wanted(uses.entries[number].0)).collect()
    };
    // Readers of files ask a function by its name.
    let asked = uses.number(Kind::Fn, Sym::new(TYPE_FUNCTION));
    let live = uses.reached(number_of(&by_itself).into_iter().chain(asked));
    let tested = uses.reached(number_of(&|kind| kind == Kind::Test));
    for number in tested.difference(&live) {
        if matches!(uses.entries[number].0, Kind::Fn | Kind::Walk | Kind::Matrix | Kind::Action) {
            let message = "nothing but tests comes to it";
            found.push(Finding::note(codes::ONLY_TESTS, uses.reference(number), message));
        }
    }
}
