//! Every protective entry of the shipped rules taken out, one at a time: which graph notices?
//!
//! An entry is a checker, an `always`, a cell of the matrix that wants a copy, a case of an ordered list, an alternative of a condition, an
//! action that is done, or a whole pass. `deletions.md` says of each who notices, or why nobody does. The test fails when an
//! entry is missing there, when a witness no longer notices, or when a graph notices what nobody did. `UPDATE_DELETIONS=1` writes
//! the table, with the reasons that were there; `UPDATE_DELETIONS=all` looks at all graphs again also where a reason is given.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anchorwatch::cli::cases::{Found, find};
use anchorwatch::engine::{RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot};
use anchorwatch::lang::Level;

use crate::behaviours::{ELIMINATION, adds, is_known};
use crate::demands::violations;
use crate::sketch::Palette;
use crate::soundness::{ALL, LAYERS, Sample, faults, graphs, meaning, run, samples};

/// Files whose ordered lists, conditions and actions protect. Those that only read or describe are left out.
const FILES: [&str; 10] = [
    "edits",
    "hccl",
    "identity",
    "inner_identity",
    "layout",
    "layout_pass",
    "readwrite",
    "sharing",
    "subgraph",
    "tensor_move",
];

/// Actions that only describe a copy, or note something for others.
const BOOKKEEPING: [&str; 12] = [
    "do describe_",
    "do label_copy",
    "do inherit_settings",
    "do hand_over_output",
    "do refresh_output_flags",
    "do mark_copy",
    "do check_original_type",
    "do know_writes",
    "do forget_writes",
    "do unbind_port",
    "do hand_on_label",
    "do identity_force",
];

/// One change to the rules.
#[derive(Clone)]
struct Deletion {
    name: String,
    change: Change,
}

#[derive(Clone)]
enum Change {
    /// Another text for a rule file.
    Text(String, String),
    /// An overlay.
    Overlay(String),
    /// This step is left out.
    Step(&'static str),
}

fn text<'r>(rules: &'r RuleSources, file: &str) -> &'r str {
    let path = format!("rules/{file}.anchor");
    rules.files.iter().find(|(name, ..)| *name == path).map_or("", |(_, text, _)| text)
}

fn deletions(rules: &RuleSources) -> Vec<Deletion> {
    let mut all = Vec::new();
    for file in FILES {
        let whole = text(rules, file);
        let mut item = String::new();
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut at = 0;
        for line in whole.split_inclusive('\n') {
            let here = at;
            at += line.len();
            let said = line.trim();
            if line.starts_with("test ") {
                break;
            }
            if line.starts_with(|c: char| c.is_ascii_lowercase()) {
                let words = said.split(['(', ' ', ':']).filter(|word| !word.is_empty());
                item = words.take(2).collect::<Vec<_>>().join(" ");
            }
            if let Some(name) = line.strip_prefix("checker ") {
                let change = Change::Overlay(format!("remove checker {}\n", name.trim()));
                all.push(Deletion { name: format!("{file}: {item}"), change });
            }
            if let Some((one, others)) =
                line.strip_prefix("always ").and_then(|pair| pair.trim().split_once(" with "))
            {
                for other in others.split(", ") {
                    let pair = format!("always {one} with {other}");
                    all.push(Deletion {
                        name: format!("{file}: {pair}"),
                        change: Change::Overlay(format!("remove {pair}\n")),
                    });
                }
            }
            let mut put = |name: String, new: String| {
                let count = seen.entry(name.clone()).or_default();
                *count += 1;
                let name = if *count == 1 { name } else { format!("{name} ({count})") };
                // A step of a chain goes on as long as lines stand further to the right.
                let margin = line.len() - line.trim_start().len();
                let more = whole[at..].split_inclusive('\n').take_while(|next| {
                    said.starts_with("require ") && next.len() - next.trim_start().len() > margin
                });
                let end = at + more.map(str::len).sum::<usize>();
                let text = whole[..here].to_owned() + &new + &whole[end..];
                all.push(Deletion { name, change: Change::Text(file.to_owned(), text) });
            };
            if item == "matrix rw_conflict" && line.contains("InsertIdentity") && line.starts_with(' ') {
                let cells: Vec<&str> = line.split('|').collect();
                for (column, _) in
                    cells.iter().enumerate().filter(|(_, cell)| cell.trim() == "InsertIdentity")
                {
                    let mut less: Vec<&str> = cells.clone();
                    less[column] = " DoNothing ";
                    put(format!("{file}: {item}: {}, column {column}", cells[0].trim()), less.join("|"));
                }
                continue;
            }
            let case = said.split_once(" : ").is_some_and(|(name, rest)| {
                name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit())
                    && rest.contains("=>")
            });
            let alternative = said.starts_with("or ") || said.starts_with("and ");
            if BOOKKEEPING.iter().any(|prefix| said.starts_with(prefix)) {
                continue;
            }
            if line.starts_with(' ')
                && (case
                    || alternative
                    || said.starts_with("do ")
                    || said.starts_with("link ")
                    || said.starts_with("require "))
            {
                let name = if case { said.split(" : ").next().unwrap_or(said) } else { said };
                put(format!("{file}: {item}: {name}"), String::new());
            }
        }
    }
    let steps: BTreeSet<&str> = ALL.iter().copied().collect();
    all.extend(
        steps.into_iter().map(|step| Deletion { name: format!("pass {step}"), change: Change::Step(step) }),
    );
    all
}

