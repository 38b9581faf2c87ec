//! `ge_proto` text dumps, and what becomes of them in the other kinds that can be written.
#![no_main]

use anchorwatch::format::Format;
use anchorwatch_fuzz::{is_stable, loaded};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Some(file) = loaded(data, "x.txt", Format::GeText) {
        is_stable(&file, "x.txt", Format::GeText);
        is_stable(&file, "x.air", Format::GeBinary);
        is_stable(&file, "x.graph", Format::Notation);
    }
});
