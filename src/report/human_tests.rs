//! What the eye sees of findings and complaints.

use super::*;
use crate::report::{Source, testing};

const PLAIN: Style = Style { color: false, width: None };

fn draw(complaint: &Complaint) -> String {
    let mut out = String::new();
    Human::new(PLAIN).complaint(&mut out, complaint).expect("writing to memory");
    out
}

#[test]
fn a_conflict_shows_the_rule_and_names_the_anchors_under_its_marks() {
    let (graph, _) = testing::graph(testing::GRAPH);
    let outcome = testing::outcome(&graph);
    let step = &outcome.steps[0];
    let names = Names::new(&graph, &graph);
    let complaint = finding(&step.findings[0], &testing::rules(), names, &step.edits, Mood::Proposed);
    assert_eq!(
        draw(&complaint),
        "\
conflict[user_out_and_fixed_out]

  × c would be overwritten through the user's buffer
     ╭─[rules.anchor:228:13]
 227 │ checker user_out_and_fixed_out
 228 │   for user: USER_OUT, fixed: FIXED_OUT
     ·             ────┬───         ────┬────
     ·                 │                ╰── `c:out0`, Fixed in graph `main`
     ·                 ╰── `no:in0`, Sink in graph `main`: the copy goes before it
 229 │   when is_static(target.root)
 230 │   isolate before user
 231 │   because \"{fixed.node.name} would be overwritten through the user's buffer\"
     ╰────
  note: always BLOCK with BLOCK (rules.anchor:12) agrees: one block is enough
  help: Copy `copy_0` would be inserted between `c:out0` and `no:in0`

"
    );
}

#[test]
fn two_anchors_of_one_mark_are_named_at_each_mention_or_together() {
    let (graph, _) = testing::graph("c: Fixed\na: Step(c)\nb: Step(c)\nc2: Step(c)\n");
    let outcome = testing::outcome(&testing::graph(testing::GRAPH).0);
    let names = Names::new(&graph, &graph);
    let mut found = outcome.steps[0].findings[0].clone();
    let place = |name: &str| testing::place(&graph, name, Some("in0"), "BLOCK");
    found.rule = testing::rule(Kind::Always, "BLOCK with BLOCK");
    found.places = vec![place("a"), place("b"), place("c2")];
    found.also.clear();
    found.edits = 0..0;
    let text = draw(&finding(&found, &testing::rules(), names, &[], Mood::Done));
    assert_eq!(
        text,
        "\
conflict[always BLOCK with BLOCK]

  × c would be overwritten through the user's buffer
    ╭─[rules.anchor:12:8]
 12 │ always BLOCK with BLOCK
    ·        ──┬──      ──┬──
    ·          │          ╰─┤ `b:in0`, Step
    ·          │            │ `c2:in0`, Step
    ·          ╰── `a:in0`, Step
    ╰────

"
    );
}

#[test]
fn what_the_rule_does_not_name_stands_below() {
    let (graph, _) = testing::graph(testing::GRAPH);
    let outcome = testing::outcome(&graph);
    let names = Names::new(&graph, &graph);
    let mut found = outcome.steps[0].findings[0].clone();
    found.places[0].role = "first access".into();
    found.rule = testing::rule(Kind::Lint, "not at hand");
    found.level = Level::Warning;
    found.code = Sym::new("W1");
    found.help = Some("order them".into());
    found.also.clear();
    let text = draw(&finding(&found, &testing::rules(), names, &[], Mood::Done));
    assert_eq!(
        text,
        "\
W1[not at hand]

  ⚠ c would be overwritten through the user's buffer
    at: `no:in0`, Sink in graph `main` (first access)
    at: `c:out0`, Fixed in graph `main` (FIXED_OUT)
  help: order them

"
    );
}

