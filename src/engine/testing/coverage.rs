//! Which entries, and which of their branches, evaluation has reached.
//!
//! A branch is: a condition (`when`, `where`, `if`, `require`, a step of a walk or pipeline) that holds, the same that
//! does not; a case of `first` or an arm of `match` that is taken; a cell of a matrix; a checker that finds a conflict, or none.

use crate::db::{self, Db, EntryName, RuleSet};
use crate::engine::Session;
use crate::engine::pairs::Class;
use crate::engine::queries::{Layer, QueryFailure, found, mark_table};
use crate::engine::session;
use crate::graph::Sym;
use crate::lang::eval::{Tally, VERDICT, cell};
use crate::lang::hir::{Body, ChainStep, CheckerAction, Entry, Expr, ExprId, Lowered, Statement};
use crate::lang::syntax::ast::Kind;

/// An entry, or a branch of one, and how often it was reached.
#[derive(Clone, Debug, PartialEq)]
pub struct CoverageRow {
    pub kind: Kind,
    pub name: Sym,
    pub path: String,
    pub line: u32,
    /// The branch's words in the rule; `None`: the entry itself.
    pub branch: Option<String>,
    pub reached: usize,
}

/// Kinds whose entries do something.
const COVERED: [Kind; 18] = [
    Kind::Fn,
    Kind::Walk,
    Kind::Symbols,
    Kind::Attribute,
    Kind::Never,
    Kind::Always,
    Kind::DefaultAlways,
    Kind::Skip,
    Kind::Checker,
    Kind::Matrix,
    Kind::Chain,
    Kind::Steps,
    Kind::Action,
    Kind::Pass,
    Kind::Lint,
    Kind::Order,
    Kind::Pipeline,
    Kind::Measure,
];

/// Characters of a branch's text that are shown.
const TEXT_SHOWN: usize = 80;

impl Session {
    /// Starts to count what runs of this session, and its tests, reach.
    pub fn start_coverage(&mut self) {
        self.db.start_tally();
    }

    /// What has been reached since [`Session::start_coverage`], in order of file and place; nothing before it.
    pub fn coverage(&self) -> Vec<CoverageRow> {
        let Some(tally) = self.db.tally() else { return Vec::new() };
        let mut rows = Vec::new();
        for &(kind, name, key) in &db::live(&self.db, self.rules).items {
            if !COVERED.contains(&kind) {
                continue;
            }
            let Some(&file) = self.rules.files(&self.db).get(key.file as usize) else { continue };
            let Some(id) = db::find(&self.db, self.rules, key) else { continue };
            let parsed = db::parsed(&self.db, file);
            let Some(item) = parsed.items.get(key.index as usize) else { continue };
            let text = file.text(&self.db);
            let row = |line, branch, reached| CoverageRow {
                kind,
                name,
                path: file.path(&self.db).clone(),
                line,
                branch,
                reached,
            };
            let lowered = db::lowered(&self.db, self.rules, id);
            let entry = db::entry(&self.db, self.rules, EntryName::new(&self.db, kind, name));
            let mut branches = entry.as_deref().map(|entry| branches(entry, lowered)).unwrap_or_default();
            branches.sort_by_key(|branch| {
                lowered.spans.get(branch.condition as usize).map_or(u32::MAX, |span| span.start)
            });
            let line = session::line(text, session::keyword(&item.source));
            let decided = |expr| tally.decided((kind, name), expr);
            rows.push(row(line, None, tally.reached((kind, name))));
            if let Some(Entry::Matrix { rows: of, columns, cells, .. }) = entry.as_deref() {
                let words = |ty, variant| self.variant(ty, variant);
                for (at, cells) in (0u16..).zip(cells) {
                    for (column, _) in (0u16..).zip(cells) {
                        let branch = format!("{} | {}", words(*of, at), words(*columns, column));
                        rows.push(row(line, Some(branch), decided(cell(at, column)).held));
                    }
                }
            }
            for Branch { condition, way } in branches {
                let (words, line) = match lowered.spans.get(condition as usize) {
                    Some(span) => {
                        let words =
                            item.source.text.get(span.start as usize..span.end as usize).unwrap_or_default();
                        (short(words), session::line(text, (item.source.start + span.start) as usize))
                    }
                    None => (String::new(), line),
                };
                let outcomes = decided(condition);
                let (words, reached) = match way {
                    Way::Holds => (words, outcomes.held),
                    Way::Fails => (format!("not: {words}"), outcomes.failed),
                    Way::Case(Some(case)) => (case.as_str().to_owned(), outcomes.held),
                    Way::Case(None) => (words, outcomes.held),
                    Way::Otherwise => ("else".to_owned(), outcomes.failed),
                    Way::Conflict => ("conflict".to_owned(), outcomes.held),
                    Way::Peace => ("no conflict".to_owned(), outcomes.failed),
                };
                rows.push(row(line, Some(words), reached));
            }
        }
        rows
    }
}