/// A graph to look at, with what the shipped rules make of it.
struct Witness {
    name: String,
    graph: Snapshot,
    steps: Vec<&'static str>,
    meant: Option<Vec<(crate::machine::Choice, crate::machine::Behaviour)>>,
    /// Copies are taken out: may anything happen that could not happen before?
    eliminates: bool,
    addresses_move: bool,
    wrong: BTreeSet<String>,
}

/// A session for graphs whose addresses may move, and one for others.
struct Bench {
    rules: RuleSources,
    sessions: [Session; 2],
}

impl Bench {
    fn new() -> Bench {
        let mut rules = RuleSources::shipped();
        rules.files.push(("less.anchor".to_owned(), String::new(), true));
        let session = |moves: bool| {
            let mut session = Session::new(rules.clone());
            if moves {
                session.set_options(
                    BTreeMap::from([("ge.featureBaseRefreshable".to_owned(), "1".to_owned())]),
                    BTreeMap::new(),
                );
            }
            session
        };
        let sessions = [session(false), session(true)];
        Bench { rules, sessions }
    }

    fn put(&mut self, change: &Change) {
        for session in &mut self.sessions {
            match change {
                Change::Text(file, text) => session.set_text(&format!("rules/{file}.anchor"), text),
                Change::Overlay(text) => session.set_text("less.anchor", text),
                Change::Step(_) => {}
            }
        }
    }

    fn restore(&mut self, change: &Change) {
        let shipped = match change {
            Change::Text(file, _) => Change::Text(file.clone(), text(&self.rules, file).to_owned()),
            Change::Overlay(_) => Change::Overlay(String::new()),
            Change::Step(step) => Change::Step(step),
        };
        self.put(&shipped);
    }

    fn has_errors(&self) -> bool {
        self.sessions[0].diagnostics().iter().any(|found| found.diagnostic.level == Level::Error)
    }

    /// What is wrong with the graph after its steps, without one of them.
    fn wrong(&self, witness: &Witness, left_out: Option<&str>) -> BTreeSet<String> {
        if witness.eliminates {
            let added = adds(&self.sessions[0], &witness.graph, &[ELIMINATION]);
            return added
                .map_or_else(|failure| Some(failure), |more| more.map(|_| "adds a behaviour".to_owned()))
                .into_iter()
                .collect();
        }
        let steps: Vec<&str> = witness.steps.iter().copied().filter(|step| Some(*step) != left_out).collect();
        let session = &self.sessions[usize::from(witness.addresses_move)];
        let after = match run(session, &witness.graph, &steps) {
            Ok(after) => after,
            Err(failure) => {
                return BTreeSet::from([failure.split(':').next().unwrap_or_default().to_owned()]);
            }
        };
        let mut wrong = violations(&after, witness.addresses_move);
        if let Some(meant) = &witness.meant {
            // What is left of a graph may be no graph to run any more.
            match catch_unwind(AssertUnwindSafe(|| faults(&after, meant))) {
                Ok(faults) => {
                    wrong.extend(faults.into_iter().map(|(fault, place)| format!("{fault:?} at {place}")))
                }
                Err(_) => drop(wrong.insert("cannot be run".to_owned())),
            }
        }
        wrong
    }

