//! `sweep`: visits nodes by readiness, and again those beside what was deleted.
//!
//! Promise: the order is a function of the graph and of what the body does. Each graph is visited from its nodes without
//! predecessors on, breadth first: a node follows when all its predecessors have been queued. A node that owns graphs is
//! visited, then its graphs, then it is visited again. When the queue is empty, the neighbours of nodes that their own
//! visit deleted are queued once more. Visits of one graph are bounded by ten times its nodes.

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::code::Code;
use super::exec::Flow;
use super::lasting::Lasting;
use super::{Failure, Machine, Value};
use crate::graph::{GraphId, NodeId};
use crate::lang::hir::{Block, ExprId, Local};

/// Nodes with more predecessors wait until the queue is empty.
const MANY: usize = 1000;
/// Graphs inside graphs that are visited.
const DEEPEST: u32 = 25;
/// Visits of a graph for each of its nodes.
const ROUNDS: usize = 10;

/// What a sweep does at a node.
struct Task<'c> {
    code: &'c Code,
    local: Local,
    condition: Option<ExprId>,
    body: &'c Block,
    base: usize,
}

/// The nodes of one graph.
#[derive(Default)]
struct Queue {
    nodes: VecDeque<NodeId>,
    /// Have been queued.
    seen: FixedBitSet,
    /// Wait until the queue is empty, in list order.
    last: Vec<NodeId>,
    held: FixedBitSet,
    /// Are to be visited again, in the order in which that was found.
    again: Vec<NodeId>,
    flagged: FixedBitSet,
    /// A predecessor that a node was found to wait for.
    waits: FxHashMap<NodeId, NodeId>,
    /// Neighbours that are being looked at.
    beside: Vec<NodeId>,
}

impl Queue {
    fn new(machine: &Machine<'_>, graph: GraphId) -> Queue {
        let mut queue = Queue::default();
        let mut before = Vec::new();
        for node in machine.near().nodes(graph) {
            before.clear();
            machine.push_predecessors(node, &mut before);
            match before.len() {
                0 => queue.push(node),
                n if n > MANY => {
                    queue.last.push(node);
                    queue.held.grow_and_insert(node.0 as usize);
                }
                _ => {}
            }
        }
        queue
    }

    fn push(&mut self, node: NodeId) {
        self.seen.grow_and_insert(node.0 as usize);
        self.nodes.push_back(node);
    }

    /// Queues a node that has never been, if all its predecessors have.
    fn ready(&mut self, machine: &Machine<'_>, node: NodeId) {
        if self.seen.contains(node.0 as usize) || self.held.contains(node.0 as usize) {
            return;
        }
        if let Some(&other) = self.waits.get(&node)
            && !self.seen.contains(other.0 as usize)
            && machine.has_node(other)
        {
            return;
        }
        self.beside.clear();
        machine.push_predecessors(node, &mut self.beside);
        match self.beside.iter().copied().find(|p| !self.seen.contains(p.0 as usize)) {
            Some(other) => {
                self.waits.insert(node, other);
            }
            None => self.push(node),
        }
    }

    fn flag(&mut self, node: NodeId) {
        if !self.flagged.contains(node.0 as usize) {
            self.flagged.grow_and_insert(node.0 as usize);
            self.again.push(node);
        }
    }

    /// A node that is visited need not be visited again for what happened before.
    fn lower(&mut self, node: NodeId) {
        if self.flagged.contains(node.0 as usize) {
            self.flagged.set(node.0 as usize, false);
        }
    }

    fn next(&mut self, machine: &Machine<'_>) -> Option<NodeId> {
        if self.nodes.is_empty() {
            for node in std::mem::take(&mut self.last) {
                self.held.set(node.0 as usize, false);
                self.ready(machine, node);
            }
        }
        if self.nodes.is_empty() {
            for node in std::mem::take(&mut self.again) {
                // A node that was visited since has lost its flag.
                if self.flagged.contains(node.0 as usize) {
                    self.lower(node);
                    self.push(node);
                }
            }
        }
        self.nodes.pop_front()
    }
}

impl Machine<'_> {
    /// Runs `sweep local in graph where condition { body }`.
    pub(super) fn sweep(
        &mut self,
        code: &Code,
        graph: GraphId,
        (local, condition): (Local, Option<ExprId>),
        body: &Block,
        base: usize,
    ) -> Result<Flow, Failure> {
        let task = Task { code, local, condition, body, base };
        let outer = self.lasting.replace(Box::new(Lasting::default()));
        let ended = match self.only {
            Some(node) => self.sweep_node(&task, node).map(|_| ()),
            None => self.sweep_graph(&task, graph, 0),
        };
        self.lasting = outer;
        ended.map(|()| Flow::Next)
    }

    fn sweep_graph(&mut self, task: &Task<'_>, graph: GraphId, depth: u32) -> Result<(), Failure> {
        if depth > DEEPEST {
            let message = format!("`sweep` meets graphs that are nested more than {DEEPEST} deep");
            return Err(Failure::mechanism("too-deep", message));
        }
        let mut queue = Queue::new(self, graph);
        let mut next = Vec::new();
        let mut left = ROUNDS * self.near().nodes(graph).count();
        while left > 0
            && let Some(node) = queue.next(self)
        {
            queue.lower(node);
            let Some(found) = self.node(node) else { continue };
            left -= 1;
            let subgraphs = found.subgraphs.clone();
            self.sweep_one(task, node, &mut queue)?;
            if !subgraphs.is_empty() && self.has_node(node) {
                for &inner in subgraphs.iter() {
                    self.sweep_graph(task, inner, depth + 1)?;
                }
                left = left.saturating_sub(1);
                self.sweep_one(task, node, &mut queue)?;
            }
            // Also when the node is gone: it has no successors then.
            next.clear();
            self.push_successors(node, &mut next);
            for &node in &next {
                queue.ready(self, node);
            }
        }
        Ok(())
    }

    /// Visits a node, and takes note of its neighbours if that deleted it.
    fn sweep_one(&mut self, task: &Task<'_>, node: NodeId, queue: &mut Queue) -> Result<(), Failure> {
        if !self.has_node(node) || !self.concerns(task, node)? {
            return Ok(());
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        self.push_predecessors(node, &mut before);
        self.push_successors(node, &mut after);
        self.block(task.code, task.body, task.base)?;
        if !self.has_node(node) {
            before.iter().chain(&after).for_each(|&beside| queue.flag(beside));
        }
        // What followed the node may follow another one now.
        for node in after {
            queue.ready(self, node);
        }
        Ok(())
    }

    /// Visits one node alone.
    fn sweep_node(&mut self, task: &Task<'_>, node: NodeId) -> Result<Flow, Failure> {
        if !self.has_node(node) || !self.concerns(task, node)? {
            return Ok(Flow::Next);
        }
        self.block(task.code, task.body, task.base)
    }

    /// Binds the node; whether the sweep is about it.
    fn concerns(&mut self, task: &Task<'_>, node: NodeId) -> Result<bool, Failure> {
        self.spend(1);
        self.stack[task.base + task.local as usize] = Value::Node(node);
        let Some(condition) = task.condition else { return self.settle(true) };
        match self.settled_at(task.code, condition, (task.local, task.base)) {
            Some(holds) => self.settle(holds),
            None => self.holds(task.code, condition, task.base),
        }
    }
}
