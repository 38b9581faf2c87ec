//! Every file in `tests/bad_graphs/notation` and `tests/bad_graphs/onnx` (hexadecimal) is wrong in a way of its own,
//! and gets exactly the complaints beside it: message, place, the text they point at, help.

#[path = "support/files.rs"]
mod files;

use std::path::Path;

use anchorwatch::format::{FormatError, LoadContext, notation, onnx};
use files::files;

fn complaints(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    if path.extension().unwrap() == "graph" {
        return notation::parse(&text).1.iter().map(|error| show(error, Some(&text))).collect();
    }
    let digits: String =
        text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect();
    let digit = |c: u8| (c as char).to_digit(16).unwrap() as u8;
    let (pairs, odd) = digits.as_bytes().as_chunks::<2>();
    assert!(odd.is_empty(), "{}", path.display());
    let data: Vec<u8> = pairs.iter().map(|[high, low]| digit(*high) << 4 | digit(*low)).collect();
    match onnx::load(&data, &LoadContext::default()) {
        Ok(_) => String::new(),
        Err(error) => show(&error, None),
    }
}

fn show(error: &FormatError, text: Option<&str>) -> String {
    let (first, help) = match error.to_string().split_once('\n') {
        Some((first, help)) => (first.to_owned(), format!("{help}\n")),
        None => (error.to_string(), String::new()),
    };
    let here =
        text.zip(error.span.clone()).map_or(String::new(), |(t, span)| format!("  here: `{}`\n", &t[span]));
    format!("{first}\n{here}{help}")
}

#[test]
fn each_bad_file_gets_its_complaints() {
    let mut checked = 0;
    for (kind, extension) in [("notation", "graph"), ("onnx", "hex")] {
        for path in files(format!("tests/bad_graphs/{kind}"), extension) {
            let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
            let found = complaints(&path);
            assert!(!found.is_empty(), "{} brings no complaint", path.display());
            assert_eq!(found, expected, "{}", path.display());
            checked += 1;
        }
    }
    assert_eq!(checked, 24);
}
