//! Tests: what to run, the graph to run it on, and what to expect.

use super::ast::{AnchorName, Expect, ExpectKind, ExpectedAmount, Raw, Test};
use super::build::{Builder, Rule, Tree, child, children, has};
use super::statements::position_of;
use crate::graph::Sym;

impl Builder {
    pub fn test(&mut self, tree: &Tree) -> Option<Test> {
        let passes = child(tree, Rule::test_for).map(|passes| self.names_in(&passes, Rule::name));
        let mut test = Test {
            passes: passes.unwrap_or_default(),
            options: Vec::new(),
            on: None,
            twice: has(tree, Rule::twice),
            graph: None,
            expects: Vec::new(),
        };
        for on in children(tree, Rule::on) {
            let mut name = self.name(&on.clone().into_inner().nth(1)?);
            if let Some(string) = child(&on, Rule::string) {
                name.text = Sym::new(&self.string(&string));
            }
            test.on = Some(name);
        }
        for option in children(tree, Rule::test_option) {
            test.options.push((self.name_in(&option, Rule::dotted)?, self.expr_in(&option, Rule::expr)?));
        }
        for graph in children(tree, Rule::test_graph) {
            let raw = self.raw(&graph)?;
            if let Some(first) = test.graph.replace(raw) {
                let span = self.span(&graph);
                let error = self.error("syntax::twice", span, "a test has one graph");
                *error = error.clone().also(first.span, "first here");
            }
        }
        let expects: Vec<Option<Expect>> =
            children(tree, Rule::expect).map(|expect| self.expect(&expect)).collect();
        test.expects = expects.into_iter().collect::<Option<_>>()?;
        Some(test)
    }

    fn raw(&self, tree: &Tree) -> Option<Raw> {
        let raw = child(&child(tree, Rule::raw_graph)?, Rule::raw)?;
        Some(Raw { text: raw.as_str().to_owned(), span: self.span(&raw) })
    }

    fn expect(&mut self, tree: &Tree) -> Option<Expect> {
        let inner = tree.clone().into_inner().nth(1)?;
        let kind = match inner.as_rule() {
            Rule::nothing => ExpectKind::Nothing,
            Rule::expect_insert => self.expect_insert(&inner)?,
            Rule::expect_edge | Rule::expect_control | Rule::expect_warn => self.presence(&inner, true)?,
            Rule::expect_no => self.presence(&inner.into_inner().nth(1)?, false)?,
            Rule::expect_error => ExpectKind::Error(self.string(&child(&inner, Rule::string)?)),
            Rule::expect_kept => {
                let step = child(&inner, Rule::by).and_then(|by| self.name_in(&by, Rule::dotted));
                ExpectKind::Kept { node: self.node(&inner)?, step }
            }
            Rule::expect_done => ExpectKind::Done { node: self.node(&inner)? },
            Rule::expect_measure => self.expect_measure(&inner)?,
            Rule::expect_graph => ExpectKind::Graph(self.raw(&inner)?),
            Rule::expect_that => ExpectKind::That(self.expr_in(&inner, Rule::expr)?),
            _ => return None,
        };
        Some(Expect { span: self.span(tree), kind })
    }

    fn expect_insert(&mut self, tree: &Tree) -> Option<ExpectKind> {
        let position = position_of(&child(tree, Rule::position)?);
        let listed = child(tree, Rule::anchors);
        let anchors = self.anchors(listed.as_ref().unwrap_or(tree))?;
        let by = child(tree, Rule::by).and_then(|by| self.name_in(&by, Rule::dotted));
        let named = child(tree, Rule::expect_named)
            .and_then(|named| child(&named, Rule::string))
            .map(|string| self.string(&string));
        Some(ExpectKind::Insert { position, anchors, by, named })
    }

    fn expect_measure(&mut self, tree: &Tree) -> Option<ExpectKind> {
        let mut amounts = Vec::new();
        for amount in children(tree, Rule::amount) {
            let unknown = child(&amount, Rule::unknown).and_then(|unknown| child(&unknown, Rule::int));
            amounts.push(ExpectedAmount {
                sum: self.integer(&child(&amount, Rule::int)?, false),
                unknown: unknown.map_or(0, |unknown| self.integer(&unknown, false)),
            });
        }
        let after = amounts.pop()?;
        Some(ExpectKind::Measure { name: self.name_in(tree, Rule::name)?, before: amounts.pop(), after })
    }

    /// What may be expected to be absent as well.
    fn presence(&mut self, tree: &Tree, present: bool) -> Option<ExpectKind> {
        if tree.as_rule() == Rule::expect_warn {
            let part = child(tree, Rule::string).map(|part| self.string(&part));
            return Some(ExpectKind::Warn { present, code: self.name_in(tree, Rule::name)?, part });
        }
        if tree.as_rule() == Rule::expect_edge {
            let [from, to] = <[AnchorName; 2]>::try_from(self.anchors(tree)?).ok()?;
            return Some(ExpectKind::Edge { present, from, to });
        }
        let nodes: Vec<String> =
            children(tree, Rule::node_name).filter_map(|node| self.node_name(&node)).collect();
        let [from, to] = <[String; 2]>::try_from(nodes).ok()?;
        Some(ExpectKind::Control { present, from, to })
    }

    /// The anchors among the children of `tree`.
    fn anchors(&mut self, tree: &Tree) -> Option<Vec<AnchorName>> {
        let mut anchors = Vec::new();
        for anchor in children(tree, Rule::anchor) {
            let number = child(&anchor, Rule::int)?;
            let index = self.integer(&number, false);
            let index = u32::try_from(index).unwrap_or_else(|_| {
                let span = self.span(&number);
                self.error("syntax::number", span, format!("`{index}` is no index of an anchor"));
                0
            });
            anchors.push(AnchorName { node: self.node(&anchor)?, index, span: self.span(&anchor) });
        }
        Some(anchors)
    }

    fn node(&mut self, tree: &Tree) -> Option<String> {
        self.node_name(&child(tree, Rule::node_name)?)
    }

    fn node_name(&mut self, tree: &Tree) -> Option<String> {
        match child(tree, Rule::string) {
            Some(string) => Some(self.string(&string)),
            None => Some(child(tree, Rule::node_word)?.as_str().to_owned()),
        }
    }
}
