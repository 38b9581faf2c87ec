//! The syntax of rule files: what the language reference shows, parses; what a tree prints, parses to that tree.

use anchorwatch::graph::Sym;
use anchorwatch::lang::fmt::format;
use anchorwatch::lang::syntax::ast::{
    BinaryOp, ExpectKind, Expr, ExprKind, FirstCase, ItemData, Kind, Name, Quantifier, Span, StatementKind,
    Text, TextPart,
};
use anchorwatch::lang::syntax::{parse_expr, parse_file, parse_item, print_expr, print_item};
use proptest::prelude::*;

#[path = "support/reference.rs"]
mod reference;
use reference::examples;

#[test]
fn every_example_of_the_reference_parses() {
    let mut count = 0;
    for example in examples() {
        let file = parse_file(&example);
        assert!(file.diagnostics.is_empty(), "{example}\n{:#?}", file.diagnostics);
        assert!(!file.items.is_empty(), "{example}");
        for item in &file.items {
            assert!(item.item.is_some(), "{}\n{:#?}", item.source.text, item.diagnostics);
            count += 1;
        }
    }
    assert!(count >= 35, "only {count} examples were found");
}

#[test]
fn an_item_parses_the_same_wherever_it_stands() {
    let item = "/// doc\nfn f(n: Node) -> Bool = n.type in { A, B }";
    let (alone, _) = parse_item(item);
    let file = parse_file(&format!("//! x\n\n// y\n{item}\n\nset A = {{ B }}\n"));
    assert_eq!(file.items[0].item, alone);
    assert_eq!(alone.and_then(|item| item.doc).as_deref(), Some("doc"));
}

/// A tree as text, without its places.
fn shape(tree: &impl std::fmt::Debug) -> String {
    let text = format!("{tree:?}");
    let mut parts = text.split("Span { start: ");
    let mut shape = parts.next().unwrap_or("").to_owned();
    for part in parts {
        shape.push_str(part.split_once(" }").map_or("", |(_, rest)| rest));
    }
    shape
}

#[test]
fn what_is_printed_of_the_reference_parses_to_the_same_tree() {
    for example in examples() {
        for item in parse_file(&example).items {
            let tree = item.item.expect("examples parse");
            let printed = print_item(&tree);
            let (again, complaints) = parse_item(&printed);
            let again = again.unwrap_or_else(|| panic!("{printed}\n{complaints:#?}"));
            assert_eq!(shape(&again), shape(&tree), "{printed}");
            assert_eq!(print_item(&again), printed);
        }
    }
}

