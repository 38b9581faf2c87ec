//! The language server on the shipped rules with a pinned graph of 10 000 nodes: what an edit costs beside the first time.
//!
//! The first time is that of a new server from the opening of a file to the counts. An edit is answered with what is wrong, and
//! after that with fresh counts. Each edit is made in a new server, so that nothing is known of what comes of it. `cargo bench
//! --bench lsp` prints the least of several times, their parts of the first time, and how many counts came out otherwise.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anchorwatch::engine::RuleSources;
use anchorwatch::format::{Format, Loaded, save};
use serde_json::{Value, json};

#[path = "support/edits.rs"]
mod edits;
#[path = "support/generate.rs"]
#[allow(dead_code, reason = "each user of the generator needs some of its shapes")]
mod generate;
#[path = "../tests/support/lsp_client.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod lsp_client;

use edits::{EDITS, RuleEdit, differing};
use lsp_client::Client;

const NODES: usize = 10_000;
const ROUNDS: usize = 5;

/// From the start of a server to the counts, from the edit to what is wrong, and from the edit to the counts.
fn round(root: &Path, edit: &RuleEdit, old: &str) -> [Duration; 3] {
    let uri = format!("file://{}/{}", root.display(), edit.file);
    let is_told = |message: &Value, version: i64| {
        message["method"] == "textDocument/publishDiagnostics" && message["params"]["version"] == version
    };
    let is_counted = |message: &Value, version: i64| {
        message["method"] == "anchorwatch/counted" && message["params"]["documents"][0]["version"] == version
    };
    let mut client = Client::start();
    let start = Instant::now();
    client.initialize(Some(&format!("file://{}", root.display())), json!({}));
    let document = json!({"uri": uri, "languageId": "anchor", "version": 1, "text": old});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
    client.wait(|message| is_told(message, 1)).expect("diagnostics");
    client.wait(|message| is_counted(message, 1)).expect("counts");
    let first = start.elapsed();
    // What the opening has left to say.
    client.wait_for(Duration::from_millis(300), |_| false);
    client.heard.clear();
    let changes = json!([{"text": edit.text()}]);
    let start = Instant::now();
    let params = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": changes});
    client.notify("textDocument/didChange", params);
    client.wait(|message| is_told(message, 2)).expect("diagnostics");
    let told = start.elapsed();
    client.wait(|message| is_counted(message, 2)).expect("counts");
    let counted = start.elapsed();
    assert_eq!(client.end(), Some(0));
    [first, told, counted]
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

    let mut rows = Vec::new();
    for edit in EDITS {
        let old = fs::read_to_string(root.join(edit.file)).expect("a rule file");
        let times: Vec<[Duration; 3]> = (0..ROUNDS).map(|_| round(root, edit, &old)).collect();
        let least = |which: usize| times.iter().map(|times| times[which]).min().unwrap_or_default();
        rows.push((edit, [least(0), least(1), least(2)]));
    }
    let first = rows.iter().map(|(_, times)| times[0]).min().unwrap_or_default();
    println!("first time: {first:.0?}");
    for (edit, [_, told, counted]) in rows {
        let part = |time: Duration| first.as_secs_f64() / time.as_secs_f64();
        println!(
            "{}: diagnostics {told:.1?} (1/{:.0}), counts {counted:.1?} (1/{:.0}), {} differ",
            edit.what,
            part(told),
            part(counted),
            differing(edit, &graph)
        );
    }
}
