//! The shipped rules with small changes, one after the other: a session that goes on tells what a new one tells, and what is told
//! where code is run as it was written (as it is when somebody counts what is reached).

use anchorwatch::audit::mutate::{mutants, sample};
use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::graph::{GraphId, Snapshot};
use anchorwatch::lang::Level;

#[path = "../benches/support/generate.rs"]
#[allow(dead_code, reason = "the benches need more shapes")]
mod generate;

/// So many changes are tried, and so many nodes each graph has.
const CHANGES: usize = 40;
const NODES: usize = 300;

/// All that is found and edited, and where it failed.
fn told(session: &Session, graph: &Snapshot) -> Vec<String> {
    let request = Request { graph: GraphId::ROOT, node: None, steps: Vec::new(), sort: false };
    let outcome = match session.run(graph, &request) {
        Ok(outcome) => outcome,
        Err(error) => return vec![format!("{error:?}")],
    };
    let failed = outcome.failures().map(|failure| format!("{failure:#?}"));
    let edits = outcome.steps.iter().flat_map(|step| step.edits.iter().map(|edit| format!("{edit:?}")));
    outcome.findings().map(|finding| format!("{finding:#?}")).chain(edits).chain(failed).collect()
}

#[test]
fn a_session_that_goes_on_tells_what_a_new_one_tells() {
    let graphs = [generate::mixed(NODES), generate::accesses(NODES), generate::peer_like(NODES)];
    let all = mutants(&Session::new(RuleSources::shipped()), &|_, _| true);
    let mut kept = Session::new(RuleSources::shipped());
    kept.expect_edits();
    let mut tried = 0;
    for mutant in sample(all, CHANGES, 7) {
        let before = kept.file_text(&mutant.path).expect("a file of the rules");
        let text = mutant.apply(&before);
        kept.set_text(&mutant.path, &text);
        if kept.diagnostics().iter().all(|d| d.diagnostic.level != Level::Error) {
            let mut fresh = Session::new(RuleSources::shipped());
            fresh.set_text(&mutant.path, &text);
            let mut counted = Session::new(RuleSources::shipped());
            counted.set_text(&mutant.path, &text);
            counted.start_coverage();
            for graph in &graphs {
                let alone = told(&fresh, graph);
                assert!(told(&kept, graph) == alone, "goes on: {}", mutant.name());
                assert!(told(&counted, graph) == alone, "as written: {}", mutant.name());
            }
            tried += 1;
        }
        kept.set_text(&mutant.path, &before);
        for graph in &graphs {
            told(&kept, graph);
        }
    }
    assert!(tried > CHANGES / 2, "{tried} of {CHANGES}");
}
