//! Things of a state by number: nodes, graphs, node lists.
//!
//! Promise: a persistent table. Copies share what none of them has changed. A look-up counts down a tree of wide rows and
//! compares no keys; a difference skips the rows that are shared.

use std::sync::Arc;

/// Things by number. Numbers are given once, so that a place once left stays empty.
#[derive(Clone)]
pub(super) struct Slots<T> {
    slots: im::Vector<Option<Arc<T>>>,
    live: usize,
}

/// What two tables hold at one place.
type Pair<'a, T> = [Option<&'a Arc<T>>; 2];

impl<T> Slots<T> {
    /// How many things there are.
    pub fn len(&self) -> usize {
        self.live
    }

    /// One more than the largest number that was given.
    pub fn end(&self) -> usize {
        self.slots.len()
    }

    #[inline]
    pub fn get(&self, number: u32) -> Option<&Arc<T>> {
        self.slots.get(number as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, number: u32) -> Option<&mut Arc<T>> {
        // A look first: asking for a place to write copies what is shared.
        self.get(number)?;
        self.slots.get_mut(number as usize)?.as_mut()
    }

    /// Gives the thing the next number.
    pub fn push(&mut self, thing: T) {
        self.slots.push_back(Some(Arc::new(thing)));
        self.live += 1;
    }

    pub fn remove(&mut self, number: u32) {
        if self.get(number).is_some()
            && let Some(slot) = self.slots.get_mut(number as usize)
        {
            *slot = None;
            self.live -= 1;
        }
    }

    /// All things by ascending number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Arc<T>)> {
        (0u32..).zip(&self.slots).filter_map(|(number, thing)| Some((number, thing.as_ref()?)))
    }

    /// Where two tables hold different things, by ascending number; what they share is skipped. Things are told apart by
    /// where they lie: two that are equal may come, too.
    pub fn diff<'a>(&'a self, other: &'a Slots<T>) -> impl Iterator<Item = (u32, Pair<'a, T>)> {
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
                if own.is_empty() && their.is_empty() {
                    return None;
                }
                let number = next;
                let shared = std::ptr::eq(own, their);
                let pair = [own.first(), their.first()].map(|slot| slot.and_then(Option::as_ref));
                let step = if shared { own.len() } else { 1 };
                own = own.get(step..).unwrap_or_default();
                their = their.get(step..).unwrap_or_default();
                next += step as u32;
                let same = match pair {
                    [Some(one), Some(other)] => Arc::ptr_eq(one, other),
                    [one, other] => one.is_none() && other.is_none(),
                };
                if !shared && !same {
                    return Some((number, pair));
                }
            }
        })
    }

    /// Whether two tables hold the same, by a comparison of what they do not share.
    pub fn all_same(&self, other: &Slots<T>, same: impl Fn(&T, &T) -> bool) -> bool {
        self.diff(other).all(|(_, pair)| matches!(pair, [Some(one), Some(other)] if same(one, other)))
    }
}

impl<T> FromIterator<T> for Slots<T> {
    fn from_iter<I: IntoIterator<Item = T>>(things: I) -> Self {
        let slots: im::Vector<_> = things.into_iter().map(|thing| Some(Arc::new(thing))).collect();
        Slots { live: slots.len(), slots }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Plain = Vec<Option<u32>>;

    fn change((table, plain): &mut (Slots<u32>, Plain), kind: u32, at: u32) {
        match kind {
            0 => {
                table.push(1000 + at);
                plain.push(Some(1000 + at));
            }
            1 => {
                table.remove(at);
                plain.iter_mut().skip(at as usize).take(1).for_each(|slot| *slot = None);
            }
            _ => {
                let own = table.get_mut(at).map(Arc::make_mut);
                let there = plain.get_mut(at as usize).and_then(Option::as_mut);
                assert_eq!(own.as_deref(), there.as_deref());
                [own, there].into_iter().flatten().for_each(|value| *value += 1);
            }
        }
    }

    proptest! {
        /// Two descendants of one table, against two plain ones.
        #[test]
        fn differences_are_those_of_plain_tables(
            count in 0..400u32,
            common in prop::collection::vec((0..4u32, 0..500u32), 0..40),
            apart in prop::collection::vec((0..4u32, 0..500u32, any::<bool>()), 0..40),
        ) {
            let mut one: (Slots<u32>, Plain) = ((0..count).collect(), (0..count).map(Some).collect());
            common.into_iter().for_each(|(kind, at)| change(&mut one, kind, at));
            let mut two = one.clone();
            for (kind, at, first) in apart {
                change(if first { &mut one } else { &mut two }, kind, at);
            }
            for (table, plain) in [&one, &two] {
                prop_assert_eq!((table.len(), table.end()), (plain.iter().flatten().count(), plain.len()));
                let there = (0u32..).zip(plain).filter_map(|(at, value)| Some((at, (*value)?)));
                prop_assert!(table.iter().map(|(at, value)| (at, **value)).eq(there));
            }
            let place = |plain: &Plain, at: usize| plain.get(at).copied().flatten();
            let longest = one.1.len().max(two.1.len());
            let expected = (0..longest).map(|at| (at as u32, [place(&one.1, at), place(&two.1, at)]));
            let expected: Vec<_> = expected.filter(|(_, [one, other])| one != other).collect();
            let found = one.0.diff(&two.0).map(|(at, pair)| (at, pair.map(|value| value.map(|value| **value))));
            // Equal things that do not lie at one place may come.
            let found: Vec<_> = found.filter(|(_, [one, other])| one != other).collect();
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(one.0.all_same(&two.0, |one, other| one == other), expected.is_empty());
        }
    }

    #[test]
    fn what_is_shared_is_skipped() {
        let table: Slots<u32> = (0..10_000).collect();
        let mut other = table.clone();
        other.remove(5_000);
        assert!(table.diff(&other).map(|(at, _)| at).eq([5_000]));
        assert!(table.all_same(&table.clone(), |_, _| false), "nothing is compared");
    }
}
