//! From messages to text, in exactly the style of GE's own dumps (`graph_formats.md` 4.4).
//!
//! Promise: fields in ascending order of their numbers, map entries sorted by key, two spaces a level; the output is
//! pure ASCII.

use std::fmt::Write;

use super::super::binary;
use super::super::desc::restore_old_attributes;
use super::super::groups;
use super::super::message::{GraphMsg, ModelMsg, OpMsg};
use super::super::names::{DTYPE, Enum, LIST_TYPE};
use crate::graph::{
    AttrValue, Attrs, Extra, ExtraField, ListItems, ListValue, NamedAttrs, OpaqueGraph, Tensor, TensorDesc,
};

/// Prints a whole dump; also tells how many fields have no name and were left out.
pub fn print(model: &ModelMsg<'_>) -> (String, usize) {
    let mut p = Printer::default();
    p.string_or_default("name", &model.name);
    p.int_or_default("version", i64::from(model.version));
    p.string_or_default("custom_version", &model.custom_version);
    for graph in &model.graphs {
        p.message("graph", |p| p.graph(graph));
    }
    p.attrs(&model.attrs);
    p.extra(groups::MODEL, &model.extra);
    (p.out, p.skipped)
}

#[derive(Default)]
struct Printer {
    out: String,
    level: usize,
    skipped: usize,
}

impl Printer {
    fn start(&mut self, name: &str) {
        const SPACES: &str = "                                ";
        let mut left = self.level * 2;
        while left > 0 {
            let now = left.min(SPACES.len());
            self.out.push_str(&SPACES[..now]);
            left -= now;
        }
        self.out.push_str(name);
    }

    fn message(&mut self, name: &str, fill: impl FnOnce(&mut Printer)) {
        self.start(name);
        self.out.push_str(" {\n");
        self.level += 1;
        fill(self);
        self.level -= 1;
        self.start("}\n");
    }

    fn word(&mut self, name: &str, value: &str) {
        self.start(name);
        self.out.push_str(": ");
        self.out.push_str(value);
        self.out.push('\n');
    }

