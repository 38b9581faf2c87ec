//! The Tree-sitter grammar for editors understands what the language understands, and refuses what it refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anchorwatch::lang::fmt::{errors, format};
use anchorwatch::lang::syntax::parse_file;
use anchorwatch::lang::syntax::scan::{Token, tokens};
use proptest::prelude::*;
use serde_json::{Value, json};
use tree_sitter::{Language, Node, Parser, Query, QueryCursor, StreamingIterator as _, Tree};

#[path = "support/lsp_client.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod lsp_client;
#[path = "support/reference.rs"]
mod reference;
#[path = "support/respaced.rs"]
mod respaced;
use respaced::{any_item, respaced, rule_files};

const FOLDER: &str = "editors/tree-sitter-anchor";

/// The grammar of the language itself.
const PEST: &str = include_str!("../grammar/anchor.pest");

/// The words of the language: every `kw_… = @{ "WORD" …` of its grammar.
fn keywords() -> BTreeSet<&'static str> {
    let words = PEST.lines().filter(|line| line.starts_with("kw_"));
    let words: BTreeSet<&str> = words.filter_map(|line| line.split('"').nth(1)).collect();
    assert!(words.len() > 100, "{words:?}");
    words
}

fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER).join(below)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn language() -> Language {
    tree_sitter_anchor::LANGUAGE.into()
}

fn parse(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser.set_language(&language()).expect("a grammar for this Tree-sitter");
    parser.parse(text, None).expect("a tree")
}

/// The first place that the grammar does not understand, if there is one.
fn misfit(text: &str) -> Option<String> {
    fn first(node: Node, text: &str) -> Option<String> {
        if node.is_error() || node.is_missing() {
            let line = node.start_position().row + 1;
            return Some(format!("line {line}: {node} {:?}", &text[node.byte_range()]));
        }
        let mut cursor = node.walk();
        let children: Vec<Node> = node.children(&mut cursor).filter(|child| child.has_error()).collect();
        children.into_iter().find_map(|child| first(child, text))
    }
    let tree = parse(text);
    tree.root_node().has_error().then(|| first(tree.root_node(), text).unwrap_or_default())
}

/// What the language refuses only when its grammar has understood the text.
const TOLD_LATER: [&str; 10] = [
    // Comparisons in a row, where the tree by precedence has no objection.
    "syntax::chained",
    // Clauses that lack one another or are too many, in any order.
    "syntax::checker",
    "syntax::twice",
    "syntax::marks",
    "syntax::set",
    // Numbers: cells of a row, the size of an integer, levels.
    "syntax::matrix",
    "syntax::number",
    "syntax::too-deep",
    // Lines: to Tree-sitter they are white space.
    "syntax::statement",
    // Names of types.
    "syntax::type",
];

/// `{x ?? "none"}` in a text, where `\"none\"` is wanted: a value is a value, wherever it stands.
const LENIENT: &str = "tests/ui/syntax/quotes_in_insertion.anchor";

#[test]
fn rule_files_are_understood_and_broken_ones_are_not() {
    let (mut good, mut bad) = (0, 0);
    for path in ["rules", "tests"].into_iter().flat_map(rule_files) {
        let text = read(&path);
        let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("a file of the repository");
        let wrong = errors(&parse_file(&text));
        let late = wrong.iter().all(|error| TOLD_LATER.contains(&error.code)) || name == Path::new(LENIENT);
        let found = misfit(&text);
        assert_eq!(found.is_none(), late, "{}: {found:?}, {wrong:#?}", name.display());
        if wrong.is_empty() { good += 1 } else { bad += 1 }
    }
    assert!(good > 250 && bad > 40, "{good} files without mistakes, {bad} with");
}

#[test]
fn examples_of_the_reference_are_understood() {
    for example in reference::examples() {
        assert_eq!(misfit(&example), None, "{example}");
    }
}

#[test]
fn a_byte_order_mark_and_carriage_returns_change_nothing() {
    assert_eq!(misfit("\u{feff}/// a\r\nset A = { B }\r\nset C = { D }\r\n"), None);
}

#[test]
fn an_edit_is_parsed_as_the_whole_text() {
    let before = "fn f(n: Node) -> Int = first { a => b  not c => d }\n";
    let after = before.replace("not c", "not in c, e");
    let mut parser = Parser::new();
    parser.set_language(&language()).expect("a grammar for this Tree-sitter");
    let mut tree = parser.parse(before, None).expect("a tree");
    let at = before.find("c =>").expect("the place");
    let point = |column| tree_sitter::Point { row: 0, column };
    tree.edit(&tree_sitter::InputEdit {
        start_byte: at,
        old_end_byte: at + 1,
        new_end_byte: at + "in c, e".len(),
        start_position: point(at),
        old_end_position: point(at + 1),
        new_end_position: point(at + "in c, e".len()),
    });
    let edited = parser.parse(&after, Some(&tree)).expect("a tree");
    assert_eq!(edited.root_node().to_sexp(), parse(&after).root_node().to_sexp());
    assert!(!edited.root_node().has_error(), "{}", edited.root_node());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_the_language_understands_is_understood(item in any_item(), gaps in prop::collection::vec(any::<u8>(), 1..200)) {
        let text = respaced(&item, &gaps);
        let formatted = format(&text);
        prop_assume!(formatted.is_ok());
        prop_assert_eq!(misfit(&text), None, "{}", text);
        let formatted = formatted.expect("just asked");
        prop_assert_eq!(misfit(&formatted), None, "{}", formatted);
    }
}

