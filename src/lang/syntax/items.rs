//! Items: one function for each kind.

use super::ast::{
    AttrPlace, AttrType, AttributeRule, ChainStep, Checker, CheckerAction, CheckerForm, Expr, ExprKind, Item,
    ItemData, Kind, MatrixResult, Modifier, Name, OptionType, Param, PipelineRole, PipelineStep, Refusal,
    Role, SetTerm, Side, Span, StepEnd, Subject, Type, TypeKind, WalkStep,
};
use super::build::{Builder, Rule, Tree, child, children, has, only};
use super::expr::expr;
use super::parse::kind_of;
use crate::graph::Sym;

impl Builder {
    /// The tree of a whole item; the caller adds the documentation.
    pub fn item(&mut self, tree: &Tree) -> Option<Item> {
        if let Some(removed) = child(tree, Rule::removed) {
            return self.removed(&removed);
        }
        if let Some(set) = child(tree, Rule::set_item) {
            return self.declaration(Modifier::Extend, &set);
        }
        let modifier = if has(tree, Rule::kw_override) { Modifier::Override } else { Modifier::Declare };
        self.declaration(modifier, &only(&child(tree, Rule::declaration)?)?)
    }

    fn removed(&mut self, tree: &Tree) -> Option<Item> {
        let item = |kind, name, with| {
            Some(Item { modifier: Modifier::Remove, kind, name, doc: None, data: ItemData::Removed { with } })
        };
        if let Some(pair) = child(tree, Rule::removed_pair) {
            let kind = if has(&pair, Rule::kw_never) { Kind::Never } else { Kind::Always };
            let left = self.name_in(&pair, Rule::name)?;
            return item(kind, left, Some(self.name_in(&pair, Rule::mark)?));
        }
        if let Some(test) = child(tree, Rule::removed_test) {
            return item(Kind::Test, self.title(&test)?, None);
        }
        let kind = kind_of(child(tree, Rule::kind)?.as_str())?;
        item(kind, self.name_in(tree, Rule::dotted)?, None)
    }

    fn declaration(&mut self, modifier: Modifier, tree: &Tree) -> Option<Item> {
        let nameless = Name { text: Sym::new(""), span: Span::default() };
        let first_name = self.name_in(tree, Rule::name);
        let (kind, name, data) = match tree.as_rule() {
            Rule::set_item => (Kind::Set, first_name?, self.set_item(tree)?),
            Rule::table_item => (Kind::Table, first_name?, self.table(tree)?),
            Rule::attr_item => (Kind::Attr, self.name_in(tree, Rule::dotted)?, self.attr(tree)?),
            Rule::note_item => (Kind::Note, first_name?, self.note(tree)?),
            Rule::option_item => (Kind::Option, self.name_in(tree, Rule::dotted)?, self.option(tree)?),
            Rule::enum_item => (Kind::Enum, first_name?, ItemData::Enum { variants: self.name_set(tree) }),
            Rule::fn_item => (Kind::Fn, first_name?, self.function(tree)?),
            Rule::walk_item => (Kind::Walk, first_name?, self.walk(tree)?),
            Rule::symbols_item => {
                let param = self.one_param(tree)?;
                (Kind::Symbols, first_name?, ItemData::Symbols { param, body: self.body_in(tree)? })
            }
            Rule::attribute_item => (Kind::Attribute, first_name?, self.attribute(tree)?),
            Rule::never_item => {
                (Kind::Never, nameless, ItemData::Never { left: first_name?, right: self.marks(tree)? })
            }
            Rule::always_item => {
                let because = self.clause(tree, Rule::because)?;
                let data = ItemData::Always { left: first_name?, right: self.marks(tree)?, because };
                (Kind::Always, nameless, data)
            }
            Rule::default_item => {
                let target = self.expr_in(tree, Rule::simple)?;
                (Kind::DefaultAlways, nameless, ItemData::DefaultAlways { target })
            }
            Rule::skip_item => {
                let when = self.expr_in(&child(tree, Rule::when)?, Rule::simple)?;
                let because = self.clause(tree, Rule::because)?;
                (Kind::Skip, first_name?, ItemData::Skip { when, because })
            }
            Rule::checker_item => (Kind::Checker, first_name?, ItemData::Checker(self.checker(tree)?)),
            Rule::matrix_item => (Kind::Matrix, first_name?, self.matrix(tree)?),
            Rule::chain_item => (Kind::Chain, first_name?, self.chain(tree)?),
            Rule::steps_item => {
                let params = self.params(tree)?;
                (Kind::Steps, first_name?, ItemData::Steps { params, steps: self.chain_steps(tree)? })
            }
            Rule::action_item => {
                let params = self.params(tree)?;
                let result = match child(tree, Rule::result) {
                    Some(result) => Some(self.ty(&child(&result, Rule::ty)?)?),
                    None => None,
                };
                (Kind::Action, first_name?, ItemData::Action { params, result, body: self.body_in(tree)? })
            }
            Rule::pass_item => {
                let subject = self.optional_subject(tree)?;
                let repeats = has(tree, Rule::repeat);
                (Kind::Pass, first_name?, ItemData::Pass { subject, repeats, body: self.body_in(tree)? })
            }
            Rule::lint_item => (Kind::Lint, first_name?, self.lint(tree)?),
            Rule::order_item => (Kind::Order, first_name?, self.order(tree)?),
            Rule::pipeline_item => (Kind::Pipeline, first_name?, self.pipeline(tree)?),
            Rule::measure_item => (Kind::Measure, first_name?, self.measure(tree)?),
            Rule::test_item => (Kind::Test, self.title(tree)?, ItemData::Test(self.test(tree)?)),
            _ => return None,
        };
        Some(Item { modifier, kind, name, doc: None, data })
    }

