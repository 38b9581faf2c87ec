//! Things of a state by number: nodes, graphs, node lists.
//!
//! Promise: a persistent table. Copies share what none of them has changed. A look-up counts down a tree of two wide levels
//! and compares no keys; a difference skips what is shared. What tables of all things ask for lies beside the things, so that
//! it is read without a look at each of them.

use std::sync::Arc;

/// What a table keeps.
pub(super) trait Kept: Clone {
    /// What is told of a thing in the table itself.
    type Brief: Copy + Default;

    fn brief(&self) -> Self::Brief;
}

/// Things by number. Numbers are given once, so that a place once left stays empty.
#[derive(Clone)]
pub(super) struct Slots<T: Kept> {
    branches: Arc<Vec<Arc<Branch<T>>>>,
    end: usize,
    live: usize,
}

/// INVARIANT full-leaves: all branches but the last one have [`BRANCH`] leaves.
type Branch<T> = Vec<Arc<Leaf<T>>>;

/// Places of so many numbers. What is beyond the last number is empty.
#[derive(Clone)]
struct Leaf<T: Kept> {
    things: [Option<Arc<T>>; LEAF],
    briefs: [T::Brief; LEAF],
}

const LEAF: usize = 32;
const BRANCH: usize = 128;

/// What two tables hold at one place.
type Pair<'a, T> = [Option<&'a Arc<T>>; 2];

impl<T: Kept> Default for Leaf<T> {
    fn default() -> Self {
        Leaf { things: [const { None }; LEAF], briefs: [T::Brief::default(); LEAF] }
    }
}

impl<T: Kept> Leaf<T> {
    fn put(&mut self, at: usize, thing: T) {
        self.briefs[at] = thing.brief();
        self.things[at] = Some(Arc::new(thing));
    }

    /// What is there, by place in the leaf.
    fn iter(&self) -> impl Iterator<Item = (usize, &Arc<T>)> {
        self.things.iter().enumerate().filter_map(|(at, thing)| Some((at, thing.as_ref()?)))
    }
}

impl<T: Kept> Slots<T> {
    /// How many things there are.
    pub fn len(&self) -> usize {
        self.live
    }

    /// One more than the largest number that was given.
    pub fn end(&self) -> usize {
        self.end
    }

    #[inline]
    fn leaf(&self, number: usize) -> Option<&Arc<Leaf<T>>> {
        self.branches.get(number / (LEAF * BRANCH))?.get(number / LEAF % BRANCH)
    }

    fn leaf_mut(&mut self, number: usize) -> Option<&mut Leaf<T>> {
        let branch = Arc::make_mut(&mut self.branches).get_mut(number / (LEAF * BRANCH))?;
        Arc::make_mut(branch).get_mut(number / LEAF % BRANCH).map(Arc::make_mut)
    }

    #[inline]
    pub fn get(&self, number: u32) -> Option<&Arc<T>> {
        let number = number as usize;
        self.leaf(number)?.things[number % LEAF].as_ref()
    }

    /// Changes a thing, and gives what that gives; `None` if there is no such thing.
    pub fn update<R>(&mut self, number: u32, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        // A look first: asking for a place to write copies what is shared.
        self.get(number)?;
        let number = number as usize;
        let leaf = self.leaf_mut(number)?;
        let thing = Arc::make_mut(leaf.things[number % LEAF].as_mut()?);
        let given = change(thing);
        leaf.briefs[number % LEAF] = thing.brief();
        Some(given)
    }

    /// Gives the thing the next number.
    pub fn push(&mut self, thing: T) {
        if self.end.is_multiple_of(LEAF) {
            let branches = Arc::make_mut(&mut self.branches);
            match branches.last_mut().filter(|last| last.len() < BRANCH) {
                Some(last) => Arc::make_mut(last).push(Arc::default()),
                None => branches.push(Arc::new(vec![Arc::default()])),
            }
        }
        let number = self.end;
        if let Some(leaf) = self.leaf_mut(number) {
            leaf.put(number % LEAF, thing);
        }
        self.end += 1;
        self.live += 1;
    }

    pub fn remove(&mut self, number: u32) {
        if self.get(number).is_some()
            && let Some(leaf) = self.leaf_mut(number as usize)
        {
            leaf.things[number as usize % LEAF] = None;
            self.live -= 1;
        }
    }

    fn leaves(&self) -> impl Iterator<Item = (u32, &Leaf<T>)> {
        let leaves = self.branches.iter().flat_map(|branch| branch.iter());
        (0u32..).step_by(LEAF).zip(leaves).map(|(first, leaf)| (first, &**leaf))
    }

