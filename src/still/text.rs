//! A frame as characters only.

use ratatui::buffer::Buffer;

use super::cells;

/// Its lines, without blanks at their ends.
pub(super) fn render(buffer: &Buffer) -> String {
    let mut lines = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let line: String = cells(buffer, y).map(|(_, cell)| cell.symbol()).collect();
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Style;

    #[test]
    fn wide_characters_take_their_two_columns_once() {
        let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 8, 2));
        buffer.set_string(0, 0, "日本 ab", Style::new());
        assert_eq!(render(&buffer), "日本 ab\n\n");
    }
}
