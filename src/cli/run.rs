//! `check` and `optimize`: many graphs, one report.
//!
//! Promise: reports stand in the order of the arguments, whatever thread was first. A graph that cannot be read or
//! run fails alone, and nothing is written for it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use rustc_hash::FxHashSet;

use super::args::{CheckArgs, OptimizeArgs, RunArgs, ShowArgs};
use super::desk::{Desk, Done, Form, Stop};
use super::input::{self, GraphFile, is_dash};
use super::inspect::request;
use super::output::{Pending, compress, format_of};
use super::rules::{Given, Loaded, sources};
use super::session::{self, Connect, Engine, RuleSources};
use super::workspace::{self, Settings};
use super::{FINE, FOUND, UNUSABLE};
use crate::engine::outcome::{Outcome, StepOutcome};
use crate::graph::Sym;
use crate::lang::Level;
use crate::report::human::{Mood, Paint};
use crate::report::place::Names;
use crate::report::plain::plain;
use crate::report::summary::{PassSum, count};
use crate::report::{Complaint, Human, Remark, Rules, Style, Summary, human, json};
use crate::workspace::FILE;

/// Findings shown to a person who did not ask for more.
const TERMINAL_LIMIT: usize = 50;
/// Work that deserves a progress bar: this many bytes of graphs, or this many graphs.
const LONG_BYTES: u64 = 16 << 20;
const LONG_COUNT: usize = 16;
/// What a person may want to know next.
const WHY: &str =
    "why a node came or went: `anchorwatch explain GRAPH NODE`, or `--all --kind TYPE` for all of a type";
/// Threads get the stack that a main thread has.
const STACK: usize = 8 << 20;

/// `check GRAPH...`.
pub fn check(args: &CheckArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    desk.set_format(args.show.format, false);
    let mut settings = Settings::here(args.run.rules.no_settings)?;
    let (run, graphs) = (settings.run(&args.run), settings.graphs(&args.graphs));
    settings.tell(desk)?;
    if graphs.is_empty() {
        return Err(Complaint::error("cli::no-graph", "no graph is named")
            .help(format!("name graph files, or list them as `graphs` in `{FILE}`"))
            .into());
    }
    let task = Task::new(&run, &args.show, None, Mood::Proposed, desk);
    all(&graphs, task, desk, connect, &mut |_, _| Ok(()))
}

/// `optimize GRAPH... -o OUT`.
pub fn optimize(args: &OptimizeArgs, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    let dashes = [Some(&args.output), args.edits.as_ref()];
    let dashes = dashes.into_iter().flatten().filter(|path| is_dash(path)).count();
    desk.set_format(args.show.format, dashes > 0);
    if dashes > 1 {
        let message = "the graph and the edit list cannot both go to standard output";
        return Err(Complaint::error("cli::stdout-twice", message)
            .help("name a file for one of them")
            .into());
    }
    let targets = targets(args)?;
    if let Some(path) = args.edits.as_ref().filter(|path| targets.contains(path)) {
        let message = format!("the graph and the edit list would both be written to `{}`", path.display());
        return Err(Complaint::error("cli::same-output", message).into());
    }
    let run = workspace::run(&args.run, desk)?;
    let task = Task::new(&run, &args.show, Some(&targets), Mood::Done, desk);
    // The list holds the edits of every graph, so it is written when all are done.
    let mut edits = String::new();
    let code = all(&args.graphs, task, desk, connect, &mut |report, desk| {
        let Some((target, bytes)) = &report.written else { return Ok(()) };
        match is_dash(target) {
            true => desk.print_bytes(bytes)?,
            false => Pending::write(target, bytes)?.commit()?,
        }
        edits += &report.edits;
        Ok(())
    })?;
    match &args.edits {
        Some(path) if is_dash(path) => desk.print_bytes(edits.as_bytes())?,
        Some(path) => Pending::write(path, edits.as_bytes())?.commit()?,
        None => {}
    }
    Ok(code)
}

/// Where each graph goes.
fn targets(args: &OptimizeArgs) -> Result<Vec<PathBuf>, Complaint> {
    let is_dir = args.output.is_dir();
    if !is_dir && args.graphs.len() > 1 {
        let message =
            format!("{} graphs cannot all be written to `{}`", args.graphs.len(), args.output.display());
        return Err(Complaint::error("cli::one-output", message).help("give a directory that exists"));
    }
    let mut targets: Vec<PathBuf> = Vec::new();
    for graph in &args.graphs {
        let target = match graph.file_name() {
            _ if !is_dir => args.output.clone(),
            Some(name) if !is_dash(graph) => args.output.join(name),
            _ => {
                let message = "standard input has no name to write under";
                return Err(Complaint::error("cli::no-name", message).help("give a file name with `-o`"));
            }
        };
        if targets.contains(&target) {
            let message = format!("two graphs would be written to `{}`", target.display());
            return Err(Complaint::error("cli::same-output", message));
        }
        targets.push(target);
    }
    Ok(targets)
}

