//! Reachability inside one graph over data and control edges, for many questions on large graphs.
//!
//! Promise: [`Reach::reaches`] is exact, also on graphs with cycles, in space linear in nodes and edges. Nodes on
//! a common cycle become one point. Each point of the resulting acyclic graph gets, from a few depth-first walks
//! that visit children in different orders, two intervals of the walk's finishing numbers: one that holds only
//! what the walk's tree has below the point (inside: yes), one that holds all that the point reaches (outside:
//! no). Besides, a few long paths are laid through the graph: a point that reaches one no later than where the path
//! reaches another point reaches that, and who reaches another point reaches each path no later than that does. What
//! none of these decides is searched, and they prune the search.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fixedbitset::FixedBitSet;

use super::per_node::PerNode;
use super::rows::Rows;
use super::{Edited, GraphId, Near, NodeId, Snapshot};

mod live;
mod standing;

pub use live::{Edge, LiveReach};

/// No number.
const NONE: u32 = u32::MAX;

/// How many walks label the points. Each costs 12 bytes a point and catches most of what the others miss.
const WALKS: usize = 3;

/// How many paths are laid. Each costs 8 bytes a point.
const PATHS: usize = 2;

/// From so many points on walks and paths are made at once; for fewer a thread is not worth it.
const LARGE: usize = 1 << 12;

/// Who reaches whom in one graph of one snapshot.
pub struct Reach {
    point: PerNode<u32>,
    next: Rows,
    labels: Vec<[Label; WALKS]>,
    paths: Vec<[OnPath; PATHS]>,
    /// Length of the longest path that leaves the point.
    height: Vec<u32>,
    /// Places in an order in which every edge goes on, if there is one.
    order: Option<PerNode<u32>>,
}

/// Memory of the search, to be reused between questions; it belongs to no particular [`Reach`].
#[derive(Default)]
pub struct ReachScratch {
    stamps: Vec<u32>,
    stamp: u32,
    stack: Vec<u32>,
}

/// One walk's view of a point.
#[derive(Clone, Copy, Default)]
struct Label {
    /// Finishing number.
    end: u32,
    /// The tree below the point has finished as `tree..=end`.
    tree: u32,
    /// Everything that the point reaches has finished as some of `low..=end`.
    low: u32,
}

/// How a point stands to one path.
#[derive(Clone, Copy, PartialEq)]
struct OnPath {
    /// The first place of the path that the point reaches; the largest number if there is none.
    first: u32,
    /// One more than the last place from which the point is reached; 0 if there is none.
    past: u32,
}

impl OnPath {
    const APART: OnPath = OnPath { first: u32::MAX, past: 0 };

    /// An interval that contains that of every point which this one reaches.
    fn interval(self) -> (u32, u32) {
        (self.first, u32::MAX - self.past)
    }
}

impl Reach {
    /// Prepares questions about `graph`: O(nodes + edges).
    pub fn new(snapshot: &Snapshot, graph: GraphId) -> Reach {
        Reach::of(Near::new(snapshot, Some((snapshot.dense(), &Edited::default()))), graph)
    }

    /// The same for a state that is being edited.
    fn of(near: Near<'_>, graph: GraphId) -> Reach {
        let nodes: Vec<NodeId> = near.nodes(graph).collect();
        let place = PerNode::new(NONE, &nodes, 0..);
        let rows = rows(near, &nodes, &place);
        let order = order(&rows);
        let (component, count) = match &order {
            // Every node is a component of its own.
            Some(places) => (places.iter().map(|at| rows.len() as u32 - 1 - at).collect(), rows.len()),
            None => components(&rows),
        };
        let next = condense(&rows, &component, count);
        let point = place.map(NONE, |at| component[at as usize]);
        let order = order.map(|places| place.map(NONE, |at| places[at as usize]));

        let (labels, (paths, height)) = beside(count >= LARGE, || labels(&next), || paths(&next));
        Reach { point, next, labels, paths, height, order }
    }

