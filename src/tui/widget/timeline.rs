//! The run as one line: what has passed, what was seen before going back, what is ahead, where
//! faults are.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::Widget;

use crate::sim::time::SimTime;
use crate::tui::theme::Theme;
use crate::tui::zoom::TimeWindow;

/// A timeline.
#[derive(Debug)]
pub struct Timeline<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// The whole run.
    pub window: TimeWindow,
    /// The present.
    pub now: SimTime,
    /// The furthest moment that the run has been at.
    pub furthest: SimTime,
    /// Moments of faults and other commands, past and to come.
    pub faults: &'a [SimTime],
    /// Moments at which somebody lost something.
    pub harms: &'a [SimTime],
}

impl Widget for &Timeline<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let glyphs = self.theme.glyphs;
        let styles = self.theme.styles;
        let present = self.window.column(self.now, area.width).unwrap_or(0);
        let known = self.window.column(self.furthest, area.width).unwrap_or(0);
        for x in 0..area.width {
            let (glyph, style) = if x < present {
                (glyphs.passed, styles.text.accent)
            } else if x <= known && present < known {
                (glyphs.known, styles.text.plain)
            } else {
                (glyphs.ahead, styles.text.dim)
            };
            buffer[(area.x + x, area.y)]
                .set_symbol(glyph)
                .set_style(style);
        }
        let harms = self.harms.iter();
        let harms = harms.map(|at| (at, glyphs.alert, styles.tone.warn));
        let faults = self.faults.iter();
        let faults = faults.map(|at| (at, glyphs.fault, styles.chart.fault));
        for (&at, glyph, style) in harms.chain(faults) {
            if let Some(x) = self.window.column(at, area.width) {
                let cell = &mut buffer[(area.x + x, area.y)];
                cell.reset();
                cell.set_symbol(glyph).set_style(style);
            }
        }
        let cell = &mut buffer[(area.x + present, area.y)];
        cell.reset();
        cell.set_symbol(glyphs.now).set_style(styles.text.subject);
    }
}
