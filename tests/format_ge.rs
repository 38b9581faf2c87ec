//! GE files, in and out. The files in `graphs/` were written by the compiler itself (see its README) or in its style.

use std::io::Read;
use std::path::{Path, PathBuf};

use anchorwatch::format::{Format, FormatError, LoadContext, Loaded, load, save};

fn graphs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs")
}

fn inflate(path: &Path) -> Vec<u8> {
    let mut data = Vec::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_end(&mut data).unwrap();
    data
}

fn read(data: &[u8]) -> Result<Loaded, FormatError> {
    load(data, "", &LoadContext::default())
}

/// Loads and saves without an edit.
fn again(data: &[u8], format: Format) -> Vec<u8> {
    let loaded = read(data).unwrap();
    save(&loaded, &loaded.snapshot, format).unwrap()
}

/// The first line that differs: whole files would flood the screen.
#[track_caller]
fn assert_same_text(got: &[u8], want: &[u8]) {
    let (got, want) = (String::from_utf8_lossy(got), String::from_utf8_lossy(want));
    for (number, (got, want)) in got.lines().zip(want.lines()).enumerate() {
        assert_eq!(got, want, "line {}", number + 1);
    }
    assert_eq!(got.len(), want.len());
}

fn dumps_in_ge_style() -> Vec<PathBuf> {
    let mut files =
        vec![graphs().join("ge_proto_00000001_Build.txt.gz"), graphs().join("ge_proto_00056_Build.txt.gz")];
    files.extend(std::fs::read_dir(graphs().join("cases")).unwrap().map(|entry| entry.unwrap().path()));
    files.sort();
    files
}

#[test]
fn an_untouched_dump_comes_back_byte_for_byte() {
    for file in dumps_in_ge_style() {
        println!("{}", file.display());
        let data = inflate(&file);
        let loaded = read(&data).unwrap();
        assert_eq!(loaded.format, Format::GeText);
        assert_same_text(&save(&loaded, &loaded.snapshot, Format::GeText).unwrap(), &data);
    }
}

#[test]
fn compressed_input_is_the_same_graph() {
    let file = graphs().join("ge_proto_00056_Build.txt.gz");
    let packed = std::fs::read(&file).unwrap();
    assert_same_text(&again(&packed, Format::GeText), &inflate(&file));
}

#[test]
fn text_and_binary_say_the_same() {
    for file in dumps_in_ge_style() {
        let data = inflate(&file);
        let binary = again(&data, Format::GeBinary);
        assert_eq!(read(&binary).unwrap().format, Format::GeBinary);
        assert_same_text(&again(&binary, Format::GeText), &data);
        assert_eq!(again(&binary, Format::GeBinary), binary);
    }
}

#[test]
fn a_real_model_keeps_its_fields() {
    // Its map entries are in no order, so the first writing sorts them; from then on nothing changes.
    let data = inflate(&graphs().join("autoencoder_modeldef.air.gz"));
    let once = again(&data, Format::GeBinary);
    assert_eq!(once.len(), data.len());
    assert_eq!(again(&once, Format::GeBinary), once);
    assert_same_text(&again(&once, Format::GeText), &again(&data, Format::GeText));
    assert_same_text(&again(&again(&data, Format::GeText), Format::GeText), &again(&data, Format::GeText));
}

#[test]
fn the_graph_of_an_offline_model_is_its_model_partition() {
    let om = read(&inflate(&graphs().join("autoencoder_v2header.om.gz"))).unwrap();
    let air = inflate(&graphs().join("autoencoder_modeldef.air.gz"));
    assert_eq!((om.format, om.snapshot.node_count()), (Format::Om, 46));
    assert_same_text(&save(&om, &om.snapshot, Format::GeText).unwrap(), &again(&air, Format::GeText));
    assert_eq!(save(&om, &om.snapshot, Format::Om).unwrap_err().code, "format::read-only");
}

#[test]
fn one_line_style_is_printed_in_ge_style() {
    let data = inflate(&graphs().join("g1000.txt.gz"));
    let printed = again(&data, Format::GeText);
    assert!(printed.starts_with(b"name: \"m\"\ngraph {\n  name: \"g\"\n  op {\n    name: \"data0\"\n"));
    assert_same_text(&again(&printed, Format::GeText), &printed);
}

/// Bytes written as hexadecimal numbers.
fn unhex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn bad_files_say_what_is_wrong_and_where() {
    // Each file is read with a limit of 4096 bytes.
    let ctx = LoadContext { size_limit: 4096, ..LoadContext::default() };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_graphs");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let data = match path.extension().and_then(|e| e.to_str()) {
            Some("txt") => std::fs::read(&path).unwrap(),
            Some("hex") => unhex(&std::fs::read_to_string(&path).unwrap()),
            _ => continue,
        };
        count += 1;
        let said = match load(&data, "", &ctx) {
            Ok(loaded) => loaded.warnings.iter().map(|warning| format!("warning {warning}\n")).collect(),
            Err(error) => format!("error {error}\n"),
        };
        let expected = std::fs::read_to_string(path.with_extension("expected")).unwrap();
        if said != expected {
            wrong.push(format!("{}\n  said     {said}  expected {expected}", path.display()));
        }
    }
    assert!(count >= 15);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
