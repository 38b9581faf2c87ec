//! `attempt`: statements that are undone together if one of them fails.

use super::code::Code;
use super::exec::Flow;
use super::{Failure, Machine};
use crate::lang::hir::{Block, Statement};

impl Machine<'_> {
    /// Runs a block; `None`: a statement failed, and nothing of the block is left. What it counted stays counted.
    pub(super) fn attempt(
        &mut self,
        code: &Code,
        body: &Block,
        base: usize,
    ) -> Result<Option<Flow>, Failure> {
        let host = self.host;
        let mark = host.mark();
        let edit = self.copy();
        let logged = self.log.len();
        let (reports, isolated) = (self.reports.len(), self.isolated.len());
        // Copies of these are dear, and most blocks leave them alone.
        let beyond = body.iter().any(|statement| !is_plain(statement));
        let notes = beyond.then(|| self.notes.clone());
        let tracked = beyond.then(|| self.tracked.clone());
        match self.block(code, body, base) {
            Ok(flow) => Ok(Some(flow)),
            // Nothing can be evaluated any more.
            Err(failure) if self.is_exhausted() => Err(failure),
            Err(_) => {
                self.go_back(edit);
                self.log.truncate(logged);
                self.reports.truncate(reports);
                self.isolated.truncate(isolated);
                if let Some(notes) = notes {
                    self.notes = notes;
                }
                if let Some(tracked) = tracked {
                    self.tracked = tracked;
                }
                host.undone(self, mark);
                Ok(None)
            }
        }
    }
}

/// Statements that touch neither notes nor tracked groups.
fn is_plain(statement: &Statement) -> bool {
    match statement {
        Statement::Let { .. }
        | Statement::Link { .. }
        | Statement::Unlink { .. }
        | Statement::Connect { .. }
        | Statement::Cut(_)
        | Statement::Sort { .. }
        | Statement::Stop
        | Statement::Fail(_) => true,
        Statement::For { body, .. } => body.iter().all(is_plain),
        Statement::If { arms, otherwise } => {
            arms.iter().all(|(_, block)| block.iter().all(is_plain)) && otherwise.iter().all(is_plain)
        }
        _ => false,
    }
}
