//! Texts with their values inserted.

use std::fmt::Write;

use super::code::Code;
use super::{EntryId, Machine, Value};
use crate::lang::hir::{Text, TextPart};

/// Bytes of a text in which no further element of a list is shown: a range has as many as its rule says.
const LONGEST: usize = 1 << 16;

impl Machine<'_> {
    /// A text, with the values that its expressions have now in the frame of the statement that owns it.
    pub fn render(&mut self, text: &Text, frame: &[Value]) -> String {
        let program = self.program;
        let code = Code::link(program, EntryId::default(), &text.body);
        let base = self.enter(frame, code.locals);
        let rendered = self.parts(&code, &text.parts, base);
        self.leave(base);
        // A text is made for a person, often about a failure; one more must not hide the first.
        self.pending = None;
        rendered
    }

    pub(super) fn parts(&mut self, code: &Code, parts: &[TextPart], base: usize) -> String {
        let mut out = String::new();
        for part in parts {
            match part {
                TextPart::Literal(text) => out.push_str(text),
                TextPart::Value(id) => {
                    let value = self.expr(code, *id, base);
                    self.print(&value, &mut out);
                }
            }
        }
        out
    }

    /// A value as texts show it: anchors by label, nodes and graphs by name, lists with commas.
    pub fn show(&self, value: &Value) -> String {
        let mut out = String::new();
        self.print(value, &mut out);
        out
    }

    fn print(&self, value: &Value, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match value {
            Value::None => out.write_str("none"),
            Value::Bool(b) => write!(out, "{b}"),
            Value::Int(i) => write!(out, "{i}"),
            Value::Float(f) => write!(out, "{f}"),
            Value::Str(_) | Value::Text(_) | Value::Mark(_) => out.write_str(value.as_str().unwrap_or("")),
            Value::Node(id) => match self.node(*id) {
                Some(node) => out.write_str(&node.name),
                None => out.write_str("a deleted node"),
            },
            Value::Input(_) | Value::Output(_) => match value.as_anchor().and_then(|a| self.label(a)) {
                Some(label) => out.write_str(&label),
                None => out.write_str("an anchor of a deleted node"),
            },
            Value::Graph(id) => match self.state().get_graph(*id) {
                Some(graph) => out.write_str(&graph.name),
                None => out.write_str("a deleted graph"),
            },
            Value::Symbols(table) => write!(out, "a table of {} groups", table.groups().len()),
            Value::Group(group) => {
                let founder = group.group().map(|group| group.founder);
                out.write_str(&founder.and_then(|f| self.label(f)).unwrap_or_default())
            }
            Value::Enum { ty, variant } => match self.program.variant_name(*ty, *variant) {
                Some(name) => out.write_str(name.as_str()),
                None => write!(out, "{variant}"),
            },
            Value::List(_) | Value::Inputs { .. } | Value::Outputs { .. } => {
                for (at, element) in value.elements().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    if out.len() > LONGEST {
                        out.push('…');
                        break;
                    }
                    self.print(&element, out);
                }
                Ok(())
            }
        };
    }
}
