//! Seeded faults (`tests/audit/NAME.fault`), and what finds each: the checker of rules, the audit, or a test that fails.
//!
//! A section `=== checker CODE` or `=== audit CODE` holds words of what is told; `=== test` says that a test of
//! `tests/scenarios` fails. What has no section must stay silent, but for tests, which are asked only where a section says so.

#[path = "support/files.rs"]
mod files;
#[path = "support/patch.rs"]
mod patch;

use std::collections::BTreeSet;
use std::fs;

use anchorwatch::audit::{Audit, Coverage, Finding, Weight};
use anchorwatch::engine::{RuleDiagnostic, RuleSources, Session};
use anchorwatch::lang::Level;
use anchorwatch::report::{Human, Style, audit as report};
use files::files;

fn audit(sources: RuleSources) -> Audit {
    Audit::of(&Session::new(sources), None)
}

/// What a fault adds to the complaints of the checker: code and message.
fn complaints(sources: RuleSources) -> Vec<(String, String)> {
    let diagnostics = Session::new(sources).diagnostics();
    diagnostics.into_iter().map(|d| (d.diagnostic.code.to_owned(), d.diagnostic.message)).collect()
}

/// Whether some test of the layers fails.
fn some_test_fails(mut sources: RuleSources) -> bool {
    let mut added = Vec::new();
    for folder in ["layout", "readwrite"] {
        for file in files(format!("tests/scenarios/{folder}"), "anchor") {
            let text = fs::read_to_string(&file).expect("a rule file");
            sources.files.push((file.display().to_string(), text, true));
            added.push(file.display().to_string());
        }
    }
    let session = Session::new(sources);
    // A test that names what is gone fails as well.
    let is_error = |d: &RuleDiagnostic| d.diagnostic.level == Level::Error;
    if session.diagnostics().iter().any(is_error) {
        return true;
    }
    // File by file: the first failure is enough.
    let fails = |file: &String| {
        session.run_tests(&|path| path == file).iter().any(|outcome| !outcome.failures.is_empty())
    };
    added.iter().any(fails)
}

fn told(findings: &[Finding]) -> Vec<(String, String)> {
    findings.iter().map(|f| (f.code.to_owned(), format!("{}: {}", f.entry, f.message))).collect()
}

