//! What is known of rules, tests and pinned graphs at one moment, and what is new since the moment before.
//!
//! Promise: pure values; a thing that only moved in its file is no news. What could not be asked this time (the rules had
//! errors, a graph was half written) is as it was, so that a slip of the keyboard is told once and its end once.

use std::collections::BTreeMap;

/// Something that is there or not: what it is called wherever it stands, and what is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    pub key: String,
    pub text: String,
}

/// A pinned graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pinned {
    /// Findings and failed passes; `None`: it could not be run.
    pub verdicts: Option<Vec<Noted>>,
    /// Why it cannot be read or run.
    pub trouble: Option<String>,
}

/// One moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// What is wrong with files, settings and rules.
    pub complaints: Vec<Noted>,
    pub errors: usize,
    /// By place and title: what is wrong, nothing if it passes. `None`: they could not be run.
    pub tests: Option<BTreeMap<String, Option<String>>>,
    /// By path; those that are pinned, no others.
    pub graphs: BTreeMap<String, Pinned>,
}

/// How a line is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Worse,
    Better,
    /// A heading or a sum.
    Plain,
}

/// One line of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub turn: Turn,
    pub text: String,
}

impl State {
    /// This moment with what could not be asked taken from the one before.
    pub fn after(mut self, old: &State) -> State {
        if self.tests.is_none() {
            self.tests.clone_from(&old.tests);
        }
        for (path, graph) in &mut self.graphs {
            if graph.verdicts.is_none() {
                graph.verdicts = old.graphs.get(path).and_then(|old| old.verdicts.clone());
            }
        }
        self
    }

    /// Whether there are no errors, no test fails, and all graphs can be run.
    pub fn is_fine(&self) -> bool {
        let failing = self.tests.iter().flatten().any(|(_, failure)| failure.is_some());
        self.errors == 0 && !failing && self.troubled() == 0
    }

    /// The graphs that cannot be read or run.
    fn troubled(&self) -> usize {
        self.graphs.values().filter(|graph| graph.trouble.is_some()).count()
    }

    /// How things stand, in a line.
    pub fn sum(&self) -> String {
        let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        let mut parts = vec![count(self.errors, "error", "errors")];
        // With errors nothing was run: what is known is of a moment before.
        match self.tests.as_ref().filter(|_| self.errors == 0) {
            Some(tests) => {
                let failed = tests.values().filter(|failure| failure.is_some()).count();
                parts.push(format!(
                    "{} passed, {failed} failed",
                    count(tests.len() - failed, "test", "tests")
                ));
            }
            None => parts.push("tests not run".to_owned()),
        }
        let troubled = self.troubled();
        if self.errors == 0 && troubled < self.graphs.len() {
            let graphs = self.graphs.values().filter(|graph| graph.trouble.is_none());
            let verdicts = graphs.filter_map(|graph| graph.verdicts.as_ref()).map(Vec::len).sum();
            let verdicts = count(verdicts, "verdict", "verdicts");
            parts.push(format!("{verdicts} on {}", count(self.graphs.len() - troubled, "graph", "graphs")));
        }
        if troubled > 0 {
            parts.push(format!("{} cannot be run", count(troubled, "graph", "graphs")));
        }
        parts.join(", ")
    }

    /// What is wrong now, for the first look: verdicts are counted, not listed.
    pub fn first(&self, limit: usize) -> Vec<Line> {
        let mut known = self.clone();
        known.complaints.clear();
        known.tests =
            self.tests.as_ref().map(|tests| tests.keys().map(|name| (name.clone(), None)).collect());
        for graph in known.graphs.values_mut() {
            graph.trouble = None;
        }
        self.news(&known, limit)
    }

