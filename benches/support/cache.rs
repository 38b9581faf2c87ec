//! Graphs that benches share: made once a run, and made cold again.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use anchorwatch::graph::Snapshot;

/// Each graph is made once a run.
pub fn cached(name: &'static str, make: fn(usize) -> Snapshot, size: usize) -> Snapshot {
    type Cache = LazyLock<Mutex<HashMap<(&'static str, usize), Snapshot>>>;
    static CACHE: Cache = LazyLock::new(Default::default);
    let mut cache = CACHE.lock().expect("a bench that panicked ends the run");
    cache.entry((name, size)).or_insert_with(|| make(size)).clone()
}

/// The same state without its flat view: another snapshot that differs in a model field.
pub fn cold(snapshot: &Snapshot) -> Snapshot {
    let mut edit = snapshot.edit();
    edit.update_model(|model| model.version += 1);
    edit.finish(snapshot)
}
