//! Every graph that ships with the source loads, is checked without a failure, and comes back from its own format as it was.

use std::fs;
use std::path::{Path, PathBuf};

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::{Format, LoadContext, load, notation, save};
use anchorwatch::graph::GraphId;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if path.is_dir() => files(&path, found),
            Some("md" | "py") => {}
            _ => found.push(path),
        }
    }
}

#[test]
fn every_shipped_graph_is_checked_and_comes_back() {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs"), &mut paths);
    paths.sort();
    assert!(paths.len() > 20, "only {} graphs were found", paths.len());
    let session = Session::new(RuleSources::shipped());
    let request = Request { graph: GraphId::ROOT, node: None, steps: Vec::new(), sort: false };
    for path in paths {
        let bytes = fs::read(&path).expect("a file");
        let context = LoadContext::default();
        let name = path.to_string_lossy();
        let loaded =
            load(&bytes, &name, &context).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        let outcome = session.run(&loaded.snapshot, &request).expect("the shipped rules run");
        // Hand-made cases of another layer may lack what this one needs.
        if !name.contains("/cases/") {
            assert_eq!(outcome.failures().next(), None, "{}", path.display());
        }
        // An offline model is read only, as is a dump that has lost half of the graph.
        if matches!(loaded.format, Format::Om | Format::GeOnnx) {
            continue;
        }
        let written = save(&loaded, &loaded.snapshot, loaded.format)
            .unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        let again = load(&written, &name, &context).expect("what was written is read");
        assert_eq!(
            notation::print(&again.snapshot),
            notation::print(&loaded.snapshot),
            "{} comes back",
            path.display()
        );
    }
}
