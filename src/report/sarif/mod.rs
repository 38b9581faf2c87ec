//! Remarks as SARIF 2.1.0, the format that code scanning services read.
//!
//! Promise: one run in one document; the rules that occur are described by their own documentation and text; what
//! kept the program from its work is a notification, never a result. A result keeps its fingerprint when lines
//! around it move, and two that say the same of the same place have different ones.

mod model;

use std::collections::BTreeMap;

use model::{
    ArtifactChange, ArtifactLocation, Content, Descriptor, Driver, Fingerprints, Invocation, Location, Log,
    LogicalLocation, Message, Notification, PhysicalLocation, Reference, Replacement, ResultObject, Run,
    Tool,
};

use super::review::{FilePlace, Fix, Region, Remark};
use super::rules::{Rules, clause, rule_title};
use crate::lang::{Level, lint};

/// The document of a command that ended with `exit_code`; `worked`: it could do what it was asked to.
pub fn document(remarks: &[Remark], rules: &Rules, exit_code: u8, worked: bool) -> String {
    let mut descriptors: Vec<Descriptor> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    let (mut results, mut notifications) = (Vec::new(), Vec::new());
    for remark in remarks {
        if remark.is_failure {
            notifications.push(notification(remark));
            continue;
        }
        let rule_index = *known.entry(&remark.id).or_insert_with(|| {
            descriptors.push(descriptor(remark, rules));
            descriptors.len() - 1
        });
        let hash = fingerprint(remark);
        let number = seen.entry(hash).and_modify(|number| *number += 1).or_insert(1);
        results.push(result(remark, rule_index, format!("{hash:016x}:{number}")));
    }
    let driver = Driver {
        name: env!("CARGO_PKG_NAME"),
        semantic_version: env!("CARGO_PKG_VERSION"),
        rules: descriptors,
    };
    let invocation =
        Invocation { execution_successful: worked, exit_code, tool_execution_notifications: notifications };
    let run =
        Run { tool: Tool { driver }, invocations: [invocation], column_kind: "unicodeCodePoints", results };
    let log = Log { schema: model::SCHEMA, version: model::VERSION, runs: [run] };
    // Only maps with keys that are no text could fail, and there are none.
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

/// What is known of the rule, lint or code behind a remark.
fn descriptor(remark: &Remark, rules: &Rules) -> Descriptor {
    let id = remark.id.clone();
    let plain = |id, short: Option<&str>| Descriptor {
        id,
        name: None,
        short_description: short.map(|text| text.to_owned().into()),
        full_description: None,
        help: None,
    };
    let Some(rule) = &remark.rule else { return plain(id, lint::find(&remark.id).map(|lint| lint.doc)) };
    let Some(text) = rules.get(rule) else { return plain(id, None) };
    let doc = text.doc.as_deref();
    let first = doc.and_then(|doc| doc.lines().map(str::trim).find(|line| !line.is_empty()));
    let body = text.source.text().trim_end();
    let short = match (first, clause(body, "because")) {
        (Some(first), Some(reason)) if !first.contains(' ') => format!("{first}: {reason}"),
        (Some(first), _) => first.to_owned(),
        (None, Some(reason)) => reason,
        (None, None) => rule_title(rule),
    };
    let place = format!("{}:{}", text.path, text.line);
    let markdown = format!("`{place}`\n\n```\n{body}\n```");
    Descriptor {
        id,
        name: Some(rule.name.as_str()),
        short_description: Some(short.into()),
        // A place in a specification alone describes nothing.
        full_description: doc.filter(|doc| doc.trim().contains(' ')).map(|doc| doc.to_owned().into()),
        help: Some(Message { text: format!("{place}\n\n{body}"), markdown: Some(markdown) }),
    }
}

fn result<'a>(remark: &'a Remark, rule_index: usize, hash: String) -> ResultObject<'a> {
    let others = remark.nodes.iter().skip(1).map(|node| {
        let message = format!("{} is {}", node.name, node.text);
        Location {
            id: None,
            message: Some(message.into()),
            physical_location: remark.file.as_ref().map(physical),
            logical_locations: vec![logical(node)],
        }
    });
    let related = remark.related.iter().map(|related| Location {
        id: None,
        message: (!related.text.is_empty()).then(|| related.text.clone().into()),
        physical_location: Some(physical(&related.file)),
        logical_locations: Vec::new(),
    });
    let numbered = related.chain(others).enumerate();
    ResultObject {
        rule_id: &remark.id,
        rule_index,
        level: level(remark.level),
        message: message(remark),
        locations: main_place(remark),
        related_locations: numbered.map(|(at, place)| Location { id: Some(at + 1), ..place }).collect(),
        partial_fingerprints: Fingerprints { primary_location_line_hash: hash },
        fixes: remark.fix.iter().map(fix).collect(),
    }
}

