//! From rule text to linked programs.
//!
//! The road: `parsed` (one file) -> `item` -> `scoped` (signatures of all) -> `lowered` (one item) -> its parts
//! (`compiled`, `texts`, `spans`), each a query of its own so that each can stay equal -> `program`, the closure of
//! what one entry needs, linked. An edit inside one body leaves the scope and all other entries as they were. From
//! `compiled` on entries go by name: an item that comes, goes or moves is nothing to who does not mention it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Db, RuleFile, RuleSet};
use crate::graph::Sym;
use crate::lang::check::codes::{NOTHING_TO_CHANGE, UNKNOWN_NAME, UNKNOWN_OPERATOR};
use crate::lang::check::{self, ItemKey, RuleItem, Scoped, title};
use crate::lang::diagnostic::{Diagnostic, Place, did_you_mean};
use crate::lang::eval::Program;
use crate::lang::hir::{Entry, Line, Lowered, OPEN_CELL, OptionValue, Text, Ty};
use crate::lang::syntax::ast::{self, Kind, OptionType, Span};
use crate::lang::syntax::scan::{TokenKind, tokens};
use crate::lang::syntax::{ParsedFile, parse_file_with, parse_item};

/// An item by file and number.
#[salsa::interned(debug)]
pub struct ItemId<'db> {
    #[returns(copy)]
    pub file: RuleFile,
    #[returns(copy)]
    pub index: u32,
}

/// An entry by kind and name (unnamed items go by their title).
#[salsa::interned(debug)]
pub struct EntryName<'db> {
    #[returns(copy)]
    pub kind: Kind,
    #[returns(copy)]
    pub name: Sym,
}

/// A set of entries that are linked into one program.
#[salsa::interned(debug)]
pub struct Roots<'db> {
    #[returns(ref)]
    pub names: Vec<(Kind, Sym)>,
}

impl<'db> Roots<'db> {
    pub fn of(db: &'db dyn Db, names: impl IntoIterator<Item = (Kind, Sym)>) -> Roots<'db> {
        Roots::new(db, names.into_iter().collect::<Vec<_>>())
    }
}

/// A shared syntax tree; equality asks identity first.
#[derive(Clone, Debug)]
pub struct Item(pub Arc<ast::Item>);

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

/// The text of an item, wherever it stands.
#[salsa::interned(debug)]
struct ItemText<'db> {
    #[returns(ref)]
    text: String,
}

/// What the text of an item says. An item that an edit leaves alone is not parsed again.
#[salsa::tracked(returns(ref))]
fn parsed_item<'db>(db: &'db dyn Db, text: ItemText<'db>) -> (Option<ast::Item>, Vec<Diagnostic>) {
    parse_item(text.text(db))
}

/// The syntax trees of one file.
#[salsa::tracked(returns(ref))]
pub fn parsed(db: &dyn Db, file: RuleFile) -> Arc<ParsedFile> {
    Arc::new(parse_file_with(file.text(db), |text| parsed_item(db, ItemText::new(db, text)).clone()))
}

/// One item's tree; `None` if it has a syntax error.
#[salsa::tracked(returns(clone))]
pub fn item<'db>(db: &'db dyn Db, id: ItemId<'db>) -> Option<Item> {
    let file = parsed(db, id.file(db));
    let parsed = file.items.get(id.index(db) as usize)?;
    parsed.item.clone().map(|tree| Item(Arc::new(tree)))
}

/// How many items a file has.
#[salsa::tracked(returns(copy))]
fn item_count(db: &dyn Db, file: RuleFile) -> u32 {
    parsed(db, file).items.len() as u32
}

/// The signatures of the rule set and the items that hold.
#[salsa::tracked(returns(ref))]
pub fn scoped(db: &dyn Db, rules: RuleSet) -> Arc<Scoped> {
    let mut items = Vec::new();
    for (number, &file) in (0u32..).zip(rules.files(db)) {
        for index in 0..item_count(db, file) {
            if let Some(tree) = item(db, ItemId::new(db, file, index)) {
                items.push((ItemKey { file: number, index }, tree.0));
            }
        }
    }
    let overlays: Vec<bool> = rules.files(db).iter().map(|file| file.overlay(db)).collect();
    Arc::new(check::scope(&items, &overlays))
}

