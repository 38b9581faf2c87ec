//! Typed statements; part of [`hir`](super).

use super::{ChainStep, CheckerAction, Entry, ExprId, Local, TextId, TextPart};
use crate::graph::Sym;
use crate::lang::Level;
use crate::lang::syntax::ast::AttrType;

pub type Block = Vec<Statement>;

/// A statement; expression ids are of the owning item's body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    Let {
        local: Local,
        value: ExprId,
    },
    If {
        arms: Vec<(ExprId, Block)>,
        otherwise: Block,
    },
    /// `list` includes the `where` condition.
    For {
        local: Local,
        list: ExprId,
        body: Block,
    },
    Stop,
    Do {
        bind: Option<Local>,
        action: Sym,
        args: Box<[ExprId]>,
    },
    Give(ExprId),
    Isolate {
        target: ExprId,
        reason: Option<TextId>,
    },
    Found(ExprId),
    Join {
        anchor: ExprId,
        to: ExprId,
    },
    Unite {
        anchor: ExprId,
        with: ExprId,
    },
    Fail(TextId),
    /// The pass fails, but what it has done stands.
    Halt(TextId),
    Report {
        places: Box<[ExprId]>,
        message: TextId,
        /// That of the entry if it is left out.
        level: Option<Level>,
        help: Option<TextId>,
        /// The inserted node that does away with the reason.
        answer: Option<ExprId>,
    },
    Insert(Box<Insert>),
    /// Removes the attributes whose names are not in the set.
    Clear {
        subject: ExprId,
        except: Sym,
    },
    Delete(ExprId),
    Connect {
        from: ExprId,
        to: ExprId,
    },
    Cut(ExprId),
    Link {
        from: ExprId,
        to: ExprId,
    },
    Unlink {
        from: ExprId,
        to: ExprId,
    },
    /// A `none` value removes the attribute.
    SetAttr {
        subject: ExprId,
        key: Sym,
        ty: AttrType,
        value: ExprId,
    },
    /// A `none` value removes the note.
    SetNote {
        subject: ExprId,
        note: Sym,
        value: ExprId,
    },
    SetField {
        subject: ExprId,
        field: Field,
        value: ExprId,
    },
    Sort {
        order: Sym,
    },
    Apply {
        chain: Sym,
        to: ExprId,
    },
    Resolve {
        symbols: Sym,
        graph: ExprId,
        local: Local,
        body: Block,
    },
    /// If `body` fails, what it did is undone and `otherwise` runs.
    Attempt {
        body: Block,
        otherwise: Block,
    },
    /// Visits nodes by readiness, and again those beside what was deleted.
    Sweep {
        graph: ExprId,
        local: Local,
        condition: Option<ExprId>,
        body: Block,
    },
    /// Builds a symbol table that lives as long as the pass. `otherwise`: the table could not be finished.
    Track {
        symbols: Sym,
        graph: ExprId,
        otherwise: Option<Block>,
    },
    /// Appends the tracked group of `anchor` to that of `into`.
    Merge {
        anchor: ExprId,
        into: ExprId,
    },
}

impl Statement {
    /// The blocks that stand in it.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Statement::If { arms, otherwise } => {
                arms.iter().map(|(_, block)| block).chain([otherwise]).collect()
            }
            Statement::For { body, .. } | Statement::Resolve { body, .. } | Statement::Sweep { body, .. } => {
                vec![body]
            }
            Statement::Attempt { body, otherwise } => vec![body, otherwise],
            Statement::Track { otherwise, .. } => otherwise.iter().collect(),
            Statement::Let { .. }
            | Statement::Stop
            | Statement::Do { .. }
            | Statement::Give(_)
            | Statement::Isolate { .. }
            | Statement::Found(_)
            | Statement::Join { .. }
            | Statement::Unite { .. }
            | Statement::Fail(_)
            | Statement::Halt(_)
            | Statement::Report { .. }
            | Statement::Insert(_)
            | Statement::Clear { .. }
            | Statement::Delete(_)
            | Statement::Connect { .. }
            | Statement::Cut(_)
            | Statement::Link { .. }
            | Statement::Unlink { .. }
            | Statement::SetAttr { .. }
            | Statement::SetNote { .. }
            | Statement::SetField { .. }
            | Statement::Sort { .. }
            | Statement::Apply { .. }
            | Statement::Merge { .. } => Vec::new(),
        }
    }
}

impl Entry {
    /// The outermost blocks of statements.
    pub fn blocks(&self) -> Vec<&Block> {
        let mut found = Vec::new();
        match self {
            Entry::Pass { block, .. }
            | Entry::Action { block, .. }
            | Entry::Lint { block, .. }
            | Entry::Symbols { block, .. } => found.push(block),
            Entry::Checker(checker) => {
                if let CheckerAction::Body(block) = &checker.action {
                    found.push(block);
                }
            }
            Entry::Chain(chain) => {
                attempts(&chain.steps, &mut found);
                found.push(&chain.then);
            }
            Entry::Steps { steps, .. } => attempts(steps, &mut found),
            _ => {}
        }
        found
    }
}

fn attempts<'a>(steps: &'a [ChainStep], found: &mut Vec<&'a Block>) {
    for step in steps {
        match step {
            ChainStep::Attempt { body, .. } => found.push(body),
            ChainStep::For { steps, .. } => attempts(steps, found),
            ChainStep::Let { .. } | ChainStep::Require { .. } | ChainStep::Use { .. } => {}
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Insert {
    pub bind: Option<Local>,
    pub op: ExprId,
    /// Part of the meaning (it names a node), so it is here and not among the texts. Its body is the item's.
    pub named: Option<Vec<TextPart>>,
    /// The graph to add to; defaults to that of `behind`.
    pub graph: Option<ExprId>,
    pub behind: Option<ExprId>,
    /// Number of ports (default 1 each).
    pub inputs: Option<ExprId>,
    pub outputs: Option<ExprId>,
}

/// What `set x.FIELD = …` can set on an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The whole tensor description: `set a.tensor = b.tensor` (the value is an anchor).
    Tensor,
    /// `Int?`: none clears the flag and the index.
    ReuseInput,
    DataOffset,
    /// The port's IR name (`Str`).
    Name,
    /// On a node: the per-input "is constant" flags (`list<Bool>`).
    InputIsConst,
    /// On a node: topological id (`Int`).
    Id,
}
