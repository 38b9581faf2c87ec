//! Lints: what is allowed in rules and still most likely a slip.
//!
//! Promise: rules that the checker refuses may be linted, each item that parses; a finding has its place in a file, and a
//! [`Fix`] keeps what the rules mean. Nothing here reads a file: who calls brings texts and [`Settings`].
//!
//! The road: `names` knows what is declared, `conditions` and `entries` look at items, `allow` says what counts.

mod allow;
mod conditions;
mod entries;
mod logic;
mod names;

use std::cell::LazyCell;
use std::sync::Arc;

use pest::Parser;
use rustc_hash::FxHashMap;

pub use allow::{Settings, SettingsError, table};

use self::names::Names;
use super::diagnostic::{Diagnostic, Label, Level, Place};
use super::syntax::ast::{Item, Span};
use super::syntax::build::{Grammar, Rule};
use super::syntax::{ParsedFile, parse_file_with, parse_item};

/// One lint.
#[derive(Debug, PartialEq, Eq)]
pub struct Lint {
    /// With its `lint::`.
    pub code: &'static str,
    pub level: Setting,
    pub doc: &'static str,
}

/// What becomes of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    Allow,
    Warn,
    Deny,
}

impl Setting {
    pub fn word(self) -> &'static str {
        match self {
            Setting::Allow => "allow",
            Setting::Warn => "warn",
            Setting::Deny => "deny",
        }
    }

    fn of(word: &str) -> Option<Setting> {
        [Setting::Allow, Setting::Warn, Setting::Deny].into_iter().find(|setting| setting.word() == word)
    }
}

macro_rules! lints {
    ($($id:ident = $code:literal, $level:ident, $doc:literal;)*) => {
        $(#[doc = $doc] pub static $id: Lint = Lint { code: $code, level: Setting::$level, doc: $doc };)*

        /// Every lint, by name.
        pub static LINTS: &[&Lint] = &[$(&$id,)*];
    };
}

lints! {
    ALLOW_WITHOUT_REASON = "lint::allow-without-reason", Warn, "a lint is allowed in a file or an item and no reason is given";
    CONSTANT_CONDITION = "lint::constant-condition", Deny, "a condition that always holds, or never";
    DEPRECATED_NAME = "lint::deprecated-name", Warn, "an older spelling of an attribute, in a rule or in the graph of a test";
    MISSING_BECAUSE = "lint::missing-because", Warn, "a checker, an `isolate` or an `always` without a reason";
    MISSPELT_ATTRIBUTE = "lint::misspelt-attribute", Warn, "an attribute in the graph of a test that is not declared, and nearly has the name of one that is";
    MISTYPED_ATTRIBUTE = "lint::mistyped-attribute", Warn, "an attribute in the graph of a test has a value of another kind than is declared";
    REDUNDANT_CONDITION = "lint::redundant-condition", Warn, "a part of a condition that another part implies";
    REPEATED_CASE = "lint::repeated-case", Deny, "a case, branch or step that never comes to pass, since an earlier one covers it";
    REPEATED_STEP = "lint::repeated-step", Warn, "a `require` that holds whenever the ones before it do";
    SIMILAR_CHECKERS = "lint::similar-checkers", Warn, "two checkers of the same marks that differ in little";
    UNKNOWN_LINT = "lint::unknown-lint", Deny, "a setting of a lint that does not exist";
    UNTESTED = "lint::untested", Allow, "a pass, chain or lint that no `test` of these files runs";
    UNUSED_ALLOW = "lint::unused-allow", Warn, "a lint is allowed where it finds nothing";
    UNUSED_VARIANT = "lint::unused-variant", Warn, "a variant of an enum that nothing names";
}

/// The lint of a name, with or without `lint::`.
pub fn find(name: &str) -> Option<&'static Lint> {
    let name = name.strip_prefix("lint::").unwrap_or(name);
    LINTS.iter().copied().find(|lint| short(lint) == name)
}

/// The name of a lint as settings write it.
pub fn short(lint: &Lint) -> &'static str {
    lint.code.strip_prefix("lint::").unwrap_or(lint.code)
}