    /// Whether a path of data and control edges leads from `from` to `to`. Every node reaches itself; a node
    /// of another graph reaches nothing here and is not reached.
    pub fn reaches(&self, scratch: &mut ReachScratch, from: NodeId, to: NodeId) -> bool {
        if from == to {
            return true;
        }
        match (self.point.get(from), self.point.get(to)) {
            (Some(from), Some(to)) => self.known(from, to).unwrap_or_else(|| self.search(scratch, from, to)),
            _ => false,
        }
    }

    /// The answer, if the labels tell.
    fn known(&self, from: u32, to: u32) -> Option<bool> {
        if from == to {
            return Some(true);
        }
        // INVARIANT sinks-first: points are numbered so that every edge goes to a smaller number.
        if from < to || self.height[from as usize] <= self.height[to as usize] {
            return Some(false);
        }
        let pairs = || self.labels[from as usize].iter().zip(&self.labels[to as usize]);
        if pairs().any(|(a, b)| b.low < a.low || a.end < b.end) {
            return Some(false);
        }
        let paths = || self.paths[from as usize].iter().zip(&self.paths[to as usize]);
        if paths().any(|(a, b)| a.first > b.first || a.past > b.past) {
            return Some(false);
        }
        (pairs().any(|(a, b)| a.tree <= b.end) || paths().any(|(a, b)| a.first < b.past)).then_some(true)
    }

    fn search(&self, scratch: &mut ReachScratch, from: u32, to: u32) -> bool {
        scratch.begin(self.next.len());
        scratch.stack.push(from);
        while let Some(at) = scratch.stack.pop() {
            for &next in self.next.of(at) {
                if !scratch.enter(next) {
                    continue;
                }
                match self.known(next, to) {
                    Some(true) => return true,
                    Some(false) => {}
                    None => scratch.stack.push(next),
                }
            }
        }
        false
    }
}

impl ReachScratch {
    fn begin(&mut self, points: usize) {
        self.stack.clear();
        self.fresh(points);
    }

    /// Two stamps that none of so many places bears; the second one is `stamp`.
    fn fresh(&mut self, places: usize) -> [u32; 2] {
        if self.stamps.len() < places {
            self.stamps.resize(places, 0);
        }
        if self.stamp >= u32::MAX - 1 {
            self.stamps.fill(0);
            self.stamp = 0;
        }
        self.stamp += 2;
        [self.stamp - 1, self.stamp]
    }

    /// Marks a point; `false` if this search has been there.
    fn enter(&mut self, at: u32) -> bool {
        std::mem::replace(&mut self.stamps[at as usize], self.stamp) != self.stamp
    }
}

fn rows(near: Near<'_>, nodes: &[NodeId], place: &PerNode<u32>) -> Rows {
    Rows::of_nodes(nodes, |node, row| near.successors(node, |to| row.extend(place.get(to))))
}

/// The place of each node in the order that is next to that of the list and in which every edge goes on: edits that are
/// local in the list are local there. `None`: there is a cycle.
fn order(rows: &Rows) -> Option<Vec<u32>> {
    let mut places = vec![0u32; rows.len()];
    if (0..rows.len() as u32).all(|at| rows.of(at).iter().all(|&to| at < to)) {
        places.iter_mut().zip(0..).for_each(|(place, at)| *place = at);
        return Some(places);
    }
    let mut waits = rows.entered();
    let free = (0u32..).zip(&waits).filter(|(_, waits)| **waits == 0);
    let mut open: BinaryHeap<Reverse<u32>> = free.map(|(at, _)| Reverse(at)).collect();
    let mut place = 0;
    while let Some(Reverse(at)) = open.pop() {
        places[at as usize] = place;
        place += 1;
        for &to in rows.of(at) {
            waits[to as usize] -= 1;
            if waits[to as usize] == 0 {
                open.push(Reverse(to));
            }
        }
    }
    (place as usize == rows.len()).then_some(places)
}

