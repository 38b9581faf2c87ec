//! Reachability inside one graph that is being edited.
//!
//! Promise: answers are exact for the state that is asked about, if every edge that was added and every edge or node
//! that was taken away since the last question has been told. A question costs little while edits keep the order of
//! what was there, as a copy put on an edge does.
//!
//! The first questions are searched, from both ends. When searching has cost about what it costs to give positions to all
//! nodes, that is done, so that a search looks at no more than what lies between its ends. When that has cost about what an
//! index costs, a [`Reach`] is made. Edits are laid over both:
//!
//! INVARIANT wide-labels: while `bounded`, for each edge of the state the interval of its start contains the interval of
//! its end. So an interval that does not contain another one says "no". A node that the index does not know starts with an
//! empty interval. A new edge widens its start and what leads there; that may go far, but the wider intervals are, the
//! sooner it ends, and the less they say: when much has been widened, they are given up.
//!
//! INVARIANT in-order: positions grow along each edge of the state, if there are positions (no graph with a cycle has).
//! An edge against them moves what it leads to behind its start. A new node stands close behind what leads to it, and what
//! is moved leaves room, so that what is put between others moves little. Taking edges away breaks neither.
//!
//! INVARIANT kept-paths: while `intact`, all that the index says is reached is still reached, except from `loose` nodes.
//! An edge may go if new nodes have taken its place on the way, or if only its start has lost its way, and at most a few
//! nodes that lead there: what leads to these leads on to its end (so it is where a reader no longer reads a copy but what
//! was copied). A node may go if what was before it leads to what was behind it. Otherwise "yes" is searched from then on, between nodes that the two others
//! allow. When that has cost what a new index costs, one is made.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::per_node::PerNode;
use super::super::{GraphId, Input, Near, NodeId, Output, State};
use super::standing::{Standing, contains};
use super::{Reach, ReachScratch};

/// One edge of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    Data(Output, Input),
    Control(NodeId, NodeId),
}

impl Edge {
    fn from(self) -> NodeId {
        match self {
            Edge::Data(from, _) => from.node,
            Edge::Control(from, _) => from,
        }
    }

    fn to(self) -> NodeId {
        match self {
            Edge::Data(_, to) => to.node,
            Edge::Control(_, to) => to,
        }
    }

    fn is_in(self, state: &State) -> bool {
        match self {
            Edge::Data(from, to) => state.producer(to) == Some(from),
            Edge::Control(from, to) => state.has_control(from, to),
        }
    }
}

/// Who reaches whom in one graph, edit after edit.
#[derive(Default)]
pub struct LiveReach {
    over: Option<Overlay>,
    /// Edges looked at by searches and to keep the order, since the index was made or thrown away.
    work: usize,
    /// It is not to be found out whether an index is worth while.
    expects_many: bool,
}

/// Positions, an index if there is one, and what was edited since they were made.
struct Overlay {
    index: Index,
    /// How many times an interval was widened.
    widened: usize,
    bounded: bool,
    /// `None`: there is a cycle.
    positions: Option<PerNode<i64>>,
    /// Whether anything was told since.
    edited: bool,
    intact: bool,
    loose: FxHashSet<NodeId>,
    /// Told since the last question.
    gained: Vec<Edge>,
    lost: Vec<Edge>,
    gone: FxHashMap<NodeId, Around>,
}

enum Index {
    None,
    /// Of the state as it is.
    Present(Reach),
    /// Of an earlier state, with intervals that edits have widened.
    Earlier(PerNode<Standing>),
}

/// Where the edges of a node that is gone came from and led to.
struct Around {
    before: Vec<NodeId>,
    after: Vec<NodeId>,
}

/// A smaller graph counts as one of so many nodes.
const SMALLEST: usize = 64;

/// An edge for every so many nodes is looked at before nodes get positions.
const PLAIN: usize = 4;

/// So many edges a node are looked at before an index is made.
const SEARCHED: usize = 2;

/// So many before an index that edits have made worse is replaced.
const EDITED: usize = 3;

/// How far the search goes for the new nodes that stand where an edge was.
const HOPS: usize = 16;

/// So many times a node intervals are widened before they are given up.
const WIDENED: usize = 16;

