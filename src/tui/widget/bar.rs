//! Horizontal bars: one made of parts, and one that fills by eighths of a cell.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use crate::tui::theme::Theme;

/// One part of a stacked bar.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its size.
    pub value: u64,
    /// The glyph that tells it apart.
    pub glyph: &'static str,
    /// Its style.
    pub style: Style,
}

/// A bar of parts, `total` wide; what no part covers is left to `rest`.
#[derive(Debug)]
pub struct StackedBar<'a> {
    /// The parts from left to right.
    pub parts: &'a [Part],
    /// The whole.
    pub total: u64,
    /// What fills the rest.
    pub rest: Part,
}

impl Widget for &StackedBar<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let mut x = area.x;
        for (part, cells) in self
            .parts
            .iter()
            .zip(shares(self.parts, self.total, area.width))
        {
            for _ in 0..cells {
                paint(buffer, (x, area.y), part);
                x += 1;
            }
        }
        for x in x..area.right() {
            paint(buffer, (x, area.y), &self.rest);
        }
    }
}

fn paint(buffer: &mut Buffer, at: (u16, u16), part: &Part) {
    buffer[at].set_symbol(part.glyph).set_style(part.style);
}

/// Cells of each part: rounded so that their ends are right, with one cell for whatever is not
/// nothing as long as there is room.
fn shares(parts: &[Part], total: u64, width: u16) -> Vec<u16> {
    let place = |sum: u64| {
        let cells = (u128::from(sum) * u128::from(width) + u128::from(total) / 2)
            / u128::from(total.max(1));
        cells.min(u128::from(width)) as u16
    };
    let mut sum = 0_u64;
    let mut end = 0;
    parts
        .iter()
        .map(|part| {
            sum = sum.saturating_add(part.value);
            let least = if part.value > 0 { end + 1 } else { end };
            let start = std::mem::replace(&mut end, place(sum).max(least).min(width));
            end - start
        })
        .collect()
}

/// A bar that fills by eighths of a cell.
#[derive(Debug)]
pub struct Gauge<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// How full, from 0 to 1.
    pub share: f64,
    /// Style of the filled part.
    pub style: Style,
}

impl Widget for &Gauge<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let eighths = (self.share.clamp(0.0, 1.0) * f64::from(area.width) * 8.0).round() as u16;
        for x in 0..eighths.div_ceil(8).min(area.width) {
            let filled = (eighths - x * 8).min(8);
            buffer[(area.x + x, area.y)]
                .set_symbol(self.theme.glyphs.eighths[usize::from(filled) - 1])
                .set_style(self.style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(values: &[u64]) -> Vec<Part> {
        values
            .iter()
            .map(|&value| Part {
                value,
                glyph: "#",
                style: Style::new(),
            })
            .collect()
    }

    #[test]
    fn parts_fill_what_they_are_worth() {
        assert_eq!(shares(&parts(&[50, 25, 25]), 100, 40), [20, 10, 10]);
    }

    #[test]
    fn a_small_part_is_still_seen() {
        assert_eq!(shares(&parts(&[1, 0, 999]), 1000, 10), [1, 0, 9]);
    }

    #[test]
    fn parts_never_overrun_the_bar() {
        for width in 0..20 {
            let cells: u16 = shares(&parts(&[7, 1, 1, 3]), 5, width).iter().sum();
            assert!(cells <= width);
        }
        assert_eq!(shares(&parts(&[u64::MAX, u64::MAX]), 0, 9), [9, 0]);
    }
}
