//! Questions about a result.

use std::rc::Rc;
use std::sync::Arc;

use super::Engine;
use crate::db::{Db, Roots, RuleSet, live, program};
use crate::engine::cells::Cells;
use crate::engine::queries::{At, Layer, QueryFailure, mark_table};
use crate::graph::{GraphId, Snapshot, Sym};
use crate::lang::eval::{EventKind, Machine, Value};
use crate::lang::hir::ExprId;
use crate::lang::syntax::ast::Kind;

/// The answer to a question about a result.
pub struct Answer {
    pub holds: bool,
    /// Both sides of the last comparison that did not hold.
    pub compared: Option<(String, String)>,
}

/// Whether a condition of an entry holds, with all that a pass could ask: {root}.
pub fn ask(
    db: &dyn Db,
    rules: RuleSet,
    snapshot: &Snapshot,
    root: GraphId,
    (kind, name): (Kind, Sym),
    condition: ExprId,
) -> Result<Answer, QueryFailure> {
    let linked = program(db, rules, Roots::of(db, [(kind, name)]));
    let cells = Cells { db, rules };
    let host = Engine::new(&cells, snapshot);
    let mut machine = Machine::over(&linked.0, &host, snapshot, root);
    machine.set_tally(db.tally());
    if !linked.1.is_empty()
        && let Some(symbols) = live(db, rules).names(Kind::Symbols).next()
    {
        let layer = Layer::new(db, At::new(db, snapshot.clone()), symbols, root);
        machine.set_marks(Some(Rc::new(mark_table(db, rules, layer, |_| true)?)));
    }
    let entry = linked.0.entry(kind, name).unwrap_or_default();
    let frame = [Value::Graph(root)];
    let told =
        |failure| host.failed.take().unwrap_or_else(|| QueryFailure(Arc::new(failure), linked.clone()));
    let mut compared = None;
    let holds = machine.test(entry, condition, &frame).map_err(told)?;
    if !holds {
        machine.record_trace();
        machine.test(entry, condition, &frame).map_err(told)?;
        for event in machine.take_trace() {
            if let EventKind::Compare { left, right } = &event.kind
                && event.entry == entry
                && !event.value.is_true()
            {
                compared = Some((machine.show(left), machine.show(right)));
            }
        }
    }
    Ok(Answer { holds, compared })
}
