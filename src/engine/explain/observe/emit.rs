//! From edits and decisions to acts.

use rustc_hash::FxHashMap;

use super::super::TraceStep;
use super::super::changes::{changes, touched};
use super::super::scan::node_of;
use super::state::{About, Form, Gate, Open, State, Told, append, during, resolving, want};
use super::{Act, Mode, Observer, What};
use crate::graph::NodeId;
use crate::lang::eval::{EntryId, Machine, Value};

/// Decisions on the way to a change that are told in full, and of which the first lines are.
const IN_FULL: usize = 2;
const IN_SHORT: usize = 3;

impl Observer<'_> {
    pub(super) fn open(&self, state: &mut State, entry: EntryId, form: Form) -> Open {
        if form != Form::Round {
            state.seq += 1;
        }
        Open {
            key: (state.seq, 0),
            form,
            entry,
            about: About::default(),
            layers: None,
            told: None,
            rounds: FxHashMap::default(),
            round: 0,
            touches: state.touches,
            acts: state.acts.len(),
            done: Vec::new(),
            item: None,
            element: None,
            chain: None,
            is_gate: false,
            gates: Vec::new(),
        }
    }

    /// Looks at the edits made since the last look.
    pub(super) fn catch_up(&self, state: &mut State, machine: &Machine<'_>) {
        let edits = machine.edits();
        for (at, record) in edits.iter().enumerate().skip(state.seen) {
            let nodes = touched(&record.kind);
            let mut own =
                nodes.into_iter().flatten().filter(|node| self.asked.nodes.contains(node)).peekable();
            if own.peek().is_none() {
                continue;
            }
            state.touches += 1;
            match self.mode {
                _ if resolving(&state.open) => {}
                Mode::Survey => {}
                Mode::Brief => {
                    for node in own {
                        let (entry, what) = (record.entry, What::Done(Vec::new()));
                        let steps = Vec::new();
                        state.acts.push(Act {
                            node,
                            anchor: None,
                            entry,
                            what,
                            steps,
                            during: None,
                            more: 0,
                        });
                    }
                }
                Mode::Tell(_) => match state.open.iter_mut().rev().find(|open| open.decides()) {
                    Some(open) => open.done.push(at),
                    // No decision led here.
                    None => self.emit_done(state, machine, &[at], None),
                },
            }
        }
        state.seen = edits.len();
    }

    /// Writes down what edits did to each node that they touched.
    pub(super) fn emit_done(
        &self,
        state: &mut State,
        machine: &Machine<'_>,
        done: &[usize],
        open: Option<&Open>,
    ) {
        let records: Vec<_> = done.iter().filter_map(|&at| machine.edits().get(at)).collect();
        let mut nodes: Vec<NodeId> = Vec::new();
        for record in &records {
            for node in touched(&record.kind).into_iter().flatten() {
                if self.asked.nodes.contains(&node) && !nodes.contains(&node) {
                    nodes.push(node);
                }
            }
        }
        let Some(first) = records.first() else { return };
        let entry = open.map_or(first.entry, |open| open.entry);
        for node in nodes {
            let told = changes(records.iter().copied(), node, self.before, machine.state());
            if told.is_empty() {
                continue;
            }
            let steps = self.way(state, open);
            let inner = open.and_then(|open| open.item.clone()).filter(|item| node_of(item) != Some(node));
            let during = inner.or_else(|| during(&state.open, node));
            let what = What::Done(told);
            // Edits that nothing decided are told together.
            if open.is_none()
                && let Some(Act { what: What::Done(last), steps, node: same, entry: by, .. }) =
                    state.acts.last_mut()
                && (*same, *by, steps.is_empty()) == (node, entry, true)
            {
                if let What::Done(new) = what {
                    last.extend(new.into_iter().filter(|change| !last.contains(change)).collect::<Vec<_>>());
                }
                continue;
            }
            state.acts.push(Act { node, anchor: None, entry, what, steps, during, more: 0 });
        }
    }

    /// The decisions on the way to what is under way: the last ones in full, of those before them the first lines.
    pub(super) fn way(&self, state: &State, open: Option<&Open>) -> Vec<TraceStep> {
        let levels = open.into_iter().chain(state.open.iter().rev());
        let gates =
            |gates: &'_ [Gate]| gates.iter().rev().filter_map(|gate| gate.told.clone()).collect::<Vec<_>>();
        let mut steps: Vec<TraceStep> = Vec::new();
        let mut told = 0;
        for level in levels {
            let own = level.told.iter().map(|own| (own.clone(), level.about.value.is_some()));
            for (decision, is_about) in gates(&level.gates).into_iter().map(|gate| (gate, true)).chain(own) {
                if told < IN_FULL {
                    append(&mut steps, decision.steps);
                } else if is_about && told < IN_FULL + IN_SHORT {
                    steps.extend(decision.steps.into_iter().filter(|step| step.depth == 0));
                }
                told += 1;
            }
        }
        for decision in gates(&state.gates).into_iter().take(IN_FULL.saturating_sub(told)) {
            append(&mut steps, decision.steps);
        }
        steps
    }

    pub(super) fn close(&self, state: &mut State, machine: &mut Machine<'_>, open: Open) {
        match &self.mode {
            Mode::Survey => {
                let is_about = open.about.value.is_some();
                let is_touched = state.touches > open.touches;
                if is_about || is_touched {
                    want(&mut state.wanted, open.key, &open.about);
                }
                if is_touched {
                    let root = if state.open.is_empty() { state.gates.as_slice() } else { &[] };
                    for gate in open.gates.iter().chain(root) {
                        want(&mut state.wanted, gate.key, &gate.about);
                    }
                }
            }
            Mode::Tell(_) => {
                if !open.done.is_empty() {
                    let done = open.done.clone();
                    self.emit_done(state, machine, &done, Some(&open));
                } else if state.acts.len() == open.acts {
                    self.emit_refusal(state, &open);
                }
            }
            Mode::Brief => {
                if state.touches == open.touches && state.acts.len() == open.acts {
                    self.emit_refusal(state, &open);
                }
            }
        }
    }

    /// Ends what is under way. A gate that let the body go on is kept for what comes after it.
    pub(super) fn end(&self, state: &mut State, machine: &mut Machine<'_>, mut open: Open) {
        let gate = (open.is_gate && open.told.as_ref().is_none_or(|told| told.refuses.is_none()))
            .then(|| Gate { key: open.key, about: open.about.clone(), told: open.told.clone() });
        if matches!(self.mode, Mode::Brief) {
            open.gates.clear();
        }
        self.close(state, machine, open);
        if let Some(gate) = gate {
            match state.open.last_mut() {
                Some(outer) => outer.gates.push(gate),
                None => state.gates.push(gate),
            }
        }
    }

    pub(super) fn emit_refusal(&self, state: &mut State, open: &Open) {
        let Some(Told { steps, refuses: Some(stake), foreign }) = &open.told else { return };
        let Some(value) = &open.about.value else { return };
        if stake.is_nothing() {
            return;
        }
        let what = What::Refused { stake: stake.clone(), foreign: *foreign, whole: open.form == Form::Body };
        self.emit_refused(state, open.entry, (value, None), what, steps.clone());
    }

    pub(super) fn emit_refused(
        &self,
        state: &mut State,
        entry: EntryId,
        (about, item): (&Value, Option<Value>),
        what: What,
        steps: Vec<TraceStep>,
    ) {
        let Some(node) = node_of(about).filter(|_| !resolving(&state.open)) else { return };
        let item = item.filter(|item| node_of(item) != Some(node));
        let during = item.or_else(|| during(&state.open, node));
        state.acts.push(Act { node, anchor: about.as_anchor(), entry, what, steps, during, more: 0 });
    }
}
