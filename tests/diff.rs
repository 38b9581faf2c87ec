//! Edited copies of the shipped rules (`tests/diff/NAME.change`), each reported as exactly the change that it is.
//!
//! `=== diff` holds what the terminal shows. `=== witness TRIES` says that a graph on which the two rule sets disagree is found
//! among so many, beginning with the graphs of `tests/scenarios`.

#[path = "support/files.rs"]
mod files;
#[path = "support/patch.rs"]
mod patch;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anchorwatch::audit::diff::compare;
use anchorwatch::audit::mutate::{mutants, sample};
use anchorwatch::audit::witness::{Found, Search, Trial};
use anchorwatch::engine::{RuleSources, Session, TestGraph};
use anchorwatch::lang::Level;
use anchorwatch::report::diff::Report;
use anchorwatch::report::{Human, Style, diff as report};
use files::files;

/// Mutants of the shipped rules that are looked at.
const MUTANTS: usize = 300;

fn session(sources: RuleSources) -> Session {
    let session = Session::new(sources);
    let errors: Vec<_> =
        session.diagnostics().into_iter().filter(|d| d.diagnostic.level == Level::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    session
}

#[test]
fn each_change_is_told_as_what_it_is() {
    let human = Human::new(Style { color: false, width: None });
    let changes = patch::all("tests/diff", ".change");
    assert!(changes.len() >= 15, "{} changes", changes.len());
    let mut wrong = String::new();
    let shipped = session(RuleSources::shipped());
    for (name, patch) in &changes {
        let difference = compare(&shipped, &session(patch.apply()));
        let told = report::human(&Report { difference, graphs: None, witness: None }, &human);
        let expected = patch.sections.iter().find(|(word, _)| word == "diff").map_or("", |(_, text)| text);
        if told != *expected {
            wrong.push_str(&format!("{name}\n--- expected\n{expected}--- told\n{told}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What a change does not touch is not told: the way back is as long, and nothing is told of equal rules.
#[test]
fn the_way_back_tells_as_much() {
    let shipped = session(RuleSources::shipped());
    assert!(compare(&shipped, &session(RuleSources::shipped())).is_empty());
    for (name, patch) in patch::all("tests/diff", ".change") {
        let changed = session(patch.apply());
        let (there, back) = (compare(&shipped, &changed), compare(&changed, &shipped));
        assert_eq!(
            (there.changes.len(), there.pairs.len(), there.differs()),
            (back.changes.len(), back.pairs.len(), back.differs()),
            "{name}"
        );
    }
}

/// The graphs of the tests of the layers.
fn seeds() -> Vec<Trial> {
    let mut rules = Vec::new();
    for folder in ["layout", "readwrite"] {
        rules.extend(files(format!("tests/scenarios/{folder}"), "anchor").into_iter().map(|path| {
            (path.display().to_string(), fs::read_to_string(&path).expect("a rule file"), false)
        }));
    }
    let graphs = Session::new(RuleSources { files: rules }).test_graphs().into_iter();
    let trial = |graph: TestGraph| Trial {
        snapshot: graph.before,
        root: graph.root,
        steps: graph.steps,
        options: graph.options,
    };
    graphs.map(trial).collect()
}

fn find(patch: &patch::Patch, go_on: &mut dyn FnMut(usize) -> bool) -> Found {
    let (old, new) = (RuleSources::shipped(), patch.apply());
    let difference = compare(&session(old.clone()), &session(new.clone()));
    let search = Search { old: &old, new: &new, difference: &difference, seeds: seeds(), seed: 1 };
    anchorwatch::audit::witness::search(&search, go_on)
}

#[test]
fn witnesses_are_found_and_are_small() {
    let mut count = 0;
    for (name, patch) in patch::all("tests/diff", ".change") {
        let tries = patch.sections.iter().find_map(|(word, _)| word.strip_prefix("witness ")?.parse().ok());
        let Some(tries) = tries else { continue };
        let Found::Witness(witness) = find(&patch, &mut |tried| tried < tries) else {
            panic!("{name}: no witness");
        };
        assert!(witness.decides && witness.nodes <= 6, "{name}: {witness:?}");
        assert!(
            witness.test.starts_with("test \"") && witness.test.contains("  expect "),
            "{}",
            witness.test
        );
        count += 1;
    }
    assert!(count >= 3, "{count}");
}

/// Where nothing that runs is changed, nothing is searched.
#[test]
fn a_change_of_words_has_no_witness() {
    let patches = patch::all("tests/diff", ".change");
    let (_, patch) = patches.iter().find(|(name, _)| name == "reason_changed").expect("the change");
    assert_eq!(find(patch, &mut |_| true), Found::NothingRuns);
}

/// The program in a folder; what it wrote on both streams, and its exit code.
fn program(folder: &Path, args: &[&str], path: &Path) -> (String, Option<i32>) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_anchorwatch"));
    let output = program.args(args).current_dir(folder).env("PATH", path).output().expect("the program runs");
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.code())
}

#[test]
fn rules_of_a_revision_are_read_with_git() {
    let folder = tempfile::tempdir().expect("a folder");
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
        let output =
            Command::new("git").args(who).args(args).current_dir(folder.path()).output().expect("git runs");
        assert!(output.status.success(), "{output:?}");
    };
    let write = |text: &str| {
        fs::create_dir_all(folder.path().join("rules")).expect("a folder");
        fs::write(folder.path().join("rules/a.anchor"), text).expect("a file");
    };
    git(&["init", "-q"]);
    write("set _S = { A, B }\n");
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "one"]);
    write("set _S = { A, C }\n");
    let path = PathBuf::from(std::env::var_os("PATH").expect("a path"));
    let told = "rules\n  set _S\n    element `B` dropped\n    element `C` added\n2 changes\n";
    for old in ["HEAD:rules", "HEAD:rules/a.anchor"] {
        assert_eq!(
            program(folder.path(), &["diff", old, "rules"], &path),
            (told.to_owned(), Some(1)),
            "{old}"
        );
    }
    let (text, code) = program(folder.path(), &["diff", "NO_SUCH:rules", "rules"], &path);
    assert!(
        code == Some(2) && text.starts_with("rules::git\n\n  × `NO_SUCH:rules` cannot be read: "),
        "{text}"
    );
    // Where there is no git, it is said.
    let (text, code) = program(folder.path(), &["diff", "HEAD:rules", "rules"], folder.path());
    assert!(code == Some(2) && text.contains("there is no `git` here"), "{text}");
}

/// Whatever a mutant changes, if the rules still check, is told: no part of an entry is looked past.
#[test]
fn every_small_change_is_told() {
    let shipped = session(RuleSources::shipped());
    let all = mutants(&shipped, &|_, _| true);
    let mut changed = session(RuleSources::shipped());
    let mut told = 0;
    for mutant in sample(all, MUTANTS, 1) {
        let text = changed.file_text(&mutant.path).expect("a file of the rules");
        changed.set_text(&mutant.path, &mutant.apply(&text));
        if changed.diagnostics().iter().all(|d| d.diagnostic.level != Level::Error) {
            let difference = compare(&shipped, &changed);
            assert!(!difference.is_empty(), "{}", mutant.name());
            told += 1;
        }
        changed.set_text(&mutant.path, &text);
    }
    assert!(told > MUTANTS / 2, "{told} of {MUTANTS}");
}
