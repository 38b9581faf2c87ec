//! Hand-made graphs, places and findings for the tests of this room and of `cli`.

use std::sync::Arc;

use crate::engine::outcome::{
    AnchorRef, EditEntry, EditEntryKind, Finding, Outcome, PlaceRef, RuleRef, StepOutcome,
};
use crate::graph::{Anchor, GraphId, NodeId, Snapshot, Sym};
use crate::lang::Level;
use crate::lang::syntax::ast::Kind;
use crate::report::Rules;

pub const CHECKER: &str = "\
/// R08
checker user_out_and_fixed_out
  for user: USER_OUT, fixed: FIXED_OUT
  when is_static(target.root)
  isolate before user
  because \"{fixed.node.name} would be overwritten through the user's buffer\"
";

/// Reads graph notation, and gives the names of the nodes of its root in list order.
pub fn graph(text: &str) -> (Snapshot, Vec<Arc<str>>) {
    let (snapshot, errors) = crate::format::notation::parse(text);
    assert!(errors.is_empty(), "{errors:?}");
    let snapshot = snapshot.expect("a graph without complaints");
    let names = snapshot.list(GraphId::ROOT).map(|node| snapshot.node(node).name.clone()).collect();
    (snapshot, names)
}

pub fn node(snapshot: &Snapshot, name: &str) -> NodeId {
    snapshot
        .nodes_by_id()
        .find(|(_, node)| &*node.name == name)
        .map(|(id, _)| id)
        .expect("a node of that name")
}

/// A place; `anchor` as in `in0`.
pub fn place(snapshot: &Snapshot, name: &str, anchor: Option<&str>, role: &str) -> PlaceRef {
    let id = node(snapshot, name);
    let anchor = anchor.map(|text| {
        let index = text.trim_start_matches(char::is_alphabetic).parse().expect("an index");
        if text.starts_with("in") { Anchor::In(id.input(index)) } else { Anchor::Out(id.output(index)) }
    });
    let node = snapshot.node(id);
    let graph = snapshot.graph(node.graph).name.clone();
    PlaceRef { node: id, anchor, name: node.name.clone(), op: node.ty, graph, role: role.to_owned() }
}

pub fn rule(kind: Kind, name: &str) -> RuleRef {
    RuleRef { kind, name: Sym::new(name) }
}

pub fn rules() -> Rules {
    let mut rules = Rules::default();
    rules.add(rule(Kind::Checker, "user_out_and_fixed_out"), "rules.anchor", 227, CHECKER, Some("R08"));
    rules.add(rule(Kind::Always, "BLOCK with BLOCK"), "rules.anchor", 12, "always BLOCK with BLOCK", None);
    rules
}

pub fn anchor(node: &str, index: u32) -> AnchorRef {
    AnchorRef { node: node.into(), index }
}

/// `c` would be overwritten through `no`.
pub const GRAPH: &str = "graph { @name = \"main\" }\nc: Fixed\nno: Sink(c)\n";

/// What a run on [`GRAPH`] might leave: one conflict, one copy.
pub fn outcome(snapshot: &Snapshot) -> Outcome {
    let pass = Sym::new("arrange");
    let finding = Finding {
        pass,
        rule: rule(Kind::Checker, "user_out_and_fixed_out"),
        code: Sym::new("conflict"),
        level: Level::Error,
        message: "c would be overwritten through the user's buffer".into(),
        help: None,
        places: vec![
            place(snapshot, "no", Some("in0"), "USER_OUT"),
            place(snapshot, "c", Some("out0"), "FIXED_OUT"),
        ],
        said: None,
        also: vec![(rule(Kind::Always, "BLOCK with BLOCK"), "one block is enough".into())],
        edits: 0..1,
    };
    let edit = EditEntry {
        pass,
        rule: Sym::new("user_out_and_fixed_out"),
        kind: EditEntryKind::Insert {
            op: Sym::new("Copy"),
            name: "copy_0".into(),
            node: NodeId(2),
            from: vec![anchor("c", 0)],
            to: vec![anchor("no", 0)],
        },
    };
    let step = StepOutcome {
        pass,
        before: snapshot.clone(),
        after: snapshot.clone(),
        edits: Arc::from([edit]),
        findings: Arc::from([finding]),
        failure: None,
        tolerated: false,
    };
    Outcome { before: snapshot.clone(), after: snapshot.clone(), steps: vec![step] }
}
