//! Steps of chains as text.

use super::ast::{ChainStep, Refusal, StepEnd};
use super::print::{Printer, clause, condition, worded};
use super::print_expr::{full, simple};

impl Printer {
    pub(super) fn chain_steps(&mut self, steps: &[ChainStep]) {
        for step in steps {
            match step {
                ChainStep::Let { name, value } => self.line(&format!("let {} = {}", name.text, full(value))),
                ChainStep::Require { name, condition, end } => {
                    self.line(&format!("require {}: {}{}", name.text, simple(condition), reasons(end)));
                }
                ChainStep::Attempt { name, body, end } => {
                    self.line(&format!("attempt {} {{", name.text));
                    self.indented(body);
                    self.line(&format!("}}{}", reasons(end)));
                }
                ChainStep::For { binder, list, condition: filter, steps } => {
                    let head =
                        format!("for {} in {}{}", binder.text, simple(list), condition(filter.as_ref()));
                    self.braces(&head, |printer| printer.chain_steps(steps));
                }
                ChainStep::Use { group, args, when } => {
                    let args = args.iter().map(full).collect::<Vec<_>>().join(", ");
                    self.line(&format!("use {}({args}){}", group.text, worded("when", when.as_ref())));
                }
            }
        }
    }
}

fn reasons(end: &StepEnd) -> String {
    let word = match end.refusal {
        Refusal::Keep => "else",
        Refusal::Warn => "else warn",
        Refusal::Fail => "else fail",
    };
    format!("{}{}", clause(word, end.otherwise.as_ref()), clause("help", end.help.as_ref()))
}
