//! The state of the server: the database kept at the texts of the editor, and what the client was told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, InitializeParams, Location,
    MessageType, NumberOrString, PublishDiagnosticsParams, ShowMessageParams, Uri, notification,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::files::{Files, Role, role};
use super::place::{Encoding, Lines, path_of};
use super::requests;
use super::wire::{In, Out};
use super::work::{CountJob, GraphCounts, LintJob, Work, Workers};
use crate::engine::{RuleDiagnostic, Session};
use crate::graph::Sym;
use crate::lang::lint::Finding;
use crate::lang::syntax::ast::{Kind, Span};
use crate::lang::{Level, Place};

/// How the server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Ordered,
    Lost,
}

/// What of the client matters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Client {
    watches: bool,
    refreshes_hints: bool,
    refreshes_lenses: bool,
}

/// Findings of the linter with the texts that they are about.
#[derive(Debug, Default)]
pub struct Linted {
    pub files: Vec<(String, Arc<str>)>,
    pub found: Vec<Finding>,
}

/// What the client was told of a file.
struct Told {
    uri: Uri,
    /// Of the text that it was told about.
    version: Option<i32>,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

pub struct Server {
    out: Out,
    phase: Phase,
    client: Client,
    environment: BTreeMap<String, String>,
    workers: Workers,
    pub files: Files,
    pub session: Session,
    pub linted: Linted,
    pub counts: Vec<GraphCounts>,
    /// Failures of tests that were run on demand, by file.
    pub failures: BTreeMap<String, Vec<RuleDiagnostic>>,
    /// What the client was told of each file.
    told: BTreeMap<String, Told>,
    /// The number of the newest edit.
    edit: u64,
    /// The newest edit that has been answered with diagnostics.
    answered: u64,
    asked: i32,
}

impl Server {
    /// # Errors
    /// A thread cannot be started.
    pub fn start(
        out: Out,
        to: &Sender<In>,
        environment: BTreeMap<String, String>,
    ) -> std::io::Result<Server> {
        let files = Files::new(None, Encoding::Utf16);
        let mut session = Session::new(files.sources());
        session.expect_edits();
        Ok(Server {
            out,
            phase: Phase::New,
            client: Client::default(),
            environment,
            workers: Workers::start(to)?,
            session,
            files,
            linted: Linted::default(),
            counts: Vec::new(),
            failures: BTreeMap::new(),
            told: BTreeMap::new(),
            edit: 0,
            answered: 0,
            asked: 0,
        })
    }

    /// Takes what waits, in order: edits at once, diagnostics after the last of them. Requests that the client has
    /// taken back are not looked at.
    pub fn take(&mut self, waiting: Vec<In>) -> Option<End> {
        let cancelled: BTreeSet<String> = waiting
            .iter()
            .filter_map(|one| match one {
                In::Message(Message::Notification(one)) if one.method == "$/cancelRequest" => {
                    Some(one.params.get("id")?.to_string())
                }
                _ => None,
            })
            .collect();
        for one in waiting {
            match one {
                In::Message(Message::Request(request)) => {
                    let id = serde_json::to_value(&request.id).unwrap_or_default().to_string();
                    if cancelled.contains(&id) {
                        let message = "canceled by client".to_owned();
                        let code = ErrorCode::RequestCanceled as i32;
                        self.out.respond(Response::new_err(request.id, code, message));
                    } else {
                        self.request(request);
                    }
                }
                In::Message(Message::Notification(one)) => {
                    if let Some(end) = self.notification(one) {
                        return Some(end);
                    }
                }
                // Answers to what the server asked do not matter.
                In::Message(Message::Response(_)) => {}
                In::Broken(why) => self.out.refuse(&why),
                In::Worked(work) => self.worked(work),
                In::Closed => return Some(End::Lost),
            }
        }
        self.settle();
        None
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let refusal = match (self.phase, method.as_str()) {
            (Phase::New, "initialize") => match self.initialize(params) {
                Ok(result) => {
                    self.out.respond(Response::new_ok(id, result));
                    return;
                }
                Err(why) => (ErrorCode::InvalidParams, why),
            },
            (Phase::New, _) => (ErrorCode::ServerNotInitialized, "`initialize` comes first".to_owned()),
            (Phase::ShutDown, _) => (ErrorCode::InvalidRequest, "the server is shut down".to_owned()),
            (Phase::Running, "initialize") => {
                (ErrorCode::InvalidRequest, "the server is initialized already".to_owned())
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.out.respond(Response::new_ok(id, serde_json::Value::Null));
                return;
            }
            (Phase::Running, method) => {
                let response = requests::answer(self, id, method, params);
                self.out.respond(response);
                return;
            }
        };
        self.out.respond(Response::new_err(id, refusal.0 as i32, refusal.1));
    }

