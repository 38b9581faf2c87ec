//! Which kind of file it is (`graph_formats.md` 1), by content. The name is only asked where content cannot tell:
//! the graph notation has no mark of its own.

use super::{Fields, Format, FormatError, Wire};

const KNOWN: &str =
    "known are `ge_proto` and `ge_onnx` dumps, `.air`, `.om`, ONNX, and the notation in files named `.graph`";

/// How much of a text is looked at.
const HEAD: usize = 1024;

/// The format of `data`, which is inflated already and no archive.
pub fn detect(data: &[u8], hint_name: &str) -> Result<Format, FormatError> {
    if data.iter().all(u8::is_ascii_whitespace) {
        return Err(FormatError::new("format::empty", "the file is empty"));
    }
    if data.starts_with(super::ge::OM_MAGIC) {
        return Ok(Format::Om);
    }
    if looks_like_text(data) {
        return text(data, hint_name);
    }
    // Of what is neither, a file with the name of the notation is a damaged one, and its reader says where.
    binary(data).or_else(|error| if is_notation(hint_name) { Ok(Format::Notation) } else { Err(error) })
}

fn is_notation(hint_name: &str) -> bool {
    hint_name.trim_end_matches(".gz").ends_with(".graph")
}

fn unsupported(what: &str, help: &str) -> FormatError {
    FormatError::new("format::unsupported", format!("{what} cannot be read")).with_help(help)
}

/// Dumps are ASCII; a NUL or broken UTF-8 near the start is none.
fn looks_like_text(data: &[u8]) -> bool {
    let head = &data[..data.len().min(HEAD)];
    let is_utf8 = match std::str::from_utf8(head) {
        Ok(_) => true,
        // A character cut by the end of the head is no fault of the file.
        Err(e) => e.error_len().is_none() && head.len() == HEAD,
    };
    // Serialized messages have lengths and keys below 0x20 within any few bytes.
    let is_control = |b: &u8| *b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0b | 0x0c);
    is_utf8 && !head.iter().any(is_control)
}

fn text(data: &[u8], hint_name: &str) -> Result<Format, FormatError> {
    let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    if is_notation(hint_name) {
        return Ok(Format::Notation);
    }
    let mut words = Words { rest: text };
    let first = words.next().unwrap_or_default();
    match first {
        b"ir_version" | b"producer_name" => return Ok(Format::GeOnnx),
        b"graph" if words.rest.trim_ascii_start().starts_with(b"(") => {
            return Err(unsupported(
                "a `ge_readable` dump",
                "it lacks control edges and attributes, use the `ge_proto` dump",
            ));
        }
        b"node" if words.rest.trim_ascii_start().starts_with(b"{") => {
            return Err(unsupported("a TensorFlow graph", "convert it and dump the graph as `ge_proto`"));
        }
        // Fields of a model. What only the other kind of dump calls a node decides.
        b"name" | b"version" | b"custom_version" | b"graph" | b"attr" => {
            let inner = words.take(64).find(|word| matches!(*word, b"op" | b"node"));
            return Ok(if inner == Some(b"node") { Format::GeOnnx } else { Format::GeText });
        }
        _ => {}
    }
    let is_comment = |line: &&[u8]| line.is_empty() || line.starts_with(b"#");
    let Some(line) = text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).find(|line| !is_comment(line))
    else {
        return Err(FormatError::new("format::empty", "the file holds nothing but comments"));
    };
    let start = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let start = String::from_utf8_lossy(&start[..start.len().min(20)]).into_owned();
    let message = format!("the file begins with `{start}`, which no known kind of graph file does");
    Err(FormatError::new("format::unknown", message).with_help(KNOWN))
}

/// Words outside strings and comments.
struct Words<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        loop {
            let (byte, tail) = self.rest.split_first()?;
            match byte {
                b'#' => {
                    let end = memchr::memchr(b'\n', self.rest)?;
                    self.rest = &self.rest[end..];
                }
                b'"' | b'\'' => {
                    let escaped =
                        |at: usize| tail[..at].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1;
                    let end = memchr::memchr_iter(*byte, tail).find(|at| !escaped(*at))?;
                    self.rest = &tail[end + 1..];
                }
                b if is_word(b) => {
                    let len = self.rest.iter().take_while(|b| is_word(b)).count();
                    let (word, rest) = self.rest.split_at(len);
                    self.rest = rest;
                    return Some(word);
                }
                _ => self.rest = tail,
            }
        }
    }
}

fn binary(data: &[u8]) -> Result<Format, FormatError> {
    let unknown = || {
        FormatError::at_byte("format::unknown", "the file is neither text nor a serialized model", 0)
            .with_help(KNOWN)
    };
    let mut fields = Fields::new(data);
    // A model in which nothing tells has no graph either, and its reader says so.
    loop {
        let field = match fields.next_field() {
            Ok(Some(field)) => field,
            Ok(None) => return Ok(Format::GeBinary),
            Err(error) if error.code == "format::truncated" && fields.offset() > 0 => return Err(error),
            Err(error) if starts_like_a_model(data) => return Err(error),
            Err(_) => return Err(unknown()),
        };
        match (field.number, field.value) {
            (1, Wire::Varint(_)) => return Ok(Format::Onnx),
            (1, Wire::Bytes(_)) => return Ok(Format::GeBinary),
            (7, Wire::Bytes(_)) => return graph(field.message()?),
            (2 | 3 | 4 | 5 | 6 | 8 | 11 | 12 | 14 | 20 | 25 | 26, _) => {}
            _ => return Err(unknown()),
        }
    }
}

/// Whether the file starts like a model, so that a mistake in it is worth telling.
fn starts_like_a_model(data: &[u8]) -> bool {
    matches!(data.first(), Some(0x08 | 0x0a | 0x10 | 0x3a))
}

/// A graph of either kind: in one, field 1 is the name and 6 the ops; in the other, 1 the nodes and 2 the name.
fn graph(mut fields: Fields<'_>) -> Result<Format, FormatError> {
    let Some(field) = fields.next_field()? else { return Ok(Format::GeBinary) };
    let is_name = |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| !name.contains(|c: char| c < ' '));
    Ok(match field.number {
        1 if is_name(field.bytes()?) => Format::GeBinary,
        4 | 6 => Format::GeBinary,
        _ => Format::Onnx,
    })
}
