//! The language server, driven over its streams as an editor drives it.
//!
//! Scripts are data: `tests/lsp/NAME.script` has the files of a workspace (`=== PATH`, `=== PATH (on disk)` for one that is not
//! opened; `$1` … mark places and are taken out) and, after `=== script`, commands with what they answer in the lines below, two
//! spaces in. `UPDATE_LSP=1` writes the answers; they are to be read before they are kept.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

#[path = "support/lsp_client.rs"]
#[allow(dead_code, reason = "a bench uses the rest")]
mod lsp_client;

use lsp_client::{Client, PATIENCE};

fn updates() -> bool {
    std::env::var_os("UPDATE_LSP").is_some()
}

/// A place in a file, as the protocol counts.
type Mark = (String, Value);

struct Script {
    client: Client,
    root: tempfile::TempDir,
    texts: BTreeMap<String, String>,
    marks: BTreeMap<String, Mark>,
    /// What the server last said of each file.
    told: BTreeMap<String, Value>,
    version: i64,
}

/// Takes the marks out of a text.
fn unmarked(path: &str, text: &str, marks: &mut BTreeMap<String, Mark>) -> String {
    let mut lines = Vec::new();
    for (number, line) in text.split('\n').enumerate() {
        let mut kept = String::new();
        let mut rest = line;
        while let Some((before, behind)) = rest.split_once('$') {
            kept += before;
            let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            assert!(digits > 0, "a mark has a number: {line}");
            let at = json!({"line": number, "character": kept.encode_utf16().count()});
            marks.insert(format!("${}", &behind[..digits]), (path.to_owned(), at));
            rest = &behind[digits..];
        }
        kept += rest;
        lines.push(kept);
    }
    lines.join("\n")
}

fn start_of(range: &Value) -> String {
    let point = |end: &str| {
        let number = |key: &str| range[end][key].as_u64().expect("a position") + 1;
        format!("{}:{}", number("line"), number("character"))
    };
    format!("{}-{}", point("start"), point("end"))
}

impl Script {
    fn uri(&self, path: &str) -> String {
        format!("file://{}/{path}", self.root.path().display())
    }

    fn path(&self, uri: &Value) -> String {
        let uri = uri.as_str().expect("a URI");
        match uri.strip_prefix(&format!("file://{}/", self.root.path().display())) {
            Some(path) => path.to_owned(),
            None => format!("…/{}", uri.rsplit('/').next().expect("a name")),
        }
    }

    fn document(&self, path: &str) -> Value {
        json!({"uri": self.uri(path)})
    }

    fn at(&self, mark: &str) -> Value {
        let (path, position) = self.marks.get(mark).unwrap_or_else(|| panic!("there is no mark {mark}"));
        json!({"textDocument": self.document(path), "position": position})
    }

