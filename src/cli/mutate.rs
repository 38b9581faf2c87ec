//! `test --mutate`: would the tests notice if a rule said something else?

use super::args::MutateArgs;
use super::desk::{Desk, Done};
use super::session::{MutantChoice, Tests, Tried, mutate};
use super::{FINE, FOUND};
use crate::report::{Complaint, mutation};

/// Makes small changes of the rules, one at a time, and tells of those that no test notices.
pub fn run(args: &MutateArgs, tests: &Tests, of: &[String], desk: &mut Desk<'_, '_>) -> Done {
    let choice = MutantChoice {
        files: of,
        only: &args.only,
        sample: args.mutate.flatten(),
        seed: args.seed,
        jobs: args.jobs,
    };
    let bar = desk.progress("mutants");
    let measured: Result<Vec<Tried>, Vec<String>> =
        mutate(tests, &choice, &|all| bar.start(all), &|| bar.advance());
    bar.end();
    let measured = measured.map_err(|failing| {
        let complaint = Complaint::error("mutate::failing", "tests fail without any change of the rules");
        failing.into_iter().fold(complaint, Complaint::note)
    })?;
    if measured.is_empty() {
        return Err(Complaint::error("mutate::none", "there is nothing to change")
            .help("`--only` takes names of entries or paths of rule files; `*` stands for any text")
            .into());
    }
    let text = if desk.is_json() { mutation::json(&measured) } else { mutation::human(&measured, &desk.out) };
    desk.print(&text)?;
    Ok(if mutation::Score::of(&measured).survived > 0 { FOUND } else { FINE })
}
