//! A bounded memory of results of pure functions and walks.
//!
//! Promise: a result is given back only in the epoch it was put in. The table forgets by overwriting, so it
//! costs the same for a model of any size; it grows while live results push each other out.

use std::hash::BuildHasher;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

use super::Value;
use super::trace::Seen;

/// What a result belongs to: an entry, a walk mode, and up to two places.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    entry: u32,
    tags: u32,
    first: u64,
    second: u64,
}

impl Key {
    /// The key of a call; `None` when an argument is not a node, an anchor or a graph.
    pub fn new(entry: u32, mode: u8, args: &[Value]) -> Option<Key> {
        let (first, second) = match args {
            [a] => (pack(a)?, (0, 0)),
            [a, b] => (pack(a)?, pack(b)?),
            _ => return None,
        };
        let tags = u32::from(mode) << 16 | u32::from(first.0) << 8 | u32::from(second.0);
        Some(Key { entry, tags, first: first.1, second: second.1 })
    }

    /// The key of the same call from another place.
    pub fn with(self, place: &Value) -> Option<Key> {
        let (tag, first) = pack(place)?;
        Some(Key { tags: self.tags & !0xff00 | u32::from(tag) << 8, first, ..self })
    }
}

/// A place as a tag and a number.
pub(super) fn pack(value: &Value) -> Option<(u8, u64)> {
    Some(match value {
        Value::Node(n) => (1, u64::from(n.0)),
        Value::Input(i) => (2, u64::from(i.node.0) << 32 | u64::from(i.index)),
        Value::Output(o) => (3, u64::from(o.node.0) << 32 | u64::from(o.index)),
        Value::Graph(g) => (4, u64::from(g.0)),
        _ => return None,
    })
}

/// Whether the results of an entry are worth remembering, as far as a run has shown.
#[derive(Clone, Copy, Default)]
pub(super) struct Worth {
    /// Short results in a row that had not been remembered.
    misses: u8,
}

/// After so many of them an entry's results are not looked up any more.
const PATIENCE: u8 = 32;

/// Results that took more steps are always worth it.
const LONG: u64 = 32;

impl Worth {
    pub fn is_tried(self) -> bool {
        self.misses < PATIENCE
    }

    pub fn hit(&mut self) {
        self.misses = 0;
    }

    /// A result had to be found, in so many steps.
    pub fn found(&mut self, steps: u64) {
        self.misses = if steps > LONG { 0 } else { self.misses.saturating_add(1) };
    }
}

struct Slot {
    key: Key,
    epoch: u64,
    value: Value,
    /// What was read, when reads are recorded.
    reads: Option<Arc<Seen>>,
}

#[derive(Default)]
pub(super) struct Memo {
    slots: Vec<Option<Slot>>,
    evicted: usize,
}

const SMALLEST: usize = 1 << 10;
/// Results are asked again soon or never: a table that outgrows the caches costs more than it saves.
const LARGEST: usize = 1 << 16;

impl Memo {
    fn place(&self, key: &Key) -> usize {
        // The high bits of the hash are the good ones.
        (FxBuildHasher.hash_one(key) >> 20) as usize & (self.slots.len() - 1)
    }

    pub fn get(&self, key: &Key, epoch: u64) -> Option<(&Value, Option<&Arc<Seen>>)> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slots[self.place(key)].as_ref()?;
        (slot.epoch == epoch && slot.key == *key).then_some((&slot.value, slot.reads.as_ref()))
    }

    pub fn put(&mut self, key: Key, epoch: u64, value: Value, reads: Option<Arc<Seen>>) {
        if self.slots.is_empty() {
            self.slots.resize_with(SMALLEST, || None);
        }
        let place = self.place(&key);
        if self.slots[place].as_ref().is_some_and(|slot| slot.epoch == epoch && slot.key != key) {
            self.evicted += 1;
            if self.evicted > self.slots.len() && self.slots.len() < LARGEST {
                let larger = self.slots.len() * 8;
                *self = Memo::default();
                self.slots.resize_with(larger, || None);
                return self.put(key, epoch, value, reads);
            }
        }
        self.slots[place] = Some(Slot { key, epoch, value, reads });
    }
}
