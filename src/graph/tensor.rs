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

/// What is known of a data type (`graph_formats.md` 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataType {
    pub name: &'static str,
    /// Its number in the C++ numbering, which attribute values use.
    pub cpp: i64,
    /// Bits of one element, 0 where the type has no fixed size.
    bits: u32,
}

const fn data_type(name: &'static str, cpp: i64, bits: u32) -> DataType {
    DataType { name, cpp, bits }
}

/// All data types; the place is the number in the proto numbering.
pub static DATA_TYPES: [DataType; 42] = [
    data_type("DT_UNDEFINED", 28, 0),
    data_type("DT_FLOAT", 0, 32),
    data_type("DT_FLOAT16", 1, 16),
    data_type("DT_INT8", 2, 8),
    data_type("DT_UINT8", 4, 8),
    data_type("DT_INT16", 6, 16),
    data_type("DT_UINT16", 7, 16),
    data_type("DT_INT32", 3, 32),
    data_type("DT_INT64", 9, 64),
    data_type("DT_UINT32", 8, 32),
    data_type("DT_UINT64", 10, 64),
    data_type("DT_BOOL", 12, 8),
    data_type("DT_DOUBLE", 11, 64),
    data_type("DT_STRING", 13, 0),
    data_type("DT_DUAL_SUB_INT8", 14, 8),
    data_type("DT_DUAL_SUB_UINT8", 15, 8),
    data_type("DT_COMPLEX64", 16, 64),
    data_type("DT_COMPLEX128", 17, 128),
    data_type("DT_QINT8", 18, 8),
    data_type("DT_QINT16", 19, 16),
    data_type("DT_QINT32", 20, 32),
    data_type("DT_QUINT8", 21, 8),
    data_type("DT_QUINT16", 22, 16),
    data_type("DT_RESOURCE", 23, 64),
    data_type("DT_STRING_REF", 24, 0),
    data_type("DT_DUAL", 25, 0),
    data_type("DT_VARIANT", 26, 0),
    data_type("DT_BF16", 27, 16),
    data_type("DT_INT4", 29, 4),
    data_type("DT_UINT1", 30, 1),
    data_type("DT_INT2", 31, 2),
    data_type("DT_UINT2", 32, 2),
    data_type("DT_COMPLEX32", 33, 32),
    data_type("DT_HIFLOAT8", 34, 8),
    data_type("DT_FLOAT8_E5M2", 35, 8),
    data_type("DT_FLOAT8_E4M3FN", 36, 8),
    data_type("DT_FLOAT8_E8M0", 37, 8),
    data_type("DT_FLOAT6_E3M2", 38, 6),
    data_type("DT_FLOAT6_E2M3", 39, 6),
    data_type("DT_FLOAT4_E2M1", 40, 4),
    data_type("DT_FLOAT4_E1M2", 41, 4),
    data_type("DT_HIFLOAT4", 42, 4),
];

fn known(proto: i32) -> Option<&'static DataType> {
    DATA_TYPES.get(usize::try_from(proto).ok()?)
}

/// Bits of one element, or `None` where the type has no fixed size or is unknown.
pub fn dtype_bits(proto: i32) -> Option<u32> {
    known(proto).map(|known| known.bits).filter(|bits| *bits > 0)
}

/// The name of a data type in the proto numbering; `None` for a number outside the table.
pub fn dtype_name(proto: i32) -> Option<&'static str> {
    known(proto).map(|known| known.name)
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
