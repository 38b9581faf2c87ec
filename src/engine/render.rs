//! From drafts to findings: names, reasons, places.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::cells::Cells;
use super::counts::StepCounts;
use super::outcome::{
    AnchorRef, EditEntry, EditEntryKind, Finding, PassFailure, PlaceRef, RuleRef, StepOutcome,
};
use super::pairs::Class;
use super::queries::{QueryFailure, rule_program};
use super::remarks::{inserted, remark};
use super::run::{Draft, PassResult, PassRun, run_pass};
use super::search::Verdict;
use crate::db::{self, Db, EntryName, Linked, RuleSet};
use crate::graph::{Anchor, NodeId, Snapshot, State, Sym};
use crate::lang::Level;
use crate::lang::eval::{Cause, EditKind, EditRecord, Machine, Subject, Value};
use crate::lang::hir::{Entry, Text, TextId};
use crate::lang::syntax::ast::Kind;

/// Names longer than this are cut in messages (`layout.md` 12).
const LONGEST_NAME: usize = 199;

/// The code of what is wrong with a graph and was mended.
const CONFLICT: &str = "conflict";

/// The outcome of a pass as front ends read it.
#[salsa::tracked(returns(ref), no_eq)]
pub fn tell<'db>(db: &'db dyn Db, rules: RuleSet, run: PassRun<'db>, told: Sym) -> StepOutcome {
    let before = run.at(db).snapshot(db);
    Renderer::new(db, rules, before).step(told, before, run_pass(db, rules, run))
}

/// Renders what happened on one snapshot.
pub struct Renderer<'s> {
    db: &'s dyn Db,
    rules: RuleSet,
    snapshot: &'s Snapshot,
    /// Findings are many, rules are few.
    voices: RefCell<FxHashMap<Class, Rc<Voice>>>,
    texts: RefCell<FxHashMap<(Kind, Sym), Texts>>,
}

/// The texts of an entry; none if there is no such entry.
type Texts = Option<Arc<Vec<Text>>>;

/// What a pair rule says of itself.
struct Voice {
    rule: RuleRef,
    level: Level,
    help: Option<TextId>,
    /// The reason of an `always` entry.
    reason: Option<TextId>,
    texts: Texts,
    linked: Linked,
}

/// A conflict of an anchor in words; as in a [`Finding`].
pub struct Conflict {
    pub rule: RuleRef,
    level: Level,
    pub message: String,
    pub help: Option<String>,
    pub places: Vec<PlaceRef>,
    pub also: Vec<(RuleRef, String)>,
}

