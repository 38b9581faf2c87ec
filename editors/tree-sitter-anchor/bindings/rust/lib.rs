//! The languages of anchorwatch for Tree-sitter: `parser.set_language(&tree_sitter_anchor::LANGUAGE.into())`.

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_anchor() -> *const ();
    fn tree_sitter_anchor_graph() -> *const ();
}

/// The grammar of rule files, `.anchor`.
// SAFETY: the function gives a static table that Tree-sitter has generated.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_anchor) };

/// The grammar of the graph notation, `.graph`.
// SAFETY: as above.
pub const GRAPH_LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_anchor_graph) };
