//! What comes of code, as far as one node tells.
//!
//! Code is gone through without being run: expressions to what they can be, statements to whether they do something. Promise: an
//! expression is one of the values that are found here at every node that is like the example, as far as the grain goes; code
//! that comes to nothing here changes nothing there, reports nothing and does not fail. It may be supposed that no reader of the
//! example satisfies a condition: then what is found holds where that is so ([`Supposed`]).

use super::alike::Kept;
use super::arith::{arith, compare};
use super::code::{Code, NONE, Op, Span};
use super::known::{Known, Lifted};
use super::program::Data;
use super::simplify::is_pure;
use super::{EntryId, Machine, Value};
use crate::graph::NodeId;
use crate::lang::facts::Fact;
use crate::lang::hir::{Compare, Each, ExprId, Line, Local, WalkMode};
use crate::lang::syntax::ast::Quantifier;

/// So many expressions and statements are looked at; what is left then is open.
const MOST_LOOKS: u32 = 1 << 11;

/// Lists of more elements than this are not gone through one by one.
const MOST_ELEMENTS: usize = 16;

/// Calls that nest more deeply are not looked into.
const DEEPEST: u32 = 24;

/// A condition that is supposed to hold of no reader.
#[derive(Debug, PartialEq)]
pub(super) struct Supposed {
    entry: EntryId,
    condition: ExprId,
    /// Holds the reader.
    local: Local,
    /// What is known of other locals.
    given: Vec<(Local, Known)>,
}

/// What is taken to be known of the node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Grain {
    /// Its type alone.
    Type,
    /// All that the nodes of its kind have in common.
    Kind,
}

impl<'a> Machine<'a> {
    /// How a condition comes out at all nodes that are like the one that `locals` hold, or hold anchors of.
    pub(super) fn foretold(&mut self, code: &Code, condition: ExprId, at: &[(Local, Value)]) -> Option<bool> {
        self.foresee(code, (Grain::Type, false), at, |f, base| f.plain(code, condition, base)?.truth())?.0
    }

    /// Of which conditions no reader may be for a list to be empty where `local` holds a place like `place`.
    pub(super) fn quiet_list(
        &mut self,
        code: &Code,
        list: ExprId,
        local: Local,
        place: Value,
    ) -> Option<Vec<Supposed>> {
        let at = [(local, place)];
        let (known, supposed) =
            self.foresee(code, (Grain::Kind, true), &at, |f, base| f.plain(code, list, base))?;
        known?.is_empty_list().then_some(supposed)
    }

    /// Whether what is supposed of readers is true of those that are like one.
    pub(super) fn is_as_supposed(&mut self, supposed: &Supposed, reader: Value) -> bool {
        let program = self.program;
        let Some(linked) = program.linked(supposed.entry) else { return false };
        let at = [(supposed.local, reader)];
        let told = self.foresee(&linked.plain, (Grain::Kind, false), &at, |f, base| {
            for (local, known) in &supposed.given {
                f.bind(base, *local, known.clone());
            }
            f.look(&linked.plain, supposed.condition, base).truth()
        });
        told.is_some_and(|(holds, _)| holds == Some(false))
    }

    /// Looks at code in a frame of its own, where `at` holds places at one node.
    pub(super) fn foresee<T>(
        &mut self,
        code: &Code,
        (grain, may_suppose): (Grain, bool),
        at: &[(Local, Value)],
        look: impl FnOnce(&mut Foresight<'_, 'a>, usize) -> T,
    ) -> Option<(T, Vec<Supposed>)> {
        let place = |value: &Value| value.as_node().or_else(|| value.as_anchor().map(|anchor| anchor.node()));
        let (about, node) = at.iter().find_map(|(_, value)| Some((value.clone(), place(value)?)))?;
        let origin = self.stack.len();
        let supposed = may_suppose.then(Vec::new);
        let mut foresight = Foresight {
            machine: self,
            grain,
            about,
            node,
            known: Vec::new(),
            origin,
            supposed,
            left: MOST_LOOKS,
            depth: 0,
        };
        let base = foresight.enter(code);
        for (local, value) in at.iter().filter(|(_, value)| place(value) == Some(node)) {
            foresight.bind(base, *local, Known::There(value.clone()));
        }
        let found = look(&mut foresight, base);
        let supposed = foresight.supposed.take().unwrap_or_default();
        self.leave(base);
        self.pending.is_none().then_some((found, supposed))
    }
}

