//! The built-in facts (`lang::facts` says what each means).

use std::sync::{Arc, LazyLock};

use super::attrs::Place;
use super::code::Code;
use super::machine::STORED;
use super::regroup::Step;
use super::stream::End;
use super::trace::Told;
use super::{GroupRef, Machine, Value};
use crate::graph::{Anchor, DATA_TYPES, GraphId, GroupId, NodeId, Sym, Symbols};
use crate::lang::facts::Fact;
use crate::lang::hir::ExprId;

/// Data type names by proto number.
static DTYPES: LazyLock<Vec<Sym>> =
    LazyLock::new(|| DATA_TYPES.iter().map(|known| Sym::new(known.name)).collect());

/// What separates words in options.
const BLANKS: [char; 6] = [' ', '\t', '\n', '\r', '\u{b}', '\u{c}'];

/// Whether a text is a decimal number without sign that fits into so many bits, at most 127.
fn fits(text: &str, bits: u32) -> bool {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits && text.parse::<u128>().is_ok_and(|number| bits > 127 || number >> bits == 0)
}

fn count(n: usize) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

/// Some bits of a number; there are none outside of its 64.
fn bits(number: i64, from: i64, len: i64) -> i64 {
    let Some(shifted) = u32::try_from(from).ok().and_then(|from| number.cast_unsigned().checked_shr(from))
    else {
        return 0;
    };
    let mask = match u32::try_from(len.max(0)) {
        Ok(len) if len < 64 => (1u64 << len) - 1,
        _ => u64::MAX,
    };
    (shifted & mask).cast_signed()
}

fn port(index: &Value, len: usize) -> Option<u32> {
    u32::try_from(index.as_int()?).ok().filter(|&i| (i as usize) < len)
}

impl<'a> Machine<'a> {
    /// A fact of the value of `of`, with up to two arguments. Asked of none it gives none.
    #[inline(never)]
    pub(super) fn fact(
        &mut self,
        code: &Code,
        id: ExprId,
        fact: Fact,
        [of, a, b]: [ExprId; 3],
        base: usize,
    ) -> Value {
        // Lists that need not be built.
        match fact {
            Fact::OutputReaders | Fact::GroupInputs | Fact::GroupOutputs => {
                return self.collect(code, id, base);
            }
            Fact::GroupInputsOf | Fact::GroupOutputsOf | Fact::GroupAnchors => {
                return self.collect(code, id, base);
            }
            Fact::ListSkip | Fact::ListTake if Self::is_part(code, id) => {
                return self.part(code, id, base);
            }
            Fact::ListSkip if Self::is_lazy(code, of) => {
                return self.collect(code, id, base);
            }
            Fact::ListTake if Self::can_end_early(code, of) => {
                return self.collect(code, id, base);
            }
            Fact::ListCount | Fact::ListIsEmpty | Fact::ListFirst | Fact::ListSame | Fact::ListLast
                if Self::is_lazy(code, of) =>
            {
                return self.fold(code, fact, of, base);
            }
            _ => {}
        }
        match self.at_hand(code, of, base) {
            Some(Place::Node(node)) => return self.node_fact(code, fact, node, a, base),
            Some(Place::Anchor(anchor)) => return self.anchor_fact(code, fact, anchor, a, base),
            None => {}
        }
        let receiver = self.expr(code, of, base);
        match receiver {
            Value::None => Value::None,
            Value::Node(node) => self.node_fact(code, fact, node, a, base),
            Value::Input(input) => self.anchor_fact(code, fact, Anchor::In(input), a, base),
            Value::Output(output) => self.anchor_fact(code, fact, Anchor::Out(output), a, base),
            Value::Graph(graph) => self.graph_fact(code, fact, graph, a, base),
            Value::Symbols(table) => self.symbols_fact(code, fact, &table, [a, b], base),
            Value::Group(ref group) if !is_list_fact(fact) => self.group_fact(code, fact, group, a, base),
            Value::Int(i) => match fact {
                Fact::IntAbs => Value::Int(i.saturating_abs()),
                Fact::IntToStr => Value::text(&i.to_string()),
                Fact::IntBits => {
                    let (from, len) = (self.expr(code, a, base), self.expr(code, b, base));
                    let (Some(from), Some(len)) = (from.as_int(), len.as_int()) else { return Value::None };
                    Value::Int(bits(i, from, len))
                }
                Fact::IntMin | Fact::IntMax => match self.expr(code, a, base) {
                    Value::Int(j) if fact == Fact::IntMin => Value::Int(i.min(j)),
                    Value::Int(j) => Value::Int(i.max(j)),
                    _ => Value::None,
                },
                _ => Value::None,
            },
            Value::Str(_) | Value::Text(_) | Value::Mark(_) => self.str_fact(code, fact, &receiver, a, base),
            _ => self.list_fact(code, fact, &receiver, a, base),
        }
    }

