//! `bufferpool-wait-ratio` as a dashboard would show it, and the truth behind it.
//!
//! The metric counts a wait when it ends, over two windows of 30 s: it climbs late, falls while a
//! thread is blocked for good, and then jumps. The truth is the share of the threads' time that
//! went into waiting, as it passes. The two are told apart by shape: a line, and an area.

mod threads;

pub(super) use threads::lines as thread_lines;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::metric::{Metric, OwnFigure, ProducerFigure};
use crate::kafka::metric_name::ProducerMetric;
use crate::sim::fact::BlockedOn;
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::{ProducerView, ThreadState};
use crate::tui::layout::below;
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::pane::Pane;
use crate::tui::panel::{Panel, list, whole};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::chart::{Chart, Layer, Sample, Shape, nice_top, plot_columns};
use crate::tui::zoom::TimeWindow;

/// What the pane shows.
#[derive(Debug)]
pub struct Wait<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// The metric now, if the client has one.
    pub metric: Option<f64>,
    /// The truth over the last second, if it is known.
    pub truth: Option<f64>,
    /// The metric's window in words: `2 × 30 s`.
    pub metric_window: String,
    /// Threads that wait for memory, the longest first: since when, and for how many bytes.
    pub waits: Vec<MemoryWait>,
    /// `max.block.ms`.
    pub max_block: SimSpan,
    /// Records per second that get into the accumulator, and that the application tries.
    pub rates: Option<[f64; 2]>,
    /// The present.
    pub now: SimTime,
    /// Simulated time on the chart.
    pub window: TimeWindow,
    /// Moments of faults.
    pub faults: &'a [SimTime],
    /// The metric over the window, two samples a cell.
    pub metric_history: Vec<Option<Sample>>,
    /// The truth over the window, likewise.
    pub truth_history: Vec<Option<Sample>>,
    /// The top of the other branch's chart: both have one axis.
    pub top_beside: f64,
    /// What each application thread does, where the pane has the whole screen.
    pub threads: Vec<Line<'static>>,
    first: u16,
}

/// A thread in `BufferPool.allocate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryWait {
    /// Since when.
    pub since: SimTime,
    /// For how many bytes.
    pub bytes: u64,
}

/// The label of the chart's vertical axis.
pub fn axis_label(value: f64) -> String {
    number::ratio(value)
}

/// The top of the chart's vertical axis for these values.
pub fn axis_top(histories: [&[Option<Sample>]; 2]) -> f64 {
    let largest = histories
        .into_iter()
        .flatten()
        .flatten()
        .fold(0.0_f64, |largest, sample| largest.max(sample.max));
    match largest {
        small if small <= 0.1 => 0.1,
        middle if middle <= 0.5 => nice_top(middle),
        large if large <= 1.0 => 1.0,
        huge => nice_top(huge),
    }
}

/// Time over which the truth's current value is taken.
const TRUTH_SPAN: SimSpan = SimSpan::from_seconds(1);
/// A wait that is shown by itself.
const LONG_WAIT: SimSpan = SimSpan::from_seconds(1);
/// Cells of the vertical axis' labels: two digits behind the point.
const LABEL_CELLS: u16 = 4;

