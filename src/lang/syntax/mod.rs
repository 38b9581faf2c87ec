//! Text to syntax trees, with recovery: a file is split into items first, so an error costs one item.
//!
//! Promise: every text gives an answer. Whatever could be understood comes back as trees, everything else as
//! [`Diagnostic`](super::Diagnostic)s with places; nothing here knows what a name means.
//!
//! The way of an item: `split` cuts it out of the file, `check` refuses what would make parsing deep or hopeless,
//! `anchor.pest` recognises it, the builders (`items`, `statements`, `expr`, `text`, `test_block`) make the tree,
//! and `complaint` words what the grammar refused, for one statement after the other (`recover`). `print` is the way back.

pub mod ast;
mod ast_statement;
mod ast_test;
pub(in crate::lang) mod build;
mod check;
pub mod codes;
mod complaint;
mod expr;
mod items;
pub mod parse;
pub mod print;
mod print_chain;
mod print_expr;
mod print_test;
mod recover;
pub mod scan;
pub mod split;
mod statements;
mod test_block;
mod text;
pub mod tree;

pub use parse::{LONGEST_FILE, ParsedFile, ParsedItem, parse_expr, parse_file, parse_file_with, parse_item};
pub use print::{print_block, print_item};
pub use print_expr::{print_expr, print_text, ty as print_type};
pub use scan::comments;
pub use split::{SourceItem, SplitFile, split};
