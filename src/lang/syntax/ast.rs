//! The syntax tree of rule files.
//!
//! Spans are bytes from the start of the item, so an item that moves in its file keeps its tree.

use crate::graph::Sym;

pub use super::ast_statement::{Block, Statement, StatementKind};
pub use super::ast_test::{AnchorName, Expect, ExpectKind, ExpectedAmount, Raw, Test};

/// Bytes `start..end`, from the start of the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// A word and where it stands. Words with dots (attributes, options) are one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    pub text: Sym,
    pub span: Span,
}

/// What an item declares; also the name space of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Set,
    Table,
    Attr,
    Note,
    Option,
    Enum,
    Fn,
    Walk,
    Symbols,
    Attribute,
    Never,
    Always,
    DefaultAlways,
    Skip,
    Checker,
    Matrix,
    Chain,
    Steps,
    Action,
    Pass,
    Lint,
    Order,
    Pipeline,
    Measure,
    Test,
}

/// How an item relates to one of the same kind and name elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// Declares; a second declaration is an error.
    Declare,
    Override,
    Extend,
    Remove,
}

/// One item. `name` is empty (zero span) for items without a name (`never`, `always`, `default always`).
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub modifier: Modifier,
    pub kind: Kind,
    pub name: Name,
    /// The `///` lines before it, joined by newlines.
    pub doc: Option<String>,
    pub data: ItemData,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ItemData {
    Set {
        within: Option<Name>,
        terms: Vec<SetTerm>,
    },
    Table {
        key: Type,
        value: Type,
        rows: Vec<(Expr, Expr)>,
    },
    Attr {
        ty: AttrType,
        places: Vec<(AttrPlace, Span)>,
        aliases: Vec<Name>,
    },
    Note {
        ty: Type,
        places: Vec<(AttrPlace, Span)>,
    },
    Option {
        ty: OptionType,
        default: Option<Expr>,
        from_env: bool,
    },
    Enum {
        variants: Vec<Name>,
    },
    Fn {
        params: Vec<Param>,
        result: Type,
        body: Expr,
    },
    Walk {
        param: Param,
        result: Type,
        steps: Vec<WalkStep>,
    },
    Symbols {
        param: Param,
        body: Block,
    },
    Attribute {
        side: Side,
        rule: AttributeRule,
        doc: Option<String>,
    },
    /// `any` is an empty list of marks.
    Never {
        left: Name,
        right: Vec<Name>,
    },
    Always {
        left: Name,
        right: Vec<Name>,
        because: Option<Text>,
    },
    DefaultAlways {
        target: Expr,
    },
    Skip {
        when: Expr,
        because: Option<Text>,
    },
    Checker(Checker),
    Matrix {
        rows: Param,
        columns: Param,
        result: MatrixResult,
        header: Vec<Name>,
        cells: Vec<(Name, Vec<Name>)>,
    },
    Chain {
        subject: Subject,
        steps: Vec<ChainStep>,
        then: Option<Block>,
    },
    /// Steps that chains share.
    Steps {
        params: Vec<Param>,
        steps: Vec<ChainStep>,
    },
    Action {
        params: Vec<Param>,
        result: Option<Type>,
        body: Block,
    },
    Pass {
        subject: Option<Subject>,
        /// Again, as long as nodes vanish.
        repeats: bool,
        body: Block,
    },
    Lint {
        code: Name,
        level: Name,
        subject: Option<Subject>,
        body: Block,
    },
    Order {
        mode: Expr,
        first: Option<(Name, Expr)>,
        ignore: Option<(Name, Expr)>,
    },
    Pipeline {
        steps: Vec<PipelineStep>,
        role: PipelineRole,
    },
    /// A number that runs are told with; without a value each node counts as one.
    Measure {
        title: String,
        unit: Option<Name>,
        subject: Subject,
        value: Option<Expr>,
    },
    Test(Test),
    /// `remove KIND NAME` and `remove never A with B`.
    Removed {
        with: Option<Name>,
    },
}

/// What a pipeline is besides a row of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineRole {
    Plain,
    /// `as pass`: what its steps do is told as one pass of its name.
    Pass,
    /// `as default`: run where no passes are named.
    Default,
}