impl<'a> Wait<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>, area: Rect) -> Self {
        const METRIC: ProducerFigure = ProducerFigure::Client(ProducerMetric::BufferpoolWaitRatio);
        const TRUTH: ProducerFigure = ProducerFigure::Own(OwnFigure::TrueWaitShare);
        let producer = scene.producer();
        let settings = producer.and_then(|producer| scene.settings(producer));
        let cells = plot_columns(area, LABEL_CELLS);
        let samples = |figure: ProducerFigure| match producer {
            Some(producer) => scene.samples(Metric::Producer(producer, figure), cells),
            None => Vec::new(),
        };
        let metric = producer.and_then(|producer| {
            let simulation = scene.session.simulation();
            simulation.producer_metric(producer, ProducerMetric::BufferpoolWaitRatio)
        });
        let truth = producer
            .and_then(|producer| scene.recent(Metric::Producer(producer, TRUTH), TRUTH_SPAN));
        Self {
            theme: scene.theme(),
            metric: metric.filter(|value| !value.is_nan()),
            truth,
            metric_window: settings.map_or_else(String::new, |settings| {
                let window = SimSpan::from_millis(settings.metrics.sample_window_ms);
                format!(
                    "{} {} {} s",
                    settings.metrics.num_samples,
                    scene.theme().glyphs.times,
                    window.as_seconds(),
                )
            }),
            waits: producer.map_or(Vec::new(), |producer| memory_waits(&scene.view(producer))),
            max_block: settings.map_or(SimSpan::ZERO, |settings| {
                SimSpan::from_millis(settings.max_block_ms)
            }),
            rates: producer.and_then(|producer| {
                let loops = scene.last(Metric::own(producer, OwnFigure::LoopRate))?;
                Some([loops, scene.view(producer).rate_asked])
            }),
            now: scene.now(),
            window: scene.window(),
            faults: &scene.faults,
            metric_history: samples(METRIC),
            truth_history: samples(TRUTH),
            top_beside: scene.other().map_or(0.0, |other| {
                let history = |figure| match other.producer() {
                    Some(producer) => other.samples(Metric::Producer(producer, figure), cells),
                    None => Vec::new(),
                };
                axis_top([&history(METRIC), &history(TRUTH)])
            }),
            threads: match producer {
                Some(producer) if scene.is_expanded() => threads::lines(scene, producer),
                _ => Vec::new(),
            },
            first: scene.model.scroll[Pane::Wait.index()],
        }
    }
}

/// Threads that wait for memory, the longest first.
fn memory_waits(view: &ProducerView) -> Vec<MemoryWait> {
    let mut waits: Vec<MemoryWait> = view
        .threads
        .iter()
        .filter_map(|thread| match thread.state {
            ThreadState::Blocked {
                on: BlockedOn::Memory { bytes },
                since,
            } => Some(MemoryWait {
                since,
                bytes: u64::from(bytes),
            }),
            _ => None,
        })
        .collect();
    waits.sort_by_key(|wait| wait.since);
    waits
}

impl Panel for Wait<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        self.title_value()
    }

    fn extent(&self, area: Rect) -> Extent {
        if self.threads.is_empty() {
            return whole(area);
        }
        list(
            self.threads.len(),
            threads_height(area, self.threads.len()).saturating_sub(1),
        )
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

impl Wait<'_> {
    /// The value in the pane's title.
    pub fn title_value(&self) -> Line<'static> {
        let styles = self.theme.styles;
        let figure = |value: Option<f64>| value.map_or("NaN".to_owned(), number::ratio);
        let style = match self.truth {
            Some(truth) if truth >= 0.1 => styles.tone.warn,
            _ => styles.frame.value,
        };
        Line::from(vec![
            Span::styled(figure(self.metric), styles.frame.value),
            Span::styled("  true ", styles.text.dim),
            Span::styled(figure(self.truth), style),
        ])
    }

    fn reading(
        &self,
        key: (&'static str, Style),
        words: [&str; 2],
        value: Option<f64>,
    ) -> Line<'_> {
        let styles = self.theme.styles;
        let figure = value.map_or_else(|| "NaN ".to_owned(), number::ratio);
        Line::from(vec![
            Span::styled(key.0, key.1),
            Span::styled(format!(" {:<6} ", words[0]), styles.text.dim),
            Span::styled(format!("{figure:>5}"), styles.text.strong),
            Span::styled(format!("  {}", words[1]), styles.text.dim),
        ])
    }

    /// Who waits now: one line. Waits that come and go are summed up, or it would flicker.
    fn waiting(&self) -> Line<'static> {
        let styles = self.theme.styles;
        let long = |wait: &&MemoryWait| self.now.since(wait.since) >= LONG_WAIT;
        let Some(first) = self.waits.first().filter(long) else {
            return self.coming_and_going();
        };
        let waited = self.now.since(first.since);
        let threads = match self.waits.len() {
            1 => "1 thread waits".to_owned(),
            several => format!("{several} threads wait"),
        };
        let style = if waited.as_nanos() > self.max_block.as_nanos() / 2 {
            styles.tone.bad
        } else {
            styles.tone.warn
        };
        Line::from(vec![
            Span::styled(threads, style),
            Span::styled(" for ", styles.text.dim),
            Span::styled(
                format!("{} B", number::count(first.bytes)),
                styles.text.plain,
            ),
            Span::styled(", ", styles.text.dim),
            Span::styled(number::span(waited), style),
            Span::styled(
                format!(" of {}", number::span(self.max_block)),
                styles.text.dim,
            ),
        ])
    }
}

