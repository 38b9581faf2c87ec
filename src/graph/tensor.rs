//! Tensor descriptions and constant tensors (`graph_formats.md` 2, TensorDescriptor, TensorDef).

use std::sync::Arc;

use super::value::{Attrs, Bytes, Extra};
use super::{AttrValue, Sym};

/// What a port says about its tensor. Shared by `Arc`: most ports of a graph have one of few descriptions.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TensorDesc {
    pub name: Arc<str>,
    /// Data type in the *proto* numbering (`graph_formats.md` 2.1); unknown numbers are kept.
    pub dtype: i32,
    /// Extents; -1 is an unknown extent, a lone -2 an unknown rank. `None`: no shape message at all.
    pub shape: Option<Arc<[i64]>>,
    /// Format name, with `:<n>` for a sub-format.
    pub layout: Sym,
    pub attrs: Attrs,
    /// Bytes reserved for the tensor, 0 before sizes are calculated.
    pub size: i64,
    pub weight_size: i64,
    pub reuse_input: bool,
    pub output_tensor: bool,
    pub input_tensor: bool,
    pub has_out_attr: bool,
    pub device_type: Sym,
    pub real_dim_cnt: i64,
    pub reuse_input_index: i64,
    pub data_offset: i64,
    /// Weight compression (`cmps_size`, `cmps_tab`, `cmps_tab_offset`).
    pub compression: Option<Arc<Compression>>,
    pub extra: Extra,
}

/// Weight compression fields of a description.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Compression {
    pub size: i64,
    pub table: Bytes,
    pub table_offset: i64,
}

/// A constant: its description and its little-endian elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub desc: Option<Arc<TensorDesc>>,
    pub data: Bytes,
    pub extra: Extra,
}

/// Bits of one element, or `None` where the type has no fixed size (`graph_formats.md` 2.1).
pub fn dtype_bits(proto: i32) -> Option<u32> {
    Some(match proto {
        1 | 7 | 9 | 20 | 32 => 32,
        2 | 5 | 6 | 19 | 22 | 27 => 16,
        3 | 4 | 11 | 14 | 15 | 18 | 21 | 33..=36 => 8,
        8 | 10 | 12 | 16 | 23 => 64,
        17 => 128,
        28 => 4,
        29 => 1,
        30 | 31 => 2,
        37 | 38 => 6,
        39..=41 => 4,
        _ => return None,
    })
}

/// Names by proto number (`graph_formats.md` 2.1).
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

/// The name of a data type in the proto numbering; `None` for a number outside the table.
pub fn dtype_name(proto: i32) -> Option<&'static str> {
    DTYPES.get(usize::try_from(proto).ok()?).copied()
}

impl TensorDesc {
    pub fn attr(&self, key: Sym) -> Option<&AttrValue> {
        self.attrs.get(key)
    }

    /// The extents; a missing shape reads as a scalar.
    pub fn dims(&self) -> &[i64] {
        self.shape.as_deref().unwrap_or(&[])
    }

    /// A dimension is -1 or -2.
    pub fn is_unknown_shape(&self) -> bool {
        self.dims().iter().any(|&d| d < 0)
    }

    /// Bytes of the elements, or `None` if the shape or the type does not tell.
    pub fn byte_count(&self) -> Option<u64> {
        let bits = u64::from(dtype_bits(self.dtype)?);
        let mut total = bits;
        for &dim in self.dims() {
            total = total.checked_mul(u64::try_from(dim).ok()?)?;
        }
        Some(total.div_ceil(8))
    }
}
