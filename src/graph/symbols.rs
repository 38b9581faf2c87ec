//! Symbol tables: anchors grouped by the symbol they share (`layout.md` 3.3, the part that is no policy).

use std::sync::OnceLock;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::anchors::{AnchorTable, key};
use super::{Anchor, Near, State};

/// Most groups have no more members than this, and more than one.
const FEW_MEMBERS: usize = 4;

/// The number of a group in its table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GroupId(pub u32);

/// Groups under construction: union by size with kept order.
#[derive(Clone, Debug, Default)]
pub struct SymbolsBuilder {
    /// Group number per anchor; merged groups are forwarded.
    of: AnchorTable,
    forward: Vec<u32>,
    /// Members in order; empty for a group that was merged away. The founder names the group.
    members: Vec<Vec<Anchor>>,
    founders: Vec<Anchor>,
}

/// Why a step could not be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolError {
    /// The anchor is in no group yet.
    Unregistered(Anchor),
    /// The anchor is in another group already.
    TwoSymbols(Anchor),
}

impl SymbolsBuilder {
    /// For a table of nearly all anchors of the nodes with numbers below `nodes`; 0 for one of few anchors.
    pub fn with_nodes(nodes: usize) -> SymbolsBuilder {
        SymbolsBuilder { of: AnchorTable::with_rows(nodes), ..Default::default() }
    }

    fn find(&mut self, anchor: Anchor) -> Option<u32> {
        let mut group = self.of.get(anchor)?;
        while self.forward[group as usize] != group {
            let next = self.forward[group as usize];
            self.forward[group as usize] = self.forward[next as usize];
            group = next;
        }
        Some(group)
    }

    pub fn is_registered(&self, anchor: Anchor) -> bool {
        self.of.contains(anchor)
    }

    /// Members of the anchor's group so far; 0 if it has none.
    pub fn group_size(&mut self, anchor: Anchor) -> usize {
        self.find(anchor).map_or(0, |group| self.members[group as usize].len())
    }

    pub fn same_group(&mut self, a: Anchor, b: Anchor) -> bool {
        let group = self.find(a);
        group.is_some() && group == self.find(b)
    }

    /// A new group, named after `anchor`.
    pub fn found(&mut self, anchor: Anchor) -> Result<(), SymbolError> {
        if self.is_registered(anchor) {
            return Err(SymbolError::TwoSymbols(anchor));
        }
        let group = self.members.len() as u32;
        self.forward.push(group);
        let mut members = Vec::with_capacity(FEW_MEMBERS);
        members.push(anchor);
        self.members.push(members);
        self.founders.push(anchor);
        self.of.insert(anchor, group);
        Ok(())
    }

    /// Appends `anchor` to the group of `to`; an anchor that is there already is stored once.
    pub fn join(&mut self, anchor: Anchor, to: Anchor) -> Result<(), SymbolError> {
        let group = self.find(to).ok_or(SymbolError::Unregistered(to))?;
        match self.find(anchor) {
            Some(own) if own == group => Ok(()),
            Some(_) => Err(SymbolError::TwoSymbols(anchor)),
            None => {
                self.members[group as usize].push(anchor);
                self.of.insert(anchor, group);
                Ok(())
            }
        }
    }

    /// Unites two groups: the strictly larger survives; on equal size that of `b`.
    pub fn unite(&mut self, a: Anchor, b: Anchor) -> Result<(), SymbolError> {
        let a = self.find(a).ok_or(SymbolError::Unregistered(a))?;
        let b = self.find(b).ok_or(SymbolError::Unregistered(b))?;
        if a == b {
            return Ok(());
        }
        let a_larger = self.members[a as usize].len() > self.members[b as usize].len();
        let (survivor, merged) = if a_larger { (a, b) } else { (b, a) };
        self.forward[merged as usize] = survivor;
        let moved = std::mem::take(&mut self.members[merged as usize]);
        self.members[survivor as usize].extend(moved);
        Ok(())
    }

    /// Group number per anchor, forwards of merged groups, members.
    pub(super) fn into_parts(self) -> (AnchorTable, Vec<u32>, Vec<Vec<Anchor>>) {
        (self.of, self.forward, self.members)
    }

    /// The finished table. Groups are numbered in byte order of their names. `like`: a table with much the same groups, so that most
    /// are in order already.
    pub fn finish(mut self, near: Near<'_>, like: Option<&Symbols>) -> Symbols {
        // Nodes that are gone by now have no name; names are fetched once, since a look there is dear next to a comparison.
        let name = |node| near.node(node).map_or("", |node| &*node.name);
        let of = |(founder, at): (&Anchor, u32)| {
            let name = name(founder.node());
            (beginning(name, *founder), name, *founder, at)
        };
        let mut groups: Vec<u32> = Vec::with_capacity(self.founders.len());
        let mut is_placed = FixedBitSet::with_capacity(self.founders.len());
        for group in like.iter().flat_map(|like| &like.groups) {
            let at = self.of.get(group.founder).filter(|&at| self.founders[at as usize] == group.founder);
            groups.extend(at.filter(|&at| !is_placed.put(at as usize)));
        }
        groups.extend((0..self.founders.len() as u32).filter(|&at| !is_placed.contains(at as usize)));
        let groups = groups.into_iter().filter(|&at| !self.members[at as usize].is_empty());
        let mut order: Vec<_> = groups.map(|at| of((&self.founders[at as usize], at))).collect();
        order.sort_by(|(begins_a, name_a, a, at), (begins_b, name_b, b, to)| {
            let by_name = || compare_named(name_a, *a, name_b, *b);
            begins_a.cmp(begins_b).then_with(by_name).then_with(|| at.cmp(to))
        });
        let group = |(_, _, founder, at): (_, _, _, u32)| {
            let members = std::mem::take(&mut self.members[at as usize]);
            Group { founder, members }
        };
        Symbols::new(order.into_iter().map(group).collect())
    }
}

