//! Conditions as formulas: what follows from what.
//!
//! Promise: an answer is a proof from the text alone; "no" means not proved. Two tests of one thing are compared by
//! the constants they name, everything else by its words. Words that change what they are asked of (`counter`) prove
//! nothing.

use std::collections::BTreeSet;

use super::names::Names;
use crate::lang::syntax::build::{Rule, Tree, only, word};

/// A condition in negation normal form.
#[derive(Clone, Debug, PartialEq)]
pub enum Cond {
    And(Vec<Cond>),
    Or(Vec<Cond>),
    Test(Test),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// The words of what is tested.
    subject: String,
    what: What,
    negated: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// Is one of these constants.
    In(BTreeSet<String>),
    IsNone,
    /// Holds, whatever the subject says.
    Plain,
    /// Nothing is known.
    Fresh,
}

/// Formulas with more tests than this are not looked at.
pub const MOST_TESTS: usize = 48;

/// The formula of an expression.
pub fn cond(tree: &Tree, names: &Names) -> Cond {
    match tree.as_rule() {
        Rule::simple => pieces(&tree.clone().into_inner().collect::<Vec<_>>(), names),
        Rule::operand => operand(tree, names),
        _ => match lone_inner(tree) {
            Some(inner) => cond(&inner, names),
            None => plain(&words(tree)),
        },
    }
}

/// Operands and operators of one level of brackets.
pub fn pieces(parts: &[Tree], names: &Names) -> Cond {
    for (rule, make) in [(Rule::kw_or, Cond::Or as fn(Vec<Cond>) -> Cond), (Rule::kw_and, Cond::And)] {
        let split = split(parts, rule);
        if split.len() > 1 {
            return make(split.into_iter().map(|piece| pieces(piece, names)).collect());
        }
    }
    match parts {
        [one] => cond(one, names),
        [first, rest @ ..] => {
            // `not` is looser than comparisons.
            let inner: Vec<Tree> = first.clone().into_inner().collect();
            let nots = inner.iter().take_while(|part| part.as_rule() == Rule::kw_not).count();
            let subject: Vec<String> = inner.get(nots..).unwrap_or(&[]).iter().map(words).collect();
            let test = comparison(&subject.join(" "), rest, names);
            if nots % 2 == 1 { not(test) } else { test }
        }
        [] => plain(""),
    }
}

/// The runs between operators of one kind.
pub fn split<'s, 'a>(parts: &'s [Tree<'a>], rule: Rule) -> Vec<&'s [Tree<'a>]> {
    parts
        .split(|part| part.as_rule() == Rule::infix && only(part).is_some_and(|op| op.as_rule() == rule))
        .collect()
}

fn operand(tree: &Tree, names: &Names) -> Cond {
    let inner: Vec<Tree> = tree.clone().into_inner().collect();
    let nots = inner.iter().take_while(|part| part.as_rule() == Rule::kw_not).count();
    let cond = match inner.get(nots..) {
        Some([postfix]) => cond(postfix, names),
        rest => plain(&rest.unwrap_or(&[]).iter().map(words).collect::<Vec<_>>().join(" ")),
    };
    if nots % 2 == 1 { not(cond) } else { cond }
}

/// The one tree that this tree is about, brackets aside.
fn lone_inner<'a>(tree: &Tree<'a>) -> Option<Tree<'a>> {
    let mut inner = tree.clone().into_inner();
    match (tree.as_rule(), inner.next(), inner.next(), inner.next()) {
        (Rule::expr | Rule::postfix | Rule::open_end | Rule::primary, Some(one), None, None) => Some(one),
        (Rule::paren, Some(_), Some(one), Some(_)) => Some(one),
        _ => None,
    }
}

fn comparison(subject: &str, rest: &[Tree], names: &Names) -> Cond {
    let whole = || plain(&format!("{subject} {}", rest.iter().map(words).collect::<Vec<_>>().join(" ")));
    let test = |what, negated| Cond::Test(Test { subject: subject.to_owned(), what, negated });
    match rest {
        [is] if is.as_rule() == Rule::is_test => {
            test(What::IsNone, is.clone().into_inner().any(|word| word.as_rule() == Rule::kw_some))
        }
        [operator, value] => {
            let Some(operator) = only(operator).map(|operator| operator.as_rule()) else { return whole() };
            let (values, negated) = match operator {
                Rule::eq | Rule::ne => {
                    (names.constant(value).map(|one| BTreeSet::from([one])), operator == Rule::ne)
                }
                Rule::kw_in | Rule::not_in => (names.constants(value), operator == Rule::not_in),
                _ => return whole(),
            };
            match (values, operator) {
                (Some(values), _) if is_pure(subject) => test(What::In(values), negated),
                (_, Rule::ne | Rule::not_in) => {
                    let sign = if operator == Rule::ne { "==" } else { "in" };
                    not(plain(&format!("{subject} {sign} {}", words(value))))
                }
                (_, Rule::eq) => plain(&format!("{subject} == {}", words(value))),
                _ => plain(&format!("{subject} in {}", words(value))),
            }
        }
        _ => whole(),
    }
}

