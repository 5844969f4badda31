//! Copies of a run at earlier moments.
//!
//! How far they are apart is measured in effort: what a replay from one to the next takes,
//! estimated from what happened in between. So a seek costs about the same anywhere in a run,
//! whether an hour of it was busy or quiet.
//!
//! Invariants: the state at time zero is always among them; together they take about
//! [`BYTES_MAX`] at most. When there is no room, every second one goes, and from then on they are
//! taken twice as far apart.

use std::sync::Arc;

use crate::insight::Insight;
use crate::rehearsal::Rehearsal;
use crate::sim::Simulation;
use crate::sim::ids::ProducerIndex;
use crate::sim::time::SimTime;

use super::{Memory, Session};

/// Memory that all snapshots may take together, in bytes. What they share comes on top: series,
/// 16 MiB, each time that their resolution halves; records that are remembered one by one.
pub const BYTES_MAX: usize = 192 << 20;
/// Replay between two snapshots, at first.
const SPACING: Effort = Effort(40_000_000);
/// What handling an event takes, insight's share included.
const PER_EVENT: u64 = 250;
/// What an application's loop takes for a record.
const PER_RECORD: u64 = 16;
/// What taking a sample of everything takes.
const PER_SAMPLE: u64 = 20_000;
/// The least that a snapshot is counted with, in bytes.
const SNAPSHOT_BYTES_MIN: usize = 64 << 10;

/// Time that a replay takes, in nanoseconds of the machine on which the parts were measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Effort(u64);

impl Effort {
    /// What it took to get to this state.
    pub(super) fn of(simulation: &Simulation) -> Self {
        let config = simulation.config();
        let producers = (0..config.producers.len()).map(|place| ProducerIndex(place as u16));
        let records: u64 = producers
            .map(|producer| simulation.producer_totals(producer).records_sent)
            .sum();
        let samples = simulation.now().as_nanos() / config.sample.as_nanos().max(1);
        let events = simulation.events_handled().saturating_mul(PER_EVENT);
        Self(
            events
                .saturating_add(records.saturating_mul(PER_RECORD))
                .saturating_add(samples.saturating_mul(PER_SAMPLE)),
        )
    }
}

/// A run at an earlier moment.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) simulation: Simulation,
    pub(super) insight: Insight,
    pub(super) rehearsal: Option<Rehearsal>,
    /// Commands that the engine had by then.
    pub(super) given: usize,
    pub(super) next_sample: SimTime,
}

impl Snapshot {
    fn now(&self) -> SimTime {
        self.simulation.now()
    }
}

/// A snapshot with what it takes.
#[derive(Debug)]
struct Kept {
    snapshot: Snapshot,
    /// What it took to get there.
    effort: Effort,
    /// Bytes that it does not share with the others.
    bytes: usize,
}

/// All snapshots, oldest first; shared with clones of the run.
#[derive(Clone, Debug)]
pub(super) struct Snapshots {
    memory: Memory,
    kept: Vec<Arc<Kept>>,
    spacing: Effort,
    bytes: usize,
    /// Where somebody goes back step by step: right before the last step.
    near: Option<Snapshot>,
}

impl Snapshots {
    pub(super) fn new(memory: Memory) -> Self {
        Self {
            memory,
            kept: Vec::new(),
            spacing: SPACING,
            bytes: 0,
            near: None,
        }
    }

    /// The latest snapshot at or before `at`.
    pub(super) fn before(&self, at: SimTime) -> Option<&Snapshot> {
        let kept = self.kept.iter().map(|kept| &kept.snapshot);
        kept.chain(&self.near)
            .filter(|snapshot| snapshot.now() <= at)
            .max_by_key(|snapshot| snapshot.now())
    }

    /// Whether one is due.
    fn is_due(&self, now: SimTime, effort: Effort) -> bool {
        self.kept.last().is_none_or(|last| {
            last.snapshot.now() < now && last.effort.0.saturating_add(self.spacing.0) <= effort.0
        })
    }

    fn keep(&mut self, kept: Kept) {
        self.bytes += kept.bytes;
        self.kept.push(Arc::new(kept));
        // Below two there is nothing to thin out.
        while BYTES_MAX < self.bytes && 2 < self.kept.len() {
            self.thin_out();
        }
    }

    fn thin_out(&mut self) {
        let mut place = 0;
        // The first one, at time zero, stays.
        self.kept.retain(|_| {
            place += 1;
            place % 2 == 1
        });
        self.bytes = self.kept.iter().map(|kept| kept.bytes).sum();
        self.spacing = Effort(self.spacing.0.saturating_mul(2));
    }

    /// Forgets what lies behind `at`: it will happen differently.
    pub(super) fn forget_after(&mut self, at: SimTime) {
        self.kept.retain(|kept| kept.snapshot.now() <= at);
        self.bytes = self.kept.iter().map(|kept| kept.bytes).sum();
        self.near = self.near.take().filter(|near| near.now() <= at);
    }

    /// Whether anything is kept at all.
    pub(super) fn are_kept(&self) -> bool {
        self.memory == Memory::Snapshots
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Bytes that they take, roughly.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Session {
    /// Keeps a copy of the run as it stands, if one is due.
    pub(super) fn keep_snapshot(&mut self) {
        if !self.snapshots.are_kept() {
            return;
        }
        let effort = Effort::of(&self.simulation);
        if self.snapshots.is_due(self.now(), effort) {
            let bytes = self.simulation.bytes_copied() + self.insight.bytes_copied();
            self.snapshots.keep(Kept {
                snapshot: self.copied(),
                effort,
                bytes: bytes.max(SNAPSHOT_BYTES_MIN),
            });
        }
    }

    /// Keeps a copy of the run as it stands for going back from here, until the next such copy.
    pub(super) fn keep_near(&mut self) {
        let is_there = |near: &Snapshot| near.now() == self.simulation.now();
        if !self.snapshots.near.as_ref().is_some_and(is_there) {
            self.snapshots.near = Some(self.copied());
        }
    }

    fn copied(&self) -> Snapshot {
        Snapshot {
            simulation: self.simulation.clone(),
            insight: self.insight.clone(),
            rehearsal: self.rehearsal.clone(),
            given: self.given,
            next_sample: self.next_sample,
        }
    }
}
