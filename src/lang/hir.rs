//! Typed bodies: what evaluation reads. No spans and no reason texts in here, so that editing a comment, moving
//! text or rewording a reason leaves these values equal.
//!
//! A body is an arena of expressions; locals are numbered slots. The slots that an item kind provides come first,
//! in the order that [`Entry`]'s variants document.

mod matrix;
mod statement;

pub use matrix::{Line, OPEN_CELL};
pub use statement::{Block, Field, Insert, Statement};

use crate::graph::Sym;

use super::facts::Fact;
use super::syntax::ast::{
    AttrPlace, AttrType, Kind, OptionType, PipelineRole, Position, Quantifier, Refusal, Side,
};

pub type ExprId = u32;
pub type Local = u32;
/// Index into [`Lowered::texts`].
pub type TextId = u32;

/// A type of the language.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    Bool,
    Int,
    Float,
    Str,
    /// An operator type; usable as `Str`.
    Op,
    Node,
    Input,
    Output,
    /// Supertype of `Input` and `Output`.
    Anchor,
    Graph,
    Symbols,
    Group,
    Mark,
    Enum(Sym),
    List(Box<Ty>),
    Optional(Box<Ty>),
    /// The type of `none` alone.
    None,
    /// The type of an expression that has been complained about; fits everything.
    Error,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Also operator types.
    Str(Sym),
    Enum {
        ty: Sym,
        variant: u16,
    },
    Mark(Sym),
    /// In a table.
    List(Box<[Const]>),
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Body {
    pub exprs: Vec<Expr>,
    /// Slots a frame needs, provided ones included.
    pub locals: u32,
}

/// An expression. A receiver that is none gives none in `Fact`, `Attr`, `Call` (first argument, where the parameter
/// is not optional), `Walk`, `Index`, `Table`, `HasMark`; the type checker has seen to the types.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Const(Const),
    Local(Local),
    Fact {
        fact: Fact,
        base: ExprId,
        args: Box<[ExprId]>,
    },
    /// `keys`: the declared name, then its aliases.
    Attr {
        base: ExprId,
        keys: Box<[Sym]>,
        ty: AttrType,
    },
    HasAttr {
        base: ExprId,
        keys: Box<[Sym]>,
    },
    HasMark {
        base: ExprId,
        mark: Sym,
    },
    /// A value that a pass has left at a place, none before.
    Note {
        base: ExprId,
        note: Sym,
    },
    /// `lift`: bit `i` says that argument `i`, if it is none, gives none (the parameter is not optional).
    Call {
        function: Sym,
        args: Box<[ExprId]>,
        lift: u32,
    },
    Walk {
        walk: Sym,
        mode: WalkMode,
        from: ExprId,
    },
    Table {
        table: Sym,
        key: ExprId,
    },
    Matrix {
        matrix: Sym,
        row: ExprId,
        column: ExprId,
    },
    Option(Sym),
    Not(ExprId),
    Negate(ExprId),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    Coalesce(ExprId, ExprId),
    Compare {
        op: Compare,
        left: ExprId,
        right: ExprId,
    },
    Arith {
        op: Arith,
        left: ExprId,
        right: ExprId,
    },
    /// Joins lists or strings.
    Concat(ExprId, ExprId),
    Range(ExprId, ExprId),
    InList {
        value: ExprId,
        list: ExprId,
        negated: bool,
    },
    InSet {
        value: ExprId,
        set: Sym,
        negated: bool,
    },
    InConsts {
        value: ExprId,
        consts: Box<[Const]>,
        negated: bool,
    },
    IsNone {
        value: ExprId,
        negated: bool,
    },
    If {
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
    },
    /// `arms[variant]`; a none value gives none.
    Match {
        value: ExprId,
        arms: Box<[ExprId]>,
    },
    /// Case names are in [`Lowered::names`] under the id of this expression.
    First {
        cases: Box<[(ExprId, ExprId)]>,
        otherwise: Option<ExprId>,
    },
    Let {
        local: Local,
        value: ExprId,
        body: ExprId,
    },
    List(Box<[ExprId]>),
    /// `list[index]`, none outside.
    Index {
        list: ExprId,
        index: ExprId,
    },
    Quantifier {
        kind: Quantifier,
        local: Local,
        list: ExprId,
        condition: ExprId,
    },
    Where {
        local: Local,
        list: ExprId,
        condition: ExprId,
    },
    Each {
        kind: Each,
        local: Local,
        list: ExprId,
        value: ExprId,
    },
    Symbols {
        symbols: Sym,
        graph: ExprId,
    },
    Conflicts {
        graph: ExprId,
        table: ExprId,
    },
    /// Whether joining the tracked groups of two anchors would conflict; none if that cannot be found out.
    WouldConflict {
        graph: ExprId,
        first: ExprId,
        second: ExprId,
    },
    Counter(Sym),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WalkMode {
    /// The last place.
    Last,
    /// All places, the start first.
    Path,
    Lost,
    Cycle,
    /// A walk of lists: all places, breadth first.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// `xs.map(e)` and its relatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Each {
    Map,
    FlatMap,
    Sum,
    MinBy,
    MaxBy,
    SortBy,
    Bisect,
}

