//! The protobuf wire format, without messages.
//!
//! Promise: reading copies nothing, ends on every input, nests at most [`DEPTH_LIMIT`] deep, and every failure
//! names the byte. This room knows keys, wire types and lengths; what a field number means is the caller's.
//!
//! [`Fields`] walks one message; a [`Field`] that the caller does not know is kept whole ([`Field::unknown`]).
//! [`Writer`] is the other direction. The codec itself is `prost`'s.

use prost::bytes::Buf;
use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, encoded_len_varint,
    skip_field,
};

use super::FormatError;
use crate::graph::{Extra, ExtraField};

/// How deep messages may nest, as in protobuf's own readers.
pub const DEPTH_LIMIT: u32 = 100;

/// The fields of one message, in file order.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
    /// Offset of `rest` in the file.
    offset: usize,
    depth: u32,
}

/// One field as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    pub number: u32,
    pub value: Wire<'a>,
    /// Offset of the field's key in the file.
    pub offset: usize,
    /// Key and value.
    pub encoded: &'a [u8],
    depth: u32,
}

/// A value of one wire type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
    /// A group (obsolete); only good for keeping.
    Group,
}

impl<'a> Fields<'a> {
    /// The fields of a whole file.
    pub fn new(data: &'a [u8]) -> Fields<'a> {
        Fields { rest: data, offset: 0, depth: 0 }
    }

    /// The fields of a message that starts at `offset` of a file.
    pub fn at(data: &'a [u8], offset: usize) -> Fields<'a> {
        Fields { rest: data, offset, depth: 0 }
    }

    /// Offset of the next field.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The next field, or `None` at the end of the message.
    pub fn next_field(&mut self) -> Result<Option<Field<'a>>, FormatError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (start, offset) = (self.rest, self.offset);
        let mut buf = start;
        let (number, wire_type) = decode_key(&mut buf).map_err(|e| malformed(start, offset, &e))?;
        let value_offset = offset + (start.len() - buf.len());
        let missing = |wanted: u64, left: usize| {
            FormatError::at_byte(
                "format::truncated",
                format!("field {number} needs {wanted} bytes, but {left} are left in its message"),
                value_offset,
            )
        };
        let value = match wire_type {
            WireType::Varint => {
                Wire::Varint(decode_varint(&mut buf).map_err(|e| malformed(start, value_offset, &e))?)
            }
            WireType::SixtyFourBit if buf.len() < 8 => return Err(missing(8, buf.len())),
            WireType::SixtyFourBit => Wire::Fixed64(buf.get_u64_le()),
            WireType::ThirtyTwoBit if buf.len() < 4 => return Err(missing(4, buf.len())),
            WireType::ThirtyTwoBit => Wire::Fixed32(buf.get_u32_le()),
            WireType::LengthDelimited => {
                let wanted = decode_varint(&mut buf).map_err(|e| malformed(start, value_offset, &e))?;
                let len = usize::try_from(wanted).ok().filter(|&len| len <= buf.len());
                let (value, rest) = buf.split_at(len.ok_or_else(|| missing(wanted, buf.len()))?);
                buf = rest;
                Wire::Bytes(value)
            }
            WireType::StartGroup | WireType::EndGroup => {
                skip_field(wire_type, number, &mut buf, DecodeContext::default())
                    .map_err(|e| malformed(start, value_offset, &e))?;
                Wire::Group
            }
        };
        let len = start.len() - buf.len();
        self.rest = buf;
        self.offset += len;
        Ok(Some(Field { number, value, offset, encoded: &start[..len], depth: self.depth }))
    }
}

fn malformed(rest: &[u8], offset: usize, cause: &prost::DecodeError) -> FormatError {
    // A key or number that runs into the end is a file cut short; anything else is not protobuf at all.
    let code =
        if rest.iter().take(20).all(|b| b & 0x80 != 0) { "format::truncated" } else { "format::malformed" };
    let text = cause.to_string();
    let reason = text.strip_prefix("failed to decode Protobuf message: ").unwrap_or(&text);
    FormatError::at_byte(code, format!("not a protobuf field: {reason}"), offset)
}

impl<'a> Field<'a> {
    fn wrong(&self, wanted: &str) -> FormatError {
        let found = match self.value {
            Wire::Varint(_) => "a varint",
            Wire::Fixed64(_) => "8 fixed bytes",
            Wire::Fixed32(_) => "4 fixed bytes",
            Wire::Bytes(_) => "a length-delimited value",
            Wire::Group => "a group",
        };
        let message = format!("field {} holds {found}, expected {wanted}", self.number);
        FormatError::at_byte("format::wrong-type", message, self.offset)
    }

