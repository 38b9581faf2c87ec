//! The graph notation: `.graph` files, and `graph { ... }` inside tests of the rule language.
//!
//! Promise: any text gives a graph of what could be read and every complaint about the rest, in time linear in the
//! text; and a graph that is printed and parsed again is the same graph, but for node numbers and unknown fields.
//!
//! ```text
//! model { @version = 1 }                          // fields have `@`, attributes have none
//! graph { @name = "main", key = 1 }               // about the graph that the line stands in
//! a: Data(_) { index = 0 } -> float32[2,3] NCHW   // `_` is a slot without a producer
//! v: Variable
//! b: Assign(ref=v, value=a:0) ^a {                // `^` is a control edge
//!   in0: float32[2] ND                            // describes an input otherwise than its producer does
//!   in0._parent_node_index = 1
//!   out0.@reuse_input = 0
//! } -> ref: float32[2,3]
//! w: While(b) {
//!   subgraph cond { x: Data { index = 0 } }
//!   subgraph body { x: Data { index = 0 } }
//! } -> float32[2], int32[]
//! ```
//!
//! What is left out: outputs are as many as consumers and entries use, at least one, each `float32[1] ND`
//! (`-> none` for none); an input takes type, shape and format from its producer; node ids count up by one in
//! text order. Consumers of an output, and control edges, are ordered as the text lists them; `a:0@3` gives
//! an explicit rank, and edges with a rank come first.
//!
//! The road: [`scan`] splits, [`syntax`] and [`value`] read, [`build`] resolves names; [`print`](mod@print)
//! is the way back.

mod build;
mod fields;
mod names;
mod origin;
mod print;
mod scan;
mod syntax;
#[cfg(test)]
mod tests;
mod value;

use std::ops::Range;

use super::{Format, FormatError, Loaded, Place};
use crate::graph::Snapshot;

pub use print::print;

/// What a description without a format says.
const DEFAULT_LAYOUT: &str = "ND";
/// What the description of a slot without producer says (`graph_formats.md` 2.2).
const UNCONNECTED_LAYOUT: &str = "FORMAT_RESERVED";

/// The stable codes of complaints about notation.
mod codes {
    pub const SYNTAX: &str = "format::syntax";
    pub const BRACKET: &str = "format::unbalanced-bracket";
    pub const STRING: &str = "format::unclosed-string";
    pub const DEPTH: &str = "format::too-deep";
    pub const VALUE: &str = "format::bad-value";
    pub const DTYPE: &str = "format::unknown-dtype";
    pub const FIELD: &str = "format::unknown-field";
    pub const ENTRY: &str = "format::misplaced-entry";
    pub const PORT: &str = "format::no-such-port";
    pub const NODE: &str = "format::unknown-node";
    pub const DUPLICATE: &str = "format::duplicate";
    pub const MANY: &str = "format::too-many-errors";
}

/// Reads a `.graph` file. A complaint never hides the items around it; no snapshot only if the text nests too deep.
pub fn parse(text: &str) -> (Option<Snapshot>, Vec<FormatError>) {
    let (snapshot, complaints) = build::build(text);
    let errors = complaints.into_iter().map(|c| {
        let error = FormatError::in_text(c.code, c.message, text.as_bytes(), c.span);
        FormatError { help: c.help, ..error }
    });
    (snapshot, errors.collect())
}

/// Reads a `.graph` file that must be right: what a command line wants, while a tool for writing uses [`parse`].
///
/// # Errors
/// The first complaint; its help tells if there are more.
pub fn load(data: &[u8]) -> Result<Loaded, FormatError> {
    let text = std::str::from_utf8(data)
        .map_err(|e| FormatError::at_byte("format::utf8", "graph notation must be UTF-8", e.valid_up_to()))?;
    let (snapshot, errors) = parse(text);
    let more = errors.len().saturating_sub(1);
    if let Some(mut first) = errors.into_iter().next() {
        if more > 0 {
            let help = first.help.take().map_or(String::new(), |help| help + "; ");
            first.help = Some(format!("{help}complaints that follow this one: {more}"));
        }
        return Err(first);
    }
    let snapshot = snapshot.ok_or_else(|| FormatError::new(codes::SYNTAX, "no graph could be read"))?;
    Ok(Loaded { snapshot, format: Format::Notation, warnings: Vec::new(), origin: None })
}

/// Writes a `.graph` file.
///
/// # Errors
/// Two nodes of one graph have the same name, which the notation has no words for.
pub fn save(now: &Snapshot) -> Result<Vec<u8>, FormatError> {
    if let Some(node) = super::namesakes(now).next() {
        let name = &now.node(node).name;
        let message = format!("two nodes are called `{name}`, but graph notation tells nodes by name");
        return Err(FormatError::new(codes::DUPLICATE, message).with_help("write a text dump or `.air`"));
    }
    Ok(print(now).into_bytes())
}

/// Reads the inside of a `graph { ... }` that starts at `base_offset` of another file. Spans are those of that
/// file; lines are its reader's to tell.
pub fn parse_block(text: &str, base_offset: usize) -> (Option<Snapshot>, Vec<FormatError>) {
    let (snapshot, complaints) = build::build(text);
    let errors = complaints.into_iter().map(|c| {
        let span = base_offset + c.span.start..base_offset + c.span.end;
        FormatError { code: c.code, message: c.message, place: Place::None, span: Some(span), help: c.help }
    });
    (snapshot, errors.collect())
}

/// Complaints shown at most: a file of another kind would bring one a line.
const MOST: usize = 100;

struct Complaint {
    code: &'static str,
    span: Range<usize>,
    message: String,
    help: Option<String>,
}

/// Complaints in the making.
#[derive(Default)]
struct Complaints {
    list: Vec<Complaint>,
    dropped: usize,
}

impl Complaints {
    /// Adds a complaint, unless it was made before: nested text is scanned once a level.
    fn push(&mut self, code: &'static str, span: Range<usize>, message: String, help: Option<String>) {
        if self.list.iter().any(|c| c.code == code && c.span == span) {
            return;
        }
        if self.is_full() {
            self.dropped += 1;
            return;
        }
        self.list.push(Complaint { code, span, message, help });
    }

    fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    fn unclosed(&mut self, at: usize, bracket: u8) {
        // A string without end has hidden the other bracket, and was complained about.
        if self.list.iter().any(|c| c.code == codes::STRING && c.span.start > at) {
            return;
        }
        let message = format!("`{}` is never closed", bracket as char);
        self.push(codes::BRACKET, at..at + 1, message, None);
    }

    fn stray(&mut self, at: usize, bracket: u8) {
        let message = format!("`{}` closes nothing", bracket as char);
        self.push(codes::BRACKET, at..at + 1, message, None);
    }

    fn unclosed_string(&mut self, span: Range<usize>) {
        let help = "a line end inside a string is written `\\n`".to_owned();
        self.push(codes::STRING, span, "the string has no end on its line".to_owned(), Some(help));
    }

    fn too_deep(&mut self, span: Range<usize>) {
        self.push(codes::DEPTH, span, format!("brackets nest more than {} deep", scan::MAX_NESTING), None);
    }

    /// In text order.
    fn into_sorted(mut self) -> Vec<Complaint> {
        self.list.sort_by_key(|c| c.span.start);
        if self.dropped > 0 {
            let message = format!("{} more errors are not shown", self.dropped);
            let span = self.list.last().map_or(0..0, |c| c.span.clone());
            self.list.push(Complaint { code: codes::MANY, span, message, help: None });
        }
        self.list
    }
}