    fn node_fact(&mut self, code: &Code, fact: Fact, id: NodeId, a: ExprId, base: usize) -> Value {
        match fact {
            Fact::NodeHasControl => self.see(id),
            _ => self.see_own(id),
        }
        if let Some(dense) = self.clean(id) {
            // These lie beside each other, and nodes anywhere.
            match fact {
                Fact::NodeType => return dense.ty(id).map_or(Value::None, Value::Str),
                Fact::NodeGraph => return dense.graph_of(id).map_or(Value::None, Value::Graph),
                Fact::NodeInputs => {
                    return dense
                        .ports(id)
                        .map_or(Value::None, |(count, _)| Value::Inputs { node: id, count });
                }
                Fact::NodeOutputs => {
                    return dense
                        .ports(id)
                        .map_or(Value::None, |(_, count)| Value::Outputs { node: id, count });
                }
                _ => {}
            }
        }
        let Some(node) = self.node(id) else { return Value::None };
        match fact {
            Fact::NodeType => Value::Str(node.ty),
            Fact::NodeInputs => Value::Inputs { node: id, count: node.inputs.len() as u32 },
            Fact::NodeOutputs => Value::Outputs { node: id, count: node.outputs.len() as u32 },
            Fact::NodeName => Value::Text(Arc::new(node.name.clone())),
            Fact::NodeGraph => Value::Graph(node.graph),
            Fact::NodeId => {
                self.see_id(id);
                Value::Int(self.edit.topo_id(id))
            }
            Fact::NodeInput => {
                let len = node.inputs.len();
                port(&self.expr(code, a, base), len).map(|i| id.input(i)).into()
            }
            Fact::NodeOutput => {
                let len = node.outputs.len();
                port(&self.expr(code, a, base), len).map(|i| id.output(i)).into()
            }
            Fact::NodeSubgraphs => Value::list(node.subgraphs.iter().map(|&g| Value::Graph(g)).collect()),
            Fact::NodeHasSubgraph => Value::Bool(node.has_subgraphs()),
            Fact::NodeNamesSubgraph => {
                let named =
                    node.detail.as_ref().is_some_and(|d| d.subgraph_name.iter().any(|name| !name.is_empty()));
                Value::Bool(named || node.has_subgraphs())
            }
            Fact::NodeControlIn | Fact::NodeControlOut => self.control_list(fact, &Value::Node(id)),
            Fact::NodeHasControl => match self.expr(code, a, base) {
                Value::Node(to) => {
                    self.see(to);
                    Value::Bool(self.edit.has_control(id, to))
                }
                _ => Value::None,
            },
            Fact::NodeReaches => match self.expr(code, a, base) {
                Value::Node(to) => {
                    let host = self.host;
                    let holds = host.reaches(self, id, to);
                    self.tell(Told::Reaches { from: id, to, holds });
                    Value::Bool(holds)
                }
                _ => Value::None,
            },
            Fact::NodeInputIsConst => {
                let flags = node.detail.as_ref().map_or(&[][..], |detail| &detail.const_inputs);
                Value::list(flags.iter().map(|&flag| Value::Int(flag.into())).collect())
            }
            _ => Value::None,
        }
    }

    /// Control neighbours as a list.
    pub(super) fn control_list(&mut self, fact: Fact, node: &Value) -> Value {
        let Value::Node(id) = *node else { return Value::None };
        self.see(id);
        if !self.has_node(id) {
            return Value::None;
        }
        if fact == Fact::NodeControlIn {
            Value::nodes(self.edit.control_in(id).collect::<Vec<_>>())
        } else {
            Value::nodes(self.edit.control_out(id).collect::<Vec<_>>())
        }
    }

