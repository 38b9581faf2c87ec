//! The audit in a terminal.

use std::fmt::Write;

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};

use super::{letter, sums};
use crate::audit::{Audit, Finding, Ref, Weight};
use crate::report::human::Paint;
use crate::report::summary::count;
use crate::report::{Human, Style};

/// Columns where the terminal does not say.
const WIDTH: usize = 110;

/// The audit as text.
pub fn human(audit: &Audit, human: &Human) -> String {
    let mut text = String::new();
    let mut part = |title: &str, body: String| {
        if !body.is_empty() {
            let _ = writeln!(text, "{}\n{}\n", human.paint(Paint::Strong, title), body.trim_end());
        }
    };
    let style = human.style;
    part("pairs of marks", pairs(audit));
    part("attributes of graphs", attributes(audit, style));
    part("options", options(audit, style));
    part("matrices", matrices(audit));
    part("chains", chains(audit, style));
    part("ordered lists", ordered(audit, style));
    part("passes", passes(audit, style));
    part("pipelines", pipelines(audit));
    part("measures", measures(audit, style));
    part("coverage", coverage(audit));
    part("findings", findings(audit, human));
    let _ = writeln!(text, "{}", summary(audit));
    text
}

fn width(style: Style) -> u16 {
    u16::try_from(style.width.unwrap_or(WIDTH)).unwrap_or(u16::MAX)
}

fn table(style: Style, header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width(style))
        .set_header(header);
    table
}

/// The lines of a table whose first column, names, is never broken.
fn drawn(mut table: Table) -> String {
    if let Some(column) = table.column_mut(0) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn names(refs: &[Ref]) -> Vec<&'static str> {
    refs.iter().map(|entry| entry.name).collect()
}

/// An entry, and below it lists of names, none of them broken.
fn block(title: &str, lists: &[(&str, Vec<&str>)], style: Style, text: &mut String) {
    let _ = writeln!(text, "  {title}");
    let wide =
        lists.iter().filter(|(_, names)| !names.is_empty()).map(|(word, _)| word.len()).max().unwrap_or(0);
    for (word, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        let mut line = format!("    {word:wide$} ");
        for (at, name) in names.iter().enumerate() {
            let comma = if at + 1 < names.len() { "," } else { "" };
            if at > 0 && line.len() + 1 + name.len() + comma.len() > usize::from(width(style)) {
                let _ = writeln!(text, "{line}");
                line = format!("    {:wide$} ", "");
            }
            line += &format!(" {name}{comma}");
        }
        let _ = writeln!(text, "{line}");
    }
}

/// The grid, and who rules what.
fn pairs(audit: &Audit) -> String {
    if audit.marks.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    let wide = audit.marks.iter().map(|mark| mark.name.len()).max().unwrap_or(0);
    let _ = write!(text, "  {:wide$}    ", "");
    for number in 1..=audit.marks.len() {
        let _ = write!(text, "{number:>3}");
    }
    text.push('\n');
    for (at, mark) in audit.marks.iter().enumerate() {
        let _ = write!(text, "  {:wide$}  {:>2}", mark.name, at + 1);
        for other in &audit.marks {
            let row = audit.pairs.iter().find(|row| {
                [(row.first, row.second), (row.second, row.first)].contains(&(mark.name, other.name))
            });
            let _ = write!(text, "{:>3}", row.map_or(" ", |row| letter(row.class)));
        }
        text.push('\n');
    }
    text.push_str("  - never   ! always   c a checker looks   · unruled: no conflict\n\n");
    let mut ruling: Vec<(Ref, Vec<String>)> = Vec::new();
    for row in &audit.pairs {
        let Some(by) = row.by else { continue };
        let pair = format!("{} with {}", row.first, row.second);
        match ruling.iter_mut().find(|(entry, _)| *entry == by) {
            Some((_, pairs)) => pairs.push(pair),
            None => ruling.push((by, vec![pair])),
        }
    }
    for (entry, pairs) in &ruling {
        let reason =
            audit.entry(*entry).and_then(|row| row.reason.as_deref()).map(|reason| format!(": {reason}"));
        let _ = writeln!(text, "  {entry}  {}{}", count(pairs.len(), "pair"), reason.unwrap_or_default());
    }
    let lost: Vec<_> = audit.pairs.iter().filter(|row| !row.lost.is_empty()).collect();
    if !lost.is_empty() {
        text.push_str("\n  named by several, of which the first rules\n");
        for row in lost {
            let by = row.by.map(|by| by.to_string()).unwrap_or_default();
            let lost: Vec<String> = row.lost.iter().map(Ref::to_string).collect();
            let _ = writeln!(text, "  {} with {}: {by}, not {}", row.first, row.second, lost.join(", not "));
        }
    }
    text
}

fn attributes(audit: &Audit, style: Style) -> String {
    let mut text = String::new();
    for row in &audit.attributes {
        let unused = if row.readers.is_empty() && row.setters.is_empty() { ", unused" } else { "" };
        let title = format!("{}: {} on {}{unused}", row.name, row.ty, row.places.join(", "));
        let lists = [("read by", names(&row.readers)), ("set by", names(&row.setters))];
        block(&title, &lists, style, &mut text);
    }
    text
}

fn options(audit: &Audit, style: Style) -> String {
    let mut text = String::new();
    for row in &audit.options {
        let env = if row.from_env { ", or from the environment" } else { "" };
        let unused = if row.readers.is_empty() { ", unused" } else { "" };
        let title = format!("{}: {} = {}{env}{unused}", row.name, row.ty, row.default);
        let lists = [("read by", names(&row.readers)), ("in", names(&row.read_in))];
        block(&title, &lists, style, &mut text);
    }
    text
}

