//! Machines beside a machine: other programs over the state as it is now.
//!
//! Promise: a machine beside another one sees its state, and neither its notes nor what it tracks. They take from one supply of
//! steps, if they are told of each other.

use super::host::Host;
use super::machine::Machine;
use super::program::Program;
use crate::graph::Dense;

impl Machine<'_> {
    /// A machine with another program over a copy of the state as edited so far, and with the steps that are left.
    pub fn beside<'b>(&self, program: &'b Program, host: &'b dyn Host) -> Machine<'b> {
        let mut beside = Machine::new(program, host, self.edit.clone(), None, self.root);
        beside.steps = self.steps;
        beside.tally = self.tally.clone();
        beside
    }

    /// As [`Machine::beside`], reading what has not been edited in the flat view `dense`, if that is the one of this machine.
    pub fn beside_over<'b>(&self, program: &'b Program, host: &'b dyn Host, dense: &'b Dense) -> Machine<'b> {
        let mut beside = self.beside(program, host);
        if self.dense.is_some_and(|own| std::ptr::eq(own, dense)) {
            beside.dense = Some(dense);
            beside.edited = self.edited.anew();
            beside.lists_clean = self.lists_clean;
        }
        beside
    }

    /// Goes on with the steps that another machine has left.
    pub fn go_on_as(&mut self, other: &Machine<'_>) {
        self.steps = other.steps;
    }

    /// Takes the steps that a machine beside this one has taken.
    pub fn spend_as(&mut self, beside: &Machine<'_>) {
        self.steps = self.steps.min(beside.steps);
    }
}
