//! Keys as people may see them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::command::text::{append, escaped};

/// A key with everything escaped that a terminal might obey or that is no text.
pub fn shown(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        shown.push_str(&escaped(chunk.valid()));
        for byte in chunk.invalid() {
            append(&mut shown, format_args!("\\x{byte:02x}"));
        }
    }
    shown
}

/// Columns of a text.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text in at most so many columns, its middle left out where it is longer: what tells keys
/// apart stands at their ends.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let (tail_room, head_room) = (room / 2, room - room / 2);
    let head: String = within(text.chars(), head_room).collect();
    let tail: Vec<char> = within(text.chars().rev(), tail_room).collect();
    head + "…" + &tail.into_iter().rev().collect::<String>()
}

fn within(chars: impl Iterator<Item = char>, columns: usize) -> impl Iterator<Item = char> {
    let mut used = 0;
    chars.take_while(move |c| {
        used += c.width().unwrap_or(0);
        used <= columns
    })
}

/// Words in lines of at most so many columns.
pub fn wrapped(words: &str, columns: usize) -> String {
    let mut text = String::with_capacity(words.len());
    let mut used = 0;
    for word in words.split(' ') {
        let room = width(word);
        if 0 < used && columns < used + 1 + room {
            text.push('\n');
            used = 0;
        } else if 0 < used {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += room;
    }
    text
}

/// A number with commas between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if 0 < place && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A share as percents with one decimal.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}%", 100.0 * part as f64 / whole.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        assert_eq!(shown(b"a\x1b[2J\xff\tz"), "a\\u{1b}[2J\\xff\\tz");
        assert_eq!(shown("Zürich".as_bytes()), "Zürich");
    }

    #[test]
    fn long_keys_lose_their_middle_and_wide_letters_count_twice() {
        assert_eq!(fit("tenant-1/user-99", 9), "tena…r-99");
        assert_eq!(fit("漢字漢字", 5), "漢…字");
        assert_eq!(fit("short", 9), "short");
    }

    #[test]
    fn words_stay_whole_in_lines() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree");
        assert_eq!(wrapped("unbreakable a", 4), "unbreakable\na");
    }

    #[test]
    fn numbers_have_commas() {
        let counts = [0, 999, 1_000, 1_234_567].map(count);
        assert_eq!(counts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(percent(1, 3), "33.3%");
    }
}
