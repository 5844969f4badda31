//! What the engine is built from: plain, already validated values.
//!
//! No serde, no file, no default: `scenario` lowers a file to these types and vouches for them
//! (names unique, counts within the named limits, leaders among the replicas, times in order).

mod cluster;

use std::sync::Arc;

use crate::kafka::compression::{Codec, Writer};
use crate::kafka::config::{java, rdkafka};
use crate::kafka::quota::Quota;
use crate::kafka::settings::{
    Acks, ConsumerSettings, JavaProducerSettings, RdkafkaProducerSettings, RequiredAcks,
    TopicSettings,
};
use crate::kafka::version::KafkaVersion;
use crate::sim::command::Command;
use crate::sim::ids::{BrokerIndex, GroupIndex, TopicIndex, TopicPartition};
use crate::sim::payload::KnownCurve;
use crate::sim::time::{SimSpan, SimTime};

pub use cluster::{BrokerConfig, LinkConfig, LinkOverride, MovedLeader, Peer, TransactionConfig};

/// Brokers in one cluster at most.
pub const BROKERS_MAX: usize = 100;
/// Producers in one run at most, after `count` is expanded.
pub const PRODUCERS_MAX: usize = 1_000;
/// Consumers in one run at most, over all members of all groups.
pub const CONSUMERS_MAX: usize = 1_000;
/// Topics in one run at most.
pub const TOPICS_MAX: usize = 1_000;
/// Partitions over all topics at most.
pub const PARTITIONS_MAX: u32 = 20_000;
/// Application threads of one producer at most, over all its loads.
pub const THREADS_MAX: u32 = 256;
/// Distinct keys of one load at most.
pub const KEYS_MAX: u32 = 1_000_000;
/// Records per second of one load at most, also what `rate = "max"` tries.
pub const RATE_MAX: u64 = 10_000_000;
/// The longest run that can be asked for.
pub const DURATION_MAX: SimSpan = SimSpan::from_seconds(30 * 24 * 3600);
/// The shortest one-way latency of a link: what a run-ahead may rely on.
pub const LATENCY_MIN: SimSpan = SimSpan::from_micros(1);

/// One whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Seed of every random stream.
    pub seed: u64,
    /// How long the run lasts.
    pub duration: SimSpan,
    /// Behaviour line of brokers.
    pub kafka: KafkaVersion,
    /// What simulated wall clocks show at time zero, in milliseconds since 1970.
    pub start_epoch_ms: i64,
    /// Every how long sampled figures are taken (`[scenario] sample`, 100 ms by default).
    pub sample: SimSpan,
    /// The cluster's brokers, by [`BrokerIndex`].
    pub brokers: Vec<BrokerConfig>,
    /// Links that differ from their ends' default, later ones winning.
    pub links: Vec<LinkOverride>,
    /// The link between every pair that no override names.
    pub link: LinkConfig,
    /// Topics, by [`TopicIndex`]: those of the cluster and names that only producers use.
    pub topics: Vec<TopicConfig>,
    /// Producers, by [`ProducerIndex`].
    pub producers: Vec<ProducerConfig>,
    /// Consumer groups, by [`GroupIndex`].
    pub groups: Vec<GroupConfig>,
    /// Consumers, by [`crate::sim::ids::ConsumerIndex`]: the members of one group stand together.
    pub consumers: Vec<ConsumerConfig>,
    /// Quotas of clients from the start.
    pub quotas: Vec<Quota>,
    /// Commands with their moments, in time order.
    pub timeline: Vec<(SimTime, Command)>,
    /// What holds for transactions in the whole cluster.
    pub transactions: TransactionConfig,
    /// Brokers that are controllers too, the first of them active at time zero; none where
    /// controllers are machines of their own, which never fail.
    pub controllers: Vec<BrokerIndex>,
    /// Whether brokers that do not lead say who does.
    pub moved_leader: MovedLeader,
}

impl Config {
    /// Whether any producer is transactional.
    pub fn is_transactional(&self) -> bool {
        let mut producers = self.producers.iter();
        producers.any(|producer| producer.client.transactional_id().is_some())
    }

    /// How many partitions a topic has at the start; 0 where the cluster lacks it.
    pub fn partitions_of(&self, topic: TopicIndex) -> u32 {
        let topic = self.topics.get(topic.index());
        topic
            .and_then(|topic| topic.existing.as_ref())
            .map_or(0, |topic| topic.replicas.len() as u32)
    }

