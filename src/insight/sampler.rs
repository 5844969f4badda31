//! Which figures are kept as series, and taking their samples.
//!
//! Rule: what the first screen shows is sampled always, for the first [`PRODUCERS_SHOWN_MAX`]
//! producers and [`PARTITIONS_SHOWN_MAX`] partitions; anything else from the moment that an
//! expectation (at the start) or a pane asks for it. For runs of at most
//! [`PRODUCERS_SUMMED_MAX`] producers every metric of their clients is also summed up for the
//! report, without a series. Sampling only reads, so none of it enters the digest.
//!
//! Invariants:
//! - All series together keep at most about [`BUCKETS_TOTAL_MAX`] buckets: the more there are, the
//!   coarser each may become, down to [`BUCKETS_MIN`] buckets.
//! - At most [`ASKED_MAX`] series beyond the shown ones exist.

use std::collections::{BTreeMap, VecDeque};

use crate::kafka::metric_name::ProducerMetric;
use crate::kafka::rdkafka_metric::{RdkafkaBrokerMetric, RdkafkaMetric, RdkafkaTopicMetric};
use crate::sim::config::Config;
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex, TopicIndex, TopicPartition};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::RdkafkaFigure;

use super::metric::{
    BrokerFigure, GroupFigure, Metric, OwnFigure, PartitionFigure, ProducerFigure, TopicFigure,
};
use super::reading::Reading;
use super::series::{BUCKETS_MIN, Bucket, Series};

/// Producers whose shown figures are always sampled at most.
pub const PRODUCERS_SHOWN_MAX: usize = 256;
/// Consumer groups whose shown figures are always sampled at most.
pub const GROUPS_SHOWN_MAX: usize = 64;
/// Partitions whose shown figures are always sampled at most.
pub const PARTITIONS_SHOWN_MAX: usize = 128;
/// Producers whose client metrics are all summed up for the report at most.
pub const PRODUCERS_SUMMED_MAX: usize = 10;
/// Brokers of which a librdkafka client's figures are summed up for the report at most.
const REPORTED_BROKERS_MAX: usize = 10;
/// Series beyond the shown ones at most.
pub const ASKED_MAX: usize = 512;
/// Buckets over all series: 16 MiB of them.
pub const BUCKETS_TOTAL_MAX: usize = 16 * 1024 * 1024 / size_of::<Bucket>();
/// Buckets of one series at most: a run of 400 s keeps every sample of 100 ms.
pub const BUCKETS_MAX: usize = 4_096;
/// Series that panes are expected to ask for, when buckets are shared out.
const ASKED_EXPECTED: usize = 64;

/// A series by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesId(u32);

/// No more series may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySeries;

/// All series of a run.
#[derive(Clone, Debug)]
pub struct Sampler {
    entries: Vec<Entry>,
    by_metric: BTreeMap<Metric, SeriesId>,
    sample: SimSpan,
    buckets_max: usize,
    asked: usize,
    /// Every client metric of every producer; empty when there are too many producers.
    sums: Vec<(Metric, Bucket)>,
}

/// One sampled figure.
#[derive(Clone, Debug)]
struct Entry {
    metric: Metric,
    made: Made,
    series: Series,
    /// The last sample.
    value: Option<f64>,
}

/// How a figure is made of what is read.
#[derive(Clone, Debug)]
enum Made {
    /// It is what is read.
    AsRead,
    /// From a counter: its increase over the last second, per second.
    PerSecond(Lookback),
    /// From waiting time: its increase since the last sample, per thread.
    WaitShare { before: Option<f64> },
}

/// The values of a counter over the last second.
#[derive(Clone, Debug)]
struct Lookback {
    values: VecDeque<f64>,
    values_max: usize,
}

