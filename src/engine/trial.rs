//! Would joining two tracked groups create a conflict? (`layout.md` 11)
//!
//! Promise: the answer is that of a search through the joined group on the state as it is now, and most questions are
//! answered without one. Of each group it is counted how many anchors *may* carry each mark: for sure where a mark
//! depends on what nodes say of themselves, and for every anchor where it depends on the group, on edges or on other
//! marks. Counts are added up when groups are merged. Where no rule is about two marks that are there, nothing conflicts.
//! A pass depends on what is done about the pairs of marks that met in its questions, and on no other pair; on the conditions of
//! marks it depends through the answers alone ([`super::asked`]).

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::asked::{Log, Question, Way};
use super::cells::{Cells, Indexed};
use super::marks::{MarkList, MarkTable, Place, anchor_value, group_value};
use super::pairs::Class;
use super::queries::{QueryFailure, class_of, is_edge_fact, rule, rule_program};
use super::search::{Rule, Search};
use crate::db::{Linked, names};
use crate::graph::{Anchor, Counts, GraphId, Group, Snapshot, Sym, Symbols};
use crate::lang::eval::{EntryId, Failure, Machine, Program, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::{Body, Entry, Expr, ExprId};
use crate::lang::syntax::ast::{Kind, Side};

/// All marks, ready to be asked of groups, and the rules that came into question.
pub struct Judge<'a> {
    cells: &'a Cells<'a>,
    /// What the pass began with.
    before: &'a Snapshot,
    conditions: &'a Linked,
    /// In declaration order.
    attributes: Vec<Attribute>,
    /// The rule of each pair of attributes; where they have not met yet, nothing.
    classes: Vec<Cell<Option<Option<Class>>>>,
    ready: RefCell<FxHashMap<Class, Ready<'a>>>,
    /// Counts marks in a state, with what [`Machine::facts`] was there.
    counter: RefCell<Option<(u64, Machine<'a>)>>,
    log: RefCell<Log>,
}

/// A rule of pairs with its program; none if it cannot be run.
type Ready<'a> = Option<(&'a Linked, Rc<Rule>)>;

struct Attribute {
    mark: Sym,
    side: Side,
    entry: EntryId,
    /// `None`: what no other attribute of the side applies to.
    condition: Option<ExprId>,
    /// The condition reads the group.
    by_group: bool,
    /// It rests on nothing but what nodes and tensors say of themselves.
    steady: bool,
}

