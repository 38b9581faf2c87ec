//! Expressions, laziness, none, calls.

use proptest::prelude::*;

use super::build::*;
use super::walks::chain;
use crate::graph::{AttrValue, GraphId};
use crate::lang::eval::{Machine, NoHost, Value};
use crate::lang::facts::Fact;
use crate::lang::hir::*;
use crate::lang::syntax::ast::{AttrType, Kind, OptionType, Quantifier};

fn ints(values: &[i64]) -> Value {
    Value::list(values.iter().map(|&i| Value::Int(i)).collect())
}

#[test]
fn arithmetic_saturates_and_division_by_zero_is_none() {
    let arith = |op, a, b| {
        eval(|x| {
            let (a, b) = (x.int(a), x.int(b));
            x.arith(op, a, b)
        })
    };
    assert_eq!(arith(Arith::Add, 2, 3), Value::Int(5));
    assert_eq!(arith(Arith::Add, i64::MAX, 1), Value::Int(i64::MAX));
    assert_eq!(arith(Arith::Mul, i64::MIN, 2), Value::Int(i64::MIN));
    assert_eq!(arith(Arith::Div, 7, 2), Value::Int(3));
    assert_eq!(arith(Arith::Div, i64::MIN, -1), Value::Int(i64::MAX));
    assert_eq!(arith(Arith::Rem, i64::MIN, -1), Value::Int(0));
    assert_eq!(arith(Arith::Div, 7, 0), Value::None);
    assert_eq!(arith(Arith::Rem, 7, 0), Value::None);
    let negated = eval(|x| {
        let min = x.int(i64::MIN);
        x.put(Expr::Negate(min))
    });
    assert_eq!(negated, Value::Int(i64::MAX));
    let mixed = eval(|x| {
        let (a, b) = (x.put(Expr::Const(Const::Float(0.5))), x.int(2));
        x.arith(Arith::Mul, a, b)
    });
    assert_eq!(mixed, Value::Float(1.0));
}

#[test]
fn comparisons() {
    let compare = |a: Const, op, b: Const| {
        eval(|x| {
            let (a, b) = (x.put(Expr::Const(a)), x.put(Expr::Const(b)));
            x.compare(a, op, b)
        })
        .is_true()
    };
    assert!(compare(Const::Int(1), Compare::Lt, Const::Int(2)));
    assert!(!compare(Const::Int(2), Compare::Lt, Const::Int(2)));
    assert!(compare(Const::Int(2), Compare::Le, Const::Int(2)));
    assert!(compare(Const::Int(3), Compare::Gt, Const::Int(2)));
    assert!(compare(Const::Int(2), Compare::Ge, Const::Int(2)));
    assert!(compare(Const::Str(sym("b")), Compare::Gt, Const::Str(sym("a"))));
    assert!(compare(Const::None, Compare::Eq, Const::None));
    assert!(compare(Const::None, Compare::Ne, Const::Int(0)));
    assert!(!compare(Const::None, Compare::Lt, Const::Int(0)));
}

#[test]
fn the_second_side_is_evaluated_only_when_it_decides() {
    // The counter tells how often the right side was evaluated.
    let evaluated = |decide: fn(ExprId, ExprId) -> Expr, left: Const| {
        let value = eval(|x| {
            let counted = x.put(Expr::Counter(sym("c")));
            let zero = x.int(0);
            let right = x.compare(counted, Compare::Ge, zero);
            let left = x.put(Expr::Const(left));
            let whole = x.put(decide(left, right));
            let after = x.put(Expr::Counter(sym("c")));
            x.list(&[whole, after])
        });
        value.at(1).and_then(|v| v.as_int())
    };
    assert_eq!(evaluated(Expr::And, Const::Bool(false)), Some(0));
    assert_eq!(evaluated(Expr::And, Const::Bool(true)), Some(1));
    assert_eq!(evaluated(Expr::Or, Const::Bool(true)), Some(0));
    assert_eq!(evaluated(Expr::Or, Const::Bool(false)), Some(1));
    assert_eq!(evaluated(Expr::Coalesce, Const::Int(1)), Some(0));
    assert_eq!(evaluated(Expr::Coalesce, Const::None), Some(1));
}

