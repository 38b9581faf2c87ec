//! Tensor descriptions of very old files, which keep fields as attributes (`graph_formats.md` 3.5).

use std::sync::Arc;

use crate::graph::{AttrValue, Attrs, Bytes, Compression, Sym, TensorDesc};

/// The compression fields of a description, made when the first of them is read.
pub fn compression(desc: &mut TensorDesc) -> &mut Compression {
    let new = || Arc::new(Compression { size: 0, table: Bytes::from([]), table_offset: 0 });
    Arc::make_mut(desc.compression.get_or_insert_with(new))
}

/// The attributes that are fields of the same name in newer files.
const OLD: [&str; 12] = [
    "size",
    "weight_size",
    "reuse_input",
    "output_tensor",
    "device_type",
    "input_tensor",
    "real_dim_cnt",
    "reuse_input_index",
    "data_offset",
    "cmps_size",
    "cmps_tab",
    "cmps_tab_offset",
];

/// Moves the value of each such attribute into its field, where analyses look. The attribute stays, so that
/// [`restore_old_attributes`] knows where the value came from.
pub fn absorb_old_attributes(desc: &mut TensorDesc) {
    let found: Vec<(Sym, AttrValue)> =
        desc.attrs.entries().iter().filter(|(key, _)| OLD.contains(&key.as_str())).cloned().collect();
    for (key, value) in found {
        match (key.as_str(), value) {
            ("size", AttrValue::Int(v)) => desc.size = v,
            ("weight_size", AttrValue::Int(v)) => desc.weight_size = v,
            ("reuse_input", AttrValue::Bool(v)) => desc.reuse_input = v,
            ("output_tensor", AttrValue::Bool(v)) => desc.output_tensor = v,
            ("device_type", AttrValue::Str(v)) => {
                // Text that is none stays an attribute and nothing else.
                if let Ok(text) = std::str::from_utf8(&v) {
                    desc.device_type = Sym::new(text);
                }
            }
            ("input_tensor", AttrValue::Bool(v)) => desc.input_tensor = v,
            ("real_dim_cnt", AttrValue::Int(v)) => desc.real_dim_cnt = v,
            ("reuse_input_index", AttrValue::Int(v)) => desc.reuse_input_index = v,
            ("data_offset", AttrValue::Int(v)) => desc.data_offset = v,
            ("cmps_size", AttrValue::Int(v)) => compression(desc).size = v,
            ("cmps_tab", AttrValue::Str(v)) => compression(desc).table = v,
            ("cmps_tab_offset", AttrValue::Int(v)) => compression(desc).table_offset = v,
            _ => {}
        }
    }
}

/// The description as its file spells it: a field that came from an attribute goes back there. `None` for
/// descriptions without such attributes, which is nearly all.
pub fn restore_old_attributes(desc: &TensorDesc) -> Option<TensorDesc> {
    if !desc.attrs.entries().iter().any(|(key, _)| OLD.contains(&key.as_str())) {
        return None;
    }
    let mut old = desc.clone();
    let compression = desc.compression.as_deref().cloned().unwrap_or_default();
    let entry = |(key, value): &(Sym, AttrValue)| {
        let new = match (key.as_str(), value) {
            ("size", AttrValue::Int(_)) => AttrValue::Int(std::mem::take(&mut old.size)),
            ("weight_size", AttrValue::Int(_)) => AttrValue::Int(std::mem::take(&mut old.weight_size)),
            ("reuse_input", AttrValue::Bool(_)) => AttrValue::Bool(std::mem::take(&mut old.reuse_input)),
            ("output_tensor", AttrValue::Bool(_)) => AttrValue::Bool(std::mem::take(&mut old.output_tensor)),
            ("device_type", AttrValue::Str(v)) if std::str::from_utf8(v).is_ok() => {
                AttrValue::str(std::mem::take(&mut old.device_type).as_str())
            }
            ("input_tensor", AttrValue::Bool(_)) => AttrValue::Bool(std::mem::take(&mut old.input_tensor)),
            ("real_dim_cnt", AttrValue::Int(_)) => AttrValue::Int(std::mem::take(&mut old.real_dim_cnt)),
            ("reuse_input_index", AttrValue::Int(_)) => {
                AttrValue::Int(std::mem::take(&mut old.reuse_input_index))
            }
            ("data_offset", AttrValue::Int(_)) => AttrValue::Int(std::mem::take(&mut old.data_offset)),
            ("cmps_size", AttrValue::Int(_)) => AttrValue::Int(compression.size),
            ("cmps_tab", AttrValue::Str(_)) => AttrValue::Str(compression.table.clone()),
            ("cmps_tab_offset", AttrValue::Int(_)) => AttrValue::Int(compression.table_offset),
            _ => value.clone(),
        };
        (*key, new)
    };
    let attrs: Attrs = desc.attrs.entries().iter().map(entry).collect();
    for (key, value) in attrs.entries() {
        match (key.as_str(), value) {
            ("cmps_size", AttrValue::Int(_)) => self::compression(&mut old).size = 0,
            ("cmps_tab", AttrValue::Str(_)) => self::compression(&mut old).table = Bytes::from([]),
            ("cmps_tab_offset", AttrValue::Int(_)) => self::compression(&mut old).table_offset = 0,
            _ => {}
        }
    }
    old.attrs = attrs;
    Some(old)
}
