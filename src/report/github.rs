//! Remarks as commands of GitHub Actions, which shows them beside the lines of a change.
//!
//! Promise: one line a remark; no text of a graph or a rule can end its line or its field early.

use super::review::Remark;
use crate::lang::Level;

/// Nodes that a message lists.
const NODES_SHOWN: usize = 12;

/// One annotation, with its line end.
pub fn annotation(remark: &Remark) -> String {
    let command = match remark.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let mut fields = Vec::new();
    if let Some(file) = &remark.file {
        fields.push(format!("file={}", field(&file.path)));
        if let Some(region) = file.region {
            let (line, column) = region.start;
            fields.push(format!("line={line}"));
            match region.end {
                Some((end, behind)) if end == line => fields.push(format!("col={column},endColumn={behind}")),
                // Columns are refused where there are several lines.
                Some((end, _)) => fields.push(format!("endLine={end}")),
                None => {}
            }
        }
    }
    fields.push(format!("title={}", field(&remark.title)));
    format!("::{command} {}::{}\n", fields.join(","), data(&body(remark)))
}

/// Everything that the fields do not say, a line each.
fn body(remark: &Remark) -> String {
    let mut lines = vec![remark.message.clone()];
    let shown = remark.nodes.iter().take(NODES_SHOWN);
    lines.extend(shown.map(|node| format!("at {} ({})", node.name, node.text)));
    if remark.nodes.len() > NODES_SHOWN {
        lines.push(format!("and {} more", remark.nodes.len() - NODES_SHOWN));
    }
    for related in &remark.related {
        let line = related.file.region.map_or(String::new(), |region| format!(":{}", region.start.0));
        let text = if related.text.is_empty() { "see also" } else { &related.text };
        lines.push(format!("{text} ({}{line})", related.file.path));
    }
    lines.extend(remark.help.iter().map(|help| format!("help: {help}")));
    lines.join("\n")
}

/// Text behind the fields.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value among the fields.
fn field(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::complaint::{Excerpt, Mark};
    use crate::report::human::Mood;
    use crate::report::{Complaint, Source, testing};

    #[test]
    fn nothing_ends_a_field_or_a_line_early() {
        let source = Source::new("a,b:c%.anchor", "é wrong\n");
        let marks = vec![Mark { span: 3..8, text: String::new() }];
        let complaint = Complaint::error("x::y", "100%\r\nsure: yes, ::error::no")
            .excerpt(Excerpt { source: source.into(), marks })
            .help("two\nlines");
        assert_eq!(
            annotation(&Remark::of_complaint(&complaint, None)),
            "::error file=a%2Cb%3Ac%25.anchor,line=1,col=3,endColumn=8,title=x%3A%3Ay\
             ::100%25%0D%0Asure: yes, ::error::no%0Ahelp: two%0Alines\n"
        );
    }

    #[test]
    fn a_region_of_several_lines_has_no_columns() {
        let source = Source::new("f", "one\ntwo\n");
        let marks = vec![Mark { span: 1..6, text: String::new() }];
        let complaint = Complaint::error("c", "m").excerpt(Excerpt { source: source.into(), marks });
        let text = annotation(&Remark::of_complaint(&complaint, None));
        assert_eq!(text, "::error file=f,line=1,endLine=2,title=c::m\n");
    }

    #[test]
    fn a_finding_names_its_anchors_and_its_rule() {
        let (graph, _) = testing::graph(testing::GRAPH);
        let step = &testing::outcome(&graph).steps[0];
        let remark =
            Remark::of_finding(&step.findings[0], &testing::rules(), &step.edits, Mood::Proposed, "g.graph");
        assert_eq!(
            annotation(&remark),
            "::error file=g.graph,title=conflict[user_out_and_fixed_out]\
             ::c would be overwritten through the user's buffer\
             %0Aat main/no:in0 (Sink, USER_OUT)%0Aat main/c:out0 (Fixed, FIXED_OUT)\
             %0Achecker user_out_and_fixed_out (rules.anchor:227)\
             %0Aalways BLOCK with BLOCK agrees: one block is enough (rules.anchor:12)\
             %0Ahelp: Copy `copy_0` would be inserted between `c:out0` and `no:in0`\n"
        );
    }
}
