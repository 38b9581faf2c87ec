//! Values: from the parse tree to attribute values and descriptions.

use std::ops::Range;
use std::sync::Arc;

use pest::iterators::Pair;
use rustc_hash::FxHashSet;

use super::fields::{DESC_FIELDS, Refused, set_desc_field};
use super::syntax::{Reader, Rule, Target, inner_pair};
use super::{codes, names, origin};
use crate::graph::{
    AttrValue, Attrs, Bytes, Extra, ListItems, ListValue, NamedAttrs, OpaqueGraph, Sym, Tensor, TensorDesc,
};

impl Reader<'_> {
    /// A value; `None` after a complaint.
    pub fn value(&mut self, pair: Pair<'_, Rule>) -> Option<AttrValue> {
        let pair = inner_pair(pair);
        match pair.as_rule() {
            Rule::list => self.list(pair),
            Rule::tensor => self.tensor(pair).map(|t| AttrValue::Tensor(Arc::new(t))),
            Rule::port => {
                let described = pair.into_inner().find(|p| p.as_rule() == Rule::described)?;
                self.described(described).map(|d| AttrValue::Desc(Arc::new(d)))
            }
            Rule::graph => {
                let bytes = pair.into_inner().find(|p| p.as_rule() == Rule::bytes)?;
                self.bytes(bytes).map(|encoded| AttrValue::Graph(Arc::new(OpaqueGraph { encoded })))
            }
            Rule::bytes => self.bytes(pair).map(AttrValue::Bytes),
            Rule::expr => {
                let string = pair.into_inner().find(|p| p.as_rule() == Rule::string)?;
                self.string(&string).map(|s| AttrValue::Expression(s.into()))
            }
            Rule::number => self.number(&pair),
            _ => self.call(pair),
        }
    }

    fn number(&mut self, pair: &Pair<'_, Rule>) -> Option<AttrValue> {
        let text = pair.as_str();
        let is_float = text.contains(['.', 'e', 'E', 'i']);
        let (value, kind) = if let Some((sign, digits)) = text.split_once("0x") {
            let value = i64::from_str_radix(&format!("{sign}{digits}"), 16).ok();
            (value.map(AttrValue::Int), "a 64-bit integer")
        } else if is_float {
            // A literal too large for the type would silently become infinite.
            let value = text.parse::<f32>().ok().filter(|f| f.is_finite() || text.ends_with("inf"));
            (value.map(AttrValue::Float), "a 32-bit float")
        } else {
            (text.parse().ok().map(AttrValue::Int), "a 64-bit integer")
        };
        if value.is_none() {
            self.complain(codes::VALUE, self.span(pair), format!("`{text}` is out of the range of {kind}"));
        }
        value
    }

    /// `name`, `"text"`, or either with attributes of its own.
    fn call(&mut self, pair: Pair<'_, Rule>) -> Option<AttrValue> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let name = inner_pair(parts.next()?);
        let block = parts.next();
        let is_string = name.as_rule() == Rule::string;
        if let Some(block) = block {
            let name = if is_string { self.text(&name)? } else { name.as_str().into() };
            let attrs = self.attr_block(block)?;
            return Some(AttrValue::Func(Arc::new(NamedAttrs { name, attrs, extra: Extra::default() })));
        }
        if is_string {
            return self.string(&name).map(|s| AttrValue::Str(s.into()));
        }
        match name.as_str() {
            "true" => Some(AttrValue::Bool(true)),
            "false" => Some(AttrValue::Bool(false)),
            "nan" => Some(AttrValue::Float(f32::NAN)),
            "unset" => Some(AttrValue::Unset),
            word => {
                if let Some(dtype) = names::cpp_dtype(word) {
                    return Some(AttrValue::DataType(dtype));
                }
                let known = ["true", "false", "nan", "unset"].map(str::to_owned);
                let near = names::nearest(word, known.into_iter().chain(names::cpp_dtype_names()));
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "a string is written `\"{word}\"`, named attributes `{word} {{ key = value }}`"
                    ),
                };
                self.complain_with(codes::VALUE, span, format!("`{word}` is not a value"), help);
                None
            }
        }
    }

    fn list(&mut self, pair: Pair<'_, Rule>) -> Option<AttrValue> {
        let span = self.span(&pair);
        let mut values = Vec::new();
        let mut declared = None;
        for part in pair.into_inner() {
            if part.as_rule() == Rule::list_type {
                let name = inner_pair(part);
                declared = Some((name.as_str().to_owned(), self.span(&name)));
            } else {
                values.push(self.value(part)?);
            }
        }
        let declared = declared.as_ref().map(|(name, span)| (name.as_str(), span.clone()));
        if values.iter().all(|v| matches!(v, AttrValue::List(_)))
            && (!values.is_empty() || matches!(declared, Some(("ints" | "floats", _))))
        {
            return self.list_of_lists(&values, declared.map(|(name, _)| name), span);
        }
        let Some((natural, items)) = gather(&values) else {
            let message = "the elements of a list must be of one kind";
            self.complain(codes::VALUE, span, message.to_owned());
            return None;
        };
        let val_type = match declared {
            None => natural,
            Some((name, span)) => match names::list_type(name) {
                Some(number) => number,
                None => {
                    let near = names::nearest(name, names::list_type_names());
                    let help = match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            format!("known are {}", names::list_type_names().collect::<Vec<_>>().join(", "))
                        }
                    };
                    self.complain_with(codes::VALUE, span, format!("unknown list type `{name}`"), help);
                    return None;
                }
            },
        };
        Some(AttrValue::List(Arc::new(ListValue { val_type, items, extra: Extra::default() })))
    }

    fn list_of_lists(
        &mut self,
        lists: &[AttrValue],
        declared: Option<&str>,
        span: Range<usize>,
    ) -> Option<AttrValue> {
        let (mut ints, mut floats) = (Vec::new(), Vec::new());
        for list in lists {
            let AttrValue::List(list) = list else { continue };
            match &list.items {
                ListItems::Empty => {
                    ints.push(Box::default());
                    floats.push(Box::default());
                }
                ListItems::Int(items) => ints.push(items.clone()),
                ListItems::Float(items) => floats.push(items.clone()),
                _ => {}
            }
        }
        if ints.len() == lists.len() && declared != Some("floats") {
            Some(AttrValue::ListListInt(ints.into()))
        } else if floats.len() == lists.len() {
            Some(AttrValue::ListListFloat(floats.into()))
        } else {
            let message = "a list of lists holds only integers or only floats";
            self.complain(codes::VALUE, span, message.to_owned());
            None
        }
    }

    fn tensor(&mut self, pair: Pair<'_, Rule>) -> Option<Tensor> {
        let mut tensor = Tensor { desc: None, data: Bytes::from([]), extra: Extra::default() };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::described => tensor.desc = Some(Arc::new(self.described(part)?)),
                Rule::bytes => tensor.data = self.bytes(part)?,
                _ => {}
            }
        }
        Some(tensor)
    }

    fn described(&mut self, pair: Pair<'_, Rule>) -> Option<TensorDesc> {
        let mut parts = pair.into_inner();
        let mut desc = self.desc(parts.next()?)?;
        let mut attrs = Vec::new();
        for (target, value, span) in parts.next().map_or(Some(Vec::new()), |block| self.pairs(block))? {
            match target {
                Target::Key(key) => attrs.push((key, value)),
                Target::Field(field) => self.set_desc_field(&mut desc, &field, &value, span)?,
                Target::Port { .. } => {
                    let message = "a description has no ports";
                    self.complain(codes::ENTRY, span, message.to_owned());
                    return None;
                }
            }
        }
        desc.attrs = and_more(desc.attrs, attrs);
        Some(desc)
    }

    pub fn set_desc_field(
        &mut self,
        desc: &mut TensorDesc,
        field: &str,
        value: &AttrValue,
        span: Range<usize>,
    ) -> Option<()> {
        let result = set_desc_field(desc, field, value);
        self.refuse(result, field, &DESC_FIELDS, span)
    }

    /// Complains about a field that was refused.
    pub fn refuse(
        &mut self,
        result: Result<(), Refused>,
        field: &str,
        known: &[&str],
        span: Range<usize>,
    ) -> Option<()> {
        match result {
            Ok(()) => return Some(()),
            Err(Refused::Wants(wanted)) => {
                self.complain(codes::VALUE, span, format!("field `@{field}` wants {wanted}"));
            }
            Err(Refused::Unknown) => {
                let help = match names::nearest(field, known) {
                    Some(near) => format!("did you mean `@{near}`?"),
                    None => format!("known are {}; an attribute is written without `@`", known.join(", ")),
                };
                self.complain_with(codes::FIELD, span, format!("unknown field `@{field}`"), help);
            }
        }
        None
    }

    fn attr_block(&mut self, block: Pair<'_, Rule>) -> Option<Attrs> {
        let mut entries = Vec::new();
        for (target, value, span) in self.pairs(block)? {
            let Target::Key(key) = target else {
                self.complain(codes::ENTRY, span, "named attributes have no fields and ports".to_owned());
                return None;
            };
            entries.push((key, value));
        }
        Some(Attrs::from_entries(entries))
    }

    fn pairs(&mut self, block: Pair<'_, Rule>) -> Option<Vec<(Target, AttrValue, Range<usize>)>> {
        let mut pairs: Vec<(Target, AttrValue, Range<usize>)> = Vec::new();
        let mut seen = FxHashSet::default();
        for pair in block.into_inner() {
            let span = self.span(&pair);
            let mut parts = pair.into_inner();
            let target = self.target(parts.next()?, false)?;
            let value = self.value(parts.next()?)?;
            if !seen.insert(target.clone()) {
                self.complain(codes::DUPLICATE, span, "this key is given twice".to_owned());
                return None;
            }
            pairs.push((target, value, span));
        }
        Some(pairs)
    }

    /// `float32[2,3] NCHW`.
    pub fn desc(&mut self, pair: Pair<'_, Rule>) -> Option<TensorDesc> {
        let mut desc = TensorDesc { layout: Sym::new(super::DEFAULT_LAYOUT), ..TensorDesc::default() };
        for part in pair.into_inner() {
            let span = self.span(&part);
            match part.as_rule() {
                Rule::dtype => {
                    let name = part.as_str();
                    let Some(dtype) = names::dtype(name) else {
                        let help = match names::nearest(name, names::dtype_names()) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => "a description is written like `float32[2,3] NCHW`".to_owned(),
                        };
                        self.complain_with(codes::DTYPE, span, format!("unknown data type `{name}`"), help);
                        return None;
                    };
                    desc.dtype = dtype;
                }
                Rule::shape => desc.shape = Some(self.dims(part)?.into()),
                Rule::origin => {
                    let (mut dims, mut format) = (Vec::new(), Sym::new(super::DEFAULT_LAYOUT));
                    for part in part.into_inner() {
                        match part.as_rule() {
                            Rule::shape => dims = self.dims(part)?,
                            Rule::layout => format = self.layout(&part)?,
                            _ => {}
                        }
                    }
                    desc.attrs = origin::set(&desc.attrs, &dims, format.as_str());
                }
                _ => desc.layout = self.layout(&part)?,
            }
        }
        Some(desc)
    }

    fn dims(&mut self, pair: Pair<'_, Rule>) -> Option<Vec<i64>> {
        let mut dims = Vec::new();
        for dim in pair.into_inner() {
            if dim.as_rule() == Rule::unknown_rank {
                dims.push(-2);
            } else if let Some(AttrValue::Int(extent)) = self.number(&dim) {
                dims.push(extent);
            } else {
                return None;
            }
        }
        Some(dims)
    }

    fn layout(&mut self, pair: &Pair<'_, Rule>) -> Option<Sym> {
        let quoted = pair.clone().into_inner().find(|p| p.as_rule() == Rule::string);
        Some(match quoted {
            Some(string) => Sym::new(&self.text(&string)?),
            None => Sym::new(pair.as_str()),
        })
    }

    fn bytes(&mut self, pair: Pair<'_, Rule>) -> Option<Bytes> {
        let span = self.span(&pair);
        let digits = pair.as_str().trim_start_matches("hex").trim_matches('"').as_bytes();
        let nibble = |digit: u8| (digit as char).to_digit(16).map(|d| d as u8);
        let (whole, odd) = digits.as_chunks::<2>();
        let bytes: Option<Vec<u8>> =
            whole.iter().map(|[a, b]| Some(nibble(*a)? << 4 | nibble(*b)?)).collect();
        let bytes = bytes.filter(|_| odd.is_empty());
        if bytes.is_none() {
            let message = "bytes are written as pairs of hexadecimal digits, as in `hex\"0aff\"`";
            self.complain(codes::VALUE, span, message.to_owned());
        }
        bytes.map(Into::into)
    }

    /// The text of a quoted name, which must be UTF-8.
    pub fn text(&mut self, pair: &Pair<'_, Rule>) -> Option<Arc<str>> {
        let bytes = self.string(pair)?;
        let text = String::from_utf8(bytes).ok();
        if text.is_none() {
            self.complain(codes::VALUE, self.span(pair), "a name must be UTF-8".to_owned());
        }
        text.map(Into::into)
    }

    /// The bytes of a string literal.
    fn string(&mut self, pair: &Pair<'_, Rule>) -> Option<Vec<u8>> {
        let start = self.span(pair).start;
        let inner = pair.as_str();
        let inner = inner.get(1..inner.len() - 1)?.as_bytes();
        let mut bytes = Vec::with_capacity(inner.len());
        let mut at = 0;
        while at < inner.len() {
            let escape = at;
            let byte = inner[at];
            at += 1;
            if byte != b'\\' {
                bytes.push(byte);
                continue;
            }
            let kind = inner.get(at).copied();
            at += 1;
            let hex = |at: usize| (*inner.get(at)? as char).to_digit(16).map(|d| d as u8);
            match kind {
                Some(b'n') => bytes.push(b'\n'),
                Some(b't') => bytes.push(b'\t'),
                Some(b'r') => bytes.push(b'\r'),
                Some(quoted @ (b'"' | b'\\')) => bytes.push(quoted),
                Some(b'x') if hex(at).is_some() && hex(at + 1).is_some() => {
                    bytes.push(hex(at)? << 4 | hex(at + 1)?);
                    at += 2;
                }
                _ => {
                    let span = start + 1 + escape..start + 1 + at.min(inner.len());
                    let help = "known are \\n, \\t, \\r, \\\", \\\\ and \\x with two hexadecimal digits";
                    self.complain_with(
                        codes::VALUE,
                        span,
                        "unknown escape in a string".to_owned(),
                        help.to_owned(),
                    );
                    return None;
                }
            }
        }
        Some(bytes)
    }
}

