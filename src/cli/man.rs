//! `man`: the manual, made from what the command line is.

use clap::{Command, CommandFactory};

use super::args::{Cli, ManArgs};
use super::desk::{Desk, Done};
use super::output::Pending;
use super::{FINE, input};
use crate::report::Complaint;

/// Writes a page for the program and for each of its commands into a directory, or the program's page to standard
/// output.
pub fn man(args: &ManArgs, desk: &mut Desk<'_, '_>) -> Done {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &args.output else {
        let page = page(program)?.1;
        desk.print_bytes(&page)?;
        return Ok(FINE);
    };
    if folder.exists() && !folder.is_dir() {
        let message = format!("`{}` is no directory", folder.display());
        let help = "name another; one that is not there is made";
        return Err(Complaint::error("cli::no-directory", message).help(help).into());
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        let message = format!("`{}` cannot be made: {}", folder.display(), input::reason(&error));
        Complaint::error("io::write", message)
    })?;
    let mut pages = Vec::new();
    // A command is written with its parents, and is behind them in this list.
    let mut commands = vec![program];
    while let Some(command) = commands.pop() {
        commands.extend(command.get_subcommands().filter(|command| !command.is_hide_set()).cloned());
        pages.push(page(command)?);
    }
    for (name, page) in &pages {
        Pending::write(&folder.join(name), page)?.commit()?;
    }
    Ok(FINE)
}

/// A command's page with the name of its file.
fn page(command: Command) -> Result<(String, Vec<u8>), Complaint> {
    let page = clap_mangen::Man::new(command);
    let mut bytes = Vec::new();
    page.render(&mut bytes).map_err(|error| {
        Complaint::error("io::write", format!("the page cannot be made: {}", input::reason(&error)))
    })?;
    Ok((page.get_filename(), bytes))
}
