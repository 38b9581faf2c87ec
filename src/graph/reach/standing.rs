//! What an index says of the nodes of a graph that is being edited.
//!
//! Promise: all that is asked of a node lies together, since two nodes of a large graph that stand far apart are looked up in
//! memory that nobody has looked at before.

use super::super::per_node::PerNode;
use super::{OnPath, PATHS, Reach, WALKS};

/// An interval of each walk and each path; empty: the first number is larger than the second.
pub(super) type Wide = [(u32, u32); WALKS + PATHS];

/// How a node stands to the others.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Standing {
    /// The tree that each walk has below the node, as [`super::Label`] tells it: where it begins and ends.
    trees: [(u32, u32); WALKS],
    paths: [OnPath; PATHS],
    /// Contains the intervals of all that the node may reach.
    pub wide: Wide,
}

impl Standing {
    /// Of a node that the index does not know: no tree begins before it ends, so that it reaches nothing and is not reached.
    const UNKNOWN: Standing = Standing {
        trees: [(u32::MAX, u32::MAX - 1); WALKS],
        paths: [OnPath::APART; PATHS],
        wide: [(u32::MAX, 0); WALKS + PATHS],
    };

    fn of(reach: &Reach, point: u32) -> Standing {
        let (labels, paths) = (&reach.labels[point as usize], reach.paths[point as usize]);
        let intervals = labels.iter().map(|label| (label.low, label.end));
        let mut wide = Standing::UNKNOWN.wide;
        let intervals = intervals.chain(paths.iter().map(|path| path.interval()));
        wide.iter_mut().zip(intervals).for_each(|(own, interval)| *own = interval);
        Standing { trees: labels.map(|label| (label.tree, label.end)), paths, wide }
    }

    /// How all nodes stand in the state of an index.
    pub fn all(reach: &Reach) -> PerNode<Standing> {
        reach.point.map(Standing::UNKNOWN, |point| Standing::of(reach, point))
    }

    /// Whether the interval of a node allows that it reaches another one.
    pub fn may_reach(&self, other: &Standing) -> bool {
        contains(&self.wide, &other.wide)
    }

    /// Whether a node reached another one in the state of the index, as far as that tells.
    pub fn reached(&self, other: &Standing) -> bool {
        let mut trees = self.trees.iter().zip(&other.trees);
        let mut paths = self.paths.iter().zip(&other.paths);
        trees.any(|(own, other)| own.0 <= other.1 && other.1 <= own.1)
            || paths.any(|(own, other)| own.first < other.past)
    }
}

/// Whether each interval contains the other one of its walk or path.
pub(super) fn contains(outer: &Wide, inner: &Wide) -> bool {
    outer.iter().zip(inner).all(|(outer, inner)| outer.0 <= inner.0 && inner.1 <= outer.1)
}
