//! ONNX models: written back as they were, and printed as notation.
#![no_main]

use anchorwatch::format::Format;
use anchorwatch_fuzz::{is_stable, loaded};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Some(file) = loaded(data, "x.onnx", Format::Onnx) {
        is_stable(&file, "x.onnx", Format::Onnx);
        is_stable(&file, "x.graph", Format::Notation);
    }
});
