//! What a figure is at this moment, before rates are made of counters.

use crate::kafka::metric_name::{ConsumerMetric, MetricKind};
use std::collections::BTreeMap;

use crate::sim::Simulation;
use crate::sim::ids::{BrokerIndex, GroupIndex, PartitionIndex, TopicIndex, TopicPartition};
use crate::sim::time::SimSpan;
use crate::sim::view::{
    ConsumerView, GroupPartitionView, GroupView, PartitionView, ProducerView, ThreadState,
};

use super::ledger::Ledger;
use super::metric::{
    BrokerFigure, GroupFigure, Metric, OwnFigure, PartitionFigure, ProducerFigure, TopicFigure,
};

/// Everything that figures are read from, at one sample.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) simulation: &'a Simulation,
    /// Views of all producers at this moment.
    pub(super) producers: &'a [ProducerView],
    /// Views of all partitions at this moment.
    pub(super) partitions: &'a [PartitionView],
    /// Views of all consumer groups at this moment.
    pub(super) groups: &'a [GroupView],
    /// Views of all consumers at this moment.
    pub(super) consumers: &'a [ConsumerView],
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
            Metric::Rdkafka(producer, figure) => simulation.rdkafka_figure(producer, figure),
            Metric::Broker(broker, figure) => Some(self.broker(broker, figure)),
            Metric::Topic(topic, figure) => self.topic(topic, figure),
            Metric::Member(consumer, metric) => simulation.consumer_metric(consumer, metric),
            Metric::GroupClient(group, metric) => self.group_client(group, metric),
            Metric::Group(group, figure) => self.group(group, figure),
            Metric::Partition(partition, PartitionFigure::Lag) => self.lag_of(partition),
            Metric::Partition(partition, figure) => {
                Some(of_partition(find(self.partitions, partition)?, figure))
            }
            Metric::Ledger(field) => {
                Some(self.ledger.account(self.records_sent()).field(field) as f64)
            }
            Metric::LedgerOf(producer, field) => {
                let sent = self.producers.get(producer.index())?.totals.records_sent;
                Some(self.ledger.account_of(producer, sent).field(field) as f64)
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

    fn group(&self, group: GroupIndex, figure: GroupFigure) -> Option<f64> {
        let view = self.groups.get(group.index())?;
        let members = || self.consumers.iter().filter(|view| view.group == group);
        let value = match figure {
            GroupFigure::Lag => view.lag()? as f64,
            GroupFigure::LagMax => {
                let lags = view.partitions.iter().filter_map(GroupPartitionView::lag);
                lags.max()? as f64
            }
            GroupFigure::Unread => {
                let unread = view
                    .partitions
                    .iter()
                    .filter_map(GroupPartitionView::unread);
                unread.sum::<u64>() as f64
            }
            GroupFigure::Members => f64::from(view.members),
            GroupFigure::IdleMembers => f64::from(view.idle),
            GroupFigure::Generation => f64::from(view.generation),
            GroupFigure::RecordsConsumed | GroupFigure::ConsumeRate => {
                members().map(|view| view.totals.records).sum::<u64>() as f64
            }
            GroupFigure::BufferedRecords => {
                members().map(|view| view.buffered_records).sum::<u64>() as f64
            }
            GroupFigure::OutOfOrderReads => {
                self.simulation.reads_out_of_order(group)?.records as f64
            }
            GroupFigure::OutOfOrderKeys => self.simulation.reads_out_of_order(group)?.keys as f64,
        };
        Some(value)
    }

    /// A metric of all members' clients together.
    fn group_client(&self, group: GroupIndex, metric: ConsumerMetric) -> Option<f64> {
        let members = self.consumers.iter().filter(|view| view.group == group);
        let values: Vec<f64> = members
            .filter_map(|view| self.simulation.consumer_metric(view.index, metric))
            .collect();
        if values.is_empty() {
            return None;
        }
        let sum: f64 = values.iter().sum();
        let max = values.iter().copied().fold(f64::MIN, f64::max);
        let is_ago = metric.name().ends_with("-ago");
        Some(match metric.kind() {
            MetricKind::Avg => sum / values.len() as f64,
            MetricKind::Max => max,
            MetricKind::Gauge if is_ago => max,
            MetricKind::Rate | MetricKind::Total | MetricKind::Ratio | MetricKind::Gauge => sum,
        })
    }

    /// Records that the group furthest behind is behind in a partition.
    fn lag_of(&self, partition: TopicPartition) -> Option<f64> {
        lag_of(self.groups, partition).map(|lag| lag as f64)
    }

    fn broker(&self, broker: BrokerIndex, figure: BrokerFigure) -> f64 {
        let view = self.simulation.broker(broker);
        match figure {
            BrokerFigure::LeaderCount => f64::from(view.leaders),
            BrokerFigure::Requests => f64::from(view.requests),
            BrokerFigure::DiskBacklogMs => millis(view.disk_backlog),
            BrokerFigure::BytesAppended | BrokerFigure::AppendRate => view.bytes_appended as f64,
            BrokerFigure::ProduceRequests => view.produce_requests as f64,
            BrokerFigure::ThrottledMs => view.throttled.as_nanos() as f64 / 1e6,
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
            TopicFigure::TopKeyShare => {
                let (_, keyed) = self.simulation.keys_sent(topic);
                let hottest = self.simulation.hottest_keys(topic, 1);
                let hottest = hottest.first()?;
                Some(hottest.records as f64 / keyed.max(1) as f64)
            }
        }
    }
}

