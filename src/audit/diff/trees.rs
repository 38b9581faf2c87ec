//! Where two expressions, or two bodies, differ.
//!
//! Promise: equal trees give nothing; of different ones every difference is told once, as near to the leaves as a reader can
//! follow: an operand of `and` or `or`, a case, a statement. Reasons are told apart from what happens.

use super::align::{Aligned, align};
use super::{Notes, Weight};
use crate::lang::syntax::ast::{BinaryOp, Block, Expr, ExprKind, FirstCase, Statement, StatementKind, Text};
use crate::lang::syntax::tree::{expr_parts, same_expr, statement_parts};
use crate::lang::syntax::{print_block, print_expr, print_text};

/// Tells how `new` differs from `old`; `what` is what they are.
pub fn exprs(what: &str, old: &Expr, new: &Expr, notes: &mut Notes) {
    if same_expr(old, new) {
        return;
    }
    match (&*old.kind, &*new.kind) {
        (
            ExprKind::First { cases: old, otherwise: old_else },
            ExprKind::First { cases: new, otherwise: new_else },
        ) => {
            cases(what, old, new, notes);
            optional(&format!("{what}, `else`"), old_else.as_ref(), new_else.as_ref(), notes);
        }
        _ if joined_by(old, new).is_some() => {
            let op = joined_by(old, new).unwrap_or(BinaryOp::And);
            let (old, new) = (operands(old, op), operands(new, op));
            let keys = |list: &[&Expr]| list.iter().map(|expr| print_expr(expr)).collect::<Vec<_>>();
            let word = if op == BinaryOp::And { "and" } else { "or" };
            for pair in align(&keys(&old), &keys(&new), |_, _| true) {
                match pair {
                    Aligned::Same(..) => {}
                    Aligned::Moved(_, at) => {
                        notes.push(
                            Weight::Meaning,
                            format!("{what}: operand of `{word}` moved"),
                            None,
                            Some(print_expr(new[at])),
                        );
                    }
                    Aligned::Instead(a, b) => exprs(what, old[a], new[b], notes),
                    Aligned::Dropped(at) => {
                        notes.push(
                            Weight::Meaning,
                            format!("{what}: `{word}` dropped"),
                            Some(print_expr(old[at])),
                            None,
                        );
                    }
                    Aligned::Added(at) => {
                        notes.push(
                            Weight::Meaning,
                            format!("{what}: `{word}` added"),
                            None,
                            Some(print_expr(new[at])),
                        );
                    }
                }
            }
        }
        _ => {
            let (a, b) = (expr_parts(old), expr_parts(new));
            let differing: Vec<usize> = (0..a.exprs.len().min(b.exprs.len()))
                .filter(|&at| !same_expr(a.exprs[at], b.exprs[at]))
                .collect();
            match differing[..] {
                // One part of something that is read part by part.
                [at] if a.head == b.head && a.exprs.len() == b.exprs.len() && is_structure(old) => {
                    exprs(what, a.exprs[at], b.exprs[at], notes);
                }
                _ => notes.push(
                    Weight::Meaning,
                    format!("{what} changed"),
                    Some(print_expr(old)),
                    Some(print_expr(new)),
                ),
            }
        }
    }
}

/// Whether a part of the expression is a condition or a value of its own.
fn is_structure(expr: &Expr) -> bool {
    matches!(
        &*expr.kind,
        ExprKind::Not(_)
            | ExprKind::If { .. }
            | ExprKind::Match { .. }
            | ExprKind::First { .. }
            | ExprKind::Block { .. }
            | ExprKind::Where { .. }
            | ExprKind::Quantifier { .. }
            | ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Coalesce, .. }
    )
}

/// The `and` or `or` whose operands the two are told by: that of both, or of one if the other is among its operands.
fn joined_by(old: &Expr, new: &Expr) -> Option<BinaryOp> {
    let joins = |expr: &Expr| match &*expr.kind {
        ExprKind::Binary { op, .. } if matches!(op, BinaryOp::And | BinaryOp::Or) => Some(*op),
        _ => None,
    };
    match (joins(old), joins(new)) {
        (Some(op), Some(other)) if op == other => Some(op),
        (Some(op), _) if operands(old, op).iter().any(|part| same_expr(part, new)) => Some(op),
        (_, Some(op)) if operands(new, op).iter().any(|part| same_expr(part, old)) => Some(op),
        _ => None,
    }
}

