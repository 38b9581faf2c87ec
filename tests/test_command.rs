//! `anchorwatch test`, as its user sees it: what is printed last, what underlines a failure, and the exit code.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of its own for each test, made anew.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("test_command").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
    folder
}

/// Exit code, standard output and standard error of `anchorwatch test` in a folder.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_anchorwatch"))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .arg("test")
        .args(args)
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const RULES: &str = r#"
set OPS = { Relu, Copy }
attr marked: bool on node
option compat: { sound, ge } = sound
pass mend for n: Node where n.attr(marked) and option(compat) == ge { set n.attr(marked) = false }
pipeline compile = mend
"#;

const GRAPH: &str = "a: Relu { marked = true }\n";

#[test]
fn shipped_rules_pass_their_own_tests() {
    let (code, out, err) = run(&folder("shipped", &[("empty", "")]), &[]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.trim_end().ends_with(" passed, 0 failed"), "{out}");
}

#[test]
fn a_failing_test_is_shown_at_its_expectation() {
    let tests = "test \"good\" {\n  graph { a: Relu }\n  expect nothing\n}\n\
                 test \"bad\" {\n  option compat = ge\n  graph { a: Relu { marked = true } }\n  expect nothing\n}\n";
    let folder = folder("failing", &[("rules.anchor", RULES), ("tests/deep/t.anchor", tests)]);
    let (code, out, err) = run(&folder, &["--rules", "rules.anchor", "tests"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("  ok  good  (tests/deep/t.anchor:1)"), "{out}");
    assert!(out.contains("FAIL  bad  (tests/deep/t.anchor:5)"), "{out}");
    assert!(out.contains("expect nothing") && out.contains("`a.marked = false` by mend"), "{out}");
    assert!(out.ends_with("1 passed, 1 failed\n"), "{out}");
}

#[test]
fn cases_run_as_the_reference_compiler_did() {
    let folder = folder(
        "cases",
        &[
            ("rules.anchor", RULES),
            ("cases/right.json", r#"{"pass": "mend", "status": "ok"}"#),
            ("cases/right.before.graph", GRAPH),
            ("cases/right.after.graph", "a: Relu { marked = false }\n"),
            ("cases/defaults.json", r#"{"options": {"compat": "ge"}}"#),
            ("cases/sound.json", r#"{"pass": "mend", "options": {"compat": "sound"}, "status": "ok"}"#),
            ("cases/sound.before.graph", GRAPH),
            ("cases/wrong.json", r#"{"pass": "mend", "status": "ok"}"#),
            ("cases/wrong.before.graph", GRAPH),
            ("cases/fails.json", r#"{"pass": "mend", "status": "error"}"#),
            ("cases/fails.before.graph", GRAPH),
            ("cases/other.json", "no case"),
        ],
    );
    let (code, out, err) = run(&folder, &["--rules", "rules.anchor", "cases"]);
    assert_eq!(code, Some(1), "{out}{err}");
    for (word, name) in [("  ok", "right"), ("  ok", "sound"), ("FAIL", "wrong"), ("FAIL", "fails")] {
        assert!(out.contains(&format!("{word}  {name}  (cases/{name}.json)")), "{name}: {out}");
    }
    assert!(out.contains("a pass should have failed") && out.contains("marked"), "{out}");
    assert!(out.ends_with("2 passed, 2 failed\n"), "{out}");
}

#[test]
fn coverage_names_what_was_not_reached() {
    let tests = "test \"t\" {\n  graph { a: Relu }\n  expect nothing\n}\n";
    let folder = folder("coverage", &[("rules.anchor", RULES), ("t.anchor", tests)]);
    let (code, out, err) = run(&folder, &["--rules", "rules.anchor", "t.anchor", "--coverage"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let condition = "n.attr(marked) and option(compat) == ge";
    assert!(out.contains(&format!("pass mend, branch `{condition}` (rules.anchor:5)")), "{out}");
    assert!(out.contains("reached 2 of 2 entries, 1 of 2 branches"), "{out}");
}

#[test]
fn paths_without_tests_and_broken_files_are_unusable() {
    let folder =
        folder("unusable", &[("empty/readme", ""), ("bad.anchor", "test \"t\" for {"), ("bad.json", "{")]);
    for (path, part) in
        [("empty", "there are no tests"), ("missing", "cannot be read"), ("bad.anchor", "never closed")]
    {
        let (code, out, err) = run(&folder, &[path]);
        assert_eq!(code, Some(2), "{path}: {out}{err}");
        assert!(err.contains(part), "{path}: {err}");
    }
    let (code, out, _) = run(&folder, &["bad.json"]);
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("the case cannot be read") && out.ends_with("0 passed, 1 failed\n"), "{out}");
}
