//! `lint`: what is allowed in rules and still most likely a slip.
//!
//! Promise: files with errors are told and not linted; `--fix` writes whole files or none.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use super::args::{LintArgs, ReportFormat, RuleArgs};
use super::desk::{Desk, Done, Form, Stop};
use super::fmt::{complain, complaint};
use super::output::Pending;
use super::rules::{Loaded, files as rule_files, read, sources};
use super::session::{Connect, RuleSources};
use super::{FINE, FOUND, UNUSABLE, workspace};
use crate::lang::lint::{Finding, LINTS, Settings, apply, lint as findings, short};
use crate::lang::syntax::parse_file;
use crate::lang::{Level, Place, lint as lints};
use crate::report::human::rule_diagnostic;
use crate::report::{Complaint, Remark, Source, json};

/// A rule file, its settings, and whether it is linted or only there for what it declares.
struct File {
    shown: String,
    text: String,
    settings: Settings,
    wanted: bool,
    /// A file that can be written: not one of the shipped rules.
    on_disk: bool,
    /// Added to the rule set, and no part of it.
    overlay: bool,
    /// A file of the rule set that one of its name stands for.
    replaced: bool,
}

pub fn lint(args: &LintArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    desk.set_format(args.format, false);
    if args.list {
        if matches!(desk.form(), Form::Sarif | Form::Github) {
            let message = "the list of lints has no such form";
            return Err(Complaint::error("cli::form", message).help("it is for `human` and `json`").into());
        }
        let text = list(args.format == ReportFormat::Json);
        desk.print(&text)?;
        return Ok(FINE);
    }
    let meant = workspace::rules(&args.rules, desk)?;
    let mut files = files(args, &meant)?;
    let errors = syntax_errors(&files);
    if !errors.is_empty() {
        complain(&errors, desk)?;
        return Ok(UNUSABLE);
    }
    let errors = errors_of_rules(&files, connect);
    if !errors.is_empty() {
        return Err(Stop::Wrong(errors));
    }
    let mut found = run(&files);
    if args.fix && fix(&mut files, &found, desk)? {
        found = run(&files);
    }
    let shown: Vec<Arc<Source>> =
        files.iter().map(|file| Arc::new(Source::new(file.shown.clone(), file.text.clone()))).collect();
    for one in &found {
        tell(one, &shown, desk)?;
    }
    let (errors, warnings): (Vec<_>, Vec<_>) =
        found.iter().partition(|one| one.diagnostic.level == Level::Error);
    if desk.is_human() && !found.is_empty() {
        let fixable = found.iter().filter(|one| one.fix.is_some()).count();
        let by_fix = if fixable > 0 { format!("; `--fix` mends {fixable}") } else { String::new() };
        desk.print(&format!("{} denied, {} warned{by_fix}\n", errors.len(), warnings.len()))?;
    }
    Ok(if errors.is_empty() { FINE } else { FOUND })
}

/// The lints, with their levels and meanings.
fn list(as_json: bool) -> String {
    let mut text = String::new();
    let widest = LINTS.iter().map(|lint| short(lint).len()).max().unwrap_or(0);
    for lint in LINTS {
        // Writing into memory does not fail.
        let _ = match as_json {
            false => {
                writeln!(text, "{:widest$}  {:5}  {}", short(lint), lint.level.word(), lint.doc)
            }
            true => {
                let line = serde_json::json!({"type": "lint", "name": short(lint), "level": lint.level.word(), "doc": lint.doc});
                writeln!(text, "{line}")
            }
        };
    }
    text
}

/// The files to be linted, and those of the rule set around them.
fn files(args: &LintArgs, meant: &RuleArgs) -> Result<Vec<File>, Stop> {
    let rules = sources(meant)?;
    let shipped = meant.rules.is_none();
    let settings = |path: &Path| settings(path, meant.no_settings);
    let mut files = Vec::new();
    for path in &args.paths {
        for path in rule_files(path)? {
            for (shown, text, _) in read(&path, true)? {
                let settings = settings(&path)?;
                let (wanted, on_disk, overlay) = (true, true, true);
                files.push(File { shown, text, settings, wanted, on_disk, overlay, replaced: false });
            }
        }
    }
    let wanted = files.is_empty();
    let mut replaced = Vec::new();
    for (shown, text, overlay) in rules.files {
        let on_disk = overlay || !shipped;
        // A file that is linted stands for the one of its name in the rule set.
        let name = |shown: &str| Path::new(shown).file_name().map(ToOwned::to_owned);
        let mut named =
            files.iter_mut().filter(|file| file.wanted && !wanted && name(&file.shown) == name(&shown));
        let stands_for = named.next().map(|file| file.overlay = overlay).is_some();
        let settings = if on_disk { settings(Path::new(&shown))? } else { Settings::default() };
        let file = File { shown, text, settings, wanted, on_disk, overlay, replaced: stands_for };
        if stands_for { replaced.push(file) } else { files.push(file) }
    }
    files.extend(replaced);
    Ok(files)
}

