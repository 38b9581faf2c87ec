//! Golden cases: what the rules make of a graph is what the reference compiler made of it (`tests/cases/README.md`).

use std::path::Path;

use anchorwatch::cli::cases::{Found, find, read};
use anchorwatch::engine::{RuleSources, Session};

fn all(folder: &str) {
    let session = Session::new(RuleSources::shipped());
    let problems = session.diagnostics();
    assert!(problems.is_empty(), "the rules have problems: {problems:#?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
    let cases = find(&folder).unwrap_or_else(|e| panic!("{}", e.message));
    assert!(!cases.is_empty(), "{} holds cases", folder.display());
    let failed: Vec<String> = cases
        .iter()
        .map(Found::path)
        .filter_map(|path| {
            let case = read(path).unwrap_or_else(|e| panic!("{}: {}", path.display(), e.message));
            let differences = session.run_case(&case).err()?;
            Some(format!("{}:\n  {}", path.display(), differences.join("\n  ")))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {} cases differ\n{}", failed.len(), cases.len(), failed.join("\n"));
}

#[test]
fn layout() {
    all("layout");
}

#[test]
fn symbols() {
    all("symbols");
}

#[test]
fn hccl_memcpy() {
    all("hccl_memcpy");
}

#[test]
fn hccl_continuous() {
    all("hccl_continuous");
}

#[test]
fn subgraph() {
    all("subgraph");
}

#[test]
fn identity() {
    all("identity");
}

#[test]
fn identity_force() {
    all("identity_force");
}

#[test]
fn lint() {
    all("lint");
}

#[test]
fn rw() {
    all("rw");
}

#[test]
fn tensor_move() {
    all("tensor_move");
}

#[test]
fn rw_check() {
    all("rw_check");
}

#[test]
fn concat_notask() {
    all("concat_notask");
}

#[test]
fn pack_notask() {
    all("pack_notask");
}