    fn open(&mut self, path: &str) {
        let document =
            json!({"uri": self.uri(path), "languageId": "anchor", "version": 1, "text": self.texts[path]});
        self.client.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn edit(&mut self, mark: &str, until: &Value, text: &str) {
        let (path, start) = self.marks[mark].clone();
        self.version += 1;
        let document = json!({"uri": self.uri(&path), "version": self.version});
        let change = json!({"range": {"start": start, "end": until}, "text": text});
        self.client
            .notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let mut answer = self.client.ask(method, params);
        match answer.get("error") {
            Some(error) => Err(error["message"].as_str().expect("a message").to_owned()),
            None => Ok(answer["result"].take()),
        }
    }

    fn draw_diagnostics(&self, path: &str) -> String {
        let mut text = String::new();
        for one in self.told.get(path).and_then(Value::as_array).into_iter().flatten() {
            let level =
                ["error", "warning", "info", "hint"][one["severity"].as_u64().expect("a level") as usize - 1];
            let message = one["message"].as_str().expect("a message").replace('\n', " / ");
            let code = one["code"].as_str().unwrap_or("-");
            let _ = writeln!(text, "{} {level} {code} {message}", start_of(&one["range"]));
            for related in one["relatedInformation"].as_array().into_iter().flatten() {
                let place = start_of(&related["location"]["range"]);
                let path = self.path(&related["location"]["uri"]);
                let _ =
                    writeln!(text, "  {path}:{place} {}", related["message"].as_str().expect("a message"));
            }
        }
        text
    }

    /// Takes in what the server says of files until it says what is expected, or nothing more.
    fn diagnostics(&mut self, path: &str, expected: &str) -> String {
        let uri = self.uri(path);
        loop {
            let known = self.draw_diagnostics(path);
            if self.told.contains_key(path) && known == expected && !updates() {
                return known;
            }
            let of_file = |message: &Value| {
                message["method"] == "textDocument/publishDiagnostics" && message["params"]["uri"] == uri
            };
            let patience = if updates() { Duration::from_secs(4) } else { PATIENCE };
            match self.client.wait_for(patience, of_file) {
                Some(message) => self.told.insert(path.to_owned(), message["params"]["diagnostics"].clone()),
                None => return known,
            };
        }
    }

    fn draw_locations(&self, found: &Value) -> String {
        let lines = found.as_array().into_iter().flatten();
        lines.map(|one| format!("{}:{}\n", self.path(&one["uri"]), start_of(&one["range"]))).collect()
    }

    fn draw_changes(&self, edit: &Value) -> String {
        let mut text = String::new();
        let changes: BTreeMap<&String, &Value> =
            edit["changes"].as_object().expect("changes").iter().collect();
        for (uri, edits) in changes {
            let path = self.path(&json!(uri));
            for edit in edits.as_array().expect("edits") {
                let _ = writeln!(text, "{path}:{} {}", start_of(&edit["range"]), edit["newText"]);
            }
        }
        text
    }

    fn draw_symbols(symbols: &Value, depth: usize) -> String {
        let mut text = String::new();
        for one in symbols.as_array().into_iter().flatten() {
            let name = one["name"].as_str().expect("a name");
            let kind = one["detail"].as_str().unwrap_or("-");
            let _ =
                writeln!(text, "{}{kind} {name} {}", "  ".repeat(depth), start_of(&one["selectionRange"]));
            text += &Script::draw_symbols(&one["children"], depth + 1);
        }
        text
    }

    fn draw_tokens(&self, path: &str, found: &Value, legend: &Value) -> String {
        let lines: Vec<Vec<u16>> =
            self.texts[path].split('\n').map(|line| line.encode_utf16().collect()).collect();
        let mut text = String::new();
        let (mut line, mut start) = (0, 0);
        let data: Vec<usize> = found["data"]
            .as_array()
            .expect("data")
            .iter()
            .map(|n| n.as_u64().expect("a number") as usize)
            .collect();
        for token in data.chunks(5) {
            start = if token[0] == 0 { start + token[1] } else { token[1] };
            line += token[0];
            let word = String::from_utf16(&lines[line][start..start + token[2]]).expect("a word");
            let modifiers = ["", " declared", " library", " declared library"][token[4]];
            let kind = legend["tokenTypes"][token[3]].as_str().expect("a type");
            let _ = writeln!(text, "{} {word} {kind}{modifiers}", line + 1);
        }
        text
    }

    /// Runs a command; `expected` is what it is to answer.
    fn run(&mut self, command: &str, expected: &str) -> String {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}});
        let result = match verb {
            "diagnostics" => return self.diagnostics(rest, expected),
            "counted" => {
                let version = self.version;
                let of_now = |message: &Value| {
                    let documents = message["params"]["documents"].as_array();
                    documents.into_iter().flatten().any(|document| document["version"] == version)
                };
                let counted =
                    self.client.wait(|message| message["method"] == "anchorwatch/counted" && of_now(message));
                return format!("{}\n", counted.expect("counts")["params"]["graphs"]);
            }
            "edit" => {
                let (mark, text) = rest.split_once(' ').expect("a mark and a text");
                let (until, text) = text.split_once(' ').expect("two marks and a text");
                let until = self.marks[until].1.clone();
                self.edit(mark, &until, &serde_json::from_str::<String>(text).expect("a JSON text"));
                return String::new();
            }
            "hover" => self.ask("textDocument/hover", self.at(rest)).map(|found| {
                found["contents"]["value"]
                    .as_str()
                    .unwrap_or("nothing")
                    .replace(&self.uri("")[7..], "")
                    .trim()
                    .to_owned()
                    + "\n"
            }),
            "definition" => {
                self.ask("textDocument/definition", self.at(rest)).map(|found| self.draw_locations(&found))
            }
            "references" => {
                let mut params = self.at(rest);
                params["context"] = json!({"includeDeclaration": true});
                self.ask("textDocument/references", params).map(|found| self.draw_locations(&found))
            }
            "highlights" => self.ask("textDocument/documentHighlight", self.at(rest)).map(|found| {
                let lines = found.as_array().expect("highlights").iter();
                lines.map(|one| format!("{} {}\n", start_of(&one["range"]), one["kind"])).collect()
            }),
            "can-rename" => self
                .ask("textDocument/prepareRename", self.at(rest))
                .map(|found| format!("{}\n", start_of(&found))),
            "rename" => {
                let (mark, name) = rest.split_once(' ').expect("a mark and a name");
                let mut params = self.at(mark);
                params["newName"] = json!(name);
                self.ask("textDocument/rename", params).map(|found| self.draw_changes(&found))
            }
            "complete" => {
                // Only the first few: the words of the language follow.
                let (mark, most) = rest.split_once(' ').expect("a mark and a number");
                let most: usize = most.parse().expect("a number");
                self.ask("textDocument/completion", self.at(mark)).map(|found| {
                    let lines = found.as_array().into_iter().flatten().take(most);
                    lines
                        .map(|one| {
                            let text = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
                            format!("{} | {} | {}\n", text("label"), text("detail"), text("documentation"))
                        })
                        .collect()
                })
            }
            "symbols" => self
                .ask("textDocument/documentSymbol", json!({"textDocument": self.document(rest)}))
                .map(|found| Script::draw_symbols(&found, 0)),
            "find" => self.ask("workspace/symbol", json!({"query": rest})).map(|found| {
                let lines = found.as_array().into_iter().flatten();
                lines
                    .map(|one| {
                        let place = start_of(&one["location"]["range"]);
                        let (kind, name) = (&one["containerName"], &one["name"]);
                        format!("{kind} {name} {}:{place}\n", self.path(&one["location"]["uri"]))
                    })
                    .collect()
            }),
            "tokens" => {
                let legend = self
                    .client
                    .heard
                    .iter()
                    .find(|one| one["legend"].is_object())
                    .cloned()
                    .expect("a legend");
                self.ask("textDocument/semanticTokens/full", json!({"textDocument": self.document(rest)}))
                    .map(|found| self.draw_tokens(rest, &found, &legend["legend"]))
            }
            "folds" => self
                .ask("textDocument/foldingRange", json!({"textDocument": self.document(rest)}))
                .map(|found| {
                    let lines = found.as_array().expect("ranges").iter();
                    let number = |value: &Value| value.as_u64().expect("a line") + 1;
                    lines
                        .map(|one| {
                            let kind = one["kind"].as_str().unwrap_or("code");
                            format!("{}-{} {kind}\n", number(&one["startLine"]), number(&one["endLine"]))
                        })
                        .collect()
                }),
            "format" => {
                let params = json!({"textDocument": self.document(rest), "options": {"tabSize": 2, "insertSpaces": true}});
                self.ask("textDocument/formatting", params).map(|found| {
                    let lines = found.as_array().into_iter().flatten();
                    lines.map(|one| format!("{} {}\n", start_of(&one["range"]), one["newText"])).collect()
                })
            }
            "hints" => {
                let params = json!({"textDocument": self.document(rest), "range": whole});
                self.ask("textDocument/inlayHint", params).map(|found| {
                    let lines = found.as_array().expect("hints").iter();
                    let number = |value: &Value| value.as_u64().expect("a line") + 1;
                    let place = |at: &Value| format!("{}:{}", number(&at["line"]), number(&at["character"]));
                    lines.map(|one| format!("{} {}\n", place(&one["position"]), one["label"])).collect()
                })
            }
            "lenses" => {
                self.ask("textDocument/codeLens", json!({"textDocument": self.document(rest)})).map(|found| {
                    let lines = found.as_array().expect("lenses").iter();
                    lines
                        .map(|one| format!("{} {}\n", start_of(&one["range"]), one["command"]["title"]))
                        .collect()
                })
            }
            "run-test" => {
                let (path, title) = rest.split_once(' ').expect("a file and a title");
                let params = json!({"command": "anchorwatch.runTest", "arguments": [self.uri(path), title]});
                self.ask("workspace/executeCommand", params).map(|found| format!("{found}\n"))
            }
            "actions" => {
                let (path, position) = self.marks[rest].clone();
                let told = self.told.get(&path).cloned().unwrap_or(json!([]));
                let line = &position["line"];
                let here: Vec<&Value> = told.as_array().expect("a list").iter().collect();
                let here: Vec<&Value> =
                    here.into_iter().filter(|one| one["range"]["start"]["line"] == *line).collect();
                let range = json!({"start": position, "end": position});
                let params = json!({"textDocument": self.document(&path), "range": range, "context": {"diagnostics": here}});
                self.ask("textDocument/codeAction", params).map(|found| {
                    let lines = found.as_array().expect("actions").iter();
                    lines
                        .map(|one| {
                            let (kind, title) =
                                (one["kind"].as_str().expect("a kind"), one["title"].as_str());
                            format!("{kind}: {}\n", title.expect("a title"))
                                + self.draw_changes(&one["edit"]).replace("\n", "\n  ").trim_end()
                                + "\n"
                        })
                        .collect()
                })
            }
            other => panic!("no command is called {other}"),
        };
        result.unwrap_or_else(|why| format!("refused: {why}\n"))
    }
}

