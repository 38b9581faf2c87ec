//! Text to syntax trees, with recovery: a file is split into items first, so an error costs one item.

pub mod ast;
