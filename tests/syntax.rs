//! The syntax of rule files: what the language reference shows, parses; what a tree prints, parses to that tree.

use anchorwatch::lang::syntax::parse_item;

const REFERENCE: &str = include_str!("../grammar/README.md");

/// The examples of the reference: fenced blocks of the items' sections, and items shown inline.
fn examples() -> Vec<String> {
    let from = REFERENCE.find("## Items").unwrap_or(0);
    let to = REFERENCE.find("## Statements").unwrap_or(REFERENCE.len());
    let section = &REFERENCE[from..to];
    let mut examples: Vec<String> = section.split("```").skip(1).step_by(2).map(str::to_owned).collect();
    let prose: String = section.split("```").step_by(2).collect();
    let keywords = ["enum ", "action ", "lint ", "pipeline ", "remove "];
    let inline = prose.split('`').skip(1).step_by(2);
    examples.extend(inline.filter(|code| keywords.iter().any(|k| code.starts_with(k))).map(str::to_owned));
    examples.retain(|code| !code.contains("KIND"));
    // A lone ellipsis stands for statements.
    examples
        .into_iter()
        .map(|code| code.replace("{ … }", "{ }").replace("{ … ", "{ ").replace(" … }", " }"))
        .collect()
}

#[test]
fn every_example_of_the_reference_parses() {
    let mut count = 0;
    for example in examples() {
        let file = anchorwatch::lang::syntax::parse_file(&example);
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
    let file = anchorwatch::lang::syntax::parse_file(&format!("//! x\n\n// y\n{item}\n\nset A = {{ B }}\n"));
    assert_eq!(file.items[0].item, alone);
    assert_eq!(alone.and_then(|item| item.doc).as_deref(), Some("doc"));
}
