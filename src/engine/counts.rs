//! How many nodes or anchors of a graph the condition of an entry holds for, and how often rules fire in a run.
//!
//! Promise: a count is a query of its own per (snapshot, entry) or per step of a run, so that an edit of one condition counts that
//! one again. An entry whose condition fails on the graph has no count. What is counted is not rendered ([`super::remarks`]: but
//! where two steps may have said the same).

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::again::Memory;
use super::cells::{Cells, Indexed};
use super::outcome::RuleRef;
use super::queries::{At, Layer, mark_list};
use super::remarks::{Steps, said_again};
use super::render::Renderer;
use super::run::{PassRun, run_pass};
use super::session::{Request, RunError, Session};
use crate::db::{self, Db, Roots, RuleSet, first_param, live, names, program};
use crate::graph::{Anchor, GraphId, NodeId, Snapshot, Sym};
use crate::lang::eval::{Machine, Report, Value};
use crate::lang::hir::{Entry, Expr, TextId, Ty};
use crate::lang::syntax::ast::{Kind, Side};

/// What a condition was asked of, and for how many it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    pub kind: Kind,
    pub name: Sym,
    pub count: usize,
    /// Of so many.
    pub of: usize,
    /// Nodes, or else anchors.
    pub nodes: bool,
}

/// How many nodes the subject of a pass, chain or lint picks, or a function of one node or anchor holds for. `None`: nothing to
/// count, or the condition asks what a graph alone cannot tell.
#[salsa::tracked(returns(clone))]
fn matched<'db>(db: &'db dyn Db, rules: RuleSet, at: At<'db>, name: db::EntryName<'db>) -> Option<Matched> {
    let (kind, name) = (name.kind(db), name.name(db));
    let entry = db::entry(db, rules, db::EntryName::new(db, kind, name))?;
    let snapshot = at.snapshot(db);
    let linked = program(db, rules, Roots::of(db, [(kind, name)]));
    let id = linked.0.entry(kind, name)?;
    let cells = Cells { db, rules };
    let host = Indexed::new(cells);
    // On one graph nothing but a cell can be another one; what asks none is remembered as it is.
    let asks_cells =
        linked.0.bodies().any(|body| body.exprs.iter().any(|e| matches!(e, Expr::Matrix { .. })));
    let memory = match asks_cells && db.tally().is_none() {
        true => Memory::of_loop(&cells, ((kind, name), GraphId::ROOT), linked, snapshot),
        false => None,
    };
    let mut machine = Machine::over(&linked.0, &host, snapshot, GraphId::ROOT);
    if let Some(memory) = &memory {
        memory.lend(&mut machine);
    }
    machine.share_alike();
    let subject = match &*entry {
        Entry::Pass { subject, .. } | Entry::Lint { subject, .. } => subject.as_ref(),
        Entry::Chain(chain) => Some(&chain.subject),
        _ => None,
    };
    // What is asked about comes last in the frame.
    let (mut frame, condition, ty) = match (&*entry, subject) {
        (_, Some(subject)) => {
            let condition = subject.condition.filter(|_| subject.list.is_none())?;
            (vec![Value::Graph(GraphId::ROOT)], condition, Ty::Node)
        }
        (Entry::Fn { params: 1, result: Ty::Bool, value, .. }, None) => {
            (Vec::new(), *value, first_param(db, rules, db::EntryName::new(db, kind, name))?)
        }
        _ => return None,
    };
    let all: Vec<Value> = match ty {
        Ty::Node => snapshot.dense().order().iter().map(|&node| Value::Node(node)).collect(),
        Ty::Input => inputs(snapshot).map(Value::from).collect(),
        Ty::Output => outputs(snapshot).map(Value::from).collect(),
        Ty::Anchor => inputs(snapshot).chain(outputs(snapshot)).map(Value::from).collect(),
        _ => return None,
    };
    let of = all.len();
    let turn = machine.subject_turn(id, &frame);
    // What holds is reported, so that it is taken over.
    let (places, around) = (Arc::from([]), Arc::from([]));
    let (message, level, help, answer) = (TextId::default(), None, None, None);
    let holds = Report { entry: id, places, message, level, help, answer, frame: around };
    for of_node in all.chunk_by(|one, next| node_of(one) == node_of(next)) {
        // Many nodes must not make an edit of the rules wait.
        db.unwind_if_revision_cancelled();
        let mut ask = |machine: &mut Machine<'_>| {
            for one in of_node {
                frame.push(one.clone());
                let is_met = machine.test(id, condition, &frame);
                frame.pop();
                if is_met? {
                    machine.report(holds.clone());
                }
            }
            Ok(())
        };
        match (&turn, of_node.first().and_then(node_of)) {
            (Some(turn), Some(node)) => machine.again(turn, node, ask),
            _ => ask(&mut machine),
        }
        .ok()?;
    }
    let count = machine.take_reports().len();
    if let Some(memory) = &memory {
        memory.keep(&mut machine);
    }
    machine.keep_kinds();
    Some(Matched { kind, name, count, of, nodes: ty == Ty::Node })
}

