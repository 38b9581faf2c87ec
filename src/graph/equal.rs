//! Equality of two results of one pass, up to what inserted nodes are called.
//!
//! Promise: `Ok` exactly when there is a one-to-one map of nodes that is the identity (graph and name) on nodes that exist
//! before the pass, maps every other node to one of its own type, and keeps data edges with indexes, control edges,
//! subgraph links and attributes. Names and places of inserted nodes, ids and consumer order count for nothing. Which
//! attribute keys count is the caller's to say: this room knows none.
//!
//! Nodes that were there before are told by name. Inserted nodes get *colours*: what a node says of itself, refined by the
//! colours of its neighbours until nothing changes. Only among equal colours a choice is left, and there `Sides::search` tries them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{AttrValue, Attrs, GraphId, Input, Node, NodeId, Output, State, Sym, TensorDesc};

/// What counts when two results are compared.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Attribute keys of graphs, nodes and tensors that count for nothing.
    pub ignored: Vec<Sym>,
    /// Whether the fixed fields of tensor descriptions count as well: type, shape, format, reuse flag, offset.
    pub descriptions: bool,
}

impl Compared {
    /// Everything but the attribute keys named.
    pub fn all_but<'a>(ignored: impl IntoIterator<Item = &'a str>) -> Compared {
        Compared { ignored: ignored.into_iter().map(Sym::new).collect(), descriptions: true }
    }

    fn attrs<'a>(&self, attrs: &'a Attrs) -> impl Iterator<Item = (Sym, &'a AttrValue)> {
        attrs
            .entries()
            .iter()
            .filter(|(key, _)| !self.ignored.contains(key))
            .map(|(key, value)| (*key, value))
    }
}

/// Choices tried among nodes that look alike before the search gives up.
const MOST_CHOICES: usize = 10_000;

/// Compares two states that a pass made of `before`. Differences are sentences, in list order of the expected state.
pub fn equal_up_to_inserted(
    before: &State,
    expected: &State,
    actual: &State,
    compared: &Compared,
) -> Result<(), Vec<String>> {
    let known: FxHashMap<Key, usize> =
        Side::walk(before).into_iter().zip(0..).map(|((key, _), number)| (key, number)).collect();
    let expected = Side::new(expected, &known);
    let actual = Side::new(actual, &known);
    let sides = Sides { expected: &expected, actual: &actual, compared };
    let differences = sides.search();
    if differences.is_empty() { Ok(()) } else { Err(differences) }
}

/// A node by graph (`None` is the root), name and how many of that name stand before it.
type Key = (Option<Arc<str>>, Arc<str>, u32);
/// A colour for each node of a side.
type Colours = Vec<usize>;

/// One of the two states, its nodes numbered in list order.
struct Side<'s> {
    state: &'s State,
    nodes: Vec<NodeId>,
    position: FxHashMap<NodeId, usize>,
    /// The number of a node that exists before the pass; `None` for inserted ones.
    kept: Vec<Option<usize>>,
}

impl<'s> Side<'s> {
    /// All nodes with their keys, the root's first, then those of graphs that nobody owns.
    fn walk(state: &State) -> Vec<(Key, NodeId)> {
        let ownerless = state.registry().filter(|g| state.graph(*g).parent.is_none());
        let mut seen: FxHashMap<(GraphId, Arc<str>), u32> = FxHashMap::default();
        let mut nodes = Vec::with_capacity(state.node_count());
        for graph in [GraphId::ROOT].into_iter().chain(ownerless) {
            for id in state.all_nodes(graph) {
                let node = state.node(id);
                let count = seen.entry((node.graph, node.name.clone())).or_default();
                nodes.push(((graph_key(state, node.graph), node.name.clone(), *count), id));
                *count += 1;
            }
        }
        nodes
    }

