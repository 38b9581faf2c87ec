//! Explanations as a person reads them: each `tests/explain/NAME.graph` with the arguments in `NAME.args` (one a line,
//! a line for a run) gives exactly `NAME.expected`. Line numbers of the shipped rules are left out, so that moving a
//! rule changes no page.
//!
//! Codes: what the scenarios of the chains say a copy is kept by, `explain` says too.

#[path = "support/files.rs"]
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anchorwatch::engine::explain::{Answer, ExplainTarget, Explanation};
use anchorwatch::engine::{Request, RuleSources, Session, TestGraph};
use anchorwatch::graph::{NodeId, Sym};
use files::files;

/// What stands between the name of a rule file and a line of it, for people and in JSON.
const BEFORE_LINES: [&str; 2] = [".anchor:", ".anchor\",\"line\":"];

/// `rules/layout.anchor:12` becomes `rules/layout.anchor:_`.
fn without_lines(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let end = |rest: &str| BEFORE_LINES.iter().filter_map(|text| Some(rest.find(text)? + text.len())).min();
    while let Some(end) = end(rest) {
        let (head, tail) = rest.split_at(end);
        out.push_str(head);
        out.push('_');
        rest = tail.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out + rest
}

fn explain(folder: &Path, graph: &str, args: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_anchorwatch"))
        .current_dir(folder)
        .args(["--color", "never", "explain", graph])
        .args(args.split_whitespace())
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    format!("$ explain {graph} {args}\n{}{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn each_page_reads_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter_map(|name| name.strip_suffix(".graph").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() >= 25, "only {} pages were found", names.len());
    let mut wrong = Vec::new();
    for name in names {
        let graph = format!("{name}.graph");
        let read = |extension: &str| fs::read_to_string(folder.join(format!("{name}.{extension}")));
        let args = read("args").unwrap_or_else(|error| panic!("{name}.args: {error}"));
        let pages: Vec<String> = args.lines().map(|line| explain(&folder, &graph, line)).collect();
        let page = without_lines(&pages.join("\n"));
        if page != read("expected").unwrap_or_default() {
            wrong.push(format!("{name} reads\n{page}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn line_numbers_are_left_out() {
    assert_eq!(without_lines("a.anchor:12) b.anchor:3\nc 4"), "a.anchor:_) b.anchor:_\nc 4");
    let object = |line| format!(r#"{{"path":"a.anchor","line":{line}}} b.anchor:{line}"#);
    assert_eq!(without_lines(&object("12")), object("_"));
}

/// Codes that no graph reaches under the shipped rules: the check of the joined memory fails only where a rule does
/// (`tests/tensor_move.rs` makes one fail), and a control edge can always be added where the steps before it hold.
const OUT_OF_REACH: [&str; 2] = ["r5.check_failed", "pending.added"];

/// What a scenario says about a node and a code.
enum Says {
    Kept(String),
    Error,
}

/// The claims of scenarios about codes: for each the title of the test.
fn claims(text: &str) -> Vec<(String, Says, String)> {
    let mut title = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("test \"") {
            title = rest.split("\" for ").next().unwrap_or_default().to_owned();
        }
        let line = line.trim_start();
        if let Some((node, code)) = line.strip_prefix("expect kept ").and_then(|rest| rest.split_once(" by "))
        {
            found.push((title.clone(), Says::Kept(node.to_owned()), code.trim().to_owned()));
        }
        if let Some((code, _)) = line.strip_prefix("expect error \"").and_then(|rest| rest.split_once(':')) {
            found.push((title.clone(), Says::Error, code.to_lowercase()));
        }
    }
    found
}

/// The names of the steps of chains: those of the words behind `require` and `attempt` that have a dot.
fn codes(text: &str) -> BTreeSet<String> {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines = text
        .lines()
        .map(words)
        .filter(|words| words.first().is_some_and(|word| word == "require" || word == "attempt"));
    lines.filter_map(|words| words.into_iter().nth(1)).filter(|code| code.contains('.')).collect()
}

fn nodes(test: &TestGraph, wanted: impl Fn(&str, Sym) -> bool) -> Vec<NodeId> {
    test.before.nodes_by_id().filter(|(_, node)| wanted(&node.name, node.ty)).map(|(id, _)| id).collect()
}

/// The names of the steps that an explanation says have failed.
fn failed(explanation: &Explanation) -> Vec<String> {
    let chains = explanation.passes.iter().flat_map(|pass| &pass.chains);
    let steps = chains.flat_map(|chain| &chain.requirements);
    steps.filter(|step| step.answer == Answer::Fails).map(|step| step.name.to_string()).collect()
}

#[test]
fn each_code_of_the_chains_is_reached_and_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules = ["tensor_move", "notask", "axes"]
        .map(|name| fs::read_to_string(root.join(format!("rules/{name}.anchor"))).expect("a rule file"));
    let mut missing: BTreeSet<String> = rules.iter().flat_map(|text| codes(text)).collect();
    assert!(missing.len() > 50, "the codes are found: {missing:?}");
    OUT_OF_REACH.iter().for_each(|&code| assert!(missing.remove(code), "`{code}` is no code"));

    let mut sources = RuleSources::shipped();
    let mut said = Vec::new();
    for folder in ["tensor_move", "notask"] {
        for path in files(format!("tests/scenarios/{folder}"), "anchor") {
            let text = fs::read_to_string(&path).expect("a scenario");
            said.extend(claims(&text));
            sources.files.push((path.display().to_string(), text, true));
        }
    }
    let mut session = Session::new(sources);
    let tests: BTreeMap<String, TestGraph> =
        session.test_graphs().into_iter().map(|test| (test.name.to_string(), test)).collect();
    let mut wrong = Vec::new();
    let mut asked = 0;
    for (title, says, code) in said {
        let Some(test) = tests.get(&title) else { panic!("`{title}` has no graph") };
        session.set_options(test.options.clone(), BTreeMap::new());
        let request = Request { graph: test.root, node: None, steps: test.steps.clone(), sort: false };
        let explain = |node| {
            let target = ExplainTarget { node, anchor: None };
            failed(&session.explain(&test.before, &request, target).expect("the scenario runs"))
        };
        match says {
            Says::Kept(name) => {
                let steps: Vec<String> =
                    nodes(test, |node, _| node == name).into_iter().flat_map(explain).collect();
                asked += 1;
                missing.remove(&code);
                if !steps.contains(&code) {
                    wrong.push(format!("`{title}`: {name} is kept by {code}, and explain says {steps:?}"));
                }
            }
            // The pass failed at one of the copies.
            Says::Error => {
                let copies = nodes(test, |_, op| op.as_str() == "TensorMove");
                let steps: Vec<String> = copies.into_iter().flat_map(explain).collect();
                let is_told = |step: &&String| step.split('.').next() == Some(&code);
                match steps.iter().find(is_told) {
                    Some(step) => _ = missing.remove(step),
                    None if code.len() == 2 => {
                        wrong.push(format!("`{title}` fails with {code}, and explain says {steps:?}"));
                    }
                    None => {}
                }
            }
        }
    }
    assert!(asked > 150, "only {asked} claims were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(missing.is_empty(), "no scenario reaches {missing:?}");
}
