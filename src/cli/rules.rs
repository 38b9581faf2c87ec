//! Loading rules, giving them options, and showing their entries.
//!
//! Promise: a run never starts on rules with errors, or with an option or pass that the rules do not declare.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::args::{OutputFormat, RuleArgs, RunArgs};
use super::desk::{Desk, Done, Stop};
use super::input::{read_file, suggestion, unreadable};
use super::session::{
    Connect, Engine, EntryInfo, KERNEL_LIBS, OP_INFO, PREPARE, RuleDiagnostic, RuleSources,
};
use super::{FINE, UNUSABLE, workspace};
use crate::engine::outcome::RuleRef;
use crate::format::is_graph;
use crate::lang::Level;
use crate::lang::syntax::LONGEST_FILE;
use crate::lang::syntax::ast::Kind;
use crate::lang::syntax::print::keyword;
use crate::report::human::{Paint, rule_diagnostic};
use crate::report::rules::{KINDS, clause, find_word, kind_word};
use crate::report::{Complaint, Rules, Source};
use crate::workspace::{EXTENSION, rule_files};

/// Errors, and warnings, of rules that are shown: one slip can bring as many as there are items.
const MOST_TOLD: usize = 100;

/// The rule files that the arguments name.
pub fn sources(args: &RuleArgs) -> Result<RuleSources, Complaint> {
    let mut sources = match &args.rules {
        None => RuleSources::shipped(),
        Some(path) => RuleSources { files: read(path, false)? },
    };
    for path in &args.overlay {
        sources.files.extend(read(path, true)?);
    }
    Ok(sources)
}

/// A rule file, or those in a folder and below it by name.
pub fn read(path: &Path, overlay: bool) -> Result<Vec<(String, String, bool)>, Complaint> {
    if super::input::is_dash(path) {
        return Err(Complaint::error("io::read", "rules cannot be read from standard input")
            .help("give a file or a directory; `-` stands for a graph"));
    }
    let file = |path: &PathBuf| {
        let shown = path.display().to_string();
        let bytes = read_file(path, LONGEST_FILE as u64).map_err(|error| unreadable(&shown, &error))?;
        let text = text_of(bytes, &shown)?;
        Ok((shown, text, overlay))
    };
    files(path)?.iter().map(file).collect()
}

/// The rule files that a path stands for; a folder has some.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>, Complaint> {
    let mut wrong = None;
    let files = rule_files(path, &mut |folder, error| {
        wrong.get_or_insert_with(|| unreadable(&folder.display().to_string(), &error));
    });
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    if files.is_empty() {
        let message = format!("the directory `{}` has no rule files", path.display());
        return Err(Complaint::error("rules::none", message)
            .help(format!("rule files have names that end in `.{EXTENSION}`")));
    }
    Ok(files)
}

/// The bytes of a rule file as text.
pub(super) fn text_of(bytes: Vec<u8>, shown: &str) -> Result<String, Complaint> {
    // Its lines would be as many mistakes.
    if is_graph(&bytes, shown) {
        let complaint = Complaint::error("rules::graph", "rules are expected, and this is a graph");
        let help = format!("rules stand in files named `.{EXTENSION}`; graphs are checked by `check`");
        return Err(complaint.at(shown).help(help));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Complaint::error("rules::not-text", "the rule file is not UTF-8 text")
            .at(format!("{shown}, byte {at}"))
    })
}

/// Rules that have no errors, with the texts that reports are cut from.
pub struct Loaded {
    pub sources: RuleSources,
    pub engine: Box<dyn Engine>,
    pub entries: Vec<EntryInfo>,
    pub texts: Rules,
    files: FxHashMap<String, Arc<Source>>,
}

impl Loaded {
    /// Takes rules; their warnings are reported, their errors end the command.
    pub fn new(sources: RuleSources, desk: &mut Desk<'_, '_>, connect: &Connect) -> Result<Loaded, Stop> {
        let loaded = Loaded::unchecked(sources, connect);
        loaded.report(&loaded.engine.diagnostics(), desk)?;
        Ok(loaded)
    }

    /// Takes rules of which only errors, which end the command, are news.
    pub fn silent(sources: RuleSources, desk: &mut Desk<'_, '_>, connect: &Connect) -> Result<Loaded, Stop> {
        let loaded = Loaded::unchecked(sources, connect);
        let mut complaints = loaded.engine.diagnostics();
        complaints.retain(|found| found.diagnostic.level == Level::Error);
        loaded.report(&complaints, desk)?;
        Ok(loaded)
    }

