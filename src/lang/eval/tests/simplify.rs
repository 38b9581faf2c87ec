//! Simplified code: what becomes of it. That it gives the same values is asked in all tests of expressions.

use super::build::*;
use crate::lang::eval::code::{Code, Op};
use crate::lang::eval::{Program, Value};
use crate::lang::hir::*;
use crate::lang::syntax::ast::{Kind, OptionType};

/// The code of a function, written and simplified, and its value.
fn codes<'a>(program: &'a Program, name: &str) -> (&'a Code, &'a Code, ExprId) {
    let linked = program.entry(Kind::Fn, sym(name)).and_then(|id| program.linked(id)).expect("it is linked");
    let Entry::Fn { value, .. } = &*linked.entry else { panic!("`{name}` is a function") };
    (&linked.code, &linked.plain, *value)
}

fn calls(code: &Code, id: ExprId) -> usize {
    let mut count = usize::from(matches!(code.ops[id as usize], Op::Call { .. }));
    code.children(id, &mut |child| count += calls(code, child));
    count
}

/// `digits(a, b) = a * 10 + b`
fn digits() -> P {
    let mut items = P::default();
    items.function("digits", 2, |x| {
        let (a, b, ten) = (x.local(0), x.local(1), x.int(10));
        let tens = x.arith(Arith::Mul, a, ten);
        x.arith(Arith::Add, tens, b)
    });
    items
}

#[test]
fn what_an_option_decides_is_decided_once() {
    let mut items = P::default();
    let default = OptionValue::Bool(false);
    items.add(Kind::Option, "fast", Entry::Option { ty: OptionType::Bool, default, from_env: false });
    items.options.insert(sym("fast"), OptionValue::Bool(true));
    items.function("is_fast", 0, |x| x.put(Expr::Option(sym("fast"))));
    items.function("speed", 1, |x| {
        let condition = x.put(Expr::Call { function: sym("is_fast"), args: Box::new([]), lift: 0 });
        let slow = x.put(Expr::Not(condition));
        let (then, otherwise) = (x.int(1), x.local(0));
        x.put(Expr::First { cases: Box::new([(slow, then)]), otherwise: Some(otherwise) })
    });
    let program = items.link();
    let (written, plain, value) = codes(&program, "speed");
    assert!(matches!(written.ops[value as usize], Op::First { .. }));
    assert!(matches!(plain.ops[value as usize], Op::Local(0)));
}

#[test]
fn small_functions_stand_where_they_are_called() {
    let nested = |x: &mut B| {
        let (n, one, two) = (x.local(0), x.int(1), x.int(2));
        let (left, right) = (x.call("digits", &[n, one]), x.call("digits", &[n, two]));
        x.call("digits", &[left, right])
    };
    let snapshot = G::new().finish();
    assert_eq!(eval_with(digits(), &snapshot, &[Value::Int(3)], nested), Value::Int(342));
    assert_eq!(eval_with(digits(), &snapshot, &[Value::None], nested), Value::None);
    let mut items = digits();
    items.function("nested", 1, nested);
    let program = items.link();
    let (written, plain, value) = codes(&program, "nested");
    assert_eq!((calls(written, value), calls(plain, value)), (3, 0));
}

#[test]
fn arguments_keep_out_of_each_others_way_in_loops() {
    let value = eval_with(digits(), &G::new().finish(), &[Value::Int(7)], |x| {
        let list = x.range(1, 5);
        let list = x.filter(list, |x, it| {
            let (seven, limit) = (x.local(0), x.int(30));
            let double = x.arith(Arith::Add, it, it);
            let number = x.call("digits", &[double, seven]);
            x.compare(number, Compare::Gt, limit)
        });
        x.each(Each::Map, list, |x, it| {
            let one = x.int(1);
            let next = x.arith(Arith::Add, it, one);
            x.call("digits", &[next, it])
        })
    });
    // 27, 47, 67, 87: those beyond 30 are of 2, 3 and 4.
    assert_eq!(value, Value::list([32, 43, 54].map(Value::Int).to_vec()));
}

#[test]
fn dear_functions_are_called_and_remembered() {
    let mut items = P::default();
    items.function("sum", 1, |x| {
        let list = x.range(0, 9);
        x.each(Each::Sum, list, |_, it| it)
    });
    items.function("twice", 1, |x| {
        let n = x.local(0);
        let (a, b) = (x.call("sum", &[n]), x.call("sum", &[n]));
        x.arith(Arith::Add, a, b)
    });
    let program = items.link();
    let (_, plain, value) = codes(&program, "twice");
    assert_eq!(calls(plain, value), 2);
    let remembered =
        |name| program.entry(Kind::Fn, sym(name)).and_then(|id| program.linked(id)).map(|l| l.memo);
    assert_eq!((remembered("sum"), remembered("twice")), (Some(true), Some(false)));
}
