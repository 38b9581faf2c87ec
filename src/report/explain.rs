//! Explanations for a terminal: why an anchor was touched, or why not.
//!
//! Promise: nothing of the explanation is left out but the steps of marks that do not hold, past the one that
//! decided; the deciding values stand beside the rule text that asked for them.

use std::fmt::Write;

use super::human::{Human, Paint};
use super::place::{Names, in_graph, side_index};
use super::plain::plain;
use super::rules::Rules;
use crate::engine::explain::{
    ActKind, ActStory, AnchorStory, Answer, ChainStory, Explanation, MarkStory, PassStory, RequirementStory,
    TraceStep, Verdict, VerdictStory,
};
use crate::engine::outcome::{PlaceRef, RuleRef};
use crate::graph::Sym;

/// Width that the text of a step is padded to, so that values stand below each other.
const STEP_WIDTH: usize = 56;
/// The same on a narrow terminal, and what is narrow.
const STEP_WIDTH_NARROW: usize = 40;
const NARROW: usize = 100;

/// Draws all stories, an empty line between two.
pub fn draw(explanation: &Explanation, rules: &Rules, names: Names<'_>, human: &Human) -> String {
    let mut out = String::new();
    let passes = &explanation.passes;
    // Decisions against small things are told in full only where they are all there is to tell.
    let is_alone = passes.len() == 1 && explanation.anchors.is_empty();
    let (minor, major): (Vec<_>, Vec<_>) = passes.iter().partition(|pass| pass.is_minor() && !is_alone);
    if let Some(asked) =
        explanation.asked.as_ref().filter(|_| !major.is_empty() || explanation.anchors.is_empty())
    {
        let size = explanation.bytes.map_or_else(String::new, |count| format!("  {}", bytes(count)));
        title(asked, &size, names, human, &mut out);
        for pass in major {
            draw_pass(pass, asked, rules, names, human, &mut out);
        }
    }
    for story in &explanation.anchors {
        part(&mut out);
        draw_story(story, rules, names, human, &mut out);
    }
    if let Some(asked) = explanation.asked.as_ref().filter(|_| !minor.is_empty()) {
        heading(human, "left alone by", &mut out);
        for pass in minor {
            for act in pass.acts.iter().take(MINOR) {
                draw_short(act, pass.told.as_str(), asked, names, human, &mut out);
            }
        }
    }
    out
}

fn part(out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
}

fn title(place: &PlaceRef, more: &str, names: Names<'_>, human: &Human, out: &mut String) {
    let title = human.paint(Paint::Strong, &names.anchor(place));
    let _ = writeln!(out, "{title}  {}{}{more}", plain(place.op.as_str()), in_graph(&place.graph));
}

/// A size for a person.
pub fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") }
}

fn draw_pass(
    story: &PassStory,
    asked: &PlaceRef,
    rules: &Rules,
    names: Names<'_>,
    human: &Human,
    out: &mut String,
) {
    let own = rules.describe(&story.rule);
    let title = if story.is_step() { format!("pass {}, its {own}", story.told) } else { own };
    heading(human, &title, out);
    for chain in &story.chains {
        draw_chain(chain, &story.rule, rules, human, out);
    }
    let refused = |act: &ActStory| act.kind == ActKind::Refused;
    // What was decided against stands in full where nothing was done.
    let done = story.acts.iter().filter(|act| act.kind != ActKind::Refused).count();
    let full = if done == 0 && story.chains.is_empty() { 1 } else { done };
    // What a chain did to its node follows from its requirements, which are told above.
    let passed = story.chains.iter().any(|chain| chain.passed);
    for act in story.acts.iter().take(full) {
        let is_own = passed && act.during.is_none() && act.kind == ActKind::Done;
        draw_act(act, !is_own, asked, &story.rule, rules, names, human, out);
    }
    // Beside what was done only copies that were not made count; else what is as grave as the gravest.
    let gravest = match full {
        0 => u8::MAX,
        _ if done > 0 => 1,
        _ => story.acts.first().map_or(u8::MAX, |act| act.rank.max(1)),
    };
    let rest = story.acts.iter().skip(full).filter(|act| refused(act) && act.rank <= gravest);
    let rest: Vec<&ActStory> = rest.collect();
    let first = story.acts.first();
    for act in rest.iter().take(ALSO) {
        // The same of another rule.
        let by = first.is_some_and(|first| (&first.what, &first.by) != (&act.what, &act.by));
        let by = if by && act.by != story.rule { act.by.name.as_str() } else { "" };
        draw_short(act, by, asked, names, human, out);
    }
    if rest.len() > ALSO {
        let _ =
            writeln!(out, "    {}", human.paint(Paint::Faint, &format!("and {} more", rest.len() - ALSO)));
    }
    if let Some(failure) = &story.failure {
        let _ = writeln!(out, "    {}", human.paint(Paint::Error, &plain(failure)));
    }
}

