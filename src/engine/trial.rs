//! Would joining two tracked groups create a conflict? (`layout.md` 11)
//!
//! Promise: the answer is that of a search through the joined group on the state as it is now, and most questions are
//! answered without one. Of each group it is counted how many anchors *may* carry each mark: for sure where a mark
//! depends on what nodes say of themselves, and for every anchor where it depends on the group, on edges or on other
//! marks. Counts are added up when groups are merged. Where no rule is about two marks that are there, nothing conflicts.
//! A pass depends on what is done about the pairs of marks that met in its questions, and on no other pair.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::marks::{MarkList, MarkTable, Place, anchor_value, group_value};
use super::pairs::Class;
use super::queries::{QueryFailure, class_of, is_edge_fact, rule, rule_program};
use super::search::{Rule, Search};
use crate::db::{Db, Linked, Roots, RuleSet, names, program};
use crate::graph::{Anchor, Counts, GraphId, Group, Snapshot, Sym, Symbols};
use crate::lang::eval::{EntryId, Failure, Host, Machine, Program, Value};
use crate::lang::hir::{Body, Entry, Expr, ExprId};
use crate::lang::syntax::ast::{Kind, Side};

/// The program of a pass: with all marks if it asks about tracked groups. Rules of pairs have programs of their own, looked at
/// when a question comes to them, so that a pass does not depend on those that it never asked.
pub fn pass_program(db: &dyn Db, rules: RuleSet, own: (Kind, Sym)) -> &Linked {
    let narrow = program(db, rules, Roots::of(db, [own]));
    let asks = |body: &Body| body.exprs.iter().any(|expr| matches!(expr, Expr::WouldConflict { .. }));
    if !narrow.0.bodies().any(asks) {
        return narrow;
    }
    let marks = names(db, rules, Kind::Attribute).iter().map(|&mark| (Kind::Attribute, mark));
    program(db, rules, Roots::of(db, std::iter::once(own).chain(marks).collect::<Vec<_>>()))
}

/// All marks, ready to be asked in the program of a pass, and the rules that came into question.
pub struct Judge<'db> {
    db: &'db dyn Db,
    rules: RuleSet,
    /// In declaration order.
    attributes: Vec<Attribute>,
    /// The rule of each pair of attributes; where they have not met yet, nothing.
    classes: Vec<Cell<Option<Option<Class>>>>,
    ready: RefCell<FxHashMap<Class, Ready<'db>>>,
}

/// A rule of pairs with its program; none if it cannot be run.
type Ready<'db> = Option<(&'db Linked, Rc<Rule>)>;

/// A question that a search has to answer.
pub struct Question {
    table: Arc<Symbols>,
    marks: MarkTable,
    /// The rules that the marks may bring in.
    suspects: Vec<Class>,
}

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

