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
use crate::engine::explain::{Fate, Row, Table, Total};

/// The result's word.
pub fn fate_word(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => "kept",
        Fate::Done => "done",
        Fate::Inserted => "inserted",
        Fate::Deleted => "deleted",
        Fate::Unchanged => "unchanged",
    }
}

/// Draws the totals, then a line a node.
pub fn draw(table: &Table, names: Names<'_>, human: &Human) -> String {
    let mut out = String::new();
    // Writing to a `String` cannot fail.
    let known: u64 = table.rows.iter().filter_map(|row| row.bytes).fold(0, u64::saturating_add);
    let title = human.paint(Paint::Strong, &plain(table.op.as_str()));
    let _ = writeln!(out, "{title}  {}, {}", count(table.rows.len(), "node"), bytes(known));
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

fn total_line(total: &Total) -> [String; 4] {
    let size = match total.unknown {
        0 => bytes(total.bytes),
        unknown if unknown == total.nodes => "size unknown".to_owned(),
        _ => format!("at least {}", bytes(total.bytes)),
    };
    let by = total.by.as_ref().map(rule_title).unwrap_or_default();
    [fate_word(total.fate).to_owned(), count(total.nodes, "node"), size, why(&by, &total.reason)]
}

fn row_line(row: &Row, names: Names<'_>) -> [String; 4] {
    let by = row.by.as_ref().map(rule_title).unwrap_or_default();
    let reason = match &row.text {
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