/// A text with inserted values, evaluated in the frame of the statement that owns it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Text {
    pub body: Body,
    pub parts: Vec<TextPart>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TextPart {
    Literal(String),
    Value(ExprId),
}

/// One item, ready to evaluate. The first slots of a frame are given in braces.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Set {
        includes: Vec<Sym>,
        elements: Vec<Const>,
        element: Ty,
    },
    Table {
        rows: Vec<(Const, Const)>,
    },
    Attr {
        ty: AttrType,
        places: Vec<AttrPlace>,
        aliases: Vec<Sym>,
    },
    Note {
        ty: Ty,
        places: Vec<AttrPlace>,
    },
    Option {
        ty: OptionType,
        default: OptionValue,
        from_env: bool,
    },
    Enum {
        variants: Vec<Sym>,
    },
    /// {params}
    Fn {
        body: Body,
        value: ExprId,
        params: u32,
        result: Ty,
    },
    /// {binder}; every step uses slot 0 as its binder. `None` is `stop`.
    Walk {
        body: Body,
        steps: Vec<(Option<ExprId>, Option<ExprId>)>,
        lists: bool,
    },
    /// {target: Graph}
    Symbols {
        body: Body,
        block: Block,
    },
    /// {anchor, node, graph, target, group}. `None`: otherwise. `order` is set when linking.
    Attribute {
        side: Side,
        rule: Option<(Body, ExprId)>,
    },
    /// Empty `right`: any.
    Never {
        left: Sym,
        right: Vec<Sym>,
    },
    /// The reason sees {first, second, group, target}.
    Always {
        left: Sym,
        right: Vec<Sym>,
        reason: Option<TextId>,
    },
    /// {first, second, group, target}
    DefaultAlways {
        body: Body,
        target: ExprId,
    },
    /// {first, second, group, target}
    Skip {
        body: Body,
        when: ExprId,
        reason: Option<TextId>,
    },
    Checker(Box<Checker>),
    /// `cells[row][column]` are variants of `result`, an enum, or the matrix itself with `variants`. In a program they may be
    /// [`OPEN_CELL`].
    Matrix {
        rows: Sym,
        columns: Sym,
        result: Sym,
        variants: Vec<Sym>,
        cells: Vec<Vec<u16>>,
    },
    Chain(Box<Chain>),
    /// {params}
    Steps {
        body: Body,
        params: u32,
        steps: Vec<ChainStep>,
    },
    /// {params}
    Action {
        body: Body,
        params: u32,
        gives: Option<Ty>,
        block: Block,
    },
    Pass {
        subject: Option<Subject>,
        /// Again, as long as a visit of all nodes leaves fewer nodes than it found.
        repeats: bool,
        body: Body,
        block: Block,
    },
    Lint {
        code: Sym,
        level: Sym,
        subject: Option<Subject>,
        body: Body,
        block: Block,
    },
    /// `mode`: {root}; `first`, `ignore`: {root, n}
    Order {
        body: Body,
        mode: ExprId,
        first: Option<ExprId>,
        ignore: Option<ExprId>,
    },
    /// Conditions have an empty frame.
    Pipeline {
        body: Body,
        steps: Vec<PipelineStep>,
        role: PipelineRole,
    },
    /// {root, subject}; without a value each subject counts as one. Titles are in the syntax tree.
    Measure {
        body: Body,
        subject: Subject,
        value: Option<ExprId>,
    },
    /// Conditions of `expect that`, in order: {root}. The rest of a test is read from its syntax tree.
    Test {
        body: Body,
        that: Vec<ExprId>,
    },
}

/// Passes, chains and lints over nodes: {root, node}; without a subject {root}.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    pub list: Option<ExprId>,
    pub condition: Option<ExprId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Checker {
    pub form: CheckerForm,
    pub level: super::Level,
    /// Pair: {first, second, group, target, role 1, role 2}. Group: {group, target}.
    pub body: Body,
    pub when: Option<ExprId>,
    pub action: CheckerAction,
    /// Advice that goes with the finding, for either form.
    pub help: Option<TextId>,
}