fn notification(remark: &Remark) -> Notification<'_> {
    Notification {
        descriptor: Reference { id: &remark.id },
        level: level(remark.level),
        message: message(remark),
        locations: main_place(remark),
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// The message, with advice on lines of its own.
fn message(remark: &Remark) -> Message {
    let lines = std::iter::once(&remark.message).chain(&remark.help);
    lines.map(String::as_str).collect::<Vec<_>>().join("\n").into()
}

fn main_place(remark: &Remark) -> Vec<Location<'_>> {
    let Some(file) = &remark.file else { return Vec::new() };
    let first = remark.nodes.first();
    vec![Location {
        id: None,
        message: first.map(|node| format!("{} is {}", node.name, node.text).into()),
        physical_location: Some(physical(file)),
        logical_locations: first.map(logical).into_iter().collect(),
    }]
}

fn logical(node: &super::review::NodePlace) -> LogicalLocation<'_> {
    LogicalLocation { fully_qualified_name: &node.name, kind: node.kind }
}

fn physical(file: &FilePlace) -> PhysicalLocation {
    PhysicalLocation {
        artifact_location: ArtifactLocation { uri: uri(&file.path) },
        region: file.region.map(region),
    }
}

fn region(region: Region) -> model::Region {
    let (start_line, start_column) = region.start;
    model::Region {
        start_line,
        start_column: region.end.map(|_| start_column),
        end_line: region.end.map(|(line, _)| line),
        end_column: region.end.map(|(_, column)| column),
    }
}

fn fix(fix: &Fix) -> model::Fix<'_> {
    let replacement = |(place, text): &'_ (Region, String)| (region(*place), text.is_empty());
    let replacements = fix.replacements.iter().map(|one| {
        let (deleted_region, is_empty) = replacement(one);
        Replacement { deleted_region, inserted_content: (!is_empty).then_some(Content { text: &one.1 }) }
    });
    model::Fix {
        description: fix.title.clone().into(),
        artifact_changes: [ArtifactChange {
            artifact_location: ArtifactLocation { uri: uri(&fix.path) },
            replacements: replacements.collect(),
        }],
    }
}

/// A path as a reference that RFC 3986 allows; one that is not relative becomes a `file:` URI.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut text = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}

/// A number that stays the same while what it is made of does: the rule, the file, the nodes, the message, and the
/// line of text. FNV-1a, whose definition will not change with a library.
fn fingerprint(remark: &Remark) -> u64 {
    let path = remark.file.as_ref().map_or("", |file| &file.path);
    let nodes = remark.nodes.iter().map(|node| node.name.as_str());
    let parts = [&remark.id, path, &remark.message, remark.line_text.trim()].into_iter().chain(nodes);
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::complaint::{Excerpt, Mark};
    use crate::report::{Complaint, Source};

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("./a b/é:1.graph"), "a%20b/%C3%A9%3A1.graph");
        assert_eq!(uri("/x/50%.om"), "file:///x/50%25.om");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }

    fn remark(text: &str, at: usize) -> Remark {
        let excerpt = Excerpt {
            source: Source::new("f.anchor", text).into(),
            marks: vec![Mark { span: at..at + 1, text: String::new() }],
        };
        Remark::of_complaint(&Complaint::error("c", "m").excerpt(excerpt), None)
    }

    #[test]
    fn a_fingerprint_outlives_lines_that_move_but_not_the_line_itself() {
        let one = fingerprint(&remark("set a\n", 4));
        assert_eq!(one, fingerprint(&remark("// new\n\n  set a\n", 14)));
        assert_ne!(one, fingerprint(&remark("set b\n", 4)));
    }

    #[test]
    fn what_is_said_twice_has_two_fingerprints() {
        let mut remark = remark("set a\n", 4);
        remark.is_failure = false;
        let text = document(&[remark.clone(), remark], &Rules::default(), 1, true);
        let hash = |number: usize| text.matches(&format!(":{number}\"\n")).count();
        assert_eq!((hash(1), hash(2)), (1, 1), "{text}");
    }
}
