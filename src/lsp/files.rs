//! The files of a workspace: what lies on disk, and what editors have open instead.
//!
//! Promise: an open file counts as the editor shows it, whatever the disk says. Files under the rule folder are the rule set;
//! without such a folder it is the shipped one. Any other open rule file, and those that `anchorwatch.toml` names, are overlays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::Uri;

use super::place::{Encoding, Lines, path_of, uri_of};
use crate::engine::RuleSources;
use crate::lang::lint::{Settings, SettingsError};
use crate::lang::syntax::LONGEST_FILE;
use crate::workspace::{self, EXTENSION, RULES, Workspace, rule_files};

/// Graphs in the notation of the language have this one.
const NOTATION: &str = "graph";

/// A file that an editor has open.
#[derive(Clone, Debug)]
pub struct Open {
    /// As the editor writes it.
    pub uri: Uri,
    pub version: i32,
    pub lines: Arc<Lines>,
}

/// What a file is to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Rules,
    Graph,
    Settings,
    Other,
}

/// The files of a workspace by key: the path, or the URI of what has no path.
#[derive(Debug)]
pub struct Files {
    pub encoding: Encoding,
    root: Option<PathBuf>,
    pub workspace: Workspace,
    /// Mistakes of the settings file, by its key.
    pub mistakes: Option<(String, Vec<SettingsError>)>,
    /// The rule set and overlays on disk: key, text, whether it is an overlay.
    disk: Vec<(String, Arc<str>, bool)>,
    /// The rules are those in the program.
    shipped: bool,
    open: BTreeMap<String, Open>,
    /// Lines of files that are not open, by key, for their texts.
    lines: BTreeMap<String, Arc<Lines>>,
}

/// Where shipped rules are written for editors to show.
fn shown_folder() -> PathBuf {
    std::env::temp_dir().join(concat!("anchorwatch-", env!("CARGO_PKG_VERSION")))
}

pub fn role(key: &str) -> Role {
    let path = Path::new(key);
    match path.extension().and_then(|extension| extension.to_str()) {
        _ if path.file_name().is_some_and(|name| name == workspace::FILE) => Role::Settings,
        Some(EXTENSION) => Role::Rules,
        Some(NOTATION) => Role::Graph,
        // What is not saved yet is what the editor takes it for.
        None if key.starts_with("untitled:") => Role::Rules,
        _ => Role::Other,
    }
}

impl Files {
    pub fn new(root: Option<PathBuf>, encoding: Encoding) -> Files {
        let mut files = Files {
            encoding,
            root,
            workspace: Workspace::default(),
            mistakes: None,
            disk: Vec::new(),
            shipped: true,
            open: BTreeMap::new(),
            lines: BTreeMap::new(),
        };
        files.reload();
        files
    }

    /// Reads settings and rules from disk again.
    pub fn reload(&mut self) {
        self.read_settings();
        let folder = self.root.as_ref().map(|root| root.join(RULES));
        let rules = self.workspace.rules.clone().or(folder);
        let mut disk: Vec<(String, Arc<str>, bool)> = Vec::new();
        for path in rules.into_iter().flat_map(|path| below(&path)) {
            disk.extend(read(&path).map(|(key, text)| (key, text, false)));
        }
        self.shipped = disk.is_empty();
        if self.shipped {
            let files = RuleSources::shipped().files;
            disk.extend(files.into_iter().map(|(path, text, overlay)| (path, text.into(), overlay)));
        }
        for path in self.workspace.overlays.iter().flat_map(|path| below(path)) {
            disk.extend(read(&path).map(|(key, text)| (key, text, true)));
        }
        self.disk = disk;
        self.lines.clear();
    }

    fn read_settings(&mut self) {
        self.mistakes = None;
        let Some(path) = self.root.as_ref().and_then(|root| workspace::find(&root.join(workspace::FILE)))
        else {
            self.workspace = Workspace::default();
            return;
        };
        let key = path.to_string_lossy().into_owned();
        let text = match self.open.get(&key) {
            Some(open) => Some(Arc::from(open.lines.text())),
            None => read(&path).map(|(_, text)| text),
        };
        let folder = path.parent().unwrap_or(&path);
        match Workspace::read(&text.unwrap_or_default()) {
            Ok(workspace) => self.workspace = workspace.in_folder(folder),
            // What was said before the mistake still counts.
            Err(errors) => self.mistakes = Some((key, errors)),
        }
    }

    /// Takes the folder of a file as the workspace, if there is none.
    fn settle(&mut self, key: &str) {
        if self.root.is_some() || !Path::new(key).is_absolute() {
            return;
        }
        let settings = workspace::find(Path::new(key));
        let folder = Path::new(key).parent();
        let above = folder.filter(|folder| folder.ends_with(RULES)).and_then(Path::parent);
        self.root = settings.as_deref().and_then(Path::parent).or(above).or(folder).map(Path::to_owned);
        self.reload();
    }