    fn initialize(&mut self, params: serde_json::Value) -> Result<serde_json::Value, String> {
        let params: InitializeParams = serde_json::from_value(params).map_err(|error| error.to_string())?;
        let general = params.capabilities.general.as_ref();
        let offered = general.and_then(|general| general.position_encodings.as_deref()).unwrap_or_default();
        let encoding = match offered.iter().any(|offer| offer.as_str() == "utf-8") {
            true => Encoding::Utf8,
            false => Encoding::Utf16,
        };
        let workspace = params.capabilities.workspace.as_ref();
        self.client = Client {
            watches: workspace
                .and_then(|workspace| workspace.did_change_watched_files)
                .and_then(|watched| watched.dynamic_registration)
                .unwrap_or(false),
            refreshes_hints: workspace
                .and_then(|workspace| workspace.inlay_hint.as_ref()?.refresh_support)
                .unwrap_or(false),
            refreshes_lenses: workspace
                .and_then(|workspace| workspace.code_lens.as_ref()?.refresh_support)
                .unwrap_or(false),
        };
        #[allow(deprecated, reason = "older clients give nothing else")]
        let old = params.root_uri.as_ref();
        let folder = params.workspace_folders.as_deref().and_then(<[_]>::first).map(|folder| &folder.uri);
        self.files = Files::new(folder.or(old).and_then(path_of), encoding);
        self.phase = Phase::Running;
        self.reset();
        let encoding = if encoding == Encoding::Utf8 { "utf-8" } else { "utf-16" };
        Ok(json!({
            "capabilities": requests::capabilities(encoding),
            "serverInfo": {"name": "anchorwatch", "version": env!("CARGO_PKG_VERSION")},
        }))
    }

    /// `None` also for what cannot be read: nobody waits for an answer.
    fn notification(&mut self, notification: Notification) -> Option<End> {
        if notification.method == "exit" {
            return Some(if self.phase == Phase::ShutDown { End::Ordered } else { End::Lost });
        }
        if self.phase != Phase::Running {
            return None;
        }
        let Notification { method, params } = notification;
        match method.as_str() {
            "initialized" => self.watch(),
            "textDocument/didOpen" => {
                let params = read::<lsp_types::DidOpenTextDocumentParams>(params)?;
                let document = params.text_document;
                let key = self.files.open(document.uri, document.version, &document.text);
                self.reset_for(&key);
            }
            "textDocument/didChange" => {
                let params = read::<lsp_types::DidChangeTextDocumentParams>(params)?;
                self.change(&params);
            }
            "textDocument/didClose" => {
                let params = read::<lsp_types::DidCloseTextDocumentParams>(params)?;
                let key = self.files.key(&params.text_document.uri);
                self.files.close(&key);
                self.failures.remove(&key);
                self.reset();
            }
            "textDocument/didSave" => {
                let params = read::<lsp_types::DidSaveTextDocumentParams>(params)?;
                if role(&self.files.key(&params.text_document.uri)) == Role::Settings {
                    self.reset();
                }
            }
            "workspace/didChangeWatchedFiles" | "workspace/didChangeConfiguration" => self.reset(),
            // What is not known is none of ours.
            _ => {}
        }
        None
    }

