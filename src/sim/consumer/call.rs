//! Requests of consumers on their way to a broker and back, in one slab.
//!
//! A call belongs to the world: link, broker, coordinator. It is freed when its answer is handed
//! over, or when it is lost with its connection; a consumer keeps only its name and recognises
//! answers that it no longer waits for.

use std::sync::Arc;

use crate::kafka::error::ErrorCode;
use crate::kafka::settings::{Assignor, FetchSettings, OffsetReset, TopicCreation};
use crate::sim::ids::{BrokerIndex, ConsumerIndex, GroupIndex, PartitionIndex, TopicIndex};
use crate::sim::metadata::Image;
use crate::sim::network::Lane;
use crate::sim::time::SimSpan;

/// A call's place in the slab, and how often that place was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallId {
    slot: u32,
    uses: u32,
}

/// One TCP connection of a consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Whose.
    pub consumer: ConsumerIndex,
    /// Broker and lane in one number: events are small.
    slot: u16,
    /// How often this one was made: what belongs to an earlier one is recognised.
    pub generation: u32,
}

impl Wire {
    /// The connection of a consumer to a broker on a lane, made for the `generation`th time.
    pub fn new(
        consumer: ConsumerIndex,
        (broker, lane): (BrokerIndex, Lane),
        generation: u32,
    ) -> Self {
        Self {
            consumer,
            slot: broker.0 * 2 + lane as u16,
            generation,
        }
    }

    /// To whom.
    pub fn broker(self) -> BrokerIndex {
        BrokerIndex(self.slot / 2)
    }

    /// For records and metadata, or for the group's coordinator.
    pub fn lane(self) -> Lane {
        if self.slot.is_multiple_of(2) {
            Lane::Regular
        } else {
            Lane::Bootstrap
        }
    }

    /// Its place among all connections to one broker.
    pub fn place(self) -> usize {
        self.consumer.index() * 2 + self.lane() as usize
    }
}

/// A group's name for one member's life (`member.id`); 0 is none.
pub type MemberId = u32;

/// A member in one generation of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Whose member.
    pub group: GroupIndex,
    /// Which.
    pub member: MemberId,
    /// Which generation.
    pub generation: i32,
}

/// One request and, later, its answer.
#[derive(Clone, Debug)]
pub struct Call {
    /// On which connection.
    pub wire: Wire,
    /// What is asked.
    pub ask: Ask,
    /// What is answered.
    pub answer: Answer,
}

/// What a consumer asks.
#[derive(Clone, Debug)]
pub enum Ask {
    /// TCP SYN.
    Connect,
    /// `ApiVersions`, first on every connection.
    ApiVersions,
    /// `Metadata`.
    Metadata(Vec<TopicIndex>, TopicCreation),
    /// `FindCoordinator`.
    FindCoordinator(GroupIndex),
    /// `JoinGroup`.
    Join(Box<Join>),
    /// `SyncGroup`; the leader's brings what everybody gets.
    Sync(Identity, Vec<(MemberId, Vec<PartitionIndex>)>),
    /// `Heartbeat`.
    Heartbeat(Identity),
    /// `LeaveGroup`.
    Leave(Identity, Leaving),
    /// `OffsetCommit`: the next offset to read of each partition.
    Commit(Identity, Vec<(PartitionIndex, u64)>),
    /// `OffsetFetch`.
    Committed(GroupIndex, Vec<PartitionIndex>),
    /// `ListOffsets`.
    ListOffsets(OffsetReset, Vec<PartitionIndex>),
    /// `Fetch`; the answer is written into its parts.
    Fetch(Fetch),
}

/// Why a member leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// `close()`.
    Closed,
    /// `max.poll.interval.ms` passed.
    PollInterval,
}

/// A `JoinGroup` request.
#[derive(Clone, Debug)]
pub struct Join {
    /// Which group.
    pub group: GroupIndex,
    /// Who, 0 for a new member.
    pub member: MemberId,
    /// Topics that it subscribes to.
    pub topics: Vec<TopicIndex>,
    /// Assignors that it supports, in order of preference.
    pub assignors: Vec<Assignor>,
    /// What it owns.
    pub owned: Vec<PartitionIndex>,
    /// `session.timeout.ms`.
    pub session: SimSpan,
    /// `max.poll.interval.ms`, as the rebalance timeout.
    pub rebalance: SimSpan,
}

