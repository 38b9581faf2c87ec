//! Edits of the state, each written to the log.
//!
//! An edit that changes nothing (an equal value, an edge that is not there) is not logged and starts no new epoch.

use std::sync::Arc;

use super::program::Data;
use super::{EntryId, Failure, Machine, Value};
use crate::graph::{
    Anchor, AttrValue, Attrs, GraphId, Input, ListItems, ListValue, Node, NodeDetail, NodeId, Output, Place,
    Port, Sym, TensorDesc,
};
use crate::lang::hir::Field;
use crate::lang::syntax::ast::{AttrType, Kind};

/// What `set` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    Node(NodeId),
    Graph(GraphId),
    /// The tensor description of an anchor.
    Anchor(Anchor),
}

impl Subject {
    /// The node, graph or anchor that a value is.
    pub fn of(value: &Value) -> Option<Subject> {
        match value {
            Value::Node(node) => Some(Subject::Node(*node)),
            Value::Graph(graph) => Some(Subject::Graph(*graph)),
            other => other.as_anchor().map(Subject::Anchor),
        }
    }
}

impl From<Subject> for Value {
    fn from(subject: Subject) -> Value {
        match subject {
            Subject::Node(node) => Value::Node(node),
            Subject::Graph(graph) => Value::Graph(graph),
            Subject::Anchor(anchor) => anchor.into(),
        }
    }
}

/// One edit, and the item whose statement made it.
#[derive(Clone, Debug, PartialEq)]
pub struct EditRecord {
    pub entry: EntryId,
    pub kind: EditKind,
}

/// The nodes around one that is gone; a node may stand there several times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// Had an edge into it.
    pub before: Vec<NodeId>,
    /// Had an edge from it.
    pub after: Vec<NodeId>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EditKind {
    Insert {
        node: NodeId,
        graph: GraphId,
        op: Sym,
        name: Arc<str>,
        behind: Option<NodeId>,
    },
    /// `name`, `beside`: the node can no longer be asked for them.
    Delete {
        node: NodeId,
        graph: GraphId,
        name: Arc<str>,
        beside: Arc<Beside>,
    },
    /// `before`: the producer that the input had.
    Connect {
        from: Output,
        to: Input,
        before: Option<Output>,
    },
    Cut {
        from: Output,
        to: Input,
    },
    Link {
        from: NodeId,
        to: NodeId,
    },
    Unlink {
        from: NodeId,
        to: NodeId,
    },
    /// No value: removed.
    SetAttr {
        subject: Subject,
        key: Sym,
        value: Option<AttrValue>,
    },
    SetField {
        subject: Subject,
        field: Field,
    },
}

