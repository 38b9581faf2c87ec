//! What the rules do to the pinned graphs, told where the rules stand: inlay hints and lenses; running a test on demand.

use lsp_types::{
    CodeLens, CodeLensParams, Command, ExecuteCommandParams, InlayHint, InlayHintKind, InlayHintLabel,
    InlayHintParams, MessageType,
};
use serde_json::{Value, json};

use super::index::{file, items};
use super::requests::{RUN_TEST, TELL};
use super::server::Server;
use crate::graph::Sym;
use crate::lang::check::title;
use crate::lang::syntax::ast::{AttributeRule, Item, ItemData, Kind, Span};
use crate::report::summary::count;

/// For how many nodes or anchors of each pinned graph the condition of an entry holds: the graph's name, and `n of m anchors`.
pub fn matched(server: &Server, kind: Kind, name: Sym) -> Vec<(&str, String)> {
    let of = |graph: &super::work::GraphCounts| {
        let matched = graph.matched.iter().find(|matched| (matched.kind, matched.name) == (kind, name))?;
        let what = if matched.nodes { "node" } else { "anchor" };
        Some(format!("{} of {}", matched.count, count(matched.of, what)))
    };
    server.counts.iter().filter_map(|graph| Some((graph.name.as_str(), of(graph)?))).collect()
}

/// Where the condition that is counted ends.
fn condition(item: &Item) -> Option<Span> {
    let end = |span: Span| Span { start: span.end, end: span.end };
    match &item.data {
        ItemData::Attribute { rule: AttributeRule::Where(condition), .. } => Some(end(condition.span)),
        ItemData::Attribute { rule: AttributeRule::Otherwise, .. } => Some(end(item.name.span)),
        ItemData::Pass { subject: Some(subject), .. }
        | ItemData::Lint { subject: Some(subject), .. }
        | ItemData::Chain { subject, .. } => subject.condition.as_ref().map(|condition| end(condition.span)),
        ItemData::Fn { body, .. } => Some(end(body.span)),
        _ => None,
    }
}

pub fn inlay(server: &mut Server, params: &InlayHintParams) -> Option<Vec<InlayHint>> {
    let key = server.files.key(&params.text_document.uri);
    let lines = server.files.lines(&key)?;
    let wanted = lines.bytes(params.range);
    let mut hints = Vec::new();
    for placed in items(server, file(server, &key)?) {
        let Some(item) = &placed.item.item else { continue };
        let Some(place) = condition(item).map(|span| placed.place(span).end) else { continue };
        let counts = matched(server, item.kind, item.name.text);
        if counts.is_empty() || place < wanted.start || place > wanted.end {
            continue;
        }
        let label = match counts.as_slice() {
            [(_, told)] => told.clone(),
            several => {
                several.iter().map(|(graph, told)| format!("{graph}: {told}")).collect::<Vec<_>>().join(", ")
            }
        };
        let graphs: Vec<&str> = counts.iter().map(|(graph, _)| *graph).collect();
        hints.push(InlayHint {
            position: lines.position(place),
            label: InlayHintLabel::String(label),
            kind: Some(InlayHintKind::PARAMETER),
            text_edits: None,
            tooltip: Some(lsp_types::InlayHintTooltip::String(format!("holds on {}", graphs.join(", ")))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        });
    }
    Some(hints)
}

pub fn lenses(server: &mut Server, params: &CodeLensParams) -> Option<Vec<CodeLens>> {
    let uri = &params.text_document.uri;
    let key = server.files.key(uri);
    let lines = server.files.lines(&key)?;
    let mut lenses = Vec::new();
    for placed in items(server, file(server, &key)?) {
        let Some(item) = &placed.item.item else { continue };
        let range = lines.range(placed.keyword());
        for (title, command, arguments) in of_item(server, item, uri.as_str()) {
            let command = Command { title, command: command.to_owned(), arguments: Some(arguments) };
            lenses.push(CodeLens { range, command: Some(command), data: None });
        }
    }
    Some(lenses)
}

fn of_item(server: &Server, item: &Item, uri: &str) -> Vec<(String, &'static str, Vec<Value>)> {
    let name = title(item);
    let tell = |text: String| (text.clone(), TELL, vec![Value::from(text)]);
    match item.kind {
        Kind::Test => vec![("Run test".to_owned(), RUN_TEST, vec![json!(uri), json!(name.as_str())])],
        Kind::Checker | Kind::Always | Kind::Lint => {
            let fires = server.fires(item.kind, name);
            fires.map(|(graph, n)| tell(format!("fires {} on {graph}", count(n, "time")))).collect()
        }
        Kind::Pass | Kind::Chain => {
            let ran = server.counts.iter().filter(|graph| graph.ran);
            let edits = ran.map(|graph| (graph.edits.get(name.as_str()).copied().unwrap_or(0), &graph.name));
            edits.map(|(n, graph)| tell(format!("{} on {graph}", count(n, "edit")))).collect()
        }
        _ => Vec::new(),
    }
}

/// Runs a command.
///
/// # Errors
/// There is no such command, or no such test.
pub fn execute(server: &mut Server, params: &ExecuteCommandParams) -> Result<Option<Value>, String> {
    let text = |number: usize| params.arguments.get(number).and_then(Value::as_str);
    match params.command.as_str() {
        TELL => {
            server.show(MessageType::INFO, text(0).unwrap_or_default());
            Ok(None)
        }
        RUN_TEST => {
            let (Some(uri), Some(name)) = (text(0), text(1)) else {
                return Err("a test is named by the URI of its file and its title".to_owned());
            };
            let uri = uri.parse().map_err(|_| format!("`{uri}` is no URI"))?;
            run_test(server, &server.files.key(&uri), name).map(Some)
        }
        other => Err(format!("there is no command `{other}`")),
    }
}

fn run_test(server: &mut Server, key: &str, name: &str) -> Result<Value, String> {
    let errors =
        server.session.diagnostics().iter().any(|found| found.diagnostic.level == crate::lang::Level::Error);
    if errors {
        return Err("the rules have errors".to_owned());
    }
    let outcomes = server.session.run_tests_named(&|path| path == key, &|title| title == name);
    let Some(outcome) = outcomes.into_iter().next() else { return Err(format!("there is no test `{name}`")) };
    let messages: Vec<String> =
        outcome.failures.iter().map(|found| found.diagnostic.message.clone()).collect();
    match messages.as_slice() {
        [] => server.show(MessageType::INFO, format!("passed: {name}")),
        [first, ..] => server.show(MessageType::ERROR, format!("failed: {name}: {first}")),
    }
    server.failures.insert(key.to_owned(), outcome.failures);
    server.tell();
    Ok(json!({"passed": messages.is_empty(), "failures": messages}))
}
