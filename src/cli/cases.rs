//! Folders of cases: `NAME.json` says how to run on `NAME.before.*`, and `NAME.after.*` what comes of it
//! (`tests/cases/README.md`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::input::{format_complaint, unreadable};
use super::session::PREPARE;
use crate::engine::{Case, CaseEnd};
use crate::format::{LoadContext, inflate, load};
use crate::graph::{Snapshot, Sym};
use crate::report::Complaint;
use crate::workspace::is_named_as_rules;

/// Beside a case, or above it: `{"options": {…}}`, options of all cases of the folder that do not say otherwise.
const DEFAULTS: &str = "defaults.json";

/// Bytes that a symbol table may have when it is inflated.
const TABLE_LIMIT: u64 = 1 << 30;

/// How to run a case.
#[derive(Default, Deserialize)]
struct Recipe {
    pass: Option<String>,
    #[serde(default)]
    options: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    graph: Option<String>,
    node: Option<String>,
    #[serde(default)]
    sort_first: bool,
    /// `false`: without the preparation step.
    prepared: Option<bool>,
    #[serde(default)]
    status: Status,
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Status {
    #[default]
    Ok,
    Error,
}

/// What a file of a path is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Rules(PathBuf),
    Case(PathBuf),
}

/// The rule files and cases under a path, each folder's by name; a path that is a file is a case if it is JSON.
///
/// # Errors
/// A folder cannot be listed, or has none.
pub fn find(path: &Path) -> Result<Vec<Found>, Complaint> {
    if !path.is_dir() {
        let is_case = path.extension().is_some_and(|extension| extension == "json");
        return Ok(vec![if is_case { Found::Case(path.to_owned()) } else { Found::Rules(path.to_owned()) }]);
    }
    let mut found = Vec::new();
    let mut open = vec![path.to_owned()];
    while let Some(folder) = open.pop() {
        let shown = || folder.display().to_string();
        let listing = std::fs::read_dir(&folder).map_err(|error| unreadable(&shown(), &error))?;
        for entry in listing {
            let path = entry.map_err(|error| unreadable(&shown(), &error))?.path();
            // A link to a folder may lead back.
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if is_named_as_rules(&path) {
                found.push(Found::Rules(path));
            } else if path.extension().is_some_and(|extension| extension == "json")
                && beside(&path, "before")?.is_some()
            {
                found.push(Found::Case(path));
            }
        }
    }
    if found.is_empty() {
        let message = format!("there are no tests in `{}`", path.display());
        return Err(Complaint::error("test::none", message)
            .help("tests are in files that end in `.anchor`; a case is a `.json` file beside its graphs"));
    }
    found.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(found)
}

/// [`find`] where graphs may be named, too.
///
/// # Errors
/// As [`find`].
pub fn find_to_run(path: &Path) -> Result<Vec<Found>, Complaint> {
    find(path).map_err(|complaint| complaint.help("a graph is named by its file"))
}

impl Found {
    pub fn path(&self) -> &Path {
        match self {
            Found::Rules(path) | Found::Case(path) => path,
        }
    }
}

/// Reads the case that a JSON file describes.
///
/// # Errors
/// One of its files is missing, or not what it should be.
pub fn read(path: &Path) -> Result<Case, Complaint> {
    let shown = path.display().to_string();
    let recipe = recipe(path)?;
    let before = beside(path, "before")?.ok_or_else(|| {
        Complaint::error("case::no-graph", "the case has no graph to run on")
            .at(shown.clone())
            .help("it is beside it, with the same name and `.before.` in the place of `.json`")
    })?;
    let before = graph(&before)?;
    let end = match (beside(path, "symbols")?, recipe.status) {
        (Some(table), _) => CaseEnd::Symbols(table_text(&table)?),
        (None, Status::Error) => CaseEnd::Failure,
        // A pass that changes nothing.
        (None, Status::Ok) => match beside(path, "after")? {
            Some(after) => CaseEnd::Graph(graph(&after)?),
            None => CaseEnd::Graph(before.clone()),
        },
    };
    let defaults = path.ancestors().skip(1).map(|folder| folder.join(DEFAULTS)).find(|file| file.is_file());
    let mut options = defaults.map(|file| self::recipe(&file)).transpose()?.unwrap_or_default().options;
    options.extend(recipe.options);
    options.extend(recipe.prepared.map(|prepared| (PREPARE.to_owned(), prepared.to_string())));
    Ok(Case {
        steps: recipe.pass.iter().map(|pass| Sym::new(pass)).collect(),
        options,
        environment: recipe.env,
        graph: recipe.graph,
        node: recipe.node,
        sort: recipe.sort_first,
        before,
        end,
    })
}

fn recipe(path: &Path) -> Result<Recipe, Complaint> {
    let shown = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| unreadable(&shown, &error))?;
    serde_json::from_slice(&text).map_err(|error| {
        Complaint::error("case::recipe", format!("the case cannot be read: {error}")).at(shown)
    })
}

/// The file `NAME.PART.*` beside `NAME.json`; the first by name if there are several.
fn beside(path: &Path, part: &str) -> Result<Option<PathBuf>, Complaint> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_stem()) else { return Ok(None) };
    let mut start: OsString = name.to_owned();
    start.push(format!(".{part}."));
    // The usual ending is tried first: a folder of a thousand cases is not to be listed a thousand times.
    let mut usual = start.clone();
    usual.push("txt.gz");
    let usual = folder.join(usual);
    if usual.is_file() {
        return Ok(Some(usual));
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let shown = folder.display().to_string();
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(&shown, &error))? {
        let path = entry.map_err(|error| unreadable(&shown, &error))?.path();
        let name = path.file_name().map(|name| name.as_encoded_bytes()).unwrap_or_default();
        if name.starts_with(start.as_encoded_bytes()) {
            found.push(path);
        }
    }
    Ok(found.into_iter().min())
}

fn graph(path: &Path) -> Result<Snapshot, Complaint> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| unreadable(&shown, &error))?;
    match load(&bytes, &shown, &LoadContext::default()) {
        Ok(loaded) => Ok(loaded.snapshot),
        Err(error) => Err(format_complaint(&error, &shown, &bytes)),
    }
}

fn table_text(path: &Path) -> Result<String, Complaint> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| unreadable(&shown, &error))?;
    let bytes = inflate(&bytes, TABLE_LIMIT)
        .map_err(|error| Complaint::error(error.code, error.message).at(shown.clone()))?;
    String::from_utf8(bytes.into_owned())
        .map_err(|_| Complaint::error("case::not-text", "the symbol table is not UTF-8 text").at(shown))
}
