//! From bytes to messages.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::super::desc;
use super::super::groups;
use super::super::message::{DetailFields, GraphMsg, ListFields, ModelMsg, OpMsg, Pool};
use super::super::unknown::Unknowns;
use crate::format::{Field, Fields, FormatError, FormatWarning, Place};
use crate::graph::{
    AttrValue, Attrs, Bytes, Extra, ListValue, NamedAttrs, OpaqueGraph, Sym, Tensor, TensorDesc,
};

type Result<T> = std::result::Result<T, FormatError>;

/// Reads the messages of one file and shares what is equal.
#[derive(Default)]
pub struct Reader<'a> {
    pool: Pool,
    descs: FxHashMap<&'a [u8], Arc<TensorDesc>>,
    unknown: Unknowns<u32>,
}

impl<'a> Reader<'a> {
    pub fn new() -> Reader<'a> {
        Reader::default()
    }

    pub fn warnings(&self) -> Vec<FormatWarning> {
        self.unknown.warnings(Place::Byte)
    }

    pub fn model(&mut self, mut fields: Fields<'a>) -> Result<ModelMsg<'a>> {
        let mut model = ModelMsg::default();
        let mut attrs = Vec::new();
        while let Some(field) = fields.next_field()? {
            match field.number {
                1 => model.name = Cow::Borrowed(field.str()?),
                2 => model.version = field.uint32()?,
                3 => model.custom_version = Cow::Borrowed(field.str()?),
                7 => model.graphs.push(self.graph(field.message()?)?),
                11 => attrs.push(self.attr(field.message()?)?),
                groups::MODEL => field.keep(&mut model.extra),
                _ => self.keep(&field, "the model", &mut model.extra),
            }
        }
        model.attrs = Attrs::from_entries(attrs);
        Ok(model)
    }

    pub fn graph(&mut self, mut fields: Fields<'a>) -> Result<GraphMsg<'a>> {
        let mut graph = GraphMsg { offset: fields.offset(), ..GraphMsg::default() };
        let mut attrs = Vec::new();
        while let Some(field) = fields.next_field()? {
            match field.number {
                1 => graph.name = Cow::Borrowed(field.str()?),
                4 => graph.input.push(Cow::Borrowed(field.str()?)),
                5 => graph.output.push(Cow::Borrowed(field.str()?)),
                6 => graph.ops.push(self.op(field.message()?)?),
                11 => attrs.push(self.attr(field.message()?)?),
                groups::GRAPH => field.keep(&mut graph.extra),
                _ => self.keep(&field, "a graph", &mut graph.extra),
            }
        }
        graph.attrs = Attrs::from_entries(attrs);
        Ok(graph)
    }

    fn op(&mut self, mut fields: Fields<'a>) -> Result<OpMsg<'a>> {
        let mut op = OpMsg { offset: fields.offset(), ..OpMsg::default() };
        let mut detail = DetailFields::default();
        let mut attrs = Vec::new();
        while let Some(field) = fields.next_field()? {
            match field.number {
                1 => op.name = Cow::Borrowed(field.str()?),
                2 => op.ty = Sym::new(field.str()?),
                5 => op.input.push(Cow::Borrowed(field.str()?)),
                10 => attrs.push(self.attr(field.message()?)?),
                groups::OP => field.keep(&mut detail.extra),
                20 => detail.has_out_attr = field.bool()?,
                21 => op.id = field.int64()?,
                22 => detail.stream_id = field.int64()?,
                23 => detail.input_name.push(self.pool.name(field.str()?)),
                24 => detail.src_name.push(self.pool.name(field.str()?)),
                25 => field.int64s(&mut detail.src_index)?,
                26 => detail.dst_name.push(self.pool.name(field.str()?)),
                27 => field.int64s(&mut detail.dst_index)?,
                28 => field.int64s(&mut detail.input_i)?,
                29 => field.int64s(&mut detail.output_i)?,
                30 => field.int64s(&mut detail.workspace)?,
                31 => field.int64s(&mut detail.workspace_bytes)?,
                32 => field.bools(&mut detail.is_input_const)?,
                33 => op.input_desc.push(self.shared_desc(&field)?),
                34 => op.output_desc.push(self.shared_desc(&field)?),
                35 => op.subgraph_name.push(Cow::Borrowed(field.str()?)),
                _ => self.keep(&field, "an op", &mut detail.extra),
            }
        }
        op.attrs = Attrs::from_entries(attrs);
        op.detail = self.pool.detail(detail);
        Ok(op)
    }

    /// A description of an op; equal bytes are one description.
    fn shared_desc(&mut self, field: &Field<'a>) -> Result<Arc<TensorDesc>> {
        let encoded = field.bytes()?;
        if let Some(known) = self.descs.get(encoded) {
            return Ok(known.clone());
        }
        let desc = Arc::new(self.desc(field.message()?)?);
        self.descs.insert(encoded, desc.clone());
        Ok(desc)
    }

    fn desc(&mut self, mut fields: Fields<'a>) -> Result<TensorDesc> {
        let mut desc = TensorDesc::default();
        let mut attrs = Vec::new();
        let mut dims: Option<Vec<i64>> = None;
        while let Some(field) = fields.next_field()? {
            match field.number {
                1 => desc.name = self.pool.name(field.str()?),
                2 => desc.dtype = field.int32()?,
                3 => self.shape(field.message()?, dims.get_or_insert_default())?,
                4 => desc.layout = Sym::new(field.str()?),
                5 => attrs.push(self.attr(field.message()?)?),
                groups::DESC => field.keep(&mut desc.extra),
                9 => desc.has_out_attr = field.bool()?,
                10 => desc.size = field.int64()?,
                11 => desc.weight_size = field.int64()?,
                12 => desc.reuse_input = field.bool()?,
                13 => desc.output_tensor = field.bool()?,
                14 => desc.device_type = Sym::new(field.str()?),
                15 => desc.input_tensor = field.bool()?,
                16 => desc.real_dim_cnt = field.int64()?,
                17 => desc.reuse_input_index = field.int64()?,
                18 => desc.data_offset = field.int64()?,
                19 => desc::compression(&mut desc).size = field.int64()?,
                20 => desc::compression(&mut desc).table = field.bytes()?.into(),
                21 => desc::compression(&mut desc).table_offset = field.int64()?,
                _ => self.keep(&field, "a tensor description", &mut desc.extra),
            }
        }
        desc.shape = dims.map(Arc::from);
        desc.attrs = Attrs::from_entries(attrs);
        desc::absorb_old_attributes(&mut desc);
        Ok(desc)
    }

    fn shape(&mut self, mut fields: Fields<'a>, dims: &mut Vec<i64>) -> Result<()> {
        while let Some(field) = fields.next_field()? {
            match field.number {
                1 => field.int64s(dims)?,
                _ => self.drop(&field, "a shape"),
            }
        }
        Ok(())
    }

    /// A map entry.
    fn attr(&mut self, mut fields: Fields<'a>) -> Result<(Sym, AttrValue)> {
        let (mut key, mut value) = (Sym::default(), AttrValue::Unset);
        while let Some(field) = fields.next_field()? {
            match field.number {
                1 => key = Sym::new(field.str()?),
                2 => value = self.value(field.message()?)?,
                _ => self.drop(&field, "a map entry"),
            }
        }
        Ok((key, value))
    }

    /// An `AttrDef`. Of several members of the oneof the last one counts, as protobuf has it.
    fn value(&mut self, mut fields: Fields<'a>) -> Result<AttrValue> {
        let mut value = AttrValue::Unset;
        let mut extra = Extra::default();
        while let Some(field) = fields.next_field()? {
            value = match field.number {
                1 => AttrValue::List(Arc::new(self.list(field.message()?)?)),
                2 => AttrValue::Str(field.bytes()?.into()),
                3 => AttrValue::Int(field.int64()?),
                4 => AttrValue::Float(field.float()?),
                5 => AttrValue::Bool(field.bool()?),
                7 => AttrValue::Bytes(field.bytes()?.into()),
                10 => AttrValue::Func(Arc::new(self.named_attrs(field.message()?)?)),
                11 => AttrValue::Desc(Arc::new(self.desc(field.message()?)?)),
                12 => AttrValue::Tensor(Arc::new(self.tensor(field.message()?)?)),
                13 => AttrValue::Graph(Arc::new(self.opaque_graph(&field)?)),
                14 => AttrValue::ListListInt(self.rows(field.message()?, Field::int64s)?),
                15 => AttrValue::DataType(field.int64()?),
                16 => AttrValue::ListListFloat(self.rows(field.message()?, Field::floats)?),
                17 => AttrValue::Expression(field.bytes()?.into()),
                _ => {
                    self.keep(&field, "an attribute value", &mut extra);
                    continue;
                }
            };
        }
        Ok(if extra.is_empty() { value } else { AttrValue::Other(Arc::new((value, extra))) })
    }

    fn list(&mut self, mut fields: Fields<'a>) -> Result<ListValue> {
        let mut list = ListFields::default();
        while let Some(field) = fields.next_field()? {
            match field.number {
                2 => list.s.push(field.bytes()?.into()),
                3 => field.int64s(&mut list.i)?,
                4 => field.floats(&mut list.f)?,
                5 => field.bools(&mut list.b)?,
                7 => list.bt.push(field.bytes()?.into()),
                8 => list.td.push(self.desc(field.message()?)?),
                9 => list.t.push(self.tensor(field.message()?)?),
                10 => list.g.push(self.opaque_graph(&field)?),
                11 => list.na.push(self.named_attrs(field.message()?)?),
                12 => field.int64s(&mut list.dt)?,
                20 => list.val_type = field.int32()?,
                _ => self.keep(&field, "a list", &mut list.extra),
            }
        }
        Ok(list.finish())
    }

    fn named_attrs(&mut self, mut fields: Fields<'a>) -> Result<NamedAttrs> {
        let mut named = NamedAttrs::default();
        let mut attrs = Vec::new();
        while let Some(field) = fields.next_field()? {
            match field.number {
                1 => named.name = self.pool.name(field.str()?),
                2 => attrs.push(self.attr(field.message()?)?),
                _ => self.keep(&field, "a function", &mut named.extra),
            }
        }
        named.attrs = Attrs::from_entries(attrs);
        Ok(named)
    }

    fn tensor(&mut self, mut fields: Fields<'a>) -> Result<Tensor> {
        let mut tensor = Tensor { desc: None, data: Bytes::from([]), extra: Extra::default() };
        while let Some(field) = fields.next_field()? {
            match field.number {
                1 => tensor.desc = Some(Arc::new(self.desc(field.message()?)?)),
                2 => tensor.data = field.bytes()?.into(),
                _ => self.keep(&field, "a tensor", &mut tensor.extra),
            }
        }
        Ok(tensor)
    }

    /// Read once to see that it is a graph, and kept as it came.
    fn opaque_graph(&mut self, field: &Field<'a>) -> Result<OpaqueGraph> {
        self.graph(field.message()?)?;
        Ok(OpaqueGraph { encoded: field.bytes()?.into() })
    }

    /// `ListListInt` and its like.
    fn rows<T>(
        &mut self,
        mut fields: Fields<'a>,
        items: fn(&Field<'a>, &mut Vec<T>) -> Result<()>,
    ) -> Result<Arc<[Box<[T]>]>> {
        let mut rows = Vec::new();
        while let Some(field) = fields.next_field()? {
            if field.number != 1 {
                self.drop(&field, "a list of lists");
                continue;
            }
            let mut row = Vec::new();
            let mut fields = field.message()?;
            while let Some(field) = fields.next_field()? {
                match field.number {
                    1 => items(&field, &mut row)?,
                    _ => self.drop(&field, "a list of lists"),
                }
            }
            rows.push(row.into());
        }
        Ok(rows.into())
    }

    fn keep(&mut self, field: &Field<'a>, inside: &'static str, extra: &mut Extra) {
        field.keep(extra);
        self.note(field, inside, true);
    }

    fn drop(&mut self, field: &Field<'a>, inside: &'static str) {
        self.note(field, inside, false);
    }

    fn note(&mut self, field: &Field<'a>, inside: &'static str, kept: bool) {
        self.unknown.note(field.number, inside, field.offset, kept);
    }
}
