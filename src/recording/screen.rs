//! From one frame to the next, as a terminal is told.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Position;

use crate::still::ansi::Look;

/// Hides the cursor and clears the screen.
const CLEAR: &str = "\x1b[0m\x1b[?25l\x1b[2J";

/// What the terminal shows.
#[derive(Debug, Default)]
pub(super) struct Shown {
    frame: Option<Buffer>,
    cursor: Option<Position>,
}

impl Shown {
    /// What leads to the next frame: nothing where nothing changed.
    pub(super) fn show(&mut self, next: Buffer, cursor: Option<Position>) -> String {
        let mut bytes = String::new();
        let empty = Buffer::empty(next.area);
        let before = self.frame.as_ref().unwrap_or_else(|| {
            bytes.push_str(CLEAR);
            &empty
        });
        let changed = before.diff(&next);
        if self.cursor.is_some() && (!changed.is_empty() || self.cursor != cursor) {
            bytes.push_str("\x1b[?25l");
            self.cursor = None;
        }
        write_cells(&mut bytes, &changed);
        if let Some(Position { x, y }) = cursor
            && self.cursor != cursor
        {
            let _always = write!(bytes, "\x1b[{};{}H\x1b[?25h", y + 1, x + 1);
            self.cursor = cursor;
        }
        self.frame = Some(next);
        bytes
    }

    /// The next frame is written whole, as for somebody who sees nothing yet.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

fn write_cells(bytes: &mut String, changed: &[(u16, u16, &Cell)]) {
    let mut look = Look::PLAIN;
    let mut next = None;
    for &(x, y, cell) in changed {
        if next != Some((x, y)) {
            let _always = write!(bytes, "\x1b[{};{}H", y + 1, x + 1);
        }
        let wanted = Look::of(cell);
        if wanted != look {
            bytes.push_str(&wanted.sequence());
            look = wanted;
        }
        bytes.push_str(cell.symbol());
        next = Some((x + crate::tui::text::width(cell.symbol()).max(1), y));
    }
    if look != Look::PLAIN {
        bytes.push_str(&Look::PLAIN.sequence());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    fn frame(text: &str) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 2));
        buffer.set_string(2, 1, text, Style::new());
        buffer
    }

    #[test]
    fn only_what_changed_is_written() {
        let mut shown = Shown::default();
        assert_eq!(
            shown.show(frame("one"), None),
            "\x1b[0m\x1b[?25l\x1b[2J\x1b[2;3Hone"
        );
        assert_eq!(shown.show(frame("one"), None), "");
        assert_eq!(shown.show(frame("ore"), None), "\x1b[2;4Hr");
    }

    #[test]
    fn after_a_marker_all_of_it_is_written_again() {
        let mut shown = Shown::default();
        let first = shown.show(frame("one"), None);
        shown.forget();
        assert_eq!(shown.show(frame("one"), None), first);
    }

    #[test]
    fn the_cursor_stands_where_something_is_typed() {
        let mut shown = Shown::default();
        let _first = shown.show(frame(":"), None);
        let typed = shown.show(frame(":a"), Some(Position::new(4, 1)));
        assert_eq!(typed, "\x1b[2;4Ha\x1b[2;5H\x1b[?25h");
        assert_eq!(shown.show(frame(":a"), Some(Position::new(4, 1))), "");
        assert_eq!(shown.show(frame(":a"), None), "\x1b[?25l");
    }
}
