//! The stable codes of this room's diagnostics, one line each; the reference of diagnostics is made from this table.
//!
//! The room writes its codes where it complains; a test compares them with this table.

/// Every code with its meaning.
pub const CODES: &[(&str, &str)] = &[
    ("syntax::chained", "comparisons in a row"),
    ("syntax::checker", "a checker that does nothing, or does it in two ways"),
    ("syntax::escape", "a backslash before a character that has none"),
    ("syntax::expected", "another word or sign is wanted here"),
    ("syntax::keyword", "a keyword of another language"),
    ("syntax::marks", "`any` among other marks"),
    ("syntax::matrix", "a row with too few or too many cells"),
    ("syntax::no-item", "text at the left margin that begins no item"),
    ("syntax::not-understood", "nothing more is known about the mistake"),
    ("syntax::number", "a number out of range"),
    ("syntax::operator", "an operator of another language, or `=` for `==`"),
    ("syntax::order", "an `order` without its mode"),
    ("syntax::quote", "single quotes"),
    ("syntax::reserved", "a word of the language as a name"),
    ("syntax::set", "`set` of something that cannot be set"),
    ("syntax::space", "a space before the bracket of a call"),
    ("syntax::statement", "two statements on one line"),
    ("syntax::text", "a mistake in the `{…}` of a text"),
    ("syntax::too-deep", "brackets or operators are nested too deeply"),
    ("syntax::too-long", "a file of 1 GiB or more"),
    ("syntax::twice", "a clause, or the graph of a test, is given twice"),
    ("syntax::type", "a word that is no type here"),
    ("syntax::unclosed", "a bracket or a string without its end, or an end without its beginning"),
];
