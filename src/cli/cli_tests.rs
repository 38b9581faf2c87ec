//! Commands from arguments to streams, on an engine made for it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::desk::Io;
use super::testing::{RULES, connect};
use super::{FINE, FOUND, UNUSABLE, run};
use crate::report::testing::GRAPH;

/// What a command left.
struct Left {
    code: u8,
    out: String,
    err: String,
}

/// A directory with the files that the commands of a test name as `@NAME`.
struct Place(tempfile::TempDir);

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).expect("a writable directory");
        }
        Place(dir)
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.path().join(name)).ok()
    }

    fn run(&self, line: &str) -> Left {
        self.run_with(line, "", &[])
    }

    fn run_with(&self, line: &str, stdin: &str, environment: &[(&str, &str)]) -> Left {
        let here = format!("{}/", self.0.path().display());
        let words = line.split_whitespace().map(|word| OsString::from(word.replace('@', &here)));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut io = Io {
            stdin: &mut stdin.as_bytes(),
            stdout: &mut out,
            stderr: &mut err,
            stdout_terminal: false,
            stderr_terminal: false,
            environment: environment
                .iter()
                .map(|(k, v)| (k.to_string(), v.to_string()))
                .collect::<BTreeMap<_, _>>(),
        };
        let code = run(std::iter::once("anchorwatch".into()).chain(words), &mut io, &connect);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text").replace(&here, "@");
        Left { code, out: text(out), err: text(err) }
    }
}

fn files() -> Place {
    Place::new(&[
        ("g.graph", GRAPH),
        ("fine.graph", "a: Feed\nb: Step(a)\n"),
        ("bad.graph", "a: Feed\nb: Step(aa)\n"),
    ])
}

#[test]
fn check_draws_findings_and_sums() {
    let left = files().run("check @g.graph");
    assert_eq!((left.code, left.err.as_str()), (FOUND, ""));
    assert_eq!(
        left.out,
        "\
pass arrange

conflict[user_out_and_fixed_out]

  × c would be overwritten through the user's buffer
   ╭─[r.anchor:7:13]
 6 │ checker user_out_and_fixed_out
 7 │   for user: USER_OUT, fixed: FIXED_OUT
   ·             ────┬───         ────┬────
   ·                 │                ╰── `c:out0`, Fixed in graph `main`
   ·                 ╰── `no:in0`, Sink in graph `main`: the copy goes before it
   ╰────
  note: always BLOCK with BLOCK agrees: one block is enough
  help: Copy `copy_0` would be inserted between `c:out0` and `no:in0`

summary: 1 graph, 1 error
  checker user_out_and_fixed_out       1
  pass arrange: would insert 1 Copy
"
    );
}

#[test]
fn check_without_findings_is_fine() {
    let left = files().run("check @fine.graph");
    assert_eq!(
        (left.code, left.out.as_str(), left.err.as_str()),
        (FINE, "summary: 1 graph, no findings\n", "")
    );
}

#[test]
fn a_file_that_is_no_graph_shows_the_line() {
    let left = files().run("check @bad.graph");
    assert_eq!((left.code, left.out.as_str()), (UNUSABLE, "summary: 1 graph, 1 failed\n"));
    assert!(left.err.starts_with("format::unknown-node\n"), "{}", left.err);
    assert!(left.err.contains("╭─[@bad.graph:2:9]\n 1 │ a: Feed\n 2 │ b: Step(aa)\n"), "{}", left.err);
}

#[test]
fn a_bad_file_among_good_ones_costs_itself_alone() {
    let left = files().run("check @fine.graph @bad.graph @g.graph @missing.graph");
    assert_eq!(left.code, UNUSABLE);
    assert!(left.out.ends_with(
        "summary: 4 graphs, 1 error, 2 failed\n  checker user_out_and_fixed_out       1\n  pass arrange: would insert 1 Copy\n"
    ));
    assert!(left.out.starts_with("@g.graph\n\npass arrange\n\nconflict["), "{}", left.out);
    assert!(left.err.contains("`@missing.graph` cannot be read: no such file or directory"), "{}", left.err);
}

#[test]
fn threads_leave_no_trace() {
    let place = files();
    let graphs = "@g.graph @fine.graph @bad.graph ".repeat(12);
    let one = place.run(&format!("check {graphs}"));
    let many = place.run(&format!("check -j 4 {graphs}"));
    assert_eq!((one.code, one.out, one.err), (many.code, many.out, many.err));
}

#[test]
fn json_is_one_object_a_line_on_one_stream() {
    let left = files().run("check --format json @g.graph @bad.graph");
    assert_eq!((left.code, left.err.as_str()), (UNUSABLE, ""));
    let types: Vec<String> = left
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["type"].to_string())
        .collect();
    assert_eq!(types, ["\"finding\"", "\"complaint\"", "\"summary\""]);
}

