//! Cells of matrices, and what programs hold in their place.

/// Stands for a cell of a matrix that a machine asks of its host: a program does not depend on cells that nobody asks.
pub const OPEN_CELL: u16 = u16::MAX;

/// A row or a column of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Line {
    Row(u16),
    Column(u16),
}

impl Line {
    /// The cells of the line.
    pub fn of(self, cells: &[Vec<u16>]) -> impl Iterator<Item = u16> + '_ {
        let (row, column) = match self {
            Line::Row(row) => (Some(row), None),
            Line::Column(column) => (None, Some(column)),
        };
        let rows = (0u16..).zip(cells).filter(move |(at, _)| row.is_none_or(|row| row == *at));
        rows.flat_map(move |(_, cells)| {
            let cells = (0u16..).zip(cells).filter(move |(at, _)| column.is_none_or(|column| column == *at));
            cells.map(|(_, &cell)| cell)
        })
    }
}
