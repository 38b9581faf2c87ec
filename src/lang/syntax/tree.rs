//! Trees as heads and parts: what two trees share, and where they differ, without their places.
//!
//! Promise: two trees with equal heads whose parts are equal mean the same text; every expression, text and block of a tree
//! is among its parts, in the order of the text. An item is taken apart by those who know its kind.

use super::ast::{
    BinaryOp, Block, ChainStep, Expr, ExprKind, Name, Position, Quantifier, Refusal, Statement,
    StatementKind, StepEnd, Text, TextPart,
};

/// What a tree says itself, and the trees inside.
#[derive(Default)]
pub struct Parts<'a> {
    pub head: String,
    pub exprs: Vec<&'a Expr>,
    /// Texts for people, with the word before each.
    pub texts: Vec<(&'static str, &'a Text)>,
    pub blocks: Vec<&'a Block>,
}

fn parts<'a>(head: impl Into<String>, exprs: impl IntoIterator<Item = &'a Expr>) -> Parts<'a> {
    Parts { head: head.into(), exprs: exprs.into_iter().collect(), ..Parts::default() }
}

fn word(name: &Name) -> &'static str {
    name.text.as_str()
}

fn optional(word: &str, name: Option<&Name>) -> String {
    name.map(|name| format!(" {word} {}", name.text)).unwrap_or_default()
}

/// An expression: its own words and its operands.
pub fn expr_parts(expr: &Expr) -> Parts<'_> {
    match &*expr.kind {
        ExprKind::Name(name) => parts(format!("name {name}"), []),
        ExprKind::Int(value) => parts(format!("int {value}"), []),
        ExprKind::Float(value) => parts(format!("float {value:?}"), []),
        ExprKind::Str(value) => parts(format!("str {value:?}"), []),
        ExprKind::Bool(value) => parts(format!("bool {value}"), []),
        ExprKind::None => parts("none", []),
        ExprKind::Not(value) => parts("not", [value]),
        ExprKind::Negate(value) => parts("negate", [value]),
        ExprKind::Binary { op, left, right, .. } => parts(operator(*op), [left, right]),
        ExprKind::IsNone { value, negated } => parts(format!("is none {negated}"), [value]),
        ExprKind::Where { list, condition } => parts("where", [list, condition]),
        ExprKind::Member { base, name, args } => {
            let called = if args.is_some() { "()" } else { "" };
            parts(format!(".{}{called}", word(name)), [base].into_iter().chain(args.iter().flatten()))
        }
        ExprKind::Attr { base, attr, exists } => parts(format!("attr {} {exists}", word(attr)), [base]),
        ExprKind::HasMark { base, mark } => parts(format!("has {}", word(mark)), [base]),
        ExprKind::Note { base, note } => parts(format!("note {}", word(note)), [base]),
        ExprKind::Call { name, args } => parts(format!("call {}", word(name)), args),
        ExprKind::Index { base, index } => parts("index", [base, index]),
        ExprKind::Quantifier { kind, binder, list, condition } => {
            let kind = match kind {
                Quantifier::All => "all",
                Quantifier::Any => "any",
                Quantifier::Count => "count",
                Quantifier::Find => "find",
            };
            parts(format!("{kind} {}", word(binder)), [list, condition])
        }
        ExprKind::If { condition, then, otherwise } => parts("if", [condition, then, otherwise]),
        ExprKind::Match { value, arms, otherwise } => {
            let words: Vec<String> = arms
                .iter()
                .map(|(variants, _)| variants.iter().map(word).collect::<Vec<_>>().join(" "))
                .collect();
            let values = arms.iter().map(|(_, value)| value).chain(otherwise);
            parts(
                format!("match {} {}", words.join(", "), otherwise.is_some()),
                [value].into_iter().chain(values),
            )
        }
        ExprKind::First { cases, otherwise } => {
            let words: Vec<&str> =
                cases.iter().map(|case| case.name.as_ref().map_or("", |name| word(name))).collect();
            let inner = cases.iter().flat_map(|case| [&case.condition, &case.value]);
            parts(format!("first {} {}", words.join(", "), otherwise.is_some()), inner.chain(otherwise))
        }
        ExprKind::Block { lets, value } => {
            let words: Vec<&str> = lets.iter().map(|(name, _)| word(name)).collect();
            parts(format!("let {}", words.join(" ")), lets.iter().map(|(_, value)| value).chain([value]))
        }
        ExprKind::List(elements) => parts(format!("list {}", elements.len()), elements),
        ExprKind::SetLiteral(elements) => parts(format!("set {}", elements.len()), elements),
        ExprKind::Option(name) => parts(format!("option {}", word(name)), []),
        ExprKind::Symbols { name, graph } => parts(format!("symbols {}", word(name)), [graph]),
        ExprKind::Conflicts { graph, table } => parts("conflicts", [graph, table]),
        ExprKind::WouldConflict { graph, first, second } => parts("conflicts of", [graph, first, second]),
        ExprKind::Counter(name) => parts(format!("counter {}", word(name)), []),
    }
}

