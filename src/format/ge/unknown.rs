//! Fields that no schema of ours has: counted, and told once a name.

use std::fmt::Display;

use rustc_hash::FxHashMap;

use crate::format::{FormatWarning, Place, Warnings};

/// Unknown fields of one file. `N` is a name in text and a number in binary.
pub struct Unknowns<N> {
    met: Vec<Unknown<N>>,
    by_name: FxHashMap<(N, &'static str), usize>,
    count: usize,
}

struct Unknown<N> {
    name: N,
    inside: &'static str,
    count: usize,
    offset: usize,
    kept: bool,
}

impl<N> Default for Unknowns<N> {
    fn default() -> Self {
        Unknowns { met: Vec::new(), by_name: FxHashMap::default(), count: 0 }
    }
}

impl<N: Clone + Eq + std::hash::Hash + Display> Unknowns<N> {
    /// Notes a field: its name, the message around it, its place, and whether it will be written back.
    pub fn note(&mut self, name: N, inside: &'static str, offset: usize, kept: bool) {
        self.count += 1;
        let next = self.met.len();
        let at = *self.by_name.entry((name.clone(), inside)).or_insert(next);
        match self.met.get_mut(at) {
            Some(unknown) => unknown.count += 1,
            None => self.met.push(Unknown { name, inside, count: 1, offset, kept }),
        }
    }

    /// How many fields were noted.
    pub fn count(&self) -> usize {
        self.count
    }

    /// One warning a name, in the order of the file.
    pub fn warnings(&self, place: impl Fn(usize) -> Place) -> Vec<FormatWarning> {
        let mut warnings = Warnings::default();
        for Unknown { name, inside, count, offset, kept } in &self.met {
            let fate = if *kept { "kept as it is" } else { "dropped" };
            warnings.push("format::unknown-field", || {
                (format!("unknown field {name} in {inside} ({count}x), {fate}"), place(*offset))
            });
        }
        warnings.finish()
    }
}
