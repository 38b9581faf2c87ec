//! After an edit exactly those queries run whose answers may have changed (`design.md` 2.6).
//!
//! The log of the database names every query that ran. What is checked is the whole log, so a query that starts to
//! run needlessly fails a test by name.

use std::collections::BTreeMap;

use anchorwatch::engine::{Request, RuleSources, Session};
use anchorwatch::graph::{GraphId, Snapshot, Sym};

#[allow(dead_code, reason = "benches use the rest")]
#[path = "../benches/support/generate.rs"]
mod generate;

/// The shipped rules, an option that nothing of the layer reads, and a graph that has run once.
struct Watch {
    session: Session,
    snapshot: Snapshot,
    request: Request,
    files: BTreeMap<String, String>,
    options: BTreeMap<String, String>,
}

type Ran = BTreeMap<String, usize>;

impl Watch {
    /// The layout layer.
    fn new() -> Watch {
        let watch = Watch::of(&["layout"], generate::mixed(1000));
        let outcome = watch.session.run(&watch.snapshot, &watch.request).expect("sound rules");
        assert!(outcome.findings().count() > 10, "the graph has conflicts");
        watch
    }

    /// Passes in order.
    fn of(passes: &[&str], snapshot: Snapshot) -> Watch {
        let mut sources = RuleSources::shipped();
        sources.files.push(("unrelated.anchor".to_owned(), "option unrelated: int = 0\n".to_owned(), true));
        let files = sources.files.iter().map(|(path, text, _)| (path.clone(), text.clone())).collect();
        let steps = passes.iter().map(|pass| Sym::new(pass)).collect();
        let request = Request { graph: GraphId::ROOT, node: None, steps, sort: false };
        let watch =
            Watch { session: Session::logging(sources), snapshot, request, files, options: BTreeMap::new() };
        watch.run();
        watch
    }

    fn run(&self) {
        let outcome = self.session.run(&self.snapshot, &self.request).expect("sound rules");
        assert_eq!(outcome.failures().count(), 0);
        assert!(outcome.steps.iter().any(|step| !step.edits.is_empty()), "there is something to do");
    }

    /// What runs when the graph is checked again.
    fn again(&self) -> Ran {
        self.session.database().start_log();
        self.run();
        let mut ran = Ran::new();
        for name in self.session.database().take_log() {
            *ran.entry(name).or_default() += 1;
        }
        ran
    }

    /// Another condition of the attribute of constants and variables.
    fn edit_fixed(&mut self, condition: &str) -> Ran {
        let from = "  where node.type in CONSTANT_LIKE or node.type in VARIABLES\n";
        self.edit("rules/layout.anchor", from, &format!("  where {condition}\n"))
    }

    fn edit(&mut self, path: &str, from: &str, to: &str) -> Ran {
        let text = self.files.get_mut(path).expect("a rule file");
        assert_eq!(text.matches(from).count(), 1, "`{from}` stands once in {path}");
        *text = text.replacen(from, to, 1);
        self.session.set_text(path, text);
        self.again()
    }

    fn option(&mut self, name: &str, value: &str) -> Ran {
        self.options.insert(name.to_owned(), value.to_owned());
        // The complaints about options are asked for here and are not part of what a check costs.
        let complaints = self.session.set_options(self.options.clone(), BTreeMap::new());
        assert_eq!(complaints, []);
        self.again()
    }

    /// Items of a file: each is looked at again when the text of the file changes.
    fn items(&self, path: &str) -> usize {
        anchorwatch::lang::syntax::parse_file(&self.files[path]).items.len()
    }
}

