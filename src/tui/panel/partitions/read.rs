//! Reading what the pane shows from the run.

use ratatui::layout::Rect;

use super::{Evenness, HotKey, Partitions, Row, history_cells, topics};
use crate::insight::metric::{Metric, PartitionFigure};
use crate::insight::names;
use crate::insight::series::Bucket;
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
        let extent = list(rows.len(), area.height);
        let first = usize::from(scene.model.scroll_of(Pane::Partitions, extent));
        let cells = history_cells(area.width);
        let shown = rows.iter_mut().zip(simulation.partitions()).skip(first);
        for (row, partition) in shown.take(usize::from(area.height)) {
            row.history = read_history(scene, partition, cells);
        }
        let evenness = evenness(&rows);
        let hottest = evenness.map_or(Vec::new(), |evenness| hottest(scene, evenness.topic));
        let unread = simulation.partition_count().saturating_sub(rows.len());
        let first = scene.model.scroll[Pane::Partitions.index()];
        Self {
            theme: scene.theme(),
            rows,
            unread,
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

/// The least even topic, by what came in since the start.
fn evenness(rows: &[Row]) -> Option<Evenness> {
    topics(rows)
        .filter_map(|rows| {
            let count = rows.len() as f64;
            let mean = rows.iter().map(|row| row.records_total as f64).sum::<f64>() / count;
            let max = rows.iter().map(|row| row.records_total).max()? as f64;
            let off =
                |row: &Row| (row.records_total as f64 - mean) * (row.records_total as f64 - mean);
            let variance = rows.iter().map(off).sum::<f64>() / count;
            (mean > 0.0).then(|| Evenness {
                topic: rows[0].topic,
                max_over_mean: max / mean,
                cv: variance.sqrt() / mean,
            })
        })
        .max_by(|one, other| one.max_over_mean.total_cmp(&other.max_over_mean))
}

fn hottest(scene: &Scene<'_>, topic: TopicIndex) -> Vec<HotKey> {
    let simulation = scene.session.simulation();
    let sent = scene.session.insight().producers().iter();
    let total: u64 = sent.map(|view| view.totals.records_sent).sum();
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
