//! Reading what the pane shows from the run.

use ratatui::layout::Rect;

use super::{HotKey, Partitions, QUEUE_BATCHES_MIN, Row, history_cells};
use crate::insight::metric::{Metric, PartitionFigure};
use crate::insight::names;
use crate::insight::reading::{Spread, lags, of_topic};
use crate::insight::series::Bucket;
use crate::insight::skew::{self, Cause, Finding};
use crate::sim::ids::{PartitionIndex, TopicIndex};
use crate::sim::view::PartitionView;
use crate::tui::pane::Pane;
use crate::tui::panel::list;
use crate::tui::scene::Scene;
use crate::tui::text;

/// Rows that are read for one frame at most.
const ROWS_MAX: usize = 1_000;
/// Hottest keys that are shown at most.
const KEYS_MAX: usize = 8;

impl<'a> Partitions<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>, area: Rect) -> Self {
        let simulation = scene.session.simulation();
        let views = simulation.partition_views();
        let lags = lags(scene.session.insight().groups());
        let mut rows: Vec<Row> = views
            .iter()
            .take(ROWS_MAX)
            .map(|view| read_row(scene, view, lags.get(&view.index).copied()))
            .collect();
        let extent = list(rows.len(), area.height);
        let first = usize::from(scene.model.scroll_of(Pane::Partitions, extent));
        let cells = history_cells(area.width);
        let shown = rows.iter_mut().zip(&views).skip(first);
        for (row, view) in shown.take(usize::from(area.height)) {
            row.history = read_history(scene, view.index, cells);
        }
        let spread = least_even(&views);
        let topic = spread.map(|spread| spread.fullest.name().topic);
        let cause = topic
            .and_then(|topic| why_records(scene, of_topic(&views, topic)))
            .or_else(|| why_queue(scene, &rows));
        let hottest = topic.map_or(Vec::new(), |topic| hottest(scene, topic));
        let unread = views.len() - rows.len();
        let first = scene.model.scroll[Pane::Partitions.index()];
        Self {
            theme: scene.theme(),
            rows,
            unread,
            cause,
            spread,
            hottest,
            first,
        }
    }
}

fn read_row(scene: &Scene<'_>, view: &PartitionView, lag: Option<u64>) -> Row {
    let rate = |figure| scene.last(Metric::Partition(view.index.name(), figure));
    Row {
        name: names::partition(scene.config(), view.index),
        topic: view.topic,
        broker: view.leader,
        leader: view
            .leader
            .map(|broker| names::broker(scene.config(), broker)),
        isr: view.isr.len(),
        replicas: view.replicas.len(),
        records: rate(PartitionFigure::RecordsInRate),
        bytes: rate(PartitionFigure::BytesInRate),
        queued_batches: view.queued_batches,
        queued_bytes: view.queued_bytes,
        records_total: view.records_in,
        end_offset: view.log_end_offset,
        high_watermark: view.high_watermark,
        lag,
        history: Vec::new(),
    }
}

fn read_history(scene: &Scene<'_>, partition: PartitionIndex, cells: u16) -> Vec<Option<f64>> {
    let metric = Metric::Partition(partition.name(), PartitionFigure::RecordsInRate);
    let Some(series) = scene.session.insight().series(metric).filter(|_| cells > 0) else {
        return Vec::new();
    };
    let window = scene.window();
    let columns = series.columns(window.from, window.to, usize::from(cells));
    columns.iter().map(Bucket::mean).collect()
}

/// The spread of the least even topic, by what came in since the start.
fn least_even(views: &[PartitionView]) -> Option<Spread> {
    let topics = views.chunk_by(|one, next| one.topic == next.topic);
    topics
        .filter_map(Spread::of)
        .max_by(|one, other| one.max_over_mean.total_cmp(&other.max_over_mean))
}

/// Why the fullest partition of a topic has so many records, where it has too many.
fn why_records(scene: &Scene<'_>, topic: &[PartitionView]) -> Option<String> {
    let first = topic.first()?;
    let Finding::Skewed(skew) = skew::find(scene.session.simulation(), first.topic, topic) else {
        return None;
    };
    let name = names::partition(scene.config(), skew.spread.fullest);
    let cause = skew.cause.brief(scene.config());
    Some(format!("{name}: {cause}"))
}

/// Why the longest queue is so long, where it is too long and a broker is the reason.
fn why_queue(scene: &Scene<'_>, rows: &[Row]) -> Option<String> {
    let longest = rows.iter().max_by_key(|row| row.queued_bytes)?;
    let topic = rows.iter().filter(|row| row.topic == longest.topic);
    let (count, sum) = topic.fold((0_u64, 0_u64), |(count, sum), row| {
        (count + 1, sum + row.queued_bytes)
    });
    let mean = sum as f64 / count.max(1) as f64;
    let is_long = QUEUE_BATCHES_MIN <= longest.queued_batches
        && longest.queued_bytes as f64 > skew::FLAG_FACTOR * mean;
    let leader = longest.broker.filter(|_| is_long)?;
    let is_slow = skew::slow_brokers(scene.session.simulation()).contains(&leader);
    let words = Cause::SlowBroker(leader).words(scene.config());
    is_slow.then(|| format!("{} waits: {words}", longest.name))
}

fn hottest(scene: &Scene<'_>, topic: TopicIndex) -> Vec<HotKey> {
    let simulation = scene.session.simulation();
    let (_, total) = simulation.keys_sent(topic);
    simulation
        .hottest_keys(topic, KEYS_MAX)
        .into_iter()
        .map(|key| HotKey {
            key: text::visible_bytes(&key.key),
            share: key.records as f64 / total.max(1) as f64,
            partition: key.partition,
        })
        .collect()
}
