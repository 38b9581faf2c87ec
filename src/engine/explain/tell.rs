//! The whole story of a node or an anchor: run the steps, find what looked at it, say what came of it.

use super::acts::{Met, Wanted};
use super::changes::copy;
use super::layer::Looked;
use super::why::{Frame, Why};
use super::words::Words;
use super::{AnchorStory, ExplainTarget, Explanation, TraceStep, Verdict, VerdictStory};
use crate::engine::outcome::PassFailure;
use crate::engine::queries::At;
use crate::engine::render::Renderer;
use crate::engine::run::{Draft, PassResult, PassRun, Resolved, run_pass};
use crate::engine::session::{Request, RunError, Session, Step};
use crate::graph::{Anchor, GraphId, NodeId, Snapshot, State};
use crate::lang::eval::{EditKind, EditRecord, Machine, Value};
use crate::lang::hir::{Block, Entry, Expr, Local, Statement};

/// How deep functions are opened where a pass left a conflict alone.
const DEEP: u32 = 4;

/// One step of the run with what it started from.
pub(super) struct Stage<'s> {
    pub step: Step,
    pub run: PassRun<'s>,
    pub before: Snapshot,
    pub result: &'s PassResult,
}

impl Session {
    /// Why an anchor was isolated, or was not, by the steps of a request; of a node all its anchors and the chains
    /// that looked at it.
    ///
    /// # Errors
    /// As [`Session::run`]: nothing can be run.
    pub fn explain(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        target: ExplainTarget,
    ) -> Result<Explanation, RunError> {
        let stages = self.stages(snapshot, request)?;
        let teller = Teller { session: self, snapshot, root: request.graph, stages };
        let state = teller.home(target.node);
        let mut anchors: Vec<AnchorStory> =
            anchors(state, target).into_iter().flat_map(|anchor| teller.anchor(anchor)).collect();
        let passes = teller.passes(target, anchors.iter().any(|story| story.symbol.is_some()));
        // That nobody looked for conflicts of an anchor is no news beside what passes did.
        if !passes.is_empty() {
            anchors.retain(|story| story.symbol.is_some());
        }
        let asked = state.contains(target.node).then(|| match target.anchor {
            Some(anchor) => teller.renderer(state).place(anchor, String::new()),
            None => teller.renderer(state).node_place(target.node, String::new()),
        });
        let bytes = super::tensor_bytes(state, target.node, target.anchor);
        Ok(Explanation { asked, bytes, passes, anchors })
    }

    /// Runs the steps of a request, and keeps what each started from and left.
    pub(super) fn stages(&self, snapshot: &Snapshot, request: &Request) -> Result<Vec<Stage<'_>>, RunError> {
        if self.has_errors() {
            return Err(RunError::Rules);
        }
        let mut before = snapshot.clone();
        let mut counters = Vec::new();
        let mut stages = Vec::new();
        let steps = self.steps(request)?;
        let mut number = 0;
        while let Some(&step) = steps.get(number) {
            number += 1;
            let at = At::new(&self.db, before.clone());
            let (graph, node) = (request.graph, request.node);
            let run = PassRun::new(&self.db, at, step.kind, step.name, graph, node, counters);
            let result = run_pass(&self.db, self.rules, run);
            counters = result.counters.clone();
            let failed = result.failure.is_some();
            let after = result.after.clone();
            stages.push(Stage { step, run, before: std::mem::replace(&mut before, after), result });
            if failed {
                number = step.resume.unwrap_or(steps.len());
            }
        }
        Ok(stages)
    }
}

fn anchors(state: &State, target: ExplainTarget) -> Vec<Anchor> {
    let Some(node) = state.get_node(target.node) else { return Vec::new() };
    let inputs = (0..node.inputs.len() as u32).map(|at| Anchor::In(target.node.input(at)));
    let outputs = (0..node.outputs.len() as u32).map(|at| Anchor::Out(target.node.output(at)));
    target.anchor.map_or_else(|| inputs.chain(outputs).collect(), |anchor| vec![anchor])
}

pub(super) struct Teller<'s> {
    pub session: &'s Session,
    /// The graph as it was given.
    pub snapshot: &'s Snapshot,
    /// The graph that the steps ran on.
    root: GraphId,
    pub stages: Vec<Stage<'s>>,
}

