//! The language server on the shipped rules with a pinned graph of 10 000 nodes: what an edit costs beside the first time.
//!
//! The first time is that of a new server from the opening of a file to the counts. An edit is answered with what is wrong, and
//! after that with fresh counts. `cargo bench --bench lsp` prints medians and their parts of the first time.

use std::fs;
use std::time::{Duration, Instant};

use anchorwatch::engine::RuleSources;
use anchorwatch::format::{Format, Loaded, save};
use serde_json::{Value, json};

#[path = "support/generate.rs"]
#[allow(dead_code, reason = "each user of the generator needs some of its shapes")]
mod generate;
#[path = "../tests/support/lsp_client.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod lsp_client;

use lsp_client::Client;

const NODES: usize = 10_000;
const ROUNDS: usize = 21;
const FILE: &str = "rules/layout.anchor";

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    fs::create_dir(root.join("rules")).expect("a folder");
    for (path, text, _) in RuleSources::shipped().files {
        fs::write(root.join(path), text).expect("a rule file");
    }
    let graph = generate::mixed(NODES);
    let loaded =
        Loaded { snapshot: graph.clone(), format: Format::GeText, warnings: Vec::new(), origin: None };
    let dump = save(&loaded, &graph, Format::GeText).expect("text can hold any graph");
    fs::write(root.join("g.txt"), dump).expect("a graph");
    fs::write(root.join("anchorwatch.toml"), "graphs = [\"g.txt\"]\n").expect("settings");

    let text = fs::read_to_string(root.join(FILE)).expect("a rule file");
    let uri = format!("file://{}/{FILE}", root.display());
    let is_told = |message: &Value, version: i64| {
        message["method"] == "textDocument/publishDiagnostics" && message["params"]["version"] == version
    };
    let is_counted = |message: &Value, version: i64| {
        message["method"] == "anchorwatch/counted" && message["params"]["documents"][0]["version"] == version
    };

    let mut client = Client::start();
    let start = Instant::now();
    client.initialize(Some(&format!("file://{}", root.display())), json!({}));
    let document = json!({"uri": uri, "languageId": "anchor", "version": 1, "text": text});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
    client.wait(|message| is_told(message, 1)).expect("diagnostics");
    client.wait(|message| is_counted(message, 1)).expect("counts");
    let cold = start.elapsed();
    println!("first time: {cold:?}");

    // A comment, and a condition: each there and gone again.
    let condition = text.replacen("\n  when ", "\n  when 1 == 1 and ", 1);
    assert_ne!(condition, text);
    for (what, other) in [("a comment", format!("{text}\n// a comment\n")), ("a condition", condition)] {
        let (mut told, mut counted) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // What the edit before has left to say.
            client.wait_for(Duration::from_millis(300), |_| false);
            client.heard.clear();
            let version = (told.len() + round) as i64 * 2 + if what == "a comment" { 100 } else { 10_000 };
            let text = if round % 2 == 0 { &other } else { &text };
            let document = json!({"uri": uri, "version": version});
            let start = Instant::now();
            let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
            client.notify("textDocument/didChange", params);
            client.wait(|message| is_told(message, version)).expect("diagnostics");
            told.push(start.elapsed());
            client.wait(|message| is_counted(message, version)).expect("counts");
            counted.push(start.elapsed());
        }
        let part = |time: Duration| cold.as_secs_f64() / time.as_secs_f64();
        let (told, counted) = (median(told), median(counted));
        println!(
            "{what}: diagnostics {told:?} (1/{:.0}), counts {counted:?} (1/{:.0})",
            part(told),
            part(counted)
        );
    }
    assert_eq!(client.end(), Some(0));
}
