//! ONNX models (`graph_formats.md` 7).
//!
//! Promise: a model that nothing changed is written back byte for byte; a changed one keeps every byte that the
//! change does not touch; and a change that ONNX has no words for is an error, never a wrong model. Which GE type
//! an operator has is not known here: that is rule data behind [`OnnxMapping`](super::OnnxMapping). Only operators
//! that hold graphs or constants have names here.
//!
//! The road: [`proto`] reads messages, [`lower`] makes the graph, [`write`] goes back.

mod attributes;
mod control;
mod lower;
mod proto;
mod tensor;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use write::save;

use super::{Format, FormatError, LoadContext, Loaded};
use crate::graph::{GraphId, NodeId, Snapshot};

/// The rule function that says which type an operator has here, `(domain, op, opset, inputs)`.
pub const TYPE_FUNCTION: &str = "onnx_op_type";

/// So many nodes, in a message.
fn nodes(count: usize) -> String {
    if count == 1 { "1 node".to_owned() } else { format!("{count} nodes") }
}

/// Reads a binary ONNX model. Operators that `ctx.onnx` does not map keep their type, get the attribute
/// `_onnx_unmapped` and bring one warning per type.
///
/// # Errors
/// The bytes are no ONNX model, a tensor has no producer or two, or function calls do not end.
pub fn load(data: &[u8], ctx: &LoadContext<'_>) -> Result<Loaded, FormatError> {
    let lowered = lower::lower(proto::model(data)?, ctx.onnx)?;
    let origin = Origin::new(data, &lowered);
    Ok(Loaded {
        snapshot: lowered.snapshot,
        format: Format::Onnx,
        warnings: lowered.warnings,
        origin: Some(Arc::new(origin)),
    })
}

/// The file that a snapshot came from.
struct Origin {
    data: Arc<[u8]>,
    snapshot: Snapshot,
    graphs: FxHashMap<GraphId, Built>,
}

/// Which nodes a graph message became, each list in the order of its field.
#[derive(Clone, Default)]
struct Built {
    nodes: Vec<NodeId>,
    /// `None`: an initializer gives the value.
    inputs: Vec<Option<NodeId>>,
    initializers: Vec<NodeId>,
    captures: Vec<NodeId>,
    net_output: Option<NodeId>,
}
