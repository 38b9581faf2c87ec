//! Names and values as the notation writes them.

use std::fmt::Write;

use crate::format::notation::fields::desc_fields;
use crate::format::notation::{names, origin, scan};
use crate::graph::{
    AttrValue, Attrs, Bytes, ListItems, ListValue, NamedAttrs, OpaqueGraph, Tensor, TensorDesc,
};

/// Remembers whether anything could not be written.
#[derive(Default)]
pub(super) struct Printer {
    pub lost: bool,
    depth: usize,
}

/// Values nest in brackets, one level each, and stand inside braces and subgraphs themselves. Deeper ones are
/// left out, since the parser would refuse them.
const MAX_VALUE_DEPTH: usize = scan::MAX_NESTING / 4;

impl Printer {
    /// A value, or `None` if it has no notation.
    pub fn value(&mut self, value: &AttrValue) -> Option<String> {
        if self.depth >= MAX_VALUE_DEPTH {
            self.lost = true;
            return None;
        }
        self.depth += 1;
        let text = self.shallow(value);
        self.depth -= 1;
        self.lost |= text.is_none();
        text
    }

    fn shallow(&mut self, value: &AttrValue) -> Option<String> {
        Some(match value {
            AttrValue::Unset => "unset".to_owned(),
            AttrValue::Str(text) => quoted(text),
            AttrValue::Int(int) => int.to_string(),
            AttrValue::Float(float) => number(*float),
            AttrValue::Bool(bool) => bool.to_string(),
            AttrValue::Bytes(bytes) => hex(bytes),
            AttrValue::List(list) => self.list(list)?,
            AttrValue::Func(func) => self.func(func)?,
            AttrValue::Desc(desc) => self.desc_value(desc),
            AttrValue::Tensor(tensor) => self.tensor(tensor),
            AttrValue::Graph(graph) => graph_value(graph),
            AttrValue::ListListInt(lists) => {
                let rows = lists.iter().map(|row| bracketed(row.iter().map(i64::to_string)));
                bracketed(rows) + if lists.is_empty() { ":ints" } else { "" }
            }
            AttrValue::ListListFloat(lists) => {
                let rows = lists.iter().map(|row| bracketed(row.iter().map(|f| number(*f))));
                bracketed(rows) + if lists.iter().all(|row| row.is_empty()) { ":floats" } else { "" }
            }
            AttrValue::DataType(cpp) => names::cpp_dtype_name(*cpp),
            AttrValue::Expression(text) => format!("expr {}", quoted(text)),
            AttrValue::Other(inner) => {
                self.lost = true;
                self.value(&inner.0)?
            }
        })
    }

    fn list(&mut self, list: &ListValue) -> Option<String> {
        self.lost |= !list.extra.is_empty();
        let (natural, items) = match &list.items {
            ListItems::Empty => (0, "[]".to_owned()),
            ListItems::Str(items) => (1, bracketed(items.iter().map(|t| quoted(t)))),
            ListItems::Int(items) => (2, bracketed(items.iter().map(i64::to_string))),
            ListItems::Float(items) => (3, bracketed(items.iter().map(|f| number(*f)))),
            ListItems::Bool(items) => (4, bracketed(items.iter().map(bool::to_string))),
            ListItems::Bytes(items) => (5, bracketed(items.iter().map(hex))),
            ListItems::Desc(items) => (6, bracketed(items.iter().map(|d| self.desc_value(d)))),
            ListItems::Tensor(items) => (7, bracketed(items.iter().map(|t| self.tensor(t)))),
            ListItems::Graph(items) => (8, bracketed(items.iter().map(graph_value))),
            ListItems::Func(items) => {
                (9, bracketed(items.iter().map(|f| self.func(f)).collect::<Option<Vec<_>>>()?))
            }
            ListItems::DataType(items) => (10, bracketed(items.iter().map(|d| names::cpp_dtype_name(*d)))),
            ListItems::Mixed(_) => return None,
        };
        // `[]` of a kind and an empty list of that type read alike.
        let natural = if items == "[]" { 0 } else { natural };
        let suffix = if list.val_type == natural {
            String::new()
        } else {
            ":".to_owned() + &names::list_type_name(list.val_type)
        };
        Some(items + &suffix)
    }

