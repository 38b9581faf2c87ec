//! Graph files in, and the graphs, nodes and anchors that arguments name.
//!
//! Promise: a file that cannot be used gives one complaint with the file, the place in it and what was expected.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::desk::{Desk, Stop};
use super::session::{Engine, ExplainTarget};
use crate::format::{FormatError, FormatWarning, LoadContext, Loaded, Place};
use crate::graph::{Anchor, GraphId, NodeId, Snapshot};
use crate::lang::Level;
use crate::lang::diagnostic::did_you_mean;
use crate::lang::syntax::LONGEST_FILE;
use crate::report::summary::count;
use crate::report::{Complaint, Excerpt, Mark, Source};
use crate::workspace::is_named_as_rules;

/// Bytes of text around a mistake that are worth showing; a dump can have lines of megabytes.
const EXCERPT_LIMIT: usize = 2000;

/// A name that says that a file is graph notation.
const NOTATION_NAME: &str = "-.graph";

/// Whether the argument means standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// One GRAPH argument.
#[derive(Clone, Debug)]
pub struct GraphFile {
    pub path: PathBuf,
    /// What a person calls it.
    pub shown: String,
    /// What standard input held, if this is it.
    stdin: Option<Arc<[u8]>>,
}

impl GraphFile {
    /// A file.
    pub fn at(path: &Path) -> GraphFile {
        GraphFile { path: path.to_owned(), shown: path.display().to_string(), stdin: None }
    }

    /// All of the arguments, standard input read.
    pub fn all(paths: &[PathBuf], desk: &mut Desk<'_, '_>) -> Result<Vec<GraphFile>, Stop> {
        if paths.iter().filter(|path| is_dash(path)).count() > 1 {
            let message = "standard input can be read once, but `-` is given more than once";
            return Err(Complaint::error("cli::stdin-twice", message).into());
        }
        paths
            .iter()
            .map(|path| {
                let mut stdin = None;
                if is_dash(path) {
                    let bytes = read_all(&mut desk.io.stdin, graph_limit());
                    stdin = Some(bytes.map_err(|error| unreadable("standard input", &error))?.into());
                }
                let shown = match is_dash(path) {
                    true => "<stdin>".to_owned(),
                    false => path.display().to_string(),
                };
                Ok(GraphFile { path: path.clone(), shown, stdin })
            })
            .collect()
    }

    /// Bytes of the file, if they can be told without reading.
    pub fn size(&self) -> u64 {
        match &self.stdin {
            Some(bytes) => bytes.len() as u64,
            None => std::fs::metadata(&self.path).map_or(0, |meta| meta.len()),
        }
    }

    /// Reads the graph.
    pub fn load(&self, engine: &dyn Engine) -> Result<Loaded, Complaint> {
        let read;
        let bytes: &[u8] = match &self.stdin {
            Some(bytes) => bytes,
            None => {
                read =
                    read_file(&self.path, graph_limit()).map_err(|error| unreadable(&self.shown, &error))?;
                &read
            }
        };
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = if self.stdin.is_some() { "" } else { &*name };
        let loaded = match engine.load(bytes, name) {
            // Standard input has no name to tell the notation by.
            Err(error) if self.stdin.is_some() => match engine.load(bytes, NOTATION_NAME) {
                Ok(loaded) => Ok(loaded),
                Err(second) if error.code == "format::unknown" && second.code != "format::syntax" => {
                    Err(second)
                }
                Err(_) => Err(error),
            },
            other => other,
        };
        loaded.map_err(|error| format_complaint(&error, &self.shown, bytes))
    }
}

/// Bytes of the largest graph file.
fn graph_limit() -> u64 {
    LoadContext::default().size_limit
}

/// The bytes of a file, but at most one more than `limit`: enough to see that it is too large. A device may never end.
pub fn read_file(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    read_all(&mut std::fs::File::open(path)?, limit)
}

/// Rule text from a stream, at most one byte more than a rule file may have.
pub fn read_rules(reader: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    read_all(reader, LONGEST_FILE as u64)
}