#[test]
fn quantifiers_stop_early() {
    let looked_at = |kind| {
        eval(|x| {
            let list = x.range(0, 10);
            let all = x.quantifier(kind, list, |x, it| {
                let counted = x.put(Expr::Counter(sym("c")));
                let zero = x.int(0);
                let counts = x.compare(counted, Compare::Ge, zero);
                let three = x.int(3);
                let op = if kind == Quantifier::All { Compare::Lt } else { Compare::Ge };
                let holds = x.compare(it, op, three);
                x.put(Expr::And(counts, holds))
            });
            let count = x.put(Expr::Counter(sym("c")));
            x.list(&[all, count])
        })
    };
    let pair = |a: Value, b| Value::list(vec![a, Value::Int(b)]);
    assert_eq!(looked_at(Quantifier::All), pair(Value::Bool(false), 4));
    assert_eq!(looked_at(Quantifier::Any), pair(Value::Bool(true), 4));
    assert_eq!(looked_at(Quantifier::Find), pair(Value::Int(3), 4));
    assert_eq!(looked_at(Quantifier::Count), pair(Value::Int(7), 10));
}

#[test]
fn branches() {
    let choose = |variant| {
        eval(|x| {
            let value = x.put(Expr::Const(Const::Enum { ty: sym("E"), variant }));
            let arms: Vec<ExprId> = (10..13).map(|i| x.int(i)).collect();
            x.put(Expr::Match { value, arms: arms.into() })
        })
    };
    assert_eq!(choose(0), Value::Int(10));
    assert_eq!(choose(2), Value::Int(12));
    let first = |a, b, otherwise: bool| {
        eval(|x| {
            let (a, b, one, two, three) = (x.bool(a), x.bool(b), x.int(1), x.int(2), x.int(3));
            let otherwise = otherwise.then_some(three);
            x.put(Expr::First { cases: Box::new([(a, one), (b, two)]), otherwise })
        })
    };
    assert_eq!(first(true, true, true), Value::Int(1));
    assert_eq!(first(false, true, true), Value::Int(2));
    assert_eq!(first(false, false, true), Value::Int(3));
    assert_eq!(first(false, false, false), Value::None);
    let if_ = |c| {
        eval(|x| {
            let (condition, then, otherwise) = (x.bool(c), x.int(1), x.int(2));
            x.put(Expr::If { condition, then, otherwise })
        })
    };
    assert_eq!((if_(true), if_(false)), (Value::Int(1), Value::Int(2)));
    let let_ = eval(|x| {
        let (local, value) = (x.slot(), x.int(4));
        let used = x.local(local);
        let body = x.arith(Arith::Mul, used, used);
        x.put(Expr::Let { local, value, body })
    });
    assert_eq!(let_, Value::Int(16));
}

#[test]
fn none_flows() {
    let none = |build: fn(&mut B, ExprId) -> Expr| {
        eval(|x| {
            let none = x.none();
            let expr = build(x, none);
            x.put(expr)
        })
    };
    assert_eq!(none(|_, n| Expr::Fact { fact: Fact::NodeType, base: n, args: [].into() }), Value::None);
    assert_eq!(none(|_, n| Expr::Fact { fact: Fact::ListCount, base: n, args: [].into() }), Value::None);
    assert_eq!(none(|_, n| Expr::Attr { base: n, keys: [sym("k")].into(), ty: AttrType::Bool }), Value::None);
    assert_eq!(none(|_, n| Expr::HasAttr { base: n, keys: [sym("k")].into() }), Value::None);
    assert_eq!(none(|_, n| Expr::HasMark { base: n, mark: sym("M") }), Value::None);
    assert_eq!(none(|x, n| Expr::Index { list: n, index: x.int(0) }), Value::None);
    assert_eq!(none(|_, n| Expr::IsNone { value: n, negated: false }), Value::Bool(true));
    assert_eq!(none(|_, n| Expr::IsNone { value: n, negated: true }), Value::Bool(false));
    let readers_of_none = eval(|x| {
        let none = x.none();
        let readers = x.fact(Fact::OutputReaders, none);
        x.fact(Fact::ListCount, readers)
    });
    assert_eq!(readers_of_none, Value::None);
    let in_none = eval(|x| {
        let (none, list) = (x.none(), x.ints(&[1]));
        x.put(Expr::InList { value: none, list, negated: true })
    });
    assert_eq!(in_none, Value::Bool(true));
}

#[test]
fn a_call_lifts_none_only_when_told() {
    let call = |lift| {
        let mut p = P::default();
        p.function("f", 1, |x| {
            let arg = x.local(0);
            x.put(Expr::IsNone { value: arg, negated: false })
        });
        eval_with(p, &G::new().finish(), &[], |x| {
            let none = x.none();
            x.put(Expr::Call { function: sym("f"), args: [none].into(), lift })
        })
    };
    assert_eq!(call(1), Value::None);
    assert_eq!(call(0), Value::Bool(true));
}

