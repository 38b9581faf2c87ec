//! Golden cases: the graph before a pass, and the graph that the reference compiler made of it (`tests/cases/README.md`).

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anchorwatch::engine::{Request, RuleDiagnostic, RuleSources, Session};
use anchorwatch::format::{LoadContext, load};
use anchorwatch::graph::{Compared, GraphId, Snapshot, State, Sym, equal_up_to_inserted, label};

/// Attributes that the comparison leaves out: what a loader or a sort writes for itself.
const IGNORED: [&str; 6] = [
    "_input_name_key",
    "_input_name_value",
    "_output_name_key",
    "_output_name_value",
    "_src_out_peer_index_for_ge_txt_load",
    "input_name_idx_key",
];

fn graph(path: &Path) -> Snapshot {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    load(&bytes, "", &LoadContext::default()).unwrap_or_else(|e| panic!("{}: {e:?}", path.display())).snapshot
}

fn graph_named(state: &State, name: &str) -> Option<GraphId> {
    std::iter::once(GraphId::ROOT).chain(state.registry()).find(|&g| &*state.graph(g).name == name)
}

fn cases(pass: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(pass);
    let mut files: Vec<PathBuf> = fs::read_dir(&dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds cases", dir.display());
    files
}

/// Runs one case; the error says what differs.
fn run(session: &mut Session, path: &Path) -> Result<(), String> {
    let case: serde_json::Value = serde_json::from_slice(&fs::read(path).expect("a case")).expect("JSON");
    let id = path.file_stem().and_then(|s| s.to_str()).expect("a case id");
    let before = graph(&path.with_file_name(format!("{id}.before.txt.gz")));
    let mut options: BTreeMap<String, String> = BTreeMap::from([("compat".to_owned(), "ge".to_owned())]);
    for (key, value) in case["options"].as_object().expect("options") {
        options.insert(key.clone(), value.as_str().expect("an option is text").to_owned());
    }
    // A case may give options that no rule declares yet: they do not matter to its pass.
    session.set_options(options, BTreeMap::new());
    let root = match case.get("graph").and_then(|g| g.as_str()) {
        Some(name) => graph_named(&before, name).expect("the case names a graph"),
        None => GraphId::ROOT,
    };
    let request = Request {
        graph: root,
        node: None,
        steps: vec![Sym::new(case["pass"].as_str().expect("a pass"))],
        sort: case.get("sort_first").is_some_and(|s| s == true),
    };
    let outcome = session.run(&before, &request).map_err(|e| format!("{e:?}"))?;
    let failure = outcome.failures().next().map(|failure| failure.message.clone());
    match (case["status"].as_str(), failure) {
        (Some("ok"), None) => {}
        (Some("error"), Some(_)) => return Ok(()),
        (_, Some(message)) => return Err(format!("failed: {message}")),
        (_, None) => return Err("should have failed".to_owned()),
    }
    let after = path.with_file_name(format!("{id}.after.txt.gz"));
    let expected = if after.exists() { graph(&after) } else { before.clone() };
    let compared = Compared::all_but(IGNORED);
    equal_up_to_inserted(&before, &expected, &outcome.after, &compared).map_err(|d| d.join("\n  "))
}

/// One line about a complaint, with the text it is about.
fn problem(session: &Session, d: &RuleDiagnostic) -> String {
    let text = d.places.first().and_then(|(path, range)| {
        let file = session.file_text(path)?;
        Some(format!(
            "{path}:{}: {}",
            file[..range.start].matches('\n').count() + 1,
            file.get(range.clone())?
        ))
    });
    format!("{} [{}] {}", d.diagnostic.message, d.diagnostic.code, text.unwrap_or_default())
}

fn all(pass: &str) {
    let mut session = Session::new(RuleSources::shipped());
    let problems: Vec<String> = session.diagnostics().iter().map(|d| problem(&session, d)).collect();
    assert!(problems.is_empty(), "the rules have problems\n{}", problems.join("\n"));
    let failed: Vec<String> = cases(pass)
        .iter()
        .filter_map(|path| run(&mut session, path).err().map(|e| format!("{}:\n  {e}", path.display())))
        .collect();
    assert!(failed.is_empty(), "{} cases differ\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn layout() {
    all("layout");
}

/// Symbol tables: each line is a symbol and its anchors in order.
#[test]
fn symbols() {
    let session = Session::new(RuleSources::shipped());
    let mut failed = Vec::new();
    for path in cases("symbols") {
        let case: serde_json::Value =
            serde_json::from_slice(&fs::read(&path).expect("a case")).expect("JSON");
        let id = path.file_stem().and_then(|s| s.to_str()).expect("a case id").to_owned();
        let mut before = graph(&path.with_file_name(format!("{id}.before.txt.gz")));
        if case.get("sort_first").is_some_and(|s| s == true) {
            let request = Request {
                graph: GraphId::ROOT,
                node: None,
                steps: vec![Sym::new("compile_order")],
                sort: false,
            };
            before = session.run(&before, &request).expect("a run").after;
        }
        let mut text = String::new();
        let file = fs::File::open(path.with_file_name(format!("{id}.symbols.txt.gz"))).expect("a table");
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("text");
        let table = match session.symbols(&before, GraphId::ROOT) {
            Ok(table) => table,
            Err(failure) => {
                failed.push(format!("{id}: failed: {}", failure.message));
                continue;
            }
        };
        let mut lines = table.groups().iter().map(|group| {
            let anchors: Vec<String> = group.members.iter().map(|a| label(&before, *a)).collect();
            format!("{}: {}", label(&before, group.founder), anchors.join(" "))
        });
        for (line, expected) in text.lines().enumerate() {
            let actual = lines.next().unwrap_or_default();
            if actual != expected {
                failed.push(format!("{id}:{}\n  expected {expected}\n  actual   {actual}", line + 1));
                break;
            }
        }
        if let Some(extra) = lines.next().filter(|_| failed.last().is_none_or(|f| !f.starts_with(&id))) {
            failed.push(format!("{id}: extra line {extra}"));
        }
    }
    assert!(failed.is_empty(), "{} tables differ\n{}", failed.len(), failed.join("\n"));
}