    fn int(&mut self, name: &str, value: i64) {
        self.start(name);
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, ": {value}");
    }

    fn bytes(&mut self, name: &str, value: &[u8]) {
        self.start(name);
        self.out.push_str(": ");
        quote(&mut self.out, value);
        self.out.push('\n');
    }

    fn bool(&mut self, name: &str, value: bool) {
        self.word(name, if value { "true" } else { "false" });
    }

    fn float(&mut self, name: &str, value: f32) {
        self.word(name, &float(value));
    }

    fn enumeration(&mut self, name: &str, kind: Enum, value: i32) {
        match kind.name(value) {
            _ if value == 0 => {}
            Some(text) => self.word(name, text),
            None => self.int(name, i64::from(value)),
        }
    }

    fn string_or_default(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.bytes(name, value.as_bytes());
        }
    }

    fn int_or_default(&mut self, name: &str, value: i64) {
        if value != 0 {
            self.int(name, value);
        }
    }

    fn bool_or_default(&mut self, name: &str, value: bool) {
        if value {
            self.bool(name, true);
        }
    }

    fn strings(&mut self, name: &str, values: &[impl AsRef<str>]) {
        values.iter().for_each(|value| self.bytes(name, value.as_ref().as_bytes()));
    }

    fn ints(&mut self, name: &str, values: &[i64]) {
        values.iter().for_each(|value| self.int(name, *value));
    }

    fn graph(&mut self, graph: &GraphMsg<'_>) {
        self.string_or_default("name", &graph.name);
        self.strings("input", &graph.input);
        self.strings("output", &graph.output);
        for op in &graph.ops {
            self.message("op", |p| p.op(op));
        }
        self.attrs(&graph.attrs);
        self.extra(groups::GRAPH, &graph.extra);
    }

    fn op(&mut self, op: &OpMsg<'_>) {
        let detail = op.detail.as_deref();
        self.string_or_default("name", &op.name);
        self.string_or_default("type", op.ty.as_str());
        self.strings("input", &op.input);
        self.attrs(&op.attrs);
        if let Some(detail) = detail {
            self.groups(groups::OP, &detail.extra);
            self.bool_or_default("has_out_attr", detail.has_out_attr);
        }
        self.int_or_default("id", op.id);
        if let Some(detail) = detail {
            self.int_or_default("stream_id", detail.stream_id);
            self.strings("input_name", &detail.input_name);
            self.strings("src_name", &detail.src_name);
            self.ints("src_index", &detail.src_index);
            self.strings("dst_name", &detail.dst_name);
            self.ints("dst_index", &detail.dst_index);
            self.ints("input_i", &detail.input_i);
            self.ints("output_i", &detail.output_i);
            self.ints("workspace", &detail.workspace);
            self.ints("workspace_bytes", &detail.workspace_bytes);
            detail.const_inputs.iter().for_each(|b| self.bool("is_input_const", *b));
        }
        op.input_desc.iter().for_each(|desc| self.message("input_desc", |p| p.desc(desc)));
        op.output_desc.iter().for_each(|desc| self.message("output_desc", |p| p.desc(desc)));
        self.strings("subgraph_name", &op.subgraph_name);
        if let Some(detail) = detail {
            self.others(groups::OP, &detail.extra);
        }
    }

    fn desc(&mut self, desc: &TensorDesc) {
        let old = restore_old_attributes(desc);
        let desc = old.as_ref().unwrap_or(desc);
        self.string_or_default("name", &desc.name);
        self.enumeration("dtype", DTYPE, desc.dtype);
        if let Some(dims) = &desc.shape {
            self.message("shape", |p| p.ints("dim", dims));
        }
        self.string_or_default("layout", desc.layout.as_str());
        self.attrs(&desc.attrs);
        self.groups(groups::DESC, &desc.extra);
        self.bool_or_default("has_out_attr", desc.has_out_attr);
        self.int_or_default("size", desc.size);
        self.int_or_default("weight_size", desc.weight_size);
        self.bool_or_default("reuse_input", desc.reuse_input);
        self.bool_or_default("output_tensor", desc.output_tensor);
        self.string_or_default("device_type", desc.device_type.as_str());
        self.bool_or_default("input_tensor", desc.input_tensor);
        self.int_or_default("real_dim_cnt", desc.real_dim_cnt);
        self.int_or_default("reuse_input_index", desc.reuse_input_index);
        self.int_or_default("data_offset", desc.data_offset);
        if let Some(compression) = &desc.compression {
            self.int_or_default("cmps_size", compression.size);
            if !compression.table.is_empty() {
                self.bytes("cmps_tab", &compression.table);
            }
            self.int_or_default("cmps_tab_offset", compression.table_offset);
        }
        self.others(groups::DESC, &desc.extra);
    }

    fn attrs(&mut self, attrs: &Attrs) {
        for (key, value) in attrs.entries() {
            self.message("attr", |p| {
                p.bytes("key", key.as_str().as_bytes());
                p.message("value", |p| p.value(value));
            });
        }
    }

    fn value(&mut self, value: &AttrValue) {
        match value {
            AttrValue::Unset => {}
            AttrValue::Str(bytes) => self.bytes("s", bytes),
            AttrValue::Int(value) => self.int("i", *value),
            AttrValue::Float(value) => self.float("f", *value),
            AttrValue::Bool(value) => self.bool("b", *value),
            AttrValue::Bytes(bytes) => self.bytes("bt", bytes),
            AttrValue::List(list) => self.message("list", |p| p.list(list)),
            AttrValue::Func(func) => self.message("func", |p| p.named_attrs(func)),
            AttrValue::Desc(desc) => self.message("td", |p| p.desc(desc)),
            AttrValue::Tensor(tensor) => self.message("t", |p| p.tensor(tensor)),
            AttrValue::Graph(graph) => self.opaque_graph(graph),
            AttrValue::ListListInt(rows) => self.message("list_list_int", |p| {
                rows.iter().for_each(|row| p.message("list_list_i", |p| p.ints("list_i", row)));
            }),
            AttrValue::ListListFloat(rows) => self.message("list_list_float", |p| {
                let row = |p: &mut Printer, row: &[f32]| row.iter().for_each(|f| p.float("list_f", *f));
                rows.iter().for_each(|items| p.message("list_list_f", |p| row(p, items)));
            }),
            AttrValue::DataType(value) => self.int("dt", *value),
            AttrValue::Expression(bytes) => self.bytes("expression", bytes),
            AttrValue::Other(other) => {
                self.value(&other.0);
                self.others(NO_GROUPS, &other.1);
            }
        }
    }

    fn list(&mut self, list: &ListValue) {
        self.items(&list.items);
        self.enumeration("val_type", LIST_TYPE, list.val_type);
        self.others(NO_GROUPS, &list.extra);
    }

    fn items(&mut self, items: &ListItems) {
        match items {
            ListItems::Empty => {}
            ListItems::Str(items) => items.iter().for_each(|s| self.bytes("s", s)),
            ListItems::Int(items) => self.ints("i", items),
            ListItems::Float(items) => items.iter().for_each(|f| self.float("f", *f)),
            ListItems::Bool(items) => items.iter().for_each(|b| self.bool("b", *b)),
            ListItems::Bytes(items) => items.iter().for_each(|s| self.bytes("bt", s)),
            ListItems::Desc(items) => items.iter().for_each(|d| self.message("td", |p| p.desc(d))),
            ListItems::Tensor(items) => items.iter().for_each(|t| self.message("t", |p| p.tensor(t))),
            ListItems::Graph(items) => items.iter().for_each(|g| self.opaque_graph(g)),
            ListItems::Func(items) => items.iter().for_each(|f| self.message("na", |p| p.named_attrs(f))),
            ListItems::DataType(items) => self.ints("dt", items),
            ListItems::Mixed(kinds) => kinds.iter().for_each(|kind| self.items(kind)),
        }
    }

    fn named_attrs(&mut self, func: &NamedAttrs) {
        self.string_or_default("name", &func.name);
        self.attrs(&func.attrs);
        self.others(NO_GROUPS, &func.extra);
    }

    fn tensor(&mut self, tensor: &Tensor) {
        if let Some(desc) = &tensor.desc {
            self.message("desc", |p| p.desc(desc));
        }
        if !tensor.data.is_empty() {
            self.bytes("data", &tensor.data);
        }
        self.others(NO_GROUPS, &tensor.extra);
    }

    fn opaque_graph(&mut self, graph: &OpaqueGraph) {
        self.message("g", |p| {
            // Our readers only keep graphs that they have read once, so this reads again.
            if let Ok(graph) = binary::decode_graph(&graph.encoded) {
                p.graph(&graph);
            }
        });
    }

    /// Unknown fields of a message in which nothing stands behind the attribute groups.
    fn extra(&mut self, number: u32, extra: &Extra) {
        self.groups(number, extra);
        self.others(number, extra);
    }

    /// The attribute groups, which have this number in this message.
    fn groups(&mut self, number: u32, extra: &Extra) {
        for field in extra.fields().iter().filter(|field| is_groups(field, number)) {
            match field {
                ExtraField::Text { body, .. } => self.lines(body),
                ExtraField::Binary { encoded, .. } => match groups::to_text(encoded) {
                    Some(body) => self.lines(&body),
                    None => self.skipped += 1,
                },
            }
        }
    }

    /// Unknown fields but for the attribute groups.
    fn others(&mut self, number: u32, extra: &Extra) {
        for field in extra.fields().iter().filter(|field| !is_groups(field, number)) {
            match field {
                ExtraField::Text { body, .. } => self.lines(body),
                ExtraField::Binary { .. } => self.skipped += 1,
            }
        }
    }

    fn lines(&mut self, body: &str) {
        for line in body.lines() {
            self.start(line);
            self.out.push('\n');
        }
    }
}

