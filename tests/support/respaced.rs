//! The rule files of the repository, and their items as somebody else would have written them.

use std::path::{Path, PathBuf};

use anchorwatch::lang::syntax::parse_file;
use proptest::prelude::*;

/// All rule files below a directory.
pub fn rule_files(dir: &str) -> Vec<PathBuf> {
    files(dir, "anchor")
}

/// All files with an extension below a directory.
pub fn files(dir: &str, extension: &str) -> Vec<PathBuf> {
    fn collect(dir: &Path, extension: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).expect("the directory is there") {
            let path = entry.expect("the entry is there").path();
            if path.is_dir() {
                collect(&path, extension, found);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(dir), extension, &mut found);
    found.sort();
    found
}

/// Pieces of the repository's rules, each an item.
pub fn any_item() -> impl Strategy<Value = String> {
    let mut items = Vec::new();
    for path in ["rules", "tests/scenarios", "tests/overlays"].into_iter().flat_map(rule_files) {
        let text = std::fs::read_to_string(&path).expect("the file is readable");
        items.extend(parse_file(&text).items.into_iter().map(|item| item.source.text));
    }
    prop::sample::select(items)
}

/// The item with other spaces between its tokens, and comments where `comment` says.
pub fn respaced(item: &str, gaps: &[u8]) -> String {
    let mut out = String::new();
    let mut gaps = gaps.iter().cycle();
    let mut in_graph = false;
    for line in item.lines() {
        // The lines of a graph are those of another language.
        in_graph |= line.contains("graph {");
        let spaces = line.len() - line.trim_start().len();
        out.push_str(&line[..spaces]);
        let mut in_text = false;
        let mut escaped = false;
        for (at, part) in line[spaces..].char_indices() {
            let rest = &line[spaces + at..];
            if !in_text && rest.starts_with("//") {
                out.push_str(rest);
                break;
            }
            if part == '"' && !escaped {
                in_text = !in_text;
            }
            escaped = part == '\\' && !escaped;
            if part == ' ' && !in_text && !in_graph {
                match gaps.next().copied().unwrap_or(0) % 16 {
                    0 => out.push_str("\n    "),
                    1 => out.push_str("   "),
                    2 => out.push_str(" // behind\n  "),
                    3 => out.push_str("\n\n   // above\n   "),
                    _ => out.push(' '),
                }
            } else {
                out.push(part);
            }
        }
        in_graph &= line.trim() != "}";
        out.push('\n');
    }
    out
}
