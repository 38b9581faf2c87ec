//! Would a table conflict? (`layout.md` 11)
//!
//! The table is made up for the question, so nothing is remembered: marks of its anchors alone, then the same
//! search as in the layer, up to the first conflict.

use std::rc::Rc;
use std::sync::Arc;

use super::cells::Cells;
use super::marks::{self, MarkRequest, MarkTable};
use super::queries::{QueryFailure, pair_table, rule, rule_program};
use super::search::Search;
use crate::db::{Db, Roots, RuleSet, names, program};
use crate::graph::{GraphId, Snapshot, Symbols};
use crate::lang::eval::Machine;
use crate::lang::hir::Entry;
use crate::lang::syntax::ast::Kind;

/// Whether some group of `table` conflicts, with `target` as target graph.
pub fn conflicts(
    db: &dyn Db,
    rules: RuleSet,
    snapshot: &Snapshot,
    target: GraphId,
    table: &Arc<Symbols>,
) -> Result<bool, QueryFailure> {
    let names = names(db, rules, Kind::Attribute);
    let mut lists: Vec<Option<Arc<marks::MarkList>>> = vec![None; names.len()];
    // Attributes with a condition first: the others are what is left.
    for last in [false, true] {
        for (at, &mark) in names.iter().enumerate() {
            let linked = program(db, rules, Roots::of(db, [(Kind::Attribute, mark)]));
            let id = linked.0.entry(Kind::Attribute, mark).unwrap_or_default();
            let otherwise =
                matches!(linked.0.hir(id).map(|e| &**e), Some(Entry::Attribute { rule: None, .. }));
            if otherwise != last {
                continue;
            }
            let earlier = MarkTable::new(snapshot.clone(), lists.iter().flatten().cloned().collect());
            let request = MarkRequest { snapshot, symbols: table, target, mark, earlier };
            let host = Cells { db, rules };
            let mut machine = Machine::over(&linked.0, &host, snapshot, target);
            machine.set_tally(db.tally());
            let list = marks::mark(&mut machine, &request, id, &mut marks::Seen::default())
                .map_err(|failure| QueryFailure(Arc::new(failure), linked.clone()))?;
            lists[at] = Some(Arc::new(list));
        }
    }
    let marks = MarkTable::new(snapshot.clone(), lists.into_iter().flatten().collect());
    for pairs in &pair_table(db, rules).rules {
        let linked = rule_program(db, rules, pairs.class);
        let Some(rule) = rule(db, rules, pairs.class, &linked.0) else { continue };
        let host = Cells { db, rules };
        let mut machine = Machine::over(&linked.0, &host, snapshot, target);
        machine.set_tally(db.tally());
        machine.set_marks(Some(Rc::new(marks.clone())));
        let mut search = Search { machine: &mut machine, rule: &rule, symbols: table, marks: &marks, target };
        let found = search.run().map_err(|failure| QueryFailure(Arc::new(failure), linked.clone()))?;
        if found.iter().any(|verdict| !verdict.isolated.is_empty()) {
            return Ok(true);
        }
    }
    Ok(false)
}