/// A file to be linted, or one that is only there for what it declares.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    pub text: &'a str,
    pub settings: &'a Settings,
    /// Whether findings in it are wanted.
    pub wanted: bool,
}

/// A text to put in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Bytes of the file.
    pub span: Span,
    pub text: String,
}

/// Edits that mend a finding and change nothing that the rules mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub title: String,
    pub edits: Vec<Edit>,
}

/// One finding; the places of the diagnostic are [`Place::File`].
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Number of the file among the sources.
    pub file: usize,
    pub diagnostic: Diagnostic,
    /// The file of each label.
    pub files: Vec<usize>,
    pub fix: Option<Fix>,
}

/// A finding before anybody has said whether it counts.
#[derive(Clone)]
struct Found {
    lint: &'static Lint,
    file: usize,
    /// Number of the item in its file.
    item: usize,
    message: String,
    labels: Vec<(usize, Span, String)>,
    help: Option<String>,
    fix: Option<Fix>,
}

/// One item of a file.
struct LintItem<'a> {
    file: usize,
    number: usize,
    start: u32,
    text: &'a str,
    item: &'a Item,
}

impl LintItem<'_> {
    /// A place of the item in its file.
    fn place(&self, span: Span) -> Span {
        Span { start: span.start + self.start, end: span.end + self.start }
    }

    fn found(&self, lint: &'static Lint, span: Span, message: impl Into<String>) -> Found {
        let labels = vec![(self.file, self.place(span), String::new())];
        let message = message.into();
        Found { lint, file: self.file, item: self.number, message, labels, help: None, fix: None }
    }
}

impl Found {
    /// The same in an item that stands elsewhere; this one is as if its item were a file of its own, the first.
    fn moved(mut self, item: &LintItem) -> Found {
        (self.file, self.item) = (item.file, item.number);
        for (file, span, _) in &mut self.labels {
            (*file, *span) = (item.file, item.place(*span));
        }
        for edit in self.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.span = item.place(edit.span);
        }
        self
    }

    fn label(mut self, text: impl Into<String>) -> Found {
        if let Some(main) = self.labels.first_mut() {
            main.2 = text.into();
        }
        self
    }

    fn also(mut self, file: usize, span: Span, text: impl Into<String>) -> Found {
        self.labels.push((file, span, text.into()));
        self
    }

    fn help(mut self, text: impl Into<String>) -> Found {
        self.help = Some(text.into());
        self
    }

    fn fix(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Found {
        self.fix = Some(Fix { title: title.into(), edits });
        self
    }
}

/// What is known of the files and items of the last call, by their texts, for who lints again and again: of what stays nothing is
/// looked at again but what only all items together show.
#[derive(Default)]
pub struct Memory {
    files: FxHashMap<String, Arc<ParsedFile>>,
    /// What items by themselves show, with these names.
    looks: FxHashMap<String, Vec<Found>>,
    names: Names,
}

/// All findings, by file and place.
pub fn lint(sources: &[Source]) -> Vec<Finding> {
    lint_again(sources, &mut Memory::default())
}

