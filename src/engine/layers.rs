//! Symbol tables and marks that are made from those of an earlier graph.
//!
//! Promise: what is made from an earlier answer is what would be found alone. Only where rules are expected to be edited, and nobody
//! counts what is reached. Which rounds of a `symbols` entry are done again without asking is told by
//! [`crate::lang::eval::Regroup`], and which marks stay by [`super::marked`]; here it is decided from which answer. What asked
//! cells of matrices is not kept, since the database has to know of that.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

use super::cells::Cells;
use super::marks::{Asked, MarkList, MarkRequest, Marked, Seen, mark, mark_again};
use super::queries::Layer;
use crate::db::{Linked, PastAnswer, PastAnswers, Question};
use crate::graph::{Apart, Moved, Snapshot, Sym, Symbols};
use crate::lang::eval::{Failure, Grouping, Host, Machine, Regroup};
use crate::lang::hir::{Entry, Line};
use crate::lang::syntax::ast::Kind;

/// Cells, and whether any was asked.
pub(super) struct Noticed<'db> {
    cells: Cells<'db>,
    asked: Cell<bool>,
}

impl<'db> Noticed<'db> {
    pub fn new(cells: Cells<'db>) -> Noticed<'db> {
        Noticed { cells, asked: Cell::new(false) }
    }

    pub fn was_asked(&self) -> bool {
        self.asked.get()
    }
}

impl Host for Noticed<'_> {
    fn cell(&self, matrix: Sym, row: u16, column: u16) -> Option<u16> {
        self.asked.set(true);
        self.cells.cell(matrix, row, column)
    }

    fn stands_in(&self, matrix: Sym, line: Line, variant: u16) -> bool {
        self.asked.set(true);
        self.cells.stands_in(matrix, line, variant)
    }
}

/// A symbol table, with how it was made.
struct Grouped {
    table: Arc<Symbols>,
    grouping: Grouping,
    /// Where the groups of an earlier table are in this one.
    moved: Mutex<Option<(Arc<Symbols>, Arc<Moved>)>>,
}

/// What the answer to a question is made from, and kept for.
pub(super) struct Past<'r> {
    answers: Arc<PastAnswers>,
    question: Question,
    linked: &'r Linked,
    snapshot: &'r Snapshot,
    earlier: Option<(Arc<PastAnswer>, Arc<Apart>)>,
}

impl<'r> Past<'r> {
    /// `None`: nobody expects another question, or somebody counts.
    pub fn of(
        cells: Cells<'r>,
        layer: Layer<'r>,
        (kind, name): (Kind, Sym),
        linked: &'r Linked,
    ) -> Option<Past<'r>> {
        let answers = cells.db.past_answers().filter(|_| cells.db.tally().is_none())?;
        let question = (kind, name, layer.symbols(cells.db), layer.target(cells.db));
        let snapshot = layer.at(cells.db).snapshot(cells.db);
        let earlier = answers
            .nearest(question, &linked.0, snapshot)
            .and_then(|answer| answers.apart(&answer.snapshot, snapshot).map(|apart| (answer, apart)));
        Some(Past { answers, question, linked, snapshot, earlier })
    }

    /// The earlier answer, and how far its graph is from this one.
    pub fn earlier<T: 'static>(&self) -> Option<(&T, &Apart)> {
        let (answer, apart) = self.earlier.as_ref()?;
        Some((answer.answer.downcast_ref()?, apart))
    }

    /// Where the groups of the table that the earlier answer is about are in the table of now. Found once for all marks.
    fn moved(&self, (before, now): (&Arc<Symbols>, &Arc<Symbols>), apart: &Apart) -> Option<Arc<Moved>> {
        let (earlier, _) = self.earlier.as_ref()?;
        let find = || Arc::new(Moved::between((before, &earlier.snapshot), (now, self.snapshot), apart));
        let (.., symbols, target) = self.question;
        let answer = self.answers.at((Kind::Symbols, symbols, symbols, target), self.snapshot);
        let grouped = answer.as_ref().and_then(|answer| answer.answer.downcast_ref::<Grouped>());
        let Some(grouped) = grouped.filter(|grouped| Arc::ptr_eq(&grouped.table, now)) else {
            return Some(find());
        };
        let mut known = grouped.moved.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|(from, _)| !Arc::ptr_eq(from, before)) {
            *known = Some((before.clone(), find()));
        }
        known.as_ref().map(|(_, moved)| moved.clone())
    }

    /// Keeps the answer that was given now.
    pub fn keep<T: Send + Sync + 'static>(&self, answer: T, size: usize) {
        let (snapshot, program) = (self.snapshot.clone(), self.linked.0.clone());
        let (question, answer) = (self.question, Box::new(answer));
        self.answers.keep(PastAnswer { question, snapshot, program, size, answer });
    }
}

