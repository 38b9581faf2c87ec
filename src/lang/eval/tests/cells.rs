//! Cells that a program leaves open are asked of the host, each once, and only those that a value depends on.

use std::cell::RefCell;

use super::build::*;
use crate::graph::{GraphId, Sym};
use crate::lang::eval::{Host, Machine, NoHost, Program, Value};
use crate::lang::hir::{Compare, Const, Entry, Expr, Line, OPEN_CELL};
use crate::lang::syntax::ast::Kind;

/// Row 0 is [0, 1], row 1 is [2, 2].
const CELLS: [[u16; 2]; 2] = [[0, 1], [2, 2]];

/// Writes down what it is asked.
#[derive(Default)]
struct Asked(RefCell<Vec<String>>);

impl Host for Asked {
    fn cell(&self, matrix: Sym, row: u16, column: u16) -> Option<u16> {
        self.0.borrow_mut().push(format!("{matrix} {row} {column}"));
        Some(CELLS[row as usize][column as usize])
    }

    fn stands_in(&self, matrix: Sym, line: Line, variant: u16) -> bool {
        self.0.borrow_mut().push(format!("{matrix} {line:?} {variant}"));
        let cells: Vec<Vec<u16>> = CELLS.iter().map(|row| row.to_vec()).collect();
        line.of(&cells).any(|cell| cell == variant)
    }
}

/// `cell(row, column)`, and `is_two(row, column)`: whether that is variant 2.
fn program() -> Program {
    let mut p = P::default();
    let cells = vec![vec![OPEN_CELL; 2]; 2];
    let matrix =
        Entry::Matrix { rows: sym("R"), columns: sym("C"), result: sym("K"), variants: Vec::new(), cells };
    p.add(Kind::Matrix, "M", matrix);
    let cell = |x: &mut B| {
        let (row, column) = (x.local(0), x.local(1));
        x.put(Expr::Matrix { matrix: sym("M"), row, column })
    };
    p.function("cell", 2, cell);
    p.function("is_two", 2, |x| {
        let (left, right) = (cell(x), x.put(Expr::Const(Const::Enum { ty: sym("K"), variant: 2 })));
        x.put(Expr::Compare { op: Compare::Eq, left, right })
    });
    p.link()
}

fn variant(ty: &str, variant: u16) -> Value {
    Value::Enum { ty: sym(ty), variant }
}

#[test]
fn each_cell_is_asked_once() {
    let (program, snapshot, host) = (program(), G::new().finish(), Asked::default());
    let mut machine = Machine::over(&program, &host, &snapshot, GraphId::ROOT);
    for _ in 0..2 {
        for (row, column) in [(0, 1), (1, 0)] {
            let found = machine.call(sym("cell"), &[variant("R", row), variant("C", column)]);
            assert_eq!(found.expect("the host knows it"), variant("K", CELLS[row as usize][column as usize]));
        }
    }
    assert_eq!(*host.0.borrow(), ["M 0 1", "M 1 0"]);
}

#[test]
fn no_cell_is_asked_of_a_row_that_lacks_the_variant() {
    let (program, snapshot, host) = (program(), G::new().finish(), Asked::default());
    let mut machine = Machine::over(&program, &host, &snapshot, GraphId::ROOT);
    for _ in 0..2 {
        for (row, column) in [(0, 0), (0, 1), (1, 1)] {
            let found = machine.call(sym("is_two"), &[variant("R", row), variant("C", column)]);
            assert_eq!(found.expect("the host knows it"), Value::Bool(row == 1));
        }
    }
    assert_eq!(*host.0.borrow(), ["M Row(0) 2", "M Row(1) 2", "M 1 1"]);
}

#[test]
fn there_is_no_cell_outside_of_the_matrix() {
    let (program, snapshot, host) = (program(), G::new().finish(), Asked::default());
    let mut machine = Machine::over(&program, &host, &snapshot, GraphId::ROOT);
    for (row, column) in [(2, 0), (0, 2)] {
        let found = machine.call(sym("cell"), &[variant("R", row), variant("C", column)]);
        assert_eq!(found.expect("nothing is asked"), Value::None);
    }
    assert_eq!(*host.0.borrow(), [""; 0]);
}

#[test]
fn a_host_that_does_not_know_a_cell_fails_the_evaluation() {
    let (program, snapshot) = (program(), G::new().finish());
    let mut machine = Machine::over(&program, &NoHost, &snapshot, GraphId::ROOT);
    assert!(machine.call(sym("cell"), &[variant("R", 0), variant("C", 0)]).is_err());
}
