//! `audit`: what a rule set says, for those who review it.

use std::path::{Path, PathBuf};

use super::args::{AuditArgs, AuditFormat, OutputFormat};
use super::cases::{self, Found};
use super::desk::{Desk, Done, Stop};
use super::input::{self, GraphFile, is_dash};
use super::output::Pending;
use super::rules::{Loaded, read, sources};
use super::session::{Connect, Engine, Request, RuleSources};
use super::tests::has;
use super::{FINE, FOUND, workspace};
use crate::audit::{Coverage, ReachedRow, Ref, Weight};
use crate::graph::{GraphId, Sym};
use crate::lang::Level;
use crate::lang::syntax::ast::Kind;
use crate::lang::syntax::print::keyword;
use crate::report::{Complaint, audit as report};
use crate::workspace::is_named_as_rules;

/// Audits the rules. If paths are named, what they and the rules' own tests reach is counted.
pub fn audit(args: &AuditArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    let to_file = args.output.as_ref().is_some_and(|path| !is_dash(path));
    let format = if args.format == AuditFormat::Json { OutputFormat::Json } else { OutputFormat::Human };
    desk.set_format(format, false);
    let sources = sources(&workspace::rules(&args.rules, desk)?)?;
    let rules = Loaded::new(sources.clone(), desk, connect)?;
    let coverage = match args.paths.is_empty() {
        true => None,
        false => Some(coverage(args, sources, desk, connect)?),
    };
    let audit = rules.engine.audit(coverage);
    let text = match args.format {
        AuditFormat::Human => report::human(&audit, &desk.out),
        AuditFormat::Json => report::json(&audit),
        AuditFormat::Md => report::markdown(&audit),
        AuditFormat::Html => report::page(&audit),
    };
    match &args.output {
        Some(path) if to_file => Pending::write(path, text.as_bytes())?.commit()?,
        // A page is the same bytes in a file and in a pipe.
        _ if args.format == AuditFormat::Html && !desk.report_terminal() => {
            desk.print_bytes(text.as_bytes())?
        }
        _ => desk.print(&text)?,
    }
    let warned = audit.findings.iter().any(|finding| finding.weight == Weight::Warning);
    Ok(if args.strict && warned { FOUND } else { FINE })
}

/// What tests, cases and graphs reach of the rules.
fn coverage(
    args: &AuditArgs,
    sources: RuleSources,
    desk: &mut Desk<'_, '_>,
    connect: &Connect,
) -> Result<Coverage, Stop> {
    let own: Vec<String> = sources.files.iter().map(|(path, ..)| path.clone()).collect();
    let mut with_tests = sources;
    let (mut cases, mut graphs): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for given in &args.paths {
        // Whether anything of the argument can be run.
        let mut runs = false;
        for found in found(given)? {
            match found {
                Found::Case(path) => cases.push(path),
                Found::Rules(path) if is_named_as_rules(&path) => {
                    if own.iter().any(|known| workspace::is_same(Path::new(known), &path)) {
                        runs = true;
                        continue;
                    }
                    for file in read(&path, true)? {
                        let has_tests = has(&file.1, &|kind| kind == Kind::Test);
                        runs |= has_tests;
                        if has_tests && path == *given && has(&file.1, &|kind| kind != Kind::Test) {
                            desk.complain(&unaudited(&file.0))?;
                        }
                        with_tests.files.push(file);
                    }
                    continue;
                }
                Found::Rules(path) => graphs.push(path),
            }
            runs = true;
        }
        if !runs {
            return Err(nothing_to_run(given).into());
        }
    }
    let rules = Loaded::new(with_tests, desk, connect)?;
    let mut engine = rules.engine;
    engine.start_coverage();
    let mut coverage = Coverage { tests: engine.tests(&|_| true).len(), ..Coverage::default() };
    for path in &cases {
        // Whether it passes is a question of `test`.
        let _ = engine.case(&cases::read(path)?);
        coverage.cases += 1;
    }
    for file in GraphFile::all(&graphs, desk)? {
        let loaded = file.load(&*engine)?;
        for warning in &loaded.warnings {
            desk.complain(&input::warning(warning, &file.shown))?;
        }
        for steps in runs(&*engine) {
            let request = Request { graph: GraphId::ROOT, node: None, steps, sort_first: false };
            engine.run(&loaded.snapshot, &request).map_err(|error| {
                Complaint::new(Level::Error, "run::refused", error.message).maybe_help(error.help)
            })?;
        }
        coverage.graphs += 1;
    }
    coverage.rows = engine
        .coverage()
        .into_iter()
        .filter(|row| own.contains(&row.path))
        .map(|row| ReachedRow {
            entry: Ref::new(row.kind, row.name),
            branch: row.branch,
            path: row.path,
            line: row.line,
            reached: row.reached,
        })
        .collect();
    Ok(coverage)
}

/// Rules that are only there for the tests beside them.
fn unaudited(shown: &str) -> Complaint {
    let message = format!("of `{shown}` the tests are run, but its rules are not audited");
    Complaint::new(Level::Note, "audit::not-audited", message)
        .help(format!("`--overlay {shown}` audits them"))
}

/// An argument that says nothing about what is reached.
fn nothing_to_run(path: &Path) -> Complaint {
    let shown = path.display();
    let message = format!("`{shown}` has no tests and no cases, so nothing of it can be run on the rules");
    let flag = if path.is_dir() { "--rules" } else { "--overlay" };
    Complaint::error("audit::nothing-to-run", message).help(format!("`{flag} {shown}` audits its rules"))
}

/// The files of an argument: those of a folder that are tests, or the file itself.
fn found(path: &Path) -> Result<Vec<Found>, Stop> {
    if is_dash(path) {
        return Ok(vec![Found::Rules(path.to_owned())]);
    }
    Ok(cases::find_to_run(path)?)
}

/// What is run of a graph: every pipeline, and the lints.
fn runs(engine: &dyn Engine) -> Vec<Vec<Sym>> {
    let entries = engine.entries();
    let of = |kind| entries.iter().filter(move |entry| entry.live && entry.kind == kind);
    let mut runs: Vec<Vec<Sym>> = of(Kind::Pipeline).map(|entry| vec![entry.name]).collect();
    if of(Kind::Lint).next().is_some() {
        runs.push(vec![Sym::new(keyword(Kind::Lint))]);
    }
    runs
}