/// A look at code.
pub(super) struct Foresight<'m, 'a> {
    pub machine: &'m mut Machine<'a>,
    grain: Grain,
    /// The example, and its node.
    about: Value,
    node: NodeId,
    /// What is known of the locals of all frames from `origin` on. The machine's stack holds those that are known.
    known: Vec<Known>,
    origin: usize,
    /// `None`: nothing may be supposed.
    supposed: Option<Vec<Supposed>>,
    left: u32,
    depth: u32,
}

impl<'a> Foresight<'_, 'a> {
    fn enter(&mut self, code: &Code) -> usize {
        let base = self.machine.enter(&[], code.locals);
        self.known.resize(base - self.origin + code.locals as usize, Known::Open);
        base
    }

    fn leave(&mut self, base: usize) {
        self.machine.leave(base);
        self.known.truncate(base - self.origin);
    }

    pub fn bind(&mut self, base: usize, local: Local, known: Known) {
        let slot = base + local as usize;
        self.machine.stack[slot] = known.value().cloned().unwrap_or_default();
        self.known[slot - self.origin] = known;
    }

    fn of_local(&self, base: usize, local: Local) -> &Known {
        &self.known[base + local as usize - self.origin]
    }

    pub fn spend(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left > 0
    }

    // Expressions.

    pub fn truth(&mut self, code: &Code, id: ExprId, base: usize) -> Option<bool> {
        self.look(code, id, base).truth()
    }

    /// What `id` can be.
    pub fn look(&mut self, code: &Code, id: ExprId, base: usize) -> Known {
        if id == NONE {
            return Known::one(Value::None);
        }
        if !self.spend() {
            return Known::Open;
        }
        if let Some(known) = self.own(code, id, base) {
            return known;
        }
        let bool = |holds: bool| Known::one(Value::Bool(holds));
        match code.ops[id as usize] {
            Op::Const(ref value) => Known::one(value.clone()),
            Op::Local(local) => self.of_local(base, local).clone(),
            Op::Alike { body, .. } => self.look(code, body, base),
            Op::Let { local, value, body } => {
                let known = self.look(code, value, base);
                self.bind(base, local, known);
                self.look(code, body, base)
            }
            Op::Inline { args, lift, at, body } => {
                let known: Vec<Known> =
                    code.args(args).iter().map(|&arg| self.look(code, arg, base)).collect();
                let lifted = Lifted::of(&known, lift);
                for (local, known) in (at..).zip(known) {
                    self.bind(base, local, known);
                }
                lifted.give(|| self.look(code, body, base))
            }
            Op::Call { callee, args, lift } => {
                let known: Vec<Known> =
                    code.args(args).iter().map(|&arg| self.look(code, arg, base)).collect();
                Lifted::of(&known, lift).give(|| self.call(callee, known))
            }
            Op::If { condition, then, otherwise } => match self.truth(code, condition, base) {
                Some(holds) => self.look(code, if holds { then } else { otherwise }, base),
                None => self.look(code, then, base).or(self.look(code, otherwise, base)),
            },
            Op::First { cases, otherwise } => self.first(code, cases, otherwise, base),
            Op::Match { value, arms } => self.matched(code, value, arms, base),
            Op::Coalesce(a, b) => {
                let known = self.look(code, a, base);
                match &known {
                    Known::Among(values) if values.iter().any(Value::is_none) => {
                        let some: Vec<Value> = values.iter().filter(|v| !v.is_none()).cloned().collect();
                        let other = self.look(code, b, base);
                        if some.is_empty() { other } else { Known::Among(some.into()).or(other) }
                    }
                    Known::Open => known.or(self.look(code, b, base)),
                    _ => known,
                }
            }
            Op::Not(x) => self.truth(code, x, base).map_or(Known::Open, |holds| bool(!holds)),
            Op::And(a, b) => self.both(code, (a, b), false, base),
            Op::Or(a, b) => self.both(code, (a, b), true, base),
            Op::Compare { op, left, right } => self.compared(code, op, left, right, base),
            Op::Arith { op, left, right } => {
                let (left, right) = (self.look(code, left, base), self.look(code, right, base));
                left.each_pair(&right, |left, right| Some(arith(op, left, right)))
            }
            Op::Matrix { matrix, row, column } => {
                let (row, column) = (self.look(code, row, base), self.look(code, column, base));
                row.each_pair(&column, |row, column| Some(self.machine.cell(matrix, row, column)))
            }
            Op::IsNone { value, negated } => match self.look(code, value, base) {
                Known::There(_) => bool(negated),
                known => known.each(|value| Some(Value::Bool(value.is_none() != negated))),
            },
            Op::InConsts { value, set, negated } => {
                let known = self.look(code, value, base);
                known.each(|value| Some(Value::Bool(code.set(set).contains(value) != negated)))
            }
            Op::InSet { value, set, negated } => {
                let known = self.look(code, value, base);
                let program = self.machine.program;
                let Some(Data::Set(set)) = program.linked(set).map(|linked| &linked.data) else {
                    return Known::Open;
                };
                known.each(|value| Some(Value::Bool(set.contains(value) != negated)))
            }
            Op::InList { value, list, negated } => {
                let (value, list) = (self.look(code, value, base), self.look(code, list, base));
                if list.is_empty_list() {
                    return bool(negated);
                }
                value.each_pair(&list, |value, list| {
                    Some(Value::Bool((!value.is_none() && list.contains(value)) != negated))
                })
            }
            Op::List(items) => {
                let items: Option<Vec<Value>> = code
                    .args(items)
                    .iter()
                    .map(|&item| match self.look(code, item, base) {
                        Known::Among(values) => {
                            <&[Value; 1]>::try_from(&*values).ok().map(|[one]| one.clone())
                        }
                        _ => None,
                    })
                    .collect();
                items.map_or(Known::Open, |items| Known::one(Value::list(items)))
            }
            Op::Range(from, to) => {
                let (from, to) = (self.look(code, from, base), self.look(code, to, base));
                from.each_pair(&to, |from, to| {
                    (from.as_int()? >= to.as_int()?).then(|| Value::list(Vec::new()))
                })
            }
            Op::Concat(left, right) => {
                let (left, right) = (self.look(code, left, base), self.look(code, right, base));
                match (left.is_empty_list(), right.is_empty_list()) {
                    (true, _) => right,
                    (_, true) => left,
                    _ => Known::Open,
                }
            }
            Op::Where { local, list, condition } => {
                match self.is_of_nobody(code, list, (local, condition), base) {
                    true => Known::one(Value::list(Vec::new())),
                    false => Known::Open,
                }
            }
            Op::Quantifier { kind: Quantifier::All, local, list, condition } => {
                let Some(elements) = self.elements(code, list, base) else { return Known::Open };
                let mut all = Some(true);
                for element in elements {
                    self.bind(base, local, element);
                    all = match (all, self.truth(code, condition, base)) {
                        (_, Some(false)) => return bool(false),
                        (all, Some(true)) => all,
                        _ => None,
                    };
                }
                all.map_or(Known::Open, bool)
            }
            Op::Quantifier { kind, local, list, condition } => {
                match self.is_of_nobody(code, list, (local, condition), base) {
                    false => Known::Open,
                    true => Known::one(match kind {
                        Quantifier::Count => Value::Int(0),
                        Quantifier::Find => Value::None,
                        Quantifier::Any | Quantifier::All => Value::Bool(false),
                    }),
                }
            }
            Op::Each { kind: Each::FlatMap, local, list, value } => {
                let Some(elements) = self.elements(code, list, base) else { return Known::Open };
                let is_empty = elements.into_iter().all(|element| {
                    self.bind(base, local, element);
                    self.look(code, value, base).is_empty_list()
                });
                if is_empty { Known::one(Value::list(Vec::new())) } else { Known::Open }
            }
            Op::Each { kind: Each::Map | Each::SortBy, list, .. } => match self.look(code, list, base) {
                known if known.is_empty_list() => known,
                _ => Known::Open,
            },
            Op::Walk { walk, mode, from } => self.walk(code, walk, mode, from, base),
            Op::Fact { fact, base: of, .. } => self.fact(code, fact, of, base),
            Op::Attr { base: of, .. } | Op::HasAttr { base: of, .. } | Op::Note { base: of, .. } => {
                self.of_none(code, of, base)
            }
            _ => Known::Open,
        }
    }

    /// The value of what asks only what nodes that are like the example have in common.
    fn own(&mut self, code: &Code, id: ExprId, base: usize) -> Option<Known> {
        let own = code.own(id).filter(|_| self.grain == Grain::Kind)?;
        let is_known = |local: Local| self.of_local(base, local).value().is_some();
        if !own.iter().all(is_known) || !self.tells(code, id) {
            return None;
        }
        let value = self.machine.expr(code, id, base);
        Some(self.known(value))
    }

    fn known(&self, value: Value) -> Known {
        match Kept::new(&value, self.node) {
            _ if Kept::is_free(&value) => Known::Among([value].into()),
            Some(_) => Known::There(value),
            None => Known::Open,
        }
    }

    /// Whether kinds tell all attributes that `id` asks for.
    fn tells(&self, code: &Code, id: ExprId) -> bool {
        let keys = &self.machine.program.traits().keys;
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if let Op::Attr { keys: asked, .. } | Op::HasAttr { keys: asked, .. } = code.ops[id as usize]
                && !code.keys(asked).iter().all(|key| keys.contains(key.index()))
            {
                return false;
            }
            code.children(id, &mut |child| open.push(child));
        }
        true
    }

    fn call(&mut self, callee: EntryId, args: Vec<Known>) -> Known {
        let program = self.machine.program;
        let Some(linked) = program.linked(callee) else { return Known::Open };
        let Data::Fn { value } = linked.data else { return Known::Open };
        let code = &linked.plain;
        self.inside(code, args, |f, base| f.look(code, value, base)).unwrap_or(Known::Open)
    }

    /// Looks into an item that is told of `args`. `None`: items call each other too deeply.
    pub fn inside<T>(
        &mut self,
        code: &Code,
        args: Vec<Known>,
        look: impl FnOnce(&mut Self, usize) -> T,
    ) -> Option<T> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let base = self.enter(code);
        for (local, known) in (0..).zip(args) {
            self.bind(base, local, known);
        }
        let found = look(self, base);
        self.leave(base);
        self.depth -= 1;
        Some(found)
    }

    /// Two conditions, of which one alone decides if it comes out as `decides`.
    fn both(&mut self, code: &Code, (a, b): (ExprId, ExprId), decides: bool, base: usize) -> Known {
        let truth = match self.truth(code, a, base) {
            Some(holds) if holds == decides => Some(holds),
            Some(_) => self.truth(code, b, base),
            None => self.truth(code, b, base).filter(|&holds| holds == decides),
        };
        truth.map_or(Known::Open, |holds| Known::one(Value::Bool(holds)))
    }

    fn first(&mut self, code: &Code, cases: Span, otherwise: ExprId, base: usize) -> Known {
        let mut found: Option<Known> = None;
        let also = |found: Option<Known>, known: Known| Some(found.map_or(known.clone(), |f| f.or(known)));
        for case in code.args(cases).chunks_exact(2) {
            match self.truth(code, case[0], base) {
                Some(false) => {}
                Some(true) => return also(found, self.look(code, case[1], base)).unwrap_or(Known::Open),
                None => found = also(found, self.look(code, case[1], base)),
            }
        }
        also(found, self.look(code, otherwise, base)).unwrap_or(Known::Open)
    }

    fn matched(&mut self, code: &Code, value: ExprId, arms: Span, base: usize) -> Known {
        let arms = code.args(arms);
        let taken: Vec<Option<ExprId>> = match self.look(code, value, base) {
            Known::Among(values) => values
                .iter()
                .map(|value| value.as_variant().and_then(|variant| arms.get(variant as usize).copied()))
                .collect(),
            _ => arms.iter().copied().map(Some).chain([None]).collect(),
        };
        let one = |arm: Option<ExprId>| self.look(code, arm.unwrap_or(NONE), base);
        taken.into_iter().map(one).reduce(Known::or).unwrap_or(Known::Open)
    }

    /// Cells are asked only where their line does not tell.
    fn compared(&mut self, code: &Code, op: Compare, left: ExprId, right: ExprId, base: usize) -> Known {
        let bool = |holds: bool| Known::one(Value::Bool(holds));
        if let Op::Matrix { matrix, row, column } = code.ops[left as usize]
            && matches!(op, Compare::Eq | Compare::Ne)
        {
            let (row, column) = (self.look(code, row, base), self.look(code, column, base));
            let right = self.look(code, right, base);
            let variant = right.value().and_then(Value::as_variant);
            if let (Some(variant), Known::Among(columns)) = (variant, &column) {
                let is_absent = |column: &Value| {
                    let column = column.as_variant()?;
                    Some(!self.machine.stands_in(matrix, Line::Column(column), variant))
                };
                if columns.iter().map(is_absent).all(|absent| absent == Some(true)) {
                    return bool(op == Compare::Ne);
                }
            }
            let cell = row.each_pair(&column, |row, column| Some(self.machine.cell(matrix, row, column)));
            return cell.each_pair(&right, |left, right| Some(Value::Bool(compare(op, left, right))));
        }
        let (left, right) = (self.look(code, left, base), self.look(code, right, base));
        left.each_pair(&right, |left, right| Some(Value::Bool(compare(op, left, right))))
    }

    /// Whether nothing of a list satisfies a condition, be it supposed.
    fn is_of_nobody(
        &mut self,
        code: &Code,
        list: ExprId,
        (local, condition): (Local, ExprId),
        base: usize,
    ) -> bool {
        if let Some(elements) = self.elements(code, list, base) {
            return elements.into_iter().all(|element| {
                self.bind(base, local, element);
                self.truth(code, condition, base) == Some(false)
            });
        }
        let Op::Fact { fact: Fact::OutputReaders, base: of, .. } = code.ops[list as usize] else {
            return false;
        };
        let Known::There(output @ Value::Output(_)) = self.look(code, of, base) else { return false };
        // Of an output, the readers of others are not looked at.
        let is_looked_at = self.about == output || self.about == Value::Node(self.node);
        if !is_looked_at
            || self.supposed.is_none()
            || !is_pure(self.machine.program.entries(), code, condition)
        {
            return false;
        }
        // Of places at the node nothing is known where a reader is looked at.
        let given = locals_of(code, condition).into_iter().filter(|&other| other != local);
        let given = given.map(|local| (local, self.of_local(base, local).clone()));
        let given = given.filter(|(_, known)| matches!(known, Known::Among(_))).collect();
        let supposed = Supposed { entry: code.entry, condition, local, given };
        if let Some(all) = &mut self.supposed
            && !all.contains(&supposed)
        {
            all.push(supposed);
        }
        true
    }

    /// The elements of a list, if they are known and not too many.
    pub fn elements(&mut self, code: &Code, list: ExprId, base: usize) -> Option<Vec<Known>> {
        let known = self.look(code, list, base);
        let list = known.value().filter(|list| list.len().is_some_and(|len| len <= MOST_ELEMENTS))?;
        Some(list.elements().map(|element| self.known(element)).collect())
    }

    fn walk(&mut self, code: &Code, walk: EntryId, mode: WalkMode, from: ExprId, base: usize) -> Known {
        let from = self.look(code, from, base);
        let Known::There(place) = &from else { return Known::Open };
        if self.grain == Grain::Type || !self.machine.ends_at(walk, place) {
            return Known::Open;
        }
        match mode {
            WalkMode::Last => from,
            WalkMode::Lost | WalkMode::Cycle => Known::one(Value::Bool(false)),
            WalkMode::Path | WalkMode::All => Known::There(Value::list(vec![place.clone()])),
        }
    }

    fn fact(&mut self, code: &Code, fact: Fact, of: ExprId, base: usize) -> Known {
        let known = self.look(code, of, base);
        match (fact, &known) {
            (_, Known::Among(values)) if values.iter().all(Value::is_none) => known,
            (Fact::NodeType, Known::There(Value::Node(node))) => {
                self.machine.see_own(*node);
                self.machine.ty(*node).map_or(Known::Open, |ty| Known::one(Value::Str(ty)))
            }
            (
                Fact::InputNode | Fact::OutputNode | Fact::AnchorNode,
                Known::There(Value::Input(_) | Value::Output(_)),
            ) => Known::There(Value::Node(self.node)),
            (Fact::ListIsEmpty, _) => known.each(|list| Some(Value::Bool(list.len()? == 0))),
            (Fact::ListCount, _) => known.each(|list| i64::try_from(list.len()?).ok().map(Value::Int)),
            (Fact::ListFirst | Fact::ListLast | Fact::ListIndexOf, _) if known.is_empty_list() => {
                Known::one(Value::None)
            }
            (Fact::ListSkip | Fact::ListTake | Fact::ListReverse | Fact::ListDistinct, _)
                if known.is_empty_list() =>
            {
                known
            }
            _ => Known::Open,
        }
    }

    /// What is asked of none is none.
    fn of_none(&mut self, code: &Code, of: ExprId, base: usize) -> Known {
        match self.look(code, of, base) {
            Known::Among(values) if values.iter().all(Value::is_none) => Known::Among(values),
            _ => Known::Open,
        }
    }
}

/// The locals that `id` reads.
fn locals_of(code: &Code, id: ExprId) -> Vec<Local> {
    let (mut locals, mut open) = (Vec::new(), vec![id]);
    while let Some(id) = open.pop() {
        if let Op::Local(local) = code.ops[id as usize]
            && !locals.contains(&local)
        {
            locals.push(local);
        }
        code.children(id, &mut |child| open.push(child));
    }
    locals
}
