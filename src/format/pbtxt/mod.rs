//! `ge_onnx` text dumps (`graph_formats.md` 5): a GE graph in ONNX messages, made for viewers.
//!
//! Promise: nodes and edges are those of the graph; what the dump lost stays unknown and is told. Which node owns
//! which subgraph is lost, so it is recovered from names and taken only if the counts of inputs and outputs allow.
//!
//! The road: [`read`] gives messages of the dump, [`convert`] makes GE messages of them, [`owners`] links the
//! subgraphs; from there it is the road of every GE file.

mod convert;
mod owners;
mod read;
#[cfg(test)]
mod tests;

use super::ge::{self, ModelMsg};
use super::{Format, FormatError, FormatWarning, Loaded, Place};

/// Reads a `ge_onnx` text dump.
///
/// # Errors
/// The text is no protobuf text, or holds no graph.
pub fn load(data: &[u8]) -> Result<Loaded, FormatError> {
    let root = read::read(data)?;
    let mut graphs = convert::graphs(root);
    owners::recover(&mut graphs);
    let message = "a `ge_onnx` dump has lost attributes (bytes, data types, nested values; strings too below level 1): \
                   what depends on them is unknown";
    let lossy = FormatWarning { code: "format::lossy", message: message.to_owned(), place: Place::None };
    let model = ModelMsg { graphs, ..ModelMsg::default() };
    ge::finish(model, Format::GeOnnx, vec![lossy], &|offset| Place::of(data, offset))
}
