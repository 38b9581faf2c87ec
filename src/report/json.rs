//! Findings, edits and complaints as JSON, one object a line.
//!
//! Promise: fields stand in a fixed order; no line depends on another. Every line but those of an edit list has a
//! `type`: `finding`, `failure`, `complaint`, `summary`, `lint`; `test`, `reached`, `tests`; those of explanations `pass`, `anchor`, `node`, `total`.
//!
//! # Edit list
//!
//! ```json
//! {"pass":"p","rule":"r","kind":"insert","op":"Copy","name":"n","from":{"node":"c","output":0},"to":[{"node":"out","input":1}]}
//! {"pass":"p","rule":"r","kind":"delete","op":"Copy","name":"n"}
//! {"pass":"p","rule":"r","kind":"control","from":"a","to":"b","added":true}
//! {"pass":"p","rule":"r","kind":"set","node":"n","what":"attr x","value":"true"}
//! ```
//!
//! `from` of an inserted node with one input is that input's producer. A node with several inputs, or with none, has a
//! list there, in input order. `to` is always a list, in the order of the node's outputs and of their readers.

mod story;

pub use story::{explanation, table};

use serde::Serialize;

use super::complaint::{Below, Complaint};
use super::junit::Tested;
use super::place::side_index;
use super::rules::{Rules, kind_word};
use super::summary::{OpCounts, Summary};
use crate::engine::outcome::{AnchorRef, EditEntry, EditEntryKind, Finding, PassFailure, PlaceRef, RuleRef};
use crate::engine::{Amount, CoverageRow};
use crate::graph::Sym;
use crate::lang::Level;

/// `error`, `warning` or `note`.
pub fn level_word(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// The text of `value` and a line end. Only maps with keys that are no text could fail, and there are none.
fn line(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize)]
struct RuleJson<'a> {
    kind: &'static str,
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

fn rule<'a>(rule: &RuleRef, rules: &'a Rules) -> RuleJson<'a> {
    let text = rules.get(rule);
    RuleJson {
        kind: kind_word(rule.kind),
        name: rule.name.as_str(),
        path: text.map(|text| text.path.as_str()),
        line: text.map(|text| text.line),
    }
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    node: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<String>,
    op: &'static str,
    graph: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    role: &'a str,
}

fn place(place: &PlaceRef) -> PlaceJson<'_> {
    PlaceJson {
        node: &place.name,
        anchor: place.anchor.map(side_index),
        op: place.op.as_str(),
        graph: &place.graph,
        role: &place.role,
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum AnchorJson<'a> {
    Out { node: &'a str, output: u32 },
    In { node: &'a str, input: u32 },
}

fn output(anchor: &AnchorRef) -> AnchorJson<'_> {
    AnchorJson::Out { node: &anchor.node, output: anchor.index }
}

fn input(anchor: &AnchorRef) -> AnchorJson<'_> {
    AnchorJson::In { node: &anchor.node, input: anchor.index }
}