impl Sampler {
    /// The series that a run always keeps.
    pub fn new(config: &Config) -> Self {
        let shown = shown(config);
        let planned = shown.len() + ASKED_EXPECTED;
        let summed = config.producers.len() <= PRODUCERS_SUMMED_MAX;
        let producers = if summed { config.producers.len() } else { 0 };
        let of_producer = |place| client_metrics(config, ProducerIndex(place as u16));
        let sums = (0..producers).flat_map(of_producer);
        let mut sampler = Self {
            entries: Vec::with_capacity(planned),
            by_metric: BTreeMap::new(),
            sample: config.sample,
            buckets_max: (BUCKETS_TOTAL_MAX / planned).clamp(BUCKETS_MIN, BUCKETS_MAX),
            asked: 0,
            sums: sums.map(|metric| (metric, Bucket::EMPTY)).collect(),
        };
        for metric in shown {
            sampler.add(metric, SimTime::ZERO, config);
        }
        sampler
    }

    /// Samples `metric` from `start` (a multiple of the sample time) on, if it is not yet.
    pub fn ask(
        &mut self,
        metric: Metric,
        start: SimTime,
        config: &Config,
    ) -> Result<SeriesId, TooManySeries> {
        if let Some(&id) = self.by_metric.get(&metric) {
            return Ok(id);
        }
        if ASKED_MAX <= self.asked {
            return Err(TooManySeries);
        }
        self.asked += 1;
        Ok(self.add(metric, start, config))
    }

    /// Samples what is shown of partitions that were added, from `start` on, while there are few
    /// enough.
    pub(super) fn show(
        &mut self,
        partitions: impl Iterator<Item = TopicPartition>,
        start: SimTime,
        config: &Config,
    ) {
        for metric in partitions.take(PARTITIONS_SHOWN_MAX).flat_map(shown_of) {
            if !self.by_metric.contains_key(&metric) {
                self.add(metric, start, config);
            }
        }
    }

    /// The series of `metric`, if it is sampled.
    pub fn find(&self, metric: Metric) -> Option<&Series> {
        self.by_metric.get(&metric).map(|&id| self.series(id))
    }

    /// The series of this id.
    pub fn series(&self, id: SeriesId) -> &Series {
        &self.entries[id.0 as usize].series
    }

    /// The last sample of a series; `None` where the figure did not exist then.
    pub fn value(&self, id: SeriesId) -> Option<f64> {
        self.entries[id.0 as usize].value
    }

    /// All sampled figures, in the order of their paths' parts.
    pub fn all(&self) -> impl Iterator<Item = (Metric, &Series)> {
        self.by_metric
            .iter()
            .map(|(&metric, &id)| (metric, self.series(id)))
    }

    /// Bytes that a clone of all series does not share with them, roughly.
    pub fn bytes_copied(&self) -> usize {
        let series = self.entries.iter().map(|entry| entry.series.bytes_copied());
        series.sum::<usize>() + self.sums.len() * size_of::<(Metric, Bucket)>()
    }

    /// All samples of a client metric together, where they are summed up or kept as a series.
    pub fn summed(&self, metric: Metric) -> Option<&Bucket> {
        let series = self.find(metric).map(Series::total);
        series.or_else(|| {
            let found = self.sums.iter().find(|(other, _)| *other == metric);
            found.map(|(_, sum)| sum)
        })
    }

    /// Takes one sample of everything.
    pub(super) fn sample(&mut self, reading: Reading<'_>) {
        for entry in &mut self.entries {
            let raw = reading.raw(entry.metric);
            let threads = || match entry.metric {
                Metric::Producer(producer, _) => reading
                    .producers
                    .get(producer.index())
                    .map_or(1, |view| view.threads.len()),
                _ => 1,
            };
            let value = entry.made.value(raw, threads, self.sample);
            entry.series.push(value);
            entry.value = value;
        }
        for (metric, sum) in &mut self.sums {
            sum.push(reading.raw(*metric));
        }
    }

    /// Bytes that all series hold.
    pub fn bytes(&self) -> usize {
        self.entries.iter().map(|entry| entry.series.bytes()).sum()
    }

    fn add(&mut self, metric: Metric, start: SimTime, config: &Config) -> SeriesId {
        let id = SeriesId(self.entries.len() as u32);
        let series = Series::new(start, self.sample, self.buckets_max);
        self.entries.push(Entry {
            metric,
            made: Made::of(metric, config),
            series,
            value: None,
        });
        self.by_metric.insert(metric, id);
        id
    }
}