    /// Offset of the payload of a length-delimited field; of the field itself otherwise.
    pub fn payload_offset(&self) -> usize {
        match self.value {
            Wire::Bytes(bytes) => self.offset + (self.encoded.len() - bytes.len()),
            _ => self.offset,
        }
    }

    /// `int64`, `int32`, `uint64` and enums, all as the low 64 bits.
    pub fn int64(&self) -> Result<i64, FormatError> {
        match self.value {
            Wire::Varint(value) => Ok(value.cast_signed()),
            _ => Err(self.wrong("an integer")),
        }
    }

    /// `int32` and enums. Protobuf keeps the low 32 bits.
    pub fn int32(&self) -> Result<i32, FormatError> {
        Ok(self.int64()? as i32)
    }

    /// `uint32`. Protobuf keeps the low 32 bits.
    pub fn uint32(&self) -> Result<u32, FormatError> {
        Ok(self.int64()? as u32)
    }

    pub fn bool(&self) -> Result<bool, FormatError> {
        match self.value {
            Wire::Varint(value) => Ok(value != 0),
            _ => Err(self.wrong("a bool")),
        }
    }

    pub fn float(&self) -> Result<f32, FormatError> {
        match self.value {
            Wire::Fixed32(bits) => Ok(f32::from_bits(bits)),
            _ => Err(self.wrong("a float")),
        }
    }

    pub fn double(&self) -> Result<f64, FormatError> {
        match self.value {
            Wire::Fixed64(bits) => Ok(f64::from_bits(bits)),
            _ => Err(self.wrong("a double")),
        }
    }

    pub fn bytes(&self) -> Result<&'a [u8], FormatError> {
        match self.value {
            Wire::Bytes(bytes) => Ok(bytes),
            _ => Err(self.wrong("bytes")),
        }
    }

    pub fn str(&self) -> Result<&'a str, FormatError> {
        let Wire::Bytes(bytes) = self.value else { return Err(self.wrong("a string")) };
        std::str::from_utf8(bytes).map_err(|e| {
            let message = format!("field {} is a string, but not UTF-8", self.number);
            FormatError::at_byte("format::utf8", message, self.payload_offset() + e.valid_up_to())
        })
    }

    /// The fields of an embedded message.
    pub fn message(&self) -> Result<Fields<'a>, FormatError> {
        let Wire::Bytes(rest) = self.value else { return Err(self.wrong("a message")) };
        if self.depth + 1 > DEPTH_LIMIT {
            let message = format!("messages nest more than {DEPTH_LIMIT} deep");
            return Err(FormatError::at_byte("format::too-deep", message, self.offset));
        }
        Ok(Fields { rest, offset: self.payload_offset(), depth: self.depth + 1 })
    }

    /// Appends the elements of a repeated integer field, packed or not.
    pub fn int64s(&self, into: &mut Vec<i64>) -> Result<(), FormatError> {
        let Wire::Bytes(packed) = self.value else {
            into.push(self.int64()?);
            return Ok(());
        };
        let mut rest = packed;
        while !rest.is_empty() {
            let offset = self.payload_offset() + (packed.len() - rest.len());
            let before = rest;
            into.push(decode_varint(&mut rest).map_err(|e| malformed(before, offset, &e))?.cast_signed());
        }
        Ok(())
    }

    /// Appends the elements of a repeated bool field, packed or not.
    pub fn bools(&self, into: &mut Vec<bool>) -> Result<(), FormatError> {
        let mut numbers = Vec::new();
        self.int64s(&mut numbers)?;
        into.extend(numbers.iter().map(|&n| n != 0));
        Ok(())
    }

    /// Appends the elements of a repeated float field, packed or not.
    pub fn floats(&self, into: &mut Vec<f32>) -> Result<(), FormatError> {
        let Wire::Bytes(packed) = self.value else {
            into.push(self.float()?);
            return Ok(());
        };
        let (items, odd) = packed.as_chunks::<4>();
        if !odd.is_empty() {
            return Err(self.wrong("packed floats of 4 bytes each"));
        }
        into.extend(items.iter().map(|item| f32::from_le_bytes(*item)));
        Ok(())
    }

    /// The field as something to keep and write back.
    pub fn unknown(&self) -> ExtraField {
        ExtraField::Binary { number: self.number, encoded: self.encoded.into() }
    }

    /// Keeps the field in `extra`.
    pub fn keep(&self, extra: &mut Extra) {
        extra.push(self.unknown());
    }
}

