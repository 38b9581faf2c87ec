//! The queries of the layout layer: symbols, marks, verdicts, each per (snapshot, entry).
//!
//! Promise: a query depends on the entries it runs and on nothing else of the rule set, so editing one checker
//! re-runs that checker's search and leaves symbols, marks and all other verdicts as they are.

use std::sync::Arc;

use super::cells::Cells;
use super::layers;
use super::marks::{MarkList, MarkRequest, MarkTable};
use super::pairs::{Class, PairTable};
use super::search::{Action, Form, GroupVerdict, Rule, Search};
use super::sides::{self, Asked, Functions, Leaf, PAIR_FRAME, ROLE_FRAME};
use crate::db::{Db, EntryName, Linked, Roots, RuleSet, entry, live, names, program};
use crate::graph::{GraphId, Snapshot, Sym, Symbols};
use crate::lang::eval::{EntryId, Failure, Machine, Program, Seen};
use crate::lang::facts::Fact;
use crate::lang::hir::{Body, CheckerAction, CheckerForm, Entry, Expr, ExprId, Local};
use crate::lang::syntax::ast::{Kind, Side};

/// A snapshot as a key. Its hash and equality are identity.
#[salsa::interned(debug)]
pub struct At<'db> {
    #[returns(ref)]
    pub snapshot: Snapshot,
}

/// The symbols that a target graph is looked at with.
#[salsa::interned(debug)]
pub struct Layer<'db> {
    #[returns(copy)]
    pub at: At<'db>,
    #[returns(copy)]
    pub symbols: Sym,
    #[returns(copy)]
    pub target: GraphId,
}

/// A failure of a query, comparable by its text. Rendering waits for the front end.
#[derive(Clone, Debug)]
pub struct QueryFailure(pub Arc<Failure>, pub Linked);

impl PartialEq for QueryFailure {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

type Answer<T> = Result<Arc<T>, QueryFailure>;

fn answer<T>(result: Result<T, Failure>, linked: &Linked) -> Answer<T> {
    result.map(Arc::new).map_err(|failure| QueryFailure(Arc::new(failure), linked.clone()))
}

/// Classes of all pairs of marks.
#[salsa::tracked(returns(ref))]
pub fn pair_table(db: &dyn Db, rules: RuleSet) -> Arc<PairTable> {
    let entries: Vec<(Sym, Arc<Entry>)> = live(db, rules)
        .items
        .iter()
        .filter(|(kind, ..)| matches!(kind, Kind::Never | Kind::Always | Kind::Checker))
        .filter_map(|&(kind, name, _)| Some((name, entry(db, rules, EntryName::new(db, kind, name))?)))
        .collect();
    Arc::new(PairTable::new(&entries, names(db, rules, Kind::Attribute)))
}

/// What is done about one pair of marks. A query, so that other pairs do not matter.
#[salsa::tracked(returns(copy))]
pub fn class_of(db: &dyn Db, rules: RuleSet, a: Sym, b: Sym) -> Option<Class> {
    pair_table(db, rules).class(a, b)
}

/// The pairs of marks of one rule. A query, so that other rules do not matter.
#[salsa::tracked(returns(ref))]
fn pairs_of(db: &dyn Db, rules: RuleSet, class: Class) -> Vec<(Sym, Sym)> {
    pair_table(db, rules).pairs(class).to_vec()
}

/// The symbol table of a target graph.
#[salsa::tracked(returns(clone))]
pub fn symbols<'db>(db: &'db dyn Db, rules: RuleSet, layer: Layer<'db>) -> Answer<Symbols> {
    let linked = program(db, rules, Roots::of(db, [(Kind::Symbols, layer.symbols(db))]));
    let built = layers::grouped(Cells { db, rules }, layer, linked);
    built.map_err(|failure| QueryFailure(Arc::new(failure), linked.clone()))
}

/// The same, and what it was told from, as [`Machine::take_seen`] gives it.
#[salsa::tracked(returns(clone))]
pub fn symbols_seen<'db>(
    db: &'db dyn Db,
    rules: RuleSet,
    layer: Layer<'db>,
) -> Result<(Arc<Symbols>, Option<Arc<Seen>>), QueryFailure> {
    let name = layer.symbols(db);
    let linked = program(db, rules, Roots::of(db, [(Kind::Symbols, name)]));
    let host = Cells { db, rules };
    let snapshot = layer.at(db).snapshot(db);
    let mut machine = Machine::over(&linked.0, &host, snapshot, layer.target(db));
    machine.share_alike();
    machine.record_round();
    let built = machine.build_symbols(name, layer.target(db));
    // Groups are called after their anchors.
    let anchors = built.iter().flat_map(|table| table.groups()).flat_map(|group| &group.members);
    let seen = machine.take_seen(anchors.map(|anchor| anchor.node()));
    machine.keep_kinds();
    Ok((answer(built, linked)?, seen.map(Arc::new)))
}

