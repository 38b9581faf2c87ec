//! Small edits of the shipped rules, as data.
//!
//! A file of the form
//!
//! ```text
//! What is changed, in a sentence.
//! --- rules/layout.anchor
//! text that stands there exactly once, whatever the white space
//! +++
//! text that stands there instead
//! === word
//! lines that belong to the word
//! ```
//!
//! with any number of edits and of sections. `--- overlay` adds a rule file; it has no `+++`. The edits survive others nearby.

use anchorwatch::engine::RuleSources;

/// A file, read.
pub struct Patch {
    pub title: String,
    edits: Vec<(String, String, Option<String>)>,
    /// The sections: the words behind `===`, and the text below.
    pub sections: Vec<(String, String)>,
}

impl Patch {
    pub fn read(text: &str) -> Patch {
        let mut patch = Patch { title: String::new(), edits: Vec::new(), sections: Vec::new() };
        enum In {
            Title,
            Old,
            New,
            Section,
        }
        let mut place = In::Title;
        for line in text.lines() {
            if let Some(file) = line.strip_prefix("--- ") {
                patch.edits.push((file.trim().to_owned(), String::new(), None));
                place = In::Old;
            } else if line == "+++" {
                patch.edits.last_mut().expect("`+++` follows `---`").2 = Some(String::new());
                place = In::New;
            } else if let Some(word) = line.strip_prefix("===") {
                patch.sections.push((word.trim().to_owned(), String::new()));
                place = In::Section;
            } else {
                let text = match place {
                    In::Title => &mut patch.title,
                    In::Old => &mut patch.edits.last_mut().expect("an edit").1,
                    In::New => patch.edits.last_mut().and_then(|edit| edit.2.as_mut()).expect("an edit"),
                    In::Section => &mut patch.sections.last_mut().expect("a section").1,
                };
                text.push_str(line);
                text.push('\n');
            }
        }
        patch
    }

    /// The shipped rules with the edits made.
    pub fn apply(&self) -> RuleSources {
        let mut sources = RuleSources::shipped();
        for (file, old, new) in &self.edits {
            let Some(new) = new else {
                sources.files.push((format!("{file}.anchor"), old.clone(), true));
                continue;
            };
            let text = &mut sources.files.iter_mut().find(|(path, ..)| path == file).expect("a rule file").1;
            let places = places(text, old);
            assert_eq!(places.len(), 1, "`{old}` stands in {file} {} times", places.len());
            text.replace_range(places[0].clone(), new.trim_end_matches('\n').trim_start());
        }
        sources
    }
}

/// Where `wanted` stands in `text`, white space aside: rules are put into their form now and then.
fn places(text: &str, wanted: &str) -> Vec<std::ops::Range<usize>> {
    let solid = |text: &str| -> Vec<(usize, char)> {
        text.char_indices().filter(|(_, c)| !c.is_whitespace()).collect()
    };
    let (text, wanted) = (solid(text), solid(wanted));
    let is_here = |window: &&[(usize, char)]| window.iter().zip(&wanted).all(|(a, b)| a.1 == b.1);
    let windows = text.windows(wanted.len()).filter(is_here);
    windows
        .filter_map(|window| {
            let (&(start, _), &(end, last)) = (window.first()?, window.last()?);
            Some(start..end + last.len_utf8())
        })
        .collect()
}

/// All files of a folder with this ending, by name.
pub fn all(folder: &str, ending: &str) -> Vec<(String, Patch)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found: Vec<(String, Patch)> = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?.strip_suffix(ending)?.to_owned();
            Some((name, Patch::read(&std::fs::read_to_string(entry.path()).expect("text"))))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
