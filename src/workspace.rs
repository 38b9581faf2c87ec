//! `anchorwatch.toml`: what a folder of rules says of itself.
//!
//! Promise: one reader for all front ends, so that a word means the same to every command and the language server. A mistake is told
//! with its place, and a file with a mistake says nothing at all. Paths are relative to the folder of the file.
//!
//! ```toml
//! rules = "rules"                  # the rule set: a folder or a file; the folder `rules` if there is one, else the shipped one
//! overlays = ["ours.anchor"]       # added to it
//! graphs = ["models/a.txt"]        # pinned: verdicts on them are counted while rules are edited; what `check` checks
//! passes = ["layout"]              # run on them; the default pipeline if left out
//!
//! [options]
//! compat = "sound"
//!
//! [lints]
//! missing-because = "allow"
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::lang::diagnostic::did_you_mean;
use crate::lang::lint::{Settings, SettingsError, table};
use crate::lang::syntax::ast::Span;

/// The name of the file.
pub const FILE: &str = "anchorwatch.toml";

/// Rule files have this extension.
pub const EXTENSION: &str = "anchor";

/// Whether a file is named as rule files are.
pub fn is_named_as_rules(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EXTENSION)
}

/// The rule set of a workspace that names none.
pub const RULES: &str = "rules";

/// Bytes of such a file, at most.
pub const SIZE_LIMIT: u64 = 1 << 20;

/// What may stand in it.
const KEYS: [&str; 6] = ["graphs", "lints", "options", "overlays", "passes", "rules"];

/// What such a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    pub lints: Settings,
    /// A folder of rule files, or one file. `None`: the shipped rules.
    pub rules: Option<PathBuf>,
    pub overlays: Vec<PathBuf>,
    /// The pinned graphs.
    pub graphs: Vec<PathBuf>,
    /// What is run on them; empty: the default pipeline.
    pub passes: Vec<String>,
    /// Values of options, as text by name.
    pub options: BTreeMap<String, String>,
}

/// The nearest settings file beside a path or above it.
pub fn find(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.ancestors().skip(1).map(|folder| folder.join(FILE)).find(|file| file.is_file())
}

/// The rule files that a path stands for: itself, or those of the folder and of the folders below it, by name. Hidden folders and
/// links to folders are left out. `wrong` is told of folders that cannot be listed.
pub fn rule_files(path: &Path, wrong: &mut dyn FnMut(&Path, std::io::Error)) -> Vec<PathBuf> {
    rule_tree(path, wrong).files
}

/// Where rule files may stand.
pub struct RuleTree {
    /// Those that are there, by name.
    pub files: Vec<PathBuf>,
    /// The folders that were gone through, also those without a rule file.
    pub folders: Vec<PathBuf>,
}

