//! Rule files in their one form.
//!
//! Promise: what comes out means what went in, with every comment, and comes out unchanged when it goes in again. A file
//! with syntax errors is refused. Nothing here knows what a name means.
//!
//! The way of an item: its parse tree has every token as a leaf; `weave` puts the comments between, `expr`, `statements`
//! and `items` say where lines may break, `rows` makes columns, `doc` chooses the breaks. Where the author began a new line
//! at a place where one may be, it stays: before `and` and `or`, after `=` of a function, behind `{`.
//!
//! INVARIANT same-meaning: an item whose new text would parse to another tree, or lack a comment, stays as it was written.

mod doc;
mod expr;
mod items;
mod rows;
mod statements;
mod weave;

use pest::Parser;

use self::doc::{OutLine, columns, render};
use self::expr::Printer;
use self::items::{PairColumns, pair_words};
use self::weave::Weave;
use super::diagnostic::{Diagnostic, Level, Place};
use super::syntax::ast::{Kind, Span};
use super::syntax::build::{Grammar, Rule, Tree};
use super::syntax::{ParsedFile, comments, parse_file, print_item, scan};

/// Lines are no longer than this, if they can be broken.
pub const WIDTH: usize = 140;
/// What a row of columns has at most, indentation aside.
const ROOM: usize = WIDTH - 8;
/// Columns are given up where one row would have a larger gap.
const WIDEST_GAP: usize = 40;

/// The text of a rule file in its one form; the errors, with places in the file, if it has syntax errors.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let file = parse_file(text);
    let errors = errors(&file);
    if !errors.is_empty() {
        return Err(errors);
    }
    let columns = pair_columns(text, &file);
    let mut lines: Vec<OutLine> = Vec::new();
    let mut end = 0;
    for (item, columns) in file.items.iter().zip(columns) {
        let source = &item.source;
        between(text, end, source.start as usize, &mut lines);
        lines.extend(item_lines(&source.text, columns));
        end = source.end as usize;
    }
    between(text, end, text.len(), &mut lines);
    Ok(joined(&lines))
}

/// The errors that parsing complained about, placed in the file.
pub fn errors(file: &ParsedFile) -> Vec<Diagnostic> {
    let in_items = file.items.iter().flat_map(|item| {
        let start = item.source.start;
        item.diagnostics.iter().map(move |found| {
            let mut found = found.clone();
            for label in &mut found.labels {
                if let Place::Item(span) = label.place {
                    label.place = Place::File(Span { start: span.start + start, end: span.end + start });
                }
            }
            found
        })
    });
    let all = file.diagnostics.iter().cloned().chain(in_items);
    all.filter(|found| found.level == Level::Error).collect()
}

/// The columns of each item: those of a run of pairs without anything between are shared.
fn pair_columns(text: &str, file: &ParsedFile) -> Vec<PairColumns> {
    let words: Vec<Option<(&str, &str)>> = file
        .items
        .iter()
        .map(|item| {
            let kind = item.item.as_ref()?.kind;
            if !matches!(kind, Kind::Never | Kind::Always) {
                return None;
            }
            let tree = Grammar::parse(Rule::item, &item.source.text).ok()?.next()?;
            pair_words(&tree)
        })
        .collect();
    let mut columns = vec![PairColumns::default(); words.len()];
    let mut start = 0;
    while start < words.len() {
        let mut end = start + 1;
        while end < words.len() && words[end - 1].is_some() && words[end].is_some() {
            let gap =
                text.get(file.items[end - 1].source.end as usize..file.items[end].source.start as usize);
            if gap.is_none_or(|gap| gap.trim() != "" || gap.matches('\n').count() != 1) {
                break;
            }
            end += 1;
        }
        let run = || words[start..end].iter().flatten();
        let shared = PairColumns {
            keyword: run().map(|(keyword, _)| keyword.len()).max().unwrap_or(0),
            left: run().map(|(_, left)| left.len()).max().unwrap_or(0),
        };
        let shortest = run().map(|(_, left)| left.len()).min().unwrap_or(0);
        let left = if shared.left - shortest > WIDEST_GAP { 0 } else { shared.left };
        columns[start..end].fill(PairColumns { left, ..shared });
        start = end;
    }
    columns
}

