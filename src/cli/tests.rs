//! `test`: runs the `test` entries of rules.

use std::fmt::Write;
use std::path::Path;

use super::args::TestArgs;
use super::desk::{Desk, Done};
use super::rules::{Loaded, read, sources};
use super::session::Connect;
use super::{FINE, FOUND};
use crate::report::human::Paint;
use crate::report::rules::kind_word;

/// Runs tests: all of the rule set, or those of the files that are named (and added, if they are no part of it).
pub fn test(args: &TestArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    let mut sources = sources(&args.rules)?;
    let mut wanted: Vec<String> = Vec::new();
    for path in &args.paths {
        for file in read(path, true)? {
            wanted.push(file.0.clone());
            let same = |known: &str| Path::new(known) == Path::new(&file.0);
            if !sources.files.iter().any(|(known, ..)| same(known)) {
                sources.files.push(file);
            }
        }
    }
    let rules = Loaded::new(sources, desk, connect)?;
    let results = rules.engine.tests(&|path| {
        args.paths.is_empty() || wanted.iter().any(|wanted| Path::new(wanted) == Path::new(path))
    });
    let mut failed = 0;
    for result in &results {
        let place = desk.out.paint(Paint::Faint, &format!("({}:{})", result.path, result.line));
        let (paint, word) = match result.failure {
            None => (Paint::Good, "  ok"),
            Some(_) => (Paint::Error, "FAIL"),
        };
        let word = desk.out.paint(paint, word);
        desk.print(&format!("{word}  {}  {place}\n", result.name))?;
        if let Some(failure) = &result.failure {
            failed += 1;
            let mut text = String::new();
            if desk.out.complaint(&mut text, &rules.complaint(failure)).is_ok() {
                desk.print(&text)?;
            }
        }
    }
    if args.coverage {
        let text = coverage(&rules, desk);
        desk.print(&text)?;
    }
    let paint = if failed > 0 { Paint::Error } else { Paint::Good };
    let counts = format!("{} passed, {failed} failed", results.len() - failed);
    let closing = desk.out.paint(paint, &counts);
    desk.print(&format!("{closing}\n"))?;
    Ok(if failed > 0 { FOUND } else { FINE })
}

/// What no test reached, then how much was.
fn coverage(rules: &Loaded, desk: &Desk<'_, '_>) -> String {
    let rows = rules.engine.coverage();
    let mut text = format!("\n{}\n", desk.out.paint(Paint::Strong, "not reached by any test"));
    for row in rows.iter().filter(|row| row.reached == 0) {
        let branch = row.branch.as_ref().map(|branch| format!(", branch `{branch}`")).unwrap_or_default();
        let _ = writeln!(
            text,
            "  {} {}{branch} ({}:{})",
            kind_word(row.kind),
            row.name.as_str(),
            row.path,
            row.line
        );
    }
    let share = |of_branch: bool| {
        let all = rows.iter().filter(|row| row.branch.is_some() == of_branch);
        (all.clone().filter(|row| row.reached > 0).count(), all.count())
    };
    let ((entries, all_entries), (branches, all_branches)) = (share(false), share(true));
    let _ = writeln!(
        text,
        "reached {entries} of {}, {branches} of {all_branches} branches\n",
        match all_entries {
            1 => "1 entry".to_owned(),
            n => format!("{n} entries"),
        },
    );
    text
}