#[test]
fn sets_tables_matrices_options() {
    let mut p = P::default();
    p.set("INNER", &["OUTER"], &["Relu"]);
    p.set("OUTER", &["INNER"], &["Add"]);
    let in_set = |name: &str, negated| {
        let mut p = P::default();
        p.set("INNER", &["OUTER"], &["Relu"]);
        p.set("OUTER", &["INNER"], &["Add"]);
        eval_with(p, &G::new().finish(), &[], |x| {
            let value = x.str(name);
            x.put(Expr::InSet { value, set: sym("OUTER"), negated })
        })
    };
    assert_eq!(in_set("Relu", false), Value::Bool(true));
    assert_eq!(in_set("Add", true), Value::Bool(false));
    assert_eq!(in_set("Mul", false), Value::Bool(false));
    let rows = vec![(Const::Str(sym("Div")), Const::Str(sym("RealDiv")))];
    p.add(Kind::Table, "T", Entry::Table { rows });
    let cells = vec![vec![0, 1], vec![1, 0]];
    let matrix =
        Entry::Matrix { rows: sym("R"), columns: sym("C"), result: sym("K"), variants: Vec::new(), cells };
    p.add(Kind::Matrix, "M", matrix);
    let option = Entry::Option { ty: OptionType::Int, default: OptionValue::Int(3), from_env: false };
    p.add(Kind::Option, "o.default", option.clone());
    p.add(Kind::Option, "o.given", option);
    p.options.insert(sym("o.given"), OptionValue::Int(4));
    let value = eval_with(p, &G::new().finish(), &[], |x| {
        let (key, other) = (x.str("Div"), x.str("Mul"));
        let hit = x.put(Expr::Table { table: sym("T"), key });
        let miss = x.put(Expr::Table { table: sym("T"), key: other });
        let one = x.put(Expr::Const(Const::Enum { ty: sym("R"), variant: 1 }));
        let zero = x.put(Expr::Const(Const::Enum { ty: sym("C"), variant: 0 }));
        let cell = x.put(Expr::Matrix { matrix: sym("M"), row: one, column: zero });
        let (a, b) = (x.put(Expr::Option(sym("o.default"))), x.put(Expr::Option(sym("o.given"))));
        // Row 1 is [1, 0], row 0 is [0, 1]; no row has 2, and a column that is none has no cell.
        let is = |x: &mut B, op, wanted, column| {
            let right = x.put(Expr::Const(Const::Enum { ty: sym("K"), variant: wanted }));
            let left = x.put(Expr::Matrix { matrix: sym("M"), row: one, column });
            x.put(Expr::Compare { op, left, right })
        };
        let none = x.put(Expr::Const(Const::None));
        let compared = [
            is(x, Compare::Eq, 1, zero),
            is(x, Compare::Eq, 0, zero),
            is(x, Compare::Ne, 0, zero),
            is(x, Compare::Eq, 2, zero),
            is(x, Compare::Ne, 2, zero),
            is(x, Compare::Eq, 1, none),
            is(x, Compare::Ne, 1, none),
        ];
        let compared = x.list(&compared);
        x.list(&[hit, miss, cell, a, b, compared])
    });
    let expected = vec![
        Value::Str(sym("RealDiv")),
        Value::None,
        Value::Enum { ty: sym("K"), variant: 1 },
        Value::Int(3),
        Value::Int(4),
        Value::list([true, false, true, false, true, false, true].map(Value::Bool).to_vec()),
    ];
    assert_eq!(value, Value::list(expected));
}

#[test]
fn a_string_made_at_run_time_equals_an_interned_one() {
    let joined = eval(|x| {
        let (a, b, whole) = (x.str("Re"), x.str("lu"), x.str("Relu"));
        let joined = x.put(Expr::Concat(a, b));
        let equal = x.eq(joined, whole);
        let consts = [Const::Str(sym("Relu"))].into();
        let among = x.put(Expr::InConsts { value: joined, consts, negated: false });
        let listed = x.list(&[whole]);
        let many = (0..40).fold(listed, |list, i| {
            let text = x.str(&format!("s{i}"));
            let one = x.list(&[text]);
            x.put(Expr::Concat(list, one))
        });
        let found = x.in_list(joined, many);
        x.list(&[equal, among, found])
    });
    assert!(joined.elements().all(|v| v.is_true()), "{joined:?}");
}