impl Checker {
    /// Whether what is evaluated asks for a role; texts may name one all the same.
    pub fn asks_roles(&self) -> bool {
        self.body.exprs.iter().any(|expr| matches!(expr, Expr::Local(4 | 5)))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum CheckerForm {
    /// `last`: role 1 is the second anchor if that bears one of its marks. Not said where only one of the two can.
    Pair {
        last: bool,
        first: Vec<Sym>,
        second: Vec<Sym>,
    },
    Group {
        first: Vec<Sym>,
        second: Vec<Sym>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum CheckerAction {
    Isolate { position: Option<Position>, target: ExprId, reason: Option<TextId> },
    Body(Block),
}

/// One step of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineStep {
    pub name: Sym,
    pub when: Option<ExprId>,
    /// Its failure does not end the run.
    pub tolerant: bool,
}

/// {root, node}
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    pub subject: Subject,
    pub body: Body,
    pub steps: Vec<ChainStep>,
    pub then: Block,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ChainStep {
    Let {
        local: Local,
        value: ExprId,
    },
    Require {
        name: Sym,
        condition: ExprId,
        end: StepEnd,
    },
    /// Edits that are undone if one of them fails.
    Attempt {
        name: Sym,
        body: Block,
        end: StepEnd,
    },
    For {
        local: Local,
        list: ExprId,
        steps: Vec<ChainStep>,
    },
    /// The steps of a `steps` entry, in a frame of their own.
    Use {
        group: Sym,
        args: Box<[ExprId]>,
        when: Option<ExprId>,
    },
}

/// What comes of a chain step that does not hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepEnd {
    pub refusal: Refusal,
    pub otherwise: Option<TextId>,
    pub help: Option<TextId>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionValue {
    Bool(bool),
    Int(i64),
    Str(Sym),
    ListInt(Vec<i64>),
    ListStr(Vec<Sym>),
    /// Variant number.
    Variant(u16),
}

/// What lowering one item gives. The fields are separate queries, so that each changes alone.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Lowered {
    pub entry: Option<Entry>,
    /// Every item that this one mentions, sorted, each once. A checker without a name stands for all rules of pairs,
    /// which `conflicts` asks.
    pub uses: Vec<(Kind, Sym)>,
    pub texts: Vec<Text>,
    /// Where each of them stands in the item.
    pub text_spans: Vec<super::syntax::ast::Span>,
    /// Where each expression of the item's body stands (by id), for explanations.
    pub spans: Vec<super::syntax::ast::Span>,
    /// Case names of `First` expressions: (expression, case, name).
    pub names: Vec<(ExprId, u32, Sym)>,
    pub diagnostics: Vec<super::Diagnostic>,
}

impl Ty {
    pub fn list(element: Ty) -> Ty {
        Ty::List(Box::new(element))
    }

    /// `T?`; an optional stays as it is.
    pub fn optional(self) -> Ty {
        match self {
            Ty::Optional(_) | Ty::None | Ty::Error => self,
            other => Ty::Optional(Box::new(other)),
        }
    }
}

impl Entry {
    /// The typed body, for items that have one.
    pub fn body(&self) -> Option<&Body> {
        Some(match self {
            Entry::Set { .. }
            | Entry::Table { .. }
            | Entry::Attr { .. }
            | Entry::Note { .. }
            | Entry::Option { .. }
            | Entry::Enum { .. }
            | Entry::Never { .. }
            | Entry::Always { .. }
            | Entry::Attribute { rule: None, .. }
            | Entry::Matrix { .. } => return None,
            Entry::Attribute { rule: Some((body, _)), .. } => body,
            Entry::Checker(checker) => &checker.body,
            Entry::Chain(chain) => &chain.body,
            Entry::Fn { body, .. }
            | Entry::Walk { body, .. }
            | Entry::Steps { body, .. }
            | Entry::Symbols { body, .. }
            | Entry::DefaultAlways { body, .. }
            | Entry::Skip { body, .. }
            | Entry::Action { body, .. }
            | Entry::Pass { body, .. }
            | Entry::Lint { body, .. }
            | Entry::Order { body, .. }
            | Entry::Pipeline { body, .. }
            | Entry::Measure { body, .. }
            | Entry::Test { body, .. } => body,
        })
    }
}