/// What is done with each graph.
#[derive(Clone, Copy)]
struct Task<'a> {
    run: &'a RunArgs,
    /// `None`: nothing is written.
    targets: Option<&'a [PathBuf]>,
    mood: Mood,
    /// Findings that are drawn.
    limit: usize,
    form: Form,
    style: Style,
}

impl<'a> Task<'a> {
    fn new(
        run: &'a RunArgs,
        show: &ShowArgs,
        targets: Option<&'a [PathBuf]>,
        mood: Mood,
        desk: &Desk<'_, '_>,
    ) -> Task<'a> {
        let default = match desk.report_terminal() && desk.is_human() {
            true => TERMINAL_LIMIT,
            false => usize::MAX,
        };
        let limit = show.limit.unwrap_or(default);
        Task { run, targets, mood, limit, form: desk.form(), style: desk.out.style }
    }
}

/// What came of one graph: texts and numbers only, so that a thousand of them can wait for their turn.
#[derive(Default)]
struct Report {
    complaints: Vec<Complaint>,
    /// No more findings than the limit.
    told: Vec<Told>,
    /// Failed passes, for a program.
    failures: Vec<Said>,
    summary: Summary,
    /// Findings at error level that no edit answers; for `check` all at error level.
    open_errors: usize,
    written: Option<(PathBuf, Vec<u8>)>,
    edits: String,
}

/// A finding, or what a step changed without one.
struct Told {
    step: Sym,
    /// That of a finding.
    level: Option<Level>,
    said: Said,
}

/// Something to report, in the form that is wanted.
enum Said {
    /// Drawn, or as a line of JSON.
    Text(String),
    Remark(Box<Remark>),
}

impl Said {
    fn tell(&self, desk: &mut Desk<'_, '_>) -> Result<(), Stop> {
        match self {
            Said::Text(text) => desk.print(text),
            Said::Remark(remark) => desk.remark((**remark).clone()),
        }
    }
}

/// Which of some findings are shown if there is room for so many: the gravest, of equal ones the first.
fn gravest(levels: impl Iterator<Item = Level>, room: usize) -> Vec<bool> {
    let mut order: Vec<(usize, Level)> = levels.enumerate().collect();
    let mut shown = vec![false; order.len()];
    order.sort_by_key(|(_, level)| std::cmp::Reverse(*level));
    order.iter().take(room).for_each(|(at, _)| shown[*at] = true);
    shown
}

/// What is done with the report of each graph, in the order of the arguments.
type Settle<'a> = dyn FnMut(&Report, &mut Desk<'_, '_>) -> Result<(), Stop> + 'a;

fn all(
    graphs: &[PathBuf],
    task: Task<'_>,
    desk: &mut Desk<'_, '_>,
    connect: &Connect,
    settle: &mut Settle<'_>,
) -> Done {
    let mut rules = Loaded::new(sources(&task.run.rules)?, desk, connect)?;
    desk.set_rules(&rules.texts);
    let given = rules.set_options(task.run, desk)?;
    let steps = rules.steps(&task.run.passes)?;
    let files = GraphFile::all(graphs, desk)?;
    let is_long = files.len() >= LONG_COUNT || files.iter().map(GraphFile::size).sum::<u64>() >= LONG_BYTES;
    desk.start_progress(files.len(), is_long);
    let bench = Bench { task, steps: &steps, texts: &rules.texts };
    let mut sum = Sum { task, total: Summary::default(), shown: 0, open_errors: 0, many: files.len() > 1 };
    if task.run.jobs == 1 || files.len() == 1 {
        for (number, file) in files.iter().enumerate() {
            let report = bench.run(number, file, &*rules.engine);
            sum.take(file, &report, desk, settle)?;
        }
    } else {
        threads(&files, bench, (&rules.sources, &given), connect, &mut |file, report| {
            sum.take(file, report, desk, settle)
        })?;
    }
    sum.close(&rules, desk)
}

