//! Replicas: how far each is and from whom it fetches, and which brokers hold one.

use crate::sim::ids::BrokerIndex;
use crate::sim::time::SimTime;

use super::Partition;
use super::lines::LineId;

/// One replica of a partition.
#[derive(Clone, Copy, Debug)]
pub struct Replica {
    /// On which broker.
    pub broker: BrokerIndex,
    /// Its log end offset.
    pub end_offset: u64,
    /// Where it goes on after it left the partition's own log.
    pub(super) line: Option<LineId>,
    /// The high watermark that it knows as a follower.
    pub high_watermark: u64,
    /// The log end offset that the leader knows from its fetches; nothing before the first one.
    pub known_end_offset: Option<u64>,
    /// When it last had everything (`lastCaughtUpTime`).
    pub caught_up: SimTime,
    /// Log end offset of the leader at its previous fetch, and when that was.
    pub previous_fetch: (u64, SimTime),
    /// Whether its fetcher was told that there is something to fetch.
    pub fetch_pending: bool,
    /// From whom it fetches.
    pub source: Source,
}

/// A move of a partition to other brokers.
#[derive(Clone, Debug)]
pub struct Reassignment {
    /// Who shall hold it, in assignment order.
    pub target: Vec<BrokerIndex>,
    /// Who held it before.
    pub original: Vec<BrokerIndex>,
}

/// From whom a replica fetches, under which leader epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It leads, or knows nobody.
    Nobody,
    /// The fetcher's next request brings it in.
    Joining(BrokerIndex, u32),
    /// The leader knows it.
    Fetching(BrokerIndex, u32),
}

impl Source {
    /// Whether it fetches from this leader in this epoch, or is about to.
    pub fn is_of(self, leader: BrokerIndex, epoch: u32) -> bool {
        matches!(self, Self::Joining(from, of) | Self::Fetching(from, of)
            if (from, of) == (leader, epoch))
    }

    /// Whether it fetches from this broker, or is about to.
    pub fn is_from(self, leader: BrokerIndex) -> bool {
        matches!(self, Self::Joining(from, _) | Self::Fetching(from, _) if from == leader)
    }
}

impl Replica {
    /// A replica that holds nothing yet and fetches from nobody.
    pub fn new(broker: BrokerIndex, start_offset: u64) -> Self {
        Self {
            broker,
            end_offset: start_offset,
            line: None,
            high_watermark: start_offset,
            known_end_offset: None,
            caught_up: SimTime::ZERO,
            previous_fetch: (0, SimTime::ZERO),
            fetch_pending: false,
            source: Source::Nobody,
        }
    }
}

impl Partition {
    /// Who holds it by the controller's word, in assignment order; the first is preferred.
    pub fn assignment(&self) -> impl Iterator<Item = BrokerIndex> {
        let replicas = self.replicas.iter().map(|replica| replica.broker);
        replicas.filter(|broker| !self.leaving.contains(broker))
    }

    /// Whether a broker holds a replica only until it hears that it shall not.
    pub fn is_leaving(&self, broker: BrokerIndex) -> bool {
        self.leaving.contains(&broker)
    }

    /// These brokers hold it, in this order; all others leave.
    pub fn arrange(&mut self, assignment: &[BrokerIndex]) {
        let place = |replica: &Replica| {
            let place = assignment.iter().position(|&b| b == replica.broker);
            place.unwrap_or(usize::MAX)
        };
        self.replicas.sort_by_key(place);
        let holders = self.replicas.iter().map(|replica| replica.broker);
        self.leaving = holders.filter(|b| !assignment.contains(b)).collect();
    }

    /// Who comes in by the move under way.
    pub fn adding(&self) -> Vec<BrokerIndex> {
        let Some(moving) = &self.reassignment else {
            return Vec::new();
        };
        let new = moving.target.iter();
        new.filter(|b| !moving.original.contains(b))
            .copied()
            .collect()
    }

    /// Who goes when the move under way is over.
    pub fn removing(&self) -> Vec<BrokerIndex> {
        let Some(moving) = &self.reassignment else {
            return Vec::new();
        };
        let old = moving.original.iter();
        old.filter(|b| !moving.target.contains(b))
            .copied()
            .collect()
    }

    /// A broker deleted its log.
    pub fn delete_replica(&mut self, broker: BrokerIndex) {
        self.replicas.retain(|replica| replica.broker != broker);
        self.leaving.retain(|&other| other != broker);
    }
}
