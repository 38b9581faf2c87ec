//! What is other on a terminal: progress bars, which draw on threads of their own, come and go.
//!
//! `script` of util-linux makes the terminal. Nothing is timed; a program that does not end within the deadline fails the test.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Far more than a busy machine needs.
const DEADLINE: Duration = Duration::from_secs(240);

/// Runs the program on a terminal; what it wrote.
fn run(args: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let typescript = folder.path().join("typescript");
    let command = format!("{} {args}", env!("CARGO_BIN_EXE_anchorwatch"));
    let mut script = Command::new("script")
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"))
        .args(["-q", "-e", "-c", &command])
        .arg(&typescript)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("`script` is there");
    let ended = waits(&mut script);
    if !ended {
        // The terminal goes away with it, and so does what runs there.
        let _ = script.kill();
        let _ = script.wait();
    }
    let written = std::fs::read(&typescript).unwrap_or_default();
    let written = String::from_utf8_lossy(&written).into_owned();
    assert!(ended, "`{args}` does not end:\n{written}");
    written
}

fn waits(child: &mut Child) -> bool {
    let start = Instant::now();
    while start.elapsed() < DEADLINE {
        if child.try_wait().expect("a child").is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

#[test]
fn mutants_are_counted_on_a_bar() {
    let written = run("test --mutate overlays/secure_memory.anchor");
    assert!(written.contains("/15 mutants"), "{written}");
    assert!(written.contains("mutation score"), "{written}");
}

#[test]
fn graphs_are_counted_on_a_bar() {
    let written = run("check --limit 0 graphs/cases/*.gz");
    assert!(written.contains("/28 graphs"), "{written}");
    assert!(written.contains("28 graphs, "), "{written}");
}
