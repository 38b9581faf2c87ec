//! What a word is: its type or its declaration, its documentation, the section of the specification, who uses it, what it matches.

use std::collections::BTreeSet;
use std::fmt::Write;

use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::hints::matched;
use super::index::{Placed, Word, all_items, at, holding, places, sights, word_at};
use super::server::{Server, bytes};
use crate::graph::Sym;
use crate::lang::check::{Meaning, fact_signature, show};
use crate::lang::hir::Ty;
use crate::lang::syntax::ast::{Item, Kind, Modifier};
use crate::report::rules::kind_word;
use crate::report::summary::count;

/// Lines of a declaration that are shown.
const MOST_LINES: usize = 12;
/// Users that are named.
const MOST_USERS: usize = 8;

pub fn hover(server: &mut Server, params: &HoverParams) -> Option<Hover> {
    let position = &params.text_document_position_params;
    let (key, lines, byte) = at(server, &position.text_document.uri, position.position)?;
    let (text, place) = match word_at(server, &key, byte) {
        Some(word) => (tell(server, &word), word.placed.place(word.sight.span)),
        None => typed(server, &key, byte)?,
    };
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    Some(Hover { contents, range: Some(lines.range(place)) })
}

/// The type of the smallest expression at a byte.
fn typed(server: &Server, key: &str, byte: usize) -> Option<(String, std::ops::Range<usize>)> {
    let placed = all_items(server).find(|placed| {
        let source = bytes(crate::lang::syntax::ast::Span {
            start: placed.item.source.start,
            end: placed.item.source.end,
        });
        placed.path == key && source.contains(&byte)
    })?;
    let words = sights(server, &placed);
    let at = words.types.iter().filter(|(span, ty)| placed.place(*span).contains(&byte) && *ty != Ty::Error);
    let (span, ty) = at.min_by_key(|(span, _)| span.end - span.start)?;
    Some((code(&show(ty)), placed.place(*span)))
}

fn code(text: &str) -> String {
    format!("```anchor\n{text}\n```\n")
}

fn tell(server: &Server, word: &Word<'_>) -> String {
    match &word.sight.meaning {
        Meaning::Entry(kind, name) => entry(server, word, *kind, *name),
        Meaning::Local { name, ty, .. } => code(&format!("{name}: {}", show(ty))),
        Meaning::Fact(info) => {
            let receiver = info.receiver.ty(&Ty::Error);
            format!(
                "{}\n{}\n",
                code(&format!("{}.{}", show(&receiver), fact_signature(info, &receiver))),
                info.doc
            )
        }
        Meaning::Operator(name) => operator(server, word, *name),
        Meaning::Variant { of, name } => code(&format!("{of}.{name}")) + &users(server, word),
        Meaning::Step(name) => code(&format!("step {name}")) + &users(server, word),
    }
}

fn entry(server: &Server, word: &Word<'_>, kind: Kind, name: Sym) -> String {
    let mut text = String::new();
    let holding = holding(server);
    let holds = |placed: &Placed<'_>| holding.contains(&(placed.file, placed.number));
    let declares = |item: &Item| item.kind == kind && item.name.text == name;
    let mut declared: Vec<Placed<'_>> =
        all_items(server).filter(|placed| placed.item.item.as_ref().is_some_and(declares)).collect();
    // What counts comes first.
    declared.sort_by_key(|placed| !holds(placed));
    let is = |placed: &Placed<'_>, modifier| {
        placed.item.item.as_ref().is_some_and(|item| item.modifier == modifier)
    };
    let is_replaced = declared.iter().any(|placed| holds(placed) && is(placed, Modifier::Override));
    let is_removed = declared.iter().any(|placed| is(placed, Modifier::Remove));
    for placed in &declared {
        let source = placed.item.source.text.lines().filter(|line| !line.starts_with("///"));
        let source: Vec<&str> = source.collect();
        let shown = source.get(..MOST_LINES).unwrap_or(&source).join("\n");
        let more = if source.len() > MOST_LINES { "\n…" } else { "" };
        text += &code(&format!("{shown}{more}"));
        let doc = placed.item.item.as_ref().and_then(|item| item.doc.as_deref()).unwrap_or("");
        if !doc.is_empty() {
            let _ = writeln!(text, "\n{doc}");
        }
        let file = crate::db::parsed(server.session.database(), placed.file);
        let section = section(doc).or_else(|| section(file.doc.as_deref().unwrap_or("")));
        if let Some(section) = section {
            let _ = writeln!(text, "\nspecification: {section}");
        }
        let note = match () {
            () if holds(placed) && is(placed, Modifier::Override) => ", in the place of the one below",
            () if holds(placed) || is(placed, Modifier::Remove) => "",
            () if is_replaced => ", replaced: it does not count",
            () if is_removed => ", removed: it does not count",
            () => ", it does not count",
        };
        let _ = writeln!(text, "\n_{}{note}_", server.files.shown(placed.path));
    }
    for (graph, told) in matched(server, kind, name) {
        let _ = writeln!(text, "\nholds for {told} of {graph}");
    }
    for (graph, count) in server.fires(kind, name).filter(|_| matches!(kind, Kind::Checker | Kind::Lint)) {
        let _ = writeln!(text, "\nfires {count} times on {graph}");
    }
    text + &users(server, word)
}

