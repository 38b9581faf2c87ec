//! Tables of what became of all nodes of a type, for a terminal.
//!
//! Promise: the totals come first; nothing is cut, and columns stand below each other.

use std::fmt::Write;

use super::explain::bytes;
use super::human::{Human, Paint};
use super::place::Names;
use super::plain::plain;
use super::rules::rule_title;
use super::summary::count;
use crate::engine::explain::{Fate, Row, Stock, Table, Total};

/// The result's word.
pub fn fate_word(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => "kept",
        Fate::Done => "done",
        Fate::Inserted => "inserted",
        Fate::Deleted => "deleted",
        Fate::Withdrawn => "withdrawn",
        Fate::Unchanged => "unchanged",
    }
}

/// Draws the totals, then a line a node.
pub fn draw(table: &Table, names: Names<'_>, human: &Human) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let title = human.paint(Paint::Strong, &plain(table.op.as_str()));
    let _ = writeln!(out, "{title}  {}", stocks(table));
    let lines: Vec<[String; 4]> = table.totals.iter().map(total_line).collect();
    let columns = widths(&lines);
    for [fate, count, size, why] in &lines {
        let [a, b, c, _] = columns;
        let _ = writeln!(out, "{}", format!("  {fate:a$}  {count:>b$}  {size:>c$}  {why}").trim_end());
    }
    if table.rows.is_empty() {
        return out;
    }
    out.push('\n');
    let lines: Vec<[String; 4]> = table.rows.iter().map(|row| row_line(row, names)).collect();
    let columns = widths(&lines);
    for [name, fate, size, why] in &lines {
        let [a, b, c, _] = columns;
        let _ = writeln!(out, "{}", format!("  {name:a$}  {fate:b$}  {size:>c$}  {why}").trim_end());
    }
    out
}

fn widths(lines: &[[String; 4]]) -> [usize; 4] {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    [width(0), width(1), width(2), width(3)]
}

/// How many there were, and how many are left.
fn stocks(table: &Table) -> String {
    let (given, left) = (table.stock(Fate::was_given), table.stock(Fate::is_left));
    if table.rows.iter().all(|row| row.fate.was_given() == row.fate.is_left()) {
        return format!("{}, {}", count(given.nodes, "node"), size(&given));
    }
    let least = if left.unknown > 0 { "at least " } else { "" };
    let unknown = if given.unknown > 0 { "at least " } else { "" };
    format!(
        "{} -> {}, {unknown}{} -> {least}{}",
        given.nodes,
        count(left.nodes, "node"),
        given.bytes,
        bytes(left.bytes)
    )
}

fn size(stock: &Stock) -> String {
    match stock.unknown {
        0 => bytes(stock.bytes),
        unknown if unknown == stock.nodes => "size unknown".to_owned(),
        _ => format!("at least {}", bytes(stock.bytes)),
    }
}

fn total_line(total: &Total) -> [String; 4] {
    let size = size(&total.stock);
    let by = total.by.as_ref().map(rule_title).unwrap_or_default();
    [fate_word(total.fate).to_owned(), count(total.stock.nodes, "node"), size, why(&by, &total.reason)]
}

fn row_line(row: &Row, names: Names<'_>) -> [String; 4] {
    let by = row.by.as_ref().map(rule_title).unwrap_or_default();
    let reason = match &row.text {
        Some(text) if row.reason.is_empty() => text.clone(),
        Some(text) => format!("{}: {text}", row.reason),
        None => row.reason.clone(),
    };
    let size = row.bytes.map_or_else(|| "?".to_owned(), |size| size.to_string());
    [names.anchor(&row.place), fate_word(row.fate).to_owned(), size, why(&by, &reason)]
}

fn why(by: &str, reason: &str) -> String {
    match (by, reason) {
        (by, "") => by.to_owned(),
        (by, reason) => format!("{by}: {}", plain(reason)),
    }
}
