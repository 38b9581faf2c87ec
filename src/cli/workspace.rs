//! What `anchorwatch.toml` and the arguments say together.
//!
//! Promise: a workspace means the same to every command that takes rules. Arguments come first: `--rules` stands in the place of
//! `rules`, `--passes` of `passes`, `--option` of the value of that name, named graphs of `graphs`; `--overlay` adds to `overlays`. What
//! was taken from the file is told a person in one line beside the report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{RuleArgs, RunArgs};
use super::desk::{Desk, Stop};
use super::input::{read_file, unreadable};
use super::rules::text_of;
use crate::lang::lint::SettingsError;
use crate::report::complaint::{Excerpt, Mark};
use crate::report::summary::count;
use crate::report::{Complaint, Source};
use crate::workspace::{FILE, SIZE_LIMIT, Workspace, find};

/// The settings that count for a command, and what of them it took.
#[derive(Default)]
pub struct Settings {
    /// As a person would write it from here.
    shown: String,
    workspace: Workspace,
    taken: Vec<String>,
}

impl Settings {
    /// Those of the nearest file in this folder or above it; none of them if they are to be left aside.
    pub fn here(aside: bool) -> Result<Settings, Complaint> {
        if aside {
            return Ok(Settings::default());
        }
        Ok(here()?.map_or_else(Settings::default, |(folder, workspace)| Settings {
            shown: folder.join(FILE).display().to_string(),
            workspace,
            taken: Vec::new(),
        }))
    }

    /// The rule set, with overlays.
    pub fn rules(&mut self, args: &RuleArgs) -> RuleArgs {
        let mut meant = self.base(args);
        let given = std::mem::take(&mut meant.overlay);
        let is_given = |path: &PathBuf| given.iter().any(|given| is_same(given, path));
        meant.overlay = self.workspace.overlays.iter().filter(|path| !is_given(path)).cloned().collect();
        let names: Vec<String> = meant.overlay.iter().map(|path| path.display().to_string()).collect();
        self.take("overlays", &names);
        meant.overlay.extend(given);
        meant
    }

    /// The rule set, with no overlays but those of the arguments.
    pub fn base(&mut self, args: &RuleArgs) -> RuleArgs {
        let mut meant = args.clone();
        if let (None, Some(path)) = (&args.rules, &self.workspace.rules) {
            meant.rules = Some(path.clone());
            self.taken.push(format!("rules {}", path.display()));
        }
        meant
    }

    /// The rule set, and how it runs.
    pub fn run(&mut self, args: &RunArgs) -> RunArgs {
        let mut meant = RunArgs { rules: self.rules(&args.rules), ..args.clone() };
        if args.passes.is_empty() {
            meant.passes.clone_from(&self.workspace.passes);
            self.take("passes", &meant.passes);
        }
        let is_given = |name: &String| args.options.iter().any(|(given, _)| given == name);
        let options = self.workspace.options.iter().filter(|(name, _)| !is_given(name));
        let options: Vec<_> = options.map(|(name, value)| (name.clone(), value.clone())).collect();
        let shown: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.take("options", &shown);
        meant.options.extend(options);
        meant
    }

    /// The graphs that are named, else those of the workspace.
    pub fn graphs(&mut self, named: &[PathBuf]) -> Vec<PathBuf> {
        if !named.is_empty() {
            return named.to_vec();
        }
        let graphs = self.workspace.graphs.clone();
        if !graphs.is_empty() {
            self.taken.push(count(graphs.len(), "graph"));
        }
        graphs
    }

    fn take(&mut self, what: &str, names: &[String]) {
        if !names.is_empty() {
            self.taken.push(format!("{what} {}", names.join(", ")));
        }
    }

    /// Says what was taken, if anything was.
    pub fn tell(self, desk: &mut Desk<'_, '_>) -> Result<(), Stop> {
        if self.taken.is_empty() {
            return Ok(());
        }
        desk.aside(&format!("{}: {} (`--no-settings` leaves it aside)", self.shown, self.taken.join("; ")))
    }
}

/// The rule set that arguments and settings name.
pub fn rules(args: &RuleArgs, desk: &mut Desk<'_, '_>) -> Result<RuleArgs, Stop> {
    let mut settings = Settings::here(args.no_settings)?;
    let meant = settings.rules(args);
    settings.tell(desk)?;
    Ok(meant)
}

/// The rule set that arguments and settings name, and how it runs.
pub fn run(args: &RunArgs, desk: &mut Desk<'_, '_>) -> Result<RunArgs, Stop> {
    let mut settings = Settings::here(args.rules.no_settings)?;
    let meant = settings.run(args);
    settings.tell(desk)?;
    Ok(meant)
}

/// What the nearest file in this folder or above it says, and its folder; paths as a person would write them from here.
pub fn here() -> Result<Option<(PathBuf, Workspace)>, Complaint> {
    Ok(above(Path::new(FILE))?.map(|(folder, workspace)| {
        let folder = from_here(&folder);
        (folder.clone(), workspace.in_folder(&folder))
    }))
}

/// The settings file of the nearest folder above a path, with that folder.
pub fn above(path: &Path) -> Result<Option<(PathBuf, Workspace)>, Complaint> {
    let Some(path) = find(path) else { return Ok(None) };
    let shown = from_here(&path).display().to_string();
    let bytes = read_file(&path, SIZE_LIMIT).map_err(|error| unreadable(&shown, &error))?;
    let text = text_of(bytes, &shown)?;
    let workspace = Workspace::read(&text).map_err(|errors| mistakes(&errors, &shown, &text))?;
    Ok(Some((path.parent().map(Path::to_owned).unwrap_or_default(), workspace)))
}

/// The first mistake of a settings file.
fn mistakes(errors: &[SettingsError], shown: &str, text: &str) -> Complaint {
    let source = Arc::new(Source::new(shown, text));
    let Some(first) = errors.first() else {
        return Complaint::error("settings::wrong", "unusable settings").at(shown);
    };
    let marks = errors
        .iter()
        .map(|error| Mark {
            span: error.span.start as usize..error.span.end as usize,
            text: if errors.len() > 1 { error.message.clone() } else { String::new() },
        })
        .collect();
    Complaint::error("settings::wrong", first.message.clone())
        .maybe_help(first.help.clone())
        .excerpt(Excerpt { source, marks })
}

/// An absolute path as seen from the current folder, if it lies there or in a folder above.
fn from_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    if let Ok(below) = path.strip_prefix(&here) {
        return below.to_owned();
    }
    let (folder, name) = match path.is_dir() {
        true => (Some(path), None),
        false => (path.parent(), path.file_name()),
    };
    match folder.and_then(|folder| here.strip_prefix(folder).ok()) {
        Some(down) => down.components().map(|_| Path::new("..")).chain(name.map(Path::new)).collect(),
        None => path.to_owned(),
    }
}

/// Whether two paths lead to one file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}
