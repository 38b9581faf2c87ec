//! Laws of the source text: Rust knows no policy (`design.md` 1), a room imports from lower rooms, files are short.
//!
//! Code that only tests compile (under `#[cfg(test)]`, or in a file whose `mod` line stands under it) is free: a
//! test may name what it tests.

#[path = "support/files.rs"]
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anchorwatch::engine::RuleSources;
use anchorwatch::lang::syntax::ast::{AttrPlace, ExprKind, Item, ItemData, Kind, SetTerm};
use anchorwatch::lang::syntax::parse_file;
use files::files;

// ---- Rust, as far as the laws need it ----

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// Text between quotes, as written.
    Text(String),
    Comment(String),
    Mark(char),
}

/// Tokens with the number of their line.
fn tokens(source: &str) -> Vec<(Token, usize)> {
    let chars: Vec<char> = source.chars().collect();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    let starts = |at: usize, text: &str| text.chars().enumerate().all(|(n, c)| chars.get(at + n) == Some(&c));
    while at < chars.len() {
        let (start, first_line) = (at, line);
        let token = match chars[at] {
            '/' if starts(at, "//") => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
                Some(Token::Comment(chars[start..at].iter().collect()))
            }
            '/' if starts(at, "/*") => {
                let mut depth = 0;
                loop {
                    if starts(at, "/*") {
                        depth += 1;
                        at += 2;
                    } else if starts(at, "*/") {
                        depth -= 1;
                        at += 2;
                    } else {
                        at += 1;
                    }
                    if depth == 0 || at >= chars.len() {
                        break;
                    }
                }
                Some(Token::Comment(chars[start..at.min(chars.len())].iter().collect()))
            }
            'r' | 'b' | 'c' if raw_start(&chars, at).is_some() => {
                let (from, hashes) = raw_start(&chars, at).expect("just asked");
                let end = format!("\"{}", "#".repeat(hashes));
                at = from;
                while at < chars.len() && !starts(at, &end) {
                    at += 1;
                }
                let text = chars[from..at].iter().collect();
                at += end.len();
                Some(Token::Text(text))
            }
            '"' => {
                at += 1;
                while at < chars.len() && chars[at] != '"' {
                    at += if chars[at] == '\\' { 2 } else { 1 };
                }
                at += 1;
                Some(Token::Text(chars[start + 1..(at - 1).min(chars.len())].iter().collect()))
            }
            // A character; otherwise a lifetime, whose name is a word.
            '\'' if chars.get(at + 1) == Some(&'\\') => {
                at += 3;
                while at < chars.len() && chars[at] != '\'' {
                    at += 1;
                }
                at += 1;
                None
            }
            '\'' if chars.get(at + 2) == Some(&'\'') => {
                at += 3;
                None
            }
            c if c.is_alphanumeric() || c == '_' => {
                while at < chars.len() && (chars[at].is_alphanumeric() || chars[at] == '_') {
                    at += 1;
                }
                Some(Token::Word(chars[start..at].iter().collect()))
            }
            c => {
                at += 1;
                (!c.is_whitespace()).then_some(Token::Mark(c))
            }
        };
        line += chars[start..at.min(chars.len())].iter().filter(|c| **c == '\n').count();
        found.extend(token.map(|token| (token, first_line)));
    }
    found
}

/// Where the text of a raw string begins, and how many `#` close it.
fn raw_start(chars: &[char], at: usize) -> Option<(usize, usize)> {
    let r = if matches!(chars[at], 'b' | 'c') { at + 1 } else { at };
    if chars.get(r) != Some(&'r') || (at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_')) {
        return None;
    }
    let hashes = chars[r + 1..].iter().take_while(|c| **c == '#').count();
    (chars.get(r + 1 + hashes) == Some(&'"')).then_some((r + 2 + hashes, hashes))
}

