//! `fmt`: rule files in their one form.
//!
//! Promise: a file with syntax errors stays as it is, and so does one that has its form; no file is written half.

use std::path::Path;
use std::sync::Arc;

use similar::TextDiff;

use super::args::FmtArgs;
use super::desk::{Desk, Done, Stop};
use super::input::{is_dash, read_rules, unreadable};
use super::output::Pending;
use super::rules::{read, text_of};
use super::{FINE, FOUND, UNUSABLE};
use crate::lang::{Diagnostic, Place, fmt};
use crate::report::human::rule_diagnostic;
use crate::report::{Complaint, Source};

/// Lines around a change.
const CONTEXT: usize = 3;

pub fn fmt(args: &FmtArgs, desk: &mut Desk<'_, '_>) -> Done {
    let mut code = FINE;
    for path in &args.paths {
        let files = match files(path, desk) {
            Ok(files) => files,
            Err(Stop::Wrong(complaints)) => {
                complain(&complaints, desk)?;
                code = UNUSABLE;
                continue;
            }
            Err(pipe) => return Err(pipe),
        };
        for (shown, text) in files {
            code = code.max(one(&shown, &text, is_dash(path), args.check, desk)?);
        }
    }
    Ok(code)
}

pub(super) fn complain(complaints: &[Complaint], desk: &mut Desk<'_, '_>) -> Result<(), Stop> {
    complaints.iter().try_for_each(|complaint| desk.complain(complaint))
}

/// The files that a path stands for, with their texts.
fn files(path: &Path, desk: &mut Desk<'_, '_>) -> Result<Vec<(String, String)>, Stop> {
    if is_dash(path) {
        let bytes = read_rules(desk.io.stdin).map_err(|error| unreadable("standard input", &error))?;
        return Ok(vec![("standard input".to_owned(), text_of(bytes, "standard input")?)]);
    }
    Ok(read(path, false)?.into_iter().map(|(shown, text, _)| (shown, text)).collect())
}

/// Formats one file; gives the exit code.
fn one(shown: &str, text: &str, is_stdin: bool, check: bool, desk: &mut Desk<'_, '_>) -> Done {
    let formatted = match fmt::format(text) {
        Ok(formatted) => formatted,
        Err(errors) => {
            let source = Arc::new(Source::new(shown, text));
            let complaints: Vec<Complaint> = errors.iter().map(|error| complaint(error, &source)).collect();
            complain(&complaints, desk)?;
            return Ok(UNUSABLE);
        }
    };
    if check {
        if formatted == text {
            return Ok(FINE);
        }
        desk.print(&difference(shown, text, &formatted))?;
        return Ok(FOUND);
    }
    if is_stdin {
        desk.print_bytes(formatted.as_bytes())?;
    } else if formatted != text {
        Pending::write(Path::new(shown), formatted.as_bytes())?.commit()?;
        desk.print(&format!("formatted {shown}\n"))?;
    }
    Ok(FINE)
}

/// What would change, as a unified diff.
pub(super) fn difference(shown: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(CONTEXT).header(shown, shown).to_string()
}

/// A complaint whose places are in one file.
pub(super) fn complaint(diagnostic: &Diagnostic, source: &Arc<Source>) -> Complaint {
    let places: Vec<_> = diagnostic
        .labels
        .iter()
        .map(|label| {
            let (Place::File(span) | Place::Item(span)) = label.place;
            (Some(source.clone()), span.start as usize..span.end as usize)
        })
        .collect();
    rule_diagnostic(diagnostic, &places)
}
