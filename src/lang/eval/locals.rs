//! Sets of locals.

use std::ops::Range;

use crate::lang::hir::Local;

/// Some locals. Bodies have few, so that a set is a word; what is behind that is listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Locals {
    near: u64,
    far: Vec<Local>,
}

impl Locals {
    pub fn insert(&mut self, local: Local) {
        if local < u64::BITS {
            self.near |= 1 << local;
        } else if !self.far.contains(&local) {
            self.far.push(local);
        }
    }

    pub fn contains(&self, local: Local) -> bool {
        if local < u64::BITS { self.near >> local & 1 == 1 } else { self.far.contains(&local) }
    }

    /// Adds those of `other` that are not in `bound`.
    pub fn extend(&mut self, other: &Locals, bound: &Range<Local>) {
        if bound.is_empty() && other.far.is_empty() {
            self.near |= other.near;
        } else {
            other.iter().filter(|local| !bound.contains(local)).for_each(|local| self.insert(local));
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Local> + '_ {
        let mut near = self.near;
        let next = std::iter::from_fn(move || {
            let local = near.trailing_zeros();
            near &= near.wrapping_sub(1);
            (local < u64::BITS).then_some(local)
        });
        next.chain(self.far.iter().copied())
    }

    /// The one local that there is.
    pub fn only(&self) -> Option<Local> {
        let mut all = self.iter();
        all.next().filter(|_| all.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_locals_are_the_same_to_everybody() {
        let set = |locals: &[Local]| {
            let mut set = Locals::default();
            locals.iter().for_each(|&local| set.insert(local));
            set
        };
        let mut all = set(&[70, 3, 70, 63, 0]);
        assert_eq!(all.iter().collect::<Vec<_>>(), [0, 3, 63, 70]);
        assert!([0, 3, 63, 70].iter().all(|&local| all.contains(local)));
        assert!([1, 64, 69, 71].iter().all(|&local| !all.contains(local)));
        all.extend(&set(&[1, 2, 64, 65, 66]), &(2..66));
        assert_eq!(all.iter().collect::<Vec<_>>(), [0, 1, 3, 63, 70, 66]);
        assert_eq!(
            [set(&[]), set(&[5]), set(&[90]), set(&[5, 90])].map(|set| set.only()),
            [None, Some(5), Some(90), None]
        );
    }
}
