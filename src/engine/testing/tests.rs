//! Tests of tests: what passes, and what a failing one says and underlines.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::engine::{RuleSources, Session};
use crate::lang::syntax::ast::Kind;

/// Rules that put copies before the inputs of marked nodes.
const RULES: &str = r#"
set OPS = { Relu, Add, Copy }
attr marked: bool on node
attr count: int on node
option mode: { quiet, loud } = quiet
option numbers: list<int> = []
option HOST: str = "nobody" from env

action put(i: Input) {
  let o = i.source
  if o is none { fail "{i} has no producer" }
  let c = insert Copy named "copy_{counter(copies)}" { behind = o.node }
  for reads in c.inputs {
    set reads.tensor = o.tensor
    connect o -> reads
  }
  for gives in c.outputs {
    set gives.tensor = o.tensor
    connect gives -> i
  }
}

enum Size { Small, Large }
matrix fits(what: Size, place: Size) -> { yes, no }
        | Small | Large
  Small | yes   | yes
  Large | no    | yes
fn size(n: Node) -> Size = if n.inputs.count > 1 then Large else Small

fn is_copy(n: Node) -> Bool = n.type == Copy
fn is_copied(i: Input) -> Bool = i.source.node.is_copy ?? false

pass mend for n: Node where n.attr(marked) {
  for i in n.inputs where not is_copied(i) { do put(i) }
}
pass worsen for n: Node where n.attr(marked) {
  for i in n.inputs { do put(i) }
}
chain tidy for n: Node where n.type == Add {
  require two_inputs : n.inputs.count == 2 else "{n.name} has not two inputs"
  require fitting : fits(Small, size(n)) == yes else "{n.name} does not fit"
  then { set n.attr(count) = 2 }
}
lint lonely W1 warn for n: Node {
  if n.inputs.is_empty and n.outputs.is_empty { report n "{n.name} is alone" }
}
pipeline all = mend, tidy, lonely
pipeline stubborn = mend otherwise warn, lonely
measure copies "copies" for n: Node where n.type == Copy
measure counted "counted" for n: Node = if n.has_attr(count) then 1 else none
"#;

fn session(tests: &str) -> Session {
    let files = [("rules.anchor", RULES, false), ("tests.anchor", tests, true)];
    let files = files.map(|(path, text, overlay)| (path.to_owned(), text.to_owned(), overlay));
    let session = Session::new(RuleSources { files: files.into() });
    let problems: Vec<_> =
        session.diagnostics().into_iter().filter(|d| d.diagnostic.code != "rule::unused").collect();
    assert_eq!(problems, [], "the rules of the test are sound");
    session
}

/// What running `tests` gives, as a person would be told.
fn told(tests: &str) -> String {
    let session = session(tests);
    let mut out = String::new();
    for outcome in session.run_tests(&|path| path == "tests.anchor") {
        let word = if outcome.failures.is_empty() { "ok" } else { "FAIL" };
        let _ = writeln!(out, "{word} {}:{} {}", outcome.path, outcome.line, outcome.name);
        for failure in outcome.failures {
            let diagnostic = &failure.diagnostic;
            let _ = writeln!(out, "  {}: {}", diagnostic.code, diagnostic.message);
            for (label, (path, span)) in diagnostic.labels.iter().zip(&failure.places) {
                let text = session.file_text(path).unwrap_or_default();
                let words = text.get(span.clone()).unwrap_or("?").lines().next().unwrap_or_default();
                let _ = writeln!(out, "  > {words}");
                if !label.text.is_empty() {
                    let _ = writeln!(out, "    {}", label.text);
                }
            }
            if let Some(help) = &diagnostic.help {
                let _ = writeln!(out, "  help: {help}");
            }
        }
    }
    out
}

/// Runs one test over a graph with a marked node `b` that reads `a`.
fn one(lines: &str) -> String {
    let test = format!("test \"t\" {lines}");
    told(&test.replace("GRAPH", "graph {\n  a: Relu\n  b: Relu(a) ^a { marked = true }\n}"))
}

const FINE: &str = "ok tests.anchor:1 t\n";

