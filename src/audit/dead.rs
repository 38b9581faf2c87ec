//! Conditions that can never hold, or never fail: cases, steps and entries that no graph reaches.
//!
//! Promise: what is told here is proved (see [`solve`](super::solve)) for every graph and every value of the options; much that
//! never happens is not told. Each entry is looked at alone, with the functions it asks.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::finding::{Finding, codes};
use super::solve::{Goal, can_hold};
use super::terms::{Frame, Term, TermId, Terms};
use super::uses::Ref;
use crate::db::{self, Db, EntryName, ItemId, RuleSet};
use crate::engine::children;
use crate::graph::Sym;
use crate::lang::facts::Fact;
use crate::lang::hir::{
    Body, Chain, ChainStep, CheckerAction, Entry, Expr, ExprId, Local, Lowered, Statement, Subject,
};
use crate::lang::syntax::ast::Kind;

/// Characters of a condition that are shown.
const SHOWN: usize = 100;

/// The text of an item, wherever it stands.
#[salsa::tracked(returns(ref))]
fn source<'db>(db: &'db dyn Db, id: ItemId<'db>) -> String {
    let parsed = db::parsed(db, id.file(db));
    parsed.items.get(id.index(db) as usize).map(|item| item.source.text.clone()).unwrap_or_default()
}

/// What of an entry never happens.
#[salsa::tracked(returns(ref))]
pub fn dead<'db>(db: &'db dyn Db, rules: RuleSet, name: EntryName<'db>) -> Arc<Vec<Finding>> {
    let keys = db::live(db, rules).keys(name.kind(db), name.name(db));
    let Some(id) = keys.first().and_then(|&key| db::find(db, rules, key)) else { return Arc::default() };
    let lowered = db::lowered(db, rules, id);
    let Some(entry) = &lowered.entry else { return Arc::default() };
    let Some(body) = entry.body() else { return Arc::default() };
    let mut scan = Scan {
        terms: Terms::new(db, rules),
        entry: Ref::new(name.kind(db), name.name(db)),
        lowered,
        source: source(db, id),
        body,
        frame: Frame::new(),
        told: FxHashSet::default(),
        found: Vec::new(),
    };
    scan.entry(entry);
    Arc::new(scan.found)
}

struct Scan<'a, 'db> {
    terms: Terms<'db>,
    entry: Ref,
    lowered: &'a Lowered,
    source: &'a str,
    body: &'a Body,
    frame: Frame,
    told: FxHashSet<ExprId>,
    found: Vec<Finding>,
}

impl Scan<'_, '_> {
    fn entry(&mut self, entry: &Entry) {
        match entry {
            Entry::Fn { value, .. } => self.visit(*value, &mut Vec::new()),
            Entry::Attribute { rule: Some((_, condition)), side } => {
                self.anchor_frame(*side == crate::lang::syntax::ast::Side::Input);
                self.condition(*condition, &mut Vec::new(), "no anchor ever carries this mark");
            }
            Entry::Skip { when, .. } => self.condition(*when, &mut Vec::new(), "no pair is ever skipped"),
            Entry::DefaultAlways { target, .. } => self.visit(*target, &mut Vec::new()),
            Entry::Checker(checker) => {
                let mut path = Vec::new();
                if let Some(when) = checker.when {
                    self.condition(when, &mut path, "the checker never finds anything");
                    path.push(Goal::holds(self.term(when)));
                }
                match &checker.action {
                    CheckerAction::Isolate { target, .. } => self.visit(*target, &mut path),
                    CheckerAction::Body(block) => self.block(block),
                }
            }
            Entry::Chain(chain) => self.chain(chain),
            Entry::Steps { steps, .. } => {
                self.steps(steps, &mut Vec::new());
            }
            Entry::Pass { subject, block, .. } | Entry::Lint { subject, block, .. } => {
                self.subject(subject.as_ref(), &mut Vec::new());
                self.block(block);
            }
            Entry::Measure { subject, value, .. } => {
                let mut path = Vec::new();
                self.subject(Some(subject), &mut path);
                value.iter().for_each(|value| self.visit(*value, &mut path));
            }
            Entry::Symbols { block, .. } | Entry::Action { block, .. } => self.block(block),
            Entry::Order { mode, first, ignore, .. } => {
                self.visit(*mode, &mut Vec::new());
                for condition in first.iter().chain(ignore) {
                    self.condition(*condition, &mut Vec::new(), "it concerns no node");
                }
            }
            Entry::Pipeline { steps, .. } => {
                for step in steps {
                    if let Some(when) = step.when {
                        let effect = format!("`{}` never runs here", step.name);
                        self.condition(when, &mut Vec::new(), &effect);
                    }
                }
            }
            Entry::Walk { steps, .. } => {
                let mut path = Vec::new();
                for (number, (condition, next)) in steps.iter().enumerate() {
                    if let Some(condition) = condition {
                        self.case(*condition, &mut path, number, None);
                        let mut here = path.clone();
                        here.push(Goal::holds(self.term(*condition)));
                        next.iter().for_each(|next| self.visit(*next, &mut here));
                        path.push(Goal::fails(self.term(*condition)));
                    } else if let Some(next) = next {
                        self.visit(*next, &mut path);
                    }
                }
            }
            _ => {}
        }
    }

