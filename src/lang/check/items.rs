//! Items: what each kind provides to its expressions, in the order that [`Entry`] documents.

use super::codes;
use super::lower::Cx;
use super::members::{find_fact, side_ty};
use super::scope::keyword;
use super::sights::Meaning;
use super::types::{fits, show};
use crate::graph::Sym;
use crate::lang::diagnostic::{Level, did_you_mean, with_article};
use crate::lang::hir::{Checker, CheckerAction, CheckerForm, Entry, Subject, Ty};
use crate::lang::syntax::ast::{self, AttributeRule, ExpectKind, Item, ItemData, Kind, Modifier, Name, Side};
use crate::lang::{Diagnostic, hir};

impl Cx<'_> {
    /// Lowers the item; `None` if it declares nothing (a `remove`).
    pub fn item(&mut self, item: &Item) -> Option<Entry> {
        if item.modifier == Modifier::Remove {
            return None;
        }
        match &item.data {
            ItemData::Set { within, terms } => Some(self.set(*within, terms)),
            ItemData::Table { key, value, rows } => Some(self.table(key, value, rows)),
            ItemData::Attr { ty, places, aliases } => {
                let places = places.iter().map(|(place, _)| *place).collect();
                Some(Entry::Attr { ty: *ty, places, aliases: aliases.iter().map(|name| name.text).collect() })
            }
            ItemData::Option { ty, default, from_env } => {
                let default = self.option_default(item.name.text, ty, default.as_ref())?;
                Some(Entry::Option { ty: ty.clone(), default, from_env: *from_env })
            }
            ItemData::Enum { variants } => {
                self.unique(variants, "variant");
                Some(Entry::Enum { variants: variants.iter().map(|name| name.text).collect() })
            }
            ItemData::Fn { params, result, body } => Some(self.function(item.name, params, result, body)),
            ItemData::Walk { param, result, steps } => Some(self.walk(item.name, param, result, steps)),
            ItemData::Symbols { param, body } => {
                let ty = self.ty(&param.ty);
                if !fits(&Ty::Graph, &ty) {
                    self.mismatch(&ty, &Ty::Graph, param.ty.span);
                }
                self.bind_slot(param.name.text, Ty::Graph, None);
                self.place_last(param.name);
                let block = self.block(body);
                Some(Entry::Symbols { body: self.take_body(), block })
            }
            ItemData::Attribute { side, rule, .. } => Some(self.attribute(*side, rule)),
            ItemData::Never { left, right } => {
                let right = self.pair_names(Kind::Never, *left, right);
                Some(Entry::Never { left: left.text, right })
            }
            ItemData::Always { left, right, because } => {
                let right = self.pair_names(Kind::Always, *left, right);
                self.pair_frame();
                let reason = because.as_ref().map(|text| self.text(text));
                Some(Entry::Always { left: left.text, right, reason })
            }
            ItemData::DefaultAlways { target } => {
                self.pair_frame();
                let target = self.check(target, &Ty::Anchor);
                Some(Entry::DefaultAlways { body: self.take_body(), target })
            }
            ItemData::Skip { when, because } => {
                self.pair_frame();
                let when = self.check(when, &Ty::Bool);
                let reason = because.as_ref().map(|text| self.text(text));
                Some(Entry::Skip { body: self.take_body(), when, reason })
            }
            ItemData::Checker(checker) => Some(self.checker(checker)),
            ItemData::Matrix { rows, columns, result, header, cells } => {
                self.matrix(item.name, rows, columns, result, header, cells)
            }
            ItemData::Chain { subject, steps, then } => Some(self.chain(subject, steps, then.as_ref())),
            ItemData::Steps { params, steps } => Some(self.steps_item(params, steps)),
            ItemData::Action { params, result, body } => Some(self.action(params, result.as_ref(), body)),
            ItemData::Pass { subject, repeats, body } => {
                let (subject, block) = self.graph_body(subject.as_ref(), body);
                Some(Entry::Pass { subject, repeats: *repeats, body: self.take_body(), block })
            }
            ItemData::Lint { code, level, subject, body } => {
                self.level(Some(*level));
                let (subject, block) = self.graph_body(subject.as_ref(), body);
                let body = self.take_body();
                Some(Entry::Lint { code: code.text, level: level.text, subject, body, block })
            }
            ItemData::Order { mode, first, ignore } => {
                self.provide("root", Ty::Graph);
                let mode = self.check(mode, &Ty::Enum(Sym::new("SortMode")));
                let first = first.as_ref().map(|part| self.order_part(part));
                let ignore = ignore.as_ref().map(|part| self.order_part(part));
                Some(Entry::Order { body: self.take_body(), mode, first, ignore })
            }
            ItemData::Measure { subject, value, .. } => {
                let subject = self.subject(subject);
                let value = value.as_ref().map(|value| self.check(value, &Ty::Int.optional()));
                Some(Entry::Measure { body: self.take_body(), subject, value })
            }
            ItemData::Note { ty, places } => {
                let ty = self.ty(ty);
                Some(Entry::Note { ty, places: places.iter().map(|(place, _)| *place).collect() })
            }
            ItemData::Pipeline { steps, role } => Some(self.pipeline(steps, *role)),
            ItemData::Test(test) => Some(self.test(test)),
            ItemData::Removed { .. } => None,
        }
    }

    pub fn take_body(&mut self) -> hir::Body {
        let mut body = std::mem::take(&mut self.body);
        body.locals = body.locals.max(self.next);
        // A text runs in a copy of the frame.
        for text in &mut self.out.texts {
            text.body.locals = text.body.locals.max(body.locals);
        }
        body
    }

    /// {first, second, group, target}
    fn pair_frame(&mut self) {
        self.provide("first", Ty::Anchor);
        self.provide("second", Ty::Anchor);
        self.provide("group", Ty::Group);
        self.provide("target", Ty::Graph);
    }

    fn function(&mut self, name: Name, params: &[ast::Param], result: &ast::Type, body: &ast::Expr) -> Entry {
        self.params(params);
        if let Some(first) = self.env.first().map(|binding| binding.ty.clone())
            && first != Ty::Error
            && let Some(info) = find_fact(&first, name.text)
            && info.params.len() + 1 == params.len()
        {
            let message = format!("`{}` already has the fact `{}`", show(&first), name.text);
            self.report(Diagnostic::error(codes::SHADOWS_FACT, name.span, message));
        }
        let result = self.ty(result);
        let value = self.check(body, &result);
        self.leave(0);
        Entry::Fn { body: self.take_body(), value, params: params.len() as u32, result }
    }

    /// Notes where the last name in sight is declared; it need not be used.
    fn place_last(&mut self, name: Name) {
        let Some(binding) = self.env.last_mut() else { return };
        binding.at = Some(name.span);
        let ty = binding.ty.clone();
        self.see_declared(name.span, || Meaning::Local { name: name.text, declared: Some(name.span), ty });
    }

    pub fn params(&mut self, params: &[ast::Param]) {
        for param in params {
            let ty = self.ty(&param.ty);
            self.declare(param.name, ty, "parameter");
        }
    }

    fn walk(&mut self, name: Name, param: &ast::Param, result: &ast::Type, steps: &[ast::WalkStep]) -> Entry {
        let place = self.ty(&param.ty);
        let result_ty = self.ty(result);
        let lists = matches!(result_ty, Ty::List(_));
        let end = match &result_ty {
            Ty::List(element) => element,
            other => other,
        };
        if !matches!(place, Ty::Node | Ty::Input | Ty::Output | Ty::Anchor | Ty::Graph | Ty::Error) {
            let message = format!("a walk goes over nodes, anchors or graphs, not over `{}`", show(&place));
            self.report(Diagnostic::error(codes::WALK_TYPE, param.ty.span, message));
        } else if *end != place && *end != Ty::Error && place != Ty::Error {
            let message = format!(
                "`{}` starts at {} and gives `{}`",
                name.text,
                with_article(&show(&place)),
                show(end)
            );
            let error = Diagnostic::error(codes::WALK_TYPE, result.span, message);
            self.report(error.help(format!("write `-> {0}` or `-> list<{0}>`", show(&place))));
        }
        let want = if lists { Ty::list(place.clone()) } else { place.clone().optional() };
        let mut lowered = Vec::with_capacity(steps.len());
        self.next = 1;
        for step in steps {
            self.env.push(super::lower::Binding {
                name: step.binder.text,
                slot: 0,
                ty: place.clone(),
                at: None,
                declared: None,
                used: false,
            });
            self.place_last(step.binder);
            let condition = step.condition.as_ref().map(|condition| self.check(condition, &Ty::Bool));
            let saved = step.condition.as_ref().map(|c| self.narrow(&super::narrow::known_some(c, true)));
            let next = step.next.as_ref().map(|next| self.check(next, &want));
            self.widen(saved.unwrap_or_default());
            self.leave(0);
            lowered.push((condition, next));
        }
        if let Some(at) = steps.iter().position(|step| step.condition.is_none())
            && let Some(dead) = steps.get(at + 1)
        {
            let message = "the step before this one holds everywhere";
            self.report(Diagnostic::warning(codes::UNREACHABLE, dead.span, message));
        }
        Entry::Walk { body: self.take_body(), steps: lowered, lists }
    }

    fn attribute(&mut self, side: Side, rule: &AttributeRule) -> Entry {
        let AttributeRule::Where(condition) = rule else { return Entry::Attribute { side, rule: None } };
        self.provide("anchor", side_ty(side));
        self.provide("node", Ty::Node);
        self.provide("graph", Ty::Graph);
        self.provide("target", Ty::Graph);
        self.provide("group", Ty::Group);
        let condition = self.check(condition, &Ty::Bool);
        Entry::Attribute { side, rule: Some((self.take_body(), condition)) }
    }

    /// The marks of a `never` or `always`; those that an overlay removed are left out.
    fn pair_names(&mut self, kind: Kind, left: Name, right: &[Name]) -> Vec<Sym> {
        self.mark(left);
        let mut marks = Vec::with_capacity(right.len());
        for name in right {
            if self.mark(*name) && !self.scope.dropped.contains(&(kind, left.text, name.text)) {
                marks.push(name.text);
            }
        }
        marks
    }

    /// `error`, `warn` or `note`.
    pub(super) fn level(&mut self, name: Option<Name>) -> Level {
        let Some(name) = name else { return Level::Error };
        match name.text.as_str() {
            "error" => Level::Error,
            "warn" => Level::Warning,
            "note" => Level::Note,
            _ => {
                let message = format!("`{}` is no level", name.text);
                let error = Diagnostic::error(codes::UNKNOWN_NAME, name.span, message);
                self.report(error.help("levels are `error`, `warn` and `note`"));
                Level::Error
            }
        }
    }

    /// The type of a role: the side of its marks, where they all have one.
    fn role_ty(&self, role: &ast::Role) -> Ty {
        let mut sides = role.marks.iter().map(|mark| self.scope.mark(mark.text).map(|sig| sig.side));
        match sides.next() {
            Some(Some(side)) if sides.all(|other| other == Some(side)) => side_ty(side),
            _ => Ty::Anchor,
        }
    }

    fn checker(&mut self, checker: &ast::Checker) -> Entry {
        let level = self.level(checker.level);
        let form = match &checker.form {
            ast::CheckerForm::Pair { last, first, second } => {
                let marks = (self.marks(&first.marks), self.marks(&second.marks));
                self.pair_frame();
                let first_ty = self.role_ty(first);
                // Which anchor the second role is follows from the first; if that may be of either side, so may this.
                let other_ty = self.role_ty(second);
                // Of an input and an output only one can bear the marks of the first role, whichever is asked first.
                let apart = first_ty != other_ty && first_ty != Ty::Anchor && other_ty != Ty::Anchor;
                let second_ty = if first_ty == Ty::Anchor { Ty::Anchor } else { other_ty };
                for (role, ty) in [(first, first_ty), (second, second_ty)] {
                    self.declare(role.name, ty, "role");
                    if let Some(binding) = self.env.last_mut() {
                        // A role says when the checker runs, also if nothing asks for its anchor.
                        binding.used = true;
                    }
                }
                CheckerForm::Pair { last: *last && !apart, first: marks.0, second: marks.1 }
            }
            ast::CheckerForm::Group { first, second } => {
                self.provide("group", Ty::Group);
                self.provide("target", Ty::Graph);
                CheckerForm::Group { first: self.marks(first), second: self.marks(second) }
            }
        };
        let when = checker.when.as_ref().map(|when| self.check(when, &Ty::Bool));
        if let Some(when) = &checker.when {
            self.narrow(&super::narrow::known_some(when, true));
        }
        let reason = checker.because.as_ref().map(|text| self.text(text));
        let help = checker.help.as_ref().map(|text| self.text(text));
        self.reason = reason;
        let action = match &checker.action {
            ast::CheckerAction::Isolate { position, target } => {
                let target = self.isolate_target(*position, target);
                CheckerAction::Isolate { position: *position, target, reason }
            }
            ast::CheckerAction::Body(block) => CheckerAction::Body(self.block(block)),
        };
        Entry::Checker(Box::new(Checker { form, level, body: self.take_body(), when, action, help }))
    }

    fn marks(&mut self, names: &[Name]) -> Vec<Sym> {
        names.iter().filter(|name| self.mark(**name)).map(|name| name.text).collect()
    }

    /// {root, subject}: a list sees `root` alone, the condition both.
    pub fn subject(&mut self, subject: &ast::Subject) -> Subject {
        self.provide("root", Ty::Graph);
        let ty = self.ty(&subject.param.ty);
        let mark = self.env.len();
        // The subject has slot 1, so what the list declares comes after it.
        self.next = 2;
        let list = subject.list.as_ref().map(|list| self.check(list, &Ty::list(ty.clone())));
        self.leave(mark);
        if list.is_none() && !fits(&ty, &Ty::Node) {
            let message = format!("every node is visited, and {} is asked for", with_article(&show(&ty)));
            let error = Diagnostic::error(codes::TYPE_MISMATCH, subject.param.ty.span, message);
            self.report(error.help("write `in LIST` after the type, or make it a `Node`"));
        }
        let next = std::mem::replace(&mut self.next, 1);
        self.declare(subject.param.name, ty, "parameter");
        self.next = next;
        let condition = subject.condition.as_ref().map(|condition| self.check(condition, &Ty::Bool));
        if let Some(condition) = &subject.condition {
            self.narrow(&super::narrow::known_some(condition, true));
        }
        Subject { list, condition }
    }

    fn graph_body(
        &mut self,
        subject: Option<&ast::Subject>,
        body: &ast::Block,
    ) -> (Option<Subject>, hir::Block) {
        let subject = match subject {
            Some(subject) => Some(self.subject(subject)),
            None => {
                self.provide("root", Ty::Graph);
                None
            }
        };
        let block = self.block(body);
        (subject, block)
    }

    fn action(&mut self, params: &[ast::Param], result: Option<&ast::Type>, body: &ast::Block) -> Entry {
        self.params(params);
        self.gives = result.map(|result| self.ty(result));
        let block = self.block(body);
        if let Some(result) = result
            && !super::statements::gives(body)
        {
            let message = "this action may end without giving a value";
            let error = Diagnostic::error(codes::NO_GIVE, result.span, message);
            self.report(error.help("end every way through it with `give` or `fail`"));
        }
        let params = params.len() as u32;
        Entry::Action { body: self.take_body(), params, gives: self.gives.take(), block }
    }

    /// `first n where …`: {root, n}
    fn order_part(&mut self, (binder, condition): &(Name, ast::Expr)) -> hir::ExprId {
        let mark = self.env.len();
        let next = self.next.max(2);
        self.next = 1;
        self.declare(*binder, Ty::Node, "name");
        self.next = next;
        let condition = self.check(condition, &Ty::Bool);
        self.leave(mark);
        condition
    }

    fn pipeline(&mut self, steps: &[ast::PipelineStep], role: ast::PipelineRole) -> Entry {
        let lowered = steps.iter().map(|step| {
            self.step(step.name);
            let when = step.when.as_ref().map(|condition| self.check(condition, &Ty::Bool));
            hir::PipelineStep { name: step.name.text, when, tolerant: step.tolerant }
        });
        let steps = lowered.collect();
        Entry::Pipeline { body: self.take_body(), steps, role }
    }

    /// What can be run: a pass, a chain, a lint, an order, a pipeline; the word `lint` is all lints.
    fn step(&mut self, name: Name) {
        const STEPS: [Kind; 5] = [Kind::Pass, Kind::Chain, Kind::Lint, Kind::Order, Kind::Pipeline];
        match STEPS.into_iter().find(|kind| self.scope.has(*kind, name.text)) {
            Some(kind) => {
                self.uses(kind, name.text);
                self.see(name.span, || Meaning::Entry(kind, name.text));
            }
            None if name.text == keyword(Kind::Lint) => {}
            None => {
                let error = self.scope.unknown(name.text, name.span, &STEPS);
                self.report(error);
            }
        }
    }

    fn test(&mut self, test: &ast::Test) -> Entry {
        for name in &test.passes {
            self.step(*name);
        }
        for (name, value) in &test.options {
            if self.item_name(*name, Kind::Option) {
                let ty = self.scope.options.get(&name.text).cloned().unwrap_or(Ty::Error);
                self.option_value(value, &ty);
            }
        }
        self.provide("root", Ty::Graph);
        let mut that = Vec::new();
        for expect in &test.expects {
            match &expect.kind {
                ExpectKind::That(condition) => that.push(self.check(condition, &Ty::Bool)),
                ExpectKind::Insert { by: Some(by), .. } => {
                    const RULES: [Kind; 4] = [Kind::Checker, Kind::Pass, Kind::Chain, Kind::Action];
                    // An `always` has no name; its insertions are by `always`.
                    match RULES.into_iter().find(|kind| self.scope.has(*kind, by.text)) {
                        Some(kind) => {
                            self.uses(kind, by.text);
                            self.see(by.span, || Meaning::Entry(kind, by.text));
                        }
                        None if by.text == keyword(Kind::Always) => {}
                        None => {
                            let error = self.scope.unknown(by.text, by.span, &RULES);
                            self.report(error);
                        }
                    }
                }
                ExpectKind::Warn { code, .. } if !self.scope.lint_codes.contains(&code.text) => {
                    const TELLERS: [Kind; 6] =
                        [Kind::Pass, Kind::Chain, Kind::Checker, Kind::Action, Kind::Pipeline, Kind::Lint];
                    if let Some(kind) = TELLERS.into_iter().find(|kind| self.scope.has(*kind, code.text)) {
                        self.see(code.span, || Meaning::Entry(kind, code.text));
                        continue;
                    }
                    let message = format!("no lint has the code `{}`", code.text);
                    let error = Diagnostic::error(codes::UNKNOWN_NAME, code.span, message);
                    let codes = self.scope.lint_codes.iter().map(|code| code.as_str());
                    self.report(match did_you_mean(code.text.as_str(), codes) {
                        Some(near) => error.help(format!("did you mean `{near}`?")),
                        None => error,
                    });
                }
                ExpectKind::Measure { name, .. } => {
                    self.item_name(*name, Kind::Measure);
                }
                ExpectKind::Kept { step: Some(step), .. } if !self.scope.steps.contains(&step.text) => {
                    let message = format!("no chain has a step `{}`", step.text);
                    let error = Diagnostic::error(codes::UNKNOWN_NAME, step.span, message);
                    let steps = self.scope.steps.iter().map(|known| known.as_str());
                    let near = did_you_mean(step.text.as_str(), steps);
                    let near = near.map(|near| format!("did you mean `{near}`?"));
                    self.report(match near {
                        Some(near) => error.help(near),
                        None => error,
                    });
                }
                ExpectKind::Kept { step: Some(step), .. } => {
                    self.see(step.span, || Meaning::Step(step.text));
                }
                _ => {}
            }
        }
        Entry::Test { body: self.take_body(), that }
    }
}
