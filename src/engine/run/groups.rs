//! What the layers of a pass find, group by group.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::Engine;
use crate::engine::pairs::Class;
use crate::engine::queries::{Layer, QueryFailure, found, mark_table, rule, rule_program, symbols};
use crate::engine::search::{GroupVerdict, Search};
use crate::lang::eval::Machine;

/// What each rule found, by group.
type ByGroup = BTreeMap<u32, Vec<(Class, GroupVerdict)>>;

impl Engine<'_> {
    /// What every rule found, by group.
    pub(super) fn conflicts_by_group(&self, layer: Layer<'_>) -> Result<ByGroup, QueryFailure> {
        if let Some(tally) = self.db.tally() {
            crate::engine::testing::count_pairs(self.db, self.rules, layer, &tally)?;
        }
        let mut groups = ByGroup::new();
        for (class, verdicts) in found(self.db, self.rules, layer)?.iter() {
            for verdict in verdicts.iter() {
                groups.entry(verdict.group).or_default().push((*class, verdict.clone()));
            }
        }
        Ok(groups)
    }

    /// Runs one rule again on one group: something that it had read has changed.
    pub(super) fn again(
        &self,
        machine: &Machine<'_>,
        layer: Layer<'_>,
        class: Class,
        group: u32,
    ) -> Result<GroupVerdict, QueryFailure> {
        let (db, rules) = (self.db, self.rules);
        let linked = rule_program(db, rules, class);
        let table = symbols(db, rules, layer)?;
        let marks = mark_table(db, rules, layer, |_| true)?;
        let nothing = || GroupVerdict { group, isolated: Vec::new(), reads: None };
        let Some(rule) = rule(db, rules, class, &linked.0) else { return Ok(nothing()) };
        let target = layer.target(db);
        let mut fresh = Machine::new(&linked.0, self, machine.copy(), None, target);
        fresh.set_tally(db.tally());
        fresh.set_marks(Some(Rc::new(marks.clone())));
        let mut search = Search { machine: &mut fresh, rule: &rule, symbols: &table, marks: &marks, target };
        // What is known of reachability goes with a machine's log.
        let known = self.reach.take();
        let verdict = search.run_group(group);
        self.reach.replace(known);
        verdict.map_err(|failure| QueryFailure(Arc::new(failure), linked.clone()))
    }
}
