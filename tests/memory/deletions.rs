//! Every protective entry of the shipped rules taken out, one at a time: which graph notices?
//!
//! An entry is a checker, an `always`, a cell of the matrix that wants a copy, a case of an ordered list, an alternative of a condition, an
//! action that is done, or a whole pass. `deletions.md` says of each who notices, or why nobody does. The test fails when an
//! entry is missing there, when a witness no longer notices, or when a graph notices what nobody did. `UPDATE_DELETIONS=1` writes
//! the table, with the reasons that were there; `UPDATE_DELETIONS=all` looks at all graphs again also where a reason is given.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anchorwatch::cli::cases::{Found, find};
use anchorwatch::engine::{RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot};
use anchorwatch::lang::Level;

use crate::behaviours::{ELIMINATION, PROTECTION, adds_after};
use crate::demands::violations;
use crate::machine::{Behaviour, Choice};
use crate::mutations::{Change, deletions, key, text};
use crate::sketch::Palette;
use crate::soundness::{ALL, LAYERS, Sample, faults, generous, graphs, meaning, run, samples};

/// A graph to look at.
struct Witness {
    name: String,
    graph: Snapshot,
    steps: Vec<&'static str>,
    meant: Option<Vec<(Choice, Behaviour)>>,
    /// Copies are taken out: may anything happen that could not happen before?
    eliminates: bool,
    addresses_move: bool,
    shipped: OnceCell<Made>,
}

/// What comes of a graph.
struct Made {
    /// The graph, or the first failure.
    after: String,
    wrong: BTreeSet<String>,
}

/// Rules that change and the shipped ones, each in a session for graphs whose addresses may move and in one for others.
struct Bench {
    rules: RuleSources,
    sessions: [Session; 2],
    shipped: [Session; 2],
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
        let shipped = [session(false), session(true)];
        Bench { rules, sessions, shipped }
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

    /// What comes of the graph without one of its steps; none if it is what comes of it under the shipped rules.
    fn made(
        &self,
        sessions: &[Session; 2],
        witness: &Witness,
        left_out: Option<&str>,
        known: Option<&str>,
    ) -> Option<Made> {
        let steps: Vec<&str> = witness.steps.iter().copied().filter(|step| Some(*step) != left_out).collect();
        let after = run(&sessions[usize::from(witness.addresses_move)], &witness.graph, &steps);
        let printed = after.as_ref().map_or_else(
            |failure| failure.split(':').take(2).collect::<Vec<_>>().join(":"),
            |after| notation::print(after),
        );
        if known == Some(printed.as_str()) {
            return None;
        }
        let wrong = match after {
            Err(_) => BTreeSet::from([printed.clone()]),
            // What is left of a graph may be no graph to run any more.
            Ok(after) => catch_unwind(AssertUnwindSafe(|| self.wrong(witness, &after)))
                .unwrap_or_else(|_| BTreeSet::from(["cannot be run".to_owned()])),
        };
        Some(Made { after: printed, wrong })
    }