impl<'s> Teller<'s> {
    /// A story for each `resolve` that looked at the anchor; one without rules if none did.
    fn anchor(&self, anchor: Anchor) -> Vec<AnchorStory> {
        let mut stories = Vec::new();
        for stage in &self.stages {
            for resolved in stage.result.resolved.iter() {
                match Looked::new(self.session, resolved, &stage.result.drafts) {
                    Ok(looked) if looked.contains(anchor) => {
                        stories.push(self.looked_at(stage, resolved, &looked, anchor));
                    }
                    // What fails here has failed in the pass: it is told below.
                    _ => {}
                }
            }
        }
        if stories.is_empty() {
            let mut story = self.blank(self.snapshot, anchor);
            story.outcome = self.not_looked_at(anchor);
            stories.push(story);
        }
        stories
    }

    /// The first graph of the run that has a node: the one given, or what a step left that inserted it.
    pub fn home(&self, node: NodeId) -> &Snapshot {
        let left = self.stages.iter().map(|stage| &stage.result.after);
        std::iter::once(self.snapshot).chain(left).find(|state| state.contains(node)).unwrap_or(self.snapshot)
    }

    pub fn renderer<'a>(&'a self, snapshot: &'a Snapshot) -> Renderer<'a> {
        Renderer::new(&self.session.db, self.session.rules, snapshot)
    }

    fn blank(&self, state: &Snapshot, anchor: Anchor) -> AnchorStory {
        AnchorStory {
            place: self.renderer(state).place(anchor, String::new()),
            symbol: None,
            sharers: Vec::new(),
            hidden: 0,
            marks: Vec::new(),
            verdicts: Vec::new(),
            outcome: String::new(),
            steps: Vec::new(),
        }
    }

    fn looked_at(
        &self,
        stage: &Stage<'_>,
        resolved: &Resolved,
        looked: &Looked<'_>,
        anchor: Anchor,
    ) -> AnchorStory {
        let mut story = self.blank(&resolved.snapshot, anchor);
        story.symbol = looked.symbol(anchor);
        (story.sharers, story.hidden) = looked.sharers(anchor);
        story.marks = looked.mark_stories(anchor);
        story.verdicts = match looked.verdicts(anchor) {
            Ok(verdicts) => verdicts,
            Err(failure) => {
                let failure = self.renderer(&resolved.snapshot).failure(stage.step.told, &failure);
                story.outcome = failed(&failure);
                return story;
            }
        };
        let mut outcome = self.inserted_earlier(&resolved.snapshot, anchor);
        match looked.draft(anchor) {
            Some(Draft::Conflict { edits, .. }) if edits.is_empty() => {
                outcome.push(format!("in conflict, but `{}` left it alone", stage.step.told));
                story.steps = self.left_alone(stage, resolved, anchor);
            }
            Some(Draft::Conflict { edits, .. }) => {
                // A pass that failed has conflicts, but its edits are gone.
                outcome.push(match stage.result.edits.get(edits.clone()) {
                    Some(edits) => answered(edits, &stage.result.after, anchor),
                    None => "in conflict".to_owned(),
                });
            }
            _ => outcome.push(untouched(&story)),
        }
        if let Some(failure) = &stage.result.failure {
            let failure = self.renderer(&stage.before).failure(stage.step.told, failure);
            outcome.push(format!("all of it was taken back: {}", failed(&failure)));
        }
        story.outcome = outcome.join("; ");
        story
    }

    /// Copies that earlier steps put next to the anchor.
    fn inserted_earlier(&self, at: &Snapshot, anchor: Anchor) -> Vec<String> {
        let (neighbours, side): (Vec<NodeId>, _) = match anchor {
            Anchor::In(input) => {
                (at.producer(input).map(|output| output.node).into_iter().collect(), "before")
            }
            Anchor::Out(output) => (at.consumers(output).map(|input| input.node).collect(), "after"),
        };
        let mut told = Vec::new();
        for neighbour in neighbours.into_iter().filter(|node| !self.snapshot.contains(*node)) {
            let by = self.stages.iter().find(|stage| {
                let made = |record: &EditRecord| matches!(record.kind, EditKind::Insert { node, .. } if node == neighbour);
                stage.result.edits.iter().any(made)
            });
            if let (Some(stage), Some(node)) = (by, at.get_node(neighbour)) {
                let text = format!("`{}` was inserted {side} it by `{}`", node.name, stage.step.told);
                if !told.contains(&text) {
                    told.push(text);
                }
            }
        }
        told
    }