/// Runs the graphs on several threads, each with an engine of its own; `take` gets the reports in order.
fn threads(
    files: &[GraphFile],
    bench: Bench<'_>,
    (sources, given): (&RuleSources, &Given),
    connect: &Connect,
    take: &mut dyn FnMut(&GraphFile, &Report) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..usize::from(bench.task.run.jobs).min(files.len()) {
            let (sender, next, stopped) = (sender.clone(), &next, &stopped);
            let work = move || {
                let mut engine = connect(sources.clone());
                engine.set_options(given.options.clone(), given.environment.clone());
                while !stopped.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(number) else { break };
                    if sender.send((number, bench.run(number, file, &*engine))).is_err() {
                        break;
                    }
                }
            };
            let builder = std::thread::Builder::new().stack_size(STACK);
            if let Err(error) = builder.spawn_scoped(scope, work) {
                stopped.store(true, Ordering::Relaxed);
                let message = format!("a thread cannot be started: {error}");
                return Err(Complaint::error("io::thread", message).help("try fewer `--jobs`").into());
            }
        }
        drop(sender);
        let mut early: Vec<Option<Report>> = files.iter().map(|_| None).collect();
        let mut turn = 0;
        for (number, report) in receiver {
            early[number] = Some(report);
            while let Some(report) = early.get_mut(turn).and_then(Option::take) {
                if let Err(stop) = take(&files[turn], &report) {
                    stopped.store(true, Ordering::Relaxed);
                    return Err(stop);
                }
                turn += 1;
            }
        }
        Ok(())
    })
}

/// What every graph is run with. Shared by threads, so it holds no engine.
#[derive(Clone, Copy)]
struct Bench<'a> {
    task: Task<'a>,
    steps: &'a [Sym],
    texts: &'a Rules,
}

impl Bench<'_> {
    /// Runs one graph.
    fn run(&self, number: usize, file: &GraphFile, engine: &dyn Engine) -> Report {
        let mut report = Report::default();
        if let Err(complaint) = self.try_run(number, file, engine, &mut report) {
            report.complaints.push(complaint);
            report.summary.add_failed();
        }
        report
    }

    fn try_run(
        &self,
        number: usize,
        file: &GraphFile,
        engine: &dyn Engine,
        report: &mut Report,
    ) -> Result<(), Complaint> {
        let loaded = file.load(engine)?;
        report.complaints.extend(loaded.warnings.iter().map(|warning| input::warning(warning, &file.shown)));
        let in_file = |complaint: Complaint| complaint.at(file.shown.clone());
        let request = request(self.task.run, self.steps, &loaded.snapshot).map_err(in_file)?;
        let outcome = engine.run(&loaded.snapshot, &request).map_err(|error| {
            in_file(Complaint::error("run::failed", error.message)).maybe_help(error.help)
        })?;
        let shown = gravest(outcome.findings().map(|finding| finding.level), self.task.limit);
        let mut shown = shown.into_iter();
        let passing = human::passing(&outcome);
        for step in &outcome.steps {
            self.tell((step, &passing), file, &mut shown, report);
        }
        if self.failures(&outcome, file, report) {
            report.summary.add_failed();
            return Ok(());
        }
        if let Some(target) = self.task.targets.and_then(|targets| targets.get(number)) {
            let (format, compressed) = format_of(target);
            let (bytes, lost) = session::save(&loaded, &outcome.after, format.unwrap_or(loaded.format))
                .map_err(|error| {
                    in_file(Complaint::error(error.code, error.message)).maybe_help(error.help)
                })?;
            let shown = target.display().to_string();
            report.complaints.extend(lost.iter().map(|warning| input::warning(warning, &shown)));
            let bytes = match compressed {
                true => compress(&bytes).map_err(|error| Complaint::error("io::write", error.to_string()))?,
                false => bytes,
            };
            report.written = Some((target.clone(), bytes));
            report.edits = outcome.edits().map(json::edit).collect();
        }
        // What cannot be written counts as failed alone.
        report.summary.add(&outcome, engine.measures(&outcome));
        Ok(())
    }

    /// Draws the findings of a step that are `shown`, and what it changed without one.
    fn tell(
        &self,
        (step, passing): (&StepOutcome, &FxHashSet<&str>),
        file: &GraphFile,
        shown: &mut impl Iterator<Item = bool>,
        report: &mut Report,
    ) {
        let human = Human::new(self.task.style);
        let names = Names::new(&step.after, &step.before);
        for finding in step.findings.iter() {
            let is_answered = self.task.mood == Mood::Done && !finding.edits.is_empty();
            report.open_errors += usize::from(finding.level == Level::Error && !is_answered);
            if !shown.next().unwrap_or(false) {
                continue;
            }
            let said = match self.task.form {
                Form::Json => Said::Text(json::finding(finding, self.texts, &step.edits, &file.shown)),
                Form::Sarif | Form::Github => Said::Remark(Box::new(Remark::of_finding(
                    finding,
                    self.texts,
                    &step.edits,
                    self.task.mood,
                    &file.shown,
                ))),
                Form::Human | Form::Junit => {
                    let complaint = human::finding(finding, self.texts, names, &step.edits, self.task.mood);
                    let mut text = String::new();
                    // Drawing into memory fails only if an excerpt cannot be read, and spans are clamped.
                    if human.complaint(&mut text, &complaint).is_err() {
                        text = format!("{}: {}\n", complaint.code, complaint.message);
                    }
                    Said::Text(text)
                }
            };
            report.told.push(Told { step: step.pass, level: Some(finding.level), said });
        }
        let changes = human::other_changes(step, passing, self.task.mood);
        if self.task.form == Form::Human && self.task.limit > 0 && !changes.is_empty() {
            report.told.push(Told { step: step.pass, level: None, said: Said::Text(changes) });
        }
    }

    /// Reports failed passes; whether one of them ended the run.
    fn failures(&self, outcome: &Outcome, file: &GraphFile, report: &mut Report) -> bool {
        let mut ended = false;
        for step in &outcome.steps {
            let Some(failure) = &step.failure else { continue };
            let level = if step.tolerated { Level::Warning } else { Level::Error };
            ended |= level == Level::Error;
            match self.task.form {
                Form::Json => report.failures.push(Said::Text(json::failure(failure, level, &file.shown))),
                Form::Sarif | Form::Github => {
                    let remark = Remark::of_failure(failure, level, &file.shown);
                    report.failures.push(Said::Remark(Box::new(remark)));
                }
                Form::Human | Form::Junit => {
                    let names = Names::new(&step.after, &step.before);
                    report.complaints.push(human::failure(failure, names, level).at(file.shown.clone()));
                }
            }
        }
        ended
    }
}