/// The same of one step that did nothing.
const MINOR: usize = 2;

/// Short lines of decisions that changed nothing.
const ALSO: usize = 4;

fn sign(kind: ActKind, human: &Human) -> String {
    match kind {
        ActKind::Done => human.paint(Paint::Good, "✓"),
        ActKind::Reported => human.paint(Paint::Warning, "!"),
        ActKind::Refused => human.paint(Paint::Faint, "✗"),
    }
}

/// `in0: `, where the whole node was asked about.
fn side(act: &ActStory, asked: &PlaceRef) -> String {
    match act.place.anchor {
        Some(anchor) if asked.anchor.is_none() => format!("{}: ", side_index(anchor)),
        _ => String::new(),
    }
}

#[expect(clippy::too_many_arguments, reason = "what every drawing needs, and the pass")]
fn draw_act(
    act: &ActStory,
    why: bool,
    asked: &PlaceRef,
    pass: &RuleRef,
    rules: &Rules,
    names: Names<'_>,
    human: &Human,
    out: &mut String,
) {
    let mut lines = act.what.iter();
    let first = plain(lines.next().map_or("", String::as_str));
    let _ = writeln!(out, "    {} {}{first}", sign(act.kind, human), side(act, asked));
    for line in lines {
        let _ = writeln!(out, "      {}", plain(line));
    }
    if let Some(finding) = &act.because_of {
        let _ = writeln!(out, "      {}", plain(finding));
    }
    if let Some(because) = act.because().filter(|_| why) {
        let _ = writeln!(out, "      because {}", on_one_line(&because));
    }
    for (rule, reason) in &act.also {
        let _ = writeln!(out, "      {} agrees: {}", rules.describe(rule), plain(reason));
    }
    for place in &act.places {
        let role = if place.role.is_empty() { String::new() } else { format!(": {}", place.role) };
        let _ = writeln!(out, "      {}{role}", names.describe(place));
    }
    let mut by = Vec::new();
    if act.kind == ActKind::Refused && !act.place.role.is_empty() {
        by.push(as_what(&act.place).trim_start().to_owned());
    }
    if act.by != *pass {
        by.push(format!("by {}", rules.describe(&act.by)));
    }
    if let Some(during) = &act.during {
        by.push(format!("looking at `{}`{}", names.anchor(during), as_what(during)));
    }
    if !by.is_empty() {
        let _ = writeln!(out, "      {}", human.paint(Paint::Faint, &by.join(", ")));
    }
    if why {
        draw_steps(&act.steps, human, out);
    }
    if act.more > 0 {
        let _ = writeln!(out, "      and {} more like it", act.more);
    }
    if let Some(help) = &act.help {
        let _ = writeln!(out, "      help: {}", plain(help));
    }
}

/// The part that a place has in a story.
fn as_what(place: &PlaceRef) -> String {
    if place.role.is_empty() { String::new() } else { format!(" as {}", place.role) }
}

/// A decision that changed nothing, on one line.
fn draw_short(act: &ActStory, by: &str, asked: &PlaceRef, names: Names<'_>, human: &Human, out: &mut String) {
    let what = plain(act.what.first().map_or("", String::as_str));
    let why = act.in_short().map_or_else(String::new, |why| format!(": {}", on_one_line(&why)));
    let during =
        act.during.as_ref().map_or_else(String::new, |place| format!(" for `{}`", names.anchor(place)));
    let by = if by.is_empty() { String::new() } else { format!(" by {by}") };
    let _ = writeln!(out, "    {} {}{what}{by}{during}{why}", sign(act.kind, human), side(act, asked));
}

