//! librdkafka's queue: every message from `produce()` until its report is polled, and how many
//! there were.
//!
//! It is bounded twice: by messages and by the bytes of their values. The bar and the chart are by
//! messages, which is the limit that applications meet.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::insight::metric::{Metric, OwnFigure};
use crate::kafka::rdkafka_metric::RdkafkaMetric;
use crate::sim::time::SimTime;
use crate::sim::view::{QueueView, RdkafkaFigure};
use crate::tui::layout::below;
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::pane::Pane;
use crate::tui::panel::metrics::Metrics;
use crate::tui::panel::{Panel, list, whole};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::bar::{Part, StackedBar};
use crate::tui::widget::chart::{Chart, Layer, Sample, Shape, nice_top, plot_columns};
use crate::tui::widget::legend::legend;
use crate::tui::zoom::TimeWindow;

/// From this width on, words are spelled out.
const ROOMY: u16 = 56;
/// Cells of the vertical axis' labels.
const LABEL_CELLS: u16 = 6;

/// What the pane shows.
#[derive(Debug)]
pub struct Queue<'a> {
    theme: &'a Theme,
    view: QueueView,
    window: TimeWindow,
    faults: &'a [SimTime],
    /// `msg_cnt` over the window, two samples a cell.
    queued: Vec<Option<Sample>>,
    /// Messages in flight, likewise.
    in_flight: Vec<Option<Sample>>,
    /// Messages whose report waits for `poll()`, likewise.
    reported: Vec<Option<Sample>>,
    /// The top of the other branch's chart.
    top_beside: f64,
    metrics: Option<Metrics<'a>>,
    first: u16,
}

/// The top of the other branch's chart: both have one axis.
fn top_beside(scene: &Scene<'_>, cells: u16) -> f64 {
    let top = |other: Scene<'_>| {
        let producer = other.producer()?;
        let limit = other.view(producer).queue?.messages_max.map(f64::from);
        let metric = Metric::Rdkafka(producer, RdkafkaFigure::Client(RdkafkaMetric::MsgCnt));
        let queued = other.samples(metric, cells);
        let largest = queued.iter().flatten().map(|sample| sample.max);
        Some(limit.unwrap_or_else(|| nice_top(largest.fold(1.0, f64::max))))
    };
    scene.other().and_then(top).unwrap_or(0.0)
}

impl<'a> Queue<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>, queue: QueueView, area: Rect) -> Self {
        let cells = plot_columns(area, LABEL_CELLS);
        let producer = scene.producer();
        let samples = |metric: Option<Metric>| {
            metric.map_or_else(Vec::new, |metric| scene.samples(metric, cells))
        };
        let client = |metric| producer.map(|p| Metric::Rdkafka(p, RdkafkaFigure::Client(metric)));
        let own = |figure| producer.map(|producer| Metric::own(producer, figure));
        Self {
            theme: scene.theme(),
            view: queue,
            window: scene.window(),
            faults: &scene.faults,
            queued: samples(client(RdkafkaMetric::MsgCnt)),
            in_flight: samples(own(OwnFigure::InFlightMessages)),
            reported: samples(own(OwnFigure::ReportedMessages)),
            top_beside: top_beside(scene, cells),
            metrics: scene.is_expanded().then(|| Metrics::read(scene)),
            first: scene.model.scroll[Pane::Fill.index()],
        }
    }

    /// `queue.buffering.max.messages`, or what there is where that is no limit.
    fn total(&self) -> u64 {
        let limit = self.view.messages_max.map(u64::from);
        limit.unwrap_or(self.view.messages).max(1)
    }

    fn parts(&self) -> [(&'static str, Part); 5] {
        let (glyphs, styles) = (self.theme.glyphs, &self.theme.styles.buffer);
        let part = |value, glyph, style| Part {
            value,
            glyph,
            style,
        };
        let queue = &self.view;
        [
            (
                "in flight",
                part(queue.in_flight, glyphs.in_flight, styles.in_flight),
            ),
            ("waiting", part(queue.waiting, glyphs.ready, styles.ready)),
            (
                "retrying",
                part(queue.retrying, glyphs.retrying, styles.retrying),
            ),
            ("not polled", part(queue.reported, glyphs.open, styles.open)),
            (
                "no metadata",
                part(queue.unassigned, glyphs.ready, styles.open),
            ),
        ]
    }

    fn free(&self) -> Part {
        Part {
            value: self.total().saturating_sub(self.view.messages),
            glyph: self.theme.glyphs.free,
            style: self.theme.styles.buffer.free,
        }
    }

    fn dim(&self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.theme.styles.text.dim)
    }

    fn plain(&self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.theme.styles.text.plain)
    }

    fn legend(&self, width: u16) -> Vec<Line<'static>> {
        let parts = self.parts().into_iter().chain([("free", self.free())]);
        legend(self.theme, width, parts, number::count)
    }

    /// Bytes of values, age, and what waits for `poll()`.
    fn contents(&self, width: u16) -> Line<'static> {
        let queue = &self.view;
        let dot = format!(" {} ", self.theme.glyphs.dot);
        let bytes = number::bytes(queue.value_bytes);
        let mut line = Line::from(vec![
            self.plain(bytes),
            self.dim(format!(" of {}", number::bytes(queue.value_bytes_max))),
        ]);
        if width >= ROOMY {
            line.push_span(self.dim(" of values"));
        }
        if let Some(age) = queue.oldest_age {
            line.extend([
                self.dim(dot.as_str()),
                self.plain(number::span(age)),
                self.dim(" old"),
            ]);
        }
        if queue.reports > 0 {
            let word = if width >= ROOMY {
                " reports wait for poll()"
            } else {
                " to poll"
            };
            line.extend([
                self.dim(dot.as_str()),
                self.plain(number::count(queue.reports)),
                self.dim(word),
            ]);
        }
        line
    }
}

