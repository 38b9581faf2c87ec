//! Diagnostics as values: made by every stage, rendered by none of them.

use super::syntax::ast::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Note,
    Warning,
    Error,
}

/// A place in rule text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Bytes of the file.
    File(Span),
    /// Bytes from the start of the item.
    Item(Span),
}

/// One underlined place. `file` and `item` are filled by the caller who knows them; an item is named by its
/// number in the file's item list, so that a label survives when the text above it moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    pub place: Place,
    /// `None`: the item that the diagnostic belongs to. Otherwise another item, by kind and name.
    pub other: Option<(super::syntax::ast::Kind, crate::graph::Sym)>,
    pub text: String,
}

/// One complaint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// Stable code, e.g. `rule::unknown-name`.
    pub code: &'static str,
    pub level: Level,
    /// Lower case, no final stop, the user's words in backticks.
    pub message: String,
    /// The first label is the main place.
    pub labels: Vec<Label>,
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error about a place inside the current item.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        let label = Label { place: Place::Item(span), other: None, text: String::new() };
        Diagnostic { code, level: Level::Error, message: message.into(), labels: vec![label], help: None }
    }

    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { level: Level::Warning, ..Diagnostic::error(code, span, message) }
    }

    /// The text under the main place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.labels[0].text = text.into();
        self
    }

    /// A second place in the same item.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { place: Place::Item(span), other: None, text: text.into() });
        self
    }

    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }
}

/// Longer words have no nearest one: the search is quadratic in their length.
const LONGEST: usize = 80;

/// The nearest of `candidates` to `word`, if near enough to be a slip of the pen.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let length = word.chars().count();
    let limit = (length / 3).max(1);
    // In a word of two letters a slip leaves little to go by: `it` is not `If`.
    let alike =
        |d: usize, candidate: &str| length > 2 || d == 0 || candidate.chars().next() == word.chars().next();
    candidates
        .into_iter()
        // A character has at most four bytes.
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= 4 * limit)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(d, candidate)| *d <= limit && alike(*d, candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// A word of the language in backticks, behind its article.
pub fn with_article(word: &str) -> String {
    let article =
        if word.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    format!("{article} `{word}`")
}

/// The candidate that a word is but for a slip of the hand: one letter, two in a long word; none for a short one, which may be
/// what it says.
pub fn nearly<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let slips = match word.chars().count() {
        0..=3 => return None,
        4..=7 => 1,
        _ => 2,
    };
    if word.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= 4 * slips)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(d, _)| *d <= slips)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edits (insert, delete, replace, swap of neighbours) between two words, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vowel_takes_an() {
        assert_eq!(with_article("attribute"), "an `attribute`");
        assert_eq!(with_article("Output"), "an `Output`");
        assert_eq!(with_article("list<Int>"), "a `list<Int>`");
        assert_eq!(with_article("set"), "a `set`");
    }

    #[test]
    fn suggests_only_near_words() {
        let words = ["unbroken_entry", "unbroken_exit", "Data"];
        assert_eq!(did_you_mean("unbrokn_entry", words), Some("unbroken_entry"));
        assert_eq!(did_you_mean("Daat", words), Some("Data"));
        assert_eq!(did_you_mean("Relu", words), None);
        assert_eq!(nearly("unbrokn_enrty", words), Some("unbroken_entry"));
        assert_eq!(nearly("unbroken_try", words), Some("unbroken_entry"));
        assert_eq!(nearly("unbrokn_try", words), None);
        assert_eq!(nearly("Dat", words), None);
        assert_eq!(did_you_mean("it", ["If"]), None);
        assert_eq!(did_you_mean("if", ["If"]), Some("If"));
        assert_eq!(did_you_mean("W2", ["W1"]), Some("W1"));
        assert_eq!(did_you_mean(&"x".repeat(1 << 20), words), None);
    }
}
