//! The same rules, graph and options give the same bytes: in every process, whatever it interned before, and up to
//! the order of group members whatever order the file lists its nodes in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot, Sym, label};

#[allow(dead_code, reason = "benches use the rest")]
#[path = "../benches/support/generate.rs"]
mod generate;

fn graph(nodes: usize, seed: u64) -> Snapshot {
    generate::generate(&generate::Spec { nodes, seed, shape: generate::Shape::Mixed })
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// Everything that a user can see of a run.
fn bytes(session: &Session, snapshot: &Snapshot) -> String {
    let mut text = String::new();
    let symbols = session.symbols(snapshot, GraphId::ROOT).expect("groups");
    for group in symbols.groups() {
        let members: Vec<String> = group.members.iter().map(|&anchor| label(snapshot, anchor)).collect();
        let _ = writeln!(text, "{}", members.join(" "));
    }
    let request = Request { graph: GraphId::ROOT, node: None, steps: Vec::new(), sort: true };
    let outcome = session.run(snapshot, &request).expect("sound rules");
    for step in &outcome.steps {
        let _ = writeln!(text, "{:?} {:#?} {:#?} {:#?}", step.pass, step.findings, step.edits, step.failure);
    }
    text.push_str(&notation::print(&outcome.after));
    let _ = writeln!(text, "{:#?}", session.diagnostics());
    text
}

const SEED: &str = "ANCHORWATCH_TEST_SEED";
const OUT: &str = "ANCHORWATCH_TEST_OUT";

/// One run in a process of its own. All words of the rules and of the graph are interned beforehand in an order of
/// its own, between words that nobody uses, so their numbers are others in each process.
/// Without its variables it has nothing to do: [`ten_processes_give_the_same_bytes`] starts it with them.
#[test]
fn one_process() {
    let (Ok(seed), Ok(out)) = (std::env::var(SEED), std::env::var(OUT)) else { return };
    let mut random = Random(seed.parse().expect("a number"));
    let sources = RuleSources::shipped();
    let mut words: BTreeSet<String> = BTreeSet::new();
    for (_, text, _) in &sources.files {
        words.extend(text.split(|c: char| !(c.is_alphanumeric() || "_.".contains(c))).map(str::to_owned));
    }
    for graph_word in
        ["Relu", "MatMul", "Identity", "__input0", "__output0", "index", "ref", "value", "x", "y"]
    {
        words.insert(graph_word.to_owned());
    }
    let mut words: Vec<String> = words.into_iter().collect();
    random.shuffle(&mut words);
    for (number, word) in words.iter().enumerate() {
        if random.below(3) == 0 {
            Sym::new(&format!("junk {number}"));
        }
        Sym::new(word);
    }
    std::fs::write(out, bytes(&Session::new(sources), &graph(400, 3))).expect("a file to write");
}

#[test]
fn ten_processes_give_the_same_bytes() {
    let dir = tempfile::tempdir().expect("a folder");
    let this = std::env::current_exe().expect("this test");
    let mut first: Option<String> = None;
    for seed in 0..10 {
        let out = dir.path().join(seed.to_string());
        let output = Command::new(&this)
            .args(["--exact", "one_process"])
            .env(SEED, seed.to_string())
            .env(OUT, &out)
            .output()
            .expect("a process");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let text = std::fs::read_to_string(&out).expect("what the process wrote");
        assert!(text.contains("Finding"), "the graph has conflicts");
        let first = first.get_or_insert_with(|| text.clone());
        let differing = first.lines().zip(text.lines()).find(|(a, b)| a != b);
        assert_eq!(differing, None, "run {seed}");
        assert_eq!(first.len(), text.len(), "run {seed}");
    }
}

#[test]
fn sessions_of_one_process_give_the_same_bytes() {
    let snapshot = graph(200, 5);
    let first = bytes(&Session::new(RuleSources::shipped()), &snapshot);
    let warm = Session::new(RuleSources::shipped());
    bytes(&warm, &graph(150, 6));
    assert_eq!(first, bytes(&warm, &snapshot));
    assert_eq!(first, bytes(&warm, &snapshot));
}

/// The graph in the order that every pass starts from.
fn sorted(session: &Session, snapshot: &Snapshot) -> Snapshot {
    let request =
        Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new("layout_order")], sort: false };
    session.run(snapshot, &request).expect("sound rules").after
}

/// The same graph with its nodes listed in another order.
fn shuffled(snapshot: &Snapshot, seed: u64) -> Snapshot {
    let mut random = Random(seed);
    let mut edit = snapshot.edit();
    for graph in std::iter::once(GraphId::ROOT).chain(snapshot.registry()) {
        let mut order: Vec<_> = snapshot.list(graph).collect();
        random.shuffle(&mut order);
        edit.set_list(graph, order);
    }
    edit.finish(snapshot)
}

/// Groups as sets. The order of members, and with it the founder that gives the name, follows the list of nodes
/// (layout 3.3); which anchors share a symbol does not.
fn partition(session: &Session, snapshot: &Snapshot) -> BTreeSet<BTreeSet<String>> {
    let symbols = session.symbols(snapshot, GraphId::ROOT).expect("groups");
    let labels = |members: &[_]| members.iter().map(|&anchor| label(snapshot, anchor)).collect();
    symbols.groups().iter().map(|group| labels(&group.members)).collect()
}

/// Which rules find something in which groups. Which of two anchors is `first`, and so which one gets the copy, depends
/// on the order; that the two conflict does not.
fn conflicts(session: &Session, snapshot: &Snapshot) -> BTreeMap<String, BTreeSet<Vec<String>>> {
    let request =
        Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new("layout_conflicts")], sort: false };
    let outcome = session.run(snapshot, &request).expect("sound rules");
    let symbols = session.symbols(snapshot, GraphId::ROOT).expect("groups");
    let mut found: BTreeMap<String, BTreeSet<Vec<String>>> = BTreeMap::new();
    for finding in outcome.findings() {
        let anchor = finding.places[0].anchor.expect("an anchor");
        let group = symbols.groups().iter().find(|g| g.members.contains(&anchor)).expect("its group");
        let mut members: Vec<String> = group.members.iter().map(|&a| label(snapshot, a)).collect();
        members.sort();
        for rule in std::iter::once(&finding.rule).chain(finding.also.iter().map(|(rule, _)| rule)) {
            found.entry(rule.name.as_str().to_owned()).or_default().insert(members.clone());
        }
    }
    found
}

#[test]
fn the_order_of_the_node_list_does_not_decide_what_shares_memory_and_what_conflicts() {
    let session = Session::new(RuleSources::shipped());
    for seed in 1..4 {
        let snapshot = sorted(&session, &graph(200, seed));
        let (groups, found) = (partition(&session, &snapshot), conflicts(&session, &snapshot));
        assert!(groups.len() > 20 && !found.is_empty());
        for order in 0..3 {
            let other = sorted(&session, &shuffled(&snapshot, order));
            assert_ne!(
                other.list(GraphId::ROOT).collect::<Vec<_>>(),
                snapshot.list(GraphId::ROOT).collect::<Vec<_>>()
            );
            assert_eq!(groups, partition(&session, &other), "seed {seed}, order {order}");
            let other = conflicts(&session, &other);
            let rules: BTreeSet<_> = found.keys().chain(other.keys()).collect();
            for rule in rules {
                assert_eq!(found.get(rule), other.get(rule), "{rule}, seed {seed}, order {order}");
            }
        }
    }
}