/// The tokens that a build without tests has, and the modules that only tests have.
fn shipped_tokens(source: &str) -> (Vec<(Token, usize)>, Vec<String>) {
    let all = tokens(source);
    let (mut kept, mut test_modules) = (Vec::new(), Vec::new());
    let is = |at: usize, wanted: &str| match all.get(at) {
        Some((Token::Word(word), _)) => word == wanted,
        Some((Token::Mark(mark), _)) => wanted.chars().eq([*mark]),
        _ => false,
    };
    let mut at = 0;
    while at < all.len() {
        let gate = ["#", "[", "cfg", "(", "test", ")", "]"];
        if !gate.iter().enumerate().all(|(n, wanted)| is(at + n, wanted)) {
            kept.push(all[at].clone());
            at += 1;
            continue;
        }
        at += gate.len();
        // What is gated ends with its block, or with `;` or `,` before any block.
        let mut depth = 0usize;
        let start = at;
        while at < all.len() {
            match &all[at].0 {
                Token::Mark('{' | '(' | '[') => depth += 1,
                Token::Mark('}') if depth == 1 => break,
                Token::Mark('}' | ')' | ']') => depth = depth.saturating_sub(1),
                Token::Mark(';' | ',') if depth == 0 => break,
                _ => {}
            }
            at += 1;
        }
        let gated = &all[start..at];
        let module = gated.iter().position(|(token, _)| *token == Token::Word("mod".to_owned()));
        if let Some(Token::Word(name)) = module.and_then(|m| gated.get(m + 1)).map(|(token, _)| token)
            && !gated.iter().any(|(token, _)| *token == Token::Mark('{'))
        {
            // `#[path = "…"]` names the file.
            let path = gated.iter().find_map(|(token, _)| match token {
                Token::Text(path) => Some(path.clone()),
                _ => None,
            });
            test_modules.push(path.unwrap_or_else(|| name.clone()));
        }
        at += 1;
    }
    (kept, test_modules)
}

/// All files below `src/` that are part of the program, with their tokens.
fn program() -> BTreeMap<PathBuf, Vec<(Token, usize)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = files("src", "rs");
    let mut program = BTreeMap::new();
    let mut tests = BTreeSet::new();
    for file in files {
        let source = fs::read_to_string(&file).expect("a source file");
        let (tokens, test_modules) = shipped_tokens(&source);
        let stem = file.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        let beside = file.parent().expect("a folder").to_owned();
        let dir = if ["mod", "lib", "main"].contains(&stem) { beside.clone() } else { beside.join(stem) };
        for module in test_modules {
            tests.insert(dir.join(format!("{module}.rs")));
            tests.insert(if module.ends_with(".rs") { beside.join(module) } else { dir.join(module) });
        }
        program.insert(file.strip_prefix(&root).expect("below src").to_owned(), tokens);
    }
    program.retain(|file, _| !tests.iter().any(|test| root.join(file).starts_with(test)));
    program
}

// ---- Rust knows no policy ----

/// The words of the rules.
#[derive(Default)]
struct Policy {
    /// What names a thing of the target: operator types, attributes, options, marks, passes, checkers ...
    names: BTreeSet<String>,
    /// Names of functions, walks, actions and tables. Rust reaches these by a text only, and may well have a function
    /// of its own with the same name.
    helpers: BTreeSet<String>,
}

/// Rule words that are words of the language too, so Rust must know them.
/// `Input`: the type of an input anchor (an operator type of the same name exists). `index`: the position of an anchor (an
/// attribute of the same name exists). `prepare`: the option by which the command line hands on `--no-prepare`.
const LANGUAGE: [&str; 3] = ["Input", "index", "prepare"];

impl Policy {
    fn shipped() -> Policy {
        let mut policy = Policy::default();
        for (path, text, _) in RuleSources::shipped().files {
            for item in parse_file(&text).items {
                policy.add(&item.item.unwrap_or_else(|| panic!("{path} has a syntax error")));
            }
        }
        for word in LANGUAGE {
            policy.names.remove(word);
        }
        policy
    }

