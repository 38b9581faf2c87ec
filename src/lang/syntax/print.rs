//! Items in their one form.
//!
//! Promise: what is printed parses to the same tree, places aside. Comments are not part of a tree; a formatter
//! finds them with [`super::comments`].

use super::ast::{
    AttrPlace, AttrType, AttributeRule, Block, Checker, CheckerAction, CheckerForm, Expr, Item, ItemData,
    Kind, MatrixResult, Modifier, Name, OptionType, Param, PipelineRole, Position, Role, SetTerm, Side,
    Statement, StatementKind, Subject, Text,
};
use super::print_expr::{full, names, simple, string, text, tight, ty};

/// One item, with its documentation, without a final newline.
pub fn print_item(item: &Item) -> String {
    let mut printer = Printer::default();
    for line in item.doc.iter().flat_map(|doc| doc.split('\n')) {
        printer.line(format!("/// {line}").trim_end());
    }
    let modifier = match item.modifier {
        Modifier::Declare => "",
        Modifier::Override => "override ",
        Modifier::Extend => "extend ",
        Modifier::Remove => "remove ",
    };
    printer.item(&format!("{modifier}{}", keyword(item.kind)), item);
    printer.out.truncate(printer.out.trim_end().len());
    printer.out
}

/// The statements of a block, each with its inner ones on lines of its own.
pub fn print_block(block: &Block) -> Vec<String> {
    let print = |statement: &Statement| {
        let mut printer = Printer::default();
        printer.statement(statement);
        printer.out.truncate(printer.out.trim_end().len());
        printer.out
    };
    block.statements.iter().map(print).collect()
}

/// The word that an item of this kind begins with.
pub fn keyword(kind: Kind) -> &'static str {
    match kind {
        Kind::Set => "set",
        Kind::Table => "table",
        Kind::Attr => "attr",
        Kind::Note => "note",
        Kind::Option => "option",
        Kind::Enum => "enum",
        Kind::Fn => "fn",
        Kind::Walk => "walk",
        Kind::Symbols => "symbols",
        Kind::Attribute => "attribute",
        Kind::Never => "never",
        Kind::Always => "always",
        Kind::DefaultAlways => "default always",
        Kind::Skip => "skip",
        Kind::Checker => "checker",
        Kind::Matrix => "matrix",
        Kind::Chain => "chain",
        Kind::Steps => "steps",
        Kind::Action => "action",
        Kind::Pass => "pass",
        Kind::Lint => "lint",
        Kind::Order => "order",
        Kind::Pipeline => "pipeline",
        Kind::Measure => "measure",
        Kind::Test => "test",
    }
}

