//! What a person or a program reads: findings, complaints, explanations and sums as text and as JSON.
//!
//! Promise: this room only renders. It opens nothing, prints nothing and decides nothing; the same values give
//! the same bytes, whatever the terminal, unless the [`Style`] says otherwise. It knows no rule by name: what it
//! shows of one is the rule's own text.
//!
//! What a person reads has passed [`plain`], so that no input commands a terminal.
//!
//! The road: everything that is wrong becomes a [`Complaint`] (code, message, excerpts, notes, help), which
//! [`Human`] draws and [`json`] writes; the tools of reviewers get a [`Remark`], which [`sarif`] and [`github`] write. [`Rules`] holds the text of the entries that excerpts are cut from.

pub mod audit;
pub mod complaint;
pub mod diff;
pub mod explain;
pub mod github;
pub mod human;
pub mod json;
pub mod junit;
pub mod mutation;
pub mod place;
pub mod plain;
pub mod review;
pub mod rules;
pub mod sarif;
pub mod source;
pub mod summary;
pub mod table;
#[cfg(test)]
pub(crate) mod testing;

pub use complaint::{Below, Complaint, Excerpt, Mark, Subject};
pub use human::{Human, Style};
pub use review::Remark;
pub use rules::{RuleText, Rules};
pub use source::Source;
pub use summary::Summary;
