//! Things that stand below one another in columns: cases, rows of tables, steps.
//!
//! Promise: columns are a matter of spaces alone. Where they would make lines too long, or too much of a gap, there
//! are none.

use super::doc::{Doc, concat, flat, group_if, nest, nil, text, width};
use super::expr::{Printer, begins_with_minus};
use super::{ROOM, WIDEST_GAP};
use crate::lang::syntax::build::{Rule, Tree};

/// `name : left right`; only `left` must be there.
pub struct Row {
    /// The comments before it.
    above: Doc,
    blank: bool,
    cells: Vec<Doc>,
    /// The first cell is a name, which other rows may lack: those begin with their second cell.
    named: bool,
}

impl Row {
    pub fn of(one: Doc) -> Row {
        Row { above: nil(), blank: false, cells: vec![one], named: false }
    }

    pub fn two(left: Doc, right: Doc) -> Row {
        Row { cells: vec![left, right], ..Row::of(nil()) }
    }

    /// `left` begins with the colon.
    pub fn named(name: Doc, left: Doc, right: Doc) -> Row {
        Row { cells: vec![name, left, right], named: true, ..Row::of(nil()) }
    }

    pub fn cells(cells: Vec<Doc>) -> Row {
        Row { cells, named: true, ..Row::of(nil()) }
    }
}

impl Printer<'_> {
    /// The rows among `parts`; separators go, unless the next row would go on with the one before.
    pub fn rows(&mut self, parts: &[Tree], mut row: impl FnMut(&mut Self, &Tree) -> Row) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            if matches!(part.as_rule(), Rule::comma | Rule::semi) {
                let keep = parts.get(at + 1).is_some_and(begins_with_minus);
                let comma = if keep { self.tree(part) } else { self.weave.drop_token(part) };
                if let Some(cell) = rows.last_mut().and_then(|row| row.cells.last_mut()) {
                    *cell = concat([std::mem::replace(cell, nil()), comma]);
                }
                continue;
            }
            let blank = self.weave.blank_before(part);
            let above = self.weave.comments_before(part.as_span().start());
            rows.push(Row { above, blank, ..row(self, part) });
        }
        rows
    }

    /// `head {`, the rows, `}`; on one line if not `broken` and it fits.
    pub fn in_braces(&mut self, head: Doc, rows: Vec<Row>, broken: bool, close: &Tree) -> Doc {
        let is_empty = rows.is_empty();
        let lines = in_columns(rows, Doc::Line("  "));
        let comments = self.weave.comments_inside(close);
        if is_empty && comments.is_none() {
            return concat([head, text(" "), self.tree(close)]);
        }
        let inside = concat([Doc::Line(" "), lines, comments.unwrap_or_else(nil)]);
        group_if(broken, concat([head, nest(inside), Doc::Line(" "), self.tree(close)]))
    }
}

/// A gap that even a row makes that is too long for its line.
const CHEAP_GAP: usize = 8;

/// How wide the columns are; 0: no column.
#[derive(Clone, Copy)]
struct Widths {
    name: usize,
    left: usize,
}

/// The rows with `line` between, in columns where the group around them is broken.
pub fn in_columns(rows: Vec<Row>, line: Doc) -> Doc {
    let widths = widths(&rows);
    let mut parts = Vec::new();
    for (at, row) in rows.into_iter().enumerate() {
        if at > 0 {
            parts.push(if row.blank { Doc::Hard { blank: true } } else { line.clone() });
        }
        let (takes_part, is_straight) = (row.takes_part(), row.is_straight());
        parts.push(row.above);
        let mut done = 0;
        let last = row.cells.len().saturating_sub(1);
        for (column, cell) in row.cells.into_iter().enumerate() {
            done += width(&cell);
            parts.push(cell);
            if column == last {
                break;
            }
            let is_name = row.named && column == 0;
            let wanted = match (is_name, takes_part) {
                (true, _) => widths.name,
                (false, true) => widths.left,
                // A long row goes with the others where that costs little.
                (false, false) if is_straight && widths.left <= done + CHEAP_GAP => widths.left,
                (false, false) => 0,
            };
            let pad = wanted.saturating_sub(done);
            done += pad + 1;
            let gap = " ".repeat(pad);
            // In one line a colon touches its name.
            parts.push(if is_name { Doc::Broken(gap + " ") } else { concat([Doc::Broken(gap), text(" ")]) });
        }
    }
    Doc::Concat(parts)
}

impl Row {
    /// Whether the row can stand in columns: it is one line, but for what is broken in its last cell.
    fn takes_part(&self) -> bool {
        let whole: usize = self.cells.iter().map(|cell| width(cell) + 1).sum();
        whole <= ROOM && self.is_straight()
    }

    /// Whether nothing is broken before the last cell.
    fn is_straight(&self) -> bool {
        let before = self.cells.split_last().map_or(&[][..], |(_, before)| before);
        before.iter().all(|cell| flat(cell).is_some())
    }
}

fn widths(rows: &[Row]) -> Widths {
    let names = rows.iter().filter(|row| row.named).filter_map(|row| row.cells.first()).map(width);
    let name = names.clone().max().unwrap_or(0);
    let name = if name - names.min().unwrap_or(name) > WIDEST_GAP { 0 } else { name };
    // The cells up to the last one, and the last one.
    let measured = rows.iter().filter(|row| row.takes_part()).filter_map(|row| {
        let (last, before) = row.cells.split_last()?;
        let left = match (row.named, before) {
            (true, [first, left]) => name.max(width(first)) + 1 + width(left),
            (false, [left]) => width(left),
            _ => return None,
        };
        Some((left, width(last)))
    });
    let most = measured.clone().map(|(left, _)| left).max().unwrap_or(0);
    let least =
        measured.clone().map(|(left, _)| left).filter(|left| *left > "else".len()).min().unwrap_or(most);
    let overflows = measured.clone().any(|(_, last)| most + 1 + last > ROOM);
    Widths { name, left: if overflows || most - least > WIDEST_GAP { 0 } else { most } }
}
