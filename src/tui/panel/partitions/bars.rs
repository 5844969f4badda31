//! Beside the rows: each one's share of its topic, and its history.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use super::{Partitions, Row, topics};
use crate::insight::skew::FLAG_FACTOR;
use crate::tui::layout::below;
use crate::tui::number;
use crate::tui::text;
use crate::tui::widget::bar::Gauge;

const HEADING: &str = "share";
/// Cells of a share's figure, where there is room for it.
const FIGURE_CELLS: u16 = 6;

/// A row's share of its topic.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    /// From 0 to 1.
    of_topic: f64,
    /// Times the mean share.
    of_mean: f64,
}

/// The shares of a topic's rows: of what comes in now, or, where nothing does or not all of it is
/// sampled, of what came in since the start. None while a topic is empty.
fn shares(rows: &[Row]) -> Vec<Option<Share>> {
    let rates: Option<Vec<f64>> = rows.iter().map(|row| row.records).collect();
    let flows = |rates: &Vec<f64>| rates.iter().sum::<f64>() > 0.0;
    let totals = || rows.iter().map(|row| row.records_total as f64).collect();
    let figures: Vec<f64> = rates.filter(flows).unwrap_or_else(totals);
    let sum: f64 = figures.iter().sum();
    let share = |figure: &f64| {
        (sum > 0.0).then(|| Share {
            of_topic: figure / sum,
            of_mean: figure / sum * rows.len() as f64,
        })
    };
    figures.iter().map(share).collect()
}

impl Partitions<'_> {
    /// The share of its topic of each of the rows at these places.
    pub(super) fn draw_bars(&self, places: Range<usize>, area: Rect, buffer: &mut Buffer) {
        if area.width < 4 {
            return;
        }
        let figures = if area.width >= 14 { FIGURE_CELLS } else { 0 };
        let styles = self.theme.styles;
        let all = topics(&self.rows).flat_map(shares);
        let shown: Vec<_> = all.skip(places.start).take(places.len()).collect();
        let largest = shown.iter().flatten().map(|share| share.of_topic);
        let largest = largest.fold(0.0, f64::max);
        if HEADING.len() <= usize::from(area.width) {
            text::put(buffer, area, (0, 0), HEADING, styles.text.heading);
        }
        for (y, share) in (1..area.height).zip(shown) {
            let Some(share) = share else { continue };
            let line = Rect {
                height: 1,
                ..below(area, y)
            };
            let style: Style = if share.of_mean > FLAG_FACTOR {
                styles.tone.warn
            } else {
                styles.buffer.ready
            };
            if figures > 0 {
                let figure = format!("{:>5}", number::percent(share.of_topic));
                text::put(buffer, line, (0, 0), &figure, styles.text.plain);
            }
            let bar = Rect {
                x: line.x + figures,
                width: line.width - figures,
                ..line
            };
            (&Gauge {
                theme: self.theme,
                share: share.of_topic / largest,
                style,
            })
                .render(bar, buffer);
        }
    }

    /// Each row's records per second over the window, all on one scale.
    pub(super) fn draw_histories<'r>(
        &self,
        rows: impl Iterator<Item = &'r Row>,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let styles = self.theme.styles;
        if area.width < 8 {
            return;
        }
        let all = self
            .rows
            .iter()
            .flat_map(|row| row.history.iter().flatten());
        let largest = all.copied().fold(1.0_f64, f64::max);
        text::put(
            buffer,
            area,
            (0, 0),
            if area.width < 20 {
                "over time"
            } else {
                "records/s, over time"
            },
            styles.text.heading,
        );
        for (y, row) in (area.y + 1..area.bottom()).zip(rows) {
            for (x, value) in (area.x..area.right()).zip(&row.history) {
                let Some(value) = value else { continue };
                let level = (value / largest * 8.0).ceil().clamp(0.0, 8.0) as usize;
                if let Some(glyph) = level.checked_sub(1) {
                    buffer[(x, y)]
                        .set_symbol(self.theme.glyphs.levels[glyph])
                        .set_style(styles.buffer.ready);
                }
            }
        }
    }
}