/// The view of a partition, once it exists.
fn find(partitions: &[PartitionView], name: TopicPartition) -> Option<&PartitionView> {
    let place = partitions.binary_search_by_key(&name, PartitionView::name);
    place.ok().map(|place| &partitions[place])
}

/// Records that the group furthest behind is behind, by partition that any group reads.
pub fn lags(groups: &[GroupView]) -> BTreeMap<PartitionIndex, u64> {
    let mut lags = BTreeMap::new();
    for view in groups.iter().flat_map(|group| &group.partitions) {
        if let Some(lag) = view.lag() {
            let worst = lags.entry(view.partition).or_insert(0);
            *worst = lag.max(*worst);
        }
    }
    lags
}

/// The same of one partition.
fn lag_of(groups: &[GroupView], partition: TopicPartition) -> Option<u64> {
    let here = |group: &&GroupView| {
        let mut partitions = group.partitions.iter();
        let found = partitions.find(|view| view.partition.name() == partition)?;
        found.lag()
    };
    groups.iter().filter_map(|group| here(&group)).max()
}

/// The partitions of a topic: they stand together, in order of their number.
pub fn of_topic(partitions: &[PartitionView], topic: TopicIndex) -> &[PartitionView] {
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
    let queue = view.queue.as_ref();
    let value = match figure {
        OwnFigure::TrueWaitShare => view.totals.true_wait.as_nanos() as f64,
        OwnFigure::TrueBufferpoolWaitRatio => simulation.true_wait_ratio(view.index)?,
        OwnFigure::OpenBytes => buffer.open_bytes as f64,
        OwnFigure::ReadyBytes => buffer.ready_bytes as f64,
        OwnFigure::InFlightBytes => buffer.in_flight_bytes as f64,
        OwnFigure::RetryingBytes => buffer.retrying_bytes as f64,
        OwnFigure::WrittenBytes => buffer.written_bytes as f64,
        OwnFigure::Batches => f64::from(buffer.batches),
        OwnFigure::BufferedRecords => match queue {
            Some(queue) => queue.messages as f64,
            None => buffer.records as f64,
        },
        OwnFigure::OldestBatchAgeMs => match queue {
            Some(queue) => millis(queue.oldest_age?),
            None => millis(buffer.oldest_batch_age?),
        },
        OwnFigure::QueueFull => queue?.full as f64,
        OwnFigure::InFlightMessages => queue?.in_flight as f64,
        OwnFigure::ReportedMessages => queue?.reported as f64,
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
        PartitionFigure::Lag => 0.0,
    }
}

fn millis(span: SimSpan) -> f64 {
    span.as_nanos() as f64 / 1e6
}
