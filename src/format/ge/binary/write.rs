//! From messages to bytes.

use super::super::desc::restore_old_attributes;
use super::super::groups;
use super::super::message::{GraphMsg, ModelMsg, OpMsg};
use crate::format::Writer;
use crate::graph::{
    AttrValue, Attrs, Extra, ExtraField, ListItems, ListValue, NamedAttrs, Tensor, TensorDesc,
};

/// Encodes a whole model; also tells how many fields have no binary form and were left out.
pub fn write(model: &ModelMsg<'_>) -> (Vec<u8>, usize) {
    let mut w = Writer::new();
    w.str_or_default(1, &model.name);
    w.int64_or_default(2, i64::from(model.version));
    w.str_or_default(3, &model.custom_version);
    for graph in &model.graphs {
        w.message(7, |w| write_graph(w, graph));
    }
    write_attrs(&mut w, 11, &model.attrs);
    write_extra(&mut w, groups::MODEL, &model.extra);
    let skipped = w.skipped();
    (w.finish(), skipped)
}

/// Encodes one graph on its own.
pub fn encode_graph(graph: &GraphMsg<'_>) -> Vec<u8> {
    let mut w = Writer::new();
    write_graph(&mut w, graph);
    w.finish()
}

fn write_graph(w: &mut Writer, graph: &GraphMsg<'_>) {
    w.str_or_default(1, &graph.name);
    graph.input.iter().for_each(|s| w.str(4, s));
    graph.output.iter().for_each(|s| w.str(5, s));
    graph.ops.iter().for_each(|op| w.message(6, |w| write_op(w, op)));
    write_attrs(w, 11, &graph.attrs);
    write_extra(w, groups::GRAPH, &graph.extra);
}

fn write_op(w: &mut Writer, op: &OpMsg<'_>) {
    let detail = op.detail.as_deref();
    w.str_or_default(1, &op.name);
    w.str_or_default(2, op.ty.as_str());
    op.input.iter().for_each(|s| w.str(5, s));
    write_attrs(w, 10, &op.attrs);
    if let Some(detail) = detail {
        w.bool_or_default(20, detail.has_out_attr);
    }
    w.int64_or_default(21, op.id);
    if let Some(detail) = detail {
        w.int64_or_default(22, detail.stream_id);
        detail.input_name.iter().for_each(|s| w.str(23, s));
        detail.src_name.iter().for_each(|s| w.str(24, s));
        w.packed_int64s(25, &detail.src_index);
        detail.dst_name.iter().for_each(|s| w.str(26, s));
        w.packed_int64s(27, &detail.dst_index);
        w.packed_int64s(28, &detail.input_i);
        w.packed_int64s(29, &detail.output_i);
        w.packed_int64s(30, &detail.workspace);
        w.packed_int64s(31, &detail.workspace_bytes);
        w.packed_bools(32, &detail.const_inputs);
    }
    op.input_desc.iter().for_each(|desc| w.message(33, |w| write_desc(w, desc)));
    op.output_desc.iter().for_each(|desc| w.message(34, |w| write_desc(w, desc)));
    op.subgraph_name.iter().for_each(|s| w.str(35, s));
    if let Some(detail) = detail {
        write_extra(w, groups::OP, &detail.extra);
    }
}

fn write_desc(w: &mut Writer, desc: &TensorDesc) {
    let old = restore_old_attributes(desc);
    let desc = old.as_ref().unwrap_or(desc);
    w.str_or_default(1, &desc.name);
    w.int64_or_default(2, i64::from(desc.dtype));
    if let Some(dims) = &desc.shape {
        w.message(3, |w| w.packed_int64s(1, dims));
    }
    w.str_or_default(4, desc.layout.as_str());
    write_attrs(w, 5, &desc.attrs);
    w.bool_or_default(9, desc.has_out_attr);
    w.int64_or_default(10, desc.size);
    w.int64_or_default(11, desc.weight_size);
    w.bool_or_default(12, desc.reuse_input);
    w.bool_or_default(13, desc.output_tensor);
    w.str_or_default(14, desc.device_type.as_str());
    w.bool_or_default(15, desc.input_tensor);
    w.int64_or_default(16, desc.real_dim_cnt);
    w.int64_or_default(17, desc.reuse_input_index);
    w.int64_or_default(18, desc.data_offset);
    if let Some(compression) = &desc.compression {
        w.int64_or_default(19, compression.size);
        if !compression.table.is_empty() {
            w.bytes(20, &compression.table);
        }
        w.int64_or_default(21, compression.table_offset);
    }
    write_extra(w, groups::DESC, &desc.extra);
}

