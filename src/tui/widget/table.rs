//! Rows of aligned cells under dim headings.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;
use ratatui::widgets::Widget;

use crate::tui::shorten::Shortener;
use crate::tui::text;
use crate::tui::theme::Theme;

/// How a column's cells stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub heading: &'static str,
    /// Its width in cells.
    pub cells: u16,
    /// How its cells stand in it.
    pub align: Align,
}

impl Column {
    /// A column of words.
    pub const fn words(heading: &'static str, cells: u16) -> Self {
        Self {
            heading,
            cells,
            align: Align::Left,
        }
    }

    /// A column of numbers.
    pub const fn numbers(heading: &'static str, cells: u16) -> Self {
        Self {
            heading,
            cells,
            align: Align::Right,
        }
    }
}

/// A table; rows that do not fit are left out, columns are cut at the right edge.
#[derive(Debug)]
pub struct Table<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// Columns from left to right, one blank between them.
    pub columns: &'a [Column],
    /// Rows of one span a column.
    pub rows: &'a [Vec<Span<'a>>],
}

impl Widget for &Table<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let mut x = 0;
        for (index, column) in self.columns.iter().enumerate() {
            let cells = column.cells.min(area.width.saturating_sub(x));
            if cells == 0 {
                break;
            }
            let room = Rect {
                x: area.x + x,
                width: cells,
                ..area
            };
            let heading = Span::styled(column.heading, self.theme.styles.text.heading);
            let names = self.rows.iter().filter_map(|spans| spans.get(index));
            let names = names.map(|span| span.content.as_ref());
            let ellipsis = self.theme.glyphs.ellipsis;
            let way = match column.align {
                Align::Left => Shortener::of(names, cells, ellipsis),
                Align::Right => Shortener::at_ends(ellipsis),
            };
            put(buffer, room, 0, (column.align, &heading, way));
            for (row, spans) in self.rows.iter().enumerate() {
                let dy = row.saturating_add(1).min(usize::from(u16::MAX)) as u16;
                if dy >= area.height {
                    break;
                }
                if let Some(span) = spans.get(index) {
                    put(buffer, room, dy, (column.align, span, way));
                }
            }
            x = x.saturating_add(column.cells + 1);
        }
    }
}

/// One cell, in the way of its column.
fn put(buffer: &mut Buffer, room: Rect, dy: u16, cell: (Align, &Span<'_>, Shortener)) {
    let (align, span, way) = cell;
    let shown = way.fit(&span.content, room.width);
    let start = match align {
        Align::Left => 0,
        Align::Right => room.width.saturating_sub(text::width(&shown)),
    };
    text::put(buffer, room, (start, dy), &shown, span.style);
}

/// Cells that columns take together, with the blanks between them.
pub fn total_cells(columns: &[Column]) -> u16 {
    columns
        .iter()
        .map(|column| column.cells + 1)
        .sum::<u16>()
        .saturating_sub(1)
}
