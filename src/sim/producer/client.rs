//! The client of one producer process: everything between `send()` and the wire.
//!
//! [`Client`] holds the parts; `append` has the application's side of `send()`, `sender` the loop
//! of the sender thread, `responses` what comes back, `network` connections and their timeouts.
//! What concerns waiting application threads is left in `woken` for them.

use std::sync::Arc;

use crate::kafka::compression::{Codec, Writer};
use crate::kafka::settings::JavaProducerSettings;
use crate::sim::config::Config;
use crate::sim::fact::{Exception, Remedy};
use crate::sim::ids::{PartitionIndex, ProducerIndex, TopicIndex};
use crate::sim::producer::accumulator::{Accumulator, Queue, Urgency};
use crate::sim::producer::batch::{BatchId, Origin};
use crate::sim::producer::buffer_pool::{BufferPool, Waiter};
use crate::sim::producer::choice::ClassPartitioner;
use crate::sim::producer::compressor::Compressor;
use crate::sim::producer::connections::Connections;
use crate::sim::producer::idempotence::Idempotence;
use crate::sim::producer::metadata::ClientMetadata;
use crate::sim::producer::metrics::ClientMetrics;
use crate::sim::producer::partitioner::Sticky;
use crate::sim::producer::sleep::Sleep;
use crate::sim::producer::transaction::TransactionManager;
use crate::sim::queue::Rank;
use crate::sim::rng::{Purpose, Stream};
use crate::sim::time::SimTime;

/// A Java client, from construction to `close()` or the end of its process.
#[derive(Clone, Debug)]
#[expect(clippy::struct_field_names, reason = "`client.id` is Kafka's own name")]
pub struct Client {
    pub(super) me: ProducerIndex,
    pub(super) rank: Rank,
    pub(super) client_id: Arc<str>,
    pub(super) settings: Arc<JavaProducerSettings>,
    pub(super) accumulator: Accumulator,
    pub(super) pool: BufferPool,
    pub(super) connections: Connections,
    pub(super) metadata: ClientMetadata,
    pub(super) idempotence: Idempotence,
    /// Of a transactional client.
    pub(super) transaction: Option<Box<TransactionManager>>,
    pub(super) metrics: ClientMetrics,
    /// By topic.
    pub(super) sticky: Vec<Option<Sticky>>,
    /// By topic, of clients with a class: their own or, before 3.3, the default one.
    pub(super) class_partitioners: Vec<Option<ClassPartitioner>>,
    /// By broker: the queues of the partitions that it leads, in partition order.
    pub(super) led_by: Vec<Led>,
    /// Flushes under way, and whether the client closes.
    pub(super) flushes: u32,
    pub(super) closing: Closing,
    /// Until when the sender sleeps.
    pub(super) sleep: Sleep,
    /// No batch expires before this moment of the client's clock.
    pub(super) expiry_not_before_ms: u64,
    /// No connection, and no request, times out before this moment of the client's clock.
    pub(super) timeout_not_before_ms: u64,
    /// When a new batch last woke the sender for a look that would have found nothing.
    pub(super) look_spared_at: SimTime,
    /// What the sender's last look left behind.
    pub(super) left: Left,
    pub(super) draws: Draws,
    /// What ended the client for good, if anything did.
    pub(super) fatal: Option<Arc<Exception>>,
    pub(super) woken: Vec<Woken>,
    pub(super) counts: Counts,
    /// By partition: the ordinal of this client's first record, after those of earlier clients.
    pub(super) first_ordinals: Vec<u64>,
    /// Reused while draining.
    pub(super) drained: Vec<BatchId>,
    pub(super) topics_drained: Vec<(TopicIndex, (u32, u32))>,
}

/// Whether the sender's last look left anything that it could not send though it was time, or that
/// a response may set free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing: what waits waits for its linger.
    Nothing,
    /// Something, or it is not known.
    Something,
}

/// What one broker leads, as the client knows it.
#[derive(Clone, Debug, Default)]
pub struct Led {
    /// Places of queues.
    pub queues: Vec<u32>,
    /// Where the next drain starts.
    pub cursor: usize,
}