#[derive(Default)]
pub(super) struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    pub(super) fn line(&mut self, line: &str) {
        self.out.push_str(&"  ".repeat(self.indent));
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// `head {`, the lines that `inner` prints, `}`.
    pub(super) fn braces(&mut self, head: &str, inner: impl FnOnce(&mut Printer)) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        inner(self);
        self.indent -= 1;
        self.line("}");
    }

    fn body(&mut self, head: &str, block: &Block) {
        self.braces(head, |printer| printer.statements(block));
    }

    fn item(&mut self, keyword: &str, item: &Item) {
        let name = item.name.text;
        match &item.data {
            ItemData::Set { within, terms } => {
                let within = within.map(|name| format!(" in {}", name.text)).unwrap_or_default();
                let terms: Vec<String> = terms.iter().map(set_term).collect();
                self.line(&format!("{keyword} {name}{within} = {}", terms.join(" + ")));
            }
            ItemData::Table { key, value, rows } => {
                let head = format!("{keyword} {name}: {} -> {} =", ty(key), ty(value));
                self.braces(&head, |printer| {
                    for (key, value) in rows {
                        printer.line(&format!("{} => {},", simple(key), full(value)));
                    }
                });
            }
            ItemData::Attr { ty, places, aliases } => {
                let places: Vec<&str> = places.iter().map(|(place, _)| place_word(*place)).collect();
                let aliases =
                    if aliases.is_empty() { String::new() } else { format!(" alias {}", names(aliases)) };
                self.line(&format!("{keyword} {name}: {} on {}{aliases}", attr_type(*ty), places.join(", ")));
            }
            ItemData::Note { ty: of, places } => {
                let places: Vec<&str> = places.iter().map(|(place, _)| place_word(*place)).collect();
                self.line(&format!("{keyword} {name}: {} on {}", ty(of), places.join(", ")));
            }
            ItemData::Option { ty, default, from_env } => {
                let default = default.as_ref().map(|value| format!(" = {}", full(value))).unwrap_or_default();
                let env = if *from_env { " from env" } else { "" };
                self.line(&format!("{keyword} {name}: {}{default}{env}", option_type(ty)));
            }
            ItemData::Enum { variants } => self.line(&format!("{keyword} {name} {}", braced(variants))),
            ItemData::Fn { params: all, result, body } => {
                self.line(&format!("{keyword} {name}({}) -> {} = {}", params(all), ty(result), full(body)));
            }
            ItemData::Walk { param: start, result, steps } => {
                self.braces(&format!("{keyword} {name}({}) -> {}", param(start), ty(result)), |printer| {
                    for step in steps {
                        let next = step.next.as_ref().map_or("stop".to_owned(), full);
                        let condition = condition(step.condition.as_ref());
                        printer.line(&format!("at {}{condition} => {next}", step.binder.text));
                    }
                });
            }
            ItemData::Symbols { param: target, body } => {
                self.body(&format!("{keyword} {name}({})", param(target)), body);
            }
            ItemData::Attribute { side, rule, doc } => {
                let side = match side {
                    Side::Input => "input",
                    Side::Output => "output",
                };
                let rule = match rule {
                    AttributeRule::Where(condition) => format!("where {}", simple(condition)),
                    AttributeRule::Otherwise => "otherwise".to_owned(),
                };
                let doc = doc.as_ref().map(|doc| format!(" doc {}", string(doc))).unwrap_or_default();
                self.line(&format!("{keyword} {name} on {side} {rule}{doc}"));
            }
            ItemData::Never { left, right } => {
                self.line(&format!("{keyword} {} with {}", left.text, marks(right)));
            }
            ItemData::Always { left, right, because } => {
                let because = clause("because", because.as_ref());
                self.line(&format!("{keyword} {} with {}{because}", left.text, marks(right)));
            }
            ItemData::DefaultAlways { target } => self.line(&format!("{keyword} isolate {}", simple(target))),
            ItemData::Skip { when, because } => {
                let because = clause("because", because.as_ref());
                self.line(&format!("{keyword} {name} when {}{because}", simple(when)));
            }
            ItemData::Checker(checker) => self.checker(&format!("{keyword} {name}"), checker),
            ItemData::Matrix { rows, columns, result, header, cells } => {
                let result = match result {
                    MatrixResult::Named(name) => name.text.to_string(),
                    MatrixResult::Variants(variants) => braced(variants),
                };
                self.line(&format!("{keyword} {name}({}, {}) -> {result}", param(rows), param(columns)));
                self.indent += 1;
                self.row("", header);
                for (name, values) in cells {
                    self.row(name.text.as_str(), values);
                }
                self.indent -= 1;
            }
            ItemData::Chain { subject: all, steps, then } => {
                self.braces(&format!("{keyword} {name}{}", subject(Some(all))), |printer| {
                    printer.chain_steps(steps);
                    if let Some(then) = then {
                        printer.body("then", then);
                    }
                });
            }
            ItemData::Steps { params: all, steps } => {
                self.braces(&format!("{keyword} {name}({})", params(all)), |printer| {
                    printer.chain_steps(steps)
                });
            }
            ItemData::Action { params: all, result, body } => {
                let result = result.as_ref().map(|result| format!(" -> {}", ty(result))).unwrap_or_default();
                self.body(&format!("{keyword} {name}({}){result}", params(all)), body);
            }
            ItemData::Pass { subject: all, repeats, body } => {
                let repeat = if *repeats { " repeat" } else { "" };
                self.body(&format!("{keyword} {name}{}{repeat}", subject(all.as_ref())), body);
            }
            ItemData::Lint { code, level, subject: all, body } => {
                let subject = subject(all.as_ref());
                self.body(&format!("{keyword} {name} {} {}{subject}", code.text, level.text), body);
            }
            ItemData::Order { mode, first, ignore } => {
                self.braces(&format!("{keyword} {name}"), |printer| {
                    printer.line(&format!("mode = {}", full(mode)));
                    if let Some((binder, condition)) = first {
                        printer.line(&format!("first {} where {}", binder.text, simple(condition)));
                    }
                    if let Some((binder, condition)) = ignore {
                        printer.line(&format!(
                            "ignore edges from {} where {}",
                            binder.text,
                            simple(condition)
                        ));
                    }
                });
            }
            ItemData::Pipeline { steps, role } => {
                let steps: Vec<String> = steps
                    .iter()
                    .map(|step| {
                        let tolerant = if step.tolerant { " otherwise warn" } else { "" };
                        format!("{}{}{tolerant}", step.name.text, worded("when", step.when.as_ref()))
                    })
                    .collect();
                let whole = match role {
                    PipelineRole::Plain => "",
                    PipelineRole::Pass => " as pass",
                    PipelineRole::Default => " as default",
                };
                self.line(&format!("{keyword} {name}{whole} = {}", steps.join(", ")));
            }
            ItemData::Measure { title, unit, subject: all, value } => {
                let unit = unit.map(|unit| format!(" unit {}", unit.text)).unwrap_or_default();
                let value = value.as_ref().map(|value| format!(" = {}", full(value))).unwrap_or_default();
                let subject = subject(Some(all));
                self.line(&format!("{keyword} {name} {}{unit}{subject}{value}", string(title)));
            }
            ItemData::Test(test) => self.test(&format!("{keyword} {}", string(name.as_str())), test),
            ItemData::Removed { with } => {
                let name = if item.kind == Kind::Test { string(name.as_str()) } else { name.to_string() };
                let with = with.map(|with| format!(" with {}", with.text)).unwrap_or_default();
                self.line(&format!("{keyword} {name}{with}"));
            }
        }
    }

    fn row(&mut self, name: &str, values: &[Name]) {
        let cells: String = values.iter().map(|value| format!(" | {}", value.text)).collect();
        self.line(format!("{name}{cells}").trim_start());
    }

    fn checker(&mut self, head: &str, checker: &Checker) {
        self.line(head);
        self.indent += 1;
        match &checker.form {
            CheckerForm::Pair { last, first, second } => {
                let last = if *last { "last " } else { "" };
                self.line(&format!("for {last}{}, {}", role(first), role(second)));
            }
            CheckerForm::Group { first, second } => {
                self.line(&format!("over group with {} and {}", mark_side(first), mark_side(second)));
            }
        }
        if let Some(level) = checker.level {
            self.line(&format!("level {}", level.text));
        }
        if let Some(doc) = &checker.doc {
            self.line(&format!("doc {}", string(doc)));
        }
        if let Some(when) = &checker.when {
            self.line(&format!("when {}", simple(when)));
        }
        if let CheckerAction::Isolate { position, target } = &checker.action {
            self.line(&isolate(*position, target));
        }
        for (word, value) in [("because", &checker.because), ("help", &checker.help)] {
            if value.is_some() {
                self.line(clause(word, value.as_ref()).trim_start());
            }
        }
        self.indent -= 1;
        if let CheckerAction::Body(body) = &checker.action {
            self.line("{");
            self.indent += 1;
            self.statements(body);
            self.indent -= 1;
            self.line("}");
        }
    }

    fn statements(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let line = match &statement.kind {
            StatementKind::Let { name, value } => format!("let {} = {}", name.text, full(value)),
            StatementKind::If { arms, otherwise } => return self.if_statement(arms, otherwise.as_ref()),
            StatementKind::For { binder, list, condition: only, body } => {
                let condition = condition(only.as_ref());
                return self.body(&format!("for {} in {}{condition}", binder.text, simple(list)), body);
            }
            StatementKind::Stop => "stop".to_owned(),
            StatementKind::Do { bind, action, args } => {
                let args: Vec<String> = args.iter().map(full).collect();
                format!("{}do {}({})", bound(*bind), action.text, args.join(", "))
            }
            StatementKind::Give(value) => format!("give {}", full(value)),
            StatementKind::Isolate { position, target, because } => {
                format!("{}{}", isolate(*position, target), clause("because", because.as_ref()))
            }
            StatementKind::Found(anchor) => format!("found {}", simple(anchor)),
            StatementKind::Join { anchor, to } => format!("join {} to {}", simple(anchor), simple(to)),
            StatementKind::Unite { anchor, with } => {
                format!("unite {} with {}", simple(anchor), simple(with))
            }
            StatementKind::Fail(message) => format!("fail {}", text(message)),
            StatementKind::Halt(message) => format!("halt {}", text(message)),
            StatementKind::Report { places, message, level, help, answer } => {
                let places: Vec<String> = places.iter().map(simple).collect();
                let level = level.map(|level| format!(" level {}", level.text)).unwrap_or_default();
                let answer = worded("answered by", answer.as_ref());
                let help = clause("help", help.as_ref());
                format!("report {} {}{level}{help}{answer}", places.join(", "), text(message))
            }
            StatementKind::Insert { bind, op, named, fields } => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{} = {}", name.text, full(value))).collect();
                let fields =
                    if fields.is_empty() { String::new() } else { format!(" {{ {} }}", fields.join(", ")) };
                let named = clause("named", named.as_ref());
                format!("{}insert {}{named}{fields}", bound(*bind), simple(op))
            }
            StatementKind::Clear { subject, except } => {
                format!("clear {} except {}", simple(subject), except.text)
            }
            StatementKind::Delete(node) => format!("delete {}", simple(node)),
            StatementKind::Connect { from, to } => format!("connect {} -> {}", simple(from), simple(to)),
            StatementKind::Cut(input) => format!("cut {}", simple(input)),
            StatementKind::Link { from, to } => format!("link {} => {}", simple(from), simple(to)),
            StatementKind::Unlink { from, to } => format!("unlink {} => {}", simple(from), simple(to)),
            StatementKind::SetAttr { subject, attr, value } => {
                format!("set {}.attr({}) = {}", tight(subject), attr.text, full(value))
            }
            StatementKind::SetNote { subject, note, value } => {
                format!("set {}.note({}) = {}", tight(subject), note.text, full(value))
            }
            StatementKind::SetField { subject, field, value } => {
                format!("set {}.{} = {}", tight(subject), field.text, full(value))
            }
            StatementKind::Sort { order } => format!("sort with {}", order.text),
            StatementKind::Apply { chain, to } => format!("apply {} to {}", chain.text, simple(to)),
            StatementKind::Merge { anchor, into } => {
                format!("merge {} into {}", simple(anchor), simple(into))
            }
            StatementKind::Attempt { body, otherwise } => return self.attempt(body, otherwise.as_ref()),
            StatementKind::Sweep { binder, graph, condition: only, body } => {
                let condition = condition(only.as_ref());
                return self.body(&format!("sweep {} in {}{condition}", binder.text, simple(graph)), body);
            }
            StatementKind::Track { symbols, graph, otherwise } => {
                let head = format!("track {} in {}", symbols.text, simple(graph));
                match otherwise {
                    Some(otherwise) => return self.body(&format!("{head} else"), otherwise),
                    None => head,
                }
            }
            StatementKind::Resolve { symbols, graph, binder, body } => {
                let head = format!("resolve {} in {} as {}", symbols.text, simple(graph), binder.text);
                return self.body(&head, body);
            }
        };
        self.line(&line);
    }

    fn if_statement(&mut self, arms: &[(Expr, Block)], otherwise: Option<&Block>) {
        for (at, (condition, body)) in arms.iter().enumerate() {
            let word = if at == 0 { "if" } else { "} else if" };
            self.line(&format!("{word} {} {{", simple(condition)));
            self.indented(body);
        }
        if let Some(body) = otherwise {
            self.line("} else {");
            self.indented(body);
        }
        self.line("}");
    }

    fn attempt(&mut self, body: &Block, otherwise: Option<&Block>) {
        self.line("attempt {");
        self.indented(body);
        if let Some(body) = otherwise {
            self.line("} else {");
            self.indented(body);
        }
        self.line("}");
    }

    pub(super) fn indented(&mut self, body: &Block) {
        self.indent += 1;
        self.statements(body);
        self.indent -= 1;
    }
}