fn matrices(audit: &Audit) -> String {
    let mut text = String::new();
    for matrix in &audit.matrices {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header([matrix.name].into_iter().chain(matrix.columns.iter().copied()));
        for (row, cells) in matrix.rows.iter().zip(&matrix.cells) {
            table.add_row([*row].into_iter().chain(cells.iter().copied()));
        }
        text += &drawn(table);
        text.push('\n');
    }
    text
}

fn chains(audit: &Audit, style: Style) -> String {
    let mut text = String::new();
    for chain in &audit.chains {
        let subject = chain.subject.as_ref().map(|subject| format!(" for {subject}")).unwrap_or_default();
        let _ = writeln!(text, "  {}{subject}", chain.entry);
        let mut table = table(style, &["  step", "", "else"]);
        for step in &chain.steps {
            let word = if step.kind == "require" { String::new() } else { format!("{} ", step.kind) };
            let indent = "  ".repeat(step.depth + 1);
            let reason = step.reason.clone().unwrap_or_default();
            table.add_row([format!("{indent}{word}{}", step.name), step.condition.clone(), reason]);
        }
        text += &drawn(table);
        if !chain.then.is_empty() {
            let _ = writeln!(text, "  then {}", count(chain.then.len(), "statement"));
        }
        text.push('\n');
    }
    text
}

fn ordered(audit: &Audit, style: Style) -> String {
    let mut text = String::new();
    for list in &audit.lists {
        let _ = writeln!(text, "  {}", list.entry);
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width(style));
        for (at, case) in list.cases.iter().enumerate() {
            let number = format!("  {} {}", at + 1, case.name.unwrap_or_default());
            let condition = case.condition.clone().unwrap_or_else(|| "else".to_owned());
            table.add_row([number.trim_end().to_owned(), condition, case.value.clone()]);
        }
        text += &drawn(table);
        text.push('\n');
    }
    text
}

fn passes(audit: &Audit, style: Style) -> String {
    let mut text = String::new();
    for pass in &audit.passes {
        let repeats = if pass.repeats { ", again while nodes vanish" } else { "" };
        let subject = pass.subject.as_ref().map(|subject| format!(" for {subject}")).unwrap_or_default();
        let title = format!("{}{subject}{repeats}", pass.entry);
        block(&title, &[("does", names(&pass.uses)), ("in", pass.pipelines.clone())], style, &mut text);
    }
    text
}

fn pipelines(audit: &Audit) -> String {
    let mut text = String::new();
    for pipeline in &audit.pipelines {
        let note = if audit.default_pipeline == Some(pipeline.name) { " (the default)" } else { "" };
        let told = if pipeline.as_pass { " as pass" } else { "" };
        let _ = writeln!(text, "  {}{told}{note}", pipeline.name);
        for (at, step) in pipeline.steps.iter().enumerate() {
            let when = step.condition.as_ref().map(|c| format!(" when {c}")).unwrap_or_default();
            let tolerant = if step.tolerant { " otherwise warn" } else { "" };
            let _ = writeln!(text, "    {} {}{when}{tolerant}", at + 1, step.name);
        }
    }
    text
}

fn measures(audit: &Audit, style: Style) -> String {
    let mut table = table(style, &["measure", "told as", "of", "each counts"]);
    for row in &audit.measures {
        let told = format!("{}{}", row.title, row.unit.map(|unit| format!(", {unit}")).unwrap_or_default());
        table.add_row([row.name, &told, &row.subject, row.value.as_deref().unwrap_or("1")]);
    }
    if audit.measures.is_empty() { String::new() } else { drawn(table) }
}

fn coverage(audit: &Audit) -> String {
    let Some(coverage) = &audit.coverage else {
        return "  not counted: name tests, cases or graphs to see what they reach".to_owned();
    };
    let mut text = String::new();
    let (entries, all_entries) = coverage.share(false);
    let (branches, all_branches) = coverage.share(true);
    let _ = writeln!(
        text,
        "  {}, {} and {} reached {entries} of {}, {branches} of {all_branches} branches",
        count(coverage.tests, "test"),
        count(coverage.cases, "case"),
        count(coverage.graphs, "graph"),
        count(all_entries, "entry")
    );
    for row in coverage.rows.iter().filter(|row| row.reached == 0) {
        if let Some(branch) = &row.branch {
            let of_unreached = coverage
                .rows
                .iter()
                .any(|other| other.entry == row.entry && other.branch.is_none() && other.reached == 0);
            // An entry that nothing reached is among the findings; its branches are no news.
            if !of_unreached {
                let _ =
                    writeln!(text, "  not reached: {}, `{branch}` ({}:{})", row.entry, row.path, row.line);
            }
        }
    }
    text
}

fn findings(audit: &Audit, human: &Human) -> String {
    let mut text = String::new();
    for finding in &audit.findings {
        let (word, paint) = match finding.weight {
            Weight::Warning => ("warning", Paint::Warning),
            Weight::Note => ("note", Paint::Faint),
        };
        let head = human.paint(paint, &format!("{word}[{}]", finding.code));
        let _ = writeln!(text, "  {head} {}{}: {}", finding.entry, place(audit, finding), finding.message);
    }
    text
}

fn place(audit: &Audit, finding: &Finding) -> String {
    audit.entry(finding.entry).map(|row| format!(" ({}:{})", row.path, row.line)).unwrap_or_default()
}

fn summary(audit: &Audit) -> String {
    let of = |weight| audit.findings.iter().filter(|finding| finding.weight == weight).count();
    format!("{}; {}, {}", sums(audit), count(of(Weight::Warning), "warning"), count(of(Weight::Note), "note"))
}
