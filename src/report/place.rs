//! Names of nodes and anchors as a person reads them.
//!
//! Promise: an anchor is written as `explain` takes it (`NODE:in0`, `NODE:out1`); no name is longer than a few
//! lines (`layout.md` 12).

use std::borrow::Cow;

use super::plain::plain;
use crate::engine::outcome::{AnchorRef, PlaceRef};
use crate::graph::{Anchor, NodeId, State};

/// Names of at least this many characters are cut to it.
const NAME_LIMIT: usize = 200;

/// Names of nodes in the states that a step had.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// Asked in this order: a step renumbers nodes before it looks, and removes some afterwards.
    states: [&'a State; 2],
}

impl<'a> Names<'a> {
    pub fn new(after: &'a State, before: &'a State) -> Names<'a> {
        Names { states: [after, before] }
    }

    fn topo_id(&self, node: NodeId) -> i64 {
        self.states.iter().find(|state| state.contains(node)).map_or(-1, |state| state.topo_id(node))
    }

    /// The name, cut if it is long: then the topological id tells nodes with one beginning apart.
    pub fn node(&self, place: &'a PlaceRef) -> Cow<'a, str> {
        match place.name.char_indices().nth(NAME_LIMIT - 1) {
            None => plain(&place.name),
            Some((last, c)) => {
                let id = self.topo_id(place.node);
                Cow::Owned(format!("{}...TopoId_{id}", plain(&place.name[..last + c.len_utf8()])))
            }
        }
    }

    /// `NODE:in0`, or `NODE` for the node itself.
    pub fn anchor(&self, place: &'a PlaceRef) -> String {
        let name = self.node(place);
        match place.anchor {
            None => name.into_owned(),
            Some(anchor) => format!("{name}:{}", side_index(anchor)),
        }
    }

    /// With operator type and graph.
    pub fn describe(&self, place: &'a PlaceRef) -> String {
        format!("`{}`, {}{}", self.anchor(place), plain(place.op.as_str()), in_graph(&place.graph))
    }
}

/// ` in graph NAME`; nothing for a graph that the file gave no name.
pub fn in_graph(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" in graph `{}`", plain(name)) }
}

/// `in0` or `out1`.
pub fn side_index(anchor: Anchor) -> String {
    format!("{}{}", if anchor.is_in() { "in" } else { "out" }, anchor.index())
}

/// An edit's anchor, as [`Names::anchor`] writes one. Whether it is an input is known from where it stands.
pub fn edit_anchor(anchor: &AnchorRef, is_in: bool) -> String {
    format!("{}:{}{}", plain(&anchor.node), if is_in { "in" } else { "out" }, anchor.index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::testing;

    #[test]
    fn long_names_are_cut_and_numbered() {
        let (graph, _) = testing::graph("a: Feed\n");
        let names = Names::new(&graph, &graph);
        let mut place = testing::place(&graph, "a", Some("out0"), "");
        assert_eq!(names.anchor(&place), "a:out0");
        place.name = "é".repeat(199).into();
        assert_eq!(names.node(&place).chars().count(), 199);
        place.name = "é".repeat(201).into();
        assert_eq!(names.anchor(&place), format!("{}...TopoId_0:out0", "é".repeat(200)));
    }
}
