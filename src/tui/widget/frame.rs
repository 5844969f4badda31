//! Panes that share their lines: a grid drawn once, with proper joints, then titles on it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::tui::text;
use crate::tui::theme::Theme;

const UP: u8 = 1;
const RIGHT: u8 = 2;
const DOWN: u8 = 4;
const LEFT: u8 = 8;

/// The lines around and between panes.
#[derive(Debug)]
pub struct Grid<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// The panes with their lines; neighbours overlap by one cell.
    pub panes: &'a [Rect],
    /// The pane whose lines stand out.
    pub focused: Option<Rect>,
}

impl Widget for &Grid<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let columns = usize::from(area.width);
        let mut joints = vec![0_u8; columns * usize::from(area.height)];
        for pane in self.panes {
            trace(pane.intersection(area), |x, y, sides| {
                joints[usize::from(y - area.y) * columns + usize::from(x - area.x)] |= sides;
            });
        }
        for (place, &sides) in joints.iter().enumerate().filter(|(_, sides)| **sides != 0) {
            let x = area.x + (place % columns) as u16;
            let y = area.y + (place / columns) as u16;
            let glyph = self.theme.glyphs.joints[usize::from(sides)];
            buffer[(x, y)]
                .set_symbol(glyph)
                .set_style(self.theme.styles.frame.line);
        }
        if let Some(pane) = self.focused {
            trace(pane.intersection(area), |x, y, _| {
                buffer[(x, y)].set_style(Style::reset());
                buffer[(x, y)].set_style(self.theme.styles.frame.line_focused);
            });
        }
    }
}

/// Calls `each` with every cell on the outline of `pane` and the sides on which it joins.
fn trace(pane: Rect, mut each: impl FnMut(u16, u16, u8)) {
    if pane.width < 2 || pane.height < 2 {
        return;
    }
    let (left, right) = (pane.x, pane.right() - 1);
    let (top, bottom) = (pane.y, pane.bottom() - 1);
    each(left, top, RIGHT | DOWN);
    each(right, top, LEFT | DOWN);
    each(left, bottom, RIGHT | UP);
    each(right, bottom, LEFT | UP);
    for x in left + 1..right {
        each(x, top, LEFT | RIGHT);
        each(x, bottom, LEFT | RIGHT);
    }
    for y in top + 1..bottom {
        each(left, y, UP | DOWN);
        each(right, y, UP | DOWN);
    }
}

/// What stands in a pane's upper line: its name on the left, its current value on the right.
#[derive(Debug)]
pub struct Title<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// The digit that focuses the pane, its name, and what it is about.
    pub name: Line<'a>,
    /// The current value with its unit.
    pub value: Line<'a>,
}

impl Widget for &Title<'_> {
    /// Draws into the outline `area` of a pane.
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let room = area.width.saturating_sub(4);
        if room == 0 || area.height == 0 || area.intersection(buffer.area) != area {
            return;
        }
        let name_width = (self.name.width() as u16).min(room.saturating_sub(2));
        put_padded(buffer, (area.x + 1, area.y), &self.name, name_width);
        let value_width = self.value.width() as u16;
        let left = room.saturating_sub(name_width + 2);
        if value_width > 0 && value_width + 2 <= left {
            let x = area.right() - 3 - value_width;
            put_padded(buffer, (x, area.y), &self.value, value_width);
        }
    }
}

/// Draws a line with one blank on each side.
fn put_padded(buffer: &mut Buffer, at: (u16, u16), line: &Line<'_>, cells: u16) {
    let (x, y) = at;
    buffer[(x, y)].reset();
    let mut end = x + 1;
    let mut room = cells;
    for span in line {
        let span = Span::styled(text::fit(&span.content, room, ""), span.style);
        let before = end;
        for cell in end..end.saturating_add(span.width() as u16) {
            if let Some(cell) = buffer.cell_mut((cell, y)) {
                cell.reset();
            }
        }
        (end, _) = buffer.set_span(end, y, &span, room);
        room = room.saturating_sub(end - before);
    }
    if let Some(cell) = buffer.cell_mut((end, y)) {
        cell.reset();
    }
}

/// The inside of a pane: its outline without the lines, and one blank column on each side where
/// there is room.
pub fn inside(outline: Rect) -> Rect {
    let pad = if outline.width >= 24 { 2 } else { 1 };
    Rect {
        x: outline.x.saturating_add(pad),
        y: outline.y.saturating_add(1),
        width: outline.width.saturating_sub(2 * pad),
        height: outline.height.saturating_sub(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::{Charset, Colors};

    #[test]
    fn neighbours_share_a_line_and_join_properly() {
        let theme = Theme::new(Colors::None, Charset::Unicode);
        let panes = [
            Rect::new(0, 0, 4, 3),
            Rect::new(3, 0, 4, 3),
            Rect::new(0, 2, 7, 3),
        ];
        let mut buffer = Buffer::empty(Rect::new(0, 0, 7, 5));
        (&Grid {
            theme: &theme,
            panes: &panes,
            focused: None,
        })
            .render(buffer.area, &mut buffer);
        let lines: Vec<String> = (0..5)
            .map(|y| (0..7).map(|x| buffer[(x, y)].symbol().to_owned()).collect())
            .collect();
        assert_eq!(
            lines,
            ["╭──┬──╮", "│  │  │", "├──┴──┤", "│     │", "╰─────╯"]
        );
    }
}
