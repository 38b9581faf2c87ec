//! The messages of a GE file between the bytes and the graph: what both encodings read into and write from.
//!
//! Promise: a message says everything its file said. Edges are still the strings of the file here; parts that a
//! snapshot keeps anyway (attributes, descriptions, details) already have its types.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::{
    Attrs, Bytes, Extra, ListItems, ListValue, NamedAttrs, NodeDetail, OpaqueGraph, Sym, Tensor, TensorDesc,
};

/// Text that borrows from the file where the file has it unescaped.
pub type Text<'a> = Cow<'a, str>;

/// `ModelDef`.
#[derive(Default)]
pub struct ModelMsg<'a> {
    pub name: Text<'a>,
    pub version: u32,
    pub custom_version: Text<'a>,
    pub graphs: Vec<GraphMsg<'a>>,
    pub attrs: Attrs,
    pub extra: Extra,
}

/// `GraphDef`.
#[derive(Default)]
pub struct GraphMsg<'a> {
    pub name: Text<'a>,
    pub input: Vec<Text<'a>>,
    pub output: Vec<Text<'a>>,
    pub ops: Vec<OpMsg<'a>>,
    pub attrs: Attrs,
    pub extra: Extra,
    /// Where a complaint about the graph points: its name, or the message if it has none.
    pub offset: usize,
}

/// `OpDef`.
#[derive(Default)]
pub struct OpMsg<'a> {
    pub name: Text<'a>,
    pub ty: Sym,
    pub input: Vec<Text<'a>>,
    pub attrs: Attrs,
    pub id: i64,
    pub input_desc: Vec<Arc<TensorDesc>>,
    pub output_desc: Vec<Arc<TensorDesc>>,
    pub subgraph_name: Vec<Text<'a>>,
    /// Everything else.
    pub detail: Option<Arc<NodeDetail>>,
    /// As in [`GraphMsg::offset`].
    pub offset: usize,
}

/// The fields of a [`NodeDetail`] while they are being read.
#[derive(Default)]
pub struct DetailFields {
    pub has_out_attr: bool,
    pub stream_id: i64,
    pub input_name: Vec<Arc<str>>,
    pub src_name: Vec<Arc<str>>,
    pub src_index: Vec<i64>,
    pub dst_name: Vec<Arc<str>>,
    pub dst_index: Vec<i64>,
    pub input_i: Vec<i64>,
    pub output_i: Vec<i64>,
    pub workspace: Vec<i64>,
    pub workspace_bytes: Vec<i64>,
    pub is_input_const: Vec<bool>,
    pub extra: Extra,
}

impl DetailFields {
    fn finish(self) -> NodeDetail {
        NodeDetail {
            has_out_attr: self.has_out_attr,
            stream_id: self.stream_id,
            input_name: self.input_name.into(),
            src_name: self.src_name.into(),
            src_index: self.src_index.into(),
            dst_name: self.dst_name.into(),
            dst_index: self.dst_index.into(),
            input_i: self.input_i.into(),
            output_i: self.output_i.into(),
            workspace: self.workspace.into(),
            workspace_bytes: self.workspace_bytes.into(),
            const_inputs: self.is_input_const.into(),
            extra: self.extra,
            ..NodeDetail::default()
        }
    }
}

/// Shares equal parts of the nodes of one file.
#[derive(Default)]
pub struct Pool {
    names: FxHashMap<Arc<str>, ()>,
    /// Details met lately; neighbours tend to have equal ones.
    details: [Option<Arc<NodeDetail>>; 4],
    turn: usize,
}

impl Pool {
    /// The shared copy of a name that many nodes mention.
    pub fn name(&mut self, name: &str) -> Arc<str> {
        if let Some((shared, ())) = self.names.get_key_value(name) {
            return shared.clone();
        }
        let shared: Arc<str> = name.into();
        self.names.insert(shared.clone(), ());
        shared
    }

    /// The detail of a node, or `None` if it says nothing.
    pub fn detail(&mut self, fields: DetailFields) -> Option<Arc<NodeDetail>> {
        let detail = fields.finish();
        if detail == NodeDetail::default() {
            return None;
        }
        if let Some(known) = self.details.iter().flatten().find(|known| ***known == detail) {
            return Some(known.clone());
        }
        let shared = Arc::new(detail);
        self.details[self.turn] = Some(shared.clone());
        self.turn = (self.turn + 1) % self.details.len();
        Some(shared)
    }
}

/// The fields of a `ListValue` while they are being read.
#[derive(Default)]
pub struct ListFields {
    pub s: Vec<Bytes>,
    pub i: Vec<i64>,
    pub f: Vec<f32>,
    pub b: Vec<bool>,
    pub bt: Vec<Bytes>,
    pub td: Vec<TensorDesc>,
    pub t: Vec<Tensor>,
    pub g: Vec<OpaqueGraph>,
    pub na: Vec<NamedAttrs>,
    pub dt: Vec<i64>,
    pub val_type: i32,
    pub extra: Extra,
}

impl ListFields {
    pub fn finish(self) -> ListValue {
        fn kind<T>(items: Vec<T>, wrap: fn(Box<[T]>) -> ListItems) -> Option<ListItems> {
            (!items.is_empty()).then(|| wrap(items.into()))
        }
        let kinds = [
            kind(self.s, ListItems::Str),
            kind(self.i, ListItems::Int),
            kind(self.f, ListItems::Float),
            kind(self.b, ListItems::Bool),
            kind(self.bt, ListItems::Bytes),
            kind(self.td, ListItems::Desc),
            kind(self.t, ListItems::Tensor),
            kind(self.g, ListItems::Graph),
            kind(self.na, ListItems::Func),
            kind(self.dt, ListItems::DataType),
        ];
        let mut kinds = kinds.into_iter().flatten();
        let items = match (kinds.next(), kinds.next()) {
            (None, _) => ListItems::Empty,
            (Some(only), None) => only,
            (Some(first), Some(second)) => {
                ListItems::Mixed([first, second].into_iter().chain(kinds).collect())
            }
        };
        ListValue { val_type: self.val_type, items, extra: self.extra }
    }
}
