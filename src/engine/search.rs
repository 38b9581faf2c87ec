//! Looking for conflicts inside groups (`layout.md` 6).
//!
//! Promise: what a rule isolates is what trying every pair would isolate, at a cost that does not grow with the
//! square of a group. A rule is run only in groups that hold a pair of its marks. Where both sides are many,
//! anchors that the rule cannot tell apart ([`super::sides`]) are looked at once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::marks::{MarkTable, Place, anchor_value, group_value};
use super::sides::{Leaf, Origin};
use crate::graph::{Anchor, GraphId, Sym, Symbols};
use crate::lang::eval::{EntryId, Failure, Isolated, Machine, Marks, Reads, VERDICT, Value};
use crate::lang::hir::{CheckerAction, Entry, ExprId, TextId};

/// Below this many pairs each pair is tried.
const FEW_PAIRS: usize = 256;

/// A rule, ready to be run on groups. Built from an `always` entry or a checker.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The entry whose body is run.
    pub entry: EntryId,
    pub pairs: Vec<(Sym, Sym)>,
    pub form: Form,
    pub when: Option<ExprId>,
    pub action: Action,
    /// Conditions of `skip` entries; frames {first, second, group, target}.
    pub skips: Vec<(EntryId, ExprId)>,
    /// What `when` and the target of an `isolate` read of each side, and `skips` likewise.
    pub leaves: Vec<(EntryId, Leaf)>,
    pub skip_leaves: Vec<(EntryId, Leaf)>,
    /// The rule reads edges, so its verdicts may go stale when copies are inserted.
    pub reads_edges: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Marks of role 1; whether it prefers the second anchor.
    Pair {
        last: bool,
        role: Vec<Sym>,
    },
    Group,
}

#[derive(Clone, Debug)]
pub enum Action {
    Isolate { target: ExprId, reason: Option<TextId> },
    Body,
}

/// What one rule found in one group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupVerdict {
    pub group: u32,
    pub isolated: Vec<Verdict>,
    /// Recorded for rules that read edges.
    pub reads: Option<Reads>,
}

/// One anchor that one rule isolates, and the first pair for which it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub anchor: Anchor,
    /// The pair in group order; `None` for a rule over the group.
    pub pair: Option<(Anchor, Anchor)>,
    /// Marks that brought the rule here, by anchor.
    pub shows: Vec<(Anchor, Sym)>,
    pub reason: Option<TextId>,
    /// The frame to render the reason in.
    pub frame: Arc<[Value]>,
}

impl Verdict {
    /// The marks of `anchor` that brought the rule here.
    pub fn marks(&self, anchor: Anchor) -> impl Iterator<Item = Sym> + '_ {
        self.shows.iter().filter(move |(a, _)| *a == anchor).map(|(_, mark)| *mark)
    }
}

/// A pair that a `skip` entry takes out.
pub struct Skipped {
    pub entry: EntryId,
    pub when: ExprId,
    /// {first, second, group, target}
    pub frame: [Value; 4],
}

/// The search of one rule over one symbol table.
pub struct Search<'m, 'p, 'r> {
    pub machine: &'m mut Machine<'p>,
    pub rule: &'r Rule,
    pub symbols: &'r Arc<Symbols>,
    pub marks: &'r MarkTable,
    pub target: GraphId,
}

/// What is known of a pair of signatures, for one order of the two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    First,
    Second,
    /// The rule isolates something else: try every pair.
    Other,
}

type Found = FxHashMap<Anchor, (u32, Verdict)>;

/// The places that carry each mark of a pair of marks.
type Sides = (Vec<Place>, Vec<Place>, (Sym, Sym));