    /// How many partitions a topic has at the start or, by the timeline, later on.
    pub fn partitions_planned(&self, topic: TopicIndex) -> u32 {
        let growths = self.timeline.iter().filter_map(|(_, c)| c.growth());
        let of_topic = growths.filter(|(grown, _)| *grown == topic);
        let planned = of_topic.map(|(_, partitions)| partitions).max();
        self.partitions_of(topic).max(planned.unwrap_or(0))
    }
}

/// One topic, or a name that producers use without the topic existing.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicConfig {
    /// Kafka's topic name.
    pub name: String,
    /// `None`: the cluster has no such topic.
    pub existing: Option<ExistingTopic>,
}

/// What an existing topic is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct ExistingTopic {
    /// Replicas of each partition in assignment order; the first is the preferred leader.
    pub replicas: Vec<Vec<BrokerIndex>>,
    /// First offset of each partition's log.
    pub start_offsets: Vec<u64>,
    /// Topic configuration by its real names.
    pub settings: TopicSettings,
    /// How much of a log is kept.
    pub history: HistoryDetail,
}

/// How much of a partition's log the engine remembers (`[[topic]] history`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryDetail {
    /// Every record with its key.
    Records,
    /// Every batch.
    Batches,
    /// Sums only, once every replica holds a batch.
    Sums,
}

/// One producer: a client and the application that uses it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerConfig {
    /// Name in the scenario.
    pub name: String,
    /// The client with its effective configuration.
    pub client: ClientConfig,
    /// The rack that its machine stands in, where that is known: bytes to brokers of other racks
    /// are counted. A client's own `client.rack` comes before it.
    pub rack: Option<String>,
    /// The client's configuration as it was given, key by key: what a change starts from.
    pub given: Vec<(String, String)>,
    /// When the application constructs the producer.
    pub start: SimTime,
    /// Who reads all its metrics, if anybody does.
    pub monitor: Option<Monitor>,
    /// Generated loads, each with its own threads.
    pub loads: Vec<LoadConfig>,
    /// Exact calls of one more application thread, in order; empty when there is none.
    pub script: Vec<ScriptStep>,
    /// Keys whose every record is remembered.
    pub trace: Vec<Vec<u8>>,
    /// How what it sends compresses, by the codecs that the run will use.
    pub curves: Arc<[KnownCurve]>,
}

/// A monitoring agent beside a Java client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// From one look to the next; not zero.
    pub every: SimSpan,
    /// The first look.
    pub from: SimTime,
}

/// One consumer group.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupConfig {
    /// `group.id`.
    pub name: String,
}

/// One consumer: a Java client with its application, one member of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsumerConfig {
    /// Whose member it is.
    pub group: GroupIndex,
    /// Its number in the group, from 1.
    pub number: u16,
    /// Name in the scenario.
    pub name: String,
    /// The client's effective configuration.
    pub settings: ConsumerSettings,
    /// Topics that it subscribes to, in ascending order, each once.
    pub topics: Vec<TopicIndex>,
    /// Millionths of records per second that its application can process; `None` takes no time.
    pub micro_records_per_second: Option<u64>,
    /// When the application constructs the consumer.
    pub start: SimTime,
}

/// `client.id` of a process's first Java producer that has none of its own.
pub const FIRST_CLIENT_ID: &str = "producer-1";

/// Which client library, with its effective configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientConfig {
    /// Apache Kafka's Java client. The many of one `[[producer]]` share it.
    Java(Arc<JavaProducerSettings>),
    /// librdkafka.
    Rdkafka(Box<RdkafkaProducerSettings>),
}

impl ClientConfig {
    /// `client.id`, as the first client of a process has it.
    pub fn client_id(&self) -> &str {
        match self {
            Self::Java(settings) => settings.client_id.as_deref().unwrap_or(FIRST_CLIENT_ID),
            Self::Rdkafka(settings) => &settings.client_id,
        }
    }

    /// The same client with this configuration, if it accepts it.
    pub fn with(&self, given: &[(String, String)]) -> Option<Self> {
        match self {
            Self::Java(settings) => {
                let (settings, _) = java::validate(settings.version, given).ok()?;
                Some(Self::Java(Arc::new(settings)))
            }
            Self::Rdkafka(settings) => {
                let settings = rdkafka::change(settings, given).ok()?;
                Some(Self::Rdkafka(Box::new(settings)))
            }
        }
    }