/// Comments between the words of a line may move once more when they have moved.
const MOST_ROUNDS: usize = 4;

/// One item in its form, or as it was written (same-meaning).
fn item_lines(text: &str, columns: PairColumns) -> Vec<OutLine> {
    let mut done: Option<Vec<OutLine>> = None;
    let mut now = text.to_owned();
    for _ in 0..MOST_ROUNDS {
        let Some(lines) = laid_out(&now, columns) else { break };
        let next = joined(&lines);
        let settled = next.trim_end() == now.trim_end();
        if !settled && means(&next) != means(text) {
            break;
        }
        done = Some(lines);
        now = next;
        if settled {
            break;
        }
    }
    done.unwrap_or_else(|| {
        text.lines().map(|line| OutLine { text: line.trim_end().to_owned(), behind: None }).collect()
    })
}

fn laid_out(text: &str, columns: PairColumns) -> Option<Vec<OutLine>> {
    let tree: Tree = Grammar::parse(Rule::item, text).ok()?.next()?;
    let mut printer = Printer { weave: Weave::new(text) };
    Some(render(&printer.item(&tree, columns), WIDTH))
}

/// What an item says where it stands in a file, places aside, and its comments.
fn means(text: &str) -> Option<(String, Vec<&str>)> {
    let file = parse_file(text);
    let [item] = file.items.as_slice() else { return None };
    let tree = print_item(item.item.as_ref().filter(|_| file.diagnostics.is_empty())?);
    // Graphs of tests are kept in trees as they are written.
    let lines: Vec<&str> = tree.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let tree = lines.join(" ").replace("{ ", "{").replace(" }", "}");
    let comments = comments(text).into_iter().map(|span| scan::slice(text, span).trim_end()).collect();
    Some((tree, comments))
}

/// The comments and empty lines between two items.
fn between(text: &str, from: usize, to: usize, lines: &mut Vec<OutLine>) {
    let gap = text.get(from..to).unwrap_or("");
    let mut end = 0;
    let blank = |gap: &str| gap.bytes().filter(|byte| *byte == b'\n').count() > 1;
    for comment in comments(gap) {
        let before = gap.get(end..comment.start as usize).unwrap_or("");
        end = comment.end as usize;
        let comment = scan::slice(gap, comment).trim_end().to_owned();
        match lines.last_mut() {
            Some(last) if !before.contains('\n') && last.behind.is_none() => last.behind = Some(comment),
            _ => {
                if blank(before) && !lines.is_empty() {
                    lines.push(OutLine::default());
                }
                lines.push(OutLine { text: comment, behind: None });
            }
        }
    }
    if blank(gap.get(end..).unwrap_or("")) && !lines.is_empty() && to < text.len() {
        lines.push(OutLine::default());
    }
}

/// The text of the lines; comments at the ends of neighbours stand in one column.
fn joined(lines: &[OutLine]) -> String {
    let mut out = String::new();
    // What closes a bracket is no neighbour of what follows.
    let shares =
        |line: &OutLine| line.behind.is_some() && !line.text.trim_start().starts_with(['}', ')', ']']);
    for run in lines.chunk_by(|a, b| shares(a) && shares(b)) {
        let widths = || run.iter().map(|line| columns(&line.text));
        let (least, most) = (widths().min().unwrap_or(0), widths().max().unwrap_or(0));
        for line in run {
            out.push_str(&line.text);
            if let Some(comment) = &line.behind {
                let wanted = if most - least > WIDEST_GAP { 0 } else { most };
                out.push_str(&" ".repeat(wanted.saturating_sub(columns(&line.text)) + 2));
                out.push_str(comment);
            }
            out.push('\n');
        }
    }
    out
}
