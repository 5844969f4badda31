//! What a figure is at this moment, before rates are made of counters.

use crate::sim::Simulation;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex, TopicPartition};
use crate::sim::time::SimSpan;
use crate::sim::view::{PartitionView, ProducerView, ThreadState};

use super::ledger::Ledger;
use super::metric::{
    BrokerFigure, Metric, OwnFigure, PartitionFigure, ProducerFigure, TopicFigure,
};

/// Everything that figures are read from, at one sample.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) simulation: &'a Simulation,
    /// Views of all producers at this moment.
    pub(super) producers: &'a [ProducerView],
    /// Views of all partitions at this moment.
    pub(super) partitions: &'a [PartitionView],
    pub(super) ledger: &'a Ledger,
}

impl Reading<'_> {
    /// The figure now; `None` where it does not exist. Of a rate, the counter behind it; of a
    /// share of waiting time, the waiting time in ns.
    pub(super) fn raw(&self, metric: Metric) -> Option<f64> {
        let simulation = self.simulation;
        match metric {
            Metric::Producer(producer, ProducerFigure::Client(metric)) => {
                simulation.producer_metric(producer, metric)
            }
            Metric::Producer(producer, ProducerFigure::Own(figure)) => {
                own(simulation, self.producers.get(producer.index())?, figure)
            }
            Metric::ProducerTopic(producer, topic, metric) => {
                simulation.topic_metric(producer, topic, metric)
            }
            Metric::ProducerNode(producer, node, metric) => {
                simulation.node_metric(producer, node, metric)
            }
            Metric::Broker(broker, figure) => Some(self.broker(broker, figure)),
            Metric::Topic(topic, figure) => self.topic(topic, figure),
            Metric::Partition(partition, figure) => {
                Some(of_partition(find(self.partitions, partition)?, figure))
            }
            Metric::Ledger(field) => {
                Some(self.ledger.account(self.records_sent()).field(field) as f64)
            }
        }
    }

    /// Records that all accumulators took so far.
    pub(super) fn records_sent(&self) -> u64 {
        self.producers
            .iter()
            .map(|producer| producer.totals.records_sent)
            .sum()
    }

    fn broker(&self, broker: BrokerIndex, figure: BrokerFigure) -> f64 {
        let view = self.simulation.broker(broker);
        match figure {
            BrokerFigure::LeaderCount => f64::from(view.leaders),
            BrokerFigure::Requests => f64::from(view.requests),
            BrokerFigure::DiskBacklogMs => millis(view.disk_backlog),
            BrokerFigure::BytesAppended | BrokerFigure::AppendRate => view.bytes_appended as f64,
            BrokerFigure::ProduceRequests => view.produce_requests as f64,
        }
    }

    fn topic(&self, topic: TopicIndex, figure: TopicFigure) -> Option<f64> {
        let partitions = of_topic(self.partitions, topic);
        let sum = |value: fn(&PartitionView) -> f64| partitions.iter().map(value).sum::<f64>();
        match figure {
            TopicFigure::RecordsIn | TopicFigure::RecordsInRate => {
                Some(sum(|partition| partition.records_in as f64))
            }
            TopicFigure::BytesIn | TopicFigure::BytesInRate => {
                Some(sum(|partition| partition.bytes_in as f64))
            }
            TopicFigure::QueuedBatches => {
                Some(sum(|partition| f64::from(partition.queued_batches)))
            }
            TopicFigure::QueuedBytes => Some(sum(|partition| partition.queued_bytes as f64)),
            TopicFigure::MaxOverMean => Spread::of(partitions).map(|spread| spread.max_over_mean),
            TopicFigure::KeysKeptSplit => {
                let split = self.simulation.keys_kept_split(topic);
                split.map(|keys| keys as f64)
            }
            TopicFigure::RecordsKept => Some(sum(|partition| partition.records_kept as f64)),
            TopicFigure::SplitKeys => self.simulation.split_keys(topic).map(|keys| keys as f64),
            TopicFigure::Cv => Spread::of(partitions).map(|spread| spread.cv),
        }
    }
}

/// The view of a partition, once it exists.
fn find(partitions: &[PartitionView], name: TopicPartition) -> Option<&PartitionView> {
    let place = partitions.binary_search_by_key(&name, PartitionView::name);
    place.ok().map(|place| &partitions[place])
}

