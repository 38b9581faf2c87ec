//! `watch`: on every save, what changed in diagnostics, tests and verdicts on pinned graphs.
//!
//! Promise: it ends only when its reader goes away or it is ended. A file that is gone or half written is told of and looked
//! at again when it changes; nothing is written. One engine lives as long as the list of rule files stays the same, so that a save costs
//! what the edit costs.
//!
//! The road: events wake the loop in [`watch`], [`Eye::look`] makes a [`State`] of what the files hold now, and the state
//! says what is new.

mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecursiveMode, Watcher};

use self::state::{Line, Noted, Pinned, State, Turn};
use super::args::WatchArgs;
use super::cases::{Found, find};
use super::desk::{Desk, Done, Stop};
use super::input::{GraphFile, reason};
use super::rules::read;
use super::session::{Connect, Engine, Request, RuleDiagnostic, RuleSources};
use super::workspace;
use crate::graph::{GraphId, Snapshot, Sym};
use crate::lang::Level;
use crate::report::human::Paint;
use crate::report::json::level_word;
use crate::report::place::side_index;
use crate::report::plain::plain;
use crate::report::{Below, Complaint};
use crate::workspace::{Workspace, rule_tree};

/// Saves that come close together are looked at once.
const QUIET: Duration = Duration::from_millis(60);
/// Lines of one kind, of the rules or of one graph, that are shown to a person who did not ask for more.
const TERMINAL_LIMIT: usize = 20;

pub fn watch(args: &WatchArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    let (sender, receiver) = channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // The loop may be gone already; then nobody waits.
        if event.is_ok_and(|event| is_change(event.kind)) {
            let _ = sender.send(());
        }
    })
    .map_err(|error| cannot_watch(&error))?;
    let mut eye = Eye::new(args, connect, desk.io.environment.clone());
    let mut watched = BTreeSet::new();
    let mut state: Option<State> = None;
    let default = if desk.report_terminal() { TERMINAL_LIMIT } else { usize::MAX };
    let limit = args.limit.unwrap_or(default);
    loop {
        // Folders are watched before they are read, so that no change falls between.
        follow(&mut watcher, &mut watched, eye.folders())?;
        let now = eye.look();
        follow(&mut watcher, &mut watched, eye.folders())?;
        let (lines, now) = match &state {
            None => (now.first(limit), now),
            Some(old) => {
                let now = now.after(old);
                (now.news(old, limit), now)
            }
        };
        if state.is_none() || !lines.is_empty() {
            tell(desk, &lines, &now)?;
        }
        if args.once {
            return Ok(if now.is_fine() { super::FINE } else { super::FOUND });
        }
        state = Some(now);
        if !wait(&receiver) {
            return Ok(super::FINE);
        }
    }
}

/// Whether something may hold other bytes than before. Looking at files makes events, too.
fn is_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

/// Waits for a change, and then until there is none for a moment; false: nothing will come any more.
fn wait(receiver: &Receiver<()>) -> bool {
    if receiver.recv().is_err() {
        return false;
    }
    loop {
        match receiver.recv_timeout(QUIET) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

fn cannot_watch(error: &notify::Error) -> Complaint {
    Complaint::error("watch::system", format!("files cannot be watched: {error}"))
}

/// Watches these folders and no others; one that is not there yet through the nearest above it.
fn follow(
    watcher: &mut notify::RecommendedWatcher,
    watched: &mut BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
) -> Result<(), Stop> {
    let there = |folder: PathBuf| folder.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned);
    let wanted: BTreeSet<PathBuf> = folders.into_iter().filter_map(there).collect();
    for gone in watched.difference(&wanted) {
        // A folder that was deleted is watched no longer anyway.
        let _ = watcher.unwatch(gone);
    }
    for new in wanted.difference(watched) {
        watcher.watch(new, RecursiveMode::NonRecursive).map_err(|error| cannot_watch(&error))?;
    }
    *watched = wanted;
    Ok(())
}

fn tell(desk: &mut Desk<'_, '_>, lines: &[Line], state: &State) -> Result<(), Stop> {
    let mut text = String::new();
    for line in lines {
        let paint = match line.turn {
            Turn::Worse => Paint::Error,
            Turn::Better => Paint::Good,
            Turn::Plain => Paint::Strong,
        };
        text += &format!("{}\n", desk.out.paint(paint, &plain(&line.text)));
    }
    desk.print(&format!("{text}{}\n", desk.out.paint(Paint::Faint, &state.sum())))?;
    desk.flush()
}

/// What is watched, and what was seen of it last.
struct Eye<'a> {
    args: &'a WatchArgs,
    connect: &'a Connect,
    environment: BTreeMap<String, String>,
    /// What the settings file said when it was last understood, and its folder.
    settings: Workspace,
    folder: Option<PathBuf>,
    /// The rule files as the engine has them.
    sources: RuleSources,
    engine: Option<Box<dyn Engine>>,
    graphs: BTreeMap<PathBuf, (Vec<u8>, Snapshot)>,
}

