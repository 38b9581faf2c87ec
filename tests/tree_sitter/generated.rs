//! What is generated of the grammars' sources is committed, and is what would be generated now.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use super::{Grammar, PEST, graphs, read, rules};

/// What was generated of the source of a grammar, and the parser of it.
fn grammar(of: &Grammar) -> Value {
    serde_json::from_str(&read(&of.path("src/grammar.json"))).expect("JSON")
}

#[test]
fn the_description_names_files_that_are_there() {
    let text = read(&rules().path("tree-sitter.json"));
    let description: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(description["metadata"]["version"], env!("CARGO_PKG_VERSION"));
    let listed = description["grammars"].as_array().expect("grammars");
    for (entry, of) in listed.iter().zip([rules(), graphs()]) {
        assert_eq!(entry["name"], grammar(&of)["name"]);
        assert!(rules().path(entry["path"].as_str().expect("a path")).join("src/parser.c").is_file());
        for key in ["highlights", "locals", "injections", "tags"] {
            assert!(entry[key].as_str().is_none_or(|query| rules().path(query).is_file()), "{key}");
        }
    }
    assert_eq!(listed.len(), 2);
}

#[test]
fn the_generated_grammar_is_that_of_the_source() {
    let says = rules().path("test/grammar.js");
    for of in [rules(), graphs()] {
        let Ok(output) = Command::new("node").arg(&says).arg(of.path("grammar.js")).output() else {
            eprintln!("not tested: there is no Node.js here");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let source: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let mut generated = grammar(&of);
        generated.as_object_mut().expect("an object").remove("$schema");
        assert!(source == generated, "run `tree-sitter generate` in {}", of.folder);
    }
}

/// Where the generator is installed, and in the version that made the parsers, they are made again.
#[test]
fn the_generated_parser_is_what_the_generator_makes() {
    let version = Command::new("tree-sitter").arg("--version").output();
    if !version.is_ok_and(|output| output.stdout.starts_with(b"tree-sitter 0.27.1")) {
        eprintln!("not tested: there is no tree-sitter 0.27.1 here");
        return;
    }
    for of in [rules(), graphs()] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut generate = Command::new("tree-sitter");
        generate.args(["generate", "--output"]).arg(folder.path()).arg(of.path("src/grammar.json"));
        assert!(generate.current_dir(of.path("")).status().expect("the generator starts").success());
        for file in ["parser.c", "node-types.json", "tree_sitter/parser.h"] {
            let same = read(&folder.path().join(file)) == read(&of.path("src").join(file));
            assert!(same, "run `tree-sitter generate` in {}: {file}", of.folder);
        }
    }
}

/// All that a generated grammar mentions: names of nodes, words and signs, names of fields.
fn mentioned(
    rule: &Value,
    names: &mut BTreeSet<String>,
    words: &mut BTreeSet<String>,
    fields: &mut BTreeSet<String>,
) {
    let text = |key: &str| rule[key].as_str().unwrap_or_default().to_owned();
    match rule["type"].as_str() {
        Some("STRING") => _ = words.insert(text("value")),
        Some("FIELD") => _ = fields.insert(text("name")),
        Some("ALIAS") => {
            if rule["named"] == true { &mut *names } else { &mut *words }.insert(text("value"));
            // What is only ever seen under another name.
            if rule["content"]["type"] != "SYMBOL" && rule["content"]["type"] != "CHOICE" {
                return;
            }
        }
        _ => {}
    }
    let members = rule["members"].as_array().into_iter().flatten();
    for inner in members.chain(rule.get("content")) {
        mentioned(inner, names, words, fields);
    }
}

#[test]
fn the_parser_is_that_of_the_generated_grammar() {
    for of in [rules(), graphs()] {
        knows_what_is_generated(&of);
    }
}

fn knows_what_is_generated(of: &Grammar) {
    let (mut names, mut words, mut fields) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let grammar = grammar(of);
    let mut alone = BTreeSet::new();
    for (name, rule) in grammar["rules"].as_object().expect("rules") {
        names.insert(name.clone());
        // A word that is a rule and nothing else has the rule's name.
        let word = rule["value"].as_str().filter(|_| rule["type"] == "STRING");
        if word.is_none_or(|word| !alone.insert(word)) {
            mentioned(rule, &mut names, &mut words, &mut fields);
        }
    }
    let hidden =
        ["inline", "supertypes"].into_iter().flat_map(|key| grammar[key].as_array().expect("a list"));
    let inline: BTreeSet<&str> = hidden.filter_map(Value::as_str).collect();
    names.retain(|name| !name.starts_with('_') && !inline.contains(name.as_str()));
    let language = &of.language;
    let (mut known_names, mut known_words) = (BTreeSet::new(), BTreeSet::new());
    for id in 0..language.node_kind_count() as u16 {
        let kind = language.node_kind_for_id(id).expect("a kind").to_owned();
        match (language.node_kind_is_visible(id), language.node_kind_is_named(id)) {
            (true, true) => _ = known_names.insert(kind),
            (true, false) => _ = known_words.insert(kind),
            (false, _) => {}
        }
    }
    known_words.remove("end");
    let known_fields = (1..=language.field_count() as u16).filter_map(|id| language.field_name_for_id(id));
    let known_fields: BTreeSet<String> = known_fields.map(str::to_owned).collect();
    let advice = format!("run `tree-sitter generate` in {}", of.folder);
    for (said, known) in [(names, known_names), (words, known_words), (fields, known_fields)] {
        let differ: Vec<&String> = said.symmetric_difference(&known).collect();
        assert!(differ.is_empty(), "{advice}: {differ:?}");
    }
}

/// Rules of the language's grammar that have no node of their own: marks, looks ahead, one level of precedence.
const NO_NODES: [&str; 51] = [
    "WHITESPACE",
    "COMMENT",
    "wc",
    "gap",
    "lparen",
    "rparen",
    "lbrace",
    "rbrace",
    "lbracket",
    "rbracket",
    "comma",
    "semi",
    "colon",
    "question",
    "equals",
    "arrow",
    "to_arrow",
    "bar",
    "plus",
    "dot",
    "less",
    "greater",
    "reserved",
    "member",
    "operand",
    "minus",
    "eq",
    "ne",
    "le",
    "ge",
    "lt",
    "gt",
    "coalesce",
    "range",
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "postfix",
    "open_end",
    "asks_mark",
    "block_start",
    "quantifier_of",
    "asks_name",
    "base_type",
    "list_open",
    "set_term",
    "used",
    "else_if",
    "raw_piece",
];

#[test]
fn the_grammar_has_the_rules_of_the_language() {
    let grammar = grammar(&rules());
    let rules = grammar["rules"].as_object().expect("rules");
    let names = PEST.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()));
    let names: Vec<&str> = names.filter_map(|line| Some(line.split_once(" = ")?.0.trim())).collect();
    assert!(names.len() > 300, "{names:?}");
    let missing: Vec<&str> =
        names.into_iter().filter(|name| !name.starts_with("kw_") && !rules.contains_key(*name)).collect();
    assert_eq!(missing, NO_NODES);
}
