//! `ge_onnx` text dumps, and what becomes of them as `ge_proto` text.
#![no_main]

use anchorwatch::format::Format;
use anchorwatch_fuzz::{is_stable, loaded};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Some(file) = loaded(data, "x.pbtxt", Format::GeOnnx) {
        is_stable(&file, "x.txt", Format::GeText);
    }
});
