//! Statements in braces.

use super::doc::{Doc, concat, group, group_if, nest, text};
use super::expr::Printer;
use crate::lang::syntax::build::{Rule, Tree, children};

impl Printer<'_> {
    /// `{ … }`: one statement may stand on the line of its braces if it was written so.
    pub fn body(&mut self, tree: &Tree) -> Doc {
        let broken = self.body_is_broken(tree);
        let parts = self.body_parts(tree);
        group_if(broken, parts)
    }

    /// A body that always takes its lines.
    pub fn open_body(&mut self, tree: &Tree) -> Doc {
        let parts = self.body_parts(tree);
        group_if(true, parts)
    }

    /// Whether the author broke it, or it has more than one statement.
    fn body_is_broken(&self, tree: &Tree) -> bool {
        let mut statements = children(tree, Rule::statement);
        let first = statements.next().is_some_and(|first| self.weave.line_before(&first));
        first || statements.next().is_some()
    }

    /// The braces and what is between, to be put into a group.
    fn body_parts(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let [open, parts @ .., close] = inner.as_slice() else { return self.words(tree) };
        let open = self.tree(open);
        let mut lines: Vec<Doc> = Vec::new();
        let mut first = true;
        for part in parts {
            if part.as_rule() == Rule::semi {
                lines.push(self.weave.drop_token(part));
                continue;
            }
            if !std::mem::take(&mut first) {
                lines.push(Doc::Hard { blank: self.weave.blank_before(part) });
            }
            lines.push(self.tree(part));
        }
        lines.extend(self.weave.comments_inside(close));
        let close = self.tree(close);
        if lines.is_empty() {
            return concat([open, text(" "), close]);
        }
        concat([open, nest(concat([Doc::Line(" "), Doc::Concat(lines)])), Doc::Line(" "), close])
    }

    /// All branches on one line, or none.
    pub fn if_statement(&mut self, tree: &Tree) -> Doc {
        let mut broken = false;
        let mut parts = Vec::new();
        for part in tree.clone().into_inner() {
            if !parts.is_empty() {
                parts.push(text(" "));
            }
            match part.as_rule() {
                Rule::if_arm => {
                    let inner: Vec<Tree> = part.clone().into_inner().collect();
                    let [kw_if, condition, body] = inner.as_slice() else { continue };
                    parts.push(group(concat([self.tree(kw_if), text(" "), self.tree(condition)])));
                    broken |= self.body_is_broken(body);
                    parts.extend([text(" "), self.body_parts(body)]);
                }
                Rule::body => {
                    broken |= self.body_is_broken(&part);
                    parts.push(self.body_parts(&part));
                }
                _ => parts.push(self.tree(&part)),
            }
        }
        group_if(broken, Doc::Concat(parts))
    }

    pub fn for_statement(&mut self, tree: &Tree) -> Doc {
        let inner: Vec<Tree> = tree.clone().into_inner().collect();
        let Some((body, head)) = inner.split_last() else { return self.words(tree) };
        let mut parts = Vec::new();
        for (at, part) in head.iter().enumerate() {
            if at > 0 {
                parts.push(if part.as_rule() == Rule::condition { Doc::Line(" ") } else { text(" ") });
            }
            parts.push(self.tree(part));
        }
        concat([group(nest(Doc::Concat(parts))), text(" "), self.body(body)])
    }
}
