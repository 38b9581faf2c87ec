//! From the nodes of a dump to GE messages: attribute names carry what fields carry elsewhere.
//!
//! Booleans of the graph arrive as integers, and stay integers: which attribute is a bool is rule data.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::read::{Attribute, Graph, Node};
use crate::format::ge::{DTYPE, DetailFields, GraphMsg, OpMsg, Pool, compression};
use crate::graph::{AttrValue, Attrs, Bytes, Extra, ListItems, ListValue, Sym, Tensor, TensorDesc};

/// The operator of a node that holds a subgraph.
const SUBGRAPH: &str = "subgraph";

/// The root graph, then its subgraphs, which the dump keeps as nodes of the root.
pub(super) fn graphs(root: Graph<'_>) -> Vec<GraphMsg<'_>> {
    let mut pool = Pool::default();
    let mut all = vec![GraphMsg { offset: root.offset, ..GraphMsg::default() }];
    for node in root.nodes {
        if node.op != SUBGRAPH {
            let op = op(node, &mut pool);
            all[0].ops.push(op);
            continue;
        }
        let held = node.attributes.into_iter().find_map(|attribute| attribute.graph);
        let held = held.map_or(Vec::new(), |graph| graph.nodes);
        let ops = held.into_iter().map(|node| op(node, &mut pool)).collect();
        all.push(GraphMsg { name: node.name, ops, offset: node.offset, ..GraphMsg::default() });
    }
    all
}

/// The descriptions of one direction, while their fields come in.
#[derive(Default)]
struct Descs(BTreeMap<usize, (TensorDesc, Vec<(Sym, AttrValue)>)>);

impl Descs {
    /// In slot order. `most` bounds the slots that a wrong number can ask for.
    fn finish(mut self, most: usize) -> Vec<Arc<TensorDesc>> {
        self.0.retain(|index, _| *index < most);
        let count = self.0.last_key_value().map_or(0, |(index, _)| index + 1);
        let mut descs = vec![Arc::<TensorDesc>::default(); count];
        for (index, (desc, attrs)) in self.0 {
            descs[index] = Arc::new(TensorDesc { attrs: Attrs::from_entries(grouped(attrs)), ..desc });
        }
        descs
    }

    /// Takes `F:i`, `attr_A:i`, `attr_A:i_k`, or `i` with a JSON object; `false` if `key` is none of them.
    fn take(&mut self, key: &str, attribute: &Attribute<'_>) -> bool {
        if let Ok(index) = key.parse::<usize>() {
            let Ok(serde_json::Value::Object(fields)) = serde_json::from_slice(&attribute.s) else {
                return false;
            };
            for (key, value) in &fields {
                let key = key.strip_prefix("input_desc_").or(key.strip_prefix("output_desc_")).unwrap_or(key);
                let field = key.split(':').next().unwrap_or(key);
                self.set(index, field, None, &from_json(value));
            }
            return true;
        }
        let Some((field, place)) = key.rsplit_once(':') else { return false };
        let (index, part) = place.split_once('_').map_or((place, None), |(index, part)| (index, Some(part)));
        let Ok(index) = index.parse() else { return false };
        self.set(index, field, part, attribute);
        true
    }

    fn set(&mut self, index: usize, field: &str, part: Option<&str>, attribute: &Attribute<'_>) {
        let (desc, attrs) = self.0.entry(index).or_default();
        if let Some(key) = field.strip_prefix("attr_") {
            let key = part.map_or(Cow::Borrowed(key), |part| format!("{key}_{part}").into());
            attrs.extend(value(attribute).map(|value| (Sym::new(&key), value)));
            return;
        }
        let text = String::from_utf8_lossy(&attribute.s);
        match field {
            "dtype" => desc.dtype = DTYPE.number(text.as_bytes()).unwrap_or(0),
            "shape" => desc.shape = Some(attribute.ints.as_slice().into()),
            "layout" => desc.layout = Sym::new(&text),
            "origin_dtype" => attrs.push((Sym::new("origin_data_type"), AttrValue::str(&text))),
            "origin_shape" => {
                attrs.push((Sym::new("origin_shape"), AttrValue::ints(attribute.ints.iter().copied())))
            }
            "origin_layout" => attrs.push((Sym::new("origin_format"), AttrValue::str(&text))),
            "size" => desc.size = attribute.i,
            "weight_size" => desc.weight_size = attribute.i,
            "reuse_input" => desc.reuse_input = attribute.i != 0,
            "output_tensor" => desc.output_tensor = attribute.i != 0,
            "input_tensor" => desc.input_tensor = attribute.i != 0,
            "device_type" => desc.device_type = Sym::new(&text),
            "real_dim_cnt" => desc.real_dim_cnt = attribute.i,
            "data_offset" => desc.data_offset = attribute.i,
            "cmps_size" => compression(desc).size = attribute.i,
            "cmps_tab" => compression(desc).table = attribute.s.as_ref().into(),
            "cmps_tab_offset" => compression(desc).table_offset = attribute.i,
            // Symbolic shapes as a viewer's text: nothing to take.
            _ => {}
        }
    }
}

/// A JSON value as the attribute that it stands for.
fn from_json(value: &serde_json::Value) -> Attribute<'static> {
    let int = |v: &serde_json::Value| v.as_i64().or(v.as_bool().map(i64::from));
    let mut attribute = Attribute::default();
    match value {
        serde_json::Value::String(text) => {
            attribute.kind = "STRING".to_owned();
            attribute.s = text.clone().into_bytes().into();
        }
        serde_json::Value::Array(items) => {
            attribute.kind = "INTS".to_owned();
            attribute.ints = items.iter().filter_map(int).collect();
        }
        other => {
            attribute.kind = "INT".to_owned();
            attribute.i = int(other).unwrap_or(0);
        }
    }
    attribute
}

