//! What counts: levels from `anchorwatch.toml`, from comments, and by default.
//!
//! Promise: the nearest word counts (item, then file, then settings, then default); a word that names no lint, or allows
//! what is not there, is a finding itself.
//!
//! In a file, `//! lint: allow NAME because reason` is about the whole file, `// lint: allow NAME because reason` in an
//! item, or on the lines right above it, about that item. `warn` and `deny` stand in the place of `allow`.

use std::collections::BTreeMap;

use super::{Finding, Found, LINTS, Lint, Setting, Source, find, short};
use crate::lang::diagnostic::did_you_mean;
use crate::lang::syntax::ast::Span;
use crate::lang::syntax::{comments, scan};

/// Levels of lints, as `[lints]` of a settings file gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    levels: BTreeMap<&'static str, Setting>,
}

/// A mistake in a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    pub message: String,
    pub help: Option<String>,
    /// Bytes of the settings file.
    pub span: Span,
}

impl Settings {
    /// Reads the text of `anchorwatch.toml`. Tables other than `[lints]` are not looked at.
    ///
    /// # Errors
    /// All mistakes, if there is one: text that is no TOML, unknown names and levels.
    pub fn read(text: &str) -> Result<Settings, Vec<SettingsError>> {
        Settings::of(table(text)?.get_ref())
    }

    /// The settings in the tables of `anchorwatch.toml`.
    ///
    /// # Errors
    /// All mistakes, if there is one: unknown names and levels.
    pub fn of(table: &toml::de::DeTable<'_>) -> Result<Settings, Vec<SettingsError>> {
        let span = |range: std::ops::Range<usize>| scan::span(range.start, range.end);
        let mut settings = Settings::default();
        let mut errors = Vec::new();
        let Some(lints) = table.get("lints") else { return Ok(settings) };
        let Some(lints) = lints.get_ref().as_table() else {
            let message = "`lints` is a table of levels".to_owned();
            let help =
                Some("write `[lints]`, and below it lines as `missing-because = \"allow\"`".to_owned());
            return Err(vec![SettingsError { message, help, span: span(lints.span()) }]);
        };
        for (key, value) in lints {
            let name = key.get_ref().as_ref();
            let level = value.get_ref().as_str().and_then(Setting::of);
            match (find(name), level) {
                (Some(lint), Some(level)) => {
                    settings.levels.insert(lint.code, level);
                }
                (None, _) => {
                    errors.push(SettingsError {
                        message: unknown(name),
                        help: Some(suggest(name)),
                        span: span(key.span()),
                    });
                }
                (_, None) => {
                    let message = format!("the level of `{name}` is not known");
                    let help = Some("levels are \"allow\", \"warn\" and \"deny\"".to_owned());
                    errors.push(SettingsError { message, help, span: span(value.span()) });
                }
            }
        }
        if errors.is_empty() { Ok(settings) } else { Err(errors) }
    }

    pub fn level(&self, lint: &Lint) -> Setting {
        self.levels.get(lint.code).copied().unwrap_or(lint.level)
    }
}

/// The tables of a settings file.
///
/// # Errors
/// The text is no TOML.
pub fn table(text: &str) -> Result<toml::Spanned<toml::de::DeTable<'_>>, Vec<SettingsError>> {
    toml::de::DeTable::parse(text).map_err(|error| {
        let message = format!("the settings are not understood: {}", error.message());
        let place = error.span().unwrap_or(0..0);
        vec![SettingsError { message, help: None, span: scan::span(place.start, place.end) }]
    })
}

fn unknown(name: &str) -> String {
    format!("there is no lint `{name}`")
}

fn suggest(name: &str) -> String {
    let name = name.strip_prefix("lint::").unwrap_or(name);
    match did_you_mean(name, LINTS.iter().map(|lint| short(lint))) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`anchorwatch lint --list` lists them".to_owned(),
    }
}