#[test]
fn insertions_in_order_by_anchors_maker_and_name() {
    let graph = "graph {\n a: Relu\n b: Add(a, a) { marked = true }\n }";
    let run = |expects: &str| told(&format!("test \"t\" for mend {{ {graph}\n{expects}\n}}"));
    assert_eq!(run("expect insert before b:0\nexpect insert before b:1"), FINE);
    assert_eq!(run("expect insert after a:0\nexpect insert after [a:0] by put"), FINE);
    assert_eq!(
        run("expect insert before b:0 by mend named \"copy_0\"\nexpect insert before b:1 named \"copy_1\""),
        FINE
    );
    assert_eq!(
        run("expect insert before b:1\nexpect insert before b:0"),
        "FAIL tests.anchor:1 t\n  \
           test::insert: another insertion was expected\n  \
           > expect insert before b:1\n    \
             `copy_0: Copy(a:0)` before `b:0` by put\n  \
           help: inserted, in this order: `copy_0: Copy(a:0)` before `b:0` by put, `copy_1: Copy(a:0)` before `b:1` by put\n"
    );
    let missing = run("expect insert before b:0\nexpect insert before b:1\nexpect insert before b:1");
    assert!(missing.contains("3 insertions were expected, there are 2"), "{missing}");
    let extra = run("expect insert before b:0");
    assert!(extra.contains("then there is `copy_1: Copy(a:0)` before `b:1`"), "{extra}");
    assert!(extra.contains("1 insertion was expected, there are 2"), "{extra}");
    let by = run("expect insert before b:0 by tidy\nexpect insert before b:1");
    assert!(by.contains("`copy_0` is not by `tidy`"), "{by}");
    let named = run("expect insert before b:0 named \"x\"\nexpect insert before b:1");
    assert!(named.contains("it is named `copy_0`"), "{named}");
}

#[test]
fn nothing_means_no_edit_of_any_kind() {
    assert_eq!(one("for tidy { GRAPH\n expect nothing\n}"), FINE);
    let inserted = one("for mend { GRAPH\n expect nothing\n}");
    assert!(inserted.contains("> expect nothing\n    `copy_0: Copy(a:0)` before `b:0` by put"), "{inserted}");
    let set = told("test \"t\" for tidy { graph { a: Relu\n b: Add(a, a) }\n expect nothing\n}");
    assert!(set.contains("`b.count = 2` by tidy"), "{set}");
}

#[test]
fn edges_and_control_edges() {
    assert_eq!(one("for mend { GRAPH\n expect edge copy_0:0 -> b:0\n expect no edge a:0 -> b:0\n}"), FINE);
    assert_eq!(one("for mend { GRAPH\n expect control a => b\n expect no control b => a\n}"), FINE);
    assert_eq!(
        one("for mend { GRAPH\n expect edge a:0 -> b:0\n expect control copy_0 => b\n}"),
        "FAIL tests.anchor:1 t\n  \
           test::edge: this edge was expected\n  > expect edge a:0 -> b:0\n    `b:0` reads `copy_0:0`\n  \
           test::control: this control edge was expected\n  > expect control copy_0 => b\n    `b` waits for `a`\n"
    );
    let there = one("for mend { GRAPH\n expect no edge copy_0:0 -> b:0\n expect no control a => b\n}");
    assert_eq!(there.matches("it is there").count(), 2, "{there}");
    let unknown = one("for mend { GRAPH\n expect edge a:0 -> copy_1:0\n}");
    assert!(
        unknown.contains("the result has no node `copy_1`") && unknown.contains("did you mean `copy_0`?"),
        "{unknown}"
    );
}

#[test]
fn failures_expected_and_not() {
    let open = "graph { b: Relu(_) { marked = true } }";
    let run = |expect: &str| told(&format!("test \"t\" for mend {{ {open}\n{expect}\n}}"));
    assert_eq!(run("expect error \"no producer\""), FINE);
    let other = run("expect error \"another\"");
    assert!(
        other.contains("> expect error \"another\"\n    `mend` failed with `b_in_0 has no producer`"),
        "{other}"
    );
    let unexpected = run("expect nothing");
    assert!(
        unexpected.contains("test::failed: `mend` failed: b_in_0 has no producer\n  > \"t\""),
        "{unexpected}"
    );
    let none = one("for mend { GRAPH\n expect error \"x\"\n}");
    assert!(none.contains("no pass failed"), "{none}");
}

#[test]
fn a_failure_that_the_pipeline_tolerates_is_a_warning() {
    let open = "graph { b: Relu(_) { marked = true } }";
    let run = |expect: &str| told(&format!("test \"t\" for stubborn {{ {open}\n{expect}\n}}"));
    assert_eq!(run("expect warn mend \"no producer\"\nexpect nothing"), FINE);
    assert_eq!(
        run("expect error \"no producer\""),
        "FAIL tests.anchor:1 t\n  test::error: the expected failure did not come\n  \
           > expect error \"no producer\"\n    \
             `mend` failed with `b_in_0 has no producer`, and the pipeline went on\n  \
           help: what a pipeline tolerates is a warning: `expect warn mend \"…\"`\n"
    );
    // It does not go by unnoticed.
    assert_eq!(
        run("expect nothing"),
        "FAIL tests.anchor:1 t\n  test::failed: `mend` failed: b_in_0 has no producer\n  > \"t\"\n  \
           help: the pipeline tolerates it: `expect warn mend \"…\"`\n"
    );
    let no = run("expect warn mend \"no producer\"\nexpect no warn mend \"producer\"");
    assert!(no.contains("no such finding was expected"), "{no}");
}