/// A `Fetch` request and its answer.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// Its limits.
    pub limits: FetchSettings,
    /// Partitions asked for.
    pub parts: Vec<FetchPart>,
    /// Offsets within the answer that the application is not given: control records, and of
    /// committed readers aborted ones. Stretches in order, partition after partition.
    pub hidden: Vec<(PartitionIndex, u64, u64)>,
}

/// One partition of a fetch.
#[derive(Clone, Copy, Debug)]
pub struct FetchPart {
    /// Which.
    pub partition: PartitionIndex,
    /// First offset wanted.
    pub from: u64,
    /// Offset after the last record in the answer.
    pub to: u64,
    /// Bytes of records in the answer.
    pub bytes: u64,
    /// How long the consumer takes to decompress them.
    pub decompression: SimSpan,
    /// The first offset that this reader may not read yet: the leader's high watermark, or its last
    /// stable offset.
    pub high_watermark: u64,
    /// What went wrong.
    pub error: Option<ErrorCode>,
}

/// What a broker answers.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Not yet, or nothing but that it arrived.
    Nothing,
    /// The connection stands.
    Accepted,
    /// Nobody listens.
    Refused,
    /// Metadata.
    Metadata(Arc<Image>),
    /// Who coordinates the group.
    Coordinator(Option<BrokerIndex>),
    /// `MEMBER_ID_REQUIRED`: join again as this one (KIP-394).
    MemberIdRequired(MemberId),
    /// A generation begins.
    Joined(Box<Joined>),
    /// What this member reads from now on.
    Assigned(Vec<PartitionIndex>),
    /// The next offset to read of each partition, where there is one.
    Offsets(Vec<(PartitionIndex, Result<Option<u64>, ErrorCode>)>),
    /// It failed.
    Error(ErrorCode),
}

/// The answer to `JoinGroup`.
#[derive(Clone, Debug)]
pub struct Joined {
    /// Who.
    pub member: MemberId,
    /// Which generation.
    pub generation: i32,
    /// The assignor that everybody supports and most prefer.
    pub assignor: Assignor,
    /// For the leader: everybody, in order. Nobody for followers.
    pub members: Vec<MemberInfo>,
}

/// What the leader learns of a member.
#[derive(Clone, Debug)]
pub struct MemberInfo {
    /// Who.
    pub member: MemberId,
    /// The consumer's place: members are taken in this order.
    pub consumer: ConsumerIndex,
    /// Topics that it subscribes to.
    pub topics: Vec<TopicIndex>,
    /// What it owned when it joined.
    pub owned: Vec<PartitionIndex>,
}

/// All calls under way.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    slots: Vec<(u32, Option<Call>)>,
    free: Vec<u32>,
}

impl Calls {
    /// A new call.
    pub fn open(&mut self, wire: Wire, ask: Ask) -> CallId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            self.slots.len() as u32 - 1
        });
        let (uses, call) = &mut self.slots[slot as usize];
        *uses += 1;
        *call = Some(Call {
            wire,
            ask,
            answer: Answer::Nothing,
        });
        CallId { slot, uses: *uses }
    }

    /// The call, while it is under way.
    pub fn get(&self, id: CallId) -> Option<&Call> {
        let (uses, call) = &self.slots[id.slot as usize];
        call.as_ref().filter(|_| *uses == id.uses)
    }

    /// The call, to write its answer.
    pub fn get_mut(&mut self, id: CallId) -> Option<&mut Call> {
        let (uses, call) = &mut self.slots[id.slot as usize];
        call.as_mut().filter(|_| *uses == id.uses)
    }

    /// Ends a call: gives it back if it was under way.
    pub fn take(&mut self, id: CallId) -> Option<Call> {
        let (uses, call) = &mut self.slots[id.slot as usize];
        if *uses != id.uses {
            return None;
        }
        let taken = call.take();
        if taken.is_some() {
            self.free.push(id.slot);
        }
        taken
    }

    /// Calls under way: a leak shows here.
    #[cfg(test)]
    pub fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
