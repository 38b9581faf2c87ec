//! What can be typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

/// Watches over memory conflicts in neural-network computation graphs
#[derive(Debug, Parser)]
#[command(name = "anchorwatch", version, propagate_version = true, max_term_width = 100)]
#[command(
    after_help = "exit codes: 0 nothing wrong, 1 findings at error level, 2 unusable input, rules or options"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Color the output
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Text with the rules' own lines
    Human,
    /// One object a line
    Json,
}

/// Forms of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Text with the rules' own lines
    Human,
    /// One object a line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

/// Forms of test results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    /// A line a test, and why it failed
    Human,
    /// One object a line
    Json,
    /// JUnit XML
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the pipeline without writing and report what it finds
    Check(CheckArgs),
    /// Run passes and write the changed graph
    Optimize(OptimizeArgs),
    /// Print which anchors share memory
    Symbols(SymbolsArgs),
    /// Tell why a node or an anchor was, or was not, touched
    Explain(ExplainArgs),
    /// Run the tests of the rules
    Test(TestArgs),
    /// Check rules, tests and pinned graphs on every save, and print what changed
    Watch(WatchArgs),
    /// Bring rule files into their one form
    Fmt(FmtArgs),
    /// Point out what is allowed in rules and still most likely a slip
    Lint(LintArgs),
    /// Tell what the rules say, what they lack, and what of them can never happen
    Audit(AuditArgs),
    /// Tell what a change of the rules changes
    Diff(DiffArgs),
    /// Answer an editor: the language server, over standard input and output
    Lsp,
    /// Show the entries of the rules
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Print a script that completes commands in a shell
    Completions { shell: clap_complete::Shell },
    /// Print the manual page, or write the pages of all commands
    Man(ManArgs),
}

/// Which rules.
#[derive(Clone, Debug, Default, Args)]
pub struct RuleArgs {
    /// Use these rules, with folders below, instead of those that `anchorwatch.toml` names, or the shipped ones
    #[arg(long, value_name = "DIR|FILE", help_heading = "Rules")]
    pub rules: Option<PathBuf>,
    /// Add a rule file, which may `override` entries (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    pub overlay: Vec<PathBuf>,
    /// Leave the settings in `anchorwatch.toml` aside
    #[arg(long, help_heading = "Rules")]
    pub no_settings: bool,
}

/// How the rules run.
#[derive(Clone, Debug, Default, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub rules: RuleArgs,
    /// Set an option that the rules declare (repeatable; the last value counts)
    #[arg(long = "option", short = 'O', value_name = "K=V", value_parser = parse_option, help_heading = "Run")]
    pub options: Vec<(String, String)>,
    /// Run these passes or pipelines instead of the whole pipeline
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Run")]
    pub passes: Vec<String>,
    /// Treat this subgraph as the graph given to the passes
    #[arg(long, value_name = "NAME", help_heading = "Run")]
    pub graph: Option<String>,
    /// Run node passes on this node alone
    #[arg(long, value_name = "NAME", help_heading = "Run")]
    pub node: Option<String>,
    /// Run passes without their preparation step
    #[arg(long, help_heading = "Run")]
    pub no_prepare: bool,
    /// Sort the graph topologically first
    #[arg(long, help_heading = "Run")]
    pub sort: bool,
    /// Name a registered kernel library (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Run")]
    pub kernel_lib: Vec<String>,
    /// Tell which library has an operator type, and whether its kernel is atomic (repeatable)
    #[arg(long, value_name = "TYPE=LIB,0|1", value_parser = parse_op_info, help_heading = "Run")]
    pub op_info: Vec<OpInfo>,
    /// Run this many graphs at a time
    #[arg(long, short = 'j', value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Run")]
    pub jobs: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpInfo {
    pub op: String,
    pub library: String,
    pub atomic: bool,
}

/// What is shown.
#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    /// Form of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Human, value_name = "FORM")]
    pub format: ReportFormat,
    /// Show this many findings at most; the default is 50 on a terminal and all elsewhere
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Graph files; `-` is standard input. Without any, the graphs that `anchorwatch.toml` lists
    #[arg(value_name = "GRAPH")]
    pub graphs: Vec<PathBuf>,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