impl Session {
    /// The word for a variant of an enum.
    fn variant(&self, ty: Sym, variant: u16) -> String {
        let entry = db::entry(&self.db, self.rules, EntryName::new(&self.db, Kind::Enum, ty));
        match entry.as_deref() {
            Some(Entry::Enum { variants }) => {
                variants.get(variant as usize).map_or_else(String::new, |name| name.as_str().to_owned())
            }
            _ => variant.to_string(),
        }
    }
}

/// One line of it, cut.
fn short(text: &str) -> String {
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= TEXT_SHOWN {
        return words;
    }
    words.chars().take(TEXT_SHOWN).chain(['…']).collect()
}

/// One way through an entry.
struct Branch {
    condition: ExprId,
    way: Way,
}

enum Way {
    Holds,
    Fails,
    /// A case of `first`, by its name if it has one; an arm of `match`.
    Case(Option<Sym>),
    /// The `else` of a `first`: the last case did not hold.
    Otherwise,
    Conflict,
    Peace,
}

/// All branches of an entry.
fn branches(entry: &Entry, lowered: &Lowered) -> Vec<Branch> {
    let mut all = Vec::new();
    let mut both = |condition: ExprId| {
        all.push(Branch { condition, way: Way::Holds });
        all.push(Branch { condition, way: Way::Fails });
    };
    let mut body: Option<&Body> = None;
    match entry {
        Entry::Attribute { rule: Some((own, condition)), .. } => {
            body = Some(own);
            both(*condition);
        }
        Entry::Skip { body: own, when, .. } => {
            body = Some(own);
            both(*when);
        }
        Entry::Checker(checker) => {
            body = Some(&checker.body);
            checker.when.into_iter().for_each(&mut both);
            if let CheckerAction::Body(block) = &checker.action {
                conditions(block, &mut both);
            }
        }
        Entry::Chain(chain) => {
            body = Some(&chain.body);
            chain.subject.condition.into_iter().for_each(&mut both);
            requirements(&chain.steps, &mut both);
            conditions(&chain.then, &mut both);
        }
        Entry::Steps { body: own, steps, .. } => {
            body = Some(own);
            requirements(steps, &mut both);
        }
        Entry::Pass { subject, body: own, block, .. } | Entry::Lint { subject, body: own, block, .. } => {
            body = Some(own);
            subject.iter().filter_map(|subject| subject.condition).for_each(&mut both);
            conditions(block, &mut both);
        }
        Entry::Symbols { body: own, block } | Entry::Action { body: own, block, .. } => {
            body = Some(own);
            conditions(block, &mut both);
        }
        Entry::Order { body: own, first, ignore, .. } => {
            body = Some(own);
            first.iter().chain(ignore).copied().for_each(&mut both);
        }
        Entry::Pipeline { body: own, steps, .. } => {
            body = Some(own);
            steps.iter().filter_map(|step| step.when).for_each(&mut both);
        }
        Entry::Measure { body: own, subject, .. } => {
            body = Some(own);
            subject.condition.into_iter().for_each(&mut both);
        }
        Entry::Walk { body: own, steps, .. } => {
            body = Some(own);
            steps.iter().filter_map(|(condition, _)| *condition).for_each(&mut both);
        }
        Entry::Fn { body: own, .. } | Entry::DefaultAlways { body: own, .. } => body = Some(own),
        _ => {}
    }
    for (id, expr) in (0..).zip(body.map_or(&[][..], |body| &body.exprs)) {
        match expr {
            Expr::If { condition, .. } => {
                all.push(Branch { condition: *condition, way: Way::Holds });
                all.push(Branch { condition: *condition, way: Way::Fails });
            }
            Expr::First { cases, otherwise } => {
                for (number, (condition, _)) in (0u32..).zip(cases) {
                    let name = lowered.names.iter().find(|(at, case, _)| *at == id && *case == number);
                    all.push(Branch {
                        condition: *condition,
                        way: Way::Case(name.map(|(_, _, name)| *name)),
                    });
                }
                if let (Some(_), Some((last, _))) = (otherwise, cases.last()) {
                    all.push(Branch { condition: *last, way: Way::Otherwise });
                }
            }
            Expr::Match { arms, .. } => {
                // An `else` stands for several variants.
                let mut seen = rustc_hash::FxHashSet::default();
                let arms = arms.iter().filter(|arm| seen.insert(**arm));
                all.extend(arms.map(|&condition| Branch { condition, way: Way::Case(None) }));
            }
            _ => {}
        }
    }
    if let Entry::Checker(checker) = entry {
        all.push(Branch { condition: VERDICT, way: Way::Conflict });
        // Without a condition every pair conflicts.
        if checker.when.is_some() || matches!(checker.action, CheckerAction::Body(_)) {
            all.push(Branch { condition: VERDICT, way: Way::Peace });
        }
    }
    all
}