    /// The errors of rules, each with the file that it is in.
    pub fn errors(sources: RuleSources, connect: &Connect) -> Vec<(String, Complaint)> {
        let loaded = Loaded::unchecked(sources, connect);
        let mut found = loaded.engine.diagnostics();
        found.retain(|found| found.diagnostic.level == Level::Error);
        let place =
            |found: &RuleDiagnostic| found.spans.first().map_or(&found.path, |(path, _)| path).clone();
        found.iter().map(|found| (place(found), loaded.complaint(found))).collect()
    }

    fn unchecked(sources: RuleSources, connect: &Connect) -> Loaded {
        let engine = connect(sources.clone());
        let entries = engine.entries();
        let mut texts = Rules::default();
        for entry in entries.iter().filter(|entry| entry.live) {
            let rule = RuleRef { kind: entry.kind, name: entry.name };
            texts.add(rule, &entry.path, entry.line, &entry.source, entry.doc.as_deref());
        }
        let files = sources
            .files
            .iter()
            .map(|(path, text, _)| (path.clone(), Arc::new(Source::new(path.clone(), text.clone()))))
            .collect();
        Loaded { sources, engine, entries, texts, files }
    }

    /// Reports complaints about rules; errors among them end the command.
    fn report(&self, diagnostics: &[RuleDiagnostic], desk: &mut Desk<'_, '_>) -> Result<(), Stop> {
        let (errors, others): (Vec<_>, Vec<_>) =
            diagnostics.iter().partition(|found| found.diagnostic.level == Level::Error);
        let told = |found: Vec<&RuleDiagnostic>, what: &str| {
            let more = found.len().saturating_sub(MOST_TOLD);
            let mut told: Vec<Complaint> =
                found.into_iter().take(MOST_TOLD).map(|f| self.complaint(f)).collect();
            if more > 0 {
                let message = format!("{more} more {what} are not shown");
                told.push(Complaint::new(Level::Note, "rules::more", message));
            }
            told
        };
        for other in told(others, "warnings") {
            desk.complain(&other)?;
        }
        if errors.is_empty() {
            return Ok(());
        }
        Err(Stop::Wrong(told(errors, "errors")))
    }

    pub fn complaint(&self, found: &RuleDiagnostic) -> Complaint {
        let places: Vec<_> =
            found.spans.iter().map(|(path, span)| (self.files.get(path).cloned(), span.clone())).collect();
        rule_diagnostic(&found.diagnostic, &places)
    }

    fn names(&self, wanted: impl Fn(Kind) -> bool) -> Vec<&'static str> {
        let wanted = self.entries.iter().filter(|entry| entry.live && wanted(entry.kind));
        wanted.map(|entry| entry.name.as_str()).collect()
    }

    /// Options as the arguments give them, all of them declared by the rules.
    pub fn options(&self, args: &RunArgs) -> Result<BTreeMap<String, String>, Complaint> {
        let declared = self.names(|kind| kind == Kind::Option);
        let mut given: BTreeMap<String, String> = args.options.iter().cloned().collect();
        for name in given.keys() {
            if !declared.contains(&name.as_str()) {
                let message = format!("the rules declare no option `{name}`");
                let help = suggestion(name, &declared)
                    .unwrap_or_else(|| "`anchorwatch rules list --kind option` lists them".to_owned());
                return Err(Complaint::error("cli::unknown-option", message).help(help));
            }
        }
        let op_info: Vec<String> = args
            .op_info
            .iter()
            .map(|info| format!("{}={}:{}", info.op, info.library, u8::from(info.atomic)))
            .collect();
        let flags = [
            ("--kernel-lib", KERNEL_LIBS, (!args.kernel_lib.is_empty()).then(|| args.kernel_lib.join(","))),
            ("--op-info", OP_INFO, (!op_info.is_empty()).then(|| op_info.join(","))),
            ("--no-prepare", PREPARE, args.no_prepare.then(|| "false".to_owned())),
        ];
        for (flag, name, value) in flags {
            let Some(value) = value else { continue };
            if !declared.contains(&name) {
                let message = format!("the rules have no use for `{flag}`");
                return Err(Complaint::error("cli::unused-flag", message)
                    .help(format!("rules that have declare the option `{name}`")));
            }
            given.insert(name.to_owned(), value);
        }
        Ok(given)
    }

    /// The variables that rules may read: those that are named as an option is.
    pub fn environment(&self, all: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let declared = self.names(|kind| kind == Kind::Option);
        declared.iter().filter_map(|name| Some(((*name).to_owned(), all.get(*name)?.clone()))).collect()
    }

    /// Gives options to the engine; values that an option cannot have end the command.
    pub fn set_options(&mut self, args: &RunArgs, desk: &mut Desk<'_, '_>) -> Result<Given, Stop> {
        let given = self.options(args)?;
        let environment = self.environment(&desk.io.environment);
        let complaints = self.engine.set_options(given.clone(), environment.clone());
        self.report(&complaints, desk)?;
        Ok(Given { options: given, environment })
    }

    /// Passes that the rules have, by the names given.
    pub fn steps(&self, names: &[String]) -> Result<Vec<crate::graph::Sym>, Complaint> {
        let any = self.names(|_| true);
        // The keyword stands for all lints.
        let is_known = |name: &str| !name.is_empty() && any.contains(&name) || name == keyword(Kind::Lint);
        let passes = self.names(|kind| {
            matches!(kind, Kind::Pass | Kind::Pipeline | Kind::Chain | Kind::Lint | Kind::Order)
        });
        if passes.is_empty() {
            let message = "the rules have no pass and no pipeline: nothing would run";
            return Err(Complaint::error("cli::nothing-runs", message)
                .help("`--rules` replaces the shipped rules; `--overlay` adds to them"));
        }
        if let Some(name) = names.iter().find(|name| !is_known(name)) {
            let message = format!("the rules have no pass `{name}`");
            let lists = "`anchorwatch rules list --kind pass` lists them, `--kind pipeline` the stages";
            let help = suggestion(name, &passes).unwrap_or_else(|| lists.to_owned());
            return Err(Complaint::error("cli::unknown-pass", message).help(help));
        }
        Ok(names.iter().map(|name| crate::graph::Sym::new(name)).collect())
    }
}

