//! Attribute groups (`graph_formats.md` 2, AttrGroups): nothing here reads them, so each file keeps its own spelling;
//! this room translates when a graph changes its encoding.
//!
//! Promise: a group is translated whole or not at all; a field outside the table below stops it.

use super::text::{Scan, quote};
use crate::format::{Fields, FormatError, Wire, Writer};

/// The field's name in a text dump.
pub const NAME: &str = "attr_groups";

/// The field's number in each message.
pub const MODEL: u32 = 12;
pub const GRAPH: u32 = 12;
pub const OP: u32 = 11;
pub const DESC: u32 = 6;

#[derive(Clone, Copy)]
enum Kind {
    Bytes,
    Int,
    Float,
    Bool,
    Message(&'static [Field]),
}

#[derive(Clone, Copy)]
struct Field {
    name: &'static str,
    number: u32,
    kind: Kind,
}

const fn field(name: &'static str, number: u32, kind: Kind) -> Field {
    Field { name, number, kind }
}

/// The whole schema as far as it is known.
const GROUPS: &[Field] = &[
    field("other_group_def", 1, Kind::Message(&[field("attr", 1, Kind::Message(ENTRY))])),
    field("attr_group_def", 2, Kind::Message(&[field("tensor_attr_group", 3, Kind::Message(TENSOR_GROUP))])),
];
const ENTRY: &[Field] = &[field("key", 1, Kind::Bytes), field("value", 2, Kind::Message(VALUE))];
const VALUE: &[Field] = &[
    field("s", 1, Kind::Bytes),
    field("i", 2, Kind::Int),
    field("f", 3, Kind::Float),
    field("b", 4, Kind::Bool),
    field("bt", 5, Kind::Bytes),
];
const TENSOR_GROUP: &[Field] =
    &[field("origin_symbol_shape", 1, Kind::Bytes), field("symbolic_value", 2, Kind::Bytes)];

/// The text of an encoded field (key and length included), one line each, or `None` if it cannot be told.
pub fn to_text(encoded: &[u8]) -> Option<String> {
    let field = Fields::new(encoded).next_field().ok()??;
    let mut out = format!("{NAME} {{\n");
    print(field.message().ok()?, GROUPS, 1, &mut out)?;
    out.push_str("}\n");
    Some(out)
}

fn print(mut fields: Fields<'_>, schema: &[Field], level: usize, out: &mut String) -> Option<()> {
    while let Some(field) = fields.next_field().ok()? {
        let known = schema.iter().find(|known| known.number == field.number)?;
        out.extend(std::iter::repeat_n("  ", level));
        out.push_str(known.name);
        if let Kind::Message(schema) = known.kind {
            out.push_str(" {\n");
            print(field.message().ok()?, schema, level + 1, out)?;
            out.extend(std::iter::repeat_n("  ", level));
            out.push_str("}\n");
            continue;
        }
        out.push_str(": ");
        match (known.kind, field.value) {
            (Kind::Bytes, Wire::Bytes(bytes)) => quote(out, bytes),
            (Kind::Int, Wire::Varint(_)) => out.push_str(&field.int64().ok()?.to_string()),
            (Kind::Bool, Wire::Varint(_)) => out.push_str(if field.bool().ok()? { "true" } else { "false" }),
            (Kind::Float, Wire::Fixed32(_)) => out.push_str(&super::text::float(field.float().ok()?)),
            _ => return None,
        }
        out.push('\n');
    }
    Some(())
}

/// The encoded message of a text field, or `None` if the text holds more than the schema.
pub fn to_binary(text: &str) -> Option<Vec<u8>> {
    let mut scan = Scan::new(text.as_bytes());
    let name = scan.field(None).ok()??;
    let mut w = Writer::new();
    (name == NAME.as_bytes() && encode(&mut scan, GROUPS, &mut w).ok()?).then(|| w.finish())
}

/// Whether all was understood.
fn encode(scan: &mut Scan<'_>, schema: &[Field], w: &mut Writer) -> Result<bool, FormatError> {
    let close = Some(scan.open()?);
    while let Some(name) = scan.field(close)? {
        let Some(known) = schema.iter().find(|known| known.name.as_bytes() == name) else { return Ok(false) };
        let mut values = match known.kind {
            Kind::Message(_) => scan.messages(),
            _ => scan.scalars()?,
        };
        while scan.more(&mut values)? {
            match known.kind {
                Kind::Bytes => w.bytes(known.number, &scan.bytes()?),
                Kind::Int => w.int64(known.number, scan.int64()?),
                Kind::Float => w.float(known.number, scan.float()?),
                Kind::Bool => w.bool(known.number, scan.bool()?),
                Kind::Message(inner) => {
                    let mut message = Writer::new();
                    if !encode(scan, inner, &mut message)? {
                        return Ok(false);
                    }
                    w.bytes(known.number, &message.finish());
                }
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "attr_groups {\n  other_group_def {\n    attr {\n      key: \"k\"\n      value {\n        i: 3\n      \
                        }\n    }\n  }\n  attr_group_def {\n    tensor_attr_group {\n      origin_symbol_shape: \"s0\"\n    \
                        }\n  }\n}\n";

    #[test]
    fn both_ways() {
        let binary = to_binary(TEXT).unwrap();
        // 0a: other_group_def, 0a: attr, key "k", value { i: 3 }; 12: attr_group_def, 1a: tensor_attr_group.
        assert_eq!(binary, b"\x0a\x09\x0a\x07\x0a\x01k\x12\x02\x10\x03\x12\x06\x1a\x04\x0a\x02s0");
        let mut w = Writer::new();
        w.bytes(OP, &binary);
        assert_eq!(to_text(&w.finish()).unwrap(), TEXT);
    }

    #[test]
    fn more_than_the_schema_is_not_translated() {
        assert_eq!(to_binary("attr_groups { attr_group_def { shape_env_attr_group { } } }"), None);
        let mut w = Writer::new();
        w.message(OP, |w| w.message(2, |w| w.message(4, |_| ())));
        assert_eq!(to_text(&w.finish()), None);
    }
}