/// The section that documentation names in brackets, as `(layout 4.5)`.
fn section(doc: &str) -> Option<&str> {
    let mut rest = doc;
    while let Some((_, behind)) = rest.split_once('(') {
        let (inside, tail) = behind.split_once(')')?;
        let names = |part: &str| {
            let mut words = part.split_whitespace();
            let word =
                words.next().is_some_and(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
            word && words
                .next()
                .is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit() || c == '§'))
        };
        if names(inside) {
            return Some(inside);
        }
        rest = tail;
    }
    None
}

fn operator(server: &Server, word: &Word<'_>, name: Sym) -> String {
    let mut text = code(&format!("{name}: Op"));
    let declares = |(_, _, declares): &(String, std::ops::Range<usize>, bool)| *declares;
    let mut sets = BTreeSet::new();
    for (path, place, _) in places(server, word).into_iter().filter(declares) {
        let inside = all_items(server)
            .find(|placed| placed.path == path && placed.place(word_span(placed)).contains(&place.start));
        sets.extend(inside.and_then(|placed| placed.item.item.as_ref().map(|item| item.name.text.as_str())));
    }
    let sets: Vec<String> = sets.into_iter().map(|set| format!("`{set}`")).collect();
    let _ = writeln!(text, "\noperator type, in {}", sets.join(", "));
    for graph in &server.counts {
        let number = graph.operators.get(name.as_str()).copied().unwrap_or(0);
        let _ = writeln!(text, "\n{} of {}", count(number, "node"), graph.name);
    }
    text + &users(server, word)
}

/// All of an item.
fn word_span(placed: &super::index::Placed<'_>) -> crate::lang::syntax::ast::Span {
    crate::lang::syntax::ast::Span { start: 0, end: placed.item.source.end - placed.item.source.start }
}

/// The entries that use what a word means, of those that hold, each once.
fn users(server: &Server, word: &Word<'_>) -> String {
    let wanted = &word.sight.meaning;
    let mut users = Vec::new();
    let holding = holding(server);
    for placed in all_items(server).filter(|placed| holding.contains(&(placed.file, placed.number))) {
        let Some(item) = &placed.item.item else { continue };
        let uses =
            sights(server, &placed).words.iter().any(|sight| sight.meaning == *wanted && !sight.declares);
        if uses {
            let name = crate::lang::check::title(item);
            let user = format!("{} `{name}`", kind_word(item.kind));
            if !users.contains(&user) {
                users.push(user);
            }
        }
    }
    let more = users.len().saturating_sub(MOST_USERS);
    users.truncate(MOST_USERS);
    match (users.as_slice(), more) {
        ([], _) => "\nused nowhere\n".to_owned(),
        (users, 0) => format!("\nused by {}\n", users.join(", ")),
        (users, more) => format!("\nused by {} and {more} more\n", users.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn the_section_stands_in_brackets() {
        assert_eq!(section("what (it) is (layout 4.5), truly"), Some("layout 4.5"));
        assert_eq!(section("rules (rw 2, 3)."), Some("rw 2, 3"));
        assert_eq!(section("no (section here"), None);
        assert_eq!(section("(12 times)"), None);
    }
}
