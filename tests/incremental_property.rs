//! A session that is kept through edits answers like one that is made anew: after every step of a random sequence of
//! edits of rules, options and graphs, findings, edits, failures, complaints, counts and the resulting graph are the same.

use std::collections::BTreeMap;

use anchorwatch::engine::outcome::Outcome;
use anchorwatch::engine::{Request, RuleSources, RunCounts, Session};
use anchorwatch::format::notation;
use anchorwatch::graph::{GraphId, Snapshot, Sym};
use proptest::prelude::*;

#[allow(dead_code, reason = "benches use the rest")]
#[path = "../benches/support/generate.rs"]
mod generate;

/// A place in a rule file and what may stand there.
type Choice = (&'static str, &'static [&'static str]);

/// A rule set with holes: `@0`, `@1` ...
const SMALL: &str = r#"//! Small rules.
option mode: { plain, odd } = plain
option least: int = 1
option nobody_asks: str = ""

attr big: bool on node
attr size: int on node

@0
set FIXED = { Const@1 }
set OTHERS = { Copy, Add, Relu, Variable }

fn is_big(n: Node) -> Bool = @2

symbols memory(target: Graph) {
  for n in target.all_nodes {
    for i in n.inputs {
      let source = i.source
      if source is none { found i } else { join i to source }
    }
    for o in n.outputs { found o }
  }
}

/// @3
attribute FIXED_OUT on output where node.type in FIXED
attribute BIG_IN on input where @4
attribute OTHER_IN on input otherwise
attribute OTHER_OUT on output otherwise

@5

default always isolate if first.is_in then first else second

checker fixed_and_big
  for fixed: FIXED_OUT, big: BIG_IN
  when @6
  isolate before big
  because "@7"

checker big_and_other
  for big: BIG_IN, other: OTHER_IN
  when option(mode) == odd and @8
  isolate big
@9

pass layer {
  resolve memory in root as a {
    let i = a.as_input
    if i is some {
      let source = i.source
      if source is some {
        let copy = insert Copy named "copy_{counter(copies)}" { behind = source.node }
        for reads in copy.inputs { connect source -> reads }
        for gives in copy.outputs { connect gives -> i }
      }
    }
  }
}

lint two_inputs W1 warn for n: Node where n.inputs.count == 2 {
  report n "@11"
}

pass grows for n: Node where is_big(n) {
  @12
}

// What the lint says again is told once.
pipeline all = two_inputs, layer@10, grows, two_inputs
"#;

const CHOICES: [Choice; 13] = [
    (
        "@0",
        &[
            "",
            "// A remark.\n",
            "\n\n// Two\n// remarks.\n\n",
            "fn unused(n: Node) -> Bool = n.has_subgraph\n",
        ],
    ),
    ("@1", &["", ", Variable", ", Relu"]),
    ("@2", &["n.attr(big)", "(n.attr(size) ?? 0) > option(least)", "n.attr(big) and n.inputs.count > 1"]),
    ("@3", &["Outputs that stay.", "Outputs whose place is fixed, at length."]),
    ("@4", &["is_big(node)", "is_big(node) or node.type == Add", "no_such_function(node)"]),
    ("@5", &["", "never BIG_IN with OTHER_OUT", "always BIG_IN with OTHER_OUT because \"too big\""]),
    (
        "@6",
        &["first.node != second.node", "option(least) < 3", "big.index == 0 and fixed.node.name != \"n2\""],
    ),
    ("@7", &["{big} reads {fixed}", "{big.node.name} may not", "reworded"]),
    ("@8", &["first.is_in", "big.node != other.node"]),
    ("@9", &["", "  because \"big ones want to be alone\"", "\nskip same when first.node == second.node"]),
    ("@10", &["", ", layer", " when option(least) > 0"]),
    (
        "@11",
        &[
            "{n.name}: two inputs",
            "two inputs",
            "size {n.attr(size) ?? 0}",
            "{n.inputs.first.source} is read",
        ],
    ),
    ("@12", &["set n.attr(size) = 9", "set n.attr(big) = false"]),
];

fn small(picks: &[usize]) -> String {
    // From the back, so that `@1` does not take the place of `@10`.
    (0..CHOICES.len()).rev().fold(SMALL.to_owned(), |text, at| {
        let (hole, choices) = CHOICES[at];
        text.replace(hole, choices[picks[at] % choices.len()])
    })
}

#[test]
fn every_choice_of_the_small_rules_is_sound_but_the_one_that_should_not_be() {
    for (at, (_, choices)) in CHOICES.iter().enumerate() {
        for (pick, choice) in choices.iter().enumerate() {
            let mut picks = [0; CHOICES.len()];
            picks[at] = pick;
            let session = Session::new(RuleSources { files: vec![("a".into(), small(&picks), false)] });
            let errors: Vec<String> = session
                .diagnostics()
                .iter()
                .filter(|d| d.diagnostic.level == anchorwatch::lang::Level::Error)
                .map(|d| d.diagnostic.message.clone())
                .collect();
            assert_eq!(errors.is_empty(), !choice.contains("no_such"), "`{choice}`: {errors:?}");
        }
    }
}

/// Edits of the shipped rules: file, what stands there, what may stand there.
const SHIPPED: [(&str, &str, &str); 28] = [
    ("rules/layout.anchor", "// ---- Facts of pairs ----", "// Pairs\n\n\n"),
    ("rules/layout.anchor", "/// R08\n", "/// R08 with more to say\n"),
    ("rules/layout.anchor", "would be overwritten through", "might be overwritten through"),
    ("rules/layout.anchor", "never RTS_SPECIAL_TYPE_INPUT with NORMAL_OUTPUT\n", "\n"),
    (
        "rules/layout.anchor",
        "always IMMUTABLE_ADDRESS_OUTPUT with CONTINUOUS_INPUT\n  because \"a constant or variable cannot move into a block\"\n",
        "",
    ),
    // A rule in front of all others.
    (
        "rules/layout.anchor",
        "// ---- Facts of pairs ----",
        "always USER_MEMORY_INPUT with NORMAL_INPUT because \"handed in\"\n",
    ),
    (
        "rules/layout.anchor",
        "skip same_node when first.node == second.node",
        "skip same_node when first == second",
    ),
    (
        "rules/layout.anchor",
        "where node.type in CONSTANT_LIKE or node.type in VARIABLES\n",
        "where node.type in VARIABLES\n",
    ),
    ("rules/layout.anchor", "when is_static(target.root) and fixed", "when fixed"),
    (
        "rules/layout.anchor",
        "fn is_continuous_input(n: Node) -> Bool = n.attr(continuous_input) and n.inputs.count > 1",
        "fn is_continuous_input(n: Node) -> Bool = n.attr(continuous_input)",
    ),
    ("rules/ops.anchor", "set GRAPH_OUTPUT = { NetOutput }", "set GRAPH_OUTPUT = { NetOutput, Concat }"),
    (
        "rules/ops.anchor",
        "set PASS_THROUGH = { NetOutput, While",
        "set PASS_THROUGH = { NetOutput, Identity, While",
    ),
    ("rules/options.anchor", "option compat: { sound, ge } = sound", "option compat: { sound, ge } = ge"),
    ("rules/attributes.anchor", "attr reference: bool on node", "attr refrence: bool on node"),
    (
        "rules/readwrite.anchor",
        "ReadOnly      | DoNothing  | DoNothing      | InsertIdentity",
        "ReadOnly      | DoNothing  | InsertIdentity | InsertIdentity",
    ),
    ("rules/readwrite.anchor", "not in_loop_body(n) and not is_inner_input(n)", "not is_inner_input(n)"),
    // The same, said otherwise: what comes behind must not notice.
    (
        "rules/hccl.anchor",
        "g.nodes where n.attr(_input_mutable) {",
        "g.nodes where n.attr(_input_mutable) == true {",
    ),
    ("rules/hccl.anchor", "g.nodes.count > 1 and any n", "g.nodes.count > 100 and any n"),
    ("rules/layout.anchor", "when memory_type(reader) != memory_type(writer)", "when reader != writer"),
    ("rules/lint.anchor", "o.reader_count > 1 {", "o.reader_count > 2 {"),
    // Conditions of attributes, and cells: passes depend on the answers that they got.
    ("rules/layout.anchor", "  where is_continuous_input(node)\n", "  where node.inputs.count > 2\n"),
    ("rules/layout.anchor", "  where is_nopadding_output(node)\n", "  where node.outputs.count > 0\n"),
    (
        "rules/layout.anchor",
        "  where node.type in GRAPH_OUTPUT and graph == target\n",
        "  where node.type in GRAPH_OUTPUT\n",
    ),
    (
        "rules/layout.anchor",
        "attribute RTS_SPECIAL_TYPE_INPUT on input\n  where in_special_memory(anchor)\n",
        "attribute RTS_SPECIAL_TYPE_INPUT on input\n  where anchor.index == 1\n",
    ),
    (
        "rules/layout.anchor",
        "where not anchor.has(USER_MEMORY_INPUT) and (variable_source",
        "where (variable_source",
    ),
    (
        "rules/readwrite.anchor",
        "  ReadOnlyConst | DoNothing  | InsertIdentity |",
        "  ReadOnlyConst | DoNothing  | DoNothing |",
    ),
    (
        "rules/readwrite.anchor",
        "  SoftRead      | DoNothing  | DoNothing ",
        "  SoftRead      | InsertIdentity | DoNothing ",
    ),
    (
        "rules/readwrite.anchor",
        "  Writeable     | DoNothing  | DoNothing  ",
        "  Writeable     | DoNothing  | WrongGraph ",
    ),
];

/// Where the edits of conditions of attributes and of cells begin, which passes notice by their answers.
const ANSWERS: usize = 20;

const OPTIONS: [(&str, &[&str]); 5] = [
    ("ge.topoSortingMode", &["0", "1", "2"]),
    ("ge.featureBaseRefreshable", &["1", "0"]),
    ("compat", &["ge", "sound", "neither"]),
    ("ge.buildGraphMode", &["offline"]),
    ("no.such.option", &["1"]),
];

const SMALL_OPTIONS: [(&str, &[&str]); 3] =
    [("mode", &["odd", "plain", "wrong"]), ("least", &["0", "5", "many"]), ("nobody_asks", &["x", "y"])];

/// One edit: the places are numbers that are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    Rule(usize, usize),
    Option(usize, usize),
    Graph(usize),
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let any = || 0usize..1000;
    let step = prop_oneof![
        5 => (any(), any()).prop_map(|(place, pick)| Step::Rule(place, pick)),
        2 => (any(), any()).prop_map(|(place, pick)| Step::Option(place, pick)),
        1 => any().prop_map(Step::Graph),
    ];
    prop::collection::vec(step, 1..most)
}

/// What a run tells, counted.
fn counted(outcome: &Outcome) -> RunCounts {
    let mut counts = RunCounts::default();
    for finding in outcome.findings() {
        for rule in std::iter::once(&finding.rule).chain(finding.also.iter().map(|(rule, _)| rule)) {
            *counts.fires.entry((rule.kind, rule.name.as_str())).or_insert(0) += 1;
        }
    }
    for edit in outcome.edits() {
        *counts.edits.entry(edit.pass.as_str()).or_insert(0) += 1;
        if edit.rule != edit.pass {
            *counts.edits.entry(edit.rule.as_str()).or_insert(0) += 1;
        }
    }
    counts
}

/// Everything that a run can show.
fn shown(session: &mut Session, options: &BTreeMap<String, String>, graph: &Snapshot, step: &str) -> String {
    let complaints = session.set_options(options.clone(), BTreeMap::new());
    let request = Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new(step)], sort: false };
    let mut text = format!("{complaints:#?}\n{:#?}\n", session.diagnostics());
    match session.run(graph, &request) {
        Err(error) => text.push_str(&format!("{error:?}\n")),
        Ok(outcome) => {
            let counts = session.count(graph, &request).expect("what can be run can be counted");
            assert_eq!(counts, counted(&outcome), "what is counted is what is told");
            for step in &outcome.steps {
                text.push_str(&format!(
                    "{:?}\n{:#?}\n{:#?}\n{:#?}\n",
                    step.pass, step.edits, step.findings, step.failure
                ));
                text.push_str(&notation::print(&step.after));
            }
        }
    }
    text.push_str(&format!("{:#?}\n", session.matches(graph)));
    text
}