fn draw_chain(story: &ChainStory, pass: &RuleRef, rules: &Rules, human: &Human, out: &mut String) {
    let title =
        if story.rule == *pass { String::new() } else { format!("{}: ", rules.describe(&story.rule)) };
    let sign = if story.passed { human.paint(Paint::Good, "✓") } else { human.paint(Paint::Faint, "✗") };
    let _ = writeln!(out, "    {sign} {title}{}", plain(&story.outcome));
    if let Some(help) = &story.help {
        let _ = writeln!(out, "      help: {}", plain(help));
    }
    draw_steps(&story.walks, human, out);
    // The one that failed is what is asked for.
    let (failed, others): (Vec<_>, Vec<_>) =
        story.requirements.iter().partition(|requirement| requirement.answer == Answer::Fails);
    for requirement in failed {
        draw_held(requirement.name, false, &requirement.steps, human, out);
    }
    let width = others.iter().map(|step| step.name.as_str().chars().count()).max().unwrap_or(0);
    for requirement in others {
        draw_answered(requirement, width, human, out);
    }
}

/// A line: a step that stopped nothing, and what it asked.
fn draw_answered(requirement: &RequirementStory, width: usize, human: &Human, out: &mut String) {
    let (sign, word) = match requirement.answer {
        Answer::NotAsked => (human.paint(Paint::Faint, "-"), "not asked, "),
        _ => (human.paint(Paint::Good, "✓"), ""),
    };
    let asked = requirement.steps.iter().filter(|step| step.depth == 0);
    let asked: Vec<String> =
        asked.map(|step| format!("{} = {}", on_one_line(&step.source), plain(&step.value))).collect();
    let word = if asked.is_empty() { "" } else { word };
    let line = format!("{:width$}  {word}{}", requirement.name.as_str(), asked.join(", "));
    // The sign and the spaces around it.
    let room = human.style.width.map_or(usize::MAX, |width| width.saturating_sub(6));
    let _ = writeln!(out, "    {sign} {}", cut(line.trim_end(), room));
}

