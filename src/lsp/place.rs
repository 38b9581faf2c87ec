//! Places: bytes of a text and positions of the protocol, paths and URIs.
//!
//! Promise: any position of a client means some byte of the text, at the edge of a character; a byte of the text and its position
//! lead to one another in both encodings. Characters outside the first plane count as two in UTF-16.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use lsp_types::{Position, Uri};

/// What the `character` of a position counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    fn length(self, c: char) -> u32 {
        match self {
            Encoding::Utf8 => c.len_utf8() as u32,
            Encoding::Utf16 => c.len_utf16() as u32,
        }
    }

    /// The units of a text.
    pub fn width(self, text: &str) -> u32 {
        text.chars().map(|c| self.length(c)).sum()
    }
}

/// A text with its lines found.
#[derive(Clone, Debug)]
pub struct Lines {
    text: Arc<str>,
    /// The first byte of each line.
    starts: Vec<usize>,
    encoding: Encoding,
}

impl Lines {
    pub fn new(text: Arc<str>, encoding: Encoding) -> Lines {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            // `\r\n` ends one line.
            if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        Lines { text, starts, encoding }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The number of the line of a byte.
    pub fn line(&self, byte: usize) -> u32 {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1) as u32
    }

    /// The bytes of a line, without what ends it.
    fn content(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.text.len());
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let content = self.text.get(start..end).unwrap_or("").trim_end_matches(['\n', '\r']);
        start..start + content.len()
    }

    pub fn position(&self, byte: usize) -> Position {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let line = self.line(byte);
        let start = self.starts.get(line as usize).copied().unwrap_or(0);
        let character = self.encoding.width(self.text.get(start..byte).unwrap_or(""));
        Position { line, character }
    }

    /// The byte of a position; beyond its line the end of the line, beyond the text the end of the text.
    pub fn byte(&self, position: Position) -> usize {
        let content = self.content(position.line as usize);
        let mut left = position.character;
        let mut byte = content.start;
        for c in self.text.get(content).unwrap_or("").chars() {
            let length = self.encoding.length(c);
            if left < length {
                break;
            }
            left -= length;
            byte += c.len_utf8();
        }
        byte
    }

    pub fn range(&self, bytes: Range<usize>) -> lsp_types::Range {
        lsp_types::Range { start: self.position(bytes.start), end: self.position(bytes.end.max(bytes.start)) }
    }

    pub fn bytes(&self, range: lsp_types::Range) -> Range<usize> {
        let (start, end) = (self.byte(range.start), self.byte(range.end));
        start.min(end)..end.max(start)
    }
}

/// The file of a `file:` URI.
pub fn path_of(uri: &Uri) -> Option<PathBuf> {
    let text = uri.as_str();
    let rest = text.strip_prefix("file://")?;
    // What stands before the path is a host; only this one is meant.
    let path = if rest.starts_with('/') { rest } else { rest.strip_prefix("localhost")? };
    let path = decoded(path)?;
    // `/c:/x` is a path of Windows.
    let bytes = path.as_bytes();
    let drive = cfg!(windows) && bytes.get(2) == Some(&b':');
    Some(PathBuf::from(if drive { &path[1..] } else { &path }))
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// The `file:` URI of an absolute path.
pub fn uri_of(path: &Path) -> Option<Uri> {
    let path = path.to_str()?;
    let path = if cfg!(windows) { format!("/{}", path.replace('\\', "/")) } else { path.to_owned() };
    let mut text = "file://".to_owned();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte))
            }
            _ => text += &format!("%{byte:02X}"),
        }
    }
    Uri::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    #[test]
    fn positions_count_utf16_units_and_bytes_lead_back() {
        // `é` has two bytes and one unit, the other has four bytes and two units.
        let lines = Lines::new("aé\r\n\u{1F40B}b\rc\n".into(), Encoding::Utf16);
        assert_eq!(lines.position(3), at(0, 2));
        assert_eq!(lines.position(5), at(1, 0));
        assert_eq!(lines.position(9), at(1, 2));
        assert_eq!(lines.position(11), at(2, 0));
        assert_eq!(lines.position(99), at(3, 0));
        // The middle of a pair, a line's end, a line that is not there.
        assert_eq!(lines.byte(at(1, 1)), 5);
        assert_eq!(lines.byte(at(0, 9)), 3);
        assert_eq!(lines.byte(at(9, 0)), lines.text().len());
        for (byte, _) in lines.text().char_indices().filter(|(_, c)| !matches!(c, '\r' | '\n')) {
            assert_eq!(lines.byte(lines.position(byte)), byte);
        }
        let lines = Lines::new("é\u{1F40B}b".into(), Encoding::Utf8);
        assert_eq!((lines.position(6), lines.byte(at(0, 6))), (at(0, 6), 6));
        assert_eq!(lines.position(3), at(0, 2));
    }

    #[test]
    fn paths_and_uris_lead_to_one_another() {
        let path = Path::new("/w/a b/ü%.anchor");
        let uri = uri_of(path).expect("a URI");
        assert_eq!(uri.as_str(), "file:///w/a%20b/%C3%BC%25.anchor");
        assert_eq!(path_of(&uri).as_deref(), Some(path));
        let other = |text: &str| path_of(&Uri::from_str(text).expect("a URI"));
        assert_eq!(other("file://localhost/w"), Some(PathBuf::from("/w")));
        assert_eq!(other("untitled:Untitled-1"), None);
        assert_eq!(other("file://elsewhere/w"), None);
    }
}