/// What an engine was told, to tell the engines of other threads the same.
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub options: BTreeMap<String, String>,
    pub environment: BTreeMap<String, String>,
}

fn kind_of(word: Option<&str>) -> Result<Option<Kind>, Complaint> {
    let Some(word) = word else { return Ok(None) };
    if let Some((kind, _)) = KINDS.iter().find(|(_, known)| *known == word) {
        return Ok(Some(*kind));
    }
    let words = KINDS.map(|(_, known)| known);
    let help = suggestion(word, &words).unwrap_or_else(|| format!("kinds are {}", words.join(", ")));
    Err(Complaint::error("cli::unknown-kind", format!("no kind of entry is called `{word}`")).help(help))
}

#[derive(Serialize)]
struct EntryJson<'a> {
    kind: &'static str,
    name: &'static str,
    path: &'a str,
    line: u32,
    overlay: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replaced: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    doc: Option<&'a str>,
}

/// What became of an entry that does not hold.
#[derive(Clone, Copy, PartialEq)]
enum Gone {
    Replaced,
    Removed,
}

/// Whether an overlay has an `override` or a `remove` of this entry.
fn gone(entry: &EntryInfo, all: &[EntryInfo]) -> Option<Gone> {
    let stands_for = |other: &EntryInfo| {
        (other.kind, other.name) == (entry.kind, entry.name) && other.live && !std::ptr::eq(other, entry)
    };
    let is_gone = !entry.live && !entry.overlay;
    is_gone.then(|| if all.iter().any(stands_for) { Gone::Replaced } else { Gone::Removed })
}

/// `rules list`.
pub fn list(
    kind: Option<&str>,
    format: OutputFormat,
    args: &RuleArgs,
    desk: &mut Desk<'_, '_>,
    connect: &Connect,
) -> Done {
    desk.set_format(format, false);
    let kind = kind_of(kind)?;
    let loaded = Loaded::new(sources(&workspace::rules(args, desk)?)?, desk, connect)?;
    let entries: Vec<&EntryInfo> =
        loaded.entries.iter().filter(|entry| kind.is_none_or(|kind| entry.kind == kind)).collect();
    let mut text = String::new();
    if desk.is_json() {
        for entry in entries {
            let json = EntryJson {
                kind: kind_word(entry.kind),
                name: entry.name.as_str(),
                path: &entry.path,
                line: entry.line,
                overlay: entry.overlay,
                replaced: gone(entry, &loaded.entries) == Some(Gone::Replaced),
                removed: gone(entry, &loaded.entries) == Some(Gone::Removed),
                doc: entry.doc.as_deref(),
            };
            text += &serde_json::to_string(&json).unwrap_or_default();
            text.push('\n');
        }
        desk.print(&text)?;
        return Ok(FINE);
    }
    let place = |entry: &EntryInfo| {
        let note = match gone(entry, &loaded.entries) {
            _ if entry.overlay => " (overlay)",
            Some(Gone::Replaced) => " (replaced)",
            Some(Gone::Removed) => " (removed)",
            None => "",
        };
        format!("{}:{}{note}", entry.path, entry.line)
    };
    let wide = |width: &dyn Fn(&EntryInfo) -> usize, limit: usize| {
        entries.iter().map(|entry| width(entry)).max().unwrap_or(0).min(limit)
    };
    let kinds = wide(&|entry| kind_word(entry.kind).len(), 20);
    let names = wide(&|entry| entry.name.as_str().chars().count(), 48);
    let places = wide(&|entry| place(entry).chars().count(), 40);
    for entry in entries {
        let doc = entry.doc.as_deref().and_then(|doc| doc.lines().next().map(str::to_owned));
        // Attributes and checkers say it in a clause.
        let doc = doc.or_else(|| clause(&entry.source, "doc")).unwrap_or_default();
        let row = format!(
            "{:kinds$}  {:names$}  {:places$}  {}",
            kind_word(entry.kind),
            entry.name.as_str(),
            place(entry),
            desk.out.paint(Paint::Faint, &doc)
        );
        let _ = writeln!(text, "{}", row.trim_end());
    }
    desk.print(&text)?;
    Ok(FINE)
}