/// [`rule_files`], with their folders.
pub fn rule_tree(path: &Path, wrong: &mut dyn FnMut(&Path, std::io::Error)) -> RuleTree {
    if !path.is_dir() {
        return RuleTree { files: vec![path.to_owned()], folders: Vec::new() };
    }
    let mut files = Vec::new();
    let mut folders = vec![path.to_owned()];
    let mut next = 0;
    while let Some(folder) = folders.get(next).cloned() {
        next += 1;
        let mut listed = Vec::new();
        match std::fs::read_dir(&folder).and_then(|entries| {
            for entry in entries {
                let entry = entry?;
                listed.push((entry.file_type()?.is_dir(), entry));
            }
            Ok(())
        }) {
            Ok(()) => {}
            Err(error) => wrong(&folder, error),
        }
        for (is_folder, entry) in listed {
            let path = entry.path().strip_prefix("./").map_or_else(|_| entry.path(), Path::to_owned);
            if is_folder && !entry.file_name().as_encoded_bytes().starts_with(b".") {
                folders.push(path);
            } else if !is_folder && is_named_as_rules(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    RuleTree { files, folders }
}

impl Workspace {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// All mistakes of a kind, if there is one: text that is no TOML, unknown names, values of another type.
    pub fn read(text: &str) -> Result<Workspace, Vec<SettingsError>> {
        let table = table(text)?;
        let table = table.get_ref();
        let mut errors = Vec::new();
        let mut workspace = Workspace::default();
        match Settings::of(table) {
            Ok(lints) => workspace.lints = lints,
            Err(found) => errors.extend(found),
        }
        for (key, value) in table {
            let place = span(&value.span());
            let value = value.get_ref();
            let read = match key.get_ref().as_ref() {
                "lints" => Ok(()),
                "rules" => text_of(value).map(|path| workspace.rules = Some(path.into())),
                "overlays" => texts_of(value).map(|paths| workspace.overlays = all(paths)),
                "graphs" => texts_of(value).map(|paths| workspace.graphs = all(paths)),
                "passes" => texts_of(value).map(|passes| workspace.passes = passes),
                "options" => options_of(value).map(|options| workspace.options = options),
                other => {
                    let help = match did_you_mean(other, KEYS) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("there are `{}`", KEYS.join("`, `")),
                    };
                    let message = format!("`{other}` is no setting");
                    errors.push(SettingsError { message, help: Some(help), span: span(&key.span()) });
                    Ok(())
                }
            };
            if let Err(wanted) = read {
                let message = format!("`{}` is {wanted}", key.get_ref());
                let options = Some(value).filter(|_| key.get_ref() == "options");
                let help = options
                    .and_then(dotted)
                    .map(|name| format!("a name with dots stands in quotes: `\"{name}\" = …`"));
                errors.push(SettingsError { message, help, span: place });
            }
        }
        if errors.is_empty() { Ok(workspace) } else { Err(errors) }
    }

    /// The same with all paths taken from `folder`, where the file lies, and the folder of rules that may be there.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Workspace {
        let beside = folder.join(RULES);
        let beside = || beside.is_dir().then_some(beside);
        self.rules = self.rules.map(|path| folder.join(path)).or_else(beside);
        for path in self.overlays.iter_mut().chain(&mut self.graphs) {
            *path = folder.join(&*path);
        }
        self
    }
}

fn span(range: &std::ops::Range<usize>) -> Span {
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span { start: place(range.start), end: place(range.end) }
}

fn all(paths: Vec<String>) -> Vec<PathBuf> {
    paths.into_iter().map(PathBuf::from).collect()
}

fn text_of(value: &DeValue<'_>) -> Result<String, &'static str> {
    value.as_str().map(str::to_owned).ok_or("a text")
}

fn texts_of(value: &DeValue<'_>) -> Result<Vec<String>, &'static str> {
    let wanted = "a list of texts";
    let list = value.as_array().ok_or(wanted)?;
    list.iter().map(|one| text_of(one.get_ref()).map_err(|_| wanted)).collect()
}

fn options_of(value: &DeValue<'_>) -> Result<BTreeMap<String, String>, &'static str> {
    let wanted = "a table of texts, numbers, `true`, `false`, and lists of them";
    let table: &DeTable<'_> = value.as_table().ok_or(wanted)?;
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        Some((key.clone().into_owned(), option_of(value.get_ref())?))
    };
    table.iter().map(entry).collect::<Option<_>>().ok_or(wanted)
}

/// The name of an option that TOML reads as tables in tables, since its dots are not in quotes.
fn dotted(options: &DeValue<'_>) -> Option<String> {
    let (name, inner) = options.as_table()?.iter().find(|(_, value)| value.get_ref().is_table())?;
    let mut name = name.get_ref().clone().into_owned();
    let mut inner = inner.get_ref().as_table();
    while let Some((next, value)) = inner.and_then(|table| table.iter().next()) {
        name = format!("{name}.{}", next.get_ref());
        inner = value.get_ref().as_table();
    }
    Some(name)
}

/// The value as `--option` would give it.
fn option_of(value: &DeValue<'_>) -> Option<String> {
    Some(match value {
        DeValue::String(text) => text.clone().into_owned(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok()?.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Array(list) => {
            let parts: Option<Vec<String>> = list.iter().map(|one| option_of(one.get_ref())).collect();
            parts?.join(",")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_which_rules_and_graphs() {
        let text = "rules = \"rules\"\noverlays = [\"a.anchor\"]\ngraphs = [\"m/a.txt\", \"/b.pb\"]\n\
                    passes = [\"p\", \"q\"]\n[options]\nx.y = \"z\"\n\"a.b\" = 0x10\nlist = [1, 2]\non = true\n";
        // A dotted key is a table inside a table, and no option.
        let errors = Workspace::read(text).expect_err("x.y is a table");
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].help.as_deref(), Some("a name with dots stands in quotes: `\"x.y\" = …`"));
        let text = text.replace("x.y", "\"x.y\"");
        let read = Workspace::read(&text).expect("a settings file").in_folder(Path::new("/w"));
        assert_eq!(read.rules, Some(PathBuf::from("/w/rules")));
        assert_eq!(read.overlays, [PathBuf::from("/w/a.anchor")]);
        assert_eq!(read.graphs, [PathBuf::from("/w/m/a.txt"), PathBuf::from("/b.pb")]);
        assert_eq!(read.passes, ["p", "q"]);
        let option = |name: &str| read.options.get(name).map(String::as_str);
        assert_eq!(option("x.y"), Some("z"));
        assert_eq!(option("a.b"), Some("16"));
        assert_eq!(option("list"), Some("1,2"));
        assert_eq!(option("on"), Some("true"));
    }

    #[test]
    fn mistakes_have_their_places() {
        let told = |text: &str| {
            let errors = Workspace::read(text).expect_err("a mistake");
            let first = &errors[0];
            let place = text[first.span.start as usize..first.span.end as usize].to_owned();
            (errors.len(), first.message.clone(), place, first.help.clone().unwrap_or_default())
        };
        let (count, message, place, help) = told("graph = []\n");
        assert_eq!((count, place.as_str(), help.as_str()), (1, "graph", "did you mean `graphs`?"));
        assert_eq!(message, "`graph` is no setting");
        let (_, message, place, _) = told("graphs = \"a\"\n");
        assert_eq!((message.as_str(), place.as_str()), ("`graphs` is a list of texts", "\"a\""));
        assert_eq!(told("rules = 1\n").1, "`rules` is a text");
        assert_eq!(told("[lints]\nmissing = \"allow\"\n").1, "there is no lint `missing`");
        assert!(told("rules = \n").1.starts_with("the settings are not understood"));
    }
}
