//! ONNX messages as far as a graph needs them (`graph_formats.md` 7.1), borrowed from the file.
//!
//! Promise: nothing is copied, and every message remembers its bytes, so that a writer can keep what it does not
//! understand. Nesting is bounded by the wire reader.

use crate::format::{Field, Fields, FormatError, Wire};

/// The model message.
#[derive(Default, Debug)]
pub(super) struct Model<'a> {
    pub opsets: Vec<(&'a str, i64)>,
    pub graph: Option<Graph<'a>>,
    pub functions: Vec<Function<'a>>,
}

#[derive(Default, Debug, Clone)]
pub(super) struct Graph<'a> {
    pub name: &'a str,
    pub nodes: Vec<Node<'a>>,
    pub initializers: Vec<Tensor<'a>>,
    pub inputs: Vec<ValueInfo<'a>>,
    pub outputs: Vec<ValueInfo<'a>>,
    pub value_infos: Vec<ValueInfo<'a>>,
    /// Where the message starts in the file, and its bytes.
    pub offset: usize,
    pub encoded: &'a [u8],
    /// Names that this graph or one inside it uses and the enclosing graph must have. Sorted.
    pub captures: Vec<&'a str>,
}

#[derive(Default, Debug, Clone)]
pub(super) struct Node<'a> {
    pub inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
    pub name: &'a str,
    pub op: &'a str,
    pub domain: &'a str,
    pub attributes: Vec<Attribute<'a>>,
    pub offset: usize,
    pub encoded: &'a [u8],
}

#[derive(Debug, Clone)]
pub(super) struct Attribute<'a> {
    pub name: &'a str,
    pub value: Value<'a>,
    /// The attribute of the enclosing function that this one stands for.
    pub reference: &'a str,
    pub encoded: &'a [u8],
}