    /// A quoted name.
    fn title(&mut self, tree: &Tree) -> Option<Name> {
        let string = child(tree, Rule::string)?;
        Some(Name { text: Sym::new(&self.string(&string)), span: self.span(&string) })
    }

    fn set_item(&mut self, tree: &Tree) -> Option<ItemData> {
        let within = child(tree, Rule::within).and_then(|within| self.name_in(&within, Rule::name));
        let mut terms = Vec::new();
        for term in children(tree, Rule::set_term) {
            terms.push(match child(&term, Rule::elements) {
                Some(elements) => {
                    let all: Vec<Option<Expr>> =
                        children(&elements, Rule::literal).map(|literal| self.literal(&literal)).collect();
                    SetTerm::Literal(all.into_iter().collect::<Option<_>>()?)
                }
                None => SetTerm::Named(self.name_in(&term, Rule::name)?),
            });
        }
        Some(ItemData::Set { within, terms })
    }

    fn literal(&mut self, tree: &Tree) -> Option<Expr> {
        let span = self.span(tree);
        let negative = has(tree, Rule::minus);
        let value = tree.clone().into_inner().find(|part| part.as_rule() != Rule::minus)?;
        let kind = match value.as_rule() {
            Rule::int => ExprKind::Int(self.integer(&value, negative)),
            Rule::float => {
                let size = self.float(&value);
                ExprKind::Float(if negative { -size } else { size })
            }
            Rule::string => ExprKind::Str(self.string(&value)),
            _ => ExprKind::Name(Sym::new(value.as_str())),
        };
        Some(expr(span, kind))
    }

    fn table(&mut self, tree: &Tree) -> Option<ItemData> {
        let [key, value] = <[Tree; 2]>::try_from(children(tree, Rule::ty).collect::<Vec<_>>()).ok()?;
        let rows: Vec<Option<(Expr, Expr)>> = children(tree, Rule::row)
            .map(|row| self.literal(&child(&row, Rule::literal)?).zip(self.expr_in(&row, Rule::expr)))
            .collect();
        Some(ItemData::Table {
            key: self.ty(&key)?,
            value: self.ty(&value)?,
            rows: rows.into_iter().collect::<Option<_>>()?,
        })
    }

    fn attr(&mut self, tree: &Tree) -> Option<ItemData> {
        let ty = self.ty(&child(tree, Rule::ty)?)?;
        let ty = self.attr_type(&ty)?;
        let aliases = child(tree, Rule::aliases).map(|inner| self.names_in(&inner, Rule::dotted));
        Some(ItemData::Attr { ty, places: self.places(tree), aliases: aliases.unwrap_or_default() })
    }

    fn note(&mut self, tree: &Tree) -> Option<ItemData> {
        let ty = self.ty(&child(tree, Rule::ty)?)?;
        Some(ItemData::Note { ty, places: self.places(tree) })
    }