    /// An attribute's frame: anchor, its node, the node's graph.
    fn anchor_frame(&mut self, is_in: bool) {
        let anchor = self.terms.make(Term::Place(0));
        let node = self.terms.fact(Fact::AnchorNode, &[anchor]);
        let graph = self.terms.fact(Fact::NodeGraph, &[node]);
        self.frame = vec![Some(anchor), Some(node), Some(graph)];
        side(&mut self.terms, anchor, is_in);
    }

    fn subject(&mut self, subject: Option<&Subject>, path: &mut Vec<Goal>) {
        let Some(subject) = subject else { return };
        subject.list.iter().for_each(|list| self.visit(*list, path));
        if let Some(condition) = subject.condition {
            self.condition(condition, path, "it concerns no node");
            path.push(Goal::holds(self.term(condition)));
        }
    }

    fn chain(&mut self, chain: &Chain) {
        let mut path = Vec::new();
        self.subject(Some(&chain.subject), &mut path);
        if self.steps(&chain.steps, &mut path) {
            self.block(&chain.then);
        }
    }

    /// Steps that run when `path` holds, and add to it; false if nothing can come after them.
    fn steps(&mut self, steps: &[ChainStep], path: &mut Vec<Goal>) -> bool {
        for step in steps {
            match step {
                ChainStep::Let { local, value } => {
                    self.visit(*value, path);
                    let term = self.term(*value);
                    self.bind(*local, Some(term));
                }
                ChainStep::Require { name, condition, .. } => {
                    let term = self.term(*condition);
                    if !self.possible(path, Goal::holds(term)) {
                        let message = format!("step `{name}` fails always: nothing gets past it");
                        self.tell(codes::DEAD, *condition, message);
                        return false;
                    }
                    if !self.possible(path, Goal::fails(term)) {
                        let message = format!("step `{name}` never fails: the steps before it see to that");
                        self.tell(codes::DEAD_CASE, *condition, message);
                    } else {
                        self.visit(*condition, path);
                    }
                    path.push(Goal::holds(term));
                }
                ChainStep::Attempt { body, .. } => self.block(body),
                ChainStep::For { local, list, steps } => {
                    self.visit(*list, path);
                    self.bind(*local, None);
                    // What holds of one element says nothing of what comes after all of them.
                    self.steps(steps, &mut path.clone());
                }
                ChainStep::Use { group, args, when } => {
                    args.iter().for_each(|arg| self.visit(*arg, path));
                    if let Some(when) = when {
                        let effect = format!("the steps `{group}` are never used here");
                        self.condition(*when, path, &effect);
                    }
                }
            }
        }
        true
    }

    /// A condition that decides whether something happens at all.
    fn condition(&mut self, condition: ExprId, path: &mut Vec<Goal>, effect: &str) {
        let term = self.term(condition);
        if !self.possible(path, Goal::holds(term)) {
            let words = self.words(condition);
            self.tell(codes::DEAD, condition, format!("`{words}` can never hold: {effect}"));
        } else {
            self.visit(condition, path);
        }
    }

