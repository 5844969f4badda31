//! librdkafka's producer: everything between `rd_kafka_produce()` and the wire, and back to
//! `rd_kafka_poll()`.
//!
//! [`Rdkafka`] holds the parts. `produce` has the application's side, `partitioning` the choice of
//! a partition, `serve` the threads (one for each broker, and the main one), `build` what goes into
//! a batch, `responses` and `retry` what comes back, `expiry` every timeout, `connect` connections
//! and their backoff, `metadata` what is asked for and learned, `idempotence` producer ids,
//! `transaction` transactions, `reports` the queue that `poll()` serves, `end` how it all ends.
//!
//! Simplifications, and why they are safe:
//! - Threads cost no time: each acts at the moment when something changed, or when its sleep of
//!   whole milliseconds is over.
//! - A broker of `bootstrap.servers` and the same broker from metadata share one connection, as in
//!   the client, which recognises the address.
//! - A message that came back and is sent again together with others makes one batch on the wire
//!   and several stretches in the log.

mod batch;
mod build;
mod connect;
mod end;
mod expiry;
mod figures;
mod idempotence;
mod library;
mod metadata;
mod partitioning;
mod plain;
mod produce;
mod reports;
mod responses;
mod retry;
mod serve;
mod statistics;
mod toppar;
mod transaction;
mod view;

use std::sync::Arc;

use crate::kafka::compression::{Codec, Writer};
use crate::kafka::rdkafka_error::RdkafkaError;
use crate::kafka::settings::RdkafkaProducerSettings;
use crate::sim::config::Config;
use crate::sim::exception::Remedy;
use crate::sim::fact::Exception;
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex, TopicIndex};
use crate::sim::producer::append::Route;
use crate::sim::producer::client::{Closing, Counts};
use crate::sim::producer::compressor::Compressor;
use crate::sim::producer::connections::Connections;
use crate::sim::queue::Rank;
use crate::sim::rng::{Purpose, Stream};
use crate::sim::time::{SimSpan, SimTime};

use batch::Batches;
use idempotence::ProducerIds;
use metadata::Metadata;
use partitioning::Topic;
use reports::Reports;
use serve::BrokerThread;
use statistics::Statistics;
use toppar::Toppar;
use transaction::Transactions;

/// How often the main thread looks at topics, and every thread for what is too old.
const SCAN_INTERVAL: SimSpan = SimSpan::from_seconds(1);

/// A librdkafka producer, from `rd_kafka_new()` to its end.
#[derive(Clone, Debug)]
pub struct Rdkafka {
    me: ProducerIndex,
    rank: Rank,
    /// `client.id`.
    pub client_id: Arc<str>,
    settings: RdkafkaProducerSettings,
    /// Partitions of known topics.
    toppars: Vec<Toppar>,
    /// By topic.
    topics: Vec<Topic>,
    batches: Batches,
    compressor: Compressor,
    /// By broker.
    threads: Vec<BrokerThread>,
    connections: Connections,
    metadata: Metadata,
    producer_ids: ProducerIds,
    /// Of a client with `transactional.id`.
    transactions: Option<Box<Transactions>>,
    queue: QueueCount,
    reports: Reports,
    statistics: Statistics,
    draws: Draws,
    closing: Closing,
    /// Calls of `flush()` under way.
    flushes: u32,
    /// The error after which nothing is sent.
    fatal: Option<Arc<Exception>>,
    /// When it was made.
    start: SimTime,
    /// When one of its threads next does something.
    wakes_at: SimTime,
    woken: Vec<Woken>,
    counts: Counts,
    /// By partition: the number of this client's first message, after those of earlier clients.
    first_ordinals: Vec<u64>,
}

/// The two counters of the queue: what is queued, in flight, or reported and not yet served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct QueueCount {
    /// `msg_cnt`.
    messages: u64,
    /// `msg_size`: bytes of values alone.
    value_bytes: u64,
}

/// The client's random decisions.
#[derive(Clone, Debug)]
struct Draws {
    partition: Stream,
    retry_backoff: Stream,
    reconnect: Stream,
    broker: Stream,
}

