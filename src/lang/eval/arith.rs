//! Comparison and arithmetic of values.

use super::Value;
use crate::lang::hir::{Arith, Compare};

pub(super) fn compare(op: Compare, left: &Value, right: &Value) -> bool {
    match op {
        Compare::Eq => return left == right,
        Compare::Ne => return left != right,
        _ if left.is_none() || right.is_none() => return false,
        _ => {}
    }
    let Some(order) = left.order(right) else { return false };
    match op {
        Compare::Lt => order.is_lt(),
        Compare::Le => order.is_le(),
        Compare::Gt => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// Integers saturate; division by zero gives none.
pub(super) fn arith(op: Arith, left: &Value, right: &Value) -> Value {
    let floats = match (left, right) {
        (&Value::Int(a), &Value::Int(b)) => {
            return match op {
                Arith::Add => Value::Int(a.saturating_add(b)),
                Arith::Sub => Value::Int(a.saturating_sub(b)),
                Arith::Mul => Value::Int(a.saturating_mul(b)),
                Arith::Div if b != 0 => Value::Int(a.saturating_div(b)),
                Arith::Rem if b != 0 => Value::Int(a.wrapping_rem(b)),
                Arith::Div | Arith::Rem => Value::None,
            };
        }
        (&Value::Float(a), &Value::Float(b)) => (a, b),
        (&Value::Int(a), &Value::Float(b)) => (a as f64, b),
        (&Value::Float(a), &Value::Int(b)) => (a, b as f64),
        _ => return Value::None,
    };
    let (a, b) = floats;
    match op {
        Arith::Add => Value::Float(a + b),
        Arith::Sub => Value::Float(a - b),
        Arith::Mul => Value::Float(a * b),
        Arith::Div if b != 0.0 => Value::Float(a / b),
        Arith::Rem if b != 0.0 => Value::Float(a % b),
        Arith::Div | Arith::Rem => Value::None,
    }
}
