//! Attributes as values of the language.

use super::code::{Code, Op, Span};
use super::{Machine, Value};
use crate::graph::{Anchor, AttrValue, Attrs, ListItems, ListValue, NodeId, Sym};
use crate::lang::facts::Fact;
use crate::lang::hir::ExprId;
use crate::lang::syntax::ast::AttrType;

impl Machine<'_> {
    #[inline(never)]
    pub(super) fn attr(&mut self, code: &Code, of: ExprId, keys: Span, ty: AttrType, base: usize) -> Value {
        match self.attrs_of(code, of, base) {
            Some(attrs) => attr_value(attrs, code.keys(keys), ty),
            None => Value::None,
        }
    }

    #[inline(never)]
    pub(super) fn has_attr(&mut self, code: &Code, of: ExprId, keys: Span, base: usize) -> Value {
        match self.attrs_of(code, of, base) {
            Some(attrs) => Value::Bool(code.keys(keys).iter().any(|&key| attrs.contains(key))),
            None => Value::None,
        }
    }

    /// The attributes of what `of` is.
    fn attrs_of(&mut self, code: &Code, of: ExprId, base: usize) -> Option<&Attrs> {
        if let Some(place) = self.at_hand(code, of, base) {
            self.see_own(place.node());
            return match place {
                Place::Node(node) => self.node(node).map(|node| &node.attrs),
                Place::Anchor(anchor) => self.desc(anchor).map(|desc| &desc.attrs),
            };
        }
        let subject = self.expr(code, of, base);
        match &subject {
            Value::Graph(_) => self.see_graph(),
            other => {
                let node = other.as_node().or_else(|| other.as_anchor().map(Anchor::node));
                node.into_iter().for_each(|node| self.see_own(node));
            }
        }
        self.attrs(&subject)
    }

    /// A node or an anchor that need not be evaluated, since a local holds it, or the node of an anchor that one holds.
    #[inline]
    pub(super) fn at_hand(&self, code: &Code, id: ExprId, base: usize) -> Option<Place> {
        match code.ops[id as usize] {
            Op::Local(local) => match self.stack[base + local as usize] {
                Value::Node(node) => Some(Place::Node(node)),
                Value::Input(input) => Some(Place::Anchor(Anchor::In(input))),
                Value::Output(output) => Some(Place::Anchor(Anchor::Out(output))),
                _ => None,
            },
            Op::Fact { fact: Fact::InputNode | Fact::OutputNode | Fact::AnchorNode, base: of, .. } => {
                let Op::Local(local) = code.ops[of as usize] else { return None };
                let anchor = self.stack[base + local as usize].as_anchor()?;
                Some(Place::Node(anchor.node()))
            }
            _ => None,
        }
    }

    /// The attributes of a node, a graph, or the tensor of an anchor.
    pub(super) fn attrs(&self, subject: &Value) -> Option<&Attrs> {
        match subject {
            Value::Node(node) => self.node(*node).map(|node| &node.attrs),
            Value::Graph(graph) => self.edit.get_graph(*graph).map(|graph| &graph.attrs),
            other => self.desc(other.as_anchor()?).map(|desc| &desc.attrs),
        }
    }
}

/// A node or an anchor.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Node(NodeId),
    Anchor(Anchor),
}

impl Place {
    fn node(self) -> NodeId {
        match self {
            Place::Node(node) => node,
            Place::Anchor(anchor) => anchor.node(),
        }
    }
}

/// The first of `keys` that has a value of the declared kind; else what an absent attribute reads as.
fn attr_value(attrs: &Attrs, keys: &[Sym], ty: AttrType) -> Value {
    let value = keys.iter().filter_map(|&key| attrs.get(key)).find_map(|value| convert(value, ty));
    value.unwrap_or_else(|| match ty {
        AttrType::Bool => Value::Bool(false),
        AttrType::OptBool | AttrType::Int | AttrType::Float | AttrType::Str | AttrType::Any => Value::None,
        _ => Value::list(Vec::new()),
    })
}

fn convert(value: &AttrValue, ty: AttrType) -> Option<Value> {
    Some(match (ty, value) {
        (_, AttrValue::Other(other)) if !matches!(other.0, AttrValue::Other(_)) => {
            return convert(&other.0, ty);
        }
        (AttrType::Bool | AttrType::OptBool, AttrValue::Bool(b)) => Value::Bool(*b),
        (AttrType::Int, AttrValue::Int(i)) => Value::Int(*i),
        (AttrType::Float, AttrValue::Float(f)) => Value::Float(f64::from(*f)),
        (AttrType::Str, AttrValue::Str(bytes)) => string(bytes),
        (AttrType::ListListInt, AttrValue::ListListInt(rows)) => {
            let row = |row: &[i64]| Value::list(row.iter().map(|&i| Value::Int(i)).collect());
            Value::list(rows.iter().map(|ints| row(ints)).collect())
        }
        (_, AttrValue::List(list)) => return convert_list(list, ty),
        _ => return None,
    })
}

fn convert_list(list: &ListValue, ty: AttrType) -> Option<Value> {
    let values = match (ty, &list.items) {
        (
            AttrType::ListInt | AttrType::ListStr | AttrType::ListBool | AttrType::ListFloat,
            ListItems::Empty,
        ) => Vec::new(),
        (AttrType::ListInt, ListItems::Int(items)) => items.iter().map(|&i| Value::Int(i)).collect(),
        (AttrType::ListBool, ListItems::Bool(items)) => items.iter().map(|&b| Value::Bool(b)).collect(),
        (AttrType::ListStr, ListItems::Str(items)) => items.iter().map(|bytes| string(bytes)).collect(),
        (AttrType::ListFloat, ListItems::Float(items)) => {
            items.iter().map(|&f| Value::Float(f64::from(f))).collect()
        }
        _ => return None,
    };
    Some(Value::list(values))
}

/// A string of the file. Names that a rule or a type has interned need no copy; bytes that are not UTF-8 are
/// shown as such.
fn string(bytes: &[u8]) -> Value {
    let text = String::from_utf8_lossy(bytes);
    match Sym::lookup(&text) {
        Some(sym) => Value::Str(sym),
        None => Value::text(&text),
    }
}