/// News for application threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Woken {
    /// Messages gave up their places in a way that wakes who waits for room.
    Room,
    /// The application heard of messages, or all of them are done.
    Completed,
    /// It is known what became of the transactional call that waits.
    Transaction,
    /// The application heard of messages that failed.
    Failed {
        topic: TopicIndex,
        route: Route,
        records: u32,
        payload: u32,
        value: u32,
        /// Partition and number of the first, where they had a partition.
        first: Option<(PartitionIndex, u64)>,
    },
}

impl Rdkafka {
    /// A client that was just made, in its `incarnation`th process.
    pub fn new(
        config: &Config,
        me: ProducerIndex,
        settings: &RdkafkaProducerSettings,
        (incarnation, now): (u16, SimTime),
    ) -> Self {
        let (brokers, topics) = (config.brokers.len(), config.topics.len());
        let rank = Rank::producer(config, me);
        let codec = Codec {
            compression: settings.compression,
            writer: Writer::Librdkafka,
        };
        let stream = |purpose| Stream::new(config.seed, purpose, u32::from(me.0), incarnation);
        Self {
            me,
            rank,
            client_id: settings.client_id.as_str().into(),
            toppars: Vec::new(),
            topics: vec![Topic::default(); topics],
            batches: Batches::default(),
            compressor: Compressor::new(config, me, codec),
            threads: vec![BrokerThread::new(now, settings); brokers],
            connections: Connections::new((me, rank), brokers),
            metadata: Metadata::new(now),
            producer_ids: ProducerIds::new(settings, now),
            transactions: Transactions::new(settings),
            queue: QueueCount::default(),
            reports: Reports::default(),
            statistics: Statistics::new((brokers, topics), settings.statistics_interval_ms, now),
            draws: Draws {
                partition: stream(Purpose::Sticky),
                retry_backoff: stream(Purpose::RetryBackoff),
                reconnect: stream(Purpose::Reconnect),
                broker: stream(Purpose::LeastLoadedNode),
            },
            closing: Closing::No,
            flushes: 0,
            fatal: None,
            start: now,
            wakes_at: now,
            woken: Vec::new(),
            counts: Counts::default(),
            first_ordinals: Vec::new(),
            settings: settings.clone(),
        }
    }

    /// Goes on where an earlier client of the same producer ended: connections and numbers are told
    /// apart from its own.
    pub fn follow(&mut self, earlier: &Self) {
        self.connections.go_on_counting_from(&earlier.connections);
        self.first_ordinals.clone_from(&earlier.first_ordinals);
        for toppar in &earlier.toppars {
            let place = toppar.partition.index();
            if self.first_ordinals.len() <= place {
                self.first_ordinals.resize(place + 1, 0);
            }
            self.first_ordinals[place] = toppar.next_ordinal;
        }
    }

    /// One of its threads does something by then.
    fn wake_by(&mut self, at: SimTime) {
        self.wakes_at = self.wakes_at.min(at);
    }

    /// A broker's thread looks again at once.
    fn wake_thread(&mut self, broker: BrokerIndex, now: SimTime) {
        self.threads[broker.index()].wakes_at = now;
        self.wake_by(now);
    }

    fn wake_all_threads(&mut self, now: SimTime) {
        for thread in &mut self.threads {
            thread.wakes_at = now;
        }
        self.wake_by(now);
    }

    /// How long a message waits for others: hardly at all while everything is flushed.
    fn linger(&self) -> SimSpan {
        let is_flushing = self.flushes > 0 || self.closing != Closing::No;
        let micros = if is_flushing {
            self.settings.linger_us.min(1)
        } else {
            self.settings.linger_us
        };
        SimSpan::from_micros(micros)
    }
}

/// An error with its text, to hand to the application.
fn exception(error: RdkafkaError) -> Arc<Exception> {
    exception_with(error, error.text())
}

fn exception_with(error: RdkafkaError, text: impl Into<String>) -> Arc<Exception> {
    exception_for(error, text, Remedy::None)
}

fn exception_for(error: RdkafkaError, text: impl Into<String>, remedy: Remedy) -> Arc<Exception> {
    Arc::new(Exception {
        class: error.into(),
        text: text.into(),
        remedy,
    })
}
