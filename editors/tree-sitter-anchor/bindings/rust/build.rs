//! Compiles the generated parsers.

fn main() {
    let mut build = cc::Build::new();
    // Tables: nothing in them can be made faster.
    build.std("c11").include("src").warnings(false).opt_level(0);
    for file in ["src/parser.c", "src/scanner.c"] {
        build.file(file);
        println!("cargo:rerun-if-changed={file}");
    }
    build.compile("tree-sitter-anchor");
}
