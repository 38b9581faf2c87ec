//! What one `resolve` saw of an anchor: its symbol, its marks, the rules that looked at it.
//!
//! Promise: every partner is looked at, but pairs of which a rule says the same (same verdict, same operator type of
//! the partner, same deciding values) are told once and counted, so a group of ten thousand anchors is a page.

use std::rc::Rc;
use std::sync::Arc;

use super::acts::Wanted;
use super::why::{Frame, Why};
use super::words::Words;
use super::{MarkStory, StepKind, TraceStep, Verdict, VerdictStory};
use crate::db::{self, Roots};
use crate::engine::cells::Cells;
use crate::engine::marks::{self, MarkTable, Place, group_value};
use crate::engine::outcome::{PlaceRef, RuleRef};
use crate::engine::pairs::{Class, PairTable};
use crate::engine::queries::{At, Layer, QueryFailure, mark_table, pair_table, rule, rule_program, symbols};
use crate::engine::render::Renderer;
use crate::engine::run::{Draft, Resolved};
use crate::engine::search::{self, Action, Form, Rule, Search};
use crate::engine::session::Session;
use crate::graph::{Anchor, Group, Snapshot, Sym, Symbols, label};
use crate::lang::eval::{Isolated, Machine, Marks, Value};
use crate::lang::hir::{CheckerAction, Entry};
use crate::lang::syntax::ast::{Kind, Side};

/// Anchors of a group that are named.
const SHARERS: usize = 20;
/// Stories of one rule with one verdict and one operator type of the partner.
const ALIKE: usize = 3;
/// Pairs of that kind whose deciding values are compared before the rest is only counted.
const COMPARED: usize = 24;
/// How deep functions are opened: in a condition that holds or a verdict, and in a condition of a mark that does not
/// hold.
const DEEP: u32 = 4;
const SHALLOW: u32 = 1;

/// One `resolve`, to be asked about anchors.
pub struct Looked<'s> {
    session: &'s Session,
    resolved: &'s Resolved,
    drafts: &'s [Draft],
    table: Arc<Symbols>,
    marks: MarkTable,
    pairs: &'s PairTable,
}

/// The verdicts that are told, with what tells them apart.
#[derive(Default)]
struct Stories {
    told: Vec<(Alike, Vec<String>, VerdictStory)>,
}

/// Pairs that may be told once.
#[derive(Clone, PartialEq, Eq)]
struct Alike {
    rule: RuleRef,
    verdict: Verdict,
    op: Sym,
    is_in: bool,
}

impl<'s> Looked<'s> {
    /// # Errors
    /// The graph cannot be grouped or marked.
    pub fn new(
        session: &'s Session,
        resolved: &'s Resolved,
        drafts: &'s [Draft],
    ) -> Result<Self, QueryFailure> {
        let (db, rules) = (&session.db, session.rules);
        let at = At::new(db, resolved.snapshot.clone());
        let layer = Layer::new(db, at, resolved.symbols, resolved.target);
        let table = symbols(db, rules, layer)?;
        let marks = mark_table(db, rules, layer, |_| true)?;
        let drafts = drafts.get(resolved.drafts.clone()).unwrap_or_default();
        Ok(Looked { session, resolved, drafts, table, marks, pairs: pair_table(db, rules) })
    }