fn play(file: &Path) {
    let text = fs::read_to_string(file).expect("a script");
    let (files, commands) = text.split_once("=== script\n").expect("a script has commands");
    let root = tempfile::tempdir().expect("a folder");
    let mut marks = BTreeMap::new();
    let mut texts = BTreeMap::new();
    let mut opened = Vec::new();
    for part in files.split("=== ").skip(1) {
        let (path, text) = part.split_once('\n').expect("a file has a name");
        let on_disk = path.strip_suffix(" (on disk)");
        let path = on_disk.unwrap_or(path);
        let text = unmarked(path, text, &mut marks);
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::write(&place, &text).expect("a file");
        texts.insert(path.to_owned(), text);
        if on_disk.is_none() {
            opened.push(path.to_owned());
        }
    }
    let mut script =
        Script { client: Client::start(), root, texts, marks, told: BTreeMap::new(), version: 1 };
    let root_uri = format!("file://{}", script.root.path().display());
    let answer = script.client.initialize(Some(&root_uri), json!({}));
    let legend = answer["result"]["capabilities"]["semanticTokensProvider"]["legend"].clone();
    script.client.heard.push(json!({"legend": legend}));
    for path in opened {
        script.open(&path);
    }
    let mut played = format!("{files}=== script\n");
    let mut lines = commands.lines().peekable();
    while let Some(command) = lines.next() {
        let _ = writeln!(played, "{command}");
        if command.is_empty() || command.starts_with('#') {
            continue;
        }
        let mut expected = String::new();
        while let Some(line) = lines.next_if(|line| line.starts_with("  ") || line.trim() == ".") {
            let _ = writeln!(expected, "{}", line.strip_prefix("  ").unwrap_or(line));
        }
        let answer = script.run(command, &expected);
        for line in answer.lines() {
            let _ = writeln!(played, "  {line}");
        }
    }
    assert_eq!(script.client.end(), Some(0), "the server ends in order");
    if updates() {
        fs::write(file, &played).expect("the script can be written");
    } else {
        assert!(
            played == text,
            "{}:\n{}",
            file.display(),
            similar::TextDiff::from_lines(&text, &played).unified_diff()
        );
    }
}