fn read_all(reader: &mut dyn Read, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file that the system does not give.
pub fn unreadable(shown: &str, error: &std::io::Error) -> Complaint {
    let complaint = Complaint::error("io::read", format!("`{shown}` cannot be read: {}", reason(error)));
    match error.kind() {
        std::io::ErrorKind::NotFound => complaint.help("paths are taken from the current directory"),
        std::io::ErrorKind::IsADirectory => complaint.help("give the graph file inside it"),
        _ => complaint,
    }
}

/// The system's words in the style of ours.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// What the reader of a format says, with the lines it speaks of if they are text.
pub fn format_complaint(error: &FormatError, shown: &str, bytes: &[u8]) -> Complaint {
    let help = match is_named_as_rules(Path::new(shown)) {
        true => Some("this is named like rules, which are given behind `--rules` or `--overlay`".to_owned()),
        false => error.help.clone(),
    };
    let complaint = Complaint::error(error.code, error.message.clone()).maybe_help(help);
    match excerpt(error, shown, bytes) {
        Some(excerpt) => complaint.excerpt(excerpt),
        None => complaint.at(place_in(shown, error.place)),
    }
}

fn place_in(shown: &str, place: Place) -> String {
    match place {
        Place::None => shown.to_owned(),
        Place::Line { line, column } => format!("{shown}:{line}:{column}"),
        Place::Byte(_) => format!("{shown}, {place}"),
    }
}

/// The lines around the error's span. The reader counts in what it inflated, so none for compressed files.
fn excerpt(error: &FormatError, shown: &str, bytes: &[u8]) -> Option<Excerpt> {
    let Place::Line { line, .. } = error.place else { return None };
    let span = error.span.clone()?;
    if bytes.starts_with(&[0x1f, 0x8b]) || span.start > bytes.len() {
        return None;
    }
    let start = memchr::memrchr(b'\n', &bytes[..span.start]).map_or(0, |at| at + 1);
    let (above, first) = match start {
        0 => (0, line),
        _ => (memchr::memrchr(b'\n', &bytes[..start - 1]).map_or(0, |at| at + 1), line.saturating_sub(1)),
    };
    let from = if span.start - above > EXCERPT_LIMIT { start } else { above };
    let first = if from == start { line } else { first };
    let line_end = memchr::memchr(b'\n', &bytes[span.start..]).map_or(bytes.len(), |at| span.start + at);
    if line_end - from > EXCERPT_LIMIT {
        return None;
    }
    let text = std::str::from_utf8(&bytes[from..line_end]).ok()?;
    let source = Arc::new(Source::part(shown, text, first as usize));
    let span = span.start - from..span.end.min(line_end).max(span.start) - from;
    Some(Excerpt { source, marks: vec![Mark { span, text: String::new() }] })
}

/// Something odd that a reader could live with.
pub fn warning(warning: &FormatWarning, shown: &str) -> Complaint {
    Complaint::new(Level::Warning, warning.code, warning.message.clone()).at(place_in(shown, warning.place))
}

/// Every graph: the root, then the subgraphs in registry order.
fn graphs(snapshot: &Snapshot) -> impl Iterator<Item = GraphId> + '_ {
    std::iter::once(GraphId::ROOT).chain(snapshot.registry())
}

/// The graph of this name.
pub fn find_graph(snapshot: &Snapshot, name: Option<&str>) -> Result<GraphId, Complaint> {
    let Some(name) = name else { return Ok(GraphId::ROOT) };
    let named = |id: &GraphId| snapshot.get_graph(*id).is_some_and(|graph| &*graph.name == name);
    if let Some(found) = graphs(snapshot).find(named) {
        return Ok(found);
    }
    let names = graphs(snapshot).filter_map(|id| snapshot.get_graph(id)).map(|graph| &*graph.name);
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let help = suggestion(name, &names).or_else(|| {
        if names.is_empty() {
            return Some("the graphs of this model have no names".to_owned());
        }
        let some: Vec<String> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
        let more = if names.len() > some.len() { ", …" } else { "" };
        Some(format!("the model has {}{more}", some.join(", ")))
    });
    Err(Complaint::error("graph::unknown-graph", format!("no graph is named `{name}`")).maybe_help(help))
}