/// The names of the scope alone: equal whenever no signature changed.
#[salsa::tracked(returns(ref))]
fn signatures(db: &dyn Db, rules: RuleSet) -> Arc<check::Scope> {
    Arc::new(scoped(db, rules).scope.clone())
}

/// The items that hold, by kind and name, in order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Live {
    pub items: Vec<(Kind, Sym, ItemKey)>,
    by_name: FxHashMap<(Kind, Sym), Vec<ItemKey>>,
}

impl Live {
    /// Keys of the items under a name: one, or for a set also those that extend it.
    pub fn keys(&self, kind: Kind, name: Sym) -> &[ItemKey] {
        self.by_name.get(&(kind, name)).map_or(&[], Vec::as_slice)
    }

    /// Names of one kind, in order.
    pub fn names(&self, kind: Kind) -> impl Iterator<Item = Sym> + '_ {
        let mut seen = rustc_hash::FxHashSet::default();
        self.items
            .iter()
            .filter(move |(k, ..)| *k == kind)
            .map(|(_, name, _)| *name)
            .filter(move |n| seen.insert(*n))
    }
}

/// See [`Live`].
#[salsa::tracked(returns(ref))]
pub fn live(db: &dyn Db, rules: RuleSet) -> Arc<Live> {
    let mut live = Live::default();
    for &key in &scoped(db, rules).live {
        if let Some(tree) = find(db, rules, key).and_then(|id| item(db, id)) {
            let name = title(&tree.0);
            live.items.push((tree.0.kind, name, key));
            live.by_name.entry((tree.0.kind, name)).or_default().push(key);
        }
    }
    Arc::new(live)
}

/// Keys of the items under a name. A query, so that items of other names do not matter.
#[salsa::tracked(returns(ref))]
fn keys<'db>(db: &'db dyn Db, rules: RuleSet, name: EntryName<'db>) -> Vec<ItemKey> {
    live(db, rules).keys(name.kind(db), name.name(db)).to_vec()
}

/// Names of the entries of one kind, in order: what the graph's queries go by, since they need not know where
/// an entry stands.
#[salsa::tracked(returns(ref))]
pub fn names(db: &dyn Db, rules: RuleSet, kind: Kind) -> Vec<Sym> {
    live(db, rules).names(kind).collect()
}

/// The item with this key.
pub fn find<'db>(db: &'db dyn Db, rules: RuleSet, key: ItemKey) -> Option<ItemId<'db>> {
    let file = *rules.files(db).get(key.file as usize)?;
    Some(ItemId::new(db, file, key.index))
}

/// Everything that lowering one item gives.
#[salsa::tracked(returns(ref))]
pub fn lowered<'db>(db: &'db dyn Db, rules: RuleSet, id: ItemId<'db>) -> Arc<Lowered> {
    let Some(tree) = item(db, id) else { return Arc::default() };
    Arc::new(check::lower(&tree.0, signatures(db, rules)))
}

/// What the words of an item mean.
#[salsa::tracked(returns(ref))]
pub fn sights<'db>(db: &'db dyn Db, rules: RuleSet, id: ItemId<'db>) -> Arc<check::Sights> {
    let Some(tree) = item(db, id) else { return Arc::default() };
    Arc::new(check::sights(&tree.0, signatures(db, rules)))
}

/// What the words of an item mean that is not part of the rule set, or stands in the place of one that is.
pub fn sights_of(db: &dyn Db, rules: RuleSet, item: &ast::Item) -> check::Sights {
    check::sights(item, signatures(db, rules))
}

/// The type of the first parameter of a function.
#[salsa::tracked(returns(clone))]
pub fn first_param<'db>(db: &'db dyn Db, rules: RuleSet, function: EntryName<'db>) -> Option<Ty> {
    signatures(db, rules).first_param(function.name(db)).cloned()
}

/// The names of the rule set.
pub fn scope(db: &dyn Db, rules: RuleSet) -> &check::Scope {
    signatures(db, rules)
}

/// The items under a name, lowered: one, or for a set also those that extend it.
fn parts<'db>(
    db: &'db dyn Db,
    rules: RuleSet,
    name: EntryName<'db>,
) -> impl Iterator<Item = &'db Arc<Lowered>> {
    let found = keys(db, rules, name).iter().filter_map(move |&key| find(db, rules, key));
    found.map(move |id| lowered(db, rules, id))
}

