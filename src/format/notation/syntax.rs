//! From pieces of text to items: what one node, entry or block says, names unresolved.

use std::ops::Range;
use std::sync::Arc;

use pest::Parser;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;

use super::scan::{self, Mode, Piece};
use super::{Complaints, codes};
use crate::graph::{AttrValue, Sym, TensorDesc};

#[derive(pest_derive::Parser)]
#[grammar = "grammar/graph.pest"]
struct Notation;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub text: Arc<str>,
    pub span: Range<usize>,
    /// Written without quotes.
    pub is_word: bool,
}

/// What stands between the brackets of a node.
#[derive(Debug)]
pub(super) struct Slot {
    pub label: Option<Name>,
    /// `None` for `_`.
    pub producer: Option<Name>,
    pub index: u32,
    pub rank: Option<i64>,
    pub span: Range<usize>,
}

/// An output behind `->`.
#[derive(Debug)]
pub(super) struct OutputItem {
    pub label: Option<Name>,
    pub desc: TensorDesc,
}

/// What an entry is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    Key(Sym),
    Field(String),
    Port { is_input: bool, index: u32, part: Part },
}

/// What an entry about a port is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Whole,
    Key(Sym),
    Field(String),
}

#[derive(Debug)]
pub(super) enum EntryValue {
    Value(AttrValue),
    Desc(TensorDesc),
}

#[derive(Debug)]
pub(super) struct Entry {
    pub target: Target,
    pub value: EntryValue,
    pub span: Range<usize>,
}

/// A nested graph, its items still text.
#[derive(Debug)]
pub(super) struct Subgraph {
    pub name: Name,
    pub body: Range<usize>,
}

#[derive(Debug)]
pub(super) struct NodeItem {
    pub name: Name,
    pub kind: Sym,
    pub slots: Vec<Slot>,
    pub controls: Vec<(Name, Option<i64>)>,
    pub outputs: Option<Vec<OutputItem>>,
    pub entries: Vec<Entry>,
    pub subgraphs: Vec<Subgraph>,
}

/// What a graph says, by kind, in text order inside each kind.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub nodes: Vec<NodeItem>,
    /// Entries of `graph { ... }` and `model { ... }`.
    pub graph: Vec<Entry>,
    pub model: Vec<Entry>,
    /// Graphs that no node owns.
    pub subgraphs: Vec<Subgraph>,
    /// Names of nodes that could not be read; using them is no further mistake.
    pub broken: Vec<Arc<str>>,
}

/// Whether a `=` or `:` stands in `text` outside of strings.
fn has_joint(text: &str) -> bool {
    let (mut inside, mut escaped) = (false, false);
    text.bytes().any(|byte| match byte {
        _ if escaped => {
            escaped = false;
            false
        }
        b'\\' if inside => {
            escaped = true;
            false
        }
        b'"' => {
            inside = !inside;
            false
        }
        b'=' | b':' => !inside,
        _ => false,
    })
}