fn is_pure(words: &str) -> bool {
    !words.contains("counter (")
}

fn plain(words: &str) -> Cond {
    let what = if is_pure(words) { What::Plain } else { What::Fresh };
    Cond::Test(Test { subject: words.to_owned(), what, negated: false })
}

/// The words of a tree, one space between.
pub fn words(tree: &Tree) -> String {
    let mut out = String::new();
    collect(tree, &mut out);
    out
}

fn collect(tree: &Tree, out: &mut String) {
    let mut inner = tree.clone().into_inner().peekable();
    if inner.peek().is_none() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word(tree));
    }
    for part in inner {
        collect(&part, out);
    }
}

/// The opposite.
pub fn not(cond: Cond) -> Cond {
    match cond {
        Cond::And(parts) => Cond::Or(parts.into_iter().map(not).collect()),
        Cond::Or(parts) => Cond::And(parts.into_iter().map(not).collect()),
        Cond::Test(test) => Cond::Test(Test { negated: !test.negated, ..test }),
    }
}

impl Cond {
    pub fn tests(&self) -> usize {
        match self {
            Cond::And(parts) | Cond::Or(parts) => parts.iter().map(Cond::tests).sum(),
            Cond::Test(_) => 1,
        }
    }

    /// Whether it only asks if there is a value: such tests tell the checker of types something, so none is idle.
    pub fn asks_for_none(&self) -> bool {
        matches!(self, Cond::Test(test) if test.what == What::IsNone)
    }
}

/// Whether `b` holds wherever `a` does.
pub fn implies(a: &Cond, b: &Cond) -> bool {
    match (a, b) {
        (_, Cond::And(parts)) => parts.iter().all(|b| implies(a, b)),
        (Cond::Or(parts), _) => parts.iter().all(|a| implies(a, b)),
        (Cond::And(parts), _) if parts.iter().any(|a| implies(a, b)) => true,
        (Cond::Test(test), Cond::Or(parts)) if test.is_among(parts) => true,
        (_, Cond::Or(parts)) => parts.iter().any(|b| implies(a, b)),
        (Cond::And(_), _) => false,
        (Cond::Test(a), Cond::Test(b)) => a.implies(b),
    }
}

/// Whether the conditions can't hold together; `universe` gives all values of a subject, where they are known.
pub fn contradict(parts: &[Cond], universe: &dyn Fn(&str) -> Option<BTreeSet<String>>) -> bool {
    let tests: Vec<&Test> = parts.iter().flat_map(conjuncts).collect();
    let opposed = tests.iter().enumerate().any(|(at, a)| {
        let is_against = |b: &&Test| a.implies(&Test { negated: !b.negated, ..(*b).clone() });
        tests[at + 1..].iter().any(is_against)
    });
    opposed
        || tests
            .iter()
            .any(|test| matches!(&test.what, What::In(values) if values.is_empty() && !test.negated))
        || tests.iter().any(|test| {
            let Some(mut left) = universe(&test.subject) else { return false };
            for other in tests.iter().filter(|other| other.subject == test.subject) {
                if let What::In(values) = &other.what {
                    left.retain(|value| values.contains(value) != other.negated);
                }
            }
            left.is_empty()
        })
}

fn conjuncts(cond: &Cond) -> Vec<&Test> {
    match cond {
        Cond::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        Cond::Or(_) => Vec::new(),
        Cond::Test(test) => vec![test],
    }
}

impl Test {
    /// Whether each of its values is one that some of the alternatives asks for.
    fn is_among(&self, alternatives: &[Cond]) -> bool {
        let What::In(values) = &self.what else { return false };
        let asked = alternatives.iter().filter_map(|cond| match cond {
            Cond::Test(Test { subject, what: What::In(values), negated: false })
                if *subject == self.subject =>
            {
                Some(values)
            }
            _ => None,
        });
        let asked: BTreeSet<&String> = asked.flatten().collect();
        !self.negated && values.iter().all(|value| asked.contains(value))
    }

    fn implies(&self, other: &Test) -> bool {
        if self.what == What::Fresh || self.subject != other.subject {
            return false;
        }
        match (&self.what, &other.what) {
            (What::In(a), What::In(b)) => match (self.negated, other.negated) {
                (false, false) => a.is_subset(b),
                (false, true) => a.is_disjoint(b),
                (true, true) => b.is_subset(a),
                (true, false) => false,
            },
            // A value that is one of some constants is there.
            (What::In(_), What::IsNone) => !self.negated && other.negated,
            (What::IsNone, What::In(_)) => !self.negated && other.negated,
            (a, b) => a == b && self.negated == other.negated,
        }
    }
}
