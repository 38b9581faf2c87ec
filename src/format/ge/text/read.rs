//! From text to messages.
//!
//! Promise: every field of `graph_formats.md` 2 is understood; any other is kept where its message can keep it, and
//! warned about once a name.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::binary;
use super::super::desc;
use super::super::groups;
use super::super::message::{DetailFields, GraphMsg, ListFields, ModelMsg, OpMsg, Pool, Text};
use super::super::names::{DTYPE, LIST_TYPE};
use super::super::unknown::Unknowns;
use super::memo::Memo;
use super::scan::Scan;
use crate::format::{FormatError, FormatWarning, Place};
use crate::graph::{
    AttrValue, Attrs, Bytes, Extra, ExtraField, ListValue, NamedAttrs, OpaqueGraph, Sym, Tensor, TensorDesc,
};

type Result<T> = std::result::Result<T, FormatError>;

/// Messages around an op of the model's own graphs; blocks are remembered only there.
const OP_DEPTH: u32 = 2;

/// Reads a whole dump.
pub fn read(text: &[u8]) -> Result<(ModelMsg<'_>, Vec<FormatWarning>)> {
    let mut reader = Reader {
        scan: Scan::new(text),
        pool: Pool::default(),
        descs: Memo::default(),
        attrs: Memo::default(),
        attr_sets: FxHashMap::default(),
        unknown: Unknowns::default(),
        opaque: 0,
    };
    let model = reader.model()?;
    let warnings = reader.unknown.warnings(|offset| Place::of(text, offset));
    Ok((model, warnings))
}

struct Reader<'a> {
    scan: Scan<'a>,
    pool: Pool,
    descs: Memo<'a, Arc<TensorDesc>>,
    attrs: Memo<'a, (Sym, AttrValue)>,
    /// Attribute sets by the numbers of their remembered blocks.
    attr_sets: FxHashMap<Box<[u32]>, Attrs>,
    unknown: Unknowns<String>,
    /// Graphs around this place that will be kept encoded, where text of unknown meaning has no room.
    opaque: u32,
}

/// An attribute set while it is being read.
#[derive(Default)]
struct AttrSet {
    entries: Vec<(Sym, AttrValue)>,
    /// Number of each entry's block; none once a block had no number.
    blocks: Option<Vec<u32>>,
}

