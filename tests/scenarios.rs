//! The `test` entries of the shipped rules, and the scenarios of `tests/scenarios` beside them.

#[path = "support/files.rs"]
mod files;

use std::fs;
use std::path::Path;

use anchorwatch::cli::cases::{Found, find};
use anchorwatch::engine::{RuleDiagnostic, RuleSources, Session, TestOutcome};
use files::files;

/// A complaint with the line and the words that it is about.
fn told(session: &Session, found: &RuleDiagnostic) -> String {
    let diagnostic = &found.diagnostic;
    let mut text = format!("{} [{}]", diagnostic.message, diagnostic.code);
    for (label, (path, span)) in diagnostic.labels.iter().zip(&found.places) {
        let file = session.file_text(path).unwrap_or_default();
        let line = file.get(..span.start).map_or(0, |before| before.matches('\n').count() + 1);
        let words = file.get(span.clone()).and_then(|words| words.lines().next()).unwrap_or_default();
        text += &format!("\n    {path}:{line}: {words}\n      {}", label.text);
    }
    diagnostic.help.iter().for_each(|help| text += &format!("\n      {help}"));
    text
}

fn judge(session: &Session, outcomes: &[TestOutcome]) {
    let failed: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.failures.is_empty())
        .map(|outcome| {
            let failures: Vec<String> = outcome.failures.iter().map(|found| told(session, found)).collect();
            format!("{} ({}:{})\n  {}", outcome.name, outcome.path, outcome.line, failures.join("\n  "))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {} tests fail\n{}", failed.len(), outcomes.len(), failed.join("\n"));
}

#[test]
fn scenarios() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut sources = RuleSources::shipped();
    for found in find(&folder).unwrap_or_else(|e| panic!("{}", e.message)) {
        let Found::Rules(path) = found else { continue };
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let shown = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
        sources.files.push((shown, text, true));
    }
    let session = Session::new(sources);
    let problems: Vec<String> = session.diagnostics().iter().map(|found| told(&session, found)).collect();
    assert!(problems.is_empty(), "the scenarios have problems\n{}", problems.join("\n"));
    let outcomes = session.run_tests(&|_| true);
    assert!(outcomes.len() > 100, "the scenarios are found: {}", outcomes.len());
    judge(&session, &outcomes);
}

/// The keys of the fidelity policy (readwrite 10.2) stand in the names of scenarios, each at least twice: once a mode.
#[test]
fn every_fidelity_key_of_the_read_write_layer_has_scenarios() {
    let files = files("tests/scenarios/readwrite", "anchor").into_iter();
    let texts: Vec<String> = files.filter_map(|path| fs::read_to_string(path).ok()).collect();
    let names: Vec<&str> =
        texts.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with("test \"")).collect();
    for number in 1..=17 {
        let key = format!("R{number:02}");
        let count = names.iter().filter(|name| name.contains(&key)).count();
        assert!(count >= 2, "{key}: {count} scenarios");
    }
}
