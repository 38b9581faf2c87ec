//! Files of the GE compiler: text dumps, serialized models and offline models, over one set of messages.
//!
//! The road in: bytes, messages ([`text`], [`binary`], [`om`]), snapshot ([`assemble`]). The road out: snapshot, messages
//! ([`disassemble`]), bytes.

mod assemble;
mod binary;
mod desc;
mod disassemble;
mod edges;
mod groups;
mod message;
mod names;
mod om;
mod port_names;
mod text;
mod unknown;

use std::sync::Arc;

pub use om::MAGIC as OM_MAGIC;

/// Attributes that readers, writers and sorts keep for themselves: no two results differ in them alone.
pub const BOOKKEEPING: [&str; 6] = [
    "_input_name_key",
    "_input_name_value",
    "_output_name_key",
    "_output_name_value",
    edges::PEER_INDEX,
    "input_name_idx_key",
];
/// What the reader of the other kind of text dump builds on.
pub(super) use {
    desc::compression,
    message::{DetailFields, GraphMsg, ModelMsg, OpMsg, Pool, Text},
    names::DTYPE,
    text::Scan,
};

use super::{Format, FormatError, FormatWarning, Loaded, Place};
use crate::graph::{NodeId, Snapshot};

/// What our writers need beside the snapshot.
struct GeOrigin {
    loaded: Snapshot,
    notes: assemble::Origin,
}

/// Reads a `ge_proto` text dump.
pub fn load_text(data: &[u8]) -> Result<Loaded, FormatError> {
    let (model, warnings) = text::read(data)?;
    finish(model, Format::GeText, warnings, &|offset| Place::of(data, offset))
}

/// Reads a serialized model.
pub fn load_binary(data: &[u8]) -> Result<Loaded, FormatError> {
    let (model, warnings) = binary::read(data, 0)?;
    finish(model, Format::GeBinary, warnings, &Place::Byte)
}

/// Reads the graph of an offline model.
pub fn load_om(data: &[u8]) -> Result<Loaded, FormatError> {
    let (model, warnings) = om::read(data)?;
    finish(model, Format::Om, warnings, &Place::Byte)
}

pub(super) fn finish(
    model: message::ModelMsg<'_>,
    format: Format,
    mut warnings: Vec<FormatWarning>,
    place: &dyn Fn(usize) -> Place,
) -> Result<Loaded, FormatError> {
    let (snapshot, notes, more) = assemble::assemble(model, place)?;
    warnings.extend(more);
    let origin = GeOrigin { loaded: snapshot.clone(), notes };
    Ok(Loaded { snapshot, format, warnings, origin: Some(Arc::new(origin)) })
}

/// A file and what could not be said in it.
pub type Saved = (Vec<u8>, Vec<FormatWarning>);

/// Writes a text dump. Of `origin` only what a GE file left there is used.
///
/// # Errors
/// Edges would be read as those of another node (see [`edges_can_be_named`]).
pub fn save_text(origin: &Loaded, now: &Snapshot) -> Result<Saved, FormatError> {
    edges_can_be_named(now)?;
    let (text, skipped) = text::print(&messages(origin, now));
    Ok((text.into_bytes(), left_out(skipped, "of a binary file have no name in a text dump")))
}

/// Writes a serialized model.
///
/// # Errors
/// It is too large for one message, or edges would be read as those of another node.
pub fn save_binary(origin: &Loaded, now: &Snapshot) -> Result<Saved, FormatError> {
    /// Protobuf's own ceiling for one message.
    const MOST: usize = i32::MAX as usize;
    edges_can_be_named(now)?;
    let (bytes, skipped) = binary::write(&messages(origin, now));
    if bytes.len() > MOST {
        let message =
            format!("the model needs {} bytes, but one protobuf message holds at most {MOST}", bytes.len());
        return Err(FormatError::new("format::too-large", message).with_help("write a text dump instead"));
    }
    Ok((bytes, left_out(skipped, "of a text dump have no number in a binary file")))
}

/// Edges name the node that they leave, and of two nodes of one name in a graph they mean the first (`graph_formats.md` 3.1). Such
/// a graph can be read, but not be written any more when something is wired to the second.
fn edges_can_be_named(now: &Snapshot) -> Result<(), FormatError> {
    let leads_on = |id: &NodeId| {
        let mut outputs = (0..now.node(*id).outputs.len() as u32).map(|index| id.output(index));
        outputs.any(|output| now.consumers(output).next().is_some()) || now.control_out(*id).next().is_some()
    };
    if let Some(node) = super::namesakes(now).find(leads_on).map(|id| now.node(id)) {
        let (graph, name) = (&now.graph(node.graph).name, &node.name);
        let message = format!(
            "graph `{graph}` has two nodes called `{name}`; edges of the second would be read as those of the first"
        );
        let help = "give one of the two another name in the file that was read";
        return Err(FormatError::new("format::duplicate-node", message).with_help(help));
    }
    Ok(())
}

fn left_out(count: usize, why: &str) -> Vec<FormatWarning> {
    let message = format!("{count} unknown fields {why} and are left out");
    let warning = FormatWarning { code: "format::left-out", message, place: Place::None };
    (count > 0).then_some(warning).into_iter().collect()
}

fn messages<'s>(origin: &'s Loaded, now: &'s Snapshot) -> message::ModelMsg<'s> {
    let ge = origin.origin.as_ref().and_then(|origin| origin.downcast_ref::<GeOrigin>());
    disassemble::disassemble(now, ge.map(|ge| (&ge.loaded, &ge.notes)))
}