/// Whether `close()` was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// No.
    No,
    /// Yes: everything is sent at once, and the client ends when nothing is left.
    Gracefully,
    /// Nothing is left.
    Done,
}

/// The client's random decisions.
#[derive(Clone, Debug)]
pub struct Draws {
    pub(super) retry_backoff: Stream,
    pub(super) reconnect: Stream,
    pub(super) least_loaded_node: Stream,
}

/// News for application threads.
#[derive(Clone, Debug, PartialEq)]
pub enum Woken {
    /// A thread has its memory.
    Memory(Waiter),
    /// Metadata changed.
    Metadata,
    /// A batch was completed.
    Completed,
    /// It is known what became of the transactional call that waits.
    Transaction,
    /// A batch failed: its records' callbacks brought this.
    Failed {
        /// Their queue.
        queue: u32,
        /// How many.
        records: u32,
        /// Payload of the largest of them, in bytes.
        payload: u32,
        /// Ordinal of the first.
        first_ordinal: u64,
    },
}

/// Counts that the client itself does not have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Records appended.
    pub sent: u64,
    /// Records acknowledged.
    pub acked: u64,
    /// Records failed by their batch.
    pub failed: u64,
    /// Bytes of Produce requests to brokers that stand in another rack.
    pub cross_rack_bytes: u64,
}

impl Client {
    /// A client that was just constructed, in its `incarnation`th process.
    pub fn new(
        config: &Config,
        me: ProducerIndex,
        settings: Arc<JavaProducerSettings>,
        incarnation: u16,
    ) -> Self {
        let (seed, brokers) = (config.seed, config.brokers.len());
        let major = u32::from(me.0);
        let stream = |purpose| Stream::new(seed, purpose, major, incarnation);
        let client_id = settings
            .client_id
            .as_deref()
            .unwrap_or(crate::sim::config::FIRST_CLIENT_ID)
            .to_owned();
        let codec = Codec {
            compression: settings.compression,
            writer: Writer::Java,
        };
        Self {
            me,
            rank: Rank::producer(config, me),
            client_id: client_id.into(),
            accumulator: Accumulator::new(Compressor::new(config, me, codec)),
            pool: BufferPool::new(settings.buffer_memory, settings.batch_size),
            connections: Connections::new((me, Rank::producer(config, me)), brokers),
            metadata: ClientMetadata::new(config.topics.len()),
            idempotence: Idempotence::new(settings.idempotence),
            transaction: TransactionManager::new(&settings, config.transactions.version),
            metrics: ClientMetrics::new(&settings, config.topics.len(), brokers),
            sticky: vec![None; config.topics.len()],
            class_partitioners: vec![None; config.topics.len()],
            led_by: vec![Led::default(); brokers],
            flushes: 0,
            closing: Closing::No,
            sleep: Sleep::none(SimTime::ZERO),
            expiry_not_before_ms: 0,
            timeout_not_before_ms: 0,
            look_spared_at: SimTime::NEVER,
            left: Left::Something,
            draws: Draws {
                retry_backoff: stream(Purpose::RetryBackoff),
                reconnect: stream(Purpose::Reconnect),
                least_loaded_node: stream(Purpose::LeastLoadedNode),
            },
            fatal: None,
            woken: Vec::new(),
            counts: Counts::default(),
            first_ordinals: Vec::new(),
            drained: Vec::new(),
            topics_drained: Vec::new(),
            settings,
        }
    }

    /// A batch failed for good, or `send()` ended in an exception: what that means to a
    /// transaction.
    pub(super) fn fail_transaction(&mut self, error: &Arc<Exception>) {
        if let Some(mut manager) = self.transaction.take() {
            manager.on_failed(error);
            self.put_back(manager);
        }
    }

    /// Whether linger is overridden.
    pub(super) fn urgency(&self) -> Urgency {
        let is_completing = self.transaction.as_ref().is_some_and(|t| t.is_completing());
        let idle = self.flushes == 0 && self.closing == Closing::No && !is_completing;
        if idle && !self.pool.is_exhausted() {
            Urgency::None
        } else {
            Urgency::SendAll
        }
    }