impl<'a> Judge<'a> {
    /// `conditions`: those of all attributes, linked.
    pub fn new(cells: &'a Cells<'a>, before: &'a Snapshot, conditions: &'a Linked) -> Judge<'a> {
        let linked = &conditions.0;
        let attribute = |&mark: &Sym| {
            let entry = linked.entry(Kind::Attribute, mark)?;
            let Entry::Attribute { side, rule } = &**linked.hir(entry)? else { return None };
            let condition = rule.as_ref().map(|(_, condition)| *condition);
            let by_group =
                rule.as_ref().is_some_and(|(body, _)| body.exprs.contains(&Expr::Local(super::marks::GROUP)));
            let steady = !by_group && rule.as_ref().is_none_or(|(body, _)| is_steady(linked, body));
            Some(Attribute { mark, side: *side, entry, condition, by_group, steady })
        };
        let attributes: Vec<Attribute> =
            names(cells.db, cells.rules, Kind::Attribute).iter().filter_map(attribute).collect();
        let classes = vec![Cell::new(None); attributes.len() * attributes.len()];
        let (ready, counter, log) = Default::default();
        Judge { cells, before, conditions, attributes, classes, ready, counter, log }
    }

    /// What has been asked.
    pub fn into_log(self) -> Log {
        self.log.into_inner()
    }

    /// The rule of a pair of attributes that have met.
    fn class(&self, x: usize, y: usize) -> Option<Class> {
        let known = &self.classes[x * self.attributes.len() + y];
        known.get().unwrap_or_else(|| {
            let class =
                class_of(self.cells.db, self.cells.rules, self.attributes[x].mark, self.attributes[y].mark);
            known.set(Some(class));
            class
        })
    }

    /// The rules that marks may bring in, in the order in which their pairs are met.
    fn suspects(&self, counts: &Counts) -> Vec<Class> {
        let mut suspects = Vec::new();
        for x in (0..counts.len()).filter(|&x| counts[x] > 0) {
            for y in (x..counts.len()).filter(|&y| counts[y] > u32::from(x == y)) {
                match self.class(x, y) {
                    Some(class) if class != Class::Never && !suspects.contains(&class) => {
                        suspects.push(class)
                    }
                    _ => {}
                }
            }
        }
        suspects
    }

    /// Whether joining the groups of two anchors would conflict. `None`: one of them has no group.
    pub fn ask(
        &self,
        machine: &mut Machine<'_>,
        target: GraphId,
        (first, second): (Anchor, Anchor),
    ) -> Result<Option<bool>, QueryFailure> {
        let Some(tracked) = machine.tracked() else { return Ok(None) };
        let (Some(a), Some(b)) = (tracked.group(first), tracked.group(second)) else { return Ok(None) };
        let answer = self.answer(machine, target, first, (a, b));
        if answer.is_err() {
            self.log.borrow_mut().lose();
        }
        answer.map(Some)
    }

    fn answer(
        &self,
        machine: &mut Machine<'_>,
        target: GraphId,
        first: Anchor,
        (a, b): (u32, u32),
    ) -> Result<bool, QueryFailure> {
        let mut counts = self.counts(machine, a, target)?;
        let mut members = members(machine, a);
        if a != b {
            let more = self.counts(machine, b, target)?;
            counts.iter_mut().zip(&more).for_each(|(count, more)| *count += more);
            members.extend(self::members(machine, b));
        }
        let suspects = self.suspects(&counts);
        let question = Question { target, first, members: &members };
        if suspects.is_empty() {
            self.log.borrow_mut().add(machine, question, Way::Counted);
            return Ok(false);
        }
        let host = Indexed::new(*self.cells);
        let mut counter = self.counter(machine);
        let mut marking = machine.beside(&self.conditions.0, &host);
        let answer = self.search((&mut marking, &mut counter), &host, question, &suspects);
        machine.spend_as(&marking);
        self.keep_counter(machine, counter);
        let answer = answer?;
        self.log.borrow_mut().add(machine, question, Way::Searched(answer));
        Ok(answer)
    }

    /// The answer to a question in the state of `machine`, which runs the conditions. `None`: that takes a search.
    pub fn count_again(
        &self,
        machine: &mut Machine<'_>,
        question: Question<'_>,
    ) -> Result<Option<bool>, QueryFailure> {
        let counts = self.count(machine, question.members, question.target);
        let suspects = self.suspects(&counts.map_err(|failure| self.failure(failure))?);
        Ok(suspects.is_empty().then_some(false))
    }

    /// The answer to a question that may take a search: two machines that run the conditions, in one state.
    pub fn search_again(
        &self,
        (machine, counter): (&mut Machine<'_>, &mut Machine<'_>),
        host: &Indexed<'_>,
        question: Question<'_>,
    ) -> Result<bool, QueryFailure> {
        let counts = self.count(counter, question.members, question.target);
        let suspects = self.suspects(&counts.map_err(|failure| self.failure(failure))?);
        self.search((machine, counter), host, question, &suspects)
    }

    fn failure(&self, failure: Failure) -> QueryFailure {
        QueryFailure(Arc::new(failure), self.conditions.clone())
    }

    /// Looks through a group for a conflict, on the state of `machine`. Both machines run the conditions.
    fn search(
        &self,
        (machine, counter): (&mut Machine<'_>, &mut Machine<'_>),
        host: &Indexed<'_>,
        question: Question<'_>,
        suspects: &[Class],
    ) -> Result<bool, QueryFailure> {
        let Cells { db, rules } = *self.cells;
        let (target, members) = (question.target, question.members.to_vec());
        let table = Arc::new(Symbols::new(vec![Group { founder: question.first, members }]));
        let marks =
            self.marks((machine, counter), target, &table).map_err(|failure| self.failure(failure))?;
        for &class in suspects {
            let ready = || {
                let linked = rule_program(db, rules, class);
                Some((linked, Rc::new(rule(db, rules, class, &linked.0)?)))
            };
            let ready = self.ready.borrow_mut().entry(class).or_insert_with(ready).clone();
            let Some((linked, rule)) = ready else { continue };
            let mut beside = machine.beside(&linked.0, host);
            beside.set_marks(Some(Rc::new(marks.clone())));
            let found =
                Search { machine: &mut beside, rule: &rule, symbols: &table, marks: &marks, target }.run();
            machine.spend_as(&beside);
            let found = found.map_err(|failure| QueryFailure(Arc::new(failure), linked.clone()))?;
            if found.iter().any(|verdict| !verdict.isolated.is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many anchors of a tracked group may carry each mark.
    fn counts(&self, machine: &mut Machine<'_>, group: u32, target: GraphId) -> Result<Counts, QueryFailure> {
        if let Some(counts) = machine.tracked().and_then(|tracked| tracked.counts(group, target)) {
            return Ok(counts.clone());
        }
        let members = members(machine, group);
        let mut counter = self.counter(machine);
        let counts = self.count(&mut counter, &members, target);
        self.keep_counter(machine, counter);
        let counts = counts.map_err(|failure| self.failure(failure))?;
        if let Some(tracked) = machine.tracked() {
            tracked.set_counts(group, target, counts.clone());
        }
        Ok(counts)
    }

    /// A machine that runs the conditions, for those that do not depend on edges: it need not follow each edit.
    fn counter(&self, machine: &Machine<'_>) -> Machine<'a> {
        let mut counter = match self.counter.take() {
            Some((facts, counter)) if facts == machine.facts() => counter,
            // Of many states no flat view is kept up.
            Some(_) => machine.beside(&self.conditions.0, self.cells),
            None => {
                let mut first = machine.beside_over(&self.conditions.0, self.cells, self.before.dense());
                first.share_alike();
                first
            }
        };
        counter.go_on_as(machine);
        counter
    }

    fn keep_counter(&self, machine: &mut Machine<'_>, counter: Machine<'a>) {
        machine.spend_as(&counter);
        self.counter.replace(Some((machine.facts(), counter)));
    }

    /// How many of some anchors may carry each mark, in the state of `machine`, which runs the conditions.
    fn count(
        &self,
        machine: &mut Machine<'_>,
        members: &[Anchor],
        target: GraphId,
    ) -> Result<Counts, Failure> {
        let mut counts: Counts = vec![0; self.attributes.len()].into();
        for &anchor in members {
            let frame = frame(machine, anchor, target, Value::None);
            let mut plain = true;
            for (attribute, count) in self.attributes.iter().zip(&mut counts) {
                if (attribute.side == Side::Input) != anchor.is_in() {
                    continue;
                }
                let carries = match attribute.condition {
                    None => continue,
                    Some(_) if !attribute.steady => true,
                    Some(condition) => {
                        let carries = machine.test(attribute.entry, condition, &frame)?;
                        plain &= !carries;
                        carries
                    }
                };
                *count += u32::from(carries);
            }
            for (attribute, count) in self.attributes.iter().zip(&mut counts) {
                let rest = attribute.condition.is_none() && (attribute.side == Side::Input) == anchor.is_in();
                *count += u32::from(rest && plain);
            }
        }
        Ok(counts)
    }

    /// The marks of the one group of `table`: of the second machine it is asked what does not depend on edges.
    fn marks(
        &self,
        (machine, counter): (&mut Machine<'_>, &mut Machine<'_>),
        target: GraphId,
        table: &Arc<Symbols>,
    ) -> Result<MarkTable, Failure> {
        let before = self.before;
        let mut lists: Vec<Option<Arc<MarkList>>> = vec![None; self.attributes.len()];
        // Attributes with a condition first: the others are what is left.
        for rest in [false, true] {
            for (at, attribute) in self.attributes.iter().enumerate() {
                if attribute.condition.is_none() != rest {
                    continue;
                }
                let places = if attribute.steady {
                    let same_side = lists.iter().flatten().filter(|list| list.side == attribute.side);
                    let marked = same_side.flat_map(|list| &list.places).map(|place| place.anchor).collect();
                    self.places(counter, attribute, target, table, &marked)?
                } else {
                    let earlier = lists.iter().flatten().cloned().collect();
                    machine.set_marks(Some(Rc::new(MarkTable::new(before.clone(), earlier))));
                    self.places(machine, attribute, target, table, &FxHashSet::default())?
                };
                lists[at] = Some(Arc::new(MarkList::few(attribute.mark, attribute.side, places)));
            }
        }
        Ok(MarkTable::new(before.clone(), lists.into_iter().flatten().collect()))
    }

    /// The anchors of the one group of `table` that carry a mark; `marked`: those of its side that carry another one.
    fn places(
        &self,
        machine: &mut Machine<'_>,
        attribute: &Attribute,
        target: GraphId,
        table: &Arc<Symbols>,
        marked: &FxHashSet<Anchor>,
    ) -> Result<Vec<Place>, Failure> {
        let group = if attribute.by_group { group_value(table, 0) } else { Value::None };
        let mut places = Vec::new();
        for (at, &anchor) in (0u32..).zip(table.groups().iter().flat_map(|group| &group.members)) {
            if (attribute.side == Side::Input) != anchor.is_in() {
                continue;
            }
            let carries = match attribute.condition {
                None => !marked.contains(&anchor),
                Some(condition) => machine.test(
                    attribute.entry,
                    condition,
                    &frame(machine, anchor, target, group.clone()),
                )?,
            };
            if carries {
                places.push(Place { group: 0, at, anchor });
            }
        }
        Ok(places)
    }
}

/// The anchors of a tracked group.
fn members(machine: &mut Machine<'_>, group: u32) -> Vec<Anchor> {
    machine.tracked().map_or_else(Vec::new, |tracked| tracked.members(group).to_vec())
}

/// {anchor, node, graph, target, group}
fn frame(machine: &Machine<'_>, anchor: Anchor, target: GraphId, group: Value) -> [Value; 5] {
    let node = anchor.node();
    let graph = machine.near().node(node).map_or(Value::None, |found| Value::Graph(found.graph));
    [anchor_value(anchor), Value::Node(node), graph, Value::Graph(target), group]
}

/// Facts that depend on marks, or on what a pass tracks.
fn is_group_fact(fact: Fact) -> bool {
    matches!(fact, Fact::AnchorMarks | Fact::AnchorRegistered | Fact::AnchorGroupSize | Fact::AnchorSameGroup)
}

/// Whether a body, with all that it calls, asks for nothing that an edge, a group or a mark decides.
fn is_steady(linked: &Program, body: &Body) -> bool {
    let mut seen: FxHashSet<EntryId> = FxHashSet::default();
    let mut open = vec![body];
    while let Some(body) = open.pop() {
        for expr in &body.exprs {
            let callee = match expr {
                Expr::HasMark { .. }
                | Expr::Note { .. }
                | Expr::Symbols { .. }
                | Expr::Conflicts { .. }
                | Expr::WouldConflict { .. }
                | Expr::Counter(_) => return false,
                Expr::Fact { fact, .. } if is_edge_fact(*fact) || is_group_fact(*fact) => return false,
                Expr::Call { function, .. } => linked.entry(Kind::Fn, *function),
                Expr::Walk { walk, .. } => linked.entry(Kind::Walk, *walk),
                _ => None,
            };
            if let Some(callee) = callee
                && seen.insert(callee)
                && let Some(body) = linked.hir(callee).and_then(|hir| hir.body())
            {
                open.push(body);
            }
        }
    }
    true
}
