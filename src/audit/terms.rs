//! Expressions as shared terms: the same question asked twice is the same term, through functions and local names.
//!
//! Promise: two equal terms have equal values wherever they are evaluated in one state of a graph with the same places; of two
//! different terms nothing is promised. A function is replaced by what it says, as far as [`DEEPEST`] and [`MOST`] allow; beyond
//! them it is a question of its own. So what is proved of terms holds of the rules.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::db::{self, Db, EntryName, RuleSet};
use crate::graph::Sym;
use crate::lang::facts::{FACTS, Fact};
use crate::lang::hir::{Body, Compare, Const, Each, Entry, Expr, ExprId, Local};
use crate::lang::syntax::ast::{Kind, OptionType};

/// Functions inside functions that are replaced by their bodies.
const DEEPEST: usize = 10;
/// Terms of one pool.
const MOST: usize = 50_000;

pub type TermId = u32;

/// A value of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    /// By its bits.
    Float(u64),
    Str(Sym),
    /// The enum is told by what the value is compared with.
    Variant(u16),
    Mark(Sym),
}

impl Value {
    /// None for a list, which is no plain value.
    fn of(value: &Const) -> Option<Value> {
        Some(match value {
            Const::None => Value::None,
            Const::Bool(value) => Value::Bool(*value),
            Const::Int(value) => Value::Int(*value),
            Const::Float(value) => Value::Float(value.to_bits()),
            Const::Str(text) => Value::Str(*text),
            Const::Enum { variant, .. } => Value::Variant(*variant),
            Const::Mark(mark) => Value::Mark(*mark),
            Const::List(_) => return None,
        })
    }
}

/// A term; parts are numbers of terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    Const(Value),
    /// A place that the entry is given, or a local name of it.
    Place(Local),
    /// What goes through a list, by how many others are around it.
    Bound(usize),
    /// A question of which only its words are known.
    Asked(Box<str>, Box<[TermId]>),
    Not(TermId),
    And(TermId, TermId),
    Or(TermId, TermId),
    Coalesce(TermId, TermId),
    Equal(TermId, TermId),
    OneOf(TermId, Box<[Value]>),
    /// `left < right`, or with `true` `left <= right`.
    Less(TermId, TermId, bool),
    /// The value of the first case whose condition holds; the last is the rest.
    Cases(Box<[(TermId, TermId)]>, TermId),
    Match(TermId, Box<[TermId]>),
}

/// What local names stand for.
pub type Frame = Vec<Option<TermId>>;

/// A pool of terms.
pub struct Terms<'db> {
    db: &'db dyn Db,
    rules: RuleSet,
    terms: Vec<Term>,
    numbers: FxHashMap<Term, TermId>,
    /// The values that an option can have.
    pub domains: FxHashMap<TermId, Vec<Value>>,
    /// Numbers that cannot be negative.
    pub counts: rustc_hash::FxHashSet<TermId>,
    sets: FxHashMap<Sym, Arc<[Value]>>,
}

