//! A read-only look at the engine, as plain values for screens, series and reports.
//!
//! Looking never changes anything: every method of [`View`] takes `&self` and computes what a real
//! client or broker would show at this moment.

use crate::sim::fact::{BlockedOn, BrokerState, LinkState, Node};
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex, TopicIndex, TopicPartition};
use crate::sim::time::{SimSpan, SimTime};

/// A producer's application and client.
#[derive(Clone, Debug, PartialEq)]
pub struct ProducerView {
    /// Which.
    pub index: ProducerIndex,
    /// Whether its process and client run.
    pub state: ProcessState,
    /// Accumulator and buffer pool.
    pub buffer: BufferView,
    /// Application threads, loads first, the script's last.
    pub threads: Vec<ThreadView>,
    /// Connections that exist, bootstrap first.
    pub connections: Vec<ConnectionView>,
    /// Producer id and epoch, once assigned.
    pub producer_id: Option<(i64, i16)>,
    /// Topics that the client has metadata for.
    pub topics_known: u32,
    /// Records per second that the application tries now, throttle included.
    pub rate_asked: f64,
    /// Counts since the start of the run.
    pub totals: ProducerTotals,
}

/// Whether an application process and its client run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// `start` is still to come.
    NotStarted,
    /// Runs.
    Running,
    /// Stopped by a command.
    Paused,
    /// The client is closed, the process goes on.
    Closed,
    /// Gone.
    Exited,
}

/// `buffer.memory` and what it holds. Every batch counts with the whole size it was allocated with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferView {
    /// `buffer.memory`.
    pub total_bytes: u64,
    /// `buffer-available-bytes`.
    pub available_bytes: u64,
    /// Batches that still take records.
    pub open_bytes: u64,
    /// Batches waiting to be drained, never sent yet.
    pub ready_bytes: u64,
    /// Batches on the wire or at the broker.
    pub in_flight_bytes: u64,
    /// Batches waiting to be sent again.
    pub retrying_bytes: u64,
    /// Bytes that batches really hold: what doing the sum by bytes would see.
    pub written_bytes: u64,
    /// Batches of all kinds.
    pub batches: u32,
    /// Records in them.
    pub records: u64,
    /// Threads in `BufferPool.allocate`.
    pub waiting_threads: u32,
    /// Age of the oldest batch.
    pub oldest_batch_age: Option<SimSpan>,
}

/// One application thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadView {
    /// What it does now.
    pub state: ThreadState,
    /// Records of an open load that arrived and wait outside.
    pub outside: u64,
    /// Records in its spill queue.
    pub spilled: u64,
}

/// What an application thread does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// Its own work between calls.
    Working,
    /// Waits, since this moment.
    Blocked {
        /// For what.
        on: BlockedOn,
        /// Since when.
        since: SimTime,
    },
    /// Waits out a pause after a refusal, until this moment.
    Pausing {
        /// End of the pause.
        until: SimTime,
    },
    /// Has nothing more to do.
    Done,
}

/// One connection of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionView {
    /// To whom.
    pub node: Node,
    /// How far it is.
    pub state: ConnectionState,
    /// Requests without response.
    pub in_flight: u32,
    /// The link below it.
    pub link: LinkState,
}

/// A connection's state, by `ConnectionState` of Kafka's `NetworkClient`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    /// TCP handshake.
    Connecting,
    /// ApiVersions under way.
    CheckingApiVersions,
    /// Usable.
    Ready,
    /// Waits out `reconnect.backoff.ms`.
    Disconnected,
}

/// Counts since the start of the run, over all clients of one producer. They are the engine's own
/// (`kdrill-`), beside the client's metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProducerTotals {
    /// Records that the accumulator took.
    pub records_sent: u64,
    /// Records acknowledged.
    pub records_acked: u64,
    /// Records whose callback brought an error.
    pub records_failed: u64,
    /// Records that `send()` refused (each refusal counts, also of a record tried again).
    pub records_refused: u64,
    /// Records that went away with their process.
    pub records_abandoned: u64,
    /// Time that its threads spent in `BufferPool.allocate`, unfinished waits included, over all
    /// threads: the truth behind `bufferpool-wait-time-ns-total`.
    pub true_wait: SimSpan,
    /// Bytes of Produce requests to brokers of another rack, each attempt counted; 0 while the
    /// producer or the broker has none.
    pub cross_rack_bytes: u64,
}

/// One broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerView {
    /// Which.
    pub index: BrokerIndex,
    /// Process and registration.
    pub state: BrokerState,
    /// Partitions that it leads.
    pub leaders: u32,
    /// Requests that arrived and are not answered, those in purgatory included.
    pub requests: u32,
    /// How far the disk is behind.
    pub disk_backlog: SimSpan,
    /// Bytes appended so far, as leader and as follower.
    pub bytes_appended: u64,
    /// Produce requests answered so far.
    pub produce_requests: u64,
}

/// One partition.
#[derive(Clone, Debug, PartialEq)]
pub struct PartitionView {
    /// Which.
    pub index: PartitionIndex,
    /// Its topic.
    pub topic: TopicIndex,
    /// Its number in the topic.
    pub number: u32,
    /// Its leader.
    pub leader: Option<BrokerIndex>,
    /// `leader epoch`.
    pub leader_epoch: u32,
    /// In-sync replicas.
    pub isr: Vec<BrokerIndex>,
    /// All replicas, in assignment order.
    pub replicas: Vec<BrokerIndex>,
    /// First offset kept.
    pub log_start_offset: u64,
    /// Next offset to be written (LEO of the leader).
    pub log_end_offset: u64,
    /// First offset that consumers may not read yet.
    pub high_watermark: u64,
    /// First offset of an open transaction, or the high watermark.
    pub last_stable_offset: u64,
    /// Records appended so far.
    pub records_in: u64,
    /// Records in the log now.
    pub records_kept: u64,
    /// Bytes appended so far.
    pub bytes_in: u64,
    /// Batches for it in all accumulators, in flight included.
    pub queued_batches: u32,
    /// Bytes in those batches.
    pub queued_bytes: u64,
}

impl PartitionView {
    /// Its name.
    pub const fn name(&self) -> TopicPartition {
        self.index.name()
    }
}

/// How often a key was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCount {
    /// The serialized key.
    pub key: Vec<u8>,
    /// The number of the partition that it goes to; none where its records go to several.
    pub partition: Option<u32>,
    /// Records so far.
    pub records: u64,
}
