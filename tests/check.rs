//! What checking makes of rule files: the typed bodies, the stability of the scope, and that no text breaks it.

#[path = "support/files.rs"]
mod files;
mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use anchorwatch::graph::Sym;
use anchorwatch::lang::check::{ItemKey, Scoped, codes, lower, scope};
use anchorwatch::lang::facts::Fact;
use anchorwatch::lang::hir::{
    Body, CheckerAction, Compare, Const, Entry, Expr, Lowered, OptionValue, Statement, TextPart, Ty,
};
use anchorwatch::lang::syntax::ast::{self, ExprKind, Item, ItemData, Kind};
use anchorwatch::lang::syntax::parse_file;
use files::files;
use proptest::prelude::*;

const EVERYTHING: &str = include_str!("ui/check/everything.anchor");

fn items(text: &str) -> Vec<(ItemKey, Arc<Item>)> {
    let file = parse_file(text);
    let keyed = (0..).zip(file.items);
    keyed.filter_map(|(index, item)| Some((ItemKey { file: 0, index }, Arc::new(item.item?)))).collect()
}

fn scoped(text: &str) -> Scoped {
    scope(&items(text), &[])
}

/// The item of that name, lowered, without complaints.
fn lowered(text: &str, name: &str) -> Lowered {
    let items = items(text);
    let scope = scope(&items, &[]).scope;
    let (_, item) = items.iter().find(|(_, item)| item.name.text == name).expect("the test names its item");
    let lowered = lower(item, &scope);
    assert_eq!(lowered.diagnostics, [], "{text}");
    assert!(lowered.entry.is_some(), "{text}");
    lowered
}

fn function(text: &str) -> (Body, Expr) {
    match lowered(text, "f").entry {
        Some(Entry::Fn { body, value, .. }) => {
            let root = body.exprs[value as usize].clone();
            (body, root)
        }
        other => panic!("not a function: {other:?}"),
    }
}

fn word(text: &str) -> Const {
    Const::Str(Sym::new(text))
}

#[test]
fn every_construct_lowers() {
    let items = items(EVERYTHING);
    let Scoped { scope, live, diagnostics } = scope(&items, &[]);
    assert_eq!(diagnostics, []);
    assert_eq!(live.len(), items.len());
    let mut kinds = BTreeSet::new();
    let mut shown = String::new();
    for (_, item) in &items {
        let lowered = lower(item, &scope);
        assert!(lowered.entry.is_some(), "{:?} {}", item.kind, item.name.text);
        kinds.insert(item.kind);
        shown.push_str(&format!("{lowered:?}"));
    }
    assert_eq!(kinds.len(), Kind::Test as usize + 1, "an item kind is missing");
    let expressions = "Const( Local( Fact{ Attr{ HasAttr{ HasMark{ Call{ Walk{ Table{ Matrix{ Option( Not( Negate( And( \
        Or( Coalesce( Compare{ Arith{ Concat( Range( InList{ InSet{ InConsts{ IsNone{ If{ Match{ First{ Let{ List( \
        Index{ Quantifier{ Where{ Each{ Symbols{ Conflicts{ Counter( Note{";
    let statements = "For{ Stop Do{ Give( Isolate{ Found( Join{ Unite{ Fail( Report{ Insert( Delete( Connect{ Cut( Link{ \
        Unlink{ SetAttr{ SetField{ Sort{ Apply{ Resolve{ Halt( Clear{ SetNote{";
    let shown = shown.replace(" {", "{");
    for form in expressions.split_whitespace().chain(statements.split_whitespace()) {
        assert!(shown.contains(form), "`{form}` is never made");
    }
}

#[test]
fn the_shipped_rules_have_no_error() {
    let paths = files("rules", "anchor");
    let texts: Vec<String> =
        paths.iter().map(|path| std::fs::read_to_string(path).expect("rules are text")).collect();
    assert!(!texts.is_empty());
    let files: Vec<(&str, bool)> = texts.iter().map(|text| (text.as_str(), false)).collect();
    let said = support::checked::check(&files).text(true);
    assert!(!said.contains("error["), "{said}");
}