    fn add(&mut self, item: &Item) {
        let name = item.name.text.as_str().to_owned();
        match item.kind {
            Kind::Fn | Kind::Walk | Kind::Action | Kind::Table | Kind::Symbols => self.helpers.insert(name),
            Kind::Test | Kind::Never | Kind::Always | Kind::DefaultAlways => false,
            _ => self.names.insert(name),
        };
        match &item.data {
            ItemData::Set { terms, .. } => {
                for term in terms {
                    if let SetTerm::Literal(elements) = term {
                        elements.iter().for_each(|e| self.element(&e.kind));
                    }
                }
            }
            ItemData::Table { rows, .. } => {
                for (key, value) in rows {
                    self.element(&key.kind);
                    self.element(&value.kind);
                }
            }
            ItemData::Attr { aliases, places, .. } => {
                debug_assert!(places.iter().all(|(place, _)| *place <= AttrPlace::Output));
                self.names.extend(aliases.iter().map(|alias| alias.text.as_str().to_owned()));
            }
            _ => {}
        }
    }

    /// An element of a set or a table: operator types stand as bare words.
    fn element(&mut self, element: &ExprKind) {
        if let ExprKind::Name(name) = element {
            self.names.insert(name.as_str().to_owned());
        }
    }

    /// What is wrong with a token.
    fn broken_by(&self, token: &Token) -> Vec<String> {
        let (text, of) = match token {
            Token::Mark(_) => return Vec::new(),
            Token::Text(text) => {
                // A plain word stands for a rule only if it is the whole text; else it is part of a sentence.
                let whole = text.as_str();
                let known = |word: &str| self.names.contains(word) || self.helpers.contains(word);
                return words(text)
                    .into_iter()
                    .filter(|w| known(w) && (*w == whole || !is_plain(w)))
                    .collect();
            }
            Token::Word(text) => (text, "identifier"),
            Token::Comment(text) => (text, "comment"),
        };
        // `If`, `Range` or `Const` in Rust are not operators.
        let telling = |word: &String| self.names.contains(word) && is_telling(word);
        words(text).into_iter().filter(telling).map(|word| format!("{word} ({of})")).collect()
    }
}

/// Only small letters: may be English.
fn is_plain(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase())
}

/// Not a word that English or Rust would use by accident: has `_`, `.`, a digit, or a capital behind a small letter.
fn is_telling(word: &str) -> bool {
    let mut before = ' ';
    word.chars().any(|c| {
        let hump = before.is_lowercase() && c.is_uppercase();
        before = c;
        hump || c == '_' || c == '.' || c.is_ascii_digit()
    })
}

/// Whole words of a text, those with dots also as one.
fn words(text: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = BTreeSet::new();
    for dotted in text.split(|c| !(is_word(c) || c == '.')) {
        found.insert(dotted.trim_matches('.').to_owned());
        found.extend(dotted.split('.').map(str::to_owned));
    }
    found
}

fn violations(policy: &Policy, tokens: &[(Token, usize)]) -> Vec<String> {
    let of = |(token, line): &(Token, usize)| {
        policy.broken_by(token).into_iter().map(|word| format!("{line}: {word}")).collect::<Vec<_>>()
    };
    tokens.iter().flat_map(of).collect()
}

#[test]
fn rust_knows_no_policy() {
    let policy = Policy::shipped();
    let mut broken = Vec::new();
    for (file, tokens) in program() {
        if !file.starts_with("format") {
            broken.extend(
                violations(&policy, &tokens).into_iter().map(|v| format!("src/{}:{v}", file.display())),
            );
        }
    }
    assert!(broken.is_empty(), "words of the rules in Rust:\n{}", broken.join("\n"));
}

#[test]
fn the_words_of_the_rules_are_found() {
    let policy = Policy::shipped();
    for name in [
        "NetOutput",
        "PhonyConcat",
        "continuous_input",
        "ge.topoSortingMode",
        "USER_MEMORY_INPUT",
        "layout",
        "compile",
        "_nopadding_continuous_input",
        "DATA_LIKE",
        "compile_order",
        "RealDiv",
        "unrefresh_in",
    ] {
        assert!(policy.names.contains(name), "{name}");
    }
    for name in ["takes_block", "real_source", "memory", "copy_before", "ONNX_TYPES"] {
        assert!(policy.helpers.contains(name), "{name}");
    }
}

