//! Accumulator fill: what `buffer.memory` holds now, and how it got there.
//!
//! Two sums are always side by side: the pool's own, in whole batches, and the one that people do
//! in their heads, in bytes. They differ, and the pool is full by the first.

mod read;
mod words;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::BufferView;
use crate::tui::layout::below;
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::panel::metrics::Metrics;
use crate::tui::panel::{Panel, list, whole};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::bar::{Part, StackedBar};
use crate::tui::widget::chart::{Chart, Layer, Sample, Shape};
use crate::tui::zoom::TimeWindow;

/// What the pane shows.
#[derive(Debug)]
pub struct Fill<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// The pool now.
    pub buffer: BufferView,
    /// Application threads.
    pub threads: usize,
    /// Where it is heading.
    pub outlook: Outlook,
    /// Simulated time on the chart.
    pub window: TimeWindow,
    /// Moments of faults.
    pub faults: &'a [SimTime],
    /// Bytes taken from the pool over the window, two samples a cell.
    pub taken: Vec<Option<Sample>>,
    /// Bytes written into batches, likewise.
    pub written: Vec<Option<Sample>>,
    /// Bytes in flight or waiting to be sent again, likewise.
    pub sent: Vec<Option<Sample>>,
    /// The top of the other branch's chart: both have one axis.
    pub top_beside: f64,
    /// All metrics of the client, where the pane has the whole screen.
    pub metrics: Option<Metrics<'a>>,
    first: u16,
}

/// Where the pool is heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// Neither filling nor full.
    Steady,
    /// Filling: full after this long, and what the sum by bytes would say.
    FullIn {
        /// By whole batches.
        by_batches: SimSpan,
        /// By bytes.
        by_bytes: SimSpan,
    },
    /// No batch fits, since this moment.
    FullSince(SimTime),
}

/// The label of the chart's vertical axis.
pub fn axis_label(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else {
        number::bytes_f64(value)
    }
}

impl Panel for Fill<'_> {
    fn value(&self, room: u16) -> Line<'static> {
        self.title_value(room)
    }

    fn extent(&self, area: Rect) -> Extent {
        match &self.metrics {
            Some(metrics) => list(
                metrics.lines(area.width),
                area.height.saturating_sub(metrics_start(area)),
            ),
            None => whole(area),
        }
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

/// The row at which the table of metrics begins, where the pane has the whole screen.
const fn metrics_start(area: Rect) -> u16 {
    area.height / 2
}

impl Fill<'_> {
    /// The value in the pane's title.
    pub fn title_value(&self, room: u16) -> Line<'static> {
        let used = self
            .buffer
            .total_bytes
            .saturating_sub(self.buffer.available_bytes);
        let share = used as f64 / self.buffer.total_bytes.max(1) as f64;
        let style = match self.outlook {
            Outlook::FullSince(_) => self.theme.styles.tone.bad,
            _ if share > 0.8 => self.theme.styles.tone.warn,
            _ => self.theme.styles.frame.value,
        };
        let (used, total) = (number::bytes(used), number::bytes(self.buffer.total_bytes));
        let share = number::percent(share);
        let long = format!("{used} of {total}  {share}");
        let words = if text::width(&long) <= room {
            long
        } else {
            share
        };
        Line::from(Span::styled(words, style))
    }

    fn parts(&self) -> [(&'static str, Part); 4] {
        let (glyphs, styles) = (self.theme.glyphs, &self.theme.styles.buffer);
        let part = |value, glyph, style| Part {
            value,
            glyph,
            style,
        };
        let buffer = &self.buffer;
        [
            (
                "in flight",
                part(buffer.in_flight_bytes, glyphs.in_flight, styles.in_flight),
            ),
            (
                "ready",
                part(buffer.ready_bytes, glyphs.ready, styles.ready),
            ),
            ("open", part(buffer.open_bytes, glyphs.open, styles.open)),
            (
                "retrying",
                part(buffer.retrying_bytes, glyphs.retrying, styles.retrying),
            ),
        ]
    }

    fn free(&self) -> Part {
        Part {
            value: self.buffer.available_bytes,
            glyph: self.theme.glyphs.free,
            style: self.theme.styles.buffer.free,
        }
    }
}

impl Widget for &Fill<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let mut area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        if let Some(metrics) = &self.metrics {
            let start = metrics_start(area);
            let first = self.first.min(self.extent(area).scroll_max());
            metrics.draw(below(area, start + 1), first, buffer);
            area.height = start;
        }
        let parts = self.parts().map(|(_, part)| part);
        let bar = StackedBar {
            parts: &parts,
            total: self.buffer.total_bytes,
            rest: self.free(),
        };
        let bar_lines = if area.height >= 14 { 2 } else { 1 };
        for line in 0..bar_lines {
            (&bar).render(
                Rect {
                    y: area.y + line,
                    height: 1,
                    ..area
                },
                buffer,
            );
        }
        let mut rest = below(area, bar_lines);
        let lines = self.words(rest.width);
        for (row, line) in (0..rest.height).zip(&lines) {
            text::put_line(buffer, rest, row, line);
        }
        let used = lines.len() as u16;
        rest = below(rest, used + u16::from(rest.height >= used + 6));
        if rest.height < 3 {
            return;
        }
        let layer = |samples: &Vec<Option<Sample>>, shape, style: Style| Layer {
            samples: samples.clone(),
            shape,
            style,
        };
        let layers = [
            layer(&self.taken, Shape::Area, self.theme.styles.buffer.ready),
            layer(&self.sent, Shape::Solid, self.theme.styles.buffer.in_flight),
            layer(&self.written, Shape::Line, self.theme.styles.chart.reading),
        ];
        let chart = Chart {
            theme: self.theme,
            window: self.window,
            top: (self.buffer.total_bytes as f64).max(self.top_beside),
            label: axis_label,
            layers: &layers,
            thresholds: &[],
            faults: self.faults,
        };
        (&chart).render(rest, buffer);
    }
}
