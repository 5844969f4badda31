//! Why: chains from what is seen back to what caused it.

use ratatui::text::{Line, Span};

use crate::insight::why::{Chain, Link, moments};
use crate::sim::time::SimTime;
use crate::tui::text;
use crate::tui::theme::Theme;

/// Cells of a number, a moment and the gap behind them.
const MOMENT_CELLS: usize = 12;
/// Moments that have a digit to go to them.
const DIGITS_MAX: usize = 9;
/// Cells of the arrow and the gap behind it.
const ARROW_CELLS: usize = 2;

/// All chains as lines of at most `width` cells.
pub fn lines(theme: &Theme, chains: &[Chain], width: u16) -> Vec<Line<'static>> {
    if chains.is_empty() {
        let words = "Nothing here waits, fails or is in danger now.";
        return vec![Line::from(Span::styled(words, theme.styles.text.plain))];
    }
    let moments = moments(chains);
    let mut lines = Vec::new();
    for chain in chains {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        for (place, link) in chain.iter().enumerate() {
            lines.extend(link_lines(theme, (place, link, &moments), width));
        }
    }
    lines
}

/// One link: the number and the moment to go to, whether it is the cause of the line above, and
/// what.
fn link_lines(
    theme: &Theme,
    (place, link, moments): (usize, &Link, &[SimTime]),
    width: u16,
) -> Vec<Line<'static>> {
    let styles = theme.styles;
    let moment = link.at.map(|at| format!("{:.1} s", at.as_seconds()));
    let moment = format!("{:>8}  ", moment.unwrap_or_default());
    let number = link
        .at
        .and_then(|at| moments.iter().position(|other| *other == at));
    let number = number.filter(|place| *place < DIGITS_MAX);
    let number = number.map_or("  ".to_owned(), |place| format!("{} ", place + 1));
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
        let (number, moment, arrow) = if row == 0 {
            (number.clone(), moment.clone(), arrow.clone())
        } else {
            let moment = " ".repeat(MOMENT_CELLS - 2);
            ("  ".to_owned(), moment, " ".repeat(ARROW_CELLS))
        };
        Line::from(vec![
            Span::styled(number, styles.text.accent),
            Span::styled(moment, styles.text.dim),
            Span::styled(arrow, styles.text.accent),
            Span::styled(words, style),
        ])
    });
    wrapped.collect()
}