fn op<'a>(node: Node<'a>, pool: &mut Pool) -> OpMsg<'a> {
    let (mut inputs, mut outputs) = (Descs::default(), Descs::default());
    let mut fields = DetailFields::default();
    let mut id = 0;
    let mut attrs = Vec::new();
    let most = node.attributes.len();
    for attribute in &node.attributes {
        let mut names = || {
            let texts = attribute.strings.iter().map(|s| String::from_utf8_lossy(s));
            texts.map(|s| pool.name(&s)).collect::<Vec<_>>()
        };
        match attribute.name.as_ref() {
            "id" => id = attribute.i,
            "stream_id" => fields.stream_id = attribute.i,
            "input_name" => fields.input_name = names(),
            "src_name" => fields.src_name = names(),
            "dst_name" => fields.dst_name = names(),
            "src_index" => fields.src_index = attribute.ints.clone(),
            "dst_index" => fields.dst_index = attribute.ints.clone(),
            "input_i" => fields.input_i = attribute.ints.clone(),
            "output_i" => fields.output_i = attribute.ints.clone(),
            "workspace" => fields.workspace = attribute.ints.clone(),
            "workspace_bytes" => fields.workspace_bytes = attribute.ints.clone(),
            "is_input_const" => fields.is_input_const = attribute.ints.iter().map(|i| *i != 0).collect(),
            // The descriptions themselves tell their number.
            "input_desc_nums" | "output_desc_nums" => {}
            key => {
                let is_desc = match (key.strip_prefix("input_desc_"), key.strip_prefix("output_desc_")) {
                    (Some(rest), _) => inputs.take(rest, attribute),
                    (_, Some(rest)) => outputs.take(rest, attribute),
                    _ => false,
                };
                if !is_desc {
                    attrs.extend(value(attribute).map(|value| (Sym::new(key), value)));
                }
            }
        }
    }
    OpMsg {
        name: node.name,
        ty: Sym::new(node.op.strip_prefix("ge:").unwrap_or(&node.op)),
        input: node.inputs,
        attrs: Attrs::from_entries(with_tensors(grouped(attrs))),
        id,
        input_desc: inputs.finish(most),
        output_desc: outputs.finish(most),
        subgraph_name: Vec::new(),
        detail: pool.detail(fields),
        offset: node.offset,
    }
}

