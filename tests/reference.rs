//! The reference of the language is true: its tables are those of the program, its examples are rules without errors.
//!
//! `UPDATE_REFERENCE=1 cargo test --test reference` writes the tables anew.

#[path = "support/reference.rs"]
mod reference;
// Complaints about single files are for other tests.
#[allow(dead_code)]
mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use anchorwatch::format::{LoadContext, load};
use anchorwatch::lang::check::{codes, show};
use anchorwatch::lang::facts::{FACTS, FactTy};
use anchorwatch::lang::hir::Ty;
use anchorwatch::lang::lint::LINTS;
use anchorwatch::lang::syntax;
use reference::{REFERENCE, examples};

/// The type as the reference writes it.
fn type_name(ty: FactTy) -> String {
    match ty {
        FactTy::AnyList | FactTy::Same => "list<T>".to_owned(),
        FactTy::Element => "T".to_owned(),
        FactTy::OptElement => "T?".to_owned(),
        other => show(&other.ty(&Ty::Error)),
    }
}

fn facts_table() -> String {
    let mut table = String::from("| of a | fact | gives | meaning |\n| --- | --- | --- | --- |\n");
    for info in FACTS {
        let params: Vec<String> = info.params.iter().map(|param| type_name(*param)).collect();
        let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
        let _ = writeln!(
            table,
            "| `{}` | `{}{params}` | `{}` | {} |",
            type_name(info.receiver),
            info.name,
            type_name(info.result),
            info.doc
        );
    }
    table
}

fn codes_table() -> String {
    let mut table = String::from("| code | told when |\n| --- | --- |\n");
    for (code, doc) in syntax::codes::CODES.iter().chain(codes::CODES) {
        let _ = writeln!(table, "| `{code}` | {doc} |");
    }
    table
}

fn lints_table() -> String {
    let mut table = String::from("| lint | level | told of |\n| --- | --- | --- |\n");
    for lint in LINTS {
        let _ = writeln!(table, "| `{}` | {} | {} |", lint.code, lint.level.word(), lint.doc);
    }
    table
}

/// The text with the part between the markers of `name` exchanged.
fn with_table(text: &str, name: &str, table: &str) -> String {
    let (start, end) = (format!("<!-- {name}: generated -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&start).expect("the reference has the marker of a table");
    let (_, after) = rest.split_once(&end).expect("the reference has the end of a table");
    format!("{before}{start}{table}{end}{after}")
}

#[test]
fn the_tables_are_those_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammar/README.md");
    let there = std::fs::read_to_string(&path).expect("the reference is text");
    let wanted = with_table(&there, "facts", &facts_table());
    let wanted = with_table(&wanted, "codes", &codes_table());
    let wanted = with_table(&wanted, "lints", &lints_table());
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(path, &wanted).expect("the reference can be written");
        return;
    }
    let advice = "`UPDATE_REFERENCE=1 cargo test --test reference` brings the tables up to date";
    assert!(wanted == there, "{advice}");
}

#[test]
fn every_code_of_the_syntax_is_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lang/syntax");
    let mut written = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the source is there").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("source is text");
        if !entry.path().ends_with("codes.rs") {
            let words = text.split('"').filter(|word| word.starts_with("syntax::"));
            written.extend(words.map(str::to_owned));
        }
    }
    let listed: Vec<&str> = syntax::codes::CODES.iter().map(|(code, _)| *code).collect();
    assert_eq!(listed, written.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn the_example_of_the_notation_is_a_graph() {
    let text = REFERENCE.split("```graph\n").nth(1).and_then(|rest| rest.split("```").next());
    let text = text.expect("the reference shows the notation");
    let loaded = load(text.as_bytes(), "example.graph", &LoadContext::default());
    let loaded = loaded.unwrap_or_else(|error| panic!("{error:?}"));
    let names: Vec<&str> = loaded.snapshot.nodes_by_id().map(|(_, node)| &*node.name).collect();
    assert_eq!(names, ["a", "v", "b", "w", "x", "x"]);
}

#[test]
fn the_examples_are_one_rule_set_without_errors() {
    let lent = include_str!("reference/lent.anchor");
    let mut rules = lent.to_owned();
    for example in examples() {
        // Changes to a rule set are for overlays.
        if example.contains("remove ") || example.contains("override ") {
            continue;
        }
        rules.push('\n');
        rules.push_str(&example);
        rules.push('\n');
    }
    let said = support::checked::check_text(&rules).text(false);
    let lines: Vec<String> =
        (1..).zip(rules.lines()).map(|(number, line)| format!("{number} {line}")).collect();
    assert!(said.is_empty(), "{said}\n{}", lines.join("\n"));
}