fn operands(expr: &Expr, wanted: BinaryOp) -> Vec<&Expr> {
    match &*expr.kind {
        ExprKind::Binary { op, left, right, .. } if *op == wanted => {
            let mut all = operands(left, wanted);
            all.extend(operands(right, wanted));
            all
        }
        _ => vec![expr],
    }
}

/// [`exprs`] of what may be missing.
pub fn optional(what: &str, old: Option<&Expr>, new: Option<&Expr>, notes: &mut Notes) {
    match (old, new) {
        (Some(old), Some(new)) => exprs(what, old, new, notes),
        (Some(old), None) => {
            notes.push(Weight::Meaning, format!("{what} dropped"), Some(print_expr(old)), None)
        }
        (None, Some(new)) => {
            notes.push(Weight::Meaning, format!("{what} added"), None, Some(print_expr(new)))
        }
        (None, None) => {}
    }
}

/// Reasons and advice: words for people.
pub fn texts(what: &str, old: Option<&Text>, new: Option<&Text>, notes: &mut Notes) {
    let (old, new) = (old.map(print_text), new.map(print_text));
    if old != new {
        notes.push(Weight::Wording, format!("`{what}` changed"), old, new);
    }
}

/// In words where element `at` of a list stands.
pub fn before(names: &[String], at: usize) -> String {
    match names.get(at + 1) {
        Some(next) => format!("before {next}"),
        None => "to the end".to_owned(),
    }
}

fn cases(what: &str, old: &[FirstCase], new: &[FirstCase], notes: &mut Notes) {
    let key = |case: &FirstCase| {
        case.name.map_or_else(|| print_expr(&case.condition), |name| name.text.to_string())
    };
    let (old_keys, new_keys): (Vec<String>, Vec<String>) =
        (old.iter().map(key).collect(), new.iter().map(key).collect());
    let names: Vec<String> = new_keys.iter().map(|key| format!("`{key}`")).collect();
    let shown = |case: &FirstCase| format!("{} => {}", print_expr(&case.condition), print_expr(&case.value));
    let inside = |old: &FirstCase, new: &FirstCase, name: &str, notes: &mut Notes| {
        exprs(&format!("{what}, case {name}, condition"), &old.condition, &new.condition, notes);
        exprs(&format!("{what}, case {name}, value"), &old.value, &new.value, notes);
    };
    for pair in align(&old_keys, &new_keys, |a, b| {
        same_expr(&old[a].condition, &new[b].condition) || old[a].name.is_none()
    }) {
        match pair {
            Aligned::Same(a, b) => inside(&old[a], &new[b], &names[b], notes),
            Aligned::Moved(a, b) => {
                let moved = format!("{what}: case {} moved {}", names[b], before(&names, b));
                notes.push(Weight::Meaning, moved, None, None);
                inside(&old[a], &new[b], &names[b], notes);
            }
            Aligned::Instead(a, b) => {
                if old[a].name.map(|name| name.text) != new[b].name.map(|name| name.text) {
                    let renamed = format!("{what}: case `{}` is called {} now", old_keys[a], names[b]);
                    notes.push(Weight::Wording, renamed, None, None);
                }
                inside(&old[a], &new[b], &names[b], notes);
            }
            Aligned::Dropped(a) => {
                notes.push(
                    Weight::Meaning,
                    format!("{what}: case `{}` dropped", old_keys[a]),
                    Some(shown(&old[a])),
                    None,
                );
            }
            Aligned::Added(b) => {
                let added = format!("{what}: case {} added {}", names[b], before(&names, b));
                notes.push(Weight::Meaning, added, None, Some(shown(&new[b])));
            }
        }
    }
}

/// A statement without its reasons, on one line: what it is told apart by.
fn key(statement: &Statement) -> String {
    let parts = statement_parts(statement);
    let exprs: Vec<String> = parts.exprs.iter().map(|expr| print_expr(expr)).collect();
    let blocks: Vec<String> = parts
        .blocks
        .iter()
        .map(|block| block.statements.iter().map(key).collect::<Vec<_>>().join("; "))
        .collect();
    format!("{} ({}) {{ {} }}", parts.head, exprs.join(", "), blocks.join(" } { "))
}

