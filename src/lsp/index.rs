//! What a word means, where it is declared, and where else it stands.
//!
//! Promise: meanings are those of the checker, over all files of the rule set. A rename changes every place of a meaning or none: it
//! is refused where a place cannot be written, where the new name is taken, and where the name belongs to the graphs.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, GotoDefinitionParams,
    GotoDefinitionResponse, Location, Position, PrepareRenameResponse, ReferenceParams, RenameParams,
    TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};

use rustc_hash::FxHashSet;

use super::place::Lines;
use super::server::{Server, bytes};
use crate::db::{self, ItemId, RuleFile};
use crate::lang::check::{Meaning, Sight, Sights};
use crate::lang::diagnostic::with_article;
use crate::lang::syntax::ParsedItem;
use crate::lang::syntax::ast::{Kind, Span};
use crate::lang::syntax::scan::tokens;
use crate::report::rules::kind_word;

/// Where a meaning stands: file, bytes, whether it is declared there.
pub type Found = (String, Range<usize>, bool);

/// An item of a file.
pub struct Placed<'s> {
    pub file: RuleFile,
    pub path: &'s str,
    pub number: u32,
    pub item: &'s ParsedItem,
}

impl Placed<'_> {
    /// Bytes of the file.
    pub fn place(&self, span: Span) -> Range<usize> {
        let start = self.item.source.start as usize;
        let span = bytes(span);
        start + span.start..start + span.end
    }

    /// Bytes of the first word, with which the item begins behind its documentation.
    pub fn keyword(&self) -> Range<usize> {
        let tokens = tokens(&self.item.source.text);
        self.place(
            tokens.iter().find(|token| !token.is_comment()).map(|token| token.span).unwrap_or_default(),
        )
    }
}

/// The file of a key.
pub fn file(server: &Server, key: &str) -> Option<RuleFile> {
    let db = server.session.database();
    server.session.rule_set().files(db).iter().copied().find(|file| file.path(db) == key)
}

/// The items of a file.
pub fn items(server: &Server, file: RuleFile) -> impl Iterator<Item = Placed<'_>> {
    let db = server.session.database();
    let path = file.path(db).as_str();
    let items = &db::parsed(db, file).items;
    (0u32..).zip(items).map(move |(number, item)| Placed { file, path, number, item })
}

/// The items of all files.
pub fn all_items(server: &Server) -> impl Iterator<Item = Placed<'_>> {
    let db = server.session.database();
    server.session.rule_set().files(db).iter().flat_map(move |&file| items(server, file))
}

/// The items that hold, by file and number: those that no overlay replaces or removes.
pub fn holding(server: &Server) -> FxHashSet<(RuleFile, u32)> {
    let (db, rules) = (server.session.database(), server.session.rule_set());
    let files = rules.files(db);
    let keys = db::live(db, rules).items.iter().map(|(_, _, key)| key);
    keys.filter_map(|key| Some((*files.get(key.file as usize)?, key.index))).collect()
}

/// What the words of an item mean.
pub fn sights(server: &Server, placed: &Placed<'_>) -> Arc<Sights> {
    let db = server.session.database();
    db::sights(db, server.session.rule_set(), ItemId::new(db, placed.file, placed.number)).clone()
}

/// A word of a file: its item, and what it means.
pub struct Word<'s> {
    pub placed: Placed<'s>,
    pub sight: Sight,
}

/// The word at a byte. Right behind a word is still at it.
pub fn word_at<'s>(server: &'s Server, key: &str, byte: usize) -> Option<Word<'s>> {
    let file = file(server, key)?;
    let source = |placed: &Placed<'_>| placed.item.source.start as usize..placed.item.source.end as usize + 1;
    let placed = items(server, file).find(|placed| source(placed).contains(&byte))?;
    let words = sights(server, &placed);
    let covers = |sight: &&Sight| {
        let place = placed.place(sight.span);
        place.start <= byte && byte <= place.end
    };
    let sight =
        words.words.iter().filter(covers).min_by_key(|sight| sight.span.end - sight.span.start)?.clone();
    Some(Word { placed, sight })
}

/// Where a meaning stands: file, bytes, whether it is declared there. Locals stand in their item only.
pub fn places(server: &Server, word: &Word<'_>) -> Vec<Found> {
    let wanted = &word.sight.meaning;
    let is_local = matches!(wanted, Meaning::Local { .. });
    let mut found = Vec::new();
    for placed in all_items(server) {
        if is_local && (placed.file, placed.number) != (word.placed.file, word.placed.number) {
            continue;
        }
        for sight in sights(server, &placed).words.iter().filter(|sight| sight.meaning == *wanted) {
            found.push((placed.path.to_owned(), placed.place(sight.span), declares(&placed, sight)));
        }
    }
    found.sort_by(|a, b| (&a.0, a.1.start, !a.2).cmp(&(&b.0, b.1.start, !b.2)));
    found.dedup_by(|a, b| a.0 == b.0 && a.1 == b.1);
    found
}

/// Operator types are declared by the sets that have them.
fn declares(placed: &Placed<'_>, sight: &Sight) -> bool {
    let kind = placed.item.item.as_ref().map(|item| item.kind);
    sight.declares
        || (matches!(sight.meaning, Meaning::Operator(_)) && matches!(kind, Some(Kind::Set | Kind::Table)))
}

/// The key, lines and byte of a place in a document.
pub fn at(server: &mut Server, uri: &Uri, position: Position) -> Option<(String, Arc<Lines>, usize)> {
    let key = server.files.key(uri);
    let lines = server.files.lines(&key)?;
    let byte = lines.byte(position);
    Some((key, lines, byte))
}