fn node_of(value: &Value) -> Option<NodeId> {
    value.as_node().or_else(|| value.as_anchor().map(Anchor::node))
}

fn inputs(snapshot: &Snapshot) -> impl Iterator<Item = Anchor> + '_ {
    let dense = snapshot.dense();
    let ports = |node: NodeId| 0..dense.ports(node).unwrap_or_default().0;
    dense.order().iter().flat_map(move |&node| ports(node).map(move |at| Anchor::In(node.input(at))))
}

fn outputs(snapshot: &Snapshot) -> impl Iterator<Item = Anchor> + '_ {
    let dense = snapshot.dense();
    let ports = |node: NodeId| 0..dense.ports(node).unwrap_or_default().1;
    dense.order().iter().flat_map(move |&node| ports(node).map(move |at| Anchor::Out(node.output(at))))
}

/// What a run did, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Findings of each rule.
    pub fires: BTreeMap<(Kind, &'static str), usize>,
    /// Edits of each pass, chain or action.
    pub edits: BTreeMap<&'static str, usize>,
}

/// What one step did, in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepCounts {
    /// Findings that an edit answers.
    pub(super) fires: FxHashMap<RuleRef, usize>,
    /// Findings that nothing answers: of equal ones of several steps only the first counts.
    pub(super) remarks: FxHashMap<RuleRef, usize>,
    /// By pass and rule.
    pub(super) edits: FxHashMap<(Sym, Sym), usize>,
}

/// What a step did, in numbers.
#[salsa::tracked(returns(ref))]
fn step_counts<'db>(db: &'db dyn Db, rules: RuleSet, run: PassRun<'db>, told: Sym) -> StepCounts {
    Renderer::new(db, rules, run.at(db).snapshot(db)).counts(told, run_pass(db, rules, run))
}

