//! Tests that are run again and again, while the rules change.

use rustc_hash::FxHashSet;

use super::Bench;
use crate::db::{Db, Item};
use crate::engine::Session;
use crate::graph::{Snapshot, Sym};
use crate::lang::syntax::ast::{ItemData, Kind};

/// A test whose graph is read: run again on equal rules, it is remembered.
pub struct ReadyTest {
    item: Item,
    name: Sym,
    path: String,
    start: usize,
    line: u32,
    /// None: it cannot be read, and the test fails.
    before: Option<Snapshot>,
}

impl ReadyTest {
    /// Its title and its place.
    pub fn label(&self) -> String {
        format!("{} ({}:{})", self.name, self.path, self.line)
    }
}

impl Session {
    /// The tests of the files that `wanted` accepts, in the order of files and lines.
    pub fn ready_tests(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<ReadyTest> {
        let mut tests = Vec::new();
        self.each_test(wanted, |bench, line| {
            tests.push(ReadyTest {
                item: bench.item.clone(),
                name: bench.name,
                path: bench.path.to_owned(),
                start: bench.start,
                line,
                before: bench.before().ok(),
            });
        });
        tests
    }

    /// Whether a test passes with the rules as they are now.
    pub fn passes(&self, ready: &ReadyTest) -> bool {
        let (ItemData::Test(test), Some(before)) = (&ready.item.0.data, &ready.before) else { return false };
        let ReadyTest { item, name, path, start, .. } = ready;
        let title = item.0.name.span;
        let bench = Bench { session: self, name: *name, title, path, start: *start, test, item };
        bench.run_on(before).is_ok()
    }

    /// The entries that something reaches, and how much there was to count. What the database remembers is not reached.
    pub fn touched(&mut self, run: impl FnOnce(&Session)) -> (FxHashSet<(Kind, Sym)>, usize) {
        self.db.start_tally();
        run(self);
        self.db.tally().map(|tally| tally.touched()).unwrap_or_default()
    }
}
