//! Bad rule files and what is said about them: each `tests/ui/**/NAME.anchor` has a `NAME.expected`.
//!
//! Expected texts are written by hand, from what a reader needs to hear; this runner never writes them.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use anchorwatch::lang::syntax::parse_file;

fn rule_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder of cases is there")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            rule_files(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "anchor") {
            found.push(entry);
        }
    }
}

#[test]
fn each_bad_file_gets_its_diagnostics() {
    let mut files = Vec::new();
    rule_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui"), &mut files);
    assert!(files.len() >= 25, "only {} files were found", files.len());
    let mut wrong = String::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a case is readable text");
        let found = if path.parent().is_some_and(|folder| folder.ends_with("check")) {
            // Names that nothing uses are told in the files about them, and in the one without a complaint.
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            support::checked::check_text(&text).text(name.contains("unused") || name == "everything")
        } else {
            support::render_file(&text, &parse_file(&text))
        };
        let expected = fs::read_to_string(path.with_extension("expected")).unwrap_or_default();
        if found != expected {
            wrong.push_str(&format!("{}\n--- expected\n{expected}--- found\n{found}\n", path.display()));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