/// One group: anchors that share a symbol, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The anchor whose label is the symbol's name.
    pub founder: Anchor,
    pub members: Vec<Anchor>,
}

/// A finished symbol table.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    groups: Vec<Group>,
    /// The group of each anchor, made when that is first asked: most tables are only gone through.
    of: OnceLock<FxHashMap<u64, GroupId>>,
}

impl PartialEq for Symbols {
    fn eq(&self, other: &Self) -> bool {
        self.groups == other.groups
    }
}

impl Symbols {
    /// Takes groups in their final order. An anchor listed twice belongs to its first group.
    pub fn new(groups: Vec<Group>) -> Symbols {
        Symbols { groups, of: OnceLock::new() }
    }

    fn of(&self) -> &FxHashMap<u64, GroupId> {
        self.of.get_or_init(|| {
            let mut of = FxHashMap::default();
            of.reserve(self.groups.iter().map(|g| g.members.len()).sum());
            for (id, group) in (0u32..).zip(&self.groups) {
                for &anchor in &group.members {
                    of.entry(key(anchor)).or_insert(GroupId(id));
                }
            }
            of
        })
    }

    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub fn group(&self, id: GroupId) -> &Group {
        &self.groups[id.0 as usize]
    }

    pub fn group_of(&self, anchor: Anchor) -> Option<GroupId> {
        self.of().get(&key(anchor)).copied()
    }

    /// A table with one group: that of `a` followed by that of `b`, named as that of `a`
    /// (`layout.md` 11, `merged_table`).
    pub fn merged(&self, a: Anchor, b: Anchor) -> Symbols {
        let (ga, gb) = (self.group_of(a), self.group_of(b));
        let mut groups = ga.iter().chain(gb.iter().filter(|g| Some(**g) != ga)).map(|g| self.group(*g));
        let Some(first) = groups.next() else { return Symbols::default() };
        let mut merged = first.clone();
        merged.members.extend(groups.flat_map(|g| g.members.iter().copied()));
        Symbols::new(vec![merged])
    }
}

/// The anchor's name: `NODE_in_I` or `NODE_out_I` (`layout.md` 2).
pub fn label(state: &State, anchor: Anchor) -> String {
    label_of(&state.node(anchor.node()).name, anchor)
}

/// Byte order of labels.
pub fn compare_labels(state: &State, a: Anchor, b: Anchor) -> std::cmp::Ordering {
    compare_named(&state.node(a.node()).name, a, &state.node(b.node()).name, b)
}

/// The same for anchors whose nodes' names are at hand. What follows a name counts only where one name begins with
/// the other, so labels are seldom built.
pub(super) fn compare_named(name_a: &str, a: Anchor, name_b: &str, b: Anchor) -> std::cmp::Ordering {
    let shared = name_a.len().min(name_b.len());
    let beginning = name_a.as_bytes()[..shared].cmp(&name_b.as_bytes()[..shared]);
    beginning.then_with(|| label_of(name_a, a).cmp(&label_of(name_b, b)))
}

/// The beginning of a label as numbers that are ordered like labels. With it at hand a comparison seldom has to look at names,
/// which lie anywhere.
fn beginning(name: &str, anchor: Anchor) -> [u64; 3] {
    const LENGTH: usize = 24;
    // Written by hand: this is done for each group of a table.
    let mut digits = [0; 10];
    let mut first = digits.len();
    let mut rest = anchor.index();
    while first == digits.len() || rest > 0 {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let side: &[u8] = if anchor.is_in() { b"_in_" } else { b"_out_" };
    let mut bytes = [0; LENGTH];
    let mut at = 0;
    for part in [name.as_bytes(), side, &digits[first..]] {
        let part = &part[..part.len().min(LENGTH - at)];
        bytes[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    std::array::from_fn(|part| {
        let bytes = &bytes[part * 8..part * 8 + 8];
        bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    })
}

fn label_of(name: &str, anchor: Anchor) -> String {
    let side = if anchor.is_in() { "in" } else { "out" };
    format!("{name}_{side}_{}", anchor.index())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::NodeId;
    use super::*;

    proptest! {
        #[test]
        fn beginnings_are_ordered_like_labels(
            names in prop::collection::vec("[a_i0\\x00é]{0,9}|layer_12/attention_[0-9]{0,12}(_in_)?[0-9]{0,3}", 2),
            indexes in prop::array::uniform2(0..120u32),
            inputs in prop::array::uniform2(any::<bool>()),
        ) {
            let anchor = |at: usize| match inputs[at] {
                true => Anchor::In(NodeId(0).input(indexes[at])),
                false => Anchor::Out(NodeId(0).output(indexes[at])),
            };
            let (a, b) = (anchor(0), anchor(1));
            let by_label = label_of(&names[0], a).cmp(&label_of(&names[1], b));
            prop_assert_eq!(compare_named(&names[0], a, &names[1], b), by_label);
            let by_beginning = beginning(&names[0], a).cmp(&beginning(&names[1], b));
            prop_assert!(by_beginning.is_eq() || by_beginning == by_label, "{by_beginning:?} {by_label:?}");
        }
    }
}
