//! The one form of rule files: what comes out means what went in, keeps every comment, and stays as it is.

use std::path::Path;

use anchorwatch::lang::fmt::{WIDTH, format};
use anchorwatch::lang::syntax::{comments, parse_file, print_item};
use proptest::prelude::*;

#[path = "support/reference.rs"]
mod reference;
#[path = "support/respaced.rs"]
mod respaced;
use respaced::{any_item, respaced, rule_files};

/// What a file says: its items as trees print, graphs of tests line by line, and its comments.
fn says(text: &str) -> (Vec<String>, Vec<String>) {
    let items = parse_file(text).items.into_iter().map(|item| {
        let printed = item.item.as_ref().map(print_item).unwrap_or_default();
        let lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join(" ").replace("{ ", "{").replace(" }", "}")
    });
    let comments = comments(text)
        .into_iter()
        .map(|span| text[span.start as usize..span.end as usize].trim_end().to_owned());
    (items.collect(), comments.collect())
}

/// Formats, checks the promise, gives the result.
fn formatted(text: &str) -> String {
    let once = format(text).unwrap_or_else(|errors| panic!("{text}\n{errors:#?}"));
    assert_eq!(says(&once), says(text), "{text}\n----\n{once}");
    assert_eq!(format(&once).as_ref(), Ok(&once), "not stable:\n{text}");
    assert!(once.lines().all(|line| line == line.trim_end()), "{once}");
    assert!(once.is_empty() || once.ends_with('\n') && !once.ends_with("\n\n"), "{once:?}");
    assert!(!once.contains("\n\n\n") && !once.contains('\r'), "{once}");
    once
}

#[test]
fn files_keep_their_meaning_and_comments() {
    let mut count = 0;
    for path in ["rules", "tests"].into_iter().flat_map(rule_files) {
        let text = std::fs::read_to_string(&path).expect("the file is readable");
        if parse_file(&text).items.iter().any(|item| item.item.is_none())
            || !parse_file(&text).diagnostics.is_empty()
        {
            assert!(format(&text).is_err(), "{}", path.display());
            continue;
        }
        formatted(&text);
        formatted(&text.replace('\n', "\r\n"));
        count += 1;
    }
    assert!(count >= 30, "only {count} rule files were found");
}

#[test]
fn examples_of_the_reference_keep_their_meaning() {
    for example in reference::examples() {
        formatted(&example);
    }
}

/// Pairs of files `NAME.anchor` and `NAME.expected`: the second is the form of the first.
#[test]
fn layouts_are_as_expected() {
    let mut count = 0;
    for path in rule_files("tests/fmt") {
        let text = std::fs::read_to_string(&path).expect("the file is readable");
        let wanted =
            std::fs::read_to_string(path.with_extension("expected")).expect("an expectation is beside it");
        assert_eq!(formatted(&text), wanted, "{}", path.display());
        count += 1;
    }
    assert!(count >= 3, "only {count} layouts were found");
}

#[test]
fn lines_are_broken_where_they_can_be() {
    for path in rule_files("rules") {
        let text = std::fs::read_to_string(&path).expect("the file is readable");
        for line in formatted(&text).lines().filter(|line| !line.contains('"') && !line.contains("//")) {
            assert!(line.chars().count() <= WIDTH, "{}: {line}", path.display());
        }
    }
}

#[test]
fn the_shipped_rules_have_their_form() {
    for path in rule_files("rules") {
        let text = std::fs::read_to_string(&path).expect("the file is readable");
        let advice = "`anchorwatch fmt rules` brings it into its form";
        assert!(format(&text) == Ok(text), "{}: {advice}", path.display());
    }
}

#[test]
fn a_file_with_syntax_errors_is_refused_with_its_places() {
    let text = "set A = { B }\n\nfn f() -> Int = = 1\n\nbogus\n";
    let errors = format(text).expect_err("the file has errors");
    let places: Vec<&str> = errors
        .iter()
        .map(|error| match error.labels[0].place {
            anchorwatch::lang::Place::File(span) => &text[span.start as usize..span.end as usize],
            anchorwatch::lang::Place::Item(_) => "not placed in the file",
        })
        .collect();
    assert_eq!(places, ["bogus", "="], "{errors:#?}");
}

/// Runs `anchorwatch fmt` in a folder; exit code and standard output.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_anchorwatch"))
        .arg("fmt")
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the program runs");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn folders_are_formatted_file_by_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("inner")).expect("a folder");
    let (form, slack, broken) = ("set A = { B }\n", "set A={B}\r\n", "set A = {\n");
    for (name, text) in
        [("a.anchor", form), ("inner/b.anchor", slack), ("c.anchor", broken), ("d.txt", slack)]
    {
        std::fs::write(path(name), text).expect("the file can be written");
    }
    let read = |name: &str| std::fs::read_to_string(path(name)).expect("the file is there");
    let (code, shown) = run(folder.path(), &["--check"]);
    assert_eq!(code, Some(2), "a file has errors");
    assert!(shown.starts_with("--- inner/b.anchor\n+++ inner/b.anchor\n"), "{shown}");
    assert_eq!(read("inner/b.anchor"), slack, "--check writes nothing");

    assert_eq!(run(folder.path(), &[]), (Some(2), "formatted inner/b.anchor\n".to_owned()));
    assert_eq!((read("a.anchor"), read("inner/b.anchor")), (form.to_owned(), form.to_owned()));
    assert_eq!((read("c.anchor"), read("d.txt")), (broken.to_owned(), slack.to_owned()));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 4, "nothing is left beside");

    assert_eq!(run(folder.path(), &["a.anchor", "inner"]), (Some(0), String::new()));
    assert_eq!(run(folder.path(), &["--check", "a.anchor", "inner"]), (Some(0), String::new()));
    assert_eq!(run(folder.path(), &["missing.anchor"]).0, Some(2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_spacing_and_any_comment_keeps_its_meaning(item in any_item(), gaps in prop::collection::vec(any::<u8>(), 1..200)) {
        let text = respaced(&item, &gaps);
        prop_assume!(parse_file(&text).items.len() == 1 && parse_file(&text).items[0].item.is_some());
        formatted(&text);
    }
}