#[test]
fn the_limit_hides_findings_but_counts_them() {
    let left = files().run("check --limit 1 @g.graph @g.graph @g.graph");
    assert_eq!(left.out.matches("conflict[").count(), 1);
    assert!(
        left.out
            .contains("and 2 more findings; `--limit N` shows more of them\n\nsummary: 3 graphs, 3 errors\n")
    );
    assert_eq!(left.code, FOUND);
}

#[test]
fn standard_input_is_a_graph_once() {
    let place = files();
    let left = place.run_with("check -", GRAPH, &[]);
    assert_eq!(left.code, FOUND);
    let left = place.run_with("check - -", GRAPH, &[]);
    assert_eq!(left.code, UNUSABLE);
    assert!(left.err.starts_with("cli::stdin-twice\n"), "{}", left.err);
}

#[test]
fn options_must_be_declared_and_valid() {
    let place = files();
    assert_eq!(place.run("check @g.graph -O mode=fast").code, FINE);
    assert_eq!(place.run_with("check @g.graph", "", &[("mode", "fast")]).code, FINE);
    let left = place.run("check @g.graph --option mod=fast");
    assert_eq!(
        (left.code, left.err.as_str()),
        (
            UNUSABLE,
            "cli::unknown-option\n\n  × the rules declare no option `mod`\n  help: did you mean `mode`?\n\n"
        )
    );
    let left = place.run("check @g.graph -O mode=slow");
    assert_eq!((left.code, left.out.as_str()), (UNUSABLE, ""));
    assert!(left.err.contains("× `mode` is `sound` or `fast`"), "{}", left.err);
    let left = place.run("check @g.graph --kernel-lib x");
    assert!(left.err.contains("× the rules have no use for `--kernel-lib`"), "{}", left.err);
}

#[test]
fn unknown_passes_graphs_and_nodes_get_their_nearest_neighbour() {
    let place = files();
    for (line, code, help) in [
        ("check @g.graph --passes arragne", "cli::unknown-pass", "did you mean `arrange`?"),
        ("check @g.graph --graph mian", "graph::unknown-graph", "did you mean `main`?"),
        ("check @g.graph --graph other", "graph::unknown-graph", "the model has `main`"),
        ("check @g.graph --node nno", "graph::unknown-node", "did you mean `no`?"),
    ] {
        let left = place.run(line);
        assert_eq!(left.code, UNUSABLE, "{line}");
        assert!(
            left.err.starts_with(&format!("{code}\n")) && left.err.contains(help),
            "{line}: {}",
            left.err
        );
    }
}

#[test]
fn rules_with_errors_show_the_line_and_end_the_command() {
    let place = files();
    std::fs::write(place.0.path().join("r.anchor"), "pass arrange { }\nset wrong\n").expect("a file");
    let left = place.run("check @g.graph --rules @r.anchor");
    assert_eq!((left.code, left.out.as_str()), (UNUSABLE, ""));
    assert_eq!(
        left.err,
        "\
rule::test

  × a wrong word
   ╭─[@r.anchor:2:5]
 1 │ pass arrange { }
 2 │ set wrong
   ·     ──┬──
   ·       ╰── here
   ╰────

"
    );
}

#[test]
fn optimize_writes_graph_and_edits() {
    let place = files();
    let left = place.run("optimize @g.graph -o @out.graph --edits @edits.jsonl");
    assert_eq!(left.code, FINE, "{}", left.err);
    assert!(left.out.contains("Copy `copy_0` was inserted between"), "{}", left.out);
    assert!(place.read("out.graph").is_some_and(|text| text.contains("no: Sink(c)")));
    assert_eq!(
        place.read("edits.jsonl").as_deref(),
        Some(
            "{\"pass\":\"arrange\",\"rule\":\"user_out_and_fixed_out\",\"kind\":\"insert\",\"op\":\"Copy\",\
             \"name\":\"copy_0\",\"from\":{\"node\":\"c\",\"output\":0},\"to\":[{\"node\":\"no\",\"input\":0}]}\n"
        )
    );
}

#[test]
fn optimize_to_standard_output_reports_beside_it() {
    let left = files().run("optimize @g.graph -o -");
    assert_eq!(left.code, FINE);
    assert!(left.out.contains("no: Sink(c)") && !left.out.contains("summary"), "{}", left.out);
    assert!(left.err.contains("summary: 1 graph, 1 error"), "{}", left.err);
}

#[test]
fn a_failed_pass_writes_nothing() {
    let place = files();
    let left = place.run("optimize @g.graph -o @out.graph -O mode=broken");
    assert_eq!(left.code, UNUSABLE);
    assert!(
        left.err.starts_with("failed[arrange]\n\n  × the graph has a cycle\n    at: @g.graph\n"),
        "{}",
        left.err
    );
    assert_eq!(place.read("out.graph"), None);
}

#[test]
fn many_graphs_need_a_directory() {
    let place = files();
    let left = place.run("optimize @g.graph @fine.graph -o @out.graph");
    assert!(left.err.starts_with("cli::one-output\n"), "{}", left.err);
    std::fs::create_dir(place.0.path().join("out")).expect("a directory");
    assert_eq!(place.run("optimize @g.graph @fine.graph -o @out").code, FINE);
    assert!(place.read("out/g.graph").is_some() && place.read("out/fine.graph").is_some());
}