/// Words and marks that stand where others stood.
fn another(words: &[&'static str], pick: usize) -> &'static str {
    const MARKS: [&str; 22] = [
        "(", ")", "{", "}", "[", "]", ",", ";", ":", "=", "=>", "->", "==", "..", "-", "|", "x", "a.b", "Ab",
        "1", "\"t\"", "",
    ];
    let pick = pick % (words.len() + MARKS.len());
    words.get(pick).copied().unwrap_or_else(|| MARKS[pick - words.len()])
}

/// Keywords are names in many places: wherever the language says so, the grammar does. (Not in `isolate before or x`: there
/// `before` is the place and no name.)
#[test]
fn a_word_in_the_place_of_another_is_understood_as_the_language_does() {
    let words: Vec<&'static str> = keywords().into_iter().collect();
    let (items, picks) = (any_item(), (any::<usize>(), any::<usize>()));
    let config = ProptestConfig { cases: 2000, max_global_rejects: 100_000, ..ProptestConfig::default() };
    // The same texts in every run.
    let rng = proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha);
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(&(items, picks), |(item, (place, word))| {
        let tokens: Vec<Token> = tokens(&item).into_iter().filter(|token| !token.is_comment()).collect();
        let token = tokens[place % tokens.len()];
        let (before, after) = (&item[..token.span.start as usize], &item[token.span.end as usize..]);
        let text = format!("{before}{}{after}", another(&words, word));
        let wrong = errors(&parse_file(&text));
        prop_assume!(wrong.iter().all(|error| TOLD_LATER.contains(&error.code)));
        prop_assume!(!before.ends_with("isolate before ") && !before.ends_with("isolate after "));
        prop_assert_eq!(misfit(&text), None, "{}", text);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

// ---- what is generated ----

fn grammar() -> Value {
    serde_json::from_str(&read(&path("src/grammar.json"))).expect("JSON")
}

#[test]
fn the_generated_grammar_is_that_of_the_source() {
    let Ok(output) = Command::new("node").arg(path("test/grammar.js")).arg(path("grammar.js")).output()
    else {
        eprintln!("not tested: there is no Node.js here");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let source: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut generated = grammar();
    generated.as_object_mut().expect("an object").remove("$schema");
    assert!(source == generated, "run `tree-sitter generate` in {FOLDER}");
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
    let (mut names, mut words, mut fields) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let grammar = grammar();
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
    let language = language();
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
    let advice = format!("run `tree-sitter generate` in {FOLDER}");
    for (said, known) in [(names, known_names), (words, known_words), (fields, known_fields)] {
        let differ: Vec<&String> = said.symmetric_difference(&known).collect();
        assert!(differ.is_empty(), "{advice}: {differ:?}");
    }
}

/// Rules of the language's grammar that have no node of their own: marks, looks ahead, one level of precedence.
const NO_NODES: [&str; 50] = [
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
    let grammar = grammar();
    let rules = grammar["rules"].as_object().expect("rules");
    let names = PEST.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()));
    let names: Vec<&str> = names.filter_map(|line| Some(line.split_once(" = ")?.0.trim())).collect();
    assert!(names.len() > 300, "{names:?}");
    let missing: Vec<&str> =
        names.into_iter().filter(|name| !name.starts_with("kw_") && !rules.contains_key(*name)).collect();
    assert_eq!(missing, NO_NODES);
}

// ---- trees ----

/// `==== / name / ==== / text / ---- / tree`, as `tree-sitter test` reads it.
fn entries(file: &str) -> Vec<(String, String, String)> {
    let bar = |line: &str, mark: char| line.len() > 2 && line.chars().all(|c| c == mark);
    let mut entries = Vec::new();
    let mut lines = file.lines().peekable();
    while let Some(line) = lines.next() {
        if !bar(line, '=') {
            continue;
        }
        let name = lines.next().expect("a name").to_owned();
        assert!(lines.next().is_some_and(|line| bar(line, '=')), "{name}: a bar ends the head");
        let mut until = |mark: char| {
            let mut text = String::new();
            while let Some(line) = lines.next_if(|line| !bar(line, mark)) {
                text = text + line + "\n";
            }
            text
        };
        let text = until('-');
        let tree = until('=');
        entries.push((name, text, tree.trim_start_matches('-').to_owned()));
    }
    entries
}

#[test]
fn texts_have_the_trees_of_the_corpus() {
    let mut count = 0;
    for file in fs::read_dir(path("test/corpus")).expect("the corpus") {
        let file = file.expect("an entry").path();
        for (name, text, tree) in entries(&read(&file)) {
            let words: Vec<&str> = tree.split_whitespace().collect();
            let wanted = words.join(" ").replace(" )", ")");
            assert_eq!(parse(&text).root_node().to_sexp(), wanted, "{}: {name}", file.display());
            count += 1;
        }
    }
    assert!(count > 20, "only {count} entries");
}

// ---- queries ----

/// What a query captures of a text, by place.
fn captures(query: &str, text: &str) -> BTreeMap<(usize, usize), BTreeSet<String>> {
    let source = read(&path(query));
    let query = Query::new(&language(), &source).unwrap_or_else(|error| panic!("{query}: {error}"));
    let tree = parse(text);
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
        ("locals", "local.definition"),
        ("textobjects", "function.inside"),
        ("indents", "indent.begin"),
        ("tags", "definition.function"),
    ] {
        let found = captures(&format!("queries/{file}.scm"), &all);
        assert!(found.values().filter(|names| names.contains(wanted)).count() > 100, "{file}: {wanted}");
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
        for ((start, end), names) in captures("queries/highlights.scm", text) {
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
        let captured = captures("queries/highlights.scm", &text);
        let tree = parse(&text);
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
