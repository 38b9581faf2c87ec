//! `diff`: what a change of the rules changes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::args::{DiffArgs, DiffFormat, OutputFormat, RuleArgs};
use super::cases::{self, Found};
use super::desk::{Desk, Done, Stop};
use super::input::{self, GraphFile, find_graph, is_dash};
use super::rules::{self, Loaded, read};
use super::session::{Connect, RuleSources, compare, on_graphs, test_graphs, witness};
use super::workspace::Settings;
use super::{FINE, FOUND, git};
use crate::audit::witness::Trial;
use crate::engine::Case;
use crate::graph::GraphId;
use crate::lang::Level;
use crate::report::diff::Report;
use crate::report::{Complaint, diff as report};
use crate::workspace::is_named_as_rules;

/// Compares two rule sets.
pub fn diff(args: &DiffArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    let format = if args.format == DiffFormat::Json { OutputFormat::Json } else { OutputFormat::Human };
    desk.set_format(format, false);
    // What OLD and NEW are added to: the rules of the workspace, and none of its overlays, which they may be.
    let mut settings = Settings::here(args.no_settings || !args.overlays)?;
    let base = RuleArgs { rules: args.rules.clone(), ..RuleArgs::default() };
    let base = args.overlays.then(|| settings.base(&base));
    settings.tell(desk)?;
    let sources = |argument: &str| sources(argument, base.as_ref());
    let (old, new) = (sources(&args.old)?, sources(&args.new)?);
    let old = Loaded::silent(old, desk, connect).map_err(|stop| alone(stop, args))?;
    let new = Loaded::silent(new, desk, connect).map_err(|stop| alone(stop, args))?;
    let difference = compare(&old.sources, &new.sources);
    let mut report = Report { difference, graphs: None, witness: None };
    let given = trials(&args.graphs, &new, desk)?;
    if !args.graphs.is_empty() {
        report.graphs = Some((given.len(), on_graphs(&old.sources, &new.sources, &given)));
    }
    if args.witness && report.difference.differs() {
        let own = [&old.sources, &new.sources].into_iter().flat_map(test_graphs);
        let seeds = own.chain(given).map(|(_, trial)| trial).collect();
        let start = Instant::now();
        let mut go_on = |tried: usize| match args.tries {
            Some(tries) => tried < tries,
            None => start.elapsed() < Duration::from_secs(args.seconds),
        };
        let (old, new) = (&old.sources, &new.sources);
        report.witness = Some(witness(old, new, &report.difference, (seeds, args.seed), &mut go_on));
    }
    let text = match args.format {
        DiffFormat::Human => report::human(&report, &desk.out),
        DiffFormat::Json => report::json(&report),
        DiffFormat::Md => report::markdown(&report),
    };
    desk.print(&text)?;
    let changed = report.graphs.as_ref().is_some_and(|(_, changes)| !changes.is_empty());
    Ok(if report.difference.differs() || changed { FOUND } else { FINE })
}

/// The rules that an argument names, or adds to. What is there as a path is one.
fn sources(argument: &str, base: Option<&RuleArgs>) -> Result<RuleSources, Complaint> {
    let path = Path::new(argument);
    let files = match argument.contains(':') && !path.exists() {
        true => git::read(argument)?,
        false => read(path, false)?,
    };
    let Some(base) = base else { return Ok(RuleSources { files }) };
    let mut all = rules::sources(base)?;
    all.files.extend(files.into_iter().map(|(path, text, _)| (path, text, true)));
    Ok(all)
}

/// What an overlay builds on is unknown where it is taken for all rules there are: then that is said, too.
fn alone(stop: Stop, args: &DiffArgs) -> Stop {
    match stop {
        Stop::Wrong(mut complaints) if !args.overlays => {
            let message = "OLD and NEW are taken for all rules that there are";
            complaints.push(Complaint::new(Level::Note, "diff::overlays", message).help(
                "`--overlays` compares them as overlays of the shipped rules, or of those that `--rules` names",
            ));
            Stop::Wrong(complaints)
        }
        other => other,
    }
}

/// The graphs that arguments name: graph files, and those of cases and tests.
fn trials(paths: &[PathBuf], rules: &Loaded, desk: &mut Desk<'_, '_>) -> Result<Vec<(String, Trial)>, Stop> {
    let mut trials = Vec::new();
    for path in paths {
        let found = if is_dash(path) { vec![Found::Rules(path.clone())] } else { cases::find_to_run(path)? };
        for found in found {
            let path = found.path().to_owned();
            let shown = path.display().to_string();
            match found {
                Found::Case(path) => trials.extend(of_case(cases::read(&path)?)?.map(|trial| (shown, trial))),
                Found::Rules(path) if is_named_as_rules(&path) => {
                    // Only the graphs are wanted, so what else the file declares does not matter.
                    let graphs = test_graphs(&RuleSources { files: read(&path, false)? });
                    trials
                        .extend(graphs.into_iter().map(|(name, trial)| (format!("{shown}, {name}"), trial)));
                }
                Found::Rules(path) => {
                    for file in GraphFile::all(&[path], desk)? {
                        let loaded = file.load(&*rules.engine)?;
                        for warning in &loaded.warnings {
                            desk.complain(&input::warning(warning, &file.shown))?;
                        }
                        let (steps, options) = (Vec::new(), Default::default());
                        let trial = Trial { snapshot: loaded.snapshot, root: GraphId::ROOT, steps, options };
                        trials.push((file.shown, trial));
                    }
                }
            }
        }
    }
    Ok(trials)
}

/// A case as a trial; none if it needs a single node or runs nothing.
fn of_case(case: Case) -> Result<Option<Trial>, Complaint> {
    if case.node.is_some() || case.steps.is_empty() {
        return Ok(None);
    }
    let root = find_graph(&case.before, case.graph.as_deref())?;
    Ok(Some(Trial { snapshot: case.before, root, steps: case.steps, options: case.options }))
}