#[test]
fn every_statement_and_expectation_parses_and_prints_the_same() {
    let statements = [
        "let x = xs where it.node == n",
        "if a { stop } else if b {\n stop } else { stop; stop }",
        "for x in xs where x.type in { A, B } { cut x }",
        "for x in (xs where it.ok) where x.type not in S { cut x }",
        "stop",
        "do isolate_input(i)",
        "let n = do f(i, 1)",
        "give n",
        "isolate before user because \"{user.node.name} is \\{kept}\"",
        "isolate first",
        "found a",
        "join a to b.source",
        "unite a with b ?? c",
        "fail \"no\"",
        "halt \"no\"",
        "clear a.source except S",
        "set n.note(seen) = none",
        "report n, m.inputs[0] \"text\" help \"try\"",
        "insert Identity",
        "let n = insert Identity named \"identity_{counter(identity)}\" { inputs = 1  outputs = 2, behind = m }",
        "delete n",
        "connect o -> i",
        "cut i",
        "link a => b",
        "unlink a => first { c => a else => b }",
        "set n.attr(_a.b) = none",
        "set i.source.desc.attr(x) = false",
        "set (a ?? b).tensor = b.tensor",
        "set a.data_offset = -1",
        "sort with compile_order",
        "apply concat_notask to n",
        "resolve memory in t as a {\n do f(a)\n}",
    ];
    let expectations = [
        "nothing",
        "insert before n:1",
        "insert after n:0 by rule named \"x_0\"",
        "insert before [n:0, \"a b\":1]",
        "edge a:0 -> b:1",
        "no edge a/b.c-d:0 -> b:1",
        "control a => b",
        "no control a => b",
        "error \"part\"",
        "warn W1",
        "no warn W1",
        "kept c by no_scalar",
        "done c",
        "graph {\n a: Data \n}",
        "that root.nodes.count == 2 and node(\"a\") is some",
    ];
    let all_expected = format!("test \"t\" {{\nexpect {}\n}}", expectations.join("\nexpect "));
    let together = format!("pass p {{\n{}\n}}", statements.join("\n"));
    let statements = statements.iter().map(|statement| format!("pass p {{\n{statement}\n}}"));
    let expectations = expectations
        .iter()
        .map(|expect| format!("test \"t\" for p, q on sub twice {{\n expect {expect}\n}}"));
    let removals = ["override fn f(n: Node) -> list<Node?> = [none]", "remove attr a.b", "remove test \"t\""];
    for source in
        statements.chain(expectations).chain(removals.map(str::to_owned)).chain([together, all_expected])
    {
        let (tree, complaints) = parse_item(&source);
        let tree = tree.unwrap_or_else(|| panic!("{source}\n{complaints:#?}"));
        let printed = print_item(&tree);
        let again = parse_item(&printed).0.unwrap_or_else(|| panic!("{printed}"));
        assert_eq!(shape(&again), shape(&tree), "{printed}");
    }
}

#[test]
fn statements_stand_on_lines_and_end_with_their_last_word() {
    let source = "pass p {
  let a = xs where it.ok   // comment
  for n in xs {
    cut n.inputs[0]
    if n.ok { stop }

    delete n
  }
  stop
}";
    let (item, complaints) = parse_item(source);
    let item = item.unwrap_or_else(|| panic!("{complaints:#?}"));
    let ItemData::Pass { body, .. } = item.data else { panic!("{item:#?}") };
    let text = |span: Span| &source[span.start as usize..span.end as usize];
    assert_eq!(text(body.statements[0].span), "let a = xs where it.ok");
    assert!(text(body.statements[1].span).ends_with("delete n\n  }"));
    assert_eq!(text(body.statements[2].span), "stop");
    let StatementKind::Let { value, .. } = &body.statements[0].kind else { panic!("{body:#?}") };
    assert_eq!(text(value.span), "xs where it.ok");
    let StatementKind::For { list, body: inner, .. } = &body.statements[1].kind else { panic!("{body:#?}") };
    assert_eq!(text(list.span), "xs");
    let inner: Vec<&str> = inner.statements.iter().map(|statement| text(statement.span)).collect();
    assert_eq!(inner, ["cut n.inputs[0]", "if n.ok { stop }", "delete n"]);
}

#[test]
fn parentheses_are_kept_only_where_they_matter() {
    for (source, printed) in [
        ("(a.b) + (c * d)", "a.b + c * d"),
        ("(a + b) * c", "(a + b) * c"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a - b) - c", "a - b - c"),
        ("not (a and b)", "not (a and b)"),
        ("(not a) and b", "not a and b"),
        ("not (a == b)", "not a == b"),
        ("(a == b) == c", "(a == b) == c"),
        ("a or (all x in xs: (c or d))", "a or all x in xs: c or d"),
        ("(all x in xs: c) or d", "(all x in xs: c) or d"),
        ("not (any x in xs: c) and d", "not (any x in xs: c) and d"),
        ("(xs where c).count", "(xs where c).count"),
        ("(-5).abs + -5", "(-5).abs + -5"),
        ("-(a.b)", "-a.b"),
        ("(a ?? b) is none", "a ?? b is none"),
        ("0 .. (n + 1)", "0..n + 1"),
        ("first{a=>b c.d(e)[0]=>-f else=>g}", "first { a => b, c.d(e)[0] => -f, else => g }"),
        ("match (first) { A => b }", "match (first) { A => b }"),
        ("match x.first { A => b }", "match x.first { A => b }"),
        ("{ let x = a y }", "{ let x = a; y }"),
        ("x.attr(a.b.c) ?? n.has_attr(d)", "x.attr(a.b.c) ?? n.has_attr(d)"),
        ("x . note( a ).note", "x.note(a).note"),
    ] {
        let (tree, complaints) = parse_expr(source);
        let tree = tree.unwrap_or_else(|| panic!("{source}\n{complaints:#?}"));
        assert_eq!(print_expr(&tree), printed, "{source}");
    }
}

