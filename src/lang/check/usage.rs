//! Names that nothing uses.

use rustc_hash::FxHashSet;

use super::codes;
use super::rules::RuleItem;
use super::scope::{ItemKey, Scope, keyword};
use crate::graph::Sym;
use crate::lang::Diagnostic;
use crate::lang::syntax::ast::{Kind, Modifier};

/// Warns about items that no other item mentions. Rules, tests and pipelines are there for their own sake. What an
/// overlay left without a use is not the author's to remove.
pub(super) fn unused(items: &[RuleItem], scope: &Scope, found: &mut Vec<(ItemKey, Diagnostic)>) {
    let mut used: FxHashSet<(Kind, Sym)> = FxHashSet::default();
    for rule in items {
        let own = (rule.item.kind, rule.item.name.text);
        used.extend(rule.uses.iter().filter(|name| **name != own));
    }
    for rule in items {
        let item = &*rule.item;
        let help = match item.kind {
            Kind::Set
            | Kind::Table
            | Kind::Attr
            | Kind::Note
            | Kind::Option
            | Kind::Enum
            | Kind::Fn
            | Kind::Walk
            | Kind::Matrix
            | Kind::Action
            | Kind::Steps
            | Kind::Order
            | Kind::Symbols => "remove it, or let its name start with `_`",
            _ => continue,
        };
        let name = item.name.text;
        if item.modifier == Modifier::Extend
            || scope.reduced.contains(&rule.key.file)
            || name.as_str().starts_with('_')
            || used.contains(&(item.kind, name))
        {
            continue;
        }
        let message = format!("the {} `{name}` is never used", keyword(item.kind));
        found.push((rule.key, Diagnostic::warning(codes::UNUSED, item.name.span, message).help(help)));
    }
}