/// The anchors that carry one mark.
#[salsa::tracked(returns(clone))]
pub fn mark_list<'db>(db: &'db dyn Db, rules: RuleSet, layer: Layer<'db>, mark: Sym) -> Answer<MarkList> {
    let table = symbols(db, rules, layer)?;
    let linked = program(db, rules, Roots::of(db, [(Kind::Attribute, mark)]));
    let snapshot = layer.at(db).snapshot(db);
    let id = linked.0.entry(Kind::Attribute, mark).unwrap_or_default();
    let rest_of = match linked.0.hir(id).map(|hir| &**hir) {
        Some(Entry::Attribute { rule: None, side }) => Some(*side),
        _ => None,
    };
    let mut earlier = Vec::new();
    for &other in names(db, rules, Kind::Attribute).iter().filter(|&&other| other != mark) {
        let wanted = match rest_of {
            Some(side) => asked(db, rules, EntryName::new(db, Kind::Attribute, other)) == Some(side),
            None => linked.1.contains(&other),
        };
        if wanted {
            earlier.push(mark_list(db, rules, layer, other)?);
        }
    }
    let request = MarkRequest {
        snapshot,
        symbols: &table,
        target: layer.target(db),
        mark,
        earlier: MarkTable::new(snapshot.clone(), earlier),
    };
    let marked = layers::marked(Cells { db, rules }, layer, &request, linked);
    if let Ok(list) = &marked
        && let Some(tally) = db.tally().filter(|_| !list.places.is_empty())
    {
        tally.reach((Kind::Attribute, mark));
    }
    marked.map_err(|failure| QueryFailure(Arc::new(failure), linked.clone()))
}

/// The side of an attribute that has a condition of its own. A query, so that the condition itself does not matter.
#[salsa::tracked(returns(copy))]
fn asked<'db>(db: &'db dyn Db, rules: RuleSet, attribute: EntryName<'db>) -> Option<Side> {
    match entry(db, rules, attribute).as_deref() {
        Some(Entry::Attribute { rule: Some(_), side }) => Some(*side),
        _ => None,
    }
}

/// Marks of a target graph: those that `wanted` picks, in declaration order.
pub fn mark_table(
    db: &dyn Db,
    rules: RuleSet,
    layer: Layer<'_>,
    wanted: impl Fn(Sym) -> bool,
) -> Result<MarkTable, QueryFailure> {
    let marks = names(db, rules, Kind::Attribute).iter().copied().filter(|&mark| wanted(mark));
    let lists = marks.map(|mark| mark_list(db, rules, layer, mark)).collect::<Result<_, _>>()?;
    Ok(MarkTable::new(layer.at(db).snapshot(db).clone(), lists))
}

/// The entries whose bodies a rule of a class runs: its own, the `skip` entries.
pub fn roots(db: &dyn Db, rules: RuleSet, class: Class) -> Vec<(Kind, Sym)> {
    let own = match class {
        Class::Checker(name) => (Kind::Checker, name),
        Class::Always(_) => {
            (Kind::DefaultAlways, names(db, rules, Kind::DefaultAlways).first().copied().unwrap_or_default())
        }
        Class::Never => return Vec::new(),
    };
    std::iter::once(own).chain(names(db, rules, Kind::Skip).iter().map(|&name| (Kind::Skip, name))).collect()
}

/// The linked program of a rule.
pub fn rule_program(db: &dyn Db, rules: RuleSet, class: Class) -> &Linked {
    program(db, rules, Roots::of(db, roots(db, rules, class)))
}

