//! The report as values. Field names are those of the JSON format: fields may be added, never
//! renamed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::exposition::Exposed;
use crate::insight::judge::Outcome;

/// The version of the format.
pub(super) const FORMAT: u32 = 1;

/// What a run amounts to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's title.
    pub title: String,
    /// The seed of the run.
    pub seed: u64,
    /// The version of kdrill.
    pub version: &'static str,
    /// Simulated time that passed, in seconds.
    pub simulated_seconds: f64,
    /// Whether the run came to its end.
    pub ended: bool,
    /// The digest over everything that happened, in hexadecimal.
    pub digest: String,
    /// Records over all producers.
    pub totals: Totals,
    /// What became of them.
    pub ledger: LedgerSummary,
    /// By name.
    pub producers: BTreeMap<String, ProducerSummary>,
    /// By `TOPIC-N`.
    pub partitions: BTreeMap<String, PartitionSummary>,
    /// By name: how evenly its records are spread.
    pub topics: BTreeMap<String, TopicSummary>,
    /// By topic: keys, where records are remembered one by one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, KeysSummary>,
    /// By group.
    pub consumers: BTreeMap<String, ConsumerSummary>,
    /// By transactional id.
    pub transactions: BTreeMap<String, TransactionSummary>,
    /// In the scenario's order.
    pub expectations: Vec<Expected>,
    /// In order of their first moment.
    pub warnings: Vec<Warned>,
    /// The moments worth a mark, in order.
    pub happenings: Vec<Happening>,
    /// What simulated wall clocks show at the start, in milliseconds since 1970.
    #[serde(skip)]
    pub start_epoch_ms: i64,
    /// Every sampled series; only filled for formats that show them.
    #[serde(skip)]
    pub series: Vec<SeriesRow>,
}

/// The keys of one topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct KeysSummary {
    /// Keys with records on more than one partition.
    pub split: u64,
    /// Traced keys: their records by `TOPIC-N`.
    pub traced: BTreeMap<String, BTreeMap<String, KeyOnPartition>>,
    /// Traced keys: what happened to single records, those in trouble first, then the latest.
    pub stories: BTreeMap<String, Vec<RecordStory>>,
}

/// What happened to one record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordStory {
    /// Its number among the records of its key, from 1.
    pub number: usize,
    /// Whose.
    pub producer: String,
    /// Where, as `TOPIC-N`.
    pub partition: String,
    /// When its client took it, in seconds.
    pub sent_seconds: f64,
    /// What became of it.
    pub fate: String,
    /// Where it stands in the log.
    pub offsets: Vec<u64>,
    /// Whether something else happened than that it was sent, appended and acknowledged.
    pub troubled: bool,
    /// What happened, in order of time.
    pub steps: Vec<StoryStep>,
}

/// One step of a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoryStep {
    /// When, in seconds.
    pub seconds: f64,
    /// What, in words.
    pub text: String,
}

/// The records of one key on one partition.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KeyOnPartition {
    /// How many.
    pub records: u64,
    /// Offset of the first.
    pub first_offset: u64,
    /// Offset of the last.
    pub last_offset: u64,
    /// When the first was appended, in seconds.
    pub first_seconds: f64,
    /// When the last was appended, in seconds.
    pub last_seconds: f64,
}

/// Records by what became of them, over all producers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Taken by an accumulator.
    pub records_sent: u64,
    /// Acknowledged.
    pub records_acked: u64,
    /// Failed in their callback.
    pub records_failed: u64,
    /// Failed, and in a log all the same.
    pub records_failed_present: u64,
    /// Refused by `send()` and given up.
    pub records_refused: u64,
    /// Times that `send()` refused a record, also one that was tried again.
    pub refusals: u64,
    /// Gone with their process.
    pub records_abandoned: u64,
    /// Not done when the run ended.
    pub records_under_way: u64,
    /// Acknowledged, and in no log.
    pub records_lost_acknowledged: u64,
    /// In a log more than once, the first time not counted.
    pub records_duplicated: u64,
    /// Behind a later record of the same producer and partition.
    pub records_reordered: u64,
}