impl<'db> Terms<'db> {
    pub fn new(db: &'db dyn Db, rules: RuleSet) -> Terms<'db> {
        Terms {
            db,
            rules,
            terms: Vec::new(),
            numbers: FxHashMap::default(),
            domains: FxHashMap::default(),
            counts: rustc_hash::FxHashSet::default(),
            sets: FxHashMap::default(),
        }
    }

    pub fn get(&self, term: TermId) -> &Term {
        &self.terms[term as usize]
    }

    pub fn make(&mut self, term: Term) -> TermId {
        if let Some(&number) = self.numbers.get(&term) {
            return number;
        }
        let number = self.terms.len() as TermId;
        self.terms.push(term.clone());
        self.numbers.insert(term, number);
        number
    }

    pub fn constant(&mut self, value: Value) -> TermId {
        self.make(Term::Const(value))
    }

    pub fn asked(&mut self, words: impl Into<Box<str>>, parts: &[TermId]) -> TermId {
        self.make(Term::Asked(words.into(), parts.into()))
    }

    /// A fact of a thing, whatever its type is called.
    pub fn fact(&mut self, fact: Fact, parts: &[TermId]) -> TermId {
        let name = FACTS.iter().find(|info| info.fact == fact).map_or("", |info| info.name);
        if name == "is_empty" {
            let count = self.fact(Fact::ListCount, parts);
            let zero = self.constant(Value::Int(0));
            return self.make(Term::Equal(count, zero));
        }
        let term = self.asked(format!(".{name}"), parts);
        if matches!(name, "count" | "index" | "reader_count") {
            self.counts.insert(term);
        }
        term
    }

    /// All values of a set, those of the sets inside it as well.
    pub fn set(&mut self, name: Sym) -> Arc<[Value]> {
        if let Some(known) = self.sets.get(&name) {
            return known.clone();
        }
        let (mut open, mut seen, mut values) = (vec![name], vec![name], Vec::new());
        while let Some(set) = open.pop() {
            let entry = db::entry(self.db, self.rules, EntryName::new(self.db, Kind::Set, set));
            let Some(Entry::Set { includes, elements, .. }) = entry.as_deref() else { continue };
            values.extend(elements.iter().filter_map(Value::of));
            for &inner in includes {
                if !seen.contains(&inner) {
                    seen.push(inner);
                    open.push(inner);
                }
            }
        }
        let values: Arc<[Value]> = values.into();
        self.sets.insert(name, values.clone());
        values
    }

    /// The term of an expression. `frame` holds what locals stand for; one without is a place of its own.
    pub fn of(&mut self, body: &Body, expr: ExprId, frame: &mut Frame) -> TermId {
        Translation { terms: self, depth: 0, bound: 0 }.term(body, expr, frame)
    }
}

struct Translation<'a, 'db> {
    terms: &'a mut Terms<'db>,
    depth: usize,
    bound: usize,
}

fn bind(frame: &mut Frame, local: Local, term: TermId) {
    let at = local as usize;
    if frame.len() <= at {
        frame.resize(at + 1, None);
    }
    frame[at] = Some(term);
}

impl Translation<'_, '_> {
    fn term(&mut self, body: &Body, expr: ExprId, frame: &mut Frame) -> TermId {
        let Some(node) = body.exprs.get(expr as usize) else { return self.terms.constant(Value::None) };
        match node {
            Expr::Const(value) => match Value::of(value) {
                Some(value) => self.terms.constant(value),
                None => self.terms.asked(format!("{value:?}"), &[]),
            },
            Expr::Local(local) => match frame.get(*local as usize) {
                Some(Some(term)) => *term,
                _ => self.terms.make(Term::Place(*local)),
            },
            Expr::Fact { fact, base, args } => {
                let mut parts = vec![self.term(body, *base, frame)];
                parts.extend(self.all(body, args, frame));
                self.terms.fact(*fact, &parts)
            }
            Expr::Attr { base, keys, .. } => self.one("attr ", keys.first(), body, *base, frame),
            Expr::HasAttr { base, keys } => self.one("has_attr ", keys.first(), body, *base, frame),
            Expr::HasMark { base, mark } => self.one("has ", Some(mark), body, *base, frame),
            Expr::Note { base, note } => self.one("note ", Some(note), body, *base, frame),
            Expr::Call { function, args, lift } => {
                let args = self.all(body, args, frame);
                self.call(*function, &args, *lift)
            }
            Expr::Walk { walk, mode, from } => {
                let from = self.term(body, *from, frame);
                self.terms.asked(format!("walk {walk} {mode:?}"), &[from])
            }
            Expr::Table { table, key } => self.one("table ", Some(table), body, *key, frame),
            Expr::Matrix { matrix, row, column } => {
                let parts = self.all(body, &[*row, *column], frame);
                self.terms.asked(format!("matrix {matrix}"), &parts)
            }
            Expr::Option(name) => self.option(*name),
            Expr::Not(inner) => {
                let inner = self.term(body, *inner, frame);
                self.terms.make(Term::Not(inner))
            }
            Expr::Negate(inner) => {
                let inner = self.term(body, *inner, frame);
                self.terms.asked("negate", &[inner])
            }
            Expr::And(a, b) => self.two(Term::And, body, *a, *b, frame),
            Expr::Or(a, b) => self.two(Term::Or, body, *a, *b, frame),
            Expr::Coalesce(a, b) => self.two(Term::Coalesce, body, *a, *b, frame),
            Expr::Compare { op, left, right } => match op {
                Compare::Eq => self.two(Term::Equal, body, *left, *right, frame),
                Compare::Ne => {
                    let equal = self.two(Term::Equal, body, *left, *right, frame);
                    self.terms.make(Term::Not(equal))
                }
                Compare::Lt => self.two(|a, b| Term::Less(a, b, false), body, *left, *right, frame),
                Compare::Le => self.two(|a, b| Term::Less(a, b, true), body, *left, *right, frame),
                Compare::Gt => self.two(|a, b| Term::Less(b, a, false), body, *left, *right, frame),
                Compare::Ge => self.two(|a, b| Term::Less(b, a, true), body, *left, *right, frame),
            },
            Expr::Arith { op, left, right } => {
                let parts = self.all(body, &[*left, *right], frame);
                self.terms.asked(format!("{op:?}"), &parts)
            }
            Expr::Concat(a, b) => {
                let parts = self.all(body, &[*a, *b], frame);
                self.terms.asked("concat", &parts)
            }
            Expr::Range(a, b) => {
                let parts = self.all(body, &[*a, *b], frame);
                self.terms.asked("range", &parts)
            }
            Expr::InList { value, list, negated } => {
                let parts = self.all(body, &[*value, *list], frame);
                let consts = match self.terms.get(parts[1]).clone() {
                    Term::Asked(words, items) if &*words == "list" => items
                        .iter()
                        .map(|item| match self.terms.get(*item) {
                            Term::Const(value) => Some(*value),
                            _ => None,
                        })
                        .collect::<Option<Vec<Value>>>(),
                    _ => None,
                };
                let inside = match consts {
                    Some(values) => self.terms.make(Term::OneOf(parts[0], values.into())),
                    None => self.terms.asked("in", &parts),
                };
                self.negated(inside, *negated)
            }
            Expr::InSet { value, set, negated } => {
                let value = self.term(body, *value, frame);
                let values = self.terms.set(*set);
                let inside = self.terms.make(Term::OneOf(value, values.as_ref().into()));
                self.negated(inside, *negated)
            }
            Expr::InConsts { value, consts, negated } => {
                let value = self.term(body, *value, frame);
                let inside =
                    self.terms.make(Term::OneOf(value, consts.iter().filter_map(Value::of).collect()));
                self.negated(inside, *negated)
            }
            Expr::IsNone { value, negated } => {
                let value = self.term(body, *value, frame);
                let inside = self.terms.make(Term::OneOf(value, [Value::None].into()));
                self.negated(inside, *negated)
            }
            Expr::If { condition, then, otherwise } => {
                let parts = self.all(body, &[*condition, *then, *otherwise], frame);
                self.terms.make(Term::Cases([(parts[0], parts[1])].into(), parts[2]))
            }
            Expr::First { cases, otherwise } => {
                let cases: Vec<(TermId, TermId)> = cases
                    .iter()
                    .map(|(condition, value)| {
                        (self.term(body, *condition, frame), self.term(body, *value, frame))
                    })
                    .collect();
                let rest = match otherwise {
                    Some(rest) => self.term(body, *rest, frame),
                    None => self.terms.constant(Value::None),
                };
                self.terms.make(Term::Cases(cases.into(), rest))
            }
            Expr::Match { value, arms } => {
                let value = self.term(body, *value, frame);
                let arms = self.all(body, arms, frame);
                self.terms.make(Term::Match(value, arms.into()))
            }
            Expr::Let { local, value, body: inner } => {
                let value = self.term(body, *value, frame);
                bind(frame, *local, value);
                self.term(body, *inner, frame)
            }
            Expr::List(items) => {
                let items = self.all(body, items, frame);
                self.terms.asked("list", &items)
            }
            Expr::Index { list, index } => {
                let parts = self.all(body, &[*list, *index], frame);
                self.terms.asked("index", &parts)
            }
            Expr::Quantifier { kind, local, list, condition } => {
                let term = self.over(format!("{kind:?}"), body, (*local, *list, *condition), frame);
                if matches!(kind, crate::lang::syntax::ast::Quantifier::Count) {
                    self.terms.counts.insert(term);
                }
                term
            }
            Expr::Where { local, list, condition } => {
                self.over("where".into(), body, (*local, *list, *condition), frame)
            }
            Expr::Each { kind, local, list, value } => {
                let words: &str = match kind {
                    Each::Map => "map",
                    Each::FlatMap => "flat_map",
                    Each::Sum => "sum",
                    Each::MinBy => "min_by",
                    Each::MaxBy => "max_by",
                    Each::SortBy => "sort_by",
                    Each::Bisect => "bisect",
                };
                self.over(words.into(), body, (*local, *list, *value), frame)
            }
            Expr::Symbols { symbols, graph } => self.one("symbols ", Some(symbols), body, *graph, frame),
            Expr::WouldConflict { graph, first, second } => {
                let parts = self.all(body, &[*graph, *first, *second], frame);
                self.terms.asked("conflicts of", &parts)
            }
            Expr::Conflicts { graph, table } => {
                let parts = self.all(body, &[*graph, *table], frame);
                self.terms.asked("conflicts", &parts)
            }
            // Each use is another number.
            Expr::Counter(_) => {
                let number = self.terms.terms.len();
                self.terms.asked(format!("counter {number}"), &[])
            }
        }
    }