impl<'a> Eye<'a> {
    fn new(args: &'a WatchArgs, connect: &'a Connect, environment: BTreeMap<String, String>) -> Eye<'a> {
        Eye {
            args,
            connect,
            environment,
            settings: Workspace::default(),
            folder: None,
            sources: RuleSources::default(),
            engine: None,
            graphs: BTreeMap::new(),
        }
    }

    fn rules(&self) -> Option<&PathBuf> {
        self.args.rules.rules.as_ref().or(self.settings.rules.as_ref())
    }

    fn overlays(&self) -> impl Iterator<Item = &PathBuf> {
        self.settings.overlays.iter().chain(&self.args.rules.overlay)
    }

    fn pinned(&self) -> BTreeSet<&PathBuf> {
        self.settings.graphs.iter().chain(&self.args.graphs).collect()
    }

    /// The folders in which a change may matter.
    fn folders(&self) -> BTreeSet<PathBuf> {
        let mut folders = BTreeSet::new();
        let mut add = |path: &Path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            if path.is_dir() {
                folders.insert(path.clone());
            }
            folders.extend(path.parent().map(Path::to_owned));
        };
        let graphs = self.pinned();
        graphs.into_iter().for_each(|path| add(path));
        for path in self.rules().into_iter().chain(self.overlays()) {
            add(path);
            let tree = rule_tree(path, &mut |_, _| ());
            // A folder without a rule file may get its first one.
            tree.files.iter().chain(&tree.folders).for_each(|path| add(path));
        }
        for path in &self.args.paths {
            add(path);
            for found in find(path).unwrap_or_default() {
                add(found.path());
            }
        }
        self.folder.iter().for_each(|folder| add(folder));
        add(Path::new(crate::workspace::FILE));
        folders
    }

    /// Reads what changed, and asks everything again: what is remembered costs nothing.
    fn look(&mut self) -> State {
        let mut state = State::default();
        let mut wrong = |complaint: &Complaint| {
            state.errors += 1;
            state.complaints.push(Noted { key: complaint.message.clone(), text: in_a_line(complaint) });
        };
        let found = if self.args.rules.no_settings { Ok(None) } else { workspace::here() };
        match found {
            Ok(Some((folder, settings))) => {
                self.settings = settings;
                self.folder = Some(folder);
            }
            Ok(None) => self.settings = Workspace::default(),
            Err(complaint) => wrong(&complaint),
        }
        let sources = self.read(&mut wrong);
        self.take(sources);
        let Some(engine) = &mut self.engine else { return state };
        let given = self.settings.options.clone();
        let mut found = engine.set_options(given, self.environment.clone());
        found.extend(engine.diagnostics());
        state.errors += found.iter().filter(|found| found.diagnostic.level == Level::Error).count();
        state.complaints.extend(found.iter().map(|found| noted(found, &self.sources)));
        if state.errors == 0 {
            let failure = |failures: Vec<RuleDiagnostic>| Some(failures.first()?.diagnostic.message.clone());
            let tests = engine.tests(&|_| true).into_iter();
            let tests = tests.map(|test| (format!("{}  ({})", test.name, test.path), failure(test.failures)));
            state.tests = Some(tests.collect());
        }
        let paths: Vec<PathBuf> = self.pinned().into_iter().cloned().collect();
        for path in paths {
            let pinned = self.run(&path, state.errors == 0);
            state.graphs.insert(path.display().to_string(), pinned);
        }
        state
    }

    /// The rule files as they are now; those that cannot be read are complained about.
    fn read(&self, wrong: &mut dyn FnMut(&Complaint)) -> RuleSources {
        let mut sources = RuleSources::default();
        match self.rules() {
            None => sources = RuleSources::shipped(),
            Some(path) => match read(path, false) {
                Ok(files) => sources.files = files,
                Err(complaint) => wrong(&complaint),
            },
        }
        let mut more: Vec<PathBuf> = self.overlays().cloned().collect();
        for path in &self.args.paths {
            match find(path) {
                Ok(found) => more.extend(found.into_iter().filter_map(|found| match found {
                    Found::Rules(path) => Some(path),
                    Found::Case(_) => None,
                })),
                Err(complaint) => wrong(&complaint),
            }
        }
        for path in more {
            match read(&path, true) {
                Ok(files) => sources.files.extend(files),
                Err(complaint) => wrong(&complaint),
            }
        }
        let mut seen = BTreeSet::new();
        sources.files.retain(|(path, ..)| seen.insert(path.clone()));
        sources
    }

    /// Hands the files to the engine: their texts if they are the same files, else to a new one.
    fn take(&mut self, sources: RuleSources) {
        let names = |sources: &RuleSources| -> Vec<(String, bool)> {
            sources.files.iter().map(|(path, _, overlay)| (path.clone(), *overlay)).collect()
        };
        match &mut self.engine {
            Some(engine) if names(&sources) == names(&self.sources) => {
                for (path, text, _) in &sources.files {
                    engine.set_text(path, text);
                }
            }
            engine => {
                let connected = engine.insert((self.connect)(sources.clone()));
                connected.expect_edits();
            }
        }
        self.sources = sources;
    }

    /// What the rules say of a graph; with unsound rules only whether it can be read.
    fn run(&mut self, path: &Path, sound: bool) -> Pinned {
        let trouble = |text: String| Pinned { verdicts: None, trouble: Some(text) };
        let Some(engine) = &self.engine else { return Pinned::default() };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => return trouble(format!("it cannot be read: {}", reason(&error))),
        };
        let same = self.graphs.get(path).filter(|(known, _)| *known == bytes);
        let snapshot = match same {
            Some((_, snapshot)) => snapshot.clone(),
            None => match GraphFile::at(path).load(&**engine) {
                Ok(loaded) => {
                    self.graphs.insert(path.to_owned(), (bytes, loaded.snapshot.clone()));
                    loaded.snapshot
                }
                Err(complaint) => return trouble(in_a_line(&complaint)),
            },
        };
        if !sound {
            return Pinned::default();
        }
        let passes = if self.args.passes.is_empty() { &self.settings.passes } else { &self.args.passes };
        let steps = passes.iter().map(|name| Sym::new(name)).collect();
        let request = Request { graph: GraphId::ROOT, node: None, steps, sort_first: false };
        let outcome = match engine.run(&snapshot, &request) {
            Ok(outcome) => outcome,
            Err(error) => {
                let help = error.help.map_or(String::new(), |help| format!(" ({help})"));
                return trouble(error.message + &help);
            }
        };
        let findings = outcome.findings().map(|finding| {
            let place = finding.places.first().map(|place| match place.anchor {
                Some(anchor) => format!(" at `{}:{}`", place.name, side_index(anchor)),
                None => format!(" at `{}`", place.name),
            });
            let pass = finding.pass;
            let by =
                if finding.rule.name == pass { String::new() } else { format!(" {}", finding.rule.name) };
            format!("{pass}{by}{}: {}", place.unwrap_or_default(), finding.message)
        });
        let failures =
            outcome.failures().map(|failure| format!("{} failed: {}", failure.pass, failure.message));
        let verdicts = findings.chain(failures).map(|text| Noted { key: text.clone(), text });
        Pinned { verdicts: Some(verdicts.collect()), trouble: None }
    }
}

/// A complaint in a line: its place, if it has one, and what helps.
fn in_a_line(complaint: &Complaint) -> String {
    let place = complaint.excerpts.first().and_then(|excerpt| {
        let start = excerpt.marks.first()?.span.start;
        Some(format!("{}:{}: ", excerpt.source.name(), excerpt.source.line_column(start).0))
    });
    let help = complaint.lines(Below::Help).next().map_or(String::new(), |help| format!(" ({help})"));
    format!("{}{}{help}", place.unwrap_or_default(), complaint.message)
}

/// A diagnostic in a line.
fn noted(found: &RuleDiagnostic, sources: &RuleSources) -> Noted {
    let diagnostic = &found.diagnostic;
    let said = format!("{}[{}] {}", level_word(diagnostic.level), diagnostic.code, diagnostic.message);
    let Some((path, span)) = found.spans.first() else { return Noted { key: said.clone(), text: said } };
    let text = sources.files.iter().find(|(known, ..)| known == path).map(|(_, text, _)| text.as_bytes());
    let before = text.and_then(|text| text.get(..span.start)).unwrap_or_default();
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    Noted { key: format!("{path} {said}"), text: format!("{path}:{line}: {said}") }
}