/// A statement: its own words, its expressions, texts and blocks.
pub fn statement_parts(statement: &Statement) -> Parts<'_> {
    match &statement.kind {
        StatementKind::Let { name, value } => parts(format!("let {}", word(name)), [value]),
        StatementKind::If { arms, otherwise } => Parts {
            blocks: arms.iter().map(|(_, block)| block).chain(otherwise).collect(),
            ..parts(
                format!("if {} {}", arms.len(), otherwise.is_some()),
                arms.iter().map(|(condition, _)| condition),
            )
        },
        StatementKind::For { binder, list, condition, body } => Parts {
            blocks: vec![body],
            ..parts(
                format!("for {} {}", word(binder), condition.is_some()),
                [list].into_iter().chain(condition),
            )
        },
        StatementKind::Stop => parts("stop", []),
        StatementKind::Do { bind, action, args } => {
            parts(format!("do {}{}", word(action), optional("let", bind.as_ref())), args)
        }
        StatementKind::Give(value) => parts("give", [value]),
        StatementKind::Isolate { position, target, because } => Parts {
            texts: because.iter().map(|text| ("because", text)).collect(),
            ..parts(format!("isolate {}", position_word(*position)), [target])
        },
        StatementKind::Found(anchor) => parts("found", [anchor]),
        StatementKind::Join { anchor, to } => parts("join", [anchor, to]),
        StatementKind::Unite { anchor, with } => parts("unite", [anchor, with]),
        StatementKind::Fail(message) => Parts { texts: vec![("fail", message)], ..parts("fail", []) },
        StatementKind::Halt(message) => Parts { texts: vec![("halt", message)], ..parts("halt", []) },
        StatementKind::Report { places, message, help, level, answer } => Parts {
            texts: [("report", message)].into_iter().chain(help.iter().map(|t| ("help", t))).collect(),
            ..parts(
                format!("report{} {}", optional("level", level.as_ref()), answer.is_some()),
                places.iter().chain(answer),
            )
        },
        StatementKind::Insert { bind, op, named, fields } => {
            let words: Vec<&str> = fields.iter().map(|(name, _)| word(name)).collect();
            // The name is part of what happens, not of what is told.
            let name = named.iter().flat_map(|text| &text.parts).map(|part| match part {
                TextPart::Literal(literal) => literal.clone(),
                TextPart::Value(value) => format!("{{{}}}", super::print_expr(value)),
            });
            let head = format!(
                "insert{} {} named {:?}",
                optional("let", bind.as_ref()),
                words.join(" "),
                name.collect::<String>()
            );
            parts(head, [op].into_iter().chain(fields.iter().map(|(_, value)| value)))
        }
        StatementKind::Clear { subject, except } => parts(format!("clear {}", word(except)), [subject]),
        StatementKind::Delete(node) => parts("delete", [node]),
        StatementKind::Connect { from, to } => parts("connect", [from, to]),
        StatementKind::Cut(input) => parts("cut", [input]),
        StatementKind::Link { from, to } => parts("link", [from, to]),
        StatementKind::Unlink { from, to } => parts("unlink", [from, to]),
        StatementKind::SetAttr { subject, attr, value } => {
            parts(format!("set attr {}", word(attr)), [subject, value])
        }
        StatementKind::SetNote { subject, note, value } => {
            parts(format!("set note {}", word(note)), [subject, value])
        }
        StatementKind::SetField { subject, field, value } => {
            parts(format!("set .{}", word(field)), [subject, value])
        }
        StatementKind::Sort { order } => parts(format!("sort {}", word(order)), []),
        StatementKind::Apply { chain, to } => parts(format!("apply {}", word(chain)), [to]),
        StatementKind::Resolve { symbols, graph, binder, body } => Parts {
            blocks: vec![body],
            ..parts(format!("resolve {} {}", word(symbols), word(binder)), [graph])
        },
        StatementKind::Attempt { body, otherwise } => Parts {
            blocks: [body].into_iter().chain(otherwise).collect(),
            ..parts(format!("attempt {}", otherwise.is_some()), [])
        },
        StatementKind::Sweep { binder, graph, condition, body } => Parts {
            blocks: vec![body],
            ..parts(
                format!("sweep {} {}", word(binder), condition.is_some()),
                [graph].into_iter().chain(condition),
            )
        },
        StatementKind::Track { symbols, graph, otherwise } => Parts {
            blocks: otherwise.iter().collect(),
            ..parts(format!("track {} {}", word(symbols), otherwise.is_some()), [graph])
        },
        StatementKind::Merge { anchor, into } => parts("merge", [anchor, into]),
    }
}

