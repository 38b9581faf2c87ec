//! The fields written with `@`: what a description, node, graph or model holds beside its attributes.
//!
//! INVARIANT field-tables: for each kind, what `*_fields` lists, `set_*_field` accepts and `*_FIELDS` names.

use std::sync::Arc;

use crate::graph::{
    AttrValue, Bytes, Compression, GraphInfo, ListItems, ListValue, ModelInfo, NodeDetail, Sym, TensorDesc,
};

/// Why a field could not be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Unknown,
    /// What kind of value the field takes.
    Wants(&'static str),
}

type Set = Result<(), Refused>;
/// Fields that differ from their default.
pub(super) type Fields = Vec<(&'static str, AttrValue)>;

fn int(value: &AttrValue) -> Result<i64, Refused> {
    value.as_int().ok_or(Refused::Wants("an integer"))
}

fn boolean(value: &AttrValue) -> Result<bool, Refused> {
    value.as_bool().ok_or(Refused::Wants("`true` or `false`"))
}

fn count(value: &AttrValue) -> Result<u32, Refused> {
    let fits = value.as_int().and_then(|i| u32::try_from(i).ok());
    fits.ok_or(Refused::Wants("an integer from 0 to 4294967295"))
}

fn text(value: &AttrValue) -> Result<&str, Refused> {
    value.as_str().ok_or(Refused::Wants("a string"))
}

fn bytes(value: &AttrValue) -> Result<Bytes, Refused> {
    match value {
        AttrValue::Bytes(bytes) => Ok(bytes.clone()),
        _ => Err(Refused::Wants("bytes such as `hex\"0aff\"`")),
    }
}

fn ints(value: &AttrValue) -> Result<Box<[i64]>, Refused> {
    value.as_ints().map(Into::into).ok_or(Refused::Wants("a list of integers"))
}

fn bools(value: &AttrValue) -> Result<Box<[bool]>, Refused> {
    match value {
        AttrValue::List(list) => match &list.items {
            ListItems::Bool(items) => Ok(items.clone()),
            ListItems::Empty => Ok(Box::default()),
            _ => Err(Refused::Wants("a list of bools")),
        },
        _ => Err(Refused::Wants("a list of bools")),
    }
}

fn texts<T: FromIterator<Arc<str>>>(value: &AttrValue) -> Result<T, Refused> {
    let wants = Refused::Wants("a list of strings");
    let AttrValue::List(list) = value else { return Err(wants) };
    match &list.items {
        ListItems::Str(items) => {
            items.iter().map(|b| std::str::from_utf8(b).map(Arc::from).map_err(|_| wants)).collect()
        }
        ListItems::Empty => Ok(T::from_iter([])),
        _ => Err(wants),
    }
}

fn of_list(val_type: i32, items: ListItems) -> AttrValue {
    AttrValue::List(Arc::new(ListValue { val_type, items, ..ListValue::default() }))
}

fn of_texts(items: &[Arc<str>]) -> AttrValue {
    of_list(1, ListItems::Str(items.iter().map(|t| t.as_bytes().into()).collect()))
}

fn of_ints(items: &[i64]) -> AttrValue {
    AttrValue::ints(items.iter().copied())
}

/// Collects fields that are not at their default.
#[derive(Default)]
struct Changed(Fields);

impl Changed {
    fn put(&mut self, name: &'static str, is_changed: bool, value: impl FnOnce() -> AttrValue) {
        if is_changed {
            self.0.push((name, value()));
        }
    }

    fn int(&mut self, name: &'static str, value: i64) {
        self.put(name, value != 0, || AttrValue::Int(value));
    }

    fn bool(&mut self, name: &'static str, value: bool) {
        self.put(name, value, || AttrValue::Bool(value));
    }

    fn text(&mut self, name: &'static str, value: &str) {
        self.put(name, !value.is_empty(), || AttrValue::str(value));
    }

    fn ints(&mut self, name: &'static str, value: &[i64]) {
        self.put(name, !value.is_empty(), || of_ints(value));
    }

    fn texts(&mut self, name: &'static str, value: &[Arc<str>]) {
        self.put(name, !value.is_empty(), || of_texts(value));
    }
}

pub(super) const DESC_FIELDS: [&str; 15] = [
    "name",
    "size",
    "weight_size",
    "reuse_input",
    "reuse_input_index",
    "output_tensor",
    "input_tensor",
    "has_out_attr",
    "device_type",
    "real_dim_cnt",
    "data_offset",
    "cmps_size",
    "cmps_tab",
    "cmps_tab_offset",
    "compressed",
];

/// Sets a field of a description. `reuse_input = 0` says both that an input is reused and which.
pub(super) fn set_desc_field(desc: &mut TensorDesc, field: &str, value: &AttrValue) -> Set {
    let compression = |desc: &mut TensorDesc, change: &dyn Fn(&mut Compression)| {
        change(Arc::make_mut(desc.compression.get_or_insert_default()));
    };
    match field {
        "name" => desc.name = text(value)?.into(),
        "size" => desc.size = int(value)?,
        "weight_size" => desc.weight_size = int(value)?,
        "reuse_input" => {
            desc.reuse_input = match value {
                AttrValue::Int(index) => {
                    desc.reuse_input_index = *index;
                    true
                }
                AttrValue::Bool(reuses) => *reuses,
                _ => return Err(Refused::Wants("the index of an input")),
            }
        }
        "reuse_input_index" => desc.reuse_input_index = int(value)?,
        "output_tensor" => desc.output_tensor = boolean(value)?,
        "input_tensor" => desc.input_tensor = boolean(value)?,
        "has_out_attr" => desc.has_out_attr = boolean(value)?,
        "device_type" => desc.device_type = Sym::new(text(value)?),
        "real_dim_cnt" => desc.real_dim_cnt = int(value)?,
        "data_offset" => desc.data_offset = int(value)?,
        "cmps_size" => {
            let size = int(value)?;
            compression(desc, &|c| c.size = size);
        }
        "cmps_tab" => {
            let table = bytes(value)?;
            compression(desc, &|c| c.table = table.clone());
        }
        "cmps_tab_offset" => {
            let offset = int(value)?;
            compression(desc, &|c| c.table_offset = offset);
        }
        // Compression fields that all are 0 are something else than none.
        "compressed" => {
            if boolean(value)? {
                compression(desc, &|_| {});
            }
        }
        _ => return Err(Refused::Unknown),
    }
    Ok(())
}

pub(super) fn desc_fields(desc: &TensorDesc) -> Fields {
    let mut fields = Changed::default();
    fields.text("name", &desc.name);
    fields.int("size", desc.size);
    fields.int("weight_size", desc.weight_size);
    fields.put("reuse_input", desc.reuse_input, || AttrValue::Int(desc.reuse_input_index));
    fields.int("reuse_input_index", if desc.reuse_input { 0 } else { desc.reuse_input_index });
    fields.bool("output_tensor", desc.output_tensor);
    fields.bool("input_tensor", desc.input_tensor);
    fields.bool("has_out_attr", desc.has_out_attr);
    fields.text("device_type", desc.device_type.as_str());
    fields.int("real_dim_cnt", desc.real_dim_cnt);
    fields.int("data_offset", desc.data_offset);
    if let Some(compression) = &desc.compression {
        fields.bool("compressed", **compression == Compression::default());
        fields.int("cmps_size", compression.size);
        let table = &compression.table;
        fields.put("cmps_tab", !table.is_empty(), || AttrValue::Bytes(table.clone()));
        fields.int("cmps_tab_offset", compression.table_offset);
    }
    fields.0
}

pub(super) const NODE_FIELDS: [&str; 16] = [
    "id",
    "has_out_attr",
    "stream_id",
    "input_name",
    "src_name",
    "src_index",
    "dst_name",
    "dst_index",
    "input_i",
    "output_i",
    "workspace",
    "workspace_bytes",
    "is_input_const",
    "subgraph_name",
    "input_desc_count",
    "output_desc_count",
];

pub(super) fn set_node_field(detail: &mut NodeDetail, field: &str, value: &AttrValue) -> Set {
    match field {
        "has_out_attr" => detail.has_out_attr = boolean(value)?,
        "stream_id" => detail.stream_id = int(value)?,
        "input_name" => detail.input_name = texts(value)?,
        "src_name" => detail.src_name = texts(value)?,
        "src_index" => detail.src_index = ints(value)?,
        "dst_name" => detail.dst_name = texts(value)?,
        "dst_index" => detail.dst_index = ints(value)?,
        "input_i" => detail.input_i = ints(value)?,
        "output_i" => detail.output_i = ints(value)?,
        "workspace" => detail.workspace = ints(value)?,
        "workspace_bytes" => detail.workspace_bytes = ints(value)?,
        "is_input_const" => detail.const_inputs = bools(value)?,
        "subgraph_name" => detail.subgraph_name = texts(value)?,
        "input_desc_count" => detail.input_desc_count = Some(count(value)?),
        "output_desc_count" => detail.output_desc_count = Some(count(value)?),
        _ => return Err(Refused::Unknown),
    }
    Ok(())
}

pub(super) fn node_fields(detail: &NodeDetail) -> Fields {
    let mut fields = Changed::default();
    fields.bool("has_out_attr", detail.has_out_attr);
    fields.int("stream_id", detail.stream_id);
    fields.texts("input_name", &detail.input_name);
    fields.texts("src_name", &detail.src_name);
    fields.ints("src_index", &detail.src_index);
    fields.texts("dst_name", &detail.dst_name);
    fields.ints("dst_index", &detail.dst_index);
    fields.ints("input_i", &detail.input_i);
    fields.ints("output_i", &detail.output_i);
    fields.ints("workspace", &detail.workspace);
    fields.ints("workspace_bytes", &detail.workspace_bytes);
    let consts = &detail.const_inputs;
    fields.put("is_input_const", !consts.is_empty(), || of_list(4, ListItems::Bool(consts.clone())));
    fields.texts("subgraph_name", &detail.subgraph_name);
    for (name, count) in
        [("input_desc_count", detail.input_desc_count), ("output_desc_count", detail.output_desc_count)]
    {
        fields.put(name, count.is_some(), || AttrValue::Int(count.unwrap_or_default().into()));
    }
    fields.0
}

pub(super) const GRAPH_FIELDS: [&str; 4] = ["name", "inputs", "outputs", "registry"];

pub(super) fn set_graph_field(info: &mut GraphInfo, field: &str, value: &AttrValue) -> Set {
    match field {
        "name" => info.name = text(value)?.into(),
        "inputs" => info.inputs = texts(value)?,
        "outputs" => info.outputs = texts(value)?,
        _ => return Err(Refused::Unknown),
    }
    Ok(())
}

/// The fields of a graph, without its name and without the registry.
pub(super) fn graph_fields(info: &GraphInfo) -> Fields {
    let mut fields = Changed::default();
    fields.texts("inputs", &info.inputs);
    fields.texts("outputs", &info.outputs);
    fields.0
}

pub(super) const MODEL_FIELDS: [&str; 3] = ["name", "version", "custom_version"];

pub(super) fn set_model_field(info: &mut ModelInfo, field: &str, value: &AttrValue) -> Set {
    match field {
        "name" => info.name = text(value)?.into(),
        "version" => info.version = count(value)?,
        "custom_version" => info.custom_version = text(value)?.into(),
        _ => return Err(Refused::Unknown),
    }
    Ok(())
}

pub(super) fn model_fields(info: &ModelInfo) -> Fields {
    let mut fields = Changed::default();
    fields.text("name", &info.name);
    fields.int("version", info.version.into());
    fields.text("custom_version", &info.custom_version);
    fields.0
}
