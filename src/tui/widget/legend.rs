//! What each glyph of a stacked bar stands for, and how much that is.

use ratatui::text::{Line, Span};

use crate::tui::theme::Theme;
use crate::tui::widget::bar::Part;

/// Cells of a figure, so that nothing moves while figures change.
const FIGURE_CELLS: usize = 8;
/// Lines at most; what finds no room is in the pane's title too.
const LINES_MAX: usize = 2;

/// The named parts of a bar in lines of `width` cells, each with its figure; empty parts are dim.
pub fn legend(
    theme: &Theme,
    width: u16,
    parts: impl IntoIterator<Item = (&'static str, Part)>,
    figure: fn(u64) -> String,
) -> Vec<Line<'static>> {
    let dim = theme.styles.text.dim;
    let gap = if width >= 50 { "   " } else { " " };
    let mut lines = vec![Line::default()];
    for (name, part) in parts {
        let (glyph, value) = if part.value == 0 {
            (dim, dim)
        } else {
            (part.style, theme.styles.text.plain)
        };
        let item = [
            Span::styled(format!("{} ", part.glyph), glyph),
            Span::styled(name, dim),
            Span::styled(format!(" {:>FIGURE_CELLS$}", figure(part.value)), value),
        ];
        let cells: usize = item.iter().map(Span::width).sum();
        let used = lines.last().map_or(0, Line::width);
        if used > 0 && used + gap.len() + cells > usize::from(width) {
            if lines.len() == LINES_MAX {
                break;
            }
            lines.push(Line::default());
        }
        if let Some(line) = lines.last_mut() {
            if line.width() > 0 {
                line.push_span(gap);
            }
            line.extend(item);
        }
    }
    lines
}
