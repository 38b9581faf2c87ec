//! Names that stand for numbers in a text dump: data types and list types (`graph_formats.md` 2).

use crate::graph::dtype_name;

/// List types by `val_type` number.
const LIST_TYPES: [&str; 11] = [
    "VT_LIST_NONE",
    "VT_LIST_STRING",
    "VT_LIST_INT",
    "VT_LIST_FLOAT",
    "VT_LIST_BOOL",
    "VT_LIST_BYTES",
    "VT_LIST_TENSOR_DESC",
    "VT_LIST_TENSOR",
    "VT_LIST_GRAPH",
    "VT_LIST_NAMED_ATTRS",
    "VT_LIST_DATA_TYPE",
];

/// A set of names with numbers, which count up from 0.
#[derive(Clone, Copy)]
pub struct Enum {
    /// What the set is, for messages.
    pub what: &'static str,
    name: fn(i32) -> Option<&'static str>,
}

/// `TensorDescriptor.dtype`, in the proto numbering.
pub const DTYPE: Enum = Enum { what: "a data type", name: dtype_name };
/// `ListValue.val_type`.
pub const LIST_TYPE: Enum = Enum { what: "a list type", name: list_type_name };

fn list_type_name(number: i32) -> Option<&'static str> {
    LIST_TYPES.get(usize::try_from(number).ok()?).copied()
}

impl Enum {
    /// The name of `number`, if it has one.
    pub fn name(self, number: i32) -> Option<&'static str> {
        (self.name)(number)
    }

    /// The number of `name`.
    pub fn number(self, name: &[u8]) -> Option<i32> {
        let mut names = (0..).map_while(|number| Some((number, self.name(number)?)));
        names.find(|(_, known)| known.as_bytes() == name).map(|(number, _)| number)
    }
}