    /// All things by ascending number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Arc<T>)> {
        self.leaves().flat_map(|(first, leaf)| leaf.iter().map(move |(at, thing)| (first + at as u32, thing)))
    }

    /// What the table tells of all things, by ascending number. No thing is looked at.
    pub fn each_brief(&self, mut visit: impl FnMut(u32, T::Brief)) {
        for (first, leaf) in self.leaves() {
            leaf.iter().for_each(|(at, _)| visit(first + at as u32, leaf.briefs[at]));
        }
    }

    /// Where two tables hold different things, by ascending number; what they share is skipped. Things are told apart by
    /// where they lie: two that are equal may come, too.
    pub fn diff<'a>(&'a self, other: &'a Slots<T>) -> impl Iterator<Item = (u32, Pair<'a, T>)> {
        let branches = 0..self.branches.len().max(other.branches.len());
        let differ = branches.filter(|&at| {
            let same = |(own, other)| Arc::ptr_eq(own, other);
            !self.branches.get(at).zip(other.branches.get(at)).is_some_and(same)
        });
        let leaves = differ.flat_map(|at| (0..BRANCH).map(move |leaf| (at * BRANCH + leaf) * LEAF));
        leaves.flat_map(move |first| {
            let pair = [self.leaf(first), other.leaf(first)];
            let same = match pair {
                [Some(own), Some(other)] => Arc::ptr_eq(own, other),
                [own, other] => own.is_none() && other.is_none(),
            };
            let places = if same { 0..0 } else { 0..LEAF };
            places.filter_map(move |at| {
                let pair = pair.map(|leaf| leaf.and_then(|leaf| leaf.things[at].as_ref()));
                let same = match pair {
                    [Some(one), Some(other)] => Arc::ptr_eq(one, other),
                    [one, other] => one.is_none() && other.is_none(),
                };
                (!same).then_some(((first + at) as u32, pair))
            })
        })
    }

    /// Whether two tables hold the same, by a comparison of what they do not share.
    pub fn all_same(&self, other: &Slots<T>, same: impl Fn(&T, &T) -> bool) -> bool {
        self.diff(other).all(|(_, pair)| matches!(pair, [Some(one), Some(other)] if same(one, other)))
    }
}

impl<T: Kept> FromIterator<T> for Slots<T> {
    fn from_iter<I: IntoIterator<Item = T>>(things: I) -> Self {
        let mut things = things.into_iter().peekable();
        let (mut branches, mut end): (Vec<Arc<Branch<T>>>, _) = (Vec::new(), 0);
        while things.peek().is_some() {
            let mut branch = Vec::new();
            while branch.len() < BRANCH && things.peek().is_some() {
                let mut leaf = Leaf::default();
                for (at, thing) in things.by_ref().take(LEAF).enumerate() {
                    leaf.put(at, thing);
                    end += 1;
                }
                branch.push(Arc::new(leaf));
            }
            branches.push(Arc::new(branch));
        }
        Slots { branches: Arc::new(branches), end, live: end }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Kept for u32 {
        type Brief = u32;

        fn brief(&self) -> u32 {
            *self
        }
    }

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
                let own = table.update(at, |value| std::mem::replace(value, *value + 1));
                let there = plain.get_mut(at as usize).and_then(Option::as_mut);
                assert_eq!(own, there.as_deref().copied());
                there.into_iter().for_each(|value| *value += 1);
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
                prop_assert!(table.iter().map(|(at, value)| (at, **value)).eq(there.clone()));
                let mut briefs = Vec::new();
                table.each_brief(|at, value| briefs.push((at, value)));
                prop_assert!(briefs.into_iter().eq(there));
                let numbers = 0..plain.len() as u32 + 3;
                let own = numbers.clone().map(|at| table.get(at).map(|value| **value));
                prop_assert!(own.eq(numbers.map(|at| plain.get(at as usize).copied().flatten())));
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
        let mut longer = table.clone();
        (10_000..13_000).for_each(|at| longer.push(at));
        longer.update(4_096, |value| *value = 7);
        assert!(table.diff(&longer).map(|(at, _)| at).eq([4_096].into_iter().chain(10_000..13_000)));
        assert!(
            (0..13_000)
                .all(|at| longer.get(at).is_some_and(|value| **value == if at == 4_096 { 7 } else { at }))
        );
        assert!(table.get(10_000).is_none() && longer.get(13_000).is_none());
        assert!(table.all_same(&table.clone(), |_, _| false), "nothing is compared");
    }
}