#[test]
fn each_fault_is_found() {
    let faults = patch::all("tests/audit", ".fault");
    assert!(faults.len() >= 20, "{} faults", faults.len());
    let shipped = audit(RuleSources::shipped());
    let sound = complaints(RuleSources::shipped());
    let mut wrong = String::new();
    for (name, fault) in &faults {
        let sources = fault.apply();
        let mut by_checker = complaints(sources.clone());
        by_checker.retain(|complaint| !sound.contains(complaint));
        let mut by_audit = told(&audit(sources.clone()).findings);
        by_audit.retain(|finding| !told(&shipped.findings).contains(finding));
        let mut silent: BTreeSet<&str> = ["checker", "audit"].into();
        for (words, text) in &fault.sections {
            let (finder, code) = words.split_once(' ').unwrap_or((words, ""));
            silent.remove(finder);
            let found = match finder {
                "checker" => by_checker.iter().any(|(c, m)| c == code && m.contains(text.trim())),
                "audit" => by_audit.iter().any(|(c, m)| c == code && m.contains(text.trim())),
                "test" => some_test_fails(sources.clone()),
                other => panic!("{name}: nothing is called {other}"),
            };
            if !found {
                wrong.push_str(&format!(
                    "{name}: not found by {words}\n  checker {by_checker:?}\n  audit {by_audit:?}\n"
                ));
            }
        }
        // An audit of rules with errors says little.
        let has_errors = !by_checker.is_empty();
        if silent.contains("checker") && has_errors {
            wrong.push_str(&format!("{name}: the checker says {by_checker:?}\n"));
        }
        if silent.contains("audit") && !by_audit.is_empty() && !has_errors {
            wrong.push_str(&format!("{name}: the audit says {by_audit:?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// On the shipped rules nothing is dead, shadowed or unread; every pair of marks is accounted for.
#[test]
fn the_shipped_rules_are_sound() {
    let audit = audit(RuleSources::shipped());
    let warnings: Vec<_> = audit.findings.iter().filter(|f| f.weight == Weight::Warning).collect();
    assert!(warnings.is_empty(), "{warnings:#?}");
    let marks = audit.marks.len();
    assert_eq!(audit.pairs.len(), marks * (marks + 1) / 2);
    // layout 5: 105 pairs, 17 never, 10 always, 55 checkers, 23 without a rule.
    let of = |class| audit.pairs_of(class);
    assert_eq!((of("never"), of("always"), of("checker"), of("unruled")), (17, 10, 55, 23));
    assert!(audit.pairs.iter().all(|row| row.lost.is_empty()));
}

/// Every form of the report has every entry; the page asks nothing of a network.
#[test]
fn reports_hold_what_they_promise() {
    let session = Session::new(RuleSources::shipped());
    let audit = Audit::of(&session, Some(Coverage { tests: 3, ..Coverage::default() }));
    let page = report::page(&audit);
    for row in &audit.entries {
        assert!(
            page.contains(&format!("{} {}<small", row.entry.kind, row.entry.name.replace('"', "&quot;"))),
            "{}",
            row.entry
        );
    }
    assert_eq!(page.matches("data-by=\"").count(), audit.marks.len() * audit.marks.len());
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let markdown = report::markdown(&audit);
    assert!(
        markdown.starts_with("### Audit of the rules\n") && !markdown.contains("\n\n| ---"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&report::json(&audit)).expect("JSON");
    assert_eq!(json["pairs"].as_array().map(Vec::len), Some(audit.pairs.len()));
    let human = report::human(&audit, &Human::new(Style { color: false, width: Some(100) }));
    assert!(human.lines().all(|line| line.chars().count() <= 200), "{human}");
}

/// The same rules give the same bytes.
#[test]
fn reports_are_the_same_each_time() {
    let of = || report::json(&audit(RuleSources::shipped()));
    assert_eq!(of(), of());
}

/// The tables are queries: a comment changes none of them, a condition those that read it.
#[test]
fn an_edit_recomputes_what_it_touches() {
    const PATH: &str = "rules/layout.anchor";
    let mut session = Session::logging(RuleSources::shipped());
    let text = session.file_text(PATH).expect("a rule file").to_string();
    let before = Audit::of(&session, None);
    let mut queries_after = |text: &str| {
        session.set_text(PATH, text);
        session.database().start_log();
        let audit = Audit::of(&session, None);
        let log = session.database().take_log();
        (audit, log)
    };
    let tables = ["pair_rows", "entry_uses", "inputs", "judgements", "dead", "dead_pairs", "always_skipped"];
    let (audit, log) = queries_after(&format!("// a comment\n{text}"));
    let ran: Vec<_> = log.iter().filter(|query| tables.contains(&query.as_str())).collect();
    assert!(ran.is_empty(), "{ran:?}");
    assert_eq!(audit.findings, before.findings);
    let changed = text.replace("n.inputs.count > 1", "n.inputs.count > 2");
    let (_, log) = queries_after(&changed);
    let count = |name: &str| log.iter().filter(|query| query.as_str() == name).count();
    assert!(count("dead") > 0 && count("pair_rows") == 0, "{log:?}");
}

/// A rule set of two files, the second an overlay.
fn with_overlay(rules: &str, overlay: &str) -> RuleSources {
    let file = |path: &str, text: &str, overlay| (path.to_owned(), text.to_owned(), overlay);
    RuleSources { files: vec![file("rules.anchor", rules, false), file("overlay.anchor", overlay, true)] }
}

#[test]
fn what_an_overlay_replaces_or_removes_is_no_entry() {
    let read = |name: &str| fs::read_to_string(format!("tests/cli/replaced/{name}.anchor")).expect("rules");
    let audit = audit(with_overlay(&read("rules"), &read("overlay")));
    let of = |name: &str| audit.entries.iter().filter(|row| row.entry.name == name).collect::<Vec<_>>();
    let [checked] = of("checked")[..] else { panic!("{:?}", of("checked")) };
    assert_eq!((checked.path.as_str(), checked.line), ("overlay.anchor", 1));
    assert_eq!(checked.reason.as_deref(), Some("of the new reason"));
    assert!(of("part").is_empty(), "{:?}", of("part"));
    let human = report::human(&audit, &Human::new(Style { color: false, width: None }));
    assert!(human.contains("checker checked  1 pair: of the new reason"), "{human}");
}

#[test]
fn each_entry_of_the_page_has_a_place_of_its_own() {
    let page = report::page(&audit(with_overlay("set A = { X }\n", "extend set A = { Y }\n")));
    let places: Vec<&str> =
        page.split("<article id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(places, ["set--A", "set--A--2"]);
}

#[test]
fn line_ends_of_other_systems_are_line_ends() {
    let page = |rules: &str| report::page(&audit(with_overlay(rules, "")));
    let rules = "set A = {\n  X,\n  Y,\n}\n";
    assert_eq!(page(rules), page(&rules.replace('\n', "\r\n")));
}

#[test]
fn a_mark_is_not_ruled_by_what_is_said_of_a_longer_name() {
    let mark = |name: &str| format!("attribute {name} on input where true\n");
    let rules = mark("USER") + &mark("USER_MEMORY") + "never USER_MEMORY with any\n";
    let told = told(&audit(with_overlay(&rules, "")).findings);
    let alone = ("audit::unruled".to_owned(), "attribute USER: nothing rules it with any mark".to_owned());
    assert!(told.contains(&alone), "{told:?}");
}

#[test]
fn what_is_set_in_blocks_of_every_kind_is_set() {
    let names = ["a", "b", "c", "d", "e"];
    let attrs = names.map(|name| format!("attr {name}: int on node\n")).concat();
    let rules = attrs
        + "chain tried for n: Node where true {
  attempt first_try { set n.attr(a) = 1 }
  for i in n.inputs { attempt second_try { set n.attr(b) = 1 } }
  then { attempt { set n.attr(c) = 1 } else { set n.attr(d) = 1 } }
}
pass swept { sweep n in root { set n.attr(e) = 1 } }
";
    let audit = audit(with_overlay(&rules, ""));
    for name in names {
        let row = audit.attributes.iter().find(|row| row.name == name);
        assert_eq!(row.map(|row| row.usage), Some("set"), "{name}: {row:?}");
    }
}
