//! Graphs that give the read/write layer, the passes around it and the lint something to do.

use anchorwatch::graph::{AttrValue, Attrs, Output, Snapshot, Sym};

use super::{Maker, Scope, Shape, Spec, generate};

pub fn accesses(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::Accesses })
}

pub fn ordered_readers(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::OrderedReaders })
}

pub fn unordered_readers(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::UnorderedReaders })
}

pub fn ordered_writers(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::OrderedWriters })
}

pub fn many_collectives(nodes: usize) -> Snapshot {
    generate(&Spec { nodes, seed: 1, shape: Shape::ManyCollectives })
}

/// How far apart the accesses of one block may lie.
const WINDOW: usize = 24;

impl Maker {
    /// Blocks of every kind of access: in-place users, chains of writers, copies with several readers, collective
    /// communication, calls and loops that write inside.
    pub(super) fn accesses(&mut self, nodes: usize) {
        let mut scope = self.graph("accesses".into());
        (0..8).for_each(|i| _ = self.data(&mut scope, i, None));
        (0..8.max(nodes / 100)).for_each(|_| _ = self.variable(&mut scope));
        (0..4).for_each(|_| _ = self.constant(&mut scope));
        while self.serial + 1 < nodes {
            match self.random.below(100) {
                0..8 => self.writers_in_a_row(&mut scope),
                8..20 => self.read_before_write(&mut scope),
                20..28 => self.shared_copy(&mut scope),
                28..36 => self.collective(&mut scope),
                36..39 => self.broadcast(&mut scope),
                39..45 => self.written_value(&mut scope),
                45..47 => self.early_copy(&mut scope),
                47..50 => self.functional(&mut scope, 0),
                50..54 => self.writing_call(&mut scope),
                _ => {
                    let from = self.recents(&scope, 2, WINDOW);
                    self.op(&mut scope, "Add", &from, 1, Attrs::default());
                }
            }
        }
        let outputs = self.recents(&scope, 16, 64);
        self.net_output(&mut scope, &outputs, false);
    }

    /// A value that three operators write one after the other, each through the reference of the one before.
    fn writers_in_a_row(&mut self, scope: &mut Scope) {
        let mut last = self.recent(scope, WINDOW);
        for _ in 0..3 {
            let value = self.recent(scope, WINDOW);
            last = self
                .reference(scope, "ScatterUpdate", &["ref", "x"], &[last, value], &["reference"])
                .output(0);
        }
    }

    /// A variable that is read through a copy and then written; now and then nothing orders the two.
    fn read_before_write(&mut self, scope: &mut Scope) {
        let pick = self.random.below(scope.variables.len());
        let target = scope.variables[pick].output;
        let before = scope.variables[pick].last_writer;
        let ty = if self.random.percent(50) { "ReadVariableOp" } else { "Identity" };
        let copy = self.op(scope, ty, &[target], 1, Attrs::default());
        let readers = 1 + self.random.below(3);
        for _ in 0..readers {
            self.op(scope, "Relu", &[copy.output(0)], 1, Attrs::default());
        }
        before.iter().for_each(|&writer| self.builder.control(writer, 0, copy));
        let value = self.recent(scope, WINDOW);
        let write = self.reference(scope, "Assign", &["ref", "value"], &[target, value], &[]);
        if !self.random.percent(3) {
            self.builder.control(copy, 0, write);
        }
        before.iter().for_each(|&writer| self.builder.control(writer, 0, write));
        scope.variables[pick].last_writer = Some(write);
        scope.pool.pop();
    }

    /// A copy whose readers write and read.
    fn shared_copy(&mut self, scope: &mut Scope) {
        let from = self.recent(scope, WINDOW);
        let copy = self.op(scope, "Identity", &[from], 1, Attrs::default()).output(0);
        for _ in 0..1 + self.random.below(4) {
            let value = self.recent(scope, WINDOW);
            if self.random.percent(30) {
                self.reference(scope, "ScatterUpdate", &["ref", "x"], &[copy, value], &[]);
            } else {
                self.op(scope, "Add", &[copy, value], 1, Attrs::default());
            }
        }
    }

    fn collective(&mut self, scope: &mut Scope) {
        let from = self.recents(scope, 3, WINDOW);
        let attrs = self.flags(&["_input_mutable", "continuous_input", "continuous_output"]);
        self.op(scope, "HcomAllReduce", &from, 3, attrs);
        let attrs = self.flags(&["continuous_input", "continuous_output"]);
        self.op(scope, "HcomAllGather", &from[1..], 2, attrs);
        self.op(scope, "Relu", &from[..1], 1, Attrs::default());
    }

    /// A broadcast into a variable.
    fn broadcast(&mut self, scope: &mut Scope) {
        let pick = self.random.below(scope.variables.len());
        let target = scope.variables[pick].output;
        let attrs = self.flags(&["_input_mutable", "continuous_input"]);
        let node = self.op(scope, "HcomBroadcast", &[target], 1, attrs);
        if let Some(before) = scope.variables[pick].last_writer.replace(node) {
            self.builder.control(before, 0, node);
        }
    }

