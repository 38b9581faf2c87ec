//! The fast search against the definition: whatever trying every pair isolates, and nothing else; and how often a
//! condition is asked.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write;

use proptest::prelude::*;

use super::cells::Cells;
use super::pairs::Class;
use super::queries::{At, Layer, mark_table, pair_table, rule, rule_program, symbols};
use super::search::Search;
use super::{RuleSources, Session};
use crate::db;
use crate::graph::{Anchor, GraphId, Snapshot, Sym};
use crate::lang::eval::Machine;
use crate::lang::syntax::ast::Kind;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// Called for each evaluation of a rule's condition.
pub(super) fn count() {
    ASKED.set(ASKED.get() + 1);
}

/// Marks by attributes, one group for all that hangs on one source, and rules of every form that the search tells
/// apart. `low` and `high` count in the order of a group, so many conditions depend on who stands first.
const RULES: &str = r#"
attr marks: list<str> on node
attr kind: int on node
attr weight: int on node
attr hands_on: bool on node

symbols memory(target: Graph) {
  for n in target.all_nodes {
    for i in n.inputs {
      let source = i.source
      if source is none { found i } else { join i to source }
    }
    for o in n.outputs {
      let handed = n.input(0)
      if n.attr(hands_on) and handed is some { join o to handed } else { found o }
    }
  }
}

fn kind(a: Anchor) -> Int = a.node.attr(kind) ?? 0
fn alike(a: Anchor, b: Anchor) -> Bool = kind(a) == kind(b)

attribute A_IN on input where "a" in node.attr(marks)
attribute B_IN on input where "b" in node.attr(marks)
attribute A_OUT on output where "a" in node.attr(marks)
attribute C_OUT on output where "c" in node.attr(marks)
attribute REST_IN on input otherwise
attribute REST_OUT on output otherwise

always B_IN with C_OUT, REST_OUT
default always isolate if first.is_in and second.is_in then (if kind(first) < kind(second) then first else second)
  else if first.is_in then first else second

/// A role of many marks; the target follows from the order.
checker roles
  for one: A_IN or A_OUT, two: B_IN or A_IN
  when kind(one) != kind(two)
  isolate if first.is_in then one else two

/// The second anchor takes the first role where both could.
checker preferring_last
  for last one: A_OUT, two: C_OUT or A_OUT
  when kind(first) <= kind(second) and not alike(one, two)
  isolate one

/// No condition: identity alone decides.
checker by_identity
  for one: REST_OUT, two: REST_OUT or C_OUT
  isolate if one.node.attr(weight) == 1 then two else one

// What follows tells every anchor apart, or acts on a pair as a whole.

/// Names bound inside the condition.
checker with_locals
  for one: REST_IN, two: REST_OUT
  when (any o in one.node.outputs: o.index == kind(two)) and { let k = kind(one) k != kind(two) or k == 1 }
  isolate if kind(one) > kind(two) then one else two

/// Neither of the two is isolated.
checker elsewhere
  for one: B_IN, two: B_IN or REST_IN
  when kind(one) == 1 and kind(two) != 1
  isolate group.inputs.first ?? one

/// A body, which may isolate several anchors of either node.
checker body
  for one: REST_IN, two: A_OUT or C_OUT
  when kind(one) == kind(two)
{
  for i in group.inputs_of(two.node).take(1) { isolate i }
  if kind(one) == 0 { isolate one } else { isolate two }
}

checker at_all
  over group with A_IN and C_OUT
  when group.count > 3
{
  for i in group.inputs.take(2) { isolate i }
}
"#;

const SKIPS: [&str; 4] = [
    "",
    "skip same_node when first.node == second.node",
    "skip ordered when first.is_in and second.is_out and kind(first) == kind(second)",
    "skip locals when any o in group.outputs.take(2): o.index == kind(first) and kind(second) == 2",
];

#[derive(Clone, Debug)]
struct Op {
    marks: u8,
    kind: u8,
    weight: bool,
    hands_on: bool,
    inputs: u8,
    outputs: u8,
    source: u16,
}

fn op() -> impl Strategy<Value = Op> {
    (0u8..8, 0u8..3, any::<bool>(), prop::bool::weighted(0.7), 1u8..4, 1u8..3, any::<u16>()).prop_map(
        |(marks, kind, weight, hands_on, inputs, outputs, source)| Op {
            marks,
            kind,
            weight,
            hands_on,
            inputs,
            outputs,
            source,
        },
    )
}

/// A source, and operators that read it or what hands it on.
fn graph(ops: &[Op]) -> Snapshot {
    let mut text = String::from("v: Source { marks = [\"c\"] } -> float32[1]\n");
    // Outputs that carry the memory of `v`, so that most anchors are in one group.
    let mut carriers = vec!["v:0".to_owned()];
    for (number, op) in ops.iter().enumerate() {
        let from = &carriers[op.source as usize % carriers.len()];
        let from = vec![from.as_str(); op.inputs as usize].join(", ");
        let marks: Vec<String> = "abc"
            .chars()
            .enumerate()
            .filter(|(bit, _)| op.marks >> bit & 1 == 1)
            .map(|(_, c)| format!("\"{c}\""))
            .collect();
        let outputs = vec!["float32[1]"; op.outputs as usize].join(", ");
        let _ = writeln!(
            text,
            "n{number}: Step({from}) {{ marks = [{}], kind = {}, weight = {}, hands_on = {} }} -> {outputs}",
            marks.join(", "),
            op.kind,
            u8::from(op.weight),
            op.hands_on,
        );
        if op.hands_on && op.source % 3 == 0 {
            carriers.push(format!("n{number}:0"));
        }
    }
    let (snapshot, complaints) = crate::format::notation::parse(&text);
    assert!(complaints.is_empty(), "{complaints:?}");
    snapshot.expect("a graph")
}

