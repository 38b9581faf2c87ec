//! Expressions, and everything that is words with spaces between.

use super::ROOM;
use super::doc::{Doc, concat, group, group_if, nest, nil, text, width};
use super::rows::Row;
use super::weave::Weave;
use crate::lang::syntax::build::{Rule, Tree, lone, only};

pub struct Printer<'a> {
    pub weave: Weave<'a>,
}

/// How loosely an operator binds, loosest first; comparisons and tests are one level.
fn level(operator: Rule) -> u32 {
    match operator {
        Rule::kw_or => 1,
        Rule::kw_and => 2,
        Rule::coalesce => 4,
        Rule::range => 5,
        Rule::add | Rule::sub => 6,
        Rule::mul | Rule::div | Rule::rem => 7,
        _ => 3,
    }
}

impl Printer<'_> {
    /// Any tree. What has no layout of its own is laid out as words.
    pub fn tree(&mut self, tree: &Tree) -> Doc {
        match tree.as_rule() {
            Rule::EOI => self.weave.drop_token(tree),
            Rule::expr => self.expr(tree),
            Rule::simple => self.simple(&tree.clone().into_inner().collect::<Vec<_>>()),
            Rule::list | Rule::args | Rule::params => self.listed(tree, ""),
            Rule::set_literal => self.listed(tree, " "),
            Rule::name_set | Rule::elements | Rule::anchors => self.filled(tree),
            Rule::if_expr => self.if_expr(tree, false),
            Rule::match_expr | Rule::first_expr => self.cases(tree),
            Rule::block_expr => self.block_expr(tree),
            Rule::quantifier => self.quantifier(tree),
            Rule::raw_graph => self.raw_graph(tree),
            Rule::body => self.body(tree),
            Rule::if_statement => self.if_statement(tree),
            Rule::for_statement => self.for_statement(tree),
            Rule::isolate_statement | Rule::report_statement => self.with_clauses(tree),
            Rule::fields => self.fields(tree),
            Rule::role => self.role(tree),
            Rule::subject => self.subject(tree),
            _ => self.words(tree),
        }
    }

    /// The children with a space between where one belongs; a leaf is a token.
    pub fn words(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        if inner.is_empty() {
            return self.weave.token(tree);
        }
        self.words_of(tree.as_rule(), &inner)
    }

    pub fn words_of(&mut self, parent: Rule, inner: &[Tree]) -> Doc {
        let mut parts = Vec::new();
        for (at, one) in inner.iter().enumerate() {
            if at > 0 && spaced(parent, inner[at - 1].as_rule(), one.as_rule()) {
                parts.push(text(" "));
            }
            parts.push(self.tree(one));
        }
        Doc::Concat(parts)
    }

    /// `list where condition`.
    fn expr(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let Some((first, filters)) = inner.split_first() else { return nil() };
        let first = self.tree(first);
        if filters.is_empty() {
            return first;
        }
        let broken =
            filters.iter().any(|part| part.as_rule() == Rule::kw_where && self.weave.line_before(part));
        let mut parts = Vec::new();
        for part in filters {
            parts.push(if part.as_rule() == Rule::kw_where { Doc::Line(" ") } else { text(" ") });
            parts.push(self.tree(part));
        }
        group_if(broken, concat([first, nest(Doc::Concat(parts))]))
    }

    /// Operands and operators of one level of brackets. The loosest operators break first: all of a level together,
    /// or where the author did.
    fn simple(&mut self, inner: &[Tree]) -> Doc {
        let loosest = inner.iter().filter_map(operator).map(level).min();
        let Some(loosest) = loosest else { return inner.first().map_or_else(nil, |one| self.tree(one)) };
        let is_split = |part: &Tree| operator(part).is_some_and(|operator| level(operator) == loosest);
        let is_broken =
            |weave: &Weave, part: &Tree| loosest <= level(Rule::kw_and) && weave.line_before(part);
        let broken = inner.iter().any(|part| is_split(part) && is_broken(&self.weave, part));
        let mut pieces = inner.chunk_by(|_, next| !is_split(next));
        let first = pieces.next().map_or_else(nil, |piece| self.simple(piece));
        let mut rest = Vec::new();
        for piece in pieces {
            let Some((operator_tree, operands)) = piece.split_first() else { continue };
            let tight = operator(operator_tree) == Some(Rule::range);
            rest.push(match broken {
                _ if tight => nil(),
                true if !is_broken(&self.weave, operator_tree) => Doc::Fill,
                _ => Doc::Line(" "),
            });
            rest.push(self.tree(operator_tree));
            if !operands.is_empty() {
                rest.push(text(if tight { "" } else { " " }));
                rest.push(self.simple(operands));
            }
        }
        group_if(broken, concat([first, nest(Doc::Concat(rest))]))
    }

    /// Things with commas between, in brackets: on one line, or each on its own. A comma at the end goes.
    fn listed(&mut self, tree: &Tree, space: &'static str) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let [open, between @ .., close] = inner.as_slice() else { return self.words(tree) };
        let open = self.tree(open);
        let elements = self.separated(between, Doc::Line(" "));
        let (inside, close) = self.closed(elements, close);
        match inside {
            Some(inside) => {
                group(concat([open, nest(concat([Doc::Line(space), inside])), Doc::Line(space), close]))
            }
            None => concat([open, close]),
        }
    }

    /// Words with commas between, as many on a line as fit.
    fn filled(&mut self, tree: &Tree) -> Doc {
        let mut inner: Vec<Tree> = tree.clone().into_inner().collect();
        if let [open, names, close] = inner.as_slice()
            && names.as_rule() == Rule::names
        {
            inner = [vec![open.clone()], names.clone().into_inner().collect(), vec![close.clone()]].concat();
        }
        let [open, between @ .., close] = inner.as_slice() else { return self.words(tree) };
        let space = if tree.as_rule() == Rule::anchors { "" } else { " " };
        let open = self.tree(open);
        let elements = self.separated(between, Doc::Fill);
        let (inside, close) = self.closed(elements, close);
        match inside {
            Some(inside) => {
                group(concat([open, nest(concat([Doc::Line(space), inside])), Doc::Line(space), close]))
            }
            None => concat([open, close]),
        }
    }

    /// What stands before a closing bracket, comments included, and the bracket.
    fn closed(&mut self, elements: Option<Doc>, close: &Tree) -> (Option<Doc>, Doc) {
        let comments = self.weave.comments_inside(close);
        let close = self.tree(close);
        let inside = match (elements, comments) {
            (Some(elements), Some(comments)) => Some(concat([elements, comments])),
            (elements, comments) => elements.or(comments),
        };
        (inside, close)
    }

    /// Elements with commas between; `None` if there is none.
    pub fn separated(&mut self, inner: &[Tree], line: Doc) -> Option<Doc> {
        let last = inner.iter().rposition(|part| part.as_rule() != Rule::comma)?;
        let mut parts = Vec::new();
        for (at, part) in inner.iter().enumerate() {
            match part.as_rule() {
                Rule::comma if at > last => parts.push(self.weave.drop_token(part)),
                Rule::comma => parts.extend([self.tree(part), line.clone()]),
                _ => parts.push(self.tree(part)),
            }
        }
        Some(Doc::Concat(parts))
    }

    /// `if a then b else if c then d else e`, broken before each `else`. What is broken before a `then` is indented,
    /// and so is what does not begin a line.
    pub fn if_expr(&mut self, tree: &Tree, begins_line: bool) -> Doc {
        let mut arms: Vec<(Doc, Doc)> = Vec::new();
        let mut broken = false;
        let mut broken_then = false;
        let mut head = nil();
        let mut last = nil();
        let mut next = Some(tree.clone());
        while let Some(tree) = next.take() {
            let inner: Vec<Tree> = tree.into_inner().collect();
            let [kw_if, condition, kw_then, then, kw_else, otherwise] = inner.as_slice() else { break };
            broken_then |= self.weave.line_before(kw_then);
            let question = concat([head, self.tree(kw_if), text(" "), self.tree(condition)]);
            arms.push((question, concat([self.tree(kw_then), text(" "), self.tree(then)])));
            broken |= self.weave.line_before(kw_else);
            head = concat([self.tree(kw_else), text(" ")]);
            match lone(otherwise, Rule::if_expr) {
                Some(chained) => next = Some(chained),
                None => last = concat([std::mem::replace(&mut head, nil()), self.tree(otherwise)]),
            }
        }
        broken_then |= arms.iter().any(|(question, answer)| width(question) + width(answer) > ROOM);
        let mut lines = Vec::new();
        for (at, (question, answer)) in arms.into_iter().enumerate() {
            lines.extend((at > 0).then_some(Doc::Line(" ")));
            let answer = if broken_then {
                nest(concat([Doc::Line(" "), answer]))
            } else {
                concat([text(" "), answer])
            };
            lines.extend([question, answer]);
        }
        let last = concat([Doc::Line(" "), last]);
        let lines = Doc::Concat(lines);
        group_if(
            broken || broken_then,
            match (begins_line, broken_then) {
                (true, false) => concat([lines, last]),
                (true, true) => concat([lines, nest(last)]),
                (false, _) => nest(concat([lines, last])),
            },
        )
    }

    /// `all x in xs: condition`.
    fn quantifier(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let [of, list, colon, condition] = inner.as_slice() else { return self.words(tree) };
        let head = concat([self.tree(of), text(" "), self.tree(list), self.tree(colon)]);
        let body = self.tree(condition);
        concat([head, nest(group(concat([Doc::Line(" "), body])))])
    }

    /// `{ let x = a  y }`.
    fn block_expr(&mut self, tree: &Tree) -> Doc {
        let mut inner = tree.clone().into_inner();
        let Some(start) = inner.next() else { return nil() };
        let parts: Vec<Tree> = inner.collect();
        let Some((close, parts)) = parts.split_last() else { return nil() };
        let brace = self.words(&start);
        let broken = parts.first().is_some_and(|first| self.weave.line_before(first));
        let mut lines: Vec<Doc> = Vec::new();
        let mut separator = "; ";
        for (at, part) in parts.iter().enumerate() {
            if matches!(part.as_rule(), Rule::semi | Rule::comma) {
                // A `-` would go on with the value before it.
                let keep = parts.get(at + 1).is_some_and(begins_with_minus);
                lines.push(if keep { self.tree(part) } else { self.weave.drop_token(part) });
                separator = if keep { " " } else { "; " };
                continue;
            }
            if !lines.is_empty() {
                let blank = self.weave.blank_before(part);
                lines.push(if blank { Doc::Hard { blank: true } } else { Doc::Line(separator) });
            }
            lines.push(self.tree(part));
            separator = "; ";
        }
        lines.extend(self.weave.comments_inside(close));
        let inside = concat([Doc::Line(" "), Doc::Concat(lines)]);
        group_if(broken, concat([brace, nest(inside), Doc::Line(" "), self.tree(close)]))
    }

    /// `first { … }` and `match x { … }`: cases in columns, or on one line if they were written so and fit.
    fn cases(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let Some(open) = inner.iter().position(|part| part.as_rule() == Rule::lbrace) else {
            return self.words(tree);
        };
        let (head, rest) = inner.split_at(open + 1);
        let Some((close, cases)) = rest.split_last() else { return self.words(tree) };
        let head = self.words_of(tree.as_rule(), head);
        let broken = cases.first().is_some_and(|first| self.weave.line_before(first));
        let rows = self.rows(cases, Printer::case);
        self.in_braces(head, rows, broken, close)
    }

    pub fn case(&mut self, tree: &Tree) -> Row {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let Some(at) = inner.iter().position(|part| part.as_rule() == Rule::arrow) else {
            return Row::of(self.words(tree));
        };
        let (left, right) = inner.split_at(at);
        let (name, left) = match left {
            [name, rest @ ..] if name.as_rule() == Rule::case_name => {
                let inner: Vec<Tree> = name.clone().into_inner().collect();
                let colon = inner.get(1).map(|colon| concat([self.tree(colon), text(" ")]));
                (inner.first().map(|name| self.tree(name)).zip(colon), rest)
            }
            all => (None, all),
        };
        let left = self.words_of(tree.as_rule(), left);
        let mut parts = Vec::new();
        for part in right {
            match part.as_rule() {
                Rule::comma => parts.push(self.weave.drop_token(part)),
                Rule::arrow => parts.extend([self.tree(part), text(" ")]),
                _ => parts.push(self.tree(part)),
            }
        }
        match name {
            Some((name, colon)) => Row::named(name, concat([colon, left]), Doc::Concat(parts)),
            None => Row::two(left, Doc::Concat(parts)),
        }
    }
    /// Clauses at the end of a statement, each on a line of its own if they do not fit.
    fn with_clauses(&mut self, tree: &Tree) -> Doc {
        let mut parts = Vec::new();
        let mut before: Option<Rule> = None;
        for part in tree.clone().into_inner() {
            let rule = part.as_rule();
            if let Some(before) = before {
                let clause = matches!(rule, Rule::because | Rule::help | Rule::level | Rule::answered_by);
                parts.push(match clause {
                    true => Doc::Line(" "),
                    false if spaced(tree.as_rule(), before, rule) => text(" "),
                    false => nil(),
                });
            }
            parts.push(self.tree(&part));
            before = Some(rule);
        }
        group(nest(Doc::Concat(parts)))
    }

    /// `{ inputs = k  outputs = k }`.
    fn fields(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let [open, fields @ .., close] = inner.as_slice() else { return self.words(tree) };
        let broken = fields.first().is_some_and(|first| self.weave.line_before(first));
        let head = self.tree(open);
        let rows: Vec<Row> = self.rows(fields, |printer, field| Row::of(printer.words(field)));
        self.in_braces(head, rows, broken, close)
    }

    /// A role of a checker, `name: MARK or MARK`.
    fn role(&mut self, tree: &Tree) -> Doc {
        let mut parts = Vec::new();
        for part in tree.clone().into_inner() {
            match part.as_rule() {
                Rule::kw_or => parts.extend([Doc::Fill, self.tree(&part), text(" ")]),
                Rule::colon => parts.extend([self.tree(&part), text(" ")]),
                _ => parts.push(self.tree(&part)),
            }
        }
        nest(Doc::Concat(parts))
    }

    /// `for n: Node in list where condition`.
    fn subject(&mut self, tree: &Tree) -> Doc {
        let mut parts = Vec::new();
        for (at, part) in tree.clone().into_inner().enumerate() {
            if at > 0 {
                parts.push(if part.as_rule() == Rule::condition { Doc::Line(" ") } else { text(" ") });
            }
            parts.push(self.tree(&part));
        }
        group(nest(Doc::Concat(parts)))
    }

    /// The graph of a test as it was written, moved to where it stands now.
    fn raw_graph(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let [open, raw, close] = inner.as_slice() else { return self.words(tree) };
        let open = self.tree(open);
        let graph = raw.as_str();
        self.weave.pass_over(raw.as_span().end());
        if !graph.contains('\n') {
            let graph = graph.trim();
            let inside = if graph.is_empty() { text(" ") } else { text(format!(" {graph} ")) };
            return concat([open, inside, self.tree(close)]);
        }
        let mut lines: Vec<&str> = graph.lines().map(str::trim_end).collect();
        // Words behind the brace stand further right than they mean.
        let first = lines.remove(0).trim_start();
        let margin = lines
            .iter()
            .filter(|line| !line.is_empty())
            .map(|line| line.len() - line.trim_start().len())
            .min();
        let rest = lines.iter().map(|line| line.get(margin.unwrap_or(0)..).unwrap_or(""));
        let mut parts = Vec::new();
        let mut blank = false;
        for line in std::iter::once(first).chain(rest) {
            if line.is_empty() {
                blank = true;
                continue;
            }
            parts.push(Doc::Hard { blank: std::mem::take(&mut blank) });
            parts.push(text(line));
        }
        concat([open, nest(Doc::Concat(parts)), Doc::Hard { blank: false }, self.tree(close)])
    }
}