/// No position.
const NOWHERE: i64 = i64::MIN;

/// What stands for the position of a node that has none yet, and of one that waits for those that lead to it.
const UNSEEN: i64 = NOWHERE + 1;
const OPEN: i64 = NOWHERE + 2;

/// Room between the positions of two nodes of the index.
const ROOM: i64 = 1 << 30;

/// Room that is left in front of a node that is put behind another one.
const GAP: i64 = 1 << 16;

/// So many nodes may have lost the way that led over one edge.
const STRAYED: usize = 16;

/// How many edges of a node are looked at there.
const PORTS: u32 = 64;

/// How many ways through nodes that are gone are looked at.
const WAYS: usize = 4096;

impl LiveReach {
    /// `many`: many questions will be asked, so that nothing is won by searching for the first answers.
    pub fn expecting(many: bool) -> LiveReach {
        LiveReach { expects_many: many, ..LiveReach::default() }
    }

    /// Tells of a new edge.
    pub fn gain(&mut self, edge: Edge) {
        if let Some(over) = &mut self.over {
            over.edited = true;
            over.gained.push(edge);
        }
    }

    /// Tells of an edge that is no longer there.
    pub fn lose(&mut self, edge: Edge) {
        if let Some(over) = &mut self.over {
            over.edited = true;
            over.lost.push(edge);
        }
    }

    /// Tells that a node has gone with its edges, from the nodes before and to the nodes after it.
    pub fn gone(&mut self, node: NodeId, before: &[NodeId], after: &[NodeId]) {
        if let Some(over) = &mut self.over {
            over.edited = true;
            over.gone.insert(node, Around { before: before.to_vec(), after: after.to_vec() });
        }
    }

    /// Whether a path of data and control edges leads from `from` to `to`, both of `graph`. Every node reaches itself.
    pub fn reaches(
        &mut self,
        scratch: &mut ReachScratch,
        near: Near<'_>,
        graph: GraphId,
        (from, to): (NodeId, NodeId),
    ) -> bool {
        if from == to {
            return true;
        }
        let nodes = near.state().list_len(graph).max(SMALLEST);
        let dear = match &mut self.over {
            None => self.expects_many || self.work > nodes / PLAIN,
            Some(over) => !over.settle(near, nodes, &mut self.work),
        };
        if dear {
            self.over = Some(match &self.over {
                None if !self.expects_many => Overlay::in_order(near, graph),
                _ => Overlay::new(Reach::of(near, graph)),
            });
            self.work = 0;
        }
        match &self.over {
            Some(Overlay { index: Index::Present(reach), edited: false, .. }) => {
                reach.reaches(scratch, from, to)
            }
            over => search(near, over.as_ref(), scratch, (from, to), &mut self.work),
        }
    }
}

impl Overlay {
    /// Over an index of the present state.
    fn new(reach: Reach) -> Overlay {
        let places = reach.order.as_ref();
        let positions = places.map(|places| places.map(NOWHERE, |place| i64::from(place) * ROOM));
        Overlay { index: Index::Present(reach), bounded: true, intact: true, ..Overlay::over(positions) }
    }

    /// Over nothing but positions in the present state.
    fn in_order(near: Near<'_>, graph: GraphId) -> Overlay {
        Overlay::over(positions(near, graph))
    }

    fn over(positions: Option<PerNode<i64>>) -> Overlay {
        let (loose, gained, lost, gone) = Default::default();
        Overlay {
            index: Index::None,
            widened: 0,
            bounded: false,
            positions,
            edited: false,
            intact: false,
            loose,
            gained,
            lost,
            gone,
        }
    }

    /// Takes in what was told. False: an index is due, or another one.
    fn settle(&mut self, near: Near<'_>, nodes: usize, work: &mut usize) -> bool {
        let limit = nodes * if self.is_indexed() { EDITED } else { SEARCHED };
        if let (true, Index::Present(reach)) = (self.edited, &self.index) {
            self.index = Index::Earlier(Standing::all(reach));
        }
        if self.intact && !(self.lost.is_empty() && self.gone.is_empty()) {
            self.intact = self.mend(near, work);
        }
        self.lost.clear();
        self.gone.clear();
        for edge in std::mem::take(&mut self.gained) {
            if edge.from() != edge.to() && edge.is_in(near.state()) {
                self.widen(near, edge, nodes * WIDENED);
                self.put_in_order(near, edge, limit, work);
            }
        }
        *work <= limit
    }