#[test]
fn every_code_has_a_file_that_earns_it() {
    let pages = files("tests/ui/check", "expected").into_iter();
    let said: String =
        pages.map(|page| std::fs::read_to_string(page).expect("expectations are text")).collect();
    let missing: Vec<&str> = codes::CODES
        .iter()
        .map(|(code, _)| *code)
        .filter(|code| !said.contains(&format!("[{code}]")))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn the_right_side_decides_what_in_becomes() {
    let set = "set A = { Relu }\n";
    let (_, expr) = function(&format!("{set}fn f(n: Node) -> Bool = n.type in A"));
    assert!(matches!(expr, Expr::InSet { set, negated: false, .. } if set == "A"));
    let (_, expr) = function(&format!("{set}fn f(n: Node) -> Bool = n.type not in {{ Relu }}"));
    let Expr::InConsts { consts, negated: true, .. } = expr else { panic!("{expr:?}") };
    assert_eq!(*consts, [word("Relu")]);
    let (_, expr) = function("fn f(n: Node) -> Bool = n in n.control_in");
    assert!(matches!(expr, Expr::InList { negated: false, .. }));
    let (body, expr) = function("fn f(a: Anchor, g: Group) -> Bool = a in g");
    let Expr::InList { list, .. } = expr else { panic!("{expr:?}") };
    assert!(matches!(body.exprs[list as usize], Expr::Fact { fact: Fact::GroupAnchors, .. }));
}

#[test]
fn words_take_the_meaning_that_is_wanted() {
    let text = "set S = { Same }\nenum E { Other, Same }\nfn f(e: E, n: Node) -> Bool = e == Same and Same == n.type";
    let (body, _) = function(text);
    let consts: Vec<&Const> = body
        .exprs
        .iter()
        .filter_map(|e| if let Expr::Const(value) = e { Some(value) } else { None })
        .collect();
    assert_eq!(consts, [&Const::Enum { ty: Sym::new("E"), variant: 1 }, &word("Same")]);
}

#[test]
fn asking_none_gives_none_and_the_type_says_so() {
    let (_, expr) = function("fn g(o: Output) -> Int = o.index\nfn f(i: Input) -> Int? = i.source.g");
    assert!(matches!(expr, Expr::Call { lift: 1, .. }), "{expr:?}");
    let (_, expr) = function("fn g(o: Output?) -> Int = o.index ?? 0\nfn f(i: Input) -> Int = i.source.g");
    assert!(matches!(expr, Expr::Call { lift: 0, .. }), "{expr:?}");
}

#[test]
fn a_loop_takes_its_condition_into_the_list() {
    let text = "pass p { for n in root.nodes where n.id == 0 { delete n } }";
    let Some(Entry::Pass { body, block, .. }) = lowered(text, "p").entry else { panic!("a pass") };
    // {root}, the condition's n, the loop's n
    let [Statement::For { local: 2, list, body: inner }] = &block[..] else { panic!("{block:?}") };
    assert!(matches!(body.exprs[*list as usize], Expr::Where { local: 1, .. }));
    let [Statement::Delete(node)] = inner[..] else { panic!("{inner:?}") };
    assert_eq!(body.exprs[node as usize], Expr::Local(2));
    assert_eq!(body.locals, 3);
}

#[test]
fn a_text_numbers_its_names_after_those_of_its_statement() {
    let text = "pass p {\n  let a = root.name\n  fail \"{a} {count n in root.nodes: n.name == a}\"\n}";
    let made = lowered(text, "p");
    let Some(Entry::Pass { body, .. }) = &made.entry else { panic!("a pass") };
    assert_eq!(body.locals, 2);
    let [text] = &made.texts[..] else { panic!("{:?}", made.texts) };
    assert_eq!(text.body.locals, 3);
    assert_eq!(text.body.exprs[0], Expr::Local(1));
    assert!(text.body.exprs.iter().any(|e| matches!(e, Expr::Quantifier { local: 2, .. })));
    assert!(
        matches!(&text.parts[..], [TextPart::Value(0), TextPart::Literal(blank), TextPart::Value(_)] if blank == " ")
    );
}

#[test]
fn roles_follow_what_every_pair_checker_sees() {
    let text = "attribute A on output where node.id == 0\nattribute B on input otherwise\n\
        checker c for last x: A, y: B when target.is_root isolate before y because \"{x}\"";
    let Some(Entry::Checker(checker)) = lowered(text, "c").entry else { panic!("a checker") };
    assert_eq!(checker.body.locals, 6);
    let CheckerAction::Isolate { target, reason: Some(0), .. } = checker.action else { panic!("no isolate") };
    assert_eq!(checker.body.exprs[target as usize], Expr::Local(5));
    let when = checker.when.expect("it has a condition");
    let Expr::Fact { base, .. } = checker.body.exprs[when as usize] else { panic!("a fact") };
    assert_eq!(checker.body.exprs[base as usize], Expr::Local(3));
}

#[test]
fn the_subject_of_a_pass_has_slot_one() {
    let text =
        "set S = { A }\npass p for n: Node in (root.nodes where it.id == 0) where n.type == A { delete n }";
    let Some(Entry::Pass { subject: Some(subject), body, block, repeats: false }) = lowered(text, "p").entry
    else {
        panic!("a pass with a subject")
    };
    let list = subject.list.expect("it has a list");
    assert!(matches!(body.exprs[list as usize], Expr::Where { local: 2, .. }));
    let [Statement::Delete(node)] = block[..] else { panic!("{block:?}") };
    assert_eq!(body.exprs[node as usize], Expr::Local(1));
}

#[test]
fn options_of_variants_are_enums_of_their_name() {
    let text =
        "option mode: { slow, fast } = fast\nfn f(n: Node) -> Bool = option(mode) == slow or n.id == 0";
    let Some(Entry::Option { default, .. }) = lowered(text, "mode").entry else { panic!("an option") };
    assert_eq!(default, OptionValue::Variant(1));
    let (body, _) = function(text);
    assert!(body.exprs.contains(&Expr::Const(Const::Enum { ty: Sym::new("mode"), variant: 0 })));
    assert!(body.exprs.iter().any(|e| matches!(e, Expr::Compare { op: Compare::Eq, .. })));
}

#[test]
fn every_expression_has_its_place_and_every_case_its_name() {
    let text =
        "fn f(n: Node) -> Int = first { low: n.id < 3 => 1  n.id < 5 => 2  high: n.id < 9 => 3  else => 4 }";
    let made = lowered(text, "f");
    let Some(Entry::Fn { body, value, result, .. }) = &made.entry else { panic!("a function") };
    assert_eq!(*result, Ty::Int);
    assert_eq!(made.spans.len(), body.exprs.len());
    assert_eq!(made.names, [(*value, 0, Sym::new("low")), (*value, 2, Sym::new("high"))]);
    let span = made.spans[0];
    assert_eq!(&text[span.start as usize..span.end as usize], "n");
}

#[test]
fn uses_are_sorted_and_each_is_there_once() {
    let text = "set S = { A }\nattr axis: int on node\nfn g(n: Node) -> Bool = n.type in S\n\
        fn f(n: Node) -> Bool = n.g and n.type in S and n.g and n.attr(axis) is some";
    let uses: Vec<(Kind, &str)> =
        lowered(text, "f").uses.into_iter().map(|(kind, name)| (kind, name.as_str())).collect();
    assert_eq!(uses, [(Kind::Set, "S"), (Kind::Attr, "axis"), (Kind::Fn, "g")]);
}

#[test]
fn an_edit_inside_a_body_leaves_the_scope_equal() {
    let before = "fn f(n: Node) -> Int = n.id\npass p { fail \"a\" }";
    assert_eq!(scoped(before), scoped("fn f(n: Node) -> Int = n.id + 1\n\n// more\npass p { fail \"b\" }"));
    assert_ne!(scoped(before), scoped("fn f(n: Node) -> Int? = n.id\npass p { fail \"a\" }"));
}

#[test]
fn an_overlay_comes_last_and_an_override_takes_the_old_place() {
    let base = items("fn a(n: Node) -> Int = 1\nfn b(n: Node) -> Int = 2\nfn c(n: Node) -> Int = 3");
    let overlay = items("override fn b(n: Node) -> Int = 4\nremove fn a\nfn d(n: Node) -> Int = 5");
    let file = |number| move |(key, item): (ItemKey, Arc<Item>)| (ItemKey { file: number, ..key }, item);
    // The overlay has the smaller number here, and still comes last.
    let all: Vec<_> = overlay.into_iter().map(file(0)).chain(base.into_iter().map(file(1))).collect();
    let scoped = scope(&all, &[true, false]);
    assert_eq!(scoped.diagnostics, []);
    let live: Vec<(u32, u32)> = scoped.live.iter().map(|key| (key.file, key.index)).collect();
    assert_eq!(live, [(0, 0), (1, 2), (0, 2)]);
    assert!(!scoped.scope.has(Kind::Fn, Sym::new("a")));
}

#[test]
fn the_longest_chain_that_parses_is_checked() {
    for part in [" or n.id == 0", ".take(1)", " + 1"] {
        let text = |times: usize| match part {
            ".take(1)" => format!("fn f(n: Node) -> list<Input> = n.inputs{}", part.repeat(times)),
            " + 1" => format!("fn f(n: Node) -> Int = n.id{}", part.repeat(times)),
            _ => format!("fn f(n: Node) -> Bool = n.id == 0{}", part.repeat(times)),
        };
        let longest = (1..1000).take_while(|times| !items(&text(*times)).is_empty()).last();
        let longest = longest.expect("short chains parse");
        assert!((90..999).contains(&longest), "{longest} times `{part}`");
        lowered(&text(longest), "f");
    }
}

#[test]
fn a_tree_that_no_parser_made_is_refused_before_the_stack_ends() {
    let mut items = items("fn f(n: Node) -> Bool = n.id == 0");
    let item = Arc::make_mut(&mut items[0].1);
    let ItemData::Fn { body, .. } = &mut item.data else { panic!("a function") };
    let leaf = body.clone();
    for _ in 0..5000 {
        let inner = std::mem::replace(body, leaf.clone());
        let kind = Box::new(ExprKind::Not(inner));
        *body = ast::Expr { span: body.span, kind };
    }
    let lowered = lower(&items[0].1, &scope(&items, &[]).scope);
    let codes: Vec<&str> = lowered.diagnostics.iter().map(|d| d.code).collect();
    assert!(codes.contains(&"rule::too-deep"), "{codes:?}");
}

/// The positive file with some of its words exchanged, doubled or left out.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4u8);
    prop::collection::vec(edit, 1..12).prop_map(|edits| {
        let mut words: Vec<&str> = EVERYTHING.split_inclusive([' ', '\n', '(', ')', '.', ',']).collect();
        for (at, from, what) in edits {
            let (at, from) = (at.index(words.len()), from.index(words.len()));
            match what {
                0 => words[at] = words[from],
                1 => words.swap(at, from),
                2 => words.insert(at, words[from]),
                _ => drop(words.remove(at)),
            }
        }
        words.concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_breaks_checking(text in mutated()) {
        // Items that parse are checked even where others do not.
        let items = items(&text);
        let Scoped { scope, diagnostics, .. } = scope(&items, &[]);
        for (key, diagnostic) in &diagnostics {
            prop_assert!(!diagnostic.labels.is_empty(), "{key:?} {diagnostic:?}");
        }
        for (_, item) in &items {
            let lowered = lower(item, &scope);
            let failed = lowered.diagnostics.iter().any(|d| d.level == anchorwatch::lang::Level::Error);
            prop_assert_eq!(lowered.entry.is_none(), failed, "{:?} {}", item.kind, item.name.text);
        }
        support::checked::check_text(&text).text(true);
        support::render_file(&text, &parse_file(&text));
    }
}