#[test]
fn cases_stand_side_by_side() {
    let source = "first { name: c => x   name2: c2 => y (c3) => z else => [w] }";
    let (tree, complaints) = parse_expr(source);
    let tree = tree.unwrap_or_else(|| panic!("{complaints:#?}"));
    let ExprKind::First { cases, otherwise } = *tree.kind else { panic!("{tree:#?}") };
    let names: Vec<_> = cases.iter().map(|case| case.name.map(|name| name.text.as_str())).collect();
    assert_eq!(names, [Some("name"), Some("name2"), None]);
    assert!(otherwise.is_some());
}

#[test]
fn an_inserted_value_knows_its_place_in_the_item() {
    let source = r#"skip s when true because "é {first.node.attr(x) ?? \"none\"}!""#;
    let (item, complaints) = parse_item(source);
    let item = item.unwrap_or_else(|| panic!("{complaints:#?}"));
    let ItemData::Skip { because: Some(text), .. } = item.data else { panic!("{item:#?}") };
    let [TextPart::Literal(before), TextPart::Value(value), TextPart::Literal(after)] = &text.parts[..]
    else {
        panic!("{text:#?}")
    };
    assert_eq!((before.as_str(), after.as_str()), ("é ", "!"));
    let ExprKind::Binary { left, right, .. } = &*value.kind else { panic!("{value:#?}") };
    assert_eq!(&source[left.span.start as usize..left.span.end as usize], "first.node.attr(x)");
    assert_eq!(right.kind, Box::new(ExprKind::Str("none".to_owned())));
}

#[test]
fn a_graph_keeps_its_text() {
    let source =
        "test \"t\" {\n  graph { a: Data { x = \"}\" } // }\n }\n expect no edge a-b/c:0 -> \"x y\":1\n}";
    let (item, complaints) = parse_item(source);
    let item = item.unwrap_or_else(|| panic!("{complaints:#?}"));
    let ItemData::Test(test) = item.data else { panic!("{item:#?}") };
    let graph = test.graph.as_ref().expect("the test has a graph");
    assert_eq!(graph.text, " a: Data { x = \"}\" } // }\n ");
    assert_eq!(&source[graph.span.start as usize..graph.span.end as usize], graph.text);
    let ExpectKind::Edge { present: false, from, to } = &test.expects[0].kind else { panic!("{test:#?}") };
    assert_eq!((from.node.as_str(), to.node.as_str(), to.index), ("a-b/c", "x y", 1));
}

#[test]
fn a_broken_item_still_tells_what_it_declares() {
    let file = parse_file("fn broken(n: Node) -> = 1\noption a.b.c: = 2\n");
    let names: Vec<_> = file.items.iter().filter_map(|item| item.declares()).collect();
    let names: Vec<_> = names.iter().map(|(kind, name)| (*kind, name.text.as_str())).collect();
    assert_eq!(names, [(Kind::Fn, "broken"), (Kind::Option, "a.b.c")]);
    assert!(file.items.iter().all(|item| item.item.is_none() && !item.diagnostics.is_empty()));
}

