//! Cells of matrices.
//!
//! Promise: of a cell that a program leaves open the host is asked once, when a value depends on it, and of a line whether a
//! variant stands there at all. So a run depends on the cells that it looked at, and on no other.

use rustc_hash::FxHashMap;

use super::code::{Code, Op};
use super::host::meaningless;
use super::simplify::is_pure;
use super::{EntryId, Machine, Value};
use crate::lang::hir::{Compare, Entry, ExprId, Line, OPEN_CELL};

/// What a machine knows of a matrix whose cells its program leaves open.
#[derive(Debug)]
pub(super) struct Grid {
    matrix: EntryId,
    cells: Vec<Vec<u16>>,
    rows: Vec<Standing>,
    columns: Vec<Standing>,
}

/// Which variants stand in a line, as far as that has been asked: one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    asked: u64,
    there: u64,
}

/// A question about a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CellQuestion {
    Cell { matrix: EntryId, row: u16, column: u16 },
    Line { matrix: EntryId, line: Line, variant: u16 },
}

/// What matrices have said, in the order in which they were asked first. Sets of questions are bits: of the first ones each has
/// its own, and all others share the last.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    list: Vec<(CellQuestion, u16)>,
    places: FxHashMap<CellQuestion, usize>,
}

/// Any question.
pub(super) const ANY_CELL: u64 = u64::MAX;

const LAST_BIT: usize = 63;

fn bit(place: usize) -> u64 {
    1 << place.min(LAST_BIT)
}

impl Said {
    /// The bit of a question, and what is said now.
    fn note(&mut self, question: CellQuestion, answer: u16) -> u64 {
        let list = &mut self.list;
        let place = *self.places.entry(question).or_insert_with(|| {
            list.push((question, answer));
            list.len() - 1
        });
        list[place].1 = answer;
        bit(place)
    }

    /// What was asked, with a bit of a set.
    pub fn of(&self, cells: u64) -> impl Iterator<Item = (u64, CellQuestion, u16)> + '_ {
        let with_bits = self.list.iter().enumerate().map(|(at, said)| (bit(at), said.0, said.1));
        with_bits.filter(move |(bit, ..)| bit & cells != 0)
    }
}

