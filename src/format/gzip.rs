//! Compressed input. Every format may come as gzip; the limit counts inflated bytes, so a bomb costs one error.

use std::borrow::Cow;
use std::io::Read;

use flate2::bufread::MultiGzDecoder;

use super::FormatError;

/// The file itself, inflated if it is gzip, no larger than `limit`.
pub fn inflate(bytes: &[u8], limit: u64) -> Result<Cow<'_, [u8]>, FormatError> {
    if bytes.len() as u64 > limit {
        return Err(too_large(limit));
    }
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut inflated = Vec::new();
    let mut decoder = MultiGzDecoder::new(bytes).take(limit.saturating_add(1));
    decoder.read_to_end(&mut inflated).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            FormatError::new("format::truncated", "the gzip data ends too early")
        }
        _ => FormatError::new("format::gzip", format!("the gzip data is damaged: {error}")),
    })?;
    if inflated.len() as u64 > limit {
        return Err(too_large(limit));
    }
    if inflated.starts_with(&[0x1f, 0x8b]) {
        return Err(
            FormatError::new("format::gzip", "the file is compressed twice").with_help("unpack it once")
        );
    }
    Ok(Cow::Owned(inflated))
}

/// The error for a file over the limit.
pub fn too_large(limit: u64) -> FormatError {
    FormatError::new("format::too-large", format!("the file is larger than the limit of {limit} bytes"))
        .with_help("raise the limit if the file is what it should be")
}
