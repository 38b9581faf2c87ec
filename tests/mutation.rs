//! Mutation testing of rules: what becomes of mutants is known for small rules, and for a sample of the shipped ones.
//!
//! `tests/mutation/survivors.md` lists the mutants of the shipped rules that no test notices, and says why.

use std::collections::BTreeSet;
use std::path::Path;

use anchorwatch::audit::mutate::{Bench, Fate, Mutant, Tests, Tried, measure, mutants, sample};
use anchorwatch::cli::cases::{Found, find, read};
use anchorwatch::engine::RuleSources;

const RULES: &str = r#"
set OPS = { Relu, Copy, Sink }
attr marked: bool on node
attr count: int on node
enum Size { Small, Large }
matrix fits(what: Size, place: Size) -> { yes, no }
        | Small | Large
  Small | yes   | yes
  Large | no    | yes
fn size(n: Node) -> Size = if n.inputs.count > 1 then Large else Small
fn unasked(n: Node) -> Bool = n.type == Sink
chain tidy for n: Node where n.type in { Relu, Copy } {
  require small : n.inputs.count < 3
  require fitting : fits(size(n), Small) == yes and not n.attr(marked)
  then {
    set n.attr(count) = 2
    set n.attr(marked) = true
  }
}
"#;

const TESTS: &str = r#"
test "small nodes are tidied" for tidy {
  graph {
    a: Relu
    b: Copy(a)
    c: Relu(a, b)
    d: Sink(c)
    e: Relu { marked = true }
  }
  expect done a
  expect done b
  expect kept c by fitting
  expect kept e by fitting
  expect that node("a").attr(count) == 2 and node("d").attr(count) is none
}
"#;

fn tests(rules: &str, tests: &str) -> Tests {
    let files = [("r.anchor", rules, false), ("t.anchor", tests, true)];
    let files = files.map(|(path, text, overlay)| (path.to_owned(), text.to_owned(), overlay)).into();
    Tests { rules: RuleSources { files }, files: None, cases: Vec::new() }
}

fn all(tests: &Tests, only: &str) -> Vec<Mutant> {
    mutants(Bench::new(tests).session(), &|path, _| path.starts_with(only))
}

fn told(measured: &Tried) -> String {
    let Tried { mutant, fate } = measured;
    let fate = match fate {
        Fate::Killed(by) => format!("killed by {by}"),
        Fate::Survived(tests) => format!("survived {tests}"),
        Fate::Rejected => "rejected".to_owned(),
        Fate::Equivalent => "equivalent".to_owned(),
    };
    let new = if mutant.new.is_empty() { "nothing" } else { &mutant.new };
    format!("{}: {} {}: {} -> {new}: {fate}", mutant.line, mutant.entry, mutant.change, mutant.old)
}

