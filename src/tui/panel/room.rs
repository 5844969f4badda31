//! What a full queue of librdkafka does to its application: calls refused with `_QUEUE_FULL`, and
//! time that threads wait for room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::metric::{Metric, OwnFigure};
use crate::sim::fact::BlockedOn;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::{QueueView, ThreadState};
use crate::tui::layout::below;
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::pane::Pane;
use crate::tui::panel::wait::{axis_label, axis_top, thread_lines};
use crate::tui::panel::{Panel, list, whole};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::chart::{Chart, Layer, Sample, Shape, plot_columns};
use crate::tui::zoom::TimeWindow;

/// Time over which the current value of the share is taken.
const TRUTH_SPAN: SimSpan = SimSpan::from_seconds(1);
/// Cells of the vertical axis' labels: two digits behind the point.
const LABEL_CELLS: u16 = 4;

/// What the pane shows.
#[derive(Debug)]
pub struct Room<'a> {
    theme: &'a Theme,
    queue: QueueView,
    /// Share of thread time spent waiting for room, over the last second.
    share: Option<f64>,
    /// Threads that wait now, and since when the first does.
    waiting: (usize, Option<SimTime>),
    /// Records per second that get into the queue, and that the application tries.
    rates: Option<[f64; 2]>,
    now: SimTime,
    window: TimeWindow,
    faults: &'a [SimTime],
    history: Vec<Option<Sample>>,
    /// The other branch's: both have one axis.
    beside: Vec<Option<Sample>>,
    threads: Vec<Line<'static>>,
    first: u16,
}

impl<'a> Room<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>, queue: QueueView, area: Rect) -> Self {
        let producer = scene.producer();
        let share = producer.map(|producer| Metric::own(producer, OwnFigure::TrueWaitShare));
        let cells = plot_columns(area, LABEL_CELLS);
        let views = producer.map_or_else(Vec::new, |producer| scene.view(producer).threads);
        let since: Vec<SimTime> = views
            .iter()
            .filter_map(|thread| match thread.state {
                ThreadState::Blocked {
                    on: BlockedOn::Room | BlockedOn::Reports,
                    since,
                } => Some(since),
                _ => None,
            })
            .collect();
        Self {
            theme: scene.theme(),
            queue,
            share: share.and_then(|metric| scene.recent(metric, TRUTH_SPAN)),
            waiting: (since.len(), since.iter().min().copied()),
            rates: producer.and_then(|producer| {
                let loops = scene.last(Metric::own(producer, OwnFigure::LoopRate))?;
                Some([loops, scene.view(producer).rate_asked])
            }),
            now: scene.now(),
            window: scene.window(),
            faults: &scene.faults,
            history: share.map_or_else(Vec::new, |metric| scene.samples(metric, cells)),
            beside: match (share, scene.other()) {
                (Some(metric), Some(other)) => other.samples(metric, cells),
                _ => Vec::new(),
            },
            threads: match producer {
                Some(producer) if scene.is_expanded() => thread_lines(scene, producer),
                _ => Vec::new(),
            },
            first: scene.model.scroll[Pane::Wait.index()],
        }
    }

    /// Calls that were refused.
    fn refused(&self) -> Line<'static> {
        let styles = self.theme.styles;
        let style = if self.queue.full > 0 {
            styles.tone.warn
        } else {
            styles.text.dim
        };
        Line::from(vec![
            Span::styled(number::count(self.queue.full), style),
            Span::styled(" calls of produce() ended in _QUEUE_FULL", styles.text.dim),
        ])
    }

    fn shared(&self) -> Line<'static> {
        let styles = self.theme.styles;
        let key = if self.theme.glyphs.braille {
            "⢕⢕"
        } else {
            "::"
        };
        let figure = self.share.map_or_else(|| "NaN".to_owned(), number::ratio);
        Line::from(vec![
            Span::styled(key, styles.chart.truth),
            Span::styled(format!(" {figure:>5}"), styles.text.strong),
            Span::styled(
                "  of thread time went into waiting for room",
                styles.text.dim,
            ),
        ])
    }

    /// Who waits now, or how much gets in.
    fn present(&self) -> Line<'static> {
        let styles = self.theme.styles;
        let (count, since) = self.waiting;
        if let Some(since) = since {
            let threads = match count {
                1 => "1 thread waits".to_owned(),
                several => format!("{several} threads wait"),
            };
            let waited = number::span(self.now.since(since));
            return Line::from(vec![
                Span::styled(threads, styles.tone.warn),
                Span::styled(" for room, ", styles.text.dim),
                Span::styled(waited, styles.tone.warn),
            ]);
        }
        match self.rates {
            Some([loops, asked]) => Line::from(vec![
                Span::styled(number::rate(loops), styles.text.plain),
                Span::styled(" of ", styles.text.dim),
                Span::styled(number::rate(asked), styles.text.plain),
                Span::styled(" get in", styles.text.dim),
            ]),
            None => Line::from(Span::styled("no thread waits for room", styles.text.dim)),
        }
    }

    /// Lines at the bottom for threads, where the pane has the whole screen.
    fn threads_height(&self, area: Rect) -> u16 {
        let wanted = u16::try_from(self.threads.len()).unwrap_or(u16::MAX);
        wanted.saturating_add(1).min(area.height / 3)
    }
}

impl Panel for Room<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        let styles = self.theme.styles;
        let style = if self.queue.full > 0 {
            styles.tone.warn
        } else {
            styles.frame.value
        };
        Line::from(vec![
            Span::styled("_QUEUE_FULL ", styles.text.dim),
            Span::styled(number::count(self.queue.full), style),
        ])
    }

    fn extent(&self, area: Rect) -> Extent {
        if self.threads.is_empty() {
            return whole(area);
        }
        let visible = self.threads_height(area).saturating_sub(1);
        list(self.threads.len(), visible)
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let mut area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        if !self.threads.is_empty() {
            let height = self.threads_height(area);
            let first = self.first.min(self.extent(area).scroll_max());
            let room = below(area, area.height - height);
            area.height -= height;
            for (row, line) in (1..height).zip(self.threads.iter().skip(usize::from(first))) {
                text::put_line(buffer, room, row, line);
            }
        }
        for (row, line) in (0..).zip([self.refused(), self.shared(), self.present()]) {
            text::put_line(buffer, area, row, &line);
        }
        let rest = below(area, if area.height >= 12 { 4 } else { 3 });
        if rest.height < 3 {
            return;
        }
        let layers = [Layer {
            samples: self.history.clone(),
            shape: Shape::Area,
            style: self.theme.styles.chart.truth,
        }];
        let chart = Chart {
            theme: self.theme,
            window: self.window,
            top: axis_top([&self.history, &self.beside]),
            label: axis_label,
            layers: &layers,
            thresholds: &[],
            faults: self.faults,
        };
        (&chart).render(rest, buffer);
    }
}
