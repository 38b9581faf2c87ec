//! The manual: a page a command, and each can be read.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_anchorwatch");

fn words(words: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(words).env_clear().output().expect("the program starts");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Names of commands below one, as its help lists them.
fn commands(of: &[&str]) -> Vec<String> {
    let help = words(&[of, &["--help"]].concat());
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_has_a_page_that_can_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    words(&["man", "-o", folder.path().to_str().expect("a path")]);
    let mut wanted = BTreeSet::from(["anchorwatch.1".to_owned()]);
    for command in commands(&[]) {
        wanted.insert(format!("anchorwatch-{command}.1"));
        wanted.extend(commands(&[&command]).iter().map(|below| format!("anchorwatch-{command}-{below}.1")));
    }
    let listing = fs::read_dir(folder.path()).expect("a listing");
    let found: BTreeSet<String> =
        listing.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    assert_eq!(found, wanted);
    assert!(found.len() > 10 && found.contains("anchorwatch-rules-list.1"), "{found:?}");
    for name in &found {
        let page = fs::read_to_string(folder.path().join(name)).expect("a page");
        for heading in [".TH ", ".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION"] {
            assert!(page.contains(heading), "{name} has no `{heading}`");
        }
        render(&folder.path().join(name));
    }
}

/// Renders a page with the system's `groff`, if there is one; it must have nothing to say about it.
fn render(page: &std::path::Path) {
    let groff = Command::new("groff")
        .args(["-man", "-Tutf8", "-Kutf8", "-ww", "-P-cbou"])
        .arg(page)
        .stdin(Stdio::null())
        .output();
    let Ok(output) = groff else { return };
    assert!(output.stderr.is_empty(), "{}: {}", page.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("NAME") && text.contains("SYNOPSIS"), "{}: {text}", page.display());
}

#[test]
fn without_a_directory_the_page_of_the_program_is_printed() {
    assert!(words(&["man"]).contains(".SH SUBCOMMANDS"));
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = words(&["completions", shell]);
        for word in ["check", "completions", "coverage", "man"] {
            assert!(script.contains(word), "{shell}: no `{word}`");
        }
    }
}
