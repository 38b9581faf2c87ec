//! The audit as a page, and as Markdown: templates filled with what JSON holds.

use minijinja::Environment;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{letter, sums};
use crate::audit::{Audit, EntryRow, Ref};

/// HTML of the page; what is filled in is escaped.
const PAGE: &str = include_str!("page.html");
/// The same for a pull request.
const MARKDOWN: &str = include_str!("page.md");

/// A cell of the grid.
#[derive(Serialize)]
struct Cell<'a> {
    class: &'static str,
    letter: &'static str,
    first: &'static str,
    second: &'static str,
    by: Option<Ref>,
    id: Option<String>,
    lost: &'a [Ref],
    reason: Option<&'a str>,
}

/// A row of the grid: a mark with all others.
#[derive(Serialize)]
struct GridRow<'a> {
    mark: &'static str,
    number: usize,
    side: &'static str,
    otherwise: bool,
    cells: Vec<Cell<'a>>,
}

/// An entry, and where it is on the page.
#[derive(Serialize)]
struct PageEntry<'a> {
    id: String,
    #[serde(flatten)]
    row: &'a EntryRow,
    reached: Option<usize>,
    missed: Vec<&'a str>,
}

/// What the templates see.
#[derive(Serialize)]
struct Page<'a> {
    audit: &'a Audit,
    grid: Vec<GridRow<'a>>,
    entries: Vec<PageEntry<'a>>,
    sums: String,
    /// Entries and branches: reached, and all.
    shares: Option<((usize, usize), (usize, usize))>,
}

/// One self-contained HTML file.
pub fn page(audit: &Audit) -> String {
    fill("page.html", PAGE, audit)
}

/// Markdown, as pull requests show it.
pub fn markdown(audit: &Audit) -> String {
    fill("page.md", MARKDOWN, audit)
}

fn fill(name: &'static str, template: &'static str, audit: &Audit) -> String {
    let mut environment = Environment::new();
    environment.add_filter("id", |kind: String, name: String| anchor(&kind, &name));
    environment.add_filter("coded", |text: String| Value::from_safe_string(coded(&text)));
    // A bar inside a cell of a Markdown table.
    environment.add_filter("cell", |text: String| text.replace('|', "\\|").replace('\n', " "));
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    let filled = syntax.and_then(|syntax| {
        environment.set_syntax(syntax);
        environment.add_template(name, template)?;
        let template = environment.get_template(name)?;
        let entries = entries(audit);
        let shares = audit.coverage.as_ref().map(|coverage| (coverage.share(false), coverage.share(true)));
        let (grid, sums) = (grid(audit), sums(audit));
        template.render(Value::from(Serde(Page { audit, grid, entries, sums, shares })))
    });
    // The templates are part of the program, and a test fills both.
    filled.unwrap_or_else(|error| format!("the report could not be made: {error}\n"))
}

/// HTML of a sentence; what stands in backticks is code.
fn coded(sentence: &str) -> String {
    let escaped =
        sentence.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    let pieces = escaped.split('`').enumerate();
    pieces
        .map(
            |(at, piece)| {
                if !at.is_multiple_of(2) { format!("<code>{piece}</code>") } else { piece.to_owned() }
            },
        )
        .collect()
}

/// Where an entry is on the page.
fn anchor(kind: &str, name: &str) -> String {
    let word = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
    };
    format!("{}--{}", word(kind), word(name))
}

/// All entries, each with a place of its own: links lead to the first of a name, behind which stand those that extend it.
fn entries(audit: &Audit) -> Vec<PageEntry<'_>> {
    let mut met: FxHashMap<Ref, usize> = FxHashMap::default();
    let numbered = |row| {
        let mut entry = entry(audit, row);
        let number = met.entry(row.entry).or_default();
        *number += 1;
        if *number > 1 {
            entry.id += &format!("--{number}");
        }
        entry
    };
    audit.entries.iter().map(numbered).collect()
}

fn entry<'a>(audit: &'a Audit, row: &'a EntryRow) -> PageEntry<'a> {
    let rows = || audit.coverage.iter().flat_map(|c| &c.rows).filter(|r| r.entry == row.entry);
    PageEntry {
        id: anchor(row.entry.kind, row.entry.name),
        row,
        reached: rows().find(|r| r.branch.is_none()).map(|r| r.reached),
        missed: rows().filter(|r| r.reached == 0).filter_map(|r| r.branch.as_deref()).collect(),
    }
}

fn grid(audit: &Audit) -> Vec<GridRow<'_>> {
    let cell = |first: &'static str, second: &'static str| {
        let row = audit
            .pairs
            .iter()
            .find(|row| [(row.first, row.second), (row.second, row.first)].contains(&(first, second)))?;
        Some(Cell {
            class: row.class,
            letter: letter(row.class),
            first,
            second,
            by: row.by,
            id: row.by.map(|by| anchor(by.kind, by.name)),
            lost: &row.lost,
            reason: row.by.and_then(|by| audit.entry(by)).and_then(|entry| entry.reason.as_deref()),
        })
    };
    let row = |(at, mark): (usize, &crate::audit::MarkRow)| GridRow {
        mark: mark.name,
        number: at + 1,
        side: mark.side,
        otherwise: mark.otherwise,
        cells: audit.marks.iter().filter_map(|other| cell(mark.name, other.name)).collect(),
    };
    audit.marks.iter().enumerate().map(row).collect()
}
