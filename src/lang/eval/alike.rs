//! Nodes that are alike: values that rest on what is written at one node are found once for each kind of node, and code that
//! rests on it in part is fitted to the kind ([`super::residual`]).
//!
//! Promise: no expression that [`super::own`] shares can tell two nodes of one kind ([`Kinds`]) apart, so that a shared value is
//! the one that the expression would have.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::code::{Code, Op};
use super::residual::{Residual, Spot};
use super::{Machine, Value};
use crate::graph::{Input, Kind, Kinds, NO_KIND, NodeId, Output};
use crate::lang::hir::{ExprId, Local};

/// An expression is fitted to a kind when it has been asked more often than that.
const PATIENCE: u8 = 3;

/// No more expressions are fitted than so many.
const MOST_FITTED: u32 = 1 << 14;

/// What nodes that are alike have in common.
pub(super) struct Alike {
    pub kinds: Kinds,
    /// By place: expression, kind and port.
    shared: FxHashMap<u64, Shared>,
    /// Cells that such a value rests on, where there are any.
    cells: FxHashMap<u64, u64>,
    /// How many expressions have been fitted.
    fitted: u32,
}

/// What is known of an expression at the nodes of a kind.
#[derive(Clone)]
pub(super) enum Shared {
    Value(Kept),
    Residual(Rc<Residual>),
    /// There is little to know.
    AsWritten,
    /// It has been asked so many times.
    Asked(u8),
}

/// A value as seen from the node that it rests on.
#[derive(Clone)]
pub(super) enum Kept {
    Value(Value),
    Node,
    Input(u32),
    Output(u32),
    List(Rc<[Kept]>),
}

impl Kept {
    /// `None`: the value belongs to this node alone.
    pub fn new(value: &Value, node: NodeId) -> Option<Kept> {
        Some(match value {
            Value::Node(n) => (*n == node).then_some(Kept::Node)?,
            Value::Input(i) => (i.node == node).then_some(Kept::Input(i.index))?,
            Value::Output(o) => (o.node == node).then_some(Kept::Output(o.index))?,
            Value::List(_) | Value::Inputs { .. } | Value::Outputs { .. } => {
                Kept::List(value.elements().map(|element| Kept::new(&element, node)).collect::<Option<_>>()?)
            }
            Value::Graph(_) | Value::Symbols(_) | Value::Group(_) => return None,
            other => Kept::Value(other.clone()),
        })
    }

    /// Whether a value is the same seen from anywhere.
    pub fn is_free(value: &Value) -> bool {
        match value {
            Value::Node(_)
            | Value::Input(_)
            | Value::Output(_)
            | Value::Inputs { .. }
            | Value::Outputs { .. } => false,
            Value::Graph(_) | Value::Symbols(_) | Value::Group(_) => false,
            Value::List(_) => value.elements().all(|element| Kept::is_free(&element)),
            _ => true,
        }
    }

    pub fn at(&self, node: NodeId) -> Value {
        match self {
            Kept::Value(value) => value.clone(),
            Kept::Node => Value::Node(node),
            Kept::Input(index) => Value::Input(Input { node, index: *index }),
            Kept::Output(index) => Value::Output(Output { node, index: *index }),
            Kept::List(items) => Value::list(items.iter().map(|item| item.at(node)).collect()),
        }
    }
}

/// A node, or a port of one.
#[derive(Clone, Copy)]
struct Site {
    node: NodeId,
    /// 0: the node itself.
    port: u64,
}

impl Site {
    #[inline]
    fn of(value: &Value) -> Option<Site> {
        Some(match *value {
            Value::Node(node) => Site { node, port: 0 },
            Value::Input(Input { node, index }) => Site { node, port: 1 + 2 * u64::from(index) },
            Value::Output(Output { node, index }) => Site { node, port: 2 + 2 * u64::from(index) },
            _ => return None,
        })
    }
}

/// A place where a shared expression is asked.
#[derive(Clone, Copy)]
struct Place {
    node: NodeId,
    key: u64,
}