pub(super) fn position_word(position: Position) -> &'static str {
    match position {
        Position::Before => "before",
        Position::After => "after",
    }
}

fn isolate(position: Option<Position>, target: &Expr) -> String {
    let position = position.map(|position| format!("{} ", position_word(position))).unwrap_or_default();
    format!("isolate {position}{}", simple(target))
}

fn bound(name: Option<Name>) -> String {
    name.map(|name| format!("let {} = ", name.text)).unwrap_or_default()
}

pub(super) fn clause(word: &str, value: Option<&Text>) -> String {
    value.map(|value| format!(" {word} {}", text(value))).unwrap_or_default()
}

pub(super) fn worded(word: &str, value: Option<&Expr>) -> String {
    value.map(|value| format!(" {word} {}", simple(value))).unwrap_or_default()
}

pub(super) fn condition(value: Option<&Expr>) -> String {
    worded("where", value)
}

fn subject(subject: Option<&Subject>) -> String {
    let Some(subject) = subject else { return String::new() };
    let list = worded("in", subject.list.as_ref());
    format!(" for {}{list}{}", param(&subject.param), condition(subject.condition.as_ref()))
}

fn role(role: &Role) -> String {
    format!("{}: {}", role.name.text, alternatives(&role.marks))
}

fn mark_side(marks: &[Name]) -> String {
    if marks.len() == 1 { alternatives(marks) } else { format!("({})", alternatives(marks)) }
}