/// The row at which the table of metrics begins, where the pane has the whole screen.
const fn metrics_start(area: Rect) -> u16 {
    area.height / 2
}

impl Panel for Queue<'_> {
    fn value(&self, room: u16) -> Line<'static> {
        let share = self.view.messages as f64 / self.total() as f64;
        let style = match share {
            full if full >= 1.0 && self.view.messages_max.is_some() => self.theme.styles.tone.bad,
            high if high > 0.8 && self.view.messages_max.is_some() => self.theme.styles.tone.warn,
            _ => self.theme.styles.frame.value,
        };
        let count = number::count(self.view.messages);
        let words = match self.view.messages_max {
            Some(most) => {
                let share = number::percent(share);
                let most = number::count(u64::from(most));
                let long = format!("{count} of {most} messages  {share}");
                if text::width(&long) <= room {
                    long
                } else {
                    share
                }
            }
            None => format!("{count} messages"),
        };
        Line::from(Span::styled(words, style))
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
            total: self.total(),
            rest: self.free(),
        };
        let bar_lines = if area.height >= 14 { 2 } else { 1 };
        for row in 0..bar_lines {
            let line = Rect {
                y: area.y + row,
                height: 1,
                ..area
            };
            ratatui::widgets::Widget::render(&bar, line, buffer);
        }
        let mut rest = below(area, bar_lines);
        let mut lines = self.legend(rest.width);
        lines.push(self.contents(rest.width));
        for (row, line) in (0..rest.height).zip(&lines) {
            text::put_line(buffer, rest, row, line);
        }
        let used = lines.len() as u16;
        rest = below(rest, used + u16::from(rest.height >= used + 6));
        if rest.height < 3 {
            return;
        }
        let styles = &self.theme.styles;
        let layer = |samples: &Vec<Option<Sample>>, shape, style: Style| Layer {
            samples: samples.clone(),
            shape,
            style,
        };
        let layers = [
            layer(&self.queued, Shape::Area, styles.buffer.ready),
            layer(&self.in_flight, Shape::Solid, styles.buffer.in_flight),
            layer(&self.reported, Shape::Line, styles.chart.reading),
        ];
        let largest = self
            .queued
            .iter()
            .flatten()
            .map(|s| s.max)
            .fold(1.0, f64::max);
        let limit = self.view.messages_max.map(f64::from);
        let chart = Chart {
            theme: self.theme,
            window: self.window,
            top: limit
                .unwrap_or_else(|| nice_top(largest))
                .max(self.top_beside),
            label: number::short,
            layers: &layers,
            thresholds: &[],
            faults: self.faults,
        };
        ratatui::widgets::Widget::render(&chart, rest, buffer);
    }
}