/// Reads pieces of one text.
pub(super) struct Reader<'t> {
    pub text: &'t str,
    pub complaints: Complaints,
    /// Where the piece being read starts.
    offset: usize,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader { text, complaints: Complaints::default(), offset: 0 }
    }

    /// The items of `text[body]`.
    pub fn block(&mut self, body: Range<usize>) -> Block {
        let mut block = Block::default();
        for piece in scan::split(self.text, body, Mode::Items, &mut self.complaints) {
            let (head, tail) = self.around(&piece);
            let (keyword, rest) = head.split_at(scan::token_at(head, 0, head.len()).end);
            let is_block = piece.braces.is_some() && !rest.trim_start().starts_with(':');
            let read = match keyword {
                _ if piece.broken => None,
                "graph" | "model" if is_block => {
                    let into = if keyword == "graph" { &mut block.graph } else { &mut block.model };
                    self.info(&piece).map(|entries| into.extend(entries))
                }
                "subgraph" if is_block => self.subgraph(&piece).map(|s| block.subgraphs.push(s)),
                _ => self.node(&piece, head, tail).map(|node| block.nodes.push(node)),
            };
            if read.is_none()
                && let Some(name) = leading_name(head)
            {
                block.broken.push(name.into());
            }
        }
        block
    }

    /// The text before and behind the braces of a piece.
    fn around(&self, piece: &Piece) -> (&'t str, &'t str) {
        match &piece.braces {
            Some(braces) => {
                (&self.text[piece.span.start..braces.start], &self.text[braces.end..piece.span.end])
            }
            None => (&self.text[piece.span.clone()], ""),
        }
    }

    /// `graph { ... }`: its entries.
    fn info(&mut self, piece: &Piece) -> Option<Vec<Entry>> {
        self.opening(piece)?;
        let (entries, subgraphs) = self.entries(inside(piece));
        for subgraph in subgraphs {
            let message = "only a node owns subgraphs";
            self.complain(codes::ENTRY, subgraph.name.span, message.to_owned());
        }
        Some(entries)
    }

    fn subgraph(&mut self, piece: &Piece) -> Option<Subgraph> {
        match self.opening(piece)? {
            Some(name) => Some(Subgraph { name: self.name(name)?, body: inside(piece) }),
            None => {
                let end = piece.braces.as_ref().map_or(piece.span.end, |b| b.start);
                self.complain(codes::SYNTAX, piece.span.start..end, "a subgraph needs a name".to_owned());
                None
            }
        }
    }

    /// What stands before the braces of a block: its name, if there is one.
    fn opening(&mut self, piece: &Piece) -> Option<Option<Pair<'t, Rule>>> {
        let (head, tail) = self.around(piece);
        let opening = self.parse(Rule::opening, head, piece.span.start)?;
        self.parse(Rule::tail, tail, piece.span.end - tail.len())?;
        self.offset = piece.span.start;
        Some(opening.into_inner().find(|p| p.as_rule() == Rule::name))
    }

    fn node(&mut self, piece: &Piece, head: &'t str, tail: &'t str) -> Option<NodeItem> {
        let parsed = self.parse(Rule::head, head, piece.span.start)?;
        let mut parts = parsed.into_inner().filter(|p| p.as_rule() != Rule::colon);
        let name = self.name(parts.next()?)?;
        let kind = self.name(inner_pair(parts.next()?))?;
        let mut node = NodeItem {
            name,
            kind: Sym::new(&kind.text),
            slots: Vec::new(),
            controls: Vec::new(),
            outputs: None,
            entries: Vec::new(),
            subgraphs: Vec::new(),
        };
        for part in parts {
            match part.as_rule() {
                Rule::slots => {
                    node.slots = part.into_inner().map(|slot| self.slot(slot)).collect::<Option<_>>()?;
                }
                Rule::control => {
                    let mut parts = part.into_inner();
                    let from = self.name(parts.next()?)?;
                    let rank =
                        parts.next().map_or(Some(None), |rank| self.number_in(rank, i64::MAX).map(Some))?;
                    node.controls.push((from, rank));
                }
                Rule::outputs => node.outputs = Some(self.outputs(part)?),
                _ => {}
            }
        }
        if piece.braces.is_some() {
            (node.entries, node.subgraphs) = self.entries(inside(piece));
            let parsed = self.parse(Rule::tail, tail, piece.span.end - tail.len())?;
            if let Some(outputs) = parsed.into_inner().find(|p| p.as_rule() == Rule::outputs) {
                let span = self.span(&outputs);
                if node.outputs.replace(self.outputs(outputs)?).is_some() {
                    self.complain(codes::DUPLICATE, span, "the outputs are given twice".to_owned());
                }
            }
        }
        Some(node)
    }

    fn slot(&mut self, pair: Pair<'t, Rule>) -> Option<Slot> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let mut producer = self.name(parts.next()?)?;
        let (mut label, mut index, mut rank) = (None, None, None);
        for part in parts {
            match part.as_rule() {
                Rule::source => {
                    let source = self.name(inner_pair(part))?;
                    label = Some(std::mem::replace(&mut producer, source));
                }
                Rule::index => index = Some(self.number_in(part, u32::MAX.into())? as u32),
                _ => rank = Some(self.number_in(part, i64::MAX)?),
            }
        }
        let producer = Some(producer).filter(|p| !(p.is_word && &*p.text == "_"));
        if producer.is_none() && (index.is_some() || rank.is_some()) {
            let help = "`_` is a slot without a producer; a node of that name is written `\"_\"`";
            let message = "an unconnected slot has no index and no rank".to_owned();
            self.complain_with(codes::SYNTAX, span, message, help.to_owned());
            return None;
        }
        Some(Slot { label, producer, index: index.unwrap_or(0), rank, span })
    }

    /// The number inside an index or a rank.
    fn number_in(&mut self, pair: Pair<'t, Rule>, max: i64) -> Option<i64> {
        let nat = inner_pair(pair);
        let number = nat.as_str().parse().ok().filter(|n| *n <= max);
        if number.is_none() {
            self.complain(codes::VALUE, self.span(&nat), format!("`{}` is larger than {max}", nat.as_str()));
        }
        number
    }

    fn outputs(&mut self, pair: Pair<'t, Rule>) -> Option<Vec<OutputItem>> {
        if pair.as_str().trim_start_matches("->").trim() == "none" {
            return Some(Vec::new());
        }
        let mut outputs = Vec::new();
        for output in pair.into_inner() {
            let mut label = None;
            for part in output.into_inner() {
                if part.as_rule() == Rule::label {
                    label = Some(self.name(inner_pair(part))?);
                } else {
                    outputs.push(OutputItem { label: label.take(), desc: self.desc(part)? });
                }
            }
        }
        Some(outputs)
    }

    /// The entries and subgraphs of `text[body]`. A bad one costs itself.
    fn entries(&mut self, body: Range<usize>) -> (Vec<Entry>, Vec<Subgraph>) {
        let (mut entries, mut subgraphs) = (Vec::<Entry>::new(), Vec::new());
        let mut seen = rustc_hash::FxHashSet::default();
        for piece in scan::split(self.text, body, Mode::Entries, &mut self.complaints) {
            if piece.broken {
                continue;
            }
            let (head, _) = self.around(&piece);
            let is_subgraph = head.strip_prefix("subgraph").is_some_and(|rest| {
                rest.starts_with(|c: char| c.is_ascii_whitespace() || c == '"') && !has_joint(rest)
            });
            if is_subgraph && piece.braces.is_some() {
                subgraphs.extend(self.subgraph(&piece));
                continue;
            }
            let Some(entry) = self.entry(&piece) else { continue };
            if !seen.insert(entry.target.clone()) {
                let message = "this key is given twice".to_owned();
                self.complain(codes::DUPLICATE, entry.span.clone(), message);
                continue;
            }
            entries.push(entry);
        }
        (entries, subgraphs)
    }

    fn entry(&mut self, piece: &Piece) -> Option<Entry> {
        let parsed = self.parse(Rule::entry, &self.text[piece.span.clone()], piece.span.start)?;
        let mut parts = parsed.into_inner();
        let target = self.target(parts.next()?, true)?;
        let right = parts.next()?;
        let is_override = right.as_rule() == Rule::override_;
        let is_whole = matches!(target, Target::Port { part: Part::Whole, .. });
        if is_override != is_whole {
            let (message, help) = if is_whole {
                (
                    "a port is described with `:`",
                    "as in `in0: float32[2] NCHW`; a key with this name is quoted",
                )
            } else {
                ("an attribute is set with `=`", "as in `key = 1`; `in0: ...` and `out0: ...` describe ports")
            };
            self.complain_with(codes::ENTRY, piece.span.clone(), message.to_owned(), help.to_owned());
            return None;
        }
        let value = if is_override {
            EntryValue::Desc(self.desc(inner_pair(right))?)
        } else {
            EntryValue::Value(self.value(inner_pair(right))?)
        };
        Some(Entry { target, value, span: piece.span.clone() })
    }

    /// What an entry is about. A quoted key is always an attribute; `in0.` and `out0.` mean ports where there
    /// are any.
    pub fn target(&mut self, pair: Pair<'_, Rule>, has_ports: bool) -> Option<Target> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let first = parts.next()?;
        let second = parts.next();
        let key = match first.as_rule() {
            Rule::string => return Some(Target::Key(Sym::new(&self.text(&first)?))),
            Rule::field => return Some(Target::Field(inner_pair(first).as_str().to_owned())),
            _ => first.as_str(),
        };
        let (port, rest) = key.split_once('.').map_or((key, None), |(port, rest)| (port, Some(rest)));
        let number =
            port.strip_prefix("in").map(|n| (true, n)).or(port.strip_prefix("out").map(|n| (false, n)));
        let number =
            number.filter(|(_, n)| has_ports && !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        let Some((is_input, index)) = number else {
            if second.is_none() {
                return Some(Target::Key(Sym::new(key)));
            }
            let help = "`in0.` and `out0.` go before `@field` and `\"key\"`".to_owned();
            self.complain_with(codes::ENTRY, span, format!("`{key}` is not a port"), help);
            return None;
        };
        let Ok(index) = index.parse() else {
            self.complain(codes::PORT, span, format!("`{index}` is larger than {}", u32::MAX));
            return None;
        };
        let part = match (rest, second) {
            (None, None) => Part::Whole,
            (Some(key), None) => Part::Key(Sym::new(key)),
            (None, Some(second)) if second.as_rule() == Rule::key_of => {
                Part::Key(Sym::new(&self.text(&inner_pair(second))?))
            }
            (None, Some(second)) => Part::Field(inner_pair(second).as_str().to_owned()),
            (Some(_), Some(_)) => {
                self.complain(codes::ENTRY, span, "a port has no parts with parts".to_owned());
                return None;
            }
        };
        Some(Target::Port { is_input, index, part })
    }

    fn name(&mut self, pair: Pair<'_, Rule>) -> Option<Name> {
        let inner = inner_pair(pair);
        let is_word = inner.as_rule() == Rule::word;
        let text = if is_word { inner.as_str().into() } else { self.text(&inner)? };
        Some(Name { text, span: self.span(&inner), is_word })
    }

    /// Where a pair of the piece being read stands in the text.
    pub fn span(&self, pair: &Pair<'_, Rule>) -> Range<usize> {
        let span = pair.as_span();
        self.offset + span.start()..self.offset + span.end()
    }

    fn parse(&mut self, rule: Rule, text: &'t str, offset: usize) -> Option<Pair<'t, Rule>> {
        self.offset = offset;
        match Notation::parse(rule, text) {
            Ok(mut pairs) => pairs.next(),
            Err(error) => {
                self.syntax_error(&error, offset, text.len());
                None
            }
        }
    }

    fn syntax_error(&mut self, error: &pest::error::Error<Rule>, offset: usize, len: usize) {
        let at = match error.location {
            InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
        };
        let found = scan::token_at(self.text, offset + at, offset + len);
        let wanted = match &error.variant {
            ErrorVariant::ParsingError { positives, .. } => {
                let mut words: Vec<&str> = positives.iter().map(words).collect();
                let mut seen = Vec::new();
                words.retain(|w| {
                    !seen.contains(w) && {
                        seen.push(*w);
                        true
                    }
                });
                words
            }
            ErrorVariant::CustomError { .. } => vec!["a shorter item"],
        };
        let found_text = match &self.text[found.clone()] {
            "" => "the end".to_owned(),
            text => format!("`{text}`"),
        };
        let wanted = match wanted.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => "something else".to_owned(),
        };
        self.complain(codes::SYNTAX, found, format!("expected {wanted}, found {found_text}"));
    }

    pub fn complain(&mut self, code: &'static str, span: Range<usize>, message: String) {
        self.complaints.push(code, span, message, None);
    }

    pub fn complain_with(&mut self, code: &'static str, span: Range<usize>, message: String, help: String) {
        self.complaints.push(code, span, message, Some(help));
    }
}