    /// A value with a writer, readers behind the writer and readers that nothing orders.
    fn written_value(&mut self, scope: &mut Scope) {
        let from = self.recents(scope, 2, WINDOW);
        let value = self.op(scope, "Mul", &from, 1, Attrs::default()).output(0);
        let write =
            self.reference(scope, "ScatterAdd", &["ref", "x"], &[value, from[0]], &["reference"]).output(0);
        for behind in [true, true, false] {
            let other = if behind { write } else { from[1] };
            self.op(scope, "Add", &[value, other], 1, Attrs::default());
        }
    }

    /// A copy that an earlier pass put before a writer.
    fn early_copy(&mut self, scope: &mut Scope) {
        let from = self.recent(scope, WINDOW);
        let attrs = self.flags(&["_inner_identity", "_cannot_be_deleted", "no_need_constant_folding"]);
        let copy = self.op(scope, "Identity", &[from], 1, attrs).output(0);
        let write = self.reference(scope, "ScatterAdd", &["ref", "x"], &[copy, from], &["reference"]);
        self.op(scope, "Add", &[copy, write.output(0)], 1, Attrs::default());
    }

    /// A call that hands a variable two calls down, where it is written.
    fn writing_call(&mut self, scope: &mut Scope) {
        let pick = self.random.below(scope.variables.len());
        let from = [scope.variables[pick].output, self.recent(scope, WINDOW)];
        let call = self.op(scope, "PartitionedCall", &from, 1, Attrs::default());
        if let Some(before) = scope.variables[pick].last_writer.replace(call) {
            self.builder.control(before, 0, call);
        }
        let mut middle = self.graph(format!("mid{}", call.0));
        let from = self.boundary(&mut middle);
        let inner_call = self.op(&mut middle, "PartitionedCall", &from, 1, Attrs::default());
        let mut inner = self.graph(format!("in{}", call.0));
        let from = self.boundary(&mut inner);
        let write = self.reference(&mut inner, "Assign", &["ref", "value"], &from, &["reference"]);
        self.net_output(&mut inner, &[write.output(0)], true);
        self.builder.own(inner_call, inner.graph);
        self.net_output(&mut middle, &[inner_call.output(0)], true);
        self.builder.own(call, middle.graph);
    }

    fn boundary(&mut self, scope: &mut Scope) -> [Output; 2] {
        [0, 1].map(|index| self.data(scope, index, Some(index)).output(0))
    }

    /// One value, a writer, and many readers. In order: all but the last stand in a row in front of the writer, and the
    /// last behind it. Not in order: nothing orders any two.
    pub(super) fn one_writer(&mut self, nodes: usize, in_order: bool) {
        let mut scope = self.graph("one_writer".into());
        let value = self.data(&mut scope, 0, None).output(0);
        let mut last = None;
        while self.serial + 3 < nodes {
            let node = self.op(&mut scope, "Relu", &[value], 1, Attrs::default());
            if let Some(before) = last.replace(node).filter(|_| in_order) {
                self.builder.control(before, 0, node);
            }
        }
        let write = self.reference(&mut scope, "Assign", &["ref", "value"], &[value, value], &[]);
        let end = self.op(&mut scope, "Relu", &[value], 1, Attrs::default());
        if in_order {
            last.iter().for_each(|&node| self.builder.control(node, 0, write));
            self.builder.control(write, 0, end);
        }
        let outputs = self.recents(&scope, 1, 1);
        self.net_output(&mut scope, &outputs, false);
    }

    /// One value and many writers in order by control edges, a reader between each two.
    pub(super) fn writers_in_order(&mut self, nodes: usize) {
        let mut scope = self.graph("writers_in_order".into());
        let value = self.data(&mut scope, 0, None).output(0);
        let other = self.data(&mut scope, 1, None).output(0);
        let mut last = None;
        while self.serial + 2 < nodes {
            let read = self.op(&mut scope, "Relu", &[value], 1, Attrs::default());
            let write = self.reference(&mut scope, "Assign", &["ref", "value"], &[value, other], &[]);
            last.iter().for_each(|&before| self.builder.control(before, 0, read));
            self.builder.control(read, 0, write);
            last = Some(write);
        }
        let outputs = self.recents(&scope, 1, 1);
        self.net_output(&mut scope, &outputs, false);
    }

    /// One value that many operators of collective communication overwrite.
    pub(super) fn many_collectives(&mut self, nodes: usize) {
        let mut scope = self.graph("many_collectives".into());
        let input = self.data(&mut scope, 0, None).output(0);
        let value = self.op(&mut scope, "Relu", &[input], 1, Attrs::default()).output(0);
        let attrs = self.flags(&["_input_mutable", "continuous_input"]);
        let attrs = attrs.with(Sym::new("fusion"), AttrValue::Int(0));
        while self.serial + 1 < nodes {
            self.op(&mut scope, "HcomAllReduce", &[value], 1, attrs.clone());
        }
        let outputs = self.recents(&scope, 1, 1);
        self.net_output(&mut scope, &outputs, false);
    }
}
