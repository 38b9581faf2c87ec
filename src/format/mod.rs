//! Graph files in and out.
//!
//! Promise: bad input gives one [`FormatError`] and never a panic; what a reader does not know it keeps and
//! counts; an untouched graph goes out as it came in. This room names protobuf fields, bookkeeping attributes and
//! the operators that make a graph a graph; it knows no rule.

mod detect;
mod error;
mod ge;
mod gzip;
pub mod notation;
mod om2;
pub mod onnx;
mod pbtxt;
mod wire;

use std::any::Any;
use std::sync::Arc;

pub use error::{FormatError, FormatWarning, Place, Warnings};
pub use ge::BOOKKEEPING;
pub use gzip::inflate;
pub use wire::{DEPTH_LIMIT, Field, Fields, Wire, Writer};

use rustc_hash::FxHashSet;

use crate::graph::{NodeId, Snapshot};

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

/// Whether a file that is not compressed is a graph of a kind that can be read; it may be wrong inside.
pub fn is_graph(bytes: &[u8], hint_name: &str) -> bool {
    detect::detect(bytes, hint_name).is_ok()
}

/// Reads a graph file of any supported kind, compressed or not. `hint_name` is the file's name, or empty.
///
/// # Errors
/// The file is empty, cut short, over the limit, of an unsupported kind, or wrong inside.
pub fn load(bytes: &[u8], hint_name: &str, ctx: &LoadContext<'_>) -> Result<Loaded, FormatError> {
    let data = gzip::inflate(bytes, ctx.size_limit)?;
    if data.starts_with(om2::MAGIC) {
        return load_om2(&data, ctx);
    }
    match detect::detect(&data, hint_name)? {
        Format::GeText => ge::load_text(&data),
        Format::GeBinary => ge::load_binary(&data),
        Format::Om => ge::load_om(&data),
        Format::GeOnnx => pbtxt::load(&data),
        Format::Onnx => onnx::load(&data, ctx),
        Format::Notation => notation::load(&data),
    }
}

fn load_om2(data: &[u8], ctx: &LoadContext<'_>) -> Result<Loaded, FormatError> {
    let (name, dump) = om2::debug_dump(data, ctx.size_limit)?;
    let inside = |mut error: FormatError| {
        // The place is one inside the dump, which nobody can underline in the archive.
        error.message = format!("{} (in `{name}`)", error.message);
        error.span = None;
        error
    };
    let mut loaded = ge::load_text(&dump).map_err(inside)?;
    let message = format!("the graph was read from `{name}` inside the archive");
    loaded.warnings.push(FormatWarning { code: "format::om2", message, place: Place::None });
    Ok(loaded)
}

/// Writes `now`, a descendant of what `origin` holds, as a file of kind `format`.
///
/// # Errors
/// The format cannot be written, or cannot hold the graph.
pub fn save(origin: &Loaded, now: &Snapshot, format: Format) -> Result<Vec<u8>, FormatError> {
    save_with_warnings(origin, now, format).map(|(bytes, _)| bytes)
}

/// Nodes before which another one of their name stands in the list of their graph: a format that tells nodes by name cannot mean them.
fn namesakes(now: &Snapshot) -> impl Iterator<Item = NodeId> + '_ {
    now.graphs_by_id().flat_map(move |(graph, _)| {
        let mut names = FxHashSet::default();
        now.list(graph).filter(move |&node| !names.insert(&now.node(node).name))
    })
}

/// [`save`], and what the file cannot say although the graph does.
///
/// # Errors
/// Those of [`save`].
pub fn save_with_warnings(
    origin: &Loaded,
    now: &Snapshot,
    format: Format,
) -> Result<(Vec<u8>, Vec<FormatWarning>), FormatError> {
    match format {
        Format::GeText => ge::save_text(origin, now),
        Format::GeBinary => ge::save_binary(origin, now),
        Format::Om => {
            let message = "an offline model cannot be written: its kernels were made for the graph it had";
            Err(FormatError::new("format::read-only", message).with_help("write a text dump or `.air`"))
        }
        Format::GeOnnx => {
            let message =
                "`ge_onnx` text cannot be written: it cannot say what a graph needs to be loaded again";
            Err(FormatError::new("format::read-only", message).with_help("write a `ge_proto` text dump"))
        }
        Format::Onnx => onnx::save(origin, now),
        Format::Notation => Ok((notation::save(now)?, Vec::new())),
    }
}
