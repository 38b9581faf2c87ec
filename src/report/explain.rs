//! Explanations for a terminal: why an anchor was touched, or why not.
//!
//! Promise: nothing of the explanation is left out but the steps of marks that do not hold, past the one that
//! decided; the deciding values stand beside the rule text that asked for them.

use std::fmt::Write;

use super::human::{Human, Paint};
use super::place::Names;
use super::rules::Rules;
use crate::engine::explain::{AnchorStory, Explanation, MarkStory, TraceStep, Verdict, VerdictStory};
use crate::graph::Sym;

/// Width that the text of a step is padded to, so that values stand below each other.
const STEP_WIDTH: usize = 56;

/// Draws all stories, an empty line between two.
pub fn draw(explanation: &Explanation, rules: &Rules, names: Names<'_>, human: &Human) -> String {
    let mut out = String::new();
    for story in &explanation.anchors {
        if !out.is_empty() {
            out.push('\n');
        }
        draw_story(story, rules, names, human, &mut out);
    }
    out
}

// Writing to a `String` cannot fail, so results of `write!` are not looked at in here.
fn draw_story(story: &AnchorStory, rules: &Rules, names: Names<'_>, human: &Human, out: &mut String) {
    let title = human.paint(Paint::Strong, &names.anchor(&story.place));
    let _ = writeln!(out, "{title}  {} in graph `{}`", story.place.op.as_str(), story.place.graph);
    if !story.outcome.is_empty() {
        let _ = writeln!(out, "  {}", story.outcome);
    }
    draw_symbol(story, names, human, out);
    if !story.marks.is_empty() {
        heading(human, "marks", out);
        // What holds first: it is what the rules below go by.
        let (held, missing): (Vec<_>, Vec<_>) = story.marks.iter().partition(|mark| mark.holds);
        held.into_iter().chain(missing).for_each(|mark| draw_mark(mark, human, out));
    }
    if !story.verdicts.is_empty() {
        heading(human, "rules", out);
        story.verdicts.iter().for_each(|verdict| draw_verdict(verdict, rules, names, human, out));
    }
}

fn heading(human: &Human, text: &str, out: &mut String) {
    let _ = writeln!(out, "\n  {}", human.paint(Paint::Strong, text));
}

fn draw_symbol(story: &AnchorStory, names: Names<'_>, human: &Human, out: &mut String) {
    let Some((symbol, size)) = &story.symbol else { return };
    let others = size.saturating_sub(1);
    heading(human, "shared memory", out);
    let shared = match others {
        0 => "shared with no other anchor".to_owned(),
        1 => "shared with 1 other anchor".to_owned(),
        n => format!("shared with {n} other anchors"),
    };
    let _ = writeln!(out, "    symbol `{symbol}`, {shared}");
    let labels: Vec<String> = story.sharers.iter().map(|(place, _)| names.anchor(place)).collect();
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).min(STEP_WIDTH);
    for (label, (place, marks)) in labels.iter().zip(&story.sharers) {
        let marks: Vec<&str> = marks.iter().map(|mark: &Sym| mark.as_str()).collect();
        let marks = human.paint(Paint::Faint, &marks.join(", "));
        let _ = writeln!(out, "      {label:width$}  {:16}  {marks}", place.op.as_str());
    }
    if story.hidden > 0 {
        let _ = writeln!(out, "      and {} more", story.hidden);
    }
}

fn draw_mark(mark: &MarkStory, human: &Human, out: &mut String) {
    let sign = if mark.holds { human.paint(Paint::Good, "✓") } else { human.paint(Paint::Faint, "✗") };
    let _ = writeln!(out, "    {sign} {}", mark.mark.as_str());
    draw_steps(&mark.steps, human, out);
}