impl<'s> Renderer<'s> {
    pub fn new(db: &'s dyn Db, rules: RuleSet, snapshot: &'s Snapshot) -> Renderer<'s> {
        Renderer { db, rules, snapshot, voices: RefCell::default(), texts: RefCell::default() }
    }

    fn voice(&self, class: Class) -> Rc<Voice> {
        if let Some(voice) = self.voices.borrow().get(&class) {
            return voice.clone();
        }
        let rule = self.rule_ref(class);
        let entry = self.entry(rule.kind, rule.name);
        let (level, help, reason) = match entry.as_deref() {
            Some(Entry::Checker(checker)) => (checker.level, checker.help, None),
            Some(Entry::Always { reason, .. }) => (Level::Error, None, *reason),
            _ => (Level::Error, None, None),
        };
        let texts = self.texts((rule.kind, rule.name));
        let linked = rule_program(self.db, self.rules, class).clone();
        let voice = Rc::new(Voice { rule, level, help, reason, texts, linked });
        self.voices.borrow_mut().insert(class, voice.clone());
        voice
    }

    /// The outcome of one pass.
    pub fn step(&self, pass: Sym, before: &Snapshot, result: &PassResult) -> StepOutcome {
        let edits = self.edits(pass, result);
        let inserted = (0..).zip(&edits).filter_map(|(at, (_, edit))| match edit.kind {
            EditEntryKind::Insert { node, .. } => Some((node, at)),
            _ => None,
        });
        let inserted = inserted.collect();
        let findings = result.drafts.iter();
        let findings = findings.filter_map(|draft| self.finding(pass, draft, result, (&edits, &inserted)));
        let findings = findings.collect();
        let failure = result.failure.as_ref().map(|failure| self.failure(pass, failure));
        StepOutcome {
            pass,
            before: before.clone(),
            after: result.after.clone(),
            edits: edits.into_iter().map(|(_, entry)| entry).collect(),
            findings,
            failure,
            tolerated: false,
        }
    }

    fn finding(
        &self,
        pass: Sym,
        draft: &Draft,
        result: &PassResult,
        // Each entry with the number of its record; which entry inserted a node.
        (edits, inserted): (&[(usize, EditEntry)], &FxHashMap<NodeId, usize>),
    ) -> Option<Finding> {
        match draft {
            Draft::Conflict { anchor, by, edits: range } => {
                // Answered already: the copy that would be inserted is there.
                if range.is_empty() {
                    return None;
                }
                let Conflict { rule, level, message, help, places, also } = self.conflict(*anchor, by)?;
                let from = edits.partition_point(|(at, _)| *at < range.start);
                let to = edits.partition_point(|(at, _)| *at < range.end);
                Some(Finding {
                    pass,
                    rule,
                    code: Sym::new(CONFLICT),
                    level,
                    message,
                    help,
                    places,
                    said: None,
                    also,
                    edits: from..to,
                })
            }
            Draft::Report { entry, places, message, level, help, answer, frame } => {
                let (code, own_level) = self.code_and_level(pass, *entry);
                let answer = answer.and_then(|node| inserted.get(&node).copied());
                Some(Finding {
                    pass,
                    rule: RuleRef { kind: entry.0, name: entry.1 },
                    code: if answer.is_some() { Sym::new(CONFLICT) } else { code },
                    level: level.unwrap_or(own_level),
                    message: self.text(*entry, Some(*message), frame, &result.program),
                    help: help.map(|help| self.text(*entry, Some(help), frame, &result.program)),
                    places: places.iter().filter_map(|value| self.reported(value, &result.after)).collect(),
                    said: self.said(*entry, *message),
                    also: Vec::new(),
                    edits: answer.map_or(0..0, |at| at..at + 1),
                })
            }
            Draft::Chain { .. } => None,
        }
    }

    fn said(&self, (kind, name): (Kind, Sym), text: TextId) -> Option<std::ops::Range<usize>> {
        let spans = db::text_spans(self.db, self.rules, EntryName::new(self.db, kind, name));
        spans.get(text as usize).map(|span| span.start as usize..span.end as usize)
    }

    /// What rules say of an anchor that they isolate, in the words of the first of them.
    pub fn conflict(&self, anchor: Anchor, by: &[(Class, Verdict)]) -> Option<Conflict> {
        let ((class, verdict), others) = by.split_first()?;
        let voice = self.voice(*class);
        let mut places = vec![self.place(anchor, Self::marks_of(verdict, anchor))];
        if let Some((first, second)) = verdict.pair {
            for other in [first, second].into_iter().filter(|other| *other != anchor) {
                places.push(self.place(other, Self::marks_of(verdict, other)));
            }
        }
        let also =
            others.iter().map(|(class, verdict)| (self.rule_ref(*class), self.reason(*class, verdict)));
        Some(Conflict {
            rule: voice.rule.clone(),
            level: voice.level,
            message: self.reason(*class, verdict),
            help: voice.help.map(|help| self.say(&voice, help, verdict)),
            places,
            also: also.collect(),
        })
    }

    /// What a pass did in numbers: what [`Renderer::step`] would tell, untold.
    pub fn counts(&self, pass: Sym, result: &PassResult) -> StepCounts {
        let mut counts = StepCounts::default();
        let rules = self.rule_of_edits(pass, result);
        for (at, record) in result.edits.iter().enumerate() {
            if is_listed(&result.after, self.snapshot, record) {
                *counts.edits.entry((pass, rules[at])).or_insert(0) += 1;
            }
        }
        let inserted = inserted(result);
        let mut by_class: FxHashMap<Class, usize> = FxHashMap::default();
        for draft in result.drafts.iter() {
            match draft {
                Draft::Conflict { by, edits, .. } if !edits.is_empty() => {
                    by.iter().for_each(|(class, _)| *by_class.entry(*class).or_insert(0) += 1);
                }
                Draft::Report { entry: (kind, name), .. } => {
                    let told = match remark(draft, &inserted) {
                        Some(_) => &mut counts.remarks,
                        None => &mut counts.fires,
                    };
                    *told.entry(RuleRef { kind: *kind, name: *name }).or_insert(0) += 1;
                }
                Draft::Conflict { .. } | Draft::Chain { .. } => {}
            }
        }
        for (class, count) in by_class {
            *counts.fires.entry(self.rule_ref(class)).or_insert(0) += count;
        }
        counts
    }

    /// Why a pass failed.
    pub fn failure(&self, pass: Sym, failure: &QueryFailure) -> PassFailure {
        let QueryFailure(inner, linked) = failure;
        let message = match &inner.cause {
            Cause::Mechanism { message, .. } => message.clone(),
            Cause::Text { text, frame } => {
                let entry = inner.entry.and_then(|id| linked.0.key(id));
                entry.map_or_else(String::new, |entry| self.text(entry, Some(*text), frame, linked))
            }
        };
        let places = inner.places.iter().filter_map(|place| self.value_place(place)).collect();
        PassFailure { pass, message, help: None, places }
    }

    pub fn rule_ref(&self, class: Class) -> RuleRef {
        match class {
            Class::Checker(name) => RuleRef { kind: Kind::Checker, name },
            Class::Always(name) => RuleRef { kind: Kind::Always, name },
            Class::Never => RuleRef { kind: Kind::Never, name: Sym::default() },
        }
    }

    fn entry(&self, kind: Kind, name: Sym) -> Option<Arc<Entry>> {
        db::entry(self.db, self.rules, EntryName::new(self.db, kind, name))
    }

    /// The reason that a rule gives for a verdict.
    pub fn reason(&self, class: Class, verdict: &Verdict) -> String {
        let voice = self.voice(class);
        match voice.reason.or(verdict.reason) {
            Some(reason) => self.say(&voice, reason, verdict),
            None => self.plain_reason(class, verdict),
        }
    }

    fn say(&self, voice: &Voice, text: TextId, verdict: &Verdict) -> String {
        let text = voice.texts.as_ref().and_then(|texts| texts.get(text as usize));
        text.map_or_else(String::new, |text| self.render(&voice.linked, text, &verdict.frame))
    }

    fn render(&self, linked: &Linked, text: &Text, frame: &[Value]) -> String {
        let host = Cells { db: self.db, rules: self.rules };
        Machine::over(&linked.0, &host, self.snapshot, crate::graph::GraphId::ROOT).render(text, frame)
    }

    /// A reason for a rule that gives none.
    fn plain_reason(&self, class: Class, verdict: &Verdict) -> String {
        let name = self.rule_ref(class).name;
        match verdict.pair {
            Some((first, second)) => {
                format!("{} and {} may not share memory ({name})", self.label(first), self.label(second))
            }
            None => format!("{} may not share this memory ({name})", self.label(verdict.anchor)),
        }
    }

    /// Those of a lint; elsewhere a report goes by the pass.
    fn code_and_level(&self, pass: Sym, entry: (Kind, Sym)) -> (Sym, Level) {
        match self.entry(entry.0, entry.1).as_deref() {
            Some(Entry::Lint { code, level, .. }) => {
                let level = match level.as_str() {
                    "error" => Level::Error,
                    "note" => Level::Note,
                    _ => Level::Warning,
                };
                (*code, level)
            }
            _ => (pass, Level::Warning),
        }
    }

    fn texts(&self, entry: (Kind, Sym)) -> Texts {
        let look_up = || db::texts(self.db, self.rules, EntryName::new(self.db, entry.0, entry.1));
        self.texts.borrow_mut().entry(entry).or_insert_with(look_up).clone()
    }

    /// A text of an entry with its values.
    pub fn text(&self, entry: (Kind, Sym), text: Option<TextId>, frame: &[Value], linked: &Linked) -> String {
        let texts = self.texts(entry);
        match texts.as_ref().zip(text).and_then(|(texts, text)| texts.get(text as usize)) {
            Some(text) => self.render(linked, text, frame),
            None => String::new(),
        }
    }

    /// The marks of an anchor that brought a rule to it.
    fn marks_of(verdict: &Verdict, anchor: Anchor) -> String {
        let marks: Vec<&str> = verdict.marks(anchor).map(|mark| mark.as_str()).collect();
        marks.join(", ")
    }

    fn label(&self, anchor: Anchor) -> String {
        let side = if anchor.is_in() { "in" } else { "out" };
        format!("{}_{side}_{}", self.name(anchor.node()), anchor.index())
    }

    fn name(&self, node: NodeId) -> Arc<str> {
        let Some(found) = self.snapshot.get_node(node) else { return "".into() };
        cut_name(self.snapshot, node, &found.name)
    }

    pub fn place(&self, anchor: Anchor, role: String) -> PlaceRef {
        let mut place = self.node_place(anchor.node(), role);
        place.anchor = Some(anchor);
        place
    }

    pub fn node_place(&self, node: NodeId, role: String) -> PlaceRef {
        let found = self.snapshot.get_node(node);
        PlaceRef {
            node,
            anchor: None,
            name: self.name(node),
            op: found.map_or_else(Sym::default, |n| n.ty),
            graph: found
                .and_then(|n| self.snapshot.get_graph(n.graph))
                .map_or_else(|| "".into(), |graph| graph.name.clone()),
            role,
        }
    }

    /// The place of a finding. A node that the pass has inserted is called what it is called `after`.
    fn reported(&self, value: &Value, after: &Snapshot) -> Option<PlaceRef> {
        let node = value.as_anchor().map(Anchor::node).or_else(|| value.as_node())?;
        match self.snapshot.contains(node) {
            true => self.value_place(value),
            false => Renderer::new(self.db, self.rules, after).value_place(value),
        }
    }

    fn value_place(&self, value: &Value) -> Option<PlaceRef> {
        match value.as_anchor() {
            Some(anchor) => Some(self.place(anchor, String::new())),
            None => value.as_node().map(|node| self.node_place(node, String::new())),
        }
    }

    /// The edit list, with the number of the first record of each entry.
    fn edits(&self, pass: Sym, result: &PassResult) -> Vec<(usize, EditEntry)> {
        let mut entries = Vec::new();
        let after = &result.after;
        let rules = self.rule_of_edits(pass, result);
        for (at, record) in result.edits.iter().enumerate() {
            if let Some(kind) = edit_entry(after, self.snapshot, record) {
                entries.push((at, EditEntry { pass, rule: rules[at], kind }));
            }
        }
        entries
    }

    /// For each record the rule whose finding it answers.
    fn rule_of_edits(&self, pass: Sym, result: &PassResult) -> Vec<Sym> {
        let mut rules = vec![pass; result.edits.len()];
        let inserted = result.edits.iter().enumerate().filter_map(|(at, record)| match record.kind {
            EditKind::Insert { node, .. } => Some((node, at)),
            _ => None,
        });
        let inserted: FxHashMap<NodeId, usize> = inserted.collect();
        for draft in result.drafts.iter() {
            let (name, range) = match draft {
                Draft::Conflict { by, edits, .. } => match by.first() {
                    Some((class, _)) => (self.rule_ref(*class).name, edits),
                    None => continue,
                },
                Draft::Chain { chain, edits, .. } => (*chain, edits),
                Draft::Report { entry: (_, name), answer: Some(answer), .. } => {
                    let Some(at) = inserted.get(answer) else { continue };
                    (*name, &(*at..at + 1))
                }
                Draft::Report { .. } => continue,
            };
            // A pass that failed has findings, but its edits are gone.
            rules.get_mut(range.clone()).into_iter().flatten().for_each(|rule| *rule = name);
        }
        rules
    }
}