fn ran(counts: &[(&str, usize)]) -> Ran {
    counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

/// What an edit of the text of one file costs in any case: its parse, and a look at each of its items.
fn reparse(watch: &Watch, path: &str) -> Ran {
    let items = watch.items(path);
    ran(&[
        ("parsed", 1),
        ("file_complaints", 1),
        ("item_count", 1),
        ("item", items),
        ("item_complaints", items),
    ])
}

fn and(mut ran: Ran, more: &[(&str, usize)]) -> Ran {
    for (name, count) in more {
        *ran.entry((*name).to_owned()).or_default() += count;
    }
    ran
}

#[test]
fn nothing_runs_twice() {
    let watch = Watch::new();
    assert_eq!(watch.again(), Ran::new());
}

#[test]
fn setting_the_same_text_and_the_same_options_runs_nothing() {
    let mut watch = Watch::new();
    let text = watch.files["rules/layout.anchor"].clone();
    watch.session.set_text("rules/layout.anchor", &text);
    watch.session.set_options(BTreeMap::new(), BTreeMap::new());
    assert_eq!(watch.again(), Ran::new());
}

#[test]
fn a_comment_runs_the_parse_of_its_file() {
    let mut watch = Watch::new();
    let ran = watch.edit(
        "rules/layout.anchor",
        "// ---- Facts of pairs ----",
        "// ---- What is true of a pair ----",
    );
    assert_eq!(ran, reparse(&watch, "rules/layout.anchor"));
    // Of the same length: no item has moved in its file.
    let ran =
        watch.edit("rules/layout.anchor", "// ---- What is true of a pair", "// ---- WHAT IS TRUE OF A PAIR");
    assert_eq!(ran, self::ran(&[("parsed", 1)]));
}

#[test]
fn text_above_an_item_moves_it_and_runs_the_parse_of_its_file() {
    let mut watch = Watch::new();
    let ran =
        watch.edit("rules/layout.anchor", "// ---- Facts of pairs ----", "\n\n// Many\n// new lines.\n\n");
    assert_eq!(ran, reparse(&watch, "rules/layout.anchor"));
}

#[test]
fn the_documentation_of_an_item_runs_that_item_down_to_its_body() {
    let mut watch = Watch::new();
    let ran = watch.edit("rules/layout.anchor", "/// R08\n", "/// R08, with a remark.\n");
    // Its reason was told, so that is looked at too.
    assert_eq!(ran, and(and(reparse(&watch, "rules/layout.anchor"), BELOW_ONE_ITEM), &[("texts", 1)]));
}

/// What an edit inside one item costs if its typed body stays as it was.
const BELOW_ONE_ITEM: &[(&str, usize)] =
    &[("parsed_item", 1), ("scoped", 1), ("live", 1), ("lowered", 1), ("compiled", 1), ("complaints", 1)];

#[test]
fn a_reason_runs_its_item_down_to_the_texts() {
    let mut watch = Watch::new();
    let ran = watch.edit(
        "rules/layout.anchor",
        "  because \"{fixed.node.name} would be overwritten through the user's buffer\"",
        "  because \"the user would overwrite {fixed.node.name}\"",
    );
    let finds = watch.session.run(&watch.snapshot, &watch.request).expect("sound rules");
    let mut told =
        finds.findings().flat_map(|f| std::iter::once(&f.message).chain(f.also.iter().map(|(_, text)| text)));
    assert!(told.any(|text| text.starts_with("the user would overwrite ")), "the new reason is told");
    assert_eq!(
        ran,
        and(and(reparse(&watch, "rules/layout.anchor"), BELOW_ONE_ITEM), &[("texts", 1), ("tell", 1)])
    );
}

#[test]
fn a_condition_of_a_checker_runs_that_checker_and_the_pass_that_asked_it() {
    let mut watch = Watch::new();
    let ran = watch.edit(
        "rules/layout.anchor",
        "  when is_static(target.root) and fixed.node.type not in VARIABLE_LIKE",
        "  when fixed.node.type not in VARIABLE_LIKE and is_static(target.root)",
    );
    let expected = and(
        and(reparse(&watch, "rules/layout.anchor"), BELOW_ONE_ITEM),
        // What is told is told again, since the rule that it names has changed.
        &[("pair_table", 1), ("program", 1), ("verdicts", 1), ("texts", 1), ("tell", 1)],
    );
    // The verdicts are equal, so the pass that asked for them does not run.
    assert_eq!(ran, expected);
}

#[test]
fn a_checker_that_finds_something_else_runs_the_pass_too() {
    let mut watch = Watch::new();
    let ran = watch.edit(
        "rules/layout.anchor",
        "  when is_static(target.root) and fixed.node.type not in VARIABLE_LIKE",
        "  when fixed.node.type in VARIABLE_LIKE",
    );
    for (query, count) in [("verdicts", 1), ("run_pass", 1), ("symbols", 0), ("mark_list", 0)] {
        assert_eq!(ran.get(query).copied().unwrap_or(0), count, "{query} in {ran:?}");
    }
}

#[test]
fn the_condition_of_an_attribute_runs_its_marks_and_stops_if_they_are_the_same() {
    let mut watch = Watch::new();
    let ran = watch.edit_fixed("node.type in VARIABLES or node.type in CONSTANT_LIKE");
    let expected = and(
        and(reparse(&watch, "rules/layout.anchor"), BELOW_ONE_ITEM),
        &[("program", 1), ("asked", 1), ("mark_list", 1)],
    );
    assert_eq!(ran, expected);
}

#[test]
fn other_marks_run_the_rules_that_read_them_and_what_is_left_over() {
    let mut watch = Watch::new();
    let ran = watch.edit_fixed("node.type in VARIABLES");
    // Its own marks, and the outputs without any.
    assert_eq!(ran.get("mark_list"), Some(&2), "{ran:?}");
    assert_eq!(ran.get("symbols"), None, "{ran:?}");
    let rules = ran["verdicts"];
    assert!((1..=12).contains(&rules), "only rules of these two marks run, not {rules}");
    assert_eq!(ran.get("run_pass"), Some(&1), "{ran:?}");
}

#[test]
fn a_pair_that_meets_nowhere_runs_nothing_on_the_graph() {
    let mut watch = Watch::of(&["tensor_move", "layout"], generate::mixed(1000));
    let ran = watch.edit(
        "rules/layout.anchor",
        "always IMMUTABLE_ADDRESS_OUTPUT with CONTINUOUS_INPUT\n  because \"a constant or variable cannot move into a block\"\n",
        "",
    );
    // The items behind it have moved up, and are the same, as are their texts. Of pairs it is looked up what is done about them.
    for query in ["program", "symbols", "mark_list", "verdicts", "run_pass", "tell"] {
        assert_eq!(ran.get(query), None, "{query} in {ran:?}");
    }
    assert_eq!(ran.get("pair_table"), Some(&1), "{ran:?}");
    assert!(ran["class_of"] > 0, "{ran:?}");
}

#[test]
fn a_pair_that_meets_runs_its_rule_and_the_passes_that_asked_of_it() {
    let mut watch = Watch::new();
    let ran = watch.edit(
        "rules/layout.anchor",
        "// ---- Facts of pairs ----",
        "always USER_MEMORY_INPUT with NORMAL_INPUT because \"handed in\"\n",
    );
    assert_eq!(ran.get("verdicts"), Some(&1), "{ran:?}");
    assert_eq!(ran.get("run_pass"), Some(&1), "{ran:?}");
}

#[test]
fn an_option_runs_what_reads_it() {
    let mut watch = Watch::new();
    let ran = watch.option("ge.buildGraphMode", "offline");
    let options = watch.session.entries().iter().filter(|e| format!("{:?}", e.kind) == "Option").count();
    // One checker calls the function that reads the option.
    assert_eq!(ran.get("verdicts"), Some(&1), "{ran:?}");
    assert_eq!(ran.get("program"), Some(&1), "{ran:?}");
    assert_eq!(ran.get("run_pass"), None, "{ran:?}");
    assert!(ran.get("setting").is_none_or(|&n| n <= options), "{ran:?}");
    assert!(ran.keys().all(|query| ["setting", "program", "verdicts"].contains(&query.as_str())), "{ran:?}");
}

#[test]
fn an_unrelated_option_runs_nothing_on_the_graph() {
    let mut watch = Watch::new();
    let ran = watch.option("unrelated", "7");
    assert!(ran.keys().all(|query| query == "setting"), "{ran:?}");
}

#[test]
fn a_new_item_runs_no_rule_on_the_graph() {
    let mut watch = Watch::new();
    let ran = watch.edit(
        "rules/layout.anchor",
        "// ---- Facts of pairs ----",
        "fn nobody_calls_this(n: Node) -> Bool = n.has_subgraph\n",
    );
    for query in ["symbols", "mark_list", "verdicts", "run_pass"] {
        assert_eq!(ran.get(query), None, "{query} in {ran:?}");
    }
}

#[test]
fn a_second_graph_reads_no_rule_text() {
    let mut watch = Watch::new();
    watch.snapshot = generate::mixed(1200);
    let ran = watch.again();
    assert!(ran.contains_key("run_pass"), "{ran:?}");
    // A reason that is told for the first time is looked up; nothing is compiled again.
    let asked = ["symbols", "mark_list", "verdicts", "found", "run_pass", "tell", "texts", "program"];
    assert!(ran.keys().all(|query| asked.contains(&query.as_str())), "{ran:?}");
}

const CELL: &str = "  ReadOnly      | DoNothing  | DoNothing      | InsertIdentity | WrongGraph";
const OTHER_CELL: &str = "  ReadOnly      | DoNothing  | InsertIdentity | InsertIdentity | WrongGraph";

/// What an edit inside one item costs whose typed body is another one then, and one pass that reads it.
const ONE_ITEM_AND_ITS_PASS: &[(&str, usize)] = &[("program", 1), ("run_pass", 1), ("tell", 1)];

#[test]
fn a_cell_of_a_matrix_runs_the_pass_that_reads_it() {
    let mut watch = Watch::of(&["hccl_continuous", "rw"], generate::accesses(1000));
    let ran = watch.edit("rules/readwrite.anchor", CELL, OTHER_CELL);
    // The pass before it stands as it was. The program does not hold the cells: those that were asked are looked up again.
    let looked_up: usize = ["cell", "stands_in"].iter().map(|query| ran[*query]).sum();
    assert!((2..=40).contains(&looked_up), "{ran:?}");
    let ran: Ran =
        ran.into_iter().filter(|(query, _)| !["cell", "stands_in"].contains(&query.as_str())).collect();
    let expected = and(and(reparse(&watch, "rules/readwrite.anchor"), BELOW_ONE_ITEM), &[("outline", 1)]);
    assert_eq!(ran, and(expected, &[("run_pass", 1), ("tell", 1)]));
}

#[test]
fn a_cell_of_a_matrix_leaves_passes_alone_that_did_not_ask_it() {
    let mut watch = Watch::of(&["tensor_move"], generate::mixed(1000));
    // No input is used in several ways at once here.
    let ran = watch.edit(
        "rules/readwrite.anchor",
        "  Writeable     | DoNothing  | DoNothing      | InsertIdentity | WrongGraph",
        "  Writeable     | DoNothing  | DoNothing      | InsertIdentity | InsertIdentity",
    );
    for query in ["program", "run_pass", "tell"] {
        assert_eq!(ran.get(query), None, "{query} in {ran:?}");
    }
    // All copies here are of values of one kind, for readers that only look.
    let rows = ["SoftRead     ", "Writeable    ", "ReadOnly     "];
    let ran = rows.map(|row| {
        let (from, to) = (format!("  {row} | DoNothing "), format!("  {row} | InsertIdentity "));
        watch.edit("rules/readwrite.anchor", &from, &to)
    });
    assert!(ran.iter().all(|ran| !ran.contains_key("program")), "{ran:?}");
    let runs: usize = ran.iter().filter_map(|ran| ran.get("run_pass")).sum();
    assert_eq!(runs, 1, "{ran:?}");
}

#[test]
fn a_cell_of_a_matrix_runs_no_pass_that_does_not_read_it() {
    let mut watch = Watch::of(&["hccl_memcpy", "hccl_continuous"], generate::accesses(1000));
    let ran = watch.edit("rules/readwrite.anchor", CELL, OTHER_CELL);
    // Looked at for complaints; nobody asks for its body.
    let looked_at: Vec<_> =
        BELOW_ONE_ITEM.iter().filter(|(query, _)| *query != "compiled").copied().collect();
    assert_eq!(ran, and(reparse(&watch, "rules/readwrite.anchor"), &looked_at));
}

/// A condition of a pass, and another one.
const INPUTS_TO_COPY: (&str, &str) = (
    "    for n in g.nodes where n.attr(_input_mutable) {",
    "    for n in g.nodes where n.attr(_input_mutable) and n.inputs.count > 1 {",
);

#[test]
fn a_condition_of_a_pass_runs_that_pass_and_what_comes_after_it() {
    let (from, to) = INPUTS_TO_COPY;
    let mut watch = Watch::of(&["hccl_continuous", "hccl_memcpy"], generate::accesses(1000));
    let ran = watch.edit("rules/hccl.anchor", from, to);
    let own = and(and(reparse(&watch, "rules/hccl.anchor"), BELOW_ONE_ITEM), ONE_ITEM_AND_ITS_PASS);
    assert_eq!(ran, own);
    // The later pass gets another graph; its program is the same.
    let mut watch = Watch::of(&["hccl_memcpy", "hccl_continuous"], generate::accesses(1000));
    let ran = watch.edit("rules/hccl.anchor", from, to);
    assert_eq!(ran, and(own, &[("run_pass", 1), ("tell", 1)]));
}

#[test]
fn a_condition_of_a_pass_links_no_pipeline_that_runs_it() {
    let mut watch = Watch::of(&["preparation"], generate::accesses(1000));
    let (from, to) = INPUTS_TO_COPY;
    let ran = watch.edit("rules/hccl.anchor", from, to);
    assert_eq!(ran.get("program"), Some(&1), "{ran:?}");
}

#[test]
fn a_pass_that_leaves_the_same_graph_runs_nothing_behind_it() {
    let mut watch = Watch::of(&["hccl_memcpy", "hccl_continuous"], generate::accesses(1000));
    let (from, to) = (
        "    for n in g.nodes where n.attr(_input_mutable) {",
        "    for n in g.nodes where n.inputs.count < 1000 and n.attr(_input_mutable) {",
    );
    let ran = watch.edit("rules/hccl.anchor", from, to);
    // The snapshot is another one, but it holds the same.
    let own = and(and(reparse(&watch, "rules/hccl.anchor"), BELOW_ONE_ITEM), ONE_ITEM_AND_ITS_PASS);
    assert_eq!(ran, own);
}

#[test]
fn a_checker_runs_no_pass_that_could_have_asked_it_and_did_not() {
    let mut watch = Watch::of(&["tensor_move"], generate::mixed(1000));
    let ran = watch.edit(
        "rules/layout.anchor",
        "  when not in_special_memory(block)",
        "  when in_special_memory(block) == false",
    );
    assert_eq!(ran.get("run_pass"), None, "{ran:?}");
    assert_eq!(ran.get("compiled"), Some(&1), "{ran:?}");
}

/// Copies about whose two sides it is asked whether they may be joined: of the first there is a rule that says no, of the others there
/// is none.
const JOINED: &str = "a: Relu { _output_memory_type = [17] }\n\
    t1: TensorMove(a)\n\
    b: Relu(t1) { _input_memory_type = [64] }\n\
    v: Variable\n\
    r: Relu(v)\n\
    t2: TensorMove(r)\n\
    x: Abs\n\
    t3: TensorMove(x)\n\
    y: Abs(t3)\n\
    no: NetOutput(t2, b)\n";

fn joined() -> Watch {
    Watch::of(&["tensor_move"], anchorwatch::format::notation::parse(JOINED).0.expect("a graph"))
}

#[test]
fn a_condition_of_an_attribute_puts_the_questions_of_a_pass_again_and_leaves_the_pass_alone() {
    for mut watch in [Watch::of(&["tensor_move"], generate::mixed(1000)), joined()] {
        let ran = watch.edit_fixed("node.type in CONSTANT_LIKE");
        let stands = [("program", 1), ("conditions", 1), ("stands", 1)];
        let expected = and(and(reparse(&watch, "rules/layout.anchor"), BELOW_ONE_ITEM), &stands);
        assert_eq!(ran, expected);
    }
}

#[test]
fn a_condition_that_a_search_asks_leaves_the_pass_alone_while_it_finds_the_same() {
    let mut watch = joined();
    let other = |text: &str| format!("attribute RTS_SPECIAL_TYPE_INPUT on input\n  where {text}\n");
    let ran = watch.edit(
        "rules/layout.anchor",
        &other("in_special_memory(anchor)"),
        &other("in_special_memory(anchor) and node.inputs.count == 1"),
    );
    assert_eq!((ran.get("stands"), ran.get("run_pass")), (Some(&1), None), "{ran:?}");
    // Nothing is special: what was found is not found any more.
    let ran = watch.edit(
        "rules/layout.anchor",
        &other("in_special_memory(anchor) and node.inputs.count == 1"),
        &other("in_special_memory(anchor) and node.inputs.count > 1"),
    );
    assert_eq!((ran.get("stands"), ran.get("run_pass")), (Some(&2), Some(&1)), "{ran:?}");
}

#[test]
fn a_condition_that_brings_rules_into_question_runs_the_pass() {
    let mut watch = joined();
    let ran = watch.edit(
        "rules/layout.anchor",
        "attribute RTS_SPECIAL_TYPE_OUTPUT on output\n  where in_special_memory(anchor)\n",
        "attribute RTS_SPECIAL_TYPE_OUTPUT on output\n  where node.type == Relu\n",
    );
    assert_eq!(ran.get("run_pass"), Some(&1), "{ran:?}");
}

/// 300 questions that take a search, after each of them `rest`: how often the pass runs after an edit that changes no answer.
fn runs_after_many_searches(rest: impl Fn(usize) -> String) -> Option<usize> {
    let copies = (0..300).map(|n| {
        let (left, right) = ("{ _output_memory_type = [17] }", "{ _input_memory_type = [64] }");
        format!("left{n}: Relu {left}\ncopy{n}: TensorMove(left{n})\nright{n}: Relu(copy{n}) {right}\n")
            + &rest(n)
    });
    let text: String = copies.chain([JOINED.to_owned()]).collect();
    let graph = anchorwatch::format::notation::parse(&text).0.expect("a graph");
    let mut watch = Watch::of(&["tensor_move"], graph);
    watch.edit_fixed("node.type in CONSTANT_LIKE").get("run_pass").copied()
}

#[test]
fn a_pass_that_asked_in_more_states_than_are_kept_runs_again() {
    assert_eq!(runs_after_many_searches(|_| String::new()), None);
    let deleted = |n| format!("x{n}: Abs\nmove{n}: TensorMove(x{n})\ny{n}: Abs(move{n})\n");
    assert_eq!(runs_after_many_searches(deleted), Some(1));
}
