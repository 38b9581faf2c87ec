//! What a description says of the tensor that the model means: `float16[1,2,8,8,16] NC1HWC0 of [1,32,8,8] NCHW`.
//!
//! Promise: reading what is printed gives the same two attributes. A description that has only one of them, or has them
//! in another form, shows them as attributes.

use std::sync::Arc;

use crate::graph::{AttrValue, Attrs, Extra, ListItems, ListValue, Sym, TensorDesc};

const SHAPE: &str = "origin_shape";
const FORMAT: &str = "origin_format";

/// Number of the list type of integers (`graph_formats.md` 2, ListValue).
const INTS: i32 = 2;

fn shape_value(dims: &[i64]) -> AttrValue {
    let (val_type, items) =
        if dims.is_empty() { (0, ListItems::Empty) } else { (INTS, ListItems::Int(dims.into())) };
    AttrValue::List(Arc::new(ListValue { val_type, items, extra: Extra::default() }))
}

/// Origin shape and format, if both are there as the notation would set them.
pub(super) fn of(desc: &TensorDesc) -> Option<(&[i64], &str)> {
    let shape = desc.attrs.get(Sym::lookup(SHAPE)?)?;
    let format = desc.attrs.get(Sym::lookup(FORMAT)?)?.as_str().filter(|format| !format.is_empty())?;
    let AttrValue::List(list) = shape else { return None };
    let dims: &[i64] = match &list.items {
        ListItems::Empty => &[],
        ListItems::Int(items) => items,
        _ => return None,
    };
    (*shape == shape_value(dims)).then_some((dims, format))
}

/// Adds the two attributes.
pub(super) fn set(attrs: &Attrs, dims: &[i64], format: &str) -> Attrs {
    let format = AttrValue::Str(format.as_bytes().into());
    attrs.with(Sym::new(SHAPE), shape_value(dims)).with(Sym::new(FORMAT), format)
}

/// The attributes that are shown as such.
pub(super) fn others(desc: &TensorDesc) -> Attrs {
    if of(desc).is_none() {
        return desc.attrs.clone();
    }
    let shown = |key: &Sym| key.as_str() != SHAPE && key.as_str() != FORMAT;
    Attrs::from_entries(desc.attrs.entries().iter().filter(|(key, _)| shown(key)).cloned().collect())
}
