//! What the engine says: facts and flows on their way out, and the digest over all of them.
//!
//! Every entity chains a digest over its own facts and flows in its own order; the run's digest
//! chains the entities' digests by rank. So it proves the order that matters and does not depend
//! on who ran ahead of whom. Looking at the engine never enters it.

use std::hash::{Hash, Hasher};

use crate::sim::fact::{Fact, Flow, Stamped};
use crate::sim::queue::Rank;
use crate::sim::time::SimTime;
use crate::sim::trace::Trace;

/// Facts and flows since the last drain.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// In order of (time, rank, number).
    pub facts: Vec<Stamped>,
    /// In each entity's own order only; appends in order of time.
    pub flows: Vec<Flow>,
    /// Whether logs were cut.
    pub cuts: Cuts,
    /// In each entity's own order only.
    pub traces: Vec<Trace>,
}

/// Whether there is a [`Flow::Truncated`] among flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cuts {
    /// No log was cut.
    #[default]
    None,
    /// Some logs were.
    Some,
}

/// Collects what happens.
#[derive(Clone, Debug)]
pub struct Outbox {
    pending: Output,
    entities: Vec<Entity>,
}

#[derive(Clone, Debug, Default)]
struct Entity {
    digest: Mix,
    facts: u64,
}

impl Outbox {
    /// An empty box for entities with ranks below `ranks`.
    pub fn new(ranks: usize) -> Self {
        Self {
            pending: Output::default(),
            entities: vec![Entity::default(); ranks],
        }
    }

    /// Something notable happened to the entity `rank`.
    pub fn fact(&mut self, at: SimTime, rank: Rank, fact: Fact) {
        let entity = &mut self.entities[rank.0 as usize];
        (at, &fact).hash(&mut entity.digest);
        let number = entity.facts;
        entity.facts += 1;
        self.pending.facts.push(Stamped {
            at,
            rank: rank.0,
            number,
            fact,
        });
    }

    /// What a look at the entity `rank` shows, in its place among the entity's facts: it does not
    /// enter the digest.
    pub fn note(&mut self, at: SimTime, rank: Rank, fact: Fact) {
        let number = self.entities[rank.0 as usize].facts;
        self.pending.facts.push(Stamped {
            at,
            rank: rank.0,
            number,
            fact,
        });
    }

    /// A batch passed through the entity `rank`.
    #[inline]
    pub fn flow(&mut self, rank: Rank, flow: Flow) {
        flow.hash(&mut self.entities[rank.0 as usize].digest);
        self.pending.flows.push(flow);
    }

    /// Records left the log, as the entity `rank` decided.
    pub fn cut(&mut self, rank: Rank, flow: Flow) {
        self.pending.cuts = Cuts::Some;
        self.flow(rank, flow);
    }

    /// Somebody who follows records sees a step of theirs: it does not enter the digest.
    pub fn trace(&mut self, trace: Trace) {
        self.pending.traces.push(trace);
    }

    /// Moves everything up to `now` into `out`; what somebody who ran ahead said stays.
    pub fn drain(&mut self, now: SimTime, out: &mut Output) {
        out.facts.clear();
        out.flows.clear();
        out.traces.clear();
        out.cuts = std::mem::take(&mut self.pending.cuts);
        std::mem::swap(&mut self.pending.flows, &mut out.flows);
        std::mem::swap(&mut self.pending.traces, &mut out.traces);
        self.pending
            .facts
            .sort_by_key(|stamped| (stamped.at, stamped.rank, stamped.number));
        let ready = self
            .pending
            .facts
            .partition_point(|stamped| stamped.at <= now);
        out.facts.extend(self.pending.facts.drain(..ready));
    }

    /// The digest over everything said so far.
    pub fn digest(&self) -> u64 {
        let mut all = Mix::default();
        for entity in &self.entities {
            all.write_u64(entity.digest.finish());
        }
        all.finish()
    }
}

/// A small fixed hash (multiply and fold), the same on every platform and toolchain.
#[derive(Clone, Debug)]
pub struct Mix(u64);

impl Default for Mix {
    fn default() -> Self {
        Self(0x243f_6a88_85a3_08d3)
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        // The added constant keeps a state of zero from swallowing words.
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = ((product >> 64) as u64 ^ product as u64).wrapping_add(0xf39c_c060_5ced_c835);
    }

    // Every width enters as one 64-bit word: the default methods would go through native bytes.
    fn write_u8(&mut self, word: u8) {
        self.write_u64(u64::from(word));
    }
    fn write_u16(&mut self, word: u16) {
        self.write_u64(u64::from(word));
    }
    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }
    fn write_i16(&mut self, word: i16) {
        self.write_u64(word as u64);
    }
    fn write_i32(&mut self, word: i32) {
        self.write_u64(word as u64);
    }
    fn write_i64(&mut self, word: i64) {
        self.write_u64(word as u64);
    }
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
    #[inline]
    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_does_not_depend_on_the_order_between_entities() {
        let (one, two) = (Rank(0), Rank(1));
        let mut first = Outbox::new(2);
        first.fact(SimTime::ZERO, one, Fact::Ended);
        first.fact(SimTime::ZERO, two, Fact::Ended);
        let mut second = Outbox::new(2);
        second.fact(SimTime::ZERO, two, Fact::Ended);
        second.fact(SimTime::ZERO, one, Fact::Ended);
        assert_eq!(first.digest(), second.digest());
    }

    #[test]
    fn what_a_look_shows_is_said_and_not_in_the_digest() {
        let (mut looked_at, mut alone) = (Outbox::new(1), Outbox::new(1));
        looked_at.note(SimTime::ZERO, Rank(0), Fact::Ended);
        looked_at.fact(SimTime::ZERO, Rank(0), Fact::Ended);
        alone.fact(SimTime::ZERO, Rank(0), Fact::Ended);
        assert_eq!(looked_at.digest(), alone.digest());
        let mut out = Output::default();
        looked_at.drain(SimTime::ZERO, &mut out);
        assert_eq!(out.facts.len(), 2);
    }

    #[test]
    fn the_digest_depends_on_times() {
        let mut first = Outbox::new(1);
        first.fact(SimTime::ZERO, Rank(0), Fact::Ended);
        let mut second = Outbox::new(1);
        second.fact(SimTime::from_millis(1), Rank(0), Fact::Ended);
        assert_ne!(first.digest(), second.digest());
    }

    #[test]
    fn facts_come_out_in_order_and_not_before_their_time() {
        let mut outbox = Outbox::new(2);
        outbox.fact(SimTime::from_millis(9), Rank(1), Fact::Ended);
        outbox.fact(SimTime::from_millis(3), Rank(1), Fact::Ended);
        outbox.fact(SimTime::from_millis(3), Rank(0), Fact::Ended);
        let mut out = Output::default();
        outbox.drain(SimTime::from_millis(5), &mut out);
        let order: Vec<_> = out
            .facts
            .iter()
            .map(|s| (s.at.as_millis(), s.rank))
            .collect();
        assert_eq!(order, [(3, 0), (3, 1)]);
    }
}
