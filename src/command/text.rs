//! Small things about words: escaping what a terminal would obey, and the nearest known word.

/// The text with everything a terminal might obey, or hide, written as an escape.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_harmless(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_default());
        }
    }
    shown
}

/// Whether a character is shown as itself: no control character, and none that reorders or hides.
pub fn is_harmless(c: char) -> bool {
    let invisible = matches!(c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}');
    !c.is_control() && !invisible
}

/// The known word that a mistyped one was most likely meant to be.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer texts are not typing mistakes, and comparing them would cost time.
    const WRITTEN_MAX: usize = 64;
    if written.len() > WRITTEN_MAX {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', '.'], "-");
    let target = plain(written);
    let best = known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(&target, &plain(word)), word))
        .min_by_key(|(distance, _)| *distance);
    best.filter(|(distance, word)| *distance <= word.len().max(written.len()) / 3 + 1)
        .map(|(_, word)| word)
        .filter(|word| *word != written)
}

/// Appends formatted text; a `String` never fails to take it.
pub(crate) fn append(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = std::fmt::Write::write_fmt(text, arguments);
}

/// Names in a row: `a, b or c`.
pub fn listed(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., end] => format!("{} {last} {end}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_shown_and_not_sent() {
        assert_eq!(escaped("a\u{1b}[2Jb\n\u{202e}"), "a\\u{1b}[2Jb\\n\\u{202e}");
        assert_eq!(escaped("Zürich ✓"), "Zürich ✓");
    }

    #[test]
    fn the_nearest_word_is_near() {
        let known = ["linger.ms", "batch.size", "acks"];
        assert_eq!(nearest("linger_ms", known), Some("linger.ms"));
        assert_eq!(nearest("batchsize", known), Some("batch.size"));
        assert_eq!(nearest("zebra", known), None);
        assert_eq!(nearest("acks", known), None, "a known word needs no hint");
    }
}
