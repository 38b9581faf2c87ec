//! Statements, as part of the syntax tree.

use super::ast::{Expr, Name, Position, Span, Text};

/// Statements in braces.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    pub statements: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub span: Span,
    pub kind: StatementKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    Let {
        name: Name,
        value: Expr,
    },
    If {
        arms: Vec<(Expr, Block)>,
        otherwise: Option<Block>,
    },
    For {
        binder: Name,
        list: Expr,
        condition: Option<Expr>,
        body: Block,
    },
    Stop,
    /// `do f(x)` or `let n = do f(x)`.
    Do {
        bind: Option<Name>,
        action: Name,
        args: Vec<Expr>,
    },
    Give(Expr),
    Isolate {
        position: Option<Position>,
        target: Expr,
        because: Option<Text>,
    },
    Found(Expr),
    Join {
        anchor: Expr,
        to: Expr,
    },
    Unite {
        anchor: Expr,
        with: Expr,
    },
    Fail(Text),
    /// `fail` after which the edits stand.
    Halt(Text),
    Report {
        places: Vec<Expr>,
        message: Text,
        level: Option<Name>,
        help: Option<Text>,
        /// `answered by`: the inserted node that does away with the reason for the report.
        answer: Option<Expr>,
    },
    /// `let n = insert Type named "…" { inputs = k outputs = k behind = node }`; `op` is a word or an expression.
    Insert {
        bind: Option<Name>,
        op: Expr,
        named: Option<Text>,
        fields: Vec<(Name, Expr)>,
    },
    /// `clear x except SET`: removes attributes.
    Clear {
        subject: Expr,
        except: Name,
    },
    Delete(Expr),
    Connect {
        from: Expr,
        to: Expr,
    },
    Cut(Expr),
    Link {
        from: Expr,
        to: Expr,
    },
    Unlink {
        from: Expr,
        to: Expr,
    },
    /// `set x.attr(NAME) = value`.
    SetAttr {
        subject: Expr,
        attr: Name,
        value: Expr,
    },
    /// `set x.note(NAME) = value`.
    SetNote {
        subject: Expr,
        note: Name,
        value: Expr,
    },
    /// `set x.field = value`.
    SetField {
        subject: Expr,
        field: Name,
        value: Expr,
    },
    Sort {
        order: Name,
    },
    Apply {
        chain: Name,
        to: Expr,
    },
    Resolve {
        symbols: Name,
        graph: Expr,
        binder: Name,
        body: Block,
    },
    /// `attempt { … } else { … }`: does the one, or undoes it and does the other.
    Attempt {
        body: Block,
        otherwise: Option<Block>,
    },
    /// `sweep n in GRAPH where … { … }`.
    Sweep {
        binder: Name,
        graph: Expr,
        condition: Option<Expr>,
        body: Block,
    },
    /// `track NAME in GRAPH else { … }`.
    Track {
        symbols: Name,
        graph: Expr,
        otherwise: Option<Block>,
    },
    /// `merge a into b`.
    Merge {
        anchor: Expr,
        into: Expr,
    },
}
