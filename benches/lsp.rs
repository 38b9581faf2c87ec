//! The language server on the shipped rules with a pinned graph of 10 000 nodes: what an edit costs beside the first time.
//!
//! The first time is that of a new server from the opening of a file to the counts. An edit is answered with what is wrong, and
//! after that with fresh counts. Each edit is made in a new server, so that nothing is known of what comes of it. `cargo bench
//! --bench lsp` prints the least of several times, by the clock and of the processors, their parts of the first time, and how many
//! counts came out otherwise.

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

use edits::{EDITS, RuleEdit, differing, processor_time};
use lsp_client::Client;

const NODES: usize = 10_000;
const ROUNDS: usize = 5;

/// Times by the clock, and of the processors.
type Times = [Duration; 2];

/// What the threads of a process have taken; nothing where the system does not tell. Of a thread that has ended it does not: what the
/// conditions take that are counted beside the run is seen by the clock alone.
fn taken(process: u32) -> Duration {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| processor_time(&thread.path().join("schedstat"))).sum()
}

/// From the start of a server to the counts, from the edit to what is wrong, and from the edit to the counts.
fn round(root: &Path, edit: &RuleEdit, old: &str) -> [Times; 3] {
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
    let first = [start.elapsed(), taken(client.id())];
    // What the opening has left to say.
    client.wait_for(Duration::from_millis(300), |_| false);
    client.heard.clear();
    let changes = json!([{"text": edit.text()}]);
    let (start, before) = (Instant::now(), taken(client.id()));
    let since = |client: &Client| [start.elapsed(), taken(client.id()).saturating_sub(before)];
    let params = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": changes});
    client.notify("textDocument/didChange", params);
    client.wait(|message| is_told(message, 2)).expect("diagnostics");
    let told = since(&client);
    client.wait(|message| is_counted(message, 2)).expect("counts");
    let counted = since(&client);
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
        let times: Vec<[Times; 3]> = (0..ROUNDS).map(|_| round(root, edit, &old)).collect();
        let least =
            |which: usize, way: usize| times.iter().map(|times| times[which][way]).min().unwrap_or_default();
        rows.push((edit, [0, 1, 2].map(|which| [0, 1].map(|way| least(which, way)))));
    }
    let first = [0, 1].map(|way| rows.iter().map(|(_, times)| times[0][way]).min().unwrap_or_default());
    println!("by the clock, and time of the processors\nfirst time: {:.0?}, {:.0?}", first[0], first[1]);
    for (edit, [_, told, counted]) in rows {
        let parts = |times: Times| {
            let part = |way: usize| {
                let part = first[way].as_secs_f64() / times[way].as_secs_f64();
                format!("{:.1?} (1/{part:.0})", times[way])
            };
            [0, 1].map(part).join(", ")
        };
        let differ = differing(edit, &graph);
        println!("{}: diagnostics {}; counts {}; {differ} differ", edit.what, parts(told), parts(counted));
    }
}