/// What became of every record, against the logs themselves.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LedgerSummary {
    /// Over all producers.
    pub all: Fates,
    /// By producer.
    pub producers: BTreeMap<String, Fates>,
    /// Logs that can be seen whole and hold what the ledger says.
    pub logs_agreeing: u32,
    /// What a log holds instead, if one does not.
    pub difference: Option<String>,
}

/// Records by what became of them: each is in exactly one class, apart from copies and order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fates {
    /// Acknowledged, and in a log.
    pub records_acked_present: u64,
    /// Acknowledged, and in no log.
    pub records_lost_acknowledged: u64,
    /// Acknowledged with `acks=0`, and not seen in a log yet.
    pub records_unconfirmed: u64,
    /// Failed, and in no log.
    pub records_failed_absent: u64,
    /// Failed, and in a log all the same.
    pub records_failed_present: u64,
    /// Gone with their process, and in no log.
    pub records_abandoned_absent: u64,
    /// Gone with their process, and in a log all the same.
    pub records_abandoned_present: u64,
    /// Refused by `send()` and given up.
    pub records_refused: u64,
    /// Not done when the run ended.
    pub records_under_way: u64,
    /// In a log more than once, the first time not counted.
    pub records_duplicated: u64,
    /// The same by cause, as far as there are any.
    pub duplicated: BTreeMap<String, u64>,
    /// Behind a later record of the same producer and partition.
    pub records_reordered: u64,
}

/// One producer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProducerSummary {
    /// Its client's metrics by name, and the `true-` and `kdrill-` figures that were sampled.
    pub metrics: BTreeMap<String, MetricSummary>,
    /// Records that brought the application an exception, by class.
    pub errors: BTreeMap<String, u64>,
    /// Latencies of its batches by stage, in ms.
    pub latency_ms: BTreeMap<String, Latencies>,
}

/// One metric; `None` where it had no value, or was not sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MetricSummary {
    /// At the end.
    pub last: Measured,
    /// Over all samples.
    pub min: Measured,
    /// Over all samples.
    pub mean: Measured,
    /// Over all samples.
    pub max: Measured,
}

/// A figure that may not exist. Rounded to six decimals, never NaN or infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Measured(Option<f64>);

impl Measured {
    /// `value`, rounded; nothing where it is not a finite number.
    pub fn new(value: Option<f64>) -> Self {
        Self(value.filter(|value| value.is_finite()).map(rounded))
    }

    /// The figure.
    pub const fn get(self) -> Option<f64> {
        self.0
    }
}

/// Latencies of one stage, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latencies {
    /// Batches.
    pub batches: u64,
    /// Half of them took at most this long.
    pub p50: f64,
    /// 95 of 100 took at most this long.
    pub p95: f64,
    /// 99 of 100 took at most this long.
    pub p99: f64,
    /// The slowest.
    pub max: f64,
}

/// One partition at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartitionSummary {
    /// Kafka's node id of its leader.
    pub leader: Option<u32>,
    /// Node ids of its in-sync replicas.
    pub isr: Vec<u32>,
    /// First offset kept.
    pub log_start_offset: u64,
    /// Next offset to be written.
    pub log_end_offset: u64,
    /// First offset that consumers may not read.
    pub high_watermark: u64,
    /// First offset of an open transaction, or the high watermark.
    pub last_stable_offset: u64,
    /// Records appended.
    pub records_in: u64,
    /// Bytes appended.
    pub bytes_in: u64,
    /// Bytes in batches for it that no broker has acknowledged.
    pub queued_bytes: u64,
    /// Its share of the topic's records.
    pub share: Measured,
}