/// Encodes messages field by field. Each method writes its field whatever the value; leaving out proto3
/// defaults is the caller's decision (see [`Writer::int64_or_default`] and its like).
#[derive(Default, Debug)]
pub struct Writer {
    buf: Vec<u8>,
    skipped: usize,
}

impl Writer {
    pub fn new() -> Writer {
        Writer::default()
    }

    pub fn finish(self) -> Vec<u8> {
        self.buf
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.buf.len()
    }

    pub fn is_empty(&self) -> bool {
        self.buf.is_empty()
    }

    pub fn int64(&mut self, number: u32, value: i64) {
        encode_key(number, WireType::Varint, &mut self.buf);
        encode_varint(value.cast_unsigned(), &mut self.buf);
    }

    pub fn bool(&mut self, number: u32, value: bool) {
        self.int64(number, i64::from(value));
    }

    pub fn float(&mut self, number: u32, value: f32) {
        encode_key(number, WireType::ThirtyTwoBit, &mut self.buf);
        self.buf.extend_from_slice(&value.to_le_bytes());
    }

    pub fn bytes(&mut self, number: u32, value: &[u8]) {
        encode_key(number, WireType::LengthDelimited, &mut self.buf);
        encode_varint(value.len() as u64, &mut self.buf);
        self.buf.extend_from_slice(value);
    }

    pub fn str(&mut self, number: u32, value: &str) {
        self.bytes(number, value.as_bytes());
    }

    /// An embedded message with the fields that `fill` writes.
    pub fn message(&mut self, number: u32, fill: impl FnOnce(&mut Writer)) {
        encode_key(number, WireType::LengthDelimited, &mut self.buf);
        self.length_prefixed(fill);
    }

    /// Writes the body first and then moves its length in front of it: no second pass to measure.
    fn length_prefixed(&mut self, fill: impl FnOnce(&mut Writer)) {
        let start = self.buf.len();
        fill(self);
        let len = (self.buf.len() - start) as u64;
        encode_varint(len, &mut self.buf);
        self.buf[start..].rotate_right(encoded_len_varint(len));
    }

    /// A packed repeated integer field; nothing if empty.
    pub fn packed_int64s(&mut self, number: u32, values: &[i64]) {
        if !values.is_empty() {
            self.message(number, |w| {
                values.iter().for_each(|v| encode_varint(v.cast_unsigned(), &mut w.buf))
            });
        }
    }

    /// A packed repeated bool field; nothing if empty.
    pub fn packed_bools(&mut self, number: u32, values: &[bool]) {
        if !values.is_empty() {
            self.message(number, |w| w.buf.extend(values.iter().map(|&b| u8::from(b))));
        }
    }

    /// A packed repeated float field; nothing if empty.
    pub fn packed_floats(&mut self, number: u32, values: &[f32]) {
        if !values.is_empty() {
            self.message(number, |w| values.iter().for_each(|v| w.buf.extend_from_slice(&v.to_le_bytes())));
        }
    }

    /// The integer, unless it is proto3's default.
    pub fn int64_or_default(&mut self, number: u32, value: i64) {
        if value != 0 {
            self.int64(number, value);
        }
    }

    /// The bool, unless it is proto3's default.
    pub fn bool_or_default(&mut self, number: u32, value: bool) {
        if value {
            self.bool(number, true);
        }
    }