macro_rules! scripts {
    ($($name:ident),*) => {$(
        #[test]
        fn $name() {
            play(Path::new(concat!("tests/lsp/", stringify!($name), ".script")));
        }
    )*

    #[test]
    fn every_script_is_played() {
        let names = [$(stringify!($name)),*];
        for entry in fs::read_dir("tests/lsp").expect("the folder") {
            let name = entry.expect("an entry").file_name().into_string().expect("a name");
            let name = name.strip_suffix(".script").expect("scripts only");
            assert!(names.contains(&name), "{name} is not played");
        }
    }};
}

scripts!(
    diagnostics,
    navigate,
    complete,
    complete_names,
    overlay,
    outline,
    mend,
    mend_sound,
    mend_words,
    counts,
    shipped
);

fn text_document(text: &str) -> Value {
    json!({"textDocument": {"uri": "untitled:One", "languageId": "anchor", "version": 1, "text": text}})
}

#[test]
fn what_is_no_message_is_refused_and_the_server_lives_on() {
    let mut client = Client::start();
    client.raw(b"Content-Length: 5\r\n\r\n{\"a\":");
    let refused =
        client.wait(|message| message["id"].is_null() && message.get("error").is_some()).expect("a refusal");
    assert_eq!(refused["error"]["code"], -32700);
    client.raw(b"no header at all\r\n\r\n");
    assert!(client.wait(|message| message["error"]["code"] == -32700).is_some());
    // Before `initialize` nothing is answered.
    assert_eq!(client.ask("textDocument/hover", json!({}))["error"]["code"], -32002);
    assert_eq!(client.ask("initialize", json!({"capabilities": 1}))["error"]["code"], -32602);
    assert!(client.initialize(None, json!({}))["result"]["capabilities"].is_object());
    assert_eq!(client.ask("initialize", json!({}))["error"]["code"], -32600);
    assert_eq!(client.ask("no/such", json!({}))["error"]["code"], -32601);
    assert_eq!(client.ask("textDocument/hover", json!({"position": -1}))["error"]["code"], -32602);
    client.notify("textDocument/didOpen", json!({"textDocument": 1}));
    client.notify("no/such", json!([]));
    // A document that is not open, a place beyond its end.
    let nowhere =
        json!({"textDocument": {"uri": "file:///nowhere.anchor"}, "position": {"line": 9, "character": 9}});
    assert!(client.ask("textDocument/hover", nowhere)["result"].is_null());
    assert_eq!(client.ask("shutdown", Value::Null)["result"], Value::Null);
    assert_eq!(client.ask("textDocument/hover", json!({}))["error"]["code"], -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.code(), Some(0));
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    let mut client = Client::start();
    client.initialize(None, json!({}));
    client.hang_up();
    assert_eq!(client.code(), Some(1));
    let mut client = Client::start();
    client.initialize(None, json!({}));
    client.notify("exit", Value::Null);
    assert_eq!(client.code(), Some(1));
}