fn cut_name(state: &State, node: NodeId, name: &Arc<str>) -> Arc<str> {
    if name.chars().count() <= LONGEST_NAME {
        return name.clone();
    }
    let head: String = name.chars().take(LONGEST_NAME + 1).collect();
    format!("{head}...TopoId_{}", state.topo_id(node)).into()
}

fn node_name(after: &State, before: &State, node: NodeId) -> Arc<str> {
    let found = after.get_node(node).or_else(|| before.get_node(node));
    found.map_or_else(|| "".into(), |node| node.name.clone())
}

/// Whether the list shows an edit: edges and fields of an inserted node are part of its insertion.
fn is_listed(after: &State, before: &State, record: &EditRecord) -> bool {
    let inserted = |node: NodeId| before.get_node(node).is_none();
    match &record.kind {
        EditKind::Connect { from, to, .. } => !inserted(from.node) && !inserted(to.node),
        EditKind::SetAttr { subject: Subject::Graph(graph), .. } => after.get_graph(*graph).is_some(),
        EditKind::SetField { subject, .. } => match subject {
            Subject::Node(node) => !inserted(*node),
            Subject::Anchor(anchor) => !inserted(anchor.node()),
            Subject::Graph(_) => false,
        },
        _ => true,
    }
}

/// An edit as the list shows it. Edges of an inserted node are told with the node, as they are at the end.
fn edit_entry(after: &State, before: &State, record: &EditRecord) -> Option<EditEntryKind> {
    if !is_listed(after, before, record) {
        return None;
    }
    let name = |node| node_name(after, before, node);
    let anchor = |node: NodeId, index: u32| AnchorRef { node: name(node), index };
    Some(match &record.kind {
        EditKind::Insert { node, op, name, .. } => {
            let ports = after.get_node(*node);
            let inputs = 0..ports.map_or(0, |n| n.inputs.len() as u32);
            let outputs = 0..ports.map_or(0, |n| n.outputs.len() as u32);
            let from = inputs.filter_map(|i| after.producer(node.input(i))).map(|o| anchor(o.node, o.index));
            let to = outputs.flat_map(|o| after.consumers(node.output(o))).map(|i| anchor(i.node, i.index));
            EditEntryKind::Insert {
                op: *op,
                name: name.clone(),
                node: *node,
                from: from.collect(),
                to: to.collect(),
            }
        }
        EditKind::Delete { node, name, .. } => {
            let op = before.get_node(*node).map_or_else(Sym::default, |n| n.ty);
            EditEntryKind::Delete { op, name: name.clone() }
        }
        EditKind::Link { from, to } => {
            EditEntryKind::Control { from: name(*from), to: name(*to), added: true }
        }
        EditKind::Unlink { from, to } => {
            EditEntryKind::Control { from: name(*from), to: name(*to), added: false }
        }
        EditKind::Connect { from, to, .. } => EditEntryKind::Set {
            node: name(to.node),
            what: format!("in{}", to.index),
            value: format!("{}:{}", name(from.node), from.index),
        },
        EditKind::Cut { to, .. } => {
            EditEntryKind::Set { node: name(to.node), what: format!("in{}", to.index), value: "none".into() }
        }
        EditKind::SetAttr { subject, key, value } => {
            let (node, prefix) = subject_name(after, before, subject)?;
            let value = value.as_ref().map_or_else(|| "none".to_owned(), show_attr);
            EditEntryKind::Set { node, what: format!("{prefix}{key}"), value }
        }
        EditKind::SetField { subject, field } => {
            let (node, prefix) = subject_name(after, before, subject)?;
            EditEntryKind::Set {
                node,
                what: format!("{prefix}@{}", field_name(*field)),
                value: String::new(),
            }
        }
    })
}