    /// What it asks brokers to confirm; nothing where they refuse what it asks for.
    pub fn acks(&self) -> Option<Acks> {
        match self {
            Self::Java(settings) => Some(settings.acks),
            Self::Rdkafka(settings) => match settings.acks {
                RequiredAcks::Valid(acks) => Some(acks),
                RequiredAcks::Refused(_) => None,
            },
        }
    }

    /// `transactional.id`, if there is one.
    pub fn transactional_id(&self) -> Option<&str> {
        match self {
            Self::Java(settings) => settings.transactional_id.as_deref(),
            Self::Rdkafka(settings) => settings.transactional_id.as_deref(),
        }
    }

    /// The codec that it compresses batches with.
    pub fn codec(&self) -> Codec {
        match self {
            Self::Java(settings) => Codec {
                compression: settings.compression,
                writer: Writer::Java,
            },
            Self::Rdkafka(settings) => Codec {
                compression: settings.compression,
                writer: Writer::Librdkafka,
            },
        }
    }

    /// The Java client's settings, if it is one.
    pub fn java(&self) -> Option<&JavaProducerSettings> {
        match self {
            Self::Java(settings) => Some(settings),
            Self::Rdkafka(_) => None,
        }
    }

    /// librdkafka's settings, if it is one.
    pub fn rdkafka(&self) -> Option<&RdkafkaProducerSettings> {
        match self {
            Self::Java(_) => None,
            Self::Rdkafka(settings) => Some(settings),
        }
    }
}

/// Generated load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadConfig {
    /// Where records go.
    pub topic: TopicIndex,
    /// The topic whose records are sent once more, instead of new ones.
    pub replay: Option<TopicIndex>,
    /// Records per second over all threads.
    pub rate: Rate,
    /// Whether the application waits for `send()` or the world does.
    pub pacing: Pacing,
    /// How the time between records is spread.
    pub arrival: Arrival,
    /// Application threads; each can block. At least 1.
    pub threads: u32,
    /// Keys; shared by producers that differ in nothing but their name.
    pub keys: Arc<KeyConfig>,
    /// Value sizes.
    pub values: ValueConfig,
    /// What values without content shrink to in compression, in parts per million of their bytes;
    /// nothing is as much as they were. Without effect on a sample, which says so itself.
    pub compresses_to_ppm: Option<u32>,
    /// After which records the application waits for acknowledgement.
    pub await_acks: AwaitAcks,
    /// How the threads serve delivery reports; [`Polling::Never`] for a Java client, which calls
    /// back by itself.
    pub polling: Polling,
    /// What the application does with a record that `send()` refused.
    pub on_refused: OnRefused,
    /// What the application does when a callback brings an error.
    pub on_failed: OnFailed,
    /// Slow down by a metric.
    pub throttle: Option<Throttle>,
    /// Records after which the load ends; `None` goes on to the end of the run.
    pub records_max: Option<u64>,
    /// What the application does when the load ends by `records_max`.
    pub at_end: AtEnd,
    /// When its transactions end, in a transactional producer.
    pub transaction: Option<LoadTransaction>,
}

/// How generated loads run in transactions; all loads of a producer share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadTransaction {
    /// When a transaction is committed.
    pub ends: TransactionEnd,
    /// What the application does when its client is fenced, or broken for good.
    pub on_fenced: OnFenced,
}

/// When a transaction is committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionEnd {
    /// After so many records, at least 1.
    Records(u32),
    /// So long after it began.
    Every(SimSpan),
}

/// What an application does when its client is fenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFenced {
    /// Its process ends.
    Exit,
    /// It makes another client, after this long.
    Rebuild(SimSpan),
}

/// Records per second over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// As fast as `send()` returns; the engine tries [`RATE_MAX`].
    Max,
    /// Steps in time order; before the first, nothing is sent.
    Steps(Vec<RateStep>),
}

/// The rate from a moment on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateStep {
    /// When this step begins.
    pub from: SimTime,
    /// Records per second, at least 0, in millionths so that fractions stay exact.
    pub micro_records_per_second: u64,
    /// Linear change from the previous rate over this time.
    pub ramp: SimSpan,
}

/// Who waits when `send()` blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// A loop that spends 1/rate of its own time per record and then calls `send()`.
    Closed,
    /// Records arrive whatever happens, and wait outside.
    Open,
}

/// How the time between records is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Evenly.
    Constant,
    /// Exponentially, with the same mean.
    Poisson,
}