/// The scanner itself: what breaks the law, and the twin that does not.
#[test]
fn the_scanner_sees_a_violation() {
    let policy = Policy::shipped();
    let found = |source: &str| violations(&policy, &shipped_tokens(source).0);
    let breaks = [
        r#"if node.ty == "NetOutput" {}"#,
        r#"let s = "takes a Relu node";"#,
        r##"let s = r#"say "continuous_input""#;"##,
        r#"let s = b"RefData";"#,
        r#"session.call("takes_block", args)"#,
        r#"run("layout")"#,
        r#"option("ge.topoSortingMode")"#,
        "fn is(USER_MEMORY_INPUT: u32) {}",
        "enum Op { PhonyConcat }",
        "let continuous_input = true;",
        "/// Looks at `continuous_input`.\nfn f() {}",
        "// such as NetOutput\nfn f() {}",
        "/* a /* PhonyConcat */ */",
        "#[cfg(test)]\nmod tests { fn f() {} }\nconst A: &str = \"NetOutput\";",
        "#[cfg(test)]\nmod tests;\nconst A: &str = \"NetOutput\";",
        "#[cfg(test)]\nfn f() -> [u8; 2] { g({}) }\nconst A: &str = \"NetOutput\";",
        "#[cfg(not(test))]\nconst A: &str = \"NetOutput\";",
        "let c = '\"'; let s = \"NetOutput\";",
        "fn f<'a>(s: &'a str) { g(\"NetOutput\") }",
    ];
    for source in breaks {
        assert_eq!(found(source).len(), 1, "{source}: {:?}", found(source));
    }
    let keeps = [
        r#"let s = "NetOutputs and aNetOutput";"#,
        r#"let s = "the layout of the table";"#,
        "Expr::If { condition } if Range::is_empty(x) => Const::Int(1)",
        "// If so, see layout.md 3",
        "fn takes_block() {}",
        "#[cfg(test)]\nmod tests { const A: &str = \"NetOutput\"; }",
        "#[cfg(test)]\nconst A: &str = \"NetOutput\";\nfn f() {}",
        "let s = \"\\\"\"; // fine",
    ];
    for source in keeps {
        assert_eq!(found(source), Vec::<String>::new(), "{source}");
    }
    assert_eq!(violations(&policy, &shipped_tokens("\n\nf(\"Relu\")").0), ["3: Relu"]);
    assert_eq!(shipped_tokens("#[cfg(test)]\nmod sort_tests;\nmod sort;").1, ["sort_tests"]);
    assert_eq!(shipped_tokens("#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;").1, ["x_tests.rs"]);
}

// ---- A room imports from lower rooms ----

/// What each room may import from, besides itself.
const ROOMS: [(&str, &[&str]); 10] = [
    ("graph", &[]),
    ("format", &["graph"]),
    ("lang", &["graph"]),
    ("db", &["graph", "lang"]),
    ("engine", &["graph", "format", "lang", "db"]),
    ("audit", &["graph", "format", "lang", "db", "engine"]),
    ("report", &["graph", "format", "lang", "db", "engine", "audit"]),
    ("workspace", &["lang"]),
    ("lsp", &["graph", "format", "lang", "db", "engine", "audit", "report", "workspace"]),
    ("cli", &["graph", "format", "lang", "db", "engine", "audit", "report", "workspace", "lsp"]),
];

