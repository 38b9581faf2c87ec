//! Offline models, and what becomes of them as text.
#![no_main]

use anchorwatch::format::Format;
use anchorwatch_fuzz::{is_stable, loaded};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Some(file) = loaded(data, "x.om", Format::Om) {
        is_stable(&file, "x.txt", Format::GeText);
    }
});
