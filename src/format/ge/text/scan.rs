//! Tokens of the protobuf text format (`graph_formats.md` 4.3), without messages.
//!
//! Promise: a token borrows from the file unless it has escapes; each failure names line and column; messages
//! nest at most [`DEPTH_LIMIT`] deep, so a reader that recurses once a message is safe.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr3};

use super::super::names::Enum;
use crate::format::{DEPTH_LIMIT, FormatError};

type Result<T> = std::result::Result<T, FormatError>;

/// A place in a text file.
pub struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

/// How many values follow a field name.
pub enum Values {
    /// One more.
    One,
    /// Those of a `[…]` that is open; true until the first was read.
    List(bool),
    None,
}

impl<'a> Scan<'a> {
    /// The start of a file, behind a byte order mark if it has one.
    pub fn new(text: &'a [u8]) -> Scan<'a> {
        let at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Scan { text, at, depth: 0 }
    }

    /// Offset of the next byte.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// What was read since `start`.
    pub fn since(&self, start: usize) -> &'a [u8] {
        &self.text[start..self.at]
    }

    /// Steps over bytes whose tokens are known.
    pub fn advance(&mut self, len: usize) {
        self.at += len;
    }

    /// Messages around this place.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    pub fn error(&self, code: &'static str, message: impl Into<String>, span: Range<usize>) -> FormatError {
        FormatError::in_text(code, message, self.text, span)
    }

    /// "expected …, found …" about the next token.
    pub fn expected(&mut self, wanted: &str) -> FormatError {
        self.skip_space();
        let span = self.token_span();
        if span.is_empty() {
            let message = format!("expected {wanted}, found the end of the file");
            return self.error("format::truncated", message, span);
        }
        let found = String::from_utf8_lossy(&self.text[span.clone()]).into_owned();
        self.error("format::syntax", format!("expected {wanted}, found `{found}`"), span)
    }

    /// The next token as a person sees it: a word, a short piece of a string, or one character.
    fn token_span(&self) -> Range<usize> {
        let rest = self.rest();
        let word = rest.iter().take(40).take_while(|b| is_word(**b)).count();
        let len = match rest.first() {
            None => 0,
            Some(b'"' | b'\'') => {
                let inside = rest[1..].iter().take(20).take_while(|b| **b != rest[0] && **b != b'\n').count();
                inside + 1 + usize::from(rest.get(inside + 1) == Some(&rest[0]))
            }
            Some(_) => word.max(1),
        };
        self.at..self.at + len
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\n' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'#' => self.at += memchr(b'\n', self.rest()).unwrap_or(self.text.len() - self.at),
                _ => break,
            }
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let hit = self.peek() == Some(byte);
        self.at += usize::from(hit);
        hit
    }

    /// Enters a message; answers with the byte that closes it.
    pub fn open(&mut self) -> Result<u8> {
        let close = if self.eat(b'{') {
            b'}'
        } else if self.eat(b'<') {
            b'>'
        } else {
            return Err(self.expected("`{`"));
        };
        if self.depth >= DEPTH_LIMIT {
            let message = format!("messages nest more than {DEPTH_LIMIT} deep");
            return Err(self.error("format::too-deep", message, self.at - 1..self.at));
        }
        self.depth += 1;
        Ok(close)
    }

    /// The name of the next field, or `None` once `close` was read (or, for the file itself, at its end).
    pub fn field(&mut self, close: Option<u8>) -> Result<Option<&'a [u8]>> {
        loop {
            self.skip_space();
            match self.peek() {
                Some(b',' | b';') => self.at += 1,
                Some(byte) if Some(byte) == close => {
                    self.at += 1;
                    self.depth -= 1;
                    return Ok(None);
                }
                Some(b'[') => return self.extension_name().map(Some),
                Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                    let len =
                        self.rest().iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
                    let start = self.at;
                    self.at += len;
                    return Ok(Some(self.since(start)));
                }
                None if close.is_none() => return Ok(None),
                _ => {
                    return Err(match close {
                        Some(close) => self.expected(&format!("a field name or `{}`", char::from(close))),
                        None => self.expected("a field name"),
                    });
                }
            }
        }
    }

    /// `[package.extension]`, brackets included. No schema of ours has one.
    fn extension_name(&mut self) -> Result<&'a [u8]> {
        let start = self.at;
        let inside = |b: &&u8| is_word(**b) || **b == b'/';
        let len = self.rest()[1..].iter().take_while(inside).count();
        self.at += len + 1;
        if self.peek() != Some(b']') {
            return Err(self.expected("`]`"));
        }
        self.at += 1;
        Ok(self.since(start))
    }

    /// Starts the values of a scalar field.
    pub fn scalars(&mut self) -> Result<Values> {
        if !self.eat(b':') {
            return Err(self.expected("`:`"));
        }
        Ok(if self.eat(b'[') { Values::List(true) } else { Values::One })
    }

    /// Starts the values of a message field; the colon is optional.
    pub fn messages(&mut self) -> Values {
        let colon = self.eat(b':');
        if colon && self.eat(b'[') { Values::List(true) } else { Values::One }
    }

    /// Whether another value follows.
    pub fn more(&mut self, values: &mut Values) -> Result<bool> {
        match values {
            Values::One => {
                *values = Values::None;
                Ok(true)
            }
            Values::None => Ok(false),
            Values::List(first) => {
                if self.eat(b']') {
                    *values = Values::None;
                    return Ok(false);
                }
                if !std::mem::take(first) && !self.eat(b',') {
                    return Err(self.expected("`,` or `]`"));
                }
                Ok(true)
            }
        }
    }

    fn word(&mut self) -> &'a [u8] {
        self.skip_space();
        let start = self.at;
        self.at += self.rest().iter().take_while(|b| is_word(**b)).count();
        self.since(start)
    }

    /// An integer between `min` and `max`.
    pub fn int(&mut self, min: i64, max: i64) -> Result<i64> {
        self.skip_space();
        let start = self.at;
        let word = self.word();
        let digits = word.strip_prefix(b"-").unwrap_or(word);
        let (digits, radix) = match digits {
            [b'0', b'x' | b'X', hex @ ..] => (hex, 16),
            [b'0', octal @ ..] if !octal.is_empty() => (octal, 8),
            _ => (digits, 10),
        };
        let is_number = !digits.is_empty() && digits.iter().all(|d| char::from(*d).is_digit(radix));
        if !is_number {
            self.at = start;
            if !word.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-') {
                return Err(self.expected("an integer"));
            }
            let message = format!("`{}` is not an integer", String::from_utf8_lossy(word));
            return Err(self.error("format::bad-number", message, start..start + word.len()));
        }
        let magnitude = digits.iter().try_fold(0i128, |sum, digit| {
            let digit = char::from(*digit).to_digit(radix)?;
            Some(sum * i128::from(radix) + i128::from(digit)).filter(|sum| *sum <= 1 << 64)
        });
        let value = magnitude.map(|m| if word.starts_with(b"-") { -m } else { m });
        let value = value.and_then(|v| i64::try_from(v).ok()).filter(|v| (min..=max).contains(v));
        value.ok_or_else(|| {
            let text = String::from_utf8_lossy(word);
            let message = format!("`{text}` is outside {min} to {max}");
            self.error("format::bad-number", message, start..start + word.len())
        })
    }

    pub fn int64(&mut self) -> Result<i64> {
        // The common case, a few decimal digits, without wide arithmetic.
        self.skip_space();
        let rest = self.rest();
        let digits = rest.iter().take(18).take_while(|b| b.is_ascii_digit()).count();
        let ends = rest.get(digits).is_some_and(|b| !is_word(*b));
        if ends && (digits == 1 || digits > 1 && rest[0] != b'0') {
            self.at += digits;
            return Ok(rest[..digits].iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')));
        }
        self.int(i64::MIN, i64::MAX)
    }

    pub fn float(&mut self) -> Result<f32> {
        self.skip_space();
        let start = self.at;
        let word = self.word();
        let text = std::str::from_utf8(word).unwrap_or("");
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let number = if unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            text.strip_suffix(['f', 'F']).unwrap_or(text)
        } else {
            text
        };
        number.parse().map_err(|_| {
            self.at = start;
            if word.is_empty() {
                return self.expected("a number");
            }
            let message = format!("`{}` is not a number", String::from_utf8_lossy(word));
            self.error("format::bad-number", message, start..start + word.len())
        })
    }

    pub fn bool(&mut self) -> Result<bool> {
        self.skip_space();
        let start = self.at;
        match self.word() {
            b"true" | b"True" | b"t" | b"1" => Ok(true),
            b"false" | b"False" | b"f" | b"0" => Ok(false),
            _ => {
                self.at = start;
                Err(self.expected("`true` or `false`"))
            }
        }
    }

    /// A word such as an enum's name, whatever it says.
    pub fn name(&mut self) -> Result<String> {
        match self.word() {
            [] => Err(self.expected("a name")),
            word => Ok(String::from_utf8_lossy(word).into_owned()),
        }
    }

    /// A name of `kind`, or its number.
    pub fn enumeration(&mut self, kind: Enum) -> Result<i32> {
        self.skip_space();
        let start = self.at;
        let word = self.word();
        if let Some(number) = kind.number(word) {
            return Ok(number);
        }
        self.at = start;
        if word.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-') {
            let number = self.int(i64::from(i32::MIN), i64::from(i32::MAX))?;
            return Ok(i32::try_from(number).unwrap_or_default());
        }
        let found = String::from_utf8_lossy(word).into_owned();
        if found.is_empty() {
            return Err(self.expected(kind.what));
        }
        let message = format!("`{found}` is not {}", kind.what);
        Err(self
            .error("format::unknown-name", message, start..start + word.len())
            .with_help("write the number if the name is newer than this program"))
    }

    /// Bytes: one literal or several side by side.
    pub fn bytes(&mut self) -> Result<Cow<'a, [u8]>> {
        self.skip_space();
        let mut all = self.literal()?;
        loop {
            self.skip_space();
            if !matches!(self.peek(), Some(b'"' | b'\'')) {
                return Ok(all);
            }
            let next = self.literal()?;
            all.to_mut().extend_from_slice(&next);
        }
    }

    /// A string; it must be UTF-8.
    pub fn string(&mut self) -> Result<Cow<'a, str>> {
        self.skip_space();
        let start = self.at;
        let text = match self.bytes()? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        };
        text.ok_or_else(|| {
            let end = self.at.min(start + 40);
            self.error("format::utf8", "this string is not UTF-8", start..end)
        })
    }

    fn literal(&mut self) -> Result<Cow<'a, [u8]>> {
        let quote = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => quote,
            _ => return Err(self.expected("a string")),
        };
        let start = self.at;
        self.at += 1;
        let mut owned: Option<Vec<u8>> = None;
        loop {
            let from = self.at;
            let Some(len) = memchr3(quote, b'\\', b'\n', self.rest()) else {
                let end = self.text.len();
                return Err(self.error("format::truncated", "the file ends inside a string", start..end));
            };
            self.at += len;
            let plain = self.since(from);
            let stop = self.text[self.at];
            self.at += 1;
            if stop == b'\n' {
                let span = start..self.at - 1;
                return Err(self
                    .error("format::bad-string", "a string may not continue on the next line", span)
                    .with_help("write a line break as `\\n`"));
            }
            if stop == quote {
                return Ok(match owned {
                    None => Cow::Borrowed(plain),
                    Some(mut bytes) => {
                        bytes.extend_from_slice(plain);
                        Cow::Owned(bytes)
                    }
                });
            }
            let bytes = owned.get_or_insert_default();
            bytes.extend_from_slice(plain);
            self.escape(bytes)?;
        }
    }

    /// What follows a backslash.
    fn escape(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let start = self.at - 1;
        let Some(byte) = self.peek() else {
            return Err(self.error("format::truncated", "the file ends inside a string", start..self.at));
        };
        self.at += 1;
        let digits = |rest: &[u8], radix, max| {
            rest.iter()
                .take(max)
                .take_while(|d| char::from(**d).is_digit(radix))
                .fold((0u32, 0), |(v, n), d| (v * radix + char::from(*d).to_digit(radix).unwrap_or(0), n + 1))
        };
        match byte {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'\\' | b'\'' | b'"' | b'?' => out.push(byte),
            b'0'..=b'7' => {
                let (value, len) = digits(&self.text[self.at - 1..], 8, 3);
                self.at += len - 1;
                let Ok(value) = u8::try_from(value) else { return Err(self.bad_escape(start)) };
                out.push(value);
            }
            b'x' | b'X' => {
                let (value, len) = digits(self.rest(), 16, 2);
                self.at += len;
                match u8::try_from(value) {
                    Ok(value) if len > 0 => out.push(value),
                    _ => return Err(self.bad_escape(start)),
                }
            }
            b'u' | b'U' => {
                let wanted = if byte == b'u' { 4 } else { 8 };
                let (value, len) = digits(self.rest(), 16, wanted);
                self.at += len;
                match char::from_u32(value) {
                    Some(c) if len == wanted => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                    _ => return Err(self.bad_escape(start)),
                }
            }
            _ => return Err(self.bad_escape(start)),
        }
        Ok(())
    }

    fn bad_escape(&self, start: usize) -> FormatError {
        let text = String::from_utf8_lossy(self.since(start)).into_owned();
        self.error("format::bad-escape", format!("`{text}` is not an escape"), start..self.at)
    }

    /// Steps over the value of a field whose meaning is unknown and appends it to `out`, one field a line.
    pub fn copy_field(&mut self, name: &str, indent: usize, out: &mut String) -> Result<()> {
        self.skip_space();
        let mut values = self.messages();
        while self.more(&mut values)? {
            self.skip_space();
            let start = self.at;
            for _ in 0..indent {
                out.push_str("  ");
            }
            out.push_str(name);
            match self.peek() {
                Some(b'{' | b'<') => {
                    out.push_str(" {\n");
                    let close = Some(self.open()?);
                    while let Some(inner) = self.field(close)? {
                        self.copy_field(&String::from_utf8_lossy(inner), indent + 1, out)?;
                    }
                    for _ in 0..indent {
                        out.push_str("  ");
                    }
                    out.push_str("}\n");
                }
                Some(b'"' | b'\'') => {
                    let bytes = self.bytes()?;
                    out.push_str(": ");
                    super::quote(out, &bytes);
                    out.push('\n');
                }
                _ if self.word().is_empty() => return Err(self.expected("a value")),
                _ => {
                    out.push_str(": ");
                    out.push_str(&String::from_utf8_lossy(self.since(start)));
                    out.push('\n');
                }
            }
        }
        Ok(())
    }
}

/// Bytes of names and numbers.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'+' | b'-')
}