impl Made {
    fn of(metric: Metric, config: &Config) -> Self {
        match metric {
            Metric::Producer(_, ProducerFigure::Own(OwnFigure::TrueWaitShare)) => {
                Self::WaitShare { before: None }
            }
            _ if is_rate(metric) => Self::PerSecond(Lookback::new(config.sample)),
            _ => Self::AsRead,
        }
    }

    /// The figure, from what was read one sample time after the last one.
    fn value(
        &mut self,
        raw: Option<f64>,
        threads: impl Fn() -> usize,
        sample: SimSpan,
    ) -> Option<f64> {
        match self {
            Self::AsRead => raw,
            Self::PerSecond(lookback) => lookback.per_second(raw?, sample),
            Self::WaitShare { before } => {
                let raw = raw?;
                let increase = before.replace(raw).map(|before| raw - before)?;
                Some(increase / (sample.as_nanos() as f64 * threads().max(1) as f64))
            }
        }
    }
}

impl Lookback {
    fn new(sample: SimSpan) -> Self {
        let second = SimSpan::from_seconds(1).as_nanos();
        let intervals = (second / sample.as_nanos().max(1)).clamp(1, 1_000) as usize;
        Self {
            values: VecDeque::with_capacity(intervals + 1),
            values_max: intervals + 1,
        }
    }

    fn per_second(&mut self, value: f64, sample: SimSpan) -> Option<f64> {
        if self.values.len() == self.values_max {
            self.values.pop_front();
        }
        self.values.push_back(value);
        let intervals = self.values.len() - 1;
        let seconds = intervals as f64 * sample.as_seconds();
        let oldest = self.values.front().copied()?;
        (0 < intervals).then(|| (value - oldest) / seconds)
    }
}

/// Whether a figure is the increase of a counter per second.
const fn is_rate(metric: Metric) -> bool {
    match metric {
        Metric::Producer(_, ProducerFigure::Own(figure)) => {
            matches!(figure, OwnFigure::LoopRate | OwnFigure::AckRate)
        }
        Metric::Broker(_, figure) => matches!(figure, BrokerFigure::AppendRate),
        Metric::Group(_, figure) => matches!(figure, GroupFigure::ConsumeRate),
        Metric::Topic(_, figure) => {
            matches!(
                figure,
                TopicFigure::RecordsInRate | TopicFigure::BytesInRate
            )
        }
        Metric::Partition(_, figure) => {
            use PartitionFigure::{BytesInRate, RecordsInRate};
            matches!(figure, RecordsInRate | BytesInRate)
        }
        _ => false,
    }
}

/// What the first screen shows of a partition.
fn shown_of(partition: TopicPartition) -> [Metric; 2] {
    let figures = [PartitionFigure::RecordsInRate, PartitionFigure::QueuedBytes];
    figures.map(|figure| Metric::Partition(partition, figure))
}

/// Every metric of a producer's client, as far as a report lists them: of librdkafka's statistics
/// those of the client, of the first brokers and of the topics that its loads produce to.
pub fn client_metrics(config: &Config, producer: ProducerIndex) -> Vec<Metric> {
    let Some(configured) = config.producers.get(producer.index()) else {
        return Vec::new();
    };
    if configured.client.java().is_some() {
        let all = ProducerMetric::ALL.iter();
        return all
            .map(|&metric| Metric::client(producer, metric))
            .collect();
    }
    let mut figures: Vec<_> = RdkafkaMetric::all().map(RdkafkaFigure::Client).collect();
    let brokers = config.brokers.len().min(REPORTED_BROKERS_MAX);
    for broker in (0..brokers).map(|broker| BrokerIndex(broker as u16)) {
        figures.extend(RdkafkaBrokerMetric::all().map(|m| RdkafkaFigure::Broker(broker, m)));
    }
    let mut topics: Vec<_> = configured.loads.iter().map(|load| load.topic).collect();
    topics.sort_unstable();
    topics.dedup();
    for topic in topics {
        figures.extend(RdkafkaTopicMetric::all().map(|m| RdkafkaFigure::Topic(topic, m)));
    }
    let metrics = figures.into_iter();
    metrics
        .map(|figure| Metric::Rdkafka(producer, figure))
        .collect()
}