#[test]
fn strings_are_joined_one_after_the_other() {
    let joined = |order: bool| {
        eval(|x| {
            let (a, b, c) = (x.str("Ma"), x.str("tMu"), x.str("l"));
            if order {
                let left = x.put(Expr::Concat(a, b));
                x.put(Expr::Concat(left, c))
            } else {
                let right = x.put(Expr::Concat(b, c));
                x.put(Expr::Concat(a, right))
            }
        })
    };
    assert_eq!(joined(true), Value::text("MatMul"));
    assert_eq!(joined(false), Value::text("MatMul"));
}

#[test]
fn lists() {
    let list = |fact| {
        eval(|x| {
            let list = x.ints(&[3, 1, 3, 2]);
            x.fact(fact, list)
        })
    };
    assert_eq!(list(Fact::ListCount), Value::Int(4));
    assert_eq!(list(Fact::ListIsEmpty), Value::Bool(false));
    assert_eq!(list(Fact::ListFirst), Value::Int(3));
    assert_eq!(list(Fact::ListLast), Value::Int(2));
    assert_eq!(list(Fact::ListReverse), ints(&[2, 3, 1, 3]));
    assert_eq!(list(Fact::ListDistinct), ints(&[3, 1, 2]));
    assert_eq!(list(Fact::ListSame), Value::Bool(false));
    let part = |fact, n| {
        eval(|x| {
            let (list, n) = (x.ints(&[3, 1, 3, 2]), x.int(n));
            x.fact_of(fact, list, &[n])
        })
    };
    assert_eq!(part(Fact::ListSkip, 1), ints(&[1, 3, 2]));
    assert_eq!(part(Fact::ListSkip, 9), ints(&[]));
    assert_eq!(part(Fact::ListSkip, -1), ints(&[3, 1, 3, 2]));
    assert_eq!(part(Fact::ListTake, 2), ints(&[3, 1]));
    assert_eq!(part(Fact::ListTake, 0), ints(&[]));
    assert_eq!(part(Fact::ListTake, -1), ints(&[]));
    assert_eq!(part(Fact::ListIndexOf, 3), Value::Int(0));
    assert_eq!(part(Fact::ListIndexOf, 7), Value::None);
    let index = |at| {
        eval(|x| {
            let (list, index) = (x.ints(&[3, 1]), x.int(at));
            x.put(Expr::Index { list, index })
        })
    };
    assert_eq!((index(1), index(2), index(-1)), (Value::Int(1), Value::None, Value::None));
    let each = |kind| {
        eval(|x| {
            let list = x.ints(&[3, 1, -3, 2, -1]);
            x.each(kind, list, |x, it| x.fact(Fact::IntAbs, it))
        })
    };
    assert_eq!(each(Each::Map), ints(&[3, 1, 3, 2, 1]));
    assert_eq!(each(Each::Sum), Value::Int(10));
    assert_eq!(each(Each::MinBy), Value::Int(1));
    assert_eq!(each(Each::MaxBy), Value::Int(3));
    assert_eq!(each(Each::SortBy), ints(&[1, -1, 2, 3, -3]));
    let below = |limit| {
        eval(|x| {
            let list = x.ints(&[1, 3, 3, 7, 9]);
            x.each(Each::Bisect, list, |x, it| {
                let limit = x.int(limit);
                x.put(Expr::Compare { op: Compare::Lt, left: it, right: limit })
            })
        })
    };
    assert_eq!([0, 3, 4, 10].map(below), [0, 1, 3, 5].map(Value::Int));
    let flat = eval(|x| {
        let list = x.ints(&[1, 3]);
        x.each(Each::FlatMap, list, |x, it| {
            let zero = x.int(0);
            x.put(Expr::Range(zero, it))
        })
    });
    assert_eq!(flat, ints(&[0, 0, 1, 2]));
    assert_eq!(eval(|x| x.range(3, 1)), ints(&[]));
}

