//! Whether conditions can hold together.
//!
//! Promise: [`can_hold`] says `false` only if no graph and no option makes the conditions hold together; `true` is no promise. A
//! search by cases over what each question may answer: constants, sets, ranges of numbers; it gives up with `true` after
//! [`MOST_STEPS`] steps.

use super::terms::{Term, TermId, Terms, Value};

/// Steps of one search.
const MOST_STEPS: usize = 20_000;

/// A demand on the value of a term.
#[derive(Clone, Debug)]
pub enum Goal {
    /// The value is, or is not, one of these.
    Within(TermId, Box<[Value]>, bool),
    /// The number is in this range, ends included.
    Range(TermId, i64, i64),
}

impl Goal {
    pub fn holds(term: TermId) -> Goal {
        Goal::Within(term, [Value::Bool(true)].into(), true)
    }

    pub fn fails(term: TermId) -> Goal {
        Goal::Within(term, [Value::Bool(false)].into(), true)
    }
}

/// What is known of the answer to one question.
#[derive(Clone, Debug)]
struct Domain {
    allowed: Option<Vec<Value>>,
    excluded: Vec<Value>,
    low: i64,
    high: i64,
}

impl Domain {
    fn is_empty(&self) -> bool {
        let fits = |value: &Value| {
            !self.excluded.contains(value)
                && match value {
                    Value::Int(number) => (self.low..=self.high).contains(number),
                    _ => true,
                }
        };
        match &self.allowed {
            Some(allowed) => !allowed.iter().any(fits),
            // A number in a range of one that is excluded.
            None if self.low > self.high => true,
            None => self.low == self.high && self.excluded.contains(&Value::Int(self.low)),
        }
    }
}

#[derive(Clone, Default)]
struct State {
    known: Vec<(TermId, Domain)>,
    goals: Vec<Goal>,
}

/// Whether all goals can be met at once.
pub fn can_hold(terms: &Terms<'_>, goals: &[Goal]) -> bool {
    let mut open = vec![State { known: Vec::new(), goals: goals.to_vec() }];
    let mut steps = 0;
    while let Some(mut state) = open.pop() {
        loop {
            steps += 1;
            if steps > MOST_STEPS {
                return true;
            }
            let Some(goal) = state.goals.pop() else { return true };
            match step(terms, &mut state, goal) {
                Step::On => {}
                Step::Dead => break,
                Step::Either(ways) => {
                    for goals in ways {
                        let mut branch = state.clone();
                        branch.goals.extend(goals);
                        open.push(branch);
                    }
                    break;
                }
            }
        }
    }
    false
}

enum Step {
    On,
    Dead,
    Either(Vec<Vec<Goal>>),
}

/// Takes one goal apart.
fn step(terms: &Terms<'_>, state: &mut State, goal: Goal) -> Step {
    let (term, values, inside) = match goal {
        Goal::Range(term, low, high) => {
            return narrow(terms, state, term, |domain| {
                domain.low = domain.low.max(low);
                domain.high = domain.high.min(high);
            });
        }
        Goal::Within(term, values, inside) => (term, values, inside),
    };
    let within = |term: TermId| Goal::Within(term, values.clone(), inside);
    let may = |value: bool| values.contains(&Value::Bool(value)) == inside;
    match terms.get(term) {
        Term::Const(value) => {
            if values.contains(value) == inside {
                Step::On
            } else {
                Step::Dead
            }
        }
        Term::Coalesce(a, b) => Step::Either(vec![
            vec![Goal::Within(*a, [Value::None].into(), false), within(*a)],
            vec![Goal::Within(*a, [Value::None].into(), true), within(*b)],
        ]),
        Term::Cases(cases, rest) => {
            let mut ways = Vec::with_capacity(cases.len() + 1);
            let mut before: Vec<Goal> = Vec::new();
            for (condition, value) in cases {
                let mut way = before.clone();
                way.extend([Goal::holds(*condition), within(*value)]);
                ways.push(way);
                before.push(Goal::fails(*condition));
            }
            before.push(within(*rest));
            ways.push(before);
            Step::Either(ways)
        }
        Term::Match(value, arms) => {
            let way = |(variant, arm): (u16, &TermId)| {
                vec![Goal::Within(*value, [Value::Variant(variant)].into(), true), within(*arm)]
            };
            let mut ways: Vec<Vec<Goal>> = (0u16..).zip(arms).map(way).collect();
            if values.contains(&Value::None) == inside {
                ways.push(vec![Goal::Within(*value, [Value::None].into(), true)]);
            }
            Step::Either(ways)
        }
        Term::Not(_) | Term::And(..) | Term::Or(..) | Term::Equal(..) | Term::OneOf(..) | Term::Less(..) => {
            match (may(true), may(false)) {
                (true, true) => Step::On,
                (false, false) => Step::Dead,
                (wanted, _) => decide(terms, state, term, wanted),
            }
        }
        Term::Place(_) | Term::Bound(_) | Term::Asked(..) => narrow(terms, state, term, |domain| {
            if inside {
                match &mut domain.allowed {
                    Some(allowed) => allowed.retain(|value| values.contains(value)),
                    None => domain.allowed = Some(values.to_vec()),
                }
            } else {
                domain.excluded.extend(values.iter());
            }
        }),
    }
}

