//! Edges as text: the entries of `OpDef.input` (`graph_formats.md` 3.1).

use std::borrow::Cow;

/// Newer text dumps: position of each `input` entry among its producer's consumers (3.6).
pub const PEER_INDEX: &str = "_src_out_peer_index_for_ge_txt_load";

/// One entry, with the producer as a position in its graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry {
    /// A slot without producer.
    Empty,
    Data {
        from: usize,
        index: u32,
    },
    /// Any negative index.
    Control {
        from: usize,
    },
}

impl Entry {
    /// Reads an entry; the error says what is wrong with it.
    pub fn parse(text: &str, find: impl Fn(&str) -> Option<usize>) -> Result<Entry, String> {
        if text.is_empty() {
            return Ok(Entry::Empty);
        }
        let split = text.rsplit_once(':').and_then(|(name, index)| Some((name, index.parse::<i64>().ok()?)));
        let Some((name, index)) = split else {
            return Err(format!("`{text}` is not of the form `node:index`"));
        };
        let Some(from) = find(name) else {
            return Err(format!("`{text}` names node `{name}`, which this graph does not hold"));
        };
        if index < 0 {
            return Ok(Entry::Control { from });
        }
        // One less than the largest number, so that counts fit as well.
        match u32::try_from(index) {
            Ok(index) if index < u32::MAX => Ok(Entry::Data { from, index }),
            _ => Err(format!("`{text}` names an output that no node can have")),
        }
    }
}

/// The text of a data edge.
pub fn data_text(from: &str, index: u32) -> String {
    format!("{from}:{index}")
}

/// The text of a control edge.
pub fn control_text(from: &str) -> String {
    format!("{from}:-1")
}

/// The `input` list of a node as GE writes it: data slots, then control edges.
pub fn canonical_input<'a>(
    data: impl Iterator<Item = Option<(&'a str, u32)>>,
    controls: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = Cow<'static, str>> {
    let data = data.map(|slot| slot.map_or(Cow::Borrowed(""), |(from, index)| data_text(from, index).into()));
    data.chain(controls.map(|from| control_text(from).into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Entry, String> {
        Entry::parse(text, |name| (name == "a:b").then_some(7))
    }

    #[test]
    fn names_may_hold_colons() {
        assert_eq!(parse("a:b:3"), Ok(Entry::Data { from: 7, index: 3 }));
        assert_eq!(parse("a:b:-1"), Ok(Entry::Control { from: 7 }));
        assert_eq!(parse(""), Ok(Entry::Empty));
    }

    #[test]
    fn what_is_no_edge_is_told() {
        assert!(parse("a").unwrap_err().contains("node:index"));
        assert!(parse("c:0").unwrap_err().contains("`c`"));
        assert!(parse("a:b:4294967295").unwrap_err().contains("no node can have"));
    }
}
