//! A number for each of many anchors.
//!
//! Promise: a table like any other. For anchors of nodes below a bound, nearly all of which are to have a number, it is a
//! row of four a node: the first inputs and the first output, which is what most nodes have. Other anchors are hashed.

use rustc_hash::FxHashMap;

use super::Anchor;

/// No number.
const NONE: u32 = u32::MAX;

/// Places of a row; the last one is that of output 0.
const WIDTH: usize = 4;
const OUTPUT: usize = WIDTH - 1;

/// Numbers by anchor.
#[derive(Clone, Debug, Default)]
pub(super) struct AnchorTable {
    rows: Vec<u32>,
    rest: FxHashMap<u64, u32>,
}

/// An anchor as one number: equal anchors have equal keys. Hashing one number is cheap.
pub(super) fn key(anchor: Anchor) -> u64 {
    u64::from(anchor.node().0) << 32 | u64::from(anchor.index()) << 1 | u64::from(anchor.is_in())
}

impl AnchorTable {
    /// A table with rows for the nodes with numbers below `nodes`.
    pub fn with_rows(nodes: usize) -> AnchorTable {
        AnchorTable { rows: vec![NONE; nodes * WIDTH], rest: FxHashMap::default() }
    }

    #[inline]
    fn place(&self, anchor: Anchor) -> Option<usize> {
        let column = match anchor {
            Anchor::In(input) => Some(input.index as usize).filter(|&index| index < OUTPUT),
            Anchor::Out(output) => (output.index == 0).then_some(OUTPUT),
        };
        Some(anchor.node().0 as usize * WIDTH + column?).filter(|&place| place < self.rows.len())
    }

    #[inline]
    pub fn get(&self, anchor: Anchor) -> Option<u32> {
        match self.place(anchor) {
            Some(place) => Some(self.rows[place]).filter(|&number| number != NONE),
            None => self.rest.get(&key(anchor)).copied(),
        }
    }

    #[inline]
    pub fn contains(&self, anchor: Anchor) -> bool {
        self.get(anchor).is_some()
    }

    pub fn insert(&mut self, anchor: Anchor, number: u32) {
        match self.place(anchor) {
            Some(place) => self.rows[place] = number,
            None => _ = self.rest.insert(key(anchor), number),
        }
    }

    pub fn remove(&mut self, anchor: Anchor) {
        match self.place(anchor) {
            Some(place) => self.rows[place] = NONE,
            None => _ = self.rest.remove(&key(anchor)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::NodeId;
    use super::*;

    #[test]
    fn with_rows_and_without_it_holds_the_same() {
        let anchors = || {
            let nodes = (0..6).map(NodeId);
            nodes.flat_map(|n| (0..5).flat_map(move |i| [Anchor::In(n.input(i)), Anchor::Out(n.output(i))]))
        };
        for rows in [0, 3, 6] {
            let mut table = AnchorTable::with_rows(rows);
            for (number, anchor) in (0..).zip(anchors()) {
                assert!(!table.contains(anchor), "{anchor:?} with {rows} rows");
                table.insert(anchor, number);
            }
            for (number, anchor) in (0..).zip(anchors()) {
                assert_eq!(table.get(anchor), Some(number), "{anchor:?} with {rows} rows");
                table.insert(anchor, number + 100);
                assert_eq!(table.get(anchor), Some(number + 100));
                table.remove(anchor);
                assert_eq!(table.get(anchor), None);
            }
        }
    }
}
