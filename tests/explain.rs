//! Explanations as a person reads them: each `tests/explain/NAME.graph` with the arguments in `NAME.args` (one a line,
//! a line for a run) gives exactly `NAME.expected`. Line numbers of the shipped rules are left out, so that moving a
//! rule changes no page.

use std::fs;
use std::path::Path;
use std::process::Command;

/// `rules/layout.anchor:12` becomes `rules/layout.anchor:_`.
fn without_lines(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(".anchor:") {
        let (head, tail) = rest.split_at(at + ".anchor:".len());
        out.push_str(head);
        out.push('_');
        rest = tail.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out + rest
}

fn explain(folder: &Path, graph: &str, args: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_anchorwatch"))
        .current_dir(folder)
        .args(["--color", "never", "explain", graph])
        .args(args.split_whitespace())
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    format!("$ explain {graph} {args}\n{}{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn each_page_reads_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .filter_map(|name| name.strip_suffix(".graph").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() >= 24, "only {} pages were found", names.len());
    let mut wrong = Vec::new();
    for name in names {
        let graph = format!("{name}.graph");
        let read = |extension: &str| fs::read_to_string(folder.join(format!("{name}.{extension}")));
        let args = read("args").unwrap_or_else(|error| panic!("{name}.args: {error}"));
        let pages: Vec<String> = args.lines().map(|line| explain(&folder, &graph, line)).collect();
        let page = without_lines(&pages.join("\n"));
        if page != read("expected").unwrap_or_default() {
            wrong.push(format!("{name} reads\n{page}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn line_numbers_are_left_out() {
    assert_eq!(without_lines("a.anchor:12) b.anchor:3\nc 4"), "a.anchor:_) b.anchor:_\nc 4");
}