/// What evaluation reads of an entry: its typed body, and the entries it mentions.
#[derive(Clone, Debug, PartialEq)]
struct Compiled {
    entry: Option<Arc<Entry>>,
    uses: Vec<(Kind, Sym)>,
}

#[salsa::tracked(returns(ref))]
fn compiled<'db>(db: &'db dyn Db, rules: RuleSet, name: EntryName<'db>) -> Compiled {
    let mut entry: Option<Entry> = None;
    let mut uses = Vec::new();
    for part in parts(db, rules, name) {
        match (&mut entry, &part.entry) {
            (Some(whole), Some(more)) => extend(whole, more),
            (None, Some(first)) => entry = Some(first.clone()),
            (_, None) => {}
        }
        uses.extend(part.uses.iter().copied());
    }
    Compiled { entry: entry.map(Arc::new), uses }
}

/// A matrix without its cells: what a program holds of it, which asks for cells one by one.
#[salsa::tracked(returns(ref))]
fn outline<'db>(db: &'db dyn Db, rules: RuleSet, matrix: EntryName<'db>) -> Compiled {
    let mut whole = compiled(db, rules, matrix).clone();
    if let Some(Entry::Matrix { cells, .. }) = whole.entry.as_mut().map(Arc::make_mut) {
        cells.iter_mut().flatten().for_each(|cell| *cell = OPEN_CELL);
    }
    whole
}

/// A cell of a matrix, a variant of its result. A query, so that other cells do not matter.
#[salsa::tracked(returns(copy))]
pub fn cell<'db>(
    db: &'db dyn Db,
    rules: RuleSet,
    matrix: EntryName<'db>,
    row: u16,
    column: u16,
) -> Option<u16> {
    match entry(db, rules, matrix).as_deref() {
        Some(Entry::Matrix { cells, .. }) => cells.get(row as usize)?.get(column as usize).copied(),
        _ => None,
    }
}

/// Whether a variant stands in a line of a matrix. A query, so that it does not matter where.
#[salsa::tracked(returns(copy))]
pub fn stands_in<'db>(
    db: &'db dyn Db,
    rules: RuleSet,
    matrix: EntryName<'db>,
    line: Line,
    variant: u16,
) -> bool {
    match entry(db, rules, matrix).as_deref() {
        Some(Entry::Matrix { cells, .. }) => line.of(cells).any(|cell| cell == variant),
        _ => false,
    }
}

/// Reason texts of an entry.
#[salsa::tracked(returns(clone))]
pub fn texts<'db>(db: &'db dyn Db, rules: RuleSet, name: EntryName<'db>) -> Option<Arc<Vec<Text>>> {
    Some(Arc::new(parts(db, rules, name).next()?.texts.clone()))
}

/// Where the texts of an entry stand in its item, by number.
#[salsa::tracked(returns(ref))]
pub fn text_spans<'db>(db: &'db dyn Db, rules: RuleSet, name: EntryName<'db>) -> Vec<Span> {
    parts(db, rules, name).next().map(|part| part.text_spans.clone()).unwrap_or_default()
}

/// Where the expressions of an item stand.
#[salsa::tracked(returns(ref))]
pub fn spans<'db>(db: &'db dyn Db, rules: RuleSet, id: ItemId<'db>) -> Arc<Vec<Span>> {
    Arc::new(lowered(db, rules, id).spans.clone())
}

/// The typed body of an entry; a set with all that extends it.
pub fn entry<'db>(db: &'db dyn Db, rules: RuleSet, name: EntryName<'db>) -> Option<Arc<Entry>> {
    compiled(db, rules, name).entry.clone()
}

/// Adds to a set what extends it.
fn extend(whole: &mut Entry, part: &Entry) {
    if let (
        Entry::Set { includes, elements, .. },
        Entry::Set { includes: more_includes, elements: more, .. },
    ) = (whole, part)
    {
        includes.extend(more_includes);
        elements.extend(more.iter().cloned());
    }
}

