//! One thing that is wrong, ready to be drawn.
//!
//! Promise: whatever made it, a complaint has a code, a message, and all places that it speaks of.

use std::ops::Range;
use std::sync::Arc;

use super::Source;
use crate::lang::Level;

/// A finding, a failure, or a mistake in what the user gave.
#[derive(Clone, Debug)]
pub struct Complaint {
    /// Stable, e.g. `format::truncated` or `conflict[RULE]`.
    pub code: String,
    pub level: Level,
    pub subject: Subject,
    /// Lower case, no final stop, the user's words in backticks.
    pub message: String,
    /// The first one is the main place.
    pub excerpts: Vec<Excerpt>,
    /// What stands below, in the order of [`Below`] and then of this list.
    pub below: Vec<(Below, String)>,
}

/// What a complaint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Arguments, files, the machine: what keeps a command from its work.
    Input,
    /// What rules say, at a place in their text.
    Rules,
    /// What a test of rules expects, at a place in its text.
    Test,
}

/// A line under a complaint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// A place without text to show: an anchor, a byte offset.
    At,
    Note,
    Help,
}

impl Below {
    pub const ALL: [Below; 3] = [Below::At, Below::Note, Below::Help];

    pub fn word(self) -> &'static str {
        match self {
            Below::At => "at",
            Below::Note => "note",
            Below::Help => "help",
        }
    }
}

/// Lines of one source with some places underlined.
#[derive(Clone, Debug)]
pub struct Excerpt {
    pub source: Arc<Source>,
    pub marks: Vec<Mark>,
}

/// One underlined place.
#[derive(Clone, Debug)]
pub struct Mark {
    pub span: Range<usize>,
    pub text: String,
}

impl Complaint {
    pub fn new(level: Level, code: impl Into<String>, message: impl Into<String>) -> Complaint {
        Complaint {
            code: code.into(),
            level,
            subject: Subject::Input,
            message: message.into(),
            excerpts: Vec::new(),
            below: Vec::new(),
        }
    }

    pub fn error(code: impl Into<String>, message: impl Into<String>) -> Complaint {
        Complaint::new(Level::Error, code, message)
    }

    /// Adds a place by name.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Complaint {
        self.below.push((Below::At, place.into()));
        self
    }

    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Complaint {
        self.below.push((Below::Note, text.into()));
        self
    }

    /// The lines of one kind.
    pub fn lines(&self, below: Below) -> impl Iterator<Item = &str> {
        self.below.iter().filter(move |(kind, _)| *kind == below).map(|(_, text)| text.as_str())
    }

    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Complaint {
        self.below.push((Below::Help, text.into()));
        self
    }

    /// [`Complaint::help`] for advice that there may not be.
    #[must_use]
    pub fn maybe_help(mut self, text: Option<String>) -> Complaint {
        self.below.extend(text.map(|text| (Below::Help, text)));
        self
    }

    #[must_use]
    pub fn excerpt(mut self, excerpt: Excerpt) -> Complaint {
        self.excerpts.push(excerpt);
        self
    }
}