impl<'a> Reader<'a> {
    fn model(&mut self) -> Result<ModelMsg<'a>> {
        let mut model = ModelMsg::default();
        let mut attrs = Vec::new();
        while let Some(name) = self.scan.field(None)? {
            match name {
                b"name" => self.set(&mut model.name, |r| r.scan.string())?,
                b"version" => self.each(|r| {
                    model.version = u32::try_from(r.scan.int(0, i64::from(u32::MAX))?).unwrap_or_default();
                    Ok(())
                })?,
                b"custom_version" => self.set(&mut model.custom_version, |r| r.scan.string())?,
                b"graph" => self.push_message(&mut model.graphs, |r| r.graph())?,
                b"attr" => self.push_message(&mut attrs, |r| r.attr())?,
                _ => self.keep(name, "the model", &mut model.extra)?,
            }
        }
        model.attrs = Attrs::from_entries(attrs);
        Ok(model)
    }

    fn graph(&mut self) -> Result<GraphMsg<'a>> {
        let mut graph = GraphMsg { offset: self.scan.at(), ..GraphMsg::default() };
        let mut attrs = Vec::new();
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            match name {
                b"op" => self.push_message(&mut graph.ops, |r| r.op())?,
                b"name" => {
                    graph.offset = self.scan.at() - name.len();
                    self.set(&mut graph.name, |r| r.scan.string())?;
                }
                b"input" => self.push(&mut graph.input, |r| r.scan.string())?,
                b"output" => self.push(&mut graph.output, |r| r.scan.string())?,
                b"attr" => self.push_message(&mut attrs, |r| r.attr())?,
                _ => self.keep(name, "a graph", &mut graph.extra)?,
            }
        }
        graph.attrs = Attrs::from_entries(attrs);
        Ok(graph)
    }

    fn op(&mut self) -> Result<OpMsg<'a>> {
        let mut op = OpMsg { offset: self.scan.at(), ..OpMsg::default() };
        let mut detail = DetailFields::default();
        let mut attrs = AttrSet { entries: Vec::new(), blocks: Some(Vec::new()) };
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            match name {
                b"attr" => self.each_message(|r| r.op_attr(&mut attrs))?,
                b"input_desc" => self.push_message(&mut op.input_desc, |r| r.op_desc())?,
                b"output_desc" => self.push_message(&mut op.output_desc, |r| r.op_desc())?,
                b"name" => {
                    op.offset = self.scan.at() - name.len();
                    self.set(&mut op.name, |r| r.scan.string())?;
                }
                b"type" => self.set(&mut op.ty, |r| r.sym())?,
                b"input" => self.push(&mut op.input, |r| r.scan.string())?,
                b"id" => self.set(&mut op.id, |r| r.scan.int64())?,
                b"subgraph_name" => self.push(&mut op.subgraph_name, |r| r.scan.string())?,
                _ => self.detail(name, &mut detail)?,
            }
        }
        op.attrs = self.attr_set(attrs);
        op.detail = self.pool.detail(detail);
        Ok(op)
    }

    fn detail(&mut self, name: &'a [u8], detail: &mut DetailFields) -> Result<()> {
        match name {
            b"has_out_attr" => self.set(&mut detail.has_out_attr, |r| r.scan.bool()),
            b"stream_id" => self.set(&mut detail.stream_id, |r| r.scan.int64()),
            b"input_name" => self.push(&mut detail.input_name, |r| r.name()),
            b"src_name" => self.push(&mut detail.src_name, |r| r.name()),
            b"src_index" => self.push(&mut detail.src_index, |r| r.scan.int64()),
            b"dst_name" => self.push(&mut detail.dst_name, |r| r.name()),
            b"dst_index" => self.push(&mut detail.dst_index, |r| r.scan.int64()),
            b"input_i" => self.push(&mut detail.input_i, |r| r.scan.int64()),
            b"output_i" => self.push(&mut detail.output_i, |r| r.scan.int64()),
            b"workspace" => self.push(&mut detail.workspace, |r| r.scan.int64()),
            b"workspace_bytes" => self.push(&mut detail.workspace_bytes, |r| r.scan.int64()),
            b"is_input_const" => self.push(&mut detail.is_input_const, |r| r.scan.bool()),
            _ => self.keep(name, "an op", &mut detail.extra),
        }
    }

    /// An `attr` entry of an op, by memory if possible.
    fn op_attr(&mut self, set: &mut AttrSet) -> Result<()> {
        let number = if self.scan.depth() != OP_DEPTH {
            set.entries.push(self.attr()?);
            None
        } else if let Some((entry, number, len)) = self.attrs.guess(self.scan.rest()) {
            self.scan.advance(len);
            set.entries.push(entry);
            Some(number)
        } else {
            let (start, unknown) = (self.scan.at(), self.unknown.count());
            let entry = self.attr()?;
            let (entry, number) = match self.unknown.count() == unknown {
                true => self.attrs.learn(self.scan.since(start), entry),
                false => (entry, None),
            };
            set.entries.push(entry);
            number
        };
        match (&mut set.blocks, number) {
            (Some(blocks), Some(number)) => blocks.push(number),
            _ => set.blocks = None,
        }
        Ok(())
    }

    /// The attributes of an op; equal sets are one.
    fn attr_set(&mut self, set: AttrSet) -> Attrs {
        let Some(blocks) = set.blocks else { return Attrs::from_entries(set.entries) };
        if let Some(known) = self.attr_sets.get(blocks.as_slice()) {
            return known.clone();
        }
        let attrs = Attrs::from_entries(set.entries);
        self.attr_sets.insert(blocks.into(), attrs.clone());
        attrs
    }

    /// A description of an op, by memory if possible.
    fn op_desc(&mut self) -> Result<Arc<TensorDesc>> {
        if self.scan.depth() != OP_DEPTH {
            return Ok(Arc::new(self.desc()?));
        }
        if let Some((desc, _, len)) = self.descs.guess(self.scan.rest()) {
            self.scan.advance(len);
            return Ok(desc);
        }
        let (start, unknown) = (self.scan.at(), self.unknown.count());
        let desc = Arc::new(self.desc()?);
        if self.unknown.count() != unknown {
            return Ok(desc);
        }
        Ok(self.descs.learn(self.scan.since(start), desc).0)
    }

    fn desc(&mut self) -> Result<TensorDesc> {
        let mut desc = TensorDesc::default();
        let mut attrs = Vec::new();
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            match name {
                b"name" => self.set(&mut desc.name, |r| r.name())?,
                b"dtype" => self.set(&mut desc.dtype, |r| r.scan.enumeration(DTYPE))?,
                b"shape" => self.set_message(&mut desc.shape, |r| r.shape().map(Some))?,
                b"layout" => self.set(&mut desc.layout, |r| r.sym())?,
                b"attr" => self.push_message(&mut attrs, |r| r.attr())?,
                b"has_out_attr" => self.set(&mut desc.has_out_attr, |r| r.scan.bool())?,
                b"size" => self.set(&mut desc.size, |r| r.scan.int64())?,
                b"weight_size" => self.set(&mut desc.weight_size, |r| r.scan.int64())?,
                b"reuse_input" => self.set(&mut desc.reuse_input, |r| r.scan.bool())?,
                b"output_tensor" => self.set(&mut desc.output_tensor, |r| r.scan.bool())?,
                b"device_type" => self.set(&mut desc.device_type, |r| r.sym())?,
                b"input_tensor" => self.set(&mut desc.input_tensor, |r| r.scan.bool())?,
                b"real_dim_cnt" => self.set(&mut desc.real_dim_cnt, |r| r.scan.int64())?,
                b"reuse_input_index" => self.set(&mut desc.reuse_input_index, |r| r.scan.int64())?,
                b"data_offset" => self.set(&mut desc.data_offset, |r| r.scan.int64())?,
                b"cmps_size" => self.set(&mut desc::compression(&mut desc).size, |r| r.scan.int64())?,
                b"cmps_tab" => self.set(&mut desc::compression(&mut desc).table, |r| r.blob())?,
                b"cmps_tab_offset" => {
                    self.set(&mut desc::compression(&mut desc).table_offset, |r| r.scan.int64())?;
                }
                _ => self.keep(name, "a tensor description", &mut desc.extra)?,
            }
        }
        desc.attrs = Attrs::from_entries(attrs);
        desc::absorb_old_attributes(&mut desc);
        Ok(desc)
    }

    fn shape(&mut self) -> Result<Arc<[i64]>> {
        let mut dims = Vec::new();
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            match name {
                b"dim" => self.push(&mut dims, |r| r.scan.int64())?,
                _ => self.drop(name, "a shape")?,
            }
        }
        Ok(dims.into())
    }

    /// A map entry.
    fn attr(&mut self) -> Result<(Sym, AttrValue)> {
        let (mut key, mut value) = (Sym::default(), AttrValue::Unset);
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            match name {
                b"key" => self.set(&mut key, |r| r.sym())?,
                b"value" => self.set_message(&mut value, |r| r.value())?,
                _ => self.drop(name, "a map entry")?,
            }
        }
        Ok((key, value))
    }

    /// An `AttrDef`.
    fn value(&mut self) -> Result<AttrValue> {
        let mut value = AttrValue::Unset;
        let mut extra = Extra::default();
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            let at = self.scan.at();
            let mut read = |r: &mut Self, one: fn(&mut Self) -> Result<AttrValue>| {
                if value != AttrValue::Unset {
                    let message = "an attribute has one value, this is a second";
                    return Err(r.scan.error("format::two-values", message, at - name.len()..at));
                }
                value = one(r)?;
                Ok(())
            };
            match name {
                b"s" => self.each(|r| read(r, |r| Ok(AttrValue::Str(r.blob()?))))?,
                b"i" => self.each(|r| read(r, |r| Ok(AttrValue::Int(r.scan.int64()?))))?,
                b"f" => self.each(|r| read(r, |r| Ok(AttrValue::Float(r.scan.float()?))))?,
                b"b" => self.each(|r| read(r, |r| Ok(AttrValue::Bool(r.scan.bool()?))))?,
                b"bt" => self.each(|r| read(r, |r| Ok(AttrValue::Bytes(r.blob()?))))?,
                b"dt" => self.each(|r| read(r, |r| Ok(AttrValue::DataType(r.scan.int64()?))))?,
                b"expression" => self.each(|r| read(r, |r| Ok(AttrValue::Expression(r.blob()?))))?,
                b"list" => {
                    self.each_message(|r| read(r, |r| Ok(AttrValue::List(Arc::new(r.list()?)))))?;
                }
                b"func" => {
                    self.each_message(|r| read(r, |r| Ok(AttrValue::Func(Arc::new(r.named_attrs()?)))))?;
                }
                b"td" => self.each_message(|r| read(r, |r| Ok(AttrValue::Desc(Arc::new(r.desc()?)))))?,
                b"t" => self.each_message(|r| read(r, |r| Ok(AttrValue::Tensor(Arc::new(r.tensor()?)))))?,
                b"g" => {
                    self.each_message(|r| read(r, |r| Ok(AttrValue::Graph(Arc::new(r.opaque_graph()?)))))?;
                }
                b"list_list_int" => self.each_message(|r| {
                    read(r, |r| {
                        r.rows(b"list_list_i", b"list_i", |r| r.scan.int64()).map(AttrValue::ListListInt)
                    })
                })?,
                b"list_list_float" => self.each_message(|r| {
                    read(r, |r| {
                        r.rows(b"list_list_f", b"list_f", |r| r.scan.float()).map(AttrValue::ListListFloat)
                    })
                })?,
                _ => self.keep(name, "an attribute value", &mut extra)?,
            }
        }
        Ok(if extra.is_empty() { value } else { AttrValue::Other(Arc::new((value, extra))) })
    }

    fn list(&mut self) -> Result<ListValue> {
        let mut list = ListFields::default();
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            match name {
                b"s" => self.push(&mut list.s, |r| r.blob())?,
                b"i" => self.push(&mut list.i, |r| r.scan.int64())?,
                b"f" => self.push(&mut list.f, |r| r.scan.float())?,
                b"b" => self.push(&mut list.b, |r| r.scan.bool())?,
                b"bt" => self.push(&mut list.bt, |r| r.blob())?,
                b"td" => self.push_message(&mut list.td, |r| r.desc())?,
                b"t" => self.push_message(&mut list.t, |r| r.tensor())?,
                b"g" => self.push_message(&mut list.g, |r| r.opaque_graph())?,
                b"na" => self.push_message(&mut list.na, |r| r.named_attrs())?,
                b"dt" => self.push(&mut list.dt, |r| r.scan.int64())?,
                b"val_type" => self.set(&mut list.val_type, |r| r.scan.enumeration(LIST_TYPE))?,
                _ => self.keep(name, "a list", &mut list.extra)?,
            }
        }
        Ok(list.finish())
    }

    fn named_attrs(&mut self) -> Result<NamedAttrs> {
        let mut named = NamedAttrs::default();
        let mut attrs = Vec::new();
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            match name {
                b"name" => self.set(&mut named.name, |r| r.name())?,
                b"attr" => self.push_message(&mut attrs, |r| r.attr())?,
                _ => self.keep(name, "a function", &mut named.extra)?,
            }
        }
        named.attrs = Attrs::from_entries(attrs);
        Ok(named)
    }

    fn tensor(&mut self) -> Result<Tensor> {
        let mut tensor = Tensor { desc: None, data: Bytes::from([]), extra: Extra::default() };
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            match name {
                b"desc" => self.set_message(&mut tensor.desc, |r| r.desc().map(Arc::new).map(Some))?,
                b"data" => self.set(&mut tensor.data, |r| r.blob())?,
                _ => self.keep(name, "a tensor", &mut tensor.extra)?,
            }
        }
        Ok(tensor)
    }

    fn opaque_graph(&mut self) -> Result<OpaqueGraph> {
        self.opaque += 1;
        let graph = self.graph()?;
        self.opaque -= 1;
        Ok(OpaqueGraph { encoded: binary::encode_graph(&graph).into() })
    }

    /// `ListListInt` and its like.
    fn rows<T>(
        &mut self,
        row: &[u8],
        item: &[u8],
        one: fn(&mut Self) -> Result<T>,
    ) -> Result<Arc<[Box<[T]>]>> {
        let mut rows = Vec::new();
        let close = Some(self.scan.open()?);
        while let Some(name) = self.scan.field(close)? {
            if name != row {
                self.drop(name, "a list of lists")?;
                continue;
            }
            self.each_message(|r| {
                let mut items = Vec::new();
                let close = Some(r.scan.open()?);
                while let Some(name) = r.scan.field(close)? {
                    match name == item {
                        true => r.push(&mut items, one)?,
                        false => r.drop(name, "a list of lists")?,
                    }
                }
                rows.push(items.into());
                Ok(())
            })?;
        }
        Ok(rows.into())
    }

    /// Reads each value of a scalar field.
    fn each(&mut self, mut one: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let mut values = self.scan.scalars()?;
        while self.scan.more(&mut values)? {
            one(self)?;
        }
        Ok(())
    }

    /// Reads each value of a message field.
    fn each_message(&mut self, mut one: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let mut values = self.scan.messages();
        while self.scan.more(&mut values)? {
            one(self)?;
        }
        Ok(())
    }

    /// Reads a scalar field that is given once; the last value counts.
    fn set<T>(&mut self, into: &mut T, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<()> {
        self.each(|r| {
            *into = one(r)?;
            Ok(())
        })
    }

    /// Reads a repeated scalar field.
    fn push<T>(&mut self, into: &mut Vec<T>, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<()> {
        self.each(|r| {
            into.push(one(r)?);
            Ok(())
        })
    }

    /// Reads a message field that is given once; the last value counts.
    fn set_message<T>(&mut self, into: &mut T, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<()> {
        self.each_message(|r| {
            *into = one(r)?;
            Ok(())
        })
    }

    /// Reads a repeated message field.
    fn push_message<T>(
        &mut self,
        into: &mut Vec<T>,
        mut one: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<()> {
        self.each_message(|r| {
            into.push(one(r)?);
            Ok(())
        })
    }

    fn sym(&mut self) -> Result<Sym> {
        Ok(Sym::new(&self.scan.string()?))
    }

    fn name(&mut self) -> Result<Arc<str>> {
        let text: Text<'a> = self.scan.string()?;
        Ok(self.pool.name(&text))
    }

    fn blob(&mut self) -> Result<Bytes> {
        Ok(self.scan.bytes()?.as_ref().into())
    }

    /// Keeps a field that is not understood. Attribute groups are not meant to be.
    fn keep(&mut self, name: &'a [u8], inside: &'static str, extra: &mut Extra) -> Result<()> {
        let at = self.scan.at();
        let name = String::from_utf8_lossy(name);
        let mut body = String::new();
        self.scan.copy_field(&name, 0, &mut body)?;
        let kept = self.opaque == 0;
        if name != groups::NAME || !kept {
            self.unknown.note(format!("`{name}`"), inside, at - name.len(), kept);
        }
        extra.push(ExtraField::Text { name: self.pool.name(&name), body: body.into() });
        Ok(())
    }

    /// Steps over a field that is not understood, in a message that has no room for more.
    fn drop(&mut self, name: &'a [u8], inside: &'static str) -> Result<()> {
        let at = self.scan.at();
        let name = String::from_utf8_lossy(name);
        self.scan.copy_field(&name, 0, &mut String::new())?;
        self.unknown.note(format!("`{name}`"), inside, at - name.len(), false);
        Ok(())
    }
}