/// One step of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineStep {
    pub name: Name,
    pub when: Option<Expr>,
    /// `otherwise warn`: its failure does not end the run.
    pub tolerant: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SetTerm {
    Named(Name),
    Literal(Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttrType {
    Bool,
    /// Absent is none.
    OptBool,
    Int,
    Float,
    Str,
    ListInt,
    ListStr,
    ListBool,
    ListFloat,
    ListListInt,
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttrPlace {
    Node,
    Graph,
    Input,
    Output,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OptionType {
    Bool,
    Int,
    Str,
    ListInt,
    ListStr,
    Variants(Vec<Name>),
}

/// A type as written; names are resolved later.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    pub span: Span,
    pub kind: TypeKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    Named(Sym),
    List(Box<Type>),
    Optional(Box<Type>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: Name,
    pub ty: Type,
}

/// `n: Node in LIST where CONDITION` of passes, chains and lints.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    pub param: Param,
    pub list: Option<Expr>,
    pub condition: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WalkStep {
    pub binder: Name,
    pub condition: Option<Expr>,
    /// `None`: `stop`.
    pub next: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    Input,
    Output,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AttributeRule {
    Where(Expr),
    Otherwise,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Checker {
    pub form: CheckerForm,
    pub level: Option<Name>,
    pub doc: Option<String>,
    pub when: Option<Expr>,
    pub action: CheckerAction,
    pub because: Option<Text>,
    pub help: Option<Text>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CheckerForm {
    /// `last` belongs to the first role.
    Pair { last: bool, first: Role, second: Role },
    /// `over group with A and B`.
    Group { first: Vec<Name>, second: Vec<Name> },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Role {
    pub name: Name,
    pub marks: Vec<Name>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CheckerAction {
    Isolate { position: Option<Position>, target: Expr },
    Body(Block),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    Before,
    After,
}

#[derive(Clone, Debug, PartialEq)]
pub enum MatrixResult {
    Named(Name),
    Variants(Vec<Name>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum ChainStep {
    Let {
        name: Name,
        value: Expr,
    },
    Require {
        name: Name,
        condition: Expr,
        end: StepEnd,
    },
    /// Edits that are undone if one of them fails.
    Attempt {
        name: Name,
        body: Block,
        end: StepEnd,
    },
    /// The steps for one element after the other.
    For {
        binder: Name,
        list: Expr,
        condition: Option<Expr>,
        steps: Vec<ChainStep>,
    },
    /// The steps of a `steps` item.
    Use {
        group: Name,
        args: Vec<Expr>,
        when: Option<Expr>,
    },
}

/// What comes of a chain step that does not hold, and its texts.
#[derive(Clone, Debug, PartialEq)]
pub struct StepEnd {
    pub refusal: Refusal,
    pub otherwise: Option<Text>,
    pub help: Option<Text>,
}

/// What a chain step that does not hold does beside ending the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Refusal {
    #[default]
    Keep,
    /// Its text is a finding as well.
    Warn,
    /// The pass fails with its text.
    Fail,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub span: Span,
    pub kind: Box<ExprKind>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A local, a parameter, a set, a mark, an operator type, an enum variant: resolved later.
    Name(Sym),
    Int(i64),
    Float(f64),
    Str(String),
    Bool(bool),
    None,
    Not(Expr),
    Negate(Expr),
    Binary {
        op: BinaryOp,
        op_span: Span,
        left: Expr,
        right: Expr,
    },
    IsNone {
        value: Expr,
        negated: bool,
    },
    Where {
        list: Expr,
        condition: Expr,
    },
    /// `x.name` or `x.name(args)`; also `Enum.Variant`.
    Member {
        base: Expr,
        name: Name,
        args: Option<Vec<Expr>>,
    },
    /// `x.attr(NAME)` / `x.has_attr(NAME)`.
    Attr {
        base: Expr,
        attr: Name,
        exists: bool,
    },
    /// `a.has(MARK)`.
    HasMark {
        base: Expr,
        mark: Name,
    },
    /// `x.note(NAME)`.
    Note {
        base: Expr,
        note: Name,
    },
    Call {
        name: Name,
        args: Vec<Expr>,
    },
    Index {
        base: Expr,
        index: Expr,
    },
    Quantifier {
        kind: Quantifier,
        binder: Name,
        list: Expr,
        condition: Expr,
    },
    If {
        condition: Expr,
        then: Expr,
        otherwise: Expr,
    },
    Match {
        value: Expr,
        arms: Vec<(Vec<Name>, Expr)>,
        otherwise: Option<Expr>,
    },
    First {
        cases: Vec<FirstCase>,
        otherwise: Option<Expr>,
    },
    Block {
        lets: Vec<(Name, Expr)>,
        value: Expr,
    },
    List(Vec<Expr>),
    /// `{ A, B }` after `in`.
    SetLiteral(Vec<Expr>),
    Option(Name),
    /// `symbols(NAME, g)`.
    Symbols {
        name: Name,
        graph: Expr,
    },
    /// `conflicts(g, table)`.
    Conflicts {
        graph: Expr,
        table: Expr,
    },
    /// `conflicts(g, a, b)`: of the groups that the pass tracks.
    WouldConflict {
        graph: Expr,
        first: Expr,
        second: Expr,
    },
    Counter(Name),
}

#[derive(Clone, Debug, PartialEq)]
pub struct FirstCase {
    pub name: Option<Name>,
    pub condition: Expr,
    pub value: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
    Coalesce,
    Range,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    All,
    Any,
    Count,
    Find,
}

/// A text with inserted values.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    pub span: Span,
    pub parts: Vec<TextPart>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TextPart {
    Literal(String),
    Value(Expr),
}
