//! Expressions, types and texts in their one form.
//!
//! Promise: what is printed parses to the same tree, places aside, with no parenthesis that could be left out.

use super::ast::{BinaryOp, Expr, ExprKind, FirstCase, Name, Quantifier, Text, TextPart, Type, TypeKind};
use super::expr::{stands_alone, tightness, tightness_of};

/// One expression on one line.
pub fn print_expr(expr: &Expr) -> String {
    full(expr)
}

/// An expression where the grammar lets `where` stand.
pub fn full(expr: &Expr) -> String {
    let mut out = String::new();
    write(&mut out, expr, tightness::WHERE, true);
    out
}

/// An expression where a bare `where` would belong to something else.
pub fn simple(expr: &Expr) -> String {
    let mut out = String::new();
    write(&mut out, expr, tightness::OR, true);
    out
}

/// An expression that something is asked of.
pub fn tight(expr: &Expr) -> String {
    let mut out = String::new();
    write(&mut out, expr, tightness::POSTFIX, false);
    out
}

fn tightness_of_expr(expr: &Expr) -> u8 {
    match &*expr.kind {
        ExprKind::Where { .. } => tightness::WHERE,
        ExprKind::Binary { op, .. } => tightness_of(*op),
        ExprKind::Not(_) => tightness::NOT,
        ExprKind::IsNone { .. } => tightness::COMPARE,
        ExprKind::Negate(_) => tightness::NEGATE,
        ExprKind::Int(value) if *value < 0 => tightness::NEGATE,
        ExprKind::Float(value) if value.is_sign_negative() => tightness::NEGATE,
        _ => tightness::POSTFIX,
    }
}

/// `least`: what binds looser needs parentheses. `last`: nothing of the same level follows, so an expression that
/// extends to the right as far as possible needs none.
fn write(out: &mut String, expr: &Expr, least: u8, last: bool) {
    let greedy = matches!(&*expr.kind, ExprKind::Quantifier { .. } | ExprKind::If { .. });
    if tightness_of_expr(expr) < least || (greedy && !last) {
        out.push('(');
        write(out, expr, tightness::WHERE, true);
        out.push(')');
        return;
    }
    match &*expr.kind {
        ExprKind::Name(name) => out.push_str(name.as_str()),
        ExprKind::Int(value) => out.push_str(&value.to_string()),
        ExprKind::Float(value) => out.push_str(&float(*value)),
        ExprKind::Str(value) => out.push_str(&string(value)),
        ExprKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        ExprKind::None => out.push_str("none"),
        ExprKind::Not(value) => {
            out.push_str("not ");
            write(out, value, tightness::NOT, last);
        }
        ExprKind::Negate(value) => {
            out.push('-');
            write(out, value, tightness::NEGATE, last);
        }
        ExprKind::Binary { op, left, right, .. } => {
            let level = tightness_of(*op);
            write(out, left, level + u8::from(stands_alone(level)), false);
            let word = operator(*op);
            if *op == BinaryOp::Range {
                out.push_str(word);
            } else {
                out.push(' ');
                out.push_str(word);
                out.push(' ');
            }
            write(out, right, level + 1, last);
        }
        ExprKind::IsNone { value, negated } => {
            write(out, value, tightness::COALESCE, false);
            out.push_str(if *negated { " is some" } else { " is none" });
        }
        ExprKind::Where { list, condition } => {
            write(out, list, tightness::WHERE, true);
            out.push_str(" where ");
            write(out, condition, tightness::OR, true);
        }
        ExprKind::Member { base, name, args } => {
            write(out, base, tightness::POSTFIX, false);
            out.push('.');
            out.push_str(name.text.as_str());
            if let Some(args) = args {
                list(out, "(", args, ")");
            }
        }
        ExprKind::Attr { base, attr, exists } => {
            write(out, base, tightness::POSTFIX, false);
            out.push_str(if *exists { ".has_attr(" } else { ".attr(" });
            out.push_str(attr.text.as_str());
            out.push(')');
        }
        ExprKind::HasMark { base, mark } => {
            write(out, base, tightness::POSTFIX, false);
            out.push_str(&format!(".has({})", mark.text));
        }
        ExprKind::Note { base, note } => {
            write(out, base, tightness::POSTFIX, false);
            out.push_str(&format!(".note({})", note.text));
        }
        ExprKind::Call { name, args } => {
            out.push_str(name.text.as_str());
            list(out, "(", args, ")");
        }
        ExprKind::Index { base, index } => {
            write(out, base, tightness::POSTFIX, false);
            out.push_str(&format!("[{}]", full(index)));
        }
        ExprKind::Quantifier { kind, binder, list, condition } => {
            let word = match kind {
                Quantifier::All => "all",
                Quantifier::Any => "any",
                Quantifier::Count => "count",
                Quantifier::Find => "find",
            };
            let (list, condition) = (simple(list), simple(condition));
            out.push_str(&format!("{word} {} in {list}: {condition}", binder.text));
        }
        ExprKind::If { condition, then, otherwise } => {
            let (condition, then, otherwise) = (simple(condition), full(then), simple(otherwise));
            out.push_str(&format!("if {condition} then {then} else {otherwise}"));
        }
        ExprKind::Match { value, arms, otherwise } => {
            let arms = arms.iter().map(|(variants, value)| format!("{} => {}", names(variants), full(value)));
            let value = match simple(value) {
                // `match first { … }` would be a `first` expression.
                value if ends_with_first(&value) => format!("({value})"),
                value => value,
            };
            cases(out, &format!("match {value}"), arms.collect(), otherwise.as_ref());
        }
        ExprKind::First { cases: all, otherwise } => {
            cases(out, "first", all.iter().map(case).collect(), otherwise.as_ref());
        }
        ExprKind::Block { lets, value } => {
            out.push_str("{ ");
            for (name, value) in lets {
                out.push_str(&format!("let {} = {}; ", name.text, full(value)));
            }
            out.push_str(&full(value));
            out.push_str(" }");
        }
        ExprKind::List(elements) => list(out, "[", elements, "]"),
        ExprKind::SetLiteral(elements) if elements.is_empty() => out.push_str("{}"),
        ExprKind::SetLiteral(elements) => list(out, "{ ", elements, " }"),
        ExprKind::Option(name) => out.push_str(&format!("option({})", name.text)),
        ExprKind::Symbols { name, graph } => {
            out.push_str(&format!("symbols({}, {})", name.text, full(graph)));
        }
        ExprKind::Conflicts { graph, table } => {
            out.push_str(&format!("conflicts({}, {})", full(graph), full(table)));
        }
        ExprKind::WouldConflict { graph, first, second } => {
            out.push_str(&format!("conflicts({}, {}, {})", full(graph), full(first), full(second)));
        }
        ExprKind::Counter(name) => out.push_str(&format!("counter({})", name.text)),
    }
}

