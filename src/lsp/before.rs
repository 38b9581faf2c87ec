//! The words that stand before a place in an item.
//!
//! Promise: only words are looked at, so that an item that is half written tells as much as a whole one.

use crate::lang::syntax::scan::Token;

/// The words before a place.
pub struct Before<'t> {
    pub text: &'t str,
    pub tokens: Vec<Token>,
}

impl<'t> Before<'t> {
    /// The `n`th word before the place, 0 being the last.
    pub fn back(&self, n: usize) -> &'t str {
        let at = self.tokens.len().checked_sub(n + 1);
        at.and_then(|at| self.tokens.get(at)).map_or("", |token| token.text(self.text))
    }

    /// The `n`th word of the item.
    pub fn word(&self, n: usize) -> &'t str {
        self.tokens.get(n).map_or("", |token| token.text(self.text))
    }

    /// Whether the `in` before the place gives a name to what is in something, and asks nothing.
    pub fn binds(&self) -> bool {
        const BINDERS: [&str; 8] = ["all", "any", "count", "find", "for", "sweep", "track", "resolve"];
        // A subject has its type there: `for NAME: TYPE in`.
        BINDERS.contains(&self.back(2)) || self.back(2) == ":" && self.back(4) == "for"
    }

    pub fn has(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| token.text(self.text) == word)
    }

    /// The words before each brace that is open here.
    pub fn open_braces(&self) -> Vec<&'t str> {
        let mut open = Vec::new();
        for (at, token) in self.tokens.iter().enumerate() {
            match token.text(self.text) {
                "{" => open.push(
                    at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or("", |t| t.text(self.text)),
                ),
                "}" => {
                    open.pop();
                }
                _ => {}
            }
        }
        open
    }

    /// Whether the place is between the braces of a node of a graph, where its attributes are.
    pub fn in_attributes(&self) -> bool {
        let mut open = Vec::new();
        for (at, token) in self.tokens.iter().enumerate() {
            let back = |n: usize| {
                at.checked_sub(n).and_then(|at| self.tokens.get(at)).map_or("", |token| token.text(self.text))
            };
            match token.text(self.text) {
                // Behind the type of a node, its inputs, or an edge; a graph has its keyword or its name there.
                "{" => open.push(back(1) == ")" || matches!(back(2), ":" | "^")),
                "}" => {
                    open.pop();
                }
                _ => {}
            }
        }
        open.last() == Some(&true)
    }
}