/// The first line of a statement.
fn shown(statement: &Statement) -> String {
    let block = Block { statements: vec![statement.clone()] };
    let text = print_block(&block).concat();
    match text.lines().next() {
        Some(line) if text.lines().count() > 1 => format!("{line} … }}"),
        _ => text,
    }
}

/// Tells how one body differs from another.
pub fn blocks(what: &str, old: &Block, new: &Block, notes: &mut Notes) {
    let keys = |block: &Block| block.statements.iter().map(key).collect::<Vec<_>>();
    let (old, new, old_keys, new_keys) = (&old.statements, &new.statements, keys(old), keys(new));
    let names: Vec<String> = new.iter().map(|statement| format!("`{}`", shown(statement))).collect();
    let is_alike =
        |a: usize, b: usize| std::mem::discriminant(&old[a].kind) == std::mem::discriminant(&new[b].kind);
    for pair in align(&old_keys, &new_keys, is_alike) {
        match pair {
            Aligned::Same(a, b) => wording(&old[a], &new[b], notes),
            Aligned::Moved(a, b) => {
                let moved = format!("{what}: statement moved {}", before(&names, b));
                notes.push(Weight::Meaning, moved, None, Some(shown(&new[b])));
                wording(&old[a], &new[b], notes);
            }
            Aligned::Instead(a, b) => statement(what, &old[a], &new[b], notes),
            Aligned::Dropped(a) => {
                notes.push(Weight::Meaning, format!("{what}: statement dropped"), Some(shown(&old[a])), None);
            }
            Aligned::Added(b) => {
                let added = format!("{what}: statement added {}", before(&names, b));
                notes.push(Weight::Meaning, added, None, Some(shown(&new[b])));
            }
        }
    }
}

/// Reasons of two statements that do the same.
fn wording(old: &Statement, new: &Statement, notes: &mut Notes) {
    let (a, b) = (statement_parts(old), statement_parts(new));
    let find = |texts: &[(&'static str, &Text)], word| -> Option<String> {
        texts.iter().find(|(other, _)| *other == word).map(|(_, text)| print_text(text))
    };
    for word in ["because", "fail", "halt", "report", "help"] {
        let (old, new) = (find(&a.texts, word), find(&b.texts, word));
        if old != new {
            notes.push(Weight::Wording, format!("`{word}` changed"), old, new);
        }
    }
    for (old, new) in a.blocks.iter().zip(&b.blocks) {
        for (old, new) in old.statements.iter().zip(&new.statements) {
            wording(old, new, notes);
        }
    }
}

/// A statement that was changed.
fn statement(what: &str, old: &Statement, new: &Statement, notes: &mut Notes) {
    let (a, b) = (statement_parts(old), statement_parts(new));
    let differing = a.exprs.iter().zip(&b.exprs).filter(|(a, b)| !same_expr(a, b)).count();
    if a.head != b.head || a.blocks.len() != b.blocks.len() || a.exprs.len() != b.exprs.len() {
        let (old, new) = (Some(shown(old)), Some(shown(new)));
        notes.push(Weight::Meaning, format!("{what}: statement changed"), old, new);
    } else if a.blocks.is_empty() {
        match (differing, &new.kind) {
            (0, _) => {}
            // Short enough to be seen whole.
            _ if shown(new).chars().count() < 100 => {
                let (old, new) = (Some(shown(old)), Some(shown(new)));
                notes.push(Weight::Meaning, format!("{what}: statement changed"), old, new);
            }
            (_, StatementKind::Let { name, .. }) => {
                exprs(&format!("{what}, `{}`", name.text), a.exprs[0], b.exprs[0], notes);
            }
            _ => {
                let parts = a.exprs.iter().zip(&b.exprs);
                parts.for_each(|(a, b)| exprs(&format!("{what}, statement"), a, b, notes));
            }
        }
    } else {
        let word = if matches!(new.kind, StatementKind::If { .. }) { "if" } else { "for" };
        for (a, b) in a.exprs.iter().zip(&b.exprs) {
            exprs(&format!("{what}, `{word}`"), a, b, notes);
        }
        for (a, b) in a.blocks.iter().zip(&b.blocks) {
            blocks(what, a, b, notes);
        }
    }
    if a.head == b.head {
        let find =
            |texts: &[(&'static str, &Text)]| texts.iter().map(|(_, t)| print_text(t)).collect::<Vec<_>>();
        if a.blocks.is_empty() && find(&a.texts) != find(&b.texts) {
            wording(old, new, notes);
        }
    }
}
