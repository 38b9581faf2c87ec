//! The offline model (`graph_formats.md` 6.2): a header, partition tables, and in one partition the graph.
//!
//! Promise: every number of the file is checked before it is used; only the graph is read, and it is never written
//! back, since kernels and tasks were made for exactly this graph.

use std::sync::Arc;

use super::binary;
use super::message::{ModelMsg, OpMsg};
use crate::format::{FormatError, FormatWarning, Place};
use crate::graph::{AttrValue, Attrs, Bytes, ListItems, ListValue, Sym, TensorDesc};

type Result<T> = std::result::Result<T, FormatError>;

/// The first bytes of an offline model.
pub const MAGIC: &[u8] = b"IMOD";

const HEADER: usize = 256;
/// Partition type of the serialized model.
const MODEL_DEF: u32 = 0;
/// Model type of a flow model.
const FLOW: u8 = 3;

/// Reads the graph of an offline model. Of a dynamic model this is the first one: it holds all graphs.
pub fn read(data: &[u8]) -> Result<(ModelMsg<'_>, Vec<FormatWarning>)> {
    let header = Header::read(data)?;
    let partition = header.partition(data, MODEL_DEF)?;
    let (mut model, mut warnings) = binary::read(&data[partition.clone()], partition.start)?;
    if header.models > 1 {
        let message =
            format!("dynamic model: only the first of {} models is read, it holds all graphs", header.models);
        warnings.push(FormatWarning { code: "format::dynamic-om", message, place: Place::None });
    }
    decompress(&mut model)?;
    Ok((model, warnings))
}

struct Header {
    /// The table has 64-bit numbers.
    wide: bool,
    models: u32,
}

/// `len` bytes at `at`, or the error that the file is cut short.
fn slice<'a>(data: &'a [u8], at: usize, len: usize, what: &str) -> Result<&'a [u8]> {
    at.checked_add(len).and_then(|end| data.get(at..end)).ok_or_else(|| {
        let left = data.len().saturating_sub(at);
        let message = format!("{what} needs {len} bytes, but {left} are left");
        FormatError::at_byte("format::truncated", message, at)
    })
}

fn u32_at(data: &[u8], at: usize, what: &str) -> Result<u32> {
    let bytes = slice(data, at, 4, what)?;
    Ok(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

fn u64_at(data: &[u8], at: usize, what: &str) -> Result<u64> {
    Ok(u64::from(u32_at(data, at, what)?) | u64::from(u32_at(data, at + 4, what)?) << 32)
}

impl Header {
    fn read(data: &[u8]) -> Result<Header> {
        slice(data, 0, HEADER, "the header")?;
        let version = u32_at(data, 8, "the header")?;
        // Version 1 lacks the field `model_num` at 156, so what follows stands 4 bytes earlier.
        let shift = match version {
            0x1000_0000 => 4,
            0x2000_0000 => 0,
            _ => {
                let message = format!("offline model version {version:#x} is unknown");
                return Err(FormatError::at_byte("format::om-version", message, 8)
                    .with_help("known are 0x10000000 and 0x20000000"));
            }
        };
        if data[80] == 1 {
            return Err(FormatError::at_byte("format::encrypted", "the offline model is encrypted", 80)
                .with_help("dump the graph as text while the model is compiled"));
        }
        let dynamic = data[193 - shift] == 1;
        let models = if shift == 0 && dynamic { u32_at(data, 156, "the header")? } else { 1 };
        let length = u64_at(data, 184 - shift, "the header")?;
        Ok(Header { wide: length != 0 || data[82] == FLOW, models })
    }

    /// Where the first partition of a type lies in the first model.
    fn partition(&self, data: &[u8], wanted: u32) -> Result<std::ops::Range<usize>> {
        let what = "the partition table";
        let count = u32_at(data, HEADER, what)? as usize;
        let (first, entry) = if self.wide { (HEADER + 8, 24) } else { (HEADER + 4, 12) };
        let table = count.saturating_mul(entry);
        slice(data, first, table, what)?;
        for at in (0..count).map(|index| first + index * entry) {
            if u32_at(data, at, what)? != wanted {
                continue;
            }
            let (offset, size) = match self.wide {
                true => (u64_at(data, at + 8, what)?, u64_at(data, at + 16, what)?),
                false => (u64::from(u32_at(data, at + 4, what)?), u64::from(u32_at(data, at + 8, what)?)),
            };
            let (offset, size) = (usize::try_from(offset).ok(), usize::try_from(size).ok());
            let start = offset.and_then(|offset| (first + table).checked_add(offset));
            let (Some(start), Some(size)) = (start, size) else {
                let message = "the graph's partition lies beyond any memory";
                return Err(FormatError::at_byte("format::truncated", message, at));
            };
            slice(data, start, size, "the graph's partition")?;
            return Ok(start..start + size);
        }
        let message = format!("none of the {count} partitions holds a graph");
        Err(FormatError::at_byte("format::no-graph", message, HEADER))
    }
}

/// Attribute names and strings that a model keeps once and numbers.
struct Tables {
    names: Vec<(Sym, bool)>,
    strings: Box<[Bytes]>,
}

const VERSION: &str = "om_compress_version";
const NAMES: &str = "attr_name_enum";
const STRINGS: &str = "attr_value_enum";
const IS_STRING: &str = "attrs_use_string_value";

/// Puts names and strings back in place of their numbers, and forgets the tables.
fn decompress(model: &mut ModelMsg<'_>) -> Result<()> {
    let version = model.attrs.get(Sym::new(VERSION)).and_then(AttrValue::as_int);
    let Some(version) = version else { return Ok(()) };
    if version != 1 {
        let message = format!("attribute compression version {version} is unknown");
        return Err(FormatError::new("format::om-version", message));
    }
    let tables = Tables::of(&model.attrs)?;
    for key in [VERSION, NAMES, STRINGS, IS_STRING] {
        model.attrs = model.attrs.without(Sym::new(key));
    }
    for op in model.graphs.iter_mut().flat_map(|graph| &mut graph.ops) {
        tables.op(op)?;
    }
    Ok(())
}

fn items<'m>(attrs: &'m Attrs, key: &str) -> &'m ListItems {
    match attrs.get(Sym::new(key)) {
        Some(AttrValue::List(list)) => &list.items,
        _ => &ListItems::Empty,
    }
}

