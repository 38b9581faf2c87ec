//! Items: what stands on which line.

use super::doc::{Doc, concat, group, group_if, nest, nest_by, nil, text, width};
use super::expr::{Printer, has_brackets};
use super::rows::Row;
use crate::lang::syntax::build::{Rule, Tree, child, has, lone, only};

/// The columns of neighbours: how wide the keyword and the first mark of a pair are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairColumns {
    pub keyword: usize,
    pub left: usize,
}

impl Printer<'_> {
    /// A whole item; `columns` are for the items that form pairs.
    pub fn item(&mut self, tree: &Tree, columns: PairColumns) -> Doc {
        let mut parts = Vec::new();
        for part in tree.clone().into_inner() {
            match part.as_rule() {
                Rule::declaration => {
                    let inner = only(&part).map_or_else(nil, |inner| self.declaration(&inner, columns));
                    parts.push(inner);
                }
                Rule::set_item => parts.push(self.declaration(&part, columns)),
                // Comments that found no room in the lines of the item stand below it.
                Rule::EOI => {
                    parts.extend([
                        Doc::Hard { blank: false },
                        self.weave.comments_before(part.as_span().end()),
                    ]);
                }
                Rule::removed => parts.push(self.words(&part)),
                _ => parts.extend([self.tree(&part), text(" ")]),
            }
        }
        Doc::Concat(parts)
    }

    fn declaration(&mut self, tree: &Tree, columns: PairColumns) -> Doc {
        match tree.as_rule() {
            Rule::table_item => self.table_item(tree),
            Rule::fn_item | Rule::measure_item => self.fn_item(tree),
            Rule::walk_item => self.braced_lines(tree, Printer::case),
            Rule::order_item => self.braced_lines(tree, |printer, line| Row::of(printer.words(line))),
            Rule::attribute_item => self.attribute_item(tree),
            Rule::never_item | Rule::always_item => self.pair_item(tree, columns),
            Rule::skip_item => self.skip_item(tree),
            Rule::checker_item => self.checker_item(tree),
            Rule::matrix_item => self.matrix_item(tree),
            Rule::chain_item | Rule::steps_item => self.chain_item(tree),
            Rule::pipeline_item => self.pipeline_item(tree),
            Rule::test_item => self.braced_lines(tree, |printer, line| Row::of(printer.words(line))),
            _ => self.words(tree),
        }
    }

    /// Everything up to and with the part of this rule, and the parts behind it.
    fn head<'t>(&mut self, tree: &Tree<'t>, last: Rule) -> (Doc, Vec<Tree<'t>>) {
        let mut inner: Vec<Tree> = tree.clone().into_inner().collect();
        let end = inner.iter().position(|part| part.as_rule() == last).map_or(inner.len(), |at| at + 1);
        let rest = inner.split_off(end);
        (self.words_of(tree.as_rule(), &inner), rest)
    }

    fn table_item(&mut self, tree: &Tree) -> Doc {
        let (head, rest) = self.head(tree, Rule::lbrace);
        let Some((close, rows)) = rest.split_last() else { return head };
        let broken = rows.first().is_some_and(|first| self.weave.line_before(first));
        let rows = self.rows(rows, Printer::case);
        self.in_braces(head, rows, broken, close)
    }

    /// The body stands on the line of the head, or one level deeper on lines of its own.
    fn fn_item(&mut self, tree: &Tree) -> Doc {
        let (head, rest) = self.head(tree, Rule::equals);
        let Some(body) = rest.first() else { return head };
        let broken = self.weave.line_before(body);
        let value = match lone(body, Rule::if_expr) {
            Some(choice) => self.if_expr(&choice, true),
            None => self.tree(body),
        };
        if has_brackets(body) {
            return concat([head, text(" "), value]);
        }
        concat([head, nest(group_if(broken, concat([Doc::Line(" "), value])))])
    }

    /// `head {`, one thing a line, `}`.
    fn braced_lines(&mut self, tree: &Tree, row: impl FnMut(&mut Self, &Tree) -> Row) -> Doc {
        let (head, rest) = self.head(tree, Rule::lbrace);
        let Some((close, lines)) = rest.split_last() else { return head };
        let rows = self.rows(lines, row);
        self.in_braces(head, rows, true, close)
    }

    fn attribute_item(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let end = inner.iter().position(|part| matches!(part.as_rule(), Rule::condition | Rule::doc));
        let (head, clauses) = inner.split_at(end.unwrap_or(inner.len()));
        let head = self.words_of(tree.as_rule(), head);
        concat([head, self.clauses(clauses)])
    }

    /// Each on a line of its own, one level deeper.
    fn clauses(&mut self, clauses: &[Tree]) -> Doc {
        let lines: Vec<Doc> =
            clauses.iter().flat_map(|clause| [Doc::Hard { blank: false }, self.tree(clause)]).collect();
        nest(Doc::Concat(lines))
    }

    fn pair_item(&mut self, tree: &Tree, columns: PairColumns) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let [keyword, left, with, marks, because @ ..] = inner.as_slice() else { return self.words(tree) };
        let gap =
            |wanted: usize, part: &Tree| text(" ".repeat(wanted.saturating_sub(part.as_str().len()) + 1));
        let head = [
            self.tree(keyword),
            gap(columns.keyword, keyword),
            self.tree(left),
            gap(columns.left, left),
            self.tree(with),
            text(" "),
        ];
        let inner: Vec<Tree> = marks.clone().into_inner().collect();
        let marks = self.separated(&inner, Doc::Fill).unwrap_or_else(nil);
        concat([concat(head), nest(marks), self.clauses(because)])
    }

    fn skip_item(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let [keyword, name, when, because @ ..] = inner.as_slice() else { return self.words(tree) };
        let broken = self.weave.line_before(when);
        let head = concat([self.tree(keyword), text(" "), self.tree(name)]);
        let when = nest(concat([Doc::Line(" "), self.tree(when)]));
        concat([group_if(broken, concat([head, when])), self.clauses(because)])
    }

    fn checker_item(&mut self, tree: &Tree) -> Doc {
        let (head, rest) = self.head(tree, Rule::name);
        let mut parts = vec![head];
        for part in &rest {
            let line = match part.as_rule() {
                Rule::body => Doc::Hard { blank: false },
                _ => nest(Doc::Hard { blank: false }),
            };
            let part = match part.as_rule() {
                Rule::body => self.open_body(part),
                Rule::pair => nest(self.pair(part)),
                _ => nest(self.tree(part)),
            };
            parts.extend([line, part]);
        }
        Doc::Concat(parts)
    }

    /// `for a: A, b: B`, the second role on its own line if they do not fit.
    fn pair(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let Some(comma) = inner.iter().position(|part| part.as_rule() == Rule::comma) else {
            return self.words(tree);
        };
        let (first, second) = inner.split_at(comma + 1);
        let broken = second.first().is_some_and(|second| self.weave.line_before(second));
        let first = self.words_of(tree.as_rule(), first);
        let second = self.words_of(tree.as_rule(), second);
        group_if(broken, concat([first, nest(concat([Doc::Line(" "), second]))]))
    }

    fn matrix_item(&mut self, tree: &Tree) -> Doc {
        let (head, rest) = self.head(tree, Rule::matrix_result);
        let rows: Vec<Vec<Doc>> = rest
            .iter()
            .map(|row| {
                let mut cells: Vec<Doc> = Vec::new();
                if row.as_rule() == Rule::header {
                    cells.push(nil());
                }
                for part in row.clone().into_inner() {
                    match part.as_rule() {
                        Rule::bar => {
                            let bar = self.tree(&part);
                            cells.push(concat([bar, text(" ")]));
                        }
                        _ => {
                            let cell = self.tree(&part);
                            match cells.last_mut() {
                                Some(last) => *last = concat([std::mem::replace(last, nil()), cell]),
                                None => cells.push(cell),
                            }
                        }
                    }
                }
                cells
            })
            .collect();
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(width).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(widest).collect();
        let lines = rows.into_iter().enumerate().map(|(at, row)| {
            let mut line = vec![Doc::Hard { blank: false }];
            for (&wide, cell) in widths.iter().zip(row) {
                let pad = wide.saturating_sub(width(&cell));
                line.extend([cell, text(" ".repeat(pad + 1))]);
            }
            // The names of the columns stand above their columns, behind those of the rows.
            let names = widths.first().filter(|_| at == 0).map_or(0, |wide| wide + 1);
            nest_by(names, Doc::Concat(line))
        });
        concat([head, nest(concat(lines))])
    }

    fn chain_item(&mut self, tree: &Tree) -> Doc {
        self.braced_lines(tree, |printer, step| match only(step) {
            Some(require) if require.as_rule() == Rule::require => printer.require(&require),
            Some(each) if each.as_rule() == Rule::each_step => Row::of(printer.chain_item(&each)),
            _ => Row::of(printer.words(step)),
        })
    }

    fn require(&mut self, tree: &Tree) -> Row {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let [keyword, name, colon, condition, reasons @ ..] = inner.as_slice() else {
            return Row::of(self.words(tree));
        };
        let name = concat([self.tree(keyword), text(" "), self.tree(name)]);
        let condition = concat([self.tree(colon), text(" "), self.tree(condition)]);
        if reasons.is_empty() {
            return Row::cells(vec![name, condition]);
        }
        let lines: Vec<Doc> = reasons.iter().flat_map(|reason| [Doc::Line(" "), self.tree(reason)]).collect();
        let broken = reasons.first().is_some_and(|first| self.weave.line_before(first));
        if broken {
            return Row::cells(vec![name, group_if(true, concat([condition, nest(Doc::Concat(lines))]))]);
        }
        Row::cells(vec![name, condition, nest(group(Doc::Concat(lines)))])
    }

    /// The steps on the line of the head, or one a line.
    fn pipeline_item(&mut self, tree: &Tree) -> Doc {
        let (head, steps) = self.head(tree, Rule::equals);
        let broken = steps.first().is_some_and(|first| self.weave.line_before(first));
        let steps = self.separated(&steps, Doc::Line(" ")).unwrap_or_else(nil);
        concat([head, nest(group_if(broken, concat([Doc::Line(" "), steps])))])
    }
}

/// The words of a pair that neighbours share columns with: keyword and first mark.
pub fn pair_words<'a>(tree: &Tree<'a>) -> Option<(&'a str, &'a str)> {
    let declaration = child(tree, Rule::declaration)?;
    let pair =
        only(&declaration).filter(|pair| matches!(pair.as_rule(), Rule::never_item | Rule::always_item))?;
    let mut inner = pair.clone().into_inner();
    let (keyword, left) = (inner.next()?, inner.next()?);
    (!has(tree, Rule::kw_override)).then(|| (keyword.as_str(), left.as_str()))
}