    fn new(state: &'s State, known: &FxHashMap<Key, usize>) -> Side<'s> {
        let walked = Side::walk(state);
        let kept = walked.iter().map(|(key, _)| known.get(key).copied()).collect();
        let nodes: Vec<NodeId> = walked.into_iter().map(|(_, id)| id).collect();
        let position = nodes.iter().zip(0..).map(|(id, at)| (*id, at)).collect();
        Side { state, nodes, position, kept }
    }

    fn node(&self, at: usize) -> &Node {
        self.state.node(self.nodes[at])
    }

    fn inserted(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|at| self.kept[*at].is_none())
    }

    fn producer(&self, at: usize, index: u32) -> Option<(usize, u32)> {
        let from = self.state.producer(self.nodes[at].input(index))?;
        Some((*self.position.get(&from.node)?, from.index))
    }

    fn controls(&self, at: usize, incoming: bool) -> Vec<usize> {
        let id = self.nodes[at];
        let place = |n: NodeId| self.position.get(&n).copied();
        if incoming {
            self.state.control_in(id).filter_map(place).collect()
        } else {
            self.state.control_out(id).filter_map(place).collect()
        }
    }

    /// How a message names the node.
    fn label(&self, at: usize) -> String {
        let node = self.node(at);
        let place = graph_key(self.state, node.graph).map_or(String::new(), |g| format!("{g}/"));
        match self.kept[at] {
            Some(_) => format!("`{place}{}`", node.name),
            None => format!("inserted {} `{place}{}`", node.ty, node.name),
        }
    }

    /// Where an inserted node stands.
    fn surroundings(&self, at: usize) -> String {
        let name = |at: usize| &self.node(at).name;
        let ports = self.node(at);
        let from = (0..ports.inputs.len() as u32).filter_map(|i| self.producer(at, i));
        let from: Vec<String> = from.map(|(n, i)| format!("`{}:{i}`", name(n))).collect();
        let to = (0..ports.outputs.len() as u32).flat_map(|o| self.state.consumers(self.nodes[at].output(o)));
        let to: Vec<String> = to.map(|i| format!("`{}:{}`", self.state.node(i.node).name, i.index)).collect();
        format!("between {} and {}", list_or_nothing(&from), list_or_nothing(&to))
    }
}

fn list_or_nothing(items: &[String]) -> String {
    if items.is_empty() { "nothing".to_owned() } else { items.join(", ") }
}

fn graph_key(state: &State, graph: GraphId) -> Option<Arc<str>> {
    (graph != GraphId::ROOT).then(|| state.graph(graph).name.clone())
}

fn subgraph_names(state: &State, node: &Node) -> Vec<Arc<str>> {
    node.subgraphs.iter().map(|g| state.graph(*g).name.clone()).collect()
}

struct Sides<'a, 's> {
    expected: &'a Side<'s>,
    actual: &'a Side<'s>,
    compared: &'a Compared,
}

impl Sides<'_, '_> {
    fn both(&self) -> [&Side<'_>; 2] {
        [self.expected, self.actual]
    }

    /// The differences under the best map that can be found; none if a map without differences exists.
    fn search(&self) -> Vec<String> {
        let history = self.refine(self.first_colours());
        let Some(finest) = history.last().filter(|colours| self.balanced(colours)).cloned() else {
            return self.differences(&self.nearest_partners(&history));
        };
        let mut best: Option<Vec<String>> = None;
        let mut open = vec![finest];
        let mut choices = 0;
        while let Some(colours) = open.pop() {
            let differences = self.differences(&self.partners(&colours));
            if differences.is_empty() {
                return differences;
            }
            if best.as_ref().is_none_or(|b| differences.len() < b.len()) {
                best = Some(differences);
            }
            choices += 1;
            if choices > MOST_CHOICES {
                break;
            }
            open.extend(self.choices(&colours).into_iter().rev());
        }
        best.unwrap_or_default()
    }

