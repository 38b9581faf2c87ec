//! Expressions: from one flat level of the grammar to a tree, by precedence climbing.
//!
//! Promise: the recursion here is bounded by the nesting that `check` lets through.

use super::ast::{BinaryOp, Expr, ExprKind, FirstCase, Name, Quantifier, Span};
use super::build::{Builder, Rule, Tree, child, children, has, only};
use crate::graph::Sym;

/// How tight an operator binds; larger is tighter.
pub mod tightness {
    pub const WHERE: u8 = 0;
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const COMPARE: u8 = 4;
    pub const COALESCE: u8 = 5;
    pub const RANGE: u8 = 6;
    pub const ADD: u8 = 7;
    pub const MULTIPLY: u8 = 8;
    pub const NEGATE: u8 = 9;
    pub const POSTFIX: u8 = 10;
}

pub fn tightness_of(op: BinaryOp) -> u8 {
    use BinaryOp::{Add, And, Coalesce, Div, Eq, Ge, Gt, In, Le, Lt, Mul, Ne, NotIn, Or, Range, Rem, Sub};
    match op {
        Or => tightness::OR,
        And => tightness::AND,
        Eq | Ne | Lt | Le | Gt | Ge | In | NotIn => tightness::COMPARE,
        Coalesce => tightness::COALESCE,
        Range => tightness::RANGE,
        Add | Sub => tightness::ADD,
        Mul | Div | Rem => tightness::MULTIPLY,
    }
}

/// Whether `a op b op c` is refused: comparisons and ranges do not chain.
pub fn stands_alone(level: u8) -> bool {
    matches!(level, tightness::COMPARE | tightness::RANGE)
}

/// One element of a flat level.
enum Flat<'a> {
    Not(Span),
    Minus(Span),
    Operand(Tree<'a>),
    Infix(BinaryOp, Span),
    Is { negated: bool, span: Span },
}

impl Builder {
    /// The tree of `expr`, `simple` or `postfix`.
    pub fn expr(&mut self, tree: &Tree) -> Option<Expr> {
        match tree.as_rule() {
            Rule::expr => self.where_level(tree),
            Rule::simple => {
                let flat = self.flatten(tree)?;
                self.climb(&flat, &mut 0, tightness::OR)
            }
            Rule::postfix => self.postfix(tree),
            _ => None,
        }
    }

    /// The expression that is a child of `tree`.
    pub fn expr_in(&mut self, tree: &Tree, rule: Rule) -> Option<Expr> {
        self.expr(&child(tree, rule)?)
    }

    /// All children of this rule; complains about each bad one.
    pub fn exprs_in(&mut self, tree: &Tree, rule: Rule) -> Option<Vec<Expr>> {
        let all: Vec<Option<Expr>> = children(tree, rule).map(|inner| self.expr(&inner)).collect();
        all.into_iter().collect()
    }

    fn where_level(&mut self, tree: &Tree) -> Option<Expr> {
        let mut levels = children(tree, Rule::simple);
        let mut list = self.expr(&levels.next()?)?;
        for condition in levels {
            let condition = self.expr(&condition)?;
            let span = Span { start: list.span.start, end: condition.span.end };
            list = expr(span, ExprKind::Where { list, condition });
        }
        Some(list)
    }