fn bad_table(message: String) -> FormatError {
    FormatError::new("format::om-compression", message)
}

impl Tables {
    fn of(attrs: &Attrs) -> Result<Tables> {
        let strings = match items(attrs, STRINGS) {
            ListItems::Str(strings) => strings.clone(),
            _ => Box::default(),
        };
        let (ListItems::Str(names), ListItems::Bool(is_string)) =
            (items(attrs, NAMES), items(attrs, IS_STRING))
        else {
            return Err(bad_table(format!("the model lacks `{NAMES}` or `{IS_STRING}`")));
        };
        let name = |(name, is_string): (&Bytes, &bool)| {
            let text = std::str::from_utf8(name)
                .map_err(|_| bad_table(format!("`{NAMES}` holds text that is not UTF-8")))?;
            Ok((Sym::new(text), *is_string))
        };
        Ok(Tables { names: names.iter().zip(is_string).map(name).collect::<Result<_>>()?, strings })
    }

    fn op(&self, op: &mut OpMsg<'_>) -> Result<()> {
        op.attrs = self.attrs(&op.attrs)?;
        for desc in op.input_desc.iter_mut().chain(&mut op.output_desc) {
            if desc.attrs.entries().iter().any(|(key, _)| key.as_str().starts_with('\0')) {
                let attrs = self.attrs(&desc.attrs)?;
                let mut plain = TensorDesc::clone(desc);
                plain.attrs = attrs;
                super::desc::absorb_old_attributes(&mut plain);
                *desc = Arc::new(plain);
            }
        }
        Ok(())
    }

    fn attrs(&self, attrs: &Attrs) -> Result<Attrs> {
        let entry = |(key, value): &(Sym, AttrValue)| {
            let Some(digits) = key.as_str().strip_prefix('\0') else { return Ok((*key, value.clone())) };
            let index = index(digits.as_bytes());
            let found = index.and_then(|index| self.names.get(index));
            let (name, is_string) = found
                .ok_or_else(|| bad_table(format!("attribute key {:?} is not in `{NAMES}`", key.as_str())))?;
            Ok((*name, if *is_string { self.value(value)? } else { value.clone() }))
        };
        Ok(Attrs::from_entries(attrs.entries().iter().map(entry).collect::<Result<_>>()?))
    }

    fn value(&self, value: &AttrValue) -> Result<AttrValue> {
        Ok(match value {
            AttrValue::Int(index) => AttrValue::Str(self.string(*index)?),
            AttrValue::List(list) => match &list.items {
                ListItems::Int(indexes) => {
                    let strings = indexes.iter().map(|index| self.string(*index)).collect::<Result<_>>()?;
                    let (val_type, extra) = (list.val_type, list.extra.clone());
                    AttrValue::List(Arc::new(ListValue { val_type, items: ListItems::Str(strings), extra }))
                }
                _ => value.clone(),
            },
            _ => value.clone(),
        })
    }

    fn string(&self, index: i64) -> Result<Bytes> {
        let found = usize::try_from(index).ok().and_then(|index| self.strings.get(index));
        found.cloned().ok_or_else(|| bad_table(format!("string {index} is not in `{STRINGS}`")))
    }
}

/// The number that a coded key stands for: base-127 digits, each one more than its value, the lowest first.
fn index(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().rev().try_fold(0usize, |sum, digit| {
        sum.checked_mul(127)?.checked_add(usize::from(digit.checked_sub(1).filter(|digit| *digit < 127)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coded_keys() {
        // The example of the format's description, and the first number with two digits.
        assert_eq!(index(b"\x02"), Some(1));
        assert_eq!(index(b"\x01\x02"), Some(127));
        assert_eq!(index(b"\x03\x02"), Some(129));
        assert_eq!(index(b""), None);
        assert_eq!(index(b"\x00"), None);
    }
}
