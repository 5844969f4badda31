//! A leader that lost its office without knowing it: cut off from the controller, or hanging.
//!
//! It goes on as before: takes records with acks=0 and acks=1, and with acks=all what the in-sync
//! replicas that it knows of confirm, which is nobody but itself once the others follow somebody
//! else. It learns the truth with the metadata, answers `NOT_LEADER_OR_FOLLOWER` to all who wait,
//! and cuts off what its successor does not have.
//!
//! Simplification: consumers that still read from it do not get what it took after its fall.

use crate::sim::history::{Content, LogBatch};
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::request::Part;
use crate::sim::time::SimTime;

use super::memory::{batch_of, remember};
use super::{Partition, ProducerState, Replica, Verdict, Waiting};

/// What such a leader knows.
#[derive(Clone, Debug)]
pub struct StaleLeader {
    /// Who.
    pub broker: BrokerIndex,
    /// The epoch that it thinks it leads in.
    pub epoch: u32,
    /// Its high watermark.
    pub high_watermark: u64,
    /// The in-sync replicas that it knows of.
    pub isr: Vec<BrokerIndex>,
    /// The ISR that it had asked for when it fell, and may have got: it waits for these too.
    pending_isr: Vec<BrokerIndex>,
    /// acks=all requests that wait at it.
    pub purgatory: Vec<Waiting>,
    /// By replica: the end of its log as its fetches said.
    known_ends: Vec<(BrokerIndex, Option<u64>)>,
    producers: Vec<Option<ProducerState>>,
}

impl StaleLeader {
    /// Whether as many replicas are in sync as a write needs.
    pub fn has_enough(&self, min_isr: usize) -> bool {
        self.isr.len() >= min_isr
    }

    /// Whether the high watermark waits for this replica.
    fn awaits(&self, replica: BrokerIndex) -> bool {
        self.isr.contains(&replica) || self.pending_isr.contains(&replica)
    }

    fn know(&mut self, replica: BrokerIndex, end_offset: u64) {
        for (broker, known) in &mut self.known_ends {
            if *broker == replica {
                *known = Some(end_offset);
            }
        }
    }
}

impl Partition {
    /// The leader leaves its office: as a follower it knows its own high watermark.
    pub fn vacate(&mut self) {
        let Some((broker, _)) = self.serving.take() else {
            return;
        };
        let high_watermark = self.high_watermark;
        if let Some(replica) = self.replica_mut(broker) {
            replica.high_watermark = high_watermark;
        }
        self.pending_isr = None;
    }

    /// The leader has a successor and does not know it: it keeps what it knows.
    pub fn depose(&mut self) {
        let Some((broker, epoch)) = self.serving else {
            return;
        };
        let known_end = |replica: &Replica| (replica.broker, replica.known_end_offset);
        let known_ends = self.replicas.iter().map(known_end).collect();
        self.stale.push(StaleLeader {
            broker,
            epoch,
            high_watermark: self.high_watermark,
            isr: self.isr.clone(),
            pending_isr: self.pending_isr.take().unwrap_or_default(),
            purgatory: std::mem::take(&mut self.purgatory),
            known_ends,
            producers: self.producers.clone(),
        });
        self.vacate();
    }

    /// A deposed leader hears of it, or dies.
    pub fn step_down(&mut self, broker: BrokerIndex) -> Option<StaleLeader> {
        let place = self
            .stale
            .iter()
            .position(|leader| leader.broker == broker)?;
        let leader = self.stale.remove(place);
        if let Some(replica) = self.replica_mut(broker) {
            replica.high_watermark = leader.high_watermark.min(replica.end_offset);
        }
        Some(leader)
    }

    /// Whether this broker takes records, rightly or not.
    pub fn leads(&self, broker: BrokerIndex) -> bool {
        self.is_led_by(broker) || self.stale_leader(broker).is_some()
    }

    /// The epoch in which this broker serves as leader, rightly or not.
    pub fn office_of(&self, broker: BrokerIndex) -> Option<u32> {
        match self.serving {
            Some((leader, epoch)) if leader == broker => Some(epoch),
            _ => self.stale_leader(broker).map(|leader| leader.epoch),
        }
    }