/// Strongly connected components (Tarjan, with an explicit stack): the number of each place's component, and
/// how many there are. Components are numbered sinks first.
fn components(rows: &Rows) -> (Vec<u32>, usize) {
    const UNSEEN: u32 = u32::MAX;
    let count = rows.len();
    let mut component = vec![UNSEEN; count];
    let mut index = vec![UNSEEN; count];
    let mut low = vec![0u32; count];
    let (mut open, mut path): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
    let (mut clock, mut found) = (0u32, 0u32);
    for root in 0..count as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some((at, edge)) = path.last_mut() {
            let (here, first) = (*at, *edge == 0);
            if first && index[here as usize] == UNSEEN {
                index[here as usize] = clock;
                low[here as usize] = clock;
                clock += 1;
                open.push(here);
            }
            if let Some(&to) = rows.of(here).get(*edge as usize) {
                *edge += 1;
                if index[to as usize] == UNSEEN {
                    path.push((to, 0));
                } else if component[to as usize] == UNSEEN {
                    low[here as usize] = low[here as usize].min(index[to as usize]);
                }
                continue;
            }
            path.pop();
            if let Some((before, _)) = path.last() {
                low[*before as usize] = low[*before as usize].min(low[here as usize]);
            }
            if low[here as usize] == index[here as usize] {
                while let Some(member) = open.pop() {
                    component[member as usize] = found;
                    if member == here {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    (component, found as usize)
}

/// The graph of components. Edges inside one component are left out.
fn condense(rows: &Rows, component: &[u32], count: usize) -> Rows {
    let edges = || {
        let from = (0..rows.len() as u32).flat_map(|at| rows.of(at).iter().map(move |&to| (at, to)));
        from.map(|(at, to)| (component[at as usize], component[to as usize])).filter(|(at, to)| at != to)
    };
    let mut start = vec![0u32; count + 1];
    edges().for_each(|(at, _)| start[at as usize + 1] += 1);
    for at in 0..count {
        start[at + 1] += start[at];
    }
    let mut fill = start.clone();
    let mut to = vec![0u32; start[count] as usize];
    for (at, next) in edges() {
        to[fill[at as usize] as usize] = next;
        fill[at as usize] += 1;
    }
    Rows { start, to }
}

/// Does two things, at once if that is worth a thread and there is one.
fn beside<A, B: Send>(at_once: bool, one: impl FnOnce() -> A, other: impl Fn() -> B + Sync) -> (A, B) {
    std::thread::scope(|scope| {
        let thread = || std::thread::Builder::new().spawn_scoped(scope, &other).ok();
        let begun = if at_once { thread() } else { None };
        let one = one();
        let unwind = |why| std::panic::resume_unwind(why);
        (one, begun.map_or_else(&other, |begun| begun.join().unwrap_or_else(unwind)))
    })
}

/// What each walk says of the points.
fn labels(next: &Rows) -> Vec<[Label; WALKS]> {
    let mut labels = vec![[Label::default(); WALKS]; next.len()];
    let sources = sources(next);
    let mut seen = vec![Label::default(); next.len()];
    for walk in 0..WALKS {
        label(next, &sources, walk, &mut seen);
        labels.iter_mut().zip(&seen).for_each(|(labels, label)| labels[walk] = *label);
    }
    labels
}

/// How the points stand to each path, and the length of the longest path that leaves each of them.
fn paths(next: &Rows) -> (Vec<[OnPath; PATHS]>, Vec<u32>) {
    let mut free = FixedBitSet::with_capacity(next.len());
    free.toggle_range(..);
    let height = heights(next, &free);
    let mut paths = vec![[OnPath::APART; PATHS]; next.len()];
    lay(next, &height, &mut free, 0, &mut paths);
    for number in 1..PATHS {
        lay(next, &heights(next, &free), &mut free, number, &mut paths);
    }
    (paths, height)
}

/// Points that no edge enters; every point is one or below one.
fn sources(next: &Rows) -> Vec<u32> {
    (0u32..).zip(next.entered()).filter(|(_, entered)| *entered == 0).map(|(at, _)| at).collect()
}

/// One walk over the whole acyclic graph. Even walks visit sources and children in one direction, odd ones in the
/// other, and later walks start at scattered children, so that the trees differ.
fn label(next: &Rows, sources: &[u32], walk: usize, labels: &mut [Label]) {
    let child = |at: u32, step: u32| {
        let row = next.of(at);
        let len = row.len() as u32;
        let step = if walk % 2 == 1 { len - 1 - step } else { step };
        let turn = if walk >= 2 && len > 1 { scatter(at, walk as u32) % len } else { 0 };
        // Both are below `len`.
        let left = len - turn;
        row[if step < left { step + turn } else { step - left } as usize]
    };
    let mut seen = FixedBitSet::with_capacity(next.len());
    let mut path: Vec<(u32, u32)> = Vec::new();
    let mut clock = 0u32;
    for turn in 0..sources.len() {
        let root = if walk % 2 == 1 { sources[turn] } else { sources[sources.len() - 1 - turn] };
        seen.insert(root as usize);
        path.push((root, 0));
        labels[root as usize] = Label { end: 0, tree: clock, low: u32::MAX };
        while let Some((at, step)) = path.last_mut() {
            let here = *at;
            if (*step as usize) < next.of(here).len() {
                let to = child(here, *step);
                *step += 1;
                if !seen.put(to as usize) {
                    path.push((to, 0));
                    labels[to as usize] = Label { end: 0, tree: clock, low: u32::MAX };
                } else {
                    // In an acyclic graph a point seen before is finished.
                    let low = labels[to as usize].low;
                    let label = &mut labels[here as usize];
                    label.low = label.low.min(low);
                }
                continue;
            }
            path.pop();
            let label = &mut labels[here as usize];
            label.end = clock;
            label.low = label.low.min(label.tree);
            clock += 1;
            let low = label.low;
            if let Some((before, _)) = path.last() {
                let label = &mut labels[*before as usize];
                label.low = label.low.min(low);
            }
        }
    }
}

/// Length of the longest path over free points that leaves each of them; 0 for the others.
fn heights(next: &Rows, free: &FixedBitSet) -> Vec<u32> {
    let mut height = vec![0u32; next.len()];
    for at in free.ones() {
        let below = next.of(at as u32).iter().filter(|&&to| free.contains(to as usize));
        height[at] = below.map(|&to| height[to as usize] + 1).max().unwrap_or(0);
    }
    height
}

/// Lays the longest path over free points, which are not free afterwards, and finds out how all points stand to it.
/// `height`: the lengths of the longest of them.
fn lay(next: &Rows, height: &[u32], free: &mut FixedBitSet, number: usize, paths: &mut [[OnPath; PATHS]]) {
    let mut at = free.ones().max_by_key(|&at| height[at]);
    let mut place = 0u32;
    while let Some(here) = at {
        free.remove(here);
        paths[here][number] = OnPath { first: place, past: place + 1 };
        place += 1;
        let mut below = next.of(here as u32).iter().map(|&to| to as usize);
        at = below.find(|&to| free.contains(to) && height[to] + 1 == height[here]);
    }
    // INVARIANT sinks-first: what a point reaches is found before the point, and what reaches it behind it.
    for here in 0..next.len() {
        let below = next.of(here as u32).iter().map(|&to| paths[to as usize][number].first);
        let first = below.min().unwrap_or(u32::MAX);
        paths[here][number].first = paths[here][number].first.min(first);
    }
    for here in (0..next.len()).rev() {
        let past = paths[here][number].past;
        for &to in next.of(here as u32) {
            let there = &mut paths[to as usize][number].past;
            *there = (*there).max(past);
        }
    }
}

/// A fixed hash (the finalizer of MurmurHash3).
fn scatter(at: u32, salt: u32) -> u32 {
    let mut x = at.wrapping_mul(0x9E37_79B9).wrapping_add(salt);
    x = (x ^ (x >> 16)).wrapping_mul(0x85EB_CA6B);
    x = (x ^ (x >> 13)).wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

#[cfg(test)]
#[path = "reach_tests.rs"]
mod tests;
