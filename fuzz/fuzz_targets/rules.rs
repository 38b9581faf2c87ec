//! Rule files, the whole way: parsed, printed, parsed again, checked, linked, and run on a small graph.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use anchorwatch::db::{self, Database, Roots, RuleFile, RuleSet};
use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot};
use anchorwatch::lang::Level;
use anchorwatch::lang::syntax::{parse_file, parse_item, print_item};

/// A graph with each kind of edge, a subgraph and a constant.
static GRAPH: LazyLock<Snapshot> = LazyLock::new(|| {
    let text = include_str!("../small.graph");
    let (graph, errors) = notation::parse(text);
    assert!(errors.is_empty(), "{errors:?}");
    graph.expect("the graph is right")
});

/// Links all items, those that nothing runs included.
fn link(text: &str) {
    let db = Database::default();
    let file = RuleFile::new(&db, "x.anchor".to_owned(), text.into(), false);
    let rules = RuleSet::new(&db, vec![file], BTreeMap::new(), BTreeMap::new());
    let all = db::live(&db, rules).items.iter().map(|(kind, name, _)| (*kind, *name));
    let _ = db::program(&db, rules, Roots::of(&db, all));
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    for parsed in parse_file(text).items {
        let Some(item) = parsed.item else { continue };
        let first = print_item(&item);
        let (again, complaints) = parse_item(&first);
        assert!(complaints.iter().all(|d| d.level != Level::Error), "{complaints:?}\n{first}");
        let second = print_item(&again.expect("an item without errors has a tree"));
        assert!(first == second, "--- first\n{first}\n--- second\n{second}");
    }
    let session = Session::new(RuleSources { files: vec![("x.anchor".to_owned(), text.to_owned(), false)] });
    let complaints = session.diagnostics();
    for (path, span) in complaints.iter().flat_map(|d| &d.places) {
        assert!(path != "x.anchor" || text.get(span.clone()).is_some(), "{complaints:?}");
    }
    if complaints.iter().any(|d| d.diagnostic.level == Level::Error) {
        return;
    }
    let runnable = session.runnable();
    for &name in &runnable {
        let request = Request { graph: GraphId::ROOT, node: None, steps: vec![name], sort: false };
        let _ = session.run(&GRAPH, &request);
    }
    link(text);
    if !runnable.is_empty() {
        let _ = session.symbols(&GRAPH, GraphId::ROOT);
    }
});