    fn snapshot(&self) -> &'s Snapshot {
        &self.resolved.snapshot
    }

    fn words(&self) -> Words<'s> {
        Words { db: &self.session.db, rules: self.session.rules }
    }

    fn renderer(&self) -> Renderer<'s> {
        Renderer::new(&self.session.db, self.session.rules, self.snapshot())
    }

    fn group(&self, anchor: Anchor) -> Option<(u32, &Group)> {
        let id = self.table.group_of(anchor)?;
        Some((id.0, self.table.group(id)))
    }

    pub fn contains(&self, anchor: Anchor) -> bool {
        self.table.group_of(anchor).is_some()
    }

    /// The conflict of an anchor that the pass answered.
    pub fn draft(&self, anchor: Anchor) -> Option<&'s Draft> {
        self.drafts.iter().find(|draft| matches!(draft, Draft::Conflict { anchor: a, .. } if *a == anchor))
    }

    /// The symbol and how many anchors share it.
    pub fn symbol(&self, anchor: Anchor) -> Option<(String, usize)> {
        let (_, group) = self.group(anchor)?;
        Some((label(self.snapshot(), group.founder), group.members.len()))
    }

    /// The anchors that share the symbol, with their marks, and how many are not named.
    pub fn sharers(&self, anchor: Anchor) -> (Vec<(PlaceRef, Vec<Sym>)>, usize) {
        let Some((_, group)) = self.group(anchor) else { return (Vec::new(), 0) };
        let renderer = self.renderer();
        let others = group.members.iter().filter(|other| **other != anchor);
        let named = others
            .take(SHARERS)
            .map(|&other| (renderer.place(other, String::new()), Marks::list(&self.marks, other)));
        let named: Vec<_> = named.collect();
        let hidden = group.members.len().saturating_sub(1 + named.len());
        (named, hidden)
    }

    /// Every mark of the anchor's side, and why it has it or not.
    pub fn mark_stories(&self, anchor: Anchor) -> Vec<MarkStory> {
        let (db, rules) = (&self.session.db, self.session.rules);
        let side = if anchor.is_in() { Side::Input } else { Side::Output };
        let group = self.group(anchor).map_or(Value::None, |(id, _)| group_value(&self.table, id));
        let own = Marks::list(&self.marks, anchor);
        let mut stories = Vec::new();
        for mark in db::live(db, rules).names(Kind::Attribute) {
            let linked = db::program(db, rules, Roots::of(db, [(Kind::Attribute, mark)]));
            let Some(id) = linked.0.entry(Kind::Attribute, mark) else { continue };
            let condition = match linked.0.hir(id).map(|hir| &**hir) {
                Some(Entry::Attribute { side: of, rule }) if *of == side => rule.as_ref(),
                _ => continue,
            };
            let holds = Marks::has(&self.marks, anchor, mark);
            let mut steps = Vec::new();
            if condition.is_none() {
                let others: Vec<&str> =
                    own.iter().filter(|other| **other != mark).map(|other| other.as_str()).collect();
                let value = match others.as_slice() {
                    [] => "true (it has no other mark)".to_owned(),
                    others => format!("false ({})", others.join(", ")),
                };
                let at = self.words().item(Kind::Attribute, mark);
                let (source, kind) = ("otherwise".to_owned(), StepKind::Part);
                steps.push(TraceStep { depth: 0, source, value, at, kind });
            }
            if let Some((_, condition)) = condition {
                let host = self.session.cells();
                let mut machine = Machine::over(&linked.0, &host, self.snapshot(), self.resolved.target);
                machine.set_marks(Some(Rc::new(self.marks.clone())));
                let slots = marks::frame(
                    self.snapshot().dense(),
                    anchor,
                    anchor.node(),
                    self.resolved.target,
                    group.clone(),
                );
                let deepest = if holds { DEEP } else { SHALLOW };
                let mut why = Why::new(&mut machine, self.words(), deepest);
                why.why(&mut Frame::new(id, &slots), *condition, 0);
                steps = why.steps;
            }
            stories.push(MarkStory { mark, holds, steps });
        }
        stories
    }

    /// Every rule that looked at the anchor.
    ///
    /// # Errors
    /// A rule fails.
    pub fn verdicts(&self, anchor: Anchor) -> Result<Vec<VerdictStory>, QueryFailure> {
        let Some((group, members)) = self.group(anchor) else { return Ok(Vec::new()) };
        let own = Marks::list(&self.marks, anchor);
        let Some(at) = members.members.iter().position(|member| *member == anchor) else {
            return Ok(Vec::new());
        };
        let place = |at: usize| Place { group, at: at as u32, anchor: members.members[at] };
        let mut stories = Stories::default();
        // Partners by rule: a pair may show several pairs of marks of one rule.
        let mut partners: Vec<(Class, Vec<usize>)> =
            self.pairs.rules.iter().map(|rule| (rule.class, Vec::new())).collect();
        for (other, &partner) in members.members.iter().enumerate() {
            if other == at {
                continue;
            }
            for &b in &Marks::list(&self.marks, partner) {
                for &a in &own {
                    match self.pairs.class(a, b) {
                        None => {}
                        Some(Class::Never) => self.never(partner, (a, b), &mut stories),
                        Some(class) => {
                            let list = partners.iter_mut().find(|(known, _)| *known == class);
                            if let Some((_, list)) = list
                                && list.last() != Some(&other)
                            {
                                list.push(other);
                            }
                        }
                    }
                }
            }
        }
        for (class, others) in partners {
            let foreign = self.foreign_pairs(anchor, class);
            self.with_rule(class, |search| {
                match &search.rule.form {
                    Form::Group => {
                        for &other in &others {
                            self.skip(search, class, [place(at), place(other)], &mut stories)?;
                        }
                        if !others.is_empty() || foreign.iter().any(Option::is_none) {
                            self.over_group(search, class, anchor, group, &mut stories)?;
                        }
                    }
                    Form::Pair { .. } => {
                        for &other in &others {
                            self.pair(search, class, anchor, [place(at), place(other)], &mut stories)?;
                        }
                        for (first, second) in foreign.into_iter().flatten() {
                            let find = |anchor| members.members.iter().position(|m| *m == anchor).map(place);
                            if let (Some(first), Some(second)) = (find(first), find(second)) {
                                self.pair(search, class, anchor, [first, second], &mut stories)?;
                            }
                        }
                    }
                }
                Ok(())
            })?;
        }
        let mut told: Vec<VerdictStory> = stories.told.into_iter().map(|(.., story)| story).collect();
        told.sort_by_key(|story| story.verdict);
        Ok(told)
    }

    /// What a rule went by that isolated an anchor, for a pair or for the group; nothing if it does not do so in this graph.
    pub fn decided(
        &self,
        anchor: Anchor,
        class: Class,
        pair: Option<(Anchor, Anchor)>,
    ) -> Option<Vec<TraceStep>> {
        let (group, members) = self.group(anchor)?;
        let place = |anchor| {
            let at = members.members.iter().position(|member| *member == anchor)?;
            Some(Place { group, at: at as u32, anchor })
        };
        let pair = match pair {
            Some((first, second)) => Some([place(first)?, place(second)?]),
            None => None,
        };
        let mut stories = Stories::default();
        let looked = self.with_rule(class, |search| match pair {
            Some(places) => self.pair(search, class, anchor, places, &mut stories),
            None => self.over_group(search, class, anchor, group, &mut stories),
        });
        looked.ok()?;
        let (.., story) = stories.told.pop()?;
        (story.verdict == Verdict::Isolated).then_some(story.steps)
    }

    /// The pairs without the anchor for which a rule isolated it; none for the group.
    fn foreign_pairs(&self, anchor: Anchor, class: Class) -> Vec<Option<(Anchor, Anchor)>> {
        let Some(Draft::Conflict { by, .. }) = self.draft(anchor) else { return Vec::new() };
        by.iter()
            .filter(|(known, _)| *known == class)
            .map(|(_, verdict)| verdict.pair)
            .filter(|pair| pair.is_none_or(|(a, b)| a != anchor && b != anchor))
            .collect()
    }

    /// Runs `ask` with the search of a rule.
    fn with_rule(
        &self,
        class: Class,
        ask: impl FnOnce(&mut Search<'_, '_, '_>) -> Result<(), crate::lang::eval::Failure>,
    ) -> Result<(), QueryFailure> {
        let (db, rules) = (&self.session.db, self.session.rules);
        let linked = rule_program(db, rules, class);
        let Some(rule) = rule(db, rules, class, &linked.0) else { return Ok(()) };
        let target = self.resolved.target;
        let host = Cells { db, rules };
        let mut machine = Machine::over(&linked.0, &host, self.snapshot(), target);
        machine.set_marks(Some(Rc::new(self.marks.clone())));
        let mut search =
            Search { machine: &mut machine, rule: &rule, symbols: &self.table, marks: &self.marks, target };
        ask(&mut search).map_err(|failure| QueryFailure(Arc::new(failure), linked.clone()))
    }

    fn never(&self, partner: Anchor, (a, b): (Sym, Sym), stories: &mut Stories) {
        let name = self.words().never(a, b).unwrap_or_default();
        let rule = RuleRef { kind: Kind::Never, name };
        let place = self.renderer().place(partner, String::new());
        let (alike, story) = self.blank(rule, Verdict::Never, Some(place));
        if !stories.count(&alike) {
            stories.add(alike, Vec::new(), story);
        }
    }

    fn blank(&self, rule: RuleRef, verdict: Verdict, partner: Option<PlaceRef>) -> (Alike, VerdictStory) {
        let alike = Alike {
            rule: rule.clone(),
            verdict,
            op: partner.as_ref().map_or_else(Sym::default, |place| place.op),
            is_in: partner.as_ref().and_then(|place| place.anchor).is_some_and(|anchor| anchor.is_in()),
        };
        let story =
            VerdictStory { rule, partner, beside: None, more: 0, verdict, reason: None, steps: Vec::new() };
        (alike, story)
    }

    /// One rule on one pair. The anchor asked about is one of the two, or a third that the rule isolates.
    fn pair(
        &self,
        search: &mut Search<'_, '_, '_>,
        class: Class,
        anchor: Anchor,
        [x, y]: [Place; 2],
        stories: &mut Stories,
    ) -> Result<(), crate::lang::eval::Failure> {
        let renderer = self.renderer();
        let is_own = x.anchor == anchor;
        let (partner, beside) = if is_own { (y.anchor, None) } else { (x.anchor, Some(y.anchor)) };
        if beside.is_none() && self.skip(search, class, [x, y], stories)? {
            return Ok(());
        }
        let (frame, isolated) = search.try_one(&x, &y)?;
        let named = |wanted: Anchor| isolated.iter().any(|one| one.anchor == wanted);
        let verdict = match () {
            () if isolated.is_empty() => Verdict::NoConflict,
            () if named(anchor) => Verdict::Isolated,
            () if named(partner) => Verdict::PartnerIsolated,
            () => Verdict::OthersIsolated,
        };
        let place = renderer.place(partner, String::new());
        let (alike, mut story) = self.blank(renderer.rule_ref(class), verdict, Some(place));
        story.beside = beside.map(|other| renderer.place(other, String::new()));
        if beside.is_none() && stories.count(&alike) {
            return Ok(());
        }
        let (first, second) = if x.at < y.at { (x, y) } else { (y, x) };
        let own = isolated.iter().find(|one| one.anchor == anchor).or(isolated.first());
        story.reason =
            own.map(|one| renderer.reason(class, &verdict_of(one, Some((first.anchor, second.anchor)))));
        let mut why = Why::new(search.machine, self.words(), DEEP);
        tell_rule(&mut why, search.rule, &frame, (anchor, wanted(verdict)));
        let shape = shape(&why);
        story.steps = why.steps;
        stories.add(alike, shape, story);
        Ok(())
    }

    /// Tells the `skip` entry that takes a pair out, if one does. The second place is the partner's.
    fn skip(
        &self,
        search: &mut Search<'_, '_, '_>,
        class: Class,
        [x, y]: [Place; 2],
        stories: &mut Stories,
    ) -> Result<bool, crate::lang::eval::Failure> {
        let Some(skipped) = search.skip_of(&x, &y)? else { return Ok(false) };
        let Some((kind, name)) = search.machine.program().key(skipped.entry) else { return Ok(true) };
        let renderer = self.renderer();
        let place = renderer.place(y.anchor, String::new());
        let (alike, mut story) = self.blank(RuleRef { kind, name }, Verdict::Skipped, Some(place));
        // Several rules may be kept from one pair.
        if stories.knows(&alike, y.anchor) || stories.count(&alike) {
            return Ok(true);
        }
        let (db, rules) = (&self.session.db, self.session.rules);
        if let Some(Entry::Skip { reason: Some(text), .. }) =
            db::entry(db, rules, db::EntryName::new(db, kind, name)).as_deref()
        {
            let linked = rule_program(db, rules, class);
            story.reason = Some(renderer.text((kind, name), Some(*text), &skipped.frame, linked));
        }
        let mut why = Why::new(search.machine, self.words(), DEEP);
        why.why(&mut Frame::new(skipped.entry, &skipped.frame), skipped.when, 0);
        let shape = shape(&why);
        story.steps = why.steps;
        stories.add(alike, shape, story);
        Ok(true)
    }

    fn over_group(
        &self,
        search: &mut Search<'_, '_, '_>,
        class: Class,
        anchor: Anchor,
        group: u32,
        stories: &mut Stories,
    ) -> Result<(), crate::lang::eval::Failure> {
        if !search.shows_pair(group)? {
            return Ok(());
        }
        let found = search.run_group(group)?.isolated;
        let own = found.iter().find(|verdict| verdict.anchor == anchor);
        let verdict = match () {
            () if own.is_some() => Verdict::Isolated,
            () if !found.is_empty() => Verdict::OthersIsolated,
            () => Verdict::NoConflict,
        };
        let (alike, mut story) = self.blank(self.renderer().rule_ref(class), verdict, None);
        story.reason = own.or(found.first()).map(|verdict| self.renderer().reason(class, verdict));
        let frame = [group_value(&self.table, group), Value::Graph(self.resolved.target)];
        let mut why = Why::new(search.machine, self.words(), DEEP);
        tell_rule(&mut why, search.rule, &frame, (anchor, wanted(verdict)));
        story.steps = why.steps;
        stories.add(alike, Vec::new(), story);
        Ok(())
    }
}