#[test]
fn strings() {
    let fact = |fact, text: &str, arg: &str| {
        eval(|x| {
            let (text, arg) = (x.str(text), x.str(arg));
            x.fact_of(fact, text, &[arg])
        })
    };
    assert_eq!(fact(Fact::StrCount, "äb", ""), Value::Int(2));
    assert_eq!(fact(Fact::StrIsEmpty, "", ""), Value::Bool(true));
    assert_eq!(fact(Fact::StrStartsWith, "abc", "ab"), Value::Bool(true));
    assert_eq!(fact(Fact::StrEndsWith, "abc", "ab"), Value::Bool(false));
    assert_eq!(fact(Fact::StrContains, "abc", "b"), Value::Bool(true));
    assert_eq!(fact(Fact::StrSplit, "a,b", ","), Value::list(vec![Value::text("a"), Value::text("b")]));
    assert_eq!(fact(Fact::StrTrim, " a ", ""), Value::text("a"));
    assert_eq!(fact(Fact::StrToInt, "-12", ""), Value::Int(-12));
    assert_eq!(fact(Fact::StrToInt, "12x", ""), Value::None);
    let digits = eval(|x| {
        let number = x.int(-12);
        x.fact(Fact::IntToStr, number)
    });
    assert_eq!(digits, Value::text("-12"));
}

#[test]
fn membership_of_a_long_list_is_not_a_scan() {
    // 40 000 questions to a list of 40 000: a scan of each would be 1.6e9 comparisons.
    let value = eval(|x| {
        let range = x.range(0, 40_000);
        let doubled = x.each(Each::Map, range, |x, it| x.arith(Arith::Add, it, it));
        let local = x.slot();
        let held = x.local(local);
        let asked = x.range(0, 40_000);
        let body = x.quantifier(Quantifier::Count, asked, |x, it| x.in_list(it, held));
        x.put(Expr::Let { local, value: doubled, body })
    });
    assert_eq!(value, Value::Int(20_000));
}

#[test]
fn calls_too_deep_are_a_failure() {
    let mut p = P::default();
    p.function("f0", 1, |x| x.local(0));
    for i in 1..400 {
        // The sum of one number: too dear to stand where it is called.
        p.function(&format!("f{i}"), 1, |x| {
            let arg = x.local(0);
            let list = x.list(&[arg]);
            x.each(Each::Sum, list, |x, it| x.call(&format!("f{}", i - 1), &[it]))
        });
    }
    let program = p.link();
    let line = chain(1);
    let mut machine = Machine::over(&program, &NoHost, &line, GraphId::ROOT);
    assert_eq!(machine.call(sym("f50"), &[Value::Int(7)]).unwrap(), Value::Int(7));
    assert!(machine.call(sym("f399"), &[Value::Int(7)]).is_err());
    assert_eq!(machine.call(sym("f50"), &[Value::Int(7)]).unwrap(), Value::Int(7));
}

#[test]
fn attributes_of_another_kind_count_as_absent() {
    let mut g = G::new();
    let n = g.node("n", "Relu", 1, 1);
    g.attr(n, "flag", AttrValue::Int(1));
    g.attr(n, "old", AttrValue::Int(7));
    g.attr(n, "list", AttrValue::ints([4, 5]));
    g.attr(n, "text", AttrValue::str("nobody interned this text"));
    let value = eval_with(P::default(), &g.finish(), &[Value::Node(n)], |x| {
        let n = x.local(0);
        let flag = x.attr(n, "flag", AttrType::Bool);
        let has = x.put(Expr::HasAttr { base: n, keys: [sym("flag")].into() });
        let keys = [sym("new"), sym("old")].into();
        let alias = x.put(Expr::Attr { base: n, keys, ty: AttrType::Int });
        let absent = x.attr(n, "absent", AttrType::Int);
        let list = x.attr(n, "list", AttrType::ListInt);
        let text = x.attr(n, "text", AttrType::Str);
        let empty = x.attr(n, "absent", AttrType::ListStr);
        x.list(&[flag, has, alias, absent, list, text, empty])
    });
    let expected = vec![
        Value::Bool(false),
        Value::Bool(true),
        Value::Int(7),
        Value::None,
        ints(&[4, 5]),
        Value::text("nobody interned this text"),
        ints(&[]),
    ];
    assert_eq!(value, Value::list(expected));
}

#[test]
fn consumers_may_share_slots_with_sources() {
    // `xs.flat_map([it + 1, it]).map(it + 10)` with both binders in slot 0, as a frugal lowering may assign.
    let value = eval(|x| {
        let slot = x.slot();
        let list = x.ints(&[2, 5]);
        let it = x.local(slot);
        let (one, ten) = (x.int(1), x.int(10));
        let next = x.arith(Arith::Add, it, one);
        let inner = x.list(&[next, it]);
        let flat = x.put(Expr::Each { kind: Each::FlatMap, local: slot, list, value: inner });
        let plus = x.arith(Arith::Add, it, ten);
        x.put(Expr::Each { kind: Each::Map, local: slot, list: flat, value: plus })
    });
    assert_eq!(value, ints(&[13, 12, 16, 15]));
}

