//! Overlays as a stranger writes them: `tests/overlays/NAME.anchor`, a graph for it, and what `check` says about that graph.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anchorwatch::lang::syntax::ast::Kind;
use anchorwatch::lang::syntax::parse_file;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/overlays")
}

fn run(args: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_anchorwatch"));
    program.args(args).current_dir(folder()).env_clear().output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Without the lines of shipped rules that findings show: they move when the rules around them change.
fn without_shipped_lines(text: &str) -> String {
    let mut lines = Vec::new();
    let mut is_shipped = false;
    for line in text.lines() {
        is_shipped |= line.contains("╭─[rules/");
        if !is_shipped {
            lines.push(line);
        }
        is_shipped &= !line.trim_start().starts_with("╰──");
    }
    lines.join("\n") + "\n"
}

/// The names of the overlays.
fn overlays() -> Vec<String> {
    let listing = fs::read_dir(folder()).expect("the folder of overlays").flatten();
    let names = listing.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".anchor")?.to_owned())).collect();
    names.sort();
    assert!(names.len() >= 3, "{names:?}");
    names
}

#[test]
fn check_finds_what_the_overlay_forbids() {
    for name in overlays() {
        let (graph, rules) = (format!("{name}.graph"), format!("{name}.anchor"));
        let output = run(&["check", &graph, "--overlay", &rules]);
        let expected = fs::read_to_string(folder().join(format!("{name}.expected"))).unwrap_or_default();
        assert_eq!(text(&output.stderr), "", "{name}");
        assert_eq!(without_shipped_lines(&text(&output.stdout)), expected, "{name}");
    }
}

#[test]
fn without_the_overlay_nothing_of_it_is_found() {
    for name in overlays() {
        let said = text(&run(&["check", &format!("{name}.graph")]).stdout);
        assert!(!said.contains(&format!("{name}.anchor")), "{said}");
        let expected = fs::read_to_string(folder().join(format!("{name}.expected"))).unwrap_or_default();
        assert_ne!(without_shipped_lines(&said), expected, "{name} changes nothing");
    }
}

#[test]
fn entries_of_an_overlay_are_listed_and_shown() {
    for name in overlays() {
        let path = format!("{name}.anchor");
        let source = fs::read_to_string(folder().join(&path)).expect("an overlay is text");
        let listed = text(&run(&["rules", "list", "--overlay", &path]).stdout);
        for item in parse_file(&source).items.iter().filter_map(|item| item.item.as_ref()) {
            if item.kind == Kind::Test || item.kind == Kind::Never || item.kind == Kind::Always {
                continue;
            }
            let item_name = item.name.text.as_str();
            let line = listed.lines().find(|line| line.contains(&path) && line.contains(item_name));
            assert!(line.is_some_and(|line| line.contains("(overlay)")), "{item_name} of {path}\n{listed}");
            let shown = run(&["rules", "show", item_name, "--overlay", &path]);
            assert!(text(&shown.stdout).contains(&path), "{item_name} of {path}\n{}", text(&shown.stdout));
        }
    }
}

#[test]
fn tests_of_an_overlay_pass() {
    for name in overlays() {
        let path = format!("{name}.anchor");
        let source = fs::read_to_string(folder().join(&path)).expect("an overlay is text");
        let is_test = |kind: Option<Kind>| kind == Some(Kind::Test);
        let kinds = parse_file(&source).items.into_iter().map(|item| item.item.map(|item| item.kind));
        let count = kinds.filter(|kind| is_test(*kind)).count();
        let output = run(&["test", &path]);
        let said = text(&output.stdout);
        assert!(output.status.success(), "{path}\n{said}{}", text(&output.stderr));
        assert!(count > 1 && said.ends_with(&format!("{count} passed, 0 failed\n")), "{path}\n{said}");
    }
}

#[test]
fn explanations_name_the_marks_and_checkers_of_an_overlay() {
    let output = run(&["explain", "secure_memory.graph", "e:in0", "--overlay", "secure_memory.anchor"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    for word in ["SECURE_INPUT", "user_in_and_secure_in", "is not trusted memory"] {
        assert!(said.contains(word), "`{word}` in\n{said}");
    }
}

/// What an overlay changes is what `explain` tells: (overlay, anchor, what is told with it and not without it).
#[test]
fn explanations_follow_changed_matrices_guards_orders_and_sets() {
    let cases = [
        ("matrix_cell", "s:in0", "`r_Identity0` was inserted before it by `rw`"),
        ("step_order", "b:in0", "`d_output_0_Memcpy` was inserted before it by `subgraph`"),
        ("keep_guard", "i", "case probe"),
        ("one_set", "h:in0", "r:out0"),
    ];
    for (name, anchor, told) in cases {
        let (graph, rules) = (format!("{name}.graph"), format!("{name}.anchor"));
        let with = text(&run(&["explain", &graph, anchor, "--overlay", &rules]).stdout);
        let without = text(&run(&["explain", &graph, anchor]).stdout);
        assert!(with.contains(told), "{name}: `{told}` in\n{with}");
        assert!(!without.contains(told), "{name}: `{told}` in\n{without}");
    }
}