/// The keys of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyConfig {
    /// Serialized keys; empty means that records have no key.
    pub keys: Vec<Vec<u8>>,
    /// How often each is drawn.
    pub choice: KeyChoice,
    /// The partition that every record names, when the application does so.
    pub explicit_partition: Option<u32>,
}

/// How keys are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyChoice {
    /// Every key equally often, drawn at random.
    Uniform,
    /// In turn: first, second, …, and again. ("keys spread evenly")
    Cycle,
    /// By relative weight, one for each key.
    Weighted(Vec<f64>),
}

/// The value sizes of a load, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueConfig {
    /// A null value (tombstone).
    Null,
    /// Always the same size.
    Fixed(u32),
    /// Uniform between two sizes, both included.
    Uniform(u32, u32),
    /// Real payloads, one after the other and again from the first, whichever thread sends. At
    /// least one.
    Sample(Arc<[Box<[u8]>]>),
}

impl ValueConfig {
    /// The one size of all values, if they have one size and are not null.
    pub fn fixed(&self) -> Option<u32> {
        match self {
            Self::Fixed(bytes) => Some(*bytes),
            _ => None,
        }
    }
}

/// When the application waits for acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitAcks {
    /// Never: callbacks only.
    None,
    /// After every `n` records, until all of them are done (`1` is the `.get()` loop).
    Every(u32),
}

/// How an application serves delivery reports: who calls librdkafka's `rd_kafka_poll()`, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polling {
    /// Each thread after every so many of its own calls of `produce()`, refused ones too; at
    /// least 1.
    Calls(u32),
    /// One more thread, every so often.
    Interval(SimSpan),
    /// Nobody, except within `flush()` and `close()`.
    Never,
}

/// What the application does with a refused record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRefused {
    /// Counted and gone.
    Drop,
    /// The same record again at once, order kept.
    Retry,
    /// Into a counted local queue, sent again in order once a send succeeds.
    Spill,
    /// No call for this long, then the same record again.
    Pause(SimSpan),
    /// A full queue refuses nothing: `produce()` itself waits for room, without limit
    /// (librdkafka's `RD_KAFKA_MSG_F_BLOCK`). Other refusals are counted and gone. Not for Java
    /// clients.
    Block,
}

/// What the application does when a callback brings an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailed {
    /// Counts it.
    Count,
    /// Sends the record again.
    Resend,
    /// Puts the record in the local queue.
    Spill,
}

/// Slow down while a sampled metric is above a bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttle {
    /// The producer metric that is looked at every second.
    pub metric: crate::kafka::metric_name::ProducerMetric,
    /// The bound, in the metric's own unit.
    pub above: f64,
    /// Rate factor while above, in parts per million.
    pub factor_ppm: u32,
}

/// What the application does after its last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// Leaves the producer open.
    Idle,
    /// `flush()`.
    Flush,
    /// `close()`.
    Close,
    /// The process ends with neither: what is buffered is gone.
    Exit,
}

/// One call of the scripted application thread.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptStep {
    /// Not before this moment, nor before the previous call returned.
    pub at: SimTime,
    /// The call.
    pub call: Call,
    /// The line as written, for messages.
    pub text: String,
}

/// Calls of a script, by librdkafka's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// `send()` of one record.
    Produce(ScriptRecord),
    /// Serve delivery reports, waiting this long for the first (librdkafka only).
    Poll(SimSpan),
    /// Wait until everything sent so far is done.
    Flush,
    /// Close within this time (`None`: without limit).
    Close(Option<SimSpan>),
    /// Construct a new producer with the same configuration.
    NewProducer,
    /// The process ends without `flush()` or `close()`.
    Exit,
    /// `initTransactions()`.
    InitTransactions,
    /// `beginTransaction()`.
    BeginTransaction,
    /// `sendOffsetsToTransaction()`: the next offset to read of each partition.
    SendOffsets(GroupIndex, Vec<(TopicPartition, u64)>),
    /// `commitTransaction()`.
    CommitTransaction,
    /// `abortTransaction()`.
    AbortTransaction,
    /// A transactional call with a time of its own (librdkafka only).
    Within(Box<Call>, SimSpan),
}

/// One record of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptRecord {
    /// Where it goes.
    pub topic: TopicIndex,
    /// Serialized key.
    pub key: Option<Vec<u8>>,
    /// Serialized value.
    pub value: Option<Vec<u8>>,
    /// Explicit partition.
    pub partition: Option<u32>,
    /// Whether the call waits for the acknowledgement (`await=true`).
    pub await_ack: AwaitAcks,
}
