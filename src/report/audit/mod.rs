//! The audit of a rule set: for a terminal, for a pull request, and as a page.
//!
//! Promise: the same audit gives the same bytes. The terminal gets the whole of the tables that fit it, and the others as sums;
//! JSON has everything. The page is one file that asks nothing of a network.

mod human;
mod page;

pub use human::human;
pub use page::{markdown, page};

use crate::audit::Audit;

/// Everything, as one JSON object.
pub fn json(audit: &Audit) -> String {
    let mut text = serde_json::to_string_pretty(audit).unwrap_or_default();
    text.push('\n');
    text
}

/// One letter for a class of pairs.
fn letter(class: &str) -> &'static str {
    match class {
        "never" => "-",
        "always" => "!",
        "checker" => "c",
        _ => "·",
    }
}

/// The most important numbers in one sentence.
fn sums(audit: &Audit) -> String {
    let marks = audit.marks.len();
    let of = |class| audit.pairs_of(class);
    format!(
        "{} pairs of {marks} marks: {} never, {} always, {} by checkers, {} unruled",
        audit.pairs.len(),
        of("never"),
        of("always"),
        of("checker"),
        of("unruled"),
    )
}