    fn flatten<'a>(&self, tree: &Tree<'a>) -> Option<Vec<Flat<'a>>> {
        let mut flat = Vec::new();
        for part in tree.clone().into_inner() {
            let span = self.span(&part);
            match part.as_rule() {
                Rule::operand => {
                    for inner in part.into_inner() {
                        let span = self.span(&inner);
                        flat.push(match inner.as_rule() {
                            Rule::kw_not => Flat::Not(span),
                            Rule::minus => Flat::Minus(span),
                            _ => Flat::Operand(inner),
                        });
                    }
                }
                Rule::infix => flat.push(Flat::Infix(operator(only(&part)?.as_rule())?, span)),
                _ => flat.push(Flat::Is { negated: has(&part, Rule::kw_some), span }),
            }
        }
        Some(flat)
    }

    /// Takes operators at least as tight as `least` from `at` on.
    fn climb(&mut self, flat: &[Flat], at: &mut usize, least: u8) -> Option<Expr> {
        let first = flat.get(*at)?;
        *at += 1;
        let mut left = match first {
            Flat::Not(mark) => {
                let value = self.climb(flat, at, tightness::NOT)?;
                expr(Span { start: mark.start, end: value.span.end }, ExprKind::Not(value))
            }
            Flat::Minus(mark) => self.negative(flat, at, *mark)?,
            Flat::Operand(tree) => self.postfix(tree)?,
            Flat::Infix(..) | Flat::Is { .. } => return None,
        };
        let mut previous = None;
        while let Some(next) = flat.get(*at) {
            let (level, op_span) = match next {
                Flat::Infix(op, span) => (tightness_of(*op), *span),
                Flat::Is { span, .. } => (tightness::COMPARE, *span),
                _ => return None,
            };
            if level < least {
                break;
            }
            *at += 1;
            if stands_alone(level) && previous == Some(level) {
                self.chained(op_span, level);
            }
            previous = Some(level);
            left = match next {
                Flat::Infix(op, op_span) => {
                    let right = self.climb(flat, at, level + 1)?;
                    let span = Span { start: left.span.start, end: right.span.end };
                    expr(span, ExprKind::Binary { op: *op, op_span: *op_span, left, right })
                }
                Flat::Is { negated, span } => {
                    let span = Span { start: left.span.start, end: span.end };
                    expr(span, ExprKind::IsNone { value: left, negated: *negated })
                }
                _ => return None,
            };
        }
        Some(left)
    }

    fn chained(&mut self, span: Span, level: u8) {
        let (what, help) = match level {
            tightness::RANGE => ("ranges do", "a range has two ends"),
            _ => ("comparisons do", "join two comparisons with `and`, or use parentheses"),
        };
        self.error("syntax::chained", span, format!("{what} not chain")).help = Some(help.to_owned());
    }

    /// `-a`; a negative number is one literal, so that the smallest integer can be written.
    fn negative(&mut self, flat: &[Flat], at: &mut usize, mark: Span) -> Option<Expr> {
        if let Some(Flat::Operand(tree)) = flat.get(*at)
            && let Some(number) = lone_integer(tree)
        {
            *at += 1;
            let span = Span { start: mark.start, end: self.span(&number).end };
            return Some(expr(span, ExprKind::Int(self.integer(&number, true))));
        }
        let value = self.climb(flat, at, tightness::NEGATE)?;
        let span = Span { start: mark.start, end: value.span.end };
        let kind = match *value.kind {
            ExprKind::Float(number) => ExprKind::Float(-number),
            ExprKind::Int(number) if number != i64::MIN => ExprKind::Int(-number),
            _ => ExprKind::Negate(value),
        };
        Some(expr(span, kind))
    }

    /// The value of an integer literal; complains if it has no place in 64 bits.
    pub fn integer(&mut self, tree: &Tree, negative: bool) -> i64 {
        let digits = tree.as_str();
        let size = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let value = size.ok().map(i128::from).map(|size| if negative { -size } else { size });
        match value.and_then(|value| i64::try_from(value).ok()) {
            Some(value) => value,
            None => {
                let span = self.span(tree);
                self.error("syntax::number", span, format!("`{digits}` is out of range")).help =
                    Some("integers have 64 bits".to_owned());
                0
            }
        }
    }

    pub fn float(&mut self, tree: &Tree) -> f64 {
        match tree.as_str().parse::<f64>() {
            Ok(value) if value.is_finite() => value,
            _ => {
                let span = self.span(tree);
                self.error("syntax::number", span, format!("`{}` is out of range", tree.as_str()));
                0.0
            }
        }
    }

    fn postfix(&mut self, tree: &Tree) -> Option<Expr> {
        let mut base = None;
        for part in tree.clone().into_inner() {
            let here = self.span(&part);
            base = Some(match base.take() {
                None => self.primary(&part)?,
                Some(base) => self.access(base, &part, here)?,
            });
        }
        base
    }

    fn access(&mut self, base: Expr, part: &Tree, here: Span) -> Option<Expr> {
        let span = Span { start: base.span.start, end: here.end };
        if part.as_rule() == Rule::index {
            let index = self.expr_in(part, Rule::expr)?;
            return Some(expr(span, ExprKind::Index { base, index }));
        }
        let kind = if let Some(asked) = child(part, Rule::attr_access) {
            let attr = self.name_in(&child(&asked, Rule::attr_name)?, Rule::dotted)?;
            ExprKind::Attr { base, attr, exists: has(&asked, Rule::kw_has_attr) }
        } else if let Some(asked) = child(part, Rule::has_access) {
            let mark = self.name_in(&child(&asked, Rule::mark_name)?, Rule::name)?;
            ExprKind::HasMark { base, mark }
        } else if let Some(asked) = child(part, Rule::note_access) {
            let note = self.name_in(&child(&asked, Rule::mark_name)?, Rule::name)?;
            ExprKind::Note { base, note }
        } else {
            let name = self.name_in(part, Rule::member)?;
            let args = match child(part, Rule::args) {
                Some(args) => Some(self.exprs_in(&args, Rule::expr)?),
                None => None,
            };
            ExprKind::Member { base, name, args }
        };
        Some(expr(span, kind))
    }

    fn primary(&mut self, tree: &Tree) -> Option<Expr> {
        let inner = only(tree)?;
        let span = self.span(&inner);
        let kind = match inner.as_rule() {
            Rule::int => ExprKind::Int(self.integer(&inner, false)),
            Rule::float => ExprKind::Float(self.float(&inner)),
            Rule::string => ExprKind::Str(self.string(&inner)),
            Rule::kw_true => ExprKind::Bool(true),
            Rule::kw_false => ExprKind::Bool(false),
            Rule::kw_none => ExprKind::None,
            Rule::name => ExprKind::Name(Sym::new(inner.as_str())),
            Rule::paren => return Some(Expr { span, ..self.expr_in(&inner, Rule::expr)? }),
            Rule::list => ExprKind::List(self.exprs_in(&inner, Rule::expr)?),
            Rule::set_literal => ExprKind::SetLiteral(self.exprs_in(&inner, Rule::expr)?),
            Rule::block_expr => self.block_expr(&inner)?,
            Rule::if_expr => self.if_expr(&inner)?,
            Rule::match_expr => self.match_expr(&inner)?,
            Rule::first_expr => self.first_expr(&inner)?,
            Rule::quantifier => self.quantifier(&inner)?,
            Rule::option_value => {
                ExprKind::Option(self.name_in(&child(&inner, Rule::attr_name)?, Rule::dotted)?)
            }
            Rule::counter_value => {
                ExprKind::Counter(self.name_in(&child(&inner, Rule::mark_name)?, Rule::name)?)
            }
            Rule::symbols_value => {
                let args = child(&inner, Rule::symbols_args)?;
                let name = self.name_in(&args, Rule::name)?;
                ExprKind::Symbols { name, graph: self.expr_in(&args, Rule::expr)? }
            }
            Rule::conflicts_value => {
                let args = self.exprs_in(&child(&inner, Rule::conflicts_args)?, Rule::expr)?;
                let mut args = args.into_iter();
                let (graph, second) = (args.next()?, args.next()?);
                match args.next() {
                    Some(third) => ExprKind::WouldConflict { graph, first: second, second: third },
                    None => ExprKind::Conflicts { graph, table: second },
                }
            }
            Rule::call => {
                let name = self.name_in(&inner, Rule::name)?;
                ExprKind::Call { name, args: self.exprs_in(&child(&inner, Rule::args)?, Rule::expr)? }
            }
            _ => return None,
        };
        Some(expr(span, kind))
    }

    /// `let name = e` of blocks and chains.
    pub fn let_in(&mut self, tree: &Tree) -> Option<(Name, Expr)> {
        Some((self.name_in(tree, Rule::name)?, self.expr_in(tree, Rule::expr)?))
    }

    fn block_expr(&mut self, tree: &Tree) -> Option<ExprKind> {
        let lets: Vec<Option<(Name, Expr)>> =
            children(tree, Rule::let_in).map(|inner| self.let_in(&inner)).collect();
        let value = self.expr_in(tree, Rule::expr)?;
        Some(ExprKind::Block { lets: lets.into_iter().collect::<Option<_>>()?, value })
    }

    fn if_expr(&mut self, tree: &Tree) -> Option<ExprKind> {
        let mut outer = children(tree, Rule::simple);
        let condition = self.expr(&outer.next()?);
        let then = self.expr_in(tree, Rule::expr);
        let otherwise = self.expr(&outer.next()?);
        Some(ExprKind::If { condition: condition?, then: then?, otherwise: otherwise? })
    }

    fn match_expr(&mut self, tree: &Tree) -> Option<ExprKind> {
        let value = self.expr_in(tree, Rule::simple);
        let arms: Vec<Option<(Vec<Name>, Expr)>> = children(tree, Rule::match_arm)
            .map(|arm| Some((self.names_in(&arm, Rule::name), self.expr_in(&arm, Rule::expr)?)))
            .collect();
        let otherwise = self.otherwise(tree)?;
        Some(ExprKind::Match { value: value?, arms: arms.into_iter().collect::<Option<_>>()?, otherwise })
    }

    fn first_expr(&mut self, tree: &Tree) -> Option<ExprKind> {
        let cases: Vec<Option<FirstCase>> = children(tree, Rule::first_case)
            .map(|case| {
                let name = child(&case, Rule::case_name).and_then(|name| self.name_in(&name, Rule::name));
                let [condition, value] = <[Expr; 2]>::try_from(self.exprs_in(&case, Rule::expr)?).ok()?;
                Some(FirstCase { name, condition, value })
            })
            .collect();
        let otherwise = self.otherwise(tree)?;
        Some(ExprKind::First { cases: cases.into_iter().collect::<Option<_>>()?, otherwise })
    }

    /// The `else => e` of `match` and `first`; `None` if it is there and bad.
    fn otherwise(&mut self, tree: &Tree) -> Option<Option<Expr>> {
        match child(tree, Rule::match_else) {
            Some(inner) => self.expr_in(&inner, Rule::expr).map(Some),
            None => Some(None),
        }
    }

    fn quantifier(&mut self, tree: &Tree) -> Option<ExprKind> {
        let head = child(tree, Rule::quantifier_of)?;
        let kind = match only(&head)?.as_rule() {
            Rule::kw_all => Quantifier::All,
            Rule::kw_any => Quantifier::Any,
            Rule::kw_count => Quantifier::Count,
            _ => Quantifier::Find,
        };
        let binder = self.name_in(&head, Rule::name)?;
        let [list, condition] = <[Expr; 2]>::try_from(self.exprs_in(tree, Rule::simple)?).ok()?;
        Some(ExprKind::Quantifier { kind, binder, list, condition })
    }
}