#[test]
fn symbols_are_a_line_each() {
    let left = files().run("symbols @g.graph");
    assert_eq!((left.code, left.out.as_str()), (FINE, "c_out_0: c_out_0 no_in_0\n"));
}

#[test]
fn explain_takes_nodes_and_anchors() {
    let place = files();
    for (target, title) in [("no", "no"), ("no:in0", "no:in0"), ("no:in", "no:in0"), ("c:out0", "c:out0")] {
        let left = place.run(&format!("explain @g.graph {target}"));
        assert_eq!(left.code, FINE, "{}", left.err);
        assert!(left.out.starts_with(&format!("{title}  ")), "{}", left.out);
    }
    for (target, code) in [
        ("nope", "graph::unknown-node"),
        ("no:in7", "graph::no-such-anchor"),
        ("no:inx", "graph::no-such-anchor"),
        ("no:x", "graph::no-such-anchor"),
    ] {
        let left = place.run(&format!("explain @g.graph {target}"));
        assert_eq!(left.code, UNUSABLE, "{target}");
        assert!(left.err.starts_with(&format!("{code}\n")), "{}", left.err);
    }
}

#[test]
fn rules_are_listed_in_columns_or_as_json() {
    let place = files();
    assert_eq!(
        place.run("rules list").out,
        "\
option     mode                    r.anchor:3            How to go about it.
pass       arrange                 r.anchor:4
attribute  USER_OUT                r.anchor:5 (overlay)
checker    user_out_and_fixed_out  r.anchor:6
"
    );
    assert_eq!(
        place.run("rules list --kind pass --format json").out,
        "{\"kind\":\"pass\",\"name\":\"arrange\",\"path\":\"r.anchor\",\"line\":4,\"overlay\":false}\n"
    );
    let left = place.run("rules list --kind cheker");
    assert!(left.err.contains("did you mean `checker`?") && left.code == UNUSABLE, "{}", left.err);
}

#[test]
fn rules_are_shown_with_their_users() {
    let place = files();
    let left = place.run("rules show USER_OUT");
    assert_eq!(
        left.out,
        "\
// r.anchor:5, overlay
attribute USER_OUT on input where true

used by
  checker user_out_and_fixed_out (r.anchor:6)
"
    );
    assert_eq!(
        place.run("rules show mode").out,
        "// r.anchor:3\n/// How to go about it.\n/// More about that.\noption mode: { sound, fast } = sound\n"
    );
    let left = place.run("rules show user_out_and_fixd_out");
    assert_eq!(left.code, UNUSABLE);
    assert!(left.err.contains("did you mean `user_out_and_fixed_out`?"), "{}", left.err);
}

#[test]
fn tests_are_listed_and_counted() {
    let place = Place::new(&[("r.anchor", RULES)]);
    let left = place.run("test --rules @r.anchor --coverage");
    assert_eq!(left.code, FOUND);
    assert!(
        left.out.starts_with("  ok  one copy  (r.anchor:9)\nFAIL  no copy  (r.anchor:9)\nrule::test\n"),
        "{}",
        left.out
    );
    assert!(
        left.out.ends_with(
            "
not reached by any test
  checker a, branch `else` (r.anchor:6)
  checker b (r.anchor:6)
reached 1 of 2 entries, 0 of 1 branches

1 passed, 1 failed
"
        ),
        "{}",
        left.out
    );
}

#[test]
fn colour_is_a_choice() {
    let place = files();
    assert!(place.run("check --color always @g.graph").out.contains("\x1b["));
    assert!(!place.run("check --color auto @g.graph").out.contains("\x1b["));
}

#[test]
fn completions_name_the_commands() {
    let left = files().run("completions bash");
    assert_eq!(left.code, FINE);
    assert!(left.out.contains("optimize"));
}

#[test]
fn wrong_words_are_unusable() {
    let place = files();
    for line in [
        "",
        "chekc x",
        "check",
        "check @g.graph -O mode",
        "check @g.graph --op-info a=b,2",
        "check -j 0 @g.graph",
    ] {
        let left = place.run(line);
        assert_eq!((left.code, left.out.as_str()), (UNUSABLE, ""), "{line}");
        assert!(!left.err.is_empty());
    }
    assert_eq!(place.run("--version").code, FINE);
}

/// A sink whose reader is gone.
struct Gone;

impl std::io::Write for Gone {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_went_away_ends_the_command_quietly() {
    let place = files();
    let graph = place.0.path().join("g.graph").into_os_string();
    let mut err = Vec::new();
    let mut io = Io {
        stdin: &mut std::io::empty(),
        stdout: &mut Gone,
        stderr: &mut err,
        stdout_terminal: false,
        stderr_terminal: false,
        environment: BTreeMap::new(),
    };
    let words = ["anchorwatch".into(), "check".into(), graph];
    assert_eq!(run(words, &mut io, &connect), 141);
    assert_eq!(err, b"");
}
