//! `test`: runs the `test` entries of rules, and cases; with `--mutate` on changed rules ([`mutate`](super::mutate)).

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::args::TestArgs;
use super::cases::{self, Found};
use super::desk::{Desk, Done, Form, Stop};
use super::rules::{Loaded, read, sources};
use super::session::{self, Connect};
use super::{FINE, FOUND, workspace};
use crate::engine::CoverageRow;
use crate::lang::syntax::ast::Kind;
use crate::lang::syntax::parse_file;
use crate::report::human::Paint;
use crate::report::junit::{self, Tested};
use crate::report::rules::kind_word;
use crate::report::summary::count;
use crate::report::{Complaint, Remark, Subject, json};

/// Runs tests: all of the rule set, or those of the files and folders that are named. A rule file that is no part
/// of the rule set is added to it as an overlay.
pub fn test(args: &TestArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    desk.set_format(args.format, false);
    let is_special = args.coverage || args.mutation.mutate.is_some();
    if is_special && matches!(desk.form(), Form::Junit | Form::Github) {
        let message = "what tests reached or noticed has no such form";
        return Err(Complaint::error("cli::form", message)
            .help("`--coverage` and `--mutate` are for `human` and `json`")
            .into());
    }
    let mut sources = sources(&workspace::rules(&args.rules, desk)?)?;
    let own: Vec<String> = sources.files.iter().map(|(path, ..)| path.clone()).collect();
    let mut subject: Vec<String> = Vec::new();
    let mut wanted: Vec<PathBuf> = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for given in &args.paths {
        for found in cases::find(given)? {
            match found {
                Found::Case(path) => folders.push(path),
                Found::Rules(path) => {
                    for file in read(&path, true)? {
                        // What a folder of tests declares is there for them; a file that is named is meant.
                        if path == *given && has(&file.1, &|kind| kind != Kind::Test) {
                            subject.push(file.0.clone());
                        }
                        // The rule set may have the file, under another name.
                        let known = sources
                            .files
                            .iter()
                            .find(|(known, ..)| workspace::is_same(Path::new(known), &path));
                        wanted.push(known.map_or(path.clone(), |(known, ..)| PathBuf::from(known)));
                        if known.is_none() {
                            sources.files.push(file);
                        }
                    }
                }
            }
        }
    }
    let mut rules = Loaded::new(sources, desk, connect)?;
    if args.mutation.mutate.is_some() {
        // Cases alone: the tests of the rules are not asked for.
        let files =
            (!args.paths.is_empty()).then(|| wanted.iter().map(|path| path.display().to_string()).collect());
        let cases: Result<Vec<_>, Complaint> =
            folders.iter().map(|path| Ok((path.display().to_string(), cases::read(path)?))).collect();
        let tests = session::tests(&rules.sources, files, cases?);
        let of = match (args.mutation.only.is_empty(), subject.is_empty()) {
            (true, false) => subject,
            (true, true) => own,
            (false, _) => own.into_iter().chain(subject).collect(),
        };
        return super::mutate::run(&args.mutation, &tests, &of, desk);
    }
    if args.coverage {
        rules.engine.start_coverage();
    }
    let mut tested: Vec<Tested> = Vec::new();
    let results = rules
        .engine
        .tests(&|path| args.paths.is_empty() || wanted.iter().any(|wanted| wanted == Path::new(path)));
    for result in results {
        let test = Tested {
            failures: result.failures.iter().map(|failure| of_test(rules.complaint(failure))).collect(),
            name: result.name,
            path: result.path,
            line: Some(result.line),
        };
        tell(desk, &test)?;
        tested.push(test);
    }
    for path in &folders {
        let failures: Vec<Complaint> = match cases::read(path) {
            Ok(case) => match rules.engine.case(&case) {
                Ok(()) => Vec::new(),
                Err(differences) => {
                    let complaint = Complaint::error("test::case", "the result is not the expected one");
                    vec![differences.into_iter().fold(complaint, Complaint::note)]
                }
            },
            Err(complaint) => vec![complaint],
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let test = Tested { name, path: path.display().to_string(), line: None, failures };
        tell(desk, &test)?;
        tested.push(test);
    }
    let failed = tested.iter().filter(|test| !test.failures.is_empty()).count();
    let passed = tested.len() - failed;
    let paint = if failed > 0 { Paint::Error } else { Paint::Good };
    let closing = match desk.form() {
        Form::Json if args.coverage => {
            json::coverage(&reached(&rules, &subject)) + &json::tests(passed, failed)
        }
        Form::Json => json::tests(passed, failed),
        Form::Junit => junit::document(&tested),
        Form::Sarif | Form::Github => String::new(),
        Form::Human => {
            let reached =
                if args.coverage { coverage(&reached(&rules, &subject), desk) } else { String::new() };
            let sum = desk.out.paint(paint, &format!("{passed} passed, {failed} failed"));
            format!("{reached}{sum}\n")
        }
    };
    desk.print(&closing)?;
    Ok(if failed > 0 { FOUND } else { FINE })
}

/// One line about a test, and what is wrong if it failed; nothing for a document at the end.
fn tell(desk: &mut Desk<'_, '_>, test: &Tested) -> Result<(), Stop> {
    match desk.form() {
        Form::Junit => return Ok(()),
        Form::Json => return desk.print(&json::test(test)),
        Form::Sarif | Form::Github => {
            let remarks = test.failures.iter().map(|failure| {
                let mut remark = Remark::of_complaint(failure, Some(&test.path));
                remark.title = format!("test {} failed", test.name);
                remark
            });
            return remarks.into_iter().try_for_each(|remark| desk.remark(remark));
        }
        Form::Human => {}
    }
    let line = test.line.map_or(String::new(), |line| format!(":{line}"));
    let place = desk.out.paint(Paint::Faint, &format!("({}{line})", test.path));
    let word = match test.failures.as_slice() {
        [] => desk.out.paint(Paint::Good, "  ok"),
        _ => desk.out.paint(Paint::Error, "FAIL"),
    };
    desk.print(&format!("{word}  {}  {place}\n", test.name))?;
    for failure in &test.failures {
        let mut text = String::new();
        if desk.out.complaint(&mut text, failure).is_err() {
            text = format!("{}: {}\n", failure.code, failure.message);
        }
        desk.print(&text)?;
    }
    Ok(())
}

fn of_test(complaint: Complaint) -> Complaint {
    Complaint { subject: Subject::Test, ..complaint }
}

/// Whether a rule file has an entry of a kind that is wanted.
pub(super) fn has(text: &str, is_wanted: &dyn Fn(Kind) -> bool) -> bool {
    let items = parse_file(text).items;
    items.iter().filter_map(|item| item.item.as_ref()).any(|item| is_wanted(item.kind))
}

/// What tests reached of these files, or of all if there are none.
fn reached(rules: &Loaded, files: &[String]) -> Vec<CoverageRow> {
    let mut rows = rules.engine.coverage();
    rows.retain(|row| files.is_empty() || files.iter().any(|file| *file == *row.path));
    rows
}

/// What no test reached, then how much was.
fn coverage(rows: &[CoverageRow], desk: &Desk<'_, '_>) -> String {
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
        count(all_entries, "entry"),
    );
    text
}