    /// For the first colour that several nodes share: each way to give one expected node its partner.
    fn choices(&self, colours: &[Colours; 2]) -> Vec<[Colours; 2]> {
        let [expected, actual] = self.classes(colours);
        let Some((colour, members)) = expected.iter().find(|(_, members)| members.len() > 1) else {
            return Vec::new();
        };
        let fresh = colours.iter().flatten().max().map_or(0, |max| max + 1);
        let candidates = actual.get(colour).into_iter().flatten();
        let chosen = candidates.filter_map(|candidate| {
            let mut next = colours.clone();
            next[0][members[0]] = fresh;
            next[1][*candidate] = fresh;
            self.refine(next).pop().filter(|colours| self.balanced(colours))
        });
        chosen.collect()
    }

    /// Inserted nodes by colour.
    fn classes(&self, colours: &[Colours; 2]) -> [BTreeMap<usize, Vec<usize>>; 2] {
        let class = |side: &Side<'_>, colours: &Colours| {
            let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for at in side.inserted() {
                classes.entry(colours[at]).or_default().push(at);
            }
            classes
        };
        [class(self.expected, &colours[0]), class(self.actual, &colours[1])]
    }

    fn balanced(&self, colours: &[Colours; 2]) -> bool {
        let [expected, actual] = self.classes(colours);
        expected.len() == actual.len()
            && expected.iter().zip(&actual).all(|((a, x), (b, y))| a == b && x.len() == y.len())
    }

    /// Kept nodes have a colour of their own, inserted ones that of what they say of themselves.
    fn first_colours(&self) -> [Colours; 2] {
        let named = self
            .both()
            .into_iter()
            .flat_map(|side| side.kept.iter().flatten())
            .max()
            .map_or(0, |max| max + 1);
        let mut palette: FxHashMap<String, usize> = FxHashMap::default();
        self.both().map(|side| {
            let colour = |at: usize| match side.kept[at] {
                Some(number) => number,
                None => {
                    let next = named + palette.len();
                    *palette.entry(self.portrait(side, at)).or_insert(next)
                }
            };
            (0..side.nodes.len()).map(colour).collect()
        })
    }

    /// Everything about an inserted node but its name, its place and its edges.
    fn portrait(&self, side: &Side<'_>, at: usize) -> String {
        let node = side.node(at);
        let mut text = format!("{:?} {} ", graph_key(side.state, node.graph), node.ty);
        text += &format!("{:?} ", self.compared.attrs(&node.attrs).collect::<Vec<_>>());
        for ports in [&node.inputs, &node.outputs] {
            for port in ports.iter() {
                text += &format!("{:?} ", self.compared.attrs(&port.desc.attrs).collect::<Vec<_>>());
                if self.compared.descriptions {
                    text += &format!("{:?} ", fixed_fields(&port.desc));
                }
            }
            text += "; ";
        }
        text + &format!("{:?}", subgraph_names(side.state, node))
    }

    /// Splits colours by the colours of neighbours, one round after the other, until no round splits any.
    fn refine(&self, start: [Colours; 2]) -> Vec<[Colours; 2]> {
        let count = |colours: &[Colours; 2]| colours.iter().flatten().collect::<FxHashSet<_>>().len();
        let mut history = vec![start];
        while let Some(last) = history.last() {
            let next = self.refine_once(last);
            if count(&next) == count(last) {
                break;
            }
            history.push(next);
        }
        history
    }

    fn refine_once(&self, last: &[Colours; 2]) -> [Colours; 2] {
        let mut palette: FxHashMap<Vec<(usize, u32, u32, usize)>, usize> = FxHashMap::default();
        let fresh = last.iter().flatten().max().map_or(0, |max| max + 1);
        let mut next = last.clone();
        for (side, (old, new)) in self.both().into_iter().zip(last.iter().zip(&mut next)) {
            for at in side.inserted() {
                let node = side.node(at);
                let mut edges = vec![(0, 0, 0, old[at])];
                for i in 0..node.inputs.len() as u32 {
                    edges.extend(side.producer(at, i).map(|(from, o)| (1, i, o, old[from])));
                }
                for o in 0..node.outputs.len() as u32 {
                    let readers = side.state.consumers(side.nodes[at].output(o));
                    edges.extend(
                        readers.filter_map(|to| Some((2, o, to.index, old[*side.position.get(&to.node)?]))),
                    );
                }
                edges.extend(side.controls(at, true).into_iter().map(|n| (3, 0, 0, old[n])));
                edges.extend(side.controls(at, false).into_iter().map(|n| (4, 0, 0, old[n])));
                edges[1..].sort_unstable();
                let colour = fresh + palette.len();
                new[at] = *palette.entry(edges).or_insert(colour);
            }
        }
        next
    }

    /// The partner of each expected node: kept nodes by name, inserted ones by colour, equal colours in list order.
    fn partners(&self, colours: &[Colours; 2]) -> Vec<Option<usize>> {
        let mut partners = self.kept_partners();
        let [expected, actual] = self.classes(colours);
        for (colour, members) in expected {
            let others = actual.get(&colour).into_iter().flatten();
            for (at, other) in members.into_iter().zip(others) {
                partners[at] = Some(*other);
            }
        }
        partners
    }

    fn kept_partners(&self) -> Vec<Option<usize>> {
        let named = self.actual.kept.iter().zip(0..).filter_map(|(number, at)| Some((((*number)?), at)));
        let by_number: FxHashMap<usize, usize> = named.collect();
        self.expected.kept.iter().map(|number| by_number.get(number.as_ref()?).copied()).collect()
    }

    /// A map for messages when no exact one exists: inserted nodes that agreed for as many rounds as possible,
    /// then those of one type in one graph.
    fn nearest_partners(&self, history: &[[Colours; 2]]) -> Vec<Option<usize>> {
        let mut partners = self.kept_partners();
        let mut taken: FxHashSet<usize> = partners.iter().flatten().copied().collect();
        let kind =
            |side: &Side<'_>, at: usize| (graph_key(side.state, side.node(at).graph), side.node(at).ty);
        for round in (0..=history.len()).rev() {
            for at in self.expected.inserted() {
                if partners[at].is_some() {
                    continue;
                }
                let mut free = self.actual.inserted().filter(|other| !taken.contains(other));
                partners[at] = free.find(|other| match round.checked_sub(1) {
                    Some(round) => history[round][0][at] == history[round][1][*other],
                    None => kind(self.expected, at) == kind(self.actual, *other),
                });
                taken.extend(partners[at]);
            }
        }
        partners
    }

    /// What differs under a map.
    fn differences(&self, partners: &[Option<usize>]) -> Vec<String> {
        let mut out = Vec::new();
        let (expected, actual) = (self.expected, self.actual);
        for (at, partner) in partners.iter().enumerate() {
            if partner.is_none() {
                let place =
                    if expected.kept[at].is_none() { expected.surroundings(at) } else { String::new() };
                out.push(format!("missing: {} {place}", expected.label(at)).trim_end().to_owned());
            }
        }
        let paired: FxHashSet<usize> = partners.iter().flatten().copied().collect();
        for at in (0..actual.nodes.len()).filter(|at| !paired.contains(at)) {
            let place = if actual.kept[at].is_none() { actual.surroundings(at) } else { String::new() };
            out.push(format!("not expected: {} {place}", actual.label(at)).trim_end().to_owned());
        }
        for (at, partner) in partners.iter().enumerate() {
            if let Some(other) = *partner {
                self.node_differences(at, other, partners, &mut out);
            }
        }
        self.graph_differences(&mut out);
        out
    }

    fn node_differences(&self, at: usize, other: usize, partners: &[Option<usize>], out: &mut Vec<String>) {
        let (expected, actual) = (self.expected, self.actual);
        let (want, got, label) = (expected.node(at), actual.node(other), expected.label(at));
        if want.ty != got.ty {
            out.push(format!("{label} is a {}, expected a {}", got.ty, want.ty));
        }
        for (what, want, got) in
            [("inputs", &want.inputs, &got.inputs), ("outputs", &want.outputs, &got.outputs)]
        {
            if want.len() != got.len() {
                out.push(format!("{label} has {} {what}, expected {}", got.len(), want.len()));
            }
        }
        for index in 0..want.inputs.len().max(got.inputs.len()) as u32 {
            let (want, got) = (expected.producer(at, index), actual.producer(other, index));
            if want.map(|(n, o)| (partners[n], o)) != got.map(|(n, o)| (Some(n), o)) {
                let text = |side: &Side<'_>, from: Option<(usize, u32)>| match from {
                    Some((n, o)) => format!("output {o} of {}", side.label(n)),
                    None => "nothing".to_owned(),
                };
                let (want, got) = (text(expected, want), text(actual, got));
                out.push(format!("input {index} of {label} is fed by {got}, expected {want}"));
            }
        }
        let want_from = expected.controls(at, true);
        let got_from = actual.controls(other, true);
        for from in &want_from {
            if !partners[*from].is_some_and(|n| got_from.contains(&n)) {
                out.push(format!("missing: control edge from {} to {label}", expected.label(*from)));
            }
        }
        for from in &got_from {
            if !want_from.iter().any(|n| partners[*n] == Some(*from)) {
                out.push(format!("not expected: control edge from {} to {label}", actual.label(*from)));
            }
        }
        let (want_names, got_names) =
            (subgraph_names(expected.state, want), subgraph_names(actual.state, got));
        if want_names != got_names {
            out.push(format!("{label} has the subgraphs {got_names:?}, expected {want_names:?}"));
        }
        self.attr_differences(&label, &want.attrs, &got.attrs, out);
        for (what, want, got) in
            [("input", &want.inputs, &got.inputs), ("output", &want.outputs, &got.outputs)]
        {
            for (index, (want, got)) in want.iter().zip(got.iter()).enumerate() {
                if Arc::ptr_eq(&want.desc, &got.desc) {
                    continue;
                }
                let label = format!("{what} {index} of {label}");
                self.attr_differences(&label, &want.desc.attrs, &got.desc.attrs, out);
                if !self.compared.descriptions {
                    continue;
                }
                for ((field, want), (_, got)) in
                    fixed_fields(&want.desc).into_iter().zip(fixed_fields(&got.desc))
                {
                    if want != got {
                        out.push(format!("{field} of {label} is {got}, expected {want}"));
                    }
                }
            }
        }
    }

    fn attr_differences(&self, label: &str, want: &Attrs, got: &Attrs, out: &mut Vec<String>) {
        if want == got {
            return;
        }
        for (key, value) in self.compared.attrs(want) {
            match got.get(key) {
                Some(found) if same_value(value, found) => {}
                Some(found) => {
                    out.push(format!("`{key}` of {label} is {}, expected {}", show(found), show(value)));
                }
                None => out.push(format!("{label} lacks `{key}`, expected {}", show(value))),
            }
        }
        for (key, value) in self.compared.attrs(got).filter(|(key, _)| !want.contains(*key)) {
            out.push(format!("{label} has `{key}` = {}, expected none", show(value)));
        }
    }

    fn graph_differences(&self, out: &mut Vec<String>) {
        let by_name = |side: &Side<'_>| {
            let graphs = [GraphId::ROOT].into_iter().chain(side.state.registry());
            graphs
                .map(|g| (graph_key(side.state, g), side.state.graph(g).clone()))
                .collect::<BTreeMap<_, _>>()
        };
        let (expected, actual) = (by_name(self.expected), by_name(self.actual));
        for (key, want) in &expected {
            let label = key.as_ref().map_or("the root graph".to_owned(), |name| format!("graph `{name}`"));
            match actual.get(key) {
                Some(got) => self.attr_differences(&label, &want.attrs, &got.attrs, out),
                None => out.push(format!("missing: {label}")),
            }
        }
        for name in actual.keys().filter(|key| !expected.contains_key(*key)).flatten() {
            out.push(format!("not expected: graph `{name}`"));
        }
    }
}

