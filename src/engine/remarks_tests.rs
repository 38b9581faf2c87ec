//! What a step says again is counted once, and what it says of something else is not taken for it.

use std::collections::HashSet;

use crate::engine::{Request, RuleSources, Session};
use crate::format::notation;
use crate::graph::{GraphId, Sym};
use crate::lang::syntax::ast::Kind;

/// Counts what a pass with this body remarks of two nodes, before and after `change` has given the first one a size. That must be as
/// many as there are different findings in the report of the run.
fn counted(body: &str) -> usize {
    let rules = format!(
        "set OPS = {{ Relu }}
attr size: int on node
pass told for n: Node where n.type in OPS {{ {body} }}
pass change for n: Node where n.name == \"a\" {{ set n.attr(size) = 2 }}
"
    );
    let session = Session::new(RuleSources { files: vec![("a.anchor".to_owned(), rules.clone(), false)] });
    assert!(!session.has_errors(), "{:#?}\n{rules}", session.diagnostics());
    let graph = notation::parse("a: Relu\nb: Relu(a)\n").0.expect("a graph");
    let steps = ["told", "change", "told"].map(Sym::new).to_vec();
    let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
    let outcome = session.run(&graph, &request).expect("sound rules");
    let different: HashSet<String> =
        outcome.findings().map(|finding| format!("{} {:?}", finding.message, finding.places)).collect();
    let counts = session.count(&graph, &request).expect("sound rules");
    let counted = counts.fires.get(&(Kind::Pass, "told")).copied().unwrap_or_default();
    assert_eq!(counted, different.len(), "{body}");
    counted
}

#[test]
fn a_remark_that_shows_names_is_said_once() {
    assert_eq!(counted("report n \"a word\""), 2);
    assert_eq!(counted("report n \"{n}, {n.name}: a {n.type}\""), 2);
    assert_eq!(counted("for i in n.inputs { report n, i \"input {i.index} of {i.node.name}: {i}\" }"), 1);
    assert_eq!(counted("let name = n.name\nreport n \"{name}\""), 2);
}

#[test]
fn a_remark_that_shows_what_has_changed_is_another_one() {
    // One node of the two has changed.
    assert_eq!(counted("report n \"{n.name} of {n.attr(size) ?? 0}\""), 3);
    assert_eq!(counted("let size = n.attr(size) ?? 0\nreport n \"{n.name} of {size}\""), 3);
    assert_eq!(counted("let large = (n.attr(size) ?? 0) > 1\nreport n \"{n.name}: {large}\""), 3);
    assert_eq!(counted("if (n.attr(size) ?? 0) > 1 { report n \"large\" } else { report n \"small\" }"), 3);
}

#[test]
fn a_remark_with_other_places_is_another_one() {
    let body =
        "if (n.attr(size) ?? 0) > 1 { report n \"odd\" } else { for o in n.outputs { report n, o \"odd\" } }";
    assert_eq!(counted(body), 3);
}
