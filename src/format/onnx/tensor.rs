//! ONNX tensors and types as GE tensors and descriptions.

use std::sync::Arc;

use super::proto;
use crate::graph::{Bytes, Extra, Sym, Tensor, TensorDesc, dtype_bits};

/// GE's proto number by ONNX element type (`graph_formats.md` 2.1 and 7.1). 0: GE has no such type.
const DTYPES: [i32; 25] =
    [0, 1, 4, 3, 6, 5, 7, 8, 13, 11, 2, 12, 9, 10, 16, 17, 27, 35, 0, 34, 0, 0, 28, 39, 36];

/// The GE proto number of an ONNX element type.
pub(super) fn dtype(onnx: i32) -> i32 {
    usize::try_from(onnx).ok().and_then(|n| DTYPES.get(n)).copied().unwrap_or(0)
}

fn described(onnx_dtype: i32, dims: &[i64]) -> TensorDesc {
    TensorDesc {
        dtype: dtype(onnx_dtype),
        shape: Some(dims.into()),
        layout: Sym::new("ND"),
        ..TensorDesc::default()
    }
}

/// What a value is known to be; an unknown rank if it is not known.
pub(super) fn value_desc(info: Option<&proto::ValueInfo<'_>>) -> Arc<TensorDesc> {
    let dims = info.and_then(|i| i.dims.as_deref()).unwrap_or(&[-2]);
    Arc::new(described(info.map_or(0, |i| i.dtype), dims))
}

pub(super) fn tensor_desc(tensor: &proto::Tensor<'_>) -> TensorDesc {
    described(tensor.dtype, &tensor.dims)
}

/// The tensor with its elements as little-endian bytes. Strings and sparse elements have none here.
pub(super) fn tensor(tensor: &proto::Tensor<'_>) -> Tensor {
    let desc = tensor_desc(tensor);
    let data = elements(tensor, desc.dtype);
    Tensor { desc: Some(Arc::new(desc)), data, extra: Extra::default() }
}

fn elements(tensor: &proto::Tensor<'_>, dtype: i32) -> Bytes {
    if !tensor.raw.is_empty() {
        return tensor.raw.into();
    }
    // Small types travel one element to an int32; the low bytes are the element.
    let width = dtype_bits(dtype).map_or(0, |bits| bits.div_ceil(8) as usize);
    let low = |values: &[i64], width: usize| -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(width)).collect()
    };
    if !tensor.floats.is_empty() {
        tensor.floats.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>().into()
    } else if !tensor.doubles.is_empty() {
        tensor.doubles.iter().flat_map(|d| d.to_le_bytes()).collect::<Vec<u8>>().into()
    } else if !tensor.int64s.is_empty() {
        low(&tensor.int64s, width.min(8)).into()
    } else {
        low(&tensor.int32s, width.min(4)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types_change_their_number() {
        // FLOAT, INT32, INT64, BOOL, FLOAT16, DOUBLE, BFLOAT16, and one that GE does not have.
        assert_eq!([1, 6, 7, 9, 10, 11, 16, 18].map(dtype), [1, 7, 8, 11, 2, 12, 27, 0]);
        assert_eq!((dtype(-1), dtype(1000)), (0, 0));
    }

    #[test]
    fn elements_of_every_field() {
        let bytes = |tensor: proto::Tensor<'_>| super::tensor(&tensor).data.to_vec();
        let float = proto::Tensor { dtype: 1, floats: vec![1.0], ..Default::default() };
        assert_eq!(bytes(float), [0, 0, 0x80, 0x3f]);
        let half = proto::Tensor { dtype: 10, int32s: vec![0x3c00, 1], ..Default::default() };
        assert_eq!(bytes(half), [0, 0x3c, 1, 0]);
        let long = proto::Tensor { dtype: 7, int64s: vec![-2], ..Default::default() };
        assert_eq!(bytes(long), (-2i64).to_le_bytes());
        let raw = proto::Tensor { dtype: 2, raw: b"\x07", ..Default::default() };
        assert_eq!(bytes(raw), [7]);
    }
}