/// The value of an attribute by its type; `None` for what a dump never has.
fn value(attribute: &Attribute<'_>) -> Option<AttrValue> {
    let list =
        |val_type, items| AttrValue::List(Arc::new(ListValue { val_type, items, extra: Extra::default() }));
    Some(match attribute.kind.as_str() {
        "INT" => AttrValue::Int(attribute.i),
        "FLOAT" => AttrValue::Float(attribute.f),
        "STRING" => AttrValue::Str(attribute.s.as_ref().into()),
        "INTS" => AttrValue::ints(attribute.ints.iter().copied()),
        "FLOATS" => list(3, ListItems::Float(attribute.floats.as_slice().into())),
        "STRINGS" => list(1, ListItems::Str(attribute.strings.iter().map(|s| s.as_ref().into()).collect())),
        _ => return None,
    })
}

/// Puts `A_0`, `A_1` ... back together: the rows of a list of lists.
fn grouped(entries: Vec<(Sym, AttrValue)>) -> Vec<(Sym, AttrValue)> {
    let mut rows: BTreeMap<&str, BTreeMap<usize, Box<[i64]>>> = BTreeMap::new();
    let mut rest = Vec::with_capacity(entries.len());
    for (key, value) in &entries {
        let row = key.as_str().rsplit_once('_').and_then(|(key, number)| {
            // `A_07` and `A_7` are two attributes.
            let row = number.parse().ok().filter(|row: &usize| row.to_string() == number)?;
            Some((key, row, value.as_ints()?))
        });
        match row {
            Some((key, number, ints)) => {
                rows.entry(key).or_default().insert(number, ints.into());
            }
            None => rest.push((*key, value.clone())),
        }
    }
    for (key, rows) in rows {
        if rows.keys().copied().eq(0..rows.len()) {
            rest.push((Sym::new(key), AttrValue::ListListInt(rows.into_values().collect())));
        } else {
            let single = |(number, ints): (usize, Box<[i64]>)| {
                (Sym::new(&format!("{key}_{number}")), AttrValue::ints(ints.iter().copied()))
            };
            rest.extend(rows.into_iter().map(single));
        }
    }
    rest
}

/// Puts `A_desc_dtype`, `A_desc_shape` ... and `A_data` back together: a tensor.
fn with_tensors(entries: Vec<(Sym, AttrValue)>) -> Vec<(Sym, AttrValue)> {
    const PARTS: [&str; 5] = ["_desc_dtype", "_desc_shape", "_desc_layout", "_desc_device_type", "_data"];
    let whole: Vec<&str> =
        entries.iter().filter_map(|(key, _)| key.as_str().strip_suffix(PARTS[0])).collect();
    if whole.is_empty() {
        return entries;
    }
    let text =
        |key: String| Sym::lookup(&key).and_then(|k| entries.iter().find(|(e, _)| *e == k)).map(|(_, v)| v);
    let tensors = whole.iter().map(|key| {
        let part = |at: usize| text(format!("{key}{}", PARTS[at]));
        let name = |at: usize| part(at).and_then(AttrValue::as_str).unwrap_or_default();
        let desc = TensorDesc {
            dtype: DTYPE.number(name(0).as_bytes()).unwrap_or(0),
            shape: Some(part(1).and_then(AttrValue::as_ints).unwrap_or_default().into()),
            layout: Sym::new(name(2)),
            device_type: Sym::new(name(3)),
            ..TensorDesc::default()
        };
        let data: Bytes = match part(4) {
            Some(AttrValue::Str(data)) => data.clone(),
            _ => Bytes::from([]),
        };
        let tensor = Tensor { desc: Some(Arc::new(desc)), data, extra: Extra::default() };
        (Sym::new(key), AttrValue::Tensor(Arc::new(tensor)))
    });
    let tensors: Vec<_> = tensors.collect();
    let is_part = |key: &str| PARTS.iter().any(|p| key.strip_suffix(p).is_some_and(|k| whole.contains(&k)));
    entries.iter().filter(|(key, _)| !is_part(key.as_str())).cloned().chain(tensors).collect()
}
