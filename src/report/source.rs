//! Text that excerpts are cut from, with its lines found once.
//!
//! Promise: an excerpt costs the lines that it shows. miette's own sources look for line ends from the start of
//! the file for each label of each diagnostic, which makes ten thousand findings quadratic in the rule file.

use std::ops::Range;

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use super::plain::{plain, same_places};

/// A file, or some whole lines of one.
#[derive(Debug)]
pub struct Source {
    name: String,
    text: String,
    /// Byte at which each line starts. Never empty.
    lines: Vec<usize>,
    /// What people are shown of a text that a terminal would obey.
    shown: Option<String>,
    /// Lines of the file before this text.
    above: usize,
}

impl Source {
    /// A whole file. `name` is what a person calls it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source::part(name, text, 1)
    }

    /// Lines of a file, from line `first` (counted from 1) on. Offsets are those of `text`.
    pub fn part(name: impl Into<String>, text: impl Into<String>, first: usize) -> Source {
        let mut text = text.into();
        // A mistake at the very end is underlined only if its line has an end.
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let lines = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        // A text that ends in a line end has no further line.
        let lines: Vec<usize> = lines.filter(|&at| at == 0 || at < text.len()).collect();
        let shown = same_places(&text);
        Source { name: name.into(), text, lines, shown, above: first.saturating_sub(1) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte, both from 1; columns count characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let line = self.line_of(offset);
        let start = self.lines[line];
        let column = self.text.get(start..offset.min(self.text.len())).map_or(0, |s| s.chars().count());
        (self.above + line + 1, column + 1)
    }

    /// The line that holds the byte, without its end.
    pub fn line_text(&self, offset: usize) -> &str {
        let line = self.line_of(offset);
        let end = self.lines.get(line + 1).copied().unwrap_or(self.text.len());
        self.text[self.lines[line]..end].trim_end_matches(['\n', '\r'])
    }

    /// The nearest span that exists in the text and cuts no character.
    pub fn clamp(&self, span: Range<usize>) -> Range<usize> {
        let down = |mut at: usize| {
            at = at.min(self.text.len());
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = down(span.start);
        start..down(span.end).max(start)
    }

    /// Index into `lines` of the line that holds the byte.
    fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|&start| start <= offset).saturating_sub(1)
    }
}

/// Bytes that are shown before a span, and behind it: some lines of text, but not one of megabytes.
const LONG: usize = 2000;

impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let wanted = self.clamp(span.offset()..span.offset().saturating_add(span.len()));
        let first = self.line_of(wanted.start);
        let last = self.line_of(wanted.end.saturating_sub(1).max(wanted.start));
        // Without context the contents start at the span itself: miette reads the column from them.
        let (start, line, column) = if before == 0 {
            (wanted.start, first, self.line_column(wanted.start).1 - 1)
        } else {
            let line = first.saturating_sub(before);
            (self.lines[line], line, 0)
        };
        // Of a line that is too long to show, what stands around the span.
        let (start, line) = match wanted.start - start > LONG {
            true if before > 0 => {
                let start = self.clamp(wanted.start - LONG..wanted.start).start;
                (start, self.line_of(start))
            }
            _ => (start, line),
        };
        let end = if before == 0 && after == 0 {
            wanted.end
        } else {
            self.lines.get(last.saturating_add(after).saturating_add(1)).copied().unwrap_or(self.text.len())
        };
        let end =
            if end.saturating_sub(wanted.end) > LONG { self.clamp(0..wanted.end + LONG).end } else { end };
        let last = self.line_of(end.saturating_sub(1).max(wanted.start));
        Ok(Box::new(MietteSpanContents::new_named(
            plain(&self.name).into_owned(),
            &self.shown.as_ref().unwrap_or(&self.text).as_bytes()[start..end],
            (start, end - start).into(),
            self.above + line,
            column,
            last + 1 - line,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one\ntwo\nthré\nfour\n";

    fn read(source: &Source, span: Range<usize>, context: usize) -> (String, usize, usize) {
        let contents =
            source.read_span(&(span.start, span.len()).into(), context, context).expect("spans are clamped");
        (String::from_utf8_lossy(contents.data()).into_owned(), contents.line(), contents.column())
    }

    #[test]
    fn reads_the_lines_around_a_span() {
        let source = Source::new("f", TEXT);
        assert_eq!(read(&source, 4..7, 1), ("one\ntwo\nthré\n".into(), 0, 0));
        assert_eq!(read(&source, 5..6, 0), ("w".into(), 1, 1));
        assert_eq!(read(&source, 14..18, 9), (TEXT.into(), 0, 0));
    }

    #[test]
    fn a_part_keeps_the_line_numbers_of_its_file() {
        let source = Source::part("f", "two\nthré\n", 2);
        assert_eq!(read(&source, 4..8, 1), ("two\nthré\n".into(), 1, 0));
        assert_eq!(source.line_column(4), (3, 1));
    }

    #[test]
    fn of_a_long_line_the_part_around_the_span_is_shown() {
        let source = Source::new("f", format!("one\n{}!{}\n", "é".repeat(9000), "a".repeat(9000)));
        let (text, line, _) = read(&source, 18_004..18_005, 1);
        assert_eq!((text, line), (format!("{}!{}", "é".repeat(1000), "a".repeat(2000)), 1));
    }

    #[test]
    fn the_last_line_has_an_end() {
        assert_eq!((Source::new("f", "a").text(), Source::new("f", "").text()), ("a\n", ""));
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(Source::new("f", TEXT).line_column(13), (3, 5));
    }

    #[test]
    fn spans_outside_the_text_or_inside_a_character_are_moved() {
        let source = Source::new("f", TEXT);
        assert_eq!(source.clamp(12..99), 11..TEXT.len());
        assert_eq!(source.clamp(99..120), TEXT.len()..TEXT.len());
        assert_eq!(read(&source, 99..120, 0).0, "");
        assert_eq!(read(&Source::new("f", ""), 0..3, 2), (String::new(), 0, 0));
    }
}
