//! The binary encoding of a GE model: `.air`, and the graph inside an `.om` (`graph_formats.md` 2, 6.1).
//!
//! Promise: map entries in any order and scalars packed or not are accepted; fields that the schema does not have
//! are kept and written back. Written files are packed, with map entries sorted.

use super::message::{GraphMsg, ModelMsg};
use crate::format::{Fields, FormatError, FormatWarning};

mod read;
mod write;

pub use write::{encode_graph, write};

/// Reads a whole model. A warning is given for each field that only newer versions know.
pub fn read(data: &[u8], offset: usize) -> Result<(ModelMsg<'_>, Vec<FormatWarning>), FormatError> {
    let mut reader = read::Reader::new();
    let model = reader.model(Fields::at(data, offset))?;
    Ok((model, reader.warnings()))
}

/// Reads one serialized graph, such as an attribute holds.
pub fn decode_graph(data: &[u8]) -> Result<GraphMsg<'_>, FormatError> {
    read::Reader::new().graph(Fields::new(data))
}