fn operator(part: &Tree) -> Option<Rule> {
    match part.as_rule() {
        Rule::is_test => Some(Rule::is_test),
        Rule::infix => only(part).map(|inner| inner.as_rule()),
        _ => None,
    }
}

/// Whether the first word is a `-`, which would go on with an expression before it.
pub fn begins_with_minus(tree: &Tree) -> bool {
    let mut first = tree.clone();
    while let Some(inner) = only(&first) {
        first = inner;
    }
    first.as_rule() == Rule::minus
}

/// Whether an expression takes care of its own lines, in brackets: it may begin anywhere.
pub fn has_brackets(tree: &Tree) -> bool {
    let bracketed = [Rule::first_expr, Rule::match_expr, Rule::block_expr, Rule::list];
    bracketed.iter().any(|rule| lone(tree, *rule).is_some())
}

/// Whether a space stands between two parts.
fn spaced(parent: Rule, before: Rule, next: Rule) -> bool {
    match parent {
        Rule::anchor | Rule::list_type | Rule::list_open | Rule::ty => return false,
        Rule::matrix_item if next == Rule::lparen => return false,
        _ => {}
    }
    let opens = matches!(before, Rule::lparen | Rule::lbracket | Rule::minus | Rule::dot | Rule::list_open);
    let closes = matches!(
        next,
        Rule::comma
            | Rule::colon
            | Rule::semi
            | Rule::rparen
            | Rule::rbracket
            | Rule::question
            | Rule::dot
            | Rule::access
            | Rule::args
            | Rule::index
            | Rule::attr_name
            | Rule::mark_name
            | Rule::params
            | Rule::one_param
            | Rule::symbols_args
            | Rule::conflicts_args
    );
    !opens && !closes
}