/// The symbol table of a layer.
pub(super) fn grouped(cells: Cells<'_>, layer: Layer<'_>, linked: &Linked) -> Result<Arc<Symbols>, Failure> {
    let (db, name) = (cells.db, layer.symbols(cells.db));
    let build = |record: bool, earlier: Option<(&Grouping, &Symbols, &Apart)>| {
        let host = Noticed::new(cells);
        let mut machine = Machine::over(&linked.0, &host, layer.at(db).snapshot(db), layer.target(db));
        machine.set_tally(db.tally());
        machine.share_alike();
        if record {
            machine.set_regroup(Regroup::new(earlier));
        }
        let built = machine.build_symbols(name, layer.target(db)).map(Arc::new);
        let grouping = machine.take_grouping().filter(|_| !host.was_asked());
        machine.keep_kinds();
        (built, grouping)
    };
    let Some(past) = Past::of(cells, layer, (Kind::Symbols, name), linked) else {
        return build(false, None).0;
    };
    let again = past
        .earlier::<Grouped>()
        .map(|(earlier, apart)| build(true, Some((&earlier.grouping, &*earlier.table, apart))));
    // Who fails is to fail in the same words.
    let (built, grouping) = match again {
        Some((Ok(table), grouping)) => (Ok(table), grouping),
        _ => build(true, None),
    };
    if let (Ok(table), Some(grouping)) = (&built, grouping) {
        let members = table.groups().iter().map(|group| group.members.len() + 4).sum::<usize>();
        let size = grouping.size() + members * size_of::<crate::graph::Anchor>();
        past.keep(Grouped { table: table.clone(), grouping, moved: Mutex::default() }, size);
    }
    built
}

/// The anchors of a layer that carry a mark.
pub(super) fn marked(
    cells: Cells<'_>,
    layer: Layer<'_>,
    request: &MarkRequest<'_>,
    linked: &Linked,
) -> Result<Arc<MarkList>, Failure> {
    let attribute = (Kind::Attribute, request.mark);
    let id = linked.0.entry(attribute.0, attribute.1).unwrap_or_default();
    let hir = linked.0.hir(id).cloned();
    let rule = match hir.as_deref() {
        Some(Entry::Attribute { rule: Some((body, condition)), side }) => {
            Some((Asked { entry: id, condition: *condition, side: *side }, body))
        }
        _ => None,
    };
    let past = rule.and_then(|rule| Some((Past::of(cells, layer, attribute, linked)?, rule)));
    let again = past.as_ref().and_then(|(past, rule)| {
        let (before, apart) = past.earlier::<Marked>()?;
        let moved = past.moved((before.symbols(), request.symbols), apart)?;
        let found = with_machine(cells, request, linked, |machine| {
            let mut seen = Seen::of(machine);
            let list = mark_again(machine, request, *rule, (before, &moved, apart), &mut seen)?;
            Ok(list.map(|list| (list, seen)))
        });
        // Who fails is to fail in the same words.
        found.ok().and_then(|(found, is_whole)| Some((found?, is_whole)))
    });
    let ((list, seen), is_whole) = match again {
        Some(found) => found,
        None => with_machine(cells, request, linked, |machine| {
            let mut seen = if past.is_some() { Seen::of(machine) } else { Seen::default() };
            Ok((mark(machine, request, id, &mut seen)?, seen))
        })?,
    };
    let list = Arc::new(list);
    if let Some((past, _)) = past.filter(|_| is_whole)
        && let Some(marked) = Marked::new(list.clone(), request, seen)
    {
        let size = marked.size();
        past.keep(marked, size);
    }
    Ok(list)
}

/// Does something with a machine that runs the program of an attribute. Also tells whether no cells were asked.
fn with_machine<T>(
    cells: Cells<'_>,
    request: &MarkRequest<'_>,
    linked: &Linked,
    work: impl FnOnce(&mut Machine<'_>) -> Result<T, Failure>,
) -> Result<(T, bool), Failure> {
    let host = Noticed::new(cells);
    let mut machine = Machine::over(&linked.0, &host, request.snapshot, request.target);
    machine.set_tally(cells.db.tally());
    machine.share_alike();
    let done = work(&mut machine);
    machine.keep_kinds();
    done.map(|done| (done, !host.was_asked()))
}

/// Of the table of a target graph: how many rounds are known, and how many of them are those of an earlier table.
#[cfg(test)]
pub(super) fn rounds(
    cells: &Cells<'_>,
    target: crate::graph::GraphId,
    snapshot: &Snapshot,
) -> (usize, usize) {
    let name = crate::db::live(cells.db, cells.rules).names(Kind::Symbols).next().unwrap_or_default();
    let answer =
        cells.db.past_answers().and_then(|answers| answers.at((Kind::Symbols, name, name, target), snapshot));
    let grouped = answer.as_ref().and_then(|answer| answer.answer.downcast_ref::<Grouped>());
    grouped.map_or((0, 0), |grouped| grouped.grouping.count())
}
