//! The newer offline model, a ZIP archive (`graph_formats.md` 6.3). Only a text dump inside it can be read.
//!
//! Promise: every offset of the archive is checked; what is inflated counts against the size limit.

use std::io::Read;

use flate2::bufread::DeflateDecoder;

use super::FormatError;

type Result<T> = std::result::Result<T, FormatError>;

/// The first bytes of an archive.
pub const MAGIC: &[u8] = b"PK\x03\x04";

/// One file of the archive, as the central directory tells.
struct Entry<'a> {
    name: &'a str,
    method: u16,
    packed: usize,
    /// Where its own header stands.
    at: usize,
}

/// The dump that says most about the final graph, and its name in the archive.
pub fn debug_dump(data: &[u8], limit: u64) -> Result<(String, Vec<u8>)> {
    let entries = directory(data)?;
    let unsupported = |what: &str, help: &str| {
        FormatError::new("format::unsupported", format!("{what} cannot be read")).with_help(help)
    };
    if !entries.iter().any(|entry| entry.name == "manifest.json") {
        return Err(unsupported(
            "a ZIP archive without `manifest.json`",
            "unpack it and use the dump inside",
        ));
    }
    let is_dump = |entry: &&Entry<'_>| {
        let file = entry.name.rsplit('/').next().unwrap_or_default();
        entry.name.contains("/debug/") && file.starts_with("ge_proto_") && file.ends_with(".txt")
    };
    // The first model holds all graphs; of its dumps the last is the one after all stages.
    let folder = |entry: &Entry<'_>| entry.name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let first = entries.iter().filter(is_dump).map(folder).min();
    let of_first = entries.iter().filter(is_dump).filter(|entry| Some(folder(entry)) == first);
    let Some(dump) = of_first.max_by_key(|entry| entry.name) else {
        let what = "an `.om2` model without a `ge_proto` dump in its `debug` folder";
        return Err(unsupported(what, "compile the model with debug output, or dump its graph as text"));
    };
    Ok((dump.name.to_owned(), unpack(data, dump, limit)?))
}

fn slice(data: &[u8], at: usize, len: usize) -> Result<&[u8]> {
    at.checked_add(len).and_then(|end| data.get(at..end)).ok_or_else(|| {
        let left = data.len().saturating_sub(at);
        let message = format!("the archive needs {len} bytes here, but {left} are left");
        FormatError::at_byte("format::truncated", message, at)
    })
}

fn number(data: &[u8], at: usize, len: usize) -> Result<usize> {
    Ok(slice(data, at, len)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
}

fn expect(data: &[u8], at: usize, magic: &[u8]) -> Result<()> {
    if slice(data, at, 4)? == magic {
        return Ok(());
    }
    Err(FormatError::at_byte("format::malformed", "the archive's directory points at something else", at))
}

/// The central directory.
fn directory(data: &[u8]) -> Result<Vec<Entry<'_>>> {
    // The end record stands last, but for a comment of at most 64 KiB.
    let tail = data.len().saturating_sub(22 + 0xffff);
    let end = memchr::memmem::rfind(&data[tail..], b"PK\x05\x06").map(|at| tail + at);
    let end = end.ok_or_else(|| FormatError::new("format::truncated", "the archive has no end record"))?;
    let count = number(data, end + 10, 2)?;
    let mut at = number(data, end + 16, 4)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        expect(data, at, b"PK\x01\x02")?;
        let name_len = number(data, at + 28, 2)?;
        // A name that is not UTF-8 is none that we look for.
        let name = std::str::from_utf8(slice(data, at + 46, name_len)?).unwrap_or_default();
        let (method, packed) = (number(data, at + 10, 2)? as u16, number(data, at + 20, 4)?);
        entries.push(Entry { name, method, packed, at: number(data, at + 42, 4)? });
        at += 46 + name_len + number(data, at + 30, 2)? + number(data, at + 32, 2)?;
    }
    Ok(entries)
}

fn unpack(data: &[u8], entry: &Entry<'_>, limit: u64) -> Result<Vec<u8>> {
    expect(data, entry.at, MAGIC)?;
    let start = entry.at + 30 + number(data, entry.at + 26, 2)? + number(data, entry.at + 28, 2)?;
    let packed = slice(data, start, entry.packed)?;
    match entry.method {
        0 => Ok(packed.to_vec()),
        8 => {
            let mut out = Vec::new();
            let read = DeflateDecoder::new(packed).take(limit.saturating_add(1)).read_to_end(&mut out);
            read.map_err(|error| {
                let message = format!("`{}` in the archive is damaged: {error}", entry.name);
                FormatError::at_byte("format::malformed", message, start)
            })?;
            if out.len() as u64 > limit {
                return Err(super::gzip::too_large(limit));
            }
            Ok(out)
        }
        method => {
            let message = format!("`{}` in the archive is packed by method {method}", entry.name);
            Err(FormatError::at_byte("format::unsupported", message, entry.at).with_help("unpack it first"))
        }
    }
}