pub struct OptimizeArgs {
    /// Graph files; `-` is standard input
    #[arg(required = true, value_name = "GRAPH")]
    pub graphs: Vec<PathBuf>,
    /// Where to write; `-` is standard output, a directory takes the file names of the graphs
    #[arg(long, short = 'o', value_name = "OUT")]
    pub output: PathBuf,
    /// Also write the list of edits, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub edits: Option<PathBuf>,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
pub struct SymbolsArgs {
    /// Graph file; `-` is standard input
    #[arg(value_name = "GRAPH")]
    pub graph_file: PathBuf,
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("what").args(["target", "kind"]).required(true),
    // Made from the group, it would put the node before the graph.
    override_usage = "anchorwatch explain [OPTIONS] <GRAPH> <NODE[:inN|:outN]>\n       \
                      anchorwatch explain [OPTIONS] <GRAPH> --kind <OP>"
)]
pub struct ExplainArgs {
    /// Graph file; `-` is standard input
    #[arg(value_name = "GRAPH")]
    pub graph_file: PathBuf,
    /// A node, or one of its anchors; it may be one that the run inserts
    #[arg(value_name = "NODE[:inN|:outN]", conflicts_with = "all")]
    pub target: Option<String>,
    /// Tell of all nodes of the type that `--kind` names; it may be left out
    #[arg(long, requires = "kind")]
    pub all: bool,
    /// Tell what became of all nodes of an operator type, and what they cost
    #[arg(long, value_name = "OP")]
    pub kind: Option<String>,
    #[command(flatten)]
    pub run: RunArgs,
    /// Form of the explanation
    #[arg(long, value_enum, default_value_t = OutputFormat::Human, value_name = "FORM")]
    pub format: OutputFormat,
}

#[derive(Debug, Args)]
pub struct TestArgs {
    /// Rule files, which are added to the rules, cases (`NAME.json`), or directories of them; only their tests run.
    /// A file that has rules, too, is what `--coverage` and `--mutate` are about
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Tell which entries and branches no test reached
    #[arg(long, conflicts_with = "mutate")]
    pub coverage: bool,
    /// Form of the results
    #[arg(long, value_enum, default_value_t = TestFormat::Human, value_name = "FORM")]
    pub format: TestFormat,
    #[command(flatten)]
    pub mutation: MutateArgs,
    #[command(flatten)]
    pub rules: RuleArgs,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// Rule files with tests, which are added to the rules, or directories of them
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Run on these graphs, too, and tell which verdicts come and go; also those of `anchorwatch.toml`
    #[arg(long, value_name = "GRAPH", num_args = 1..)]
    pub graphs: Vec<PathBuf>,
    /// Run these passes or pipelines on them instead of the whole pipeline
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub passes: Vec<String>,
    /// Of what came and of what went, show this many lines at most for the rules and for each graph; the default is 20 on
    /// a terminal and all elsewhere
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Look once and end; exit code 1 if there are errors, failing tests, or graphs that cannot be run
    #[arg(long)]
    pub once: bool,
    #[command(flatten)]
    pub rules: RuleArgs,
}

#[derive(Debug, Args)]
pub struct MutateArgs {
    /// Change the rules in small ways, one at a time, and tell which changes no test notices; with `=N` a sample of N
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true)]
    pub mutate: Option<Option<usize>>,
    /// Change only these: names of entries, or paths of rule files; `*` stands for any text
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', requires = "mutate")]
    pub only: Vec<String>,
    /// Which sample
    #[arg(long, value_name = "N", default_value_t = 0, requires = "mutate")]
    pub seed: u64,
    /// Threads, each with the rules and tests in memory
    #[arg(long, value_name = "N", default_value_t = 1, requires = "mutate")]
    pub jobs: usize,
}

#[derive(Debug, Args)]
pub struct FmtArgs {
    /// Rule files, or directories: all rule files below; `-` is standard input, written to standard output
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,
    /// Write nothing, show what would change; exit code 1 if anything would
    #[arg(long)]
    pub check: bool,
}

#[derive(Debug, Args)]
pub struct LintArgs {
    /// Rule files, or directories: all rule files below; the rules themselves if none is given
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Mend what can be mended without changing what the rules mean
    #[arg(long, conflicts_with = "list")]
    pub fix: bool,
    /// List the lints with their levels
    #[arg(long)]
    pub list: bool,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Human, value_name = "FORM")]
    pub format: ReportFormat,
    #[command(flatten)]
    pub rules: RuleArgs,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write a page a command into this directory
    #[arg(long, short = 'o', value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AuditFormat {
    /// Tables for a terminal
    Human,
    /// Everything, as one object
    Json,
    /// One page that needs nothing beside it
    Html,
    /// Tables for a pull request
    Md,
}

