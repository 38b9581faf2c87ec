//! Names that stand for numbers in a text dump: data types and list types (`graph_formats.md` 2, 2.1).

/// Data types by proto number.
const DTYPES: [&str; 42] = [
    "DT_UNDEFINED",
    "DT_FLOAT",
    "DT_FLOAT16",
    "DT_INT8",
    "DT_UINT8",
    "DT_INT16",
    "DT_UINT16",
    "DT_INT32",
    "DT_INT64",
    "DT_UINT32",
    "DT_UINT64",
    "DT_BOOL",
    "DT_DOUBLE",
    "DT_STRING",
    "DT_DUAL_SUB_INT8",
    "DT_DUAL_SUB_UINT8",
    "DT_COMPLEX64",
    "DT_COMPLEX128",
    "DT_QINT8",
    "DT_QINT16",
    "DT_QINT32",
    "DT_QUINT8",
    "DT_QUINT16",
    "DT_RESOURCE",
    "DT_STRING_REF",
    "DT_DUAL",
    "DT_VARIANT",
    "DT_BF16",
    "DT_INT4",
    "DT_UINT1",
    "DT_INT2",
    "DT_UINT2",
    "DT_COMPLEX32",
    "DT_HIFLOAT8",
    "DT_FLOAT8_E5M2",
    "DT_FLOAT8_E4M3FN",
    "DT_FLOAT8_E8M0",
    "DT_FLOAT6_E3M2",
    "DT_FLOAT6_E2M3",
    "DT_FLOAT4_E2M1",
    "DT_FLOAT4_E1M2",
    "DT_HIFLOAT4",
];

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

/// A set of names with numbers.
#[derive(Clone, Copy)]
pub struct Enum {
    /// What the set is, for messages.
    pub what: &'static str,
    names: &'static [&'static str],
}

/// `TensorDescriptor.dtype`, in the proto numbering.
pub const DTYPE: Enum = Enum { what: "a data type", names: &DTYPES };
/// `ListValue.val_type`.
pub const LIST_TYPE: Enum = Enum { what: "a list type", names: &LIST_TYPES };

impl Enum {
    /// The name of `number`, if it has one.
    pub fn name(self, number: i32) -> Option<&'static str> {
        self.names.get(usize::try_from(number).ok()?).copied()
    }

    /// The number of `name`.
    pub fn number(self, name: &[u8]) -> Option<i32> {
        self.names.iter().position(|known| known.as_bytes() == name).and_then(|at| i32::try_from(at).ok())
    }
}