/// What the first screen shows.
fn shown(config: &Config) -> Vec<Metric> {
    let mut metrics = Vec::new();
    for producer in 0..config.producers.len().min(PRODUCERS_SHOWN_MAX) {
        metrics.extend(shown_of_producer(config, ProducerIndex(producer as u16)));
    }
    for broker in 0..config.brokers.len() {
        let broker = BrokerIndex(broker as u16);
        let figures = [
            BrokerFigure::AppendRate,
            BrokerFigure::DiskBacklogMs,
            BrokerFigure::Requests,
        ];
        metrics.extend(figures.map(|figure| Metric::Broker(broker, figure)));
    }
    let topics = (0..config.topics.len()).map(|topic| TopicIndex(topic as u16));
    let partitions = topics.flat_map(|topic| {
        let numbers = 0..config.partitions_of(topic);
        numbers.map(move |number| TopicPartition { topic, number })
    });
    for partition in partitions.take(PARTITIONS_SHOWN_MAX) {
        metrics.extend(shown_of(partition));
    }
    for group in 0..config.groups.len().min(GROUPS_SHOWN_MAX) {
        let group = GroupIndex(group as u16);
        let figures = [
            GroupFigure::Lag,
            GroupFigure::ConsumeRate,
            GroupFigure::IdleMembers,
        ];
        metrics.extend(figures.map(|figure| Metric::Group(group, figure)));
    }
    metrics
}

/// What the first screen shows of a producer.
fn shown_of_producer(config: &Config, producer: ProducerIndex) -> Vec<Metric> {
    const OWN: [OwnFigure; 13] = [
        OwnFigure::TrueWaitShare,
        OwnFigure::TrueBufferpoolWaitRatio,
        OwnFigure::OpenBytes,
        OwnFigure::ReadyBytes,
        OwnFigure::InFlightBytes,
        OwnFigure::RetryingBytes,
        OwnFigure::WrittenBytes,
        OwnFigure::OldestBatchAgeMs,
        OwnFigure::BlockedThreads,
        OwnFigure::LoopRate,
        OwnFigure::AckRate,
        OwnFigure::RecordsFailed,
        OwnFigure::Refusals,
    ];
    const CLIENT: [ProducerMetric; 3] = [
        ProducerMetric::BufferAvailableBytes,
        ProducerMetric::BufferpoolWaitRatio,
        ProducerMetric::WaitingThreads,
    ];
    const RDKAFKA_OWN: [OwnFigure; 10] = [
        OwnFigure::TrueWaitShare,
        OwnFigure::InFlightMessages,
        OwnFigure::ReportedMessages,
        OwnFigure::QueueFull,
        OwnFigure::OldestBatchAgeMs,
        OwnFigure::BlockedThreads,
        OwnFigure::LoopRate,
        OwnFigure::AckRate,
        OwnFigure::RecordsFailed,
        OwnFigure::Refusals,
    ];
    const RDKAFKA: [RdkafkaMetric; 3] = [
        RdkafkaMetric::MsgCnt,
        RdkafkaMetric::MsgSize,
        RdkafkaMetric::Replyq,
    ];
    let own = |figures: &[OwnFigure]| -> Vec<Metric> {
        let figures = figures.iter();
        figures
            .map(|&figure| Metric::own(producer, figure))
            .collect()
    };
    if config.producers[producer.index()].client.java().is_some() {
        let mut metrics = own(&OWN);
        metrics.extend(CLIENT.map(|metric| Metric::client(producer, metric)));
        metrics
    } else {
        let client = |metric| Metric::Rdkafka(producer, RdkafkaFigure::Client(metric));
        let mut metrics = own(&RDKAFKA_OWN);
        metrics.extend(RDKAFKA.map(client));
        metrics
    }
}
