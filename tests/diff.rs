//! Edited copies of the shipped rules (`tests/diff/NAME.change`), each reported as exactly the change that it is.
//!
//! `=== diff` holds what the terminal shows.

#[path = "support/patch.rs"]
mod patch;

use anchorwatch::audit::diff::compare;
use anchorwatch::engine::{RuleSources, Session};
use anchorwatch::lang::Level;
use anchorwatch::report::diff::Report;
use anchorwatch::report::{Human, Style, diff as report};

fn session(sources: RuleSources) -> Session {
    let session = Session::new(sources);
    let errors: Vec<_> =
        session.diagnostics().into_iter().filter(|d| d.diagnostic.level == Level::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    session
}

#[test]
fn each_change_is_told_as_what_it_is() {
    let human = Human::new(Style { color: false, width: None });
    let changes = patch::all("tests/diff", ".change");
    assert!(changes.len() >= 15, "{} changes", changes.len());
    let mut wrong = String::new();
    let shipped = session(RuleSources::shipped());
    for (name, patch) in &changes {
        let difference = compare(&shipped, &session(patch.apply()));
        let told = report::human(&Report { difference, graphs: None, witness: None }, &human);
        let expected = patch.sections.iter().find(|(word, _)| word == "diff").map_or("", |(_, text)| text);
        if told != *expected {
            wrong.push_str(&format!("{name}\n--- expected\n{expected}--- told\n{told}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What a change does not touch is not told: the way back is as long, and nothing is told of equal rules.
#[test]
fn the_way_back_tells_as_much() {
    let shipped = session(RuleSources::shipped());
    assert!(compare(&shipped, &session(RuleSources::shipped())).is_empty());
    for (name, patch) in patch::all("tests/diff", ".change") {
        let changed = session(patch.apply());
        let (there, back) = (compare(&shipped, &changed), compare(&changed, &shipped));
        assert_eq!(
            (there.changes.len(), there.pairs.len(), there.differs()),
            (back.changes.len(), back.pairs.len(), back.differs()),
            "{name}"
        );
    }
}
