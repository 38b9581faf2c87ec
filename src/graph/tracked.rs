//! A symbol table that follows a graph while it is edited.
//!
//! Promise: groups keep their order when they are merged, and a merge costs the smaller of the two. What others count
//! of the anchors of a group is kept with it and added up when groups are merged, so a question about a merged group
//! need not go through its anchors.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::anchors::AnchorTable;
use super::symbols::SymbolsBuilder;
use super::{Anchor, GraphId};

/// How many anchors of a group, seen from a target graph, carry each mark. An anchor that has left the group may still
/// be counted.
pub type Counts = Box<[u32]>;

/// A symbol table under change.
#[derive(Clone, Debug, Default)]
pub struct Tracked {
    /// Group number per anchor; merged groups are forwarded.
    of: AnchorTable,
    forward: Vec<u32>,
    /// Members in order. Those that have left are still among them, but have no group number.
    members: Vec<VecDeque<Anchor>>,
    live: Vec<u32>,
    counts: FxHashMap<u32, Vec<(GraphId, Counts)>>,
}

impl Tracked {
    /// Goes on from a table that has been built.
    pub fn new(built: SymbolsBuilder) -> Tracked {
        let (of, forward, members) = built.into_parts();
        let live = members.iter().map(|members| members.len() as u32).collect();
        let members = members.into_iter().map(VecDeque::from).collect();
        Tracked { of, forward, members, live, counts: FxHashMap::default() }
    }

    pub fn contains(&self, anchor: Anchor) -> bool {
        self.of.contains(anchor)
    }

    /// The number of the anchor's group. It changes when the group is merged.
    pub fn group(&mut self, anchor: Anchor) -> Option<u32> {
        let mut group = self.of.get(anchor)?;
        while self.forward[group as usize] != group {
            let next = self.forward[group as usize];
            self.forward[group as usize] = self.forward[next as usize];
            group = next;
        }
        Some(group)
    }

    /// Members of the anchor's group; 0 if it has none.
    pub fn size(&mut self, anchor: Anchor) -> usize {
        self.group(anchor).map_or(0, |group| self.live[group as usize] as usize)
    }

    pub fn same_group(&mut self, a: Anchor, b: Anchor) -> bool {
        let group = self.group(a);
        group.is_some() && group == self.group(b)
    }

    /// The anchors of a group, in order.
    pub fn members(&mut self, group: u32) -> &[Anchor] {
        let members = &mut self.members[group as usize];
        if members.len() != self.live[group as usize] as usize {
            let of = &self.of;
            members.retain(|anchor| of.contains(*anchor));
        }
        members.make_contiguous()
    }

    /// Appends the group of `anchor` to that of `into`. Nothing happens if they are one, or if one of them has none.
    pub fn merge(&mut self, anchor: Anchor, into: Anchor) {
        let (Some(from), Some(into)) = (self.group(anchor), self.group(into)) else { return };
        if from == into {
            return;
        }
        self.forward[from as usize] = into;
        let mut moved = std::mem::take(&mut self.members[from as usize]);
        let own = &mut self.members[into as usize];
        if moved.len() > own.len() {
            own.drain(..).rev().for_each(|anchor| moved.push_front(anchor));
            *own = moved;
        } else {
            own.extend(moved);
        }
        self.live[into as usize] += self.live[from as usize];
        let theirs = self.counts.remove(&from).unwrap_or_default();
        let mut both = self.counts.remove(&into).unwrap_or_default();
        both.retain_mut(|(target, counts)| {
            let Some((_, other)) = theirs.iter().find(|(of, _)| of == target) else { return false };
            counts.iter_mut().zip(other).for_each(|(count, more)| *count += more);
            true
        });
        if !both.is_empty() {
            self.counts.insert(into, both);
        }
    }

    /// The anchor leaves its group: its node is gone.
    pub fn forget(&mut self, anchor: Anchor) {
        if let Some(group) = self.group(anchor) {
            self.of.remove(anchor);
            self.live[group as usize] -= 1;
        }
    }

    /// What is counted of a group.
    pub fn counts(&self, group: u32, target: GraphId) -> Option<&Counts> {
        let counts = self.counts.get(&group)?;
        counts.iter().find(|(of, _)| *of == target).map(|(_, counts)| counts)
    }

    pub fn set_counts(&mut self, group: u32, target: GraphId, counts: Counts) {
        let all = self.counts.entry(group).or_default();
        all.retain(|(of, _)| *of != target);
        all.push((target, counts));
    }

    /// Nothing that was counted holds any more.
    pub fn forget_counts(&mut self) {
        self.counts.clear();
    }
}