    /// Asks the client to tell of files that change on disk.
    fn watch(&mut self) {
        if !self.client.watches {
            return;
        }
        let watchers = json!([{"globPattern": "**/*.anchor"}, {"globPattern": "**/anchorwatch.toml"}]);
        let registration = json!({
            "id": "files", "method": "workspace/didChangeWatchedFiles",
            "registerOptions": {"watchers": watchers},
        });
        self.ask("client/registerCapability", json!({"registrations": [registration]}));
    }

    fn ask(&mut self, method: &str, params: serde_json::Value) {
        self.asked = self.asked.wrapping_add(1);
        self.out.ask(self.asked, method, params);
    }

    pub fn show(&self, level: MessageType, message: impl Into<String>) {
        let params = ShowMessageParams { typ: level, message: message.into() };
        self.out.notify::<notification::ShowMessage>(params);
    }

    fn change(&mut self, params: &lsp_types::DidChangeTextDocumentParams) {
        let key = self.files.key(&params.text_document.uri);
        let Some(open) = self.files.opened(&key) else { return };
        let mut text = open.lines.text().to_owned();
        let mut lines = open.lines.clone();
        for change in &params.content_changes {
            match change.range {
                None => text.clone_from(&change.text),
                Some(range) => text.replace_range(lines.bytes(range), &change.text),
            }
            lines = Arc::new(Lines::new(text.as_str().into(), self.files.encoding));
        }
        self.files.change(&key, params.text_document.version, &text);
        self.failures.remove(&key);
        self.edit += 1;
        match role(&key) {
            Role::Rules => self.session.set_text(&key, &text),
            Role::Settings => self.reset(),
            Role::Graph | Role::Other => {}
        }
    }

    /// A file was opened: one of the rule set has another text now, another may be new to it.
    fn reset_for(&mut self, key: &str) {
        self.edit += 1;
        let Some(open) = self.files.opened(key) else { return };
        let text = open.lines.text().to_owned();
        if role(key) == Role::Rules && self.session.file_text(key).is_some() {
            self.session.set_text(key, &text);
        } else {
            self.reset();
        }
    }

    /// Brings the database to what files and settings say now.
    fn reset(&mut self) {
        self.edit += 1;
        self.files.reload();
        self.session.set_files(self.files.sources());
        let options = self.files.workspace.options.clone();
        for complaint in self.session.set_options(options, self.environment.clone()) {
            self.show(MessageType::WARNING, format!("anchorwatch.toml: {}", complaint.diagnostic.message));
        }
    }

    /// Tells what is wrong, and starts the work that an edit brings.
    fn settle(&mut self) {
        if self.phase != Phase::Running || self.answered == self.edit {
            return;
        }
        self.answered = self.edit;
        self.tell();
        let texts = self.files.sources();
        let lints: LintJob = texts
            .files
            .iter()
            .map(|(key, text, _)| (key.clone(), Arc::from(text.as_str()), self.files.lints(key).cloned()))
            .collect();
        let graphs = self.files.workspace.graphs.clone();
        if graphs.is_empty() {
            self.counts.clear();
        } else {
            let passes = self.files.workspace.passes.iter().map(|name| Sym::new(name)).collect();
            let session = self.session.handle();
            let job = CountJob { edit: self.edit, session, graphs, passes, sources: texts };
            // Of the two threads, which live as long as the server, that which has more to do is begun first.
            let _ = self.workers.count.send(job);
        }
        let _ = self.workers.lint.send(lints);
    }

