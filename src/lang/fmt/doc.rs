//! Text that may be broken into lines, and the choice of where (Wadler's algebra with three additions).
//!
//! Promise: rendering loses no text and no comment, whatever fits; it takes time linear in the text times the width.
//! Knows nothing of the rule language.
//!
//! The additions are why this is no library: a comment behind a token waits for the end of its line
//! ([`Doc::Behind`]), a comment on its own line makes its line breaks itself and merges with those around it
//! ([`Doc::Above`]), and a [`Doc::Fill`] breaks alone where a [`Doc::Line`] breaks with its group.

/// Columns for one level.
pub const INDENT: usize = 2;

#[derive(Clone, Debug)]
pub enum Doc {
    Text(String),
    /// A new line in a broken group, else this text.
    Line(&'static str),
    /// Text that stands only in a broken group: what puts things into columns.
    Broken(String),
    /// A space, or a new line where what follows does not fit.
    Fill,
    /// Always a new line; `blank`: after an empty one.
    Hard {
        blank: bool,
    },
    /// What is broken inside stands so many columns deeper.
    Nest {
        by: usize,
        inner: Box<Doc>,
    },
    Group {
        broken: bool,
        inner: Box<Doc>,
    },
    Concat(Vec<Doc>),
    /// A comment on a line of its own; `blank`, `gap`: with an empty line before, behind.
    Above {
        text: String,
        blank: bool,
        gap: bool,
    },
    /// A comment at the end of the line.
    Behind(String),
}

pub fn text(text: impl Into<String>) -> Doc {
    Doc::Text(text.into())
}

pub fn nil() -> Doc {
    Doc::Concat(Vec::new())
}

pub fn concat(parts: impl IntoIterator<Item = Doc>) -> Doc {
    Doc::Concat(parts.into_iter().collect())
}

/// What is broken inside stands one level deeper.
pub fn nest(doc: Doc) -> Doc {
    nest_by(INDENT, doc)
}

pub fn nest_by(by: usize, doc: Doc) -> Doc {
    Doc::Nest { by, inner: Box::new(doc) }
}

/// On one line if that fits and nothing inside needs lines of its own.
pub fn group(doc: Doc) -> Doc {
    group_if(false, doc)
}

/// A group that is broken at any rate if `broken`.
pub fn group_if(broken: bool, doc: Doc) -> Doc {
    Doc::Group { broken: broken || Seen::default().needs_lines(&doc), inner: Box::new(doc) }
}

/// What has been met on the way through a group.
#[derive(Default)]
struct Seen {
    text: bool,
    behind: bool,
}

impl Seen {
    /// Whether the text can't be one line: a comment stands between its words, or a line break is fixed.
    fn needs_lines(&mut self, doc: &Doc) -> bool {
        match doc {
            Doc::Text(text) => {
                self.text |= !text.is_empty();
                self.behind && !text.is_empty()
            }
            Doc::Line(_) | Doc::Fill | Doc::Broken(_) => false,
            Doc::Hard { .. } => true,
            Doc::Nest { inner, .. } => self.needs_lines(inner),
            Doc::Group { broken, inner } => *broken || self.needs_lines(inner),
            Doc::Concat(parts) => parts.iter().any(|part| self.needs_lines(part)),
            Doc::Above { .. } => self.text,
            Doc::Behind(_) => {
                self.behind = true;
                false
            }
        }
    }
}

/// The text on one line, if it has no comments and no fixed line breaks.
pub fn flat(doc: &Doc) -> Option<String> {
    let mut out = String::new();
    flatten(doc, &mut out).then_some(out)
}

fn flatten(doc: &Doc, out: &mut String) -> bool {
    match doc {
        Doc::Text(text) => out.push_str(text),
        Doc::Line(flat) => out.push_str(flat),
        Doc::Broken(_) => {}
        Doc::Fill => out.push(' '),
        Doc::Hard { .. } | Doc::Above { .. } | Doc::Behind(_) | Doc::Group { broken: true, .. } => {
            return false;
        }
        Doc::Nest { inner, .. } | Doc::Group { inner, .. } => return flatten(inner, out),
        Doc::Concat(parts) => return parts.iter().all(|part| flatten(part, out)),
    }
    true
}

/// Columns of all words of a document that has one line, comments aside.
pub fn width(doc: &Doc) -> usize {
    match doc {
        Doc::Text(text) => columns(text),
        Doc::Concat(parts) => parts.iter().map(width).sum(),
        Doc::Nest { inner, .. } | Doc::Group { inner, .. } => width(inner),
        Doc::Line(flat) => columns(flat),
        Doc::Fill => 1,
        Doc::Broken(_) | Doc::Hard { .. } | Doc::Above { .. } | Doc::Behind(_) => 0,
    }
}

/// Columns that a text takes.
pub fn columns(text: &str) -> usize {
    text.chars().count()
}

/// One line of the result.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct OutLine {
    /// Indentation included, without spaces at the end.
    pub text: String,
    /// The comment at its end.
    pub behind: Option<String>,
}