/// What one option is set to: as given, from the environment, or as declared; the error is the complaint about
/// what was given. One query an option, so that another option's value does not matter.
#[salsa::tracked(returns(ref))]
fn setting<'db>(
    db: &'db dyn Db,
    rules: RuleSet,
    name: EntryName<'db>,
) -> Option<Result<OptionValue, String>> {
    let declared = entry(db, rules, name)?;
    let Entry::Option { ty, default, from_env } = &*declared else { return None };
    let key = name.name(db).as_str();
    let from_environment = if *from_env { rules.environment(db).get(key) } else { None };
    Some(match rules.given(db).get(key).or(from_environment) {
        None => Ok(default.clone()),
        Some(text) => {
            option_value(ty, text).map_err(|wanted| format!("option `{key}` is {wanted}, not `{text}`"))
        }
    })
}

/// Complaints about the values that were given.
#[salsa::tracked(returns(ref))]
pub fn settings(db: &dyn Db, rules: RuleSet) -> Vec<Diagnostic> {
    let complain = |code, message| {
        let mut complaint = Diagnostic::error(code, Span::default(), message);
        complaint.labels.clear();
        complaint
    };
    let names = names(db, rules, Kind::Option);
    let values =
        names.iter().filter_map(|&name| setting(db, rules, EntryName::new(db, Kind::Option, name)).as_ref());
    let mut complaints: Vec<Diagnostic> =
        values.filter_map(|value| Some(complain("option::value", value.as_ref().err()?.clone()))).collect();
    let known: BTreeSet<&str> = names.iter().map(|name| name.as_str()).collect();
    for name in rules.given(db).keys().filter(|name| !known.contains(name.as_str())) {
        let mut complaint = complain("option::unknown", format!("there is no option `{name}`"));
        complaint.help =
            did_you_mean(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        complaints.push(complaint);
    }
    complaints
}

/// Reads the text of an option; the error says what was wanted.
fn option_value(ty: &OptionType, text: &str) -> Result<OptionValue, String> {
    let pieces = || text.split(',').map(str::trim).filter(|piece| !piece.is_empty());
    match ty {
        OptionType::Bool => match text {
            "true" | "1" => Ok(OptionValue::Bool(true)),
            "false" | "0" => Ok(OptionValue::Bool(false)),
            _ => Err("`true` or `false`".to_owned()),
        },
        OptionType::Int => text.parse().map(OptionValue::Int).map_err(|_| "an integer".to_owned()),
        OptionType::Str => Ok(OptionValue::Str(Sym::new(text))),
        OptionType::ListInt => pieces()
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(OptionValue::ListInt)
            .map_err(|_| "a list of integers with commas".to_owned()),
        OptionType::ListStr => Ok(OptionValue::ListStr(pieces().map(Sym::new).collect())),
        OptionType::Variants(variants) => {
            match (0u16..).zip(variants).find(|(_, variant)| variant.text == text) {
                Some((number, _)) => Ok(OptionValue::Variant(number)),
                None => {
                    let names: Vec<String> = variants.iter().map(|v| format!("`{}`", v.text)).collect();
                    Err(format!("one of {}", names.join(", ")))
                }
            }
        }
    }
}

/// A linked program, and the marks that it asks for. Marks are computed by queries of their own, so a program does
/// not contain the attributes it mentions. Linked again from equal entries it is equal, so evaluation stops there.
#[derive(Clone, Debug)]
pub struct Linked(pub Arc<Program>, pub Arc<[Sym]>);

impl PartialEq for Linked {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.1 == other.1 && self.0 == other.0)
    }
}

/// Whether entries of a kind only name those of another: a pipeline and a test say what is run, and whoever runs that links it. Their
/// own code has no use for it.
fn only_names(kind: Kind, used: Kind) -> bool {
    let says_what_runs = matches!(kind, Kind::Pipeline | Kind::Test);
    let is_run = matches!(
        used,
        Kind::Pass | Kind::Chain | Kind::Lint | Kind::Order | Kind::Pipeline | Kind::Checker | Kind::Action
    );
    says_what_runs && is_run
}

