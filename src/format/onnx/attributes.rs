//! ONNX attributes as attribute values.

use std::sync::Arc;

use super::proto::{self, Value};
use super::tensor::tensor;
use crate::graph::{AttrValue, Extra, ListItems, ListValue};

/// The value, or `None` for what is no plain value: graphs become subgraphs, the rest stays in the file.
pub(super) fn value(value: &Value<'_>) -> Option<AttrValue> {
    let list =
        |val_type, items| AttrValue::List(Arc::new(ListValue { val_type, items, extra: Extra::default() }));
    Some(match value {
        Value::Float(f) => AttrValue::Float(*f),
        Value::Int(i) => AttrValue::Int(*i),
        Value::Str(s) => AttrValue::Str((*s).into()),
        Value::Tensor(t) => AttrValue::Tensor(Arc::new(tensor(t))),
        Value::Strings(items) if !items.is_empty() => {
            list(1, ListItems::Str(items.iter().map(|s| (*s).into()).collect()))
        }
        Value::Ints(items) if !items.is_empty() => list(2, ListItems::Int(items.as_slice().into())),
        Value::Floats(items) if !items.is_empty() => list(3, ListItems::Float(items.as_slice().into())),
        Value::Tensors(items) if !items.is_empty() => {
            list(7, ListItems::Tensor(items.iter().map(tensor).collect()))
        }
        Value::Strings(_) => list(1, ListItems::Empty),
        Value::Ints(_) => list(2, ListItems::Empty),
        Value::Floats(_) => list(3, ListItems::Empty),
        Value::Tensors(_) => list(7, ListItems::Empty),
        Value::Graph(_) | Value::Graphs(_) | Value::Other => return None,
    })
}

/// The tensor that a `Constant` node stands for, from whichever attribute holds it.
pub(super) fn constant_tensor<'a>(node: &proto::Node<'a>) -> Option<proto::Tensor<'a>> {
    const FLOAT: i32 = 1;
    const INT64: i32 = 7;
    const STRING: i32 = 8;
    let empty = proto::Tensor::default;
    let length = |n: usize| vec![n as i64];
    node.attributes.iter().find_map(|attribute| {
        Some(match (attribute.name, &attribute.value) {
            ("value", Value::Tensor(tensor)) => (**tensor).clone(),
            ("value_float", Value::Float(f)) => proto::Tensor { dtype: FLOAT, floats: vec![*f], ..empty() },
            ("value_int", Value::Int(i)) => proto::Tensor { dtype: INT64, int64s: vec![*i], ..empty() },
            ("value_string", Value::Str(_)) => proto::Tensor { dtype: STRING, ..empty() },
            ("value_floats", Value::Floats(f)) => {
                proto::Tensor { dtype: FLOAT, dims: length(f.len()), floats: f.clone(), ..empty() }
            }
            ("value_ints", Value::Ints(i)) => {
                proto::Tensor { dtype: INT64, dims: length(i.len()), int64s: i.clone(), ..empty() }
            }
            ("value_strings", Value::Strings(s)) => {
                proto::Tensor { dtype: STRING, dims: length(s.len()), ..empty() }
            }
            _ => return None,
        })
    })
}