fn cut(line: &str, room: usize) -> String {
    if line.chars().count() <= room {
        return line.to_owned();
    }
    line.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

// Writing to a `String` cannot fail, so results of `write!` are not looked at in here.
fn draw_story(story: &AnchorStory, rules: &Rules, names: Names<'_>, human: &Human, out: &mut String) {
    let title = human.paint(Paint::Strong, &names.anchor(&story.place));
    let _ = writeln!(out, "{title}  {}{}", plain(story.place.op.as_str()), in_graph(&story.place.graph));
    if !story.outcome.is_empty() {
        let _ = writeln!(out, "  {}", plain(&story.outcome));
    }
    draw_steps(&story.steps, human, out);
    draw_symbol(story, names, human, out);
    // What holds first: it is what the rules go by.
    let (held, missing): (Vec<_>, Vec<_>) = story.marks.iter().partition(|mark| mark.holds);
    if !held.is_empty() {
        heading(human, "marks", out);
        held.into_iter().for_each(|mark| draw_held(mark.mark, true, &mark.steps, human, out));
    }
    if !story.verdicts.is_empty() {
        heading(human, "rules", out);
        story.verdicts.iter().for_each(|verdict| draw_verdict(verdict, rules, names, human, out));
    }
    if !missing.is_empty() {
        heading(human, "other marks", out);
        draw_missing(&missing, human, out);
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
    let _ = writeln!(out, "    symbol `{}`, {shared}", plain(symbol));
    let labels: Vec<String> = story.sharers.iter().map(|(place, _)| names.anchor(place)).collect();
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).min(STEP_WIDTH);
    for (label, (place, marks)) in labels.iter().zip(&story.sharers) {
        let marks: Vec<&str> = marks.iter().map(|mark: &Sym| mark.as_str()).collect();
        let marks = human.paint(Paint::Faint, &marks.join(", "));
        let _ = writeln!(out, "      {label:width$}  {:16}  {marks}", plain(place.op.as_str()));
    }
    if story.hidden > 0 {
        let _ = writeln!(out, "      and {} more", story.hidden);
    }
}

/// A line a mark: the steps that no other step explains.
fn draw_missing(marks: &[&MarkStory], human: &Human, out: &mut String) {
    let width = marks.iter().map(|mark| mark.mark.as_str().chars().count()).max().unwrap_or(0);
    for mark in marks {
        let last = mark
            .steps
            .iter()
            .enumerate()
            .filter(|(at, step)| mark.steps.get(at + 1).is_none_or(|next| next.depth <= step.depth));
        let reasons: Vec<String> =
            last.map(|(_, step)| format!("{} = {}", on_one_line(&step.source), plain(&step.value))).collect();
        let line = format!("{:width$}  {}", mark.mark.as_str(), reasons.join(", "));
        let _ = writeln!(out, "    {} {}", human.paint(Paint::Faint, "✗"), line.trim_end());
    }
}

fn draw_held(name: Sym, holds: bool, steps: &[TraceStep], human: &Human, out: &mut String) {
    let sign = if holds { human.paint(Paint::Good, "✓") } else { human.paint(Paint::Faint, "✗") };
    let _ = writeln!(out, "    {sign} {}", name.as_str());
    draw_steps(steps, human, out);
}

fn draw_verdict(story: &VerdictStory, rules: &Rules, names: Names<'_>, human: &Human, out: &mut String) {
    let (paint, word) = match story.verdict {
        Verdict::Isolated => (Paint::Error, "isolates this anchor"),
        Verdict::PartnerIsolated => (Paint::Warning, "isolates the other"),
        Verdict::OthersIsolated => (Paint::Warning, "isolates others"),
        Verdict::Never => (Paint::Good, "no conflict"),
        Verdict::Skipped => (Paint::Faint, "not looked at"),
        Verdict::NoConflict => (Paint::Good, "no conflict"),
    };
    let partner = match (&story.partner, &story.beside) {
        (Some(one), Some(other)) => format!(" for `{}` with `{}`", names.anchor(one), names.anchor(other)),
        (Some(place), None) if story.more > 0 => {
            format!(
                " with `{}` and {} more of type {}",
                names.anchor(place),
                story.more,
                plain(place.op.as_str())
            )
        }
        (Some(place), None) => format!(" with `{}`", names.anchor(place)),
        (None, _) => " over the group".to_owned(),
    };
    let _ = writeln!(out, "    {}: {}{partner}", human.paint(paint, word), rules.describe(&story.rule));
    if let Some(reason) = &story.reason {
        let _ = writeln!(out, "        because {}", plain(reason));
    }
    draw_steps(&story.steps, human, out);
}

/// The text of an expression may span lines in its file.
fn on_one_line(text: &str) -> String {
    plain(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

fn draw_steps(steps: &[TraceStep], human: &Human, out: &mut String) {
    let narrow = human.style.width.is_some_and(|width| width < NARROW);
    let column = if narrow { STEP_WIDTH_NARROW } else { STEP_WIDTH };
    let mut before = "";
    for step in steps {
        let source = on_one_line(&step.source);
        let indent = 8 + 2 * step.depth.min(16) as usize;
        let width = column.saturating_sub(indent);
        let text = format!("{:indent$}{source:width$} = {}", "", plain(&step.value));
        out.push_str(&text);
        // One place is said once, and not where it would break the line.
        let length = text.chars().count() + 2 + step.at.chars().count();
        let fits = human.style.width.is_none_or(|width| length <= width);
        if step.at != before && fits {
            let _ = write!(out, "  {}", human.paint(Paint::Faint, &step.at));
        }
        out.push('\n');
        before = &step.at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::explain::StepKind;
    use crate::lang::syntax::ast::Kind;
    use crate::report::{Style, testing};

    #[test]
    fn tells_the_story_of_an_anchor() {
        let (graph, _) = testing::graph(testing::GRAPH);
        let step = |depth, source: &str, value: &str| TraceStep {
            depth,
            source: source.into(),
            value: value.into(),
            at: "rules.anchor:4".into(),
            kind: StepKind::Part,
        };
        let story = AnchorStory {
            place: testing::place(&graph, "no", Some("in0"), ""),
            symbol: Some(("c_out_0".into(), 5)),
            sharers: vec![(testing::place(&graph, "c", Some("out0"), ""), vec![Sym::new("FIXED_OUT")])],
            hidden: 3,
            marks: vec![
                MarkStory {
                    mark: Sym::new("NORMAL"),
                    holds: false,
                    steps: vec![
                        step(0, "is_normal(a)", "false"),
                        step(1, "a and\n b", "false"),
                        step(0, "c", "none"),
                    ],
                },
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
                    beside: None,
                    more: 2,
                    reason: Some("c would be overwritten".into()),
                    steps: vec![step(0, "is_static(target.root)", "true"), step(1, "a and b", "false")],
                },
                VerdictStory {
                    rule: testing::rule(Kind::Checker, "unknown_here"),
                    partner: None,
                    beside: None,
                    more: 0,
                    verdict: Verdict::NoConflict,
                    reason: None,
                    steps: Vec::new(),
                },
            ],
            outcome: "isolated: `copy_0` was inserted before it".into(),
            steps: Vec::new(),
        };
        let chain = ChainStory {
            rule: testing::rule(Kind::Checker, "user_out_and_fixed_out"),
            place: testing::place(&graph, "c", None, ""),
            walks: Vec::new(),
            requirements: vec![RequirementStory {
                name: Sym::new("aligned"),
                answer: Answer::Fails,
                steps: vec![step(0, "i.bytes % 32 == 0", "false (4)")],
            }],
            passed: false,
            outcome: "kept as it is: input 0 is odd".into(),
            help: Some("make it even".into()),
        };
        let rule = testing::rule(Kind::Checker, "user_out_and_fixed_out");
        let pass = PassStory { told: rule.name, rule, chains: vec![chain], acts: Vec::new(), failure: None };
        let human = Human::new(Style { color: false, width: None });
        let asked = Some(testing::place(&graph, "c", None, ""));
        let explanation = Explanation { asked, bytes: Some(4), passes: vec![pass], anchors: vec![story] };
        let text = draw(&explanation, &testing::rules(), Names::new(&graph, &graph), &human);
        assert_eq!(
            text,
            "\
c  Fixed in graph `main`  4 bytes

  checker user_out_and_fixed_out (rules.anchor:227)
    ✗ kept as it is: input 0 is odd
      help: make it even
    ✗ aligned
        i.bytes % 32 == 0                                = false (4)  rules.anchor:4

no:in0  Sink in graph `main`
  isolated: `copy_0` was inserted before it

  shared memory
    symbol `c_out_0`, shared with 4 other anchors
      c:out0  Fixed             FIXED_OUT
      and 3 more

  marks
    ✓ USER_OUT
        graph == target                                  = true  rules.anchor:4

  rules
    isolates this anchor: checker user_out_and_fixed_out (rules.anchor:227) with `c:out0` and 2 more of type Fixed
        because c would be overwritten
        is_static(target.root)                           = true  rules.anchor:4
          a and b                                        = false
    no conflict: checker unknown_here over the group

  other marks
    ✗ NORMAL  a and b = false, c = none
"
        );
    }

    #[test]
    fn on_a_narrow_terminal_places_that_would_break_a_line_are_left_out() {
        let step = |value: &str, at: &str| TraceStep {
            depth: 0,
            source: "a".into(),
            value: value.into(),
            at: at.into(),
            kind: StepKind::Part,
        };
        let steps =
            [step("true", "rules/some_long_name.anchor:1"), step(&"x".repeat(30), "rules/other.anchor:2")];
        let drawn = |width| {
            let mut out = String::new();
            draw_steps(&steps, &Human::new(Style { color: false, width }), &mut out);
            out
        };
        let narrow = drawn(Some(80));
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        assert!(narrow.contains("some_long_name") && !narrow.contains("other"), "{narrow}");
        assert!(drawn(None).contains("other.anchor:2"));
    }
}
