//! An engine with four entries, for tests of the commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::session::*;
use crate::engine::explain::{AnchorStory, Explanation, Table};
use crate::engine::outcome::{Outcome, PassFailure};
use crate::engine::{Case, CoverageRow, Measured};
use crate::format::{FormatError, Loaded};
use crate::graph::{Anchor, GraphId, Group, Snapshot, Sym, Symbols};
use crate::lang::diagnostic::Diagnostic;
use crate::lang::syntax::ast::{Kind, Span};
use crate::report::testing;

/// A rule file with one entry of each kind that the commands treat in a special way.
pub const RULES: &str = "\
/// How to go about it.
/// More about that.
option mode: { sound, fast } = sound
pass arrange { }
attribute USER_OUT on input where true
checker user_out_and_fixed_out
  for user: USER_OUT, fixed: FIXED_OUT
";

pub struct Fake {
    real: Box<dyn Engine>,
    options: BTreeMap<String, String>,
    sources: RuleSources,
}

pub fn connect(sources: RuleSources) -> Box<dyn Engine> {
    Box::new(Fake { real: super::session::connect(sources.clone()), options: BTreeMap::new(), sources })
}

fn entry(kind: Kind, name: &str, line: u32, source: &str, doc: Option<&str>) -> EntryInfo {
    EntryInfo {
        kind,
        name: Sym::new(name),
        path: "r.anchor".into(),
        line,
        doc: doc.map(str::to_owned),
        overlay: name == "USER_OUT",
        live: true,
        source: source.into(),
    }
}

fn diagnostic(message: &str, spans: Vec<(String, std::ops::Range<usize>)>) -> RuleDiagnostic {
    let diagnostic = Diagnostic::error("rule::test", Span::default(), message).label("here");
    RuleDiagnostic { path: "r.anchor".into(), diagnostic, spans }
}

impl Engine for Fake {
    fn set_options(
        &mut self,
        given: BTreeMap<String, String>,
        environment: BTreeMap<String, String>,
    ) -> Vec<RuleDiagnostic> {
        self.options = environment;
        self.options.extend(given);
        match self.options.get("mode").map(String::as_str) {
            None | Some("sound" | "fast" | "broken") => Vec::new(),
            Some(_) => vec![diagnostic("`mode` is `sound` or `fast`", Vec::new())],
        }
    }

    fn expect_edits(&mut self) {}

    fn set_text(&mut self, path: &str, text: &str) {
        let files = self.sources.files.iter_mut();
        files.filter(|(known, ..)| known == path).for_each(|(_, known, _)| *known = text.to_owned());
    }

    fn diagnostics(&self) -> Vec<RuleDiagnostic> {
        let marked = |(path, text, _): &(String, String, bool)| {
            let at = text.find("\nset wrong").map(|at| at + 5)?;
            Some(diagnostic("a wrong word", vec![(path.clone(), at..at + 5)]))
        };
        self.sources.files.iter().filter_map(marked).collect()
    }

    fn entries(&self) -> Vec<EntryInfo> {
        let doc = Some("How to go about it.\nMore about that.");
        let checker = "checker user_out_and_fixed_out\n  for user: USER_OUT, fixed: FIXED_OUT\n";
        vec![
            entry(Kind::Option, "mode", 3, "option mode: { sound, fast } = sound", doc),
            entry(Kind::Pass, "arrange", 4, "pass arrange { }", None),
            entry(Kind::Attribute, "USER_OUT", 5, "attribute USER_OUT on input where true", None),
            entry(Kind::Checker, "user_out_and_fixed_out", 6, checker, None),
        ]
    }

    fn load(&self, bytes: &[u8], name: &str) -> Result<Loaded, FormatError> {
        self.real.load(bytes, name)
    }

    fn run(&self, snapshot: &Snapshot, request: &Request) -> Result<Outcome, RunError> {
        let has = |name: &str| snapshot.nodes_by_id().any(|(_, node)| &*node.name == name);
        if !has("c") || !has("no") || self.options.get("mode").is_some_and(|mode| mode == "fast") {
            return Ok(Outcome { before: snapshot.clone(), after: snapshot.clone(), steps: Vec::new() });
        }
        let mut outcome = testing::outcome(snapshot);
        if self.options.get("mode").is_some_and(|mode| mode == "broken") {
            outcome.steps[0].failure = Some(PassFailure {
                pass: Sym::new("arrange"),
                message: "the graph has a cycle".into(),
                help: None,
                places: Vec::new(),
            });
        }
        assert_eq!(request.graph, GraphId::ROOT);
        Ok(outcome)
    }

    fn measures(&self, _: &Outcome) -> Vec<Measured> {
        Vec::new()
    }

    fn symbols(&self, snapshot: &Snapshot, _: GraphId) -> Result<Arc<Symbols>, PassFailure> {
        let (c, no) = (testing::node(snapshot, "c"), testing::node(snapshot, "no"));
        let members = vec![Anchor::Out(c.output(0)), Anchor::In(no.input(0))];
        Ok(Arc::new(Symbols::new(vec![Group { founder: members[0], members }])))
    }

    fn explain(
        &self,
        snapshot: &Snapshot,
        _: &Request,
        target: ExplainTarget,
    ) -> Result<Explanation, RunError> {
        let name = snapshot.node(target.node).name.to_string();
        let side = target.anchor.map(crate::report::place::side_index);
        let place = testing::place(snapshot, &name, side.as_deref(), "");
        let story = AnchorStory {
            place,
            symbol: None,
            sharers: Vec::new(),
            hidden: 0,
            marks: Vec::new(),
            verdicts: Vec::new(),
            outcome: "nothing came of it".into(),
            steps: Vec::new(),
        };
        Ok(Explanation { anchors: vec![story], ..Explanation::default() })
    }

    fn table(&self, _: &Snapshot, _: &Request, op: Sym) -> Result<Table, RunError> {
        Ok(Table { op, rows: Vec::new(), totals: Vec::new() })
    }

    fn tests(&self, _: &dyn Fn(&str) -> bool) -> Vec<TestResult> {
        let result = |name: &str, failure| TestResult {
            name: name.into(),
            path: "r.anchor".into(),
            line: 9,
            failures: Option::into_iter(failure).collect(),
        };
        let failure =
            self.sources.files.first().map(|file| diagnostic("no copy", vec![(file.0.clone(), 0..3)]));
        vec![result("one copy", None), result("no copy", failure)]
    }

    fn case(&self, _: &Case) -> Result<(), Vec<String>> {
        Ok(())
    }

    fn start_coverage(&mut self) {}

    fn audit(&self, coverage: Option<crate::audit::Coverage>) -> crate::audit::Audit {
        crate::audit::Audit { coverage, ..crate::audit::Audit::default() }
    }

    fn coverage(&self) -> Vec<CoverageRow> {
        let row = |name: &str, branch: Option<&str>, reached| CoverageRow {
            kind: Kind::Checker,
            name: Sym::new(name),
            path: "r.anchor".into(),
            line: 6,
            branch: branch.map(str::to_owned),
            reached,
        };
        vec![row("a", None, 2), row("a", Some("else"), 0), row("b", None, 0)]
    }
}
