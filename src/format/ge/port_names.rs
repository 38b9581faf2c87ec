//! Names of slots, kept by GE in parallel list attributes (`graph_formats.md` 3.6).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::{AttrValue, Attrs, Extra, ListItems, ListValue, Port, Ports, Sym};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    In,
    Out,
}

impl Direction {
    /// Name list and slot list, newer spelling first.
    fn keys(self) -> [(&'static str, &'static str); 2] {
        match self {
            Direction::In => {
                [("_input_name_key", "_input_name_value"), ("_input_name_idx_key", "_input_name_idx_value")]
            }
            Direction::Out => [
                ("_output_name_key", "_output_name_value"),
                ("_output_name_idx_key", "_output_name_idx_value"),
            ],
        }
    }

    /// GE's name of a slot that has none.
    fn default_name(self, slot: usize) -> String {
        match self {
            Direction::In => format!("__input{slot}"),
            Direction::Out => format!("__output{slot}"),
        }
    }

    /// Whether the attributes name the slots of this direction.
    pub fn is_named(self, attrs: &Attrs) -> bool {
        self.keys().iter().any(|(names, _)| attrs.contains(Sym::new(names)))
    }
}

/// Reads names, remembering the lists that many nodes share.
#[derive(Default)]
pub struct PortNames {
    /// By address of both lists.
    known: FxHashMap<(usize, usize), Known>,
}

/// The names that two lists give.
struct Known {
    by_slot: Arc<[Sym]>,
    /// Held so that their addresses stay theirs.
    _lists: (Arc<ListValue>, Arc<ListValue>),
}

impl PortNames {
    /// The names by slot; empty for a slot without name.
    pub fn of(&mut self, attrs: &Attrs, direction: Direction) -> Arc<[Sym]> {
        let lists = direction.keys().into_iter().find_map(|(names, slots)| {
            match (attrs.get(Sym::new(names))?, attrs.get(Sym::new(slots))?) {
                (AttrValue::List(names), AttrValue::List(slots)) => Some((names, slots)),
                _ => None,
            }
        });
        let Some((names, slots)) = lists else { return Arc::from([]) };
        let key = (Arc::as_ptr(names).addr(), Arc::as_ptr(slots).addr());
        let read = || Known { by_slot: names_by_slot(names, slots), _lists: (names.clone(), slots.clone()) };
        self.known.entry(key).or_insert_with(read).by_slot.clone()
    }
}

fn names_by_slot(names: &ListValue, slots: &ListValue) -> Arc<[Sym]> {
    let (ListItems::Str(names), ListItems::Int(slots)) = (&names.items, &slots.items) else {
        return Arc::from([]);
    };
    let mut by_slot = Vec::new();
    for (name, slot) in names.iter().zip(slots) {
        // A slot beyond the list's own length by far is a mistake of the file, not a reason to fill memory.
        let slot = usize::try_from(*slot).ok().filter(|slot| *slot < slots.len() + 4096);
        let (Some(slot), Ok(name)) = (slot, std::str::from_utf8(name)) else { continue };
        if by_slot.len() <= slot {
            by_slot.resize(slot + 1, Sym::default());
        }
        by_slot[slot] = Sym::new(name);
    }
    by_slot.into()
}

/// The attributes with the name lists of `ports` in place of those they had.
pub fn with_names(attrs: &Attrs, direction: Direction, ports: &Ports) -> Attrs {
    let [(names_key, slots_key), (old_names, old_slots)] = direction.keys();
    let attrs = attrs.without(Sym::new(old_names)).without(Sym::new(old_slots));
    if ports.is_empty() {
        return attrs.without(Sym::new(names_key)).without(Sym::new(slots_key));
    }
    let name = |(slot, port): (usize, &Port)| match port.name.is_empty() {
        true => direction.default_name(slot),
        false => port.name.as_str().to_owned(),
    };
    let mut named: Vec<(String, i64)> =
        ports.iter().enumerate().map(|(slot, port)| (name((slot, port)), slot as i64)).collect();
    // GE writes a map, so the lists are sorted by name.
    named.sort();
    let slots = named.iter().map(|(_, slot)| *slot).collect();
    let names = named.iter().map(|(name, _)| name.as_bytes().into()).collect();
    // These lists have no `val_type`.
    let list = |items| AttrValue::List(Arc::new(ListValue { val_type: 0, items, extra: Extra::default() }));
    attrs
        .with(Sym::new(names_key), list(ListItems::Str(names)))
        .with(Sym::new(slots_key), list(ListItems::Int(slots)))
}