#[test]
fn take_asks_for_no_more_than_it_gives() {
    let value = eval(|x| {
        let range = x.range(0, 10);
        let counted = x.each(Each::Map, range, |x, _| x.put(Expr::Counter(sym("c"))));
        let two = x.int(2);
        let taken = x.fact_of(Fact::ListTake, counted, &[two]);
        let count = x.fact(Fact::ListCount, taken);
        let asked = x.put(Expr::Counter(sym("c")));
        x.list(&[count, asked])
    });
    assert_eq!(value, ints(&[2, 2]));
}

/// A pipeline of lazy stages over a list of numbers.
#[derive(Clone, Debug)]
enum Stage {
    Less(i64),
    Add(i64),
    Repeat,
    Skip(i64),
    Take(i64),
    Append(Vec<i64>),
}

fn stage() -> impl Strategy<Value = Stage> {
    prop_oneof![
        (-5i64..20).prop_map(Stage::Less),
        (-3i64..4).prop_map(Stage::Add),
        Just(Stage::Repeat),
        (-1i64..6).prop_map(Stage::Skip),
        (-1i64..9).prop_map(Stage::Take),
        prop::collection::vec(-5i64..20, 0..4).prop_map(Stage::Append),
    ]
}

proptest! {
    /// Going through a list gives what the built list has, whatever consumes it.
    #[test]
    fn lazy_lists_equal_built_lists(
        start in prop::collection::vec(-5i64..20, 0..20),
        stages in prop::collection::vec(stage(), 0..6),
    ) {
        let mut model = start.clone();
        for stage in &stages {
            model = match stage {
                Stage::Less(n) => model.into_iter().filter(|i| i < n).collect(),
                Stage::Add(n) => model.into_iter().map(|i| i + n).collect(),
                Stage::Repeat => model.into_iter().flat_map(|i| [i, i]).collect(),
                Stage::Skip(n) => model.into_iter().skip((*n).max(0) as usize).collect(),
                Stage::Take(n) => model.into_iter().take((*n).max(0) as usize).collect(),
                Stage::Append(more) => model.into_iter().chain(more.iter().copied()).collect(),
            };
        }
        let lazy = |x: &mut B| {
            let mut list = x.ints(&start);
            for stage in &stages {
                list = match stage {
                    Stage::Less(n) => x.filter(list, |x, it| {
                        let n = x.int(*n);
                        x.compare(it, Compare::Lt, n)
                    }),
                    Stage::Add(n) => x.each(Each::Map, list, |x, it| {
                        let n = x.int(*n);
                        x.arith(Arith::Add, it, n)
                    }),
                    Stage::Repeat => x.each(Each::FlatMap, list, |x, it| x.list(&[it, it])),
                    Stage::Skip(n) => {
                        let n = x.int(*n);
                        x.fact_of(Fact::ListSkip, list, &[n])
                    }
                    Stage::Take(n) => {
                        let n = x.int(*n);
                        x.fact_of(Fact::ListTake, list, &[n])
                    }
                    Stage::Append(more) => {
                        let more = x.ints(more);
                        x.put(Expr::Concat(list, more))
                    }
                };
            }
            list
        };
        prop_assert_eq!(eval(lazy), ints(&model));
        let ask = |fact| eval(|x| {
            let list = lazy(x);
            x.fact(fact, list)
        });
        prop_assert_eq!(ask(Fact::ListCount), Value::Int(model.len() as i64));
        prop_assert_eq!(ask(Fact::ListIsEmpty), Value::Bool(model.is_empty()));
        prop_assert_eq!(ask(Fact::ListFirst), model.first().copied().into());
        prop_assert_eq!(ask(Fact::ListLast), model.last().copied().into());
        prop_assert_eq!(ask(Fact::ListSame), Value::Bool(model.windows(2).all(|w| w[0] == w[1])));
        let contains = eval(|x| {
            let list = lazy(x);
            let three = x.int(3);
            x.in_list(three, list)
        });
        prop_assert_eq!(contains, Value::Bool(model.contains(&3)));
        let found = eval(|x| {
            let list = lazy(x);
            x.quantifier(Quantifier::Find, list, |x, it| {
                let four = x.int(4);
                x.compare(it, Compare::Gt, four)
            })
        });
        prop_assert_eq!(found, model.iter().copied().find(|&i| i > 4).into());
    }
}