#[derive(Serialize)]
#[serde(untagged)]
enum FromJson<'a> {
    One(AnchorJson<'a>),
    Many(Vec<AnchorJson<'a>>),
}

#[derive(Serialize)]
struct EditJson<'a> {
    pass: &'static str,
    rule: &'static str,
    #[serde(flatten)]
    kind: EditKindJson<'a>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum EditKindJson<'a> {
    Insert { op: &'static str, name: &'a str, from: FromJson<'a>, to: Vec<AnchorJson<'a>> },
    Delete { op: &'static str, name: &'a str },
    Control { from: &'a str, to: &'a str, added: bool },
    Set { node: &'a str, what: &'a str, value: &'a str },
}

fn edit_json(edit: &EditEntry) -> EditJson<'_> {
    let kind = match &edit.kind {
        EditEntryKind::Insert { op, name, from, to, .. } => EditKindJson::Insert {
            op: op.as_str(),
            name,
            from: match from.as_slice() {
                [one] => FromJson::One(output(one)),
                many => FromJson::Many(many.iter().map(output).collect()),
            },
            to: to.iter().map(input).collect(),
        },
        EditEntryKind::Delete { op, name } => EditKindJson::Delete { op: op.as_str(), name },
        EditEntryKind::Control { from, to, added } => EditKindJson::Control { from, to, added: *added },
        EditEntryKind::Set { node, what, value } => EditKindJson::Set { node, what, value },
    };
    EditJson { pass: edit.pass.as_str(), rule: edit.rule.as_str(), kind }
}

/// One line of an edit list.
pub fn edit(edit: &EditEntry) -> String {
    line(&edit_json(edit))
}

#[derive(Serialize)]
struct AlsoJson<'a> {
    rule: RuleJson<'a>,
    message: &'a str,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    r#type: &'static str,
    file: &'a str,
    pass: &'static str,
    rule: RuleJson<'a>,
    code: &'static str,
    level: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    places: Vec<PlaceJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<AlsoJson<'a>>,
    edits: Vec<EditJson<'a>>,
}

/// A finding in `file`; `edits` are those of its step.
pub fn finding(finding: &Finding, rules: &Rules, edits: &[EditEntry], file: &str) -> String {
    line(&FindingJson {
        r#type: "finding",
        file,
        pass: finding.pass.as_str(),
        rule: rule(&finding.rule, rules),
        code: finding.code.as_str(),
        level: level_word(finding.level),
        message: &finding.message,
        help: finding.help.as_deref(),
        places: finding.places.iter().map(place).collect(),
        also: finding.also.iter().map(|(r, message)| AlsoJson { rule: rule(r, rules), message }).collect(),
        edits: edits.get(finding.edits.clone()).unwrap_or_default().iter().map(edit_json).collect(),
    })
}

#[derive(Serialize)]
struct FailureJson<'a> {
    r#type: &'static str,
    file: &'a str,
    pass: &'static str,
    level: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    places: Vec<PlaceJson<'a>>,
}

/// A pass that failed on `file`.
pub fn failure(failure: &PassFailure, level: Level, file: &str) -> String {
    line(&FailureJson {
        r#type: "failure",
        file,
        pass: failure.pass.as_str(),
        level: level_word(level),
        message: &failure.message,
        help: failure.help.as_deref(),
        places: failure.places.iter().map(place).collect(),
    })
}

#[derive(Serialize)]
struct LabelJson<'a> {
    path: &'a str,
    line: usize,
    column: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
}

#[derive(Serialize)]
struct ComplaintJson<'a> {
    r#type: &'static str,
    code: &'a str,
    level: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<LabelJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    at: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    note: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    help: Vec<&'a str>,
}

/// A complaint about rules, input or arguments. Lines and columns count from 1.
pub fn complaint(complaint: &Complaint) -> String {
    line(&complaint_json(complaint))
}

fn complaint_json(complaint: &Complaint) -> ComplaintJson<'_> {
    let marks = complaint.excerpts.iter().flat_map(|e| e.marks.iter().map(|mark| (&e.source, mark)));
    let labels = marks.map(|(source, mark)| {
        let (line, column) = source.line_column(mark.span.start);
        LabelJson { path: source.name(), line, column, text: &mark.text }
    });
    ComplaintJson {
        r#type: "complaint",
        code: &complaint.code,
        level: level_word(complaint.level),
        message: &complaint.message,
        labels: labels.collect(),
        at: complaint.lines(Below::At).collect(),
        note: complaint.lines(Below::Note).collect(),
        help: complaint.lines(Below::Help).collect(),
    }
}

#[derive(Serialize)]
struct LintJson<'a> {
    #[serde(flatten)]
    complaint: ComplaintJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixJson<'a>>,
}

#[derive(Serialize)]
struct FixJson<'a> {
    title: &'a str,
    edits: Vec<ReplacementJson<'a>>,
}