#[derive(Debug, Args)]
pub struct AuditArgs {
    /// What is run on the rules, to count what it reaches: graphs, rule files with tests, cases (`NAME.json`), or
    /// directories of the last two. Rules that are to be audited go to `--rules` and `--overlay`
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = AuditFormat::Human, value_name = "FORM")]
    pub format: AuditFormat,
    /// Where to write; `-` is standard output
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Exit with 1 if there are warnings
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub rules: RuleArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// Text for a terminal
    Human,
    /// Everything, as one object
    Json,
    /// Lists for a pull request
    Md,
}

#[derive(Debug, Args)]
#[command(after_help = "exit codes: 0 the two mean the same, 1 they do not, 2 one of them cannot be used")]
pub struct DiffArgs {
    /// Rules before: a directory, a file, or `REVISION:PATH` of the git repository here
    #[arg(value_name = "OLD")]
    pub old: String,
    /// Rules after
    #[arg(value_name = "NEW")]
    pub new: String,
    /// OLD and NEW are overlays: compare the rules with the one and with the other
    #[arg(long)]
    pub overlays: bool,
    /// The rules that both are added to, instead of those of `anchorwatch.toml`, or the shipped ones
    #[arg(long, value_name = "DIR|FILE", requires = "overlays")]
    pub rules: Option<PathBuf>,
    /// Leave the settings in `anchorwatch.toml` aside
    #[arg(long, requires = "overlays")]
    pub no_settings: bool,
    /// Also run both on these graphs, cases and tests, and tell what comes out otherwise
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub graphs: Vec<PathBuf>,
    /// Search for a small graph on which the two disagree, and print it as a test
    #[arg(long)]
    pub witness: bool,
    /// Search for this long
    #[arg(long, value_name = "SECONDS", default_value_t = 20, requires = "witness")]
    pub seconds: u64,
    /// Search through this many graphs, however long it takes
    #[arg(long, value_name = "N", requires = "witness", conflicts_with = "seconds")]
    pub tries: Option<usize>,
    /// Another number searches in another order
    #[arg(long, value_name = "N", default_value_t = 1, requires = "witness")]
    pub seed: u64,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = DiffFormat::Human, value_name = "FORM")]
    pub format: DiffFormat,
}

#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List the entries
    List {
        /// Only entries of this kind, e.g. `checker`
        #[arg(long, value_name = "K")]
        kind: Option<String>,
        /// Form of the list
        #[arg(long, value_enum, default_value_t = OutputFormat::Human, value_name = "FORM")]
        format: OutputFormat,
        #[command(flatten)]
        rules: RuleArgs,
    },
    /// Show an entry, its documentation and who uses it
    Show {
        /// Its name, or its kind and its name
        #[arg(value_name = "NAME", required = true, num_args = 1..=2)]
        name: Vec<String>,
        /// Only entries of this kind
        #[arg(long, value_name = "K")]
        kind: Option<String>,
        #[command(flatten)]
        rules: RuleArgs,
    },
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("an option is written `name=value`".to_owned()),
    }
}

fn parse_op_info(text: &str) -> Result<OpInfo, String> {
    let wrong = || "operator info is written `TYPE=LIBRARY,0` or `TYPE=LIBRARY,1`".to_owned();
    let (op, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (library, atomic) = rest.rsplit_once(',').ok_or_else(wrong)?;
    let atomic = match atomic {
        "0" => false,
        "1" => true,
        _ => return Err(wrong()),
    };
    if op.is_empty() || library.is_empty() {
        return Err(wrong());
    }
    Ok(OpInfo { op: op.to_owned(), library: library.to_owned(), atomic })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn options_are_split_at_the_first_equals_sign() {
        assert_eq!(parse_option("a.b=c=d"), Ok(("a.b".into(), "c=d".into())));
        assert_eq!(parse_option("a="), Ok(("a".into(), String::new())));
        assert!(parse_option("=a").is_err() && parse_option("a").is_err());
    }

    #[test]
    fn operator_info_needs_type_library_and_flag() {
        let info = OpInfo { op: "Add".into(), library: "a,b".into(), atomic: true };
        assert_eq!(parse_op_info("Add=a,b,1"), Ok(info));
        for wrong in ["Add", "Add=a", "Add=a,2", "=a,1", "Add=,1"] {
            assert!(parse_op_info(wrong).is_err(), "{wrong}");
        }
    }
}