    fn worked(&mut self, work: Work) {
        match work {
            Work::Lints { files, found } => {
                self.linted = Linted { files, found };
                if self.answered == self.edit {
                    self.tell();
                }
            }
            Work::Counts { edit, graphs } => {
                if edit != self.edit {
                    return;
                }
                let before = std::mem::replace(&mut self.counts, graphs);
                // Rules with errors are not run: what was counted last still says something.
                for graph in self.counts.iter_mut().filter(|graph| !graph.ran) {
                    if let Some(old) = before.iter().find(|old| old.name == graph.name) {
                        *graph = old.clone();
                    }
                }
                if self.client.refreshes_hints {
                    self.ask("workspace/inlayHint/refresh", serde_json::Value::Null);
                }
                if self.client.refreshes_lenses {
                    self.ask("workspace/codeLens/refresh", serde_json::Value::Null);
                }
                let graphs: Vec<&str> = self.counts.iter().map(|graph| graph.name.as_str()).collect();
                let open = self.files.all_open();
                let open: Vec<_> =
                    open.map(|(_, open)| json!({"uri": open.uri, "version": open.version})).collect();
                self.out.notify::<Counted>(json!({"graphs": graphs, "documents": open}));
            }
            Work::Unreadable(why) => self.show(MessageType::WARNING, why),
        }
    }

    /// The findings of the linter in a file, if its text is still the one that was linted.
    pub fn lints(&self, key: &str, text: &str) -> impl Iterator<Item = &Finding> {
        let file = self.linted.files.iter().position(|(known, linted)| known == key && **linted == *text);
        self.linted.found.iter().filter(move |found| Some(found.file) == file)
    }

    /// Tells the client of the files about which something else is to be said than before.
    pub fn tell(&mut self) {
        let mut found: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
        let failures: Vec<RuleDiagnostic> = self.failures.values().flatten().cloned().collect();
        for complaint in self.session.diagnostics().into_iter().chain(failures) {
            let Some((key, place)) = complaint.places.first().cloned() else { continue };
            let spans = complaint.places;
            if let Some(told) = self.diagnostic(&complaint.diagnostic, (&key, place), &spans) {
                found.entry(key).or_default().push(told);
            }
        }
        for (key, text) in self.linted.files.clone() {
            let now = self.files.lines(&key);
            if now.is_none_or(|lines| lines.text() != &*text) {
                continue;
            }
            for finding in self.lints(&key, &text).cloned().collect::<Vec<_>>() {
                let spans: Vec<_> = std::iter::zip(&finding.diagnostic.labels, &finding.files)
                    .filter_map(|(label, file)| {
                        let (Place::File(span) | Place::Item(span)) = label.place;
                        Some((self.linted.files.get(*file)?.0.clone(), bytes(span)))
                    })
                    .collect();
                let Some((_, place)) = spans.first().cloned() else { continue };
                let told = self.diagnostic(&finding.diagnostic, (&key, place), &spans);
                found.entry(key.clone()).or_default().extend(told);
            }
        }
        if let Some((key, mistakes)) = self.files.mistakes.clone()
            && let Some(lines) =
                self.files.lines(&key).or_else(|| self.files.opened(&key).map(|open| open.lines.clone()))
        {
            let told = mistakes.iter().map(|mistake| Diagnostic {
                range: lines.range(bytes(mistake.span)),
                severity: Some(DiagnosticSeverity::ERROR),
                source: Some(SOURCE.to_owned()),
                message: with_help(&mistake.message, mistake.help.as_deref()),
                ..Diagnostic::default()
            });
            found.entry(key).or_default().extend(told);
        }
        for (key, open) in self.files.all_open().filter(|(key, _)| role(key) == Role::Graph) {
            let (_, errors) = crate::format::notation::parse(open.lines.text());
            let told = errors.iter().map(|error| Diagnostic {
                range: open.lines.range(error.span.clone().unwrap_or(0..0)),
                severity: Some(DiagnosticSeverity::ERROR),
                source: Some(SOURCE.to_owned()),
                message: with_help(&error.message, error.help.as_deref()),
                ..Diagnostic::default()
            });
            found.entry(key.clone()).or_default().extend(told);
        }
        self.publish(found);
    }