    /// This broker as a leader that does not know that it was deposed.
    pub fn stale_leader(&self, broker: BrokerIndex) -> Option<&StaleLeader> {
        self.stale.iter().find(|leader| leader.broker == broker)
    }

    /// How far consumers may read at this broker; nothing if it does not lead.
    pub fn readable_end(&self, broker: BrokerIndex) -> Option<u64> {
        if self.is_led_by(broker) {
            return Some(self.high_watermark);
        }
        let leader = self.stale_leader(broker)?;
        let shared = self.replica(broker).map(|r| self.shared_end(r));
        Some(leader.high_watermark.min(shared.unwrap_or(0)))
    }

    /// The high watermark that this leader, rightly so or not, knows.
    pub fn high_watermark_at(&self, broker: BrokerIndex) -> u64 {
        let stale = self.stale_leader(broker);
        stale.map_or(self.high_watermark, |leader| leader.high_watermark)
    }

    /// The acks=all requests that wait at this leader, rightly so or not.
    pub fn purgatory_at(&mut self, broker: BrokerIndex) -> &mut Vec<Waiting> {
        let stale = self.stale.iter_mut().find(|leader| leader.broker == broker);
        match stale {
            Some(leader) => &mut leader.purgatory,
            None => &mut self.purgatory,
        }
    }

    /// Whether this leader knows of as many in-sync replicas as acks=all needs.
    pub fn has_enough_in_sync(&self, broker: BrokerIndex) -> bool {
        let min_isr = self.effective_min_isr();
        match self.stale_leader(broker) {
            Some(leader) => leader.has_enough(min_isr),
            None => self.isr.len() >= min_isr,
        }
    }

    /// What a deposed leader says to a batch.
    pub fn judge_stale(
        &self,
        broker: BrokerIndex,
        producer: ProducerIndex,
        part: &Part,
    ) -> Option<Verdict> {
        let leader = self.stale_leader(broker)?;
        Some(self.judge_with(&leader.producers, producer, part))
    }

    /// A deposed leader appends a batch; gives the offset of its first record.
    pub fn append_stale(
        &mut self,
        (at, now): (BrokerIndex, SimTime),
        producer: ProducerIndex,
        part: &Part,
    ) -> u64 {
        let epoch = self.stale_leader(at).map_or(0, |leader| leader.epoch);
        let batch = LogBatch {
            leader_epoch: epoch,
            ..batch_of(producer, part, Content::Plain)
        };
        let base_offset = self.append_apart(at, batch);
        let Some(leader) = self.stale.iter_mut().find(|leader| leader.broker == at) else {
            return base_offset;
        };
        if part.base_sequence >= 0 {
            remember(&mut leader.producers, producer, part, (base_offset, now));
        }
        leader.know(at, base_offset + u64::from(part.records));
        self.advance_stale(at);
        base_offset
    }

    /// A replica that has not heard of the fall either fetched from a deposed leader; whether its
    /// high watermark moved.
    pub fn note_stale_fetch(&mut self, leader: BrokerIndex, follower: BrokerIndex) -> bool {
        let end_offset = self.replica_end(follower);
        if let Some(stale) = self.stale.iter_mut().find(|stale| stale.broker == leader) {
            stale.know(follower, end_offset);
        }
        self.advance_stale(leader)
    }

    fn advance_stale(&mut self, broker: BrokerIndex) -> bool {
        let min_isr = self.effective_min_isr();
        let Some(leader) = self.stale.iter_mut().find(|leader| leader.broker == broker) else {
            return false;
        };
        if !leader.has_enough(min_isr) {
            return false;
        }
        let ends = leader.known_ends.iter();
        let members = ends.filter(|&&(broker, _)| leader.awaits(broker));
        let candidate = members.map(|&(_, end)| end).min().flatten();
        let moved = candidate.is_some_and(|end| end > leader.high_watermark);
        if let (true, Some(end)) = (moved, candidate) {
            leader.high_watermark = end;
        }
        moved
    }
}