impl Machine<'_> {
    /// Keeps in mind what nodes that are alike have in common. Worth it for whoever asks much of every node.
    pub fn share_alike(&mut self) {
        let keys = &self.program.traits().keys;
        let kinds = match self.origin {
            Some(snapshot) => snapshot.kinds(keys),
            None => Kinds::new(keys.clone()),
        };
        self.alike = Some(Box::new(Alike {
            kinds,
            shared: FxHashMap::default(),
            cells: FxHashMap::default(),
            fitted: 0,
        }));
    }

    /// Ends the sharing; what it has found out about the snapshot is kept there.
    pub fn keep_kinds(&mut self) {
        if let (Some(alike), Some(snapshot)) = (self.alike.take(), self.origin) {
            snapshot.keep_kinds(alike.kinds);
        }
    }

    /// The value of a shared expression.
    pub(super) fn alike(
        &mut self,
        code: &Code,
        (local, cell): (Local, u32),
        body: ExprId,
        base: usize,
    ) -> Value {
        let Some(place) = self.alike_place(local, cell, base) else { return self.expr(code, body, base) };
        match self.look_up(code, body, place, (local, base)) {
            Some(Shared::Value(kept)) => kept.at(place.node),
            Some(Shared::Residual(residual)) => self.expr(&residual.code, residual.root, base),
            Some(_) => self.expr(code, body, base),
            None => {
                let outer = self.begin_shared();
                let value = self.expr(code, body, base);
                self.keep_alike(place, &value);
                self.rests_on_cells(place, outer);
                value
            }
        }
    }

    /// The value of a function, if it is sooner found by the kind of the node than remembered.
    #[inline]
    pub(super) fn alike_call(&mut self, code: &Code, id: ExprId, frame: usize) -> Option<Value> {
        let Op::Alike { local, cell, .. } = code.ops[id as usize] else { return None };
        let place = self.alike_place(local, cell, frame)?;
        match self.alike.as_ref()?.shared.get(&place.key)? {
            Shared::Value(kept) => Some(kept.at(place.node)),
            Shared::Residual(residual) if residual.is_small() => {
                let residual = Rc::clone(residual);
                self.grow(frame + code.locals as usize);
                Some(self.expr(&residual.code, residual.root, frame))
            }
            _ => None,
        }
    }

    /// Whether a condition holds in a frame that starts with `frame`, if that is known of the kind of the node that it is about.
    #[inline]
    pub(super) fn alike_in_frame(&mut self, code: &Code, id: ExprId, frame: &[Value]) -> Option<bool> {
        let Op::Alike { local, cell, .. } = code.ops[id as usize] else { return None };
        let place = self.place_of(Site::of(frame.get(local as usize)?)?, cell)?;
        match self.alike.as_ref()?.shared.get(&place.key)? {
            Shared::Value(Kept::Value(value)) => Some(value.is_true()),
            _ => None,
        }
    }

    /// Whether a shared condition holds.
    pub(super) fn alike_condition(
        &mut self,
        code: &Code,
        (local, cell): (Local, u32),
        body: ExprId,
        base: usize,
    ) -> bool {
        let Some(place) = self.alike_place(local, cell, base) else {
            return self.condition(code, body, base);
        };
        match self.look_up(code, body, place, (local, base)) {
            Some(Shared::Value(kept)) => matches!(kept, Kept::Value(Value::Bool(true))),
            Some(Shared::Residual(residual)) => self.condition(&residual.code, residual.root, base),
            Some(_) => self.condition(code, body, base),
            None => {
                let outer = self.begin_shared();
                let holds = self.condition(code, body, base);
                self.keep_alike(place, &Value::Bool(holds));
                self.rests_on_cells(place, outer);
                holds
            }
        }
    }
    /// What is known of an expression at nodes of a kind. `None`: nothing yet, and it is a value of theirs.
    #[inline]
    fn look_up(&mut self, code: &Code, body: ExprId, place: Place, at: (Local, usize)) -> Option<Shared> {
        match self.alike.as_ref()?.shared.get(&place.key) {
            Some(Shared::Asked(_)) | None => self.ask(code, body, place, at),
            Some(shared) => Some(shared.clone()),
        }
    }

    /// An expression of which only parts are the node's own is fitted to a kind when it has been asked some times.
    #[cold]
    #[inline(never)]
    fn ask(&mut self, code: &Code, body: ExprId, place: Place, at: (Local, usize)) -> Option<Shared> {
        if code.is_own_of(body, at.0) {
            return None;
        }
        let alike = self.alike.as_deref_mut()?;
        let may_fit = alike.fitted < MOST_FITTED;
        if let Shared::Asked(times) = alike.shared.entry(place.key).or_insert(Shared::Asked(0)) {
            *times = times.saturating_add(1);
            if *times > PATIENCE && may_fit {
                self.fit(code, body, place, at);
            }
        }
        self.alike.as_ref()?.shared.get(&place.key).cloned()
    }

    fn fit(&mut self, code: &Code, body: ExprId, place: Place, (local, base): (Local, usize)) {
        let outer = self.begin_shared();
        let shared = self.residual(code, body, Spot { local, node: place.node, base });
        self.rests_on_cells(place, outer);
        if let Some(alike) = self.alike.as_deref_mut() {
            alike.fitted += 1;
            alike.shared.insert(place.key, shared);
        }
    }

    /// What is left of an expression of a function or a walk whose frame begins with `frame`, at the kind of the place that
    /// it is fitted to. `None`: it is not fitted to any.
    pub(super) fn fitted(&mut self, code: &Code, id: ExprId, frame: &[Value]) -> Option<Shared> {
        let Op::Alike { local, cell, body } = code.ops[id as usize] else { return None };
        let base = self.enter(frame, code.locals);
        let place = self.alike_place(local, cell, base);
        if let Some(place) = place {
            let known = self.alike.as_ref().and_then(|alike| alike.shared.get(&place.key));
            if matches!(known, None | Some(Shared::Asked(_))) {
                if code.is_own_of(body, local) {
                    let outer = self.begin_shared();
                    let value = self.expr(code, body, base);
                    self.keep_alike(place, &value);
                    self.rests_on_cells(place, outer);
                } else {
                    self.fit(code, body, place, (local, base));
                }
            }
        }
        self.leave(base);
        self.alike.as_ref()?.shared.get(&place?.key).cloned()
    }

    /// Whether a condition of a walk holds at a place and all that are like it, or at none of them.
    pub(super) fn decided(&mut self, code: &Code, condition: ExprId, place: &Value) -> Option<bool> {
        let frame = std::slice::from_ref(place);
        if code.is_own_of(condition, 0) {
            let base = self.enter(frame, code.locals);
            let holds = self.condition(code, condition, base);
            self.leave(base);
            return Some(holds);
        }
        match self.fitted(code, condition, frame)? {
            Shared::Value(Kept::Value(value)) => Some(value.is_true()),
            _ => None,
        }
    }

    /// `None`: nothing is shared there, or somebody records what is read to whom kinds say nothing.
    #[inline]
    fn alike_place(&mut self, local: Local, cell: u32, base: usize) -> Option<Place> {
        self.place_of(Site::of(&self.stack[base + local as usize])?, cell)
    }

    #[inline]
    fn place_of(&mut self, site: Site, cell: u32) -> Option<Place> {
        let place = self.place_at(site, cell)?;
        if self.again.is_some() {
            self.see_cells_at(place.key);
        }
        Some(place)
    }

    /// The same where nothing that is known there is used.
    #[inline]
    fn place_at(&mut self, Site { node, port }: Site, cell: u32) -> Option<Place> {
        let kinds_count = self.reads.as_ref().is_none_or(|reads| reads.of_round);
        let alike = self.alike.as_deref().filter(|_| kinds_count)?;
        let kind = match alike.kinds.known(node) {
            Some(kind) => kind,
            None => self.find_kind(node)?,
        };
        self.see_own(node);
        // 20 bits for the cell would do, 13 for the kind: the three numbers do not overlap.
        let fits = kind != NO_KIND && port < 1 << 16;
        let key = u64::from(cell) << 32 | u64::from(kind) << 16 | port;
        fits.then_some(Place { node, key })
    }

    /// What is known at a place is used.
    fn see_cells_at(&mut self, key: u64) {
        if let Some(&cells) = self.alike.as_ref().and_then(|alike| alike.cells.get(&key)) {
            self.see_cells(cells);
        }
    }

    /// Ends what [`Machine::begin_shared`] began: what is known at a place now rests on the cells that were asked.
    fn rests_on_cells(&mut self, place: Place, outer: u64) {
        let cells = self.end_shared(outer);
        if let Some(alike) = self.alike.as_mut().filter(|_| cells != 0) {
            *alike.cells.entry(place.key).or_default() |= cells;
        }
    }

    /// The kind of a place: that of its node, and which of its ports it is. `None`: it is of none.
    #[inline]
    pub(super) fn kind_at(&mut self, place: &Value) -> Option<u64> {
        self.place_at(Site::of(place)?, 0).map(|place| place.key)
    }

    #[cold]
    fn find_kind(&mut self, node: NodeId) -> Option<Kind> {
        let mut alike = self.alike.take()?;
        let kind = alike.kinds.find(self.near(), node);
        self.alike = Some(alike);
        Some(kind)
    }

    fn keep_alike(&mut self, place: Place, value: &Value) {
        if self.pending.is_none()
            && let Some(kept) = Kept::new(value, place.node)
            && let Some(alike) = &mut self.alike
        {
            alike.shared.insert(place.key, Shared::Value(kept));
        }
    }
}