/// One `lint:` comment.
struct Word {
    /// `None`: about the whole file.
    item: Option<usize>,
    /// What is wrong with it, or what it sets.
    said: Result<(&'static Lint, Setting), (String, String)>,
    has_reason: bool,
    span: Span,
    used: bool,
}

/// Findings that count, with those about the words themselves.
pub fn judge(
    found: Vec<Found>,
    sources: &[Source],
    items: &dyn Fn(usize) -> Vec<(u32, u32)>,
) -> Vec<Finding> {
    let mut words: Vec<Vec<Word>> = sources
        .iter()
        .enumerate()
        .map(|(file, source)| if source.wanted { words_of(source.text, &items(file)) } else { Vec::new() })
        .collect();
    let mut findings = Vec::new();
    for one in found {
        let setting = level_of(&one, &mut words[one.file], sources);
        if setting != Setting::Allow {
            findings.push(one.told(setting));
        }
    }
    for (file, source) in sources.iter().enumerate() {
        let about: Vec<Found> = words[file].iter().filter_map(|word| about(word, file)).collect();
        for one in about {
            let setting = level_of(&one, &mut words[file], &sources[..=file]);
            let setting = if setting == Setting::Allow { source.settings.level(one.lint) } else { setting };
            if setting != Setting::Allow {
                findings.push(one.told(setting));
            }
        }
    }
    findings
}

/// The level of the nearest word about a finding.
fn level_of(found: &Found, words: &mut [Word], sources: &[Source]) -> Setting {
    let mut nearest: Option<&mut Word> = None;
    for word in words.iter_mut() {
        let Ok((lint, _)) = &word.said else { continue };
        let covers = word.item.is_none_or(|item| item == found.item);
        if covers && lint.code == found.lint.code && (nearest.is_none() || word.item.is_some()) {
            nearest = Some(word);
        }
    }
    match nearest {
        Some(word) => {
            word.used = true;
            word.said.as_ref().map_or(found.lint.level, |(_, setting)| *setting)
        }
        None => sources[found.file].settings.level(found.lint),
    }
}

/// What is wrong with a word.
fn about(word: &Word, file: usize) -> Option<Found> {
    let found = |lint: &'static Lint, message: String, help: &str| Found {
        lint,
        file,
        item: word.item.unwrap_or(usize::MAX),
        message,
        labels: vec![(file, word.span, String::new())],
        help: Some(help.to_owned()),
        fix: None,
    };
    match &word.said {
        Err((message, help)) => Some(found(&super::UNKNOWN_LINT, message.clone(), help)),
        Ok((lint, Setting::Allow)) if !word.used => {
            let message = format!("`{}` finds nothing here", short(lint));
            Some(found(&super::UNUSED_ALLOW, message, "remove the comment"))
        }
        Ok((lint, Setting::Allow)) if !word.has_reason => {
            let message = format!("no reason is given why `{}` is allowed", short(lint));
            Some(found(
                &super::ALLOW_WITHOUT_REASON,
                message,
                "write `because` and the reason behind the name",
            ))
        }
        Ok(_) => None,
    }
}

/// What a comment about lints begins with.
const MARK: &str = "lint:";

/// The words of a file. A comment above an item belongs to it if no empty line and no other item stands between.
fn words_of(text: &str, items: &[(u32, u32)]) -> Vec<Word> {
    let mut words = Vec::new();
    // Most files have none.
    if memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
        return words;
    }
    for span in comments(text) {
        let comment = scan::slice(text, span).trim_end();
        let (is_file, rest) = match comment.strip_prefix("//!") {
            Some(rest) => (true, rest),
            None => (false, comment.trim_start_matches('/')),
        };
        let Some(rest) = rest.trim_start().strip_prefix(MARK) else { continue };
        let item = if is_file { None } else { item_of(text, span, items) };
        let (names, reason) = rest.split_once(" because ").unwrap_or((rest, ""));
        let (verb, names) = names.trim().split_once(' ').unwrap_or((names.trim(), ""));
        let word = |said| Word { item, said, has_reason: !reason.trim().is_empty(), span, used: false };
        let Some(setting) = Setting::of(verb) else {
            let message = format!("`{verb}` is no level of a lint");
            words.push(word(Err((
                message,
                "write `allow`, `warn` or `deny`, and the name of the lint".to_owned(),
            ))));
            continue;
        };
        if !is_file && item.is_none() {
            let message = "this stands above no item".to_owned();
            let help = "move it to the line above an item, or begin it with `//!` if it is about the file";
            words.push(word(Err((message, help.to_owned()))));
            continue;
        }
        for name in names.split(',').map(str::trim) {
            let said = find(name).map(|lint| (lint, setting)).ok_or_else(|| (unknown(name), suggest(name)));
            words.push(word(said));
        }
    }
    words
}

fn item_of(text: &str, comment: Span, items: &[(u32, u32)]) -> Option<usize> {
    let at = items.partition_point(|(_, end)| *end <= comment.start);
    let (start, _) = *items.get(at)?;
    let between = text.get(comment.end as usize..start.max(comment.end) as usize)?;
    let lines: Vec<&str> = between.split('\n').skip(1).collect();
    let (_, above) = lines.split_last().unwrap_or((&"", &[]));
    above.iter().all(|line| line.trim_start().starts_with("//")).then_some(at)
}