/// Unknown fields of a message that can hold attribute groups.
fn write_extra(w: &mut Writer, number: u32, extra: &Extra) {
    for field in extra.fields() {
        let groups = match field {
            ExtraField::Binary { encoded, .. } => {
                w.raw(encoded);
                continue;
            }
            ExtraField::Text { name, body } if **name == *groups::NAME => groups::to_binary(body),
            ExtraField::Text { .. } => None,
        };
        match groups {
            Some(groups) => w.bytes(number, &groups),
            None => w.skip(),
        }
    }
}

fn write_attrs(w: &mut Writer, number: u32, attrs: &Attrs) {
    for (key, value) in attrs.entries() {
        w.message(number, |w| {
            w.str(1, key.as_str());
            w.message(2, |w| write_value(w, value));
        });
    }
}

fn write_value(w: &mut Writer, value: &AttrValue) {
    match value {
        AttrValue::Unset => {}
        AttrValue::List(list) => w.message(1, |w| write_list(w, list)),
        AttrValue::Str(bytes) => w.bytes(2, bytes),
        AttrValue::Int(value) => w.int64(3, *value),
        AttrValue::Float(value) => w.float(4, *value),
        AttrValue::Bool(value) => w.bool(5, *value),
        AttrValue::Bytes(bytes) => w.bytes(7, bytes),
        AttrValue::Func(func) => w.message(10, |w| write_named_attrs(w, func)),
        AttrValue::Desc(desc) => w.message(11, |w| write_desc(w, desc)),
        AttrValue::Tensor(tensor) => w.message(12, |w| write_tensor(w, tensor)),
        AttrValue::Graph(graph) => w.bytes(13, &graph.encoded),
        AttrValue::ListListInt(rows) => {
            w.message(14, |w| rows.iter().for_each(|row| w.message(1, |w| w.packed_int64s(1, row))));
        }
        AttrValue::DataType(value) => w.int64(15, *value),
        AttrValue::ListListFloat(rows) => {
            w.message(16, |w| rows.iter().for_each(|row| w.message(1, |w| w.packed_floats(1, row))));
        }
        AttrValue::Expression(bytes) => w.bytes(17, bytes),
        AttrValue::Other(other) => {
            write_value(w, &other.0);
            w.extra(&other.1);
        }
    }
}

fn write_list(w: &mut Writer, list: &ListValue) {
    write_items(w, &list.items);
    w.int64_or_default(20, i64::from(list.val_type));
    w.extra(&list.extra);
}

fn write_items(w: &mut Writer, items: &ListItems) {
    match items {
        ListItems::Empty => {}
        ListItems::Str(items) => items.iter().for_each(|s| w.bytes(2, s)),
        ListItems::Int(items) => w.packed_int64s(3, items),
        ListItems::Float(items) => w.packed_floats(4, items),
        ListItems::Bool(items) => w.packed_bools(5, items),
        ListItems::Bytes(items) => items.iter().for_each(|s| w.bytes(7, s)),
        ListItems::Desc(items) => items.iter().for_each(|d| w.message(8, |w| write_desc(w, d))),
        ListItems::Tensor(items) => items.iter().for_each(|t| w.message(9, |w| write_tensor(w, t))),
        ListItems::Graph(items) => items.iter().for_each(|g| w.bytes(10, &g.encoded)),
        ListItems::Func(items) => items.iter().for_each(|f| w.message(11, |w| write_named_attrs(w, f))),
        ListItems::DataType(items) => w.packed_int64s(12, items),
        ListItems::Mixed(kinds) => kinds.iter().for_each(|kind| write_items(w, kind)),
    }
}

fn write_named_attrs(w: &mut Writer, func: &NamedAttrs) {
    w.str_or_default(1, &func.name);
    write_attrs(w, 2, &func.attrs);
    w.extra(&func.extra);
}

fn write_tensor(w: &mut Writer, tensor: &Tensor) {
    if let Some(desc) = &tensor.desc {
        w.message(1, |w| write_desc(w, desc));
    }
    if !tensor.data.is_empty() {
        w.bytes(2, &tensor.data);
    }
    w.extra(&tensor.extra);
}
