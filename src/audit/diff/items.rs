//! Where two declarations of one name differ, kind by kind.

use super::align::{Aligned, align};
use super::trees::{before, blocks, exprs, optional, texts};
use super::{Notes, Weight};
use crate::lang::syntax::ast::{
    AttributeRule, ChainStep, Checker, CheckerAction, CheckerForm, Expr, Item, ItemData, MatrixResult, Name,
    Param, PipelineRole, PipelineStep, Refusal, Subject, Type, WalkStep,
};
use crate::lang::syntax::print::{attr_type, option_type, place_word};
use crate::lang::syntax::tree::{Parts, inner_steps, position_word, refusal_word, same_expr, step_parts};
use crate::lang::syntax::{print_block, print_expr, print_item, print_text, print_type};

/// Tells how `new` differs from `old`; both are of one kind. Sets are told by [`super::sets`], pairs by the table of pairs.
pub fn items(old: &Item, new: &Item, notes: &mut Notes) {
    match (&old.data, &new.data) {
        (ItemData::Table { rows: old, .. }, ItemData::Table { rows: new, .. }) => table(old, new, notes),
        (
            ItemData::Attr { ty, places, aliases },
            ItemData::Attr { ty: new_ty, places: new_places, aliases: new_aliases },
        ) => {
            said("type", attr_type(*ty), attr_type(*new_ty), notes);
            let of =
                |places: &[(_, _)]| places.iter().map(|(place, _)| place_word(*place).to_owned()).collect();
            elements("place", of(places), of(new_places), notes);
            elements("alias", words(aliases), words(new_aliases), notes);
        }
        (ItemData::Note { ty, places }, ItemData::Note { ty: new_ty, places: new_places }) => {
            types("type", ty, new_ty, notes);
            let of =
                |places: &[(_, _)]| places.iter().map(|(place, _)| place_word(*place).to_owned()).collect();
            elements("place", of(places), of(new_places), notes);
        }
        (
            ItemData::Option { ty, default, from_env },
            ItemData::Option { ty: new_ty, default: new_default, from_env: new_env },
        ) => {
            said("type", &option_type(ty), &option_type(new_ty), notes);
            optional("default", default.as_ref(), new_default.as_ref(), notes);
            if from_env != new_env {
                let word = if *new_env {
                    "is read from the environment as well"
                } else {
                    "is not read from the environment any more"
                };
                notes.push(Weight::Meaning, word.to_owned(), None, None);
            }
        }
        (ItemData::Enum { variants: old }, ItemData::Enum { variants: new }) => {
            elements("variant", words(old), words(new), notes);
        }
        (
            ItemData::Fn { params: old, result, body },
            ItemData::Fn { params: new, result: new_result, body: new_body },
        ) => {
            said("parameters", &params(old), &params(new), notes);
            types("result", result, new_result, notes);
            exprs("value", body, new_body, notes);
        }
        (
            ItemData::Walk { param, result, steps },
            ItemData::Walk { param: new_param, result: new_result, steps: new_steps },
        ) => {
            said(
                "parameter",
                &params(std::slice::from_ref(param)),
                &params(std::slice::from_ref(new_param)),
                notes,
            );
            types("result", result, new_result, notes);
            walk(steps, new_steps, notes);
        }
        (ItemData::Symbols { param, body }, ItemData::Symbols { param: new_param, body: new_body }) => {
            said(
                "parameter",
                &params(std::slice::from_ref(param)),
                &params(std::slice::from_ref(new_param)),
                notes,
            );
            blocks("body", body, new_body, notes);
        }
        (
            ItemData::Attribute { side, rule, doc },
            ItemData::Attribute { side: new_side, rule: new_rule, doc: new_doc },
        ) => {
            said("side", &format!("{side:?}").to_lowercase(), &format!("{new_side:?}").to_lowercase(), notes);
            match (rule, new_rule) {
                (AttributeRule::Where(old), AttributeRule::Where(new)) => exprs("`where`", old, new, notes),
                (AttributeRule::Otherwise, AttributeRule::Otherwise) => {}
                (old, new) => said("rule", &attribute_rule(old), &attribute_rule(new), notes),
            }
            worded("doc", doc.as_deref(), new_doc.as_deref(), notes);
        }
        (ItemData::DefaultAlways { target: old }, ItemData::DefaultAlways { target: new }) => {
            exprs("isolated anchor", old, new, notes);
        }
        (ItemData::Skip { when, because }, ItemData::Skip { when: new_when, because: new_because }) => {
            exprs("`when`", when, new_when, notes);
            texts("because", because.as_ref(), new_because.as_ref(), notes);
        }
        (ItemData::Checker(old), ItemData::Checker(new)) => checker(old, new, notes),
        (
            ItemData::Matrix { rows, columns, result, header, cells },
            ItemData::Matrix {
                rows: new_rows,
                columns: new_columns,
                result: new_result,
                header: new_header,
                cells: new_cells,
            },
        ) => {
            said(
                "parameters",
                &params(&[rows.clone(), columns.clone()]),
                &params(&[new_rows.clone(), new_columns.clone()]),
                notes,
            );
            said("result", &matrix_result(result), &matrix_result(new_result), notes);
            matrix((header, cells), (new_header, new_cells), notes);
        }
        (
            ItemData::Chain { subject: old, steps, then },
            ItemData::Chain { subject: new, steps: new_steps, then: new_then },
        ) => {
            subject(Some(old), Some(new), notes);
            chain(steps, new_steps, notes);
            let empty = Default::default();
            blocks("`then`", then.as_ref().unwrap_or(&empty), new_then.as_ref().unwrap_or(&empty), notes);
        }
        (
            ItemData::Action { params: old, result, body },
            ItemData::Action { params: new, result: new_result, body: new_body },
        ) => {
            said("parameters", &params(old), &params(new), notes);
            let of = |result: &Option<Type>| result.as_ref().map_or_else(|| "nothing".to_owned(), print_type);
            said("result", &of(result), &of(new_result), notes);
            blocks("body", body, new_body, notes);
        }
        (
            ItemData::Pass { subject: old, repeats, body },
            ItemData::Pass { subject: new, repeats: new_repeats, body: new_body },
        ) => {
            subject(old.as_ref(), new.as_ref(), notes);
            if repeats != new_repeats {
                let word = if *new_repeats { "repeats now" } else { "does not repeat any more" };
                notes.push(Weight::Meaning, word.to_owned(), None, None);
            }
            blocks("body", body, new_body, notes);
        }
        (
            ItemData::Lint { code, level, subject: old, body },
            ItemData::Lint { code: new_code, level: new_level, subject: new, body: new_body },
        ) => {
            said("code", code.text.as_str(), new_code.text.as_str(), notes);
            leveled(Some(level), Some(new_level), notes);
            subject(old.as_ref(), new.as_ref(), notes);
            blocks("body", body, new_body, notes);
        }
        (
            ItemData::Order { mode, first, ignore },
            ItemData::Order { mode: new_mode, first: new_first, ignore: new_ignore },
        ) => {
            exprs("`mode`", mode, new_mode, notes);
            for (word, old, new) in [("`first`", first, new_first), ("`ignore`", ignore, new_ignore)] {
                let of =
                    |clause: &Option<(Name, Expr)>| clause.as_ref().map(|(_, condition)| condition.clone());
                optional(word, of(old).as_ref(), of(new).as_ref(), notes);
            }
        }
        (ItemData::Pipeline { steps: old, role }, ItemData::Pipeline { steps: new, role: new_role }) => {
            if role != new_role {
                let word = match new_role {
                    PipelineRole::Plain => "is a plain row of steps now",
                    PipelineRole::Pass => "is told as one pass now",
                    PipelineRole::Default => "is what runs where no passes are named now",
                };
                notes.push(Weight::Level, word.to_owned(), None, None);
            }
            pipeline(old, new, notes);
        }
        (
            ItemData::Measure { title, unit, subject: old, value },
            ItemData::Measure { title: new_title, unit: new_unit, subject: new, value: new_value },
        ) => {
            let words = |unit: &Option<Name>| unit.map(|unit| unit.text.to_string());
            worded("title", Some(title), Some(new_title), notes);
            worded("unit", words(unit).as_deref(), words(new_unit).as_deref(), notes);
            subject(Some(old), Some(new), notes);
            optional("value", value.as_ref(), new_value.as_ref(), notes);
        }
        (ItemData::Steps { params: old, steps }, ItemData::Steps { params: new, steps: new_steps }) => {
            said("parameters", &params(old), &params(new), notes);
            chain(steps, new_steps, notes);
        }
        (ItemData::Test(_), ItemData::Test(_)) if print_item(old) != print_item(new) => {
            notes.push(Weight::Tests, "changed".to_owned(), None, None);
        }
        _ => {}
    }
}

