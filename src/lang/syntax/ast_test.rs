//! The syntax tree of `test` blocks; part of [`ast`](super::ast).

use super::ast::{Expr, Name, Position, Span};

#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The title is the item's name.
    pub passes: Vec<Name>,
    pub options: Vec<(Name, Expr)>,
    /// The subgraph to run on.
    pub on: Option<Name>,
    pub twice: bool,
    /// The text between the braces of `graph { … }`, and where it starts.
    pub graph: Option<Raw>,
    pub expects: Vec<Expect>,
}

/// Text of another language inside a rule file.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    pub span: Span,
    pub kind: ExpectKind,
}

/// An anchor named in an expectation: `node:index`.
#[derive(Clone, Debug, PartialEq)]
pub struct AnchorName {
    pub node: String,
    pub index: u32,
    pub span: Span,
}

/// A sum, and how many values are not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedAmount {
    pub sum: i64,
    pub unknown: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExpectKind {
    Nothing,
    Insert {
        position: Position,
        anchors: Vec<AnchorName>,
        by: Option<Name>,
        named: Option<String>,
    },
    Edge {
        present: bool,
        from: AnchorName,
        to: AnchorName,
    },
    Control {
        present: bool,
        from: String,
        to: String,
    },
    Error(String),
    /// With a part of the message.
    Warn {
        present: bool,
        code: Name,
        part: Option<String>,
    },
    Kept {
        node: String,
        step: Option<Name>,
    },
    Done {
        node: String,
    },
    /// What is measured before the run, if that matters, and after it.
    Measure {
        name: Name,
        before: Option<ExpectedAmount>,
        after: ExpectedAmount,
    },
    Graph(Raw),
    That(Expr),
}