#[test]
fn a_further_file_gets_its_own_excerpt() {
    let source = |name: &str| Arc::new(Source::new(name, "set A = { x }\n"));
    let mut complaint = Complaint::error("rule::twice", "`A` is declared twice").help("say `override`");
    for (name, text) in [("b.anchor", "again here"), ("a.anchor", "declared here first")] {
        let marks = vec![Mark { span: 4..5, text: text.into() }];
        complaint.excerpts.push(Excerpt { source: source(name), marks });
    }
    assert_eq!(
        draw(&complaint),
        "\
rule::twice

  × `A` is declared twice
   ╭─[b.anchor:1:5]
 1 │ set A = { x }
   ·     ┬
   ·     ╰── again here
   ╰────
  ☞ declared here first
   ╭─[a.anchor:1:5]
 1 │ set A = { x }
   ·     ┬
   ·     ╰── declared here first
   ╰────
  help: say `override`

"
    );
}

#[test]
fn the_list_of_edits_of_one_finding_is_cut() {
    let (graph, _) = testing::graph(testing::GRAPH);
    let outcome = testing::outcome(&graph);
    let step = &outcome.steps[0];
    let edits = vec![step.edits[0].clone(); 6];
    let mut found = step.findings[0].clone();
    found.edits = 0..6;
    let complaint = finding(&found, &testing::rules(), Names::new(&graph, &graph), &edits, Mood::Done);
    let help: Vec<&str> = complaint.lines(Below::Help).collect();
    assert_eq!((help.len(), help.last()), (5, Some(&"and 2 more edits")));
}

#[test]
fn what_a_new_node_is_like_is_left_to_the_edit_list() {
    let (graph, _) = testing::graph(testing::GRAPH);
    let step = &testing::outcome(&graph).steps[0];
    let set = |node: &str| EditEntry {
        kind: EditEntryKind::Set { node: node.into(), what: "flag".into(), value: "true".into() },
        ..step.edits[0].clone()
    };
    let edits = [step.edits[0].clone(), set("copy_0"), set("c")];
    let mut found = step.findings[0].clone();
    found.edits = 0..3;
    let complaint = finding(&found, &testing::rules(), Names::new(&graph, &graph), &edits, Mood::Done);
    let help: Vec<&str> = complaint.lines(Below::Help).collect();
    assert_eq!(
        help,
        ["Copy `copy_0` was inserted between `c:out0` and `no:in0`", "flag of `c` was set to true"]
    );
}

#[test]
fn a_new_node_is_told_by_the_edges_that_it_has() {
    let (graph, _) = testing::graph(testing::GRAPH);
    let mut edit = testing::outcome(&graph).steps[0].edits[0].clone();
    let mut sentence = |reads: bool, feeds: bool| {
        if let EditEntryKind::Insert { from, to, .. } = &mut edit.kind {
            from.truncate(usize::from(reads));
            to.truncate(usize::from(feeds));
        }
        edit_sentence(&edit, Mood::Done)
    };
    assert_eq!(sentence(true, true), "Copy `copy_0` was inserted between `c:out0` and `no:in0`");
    assert_eq!(sentence(true, false), "Copy `copy_0` was inserted behind `c:out0`");
    assert_eq!(sentence(false, false), "Copy `copy_0` was inserted without data edges");
    let mut fed = testing::outcome(&graph).steps[0].edits[0].clone();
    if let EditEntryKind::Insert { from, .. } = &mut fed.kind {
        from.clear();
    }
    assert_eq!(edit_sentence(&fed, Mood::Proposed), "Copy `copy_0` would be inserted in front of `no:in0`");
}

#[test]
fn no_span_is_too_odd_to_draw() {
    for text in ["", "\n", "a", "é\nb", "a\r\nb\r\n", "a\n\nb", "\ta\n", "日本\n"] {
        let source = Arc::new(Source::new("f", text));
        for start in 0..text.len() + 2 {
            for end in start..text.len() + 3 {
                let marks = vec![Mark { span: start..end, text: "label".into() }];
                let excerpt = Excerpt { source: source.clone(), marks };
                let out = draw(&Complaint::error("c", "m").excerpt(excerpt));
                assert!(
                    out.starts_with("c\n\n  × m\n") && out.contains("[f:"),
                    "{text:?} {start}..{end}: {out}"
                );
            }
        }
    }
}