/// The attributes, and others that stand in the place of those of their names.
pub(super) fn and_more(attrs: Attrs, more: Vec<(Sym, AttrValue)>) -> Attrs {
    if more.is_empty() {
        return attrs;
    }
    Attrs::from_entries(attrs.entries().iter().cloned().chain(more).collect())
}

/// The elements as a list of one kind, with the list type that the kind has by nature.
fn gather(values: &[AttrValue]) -> Option<(i32, ListItems)> {
    fn all<T, L: FromIterator<T>>(values: &[AttrValue], one: impl Fn(&AttrValue) -> Option<T>) -> Option<L> {
        values.iter().map(one).collect()
    }
    let Some(first) = values.first() else { return Some((0, ListItems::Empty)) };
    macro_rules! of {
        ($number:literal, $kind:ident, $variant:pat => $value:expr) => {
            ($number, ListItems::$kind(all(values, |v| if let $variant = v { Some($value) } else { None })?))
        };
    }
    Some(match first {
        AttrValue::Str(_) => of!(1, Str, AttrValue::Str(s) => s.clone()),
        AttrValue::Int(_) => of!(2, Int, AttrValue::Int(i) => *i),
        AttrValue::Float(_) => of!(3, Float, AttrValue::Float(f) => *f),
        AttrValue::Bool(_) => of!(4, Bool, AttrValue::Bool(b) => *b),
        AttrValue::Bytes(_) => of!(5, Bytes, AttrValue::Bytes(b) => b.clone()),
        AttrValue::Desc(_) => of!(6, Desc, AttrValue::Desc(d) => (**d).clone()),
        AttrValue::Tensor(_) => of!(7, Tensor, AttrValue::Tensor(t) => (**t).clone()),
        AttrValue::Graph(_) => of!(8, Graph, AttrValue::Graph(g) => (**g).clone()),
        AttrValue::Func(_) => of!(9, Func, AttrValue::Func(f) => (**f).clone()),
        AttrValue::DataType(_) => of!(10, DataType, AttrValue::DataType(d) => *d),
        _ => return None,
    })
}
