//! What evaluation asks of the engine, and how it fails.

use std::sync::Arc;

use super::reach::reaches;
use super::{EntryId, Machine, Seen, Value};
use crate::graph::{Anchor, GraphId, NodeId, Snapshot, Sym, Symbols};
use crate::lang::hir::{Line, TextId};

/// The marks of anchors, as they were when the symbols were built.
pub trait Marks {
    fn has(&self, anchor: Anchor, mark: Sym) -> bool;
    /// In order.
    fn list(&self, anchor: Anchor) -> Vec<Sym>;
}

/// A state of the host to go back to.
#[derive(Clone, Debug, Default)]
pub struct HostMark {
    /// The snapshot of the last sort.
    pub sorted: Option<Snapshot>,
    /// Findings and resolutions so far.
    pub counts: (usize, usize),
}

/// What the engine does for a body. Methods get the machine that asks, so they can read and edit its state. What a host
/// does not say is as without an engine: symbols are built from the program, chains run in place, reachability is a search, and
/// all else fails.
pub trait Host {
    /// `symbols(NAME, g)`.
    fn symbols(
        &self,
        machine: &mut Machine<'_>,
        symbols: Sym,
        target: GraphId,
    ) -> Result<Arc<Symbols>, Failure> {
        machine.build_symbols(symbols, target).map(Arc::new)
    }

    /// The same for who records what it reads, with what the table was told from; `None`: more than can be named.
    fn symbols_seen(
        &self,
        machine: &mut Machine<'_>,
        symbols: Sym,
        target: GraphId,
    ) -> Result<(Arc<Symbols>, Option<Arc<Seen>>), Failure> {
        self.symbols(machine, symbols, target).map(|table| (table, None))
    }

    /// `conflicts(g, table)`.
    fn conflicts(&self, _: &mut Machine<'_>, _: GraphId, _: &Arc<Symbols>) -> Result<bool, Failure> {
        Err(meaningless("conflicts"))
    }

    /// `conflicts(g, a, b)`: of the groups that the machine tracks; `None` if that cannot be found out.
    fn would_conflict(
        &self,
        _: &mut Machine<'_>,
        _: GraphId,
        _: (Anchor, Anchor),
    ) -> Result<Option<bool>, Failure> {
        Err(meaningless("conflicts"))
    }

    /// What of the host's own state an `attempt` may have to bring back.
    fn mark(&self) -> HostMark {
        HostMark::default()
    }

    /// The machine has undone all edits since `mark`.
    fn undone(&self, _: &Machine<'_>, _: HostMark) {}

    /// `sort with ORDER`, of the machine's root.
    fn sort(&self, _: &mut Machine<'_>, _: Sym) -> Result<(), Failure> {
        Err(meaningless("sort"))
    }

    /// `apply CHAIN to n`.
    fn apply(&self, machine: &mut Machine<'_>, chain: Sym, node: NodeId) -> Result<(), Failure> {
        machine.run_chain(chain, node).map(|_| ())
    }

    /// `resolve SYMBOLS in g as a { … }`: calls the body for each isolated anchor.
    fn resolve(
        &self,
        _: &mut Machine<'_>,
        _: Sym,
        _: GraphId,
        _: &mut dyn FnMut(&mut Machine<'_>, Anchor) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        Err(meaningless("resolve"))
    }

    /// A cell of a matrix that the program leaves open. `None`: the host does not know it.
    fn cell(&self, _matrix: Sym, _row: u16, _column: u16) -> Option<u16> {
        None
    }

    /// Whether a variant stands in a line of a matrix that the program leaves open; so if the host does not know it.
    fn stands_in(&self, _matrix: Sym, _line: Line, _variant: u16) -> bool {
        true
    }

    /// Whether a path of data and control edges inside one graph leads from `from` to `to`.
    fn reaches(&self, machine: &mut Machine<'_>, from: NodeId, to: NodeId) -> bool {
        reaches(machine.state(), from, to)
    }
}

pub(super) fn meaningless(what: &str) -> Failure {
    Failure::mechanism("no-host", format!("`{what}` has no meaning here"))
}

/// A host without an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {}

/// Why a body could not go on. The edit it made is to be thrown away.
#[derive(Clone, Debug)]
pub struct Failure {
    pub cause: Cause,
    /// The item that failed, if known.
    pub entry: Option<EntryId>,
    /// The nodes and anchors it is about.
    pub places: Vec<Value>,
    /// The edit is to be kept after all.
    pub stands: bool,
}

#[derive(Clone, Debug)]
pub enum Cause {
    /// A `fail` statement: render the text of the item with this frame.
    Text { text: TextId, frame: Arc<[Value]> },
    /// A step that the mechanism refuses. `code` is stable.
    Mechanism { code: &'static str, message: String },
}

impl Failure {
    pub fn mechanism(code: &'static str, message: impl Into<String>) -> Failure {
        Failure {
            cause: Cause::Mechanism { code, message: message.into() },
            entry: None,
            places: Vec::new(),
            stands: false,
        }
    }

    #[must_use]
    pub fn at(mut self, places: impl IntoIterator<Item: Into<Value>>) -> Failure {
        self.places.extend(places.into_iter().map(Into::into));
        self
    }
}
