//! `diff`: what a change of the rules changes.

use std::path::Path;

use super::args::{DiffArgs, DiffFormat, OutputFormat};
use super::desk::{Desk, Done};
use super::rules::{Loaded, read};
use super::session::{Connect, RuleSources, compare};
use super::{FINE, FOUND, git};
use crate::report::{Complaint, diff as report};

/// Compares two rule sets.
pub fn diff(args: &DiffArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    let format = if args.format == DiffFormat::Json { OutputFormat::Json } else { OutputFormat::Human };
    desk.set_format(format, false);
    let (old, new) = (sources(&args.old)?, sources(&args.new)?);
    let old = Loaded::silent(old, desk, connect)?;
    let new = Loaded::silent(new, desk, connect)?;
    let difference = compare(&old.sources, &new.sources);
    let text = match args.format {
        DiffFormat::Human => report::human(&difference, &desk.out),
        DiffFormat::Json => report::json(&difference),
        DiffFormat::Md => report::markdown(&difference),
    };
    desk.print(&text)?;
    Ok(if difference.differs() { FOUND } else { FINE })
}

/// The rules that an argument names. What is there as a path is one.
fn sources(argument: &str) -> Result<RuleSources, Complaint> {
    let path = Path::new(argument);
    let files = match argument.contains(':') && !path.exists() {
        true => git::read(argument)?,
        false => read(path, false)?,
    };
    Ok(RuleSources { files })
}
