//! Compiles the generated parsers.

fn main() {
    for (name, folder, files) in [
        ("tree-sitter-anchor", "src", &["parser.c", "scanner.c"][..]),
        ("tree-sitter-anchor-graph", "graph/src", &["parser.c"]),
    ] {
        let mut build = cc::Build::new();
        // Tables: nothing in them can be made faster.
        build.std("c11").include(folder).warnings(false).opt_level(0);
        for file in files {
            let path = format!("{folder}/{file}");
            println!("cargo:rerun-if-changed={path}");
            build.file(path);
        }
        build.compile(name);
    }
}