    /// The string, unless it is proto3's default.
    pub fn str_or_default(&mut self, number: u32, value: &str) {
        if !value.is_empty() {
            self.str(number, value);
        }
    }

    /// Already encoded fields.
    pub fn raw(&mut self, encoded: &[u8]) {
        self.buf.extend_from_slice(encoded);
    }

    /// The binary fields that a reader kept. Fields kept from text have no number and are counted.
    pub fn extra(&mut self, extra: &Extra) {
        for field in extra.fields() {
            match field {
                ExtraField::Binary { encoded, .. } => self.raw(encoded),
                ExtraField::Text { .. } => self.skip(),
            }
        }
    }

    /// Counts a field that has no binary form.
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// How many fields could not be written.
    pub fn skipped(&self) -> usize {
        self.skipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(data: &[u8]) -> Result<Vec<Field<'_>>, FormatError> {
        let mut fields = Fields::new(data);
        let mut all = Vec::new();
        while let Some(field) = fields.next_field()? {
            all.push(field);
        }
        Ok(all)
    }

    #[test]
    fn what_is_written_is_read() {
        let mut w = Writer::new();
        w.int64(1, -1);
        w.message(2, |w| w.str(1, &"x".repeat(300)));
        w.float(3, 0.5);
        w.packed_int64s(4, &[1, 300, -2]);
        w.int64(4, 7);
        w.packed_floats(5, &[1.0, -2.0]);
        w.packed_bools(6, &[true, false]);
        let data = w.finish();
        let all = fields(&data).unwrap();
        assert_eq!(all[0].int64().unwrap(), -1);
        let inner = all[1].message().unwrap().next_field().unwrap().unwrap();
        assert_eq!(inner.str().unwrap(), "x".repeat(300));
        assert_eq!(&data[inner.payload_offset()..][..300], inner.bytes().unwrap());
        assert_eq!(all[2].float().unwrap(), 0.5);
        let mut ints = Vec::new();
        all[3].int64s(&mut ints).unwrap();
        all[4].int64s(&mut ints).unwrap();
        assert_eq!(ints, [1, 300, -2, 7]);
        let mut floats = Vec::new();
        all[5].floats(&mut floats).unwrap();
        assert_eq!(floats, [1.0, -2.0]);
        let mut bools = Vec::new();
        all[6].bools(&mut bools).unwrap();
        assert_eq!(bools, [true, false]);
        assert_eq!(all.iter().flat_map(|f| f.encoded).copied().collect::<Vec<_>>(), data);
    }

    #[test]
    fn known_bytes() {
        // protobuf.dev, "Encoding": field 1 = 150 is 08 96 01; field 2 = "testing" is 12 07 ...
        let mut w = Writer::new();
        w.int64(1, 150);
        w.str(2, "testing");
        assert_eq!(w.finish(), b"\x08\x96\x01\x12\x07testing");
    }

    #[test]
    fn a_cut_file_names_the_byte() {
        let error = fields(b"\x08\x01\x12\x07test").unwrap_err();
        assert_eq!(error.code, "format::truncated");
        assert_eq!(error.message, "field 2 needs 7 bytes, but 4 are left in its message");
        assert_eq!(error.place, super::super::Place::Byte(3));
        assert_eq!(fields(b"\x08\x01\x10\xff").unwrap_err().place, super::super::Place::Byte(3));
    }

    #[test]
    fn a_wrong_type_names_both() {
        let error = fields(b"\x0a\x01a").unwrap()[0].int64().unwrap_err();
        assert_eq!(error.message, "field 1 holds a length-delimited value, expected an integer");
    }

    #[test]
    fn nesting_ends() {
        let mut data = Vec::new();
        for _ in 0..150 {
            let mut w = Writer::new();
            w.bytes(1, &data);
            data = w.finish();
        }
        let mut at = Fields::new(&data);
        let mut depth = 0;
        let error = loop {
            match at.next_field().unwrap().unwrap().message() {
                Ok(inner) => at = inner,
                Err(error) => break error,
            }
            depth += 1;
        };
        assert_eq!((depth, error.code), (100, "format::too-deep"));
    }
}