/// A condition that is to hold, or not to.
fn decide(terms: &Terms<'_>, state: &mut State, term: TermId, wanted: bool) -> Step {
    let truth = |term: TermId, value: bool| if value { Goal::holds(term) } else { Goal::fails(term) };
    match terms.get(term) {
        Term::Not(inner) => {
            state.goals.push(truth(*inner, !wanted));
            Step::On
        }
        Term::And(a, b) | Term::Or(a, b) => {
            let both = matches!(terms.get(term), Term::And(..)) == wanted;
            if both {
                state.goals.extend([truth(*a, wanted), truth(*b, wanted)]);
                return Step::On;
            }
            Step::Either(vec![vec![truth(*a, wanted)], vec![truth(*a, !wanted), truth(*b, wanted)]])
        }
        Term::OneOf(value, values) => {
            state.goals.push(Goal::Within(*value, values.clone(), wanted));
            Step::On
        }
        Term::Equal(a, b) => match (terms.get(*a), terms.get(*b)) {
            _ if a == b => {
                if wanted {
                    Step::On
                } else {
                    Step::Dead
                }
            }
            (Term::Const(value), _) => {
                state.goals.push(Goal::Within(*b, [*value].into(), wanted));
                Step::On
            }
            (_, Term::Const(value)) => {
                state.goals.push(Goal::Within(*a, [*value].into(), wanted));
                Step::On
            }
            _ => remember(terms, state, term, wanted),
        },
        Term::Less(a, b, or_equal) => {
            let bound = i64::from(!or_equal);
            let goal = match (terms.get(*a), terms.get(*b), wanted) {
                (_, Term::Const(Value::Int(n)), true) => Goal::Range(*a, i64::MIN, n.saturating_sub(bound)),
                (_, Term::Const(Value::Int(n)), false) => {
                    Goal::Range(*a, n.saturating_add(1 - bound), i64::MAX)
                }
                (Term::Const(Value::Int(n)), _, true) => Goal::Range(*b, n.saturating_add(bound), i64::MAX),
                (Term::Const(Value::Int(n)), _, false) => {
                    Goal::Range(*b, i64::MIN, n.saturating_sub(1 - bound))
                }
                _ => return remember(terms, state, term, wanted),
            };
            state.goals.push(goal);
            Step::On
        }
        _ => remember(terms, state, term, wanted),
    }
}

/// Keeps the answer to a question that cannot be taken apart.
fn remember(terms: &Terms<'_>, state: &mut State, term: TermId, wanted: bool) -> Step {
    narrow(terms, state, term, |domain| match &mut domain.allowed {
        Some(allowed) => allowed.retain(|value| *value == Value::Bool(wanted)),
        None => domain.allowed = Some(vec![Value::Bool(wanted)]),
    })
}

/// Takes possible answers away.
fn narrow(terms: &Terms<'_>, state: &mut State, term: TermId, change: impl FnOnce(&mut Domain)) -> Step {
    let at = state.known.iter().position(|(known, _)| *known == term).unwrap_or_else(|| {
        let low = if terms.counts.contains(&term) { 0 } else { i64::MIN };
        let allowed = terms.domains.get(&term).cloned();
        state.known.push((term, Domain { allowed, excluded: Vec::new(), low, high: i64::MAX }));
        state.known.len() - 1
    });
    let domain = &mut state.known[at].1;
    change(domain);
    if domain.is_empty() { Step::Dead } else { Step::On }
}
