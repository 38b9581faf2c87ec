//! The rule files of the repository, and their items as somebody else would have written them.

use std::path::PathBuf;

use anchorwatch::lang::syntax::parse_file;
use proptest::prelude::*;

#[path = "files.rs"]
mod files;
pub use files::files;

/// All rule files below a directory.
pub fn rule_files(dir: &str) -> Vec<PathBuf> {
    files(dir, "anchor")
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