/// Bytes of the file, from 0.
#[derive(Serialize)]
struct ReplacementJson<'a> {
    start: u32,
    end: u32,
    text: &'a str,
}

/// A finding of a lint, with the edits that mend it.
pub fn lint(complaint: &Complaint, fix: Option<&crate::lang::lint::Fix>) -> String {
    let fix = fix.map(|fix| FixJson {
        title: &fix.title,
        edits: fix
            .edits
            .iter()
            .map(|edit| ReplacementJson { start: edit.span.start, end: edit.span.end, text: &edit.text })
            .collect(),
    });
    line(&LintJson { complaint: ComplaintJson { r#type: "lint", ..complaint_json(complaint) }, fix })
}

#[derive(Serialize)]
struct TestJson<'a> {
    r#type: &'static str,
    name: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    passed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<ComplaintJson<'a>>,
}

/// A test that ran.
pub fn test(test: &Tested) -> String {
    line(&TestJson {
        r#type: "test",
        name: &test.name,
        path: &test.path,
        line: test.line,
        passed: test.failures.is_empty(),
        failures: test.failures.iter().map(complaint_json).collect(),
    })
}

#[derive(Serialize)]
struct TestsJson {
    r#type: &'static str,
    passed: usize,
    failed: usize,
}

/// The closing line of tests.
pub fn tests(passed: usize, failed: usize) -> String {
    line(&TestsJson { r#type: "tests", passed, failed })
}

#[derive(Serialize)]
struct ReachedJson<'a> {
    r#type: &'static str,
    rule: RuleJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
    reached: usize,
}

/// How often tests reached each entry and branch, a line each.
pub fn coverage(rows: &[CoverageRow]) -> String {
    let row = |row: &CoverageRow| {
        let rule = RuleJson {
            kind: kind_word(row.kind),
            name: row.name.as_str(),
            path: Some(&row.path),
            line: Some(row.line),
        };
        line(&ReachedJson { r#type: "reached", rule, branch: row.branch.as_deref(), reached: row.reached })
    };
    rows.iter().map(row).collect()
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    r#type: &'static str,
    graphs: usize,
    failed: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
    rules: Vec<RuleCountJson<'a>>,
    passes: Vec<PassJson>,
    measures: Vec<MeasureJson<'a>>,
}

#[derive(Serialize)]
struct RuleCountJson<'a> {
    #[serde(flatten)]
    rule: RuleJson<'a>,
    findings: usize,
}

#[derive(Serialize)]
struct PassJson {
    pass: &'static str,
    inserted: usize,
    /// Inserted nodes by type.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    inserted_types: serde_json::Map<String, serde_json::Value>,
    deleted: usize,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    deleted_types: serde_json::Map<String, serde_json::Value>,
    changed: usize,
}

#[derive(Serialize)]
struct MeasureJson<'a> {
    name: &'static str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    before: AmountJson,
    after: AmountJson,
}

#[derive(Serialize)]
struct AmountJson {
    sum: i128,
    /// Things of unknown size, which the sum leaves out.
    unknown: usize,
}

fn amount_json(amount: Amount) -> AmountJson {
    AmountJson { sum: amount.sum, unknown: amount.unknown }
}

fn types_json(counts: &OpCounts) -> serde_json::Map<String, serde_json::Value> {
    counts.iter().map(|(op, number)| (op.as_str().to_owned(), number.into())).collect()
}

/// The closing line of a command.
pub fn summary(summary: &Summary, rules: &Rules) -> String {
    line(&SummaryJson {
        r#type: "summary",
        graphs: summary.graphs,
        failed: summary.failed,
        errors: summary.errors,
        warnings: summary.warnings,
        notes: summary.notes,
        rules: summary
            .rules
            .iter()
            .map(|(r, findings)| RuleCountJson { rule: rule(r, rules), findings: *findings })
            .collect(),
        passes: summary
            .passes
            .iter()
            .map(|sum| PassJson {
                pass: sum.pass.as_str(),
                inserted: sum.inserted.sum(),
                inserted_types: types_json(&sum.inserted),
                deleted: sum.deleted.sum(),
                deleted_types: types_json(&sum.deleted),
                changed: sum.changed(),
            })
            .collect(),
        measures: summary
            .measures
            .iter()
            .map(|measured| MeasureJson {
                name: measured.name.as_str(),
                title: &measured.title,
                unit: measured.unit.map(Sym::as_str),
                before: amount_json(measured.before),
                after: amount_json(measured.after),
            })
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Sym;
    use crate::report::testing;

    fn edit_of(kind: EditEntryKind) -> String {
        edit(&EditEntry { pass: Sym::new("p"), rule: Sym::new("r"), kind })
    }

    #[test]
    fn edit_lists_follow_the_contract() {
        let insert = |from: Vec<AnchorRef>| EditEntryKind::Insert {
            op: Sym::new("Copy"),
            name: "n".into(),
            node: crate::graph::NodeId(7),
            from,
            to: vec![testing::anchor("out", 1)],
        };
        assert_eq!(
            edit_of(insert(vec![testing::anchor("c", 0)])),
            r#"{"pass":"p","rule":"r","kind":"insert","op":"Copy","name":"n","from":{"node":"c","output":0},"to":[{"node":"out","input":1}]}
"#
        );
        let two = edit_of(insert(vec![testing::anchor("c", 0), testing::anchor("d", 2)]));
        assert!(two.contains(r#""from":[{"node":"c","output":0},{"node":"d","output":2}],"#), "{two}");
        assert_eq!(
            edit_of(EditEntryKind::Delete { op: Sym::new("Copy"), name: "n".into() }),
            "{\"pass\":\"p\",\"rule\":\"r\",\"kind\":\"delete\",\"op\":\"Copy\",\"name\":\"n\"}\n"
        );
        assert_eq!(
            edit_of(EditEntryKind::Control { from: "a".into(), to: "b".into(), added: false }),
            "{\"pass\":\"p\",\"rule\":\"r\",\"kind\":\"control\",\"from\":\"a\",\"to\":\"b\",\"added\":false}\n"
        );
        assert_eq!(
            edit_of(EditEntryKind::Set { node: "n".into(), what: "attr x".into(), value: "\"1\"".into() }),
            "{\"pass\":\"p\",\"rule\":\"r\",\"kind\":\"set\",\"node\":\"n\",\"what\":\"attr x\",\"value\":\"\\\"1\\\"\"}\n"
        );
    }

    #[test]
    fn a_finding_is_one_line_with_its_rule_places_and_edits() {
        let (graph, _) = testing::graph(testing::GRAPH);
        let outcome = testing::outcome(&graph);
        let step = &outcome.steps[0];
        let text = finding(&step.findings[0], &testing::rules(), &step.edits, "g.txt");
        assert_eq!(
            text,
            concat!(
                r#"{"type":"finding","file":"g.txt","pass":"arrange","#,
                r#""rule":{"kind":"checker","name":"user_out_and_fixed_out","path":"rules.anchor","line":227},"#,
                r#""code":"conflict","level":"error","message":"c would be overwritten through the user's buffer","#,
                r#""places":[{"node":"no","anchor":"in0","op":"Sink","graph":"main","role":"USER_OUT"},"#,
                r#"{"node":"c","anchor":"out0","op":"Fixed","graph":"main","role":"FIXED_OUT"}],"#,
                r#""also":[{"rule":{"kind":"always","name":"BLOCK with BLOCK","path":"rules.anchor","line":12},"#,
                r#""message":"one block is enough"}],"#,
                r#""edits":[{"pass":"arrange","rule":"user_out_and_fixed_out","kind":"insert","op":"Copy","#,
                r#""name":"copy_0","from":{"node":"c","output":0},"to":[{"node":"no","input":0}]}]}"#,
                "\n"
            )
        );
    }
}