impl Machine<'_> {
    fn record(&mut self, kind: EditKind) {
        // Marks rest on what nodes and tensors say of themselves.
        if let EditKind::SetAttr { .. } | EditKind::SetField { .. } = kind {
            self.facts += 1;
            if let Some(tracked) = &mut self.tracked {
                tracked.forget_counts();
            }
        }
        if let EditKind::Insert { .. } = kind {
            self.facts += 1;
        }
        self.log.push(EditRecord { entry: self.current, kind });
    }

    /// Adds a node without edges, directly `behind` a node or at the end of the list of `graph`.
    pub fn insert(
        &mut self,
        graph: GraphId,
        op: Sym,
        name: &str,
        behind: Option<NodeId>,
        (inputs, outputs): (usize, usize),
    ) -> Result<NodeId, Failure> {
        if self.edit.get_graph(graph).is_none() {
            return Err(Failure::mechanism("gone", "`insert` into a graph that has been deleted"));
        }
        if let Some(behind) = behind
            && self.edit.get_node(behind).is_none_or(|node| node.graph != graph)
        {
            return Err(Failure::mechanism("across-graphs", "`insert` behind a node of another graph"));
        }
        let name = self.free_name(graph, name);
        let desc = Arc::new(TensorDesc::default());
        let ports = |n| std::iter::repeat_n(Port { name: Sym::default(), desc: desc.clone() }, n).collect();
        let node = Node {
            name: name.clone(),
            ty: op,
            graph,
            attrs: Attrs::default(),
            inputs: ports(inputs),
            outputs: ports(outputs),
            subgraphs: Arc::from([]),
            detail: None,
        };
        let place = behind.map_or(Place::End, Place::After);
        let id = self.edit.add_node(node, place);
        self.name_comes(id, &name);
        self.changed(Some(id));
        self.touch_list(graph);
        self.lists_changed();
        self.record(EditKind::Insert { node: id, graph, op, name, behind });
        Ok(id)
    }

    /// Removes a node with its edges and subgraphs.
    pub fn delete(&mut self, id: NodeId) -> Result<(), Failure> {
        let Some(node) = self.edit.get_node(id).cloned() else {
            return Err(Failure::mechanism("gone", "`delete` of a node that has been deleted"));
        };
        let mut beside = Beside::default();
        self.push_predecessors(id, &mut beside.before);
        self.push_successors(id, &mut beside.after);
        let mut removed = vec![id];
        for &graph in node.subgraphs.iter() {
            removed.extend(self.edit.all_nodes(graph));
        }
        let mut touched = Vec::new();
        for &gone in &removed {
            let Some(node) = self.edit.get_node(gone).cloned() else { continue };
            let inputs = (0..node.inputs.len() as u32).filter_map(|i| self.edit.producer(gone.input(i)));
            let sources: Vec<Output> = inputs.collect();
            touched.extend(sources.iter().map(|output| output.node));
            sources.into_iter().for_each(|output| self.recount(output, false));
            self.forget_counts(gone, node.outputs.len() as u32);
            touched.extend(self.edit.control_in(gone).chain(self.edit.control_out(gone)));
            let outputs = (0..node.outputs.len() as u32).flat_map(|i| self.edit.consumers(gone.output(i)));
            touched.extend(outputs.map(|input| input.node));
            self.name_goes(gone, node.graph, &node.name);
        }
        if let Some(tracked) = &mut self.tracked {
            for node in &removed {
                let Some(node) = self.edit.get_node(*node).map(|found| (*node, found)) else { continue };
                (0..node.1.inputs.len() as u32).for_each(|i| tracked.forget(Anchor::In(node.0.input(i))));
                (0..node.1.outputs.len() as u32).for_each(|i| tracked.forget(Anchor::Out(node.0.output(i))));
            }
        }
        if !node.subgraphs.is_empty() {
            self.forget_lasting();
        }
        self.edit.remove_node(id);
        removed.into_iter().for_each(|gone| self.changed(Some(gone)));
        self.rewired(touched);
        self.touch_list(node.graph);
        if !node.subgraphs.is_empty() {
            self.touch_graphs();
        }
        self.lists_changed();
        let (name, beside) = (node.name.clone(), Arc::new(beside));
        self.record(EditKind::Delete { node: id, graph: node.graph, name, beside });
        Ok(())
    }

    /// Makes `from` the producer of `to`, as its last edge.
    pub fn connect(&mut self, from: Output, to: Input) -> Result<(), Failure> {
        let (a, b) = (self.edit.get_node(from.node), self.edit.get_node(to.node));
        let (Some(a), Some(b)) = (a, b) else {
            return Err(Failure::mechanism("gone", "`connect` of a node that has been deleted"));
        };
        if a.graph != b.graph {
            let message = format!("`connect` across graphs: from `{}` to `{}`", a.name, b.name);
            let places = [Anchor::Out(from), Anchor::In(to)];
            return Err(Failure::mechanism("across-graphs", message).at(places));
        }
        if from.index as usize >= a.outputs.len() || to.index as usize >= b.inputs.len() {
            return Err(Failure::mechanism("no-port", "`connect` of a port that the node does not have"));
        }
        let before = self.edit.producer(to);
        self.edit.connect(from, to);
        before.into_iter().for_each(|before| self.recount(before, false));
        self.recount(from, true);
        self.rewired([from.node, to.node].into_iter().chain(before.map(|output| output.node)));
        self.record(EditKind::Connect { from, to, before });
        Ok(())
    }

    /// Cuts the data edge into `to`; nothing if there is none.
    pub fn cut(&mut self, to: Input) -> Result<(), Failure> {
        if self.edit.get_node(to.node).is_none() {
            return Err(Failure::mechanism("gone", "`cut` of a node that has been deleted"));
        }
        if let Some(from) = self.edit.producer(to) {
            self.edit.disconnect(to);
            self.recount(from, false);
            self.rewired([from.node, to.node]);
            self.record(EditKind::Cut { from, to });
        }
        Ok(())
    }

    /// Adds a control edge; nothing if it is there.
    pub fn link(&mut self, from: NodeId, to: NodeId) -> Result<(), Failure> {
        let (Some(a), Some(b)) = (self.edit.get_node(from), self.edit.get_node(to)) else {
            return Err(Failure::mechanism("gone", "`link` of a node that has been deleted"));
        };
        if a.graph != b.graph {
            let message = format!("`link` across graphs: from `{}` to `{}`", a.name, b.name);
            return Err(Failure::mechanism("across-graphs", message));
        }
        if from == to {
            return Err(Failure::mechanism("self-link", format!("`link` of `{}` to itself", a.name)));
        }
        if self.edit.add_control(from, to) {
            self.rewired([from, to]);
            self.record(EditKind::Link { from, to });
        }
        Ok(())
    }

    /// Removes a control edge; nothing if there is none.
    pub fn unlink(&mut self, from: NodeId, to: NodeId) {
        if self.edit.remove_control(from, to) {
            self.rewired([from, to]);
            self.record(EditKind::Unlink { from, to });
        }
    }

    /// Sets or removes an attribute. Removing takes every spelling with it.
    pub fn set_attr(&mut self, subject: Subject, key: Sym, value: Option<AttrValue>) -> Result<(), Failure> {
        let Some(attrs) = self.attrs(&subject.into()) else {
            return Err(Failure::mechanism("gone", "`set` on something that has been deleted"));
        };
        let changed = match &value {
            Some(value) => (attrs.get(key) != Some(value)).then(|| attrs.with(key, value.clone())),
            None => {
                let program = self.program;
                let gone = program.spellings(key).fold(attrs.clone(), |attrs, key| attrs.without(key));
                (gone.entries().len() != attrs.entries().len()).then_some(gone)
            }
        };
        let Some(attrs) = changed else { return Ok(()) };
        match subject {
            Subject::Node(node) => self.change_node(node, |node| node.attrs = attrs),
            Subject::Graph(graph) => {
                self.edit.update_graph(graph, |graph| graph.attrs = attrs);
                self.changed(None);
                self.touch_graphs();
                self.forget_kinds();
                self.forget_lasting();
            }
            Subject::Anchor(anchor) => self.change_desc(anchor, |desc| desc.attrs = attrs),
        }
        self.record(EditKind::SetAttr { subject, key, value });
        Ok(())
    }

    /// Removes the attributes whose names are not in a set.
    pub(super) fn clear(&mut self, subject: Subject, except: Sym) -> Result<(), Failure> {
        let program = self.program;
        let kept = program.entry(Kind::Set, except).and_then(|set| program.linked(set));
        let Some(Data::Set(kept)) = kept.map(|linked| &linked.data) else { return Ok(()) };
        let Some(attrs) = self.attrs(&subject.into()) else {
            return Err(Failure::mechanism("gone", "`clear` of something that has been deleted"));
        };
        let keys = attrs.entries().iter().map(|(key, _)| *key);
        let gone: Vec<Sym> = keys.filter(|key| !kept.contains(&Value::Str(*key))).collect();
        gone.into_iter().try_for_each(|key| self.set_attr(subject, key, None))
    }

    /// Sets a field; a value of the wrong kind or an equal one changes nothing.
    pub fn set_field(&mut self, subject: Subject, field: Field, value: &Value) -> Result<(), Failure> {
        let gone = || Failure::mechanism("gone", "`set` on something that has been deleted");
        match (subject, field) {
            (Subject::Node(id), Field::Id) => {
                if !self.has_node(id) {
                    return Err(gone());
                }
                let Some(topo) = value.as_int() else { return Ok(()) };
                if self.edit.topo_id(id) == topo {
                    return Ok(());
                }
                self.edit.set_topo_id(id, topo);
                self.rewritten(id);
                self.touch_ids();
            }
            (Subject::Node(id), Field::InputIsConst) => {
                let node = self.node(id).ok_or_else(gone)?;
                let flags: Box<[bool]> =
                    value.elements().map(|v| matches!(v, Value::Bool(true) | Value::Int(1))).collect();
                let mut detail = node.detail.as_ref().map_or_else(NodeDetail::default, |d| (**d).clone());
                if detail.const_inputs == flags {
                    return Ok(());
                }
                detail.const_inputs = flags;
                self.change_node(id, |node| node.detail = Some(Arc::new(detail)));
            }
            (Subject::Anchor(anchor), Field::Tensor) => {
                let Some(source) = value.as_anchor() else { return Ok(()) };
                let desc = self.desc(source).cloned().ok_or_else(gone)?;
                let own = self.desc(anchor).ok_or_else(gone)?;
                if Arc::ptr_eq(own, &desc) || *own == desc {
                    return Ok(());
                }
                self.change_port(anchor, |port| port.desc = desc);
            }
            (Subject::Anchor(anchor), Field::ReuseInput) => {
                let own = self.desc(anchor).ok_or_else(gone)?;
                let (reuse, index) = value.as_int().map_or((false, 0), |index| (true, index));
                if (own.reuse_input, own.reuse_input_index) == (reuse, index) {
                    return Ok(());
                }
                self.change_desc(anchor, |desc| {
                    (desc.reuse_input, desc.reuse_input_index) = (reuse, index);
                });
            }
            (Subject::Anchor(anchor), Field::DataOffset) => {
                let own = self.desc(anchor).ok_or_else(gone)?;
                let Some(offset) = value.as_int() else { return Ok(()) };
                if own.data_offset == offset {
                    return Ok(());
                }
                self.change_desc(anchor, |desc| desc.data_offset = offset);
            }
            (Subject::Anchor(anchor), Field::Name) => {
                let node = self.node(anchor.node()).ok_or_else(gone)?;
                let ports = if anchor.is_in() { &node.inputs } else { &node.outputs };
                let (Some(port), Some(text)) = (ports.get(anchor.index() as usize), value.as_str()) else {
                    return Ok(());
                };
                if port.name == text {
                    return Ok(());
                }
                let name = Sym::new(text);
                self.change_port(anchor, |port| port.name = name);
            }
            _ => return Ok(()),
        }
        self.record(EditKind::SetField { subject, field });
        Ok(())
    }

    fn change_node(&mut self, id: NodeId, change: impl FnOnce(&mut Node)) {
        self.edit.update_node(id, change);
        self.rewritten(id);
    }

    fn change_port(&mut self, anchor: Anchor, change: impl FnOnce(&mut Port)) {
        self.change_node(anchor.node(), |node| {
            let ports = if anchor.is_in() { &mut node.inputs } else { &mut node.outputs };
            let index = anchor.index() as usize;
            if let Some(mut port) = ports.get(index).cloned() {
                change(&mut port);
                ports.set(index, port);
            }
        });
    }

    fn change_desc(&mut self, anchor: Anchor, change: impl FnOnce(&mut TensorDesc)) {
        self.change_port(anchor, |port| change(Arc::make_mut(&mut port.desc)));
    }
}

