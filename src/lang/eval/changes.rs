//! What a change of the state makes a machine forget.

use super::{Machine, Subject, Value};
use crate::graph::{Edit, NodeId, Sym};

impl Machine<'_> {
    /// Notes that a node has come or gone, or that something has changed which no node stands for.
    pub(super) fn changed(&mut self, node: Option<NodeId>) {
        self.epoch += 1;
        if let Some(node) = node {
            self.rewritten(node);
            self.rewired([node]);
        }
    }

    /// Notes that the edit has changed a node itself.
    pub(super) fn rewritten(&mut self, node: NodeId) {
        self.epoch += 1;
        self.touch(node);
        if self.dense.is_some() {
            self.edited.rewrite(node);
        }
        if let Some(lasting) = &mut self.lasting {
            lasting.changed(node);
        }
        if let Some(alike) = &mut self.alike {
            alike.kinds.changed(node);
        }
    }

    /// Notes that the edit has changed edges of nodes.
    pub(super) fn rewired(&mut self, nodes: impl IntoIterator<Item = NodeId>) {
        self.epoch += 1;
        for node in nodes {
            self.touch_edges(node);
            if self.dense.is_some() {
                self.edited.rewire(node);
            }
            if let Some(lasting) = &mut self.lasting {
                lasting.changed(node);
            }
        }
    }

    /// Forgets what outlives edits: something has changed that no node stands for.
    pub(super) fn forget_lasting(&mut self) {
        if let Some(lasting) = &mut self.lasting {
            lasting.clear();
        }
    }

    /// Goes back to an earlier edit.
    pub(super) fn go_back(&mut self, edit: Edit) {
        self.edit = edit;
        self.facts += 1;
        self.edited.forget();
        self.names = None;
        self.counts.clear();
        self.forget_lasting();
        self.forget_kinds();
        self.lists_changed();
    }

    /// A graph has changed, or everything.
    pub(super) fn forget_kinds(&mut self) {
        if let Some(alike) = &mut self.alike {
            alike.kinds.clear();
        }
    }

    /// Leaves a value at a place; none takes away what is there. Results that rest on notes are forgotten.
    pub(super) fn set_note(&mut self, note: Sym, subject: Subject, value: Value) {
        let before = match value {
            Value::None => self.notes.remove(&(note, subject)),
            ref value => self.notes.insert((note, subject), value.clone()),
        };
        if before.unwrap_or_default() != value {
            self.epoch += 1;
        }
    }

    /// Notes that node lists have changed.
    pub(super) fn lists_changed(&mut self) {
        self.epoch += 1;
        self.lists_clean = false;
        self.lists.clear();
    }

    /// Rewrites node lists and topological ids: for a sort. `change` must leave nodes and edges alone.
    pub fn reorder(&mut self, change: impl FnOnce(&mut Edit)) {
        change(&mut self.edit);
        self.facts += 1;
        self.forget_lasting();
        self.touch_order();
        self.lists_changed();
    }

    /// Any change of the state, unlogged. Slow reads afterwards: the flat view is given up.
    pub fn rewrite<T>(&mut self, change: impl FnOnce(&mut Edit) -> T) -> T {
        let result = change(&mut self.edit);
        self.facts += 1;
        self.dense = None;
        self.names = None;
        self.counts.clear();
        self.forget_lasting();
        self.forget_kinds();
        self.touch_graphs();
        self.lists_changed();
        result
    }
}