/// The settings for a rule file: of the nearest directory above it that has some.
fn settings(rule_file: &Path, aside: bool) -> Result<Settings, Complaint> {
    if aside {
        return Ok(Settings::default());
    }
    Ok(workspace::above(rule_file)?.map_or_else(Settings::default, |(_, workspace)| workspace.lints))
}

fn syntax_errors(files: &[File]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in files {
        let errors = crate::lang::fmt::errors(&parse_file(&file.text));
        if !errors.is_empty() {
            let source = Arc::new(Source::new(file.shown.clone(), file.text.clone()));
            complaints.extend(errors.iter().map(|error| complaint(error, &source)));
        }
    }
    complaints
}

/// What is wrong with the files that are linted. They may be overlays that know of each other or do not, a rule set of their own,
/// or one each: of a file it is told what is wrong with it in the reading that suits it best.
fn errors_of_rules(files: &[File], connect: &Connect) -> Vec<Complaint> {
    let errors = |is_taken: &dyn Fn(&File) -> bool, is_overlay: &dyn Fn(&File) -> bool| {
        let taken = files.iter().filter(|file| is_taken(file));
        let taken = taken.map(|file| (file.shown.clone(), file.text.clone(), is_overlay(file)));
        Loaded::errors(RuleSources { files: taken.collect() }, connect)
    };
    let together = errors(&|file| !file.replaced, &|file| file.overlay);
    let of_file = |errors: Vec<(String, Complaint)>, file: &File| -> Vec<Complaint> {
        errors.into_iter().filter(|(path, _)| *path == file.shown).map(|(_, told)| told).collect()
    };
    let mut told = Vec::new();
    for file in files.iter().filter(|file| file.wanted) {
        let first = of_file(together.clone(), file);
        if first.is_empty() {
            continue;
        }
        let this = |other: &File| std::ptr::eq(other, file);
        let readings = [
            first,
            of_file(
                errors(&|other| !other.wanted || this(other), &|other| other.overlay || this(other)),
                file,
            ),
            of_file(errors(&|other| other.wanted, &|_| false), file),
            of_file(errors(&this, &|_| false), file),
        ];
        told.extend(readings.into_iter().min_by_key(Vec::len).unwrap_or_default());
    }
    told
}

fn run(files: &[File]) -> Vec<Finding> {
    // Those that are replaced are the last, so the numbers of the others are theirs here, too.
    let sources: Vec<lints::Source> = files
        .iter()
        .filter(|file| !file.replaced)
        .map(|file| lints::Source { text: &file.text, settings: &file.settings, wanted: file.wanted })
        .collect();
    findings(&sources)
}

/// Writes the files with their fixes; whether anything was mended.
fn fix(files: &mut [File], found: &[Finding], desk: &mut Desk<'_, '_>) -> Result<bool, Stop> {
    let mut any = false;
    for (number, file) in files.iter_mut().enumerate().filter(|(_, file)| file.on_disk) {
        let fixes = found.iter().filter(|one| one.file == number).filter_map(|one| one.fix.as_ref());
        let (text, made) = apply(&file.text, fixes);
        // What a fix leaves must be rules.
        if made == 0 || !crate::lang::fmt::errors(&parse_file(&text)).is_empty() {
            continue;
        }
        Pending::write(Path::new(&file.shown), text.as_bytes())?.commit()?;
        if desk.is_human() {
            desk.print(&format!("mended {made} in {}\n", file.shown))?;
        }
        file.text = text;
        any = true;
    }
    Ok(any)
}

fn tell(found: &Finding, sources: &[Arc<Source>], desk: &mut Desk<'_, '_>) -> Result<(), Stop> {
    let places: Vec<_> = found
        .diagnostic
        .labels
        .iter()
        .zip(&found.files)
        .map(|(label, file)| {
            let (Place::File(span) | Place::Item(span)) = label.place;
            (sources.get(*file).cloned(), span.start as usize..span.end as usize)
        })
        .collect();
    let complaint = rule_diagnostic(&found.diagnostic, &places);
    match desk.form() {
        Form::Json => desk.print(&json::lint(&complaint, found.fix.as_ref())),
        Form::Sarif | Form::Github => {
            let remark = Remark::of_complaint(&complaint, None);
            desk.remark(match (&found.fix, sources.get(found.file)) {
                (Some(fix), Some(source)) => remark.fixed_by(fix, source),
                _ => remark,
            })
        }
        Form::Human | Form::Junit => desk.complain(&complaint),
    }
}