#[test]
fn hostile_nesting_is_one_complaint() {
    for unit in [
        "(",
        "[",
        "{",
        "f(",
        "not ",
        "- ",
        "all x in xs: ",
        "if a then ",
        "a + ",
        "a.",
        "x[0].",
        "set + ",
        "at ",
    ] {
        let (tree, complaints) = parse_expr(&unit.repeat(20_000));
        assert!(tree.is_none(), "{unit}");
        assert_eq!(complaints.len(), 1, "{unit}");
    }
    let closed = format!("fn f() -> Int = {}1{}", "(".repeat(1000), ")".repeat(1000));
    assert_eq!(parse_item(&closed).1[0].code, "syntax::too-deep");
}

fn name(text: &str) -> Name {
    Name { text: Sym::new(text), span: Span::default() }
}

fn made(kind: ExprKind) -> Expr {
    Expr { span: Span::default(), kind: Box::new(kind) }
}

/// Names that are words of the language elsewhere are names here.
fn any_name() -> impl Strategy<Value = Name> {
    prop::sample::select(vec![
        "a", "_b1", "first", "all", "count", "at", "set", "stop", "any", "before", "Data",
    ])
    .prop_map(name)
}

fn any_operator() -> impl Strategy<Value = BinaryOp> {
    use BinaryOp::*;
    prop::sample::select(vec![
        Or, And, Eq, Ne, Lt, Le, Gt, Ge, In, NotIn, Coalesce, Range, Add, Sub, Mul, Div, Rem,
    ])
}

fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        any_name().prop_map(|name| made(ExprKind::Name(name.text))),
        any::<i64>().prop_map(|value| made(ExprKind::Int(value))),
        prop::num::f64::NORMAL.prop_map(|value| made(ExprKind::Float(value))),
        "[ -~é\n]{0,6}".prop_map(|value| made(ExprKind::Str(value))),
        any::<bool>().prop_map(|value| made(ExprKind::Bool(value))),
        Just(made(ExprKind::None)),
        Just(made(ExprKind::Option(name("ge.a_b.c")))),
        any_name().prop_map(|name| made(ExprKind::Counter(name))),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let some = || prop::collection::vec(inner.clone(), 0..3);
        let two = || (inner.clone(), inner.clone());
        let arms = prop::collection::vec((prop::collection::vec(any_name(), 1..3), inner.clone()), 1..3);
        let cases = prop::collection::vec((prop::option::of(any_name()), inner.clone(), inner.clone()), 1..3);
        let quantifier =
            prop::sample::select(vec![Quantifier::All, Quantifier::Any, Quantifier::Count, Quantifier::Find]);
        let member = prop::sample::select(vec!["shape", "in", "map", "where"]).prop_map(name);
        prop_oneof![
            inner.clone().prop_map(|value| made(ExprKind::Not(value))),
            inner.clone().prop_map(|value| match *value.kind {
                // A negative number is one literal.
                ExprKind::Int(_) | ExprKind::Float(_) => value,
                _ => made(ExprKind::Negate(value)),
            }),
            (any_operator(), two()).prop_map(|(op, (left, right))| {
                made(ExprKind::Binary { op, op_span: Span::default(), left, right })
            }),
            (inner.clone(), any::<bool>())
                .prop_map(|(value, negated)| made(ExprKind::IsNone { value, negated })),
            two().prop_map(|(list, condition)| made(ExprKind::Where { list, condition })),
            (inner.clone(), member, prop::option::of(some()))
                .prop_map(|(base, name, args)| made(ExprKind::Member { base, name, args })),
            (inner.clone(), any::<bool>()).prop_map(|(base, exists)| made(ExprKind::Attr {
                base,
                attr: name("x.y"),
                exists
            })),
            (inner.clone(), any_name()).prop_map(|(base, mark)| made(ExprKind::HasMark { base, mark })),
            (inner.clone(), any_name()).prop_map(|(base, note)| made(ExprKind::Note { base, note })),
            (any_name(), some()).prop_map(|(name, args)| made(ExprKind::Call { name, args })),
            two().prop_map(|(base, index)| made(ExprKind::Index { base, index })),
            (quantifier, any_name(), two()).prop_map(|(kind, binder, (list, condition))| {
                made(ExprKind::Quantifier { kind, binder, list, condition })
            }),
            (inner.clone(), two()).prop_map(|(condition, (then, otherwise))| {
                made(ExprKind::If { condition, then, otherwise })
            }),
            (inner.clone(), arms, prop::option::of(inner.clone()))
                .prop_map(|(value, arms, otherwise)| made(ExprKind::Match { value, arms, otherwise })),
            (cases, prop::option::of(inner.clone())).prop_map(|(cases, otherwise)| {
                let cases =
                    cases.into_iter().map(|(name, condition, value)| FirstCase { name, condition, value });
                made(ExprKind::First { cases: cases.collect(), otherwise })
            }),
            (prop::collection::vec((any_name(), inner.clone()), 1..3), inner.clone())
                .prop_map(|(lets, value)| made(ExprKind::Block { lets, value })),
            some().prop_map(|elements| made(ExprKind::List(elements))),
            some().prop_map(|elements| made(ExprKind::SetLiteral(elements))),
            (any_name(), inner.clone()).prop_map(|(name, graph)| made(ExprKind::Symbols { name, graph })),
            two().prop_map(|(graph, table)| made(ExprKind::Conflicts { graph, table })),
        ]
    })
}