/// The entries with everything that their code mentions, directly or not, linked. Cells of matrices stay open: machines ask for them.
#[salsa::tracked(returns(ref))]
pub fn program<'db>(db: &'db dyn Db, rules: RuleSet, roots: Roots<'db>) -> Linked {
    let mut found: BTreeMap<(Kind, &'static str), Arc<Entry>> = BTreeMap::new();
    let mut open = roots.names(db).clone();
    let mut marks = BTreeSet::new();
    while let Some((kind, name)) = open.pop() {
        if found.contains_key(&(kind, name.as_str())) {
            continue;
        }
        if kind == Kind::Attribute && !roots.names(db).contains(&(kind, name)) {
            marks.insert(name.as_str());
            continue;
        }
        let of = EntryName::new(db, kind, name);
        let Compiled { entry, uses } =
            if kind == Kind::Matrix { outline(db, rules, of) } else { compiled(db, rules, of) };
        let Some(entry) = entry else { continue };
        found.insert((kind, name.as_str()), entry.clone());
        open.extend(uses.iter().copied().filter(|(used, _)| !only_names(kind, *used)));
    }
    // Only the options that the closure reads, so that another option's value does not matter.
    let options = found
        .keys()
        .filter(|(kind, _)| *kind == Kind::Option)
        .filter_map(|(_, name)| {
            let name = Sym::new(name);
            let value = setting(db, rules, EntryName::new(db, Kind::Option, name)).as_ref()?.as_ref().ok()?;
            Some((name, value.clone()))
        })
        .collect();
    let entries = found.into_iter().map(|((kind, name), entry)| ((kind, Sym::new(name)), entry));
    let marks = marks.into_iter().map(Sym::new).collect();
    Linked(Arc::new(Program::link(entries, options)), marks)
}

/// A diagnostic with its places found in files.
#[derive(Clone, Debug, PartialEq)]
pub struct FileDiagnostic {
    pub diagnostic: Diagnostic,
    /// Path and bytes of each label.
    pub places: Vec<(String, Range<usize>)>,
}

/// What the parser says of the file as a whole.
#[salsa::tracked(returns(ref))]
fn file_complaints(db: &dyn Db, file: RuleFile) -> Vec<Diagnostic> {
    parsed(db, file).diagnostics.clone()
}

/// What the parser says of one item.
#[salsa::tracked(returns(ref))]
fn item_complaints<'db>(db: &'db dyn Db, id: ItemId<'db>) -> Vec<Diagnostic> {
    parsed(db, id.file(db))
        .items
        .get(id.index(db) as usize)
        .map(|item| item.diagnostics.clone())
        .unwrap_or_default()
}

/// What an item was to declare that cannot be read: its name, and what else stands in an item that declares more than one.
#[salsa::tracked(returns(ref))]
fn lost<'db>(db: &'db dyn Db, id: ItemId<'db>) -> Vec<Sym> {
    let lost = parsed(db, id.file(db)).items.get(id.index(db) as usize).filter(|item| item.item.is_none());
    let Some((item, (kind, name))) = lost.and_then(|item| Some((item, item.declares()?))) else {
        return Vec::new();
    };
    if !matches!(kind, Kind::Set | Kind::Table | Kind::Enum | Kind::Option | Kind::Matrix) {
        return vec![name.text];
    }
    let tokens = tokens(&item.source.text);
    let words = tokens.iter().filter(|token| token.kind == TokenKind::Word);
    std::iter::once(name.text).chain(words.map(|word| Sym::new(word.text(&item.source.text)))).collect()
}

/// The word that a complaint about a name is about.
#[salsa::tracked]
fn word_at<'db>(db: &'db dyn Db, id: ItemId<'db>, span: Span) -> Option<Sym> {
    let item = parsed(db, id.file(db)).items.get(id.index(db) as usize)?;
    item.source.text.get(span.start as usize..span.end as usize).map(Sym::new)
}

/// A complaint without its place in a file: the number of the file, and the item that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Complaint {
    file: u32,
    item: Option<ItemKey>,
    pub diagnostic: Diagnostic,
}

