//! How many readers an output has.
//!
//! Promise: counting the readers of one output again and again between edits costs one count, and a step an edit.

use super::Machine;
use crate::graph::{NodeId, Output};

impl Machine<'_> {
    pub(super) fn reader_count(&mut self, output: Output) -> usize {
        match self.flat_readers(output) {
            Some(readers) => readers.len(),
            None => *self.counts.entry(output).or_insert_with(|| self.edit.consumers(output).count()),
        }
    }

    /// Notes that an output has got or lost a reader.
    pub(super) fn recount(&mut self, output: Output, gained: bool) {
        if let Some(count) = self.counts.get_mut(&output) {
            *count = if gained { *count + 1 } else { count.saturating_sub(1) };
        }
    }

    /// Notes that a node is gone.
    pub(super) fn forget_counts(&mut self, node: NodeId, outputs: u32) {
        if !self.counts.is_empty() {
            (0..outputs).for_each(|index| _ = self.counts.remove(&node.output(index)));
        }
    }
}