#[derive(Debug, Clone)]
pub(super) enum Value<'a> {
    Float(f32),
    Int(i64),
    Str(&'a [u8]),
    Tensor(Box<Tensor<'a>>),
    Graph(Box<Graph<'a>>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    Strings(Vec<&'a [u8]>),
    Tensors(Vec<Tensor<'a>>),
    Graphs(Vec<Graph<'a>>),
    /// Sparse tensors and types: kept in the bytes only.
    Other,
}

#[derive(Default, Debug, Clone)]
pub(super) struct Tensor<'a> {
    pub name: &'a str,
    pub dims: Vec<i64>,
    pub dtype: i32,
    /// Elements in the field of their type, if not raw.
    pub floats: Vec<f32>,
    pub int32s: Vec<i64>,
    pub int64s: Vec<i64>,
    pub doubles: Vec<f64>,
    pub raw: &'a [u8],
    /// Key and value of each entry; empty if the data is in the file.
    pub external: Vec<(&'a str, &'a str)>,
    pub is_external: bool,
}

#[derive(Default, Debug, Clone)]
pub(super) struct ValueInfo<'a> {
    pub name: &'a str,
    /// 0 if the type is not a tensor or not given.
    pub dtype: i32,
    /// Extents, -1 if symbolic or unknown; `None`: unknown rank.
    pub dims: Option<Vec<i64>>,
    pub offset: usize,
    pub encoded: &'a [u8],
}

#[derive(Default, Debug, Clone)]
pub(super) struct Function<'a> {
    pub name: &'a str,
    pub domain: &'a str,
    pub inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
    pub nodes: Vec<Node<'a>>,
    pub opsets: Vec<(&'a str, i64)>,
    /// Attributes with their default.
    pub defaults: Vec<Attribute<'a>>,
    pub offset: usize,
}

type Read<T> = Result<T, FormatError>;

/// Calls `each` for every field of a message.
fn each<'a>(mut fields: Fields<'a>, mut each: impl FnMut(Field<'a>) -> Read<()>) -> Read<()> {
    while let Some(field) = fields.next_field()? {
        each(field)?;
    }
    Ok(())
}

/// Reads a whole file.
pub(super) fn model(data: &[u8]) -> Read<Model<'_>> {
    let mut model = Model::default();
    each(Fields::new(data), |field| {
        match field.number {
            7 => model.graph = Some(graph(&field)?),
            8 => model.opsets.push(opset(&field)?),
            25 => model.functions.push(function(&field)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(model)
}

fn opset<'a>(field: &Field<'a>) -> Read<(&'a str, i64)> {
    let (mut domain, mut version) = ("", 0);
    each(field.message()?, |field| {
        match field.number {
            1 => domain = field.str()?,
            2 => version = field.int64()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok((plain_domain(domain), version))
}

/// The default domain has two spellings.
pub(super) fn plain_domain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

fn graph<'a>(field: &Field<'a>) -> Read<Graph<'a>> {
    let mut graph = Graph { offset: field.payload_offset(), encoded: field.bytes()?, ..Graph::default() };
    each(field.message()?, |field| {
        match field.number {
            1 => graph.nodes.push(node(&field)?),
            2 => graph.name = field.str()?,
            5 => graph.initializers.push(tensor(&field)?),
            11 => graph.inputs.push(value_info(&field)?),
            12 => graph.outputs.push(value_info(&field)?),
            13 => graph.value_infos.push(value_info(&field)?),
            15 => graph.initializers.push(sparse(&field)?),
            _ => {}
        }
        Ok(())
    })?;
    graph.captures = captures(&graph);
    Ok(graph)
}

/// What `graph` uses and does not define. The graphs inside already know theirs.
fn captures<'a>(graph: &Graph<'a>) -> Vec<&'a str> {
    let defined: rustc_hash::FxHashSet<&str> = graph
        .nodes
        .iter()
        .flat_map(|node| node.outputs.iter().copied())
        .chain(graph.inputs.iter().map(|i| i.name))
        .chain(graph.initializers.iter().map(|i| i.name))
        .collect();
    let mut used: Vec<&str> = graph.outputs.iter().map(|o| o.name).collect();
    for node in &graph.nodes {
        used.extend(&node.inputs);
        used.extend(node.captures());
    }
    used.retain(|name| !name.is_empty() && !defined.contains(name));
    used.sort_unstable();
    used.dedup();
    used
}

impl<'a> Node<'a> {
    /// The graphs among the attributes, each with the name of its attribute, in file order.
    pub fn graphs(&self) -> Vec<(&'a str, &Graph<'a>)> {
        let mut graphs = Vec::new();
        for attribute in &self.attributes {
            match &attribute.value {
                Value::Graph(graph) => graphs.push((attribute.name, &**graph)),
                Value::Graphs(all) => graphs.extend(all.iter().map(|graph| (attribute.name, graph))),
                _ => {}
            }
        }
        graphs
    }

    /// What the graphs of this node take from around it: sorted, each once.
    pub fn captures(&self) -> Vec<&'a str> {
        let mut all: Vec<&str> =
            self.graphs().iter().flat_map(|(_, graph)| graph.captures.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn attribute(&self, name: &str) -> Option<&Value<'a>> {
        self.attributes.iter().find(|a| a.name == name).map(|a| &a.value)
    }
}

fn node<'a>(field: &Field<'a>) -> Read<Node<'a>> {
    let mut node = Node { offset: field.offset, encoded: field.bytes()?, ..Node::default() };
    each(field.message()?, |field| {
        match field.number {
            1 => node.inputs.push(field.str()?),
            2 => node.outputs.push(field.str()?),
            3 => node.name = field.str()?,
            4 => node.op = field.str()?,
            5 => node.attributes.push(attribute(&field)?),
            7 => node.domain = plain_domain(field.str()?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(node)
}

fn attribute<'a>(field: &Field<'a>) -> Read<Attribute<'a>> {
    let mut out = Attribute { name: "", value: Value::Other, reference: "", encoded: field.bytes()? };
    let mut kind = 0;
    let (mut f, mut i, mut s) = (0.0, 0, &b""[..]);
    let (mut t, mut g) = (None, None);
    let (mut floats, mut ints, mut strings) = (Vec::new(), Vec::new(), Vec::new());
    let (mut tensors, mut graphs) = (Vec::new(), Vec::new());
    // Old files give no type; the field that is there tells it.
    let mut seen = 0;
    each(field.message()?, |field| {
        if seen == 0 && (2..=11).contains(&field.number) {
            seen = field.number as i32 - 1;
        }
        match field.number {
            1 => out.name = field.str()?,
            2 => f = field.float()?,
            3 => i = field.int64()?,
            4 => s = field.bytes()?,
            5 => t = Some(tensor(&field)?),
            6 => g = Some(graph(&field)?),
            7 => field.floats(&mut floats)?,
            8 => field.int64s(&mut ints)?,
            9 => strings.push(field.bytes()?),
            10 => tensors.push(tensor(&field)?),
            11 => graphs.push(graph(&field)?),
            20 => kind = field.int32()?,
            21 => out.reference = field.str()?,
            _ => {}
        }
        Ok(())
    })?;
    out.value = match if kind == 0 { seen } else { kind } {
        1 => Value::Float(f),
        2 => Value::Int(i),
        3 => Value::Str(s),
        4 => t.map_or(Value::Other, |t| Value::Tensor(Box::new(t))),
        5 => g.map_or(Value::Other, |g| Value::Graph(Box::new(g))),
        6 => Value::Floats(floats),
        7 => Value::Ints(ints),
        8 => Value::Strings(strings),
        9 => Value::Tensors(tensors),
        10 => Value::Graphs(graphs),
        _ => Value::Other,
    };
    Ok(out)
}

fn tensor<'a>(field: &Field<'a>) -> Read<Tensor<'a>> {
    let mut tensor = Tensor::default();
    each(field.message()?, |field| {
        match field.number {
            1 => field.int64s(&mut tensor.dims)?,
            2 => tensor.dtype = field.int32()?,
            4 => field.floats(&mut tensor.floats)?,
            5 => field.int64s(&mut tensor.int32s)?,
            7 | 11 => field.int64s(&mut tensor.int64s)?,
            8 => tensor.name = field.str()?,
            9 => tensor.raw = field.bytes()?,
            10 => doubles(&field, &mut tensor.doubles)?,
            13 => tensor.external.push(entry(&field)?),
            14 => tensor.is_external = field.int64()? == 1,
            _ => {}
        }
        Ok(())
    })?;
    Ok(tensor)
}

