//! Things that are mostly asked for in the order in which they stand.
//!
//! Promise: who goes through them in their order finds each where the one before was, and pays for no table of all.

use std::hash::Hash;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

/// So many others may stand between two that are asked for one after the other.
const AHEAD: usize = 4;

/// Things by key.
#[derive(Debug)]
pub(super) struct InOrder<K, T> {
    all: Vec<(K, T)>,
    /// Where a key stands last; made when somebody asks in another order.
    places: OnceLock<FxHashMap<K, u32>>,
}

impl<K, T> Default for InOrder<K, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<K, T> From<Vec<(K, T)>> for InOrder<K, T> {
    fn from(all: Vec<(K, T)>) -> Self {
        InOrder { all, places: OnceLock::new() }
    }
}

impl<K: Copy + Eq + Hash, T> InOrder<K, T> {
    pub fn all(&self) -> &[(K, T)] {
        &self.all
    }

    /// One more, before anybody asks.
    pub fn push(&mut self, key: K, thing: T) {
        self.all.push((key, thing));
    }

    /// Where a key stands, if that is at a place or a little behind.
    #[inline]
    pub fn near(&self, from: usize, key: K) -> Option<usize> {
        let mut ahead = self.all.get(from..)?.iter().take(AHEAD);
        ahead.position(|(own, _)| *own == key).map(|more| from + more)
    }

    /// Where it stands last.
    pub fn anywhere(&self, key: K) -> Option<usize> {
        let places = || self.all.iter().zip(0..).map(|((key, _), at)| (*key, at)).collect();
        self.places.get_or_init(places).get(&key).map(|&at| at as usize)
    }
}