    /// What changed since `old`; nothing if nothing did. Of one kind, of one graph or of the rules, no more lines are told than
    /// the limit.
    pub fn news(&self, old: &State, limit: usize) -> Vec<Line> {
        let mut lines = differences(&old.complaints, &self.complaints, "", limit);
        if let Some(tests) = &self.tests {
            let nothing = BTreeMap::new();
            let before = old.tests.as_ref().unwrap_or(&nothing);
            for (name, failure) in tests {
                match (before.get(name), failure) {
                    (Some(Some(_)) | None, None) => {
                        lines.push(Line { turn: Turn::Better, text: format!("  ok  {name}") })
                    }
                    (Some(None) | None, Some(failure)) => {
                        lines.push(Line { turn: Turn::Worse, text: format!("FAIL  {name}: {failure}") });
                    }
                    _ => {}
                }
            }
            for name in before.keys().filter(|name| !tests.contains_key(*name)) {
                lines.push(Line { turn: Turn::Plain, text: format!("gone  {name}") });
            }
        }
        for (path, graph) in &self.graphs {
            let nothing = Pinned::default();
            let before = old.graphs.get(path).unwrap_or(&nothing);
            let mut of_graph = Vec::new();
            match (&before.trouble, &graph.trouble) {
                (old, Some(trouble)) if old.as_ref() != Some(trouble) => {
                    of_graph.push(Line { turn: Turn::Worse, text: format!("  {trouble}") });
                }
                (Some(_), None) => {
                    of_graph.push(Line { turn: Turn::Better, text: "  it can be run again".to_owned() });
                }
                _ => {}
            }
            let nothing = Vec::new();
            let [old, new] = [before, graph].map(|graph| graph.verdicts.as_ref().unwrap_or(&nothing));
            of_graph.extend(differences(old, new, "  ", limit));
            if !of_graph.is_empty() {
                lines.push(Line { turn: Turn::Plain, text: path.clone() });
                lines.append(&mut of_graph);
            }
        }
        for path in old.graphs.keys().filter(|path| !self.graphs.contains_key(*path)) {
            lines.push(Line { turn: Turn::Plain, text: format!("{path} is no longer pinned") });
        }
        lines
    }
}