/// A step of a chain: its own words, its expressions, its texts. The steps inside it are [`inner_steps`].
pub fn step_parts(step: &ChainStep) -> Parts<'_> {
    match step {
        ChainStep::Let { name, value } => parts(format!("let {}", word(name)), [value]),
        ChainStep::Require { name, condition, end } => Parts {
            texts: end_texts(end),
            ..parts(format!("require {}{}", word(name), refusal_word(end.refusal)), [condition])
        },
        ChainStep::Attempt { name, body, end } => Parts {
            texts: end_texts(end),
            blocks: vec![body],
            ..parts(format!("attempt {}{}", word(name), refusal_word(end.refusal)), [])
        },
        ChainStep::For { binder, list, condition, .. } => parts(
            format!("for {} {}", word(binder), condition.is_some()),
            [list].into_iter().chain(condition),
        ),
        ChainStep::Use { group, args, when } => {
            parts(format!("use {} {}", word(group), when.is_some()), args.iter().chain(when))
        }
    }
}

fn end_texts(end: &StepEnd) -> Vec<(&'static str, &Text)> {
    let help = end.help.iter().map(|text| ("help", text));
    end.otherwise.iter().map(|text| ("else", text)).chain(help).collect()
}

/// What stands behind the `else` of a step: nothing if the chain just goes no further.
pub fn refusal_word(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Keep => "",
        Refusal::Warn => " warn",
        Refusal::Fail => " fail",
    }
}

/// The steps that a step runs for each element of its list.
pub fn inner_steps(step: &ChainStep) -> &[ChainStep] {
    match step {
        ChainStep::For { steps, .. } => steps,
        _ => &[],
    }
}

/// `before`, `after` or nothing.
pub fn position_word(position: Option<Position>) -> &'static str {
    match position {
        Some(Position::Before) => "before",
        Some(Position::After) => "after",
        None => "",
    }
}

fn operator(op: BinaryOp) -> String {
    format!("{op:?}")
}

/// Whether two expressions say the same.
pub fn same_expr(a: &Expr, b: &Expr) -> bool {
    let (x, y) = (expr_parts(a), expr_parts(b));
    x.head == y.head
        && x.exprs.len() == y.exprs.len()
        && x.exprs.iter().zip(&y.exprs).all(|(a, b)| same_expr(a, b))
}

/// All `first` expressions inside an expression, itself included, outer ones before inner ones.
pub fn ordered_lists<'a>(expr: &'a Expr, found: &mut Vec<&'a Expr>) {
    if matches!(&*expr.kind, ExprKind::First { .. }) {
        found.push(expr);
    }
    for inner in expr_parts(expr).exprs {
        ordered_lists(inner, found);
    }
}