    /// What stands behind `on`.
    fn places(&mut self, tree: &Tree) -> Vec<(AttrPlace, Span)> {
        let places = children(tree, Rule::place).map(|place| {
            let kind = match place.as_str() {
                "node" => AttrPlace::Node,
                "graph" => AttrPlace::Graph,
                "input" => AttrPlace::Input,
                _ => AttrPlace::Output,
            };
            (kind, self.span(&place))
        });
        places.collect()
    }

    fn attr_type(&mut self, ty: &Type) -> Option<AttrType> {
        let known = match &ty.kind {
            TypeKind::Named(name) => match name.as_str() {
                "bool" => Some(AttrType::Bool),
                "int" => Some(AttrType::Int),
                "float" => Some(AttrType::Float),
                "str" => Some(AttrType::Str),
                "any" => Some(AttrType::Any),
                _ => None,
            },
            TypeKind::List(element) => match &element.kind {
                TypeKind::Named(name) => match name.as_str() {
                    "bool" => Some(AttrType::ListBool),
                    "int" => Some(AttrType::ListInt),
                    "float" => Some(AttrType::ListFloat),
                    "str" => Some(AttrType::ListStr),
                    _ => None,
                },
                TypeKind::List(inner) if matches!(&inner.kind, TypeKind::Named(name) if name.as_str() == "int") => {
                    Some(AttrType::ListListInt)
                }
                _ => None,
            },
            TypeKind::Optional(inner) => {
                let optional = matches!(&inner.kind, TypeKind::Named(name) if name.as_str() == "bool");
                optional.then_some(AttrType::OptBool)
            }
        };
        if known.is_none() {
            self.error("syntax::type", ty.span, "this is no type of a graph attribute").help = Some(
                "the types are `bool`, `bool?`, `int`, `float`, `str`, lists of these, `list<list<int>>` and `any`"
                    .to_owned(),
            );
        }
        known
    }

    fn option(&mut self, tree: &Tree) -> Option<ItemData> {
        let written = child(tree, Rule::option_type)?;
        let ty = match child(&written, Rule::ty) {
            Some(ty) => {
                let ty = self.ty(&ty)?;
                self.option_type(&ty)?
            }
            None => OptionType::Variants(self.name_set(&written)),
        };
        let default = match child(tree, Rule::initial) {
            Some(initial) => Some(self.expr_in(&initial, Rule::expr)?),
            None => None,
        };
        Some(ItemData::Option { ty, default, from_env: has(tree, Rule::from_env) })
    }

    fn option_type(&mut self, ty: &Type) -> Option<OptionType> {
        let known = match &ty.kind {
            TypeKind::Named(name) => match name.as_str() {
                "bool" => Some(OptionType::Bool),
                "int" => Some(OptionType::Int),
                "str" => Some(OptionType::Str),
                _ => None,
            },
            TypeKind::List(element) => match &element.kind {
                TypeKind::Named(name) if *name == "int" => Some(OptionType::ListInt),
                TypeKind::Named(name) if *name == "str" => Some(OptionType::ListStr),
                _ => None,
            },
            TypeKind::Optional(_) => None,
        };
        if known.is_none() {
            self.error("syntax::type", ty.span, "this is no type of an option").help = Some(
                "the types are `bool`, `int`, `str`, `list<int>`, `list<str>`, or `{ a, b }`".to_owned(),
            );
        }
        known
    }

    /// The names of `{ A, B }`.
    fn name_set(&self, tree: &Tree) -> Vec<Name> {
        child(tree, Rule::name_set)
            .and_then(|set| child(&set, Rule::names))
            .map(|names| self.names_in(&names, Rule::name))
            .unwrap_or_default()
    }

    fn params(&self, tree: &Tree) -> Option<Vec<Param>> {
        children(&child(tree, Rule::params)?, Rule::param).map(|param| self.param(&param)).collect()
    }

    fn one_param(&self, tree: &Tree) -> Option<Param> {
        self.param(&child(&child(tree, Rule::one_param)?, Rule::param)?)
    }

    fn function(&mut self, tree: &Tree) -> Option<ItemData> {
        let params = self.params(tree)?;
        let result = self.ty(&child(tree, Rule::ty)?)?;
        Some(ItemData::Fn { params, result, body: self.expr_in(tree, Rule::expr)? })
    }