    fn func(&mut self, func: &NamedAttrs) -> Option<String> {
        self.lost |= !func.extra.is_empty();
        Some(format!("{} {}", keyword_safe(&func.name), self.block(Vec::new(), &func.attrs)))
    }

    fn desc_value(&mut self, desc: &TensorDesc) -> String {
        format!("desc {}", self.described(desc))
    }

    fn tensor(&mut self, tensor: &Tensor) -> String {
        self.lost |= !tensor.extra.is_empty();
        match &tensor.desc {
            Some(desc) => format!("tensor {} {}", self.described(desc), hex(&tensor.data)),
            None => format!("tensor {}", hex(&tensor.data)),
        }
    }

    fn described(&mut self, described: &TensorDesc) -> String {
        self.lost |= !described.extra.is_empty();
        let fields = desc_fields(described);
        let fields = fields
            .iter()
            .filter_map(|(name, v)| Some(format!("@{name} = {}", self.value(v)?)))
            .collect::<Vec<_>>();
        let attrs = origin::others(described);
        if fields.is_empty() && attrs.entries().is_empty() {
            return desc(described);
        }
        format!("{} {}", desc(described), self.block(fields, &attrs))
    }

    fn block(&mut self, mut entries: Vec<String>, attrs: &Attrs) -> String {
        for (key, value) in attrs.entries() {
            if let Some(value) = self.value(value) {
                entries.push(format!("{} = {value}", name(key.as_str())));
            }
        }
        if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
    }
}

fn graph_value(graph: &OpaqueGraph) -> String {
    format!("graph {}", hex(&graph.encoded))
}

fn bracketed(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

/// Always recognizable as a float, and the shortest that reads back.
fn number(float: f32) -> String {
    if float.is_nan() { "nan".to_owned() } else { format!("{float:?}") }
}

fn hex(bytes: &Bytes) -> String {
    let mut text = "hex\"".to_owned();
    for byte in bytes.iter() {
        let _ = write!(text, "{byte:02x}");
    }
    text + "\""
}

/// `float32[2,3] NCHW`, and what it is of, without what stands in attributes and other fields.
pub(super) fn desc(desc: &TensorDesc) -> String {
    let mut text = names::dtype_name(desc.dtype);
    if let Some(dims) = desc.shape.as_deref() {
        text.push_str(&shape(dims));
    }
    text.push_str(&layout(desc.layout.as_str()));
    if let Some((dims, format)) = origin::of(desc) {
        let _ = write!(text, " of {}{}", shape(dims), layout(format));
    }
    text
}

fn shape(dims: &[i64]) -> String {
    match dims {
        [-2] => "[?]".to_owned(),
        dims => format!("[{}]", dims.iter().map(i64::to_string).collect::<Vec<_>>().join(",")),
    }
}

/// ` NCHW`
fn layout(layout: &str) -> String {
    let (primary, sub) = layout.split_once(':').map_or((layout, "0"), |(primary, sub)| (primary, sub));
    let is_plain =
        is_word(primary) && primary != "of" && !sub.is_empty() && sub.bytes().all(|b| b.is_ascii_digit());
    if is_plain { format!(" {layout}") } else { format!(" {}", quoted(layout.as_bytes())) }
}

/// Whether a text is a word of the grammar.
pub(super) fn is_word(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii())
        && text.split(['.', '/', '-']).all(|part| !part.is_empty() && part.bytes().all(scan::is_word_byte))
}

/// A name, quoted if it must be.
pub(super) fn name(name: &str) -> String {
    if is_word(name) && name != "_" { name.to_owned() } else { quoted(name.as_bytes()) }
}

/// A name where a word may also be a value or announce one.
fn keyword_safe(text: &str) -> String {
    let keywords = ["hex", "tensor", "desc", "graph", "expr", "inf"];
    let head = text.split(['.', '/', '-']).next().unwrap_or_default();
    if keywords.contains(&head) { quoted(text.as_bytes()) } else { name(text) }
}

/// A string literal: valid UTF-8 as it is, other bytes and control characters escaped.
pub(super) fn quoted(bytes: &[u8]) -> String {
    let mut text = "\"".to_owned();
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '"' => text.push_str("\\\""),
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                '\0'..' ' | '\x7f' => {
                    let _ = write!(text, "\\x{:02x}", char as u32);
                }
                _ => text.push(char),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text + "\""
}