    fn position(&self, node: NodeId) -> Option<i64> {
        self.positions.as_ref()?.get(node)
    }

    /// Restores `in-order` for a new edge.
    fn put_in_order(&mut self, near: Near<'_>, edge: Edge, limit: usize, work: &mut usize) {
        for node in [edge.from(), edge.to()] {
            if self.position(node).is_none() {
                self.place(near, node);
            }
        }
        let (Some(before), Some(after)) = (self.position(edge.from()), self.position(edge.to())) else {
            return;
        };
        // In the order of old positions, so that a node is moved when all that it has to be behind has been.
        let mut open = BinaryHeap::from([Reverse((after, edge.to()))]);
        let mut behind = FxHashMap::from_iter([(edge.to(), before)]);
        // A cycle of edges that are not in order yet would go on for ever.
        while let Some(Reverse((old, node))) = open.pop().filter(|_| *work <= limit) {
            *work += 1;
            let before = behind.get(&node).copied().filter(|&before| before >= old);
            let Some(before) = before.filter(|_| self.position(node) == Some(old)) else { continue };
            let Some(positions) = &mut self.positions else { return };
            if node == edge.from() {
                self.positions = None;
                return;
            }
            let own = before + GAP;
            positions.set(node, own);
            near.successors(node, |next| {
                if let Some(after) = self.position(next).filter(|&after| after <= own) {
                    behind.entry(next).and_modify(|low| *low = (*low).max(own)).or_insert(own);
                    open.push(Reverse((after, next)));
                }
            });
        }
    }

    /// Gives a new node a position, between those of its neighbours if there is room. Not half way: one of them may be far
    /// away, and others may follow that are near.
    fn place(&mut self, near: Near<'_>, node: NodeId) {
        let (mut low, mut high) = (None, None);
        near.predecessors(node, |before| low = low.max(self.position(before)));
        near.successors(node, |after| {
            high = [high, self.position(after)].into_iter().flatten().min();
        });
        let position = match (low, high) {
            (Some(low), Some(high)) if low < high => low + ((high - low) / 2).min(GAP),
            (Some(low), _) => low + GAP,
            (None, Some(high)) => high - GAP,
            (None, None) => 0,
        };
        if let Some(positions) = &mut self.positions {
            positions.set(node, position);
        }
    }

    fn is_indexed(&self) -> bool {
        !matches!(self.index, Index::None)
    }

    /// How a node stands to others, if an index told that before edits.
    #[inline]
    fn standing(&self, node: NodeId) -> Option<&Standing> {
        match &self.index {
            Index::Earlier(standings) => Some(standings.at(node)),
            _ => None,
        }
    }

    /// Restores `wide-labels` for a new edge, unless that costs too much.
    fn widen(&mut self, near: Near<'_>, edge: Edge, limit: usize) {
        let Index::Earlier(standings) = &mut self.index else { return };
        if !self.bounded {
            return;
        }
        let mut open = vec![(edge.from(), standings.at(edge.to()).wide)];
        while let Some((node, inner)) = open.pop() {
            let mut own = *standings.at(node);
            if contains(&own.wide, &inner) {
                continue;
            }
            self.widened += 1;
            if self.widened > limit {
                self.bounded = false;
                return;
            }
            for (own, inner) in own.wide.iter_mut().zip(&inner) {
                *own = (own.0.min(inner.0), own.1.max(inner.1));
            }
            standings.set(node, own);
            near.predecessors(node, |before| open.push((before, own.wide)));
        }
    }

