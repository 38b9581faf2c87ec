//! Graph notation: any text gives an answer; what was understood prints, parses and prints the same again.
#![no_main]

use anchorwatch::format::notation;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let (snapshot, errors) = notation::parse(text);
    for error in &errors {
        let span = error.span.clone().expect("a complaint has a place");
        assert!(text.get(span).is_some(), "{error}");
    }
    let Some(snapshot) = snapshot.filter(|_| errors.is_empty()) else { return };
    let first = notation::print(&snapshot);
    let (again, errors) = notation::parse(&first);
    assert!(errors.is_empty(), "{errors:?}\n{first}");
    let second = notation::print(&again.expect("a text without errors has a graph"));
    assert!(first == second, "--- first\n{first}\n--- second\n{second}");
});