    /// The key of a file.
    pub fn key(&self, uri: &Uri) -> String {
        let Some(path) = path_of(uri) else { return uri.as_str().to_owned() };
        if path.parent() == Some(&shown_folder())
            && let Some(name) = path.file_name().and_then(|name| name.to_str())
            && let key = format!("{RULES}/{name}")
            && self.is_shipped(&key)
        {
            return key;
        }
        path.to_str().map_or_else(|| uri.as_str().to_owned(), str::to_owned)
    }

    pub fn open(&mut self, uri: Uri, version: i32, text: &str) -> String {
        let key = self.key(&uri);
        self.settle(&key);
        let lines = Arc::new(Lines::new(text.into(), self.encoding));
        self.open.insert(key.clone(), Open { uri, version, lines });
        key
    }

    /// Puts another text in the place of that of an open file.
    pub fn change(&mut self, key: &str, version: i32, text: &str) {
        if let Some(open) = self.open.get_mut(key) {
            open.version = version;
            open.lines = Arc::new(Lines::new(text.into(), self.encoding));
        }
    }

    pub fn close(&mut self, key: &str) {
        self.open.remove(key);
    }

    pub fn opened(&self, key: &str) -> Option<&Open> {
        self.open.get(key)
    }

    pub fn all_open(&self) -> impl Iterator<Item = (&String, &Open)> {
        self.open.iter()
    }

    /// The rule files as they count now.
    pub fn sources(&self) -> RuleSources {
        let text = |key: &str, text: &str| match self.open.get(key) {
            Some(open) => open.lines.text().to_owned(),
            None => text.to_owned(),
        };
        let mut files: Vec<(String, String, bool)> =
            self.disk.iter().map(|(key, disk, overlay)| (key.clone(), text(key, disk), *overlay)).collect();
        for (key, open) in &self.open {
            if role(key) == Role::Rules && self.disk.iter().all(|(known, ..)| known != key) {
                files.push((key.clone(), open.lines.text().to_owned(), true));
            }
        }
        RuleSources { files }
    }

    /// The text of a rule file with its lines found.
    pub fn lines(&mut self, key: &str) -> Option<Arc<Lines>> {
        if let Some(open) = self.open.get(key) {
            return Some(open.lines.clone());
        }
        if let Some(lines) = self.lines.get(key) {
            return Some(lines.clone());
        }
        let (_, text, _) = self.disk.iter().find(|(known, ..)| known == key)?;
        let lines = Arc::new(Lines::new(text.clone(), self.encoding));
        self.lines.insert(key.to_owned(), lines.clone());
        Some(lines)
    }

    /// What a person calls a file.
    pub fn shown<'k>(&self, key: &'k str) -> &'k str {
        let root = self.root.as_ref().and_then(|root| root.to_str());
        let inside = root.and_then(|root| key.strip_prefix(root));
        inside.map_or(key, |inside| inside.trim_start_matches(std::path::MAIN_SEPARATOR))
    }

    /// Whether a rule file is part of the program: it can be read, and not changed.
    pub fn is_shipped(&self, key: &str) -> bool {
        self.shipped && self.disk.iter().any(|(known, _, overlay)| known == key && !overlay)
    }

    /// Levels of lints in a file: shipped rules are nobody's to mend.
    pub fn lints(&self, key: &str) -> Option<&Settings> {
        (!self.is_shipped(key)).then_some(&self.workspace.lints)
    }

    /// The URI of a file. A shipped one is written to a folder for editors to show.
    pub fn uri(&self, key: &str) -> Option<Uri> {
        if let Some(open) = self.open.get(key) {
            return Some(open.uri.clone());
        }
        if !self.is_shipped(key) {
            return uri_of(Path::new(key));
        }
        let (_, text, _) = self.disk.iter().find(|(known, ..)| known == key)?;
        let folder = shown_folder();
        let path = folder.join(Path::new(key).file_name()?);
        if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            std::fs::create_dir_all(&folder).ok()?;
            std::fs::write(&path, text.as_bytes()).ok()?;
        }
        uri_of(&path)
    }
}

/// What cannot be listed is looked at again when something changes.
fn below(path: &Path) -> Vec<PathBuf> {
    if path.exists() { rule_files(path, &mut |_, _| ()) } else { Vec::new() }
}

fn read(path: &Path) -> Option<(String, Arc<str>)> {
    let size = std::fs::metadata(path).ok()?.len();
    if size > LONGEST_FILE as u64 {
        return None;
    }
    let text = String::from_utf8(std::fs::read(path).ok()?).ok()?;
    Some((path.to_str()?.to_owned(), text.into()))
}