/// The first pair inside, or the pair itself if it has none.
pub(super) fn inner_pair(pair: Pair<'_, Rule>) -> Pair<'_, Rule> {
    pair.clone().into_inner().next().unwrap_or(pair)
}

/// The text inside the braces of a piece that has them.
fn inside(piece: &Piece) -> Range<usize> {
    let braces = piece.braces.clone().unwrap_or_default();
    braces.start + 1..braces.end - 1
}

/// The name that a broken item seems to give its node.
fn leading_name(head: &str) -> Option<&str> {
    let end = scan::token_at(head, 0, head.len()).end;
    Some(head[..end].trim_matches('"')).filter(|name| !name.is_empty())
}

/// A rule in the words of a reader of the message.
fn words(rule: &Rule) -> &'static str {
    match rule {
        Rule::name | Rule::word | Rule::string | Rule::kind => "a name",
        Rule::nat | Rule::int | Rule::number => "a number",
        Rule::bytes => "`hex\"...\"`",
        Rule::slots => "`(`",
        Rule::slot => "an input",
        Rule::source => "`=`",
        Rule::index => "`:` and an output number",
        Rule::rank => "`@` and a rank",
        Rule::control => "`^` and a control predecessor",
        Rule::outputs => "`->`",
        Rule::output | Rule::desc | Rule::dtype | Rule::label | Rule::described => {
            "a description such as `float32[2] ND`"
        }
        Rule::shape => "a shape",
        Rule::unknown_rank => "`?`",
        Rule::layout => "a format",
        Rule::entry | Rule::target | Rule::field | Rule::pair => "a key",
        Rule::field_of | Rule::key_of => "a part of a port",
        Rule::value_of => "`=`",
        Rule::override_ | Rule::colon => "`:`",
        Rule::list_type => "`:` and a list type",
        Rule::block => "`{`",
        Rule::EOI => "the end",
        _ => "a value",
    }
}