    /// A topic's partitions are known for the first time, or it has more: queues for them.
    /// An answer of a broker that lags behind never takes partitions away again.
    pub(super) fn learn_partitions(&mut self, topic: TopicIndex, partitions: &[PartitionIndex]) {
        let known = self.metadata.topic(topic).queues.len();
        for &partition in partitions.iter().skip(known) {
            let mut queue = Queue::new(partition);
            queue.next_ordinal = self
                .first_ordinals
                .get(partition.index())
                .copied()
                .unwrap_or(0);
            self.accumulator.add_queue(queue);
            let place = self.accumulator.queues.len() as u32 - 1;
            self.metadata.topic_mut(topic).queues.push(place);
        }
        self.metadata.topic_mut(topic).is_known = true;
    }

    /// Builds the lists of what each broker leads, after leaders changed.
    pub(super) fn sort_by_leader(&mut self) {
        for led in &mut self.led_by {
            led.queues.clear();
        }
        for (place, front) in (0..).zip(self.accumulator.fronts()) {
            let Some(leader) = front.leader else { continue };
            self.led_by[leader.index()].queues.push(place);
        }
        for led in &mut self.led_by {
            led.cursor = if led.queues.is_empty() {
                0
            } else {
                led.cursor % led.queues.len()
            };
        }
    }

    /// Goes on where an earlier client of the same producer ended: connections and ordinals are
    /// told apart from its own.
    pub(super) fn follow(&mut self, earlier: &Self) {
        self.connections.go_on_counting_from(&earlier.connections);
        self.first_ordinals.clone_from(&earlier.first_ordinals);
        let compressor = &mut self.accumulator.compressor;
        compressor.follow(&earlier.accumulator.compressor);
        for queue in &earlier.accumulator.queues {
            let place = queue.partition.index();
            if self.first_ordinals.len() <= place {
                self.first_ordinals.resize(place + 1, 0);
            }
            self.first_ordinals[place] = queue.next_ordinal;
        }
    }

    /// Where it stands: its `client.rack`, or what is known of its machine.
    pub(super) fn rack(&self, config: &Config) -> Option<String> {
        let configured = self.settings.client_rack.clone();
        configured.or_else(|| config.producers[self.me.index()].rack.clone())
    }

    /// Gives a completed batch's memory back and lets waiting threads take it. Parts of a split
    /// batch have none of the pool's.
    pub(super) fn free_memory(&mut self, id: BatchId, now: SimTime) {
        let batch = self.accumulator.batches.get(id);
        if batch.origin == Origin::Split {
            return;
        }
        let size = u64::from(batch.limit);
        self.pool.deallocate(size);
        self.serve_waiters(now);
    }

    /// Threads that wait for batches may look; once is enough for several.
    pub(super) fn say_completed(&mut self) {
        if self.woken.last() != Some(&Woken::Completed) {
            self.woken.push(Woken::Completed);
        }
    }

    /// Lets waiting threads take what memory there is, in order.
    pub(super) fn serve_waiters(&mut self, now: SimTime) {
        while let Some(slept_ns) = self.pool.note_wake_up(now) {
            self.metrics.pool_wait(slept_ns, now.as_millis());
            let Some(waiter) = self.pool.serve() else {
                break;
            };
            self.woken.push(Woken::Memory(waiter));
        }
    }

    /// Batches that hold memory or are on the wire, for the application to wait on.
    pub(super) fn is_incomplete(&self, id: BatchId, serial: u64) -> bool {
        self.accumulator.batches.is_incomplete(id, serial)
    }
}

/// An exception to hand to the application.
pub(super) fn exception(
    class: crate::kafka::exception::ExceptionClass,
    text: impl Into<String>,
) -> Arc<Exception> {
    Arc::new(Exception {
        remedy: Remedy::None,
        class: class.into(),
        text: text.into(),
    })
}