fn session(rules: &str) -> Session {
    let session =
        Session::new(RuleSources { files: vec![("test.anchor".to_owned(), rules.to_owned(), false)] });
    let errors: Vec<String> = session
        .diagnostics()
        .into_iter()
        .filter(|d| d.diagnostic.level == crate::lang::Level::Error)
        .map(|d| format!("{} at {:?}", d.diagnostic.message, d.places))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    session
}

/// What one rule isolates in all groups: looked for fast, and by trying every pair; and how often each way asked.
struct Both {
    class: Class,
    fast: BTreeSet<Anchor>,
    naive: BTreeSet<Anchor>,
    asked: (usize, usize),
}

fn both_ways(session: &Session, snapshot: &Snapshot, naively: bool) -> Vec<Both> {
    let (db, rules) = (&session.db, session.rules);
    let target = GraphId::ROOT;
    let name = db::live(db, rules).names(Kind::Symbols).next().expect("symbols");
    let layer = Layer::new(db, At::new(db, snapshot.clone()), name, target);
    let symbols = symbols(db, rules, layer).expect("groups");
    let marks = mark_table(db, rules, layer, |_| true).expect("marks");
    let classes: Vec<Class> = pair_table(db, rules).rules.iter().map(|rule| rule.class).collect();
    let mut found = Vec::new();
    for class in classes {
        let linked = rule_program(db, rules, class);
        let rule = rule(db, rules, class, &linked.0).expect("a rule");
        let host = Cells { db, rules };
        let mut machine = Machine::over(&linked.0, &host, snapshot, target);
        machine.set_marks(Some(std::rc::Rc::new(marks.clone())));
        let mut search =
            Search { machine: &mut machine, rule: &rule, symbols: &symbols, marks: &marks, target };
        ASKED.set(0);
        let fast = search.run().expect("no failure");
        let fast_asked = ASKED.replace(0);
        let fast = fast.iter().flat_map(|group| &group.isolated).map(|verdict| verdict.anchor).collect();
        let mut naive = BTreeSet::new();
        if naively {
            for group in 0..symbols.groups().len() as u32 {
                naive.extend(search.run_group_naive(group).expect("no failure").iter().map(|v| v.anchor));
            }
        }
        found.push(Both { class, fast, naive, asked: (fast_asked, ASKED.get()) });
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_search_finds_what_trying_every_pair_finds(
        ops in prop::collection::vec(op(), 20..160),
        skip in prop::sample::subsequence((1..SKIPS.len()).collect::<Vec<_>>(), 0..SKIPS.len()),
    ) {
        let skips: Vec<&str> = skip.iter().map(|&at| SKIPS[at]).collect();
        let session = session(&format!("{RULES}\n{}", skips.join("\n")));
        let snapshot = graph(&ops);
        for both in both_ways(&session, &snapshot, true) {
            prop_assert_eq!(&both.fast, &both.naive, "{:?} with {:?}", both.class, skips);
        }
    }
}

#[test]
fn every_rule_of_the_property_test_isolates_something() {
    let ops: Vec<Op> = (0..90u16)
        .map(|n| Op {
            marks: (n % 8) as u8,
            kind: (n / 8 % 3) as u8,
            weight: n % 5 == 0,
            hands_on: n % 4 != 0,
            inputs: 2,
            outputs: 1 + (n % 2) as u8,
            source: 0,
        })
        .collect();
    for both in both_ways(&session(RULES), &graph(&ops), true) {
        assert!(!both.naive.is_empty(), "{:?} isolates nothing", both.class);
        assert!(both.naive.len() < 90 * 4, "{:?} isolates everything", both.class);
    }
}

/// `n` anchors on each side of each rule, of few classes.
fn crowd(n: u16) -> Snapshot {
    let op = |marks, at: u16| Op {
        marks,
        kind: (at % 3) as u8,
        weight: at.is_multiple_of(2),
        hands_on: true,
        inputs: 1,
        outputs: 1,
        source: 0,
    };
    let ops: Vec<Op> = (0..n).flat_map(|at| [op(1, at), op(2, at), op(4, at), op(0, at)]).collect();
    // Only the source is read: carriers would make a chain.
    graph(&ops.into_iter().map(|op| Op { source: 1, ..op }).collect::<Vec<_>>())
}

#[test]
fn conditions_are_asked_per_class_and_not_per_pair() {
    const N: u16 = 5000;
    let rules = RULES.split("// What follows").next().expect("the rules of few classes");
    let session = session(&format!("{rules}\n{}", SKIPS[1]));
    let (mut asked, mut rules) = (0, 0);
    for both in both_ways(&session, &crowd(N), false) {
        let few = 4 * 2 * N as usize;
        assert!(both.asked.0 <= few, "{:?} asks {} times", both.class, both.asked.0);
        assert_eq!(both.asked.1, 0, "the naive way did not run");
        asked += both.asked.0;
        rules += 1;
    }
    assert!(rules >= 4 && asked > 0, "the meter counts");
}

#[test]
fn the_meter_sees_a_quadratic_search() {
    let session = session(RULES);
    let roles = both_ways(&session, &crowd(30), true)
        .into_iter()
        .find(|b| b.class == Class::Checker(Sym::new("roles")));
    let (_, naive) = roles.expect("the checker").asked;
    assert!(naive >= 30 * 30, "trying every pair asks for each: {naive}");
}
