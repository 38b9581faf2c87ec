//! Where commands read and write.
//!
//! Promise: reports go to one stream in one form; a reader that went away ends the command without a word.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::{ColorChoice, OutputFormat, ReportFormat, TestFormat};
use super::input::reason;
use super::{BROKEN_PIPE, UNUSABLE};
use crate::report::human::Paint;
use crate::report::plain::{drawn, plain};
use crate::report::{Complaint, Human, Remark, Rules, Style, github, json, sarif};

/// The process, as commands see it.
pub struct Io<'a> {
    pub stdin: &'a mut dyn Read,
    pub stdout: &'a mut dyn Write,
    pub stderr: &'a mut dyn Write,
    pub stdout_terminal: bool,
    pub stderr_terminal: bool,
    /// The variables that are text.
    pub environment: BTreeMap<String, String>,
}

/// Why a command ended early.
#[derive(Debug)]
pub enum Stop {
    /// Something that the user gave, or the machine, is in the way.
    Wrong(Vec<Complaint>),
    /// The reader of the output went away.
    Pipe,
}

impl From<Complaint> for Stop {
    fn from(complaint: Complaint) -> Stop {
        Stop::Wrong(vec![complaint])
    }
}

/// An exit code, or why there is none yet.
pub type Done = Result<u8, Stop>;

/// The form of everything that a command reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Human,
    Json,
    Sarif,
    Github,
    Junit,
}

impl From<OutputFormat> for Form {
    fn from(format: OutputFormat) -> Form {
        match format {
            OutputFormat::Human => Form::Human,
            OutputFormat::Json => Form::Json,
        }
    }
}

impl From<ReportFormat> for Form {
    fn from(format: ReportFormat) -> Form {
        match format {
            ReportFormat::Human => Form::Human,
            ReportFormat::Json => Form::Json,
            ReportFormat::Sarif => Form::Sarif,
            ReportFormat::Github => Form::Github,
        }
    }
}

impl From<TestFormat> for Form {
    fn from(format: TestFormat) -> Form {
        match format {
            TestFormat::Human => Form::Human,
            TestFormat::Json => Form::Json,
            TestFormat::Junit => Form::Junit,
            TestFormat::Github => Form::Github,
        }
    }
}

/// Streams, with the style of each.
pub struct Desk<'d, 'io> {
    pub io: &'d mut Io<'io>,
    pub out: Human,
    err: Human,
    form: Form,
    /// What one document says when the command ends.
    remarks: Vec<Remark>,
    /// Describe the rules behind the remarks.
    rules: Rules,
    /// Standard output carries a file, so reports go to standard error.
    report_to_stderr: bool,
    bar: Option<ProgressBar>,
}

impl<'d, 'io> Desk<'d, 'io> {
    pub fn new(io: &'d mut Io<'io>, color: ColorChoice) -> Desk<'d, 'io> {
        let no_color = io.environment.get("NO_COLOR").is_some_and(|value| !value.is_empty());
        let style = |terminal: bool| Style {
            color: match color {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => terminal && !no_color,
            },
            width: terminal.then(terminal_width),
        };
        let (out, err) = (Human::new(style(io.stdout_terminal)), Human::new(style(io.stderr_terminal)));
        Desk {
            io,
            out,
            err,
            form: Form::Human,
            remarks: Vec::new(),
            rules: Rules::default(),
            report_to_stderr: false,
            bar: None,
        }
    }

    /// Chooses the form of reports, and the stream.
    pub fn set_format(&mut self, form: impl Into<Form>, report_to_stderr: bool) {
        self.form = form.into();
        self.report_to_stderr = report_to_stderr;
        if report_to_stderr {
            self.out = Human::new(self.err.style);
        }
    }

    pub fn form(&self) -> Form {
        self.form
    }

    pub fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Whether a person reads the report, and not a program.
    pub fn is_human(&self) -> bool {
        self.form == Form::Human
    }

    /// The rules that remarks are described by.
    pub fn set_rules(&mut self, rules: &Rules) {
        if self.form == Form::Sarif {
            self.rules = rules.clone();
        }
    }

    /// Takes a remark: as a line at once, or for the document at the end. Paths below the current directory are told
    /// from there, as the tools that read them want.
    pub fn remark(&mut self, mut remark: Remark) -> Result<(), Stop> {
        if let Some(here) =
            std::env::current_dir().ok().and_then(|path| path.into_os_string().into_string().ok())
        {
            for path in remark.paths_mut() {
                if let Some(below) = path.strip_prefix(&here).and_then(|rest| rest.strip_prefix('/')) {
                    *path = below.to_owned();
                }
            }
        }
        if self.form == Form::Github {
            return self.print(&github::annotation(&remark));
        }
        self.remarks.push(remark);
        Ok(())
    }

    /// Whether a person watches the report.
    pub fn report_terminal(&self) -> bool {
        if self.report_to_stderr { self.io.stderr_terminal } else { self.io.stdout_terminal }
    }

