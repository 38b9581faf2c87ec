//! Edits of the shipped rules whose cost is measured.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::graph::{GraphId, Snapshot};

pub struct RuleEdit {
    pub what: &'static str,
    pub file: &'static str,
    /// Stands there once; empty: the end of the file.
    pub from: &'static str,
    pub to: &'static str,
}

const LAYOUT: &str = "rules/layout.anchor";
const READWRITE: &str = "rules/readwrite.anchor";
const HCCL: &str = "rules/hccl.anchor";

pub const EDITS: &[RuleEdit] = &[
    RuleEdit { what: "a comment", file: LAYOUT, from: "", to: "\n// a comment\n" },
    RuleEdit {
        what: "a condition, said otherwise",
        file: LAYOUT,
        from: "when is_static(target.root) and fixed.node.type not in VARIABLE_LIKE",
        to: "when 1 == 1 and is_static(target.root) and fixed.node.type not in VARIABLE_LIKE",
    },
    RuleEdit {
        what: "a condition of a checker",
        file: LAYOUT,
        from: "when is_static(target.root) and fixed.node.type not in VARIABLE_LIKE",
        to: "when fixed.node.type in VARIABLE_LIKE",
    },
    RuleEdit {
        what: "a pair",
        file: LAYOUT,
        from: "always IMMUTABLE_ADDRESS_OUTPUT with CONTINUOUS_INPUT\n  because \"a constant or variable cannot move into a block\"\n",
        to: "",
    },
    RuleEdit {
        what: "a condition of an attribute",
        file: LAYOUT,
        from: "  where node.type in CONSTANT_LIKE or node.type in VARIABLES\n",
        to: "  where node.type in CONSTANT_LIKE\n",
    },
    RuleEdit {
        what: "a cell of the matrix",
        file: READWRITE,
        from: "  ReadOnly      | DoNothing  | DoNothing      | InsertIdentity",
        to: "  ReadOnly      | DoNothing  | InsertIdentity | InsertIdentity",
    },
    RuleEdit {
        what: "a condition of the read/write pass",
        file: READWRITE,
        from: "fn takes_part(n: Node) -> Bool = not in_loop_body(n) and",
        to: "fn takes_part(n: Node) -> Bool = n.inputs.count != 1 and not in_loop_body(n) and",
    },
    RuleEdit {
        what: "a condition of an early pass",
        file: HCCL,
        from: "for n in g.nodes where n.attr(_input_mutable) {",
        to: "for n in g.nodes where n.attr(_input_mutable) and n.inputs.count > 1 {",
    },
];

impl RuleEdit {
    /// The file as it stands then.
    pub fn text(&self) -> String {
        let sources = RuleSources::shipped();
        let old = sources.files.into_iter().find(|(path, ..)| path == self.file).expect("a shipped file").1;
        match self.from {
            "" => format!("{old}{}", self.to),
            from => {
                assert_eq!(old.matches(from).count(), 1, "`{from}` stands in {}", self.file);
                old.replacen(from, self.to, 1)
            }
        }
    }
}

/// Processor time that a process or a thread has taken, from its `schedstat`; none where the system does not tell. Beside other
/// work it says more than the clock.
pub fn processor_time(schedstat: &Path) -> Option<Duration> {
    let text = fs::read_to_string(schedstat).ok()?;
    Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
}

/// How many rules and passes fire, or edit the graph, another number of times after an edit.
pub fn differing(edit: &RuleEdit, graph: &Snapshot) -> usize {
    let mut session = Session::new(RuleSources::shipped());
    let request = Request { graph: GraphId::ROOT, node: None, steps: Vec::new(), sort: false };
    let before = session.count(graph, &request).expect("sound rules");
    session.set_text(edit.file, &edit.text());
    let after = session.count(graph, &request).expect("sound rules");
    let fires = differing_keys(&before.fires, &after.fires);
    fires + differing_keys(&before.edits, &after.edits)
}

fn differing_keys<K: Ord>(one: &BTreeMap<K, usize>, other: &BTreeMap<K, usize>) -> usize {
    let keys: std::collections::BTreeSet<&K> = one.keys().chain(other.keys()).collect();
    keys.into_iter().filter(|key| one.get(key) != other.get(key)).count()
}