    /// Restores `kept-paths` after edges and nodes have gone; false if that takes a look at more than what lies beside them.
    ///
    /// A path of the state before goes over edges that are still there, edges that were lost and nodes that are gone. Taken
    /// from its end, each lost edge and each way through nodes that are gone is led around: by what has taken its place, or
    /// from the node before its start. So all but paths that begin with the edge are kept.
    fn mend(&mut self, near: Near<'_>, work: &mut usize) -> bool {
        let Some(ways) = self.lost_ways() else { return false };
        let mut gained: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
        for edge in self.gained.iter().filter(|edge| edge.is_in(near.state())) {
            gained.entry(edge.to()).or_default().push(edge.from());
        }
        let mut lost: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
        ways.iter().for_each(|&(from, to)| lost.entry(to).or_default().push(from));
        for (from, to) in ways {
            let mut strayed = Vec::new();
            let mut open = vec![from];
            while let Some(node) = open.pop() {
                *work += 1;
                if strayed.contains(&node) || leads(near.state(), &gained, node, to) {
                    continue;
                }
                strayed.push(node);
                open.extend(lost.get(&node).into_iter().flatten());
                near.predecessors(node, |before| open.push(before));
                if strayed.len() > STRAYED || open.len() > PORTS as usize {
                    return false;
                }
            }
            self.loose.extend(strayed);
        }
        true
    }

    /// Edges that were lost, and ways through nodes that are gone, by the nodes at their ends, which are still there.
    /// `None`: too many.
    fn lost_ways(&mut self) -> Option<Vec<(NodeId, NodeId)>> {
        let mut ways = Vec::new();
        let gone = &mut self.gone;
        for edge in &self.lost {
            let (from, to) = (edge.from(), edge.to());
            if !gone.contains_key(&from) && !gone.contains_key(&to) {
                ways.push((from, to));
            }
            gone.entry(from).and_modify(|around| around.after.push(to));
            gone.entry(to).and_modify(|around| around.before.push(from));
        }
        let gone = &self.gone;
        let mut steps = 0;
        for (node, around) in gone {
            let mut seen = FxHashSet::from_iter([*node]);
            let (mut open, mut after) = (vec![around], Vec::new());
            while let Some(around) = open.pop() {
                for next in &around.after {
                    steps += 1;
                    match gone.get(next) {
                        Some(around) if seen.insert(*next) => open.push(around),
                        Some(_) => {}
                        None => after.push(*next),
                    }
                }
            }
            let before = around.before.iter().filter(|from| !gone.contains_key(from));
            for &from in before {
                steps += after.len();
                if steps > WAYS {
                    return None;
                }
                ways.extend(after.iter().map(|&to| (from, to)));
            }
        }
        ways.sort_unstable();
        ways.dedup();
        Some(ways)
    }

    /// The answer, if intervals tell.
    fn known(&self, from: NodeId, to: NodeId) -> Option<bool> {
        // A node without a position has no edge.
        if self.positions.is_some() && self.position(from).zip(self.position(to)).is_none_or(|(a, b)| a >= b)
        {
            return Some(false);
        }
        self.indexed((from, self.standing(from)?), self.standing(to)?)
    }

    /// The answer for two nodes that positions allow, if the index tells.
    #[inline]
    fn indexed(&self, (from, standing): (NodeId, &Standing), to: &Standing) -> Option<bool> {
        if self.bounded && !standing.may_reach(to) {
            return Some(false);
        }
        (self.intact && standing.reached(to) && !self.loose.contains(&from)).then_some(true)
    }
}

/// Positions that grow along each edge, if there are any: those of the list, but that what leads to a node and stands behind it is
/// pulled in front of it.
fn positions(near: Near<'_>, graph: GraphId) -> Option<PerNode<i64>> {
    let nodes = near.state().whole_list(graph).cloned().unwrap_or_else(|| near.nodes(graph).collect());
    let mut positions = PerNode::new(NOWHERE, &nodes, std::iter::repeat(UNSEEN));
    let (mut next, mut open) = (0, Vec::new());
    for &node in nodes.iter() {
        open.push(node);
        while let Some(&node) = open.last() {
            match *positions.at(node) {
                UNSEEN => {
                    positions.set(node, OPEN);
                    let mut is_cycle = false;
                    near.predecessors(node, |before| match *positions.at(before) {
                        UNSEEN => open.push(before),
                        state => is_cycle |= state == OPEN,
                    });
                    if is_cycle {
                        return None;
                    }
                }
                state => {
                    if state == OPEN {
                        positions.set(node, next);
                        next += ROOM;
                    }
                    open.pop();
                }
            }
        }
    }
    Some(positions)
}