#[test]
fn a_request_that_is_taken_back_is_answered_once() {
    let mut client = Client::start();
    client.initialize(None, json!({}));
    client.notify("textDocument/didOpen", text_document("set A = { B }\n"));
    // What waits while the server is busy with the edits before it is taken together.
    let mut burst = Vec::new();
    for version in 2..60 {
        let document = json!({"uri": "untitled:One", "version": version});
        let text = format!("set A{version} = {{ B }}\n");
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        burst.extend(Client::framed(&json!({"method": "textDocument/didChange", "params": params})));
    }
    for id in 1000..1100 {
        let params = json!({"query": ""});
        burst.extend(Client::framed(&json!({"id": id, "method": "workspace/symbol", "params": params})));
    }
    for id in 1000..1100 {
        burst.extend(Client::framed(&json!({"method": "$/cancelRequest", "params": {"id": id}})));
    }
    client.raw(&burst);
    let mut cancelled = 0;
    for id in 1000..1100 {
        let answer = client.answer(id);
        match answer.get("error") {
            Some(error) => {
                assert_eq!(error["code"], -32800);
                cancelled += 1;
            }
            None => assert!(answer["result"].is_array()),
        }
    }
    assert!(cancelled > 0, "some of a hundred requests still waited");
    assert!(
        client
            .heard
            .iter()
            .all(|message| message["id"].as_i64().is_none_or(|id| !(1000..1100).contains(&id)))
    );
    // The last edit is the one that counts.
    let found = client.ask("workspace/symbol", json!({"query": "A59"}));
    assert_eq!(found["result"][0]["name"], "A59");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn positions_are_counted_as_agreed() {
    for (offered, name) in [(json!(["utf-16"]), "utf-16"), (json!(["utf-8", "utf-16"]), "utf-8")] {
        let mut client = Client::start();
        let answer = client.initialize(None, json!({"general": {"positionEncodings": offered}}));
        assert_eq!(answer["result"]["capabilities"]["positionEncoding"], name);
        // Before the word stand 10 characters: 12 units of UTF-16, 18 bytes.
        let text = "fn f() -> Bool = \"\u{1F40B}\u{1F40B}\" == nothing_of_that_name\n";
        client.notify("textDocument/didOpen", text_document(text));
        let told = client.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["diagnostics"][0]["code"] == "rule::unknown-name"
        });
        let before = text.split_once("nothing").expect("the word").0;
        let wanted = if name == "utf-8" { before.len() } else { before.encode_utf16().count() };
        let range = &told.expect("an error")["params"]["diagnostics"][0]["range"];
        assert_eq!(range["start"]["character"], wanted);
        // A change in the middle of the line, counted in the same way.
        let place = json!({"line": 0, "character": wanted});
        let end = json!({"line": 0, "character": wanted + "nothing_of_that_name".len()});
        let change = json!({"range": {"start": place, "end": end}, "text": "\"a\""});
        let document = json!({"uri": "untitled:One", "version": 2});
        client
            .notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
        let told = client.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics" && message["params"]["version"] == 2
        });
        let told = told.expect("what is told of the change");
        let errors = told["params"]["diagnostics"].as_array().expect("a list").iter();
        assert_eq!(errors.filter(|one| one["severity"] == 1).count(), 0, "{told}");
        assert_eq!(client.end(), Some(0));
    }
}

