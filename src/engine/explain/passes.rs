//! What the steps of a run did to a node or decided about it, as stories.

use rustc_hash::FxHashSet;

use super::changes::{DELETED, INSERTED, touched};
use super::observe::{Act, Asked, ChainAct, Mode, Observer, What};
use super::scan::node_of;
use super::tell::{Stage, Teller, failed};
use super::trail::CASE;
use super::words::Words;
use super::{ActKind, ActStory, ChainStory, ExplainTarget, PassStory, RequirementStory, StepKind, TraceStep};
use crate::engine::outcome::{PlaceRef, RuleRef};
use crate::engine::run::run_watched;
use crate::graph::{Anchor, NodeId, Snapshot};
use crate::lang::eval::EntryId;
use crate::lang::syntax::ast::Kind;

/// What is said of a node that a rule is not for.
const NOT_ITS: &str = "not looked at";

/// What is told first of all: no deletion, no new node, no finding, no chain.
const GRAVE: u8 = 2;

/// Rank of a decision of a rule that is for other operator types.
const FOREIGN: u8 = 9;

impl Teller<'_> {
    /// A story for each step that had to do with what is asked about. `told`: a layer tells of it, so that only what is
    /// about it and grave is of interest.
    pub fn passes(&self, target: ExplainTarget, told: bool) -> Vec<PassStory> {
        let asked = Asked { nodes: FxHashSet::from_iter([target.node]), anchor: target.anchor };
        let mut stories: Vec<PassStory> =
            self.stages.iter().filter_map(|stage| self.pass(stage, &asked, target, told)).collect();
        // A pass may run several times in one pipeline.
        let mut seen: Vec<PassStory> = Vec::new();
        stories.retain(|story| {
            let new = !seen.contains(story);
            if new {
                seen.push(story.clone());
            }
            new
        });
        let limits = if told { &[GRAVE][..] } else { &[GRAVE, FOREIGN - 1, FOREIGN] };
        for &limit in limits {
            let counts = |act: &ActStory| act.kind != ActKind::Refused || act.rank <= limit;
            let is_empty = |story: &PassStory| story.chains.is_empty() && !story.acts.iter().any(counts);
            if limit == limits[limits.len() - 1] || !stories.iter().all(is_empty) {
                stories.retain(|story| !is_empty(story));
                stories.iter_mut().for_each(|story| story.acts.retain(counts));
                break;
            }
        }
        stories
    }

    fn pass(&self, stage: &Stage<'_>, asked: &Asked, target: ExplainTarget, told: bool) -> Option<PassStory> {
        let (db, rules) = (&self.session.db, self.session.rules);
        let words = Words { db, rules };
        let survey = Observer::new(words, &stage.before, asked, Mode::Survey);
        run_watched(db, rules, stage.run, Some(&survey));
        let wanted = survey.wanted();
        let is_touched = stage.result.edits.iter().any(|record| {
            touched(&record.kind).into_iter().flatten().any(|node| asked.nodes.contains(&node))
        });
        if wanted.is_empty() && !is_touched {
            return None;
        }
        let observer = Observer::new(words, &stage.before, asked, Mode::Tell(wanted));
        run_watched(db, rules, stage.run, Some(&observer));
        let (acts, chains) = observer.told();
        let chains: Vec<ChainStory> = match target.anchor {
            None => chains.into_iter().map(|chain| self.chain(stage, chain)).collect(),
            Some(_) => Vec::new(),
        };
        let mut acts: Vec<ActStory> =
            acts_about(acts, target.anchor, told).into_iter().map(|act| self.act(stage, act)).collect();
        // Beside its deletion nothing counts.
        let is_deletion =
            |act: &ActStory| act.kind == ActKind::Done && act.what.iter().any(|text| text == DELETED);
        if acts.iter().any(is_deletion) {
            acts.retain(is_deletion);
            for act in &mut acts {
                act.what.retain(|text| text == DELETED);
            }
        }
        merge_insertion(&mut acts);
        merge_findings(&mut acts);
        // A rule may come by several times.
        let mut seen: Vec<ActStory> = Vec::new();
        for act in acts {
            if !seen.contains(&act) {
                seen.push(act);
            }
        }
        let mut acts = seen;
        // Of decisions of one weight the last one stands.
        acts.reverse();
        let tells = |act: &ActStory| act.steps.iter().any(|step| step.kind != StepKind::Part);
        acts.sort_by_key(|act| (act.kind == ActKind::Refused, act.rank, !tells(act)));
        let done = acts.iter().take_while(|act| act.kind != ActKind::Refused).count();
        acts[..done].reverse();
        acts.splice(..0, self.answers(stage, target.node, target.anchor));
        let failure = stage
            .result
            .failure
            .as_ref()
            .map(|failure| failed(&self.renderer(&stage.before).failure(stage.step.told, failure)));
        if acts.is_empty() && chains.is_empty() {
            return None;
        }
        let rule = RuleRef { kind: stage.step.kind, name: stage.step.name };
        Some(PassStory { told: stage.step.told, rule, chains, acts, failure })
    }

    /// A graph of the stage that has a node.
    fn state<'a>(&'a self, stage: &'a Stage<'_>, node: NodeId) -> &'a Snapshot {
        if stage.before.contains(node) { &stage.before } else { &stage.result.after }
    }

    fn node(&self, stage: &Stage<'_>, node: NodeId) -> PlaceRef {
        self.renderer(self.state(stage, node)).node_place(node, String::new())
    }

    fn place(&self, stage: &Stage<'_>, node: NodeId, anchor: Option<Anchor>) -> PlaceRef {
        match anchor {
            Some(anchor) => self.renderer(self.state(stage, node)).place(anchor, String::new()),
            None => self.node(stage, node),
        }
    }

    fn rule(&self, stage: &Stage<'_>, entry: EntryId) -> RuleRef {
        let key = stage.result.program.0.key(entry);
        let (kind, name) = key.unwrap_or((stage.step.kind, stage.step.name));
        RuleRef { kind, name }
    }

    fn act(&self, stage: &Stage<'_>, act: Act) -> ActStory {
        let place = self.place(stage, act.node, act.anchor);
        let by = self.rule(stage, act.entry);
        let part = |place: PlaceRef| PlaceRef { role: part_in(&act.steps, &place.name), ..place };
        let during = act
            .during
            .and_then(|item| node_of(&item).map(|node| part(self.place(stage, node, item.as_anchor()))));
        let place = part(place);
        let (kind, what, places, help, rank) = match act.what {
            What::Done(changes) => {
                let what = changes.into_iter().map(|(_, text)| text).collect();
                (ActKind::Done, what, Vec::new(), None, 0)
            }
            What::Reported { message, help, places } => {
                let places = places
                    .iter()
                    .filter_map(|value| Some(part(self.place(stage, node_of(value)?, value.as_anchor()))));
                (ActKind::Reported, vec![message], places.collect(), help, 0)
            }
            What::Refused { stake, foreign, whole } => {
                let rank = if foreign { FOREIGN } else { stake.rank() };
                let what = if whole { NOT_ITS.to_owned() } else { stake.refused() };
                (ActKind::Refused, vec![what], Vec::new(), None, rank)
            }
        };
        let (because_of, also, steps, more) = (None, Vec::new(), act.steps, act.more);
        ActStory { place, kind, what, because_of, by, during, places, help, also, steps, more, rank }
    }

    fn chain(&self, stage: &Stage<'_>, chain: ChainAct) -> ChainStory {
        let place = self.node(stage, chain.node);
        let requirements = chain
            .requirements
            .into_iter()
            .map(|(name, answer, steps)| RequirementStory { name, answer, steps })
            .collect::<Vec<_>>();
        let passed = chain.kept.is_none();
        let (outcome, help) = match chain.kept {
            None => ("all requirements hold".to_owned(), None),
            Some((reason, help)) if reason.is_empty() => {
                let failed = requirements.last().map_or("", |requirement| requirement.name.as_str());
                (format!("kept as it is: `{failed}` does not hold"), help)
            }
            Some((reason, help)) => (format!("kept as it is: {reason}"), help),
        };
        let rule = RuleRef { kind: Kind::Chain, name: chain.chain };
        ChainStory { rule, place, walks: chain.walks, requirements, passed, outcome, help }
    }
}