impl Search<'_, '_, '_> {
    /// Groups that hold a pair of the rule's marks, ascending.
    fn groups(&self) -> Vec<u32> {
        let mut groups = Vec::new();
        for &(a, b) in &self.rule.pairs {
            let (Some(a), Some(b)) = (self.marks.list(a), self.marks.list(b)) else { continue };
            let (few, many) = if a.places.len() <= b.places.len() { (a, b) } else { (b, a) };
            let same = a.mark == b.mark;
            let mut rest = &few.places[..];
            while let Some(first) = rest.first() {
                let group = first.group;
                let here = rest.partition_point(|place| place.group == group);
                rest = &rest[here..];
                if if same { here > 1 } else { !many.in_group(group).is_empty() } {
                    groups.push(group);
                }
            }
        }
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// Runs the rule on every group that may hold a conflict. Groups without a verdict are left out, unless what
    /// was read must be remembered.
    pub fn run(&mut self) -> Result<Vec<GroupVerdict>, Failure> {
        let mut verdicts = Vec::new();
        for group in self.groups() {
            let verdict = self.run_group(group)?;
            if !verdict.isolated.is_empty() || verdict.reads.is_some() {
                verdicts.push(verdict);
            }
        }
        Ok(verdicts)
    }

    /// Runs the rule on one group.
    pub fn run_group(&mut self, group: u32) -> Result<GroupVerdict, Failure> {
        if self.rule.reads_edges {
            self.machine.record_reads();
        }
        let isolated = match &self.rule.form {
            Form::Group => self.over_group(group),
            Form::Pair { .. } => self.over_pairs(group, FEW_PAIRS),
        };
        if let Ok(isolated) = &isolated {
            self.machine.decide(self.rule.entry, VERDICT, !isolated.is_empty());
        }
        let reads = self.rule.reads_edges.then(|| self.machine.take_reads());
        Ok(GroupVerdict { group, isolated: isolated?, reads })
    }

    /// Tries every pair: the definition that the fast way must agree with.
    #[cfg(test)]
    pub fn run_group_naive(&mut self, group: u32) -> Result<Vec<Verdict>, Failure> {
        match &self.rule.form {
            Form::Group => self.over_group(group),
            Form::Pair { .. } => self.over_pairs(group, usize::MAX),
        }
    }

    /// Whether a group shows a pair that a rule over groups is about.
    pub fn shows_pair(&mut self, group: u32) -> Result<bool, Failure> {
        let group_value = group_value(self.symbols, group);
        for (xs, ys, (a, b)) in self.sides(group) {
            if self.some_pair(&xs, &ys, a == b, &group_value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn over_group(&mut self, group: u32) -> Result<Vec<Verdict>, Failure> {
        let group_value = group_value(self.symbols, group);
        if !self.shows_pair(group)? {
            return Ok(Vec::new());
        }
        let frame = [group_value, Value::Graph(self.target)];
        if !self.holds(&frame)? {
            return Ok(Vec::new());
        }
        let isolated = self.act(&frame)?;
        let mut found = Found::default();
        for one in isolated {
            let anchor = one.anchor;
            add(&mut found, anchor, 0, || {
                let shows = Marks::list(self.marks, anchor).into_iter().map(|mark| (anchor, mark)).collect();
                Verdict { anchor, pair: None, shows, reason: one.reason, frame: one.frame.clone() }
            });
        }
        Ok(sorted(found))
    }

    /// The places of both sides of each of the rule's pairs in a group.
    fn sides(&self, group: u32) -> Vec<Sides> {
        let mut sides = Vec::new();
        for &(a, b) in &self.rule.pairs {
            let (Some(x), Some(y)) = (self.marks.list(a), self.marks.list(b)) else { continue };
            let (xs, ys) = (x.in_group(group), y.in_group(group));
            if !xs.is_empty() && !ys.is_empty() {
                sides.push((xs.to_vec(), ys.to_vec(), (a, b)));
            }
        }
        sides
    }

    /// Whether some pair of different anchors is not skipped.
    fn some_pair(&mut self, xs: &[Place], ys: &[Place], same: bool, group: &Value) -> Result<bool, Failure> {
        if xs.len().saturating_mul(ys.len()) <= FEW_PAIRS {
            for x in xs {
                for y in ys {
                    if x.at != y.at && (!same || x.at < y.at) && !self.skipped(x, y, group)? {
                        return Ok(true);
                    }
                }
            }
            return Ok(false);
        }
        let x_classes = self.classes(xs, group, true)?;
        let y_classes = self.classes(ys, group, true)?;
        for xs in &x_classes.members {
            for ys in &y_classes.members {
                // One pair of either order speaks for all of that order: the first of the one and the last of the other.
                for (firsts, seconds) in [(xs, ys), (ys, xs)] {
                    if let (Some(x), Some(y)) = (firsts.first(), seconds.last())
                        && x.at < y.at
                        && !self.skipped(x, y, group)?
                    {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    fn skipped(&mut self, x: &Place, y: &Place, group: &Value) -> Result<bool, Failure> {
        Ok(self.skipped_by(x, y, group)?.is_some())
    }

    /// The `skip` entry that takes a pair out, with its condition and frame.
    fn skipped_by(&mut self, x: &Place, y: &Place, group: &Value) -> Result<Option<Skipped>, Failure> {
        let (first, second) = if x.at < y.at { (x, y) } else { (y, x) };
        let frame = [
            anchor_value(first.anchor),
            anchor_value(second.anchor),
            group.clone(),
            Value::Graph(self.target),
        ];
        for &(entry, when) in &self.rule.skips {
            if self.machine.test(entry, when, &frame)? {
                return Ok(Some(Skipped { entry, when, frame }));
            }
        }
        Ok(None)
    }

    /// The `skip` entry that takes a pair out, if one does.
    pub fn skip_of(&mut self, x: &Place, y: &Place) -> Result<Option<Skipped>, Failure> {
        self.skipped_by(x, y, &group_value(self.symbols, x.group))
    }

    /// What the rule does with one pair by itself, were it not skipped. Nothing is isolated if the condition does
    /// not hold.
    pub fn try_one(&mut self, x: &Place, y: &Place) -> Result<([Value; 6], Vec<Isolated>), Failure> {
        let group = group_value(self.symbols, x.group);
        let frame = self.pair_frame(x, y, &group);
        if let Some(when) = self.rule.when
            && !self.machine.test(self.rule.entry, when, &frame)?
        {
            return Ok((frame, Vec::new()));
        }
        let isolated = self.act(&frame)?;
        Ok((frame, isolated))
    }

    fn over_pairs(&mut self, group: u32, few: usize) -> Result<Vec<Verdict>, Failure> {
        let group_value = group_value(self.symbols, group);
        let mut found = Found::default();
        for (xs, ys, shown) in self.sides(group) {
            let same = shown.0 == shown.1;
            if xs.len().saturating_mul(ys.len()) <= few {
                for x in &xs {
                    for y in &ys {
                        if x.at != y.at && (!same || x.at < y.at) {
                            self.try_pair(x, y, shown, &group_value, &mut found)?;
                        }
                    }
                }
            } else {
                self.by_classes(&xs, &ys, shown, &group_value, &mut found)?;
            }
        }
        Ok(sorted(found))
    }

    /// The rule's condition, if it has one.
    fn holds(&mut self, frame: &[Value]) -> Result<bool, Failure> {
        let Some(when) = self.rule.when else { return Ok(true) };
        #[cfg(test)]
        super::search_tests::count();
        self.machine.test(self.rule.entry, when, frame)
    }

    /// {first, second, group, target, role 1, role 2}
    fn pair_frame(&self, x: &Place, y: &Place, group: &Value) -> [Value; 6] {
        let (first, second) = if x.at < y.at { (x.anchor, y.anchor) } else { (y.anchor, x.anchor) };
        let (one, two) = match &self.rule.form {
            Form::Group => (first, second),
            Form::Pair { last, role } => {
                let plays = |anchor| role.iter().any(|&mark| Marks::has(self.marks, anchor, mark));
                let takes_second = if *last { plays(second) } else { !plays(first) };
                if takes_second { (second, first) } else { (first, second) }
            }
        };
        [
            anchor_value(first),
            anchor_value(second),
            group.clone(),
            Value::Graph(self.target),
            anchor_value(one),
            anchor_value(two),
        ]
    }

    fn try_pair(
        &mut self,
        x: &Place,
        y: &Place,
        shown: (Sym, Sym),
        group: &Value,
        found: &mut Found,
    ) -> Result<(), Failure> {
        if self.skipped(x, y, group)? {
            return Ok(());
        }
        let frame = self.pair_frame(x, y, group);
        if !self.holds(&frame)? {
            return Ok(());
        }
        self.apply(x, y, shown, &frame, found)
    }

    /// Runs the action on a pair whose condition holds.
    fn apply(
        &mut self,
        x: &Place,
        y: &Place,
        shown: (Sym, Sym),
        frame: &[Value; 6],
        found: &mut Found,
    ) -> Result<(), Failure> {
        let (first, second) = if x.at < y.at { (x, y) } else { (y, x) };
        let pair = Some((first.anchor, second.anchor));
        let shows = || vec![(x.anchor, shown.0), (y.anchor, shown.1)];
        match self.rule.action {
            Action::Isolate { target, reason } => {
                let value = self.machine.eval(self.rule.entry, target, frame)?;
                if let Some(anchor) = value.as_anchor() {
                    let partner = if anchor == first.anchor { second.at } else { first.at };
                    add(found, anchor, partner, || Verdict {
                        anchor,
                        pair,
                        shows: shows(),
                        reason,
                        frame: frame.to_vec().into(),
                    });
                }
            }
            Action::Body => {
                for one in self.act(frame)? {
                    let partner = if one.anchor == first.anchor { second.at } else { first.at };
                    let (anchor, reason) = (one.anchor, one.reason);
                    add(found, anchor, partner, || Verdict {
                        anchor,
                        pair,
                        shows: shows(),
                        reason,
                        frame: one.frame.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    fn act(&mut self, frame: &[Value]) -> Result<Vec<Isolated>, Failure> {
        match self.rule.action {
            Action::Body => {
                let entry = self.rule.entry;
                let hir = self.machine.program().hir(entry).cloned();
                if let Some(Entry::Checker(checker)) = hir.as_deref()
                    && let CheckerAction::Body(block) = &checker.action
                {
                    self.machine.run(entry, block, frame)?;
                }
                Ok(self.machine.take_isolated())
            }
            Action::Isolate { target, reason } => {
                let value = self.machine.eval(self.rule.entry, target, frame)?;
                let frame: Arc<[Value]> = frame.to_vec().into();
                let entry = self.rule.entry;
                Ok(value
                    .as_anchor()
                    .into_iter()
                    .map(|anchor| Isolated { entry, anchor, reason, frame: frame.clone() })
                    .collect())
            }
        }
    }

    /// The fast way: one look per pair of signatures.
    fn by_classes(
        &mut self,
        xs: &[Place],
        ys: &[Place],
        shown: (Sym, Sym),
        group: &Value,
        found: &mut Found,
    ) -> Result<(), Failure> {
        let x_classes = self.classes(xs, group, false)?;
        let y_classes = self.classes(ys, group, false)?;
        for cx in 0..x_classes.members.len() {
            for cy in 0..y_classes.members.len() {
                self.class_pair(&x_classes.members[cx], &y_classes.members[cy], shown, group, found)?;
            }
        }
        Ok(())
    }

    fn class_pair(
        &mut self,
        xs: &[Place],
        ys: &[Place],
        shown: (Sym, Sym),
        group: &Value,
        found: &mut Found,
    ) -> Result<(), Failure> {
        let x_first = self.known(xs, ys, group)?;
        let y_first = self.known(ys, xs, group)?;
        if x_first == Known::Nothing && y_first == Known::Nothing {
            return Ok(());
        }
        if x_first == Known::Other || y_first == Known::Other || matches!(self.rule.action, Action::Body) {
            for x in xs {
                for y in ys {
                    // Also if both are found already: the pair may isolate a third anchor.
                    if x.at != y.at {
                        self.try_pair(x, y, shown, group, found)?;
                    }
                }
            }
            return Ok(());
        }
        // Each anchor needs one partner only: the first that is not skipped.
        let sides = [
            (xs, ys, x_first == Known::First, y_first == Known::Second, shown),
            (ys, xs, y_first == Known::First, x_first == Known::Second, (shown.1, shown.0)),
        ];
        for (side, others, ahead, behind, shown) in sides {
            // A skip may tell the first from the second, so the order is part of what is remembered.
            let mut skip_class: FxHashMap<(u32, bool), bool> = FxHashMap::default();
            let classes = if ahead || behind { self.classes(others, group, true)?.of } else { Vec::new() };
            for x in side.iter().filter(|x| !found.contains_key(&x.anchor)).copied().collect::<Vec<_>>() {
                skip_class.clear();
                // `others` is in group order, so what stands before `x` and what behind it are two stretches.
                let before = others.partition_point(|y| y.at < x.at);
                let after = others.partition_point(|y| y.at <= x.at);
                let before = if behind { 0..before } else { 0..0 };
                let after = if ahead { after..others.len() } else { 0..0 };
                for at in before.chain(after) {
                    let y = &others[at];
                    let class = (classes[at], x.at < y.at);
                    let skipped = match skip_class.get(&class) {
                        Some(&known) => known,
                        None => {
                            let skipped = self.skipped(&x, y, group)?;
                            skip_class.insert(class, skipped);
                            skipped
                        }
                    };
                    if !skipped {
                        let frame = self.pair_frame(&x, y, group);
                        self.apply(&x, y, shown, &frame, found)?;
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// What the rule does with a pair of two classes when a member of `firsts` stands first. `Nothing` also when
    /// no such pair exists.
    fn known(&mut self, firsts: &[Place], seconds: &[Place], group: &Value) -> Result<Known, Failure> {
        let Some(x) = firsts.first() else { return Ok(Known::Nothing) };
        let Some(y) = seconds.iter().rev().find(|y| y.at > x.at) else { return Ok(Known::Nothing) };
        let frame = self.pair_frame(x, y, group);
        if !self.holds(&frame)? {
            return Ok(Known::Nothing);
        }
        let Action::Isolate { target, .. } = self.rule.action else { return Ok(Known::Other) };
        let value = self.machine.eval(self.rule.entry, target, &frame)?;
        Ok(match value.as_anchor() {
            None => Known::Nothing,
            Some(anchor) if anchor == x.anchor => Known::First,
            Some(anchor) if anchor == y.anchor => Known::Second,
            Some(_) => Known::Other,
        })
    }

    /// Sorts places into classes of equal signature, in order of first appearance.
    fn classes(&mut self, places: &[Place], group: &Value, skip: bool) -> Result<Classes, Failure> {
        let rule = self.rule;
        let leaves = if skip { &rule.skip_leaves } else { &rule.leaves };
        #[allow(
            clippy::mutable_key_type,
            reason = "what a value caches inside does not take part in its hash"
        )]
        let mut numbers: FxHashMap<Vec<Value>, u32> = FxHashMap::default();
        let mut classes = Classes { of: Vec::with_capacity(places.len()), members: Vec::new() };
        for place in places {
            let mut signature = Vec::with_capacity(leaves.len() + 1);
            if let Form::Pair { role, .. } = &rule.form
                && !skip
            {
                let plays = role.iter().any(|&mark| Marks::has(self.marks, place.anchor, mark));
                signature.push(Value::Bool(plays));
            }
            for (entry, leaf) in leaves {
                signature.push(self.leaf(*entry, leaf, place, group)?);
            }
            let next = classes.members.len() as u32;
            let class = *numbers.entry(signature).or_insert(next);
            if class == next {
                classes.members.push(Vec::new());
            }
            classes.members[class as usize].push(*place);
            classes.of.push(class);
        }
        Ok(classes)
    }

    fn leaf(&mut self, entry: EntryId, leaf: &Leaf, place: &Place, group: &Value) -> Result<Value, Failure> {
        let anchor = anchor_value(place.anchor);
        let frame: Vec<Value> = leaf
            .origins
            .iter()
            .map(|origin| match origin {
                Some(Origin::Side(_)) => anchor.clone(),
                Some(Origin::Context(2)) => group.clone(),
                Some(Origin::Context(_)) => Value::Graph(self.target),
                None => Value::None,
            })
            .collect();
        self.machine.eval(entry, leaf.expr, &frame)
    }
}

struct Classes {
    of: Vec<u32>,
    members: Vec<Vec<Place>>,
}

/// Keeps, for each anchor, the verdict with the first partner.
fn add(found: &mut Found, anchor: Anchor, partner: u32, verdict: impl FnOnce() -> Verdict) {
    match found.entry(anchor) {
        std::collections::hash_map::Entry::Vacant(free) => {
            free.insert((partner, verdict()));
        }
        std::collections::hash_map::Entry::Occupied(mut taken) => {
            if partner < taken.get().0 {
                taken.insert((partner, verdict()));
            }
        }
    }
}

fn sorted(found: Found) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = found.into_values().map(|(_, verdict)| verdict).collect();
    verdicts.sort_by_key(|verdict| verdict.anchor);
    verdicts
}