/// The fields of a description that count beside its attributes.
fn fixed_fields(desc: &TensorDesc) -> [(&'static str, String); 7] {
    let reuse =
        if desc.reuse_input { format!("input {}", desc.reuse_input_index) } else { "nothing".to_owned() };
    [
        ("the data type", desc.dtype.to_string()),
        ("the shape", format!("{:?}", desc.dims())),
        ("the format", desc.layout.to_string()),
        ("the reused memory", reuse),
        ("the data offset", desc.data_offset.to_string()),
        ("the size", desc.size.to_string()),
        ("the weight size", desc.weight_size.to_string()),
    ]
}

/// Equal, or not a number on both sides.
fn same_value(a: &AttrValue, b: &AttrValue) -> bool {
    a == b || format!("{a:?}") == format!("{b:?}")
}

fn show(value: &AttrValue) -> String {
    match value {
        AttrValue::Str(bytes) => format!("\"{}\"", String::from_utf8_lossy(bytes).escape_debug()),
        AttrValue::Int(i) => i.to_string(),
        AttrValue::Bool(b) => b.to_string(),
        AttrValue::Float(f) => f.to_string(),
        other => match other.as_ints() {
            Some(items) => format!("{items:?}"),
            None => format!("{other:?}"),
        },
    }
}

/// What an edit changed, told by the ids that a lineage of snapshots shares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub inserted: Vec<NodeId>,
    pub deleted: Vec<NodeId>,
    /// Nodes that exist on both sides and say something else of themselves.
    pub changed: Vec<NodeId>,
    /// Data edges that are new, by consumer; an edge that only moved in its producer's order is none.
    pub connected: Vec<(Output, Input)>,
    pub cut: Vec<(Output, Input)>,
    pub linked: Vec<(NodeId, NodeId)>,
    pub unlinked: Vec<(NodeId, NodeId)>,
    pub changed_graphs: Vec<GraphId>,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        *self == Difference::default()
    }
}