#[test]
fn every_small_change_has_its_fate() {
    let tests = tests(RULES, TESTS);
    let reach = Bench::new(&tests).reach();
    assert_eq!(reach.failing, []);
    let measured = measure(&tests, &reach, all(&tests, "r.anchor"), 1, &|| ());
    let killed = "killed by small nodes are tidied (t.anchor:2)";
    let expected = [
        // A type that a rule mentions occurs in some set.
        "2: set OPS drop the element: Relu -> nothing: rejected".to_owned(),
        "2: set OPS drop the element: Copy -> nothing: rejected".to_owned(),
        "2: set OPS drop the element: Sink -> nothing: rejected".to_owned(),
        format!("8: matrix fits change the cell: Small | Small: yes -> Small | Small: no: {killed}"),
        // The column is never asked for.
        "8: matrix fits change the cell: Small | Large: yes -> Small | Large: no: survived 1".to_owned(),
        format!("9: matrix fits change the cell: Large | Small: no -> Large | Small: yes: {killed}"),
        "9: matrix fits change the cell: Large | Large: yes -> Large | Large: no: survived 1".to_owned(),
        format!("10: fn size negate: n.inputs.count > 1 -> not n.inputs.count > 1: {killed}"),
        format!("10: fn size move the bound: n.inputs.count > 1 -> n.inputs.count >= 1: {killed}"),
        format!("10: fn size change the literal: 1 -> 2: {killed}"),
        "11: fn unasked negate: n.type == Sink -> not n.type == Sink: survived 0".to_owned(),
        format!("12: chain tidy drop the condition: n.type in {{ Relu, Copy }} -> nothing: {killed}"),
        format!(
            "12: chain tidy negate: n.type in {{ Relu, Copy }} -> not n.type in {{ Relu, Copy }}: {killed}"
        ),
        format!("12: chain tidy drop the element: Relu -> nothing: {killed}"),
        format!("12: chain tidy drop the element: Copy -> nothing: {killed}"),
        // No node has three inputs.
        "13: chain tidy drop the step: require small : n.inputs.count < 3 -> nothing: survived 1".to_owned(),
        // A test mentions the step.
        "14: chain tidy drop the step: require fitting : fits(size(n), Small) == yes and not n.attr(marked) -> nothing: rejected".to_owned(),
        format!("13: chain tidy negate: n.inputs.count < 3 -> not n.inputs.count < 3: {killed}"),
        "13: chain tidy move the bound: n.inputs.count < 3 -> n.inputs.count <= 3: survived 1".to_owned(),
        "13: chain tidy change the literal: 3 -> 4: survived 1".to_owned(),
        format!(
            "14: chain tidy negate: fits(size(n), Small) == yes and not n.attr(marked) -> not (fits(size(n), Small) == yes and not n.attr(marked)): {killed}"
        ),
        format!(
            "14: chain tidy drop the `and`: fits(size(n), Small) == yes and not n.attr(marked) -> fits(size(n), Small) == yes: {killed}"
        ),
        format!(
            "14: chain tidy drop the `and`: fits(size(n), Small) == yes and not n.attr(marked) -> not n.attr(marked): {killed}"
        ),
        format!("16: chain tidy drop the statement: set n.attr(count) = 2 -> nothing: {killed}"),
        "17: chain tidy drop the statement: set n.attr(marked) = true -> nothing: survived 1".to_owned(),
        format!("16: chain tidy change the literal: 2 -> 3: {killed}"),
        "17: chain tidy change the literal: true -> false: survived 1".to_owned(),
    ];
    let lines: Vec<String> = measured.iter().map(told).collect();
    assert_eq!(lines.join("\n"), expected.join("\n"));
}

/// Of `apart` one anchor is an input and one an output, so only one can be the first role; of `told` the roles are in the text
/// alone; of `both` either anchor can be it.
const PAIRS: &str = r#"
set OPS = { Add, Data, Relu }
symbols memory(target: Graph) {
  for n in target.all_nodes {
    for i in n.inputs {
      let source = i.source
      if source is some { join i to source }
    }
    for o in n.outputs { found o }
  }
}
attribute MADE on output where node.type == Data
attribute READ on input where node.type == Relu
attribute ADDED on input where node.type == Add
checker apart for last made: MADE, read: READ isolate read because "{made}"
checker told for read: READ, added: ADDED { isolate second because "{read} and {added}" }
checker both for added: ADDED, other: ADDED isolate other because "{added}"
skip one_node when first.node == second.node
pass layout { resolve memory in root as a { report root "{a}" } }
"#;

#[test]
fn which_anchor_a_role_is_counts_where_it_can_be_either() {
    let tests = tests(
        PAIRS,
        r#"
test "each" for layout {
  graph {
    d: Data
    r: Relu(d)
    a: Add(d)
    b: Add(d)
  }
  expect warn layout
}
"#,
    );
    let reach = Bench::new(&tests).reach();
    assert_eq!(reach.failing, []);
    let all = all(&tests, "r.anchor").into_iter().filter(|mutant| mutant.change == "take the other anchor");
    let measured = measure(&tests, &reach, all.collect(), 1, &|| ());
    let fates: Vec<(String, Fate)> =
        measured.into_iter().map(|one| (one.mutant.entry.to_string(), one.fate)).collect();
    let expected = [("apart", Fate::Equivalent), ("told", Fate::Equivalent), ("both", Fate::Survived(1))];
    assert_eq!(fates, expected.map(|(name, fate)| (format!("checker {name}"), fate)));
}

