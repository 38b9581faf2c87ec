//! What editors know of the language is what the language is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

fn json(below: &str) -> Value {
    let text = fs::read_to_string(path(below)).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

/// The words of the language: every `kw_… = @{ "WORD" …` of its grammar.
fn keywords() -> BTreeSet<String> {
    let grammar = fs::read_to_string(path("grammar/anchor.pest")).expect("the grammar");
    let words = grammar.lines().filter(|line| line.starts_with("kw_"));
    let words: BTreeSet<String> = words.filter_map(|line| Some(line.split('"').nth(1)?.to_owned())).collect();
    assert!(words.len() > 100 && words.contains("isolate") && words.contains("has_attr"), "{words:?}");
    words
}

#[test]
fn the_grammar_of_editors_has_the_words_of_the_language() {
    let grammar = json("editors/vscode/syntaxes/anchor.tmLanguage.json");
    let patterns = grammar["repository"]["words"]["patterns"].as_array().expect("patterns of words");
    let mut found = BTreeSet::new();
    for pattern in patterns {
        let words = pattern["match"].as_str().expect("a pattern");
        let words = words.strip_prefix(r"(?<![.\w])(?:").and_then(|rest| rest.strip_suffix(r")(?!\w)"));
        for word in words.expect("a list of words").split('|') {
            assert!(found.insert(word.to_owned()), "`{word}` is in two lists");
        }
    }
    let known = keywords();
    let missing: Vec<_> = known.difference(&found).collect();
    let invented: Vec<_> = found.difference(&known).collect();
    assert!(missing.is_empty() && invented.is_empty(), "missing {missing:?}, invented {invented:?}");
}

/// A snippet's text with its first choices and defaults in place.
fn filled(body: &str) -> String {
    let mut text = String::new();
    let mut rest = body;
    while let Some((before, behind)) = rest.split_once('$') {
        text += before;
        let Some((hole, after)) = behind.strip_prefix('{').and_then(|behind| behind.split_once('}')) else {
            // `$0`: nothing stands there.
            rest = behind.trim_start_matches(|c: char| c.is_ascii_digit());
            continue;
        };
        let (_, default) = hole.split_once([':', '|']).expect("a hole with a default");
        text += default.trim_end_matches('|').split(',').next().unwrap_or_default();
        rest = after;
    }
    text + rest
}

/// The texts of all snippets of a file, by prefix.
fn snippets(below: &str) -> Vec<(String, String)> {
    let file = json(below);
    let all = file.as_object().expect("an object").values().map(|snippet| {
        let lines = snippet["body"].as_array().expect("lines").iter();
        let body: Vec<&str> = lines.map(|line| line.as_str().expect("a line")).collect();
        let body = body.join("\n").replace('\t', "  ");
        (snippet["prefix"].as_str().expect("a prefix").to_owned(), filled(&body))
    });
    all.collect()
}

#[test]
fn every_snippet_is_an_entry() {
    let snippets = snippets("editors/vscode/snippets/anchor.json");
    assert!(snippets.len() > 8, "{snippets:?}");
    for (prefix, text) in snippets {
        let parsed = anchorwatch::lang::syntax::parse_file(&text);
        let wrong = anchorwatch::lang::fmt::errors(&parsed);
        assert!(wrong.is_empty() && parsed.items.len() == 1, "{prefix}: {wrong:?}\n{text}");
        let formatted = anchorwatch::lang::fmt::format(&text).expect("text without errors");
        assert_eq!(formatted.trim_end(), text.trim_end(), "{prefix} has the form that `fmt` gives");
    }
}

#[test]
fn every_snippet_of_a_graph_is_notation() {
    for (prefix, text) in snippets("editors/vscode/snippets/anchor-graph.json") {
        let (graph, wrong) = anchorwatch::format::notation::parse(&text);
        assert!(wrong.is_empty() && graph.is_some(), "{prefix}: {wrong:?}\n{text}");
    }
}

#[test]
fn the_extension_names_files_that_are_there() {
    let package = json("editors/vscode/package.json");
    let contributes = &package["contributes"];
    let mut named = vec![package["main"].as_str().expect("a path").to_owned()];
    for (list, key) in [("languages", "configuration"), ("grammars", "path"), ("snippets", "path")] {
        let entries = contributes[list].as_array().expect("a list");
        named.extend(entries.iter().map(|entry| entry[key].as_str().expect("a path").to_owned()));
    }
    for file in named {
        assert!(path("editors/vscode").join(&file).is_file(), "{file}");
    }
    assert_eq!(package["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_hooks_name_commands_that_there_are() {
    let hooks = fs::read_to_string(path(".pre-commit-hooks.yaml")).expect("the hooks");
    let entries: Vec<&str> = hooks.lines().filter_map(|line| line.trim().strip_prefix("entry: ")).collect();
    assert_eq!(entries.len(), 3, "{entries:?}");
    for entry in entries {
        let words: Vec<&str> = entry.split_whitespace().collect();
        assert_eq!(words[0], "anchorwatch");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_anchorwatch"));
        let output = command.args(&words[1..]).arg("--help").output().expect("the program starts");
        assert!(output.status.success(), "{entry}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