fn words(names: &[Name]) -> Vec<String> {
    names.iter().map(|name| name.text.to_string()).collect()
}

fn params(params: &[Param]) -> String {
    params
        .iter()
        .map(|param| format!("{}: {}", param.name.text, print_type(&param.ty)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn attribute_rule(rule: &AttributeRule) -> String {
    match rule {
        AttributeRule::Where(condition) => format!("where {}", print_expr(condition)),
        AttributeRule::Otherwise => "otherwise".to_owned(),
    }
}

fn matrix_result(result: &MatrixResult) -> String {
    match result {
        MatrixResult::Named(name) => name.text.to_string(),
        MatrixResult::Variants(variants) => words(variants).join(", "),
    }
}

fn said(what: &str, old: &str, new: &str, notes: &mut Notes) {
    if old != new {
        notes.push(Weight::Meaning, format!("{what} changed"), Some(old.to_owned()), Some(new.to_owned()));
    }
}

fn types(what: &str, old: &Type, new: &Type, notes: &mut Notes) {
    said(what, &print_type(old), &print_type(new), notes);
}

fn worded(what: &str, old: Option<&str>, new: Option<&str>, notes: &mut Notes) {
    if old != new {
        let own = |text: Option<&str>| text.map(str::to_owned);
        notes.push(Weight::Wording, format!("`{what}` changed"), own(old), own(new));
    }
}

fn leveled(old: Option<&Name>, new: Option<&Name>, notes: &mut Notes) {
    // What is left out is an error.
    let word = |level: Option<&Name>| level.map_or("error", |name| name.text.as_str()).to_owned();
    if word(old) != word(new) {
        notes.push(Weight::Level, "`level` changed".to_owned(), Some(word(old)), Some(word(new)));
    }
}

/// Lists whose elements are their own names, and whose order means nothing.
pub fn elements(what: &str, old: Vec<String>, new: Vec<String>, notes: &mut Notes) {
    for gone in old.iter().filter(|element| !new.contains(element)) {
        notes.push(Weight::Meaning, format!("{what} `{gone}` dropped"), None, None);
    }
    for come in new.iter().filter(|element| !old.contains(element)) {
        notes.push(Weight::Meaning, format!("{what} `{come}` added"), None, None);
    }
}

fn table(old: &[(Expr, Expr)], new: &[(Expr, Expr)], notes: &mut Notes) {
    let find = |rows: &[(Expr, Expr)], key: &Expr| {
        rows.iter().find(|(other, _)| same_expr(other, key)).map(|(_, value)| print_expr(value))
    };
    for (key, value) in old {
        let (key_words, old) = (print_expr(key), print_expr(value));
        match find(new, key) {
            None => notes.push(Weight::Meaning, format!("row `{key_words}` dropped"), Some(old), None),
            Some(new) if new != old => {
                notes.push(Weight::Meaning, format!("row `{key_words}` changed"), Some(old), Some(new));
            }
            Some(_) => {}
        }
    }
    for (key, value) in new.iter().filter(|(key, _)| find(old, key).is_none()) {
        let row = format!("row `{}` added", print_expr(key));
        notes.push(Weight::Meaning, row, None, Some(print_expr(value)));
    }
}

fn walk(old: &[WalkStep], new: &[WalkStep], notes: &mut Notes) {
    let key = |step: &WalkStep| step.condition.as_ref().map_or_else(|| "true".to_owned(), print_expr);
    let next = |step: &WalkStep| step.next.as_ref().map_or_else(|| "stop".to_owned(), print_expr);
    let keys = |steps: &[WalkStep]| steps.iter().map(key).collect::<Vec<_>>();
    let names: Vec<String> = new.iter().map(|step| format!("`{}`", key(step))).collect();
    for pair in align(&keys(old), &keys(new), |_, _| true) {
        match pair {
            Aligned::Same(a, b) => {
                said(&format!("next stop of step {}", names[b]), &next(&old[a]), &next(&new[b]), notes)
            }
            Aligned::Moved(a, b) => {
                let moved = format!("step {} moved {}", names[b], before(&names, b));
                notes.push(Weight::Meaning, moved, None, None);
                said(&format!("next stop of step {}", names[b]), &next(&old[a]), &next(&new[b]), notes);
            }
            Aligned::Instead(a, b) => {
                optional("step, condition", old[a].condition.as_ref(), new[b].condition.as_ref(), notes);
                said("step, next stop", &next(&old[a]), &next(&new[b]), notes);
            }
            Aligned::Dropped(a) => {
                notes.push(Weight::Meaning, format!("step `{}` dropped", key(&old[a])), None, None)
            }
            Aligned::Added(b) => {
                let added = format!("step {} added {}", names[b], before(&names, b));
                notes.push(Weight::Meaning, added, None, Some(next(&new[b])));
            }
        }
    }
}

fn checker(old: &Checker, new: &Checker, notes: &mut Notes) {
    let sides = |form: &CheckerForm| match form {
        CheckerForm::Pair { first, second, .. } => [words(&first.marks), words(&second.marks)],
        CheckerForm::Group { first, second } => [words(first), words(second)],
    };
    let head = |form: &CheckerForm| match form {
        CheckerForm::Pair { last, first, second } => {
            let last = if *last { "last " } else { "" };
            format!("for {last}{}, {}", first.name.text, second.name.text)
        }
        CheckerForm::Group { .. } => "over group".to_owned(),
    };
    said("roles", &head(&old.form), &head(&new.form), notes);
    let (old_sides, new_sides) = (sides(&old.form), sides(&new.form));
    for (at, (old, new)) in old_sides.into_iter().zip(new_sides).enumerate() {
        let side = if at == 0 { "mark of the first side" } else { "mark of the second side" };
        elements(side, old, new, notes);
    }
    optional("`when`", old.when.as_ref(), new.when.as_ref(), notes);
    match (&old.action, &new.action) {
        (
            CheckerAction::Isolate { position, target },
            CheckerAction::Isolate { position: new_position, target: new_target },
        ) => {
            said("side of the copy", position_word(*position), position_word(*new_position), notes);
            exprs("isolated anchor", target, new_target, notes);
        }
        (CheckerAction::Body(old), CheckerAction::Body(new)) => blocks("body", old, new, notes),
        (old, new) => {
            let shown = |action: &CheckerAction| match action {
                CheckerAction::Isolate { target, .. } => format!("isolate {}", print_expr(target)),
                CheckerAction::Body(block) => format!("{{ {} }}", print_block(block).join("; ")),
            };
            said("what it isolates", &shown(old), &shown(new), notes);
        }
    }
    leveled(old.level.as_ref(), new.level.as_ref(), notes);
    texts("because", old.because.as_ref(), new.because.as_ref(), notes);
    texts("help", old.help.as_ref(), new.help.as_ref(), notes);
    worded("doc", old.doc.as_deref(), new.doc.as_deref(), notes);
}

type Cells<'a> = (&'a [Name], &'a [(Name, Vec<Name>)]);

fn matrix(old: Cells<'_>, new: Cells<'_>, notes: &mut Notes) {
    let rows = |cells: Cells<'_>| cells.1.iter().map(|(row, _)| row.text.to_string()).collect::<Vec<_>>();
    elements("row", rows(old), rows(new), notes);
    elements("column", words(old.0), words(new.0), notes);
    let cell = |(header, rows): Cells<'_>, row: &Name, column: &Name| {
        let at = header.iter().position(|name| name.text == column.text)?;
        let (_, cells) = rows.iter().find(|(name, _)| name.text == row.text)?;
        Some(cells.get(at)?.text.to_string())
    };
    for (row, _) in old.1 {
        for column in old.0 {
            if let (Some(before), Some(after)) = (cell(old, row, column), cell(new, row, column))
                && before != after
            {
                let name = format!("cell {} | {} changed", row.text, column.text);
                notes.push(Weight::Meaning, name, Some(before), Some(after));
            }
        }
    }
}

fn subject(old: Option<&Subject>, new: Option<&Subject>, notes: &mut Notes) {
    match (old, new) {
        (Some(old), Some(new)) => {
            optional("list of nodes", old.list.as_ref(), new.list.as_ref(), notes);
            optional("`where`", old.condition.as_ref(), new.condition.as_ref(), notes);
        }
        (None, None) => {}
        (old, _) => {
            let word = if old.is_some() { "runs once for the graph now" } else { "runs for each node now" };
            notes.push(Weight::Meaning, word.to_owned(), None, None);
        }
    }
}

/// Steps by their heads: two with one name are one.
fn chain(old: &[ChainStep], new: &[ChainStep], notes: &mut Notes) {
    let key = |step: &ChainStep| step_parts(step).head;
    let name = |step: &ChainStep| match step {
        ChainStep::Let { name, .. } | ChainStep::Require { name, .. } | ChainStep::Attempt { name, .. } => {
            name.text.to_string()
        }
        ChainStep::For { binder, .. } => format!("for {}", binder.text),
        ChainStep::Use { group, .. } => format!("use {}", group.text),
    };
    let shown = |step: &ChainStep| {
        step_parts(step).exprs.iter().map(|e| print_expr(e)).collect::<Vec<_>>().join(", ")
    };
    let refusal = |step: &ChainStep| match step {
        ChainStep::Require { end, .. } | ChainStep::Attempt { end, .. } => end.refusal,
        _ => Refusal::Keep,
    };
    let inside = |old: &ChainStep, new: &ChainStep, notes: &mut Notes| {
        let (a, b) = (step_parts(old), step_parts(new));
        let word = |step| format!("else{}", refusal_word(refusal(step)));
        said(&format!("step `{}`, what comes of a failure", name(new)), &word(old), &word(new), notes);
        for (a, b) in a.blocks.iter().zip(&b.blocks) {
            blocks(&format!("step `{}`", name(new)), a, b, notes);
        }
        if a.exprs.len() == b.exprs.len() {
            for (a, b) in a.exprs.iter().zip(&b.exprs) {
                exprs(&format!("step `{}`, condition", name(new)), a, b, notes);
            }
        } else {
            said(&format!("step `{}`", name(new)), &shown(old), &shown(new), notes);
        }
        for word in ["else", "help"] {
            let of =
                |parts: &Parts<'_>| parts.texts.iter().find(|(w, _)| *w == word).map(|(_, t)| print_text(t));
            worded(word, of(&a).as_deref(), of(&b).as_deref(), notes);
        }
        chain(inner_steps(old), inner_steps(new), notes);
    };
    let keys = |steps: &[ChainStep]| steps.iter().map(key).collect::<Vec<_>>();
    let names: Vec<String> = new.iter().map(|step| format!("`{}`", name(step))).collect();
    let is_renamed = |a: usize, b: usize| {
        let (a, b) = (step_parts(&old[a]), step_parts(&new[b]));
        let word = |head: &str| head.split(' ').next().unwrap_or_default().to_owned();
        word(&a.head) == word(&b.head)
            && a.exprs.len() == b.exprs.len()
            && a.exprs.iter().zip(&b.exprs).all(|(a, b)| same_expr(a, b))
    };
    for pair in align(&keys(old), &keys(new), is_renamed) {
        match pair {
            Aligned::Same(a, b) => inside(&old[a], &new[b], notes),
            Aligned::Moved(a, b) => {
                notes.push(
                    Weight::Meaning,
                    format!("step {} moved {}", names[b], before(&names, b)),
                    None,
                    None,
                );
                inside(&old[a], &new[b], notes);
            }
            Aligned::Instead(a, b) => {
                if name(&old[a]) != name(&new[b]) {
                    let renamed = format!("step `{}` is called {} now", name(&old[a]), names[b]);
                    notes.push(Weight::Wording, renamed, None, None);
                }
                inside(&old[a], &new[b], notes);
            }
            Aligned::Dropped(a) => {
                notes.push(
                    Weight::Meaning,
                    format!("step `{}` dropped", name(&old[a])),
                    Some(shown(&old[a])),
                    None,
                );
            }
            Aligned::Added(b) => {
                let added = format!("step {} added {}", names[b], before(&names, b));
                notes.push(Weight::Meaning, added, None, Some(shown(&new[b])));
            }
        }
    }
}

fn pipeline(old: &[PipelineStep], new: &[PipelineStep], notes: &mut Notes) {
    let keys =
        |steps: &[PipelineStep]| steps.iter().map(|step| step.name.text.to_string()).collect::<Vec<_>>();
    let names: Vec<String> = keys(new).iter().map(|name| format!("`{name}`")).collect();
    for pair in align(&keys(old), &keys(new), |_, _| false) {
        let (Aligned::Same(a, b) | Aligned::Moved(a, b) | Aligned::Instead(a, b)) = pair else {
            match pair {
                Aligned::Dropped(a) => {
                    notes.push(Weight::Meaning, format!("step `{}` dropped", old[a].name.text), None, None);
                }
                Aligned::Added(b) => {
                    let added = format!("step {} added {}", names[b], before(&names, b));
                    notes.push(Weight::Meaning, added, None, None);
                }
                _ => {}
            }
            continue;
        };
        if matches!(pair, Aligned::Moved(..)) {
            notes.push(Weight::Meaning, format!("step {} moved {}", names[b], before(&names, b)), None, None);
        }
        optional(&format!("step {}, `when`", names[b]), old[a].when.as_ref(), new[b].when.as_ref(), notes);
        if old[a].tolerant != new[b].tolerant {
            let word = if new[b].tolerant { "does not end the run any more" } else { "ends the run now" };
            notes.push(Weight::Meaning, format!("a failure of step {} {word}", names[b]), None, None);
        }
    }
}
