//! The text of rule entries, by kind and name.
//!
//! Promise: looking up an entry costs no scan, and its lines keep their numbers in the rule file.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Source;
use crate::engine::outcome::RuleRef;
use crate::lang::syntax::ast::Kind;

/// One entry's text.
#[derive(Clone, Debug)]
pub struct RuleText {
    /// As a person names the file.
    pub path: String,
    /// Line of the entry in its file, documentation left out.
    pub line: u32,
    pub doc: Option<String>,
    pub source: Arc<Source>,
    /// Bytes of documentation before it.
    above: usize,
}

/// All entries of a rule set.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    entries: FxHashMap<RuleRef, RuleText>,
}

impl RuleText {
    /// Where bytes of the whole text, documentation included, are in `source`.
    pub fn span(&self, whole: &Range<usize>) -> Option<Range<usize>> {
        Some(whole.start.checked_sub(self.above)?..whole.end.checked_sub(self.above)?)
    }
}

impl Rules {
    /// Takes an entry whose keyword stands on `line` of `path`; its text may have documentation before that. Of two
    /// with one name the last stands.
    pub fn add(&mut self, rule: RuleRef, path: &str, line: u32, text: &str, doc: Option<&str>) {
        let (above, text) = without_docs(text);
        let source = Arc::new(Source::part(path, text, line as usize));
        let (path, doc) = (path.to_owned(), doc.map(str::to_owned));
        self.entries.insert(rule, RuleText { path, line, doc, source, above });
    }

    pub fn get(&self, rule: &RuleRef) -> Option<&RuleText> {
        self.entries.get(rule)
    }

    /// `kind NAME (path:line)`.
    pub fn describe(&self, rule: &RuleRef) -> String {
        let name = rule_title(rule);
        match self.get(rule) {
            Some(text) => format!("{name} ({}:{})", text.path, text.line),
            None => name,
        }
    }
}

/// `checker NAME`; an entry whose title is its own words says them.
pub fn rule_title(rule: &RuleRef) -> String {
    format!("{} {}", kind_word(rule.kind), rule.name.as_str())
}

/// Every kind of entry with the word that declares it, in the order of the language's reference.
pub const KINDS: [(Kind, &str); 25] = [
    (Kind::Set, "set"),
    (Kind::Table, "table"),
    (Kind::Attr, "attr"),
    (Kind::Note, "note"),
    (Kind::Option, "option"),
    (Kind::Enum, "enum"),
    (Kind::Fn, "fn"),
    (Kind::Walk, "walk"),
    (Kind::Symbols, "symbols"),
    (Kind::Attribute, "attribute"),
    (Kind::Never, "never"),
    (Kind::Always, "always"),
    (Kind::DefaultAlways, "default always"),
    (Kind::Skip, "skip"),
    (Kind::Checker, "checker"),
    (Kind::Matrix, "matrix"),
    (Kind::Chain, "chain"),
    (Kind::Steps, "steps"),
    (Kind::Action, "action"),
    (Kind::Pass, "pass"),
    (Kind::Lint, "lint"),
    (Kind::Order, "order"),
    (Kind::Pipeline, "pipeline"),
    (Kind::Measure, "measure"),
    (Kind::Test, "test"),
];

/// The word that declares an entry of this kind.
pub fn kind_word(kind: Kind) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("rule", |(_, word)| word)
}

/// The entry without the `///` lines before it.
fn without_docs(text: &str) -> (usize, &str) {
    let mut rest = text;
    while rest.trim_start().starts_with("///") {
        let Some((_, tail)) = rest.split_once('\n') else { break };
        rest = tail;
    }
    (text.len() - rest.len(), rest.trim_end())
}

/// Where `word` stands alone in code, from byte `from` on: not part of a longer name, not in a comment.
pub fn find_word(text: &str, word: &str, from: usize) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = from;
    while !word.is_empty() {
        let start = at + text.get(at..)?.find(word)?;
        let end = start + word.len();
        let alone = !text[..start].ends_with(is_part) && !text[end..].starts_with(is_part);
        let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        if alone && !text[line..start].contains("//") {
            return Some(start..end);
        }
        at = end;
    }
    None
}

/// The first text behind a word of an entry, such as `because`; what it shows of a graph is left out.
pub fn clause(entry: &str, word: &str) -> Option<String> {
    let at = find_word(entry, word, 0)?.end;
    let quoted = entry[at..].trim_start().strip_prefix('"')?;
    let mut text = String::new();
    let mut chars = quoted.chars();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => text.push(chars.next()?),
            '{' => {
                chars.find(|c| *c == '}')?;
                text.push('…');
            }
            c => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_word() {
        for (kind, word) in KINDS {
            assert_eq!(kind_word(kind), word);
        }
        assert_eq!(kind_word(Kind::Test), "test");
    }

    #[test]
    fn finds_whole_words_in_code() {
        let text = "// A_B first\nA_BC with A_B, A_B";
        assert_eq!(find_word(text, "A_B", 0), Some(23..26));
        assert_eq!(find_word(text, "A_B", 26), Some(28..31));
        assert_eq!(find_word(text, "A_B", 31), None);
        assert_eq!(find_word(text, "", 0), None);
    }

    #[test]
    fn documentation_is_left_out() {
        assert_eq!(without_docs("/// R01\n/// more\nchecker a\n  for b\n"), (17, "checker a\n  for b"));
        assert_eq!(without_docs("checker a"), (0, "checker a"));
    }

    #[test]
    fn a_clause_of_an_entry_is_its_first() {
        assert_eq!(
            clause("checker a because \"so \\\"it\\\" is\" because \"b\"", "because"),
            Some("so \"it\" is".into())
        );
        assert_eq!(clause("checker a // because \"no\"\n", "because"), None);
        assert_eq!(clause("checker a because \"open", "because"), None);
        assert_eq!(clause("attribute A doc \"{n.name} is {n.type}\"", "doc"), Some("… is …".into()));
    }
}
