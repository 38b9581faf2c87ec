//! Graph files in and out.
//!
//! Promise: bad input gives one [`FormatError`] and never a panic; what a reader does not know it keeps and
//! counts; an untouched graph goes out as it came in. This room names protobuf fields, bookkeeping attributes and
//! the operators that make a graph a graph; it knows no rule.

mod error;
pub mod notation;
mod wire;

use std::any::Any;
use std::sync::Arc;

pub use error::{FormatError, FormatWarning, Place};
pub use wire::{DEPTH_LIMIT, Field, Fields, Wire, Writer};

use crate::graph::Snapshot;

/// The kinds of graph files (`graph_formats.md` 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `ge_proto` text dump.
    GeText,
    /// A bare serialized model (`.air`).
    GeBinary,
    /// An offline model. Read only.
    Om,
    /// `ge_onnx` text dump: lossy.
    GeOnnx,
    /// A binary ONNX model.
    Onnx,
    /// The graph notation (`.graph`).
    Notation,
}

/// Which GE operator type an ONNX operator becomes.
pub trait OnnxMapping {
    /// The GE type of `domain::op` at `opset` with this many inputs; `None` if the mapping has no entry.
    fn ge_type(&self, domain: &str, op: &str, opset: i64, inputs: usize) -> Option<String>;
}

/// What a reader may use beside the bytes.
#[derive(Clone, Copy)]
pub struct LoadContext<'a> {
    /// Largest file in bytes, inflated. A larger one is an error, not an attempt.
    pub size_limit: u64,
    pub onnx: Option<&'a dyn OnnxMapping>,
}

impl Default for LoadContext<'_> {
    fn default() -> Self {
        LoadContext { size_limit: 4 << 30, onnx: None }
    }
}

/// A graph file in memory.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub snapshot: Snapshot,
    pub format: Format,
    pub warnings: Vec<FormatWarning>,
    /// What the format's writer needs beside the snapshot; only the format's own module looks inside.
    pub origin: Option<Arc<dyn Any + Send + Sync>>,
}
