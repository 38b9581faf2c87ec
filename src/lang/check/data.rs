//! Items that hold data: sets, tables, the values of options, matrices.

use rustc_hash::{FxHashMap, FxHashSet};

use super::codes;
use super::lower::Cx;
use super::types::{fits, option_ty, show};
use crate::graph::Sym;
use crate::lang::Diagnostic;
use crate::lang::hir::{Const, Entry, OptionValue, Ty};
use crate::lang::syntax::ast::{self, ExprKind, Kind, MatrixResult, Name, OptionType, SetTerm};

/// What tells a constant from others of its type, to find it among many.
fn identity(constant: &Const) -> (u8, u64, Sym) {
    match *constant {
        Const::None => (0, 0, Sym::default()),
        Const::Bool(b) => (1, b.into(), Sym::default()),
        Const::Int(i) => (2, i.cast_unsigned(), Sym::default()),
        // Both zeros are one number.
        Const::Float(f) => (3, (f + 0.0).to_bits(), Sym::default()),
        Const::Str(text) => (4, 0, text),
        Const::Enum { ty, variant } => (5, variant.into(), ty),
        Const::Mark(mark) => (6, 0, mark),
        // No key is a list.
        Const::List(_) => (7, 0, Sym::default()),
    }
}

impl Cx<'_> {
    pub fn unique(&mut self, names: &[Name], what: &str) {
        let mut seen: FxHashMap<Sym, Name> = FxHashMap::default();
        for name in names {
            let first = *seen.entry(name.text).or_insert(*name);
            if first.span != name.span {
                let message = format!("the {what} `{}` is there twice", name.text);
                let error = Diagnostic::error(codes::DUPLICATE, name.span, message);
                self.report(error.also(first.span, "first here"));
            }
        }
    }

    pub fn set(&mut self, within: Option<Name>, terms: &[SetTerm]) -> Entry {
        let element = self.scope.sets.get(&self.name).cloned().unwrap_or(Ty::Error);
        if let Some(within) = within {
            self.item_name(within, Kind::Set);
        }
        let mut includes = Vec::new();
        let mut elements = Vec::new();
        let mut seen = FxHashSet::default();
        for term in terms {
            match term {
                SetTerm::Named(name) => {
                    if !self.item_name(*name, Kind::Set) {
                        continue;
                    }
                    let other = self.scope.sets.get(&name.text).cloned().unwrap_or(Ty::Error);
                    if !fits(&other, &element) {
                        self.mismatch(&other, &element, name.span);
                    }
                    includes.push(name.text);
                }
                SetTerm::Literal(values) => {
                    for value in values {
                        let before = elements.len();
                        elements.extend(self.const_value(value, &element));
                        if elements[before..].iter().any(|new| !seen.insert(identity(new))) {
                            let warning = Diagnostic::warning(
                                codes::DUPLICATE,
                                value.span,
                                "this element is there twice",
                            );
                            self.report(warning);
                        }
                    }
                }
            }
        }
        Entry::Set { includes, elements, element }
    }

    pub fn table(&mut self, key: &ast::Type, value: &ast::Type, rows: &[(ast::Expr, ast::Expr)]) -> Entry {
        let (key, value) = (self.ty(key), self.ty(value));
        let mut lowered: Vec<(Const, Const)> = Vec::new();
        let mut seen = FxHashSet::default();
        for (row_key, row_value) in rows {
            let made = (self.table_word(row_key, &key), self.table_value(row_value, &value));
            let (Some(row_key_value), Some(row_value)) = made else { continue };
            if !seen.insert(identity(&row_key_value)) {
                let message = "this key is there twice";
                self.report(Diagnostic::error(codes::DUPLICATE, row_key.span, message));
            }
            lowered.push((row_key_value, row_value));
        }
        Entry::Table { rows: lowered }
    }

    /// What a row gives: a constant, or a list of them.
    fn table_value(&mut self, expr: &ast::Expr, ty: &Ty) -> Option<Const> {
        match (&*expr.kind, ty) {
            (ExprKind::List(elements), Ty::List(element)) => {
                let items: Vec<Option<Const>> =
                    elements.iter().map(|value| self.table_value(value, element)).collect();
                Some(Const::List(items.into_iter().collect::<Option<_>>()?))
            }
            _ => self.table_word(expr, ty),
        }
    }

    /// In a table a bare word may also stand for a string.
    fn table_word(&mut self, expr: &ast::Expr, ty: &Ty) -> Option<Const> {
        match (&*expr.kind, ty) {
            (ExprKind::Name(word), Ty::Str) => Some(Const::Str(*word)),
            _ => self.const_value(expr, ty),
        }
    }

    pub fn option_default(
        &mut self,
        name: Sym,
        ty: &OptionType,
        default: Option<&ast::Expr>,
    ) -> Option<OptionValue> {
        if let OptionType::Variants(variants) = ty {
            self.unique(variants, "variant");
        }
        let Some(default) = default else {
            return Some(match ty {
                OptionType::Bool => OptionValue::Bool(false),
                OptionType::Int => OptionValue::Int(0),
                OptionType::Str => OptionValue::Str(Sym::new("")),
                OptionType::ListInt => OptionValue::ListInt(Vec::new()),
                OptionType::ListStr => OptionValue::ListStr(Vec::new()),
                OptionType::Variants(_) => OptionValue::Variant(0),
            });
        };
        self.option_value(default, &option_ty(name, ty))
    }

    /// The value of an option as it is written in a declaration or in a test.
    pub fn option_value(&mut self, value: &ast::Expr, ty: &Ty) -> Option<OptionValue> {
        if let (ExprKind::List(elements), Ty::List(element)) = (&*value.kind, ty) {
            let values: Vec<Const> =
                elements.iter().filter_map(|value| self.const_value(value, element)).collect();
            return Some(if **element == Ty::Int {
                let ints = values.iter().filter_map(|v| if let Const::Int(v) = v { Some(*v) } else { None });
                OptionValue::ListInt(ints.collect())
            } else {
                let texts = values.iter().filter_map(|v| if let Const::Str(v) = v { Some(*v) } else { None });
                OptionValue::ListStr(texts.collect())
            });
        }
        match self.const_value(value, ty)? {
            Const::Bool(value) => Some(OptionValue::Bool(value)),
            Const::Int(value) => Some(OptionValue::Int(value)),
            Const::Str(value) => Some(OptionValue::Str(value)),
            Const::Enum { variant, .. } => Some(OptionValue::Variant(variant)),
            _ => None,
        }
    }

    pub fn matrix(
        &mut self,
        name: Name,
        rows: &ast::Param,
        columns: &ast::Param,
        result: &MatrixResult,
        header: &[Name],
        cells: &[(Name, Vec<Name>)],
    ) -> Option<Entry> {
        let row_enum = self.matrix_enum(&rows.ty)?;
        let column_enum = self.matrix_enum(&columns.ty)?;
        let result_enum = match result {
            MatrixResult::Variants(variants) => {
                self.unique(variants, "variant");
                name.text
            }
            MatrixResult::Named(result) => {
                if self.scope.variants(result.text).is_none() {
                    let error = self.scope.unknown(result.text, result.span, &[Kind::Enum]);
                    self.report(error);
                    return None;
                }
                self.uses_enum(result.text);
                self.see_enum(result.text, result.span);
                result.text
            }
        };
        let row_variants = self.scope.variants(row_enum).unwrap_or_default();
        let column_variants = self.scope.variants(column_enum).unwrap_or_default();
        self.unique(header, "column");
        self.unique(&cells.iter().map(|(row, _)| *row).collect::<Vec<_>>(), "row");
        let mut places = Vec::with_capacity(header.len());
        for column in header {
            let place = column_variants.iter().position(|known| *known == column.text);
            match place {
                Some(_) => self.see_variant(column_enum, *column),
                None => self.unknown_variant(column_enum, column.text, column.span),
            }
            places.push(place);
        }
        let mut table: Vec<Vec<Option<u16>>> = vec![vec![None; column_variants.len()]; row_variants.len()];
        for (row, values) in cells {
            let Some(at) = row_variants.iter().position(|known| *known == row.text) else {
                self.unknown_variant(row_enum, row.text, row.span);
                continue;
            };
            self.see_variant(row_enum, *row);
            if values.len() != header.len() {
                let message = format!("this row has {} cells, the header has {}", values.len(), header.len());
                self.report(Diagnostic::error(codes::MATRIX, row.span, message));
            }
            for (value, place) in values.iter().zip(&places) {
                let variant = self.scope.variant(result_enum, value.text);
                match variant {
                    Some(_) => self.see_variant(result_enum, *value),
                    None => self.unknown_variant(result_enum, value.text, value.span),
                }
                if let Some(cell) = place.and_then(|place| table[at].get_mut(place)) {
                    *cell = variant;
                }
            }
        }
        self.missing(row_variants, cells.iter().map(|(row, _)| row.text), "row", name);
        self.missing(column_variants, header.iter().map(|column| column.text), "column", name);
        let cells: Option<Vec<Vec<u16>>> = table.into_iter().map(|row| row.into_iter().collect()).collect();
        let variants = match result {
            MatrixResult::Variants(variants) => variants.iter().map(|variant| variant.text).collect(),
            MatrixResult::Named(_) => Vec::new(),
        };
        let (rows, columns, result) = (row_enum, column_enum, result_enum);
        Some(Entry::Matrix { rows, columns, result, variants, cells: cells? })
    }

    fn missing(&mut self, variants: &[Sym], there: impl Iterator<Item = Sym>, what: &str, name: Name) {
        let there: Vec<Sym> = there.collect();
        let missing: Vec<String> =
            variants.iter().filter(|v| !there.contains(v)).map(|v| format!("`{v}`")).collect();
        if !missing.is_empty() {
            let s = if missing.len() == 1 { "" } else { "s" };
            let message = format!("`{}` lacks the {what}{s} {}", name.text, missing.join(", "));
            self.report(Diagnostic::error(codes::MATRIX, name.span, message));
        }
    }

    fn matrix_enum(&mut self, written: &ast::Type) -> Option<Sym> {
        match self.ty(written) {
            Ty::Enum(name) => Some(name),
            Ty::Error => None,
            other => {
                let message = format!("a matrix is over enums, not over `{}`", show(&other));
                self.report(Diagnostic::error(codes::TYPE_MISMATCH, written.span, message));
                None
            }
        }
    }
}