impl Session {
    /// Runs passes as [`Session::run`] does, and counts what it would tell.
    ///
    /// # Errors
    /// The rule set has errors, or a name is unknown.
    pub fn count(&self, snapshot: &Snapshot, request: &Request) -> Result<RunCounts, RunError> {
        let (db, rules) = (&self.db, self.rules);
        let mut counts = RunCounts::default();
        let mut remarked: Vec<(PassRun<'_>, &StepCounts)> = Vec::new();
        self.each_step(snapshot, request, |step, run| {
            let of = step_counts(db, rules, run, step.told);
            let may_repeat =
                |before: &StepCounts| of.remarks.keys().any(|rule| before.remarks.contains_key(rule));
            let before = remarked.iter().filter(|(_, counts)| may_repeat(counts)).map(|(run, _)| *run);
            let before: Vec<PassRun<'_>> = before.collect();
            let again = (!before.is_empty()).then(|| said_again(db, rules, run, Steps::new(db, before)));
            for (rule, count) in of.fires.iter().chain(&of.remarks) {
                *counts.fires.entry((rule.kind, rule.name.as_str())).or_insert(0) += count;
            }
            for (rule, count) in again.into_iter().flatten() {
                counts.fires.entry((rule.kind, rule.name.as_str())).and_modify(|fires| *fires -= count);
            }
            if !of.remarks.is_empty() {
                remarked.push((run, of));
            }
            for (&(pass, rule), count) in &of.edits {
                *counts.edits.entry(pass.as_str()).or_insert(0) += count;
                if rule != pass {
                    *counts.edits.entry(rule.as_str()).or_insert(0) += count;
                }
            }
        })?;
        Ok(counts)
    }

    /// For how many anchors or nodes of a graph the conditions hold: those of attributes (in the layer of the first `symbols`
    /// entry, with the outermost graph as target), of the subjects of passes, chains and lints, and functions of one thing.
    pub fn matches(&self, snapshot: &Snapshot) -> Vec<Matched> {
        let (db, rules) = (&self.db, self.rules);
        let at = At::new(db, snapshot.clone());
        let mut found = Vec::new();
        if let Some(symbols) = live(db, rules).names(Kind::Symbols).next() {
            let layer = Layer::new(db, at, symbols, GraphId::ROOT);
            let dense = snapshot.dense();
            for &mark in names(db, rules, Kind::Attribute) {
                let Ok(list) = mark_list(db, rules, layer, mark) else { continue };
                let of = match list.side {
                    Side::Input => dense.input_count(),
                    Side::Output => dense.output_count(),
                };
                let count = list.places.len();
                found.push(Matched { kind: Kind::Attribute, name: mark, count, of, nodes: false });
            }
        }
        for kind in [Kind::Pass, Kind::Chain, Kind::Lint, Kind::Fn] {
            let names = names(db, rules, kind).iter();
            found
                .extend(names.filter_map(|&name| matched(db, rules, at, db::EntryName::new(db, kind, name))));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::RuleSources;
    use crate::format::notation;

    #[test]
    fn conditions_are_counted_on_a_graph() {
        let rules = "set SOURCES = { Src }\n\
            fn is_source(n: Node) -> Bool = n.type in SOURCES\n\
            fn is_late(i: Input) -> Bool = i.index > 0\n\
            fn is_big(i: Int) -> Bool = i > 0\n\
            symbols memory(target: Graph) { for n in target.nodes { for o in n.outputs { found o } } }\n\
            attribute FROM_SOURCE on output\n  where is_source(node)\n\
            pass p for n: Node where n.inputs.count == 2 and is_big(2) { stop }\n\
            pass q { stop }\n";
        let files = vec![("a.anchor".to_owned(), rules.to_owned(), false)];
        let session = Session::new(RuleSources { files });
        let errors: Vec<_> = session.diagnostics().into_iter().map(|d| d.diagnostic.message).collect();
        assert!(errors.iter().all(|message| message.contains("never used")), "{errors:?}");
        let graph = notation::parse("a: Src\nb: Src\nc: Add(a, b)\nd: Neg(c)\n").0.expect("a graph");
        let counts: Vec<(&str, usize, usize)> = session
            .matches(&graph)
            .iter()
            .map(|matched| (matched.name.as_str(), matched.count, matched.of))
            .collect();
        assert_eq!(counts, [("FROM_SOURCE", 2, 4), ("p", 1, 4), ("is_source", 2, 4), ("is_late", 1, 3)]);
    }

    #[test]
    fn what_two_steps_say_word_for_word_of_the_same_places_is_counted_once() {
        let lint = |name: &str, body: &str| {
            format!("lint {name} W_{name} warn for n: Node where n.inputs.count == 2 {{ {body} }}\n")
        };
        let rules = [
            "attr size: int on node\n".to_owned(),
            lint("named", r#"report n "{n.name} has two inputs""#),
            lint("sized", r#"report n "{n.name} has size {n.attr(size) ?? 0}""#),
            lint("either", r#"if n.attr(size) == 9 { report n "two" } else { report n "two" }"#),
            lint("otherwise", r#"if n.attr(size) == 9 { report n "nine" } else { report n "less" }"#),
            lint("twice", r#"report n "again"; report n "again""#),
            "pass grows for n: Node where n.attr(size) == 1 { set n.attr(size) = 9 }\n".to_owned(),
            "pipeline lints = named, sized, either, otherwise, twice\n".to_owned(),
            "pipeline all as default = lints, grows, lints\n".to_owned(),
        ];
        let files = vec![("a.anchor".to_owned(), rules.concat(), false)];
        let session = Session::new(RuleSources { files });
        let errors: Vec<_> = session.diagnostics().into_iter().map(|d| d.diagnostic.message).collect();
        assert_eq!(errors, [""; 0]);
        let text = "a: Src\nb: Add(a, a) { size = 1 }\nc: Add(a, b) { size = 2 }\n";
        let graph = notation::parse(text).0.expect("a graph");
        let request = Request { graph: GraphId::ROOT, node: None, steps: Vec::new(), sort: false };
        let counts = session.count(&graph, &request).expect("sound rules");
        let fires: Vec<(&str, usize)> =
            counts.fires.iter().map(|((_, name), count)| (*name, *count)).collect();
        // What is said of `b` is another size, and another word, when it has grown.
        assert_eq!(fires, [("either", 2), ("named", 2), ("otherwise", 3), ("sized", 3), ("twice", 4)]);
        let told = session.run(&graph, &request).expect("sound rules").findings().count();
        assert_eq!(told, fires.iter().map(|(_, count)| count).sum::<usize>());
    }

    #[test]
    fn what_is_said_in_another_order_is_counted_once() {
        let rules = "attr rank: int on node\nattr loud: bool on node\n\
            lint ranked W1 warn { for n in root.nodes.sort_by(it.attr(rank) ?? 0) {\n  \
            if n.attr(loud) { report n \"{n.name} {n.attr(rank)}\" } else { report n \"{n.name}\" } } }\n\
            pass turns for n: Node { if not n.attr(loud) { set n.attr(rank) = 100 - (n.attr(rank) ?? 0) } }\n\
            pass hushes for n: Node where n.attr(loud) { set n.attr(rank) = 50 }\n\
            pipeline all as default = ranked, turns, ranked, hushes, ranked\n";
        let files = vec![("a.anchor".to_owned(), rules.to_owned(), false)];
        let session = Session::new(RuleSources { files });
        let errors: Vec<_> = session.diagnostics().into_iter().map(|d| d.diagnostic.message).collect();
        assert_eq!(errors, [""; 0]);
        let node = |n| format!("n{n}: Src {{ rank = {n}, loud = {} }}\n", n % 10 == 3);
        let text: String = (0..60).map(node).collect();
        let graph = notation::parse(&text).0.expect("a graph");
        let request = Request { graph: GraphId::ROOT, node: None, steps: Vec::new(), sort: false };
        let counts = session.count(&graph, &request).expect("sound rules");
        // Six of them are loud, and have another rank in the end.
        assert_eq!(counts.fires.values().copied().collect::<Vec<_>>(), [66]);
        assert_eq!(session.run(&graph, &request).expect("sound rules").findings().count(), 66);
    }

    #[test]
    fn a_condition_that_asks_cells_is_counted_as_a_new_session_counts_it() {
        let rules = |cells: u32| {
            let cell = |bit: u32| if cells >> bit & 1 == 1 { "Bad" } else { "Good" };
            format!(
                "set ADDS = {{ Add }}\nset ALL = {{ Add, Src }}\nenum Way {{ In, Out, Other }}\n\
                 matrix verdict(one: Way, other: Way) -> {{ Good, Bad }}\n  | In | Out | Other\n\
                 In | {} | {} | Bad\nOut | {} | {} | Good\nOther | Good | Bad | Good\n\
                 fn way(n: Node) -> Way = if n.type in ADDS then In else if n.type in ALL then Out else Other\n\
                 fn is_bad(n: Node) -> Bool = verdict(way(n), way(n)) == Bad\n\
                 fn is_bad_in(i: Input) -> Bool = verdict(way(i.node), if i.index == 0 then In else Out) == Bad\n",
                cell(0),
                cell(1),
                cell(2),
                cell(3)
            )
        };
        let session = |cells: u32| {
            let session =
                Session::new(RuleSources { files: vec![("a.anchor".to_owned(), rules(cells), false)] });
            assert!(!session.has_errors(), "{:#?}", session.diagnostics());
            session
        };
        let add = |n: usize| format!("n{n}: {}(n{}, n0)\n", ["Add", "Neg"][n % 2], n - 1);
        let text = "n0: Src\n".to_owned() + &(1..40).map(add).collect::<String>();
        let graph = notation::parse(&text).0.expect("a graph");
        let mut kept = session(0);
        kept.expect_edits();
        kept.matches(&graph);
        let mut taken_over = 0;
        for cells in [1, 0, 2, 3, 7, 15, 8, 0, 5] {
            kept.set_text("a.anchor", &rules(cells));
            assert_eq!(kept.matches(&graph), session(cells).matches(&graph), "{cells:b}");
            let last = kept.db.past_runs().and_then(|runs| runs.last());
            taken_over += last.map_or(0, |run| run.rounds.count().1);
        }
        // Other nodes ask other cells.
        assert!(taken_over > 9 * 15, "{taken_over}");
    }
}