fn alternatives(marks: &[Name]) -> String {
    marks.iter().map(|mark| mark.text.as_str()).collect::<Vec<_>>().join(" or ")
}

fn marks(marks: &[Name]) -> String {
    if marks.is_empty() { "any".to_owned() } else { names(marks) }
}

fn param(param: &Param) -> String {
    format!("{}: {}", param.name.text, ty(&param.ty))
}

fn params(params: &[Param]) -> String {
    params.iter().map(param).collect::<Vec<_>>().join(", ")
}

fn braced(variants: &[Name]) -> String {
    if variants.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", names(variants)) }
}

fn set_term(term: &SetTerm) -> String {
    match term {
        SetTerm::Named(name) => name.text.to_string(),
        SetTerm::Literal(elements) if elements.is_empty() => "{}".to_owned(),
        SetTerm::Literal(elements) => {
            format!("{{ {} }}", elements.iter().map(simple).collect::<Vec<_>>().join(", "))
        }
    }
}

/// As a declaration writes it.
pub fn place_word(place: AttrPlace) -> &'static str {
    match place {
        AttrPlace::Node => "node",
        AttrPlace::Graph => "graph",
        AttrPlace::Input => "input",
        AttrPlace::Output => "output",
    }
}

/// As a declaration writes it.
pub fn attr_type(ty: AttrType) -> &'static str {
    match ty {
        AttrType::Bool => "bool",
        AttrType::OptBool => "bool?",
        AttrType::Int => "int",
        AttrType::Float => "float",
        AttrType::Str => "str",
        AttrType::ListInt => "list<int>",
        AttrType::ListStr => "list<str>",
        AttrType::ListBool => "list<bool>",
        AttrType::ListFloat => "list<float>",
        AttrType::ListListInt => "list<list<int>>",
        AttrType::Any => "any",
    }
}

/// As a declaration writes it.
pub fn option_type(ty: &OptionType) -> String {
    match ty {
        OptionType::Bool => "bool".to_owned(),
        OptionType::Int => "int".to_owned(),
        OptionType::Str => "str".to_owned(),
        OptionType::ListInt => "list<int>".to_owned(),
        OptionType::ListStr => "list<str>".to_owned(),
        OptionType::Variants(variants) => braced(variants),
    }
}