/// The node of this name, in the graph or inside it.
pub fn find_node(snapshot: &Snapshot, graph: GraphId, name: &str) -> Result<NodeId, Complaint> {
    let inside = snapshot.all_nodes(graph);
    let named: Vec<NodeId> = inside.iter().copied().filter(|id| &*snapshot.node(*id).name == name).collect();
    match named.as_slice() {
        [one] => Ok(*one),
        [] => {
            let names: BTreeSet<&str> = inside.iter().map(|id| &*snapshot.node(*id).name).collect();
            let names: Vec<&str> = names.into_iter().collect();
            let place = match &*snapshot.graph(graph).name {
                "" => String::new(),
                place => format!(" of graph `{place}`"),
            };
            let message = format!("no node{place} is named `{name}`");
            Err(Complaint::error("graph::unknown-node", message).maybe_help(suggestion(name, &names)))
        }
        several => {
            let owners: Vec<String> = several
                .iter()
                .map(|id| format!("`{}`", snapshot.graph(snapshot.node(*id).graph).name))
                .collect();
            let message = format!("{} nodes are named `{name}`", several.len());
            Err(Complaint::error("graph::ambiguous-node", message)
                .help(format!("choose one of the graphs {} with `--graph`", owners.join(", "))))
        }
    }
}

/// Names that are worth comparing letter by letter: a model can have a million.
const SUGGEST_FROM: usize = 20_000;

/// Advice that names the nearest of `names`.
pub fn suggestion(word: &str, names: &[&str]) -> Option<String> {
    let near = did_you_mean(word, names.iter().copied().take(SUGGEST_FROM))?;
    Some(format!("did you mean `{near}`?"))
}

/// The anchor that has this label (`NODE_in_0`), as a target is written: groups and reasons tell labels.
fn of_label(snapshot: &Snapshot, graph: GraphId, text: &str) -> Option<String> {
    let (rest, index) = text.rsplit_once('_')?;
    let (name, side) = rest.rsplit_once('_')?;
    let is_label = matches!(side, "in" | "out") && index.parse::<u32>().is_ok();
    (is_label && find_node(snapshot, graph, name).is_ok()).then(|| format!("{name}:{side}{index}"))
}

/// `NODE`, `NODE:inN` or `NODE:outN`. A node's own name may have colons, so the whole text is tried first.
pub fn find_target(snapshot: &Snapshot, graph: GraphId, text: &str) -> Result<ExplainTarget, Complaint> {
    let whole = find_node(snapshot, graph, text);
    let Some((name, anchor)) = text.rsplit_once(':') else {
        let node = whole.map_err(|wrong| match of_label(snapshot, graph, text) {
            Some(anchor) => {
                Complaint { below: Vec::new(), ..wrong }.help(format!("the anchor is written `{anchor}`"))
            }
            None => wrong,
        })?;
        return Ok(ExplainTarget { node, anchor: None });
    };
    if let Ok(node) = whole {
        return Ok(ExplainTarget { node, anchor: None });
    }
    let node = find_node(snapshot, graph, name)?;
    let wrong = |message: String| Complaint::error("graph::no-such-anchor", message);
    let (is_in, index) = match (anchor.strip_prefix("in"), anchor.strip_prefix("out")) {
        (Some(index), _) => (true, Some(index)),
        (_, Some(index)) => (false, Some(index)),
        _ => (false, None),
    };
    let index = index.and_then(|index| if index.is_empty() { Some(0) } else { index.parse::<u32>().ok() });
    let index = index.ok_or_else(|| {
        wrong(format!("`{anchor}` is no anchor")).help("an anchor is written `NODE:in0` or `NODE:out1`")
    })?;
    let ports = if is_in { &snapshot.node(node).inputs } else { &snapshot.node(node).outputs };
    if index as usize >= ports.len() {
        let side = if is_in { "input" } else { "output" };
        return Err(wrong(format!("`{name}` has no {side} {index}"))
            .help(format!("it has {}, counted from 0", count(ports.len(), side))));
    }
    let anchor = if is_in { Anchor::In(node.input(index)) } else { Anchor::Out(node.output(index)) };
    Ok(ExplainTarget { node, anchor: Some(anchor) })
}
