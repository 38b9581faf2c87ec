//! A memory of walks that outlives edits.
//!
//! Promise: what is remembered of a place is what walking from it would find now. Each place remembers the nodes that
//! its own step read and the place that it leads to; a change of one of the nodes forgets the place, and with it every
//! place whose walk led there. So a long chain of places is walked once, not once a question, while edits stay local.

use rustc_hash::FxHashMap;

use super::Value;
use super::memo::Key;
use crate::graph::NodeId;

#[derive(Default)]
pub(super) struct Lasting {
    /// Where the walk from a place ends.
    last: FxHashMap<Key, Value>,
    /// Places whose step read a node.
    readers: FxHashMap<NodeId, Vec<Key>>,
    /// Places whose step leads to a place.
    before: FxHashMap<Key, Vec<Key>>,
}

impl Lasting {
    pub fn get(&self, place: &Key) -> Option<&Value> {
        self.last.get(place)
    }

    /// Remembers where the walk from `place` ends. `next`, where its step leads, is remembered already.
    pub fn put(&mut self, place: Key, last: Value, reads: &[NodeId], next: Option<Key>) {
        self.last.insert(place, last);
        for node in reads {
            self.readers.entry(*node).or_default().push(place);
        }
        if let Some(next) = next {
            self.before.entry(next).or_default().push(place);
        }
    }

    /// Something of a node has changed.
    pub fn changed(&mut self, node: NodeId) {
        let mut open = self.readers.remove(&node).unwrap_or_default();
        while let Some(place) = open.pop() {
            if self.last.remove(&place).is_some() {
                open.extend(self.before.remove(&place).unwrap_or_default());
            }
        }
    }

    pub fn clear(&mut self) {
        *self = Lasting::default();
    }
}
