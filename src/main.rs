use std::process::ExitCode;

fn main() -> ExitCode {
    anchorwatch::cli::main()
}
