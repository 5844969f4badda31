//! A command line split into words as a shell splits it, each with its place in the line.
//!
//! Invariant: the words are exactly those of `shell_words::split`; this module only adds places.

use std::ops::Range;

/// One word, quotes removed, and where it stands in the line, quotes included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it says.
    pub text: String,
    /// Bytes of the line that it was written with.
    pub range: Range<usize>,
}

/// A quote that nobody closed, from where it opens to the end of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQuote {
    /// From the start of the word with the quote.
    pub range: Range<usize>,
}

/// Splits a line into words.
pub fn split(line: &str) -> Result<Vec<Word>, OpenQuote> {
    let ranges = ranges(line);
    let Ok(texts) = shell_words::split(line) else {
        let start = ranges.last().map_or(0, |range| range.start);
        let range = start..line.len();
        return Err(OpenQuote { range });
    };
    let place = |at: usize| ranges.get(at).cloned().unwrap_or(0..line.len());
    let words = texts.into_iter().enumerate();
    Ok(words
        .map(|(at, text)| Word {
            text,
            range: place(at),
        })
        .collect())
}

/// What the scan is inside of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Blank,
    Word,
    SingleQuote,
    DoubleQuote,
    Comment,
}

/// The stretches of a line that shell rules see as words, an unclosed one included.
fn ranges(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut inside = Inside::Blank;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let before = inside;
        inside = match (inside, c) {
            (Inside::Comment, c) if c != '\n' => Inside::Comment,
            (Inside::SingleQuote, '\'') | (Inside::DoubleQuote, '"') => Inside::Word,
            (Inside::DoubleQuote, '\\') => {
                chars.next();
                inside
            }
            (Inside::SingleQuote | Inside::DoubleQuote, _) => inside,
            (_, '\'') => Inside::SingleQuote,
            (_, '"') => Inside::DoubleQuote,
            (_, ' ' | '\t' | '\n') => Inside::Blank,
            (Inside::Blank, '#') => Inside::Comment,
            // A continued line starts no word.
            (_, '\\') if matches!(chars.next(), Some((_, '\n'))) => before,
            _ => Inside::Word,
        };
        let is_word = |state| !matches!(state, Inside::Blank | Inside::Comment);
        if is_word(inside) && !is_word(before) {
            start = at;
        }
        if !is_word(inside) && is_word(before) {
            found.push(start..at);
        }
    }
    if !matches!(inside, Inside::Blank | Inside::Comment) {
        found.push(start..line.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_know_where_they_stand() {
        let words = split("  link cut 'trips a' \"*\"").unwrap();
        let found: Vec<_> = words
            .iter()
            .map(|w| (w.text.as_str(), w.range.clone()))
            .collect();
        assert_eq!(
            found,
            [
                ("link", 2..6),
                ("cut", 7..10),
                ("trips a", 11..20),
                ("*", 21..24)
            ]
        );
    }

    #[test]
    fn an_open_quote_is_pointed_at() {
        assert_eq!(split("rate 'trips 5").unwrap_err().range, 5..13);
    }

    proptest! {
        #[test]
        fn every_word_of_a_shell_has_a_place(line in "[ab'\"\\\\# \t\n]{0,24}") {
            if let Ok(words) = shell_words::split(&line) {
                prop_assert_eq!(ranges(&line).len(), words.len());
            }
        }
    }
}
