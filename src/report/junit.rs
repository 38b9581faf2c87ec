//! Results of tests as JUnit XML, which continuous integration services read.
//!
//! Promise: one suite a file, in the order of the tests; no times, so the same results are the same bytes.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Complaint, Human, Style};

/// One test that ran.
#[derive(Clone, Debug)]
pub struct Tested {
    pub name: String,
    pub path: String,
    /// Of a `test` in rules.
    pub line: Option<u32>,
    /// Empty: it passed.
    pub failures: Vec<Complaint>,
}

/// The document.
pub fn document(tests: &[Tested]) -> String {
    let mut report = Report::new(env!("CARGO_PKG_NAME"));
    for tests in tests.chunk_by(|one, next| one.path == next.path) {
        let path = tests.first().map_or("", |test| &test.path);
        let mut suite = TestSuite::new(path);
        suite.add_test_cases(tests.iter().map(test_case));
        report.add_test_suite(suite);
    }
    // Writing into memory does not fail, and the library keeps characters out that XML cannot have.
    report.to_string().unwrap_or_default()
}

fn test_case(test: &Tested) -> TestCase {
    let human = Human::new(Style { color: false, width: None });
    let status = match test.failures.first() {
        None => TestCaseStatus::success(),
        Some(first) => {
            let mut text = String::new();
            for failure in &test.failures {
                // Drawing into memory fails only if an excerpt cannot be read, and spans are clamped.
                if human.complaint(&mut text, failure).is_err() {
                    text += &format!("{}: {}\n", failure.code, failure.message);
                }
            }
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(first.message.as_str()).set_type(first.code.as_str());
            status.set_description(text);
            status
        }
    };
    let mut case = TestCase::new(test.name.as_str(), status);
    case.set_classname(test.path.as_str());
    case.extra.insert("file".into(), test.path.as_str().into());
    if let Some(line) = test.line {
        case.extra.insert("line".into(), line.to_string().into());
    }
    case
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_a_file_and_a_failure_says_why() {
        let test = |name: &str, path: &str, failures| Tested {
            name: name.into(),
            path: path.into(),
            line: Some(3),
            failures,
        };
        let wrong = Complaint::error("test::x", "a \"<b>\" & \u{1b}[1m").help("look");
        let text = document(&[
            test("one", "é.anchor", Vec::new()),
            test("two <>", "é.anchor", vec![wrong]),
            test("three", "b.anchor", Vec::new()),
        ]);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let wanted = [
            r#"<testsuites name="anchorwatch" tests="3" skipped="0" failures="1" errors="0">"#,
            r#"<testsuite name="é.anchor" tests="2" skipped="0" errors="0" failures="1">"#,
            r#"<testcase name="one" classname="é.anchor" file="é.anchor" line="3">"#,
            r#"<testsuite name="b.anchor" tests="1" skipped="0" errors="0" failures="0">"#,
        ];
        for wanted in wanted {
            assert!(lines.contains(&wanted), "{wanted} is not in\n{text}");
        }
        assert!(text.contains("name=\"two &lt;&gt;\"") && text.contains("type=\"test::x\""), "{text}");
        assert!(text.contains("help: look") && !text.contains('\u{1b}'), "{text}");
    }
}