    fn anchor_fact(&mut self, code: &Code, fact: Fact, anchor: Anchor, a: ExprId, base: usize) -> Value {
        match (fact, anchor) {
            (Fact::InputNode | Fact::OutputNode | Fact::AnchorNode, _) => {
                return Value::Node(anchor.node());
            }
            (Fact::InputIndex | Fact::OutputIndex | Fact::AnchorIndex, _) => {
                return Value::Int(anchor.index().into());
            }
            (Fact::InputSource, Anchor::In(input)) => {
                self.see(input.node);
                return self.producer(input).into();
            }
            (Fact::OutputReaderCount, Anchor::Out(output)) => {
                self.see(output.node);
                return count(self.reader_count(output));
            }
            (Fact::OutputSoleReader, Anchor::Out(output)) => {
                self.see(output.node);
                return self.sole_reader(output).into();
            }
            (Fact::AnchorIsIn, _) => return Value::Bool(anchor.is_in()),
            (Fact::AnchorIsOut, _) => return Value::Bool(!anchor.is_in()),
            (Fact::AnchorAsInput, Anchor::In(input)) => return Value::Input(input),
            (Fact::AnchorAsOutput, Anchor::Out(output)) => return Value::Output(output),
            (Fact::AnchorTensor, _) => return anchor.into(),
            (Fact::AnchorMarks, _) => {
                self.see_marks(anchor);
                let marks = self.marks.as_ref().map(|marks| marks.list(anchor)).unwrap_or_default();
                return Value::list(marks.into_iter().map(Value::Mark).collect());
            }
            (Fact::AnchorRegistered, _) => {
                let known = match (&self.builder, &self.tracked) {
                    (Some(builder), _) => builder.is_registered(anchor),
                    (None, tracked) => tracked.as_ref().is_some_and(|table| table.contains(anchor)),
                };
                self.see_group(Step::Registered(anchor, known));
                return Value::Bool(known);
            }
            (Fact::AnchorGroupSize, _) => {
                let size = match (&mut self.builder, &mut self.tracked) {
                    (Some(builder), _) => builder.group_size(anchor),
                    (None, tracked) => tracked.as_mut().map_or(0, |table| table.size(anchor)),
                };
                self.see_group(Step::Size(anchor, size));
                return count(size);
            }
            (Fact::AnchorSameGroup, _) => {
                let Some(other) = self.expr(code, a, base).as_anchor() else { return Value::None };
                let same = match (&mut self.builder, &mut self.tracked) {
                    (Some(builder), _) => builder.same_group(anchor, other),
                    (None, tracked) => tracked.as_mut().is_some_and(|table| table.same_group(anchor, other)),
                };
                self.see_group(Step::Same(anchor, other, same));
                return Value::Bool(same);
            }
            _ => {}
        }
        self.see_own(anchor.node());
        if fact == Fact::AnchorLabel {
            return self.label(anchor).map_or(Value::None, |label| Value::text(&label));
        }
        if fact == Fact::AnchorPort {
            let Some(node) = self.node(anchor.node()) else { return Value::None };
            let ports = if anchor.is_in() { &node.inputs } else { &node.outputs };
            return ports.get(anchor.index() as usize).map(|port| port.name).into();
        }
        let Some(desc) = self.desc(anchor) else { return Value::None };
        match fact {
            Fact::OutputReuseInput if desc.reuse_input => Value::Int(desc.reuse_input_index),
            Fact::AnchorDtype => match usize::try_from(desc.dtype).ok().and_then(|i| DTYPES.get(i)) {
                Some(&name) => Value::Str(name),
                None => Value::text(&desc.dtype.to_string()),
            },
            Fact::AnchorFormat => Value::Str(desc.layout),
            Fact::AnchorShape => Value::list(desc.dims().iter().map(|&dim| Value::Int(dim)).collect()),
            Fact::AnchorUnknownShape => Value::Bool(desc.is_unknown_shape()),
            Fact::AnchorBytes => desc.byte_count().and_then(|n| i64::try_from(n).ok()).into(),
            Fact::AnchorSize => Value::Int(desc.size),
            Fact::AnchorDataOffset => Value::Int(desc.data_offset),
            _ => Value::None,
        }
    }

    /// `NODE_in_I` or `NODE_out_I`; `None` when the node is gone.
    pub(super) fn label(&self, anchor: Anchor) -> Option<String> {
        let name = &self.node(anchor.node())?.name;
        let side = if anchor.is_in() { "in" } else { "out" };
        Some(format!("{name}_{side}_{}", anchor.index()))
    }

