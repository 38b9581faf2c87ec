//! What a reviewer is told, and under which code.

use serde::Serialize;

use super::uses::Ref;

/// The stable codes of the audit.
pub mod codes {
    macro_rules! codes {
        ($($id:ident = $code:literal, $doc:literal;)*) => {
            $(#[doc = $doc] pub const $id: &str = $code;)*

            /// Every code with its meaning.
            pub const CODES: &[(&str, &str)] = &[$(($code, $doc),)*];
        };
    }

    codes! {
        DEAD = "audit::dead", "an entry that can never do anything";
        DEAD_CASE = "audit::dead-case", "a case, step or condition that never, or always, comes out the same";
        DEAD_PAIR = "audit::dead-pair", "a pair of marks on which a checker never finds anything";
        NO_PIPELINE = "audit::no-pipeline", "a pass, chain or lint that no pipeline runs";
        ONLY_TESTS = "audit::only-tests", "an entry that nothing but tests comes to";
        SHADOWED = "audit::shadowed", "an entry all of whose pairs another one takes, or skips";
        UNRULED = "audit::unruled", "two marks with demands, and no entry that says what holds of both";
        UNREAD = "audit::unread", "a declared attribute that nothing reads or sets";
        UNREAD_OPTION = "audit::unread-option", "a declared option that nothing reads";
        UNTESTED = "audit::untested", "an entry that nothing reached";
        WRITE_ONLY = "audit::write-only", "an attribute that rules set and no rule reads: it is for other tools";
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    Note,
    Warning,
}

/// A sentence about an entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub code: &'static str,
    pub weight: Weight,
    pub entry: Ref,
    pub message: String,
    /// Other entries that it is about.
    pub with: Vec<Ref>,
}

impl Finding {
    pub fn warning(code: &'static str, entry: Ref, message: impl Into<String>) -> Finding {
        Finding { code, weight: Weight::Warning, entry, message: message.into(), with: Vec::new() }
    }

    pub fn note(code: &'static str, entry: Ref, message: impl Into<String>) -> Finding {
        Finding { weight: Weight::Note, ..Finding::warning(code, entry, message) }
    }

    pub fn with(self, with: Vec<Ref>) -> Finding {
        Finding { with, ..self }
    }
}
