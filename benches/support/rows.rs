//! Graphs for the chains that lay tensors in a row without a kernel.

use std::sync::Arc;

use anchorwatch::graph::{AttrValue, Attrs, Output, Snapshot, Sym, TensorDesc};

use super::{Maker, Shape, Spec, generate};

/// One concat with many inputs.
pub fn wide_row(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::WideRow })
}

/// Many concats with four inputs each.
pub fn many_rows(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::ManyRows })
}

impl Maker {
    /// Rows of `width` tensors, stored in blocks of their channels, so that a rule has to follow the axes.
    pub(super) fn rows(&mut self, nodes: usize, width: usize) {
        let attrs = self.desc.attrs.with(Sym::new("origin_shape"), AttrValue::ints([1, 16, 8, 8]));
        self.desc = Arc::new(TensorDesc {
            shape: Some(Arc::from([1, 1, 8, 8, 16])),
            layout: Sym::new("NC1HWC0"),
            attrs: attrs.with(Sym::new("origin_format"), AttrValue::str("NCHW")),
            ..TensorDesc::clone(&self.desc)
        });
        let mut scope = self.graph("rows".into());
        let data = self.data(&mut scope, 0, None).output(0);
        let axis = Attrs::default().with(Sym::new("concat_dim"), AttrValue::Int(0));
        let mut ends = Vec::new();
        while self.serial + 2 < nodes {
            let width = width.min(nodes - self.serial - 2);
            let row: Vec<Output> = (0..width)
                .map(|_| self.op(&mut scope, "Relu", &[data], 1, Attrs::default()).output(0))
                .collect();
            let joined = self.op(&mut scope, "ConcatD", &row, 1, axis.clone());
            ends.push(self.op(&mut scope, "Relu", &[joined.output(0)], 1, Attrs::default()).output(0));
        }
        self.net_output(&mut scope, &ends, false);
    }
}
