//! The Tree-sitter grammars for editors understand what the languages understand, and refuse what they refuse.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anchorwatch::format::notation;
use anchorwatch::lang::fmt::{errors, format};
use anchorwatch::lang::syntax::parse_file;
use anchorwatch::lang::syntax::scan::{Token, tokens};
use proptest::prelude::*;
use tree_sitter::{InputEdit, Language, Node, Parser, Point, Tree};

#[path = "tree_sitter/colours.rs"]
mod colours;
#[path = "tree_sitter/generated.rs"]
mod generated;
#[path = "support/reference.rs"]
mod reference;
#[path = "support/respaced.rs"]
mod respaced;
use respaced::{any_item, files, respaced, rule_files};

/// A grammar for editors.
struct Grammar {
    folder: &'static str,
    language: Language,
}

/// That of rule files.
fn rules() -> Grammar {
    Grammar { folder: "editors/tree-sitter-anchor", language: tree_sitter_anchor::LANGUAGE.into() }
}

/// That of the graph notation.
fn graphs() -> Grammar {
    Grammar {
        folder: "editors/tree-sitter-anchor/graph",
        language: tree_sitter_anchor::GRAPH_LANGUAGE.into(),
    }
}

impl Grammar {
    fn path(&self, below: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(self.folder).join(below)
    }

    fn parser(&self) -> Parser {
        let mut parser = Parser::new();
        parser.set_language(&self.language).expect("a grammar for this Tree-sitter");
        parser
    }

    fn parse(&self, text: &str) -> Tree {
        self.parser().parse(text, None).expect("a tree")
    }

    /// The first place that the grammar does not understand, if there is one.
    fn misfit(&self, text: &str) -> Option<String> {
        fn first(node: Node, text: &str) -> Option<String> {
            if node.is_error() || node.is_missing() {
                let line = node.start_position().row + 1;
                return Some(format!("line {line}: {node} {:?}", &text[node.byte_range()]));
            }
            let mut cursor = node.walk();
            let children: Vec<Node> = node.children(&mut cursor).filter(|child| child.has_error()).collect();
            children.into_iter().find_map(|child| first(child, text))
        }
        let tree = self.parse(text);
        tree.root_node().has_error().then(|| first(tree.root_node(), text).unwrap_or_default())
    }
}

/// [`Grammar::misfit`] of rules.
fn misfit(text: &str) -> Option<String> {
    rules().misfit(text)
}

/// The grammar of the language itself.
const PEST: &str = include_str!("../grammar/anchor.pest");

/// The words of the language: every `kw_… = @{ "WORD" …` of its grammar.
fn keywords() -> BTreeSet<&'static str> {
    let words = PEST.lines().filter(|line| line.starts_with("kw_"));
    let words: BTreeSet<&str> = words.filter_map(|line| line.split('"').nth(1)).collect();
    assert!(words.len() > 100, "{words:?}");
    words
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
    let mut parser = rules().parser();
    let mut tree = parser.parse(before, None).expect("a tree");
    let start = before.find("c =>").expect("the place");
    let (old_end, new_end) = (start + "c".len(), start + "in c, e".len());
    let point = |column| Point { row: 0, column };
    tree.edit(&InputEdit {
        start_byte: start,
        old_end_byte: old_end,
        new_end_byte: new_end,
        start_position: point(start),
        old_end_position: point(old_end),
        new_end_position: point(new_end),
    });
    let edited = parser.parse(&after, Some(&tree)).expect("a tree");
    assert_eq!(edited.root_node().to_sexp(), rules().parse(&after).root_node().to_sexp());
    assert!(!edited.root_node().has_error(), "{}", edited.root_node());
}

/// All graphs in files of the notation, and those in tests of rules.
fn graph_texts() -> Vec<(String, String)> {
    fn raw(node: Node, text: &str, found: &mut Vec<String>) {
        if node.kind() == "raw_graph" {
            found.push(text[node.start_byte() + 1..node.end_byte() - 1].to_owned());
        }
        node.children(&mut node.walk()).for_each(|child| raw(child, text, found));
    }
    let mut texts = Vec::new();
    for path in files("tests", "graph") {
        texts.extend(fs::read_to_string(&path).ok().map(|text| (path.display().to_string(), text)));
    }
    for path in ["rules", "tests/scenarios", "tests/overlays"].into_iter().flat_map(rule_files) {
        let text = read(&path);
        let mut found = Vec::new();
        raw(rules().parse(&text).root_node(), &text, &mut found);
        texts.extend(found.into_iter().map(|graph| (path.display().to_string(), graph)));
    }
    texts
}

#[test]
fn graphs_are_understood() {
    let (mut good, mut bad) = (0, 0);
    for (name, text) in graph_texts() {
        let (graph, wrong) = notation::parse(&text);
        if graph.is_some() && wrong.is_empty() {
            assert_eq!(graphs().misfit(&text), None, "{name}\n{text}");
            good += 1;
        } else {
            bad += usize::from(graphs().misfit(&text).is_some());
        }
    }
    assert!(good > 500 && bad > 4, "{good} graphs without mistakes, {bad} with some that the grammar sees");
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
    for grammar in [rules(), graphs()] {
        for file in fs::read_dir(grammar.path("test/corpus")).expect("the corpus") {
            let file = file.expect("an entry").path();
            for (name, text, tree) in entries(&read(&file)) {
                let words: Vec<&str> = tree.split_whitespace().collect();
                let wanted = words.join(" ").replace(" )", ")");
                assert_eq!(grammar.parse(&text).root_node().to_sexp(), wanted, "{}: {name}", file.display());
                count += 1;
            }
        }
    }
    assert!(count > 40, "only {count} entries");
}