/// The condition of a rule, and what it does if the condition holds.
fn tell_rule(why: &mut Why<'_, '_, '_>, rule: &Rule, slots: &[Value], subject: (Anchor, Wanted)) {
    let mut frame = Frame::new(rule.entry, slots);
    if let Some(when) = rule.when {
        why.why(&mut frame, when, 0);
        if !why.truth(&frame, when) {
            return;
        }
    }
    match rule.action {
        Action::Isolate { target, .. } => {
            let value = why.value(&frame, target);
            let (source, _) = why.words.expression(why.machine.program(), frame.entry, target);
            let text = why.show(&value);
            why.step(&frame, target, 0, format!("isolate {source}"), text);
            why.how_inside(&mut frame, target, 1);
        }
        Action::Body => {
            let hir = why.machine.program().hir(rule.entry);
            if let Some(Entry::Checker(checker)) = hir.map(|hir| &**hir)
                && let CheckerAction::Body(block) = &checker.action
            {
                why.acts(&mut frame, block, subject, 0);
            }
        }
    }
}

/// The parts of a rule's body that belong to its verdict.
fn wanted(verdict: Verdict) -> Wanted {
    match verdict {
        Verdict::Isolated => Wanted::IsolatingSubject,
        Verdict::PartnerIsolated | Verdict::OthersIsolated => Wanted::Isolating,
        Verdict::NoConflict | Verdict::Skipped | Verdict::Never => Wanted::Any,
    }
}

