//! The parts of an expression that decided.
//!
//! Promise: of a true `and` all parts are told, of a false one the first that is false; of a true `or` the first that
//! is true, of a false one all. A call is told with its value, then opened; a `first` is told by the name of its case;
//! `any` and `all` by the element that decided. Parts are evaluated again where they stand, so what is told is what
//! the machine says, and nothing that is told changes the graph.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::trail::CASE;
use super::words::Words;
use super::{StepKind, TraceStep};
use crate::engine::sides::children;
use crate::graph::{Anchor, NodeId};
use crate::lang::eval::{EntryId, Machine, Value};
use crate::lang::hir::{Compare, Entry, Expr, ExprId, Local, Ty};
use crate::lang::syntax::ast::{Kind, Quantifier};

/// A story with more steps is not read.
const MOST_STEPS: usize = 40;
/// Elements of a list that are named.
const NAMED: usize = 6;
/// Cases that are named where none of them was taken.
const NAMED_CASES: usize = 4;
/// Elements of a list that are tried to find the one that decided.
const TRIED: usize = 4096;

/// The frame of one body.
#[derive(Clone, Debug)]
pub struct Frame {
    pub entry: EntryId,
    pub slots: Vec<Value>,
    /// What is known of locals that a `let` bound.
    pub lets: FxHashMap<Local, Origin>,
}

/// Where the value of a local came from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A part of the same body, evaluated on the same graph.
    Part(ExprId),
    /// Told when it was bound: the graph may have changed since.
    Told(Rc<[TraceStep]>),
}

impl Frame {
    pub fn new(entry: EntryId, slots: &[Value]) -> Frame {
        Frame { entry, slots: slots.to_vec(), lets: FxHashMap::default() }
    }

    pub fn bind(&mut self, local: Local, value: Value) {
        let at = local as usize;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, Value::None);
        }
        self.slots[at] = value;
        self.lets.remove(&local);
    }

    pub fn bind_let(&mut self, local: Local, value: Value, part: ExprId) {
        self.bind(local, value);
        self.lets.insert(local, Origin::Part(part));
    }
}

/// Tells how expressions came to their values.
pub struct Why<'m, 'p, 's> {
    pub machine: &'m mut Machine<'p>,
    pub words: Words<'s>,
    pub steps: Vec<TraceStep>,
    /// What the steps say apart from which nodes and anchors they name.
    pub shape: Vec<(EntryId, ExprId, String)>,
    /// Nodes that the story is about: of a filtered list their elements are told.
    pub focus: Vec<NodeId>,
    /// An element whose way into a list is told: of lists that were joined, those that have it.
    pub element: Option<Value>,
    /// Parts that have been opened, with the locals of their frames.
    opened: Vec<(EntryId, ExprId, Vec<Value>)>,
    pub(super) deepest: u32,
}

impl<'m, 'p, 's> Why<'m, 'p, 's> {
    /// Steps deeper than `deepest` are left out.
    pub fn new(machine: &'m mut Machine<'p>, words: Words<'s>, deepest: u32) -> Self {
        let (steps, shape, focus, opened) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Why { machine, words, steps, shape, focus, element: None, opened, deepest }
    }

