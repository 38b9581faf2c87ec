//! What is left of code where the kind of a node is known: partial evaluation.
//!
//! Promise: residual code has the value of the code that it was made from at every node of the kind. What rests on the
//! node alone has been evaluated, and what follows from that is gone: cases that never come, calls that are constant
//! there, walks that end where they begin. Locals keep their places, so that it is evaluated in the frame of the other.

use std::ops::Range;
use std::rc::Rc;

use super::alike::{Kept, Shared};
use super::code::{Code, NONE, Op, Span};
use super::graft::Graft;
use super::program::Data;
use super::simplify::fold;
use super::{EntryId, Machine, Value};
use crate::graph::NodeId;
use crate::lang::facts::Fact;
use crate::lang::hir::{Entry, ExprId, Local, WalkMode};

/// Residual code of more expressions than this is called, not taken over by its callers.
const SMALL: usize = 24;

/// Code for the nodes of one kind.
#[derive(Debug)]
pub(super) struct Residual {
    pub code: Code,
    pub root: ExprId,
    /// How many expressions it has.
    size: usize,
}

impl Residual {
    pub fn is_small(&self) -> bool {
        self.size <= SMALL
    }
}

/// Where an expression is fitted to a kind: `local` holds an example, in the frame at `base`.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub local: Local,
    pub node: NodeId,
    pub base: usize,
}

/// How many expressions `id` is made of.
fn size(code: &Code, id: ExprId) -> usize {
    let (mut size, mut open) = (0, vec![id]);
    while let Some(id) = open.pop() {
        size += 1;
        code.children(id, &mut |child| open.push(child));
    }
    size
}

impl Machine<'_> {
    /// What is left of `body` at nodes like that of `spot`.
    pub(super) fn residual(&mut self, code: &Code, body: ExprId, spot: Spot) -> Shared {
        let before = size(code, body);
        let known = vec![(spot.local, Op::Local(spot.local))];
        let Some((code, root)) = self.specialized(code, body, spot, known) else {
            return Shared::AsWritten;
        };
        match &code.ops[root as usize] {
            Op::Const(value) => return Shared::Value(Kept::Value(value.clone())),
            Op::Local(local) if *local == spot.local => {
                let here = &self.stack[spot.base + *local as usize];
                return Kept::new(here, spot.node).map_or(Shared::AsWritten, Shared::Value);
            }
            _ => {}
        }
        let size = size(&code, root);
        // What hardly shrinks is not worth the room, unless callers may take it over.
        let is_worth_it = size <= SMALL || size * 4 <= before * 3;
        if is_worth_it { Shared::Residual(Rc::new(Residual { code, root, size })) } else { Shared::AsWritten }
    }

    /// Whether a walk takes no step from a place, nor from those that are like it.
    pub(super) fn ends_at(&mut self, walk: EntryId, place: &Value) -> bool {
        let program = self.program;
        let Some(linked) = program.linked(walk) else { return false };
        let Entry::Walk { steps, .. } = &*linked.entry else { return false };
        for (condition, next) in steps {
            let Some(condition) = *condition else { return next.is_none() };
            match self.decided(&linked.plain, condition, place) {
                Some(false) => {}
                Some(true) => return next.is_none(),
                None => return false,
            }
        }
        true
    }

    fn specialized(
        &mut self,
        from: &Code,
        body: ExprId,
        spot: Spot,
        known: Vec<(Local, Op)>,
    ) -> Option<(Code, ExprId)> {
        if !self.descend() {
            return None;
        }
        let to = from.beside();
        let mut specializer = Specializer { machine: self, from, to, spot, known, inside: 0 };
        let root = specializer.expr(body);
        let code = specializer.to;
        self.calls -= 1;
        self.pending.is_none().then_some((code, root))
    }
}

struct Specializer<'m, 'a, 'c> {
    machine: &'m mut Machine<'a>,
    from: &'c Code,
    to: Code,
    spot: Spot,
    /// Locals whose values are known, and what stands for them.
    known: Vec<(Local, Op)>,
    /// Inside of so many expressions that are fitted to other nodes, and have to stay as they are.
    inside: u32,
}

impl<'c> Graft<'c> for Specializer<'_, '_, 'c> {
    fn from(&self) -> &'c Code {
        self.from
    }

    fn to(&mut self) -> &mut Code {
        &mut self.to
    }

    fn local(&self, local: Local) -> Op {
        let known = self.known.iter().rev().find(|(known, _)| *known == local).filter(|_| self.inside == 0);
        known.map_or(Op::Local(local), |(_, op)| op.clone())
    }

    fn bound(&self, local: Local) -> Local {
        local
    }

    fn done(&mut self, id: ExprId) {
        if self.inside == 0 {
            fold(self.machine.program.entries(), &mut self.to, id);
            if let Some(holds) = self.machine.settled_cell(&self.to, id) {
                self.to.ops[id as usize] = Op::Const(Value::Bool(holds));
            }
        }
    }

    fn expr(&mut self, id: ExprId) -> ExprId {
        if id == NONE {
            return NONE;
        }
        if self.inside > 0 {
            let copy = self.copy(id);
            self.to.own.resize(self.to.ops.len(), None);
            self.to.own[copy as usize] = self.from.own(id).cloned();
            return copy;
        }
        if let Some(value) = self.value(id)
            && let Some(id) = self.place(&value)
        {
            return id;
        }
        let from = self.from;
        match from.ops[id as usize] {
            Op::Inline { args, lift, at, body } => self.inline(args, lift, at, body),
            Op::Let { local, value, body } => self.binding(local, value, body),
            Op::Call { callee, args, lift } => self.call(callee, args, lift),
            Op::Walk { walk, mode, from } => self.walk(walk, mode, from),
            Op::Alike { local, body, .. } if self.knows(local) => self.expr(body),
            Op::Alike { .. } => {
                self.inside += 1;
                let copy = self.copy(id);
                self.inside -= 1;
                copy
            }
            _ => self.copy(id),
        }
    }
}