    fn walk(&mut self, tree: &Tree) -> Option<ItemData> {
        let param = self.one_param(tree)?;
        let result = self.ty(&child(tree, Rule::ty)?)?;
        let steps: Vec<Option<WalkStep>> = children(tree, Rule::step).map(|step| self.step(&step)).collect();
        Some(ItemData::Walk { param, result, steps: steps.into_iter().collect::<Option<_>>()? })
    }

    fn step(&mut self, tree: &Tree) -> Option<WalkStep> {
        let binder = self.name_in(tree, Rule::name)?;
        let condition = self.condition(tree)?;
        let next = match child(tree, Rule::step_stop) {
            Some(_) => None,
            None => Some(self.expr_in(tree, Rule::expr)?),
        };
        Some(WalkStep { binder, condition, next, span: self.span(tree) })
    }

    fn attribute(&mut self, tree: &Tree) -> Option<ItemData> {
        let side = match child(tree, Rule::side)?.as_str() {
            "input" => Side::Input,
            _ => Side::Output,
        };
        let rule = match self.condition(tree)? {
            Some(condition) => AttributeRule::Where(condition),
            None => AttributeRule::Otherwise,
        };
        Some(ItemData::Attribute { side, rule, doc: self.doc_clause(tree) })
    }

    fn doc_clause(&mut self, tree: &Tree) -> Option<String> {
        let string = child(&child(tree, Rule::doc)?, Rule::string)?;
        Some(self.string(&string))
    }

    /// The marks behind `with`; none for `any`.
    fn marks(&mut self, tree: &Tree) -> Option<Vec<Name>> {
        let marks: Vec<Tree> = children(&child(tree, Rule::marks)?, Rule::mark).collect();
        let any = marks.iter().find(|mark| mark.as_str() == "any");
        match any {
            Some(any) if marks.len() > 1 => {
                let span = self.span(any);
                self.error("syntax::marks", span, "`any` stands for every attribute, so it stands alone");
                None
            }
            Some(_) => Some(Vec::new()),
            None => Some(marks.iter().map(|mark| self.name(mark)).collect()),
        }
    }

    fn checker(&mut self, tree: &Tree) -> Option<Checker> {
        let form = self.checker_form(tree)?;
        let clauses: Vec<Tree> = children(tree, Rule::clause).filter_map(|clause| only(&clause)).collect();
        self.no_clause_twice(&clauses);
        let clause = |rule| clauses.iter().find(|clause| clause.as_rule() == rule);
        let level = clause(Rule::level).and_then(only_word).map(|word| self.name(&word));
        let doc = clause(Rule::doc).and_then(|doc| child(doc, Rule::string)).map(|doc| self.string(&doc));
        let when = match clause(Rule::when) {
            Some(when) => Some(self.expr_in(when, Rule::simple)?),
            None => None,
        };
        let because = match clause(Rule::because) {
            Some(because) => Some(self.text(&child(because, Rule::text)?)?),
            None => None,
        };
        let help = match clause(Rule::help) {
            Some(help) => Some(self.text(&child(help, Rule::text)?)?),
            None => None,
        };
        let action = match (clause(Rule::isolate), child(tree, Rule::body)) {
            (Some(isolate), None) => {
                let (position, target) = self.isolate(isolate)?;
                CheckerAction::Isolate { position, target }
            }
            (None, Some(body)) => CheckerAction::Body(self.body(&body)?),
            (Some(isolate), Some(_)) => {
                let span = self.span(isolate);
                self.error("syntax::checker", span, "a checker has either `isolate` or a body, not both");
                return None;
            }
            (None, None) => {
                let span = self.name_in(tree, Rule::name)?.span;
                let name = child(tree, Rule::name)?;
                let message = format!("checker `{}` does nothing", name.as_str());
                self.error("syntax::checker", span, message).help =
                    Some("add `isolate X`, or a body `{ … }`".to_owned());
                return None;
            }
        };
        Some(Checker { form, level, doc, when, action, because, help })
    }