pub fn expr(span: Span, kind: ExprKind) -> Expr {
    Expr { span, kind: Box::new(kind) }
}

/// The integer of an operand that is nothing else.
fn lone_integer<'a>(tree: &Tree<'a>) -> Option<Tree<'a>> {
    let mut parts = tree.clone().into_inner();
    let primary = parts.next()?;
    if parts.next().is_some() {
        return None;
    }
    child(&primary, Rule::int)
}

fn operator(rule: Rule) -> Option<BinaryOp> {
    Some(match rule {
        Rule::kw_or => BinaryOp::Or,
        Rule::kw_and => BinaryOp::And,
        Rule::eq => BinaryOp::Eq,
        Rule::ne => BinaryOp::Ne,
        Rule::lt => BinaryOp::Lt,
        Rule::le => BinaryOp::Le,
        Rule::gt => BinaryOp::Gt,
        Rule::ge => BinaryOp::Ge,
        Rule::kw_in => BinaryOp::In,
        Rule::not_in => BinaryOp::NotIn,
        Rule::coalesce => BinaryOp::Coalesce,
        Rule::range => BinaryOp::Range,
        Rule::add => BinaryOp::Add,
        Rule::sub => BinaryOp::Sub,
        Rule::mul => BinaryOp::Mul,
        Rule::div => BinaryOp::Div,
        Rule::rem => BinaryOp::Rem,
        _ => return None,
    })
}