impl Specializer<'_, '_, '_> {
    fn knows(&self, local: Local) -> bool {
        self.known.iter().any(|(known, _)| *known == local)
    }

    fn add(&mut self, op: Op) -> ExprId {
        self.to.add_op(op)
    }

    /// The value of `id` if it rests on what is known.
    fn value(&mut self, id: ExprId) -> Option<Value> {
        match &self.from.ops[id as usize] {
            Op::Const(_) => return None,
            Op::Local(local) if self.knows(*local) => {
                return Some(self.machine.stack[self.spot.base + *local as usize].clone());
            }
            _ => {}
        }
        let is_known = self.from.own(id)?.iter().all(|local| self.knows(local));
        is_known.then(|| self.machine.expr(self.from, id, self.spot.base))
    }

    /// The value of `id`, of which `copy` is left, if that is known.
    fn value_of(&mut self, id: ExprId, copy: ExprId) -> Option<Value> {
        match &self.to.ops[copy as usize] {
            Op::Const(value) => Some(value.clone()),
            Op::Local(local) if self.knows(*local) => {
                Some(self.machine.stack[self.spot.base + *local as usize].clone())
            }
            _ => self.value(id),
        }
    }

    /// Code for a value that all nodes of the kind have, each as seen from itself. `None`: it belongs to this node alone.
    fn place(&mut self, value: &Value) -> Option<ExprId> {
        let Spot { local, node, base } = self.spot;
        let here = self.machine.stack[base + local as usize].clone();
        if *value == here {
            return Some(self.add(Op::Local(local)));
        }
        let own = match here {
            Value::Node(_) => Op::Local(local),
            Value::Input(_) => self.fact(Fact::InputNode, Op::Local(local), None),
            Value::Output(_) => self.fact(Fact::OutputNode, Op::Local(local), None),
            _ => return None,
        };
        let op = match *value {
            Value::Node(of) => (of == node).then_some(own)?,
            Value::Inputs { node: of, .. } if of == node => self.fact(Fact::NodeInputs, own, None),
            Value::Outputs { node: of, .. } if of == node => self.fact(Fact::NodeOutputs, own, None),
            Value::Input(of) if of.node == node => self.fact(Fact::NodeInput, own, Some(of.index)),
            Value::Output(of) if of.node == node => self.fact(Fact::NodeOutput, own, Some(of.index)),
            _ if Kept::is_free(value) => Op::Const(value.clone()),
            _ => return None,
        };
        Some(self.add(op))
    }

    fn fact(&mut self, fact: Fact, of: Op, index: Option<u32>) -> Op {
        let base = self.add(of);
        let a = index.map_or(NONE, |index| self.add(Op::Const(Value::Int(index.into()))));
        Op::Fact { fact, base, a, b: NONE }
    }

    /// Notes what `local` will hold, if that is known.
    fn bind(&mut self, local: Local, value: ExprId, copy: ExprId) {
        let stands = match &self.to.ops[copy as usize] {
            simple @ (Op::Const(_) | Op::Local(_)) => simple.clone(),
            _ => Op::Local(local),
        };
        if let Some(known) = self.value_of(value, copy) {
            self.machine.stack[self.spot.base + local as usize] = known;
            self.known.push((local, stands));
        }
    }

    /// A place at the node.
    fn is_here(&self, value: &Value) -> bool {
        value.as_node().or_else(|| value.as_anchor().map(|anchor| anchor.node())) == Some(self.spot.node)
    }

    fn inline(&mut self, args: Span, lift: u32, at: Local, body: ExprId) -> ExprId {
        let from = self.from;
        let args = from.args(args);
        let copies: Vec<ExprId> = args.iter().map(|&arg| self.expr(arg)).collect();
        let lifted = |at: usize| at < 32 && lift >> at & 1 == 1;
        if (0..).zip(&copies).any(|(at, &copy)| lifted(at) && self.constant(copy).is_some_and(Value::is_none))
        {
            return self.add(Op::Const(Value::None));
        }
        let outer = self.known.len();
        for ((local, &arg), &copy) in (at..).zip(args).zip(&copies) {
            self.bind(local, arg, copy);
        }
        let body = self.expr(body);
        self.known.truncate(outer);
        let is_sure =
            |(at, &copy): (usize, &ExprId)| !lifted(at) || matches!(self.to.ops[copy as usize], Op::Const(_));
        if (0..).zip(&copies).all(is_sure) && !mentions(&self.to, body, at..at + copies.len() as Local) {
            return body;
        }
        let args = self.to.add_args(copies);
        self.add(Op::Inline { args, lift, at, body })
    }

    fn binding(&mut self, local: Local, value: ExprId, body: ExprId) -> ExprId {
        let copy = self.expr(value);
        let outer = self.known.len();
        self.bind(local, value, copy);
        let body = self.expr(body);
        self.known.truncate(outer);
        let is_idle = !mentions(&self.to, body, local..local + 1);
        if is_idle { body } else { self.add(Op::Let { local, value: copy, body }) }
    }

    /// A call about the node: what is left of the function there.
    fn call(&mut self, callee: EntryId, args: Span, lift: u32) -> ExprId {
        let from = self.from;
        let args = from.args(args);
        let copies: Vec<ExprId> = args.iter().map(|&arg| self.expr(arg)).collect();
        if let Some(id) = self.called(callee, args, &copies, lift) {
            return id;
        }
        let args = self.to.add_args(copies);
        self.add(Op::Call { callee, args, lift })
    }

    fn called(&mut self, callee: EntryId, args: &[ExprId], copies: &[ExprId], lift: u32) -> Option<ExprId> {
        let program = self.machine.program;
        let linked = program.linked(callee)?;
        let Data::Fn { value } = linked.data else { return None };
        let code = &linked.plain;
        let Op::Alike { local, .. } = code.ops[value as usize] else { return None };
        let known: Vec<Option<Value>> =
            args.iter().zip(copies).map(|(&arg, &copy)| self.value_of(arg, copy)).collect();
        let lifted = |at: usize| at < 32 && lift >> at & 1 == 1;
        // None, or perhaps none: the call decides.
        if (0..).zip(&known).any(|(at, value)| lifted(at) && value.as_ref().is_none_or(Value::is_none)) {
            return None;
        }
        known.get(local as usize)?.as_ref().filter(|value| self.is_here(value))?;
        let frame: Vec<Value> = known.into_iter().map(Option::unwrap_or_default).collect();
        let shared = self.machine.fitted(code, value, &frame)?;
        match shared {
            Shared::Value(kept) => {
                let value = kept.at(self.spot.node);
                self.place(&value)
            }
            Shared::Residual(residual) if residual.is_small() => {
                let params: Vec<Op> = copies.iter().map(|&copy| self.to.ops[copy as usize].clone()).collect();
                let simple = params.iter().all(|op| matches!(op, Op::Const(_) | Op::Local(_)));
                if !simple || !uses_only(&residual.code, residual.root, params.len() as Local) {
                    return None;
                }
                Some(Splice { from: &residual.code, to: &mut self.to, params: &params }.expr(residual.root))
            }
            _ => None,
        }
    }

    /// A walk that ends where it begins.
    fn walk(&mut self, walk: EntryId, mode: WalkMode, start: ExprId) -> ExprId {
        let from = self.expr(start);
        let place = self.value_of(start, from);
        let ends =
            place.filter(|place| self.is_here(place)).is_some_and(|place| self.machine.ends_at(walk, &place));
        let op = match mode {
            _ if !ends => Op::Walk { walk, mode, from },
            WalkMode::Last => return from,
            WalkMode::Lost | WalkMode::Cycle => Op::Const(Value::Bool(false)),
            WalkMode::Path | WalkMode::All => Op::List(self.to.add_args([from])),
        };
        let id = self.add(op);
        self.done(id);
        id
    }
}