/// The partitions of a topic: they stand together, in order of their number.
pub(super) fn of_topic(partitions: &[PartitionView], topic: TopicIndex) -> &[PartitionView] {
    let first = partitions.partition_point(|partition| partition.topic < topic);
    let after = partitions.partition_point(|partition| partition.topic <= topic);
    &partitions[first..after]
}

/// How unevenly records are spread over the partitions of a topic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The fullest partition.
    pub fullest: PartitionIndex,
    /// Its records over the mean of all partitions.
    pub max_over_mean: f64,
    /// Standard deviation over mean.
    pub cv: f64,
}

impl Spread {
    /// The spread over these partitions; nothing while they are empty.
    pub fn of(partitions: &[PartitionView]) -> Option<Self> {
        let fullest = partitions
            .iter()
            .max_by_key(|partition| partition.records_in)?;
        let total: u64 = partitions
            .iter()
            .map(|partition| partition.records_in)
            .sum();
        if total == 0 {
            return None;
        }
        let mean = total as f64 / partitions.len() as f64;
        let variance = partitions
            .iter()
            .map(|partition| partition.records_in as f64 - mean)
            .map(|difference| difference * difference)
            .sum::<f64>()
            / partitions.len() as f64;
        Some(Self {
            fullest: fullest.index,
            max_over_mean: fullest.records_in as f64 / mean,
            cv: libm::sqrt(variance) / mean,
        })
    }
}

fn own(simulation: &Simulation, view: &ProducerView, figure: OwnFigure) -> Option<f64> {
    let buffer = &view.buffer;
    let value = match figure {
        OwnFigure::TrueWaitShare => view.totals.true_wait.as_nanos() as f64,
        OwnFigure::TrueBufferpoolWaitRatio => simulation.true_wait_ratio(view.index)?,
        OwnFigure::OpenBytes => buffer.open_bytes as f64,
        OwnFigure::ReadyBytes => buffer.ready_bytes as f64,
        OwnFigure::InFlightBytes => buffer.in_flight_bytes as f64,
        OwnFigure::RetryingBytes => buffer.retrying_bytes as f64,
        OwnFigure::WrittenBytes => buffer.written_bytes as f64,
        OwnFigure::Batches => f64::from(buffer.batches),
        OwnFigure::BufferedRecords => buffer.records as f64,
        OwnFigure::OldestBatchAgeMs => millis(buffer.oldest_batch_age?),
        OwnFigure::BlockedThreads => blocked_threads(view) as f64,
        OwnFigure::OutsideRecords => view.threads.iter().map(|t| t.outside).sum::<u64>() as f64,
        OwnFigure::SpilledRecords => view.threads.iter().map(|t| t.spilled).sum::<u64>() as f64,
        OwnFigure::LoopRate | OwnFigure::RecordsSent => view.totals.records_sent as f64,
        OwnFigure::RateAsked => view.rate_asked,
        OwnFigure::AckRate | OwnFigure::RecordsAcked => view.totals.records_acked as f64,
        OwnFigure::RecordsFailed => view.totals.records_failed as f64,
        OwnFigure::Refusals => view.totals.records_refused as f64,
        OwnFigure::CrossRackBytes => view.totals.cross_rack_bytes as f64,
    };
    Some(value)
}

/// Threads of a producer that wait inside a client call or for the client.
pub(super) fn blocked_threads(view: &ProducerView) -> usize {
    let blocked = |thread: &&crate::sim::view::ThreadView| {
        matches!(thread.state, ThreadState::Blocked { .. })
    };
    view.threads.iter().filter(blocked).count()
}

fn of_partition(view: &PartitionView, figure: PartitionFigure) -> f64 {
    match figure {
        PartitionFigure::RecordsIn | PartitionFigure::RecordsInRate => view.records_in as f64,
        PartitionFigure::BytesIn | PartitionFigure::BytesInRate => view.bytes_in as f64,
        PartitionFigure::QueuedBatches => f64::from(view.queued_batches),
        PartitionFigure::QueuedBytes => view.queued_bytes as f64,
        PartitionFigure::LogStartOffset => view.log_start_offset as f64,
        PartitionFigure::LogEndOffset => view.log_end_offset as f64,
        PartitionFigure::HighWatermark => view.high_watermark as f64,
        PartitionFigure::RecordsKept => view.records_kept as f64,
        PartitionFigure::InSyncReplicas => view.isr.len() as f64,
    }
}

fn millis(span: SimSpan) -> f64 {
    span.as_nanos() as f64 / 1e6
}
