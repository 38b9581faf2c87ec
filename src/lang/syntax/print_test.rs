//! Tests as text.

use super::ast::{AnchorName, Expect, ExpectKind, ExpectedAmount, Raw, Test};
use super::print::{Printer, position_word};
use super::print_expr::{full, names, string};

impl Printer {
    pub(super) fn test(&mut self, head: &str, test: &Test) {
        let passes =
            if test.passes.is_empty() { String::new() } else { format!(" for {}", names(&test.passes)) };
        self.braces(&format!("{head}{passes}"), |printer| {
            for (name, value) in &test.options {
                printer.line(&format!("option {} = {}", name.text, full(value)));
            }
            if let Some(on) = test.on {
                printer.line(&format!("on {}", node(on.text.as_str())));
            }
            if test.twice {
                printer.line("twice");
            }
            if let Some(graph) = &test.graph {
                printer.line(&raw("graph", graph));
            }
            for expect in &test.expects {
                printer.line(&format!("expect {}", expectation(expect)));
            }
        });
    }
}

fn expectation(expect: &Expect) -> String {
    let anchor = |anchor: &AnchorName| format!("{}:{}", node(&anchor.node), anchor.index);
    let no = |present: &bool| if *present { "" } else { "no " };
    match &expect.kind {
        ExpectKind::Nothing => "nothing".to_owned(),
        ExpectKind::Insert { position, anchors, by, named } => {
            let listed: Vec<String> = anchors.iter().map(anchor).collect();
            let listed = if listed.len() == 1 { listed.concat() } else { format!("[{}]", listed.join(", ")) };
            let by = by.map(|by| format!(" by {}", by.text)).unwrap_or_default();
            let named = named.as_ref().map(|named| format!(" named {}", string(named))).unwrap_or_default();
            format!("insert {} {listed}{by}{named}", position_word(*position))
        }
        ExpectKind::Edge { present, from, to } => {
            format!("{}edge {} -> {}", no(present), anchor(from), anchor(to))
        }
        ExpectKind::Control { present, from, to } => {
            format!("{}control {} => {}", no(present), node(from), node(to))
        }
        ExpectKind::Error(message) => format!("error {}", string(message)),
        ExpectKind::Warn { present, code, part } => {
            let part = part.as_ref().map(|part| format!(" {}", string(part))).unwrap_or_default();
            format!("{}warn {}{part}", no(present), code.text)
        }
        ExpectKind::Kept { node: name, step } => {
            format!(
                "kept {}{}",
                node(name),
                step.map(|step| format!(" by {}", step.text)).unwrap_or_default()
            )
        }
        ExpectKind::Done { node: name } => format!("done {}", node(name)),
        ExpectKind::Measure { name, before, after } => {
            let before = before.map(|before| format!("{} -> ", amount(before))).unwrap_or_default();
            format!("measure {} {before}{}", name.text, amount(*after))
        }
        ExpectKind::Graph(graph) => raw("graph", graph),
        ExpectKind::That(condition) => format!("that {}", full(condition)),
    }
}

fn amount(amount: ExpectedAmount) -> String {
    match amount.unknown {
        0 => amount.sum.to_string(),
        unknown => format!("{} and {unknown} unknown", amount.sum),
    }
}

fn raw(head: &str, raw: &Raw) -> String {
    format!("{head} {{{}}}", raw.text)
}

/// A node's name, in quotes unless it is a word.
fn node(name: &str) -> String {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    if is_word { name.to_owned() } else { string(name) }
}
