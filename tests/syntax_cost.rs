//! What parsing costs: deep nesting is linear work, even if it fails at the innermost place.
//!
//! The meter is pest's call limit. It is one for the whole process, hence a test binary of its own, and no limit in
//! the program: what may be reached first would depend on what else the process has parsed, and the files of the
//! graph notation are large. Both grammars are linear by construction, which is what is measured here.

use anchorwatch::format::notation;
use anchorwatch::lang::syntax::{parse_expr, parse_item};

/// Nested as deep as is allowed; `tail` makes it fail at the innermost place.
fn nested(open: &str, close: &str, tail: &str) -> String {
    format!("{}a{tail}{}", open.repeat(60), close.repeat(60))
}

#[test]
fn nesting_costs_the_same_whether_it_fails_or_not() {
    pest::set_call_limit(std::num::NonZeroUsize::new(200_000));
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("f(", ")"),
        ("x.f(", ")"),
        ("x[", "]"),
        ("{b, ", "}"),
        ("{ let x = ", " x }"),
        ("if a then ", " else b"),
        ("first { c => ", " }"),
        ("match e { C => ", " }"),
        ("symbols(s, ", ")"),
        ("conflicts(g, ", ")"),
        ("all x in xs: ", ""),
        ("not ", ""),
        ("- ", ""),
    ] {
        let (tree, complaints) = parse_expr(&nested(open, close, ""));
        assert!(tree.is_some(), "{open}: {complaints:#?}");
        let (tree, complaints) = parse_expr(&nested(open, close, " ="));
        assert!(tree.is_none());
        assert_eq!(complaints.len(), 1);
        // Reaching the meter's limit would give a complaint without a place for the `=`.
        assert_eq!(complaints[0].code, "syntax::operator", "{open}: {complaints:#?}");
    }
    for (open, close) in [("[", "]"), ("f { x = ", " }"), ("desc float32 { x = ", " }")] {
        let nested = |depth: usize, tail: &str| {
            let graph = format!("n: N {{ a = {}1{tail}{} }}", open.repeat(depth), close.repeat(depth));
            let (_, complaints) = notation::parse(&graph);
            complaints.into_iter().map(|c| c.message).collect::<Vec<_>>()
        };
        assert_eq!(nested(60, ""), nested(3, ""), "{open}");
        let complaints = nested(60, " =");
        assert_eq!((complaints.len(), &complaints), (1, &nested(3, " =")), "{open}");
    }
    // `first` before a brace may be a name or a keyword; bodies are looked at twice, not twice for each level.
    let bodies = format!("pass p {{ {}stop {}}}", "if first { ".repeat(30), "} ".repeat(30));
    let (tree, complaints) = parse_item(&bodies);
    assert!(tree.is_some(), "{complaints:#?}");
}
