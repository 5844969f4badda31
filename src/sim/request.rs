//! Requests of clients on their way to a broker and back, in one slab that reuses their buffers.
//!
//! A request has two holders: the client, until it is completed or given up, and the world (link,
//! broker), until its response is handed over or lost. It is freed when neither holds it, so a
//! broker may still append what a client has given up.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::settings::CompressionType;
use crate::sim::event::Channel;
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex, TopicIndex};
use crate::sim::metadata::Image;
use crate::sim::time::SimTime;
use crate::sim::transactions::ask::Transact;

/// A request's place in the slab, and how often that place was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId {
    slot: u32,
    uses: u32,
}

/// Which API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiKey {
    /// First on every connection.
    ApiVersions,
    /// Topics and brokers.
    Metadata,
    /// Producer id and epoch, idempotent producers only.
    InitProducerId,
    /// Records.
    Produce,
    /// What only transactional producers ask.
    Transactional,
}

/// One request and, later, its response.
#[derive(Clone, Debug)]
pub struct Request {
    /// On which connection.
    pub channel: Channel,
    /// To whom.
    pub broker: BrokerIndex,
    /// Which API.
    pub api: ApiKey,
    /// Bytes of the request on the wire.
    pub bytes: u32,
    /// Produce: bytes of a response to all its batches.
    pub response_bytes: u32,
    /// When the client handed it to its socket.
    pub sent: SimTime,
    /// When the broker had it whole.
    pub arrived: SimTime,
    /// When the leader's appends were done.
    pub appended: SimTime,
    /// When the broker answered.
    pub answered: SimTime,
    /// Produce: `acks` as on the wire, 0, 1 or -1.
    pub acks: i8,
    /// Produce: how long the broker may wait for replicas, in milliseconds.
    pub timeout_ms: u32,
    /// Produce: one batch a partition.
    pub parts: Vec<Part>,
    /// Metadata: the topics asked for.
    pub topics: Vec<TopicIndex>,
    /// Metadata: what the broker knew.
    pub image: Option<Arc<Image>>,
    /// `InitProducerId`: the id and epoch given.
    pub producer_id: (i64, i16),
    /// Produce with acks=all: batches that still wait for replicas.
    pub waiting: u16,
    /// `throttle_time_ms` of the answer.
    pub throttle_ms: u32,
    /// What a transactional producer asks with it, and is answered.
    pub transaction: Option<Box<Transact>>,
    holders: u8,
    uses: u32,
}

/// One batch of a produce request and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where to.
    pub partition: PartitionIndex,
    /// The client's name for the batch.
    pub batch: u32,
    /// Producer id, -1 without idempotence.
    pub producer_id: i64,
    /// Producer epoch.
    pub epoch: i16,
    /// Sequence of the first record, -1 without idempotence.
    pub base_sequence: i32,
    /// Records.
    pub records: u32,
    /// Bytes with header, as they are sent.
    pub bytes: u32,
    /// The same before compression.
    pub plain_bytes: u32,
    /// The same in the log: the broker may compress anew.
    pub stored_bytes: u32,
    /// How the batch is compressed.
    pub codec: CompressionType,
    /// Ordinal of the first record.
    pub first_ordinal: u64,
    /// The answer: nothing is success.
    pub error: Option<ErrorCode>,
    /// Whom a broker that does not lead names as leader, and since which epoch (KIP-951).
    pub current_leader: Option<(BrokerIndex, u32)>,
    /// Offset of the first record, once appended.
    pub base_offset: Option<u64>,
    /// For acks=all: the high watermark that must be reached.
    pub required_offset: u64,
}

/// All requests under way.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    slots: Vec<Request>,
    free: Vec<u32>,
}

impl Requests {
    /// A fresh request with two holders and empty lists.
    pub fn open(
        &mut self,
        channel: Channel,
        broker: BrokerIndex,
        api: ApiKey,
        now: SimTime,
    ) -> RequestId {
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        let request = &mut self.slots[slot as usize];
        request.parts.clear();
        request.topics.clear();
        (request.image, request.transaction) = (None, None);
        (request.channel, request.broker, request.api) = (channel, broker, api);
        (request.sent, request.waiting, request.holders) = (now, 0, 2);
        let not_yet = SimTime::ZERO;
        (request.arrived, request.appended, request.answered) = (not_yet, not_yet, not_yet);
        request.throttle_ms = 0;
        request.uses += 1;
        RequestId {
            slot,
            uses: request.uses,
        }
    }

    /// The request.
    #[inline]
    pub fn get(&self, id: RequestId) -> &Request {
        &self.slots[id.slot as usize]
    }

    /// The request, to write its answer or its size.
    #[inline]
    pub fn get_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slots[id.slot as usize]
    }

    /// Whether somebody still holds this very request.
    pub fn is_live(&self, id: RequestId) -> bool {
        let request = self.get(id);
        request.uses == id.uses && request.holders > 0
    }

    /// One holder lets go.
    pub fn release(&mut self, id: RequestId) {
        let request = self.get_mut(id);
        assert!(
            request.uses == id.uses,
            "a request was released after it was freed"
        );
        assert!(
            request.holders > 0,
            "a request was released more often than it was held"
        );
        request.holders -= 1;
        if request.holders == 0 {
            self.free.push(id.slot);
        }
    }

    /// Requests that somebody holds: a leak shows here.
    #[cfg(test)]
    pub fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn grow(&mut self) -> u32 {
        let nobody = Channel {
            producer: ProducerIndex(0),
            slot: 0,
            generation: 0,
        };
        self.slots.push(Request {
            channel: nobody,
            broker: BrokerIndex(0),
            api: ApiKey::Produce,
            bytes: 0,
            response_bytes: 0,
            sent: SimTime::ZERO,
            arrived: SimTime::ZERO,
            appended: SimTime::ZERO,
            answered: SimTime::ZERO,
            acks: 0,
            timeout_ms: 0,
            parts: Vec::new(),
            topics: Vec::new(),
            image: None,
            producer_id: (-1, -1),
            waiting: 0,
            throttle_ms: 0,
            transaction: None,
            holders: 0,
            uses: 0,
        });
        self.slots.len() as u32 - 1
    }
}