    /// Writes a part of the report. No text of a graph or of rules commands a terminal; programs get it as it is.
    pub fn print(&mut self, text: &str) -> Result<(), Stop> {
        let stream: &mut dyn Write = if self.report_to_stderr { self.io.stderr } else { self.io.stdout };
        let text = match self.form {
            Form::Human | Form::Github => drawn(text, self.out.style.color),
            Form::Json | Form::Sarif | Form::Junit => text.into(),
        };
        write(stream, text.as_bytes(), self.bar.as_ref())
    }

    /// Writes a file's bytes to standard output.
    pub fn print_bytes(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        write(self.io.stdout, bytes, self.bar.as_ref())
    }

    /// Says something beside the report, to a person.
    pub fn aside(&mut self, line: &str) -> Result<(), Stop> {
        if !self.is_human() {
            return Ok(());
        }
        let line = self.err.paint(Paint::Faint, &plain(line));
        write(self.io.stderr, format!("{line}\n").as_bytes(), self.bar.as_ref())
    }

    /// [`Desk::complain_of`] no file in particular.
    pub fn complain(&mut self, complaint: &Complaint) -> Result<(), Stop> {
        self.complain_of(complaint, None)
    }

    /// Reports a complaint: among the report's lines for a program, beside the report for a person. `file`: what it
    /// is about.
    pub fn complain_of(&mut self, complaint: &Complaint, file: Option<&str>) -> Result<(), Stop> {
        match self.form {
            Form::Json => return self.print(&json::complaint(complaint)),
            Form::Sarif | Form::Github => return self.remark(Remark::of_complaint(complaint, file)),
            Form::Human | Form::Junit => {}
        }
        let mut text = String::new();
        // Drawing into memory fails only if an excerpt cannot be read, and spans are clamped.
        if self.err.complaint(&mut text, complaint).is_err() {
            text = format!("{}: {}\n", complaint.code, complaint.message);
        }
        // Findings that were printed before stand before.
        write(self.io.stdout, b"", self.bar.as_ref())?;
        let flushed = self.io.stdout.flush().map_err(stop_of);
        // Where the report cannot be written, its reader still learns why.
        write(self.io.stderr, drawn(&text, self.err.style.color).as_bytes(), self.bar.as_ref())?;
        flushed
    }

    /// Hands on what was written so far.
    pub fn flush(&mut self) -> Result<(), Stop> {
        self.io.stdout.flush().map_err(stop_of)
    }

    /// Ends the report of a command with this exit code.
    pub fn finish(&mut self, code: u8) -> Result<(), Stop> {
        self.end_progress();
        if self.form == Form::Sarif {
            let remarks = std::mem::take(&mut self.remarks);
            self.print(&sarif::document(&remarks, &self.rules, code, code != UNUSABLE))?;
        }
        self.io.stdout.flush().and_then(|()| self.io.stderr.flush()).map_err(stop_of)
    }

    /// Reports why a command ended early; gives the exit code.
    pub fn stopped(&mut self, stop: Stop) -> u8 {
        self.end_progress();
        let Stop::Wrong(complaints) = stop else { return BROKEN_PIPE };
        for complaint in &complaints {
            if self.complain(complaint).is_err() {
                if self.is_json() {
                    let _ = self.io.stderr.write_all(json::complaint(complaint).as_bytes());
                }
                break;
            }
        }
        let _ = self.finish(UNUSABLE);
        UNUSABLE
    }

    /// A bar of things of which several threads do one after the other; shown on a terminal.
    pub fn progress(&self, things: &str) -> Progress {
        if !self.io.stderr_terminal || self.is_json() {
            return Progress(None);
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) =
            ProgressStyle::with_template(&format!("{{spinner}} {{pos}}/{{len}} {things}  {{elapsed}}"))
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        Progress(Some(bar))
    }

    /// Shows a bar of `steps` on a terminal, if the work is long.
    pub fn start_progress(&mut self, steps: usize, is_long: bool) {
        if !is_long || !self.io.stderr_terminal || !self.is_human() {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} graphs  {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        self.bar = Some(bar);
    }

    pub fn advance(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    fn end_progress(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A bar that threads share.
pub struct Progress(Option<ProgressBar>);

impl Progress {
    pub fn start(&self, steps: usize) {
        self.0.iter().for_each(|bar| bar.set_length(steps as u64));
    }

    pub fn advance(&self) {
        self.0.iter().for_each(|bar| bar.inc(1));
    }

    pub fn end(&self) {
        self.0.iter().for_each(ProgressBar::finish_and_clear);
    }
}

/// Columns to write in. Lines longer than this limit are hard to read, however wide the window is.
fn terminal_width() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0)).clamp(60, 140)
}

fn write(stream: &mut dyn Write, bytes: &[u8], bar: Option<&ProgressBar>) -> Result<(), Stop> {
    let result = match bar {
        Some(bar) => bar.suspend(|| stream.write_all(bytes)),
        None => stream.write_all(bytes),
    };
    result.map_err(stop_of)
}

fn stop_of(error: std::io::Error) -> Stop {
    match error.kind() {
        ErrorKind::BrokenPipe => Stop::Pipe,
        _ => {
            Complaint::error("io::write", format!("the output cannot be written: {}", reason(&error))).into()
        }
    }
}
