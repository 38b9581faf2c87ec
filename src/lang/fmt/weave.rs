//! Tokens of an item on their way to the page, with the comments between them.
//!
//! Promise: every comment of the item goes with the token behind it, or before it on its line; none is lost as long
//! as every token is asked for, in order. Tokens that are left out (separators) hand on their comments.

use super::doc::{Doc, concat, text};
use crate::lang::syntax::ast::Span;
use crate::lang::syntax::build::{Tree, word};
use crate::lang::syntax::scan;

pub struct Weave<'a> {
    text: &'a str,
    comments: Vec<Span>,
    /// The first comment that has not been placed.
    next: usize,
    /// Where the last token or comment ended.
    end: usize,
}

impl<'a> Weave<'a> {
    /// `item`: the text of one item that parses.
    pub fn new(item: &'a str) -> Weave<'a> {
        Weave { text: item, comments: scan::comments(item), next: 0, end: 0 }
    }

    /// A token with the comments before it and the one behind it on its line.
    pub fn token(&mut self, tree: &Tree) -> Doc {
        let start = tree.as_span().start();
        let word = word(tree);
        let before = self.comments_before(start);
        self.end = start + word.len();
        concat([before, text(word), self.behind()])
    }

    /// The comments of a token that is not written.
    pub fn drop_token(&mut self, tree: &Tree) -> Doc {
        let start = tree.as_span().start();
        let before = self.comments_before(start);
        self.end = start + word(tree).len();
        concat([before, self.behind()])
    }

    /// A stretch of text that looks after itself, comments included, between `{` and `}`.
    pub fn pass_over(&mut self, end: usize) {
        self.end = end;
        while self.comments.get(self.next).is_some_and(|comment| (comment.start as usize) < end) {
            self.next += 1;
        }
    }

    /// The comments on lines of their own up to `start`.
    pub fn comments_before(&mut self, start: usize) -> Doc {
        let mut before = Vec::new();
        while let Some(comment) =
            self.comments.get(self.next).filter(|comment| (comment.start as usize) < start)
        {
            let blank = self.lines_to(comment.start as usize) > 1;
            self.next += 1;
            self.end = comment.end as usize;
            let last = self.comments.get(self.next).is_none_or(|next| next.start as usize >= start);
            let gap = last && self.lines_to(start) > 1;
            let text = scan::slice(self.text, *comment).trim_end().to_owned();
            before.push(Doc::Above { text, blank, gap });
        }
        Doc::Concat(before)
    }

    /// The comments before a closing bracket, on lines of their own; `None` if there is none.
    pub fn comments_inside(&mut self, close: &Tree) -> Option<Doc> {
        match self.comments_before(close.as_span().start()) {
            Doc::Concat(all) if all.is_empty() => None,
            comments => Some(concat([Doc::Hard { blank: false }, comments])),
        }
    }

    fn behind(&mut self) -> Doc {
        let comment = self.comments.get(self.next).copied();
        match comment
            .filter(|comment| self.between(comment.start as usize).trim_matches([' ', '\t']).is_empty())
        {
            Some(comment) => {
                self.next += 1;
                self.end = comment.end as usize;
                Doc::Behind(scan::slice(self.text, comment).trim_end().to_owned())
            }
            None => Doc::Concat(Vec::new()),
        }
    }

    /// Whether the author left an empty line before what comes next, comments included.
    pub fn blank_before(&self, tree: &Tree) -> bool {
        let start = tree.as_span().start();
        let first = self.comments.get(self.next).map_or(start, |comment| start.min(comment.start as usize));
        self.lines_to(first) > 1
    }

    /// Whether the author began a new line here.
    pub fn line_before(&self, tree: &Tree) -> bool {
        let before = self.text.get(..tree.as_span().start()).unwrap_or("");
        before.trim_end().len() < before.trim_end_matches([' ', '\t']).len()
    }

    fn lines_to(&self, at: usize) -> usize {
        self.between(at).bytes().filter(|byte| *byte == b'\n').count()
    }

    fn between(&self, at: usize) -> &'a str {
        self.text.get(self.end..at).unwrap_or("")
    }
}
