//! The examples of the reference of the rule language.

/// The reference of the rule language.
pub const REFERENCE: &str = include_str!("../../grammar/README.md");

/// The examples of the reference: fenced blocks of the items' sections, and items shown inline.
pub fn examples() -> Vec<String> {
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
