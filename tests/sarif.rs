//! Every kind of SARIF report against the standard's schema, and what the schema cannot say.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;

/// The schema that OASIS publishes, unchanged.
static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value =
        serde_json::from_str(include_str!("support/sarif-2.1.0.json")).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
});

fn run(folder: &Path, words: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_anchorwatch");
    Command::new(program).args(words).current_dir(folder).env_clear().output().expect("the program starts")
}

/// The report of a command, which follows the schema; with the exit code.
fn report(folder: &Path, words: &[&str]) -> (Value, i32) {
    let output = run(folder, &[words, &["--format", "sarif"]].concat());
    assert!(output.stderr.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let errors: Vec<String> =
        SCHEMA.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{words:?}: {}\n{document:#}", errors.join("\n"));
    let run = &document["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in run["results"].as_array().expect("results") {
        let at = result["ruleIndex"].as_u64().expect("a number") as usize;
        assert_eq!(rules[at]["id"], result["ruleId"], "the index is that of the rule");
    }
    let code = output.status.code().expect("an exit code");
    assert_eq!(run["invocations"][0]["exitCode"], code);
    assert_eq!(run["invocations"][0]["executionSuccessful"], code < 2);
    (document, code)
}

fn cases() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli")
}

/// A folder with a graph of odd names, which has one conflict.
fn odd() -> (tempfile::TempDir, &'static str) {
    let folder = tempfile::tempdir().expect("a folder");
    let name = "gráph 100%#1?.graph";
    let text =
        "graph { @name = \"größe/1\" }\n\"a b:\\\"ü\": ConstPlaceHolder\nno: NetOutput(\"a b:\\\"ü\")\n";
    fs::write(folder.path().join(name), text).expect("a file");
    (folder, name)
}

#[test]
fn every_kind_of_report_follows_the_schema() {
    let all: [(&[&str], i32); 9] = [
        (&["check", "plain.graph"], 0),
        (&["check", "stages.graph"], 1),
        (&["check", "stages.graph", "failing_step.graph", "no/such.graph", "unclosed.graph"], 2),
        (&["check", "failing_step.graph", "--passes", "rw"], 2),
        (&["check", "plain.graph", "--option", "no.such=1"], 2),
        (&["check", "plain.graph", "--rules", "no_rules"], 2),
        (&["lint"], 0),
        (&["lint", "linted"], 0),
        (&["lint", "linted_wrong"], 2),
    ];
    for (words, wanted) in all {
        let (_, code) = report(&cases(), words);
        assert_eq!(code, wanted, "{words:?}");
    }
}

#[test]
fn odd_names_stay_what_they_are() {
    let (folder, name) = odd();
    let (document, code) = report(folder.path(), &["check", name, "--passes", "layout"]);
    assert_eq!(code, 1);
    let result = &document["runs"][0]["results"][0];
    let location = &result["locations"][0];
    let uri = &location["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "gr%C3%A1ph%20100%25%231%3F.graph");
    let names = [location, &result["relatedLocations"][1]]
        .map(|place| place["logicalLocations"][0]["fullyQualifiedName"].as_str().expect("a name").to_owned());
    assert_eq!(names, ["größe/1/no:in0", "größe/1/a b:\"ü:out0"]);
    let rule = &document["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!(rule["id"], "checker/user_out_and_immutable_out");
    assert!(
        rule["help"]["text"].as_str().is_some_and(|text| text.starts_with("rules/layout.anchor:")),
        "{rule}"
    );
}

#[test]
fn a_path_below_the_current_directory_is_told_from_there() {
    let (folder, name) = odd();
    let folder = folder.path().canonicalize().expect("the folder");
    let absolute = folder.join(name);
    let absolute = absolute.to_str().expect("a text");
    let uri = |words: &[&str]| {
        let (document, _) = report(&folder, words);
        document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].clone()
    };
    assert_eq!(uri(&["check", absolute]), uri(&["check", name]));
}

#[test]
fn a_report_does_not_depend_on_threads() {
    let words = ["check", "stages.graph", "told_once.graph", "failing_step.graph", "--format", "sarif"];
    let alone = run(&cases(), &words);
    let beside = run(&cases(), &[&words[..], &["--jobs", "3"]].concat());
    assert_eq!(String::from_utf8_lossy(&alone.stdout), String::from_utf8_lossy(&beside.stdout));
    assert!(!alone.stdout.is_empty());
}

#[test]
fn applying_the_fixes_of_a_report_is_what_fix_does() {
    let (document, _) = report(&cases(), &["lint", "linted/a.anchor"]);
    let change = &document["runs"][0]["results"][0]["fixes"][0]["artifactChanges"][0];
    let path = change["artifactLocation"]["uri"].as_str().expect("a path");
    let mut text = fs::read_to_string(cases().join(path)).expect("the rules");
    let replacement = &change["replacements"][0];
    let number = |name: &str| replacement["deletedRegion"][name].as_u64().expect("a number") as usize;
    let offset = |line: usize, column: usize| {
        let before: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        before + text[before..].chars().take(column - 1).map(char::len_utf8).sum::<usize>()
    };
    let span =
        offset(number("startLine"), number("startColumn"))..offset(number("endLine"), number("endColumn"));
    text.replace_range(span, replacement["insertedContent"]["text"].as_str().unwrap_or_default());
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(cases().join(path), folder.path().join("a.anchor")).expect("a copy");
    run(folder.path(), &["lint", "a.anchor", "--fix"]);
    assert_eq!(text, fs::read_to_string(folder.path().join("a.anchor")).expect("mended rules"));
}
