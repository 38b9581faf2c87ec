//! Hosts that know the cells of matrices, and little else.
//!
//! Promise: each cell, and each line, is a query of its own: who asks one depends on no other.

use std::cell::RefCell;

use super::reach::ReachIndex;
use crate::db::{self, Db, EntryName, RuleSet};
use crate::graph::{NodeId, Sym};
use crate::lang::eval::{Host, Machine};
use crate::lang::hir::Line;
use crate::lang::syntax::ast::Kind;

/// What programs are run with that ask the rules for cells, and the engine for nothing else.
#[derive(Clone, Copy)]
pub struct Cells<'db> {
    pub db: &'db dyn Db,
    pub rules: RuleSet,
}

impl Host for Cells<'_> {
    fn cell(&self, matrix: Sym, row: u16, column: u16) -> Option<u16> {
        db::cell(self.db, self.rules, EntryName::new(self.db, Kind::Matrix, matrix), row, column)
    }

    fn stands_in(&self, matrix: Sym, line: Line, variant: u16) -> bool {
        db::stands_in(self.db, self.rules, EntryName::new(self.db, Kind::Matrix, matrix), line, variant)
    }
}

/// Answers reachability from an index as well: of the one machine that asks.
pub struct Indexed<'db> {
    cells: Cells<'db>,
    reach: RefCell<ReachIndex>,
}

impl<'db> Indexed<'db> {
    pub fn new(cells: Cells<'db>) -> Indexed<'db> {
        Indexed { cells, reach: RefCell::default() }
    }
}

impl Host for Indexed<'_> {
    fn cell(&self, matrix: Sym, row: u16, column: u16) -> Option<u16> {
        self.cells.cell(matrix, row, column)
    }

    fn stands_in(&self, matrix: Sym, line: Line, variant: u16) -> bool {
        self.cells.stands_in(matrix, line, variant)
    }

    fn reaches(&self, machine: &mut Machine<'_>, from: NodeId, to: NodeId) -> bool {
        self.reach.borrow_mut().ask(machine, from, to)
    }
}
