//! Which groups of one symbol table are in another one.
//!
//! Promise: a group is the same in both if nothing can tell the two apart that looks at it, at its members and at their nodes. Tables
//! that were made of two graphs which are not far apart have most of their groups in common: both are gone through side by side.

use super::symbols::compare_named;
use super::{Apart, Group, Snapshot, Symbols};

/// No group.
const NONE: u32 = u32::MAX;

/// Where the groups of a table are in another one. Those that are the same come in the same order.
pub struct Moved {
    /// By number in the one table.
    to: Vec<u32>,
    /// Groups of the other table that are not in the one.
    new: Vec<u32>,
}

impl Moved {
    /// Compares two tables, each of a graph; how far these are apart.
    pub fn between(
        (one, before): (&Symbols, &Snapshot),
        (other, after): (&Symbols, &Snapshot),
        apart: &Apart,
    ) -> Moved {
        let (olds, news) = (one.groups(), other.groups());
        let mut moved = Moved { to: vec![NONE; olds.len()], new: Vec::new() };
        let name = |snapshot: &Snapshot, group: &Group| {
            snapshot.get_node(group.founder.node()).map(|node| node.name.clone()).unwrap_or_default()
        };
        let (mut at, mut to) = (0, 0);
        while let (Some(old), Some(new)) = (olds.get(at), news.get(to)) {
            let same_name = old.founder == new.founder && apart.is_same_in_itself(new.founder.node());
            let order = if same_name {
                std::cmp::Ordering::Equal
            } else {
                compare_named(&name(before, old), old.founder, &name(after, new), new.founder)
            };
            if order.is_eq() && old == new && new.members.iter().all(|anchor| apart.is_same(anchor.node())) {
                moved.to[at] = to as u32;
            } else if order.is_ge() {
                moved.new.push(to as u32);
            }
            at += usize::from(order.is_le());
            to += usize::from(order.is_ge());
        }
        moved.new.extend(to as u32..news.len() as u32);
        moved
    }

    /// The number that a group has in the other table, if it is the same there.
    #[inline]
    pub fn to(&self, group: u32) -> Option<u32> {
        self.to.get(group as usize).copied().filter(|&to| to != NONE)
    }

    /// The groups of the other table that are not in the one, ascending.
    pub fn new_groups(&self) -> &[u32] {
        &self.new
    }
}
