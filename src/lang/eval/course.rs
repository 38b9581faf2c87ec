//! Whether statements do something, as far as one node tells.

use super::code::{Code, Op};
use super::foresee::{Foresight, Grain, Supposed};
use super::known::Known;
use super::simplify::is_pure;
use super::{Machine, Value};
use crate::graph::{NodeId, Sym};
use crate::lang::hir::{Block, Entry, ExprId, Local, Statement};
use crate::lang::syntax::ast::Kind;

/// What statements that change nothing and do not fail may do. `None` in its place: they may do more.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Course {
    goes_on: bool,
    /// The item that they are of ends.
    ends: bool,
}

const NOTHING: Course = Course { goes_on: true, ends: false };
const END: Course = Course { goes_on: false, ends: true };

impl Course {
    fn or(self, other: Course) -> Course {
        Course { goes_on: self.goes_on || other.goes_on, ends: self.ends || other.ends }
    }
}

impl Machine<'_> {
    /// Whether a block comes to nothing where `local` holds a node like `node`.
    pub(super) fn is_idle_at(&mut self, code: &Code, block: &Block, local: Local, node: NodeId) -> bool {
        let at = [(local, Value::Node(node))];
        self.foresee(code, (Grain::Type, false), &at, |f, base| f.course(code, block, base))
            .is_some_and(|(course, _)| course == Some(NOTHING))
    }

    /// Of which conditions no reader may be for a block to come to nothing where `local` holds a place like `place`.
    pub(super) fn quiet_block(
        &mut self,
        code: &Code,
        block: &Block,
        local: Local,
        place: Value,
    ) -> Option<Vec<Supposed>> {
        let at = [(local, place)];
        let (course, supposed) =
            self.foresee(code, (Grain::Kind, true), &at, |f, base| f.course(code, block, base))?;
        (course == Some(NOTHING)).then_some(supposed)
    }
}

impl Foresight<'_, '_> {
    fn course(&mut self, code: &Code, block: &Block, base: usize) -> Option<Course> {
        let mut course = NOTHING;
        for statement in block {
            let next = self.course_of(code, statement, base)?;
            course = Course { goes_on: next.goes_on, ends: course.ends || next.ends };
            if !course.goes_on {
                break;
            }
        }
        Some(course)
    }

    fn course_of(&mut self, code: &Code, statement: &Statement, base: usize) -> Option<Course> {
        if !self.spend() {
            return None;
        }
        match statement {
            Statement::Let { local, value } => {
                let known = self.plain(code, *value, base)?;
                self.bind(base, *local, known);
                Some(NOTHING)
            }
            Statement::Stop => Some(END),
            Statement::Give(value) => self.plain(code, *value, base).map(|_| END),
            Statement::If { arms, otherwise } => {
                let mut may: Option<Course> = None;
                let also =
                    |may: Option<Course>, course: Course| Some(may.map_or(course, |may| may.or(course)));
                for (condition, block) in arms {
                    match self.plain(code, *condition, base)?.truth() {
                        Some(false) => {}
                        Some(true) => return also(may, self.course(code, block, base)?),
                        None => may = also(may, self.course(code, block, base)?),
                    }
                }
                also(may, self.course(code, otherwise, base)?)
            }
            Statement::For { local, list, body } => self.course_of_loop(code, (*local, *list), body, base),
            Statement::Do { bind: None, action, args } => self.course_of_action(code, *action, args, base),
            _ => None,
        }
    }

    /// What is known of an expression that nobody misses if it is not evaluated.
    pub(super) fn plain(&mut self, code: &Code, id: ExprId, base: usize) -> Option<Known> {
        is_pure(self.machine.program.entries(), code, id).then(|| self.look(code, id, base))
    }

    fn course_of_loop(
        &mut self,
        code: &Code,
        (local, list): (Local, ExprId),
        body: &Block,
        base: usize,
    ) -> Option<Course> {
        let known = self.plain(code, list, base)?;
        let (all, filter) = match code.ops[list as usize] {
            Op::Where { local, list, condition } if known == Known::Open => (list, Some((local, condition))),
            _ => (list, None),
        };
        let rounds = self.elements(code, all, base).unwrap_or_else(|| vec![Known::Open]);
        let mut course = NOTHING;
        for element in rounds {
            if let Some((local, condition)) = filter {
                self.bind(base, local, element.clone());
                if self.truth(code, condition, base) == Some(false) {
                    continue;
                }
            }
            self.bind(base, local, element);
            course = course.or(self.course(code, body, base)?);
        }
        Some(course)
    }

    /// An action that ends lets its caller go on.
    fn course_of_action(&mut self, code: &Code, action: Sym, args: &[ExprId], base: usize) -> Option<Course> {
        let program = self.machine.program;
        let linked = program.linked(program.entry(Kind::Action, action)?)?;
        let Entry::Action { block, .. } = &*linked.entry else { return None };
        let known: Option<Vec<Known>> = args.iter().map(|&arg| self.plain(code, arg, base)).collect();
        let code = &linked.plain;
        self.inside(code, known?, |f, base| f.course(code, block, base))?.map(|_| NOTHING)
    }
}
