//! Where a value came from: the `let` behind a local, the cell of a matrix, the hops of a walk, the elements that a
//! filter let through.

use super::why::{Frame, Origin, Why};
use super::{StepKind, TraceStep};
use crate::engine::sides::children;
use crate::lang::eval::{EventKind, Value};
use crate::lang::hir::{Entry, Expr, ExprId, Local};
use crate::lang::syntax::ast::Kind;

/// How the step of a case that was taken begins.
pub const CASE: &str = "case ";

/// Hops of a walk that are told.
const HOPS: usize = 8;
/// Elements of a filtered list that are told.
const KEPT: usize = 2;
/// Elements of a list that are looked through for them.
const TRIED: usize = 4096;

impl Why<'_, '_, '_> {
    /// How a local that a `let` bound came to its value.
    pub(super) fn origin(&mut self, frame: &mut Frame, local: Local, depth: u32) {
        match frame.lets.get(&local).cloned() {
            None => {}
            Some(Origin::Part(part)) => match self.value(frame, part) {
                Value::Bool(_) => self.why(frame, part, depth),
                _ => self.how_inside(frame, part, depth),
            },
            Some(Origin::Told(steps)) => {
                for step in steps.iter() {
                    let step = TraceStep { depth: depth + step.depth, ..step.clone() };
                    let shape = (frame.entry, ExprId::MAX, step.source.clone());
                    self.push(step, shape);
                }
            }
        }
    }

    /// The cell of a matrix that was looked up, and how its row and its column came about. The cases that gave the two
    /// stand beside them.
    pub(super) fn cell(&mut self, frame: &mut Frame, id: ExprId, sides: [ExprId; 2], depth: u32) {
        let Some(&Expr::Matrix { matrix, .. }) = self.expr(frame, id) else { return };
        let result = self.value(frame, id);
        let row = match self.value(frame, sides[0]) {
            Value::Enum { ty, variant } => self.machine.program().variant_name(ty, variant),
            _ => None,
        };
        let at = row.map(|name| self.words.row(matrix, name)).unwrap_or_default();
        let place = self.steps.len();
        let value = self.show(&result);
        let shape = (frame.entry, id, value.clone());
        self.push(TraceStep { depth, source: String::new(), value, at, kind: StepKind::Cell }, shape);
        let words = sides.map(|side| {
            let value = self.value(frame, side);
            let start = self.steps.len();
            self.operand(frame, side, depth + 1);
            let told = self.steps.get(start..).unwrap_or_default();
            let case = told.iter().rfind(|step| matches!(step.kind, StepKind::Case | StepKind::Else));
            match case.and_then(|step| step.source.strip_prefix(CASE)) {
                Some(case) if !case.is_empty() => format!("{} ({case})", self.show(&value)),
                _ => self.show(&value),
            }
        });
        if let Some(step) = self.steps.get_mut(place) {
            step.source = format!("{matrix}: {} x {}", words[0], words[1]);
        }
        if let Some((.., shape)) = self.shape.get_mut(place) {
            *shape = format!("{} x {} {shape}", words[0], words[1]);
        }
    }

    /// The parts of a condition beside the one that failed that look into a matrix: what would have been, but for that.
    pub(super) fn unreached(&mut self, frame: &mut Frame, id: ExprId) {
        let mut parts = Vec::new();
        let mut rest = vec![id];
        while let Some(id) = rest.pop() {
            match self.expr(frame, id) {
                Some(&Expr::And(a, b)) => rest.extend([b, a]),
                _ => parts.push(id),
            }
        }
        let failed = parts.iter().position(|&part| !self.truth(frame, part)).unwrap_or(parts.len());
        for (at, &part) in parts.iter().enumerate() {
            if at != failed && self.looks_up(frame, part) {
                self.why(frame, part, 0);
            }
        }
    }

    fn looks_up(&self, frame: &Frame, id: ExprId) -> bool {
        match self.expr(frame, id) {
            Some(Expr::Matrix { .. }) => true,
            Some(expr) => children(expr).into_iter().any(|part| self.looks_up(frame, part)),
            None => false,
        }
    }

    /// The way that a walk took: for each hop the condition of the step that led on, and where to.
    pub(super) fn hops(&mut self, frame: &Frame, id: ExprId, depth: u32) {
        let Some(&Expr::Walk { walk, from, .. }) = self.expr(frame, id) else { return };
        let program = self.machine.program();
        let Some(entry) = program.entry(Kind::Walk, walk) else { return };
        let Some(Entry::Walk { steps, .. }) = program.hir(entry).map(|hir| &**hir) else { return };
        let mut last = self.value(frame, from);
        if depth > self.deepest || last.is_none() {
            return;
        }
        self.machine.record_trace();
        self.value(frame, id);
        let events = self.machine.take_trace();
        let call = events.iter().find_map(|event| match event.kind {
            EventKind::Call { callee, .. } if callee == entry && event.expr == id => Some(event.depth),
            _ => None,
        });
        let Some(inside) = call.map(|depth| depth + 1) else { return };
        let hops = events.iter().filter(|event| {
            event.entry == entry && event.depth == inside && matches!(event.kind, EventKind::Hop { .. })
        });
        let hops: Vec<_> = hops.collect();
        for (number, hop) in hops.iter().enumerate() {
            let from = std::mem::replace(&mut last, hop.value.clone());
            if number == HOPS {
                let rest = format!("and {} more hops", hops.len() - HOPS);
                let text = hops.last().map_or_else(String::new, |hop| self.show(&hop.value));
                let step =
                    TraceStep { depth, source: rest, value: text, at: String::new(), kind: StepKind::Hop };
                self.push(step, (entry, hop.expr, String::new()));
            }
            if number < HOPS {
                let taken = steps.iter().find(|(_, next)| *next == Some(hop.expr));
                let condition = taken.and_then(|(condition, _)| *condition).unwrap_or(hop.expr);
                let by_case = match taken {
                    Some((Some(_), _)) => None,
                    _ => self.case_of(entry, &from, hop.expr),
                };
                let (source, at) = by_case.unwrap_or_else(|| {
                    let (source, at) = self.words.expression(program, entry, condition);
                    (format!("at {source}"), at)
                });
                let value = format!("to {}", self.show(&hop.value));
                let step = TraceStep { depth, source, value, at, kind: StepKind::Hop };
                self.push(step, (entry, hop.expr, String::new()));
            }
        }
        self.end_of_walk(entry, steps, &last, depth);
    }

    /// The case that gave the value of a step of a walk, and where it stands.
    fn case_of(
        &mut self,
        entry: crate::lang::eval::EntryId,
        from: &Value,
        step: ExprId,
    ) -> Option<(String, String)> {
        let mut frame = Frame::new(entry, std::slice::from_ref(from));
        let steps = self.aside(|why| why.how_inside(&mut frame, step, 0));
        let case = steps.into_iter().find(|step| matches!(step.kind, StepKind::Case | StepKind::Else));
        case.map(|step| (step.source, step.at))
    }

    /// Of a filter that let nothing through: what it had against the first element.
    pub(super) fn dropped_element(
        &mut self,
        frame: &mut Frame,
        id: ExprId,
        (local, [list, condition]): (Local, [ExprId; 2]),
        depth: u32,
    ) {
        if depth > self.deepest || self.value(frame, id).len() != Some(0) {
            return;
        }
        let Some(element) = self.value(frame, list).elements().next() else { return };
        frame.bind(local, element.clone());
        let text = self.show(&element);
        let (source, _) = self.words.expression(self.machine.program(), frame.entry, list);
        self.step(frame, condition, depth, format!("not one of {source}"), text);
        self.why(frame, condition, depth + 1);
    }

    /// Why a walk went no further.
    fn end_of_walk(
        &mut self,
        entry: crate::lang::eval::EntryId,
        steps: &[(Option<ExprId>, Option<ExprId>)],
        last: &Value,
        depth: u32,
    ) {
        let frame = Frame::new(entry, std::slice::from_ref(last));
        let fits = steps.iter().find(|(condition, _)| condition.is_none_or(|c| self.truth(&frame, c)));
        let (condition, next) = match fits {
            Some(&(Some(condition), next)) => (condition, next),
            Some(&(None, Some(next))) if self.value(&frame, next).is_none() => {
                let Some((source, at)) = self.case_of(entry, last, next) else { return };
                let step = TraceStep { depth, source, value: "stop".to_owned(), at, kind: StepKind::Hop };
                return self.push(step, (entry, next, String::new()));
            }
            _ => return,
        };
        let value = match next {
            None => "stop",
            Some(next) if self.value(&frame, next).is_none() => "leads nowhere",
            // It would come back to a place where it has been.
            Some(_) => return,
        };
        let (source, _) = self.words.expression(self.machine.program(), entry, condition);
        self.step(&frame, condition, depth, format!("at {source}"), value.to_owned());
    }

    /// Of a filtered list the elements that the story is about: why the filter let them through.
    pub(super) fn kept_elements(
        &mut self,
        frame: &mut Frame,
        local: Local,
        [list, condition]: [ExprId; 2],
        depth: u32,
    ) {
        if self.focus.is_empty() || depth > self.deepest {
            return;
        }
        let elements = self.value(frame, list);
        let mut told = 0;
        for element in elements.elements().take(TRIED) {
            let node = element.as_node().or_else(|| element.as_anchor().map(|anchor| anchor.node()));
            if told < KEPT && node.is_some_and(|node| self.focus.contains(&node)) {
                frame.bind(local, element.clone());
                if self.truth(frame, condition) {
                    told += 1;
                    let text = self.show(&element);
                    let (source, _) = self.words.expression(self.machine.program(), frame.entry, list);
                    let element = (format!("one of {source}"), text, StepKind::Element);
                    self.step_of(frame, condition, depth, element);
                    self.why(frame, condition, depth + 1);
                }
            }
        }
    }
}
