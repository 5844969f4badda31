//! Words on the screen: foreign text made harmless, text fitted to cells, drawing helpers.
//!
//! Nothing that comes from a file, a key or a value reaches the terminal unescaped: control
//! characters, terminal escapes and bidirectional overrides are shown as what they are.

use std::borrow::Cow;
use std::fmt::Write;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Whether a character would do something to a terminal instead of standing on it.
fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// `text` with everything active shown escaped: `\n`, `\x1b`, `\u{202e}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_active(c) => escape(&mut out, c as u32),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Appends the escape of one code: `\x1b`, or `\u{202e}` where two digits are not enough.
fn escape(out: &mut String, code: u32) {
    let written = if code < 0x100 {
        write!(out, "\\x{code:02x}")
    } else {
        write!(out, "\\u{{{code:04x}}}")
    };
    debug_assert!(written.is_ok(), "a String takes everything");
}

/// Bytes of a key or value as text, with what is not text shown as `\xff`.
pub fn visible_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&visible(chunk.valid()));
        for byte in chunk.invalid() {
            escape(&mut out, u32::from(*byte));
        }
    }
    out
}

/// Cells that `text` takes.
pub fn width(text: &str) -> u16 {
    u16::try_from(Span::raw(text).width()).unwrap_or(u16::MAX)
}

/// Cells that one character takes.
pub fn char_width(c: char) -> u16 {
    width(c.encode_utf8(&mut [0; 4]))
}

/// The longest beginning of `text` that fits into `cells`, ending in `ellipsis` when cut.
pub fn fit<'a>(text: &'a str, cells: u16, ellipsis: &str) -> Cow<'a, str> {
    if width(text) <= cells {
        return Cow::Borrowed(text);
    }
    let room = cells.saturating_sub(width(ellipsis));
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = char_width(c);
        if used + wide > room {
            break;
        }
        used += wide;
        out.push(c);
    }
    if cells >= width(ellipsis) {
        out.push_str(ellipsis);
    }
    Cow::Owned(out)
}

/// `text` broken into lines of at most `cells`, between words where there are any.
pub fn wrap(text: &str, cells: u16) -> Vec<String> {
    let room = cells.max(1);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        let mut used = 0;
        for word in paragraph.split_whitespace() {
            let needed = width(word);
            if used > 0 && used + 1 + needed > room {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            if needed <= room {
                line.push_str(word);
                used += needed;
            } else {
                used = push_broken(&mut lines, &mut line, word, room);
            }
        }
        lines.push(line);
    }
    lines
}

/// Appends a word that is too long for any line, moving full lines to `lines`; returns the cells
/// that the last one takes. `line` is empty before.
fn push_broken(lines: &mut Vec<String>, line: &mut String, word: &str, room: u16) -> u16 {
    let mut used = 0;
    for c in word.chars() {
        let needed = char_width(c);
        if used + needed > room && used > 0 {
            lines.push(std::mem::take(line));
            used = 0;
        }
        line.push(c);
        used += needed;
    }
    used
}

/// Draws `text` at a place inside `area`, cut at its right edge; returns the column after it.
pub fn put(buffer: &mut Buffer, area: Rect, at: (u16, u16), text: &str, style: Style) -> u16 {
    let (dx, dy) = at;
    let x = area.x.saturating_add(dx);
    if dy >= area.height || dx >= area.width {
        return dx;
    }
    let room = usize::from(area.width - dx);
    let (end, _) = buffer.set_stringn(x, area.y + dy, text, room, style);
    end.saturating_sub(area.x)
}

/// Draws `text` so that it ends at the right edge of `area`, when all of it fits.
pub fn put_right(buffer: &mut Buffer, area: Rect, dy: u16, text: &str, style: Style) {
    let cells = width(text);
    if cells <= area.width {
        put(buffer, area, (area.width - cells, dy), text, style);
    }
}

/// Draws one styled line at row `dy` of `area`, cut at its right edge.
pub fn put_line(buffer: &mut Buffer, area: Rect, dy: u16, line: &Line<'_>) {
    if dy < area.height && area.width > 0 {
        buffer.set_line(area.x, area.y + dy, line, area.width);
    }
}

/// As [`put_line`], ending in `ellipsis` where the line is cut.
pub fn put_line_cut(buffer: &mut Buffer, area: Rect, dy: u16, line: &Line<'_>, ellipsis: &str) {
    put_line(buffer, area, dy, line);
    let cells = width(ellipsis);
    if line.width() > usize::from(area.width) && dy < area.height && cells <= area.width {
        let at = (area.width - cells, dy);
        put(buffer, area, at, ellipsis, Style::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_are_shown_and_never_sent() {
        assert_eq!(
            visible("a\x1b[2J\u{9b}b\u{202e}"),
            "a\\x1b[2J\\x9bb\\u{202e}"
        );
        assert_eq!(visible_bytes(b"k\xff\x07"), "k\\xff\\x07");
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(visible("trip-9001 é"), Cow::Borrowed(_)));
    }

    #[test]
    fn cut_text_says_so() {
        assert_eq!(fit("bufferpool", 6, "…"), "buffe…");
        assert_eq!(fit("bufferpool", 10, "…"), "bufferpool");
        assert_eq!(fit("bufferpool", 0, "…"), "");
    }

    #[test]
    fn wide_characters_never_overrun_their_cells() {
        for cells in 0..8 {
            assert!(width(&fit("日本語テキスト", cells, "…")) <= cells);
        }
    }

    #[test]
    fn lines_break_between_words_and_inside_long_ones() {
        assert_eq!(
            wrap("send() waits for memory", 12),
            ["send() waits", "for memory"]
        );
        assert_eq!(wrap("abcdef", 4), ["abcd", "ef"]);
    }
}
