//! Reading what the pane shows from the run.

use ratatui::layout::Rect;

use super::{Evenness, HotKey, Partitions, QUEUE_BATCHES_MIN, Row, history_cells};
use crate::insight::metric::{Metric, PartitionFigure};
use crate::insight::names;
use crate::insight::reading::lags;
use crate::insight::reading::of_topic;
use crate::insight::series::Bucket;
use crate::insight::skew::{self, Cause, Finding};
use crate::sim::Simulation;
use crate::sim::ids::{PartitionIndex, TopicIndex};
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
        let partitions = simulation.partitions().take(ROWS_MAX);
        let mut rows: Vec<Row> = partitions
            .map(|partition| read_row(scene, partition))
            .collect();
        let lags = lags(scene.session.insight().groups());
        for (row, partition) in rows.iter_mut().zip(simulation.partitions()) {
            row.lag = lags.get(&partition).copied();
        }
        let extent = list(rows.len(), area.height);
        let first = usize::from(scene.model.scroll_of(Pane::Partitions, extent));
        let cells = history_cells(area.width);
        let shown = rows.iter_mut().zip(simulation.partitions()).skip(first);
        for (row, partition) in shown.take(usize::from(area.height)) {
            row.history = read_history(scene, partition, cells);
        }
        let evenness = evenness(simulation);
        let cause = evenness
            .and_then(|evenness| why_records(scene, evenness.topic))
            .or_else(|| why_queue(scene, &rows));
        let hottest = evenness.map_or(Vec::new(), |evenness| hottest(scene, evenness.topic));
        let unread = simulation.partition_count().saturating_sub(rows.len());
        let first = scene.model.scroll[Pane::Partitions.index()];
        Self {
            theme: scene.theme(),
            rows,
            unread,
            cause,
            evenness,
            hottest,
            first,
        }
    }
}

fn read_row(scene: &Scene<'_>, partition: PartitionIndex) -> Row {
    let view = scene.session.simulation().partition(partition);
    let rate = |figure| scene.last(Metric::Partition(partition.name(), figure));
    Row {
        name: scene.session.simulation().partition_name(partition),
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
        lag: None,
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

/// The least even topic, by what came in since the start, over all its partitions.
fn evenness(simulation: &Simulation) -> Option<Evenness> {
    let records: Vec<(TopicIndex, u64)> = simulation
        .partitions()
        .map(|partition| simulation.records_in(partition))
        .collect();
    records
        .chunk_by(|one, next| one.0 == next.0)
        .filter_map(|topic| {
            let count = topic.len() as f64;
            let mean = topic
                .iter()
                .map(|(_, records)| *records as f64)
                .sum::<f64>()
                / count;
            let max = topic.iter().map(|(_, records)| *records).max()? as f64;
            let squares = topic.iter().map(|(_, records)| {
                let off = *records as f64 - mean;
                off * off
            });
            let variance = squares.sum::<f64>() / count;
            (mean > 0.0).then(|| Evenness {
                topic: topic[0].0,
                max_over_mean: max / mean,
                cv: variance.sqrt() / mean,
            })
        })
        .max_by(|one, other| one.max_over_mean.total_cmp(&other.max_over_mean))
}

/// Why the topic's fullest partition has so many records, where it has too many.
fn why_records(scene: &Scene<'_>, topic: TopicIndex) -> Option<String> {
    let insight = scene.session.insight();
    let partitions = of_topic(insight.partitions(), topic);
    let Finding::Skewed(skew) = skew::find(scene.session.simulation(), topic, partitions) else {
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
    let is_slow = skew::is_slow(scene.session.simulation(), leader);
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