fn draw_verdict(story: &VerdictStory, rules: &Rules, names: Names<'_>, human: &Human, out: &mut String) {
    let (paint, word) = match story.verdict {
        Verdict::Isolated => (Paint::Error, "isolates this anchor"),
        Verdict::PartnerIsolated => (Paint::Warning, "isolates the other"),
        Verdict::Never => (Paint::Good, "never conflicts"),
        Verdict::Skipped => (Paint::Faint, "not looked at"),
        Verdict::NoConflict => (Paint::Good, "no conflict"),
    };
    let partner = match &story.partner {
        Some(place) => format!(" with `{}`", names.anchor(place)),
        None => " over the group".to_owned(),
    };
    let _ = writeln!(out, "    {}: {}{partner}", human.paint(paint, word), rules.describe(&story.rule));
    if let Some(reason) = &story.reason {
        let _ = writeln!(out, "        because {reason}");
    }
    draw_steps(&story.steps, human, out);
}

fn draw_steps(steps: &[TraceStep], human: &Human, out: &mut String) {
    for step in steps {
        // The text of an expression may span lines in its file.
        let source = step.source.split_whitespace().collect::<Vec<_>>().join(" ");
        let indent = 8 + 2 * step.depth.min(12) as usize;
        let width = STEP_WIDTH.saturating_sub(indent);
        let at = human.paint(Paint::Faint, &step.at);
        let _ = writeln!(out, "{:indent$}{source:width$} = {}  {at}", "", step.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::syntax::ast::Kind;
    use crate::report::{Style, testing};

    #[test]
    fn tells_the_story_of_an_anchor() {
        let (graph, _) = testing::graph(testing::GRAPH);
        let step = |depth, source: &str, value: &str| TraceStep {
            depth,
            source: source.into(),
            value: value.into(),
            at: "layout.anchor:4".into(),
        };
        let story = AnchorStory {
            place: testing::place(&graph, "no", Some("in0"), ""),
            symbol: Some(("c_out_0".into(), 5)),
            sharers: vec![(testing::place(&graph, "c", Some("out0"), ""), vec![Sym::new("FIXED_OUT")])],
            hidden: 3,
            marks: vec![
                MarkStory { mark: Sym::new("NORMAL"), holds: false, steps: Vec::new() },
                MarkStory {
                    mark: Sym::new("USER_OUT"),
                    holds: true,
                    steps: vec![step(0, "graph ==\n    target", "true")],
                },
            ],
            verdicts: vec![
                VerdictStory {
                    rule: testing::rule(Kind::Checker, "user_out_and_fixed_out"),
                    partner: Some(testing::place(&graph, "c", Some("out0"), "")),
                    verdict: Verdict::Isolated,
                    reason: Some("c would be overwritten".into()),
                    steps: vec![step(0, "is_static(target.root)", "true"), step(1, "a and b", "false")],
                },
                VerdictStory {
                    rule: testing::rule(Kind::Checker, "unknown_here"),
                    partner: None,
                    verdict: Verdict::NoConflict,
                    reason: None,
                    steps: Vec::new(),
                },
            ],
            outcome: "isolated: `copy_0` was inserted before it".into(),
        };
        let human = Human::new(Style { color: false, width: None });
        let explanation = Explanation { anchors: vec![story] };
        let text = draw(&explanation, &testing::rules(), Names::new(&graph, &graph), &human);
        assert_eq!(
            text,
            "\
no:in0  NetOutput in graph `main`
  isolated: `copy_0` was inserted before it

  shared memory
    symbol `c_out_0`, shared with 4 other anchors
      c:out0  Const             FIXED_OUT
      and 3 more

  marks
    ✓ USER_OUT
        graph == target                                  = true  layout.anchor:4
    ✗ NORMAL

  rules
    isolates this anchor: checker user_out_and_fixed_out (layout.anchor:227) with `c:out0`
        because c would be overwritten
        is_static(target.root)                           = true  layout.anchor:4
          a and b                                        = false  layout.anchor:4
    no conflict: checker unknown_here over the group
"
        );
    }
}