/// All complaints about the rule set. Moving text in a file leaves them equal.
#[salsa::tracked(returns(ref))]
pub fn complaints(db: &dyn Db, rules: RuleSet) -> Vec<Complaint> {
    let of_item = |key: ItemKey, diagnostic: &Diagnostic| Complaint {
        file: key.file,
        item: Some(key),
        diagnostic: diagnostic.clone(),
    };
    let mut found = Vec::new();
    let mut lost: FxHashSet<Sym> = FxHashSet::default();
    for (number, &file) in (0u32..).zip(rules.files(db)) {
        let whole = file_complaints(db, file).iter();
        found.extend(whole.map(|d| Complaint { file: number, item: None, diagnostic: d.clone() }));
        for index in 0..item_count(db, file) {
            let id = ItemId::new(db, file, index);
            let complaints = item_complaints(db, id);
            found.extend(complaints.iter().map(|d| of_item(ItemKey { file: number, index }, d)));
            // Also of an item that is cut short, of which nothing else may be said.
            if item(db, id).is_none() {
                lost.extend(self::lost(db, id));
            }
        }
    }
    let damaged = found.iter().any(|complaint| complaint.item.is_none());
    let scoped = scoped(db, rules);
    found.extend(scoped.diagnostics.iter().map(|(key, d)| of_item(*key, d)));
    // An override of nothing was to declare its name, too.
    let refused = scoped.diagnostics.iter().filter(|(_, d)| d.code == NOTHING_TO_CHANGE);
    lost.extend(refused.filter_map(|(key, _)| Some(item(db, find(db, rules, *key)?)?.0.name.text)));
    let mut whole = Vec::new();
    for &key in &scoped.live {
        let Some(id) = find(db, rules, key) else { continue };
        let lowered = lowered(db, rules, id);
        found.extend(lowered.diagnostics.iter().map(|d| of_item(key, d)));
        if let Some(tree) = item(db, id) {
            whole.push(RuleItem { key, item: tree.0, uses: lowered.uses.clone() });
        }
    }
    if !lost.is_empty() {
        let follows = |complaint: &Complaint| {
            let unknown = [UNKNOWN_NAME, UNKNOWN_OPERATOR].contains(&complaint.diagnostic.code);
            let place = complaint.diagnostic.labels.first().filter(|_| unknown).map(|label| label.place);
            let (Some(Place::Item(span)), Some(key)) = (place, complaint.item) else { return false };
            let word = find(db, rules, key).and_then(|id| *word_at(db, id, span));
            word.is_some_and(|word| lost.contains(&word))
        };
        found.retain(|complaint| !follows(complaint));
    }
    // What only the whole rule set can tell is worth telling of a sound one.
    if !damaged && found.iter().all(|complaint| complaint.diagnostic.level < crate::lang::Level::Error) {
        found.extend(check::rules(&whole, &scoped.scope).iter().map(|(key, d)| of_item(*key, d)));
    }
    found
}

/// The complaints in order of file and place.
#[salsa::tracked(returns(ref))]
pub fn diagnostics(db: &dyn Db, rules: RuleSet) -> Vec<FileDiagnostic> {
    let mut placed: Vec<FileDiagnostic> = complaints(db, rules)
        .iter()
        .map(|complaint| place(db, rules, complaint.file, complaint.item, complaint.diagnostic.clone()))
        .collect();
    placed.sort_by(|a, b| {
        let key = |d: &FileDiagnostic| d.places.first().map(|(path, range)| (path.clone(), range.start));
        key(a).cmp(&key(b))
    });
    placed
}

/// Finds the places of a diagnostic's labels.
fn place(
    db: &dyn Db,
    rules: RuleSet,
    file: u32,
    key: Option<ItemKey>,
    diagnostic: Diagnostic,
) -> FileDiagnostic {
    let files = rules.files(db);
    let of_item = |key: ItemKey, span: Span| {
        let file = files[key.file as usize];
        let start = parsed(db, file).items.get(key.index as usize).map_or(0, |i| i.source.start);
        (file.path(db).clone(), (start + span.start) as usize..(start + span.end) as usize)
    };
    let places = diagnostic.labels.iter().map(|label| match (label.place, label.other, key) {
        (Place::File(span), _, _) => {
            (files[file as usize].path(db).clone(), span.start as usize..span.end as usize)
        }
        (Place::Item(span), Some((kind, name)), _) => {
            let other = live(db, rules).keys(kind, name).first().copied().or(key);
            other.map_or((String::new(), 0..0), |other| of_item(other, span))
        }
        (Place::Item(span), None, Some(key)) => of_item(key, span),
        (Place::Item(_), None, None) => (String::new(), 0..0),
    });
    FileDiagnostic { places: places.collect(), diagnostic }
}
