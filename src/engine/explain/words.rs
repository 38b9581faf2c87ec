//! Rule texts for a person: where an expression stands and how it is written.

use crate::db::{self, Db, RuleSet};
use crate::graph::Sym;
use crate::lang::check::ItemKey;
use crate::lang::eval::{EntryId, Machine, Program, Value};
use crate::lang::hir::{ExprId, TextId};
use crate::lang::syntax::ast::{ItemData, Kind, Span};

/// Longer texts are cut: the place tells where the whole stands.
const LONGEST: usize = 110;

/// The texts of a rule set.
#[derive(Clone, Copy)]
pub struct Words<'s> {
    pub db: &'s dyn Db,
    pub rules: RuleSet,
}

impl Words<'_> {
    fn key(&self, program: &Program, entry: EntryId) -> Option<ItemKey> {
        let (kind, name) = program.key(entry)?;
        db::live(self.db, self.rules).keys(kind, name).first().copied()
    }

    /// The text of an expression on one line, and its `path:line`.
    pub fn expression(&self, program: &Program, entry: EntryId, expr: ExprId) -> (String, String) {
        self.find(program, entry, expr).unwrap_or_default()
    }

    fn find(&self, program: &Program, entry: EntryId, expr: ExprId) -> Option<(String, String)> {
        let key = self.key(program, entry)?;
        let id = db::find(self.db, self.rules, key)?;
        let span = *db::spans(self.db, self.rules, id).get(expr as usize)?;
        let (text, at) = self.part(key, span)?;
        Some((one_line(bare(text)), at))
    }

    /// A part of an item, and its `path:line`.
    fn part(&self, key: ItemKey, span: Span) -> Option<(&str, String)> {
        let file = *self.rules.files(self.db).get(key.file as usize)?;
        let source = &db::parsed(self.db, file).items.get(key.index as usize)?.source;
        let text = source.text.get(span.start as usize..span.end as usize)?;
        let start = (source.start as usize).saturating_add(span.start as usize);
        let before = file.text(self.db).get(..start)?;
        let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
        Some((text, format!("{}:{line}", file.path(self.db))))
    }

    /// `path:line` of an entry.
    pub fn item(&self, kind: Kind, name: Sym) -> String {
        let key = db::live(self.db, self.rules).keys(kind, name).first().copied();
        let name_of = |key| {
            let tree = db::item(self.db, db::find(self.db, self.rules, key)?)?;
            self.part(key, tree.0.name.span)
        };
        key.and_then(name_of).map(|(_, at)| at).unwrap_or_default()
    }

    /// A text of an item with its values, as a machine sees them now.
    pub fn text(
        &self,
        machine: &mut Machine<'_>,
        entry: EntryId,
        text: Option<TextId>,
        frame: &[Value],
    ) -> Option<String> {
        let (kind, name) = machine.program().key(entry)?;
        let texts = db::texts(self.db, self.rules, db::EntryName::new(self.db, kind, name))?;
        let text = texts.get(text? as usize)?;
        Some(machine.aside(|machine| machine.render(text, frame)))
    }

    /// `path:line` of a row of a matrix.
    pub fn row(&self, matrix: Sym, row: Sym) -> String {
        let find = || {
            let key = *db::live(self.db, self.rules).keys(Kind::Matrix, matrix).first()?;
            let tree = db::item(self.db, db::find(self.db, self.rules, key)?)?;
            let ItemData::Matrix { cells, .. } = &tree.0.data else { return None };
            let (name, _) = cells.iter().find(|(name, _)| name.text == row)?;
            self.part(key, name.span).map(|(_, at)| at)
        };
        find().unwrap_or_default()
    }

    /// The name of a case of a `first`.
    pub fn case(&self, program: &Program, entry: EntryId, expr: ExprId, case: u32) -> Option<Sym> {
        let id = db::find(self.db, self.rules, self.key(program, entry)?)?;
        let names = &db::lowered(self.db, self.rules, id).names;
        names.iter().find(|(e, c, _)| (*e, *c) == (expr, case)).map(|(.., name)| *name)
    }

    /// The `never` entry that speaks of two marks.
    pub fn never(&self, a: Sym, b: Sym) -> Option<Sym> {
        use crate::lang::hir::Entry;
        db::live(self.db, self.rules).names(Kind::Never).find(|&title| {
            let name = db::EntryName::new(self.db, Kind::Never, title);
            match db::entry(self.db, self.rules, name).as_deref() {
                Some(Entry::Never { left, right }) => {
                    let fits = |x, y| *left == x && (right.is_empty() || right.contains(&y));
                    fits(a, b) || fits(b, a)
                }
                _ => false,
            }
        })
    }
}

fn one_line(text: &str) -> String {
    let line =
        text.lines().map(without_comment).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        None => line,
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

/// The text without parentheses around all of it.
fn bare(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else { return text };
    let mut open = 0i32;
    for c in inner.chars() {
        open += i32::from(c == '(') - i32::from(c == ')');
        if open < 0 {
            return text;
        }
    }
    inner
}

/// The line up to a comment; two slashes inside a string are none.
fn without_comment(line: &str) -> &str {
    let comment = line.match_indices("//").find(|(at, _)| line[..*at].matches('"').count().is_multiple_of(2));
    comment.map_or(line, |(at, _)| &line[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_outer_parentheses_go() {
        assert_eq!(bare("(a or (b))"), "a or (b)");
        assert_eq!(bare("(a) or (b)"), "(a) or (b)");
    }

    #[test]
    fn texts_are_put_on_one_line_and_cut() {
        assert_eq!(one_line("a\n    and  b // why\n  or c"), "a and b or c");
        assert_eq!(one_line("a == \"b//c\" // d"), "a == \"b//c\"");
        assert_eq!(one_line(&"é".repeat(LONGEST)).chars().count(), LONGEST);
        assert_eq!(one_line(&"é".repeat(LONGEST + 1)), format!("{}…", "é".repeat(LONGEST)));
    }
}