    /// A case behind others, which `path` says did not hold.
    fn case(&mut self, condition: ExprId, path: &mut Vec<Goal>, number: usize, name: Option<Sym>) {
        let term = self.term(condition);
        let what = match name {
            Some(name) => format!("case `{name}`"),
            None => format!("case {}, `{}`,", number + 1, self.words(condition)),
        };
        if !self.possible(path, Goal::holds(term)) {
            let why = if can_hold(&self.terms, &[Goal::holds(term)]) {
                "whatever it covers, a case before it takes"
            } else {
                "its condition can never hold"
            };
            self.tell(codes::DEAD_CASE, condition, format!("{what} is never taken: {why}"));
        } else {
            self.visit(condition, path);
        }
    }

    /// Looks for cases inside an expression; `path` holds when it is evaluated.
    fn visit(&mut self, expr: ExprId, path: &mut Vec<Goal>) {
        let Some(node) = self.body.exprs.get(expr as usize) else { return };
        let depth = path.len();
        match node {
            Expr::First { cases, otherwise } => {
                for (number, (condition, value)) in cases.iter().enumerate() {
                    let named = self
                        .lowered
                        .names
                        .iter()
                        .find(|(at, case, _)| (*at, *case as usize) == (expr, number));
                    self.case(*condition, path, number, named.map(|(_, _, name)| *name));
                    let term = self.term(*condition);
                    path.push(Goal::holds(term));
                    self.visit(*value, path);
                    path.pop();
                    path.push(Goal::fails(term));
                }
                if let Some(otherwise) = otherwise {
                    if !cases.is_empty()
                        && !can_hold(&self.terms, path)
                        && can_hold(&self.terms, &path[..depth])
                    {
                        let message = "`else` is never taken: one of the cases before it always holds";
                        self.tell(codes::DEAD_CASE, *otherwise, message.to_owned());
                    } else {
                        self.visit(*otherwise, path);
                    }
                }
            }
            Expr::If { condition, then, otherwise } => {
                self.truth(*condition, path);
                let term = self.term(*condition);
                path.push(Goal::holds(term));
                self.visit(*then, path);
                path.pop();
                path.push(Goal::fails(term));
                self.visit(*otherwise, path);
            }
            Expr::And(..) | Expr::Or(..) | Expr::InSet { .. } | Expr::InConsts { .. } => {
                self.truth(expr, path)
            }
            Expr::Let { local, value, body } => {
                self.visit(*value, path);
                let term = self.term(*value);
                self.bind(*local, Some(term));
                self.visit(*body, path);
            }
            Expr::Quantifier { local, list, condition: inner, .. }
            | Expr::Where { local, list, condition: inner }
            | Expr::Each { local, list, value: inner, .. } => {
                self.visit(*list, path);
                self.bind(*local, None);
                self.visit(*inner, path);
            }
            _ => {
                for child in children(node) {
                    self.visit(child, path);
                }
            }
        }
        path.truncate(depth);
    }

    /// A condition that is never, or always, true; its parts if it is neither.
    fn truth(&mut self, expr: ExprId, path: &mut Vec<Goal>) {
        let term = self.term(expr);
        let words = self.words(expr);
        if !self.possible(path, Goal::holds(term)) {
            self.tell(codes::DEAD_CASE, expr, format!("`{words}` never holds here"));
        } else if !self.possible(path, Goal::fails(term)) {
            self.tell(codes::DEAD_CASE, expr, format!("`{words}` always holds here"));
        } else if let Some(Expr::And(a, b) | Expr::Or(a, b)) = self.body.exprs.get(expr as usize) {
            let is_and = matches!(self.body.exprs.get(expr as usize), Some(Expr::And(..)));
            self.visit(*a, path);
            let first = self.term(*a);
            path.push(if is_and { Goal::holds(first) } else { Goal::fails(first) });
            self.visit(*b, path);
            path.pop();
        } else if let Some(node) = self.body.exprs.get(expr as usize) {
            for child in children(node) {
                self.visit(child, path);
            }
        }
    }