/// Whether an edge, or a few nodes behind which there are new edges, lead from one node to another. `gained`: starts of new
/// edges by their ends.
fn leads(state: &State, gained: &FxHashMap<NodeId, Vec<NodeId>>, from: NodeId, to: NodeId) -> bool {
    let sources = |node: NodeId| {
        let inputs = state.get_node(node).map_or(0, |n| n.inputs.len() as u32).min(PORTS);
        (0..inputs).filter_map(move |i| state.producer(node.input(i))).map(|output| output.node)
    };
    let touches = |node: NodeId| state.has_control(from, node) || sources(node).any(|node| node == from);
    let before = gained.get(&to).map_or(&[][..], |before| before);
    if from == to || before.contains(&from) || touches(to) {
        return true;
    }
    let mut open: VecDeque<NodeId> = before.iter().copied().collect();
    (0..HOPS).any(|_| {
        let Some(node) = open.pop_front() else { return false };
        open.extend(sources(node));
        touches(node)
    })
}

/// One end of a search.
struct Front {
    /// What nodes are marked with that have been seen from this end.
    stamp: u32,
    open: Vec<NodeId>,
    next: usize,
    spent: usize,
}

impl Front {
    fn new(start: NodeId, stamp: u32, scratch: &mut ReachScratch) -> Front {
        scratch.stamps[start.0 as usize] = stamp;
        Front { stamp, open: vec![start], next: 0, spent: 0 }
    }

    /// The node to go on from: the last one that was seen, or else the first one.
    fn take(&mut self, last: bool) -> Option<NodeId> {
        if last {
            return self.open.pop();
        }
        self.next += 1;
        self.open.get(self.next - 1).copied()
    }
}

/// Searches from both ends, always from the one that has cost less, as far as positions and intervals allow: straight on
/// where there are positions, since these bound the search, and else round about.
fn search(
    near: Near<'_>,
    over: Option<&Overlay>,
    scratch: &mut ReachScratch,
    (from, to): (NodeId, NodeId),
    work: &mut usize,
) -> bool {
    if let Some(answer) = over.and_then(|over| over.known(from, to)) {
        return answer;
    }
    let ordered = over.filter(|over| over.positions.is_some());
    let [low, high] = [from, to].map(|end| ordered.and_then(|over| over.position(end)).unwrap_or_default());
    let ends = over.and_then(|over| Some((over, over.standing(from)?, over.standing(to)?)));
    let [one, other] = scratch.fresh(near.state().node_slots());
    let (mut forth, mut back) = (Front::new(from, one, scratch), Front::new(to, other, scratch));
    let found = loop {
        let forwards = forth.spent <= back.spent;
        let (front, other) = if forwards { (&mut forth, &mut back) } else { (&mut back, &mut forth) };
        // One end has seen all that it can see, and not the other.
        let Some(at) = front.take(ordered.is_some()) else { break false };
        let first = front.open.len();
        let mut met = false;
        let visit = |node: NodeId| {
            front.spent += 1;
            let mark = &mut scratch.stamps[node.0 as usize];
            if met || *mark == front.stamp {
                return;
            }
            met = *mark == other.stamp;
            let between = |at| if forwards { at < high } else { low < at };
            if met || ordered.is_some_and(|over| !over.position(node).is_some_and(between)) {
                return;
            }
            let indexed = ends.and_then(|(over, first, last)| match forwards {
                true => over.indexed((node, over.standing(node)?), last),
                false => over.indexed((from, first), over.standing(node)?),
            });
            match indexed {
                Some(answer) => met = answer,
                None => {
                    *mark = front.stamp;
                    front.open.push(node);
                }
            }
        };
        if forwards {
            near.successors(at, visit)
        } else {
            near.predecessors(at, visit)
        }
        if met {
            break true;
        }
        // The one that is nearest to the other end is taken first.
        if let (Some(over), new @ [_, _, ..]) = (ordered, &mut front.open[first..]) {
            new.sort_unstable_by_key(|&node| over.position(node));
            if !forwards {
                new.reverse();
            }
        }
    };
    *work += forth.spent + back.spent;
    found
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