fn verdict_of(one: &Isolated, pair: Option<(Anchor, Anchor)>) -> search::Verdict {
    search::Verdict {
        anchor: one.anchor,
        pair,
        shows: Vec::new(),
        reason: one.reason,
        frame: one.frame.clone(),
    }
}

/// What a story says apart from the names in it.
fn shape(why: &Why<'_, '_, '_>) -> Vec<String> {
    why.shape.iter().map(|(entry, expr, text)| format!("{}.{expr} {text}", entry.0)).collect()
}

impl Stories {
    /// Whether a partner's story has been told by itself.
    fn knows(&self, alike: &Alike, partner: Anchor) -> bool {
        self.told.iter().any(|(known, _, story)| {
            known == alike && story.partner.as_ref().is_some_and(|place| place.anchor == Some(partner))
        })
    }

    /// Counts a pair of a kind that has been told often enough. False: it is to be told or compared.
    fn count(&mut self, alike: &Alike) -> bool {
        let told = || self.told.iter().enumerate().filter(|(_, (known, ..))| known == alike);
        let seen: usize = told().map(|(_, (.., story))| 1 + story.more).sum();
        let Some((last, _)) = told().next_back() else { return false };
        // What follows from a name alone is the same for all.
        let settled = alike.verdict == Verdict::Never || seen >= COMPARED;
        if settled {
            self.told[last].2.more += 1;
        }
        settled
    }

    /// Tells a story, or counts it with one that says the same.
    fn add(&mut self, alike: Alike, shape: Vec<String>, story: VerdictStory) {
        let mut same = self.told.iter_mut().filter(|(known, ..)| *known == alike);
        if story.beside.is_none() {
            let told = same.by_ref().map(|(_, known, story)| (&*known, story)).collect::<Vec<_>>();
            let full = told.len() >= ALIKE;
            let mut last = None;
            for (known, story) in told {
                if *known == shape {
                    story.more += 1;
                    return;
                }
                last = Some(story);
            }
            if let (true, Some(story)) = (full, last) {
                story.more += 1;
                return;
            }
        }
        self.told.push((alike, shape, story));
    }
}
