//! The graph database: persistent snapshots of a model's graphs, and flat views for scanning.
//!
//! Promise: a [`Snapshot`] never changes. An edit is made on an [`Edit`] (a private copy that shares
//! everything it does not touch) and becomes a new snapshot. This room knows nodes, ports, edges, orders
//! and nesting; it knows no operator type, no attribute name and no rule.

mod anchors;
mod apart;
mod dense;
mod edit;
mod equal;
mod intern;
mod kinds;
#[cfg(test)]
mod kinds_tests;
mod list;
mod moved;
mod near;
mod node;
mod per_node;
mod reach;
mod rows;
mod slots;
mod snapshot;
mod sort;
mod sorted;
mod symbols;
mod tensor;
#[cfg(test)]
mod testing;
mod tracked;
mod value;

pub use apart::Apart;
pub use dense::Dense;
pub use edit::{Builder, Edit, Place};
pub use equal::{Compared, Difference, difference, equal_up_to_inserted};
pub use intern::Sym;
pub use kinds::{Kind, Kinds, NO_KIND};
pub use moved::Moved;
pub use near::{Edited, Near};
pub use node::{GraphInfo, ModelInfo, Node, NodeDetail, Port, Ports};
pub use reach::{Edge, LiveReach, Reach, ReachScratch};
pub use snapshot::{Snapshot, State};
pub use sort::{CycleError, SortMode, SortRules, sort};
pub use symbols::{Group, GroupId, SymbolError, Symbols, SymbolsBuilder, compare_labels, label};
pub use tensor::{Compression, DATA_TYPES, DataType, Tensor, TensorDesc, dtype_bits, dtype_name};
pub use tracked::{Counts, Tracked};
pub use value::{AttrValue, Attrs, Bytes, Extra, ExtraField, ListItems, ListValue, NamedAttrs, OpaqueGraph};

/// A node of any graph of the model. Ids are given once and never reused inside a lineage of snapshots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// A graph of the model; [`GraphId::ROOT`] is the root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GraphId(pub u32);

impl GraphId {
    pub const ROOT: GraphId = GraphId(0);
}

/// A data input anchor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Input {
    pub node: NodeId,
    pub index: u32,
}

/// A data output anchor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Output {
    pub node: NodeId,
    pub index: u32,
}

/// An anchor of either direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Anchor {
    In(Input),
    Out(Output),
}

impl NodeId {
    pub fn input(self, index: u32) -> Input {
        Input { node: self, index }
    }

    pub fn output(self, index: u32) -> Output {
        Output { node: self, index }
    }
}

impl Anchor {
    pub fn node(self) -> NodeId {
        match self {
            Anchor::In(a) => a.node,
            Anchor::Out(a) => a.node,
        }
    }

    pub fn index(self) -> u32 {
        match self {
            Anchor::In(a) => a.index,
            Anchor::Out(a) => a.index,
        }
    }

    pub fn is_in(self) -> bool {
        matches!(self, Anchor::In(_))
    }
}
