//! The nodes of a state by number.
//!
//! Promise: a persistent table. Copies share what none of them has changed. A look-up counts down a tree of wide rows and
//! compares no keys; a difference skips the rows that are shared.

use std::sync::Arc;

use super::{Node, NodeId};

/// Nodes by number. Numbers are given once, so that a place once left stays empty.
#[derive(Clone, Default)]
pub(super) struct Nodes {
    slots: im::Vector<Option<Arc<Node>>>,
    live: usize,
}

impl Nodes {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.live
    }

    #[inline]
    pub fn get(&self, node: NodeId) -> Option<&Arc<Node>> {
        self.slots.get(node.0 as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, node: NodeId) -> Option<&mut Arc<Node>> {
        // A look first: asking for a place to write copies what is shared.
        self.get(node)?;
        self.slots.get_mut(node.0 as usize)?.as_mut()
    }

    /// Gives the node the next number.
    pub fn push(&mut self, node: Arc<Node>) {
        self.slots.push_back(Some(node));
        self.live += 1;
    }

    pub fn remove(&mut self, node: NodeId) {
        if self.get(node).is_some()
            && let Some(slot) = self.slots.get_mut(node.0 as usize)
        {
            *slot = None;
            self.live -= 1;
        }
    }

    /// All nodes by ascending number.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &Arc<Node>)> {
        (0u32..).zip(&self.slots).filter_map(|(id, node)| Some((NodeId(id), node.as_ref()?)))
    }

    /// Where two tables hold different nodes, by ascending number; what they share is skipped. Nodes are told apart by
    /// where they lie: two that are equal may come, too.
    pub fn diff<'a>(
        &'a self,
        other: &'a Nodes,
    ) -> impl Iterator<Item = (NodeId, [Option<&'a Arc<Node>>; 2])> {
        let (mut ours, mut theirs) = (self.slots.leaves(), other.slots.leaves());
        let (mut own, mut their): (&[_], &[_]) = (&[], &[]);
        let mut next = 0u32;
        std::iter::from_fn(move || {
            loop {
                if own.is_empty() {
                    own = ours.next().unwrap_or_default();
                }
                if their.is_empty() {
                    their = theirs.next().unwrap_or_default();
                }
                let shared = if std::ptr::eq(own, their) { own.len() } else { 0 };
                let pair = [own.get(shared), their.get(shared)].map(|slot| slot.and_then(Option::as_ref));
                if shared == 0 && own.is_empty() && their.is_empty() {
                    return None;
                }
                let step = shared.max(1);
                own = own.get(step..).unwrap_or_default();
                their = their.get(step..).unwrap_or_default();
                let id = NodeId(next);
                next += step as u32;
                let same = match pair {
                    [Some(one), Some(other)] => Arc::ptr_eq(one, other),
                    [one, other] => one.is_none() && other.is_none(),
                };
                if !same {
                    return Some((id, pair));
                }
            }
        })
    }
}

impl FromIterator<Node> for Nodes {
    fn from_iter<I: IntoIterator<Item = Node>>(nodes: I) -> Self {
        let slots: im::Vector<_> = nodes.into_iter().map(|node| Some(Arc::new(node))).collect();
        Nodes { live: slots.len(), slots }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::GraphId;
    use super::super::testing::bare_node;
    use super::*;

    proptest! {
        /// Two descendants of one table, against two plain ones.
        #[test]
        fn differences_are_those_of_plain_tables(
            count in 0..400usize,
            common in prop::collection::vec((0..4u32, 0..500u32), 0..40),
            apart in prop::collection::vec((0..4u32, 0..500u32, any::<bool>()), 0..40),
        ) {
            let node = |name: String| bare_node(&name, GraphId::ROOT);
            let table: Nodes = (0..count).map(|at| node(format!("n{at}"))).collect();
            let plain: Vec<Option<Arc<Node>>> = (0..count as u32).map(|at| table.get(NodeId(at)).cloned()).collect();
            let change = |(table, plain): &mut (Nodes, Vec<Option<Arc<Node>>>), kind, at: u32| match kind {
                0 => {
                    let new = Arc::new(node(format!("new{at}")));
                    table.push(new.clone());
                    plain.push(Some(new));
                }
                1 => {
                    table.remove(NodeId(at));
                    plain.iter_mut().skip(at as usize).take(1).for_each(|slot| *slot = None);
                }
                _ => {
                    if let Some(slot) = table.get_mut(NodeId(at)) {
                        *slot = Arc::new(node(format!("other{at}")));
                        plain[at as usize] = Some(slot.clone());
                    }
                }
            };
            let mut one = (table, plain);
            common.into_iter().for_each(|(kind, at)| change(&mut one, kind, at));
            let mut two = one.clone();
            apart.into_iter().for_each(|(kind, at, first)| change(if first { &mut one } else { &mut two }, kind, at));
            for (table, plain) in [&one, &two] {
                prop_assert_eq!(table.len(), plain.iter().flatten().count());
                let all = table.iter().map(|(id, node)| (id.0 as usize, node));
                prop_assert!(all.eq(plain.iter().enumerate().filter_map(|(at, node)| Some((at, node.as_ref()?)))));
            }
            let place = |plain: &[Option<Arc<Node>>], at: usize| plain.get(at).cloned().flatten();
            let longest = one.1.len().max(two.1.len());
            let expected = (0..longest).map(|at| (at as u32, [place(&one.1, at), place(&two.1, at)]));
            let expected: Vec<_> = expected.filter(|(_, [a, b])| a.as_ref().map(Arc::as_ptr) != b.as_ref().map(Arc::as_ptr)).collect();
            let found: Vec<_> = one.0.diff(&two.0).map(|(id, pair)| (id.0, pair.map(|node| node.cloned()))).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_is_shared_is_skipped() {
        let table: Nodes = (0..10_000).map(|_| bare_node("n", GraphId::ROOT)).collect();
        let mut other = table.clone();
        other.remove(NodeId(5_000));
        // Nodes of other rows would be told apart if they were looked at.
        assert!(table.diff(&other).map(|(id, _)| id.0).eq([5_000]));
        assert_eq!((table.len(), other.len()), (10_000, 9_999));
        assert!(table.diff(&table.clone()).next().is_none());
    }
}