/// No field has this number.
const NO_GROUPS: u32 = 0;

fn is_groups(field: &ExtraField, number: u32) -> bool {
    match field {
        ExtraField::Text { name, .. } => **name == *groups::NAME && number != NO_GROUPS,
        ExtraField::Binary { number: found, .. } => *found == number,
    }
}

/// Appends `bytes` as a string literal.
pub fn quote(out: &mut String, bytes: &[u8]) {
    out.push('"');
    let mut rest = bytes;
    while !rest.is_empty() {
        let is_plain = |b: &u8| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\'' | b'\\');
        let (plain, tail) = rest.split_at(rest.iter().position(|b| !is_plain(b)).unwrap_or(rest.len()));
        // Plain bytes are ASCII.
        out.push_str(std::str::from_utf8(plain).unwrap_or_default());
        rest = match tail {
            [byte, tail @ ..] => {
                match byte {
                    b'\n' => out.push_str("\\n"),
                    b'\r' => out.push_str("\\r"),
                    b'\t' => out.push_str("\\t"),
                    b'"' | b'\'' | b'\\' => {
                        out.push('\\');
                        out.push(char::from(*byte));
                    }
                    _ => {
                        out.push('\\');
                        out.extend(
                            [byte >> 6, byte >> 3 & 7, byte & 7].map(|digit| char::from(b'0' + digit)),
                        );
                    }
                }
                tail
            }
            [] => tail,
        };
    }
    out.push('"');
}

/// The shorter of C's `%.6g` and `%.9g` that reads back as the same number.
pub fn float(value: f32) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let short = general(value, 6);
    if short.parse() == Ok(value) { short } else { general(value, 9) }
}

/// C's `%.<digits>g` of a finite number.
fn general(value: f32, digits: i32) -> String {
    let scientific = format!("{:.*e}", digits as usize - 1, f64::from(value));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if exponent < -4 || exponent >= digits {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    trim(&format!("{:.*}", (digits - 1 - exponent) as usize, f64::from(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_as_c_prints_them() {
        let cases = [
            (0.1, "0.1"),
            (1e-5, "1e-05"),
            (1e6, "1e+06"),
            (1.0 / 3.0, "0.333333343"),
            (-0.0, "-0"),
            (0.0, "0"),
            (123_456.0, "123456"),
            (16_777_217.0, "16777216"),
            (f32::INFINITY, "inf"),
            (f32::NEG_INFINITY, "-inf"),
            (f32::NAN, "nan"),
            (1e-4, "0.0001"),
            (f32::MAX, "3.40282347e+38"),
        ];
        for (value, text) in cases {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn strings_as_protobuf_prints_them() {
        let mut out = String::new();
        quote(&mut out, "a\"'\\\n\r\t\u{1}\u{7f}中".as_bytes());
        assert_eq!(out, r#""a\"\'\\\n\r\t\001\177\344\270\255""#);
    }
}