    fn wrong(&self, witness: &Witness, after: &Snapshot) -> BTreeSet<String> {
        let mut wrong = BTreeSet::new();
        if witness.eliminates {
            // A fault that is to be told is not passed over in silence.
            wrong.insert("nothing is told".to_owned());
            let rest = [("", PROTECTION), (" that the layers would stop", &[])];
            for (what, protection) in rest {
                match adds_after(&self.shipped[0], &witness.graph, after, protection) {
                    Ok(None) => {}
                    Ok(Some(_)) => drop(wrong.insert(format!("adds a behaviour{what}"))),
                    Err(failure) => drop(wrong.insert(failure)),
                }
            }
            return wrong;
        }
        wrong = violations(after, witness.addresses_move);
        if let Some(meant) = &witness.meant {
            let faults = catch_unwind(AssertUnwindSafe(|| faults(after, meant)));
            let faults = faults.map(|faults| faults.into_iter().map(|(f, at)| format!("{f:?} at {at}")));
            match faults {
                Ok(faults) => wrong.extend(faults),
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
        let shipped = witness
            .shipped
            .get_or_init(|| self.made(&self.shipped, witness, None, None).expect("nothing is known yet"));
        self.made(&self.sessions, witness, left_out, Some(&shipped.after))
            .is_some_and(|made| made.wrong.iter().any(|found| !shipped.wrong.contains(found)))
    }
}

/// Sketches of each palette.
const SAMPLES: usize = 80;

/// Sketches, and the graphs of the scenarios that have no options but one.
fn witnesses() -> Vec<Witness> {
    let flat = Palette { copies: true, ..Palette::default() };
    let constants = Palette { constants: true, ..Palette::default() };
    let rich = Palette { copies: true, blocks: true, calls: true, ..Palette::default() };
    // What one pass lets pass another may mend, so the layers are looked at alone, too.
    let parts: [(&str, Palette, &[&'static str]); 4] = [
        ("layers", flat, LAYERS),
        ("layers with constants", constants, LAYERS),
        ("layers with calls", rich, LAYERS),
        ("all", rich, ALL),
    ];
    let witness = |name: String, graph: Snapshot, steps: &[&'static str]| Witness {
        name,
        graph,
        steps: steps.to_vec(),
        meant: None,
        eliminates: false,
        addresses_move: false,
        shipped: OnceCell::new(),
    };
    let mut all: Vec<Witness> = Vec::new();
    for (part, palette, steps) in parts {
        let sketched = samples(SAMPLES, palette).into_iter().enumerate();
        all.extend(sketched.map(|(number, Sample { graph, meant })| Witness {
            meant: Some(meant),
            ..witness(format!("{part}: sketch {number}"), graph, steps)
        }));
    }
    let moves = Palette { moves: true, copies: true, ..Palette::default() };
    for (part, palette) in [("moves", moves), ("moves with calls", Palette { calls: true, ..moves })] {
        let sketched = graphs(5 * SAMPLES, palette).into_iter().enumerate();
        all.extend(sketched.map(|(number, graph)| Witness {
            eliminates: true,
            ..witness(format!("{part}: sketch {number}"), graph, &[ELIMINATION])
        }));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    for part in ["layout", "readwrite", ELIMINATION] {
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
                let steps: &[&'static str] = match part {
                    "layout" => &["layout"],
                    "readwrite" => ALL,
                    _ => &[ELIMINATION],
                };
                let small = graph.node_count() < 20 && part == "readwrite";
                let meant = if small { catch_unwind(|| meaning(&graph)).ok().flatten() } else { None };
                all.push(Witness {
                    meant,
                    eliminates: part == ELIMINATION,
                    addresses_move,
                    ..witness(format!("{part}/{file}: {title}"), graph, steps)
                });
            }
        }
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

/// Said of a step of a chain that cannot be missed.
const REFUSED: &str = "refused: the rules have errors without it";

/// What the table says of each deletion, by the key of its name: the name, who notices, or why nobody.
fn table() -> BTreeMap<String, (String, bool, String)> {
    let text = std::fs::read_to_string(TABLE).unwrap_or_default();
    let rows = text.lines().filter_map(|line| {
        let (name, said) = line.strip_prefix("| `")?.split_once("` | ")?;
        let said = said.strip_suffix(" |")?;
        let noticed = said.strip_prefix("noticed by ");
        Some((key(name), (name.to_owned(), noticed.is_some(), noticed.unwrap_or(said).to_owned())))
    });
    rows.collect()
}

/// Deletions that leave rules with errors are none, but for steps of chains: nobody could make them by mistake.
#[test]
fn every_deletion_is_noticed_or_explained() {
    // Graphs that cannot be run any more are told by panics, which nobody wants to read.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let update = std::env::var("UPDATE_DELETIONS").is_ok();
    let problems = if update { write_table() } else { problems() };
    std::panic::set_hook(hook);
    assert!(problems.is_empty(), "run with UPDATE_DELETIONS=1\n{}", problems.join("\n"));
}

fn problems() -> Vec<String> {
    let mut bench = Bench::new();
    let witnesses = witnesses();
    let by_name: BTreeMap<&str, &Witness> =
        witnesses.iter().map(|witness| (witness.name.as_str(), witness)).collect();
    let mut told = table();
    let mut problems = Vec::new();
    // How many look at what nobody noticed, others each time.
    let some = 6 * generous() as usize;
    for (number, deletion) in deletions(&bench.rules).into_iter().enumerate() {
        bench.put(&deletion.change);
        let refused = bench.has_errors();
        match told.remove(&key(&deletion.name)) {
            None if refused && !deletion.step => {}
            None => problems.push(format!("not in the table: {}", deletion.name)),
            Some((_, _, said)) if (said == REFUSED) != refused => {
                problems.push(format!("{}: {said}? refused: {refused}", deletion.name));
            }
            Some(_) if refused => {}
            Some((_, true, said)) => {
                let witness = by_name.get(said.as_str());
                if !witness.is_some_and(|witness| bench.notices(witness, &deletion.change)) {
                    problems.push(format!("{} is no longer noticed by {said}", deletion.name));
                }
            }
            Some((_, false, said)) => {
                let concerned: Vec<&Witness> =
                    witnesses.iter().filter(|witness| Bench::concerns(witness, &deletion.change)).collect();
                let step = (concerned.len() / some).max(1);
                let mut lookers = concerned.into_iter().skip(number % step).step_by(step);
                if let Some(witness) = lookers.find(|witness| bench.notices(witness, &deletion.change)) {
                    problems.push(format!("{} is noticed by {}", deletion.name, witness.name));
                }
                if said.is_empty() {
                    problems.push(format!("no reason for {}", deletion.name));
                }
            }
        }
        bench.restore(&deletion.change);
    }
    problems.extend(told.into_values().map(|(name, ..)| format!("no such entry: {name}")));
    problems
}

fn write_table() -> Vec<String> {
    let mut bench = Bench::new();
    let witnesses = witnesses();
    let before = table();
    let everything = std::env::var("UPDATE_DELETIONS").is_ok_and(|how| how == "all");
    let (mut noticed, mut unnoticed) = (String::new(), String::new());
    for deletion in deletions(&bench.rules) {
        bench.put(&deletion.change);
        let known = before.get(&key(&deletion.name));
        if bench.has_errors() {
            if deletion.step {
                unnoticed += &format!("| `{}` | {REFUSED} |\n", deletion.name);
            }
        } else {
            // What nobody noticed is looked at again only if all is.
            let settled =
                known.is_some_and(|(_, noticed, reason)| !noticed && !reason.is_empty()) && !everything;
            let mut order: Vec<&Witness> = if settled { Vec::new() } else { witnesses.iter().collect() };
            // Who noticed before comes first.
            order.sort_by_key(|witness| !known.is_some_and(|(_, _, said)| *said == witness.name));
            match order.into_iter().find(|witness| {
                Bench::concerns(witness, &deletion.change) && bench.notices(witness, &deletion.change)
            }) {
                Some(witness) => {
                    noticed += &format!("| `{}` | noticed by {} |\n", deletion.name, witness.name)
                }
                None => {
                    let reason = known.filter(|(_, noticed, _)| !noticed).map_or("", |(.., reason)| reason);
                    unnoticed += &format!("| `{}` | {reason} |\n", deletion.name);
                }
            }
        }
        bench.restore(&deletion.change);
    }
    let text = format!(
        "# Deletions\n\nWhich graph goes wrong when one entry of the rules is taken out. Kept true by `tests/memory/deletions.rs`.\n\n\
         ## That no graph notices\n\nWhat the machine cannot see, or what else protects the same value.\n\n\
         | entry | why |\n| --- | --- |\n{unnoticed}\n## That are noticed\n\n| entry | |\n| --- | --- |\n{noticed}"
    );
    std::fs::write(TABLE, text).expect("the table can be written");
    Vec::new()
}
