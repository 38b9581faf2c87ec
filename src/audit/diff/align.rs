//! Two lists, laid beside each other.
//!
//! Promise: every element of both is in exactly one [`Aligned`]; as few as possible count as moved. Elements are told apart by
//! their keys; of equal keys the first of one list is that of the other.

use rustc_hash::FxHashMap;

/// How elements of an old and a new list belong together, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aligned {
    Same(usize, usize),
    /// Before another one than it was.
    Moved(usize, usize),
    /// Stands where something else stood.
    Instead(usize, usize),
    Dropped(usize),
    Added(usize),
}

/// Aligns two lists of keys. `alike` says whether two elements without a partner may be one that was changed.
pub fn align(old: &[String], new: &[String], alike: impl Fn(usize, usize) -> bool) -> Vec<Aligned> {
    let mut places: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, key) in old.iter().enumerate().rev() {
        places.entry(key).or_default().push(at);
    }
    let partner: Vec<Option<usize>> =
        new.iter().map(|key| places.get_mut(key.as_str()).and_then(Vec::pop)).collect();
    let pairs: Vec<(usize, usize)> =
        partner.iter().enumerate().filter_map(|(n, o)| Some(((*o)?, n))).collect();
    let stable = longest_rising(&pairs);
    // Between which elements that kept their order something stands.
    let gap_of_old = |at: usize| stable.iter().filter(|(old, _)| *old < at).count();
    let gap_of_new = |at: usize| stable.iter().filter(|(_, new)| *new < at).count();
    let mut left: Vec<usize> = (0..old.len()).filter(|at| !partner.contains(&Some(*at))).collect();
    let mut aligned = Vec::new();
    for (at, partner) in partner.iter().enumerate() {
        match partner {
            Some(old) if stable.contains(&(*old, at)) => aligned.push(Aligned::Same(*old, at)),
            Some(old) => aligned.push(Aligned::Moved(*old, at)),
            None => {
                let gap = gap_of_new(at);
                let found = left.iter().position(|&old| gap_of_old(old) == gap && alike(old, at));
                aligned.push(match found {
                    Some(found) => Aligned::Instead(left.remove(found), at),
                    None => Aligned::Added(at),
                });
            }
        }
    }
    aligned.extend(left.into_iter().map(Aligned::Dropped));
    aligned
}

/// The longest part of `pairs` (rising in the second) that also rises in the first.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Length of the longest that ends here, and what comes before.
    let mut best: Vec<(usize, Option<usize>)> = Vec::with_capacity(pairs.len());
    for (at, (old, _)) in pairs.iter().enumerate() {
        let before =
            (0..at).filter(|&other| pairs[other].0 < *old).max_by_key(|&other| (best[other].0, other));
        best.push((before.map_or(1, |before| best[before].0 + 1), before));
    }
    let mut at = (0..pairs.len()).max_by_key(|&at| (best[at].0, at));
    let mut rising = Vec::new();
    while let Some(here) = at {
        rising.push(pairs[here]);
        at = best[here].1;
    }
    rising.reverse();
    rising
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(old: &str, new: &str) -> Vec<Aligned> {
        let keys = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let is_letter = |list: &str, at: usize| list.chars().nth(at).is_some_and(char::is_alphabetic);
        align(&keys(old), &keys(new), |a, b| is_letter(old, a) == is_letter(new, b))
    }

    #[test]
    fn one_that_moved_is_one_move() {
        let moved =
            |old: &str, new: &str| of(old, new).iter().filter(|a| matches!(a, Aligned::Moved(..))).count();
        assert_eq!(moved("abcd", "bcda"), 1);
        assert_eq!(moved("abcd", "dabc"), 1);
        assert_eq!(moved("abcd", "badc"), 2);
        assert_eq!(moved("abcd", "abcd"), 0);
    }

    #[test]
    fn what_stands_in_the_place_of_another_is_a_change_if_it_is_alike() {
        assert!(of("abc", "axc").contains(&Aligned::Instead(1, 1)));
        let other = of("abc", "a1c");
        assert!(other.contains(&Aligned::Added(1)) && other.contains(&Aligned::Dropped(1)));
        let elsewhere = of("abc", "acx");
        assert!(elsewhere.contains(&Aligned::Added(2)) && elsewhere.contains(&Aligned::Dropped(1)));
    }

    #[test]
    fn equal_elements_are_told_apart_by_their_number() {
        assert_eq!(of("aa", "a"), [Aligned::Same(0, 0), Aligned::Dropped(1)]);
    }
}
