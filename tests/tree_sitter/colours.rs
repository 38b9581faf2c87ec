//! The queries of the grammars, and what they say of the words of rules and graphs.

use std::collections::{BTreeMap, BTreeSet};

use anchorwatch::lang::fmt::errors;
use anchorwatch::lang::syntax::parse_file;
use serde_json::{Value, json};
use tree_sitter::{Node, Query, QueryCursor, StreamingIterator as _, Tree};

use super::{Grammar, graph_texts, graphs, keywords, read, reference, respaced::rule_files, rules};

#[path = "../support/lsp_client.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod lsp_client;

/// What a query captures of a text, by place.
fn captures(grammar: &Grammar, query: &str, text: &str) -> BTreeMap<(usize, usize), BTreeSet<String>> {
    let source = read(&grammar.path(query));
    let query = Query::new(&grammar.language, &source).unwrap_or_else(|error| panic!("{query}: {error}"));
    let tree = grammar.parse(text);
    let mut cursor = QueryCursor::new();
    let mut found = BTreeMap::<_, BTreeSet<String>>::new();
    let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
    while let Some(one) = matches.next() {
        for capture in one.captures() {
            let place = (capture.node.start_byte(), capture.node.end_byte());
            let name = query.capture_names()[capture.index as usize];
            found.entry(place).or_default().insert(name.to_owned());
        }
    }
    found
}

/// All rule files that the language understands.
fn texts() -> Vec<String> {
    let files = ["rules", "tests"].into_iter().flat_map(rule_files).map(|path| read(&path));
    files.chain(reference::examples()).filter(|text| errors(&parse_file(text)).is_empty()).collect()
}

#[test]
fn every_query_captures_something() {
    let texts = texts();
    let all = texts.join("\n");
    for (file, wanted) in [
        ("folds", "fold"),
        ("injections", "injection.content"),
        ("locals", "local.definition.variable"),
        ("textobjects", "function.inside"),
        ("indents", "indent.begin"),
        ("tags", "definition.function"),
    ] {
        let found = captures(&rules(), &format!("queries/{file}.scm"), &all);
        assert!(found.values().filter(|names| names.contains(wanted)).count() > 100, "{file}: {wanted}");
    }
}

#[test]
fn every_word_of_a_graph_has_one_colour() {
    let mut seen = BTreeSet::new();
    for (name, text) in graph_texts() {
        for ((start, end), names) in captures(&graphs(), "queries/highlights.scm", &text) {
            assert_eq!(names.len(), 1, "{name}: {:?} has {names:?}", &text[start..end]);
            seen.extend(names);
        }
        captures(&graphs(), "queries/folds.scm", &text);
        captures(&graphs(), "queries/indents.scm", &text);
    }
    for wanted in
        ["keyword", "type", "label", "property", "string", "number", "boolean", "comment", "variable"]
    {
        assert!(seen.contains(wanted), "{wanted}: {seen:?}");
    }
}

/// Names of captures for words of the language.
fn is_of_the_language(capture: &str) -> bool {
    capture.starts_with("keyword") || matches!(capture, "boolean" | "constant.builtin")
}

#[test]
fn every_word_of_the_language_and_no_other_has_its_colour() {
    let texts = texts();
    let mut seen = BTreeSet::new();
    for text in &texts {
        for ((start, end), names) in captures(&rules(), "queries/highlights.scm", text) {
            let of_the_language = names.iter().any(|name| is_of_the_language(name));
            assert_eq!(names.len(), 1, "{:?} has {names:?}", &text[start..end]);
            if of_the_language {
                seen.insert(&text[start..end]);
            }
        }
    }
    assert_eq!(seen, keywords());
}

/// The nodes at a place, from the innermost outwards.
fn around(tree: &Tree, at: usize) -> impl Iterator<Item = Node<'_>> {
    let innermost = tree.root_node().descendant_for_byte_range(at, at + 1);
    std::iter::successors(innermost, Node::parent)
}

/// Where the server knows more than the grammar, or less.
fn may_differ(token: &str, tree: &Tree, at: usize) -> bool {
    let inside = |kind: &str| around(tree, at).any(|node| node.kind() == kind);
    let is_name = around(tree, at).next().is_some_and(|node| matches!(node.kind(), "name" | "dotted"));
    match token {
        // What a bare name means.
        "variable" | "function" | "enumMember" => is_name,
        // A word that it knows nothing of is a keyword to the server, even where only a name can stand.
        "keyword" if is_name => true,
        // Marks of an inserted value are parts of the text to it.
        "string" if inside("inserted") => true,
        // Graphs are coloured by the grammar of theirs.
        _ => inside("raw"),
    }
}

/// The captures that tell the same as a type of semantic tokens.
fn alike(token: &str) -> &'static [&'static str] {
    match token {
        // `any` is a type, too.
        "keyword" => &["keyword", "boolean", "constant.builtin", "type.builtin"],
        "comment" => &["comment"],
        "string" => &["string"],
        "number" => &["number"],
        "type" | "class" | "enum" | "enumMember" | "decorator" => &["type", "constant"],
        "function" | "event" => &["function", "label"],
        "property" | "parameter" => &["property", "variable.member", "function.method"],
        _ => &[],
    }
}

#[test]
fn colours_agree_with_the_language_server() {
    let mut client = lsp_client::Client::start();
    let answer = client.initialize(None, json!({"general": {"positionEncodings": ["utf-8"]}}));
    let legend = &answer["result"]["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"];
    let types: Vec<&str> = legend.as_array().expect("types").iter().filter_map(Value::as_str).collect();
    let (mut count, mut wrong) = (0, BTreeSet::new());
    for path in rule_files("rules") {
        let text = read(&path);
        let uri = format!("file://{}", path.display());
        let document = json!({"uri": uri, "languageId": "anchor", "version": 1, "text": text});
        client.notify("textDocument/didOpen", json!({"textDocument": document}));
        let answer = client.ask("textDocument/semanticTokens/full", json!({"textDocument": {"uri": uri}}));
        let lines: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let captured = captures(&rules(), "queries/highlights.scm", &text);
        let tree = rules().parse(&text);
        let (mut line, mut column) = (0, 0);
        let data = answer["result"]["data"].as_array().expect("tokens");
        for token in data.chunks(5) {
            let number = |at: usize| token[at].as_u64().expect("a number") as usize;
            column = if number(0) == 0 { column + number(1) } else { number(1) };
            line += number(0);
            let start = lines[line] + column;
            let kind = types[number(3)];
            let innermost = captured.range(..=(start, usize::MAX)).next_back();
            let names = innermost.filter(|((_, end), _)| start < *end).map(|(_, names)| names);
            let fits = alike(kind)
                .iter()
                .any(|wanted| names.is_some_and(|names| names.iter().any(|name| name.starts_with(wanted))));
            let word = &text[start..start + number(2)];
            if !fits && !may_differ(kind, &tree, start) {
                wrong.insert(format!("`{word}` is a {kind} and has {names:?}"));
            }
            count += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 10_000, "{count} tokens");
    assert_eq!(client.end(), Some(0));
}