    fn all(&mut self, body: &Body, exprs: &[ExprId], frame: &mut Frame) -> Vec<TermId> {
        exprs.iter().map(|expr| self.term(body, *expr, frame)).collect()
    }

    fn one(
        &mut self,
        words: &str,
        name: Option<&Sym>,
        body: &Body,
        expr: ExprId,
        frame: &mut Frame,
    ) -> TermId {
        let base = self.term(body, expr, frame);
        self.terms.asked(format!("{words}{}", name.map_or("", |name| name.as_str())), &[base])
    }

    fn two(
        &mut self,
        make: impl Fn(TermId, TermId) -> Term,
        body: &Body,
        a: ExprId,
        b: ExprId,
        frame: &mut Frame,
    ) -> TermId {
        let parts = self.all(body, &[a, b], frame);
        self.terms.make(make(parts[0], parts[1]))
    }

    fn negated(&mut self, term: TermId, negated: bool) -> TermId {
        if negated { self.terms.make(Term::Not(term)) } else { term }
    }

    fn over(
        &mut self,
        words: String,
        body: &Body,
        (local, list, inner): (Local, ExprId, ExprId),
        frame: &mut Frame,
    ) -> TermId {
        let list = self.term(body, list, frame);
        let bound = self.terms.make(Term::Bound(self.bound));
        bind(frame, local, bound);
        self.bound += 1;
        let inner = self.term(body, inner, frame);
        self.bound -= 1;
        self.terms.asked(words, &[list, inner])
    }