    pub(super) fn expr(&self, frame: &Frame, id: ExprId) -> Option<&'p Expr> {
        self.machine.program().hir(frame.entry)?.body()?.exprs.get(id as usize)
    }

    /// The value of a part. One that fails has none.
    pub fn value(&mut self, frame: &Frame, id: ExprId) -> Value {
        self.machine.eval(frame.entry, id, &frame.slots).unwrap_or_default()
    }

    /// Steps that are told of, and not kept.
    pub(super) fn aside(&mut self, tell: impl FnOnce(&mut Self)) -> Vec<TraceStep> {
        let (steps, shape) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.shape));
        let opened = self.opened.clone();
        tell(self);
        self.opened = opened;
        self.shape = shape;
        std::mem::replace(&mut self.steps, steps)
    }

    pub fn truth(&mut self, frame: &Frame, id: ExprId) -> bool {
        self.value(frame, id).is_true()
    }

    /// Tells why a condition holds, or does not.
    pub fn why(&mut self, frame: &mut Frame, id: ExprId, depth: u32) {
        let Some(expr) = self.expr(frame, id) else { return };
        if depth > self.deepest {
            return;
        }
        match *expr {
            Expr::And(a, b) => match (self.truth(frame, a), self.truth(frame, b)) {
                (false, _) => self.why(frame, a, depth),
                (true, false) => self.why(frame, b, depth),
                (true, true) => self.both(frame, a, b, depth),
            },
            Expr::Or(a, b) => match (self.truth(frame, a), self.truth(frame, b)) {
                (true, _) => self.why(frame, a, depth),
                (false, true) => self.why(frame, b, depth),
                (false, false) => self.both(frame, a, b, depth),
            },
            Expr::Not(inner) => {
                self.leaf(frame, id, depth);
                match self.expr(frame, inner) {
                    Some(Expr::Call { .. }) => self.open(frame, inner, depth + 1),
                    Some(Expr::And(..) | Expr::Or(..) | Expr::Quantifier { .. } | Expr::If { .. }) => {
                        self.why(frame, inner, depth + 1);
                    }
                    Some(&Expr::Local(local)) => self.origin(frame, local, depth + 1),
                    _ => self.operands(frame, inner, depth + 1),
                }
            }
            Expr::If { condition, then, otherwise } => {
                self.why(frame, condition, depth);
                let chosen = if self.truth(frame, condition) { then } else { otherwise };
                self.why(frame, chosen, depth);
            }
            Expr::Let { local, value: part, body } => {
                let value = self.value(frame, part);
                frame.bind_let(local, value, part);
                self.why(frame, body, depth);
            }
            Expr::First { .. } => self.first(frame, id, depth, true),
            Expr::Quantifier { kind, local, list, condition } => {
                self.quantifier(frame, id, kind, local, [list, condition], depth);
            }
            Expr::Coalesce(a, _) if !self.value(frame, a).is_none() => self.why(frame, a, depth),
            // Rule texts say `true` or `false` where a branch is settled: the condition before told it.
            Expr::Const(_) => {}
            _ => self.leaf_and_operands(frame, id, depth),
        }
    }

    fn both(&mut self, frame: &mut Frame, a: ExprId, b: ExprId, depth: u32) {
        self.why(frame, a, depth);
        self.why(frame, b, depth);
    }

    /// Tells where a value comes from that is no condition.
    pub fn how(&mut self, frame: &mut Frame, id: ExprId, depth: u32) {
        let Some(expr) = self.expr(frame, id) else { return };
        if depth > self.deepest {
            return;
        }
        match *expr {
            Expr::Const(_) => {}
            Expr::Local(local) if !frame.lets.contains_key(&local) => {}
            Expr::Call { .. } => self.leaf_and_operands(frame, id, depth),
            Expr::If { condition, then, otherwise } => {
                self.why(frame, condition, depth);
                let chosen = if self.truth(frame, condition) { then } else { otherwise };
                self.how(frame, chosen, depth);
            }
            Expr::Let { local, value: part, body } => {
                let value = self.value(frame, part);
                frame.bind_let(local, value, part);
                self.how(frame, body, depth);
            }
            Expr::Coalesce(a, b) => {
                self.how(frame, a, depth);
                if self.value(frame, a).is_none() {
                    self.how(frame, b, depth);
                }
            }
            Expr::Match { value, ref arms } => {
                self.leaf_and_operands(frame, value, depth);
                let variant = self.value(frame, value).as_variant();
                if let Some(&arm) = variant.and_then(|variant| arms.get(variant as usize)) {
                    self.how(frame, arm, depth);
                }
            }
            Expr::First { .. } => self.first(frame, id, depth, false),
            _ => self.leaf_and_operands(frame, id, depth),
        }
    }

    /// The same for a part whose own value has been told.
    pub fn how_inside(&mut self, frame: &mut Frame, id: ExprId, depth: u32) {
        match self.expr(frame, id) {
            Some(Expr::Call { .. }) => self.open(frame, id, depth),
            Some(Expr::Fact { .. }) => {}
            _ => self.how(frame, id, depth),
        }
    }

    /// One step: the text of the part and its value.
    pub fn leaf(&mut self, frame: &Frame, id: ExprId, depth: u32) {
        let value = self.value(frame, id);
        let mut text = self.show(&value);
        let mut shape = if is_place(&value) { String::new() } else { text.clone() };
        let negated = match self.expr(frame, id) {
            Some(Expr::Not(inner)) => *inner,
            _ => id,
        };
        if let Some(detail) = self.compared(frame, negated, &mut shape) {
            text = format!("{text} ({detail})");
        }
        let (source, at) = self.words.expression(self.machine.program(), frame.entry, id);
        let step = TraceStep { depth, source, value: text, at, kind: StepKind::Part };
        self.push(step, (frame.entry, id, shape));
    }

    /// A step whose text is not that of its expression.
    pub fn step(&mut self, frame: &Frame, id: ExprId, depth: u32, source: String, value: String) {
        self.step_of(frame, id, depth, (source, value, StepKind::Part));
    }

    pub(super) fn step_of(
        &mut self,
        frame: &Frame,
        id: ExprId,
        depth: u32,
        (source, value, kind): (String, String, StepKind),
    ) {
        let (_, at) = self.words.expression(self.machine.program(), frame.entry, id);
        self.push(TraceStep { depth, source, value, at, kind }, (frame.entry, id, String::new()));
    }

    pub(super) fn push(&mut self, step: TraceStep, shape: (EntryId, ExprId, String)) {
        // What is asked twice in a row is told once.
        if self.steps.last() == Some(&step) {
            return;
        }
        if step.depth <= self.deepest && self.steps.len() < MOST_STEPS {
            self.steps.push(step);
            self.shape.push(shape);
        }
    }

    pub(super) fn leaf_and_operands(&mut self, frame: &mut Frame, id: ExprId, depth: u32) {
        self.leaf(frame, id, depth);
        // What has been opened is not opened again.
        let key = (frame.entry, id, frame.slots.clone());
        if self.opened.contains(&key) {
            return;
        }
        self.opened.push(key);
        match self.expr(frame, id) {
            Some(Expr::Call { .. }) => self.open(frame, id, depth + 1),
            Some(&Expr::Local(local)) => self.origin(frame, local, depth + 1),
            Some(Expr::Walk { .. }) => self.hops(frame, id, depth + 1),
            _ => self.operands(frame, id, depth + 1),
        }
    }

    /// What a comparison or a membership looked at; a constant stands in the text already.
    fn compared(&mut self, frame: &Frame, id: ExprId, shape: &mut String) -> Option<String> {
        let mut sides = Vec::new();
        let sign = match *self.expr(frame, id)? {
            Expr::Compare { op, left, right } => {
                sides.extend([left, right]);
                sign(op)
            }
            Expr::InList { value, .. }
            | Expr::InSet { value, .. }
            | Expr::InConsts { value, .. }
            | Expr::IsNone { value, .. } => {
                sides.push(value);
                ""
            }
            _ => return None,
        };
        sides.retain(|&side| !matches!(self.expr(frame, side), Some(Expr::Const(_))));
        let mut texts = Vec::with_capacity(sides.len());
        for side in sides {
            let value = self.value(frame, side);
            // `x is some = false (none)` would say it twice.
            if value.is_none() && sign.is_empty() && matches!(self.expr(frame, id), Some(Expr::IsNone { .. }))
            {
                return None;
            }
            let text = self.show(&value);
            if !is_place(&value) {
                shape.push_str(&text);
            }
            texts.push(text);
        }
        texts.dedup();
        (!texts.is_empty()).then(|| texts.join(&format!(" {sign} ")))
    }

    /// The calls inside of a part, each told by its value.
    pub(super) fn operands(&mut self, frame: &mut Frame, id: ExprId, depth: u32) {
        if depth > self.deepest {
            return;
        }
        let Some(expr) = self.expr(frame, id) else { return };
        if let &Expr::Matrix { row, column, .. } = expr {
            return self.cell(frame, id, [row, column], depth);
        }
        // Inside of a binder the element is not known.
        let parts = match *expr {
            Expr::Quantifier { list, .. } | Expr::Where { list, .. } | Expr::Each { list, .. } => vec![list],
            Expr::If { .. }
            | Expr::First { .. }
            | Expr::Let { .. }
            | Expr::Match { .. }
            | Expr::Coalesce(..) => {
                return self.how(frame, id, depth);
            }
            Expr::Concat(a, b) => match self.element.clone() {
                Some(element) => {
                    let has = |why: &mut Self, part| why.value(frame, part).elements().any(|e| e == element);
                    [a, b].into_iter().filter(|&part| has(self, part)).collect()
                }
                None => vec![a, b],
            },
            _ => children(expr),
        };
        for part in parts {
            self.operand(frame, part, depth);
        }
        // The name of a predicate does not say why it holds; what a comparison compares is mostly told by what follows.
        if let Expr::Quantifier { kind: Quantifier::Find, local, condition, .. } = *expr
            && matches!(self.expr(frame, condition), Some(Expr::Call { .. }))
        {
            let found = self.value(frame, id);
            if !found.is_none() {
                frame.bind(local, found);
                self.why(frame, condition, depth);
            }
        }
        if let Expr::Where { local, list, condition } = *expr {
            self.kept_elements(frame, local, [list, condition], depth);
            self.dropped_element(frame, id, (local, [list, condition]), depth);
        }
    }

    pub(super) fn operand(&mut self, frame: &mut Frame, part: ExprId, depth: u32) {
        match self.expr(frame, part) {
            Some(Expr::Call { .. } | Expr::Walk { .. }) => self.leaf_and_operands(frame, part, depth),
            Some(Expr::Local(local)) if frame.lets.contains_key(local) => {
                self.leaf_and_operands(frame, part, depth);
            }
            _ => self.operands(frame, part, depth),
        }
    }

    /// The body of the function that a call calls.
    fn open(&mut self, frame: &Frame, call: ExprId, depth: u32) {
        if depth > self.deepest {
            return;
        }
        let Some(Expr::Call { function, args, lift }) = self.expr(frame, call) else { return };
        let args: Vec<Value> = args.iter().map(|&arg| self.value(frame, arg)).collect();
        let absent = |(at, value): (u32, &Value)| at < u32::BITS && lift >> at & 1 == 1 && value.is_none();
        if (0..).zip(&args).any(absent) {
            return;
        }
        let program = self.machine.program();
        let Some(callee) = program.entry(Kind::Fn, *function) else { return };
        let Some(Entry::Fn { value, result, .. }) = program.hir(callee).map(|hir| &**hir) else { return };
        let mut inner = Frame::new(callee, &args);
        match is_condition(result) {
            true => self.why(&mut inner, *value, depth),
            false => self.how(&mut inner, *value, depth),
        }
    }

    /// The case of a `first` that was taken.
    fn first(&mut self, frame: &mut Frame, id: ExprId, depth: u32, condition: bool) {
        let Some(Expr::First { cases, otherwise }) = self.expr(frame, id) else { return };
        // Without what the case depends on its name says little.
        if depth >= self.deepest {
            return;
        }
        let mut before = Vec::new();
        let mut taken = None;
        for (at, &(when, value)) in (0u32..).zip(cases) {
            let name = self.words.case(self.machine.program(), frame.entry, id, at);
            let name = name.map_or_else(String::new, |name| name.to_string());
            if self.truth(frame, when) {
                taken = Some((name, when, value));
                break;
            }
            before.push(name);
        }
        let (source, when, value) = match (taken, *otherwise) {
            (Some((name, when, value)), _) => (format!("{CASE}{name}"), Some(when), value),
            // The call says more.
            (None, Some(value)) if matches!(self.expr(frame, value), Some(Expr::Call { .. })) => {
                return self.leaf_and_operands(frame, value, depth);
            }
            (None, Some(value)) if before.is_empty() => ("else".to_owned(), None, value),
            (None, Some(value)) if before.len() > NAMED_CASES => {
                (format!("else, none of the {} cases", before.len()), None, value)
            }
            (None, Some(value)) => (format!("else, not {}", before.join(", ")), None, value),
            (None, None) => return,
        };
        let shown = self.value(frame, value);
        let shown = self.show(&shown);
        let kind = if when.is_some() { StepKind::Case } else { StepKind::Else };
        self.step_of(frame, when.unwrap_or(value), depth, (source, shown, kind));
        if let Some(when) = when {
            self.why(frame, when, depth + 1);
        }
        match condition {
            true => self.why(frame, value, depth + 1),
            false => self.how(frame, value, depth + 1),
        }
    }

    fn quantifier(
        &mut self,
        frame: &mut Frame,
        id: ExprId,
        kind: Quantifier,
        local: Local,
        [list, condition]: [ExprId; 2],
        depth: u32,
    ) {
        self.leaf(frame, id, depth);
        let elements = self.value(frame, list);
        let text = self.show(&elements);
        let (source, _) = self.words.expression(self.machine.program(), frame.entry, list);
        // `all` falls by one that fails; the others are decided by one that holds.
        let wanted = kind != Quantifier::All;
        for element in elements.elements().take(TRIED) {
            frame.bind(local, element.clone());
            if self.truth(frame, condition) == wanted {
                let text = self.show(&element);
                self.step(frame, condition, depth + 1, format!("for one of {source}"), text);
                self.why(frame, condition, depth + 2);
                return;
            }
        }
        self.step(frame, list, depth + 1, source, text);
    }

    /// A value as a person names it: anchors as `NODE:in0`, long lists cut.
    pub fn show(&self, value: &Value) -> String {
        let name = |id| match self.machine.state().get_node(id) {
            Some(node) => node.name.to_string(),
            None => "a deleted node".to_owned(),
        };
        match value {
            Value::Input(_) | Value::Output(_) => match value.as_anchor() {
                Some(Anchor::In(input)) => format!("{}:in{}", name(input.node), input.index),
                Some(Anchor::Out(output)) => format!("{}:out{}", name(output.node), output.index),
                None => String::new(),
            },
            Value::List(_) | Value::Inputs { .. } | Value::Outputs { .. } => {
                let count = value.len().unwrap_or(0);
                let mut texts: Vec<String> =
                    value.elements().take(NAMED).map(|element| self.show(&element)).collect();
                if count > texts.len() {
                    texts.push(format!("and {} more", count - texts.len()));
                }
                if texts.is_empty() { "empty".to_owned() } else { texts.join(", ") }
            }
            Value::Graph(id) => match self.machine.state().get_graph(*id) {
                Some(graph) if graph.name.is_empty() => "the unnamed graph".to_owned(),
                _ => self.machine.show(value),
            },
            Value::Str(_) | Value::Text(_) if value.as_str() == Some("") => "\"\"".to_owned(),
            _ => self.machine.show(value),
        }
    }
}

/// Whether a value is a place of the graph, or some: partners differ in these even if a rule treats them alike.
fn is_place(value: &Value) -> bool {
    match value {
        Value::Node(_) | Value::Input(_) | Value::Output(_) | Value::Graph(_) | Value::Group(_) => true,
        Value::Inputs { .. } | Value::Outputs { .. } => true,
        Value::List(_) => value.at(0).is_some_and(|first| is_place(&first)),
        _ => false,
    }
}

pub(super) fn is_condition(ty: &Ty) -> bool {
    match ty {
        Ty::Bool => true,
        Ty::Optional(inner) => is_condition(inner),
        _ => false,
    }
}

fn sign(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}