/// What was done to a node that the pass inserted is told in one with its insertion.
fn merge_insertion(acts: &mut Vec<ActStory>) {
    let is_insertion = |act: &ActStory| act.what.iter().any(|text| text == INSERTED);
    let Some(at) = acts.iter().position(is_insertion) else { return };
    let mut insertion = acts.remove(at);
    acts.retain_mut(|act| {
        let done = act.kind == ActKind::Done;
        if done {
            insertion.what.append(&mut act.what);
        }
        !done
    });
    insertion.what.sort_by_key(|text| text != INSERTED);
    acts.push(insertion);
}

/// A finding and what was done about it rest on the same decisions, and are told in one.
fn merge_findings(acts: &mut Vec<ActStory>) {
    let (findings, others): (Vec<ActStory>, Vec<ActStory>) =
        acts.drain(..).partition(|act| act.kind == ActKind::Reported);
    *acts = others;
    for finding in findings {
        let answer = acts
            .iter_mut()
            .find(|act| act.kind == ActKind::Done && act.steps == finding.steps && act.because_of.is_none());
        match answer {
            Some(answer) => {
                answer.because_of = finding.what.into_iter().next();
                answer.help = finding.help;
            }
            None => acts.push(finding),
        }
    }
}

/// The part that a node has in a story: the value by which an anchor of it got into a list, and the case that gave it.
fn part_in(steps: &[TraceStep], node: &str) -> String {
    let is_own = |step: &TraceStep| {
        let anchor = step.value.rsplit_once(':').map_or(step.value.as_str(), |(name, _)| name);
        step.kind == StepKind::Element && anchor == node
    };
    let Some(start) = steps.iter().position(is_own) else { return String::new() };
    let inside = steps[start + 1..].iter().take_while(|step| step.depth > steps[start].depth);
    let inside: Vec<&TraceStep> = inside.collect();
    let value =
        inside.iter().find(|step| !step.value.starts_with("true") && !step.value.starts_with("false"));
    let case = inside.iter().rfind(|step| matches!(step.kind, StepKind::Case | StepKind::Else));
    match (value, case.and_then(|case| case.source.strip_prefix(CASE))) {
        (Some(value), Some(case)) => format!("{} ({case})", value.value),
        (Some(value), None) => value.value.clone(),
        (None, _) => String::new(),
    }
}

/// Of what happened to a node, what is about one anchor; about the node as a whole if there is nothing else, and
/// nothing else is `told`.
fn acts_about(acts: Vec<Act>, anchor: Option<Anchor>, told: bool) -> Vec<Act> {
    let Some(asked) = anchor else { return acts };
    let mut own = Vec::new();
    let mut whole = Vec::new();
    for act in acts {
        let What::Done(changes) = &act.what else {
            match act.anchor {
                Some(anchor) if anchor == asked => own.push(act),
                Some(_) => {}
                None => whole.push(act),
            }
            continue;
        };
        let deleted = changes.iter().any(|(_, text)| text == DELETED);
        let only = |wanted: Option<Anchor>| {
            changes.iter().filter(|(of, _)| deleted || *of == wanted).cloned().collect::<Vec<_>>()
        };
        let (of_anchor, of_node) = (only(Some(asked)), only(None));
        if !of_anchor.is_empty() {
            own.push(Act { what: What::Done(of_anchor), ..act });
        } else if !of_node.is_empty() {
            whole.push(Act { what: What::Done(of_node), ..act });
        }
    }
    if own.is_empty() && !told { whole } else { own }
}