    /// What the layout layer does is shown by its scenarios, what others do by the rest.
    fn concerns(witness: &Witness, change: &Change) -> bool {
        let layout = witness.name.starts_with("layout/");
        match change {
            Change::Text(file, _) if file == ELIMINATION => witness.eliminates,
            _ if witness.eliminates => false,
            Change::Text(file, _) => {
                file.as_str() == "edits" || layout == file.starts_with("layout") || file == "layout_pass"
            }
            Change::Overlay(_) => layout,
            Change::Step(step) => witness.steps.contains(step),
        }
    }

    fn notices(&self, witness: &Witness, change: &Change) -> bool {
        let left_out = if let Change::Step(step) = change { Some(*step) } else { None };
        self.wrong(witness, left_out).iter().any(|found| !witness.wrong.contains(found))
    }
}

/// Sketches of each palette.
const SAMPLES: usize = 80;

/// Sketches, and the graphs of the scenarios that have no options but one.
fn witnesses(bench: &Bench) -> Vec<Witness> {
    let flat = Palette { copies: true, ..Palette::default() };
    let rich = Palette { copies: true, blocks: true, calls: true, ..Palette::default() };
    // What one pass lets pass another may mend, so the layers are looked at alone, too.
    let parts: [(&str, Palette, &[&'static str]); 3] =
        [("layers", flat, LAYERS), ("layers with calls", rich, LAYERS), ("all", rich, ALL)];
    let mut all: Vec<Witness> = Vec::new();
    for (part, palette, steps) in parts {
        let sketched = samples(SAMPLES, palette).into_iter().enumerate();
        all.extend(sketched.map(|(number, Sample { graph, meant })| Witness {
            name: format!("{part}: sketch {number}"),
            graph,
            steps: steps.to_vec(),
            meant: Some(meant),
            eliminates: false,
            addresses_move: false,
            wrong: BTreeSet::new(),
        }));
    }
    if is_known(&bench.sessions[0], ELIMINATION) {
        let moves = Palette { moves: true, calls: true, ..Palette::default() };
        all.extend(graphs(4 * SAMPLES, moves).into_iter().enumerate().map(|(number, graph)| Witness {
            name: format!("moves: sketch {number}"),
            graph,
            steps: vec![ELIMINATION],
            meant: None,
            eliminates: true,
            addresses_move: false,
            wrong: BTreeSet::new(),
        }));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    for part in ["layout", "readwrite"] {
        let files = find(&folder.join(part)).unwrap_or_else(|e| panic!("{}", e.message));
        for found in files {
            let Found::Rules(path) = found else { continue };
            let text = std::fs::read_to_string(&path).expect("a scenario");
            let file = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            for test in text.split("\ntest ").skip(1) {
                let title = test.split('"').nth(1).unwrap_or_default().to_owned();
                let options: Vec<&str> =
                    test.lines().filter_map(|line| line.trim().strip_prefix("option ")).collect();
                let addresses_move = options == ["ge.featureBaseRefreshable = \"1\""];
                let Some(graph) = graph_of(test).filter(|_| options.is_empty() || addresses_move) else {
                    continue;
                };
                let steps = if part == "layout" { vec!["layout"] } else { ALL.to_vec() };
                let small = graph.node_count() < 20 && part == "readwrite";
                let meant = if small { catch_unwind(|| meaning(&graph)).ok().flatten() } else { None };
                all.push(Witness {
                    name: format!("{part}/{file}: {title}"),
                    graph,
                    steps,
                    meant,
                    eliminates: false,
                    addresses_move,
                    wrong: BTreeSet::new(),
                });
            }
        }
    }
    for witness in &mut all {
        witness.wrong = bench.wrong(witness, None);
    }
    all
}

/// The graph of a test.
fn graph_of(test: &str) -> Option<Snapshot> {
    let start = test.find("\n  graph {\n")? + "\n  graph {\n".len();
    let end = start + test[start..].find("\n  }")?;
    notation::parse(&test[start..end]).0.filter(|graph| graph.list(GraphId::ROOT).next().is_some())
}

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/memory/deletions.md");

/// What the table says of each deletion: who notices, or why nobody.
fn table() -> BTreeMap<String, (bool, String)> {
    let text = std::fs::read_to_string(TABLE).unwrap_or_default();
    let rows = text.lines().filter_map(|line| {
        let (name, said) = line.strip_prefix("| `")?.split_once("` | ")?;
        let said = said.strip_suffix(" |")?;
        let noticed = said.strip_prefix("noticed by ");
        Some((name.to_owned(), (noticed.is_some(), noticed.unwrap_or(said).to_owned())))
    });
    rows.collect()
}

/// Deletions that leave rules with errors are none: nobody could make them by mistake.
#[test]
fn every_deletion_is_noticed_or_explained() {
    // Graphs that cannot be run any more are told by panics, which nobody wants to read.
    let hook = std::panic::take_hook();
    if std::env::var("UPDATE_DELETIONS").is_ok() {
        std::panic::set_hook(Box::new(|_| {}));
        update();
        std::panic::set_hook(hook);
        return;
    }
    std::panic::set_hook(hook);
    let mut bench = Bench::new();
    let witnesses = witnesses(&bench);
    let mut told = table();
    let mut problems = Vec::new();
    for (number, deletion) in deletions(&bench.rules).into_iter().enumerate() {
        let Some((noticed, said)) = told.remove(&deletion.name) else {
            bench.put(&deletion.change);
            if !bench.has_errors() {
                problems.push(format!("not in the table: {}", deletion.name));
            }
            bench.restore(&deletion.change);
            continue;
        };
        bench.put(&deletion.change);
        if noticed {
            let witness = witnesses.iter().find(|witness| witness.name == said);
            if !witness.is_some_and(|witness| bench.notices(witness, &deletion.change)) {
                problems.push(format!("{} is no longer noticed by {said}", deletion.name));
            }
        } else {
            // A few, others each time.
            let some = witnesses.iter().skip(number % 60).step_by(60);
            if let Some(witness) = some.into_iter().find(|witness| {
                Bench::concerns(witness, &deletion.change) && bench.notices(witness, &deletion.change)
            }) {
                problems.push(format!("{} is noticed by {}", deletion.name, witness.name));
            }
            if said.is_empty() {
                problems.push(format!("no reason for {}", deletion.name));
            }
        }
        bench.restore(&deletion.change);
    }
    problems.extend(told.into_keys().map(|name| format!("no such entry: {name}")));
    assert!(problems.is_empty(), "run with UPDATE_DELETIONS=1\n{}", problems.join("\n"));
}

fn update() {
    let mut bench = Bench::new();
    let witnesses = witnesses(&bench);
    let before = table();
    let everything = std::env::var("UPDATE_DELETIONS").is_ok_and(|how| how == "all");
    let (mut noticed, mut unnoticed) = (String::new(), String::new());
    for deletion in deletions(&bench.rules) {
        bench.put(&deletion.change);
        if !bench.has_errors() {
            let known = before.get(&deletion.name);
            // What nobody noticed is looked at again only if all is.
            let settled =
                known.is_some_and(|(noticed, reason)| !noticed && !reason.is_empty()) && !everything;
            let mut order: Vec<&Witness> = if settled { Vec::new() } else { witnesses.iter().collect() };
            // Who noticed before comes first.
            order.sort_by_key(|witness| !known.is_some_and(|(_, said)| *said == witness.name));
            match order.into_iter().find(|witness| {
                Bench::concerns(witness, &deletion.change) && bench.notices(witness, &deletion.change)
            }) {
                Some(witness) => {
                    noticed += &format!("| `{}` | noticed by {} |\n", deletion.name, witness.name)
                }
                None => {
                    let reason = known.filter(|(noticed, _)| !noticed).map_or("", |(_, reason)| reason);
                    unnoticed += &format!("| `{}` | {reason} |\n", deletion.name);
                }
            }
            eprintln!("{}", deletion.name);
        }
        bench.restore(&deletion.change);
    }
    let text = format!(
        "# Deletions\n\nWhich graph goes wrong when one entry of the rules is taken out. Kept true by `tests/memory/deletions.rs`.\n\n\
         A reason is said of a kind of entries: what the machine cannot see, or what else protects the same value.\n\n\
         ## That no graph notices\n\n| entry | why |\n| --- | --- |\n{unnoticed}\n## That are noticed\n\n| entry | |\n| --- | --- |\n{noticed}"
    );
    std::fs::write(TABLE, text).expect("the table can be written");
}