fn doubles(field: &Field<'_>, into: &mut Vec<f64>) -> Read<()> {
    let Wire::Bytes(packed) = field.value else {
        into.push(field.double()?);
        return Ok(());
    };
    let (items, odd) = packed.as_chunks::<8>();
    if !odd.is_empty() {
        let message = "packed doubles need 8 bytes each";
        return Err(FormatError::at_byte("format::malformed", message, field.payload_offset()));
    }
    into.extend(items.iter().map(|item| f64::from_le_bytes(*item)));
    Ok(())
}

fn entry<'a>(field: &Field<'a>) -> Read<(&'a str, &'a str)> {
    let mut entry = ("", "");
    each(field.message()?, |field| {
        match field.number {
            1 => entry.0 = field.str()?,
            2 => entry.1 = field.str()?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(entry)
}

/// A sparse initializer: its values name it, its own dims describe it; the elements stay in the file.
fn sparse<'a>(field: &Field<'a>) -> Read<Tensor<'a>> {
    let mut sparse = Tensor::default();
    let mut dims = Vec::new();
    each(field.message()?, |field| {
        match field.number {
            1 => {
                let values = tensor(&field)?;
                (sparse.name, sparse.dtype) = (values.name, values.dtype);
            }
            3 => field.int64s(&mut dims)?,
            _ => {}
        }
        Ok(())
    })?;
    sparse.dims = dims;
    Ok(sparse)
}

fn value_info<'a>(field: &Field<'a>) -> Read<ValueInfo<'a>> {
    let mut info = ValueInfo { offset: field.offset, encoded: field.bytes()?, ..ValueInfo::default() };
    each(field.message()?, |field| {
        match field.number {
            1 => info.name = field.str()?,
            2 => value_type(field.message()?, &mut info)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(info)
}

/// Of the types only dense tensors have a description; the others stay unknown.
fn value_type<'a>(fields: Fields<'a>, info: &mut ValueInfo<'a>) -> Read<()> {
    each(fields, |field| {
        if field.number != 1 {
            return Ok(());
        }
        each(field.message()?, |field| {
            match field.number {
                1 => info.dtype = field.int32()?,
                2 => {
                    let mut dims = Vec::new();
                    each(field.message()?, |field| {
                        if field.number == 1 {
                            dims.push(dim(field.message()?)?);
                        }
                        Ok(())
                    })?;
                    info.dims = Some(dims);
                }
                _ => {}
            }
            Ok(())
        })
    })
}

fn dim(fields: Fields<'_>) -> Read<i64> {
    let mut extent = -1;
    each(fields, |field| {
        if field.number == 1 {
            // -1 means unknown in some exporters; anything below would read as an unknown rank.
            extent = field.int64()?.max(-1);
        }
        Ok(())
    })?;
    Ok(extent)
}

fn function<'a>(field: &Field<'a>) -> Read<Function<'a>> {
    let mut function = Function { offset: field.offset, ..Function::default() };
    each(field.message()?, |field| {
        match field.number {
            1 => function.name = field.str()?,
            4 => function.inputs.push(field.str()?),
            5 => function.outputs.push(field.str()?),
            7 => function.nodes.push(node(&field)?),
            9 => function.opsets.push(opset(&field)?),
            10 => function.domain = plain_domain(field.str()?),
            11 => function.defaults.push(attribute(&field)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(function)
}