    fn graph_fact(&mut self, code: &Code, fact: Fact, id: GraphId, a: ExprId, base: usize) -> Value {
        let Some(graph) = self.edit.get_graph(id).cloned() else { return Value::None };
        match fact {
            Fact::GraphName => Value::Text(Arc::new(graph.name.clone())),
            Fact::GraphParent => graph.parent.into(),
            Fact::GraphRoot => Value::Graph(GraphId::ROOT),
            Fact::GraphIsRoot => Value::Bool(graph.parent.is_none()),
            Fact::GraphNodes => self.node_list(id, false).map_or(Value::None, Value::List),
            Fact::GraphAllNodes => self.node_list(id, true).map_or(Value::None, Value::List),
            Fact::GraphSubgraphs => Value::list(self.edit.registry().map(Value::Graph).collect()),
            Fact::GraphNode | Fact::GraphFind => {
                let name = self.expr(code, a, base);
                let Some(name) = name.as_str() else { return Value::None };
                self.see_everything();
                let found = if fact == Fact::GraphNode {
                    self.named_in(id, name)
                } else {
                    self.named_below(id, name)
                };
                found.into()
            }
            _ => Value::None,
        }
    }

    fn symbols_fact(
        &mut self,
        code: &Code,
        fact: Fact,
        table: &Arc<Symbols>,
        [a, b]: [ExprId; 2],
        base: usize,
    ) -> Value {
        match fact {
            Fact::SymbolsGroups => {
                let ids = 0..table.groups().len() as u32;
                Value::list(ids.map(|id| Value::group(table.clone(), GroupId(id))).collect())
            }
            Fact::SymbolsGroupOf => {
                let group = self.expr(code, a, base).as_anchor().and_then(|anchor| table.group_of(anchor));
                group.map_or(Value::None, |id| Value::group(table.clone(), id))
            }
            Fact::SymbolsMerged => {
                let (a, b) = (self.expr(code, a, base).as_anchor(), self.expr(code, b, base).as_anchor());
                match (a, b) {
                    (Some(a), Some(b)) => Value::Symbols(Arc::new(table.merged(a, b))),
                    _ => Value::None,
                }
            }
            _ => Value::None,
        }
    }

    fn group_fact(
        &mut self,
        code: &Code,
        fact: Fact,
        group: &Arc<GroupRef>,
        a: ExprId,
        base: usize,
    ) -> Value {
        match fact {
            Fact::GroupName => {
                let founder = group.group().map(|group| group.founder);
                founder.and_then(|f| self.label(f)).map_or(Value::None, |label| Value::text(&label))
            }
            Fact::GroupNodes => {
                let mut seen = rustc_hash::FxHashSet::default();
                let nodes = group.members().iter().map(|anchor| anchor.node()).filter(|&n| seen.insert(n));
                Value::nodes(nodes.collect::<Vec<_>>())
            }
            Fact::GroupCount => count(group.members().len()),
            Fact::GroupFind => {
                let label = self.expr(code, a, base);
                let Some((name, index)) = label.as_str().and_then(|label| label.rsplit_once("_out_")) else {
                    return Value::None;
                };
                let outputs = group.members().iter().filter_map(|anchor| match anchor {
                    Anchor::Out(output) => Some(*output),
                    Anchor::In(_) => None,
                });
                for output in outputs.filter(|output| output.index.to_string() == index) {
                    if self.node(output.node).is_some_and(|node| *node.name == *name) {
                        return Value::Output(output);
                    }
                }
                Value::None
            }
            _ => Value::None,
        }
    }