/// `rules show NAME`, `rules show KIND NAME`; also as one word, as findings write it.
pub fn show(
    words: &[String],
    kind: Option<&str>,
    args: &RuleArgs,
    desk: &mut Desk<'_, '_>,
    connect: &Connect,
) -> Done {
    let (kind, name) = match words {
        [word, name] => (Some(word.as_str()), name.as_str()),
        words => {
            let title = words.first().map(String::as_str).unwrap_or_default();
            let is_kind = |(word, _): &(&str, &str)| KINDS.iter().any(|(_, known)| known == word);
            let split = title.split_once(' ').filter(|split| kind.is_none() && is_kind(split));
            split.map_or((kind, title), |(word, name)| (Some(word), name))
        }
    };
    let kind = kind_of(kind)?;
    let loaded = Loaded::new(sources(&workspace::rules(args, desk)?)?, desk, connect)?;
    let of_kind = |entry: &&EntryInfo| kind.is_none_or(|kind| entry.kind == kind);
    let found: Vec<&EntryInfo> =
        loaded.entries.iter().filter(of_kind).filter(|entry| entry.name.as_str() == name).collect();
    if found.is_empty() {
        let names: Vec<&str> =
            loaded.entries.iter().filter(of_kind).map(|entry| entry.name.as_str()).collect();
        let help = suggestion(name, &names)
            .unwrap_or_else(|| "`anchorwatch rules list` lists the entries".to_owned());
        let what = kind.map_or("entry", kind_word);
        desk.complain(
            &Complaint::error("rules::unknown-entry", format!("the rules have no {what} `{name}`"))
                .help(help),
        )?;
        return Ok(UNUSABLE);
    }
    let mut text = String::new();
    for entry in &found {
        if !text.is_empty() {
            text.push('\n');
        }
        draw_entry(entry, &loaded.entries, desk, &mut text);
    }
    desk.print(&text)?;
    Ok(FINE)
}

fn draw_entry(entry: &EntryInfo, all: &[EntryInfo], desk: &Desk<'_, '_>, text: &mut String) {
    let note = match gone(entry, all) {
        _ if entry.overlay => ", overlay",
        Some(Gone::Replaced) => ", replaced",
        Some(Gone::Removed) => ", removed",
        None => "",
    };
    let place = format!("// {}:{}{}", entry.path, entry.line, note);
    let _ = writeln!(text, "{}", desk.out.paint(Paint::Faint, &place));
    let has_docs = entry.source.trim_start().starts_with("///");
    for line in entry.doc.iter().flat_map(|doc| doc.lines()).filter(|_| !has_docs) {
        let _ = writeln!(text, "/// {line}");
    }
    for line in entry.source.trim_end().lines() {
        let _ = writeln!(text, "{line}");
    }
    // What does not hold is used by nobody, and uses nothing.
    if !entry.live {
        return;
    }
    let users: Vec<&EntryInfo> = all
        .iter()
        .filter(|other| other.live && (other.kind, other.name) != (entry.kind, entry.name))
        .filter(|other| find_word(&other.source, entry.name.as_str(), 0).is_some())
        .collect();
    if users.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", desk.out.paint(Paint::Strong, "used by"));
    for user in users {
        let _ =
            writeln!(text, "  {} {} ({}:{})", kind_word(user.kind), user.name.as_str(), user.path, user.line);
    }
}