/// A value as an attribute of the declared type; `None` for none and for a value of another kind.
pub(super) fn attr_value(value: &Value, ty: AttrType) -> Option<AttrValue> {
    let text = |value: &Value| value.as_str().map(|text| Arc::<[u8]>::from(text.as_bytes()));
    let float = |value: &Value| match value {
        Value::Float(f) => Some(*f as f32),
        Value::Int(i) => Some(*i as f32),
        _ => None,
    };
    let list =
        |val_type, items| AttrValue::List(Arc::new(ListValue { val_type, items, extra: Default::default() }));
    value.len().map_or(!value.is_none(), |_| true).then_some(())?;
    // `val_type` numbers are those of the file format (`graph_formats.md` 2, ListValue).
    Some(match ty {
        AttrType::Bool | AttrType::OptBool | AttrType::Any if matches!(value, Value::Bool(_)) => {
            AttrValue::Bool(value.is_true())
        }
        AttrType::Int | AttrType::Any if value.as_int().is_some() => AttrValue::Int(value.as_int()?),
        AttrType::Float => AttrValue::Float(float(value)?),
        AttrType::Any if matches!(value, Value::Float(_)) => AttrValue::Float(float(value)?),
        AttrType::Str | AttrType::Any => AttrValue::Str(text(value)?),
        AttrType::Bool | AttrType::OptBool | AttrType::Int => return None,
        _ if value.len().is_none() => return None,
        AttrType::ListStr => list(1, ListItems::Str(value.elements().filter_map(|v| text(&v)).collect())),
        AttrType::ListInt => list(2, ListItems::Int(value.elements().filter_map(|v| v.as_int()).collect())),
        AttrType::ListFloat => {
            list(3, ListItems::Float(value.elements().filter_map(|v| float(&v)).collect()))
        }
        AttrType::ListListInt => {
            let ints = |row: Value| row.elements().filter_map(|v| v.as_int()).collect::<Box<[i64]>>();
            AttrValue::ListListInt(value.elements().map(ints).collect())
        }
        AttrType::ListBool => list(4, ListItems::Bool(value.elements().map(|v| v.is_true()).collect())),
    })
}
