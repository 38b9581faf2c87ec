//! Interned strings: operator types, attribute keys, port names, formats.
//!
//! A [`Sym`] is a small id, so rules compare names as numbers. Interned text lives as long as the process;
//! node names, which are many and rarely compared, are not interned by the readers.

use std::fmt;
use std::sync::{LazyLock, OnceLock, RwLock};

use rustc_hash::FxHashMap;

/// An interned string. Equality is equality of text; there is no `Ord`, since the order of ids is the
/// order of first use, which must never be seen. Sort by [`Sym::as_str`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sym(u32);

const CHUNK_BITS: u32 = 12;
const CHUNKS: usize = 1 << (32 - CHUNK_BITS as usize - 8);

type Chunk = Box<[OnceLock<&'static str>]>;

/// Texts by id, in chunks that never move, so reading takes no lock.
static TEXTS: [OnceLock<Chunk>; CHUNKS] = [const { OnceLock::new() }; CHUNKS];
static IDS: LazyLock<RwLock<FxHashMap<&'static str, u32>>> = LazyLock::new(Default::default);

impl Sym {
    /// Interns `text`.
    pub fn new(text: &str) -> Sym {
        if let Some(sym) = Sym::lookup(text) {
            return sym;
        }
        let mut ids = IDS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&id) = ids.get(text) {
            return Sym(id);
        }
        let id = u32::try_from(ids.len()).expect("fewer than 2^32 different names");
        let leaked: &'static str = Box::leak(text.to_owned().into_boxed_str());
        let chunk = TEXTS[(id >> CHUNK_BITS) as usize]
            .get_or_init(|| (0..1usize << CHUNK_BITS).map(|_| OnceLock::new()).collect());
        let _ = chunk[id as usize & ((1 << CHUNK_BITS) - 1)].set(leaked);
        ids.insert(leaked, id);
        Sym(id)
    }

    /// The symbol of `text`, if something has interned it. A name nobody interned equals no symbol.
    pub fn lookup(text: &str) -> Option<Sym> {
        let ids = IDS.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        ids.get(text).map(|&id| Sym(id))
    }

    /// The text.
    pub fn as_str(self) -> &'static str {
        TEXTS[(self.0 >> CHUNK_BITS) as usize]
            .get()
            .and_then(|chunk| chunk[self.0 as usize & ((1 << CHUNK_BITS) - 1)].get())
            .expect("a symbol is only made with its text")
    }

    /// A dense number, for tables indexed by symbol. Its value depends on what was interned before.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    pub fn is_empty(self) -> bool {
        self.as_str().is_empty()
    }
}

impl Default for Sym {
    fn default() -> Self {
        Sym::new("")
    }
}

impl From<&str> for Sym {
    fn from(text: &str) -> Self {
        Sym::new(text)
    }
}

impl PartialEq<str> for Sym {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Sym {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_the_same_symbol() {
        assert_eq!(Sym::new("abc"), Sym::new("abc"));
        assert_ne!(Sym::new("abc"), Sym::new("abd"));
        assert_eq!(Sym::new("abc").as_str(), "abc");
        assert!(Sym::lookup("nobody ever interned this").is_none());
    }

    #[test]
    fn more_names_than_a_chunk_holds() {
        let syms: Vec<Sym> = (0..10_000).map(|i| Sym::new(&format!("chunk-{i}"))).collect();
        assert!(syms.iter().enumerate().all(|(i, s)| s.as_str() == format!("chunk-{i}")));
    }
}