/// Whether `id` reads one of some locals.
fn mentions(code: &Code, id: ExprId, locals: Range<Local>) -> bool {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        if matches!(&code.ops[id as usize], Op::Local(local) if locals.contains(local)) {
            return true;
        }
        code.children(id, &mut |child| open.push(child));
    }
    false
}

/// Whether `id` reads and binds no local but the first so many.
fn uses_only(code: &Code, id: ExprId, params: Local) -> bool {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        let fits = match code.ops[id as usize] {
            Op::Local(local) => local < params,
            Op::Let { .. }
            | Op::Inline { .. }
            | Op::Quantifier { .. }
            | Op::Where { .. }
            | Op::Each { .. } => false,
            Op::Alike { .. } => false,
            _ => true,
        };
        if !fits {
            return false;
        }
        code.children(id, &mut |child| open.push(child));
    }
    true
}

/// Takes residual code over to where its function is called.
struct Splice<'c, 't> {
    from: &'c Code,
    to: &'t mut Code,
    params: &'t [Op],
}

impl<'c> Graft<'c> for Splice<'c, '_> {
    fn from(&self) -> &'c Code {
        self.from
    }

    fn to(&mut self) -> &mut Code {
        self.to
    }

    fn local(&self, local: Local) -> Op {
        self.params.get(local as usize).cloned().unwrap_or(Op::Local(local))
    }

    fn bound(&self, local: Local) -> Local {
        local
    }

    fn done(&mut self, _: ExprId) {}
}