fn found_at(server: &mut Server, params: &TextDocumentPositionParams) -> Option<(Meaning, Vec<Found>)> {
    let (key, _, byte) = at(server, &params.text_document.uri, params.position)?;
    let word = word_at(server, &key, byte)?;
    let places = places(server, &word);
    Some((word.sight.meaning, places))
}

/// A place of a file for the client.
pub fn location(server: &mut Server, key: &str, place: Range<usize>) -> Option<Location> {
    let lines = server.files.lines(key)?;
    Some(Location { uri: server.files.uri(key)?, range: lines.range(place) })
}

pub fn definition(server: &mut Server, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
    let (_, places) = found_at(server, &params.text_document_position_params)?;
    let declared = places.into_iter().filter(|(.., declares)| *declares);
    let locations = declared.filter_map(|(key, place, _)| location(server, &key, place)).collect();
    Some(GotoDefinitionResponse::Array(locations))
}

pub fn references(server: &mut Server, params: &ReferenceParams) -> Option<Vec<Location>> {
    let (_, places) = found_at(server, &params.text_document_position)?;
    let wanted = places.into_iter().filter(|(.., declares)| params.context.include_declaration || !declares);
    Some(wanted.filter_map(|(key, place, _)| location(server, &key, place)).collect())
}

pub fn highlights(server: &mut Server, params: &DocumentHighlightParams) -> Option<Vec<DocumentHighlight>> {
    let document = &params.text_document_position_params.text_document;
    let key = server.files.key(&document.uri);
    let (_, places) = found_at(server, &params.text_document_position_params)?;
    let lines = server.files.lines(&key)?;
    let here = places.into_iter().filter(|(known, ..)| *known == key);
    let highlight = |(_, place, declares)| DocumentHighlight {
        range: lines.range(place),
        kind: Some(if declares { DocumentHighlightKind::WRITE } else { DocumentHighlightKind::READ }),
    };
    Some(here.map(highlight).collect())
}

/// Why a meaning cannot have another name, if so.
fn fixed(meaning: &Meaning) -> Option<String> {
    match meaning {
        Meaning::Fact(info) => Some(format!("`{}` is a fact of the language", info.name)),
        Meaning::Operator(word) => Some(format!("the operator type `{word}` belongs to the graphs")),
        Meaning::Entry(Kind::Attr, name) => Some(format!("the attribute `{name}` belongs to the graphs")),
        Meaning::Local { name, declared: None, .. } => Some(format!("`{name}` is a name of the language")),
        _ => None,
    }
}

pub fn prepare_rename(
    server: &mut Server,
    params: &TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, String> {
    let Some((key, lines, byte)) = at(server, &params.text_document.uri, params.position) else {
        return Ok(None);
    };
    let Some(word) = word_at(server, &key, byte) else { return Ok(None) };
    match fixed(&word.sight.meaning) {
        Some(why) => Err(why),
        None => Ok(Some(PrepareRenameResponse::Range(lines.range(word.placed.place(word.sight.span))))),
    }
}

pub fn rename(server: &mut Server, params: &RenameParams) -> Result<Option<WorkspaceEdit>, String> {
    let Some((meaning, places)) = found_at(server, &params.text_document_position) else { return Ok(None) };
    if let Some(why) = fixed(&meaning) {
        return Err(why);
    }
    let name = params.new_name.as_str();
    let dotted = matches!(meaning, Meaning::Entry(Kind::Option, _) | Meaning::Step(_));
    if !is_name(name, dotted) {
        return Err(format!("`{name}` is no name"));
    }
    if let Some(taken) = taken(server, &meaning, name) {
        return Err(taken);
    }
    if let Some((key, ..)) = places.iter().find(|(key, ..)| server.files.is_shipped(key)) {
        return Err(format!("this also stands in the shipped rules ({key}), which cannot be changed"));
    }
    let old = spelled(&meaning);
    #[allow(clippy::mutable_key_type, reason = "the protocol's own map")]
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (key, place, _) in places {
        let Some((lines, uri)) = server.files.lines(&key).zip(server.files.uri(&key)) else { continue };
        // A place that reads otherwise is written in some other way, such as an escape in a text.
        if lines.text().get(place.clone()) != Some(old) {
            return Err(format!("`{old}` is written in another way in {}", server.files.shown(&key)));
        }
        let edit = TextEdit { range: lines.range(place), new_text: name.to_owned() };
        changes.entry(uri).or_default().push(edit);
    }
    Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
}

fn spelled(meaning: &Meaning) -> &'static str {
    match meaning {
        Meaning::Entry(_, name)
        | Meaning::Local { name, .. }
        | Meaning::Operator(name)
        | Meaning::Variant { name, .. }
        | Meaning::Step(name) => name.as_str(),
        Meaning::Fact(info) => info.name,
    }
}

fn is_name(name: &str, dotted: bool) -> bool {
    const WORDS: [&str; 14] = [
        "and", "or", "not", "in", "is", "none", "true", "false", "where", "if", "then", "else", "match",
        "let",
    ];
    let is_word = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && part.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
            && !WORDS.contains(&part)
    };
    if dotted { name.split('.').all(is_word) } else { is_word(name) }
}

/// What has the new name already.
fn taken(server: &Server, meaning: &Meaning, name: &str) -> Option<String> {
    let Meaning::Entry(kind, _) = meaning else { return None };
    let same = all_items(server).find(|placed| {
        placed.item.declares().is_some_and(|(other, declared)| other == *kind && declared.text == name)
    })?;
    let kind = with_article(kind_word(*kind));
    Some(format!("there is {kind} called `{name}` already ({})", server.files.shown(same.path)))
}