impl Wait<'_> {
    fn coming_and_going(&self) -> Line<'static> {
        let styles = self.theme.styles;
        match (self.truth, self.rates) {
            (Some(truth), Some([loops, asked])) if truth > 0.0 => Line::from(vec![
                Span::styled("waits come and go", styles.tone.warn),
                Span::styled(": ", styles.text.dim),
                Span::styled(number::rate(loops), styles.text.plain),
                Span::styled(" of ", styles.text.dim),
                Span::styled(number::rate(asked), styles.text.plain),
                Span::styled(" get in", styles.text.dim),
            ]),
            _ => Line::from(Span::styled("no thread waits for memory", styles.text.dim)),
        }
    }
}

/// Lines at the bottom for threads, where the pane has the whole screen.
fn threads_height(area: Rect, threads: usize) -> u16 {
    let wanted = u16::try_from(threads).unwrap_or(u16::MAX).saturating_add(1);
    wanted.min(area.height / 3)
}

impl Widget for &Wait<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let mut area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        if !self.threads.is_empty() {
            let height = threads_height(area, self.threads.len());
            let first = self.first.min(self.extent(area).scroll_max());
            let room = below(area, area.height - height);
            area.height -= height;
            for (row, line) in (1..height).zip(self.threads.iter().skip(usize::from(first))) {
                text::put_line(buffer, room, row, line);
            }
        }
        let styles = self.theme.styles;
        let (line_key, area_key) = if self.theme.glyphs.braille {
            ("⠒⠢", "⢕⢕")
        } else {
            ("**", "::")
        };
        let roomy = area.width >= 52;
        let late = if roomy {
            ", a wait counts when it ends"
        } else {
            ", late"
        };
        let about = format!("over {}{late}", self.metric_window);
        let metric = self.reading(
            (line_key, styles.chart.reading),
            ["metric", &about],
            self.metric,
        );
        let about = if roomy {
            "share of thread time spent waiting"
        } else {
            "of thread time"
        };
        let truth = self.reading((area_key, styles.chart.truth), ["truth", about], self.truth);
        text::put_line(buffer, area, 0, &metric);
        text::put_line(buffer, area, 1, &truth);
        text::put_line(buffer, area, 2, &self.waiting());
        let rest = below(area, if area.height >= 12 { 4 } else { 3 });
        if rest.height < 3 {
            return;
        }
        let layers = [
            Layer {
                samples: self.truth_history.clone(),
                shape: Shape::Area,
                style: styles.chart.truth,
            },
            Layer {
                samples: self.metric_history.clone(),
                shape: Shape::Line,
                style: styles.chart.reading,
            },
        ];
        let chart = Chart {
            theme: self.theme,
            window: self.window,
            top: axis_top([&self.metric_history, &self.truth_history]).max(self.top_beside),
            label: axis_label,
            layers: &layers,
            thresholds: &[],
            faults: self.faults,
        };
        (&chart).render(rest, buffer);
    }
}
