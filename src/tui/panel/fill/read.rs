//! Reading what the pane shows from the run.

use ratatui::layout::Rect;

use super::{Fill, Outlook, axis_label};
use crate::insight::metric::{Metric, OwnFigure, ProducerFigure};
use crate::insight::series::Series;
use crate::kafka::metric_name::ProducerMetric;
use crate::sim::fact::Fact;
use crate::sim::ids::ProducerIndex;
use crate::sim::time::SimSpan;
use crate::sim::view::BufferView;
use crate::tui::pane::Pane;
use crate::tui::panel::metrics::Metrics;
use crate::tui::scene::Scene;
use crate::tui::widget::chart::{Chart, plot_columns};

/// Time over which the pool's growth is measured.
const OUTLOOK_SPAN: SimSpan = SimSpan::from_seconds(2);
/// Time after a wait during which a pool still counts as full.
const BREATH: SimSpan = SimSpan::from_seconds(1);
/// A pool that fills more slowly than in this time is called steady.
const OUTLOOK_MAX: SimSpan = SimSpan::from_seconds(600);

impl<'a> Fill<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>, area: Rect) -> Self {
        let producer = scene.producer();
        let view = producer.map(|producer| scene.view(producer));
        let buffer = view
            .as_ref()
            .map_or_else(BufferView::default, |view| view.buffer);
        let label = Chart::label_width(buffer.total_bytes as f64, axis_label);
        let cells = plot_columns(area, label);
        let samples = |figure: ProducerFigure| match producer {
            Some(producer) => scene.samples(Metric::Producer(producer, figure), cells),
            None => Vec::new(),
        };
        let own = |figure| samples(ProducerFigure::Own(figure));
        let available = samples(ProducerFigure::Client(ProducerMetric::BufferAvailableBytes));
        let retrying = own(OwnFigure::RetryingBytes);
        let in_flight = own(OwnFigure::InFlightBytes);
        let total = buffer.total_bytes as f64;
        Self {
            theme: scene.theme(),
            buffer,
            threads: view.map_or(0, |view| view.threads.len()),
            outlook: producer.map_or(Outlook::Steady, |producer| {
                outlook(scene, producer, &buffer)
            }),
            window: scene.window(),
            faults: &scene.faults,
            taken: available
                .into_iter()
                .map(|one| one.map(|one| one.taken_from(total)))
                .collect(),
            written: own(OwnFigure::WrittenBytes),
            sent: in_flight
                .into_iter()
                .zip(retrying)
                .map(|(a, b)| Some(a?.plus(b?)))
                .collect(),
            top_beside: scene.other().map_or(0.0, |other| {
                let producer = other.producer().map(|producer| other.view(producer));
                producer.map_or(0.0, |view| view.buffer.total_bytes as f64)
            }),
            metrics: scene.is_expanded().then(|| Metrics::read(scene)),
            first: scene.model.scroll[Pane::Fill.index()],
        }
    }
}

/// Where a producer's pool is heading.
fn outlook(scene: &Scene<'_>, producer: ProducerIndex, buffer: &BufferView) -> Outlook {
    let insight = scene.session.insight();
    let Some(settings) = scene.settings(producer) else {
        return Outlook::Steady;
    };
    if buffer.total_bytes == 0 {
        // No client: the process has not started, or is gone.
        return Outlook::Steady;
    }
    // A full pool breathes: a response frees some batches, and the next records take them again.
    let waited = scene.recent(Metric::own(producer, OwnFigure::TrueWaitShare), BREATH);
    let no_batch_fits = buffer.available_bytes < u64::from(settings.batch_size);
    if no_batch_fits || buffer.waiting_threads > 0 || waited.is_some_and(|share| share > 0.0) {
        return full_since(scene, producer);
    }
    let available = insight.client_series(producer, ProducerMetric::BufferAvailableBytes);
    let written = insight.own_series(producer, OwnFigure::WrittenBytes);
    let (Some(available), Some(written)) = (available, written) else {
        return Outlook::Steady;
    };
    let now = scene.now();
    let before = now - OUTLOOK_SPAN;
    let growth = |series: &Series| {
        let columns = series.columns(before, now + SimSpan::from_nanos(1), 2);
        Some(
            (columns.last()?.mean()? - columns.first()?.mean()?)
                / (OUTLOOK_SPAN.as_seconds() / 2.0),
        )
    };
    let left = |free: f64, rate: Option<f64>| {
        let seconds = free / rate.filter(|rate| *rate > 0.0)?;
        let span = SimSpan::from_nanos((seconds.max(0.0) * 1e9) as u64);
        (span <= OUTLOOK_MAX).then_some(span)
    };
    let by_batches = left(
        buffer.available_bytes as f64,
        growth(available).map(|rate| -rate),
    );
    let by_bytes = left(
        buffer.total_bytes.saturating_sub(buffer.written_bytes) as f64,
        growth(written),
    );
    match (by_batches, by_bytes) {
        (Some(by_batches), Some(by_bytes)) => Outlook::FullIn {
            by_batches,
            by_bytes,
        },
        _ => Outlook::Steady,
    }
}

/// Since when the pool has been running full: since a thread had to wait after none did for a
/// while.
fn full_since(scene: &Scene<'_>, producer: ProducerIndex) -> Outlook {
    let exhausted = Fact::PoolExhausted { producer };
    let mut entries = scene.session.insight().log().entries().rev();
    let latest = entries.find(|entry| entry.first.fact == exhausted);
    Outlook::FullSince(latest.map_or(scene.now(), |entry| entry.first.at))
}
