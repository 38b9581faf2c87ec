//! Bad rule files and what is said about them: each `tests/ui/**/NAME.anchor` has a `NAME.expected`.
//!
//! Expected texts are written by hand, from what a reader needs to hear; this runner never writes them.

#[path = "support/files.rs"]
mod files;
mod support;

use std::fs;

use anchorwatch::lang::syntax::parse_file;
use files::files;

#[test]
fn each_bad_file_gets_its_diagnostics() {
    let files = files("tests/ui", "anchor");
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
