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
    print!("{}", draw(&complaint));
    panic!();
}