#[test]
fn chains_stop_or_run_to_their_end() {
    let graph = "graph { a: Relu\n one: Add(a)\n two: Add(a, a) }";
    let run = |expects: &str| told(&format!("test \"t\" for tidy {{ {graph}\n{expects}\n}}"));
    assert_eq!(run("expect kept one by two_inputs\nexpect done two"), FINE);
    assert_eq!(run("expect kept one"), FINE);
    let wrong = run("expect kept two\nexpect done one\nexpect done a");
    assert!(wrong.contains("> expect kept two\n    `tidy` ran to its end"), "{wrong}");
    assert!(wrong.contains("> expect done one\n    `tidy` stopped at `two_inputs`"), "{wrong}");
    assert!(wrong.contains("> expect done a\n    no chain was tried on it"), "{wrong}");
}

#[test]
fn findings_by_code() {
    let run =
        |graph: &str| told(&format!("test \"t\" for lonely {{ graph {{ {graph} }}\n expect warn W1\n}}"));
    assert_eq!(run("a: Relu -> none"), FINE);
    let none = run("a: Relu");
    assert!(none.contains("a finding was expected\n  > expect warn W1\n    found nothing"), "{none}");
    let told = |line: &str| {
        told(&format!("test \"t\" for lonely {{ graph {{ a: Relu -> none }}\n expect {line}\n}}"))
    };
    assert_eq!(told("warn W1 \"a is al\""), FINE);
    assert_eq!(told("no warn W1 \"b is alone\""), FINE);
    let other = told("warn W1 \"b is alone\"");
    assert!(other.contains("> expect warn W1 \"b is alone\"\n    found `W1` a is alone"), "{other}");
}

#[test]
fn measures_before_and_after() {
    let run = |line: &str| one(&format!("for mend {{ GRAPH\n expect measure {line}\n}}"));
    assert_eq!(run("copies 0 -> 1"), FINE);
    assert_eq!(run("copies 1"), FINE);
    assert_eq!(run("counted 0 and 2 unknown -> 0 and 3 unknown"), FINE);
    for wrong in ["copies 0 -> 0", "copies 1 -> 1", "copies 2", "copies 0 -> 1 and 1 unknown"] {
        let told = run(wrong);
        assert!(told.contains(&format!("> expect measure {wrong}\n    measured 0 -> 1\n")), "{told}");
    }
    let wrong = run("counted 0");
    assert!(wrong.contains("measured 0 and 2 unknown -> 0 and 3 unknown"), "{wrong}");
}

#[test]
fn whole_graphs_up_to_names_of_inserted_nodes() {
    let run = |middle: &str| {
        let expected = format!("a: Relu\n x: {middle}(a)\n b: Relu(x) ^a {{ marked = true }}");
        one(&format!("for mend {{ GRAPH\n expect graph {{ {expected} }}\n}}"))
    };
    assert_eq!(run("Copy"), FINE);
    let other = run("Relu");
    assert!(other.contains("another graph was expected\n  > expect graph { a: Relu\n    "), "{other}");
    assert!(other.contains("missing: inserted Relu `x`"), "{other}");
}

#[test]
fn conditions_over_the_result() {
    assert_eq!(
        one("for mend { GRAPH\n expect that root.nodes.count == 3 and node(\"copy_0\").type == Copy\n}"),
        FINE
    );
    let wrong =
        one("for mend { GRAPH\n expect that node(\"b\") is some\n expect that root.nodes.count == 2\n}");
    assert!(wrong.contains("> expect that root.nodes.count == 2\n    compared `3` with `2`"), "{wrong}");
    assert_eq!(wrong.matches("test::that").count(), 1, "the other one holds: {wrong}");
}

#[test]
fn a_second_run_changes_nothing() {
    assert_eq!(one("for mend twice { GRAPH\n}"), FINE);
    let again = one("for worsen twice { GRAPH\n}");
    assert!(
        again.contains(
            "the second run is to change nothing\n  > \"t\"\n    `copy_0_1: Copy(copy_0:0)` before `b:0`"
        ),
        "{again}"
    );
}