/// The first line in which two texts differ.
fn first_difference(left: &str, right: &str) -> Option<String> {
    if left == right {
        return None;
    }
    let differing = left.lines().zip(right.lines()).enumerate().find(|(_, (l, r))| l != r);
    Some(differing.map_or_else(
        || format!("{} lines against {}", left.lines().count(), right.lines().count()),
        |(at, (l, r))| format!("line {at}: kept `{l}`, fresh `{r}`"),
    ))
}

fn toggle(options: &mut BTreeMap<String, String>, known: &[(&str, &[&str])], place: usize, pick: usize) {
    let (name, values) = known[place % known.len()];
    let value = values[pick % values.len()].to_owned();
    if options.get(name) == Some(&value) {
        options.remove(name);
    } else {
        options.insert(name.to_owned(), value);
    }
}

fn small_graph(kind: usize) -> Snapshot {
    const TYPES: [&str; 4] = ["Const", "Variable", "Relu", "Add"];
    let mut text = String::new();
    for n in 0..12usize {
        let ty = TYPES[(n * 7 + kind) % 4];
        let from = match n {
            0 | 1 => String::new(),
            _ => format!("(n{}, n{})", n * (kind + 3) % n, (n + kind) * 5 % n),
        };
        text.push_str(&format!(
            "n{n}: {ty}{from} {{ big = {}, size = {} }}\n",
            (n + kind).is_multiple_of(3),
            n % 6
        ));
    }
    notation::parse(&text).0.expect("a graph")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_kept_session_equals_a_fresh_one_on_small_rules(steps in steps(16)) {
        let mut picks = [0; CHOICES.len()];
        let mut options = BTreeMap::new();
        let mut graph = small_graph(0);
        let sources = |picks: &[usize]| RuleSources { files: vec![("a.anchor".to_owned(), small(picks), false)] };
        let mut kept = Session::new(sources(&picks));
        kept.expect_edits();
        for step in steps {
            match step {
                Step::Rule(place, pick) => picks[place % CHOICES.len()] = pick,
                Step::Option(place, pick) => toggle(&mut options, &SMALL_OPTIONS, place, pick),
                Step::Graph(kind) => graph = small_graph(kind % 4),
            }
            kept.set_text("a.anchor", &small(&picks));
            let mut fresh = Session::new(sources(&picks));
            let fresh = shown(&mut fresh, &options, &graph, "all");
            let kept = shown(&mut kept, &options, &graph, "all");
            prop_assert_eq!(first_difference(&kept, &fresh), None);
        }
    }
}