fn subject_name(after: &State, before: &State, subject: &Subject) -> Option<(Arc<str>, String)> {
    Some(match subject {
        Subject::Node(node) => (node_name(after, before, *node), String::new()),
        Subject::Anchor(Anchor::In(i)) => (node_name(after, before, i.node), format!("in{}.", i.index)),
        Subject::Anchor(Anchor::Out(o)) => (node_name(after, before, o.node), format!("out{}.", o.index)),
        Subject::Graph(graph) => (after.get_graph(*graph)?.name.clone(), String::new()),
    })
}

pub(super) fn field_name(field: crate::lang::hir::Field) -> &'static str {
    use crate::lang::hir::Field;
    match field {
        Field::Tensor => "tensor",
        Field::ReuseInput => "reuse_input",
        Field::DataOffset => "data_offset",
        Field::Name => "name",
        Field::InputIsConst => "input_is_const",
        Field::Id => "id",
    }
}

pub(super) fn show_attr(value: &crate::graph::AttrValue) -> String {
    use crate::graph::AttrValue;
    match value {
        AttrValue::Bool(b) => b.to_string(),
        AttrValue::Int(i) => i.to_string(),
        AttrValue::Float(f) => f.to_string(),
        AttrValue::Str(_) => format!("{:?}", value.as_str().unwrap_or("")),
        other => match other.as_ints() {
            Some(ints) => format!("{ints:?}"),
            None => "…".to_owned(),
        },
    }
}