#[test]
fn a_subgraph_plays_the_root() {
    let graph = "graph { p: Relu { subgraph inner { a: Relu\n b: Relu(a) { marked = true } } }\n c: Relu\n d: Relu(c) { marked = true } }";
    let run = |on: &str| {
        told(&format!("test \"t\" for mend on {on} {{ {graph}\n expect that root.nodes.count == 3\n}}"))
    };
    assert_eq!(run("inner"), FINE);
    let unknown = run("iner");
    assert!(
        unknown.contains("no graph is called `iner`\n  > iner\n  help: did you mean `inner`?"),
        "{unknown}"
    );
}

#[test]
fn graphs_that_do_not_parse_are_complained_about_in_the_rule_file() {
    let bad = told("test \"t\" for mend {\n graph {\n a: Relu(nobody)\n }\n expect nothing\n}");
    assert!(
        bad.starts_with("FAIL tests.anchor:1 t\n  format::unknown-node: ") && bad.contains("> nobody"),
        "{bad}"
    );
    let expected = one("for mend { GRAPH\n expect graph { b: Relu(nobody) }\n}");
    assert!(expected.contains("format::unknown-node") && expected.contains("> nobody"), "{expected}");
}

#[test]
fn options_are_those_of_the_test_alone() {
    let asks = |options: &str, condition: &str| {
        format!(
            "test {:?} for tidy {{ {options}\n graph {{ a: Relu }}\n expect that {condition}\n}}\n",
            condition.replace('"', "")
        )
    };
    let text = [
        asks("option mode = loud\n option numbers = [1, -2]\n option HOST = \"me\"", "option(mode) == loud"),
        asks("option numbers = [1, -2]", "option(numbers) == [1, -2]"),
        asks("", "option(mode) == quiet"),
        asks("", "option(HOST) == \"nobody\""),
    ];
    let mut session = session(&text.concat());
    let user = BTreeMap::from([("mode".to_owned(), "loud".to_owned())]);
    let environment = BTreeMap::from([("HOST".to_owned(), "here".to_owned())]);
    assert_eq!(session.set_options(user.clone(), environment.clone()), []);
    for _ in 0..2 {
        let outcomes = session.run_tests(&|_| true);
        assert_eq!(outcomes.len(), 4);
        assert!(outcomes.iter().all(|outcome| outcome.failures.is_empty()), "{outcomes:#?}");
    }
    assert_eq!(
        (session.rules.given(&session.db), session.rules.environment(&session.db)),
        (&user, &environment)
    );
}

/// Cells that a test with a node of two inputs reaches.
fn cells_of_two_inputs() -> Vec<(String, usize)> {
    let mut session =
        session("test \"t\" for tidy { graph { a: Relu\n two: Add(a, a) }\n expect done two\n}");
    session.start_coverage();
    session.run_tests(&|_| true);
    let cells = session.coverage().into_iter().filter(|row| row.kind == Kind::Matrix);
    let mut cells: Vec<_> = cells.filter_map(|row| Some((row.branch?, row.reached))).collect();
    cells.sort();
    cells
}

#[test]
fn coverage_tells_what_was_reached() {
    let mut session = session("test \"t\" for tidy { graph { a: Relu\n one: Add(a) }\n expect kept one\n}");
    assert_eq!(session.coverage(), [], "nothing is counted before it is asked for");
    session.start_coverage();
    session.run_tests(&|_| true);
    let rows = session.coverage();
    let reached = |kind, name: &str, branch: Option<&str>| {
        let rows = rows.iter().filter(|row| row.kind == kind && row.name.as_str() == name);
        let found: Vec<usize> =
            rows.filter(|row| row.branch.as_deref() == branch).map(|row| row.reached).collect();
        assert_eq!(found.len(), 1, "{name}: {branch:?}");
        found[0]
    };
    assert_eq!(reached(Kind::Chain, "tidy", Some("n.inputs.count == 2")), 0);
    assert_eq!(reached(Kind::Chain, "tidy", Some("not: n.inputs.count == 2")), 1);
    assert_eq!(reached(Kind::Chain, "tidy", Some("n.type == Add")), 1);
    assert_eq!(reached(Kind::Matrix, "fits", Some("Small | Large")), 0);
    assert_eq!(reached(Kind::Pass, "mend", None), 0);
    assert_eq!(reached(Kind::Fn, "is_copy", None), 0);
    assert_eq!(
        cells_of_two_inputs(),
        [
            ("Large | Large".to_owned(), 0),
            ("Large | Small".to_owned(), 0),
            ("Small | Large".to_owned(), 1),
            ("Small | Small".to_owned(), 0)
        ]
    );
    let line = rows.iter().find(|row| row.name.as_str() == "tidy").map(|row| row.line);
    let tidy = RULES.lines().position(|line| line.starts_with("chain tidy")).map(|at| at as u32 + 1);
    assert_eq!(line, tidy);
}