/// Rooms named by paths that start at the crate.
fn imports(tokens: &[(Token, usize)]) -> Vec<(String, usize)> {
    let code: Vec<&(Token, usize)> = tokens.iter().filter(|(t, _)| !matches!(t, Token::Comment(_))).collect();
    let mut found = Vec::new();
    for at in 0..code.len() {
        let path = code[at].0 == Token::Word("crate".to_owned())
            && code.get(at + 1).is_some_and(|(t, _)| *t == Token::Mark(':'))
            && code.get(at + 2).is_some_and(|(t, _)| *t == Token::Mark(':'));
        if !path {
            continue;
        }
        match code.get(at + 3) {
            Some((Token::Word(room), line)) => found.push((room.clone(), *line)),
            // `use crate::{a::B, c}`
            Some((Token::Mark('{'), _)) => {
                let mut depth = 0usize;
                let mut first = false;
                for (token, line) in &code[at + 3..] {
                    match token {
                        Token::Mark('{') => {
                            depth += 1;
                            first = depth == 1;
                        }
                        Token::Mark('}') if depth == 1 => break,
                        Token::Mark('}') => depth -= 1,
                        Token::Mark(',') => first = depth == 1,
                        Token::Word(room) if first => {
                            found.push((room.clone(), *line));
                            first = false;
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    found
}

fn forbidden(room: &str, tokens: &[(Token, usize)]) -> Vec<String> {
    let Some((_, lower)) = ROOMS.iter().find(|(name, _)| *name == room) else {
        return vec![format!("1: `{room}` has no place among the rooms")];
    };
    let upper = |name: &str| name != room && !lower.contains(&name);
    imports(tokens)
        .into_iter()
        .filter(|(name, _)| upper(name))
        .map(|(name, line)| format!("{line}: {room} imports {name}"))
        .collect()
}

#[test]
fn rooms_import_lower_rooms_only() {
    let mut broken = Vec::new();
    for (file, tokens) in program() {
        // `lib.rs` and `main.rs` are the house.
        if file.components().count() > 1 {
            let room = file.components().next().expect("a room").as_os_str().to_str().expect("UTF-8");
            broken
                .extend(forbidden(room, &tokens).into_iter().map(|v| format!("src/{}:{v}", file.display())));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_forbidden_import_is_seen() {
    let found = |room: &str, source: &str| forbidden(room, &shipped_tokens(source).0).len();
    assert_eq!(found("graph", "use crate::lang::Level;"), 1);
    assert_eq!(found("format", "fn f() -> crate::lang::Level {}"), 1);
    assert_eq!(found("lang", "use crate::{graph::{Sym, db}, engine::Session, lang};"), 1);
    assert_eq!(found("cellar", ""), 1);
    assert_eq!(found("engine", "use crate::{graph::Sym, lang::{Level, cli}};\nuse crate::db;"), 0);
    assert_eq!(
        found("graph", "// crate::lang is above\n#[cfg(test)]\nmod tests { use crate::lang::Level; }"),
        0
    );
}

// ---- Codes of diagnostics have one style ----

/// `family::two-words`.
fn is_code(text: &str) -> bool {
    let is_word = |word: &str, more: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || more.contains(c))
    };
    text.split_once("::")
        .is_some_and(|(family, name)| family != "str" && is_word(family, "") && is_word(name, "-_"))
}

#[test]
fn codes_of_diagnostics_join_words_by_hyphens() {
    let codes = |tokens: &[(Token, usize)]| -> Vec<String> {
        let texts = tokens.iter().filter_map(|(token, _)| match token {
            Token::Text(text) if is_code(text) => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    };
    let all: Vec<String> = program().values().flat_map(|tokens| codes(tokens)).collect();
    assert!(all.len() > 200, "only {} codes were found", all.len());
    let odd: Vec<&String> = all.iter().filter(|code| code.contains('_')).collect();
    assert!(odd.is_empty(), "{odd:?}");
    assert_eq!(
        codes(&shipped_tokens("f(\"io::no_file\"); f(\"io::a\"); f(\"a::B\")").0),
        ["io::no_file", "io::a"]
    );
}

// ---- Files are short ----

const LONGEST: usize = 600;

/// Lines of the program in a file: what only tests compile does not count.
fn lines(tokens: &[(Token, usize)]) -> usize {
    tokens.last().map_or(0, |(_, line)| *line)
}

#[test]
fn files_are_short() {
    let long: Vec<String> = program()
        .iter()
        .filter(|(_, tokens)| lines(tokens) > LONGEST)
        .map(|(file, tokens)| format!("src/{}: {} lines", file.display(), lines(tokens)))
        .collect();
    assert!(long.is_empty(), "longer than {LONGEST} lines:\n{}", long.join("\n"));
}

#[test]
fn a_long_file_is_seen() {
    let long = "fn f() {}\n".repeat(LONGEST + 1);
    assert_eq!(lines(&shipped_tokens(&long).0), LONGEST + 1);
    assert_eq!(lines(&shipped_tokens(&format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{long}}}\n")).0), 1);
}
