//! Rule files of a revision, read with the `git` program.
//!
//! Promise: nothing is checked out and nothing is changed; without `git`, or without the revision, one complaint says so.

use std::process::{Command, Output};

use crate::report::Complaint;
use crate::workspace::EXTENSION;

/// The rule files at `REVISION:PATH`, a file or a folder.
pub fn read(spec: &str) -> Result<Vec<(String, String, bool)>, Complaint> {
    let kind = text(spec, &["cat-file", "-t", spec])?;
    if kind.trim() == "blob" {
        return Ok(vec![(spec.to_owned(), text(spec, &["show", spec])?, false)]);
    }
    let listed = text(spec, &["ls-tree", "-r", "-z", "--name-only", spec])?;
    let ending = format!(".{EXTENSION}");
    let mut names: Vec<&str> = listed.split('\0').filter(|name| name.ends_with(&ending)).collect();
    names.sort_unstable();
    if names.is_empty() {
        return Err(Complaint::error("rules::none", format!("`{spec}` has no rule files"))
            .help(format!("rule files have names that end in `{ending}`")));
    }
    let folder = spec.trim_end_matches('/');
    let path = |name: &str| {
        if folder.ends_with(':') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
    };
    names
        .into_iter()
        .map(|name| {
            let path = path(name);
            let text = text(spec, &["show", &path])?;
            Ok((path, text, false))
        })
        .collect()
}

fn text(spec: &str, args: &[&str]) -> Result<String, Complaint> {
    let wrong = |message: String| Complaint::error("rules::git", message);
    let output: Output = Command::new("git").args(args).output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            wrong(format!("`{spec}` names a revision, and there is no `git` here"))
                .help("give a directory or a file, or install git")
        }
        _ => wrong(format!("`git` cannot be run: {error}")),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("it said nothing").trim_start_matches("fatal: ").to_owned();
        return Err(wrong(format!("`{spec}` cannot be read: {said}"))
            .help("rules are a directory, a file, or `REVISION:PATH`, where the path starts at the top of the repository"));
    }
    String::from_utf8(output.stdout).map_err(|_| wrong(format!("`{spec}` is not UTF-8 text")))
}