/// The conditions of the steps of a chain.
fn requirements(steps: &[ChainStep], found: &mut impl FnMut(ExprId)) {
    for step in steps {
        match step {
            ChainStep::Let { .. } => {}
            ChainStep::Require { condition, .. } => found(*condition),
            ChainStep::Attempt { body, .. } => conditions(body, found),
            ChainStep::For { steps, .. } => requirements(steps, found),
            ChainStep::Use { when, .. } => when.iter().copied().for_each(&mut *found),
        }
    }
}

/// The conditions of the `if` statements of a block.
fn conditions(block: &[Statement], found: &mut impl FnMut(ExprId)) {
    for statement in block {
        match statement {
            Statement::If { arms, otherwise } => {
                for (condition, block) in arms {
                    found(*condition);
                    conditions(block, found);
                }
                conditions(otherwise, found);
            }
            Statement::For { body, .. }
            | Statement::Resolve { body, .. }
            | Statement::Track { otherwise: Some(body), .. } => conditions(body, found),
            Statement::Sweep { condition, body, .. } => {
                condition.iter().copied().for_each(&mut *found);
                conditions(body, found);
            }
            Statement::Attempt { body, otherwise } => {
                conditions(body, found);
                conditions(otherwise, found);
            }
            _ => {}
        }
    }
}

/// Counts the `never` and `always` entries whose pairs some group holds. These run no code of their own.
pub fn count_pairs(db: &dyn Db, rules: RuleSet, layer: Layer<'_>, tally: &Tally) -> Result<(), QueryFailure> {
    let live = db::live(db, rules);
    let marks = mark_table(db, rules, layer, |_| true)?;
    let all: Vec<Sym> = live.names(Kind::Attribute).collect();
    for name in live.names(Kind::Never) {
        let entry = db::entry(db, rules, EntryName::new(db, Kind::Never, name));
        let Some(Entry::Never { left, right }) = entry.as_deref() else { continue };
        let right = if right.is_empty() { &all } else { right };
        let Some(xs) = marks.list(*left) else { continue };
        let met = right
            .iter()
            .filter_map(|other| marks.list(*other))
            .any(|ys| xs.places.iter().any(|x| ys.in_group(x.group).iter().any(|y| y.anchor != x.anchor)));
        if met {
            tally.reach((Kind::Never, name));
        }
    }
    for (class, verdicts) in found(db, rules, layer)?.iter() {
        if let Class::Always(name) = *class
            && verdicts.iter().any(|verdict| !verdict.isolated.is_empty())
        {
            tally.reach((Kind::Always, name));
        }
    }
    Ok(())
}
