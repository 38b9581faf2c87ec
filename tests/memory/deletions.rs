//! Every protective entry of the shipped rules taken out, one at a time: which graph notices?
//!
//! An entry is a checker, an `always`, a cell of the matrix that wants a copy, a case of an ordered list, an alternative of a condition, an
//! action that is done, or a whole pass. `deletions.md` says of each who notices, or why nobody does. The test fails when an
//! entry is missing there, when a witness no longer notices, or when a graph notices what nobody did. `UPDATE_DELETIONS=1` writes
//! the table, with the reasons that were there; `UPDATE_DELETIONS=all` looks at all graphs again also where a reason is given.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use anchorwatch::cli::cases::{Found, find};
use anchorwatch::engine::{RuleSources, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot};
use anchorwatch::lang::Level;

use crate::behaviours::{ELIMINATION, PROTECTION, adds_after};
use crate::cells::Semantics;
use crate::demands::violations;
use crate::machine::{self, Behaviour, Choice, Machine, is_copy};
use crate::mutations::{Change, Deletion, deletions, key, text};
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
    shipped: OnceLock<Made>,
}

/// What comes of a graph.
struct Made {
    /// The graph, or the first failure.
    after: String,
    copies: usize,
    wrong: BTreeSet<String>,
}

/// What a graph says of a deletion.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Look {
    /// What comes of it is the same.
    Same,
    /// It is another graph, with fewer copies or not, and nothing goes wrong.
    Harmless {
        fewer: bool,
    },
    Noticed,
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
        let copies = after.as_ref().map_or(0, |after| {
            after.all_nodes(GraphId::ROOT).into_iter().filter(|&node| is_copy(after, node)).count()
        });
        let wrong = match after {
            Err(_) => BTreeSet::from([printed.clone()]),
            // What is left of a graph may be no graph to run any more.
            Ok(after) => catch_unwind(AssertUnwindSafe(|| self.wrong(witness, &after)))
                .unwrap_or_else(|_| BTreeSet::from(["cannot be run".to_owned()])),
        };
        Some(Made { after: printed, copies, wrong })
    }

    fn wrong(&self, witness: &Witness, after: &Snapshot) -> BTreeSet<String> {
        let mut wrong = violations(after, witness.addresses_move);
        if witness.eliminates {
            // A fault that is to be told is not passed over in silence.
            wrong.insert("nothing is told".to_owned());
            if writes_constant(after) {
                wrong.insert("a constant is written".to_owned());
            }
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

    fn look(&self, witness: &Witness, change: &Change) -> Look {
        let left_out = if let Change::Step(step) = change { Some(*step) } else { None };
        let shipped = witness
            .shipped
            .get_or_init(|| self.made(&self.shipped, witness, None, None).expect("nothing is known yet"));
        match self.made(&self.sessions, witness, left_out, Some(&shipped.after)) {
            None => Look::Same,
            Some(made) if made.wrong.is_subset(&shipped.wrong) => {
                Look::Harmless { fewer: made.copies < shipped.copies }
            }
            Some(_) => Look::Noticed,
        }
    }

    fn notices(&self, witness: &Witness, change: &Change) -> bool {
        self.look(witness, change) == Look::Noticed
    }
}

fn writes_constant(graph: &Snapshot) -> bool {
    let writes = |choice| Machine::new(graph, Semantics::Memory, &choice).writes_constant();
    machine::choices(graph).into_iter().any(writes)
}

/// Sketches of each palette.
const SAMPLES: usize = 80;

/// Sketches, and the graphs of the scenarios that have no options but one.
fn witnesses() -> Vec<Witness> {
    let flat = Palette { copies: true, ..Palette::default() };
    let constants = Palette { constants: true, ..Palette::default() };
    let rich = Palette { copies: true, blocks: true, calls: true, ..Palette::default() };
    // What one pass lets pass another may mend, so the layers are looked at alone, too.
    let parts: [(&str, Palette, &[&'static str]); 6] = [
        ("layers", flat, LAYERS),
        ("layers with constants", constants, LAYERS),
        ("layers with calls", rich, LAYERS),
        ("all", rich, ALL),
        ("hccl_memcpy alone", flat, &["hccl_memcpy"]),
        ("subgraph alone", rich, &["subgraph"]),
    ];
    let witness = |name: String, graph: Snapshot, steps: &[&'static str]| Witness {
        name,
        graph,
        steps: steps.to_vec(),
        meant: None,
        eliminates: false,
        addresses_move: false,
        shipped: OnceLock::new(),
    };
    let mut all: Vec<Witness> = Vec::new();
    for (part, palette, steps) in parts {
        let sketched = samples(SAMPLES, palette).into_iter().enumerate();
        all.extend(sketched.map(|(number, Sample { graph, meant })| Witness {
            meant: Some(meant),
            ..witness(format!("{part}: sketch {number}"), graph, steps)
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
                if part == "readwrite" {
                    all.push(Witness {
                        meant: meant.clone(),
                        addresses_move,
                        ..witness(format!("{part}/{file}, layers: {title}"), graph.clone(), LAYERS)
                    });
                }
                all.push(Witness {
                    meant,
                    eliminates: part == ELIMINATION,
                    addresses_move,
                    ..witness(format!("{part}/{file}: {title}"), graph, steps)
                });
            }
        }
    }
    let moves = Palette { moves: true, copies: true, ..Palette::default() };
    for (part, palette) in [("moves", moves), ("moves with calls", Palette { calls: true, ..moves })] {
        let sketched = graphs(2 * SAMPLES, palette).into_iter().enumerate();
        all.extend(sketched.map(|(number, graph)| Witness {
            eliminates: true,
            ..witness(format!("{part}: sketch {number}"), graph, &[ELIMINATION])
        }));
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

/// Each deletion looked at under rules without it, by as many hands as there are; what was found, in order.
fn each<T: Send>(look: impl Fn(&Bench, &Deletion, usize) -> T + Sync) -> Vec<(Deletion, T)> {
    let all = deletions(&Bench::new().rules);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut bench = Bench::new();
        let mut found = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(deletion) = all.get(number) else { return found };
            bench.put(&deletion.change);
            found.push((number, look(&bench, deletion, number)));
            bench.restore(&deletion.change);
        }
    };
    let hands = std::thread::available_parallelism().map_or(1, usize::from);
    let mut found: Vec<(usize, T)> = std::thread::scope(|scope| {
        let hands: Vec<_> = (0..hands).map(|_| scope.spawn(work)).collect();
        hands.into_iter().flat_map(|hand| hand.join().expect("no panic")).collect()
    });
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(number, found)| (all[number].clone(), found)).collect()
}

fn problems() -> Vec<String> {
    let witnesses = witnesses();
    let by_name: BTreeMap<&str, &Witness> =
        witnesses.iter().map(|witness| (witness.name.as_str(), witness)).collect();
    let told = table();
    // How many look at what nobody noticed, others each time.
    let some = 6 * generous() as usize;
    let found = each(|bench, deletion, number| {
        let name = &deletion.name;
        let refused = bench.has_errors();
        match told.get(&key(name)) {
            None if refused && !deletion.step => None,
            None => Some(format!("not in the table: {name}")),
            Some((_, _, said)) if (said == REFUSED) != refused => {
                Some(format!("{name}: {said}? refused: {refused}"))
            }
            Some(_) if refused => None,
            Some((_, true, said)) => {
                let notices = |witness: &&Witness| bench.notices(witness, &deletion.change);
                let noticed = by_name.get(said.as_str()).is_some_and(notices);
                (!noticed).then(|| format!("{name} is no longer noticed by {said}"))
            }
            Some((_, false, said)) if said.is_empty() => Some(format!("no reason for {name}")),
            Some((_, false, _)) => {
                let concerned: Vec<&Witness> =
                    witnesses.iter().filter(|witness| Bench::concerns(witness, &deletion.change)).collect();
                let step = (concerned.len() / some).max(1);
                let mut lookers = concerned.into_iter().skip(number % step).step_by(step);
                let one = lookers.find(|witness| bench.notices(witness, &deletion.change));
                one.map(|witness| format!("{name} is noticed by {}", witness.name))
            }
        }
    });
    let names: BTreeSet<String> = found.iter().map(|(deletion, _)| key(&deletion.name)).collect();
    let gone = told.iter().filter(|(key, _)| !names.contains(*key));
    let gone: Vec<String> = gone.map(|(_, (name, ..))| format!("no such entry: {name}")).collect();
    found.into_iter().filter_map(|(_, problem)| problem).chain(gone).collect()
}

fn write_table() -> Vec<String> {
    let witnesses = witnesses();
    let before = table();
    let everything = std::env::var("UPDATE_DELETIONS").is_ok_and(|how| how == "all");
    let found = each(|bench, deletion, _| {
        let known = before.get(&key(&deletion.name));
        if bench.has_errors() {
            return deletion.step.then(|| (false, REFUSED.to_owned()));
        }
        // What nobody noticed is looked at again only if all is.
        let settled = known.is_some_and(|(_, noticed, reason)| !noticed && !reason.is_empty()) && !everything;
        let mut order: Vec<&Witness> = if settled { Vec::new() } else { witnesses.iter().collect() };
        // Who noticed before comes first.
        order.sort_by_key(|witness| known.is_none_or(|(_, _, said)| *said != witness.name));
        let (mut other, mut fewer) = (0, 0);
        let one =
            order.into_iter().filter(|witness| Bench::concerns(witness, &deletion.change)).find(|witness| {
                let look = bench.look(witness, &deletion.change);
                other += usize::from(matches!(look, Look::Harmless { .. }));
                fewer += usize::from(look == Look::Harmless { fewer: true });
                look == Look::Noticed
            });
        let reason = || known.filter(|(_, noticed, _)| !noticed).map_or("", |(.., reason)| reason).to_owned();
        let row = one.map_or_else(|| (false, reason()), |one| (true, format!("noticed by {}", one.name)));
        // To judge the reason by.
        eprintln!("{}: {}; others {other}, with fewer copies {fewer}", deletion.name, row.1);
        Some(row)
    });
    let rows = |wanted: bool| -> String {
        let rows = found.iter().filter_map(|(deletion, row)| Some((&deletion.name, row.as_ref()?)));
        rows.filter(|(_, (noticed, _))| *noticed == wanted)
            .map(|(name, (_, said))| format!("| `{name}` | {said} |\n"))
            .collect()
    };
    let text = format!(
        "# Deletions\n\nWhich graph goes wrong when one entry of the rules is taken out. Kept true by `tests/memory/deletions.rs`.\n\n\
         ## That no graph notices\n\nWhat was measured (does any graph come out otherwise, any with fewer copies?), and why nothing is wrong with it, \
         as the rules are read.\n\n\
         | entry | why |\n| --- | --- |\n{}\n## That are noticed\n\n| entry | |\n| --- | --- |\n{}",
        rows(false),
        rows(true)
    );
    std::fs::write(TABLE, text).expect("the table can be written");
    Vec::new()
}