    fn option(&mut self, name: Sym) -> TermId {
        let term = self.terms.asked(format!("option {name}"), &[]);
        if !self.terms.domains.contains_key(&term) {
            let entry =
                db::entry(self.terms.db, self.terms.rules, EntryName::new(self.terms.db, Kind::Option, name));
            let values = match entry.as_deref() {
                Some(Entry::Option { ty: OptionType::Bool, .. }) => {
                    Some(vec![Value::Bool(false), Value::Bool(true)])
                }
                Some(Entry::Option { ty: OptionType::Variants(variants), .. }) => {
                    Some((0u16..).zip(variants).map(|(number, _)| Value::Variant(number)).collect())
                }
                _ => None,
            };
            self.terms.domains.extend(values.map(|values| (term, values)));
        }
        term
    }

    /// A function's body with the arguments in the place of its parameters.
    fn call(&mut self, function: Sym, args: &[TermId], lift: u32) -> TermId {
        let (db, rules) = (self.terms.db, self.terms.rules);
        let entry = db::entry(db, rules, EntryName::new(db, Kind::Fn, function));
        let Some(Entry::Fn { body, value, .. }) = entry.as_deref() else {
            return self.terms.asked(format!("call {function}"), args);
        };
        if self.depth >= DEEPEST || self.terms.terms.len() >= MOST {
            return self.terms.asked(format!("call {function}"), args);
        }
        let mut frame: Frame = args.iter().map(|arg| Some(*arg)).collect();
        self.depth += 1;
        let mut result = self.term(body, *value, &mut frame);
        self.depth -= 1;
        for (at, arg) in args.iter().enumerate().rev() {
            if at < 32 && lift & (1 << at) != 0 {
                let none = self.terms.constant(Value::None);
                let missing = self.terms.make(Term::OneOf(*arg, [Value::None].into()));
                result = self.terms.make(Term::Cases([(missing, none)].into(), result));
            }
        }
        result
    }
}