/// Builds the rule of a class over its linked program.
pub fn rule(db: &dyn Db, rules: RuleSet, class: Class, linked: &Program) -> Option<Rule> {
    let pairs = Some(pairs_of(db, rules, class)).filter(|pairs| !pairs.is_empty())?.clone();
    let roots = roots(db, rules, class);
    let (own, skips) = roots.split_first()?;
    let entry = linked.entry(own.0, own.1)?;
    let mut skip_rules = Vec::new();
    let mut skip_leaves = Vec::new();
    for &(kind, name) in skips {
        let Some(id) = linked.entry(kind, name) else { continue };
        let Some(Entry::Skip { body, when, .. }) = linked.hir(id).map(|hir| &**hir) else { continue };
        skip_rules.push((id, *when));
        skip_leaves.extend(placed(
            linked,
            id,
            sides::leaves(
                body,
                PAIR_FRAME,
                Asked { condition: Some(*when), target: None },
                &InProgram(linked),
            ),
        ));
    }
    let (form, when, action, body, provided): (Form, Option<ExprId>, Action, &Body, Local) =
        match linked.hir(entry).map(|hir| &**hir)? {
            Entry::DefaultAlways { body, target } => {
                let form = Form::Pair { last: false, role: Vec::new() };
                (form, None, Action::Isolate { target: *target, reason: None }, body, PAIR_FRAME)
            }
            Entry::Checker(checker) => {
                let form = match &checker.form {
                    CheckerForm::Pair { last, first, .. } => Form::Pair { last: *last, role: first.clone() },
                    CheckerForm::Group { .. } => Form::Group,
                };
                let action = match &checker.action {
                    CheckerAction::Isolate { target, reason, .. } => {
                        Action::Isolate { target: *target, reason: *reason }
                    }
                    CheckerAction::Body(_) => Action::Body,
                };
                (form, checker.when, action, &checker.body, ROLE_FRAME)
            }
            _ => return None,
        };
    let target = match action {
        Action::Isolate { target, .. } => Some(target),
        Action::Body => None,
    };
    let leaves = placed(
        linked,
        entry,
        sides::leaves(body, provided, Asked { condition: when, target }, &InProgram(linked)),
    );
    Some(Rule {
        entry,
        pairs,
        form,
        when,
        action,
        skips: skip_rules,
        leaves,
        skip_leaves,
        reads_edges: reads(linked, is_edge_fact),
    })
}

/// Functions of a linked program.
struct InProgram<'a>(&'a Program);

impl Functions for InProgram<'_> {
    fn function(&self, name: Sym) -> Option<&Entry> {
        self.0.entry(Kind::Fn, name).and_then(|id| self.0.hir(id)).map(|hir| &**hir)
    }
}

/// Leaves with the entry whose body they are in.
fn placed(linked: &Program, own: EntryId, leaves: Vec<Leaf>) -> Vec<(EntryId, Leaf)> {
    leaves
        .into_iter()
        .map(|leaf| {
            let entry = leaf.function.and_then(|name| linked.entry(Kind::Fn, name)).unwrap_or(own);
            (entry, leaf)
        })
        .collect()
}

/// Whether anything in the program asks for one of these facts.
fn reads(linked: &Program, wanted: impl Fn(Fact) -> bool) -> bool {
    linked.bodies().any(|body| {
        body.exprs.iter().any(|expr| match expr {
            Expr::Fact { fact, .. } => wanted(*fact),
            _ => false,
        })
    })
}

/// Facts whose answer an inserted copy can change.
pub fn is_edge_fact(fact: Fact) -> bool {
    matches!(
        fact,
        Fact::InputSource
            | Fact::OutputReaders
            | Fact::OutputReaderCount
            | Fact::OutputSoleReader
            | Fact::NodeControlIn
            | Fact::NodeControlOut
            | Fact::NodeHasControl
            | Fact::NodeReaches
            | Fact::GraphNodes
            | Fact::GraphAllNodes
            | Fact::GraphNode
            | Fact::GraphFind
    )
}

/// What one rule finds in a target graph, as it stands before any copy is inserted.
#[salsa::tracked(returns(clone))]
pub fn verdicts<'db>(
    db: &'db dyn Db,
    rules: RuleSet,
    layer: Layer<'db>,
    class: Class,
) -> Answer<Vec<GroupVerdict>> {
    let table = symbols(db, rules, layer)?;
    let linked = rule_program(db, rules, class);
    let Some(rule) = rule(db, rules, class, &linked.0) else { return Ok(Arc::default()) };
    let paired = |mark| rule.pairs.iter().any(|&(a, b)| a == mark || b == mark);
    let lists_marks = reads(&linked.0, |fact| fact == Fact::AnchorMarks);
    let marks = mark_table(db, rules, layer, |mark| lists_marks || paired(mark) || linked.1.contains(&mark))?;
    let snapshot = layer.at(db).snapshot(db);
    let target = layer.target(db);
    let host = Cells { db, rules };
    let mut machine = Machine::over(&linked.0, &host, snapshot, target);
    machine.set_tally(db.tally());
    machine.set_marks(Some(std::rc::Rc::new(marks.clone())));
    let mut search = Search { machine: &mut machine, rule: &rule, symbols: &table, marks: &marks, target };
    answer(search.run(), linked)
}

/// What each rule found: the rules that have something to tell, in order of declaration.
pub type Found = Vec<(Class, Arc<Vec<GroupVerdict>>)>;

/// What all rules find in a target graph. A query, so that a rule that comes or goes and finds nothing does not matter.
#[salsa::tracked(returns(clone))]
pub fn found<'db>(db: &'db dyn Db, rules: RuleSet, layer: Layer<'db>) -> Answer<Found> {
    let mut found = Found::new();
    for rule in &pair_table(db, rules).rules {
        let verdicts = verdicts(db, rules, layer, rule.class)?;
        if !verdicts.is_empty() {
            found.push((rule.class, verdicts));
        }
    }
    Ok(Arc::new(found))
}
