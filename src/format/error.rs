//! What reading or writing a file can say: one error that ends it, and warnings that do not.
//!
//! Promise: every complaint has a stable code, and a place if the file has one to show.

use std::fmt;
use std::ops::Range;

use memchr::{memchr_iter, memrchr};
use rustc_hash::FxHashMap;

/// Where in a file a complaint belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Text: both count from 1, columns in bytes.
    Line { line: u32, column: u32 },
    /// Binary: offset from the start of the (inflated) file.
    Byte(usize),
    /// The file as a whole.
    None,
}

impl Place {
    /// The line and column of byte `offset` of `text`.
    pub fn of(text: &[u8], offset: usize) -> Place {
        let before = &text[..offset.min(text.len())];
        let line = memchr_iter(b'\n', before).count() + 1;
        let column = before.len() - memrchr(b'\n', before).map_or(0, |at| at + 1) + 1;
        Place::Line {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line { line, column } => write!(f, "line {line}, column {column}"),
            Place::Byte(offset) => write!(f, "byte {offset}"),
            Place::None => f.write_str("the file"),
        }
    }
}

/// Why a file cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// Stable code, `format::…`.
    pub code: &'static str,
    pub message: String,
    pub place: Place,
    /// The offending bytes of the (inflated) file, where the reader can point at them.
    pub span: Option<Range<usize>>,
    pub help: Option<String>,
}

/// The file ends where something must follow, or holds less than it says.
pub const TRUNCATED: &str = "format::truncated";

impl FormatError {
    /// An error about the file as a whole.
    pub fn new(code: &'static str, message: impl Into<String>) -> FormatError {
        let help = (code == TRUNCATED).then(|| {
            "the file may have been cut short when it was written or copied: compare its size, or dump it again"
                .to_owned()
        });
        FormatError { code, message: message.into(), place: Place::None, span: None, help }
    }

    /// An error at a byte of a binary file.
    pub fn at_byte(code: &'static str, message: impl Into<String>, offset: usize) -> FormatError {
        FormatError {
            place: Place::Byte(offset),
            span: Some(offset..offset),
            ..FormatError::new(code, message)
        }
    }

    /// An error at a span of a text file.
    pub fn in_text(
        code: &'static str,
        message: impl Into<String>,
        text: &[u8],
        span: Range<usize>,
    ) -> FormatError {
        FormatError {
            place: Place::of(text, span.start),
            span: Some(span),
            ..FormatError::new(code, message)
        }
    }

    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> FormatError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.code, self.message, self.place)?;
        self.help.iter().try_for_each(|help| write!(f, "\n  help: {help}"))
    }
}

impl std::error::Error for FormatError {}

/// Something odd that a reader or writer could live with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatWarning {
    pub code: &'static str,
    pub message: String,
    pub place: Place,
}

impl fmt::Display for FormatWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.code, self.message, self.place)
    }
}

/// Warnings as they are found. Of one kind only the first few are told, since finding the line of each in a large
/// file with one mistake a line would take longer than reading it.
#[derive(Default)]
pub struct Warnings {
    list: Vec<FormatWarning>,
    counts: FxHashMap<&'static str, usize>,
}

impl Warnings {
    /// Warnings of one code that are told one by one.
    const TOLD: usize = 20;

    /// Adds a warning; `tell` makes its text and place, if they are wanted.
    pub fn push(&mut self, code: &'static str, tell: impl FnOnce() -> (String, Place)) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= Warnings::TOLD {
            let (message, place) = tell();
            self.list.push(FormatWarning { code, message, place });
        }
    }

    /// The warnings in the order found, then the numbers of those not told.
    pub fn finish(mut self) -> Vec<FormatWarning> {
        let mut more: Vec<_> = self.counts.into_iter().filter(|(_, count)| *count > Warnings::TOLD).collect();
        more.sort_unstable();
        self.list.extend(more.into_iter().map(|(code, count)| FormatWarning {
            code,
            message: format!("{} more of this kind", count - Warnings::TOLD),
            place: Place::None,
        }));
        self.list
    }
}
