//! Text met before. A dump repeats itself: the same descriptions and attributes stand behind each other
//! thousands of times. A block that reads byte for byte like an earlier one has the earlier one's value, which
//! saves both the reading and a second copy.
//!
//! The guess what comes next is what came next last time; a wrong guess costs one comparison.

use rustc_hash::FxHashMap;

/// Blocks longer than this are not worth keeping.
const LONGEST: usize = 2048;
/// A file whose blocks are all different must not fill memory with them.
const MOST: usize = 1 << 17;

/// Values of blocks of one kind, by text.
pub struct Memo<'a, T> {
    entries: Vec<Entry<'a, T>>,
    by_text: FxHashMap<&'a [u8], u32>,
    last: usize,
}

struct Entry<'a, T> {
    text: &'a [u8],
    value: T,
    next: u32,
}

impl<T> Default for Memo<'_, T> {
    fn default() -> Self {
        Memo { entries: Vec::new(), by_text: FxHashMap::default(), last: 0 }
    }
}

impl<'a, T: Clone> Memo<'a, T> {
    /// The value of the block that `rest` starts with, its number and its length, if the guess is right.
    pub fn guess(&mut self, rest: &[u8]) -> Option<(T, u32, usize)> {
        let next = self.entries.get(self.last)?.next;
        let entry = self.entries.get(next as usize)?;
        if !rest.starts_with(entry.text) {
            return None;
        }
        self.last = next as usize;
        Some((entry.value.clone(), next, entry.text.len()))
    }

    /// Notes a block that was read: the shared value, and its number unless the block is not kept.
    pub fn learn(&mut self, text: &'a [u8], value: T) -> (T, Option<u32>) {
        if text.len() > LONGEST {
            return (value, None);
        }
        let number = match self.by_text.get(text) {
            Some(number) => *number,
            None if self.entries.len() >= MOST => return (value, None),
            None => {
                let number = self.entries.len() as u32;
                self.entries.push(Entry { text, value, next: 0 });
                self.by_text.insert(text, number);
                number
            }
        };
        if let Some(last) = self.entries.get_mut(self.last) {
            last.next = number;
        }
        self.last = number as usize;
        (self.entries[self.last].value.clone(), Some(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_what_followed_last_time() {
        let mut memo = Memo::default();
        let text = b"{a}{b}{a}{b}{c}";
        for (at, value) in [(0, 'a'), (3, 'b'), (6, 'a'), (9, 'b')] {
            memo.learn(&text[at..at + 3], value);
        }
        // After `{b}` came `{a}` last time, so `{c}` is not guessed.
        assert_eq!(memo.guess(&text[12..]), None);
        assert_eq!(memo.guess(&text[6..]), Some(('a', 0, 3)));
        assert_eq!(memo.guess(&text[9..]), Some(('b', 1, 3)));
    }

    #[test]
    fn the_first_value_of_a_text_is_shared() {
        let mut memo = Memo::default();
        let first = memo.learn(b"{x}", std::sync::Arc::new(1)).0;
        let second = memo.learn(b"{x}", std::sync::Arc::new(1)).0;
        assert!(std::sync::Arc::ptr_eq(&first, &second));
    }
}
