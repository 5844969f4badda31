//! Why: chains from what is seen back to what caused it.

use ratatui::text::{Line, Span};

use crate::insight::why::{Chain, Link};
use crate::tui::text;
use crate::tui::theme::Theme;

/// Cells of a moment and the gap behind it.
const MOMENT_CELLS: usize = 10;
/// Cells of the arrow and the gap behind it.
const ARROW_CELLS: usize = 2;

/// All chains as lines of at most `width` cells.
pub fn lines(theme: &Theme, chains: &[Chain], width: u16) -> Vec<Line<'static>> {
    if chains.is_empty() {
        let words = "Nothing here waits, fails or is in danger now.";
        return vec![Line::from(Span::styled(words, theme.styles.text.plain))];
    }
    let mut lines = Vec::new();
    for chain in chains {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        for (place, link) in chain.iter().enumerate() {
            lines.extend(link_lines(theme, (place, link), width));
        }
    }
    lines
}

/// One link: when, whether it is the cause of the line above, and what.
fn link_lines(theme: &Theme, (place, link): (usize, &Link), width: u16) -> Vec<Line<'static>> {
    let styles = theme.styles;
    let moment = link.at.map(|at| format!("{:.1} s", at.as_seconds()));
    let moment = format!("{:>8}  ", moment.unwrap_or_default());
    let arrow = if place == 0 { "" } else { theme.glyphs.because };
    let arrow = format!("{arrow:<ARROW_CELLS$}");
    let style = if place == 0 {
        styles.text.strong
    } else {
        styles.text.plain
    };
    let room = usize::from(width).saturating_sub(MOMENT_CELLS + ARROW_CELLS);
    let words = text::wrap(&text::visible(&link.text), room as u16);
    let wrapped = words.into_iter().enumerate().map(|(row, words)| {
        let (moment, arrow) = if row == 0 {
            (moment.clone(), arrow.clone())
        } else {
            (" ".repeat(MOMENT_CELLS), " ".repeat(ARROW_CELLS))
        };
        Line::from(vec![
            Span::styled(moment, styles.text.dim),
            Span::styled(arrow, styles.text.accent),
            Span::styled(words, style),
        ])
    });
    wrapped.collect()
}
