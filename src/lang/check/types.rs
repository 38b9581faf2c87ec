//! Types: how they are written, which value fits where, what two have in common.

use crate::graph::Sym;
use crate::lang::hir::Ty;
use crate::lang::syntax::ast::{AttrType, OptionType, Span, Type, TypeKind};

/// The type in the language's own words.
pub fn show(ty: &Ty) -> String {
    match ty {
        Ty::Bool => "Bool".to_owned(),
        Ty::Int => "Int".to_owned(),
        Ty::Float => "Float".to_owned(),
        Ty::Str => "Str".to_owned(),
        Ty::Op => "Op".to_owned(),
        Ty::Node => "Node".to_owned(),
        Ty::Input => "Input".to_owned(),
        Ty::Output => "Output".to_owned(),
        Ty::Anchor => "Anchor".to_owned(),
        Ty::Graph => "Graph".to_owned(),
        Ty::Symbols => "Symbols".to_owned(),
        Ty::Group => "Group".to_owned(),
        Ty::Mark => "Mark".to_owned(),
        Ty::Enum(name) => name.to_string(),
        Ty::List(element) => format!("list<{}>", show(element)),
        Ty::Optional(inner) => format!("{}?", show(inner)),
        Ty::None => "none".to_owned(),
        Ty::Error => "_".to_owned(),
    }
}

/// Names of the types that are not declared.
pub(super) const BUILTIN: &[(&str, Ty)] = &[
    ("Bool", Ty::Bool),
    ("Int", Ty::Int),
    ("Float", Ty::Float),
    ("Str", Ty::Str),
    ("Op", Ty::Op),
    ("Node", Ty::Node),
    ("Input", Ty::Input),
    ("Output", Ty::Output),
    ("Anchor", Ty::Anchor),
    ("Graph", Ty::Graph),
    ("Symbols", Ty::Symbols),
    ("Group", Ty::Group),
    ("Mark", Ty::Mark),
];

/// The type that is written, or the unknown word in it.
pub(super) fn resolve(ty: &Type, is_enum: &dyn Fn(Sym) -> bool) -> Result<Ty, (Span, Sym)> {
    // Types are nested by the hundred only by mistake; each level is a wrapper, so this loop needs no recursion.
    let mut wrappers = Vec::new();
    let mut at = ty;
    let mut inner = loop {
        match &at.kind {
            TypeKind::List(element) => {
                wrappers.push(true);
                at = element;
            }
            TypeKind::Optional(element) => {
                wrappers.push(false);
                at = element;
            }
            TypeKind::Named(name) => {
                break match BUILTIN.iter().find(|(text, _)| name == text) {
                    Some((_, builtin)) => builtin.clone(),
                    None if is_enum(*name) => Ty::Enum(*name),
                    None => return Err((at.span, *name)),
                };
            }
        }
    };
    while let Some(list) = wrappers.pop() {
        inner = if list { Ty::list(inner) } else { inner.optional() };
    }
    Ok(inner)
}

/// A value of type `value` may stand where `wanted` is needed.
pub(super) fn fits(value: &Ty, wanted: &Ty) -> bool {
    match (value, wanted) {
        (Ty::Error, _) | (_, Ty::Error) => true,
        (Ty::None, Ty::Optional(_) | Ty::None) => true,
        (Ty::Optional(a), Ty::Optional(b)) | (Ty::List(a), Ty::List(b)) => fits(a, b),
        (a, Ty::Optional(b)) => fits(a, b),
        (Ty::Input | Ty::Output, Ty::Anchor) | (Ty::Op, Ty::Str) => true,
        (a, b) => a == b,
    }
}

/// The least type that both fit.
pub(super) fn join(a: &Ty, b: &Ty) -> Option<Ty> {
    match (a, b) {
        (Ty::Error, other) | (other, Ty::Error) => Some(other.clone()),
        (Ty::None, other) | (other, Ty::None) => Some(other.clone().optional()),
        (Ty::Optional(a), Ty::Optional(b)) => Some(join(a, b)?.optional()),
        (Ty::Optional(a), b) | (b, Ty::Optional(a)) => Some(join(a, b)?.optional()),
        (Ty::List(a), Ty::List(b)) => Some(Ty::list(join(a, b)?)),
        (Ty::Input, Ty::Output) | (Ty::Output, Ty::Input) => Some(Ty::Anchor),
        (a, b) if fits(a, b) => Some(b.clone()),
        (a, b) if fits(b, a) => Some(a.clone()),
        _ => None,
    }
}

/// The type without its `?`.
pub(super) fn strip(ty: &Ty) -> &Ty {
    match ty {
        Ty::Optional(inner) => inner,
        other => other,
    }
}

/// May the value be none?
pub(super) fn is_optional(ty: &Ty) -> bool {
    matches!(ty, Ty::Optional(_) | Ty::None)
}

/// What reading a graph attribute gives; `any` cannot be read.
pub(super) fn attr_ty(ty: AttrType) -> Option<Ty> {
    Some(match ty {
        AttrType::Bool => Ty::Bool,
        AttrType::OptBool => Ty::Bool.optional(),
        AttrType::Int => Ty::Int.optional(),
        AttrType::Float => Ty::Float.optional(),
        AttrType::Str => Ty::Str.optional(),
        AttrType::ListInt => Ty::list(Ty::Int),
        AttrType::ListStr => Ty::list(Ty::Str),
        AttrType::ListBool => Ty::list(Ty::Bool),
        AttrType::ListFloat => Ty::list(Ty::Float),
        AttrType::ListListInt => Ty::list(Ty::list(Ty::Int)),
        AttrType::Any => return None,
    })
}

/// What `option(NAME)` gives; the variants of an option are an enum of the option's name.
pub(super) fn option_ty(name: Sym, ty: &OptionType) -> Ty {
    match ty {
        OptionType::Bool => Ty::Bool,
        OptionType::Int => Ty::Int,
        OptionType::Str => Ty::Str,
        OptionType::ListInt => Ty::list(Ty::Int),
        OptionType::ListStr => Ty::list(Ty::Str),
        OptionType::Variants(_) => Ty::Enum(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_anchors_also_inside_lists_and_optionals() {
        assert!(fits(&Ty::list(Ty::Input), &Ty::list(Ty::Anchor)));
        assert!(fits(&Ty::Output.optional(), &Ty::Anchor.optional()));
        assert!(!fits(&Ty::Anchor, &Ty::Input));
        assert!(!fits(&Ty::Input.optional(), &Ty::Anchor));
    }

    #[test]
    fn two_types_meet_in_the_least_that_both_fit() {
        assert_eq!(join(&Ty::Input, &Ty::Output), Some(Ty::Anchor));
        assert_eq!(join(&Ty::None, &Ty::Node), Some(Ty::Node.optional()));
        assert_eq!(join(&Ty::Op, &Ty::Str), Some(Ty::Str));
        assert_eq!(join(&Ty::Int, &Ty::Str), None);
    }

    #[test]
    fn types_print_as_they_are_written() {
        assert_eq!(show(&Ty::list(Ty::Input.optional())), "list<Input?>");
        assert_eq!(show(&Ty::list(Ty::Input).optional()), "list<Input>?");
    }
}