    /// Why the body of a `resolve` changed nothing for a conflict: the conditions on its way to the end.
    fn left_alone(&self, stage: &Stage<'_>, resolved: &Resolved, anchor: Anchor) -> Vec<TraceStep> {
        let linked = &stage.result.program;
        let Some(entry) = linked.0.entry(stage.step.kind, stage.step.name) else { return Vec::new() };
        let block = match linked.0.hir(entry).map(|hir| &**hir) {
            Some(Entry::Pass { block, .. } | Entry::Lint { block, .. }) => block,
            _ => return Vec::new(),
        };
        let Some((graph, local, body)) = find_resolve(block, resolved) else { return Vec::new() };
        let host = self.session.cells();
        // A copy for another conflict may stand there only since the pass began.
        for state in [&resolved.snapshot, &stage.result.after] {
            let mut machine = Machine::over(&linked.0, &host, state, self.root);
            let words = Words { db: &self.session.db, rules: self.session.rules };
            let mut why = Why::new(&mut machine, words, DEEP);
            let mut frame = Frame::new(entry, &[Value::Graph(self.root)]);
            if let Some(Expr::Local(slot)) =
                linked.0.hir(entry).and_then(|hir| hir.body()).and_then(|body| body.exprs.get(graph as usize))
            {
                frame.bind(*slot, Value::Graph(resolved.target));
            }
            frame.bind(local, anchor.into());
            let Met { changes, .. } = why.acts(&mut frame, body, (anchor, Wanted::Any), 0);
            if !changes {
                return why.steps;
            }
        }
        Vec::new()
    }

    /// What to say of an anchor that no `resolve` looked at.
    fn not_looked_at(&self, anchor: Anchor) -> String {
        let failed = self.stages.iter().find_map(|stage| {
            let failure = stage.result.failure.as_ref()?;
            Some(failed(&self.renderer(&stage.before).failure(stage.step.told, failure)))
        });
        if let Some(failed) = failed {
            return failed;
        }
        if self.stages.iter().all(|stage| stage.result.resolved.is_empty()) {
            let mut told: Vec<_> = self.stages.iter().map(|stage| stage.step.told).collect();
            told.dedup();
            let names: Vec<String> = told.iter().map(|name| format!("`{name}`")).collect();
            return match names.is_empty() {
                true => "left alone: nothing ran".to_owned(),
                false => format!("left alone: no conflicts were looked for by {}", names.join(", ")),
            };
        }
        let last = self.stages.last().map_or(self.snapshot, |stage| &stage.result.after);
        if !last.contains(anchor.node()) {
            return "its node was deleted before conflicts were looked for".to_owned();
        }
        "left alone: no conflicts were looked for in its graph".to_owned()
    }
}

/// The `resolve` statement that a layer came from.
fn find_resolve<'b>(block: &'b Block, resolved: &Resolved) -> Option<(u32, Local, &'b Block)> {
    block.iter().find_map(|statement| match statement {
        Statement::Resolve { symbols, graph, local, body } if *symbols == resolved.symbols => {
            Some((*graph, *local, body))
        }
        _ => statement.blocks().into_iter().find_map(|block| find_resolve(block, resolved)),
    })
}

pub(super) fn failed(failure: &PassFailure) -> String {
    format!("`{}` failed: {}", failure.pass, failure.message)
}

/// What was done for a conflict.
fn answered(edits: &[EditRecord], after: &State, anchor: Anchor) -> String {
    let side = if anchor.is_in() { "before" } else { "after" };
    let copies: Vec<String> = edits
        .iter()
        .filter_map(|record| match &record.kind {
            EditKind::Insert { node, op, name, .. } => {
                Some(copy(after, *node).unwrap_or_else(|| format!("{op} `{name}`")))
            }
            _ => None,
        })
        .collect();
    match copies.as_slice() {
        [] => format!("isolated: the graph was changed in {} places", edits.len()),
        [one] => format!("isolated: {one} was inserted {side} it"),
        several => format!("isolated: {} were inserted {side} it", several.join(", ")),
    }
}

/// Why nothing was done for an anchor without a conflict of its own.
fn untouched(story: &AnchorStory) -> String {
    let is = |wanted: Verdict| story.verdicts.iter().filter(move |verdict| verdict.verdict == wanted);
    let others: Vec<&VerdictStory> =
        is(Verdict::PartnerIsolated).chain(is(Verdict::OthersIsolated)).collect();
    if is(Verdict::Isolated).next().is_some() {
        "left alone: copies for other anchors have broken its conflict already".to_owned()
    } else if !others.is_empty() {
        "left alone: its conflicts are broken elsewhere".to_owned()
    } else if story.symbol.as_ref().is_none_or(|(_, size)| *size < 2) {
        "left alone: it shares its memory with no other anchor".to_owned()
    } else if story.verdicts.is_empty() {
        "left alone: no rule is about its marks together with those beside it".to_owned()
    } else {
        "left alone: no rule finds a conflict".to_owned()
    }
}