/// One topic at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TopicSummary {
    /// How many partitions it has.
    pub partitions: u64,
    /// Records appended to all of them.
    pub records_in: u64,
    /// Bytes appended to all of them.
    pub bytes_in: u64,
    /// Records of the fullest partition over the mean.
    pub max_over_mean: Measured,
    /// Standard deviation of the partitions' records, over their mean.
    pub cv: Measured,
    /// Keys that were sent most often, the hottest first.
    pub hottest_keys: Vec<HotKey>,
    /// The partition with more than twice the mean, and why.
    pub skew: Option<SkewSummary>,
}

/// A key that was sent often.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HotKey {
    /// The key, harmless to show.
    pub key: String,
    /// The number of its partition; none where its records go to several.
    pub partition: Option<u32>,
    /// Records with it.
    pub records: u64,
    /// Their share of the topic's records with keys.
    pub share: f64,
}

/// Why a topic is skewed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SkewSummary {
    /// The fullest partition, as `TOPIC-N`.
    pub partition: String,
    /// Where keys decide, `hot-key`, `few-keys`, `null-key`, `named-partition` or `hashing`; else
    /// `rack`, `slow-broker`, `slow-link`, `slow-others` or `chance`.
    pub cause: &'static str,
    /// The cause in words.
    pub text: String,
}

/// One consumer group at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConsumerSummary {
    /// The group's state at its coordinator, as Kafka's tools write it.
    pub state: &'static str,
    /// How often it has rebalanced.
    pub generation: i32,
    /// Its members.
    pub members: u32,
    /// Members that read nothing.
    pub idle_members: u32,
    /// Records that its applications were given.
    pub records_consumed: u64,
    /// Records between the committed offset and what may be read, by `TOPIC-N`.
    pub lag: BTreeMap<String, u64>,
    /// What it read behind a later record of the same key, in topics whose records are remembered
    /// one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<OutOfOrder>,
}

/// What a group read behind a later record of the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OutOfOrder {
    /// Records.
    pub records: u64,
    /// Different keys among them.
    pub keys: u64,
}

/// One transactional id at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransactionSummary {
    /// The coordinator's state.
    pub state: String,
    /// Its producer id.
    pub producer_id: i64,
    /// Its epoch.
    pub epoch: i16,
}

/// One expectation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expected {
    /// Its name.
    pub name: String,
    /// Whether it held; `None` where the run ended before that could be said.
    pub held: Option<bool>,
    /// What was seen, in words.
    pub observed: String,
}

impl Expected {
    /// One word for people.
    pub const fn word(&self) -> &'static str {
        match self.held {
            Some(true) => Outcome::Held.word(),
            Some(false) => Outcome::Failed.word(),
            None => Outcome::Inconclusive.word(),
        }
    }
}

/// One warning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Warned {
    /// The diagnosis.
    pub name: String,
    /// Its latest sentence.
    pub text: String,
    /// When it was first made.
    pub first_seconds: f64,
    /// When it last held.
    pub last_seconds: f64,
}

/// One moment worth a mark.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Happening {
    /// When.
    pub seconds: f64,
    /// The kind of fact.
    pub kind: String,
    /// What happened, in a sentence.
    pub text: String,
    /// How often it happened in a row.
    pub count: u64,
    /// When it happened the last time in that row.
    pub last_seconds: f64,
}

/// One bucket of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesRow {
    /// The figure's path.
    pub path: String,
    /// Its name and labels for Prometheus.
    pub exposed: Exposed,
    /// Moment of the bucket's first sample.
    pub from_seconds: f64,
    /// Moment of the next bucket's first sample.
    pub to_seconds: f64,
    /// Moment of the bucket's last sample.
    pub last_seconds: f64,
    /// Its samples.
    pub values: MetricSummary,
}

/// `value` to six decimals.
pub(super) fn rounded(value: f64) -> f64 {
    const SCALE: f64 = 1e6;
    // Beyond this, a double has no six decimals anyway, and scaling could overflow.
    if 1e9 < value.abs() {
        value
    } else {
        (value * SCALE).round() / SCALE
    }
}
