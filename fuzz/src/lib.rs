//! What the targets share: what must hold of any file that loads.
//!
//! Promise: a target panics exactly if the library broke one of its own promises, never because of its input.

use anchorwatch::format::{Format, LoadContext, Loaded, load, save};

/// Bytes that a file may inflate to: enough for every seed, too little to fill memory.
const SIZE_LIMIT: u64 = 16 << 20;

/// The file, if it is one of kind `format`.
pub fn loaded(data: &[u8], hint: &str, format: Format) -> Option<Loaded> {
    let context = LoadContext { size_limit: SIZE_LIMIT, onnx: None };
    load(data, hint, &context).ok().filter(|loaded| loaded.format == format)
}

/// A file that loads can be written as `format`; what was written loads, and is written the same way again.
pub fn is_stable(origin: &Loaded, hint: &str, format: Format) {
    let Ok(first) = save(origin, &origin.snapshot, format) else {
        assert_ne!(origin.format, format, "a file that was read cannot be written");
        return;
    };
    let context = LoadContext { size_limit: SIZE_LIMIT, onnx: None };
    let again = match load(&first, hint, &context) {
        Ok(again) => again,
        Err(error) => panic!("what was written does not load: {error}\n{}", String::from_utf8_lossy(&first)),
    };
    assert_eq!(again.format, format, "what was written is taken for something else");
    let second = save(&again, &again.snapshot, format).expect("what was written once can be written twice");
    assert!(
        said(&first) == said(&second),
        "writing is not stable\n--- first\n{}\n--- second\n{}",
        String::from_utf8_lossy(&first),
        String::from_utf8_lossy(&second)
    );
}

/// A file without the comment that tells what could not be written, which is told once.
fn said(file: &[u8]) -> &[u8] {
    match file.iter().position(|&byte| byte == b'\n') {
        Some(end) if file.starts_with(b"// not shown") => &file[end + 1..],
        _ => file,
    }
}