/// The lines of a document, none longer than `width` if that can be.
pub fn render(doc: &Doc, width: usize) -> Vec<OutLine> {
    let mut page =
        Page { width, lines: Vec::new(), line: OutLine::default(), pending: None, waiting: Vec::new() };
    let mut work = vec![(0, Mode::Broken, doc)];
    while let Some((indent, mode, doc)) = work.pop() {
        match doc {
            Doc::Text(text) => page.text(text, indent),
            Doc::Line(flat) => match mode {
                Mode::Flat => page.text(flat, indent),
                Mode::Broken => page.newline(indent, false),
            },
            Doc::Broken(_) if mode == Mode::Flat => {}
            Doc::Broken(text) => page.text(text, indent),
            Doc::Fill => {
                let room = page.room().saturating_sub(1);
                let comment =
                    || work.iter().rev().find_map(|(_, _, doc)| begins_with_comment(doc)) == Some(true);
                if page.line.behind.is_some()
                    || mode == Mode::Broken && (!fits(room, None, &work) || comment())
                {
                    page.newline(indent, false);
                } else {
                    page.text(" ", indent);
                }
            }
            Doc::Hard { blank } => page.newline(indent, *blank),
            Doc::Nest { by, inner } => work.push((indent + by, mode, inner)),
            Doc::Group { broken, inner } => {
                let flat = !broken && (mode == Mode::Flat || fits(page.room(), Some(inner), &work));
                work.push((indent, if flat { Mode::Flat } else { Mode::Broken }, inner));
            }
            Doc::Concat(parts) => work.extend(parts.iter().rev().map(|part| (indent, mode, part))),
            Doc::Above { text, blank, gap } => page.comment(text, indent, *blank, *gap),
            Doc::Behind(text) => page.behind(text),
        }
    }
    page.finish()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Flat,
    Broken,
}

/// Whether a comment comes before any text; `None` if there is neither.
fn begins_with_comment(doc: &Doc) -> Option<bool> {
    match doc {
        Doc::Above { .. } => Some(true),
        Doc::Text(text) => (!text.is_empty()).then_some(false),
        Doc::Nest { inner, .. } | Doc::Group { inner, .. } => begins_with_comment(inner),
        Doc::Concat(parts) => parts.iter().find_map(begins_with_comment),
        Doc::Line(_) | Doc::Broken(_) | Doc::Fill | Doc::Hard { .. } | Doc::Behind(_) => None,
    }
}

/// Whether `first`, laid flat, and what follows it up to the next possible line break fit in `room` columns.
fn fits(room: usize, first: Option<&Doc>, rest: &[(usize, Mode, &Doc)]) -> bool {
    let mut room = room;
    let mut behind = rest.len();
    let mut work: Vec<(Mode, &Doc)> = first.map(|doc| (Mode::Flat, doc)).into_iter().collect();
    loop {
        let Some((mode, doc)) = work.pop().or_else(|| {
            behind = behind.checked_sub(1)?;
            rest.get(behind).map(|(_, mode, doc)| (*mode, *doc))
        }) else {
            return true;
        };
        let taken = match doc {
            Doc::Text(text) => columns(text),
            Doc::Line(_) | Doc::Fill if mode == Mode::Broken => return true,
            Doc::Line(flat) => columns(flat),
            Doc::Broken(_) if mode == Mode::Flat => 0,
            Doc::Broken(text) => columns(text),
            Doc::Fill => 1,
            Doc::Hard { .. } => return true,
            Doc::Nest { inner, .. } => {
                work.push((mode, inner));
                0
            }
            Doc::Group { broken, inner } => {
                work.push((if *broken { Mode::Broken } else { mode }, inner));
                0
            }
            Doc::Concat(parts) => {
                work.extend(parts.iter().rev().map(|part| (mode, part)));
                0
            }
            Doc::Above { .. } | Doc::Behind(_) => 0,
        };
        match room.checked_sub(taken) {
            Some(left) => room = left,
            None => return false,
        }
    }
}

struct Page {
    width: usize,
    lines: Vec<OutLine>,
    line: OutLine,
    /// A line break that the next text makes: its indentation, and whether an empty line stands before.
    pending: Option<(usize, bool)>,
    /// Comments that stand above the next text.
    waiting: Vec<String>,
}

impl Page {
    fn room(&self) -> usize {
        let used = self.pending.map_or_else(|| columns(&self.line.text), |(indent, _)| indent);
        self.width.saturating_sub(used)
    }

    fn newline(&mut self, indent: usize, blank: bool) {
        let before = self.pending.is_some_and(|(_, blank)| blank);
        self.pending = Some((indent, blank || before));
    }

    fn text(&mut self, text: &str, indent: usize) {
        // Spaces between words mean nothing where a line begins.
        let begins = self.pending.is_some() || !self.waiting.is_empty();
        if text.is_empty() || begins && text.trim().is_empty() {
            return;
        }
        for comment in std::mem::take(&mut self.waiting) {
            self.comment(&comment, indent, false, false);
        }
        if let Some((indent, blank)) = self.pending.take() {
            let opens = self.line.behind.is_none() && self.line.text.ends_with(['{', '(', '[']);
            self.end_line();
            if blank && !opens && !self.lines.is_empty() {
                self.lines.push(OutLine::default());
            }
            self.line.text = " ".repeat(indent);
        }
        self.line.text.push_str(text);
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        line.text.truncate(line.text.trim_end().len());
        if !line.text.is_empty() || line.behind.is_some() {
            self.lines.push(line);
        }
    }

    fn comment(&mut self, text: &str, indent: usize, blank: bool, gap: bool) {
        let indent = match self.pending {
            Some((indent, _)) => indent,
            None if self.line.text.is_empty() => indent,
            // In the middle of a line; what comes next goes on with it.
            None => indent + INDENT,
        };
        self.newline(indent, blank);
        self.text(text, indent);
        self.newline(indent, gap);
    }

    /// A line has room for one comment; a further one stands above what comes next.
    fn behind(&mut self, text: &str) {
        if self.pending.is_some() || self.line.behind.is_some() {
            self.waiting.push(text.to_owned());
        } else {
            self.line.behind = Some(text.to_owned());
        }
    }

    fn finish(mut self) -> Vec<OutLine> {
        for comment in std::mem::take(&mut self.waiting) {
            self.comment(&comment, 0, false, false);
        }
        self.end_line();
        self.lines
    }
}