proptest! {
    #[test]
    fn a_printed_expression_parses_to_the_same_tree(tree in any_expr()) {
        let printed = print_expr(&tree);
        let (again, complaints) = parse_expr(&printed);
        prop_assert!(again.is_some(), "{}\n{:#?}", printed, complaints);
        prop_assert_eq!(shape(&again.unwrap()), shape(&tree), "{}", printed);
    }

    #[test]
    fn a_formatted_expression_parses_to_the_same_tree(tree in any_expr()) {
        let file = format!("fn f() -> Int = {}\n", print_expr(&tree));
        let once = format(&file).expect("printed expressions parse");
        let again = parse_file(&once).items.remove(0).item.expect("formatted expressions parse");
        let ItemData::Fn { body, .. } = again.data else { unreachable!("the item is a function") };
        prop_assert_eq!(shape(&body), shape(&tree), "{}", once);
        prop_assert_eq!(format(&once), Ok(once));
    }

    #[test]
    fn a_printed_text_parses_to_the_same_tree(before in "[ -~é\n]{1,8}", value in any_expr(), after in "[ -~é\n]{1,8}") {
        // A string inside a text has no escapes, and no index.
        let alone = print_expr(&value);
        prop_assume!(!alone.contains('\\') && !alone.contains("\"["));
        let parts = vec![TextPart::Literal(before), TextPart::Value(value), TextPart::Literal(after)];
        let text = Text { span: Span::default(), parts };
        let (item, _) = parse_item("skip s when true");
        let mut item = item.expect("the item parses");
        item.data = ItemData::Skip { when: made(ExprKind::Bool(true)), because: Some(text) };
        let printed = print_item(&item);
        let (again, complaints) = parse_item(&printed);
        prop_assert!(again.is_some(), "{}\n{:#?}", printed, complaints);
        prop_assert_eq!(shape(&again.unwrap()), shape(&item), "{}", printed);
    }

    #[test]
    fn no_text_brings_the_parser_down(text in "(fn|set|test|checker|pass)[ -~\né]{0,80}") {
        let file = parse_file(&text);
        for item in &file.items {
            // What an item lacks is left unsaid where stray text follows.
            let told = !item.diagnostics.is_empty() || item.source.is_cut && !file.diagnostics.is_empty();
            prop_assert!(item.item.is_some() && item.diagnostics.is_empty() || item.item.is_none() && told);
        }
    }
}
