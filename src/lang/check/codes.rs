//! The stable codes of this room's diagnostics, one line each; the reference of diagnostics is made from this table.

macro_rules! codes {
    ($($id:ident = $code:literal, $doc:literal;)*) => {
        $(#[doc = $doc] pub const $id: &str = $code;)*

        /// Every code with its meaning.
        pub const CODES: &[(&str, &str)] = &[$(($code, $doc),)*];
    };
}

codes! {
    ALWAYS_OUTPUTS = "rule::always-outputs", "an `always` names two marks of outputs, and no input could be isolated";
    ARGUMENTS = "rule::arguments", "a call has too many or too few arguments";
    ATTR_PLACE = "rule::attr-place", "a graph attribute or a note is asked of a thing that it is not declared on";
    BAD_VALUE = "rule::bad-value", "a constant is wanted and something else is written";
    CYCLE = "rule::cycle", "items need each other in a circle";
    DUPLICATE = "rule::duplicate", "a name is declared twice, or two pipelines are the default";
    EDIT_HERE = "rule::edit-here", "an action that changes the graph is run where the graph may not change";
    ISOLATE_SIDE = "rule::isolate-side", "`isolate before` an output or `isolate after` an input";
    MARK_ORDER = "rule::mark-order", "an attribute asks for one that is declared later";
    MATRIX = "rule::matrix", "a matrix lacks a row, a column or a cell, or has one twice";
    NEEDS_DEFAULT = "rule::needs-default", "a value may be none where a plain value is needed";
    NEEDS_DEFAULT_ALWAYS = "rule::needs-default-always", "there is an `always` but nothing says which anchor it isolates";
    NO_GIVE = "rule::no-give", "an action may end without the value that it promises";
    NOT_EXHAUSTIVE = "rule::not-exhaustive", "a `match` does not handle every variant";
    NOT_HERE = "rule::not-here", "something that this kind of item cannot do";
    NOT_OPTIONAL = "rule::not-optional", "a test or a default for a value that is never none";
    NOTHING_TO_CHANGE = "rule::nothing-to-change", "`override`, `extend` or `remove` of an entry that does not exist";
    OUTSIDE_SET = "rule::outside-set", "an element is not in the set that `in` names";
    OVERLAP = "rule::overlap", "two entries rule the same pair of marks";
    OVERLAY_ONLY = "rule::overlay-only", "`override` or `remove` outside an overlay";
    SHADOWS_FACT = "rule::shadows-fact", "a function has the name of a fact of its first parameter, and could not be asked for";
    TOO_DEEP = "rule::too-deep", "an expression or a body is nested too deeply";
    TYPE_MISMATCH = "rule::type-mismatch", "a value of another type is needed";
    UNKNOWN_FACT = "rule::unknown-fact", "a value is asked for something that it does not have";
    UNKNOWN_NAME = "rule::unknown-name", "nothing of that name is declared";
    UNKNOWN_OPERATOR = "rule::unknown-operator", "an operator type that occurs in no set";
    UNKNOWN_TYPE = "rule::unknown-type", "no type has that name";
    UNREACHABLE = "rule::unreachable", "a statement that never runs";
    UNUSED = "rule::unused", "a name that nothing uses";
    WALK_TYPE = "rule::walk-type", "a walk that does not lead from a type to the same type";
}
