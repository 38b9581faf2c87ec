//! What the README shows is what happens: every command of its `console` blocks is run, every link leads somewhere.
//!
//! A line that begins with `$ ` is a command for `sh`, at the root of the repository; the lines below it are what it writes to
//! both streams. `…` stands for any text in a line, and alone on a line for any number of lines. `cargo run --release --`
//! stands for the program. Commands that build or test the whole project are not run again.

use std::path::{Path, PathBuf};
use std::process::Command;

const README: &str = include_str!("../README.md");
const REFERENCE: &str = include_str!("../grammar/README.md");

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

struct Example {
    line: usize,
    command: String,
    output: Vec<String>,
    /// Follows another command in the same block.
    goes_on: bool,
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let (mut inside, mut goes_on) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("```") {
            inside = line == "```console";
            goes_on = false;
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            examples.push(Example { line: number, command: command.to_owned(), output: Vec::new(), goes_on });
            goes_on = true;
        } else if let Some(example) = examples.last_mut().filter(|_| inside) {
            example.output.push(line.to_owned());
        }
    }
    examples
}

/// Whether `line` is `pattern`, in which `…` stands for any text.
fn line_matches(pattern: &str, line: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('…') else { return pattern == line };
    let Some(mut left) = line.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = rest.split('…').collect();
    let last = pieces.pop().unwrap_or("");
    for piece in pieces {
        let Some(at) = left.find(piece) else { return false };
        left = &left[at + piece.len()..];
    }
    left.ends_with(last)
}

/// Whether the lines are those shown, in which a lone `…` stands for any lines.
fn lines_match(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=lines.len()).any(|skipped| lines_match(rest, &lines[skipped..]))
        }
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, others)| line_matches(first, line.trim_end()) && lines_match(rest, others)),
    }
}

/// Runs the command in `sh`; what it wrote, and its exit code.
fn run(command: &str, last_code: i32) -> (String, i32) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_anchorwatch"));
    let folder = program.parent().expect("a program lies in a folder").display().to_string();
    let command = command.replace("cargo run --release -- ", "anchorwatch ");
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("exec 2>&1; (exit {last_code}); {command}")])
        .current_dir(root())
        .env_clear()
        .env("PATH", format!("{folder}:/usr/bin:/bin"))
        .output()
        .expect("there is a shell");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}

#[test]
fn every_command_writes_what_is_shown() {
    // Commands of the README write there; it need not be where Cargo builds.
    std::fs::create_dir_all("target/tmp").expect("a folder");
    let (mut wrong, mut count, mut code) = (String::new(), 0, 0);
    for example in examples(README) {
        let whole = ["cargo test", "cargo nextest", "cargo build", "cargo bench", "cargo install"];
        if whole.iter().any(|start| example.command.starts_with(start)) {
            assert!(example.output.is_empty(), "line {}: this command is not run", example.line);
            continue;
        }
        let written;
        (written, code) = run(&example.command, if example.goes_on { code } else { 0 });
        let lines: Vec<&str> = written.trim_end().lines().collect();
        let shown: &[String] = match example.output.split_last() {
            Some((last, rest)) if last.is_empty() => rest,
            _ => &example.output,
        };
        if !lines_match(shown, &lines) {
            let shown = shown.join("\n");
            wrong.push_str(&format!(
                "line {}: {}\n--- shown\n{shown}\n--- written\n{written}\n",
                example.line, example.command
            ));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 10, "only {count} commands are shown");
}

#[test]
fn a_cut_line_is_compared_as_far_as_it_is_shown() {
    let matches = |shown: &str, lines: &str| {
        let shown: Vec<String> = shown.lines().map(str::to_owned).collect();
        lines_match(&shown, &lines.lines().collect::<Vec<_>>())
    };
    assert!(matches("a\n…\nd", "a\nb\nc\nd") && matches("a\n…\nd", "a\nd") && matches("a…c…e", "abcde"));
    assert!(!matches("a\n…\nd", "a\nb") && !matches("a", "a\nb") && !matches("a…c…d", "abcde"));
    assert!(!matches("ab…b", "ab"));
}

#[test]
fn links_lead_to_files() {
    let mut count = 0;
    for (text, folder) in [(README, root().to_owned()), (REFERENCE, root().join("grammar"))] {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let path = link.split('#').next().unwrap_or("");
            if link.starts_with("http") || path.is_empty() {
                continue;
            }
            assert!(folder.join(path).exists(), "`{link}` leads nowhere");
            count += 1;
        }
    }
    assert!(count >= 5, "only {count} links were found");
}
