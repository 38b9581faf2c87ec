//! `symbols` and `explain`: what the engine knows of a graph, without changing it.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::args::{ExplainArgs, RunArgs, SymbolsArgs};
use super::desk::{Desk, Done, Stop};
use super::input::{self, GraphFile, find_graph, find_node, find_target};
use super::rules::{Loaded, sources};
use super::session::{Connect, Request, RunError};
use super::{FINE, workspace};
use crate::graph::{GraphId, Snapshot, Sym, label};
use crate::lang::Level;
use crate::lang::diagnostic::did_you_mean;
use crate::lang::syntax::ast::Kind;
use crate::report::place::Names;
use crate::report::plain::plain;
use crate::report::{Complaint, explain as story, human, json, table};

/// A beginning says something from so many bytes on.
const SHORTEST_BEGINNING: usize = 3;

/// The request that the arguments make of this model.
pub fn request(args: &RunArgs, steps: &[Sym], snapshot: &Snapshot) -> Result<Request, Complaint> {
    let graph = find_graph(snapshot, args.graph.as_deref())?;
    let node = args.node.as_deref().map(|name| find_node(snapshot, graph, name)).transpose()?;
    Ok(Request { graph, node, steps: steps.to_vec(), sort_first: args.sort })
}

/// Rules with options, and one graph; warnings about either are reported.
fn open(
    path: &std::path::Path,
    args: &RunArgs,
    desk: &mut Desk<'_, '_>,
    connect: &Connect,
) -> Result<(Loaded, Snapshot, Request), Stop> {
    let args = &workspace::run(args, desk)?;
    let mut rules = Loaded::new(sources(&args.rules)?, desk, connect)?;
    rules.set_options(args, desk)?;
    let files = GraphFile::all(&[path.to_owned()], desk)?;
    let file = &files[0];
    let loaded = file.load(&*rules.engine)?;
    for warning in &loaded.warnings {
        desk.complain(&input::warning(warning, &file.shown))?;
    }
    let request = request(args, &rules.steps(&args.passes)?, &loaded.snapshot)?;
    Ok((rules, loaded.snapshot, request))
}

/// The graph after the passes that the arguments name, sorted before them if they say so. Without either it stays
/// as it is: a table of symbols needs no pipeline.
fn prepared(
    rules: &Loaded,
    snapshot: Snapshot,
    mut request: Request,
) -> Result<(Snapshot, Request), Complaint> {
    if request.sort_first && request.steps.is_empty() {
        let order = rules.entries.iter().find(|entry| entry.kind == Kind::Order);
        let missing = || Complaint::error("cli::unused-flag", "the rules have no use for `--sort`");
        let order = order.ok_or_else(|| missing().help("rules that have declare an `order`"))?;
        request = Request { steps: vec![order.name], sort_first: false, ..request };
    }
    if request.steps.is_empty() {
        return Ok((snapshot, request));
    }
    let outcome = rules
        .engine
        .run(&snapshot, &request)
        .map_err(|error| Complaint::error("run::failed", error.message).maybe_help(error.help))?;
    match outcome.failures().last() {
        Some(failure) => Err(human::failure(failure, Names::new(&snapshot, &snapshot), Level::Error)),
        None => Ok((outcome.after, request)),
    }
}

/// `symbols GRAPH`: a line a symbol, in order of names: the symbol, then its anchors.
pub fn symbols(args: &SymbolsArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    let (rules, snapshot, request) = open(&args.graph_file, &args.run, desk, connect)?;
    let (snapshot, request) = prepared(&rules, snapshot, request)?;
    let symbols = rules.engine.symbols(&snapshot, request.graph).map_err(|failure| {
        Stop::from(human::failure(&failure, Names::new(&snapshot, &snapshot), Level::Error))
    })?;
    let mut text = String::new();
    for group in symbols.groups() {
        let _ = write!(text, "{}:", plain(&label(&snapshot, group.founder)));
        for &member in &group.members {
            let _ = write!(text, " {}", plain(&label(&snapshot, member)));
        }
        text.push('\n');
        if text.len() > 1 << 16 {
            desk.print(&text)?;
            text.clear();
        }
    }
    desk.print(&text)?;
    Ok(FINE)
}

/// `explain GRAPH TARGET`, `explain GRAPH --all --kind OP`.
pub fn explain(args: &ExplainArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    desk.set_format(args.format, false);
    let (rules, snapshot, request) = open(&args.graph_file, &args.run, desk, connect)?;
    let failed =
        |error: RunError| Stop::from(Complaint::error("run::failed", error.message).maybe_help(error.help));
    if let Some(op) = &args.kind {
        let table = rules.engine.table(&snapshot, &request, Sym::new(op)).map_err(failed)?;
        if table.rows.is_empty() {
            let outcome = rules.engine.run(&snapshot, &request).map_err(failed)?;
            let states = std::iter::once(&snapshot).chain(outcome.steps.iter().map(|step| &step.after));
            return Err(no_such_type(states, request.graph, op).into());
        }
        let text = match desk.is_json() {
            true => json::table(&table, &rules.texts),
            false => table::draw(&table, Names::new(&snapshot, &snapshot), &desk.out),
        };
        desk.print(&text)?;
        return Ok(FINE);
    }
    let asked = args.target.as_deref().unwrap_or_default();
    let target = match find_target(&snapshot, request.graph, asked) {
        Ok(target) => target,
        // It may be a node that a pass inserts.
        Err(complaint) => {
            let outcome = rules.engine.run(&snapshot, &request).map_err(failed)?;
            let mut left = outcome.steps.iter().map(|step| &step.after);
            let found = left.find_map(|state| find_target(state, request.graph, asked).ok());
            found.ok_or(complaint)?
        }
    };
    let explanation = rules.engine.explain(&snapshot, &request, target).map_err(failed)?;
    let text = match desk.is_json() {
        true => json::explanation(&explanation, &rules.texts),
        false if explanation.passes.is_empty() && explanation.anchors.is_empty() => {
            format!(
                "nothing is known of `{asked}`: it has no anchors, and no pass decided anything about it\n"
            )
        }
        false => story::draw(&explanation, &rules.texts, Names::new(&snapshot, &snapshot), &desk.out),
    };
    desk.print(&text)?;
    Ok(FINE)
}

/// A type without nodes, with the nearest of those that some state of the run has.
fn no_such_type<'s>(states: impl Iterator<Item = &'s Snapshot>, graph: GraphId, op: &str) -> Complaint {
    let mut types = BTreeSet::new();
    for state in states {
        let nodes = state.all_nodes(graph);
        types.extend(nodes.iter().filter_map(|&node| state.get_node(node)).map(|node| node.ty.as_str()));
    }
    let near = did_you_mean(op, types.iter().copied()).or_else(|| begun(op, &types));
    Complaint::error("graph::no-such-type", format!("no node is of type `{op}`"))
        .maybe_help(near.map(|near| format!("did you mean `{near}`?")))
}

/// The shortest type that a word is the beginning of, or else the longest that begins it: a slip of the memory, not of
/// the hand.
fn begun<'t>(word: &str, types: &BTreeSet<&'t str>) -> Option<&'t str> {
    let begins = |long: &str, short: &str| {
        short.len() >= SHORTEST_BEGINNING
            && long.get(..short.len()).is_some_and(|head| head.eq_ignore_ascii_case(short))
    };
    let longer = types.iter().filter(|ty| begins(ty, word)).min_by_key(|ty| ty.len());
    let shorter = || types.iter().filter(|ty| begins(word, ty)).max_by_key(|ty| ty.len());
    longer.or_else(shorter).copied()
}