/// The difference of two states of one lineage, each list by ascending id. What they share is not walked.
pub fn difference(before: &State, after: &State) -> Difference {
    use im::ordmap::DiffItem::{Add, Remove, Update};
    let mut out = Difference::default();
    for (id, nodes) in before.nodes.diff(&after.nodes) {
        match nodes {
            [None, _] => out.inserted.push(NodeId(id)),
            [_, None] => out.deleted.push(NodeId(id)),
            [old, new] => out.changed.extend((old != new).then_some(NodeId(id))),
        }
    }
    for item in before.in_edges.diff(&after.in_edges) {
        match item {
            Add(to, (from, _)) => out.connected.push((*from, *to)),
            Remove(to, (from, _)) => out.cut.push((*from, *to)),
            Update { old: (to, (old, _)), new: (_, (new, _)) } if old != new => {
                out.cut.push((*old, *to));
                out.connected.push((*new, *to));
            }
            Update { .. } => {}
        }
    }
    for item in before.ctrl.diff(&after.ctrl) {
        match item {
            Add(edge, _) => out.linked.push(*edge),
            Remove(edge, _) => out.unlinked.push(*edge),
            Update { .. } => {}
        }
    }
    let graphs = before.graphs.diff(&after.graphs).filter(|(_, [old, new])| old != new);
    out.changed_graphs.extend(graphs.map(|(id, _)| GraphId(id)));
    out
}

#[cfg(test)]
mod tests;