/// [`lint`] with a memory of the last call.
pub fn lint_again(sources: &[Source], memory: &mut Memory) -> Vec<Finding> {
    let known = std::mem::take(&mut memory.files);
    let parsed = LazyCell::new(|| {
        let items = known.values().flat_map(|file| &file.items);
        items.map(|item| (item.source.text.as_str(), item)).collect::<FxHashMap<_, _>>()
    });
    let parse = |text: &str| match parsed.get(text) {
        Some(item) => (item.item.clone(), item.diagnostics.clone()),
        None => parse_item(text),
    };
    let files: Vec<Arc<ParsedFile>> = sources
        .iter()
        .map(|source| {
            let file = known.get(source.text).cloned();
            let file = file.unwrap_or_else(|| Arc::new(parse_file_with(source.text, parse)));
            memory.files.insert(source.text.to_owned(), file.clone());
            file
        })
        .collect();
    let mut items: Vec<LintItem> = Vec::new();
    for (file, (source, parsed)) in sources.iter().zip(&files).enumerate() {
        for (number, one) in parsed.items.iter().enumerate() {
            let text = source.text.get(one.source.start as usize..one.source.end as usize).unwrap_or("");
            if let Some(item) = &one.item {
                items.push(LintItem { file, number, start: one.source.start, text, item });
            }
        }
    }
    let names = Names::of(items.iter().map(|item| item.item));
    let looks = std::mem::take(&mut memory.looks);
    let stand = if names == memory.names { looks } else { FxHashMap::default() };
    memory.names = names;
    let mut found = Vec::new();
    for item in items.iter().filter(|item| sources[item.file].wanted) {
        let shown = match stand.get(item.text) {
            Some(shown) => shown.clone(),
            None => look(item, &mut memory.names),
        };
        found.extend(shown.iter().cloned().map(|one| one.moved(item)));
        memory.looks.insert(item.text.to_owned(), shown);
    }
    entries::look_at_all(&items, &mut found);
    found.retain(|one| sources[one.file].wanted);
    let starts =
        |file: usize| files[file].items.iter().map(|item| (item.source.start, item.source.end)).collect();
    let mut findings = allow::judge(found, sources, &starts);
    findings.sort_by_key(|one| {
        let place = one.diagnostic.labels.first().map(|label| label.place);
        (one.file, place.map_or(0, start_of), one.diagnostic.code)
    });
    // A part of a chain of branches is a chain itself.
    let place = |one: &Finding| one.diagnostic.labels.first().map(|label| label.place);
    findings
        .dedup_by(|a, b| a.diagnostic.code == b.diagnostic.code && a.file == b.file && place(a) == place(b));
    findings
}

/// What one item shows, as if it were a file of its own.
fn look(item: &LintItem, names: &mut Names) -> Vec<Found> {
    let mut found = Vec::new();
    let alone = LintItem { file: 0, number: 0, start: 0, text: item.text, item: item.item };
    let tree = Grammar::parse(Rule::item, item.text).ok().and_then(|mut trees| trees.next());
    if let Some(tree) = tree {
        names.enter(&tree, alone.item);
        conditions::look(&alone, &tree, names, &mut found);
        entries::look(&alone, &tree, names, &mut found);
    }
    found
}

fn start_of(place: Place) -> u32 {
    let (Place::File(span) | Place::Item(span)) = place;
    span.start
}

impl Found {
    fn told(self, setting: Setting) -> Finding {
        let level = if setting == Setting::Deny { Level::Error } else { Level::Warning };
        let (files, labels) = self
            .labels
            .into_iter()
            .map(|(file, span, text)| (file, Label { place: Place::File(span), other: None, text }))
            .unzip();
        let help =
            self.help.or_else(|| self.fix.as_ref().map(|fix| format!("{}: `--fix` does it", fix.title)));
        let diagnostic = Diagnostic { code: self.lint.code, level, message: self.message, labels, help };
        Finding { file: self.file, diagnostic, files, fix: self.fix }
    }
}

/// The text with the edits made; of edits that touch one another only the first is made. Gives their number too.
pub fn apply<'f>(text: &str, fixes: impl IntoIterator<Item = &'f Fix>) -> (String, usize) {
    let mut edits: Vec<(usize, &Edit)> = fixes
        .into_iter()
        .enumerate()
        .flat_map(|(n, fix)| fix.edits.iter().map(move |edit| (n, edit)))
        .collect();
    edits.sort_by_key(|(_, edit)| (edit.span.start, edit.span.end));
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    let mut made = 0;
    for (_, edit) in edits {
        let (from, to) = (edit.span.start as usize, edit.span.end as usize);
        if from < end || to < from {
            continue;
        }
        let Some(between) = text.get(end..from).filter(|_| text.is_char_boundary(to)) else { continue };
        out.push_str(between);
        out.push_str(&edit.text);
        end = to;
        made += 1;
    }
    out.push_str(text.get(end..).unwrap_or(""));
    (out, made)
}