    fn checker_form(&mut self, tree: &Tree) -> Option<CheckerForm> {
        if let Some(over) = child(tree, Rule::over) {
            let sides: Vec<Vec<Name>> =
                children(&over, Rule::mark_side).map(|side| self.names_in(&side, Rule::name)).collect();
            let [first, second] = <[Vec<Name>; 2]>::try_from(sides).ok()?;
            return Some(CheckerForm::Group { first, second });
        }
        let pair = child(tree, Rule::pair)?;
        let roles: Vec<Role> = children(&pair, Rule::role)
            .filter_map(|role| {
                let mut names = self.names_in(&role, Rule::name).into_iter();
                Some(Role { name: names.next()?, marks: names.collect() })
            })
            .collect();
        let [first, second] = <[Role; 2]>::try_from(roles).ok()?;
        Some(CheckerForm::Pair { last: has(&pair, Rule::kw_last), first, second })
    }

    fn no_clause_twice(&mut self, clauses: &[Tree]) {
        for (at, clause) in clauses.iter().enumerate() {
            let Some(first) = clauses[..at].iter().find(|other| other.as_rule() == clause.as_rule()) else {
                continue;
            };
            let word = clause.as_str().split_whitespace().next().unwrap_or("");
            let keyword = |span: Span| Span { start: span.start, end: span.start + word.len() as u32 };
            let (here, there) = (keyword(self.span(clause)), keyword(self.span(first)));
            let error = self.error("syntax::twice", here, format!("`{word}` is given twice"));
            *error = error.clone().also(there, "first here");
        }
    }

    fn matrix(&mut self, tree: &Tree) -> Option<ItemData> {
        let params: Option<Vec<Param>> =
            children(tree, Rule::param).map(|param| self.param(&param)).collect();
        let [rows, columns] = <[Param; 2]>::try_from(params?).ok()?;
        let written = child(tree, Rule::matrix_result)?;
        let result = match self.name_in(&written, Rule::name) {
            Some(name) => MatrixResult::Named(name),
            None => MatrixResult::Variants(self.name_set(&written)),
        };
        let header = self.names_in(&child(tree, Rule::header)?, Rule::name);
        let mut cells = Vec::new();
        for row in children(tree, Rule::cells) {
            let mut names = self.names_in(&row, Rule::name).into_iter();
            let name = names.next()?;
            let values: Vec<Name> = names.collect();
            if values.len() != header.len() {
                let cells = match values.len() {
                    1 => "1 cell".to_owned(),
                    count => format!("{count} cells"),
                };
                let message = format!("row `{}` has {cells}, the header has {}", name.text, header.len());
                let columns: Vec<String> = header.iter().map(|column| format!("`{}`", column.text)).collect();
                let help =
                    format!("after its name, a row has one cell for each column: {}", columns.join(", "));
                let error = self.error("syntax::matrix", name.span, message);
                *error = error.clone().help(help);
            }
            cells.push((name, values));
        }
        Some(ItemData::Matrix { rows, columns, result, header, cells })
    }

    fn subject(&mut self, tree: &Tree) -> Option<Subject> {
        let param = self.param(&child(tree, Rule::param)?)?;
        let list = match child(tree, Rule::in_list) {
            Some(list) => Some(self.expr_in(&list, Rule::simple)?),
            None => None,
        };
        Some(Subject { param, list, condition: self.condition(tree)? })
    }

    fn optional_subject(&mut self, tree: &Tree) -> Option<Option<Subject>> {
        match child(tree, Rule::subject) {
            Some(subject) => self.subject(&subject).map(Some),
            None => Some(None),
        }
    }

    fn chain(&mut self, tree: &Tree) -> Option<ItemData> {
        let subject = self.subject(&child(tree, Rule::subject)?)?;
        let steps = self.chain_steps(tree)?;
        let then = match child(tree, Rule::chain_then) {
            Some(then) => Some(self.body_in(&then)?),
            None => None,
        };
        Some(ItemData::Chain { subject, steps, then })
    }

    /// The steps among the children of a chain, of `steps`, or of a loop over steps.
    fn chain_steps(&mut self, tree: &Tree) -> Option<Vec<ChainStep>> {
        // Every step is read, so that each mistake is told.
        let steps: Vec<Option<ChainStep>> =
            children(tree, Rule::chain_step).map(|step| self.chain_step(&only(&step)?)).collect();
        steps.into_iter().collect()
    }