impl Machine<'_> {
    /// What a matrix says now; `None`: nothing that can be compared.
    pub(super) fn ask_cell(&mut self, question: CellQuestion) -> Option<u16> {
        let pending = self.pending.take();
        let answer = match question {
            CellQuestion::Cell { matrix, row, column } => self.variant_at(matrix, row, column),
            CellQuestion::Line { matrix, line, variant } => {
                Some(self.stands_in(matrix, line, variant).into())
            }
        };
        self.pending = pending;
        answer
    }

    /// Records what a matrix says.
    fn see_cell(&mut self, question: CellQuestion, answer: u16) {
        let Some(said) = self.said() else { return };
        let bit = said.note(question, answer);
        self.see_cells(bit);
    }

    /// Whether the program leaves a cell open.
    fn is_open(&self, matrix: EntryId, row: u16, column: u16) -> bool {
        let Some(Entry::Matrix { cells, .. }) = self.program.linked(matrix).map(|linked| &*linked.entry)
        else {
            return false;
        };
        cells.get(row as usize).and_then(|row| row.get(column as usize)) == Some(&OPEN_CELL)
    }

    /// Whether a cell of a matrix is (or is not) a variant that stands there in words. The column is asked only where it
    /// matters: a row without that variant decides alone. `None`: not such a question, or somebody looks on.
    pub(super) fn compare_cell(
        &mut self,
        code: &Code,
        op: Compare,
        left: ExprId,
        right: ExprId,
        base: usize,
    ) -> Option<bool> {
        let &Op::Matrix { matrix, row, column } = &code.ops[left as usize] else { return None };
        let &Op::Const(Value::Enum { variant, .. }) = &code.ops[right as usize] else { return None };
        if !matches!(op, Compare::Eq | Compare::Ne) || self.trace.is_some() || self.tally.is_some() {
            return None;
        }
        let row = self.expr(code, row, base).as_variant();
        let equal = match row.filter(|&row| self.stands_in(matrix, Line::Row(row), variant)) {
            Some(row) => {
                let column = self.expr(code, column, base).as_variant();
                column.and_then(|column| self.variant_at(matrix, row, column)) == Some(variant)
            }
            None => false,
        };
        Some(equal == (op == Compare::Eq))
    }

    /// How a comparison comes out that is about a cell of a known column, if the variant stands nowhere in that column.
    pub(super) fn settled_cell(&mut self, code: &Code, id: ExprId) -> Option<bool> {
        let Op::Compare { op: op @ (Compare::Eq | Compare::Ne), left, right } = code.ops[id as usize] else {
            return None;
        };
        let Op::Matrix { matrix, row, column } = code.ops[left as usize] else { return None };
        let variant = |id: ExprId| match &code.ops[id as usize] {
            Op::Const(value) => value.as_variant(),
            _ => None,
        };
        let (column, variant) = variant(column).zip(variant(right))?;
        let absent = !self.stands_in(matrix, Line::Column(column), variant)
            && is_pure(self.program.entries(), code, row);
        absent.then_some(op == Compare::Ne)
    }

    pub(super) fn cell(&mut self, matrix: EntryId, row: &Value, column: &Value) -> Value {
        let (Some(row), Some(column)) = (row.as_variant(), column.as_variant()) else { return Value::None };
        match self.program.linked(matrix).map(|linked| &*linked.entry) {
            Some(Entry::Matrix { result, .. }) => {
                self.reach_cell(matrix, row, column);
                match self.variant_at(matrix, row, column) {
                    Some(variant) => Value::Enum { ty: *result, variant },
                    None => Value::None,
                }
            }
            _ => Value::None,
        }
    }

    /// The variant in a cell; `None`: there is no such cell.
    fn variant_at(&mut self, matrix: EntryId, row: u16, column: u16) -> Option<u16> {
        let at = self.grid(matrix)?;
        let cell = *self.grids[at].cells.get(row as usize)?.get(column as usize)?;
        if cell != OPEN_CELL {
            if self.again.is_some() && self.is_open(matrix, row, column) {
                self.see_cell(CellQuestion::Cell { matrix, row, column }, cell);
            }
            return Some(cell);
        }
        let (_, name) = self.program.key(matrix)?;
        let cell = self.host.cell(name, row, column);
        match cell {
            Some(cell) => {
                self.grids[at].cells[row as usize][column as usize] = cell;
                self.see_cell(CellQuestion::Cell { matrix, row, column }, cell);
            }
            None => {
                self.pending.get_or_insert_with(|| meaningless("matrix"));
            }
        }
        cell
    }

    /// Whether a variant stands in a line; so if there is no telling.
    pub(super) fn stands_in(&mut self, matrix: EntryId, line: Line, variant: u16) -> bool {
        let stands = self.find_in(matrix, line, variant);
        if self.again.is_some() {
            self.see_cell(CellQuestion::Line { matrix, line, variant }, stands.into());
        }
        stands
    }

    fn find_in(&mut self, matrix: EntryId, line: Line, variant: u16) -> bool {
        let Some(at) = self.grid(matrix) else { return true };
        let grid = &mut self.grids[at];
        let known = match line {
            Line::Row(row) => grid.rows.get_mut(row as usize),
            Line::Column(column) => grid.columns.get_mut(column as usize),
        };
        // Of no line, nothing stands there.
        let Some(known) = known else { return false };
        let bit = 1u64.checked_shl(variant.into()).unwrap_or_default();
        if known.asked & bit == 0 {
            let open = line.of(&grid.cells).any(|cell| cell == OPEN_CELL);
            let there = if open {
                self.program.key(matrix).is_none_or(|(_, name)| self.host.stands_in(name, line, variant))
            } else {
                line.of(&grid.cells).any(|cell| cell == variant)
            };
            known.asked |= bit;
            known.there |= if there { bit } else { 0 };
            return there;
        }
        known.there & bit != 0
    }

    /// Where this machine keeps the cells of a matrix.
    fn grid(&mut self, matrix: EntryId) -> Option<usize> {
        if let Some(at) = self.grids.iter().position(|grid| grid.matrix == matrix) {
            return Some(at);
        }
        let Entry::Matrix { cells, .. } = &*self.program.linked(matrix)?.entry else { return None };
        let columns = cells.iter().map(Vec::len).max().unwrap_or_default();
        self.grids.push(Grid {
            matrix,
            cells: cells.clone(),
            rows: vec![Standing::default(); cells.len()],
            columns: vec![Standing::default(); columns],
        });
        Some(self.grids.len() - 1)
    }
}
