//! The program as a user runs it: one test a file `tests/cli/NAME.args`.
//!
//! Beside `NAME.args` (words, one a line) stand what is expected: `NAME.stdout` and `NAME.stderr` (absent: nothing is
//! written there), `NAME.code` (absent: 0), and `NAME.stdin` if the program is given something. Programs run in
//! `tests/cli`, or in the folder of it that `NAME.folder` names, so files are named as they stand there.

#[path = "support/files.rs"]
mod files;

use files::files;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli")
}

fn beside(case: &Path, extension: &str) -> String {
    fs::read_to_string(case.with_extension(extension)).unwrap_or_default()
}

/// Runs one case; what differs, if anything.
fn run(case: &Path) -> Result<(), String> {
    let args = fs::read_to_string(case).map_err(|error| error.to_string())?;
    let mut child = Command::new(env!("CARGO_BIN_EXE_anchorwatch"))
        .args(args.lines())
        .current_dir(folder().join(beside(case, "folder").trim()))
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    // A program that does not read its input may end first.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(beside(case, "stdin").as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let wanted_code = beside(case, "code").trim().parse().unwrap_or(0);
    let mut differences = Vec::new();
    if output.status.code() != Some(wanted_code) {
        differences.push(format!("exit code {:?}, expected {wanted_code}", output.status.code()));
    }
    for (name, got) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let (got, wanted) = (String::from_utf8_lossy(got), beside(case, name));
        if got != wanted {
            differences.push(format!("{name} is\n{got}\nexpected\n{wanted}"));
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n")) }
}

#[test]
fn every_case() {
    let cases = files("tests/cli", "args");
    assert!(!cases.is_empty());
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| run(case).err().map(|error| format!("{}: {error}", case.display())))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