#[test]
fn an_edit_ends_the_counting_of_the_one_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let rules = |least: usize| {
        format!(
            "fn asks_all(n: Node) -> Bool = all m in n.graph.nodes: m.inputs.count < {least}\n\
             pass looks for n: Node where asks_all(n) {{ set n.attr(seen) = true }}\n\
             attr seen: bool on node\n"
        )
    };
    std::fs::create_dir(root.join("rules")).expect("a folder");
    std::fs::write(root.join("rules/a.anchor"), rules(9)).expect("a rule file");
    std::fs::write(root.join("anchorwatch.toml"), "graphs = [\"g.graph\"]\n").expect("settings");
    let nodes: String = (0..1500).map(|n| format!("n{n}: Relu\n")).collect();
    std::fs::write(root.join("g.graph"), nodes).expect("a graph");

    let mut client = Client::start();
    client.initialize(Some(&format!("file://{}", root.display())), json!({}));
    let uri = format!("file://{}/rules/a.anchor", root.display());
    let document = json!({"uri": uri, "languageId": "anchor", "version": 1, "text": rules(9)});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
    // Both threads are at work when the next edit comes.
    for version in 2..20 {
        std::thread::sleep(Duration::from_millis(20));
        let document = json!({"uri": uri, "version": version});
        let text = rules(9 + version);
        client.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": [{"text": text}]}),
        );
        let told = client.wait(|message| {
            message["method"] == "textDocument/publishDiagnostics" && message["params"]["version"] == version
        });
        assert!(told.is_some(), "edit {version} is answered");
    }
    let is_last = |message: &Value| {
        message["method"] == "anchorwatch/counted" && message["params"]["documents"][0]["version"] == 19
    };
    assert!(client.wait(is_last).is_some(), "the last edit is counted");
    let hints = client.ask(
        "textDocument/inlayHint",
        json!({"textDocument": {"uri": uri}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}}),
    );
    assert!(hints["result"].to_string().contains("1500"), "{hints}");
    assert_eq!(client.end(), Some(0));
}