fn ends_with_first(printed: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    printed.strip_suffix("first").is_some_and(|before| !before.ends_with(is_word))
}

fn case(case: &FirstCase) -> String {
    let name = case.name.map(|name| format!("{}: ", name.text)).unwrap_or_default();
    format!("{name}{} => {}", full(&case.condition), full(&case.value))
}

fn cases(out: &mut String, head: &str, mut cases: Vec<String>, otherwise: Option<&Expr>) {
    cases.extend(otherwise.map(|value| format!("else => {}", full(value))));
    out.push_str(&format!("{head} {{ {} }}", cases.join(", ")));
}

fn list(out: &mut String, open: &str, elements: &[Expr], close: &str) {
    let elements: Vec<String> = elements.iter().map(full).collect();
    out.push_str(open);
    out.push_str(&elements.join(", "));
    out.push_str(close);
}

/// Names with commas between.
pub fn names(names: &[Name]) -> String {
    names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(", ")
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Or => "or",
        BinaryOp::And => "and",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::In => "in",
        BinaryOp::NotIn => "not in",
        BinaryOp::Coalesce => "??",
        BinaryOp::Range => "..",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
    }
}

/// Floats have digits on both sides of the point, so that they are not taken for integers.
fn float(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// A string in which `{` is a plain character.
pub fn string(value: &str) -> String {
    format!("\"{}\"", escaped(value))
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A text without its quotes, with its inserted values in braces.
pub fn print_text(text: &Text) -> String {
    let parts = text.parts.iter().map(|part| match part {
        TextPart::Literal(literal) => literal.clone(),
        TextPart::Value(value) => format!("{{{}}}", full(value)),
    });
    parts.collect()
}

/// A text with its inserted values.
pub fn text(text: &Text) -> String {
    let parts = text.parts.iter().map(|part| match part {
        TextPart::Literal(literal) => escaped(literal).replace('{', "\\{"),
        TextPart::Value(value) => format!("{{{}}}", full(value).replace('"', "\\\"")),
    });
    format!("\"{}\"", parts.collect::<String>())
}

/// A type.
pub fn ty(ty: &Type) -> String {
    match &ty.kind {
        TypeKind::Named(name) => name.to_string(),
        TypeKind::List(element) => format!("list<{}>", self::ty(element)),
        TypeKind::Optional(inner) => format!("{}?", self::ty(inner)),
    }
}