#[test]
fn the_small_rules_find_something() {
    let session =
        Session::new(RuleSources { files: vec![("a.anchor".to_owned(), small(&[0; CHOICES.len()]), false)] });
    let request = Request { graph: GraphId::ROOT, node: None, steps: vec![Sym::new("all")], sort: false };
    let found: usize = (0..4)
        .map(|kind| session.run(&small_graph(kind), &request).expect("sound rules").findings().count())
        .sum();
    assert!(found > 0);
}

#[test]
fn the_edits_of_the_shipped_rules_fit() {
    let sources = RuleSources::shipped();
    for (path, from, _) in SHIPPED {
        let text = &sources.files.iter().find(|(p, ..)| p == path).expect("a file").1;
        assert!(text.contains(from), "`{from}` stands in {path}");
    }
}

/// The shipped rules with some edits.
fn shipped(on: &[bool]) -> RuleSources {
    let mut sources = RuleSources::shipped();
    for (path, text, _) in &mut sources.files {
        for (file, from, to) in SHIPPED.iter().zip(on).filter(|(_, on)| **on).map(|(edit, _)| edit) {
            if file == path {
                *text = text.replace(from, to);
            }
        }
    }
    sources
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_kept_session_notices_by_its_answers_what_a_fresh_one_does(
        edits in prop::collection::vec(ANSWERS..SHIPPED.len(), 1..10), seed in 0u64..1000, accesses: bool
    ) {
        let mut on = [false; SHIPPED.len()];
        let shape = if accesses { generate::Shape::Accesses } else { generate::Shape::Mixed };
        let graph = generate::generate(&generate::Spec { nodes: 300, seed, shape });
        let options = BTreeMap::new();
        let mut kept = Session::new(RuleSources::shipped());
        for pass in ["tensor_move", "rw", "layout"] {
            shown(&mut kept, &options, &graph, pass);
        }
        for edit in edits {
            on[edit] ^= true;
            let sources = shipped(&on);
            for (path, text, _) in &sources.files {
                kept.set_text(path, text);
            }
            let mut fresh = Session::new(sources);
            for pass in ["tensor_move", "rw", "layout"] {
                let fresh = shown(&mut fresh, &options, &graph, pass);
                let kept = shown(&mut kept, &options, &graph, pass);
                prop_assert_eq!(first_difference(&kept, &fresh), None);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_kept_session_equals_a_fresh_one_on_the_shipped_rules(steps in steps(10)) {
        let mut on = [false; SHIPPED.len()];
        let mut options = BTreeMap::new();
        let graphs: Vec<Snapshot> = (1..4)
            .map(|seed| {
                let shape = if seed == 3 { generate::Shape::Accesses } else { generate::Shape::Mixed };
                generate::generate(&generate::Spec { nodes: 150, seed, shape })
            })
            .collect();
        let mut graph = &graphs[0];
        let mut kept = Session::new(RuleSources::shipped());
        kept.expect_edits();
        for step in steps {
            match step {
                Step::Rule(place, _) => on[place % SHIPPED.len()] ^= true,
                Step::Option(place, pick) => toggle(&mut options, &OPTIONS, place, pick),
                Step::Graph(kind) => graph = &graphs[kind % graphs.len()],
            }
            let sources = shipped(&on);
            for (path, text, _) in &sources.files {
                kept.set_text(path, text);
            }
            let mut fresh = Session::new(sources);
            let fresh = shown(&mut fresh, &options, graph, "compile");
            let kept = shown(&mut kept, &options, graph, "compile");
            prop_assert_eq!(first_difference(&kept, &fresh), None);
        }
    }
}