    fn publish(&mut self, mut found: BTreeMap<String, Vec<Diagnostic>>) {
        for key in self.told.keys().chain(self.files.all_open().map(|(key, _)| key)) {
            if !found.contains_key(key) {
                found.insert(key.clone(), Vec::new());
            }
        }
        for (key, diagnostics) in found {
            // Nobody can mend the shipped rules.
            if self.files.is_shipped(&key) && self.files.opened(&key).is_none() {
                continue;
            }
            let before = self.told.get(&key);
            let open = self.files.opened(&key);
            let (is_open, version) = (open.is_some(), open.map(|open| open.version));
            // A new version is answered even if nothing else is to be said of it.
            let same = |told: &Told| told.diagnostics == diagnostics && told.version == version;
            if before.is_some_and(same) || (before.is_none() && diagnostics.is_empty() && !is_open) {
                continue;
            }
            let known = before.map(|told| told.uri.clone());
            let Some(uri) = self.files.uri(&key).or(known) else { continue };
            let params =
                PublishDiagnosticsParams { uri: uri.clone(), diagnostics: diagnostics.clone(), version };
            self.out.notify::<notification::PublishDiagnostics>(params);
            if diagnostics.is_empty() && !is_open {
                self.told.remove(&key);
            } else {
                self.told.insert(key, Told { uri, version, diagnostics });
            }
        }
    }

    /// A complaint as the protocol has it.
    fn diagnostic(
        &mut self,
        complaint: &crate::lang::Diagnostic,
        (key, place): (&str, std::ops::Range<usize>),
        spans: &[(String, std::ops::Range<usize>)],
    ) -> Option<Diagnostic> {
        let lines = self.files.lines(key)?;
        let mut related = Vec::new();
        for (label, (key, place)) in std::iter::zip(&complaint.labels, spans).skip(1) {
            let (Some(lines), Some(uri)) = (self.files.lines(key), self.files.uri(key)) else { continue };
            let location = Location { uri, range: lines.range(place.clone()) };
            related.push(DiagnosticRelatedInformation { location, message: label.text.clone() });
        }
        let label = complaint.labels.first().map_or("", |label| label.text.as_str());
        let message = match label {
            "" => complaint.message.clone(),
            label => format!("{}: {label}", complaint.message),
        };
        let is_unused = matches!(complaint.code, "rule::unused" | "rule::unreachable");
        Some(Diagnostic {
            range: lines.range(place),
            severity: Some(match complaint.level {
                Level::Error => DiagnosticSeverity::ERROR,
                Level::Warning => DiagnosticSeverity::WARNING,
                Level::Note => DiagnosticSeverity::INFORMATION,
            }),
            code: Some(NumberOrString::String(complaint.code.to_owned())),
            source: Some(SOURCE.to_owned()),
            message: with_help(&message, complaint.help.as_deref()),
            related_information: (!related.is_empty()).then_some(related),
            tags: is_unused.then(|| vec![DiagnosticTag::UNNECESSARY]),
            ..Diagnostic::default()
        })
    }

    /// How often a rule fires on each pinned graph, by the graph's name.
    pub fn fires(&self, kind: Kind, name: Sym) -> impl Iterator<Item = (&str, usize)> {
        let count = move |graph: &GraphCounts| graph.fires.get(&(kind, name.as_str())).copied().unwrap_or(0);
        self.counts.iter().filter(|graph| graph.ran).map(move |graph| (graph.name.as_str(), count(graph)))
    }
}

/// Told when the counts of the pinned graphs are new, with the versions of the open documents that they are of.
enum Counted {}

impl notification::Notification for Counted {
    type Params = serde_json::Value;
    const METHOD: &'static str = "anchorwatch/counted";
}

/// Who says it.
pub const SOURCE: &str = "anchorwatch";

fn with_help(message: &str, help: Option<&str>) -> String {
    help.map_or_else(|| message.to_owned(), |help| format!("{message}\nhelp: {help}"))
}

pub fn bytes(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

/// Parameters of a notification; those that are not what they should be are nobody's.
fn read<T: DeserializeOwned>(params: serde_json::Value) -> Option<T> {
    serde_json::from_value(params).ok()
}