    fn str_fact(&mut self, code: &Code, fact: Fact, of: &Value, a: ExprId, base: usize) -> Value {
        let Some(text) = of.as_str() else { return Value::None };
        if !self.spend(text.len() as u64 / 16) {
            return Value::None;
        }
        match fact {
            // A string can also be asked as if it were a list: `count` has one name for both.
            Fact::StrCount | Fact::ListCount => count(text.chars().count()),
            Fact::StrIsEmpty | Fact::ListIsEmpty => Value::Bool(text.is_empty()),
            Fact::StrTrim => Value::text(text.trim()),
            Fact::StrTrimStart => Value::text(text.trim_start_matches(BLANKS)),
            Fact::StrDigits => {
                let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
                Value::text(&text[..end])
            }
            Fact::StrIsUint => {
                let bits = self.expr(code, a, base).as_int().and_then(|bits| u32::try_from(bits).ok());
                Value::Bool(bits.is_some_and(|bits| fits(text, bits)))
            }
            Fact::StrAfter => {
                let other = self.expr(code, a, base);
                let rest = other.as_str().and_then(|other| text.strip_prefix(other));
                rest.map_or(Value::None, Value::text)
            }
            Fact::StrToInt => text.parse::<i64>().ok().into(),
            Fact::StrBefore => {
                let other = self.expr(code, a, base);
                let Some(other) = other.as_str() else { return Value::None };
                match text.find(other) {
                    None => of.clone(),
                    Some(at) => Sym::lookup(&text[..at]).map_or_else(|| Value::text(&text[..at]), Value::Str),
                }
            }
            Fact::StrStartsWith | Fact::StrEndsWith | Fact::StrContains | Fact::StrSplit => {
                let other = self.expr(code, a, base);
                let Some(other) = other.as_str() else { return Value::None };
                match fact {
                    Fact::StrStartsWith => Value::Bool(text.starts_with(other)),
                    Fact::StrEndsWith => Value::Bool(text.ends_with(other)),
                    Fact::StrContains => Value::Bool(text.contains(other)),
                    _ if other.is_empty() => Value::list(vec![Value::text(text)]),
                    _ => Value::list(text.split(other).map(Value::text).collect()),
                }
            }
            _ => Value::None,
        }
    }

    fn list_fact(&mut self, code: &Code, fact: Fact, list: &Value, a: ExprId, base: usize) -> Value {
        let Some(len) = list.len() else { return Value::None };
        match fact {
            Fact::ListCount => count(len),
            Fact::ListIsEmpty => Value::Bool(len == 0),
            Fact::ListFirst => list.at(0).unwrap_or_default(),
            Fact::ListLast => len.checked_sub(1).and_then(|last| list.at(last)).unwrap_or_default(),
            Fact::ListReverse | Fact::ListDistinct if !self.store(len) => Value::None,
            Fact::ListReverse => Value::list((0..len).rev().filter_map(|i| list.at(i)).collect()),
            Fact::ListDistinct => {
                let mut seen = rustc_hash::FxHashSet::default();
                Value::list(list.elements().filter(|value| seen.insert(value.clone())).collect())
            }
            Fact::ListSame => {
                let first = list.at(0).unwrap_or_default();
                Value::Bool(list.elements().all(|value| value == first))
            }
            Fact::ListIndexOf => match self.expr(code, a, base) {
                Value::None => Value::None,
                value => list.position(&value).map_or(Value::None, count),
            },
            _ => Value::None,
        }
    }

    /// Takes the steps of a list of so many elements.
    pub(super) fn store(&mut self, len: usize) -> bool {
        self.spend(STORED.saturating_mul(len as u64))
    }

    /// A fact of a list that is gone through and not built.
    fn fold(&mut self, code: &Code, fact: Fact, list: ExprId, base: usize) -> Value {
        let mut len = 0;
        let mut kept = Value::None;
        let ended = self.each(code, list, base, &mut |_, value| {
            len += 1;
            match fact {
                Fact::ListCount => true,
                Fact::ListLast => {
                    kept = value;
                    true
                }
                Fact::ListSame if len > 1 => kept == value,
                Fact::ListSame => {
                    kept = value;
                    true
                }
                _ => {
                    kept = value;
                    false
                }
            }
        });
        match fact {
            _ if ended == End::Absent => Value::None,
            Fact::ListCount => count(len),
            Fact::ListIsEmpty => Value::Bool(len == 0),
            Fact::ListSame => Value::Bool(ended == End::All),
            _ => kept,
        }
    }
}

/// Facts of lists; a group is a list of anchors too.
pub(super) fn is_list_fact(fact: Fact) -> bool {
    matches!(
        fact,
        Fact::ListCount
            | Fact::ListIsEmpty
            | Fact::ListFirst
            | Fact::ListLast
            | Fact::ListSkip
            | Fact::ListTake
            | Fact::ListReverse
            | Fact::ListDistinct
            | Fact::ListSame
            | Fact::ListIndexOf
    )
}