#[test]
fn a_test_that_does_not_reach_an_entry_does_not_notice_its_mutants() {
    let more = format!(
        "{RULES}{}",
        r#"
pass mend for n: Node where n.attr(marked) { set n.attr(marked) = n.type == Sink }
"#
    );
    let more_tests = format!(
        "{TESTS}{}",
        r#"
test "mended" for mend {
  graph { a: Relu { marked = true } }
  expect that node("a").attr(marked) == false
}
"#
    );
    let tests = tests(&more, &more_tests);
    let reach = Bench::new(&tests).reach();
    assert_eq!(reach.failing, []);
    let mut bench = Bench::new(&tests);
    let mut survived = BTreeSet::new();
    for mutant in all(&tests, "r.anchor") {
        let (some, every) = (bench.fate(&mutant, &reach), bench.fate_of_all(&mutant, &reach));
        let same = match (&some, &every) {
            (Fate::Survived(some), Fate::Survived(every)) => {
                survived.insert((*some, *every));
                some <= every
            }
            _ => some == every,
        };
        assert!(same, "{}: {some:?}, with all tests {every:?}", mutant.name());
    }
    assert!(survived.contains(&(0, 2)) && survived.contains(&(1, 2)), "{survived:?}");
}

#[test]
fn a_failing_test_is_told_before_any_mutant() {
    let tests = tests(RULES, &TESTS.replace("== 2", "== 3"));
    let failing: Vec<String> =
        Bench::new(&tests).reach().failing.iter().map(|name| name.to_string()).collect();
    assert_eq!(failing, ["small nodes are tidied (t.anchor:2)"]);
}

/// The shipped rules with the scenarios and the cases.
fn shipped() -> Tests {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut tests = Tests { rules: RuleSources::shipped(), ..Tests::default() };
    for folder in ["scenarios", "cases"] {
        for found in find(&root.join(folder)).unwrap_or_else(|e| panic!("{}", e.message)) {
            match found {
                Found::Rules(path) => {
                    let text = std::fs::read_to_string(&path).expect("a scenario");
                    tests.rules.files.push((path.display().to_string(), text, true));
                }
                Found::Case(path) => {
                    let case = read(&path).unwrap_or_else(|e| panic!("{}", e.message));
                    tests.cases.push((path.display().to_string(), case));
                }
            }
        }
    }
    tests
}

/// So many mutants of the shipped rules are looked at in each run of the tests.
const SAMPLE: usize = 25;

/// The files that the list has headings for, and the mutants on it. Several may share a name.
fn listed(text: &str) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let files = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    (files, text.lines().filter_map(|line| line.strip_prefix("- ")).collect())
}

#[test]
fn survivors_of_the_shipped_rules_are_listed() {
    let (files, known) = listed(include_str!("mutation/survivors.md"));
    let tests = shipped();
    let all = mutants(Bench::new(&tests).session(), &|path, _| files.contains(path));
    assert!(all.len() > 2000, "{}", all.len());
    let names: BTreeSet<String> = all.iter().map(Mutant::name).collect();
    let gone: Vec<&&str> = known.iter().filter(|name| !names.contains(**name)).collect();
    // Rules change more often than the list is made anew.
    assert!(gone.len() * 10 < known.len(), "the list is out of date: {gone:#?}");
    let reach = Bench::new(&tests).reach();
    assert_eq!(reach.failing, []);
    let measured = measure(&tests, &reach, sample(all, SAMPLE, 1), 1, &|| ());
    for Tried { mutant, fate } in &measured {
        let survived = matches!(fate, Fate::Survived(_));
        assert!(!survived || known.contains(&*mutant.name()), "no test notices this: {}", mutant.name());
    }
    let killed = measured.iter().filter(|one| matches!(one.fate, Fate::Killed(_))).count();
    assert!(killed > SAMPLE / 2, "{killed}");
}
