//! What lints say, and what their fixes make of a file.
//!
//! Each `tests/lint/NAME.anchor` has a `NAME.expected`: a finding a paragraph, its place, level, code and message, then the
//! underlined text with its label, further places, the help. `NAME.fixed` is the text with all fixes made (absent: there are
//! none). Settings come from `NAME.toml`, if that is there. Expected texts are written by hand, from what a reader needs to hear.

#[path = "support/files.rs"]
mod files;

use std::fmt::Write;
use std::fs;

use anchorwatch::engine::RuleSources;
use anchorwatch::lang::lint::{
    Finding, LINTS, Memory, Settings, Source, apply, find, lint, lint_again, short,
};
use anchorwatch::lang::syntax::parse_file;
use anchorwatch::lang::{Level, Place};
use files::files;

fn place(text: &str, at: usize) -> String {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!("{line}:{column}")
}

fn told(found: &Finding, text: &str) -> String {
    let mut out = String::new();
    let one = &found.diagnostic;
    for (number, label) in one.labels.iter().enumerate() {
        let (Place::File(span) | Place::Item(span)) = label.place;
        let here = place(text, span.start as usize);
        let under = &text[span.start as usize..span.end as usize];
        if number == 0 {
            let level = if one.level == Level::Error { "deny" } else { "warn" };
            let _ = writeln!(out, "{here} {level} {}: {}", one.code, one.message);
            let _ = writeln!(out, "{}", format!("  `{under}` {}", label.text).trim_end());
        } else {
            let _ = writeln!(out, "  {here} `{under}` {}", label.text);
        }
    }
    if let Some(help) = &one.help {
        let _ = writeln!(out, "  help: {help}");
    }
    out
}

fn look(text: &str, settings: &Settings) -> Vec<Finding> {
    lint(&[Source { text, settings, wanted: true }])
}

#[test]
fn each_file_gets_its_findings_and_its_fixes() {
    let mut wrong = String::new();
    let mut seen: Vec<&str> = Vec::new();
    for path in files("tests/lint", "anchor") {
        let text = fs::read_to_string(&path).expect("a case is readable text");
        let toml = fs::read_to_string(path.with_extension("toml")).unwrap_or_default();
        let settings = Settings::read(&toml).expect("the settings of a case are right");
        let found = look(&text, &settings);
        seen.extend(found.iter().map(|one| one.diagnostic.code));
        let report: Vec<String> = found.iter().map(|one| told(one, &text)).collect();
        let (fixed, made) = apply(&text, found.iter().filter_map(|one| one.fix.as_ref()));
        let fixed = if made == 0 { String::new() } else { fixed };
        for (extension, got) in [("expected", report.join("\n")), ("fixed", fixed)] {
            let wanted = fs::read_to_string(path.with_extension(extension)).unwrap_or_default();
            if got != wanted {
                wrong.push_str(&format!(
                    "{} {extension}\n--- expected\n{wanted}--- found\n{got}\n",
                    path.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    let missing: Vec<&str> = LINTS.iter().map(|lint| lint.code).filter(|code| !seen.contains(code)).collect();
    assert!(missing.is_empty(), "no case shows {missing:?}");
}

#[test]
fn fixes_leave_rules_and_nothing_to_fix() {
    for path in files("tests/lint", "anchor") {
        let mut text = fs::read_to_string(&path).expect("a case is readable text");
        for round in 0.. {
            let found = look(&text, &Settings::default());
            let (fixed, made) = apply(&text, found.iter().filter_map(|one| one.fix.as_ref()));
            if made == 0 {
                break;
            }
            assert!(round < 5, "fixes do not end: {}", path.display());
            let file = parse_file(&fixed);
            assert!(file.items.iter().all(|item| item.item.is_some()), "{fixed}");
            text = fixed;
        }
    }
}

#[test]
fn the_shipped_rules_are_clean() {
    let files = RuleSources::shipped().files;
    let settings = Settings::default();
    let sources: Vec<Source> =
        files.iter().map(|(_, text, _)| Source { text, settings: &settings, wanted: true }).collect();
    let found = lint(&sources);
    let report: Vec<String> =
        found.iter().map(|one| format!("{} {}", files[one.file].0, told(one, &files[one.file].1))).collect();
    assert!(report.is_empty(), "\n{}", report.join("\n"));
}

#[test]
fn settings_say_what_is_wrong_with_them() {
    for (text, under, message, help) in [
        (
            "[lints]\nmissing-becuase = \"allow\"\n",
            "missing-becuase",
            "there is no lint `missing-becuase`",
            "did you mean `missing-because`?",
        ),
        (
            "[lints]\nuntested = \"forbid\"\n",
            "\"forbid\"",
            "the level of `untested` is not known",
            "levels are \"allow\", \"warn\" and \"deny\"",
        ),
        (
            "lints = 3\n",
            "3",
            "`lints` is a table of levels",
            "write `[lints]`, and below it lines as `missing-because = \"allow\"`",
        ),
    ] {
        let errors = Settings::read(text).expect_err("the settings are wrong");
        assert_eq!(errors.len(), 1, "{errors:#?}");
        assert_eq!(&text[errors[0].span.start as usize..errors[0].span.end as usize], under);
        assert_eq!((errors[0].message.as_str(), errors[0].help.as_deref()), (message, Some(help)));
    }
    assert!(Settings::read("[lints\n").is_err());
    assert!(Settings::read("[other]\nx = 1\n").is_ok());
}

#[test]
fn lints_are_in_order_and_found_by_name() {
    assert!(LINTS.is_sorted_by_key(|lint| lint.code));
    for lint in LINTS {
        assert_eq!(find(lint.code), Some(*lint));
        assert_eq!(find(short(lint)), Some(*lint));
        assert!(lint.doc.starts_with(|c: char| c.is_lowercase()) && !lint.doc.ends_with('.'), "{}", lint.doc);
    }
}

/// What is remembered of items shows the same, wherever they stand and whatever the names around them mean.
#[test]
fn linting_again_finds_what_linting_anew_finds() {
    let texts: Vec<String> = files("tests/lint", "anchor")
        .iter()
        .map(|path| fs::read_to_string(path).expect("a rule file"))
        .collect();
    let settings = Settings::default();
    let mut memory = Memory::default();
    let mut found = 0;
    for round in 0..4 {
        let moved: Vec<String> = texts
            .iter()
            .enumerate()
            .map(|(number, text)| match (round + number) % 4 {
                0 => text.clone(),
                1 => format!("// Moved.\n\n{text}"),
                2 => format!("set _MORE_{number} = {{ A, B }}\n\n{text}"),
                _ => text.replacen("{ A", "{ Z, A", 1),
            })
            .collect();
        for shift in 0..2 {
            let mut sources: Vec<Source> =
                moved.iter().map(|text| Source { text, settings: &settings, wanted: true }).collect();
            sources.rotate_left(shift);
            let again = lint_again(&sources, &mut memory);
            assert_eq!(again, lint(&sources), "round {round}");
            found += again.len();
        }
    }
    assert!(found > 100, "{found}");
}