    fn chain_step(&mut self, step: &Tree) -> Option<ChainStep> {
        Some(match step.as_rule() {
            Rule::let_in => {
                let (name, value) = self.let_in(step)?;
                ChainStep::Let { name, value }
            }
            Rule::each_step => ChainStep::For {
                binder: self.name_in(step, Rule::name)?,
                list: self.expr_in(step, Rule::simple)?,
                condition: self.condition(step)?,
                steps: self.chain_steps(step)?,
            },
            Rule::use_step => {
                let used = child(step, Rule::used)?;
                let when = match child(step, Rule::when) {
                    Some(when) => Some(self.expr_in(&when, Rule::simple)?),
                    None => None,
                };
                let args = self.exprs_in(&child(&used, Rule::args)?, Rule::expr)?;
                ChainStep::Use { group: self.name_in(&used, Rule::name)?, args, when }
            }
            rule => {
                let name = self.name_in(step, Rule::dotted)?;
                let (otherwise, help) = (self.clause(step, Rule::reason)?, self.clause(step, Rule::help)?);
                let end = StepEnd { refusal: refusal(step), otherwise, help };
                match rule {
                    Rule::attempt_step => ChainStep::Attempt { name, body: self.body_in(step)?, end },
                    _ => ChainStep::Require { name, condition: self.expr_in(step, Rule::simple)?, end },
                }
            }
        })
    }

    fn lint(&mut self, tree: &Tree) -> Option<ItemData> {
        let code = *self.names_in(tree, Rule::name).get(1)?;
        let level = self.name_in(tree, Rule::lint_level)?;
        let subject = self.optional_subject(tree)?;
        Some(ItemData::Lint { code, level, subject, body: self.body_in(tree)? })
    }

    fn measure(&mut self, tree: &Tree) -> Option<ItemData> {
        let title = self.string(&child(tree, Rule::string)?);
        let unit = match child(tree, Rule::unit) {
            Some(unit) => Some(self.name_in(&unit, Rule::name)?),
            None => None,
        };
        let subject = self.subject(&child(tree, Rule::subject)?)?;
        let value = match child(tree, Rule::expr) {
            Some(_) => Some(self.expr_in(tree, Rule::expr)?),
            None => None,
        };
        Some(ItemData::Measure { title, unit, subject, value })
    }

    fn order(&mut self, tree: &Tree) -> Option<ItemData> {
        for rule in [Rule::order_mode, Rule::order_first, Rule::order_ignore] {
            let all: Vec<Tree> = children(tree, rule).collect();
            self.no_clause_twice(&all);
        }
        let Some(mode) = child(tree, Rule::order_mode) else {
            let name = self.name_in(tree, Rule::name)?;
            self.error("syntax::order", name.span, format!("order `{}` has no mode", name.text)).help =
                Some("add `mode = …`, one of `Bfs`, `Dfs`, `StableRdfs`".to_owned());
            return None;
        };
        let mode = self.expr_in(&mode, Rule::expr)?;
        let mut nodes = |rule| match child(tree, rule) {
            Some(inner) => Some(Some((self.name_in(&inner, Rule::name)?, self.condition(&inner)??))),
            None => Some(None),
        };
        let (first, ignore) = (nodes(Rule::order_first)?, nodes(Rule::order_ignore)?);
        Some(ItemData::Order { mode, first, ignore })
    }

    fn pipeline(&mut self, tree: &Tree) -> Option<ItemData> {
        let mut steps = Vec::new();
        for step in children(tree, Rule::pipe_step) {
            let when = match child(&step, Rule::when) {
                Some(when) => Some(self.expr_in(&when, Rule::simple)?),
                None => None,
            };
            let tolerant = has(&step, Rule::tolerant);
            steps.push(PipelineStep { name: self.name_in(&step, Rule::name)?, when, tolerant });
        }
        let role = match (has(tree, Rule::as_pass), has(tree, Rule::as_default)) {
            (true, _) => PipelineRole::Pass,
            (_, true) => PipelineRole::Default,
            _ => PipelineRole::Plain,
        };
        Some(ItemData::Pipeline { steps, role })
    }
}

/// The level word behind `level`.
pub fn only_word<'a>(tree: &Tree<'a>) -> Option<Tree<'a>> {
    tree.clone().into_inner().find(|word| word.as_rule() != Rule::kw_level)
}

/// The word between `else` and the text of a chain step.
fn refusal(step: &Tree) -> Refusal {
    match child(step, Rule::reason).and_then(|reason| child(&reason, Rule::refusal)) {
        Some(word) if has(&word, Rule::kw_fail) => Refusal::Fail,
        Some(_) => Refusal::Warn,
        None => Refusal::Keep,
    }
}