/// What is in one list and not in the other, each as often as that.
fn differences(old: &[Noted], new: &[Noted], margin: &str, limit: usize) -> Vec<Line> {
    let only_in = |list: &[Noted], other: &[Noted]| {
        let mut left: BTreeMap<&str, usize> = BTreeMap::new();
        for noted in other {
            *left.entry(&noted.key).or_default() += 1;
        }
        let mut more = Vec::new();
        for noted in list {
            match left.get_mut(noted.key.as_str()) {
                Some(count) if *count > 0 => *count -= 1,
                _ => more.push(noted.text.clone()),
            }
        }
        more
    };
    let mut lines = Vec::new();
    for (turn, sign, found) in [(Turn::Worse, '+', only_in(new, old)), (Turn::Better, '-', only_in(old, new))]
    {
        let hidden = found.len().saturating_sub(limit);
        let shown = found.into_iter().take(limit);
        lines.extend(shown.map(|text| Line { turn, text: format!("{margin}{sign} {text}") }));
        if hidden > 0 {
            let text = format!("{margin}{sign} … and {hidden} more; `--limit N` shows more of them");
            lines.push(Line { turn, text });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A moment written down: `error …`, `ok TEST`, `FAIL TEST`, `GRAPH: verdict, verdict`, `GRAPH! trouble`, `untested`.
    fn state(text: &str) -> State {
        let mut state = State { tests: Some(BTreeMap::new()), ..State::default() };
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let noted = |text: &str| {
                // A number in brackets is a place.
                let key = text.split(" [").next().unwrap_or(text).to_owned();
                Noted { key, text: text.to_owned() }
            };
            if line == "untested" {
                state.tests = None;
            } else if let Some(name) = line.strip_prefix("ok ") {
                state.tests.get_or_insert_default().insert(name.to_owned(), None);
            } else if let Some(name) = line.strip_prefix("FAIL ") {
                state.tests.get_or_insert_default().insert(name.to_owned(), Some("why".to_owned()));
            } else if let Some((path, trouble)) = line.split_once("! ") {
                state
                    .graphs
                    .insert(path.to_owned(), Pinned { verdicts: None, trouble: Some(trouble.to_owned()) });
            } else if let Some((path, verdicts)) = line.split_once(": ") {
                let verdicts = verdicts.split(", ").filter(|verdict| !verdict.is_empty()).map(noted);
                let graph = Pinned { verdicts: Some(verdicts.collect()), trouble: None };
                state.graphs.insert(path.to_owned(), graph);
            } else {
                state.errors += 1;
                state.complaints.push(noted(line));
            }
        }
        state
    }

    /// What is told of one moment after another.
    fn told(old: &str, new: &str) -> String {
        told_at_most(usize::MAX, old, new)
    }

    fn told_at_most(limit: usize, old: &str, new: &str) -> String {
        let old = state(old);
        let lines = state(new).after(&old).news(&old, limit);
        lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    #[test]
    fn only_what_changed_is_told() {
        assert_eq!(told("bad word [1]\nok a\ng: v1, v2", "bad word [1]\nok a\ng: v1, v2"), "");
        assert_eq!(told("bad word [1]", "bad word [7]"), "", "a thing that moved is no news");
        assert_eq!(told("bad word [1]", "other word [1]"), "+ other word [1]\n- bad word [1]\n");
        assert_eq!(
            told("bad word [1]", "bad word [1]\nbad word [2]"),
            "+ bad word [2]\n",
            "twice is once more"
        );
        assert_eq!(
            told("ok a\nFAIL b\nok c", "FAIL a\nok b\nFAIL d"),
            "FAIL  a: why\n  ok  b\nFAIL  d: why\ngone  c\n"
        );
        assert_eq!(told("g: v1, v2\nh: v", "g: v2, v3\nh: v"), "g\n  + v3\n  - v1\n");
        assert_eq!(told("g: v1", ""), "g is no longer pinned\n");
    }

    #[test]
    fn the_limit_holds_for_each_list() {
        let (old, new) = ("a\nb\ng: v1, v2, v3\nh: v", "c\nd\ng: w1, w2\nh: w");
        let of_rules = "+ c\n+ … and 1 more; `--limit N` shows more of them\n\
                        - a\n- … and 1 more; `--limit N` shows more of them\n";
        let of_graphs = "g\n  + w1\n  + … and 1 more; `--limit N` shows more of them\n\
                         \x20 - v1\n  - … and 2 more; `--limit N` shows more of them\n\
                         h\n  + w\n  - v\n";
        assert_eq!(told_at_most(1, old, new), format!("{of_rules}{of_graphs}"));
        let all = "+ c\n+ d\n- a\n- b\ng\n  + w1\n  + w2\n  - v1\n  - v2\n  - v3\nh\n  + w\n  - v\n";
        assert_eq!(told_at_most(3, old, new), all);
        let first = state("a\nb\nc").first(2).into_iter().map(|line| line.text);
        assert_eq!(
            first.collect::<Vec<_>>(),
            ["+ a", "+ b", "+ … and 1 more; `--limit N` shows more of them"]
        );
    }

    #[test]
    fn what_cannot_be_asked_is_as_it_was() {
        let (fine, broken) = ("ok a\nFAIL b\ng: v", "untested\nbad word\ng! half a graph");
        assert_eq!(told(fine, broken), "+ bad word\ng\n  half a graph\n");
        let during = state(broken).after(&state(fine));
        let lines = |text: &str| {
            let after = state(text).after(&during);
            after.news(&during, usize::MAX).iter().map(|line| line.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(lines(broken), Vec::<String>::new(), "told once");
        assert_eq!(lines(fine), ["- bad word", "g", "  it can be run again"]);
        assert_eq!(
            lines("ok a\nok b\ng: v, w"),
            ["- bad word", "  ok  b", "g", "  it can be run again", "  + w"]
        );
    }

    #[test]
    fn the_first_look_tells_what_is_wrong_and_counts_the_rest() {
        let state = state("bad word\nok a\nFAIL b\ng: v1, v2\nh! half a graph");
        let lines: Vec<String> = state.first(usize::MAX).into_iter().map(|line| line.text).collect();
        assert_eq!(lines, ["+ bad word", "FAIL  b: why", "h", "  half a graph"]);
        assert_eq!(state.sum(), "1 error, tests not run, 1 graph cannot be run");
        let state = super::State { errors: 0, ..state };
        assert_eq!(
            state.sum(),
            "0 errors, 1 test passed, 1 failed, 2 verdicts on 1 graph, 1 graph cannot be run"
        );
        assert!(!self::state("ok a\ng! half a graph").is_fine() && self::state("ok a\ng: v").is_fine());
    }
}