    /// Statements. What one of them changes, a later one may find changed, so each is looked at alone.
    fn block(&mut self, block: &[Statement]) {
        for statement in block {
            match statement {
                Statement::Let { local, value } => {
                    self.visit(*value, &mut Vec::new());
                    self.bind(*local, None);
                }
                Statement::If { arms, otherwise } => {
                    let mut path = Vec::new();
                    for (number, (condition, block)) in arms.iter().enumerate() {
                        self.case(*condition, &mut path, number, None);
                        self.block(block);
                        path.push(Goal::fails(self.term(*condition)));
                    }
                    self.block(otherwise);
                }
                Statement::For { local, list, body } => {
                    self.visit(*list, &mut Vec::new());
                    self.bind(*local, None);
                    self.block(body);
                }
                Statement::Resolve { local, graph, body, .. } => {
                    self.visit(*graph, &mut Vec::new());
                    self.bind(*local, None);
                    self.block(body);
                }
                Statement::Sweep { local, graph, condition, body } => {
                    self.visit(*graph, &mut Vec::new());
                    self.bind(*local, None);
                    if let Some(condition) = condition {
                        self.condition(*condition, &mut Vec::new(), "it visits no node");
                    }
                    self.block(body);
                }
                Statement::Attempt { .. } | Statement::Track { .. } => {
                    statement.blocks().into_iter().for_each(|block| self.block(block));
                }
                Statement::Do { bind, args, .. } => {
                    args.iter().for_each(|arg| self.visit(*arg, &mut Vec::new()));
                    bind.iter().for_each(|local| self.bind(*local, None));
                }
                Statement::Insert(insert) => insert.bind.iter().for_each(|local| self.bind(*local, None)),
                Statement::SetAttr { value, .. }
                | Statement::SetNote { value, .. }
                | Statement::SetField { value, .. }
                | Statement::Give(value)
                | Statement::Isolate { target: value, .. } => self.visit(*value, &mut Vec::new()),
                _ => {}
            }
        }
    }

    fn bind(&mut self, local: Local, term: Option<TermId>) {
        let at = local as usize;
        if self.frame.len() <= at {
            self.frame.resize(at + 1, None);
        }
        self.frame[at] = term;
    }

    fn term(&mut self, expr: ExprId) -> TermId {
        let mut frame = self.frame.clone();
        self.terms.of(self.body, expr, &mut frame)
    }

    /// Whether `goal` can be met on the path. On a path that is impossible itself nothing is news.
    fn possible(&self, path: &[Goal], goal: Goal) -> bool {
        let mut goals = path.to_vec();
        goals.push(goal);
        can_hold(&self.terms, &goals) || !can_hold(&self.terms, path)
    }

    fn tell(&mut self, code: &'static str, at: ExprId, message: String) {
        if self.told.insert(at) {
            self.found.push(Finding::warning(code, self.entry, message));
        }
    }

    fn words(&self, expr: ExprId) -> String {
        let text = self
            .lowered
            .spans
            .get(expr as usize)
            .and_then(|span| self.source.get(span.start as usize..span.end as usize))
            .unwrap_or_default();
        let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match words.chars().count() {
            0..=SHOWN => words,
            _ => words.chars().take(SHOWN).chain(['…']).collect(),
        }
    }
}

/// Says on which side an anchor is.
pub fn side(terms: &mut Terms<'_>, anchor: TermId, is_in: bool) {
    use super::terms::Value;
    for (fact, holds) in [(Fact::AnchorIsIn, is_in), (Fact::AnchorIsOut, !is_in)] {
        let term = terms.fact(fact, &[anchor]);
        terms.domains.insert(term, vec![Value::Bool(holds)]);
    }
    let absent = if is_in { Fact::AnchorAsOutput } else { Fact::AnchorAsInput };
    let term = terms.fact(absent, &[anchor]);
    terms.domains.insert(term, vec![Value::None]);
}

/// What an entry of this kind can have that never happens.
pub fn is_scanned(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Fn
            | Kind::Attribute
            | Kind::Skip
            | Kind::DefaultAlways
            | Kind::Checker
            | Kind::Chain
            | Kind::Steps
            | Kind::Pass
            | Kind::Lint
            | Kind::Symbols
            | Kind::Action
            | Kind::Order
            | Kind::Pipeline
            | Kind::Measure
            | Kind::Walk
    )
}
