//! The messages of a dump: graphs of nodes with attributes. Fields beyond those are for viewers, and skipped.

use std::borrow::Cow;

use crate::format::FormatError;
use crate::format::ge::{Scan, Text};

#[derive(Default)]
pub(super) struct Graph<'a> {
    pub nodes: Vec<Node<'a>>,
    pub offset: usize,
}

#[derive(Default)]
pub(super) struct Node<'a> {
    pub name: Text<'a>,
    pub op: Text<'a>,
    pub inputs: Vec<Text<'a>>,
    pub attributes: Vec<Attribute<'a>>,
    pub offset: usize,
}

/// All values that an attribute has; which of them count, its type tells.
#[derive(Default)]
pub(super) struct Attribute<'a> {
    pub name: Text<'a>,
    pub kind: String,
    pub i: i64,
    pub f: f32,
    pub s: Cow<'a, [u8]>,
    pub ints: Vec<i64>,
    pub floats: Vec<f32>,
    pub strings: Vec<Cow<'a, [u8]>>,
    pub graph: Option<Graph<'a>>,
}

type Read<T> = Result<T, FormatError>;

/// The root graph of the file.
pub(super) fn read(data: &[u8]) -> Read<Graph<'_>> {
    let mut scan = Scan::new(data);
    let mut root = None;
    while let Some(field) = scan.field(None)? {
        match field {
            b"graph" => message(&mut scan, |scan, close, offset| {
                root = Some(graph(scan, close, offset)?);
                Ok(())
            })?,
            _ => skip(&mut scan, field)?,
        }
    }
    root.ok_or_else(|| FormatError::new("format::no-graph", "the file holds no graph"))
}

/// Reads the messages of one field: `each` gets the closing byte and where the message starts.
fn message<'a>(scan: &mut Scan<'a>, mut each: impl FnMut(&mut Scan<'a>, u8, usize) -> Read<()>) -> Read<()> {
    let mut values = scan.messages();
    while scan.more(&mut values)? {
        let offset = scan.at();
        let close = scan.open()?;
        each(scan, close, offset)?;
    }
    Ok(())
}

/// Reads the scalars of one field.
fn scalars<'a>(scan: &mut Scan<'a>, mut each: impl FnMut(&mut Scan<'a>) -> Read<()>) -> Read<()> {
    let mut values = scan.scalars()?;
    while scan.more(&mut values)? {
        each(scan)?;
    }
    Ok(())
}

fn skip(scan: &mut Scan<'_>, field: &[u8]) -> Read<()> {
    scan.copy_field(&String::from_utf8_lossy(field), 0, &mut String::new())
}

fn graph<'a>(scan: &mut Scan<'a>, close: u8, offset: usize) -> Read<Graph<'a>> {
    let mut graph = Graph { offset, ..Graph::default() };
    while let Some(field) = scan.field(Some(close))? {
        match field {
            b"node" => message(scan, |scan, close, offset| {
                graph.nodes.push(node(scan, close, offset)?);
                Ok(())
            })?,
            _ => skip(scan, field)?,
        }
    }
    Ok(graph)
}

fn node<'a>(scan: &mut Scan<'a>, close: u8, offset: usize) -> Read<Node<'a>> {
    let mut node = Node { offset, ..Node::default() };
    while let Some(field) = scan.field(Some(close))? {
        match field {
            b"name" => scalars(scan, |s| s.string().map(|v| node.name = v))?,
            b"op_type" => scalars(scan, |s| s.string().map(|v| node.op = v))?,
            b"input" => scalars(scan, |s| s.string().map(|v| node.inputs.push(v)))?,
            b"attribute" => message(scan, |scan, close, _| {
                node.attributes.push(attribute(scan, close)?);
                Ok(())
            })?,
            _ => skip(scan, field)?,
        }
    }
    Ok(node)
}

fn attribute<'a>(scan: &mut Scan<'a>, close: u8) -> Read<Attribute<'a>> {
    let mut attribute = Attribute::default();
    while let Some(field) = scan.field(Some(close))? {
        match field {
            b"name" => scalars(scan, |s| s.string().map(|v| attribute.name = v))?,
            b"type" => scalars(scan, |s| s.name().map(|v| attribute.kind = v))?,
            b"i" => scalars(scan, |s| s.int64().map(|v| attribute.i = v))?,
            b"f" => scalars(scan, |s| s.float().map(|v| attribute.f = v))?,
            b"s" => scalars(scan, |s| s.bytes().map(|v| attribute.s = v))?,
            b"ints" => scalars(scan, |s| s.int64().map(|v| attribute.ints.push(v)))?,
            b"floats" => scalars(scan, |s| s.float().map(|v| attribute.floats.push(v)))?,
            b"strings" => scalars(scan, |s| s.bytes().map(|v| attribute.strings.push(v)))?,
            b"g" => message(scan, |scan, close, offset| {
                attribute.graph = Some(graph(scan, close, offset)?);
                Ok(())
            })?,
            _ => skip(scan, field)?,
        }
    }
    Ok(attribute)
}