impl<'db> Judge<'db> {
    pub fn new(db: &'db dyn Db, rules: RuleSet, linked: &Program) -> Judge<'db> {
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
            names(db, rules, Kind::Attribute).iter().filter_map(attribute).collect();
        let classes = vec![Cell::new(None); attributes.len() * attributes.len()];
        Judge { db, rules, attributes, classes, ready: RefCell::default() }
    }

    /// The rule of a pair of attributes that have met.
    fn class(&self, x: usize, y: usize) -> Option<Class> {
        let known = &self.classes[x * self.attributes.len() + y];
        known.get().unwrap_or_else(|| {
            let class = class_of(self.db, self.rules, self.attributes[x].mark, self.attributes[y].mark);
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

    /// What must be searched to know whether joining the groups of two anchors would conflict. An inner `Err` is the answer, found
    /// without a search; its `None`: one of the anchors has no group.
    pub fn question(
        &self,
        machine: &mut Machine<'_>,
        before: &Snapshot,
        target: GraphId,
        (first, second): (Anchor, Anchor),
    ) -> Result<Result<Question, Option<bool>>, Failure> {
        let Some(tracked) = machine.tracked() else { return Ok(Err(None)) };
        let (Some(a), Some(b)) = (tracked.group(first), tracked.group(second)) else { return Ok(Err(None)) };
        let mut counts = self.counts(machine, a, target)?;
        if a != b {
            let more = self.counts(machine, b, target)?;
            counts.iter_mut().zip(&more).for_each(|(count, more)| *count += more);
        }
        let suspects = self.suspects(&counts);
        if suspects.is_empty() {
            return Ok(Err(Some(false)));
        }
        let Some(tracked) = machine.tracked() else { return Ok(Err(None)) };
        let mut members = tracked.members(a).to_vec();
        if a != b {
            members.extend_from_slice(tracked.members(b));
        }
        let table = Arc::new(Symbols::new(vec![Group { founder: first, members }]));
        let outer = machine.set_marks(None);
        let marks = self.marks(machine, before, target, &table);
        machine.set_marks(outer);
        Ok(Ok(Question { table, marks: marks?, suspects }))
    }

    /// Looks through a group for a conflict, on the state of `machine` as it is now.
    pub fn search(
        &self,
        host: &dyn Host,
        machine: &mut Machine<'_>,
        target: GraphId,
        question: &Question,
    ) -> Result<bool, QueryFailure> {
        for &class in &question.suspects {
            let ready = || {
                let linked = rule_program(self.db, self.rules, class);
                Some((linked, Rc::new(rule(self.db, self.rules, class, &linked.0)?)))
            };
            let ready = self.ready.borrow_mut().entry(class).or_insert_with(ready).clone();
            let Some((linked, rule)) = ready else { continue };
            let mut beside = machine.beside(&linked.0, host);
            beside.set_marks(Some(Rc::new(question.marks.clone())));
            let (symbols, marks) = (&question.table, &question.marks);
            let found = Search { machine: &mut beside, rule: &rule, symbols, marks, target }.run();
            machine.spend_as(&beside);
            let found = found.map_err(|failure| QueryFailure(Arc::new(failure), linked.clone()))?;
            if found.iter().any(|verdict| !verdict.isolated.is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many anchors of a group may carry each mark.
    fn counts(&self, machine: &mut Machine<'_>, group: u32, target: GraphId) -> Result<Counts, Failure> {
        let members = match machine.tracked() {
            Some(tracked) => match tracked.counts(group, target) {
                Some(counts) => return Ok(counts.clone()),
                None => tracked.members(group).to_vec(),
            },
            None => Vec::new(),
        };
        let mut counts: Counts = vec![0; self.attributes.len()].into();
        for anchor in members {
            let mut plain = true;
            for (attribute, count) in self.attributes.iter().zip(&mut counts) {
                if (attribute.side == Side::Input) != anchor.is_in() {
                    continue;
                }
                let carries = match attribute.condition {
                    None => continue,
                    Some(_) if !attribute.steady => true,
                    Some(condition) => {
                        let carries = machine.test(
                            attribute.entry,
                            condition,
                            &frame(machine, anchor, target, Value::None),
                        )?;
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
        if let Some(tracked) = machine.tracked() {
            tracked.set_counts(group, target, counts.clone());
        }
        Ok(counts)
    }

    /// The marks of the one group of `table`.
    fn marks(
        &self,
        machine: &mut Machine<'_>,
        before: &Snapshot,
        target: GraphId,
        table: &Arc<Symbols>,
    ) -> Result<MarkTable, Failure> {
        let mut lists: Vec<Option<Arc<MarkList>>> = vec![None; self.attributes.len()];
        // Attributes with a condition first: the others are what is left.
        for rest in [false, true] {
            for (at, attribute) in self.attributes.iter().enumerate() {
                if attribute.condition.is_none() != rest {
                    continue;
                }
                let earlier = MarkTable::new(before.clone(), lists.iter().flatten().cloned().collect());
                let places = self.places(machine, attribute, target, table, earlier)?;
                lists[at] = Some(Arc::new(MarkList::few(attribute.mark, attribute.side, places)));
            }
        }
        Ok(MarkTable::new(before.clone(), lists.into_iter().flatten().collect()))
    }

    /// The anchors of the one group of `table` that carry a mark.
    fn places(
        &self,
        machine: &mut Machine<'_>,
        attribute: &Attribute,
        target: GraphId,
        table: &Arc<Symbols>,
        earlier: MarkTable,
    ) -> Result<Vec<Place>, Failure> {
        let group = if attribute.by_group { group_value(table, 0) } else { Value::None };
        let marked: FxHashSet<Anchor> = match attribute.condition {
            Some(_) => FxHashSet::default(),
            None => earlier.of_side(attribute.side).map(|place| place.anchor).collect(),
        };
        machine.set_marks(Some(Rc::new(earlier)));
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

/// {anchor, node, graph, target, group}
fn frame(machine: &Machine<'_>, anchor: Anchor, target: GraphId, group: Value) -> [Value; 5] {
    let node = anchor.node();
    let graph = machine.state().get_node(node).map_or(Value::None, |found| Value::Graph(found.graph));
    [anchor_value(anchor), Value::Node(node), graph, Value::Graph(target), group]
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
                Expr::Fact { fact, .. } if is_edge_fact(*fact) => return false,
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
