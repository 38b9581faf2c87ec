//! The command line.
//!
//! Promise: every mistake of the user, and every file that is not what it should be, ends in one complaint and a
//! stable exit code; nothing is written half; what is printed depends on the arguments, their files and the workspace's settings alone.
//! This room knows no rule: names of passes and options come from the rules it is given.
//!
//! The road: [`args`] reads the words, [`workspace`] adds what `anchorwatch.toml` says, [`rules`] loads rules and options, [`input`] and [`output`] move files,
//! [`run`], [`inspect`], [`tests`](mod@tests) with [`cases`] and [`mutate`], [`fmt`], [`lint`], [`man`](mod@man), [`watch`]
//! do the commands through [`session`].

mod args;
mod audit;
pub mod cases;
mod desk;
mod diff;
mod fmt;
mod git;
mod input;
mod inspect;
mod lint;
mod man;
mod mutate;
mod output;
mod rules;
mod run;
pub mod session;
#[cfg(test)]
mod testing;
mod tests;
mod watch;
mod workspace;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command, RulesCommand};
use desk::{Desk, Done, Io};
use session::Connect;

use crate::lsp;

/// Nothing wrong.
pub const FINE: u8 = 0;
/// Findings at error level, or failed tests.
pub const FOUND: u8 = 1;
/// Input, rules or options that cannot be used.
pub const UNUSABLE: u8 = 2;
/// The reader of the output went away: what a shell reports of a program that the signal for it ended.
const BROKEN_PIPE: u8 = 141;

/// Runs the program on the arguments, streams and environment of this process.
pub fn main() -> ExitCode {
    let environment = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let mut io = Io {
        // Not locked: the language server reads and writes on threads of its own, and so do progress bars.
        stdin: &mut std::io::stdin(),
        stdout: &mut std::io::BufWriter::new(std::io::stdout()),
        stderr: &mut std::io::stderr(),
        stdout_terminal: std::io::stdout().is_terminal(),
        stderr_terminal: std::io::stderr().is_terminal(),
        environment,
    };
    ExitCode::from(run(std::env::args_os(), &mut io, &session::connect))
}

/// Runs one command; gives its exit code.
pub fn run(args: impl IntoIterator<Item = OsString>, io: &mut Io<'_>, connect: &Connect) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            let text = error.render();
            let (stream, terminal): (&mut dyn Write, bool) = match error.use_stderr() {
                true => (io.stderr, io.stderr_terminal),
                false => (io.stdout, io.stdout_terminal),
            };
            let text = if terminal { text.ansi().to_string() } else { text.to_string() };
            // Nobody is left to tell.
            let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
            return if error.use_stderr() { UNUSABLE } else { FINE };
        }
    };
    let mut desk = Desk::new(io, cli.color);
    let done = dispatch(cli.command, &mut desk, connect).and_then(|code| desk.finish(code).map(|()| code));
    match done {
        Ok(code) => code,
        Err(stop) => desk.stopped(stop),
    }
}

fn dispatch(command: Command, desk: &mut Desk<'_, '_>, connect: &Connect) -> Done {
    match command {
        Command::Check(args) => run::check(&args, desk, connect),
        Command::Optimize(args) => run::optimize(&args, desk, connect),
        Command::Symbols(args) => inspect::symbols(&args, desk, connect),
        Command::Explain(args) => inspect::explain(&args, desk, connect),
        Command::Test(args) => tests::test(&args, desk, connect),
        Command::Watch(args) => watch::watch(&args, desk, connect),
        Command::Fmt(args) => fmt::fmt(&args, desk),
        Command::Lint(args) => lint::lint(&args, desk, connect),
        Command::Audit(args) => audit::audit(&args, desk, connect),
        Command::Diff(args) => diff::diff(&args, desk, connect),
        Command::Rules(RulesCommand::List { kind, format, rules }) => {
            rules::list(kind.as_deref(), format, &rules, desk, connect)
        }
        Command::Rules(RulesCommand::Show { name, kind, rules }) => {
            rules::show(&name, kind.as_deref(), &rules, desk, connect)
        }
        Command::Lsp => Ok(lsp::stdio(desk.io.environment.clone())),
        Command::Completions { shell } => {
            // The generator expects a sink that cannot fail.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "anchorwatch", &mut script);
            desk.print_bytes(&script)?;
            Ok(FINE)
        }
        Command::Man(args) => man::man(&args, desk),
    }
}

#[cfg(test)]
#[path = "cli_tests.rs"]
mod cli_tests;