/// The report of the whole command in the making.
struct Sum<'a> {
    task: Task<'a>,
    total: Summary,
    shown: usize,
    open_errors: usize,
    /// Findings are headed by the file that they are of.
    many: bool,
}

impl Sum<'_> {
    fn take(
        &mut self,
        file: &GraphFile,
        report: &Report,
        desk: &mut Desk<'_, '_>,
        settle: &mut Settle<'_>,
    ) -> Result<(), Stop> {
        let levels = report.told.iter().filter_map(|told| told.level);
        let mut shown = gravest(levels, self.task.limit - self.shown).into_iter();
        let mut last_step = None;
        for told in &report.told {
            if told.level.is_some() {
                if !shown.next().unwrap_or(false) {
                    continue;
                }
                self.shown += 1;
            }
            if desk.is_human() && last_step != Some(told.step) {
                self.head(file, last_step.is_none(), told.step, desk)?;
                last_step = Some(told.step);
            }
            told.said.tell(desk)?;
        }
        for complaint in &report.complaints {
            desk.complain_of(complaint, Some(&file.shown))?;
        }
        report.failures.iter().try_for_each(|failure| failure.tell(desk))?;
        self.total.merge(&report.summary);
        self.open_errors += report.open_errors;
        settle(report, desk)?;
        desk.advance();
        Ok(())
    }

    /// The lines above what a step told.
    fn head(&self, file: &GraphFile, is_first: bool, step: Sym, desk: &mut Desk<'_, '_>) -> Result<(), Stop> {
        if self.many && is_first {
            let heading = desk.out.paint(Paint::Strong, &plain(&file.shown));
            desk.print(&format!("{heading}\n\n"))?;
        }
        let heading = desk.out.paint(Paint::Strong, &format!("pass {}", step.as_str()));
        desk.print(&format!("{heading}\n\n"))
    }

    fn close(self, rules: &Loaded, desk: &mut Desk<'_, '_>) -> Done {
        if desk.is_json() {
            desk.print(&json::summary(&self.total, &rules.texts))?;
        } else if desk.is_human() {
            let mut text = String::new();
            let hidden = self.total.findings().saturating_sub(self.shown);
            if hidden > 0 {
                text = format!("and {}; `--limit N` shows more of them\n\n", count(hidden, "more finding"));
            }
            self.total.draw(self.task.mood, &desk.out, &mut text);
            let moved = |sum: &PassSum| sum.inserted.sum() + sum.deleted.sum() > 0;
            if desk.report_terminal() && self.total.passes.iter().any(moved) {
                text += &desk.out.paint(Paint::Faint, WHY);
                text.push('\n');
            }
            desk.print(&text)?;
        }
        Ok(match (self.total.failed, self.open_errors) {
            (0, 0) => FINE,
            (0, _) => FOUND,
            _ => UNUSABLE,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_room_is_short_the_gravest_are_shown_in_their_order() {
        let levels = [Level::Note, Level::Error, Level::Warning, Level::Error, Level::Warning];
        let shown = |room| {
            let shown = gravest(levels.into_iter(), room).into_iter().enumerate();
            shown.filter_map(|(at, is_shown)| is_shown.then_some(at)).collect::<Vec<_>>()
        };
        assert_eq!((shown(0), shown(1), shown(3)), (vec![], vec![1], vec![1, 2, 3]));
        assert_eq!(shown(usize::MAX), [0, 1, 2, 3, 4]);
    }
}
