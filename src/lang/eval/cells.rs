//! Cells of matrices.

use super::code::{Code, Op};
use super::{EntryId, Machine, Value};
use crate::lang::hir::{Compare, Entry, ExprId};

impl Machine<'_> {
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
        let program = self.program;
        let Some(Entry::Matrix { cells, .. }) = program.linked(matrix).map(|linked| &*linked.entry) else {
            return None;
        };
        let row = self.expr(code, row, base);
        let cells = row.as_variant().and_then(|row| cells.get(row as usize));
        let known = cells.filter(|cells| cells.contains(&variant));
        let equal = match known {
            Some(cells) => {
                let column = self.expr(code, column, base).as_variant();
                column.and_then(|column| cells.get(column as usize)) == Some(&variant)
            }
            None => false,
        };
        Some(equal == (op == Compare::Eq))
    }

    pub(super) fn cell(&self, matrix: EntryId, row: &Value, column: &Value) -> Value {
        let (Some(row), Some(column)) = (row.as_variant(), column.as_variant()) else { return Value::None };
        match self.program.linked(matrix).map(|linked| &*linked.entry) {
            Some(Entry::Matrix { result, cells, .. }) => {
                self.reach_cell(matrix, row, column);
                match cells.get(row as usize).and_then(|r| r.get(column as usize)) {
                    Some(&variant) => Value::Enum { ty: *result, variant },
                    None => Value::None,
                }
            }
            _ => Value::None,
        }
    }
}
