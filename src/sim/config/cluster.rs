//! Brokers, what lies between them, and what holds for all of them.

use crate::kafka::settings::BrokerSettings;
use crate::kafka::transaction::TransactionVersion;
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex};
use crate::sim::time::SimSpan;

/// One broker.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerConfig {
    /// Kafka's node id.
    pub id: u32,
    /// `broker.rack`.
    pub rack: Option<String>,
    /// Bytes per second that this broker's disk takes, as leader and as follower together;
    /// `None` is a disk that never holds anything up.
    pub append_rate: Option<u64>,
    /// Time that a request handler spends on one Produce request, before its bytes.
    pub request_time: SimSpan,
    /// Broker configuration by its real names.
    pub settings: BrokerSettings,
}

/// One direction-free link between two machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// One-way latency; at least [`LATENCY_MIN`].
    pub latency: SimSpan,
    /// Upper bound of a uniform extra delay per message.
    pub jitter: SimSpan,
    /// Bytes per second in each direction; `None` is unlimited.
    pub bandwidth: Option<u64>,
    /// Share of messages whose packet is lost once or more, in parts per million. TCP loses
    /// nothing: the stream is late by 200 ms, doubling.
    pub loss_ppm: u32,
}

/// A link that differs from the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkOverride {
    /// One end.
    pub a: Peer,
    /// The other end.
    pub b: Peer,
    /// What holds between them.
    pub link: LinkConfig,
}

/// One end, or all possible ends, of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// One producer.
    Producer(ProducerIndex),
    /// One broker.
    Broker(BrokerIndex),
    /// The controller quorum.
    Controller,
    /// Everybody (`*`).
    Any,
    /// All members of a consumer group.
    Group(GroupIndex),
    /// One member of a consumer group, by its number there, from 1.
    Member(GroupIndex, u16),
}

/// What a broker that does not lead a partition says of who does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovedLeader {
    /// Its name and epoch, as brokers since 3.7 do (KIP-951).
    Named,
    /// Nothing: the client has to ask for metadata.
    Unnamed,
}

/// What holds for transactions in the whole cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionConfig {
    /// `transaction.version`, a finalized feature.
    pub version: TransactionVersion,
    /// The first producer id that the controller gives away.
    pub next_producer_id: i64,
}
